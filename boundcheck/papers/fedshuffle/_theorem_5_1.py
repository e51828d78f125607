"""The three regimes of Theorem 5.1: constants of their recursions, conditions, reasons.

The printed theorem hides all constants, so that its explicit form is read off the end of Appendix C, as printed there:
without the factor L in the middle term (18 L instead of 18 L^2 without convexity), and with Section 5's definitions of
P^2 and sigma^2, which are three times those of Lemma C.2. Averages run over the R rounds of Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._rates import PLAIN, WEIGHTED, Terms, strongly_convex_weights
from boundcheck.papers.fedshuffle._shared import (
    B_AT_LEAST_1,
    COHORTS_AND_ORDERS,
    CONVEX,
    G2,
    LOST_L,
    MU_AT_MOST_L,
    NONCONVEX,
    PAPER,
    SERVER_AT_LEAST_1,
    STRONGLY_CONVEX,
    SYMBOLS,
    E,
    H,
    H_main,
    L,
    M,
    R,
    Reading,
    beta,
    beta_c,
    dist2_0,
    et,
    eta_g,
    gap_0,
    mu,
    of_data,
    step_condition,
    symbols_in,
)
from boundcheck.theory.assumptions import Assumption, gradient_dissimilarity, relaxed_dissimilarity
from boundcheck.theory.dimension import GRADIENT2, VALUE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source, Statement

EFFECTIVE = "on the effective step E*eta_g*eta_l of a round"
TO_E2 = eta_g**2 * E**2

CORRECTED = Reading(
    "corrected",
    Belief.TRUE,
    replaces="the middle term without the factor L, and the coefficients 4, 18 and 10 after the division by et/10",
    why=f"{LOST_L}. The line before the last of the proof gives 20 M G^2 and 90 L H; the sum of the weights is kept "
    "exactly, so that no number of rounds is too small.",
)
SHARP = Reading(
    "sharp",
    Belief.TRUE,
    replaces="the coefficients 10, 20 and 90 of the paper's recursion by 1, 2 and 5",
    why="Both lemmas share one step condition, and (1 + M B^2)/beta and (1 + P) B/beta sum to 1: with them the gap "
    "keeps the coefficient et instead of et/10. P^2 and sigma^2 are those of Lemma C.2, a third of Section 5's.",
)
NONCONVEX_CORRECTED = Reading(
    "corrected",
    Belief.TRUE,
    replaces="the middle term with L by one with L^2",
    why=f"{LOST_L}. The coefficients 8, 8 and 18 of the printed proof are kept.",
)
NONCONVEX_SHARP = Reading(
    "sharp",
    Belief.TRUE,
    replaces="the coefficients 8, 8 and 18 of the paper's recursion by 4, 4 and 6",
    why="Both lemmas share one step condition, and (1 + M B^2)/beta and (1 + P) B/beta sum to 1: with them the "
    "gradient keeps the coefficient et/4 instead of et/8. P^2 and sigma^2 are those of Lemma C.2, a third of those of "
    "Section 5.",
)
AS_PRINTED = Reading(
    "as_printed",
    Belief.FALSE,
    remark="The middle term has not the unit of the left side, so that scaling f breaks the bound.",
)

CONVEX_TERMS = {
    "as_printed": Terms(10 * dist2_0, 20 * M * G2, 90 * H_main / TO_E2),
    "corrected": Terms(10 * dist2_0, 20 * M * G2, 90 * L * H_main / TO_E2),
    "sharp": Terms(dist2_0, 2 * M * G2, 5 * L * H / TO_E2),
}
NONCONVEX_TERMS = {
    "as_printed": Terms(8 * gap_0, 8 * M * L * G2, 18 * L * H_main / TO_E2),
    "corrected": Terms(8 * gap_0, 8 * M * L * G2, 18 * L**2 * H_main / TO_E2),
    "sharp": Terms(4 * gap_0, 4 * M * L * G2, 6 * L**2 * H / TO_E2),
}
# the last display on strong convexity: c1 = 4MG^2, c2 = 18(...) and d = 10D do not follow from the line before
PRINTED_END = Terms(10 * dist2_0, 4 * M * G2, 18 * H_main / TO_E2)

HORIZON = SYMBOLS["R"].but(index=False, meaning="communication rounds, set beforehand", free=True)


def beta_of(reading: str) -> Any:
    """The beta of a reading: with the P^2 of Lemma C.2 in the sharp one, with Section 5's otherwise."""
    return beta_c if reading == "sharp" else beta


