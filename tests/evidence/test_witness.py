"""Witness files: written whole, read back, replayed. That every shipped one stands is a test of the examples."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from boundcheck.evidence.witness import Witness, load_witness, replay, save_witness, stands
from boundcheck.verdict import Grade, Outcome, Verdict

SHIPPED = Path(__file__).parents[2] / "examples" / "witnesses"
PRINTED = "scgd/theorem_3_3/as_printed_main"


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
    """Written whole; infinite numbers survive as JSON."""
    tight = witness.verdict.tightness
    assert tight is not None
    odd = replace(witness, verdict=replace(witness.verdict, tightness=replace(tight, ratio_max=float("inf"))))
    path = tmp_path / "deep" / "witness.json"
    for own in (witness, odd):
        save_witness(own, path)
        json.loads(path.read_text(), parse_constant=pytest.fail)
        assert load_witness(path) == own
    assert [p.name for p in path.parent.iterdir()] == ["witness.json"]


def test_a_witness_that_no_longer_stands(witness: Witness) -> None:
    gentle = replace(witness, method={**witness.method, "eta": "1/100000"})
    assert replay(gentle).outcome is Outcome.HOLDS
    elsewhere = replace(witness, statement="scgd/theorem_3_3/corrected")
    assert replay(elsewhere).outcome is Outcome.OUT_OF_SCOPE


def test_a_verdict_of_a_file_is_only_what_was_found(witness: Witness) -> None:
    """Replay runs; it does not read the verdict that the file claims."""
    lie = replace(witness, verdict=Verdict(PRINTED, Outcome.HOLDS, Grade.PROVED, "trust me"))
    found = replay(lie)
    assert found.outcome is Outcome.VIOLATED
    assert stands(found)
    assert not stands(replace(found, grade=Grade.SUPPORTED))


def test_a_replay_says_what_the_file_records_otherwise(witness: Witness) -> None:
    assert "differs" not in replay(witness).details
    numbers = witness.verdict.witness
    edited = {**numbers, "metric": [5, 5], "constants": {**numbers["constants"], "mu": "1/2"}}
    found = replay(replace(witness, verdict=replace(witness.verdict, witness=edited)))
    assert [d.split(" is ")[0] for d in found.details["differs"]] == ["constants mu", "metric"]
    assert "metric is [5, 5], now [1.592" in found.reason
