"""The playground of a statement page: its expressions as data for the JavaScript that recomputes them in a browser.

All readings of a statement share one list of nodes (`theory.program`), so that the browser runs the operations that
`evaluate` runs. The code (`templates/playground.js`) is the same on every page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp
from markupsafe import Markup

from boundcheck.core.numbers import format_exact
from boundcheck.report.formulas import markup, relation_pieces, symbol_mathml
from boundcheck.report.worked import worked_number
from boundcheck.theory.choices import choice_relations
from boundcheck.theory.dimension import STEP
from boundcheck.theory.evaluation import needed_symbols
from boundcheck.theory.program import Builder, Node, compile_expression
from boundcheck.theory.relations import difference
from boundcheck.theory.typeset import relation_text

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement
    from boundcheck.theory.symbols import Symbol


_KINDS = ((sp.Eq, "="), (sp.Ne, "!="), (sp.Lt | sp.Gt, "<"), (sp.Le | sp.Ge, "<="))
_DATA = {"num": format_exact}  # how the data of a node stand in JSON, where not as they are


class Trend(NamedTuple):
    """How a node depends on one symbol: its direction (0: not at all), and bounds of its value; None: unknown."""

    way: int | None
    low: Fraction | None
    high: Fraction | None

    @property
    def sign(self) -> int | None:
        """1 where the value is never negative, -1 where it is never positive."""
        return 1 if self.low is not None and self.low >= 0 else -1 if self.high is not None and self.high <= 0 else None

    def flipped(self) -> Trend:
        """That of the negative."""
        return Trend(_product((self.way, -1)), _product((self.high, -1)), _product((self.low, -1)))

    @staticmethod
    def of(way: int | None, sign: int | None, least: Fraction | None = None) -> Trend:
        """With the bounds that a sign gives, or a better lower one."""
        zero = Fraction(0)
        return Trend(way, least if least is not None else zero if sign == 1 else None, zero if sign == -1 else None)


def playground(own: Sequence[Statement]) -> dict[str, Any]:
    """What the template shows: rows of symbols, conditions and readings, and the data of the script.

    own: the readings of one statement, the first shown first. The fields start at constants of the worked number.
    """
    builder = Builder()
    texts = [_reading(s, builder) for s in own]
    names = dict.fromkeys(name for reading in texts for name in reading["symbols"])
    symbols = {name: next(s.symbol(name) for s in own if name in {x.name for x in s.symbols}) for name in names}
    start: dict[str, str] = {}
    for statement, reading in zip(own, texts, strict=True):
        if not set(reading["symbols"]) <= set(start):
            worked = worked_number(statement)
            start = (dict(worked.constants) if worked else {}) | start
            start |= {n: _plain(statement.symbol(n)) for n in reading["symbols"] if n not in start}
    conditions: dict[str, Markup] = {}
    for statement, reading in zip(own, texts, strict=True):
        for relation, shown in zip(_relations(statement), reading["relations"], strict=True):
            shown["row"] = f"{shown['name']}: {shown['text']}"
            conditions[shown["row"]] = markup([relation_pieces(relation[1], statement)])
    data = {
        "nodes": [[n.op, list(n.args), _DATA.get(n.op, lambda data: data)(n.data)] for n in builder.nodes],
        "readings": texts,
        "symbols": {name: _symbol(symbol) for name, symbol in symbols.items()},
        "start": start,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return {
        "symbols": [(Markup(symbol_mathml(s)), s, own[0].metric.dimension is not None) for s in symbols.values()],
        "readings": [s.reading for s in own],
        "conditions": [(row, row.partition(": ")[0], shown) for row, shown in conditions.items()],
        "data": Markup(text),
        "script": Markup(script()),
    }


@cache
def script() -> str:
    """The code of the playground without its comments and indentation."""
    folder = files("boundcheck.report") / "templates"
    text = "".join((folder / name).read_text(encoding="utf-8") for name in ("playground.js", "playground_page.js"))
    return re.sub(r"(?m)^[ \t]*(//.*)?\n?|[ \t]+// .*$", "", text)


def _symbol(symbol: Symbol) -> dict[str, Any]:
    ends = {name: None if end is None else format_exact(end) for name, end in _ends(symbol)}
    return {
        **ends,
        "lowOpen": symbol.low_open,
        "highOpen": symbol.high_open,
        "integer": symbol.integer,
        "allowed": symbol.allowed(),
    }


def _plain(symbol: Symbol) -> str:
    """A value of the domain, for a symbol that the worked number does without."""
    tried = (Fraction(1), Fraction(1, 2), *(end for _, end in _ends(symbol) if end is not None), Fraction(10))
    return format_exact(next((v for v in tried if symbol.admits(v)), tried[0]))


def _ends(symbol: Symbol) -> tuple[tuple[str, Fraction | None], ...]:
    return ("low", symbol.low), ("high", symbol.high)


def _relations(statement: Statement) -> list[tuple[str, Any, bool]]:
    """(name, relation, whether values that break it are bad input), in the order of `scope`."""
    found = [("domain", r, True) for r in statement.domain]
    rounds, index = statement.metric.rounds, statement.metric.index
    own = {s.name for s in rounds.free_symbols}
    if index in own:  # as `evaluate` checks it, where the declarations do not settle it
        least, program = 0 if statement.metric.weights is None else 1, compile_expression(rounds)
        whole = rounds.is_polynomial() and all(statement.symbol(name).integer for name in own)
        if not (whole and sp.Poly(rounds).get_domain() == sp.ZZ):
            found.append(("whole rounds", sp.Eq(sp.floor(rounds), rounds, evaluate=False), True))
        low = trend(program.nodes, program.root, "", statement).low
        if low is None or low < least:
            found.append(("number of rounds", sp.Ge(rounds, least, evaluate=False), True))
    found += [(c.name, c.relation, False) for c in statement.conditions]
    symbol = statement.symbol
    return found + [(f"choice of {n}", sp.Eq(symbol(n).expr, e, evaluate=False), False) for n, e in statement.choices]


def _reading(statement: Statement, builder: Builder) -> dict[str, Any]:
    """The data of one reading; its expressions are added to the nodes."""
    used = set(needed_symbols(statement)) | {n for n, _ in statement.choices}
    used |= {s.name for _, r, _ in _relations(statement) for s in r.free_symbols}
    names = [s.name for s in statement.symbols if s.name in used]
    prescribed = [name for name, _ in statement.choices]
    steps = [s.name for s in statement.symbols if s.dimension == STEP and not s.integer and s.name in used]
    steps = [s for s in steps if s not in prescribed and (statement.symbol(s).low or Fraction(0)) >= 0]
    least = [r for r in choice_relations(statement, [s.name for s in statement.symbols]) if isinstance(r, sp.Ge)]
    relations: list[dict[str, Any]] = []
    for name, relation, domain in _relations(statement):
        row: dict[str, Any] = {"name": name, "text": relation_text(relation), "domain": domain, "monotone": {}}
        row["kind"] = next(kind for types, kind in _KINDS if isinstance(relation, types))
        row["sides"] = [builder.add(side) for side in relation.args]
        row["slack"] = builder.add(difference(relation))
        if name.startswith("choice of "):
            row |= {"kind": "choice", "rounded": all(r.rhs != relation.rhs for r in least if r.lhs == relation.lhs)}
        elif row["kind"] in ("<=", "<"):
            ways = {s: trend(builder.nodes, row["slack"], s, statement).way for s in steps}
            row["monotone"] = {s: way for s, way in ways.items() if way is not None and _uses(relation, s)}
        relations.append(row)
    limited = [s for s in steps if any(_uses(r, s) for _, r, _ in _relations(statement))]
    known = zip(_relations(statement), relations, strict=True)
    loose = {s for (_, r, _), row in known for s in limited if _uses(r, s) and s not in row["monotone"]}
    trivial, bound = statement.trivial, builder.add(statement.bound)
    return {
        "id": statement.id,
        "reading": statement.reading.replace("_", " "),
        "symbols": names,
        "bound": bound,
        "trivial": None if trivial is None else builder.add(trivial),
        "below": None if trivial is None else builder.add(statement.bound - trivial),
        "relations": relations,
        "steps": [s for s in limited if s not in loose],
        "absent": [s for s in limited if s in loose],
        "prescribed": prescribed,
        "bibtex": statement.bibtex(),
        "latex": statement.latex(),
    }


def _uses(relation: Any, name: str) -> bool:
    return name in {s.name for s in relation.free_symbols}


def trend(nodes: Sequence[Node], i: int, name: str, statement: Statement) -> Trend:
    """Direction of a node in one symbol and bounds of its value, as far as the domains of the symbols settle them.

    A condition whose slack is monotone leaves an interval of the symbol.
    """
    node = nodes[i]
    if node.op == "num":
        return Trend(0, node.data, node.data)
    if node.op == "sym":
        symbol = statement.symbol(node.data)
        return Trend(int(node.data == name), symbol.low, symbol.high)
    parts = [trend(nodes, a, name, statement) for a in node.args]
    ways, signs, lows = [p.way for p in parts], [p.sign for p in parts], [p.low for p in parts]
    if node.op == "add":
        parts = [p if flip > 0 else p.flipped() for p, flip in zip(parts, node.data, strict=True)]
        return Trend(_common([p.way for p in parts]), _sum([p.low for p in parts]), _sum([p.high for p in parts]))
    if node.op in ("mul", "div"):
        if node.op == "div":  # the inverse of what keeps its sign falls where that rises
            ways[1] = _product((ways[1], -1)) if ways[1] == 0 or signs[1] else None
        moves = [_product((way, *signs[:k], *signs[k + 1 :])) for k, way in enumerate(ways) if way != 0]
        least = _product(lows) if node.op == "mul" and all(s == 1 for s in signs) else None
        return Trend.of(_common(moves), _product(signs), least)
    if node.op in ("powi", "abs"):
        odd = node.op == "powi" and node.data % 2 == 1
        least = lows[0] ** (node.data or 1) if signs[0] == 1 and lows[0] is not None else None
        return Trend.of(
            ways[0] if odd else _product((ways[0], 1 if ways[0] == 0 else signs[0])), signs[0] if odd else 1, least
        )
    if node.op == "pow":
        moves = _product((ways[0], signs[1])) if ways[1] == 0 and signs[0] == 1 else None
        return Trend.of(0 if ways == [0, 0] else moves, 1 if signs[0] == 1 else None)
    if node.op == "log":
        return Trend.of(ways[0], 1 if lows[0] is not None and lows[0] >= 1 else None)
    return Trend.of(_common(ways), 1 if node.op in ("root", "exp", "pi") or set(signs) == {1} else None)


def _product(factors: Sequence[Any]) -> Any:
    """None where a factor is unknown."""
    return None if None in factors else prod(factors)


def _sum(terms: Sequence[Any]) -> Any:
    return None if None in terms else sum(terms)


def _common(ways: Sequence[int | None]) -> int | None:
    """The one direction of all parts that move; 0 where none does, None where they differ or one is unknown."""
    moving = set(ways) - {0}
    return 0 if not moving else moving.pop() if len(moving) == 1 else None
