"""The gradient correction of FedDANE: a local objective that is shifted to have the server's gradient estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts.aggregation import Average, SumOne
from boundcheck.methods.parts.participation import Participation, cohort_sizes
from boundcheck.methods.round import At, Rule, Sent

DECAYS = ("constant", "inverse", "geometric")


@dataclass(frozen=True)
class Correction(Rule):
    """Local work on F_k(v) + c_t <g - grad F_k(x), v - x> instead of F_k (FedDANE, Algorithm 2).

    g is a mean of grad F_k(x) over a cohort S_t of its own.
    participation: the law of S_t, drawn independently of the cohort that does the local work; None: the same cohort.
    decay: c_t, t = 0, 1, ... the round: "constant" (c_t = factor), "inverse" (factor/(t+1)) or "geometric"
        (factor^t); 0 is FedProx, 1 FedDANE.
    pipelined: g is the mean of the gradients that the cohort of the round before computed at that round's point, so
        that a round takes one communication; there is no correction in the first round (c_0 = 0).
    weights: of the mean g: "uniform" (1/|S_t|, as in FedDANE) or "data" (w_k over those of S_t: the gradient of F where
        S_t is everyone, as in DANE). A client that is drawn several times counts as often.
    """

    participation: Participation | None = None
    decay: Literal["constant", "inverse", "geometric"] = "constant"
    factor: Fraction = Fraction(1)
    pipelined: bool = False
    weights: Literal["uniform", "data"] = "uniform"

    def __post_init__(self) -> None:
        if self.decay not in DECAYS:
            raise UnknownName("the decay of the correction", self.decay, DECAYS)
        if self.weights not in ("uniform", "data"):
            raise UnknownName("the weights of the mean gradient", self.weights, ("uniform", "data"))
        if not 0 <= self.factor <= 1:
            raise BadInput(f"the factor {self.factor} of the correction is not allowed; it lies between 0 and 1.")
        if self.pipelined and self.participation is not None:
            raise BadInput("a pipelined correction takes the gradients of the cohort of the round before, no other's.")

    def at(self, round_index: int) -> Fraction:
        """c_t of a round (from 0)."""
        if self.pipelined and round_index == 0:
            return Fraction(0)
        if self.decay == "inverse":
            return self.factor / (round_index + 1)
        return self.factor**round_index if self.decay == "geometric" else self.factor

    changing: ClassVar[str] = "correction"

    @property
    def steady(self) -> bool:
        """Whether c_t is the same in every round (of a pipelined one: in every round but the first)."""
        settled = {"constant": True, "inverse": self.factor == 0, "geometric": self.factor == 1}  # 0^0 = 1
        return settled[self.decay]

    @property
    def settled(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return int(self.pipelined)

    @property
    def kept_by_server(self) -> Mapping[str, bool]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return {"x": True, "g": False} if self.pipelined else {"x": True}

    @property
    def collecting(self) -> Any:
        return None if self.pipelined else self.participation or "same"

    def check(self, name: str, participation: Any, clients: Clients) -> None:
        if 0 in cohort_sizes(self.participation or participation, clients):
            raise BadInput(f"{name} takes the mean gradient of a cohort that may be empty.")

    def numbers(self, round_index: int, dim: int) -> Mapping[str, Any]:
        return {"c": self.at(round_index)}

    def _gradient(self, at: At) -> Sent:
        return Sent(at.whole(at.server["x"]), Average() if self.weights == "uniform" else SumOne())

    def collect(self, at: At) -> Mapping[str, Sent]:
        return {} if self.pipelined else {"g": self._gradient(at)}

    def _shift(self, at: At) -> Any:
        estimate = at.server["g"] if self.pipelined else at.collected["g"]
        return at.number["c"] * (estimate - at.whole(at.start))

    def direction(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return super().direction(y, g, at) + self._shift(at)

    def solve(self, at: At) -> Any:
        return at.minimiser(at.start, self._shift(at), at.prox)

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        moved = {"x": y - at.start}
        return {**moved, "g": self._gradient(at)} if self.pipelined else moved

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        x = at.server["x"] + at.eta_g * total["x"]
        return {"x": x, "g": total["g"]} if self.pipelined else {"x": x}
