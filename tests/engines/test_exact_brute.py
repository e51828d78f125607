"""Metrics of a round in the exact engine against going through every order, sample, cohort and number of epochs."""

from fractions import Fraction

import numpy as np
import pytest
from exact_brute import Brute

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
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
    Momentum,
    OneByWeight,
    ServerStep,
    Subsets,
    SumOne,
    Unbiased,
    Uniform,
)
from boundcheck.problems.build import build

THIRD = Fraction(1, 3)
STEP = Constant(Fraction(1, 7))
POINT = ("dist2", "gap", "grad2")


def problem(*sizes, alike=False, reduction="mean", d=2):
    """Clients with this many samples of different Hessians (or one Hessian a client), some of them indefinite."""
    clients = []
    for i, size in enumerate(sizes):
        own = []
        for j in range(size):
            k = 0 if alike else j
            a = [[2 + i + k, 1 - k], [1 - k, 3 - 2 * (k == 1)]] if d == 2 else [[1 + i + k]]
            own.append({"A": a, "b": [1 + j, i - 2 * j][:d]})
        clients.append({"components": own})
    total = sum(sizes)
    weights = [str(Fraction(s, total)) for s in sizes]
    spec = {"kind": "quadratics", "clients": clients, "weights": weights, "start": [1, -2][:d], "reduction": reduction}
    return build(spec)


def compare(p, method, rounds, metrics=POINT, grid=None):
    """The engine's expectations are the enumerated ones: exactly, in balls and in doubles."""
    brute = Brute(p, method)
    grid = list(range(rounds + 1)) if grid is None else grid
    rows = [brute.metrics(metrics, t) for t in grid]
    expected = {name: tuple(column) for name, column in zip(metrics, zip(*rows, strict=True), strict=True)}
    assert run_exact(method, p, grid, metrics, arithmetic=Arithmetic.RATIONAL).exact == expected
    # beyond the size of the state maps are composed, up to there rounds are carried out one by one: both ways
    far = [*grid, 150]
    for arithmetic in (Arithmetic.BALL, Arithmetic.FLOAT64):
        for wanted in (grid, far):
            curve = run_exact(method, p, wanted, metrics, arithmetic=arithmetic)
            for name in metrics:
                near = [float(v) for v in expected[name]]
                np.testing.assert_allclose(curve.values[name][: len(grid)], near, rtol=1e-9, atol=1e-12)
                if arithmetic is Arithmetic.BALL:
                    for value, low, high in zip(expected[name], curve.low[name], curve.high[name], strict=False):
                        assert Fraction(low) <= value <= Fraction(high)
    return expected


WORK = {
    "single samples": (Epochs(), (2, 3)),
    "two epochs": (Epochs(2), (2, 2)),
    "short last batch": (Epochs(1, 2), (2, 3)),
    "cut epochs": (Epochs(2, 1, missed=(1, 2)), (2, 3)),
    "cut batches": (Epochs(2, 2, missed=(1, 1)), (2, 3)),
    "replacement": (Epochs(1, 1, "replacement"), (2, 3)),
    "replacement batches": (Epochs(1, 2, "replacement", divide="size"), (2, 3)),
    "random epochs": (Epochs(EpochRange(1, 2), divide="work"), (1, 3)),
}


@pytest.mark.parametrize("alike", [False, True], ids=["different Hessians", "one Hessian"])
@pytest.mark.parametrize("work", list(WORK))
def test_local_work(work, alike):
    local, sizes = WORK[work]
    compare(problem(*sizes, alike=alike), Method("m", Full(), local, STEP, Unbiased()), 0, ("drift",))
    small = problem(1, 2, alike=alike, d=1)
    compare(small, Method("m", Full(), local, STEP, Unbiased(), ServerStep(Fraction(4, 5))), 1, ("gap", "x", "drift"))


def test_equal_samples_are_grouped():
    rows = [{"A": 1, "b": 1}, {"A": 3, "b": -1}, {"A": 1, "b": 1}]
    p = build({"kind": "quadratics", "clients": [{"components": rows}], "start": [2]})
    for work in (Epochs(), Epochs(1, 2), Epochs(1, 3), Epochs(1, missed=(1,))):
        compare(p, Method("m", Full(), work, STEP), 1, ("gap", "x", "drift"))


