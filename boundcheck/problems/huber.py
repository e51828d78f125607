"""The Huber function on which gradient descent with step 1/L meets its bound after k steps.

f(x) = L x^2/2 for |x| <= delta, L (delta |x| - delta^2/2) beyond, from x_0 = R with delta = R/(2k + 1): each of
the k steps moves by delta, so that x_k = R - k delta and f(x_k) - f* = L R^2/(4k + 2), the worst case over all
L-smooth convex functions (Y. Drori and M. Teboulle, Performance of first-order methods for smooth convex
minimization: a novel approach, Mathematical Programming 145, 2014).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.certified.constant import Constant
from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.errors import BadInput
from boundcheck.problems._instance import given
from boundcheck.problems._scalar import Real, ScalarInstance, of_equal_clients
from boundcheck.problems._specs import whole


@dataclass(frozen=True, repr=False)
class Huber(ScalarInstance):
    """One client with the Huber function; L: curvature, delta: where it turns linear, start: x_0."""

    name: str
    spec: Mapping[str, Any]
    L: Fraction
    delta: Fraction
    start: tuple[Fraction, ...]
    unimodal = ("dist2", "gap", "grad2")
    equal_clients = True
    clients: int = 1

    def _objection(self, assumption: str) -> str | None:
        return None if assumption == "bounded_gradients" else super()._objection(assumption)

    def slope(self, client: int, x: Real) -> Real:
        """L x, cut off at +-L delta."""
        delta, L = type(x)(self.delta), type(x)(self.L)
        return L * max(-delta, min(delta, x))

    def measure(self, name: str, x: Real) -> Real:
        """dist2 = x^2, gap = f(x), grad2 = f'(x)^2."""
        if name == "dist2":
            return x * x
        if name == "grad2":
            return self.slope(0, x) ** 2
        delta, L = type(x)(self.delta), type(x)(self.L)
        size: Real = x if x >= 0 else -x
        return L * x * x / 2 if size <= delta else L * (delta * size - delta * delta / 2)

    def project(self, x: Real) -> Real:
        """0, the only minimiser."""
        return x * 0

    def constants(self) -> Mapping[str, Constant]:
        """n, d, L, the largest slope, sigma2 = 0, dist2_0 = R^2, gap_0 and those of one client, all exact."""
        return {
            **self.counted(),
            "L": given(self.L, "curvature of the Huber function"),
            "sigma2": given(0, "the only client is F, whose gradient is 0 at the minimiser"),
            "dist2_0": given(self.start[0] ** 2, "R^2"),
            "gap_0": given(self.measure("gap", self.start[0]), "f at the start"),
            "mu_ij": given(0, "the Huber function is convex, and linear beyond the kink"),
            "B_grad": given(self.L * self.delta, "slope beyond the kink"),
            **of_equal_clients(self.L),
        }

    def objections(self) -> Mapping[str, str]:
        """No mu > 0 serves all x."""
        return {
            "strong_quasi_convexity": "the Huber function grows linearly, so that no mu > 0 holds for all x.",
            "strongly_convex_samples": "the Huber function grows linearly, so that no mu > 0 holds for all x.",
        }


def build(*, L: Any = 1, R: Any = 1, k: Any = 10) -> Huber:
    """The Huber function that is worst for k steps of gradient descent with step 1/L from distance R."""
    curvature, radius = as_fraction(L, "L"), as_fraction(R, "R")
    if curvature <= 0 or radius <= 0:
        raise BadInput(f"L = {curvature} and R = {radius} are not allowed; both must be above 0.")
    steps = whole(k, "k", 0, 10**9)
    delta = radius / (2 * steps + 1)
    spec = {"kind": "huber", "L": format_exact(curvature), "R": format_exact(radius), "k": steps}
    return Huber(f"Huber function with L = {curvature} and kink at {delta}", spec, curvature, delta, (radius,))
