"""Local steps that are shifted by gradients at the server's point: FedLin and Mime, as functions of a round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput
from boundcheck.methods import parameters as p
from boundcheck.methods.kind import AnyOf, Form, Part, anything, kind
from boundcheck.methods.parts import (
    Average,
    Full,
    GradientSteps,
    OwnSteps,
    ServerStep,
    StochasticSteps,
    Uniform,
)
from boundcheck.methods.round import At, Rule, Sent


@dataclass(frozen=True)
class FedLin(Rule):
    """The functions of `fedlin`."""

    @property
    def collecting(self) -> Any:
        return Full()

    def collect(self, at: At) -> Mapping[str, Sent]:
        return {"g": Sent(at.whole(at.server["x"]), Average())}

    def step(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return y - at.eta / at.steps * (g(y) - at.whole(at.start) + at.collected["g"])


@dataclass(frozen=True)
class Mime(Rule):
    """The functions of `mime`; the momentum is the same in all local steps of a round, 0 in the first."""

    beta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not 0 <= self.beta < 1:
            raise BadInput(f"momentum_g = {self.beta} is not allowed; it is at least 0 and below 1.")

    @property
    def kept_by_server(self) -> Mapping[str, bool]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return {"x": True, "m": False} if self.beta else {"x": True}

    @property
    def collecting(self) -> Any:
        return "same"

    def collect(self, at: At) -> Mapping[str, Sent]:
        return {"c": Sent(at.whole(at.server["x"]), Average())}

    def direction(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        mean = at.server["m"] if self.beta else at.zero
        return (1 - self.beta) * (g(y) - g(at.start) + at.collected["c"]) + self.beta * mean

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        x = at.server["x"] + at.eta_g * total["x"]
        if not self.beta:
            return {"x": x}
        return {"x": x, "m": (1 - self.beta) * at.collected["c"] + self.beta * at.server["m"]}


KINDS = {
    "fedlin": kind(
        """FedLin: local steps shifted to the mean gradient at the server's point, of step size eta over their number.

        y <- y - eta/tau_i (grad f_i(y) - grad f_i(x) + g), g the mean of the clients' gradients at x, all of whom take
        part; the server takes the mean of their models. Gradients are whole, and are sent as they are (the paper can
        also make them sparse).
        """,
        (
            'A. Mitra, R. Jaafar, G. J. Pappas, H. Hassani, "Linear Convergence in Federated Learning: Tackling Client '
            'Heterogeneity and Sparse Gradients", 2021',
            "Algorithm 1, without sparsification",
        ),
        Form(Full, AnyOf(GradientSteps, OwnSteps), functions=FedLin()),
        (p.ETA, p.STEPS.but(sentence="tau_i, local steps")),
    ),
    "mime": kind(
        """Mime with SGD, or SGD with momentum, as the server's optimizer.

        y <- y - eta ((1 - beta) (g(y) - g(x) + c) + beta m) with g(y) and g(x) on the same samples, c the mean of the
        cohort's whole gradients at x, and m <- (1 - beta) c + beta m after the round. The cohort's models are averaged.
        K local steps take whole gradients or `batch` samples drawn anew.
        """,
        (
            'S. P. Karimireddy et al., "Mime: Mimicking Centralized Stochastic Algorithms in Federated Learning", 2020',
            "Algorithm 1",
        ),
        Form(
            AnyOf(Full, Part(Uniform)),
            AnyOf(GradientSteps, StochasticSteps),
            server=Part(ServerStep, eta_g=anything),
            functions=Part(Mime, beta=anything),
        ),
        (
            p.ETA_L,
            p.K.but(into=""),
            p.BATCH.but(into="", default=None, allowed=f"{p.COUNT}; by default all"),
            p.Parameter("momentum_g", "beta", "at least 0 and below 1", as_fraction, "functions.beta", default=0),
            p.ETA_G,
            p.PARTICIPATION,
        ),
        lambda K, batch: {"local": p.local_steps(K, batch)},
    ),
}