def test_many_equal_samples_of_two_kinds():
    # 30 samples of two kinds are at most 31 multisets a level, not 2^30 sets
    rows = [{"A": 1 + (j % 2), "b": j % 2} for j in range(30)]
    p = build({"kind": "quadratics", "clients": [{"components": rows}], "start": [2]})
    curve = run_exact(Method("m", Full(), Epochs(divide="size"), STEP), p, [1], ["gap"], arithmetic=Arithmetic.RATIONAL)
    assert 0 < curve.exact["gap"][0] < p.metric("gap", np.array([Fraction(2)], dtype=object))


def test_a_sum_of_samples_steps_with_their_mean_gradient():
    p = problem(2, 3, reduction="sum", d=1)
    compare(p, Method("m", Full(), Epochs(1, 2), Constant(Fraction(1, 11)), Unbiased()), 1, ("gap", "drift"))


def test_steps_that_change_along_the_visit():
    for local in (Epochs(2), Epochs(2, 2), Epochs(1, 2, "replacement", "size")):
        compare(problem(3, alike=True, d=1), Method("m", Full(), local, Formula("2/(31 + 7*t)")), 0, ("drift",))


ODD = Independent((Fraction(1, 2), Fraction(3, 4)))
PAIRS = Subsets(((0, 1), (2,), (1, 2)), (THIRD, THIRD, THIRD))
LEAST = Epochs(1, 1, "replacement", common="min")
COHORTS = {
    "uniform unbiased": (Uniform(2), Unbiased(), Epochs(divide="size")),
    "uniform Sum-One": (Uniform(2), SumOne(), GradientSteps(2)),
    "independent, perhaps empty": (ODD, Unbiased(), Epochs(divide="size")),
    "independent Sum-One": (ODD, SumOne(), GradientSteps(2)),
    "one by weight": (OneByWeight(), Unbiased(), Epochs(divide="size")),
    "subsets": (PAIRS, Unbiased(), GradientSteps(2)),
    "work of the cohort": (Uniform(2), SumOne(), Epochs(common="mean")),
    "drawn work of the cohort": (Subsets(((0, 1), (1, 2)), (THIRD, 1 - THIRD)), Unbiased(), LEAST),
}


@pytest.mark.parametrize("cohorts", list(COHORTS))
def test_cohorts(cohorts):
    participation, aggregation, work = COHORTS[cohorts]
    p = problem(1, 2, d=1) if participation == ODD else problem(1, 2, 2, d=1)
    compare(p, Method("m", participation, work, STEP, aggregation), 2, ("gap", "x", "drift"), [1])


ALL = ("gap", "drift", "epoch_grad2", "momentum_error2")
GRADIENT, WARM = {"start": "gradient"}, {"start": "sampled", "warm_up": 2}
TURNS = Cyclic((1, 0))
MOMENTA = {
    "one by weight": (OneByWeight(), Unbiased(), Epochs(1, divide="size"), {}, 3),
    "from the gradient": (OneByWeight(), Unbiased(), Epochs(1, divide="size"), GRADIENT, 1),
    "warmed up": (OneByWeight(), Unbiased(), Epochs(1, divide="size"), WARM, 1),
    "in turn": (TURNS, Average(), Epochs(), {}, 3),
    "in turn, whole gradients": (TURNS, Average(), GradientSteps(2), {}, 3),
    "full": (Full(), Unbiased(), Epochs(1, 2), GRADIENT, 2),
    "random epochs": (Full(), SumOne(), Epochs(EpochRange(1, 2)), GRADIENT, 2),
    "independent": (ODD, Unbiased(), Epochs(1, 1, "replacement"), GRADIENT, 2),
    "work of the cohort": (Uniform(2), SumOne(), Epochs(common="min"), GRADIENT, 2),
    "whole gradients": (Full(), Unbiased(), GradientSteps(2), GRADIENT, 2),
}


@pytest.mark.parametrize("variance_reduced", [True, False])
@pytest.mark.parametrize("name", list(MOMENTA))
def test_momentum(name, variance_reduced):
    participation, aggregation, work, start, rounds = MOMENTA[name]
    momentum = Momentum(Fraction(2, 5), variance_reduced=variance_reduced, **start)
    m = Method("m", participation, work, STEP, aggregation, ServerStep(Fraction(3, 2)), momentum)
    compare(problem(1, 1, 2, d=1) if participation == Uniform(2) else problem(1, 2, d=1), m, rounds, ALL)
    if rounds == 1:
        compare(problem(1, 2, alike=True), m, 1, ALL)
