"""Momentum of the server that enters every local step: FedShuffleMVR and "global momentum"."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from boundcheck.errors import BadInput, UnknownName

STARTS = ("zero", "gradient", "sampled")


@dataclass(frozen=True)
class Momentum:
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
