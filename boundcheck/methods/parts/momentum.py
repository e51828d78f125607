"""Momentum of the server that enters every local step: FedShuffleMVR and "global momentum"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.parts.aggregation import Unbiased
from boundcheck.methods.round import At, Rule, Sent

STARTS = ("zero", "gradient", "sampled")


@dataclass(frozen=True)
class Momentum(Rule):
    """Local steps y <- y - eta*scale*d with a direction d that mixes gradients and the server's momentum m.

    a: weight of the fresh gradient, 0 < a <= 1 ("momentum 0.9" is a = 1/10).
    variance_reduced: True (FedShuffle, (12)-(14)): d = g(y) + (1-a)(m - g(x)), g the gradient of the same sample at y
        and at the round's server point x, and at the start of every round but the first
        m <- (1-a) m + sum over S of (w_i/p_i) (grad f_i(x) - (1-a) grad f_i(x_previous)), with the cohort S that then
        does the local work; these weights are unbiased whatever the aggregation's are. False (the practical form of
        Section 6): d = a g(y) + (1-a) m, and at the end of a round
        m <- (1-a) m + a * sum over S of (w_i/p_i) (x - y_i)/(steps * local step size).
    start: m of the first round: "zero", "gradient" (grad F(x_0)) or "sampled" (the mean of `warm_up` gradients
        grad f_i(x_0) of clients drawn with probability w_i: Theorem 5.2).
    """

    a: Fraction
    variance_reduced: bool = True
    start: Literal["zero", "gradient", "sampled"] = "zero"
    warm_up: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.a <= 1:
            raise BadInput(
                f"the momentum's a = {self.a} is not allowed; it is the weight of the fresh gradient, above 0 and "
                "at most 1 (momentum 0.9 is a = 1/10)."
            )
        if self.start not in STARTS:
            raise UnknownName("the start of the momentum", self.start, STARTS)
        if (self.start == "sampled") != (self.warm_up > 0):
            raise BadInput("warm_up, at least 1, goes with start = 'sampled' and with no other.")

    @property
    def kept_by_server(self) -> Mapping[str, bool]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return {"x": True, "previous": True, "m": False} if self.variance_reduced else {"x": True, "m": False}

    @property
    def draws(self) -> bool:
        return self.start == "sampled"

    @property
    def collecting(self) -> Any:
        return "same" if self.variance_reduced else None

    @property
    def settled(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return int(self.variance_reduced)

    def numbers(self, round_index: int, dim: int) -> Mapping[str, Any]:
        return {"later": int(round_index > 0)} if self.variance_reduced else {}

    def initial(self, at: At) -> Mapping[str, Any]:
        return {**super().initial(at), "m": at.whole(at.x0) if self.start == "gradient" else at.zero}

    def drawn_at_first(self, at: At) -> Mapping[str, tuple[Any, int]]:
        return {"m": (at.whole(at.x0), self.warm_up)} if self.start == "sampled" else {}

    def used(self, at: At) -> Any:
        """m as the local steps of the round see it."""
        if not self.variance_reduced:
            return at.server["m"]
        return at.server["m"] + at.number["later"] * (at.collected["d"] - self.a * at.server["m"])

    def collect(self, at: At) -> Mapping[str, Sent]:
        if not self.variance_reduced:
            return {}
        fresh = at.whole(at.server["x"]) - (1 - self.a) * at.whole(at.server["previous"])
        return {"d": Sent(fresh, Unbiased())}

    def direction(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        towards = at.prox * (y - at.start)
        if self.variance_reduced:
            return g(y) + (1 - self.a) * (self.used(at) - g(at.start)) + towards
        return self.a * g(y) + (1 - self.a) * self.used(at) + towards

    def solve(self, at: At) -> Any:
        raise Unsupported("a momentum goes with local steps, and an exact solve takes none.")

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        moved = {"x": y - at.start}
        if self.variance_reduced or not at.steps:
            return moved
        return {**moved, "d": Sent((at.start - y) / at.length, Unbiased())}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        x = at.server["x"] + at.eta_g * total["x"]
        if self.variance_reduced:
            return {"x": x, "previous": at.server["x"], "m": self.used(at)}
        return {"x": x, "m": (1 - self.a) * at.server["m"] + self.a * total["d"]}
