"""Section 4.1: where FedAvg with reshuffling ends when clients hold different amounts of data.

On equation (36) with 1, 2 and 3 samples everything is known: a visit of client i maps x to (1-eta)^(E |D_i|) x plus
eta times a randomly ordered geometric sum of its unit vectors, so that mean and variance of the iterate are explicit.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

OWN = (
    SYMBOLS["eta_l"].but(dimension=ONE, high=Fraction(1), meaning="step size of a local step; L = 1"),
    count("batch", "samples of a local step", key="method/batch", latex="|B|"),
    positive("b", "expected number of clients in a round", key="participation/b"),
    count("d", "dimension of the variable", key="objective/dimension"),
    SYMBOLS["R"].but(low=Fraction(0)),
)
batch, b, d = (symbol.expr for symbol in OWN[1:4])

SIZES = (1, 2, 3)  # samples of the clients
SAMPLES = sum(SIZES)
keep = 1 - eta_l  # factor of a local step
weights = [sp.Rational(size, SAMPLES) for size in SIZES]
factor = sum(w * keep ** (E * size) for w, size in zip(weights, SIZES, strict=True))  # of a round, on the mean
move = sum(w * (1 - keep ** (E * size)) for w, size in zip(weights, SIZES, strict=True))


def order_variance(size: int) -> sp.Expr:
    """E|y - Ey|^2 of one client's visit over the orders of its samples, E epochs with fresh orders."""
    if size == 1:
        return sp.S.Zero
    parts = [eta_l * keep**k for k in range(size)]
    epoch = sum(c**2 for c in parts) - sum(parts) ** 2 / size
    return epoch * (1 - keep ** (2 * size * E)) / (1 - keep ** (2 * size))


# E F(x^R) - F* from x^0 = 0: half the squared distance of the mean, and half the variance
distance = sp.S.Zero
for w, size in zip(weights, SIZES, strict=True):
    coordinate = w * (1 - keep ** (E * size)) / (size * move)
    distance += size * ((1 - factor**R) * coordinate - sp.Rational(1, SAMPLES)) ** 2
fresh = sum(w**2 * order_variance(size) for w, size in zip(weights, SIZES, strict=True))
variance = fresh * (1 - factor ** (2 * R)) / (1 - factor**2)

CONDITIONS = (
    Condition("full participation", sp.Eq(b, len(SIZES)), "all three clients in every round"),
    Condition("server step size", sp.Eq(eta_g, 1)),
    Condition("batch", sp.Eq(batch, 1)),
    Condition("dimension", sp.Eq(d, SAMPLES), "six samples"),
    Condition("sizes", sp.Eq(sigma2, sp.Rational(7, 36)), "of six samples only 1 + 2 + 3 have this"),
)

theorem = Theorem(
    source=Source(PAPER, "Section 4.1", "the limit of FedAvg; the weights again in Appendix E.2"),
    title="FedAvgRR on (36): the exact expected gap",
    symbols=(*NOTATION, *OWN),
    algorithm=Algorithm("fedavg_rr", ("E", "eta_l", "eta_g", "batch")),
    metric=Metric.last("gap", None, index=R, expectation=COHORTS),
    assumptions=(instance("fedshuffle_36"), zero_at_start),
    readings={
        "corrected": Reading(
            bound=(distance + variance) / 2,
            kind=Kind.EQUALITY,
            conditions=CONDITIONS,
            belief=Belief.TRUE,
            replaces="the limit with the weights |D_i|^2/sum of |D_j|^2 at every sufficiently small step size",
            why="Client i pulls with w_i (1 - (1-eta)^(E |D_i|)), which is proportional to |D_i|^2 only as eta -> 0, "
            "and the order of the samples adds a variance. Theorem E.1 bounds the gap of fhat, with error terms.",
        ),
        "as_printed": Reading(
            title="FedAvgRR on (36): the limit as printed",
            bound=sp.Rational(5, 588),
            kind=Kind.LIMIT,
            conditions=(
                *CONDITIONS,
                Condition("small step", E * eta_l <= 1, "'sufficiently small'; no threshold is printed"),
            ),
            belief=Belief.FALSE,
            remark="The gap of the printed limit, whose coordinates are (1,2,2,3,3,3)/14. At eta = 1/8 the exact limit "
            "is 0.00694; the two agree as eta -> 0 only.",
        ),
    },
)
