"""The falsifier on one round of FedDANE: its floats against the exact engine, what it breaks and what it must not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.shipped_files import shipped_witnesses
from boundcheck.evidence.witness import load_witness, replay
from boundcheck.falsify.generator import BATCH
from boundcheck.falsify.generators.proximal_devices import ProximalDevices, Shape, hessians
from boundcheck.falsify.search import falsify
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
    ("shape", "common", "convex"),
    [
        (Shape(2, 1, None), False, True),
        (Shape(3, 2, None), False, True),
        (Shape(3, 1, 2), False, True),
        (Shape(2, 2, 1), True, True),
        (Shape(3, 2, 3, 4.0), True, False),
    ],
)
def test_its_floats_are_those_of_the_exact_engine(shape: Shape, common: bool, convex: bool) -> None:
    random = np.random.default_rng(1)
    generator = ProximalDevices(statement(FALSE))
    generator.common, generator.convex = common, convex
    d = shape.dim
    genes = {name: 0.3 * random.standard_normal((40, *size)) for name, size in generator.genes(shape).items()}
    if not convex:  # the first device is concave along its second axis
        genes["sign"][:, 0, 1] = -1.5
    found = generator.decode(shape, genes)
    values, fallen = generator.constants(shape, found), generator.decrease(shape, found)
    k = int(np.flatnonzero(np.isfinite(values["gap_0"]))[0])
    clients = [
        {"A": [[Fraction(float(v)) for v in row] for row in (h + h.T) / 2], "b": [Fraction(float(-v)) for v in s]}
        for h, s in zip(hessians(found)[k], found["slope"][k], strict=True)
    ]
    problem = build_problem({"kind": "quadratics", "clients": clients, "start": [0] * d})
    mu = [Fraction(float(v)) for v in generator.mu(shape, found)[k]]
    cohorts = {"participation": "full"} if shape.K is None else {"K": shape.K}
    method = build_method({"kind": "feddane", "mu": mu[0] if common else mu, **cohorts})
    curve = run(method, problem, rounds=[0, 1], metrics=["gap"])
    assert curve.values["gap"][0] - curve.values["gap"][1] == pytest.approx(fallen[k], rel=1e-9)
    known = describe_constants(method, problem)
    assert set(values) - {"prox", "grad2_0"} <= set(known)
    for name, value in values.items():
        if name in known:
            assert float(known[name].value) == pytest.approx(
                float(np.broadcast_to(value, 40)[k]), rel=1e-9, abs=1e-12
            ), name
    assert run(method, problem, rounds=[0], metrics=["grad2"]).values["grad2"][0] == pytest.approx(values["grad2_0"][k])
    assert convex or values["lam"][k] > 0


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
    found = falsify(statement(f"feddane/{name}"), seed=0, max_instances=60 * BATCH)
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


def test_the_score_of_one_instance() -> None:
    """F_1 = 16 w, F_2 = 16 w + 8 w^2, both with mu = 100, from w = 0: g = 16, f = 16 w + 4 w^2 has the gap 16.

    The round moves by -8 (1/100 + 1/116), and `theorem_7` at equal weights has its printed bound.
    """
    generator = ProximalDevices(statement(FALSE))
    one = {"sign": np.ones((1, 2, 1)), "slope": np.full((1, 2, 1), 16.0), "mu": np.full((1, 2), 100.0)}
    numbers = {**one, "root": np.array([[[[0.0]], [[4.0]]]])}
    step = -8 * (1 / 100 + 1 / 116)
    gap = 16 + 16 * step + 4 * step**2
    known = {"L": 16.0, "B2": 1.0, "gap_0": 16.0, "grad2_0": 256.0, "inv_mu": 0.01, "gamma_inv_mu": 0.0}
    known |= {"L_inv_mu2": 8e-4, "gamma2_inv_mu2": 1e-4, "L_gamma2_inv_mu2": 8e-4}
    bound = float(statement(FALSE).evaluate(**known).value)
    ((index, score),) = generator.scores(Shape(2, 1, None), numbers)
    assert index == 1
    assert score[0] == pytest.approx(np.log(gap / bound) / min(1.0, np.log(16 / bound)), rel=1e-9)


def test_a_negative_bound_is_exceeded() -> None:
    """Where more than the whole gap is promised, any gap is a violation."""
    generator = ProximalDevices(statement(FALSE))
    one = {"sign": np.ones((1, 2, 1)), "slope": np.full((1, 2, 1), 16.0), "mu": np.array([[1.0, 1000.0]])}
    ((_, score),) = generator.scores(Shape(2, 1, None), {**one, "root": np.array([[[[0.0]], [[4.0]]]])})
    assert score[0] > 1
