"""Textbook bounds against gradient descent, SGD and local gradient descent carried out here in exact arithmetic.

Nothing of the package's engines is used: functions on the line with piecewise linear slopes, quadratics in the plane,
all stochastic runs enumerated, everything in fractions.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.theory.decide import enclose
from boundcheck.theory.discovery import statement

Vector = tuple[Fraction, ...]
F = Fraction
ONE = F(1)


def bound_of(name: str, **values: Fraction | int) -> Fraction:
    """The statement's bound, exactly, where every condition holds."""
    claimed = statement(f"classics/{name}")
    assert claimed.scope(**values).in_scope is True
    low, high = enclose(claimed.bound, {k: F(v) for k, v in values.items()})
    assert low == high
    return low


def dot(x: Vector, y: Vector) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), F(0))


def plus(x: Vector, y: Vector, factor: Fraction = ONE) -> Vector:
    return tuple(a + factor * b for a, b in zip(x, y, strict=True))


@dataclass(frozen=True)
class Quadratic:
    """x'A x/2 - b'x with A = Q diag(eigenvalues) Q', Q the rotation by the angle with cosine 3/5."""

    eigenvalues: Vector
    b: Vector

    def times(self, x: Vector) -> Vector:
        c, s = F(3, 5), F(4, 5)
        turned = (c * x[0] + s * x[1], -s * x[0] + c * x[1])
        u, v = self.eigenvalues[0] * turned[0], self.eigenvalues[1] * turned[1]
        return (c * u - s * v, s * u + c * v)

    def gradient(self, x: Vector) -> Vector:
        return plus(self.times(x), self.b, F(-1))

    def value(self, x: Vector) -> Fraction:
        return dot(x, self.times(x)) / 2 - dot(self.b, x)


def _fraction(rng: random.Random, low: int, high: int) -> Fraction:
    return F(rng.randint(4 * low, 4 * high), 4)


def random_quadratics(count: int, least: int = 0) -> list[tuple[Quadratic, Vector, Vector]]:
    """(f, a minimiser, start) with eigenvalues from least/4 to 4, some of them equal."""
    rng = random.Random(5)
    found: list[tuple[Quadratic, Vector, Vector]] = []
    for _ in range(count):
        values = (F(rng.randint(max(1, least), 16), 4), F(rng.randint(least, 16), 4))
        minimiser = (_fraction(rng, -3, 3), _fraction(rng, -3, 3))
        f = Quadratic(values, (F(0), F(0)))
        f = Quadratic(values, f.times(minimiser))
        found.append((f, minimiser, (_fraction(rng, -5, 5), _fraction(rng, -5, 5))))
    return found


def descent(gradient: Callable[[Vector], Vector], x: Vector, eta: Fraction, steps: int) -> list[Vector]:
    points = [x]
    for _ in range(steps):
        points.append(plus(points[-1], gradient(points[-1]), -eta))
    return points


def nearest(f: Quadratic, minimiser: Vector, start: Vector) -> Vector:
    """The minimiser nearest to the start: moved along the flat direction, where there is one."""
    if f.eigenvalues[1]:
        return minimiser
    flat = (F(-4, 5), F(3, 5))
    return plus(minimiser, flat, dot(flat, plus(start, minimiser, F(-1))))


STEPS = 6


@pytest.mark.parametrize("share", [F(1, 10), F(1, 2), F(1)])
def test_gradient_descent_on_convex_quadratics(share: Fraction) -> None:
    for f, minimiser, start in random_quadratics(25):
        smooth = max(f.eigenvalues)
        eta, low = share / smooth, f.value(minimiser)
        points = descent(f.gradient, start, eta, STEPS)
        dist2_0 = dot(*[plus(start, nearest(f, minimiser, start), F(-1))] * 2)
        gaps = [f.value(x) - low for x in points]
        squares = [dot(f.gradient(x), f.gradient(x)) for x in points]
        for k in range(1, STEPS + 1):
            sharp = bound_of("gradient_descent_convex/sharp", L=smooth, eta=eta, dist2_0=dist2_0, k=k)
            printed = bound_of("gradient_descent_convex/as_printed", L=smooth, eta=eta, dist2_0=dist2_0, k=k)
            assert gaps[k] <= sharp <= printed
            mean = sum(squares[:k], F(0)) / k
            sharp = bound_of("gradient_descent_nonconvex/sharp", L=smooth, eta=eta, gap_0=gaps[0], k=k)
            printed = bound_of("gradient_descent_nonconvex/as_printed", L=smooth, eta=eta, gap_0=gaps[0], k=k)
            assert mean <= sharp <= printed


