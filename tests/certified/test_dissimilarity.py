"""Gradient dissimilarity and local variance of quadratics: exact by hand, by points, and by a second route."""

from fractions import Fraction
from itertools import pairwise

import pytest
from flint import fmpq_mat

from boundcheck.certified.definite import least_multiple, part, spread
from boundcheck.certified.dissimilarity import Dissimilarity, local_variance
from boundcheck.certified.forms import Form, gap, least_constant, square
from boundcheck.certified.samples import Matrices, Rows
from boundcheck.core.linalg import column, fraction, identity, is_psd, matrix, rational
from boundcheck.errors import BadInput

F = Fraction

LINE = [(matrix([[2]]), column([2])), (matrix([[4]]), column([-4]))]  # f1 = x^2 - 2x, f2 = 2x^2 + 4x
HALVES = (F(1, 2), F(1, 2))
SKEW = [
    (matrix([[2, 1], [1, 3]]), column([1, 0])),
    (matrix([[-1, 0], [0, 2]]), column([0, 2])),
    (matrix([[4, -1], [-1, 1]]), column([-1, 5])),
]
SKEWED = (F(1, 2), F(1, 6), F(1, 3))


def points(d):
    values = [F(-7), F(-1, 3), F(0), F(1, 2), F(5)]
    return [column([values[(i + k * (k + 2)) % 5] * (1 + i % 3) for k in range(d)]) for i in range(15)]


def client_square(maps, weights, x):
    total = F(0)
    for w, (a, b) in zip(weights, maps, strict=True):
        r = a * x - b
        total += w * fraction((r.transpose() * r)[0, 0])
    return total


def own_square(maps, weights, x):
    g = fmpq_mat(x.nrows(), 1)
    for w, (a, b) in zip(weights, maps, strict=True):
        g = g + (a * x - b) * rational(w)
    return fraction((g.transpose() * g)[0, 0])


def test_by_hand_on_the_line():
    # with u = x + 1/3: ((2u - 8/3)^2 + (4u + 8/3)^2)/2 = 10 u^2 + 16/3 u + 64/9 and |grad F|^2 = 9 u^2
    found = Dissimilarity(LINE, HALVES)
    least = found.least_B2()
    assert (least.value, least.exact) == (F(10, 9), True)
    assert found.least_G2(F(10, 9)) is None  # the linear term is not covered
    assert found.least_G2(F(1)) is None
    assert found.least_G2(F(2)) == F(64, 9) + F(64, 9) / 8  # (16/3)^2/(4 * 8)
    assert found.default().factor == F(20, 9)
    # values: 2 L B2 (F - F*) = L B2 3 u^2, so that L B2 = 10/3 is the edge
    assert found.least_G2_relaxed(F(10, 12), F(4)) is None
    assert found.least_G2_relaxed(F(1), F(4)) == F(64, 9) + F(64, 9) / 2


def test_equal_hessians_take_B2_1():
    maps = [(identity(2), column([1, 0])), (identity(2), column([-1, 2]))]
    found = Dissimilarity(maps, (F(3, 4), F(1, 4)))
    # the variance of b: 3/4 1/4 |(2, -2)|^2
    assert (found.default().factor, found.default().constant) == (1, F(3, 2))
    assert found.least_B2().value == 1
    assert found.alike


@pytest.mark.parametrize(("maps", "weights"), [(LINE, HALVES), (SKEW, SKEWED)])
def test_pairs_hold_at_points_and_less_fails_at_one(maps, weights):
    found = Dissimilarity(maps, weights)
    d = maps[0][0].nrows()
    pair = found.default()
    for B2 in (pair.factor, pair.factor * 3):
        G2 = found.least_G2(B2)
        assert all(client_square(maps, weights, x) <= G2 + B2 * own_square(maps, weights, x) for x in points(d))
        # the least x of the difference meets it with equality: no smaller G2 serves
        worst = (square(found.hessian, found.side).times(B2) - found.left).minimiser()
        assert client_square(maps, weights, worst) == G2 + B2 * own_square(maps, weights, worst)
        assert found.decides(G2, B2)
        assert not found.decides(G2 - F(1, 10**40), B2)
    assert not found.decides(F(10**9), F(1))


