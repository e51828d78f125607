"""The strongly quasi-convex function of SCGD, Appendix B: once differentiable, not convex, no unique minimiser.

F(x) = -1/4                        for x <= 1/2
       x^2 - x                     for 1/2 < x <= 1
       log x                       for 1 < x <= 3/2
       2x^2/9 + log(3/2) - 1/2     for x > 3/2

with the solution set (-oo, 1/2], so that dist2(x) = max(0, x - 1/2)^2. S. Ma, "Semi-Cyclic Gradient Descent
Outperforms Federated Averaging with Sufficiently Small Learning Rate".

Constants. F' has slopes 0, 2, -1/x^2, 4/9 on the pieces, so L = 2. The best mu at x is
2 (F* - F(x) + F'(x) (x - 1/2)) / (x - 1/2)^2; on (1/2, 1] it is 2, on (1, 3/2] it falls, on (3/2, oo) it rises
from the value at 3/2, 5/6 - log(9/4), which therefore is the largest mu (given here from below).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.linalg import precision, rational
from boundcheck.core.numbers import as_fraction, ball_ends, format_exact, round_down
from boundcheck.problems._instance import given
from boundcheck.problems._scalar import Real, ScalarInstance, of_equal_clients
from boundcheck.problems._specs import whole


def largest_mu() -> Constant:
    """5/6 - log(9/4) from below, to 13 digits."""
    with precision(128):
        exact = ball_ends(fmpq(5, 6) - arb(fmpq(9, 4)).log())[0]
    how = "5/6 - log(9/4), the least of 2(F* - F + F'(x)(x - 1/2))/(x - 1/2)^2, at x = 3/2; ball arithmetic"
    return Constant(round_down(exact), Known.CERTIFIED, "lower", how)


def value(x: Fraction) -> arb:
    """F(x) as a ball at flint's working precision."""
    if x <= Fraction(1, 2):
        return arb(fmpq(-1, 4))
    if x <= 1:
        return arb(rational(x * x - x))
    if x <= Fraction(3, 2):
        return arb(rational(x)).log()
    return arb(rational(2 * x * x / 9 - Fraction(1, 2))) + arb(fmpq(3, 2)).log()


@dataclass(frozen=True, repr=False)
class AppendixB(ScalarInstance):
    """n clients that all have f_i = F; start: x_0."""

    name: str
    spec: Mapping[str, Any]
    clients: int
    start: tuple[Fraction, ...]
    unimodal = ("dist2",)
    equal_clients = True

    def slope(self, client: int, x: Real) -> Real:
        """F'(x): 0, 2x - 1, 1/x, 4x/9."""
        if 2 * x <= 1:
            return x * 0
        if x <= 1:
            return 2 * x - 1
        return 1 / x if 2 * x <= 3 else 4 * x / 9

    def measure(self, name: str, x: Real) -> Real:
        """dist2 = max(0, x - 1/2)^2."""
        return x * 0 if 2 * x <= 1 else (x - type(x)(0.5)) ** 2

    def project(self, x: Real) -> Real:
        """min(x, 1/2)."""
        return x if 2 * x <= 1 else type(x)(0.5)

    def gap_bounds(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """F(x) + 1/4 in ball arithmetic of 128 bits."""
        with precision(128):
            return ball_ends(value(x) + arb(fmpq(1, 4)))

    def constants(self) -> Mapping[str, Constant]:
        """n, d, L = 2, mu from below, sigma2 = 0 (all gradients vanish on the solution set), dist2_0; equal clients."""
        return {
            **self.counted(),
            "L": given(2, "largest |F''| over the pieces: 0, 2, 1/x^2 < 1, 4/9"),
            "mu": largest_mu(),
            "sigma2": given(0, "every client is F, whose gradient is 0 on the solution set"),
            "dist2_0": given(self.measure("dist2", self.start[0]), "max(0, x_0 - 1/2)^2"),
            **of_equal_clients(2),
        }

    def objections(self) -> Mapping[str, str]:
        """F is concave on (1, 3/2]."""
        text = "F is log x on (1, 3/2] and so concave there."
        return {"convexity": text, "convex_clients": text}


def build(*, clients: Any = 1, start: Any = 2) -> AppendixB:
    """Appendix B's function on `clients` identical clients, from the start x_0 (default 2, beyond every kink)."""
    n, x0 = whole(clients, "clients", 1, 10**6), as_fraction(start, "start")
    spec = {"kind": "scgd_appendix_b", "clients": n, "start": format_exact(x0)}
    return AppendixB("the strongly quasi-convex function of SCGD, Appendix B", spec, n, (x0,))