@pytest.mark.parametrize("share", [F(1, 4), F(1)])
def test_gradient_descent_on_strongly_convex_quadratics(share: Fraction) -> None:
    for f, minimiser, start in random_quadratics(25, least=1):
        mu, smooth = min(f.eigenvalues), max(f.eigenvalues)
        for name, largest in (("as_printed", 1 / smooth), ("sharp", 2 / (mu + smooth))):
            points = descent(f.gradient, start, share * largest, STEPS)
            dist2 = [dot(*[plus(x, minimiser, F(-1))] * 2) for x in points]
            for k in range(1, STEPS + 1):
                values = {"mu": mu, "L": smooth, "eta": share * largest, "dist2_0": dist2[0], "k": F(k)}
                assert dist2[k] <= bound_of(f"gradient_descent_strongly_convex/{name}", **values)


def test_the_contraction_of_strong_convexity_is_attained() -> None:
    mu, eta, start = F(2), F(1, 7), F(3)
    x = start
    for k in range(1, 8):
        x -= eta * mu * x
        bound = bound_of("gradient_descent_strongly_convex/sharp", mu=mu, L=F(5), eta=eta, dist2_0=start**2, k=k)
        assert x**2 == bound
    # at the largest step the other end of the spectrum contracts no faster
    x, eta = start, 2 / (mu + 5)
    for _ in range(4):
        x -= eta * 5 * x
    assert x**2 == bound_of("gradient_descent_strongly_convex/sharp", mu=mu, L=F(5), eta=eta, dist2_0=start**2, k=4)


@dataclass(frozen=True)
class Huber:
    """L x^2/2 up to the kink, linear beyond."""

    L: Fraction
    kink: Fraction

    def slope(self, x: Fraction) -> Fraction:
        return self.L * max(-self.kink, min(self.kink, x))

    def value(self, x: Fraction) -> Fraction:
        return self.L * (x * x / 2 if abs(x) <= self.kink else self.kink * abs(x) - self.kink**2 / 2)


@pytest.mark.parametrize("share", [F(1, 3), F(3, 4), F(1)])
@pytest.mark.parametrize("steps", [1, 2, 9])
def test_the_huber_function_attains_the_sharp_convex_bound(share: Fraction, steps: int) -> None:
    smooth, start = F(2), F(3)
    eta = share / smooth
    f = Huber(smooth, start / (2 * steps * share + 1))
    x = start
    for k in range(1, 2 * steps + 1):
        x -= eta * f.slope(x)
        bound = bound_of("gradient_descent_convex/sharp", L=smooth, eta=eta, dist2_0=start**2, k=k)
        assert f.value(x) <= bound
        assert (f.value(x) == bound) == (k == steps)


def triangle_slope(x: Fraction) -> Fraction:
    """The triangle wave of period 4 with slope 1 through the origin: the derivative of a non-convex f with L = 1."""
    x = (x + 1) % 4 - 1
    return x if x <= 1 else 2 - x


def triangle_value(x: Fraction) -> Fraction:
    """Its integral from 0: between 0 and 1."""
    x = (x + 1) % 4 - 1
    return x**2 / 2 if x <= 1 else 1 - (2 - x) ** 2 / 2


