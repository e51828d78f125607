"""From the recursions to rates: what Lemmas B.2 and B.3 give at a fixed and at a tuned step.

The recursion of all three regimes is d_r <= (1 - q) d_{r-1} - et * metric_{r-1} + et (c1 et + c2 et^2), with the
effective step et and q = mu et/2 (0 without strong convexity); d_0 is the start's distance or gap times a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import L, R, et, mu
from boundcheck.theory.statement import ROUND


@dataclass(frozen=True)
class Terms:
    """Constants of a recursion after division by the coefficient of the metric. d0, c1, c2: SymPy expressions."""

    d0: Any
    c1: Any
    c2: Any

    def fixed(self, step: Any = et) -> Any:
        """Plain mean over R rounds (Lemma B.3 before its choice of the step)."""
        return self.d0 / (step * R) + self.c1 * step + self.c2 * step**2

    def fixed_strongly_convex(self, step: Any = et) -> Any:
        """Mean over R rounds with the weights of `strongly_convex_weights`; the geometric sum is exact."""
        rest = (1 - mu * step / 2) ** R
        return mu / 2 * self.d0 * rest / (1 - rest) + self.c1 * step + self.c2 * step**2

    def tuned_step(self, beta: Any) -> Any:
        """The effective step that Lemma B.3 takes: min(1/(4 beta L), sqrt(d0/(c1 R)), (d0/(c2 R))^(1/3)).

        Written as one over a maximum, so that c1 = 0 and c2 = 0 are their limits.
        """
        return 1 / sp.Max(4 * beta * L, sp.sqrt(self.c1 * R / self.d0), sp.cbrt(self.c2 * R / self.d0))

    def tuned(self, beta: Any) -> Any:
        """Plain mean over R rounds at `tuned_step`."""
        largest = 4 * beta * L * self.d0 / R
        return largest + 2 * sp.sqrt(self.c1 * self.d0 / R) + 2 * sp.cbrt(self.c2) * sp.cbrt(self.d0 / R) ** 2

    def logarithm(self, beta: Any) -> Any:
        """ell of `tuned_step_strongly_convex`: max(1/2, log of the smaller of m^2 R d0/c1 and m^3 R^2 d0/c2), m = mu/2.

        It never exceeds m R/(4 beta L), at which the step is the largest allowed one; the cap changes no step and keeps
        c1 = c2 = 0 defined.
        """
        start = (mu / 2) ** 2 * R * self.d0
        noise = sp.Max(self.c1, self.c2 / (mu / 2 * R), start * sp.exp(-mu * R / (8 * beta * L)))
        return sp.Max(sp.Rational(1, 2), sp.log(sp.Max(1, start / noise)))

    def tuned_step_strongly_convex(self, beta: Any) -> Any:
        """The effective step min(1/(4 beta L), 2 ell/(mu R)): Lemma B.2 for two error terms, with mu/2 for its mu."""
        return sp.Min(1 / (4 * beta * L), 2 * self.logarithm(beta) / (mu * R))

    def tuned_strongly_convex(self, beta: Any) -> Any:
        """Weighted mean over R >= 4 beta L/mu rounds at `tuned_step_strongly_convex`."""
        half, ell = mu / 2, self.logarithm(beta)
        start = 3 * half * self.d0 * sp.exp(-mu * R / (8 * beta * L))
        return start + (3 + ell) * self.c1 / (half * R) + (3 + ell**2) * self.c2 / (half * R) ** 2


def strongly_convex_weights(step: Any = et) -> Any:
    """Weights of x^r in the theorems' output, up to a constant factor."""
    return (1 - mu * step / 2) ** -ROUND


WEIGHTED = "over the rounds 0 to R-1, round r in proportion to (1 - mu*et/2)^(-r), et the effective step"
PLAIN = "over the rounds 0 to R-1, all alike"
