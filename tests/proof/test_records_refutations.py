"""Records of refuted readings: a witness is what the verifier evaluates, and an open step counts as nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from boundcheck.proof.discovery import derivation, folder
from boundcheck.proof.find import write
from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.record import record_file, skeleton
from boundcheck.proof.find.steps import Asked
from boundcheck.proof.find.writer import Writer
from boundcheck.proof.records import _not_refuted
from boundcheck.proof.refute import witnesses as refute
from boundcheck.verify import boundcheck_verify as v
from tests.proof.test_verifier_broken_records import about, fact

STATUSES = json.loads((Path(__file__).parents[1] / "oracle" / "steps.json").read_text())
REFUTED = {id: steps for id, steps in STATUSES.items() if "REFUTED" in steps.values()}
END = {"name": "end", "claim": "dist2_1 <= -1 - dist2_0", "by": {"rule": "open", "why": "the step before is refuted"}}
NAMES = {"u": "vector", "w": "vector", "N": "integer", "i": "integer", "j": "integer", "k": "integer", "f": "function"}
FACTS = [
    fact("obtuse", "metric", "<u, w> <= 0", origin="transcribed"),
    fact("N", "count", "N >= 1", origin="transcribed"),
    fact("i.0", "index", "i >= 0", about="i"),
    fact("i.1", "index", "i <= N - 1", about="i"),
    fact("j", "index", "j >= 0", about="j"),
    fact("k.0", "index", "k >= 20", about="k"),
    fact("k.1", "index", "k <= 22", about="k"),
    fact("f(i)", "metric", "f(i) >= 0", origin="transcribed"),
    fact("f(j)", "metric", "f(j) >= 0", origin="transcribed"),
    fact("f(k)", "metric", "f(k) <= 0", origin="transcribed"),
]


def record(claim: str, uses: Any = (), numbers: Any = None, f: str = "", **more: Any) -> dict[str, Any]:
    small = {"n": 1, "E": 1, "eta": "1/1000000"} if "L" in (numbers or {}) else {}  # a step size that is allowed
    point = {"numbers": {**(numbers or {}), **small}, "functions": {"f": [["x"], f]} if f else {}}
    line = {"name": "s", "claim": claim, "by": {"rule": "refuted", "uses": list(uses), "point": point}}
    lines = more.pop("lines", [line, END])
    return about(END["claim"], FACTS, lines, names=NAMES, **{"steps": ["s"], "kind": "refutation", **more})


def said(data: Any, tmp_path: Path) -> str:
    path = tmp_path / "one.proof.json"
    path.write_text(json.dumps(data))
    row = v.examined(path)
    assert row["valid"] == (not row["verdict"].startswith("invalid"))
    if row["valid"]:
        assert row["steps"] == {"s": "refuted"}
    return str(row["verdict"])


PLANE = {"u": ["1", "0"], "w": ["0", "1"]}
PARALLEL = "<u, w>**2 >= <u, u>*<w, w>"  # holds on a line, and fails in the plane
WITNESSES: list[tuple[str, tuple[str, ...], Any, str]] = [
    (PARALLEL, ("obtuse",), PLANE, ""),
    ("u = 2*w", ("obtuse",), {"u": "1", "w": "-1"}, ""),
    ("mu <= 1", (), {"mu": "2", "L": "2"}, ""),
    ("mu**(1/2) >= mu", (), {"mu": "2", "L": "2"}, ""),
    ("mu >= 2 => mu >= 3", (), {"mu": "5/2", "L": "3"}, ""),
    ("i <= 2", (), {"N": 4, "i": 3}, ""),
    ("f(i) <= 1", ("f(i)",), {"N": 4, "i": 3}, "x"),
    ("f(j) <= 1", ("f(j)",), {"j": 0}, "2"),
    ("f(k) >= -21", ("f(k)",), {"k": 22}, "0 - x"),
]


@pytest.mark.parametrize(("claim", "uses", "numbers", "f"), WITNESSES, ids=str)
def test_a_witness_meets_what_is_used_and_breaks_the_claim(
    claim: str, uses: tuple[str, ...], numbers: Any, f: str, tmp_path: Path
) -> None:
    assert said(record(claim, uses, numbers, f), tmp_path).startswith("refuted at step 's' (")


ATTACKS: list[tuple[str, tuple[str, ...], Any, str, str]] = [
    (PARALLEL, ("obtuse",), {"u": ["1", "0"], "w": ["1", "1"]}, "", "the fact 'obtuse' does not hold"),
    (PARALLEL, ("obtuse",), {"u": "1", "w": "-1"}, "", "not shown to fail"),
    ("<u, w> <= 1", ("obtuse",), PLANE, "", "not shown to fail"),  # it is proved
    ("u = 2*w", ("obtuse",), {"u": "0", "w": "0"}, "", "not shown to fail"),
    (PARALLEL, ("obtuse",), {"u": ["1", "0"]}, "", "the fact 'obtuse' does not hold"),
    (PARALLEL, ("obtuse",), {"u": ["1", "0", "0"], "w": ["0", "1"]}, "", "more than two coordinates"),
    ("mu <= 1", (), {"mu": ["2", "0"], "L": "2"}, "", "mu is no vector"),
    ("mu <= 1", (), {"mu": "2.0", "L": "2"}, "", "not written as an integer or a fraction"),
    ("mu <= 1", (), {"mu": "2"}, "", "does not hold"),  # mu <= L, which it does not name
    ("mu <= 1", (), {"mu": "2", "L": "1"}, "", "does not hold"),
    ("mu >= 1", (), {"mu": "-1", "L": "1"}, "", "does not hold"),
    ("mu/(mu - L) <= 1", (), {"mu": "2", "L": "2"}, "", "a denominator is 0"),
    ("mu**(1/2)*mu**(1/2) >= mu", (), {"mu": "2", "L": "2"}, "", "not shown to fail"),  # equal, between two fractions
    ("mu >= 2 => mu >= 3", (), {"mu": "1", "L": "3"}, "", "not shown to fail"),
    ("N <= 1", (), {"N": "3/2"}, "", "N is not an integer"),
    ("N >= 2", (), {"N": 0}, "", "the fact 'N' does not hold"),
    ("i <= 2", (), {"N": 4, "i": 4}, "", "an index is not in its range"),
    ("i <= 2", (), {"N": 4, "i": "5/2"}, "", "i is not an integer"),
    ("i <= 2", (), {"i": 3}, "", "does not hold"),  # that N is at least 1, without which i has no range
    ("f(i) <= 1", ("f(i)",), {"N": 4, "i": 3}, "x - 1", "the fact 'f(i)' does not hold"),  # at i = 0
    ("f(j) <= 1", ("f(j)",), {"j": 0}, "2 - x", "an index has too many values"),
    (
        "f(k) >= 1",
        ("f(k)",),
        {"k": 20},
        "21 - x",
        "the fact 'f(k)' does not hold",
    ),  # at k = 20, beyond those tried first
    ("f(k) >= 1", ("nothing",), {"k": 20}, "0", "not well formed"),
]


@pytest.mark.parametrize(("claim", "uses", "numbers", "f", "why"), ATTACKS, ids=str)
def test_another_point_is_no_witness(
    claim: str, uses: tuple[str, ...], numbers: Any, f: str, why: str, tmp_path: Path
) -> None:
    found = said(record(claim, uses, numbers, f), tmp_path)
    assert found.startswith("invalid at step 's'")
    assert why in found


def test_open_and_refuted_lines_are_none_of_a_proof(tmp_path: Path) -> None:
    claim, uses, numbers, f = WITNESSES[0]
    assert "a proof has no refuted line" in said(record(claim, uses, numbers, f, kind="proof"), tmp_path)
    assert "it has no certificate" in said(record(claim, lines=[END], kind="proof"), tmp_path)
    assert "nothing in this refutation is refuted" in said(record(claim, lines=[END]), tmp_path)
    assert "only a step may be" in said(record(claim, uses, numbers, f, steps=[]), tmp_path)
    assert "its format, its kind" in said(record(claim, uses, numbers, f, kind="note"), tmp_path)
    plain = {"name": "s", "claim": "dist2_1 >= dist2_1", "by": {"rule": "open", "why": "", "record": "a/b/c"}}
    assert "the cited record a/b/c is not there" in said(record(claim, lines=[plain, END]), tmp_path)


@cache
def row(id: str) -> Any:
    return v.examined(record_file(folder(), id))


@pytest.mark.parametrize("id", REFUTED)
def test_every_refuted_reading_has_a_record_with_the_statuses_of_its_steps(id: str) -> None:
    found = row(id)
    assert (found["kind"], found["valid"]) == ("refutation", True)
    assert found["verdict"].startswith("refuted at step '")
    lines = {e["name"]: e for e in json.loads(record_file(folder(), id).read_bytes())["lines"]}
    own = {name: found["steps"][name] for name in REFUTED[id]}
    inherited = {n for n in own if "record" in lines[n]["by"]}
    assert own == {name: status.lower() for name, status in REFUTED[id].items()}
    assert all(own[name] == "open" for name in inherited)
    assert all(row(lines[n]["by"]["record"])["kind"] == "refutation" for n in inherited)


def test_a_witness_is_compared_with_the_step_of_today() -> None:
    id = "async_fl/equation_105/as_printed"
    own = row(id)["refuted"]
    assert _not_refuted(id, own) == ""
    step = own["conclusion"]
    for other in ({"claim": "g2 <= 0", "uses": step["uses"]}, {**step, "uses": step["uses"][1:]}):
        assert _not_refuted(id, {"conclusion": other}) == "conclusion"
    assert _not_refuted(id, {"no such step": step}) == "no such step"
    assert _not_refuted(id, {"round": {"claim": "slope2 <= 2*L*gap_n/q", "uses": step["uses"]}}) == "round"


def test_what_the_search_offers_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = derivation("async_fl/equation_105/as_printed")
    data = skeleton(proof)
    w = Writer(data, record_file(folder(), data["id"]))
    x = sp.Symbol("gap_n", real=True)
    facts = {f.name: f.claim for f in proof.facts}

    def offered(*_: Any) -> Iterator[Any]:
        yield {"numbers": {"gap_n": "-1", "L": "1"}, "functions": {}}
        yield {"numbers": {"gap_n": "1"}, "functions": {}}

    monkeypatch.setattr(refute, "_candidates", offered)
    asked = Asked(sp.Ge(x, 0), {"domain gap_n": facts["domain gap_n"]}, proof.setting)
    assert not refute.refute(w, asked, "s", facts, by_solver=False)
    assert (w.data["lines"], w.data["kind"], w.record.kind) == ([], "proof", "proof")


def test_a_search_ends_after_its_time() -> None:
    with pytest.raises(write.Late), write.within(0):
        v.METER.spend(10_000)
    assert not issubclass(write.Late, NotShown | v.Invalid | ValueError)  # which parts of a search catch
    v.METER.line()
