"""Ranges of a program's values over boxes of inputs, in floats with slack; wide, but good for a whole array at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from boundcheck.theory.inputs import to_float
from boundcheck.theory.program import Node

Interval = tuple[float, float]
EVERYTHING: Interval = (-math.inf, math.inf)
_SLACK = 2.0**-40  # covers the rounding of one step, and of the inputs on their way to floats


def highest(nodes: Sequence[Node], root: int, ends: Mapping[str, Interval]) -> float:
    """An upper limit of a node's value where each symbol lies between its ends; inf where none is found."""
    found: dict[int, Interval] = {}

    def interval(i: int) -> Interval:
        if i not in found:
            low, high = _interval(nodes[i], [interval(a) for a in nodes[i].args], ends)
            defined = not (math.isnan(low) or math.isnan(high))
            found[i] = (low - abs(low) * _SLACK, high + abs(high) * _SLACK) if defined else EVERYTHING
        return found[i]

    return interval(root)[1]


def _interval(node: Node, args: Sequence[Interval], ends: Mapping[str, Interval]) -> Interval:
    if node.op == "num":
        return to_float(node.data), to_float(node.data)
    if node.op == "sym":
        return ends[node.data]
    if node.op == "pi":
        return math.pi, math.pi
    if node.op == "add":
        signed = [a if s > 0 else (-a[1], -a[0]) for a, s in zip(args, node.data, strict=True)]
        size = sum(max(abs(low), abs(high)) for low, high in signed)
        return sum(low for low, _ in signed) - size * _SLACK, sum(high for _, high in signed) + size * _SLACK
    if node.op == "mul":
        total = args[0]
        for arg in args[1:]:
            total = _corners(total, arg, lambda x, y: x * y)
        return total
    if node.op == "div":
        return _quotient(args[0], args[1])
    if node.op in ("powi", "root"):
        low, high = _modulus(args[0]) if node.op == "powi" and node.data % 2 == 0 else args[0]
        p, q = (node.data, 1) if node.op == "powi" else node.data
        low, high = (low, high) if q == 1 else (max(low, 0.0), max(high, 0.0))
        return _power(low, p / q), _power(high, p / q)
    if node.op == "pow":
        low, high = _modulus(args[0])
        span = _corners((low, high), args[1], _power)
        return span if args[0][0] > 0 else (-span[1], span[1])
    return _OTHERS.get(node.op, lambda _: EVERYTHING)(args)


def _corners(left: Interval, right: Interval, combine: Callable[[float, float], float]) -> Interval:
    values = [combine(x, y) for x in left for y in right]
    return EVERYTHING if any(math.isnan(v) for v in values) else (min(values), max(values))


def _quotient(top: Interval, bottom: Interval) -> Interval:
    if bottom[0] > 0 or bottom[1] < 0:
        return _corners(top, bottom, lambda x, y: x / y)
    return EVERYTHING


def _modulus(arg: Interval) -> Interval:
    low, high = abs(arg[0]), abs(arg[1])
    return (min(low, high) if arg[0] > 0 or arg[1] < 0 else 0.0), max(low, high)


def _power(base: float, exponent: float) -> float:
    try:
        return base**exponent if base >= 0 or exponent == int(exponent) else math.nan
    except (OverflowError, ZeroDivisionError):
        return math.nan


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


_OTHERS: dict[str, Callable[[Sequence[Interval]], Interval]] = {
    "abs": lambda args: _modulus(args[0]),
    "min": lambda args: (min(a[0] for a in args), min(a[1] for a in args)),
    "max": lambda args: (max(a[0] for a in args), max(a[1] for a in args)),
    "exp": lambda args: (_exp(args[0][0]), _exp(args[0][1])),
    "log": lambda args: (_log(args[0][0]), _log(args[0][1])),
}
