"""The exact engine against going through every order, sample, cohort and number of epochs, in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from exact_brute import Brute

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Cyclic,
    EpochRange,
    Epochs,
    Full,
    GradientSteps,
    Independent,
    InverseCycle,
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
    """Clients with so many samples of different Hessians (or one Hessian a client), some of them indefinite."""
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
    "single samples": Epochs(),
    "two epochs": Epochs(2),
    "short last batch": Epochs(1, 2),
    "cut epochs": Epochs(2, 1, missed=(1, 2)),
    "cut batches": Epochs(2, 2, missed=(1, 1)),
    "replacement": Epochs(1, 1, "replacement"),
    "replacement batches": Epochs(1, 2, "replacement", divide="size"),
    "random epochs": Epochs(EpochRange(1, 2), divide="work"),
}


@pytest.mark.parametrize("alike", [False, True], ids=["different Hessians", "one Hessian"])
@pytest.mark.parametrize("work", list(WORK))
def test_local_work(work, alike):
    p = problem(1 if "random" in work else 2, 3, alike=alike)
    m = Method("m", Full(), WORK[work], STEP, Unbiased(), ServerStep(Fraction(4, 5)))
    compare(p, m, 1, POINT)
    compare(p, m, 0, ("drift",), [0])


@pytest.mark.parametrize("work", ["single samples", "cut batches", "replacement"])
@pytest.mark.parametrize("alike", [False, True], ids=["different Hessians", "one Hessian"])
def test_two_rounds(work, alike):
    p = problem(*(1, 3) if work == "single samples" else (1, 2), alike=alike, d=1)
    compare(p, Method("m", Full(), WORK[work], STEP, Unbiased()), 2, ("gap", "x", "drift"))


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


COHORTS = {
    "uniform unbiased": (Uniform(2), Unbiased()),
    "uniform Sum-One": (Uniform(2), SumOne()),
    "independent, perhaps empty": (Independent((Fraction(1, 2), Fraction(3, 4))), Unbiased()),
    "independent Sum-One": (Independent((Fraction(1, 2), Fraction(3, 4))), SumOne()),
    "one by weight": (OneByWeight(), Unbiased()),
    "subsets": (Subsets(((0, 1), (2,), (1, 2)), (THIRD, THIRD, THIRD)), Unbiased()),
}


@pytest.mark.parametrize("cohorts", list(COHORTS))
def test_cohorts(cohorts):
    participation, aggregation = COHORTS[cohorts]
    p = problem(1, 2, d=1) if isinstance(participation, Independent) else problem(1, 2, 2, d=1)
    for work in (Epochs(divide="size"), GradientSteps(2)):
        compare(p, Method("m", participation, work, STEP, aggregation), 2, ("gap", "x", "drift"), [1, 2])


@pytest.mark.parametrize("sampling", ["reshuffled", "replacement"])
@pytest.mark.parametrize("common", ["min", "mean"])
def test_work_that_depends_on_the_cohort(common, sampling):
    p = problem(1, 2, 3, d=1)
    work = Epochs(1, 1, sampling, common=common)
    if sampling == "reshuffled":
        compare(p, Method("m", Uniform(2), work, STEP, SumOne()), 1, ("gap", "x", "drift"))
    cohorts = Subsets(((0, 1), (1, 2)), (THIRD, 1 - THIRD))
    compare(p, Method("m", cohorts, work, STEP, Unbiased()), 1, ("gap", "x"))


def test_changing_steps_and_fixed_cohorts_with_reshuffling():
    p = problem(1, 3, d=1)
    steps = InverseCycle(Fraction(1, 3))
    m = Method("m", Full(), Epochs(divide="size"), steps, Unbiased())
    brute = Brute(p, m)
    curve = run_exact(m, p, [0, 1, 2], ["gap", "drift"], arithmetic=Arithmetic.RATIONAL)
    for name in ("gap", "drift"):
        assert curve.exact[name] == tuple(brute.metrics([name], t)[0] for t in range(3))


def momentum(**more):
    return Momentum(Fraction(2, 5), **more)


ALL = ("gap", "drift", "epoch_grad2", "momentum_error2")


@pytest.mark.parametrize("start", [{}, {"start": "gradient"}, {"start": "sampled", "warm_up": 2}], ids=str)
@pytest.mark.parametrize("variance_reduced", [True, False])
@pytest.mark.parametrize("alike", [True, False])
def test_momentum_of_single_client_cohorts(start, variance_reduced, alike):
    p = problem(1, 2, alike=alike, d=1)
    m = Method(
        "m",
        OneByWeight(),
        Epochs(1, divide="size"),
        STEP,
        Unbiased(),
        momentum=momentum(variance_reduced=variance_reduced, **start),
    )
    compare(p, m, 3, ALL, [0, 1, 3])


@pytest.mark.parametrize("variance_reduced", [True, False])
@pytest.mark.parametrize("work", [Epochs(), GradientSteps(2)], ids=["epochs", "gradients"])
def test_momentum_of_a_fixed_order_of_clients(variance_reduced, work):
    p = problem(1, 2, d=1)
    m = Method("m", Cyclic((1, 0)), work, STEP, momentum=momentum(variance_reduced=variance_reduced))
    compare(p, m, 3, ALL)
    plain = Method("m", Cyclic((1, 0)), work, STEP)
    compare(p, plain, 3, ("gap", "x", "drift"))


@pytest.mark.parametrize("variance_reduced", [True, False])
def test_momentum_over_three_rounds_in_the_plane(variance_reduced):
    p = problem(1, 2)
    m = Method("m", OneByWeight(), Epochs(2), STEP, Unbiased(), momentum=momentum(variance_reduced=variance_reduced))
    compare(p, m, 2, ("gap", "epoch_grad2", "momentum_error2"), [1, 2])


@pytest.mark.parametrize("variance_reduced", [True, False])
@pytest.mark.parametrize(
    ("participation", "aggregation", "work"),
    [
        (Full(), Unbiased(), Epochs(1, 2)),
        (Full(), SumOne(), Epochs(EpochRange(1, 2))),
        (Independent((Fraction(1, 2), Fraction(3, 4))), Unbiased(), Epochs(1, 1, "replacement")),
        (Uniform(2), SumOne(), Epochs(common="min")),
        (Full(), Unbiased(), GradientSteps(2)),
    ],
    ids=["full", "random epochs", "independent", "min", "gradients"],
)
def test_momentum_of_any_cohorts(variance_reduced, participation, aggregation, work):
    few = isinstance(participation, Independent) or work == Epochs(EpochRange(1, 2))
    p = problem(1, 2, d=1) if few else problem(1, 1, 2, d=1)
    m = Method(
        "m",
        participation,
        work,
        STEP,
        aggregation,
        ServerStep(Fraction(3, 2)),
        momentum(variance_reduced=variance_reduced, start="gradient"),
    )
    compare(p, m, 2, ALL, [0, 1, 2])
