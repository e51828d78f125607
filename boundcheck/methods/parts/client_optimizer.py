"""How the clients' steps of SGD differ from plain ones: momentum, weight decay, gradients that are clipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.errors import BadInput
from boundcheck.methods.round import At, Rule


@dataclass(frozen=True)
class ClientOptimizer:
    """A local step with step size eta from y: g <- g(y) min(1, clip/|g(y)|), g <- g + weight_decay y, v <- momentum v
    + d, y <- y - eta v.

    g(y): the gradient of the step's samples, |.| its Euclidean norm over all coordinates. d: the direction of the step
    without a momentum of its own: g, to which the server's momentum and a proximal term are then added. v: the buffer,
    0 when a visit begins; where clients keep models that are averaged (`Blocks`), each model keeps its buffer from
    round to round too: buffers are not averaged, and one goes with the model that is handed to another client.
    clip None: gradients are not clipped. These are PyTorch's `clip_grad_norm_` (without the 1e-6 that it adds to the
    norm) and `optim.SGD` without dampening, not Nesterov's; TensorFlow keeps eta v, the same as long as eta does not
    change.

    S. Lee et al., "Partial Model Averaging in Federated Learning: Performance Guarantees and Benefits", Experimental
    Settings, take "momentum SGD with a coefficient of 0.9" in TensorFlow; what becomes of the buffers is not said.
    S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", Appendix F, choose the
    weight decay from {0, 1e-4} and the clipping from {5, infinity}.
    """

    momentum: Fraction = Fraction(0)
    weight_decay: Fraction = Fraction(0)
    clip: Fraction | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.momentum < 1:
            raise BadInput(f"momentum_l = {self.momentum} is not allowed; it is at least 0 and below 1.")
        if self.weight_decay < 0:
            raise BadInput(f"weight_decay_l = {self.weight_decay} is not allowed; it is at least 0.")
        if self.clip is not None and self.clip <= 0:
            raise BadInput(f'clip_l = {self.clip} is not allowed; it is above 0, or "none".')
        if not self.parameters():
            raise BadInput("a momentum, weight decay and clipping that are all left out are no part of a method.")

    def parameters(self) -> dict[str, Fraction]:
        """What differs from plain steps, as users write it."""
        found = {"momentum_l": self.momentum, "weight_decay_l": self.weight_decay}
        found = {name: value for name, value in found.items() if value}
        return found if self.clip is None else {**found, "clip_l": self.clip}

    def words(self) -> str:
        """The same as text."""
        return ", ".join(f"{name} = {value}" for name, value in self.parameters().items())

    def shaped(self, rule: Rule) -> Rule:
        """The round of a rule whose local steps are these."""
        own: Any = object.__new__(type("Shaped" + type(rule).__name__, (_Shaped, type(rule)), {}))
        own.__dict__.update(rule.__dict__, _optimizer=self)
        return own


class _Shaped(Rule):
    """A rule with other local steps. A client that keeps a vector from which it begins keeps its buffer too."""

    _optimizer: ClientOptimizer

    @property
    def local(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return ("y", "v") if self._optimizer.momentum else ("y",)

    @property
    def _stays(self) -> bool:
        return self.needs_all and bool(self._optimizer.momentum)

    @property
    def kept_by_clients(self) -> Mapping[str, bool]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return {**super().kept_by_clients, "v": False} if self._stays else super().kept_by_clients

    def begin(self, at: At) -> Any:
        return {"y": super().begin(at), "v": at.client["v"]} if self._stays else super().begin(at)

    def step(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        own = self._optimizer

        def shaped(point: Any) -> Any:
            found = g(point)
            if own.clip is not None:
                found = found * np.minimum(1.0, float(own.clip) / at.norm(found))
            return found + own.weight_decay * point

        if not own.momentum:
            return y - at.eta * self.direction(y, shaped, at)
        v = own.momentum * y["v"] + self.direction(y["y"], shaped, at)
        return {"y": y["y"] - at.eta * v, "v": v}

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        return super().upload(y["y"] if self._optimizer.momentum else y, at)

    def keep(self, y: Any, at: At) -> Mapping[str, Any]:
        kept = super().keep(y["y"] if self._optimizer.momentum else y, at)
        return {**kept, "v": y["v"]} if self._stays else kept