@pytest.mark.parametrize("eta", [F(1, 3), F(1), F(3, 2), F(19, 10)])
def test_gradient_descent_on_a_non_convex_function(eta: Fraction) -> None:
    for start in (F(1, 7), F(9, 8), F(19, 10), F(199, 100), F(16, 5)):
        x, total, gap_0 = start, F(0), triangle_value(start)
        for k in range(1, 13):
            total += triangle_slope(x) ** 2
            x -= eta * triangle_slope(x)
            values: Mapping[str, Fraction] = {"L": F(1), "eta": eta, "gap_0": gap_0, "k": F(k)}
            assert total / k <= bound_of("gradient_descent_nonconvex/sharp", **values)
            if eta <= 1:
                assert total / k <= bound_of("gradient_descent_nonconvex/as_printed", **values)


# SGD of two workers: each adds +-s_i to its slope with probability 1/2, independently; the mean has weights p_i.
WEIGHTS, SPREADS = (F(1, 3), F(2, 3)), (F(2), F(2))
SIGMA2 = max(s * s for s in SPREADS)
SUM_P2 = sum((p * p for p in WEIGHTS), F(0))


def test_the_variance_of_the_mean_is_what_the_statements_take() -> None:
    drawn = [sum((p * s * sign for p, s, sign in zip(WEIGHTS, SPREADS, signs, strict=True)), F(0)) for signs in SIGNS]
    assert sum(drawn) == 0
    assert sum((v * v for v in drawn), F(0)) / len(drawn) == SIGMA2 * SUM_P2


SIGNS = tuple(itertools.product((-1, 1), repeat=2))


def enumerated(
    slope: Callable[[Fraction], Fraction],
    start: Fraction,
    eta: Fraction,
    steps: int,
    measure: Callable[[Fraction], Any],
) -> list[Fraction]:
    """E of a measure after 0, ..., `steps` steps, all runs enumerated; equal points are gathered."""
    law: dict[Fraction, Fraction] = {start: F(1)}
    found: list[Fraction] = []
    for k in range(steps + 1):
        found.append(sum((p * measure(x) for x, p in law.items()), F(0)))
        if k == steps:
            break
        after: dict[Fraction, Fraction] = {}
        for x, p in law.items():
            for signs in SIGNS:
                noise = sum((q * s * sign for q, s, sign in zip(WEIGHTS, SPREADS, signs, strict=True)), F(0))
                y = x - eta * (slope(x) + noise)
                after[y] = after.get(y, F(0)) + p / len(SIGNS)
        law = after
    return found


NOISE: Mapping[str, Fraction] = {"sigma2": SIGMA2, "sum_p2": SUM_P2}


def averages(values: Sequence[Fraction]) -> list[Fraction]:
    """Means of the first k, for k = 1, 2, ..."""
    return [sum(values[:k], F(0)) / k for k in range(1, len(values))]


def test_sgd_attains_the_sharp_strongly_convex_bound() -> None:
    mu, eta, start = F(2), F(1, 5), F(3)
    dist2 = enumerated(lambda x: mu * x, start, eta, 5, lambda x: x * x)
    for k in range(1, 6):
        values = {"mu": mu, "L": F(3), "eta": eta, "dist2_0": start**2, "k": F(k), **NOISE}
        assert dist2[k] == bound_of("sgd_strongly_convex/sharp", **values)
        assert dist2[k] < bound_of("sgd_strongly_convex/as_printed", **values)


@pytest.mark.parametrize("eta", [F(1, 20), F(1, 4), F(1, 2)])
@pytest.mark.parametrize("start", [F(0), F(1, 2), F(6)])
def test_sgd_on_the_huber_function(eta: Fraction, start: Fraction) -> None:
    f = Huber(F(1), F(1, 2))
    gaps = enumerated(f.slope, start, eta, 5, f.value)
    squares = enumerated(f.slope, start, eta, 5, lambda x: f.slope(x) ** 2)
    for k, (gap, square) in enumerate(zip(averages(gaps), averages(squares), strict=True), 1):
        convex = {"L": F(1), "eta": eta, "dist2_0": start**2, "k": F(k), **NOISE}
        sharp = bound_of("sgd_convex/sharp", **convex)
        assert gap <= sharp <= bound_of("sgd_convex/as_printed", **convex)
        rough = {"L": F(1), "eta": eta, "gap_0": gaps[0], "k": F(k), **NOISE}
        sharp = bound_of("sgd_nonconvex/sharp", **rough)
        assert square <= sharp <= bound_of("sgd_nonconvex/as_printed", **rough)


