"""Floating values of a program at many points, and how far each can be from the exact value.

A computed value v has an error of at most r |v| + a. The pair (r, a) of a node follows from those of its arguments and
from the sizes of the computed values, rounding and underflow included. Sizes are taken over all points of a block,
which costs two passes a node and gives one pair for the block, or point by point.

Every operation is taken as correct to half a unit in the last place, NumPy's powers, exponentials and logarithms to
four units; the factors below are twice that, which covers terms of higher order. Where a value has left the floats, or
nothing is known of it, a is infinite or not a number, and so it is for all values made of it. Nothing here warns:
callers use np.errstate(all="ignore").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np

from boundcheck.core.numbers import nearest_float
from boundcheck.theory.program import Node

BLOCK = 32768  # points that are computed at once: few enough for the values of a block to stay in cache
Step = tuple[int, list[int]]  # a node, and the nodes that nothing needs after it
UNIT = 2.0**-53
TINY = 2.0**-1074  # an operation loses at most this by underflow
_SMALL = 2.0**-20  # a relative error below this stands for an absolute one
_ELEMENTARY = 8  # twice the units in the last place of NumPy's pow, exp and log


def order_of(nodes: Sequence[Node], roots: Sequence[int], arrays: Set[str]) -> tuple[list[Step], list[Step]]:
    """The nodes that the roots need, arguments first: those of numbers alone, and those that depend on arrays."""
    used, moving = set(roots), set[int]()
    for i in reversed(range(len(nodes))):  # arguments have smaller numbers than their users
        if i in used:
            used.update(nodes[i].args)
    last = {a: i for i in sorted(used) for a in nodes[i].args}
    for i in sorted(used):
        if nodes[i].data in arrays if nodes[i].op == "sym" else moving.intersection(nodes[i].args):
            moving.add(i)
    steps = [(i, [a for a in nodes[i].args if last[a] == i and a in moving and a not in roots]) for i in sorted(used)]
    return [s for s in steps if s[0] not in moving], [s for s in steps if s[0] in moving]


def whole_nodes(nodes: Sequence[Node], integers: Set[str]) -> frozenset[int]:
    """The nodes that are made of whole numbers by operations which keep them whole; integers: names of symbols."""
    found = set[int]()
    for i, node in enumerate(nodes):
        if node.op in ("num", "sym"):
            own = node.data.denominator == 1 if node.op == "num" else node.data in integers
        else:
            own = node.op in ("add", "mul", "powi", "min", "max", "abs") and found.issuperset(node.args)
        if own:
            found.add(i)
    return frozenset(found)


class Walk:
    """The values of a program's roots at many points, and the error bounds of its nodes.

    whole: of `whole_nodes`; steps: of `order_of`. symbols: name -> np.float64 or flat array of reals; inexact: names of
    those whose values are rounded to floats. before: the walk over the nodes of numbers alone. values: root -> array
    that is filled. by_point: error bounds are arrays, a number for each point (of one block), and not one number for
    all points.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        whole: Set[int],
        steps: Sequence[Step],
        symbols: Mapping[str, Any],
        inexact: Set[str],
        before: Walk | None = None,
        values: Mapping[int, Any] = MappingProxyType({}),
        *,
        by_point: bool = False,
    ) -> None:
        self.values = dict(values)
        self._nodes, self._whole = nodes, whole
        self._inexact = inexact
        self._before = before
        self._by_point = by_point
        self._least: dict[int, Any] = {}  # moduli
        self._most: dict[int, Any] = {}
        self._negative: set[int] = set()  # nodes with a negative value
        self._jumps: dict[int, Any] = {}  # of a rounding function: how far its argument is from a whole number
        self._pairs: dict[tuple[int, float], tuple[Any, Any]] = {}
        if before is None:
            self._block(self.values, steps, symbols, {})
            return
        self._least |= before._least
        self._most |= before._most
        self._negative |= before._negative
        for start in range(0, max(len(array) for array in symbols.values()), BLOCK):
            here = slice(start, start + BLOCK)
            floats = {name: array[here].astype(np.float64, copy=False) for name, array in symbols.items()}
            self._block(dict(before.values), steps, floats, {root: kept[here] for root, kept in self.values.items()})

    def _block(
        self, values: dict[int, Any], steps: Sequence[Step], symbols: Mapping[str, Any], places: Mapping[int, Any]
    ) -> None:
        """Computes the nodes of the steps; places: where the values of roots are put."""
        for i, finished in steps:
            node, place = self._nodes[i], places.get(i)
            args = [values[a] for a in node.args]
            values[i] = value = symbols[node.data] if node.op == "sym" else _apply(node, args, place)
            if place is not None and value is not place:
                place[:] = value
            least, most = self._sizes(i, value)
            self._least[i] = np.minimum(least, self._least.get(i, math.inf))
            self._most[i] = np.maximum(most, self._most.get(i, 0.0))
            if node.op in ("floor", "ceiling"):
                distance = np.abs(args[0] - np.rint(args[0]))
                least = distance if self._by_point else distance.min()
                self._jumps[i] = np.minimum(least, self._jumps.get(i, math.inf))
            for done in finished:
                values.pop(done, None)

    def _sizes(self, i: int, value: Any) -> tuple[Any, Any]:
        low, high = value.min(), value.max()
        if not low >= 0:
            self._negative.add(i)
        if self._by_point:
            size = np.abs(value)
            return size, size
        if low >= 0:
            return low, high
        return (-high if high <= 0 else np.abs(value).min()), np.maximum(-low, high)

    def error(self, i: int, unit: float = UNIT) -> Any:
        """The most by which a node's value differs from the exact one; infinite or nan where no bound is known.

        unit: of rounding; 0 counts what is lost by underflow alone.
        """
        if self._before is not None and i in self._before.values:
            return self._before.error(i, unit)
        relative, absolute = self._bound(i, self._nodes[i], unit)
        return relative * self._most[i] + absolute + 0 * self._most[i]

    def least(self, i: int) -> Any:
        """The least modulus of a node's values."""
        return self._least[i]

    def _pair(self, i: int, unit: float) -> tuple[Any, Any]:
        if self._before is not None and i in self._before.values:
            return self._before._pair(i, unit)
        if (i, unit) not in self._pairs:
            relative, absolute = self._bound(i, self._nodes[i], unit)
            if self._nodes[i].op in ("div", "powi", "root"):  # of 0, which does not underflow
                first = self._nodes[i].args[0]
                absolute = np.where((self._most[first] == 0) & (self._pair(first, unit)[1] == 0), 0.0, absolute)
            absolute = absolute + 0 * self._most[i]
            if not self._by_point and relative + absolute / self._least[i] < _SMALL:
                relative, absolute = relative + absolute / self._least[i], 0.0
            self._pairs[i, unit] = relative, absolute
        return self._pairs[i, unit]

    def _relative(self, i: int, unit: float) -> Any:
        """The whole error relative to the exact value."""
        relative, absolute = self._pair(i, unit)
        whole = np.where(absolute == 0, relative, relative + absolute / self._least[i])
        return whole / np.where(whole < 1, 1 - whole, math.nan)

    def _bound(self, i: int, node: Node, unit: float) -> tuple[Any, Any]:
        op = node.op
        if op in ("num", "sym"):
            exact = node.data not in self._inexact if op == "sym" else _is_float(node.data)
            return (0.0, 0.0) if exact else (2 * unit, TINY)
        if op == "pi":
            return 2 * unit, 0.0
        first = node.args[0]
        if op in ("floor", "ceiling"):  # jumps depend on rounding in either case
            inner = self.error(first)
            return 0.0, np.where((inner == 0) | (self._jumps[i] > inner), 0.0, math.inf)
        if i in self._whole and not any(np.any(part) for a in node.args for part in self._pair(a, unit)):
            sizes = sum(self._most[a] for a in node.args) + self._most[i]
            if np.max(sizes) < 2**53:
                return 0.0, 0.0
        relative, absolute = self._pair(first, unit)
        if op == "abs":
            return relative, absolute
        if op in ("add", "min", "max"):
            return self._bound_of_sum(node, unit)
        if op == "mul":
            return self._bound_of_product(node, unit)
        if op == "div":
            change = self._relative(node.args[1], unit)
            grown = np.expm1(relative + change)
            return grown + 4 * unit, absolute * (1 + change) / self._least[node.args[1]] + TINY * (2 + grown)
        if op == "powi":
            k = node.data
            return _power_bound(self._most[first], relative, absolute, k, max(k, _ELEMENTARY) * unit)
        if op == "root":
            return self._bound_of_root(node, relative, absolute, unit)
        if op == "exp":
            grown = np.expm1(self.error(first, unit))
        elif op == "log":
            return _ELEMENTARY * unit, self._relative(first, unit)
        else:
            grown = self._growth_of_power(node, unit)
        return grown + _ELEMENTARY * unit, TINY * (2 + grown)

    def _bound_of_sum(self, node: Node, unit: float) -> tuple[Any, Any]:
        """Terms of one sign keep their relative errors; min and max are those of one of their arguments."""
        pairs = [self._pair(a, unit) for a in node.args]
        is_sum = node.op == "add"
        together = sum if is_sum else _largest
        rounded = 2 * unit * len(pairs) if is_sum else 0.0
        if self._negative.isdisjoint(node.args) and not (is_sum and -1 in node.data):
            return _largest([r for r, _ in pairs]) + rounded, together([a for _, a in pairs])
        sizes = rounded * sum(self._most[a] for a in node.args) if is_sum else 0.0
        return rounded, together([self.error(a, unit) for a in node.args]) + sizes

    def _bound_of_product(self, node: Node, unit: float) -> tuple[Any, Any]:
        """Partial products may underflow in any order, before larger factors come; one that is 0 does not."""
        size, lost, growth, rate = 1.0, 0.0, 1.0, 0.0
        zero: Any = False
        for a in node.args:
            relative, absolute = self._pair(a, unit)
            most = self._most[a] * (1 + relative)
            lost = lost * (most + absolute) + size * absolute
            size, growth, rate = size * most, growth * np.maximum(1.0, most + absolute), rate + relative
            zero = zero | ((self._most[a] == 0) & (absolute == 0))
        lost = np.where(zero, 0.0, lost + len(node.args) * TINY * growth)
        return np.expm1(rate) + 2 * unit * len(node.args), lost

    def _bound_of_root(self, node: Node, relative: Any, absolute: Any, unit: float) -> tuple[Any, Any]:
        """|a^(1/q) - b^(1/q)| <= |a - b| / a^(1 - 1/q); nan where the exact base may be negative."""
        p, q = node.data
        least, most = self._least[node.args[0]], self._most[node.args[0]]
        room = least * (1 - relative) - absolute
        lost = np.where(absolute == 0, 0.0, absolute / np.where(room > 0, room, math.nan) ** (1 - 1 / q))
        exponent = 0.0 if q == 2 else p / q * np.maximum(np.abs(np.log(least)), np.abs(np.log(most)))
        return _power_bound(most ** (1 / q), relative, lost, p, (_ELEMENTARY * p + 2 * exponent) * unit)

    def _growth_of_power(self, node: Node, unit: float) -> Any:
        """By the change of exponent * log(base); nan where an inexact exponent meets a base that may be negative."""
        base, exponent = node.args
        moved, error = self._relative(base, unit), self.error(exponent, unit)
        log = np.maximum(np.abs(np.log(self._least[base])), np.abs(np.log(self._most[base])))
        change = (self._most[exponent] + error) * moved + np.where(error == 0, 0.0, error * (log + moved))
        return np.expm1(np.where(error == 0, change, math.nan) if base in self._negative else change)


