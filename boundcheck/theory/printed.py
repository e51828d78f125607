"""Expressions of a statement as one NumPy function, printed by SymPy with common subexpressions taken out.

Powers with a symbolic, fractional or large exponent, and exponentials, are computed apart from the printed code, since
they alone leave the normal floats in ordinary use: (1 - mu eta)^K underflows for large K. What is printed are sums,
products, quotients, square roots, whole powers up to 16, logarithms, Min, Max, Abs, floor and ceiling.

The symbols are renamed before printing, so that no name from a statement becomes code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.lib.mixins import NDArrayOperatorsMixin
from sympy.printing.numpy import NumPyPrinter

from boundcheck.theory.boxes import Range
from boundcheck.theory.program import compile_expression

LARGEST_POWER = 16  # whole powers up to here are repeated multiplications
_LONGEST = 2**1000  # numerators and denominators of constants
VANISHED = 2.0**-900  # a power below it is taken as 0, so that its products do not underflow
_NEAR_JUMP = 1e-9  # relative distance from an integer within which floor and ceiling are evaluated exactly


class Least(sp.Function):
    """Min, which SymPy does not simplify: that would compare each pair of arguments, at the cost of seconds."""


class Greatest(sp.Function):
    """Max, which SymPy does not simplify."""


class Modulus(sp.Function):
    """Abs, which SymPy does not simplify."""


_UNSIMPLIFIED: dict[Any, Any] = {sp.Min: Least, sp.Max: Greatest, sp.Abs: Modulus}


class Power(NamedTuple):
    """A power that is computed apart from the printed code; base E for exponentials."""

    symbol: Any
    base: Any
    exponent: Any


class Renamed:
    """Expressions with renamed symbols, and with symbols in place of the powers that are computed apart.

    names: the statement's symbols that the expressions may use. symbols: their new symbols, in the same order.
    beyond: whether a constant is beyond the floats; it is replaced by 1, and no value may be used.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.symbols = tuple(sp.Symbol(f"v{i}", real=True) for i in range(len(names)))
        self.powers: list[Power] = []
        self.beyond = False
        self._new = {sp.Symbol(n, real=True): s for n, s in zip(names, self.symbols, strict=True)}
        self._known: dict[Any, Any] = {}

    def add(self, expr: Any) -> Any:
        """The expression in the new symbols. Raises BadInput for a function that no statement uses."""
        compile_expression(expr)
        return self._translated(expr)

    def _translated(self, expr: Any) -> Any:
        if expr.is_Rational and max(abs(expr.p), expr.q) > _LONGEST:
            self.beyond = True
            return sp.S.One
        if not expr.args:
            return self._new.get(expr, expr)
        if expr not in self._known:
            args = [self._translated(a) for a in expr.args]
            if isinstance(expr, sp.exp):
                self._known[expr] = self._power(sp.E, args[0])
            elif isinstance(expr, sp.Pow) and not _is_plain(args[1]):
                self._known[expr] = self._power(*args)
            else:
                self._known[expr] = _UNSIMPLIFIED.get(expr.func, expr.func)(*args)
        return self._known[expr]

    def _power(self, base: Any, exponent: Any) -> Any:
        found = next((p.symbol for p in self.powers if (p.base, p.exponent) == (base, exponent)), None)
        if found is None:
            found = sp.Symbol(f"p{len(self.powers)}", real=True)
            self.powers.append(Power(found, base, exponent))
        return found

    def powers_in(self, exprs: Sequence[Any]) -> list[Power]:
        """The powers that the expressions use, each after those that it uses itself."""
        found: list[Power] = []
        left = list(exprs)
        for power in reversed(self.powers):
            if any(e.has(power.symbol) for e in left):
                found.append(power)
                left += [power.base, power.exponent]
        return found[::-1]

    def lost(self, expr: Any) -> Any:
        """How far an expression moves, at most, where powers below `VANISHED` are taken as 0; oo where not known."""
        moving = [p.symbol for p in self.powers if expr.has(p.symbol)]
        if any(p.base.has(*moving) or p.exponent.has(*moving) for p in self.powers if moving):
            return sp.oo
        slopes: list[Any] = [sp.diff(expr, p) for p in moving]
        if any(s.has(*moving) or s.has(sp.Derivative) for s in slopes):
            return sp.oo
        sizes: list[Any] = [Modulus(s) for s in slopes]
        return sp.Add(*sizes) * sp.Float(2 * VANISHED)


