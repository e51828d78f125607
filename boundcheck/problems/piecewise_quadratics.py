"""Clients on the line that are quadratic between rational knots and beyond them, convex or not: everything is exact.

Sample j of client i has the slope that is given at its knots, linear between them. Beyond the knots the slope is
constant, or has the curvature that is given. With two knots and no curvature beyond, a sample is a Huber function or a
smoothed absolute value. f_i is the mean of its samples and F = sum of w_i f_i. Everything that statements name is then
rational: minimisers, gaps, strong convexity, and B, the largest slope of a sample, where it exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from flint import arb

from boundcheck.certified.constant import Constant
from boundcheck.certified.slopes import Slope, mixed, number
from boundcheck.core.numbers import as_fraction, ball_ends, format_exact
from boundcheck.errors import BadInput, Unsupported
from boundcheck.problems._instance import given
from boundcheck.problems._scalar import Real, ScalarInstance
from boundcheck.problems._specs import shares, tables, vector

_DECIDED = (
    *("smooth_samples", "strongly_convex_samples", "convex_samples", "convex_clients", "bounded_below"),
    *("bounded_gradients", "gradient_dissimilarity", "finite_gradient_noise"),
)
_BENT = "has a piece of negative curvature, so that it is not convex."


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseQuadratics(ScalarInstance):
    """A problem of that kind.

    name, spec: see `Problem`. slopes: of the samples, one tuple a client. shares: w_i,
    summing to 1. start: x_0. reported: the weights that the clients report where they are others.
    """

    name: str
    spec: Mapping[str, Any]
    slopes: tuple[tuple[Slope, ...], ...]
    shares: tuple[Fraction, ...]
    start: tuple[Fraction, ...]
    reported: tuple[Fraction, ...] | None = None
    unimodal = ("dist2", "gap", "grad2")
    arithmetics = ("rational", "ball", "float64")

    def __post_init__(self) -> None:
        if not self.whole.minima:
            raise BadInput(f"the objective of '{self.name}' is unbounded below, so that it has no minimum.")

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

    def proximal(self, client: int, centre: Sequence[Any], shift: Sequence[Any], mu: Fraction) -> list[Any]:
        """The minimiser v of f_client(v) + shift v + mu/2 (v - centre)^2; of balls, an enclosure.

        Raises Unsupported where mu is no larger than a curvature below 0, so that there may be several.
        """
        own = self.client_slopes[client]
        if own.flattest + mu <= 0:
            raise Unsupported(f"a proximal weight of {mu} does not make client {client} of '{self.name}' convex.")
        bent = Slope(
            own.knots,
            tuple(v + mu * k for k, v in zip(own.knots, own.values, strict=True)),
            (own.beyond[0] + mu, own.beyond[1] + mu),
        )
        aim = centre[0] * number(mu, centre[0]) - shift[0]
        if isinstance(aim, arb):
            low, high = (number(bent.root(end), aim) for end in ball_ends(aim))
            return [low.union(high)]
        return [number(bent.root(Fraction(aim)), aim)]

    def measure(self, name: str, x: Any) -> Any:
        """See `metric_of`."""
        if name == "dist2":
            return (x - self.whole.nearest_minimiser(x)) ** 2
        if name == "grad2":
            return self.whole.at(x) ** 2
        return self.whole.area(x) - number(self._least, x)

    @cached_property
    def _minimiser(self) -> Fraction:
        """The one nearest to the start."""
        return self.whole.nearest_minimiser(self.start[0])

    @cached_property
    def _least(self) -> Fraction:
        """F*, less F at the first knot of F."""
        return self.whole.area(self._minimiser)

    def project(self, x: Real) -> Real:
        """The minimiser nearest to x."""
        return self.whole.nearest_minimiser(x)

    def metric_range(self, name: str, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Exact bounds of a metric over the interval [low, high] of points."""
        turns = [*self.whole.knots, *(v for own in self.whole.critical for v in own if v is not None)]
        turns += [(a + b) / 2 for (_, a), (b, _) in pairwise(self.whole.minima) if a is not None and b is not None]
        found = [self.metric_of(name, [v]) for v in (low, *(v for v in turns if low < v < high), high)]
        return min(found), max(found)

    # --- constants and hypotheses -----------------------------------------------------------------------------------

    def constants(self) -> Mapping[str, Constant]:
        """n, d, L (clients), L_f, L_ij (samples), dist2_0, gap_0 and grad2_0, and as far as they exist mu, mu_ij,
        B_grad (samples), sigma2, sigma2_star and G2 with B2 = 1, all exact."""
        samples = [s for own in self.slopes for s in own]
        start, flattest, mu = self.start[0], min(s.flattest for s in samples), self.whole.quasi_convexity
        found = {
            **self.counted(),
            "L": given(max(s.steepest for s in self.client_slopes), "largest |curvature| of a client"),
            "L_f": given(self.whole.steepest, "largest |curvature| of F"),
            "L_ij": given(max(s.steepest for s in samples), "largest |curvature| of a sample"),
            "dist2_0": given((start - self._minimiser) ** 2, "squared distance of the start to the nearest minimiser"),
            "gap_0": given(self.measure("gap", start), "F(x_0) - F*"),
            "grad2_0": given(self.measure("grad2", start), "F'(x_0)^2"),
        }
        if mu is not None and mu > 0:
            found["mu"] = given(mu, "the largest mu with F'(x)(x - x*) >= F(x) - F* + mu/2 (x - x*)^2")
        if flattest >= 0:
            found["mu_ij"] = given(flattest, "least curvature of a sample")
        bounds = [s.bound for s in samples if s.bound is not None]
        if len(bounds) == len(samples):
            found["B_grad"] = given(max(bounds), "largest slope of a sample")
        x = self._minimiser
        alone = self.whole.minima == ((x, x),)  # slopes of convex functions are constant on all minimisers of the sum
        if alone or "convex_clients" not in self._objections:
            noise = sum((s.at(x) ** 2 for s in self.client_slopes), Fraction(0)) / self.clients
            found["sigma2"] = given(noise, "mean of the clients' squared slopes at a minimiser")
        if alone or "convex_samples" not in self._objections:
            pairs = zip(self.shares, self.slopes, strict=True)
            noise = sum((w * sum(s.at(x) ** 2 for s in own) / len(own) for w, own in pairs), Fraction(0))
            found["sigma2_star"] = given(noise, "mean squared slope of the samples at a minimiser")
        if all(len({s.beyond[side] for s in self.client_slopes}) == 1 for side in (0, 1)):
            # a variance of functions that are linear between knots is convex there; beyond the knots it is constant
            spread = max(self._variance(k) for own in self.client_slopes for k in own.knots)
            found |= {"B2": given(1, "chosen; G2 is for this"), "G2": given(spread, "largest variance, at a knot")}
        return found

    def _variance(self, x: Fraction) -> Fraction:
        """Sum of w_i f_i'(x)^2 less F'(x)^2."""
        own = sum((w * s.at(x) ** 2 for w, s in zip(self.shares, self.client_slopes, strict=True)), Fraction(0))
        return own - self.whole.at(x) ** 2

    @cached_property
    def _objections(self) -> Mapping[str, str]:
        """Hypotheses that fail, from the curvature of the pieces."""
        found: dict[str, str] = {}
        samples = {f"sample {j} of client {i}": s for i, own in enumerate(self.slopes) for j, s in enumerate(own)}
        clients = {f"client {i}": s for i, s in enumerate(self.client_slopes)}
        parts = {"convexity": {"F": self.whole}, "convex_clients": clients, "convex_samples": samples}
        for name, own in parts.items():
            bent = next((who for who, s in own.items() if s.flattest < 0), None)
            if bent is not None:
                found[name] = f"{bent} {_BENT}"
        if any(s.flattest <= 0 for s in samples.values()):
            found["strongly_convex_samples"] = "a sample has a piece of curvature 0 or below, so that no mu > 0 serves."
        if (self.whole.quasi_convexity or 0) <= 0:
            found["strong_quasi_convexity"] = "F is not strongly quasi-convex: no mu > 0 holds for all x."
        if any(s.bound is None for s in samples.values()):
            found["bounded_gradients"] = "a sample is curved beyond its knots, so that its slope is unbounded."
        for side, own in ((0, self.whole.minima[0][0]), (1, self.whole.minima[-1][1])):
            if not self.whole.beyond[side] and any(s.beyond[side] for s in self.client_slopes):
                why = "F is linear beyond the knots where clients are curved, so that their slopes differ without bound"
                found["gradient_dissimilarity"] = f"{why}."
                if own is None:
                    found["finite_gradient_noise"] = f"{why} on the solution set."
        return found

    def _objection(self, assumption: str) -> str | None:
        return self._objections.get(assumption) if assumption in _DECIDED else super()._objection(assumption)

    def objections(self) -> Mapping[str, str]:
        """See `_objections`."""
        return self._objections