@pytest.mark.parametrize(("maps", "weights"), [(LINE, HALVES), (SKEW, SKEWED)])
def test_the_least_factor_is_the_edge(maps, weights):
    found = Dissimilarity(maps, weights)
    bound = found.least_B2()
    assert found.least_G2(bound.value * (1 - F(2, 10**12))) is None
    assert found.least_G2(bound.value * (1 + F(1, 10**9))) is not None
    n = found.left.q
    assert is_psd(found.hessian * found.hessian * rational(bound.value) - n)


@pytest.mark.parametrize("B2", [F(20, 9), F(3), F(50)])
@pytest.mark.parametrize(("maps", "weights"), [(LINE, HALVES), (SKEW, SKEWED)])
def test_the_homogeneous_matrix_decides_the_same(maps, weights, B2):
    """S-lemma: with z = [x; 1] the difference of the sides is z'Hz, H semidefinite exactly from the least G2 on."""
    found = Dissimilarity(maps, weights)
    factor = B2 * found.least_B2().value
    form = square(found.hessian, found.side).times(factor) - found.left
    side = [-v for v in form.l.entries()]
    rows = [[*row, v] for row, v in zip(form.q.tolist(), side, strict=True)] + [[*side, form.k]]
    d = form.q.nrows()
    lifted = fmpq_mat(d + 1, d + 1, [v for row in rows for v in row])
    lifted[d, d] += rational(found.least_G2(factor))
    assert is_psd(lifted)
    lifted[d, d] -= rational(F(1, 10**30))
    assert not is_psd(lifted)


def test_the_least_G2_falls_as_B2_grows():
    found = Dissimilarity(LINE, HALVES)
    front = [found.least_G2(B2) for B2 in (F(1), F(11, 9), F(2), F(20))]
    assert front[0] is None
    assert all(after < before for before, after in pairwise(front[1:]))
    assert front[-1] > F(64, 9)  # what is left at the minimiser


def test_clients_that_grow_where_the_mean_is_flat_have_no_pair():
    opposed = [(matrix([[1]]), column([0])), (matrix([[-1]]), column([0]))]
    found = Dissimilarity(opposed, HALVES)
    assert found.free_client() == 0
    assert (found.least_B2(), found.default()) == (None, None)
    assert found.least_G2(F(100)) is None
    # with the weights (2/3, 1/3) F = x^2/6 and G2 = 0, B2 = 9 serve: x^2 <= 9 (x/3)^2
    weighed = Dissimilarity(opposed, (F(2, 3), F(1, 3)))
    assert weighed.least_B2().value == 9
    assert weighed.decides(F(0), F(9))
    assert not weighed.decides(F(0), F(9) - F(1, 10**30))


def test_a_client_without_weight_does_not_matter():
    maps = [*LINE, (matrix([[0]]), column([7]))]
    assert Dissimilarity(maps, (*HALVES, F(0))).default() == Dissimilarity(LINE, HALVES).default()


def test_relaxed_form_with_convex_clients_always_takes_factor_2():
    # sum of w_i |grad f_i|^2 <= 2 sum of w_i |grad f_i(x*)|^2 + 4 L (F - F*)
    maps = [(matrix([[2, 1], [1, 1]]), column([1, 3])), (matrix([[1, 0], [0, 0]]), column([2, 0]))]
    found = Dissimilarity(maps, HALVES)
    L = F(3)  # at least (3 + sqrt 5)/2
    centre = found.hessian.solve(found.side)
    noise = client_square(maps, HALVES, centre)
    assert found.decides(2 * noise, F(2), L)
    assert found.least_G2_relaxed(F(2), L) <= 2 * noise
    saddle = Dissimilarity([(matrix([[1, 0], [0, -1]]), column([0, 0]))], (F(1),))
    assert saddle.least_G2_relaxed(F(1), F(1)) is None


def test_singular_hessians_are_covered_on_their_range():
    maps = [(matrix([[1, 1], [1, 1]]), column([1, 1])), (matrix([[3, 3], [3, 3]]), column([0, 0]))]
    found = Dissimilarity(maps, HALVES)
    # along (1, 1): slopes 2 t - ..., so that the mean square is 5/4 of the square of the mean
    assert found.least_B2().value == F(5, 4)
    assert found.decides(found.default().constant, found.default().factor)


# --- within a client ------------------------------------------------------------------------------------------


def test_samples_with_one_hessian_have_the_variance_of_b():
    samples = Matrices([(identity(2), column([1, 0])), (identity(2), column([0, 1]))])
    pair = local_variance(samples, (identity(2), column([F(1, 2), F(1, 2)]))).default()
    assert (pair.factor, pair.constant) == (0, F(1, 2))


