"""A problem, a participation and a kind of method outside boundcheck; `boundcheck conformance own-problem` checks them.

The problem has two clients, f_i(x) = sqrt(1 + |x - c_i|^2) with c_1 = c and c_2 = -c. F is their mean. It is convex
with 1-Lipschitz gradients and, by symmetry, has its only minimiser at 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.clients import Clients
from boundcheck.methods.kind import Form, Kind, Part
from boundcheck.methods.parameters import count
from boundcheck.methods.parts import Constant as ConstantStep
from boundcheck.methods.parts import Drawing, GradientSteps

MET = ("convexity", "convex_clients", "smooth_clients", "client_smoothness", "finite_gradient_noise", "bounded_below")


@dataclass(frozen=True)
class TwoDistances:
    """centre: c (d,). start: x_0 (d,)."""

    centre: tuple[Fraction, ...]
    start: tuple[Fraction, ...]
    name = "two smoothed distances"
    clients = 2
    weights = (Fraction(1, 2), Fraction(1, 2))
    metrics = ("dist2", "gap", "grad2")

    @property
    def spec(self) -> Mapping[str, Any]:
        own = {name: [format_exact(v) for v in getattr(self, name)] for name in ("centre", "start")}
        return {"kind": "two_distances", **own}

    @property
    def dim(self) -> int:
        return len(self.start)

    def _apart(self, client: int, x: Any) -> Any:
        return np.asarray(x, dtype=float) - (1, -1)[client] * np.array([float(v) for v in self.centre])

    def gradient(self, client: int, x: Any) -> Any:
        u = self._apart(client, x)
        return u / np.sqrt(1 + u @ u)

    def _value(self, x: Any) -> float:
        apart = (self._apart(i, x) for i in range(2))
        return float(np.mean([np.sqrt(1 + u @ u) for u in apart]))

    def metric(self, name: str, x: Any) -> Any:
        at = np.asarray(x, dtype=float)
        if name == "dist2":
            return at @ at
        if name == "grad2":
            mean = (self.gradient(0, at) + self.gradient(1, at)) / 2
            return mean @ mean
        if name == "gap":
            return max(0.0, self._value(at) - self._value(np.zeros(self.dim)))
        raise UnknownName("the metric", name, self.metrics)

    def nearest(self, x: Any) -> Any:
        return np.zeros(self.dim)

    def constants(self) -> Mapping[str, Constant]:
        def exact(value: Fraction | int, how: str) -> Constant:
            return Constant(Fraction(value), Known.EXACT, "exact", how)

        c2 = sum(v * v for v in self.centre)
        lipschitz = Constant(Fraction(1), Known.CERTIFIED, "upper", "the Hessian of sqrt(1 + |u|^2) is at most I")
        return {
            "n": exact(2, "counted"),
            "d": exact(self.dim, "counted"),
            "L": lipschitz,
            "L_f": lipschitz,
            "dist2_0": exact(sum(v * v for v in self.start), "|x_0|^2"),
            "sigma2": exact(c2 / (1 + c2), "|grad f_i(0)|^2 of both clients"),
        }

    def violations(self, assumption: str) -> str | None:
        if assumption in (*MET, "plain_mean"):
            return None
        raise UnknownName("the assumption", assumption, (*MET, "plain_mean"))


def build(*, centre: Sequence[Any], start: Sequence[Any]) -> TwoDistances:
    """centre, start: lists of numbers of the same length."""
    c, x0 = (tuple(as_fraction(v, name) for v in own) for name, own in (("centre", centre), ("start", start)))
    if len(c) != len(x0) or not c:
        raise BadInput(f"centre has {len(c)} numbers and start {len(x0)}; they need equally many, at least 1.")
    return TwoDistances(c, x0)


@dataclass(frozen=True)
class Alternating:
    """The clients with even numbers in even rounds, those with odd numbers in odd rounds (all, if there is one)."""

    def period(self, clients: Clients) -> int:
        return min(2, clients.count)

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...]:
        return tuple(range(round_index % self.period(clients), clients.count, 2))

    def drawing(self, clients: Clients) -> Drawing | None:
        return None


def _parts(*, E: Any = 1, eta: Any) -> Mapping[str, Any]:
    return {"local": GradientSteps(count(E, "E")), "schedule": ConstantStep(as_fraction(eta, "eta"))}


ALTERNATING = Kind(_parts, Form(Alternating(), Part(GradientSteps), Part(ConstantStep, symbol="eta")))

# What `boundcheck conformance` builds of each plug-in; the participation has no parameters.
EXAMPLES = {
    "two_distances": [{"centre": [1, "1/2"], "start": [3, -2]}, {"centre": [2], "start": [5]}],
    "alternating_fedavg": [{"E": 2, "eta": "1/10"}],
}
