"""Values of Theorem 3.3 at constants worked out by hand, exactly, in balls and over arrays."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from formulas import formula, number

from boundcheck.errors import BadInput
from boundcheck.theory.discovery import statement
from boundcheck.theory.evaluation import Enclosure, Evaluation, enclose_along
from boundcheck.theory.scope import read_values

# mu = L = 1, s = n E eta = 6/100: contraction 1 - 2/100, floor 12 * (6/100)^2 = 432/10000
POINT = {"mu": 1, "L": 1, "n": 2, "E": 3, "eta": "1/100", "sigma2": 1, "dist2_0": 4}


@pytest.mark.parametrize(
    ("K", "expected"),
    [
        (0, Fraction(4) + Fraction(432, 10000)),
        (1, Fraction(98, 100) * 4 + Fraction(432, 10000)),
        (2, Fraction(9604, 10000) * 4 + Fraction(432, 10000)),
    ],
)
def test_exact_values_by_hand(K: int, expected: Fraction) -> None:
    found = statement("scgd/theorem_3_3").evaluate(**POINT, K=K)
    assert found.exact == expected
    assert found.value == float(expected)
    assert found.in_scope is True
    assert found.vacuous is (expected >= 4)
    assert found.trivial_declared


def test_vacuous_turns_at_the_trivial_value_exactly() -> None:
    """4 (1 - c) + floor < 4 iff floor < 4 c; at sigma2 = 8/43.2 the two are equal after one cycle."""
    s = statement("scgd/theorem_3_3")
    edge = Fraction(8, 100) / Fraction(432, 10000)
    assert s.evaluate(**{**POINT, "sigma2": edge}, K=1).vacuous is True
    assert s.evaluate(**{**POINT, "sigma2": edge - Fraction(1, 10**30)}, K=1).vacuous is False


def test_out_of_scope_is_said_and_the_value_still_given() -> None:
    found = statement("scgd/theorem_3_3").evaluate(**{**POINT, "eta": "1/10"}, K=1)
    assert found.in_scope is False
    assert found.exact == 4 * Fraction(4, 5) + Fraction(432, 100)


def test_a_billion_cycles_become_a_ball_and_say_so() -> None:
    found = statement("scgd/theorem_3_3").evaluate(**{**POINT, "eta": Fraction(1, 2 * 10**9)}, K=10**9)
    # s = 3e-9, contraction 1 - 1e-9: (1 - 1/K)^K = exp(-1) (1 - 1/(2K) + O(1/K^2))
    assert isinstance(found.exact, Enclosure)
    assert "20000 digits" in found.note
    expected = 4 * math.exp(-1) * (1 - 0.5e-9) + 12 * 9e-18
    assert found.value == pytest.approx(expected, rel=1e-15)
    width = found.exact.high - found.exact.low
    assert 0 < width < found.exact.low / 10**30
    assert Fraction(found.value) - found.exact.low < Fraction(1, 10**15)


def test_exact_values_can_always_be_printed() -> None:
    s = statement("scgd/theorem_3_3")
    short = s.evaluate(**POINT, K=1000).exact  # (49/50)^1000, about 1700 digits
    assert isinstance(short, Fraction)
    assert len(str(short)) > 3000
    for K in (4000, 10**7):
        found = s.evaluate(**{**POINT, "sigma2": 0}, K=K)
        assert isinstance(found.exact, Enclosure)
        assert len(str(found.exact)) < 100
        assert "digits" in found.note
        assert found.form is None
    low, high = (Fraction(49, 50) ** 4000 * 4 * f for f in (1, 1 + Fraction(1, 10**30)))
    exact = s.evaluate(**{**POINT, "sigma2": 0}, K=4000).exact
    assert exact.low <= low <= exact.high < high


def test_underflow_and_overflow_are_quiet() -> None:
    s = statement("scgd/theorem_3_3")
    tiny = s.evaluate(**{**POINT, "sigma2": 0}, K=10**9)
    assert tiny.value == 0.0
    assert tiny.exact is not None
    assert tiny.vacuous is False
    assert np.all(s.evaluate(**{**POINT, "sigma2": 0}, K=[10**8, 10**9]).value == 0)
    far = {**POINT, "eta": 10, "sigma2": 0}
    assert s.evaluate(**far, K=10**9 + 1).value == -math.inf
    assert s.evaluate(**far, K=10**9).value == math.inf
    assert s.evaluate(**far, K=[10**9, 10**9 + 1]).value.tolist() == [math.inf, -math.inf]


def test_algebraic_values_come_with_thirty_digits_and_a_form() -> None:
    a = number("a").expr
    found = formula(sp.sqrt(a) + 1).evaluate(a=2)
    assert isinstance(found.exact, Enclosure)
    low, high = found.exact.low - 1, found.exact.high - 1
    assert low**2 < 2 < high**2
    assert high - low < Fraction(1, 10**37)
    assert found.form == sp.sqrt(2) + 1
    assert not found.trivial_declared
    assert found.vacuous is False
    assert formula(sp.sqrt(a) + 1).evaluate(a="9/4").exact == Fraction(5, 2)


def test_an_undefined_bound_is_nan_with_a_sentence() -> None:
    found = statement("scgd/theorem_3_4").evaluate(mu=1, L=1, n=1, E=1, eta0=6, sigma2=1)
    assert math.isnan(found.value)
    assert found.exact is None
    assert found.in_scope is False
    assert "denominator is zero" in found.note


def test_arrays_broadcast_and_agree_with_single_points() -> None:
    s = statement("scgd/theorem_3_3")
    K = np.array([[0], [10], [100]])
    eta = np.array([1e-3, 1e-2, 0.0149, 0.015, 0.1])
    found = s.evaluate(**{**POINT, "eta": eta}, K=K)
    assert found.value.shape == found.in_scope.shape == found.vacuous.shape == (3, 5)
    assert found.exact is None
    for i in range(3):
        for j in range(5):
            one = s.evaluate(**{**POINT, "eta": eta[j]}, K=K[i, 0])
            assert found.value[i, j] == pytest.approx(one.value, rel=1e-13)
            assert found.in_scope[i, j] == one.in_scope
            assert found.vacuous[i, j] == one.vacuous


@pytest.mark.parametrize(
    "K", [[0, 10, 100], (0, 10, 100), range(0, 101, 10), np.array([0, 10]), ["0", "1e2"], [Fraction(3), 2.0]]
)
def test_lists_of_many_kinds(K: object) -> None:
    found = statement("scgd/theorem_3_3").evaluate(**POINT, K=K)
    expected = [4 * 0.98 ** float(k) + 0.0432 for k in K]
    assert found.value.tolist() == pytest.approx(expected, rel=1e-13)


def test_the_mask_is_exact_around_an_irrational_edge() -> None:
    """C = (sqrt(177) - 9)/48 at mu = L = 1: of the floats around it, exactly those below it are in scope."""
    s = statement("scgd/lemma_3_1")
    edge = (math.sqrt(177) - 9) / 48
    etas = edge + np.arange(-40, 41) * math.ulp(edge)
    found = s.evaluate(mu=1, L=1, n=1, E=1, eta=etas, sigma2=0, dist2_0=1)
    expected = [(48 * Fraction(e) + 9) ** 2 <= 177 for e in etas]
    assert True in expected
    assert False in expected
    assert found.in_scope.tolist() == expected


@pytest.mark.parametrize("scale", [1e-150, 1e-60, 1.0, 1e60, 1e150])
def test_the_mask_survives_extreme_units(scale: float) -> None:
    """Intermediate powers such as L^8 leave the floats; the mask must not."""
    s = statement("scgd/theorem_3_3")
    rng = np.random.default_rng(5)
    mu = scale * rng.uniform(0.01, 1, 20)
    L = mu * rng.uniform(1, 30, 20)
    eta = 10 ** rng.uniform(-4, -1, 20) / L
    found = s.evaluate(mu=mu, L=L, n=1, E=1, eta=eta, sigma2=0, dist2_0=1, K=1)
    expected = [s.scope(mu=m, L=ell, n=1, E=1, eta=e).in_scope for m, ell, e in zip(mu, L, eta, strict=True)]
    assert found.in_scope.tolist() == expected
    assert True in expected
    assert False in expected


def test_the_mask_under_cancellation_against_exact_signs() -> None:
    """Differences of nearly equal roots, quotients by differences, symbolic powers, logarithms: all at float points."""
    a, b = (number(n, low=Fraction(0), low_open=True) for n in "ab")
    x, y = a.expr, b.expr
    relations = [
        sp.Le(sp.sqrt(x + 1) - sp.sqrt(x), y),
        sp.Le(1 / (x - y), 3),
        sp.Ge((1 - x) ** 3, (1 - y) ** 3),
        sp.Gt(sp.log(x) - sp.log(y), 0),
        sp.Lt(sp.exp(x - y), 1),
        sp.Ne(x**2 - y**2, (x - y) * (x + y)),
        sp.Eq(sp.Min(x, y), y),
        sp.Le(x**y, y**x),
        sp.Le(sp.floor(x), y),
        sp.Le(sp.sqrt(sp.sqrt(x) - sp.sqrt(y)), sp.Rational(1, 2)),
    ]
    rng = np.random.default_rng(11)
    xs = rng.choice([1.0, 2.0, 0.1, 3.7], 40) * (1 + rng.integers(-2, 3, 40) * 2.0**-52)
    ys = np.where(rng.random(40) < 0.7, xs * (1 + rng.integers(-2, 3, 40) * 2.0**-52), rng.uniform(0.01, 4, 40))
    for relation in relations:
        s = formula(x + y, relation, symbols=(a, b))
        found = s.evaluate(a=xs, b=ys).in_scope.tolist()
        expected = [s.scope(a=p, b=q).in_scope is True for p, q in zip(xs, ys, strict=True)]
        assert found == expected, relation


def test_undecided_points_are_counted_out_and_said() -> None:
    a, b = (number(n, low=Fraction(0), low_open=True) for n in "ab")
    s = formula(a.expr + b.expr, sp.Le(sp.log(a.expr), 2 * sp.log(b.expr)), symbols=(a, b))
    found = s.evaluate(a=[4.0, 4.0], b=[2.0, 3.0])
    assert found.in_scope.tolist() == [False, True]
    assert "1 points" in found.note
    assert s.evaluate(a=4, b=2).in_scope is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"eta": [0.1, 0.0, 0.2]}, ["eta = 0", "entry 1"]),
        ({"eta": np.array([0.1, math.nan])}, ["eta[1]", "nan"]),
        ({"eta": np.array([0.1, math.inf])}, ["eta[1]", "inf"]),
        ({"K": [1, -1]}, ["K = -1", "entry 1"]),
        ({"K": np.array([0.5, 1.0])}, ["K = 1/2", "integers"]),
        ({"K": ["1", "x"]}, ["K", "'x'"]),
        ({"mu": [0.5, 2.0]}, ["mu = 2", "L = 1"]),
        ({"K": [1, 2], "eta": [0.1, 0.2, 0.3]}, ["broadcast", "K (2,)", "eta (3,)"]),
        ({"eta": np.array([True])}, ["eta", "bool"]),
        ({"eta": np.array([1j])}, ["eta", "complex"]),
        ({"K": [[1, 2], [3, 4]]}, ["list of lists"]),
    ],
)
def test_bad_entries_of_arrays_are_named(change: dict, words: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        statement("scgd/theorem_3_3").evaluate(**{**POINT, "K": 1, **change})
    for word in words:
        assert word in str(caught.value)


def test_an_empty_array_gives_empty_answers() -> None:
    found = statement("scgd/theorem_3_3").evaluate(**POINT, K=np.array([], dtype=int))
    assert found.value.shape == found.in_scope.shape == (0,)


def test_enclosing_a_whole_curve() -> None:
    s = statement("scgd/theorem_3_3")
    cycles = [0, 1, 2, 1000, 10**6, 10**9]
    values = read_values(s, POINT)
    low, high = enclose_along(s.bound, values, "K", [Fraction(K) for K in cycles])
    assert np.all(low <= high)
    assert np.all(high - low <= 4e-16 * high)
    for K, below, above in zip(cycles[:4], low, high, strict=False):
        exact = s.evaluate(**POINT, K=K).exact
        assert isinstance(exact, Fraction)
        assert Fraction(below) <= exact <= Fraction(above)
    assert Fraction(low[-1]) <= Fraction(432, 10000) <= Fraction(high[-1])
    tiny_low, tiny_high = enclose_along(s.bound, {**values, "sigma2": Fraction(0)}, "K", [Fraction(10**9)])
    assert tiny_low[0] == 0.0
    assert 0.0 < tiny_high[0] < 1e-300


def test_readable_and_json_able() -> None:
    s = statement("scgd/theorem_3_3")
    for found in (s.evaluate(**POINT, K=1), s.evaluate(**POINT, K=[1, 2]), s.evaluate(**POINT, K=10**9)):
        assert s.id in repr(found)
        assert s.id in found._repr_html_()
        text = json.dumps(found.to_dict(), allow_nan=False)
        assert json.loads(text)["schema"] == 1
        assert Evaluation.from_dict(json.loads(text)).to_dict() == json.loads(text)
    root = formula(sp.sqrt(number("a").expr)).evaluate(a=2)
    assert Evaluation.from_dict(json.loads(json.dumps(root.to_dict()))).form == sp.sqrt(2)
    exact = json.loads(json.dumps(s.evaluate(**POINT, K=1).to_dict()))["exact"]
    assert Fraction(exact) == Fraction(98, 100) * 4 + Fraction(432, 10000)


def test_what_exact_is_stands_in_repr_and_json() -> None:
    """A fraction is called exact, an interval an enclosure: neither can be taken for the other."""
    a = number("a").expr
    third, root = formula(a / 3).evaluate(a=1), formula(sp.exp(-a)).evaluate(a=1)
    long, array = formula(a**200).evaluate(a="1/3"), formula(a / 3).evaluate(a=[1, 2])
    assert [x.known for x in (third, root, long, array)] == ["exact", "enclosed", "exact", "float"]
    assert "0.3333333333333333 = 1/3 exactly" in repr(third)
    assert ", enclosed to 128 bits" in repr(root)
    assert "exactly" not in repr(root)
    assert ", exactly a fraction of 98 characters" in repr(long)
    assert repr(root.exact) == "<interval of 128 bits around 0.36787944117144233>"
    shown = [x.to_dict() for x in (third, root, array)]
    assert [(x["known"], type(x["exact"]).__name__) for x in shown] == [
        ("exact", "str"),
        ("enclosed", "dict"),
        ("float", "NoneType"),
    ]
    assert set(shown[1]["exact"]) == {"low", "high", "bits"}
    back = Evaluation.from_dict(shown[1])
    assert (back.known, back.exact) == ("enclosed", root.exact)
