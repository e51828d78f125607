"""The values given for an evaluation over arrays: checked, broadcast, as floats and exactly."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, Mistakes

if TYPE_CHECKING:
    from boundcheck.theory.relations import AnyStatement
    from boundcheck.theory.symbols import Symbol


class Inputs:
    """The given values, broadcast lazily: floats for the vectorised path, exact ones for single points."""

    def __init__(self, statement: AnyStatement, values: Mapping[str, Any]) -> None:
        self.label = statement.best_id
        self.exact_scalars: dict[str, Fraction] = {}
        self.sources: dict[str, Any] = {}  # arrays as given
        self.floats: dict[str, Any] = {}
        self._ends: dict[str, tuple[float, float]] = {}
        self._integers = {s.name for s in statement.symbols if s.integer}
        self._ranges: dict[str, tuple[float, float]] = {}
        self.beyond: set[str] = set()  # symbols with a value that no normal float is near to
        self.nonnegative = frozenset(s.name for s in statement.symbols if s.low is not None and s.low >= 0)
        mistakes = Mistakes()
        for name, value in values.items():
            with mistakes.noting():
                self._read(statement.symbol(name), value)
        mistakes.raise_all()
        try:
            self.shape = np.broadcast_shapes(*(a.shape for a in self.sources.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {a.shape}" for name, a in self.sources.items())
            raise BadInput(f"{self.label}: the arrays do not broadcast against each other: {shapes}.") from None
        self.size = math.prod(self.shape)
        for name, source in self.sources.items():
            if source.shape != self.shape:
                self.floats[name] = np.broadcast_to(self.floats[name], self.shape)
                self.sources[name] = np.broadcast_to(source, self.shape)
            self.floats[name] = self.floats[name].reshape(-1)
            self.sources[name] = self.sources[name].reshape(-1)

    def _read(self, symbol: Symbol, value: Any) -> None:
        if isinstance(value, list | tuple | range) or getattr(value, "ndim", 0):
            self._array(symbol, value)
            return
        exact = symbol.check(as_fraction(value, symbol.name), self.label)
        self.exact_scalars[symbol.name] = exact
        self.floats[symbol.name] = to_float(exact)
        self._note_size(symbol.name, [exact])

    def _array(self, symbol: Symbol, value: Any) -> None:
        source = value if isinstance(value, np.ndarray) else np.array([*_flat(value)], dtype=object)
        if not isinstance(value, np.ndarray):
            numeric = [type(v) in (int, float) and abs(v) < 2**53 for v in source]
            if all(numeric):
                source = np.array(source.tolist(), dtype=np.float64)
        if source.dtype.kind in "OU":
            exact = [as_fraction(_item(v), symbol.name) for v in source.reshape(-1)]
            source = np.empty(source.shape, dtype=object)
            source.reshape(-1)[:] = exact
            floats = np.array([to_float(v) for v in exact]).reshape(source.shape)
            self._note_size(symbol.name, exact)
        elif source.dtype.kind in "iuf" and source.dtype.itemsize <= 8:
            floats = source  # becomes float64 block by block
        else:
            raise BadInput(f"{self.label}: {symbol.name} is an array of {source.dtype}, which holds no real numbers.")
        self._check(symbol, source, floats)
        self.sources[symbol.name], self.floats[symbol.name] = source, floats

    def _note_size(self, name: str, exact: Sequence[Fraction]) -> None:
        if any(v != 0 and not sys.float_info.min <= abs(to_float(v)) < math.inf for v in exact):
            self.beyond.add(name)

    def _check(self, symbol: Symbol, source: np.ndarray, floats: np.ndarray) -> None:
        """BadInput naming the first entry outside the domain; the ends are compared exactly where floats tie."""
        if floats.size == 0:
            return
        self._ends[symbol.name] = float(floats.min()), float(floats.max())
        if source.dtype == object:
            suspect: Any = np.ones(floats.size, dtype=bool)
        else:
            suspect = self._outside(symbol, source, floats)
        for i in np.flatnonzero(suspect):
            value = as_fraction(_item(source.reshape(-1)[i]), f"{symbol.name}[{i}]")
            if not symbol.admits(value):
                symbol.check(value, f"{self.label}, entry {i}")

    def _outside(self, symbol: Symbol, source: np.ndarray, floats: np.ndarray) -> Any:
        """A mask that holds every entry outside the domain (and those that tie with an end no float holds)."""
        lowest, highest = self._ends[symbol.name]
        low, low_ties = _end(symbol.low, -math.inf, symbol.low_open)
        high, high_ties = _end(symbol.high, math.inf, symbol.high_open)
        if source.dtype.kind != "f" and max(-lowest, highest) > 2.0**53:  # rounded on the way to floats
            return np.ones(floats.size, dtype=bool)
        suspect = np.zeros(0, dtype=bool)
        inside = (lowest >= low if low_ties else lowest > low) and (highest <= high if high_ties else highest < high)
        if not inside:  # also where NaN
            above = floats >= low if low_ties else floats > low
            suspect = ~(above & (floats <= high if high_ties else floats < high)).reshape(-1)
        if symbol.integer and source.dtype.kind == "f":
            broken = (np.floor(floats) != floats).reshape(-1)
            suspect = suspect | broken if suspect.size else broken
        return suspect

    def at(self, i: int, names: Sequence[str] | None = None) -> dict[str, Fraction]:
        """The values (of some symbols) at one flat index, exactly."""
        return {
            name: self.exact_scalars[name]
            if name in self.exact_scalars
            else as_fraction(_item(self.sources[name][i]), name)
            for name in (self.floats if names is None else names)
        }

    def range(self, name: str) -> tuple[float, float]:
        """(least, greatest) log2 of the nonzero moduli of one symbol."""
        if name not in self._ranges:
            self._ranges[name] = self._range(name)
        return self._ranges[name]

    def _range(self, name: str) -> tuple[float, float]:
        if name in self.beyond:
            return -math.inf, math.inf
        lowest, highest = self._ends.get(name, (0.0, 0.0))
        if lowest == 0.0 and highest >= 1.0 and name in self._integers:
            lowest = 1.0  # the least nonzero integer
        if lowest <= 0.0:
            sizes = np.abs(np.asarray(self.floats[name], dtype=np.float64))
            lowest = float(np.min(sizes, where=sizes > 0, initial=math.inf))
            highest = float(np.max(sizes, initial=0.0))
            lowest, highest = (lowest, highest) if highest else (1.0, 1.0)
        return math.log2(lowest), math.log2(highest)

    def ends(self, name: str) -> tuple[float, float]:
        """(least, greatest) value of one symbol, to within a rounding."""
        if name in self.beyond:
            return -math.inf, math.inf
        return (self.floats[name],) * 2 if name in self.exact_scalars else self._ends[name]

    @property
    def scalars(self) -> dict[str, float]:
        """The values that are no arrays, as floats."""
        return {name: self.floats[name] for name in self.exact_scalars}

    def block(self, here: slice) -> dict[str, Any]:
        """The arrays as float64 over a range of flat indices."""
        return {name: self.floats[name][here].astype(np.float64, copy=False) for name in self.sources}


def _end(end: Fraction | None, infinite: float, is_open: bool) -> tuple[float, bool]:
    """(float end, whether a float equal to it is surely inside the domain)."""
    if end is None:
        return infinite, False
    near = to_float(end)
    return near, not is_open and math.isfinite(near) and Fraction(near) == end


def _flat(value: Sequence[Any]) -> list[Any]:
    for v in value:
        if isinstance(v, list | tuple | range) or getattr(v, "ndim", 0):
            raise BadInput("a list of lists is not read; give a NumPy array for more than one dimension.")
    return list(value)


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def to_float(value: Fraction) -> float:
    """The nearest float; infinite beyond the floats."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf
