"""The server's step on the aggregated difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from boundcheck.core.expressions import Expression, parse_expression
from boundcheck.core.numbers import format_short, root_below, round_down
from boundcheck.errors import BadInput
from boundcheck.methods.round import At, Rule

FISTA = "fista"
_KNOWN = [Fraction(1)]  # t_1, t_2, ... of FISTA as far as they were needed
_SCALE = 10**40  # of its square roots, which are then rounded down


def _fista(k: int) -> Fraction:
    """t_k, rounded down to 13 digits."""
    while len(_KNOWN) < k:
        root = root_below(1 + 4 * _KNOWN[-1] ** 2, _SCALE)
        _KNOWN.append(round_down((1 + root) / 2))
    return _KNOWN[k - 1]


@dataclass(frozen=True)
class ServerStep(Rule):
    """x <- x + eta_g * (aggregated difference); eta_g = 1 replaces the model by the aggregate.

    ascend: subtract instead, as FedShuffle's boxes print it (Delta_i = y_i - x with x <- x - eta_g Delta).
    """

    eta_g: Fraction = Fraction(1)
    ascend: bool = False
    averages_models = False  # instead of differences (`AveragedModels`)

    @property
    def factor(self) -> Fraction:
        """What multiplies the aggregated difference."""
        return -self.eta_g if self.ascend else self.eta_g


@dataclass(frozen=True)
class AveragedModels(ServerStep):
    """x <- x + eta_g * (sum over S of a_i y_i - x): the server averages the returned models themselves.

    The same step where the a_i sum to 1. Elsewhere the model is scaled, which no shipped method does; implementations
    with wrong weights do. Only the exact engine carries it out, for plain methods on quadratic problems.
    """

    averages_models = True

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        return {"x": y}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": at.server["x"] + at.eta_g * (total["x"] - at.server["x"])}


@dataclass(frozen=True)
class ServerMomentum(Rule):
    """A server step that goes on in the direction of the one before.

    With b = x + momentum (x - x_previous), the point x_previous being that of the round before (x_0 in the first
    round), and a_i^S as in `Method`, the server moves to

        x <- b + eta_g * sum over S of a_i^S (y_i - s),

    where s is the point that the cohort receives: x (heavy ball; with v = (x - x_previous)/eta_g this is
    v <- momentum v + Delta, x <- x + eta_g v, the FedAvgM of Hsu et al.) or, with nesterov, b itself.

    momentum: a number of at least 0 and below 1; text in the round r = 0, 1, ..., such as "(r-1)/(r+2)", with such
    values from r = 1 on (the first round has none); or "fista": (t_r - 1)/t_(r+1) with t_1 = 1 and
    t_(k+1) = (1 + sqrt(1 + 4 t_k^2))/2, t_k rounded down to 13 digits, so that t_(k+1)^2 - t_(k+1) <= t_k^2 remains.
    """

    momentum: Fraction | str
    nesterov: bool = False
    kept_by_server: ClassVar[Mapping[str, bool]] = {"x": True, "previous": True}

    def __post_init__(self) -> None:
        if isinstance(self.momentum, Fraction):
            self._checked(self.momentum, 0)
        elif self.expression is not None:
            for r in (1, 2):
                self.at(r)

    @cached_property
    def expression(self) -> Expression | None:
        """The expression in the round that users wrote; None for a number, and for FISTA's."""
        own = self.momentum
        return None if isinstance(own, Fraction) or own == FISTA else parse_expression(own, "momentum_g", ("r",))

    def _checked(self, value: Fraction, r: int) -> Fraction:
        if not 0 <= value < 1:
            shown = f"momentum_g = {format_short(value)}" + (f" in round {r}" if r else "")
            raise BadInput(f"{shown} is not allowed; the momentum of the server is at least 0 and below 1.")
        return value

    @property
    def is_constant(self) -> bool:
        """Whether it is the same in all rounds but the first, where nothing depends on it."""
        return isinstance(self.momentum, Fraction)

    def at(self, r: int) -> Fraction:
        """The momentum of round r (from 0). Raises BadInput for a value that is not allowed."""
        if isinstance(self.momentum, Fraction):
            return self.momentum
        if r == 0:
            return Fraction(0)
        if self.expression is not None:
            return self._checked(self.expression.at(r=r), r)
        return (_fista(r) - 1) / _fista(r + 1)

    changing: ClassVar[str] = "momentum"

    @property
    def steady(self) -> bool:
        return self.is_constant

    def numbers(self, round_index: int, dim: int) -> Mapping[str, Any]:
        return {"beta": self.at(round_index)}

    def _ahead(self, at: At) -> Any:
        return at.server["x"] + at.number["beta"] * (at.server["x"] - at.server["previous"])

    def begin(self, at: At) -> Any:
        return self._ahead(at) if self.nesterov else at.server["x"]

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": self._ahead(at) + at.eta_g * total["x"], "previous": at.server["x"]}

    def parameters(self) -> dict[str, Fraction]:
        """The momentum, where it is one number."""
        return {"momentum_g": self.momentum} if isinstance(self.momentum, Fraction) else {}
