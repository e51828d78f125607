"""Piecewise quadratic clients on the line: slopes, minimisers and constants against numbers by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from boundcheck.certified.slopes import Slope, mixed
from boundcheck.core.linalg import precision
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.build import build as method
from boundcheck.problems.build import build
from boundcheck.setting import Setting

TWO = {
    "kind": "piecewise_quadratics",
    "clients": [{"knots": [-1, 1], "slopes": [-1, 1]}, {"knots": [1, 3], "slopes": [-3, 3]}],
    "start": 10,
}


def test_slopes_of_a_huber_function_by_hand() -> None:
    s = Slope((Fraction(-1), Fraction(1)), (Fraction(-2), Fraction(2)))
    assert [s.at(Fraction(x)) for x in (-5, -1, 0, 1, 7)] == [-2, -2, 0, 2, 2]
    assert (s.steepest, s.bound, s.zeros) == (2, 2, (0, 0))
    # x^2 - 1 between the knots, 2|x| - 2 beyond, less the value 0 at -1
    assert [s.area(Fraction(x)) for x in (-3, -1, 0, 1, 3)] == [4, 0, -1, 0, 4]
    flat = mixed(
        [(Fraction(1, 2), s), (Fraction(1, 2), Slope((Fraction(4), Fraction(5)), (Fraction(-2), Fraction(0))))]
    )
    # (2 - 2)/2 = 0 from 1 to 4, above 0 beyond
    assert flat.zeros == (1, 4)
    assert [flat.nearest_zero(Fraction(x)) for x in (0, 2, 9)] == [1, 2, 4]
    rising = Slope((Fraction(0),), (Fraction(0),))
    assert rising.zeros == (None, None)


def test_balls_over_several_pieces_hold_the_values() -> None:
    s = Slope((Fraction(0), Fraction(1, 3), Fraction(2)), (Fraction(-1), Fraction(1, 7), Fraction(3)))
    with precision(64):
        for low, high in ((-1, 3), (0, 1), (Fraction(1, 4), Fraction(1, 2)), (1, 5)):
            ball = arb(str(float(low))).union(arb(str(float(high))))
            for k in range(21):
                x = Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(k, 20)
                assert float(s.at(ball).lower()) <= float(s.at(x)) <= float(s.at(ball).upper())
                assert float(s.area(ball).lower()) <= float(s.area(x)) <= float(s.area(ball).upper())


def test_constants_by_hand() -> None:
    p = build(TWO)
    # F' = (x + 3 (x - 2))/2 where both are quadratic, -1 <= x <= 1 and 1 <= x <= 3; on [1, 3] it is (1 + 3(x-2))/2
    values = {name: c.value for name, c in p.constants().items()}
    assert p.whole.zeros == (Fraction(5, 3), Fraction(5, 3))
    assert values["dist2_0"] == (10 - Fraction(5, 3)) ** 2
    assert (values["L"], values["L_ij"], values["B_grad"], values["n"]) == (3, 3, 3, 2)
    assert values["sigma2"] == 1  # slopes 1 and -1 at 5/3
    assert values["G2"] == 4  # slopes 1 and 3 differ by 2, -1 and -3 too, and 1 and -3 by 4: variance 4
    # from 10 to 3 with slope 2, from 3 to 5/3 with mean slope 1
    assert values["gap_0"] == 14 + Fraction(4, 3)
    assert p.violations("bounded_gradients") is None
    assert p.violations("convex_samples") is None
    assert "linear beyond" in (p.violations("strong_quasi_convexity") or "")
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


@pytest.mark.parametrize(
    ("clients", "says"),
    [
        ([{"knots": [1, 1], "slopes": [0, 1]}], "they must increase"),
        ([{"knots": [0, 1], "slopes": [1, 0]}], "they must not fall"),
        ([{"knots": [0, 1], "slopes": [1]}], "as many are needed"),
        ([{"knots": [0, 1], "slopes": [1, 2]}], "falls or rises everywhere"),
        ([{"knots": [0, 1]}], "must be a table with knots and slopes"),
        ([], "must be a list of tables"),
        ([{"components": []}], "a list of tables"),
    ],
)
def test_bad_input_is_one_sentence(clients: object, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        build({"kind": "piecewise_quadratics", "clients": clients})
    with pytest.raises(UnknownName, match="key"):
        build({"kind": "piecewise_quadratics", "clients": [{"knots": [0, 1], "slopes": [-1, 1], "slope": 2}]})
