"""Step sizes, as exact numbers by cycle.

A cycle is one period of the participation (n rounds of SCGD, one round of FedAvg); cycles count from 1.
"""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from boundcheck.core.expressions import Expression, parse_expression
from boundcheck.core.numbers import format_short, round_down
from boundcheck.errors import BadInput, Unsupported

# The local step size of a round, or of each of its local steps where these differ.
StepSize = Fraction | tuple[Fraction, ...]


class Schedule(Protocol):
    """The local step size of each cycle."""

    def step(self, cycle: int) -> Fraction:
        """Step size of cycle 1, 2, ..."""
        ...

    def is_constant(self) -> bool:
        """Whether every cycle has the same step size."""
        ...

    def is_exact(self) -> bool:
        """Whether the steps are those of the formula, not rounded."""
        ...


class _Fixed:
    """Step sizes of one value, given exactly."""

    def is_constant(self) -> bool:
        return True

    def is_exact(self) -> bool:
        return True


class _Changing(_Fixed):
    """Step sizes of several values, of which no single number is a parameter; every round may have one of its own."""

    rounds_per_cycle = 1

    def parameters(self) -> dict[str, Fraction]:
        return {}

    def is_constant(self) -> bool:
        return False


def _positive(value: Fraction, name: str) -> None:
    if value <= 0:
        raise BadInput(f"{name} = {value} is not a step size; it must be above 0.")


@dataclass(frozen=True)
class Constant(_Fixed):
    """The same step size in every cycle; symbol: what statements call it (eta, eta_l)."""

    eta: Fraction
    symbol: str = "eta"

    def parameters(self) -> dict[str, Fraction]:
        """The step size under its symbol."""
        return {self.symbol: self.eta}

    def __post_init__(self) -> None:
        _positive(self.eta, self.symbol)

    def step(self, cycle: int) -> Fraction:
        return self.eta


@dataclass(frozen=True)
class InverseCycle(_Fixed):
    """eta0 / K in cycle K = 1, 2, ... (SCGD, Theorem 3.4 and Section 4).

    rounds_per_cycle: rounds that share one K; None means one period of the participation. The paper's
    Figure 2 lets FedAvg share the cycle count of SCGD, so that FedAvg there has rounds_per_cycle = n.
    """

    eta0: Fraction
    rounds_per_cycle: int | None = None

    def __post_init__(self) -> None:
        _positive(self.eta0, "eta0")

    @property
    def rule(self) -> str:
        """See `methods.answers`."""
        return f"({format_short(self.eta0)})/K"

    def step(self, cycle: int) -> Fraction:
        return self.eta0 / cycle

    def is_constant(self) -> bool:
        return False


@dataclass(frozen=True)
class LogHorizon(_Fixed):
    """ell * log(T) / T, constant over a run of T rounds, rounded down to 13 digits (SCGD, choice of E)."""

    ell: Fraction
    T: int

    def __post_init__(self) -> None:
        _positive(self.ell, "ell")
        if self.T < 2:
            raise BadInput(f"T = {self.T} rounds give log(T)/T = 0 or less; at least 2 are needed.")

    def step(self, cycle: int) -> Fraction:
        # a double's log is good to an ulp; giving back 1e-13 keeps the rounded step below the true one
        return round_down(self.ell * Fraction(math.log(self.T)) * (1 - Fraction(1, 10**13)) / self.T)

    def is_exact(self) -> bool:
        return False


@dataclass(frozen=True)
class Decaying(_Changing):
    """A step size that is multiplied by `factor` from each of the rounds `at` on (step decay), after a warm-up.

    Rounds count from 0. In round t < warm_up the step size is (t + 1)/warm_up of what it would be. No statement about
    a constant step size has such a run in its scope: there is no parameter eta.
    """

    eta: Fraction
    at: tuple[int, ...]
    factor: Fraction
    warm_up: int = 0

    def __post_init__(self) -> None:
        _positive(self.eta, "the step size before it decays")
        if not self.at and not self.warm_up:
            raise BadInput("a step size that changes needs the rounds of its decay (at) or of its warm-up (warm_up).")
        if any(t < 1 for t in self.at) or any(a >= b for a, b in itertools.pairwise(self.at)):
            shown = ", ".join(map(str, self.at))
            raise BadInput(f"the rounds at which the step size decays must increase from 1 on; they are {shown}.")
        if not 0 < self.factor < 1:
            raise BadInput(f"factor = {self.factor} of a decaying step size is not allowed; it lies between 0 and 1.")
        if self.warm_up < 0:
            raise BadInput(f"warm_up = {self.warm_up} is not allowed; it is a number of rounds.")

    @property
    def breaks(self) -> tuple[int, ...]:
        """See `methods.answers`."""
        return self.warm_up, *self.at

    def step(self, cycle: int) -> Fraction:
        rising = Fraction(min(cycle, self.warm_up), self.warm_up) if self.warm_up else 1
        return self.eta * rising * self.factor ** bisect.bisect_right(self.at, cycle - 1)


@dataclass(frozen=True)
class Formula(_Changing):
    """A step size that users write as text in r and t (`core.expressions`), such as "2/(8 + t)".

    r: the round, from 0. t: the local step, counted from 0 over all rounds: t = r K + k in local step k of round r, K
    the number of local steps that every client takes in every round. symbol: what statements call the step size. No
    statement about a constant step size has such a run in its scope: there is no parameter eta.
    """

    text: str
    symbol: str = "eta"

    def __post_init__(self) -> None:
        if not self.expression.variables:
            raise BadInput(f"{self.symbol} = '{self.text}' has neither r nor t; write the step size as a number.")
        self._checked(0, 0)

    @cached_property
    def expression(self) -> Expression:
        """The text, read."""
        return parse_expression(self.text, self.symbol, ("r", "t"))

    def _checked(self, r: int, t: int) -> Fraction:
        value = self.expression.at(r=r, t=t)
        if value <= 0:
            where = f"round {r}" + (f", local step {t} of the run" if self.by_iteration else "")
            raise BadInput(
                f"{self.symbol} = '{self.text}' is {format_short(value)} in {where}; a step size must be above 0."
            )
        return value

    @property
    def rule(self) -> str:
        """See `methods.answers`."""
        return self.text

    @property
    def by_iteration(self) -> bool:
        """Whether it changes from local step to local step."""
        return "t" in self.expression.variables

    def step(self, cycle: int) -> Fraction:
        if self.by_iteration:
            raise Unsupported(
                f"the step size {self.symbol} = '{self.text}' changes from local step to local step, so that a round "
                "has no single one, which is needed here."
            )
        return self._checked(cycle - 1, 0)

    def steps(self, round_index: int, count: int) -> tuple[Fraction, ...]:
        """The step sizes of the `count` local steps of a round (from 0)."""
        return tuple(self._checked(round_index, round_index * count + k) for k in range(count))

    def is_exact(self) -> bool:
        return self.expression.is_exact


@dataclass(frozen=True)
class NoStep(_Fixed):
    """For methods without a step size: their local work solves a subproblem exactly."""

    def parameters(self) -> dict[str, Fraction]:
        """None."""
        return {}

    def step(self, cycle: int) -> Fraction:
        return Fraction(1)
