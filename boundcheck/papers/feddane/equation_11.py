"""Equation (11): the variance of the averaged gradient; printed again as (18) and (26).

Compared where the variance is enumerated: two draws from two devices with the weights p and 1 - p, or two of three
devices without replacement, in one dimension.
"""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

OWN = (
    nonnegative("f2_0", "squared value of f at w^{t-1}", VALUE * VALUE, "f(w^{t-1})^2"),
    count("n", "number of devices", 2, key="clients/n"),
)
f2_0, n = (symbol.expr for symbol in OWN)
DATA = (
    share("p", "weight of the first of two devices"),
    *(Symbol(f"g{k}", f"gradient of device {k}", VALUE / LENGTH) for k in (1, 2, 3)),
    Symbol("f0", "value of f at w^{t-1}", VALUE),
)
p, g1, g2, g3, f0 = (symbol.expr for symbol in DATA)

of_two, of_three = p * g1 + (1 - p) * g2, (g1 + g2 + g3) / 3  # grad f
both, mixed = p**2 * (g1 - of_two) ** 2, 2 * p * (1 - p) * ((g1 + g2) / 2 - of_two) ** 2
two_draws = both + mixed + (1 - p) ** 2 * (g2 - of_two) ** 2
B2_of_two = (p * g1**2 + (1 - p) * g2**2) / of_two**2
K_is_2 = sp.Integer(2)

theorem = Theorem(
    source=Source(PAPER, "equation (11)", "Appendix V-D; again (18) and (26)"),
    title="Bound of E|g - grad f|^2 for the plain mean g of the gradients of S_t",
    symbols=(*NOTATION, *OWN, *DATA),
    metric=Metric.formula(GRADIENT2, two_draws, where={"B2": B2_of_two, "grad2_0": of_two**2}),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=(B2 - 1) * grad2_0,
            replaces="|f|^2 by |grad f|^2",
            why="Definition 2 is about gradients; as printed the sides have different units.",
        ),
        "as_printed": Reading(
            bound=(B2 - 1) * f2_0,
            metric=Metric.formula(GRADIENT2, two_draws, where={"B2": B2_of_two, "f2_0": f0**2}),
            belief=Belief.FALSE,
            remark="The last norm lacks its gradient.",
        ),
        "sharp": Reading(
            bound=(B2 - 1) * grad2_0 / K,
            metric=Metric.formula(GRADIENT2, two_draws, where={"B2": B2_of_two, "grad2_0": of_two**2, "K": K_is_2}),
            kind=Kind.EQUALITY,
            replaces="the factor 1 by 1/K",
            why="K independent draws with the probabilities p_k; with equality at the B of Definition 2.",
        ),
        "uniform_without_replacement": Reading(
            bound=(B2 - 1) * grad2_0 * (n - K) / (K * (n - 1)),
            metric=Metric.formula(
                GRADIENT2,
                sum(((a + b) / 2 - of_three) ** 2 for a, b in ((g1, g2), (g1, g3), (g2, g3))) / 3,
                where={
                    "B2": (g1**2 + g2**2 + g3**2) / 3 / of_three**2,
                    "grad2_0": of_three**2,
                    "K": K_is_2,
                    "n": sp.Integer(3),
                },
            ),
            kind=Kind.EQUALITY,
            replaces="the factor 1 by (n - K)/(K (n - 1)), for equal weights and K of n devices without replacement",
            why="The covariance of two members is -1/(n - 1) of the variance; it vanishes with all devices.",
        ),
    },
)