def _power_bound(size: Any, relative: Any, absolute: Any, k: int, rounded: Any) -> tuple[Any, Any]:
    """Of the k-th power of a number of this size; rounded: relatively, by the power itself."""
    lost = np.where(absolute == 0, 0.0, k * (size * (1 + relative) + absolute) ** (k - 1) * absolute)
    return np.expm1(k * relative) + rounded, lost + k * TINY


def _largest(values: Sequence[Any]) -> Any:
    return reduce(np.maximum, values)


def _is_float(value: Any) -> bool:
    near = nearest_float(value)
    return math.isfinite(near) and value == near


def _quotient(top: Any, bottom: Any) -> Any:
    """Times the inverse of a number that is far from the ends of the floats."""
    return top * (1 / bottom) if not bottom.ndim and 1e-150 < abs(bottom) < 1e150 else np.divide(top, bottom)


def _apply(node: Node, args: list[Any], place: Any) -> Any:
    """The value of a node; a sum is put in its place, where there is one."""
    op = node.op
    if op == "num":
        return np.float64(nearest_float(node.data))
    if op == "pi":
        return np.float64(math.pi)
    if op == "add":
        (first, sign), *rest, (last, last_sign) = zip(args, node.data, strict=True)
        total = first if sign > 0 else -first
        for arg, s in rest:
            total = total + arg if s > 0 else total - arg
        return (np.add if last_sign > 0 else np.subtract)(total, last, out=place)
    if op == "mul":  # numbers first
        return reduce(np.multiply, sorted(args, key=lambda a: a.ndim))
    if op == "powi":
        return _integer_power(args[0], node.data)
    if op == "root":
        p, q = node.data
        return _integer_power(np.sqrt(args[0]), p) if q == 2 else np.power(args[0], p / q)
    return reduce(_BINARY[op], args) if op in _BINARY else _UNARY[op](args[0])


def _integer_power(base: Any, k: int) -> Any:
    if k > 16:
        return np.power(base, np.float64(k))
    result, square = None, base
    while k:
        if k & 1:
            result = square if result is None else result * square
        k >>= 1
        square = square * square if k else square
    return result


_BINARY = {"min": np.minimum, "max": np.maximum, "div": _quotient, "pow": np.power}
_UNARY = {"abs": np.abs, "exp": np.exp, "log": np.log, "floor": np.floor, "ceiling": np.ceil}
