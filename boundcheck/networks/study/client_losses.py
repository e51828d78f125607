"""A problem looked at client by client along a run, and so under the weights of a method's surrogate problem.

Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
(10): asynchronous methods minimise the surrogate problem sum of u_i f_i with u_i = q_i / sum of q_j, q_i the mean
aggregation weight of client i; it is the federated problem where u = w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import format_exact
from boundcheck.errors import UnknownName, Unsupported
from boundcheck.problems._classifier import Classifier
from boundcheck.problems.problem import clients_of
from boundcheck.setting.expected_weights import expected_weights

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


Array = NDArray[np.float64]

# Metrics that follow from the clients' losses along a run: of F, its spread over the clients, and both of the
# surrogate problem; surrogate_gap above the certified least value, where the problem has one.
SURROGATE = ("f", "spread", "surrogate_f", "surrogate_spread", "surrogate_gap")
LOSS = "loss_"


class Losses(Classifier):
    """The same problem with the loss of every client as a metric, "loss_<client>"."""

    @classmethod
    def of(cls, problem: Classifier) -> Losses:
        """The same data."""
        return cls(**{f.name: getattr(problem, f.name) for f in fields(Classifier)})

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those of the problem, and the clients' losses."""
        return (*super().metrics, *(f"{LOSS}{i}" for i in range(self.clients)))

    def alone(self, client: int) -> Classifier:
        """The problem of a client by itself, with a certified minimum."""
        own: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(Classifier)}
        weights = tuple(Fraction(int(i == client)) for i in range(self.clients))
        own |= {"weights": weights, "spec": {"kind": self.spec["kind"], "of": dict(self.spec), "client": client}}
        return Classifier(**own)

    @cached_property
    def least(self) -> tuple[float, ...]:
        """A certified lower bound of every f_i."""
        return tuple(self.alone(i).minimum.low for i in range(self.clients))

    def metric_many(self, name: str, points: Array) -> Array:
        """As in the problem; "loss_<i>" is f_i, the l2 term included."""
        if not name.startswith(LOSS):
            return super().metric_many(name, points)
        client = name.removeprefix(LOSS)
        if not client.isdecimal() or int(client) >= self.clients:
            raise UnknownName("the metric", name, self.metrics)
        rows = slice(self.offsets[int(client)], self.offsets[int(client) + 1])
        scores = np.einsum("rp,kcp->krc", self.features[rows], points.reshape(len(points), self.loss.columns, -1))
        values = np.asarray(self.loss.values(scores, self.labels[rows]), dtype=np.float64).mean(axis=1)
        return values + float(self.ridge) / 2 * np.einsum("kd,kd->k", points, points)


@dataclass(frozen=True, eq=False)
class Watched:
    """problem: the one to run on, with the metrics `losses`; weights: w_i and u_i, both summing to 1."""

    problem: Problem
    weights: tuple[Fraction, ...]
    surrogate_weights: tuple[Fraction, ...]

    @property
    def losses(self) -> tuple[str, ...]:
        """The metrics that a run has to record."""
        return tuple(f"{LOSS}{i}" for i in range(len(self.weights)))

    @cached_property
    def surrogate(self) -> Classifier:
        """The surrogate problem, with a certified minimum. Raises Unsupported for a network."""
        if not isinstance(self.problem, Classifier):
            raise Unsupported(f"the minimum of the surrogate problem of '{self.problem.name}' is not known.")
        base: dict[str, Any] = {f.name: getattr(self.problem, f.name) for f in fields(Classifier)}
        shares = [format_exact(u) for u in self.shares]
        spec = {"kind": base["spec"]["kind"], "of": dict(base["spec"]), "surrogate": shares}
        base |= {"weights": self.surrogate_weights, "spec": spec}
        return Classifier(**base)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """u_i."""
        return self.surrogate_weights

    def complete(self, samples: Mapping[str, Array], wanted: Sequence[str]) -> dict[str, Array]:
        """The samples of a run with those metrics of `SURROGATE` that are wanted, each (S, G)."""
        each = np.stack([samples[name] for name in self.losses], axis=2)
        found = dict(samples)
        for weights, prefix in ((self.weights, ""), (self.shares, "surrogate_")):
            share = np.array([float(w) for w in weights])
            with np.errstate(invalid="ignore", over="ignore"):
                mean = each @ share
                found[f"{prefix}f"] = mean
                found[f"{prefix}spread"] = np.sqrt((each - mean[:, :, None]) ** 2 @ share)
        if "surrogate_gap" in wanted:
            found["surrogate_gap"] = found["surrogate_f"] - self.surrogate.minimum.low
        return found


def watch(problem: Problem, method: Method) -> Watched:
    """The problem with its clients' losses, and the weights of the surrogate problem of a method.

    Raises Unsupported for a method whose expected aggregation weights are not known.
    """
    expected = expected_weights(method, clients_of(problem))
    if expected is None or not expected.mean:
        raise Unsupported(
            f"the mean aggregation weights of '{method.name}' are not known, nor is its surrogate problem."
        )
    total = sum(expected.mean.values(), Fraction(0))
    shares = tuple(expected.mean.get(i, Fraction(0)) / total for i in range(problem.clients))
    on: Problem = Losses.of(problem) if isinstance(problem, Classifier) else problem
    return Watched(on, tuple(problem.weights), shares)
