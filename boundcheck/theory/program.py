"""An expression as a flat list of operations, each common subexpression once.

The exact decisions (`decide`) and the vectorised evaluation (`evaluation`) walk the same list. A program needs no
SymPy; a SymPy expression becomes one in `theory.translate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

RATIONAL = frozenset({"num", "sym", "add", "mul", "div", "powi", "min", "max"})  # operations that leave fractions


@dataclass(frozen=True)
class Node:
    """One operation on earlier nodes.

    op: num (data: Fraction), sym (data: name), pi, add (data: a sign for each argument), mul, div, powi (data: integer
    exponent >= 2), root (data: (p, q), the q-th root raised to p), pow, min, max, abs, exp, log, floor, ceiling.
    """

    op: str
    args: tuple[int, ...] = ()
    data: Any = None


@dataclass(frozen=True)
class Program:
    """nodes: arguments before their users; root: the value; text: the expression on one line, where it is kept."""

    nodes: tuple[Node, ...]
    root: int
    text: str = field(default="", compare=False)

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The names that it needs."""
        return frozenset(node.data for node in self.nodes if node.op == "sym")

    @property
    def is_rational(self) -> bool:
        """Whether its value at fractions is a fraction, so that nothing has to be rounded."""
        return all(node.op in RATIONAL for node in self.nodes)

    def __str__(self) -> str:
        return self.text


class Builder:
    """Collects nodes, sharing equal ones."""

    def __init__(self, nodes: tuple[Node, ...] = ()) -> None:
        self.nodes: list[Node] = list(nodes)
        self._index = {node: i for i, node in enumerate(nodes)}
        self._seen: dict[Any, int] = {}

    def node(self, op: str, args: tuple[int, ...] = (), data: Any = None) -> int:
        """The index of this operation; a new node only if there is none like it."""
        node = Node(op, args, data)
        if node not in self._index:
            self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return self._index[node]

    def number(self, value: Fraction) -> int:
        """A constant."""
        return self.node("num", (), value)

    def symbol(self, name: str) -> int:
        """The value of a symbol."""
        return self.node("sym", (), name)

    def difference(self, left: int, right: int) -> int:
        """left - right."""
        return self.node("add", (left, right), (1, -1))

    def product(self, factors: Sequence[int]) -> int:
        """The product of nodes; 1 of none."""
        if not factors:
            return self.number(Fraction(1))
        return factors[0] if len(factors) == 1 else self.node("mul", tuple(factors))

    def add(self, expr: Any) -> int:
        """Translate a SymPy expression. Raises BadInput for a function that has no rule."""
        if expr not in self._seen:
            from boundcheck.theory.translate import node_of

            self._seen[expr] = node_of(self, expr)
        return self._seen[expr]

    def program(self, root: int) -> Program:
        """The program of one value."""
        return Program(tuple(self.nodes), root)


def compile_expression(expr: Any) -> Program:
    """The program of a SymPy expression, kept for the next call; a Program is returned as it is."""
    return expr if isinstance(expr, Program) else _compiled(expr)


@lru_cache(maxsize=4096)
def _compiled(expr: Any) -> Program:
    from boundcheck.theory.translate import sympified

    builder = Builder()
    return builder.program(builder.add(sympified(expr)))


def names_of(part: Any) -> frozenset[str]:
    """The names of the symbols of a SymPy expression, a Program or a Relation."""
    known = getattr(part, "symbols", None)
    return frozenset(s.name for s in part.free_symbols) if known is None else known


def text_of(part: Any) -> str:
    """A SymPy expression, a Program or a Relation on one line, in the names that users type."""
    known = getattr(part, "text", None)
    if known is not None:
        return known
    from boundcheck.theory.translate import expr_text

    return expr_text(part)


def to_json(program: Program) -> list[Any]:
    """A JSON-able form: the root, the text and every node as [operation, arguments, data]."""
    rows = [[node.op, list(node.args), _data_to_json(node)] for node in program.nodes]
    return [program.root, program.text, rows]


def from_json(data: Sequence[Any]) -> Program:
    """Inverse of `to_json`."""
    root, text, rows = data
    nodes = (Node(op, tuple(args), _READ.get(op, _same)(value)) for op, args, value in rows)
    return Program(tuple(nodes), root, text)


def _data_to_json(node: Node) -> Any:
    return [str(node.data.numerator), str(node.data.denominator)] if node.op == "num" else node.data


def _same(value: Any) -> Any:
    return value


_READ: Mapping[str, Any] = {
    "num": lambda pair: Fraction(int(pair[0]), int(pair[1])),
    "add": tuple,
    "root": tuple,
}
