"""Attacks on sums that are exchanged, on who declares a law, and on facts that restrict the statement in disguise."""

from __future__ import annotations

import copy
import json
from itertools import product
from typing import Any

import pytest

from boundcheck.proof.discovery import folder
from boundcheck.proof.find.record import record_file
from boundcheck.verify import boundcheck_verify as v

LEMMA_6 = record_file(folder(), "async_fl/lemma_6/corrected")
SPECIAL = record_file(folder(), "fedshuffle/drift_of_a_round/corrected")


def checked(path: Any) -> v.Record:
    record = v.Record(path)
    record.check()
    return record


def entry() -> dict[str, Any]:
    (found,) = [e for e in json.loads(LEMMA_6.read_bytes())["lines"] if e["by"]["rule"] == "exchange"]
    return {**copy.deepcopy(found), "name": "again"}


def test_a_double_sum_is_the_same_in_either_order() -> None:
    checked(LEMMA_6).check_line(entry())


@pytest.mark.parametrize(
    "change",
    [
        {"sums": [["n", "rounds"], ["n", "tau"]]},
        {"sums": [["n", "rounds"], ["r", "tau - n"]]},  # as many terms as the other index says
        {"sums": [["n", "rounds + 1"], ["r", "tau"]]},
        {"sums": [["n", "tau"], ["r", "rounds"]]},
        {"sums": [["n", "eta_l"], ["r", "tau"]]},
        {"signs": ["rounds"]},
        {"term": "<b(n - r), b(n - r)>"},
    ],
)
def test_another_sum_is_not(change: dict[str, Any]) -> None:
    wrong = entry()
    wrong["by"] |= change
    with pytest.raises(v.Invalid):
        checked(LEMMA_6).check_line(wrong)


def test_exchanged_sums_are_equal_number_by_number() -> None:
    language = v.Language({"i": "integer", "j": "integer", "a": "function"})
    for first, second in product(range(4), repeat=2):
        left, right = v.exchanged(language, "a(i, j) + i*j**2", [("i", str(first)), ("j", str(second))])
        total = v.ZERO
        for i, j in product(range(first), range(second)):
            total = v.plus(total, language.value(f"a({i}, {j}) + {i * j**2}"))
        assert v.plus(left, total, -1)[0] == v.plus(right, total, -1)[0] == {}


def test_a_law_of_a_kind_that_the_assumption_does_not_declare_is_refused() -> None:
    data = json.loads(LEMMA_6.read_bytes())
    weights = next(law for law in data["laws"] if law["kind"] == "weights")
    weights["of"] = next(name for name, _ in data["statement"]["assumptions"] if name not in v.DECLARES)
    data["digest"] = v.digest(data)
    with pytest.raises(v.Invalid, match="is declared by nothing in the statement"):
        v.Record(LEMMA_6, data=data).check()


@pytest.mark.parametrize("disguise", ["L >= 7", "L + 0*Qs(n) >= 7", "L - <b(0), b(0)> + <b(0), b(0)> >= 7"])
def test_a_fact_about_the_statements_own_symbols_is_refused(disguise: str) -> None:
    data = json.loads(LEMMA_6.read_bytes())
    data["facts"].append(
        {
            "name": "planted",
            "claim": disguise,
            "kind": "metric",
            "origin": "transcribed",
            "source": "",
            "assumption": "",
        }
    )
    data["digest"] = v.digest(data)
    with pytest.raises(v.Invalid, match="restricts the statement's own symbols"):
        v.Record(LEMMA_6, data=data).check()


def test_a_special_case_is_named() -> None:
    assert any("FedShuffle is FedShuffleGen" in text for text in checked(SPECIAL).rests)


@pytest.mark.parametrize(("name", "kind"), [("sum", "number"), ("min", "integer"), ("inner", "function")])
def test_words_of_the_language_are_no_names(name: str, kind: str) -> None:
    with pytest.raises(v.Invalid):
        v.Language({name: kind})


@pytest.mark.parametrize("images", [{}, {"Z": "0", "sg1": "0"}, {"Z": "sg1(n)", "sg1": "Z(n)"}])
def test_what_stands_for_a_quantity_of_a_cited_record_is_named(images: dict[str, str]) -> None:
    """Lemma 4 with 0 in place of a gap says something false of this run, and that it is no gap is not shown."""
    path = record_file(folder(), "async_fl/theorem_1/sharp")
    data = json.loads(path.read_bytes())
    place, own = next(
        (k, e) for k, e in enumerate(data["lines"]) if e["by"].get("record") == "async_fl/lemma_4/corrected"
    )
    record = v.Record(path, data={**data, "lines": []})
    record.read_facts()
    for each in data["lines"][:place]:
        record.check_line(each)
    z, sg1 = images.get("Z", "Z(n)"), images.get("sg1", "sg1(n)")
    claim = f"-2*D(n) <= 24*L**2*eta_l**2*(K - 1)**2*({z}) + 12*L*eta_l**2*(K - 1)**2*({sg1})*q(n) + 4*L*tau*Qs(n)*q(n)"
    by = {**own["by"], "images": own["by"]["images"] | images, "hypotheses": [*own["by"]["hypotheses"]]}
    record.check_line({"name": "again", "claim": f"{claim} - 2*Xi(n)", "by": by})
    (named,) = (
        r for r in record.rests if r.startswith("that -2*D(n) is what async_fl/lemma_4/corrected bounds, with ")
    )
    for name, text in {"Z": z, "sg1": sg1, "q": "q(n)", "Qs": "Qs(n)"}.items():
        assert f"{text} for {name}" in named
    assert not any("stands for L " in rest for rest in record.rests)  # the same constant with the same meaning
