"""FedProx, DANE and FedDANE in the exact engine: laws of cohorts, closed forms, limits, what the paper says."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.engines.exact.spectral import contraction
from boundcheck.engines.exact.stationary import stationary
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Correction,
    ExactSolve,
    Full,
    GradientSteps,
    Independent,
    Momentum,
    NoStep,
    Pattern,
    Proximal,
    WithReplacement,
)
from boundcheck.problems.build import build
from boundcheck.setting.constants import joint_constants

F = Fraction
STEP = Constant(F(1, 7))
TWICE = WithReplacement(2)


def quadratics(*hessians: Any, sides: Any, weights: Any = None, start: Any = (1, -2)) -> Any:
    clients = [{"A": a, "b": b} for a, b in zip(hessians, sides, strict=True)]
    spec: dict[str, Any] = {"kind": "quadratics", "clients": clients, "start": list(start)}
    return build(spec if weights is None else spec | {"weights": list(weights)})


# different Hessians and weights, one client not convex
THREE = quadratics(
    [[2, 1], [1, 3]],
    [[1, 0], [0, 4]],
    [["-1/2", 0], [0, 1]],
    sides=([1, 0], [0, -1], [2, 1]),
    weights=("1/2", "1/3", "1/6"),
)
ALIKE = quadratics([[2, 1], [1, 3]], [[1, 0], [0, 4]], sides=([1, 0], [0, -1]))
POINT = ("dist2", "gap", "grad2")


def feddane(participation: Any, correction: Correction | None, local: Any = None, **more: Any) -> Method:
    local = ExactSolve(F(3)) if local is None else local
    return Method("feddane", participation, local, NoStep(), correction=correction, **more)


def test_twelve_clients_out_of_many_are_not_enumerated() -> None:
    n, size = 30, 10
    problem = quadratics(*[[[1 + k % 4]] for k in range(n)], sides=[[k % 3] for k in range(n)], start=(1,))
    method = method_of({"kind": "feddane", "mu": 2, "K": size})
    curve = run_exact(method, problem, [1], ["dist2"], arithmetic=Arithmetic.RATIONAL)
    # x1 = x0 - r g with r the mean of 1/(H_k + mu) over S' and g that of the gradients over S, S and S' independent
    h, x0, star = (
        [F(1 + k % 4) for k in range(n)],
        F(1),
        F(sum(k % 3 for k in range(n)), sum(1 + k % 4 for k in range(n))),
    )

    def moments(values: list[Fraction]) -> tuple[Fraction, Fraction]:
        mean = sum(values, F(0)) / n
        return mean, mean**2 + (sum((v * v for v in values), F(0)) / n - mean**2) / size

    r, r2 = moments([1 / (a + 2) for a in h])
    g, g2 = moments([a * x0 - k % 3 for k, a in enumerate(h)])
    assert curve.exact["dist2"] == ((x0 - star) ** 2 - 2 * (x0 - star) * r * g + r2 * g2,)
    with pytest.raises(Unsupported, match="possible cohorts"):
        run_exact(method_of({"kind": "feddane", "mu": 2, "K": size, "same": True}), problem, [1])


# --- closed forms and what the paper says of them ---------------------------------------------------------------


@pytest.mark.parametrize(("mu", "multiplier"), [("1/5", F(-19, 11)), (1, F(1, 3)), (18, F(341, 360))])
def test_two_clients_on_the_line(mu: Any, multiplier: Fraction) -> None:
    # F_1 = 0, F_2 = w^2: (mu^2 + mu - 1)/(mu (mu + 2)), of size below 1 exactly for mu > (sqrt(17) - 3)/4
    p = quadratics([[0]], [[2]], sides=([0], [0]), start=(1,))
    m = method_of({"kind": "dane", "mu": mu})
    exact = F(mu)
    assert multiplier == (exact**2 + exact - 1) / (exact * (exact + 2))
    assert contraction(m, p).multiplier == multiplier
    assert contraction(m, p).converges == (multiplier > -1)
    gap = run_exact(m, p, [0, 1], ["gap"], arithmetic=Arithmetic.RATIONAL).exact["gap"]
    assert gap == (F(1, 2), multiplier**2 / 2)
    if mu == 18:  # rho* = 1/36 of the theorem promises |grad F|^2/36 = 1/36
        assert float(gap[0] - gap[1]) == pytest.approx(0.051385, abs=5e-7)
        assert gap[0] - gap[1] > F(1, 36)


def test_the_threshold_of_the_line() -> None:
    p = quadratics([[0]], [[2]], sides=([0], [0]), start=(1,))
    below, above = F(280776, 10**6), F(280777, 10**6)
    assert (4 * below + 3) ** 2 < 17 < (4 * above + 3) ** 2
    assert not contraction(method_of({"kind": "dane", "mu": below}), p).converges
    assert contraction(method_of({"kind": "dane", "mu": above}), p).converges


def test_fixed_points_are_stationary_points_with_everyone() -> None:
    for spec in ({"kind": "dane", "mu": 5}, {"kind": "feddane", "mu": 5, "participation": "full"}):
        found = stationary(method_of(spec), ALIKE)
        assert all(v == 0 for v in found.values.values())
    biased = stationary(method_of({"kind": "fedprox", "mu": 5, "solver": "exact"}), ALIKE)
    assert biased.values["grad2"] > 0
    some = stationary(method_of({"kind": "feddane", "mu": 5, "K": 1}), ALIKE)
    assert some.values["grad2"] > 0
    # with other weights the plain mean of the gradients vanishes elsewhere, and DANE's gradient of F does not
    weighted = replace(THREE, weights=(F(1, 2), F(1, 3), F(1, 6)))
    assert stationary(method_of({"kind": "dane", "mu": 9}), weighted).values["grad2"] == 0
    plain = stationary(method_of({"kind": "feddane", "mu": 9, "participation": "full"}), weighted)
    assert plain.values["grad2"] > 0


def test_a_limit_of_the_pipelined_variant() -> None:
    m = method_of({"kind": "feddane", "mu": 5, "participation": "full", "pipelined": True})
    assert all(v == 0 for v in stationary(m, ALIKE).values.values())
    some = method_of({"kind": "feddane", "mu": 5, "K": 1, "pipelined": True})
    limit = stationary(some, ALIKE)
    curve = run_exact(some, ALIKE, [4000], POINT)
    for name in POINT:
        assert float(limit.values[name]) == pytest.approx(curve.values[name][0], rel=1e-9)


@pytest.mark.parametrize("steps", [0, 6], ids=["exact", "inexact"])
def test_the_decrease_of_theorem_3(steps: int) -> None:
    """E_S f(w) <= f(w0) - rho3 |grad f(w0)|^2 for every S', and for S' = S, f convex; rho3 as it is printed."""
    rng = np.random.default_rng(7)
    seen = 0
    for case in range(6):
        n, size, d = 3, 2, 2
        factors = [rng.integers(-2, 3, size=(d, d)) for _ in range(n)]
        p = quadratics(*[(a @ a.T).tolist() for a in factors], sides=rng.integers(-1, 2, size=(n, d)).tolist())
        x = np.array(p.start, dtype=object)
        g = [p.gradient(k, x) for k in range(n)]
        slope = sum(g) / n
        grad2 = sum(slope * slope)
        B2 = sum(sum(v * v) for v in g) / n / grad2
        L = p.constants()["L"].value
        mu = [L * (2 * B2 + 1), L * (4 * B2 + 1)][case % 2]
        eta = 1 / (mu + L / 2)
        local = Proximal(mu, GradientSteps(steps)) if steps else ExactSolve(mu)

        def method(participation: Any, correction: Correction, local: Any = local, eta: Fraction = eta) -> Method:
            schedule = Constant(eta) if steps else NoStep()
            return Method("feddane", participation, local, schedule, correction=correction)

        y = joint_constants(method(Full(), Correction()), p)["gamma"].value
        assert (y > 0) == bool(steps)
        rho = (2 - 3 * y) / (2 * mu) - (2 * L * (1 + y) ** 2 + 3 * L) / (2 * mu**2)
        rho -= (B2 - 1) * ((L * (1 + y) ** 2 + L) / mu**2 + y / mu)
        seen += rho > 0
        every = itertools.combinations_with_replacement(range(n), size)  # of S'; {k, k} has the mean of {k}
        drawn = [method(Pattern((tuple(sorted(set(s))),)), Correction(WithReplacement(size))) for s in every]
        for m in (*drawn, method(WithReplacement(size), Correction())):
            gap = run_exact(m, p, [0, 1], ["gap"], arithmetic=Arithmetic.RATIONAL).exact["gap"]
            assert gap[1] <= gap[0] - rho * grad2
    assert seen >= 4


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="client 2 with mu = 1/2 is not strongly convex"):
        run_exact(feddane(TWICE, None, ExactSolve(F(1, 2))), THREE, [1])
    with pytest.raises(BadInput, match="may be empty"):
        run_exact(feddane(TWICE, Correction(Independent((F(1, 2),) * 3))), THREE, [1])
    with pytest.raises(Unsupported, match="beside a momentum"):
        run_exact(feddane(Full(), Correction(), momentum=Momentum(F(1, 2), True)), THREE, [1])
    with pytest.raises(Unsupported, match="takes none"):
        run_exact(feddane(Full(), None, momentum=Momentum(F(1, 2), True)), THREE, [1])
    with pytest.raises(Unsupported, match="correction or momentum of feddane changes"):
        contraction(feddane(Full(), Correction(decay="inverse")), THREE)
