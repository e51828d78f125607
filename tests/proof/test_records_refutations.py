"""Records of refuted readings: a witness is what the verifier evaluates, and an open step counts as nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from hand_records import Line, examined, shipped
from hand_records import record as made

from boundcheck.proof.discovery import derivation, folder
from boundcheck.proof.find import write
from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.record import record_file, skeleton
from boundcheck.proof.find.steps import Asked
from boundcheck.proof.find.writer import Writer
from boundcheck.proof.records import compared
from boundcheck.proof.refute import vectors, witnesses
from boundcheck.verify import boundcheck_verify as v

STATUSES = json.loads((Path(__file__).parents[1] / "oracle" / "steps.json").read_text())
REFUTED = {id: steps for id, steps in STATUSES.items() if {"REFUTED", "OPEN"} & set(steps.values())}
FALSE = "dist2_1 <= -1 - dist2_0"
END: Line = ("end", FALSE, {"rule": "open", "why": "the step before is refuted"})
FACTS = (
    "[obtuse] metric: <u, w> <= 0", "[N] count: N >= 1", "[i.0] index: i >= 0", "[i.1] index: i <= N - 1",
    "[j] index: j >= 0", "[k.0] index: k >= 20", "[k.1] index: k <= 22",
    *(f"[f({x})] metric: f({x}) {op} 0" for x, op in (("i", ">="), ("j", ">="), ("k", "<="))),
)  # fmt: skip


def record(claim: str, uses: Any = (), numbers: Any = None, f: str = "", **more: Any) -> dict[str, Any]:
    small = {"n": 1, "E": 1, "eta": "1/1000000"} if "L" in (numbers or {}) else {}  # a step size that is allowed
    point = {"numbers": {**(numbers or {}), **small}, "functions": {"f": [["x"], f]} if f else {}}
    lines = more.pop("lines", [("s", claim, {"rule": "refuted", "uses": list(uses), "point": point}), END])
    more = {"steps": ["s"], "kind": "refutation", **more}
    return made(FACTS, lines, names={"N": "integer"}, claim=FALSE, **more)


def said(data: Any, tmp_path: Path) -> str:
    row = examined(data, tmp_path)
    assert row["steps"] == {"s": "refuted"} or not row["valid"]
    return str(row["verdict"])


PLANE = {"u": ["1", "0"], "w": ["0", "1"]}
PARALLEL = "<u, w>**2 >= <u, u>*<w, w>"  # holds on a line, and fails in the plane
POINTS: list[tuple[str, tuple[str, ...], Any, str, str]] = [
    (PARALLEL, ("obtuse",), PLANE, "", ""),
    ("u = 2*w", ("obtuse",), {"u": "1", "w": "-1"}, "", ""),
    ("mu <= 1", (), {"mu": "2", "L": "2"}, "", ""),
    ("mu**(1/2) >= mu", (), {"mu": "2", "L": "2"}, "", ""),
    ("mu >= 2 => mu >= 3", (), {"mu": "5/2", "L": "3"}, "", ""),
    ("i <= 2", (), {"N": 4, "i": 3}, "", ""),
    ("f(i) <= 1", ("f(i)",), {"N": 4, "i": 3}, "x", ""),
    ("f(j) <= 1", ("f(j)",), {"j": 0}, "2", ""),
    ("f(k) >= -21", ("f(k)",), {"k": 22}, "0 - x", ""),
    # no witnesses
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
    # at k = 20, beyond those tried first
    ("f(k) >= 1", ("f(k)",), {"k": 20}, "21 - x", "the fact 'f(k)' does not hold"),
    ("f(k) >= 1", ("nothing",), {"k": 20}, "0", "not well formed"),
]


@pytest.mark.parametrize(("claim", "uses", "numbers", "f", "why"), POINTS, ids=str)
def test_a_witness_meets_what_is_used_and_breaks_the_claim(
    claim: str, uses: tuple[str, ...], numbers: Any, f: str, why: str, tmp_path: Path
) -> None:
    found = said(record(claim, uses, numbers, f), tmp_path)
    assert found.startswith("invalid at step 's'" if why else "refuted at step 's' (")
    assert why in found


def test_open_and_refuted_lines_are_none_of_a_proof(tmp_path: Path) -> None:
    own = POINTS[0][:4]
    plain: Line = ("s", "dist2_1 >= dist2_1", {"rule": "open", "why": "", "record": "a/b/c"})
    supposed: Line = ("s", PARALLEL, {"rule": "refuted", "uses": [], "point": {}}, ["mu >= 1"])
    for more, why in (
        ({"kind": "proof"}, "a proof has no refuted line"), ({"steps": []}, "only a step may be"),
        ({"lines": [END], "kind": "proof"}, "it has no certificate"),
        ({"lines": [END]}, "nothing in this refutation is refuted"),
        ({"kind": "note"}, "its format, its kind"), ({"lines": [plain, END]}, "the cited record a/b/c is not there"),
        ({"lines": [supposed, END]}, "a refuted claim has no suppositions"),
    ):  # fmt: skip
        assert why in said(record(*own, **more), tmp_path)


def test_every_refuted_reading_has_a_record_with_the_statuses_of_its_steps() -> None:
    rows = compared(REFUTED)
    for id, steps in REFUTED.items():
        assert (rows[id]["kind"], rows[id]["valid"]) == ("refutation", True)
        assert rows[id]["verdict"].startswith("refuted at step '")
        lines = {e["name"]: e["by"] for e in shipped(id)["lines"]}
        own = {name: rows[id]["steps"][name] for name in steps}
        assert own == {name: status.lower() for name, status in steps.items()}
        inherited = [n for n in own if "record" in lines[n]]
        assert all(own[n] == "open" and rows[lines[n]["record"]]["kind"] == "refutation" for n in inherited)


CHANGED = "scgd/lemma_3_1/as_printed_main"


@pytest.mark.parametrize("change", ["claim", "uses"])
def test_a_witness_is_compared_with_the_step_of_today(change: str, tmp_path: Path) -> None:
    """Whatever point refutes it: the claim must be that of the step, in its words, and use no more."""
    data = shipped(CHANGED)
    line = [e for e in data["lines"] if e["by"]["rule"] == "refuted"][-1]
    if change == "claim":
        line["claim"] = line["claim"].replace(" <= ", " + 0 <= ")  # the verifier takes it as the same
    else:
        line["by"]["uses"] = line["by"]["uses"][1:]
    path = record_file(tmp_path, CHANGED)
    path.parent.mkdir()
    path.write_text(json.dumps(data))
    assert v.examined(path)["valid"]
    why = f"invalid at step '{line['name']}': the derivation claims another relation, or from more than the record uses"
    assert compared([CHANGED], tmp_path)[CHANGED]["verdict"] == why


def test_what_the_search_offers_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = derivation("async_fl/equation_105/as_printed")
    data = skeleton(proof)
    w = Writer(data, record_file(folder(), data["id"]))
    facts = {f.name: f.claim for f in proof.facts}

    def offered(*_: Any) -> Iterator[Any]:
        yield {"numbers": {"gap_n": "-1", "L": "1"}, "functions": {}}
        yield {"numbers": {"gap_n": "1"}, "functions": {}}

    monkeypatch.setattr(vectors, "points", offered)
    monkeypatch.setattr(witnesses, "rational_points", lambda *_: iter([{"gap_n": -1}]))
    asked = Asked(sp.Ge(sp.Symbol("gap_n", real=True), 0), {"domain gap_n": facts["domain gap_n"]}, proof.setting)
    assert not witnesses.refute(w, asked, "s", facts, by_solver=False)
    assert (w.data["lines"], w.data["kind"], w.record.kind) == ([], "proof", "proof")


def test_a_search_ends_after_its_time() -> None:
    with pytest.raises(write.Late), write.within(0):
        v.METER.spend(10_000)
    assert not issubclass(write.Late, NotShown | v.Invalid | ValueError)  # which parts of a search catch
    v.METER.line()
