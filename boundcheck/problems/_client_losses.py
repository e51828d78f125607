"""A classification problem with the loss of every client as a metric, and under other weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import format_exact
from boundcheck.errors import UnknownName, Unsupported
from boundcheck.problems._classifier import Classifier

LOSS = "loss_"  # followed by the number of a client, from 0


class Losses(Classifier):
    """The same problem with the metrics "loss_<client>"."""

    @classmethod
    def of(cls, problem: Classifier) -> Losses:
        """The same data."""
        return cls(**{f.name: getattr(problem, f.name) for f in fields(Classifier)})

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those of the problem, and the clients' losses."""
        return (*super().metrics, *(f"{LOSS}{i}" for i in range(self.clients)))

    def metric_many(self, name: str, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """As in the problem; "loss_<i>" is f_i, the l2 term included."""
        client = name.removeprefix(LOSS)
        if client == name:
            return super().metric_many(name, points)
        if not client.isdecimal() or int(client) >= self.clients:
            raise UnknownName("the metric", name, self.metrics)
        rows = slice(self.offsets[int(client)], self.offsets[int(client) + 1])
        scores = np.einsum("rp,kcp->krc", self.features[rows], points.reshape(len(points), self.loss.columns, -1))
        values = np.asarray(self.loss.values(scores, self.labels[rows]), dtype=np.float64).mean(axis=1)
        return values + float(self.ridge) / 2 * np.einsum("kd,kd->k", points, points)


def under_weights(problem: object, weights: Sequence[Fraction]) -> Classifier:
    """The minimisation of sum of weights_i f_i, with a certified minimum. Raises Unsupported for another problem."""
    if not isinstance(problem, Classifier):
        raise Unsupported("the minimum of the surrogate problem is known of classification problems alone.")
    spec = {"kind": problem.spec["kind"], "of": dict(problem.spec), "surrogate": [format_exact(w) for w in weights]}
    return replace(problem, weights=tuple(weights), spec=spec)
