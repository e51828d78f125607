"""Logistic and softmax regression in ball arithmetic: enclosures of gradients, metrics and the minimum.

Features and ridge are what the problem holds, as exact numbers. Every result is an enclosure at flint's working
precision, over all points of the ball that comes in.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from boundcheck.core.linalg import rational
from boundcheck.errors import UnknownName, Unsupported
from boundcheck.problems.problem import Floats

_STEPS = 400  # of the search for the minimiser


@dataclass(frozen=True, eq=False)
class BallScores:
    """F of a `Classifier`: the sum of w_i f_i, f_i the mean over the rows of client i of l(X a_j, y_j), plus
    ridge/2 |x|^2.

    problem: its labels are +1 or -1 for one column of scores, else the class. point: the minimiser in double precision,
    from which the true one is found. Raises Unsupported where no minimiser is near that point.
    """

    problem: Any
    point: Floats

    @cached_property
    def _rows(self) -> tuple[arb_mat, ...]:
        """The features of each client; doubles are exact at any precision."""
        return tuple(arb_mat(self.problem.features[a:b].tolist()) for a, b in itertools.pairwise(self.problem.offsets))

    @cached_property
    def _minima(self) -> dict[int, tuple[arb_mat, arb]]:
        return {}

    def _scores(self, rows: arb_mat, x: Sequence[arb]) -> list[list[arb]]:
        """(N, K) of rows (N, p)."""
        p = rows.ncols()
        return (
            rows * arb_mat([list(x[k * p : (k + 1) * p]) for k in range(self.problem.loss.columns)]).transpose()
        ).tolist()

    def _residual(self, scores: Sequence[arb], label: Any) -> list[arb]:
        """The derivatives of l in the scores."""
        if self.problem.loss.columns == 1:
            y = int(label)
            return [-y / (1 + (y * scores[0]).exp())]
        shares = [1 / sum(((t - s).exp() for t in scores), arb(0)) for s in scores]
        return [v - 1 if k == int(label) else v for k, v in enumerate(shares)]

    def _loss(self, scores: Sequence[arb], label: Any) -> arb:
        if self.problem.loss.columns == 1:
            return (-int(label) * scores[0]).exp().log1p()
        own = scores[int(label)]
        return sum(((s - own).exp() for s in scores), arb(0)).log()

    def gradient(self, client: int, sample: int | None, x: Sequence[arb]) -> list[arb]:
        """Of a client's objective (d,), or of one of its samples."""
        low, high = self.problem.offsets[client : client + 2]
        rows = self._rows[client]
        if sample is not None:
            low, high = low + sample, low + sample + 1
            rows = arb_mat(self.problem.features[low:high].tolist())
        scores = self._scores(rows, x)
        residuals = [self._residual(s, y) for s, y in zip(scores, self.problem.labels[low:high], strict=True)]
        mean = (arb_mat(residuals).transpose() * rows).entries()
        ridge = arb(rational(self.problem.ridge))
        return [g / (high - low) + ridge * v for g, v in zip(mean, x, strict=True)]

    def whole(self, x: Sequence[arb]) -> list[arb]:
        """grad F (d,)."""
        found = [arb(0)] * len(x)
        for i, w in enumerate(self.problem.weights):
            share = arb(rational(w))
            found = [a + share * g for a, g in zip(found, self.gradient(i, None, x), strict=True)]
        return found

    def value(self, x: Sequence[arb]) -> arb:
        """F(x)."""
        total = arb(rational(self.problem.ridge / 2)) * _square(x)
        for i, w in enumerate(self.problem.weights):
            low, high = self.problem.offsets[i : i + 2]
            scores = self._scores(self._rows[i], x)
            losses = (self._loss(s, y) for s, y in zip(scores, self.problem.labels[low:high], strict=True))
            total = total + arb(rational(w / (high - low))) * sum(losses, arb(0))
        return total

    def metric(self, name: str, x: Sequence[arb]) -> arb:
        """dist2, gap or grad2 at x (d,)."""
        if name == "grad2":
            return _square(self.whole(x))
        best, least = self.minimum()
        if name == "gap":
            return self.value(x) - least
        if name == "dist2":
            return _square([a - b for a, b in zip(x, best.entries(), strict=True)])
        raise UnknownName("the metric", name, ("dist2", "gap", "grad2"))

    def minimum(self) -> tuple[arb_mat, arb]:
        """(x* (d, 1), F*) at the working precision, from Newton steps with the Hessian of double precision.

        F(x) - F* lies between 0 and |grad F(x)|^2/(2 ridge), without a ridge |grad F(x)| |x - x*|.
        """
        bits = ctx.prec
        if bits not in self._minima:
            inverse = arb_mat(np.linalg.inv(self.problem.objective.hessian(self.point)).tolist())
            x = [arb(v) for v in self.point.tolist()]
            slope = self.whole(x)
            for _ in range(_STEPS):
                if all(abs(g) < arb(2) ** (8 - bits) for g in slope):
                    break
                step = (inverse * arb_mat([[g] for g in slope])).entries()
                moved = [(v - s).mid() for v, s in zip(x, step, strict=True)]
                better = self.whole(moved)
                if not _square(better) < _square(slope):
                    break
                x, slope = moved, better
            size = _square(slope).abs_upper().sqrt().abs_upper()
            radius = self.reach(x, size)
            above = size * radius / 2 if self.problem.ridge else size * radius
            centre = [v + radius * arb(0, 1) for v in x]
            least = self.value(x) - above * arb(0.5, 0.5)
            self._minima[bits] = arb_mat([[v] for v in centre]), least
        return self._minima[bits]

    def reach(self, x: Sequence[arb], slope: arb) -> arb:
        """A bound of |x - x*| from a bound of |grad F(x)|: slope/ridge, as F is ridge-strongly convex.

        Without a ridge the third derivatives of the logistic loss are at most its second ones, so that with the longest
        row A the Hessian at a distance t is at least e^(-A t) times that at x (F. Bach, Self-concordant analysis for
        logistic regression, 2010). With m at most its least eigenvalue at x, F rises along every ray from where
        m (1 - e^(-A t))/A = slope on: there is a minimiser, the only one, within t.
        """
        if self.problem.ridge:
            return (slope / arb(rational(self.problem.ridge))).abs_upper()
        rows = arb_mat(self.problem.features.tolist())
        longest = max(_square(row).abs_upper() for row in rows.tolist()).sqrt().abs_upper()
        curved = longest * slope / self._least_curvature(rows, x)
        if not curved < 1:
            raise Unsupported("no minimiser could be enclosed near the point that Newton's method found.")
        return (-(-curved).log1p() / longest).abs_upper()

    def _least_curvature(self, rows: arb_mat, x: Sequence[arb]) -> arb:
        """At most the least eigenvalue of the Hessian at x, from the row sums of its inverse; for one column."""
        sizes = np.diff(self.problem.offsets)
        shares = [w / int(size) for w, size in zip(self.problem.weights, sizes, strict=True) for _ in range(size)]
        seconds = [
            arb(rational(v)) / (2 + s.exp() + (-s).exp()) for v, (s,) in zip(shares, self._scores(rows, x), strict=True)
        ]
        scaled = arb_mat([[v * a for a in row] for v, row in zip(seconds, rows.tolist(), strict=True)])
        try:
            inverse = (scaled.transpose() * rows).inv()
        except ZeroDivisionError:
            raise Unsupported("the Hessian at the point that Newton's method found may be singular.") from None
        return 1 / max(sum((abs(v) for v in row), arb(0)).abs_upper() for row in inverse.tolist())


def _square(x: Sequence[arb]) -> arb:
    return sum((v * v for v in x), arb(0))
