"""Expectations of methods against all outcomes one by one: in fractions, in balls and in doubles.

Each case is a method on a small problem, with its metrics of a point and of a round. Rounds are carried out one by one
and by composed maps, which the exact engine takes beyond the size of a state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sampled_toys import small_problem

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.engines.exact.state import lower
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    Constant,
    Cyclic,
    EpochRange,
    Epochs,
    Formula,
    Full,
    GradientSteps,
    Independent,
    InverseCycle,
    Momentum,
    OneByWeight,
    Pattern,
    PerClient,
    Same,
    ServerStep,
    Stale,
    StochasticSteps,
    Subsets,
    SumOne,
    Unbiased,
    Uniform,
    WithReplacement,
)
from boundcheck.problems.build import build
from tests.engines.brute import Quadratics
from tests.engines.outcomes import expected

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
STEP, EXACT = Constant(Fraction(1, 7)), Arithmetic.RATIONAL
POINT = ("dist2", "gap", "grad2")
VIRTUAL = ("round_gap", "virtual_round_gap", "virtual_gap", "virtual_grad2")


def workers(n: int = 2, d: int = 2, samples: int = 2, weights: Any = None) -> Any:
    """Clients with different samples of different Hessians."""
    clients = []
    for i in range(n):
        own = []
        for j in range(samples):
            a = [[2 + (r == c) * (i + j) if r == c else 1 - j for c in range(d)] for r in range(d)]
            own.append({"A": a, "b": [(1 + j) * (-1) ** (i + r) + r for r in range(d)]})
        clients.append({"components": own})
    more = {} if weights is None else {"weights": weights}
    return build({"kind": "quadratics", "clients": clients, "start": [1, -2, 3][:d], **more})


def equal(n: int, d: int = 2, *, common: bool = True, **more: Any) -> Any:
    """Clients that all hold the same two samples, of one Hessian or of different ones."""
    own = []
    for j in range(2):
        a = [[3 + r + j * (not common) if r == c else 1 for c in range(d)] for r in range(d)]
        own.append({"A": a, "b": [(1 + r) * (-1) ** j for r in range(d)]})
    return build({"kind": "quadratics", "clients": [{"components": own}] * n, "start": [1, -2, 3][:d], **more})


Case = tuple[Any, Method, int, Sequence[str]]  # problem, method, rounds, metrics

# --- local work, cohorts, momenta -----------------------------------------------------------------------------------

WORK: Mapping[str, tuple[Any, tuple[int, ...]]] = {
    "single samples": (Epochs(), (2, 3)),
    "two epochs": (Epochs(2), (2, 2)),
    "short last batch": (Epochs(1, 2), (2, 3)),
    "cut epochs": (Epochs(2, 1, missed=(1, 2)), (2, 3)),
    "cut batches": (Epochs(2, 2, missed=(1, 1)), (2, 3)),
    "replacement": (Epochs(1, 1, "replacement"), (2, 3)),
    "replacement batches": (Epochs(1, 2, "replacement", divide="size"), (2, 3)),
    "random epochs": (Epochs(EpochRange(1, 2), divide="work"), (1, 3)),
}
ODD = Independent((HALF, Fraction(3, 4)))
PAIRS = Subsets(((0, 1), (2,), (1, 2)), (THIRD, THIRD, THIRD))
LEAST = Epochs(1, 1, "replacement", common="min")
COHORTS: Mapping[str, tuple[Any, Any, Any]] = {
    "uniform unbiased": (Uniform(2), Unbiased(), Epochs(divide="size")),
    "uniform Sum-One": (Uniform(2), SumOne(), GradientSteps(2)),
    "independent, perhaps empty": (ODD, Unbiased(), Epochs(divide="size")),
    "independent Sum-One": (ODD, SumOne(), GradientSteps(2)),
    "one by weight": (OneByWeight(), Unbiased(), Epochs(divide="size")),
    "subsets": (PAIRS, Unbiased(), GradientSteps(2)),
    "work of the cohort": (Uniform(2), SumOne(), Epochs(common="mean")),
    "drawn work of the cohort": (Subsets(((0, 1), (1, 2)), (THIRD, 1 - THIRD)), Unbiased(), LEAST),
}
ALL = ("gap", "drift", "epoch_grad2", "momentum_error2")
GRADIENT, WARM = {"start": "gradient"}, {"start": "sampled", "warm_up": 2}
MOMENTA: Mapping[str, tuple[Any, Any, Any, Any, int]] = {
    "one by weight": (OneByWeight(), Unbiased(), Epochs(1, divide="size"), {}, 3),
    "from the gradient": (OneByWeight(), Unbiased(), Epochs(1, divide="size"), GRADIENT, 1),
    "warmed up": (OneByWeight(), Unbiased(), Epochs(1, divide="size"), WARM, 1),
    "in turn": (Cyclic((1, 0)), Average(), Epochs(), {}, 3),
    "in turn, whole gradients": (Cyclic((1, 0)), Average(), GradientSteps(2), {}, 3),
    "full": (Full(), Unbiased(), Epochs(1, 2), GRADIENT, 2),
    "random epochs": (Full(), SumOne(), Epochs(EpochRange(1, 2)), GRADIENT, 1),
    "independent": (ODD, Unbiased(), Epochs(1, 1, "replacement"), GRADIENT, 1),
    "work of the cohort": (Uniform(2), SumOne(), Epochs(common="min"), GRADIENT, 2),
    "whole gradients": (Full(), Unbiased(), GradientSteps(2), GRADIENT, 2),
}


def plain_cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for name, (local, sizes) in WORK.items():
        for alike in (False, True):
            key, own = (
                f"{name}, {'one Hessian' if alike else 'different Hessians'}",
                Method("m", Full(), local, STEP, Unbiased()),
            )
            found[key] = small_problem(*sizes, alike=alike), own, 0, ("drift",)
            slower = Method("m", Full(), local, STEP, Unbiased(), ServerStep(Fraction(4, 5)))
            found[f"{key}, a round"] = small_problem(1, 2, alike=alike, d=1), slower, 1, ("gap", "x", "drift")
    rows = [{"A": 1, "b": 1}, {"A": 3, "b": -1}, {"A": 1, "b": 1}]
    grouped = build({"kind": "quadratics", "clients": [{"components": rows}], "start": [2]})
    for work in (Epochs(), Epochs(1, 2), Epochs(1, 3), Epochs(1, missed=(1,))):
        found[f"equal samples, {work}"] = grouped, Method("m", Full(), work, STEP), 1, ("gap", "x", "drift")
    sums = Method("m", Full(), Epochs(1, 2), Constant(Fraction(1, 11)), Unbiased())
    found["sums of samples"] = small_problem(2, 3, reduction="sum", d=1), sums, 1, ("gap", "drift")
    for local in (Epochs(), Epochs(2, 2), Epochs(1, 2, "replacement", "size")):
        changing = Method("m", Full(), local, Formula("2/(31 + 7*t)"))
        found[f"steps that change, {local}"] = small_problem(3, alike=True, d=1), changing, 0, ("drift",)
    for weights in ((HALF, Fraction(0), HALF), (Fraction(0), HALF, HALF)):
        nothing = Method("m", Full(), StochasticSteps(2, 1), STEP, PerClient(weights))
        found[f"a client that counts for nothing, {weights}"] = small_problem(2, 1, 2, d=1), nothing, 1, ("dist2",)
    for name, (participation, aggregation, local) in COHORTS.items():
        where = small_problem(1, 2, d=1) if participation == ODD else small_problem(1, 2, 2, d=1)
        found[name] = where, Method("m", participation, local, STEP, aggregation), 1, ("gap", "x", "drift")
    for name, (participation, aggregation, local, start, rounds) in MOMENTA.items():
        for reduced in (True, False):
            momentum = Momentum(Fraction(2, 5), variance_reduced=reduced, **start)
            own = Method("m", participation, local, STEP, aggregation, ServerStep(Fraction(3, 2)), momentum)
            key = f"{'MVR' if reduced else 'practical momentum'}, {name}"
            found[key] = (
                small_problem(1, 1, 2, d=1) if participation == Uniform(2) else small_problem(1, 2, d=1),
                own,
                rounds,
                ALL,
            )
            if start == WARM:
                found[f"{key}, in the plane"] = small_problem(1, 2, alike=True), own, 1, ALL
    return found


# --- models that clients keep ---------------------------------------------------------------------------------------


def samples(*sizes: int, alike: bool = False, d: int = 1) -> Any:
    """Clients with this many samples; `alike`: of one Hessian a client."""
    clients = []
    for i, size in enumerate(sizes):
        own = []
        for j in range(size):
            k = 0 if alike else j
            a = [[2 + i + k, 1 - k], [1 - k, 3]] if d == 2 else [[1 + i + k]]
            own.append({"A": a, "b": [1 + j - i, i - 2 * j][:d]})
        clients.append({"components": own})
    weights = [str(Fraction(s, sum(sizes))) for s in sizes]
    return build({"kind": "quadratics", "clients": clients, "weights": weights, "start": [2, -1][:d]})


def stale(participation: Any, local: Any, aggregation: Any = None, eta_g: Fraction = Fraction(4, 5)) -> Method:
    return Method("m", participation, local, STEP, aggregation or Unbiased(), ServerStep(eta_g), exchange=Stale())


PLANE, LINE, ALIKE = samples(1, 2, 1, d=2), samples(2, 2), samples(2, 2, 1, alike=True)
LEAD = Pattern(((0,), (), (0, 1)), ((1,), (1,)))
SOME, SIXTH = Independent((HALF, THIRD, Fraction(1))), Fraction(1, 6)
SETS = Subsets(((0, 1), (2,), ()), (HALF, SIXTH, THIRD))
TRIOS = Subsets(((0, 1, 4), (2, 3, 4)), (THIRD, 1 - THIRD))
REPLACED = Epochs(1, 1, "replacement")
# problem, method, rounds, whether it has virtual models
STALE: Mapping[str, tuple[Any, Method, int, bool]] = {
    "cyclic": (PLANE, stale(Cyclic(), GradientSteps(3), Same(HALF)), 6, True),
    "empty rounds": (PLANE, stale(Pattern(((0, 1), (), (2,), (0,))), GradientSteps(1), Same(HALF)), 7, True),
    "lead": (PLANE, stale(Pattern(((1,), (0, 1)), ((2,), (), (0, 2))), GradientSteps(3), Same(HALF)), 7, True),
    "always there": (PLANE, stale(Pattern(((0, 1), (2, 0))), GradientSteps(3), Same(HALF)), 5, True),
    "in turn, samples": (LINE, stale(Pattern(((0, 1), (1,))), Epochs()), 3, True),
    "in turn, drawn": (samples(1, 2, 2), stale(Pattern(((0, 1), (), (2,)), ((1, 2),)), REPLACED, Same(HALF)), 3, False),
    "nothing kept": (LINE, Method("m", LEAD, GradientSteps(2), STEP, Same(HALF)), 6, True),
    "nothing kept, samples": (LINE, Method("m", LEAD, Epochs(), STEP, Same(HALF)), 3, True),
    "one by weight": (PLANE, stale(OneByWeight(), GradientSteps(2)), 3, True),
    "independent": (PLANE, stale(SOME, GradientSteps(2)), 2, False),
    "uniform": (PLANE, stale(Uniform(2), GradientSteps(2)), 3, True),
    "uniform, average": (PLANE, stale(Uniform(2), GradientSteps(1), Average()), 2, True),
    "subsets": (PLANE, stale(SETS, GradientSteps(2)), 3, True),
    "shared models": (samples(*[1] * 5), stale(TRIOS, GradientSteps(1)), 4, True),
    "replacement": (PLANE, stale(WithReplacement(2), GradientSteps(2)), 2, False),
    "replacement, average": (PLANE, stale(WithReplacement(2), GradientSteps(1), Average()), 1, True),
    "weights of the cohort": (samples(1, 1, 2), stale(SOME, GradientSteps(1), SumOne()), 2, False),
    # in round 2 both clients of a cohort hold points with the noise of the same earlier cohort
    "samples": (samples(2, 2, 1), stale(Uniform(2), Epochs()), 2, False),
    "samples of one Hessian": (ALIKE, stale(Uniform(2), Epochs()), 2, False),
    "drawn samples": (samples(2, 2, 1), stale(Uniform(2), REPLACED), 2, False),
    "drawn samples of one Hessian": (samples(2, 2, alike=True), stale(OneByWeight(), REPLACED), 2, False),
    "one noise for a cohort": (ALIKE, stale(Subsets(((0, 1), (0,), (1, 2)), (HALF, THIRD, SIXTH)), Epochs()), 2, False),
    "random epochs": (samples(1, 2), stale(OneByWeight(), Epochs(EpochRange(1, 2))), 2, False),
    "plain, independent": (PLANE, Method("m", SOME, GradientSteps(2), STEP, Unbiased(), ServerStep(HALF)), 1, True),
    "plain, one by weight": (samples(2, 2, 2), Method("m", OneByWeight(), REPLACED, STEP, Unbiased()), 0, True),
    "plain, replacement": (samples(2, 2, 2), Method("m", WithReplacement(2), Epochs(), STEP, Unbiased()), 0, True),
    "plain, subsets": (samples(2, 2, 2), Method("m", SETS, Epochs(), STEP, Unbiased()), 0, True),
}  # fmt: skip


def averaged(tau: int = 2, kind: str = "partial_averaging", **more: Any) -> Method:
    return build_method({"kind": kind, "tau": tau, "eta": "1/7", **more})


HANDED = {"active": 2, "every": 2}
MODELS: Mapping[str, tuple[Any, Method, int]] = {
    "natural order": (workers(), averaged(), 3),
    "other order": (workers(), averaged(order=[1, 0]), 3),
    "own partition": (workers(d=3), averaged(partition=[[2, 0], [1]]), 2),
    "weights of the clients": (workers(weights=["1/4", "3/4"]), averaged(weights="data"), 3),
    "equal weights in the average alone": (workers(weights=["1/4", "3/4"]), averaged(), 2),
    "periodic": (workers(), averaged(kind="periodic_averaging"), 3),
    "two samples a step": (workers(), averaged(batch=2), 2),
    "three workers": (workers(3, samples=1), averaged(gradient="full"), 6),
    "equal workers": (equal(2), averaged(), 3),
    "workers that weigh unlike": (equal(2, weights=["1/4", "3/4"]), averaged(weights="data"), 2),
    "equal workers of several Hessians": (equal(3, common=False), averaged(), 2),
    "equal workers, drawn epochs": (
        equal(2, 1, common=False),
        replace(averaged(), local=Epochs(EpochRange(1, 2), 1, "replacement")),
        1,
    ),
    "equal workers, steps that change": (
        equal(2, common=False),
        replace(averaged(order=[1, 0]), schedule=InverseCycle(Fraction(1, 5), 2)),
        3,
    ),
    **{
        f"{what}, design {design}": (where, averaged(**more, hand_over={**hand_over, "design": design}), rounds)
        for design in (1, 2)
        for what, where, more, hand_over, rounds in (
            ("handed over", workers(3, samples=1, d=1), {"gradient": "full"}, HANDED, 4),
            ("one handed over", workers(2, d=1), {"kind": "periodic_averaging"}, {"active": 1, "every": 1}, 3),
            ("handed over among equal workers", equal(3, 1, common=False), {"tau": 3}, HANDED, 2),
        )
    },
}
CASES: Mapping[str, Case] = {
    **plain_cases(),
    **{f"stale, {k}": (p, m, r, (*POINT, *(VIRTUAL if v else ()))) for k, (p, m, r, v) in STALE.items()},
    **{
        f"averaged, {k}": (p, m, r, ("gap", "grad2", "discrepancy", "discrepancy:0")) for k, (p, m, r) in MODELS.items()
    },
}


@pytest.mark.parametrize("case", CASES)
def test_expectations_are_those_of_all_outcomes(case: str) -> None:
    where, method, rounds, metrics = CASES[case]
    found, grid = expected(method, Quadratics(where), metrics, rounds), list(range(rounds + 1))
    assert run_exact(method, where, grid, metrics, arithmetic=EXACT).exact == found
    for arithmetic in (Arithmetic.BALL, Arithmetic.FLOAT64):
        for wanted in (grid, [*grid, 150]):
            curve = run_exact(method, where, wanted, metrics, arithmetic=arithmetic)
            for name, values in found.items():
                near = [float(v) for v in values]
                np.testing.assert_allclose(curve.values[name][: rounds + 1], near, rtol=1e-9, atol=1e-12)
                if arithmetic is Arithmetic.BALL:
                    for value, low, high in zip(values, curve.low[name], curve.high[name], strict=False):
                        assert Fraction(low) <= value <= Fraction(high)
    if case.startswith("averaged"):
        assert bool(lower(method, where, metrics).reduced.alike) == ("equal workers" in case)
