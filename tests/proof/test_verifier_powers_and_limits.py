"""Powers with a real exponent, limits superior, and constants of a cited record, as the verifier reads them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from boundcheck.proof.discovery import folder
from boundcheck.proof.find.record import record_file
from boundcheck.verify import boundcheck_verify as v

CHUNG = record_file(folder(), "scgd/lemma_3_2/corrected")
THEOREM = record_file(folder(), "scgd/theorem_3_4/corrected")


def checked(path: Any) -> v.Record:
    record = v.Record(path)
    record.check()
    return record


def entry(rule: str, *, path: Any = CHUNG, **has: Any) -> dict[str, Any]:
    """The first line by this rule with these values, under a name of its own."""
    lines = json.loads(path.read_bytes())["lines"]
    found = next(e for e in lines if e["by"]["rule"] == rule and all(e["by"].get(k) == x for k, x in has.items()))
    return {**copy.deepcopy(found), "name": "again"}


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("K1**a > 0", {}),
        ("K1**(a + b) == K1**a*K1**b", {"more": "b"}),
        ("K1**(a - 3) == K1**a/K1**3", {"more": "-3"}),
        ("(K1 + 1)**(-a) >= (1 - a/K1)*K1**(-a)", {"exponent": "-a", "falls": "domain a"}),
    ],
)
def test_what_a_power_of_a_positive_number_gives(claim: str, change: dict[str, Any]) -> None:
    line = entry("power", base="K1", exponent="a")
    checked(CHUNG).check_line({**line, "claim": claim, "by": {**line["by"], **change}})


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("K1**a > 1", {}),
        ("C**a > 0", {"base": "C"}),  # the sign is that of K1
        ("K1**(a + b) == K1**a + K1**b", {"more": "b"}),
        ("K1**(a + b) == K1**a*K1**b", {"more": "a"}),
        ("(K1 + 1)**a >= (1 + a/K1)*K1**a", {"falls": "domain a"}),  # false for a below 1
        ("(K1 + 1)**(-a) >= (1 - a/K1)*K1**(-a)", {"exponent": "-a"}),
        ("(K1 + 1)**(-a) >= (1 - a/K1)*K1**(-a)", {"exponent": "-a", "falls": "@1"}),
        ("(K1 + 1)**(-a) <= (1 - a/K1)*K1**(-a)", {"exponent": "-a", "falls": "domain a"}),
    ],
)
def test_what_it_does_not_give(claim: str, change: dict[str, Any]) -> None:
    line = entry("power", base="K1", exponent="a")
    with pytest.raises(v.Invalid):
        checked(CHUNG).check_line({**line, "claim": claim, "by": {**line["by"], **change}})


def before_the_limit() -> tuple[v.Record, dict[str, Any]]:
    """The record, checked up to the line of the limit, which is its last, and that line."""
    data = json.loads(CHUNG.read_bytes())
    lines = data.pop("lines")
    last = next(k for k, e in enumerate(lines) if e["by"]["rule"] == "limsup")
    record = v.Record(CHUNG, data={**data, "lines": []})
    record.read_facts()
    for each in lines[:last]:
        record.check_line(each)
    return record, lines[last]


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("limit <= b/(a - 2)", {"rate": "2 - a"}),
        ("limit <= b/(a - 2)", {"shift": "m"}),
        ("limit <= b/(a - 2)", {"factor": "m*C"}),
        ("limit <= b/(a - 2)", {"signs": ["condition contraction"]}),
        ("limit <= b/(a - 2)", {"value": "(K1 + m)*u(K1 + m)"}),
        ("limit <= b/(a - 2)", {"of": "below"}),
        ("limit >= b/(a - 2)", {}),
        ("limit <= b/(a - 1)", {}),
        ("first <= b/(a - 2)", {"limit": "first"}),  # something is said of it
        ("b <= b/(a - 2)", {"limit": "b"}),
        ("slack <= b/(a - 2)", {"limit": "slack"}),  # a symbol of the statement
    ],
)
def test_a_limit_superior_is_a_number_of_its_own_below_what_the_line_tends_to(
    claim: str, change: dict[str, Any]
) -> None:
    record, line = before_the_limit()
    with pytest.raises(v.Invalid):
        record.check_line({**line, "claim": claim, "by": {**line["by"], **change}})
    record.check_line(line)
    with pytest.raises(v.Invalid, match="nothing else is said of"):  # the limit has its meaning now
        record.check_line({**line, "name": "once more"})


def test_a_number_of_a_law_is_no_limit() -> None:
    record, line = before_the_limit()
    record.data["laws"] = [{"items": "limit + 1"}]
    with pytest.raises(v.Invalid, match="nothing else is said of"):
        record.check_line(line)


def test_the_record_rests_on_what_the_limit_is() -> None:
    meaning = "that limit is the limit superior of (K1 + m)**2*u(K1 + m) as m grows"
    assert meaning in checked(CHUNG).rests
    assert meaning in checked(THEOREM).rests


@pytest.mark.parametrize("value", ["first/(K1 + m)", "u(K1)", "eta0*u(K1 + m)"])
def test_a_constant_of_a_cited_record_is_no_value_of_the_run(value: str) -> None:
    line = entry("cite", path=THEOREM)
    line["by"]["images"] = {"eta": value}
    with pytest.raises(v.Invalid, match="a value that may be random"):
        checked(THEOREM).check_line(line)
