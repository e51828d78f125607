"""Certified constants of sums of quadratics, against numbers worked out by hand."""

from fractions import Fraction

import pytest

from boundcheck.certified import certify
from boundcheck.certified.constant import Known
from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.core.linalg import column, identity, is_psd, matrix, range_projector, rational
from boundcheck.core.numbers import parse_number


def test_irrational_smoothness_is_certified_from_above_and_short():
    client = matrix([[-1, 1], [1, -3]])  # eigenvalues -2 -+ sqrt(2)
    constant = certify.smoothness([identity(2), client])
    assert (constant.known, constant.side) == (Known.CERTIFIED, "upper")
    assert (constant.value - 2) ** 2 >= 2
    assert is_psd(identity(2) * rational(constant.value) + client)
    assert not is_psd(identity(2) * rational(constant.value * (1 - Fraction(2, 10**12))) + client)


def test_quasi_convexity_is_the_smallest_nonzero_eigenvalue():
    a = matrix([[1, 1, 0], [1, 1, 0], [0, 0, 5]])
    constant = certify.quasi_convexity(a, range_projector(a))
    assert (constant.value, constant.known) == (2, Known.EXACT)


def test_quasi_convexity_from_below_satisfies_its_definition():
    a = matrix([[1, 1], [1, 3]])
    mu = certify.quasi_convexity(a, identity(2))
    assert (mu.known, mu.side) == (Known.CERTIFIED, "lower")
    # F* - F(x) - <grad, x* - x> = u'Au/2, so the definition is u'(A - mu)u >= 0, worst on the eigenvector (1+sqrt2, -1)
    assert is_psd(a - identity(2) * rational(mu.value))
    assert not is_psd(a - identity(2) * rational(mu.value * (1 + Fraction(2, 10**12))))


def test_rationals_are_exact_up_to_a_stated_length_and_then_rounded_up():
    # f1 = (x - 1)^2/2, f2 = (x + 1)^2/2: minimiser 0, gradients -1 and 1
    one = matrix([[1]])
    noise = certify.gradient_noise([(one, column([1])), (one, column([-1]))], column([0]))
    assert (noise.value, noise.known) == (1, Known.EXACT)
    a = matrix([[1, 1], [1, 1]])  # solution set x + y = 2 through (1, 1)
    apart = certify.squared_distance(range_projector(a), column([1, 1]), [Fraction(3), Fraction(0)])
    assert apart.value == Fraction(1, 2)
    for long, known in ((Fraction(1, 3**1500), Known.EXACT), (Fraction(10**1000 + 1, 3**2000), Known.CERTIFIED)):
        for constant in (
            certify.gradient_noise([(one, column([0]))], column([long])),
            certify.squared_distance(identity(1), column([0]), [long]),
        ):
            assert constant.known is known
            if known is Known.EXACT:  # 2 * 2378 bits
                assert (parse_number(constant.to_dict()["value"]), constant.side) == (long**2, "exact")
            else:
                assert long**2 < constant.value < long**2 * (1 + Fraction(1, 10**12))
                assert "13 digits" in constant.how
                assert constant.side == "upper"


def test_gradients_that_vary_on_the_solution_set_are_noticed():
    # F = x^2 has the solution set {0} x R, along which the clients' +-y^2 vary
    up, down = matrix([[2, 0], [0, 2]]), matrix([[2, 0], [0, -2]])
    projector = range_projector(up + down)
    assert certify.noise_is_finite([up, down], projector) == 0
    assert certify.noise_is_finite([up + down, up + down], projector) is None


@pytest.mark.parametrize(
    ("diagonals", "largest"),
    [
        ([[1, 5], [2, 3]], 5),
        ([[-7, 5], [2, 3]], 7),
        ([[2, 1], [4, -6]], 6),
        ([[-1, -2]], 2),
        ([[2, 1], [-3, 1]], 3),
    ],
)
def test_smoothness_of_diagonal_hessians_takes_either_sign(diagonals, largest):
    found = certify.smoothness([matrix([[row[0], 0], [0, row[1]]]) for row in diagonals])
    assert (found.value, found.known, found.side) == (largest, Known.EXACT, "exact")


@pytest.mark.parametrize("size", [3, 12, 13, 20])
def test_semidefiniteness_of_singular_and_nearly_singular_matrices(size):
    """The Gram matrix of integer columns, of rank 2, is semidefinite; less a little on the diagonal it is not."""
    rows = [[Fraction(1 + (i * i + 3 * j) % 5), Fraction((2 * i + j) % 7 - 3)] for i, j in enumerate(range(size))]
    gram = matrix([[a[0] * b[0] + a[1] * b[1] for b in rows] for a in rows])
    one = identity(size)
    tiny = rational(Fraction(1, 10**200))
    assert gram.rank() == 2
    assert is_positive_semidefinite(gram)
    assert is_positive_semidefinite(gram + one * tiny)
    assert not is_positive_semidefinite(gram - one * tiny)
    assert not is_positive_semidefinite(-gram)


@pytest.mark.parametrize("sign", [1, -1])
def test_smoothness_does_not_trust_the_float_that_chose_the_client(sign):
    tiny = Fraction(1, 10**30)  # between largest eigenvalues 3/2 and 3/2 + 1e-30, of either sign
    plain = matrix([[1, Fraction(1, 2)], [Fraction(1, 2), 1]])
    more = (plain + identity(2) * rational(tiny)) * rational(Fraction(sign))
    for hessians in ([plain, more], [more, plain], [plain, plain, more]):
        assert Fraction(3, 2) + tiny <= certify.smoothness(hessians).value <= Fraction(3, 2) * (1 + Fraction(1, 10**12))
