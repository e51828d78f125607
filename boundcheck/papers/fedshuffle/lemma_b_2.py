"""Lemma B.2: the linear rate of a recursion d_r <= (1 - mu eta) d_{r-1} - eta s_r + eta (c1 eta + c2 eta^2)."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

# the lemma as printed counts by R, and its average has R + 1 terms
ROUNDS = TERMS.but(name="R", meaning="the lemma's R; the average has R + 1 terms")
rounds = ROUNDS.expr
ORDER = mu * d0 * sp.exp(-mu * eta_max * rounds) + c1 / (mu * rounds)

# ell is never above mu*eta_max*K, where the step is eta_max: the cap changes no step and keeps c1 = c2 = 0 defined
noise = sp.Max(c1, c2 / (mu * K), mu**2 * K * d0 * sp.exp(-mu * eta_max * K))
ell = sp.Max(sp.Rational(1, 2), sp.log(sp.Max(1, mu**2 * K * d0 / noise)))
rest = (1 - mu * eta) ** K

# three terms of the sequence, for which the corrected lemma is compared
MEMBERS = tuple(nonnegative(f"d{r}", f"member {r} of the sequence", FREE) for r in (1, 2, 3))
sequence = (d0, *(member.expr for member in MEMBERS))
tuned = sp.Min(eta_max, ell.subs(K, 3) / (3 * mu))
increments = [
    ((1 - mu * tuned) * sequence[r - 1] - sequence[r]) / tuned + c1 * tuned + c2 * tuned**2 for r in (1, 2, 3)
]
weights = [(1 - mu * tuned) ** (1 - r) for r in (1, 2, 3)]
PSI = Metric.formula(
    RATE,
    sum((v * term for v, term in zip(weights, increments, strict=True))) / sum(weights),
    quantity="psi",
    expectation="none: the lemma is about any sequence",
    where={"K": sp.Integer(3)},
    meets=("weighted_increments",),
)

theorem = Theorem(
    source=Source(PAPER, "Lemma B.2", "Appendix B.2"),
    title="Linear rate at the step min(eta_max, ell/(mu K))",
    symbols=(*RECURSION, ROUNDS, *MEMBERS),
    metric=Metric.last("psi", RATE, expectation="none: the lemma is about any sequence"),
    assumptions=(
        Assumption(
            "weighted_increments",
            "d_0 = d0, all d_r >= 0; Psi is the mean of ((1 - mu*eta) d_{r-1} - d_r)/eta + c1*eta + c2*eta^2 over r = "
            "1, ..., K, r in proportion to v_r = (1 - mu*eta)^(1-r).",
        ),
    ),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            metric=PSI,
            bound=3 * mu * d0 * sp.exp(-mu * eta_max * K)
            + (3 + ell) * c1 / (mu * K)
            + (3 + ell**2) * c2 / (mu * K) ** 2,
            conditions=(
                Condition("largest step", eta_max < 1 / mu, "the weights exist"),
                Condition("enough terms", sp.Ge(K, 1 / (2 * mu * eta_max))),
            ),
            replaces="the step log(max(1, mu^2 R d0/c))/(mu R) by ell/(mu K), and the hidden constants by explicit "
            "ones",
            why="ell = max(1/2, log(max(1, min(mu^2 K d0/c1, mu^3 K^2 d0/c2)))), but at most mu*eta_max*K, serves both "
            "error terms: from that value on the step is eta_max, so that the cap changes no step, lowers the bound "
            "and covers c1 = c2 = 0. With a logarithm below 1/2 the printed step is too small for its own proof, which "
            "needs K >= 1/(2 mu eta) for the chosen eta. K counts the terms; the printed numerator of V_R has one too "
            "few.",
        ),
        "fixed_step": Reading(
            title="Linear rate at any step",
            bound=mu * d0 * rest / (1 - rest) + c1 * eta + c2 * eta**2,
            conditions=(Condition("step", eta < 1 / mu, "the weights exist"),),
            replaces="the tuned step by any step, and the estimate of the weights by their exact sum",
            why="The proof goes through it; no condition on the number of terms is left.",
        ),
        "as_printed": Reading(
            title="Linear rate as printed, the order with constant 1 and without its logarithm",
            bound=ORDER,
            conditions=(
                Condition("largest step", eta_max <= 1 / mu, "as printed, with the end point"),
                Condition("enough rounds", sp.Ge(rounds, 1 / (2 * mu * eta_max))),
            ),
            assumptions=(
                Assumption(
                    "weighted_increments",
                    "d_0 = d0, all d_r >= 0; Psi is the mean of ((1 - mu*eta) d_{r-1} - d_r)/eta + c1*eta over r = 1, "
                    "..., R + 1, r in proportion to v_r = (1 - mu*eta)^(1-r), for some step eta of at most eta_max.",
                ),
            ),
            belief=Belief.OPEN,
            remark="Printed as an equation with an order that hides constants and logarithms, for some step up to "
            "eta_max. The existence of such a step survives in the corrected reading. The lemma allows eta_max = 1/mu; "
            "the step 1/mu itself has no weights, because 1 - mu*eta is 0, so that a smaller one must be taken there.",
            printed_rate=ORDER,
        ),
    },
)
