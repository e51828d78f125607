"""The falsifier on one round of FedDANE: its floats against the exact engine, what it breaks and what it must not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.evidence import one_round as module
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.falsify import falsify
from boundcheck.evidence.one_round import DeviceGenes, OneRoundSearch, Setup, constants_of, decrease
from boundcheck.evidence.shipped import shipped_witnesses
from boundcheck.evidence.witness import load_witness, replay
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.setting import describe_constants
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome

FALSE = "feddane/theorem_7/as_printed"
TRUE = [
    *(f"theorem_7/{r}" for r in ("corrected", "sharp")),
    *(f"{t}/{r}" for t in ("theorem_3", "theorem_5") for r in ("as_printed", "sharp_any_cohort", "sharp")),
    *(f"corollary_4/{r}" for r in ("corrected", "as_printed", "sharp")),
]


@pytest.mark.parametrize(
    "setup",
    [
        Setup(2, 1, None, False, True),
        Setup(3, 2, None, False, True),
        Setup(3, 1, 2, False, True),
        Setup(2, 2, 1, True, True),
        Setup(3, 2, 3, True, False, 4.0),
    ],
)
def test_its_floats_are_those_of_the_exact_engine(setup: Setup) -> None:
    random = np.random.default_rng(1)
    d = setup.dim
    genes = 0.3 * random.standard_normal((40, setup.n * (2 * d + (d - 1) + 1 + d + 1)))
    if not setup.convex:  # the first device is concave along its second axis
        genes[:, 3] = -1.5
    found = DeviceGenes(setup, genes).decode()
    values, fallen = constants_of(found), decrease(found)
    k = int(np.flatnonzero(np.isfinite(values["gap_0"]))[0])
    clients = [
        {"A": [[Fraction(float(v)) for v in row] for row in (h + h.T) / 2], "b": [Fraction(float(-v)) for v in s]}
        for h, s in zip(found.H[k], found.slope[k], strict=True)
    ]
    problem = build_problem({"kind": "quadratics", "clients": clients, "start": [0] * d})
    mu = [Fraction(float(v)) for v in found.mu[k]]
    cohorts = {"participation": "full"} if setup.K is None else {"K": setup.K}
    method = build_method({"kind": "feddane", "mu": mu[0] if setup.common else mu, **cohorts})
    curve = run(method, problem, rounds=[0, 1], metrics=["gap"])
    assert curve.values["gap"][0] - curve.values["gap"][1] == pytest.approx(fallen[k], rel=1e-9)
    known = describe_constants(method, problem)
    assert set(values) - {"prox", "grad2_0"} <= set(known)
    for name, value in values.items():
        if name in known:
            assert float(known[name].value) == pytest.approx(float(value[k]), rel=1e-9, abs=1e-12), name
    assert run(method, problem, rounds=[0], metrics=["grad2"]).values["grad2"][0] == pytest.approx(values["grad2_0"][k])
    assert setup.convex or values["lam"][k] > 0


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2, 3))])
def test_theorem_7_as_printed_is_broken(seed: int) -> None:
    found = falsify(statement(FALSE), seed=seed, max_instances=100_000)
    assert found.witness is not None
    again = replay(found.witness)
    assert (again.outcome, again.grade) == (Outcome.VIOLATED, Grade.EXACT)
    result = run_claim(found.witness.claim())
    assert result.verdict.details["scope"]["in_scope"] is True
    assert set(result.verdict.details["assumptions"].values()) == {"decided"}
    for reading in ("corrected", "sharp"):
        other = run_claim(replace(found.witness.claim(), statement=FALSE.replace("as_printed", reading)))
        assert other.verdict.outcome in (Outcome.HOLDS, Outcome.VACUOUS)


def test_the_shipped_witness_is_what_the_search_finds() -> None:
    shipped = load_witness(shipped_witnesses()[FALSE])
    assert shipped.provenance["search"] == "falsify"
    budget = int(str(shipped.provenance["budget"]).split()[0])
    found = falsify(statement(FALSE), seed=int(str(shipped.provenance["seed"])), max_instances=budget)
    assert found.witness is not None
    assert found.instances == budget
    assert found.witness == shipped


@pytest.mark.parametrize("name", TRUE)
def test_true_statements_survive(name: str) -> None:
    found = falsify(statement(f"feddane/{name}"), seed=0, max_instances=60 * module.BATCH)
    assert found.witness is None
    assert -1 < found.best <= 1e-6  # and instances in scope were looked at


def _without(claimed: Statement, name: str) -> Statement:
    """The statement with one of its constants a tenth smaller in bound and conditions."""
    symbol = claimed.symbol(name).expr
    smaller = {symbol: symbol * Fraction(9, 10)}
    conditions = tuple(replace(c, relation=c.relation.subs(smaller)) for c in claimed.conditions)
    return replace(claimed, bound=claimed.bound.subs(smaller), conditions=conditions)


@pytest.mark.parametrize(("name", "constant"), [("theorem_7/sharp", "L_f"), ("theorem_3/sharp", "L")])
def test_a_bound_that_is_a_little_too_small_is_broken(name: str, constant: str) -> None:
    """The sharp readings are so close that a tenth less of a smoothness constant does not survive."""
    found = falsify(_without(statement(f"feddane/{name}"), constant), seed=0, max_instances=200_000)
    assert found.witness is not None


@pytest.mark.slow
def test_one_seed_finds_one_witness() -> None:
    first, again = (falsify(statement(FALSE), seed=3, budget=budget) for budget in (100, 1000))
    assert first.witness is not None
    assert first.witness == again.witness


def test_what_the_search_does_not_reach() -> None:
    for name in ("theorem_6/corrected", "equation_3/as_printed"):
        with pytest.raises(Unsupported, match=r"the search covers (gap after one round|upper bounds)"):
            falsify(statement(f"feddane/{name}"))


def test_scores_are_shares_of_the_promise() -> None:
    """F_1 = 16 w, F_2 = 8 w^2 seen from w = 1: promised is 25024/50000 * 256, and the gap rises."""
    genes = DeviceGenes(Setup(2, 1, None, False, True), np.zeros((1, 10)))
    found = replace(
        genes.decode(),
        root=np.array([[[[0.0]], [[4.0]]]]),
        slope=np.array([[[16.0], [16.0]]]),
        mu=np.array([[1.0, 1000.0]]),
    )
    promised = 256 * 25024 / 50000
    step = -8 * (1 + 1 / 1016)
    rise = 16 * step + 4 * step**2
    score = OneRoundSearch(statement(FALSE)).scores_of(found)[0]
    assert score == pytest.approx((promised + rise) / promised)
