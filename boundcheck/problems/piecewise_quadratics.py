"""Clients on the line that are convex, quadratic between rational knots and linear beyond: bounded gradients, exactly.

Sample j of client i has the slope that is given at its knots, linear between them and constant beyond. With two knots
it is a Huber function or a smoothed absolute value. f_i is the mean of its samples and F = sum of w_i f_i. Everything
that statements name is then rational: minimisers, gaps, and B, the largest slope of a sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from boundcheck.certified.constant import Constant
from boundcheck.certified.slopes import Slope, mixed, number
from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.problems._quadratic import check_weights
from boundcheck.problems._scalar import Real, ScalarInstance, given

_HOLDS = (
    *("smooth_samples", "convex_samples", "convex_clients", "bounded_below", "bounded_gradients"),
    *("gradient_dissimilarity", "finite_gradient_noise"),
)
_LINEAR = "every sample is linear beyond its knots, so that no mu > 0 holds for all x."


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseQuadratics(ScalarInstance):
    """A problem of that kind.

    name: see `Problem`. source: the specification. slopes: of the samples, one tuple a client. shares: w_i,
    summing to 1. start: x_0. reported: the weights that the clients report where they are others.
    """

    name: str
    source: Mapping[str, Any]
    slopes: tuple[tuple[Slope, ...], ...]
    shares: tuple[Fraction, ...]
    start: tuple[Fraction, ...]
    reported: tuple[Fraction, ...] | None = None
    unimodal = ("dist2", "gap", "grad2")
    arithmetics = ("rational", "ball", "float64")

    def __post_init__(self) -> None:
        if self.whole.zeros is None:
            raise BadInput(f"the objective of '{self.name}' falls or rises everywhere, so that it has no minimum.")

    @property
    def spec(self) -> Mapping[str, Any]:
        """Rebuilds the problem."""
        return self.source

    @property
    def clients(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of clients."""
        return len(self.slopes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Samples of each client."""
        return tuple(len(own) for own in self.slopes)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """w_i."""
        return self.shares

    @property
    def client_weights(self) -> tuple[Fraction, ...]:
        """The weights that the clients report."""
        return self.shares if self.reported is None else self.reported

    @cached_property
    def client_slopes(self) -> tuple[Slope, ...]:
        """f_i' of each client."""
        return tuple(mixed((Fraction(1, len(own)), s) for s in own) for own in self.slopes)

    @cached_property
    def whole(self) -> Slope:
        """F'."""
        return mixed(zip(self.shares, self.client_slopes, strict=True))

    def reweighted(self, weights: tuple[Fraction, ...]) -> PiecewiseQuadratics:
        """The same clients under other weights, which report what they reported before."""
        spec = {"kind": "surrogate", "of": dict(self.spec), "weights": [format_exact(w) for w in weights]}
        name = f"{self.name}, reweighted"
        return PiecewiseQuadratics(name, spec, self.slopes, weights, self.start, self.client_weights)

    # --- what runs see: the kind of number that comes in goes out ---------------------------------------------------

    def gradient_of(self, client: int, sample: int | None, x: Sequence[Any]) -> list[Any]:
        """(f_ij'(x),), or (f_i'(x),) for sample None."""
        return [(self.client_slopes[client] if sample is None else self.slopes[client][sample]).at(x[0])]

    def metric_of(self, name: str, x: Sequence[Any]) -> Any:
        """dist2 to the nearest minimiser, gap = F(x) - F*, grad2 = F'(x)^2, x."""
        return x[0] if name == "x" else self.measure(name, x[0])

    def slope(self, client: int, x: Real) -> Real:
        """f_client'(x)."""
        return self.client_slopes[client].at(x)

    def measure(self, name: str, x: Any) -> Any:
        """See `metric_of`."""
        if name == "dist2":
            return (x - self.whole.nearest_zero(x)) ** 2
        if name == "grad2":
            return self.whole.at(x) ** 2
        return self.whole.area(x) - number(self._least, x)

    @cached_property
    def _minimiser(self) -> Fraction:
        """The one nearest to the start."""
        return self.whole.nearest_zero(self.start[0])

    @cached_property
    def _least(self) -> Fraction:
        """F*, less F at the first knot of F."""
        return self.whole.area(self._minimiser)

    def project(self, x: Real) -> Real:
        """The minimiser nearest to x."""
        return self.whole.nearest_zero(x)

    def vanishes_between(self, low: Fraction, high: Fraction) -> bool:
        """Whether [low, high] meets the minimisers."""
        return low <= self.whole.nearest_zero(low) <= high

    # --- constants and hypotheses -----------------------------------------------------------------------------------

    def constants(self) -> Mapping[str, Constant]:
        """n, d, L (clients), L_ij and B_grad (samples), sigma2, G2 with B2 = 1, dist2_0, gap_0, grad2_0, all exact."""
        samples = [s for own in self.slopes for s in own]
        start = self.start[0]
        return {
            "n": given(self.clients, "counted: clients"),
            "d": given(1, "counted: coordinates"),
            "L": given(max(s.steepest for s in self.client_slopes), "largest curvature of a client"),
            "L_ij": given(max(s.steepest for s in samples), "largest curvature of a sample"),
            "mu_ij": given(0, "the samples are convex, and linear beyond their knots"),
            "sigma2": given(
                sum((s.at(self._minimiser) ** 2 for s in self.client_slopes), Fraction(0)) / self.clients,
                "mean of the clients' squared slopes at the minimiser",
            ),
            "B_grad": given(max(s.bound for s in samples), "largest slope of a sample"),
            "B2": given(1, "chosen; G2 is for this"),
            # a variance of functions that are linear between knots is convex there
            "G2": given(
                max(self._variance(k) for own in self.client_slopes for k in own.knots),
                "largest variance of the clients' slopes, at a knot",
            ),
            "dist2_0": given((start - self._minimiser) ** 2, "squared distance of the start to the nearest minimiser"),
            "gap_0": given(self.measure("gap", start), "F(x_0) - F*"),
            "grad2_0": given(self.measure("grad2", start), "F'(x_0)^2"),
        }

    def _variance(self, x: Fraction) -> Fraction:
        """Sum of w_i f_i'(x)^2 less F'(x)^2."""
        own = sum((w * s.at(x) ** 2 for w, s in zip(self.shares, self.client_slopes, strict=True)), Fraction(0))
        return own - self.whole.at(x) ** 2

    def objections(self) -> Mapping[str, str]:
        """No mu > 0 serves all x."""
        alike = len(set(self.shares)) == 1
        unlike = {} if alike else {"plain_mean": "its clients have different weights, so that F is not their mean."}
        return {"strong_quasi_convexity": _LINEAR, "strongly_convex_samples": _LINEAR, **unlike}

    def violations(self, assumption: str) -> str | None:
        """As for all problems on the line; every sample is convex and smooth, with a bounded slope."""
        return None if assumption in _HOLDS else super().violations(assumption)


def _list(values: Any, name: str) -> tuple[Fraction, ...]:
    if isinstance(values, str | Mapping) or not hasattr(values, "__iter__"):
        raise BadInput(f"{name} = {shown(repr(values))} is not allowed; it must be a list of numbers.")
    return tuple(as_fraction(v, name) for v in values)


def _slope(given: Any, where: str) -> Slope:
    if not isinstance(given, Mapping) or not {"knots", "slopes"} <= set(given):
        raise BadInput(f"{where} must be a table with knots and slopes, such as {{knots = [-1, 1], slopes = [-1, 1]}}.")
    for key in given:
        if key not in ("knots", "slopes"):
            raise UnknownName(f"{where}: key", str(key), ("knots", "slopes"))
    try:
        return Slope(_list(given["knots"], "knots"), _list(given["slopes"], "slopes"))
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def build(
    *, clients: Sequence[Any], weights: Sequence[Any] | None = None, start: Any = 1, name: str = ""
) -> PiecewiseQuadratics:
    """A sum of convex functions on the line that are quadratic between knots and linear beyond.

    clients: one table a client, either {knots = [-1, 1], slopes = [-1, 1]} (the slope at each knot; linear between,
    constant beyond) or {components = [such tables]}, of which f_i is the mean. weights: default 1/n each. start:
    default 1. Raises BadInput and UnknownName.
    """
    if isinstance(clients, str | Mapping) or not hasattr(clients, "__iter__") or not clients:
        raise BadInput("clients must be a list of tables, such as [{knots = [-1, 1], slopes = [-1, 1]}].")
    parts: list[tuple[Slope, ...]] = []
    for i, client in enumerate(clients):
        inner: Any = [client]
        if isinstance(client, Mapping) and "components" in client:
            inner = client["components"]
            if len(client) > 1 or isinstance(inner, str | Mapping) or not isinstance(inner, Iterable) or not inner:
                raise BadInput(f"client {i} must be one table, or {{components = [a list of tables]}}.")
        parts.append(tuple(_slope(c, f"client {i}") for c in inner))
    n = len(parts)
    shares = (Fraction(1, n),) * n if weights is None else check_weights(_list(weights, "weights"))
    if len(shares) != n:
        raise BadInput(f"{len(shares)} weights were given for {n} clients.")
    first: Any = start[0] if isinstance(start, list | tuple) and len(start) == 1 else start
    x0 = as_fraction(first, "start")
    tables = [[{k: [format_exact(v) for v in getattr(s, f)] for k, f in _FIELDS} for s in own] for own in parts]
    spec: dict[str, Any] = {"kind": "piecewise_quadratics", "start": format_exact(x0)}
    spec["clients"] = [own[0] if len(own) == 1 else {"components": own} for own in tables]
    if weights is not None:
        spec["weights"] = [format_exact(w) for w in shares]
    if name:
        spec["name"] = name
    title = name or f"{n} piecewise quadratic client{'s' if n > 1 else ''} on the line"
    return PiecewiseQuadratics(title, spec, tuple(parts), shares, (x0,))


_FIELDS = (("knots", "knots"), ("slopes", "values"))
