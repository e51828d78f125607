"""What partial participation costs: the constant M of a random cohort, from its probability matrix.

S is a random set of clients, p_i > 0 the probability of client i, Pmat the matrix of pair probabilities (its diagonal
is p). Any s with Pmat - p p' <= diag(p_i s_i) in the Loewner order bounds the variance of the unbiased aggregate,

    E |sum over S of w_i z_i/p_i - sum of w_i z_i|^2 <= sum of w_i^2 (s_i/p_i) |z_i|^2 <= M sum of w_i |z_i|^2,

M = max of (s_i/p_i) w_i (FedShuffle, Lemma B.4 and Section 5). With normalisers q_i^S that depend on the cohort, Hmat
takes the place of the matrix of P_ij/(p_i p_j) (Lemma E.5). M depends on the s that is taken: for the samplings of the
paper it is the paper's s, for others the one that makes M least. That needs no general semidefinite programme: since a
larger s_i only helps, s_i = M p_i/w_i for all i is best, and the least M is a largest eigenvalue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from boundcheck.certified.constant import Constant, exact
from boundcheck.certified.definite import diagonal_matrix, is_positive_semidefinite, least_diagonal_multiple
from boundcheck.core.linalg import fraction, is_symmetric, rational
from boundcheck.errors import BadInput

Cohorts = Sequence[tuple[Fraction, tuple[int, ...]]]  # every possible cohort with its probability
Vector = tuple[Fraction, ...]
_ZERO = Fraction(0)
MAX_CLIENTS = 400  # of a matrix whose definiteness is decided by elimination


@dataclass(frozen=True)
class SamplingConstants:
    """p, s: one number a client, with Pmat - p p' <= diag(p_i s_i); M = max of (s_i/p_i) w_i; b: sum of p_i.

    rule: which s this is.
    """

    p: Vector
    s: Vector
    M: Fraction
    b: Fraction
    rule: str

    def constants(self) -> dict[str, Constant]:
        """M and b as constants."""
        how = f"largest (s_i/p_i) w_i, s by {self.rule}"
        return {
            "M": exact(self.M, how),
            "b": exact(self.b, "expected size of the cohort, the sum of p_i"),
        }


def _of(p: Sequence[Fraction], s: Sequence[Fraction], weights: Sequence[Fraction], rule: str) -> SamplingConstants:
    if not len(p) == len(s) == len(weights):
        raise BadInput(f"{len(weights)} weights were given for a sampling of {len(p)} clients.")
    M = max(s_i / p_i * w for s_i, p_i, w in zip(s, p, weights, strict=True))
    return SamplingConstants(tuple(p), tuple(s), M, sum(p, Fraction(0)), rule)


def full(weights: Sequence[Fraction]) -> SamplingConstants:
    """All clients in every round: Pmat = p p', so that s = 0."""
    n = len(weights)
    return _of((Fraction(1),) * n, (Fraction(0),) * n, weights, "full participation (0)")


def uniform(n: int, b: int, weights: Sequence[Fraction]) -> SamplingConstants:
    """b of n clients without replacement: s_i = (n-b)/(n-1).

    diag(p_i s_i) - (Pmat - p p') is then b(n-b)/(n^2 (n-1)) times the matrix of ones.
    """
    if not 1 <= b <= n:
        raise BadInput(f"a cohort of {b} clients out of {n} is impossible.")
    s = Fraction(n - b, n - 1) if n > 1 else Fraction(0)
    return _of((Fraction(b, n),) * n, (s,) * n, weights, "uniform sampling ((n-b)/(n-1))")


def independent(p: Sequence[Fraction], weights: Sequence[Fraction]) -> SamplingConstants:
    """Clients take part independently: Pmat - p p' is diagonal and s_i = 1 - p_i."""
    _check_proper(p)
    return _of(p, tuple(1 - v for v in p), weights, "independent sampling (1 - p_i)")


def one_client(p: Sequence[Fraction], weights: Sequence[Fraction]) -> SamplingConstants:
    """Exactly one client, client i with probability p_i: s = 1; diag(p_i s_i) - (Pmat - p p') is then p p'."""
    _check_proper(p)
    s = Fraction(int(len(p) > 1))
    return _of(p, (s,) * len(p), weights, "one client a round (1)")


def _check_proper(p: Sequence[Fraction]) -> None:
    for i, v in enumerate(p):
        if not 0 < v <= 1:
            raise BadInput(f"client {i} takes part with probability {v}; above 0 and at most 1 is needed.")


def sampling_constants(pmat: fmpq_mat, weights: Sequence[Fraction]) -> SamplingConstants:
    """The constants of a sampling from its probability matrix (n, n) and the clients' weights.

    s has the closed form where the matrix is that of full participation, of uniform sampling, of independent clients or
    of one client a round; otherwise it is the one with the least M. Pmat - p p' <= diag(p_i s_i) is verified exactly.
    Raises BadInput for a matrix that is none of a sampling.
    """
    n = pmat.nrows()
    entries = [[fraction(v) for v in row] for row in pmat.tolist()]
    p = [entries[i][i] for i in range(n)]
    _check_proper(p)
    if len(weights) != n or not is_symmetric(pmat):
        raise BadInput(f"the probability matrix must be symmetric, with one row for each of {len(weights)} clients.")
    for i in range(n):
        for j in range(i):
            if not max(_ZERO, p[i] + p[j] - 1) <= entries[i][j] <= min(p[i], p[j]):
                raise BadInput(f"clients {j} and {i} cannot both take part with probability {entries[i][j]}.")
    found = _recognised(entries, p, weights)
    if found is None:
        # Pmat - p p' is the covariance of the clients' indicators
        if not is_positive_semidefinite(pmat - _outer(p)):
            raise BadInput(
                "the probabilities of the pairs belong to no sampling: their covariance is not semidefinite."
            )
        return least_sampling(pmat, weights)
    if not admissible(pmat, found.p, found.s):
        raise BadInput("the probabilities of the pairs belong to no sampling.")
    return found