def test_local_variance_by_hand():
    # samples with slopes x - 1 and 3x + 1, client 2x: the variance is (x + 1)^2, (2x)^2 P2 covers it from 1/4 on
    samples = Matrices([(matrix([[1]]), column([1])), (matrix([[3]]), column([-1]))])
    found = local_variance(samples, (matrix([[2]]), column([0])))
    assert found.least_factor().value == F(1, 4)
    assert found.default().factor == F(1, 2)
    # x^2 + 2x + 1 <= s + 2 x^2 for all x: s = 1 + 1
    assert found.default().constant == 2
    assert found.least_constant(F(1, 4)) is None
    assert found.least_constant(F(0)) is None


def test_a_client_that_is_no_mean_of_its_samples_has_no_variance():
    samples = Matrices([(matrix([[1]]), column([1])), (matrix([[3]]), column([-1]))])
    found = local_variance(samples, (matrix([[4]]), column([0])))
    assert not found.is_mean
    assert (found.default(), found.least_factor(), found.least_constant(F(9))) == (None, None, None)


def test_samples_that_spread_where_the_client_is_flat():
    samples = Matrices([(matrix([[1]]), column([0])), (matrix([[-1]]), column([0]))])
    assert not local_variance(samples, (matrix([[0]]), column([0]))).bounded


@pytest.mark.parametrize("ridge", [F(0), F(1, 7)])
def test_rows_are_the_matrices_they_stand_for(ridge):
    a, y, scale = matrix([[1, 2], [0, -1], [F(1, 3), 4]]), column([1, F(-2), 5]), F(2)
    rows = Rows(a, y, scale, ridge)
    one = identity(2) * rational(ridge)
    parts = []
    for j in range(3):
        row = fmpq_mat(1, 2, [a[j, 0], a[j, 1]])
        parts.append((row.transpose() * row * 2 + one, row.transpose() * (y[j, 0] * 2)))
    same = Matrices(parts)
    assert rows.mean() == same.mean()
    for x in points(2):
        assert rows.moment().at(x) == same.moment().at(x)
    assert rows.largest().value == same.largest().value == 2 * (F(1, 9) + 16) + ridge
    assert rows.smallest().value == same.smallest().value == ridge
    assert rows.singular() == same.singular() == (ridge == 0)
    for value in (ridge, ridge + F(1, 10**9)):
        assert rows.within(value) == same.within(value)
    flat = column([2, -1])
    assert rows.constant_along(flat) is same.constant_along(flat) is False


# --- the tools ------------------------------------------------------------------------------------------------


def test_a_form_knows_where_it_is_least():
    form = Form(matrix([[2, 0], [0, 0]]), column([4, 0]), rational(1))  # 2 x^2 - 8 x + 1
    assert (form.minimum(), form.at(column([2, 9]))) == (-7, -7)
    assert Form(form.q, column([0, 1]), rational(0)).minimum() is None
    assert Form(-form.q, column([0, 0]), rational(0)).minimum() is None
    assert least_constant(form, form.times(F(2))) == 7
    assert least_constant(form, Form(form.q, form.l, form.k + 1)) == 0
    a, b = matrix([[2, 1], [1, 3]]), column([1, 2])
    centre = a.solve(b)
    assert gap(a, b, centre).minimum() == 0
    assert gap(a, b, centre).at(column([0, 0])) == fraction((b.transpose() * centre)[0, 0]) / 2


def test_least_multiples_are_recognised():
    assert least_multiple(matrix([[1, 1], [1, 1]]), identity(2), F(2)) == (2, True)
    assert least_multiple(fmpq_mat(2, 2), identity(2), F(0)) == (0, True)
    assert least_multiple(-identity(2), identity(2), F(-1)) == (-1, True)
    with pytest.raises(BadInput, match="no multiple"):
        least_multiple(identity(2), matrix([[1, 0], [0, 0]]), F(1))
    with pytest.raises(BadInput, match="zero matrix"):
        least_multiple(fmpq_mat(2, 2), fmpq_mat(2, 2), F(1))
    assert spread(matrix([[3, 0], [0, -1]])) == (-1, 3)
    assert spread(matrix([[3, 1], [1, -1]])) is None
    assert part(matrix([[1, 2, 3], [2, 4, 5], [3, 5, 6]]), [0, 2], [0, 2]) == matrix([[1, 3], [3, 6]])
