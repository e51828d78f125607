"""Every theorem scales, has a short file and a claim; a claim meets what it expects, and can miss it."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import literature
import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.evidence.spec import load_claims

HERE = Path(__file__).parent.parent
CLAIMS = HERE / "claims.toml"
NAMES = sorted({s.id.split("/")[1] for s in bc.statements("literature")})


def test_there_are_thirteen_theorems_in_short_files() -> None:
    """And nothing else lies beside them."""
    files = {p.stem: p for p in Path(literature.__file__).parent.glob("*.py")}
    assert set(files) - {"__init__", "definitions"} == set(NAMES)
    assert len(NAMES) >= 13
    for name in NAMES:
        assert len(files[name].read_text().splitlines()) <= 40, name


@pytest.mark.parametrize("name", NAMES)
def test_a_theorem_scales_and_has_a_source_and_a_claim(name: str) -> None:
    """The least that a statement must do."""
    claimed = {c["statement"] for c in tomllib.loads(CLAIMS.read_text())["claim"]}
    assert f"literature/{name}" in claimed
    statement = bc.statement(f"literature/{name}")
    assert statement.dimension_errors() == []
    assert statement.source.where
    assert statement.latex()


def test_every_claim_meets_its_expectation(capsys: pytest.CaptureFixture[str]) -> None:
    """As `boundcheck check claims.toml`."""
    code = main(["check", str(CLAIMS), "--no-store", "--workers", "1"])
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize("claim", [c for c in load_claims(CLAIMS) if c.tightness[1] is not None], ids=lambda c: c.name)
def test_a_bound_that_is_a_hundredth_smaller_is_broken_where_it_is_attained(claim: bc.Claim) -> None:
    """A test that holds for every constant would test nothing."""
    assert claim.tightness[1] is not None
    if claim.tightness[1] > 1.01:
        pytest.skip("not attained")
    statement = bc.statement(claim.id)
    smaller = replace(statement, bound=statement.bound * 99 / 100, id="", name="smaller")
    assert bc.run_claim(replace(claim, statement=smaller)).verdict.outcome is bc.Outcome.VIOLATED


PARTS = [{"A": [[1, 0], [0, 4]], "b": [1, -2]}, {"A": [[1, 0], [0, 4]], "b": [-3, 5]}]
SAME = [{"kind": "quadratics", "start": [s, 2], "clients": [{"components": PARTS}] * (s + 2)} for s in range(3)]
OTHER = [
    {"kind": "random_quadratics", "clients": 4, "d": 2, "mu": "1/10", "L": 2, "noise": 3, "seed": s} for s in range(3)
]
AVERAGING = {"kind": "periodic_averaging", "tau": 3, "eta": "largest"}
DRAWN = {"kind": "scaffold_option_1", "K": 5, "eta_l": "largest", "participation": {"kind": "uniform", "size": 2}}
# formulas that were written down from memory: each on further exact runs, where it may not fail
FROM_MEMORY = {
    "local_sgd_identical": [(p, AVERAGING, {"k": [1, 3, 8, 24, 120]}) for p in SAME],
    "local_sgd_heterogeneous": [(p, {**AVERAGING, "gradient": "full"}, {"k": [1, 3, 24, 480]}) for p in OTHER],
    "scaffold": [(p, DRAWN, {"R": [1, 5, 50]}) for p in OTHER],
}


@pytest.mark.parametrize("name", FROM_MEMORY)
def test_a_formula_from_memory_stands_on_further_runs(name: str) -> None:
    """None is violated; a bound above its trivial value is no failure, but then it must be above the metric too."""
    for problem, method, at in FROM_MEMORY[name]:
        verdict = bc.run_claim(bc.Claim(f"literature/{name}", problem, method, at=at)).verdict
        assert verdict.outcome in (bc.Outcome.HOLDS, bc.Outcome.VACUOUS), verdict.reason
        assert verdict.tightness is not None
        assert verdict.tightness.ratio_min >= 1


def test_what_is_from_memory_is_marked() -> None:
    """And is held against further runs, or, as a limit, solved for exactly."""
    marked = {s.id.split("/")[1] for s in bc.statements("literature") if "memory" in s.remark}
    assert marked == {*FROM_MEMORY, "fednova"}
