"""What participation costs: closed forms, the least M, and the two variance lemmas by going through all cohorts."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import fmpq_mat

from boundcheck.certified.sampling import (
    admissible,
    full,
    general_sampling,
    independent,
    least_sampling,
    one_client,
    sampling_constants,
    uniform,
)
from boundcheck.core.linalg import is_psd, matrix
from boundcheck.errors import BadInput

F = Fraction

W = (F(1, 6), F(1, 3), F(1, 2))
RIGHT = (F(8, 10), F(1, 10), F(1, 10))  # the sizes 8, 1, 1


def uniform_cohorts(n, b):
    share = F(1, math.comb(n, b))
    return [(share, c) for c in itertools.combinations(range(n), b)]


def independent_cohorts(p):
    found = []
    for taken in itertools.product((0, 1), repeat=len(p)):
        share = F(1)
        for v, t in zip(p, taken, strict=True):
            share *= v if t else 1 - v
        if share:
            found.append((share, tuple(i for i, t in enumerate(taken) if t)))
    return found


def pair_matrix(cohorts, n) -> fmpq_mat:
    return matrix([[sum((q for q, c in cohorts if {i, j} <= set(c)), F(0)) for j in range(n)] for i in range(n)])


def slack(pmat, p, s):
    n = len(p)
    rows = [[p[i] * p[j] + (p[i] * s[i] if i == j else 0) for j in range(n)] for i in range(n)]
    return matrix(rows) - pmat


ODD = [(F(1, 2), (0, 1)), (F(1, 3), (1, 2)), (F(1, 6), (0, 2, 3))]  # a sampling with no closed form


@pytest.mark.parametrize(
    ("cohorts", "weights", "M", "rule"),
    [
        ([(F(1), (0, 1, 2))], W, F(0), "full"),
        (uniform_cohorts(3, 2), W, F(3, 8), "uniform"),  # (n - b) n max(w)/((n - 1) b) = 3/2 * 1/2 / 2
        (uniform_cohorts(3, 1), RIGHT, F(12, 5), "one client"),  # n max(w)
        ([(w, (i,)) for i, w in enumerate(RIGHT)], RIGHT, F(1), "one client"),
        (independent_cohorts([2 * w for w in W]), W, F(1, 3), "independent"),  # 1/b - min w; not (1 - min w)/b = 5/12
        (independent_cohorts(RIGHT), RIGHT, F(9, 10), "independent"),
        (independent_cohorts([F(9, 10), F(1, 10)]), (F(9, 10), F(1, 10)), F(9, 10), "independent"),
        (independent_cohorts([F(3, 4), F(1, 4)]), (F(9, 10), F(1, 10)), F(3, 10), "independent"),
    ],
)
def test_M_of_the_samplings_of_the_paper(cohorts, weights, M, rule):
    pmat = pair_matrix(cohorts, len(weights))
    found = sampling_constants(pmat, weights)
    assert found.M == M
    assert found.rule.startswith(rule)
    assert found.b == sum(q * len(c) for q, c in cohorts)
    assert is_psd(slack(pmat, found.p, found.s))
    assert found.constants()["M"].value == M


def test_closed_forms_need_no_matrix():
    assert full(W).M == 0
    assert uniform(3, 2, W) == sampling_constants(pair_matrix(uniform_cohorts(3, 2), 3), W)
    assert F(9, 10) == independent(RIGHT, RIGHT).M
    assert one_client(RIGHT, RIGHT).M == 1
    assert uniform(1, 1, (F(1),)).M == 0
    assert one_client((F(1),), (F(1),)).M == 0


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("b", [1, 2])
def test_least_M_is_the_closed_form_where_clients_are_alike(n, b):
    weights = (F(1, n),) * n
    pmat = pair_matrix(uniform_cohorts(n, b), n)
    assert least_sampling(pmat, weights).M == uniform(n, b, weights).M


@pytest.mark.parametrize(
    ("cohorts", "weights"),
    [
        (uniform_cohorts(3, 2), W),
        (uniform_cohorts(3, 1), RIGHT),
        (ODD, (F(1, 10), F(2, 5), F(1, 4), F(1, 4))),
        (uniform_cohorts(4, 2), (F(1, 4),) * 4),
        (independent_cohorts([2 * w for w in W]), W),
        ([(w, (i,)) for i, w in enumerate(RIGHT)], RIGHT),
    ],
)
def test_no_s_gives_less_than_the_least_M(cohorts, weights):
    """A larger s_i only helps, so that s_i = M p_i/w_i for all clients is best for its M."""
    pmat = pair_matrix(cohorts, len(weights))
    found = least_sampling(pmat, weights)
    assert all(s * w / p == found.M for s, w, p in zip(found.s, weights, found.p, strict=True))
    assert is_psd(slack(pmat, found.p, found.s))
    tighter = [v * (1 - F(1, 10**9)) for v in found.s]
    assert found.M == 0 or not is_psd(slack(pmat, found.p, tighter))


def test_the_known_s_is_not_always_the_least():
    pmat = pair_matrix(uniform_cohorts(3, 1), 3)
    # with s_i = M p_i/w_i: M diag(5/36, 10/9, 10/9) >= I/3 - J/9 exactly from M = 17/10 on
    assert least_sampling(pmat, RIGHT).M == F(17, 10) < sampling_constants(pmat, RIGHT).M
    # without a closed form it is
    odd, weights = pair_matrix(ODD, 4), (F(1, 10), F(2, 5), F(1, 4), F(1, 4))
    assert sampling_constants(odd, weights) == least_sampling(odd, weights)


def test_how_far_the_least_M_may_be_from_the_least():
    alike = least_sampling(pair_matrix(uniform_cohorts(3, 1), 3), (F(1, 3),) * 3)
    assert alike.M == 1
    # one client in {0, 1}, with 1/4 and 1/2, and client 2 of its own accord with 1/3: the least M is a root
    cohorts = [
        (q * (F(1, 3) if last else F(2, 3)), (*first, *((2,) if last else ())))
        for q, first in ((F(1, 4), (0,)), (F(1, 2), (1,)), (F(1, 4), ()))
        for last in (False, True)
    ]
    found = least_sampling(pair_matrix(cohorts, 3), (F(1, 2), F(1, 3), F(1, 6)))
    # Pmat - p p' = M diag(p^2/w) on {0, 1}: (3/16 - M/8)(1/4 - 3M/4) = 1/64, M = (11 + sqrt(73))/12 is the larger root
    square = (12 * found.M - 11) ** 2
    assert 73 <= square <= 73 * (1 + F(1, 10**11))


def vectors(n, d, seed):
    def entry(i, k):
        return F((7 * i + 3 * k + seed * (i + 1) * (k + 2)) % 11 - 5, 1 + (i + k) % 3)

    return [[entry(i, k) for k in range(d)] for i in range(n)]


def square(v):
    return sum((x * x for x in v), F(0))


def brute(cohorts, z, factor, mean):
    """E |sum over S of factor_i^S z_i - mean|^2."""
    total = F(0)
    for k, (share, cohort) in enumerate(cohorts):
        moved = [sum((factor(k, i) * z[i][c] for i in cohort), F(0)) - mean[c] for c in range(len(mean))]
        total += share * square(moved)
    return total


@pytest.mark.parametrize(
    ("cohorts", "n"),
    [(uniform_cohorts(5, 2), 5), (uniform_cohorts(4, 3), 4), (independent_cohorts([F(1, 2), F(1, 3), 1]), 3), (ODD, 4)],
)
@pytest.mark.parametrize("seed", [1, 4])
def test_the_variance_of_the_unbiased_aggregate(cohorts, n, seed):
    weights = [F(i + 1, n * (n + 1) // 2) for i in range(n)]
    z = vectors(n, 2, seed)
    pmat = pair_matrix(cohorts, n)
    p = [F(int(pmat[i, i].p), int(pmat[i, i].q)) for i in range(n)]
    scaled = [[w * v for v in row] for w, row in zip(weights, z, strict=True)]
    mean = [sum((row[c] for row in scaled), F(0)) for c in range(2)]
    exact = brute(cohorts, scaled, lambda k, i: 1 / p[i], mean)
    # Lemma B.4 with every admissible s that we know
    for found in (sampling_constants(pmat, weights), least_sampling(pmat, weights)):
        terms = zip(weights, found.s, p, z, strict=True)
        bound = sum((w * w * s / q * square(v) for w, s, q, v in terms), F(0))
        assert exact <= bound <= found.M * sum((w * square(v) for w, v in zip(weights, z, strict=True)), F(0))


def test_the_variance_bound_is_tight_for_uniform_sampling():
    # equality where sum of z_i = 0 and the weights are alike
    n, b = 4, 2
    z = [[F(1)], [F(-1)], [F(3)], [F(-3)]]
    weights = (F(1, n),) * n
    scaled = [[v[0] / n] for v in z]
    bound = uniform(n, b, weights).M * sum((square(v) / n for v in z), F(0))
    assert brute(uniform_cohorts(n, b), scaled, lambda k, i: F(n, b), [F(0)]) == bound


def sum_one(cohorts, weights):
    return [[sum((weights[j] for j in c), F(0))] * len(c) for _, c in cohorts]


def test_normalisers_that_are_the_probabilities_give_back_the_matrix():
    cohorts = uniform_cohorts(3, 2)
    found = general_sampling(cohorts, [[F(2, 3)] * 2] * 3)
    assert found.q == (1, 1, 1)
    assert found.h == (F(3, 2),) * 3
    M1, s = found.least((F(1, 3),) * 3)
    assert M1 == uniform(3, 2, (F(1, 3),) * 3).M == F(1, 4)
    assert s == (F(1, 2),) * 3


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_the_variance_with_normalisers_by_cohort(seed):
    cohorts = uniform_cohorts(4, 2)
    weights = (F(1, 10), F(1, 5), F(3, 10), F(2, 5))
    norms = sum_one(cohorts, weights)
    found = general_sampling(cohorts, norms)
    for i in range(4):
        assert 1 / found.q[i] == sum((q / norm[0] for (q, c), norm in zip(cohorts, norms, strict=True) if i in c), F(0))
    M1, s = found.least(weights)

    def serves(s):  # Hmat - e e' <= diag(h_i s_i)
        own = [h * v for h, v in zip(found.h, s, strict=True)]
        ones = matrix([[1 + (own[i] if i == j else 0) for j in range(4)] for i in range(4)])
        return is_psd(ones - found.hmat)

    assert serves(s)
    assert serves((F(4),) * 4)  # s = n always serves
    assert not serves([v * F(99, 100) for v in s])
    z = vectors(4, 3, seed)
    scaled = [[w * v for v in row] for w, row in zip(weights, z, strict=True)]
    mean = [sum((row[c] / q for row, q in zip(scaled, found.q, strict=True)), F(0)) for c in range(3)]
    left = brute(cohorts, scaled, lambda k, i: 1 / norms[k][0], mean)
    for vector in (s, (F(4),) * 4):
        right = sum(
            (h * v * square(row) / q**2 for h, v, row, q in zip(found.h, vector, scaled, found.q, strict=True)), F(0)
        )
        assert left <= right
    assert max(h * v * w for h, v, w in zip(found.h, s, weights, strict=True)) == M1


HALF = (F(1, 2),) * 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sampling_constants(matrix([[0, 0], [0, 1]]), HALF), "probability 0"),
        (lambda: sampling_constants(matrix([["1/2", "3/4"], ["3/4", "1/2"]]), HALF), "cannot both take part"),
        (lambda: sampling_constants(matrix([["1/2", 0], ["1/3", "1/2"]]), HALF), "symmetric"),
        (lambda: sampling_constants(matrix([["1/2", "1/8"], ["1/8", "1/2"]]), (F(1), F(0))), "weights above 0"),
        # below P(i) + P(j) - 1; and three events of probability 1/2, no two of which meet, whose pairs are admissible
        (lambda: sampling_constants(matrix([["3/4", "1/3"], ["1/3", "3/4"]]), HALF), "cannot both take part"),
        (
            lambda: sampling_constants(matrix([["1/2", 0, 0], [0, "1/2", 0], [0, 0, "1/2"]]), (F(1, 3),) * 3),
            "covariance",
        ),
        (lambda: uniform(3, 4, W), "a cohort of 4 clients out of 3"),
        (lambda: general_sampling([(F(1), (0, 2))], [[F(1), F(1)]]), "never takes part"),
        (lambda: general_sampling([(F(1, 2), (0,))], [[F(1)]]), "sum to 1"),
    ],
)
def test_what_is_no_sampling_is_refused(call, message):
    with pytest.raises(BadInput, match=message):
        call()


@pytest.mark.parametrize(
    ("cohorts", "n", "edge"),
    [
        (uniform_cohorts(3, 2), 3, [F(1, 2)] * 3),  # (n-b)/(n-1); the slack has rank one
        ([(w, (i,)) for i, w in enumerate(RIGHT)], 3, [F(1)] * 3),
        (independent_cohorts([2 * w for w in W]), 3, [1 - 2 * w for w in W]),  # a diagonal slack
    ],
)
def test_an_s_below_the_edge_is_not_admissible(cohorts, n, edge):
    pmat = pair_matrix(cohorts, n)
    p = [F(int(pmat[i, i].p), int(pmat[i, i].q)) for i in range(n)]
    assert admissible(pmat, p, edge)
    assert admissible(pmat, p, [s + F(1, 7) for s in edge])
    assert not admissible(pmat, p, [s - F(1, 10**9) for s in edge])
    assert not admissible(pmat, p, [edge[0] - F(1, 5), *edge[1:]])