def _recognised(
    entries: Sequence[Sequence[Fraction]], p: Sequence[Fraction], weights: Sequence[Fraction]
) -> SamplingConstants | None:
    n = len(p)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    if all(entries[i][j] == p[i] * p[j] for i, j in pairs):
        return full(weights) if set(p) == {1} else independent(p, weights)
    if all(entries[i][j] == 0 for i, j in pairs) and sum(p) == 1:
        return one_client(p, weights)
    b = sum(p, Fraction(0))
    if len(set(p)) == 1 and b.denominator == 1 and all(entries[i][j] == b * (b - 1) / (n * (n - 1)) for i, j in pairs):
        return uniform(n, int(b), weights)
    return None


def _outer(v: Sequence[Fraction]) -> fmpq_mat:
    column = fmpq_mat(len(v), 1, [rational(x) for x in v])
    return column * column.transpose()


def admissible(pmat: fmpq_mat, p: Sequence[Fraction], s: Sequence[Fraction]) -> bool:
    """Whether Pmat - p p' <= diag(p_i s_i) in the Loewner order, exactly."""
    slack = diagonal_matrix([p_i * s_i for p_i, s_i in zip(p, s, strict=True)]) - (pmat - _outer(p))
    if slack.rank() <= 1:  # it has the sign of its diagonal
        return all(slack[i, i] >= 0 for i in range(len(p)))
    return is_positive_semidefinite(slack)


def _least_bound(excess: fmpq_mat, scales: Sequence[Fraction]) -> Fraction:
    """The least M with M diag(scales) - excess positive semidefinite, from above and within a relative 1e-12."""
    n = excess.nrows()
    if n > MAX_CLIENTS:
        raise BadInput(f"{n} clients are too many for a sampling given by its matrix; at most {MAX_CLIENTS} are taken.")
    if all(v == 0 for v in excess.entries()):
        return Fraction(0)
    return least_diagonal_multiple(excess, scales).value


def least_sampling(pmat: fmpq_mat, weights: Sequence[Fraction]) -> SamplingConstants:
    """The s with the least M = max of (s_i/p_i) w_i: M within a relative 1e-12 of the least, s_i = M p_i/w_i.

    Every weight must be above 0.
    """
    n = pmat.nrows()
    p = [fraction(pmat[i, i]) for i in range(n)]
    _check_weights(weights)
    M = _least_bound(pmat - _outer(p), [v * v / w for v, w in zip(p, weights, strict=True)])
    s = [M * v / w for v, w in zip(p, weights, strict=True)]
    if not admissible(pmat, p, s):
        raise BadInput("the probabilities of the pairs belong to no sampling.")
    return SamplingConstants(tuple(p), tuple(s), M, sum(p, Fraction(0)), "the least M, verified exactly")


def _check_weights(weights: Sequence[Fraction]) -> None:
    if any(w <= 0 for w in weights):
        raise BadInput("the least M needs weights above 0.")


# --- normalisers that depend on the cohort ------------------------------------------------------------------


@dataclass(frozen=True)
class GeneralSampling:
    """A cohort with normalisers q_i^S (FedShuffleGen, Appendix E of FedShuffle).

    q: 1/q_i = E[1{i in S}/q_i^S]; Hmat[i, j] = E[q_i q_j/(q_i^S q_j^S) 1{i, j in S}], h its diagonal.
    """

    q: Vector
    hmat: fmpq_mat

    @property
    def h(self) -> Vector:
        """h_i."""
        return tuple(fraction(self.hmat[i, i]) for i in range(self.hmat.nrows()))

    def least(self, what: Sequence[Fraction]) -> tuple[Fraction, Vector]:
        """(M1, s): the least max of h_i s_i what_i, within a relative 1e-12, and the s_i = M1/(h_i what_i) it takes."""
        _check_weights(what)
        n = self.hmat.nrows()
        M1 = _least_bound(self.hmat - fmpq_mat(n, n, [fmpq(1)] * (n * n)), [1 / w for w in what])
        return M1, tuple(M1 / (h * w) for h, w in zip(self.h, what, strict=True))


def general_sampling(cohorts: Cohorts, normalisers: Sequence[Sequence[Fraction]]) -> GeneralSampling:
    """The constants of a cohort with its normalisers, by going through all cohorts.

    normalisers: for each cohort its q_i^S > 0, in the order of its clients. Raises BadInput where a client never takes
    part or the probabilities do not sum to 1.
    """
    n = 1 + max((i for _, cohort in cohorts for i in cohort), default=0)
    if sum((share for share, _ in cohorts), Fraction(0)) != 1:
        raise BadInput("the probabilities of the cohorts must sum to 1.")
    both = fmpq_mat(n, n)
    single = [fmpq(0)] * n
    for (share, cohort), norms in zip(cohorts, normalisers, strict=True):
        inverse = [rational(1 / v) for v in norms]
        weight = rational(share)
        for i, a in zip(cohort, inverse, strict=True):
            single[i] += weight * a
            for j, b in zip(cohort, inverse, strict=True):
                both[i, j] += weight * a * b
    missing = next((i for i, v in enumerate(single) if v == 0), None)
    if missing is not None:
        raise BadInput(f"client {missing} never takes part; every client needs a positive probability.")
    q = [1 / v for v in single]
    for i in range(n):
        for j in range(n):
            both[i, j] *= q[i] * q[j]
    return GeneralSampling(tuple(fraction(v) for v in q), both)
