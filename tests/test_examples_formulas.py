"""The shipped claims about formulas: all are met, and each notices another formula or other numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from claim_mutations import Claims

from boundcheck.cli import main
from boundcheck.evidence.claim import run_claim
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import Outcome
from tests.oracle.evidence import check_verdicts

FILE = Path(__file__).parents[1] / "examples" / "formulas.toml"
CLAIMS = Claims(FILE)
TIGHT = sorted(name for name, spec in zip(CLAIMS, CLAIMS.written(), strict=True) if spec["expect"] == "HOLDS")

# What makes a false reading true: the reading without the error, or numbers at which the error does not show.
MENDED: dict[str, dict[str, object]] = {
    "Chung's lemma of order 2 as printed, a sequence that is free after k0": {"A": "1"},
    "The rule for E as printed": {"statement": "scgd/choice_of_e_rule/corrected"},
    "The constant C of the main text": {"mu": 1, "L": 1},  # the missing factor is mu
    "The variance of the averaged gradient as printed, where f is 0": {"f0": 5},
    "A device's share as printed, two of three by weight": {"p_i": "1/3"},  # all weights are equal
    "Iterations at a fixed B are not SGD's for a small target": {"eps": 1},
}


def test_every_claim_is_met(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    assert main(["check", str(FILE), "--workers", "1", "--json", "--exact"]) == 0
    assert check_verdicts(FILE.stem, capsys.readouterr().out) == len(CLAIMS)
    assert set(CLAIMS) == {*TIGHT, *MENDED}


@pytest.mark.parametrize("name", TIGHT)
def test_a_bound_that_is_a_hundredth_beyond_is_false(name: str) -> None:
    """An equality with another right side, or a bound that is moved past the metric, is violated."""
    metric, bound = (values[0] for values in (run_claim(CLAIMS[name]).metric_low, run_claim(CLAIMS[name]).bound))

    def moved(own: Statement) -> Statement:
        past = {Kind.UPPER_BOUND: Fraction(100, 101), Kind.LOWER_BOUND: Fraction(101, 100)}
        factor = Fraction(metric / bound) * past[own.kind] if own.kind in past else Fraction(101, 100)
        return replace(own, bound=own.bound * factor)

    claim = CLAIMS[name]
    found = run_claim(replace(claim, statement=moved(statement(claim.statement))))
    assert found.verdict.outcome is Outcome.VIOLATED
    assert found.failures


@pytest.mark.parametrize("name", MENDED)
def test_a_false_reading_is_true_without_its_error(name: str) -> None:
    claim, change = CLAIMS[name], dict(MENDED[name])
    id = str(change.pop("statement", claim.statement))
    assert run_claim(replace(claim, statement=id, at={**claim.at, **change})).verdict.outcome is Outcome.HOLDS
