"""Piecewise quadratic clients on the line: slopes, minimisers and constants against numbers by hand."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from boundcheck.certified.slopes import Slope, mixed
from boundcheck.core.linalg import precision
from boundcheck.engines.run import run
from boundcheck.methods.build import build as method
from boundcheck.problems.build import build
from boundcheck.setting import Setting
from boundcheck.setting.objectives import objectives_of

TWO = {
    "kind": "piecewise_quadratics",
    "clients": [{"knots": [-1, 1], "slopes": [-1, 1]}, {"knots": [1, 3], "slopes": [-3, 3]}],
    "start": 10,
}


def test_slopes_of_a_huber_function_by_hand() -> None:
    s = Slope((Fraction(-1), Fraction(1)), (Fraction(-2), Fraction(2)))
    assert [s.at(Fraction(x)) for x in (-5, -1, 0, 1, 7)] == [-2, -2, 0, 2, 2]
    assert (s.steepest, s.bound, s.minima) == (2, 2, ((0, 0),))
    # x^2 - 1 between the knots, 2|x| - 2 beyond, less the value 0 at -1
    assert [s.area(Fraction(x)) for x in (-3, -1, 0, 1, 3)] == [4, 0, -1, 0, 4]
    flat = mixed(
        [(Fraction(1, 2), s), (Fraction(1, 2), Slope((Fraction(4), Fraction(5)), (Fraction(-2), Fraction(0))))]
    )
    # (2 - 2)/2 = 0 from 1 to 4, above 0 beyond
    assert flat.minima == ((1, 4),)
    assert [flat.nearest_minimiser(Fraction(x)) for x in (0, 2, 9)] == [1, 2, 4]
    rising = Slope((Fraction(0),), (Fraction(0),))
    assert rising.minima == ((None, None),)


def test_balls_over_several_pieces_hold_the_values() -> None:
    for slopes, beyond in (((-1, Fraction(1, 7), 3), (0, 0)), ((2, -3, 1), (-2, 5))):
        s = Slope(
            (Fraction(0), Fraction(1, 3), Fraction(2)), tuple(map(Fraction, slopes)), tuple(map(Fraction, beyond))
        )  # type: ignore[arg-type]
        with precision(64):
            for low, high in ((-1, 3), (0, 1), (Fraction(1, 4), Fraction(1, 2)), (1, 5)):
                ball = arb(str(float(low))).union(arb(str(float(high))))
                for k in range(21):
                    x = Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(k, 20)
                    assert float(s.at(ball).lower()) <= float(s.at(x)) <= float(s.at(ball).upper())
                    assert float(s.area(ball).lower()) <= float(s.area(x)) <= float(s.area(ball).upper())


LESSARD = {"kind": "piecewise_quadratics", "start": "16/5"}
LESSARD["clients"] = [{"knots": [1, 2], "slopes": [25, 26], "beyond": [25, 25]}]  # type: ignore[assignment]


def test_curvature_beyond_the_knots_by_hand() -> None:
    p = build(LESSARD)
    values = {name: c.value for name, c in p.constants().items()}
    assert (values["L"], values["L_ij"], values["mu_ij"]) == (25, 25, 1)
    # F(2) = 12.5 + (1.5 + 24) = 38 and 2 F'(2) = 52: mu = 2 (52 - 38)/4
    assert values["mu"] == 7
    assert values["dist2_0"] == Fraction(256, 25)
    # F(3.2) = 12.5 + (1.5 + 24) + (25/2)(3.2^2 - 4) - 24 (1.2) = 87.2
    assert values["gap_0"] == Fraction(872, 10)
    assert "B_grad" not in values
    assert values["G2"] == 0
    for name in ("strongly_convex_samples", "strong_quasi_convexity", "convexity", "smooth_clients"):
        assert p.violations(name) is None, name
    assert "unbounded" in (p.violations("bounded_gradients") or "")
    assert build(p.spec).spec == p.spec
    # F is 0 on the left and (3/4) x^2 on the right, where the slopes of the clients are x and 2x
    apart = build({"kind": "piecewise_quadratics", "clients": [
        {"knots": [0], "slopes": [0], "beyond": [0, 1]}, {"knots": [0], "slopes": [0], "beyond": [0, 2]}]})  # fmt: skip
    values = {name: c.value for name, c in apart.constants().items()}
    assert apart.whole.minima == ((None, 0),)
    assert (values["mu"], values["mu_ij"], values["L"], values["L_f"]) == (Fraction(3, 2), 0, 2, Fraction(3, 2))
    assert "G2" not in values  # (1/2) (1 + 4) x^2 - (9/4) x^2 grows without bound
    assert apart.violations("gradient_dissimilarity") is None  # but B2 = 10/9 serves
    # slopes x and -x below 0: F is 0 there, and its clients' slopes are not bounded on the solution set
    pair = [{"knots": [0], "slopes": [0], "beyond": [v, 1]} for v in (1, -1)]
    opposed = build({"kind": "piecewise_quadratics", "clients": pair})
    for name in ("finite_gradient_noise", "gradient_dissimilarity"):
        assert "differ without bound" in (opposed.violations(name) or ""), name
    assert "sigma2" not in opposed.constants()


def test_pieces_of_negative_curvature_by_hand() -> None:
    # f' = x + 2 up to -1, -x up to 1, 2x - 3 beyond: f(-2) = f(-1) - 1/2, f(3/2) = f(-1) - 1/4
    wells = {"knots": [-1, 1], "slopes": [1, -1], "beyond": [1, 2]}
    p = build({"kind": "piecewise_quadratics", "clients": [wells], "start": 2})
    assert p.whole.minima == ((-2, -2),)
    values = {name: c.value for name, c in p.constants().items()}
    assert (values["dist2_0"], values["gap_0"], values["grad2_0"], values["L"]) == (16, Fraction(1, 2), 1, 2)
    assert not {"mu", "mu_ij"} & set(values)
    for name in ("convexity", "convex_clients", "convex_samples", "strongly_convex_samples", "strong_quasi_convexity"):
        assert p.violations(name) is not None, name
    assert p.metric_range("gap", Fraction(-3), Fraction(0)) == (0, Fraction(1))  # f(0) - f(-2) = 1/2 + 1/2
    assert p.metric_range("grad2", Fraction(-1, 2), Fraction(5, 4)) == (0, 1)
    # both wells as deep: f' = x + 2, -x, x - 2
    even = build({"kind": "piecewise_quadratics", "clients": [{**wells, "beyond": [1, 1]}], "start": 1})
    assert even.whole.minima == ((-2, -2), (2, 2))
    assert [even.whole.nearest_minimiser(Fraction(x)) for x in (-5, -1, 1, 3)] == [-2, -2, 2, 2]
    assert even.metric_range("dist2", Fraction(-1), Fraction(1)) == (1, 4)
    # a piece of curvature -1/2 that keeps f'(x) x above 0: not convex, yet strongly quasi-convex.
    # f' = 2x up to 1, 2 - (x - 1)/2 up to 3, 1 + 2 (x - 3) beyond; f(3) = 1 + 3, 2 (3 - 4)/9 < 0 at 3
    bent = {"knots": [1, 3], "slopes": [2, 1], "beyond": [2, 2]}
    assert "mu" not in build({"kind": "piecewise_quadratics", "clients": [bent]}).constants()
    # the same up to 2: f'(2) = 3/2, f(2) = 1 + 7/4, 2 (3 - 11/4)/4 = 1/8
    less = build({"kind": "piecewise_quadratics", "clients": [{**bent, "knots": [1, 2], "slopes": [2, "3/2"]}]})
    assert less.constants()["mu"].value == Fraction(1, 8)
    assert less.violations("strong_quasi_convexity") is None
    assert less.violations("convexity") is not None
    # theories that rest on convex clients get no minima of their sums
    own = method({"kind": "biased_sampling", "cohorts": [[0]], "weights": "time_based", "K": 1, "eta_l": "1/100"})
    assert objectives_of(own, p) is None
    assert objectives_of(own, build(LESSARD)) is not None


def test_heavy_ball_cycles_on_the_function_of_lessard_recht_and_packard() -> None:
    """Section 4.6 of Analysis and Design of Optimization Algorithms via Integral Quadratic Constraints, 2016."""
    # x+ = (13/9) x - (4/9) x_ - f'(x)/9 at x in turn above 2 and twice below 1, solved by hand
    cycle = [Fraction(v, 1225) for v in (2592, 792, -2208)]
    polyak = method({"kind": "heavy_ball", "eta": "1/9", "momentum_g": "4/9"})
    for start in ("3.07", "16/5", "3.46"):
        curve = run(polyak, build({**LESSARD, "start": start}), rounds=[*range(58, 61)], metrics=["x"], engine="exact",
                    arithmetic="rational")  # fmt: skip
        found = sorted(curve.values["x"], reverse=True)
        assert all(abs(x - y) < Fraction(1, 10**6) for x, y in zip(found, sorted(cycle, reverse=True), strict=True))
    for x, y, z in zip(cycle, cycle[1:] + cycle[:1], cycle[2:] + cycle[:2], strict=True):
        slope = 25 * y if y < 1 else y + 24 if y < 2 else 25 * y - 24
        assert z == Fraction(13, 9) * y - Fraction(4, 9) * x - slope / 9


def test_constants_by_hand() -> None:
    p = build(TWO)
    # F' = (x + 3 (x - 2))/2 where both are quadratic, -1 <= x <= 1 and 1 <= x <= 3; on [1, 3] it is (1 + 3(x-2))/2
    values = {name: c.value for name, c in p.constants().items()}
    assert p.whole.minima == ((Fraction(5, 3), Fraction(5, 3)),)
    assert values["dist2_0"] == (10 - Fraction(5, 3)) ** 2
    assert (values["L"], values["L_ij"], values["B_grad"], values["n"]) == (3, 3, 3, 2)
    assert values["sigma2"] == 1  # slopes 1 and -1 at 5/3
    assert values["G2"] == 4  # slopes 1 and 3 differ by 2, -1 and -3 too, and 1 and -3 by 4: variance 4
    # from 10 to 3 with slope 2, from 3 to 5/3 with mean slope 1
    assert values["gap_0"] == 14 + Fraction(4, 3)
    assert p.violations("bounded_gradients") is None
    assert p.violations("convex_samples") is None
    assert "no mu > 0" in (p.violations("strong_quasi_convexity") or "")
    assert build(p.spec).spec == p.spec


def test_constants_of_the_surrogate_by_hand() -> None:
    spec = {"kind": "biased_sampling", "cohorts": [[0], [1]], "weights": "time_based", "K": 2, "eta_l": "1/100"}
    own = Setting(method(spec), build(TWO))
    value = lambda key: own.constant(key).value  # noqa: E731
    # L^n = 2 w_i L_i = L_i, alternating: minimisers 0 and 2; thb = 5/3
    first = (Fraction(1, 2) + Fraction(5, 3) - 1) - 0  # L_1(5/3) - L_1(0): half up to 1, then slope 1
    second = Fraction(3, 2) * Fraction(1, 9)
    assert value("surrogate/R") == (first + second) / 2
    assert value("surrogate/S1") == value("surrogate/S2") == 0
    assert value("surrogate/Sigma") == 1  # (1^2 + (-1)^2)/2
    assert value("surrogate/F_het") == (first + second) / 2
    assert value("clients/gradient_bound") == 3
    assert value("schedule/window") == 2
    sampled = {"components": [{"knots": [-1, 1], "slopes": [-1, 1]}, {"knots": [1, 3], "slopes": [-1, 1]}]}
    noisy = build({"kind": "piecewise_quadratics", "clients": [sampled], "start": 3})
    central = method({"kind": "centralised", "K": 1, "batch": 1, "eta_l": "1/100"})
    # at the minimiser 1 the samples' slopes are 1 and -1
    assert Setting(central, noisy).constant("surrogate/S1").value == 1
    whole = method({"kind": "centralised", "K": 1, "eta_l": "1/100"})
    assert Setting(whole, noisy).constant("surrogate/S1").value == 0
