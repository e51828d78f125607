"""Witness files: written whole, read back, replayed; a file that was tampered with is answered in a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from boundcheck.errors import BadInput, BoundcheckError, StoreError
from boundcheck.evidence.witness import Witness, load_witness, replay, save_witness
from boundcheck.verdict import Grade, Outcome, Verdict

SHIPPED = Path(__file__).parents[2] / "examples" / "witnesses"
PRINTED = "scgd/theorem_3_3/as_printed_main"


def test_every_shipped_witness_stands() -> None:
    files = sorted(SHIPPED.glob("*.json"))
    assert files
    for path in files:
        witness = load_witness(path)
        assert {"search", "seed", "budget"} <= set(witness.provenance)
        again = replay(witness)
        assert (again.outcome, again.grade) == (Outcome.VIOLATED, Grade.EXACT)
        assert again.reason == witness.verdict.reason
        assert again.witness == witness.verdict.witness


def test_the_shipped_violation_by_hand() -> None:
    """The run of the shipped file in plain fractions: four cycles of 20 steps on each of two devices."""
    witness = load_witness(SHIPPED / "scgd_theorem_3_3_as_printed_main.json")
    eta, x = Fraction(witness.method["eta"]), [Fraction(v) for v in witness.problem["start"]]
    start2 = x[0] ** 2 + x[1] ** 2
    (cycles,) = witness.at["K"]
    for client in witness.problem["clients"] * cycles:
        assert client["b"] == ["0", "0"]
        (a, b), (c, d) = ((Fraction(v) for v in row) for row in client["A"])
        for _ in range(witness.method["E"]):
            x = [x[0] - eta * (a * x[0] + b * x[1]), x[1] - eta * (c * x[0] + d * x[1])]
    moved2 = x[0] ** 2 + x[1] ** 2
    mu = Fraction(witness.verdict.witness["constants"]["mu"])
    # sigma2 = 0, so that the bound is (1 - mu n E eta/3)^K |x_0|^2
    assert moved2 > (1 - mu * 2 * witness.method["E"] * eta / 3) ** cycles * start2
    assert float(moved2) == pytest.approx(witness.verdict.witness["metric"][0], rel=1e-14)


@pytest.fixture
def witness() -> Witness:
    return load_witness(SHIPPED / "scgd_theorem_3_3_as_printed_main.json")


def test_round_trip(witness: Witness, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "witness.json"
    save_witness(witness, path)
    assert load_witness(path) == witness
    assert [p.name for p in path.parent.iterdir()] == ["witness.json"]


def test_infinite_numbers_survive_as_json(witness: Witness, tmp_path: Path) -> None:
    tight = witness.verdict.tightness
    assert tight is not None
    odd = replace(witness, verdict=replace(witness.verdict, tightness=replace(tight, ratio_max=float("inf"))))
    path = tmp_path / "witness.json"
    save_witness(odd, path)
    json.loads(path.read_text(), parse_constant=pytest.fail)
    assert load_witness(path) == odd


def test_a_place_that_cannot_be_written(witness: Witness, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        save_witness(witness, tmp_path / "file" / "witness.json")


def drop(key: str) -> Callable[[dict[str, Any]], Any]:
    def change(data: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in data.items() if k != key}

    return change


def put(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    def change(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, **changes}

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (drop("problem"), "lacks the entry 'problem'"),
        (drop("verdict"), "lacks the entry 'verdict'"),
        (drop("schema"), "has schema None; this version reads 1"),
        (put(schema=2), "has schema 2; this version reads 1"),
        (put(problem=3), "holds something else"),
        (put(problem="quadratics"), "holds something else"),
        (put(verdict=[]), "holds something else"),
        (put(verdict={"statement": "x", "outcome": "MAYBE", "grade": None, "reason": ""}), "holds something else"),
        (lambda data: [data], "has schema None"),
        (lambda data: None, "has schema None"),
    ],
)
def test_tampered_files_are_answered_in_a_sentence(
    change: Callable[[dict[str, Any]], Any], text: str, witness: Witness, tmp_path: Path
) -> None:
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(change(witness.to_dict())))
    with pytest.raises(BadInput, match=text) as caught:
        load_witness(path)
    assert str(path) in str(caught.value)


def test_no_file_and_no_json(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load_witness(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(BadInput, match="is not JSON"):
        load_witness(tmp_path / "text.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="is not JSON"):
        load_witness(tmp_path / "binary.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"statement": "scgd/theorem_3_33"},
        {"method": {"kind": "scgd", "E": 20, "eta": "__import__('os')"}},
        {"method": {"kind": "scgd", "E": 20}},
        {"problem": {"kind": "quadratics", "clients": []}},
        {"problem": {"kind": "nothing"}},
        {"at": {"T": [1]}},
        {"at": {"K": ["1/2"]}},
    ],
)
def test_a_replay_of_nonsense_is_bad_input(changes: dict[str, Any], witness: Witness) -> None:
    with pytest.raises(BadInput):
        replay(replace(witness, **changes))


def test_a_witness_that_no_longer_stands(witness: Witness) -> None:
    gentle = replace(witness, method={**witness.method, "eta": "1/100000"})
    assert replay(gentle).outcome is Outcome.HOLDS
    elsewhere = replace(witness, statement="scgd/theorem_3_3/corrected")
    assert replay(elsewhere).outcome is Outcome.OUT_OF_SCOPE


def test_a_verdict_of_a_file_is_only_what_was_found(witness: Witness) -> None:
    """Replay runs; it does not read the verdict that the file claims."""
    lie = replace(witness, verdict=Verdict(PRINTED, Outcome.HOLDS, Grade.PROVED, "trust me"))
    assert replay(lie).outcome is Outcome.VIOLATED


def test_errors_of_a_replay_are_ours(witness: Witness) -> None:
    with pytest.raises(BoundcheckError):
        replay(replace(witness, problem={**witness.problem, "start": ["1", "nan"]}))
