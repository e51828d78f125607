"""How far a float evaluation of an expression can be from its exact value.

Each node v of a program gets a magnitude m (a node itself) and a count c with |computed - exact| <= c u m to first
order, u = 2^-53 (inputs count as rounded once; NumPy's powers, exponentials and logarithms as right to 4 units).
m is v itself wherever v comes from numbers >= 0 without a subtraction. TOLERANCE = 2 c u m covers the higher
orders: where a divisor, logarithm or exponent is itself known to less than a quarter, m is made infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from boundcheck.theory.program import Builder, Node

UNIT = 2.0**-53
_MOST = 1 << 30  # a larger count says nothing
_ELEMENTARY = 4  # units in the last place of NumPy's pow, exp and log
_LOST = 2.0**-968  # u times it, 2^-1021, covers what the operations on one power lose by underflow


class Rounding:
    """Adds the magnitude nodes to a builder. nonnegative: names of symbols whose domain has no negative number."""

    def __init__(self, builder: Builder, nonnegative: frozenset[str]) -> None:
        self._b = builder
        self._nonnegative = nonnegative
        self._found: dict[int, tuple[int, int] | None] = {}
        self._signs: dict[int, bool] = {}

    def tolerance(self, i: int) -> tuple[int, int, float] | None:
        """(magnitude node m, m where nothing underflows, factor): the error is at most factor * m.

        None where no bound is known.
        """
        found = self._magnitude(i)
        if found is None or found[1] > _MOST:
            return None
        size, lost = found[0], self.underflow(i)
        return size if lost is None else self._plus(size, lost), size, 2 * (found[1] + 1) * UNIT

    def underflow(self, i: int) -> int | None:
        """A node e: underflows move a wild node by at most u e; None for a node that is not wild."""
        node = self._b.nodes[i]
        if node.op == "pow":
            return self._num(_LOST)
        inner = [(a, e) for a in node.args if (e := self.underflow(a)) is not None]
        if not inner:
            return None
        lost = [e for _, e in inner]
        total = lost[0] if len(lost) == 1 else self._b.node("add", tuple(lost), (1,) * len(lost))
        if node.op in ("add", "min", "max", "abs"):
            return total
        # in a product any partial one may have underflowed before the larger factors came
        wild = {a for a, _ in inner}
        others = [self._abs(a) for a in node.args if a not in wild]
        if node.op == "div":
            others = [self._over(self._num(1), a) for a in others]
        return self._b.node("mul", (total, *(self._b.node("max", (self._num(1), a)) for a in others)))

    def _not_negative(self, i: int) -> bool:
        if i not in self._signs:
            node = self._b.nodes[i]
            each = [self._not_negative(a) for a in node.args]
            rules: dict[str, Callable[[], bool]] = {
                "num": lambda: node.data >= 0,
                "sym": lambda: node.data in self._nonnegative,
                "add": lambda: all(each) and all(s > 0 for s in node.data),
                "powi": lambda: each[0] or node.data % 2 == 0,
                "pow": lambda: each[0],
                "max": lambda: any(each),
            }
            always = node.op in ("pi", "abs", "exp", "root")
            self._signs[i] = always or rules.get(node.op, lambda: bool(each) and all(each) and node.op != "log")()
        return self._signs[i]

    def _num(self, value: float) -> int:
        return self._b.number(Fraction(value))

    def _abs(self, i: int) -> int:
        return i if self._not_negative(i) else self._b.node("abs", (i,))

    def _magnitude(self, i: int) -> tuple[int, int] | None:
        if i not in self._found:
            self._found[i] = self._bound(i, self._b.nodes[i])
        return self._found[i]

    def _bound(self, i: int, node: Node) -> tuple[int, int] | None:
        if node.op == "num":
            exact = _is_float(node.data)
            return (i if node.data >= 0 else self._b.number(-node.data)), (0 if exact else 1)
        if node.op in ("sym", "pi"):
            return self._abs(i), 1
        parts = [self._magnitude(a) for a in node.args]
        known = [p for p in parts if p is not None]
        if len(known) < len(parts) or node.op in ("floor", "ceiling"):
            return None
        mags, counts = [m for m, _ in known], [c for _, c in known]
        relative = all(m == a for m, a in zip(mags, node.args, strict=True))
        if node.op in ("add", "mul"):
            count = (max if node.op == "add" else sum)(counts) + len(counts) - 1
            if relative and (node.op == "mul" or all(s > 0 for s in node.data)):
                return i, count
            return self._b.node(node.op, tuple(mags), (1,) * len(mags) if node.op == "add" else None), count
        if node.op in ("min", "max"):
            return (i if relative else self._b.node("max", tuple(mags))), max(counts)
        if node.op == "abs":
            return mags[0], counts[0]
        if node.op == "div":
            return self._quotient(i, node, mags, counts, relative=relative)
        if node.op == "powi":
            count = node.data * counts[0] + max(node.data, _ELEMENTARY)
            return (i if relative else self._b.node("powi", (mags[0],), node.data)), count
        if node.op == "root":
            return self._root(i, node, mags[0], counts[0], relative=relative)
        if node.op == "log":
            share = self._guarded(self._over(mags[0], self._abs(node.args[0])), counts[0])
            return self._plus(share, self._abs(i)), counts[0] + _ELEMENTARY
        if node.op == "exp":
            size = self._plus(self._num(1), self._guarded(mags[0], counts[0]))
            return self._b.node("mul", (i, size)), counts[0] + _ELEMENTARY
        return self._power(i, node, mags, counts)

    def _over(self, top: int, bottom: int) -> int:
        return self._num(1) if top == bottom else self._b.node("div", (top, bottom))

    def _plus(self, left: int, right: int) -> int:
        return self._b.node("add", (left, right), (1, 1))

    def _guarded(self, share: int, count: int) -> int:
        """share / max(0, 1 - 4 c u share): infinite where an error of c u share is no small one."""
        if self._b.nodes[share].op == "num":
            return share
        loss = self._b.node("mul", (self._num(4 * (count + 1) * UNIT), share))
        room = self._b.node("max", (self._num(0), self._b.node("add", (self._num(1), loss), (1, -1))))
        return self._b.node("div", (share, room))

    def _quotient(self, i: int, node: Node, mags: list[int], counts: list[int], *, relative: bool) -> tuple[int, int]:
        count = sum(counts) + 2  # a scalar divisor is inverted first
        if relative:
            return i, count
        bottom = self._abs(node.args[1])
        share = self._guarded(self._over(mags[1], bottom), counts[1])
        return self._b.node("mul", (self._b.node("div", (mags[0], bottom)), share)), count

    def _root(self, i: int, node: Node, mag: int, count: int, *, relative: bool) -> tuple[int, int]:
        p, q = node.data
        if relative:
            return i, -(-count * p // q) + p + _ELEMENTARY
        # |a^(1/q) - b^(1/q)| <= |a - b| / max(a, b)^(1 - 1/q)
        base = node.args[0]
        root = self._b.node("root", (base,), (1, q))
        single = self._b.node("mul", (self._b.node("div", (mag, base)), root))
        single = self._b.node("max", (single, root))
        count += _ELEMENTARY
        return (single, count) if p == 1 else (self._b.node("powi", (single,), p), p * count + p + _ELEMENTARY)

    def _power(self, i: int, node: Node, mags: list[int], counts: list[int]) -> tuple[int, int]:
        base, exponent = node.args
        size = self._abs(base)
        log = self._plus(size, self._over(self._num(1), size))  # at least |log(size)|, and cheaper
        share = self._plus(
            self._b.node("mul", (self._abs(exponent), self._over(mags[0], size))), self._b.node("mul", (log, mags[1]))
        )
        growth = self._plus(self._num(1), self._guarded(share, sum(counts)))
        return self._b.node("mul", (self._abs(i), growth)), sum(counts) + _ELEMENTARY


def _is_float(value: Fraction) -> bool:
    try:
        return Fraction(value.numerator / value.denominator) == value
    except OverflowError:
        return False


Span = tuple[float, float]  # least and greatest log2 of the nonzero moduli
WILD: Span = (-math.inf, math.inf)


def exponents_are_safe(nodes: Sequence[Node], roots: Sequence[int], ranges: Mapping[str, Span]) -> bool:
    """Whether no intermediate value can leave the normal floats, but for what is wild.

    ranges: symbol name -> (least, greatest) log2 of its nonzero moduli. A power is wild, and so is a sum, product or
    quotient of one wild number and others that are not; any other use of a wild number is not safe.
    """
    found: dict[int, Span | None] = {}

    def span(i: int) -> Span | None:
        if i not in found:
            node = nodes[i]
            inner = [span(a) for a in node.args]
            if node.op == "div" and nodes[node.args[0]].op == "mul":  # one product, of the factors in any order
                inner = [*(span(a) for a in nodes[node.args[0]].args), inner[1]]
            known = [r for r in inner if r is not None]
            found[i] = _checked(node, known, ranges) if len(known) == len(inner) else None
        return found[i]

    return all(span(r) is not None for r in roots)


def _checked(node: Node, args: list[Span], ranges: Mapping[str, Span]) -> Span | None:
    tame = [a for a in args if a != WILD]
    wild = len(args) - len(tame)
    if not wild:
        if node.op == "pow":
            return WILD
        one = _span(node, args, ranges)
        return one if one is not None and one[0] > -1000 and one[1] < 1000 else None
    if node.op in ("add", "min", "max", "abs"):
        return WILD
    if wild > 1 or node.op not in ("mul", "div") or (node.op == "div" and args[-1] == WILD):
        return None
    low, high = _partial([*tame[:-1], _inverse(tame[-1])] if node.op == "div" else tame)
    return WILD if low > -1000 and high < 1000 else None


def _span(node: Node, args: list[Span], ranges: Mapping[str, Span]) -> Span | None:
    if node.op == "num":
        value = node.data
        if value == 0:
            return 0.0, 0.0
        size = math.log2(abs(value.numerator)) - math.log2(value.denominator)
        return size, size
    if node.op == "sym":
        return ranges[node.data]
    if node.op == "pi":
        return 1.0, 2.0
    low, high = min((a[0] for a in args), default=0.0), max((a[1] for a in args), default=0.0)
    if node.op == "add":
        # a difference of floats is exact or at least one unit of the smaller one
        return low - 64, high + math.log2(len(args)) + 1
    if node.op in ("min", "max", "abs"):
        return low, high
    if node.op == "mul":
        return _partial(args)
    if node.op == "div":
        return _partial([*args[:-1], _inverse(args[-1])])
    if node.op == "powi":
        return node.data * low, node.data * high
    if node.op == "root":
        p, q = node.data
        return p * low / q, p * high / q
    if node.op == "log":
        return -60.0, 10.0
    if node.op == "exp" and high < 9:
        return -740.0, 740.0
    return None


def _inverse(span: Span) -> Span:
    return -span[1], -span[0]


def _partial(factors: list[Span]) -> Span:
    """The range of every partial product, in whatever order the factors are taken."""
    low, high = sum(f[0] for f in factors), sum(f[1] for f in factors)
    return min(low, sum(min(f[0], 0.0) for f in factors)), max(high, sum(max(f[1], 0.0) for f in factors))