def _slope(given: Mapping[str, Any], where: str) -> Slope:
    try:
        beyond = vector(given.get("beyond", (0, 0)), "beyond")
        if len(beyond) != 2:
            raise BadInput(f"beyond has {len(beyond)} numbers; it must be the curvatures on the left and on the right.")
        return Slope(vector(given["knots"], "knots"), vector(given["slopes"], "slopes"), (beyond[0], beyond[1]))
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def build(
    *, clients: Sequence[Any], weights: Sequence[Any] | None = None, start: Any = 1, name: str = ""
) -> PiecewiseQuadratics:
    """A sum of functions on the line that are quadratic between knots and beyond them.

    clients: one table a client, either {knots = [-1, 1], slopes = [-1, 1]} (the slope at each knot; linear between) or
    {components = [such tables]}, of which f_i is the mean. A table may have beyond = [1, 2], the curvatures on the left
    and on the right of the knots; default 0, a constant slope. weights: default 1/n each. start: default 1.
    Raises BadInput and UnknownName.
    """
    given = tables(clients, "{knots = [-1, 1], slopes = [-1, 1]}", ("knots", "slopes"), ("beyond",))
    parts = [tuple(_slope(c, f"client {i}") for c in own) for i, own in enumerate(given)]
    n, own_shares = len(parts), shares(weights, len(parts))
    first: Any = start[0] if isinstance(start, list | tuple) and len(start) == 1 else start
    x0 = as_fraction(first, "start")
    written = [
        [{k: [format_exact(v) for v in getattr(s, f)] for k, f in _FIELDS.items() if k != "beyond" or any(s.beyond)}
         for s in own] for own in parts
    ]  # fmt: skip
    spec: dict[str, Any] = {"kind": "piecewise_quadratics", "start": format_exact(x0)}
    spec["clients"] = [own[0] if len(own) == 1 else {"components": own} for own in written]
    if weights is not None:
        spec["weights"] = [format_exact(w) for w in own_shares]
    if name:
        spec["name"] = name
    title = name or f"{n} piecewise quadratic client{'s' if n > 1 else ''} on the line"
    return PiecewiseQuadratics(title, spec, tuple(parts), own_shares, (x0,))


_FIELDS = {"knots": "knots", "slopes": "values", "beyond": "beyond"}
