"""Lines of proof records at random points: where what a line names holds, its claim must hold.

This shares no code with the verifier. A claim is read by a parser of its own; numbers, values of functions and vectors
of the plane are drawn as exact fractions when they are first met, and redrawn or solved for until everything that the
line names holds. Then both are evaluated once more by SymPy, which has the last word.

Not evaluated, by rule: `mean`, `once`, `average` are about expectations (enumerated in test_laws_enumerated.py),
`cite`, `limsup` and `mean value` of another record, of a limit and of a derivative along a segment; open, assumed and
refuted lines claim nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import sympy as sp

F = Fraction
NOT_EVALUATED = ("mean", "once", "average", "cite", "limsup", "mean value", "open", "assumed", "refuted")
BY_CASES = ("cases", "absurd", "suppose")  # what they name holds under suppositions
LARGE = 40  # terms of a sum, exponents
Point = dict[Any, Any]  # ("x", name), ("f", name, arguments), ("slope", text, arguments) -> number or pair
Draw = Callable[[Any, str], Any]  # (place, kind of its name) -> value


class Unknown(Exception):
    """An expression has no value here: a denominator is 0, a number of terms is none, a root is of less than 0."""


# reading: claims to trees of Python's own parser


@cache
def tree(text: str) -> ast.expr:
    """An expression; <u, v> has no space inside its brackets, as relations have around them."""
    plain = re.sub(r"<(?![ =])", "inner(", text.strip().replace("@", "_any"))
    return ast.parse(re.sub(r"(?<![ =])>", ")", plain), mode="eval").body


@cache
def relation(text: str) -> tuple[tuple[str, ...], str, ast.expr, ast.expr]:
    """(suppositions, op, left, right)."""
    supposed, _, own = text.rpartition(" => ")
    left, op, right = re.split(r" (<=|>=|==|!=|<|>|=) ", own)
    return tuple(supposed.split(" & ")) if supposed else (), op, tree(left), tree(right)


@cache
def names_in(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z_]\w*", text.replace("@", "_any")))


# values


def vector(x: Any) -> bool:
    return isinstance(x, tuple)


class Reader:
    """Values of expressions at a point; `draw` gives what the point does not have yet."""

    def __init__(self, kinds: Mapping[str, str], point: Point, draw: Draw, number: Any = F) -> None:
        self.kinds, self.point, self.draw, self.number_type = kinds, point, draw, number
        self.met: dict[Any, None] = {}  # the places of the point that were read, in order

    def leaf(self, key: Any, kind: str) -> Any:
        self.met[key] = None
        if key not in self.point:
            self.point[key] = self.draw(key, kind)
        found = self.point[key]
        return tuple(map(self.number, found)) if vector(found) else self.number(found)

    def number(self, x: Any) -> Any:
        return x if type(x) is self.number_type else self.number_type(x)

    def place(self, node: ast.expr, bound: Mapping[str, Any]) -> Any:
        """The place of the point that an expression names, and its kind; None for another expression."""
        if isinstance(node, ast.Name) and node.id not in bound:
            return ("x", node.id), self.kinds[node.id]
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if "function" not in self.kinds.get(name, ""):
            return None
        return ("f", name, tuple(fraction(self.value(a, bound)) for a in node.args)), self.kinds[name]

    def value(self, node: ast.expr, bound: Mapping[str, Any]) -> Any:
        if isinstance(node, ast.Constant):
            return self.number_type(node.value)
        if isinstance(node, ast.Name) and node.id in bound:
            return self.number(bound[node.id])
        if (place := self.place(node, bound)) is not None:
            return self.leaf(*place)
        if isinstance(node, ast.UnaryOp):
            return times(self.number_type(-1), self.value(node.operand, bound))
        if isinstance(node, ast.BinOp):
            return self.operation(node, bound)
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        name, given = node.func.id, node.args
        if name == "sum":
            return self.sum(given, bound)
        if name == "diff":
            return self.slope(given, bound)
        values = [self.value(a, bound) for a in given]
        if name == "inner":
            return self.inner(*values) if all(map(vector, values)) else F(0)
        assert name in ("min", "max")
        if any(isinstance(x, sp.Basic) for x in values):
            return (sp.Min if name == "min" else sp.Max)(*map(sp.sympify, values))
        return min(values) if name == "min" else max(values)

    def inner(self, u: Any, v: Any) -> Any:
        return sum((a * b for a, b in zip(u, v, strict=True)), F(0))

    def operation(self, node: ast.BinOp, bound: Mapping[str, Any]) -> Any:
        left, right = self.value(node.left, bound), self.value(node.right, bound)
        if isinstance(node.op, ast.Add | ast.Sub):
            return plus(left, right if isinstance(node.op, ast.Add) else times(self.number_type(-1), right))
        if isinstance(node.op, ast.Mult):
            return times(left, right)
        if isinstance(node.op, ast.Div):
            if right == 0:
                raise Unknown
            return times(self.number_type(1) / right, left)
        return self.power(left, right)

    def power(self, base: Any, exponent: Any) -> Any:
        if type(exponent) is F or exponent.is_Rational:
            whole = fraction(exponent)
            if whole.denominator == 1:
                if (base == 0 and whole < 0) or abs(whole) > LARGE:
                    raise Unknown
                return base ** int(whole)
        if base < 0 or (base == 0 and exponent <= 0):
            raise Unknown
        root = sp.Pow(sp.sympify(base), sp.sympify(exponent))
        return self.number_type(F(root.p, root.q)) if root.is_Rational else root

    def sum(self, given: list[ast.expr], bound: Mapping[str, Any]) -> Any:
        assert isinstance(given[0], ast.Name)
        total: Any = None
        for k in few(self.value(given[1], bound)):
            one = self.value(given[2], {**bound, given[0].id: self.number_type(k)})
            total = one if total is None else plus(total, one)
        return self.number_type(0) if total is None else total

    def slope(self, given: list[ast.expr], bound: Mapping[str, Any]) -> Any:
        """A derivative is a value of its own, that of one function at its arguments."""
        place = self.place(given[0], bound)
        if place is None or place[0][0] != "f":
            raise Unknown
        return self.leaf(("slope", f"{place[0][1]} {ast.unparse(given[1])}", place[0][2]), "function")

    def gap(self, text: str, bound: Mapping[str, Any]) -> Any:
        """Left less right side of a relation."""
        _, _, left, right = relation(text)
        return plus(self.value(left, bound), times(self.number_type(-1), self.value(right, bound)))

    def holds(self, text: str, bound: Mapping[str, Any]) -> bool:
        """Whether a claim holds; an implication where a supposition does not."""
        supposed, op, _, _ = relation(text)
        if not all(self.holds(s, bound) for s in supposed):
            return True
        gap = self.gap(text, bound)
        if vector(gap):
            return all(sign(x) == 0 for x in gap)
        found = sign(gap)
        known = {"<=": found <= 0, ">=": found >= 0, "<": found < 0, ">": found > 0, "!=": found != 0}
        return known.get(op, found == 0)


def few(count: Any) -> range:
    """The values 0, 1, ... of an index, given how many they are."""
    found = fraction(count)
    if found.denominator != 1 or not 0 <= found <= LARGE:
        raise Unknown
    return range(int(found))


def fraction(x: Any) -> Fraction:
    """An argument of a function, or an exponent."""
    if type(x) is F:
        return x
    if not x.is_Rational:
        raise Unknown
    return F(x.p, x.q)


def plus(a: Any, b: Any) -> Any:
    if type(a) is F is type(b):
        return a + b
    if vector(a) or vector(b):  # 0 is a vector too
        size = len(a if vector(a) else b)
        one, other = (x if vector(x) else (x,) * size for x in (a, b))
        return tuple(x + y for x, y in zip(one, other, strict=True))
    return a + b


def times(a: Any, b: Any) -> Any:
    if type(a) is F is type(b):
        return a * b
    if vector(a):
        a, b = b, a
    return tuple(a * x for x in b) if vector(b) else a * b


def sign(x: Any) -> int:
    """The sign of a number; 0 where 50 digits show no other."""
    if not isinstance(x, sp.Basic) or x.is_Rational:
        return int(bool(x > 0)) - int(bool(x < 0))
    found = sp.N(x, 50)
    return 0 if abs(found) < sp.Float("1e-30") else 1 if found > 0 else -1


# what a line rests on


@dataclass(frozen=True)
class Wanted:
    """A claim that must hold at the point: at values of indices, or at all values of one.

    solved: the expression that this equation gives, where the line says so.
    """

    text: str
    solved: str = ""
    at: tuple[tuple[str, str], ...] = ()
    every: tuple[str, str] | None = None  # an index, and the number of its values


EVERY = {"over": ("of", "count"), "induction": ("step", "last")}  # what holds for all values of an index, and how many
NAMED = {"equal": 1, "signs": 0, "each": 0, "to": 0, "sign": 0, "falls": 0}  # members that name lines


class Lines:
    """The facts and lines of a record, and what a line names."""

    def __init__(self, data: Any) -> None:
        self.kinds = {**data["names"], "_any": "number"}
        self.facts = {f["name"]: f["claim"] for f in data["facts"]}
        self.entries = {e["name"]: e for e in data["lines"]}
        self.ranges: dict[str, list[str]] = {}
        for f in data["facts"]:
            if f["kind"] in ("index", "range"):
                self.ranges.setdefault(f["about"], []).append(f["claim"])

    def claim(self, name: str, now: tuple[str, ...]) -> str:
        if name.startswith("#"):
            return now[int(name[1:])]
        return self.facts[name] if name in self.facts else self.entries[name]["claim"]

    def rests(self, entry: Any, further: bool = False) -> list[Wanted]:
        """What must hold so that the line does, apart from its own suppositions and the ranges of its indices.

        further: in place of a line that holds under suppositions, what that one rests on.
        """
        by, now, rule = entry["by"], tuple(entry.get("if", ())), entry["by"]["rule"]
        named = [(name, solved) for name, solved in by.get("put", ())]
        factors = [f for _, own in by.get("terms", ()) for f in own if not isinstance(f, dict)]
        named += [(f if isinstance(f, str) else f[0], "") for f in factors]
        for member, paired in NAMED.items():
            own = [by[member]] if isinstance(by.get(member), str) else by.get(member, ())
            named += [(x[0] if paired else x, "") for x in own]
        if rule in (*BY_CASES, "both", "apply", "integer", "replace"):
            named += [(n, "") for n in ([by["of"]] if isinstance(by["of"], str) else by["of"])]
        named += [(by["base"], "")] if rule == "induction" else []
        found = [w for name, solved in named for w in self._opened(name, solved, now, further)]
        if rule in EVERY:
            source, count = EVERY[rule]
            found.append(Wanted(self.claim(by[source], now), every=(by["index"], by[count])))
        if rule == "at":
            found.append(Wanted(self.claim(by["of"], now), at=tuple(by["values"].items())))
            found += [Wanted(self.claim(n, now)) for n in by["ranges"]]
        if rule == "limit":
            found += [Wanted(self.claim(by["of"], now), at=((by["index"], e),)) for e in ("1/10**35", "1/1000", "1/2")]
        return list(dict.fromkeys(found))

    def _opened(self, name: str, solved: str, now: tuple[str, ...], further: bool) -> list[Wanted]:
        """The claim of a line; one that holds under suppositions of its own is replaced by what it rests on."""
        entry = self.entries.get(name)
        if name.startswith("#") or entry is None or not entry.get("if") or not further:
            return [Wanted(self.claim(name, now), solved)]
        return [w for w in self.rests(entry, True) if w.text not in entry["if"]]

    def ranged(self, texts: list[str]) -> list[Wanted]:
        """The ranges of the indices that are mentioned."""
        mentioned, found = frozenset[str]().union(*map(names_in, texts)), dict[str, None]()
        while more := [r for n in sorted(mentioned) for r in self.ranges.get(n, ()) if r not in found]:
            found |= dict.fromkeys(more)
            mentioned = mentioned.union(*map(names_in, more))
        return [Wanted(r) for r in found]


# points


class Search:
    """Looks for a point at which all that is wanted holds, by changing what a claim that fails is about."""

    def __init__(self, lines: Lines, wanted: list[Wanted], random: Random) -> None:
        self.lines, self.random = lines, random
        equations = [w for w in wanted if relation(w.text)[1] in ("=", "==") and " => " not in w.text]
        self.wanted = [*equations, *(w for w in wanted if w not in equations)]
        self.point: Point = {}

    def number(self, kind: str = "number") -> Fraction:
        r = self.random
        if kind == "integer":
            return F(r.choice((0, 1, 1, 2, 2, 3, 4)))
        size = r.choice((F(r.randint(1, 12), r.randint(1, 6)), F(1, r.randint(2, 200)), F(r.randint(1, 40))))
        return r.choice((size, size, size, size, -size, F(0)))

    def draw(self, key: Any, kind: str) -> Any:
        if "vector" in kind:
            return self.number(), self.number()
        return self.number(kind)

    def reader(self) -> Reader:
        return Reader(self.lines.kinds, self.point, self.draw)

    def places(self, reader: Reader, w: Wanted) -> Iterator[dict[str, Any]]:
        """The values of indices at which a claim is wanted."""
        if w.every is None:
            yield {name: reader.value(tree(text), {}) for name, text in w.at}
            return
        yield from ({w.every[0]: reader.number_type(k)} for k in few(reader.value(tree(w.every[1]), {})))

    def failing(self, reader: Reader) -> tuple[Wanted, dict[str, Any]] | None:
        """The first claim that does not hold, and where."""
        for w in (w for w in self.wanted if w not in self.held):
            about, bound = set[Any](), dict[str, Any]()
            try:
                for bound in self.places(reader, w):
                    about |= set(reader.met)
                    reader.met.clear()
                    if not reader.holds(w.text, bound):
                        return w, bound
            except Unknown:
                return w, bound
            self.held[w] = about | set(reader.met)
        return None

    def run(self, changes: int) -> bool:
        """Whether a point was found."""
        self.point.clear()
        self.tied: set[Any] = set()
        self.held: dict[Wanted, set[Any]] = {}  # a claim that holds -> the places of the point that it is about
        for _ in range(changes):
            reader = self.reader()
            found = self.failing(reader)
            if found is None:
                return True
            self.change(*found, list(reader.met))
        return False

    def change(self, w: Wanted, bound: dict[str, Any], met: list[Any]) -> None:
        """Solve for one place of the point that the claim is about, or draw it anew."""
        equation = relation(w.text)[1] in ("=", "==")
        place = self.reader().place(tree(w.solved), bound) if w.solved else None
        if place is not None:
            self.tied.add(place[0])
        free = [k for k in met if k not in self.tied] or met
        if place is None and not free:
            return
        key = place[0] if place is not None else self.random.choice(free)
        self.held = {held: about for held, about in self.held.items() if key not in about}
        before = self.point.get(key, F(0))
        if (place is None and not equation and self.random.random() < 0.4) or not self.solve(key, w, bound, equation):
            self.point[key] = self.anew(key, before)

    def anew(self, key: Any, before: Any) -> Any:
        kind = self.lines.kinds.get(key[1], "number")
        factor = self.random.choice((F(0), F(1, 10), F(1, 3), F(3), F(10), None, None, F(1, 100)))
        if factor is None or kind == "integer":
            return (self.number(), self.number()) if vector(before) else self.number(kind)
        return tuple(x * factor for x in before) if vector(before) else before * factor

    def solve(self, key: Any, w: Wanted, bound: dict[str, Any], equation: bool) -> bool:
        """Whether the claim is linear in this place and could be solved for it."""
        old, gaps = self.point.get(key, F(0)), []
        flat = vector(old)
        try:
            for x in (F(0), F(1), F(2)):
                self.point[key] = (x, x) if flat else x
                gaps.append(self.reader().gap(w.text, bound))
        except Unknown:
            gaps.clear()
        self.point[key] = old
        if len(gaps) < 3 or any(vector(g) is not flat or isinstance(g, sp.Basic) for g in gaps):
            return False
        rows = list(zip(*gaps, strict=True)) if flat else [tuple(gaps)]
        if any(c - b != b - a or a == b for a, b, c in rows):
            return False
        ends = [-a / (b - a) for a, b, _ in rows]
        if flat or equation:
            found = tuple(ends) if flat else ends[0]
        else:
            up = (relation(w.text)[1] in (">=", ">")) == (rows[0][1] > rows[0][0])
            slack = abs(self.number()) * self.random.choice((0, 1, 1)) + (relation(w.text)[1] in ("<", ">"))
            slack = slack / self.random.choice((1, 1, 10, 1000))
            found = ends[0] + slack if up else ends[0] - slack
            if self.lines.kinds.get(key[1]) == "integer":
                found = F(found.__ceil__() if up else found.__floor__())
        if self.lines.kinds.get(key[1]) == "integer" and key[0] == "x" and found.denominator != 1:
            return False
        self.point[key] = found
        return True


# verdicts


def decided(lines: Lines, entry: Any, random: Random, attempts: int = 4, changes: int = 60) -> bool | None:
    """Whether the claim of a line holds at a point at which all that it rests on does; None where none was found."""
    if entry["by"]["rule"] in NOT_EVALUATED:
        return None
    supposed, claim = tuple(entry.get("if", ())), entry["claim"]
    contradiction = bool(supposed) and (entry["by"]["rule"] == "absurd" or not names_in(claim))  # they cannot all hold
    wanted = lines.rests(entry, contradiction or entry["by"]["rule"] in BY_CASES)
    if contradiction:
        wanted = [w for w in wanted if w.text not in supposed]
    else:
        wanted += [Wanted(s) for s in supposed]
    wanted += lines.ranged([claim, *supposed, *(w.text for w in wanted if w.every is None and not w.at)])
    search = Search(lines, wanted, random)
    for _ in range(attempts):
        if not search.run(changes):
            continue
        exact = Reader(lines.kinds, search.point, search.draw, sp.Rational)
        try:
            if not all(exact.holds(w.text, bound) for w in search.wanted for bound in search.places(exact, w)):
                continue
            if contradiction:
                return not all(exact.holds(s, {}) for s in supposed) or exact.holds(claim, {})
            if entry["by"]["rule"] == "limit":  # the values near 0 that were tried may be the tight ones
                return exact.holds(claim, {}) or abs(exact.gap(claim, {})) < F(1, 10**20)
            return exact.holds(claim, {})
        except Unknown:
            continue
    return None