@pytest.mark.parametrize("eta", [F(1, 10), F(1), F(7, 4)])
def test_sgd_on_a_non_convex_function(eta: Fraction) -> None:
    for start in (F(1, 5), F(19, 10), F(3)):
        squares = enumerated(triangle_slope, start, eta, 5, lambda x: triangle_slope(x) ** 2)
        for k, square in enumerate(averages(squares), 1):
            values = {"L": F(1), "eta": eta, "gap_0": triangle_value(start), "k": F(k), **NOISE}
            assert square <= bound_of("sgd_nonconvex/sharp", **values)


def test_local_gradient_descent_on_convex_quadratics() -> None:
    rng = random.Random(8)
    for trial in range(12):
        steps = 1 + trial % 4
        clients = [Quadratic((_fraction(rng, 0, 3), _fraction(rng, 0, 3)), (F(0), F(0))) for _ in range(3)]
        shifts = [(_fraction(rng, -2, 2), _fraction(rng, -2, 2)) for _ in clients]
        clients = [Quadratic(f.eigenvalues, f.times(s)) for f, s in zip(clients, shifts, strict=True)]
        whole = Quadratic(
            tuple(sum((f.eigenvalues[j] for f in clients), F(0)) / 3 for j in range(2)),
            tuple(sum((f.b[j] for f in clients), F(0)) / 3 for j in range(2)),
        )
        if not all(whole.eigenvalues):
            continue
        minimiser = _solved(whole, whole.b)
        smooth = max(max(f.eigenvalues) for f in clients)
        sigma2 = sum((dot(f.gradient(minimiser), f.gradient(minimiser)) for f in clients), F(0)) / 3
        eta = 1 / (4 * smooth * steps)
        x = start = (_fraction(rng, -4, 4), _fraction(rng, -4, 4))
        gaps: list[Fraction] = []
        for rounds in range(1, 6):
            gap = whole.value(x) - whole.value(minimiser)
            gaps.append(gap)
            # what the proof uses
            square = sum((dot(f.gradient(x), f.gradient(x)) for f in clients), F(0)) / 3
            assert square <= 4 * smooth * gap + 2 * sigma2
            ends = [descent(f.gradient, x, eta, steps)[-1] for f in clients]
            x = tuple(sum((y[j] for y in ends), F(0)) / 3 for j in range(2))
            bound = bound_of(
                "local_gd_convex/sharp",
                L=smooth,
                E=steps,
                eta=eta,
                sigma2=sigma2,
                dist2_0=dot(*[plus(start, minimiser, F(-1))] * 2),
                R=rounds,
            )
            assert sum(gaps, F(0)) / rounds <= bound


def _solved(f: Quadratic, b: Vector) -> Vector:
    """A^{-1} b."""
    return Quadratic((1 / f.eigenvalues[0], 1 / f.eigenvalues[1]), (F(0), F(0))).times(b)


@pytest.mark.parametrize("steps", [1, 3, 8])
def test_local_gradient_descent_on_huber_functions(steps: int) -> None:
    """Two clients with minimisers 1 and -1 and different kinks: F = 0 at 0 by symmetry of their curvatures there."""
    first, second = Huber(F(1), F(3, 2)), Huber(F(1), F(2))
    slopes = (lambda x: first.slope(x - 1), lambda x: second.slope(x + 1))

    def value(x: Fraction) -> Fraction:
        return (first.value(x - 1) + second.value(x + 1)) / 2

    assert slopes[0](F(0)) + slopes[1](F(0)) == 0
    sigma2 = (slopes[0](F(0)) ** 2 + slopes[1](F(0)) ** 2) / 2
    eta, x, gaps = F(1, 4 * steps), F(7), list[Fraction]()
    for rounds in range(1, 10):
        gaps.append(value(x) - value(F(0)))
        ends: list[Fraction] = []
        for slope in slopes:
            y = x
            for _ in range(steps):
                y -= eta * slope(y)
            ends.append(y)
        x = sum(ends, F(0)) / 2
        values = {"L": F(1), "E": F(steps), "eta": eta, "sigma2": sigma2, "dist2_0": F(49), "R": F(rounds)}
        assert sum(gaps, F(0)) / rounds <= bound_of("local_gd_convex/sharp", **values)


