"""Every theorem scales, has a short file and a claim; a claim meets what it expects, and can miss it."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import literature
import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.spec import load_claims
from boundcheck.theory.statement import Belief

HERE = Path(__file__).parent.parent
CLAIMS = HERE / "claims.toml"
NAMES = sorted({s.id.split("/")[1] for s in bc.statements("literature")})


def test_there_are_thirteen_theorems_in_short_files() -> None:
    """And nothing else lies beside them; a file with a method of its own is longer."""
    files = {p.stem: p for p in Path(literature.__file__).parent.glob("*.py")}
    assert set(files) - {"__init__", "definitions"} == set(NAMES)
    assert len(NAMES) >= 13
    for name in NAMES:
        lines = len(files[name].read_text().splitlines())
        assert lines <= (75 if "(Rule)" in files[name].read_text() else 62), name


@pytest.mark.parametrize("name", NAMES)
def test_a_theorem_scales_and_has_a_source_and_a_claim(name: str) -> None:
    """The least that a statement must do."""
    claimed = {"/".join(c["statement"].split("/")[:2]) for c in tomllib.loads(CLAIMS.read_text())["claim"]}
    assert f"literature/{name}" in claimed
    statement = bc.statement(f"literature/{name}")
    assert statement.dimension_errors() == []
    assert statement.source.where
    assert statement.latex()


def test_every_reading_that_is_believed_true_or_false_has_a_claim_that_shows_it() -> None:
    """A false one is broken by an instance, a true one holds on one."""
    shown = {(bc.statement(c.id).id, c.expect) for c in load_claims(CLAIMS)}
    for belief, outcome in ((Belief.TRUE, bc.Outcome.HOLDS), (Belief.FALSE, bc.Outcome.VIOLATED)):
        own = [s.id for s in bc.statements("literature") if s.belief is belief]
        assert len(own) >= 12
        assert [i for i in own if (i, outcome) not in shown] == []


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
    assert run_claim(replace(claim, statement=smaller)).verdict.outcome is bc.Outcome.VIOLATED


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
# theorems that were derived or sharpened here, likewise; each claim has its own constants
ALONE = [{"kind": "quadratics", "start": [s, 3], "clients": [{"A": [[2, 1], [1, s + 1]]}]} for s in range(1, 4)]
STEEP = [
    {"kind": "quadratics", "start": s, "clients": [{"A": [["5/2", "3/2"], ["3/2", "5/2"]]}]} for s in ([2, 1], [1, -2])
]
CLOSE = [{**p, "mu": "1/2", "noise": "1/20"} for p in OTHER]
SADDLE = [{"kind": "quadratics", "start": [1, s], "clients": [{"A": [[1, 2], [2, -s]]}]} for s in range(3)]
MORE = {"eta": "largest"}
DERIVED = {
    "fedavg_two_steps": [(p, {"kind": "fedavg", "E": 2, **MORE}, {}, {}) for p in OTHER],
    "incremental": [(p, {"kind": "scgd", "E": 1, **MORE}, {"K": [1, 3, 30]}, {}) for p in CLOSE],
    "proxskip": [(p, {"kind": "scaffnew", **MORE}, {"k": [1, 4, 16]}, {}) for p in CLOSE],
    "gradient_ascent_descent": [(p, {"kind": "descent_ascent", **MORE}, {"k": [1, 4, 16]}, {}) for p in SADDLE],
    "sgd_one_over_k": [(p, {"kind": "sync_sgd", "eta": "1/(r + 3)"}, {"k": [1, 4, 16, 64]}, {"s": 3}) for p in SAME],
    "dist_ef_sgd": [
        (p, {"kind": "dist_ef_sgd", "eta": "(2/3)^r/30"}, {"k": [1, 2, 4, 16]}, {"a": "1/30", "q": "2/3"})
        for p in ALONE
    ],
    "heavy_ball_optimal": [
        (p, {"kind": "heavy_ball", "eta": "4/9", "momentum_g": "1/9"}, {"k": [1, 4, 16, 64]}, {}) for p in STEEP
    ],
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_theorem_that_was_derived_here_stands_on_further_runs(name: str) -> None:
    """None is violated, and some guarantee something."""
    found = [
        run_claim(bc.Claim(f"literature/{name}", problem, method, at=at, constants=constants)).verdict
        for problem, method, at, constants in DERIVED[name]
    ]
    assert {v.outcome for v in found} <= {bc.Outcome.HOLDS, bc.Outcome.VACUOUS}, [v.reason for v in found]
    assert bc.Outcome.HOLDS in {v.outcome for v in found}


@pytest.mark.parametrize("name", FROM_MEMORY)
def test_a_formula_from_memory_stands_on_further_runs(name: str) -> None:
    """None is violated; a bound above its trivial value is no failure, but then it must be above the metric too."""
    for problem, method, at in FROM_MEMORY[name]:
        verdict = run_claim(bc.Claim(f"literature/{name}", problem, method, at=at)).verdict
        assert verdict.outcome in (bc.Outcome.HOLDS, bc.Outcome.VACUOUS), verdict.reason
        assert verdict.tightness is not None
        assert verdict.tightness.ratio_min >= 1


def test_what_is_from_memory_is_marked() -> None:
    """And is held against further runs, or, as a limit, solved for exactly."""
    marked = {s.id.split("/")[1] for s in bc.statements("literature") if "memory" in s.remark}
    assert marked == {*FROM_MEMORY, "fednova"}
