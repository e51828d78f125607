"""The declared symbols of a statement, and the ones that most papers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_apart, format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, LENGTH2, ONE, STEP, VALUE, Dimension
from boundcheck.theory.keys import name_of


@dataclass(frozen=True)
class Symbol:
    """One symbol of a statement.

    name: ASCII, as users type it. meaning: one clause. dimension: see `theory.dimension`.
    integer: only whole numbers. low, high: end points of the domain (None: unbounded); low_open, high_open:
    whether the end point itself is excluded. index: the statement holds for every value of it (K, T, ...).
    latex: how to typeset it. A value outside is bad input, not "out of scope". key: the constant of the catalogue
    (`theory.keys`) whose value it takes from problem and method; empty: the value is always given by the user. free:
    whether a reader chooses the value (a target accuracy, a number of rounds set beforehand); a given value of any
    other symbol describes a run, and is checked against it or named as taken for granted.
    """

    name: str
    meaning: str
    dimension: Dimension
    integer: bool = False
    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False
    index: bool = False
    latex: str = ""
    key: str = ""
    free: bool = False

    @property
    def reported(self) -> str:
        """The name under which problems and methods report its value; empty without a key."""
        return name_of(self.key) if self.key else ""

    @property
    def expr(self) -> Any:
        """The SymPy symbol: real, and nothing else, so that no condition is decided behind our back."""
        import sympy as sp

        return sp.Symbol(self.name, real=True)

    def allowed(self) -> str:
        """The domain in words."""
        kind = "integers" if self.integer else "real numbers"
        if self.low is not None and self.high is not None:
            left, right = "<" if self.low_open else "<=", "<" if self.high_open else "<="
            return f"{kind} with {format_short(self.low)} {left} {self.name} {right} {format_short(self.high)}"
        if self.low is not None:
            return f"{kind} {self.name} {'>' if self.low_open else '>='} {format_short(self.low)}"
        if self.high is not None:
            return f"{kind} {self.name} {'<' if self.high_open else '<='} {format_short(self.high)}"
        return kind

    def admits(self, value: Fraction) -> bool:
        """Whether the value lies in the domain."""
        if self.integer and value.denominator != 1:
            return False
        if self.low is not None and (value < self.low or (self.low_open and value == self.low)):
            return False
        return not (self.high is not None and (value > self.high or (self.high_open and value == self.high)))

    def check(self, value: Fraction, statement: str) -> Fraction:
        """The value, or BadInput naming statement, symbol, value and domain."""
        if not self.admits(value):
            ends = [end for end in (self.low, self.high) if end is not None]
            if self.integer:
                ends.append(Fraction(round(value)))
            shown = format_apart(value, *ends)[0]
            raise BadInput(f"{statement}: {self.name} = {shown} is outside its domain: {self.allowed()}.")
        return value

    def but(self, **changes: Any) -> Symbol:
        """A copy with some fields changed."""
        return replace(self, **changes)


def declared(symbols: Sequence[Symbol], name: str, label: str) -> Symbol:
    """The declaration of one symbol; UnknownName, with the nearest ones and the label of the statement, otherwise."""
    found = next((s for s in symbols if s.name == name), None)
    if found is None:
        raise UnknownName(f"{label}: symbol", name, [s.name for s in symbols])
    return found


def positive(
    name: str, meaning: str, dimension: Dimension = ONE, latex: str = "", key: str = "", **more: Any
) -> Symbol:
    """A number above 0; more: further fields of `Symbol`."""
    return Symbol(name, meaning, dimension, low=Fraction(0), low_open=True, latex=latex, key=key, **more)


def nonnegative(
    name: str, meaning: str, dimension: Dimension = ONE, latex: str = "", key: str = "", **more: Any
) -> Symbol:
    """A number that is 0 or more; more: further fields of `Symbol`."""
    return Symbol(name, meaning, dimension, low=Fraction(0), latex=latex, key=key, **more)


def count(name: str, meaning: str, low: int = 1, **more: Any) -> Symbol:
    """A whole number from `low` on; more: further fields of `Symbol`."""
    return Symbol(name, meaning, ONE, integer=True, low=Fraction(low), **more)


def share(name: str, meaning: str, **more: Any) -> Symbol:
    """A number from 0 to 1; more: further fields of `Symbol`."""
    return Symbol(name, meaning, ONE, low=Fraction(0), high=Fraction(1), **more)


SHARED = (
    count("n", "number of clients (devices)", key="clients/n"),
    count("E", "local steps of a visit", key="method/E"),
    count("K", "cycle index: how often each device has been visited", low=0, index=True),
    count("T", "communication rounds", key="method/T"),
    count("k", "iteration index", low=0, index=True),
    positive("L", "Lipschitz constant of the gradient of every client", CURVATURE, key="clients/L"),
    positive("mu", "strong (quasi-)convexity constant of the objective", CURVATURE, latex=r"\mu", key="objective/mu"),
    positive("eta", "step size", STEP, latex=r"\eta", key="method/eta"),
    positive("eta0", "step size of the first cycle; cycle K uses eta0/K", STEP, latex=r"\eta_0", key="method/eta0"),
    positive("ell", "constant of the step size ell*log(T)/T", STEP, latex=r"\ell", key="method/ell"),
    nonnegative(
        "sigma2",
        "mean over clients of the squared gradient norm at a minimiser",
        GRADIENT2,
        latex=r"\sigma^2",
        key="clients/sigma2",
    ),
    nonnegative(
        "dist2_0",
        "squared distance of the start to the solution set",
        LENGTH2,
        latex=r"\mathrm{dist}^2(\theta_0)",
        key="start/dist2",
    ),
    nonnegative("gap_0", "objective gap of the start", VALUE, latex=r"(f(x_0)-f^*)", key="start/gap"),
)


class _Common:
    """Attribute access to the shared declarations, e.g. `common.mu`."""

    def __getattr__(self, name: str) -> Symbol:
        symbol = shared(name)
        if symbol is None:
            raise AttributeError(f"no shared symbol is called '{name}'")
        return symbol


def shared(name: str) -> Symbol | None:
    """The shared declaration under this name, or None."""
    return next((s for s in SHARED if s.name == name), None)


common = _Common()
