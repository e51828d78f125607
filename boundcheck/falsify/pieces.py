"""Random problems on the line, quadratic between knots: Huber functions, kinks, curvature beyond the last knot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.falsify.quadratics import Numbers, Wanted, texts


@dataclass(frozen=True)
class Pieces:
    """What the instances of a batch have in common. knots: of every client; curved: whether they are beyond these, too.

    scale: of curvatures; length: of distances; moved: whether the start is another point than 0. See `quadratics.Form`
    for the rest.
    """

    weights: tuple[Fraction, ...]
    knots: int
    curved: bool
    scale: float
    length: float
    wanted: Wanted
    moved: bool = True
    dim = 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """One sample a client."""
        return (1,) * len(self.weights)

    def without_samples(self) -> Pieces:
        """The same: there are none."""
        return self

    def genes(self) -> dict[str, tuple[int, ...]]:
        """Sizes of the arrays of standard normal numbers that make one instance."""
        n = len(self.weights)
        return {
            "middle": (n,), "gaps": (n, self.knots - 1), "curvature": (n, self.knots - 1), "slope": (n,),
            "beyond": (n, 2), "start": (),
        }  # fmt: skip

    def decode(self, genes: Mapping[str, Floats]) -> dict[str, Floats]:
        """The instances of a batch."""
        n = len(self.weights)
        gaps = self.length * np.exp(1.5 * genes["gaps"])
        first = self.length * genes["middle"] * (n > 1) - gaps.sum(2) / 2
        knots = np.concatenate([first[:, :, None], first[:, :, None] + np.cumsum(gaps, axis=2)], 2)
        steep = np.minimum(np.exp(genes["curvature"]), 1.0)  # often the largest curvature, which sets the step size
        bent = self._signed(self.scale * steep, genes["curvature"])
        rises = bent * gaps
        begin = -rises.sum(2) / 2 * (1 + genes["slope"] / 4)
        slopes = np.concatenate([begin[:, :, None], begin[:, :, None] + np.cumsum(rises, axis=2)], 2)
        beyond = self.curved * self.scale * np.minimum(np.exp(genes["beyond"]), 1.0)
        start = 3 * self.length * self.moved * genes["start"]
        return {"knots": knots, "slopes": slopes, "beyond": beyond, "start": start[:, None]}

    def _signed(self, sizes: Floats, genes: Floats) -> Floats:
        return sizes if self.wanted.convex else np.where(genes < -1.2, -sizes, sizes)

    def problem(self, numbers: Numbers) -> dict[str, Any]:
        """The specification of one exact instance."""
        clients: list[dict[str, Any]] = []
        for knots, slopes, beyond in zip(numbers["knots"], numbers["slopes"], numbers["beyond"], strict=True):
            own = {"knots": texts(knots), "slopes": texts(slopes)}
            clients.append({**own, "beyond": texts(beyond)} if any(beyond) else own)
        weights = {} if len(set(self.weights)) == 1 else {"weights": [format_exact(w) for w in self.weights]}
        return {"kind": "piecewise_quadratics", "clients": clients, **weights, "start": texts(numbers["start"])}

    def simpler(self, numbers: Numbers) -> Iterator[tuple[Pieces, Numbers, int | None]]:
        """Instances of a simpler form, and the client that was left out."""
        n = len(self.weights)
        for k in reversed(range(n if n > 1 else 0)):
            weights = self.weights[:k] + self.weights[k + 1 :]
            form = replace(self, weights=tuple(w / sum(weights) for w in weights))
            yield form, {name: v if name == "start" else np.delete(v, k, 0) for name, v in numbers.items()}, k
        for j in range(self.knots if self.knots > 2 else 0):
            kept = {name: np.delete(numbers[name], j, 1) for name in ("knots", "slopes")}
            yield replace(self, knots=self.knots - 1), {**numbers, **kept}, None


def draw(random: np.random.Generator, wanted: Wanted) -> Pieces:
    """A random form that the hypotheses allow."""
    n = int(random.choice([1, 1, 2, 3]))
    curved = wanted.strongly or bool(random.random() < 0.5)
    scale, length = (10.0 ** (random.choice([0, 1]) * random.standard_normal()) for _ in range(2))
    return Pieces(
        (Fraction(1, n),) * n,
        int(random.choice([2, 2, 3, 4])),
        curved,
        float(scale),
        float(length),
        wanted,
        bool(random.random() < 0.8),
    )