@dataclass(frozen=True)
class Regime:
    """What the fixed and the tuned statement of one bullet have in common."""

    label: str
    assumptions: tuple[Assumption, ...]
    strongly_convex: bool = False
    convex: bool = True

    def printed_assumptions(self) -> tuple[Assumption, ...]:
        """The hypotheses as the theorem names them: Assumption 3.3 with (4)."""
        return tuple(gradient_dissimilarity if a is relaxed_dissimilarity else a for a in self.assumptions)

    def metric(self, index: str | None) -> Metric:
        """The output's gap, or squared gradient, after R rounds."""
        return Metric(
            "gap" if self.convex else "grad2",
            VALUE if self.convex else GRADIENT2,
            index=index,
            rounds=R,
            average=WEIGHTED if self.strongly_convex else PLAIN,
            expectation=f"{COHORTS_AND_ORDERS}, and the round of the output",
            weights=strongly_convex_weights() if self.strongly_convex else sp.S.One,
        )

    def statement(
        self,
        reading: Reading,
        title: str,
        bound: Any,
        conditions: tuple[Condition, ...],
        *,
        choices: tuple[tuple[str, Any], ...] = (),
        printed_rate: Any = None,
    ) -> Statement:
        """One reading; with choices R is one number of rounds, without it counts."""
        fixed = not choices
        metric = self.metric("R" if fixed else None)
        trivial = gap_0 if self.convex else 2 * L * gap_0
        domain = (MU_AT_MOST_L,) if self.strongly_convex else ()
        parts = [bound, trivial, metric.weights, metric.rounds, *domain, *conditions]
        parts += [expr for _, expr in choices] + ([] if printed_rate is None else [printed_rate])
        rounds = SYMBOLS["R"] if fixed else HORIZON
        parameters = ("E", "eta_l", "eta_g")
        return Statement(
            source=Source(PAPER, "Theorem 5.1", f"Section 5, {self.label}; constants from Appendix C"),
            reading=reading.name,
            title=title,
            symbols=symbols_in(*parts, also=parameters, R=rounds),
            metric=metric,
            bound=bound,
            algorithm=Algorithm("fedshuffle", parameters),
            domain=domain,
            conditions=conditions,
            assumptions=of_data(self.printed_assumptions() if reading.name == "as_printed" else self.assumptions),
            trivial=trivial,
            belief=reading.belief,
            replaces=reading.replaces,
            why=reading.why,
            remark=reading.remark,
            printed_rate=printed_rate,
            choices=choices,
        )


STRONG = Regime("strongly convex", STRONGLY_CONVEX, strongly_convex=True)
GENERAL = Regime("general convex", CONVEX)
WITHOUT = Regime("non-convex", NONCONVEX, convex=False)


def fixed_conditions(reading: str) -> tuple[Condition, ...]:
    """The step condition, eta_g >= 1, and B >= 1, which the theorem does not print."""
    found = (step_condition(et, beta_of(reading), EFFECTIVE), SERVER_AT_LEAST_1)
    return found if reading == "as_printed" else (*found, B_AT_LEAST_1)


ROUNDS_PRINTED = Condition("rounds", sp.Ge(R, 4 * beta * L / mu), "so that a step of 1/(mu R) is allowed")
# where the tuned step is no number, the theorem says nothing either
NOT_AT_THE_MINIMISER = Condition("start", sp.Gt(dist2_0, 0), "the start is no minimiser")
NOT_MINIMAL = Condition("start", sp.Gt(gap_0, 0), "the start is no minimum")


def printed_step_strongly_convex() -> Any:
    """The effective step of Appendix C as printed: min(log(max(1, mu^2 R d/c1))/(mu R), 1/(4 beta L)).

    The minimum is taken under the logarithm, so that c1 = 0 (every client takes part) is its limit.
    """
    start = mu**2 * R * PRINTED_END.d0
    noise = sp.Max(PRINTED_END.c1, start * sp.exp(-mu * R / (4 * beta * L)))
    return sp.log(sp.Max(1, start / noise)) / (mu * R)


MIDDLE = H_main / TO_E2
RATE_STRONG = M * G2 / (mu * R) + MIDDLE / (mu * R) ** 2 + mu * dist2_0**2 * sp.exp(-mu * R / (8 * beta * L))
RATE_GENERAL = sp.sqrt(dist2_0 * M * G2 / R) + sp.cbrt(dist2_0 / R) ** 2 * sp.cbrt(MIDDLE) + L * dist2_0 * beta / R
RATE_WITHOUT = sp.sqrt(gap_0 * M * L * G2 / R) + sp.cbrt(gap_0 / R) ** 2 * sp.cbrt(L * MIDDLE) + L * gap_0 * beta / R