def test_more_local_work_costs_a_term_that_one_step_does_not() -> None:
    shared = {"L": F(1), "sigma2": F(3), "dist2_0": F(5), "R": F(7)}
    one = bound_of("local_gd_convex/sharp", E=1, eta=F(1, 8), **shared)
    assert one == F(5) / (F(1, 8) * 7) / (2 - F(4, 8))  # dist2_0/(h R (2 - 4 h L)): no drift, no sigma2
    assert bound_of("local_gd_convex/sharp", E=2, eta=F(1, 16), **shared) > one


def chung(c: int, p: int, d: Fraction, start: Fraction) -> dict[int, Fraction]:
    """k^p a_k for some k of a_{k+1} = (1 - c/k) a_k + d/k^(p+1), from k = c + 1 (at c what was before is forgotten)."""
    a, found = start, dict[int, Fraction]()
    for k in range(c + 1, 801):
        if k in (200, 400, 800):
            found[k] = k**p * a
        a = (1 - F(c, k)) * a + d / F(k) ** (p + 1)
    return found


@pytest.mark.parametrize(("c", "p"), [(2, 1), (3, 1), (3, 2), (5, 2)])
def test_the_extremal_sequence_of_chungs_lemma(c: int, p: int) -> None:
    """With equality k^p a_k comes to d/(c - p), from every start, and to nothing smaller."""
    d = F(7, 2)
    limit = bound_of("chung_lemma", c=c, p=p, d=d)
    assert limit == d / (c - p)
    low, high = chung(c, p, d, F(0)), chung(c, p, d, F(1000))
    # the distance to the limit falls like 1/k, or log(k)/k for c = p + 1, and what is left of the start like k^-(c - p)
    for k in (200, 400):
        assert abs(low[2 * k] - limit) < F(2, 3) * abs(low[k] - limit)
        assert high[2 * k] - low[2 * k] < F(5, 9) * (high[k] - low[k])
    assert all(v <= low[k] for k, v in chung(c, p, d / 2, F(0)).items())


def test_chungs_lemma_needs_the_decrease_to_outweigh_the_rate() -> None:
    assert statement("classics/chung_lemma").scope(c=1, p=1, d=1).in_scope is False
    # and there k^p a_k grows without bound: with c = p = 1 it is a harmonic sum
    a = F(0)
    for k in range(1, 300):
        a = (1 - F(1, k)) * a + F(1, k**2)
    assert 300 * a > 6


def test_readings_of_the_same_statement_are_ordered() -> None:
    """The sharp factors of SGD are at most the printed ones wherever these are in scope."""
    rng = random.Random(3)
    for _ in range(50):
        smooth = _fraction(rng, 1, 5)
        values = {"L": smooth, "k": F(rng.randint(1, 30)), "sigma2": _fraction(rng, 0, 9), "sum_p2": F(1, 3)}
        size = F(rng.randint(1, 100), 100)
        assert bound_of("sgd_convex/sharp", eta=size / (2 * smooth), dist2_0=F(4), **values) <= bound_of(
            "sgd_convex/as_printed", eta=size / (2 * smooth), dist2_0=F(4), **values
        )
        assert bound_of("sgd_nonconvex/sharp", eta=size / smooth, gap_0=F(4), **values) <= bound_of(
            "sgd_nonconvex/as_printed", eta=size / smooth, gap_0=F(4), **values
        )