def _is_plain(exponent: Any) -> bool:
    return bool(exponent.is_Rational and exponent.q <= 2 and abs(exponent.p) <= LARGEST_POWER)


def whole_power(base: Any, k: int) -> Any:
    """base^k by repeated multiplication."""
    if k < 0:
        return 1 / whole_power(base, -k)
    result = None
    while k:
        if k & 1:
            result = base if result is None else result * base
        k >>= 1
        base = base * base if k else base
    return result


class _Printer(NumPyPrinter):
    def _print_Least(self, expr: Any) -> str:
        return self._print_minimum(expr)

    def _print_Greatest(self, expr: Any) -> str:
        return self._print_maximum(expr)

    def _print_Modulus(self, expr: Any) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        p, q = int(expr.exp.p), int(expr.exp.q)
        base = self._print(sp.sqrt(expr.base, evaluate=False)) if q == 2 and p != 1 else self._print(expr.base)
        if (p, q) == (1, 2):
            return f"{self._module_format('numpy.sqrt')}({base})"
        return f"whole_power({base}, {p})"


def printed(arguments: Sequence[Any], exprs: Sequence[Any]) -> Callable[..., list[Any]]:
    """A function of NumPy arrays or scalars, one for each argument, to the values of the expressions."""
    modules: Any = [{"whole_power": whole_power}, "numpy"]
    settings = {"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True}
    function: Callable[..., list[Any]] = sp.lambdify(
        arguments, list(exprs), modules=modules, printer=_Printer(settings), cse=True
    )
    return function


class Function:
    """Several expressions over arrays.

    A call gives their values at some points; the points where an intermediate value is not finite or has underflowed,
    so that the values say nothing; and the points where a power has vanished, which moves them by at most `lost`.
    What depends on scalars alone is computed once, when `scalars` gives their values.
    """

    def __init__(self, renamed: Renamed, exprs: Sequence[Any], arrays: Set[str]) -> None:
        powers = renamed.powers_in(exprs)
        every = [*exprs, *(e for power in powers for e in (power.base, power.exponent))]
        used = set[Any]().union(*(e.free_symbols for e in every))
        named = {n: s for n, s in zip(renamed.names, renamed.symbols, strict=True) if s in used}
        self.names = tuple(named)
        self._scalars = [name for name in named if name not in arrays]
        self._arrays = [name for name in named if name in arrays]
        self._jumps = any(e.has(sp.floor, sp.ceiling) for e in every)
        moving = {named[name] for name in self._arrays} | {power.symbol for power in powers}
        fixed: dict[Any, Any] = {}
        pairs = [[_fixed_apart(e, moving, fixed) for e in (power.base, power.exponent)] for power in powers]
        last = [_fixed_apart(e, moving, fixed) for e in exprs]
        scalars = [named[name] for name in self._scalars]
        arguments = [*scalars, *fixed.values(), *(named[name] for name in self._arrays)]
        self._fixed = printed(scalars, list(fixed))
        self._powers: list[tuple[Callable[..., list[Any]], bool]] = []
        for power, pair in zip(powers, pairs, strict=True):
            self._powers.append((printed(arguments, pair), power.base is sp.E))
            arguments.append(power.symbol)
        self._final = printed(arguments, last)

    def __call__(self, symbols: Mapping[str, Any]) -> tuple[list[Any], Any, Any]:
        """(values, doubtful, vanished). symbols: name -> float64 number or array."""
        vanished: list[Any] = []
        if not self._jumps:
            try:
                with np.errstate(all="raise"):
                    values = self._carried_out(symbols, partial(_power, vanished))
                return values, np.False_, reduce(np.logical_or, vanished, np.False_)
            except (FloatingPointError, OverflowError):
                vanished = []
        doubts: list[Any] = []
        watched = {name: Watched(symbols[name], doubts) for name in self.names}
        with np.errstate(all="ignore"):
            values = self._carried_out(watched, lambda *power: Watched(_power(vanished, *map(_plain, power)), doubts))
        values = [_plain(v) for v in values]
        return values, reduce(np.logical_or, doubts, np.False_), reduce(np.logical_or, vanished, np.False_)

    def highest(self, ends: Mapping[str, tuple[float, float]]) -> list[float]:
        """Upper limits of the values where each symbol lies between its ends; inf where none is found."""
        ranges = {name: Range(*pair) for name, pair in ends.items()}
        return [Range.of(v).high for v in self._carried_out(ranges, _power_range)]

    def _carried_out(self, symbols: Mapping[str, Any], power: Callable[..., Any]) -> list[Any]:
        scalars = [symbols[name] for name in self._scalars]
        arguments = [*scalars, *self._fixed(*scalars), *(symbols[name] for name in self._arrays)]
        for function, exponential in self._powers:
            base, exponent = function(*arguments)
            arguments.append(power(None if exponential else base, exponent))
        return self._final(*arguments)


def _plain(value: Any) -> Any:
    return value.values if isinstance(value, Watched) else value


def _power(vanished: list[Any], base: Any, exponent: Any) -> Any:
    """base^exponent, or the exponential where base is None, with 0 in place of what is below `VANISHED`."""
    with np.errstate(under="ignore"):
        power = np.exp(exponent) if base is None else np.power(base, np.asarray(exponent, dtype=np.float64))
    if np.min(power) >= VANISHED:
        return power
    tiny = np.abs(power) < VANISHED
    if not np.any(tiny):
        return power
    vanished.append(tiny if base is None else tiny & np.not_equal(base, 0))
    return np.where(tiny, 0.0, power)


def _power_range(base: Any, exponent: Any) -> Range:
    exponent = Range.of(exponent)
    return np.exp(exponent) if base is None else Range.of(base).power(exponent)


def _fixed_apart(expr: Any, moving: Set[Any], fixed: dict[Any, Any]) -> Any:
    """The expression with symbols, from `fixed`, in place of what does not depend on the moving ones."""
    if expr.is_Atom:
        return expr
    if not expr.free_symbols & moving:
        return fixed.setdefault(expr, sp.Symbol(f"s{len(fixed)}", real=True))
    if not isinstance(expr, sp.Add | sp.Mul):
        return expr.func(*(_fixed_apart(a, moving, fixed) for a in expr.args))
    apart, rest = expr.as_independent(*moving, as_Add=isinstance(expr, sp.Add))
    args = [_fixed_apart(a, moving, fixed) for a in expr.func.make_args(rest)]
    return expr.func(_fixed_apart(apart, moving, fixed), *args)


_PRODUCTS = (np.multiply, np.divide, np.square)


class Watched(NDArrayOperatorsMixin):
    """An array that notes where the result of an operation is not finite, has underflowed or is near a jump."""

    def __init__(self, values: Any, doubts: list[Any]) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        self._doubts = doubts
        self._note(~np.isfinite(self.values))

    def _note(self, doubtful: Any) -> None:
        if np.any(doubtful):
            self._doubts.append(doubtful)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Watched:
        values = [np.asarray(v.values if isinstance(v, Watched) else v, dtype=np.float64) for v in inputs]
        found = ufunc(*values)
        below = np.abs(found) < sys.float_info.min
        if ufunc in _PRODUCTS:
            zero = values[0] == 0 if ufunc is np.divide else reduce(np.logical_or, [v == 0 for v in values])
            self._note(below & ~zero)
        elif ufunc in (np.floor, np.ceil):
            self._note(np.abs(values[0] - np.rint(values[0])) <= _NEAR_JUMP * np.maximum(1.0, np.abs(values[0])))
        return Watched(found, self._doubts)
