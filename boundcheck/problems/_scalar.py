"""What instances in dimension 1 share whose objectives are not quadratic.

Slopes and metrics are written once for floats and Fractions; a run is enclosed by running the two ends of an
interval, which is rigorous where the step maps are monotone.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant
from boundcheck.errors import UnknownName
from boundcheck.problems._instance import ASSUMPTIONS, OF_SAMPLES, Instance, given, unknown
from boundcheck.problems.problem import Vector

Real = TypeVar("Real", float, Fraction)


def of_equal_clients(L: Fraction | int) -> dict[str, Constant]:
    """The constants of samples and of dissimilarity where every client is F with one sample; L: the smoothness of F."""
    same = "every client is F, with one sample"
    zeros = {name: given(0, same) for name in ("G2", "P2", "noise2", "delta")}
    return {"L_ij": given(L, f"the smoothness of F; {same}"), "B2": given(1, same), **zeros}


class ScalarInstance(Instance):
    """A problem on the line; a subclass is a frozen dataclass that gives `slope`, `measure` and `objections`.

    unimodal: metrics that fall and then rise along the line (their minimum over an interval that meets their
    zeros is 0, otherwise it is at an end). equal_clients: whether every client is F, which has a minimiser, with one
    sample; it then answers the hypotheses on samples and dissimilarity too.
    """

    unimodal: ClassVar[tuple[str, ...]] = ()
    equal_clients: ClassVar[bool] = False
    name: str
    spec: Mapping[str, Any]
    start: tuple[Fraction, ...]
    clients: int

    @property
    def dim(self) -> int:
        """1."""
        return 1

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """1/n for each of the n clients."""
        return (Fraction(1, self.clients),) * self.clients

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names that `metric` accepts."""
        return (*self.unimodal, "x")

    def slope(self, client: int, x: Real) -> Real:
        """f_client'(x)."""
        raise TypeError(f"{type(self).__name__} defines no slope.")

    def measure(self, name: str, x: Real) -> Real:
        """A metric other than "x"."""
        raise TypeError(f"{type(self).__name__} defines no metric.")

    def constants(self) -> Mapping[str, Constant]:
        """Constants by name."""
        raise TypeError(f"{type(self).__name__} defines no constants.")

    def objections(self) -> Mapping[str, str]:
        """Assumptions of `ASSUMPTIONS` that fail, each with the reason."""
        return {}

    def _objection(self, assumption: str) -> str | None:
        if assumption not in ASSUMPTIONS:
            raise unknown(assumption)
        found = self.objections()
        if assumption in found or assumption not in OF_SAMPLES:
            return found.get(assumption)
        like = {
            "smooth_samples": "smooth_clients",
            "convex_samples": "convexity",
            "client_smoothness": "smooth_clients",
        }
        trivial = ("gradient_dissimilarity", "relaxed_dissimilarity", "local_variance", "hessian_similarity")
        trivial += ("dissimilarity_at_start", "bounded_dissimilarity")
        if self.equal_clients and assumption in like:
            return found.get(like[assumption])
        if self.equal_clients and assumption in (*trivial, "bounded_below"):
            return None
        convex = assumption in ("strongly_convex_samples", "convex_samples")
        if self.equal_clients and convex and "convexity" in found:
            return found["convexity"]
        raise unknown(assumption, set(ASSUMPTIONS) - set(OF_SAMPLES))

    def gradient(self, client: int, x: Vector) -> Vector:
        """(f_client'(x),), float64 or exact as x is."""
        value = self.slope(client, x[0] if x.dtype == object else float(x[0]))
        out: Any = np.array([value], dtype=x.dtype)
        return out

    def metric(self, name: str, x: NDArray[Any]) -> Any:
        """A metric at x (1,), float64 or exact as x is. Raises UnknownName for other names."""
        x = np.asarray(x)
        if name not in self.metrics:
            raise UnknownName("the metric", name, self.metrics)
        value = x[0] if x.dtype == object else float(x[0])
        return value if name == "x" else self.measure(name, value)

    def project(self, x: Real) -> Real:
        """The minimiser nearest to x."""
        raise TypeError(f"{type(self).__name__} has no solution set.")

    def nearest(self, x: Vector) -> Vector:
        """The minimiser nearest to x (1,), float64 or exact as x is."""
        out: Any = np.array([self.project(x[0] if x.dtype == object else float(x[0]))], dtype=x.dtype)
        return out

    def metric_range(self, name: str, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Exact bounds of a metric over the interval [low, high] of points."""
        if name == "x":
            return low, high
        ends = self.measure(name, low), self.measure(name, high)
        # the solution set is an interval, on which the unimodal metrics are 0
        return (Fraction(0) if low <= self.project(low) <= high else min(ends)), max(ends)
