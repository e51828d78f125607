"""Formulas on the pages: MathML in pieces that may break between lines, with the changed parts of a reading marked.

A page sets the pieces side by side and lets the browser break between them: by hypothesis, by summand, and inside a
summand only where it is wider than a page. Two readings are compared as trees; what one has and the other has not is
marked in the formula itself.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from boundcheck.theory.mathml import latex_to_mathml
from boundcheck.theory.typeset import expr_latex, metric_latex, symbol_latex

if TYPE_CHECKING:
    from markupsafe import Markup

    from boundcheck.theory.statement import Statement
    from boundcheck.theory.symbols import Symbol


WIDE = 46  # ems of a piece: what is wider is cut further; a page of 1280 pixels has room for about 48
STRETCH = 1.25  # of the widths below, to cover nine formulas of ten as Chromium sets them
HALF = 22  # ems that half a page has room for
# characters of a private area, which no statement has: around what is marked, on its way through LaTeX
_OPEN, _CLOSE = "\ue000", "\ue001"
LETTERS, LONG = 4, 12  # abbreviations of a formula, and operations from which on a part gets one
ROWS = 7  # lines of a formula that stand beside the facts on it
_CALLED = {"Min": r"\min", "Max": r"\max", "exp": r"\exp", "log": r"\log"}
_SIGNS = {"<=": r"\leq", "<": "<", ">=": r"\geq", ">": ">", "==": "=", "!=": r"\neq"}


def mathml(latex: str, kind: str = "changed") -> str:
    """A <math> element; what stands between the marks of `marked` gets the class `kind`."""
    text = latex_to_mathml(latex)
    for sign, tag in ((_OPEN, f'<mrow class="{kind}">'), (_CLOSE, "</mrow>")):
        text = text.replace(f"<mo>{sign}</mo>", tag).replace(f"<mi>{sign}</mi>", tag)
    return text.replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')  # a norm's bars enclose what stands in one row


def claim_lines(statement: Statement, other: Statement | None = None, kind: str = "changed") -> list[list[str]]:
    """The claim as lines of MathML pieces: one a hypothesis, then the inequality, piece by piece.

    other: the reading with which this one is compared; what it has not is marked with the class `kind`. Long parts that
    occur several times get a letter, and a line of their own that says what it stands for.
    """
    hypotheses = [
        marked(relation, before, statement) if other is not None else relation
        for relation, before in _hypotheses(statement, other)
    ]
    bound = statement.bound if other is None else marked(statement.bound, other.bound, statement)
    value = statement.metric.value
    if value is not None and other is not None:
        value = marked(value, other.metric.value, statement)
    named, shown = _abbreviated([*hypotheses, bound, *([] if value is None else [value])], statement)
    lines = [_relation(relation, statement) for relation in shown[: len(hypotheses)]]
    lines.append(_conclusion(statement, other, shown[len(hypotheses)], None if value is None else shown[-1]))
    lines += [_relation(sp.Eq(letter, part, evaluate=False), statement) for letter, part in named]
    return [[mathml(latex, kind) for latex in line] for line in lines]


def _abbreviated(exprs: Sequence[Any], statement: Statement) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """(letter, part) pairs for long parts that occur several times, and the expressions with the letters."""
    found: list[tuple[Any, Any]] = []
    shown = list(exprs)
    while len(found) < LETTERS:
        counts: Counter[Any] = Counter()
        for expr in (*shown, *(part for _, part in found)):
            counts.update(p for p in sp.preorder_traversal(expr) if p.args and not getattr(p, "is_Relational", False))
        long = [p for p, count in counts.items() if count > 1 and p.count_ops() >= LONG]
        if not long or sum(width(expr_latex(expr, statement)) for expr in shown) < 2 * WIDE:
            break
        part = max(long, key=lambda p: (counts[p] - 1) * p.count_ops())
        letter = sp.Symbol(rf"u_{{{len(found) + 1}}}")
        shown = [expr.xreplace({part: letter}) for expr in shown]
        found = [(name, own.xreplace({part: letter})) for name, own in found] + [(letter, part)]
    return found, shown


def _hypotheses(statement: Statement, other: Statement | None) -> Iterator[tuple[Any, Any]]:
    """The hypotheses on the constants, each with the one of the other reading that it replaces (None: a new one)."""

    def pairs(own: dict[Any, Any], theirs: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
        for name, relation in own.items():
            yield relation, relation if relation in theirs.values() else theirs.get(name)

    yield from pairs(dict(enumerate(statement.domain)), {} if other is None else dict(enumerate(other.domain)))
    named = [{c.name: c.relation for c in s.conditions} for s in (statement, other) if s is not None]
    yield from pairs(named[0], named[-1])
    chosen = [
        {n: sp.Eq(s.symbol(n).expr, e, evaluate=False) for n, e in s.choices}
        for s in (statement, other)
        if s is not None
    ]
    yield from pairs(chosen[0], chosen[-1])


def relation_pieces(relation: Any, statement: Statement) -> list[str]:
    """A condition as MathML pieces."""
    return [mathml(latex) for latex in _relation(relation, statement)]


def metric_mathml(statement: Statement) -> str:
    """The left side of the claim; "" for a formula that bounds nothing."""
    latex = metric_latex(statement)
    return latex_to_mathml(latex) if latex else ""


def markup(lines: Sequence[Sequence[str]]) -> Markup:
    """Lines of pieces as HTML that breaks between the pieces."""
    from markupsafe import Markup

    rows = ("".join(f"<span>{piece}</span>" for piece in line) for line in lines)
    return Markup("".join(f'<div class="line">{row}</div>' for row in rows))


def symbol_mathml(symbol: Symbol) -> str:
    """One symbol."""
    return latex_to_mathml(symbol_latex(symbol))


def _relation(relation: Any, statement: Statement) -> list[str]:
    if not getattr(relation, "is_Relational", False):
        return [expr_latex(relation, statement)]
    left, right = _pieces(relation.lhs, statement), _pieces(relation.rhs, statement)
    right[0] = f"{_SIGNS[relation.rel_op]} {right[0]}"
    if len(left) == len(right) == 1 and width(left[0]) + width(right[0]) < HALF:
        return [f"{left[0]} {right[0]}"]
    return [*left, *right]


def _conclusion(statement: Statement, other: Statement | None, bound: Any, value: Any) -> list[str]:
    left = metric_latex(statement)
    index = None if statement.metric.index is None else statement.symbol(statement.metric.index)
    if statement.kind.limit and index is not None:
        left = rf"\{statement.kind.limit}_{{{symbol_latex(index)} \to \infty}} {_grouped(left)}"
    if left and value is None and other is not None and metric_latex(other) != metric_latex(statement):
        left = _mark(left)
    pieces = _pieces(bound, statement)
    if not left:
        return pieces
    lefts = [left] if value is None else _pieces(value, statement)
    pieces[0] = f"{_SIGNS.get(statement.kind.sign, '=')} {pieces[0]}"
    if len(lefts) == 1 and width(pieces[0]) + width(lefts[0]) < HALF:
        return [f"{lefts[0]} {pieces[0]}", *pieces[1:]]
    return [*lefts, *pieces]


def _grouped(text: str) -> str:
    return rf"\left( {text} \right)" if " - " in text and not text.startswith(r"\mathbb") else text


def _pieces(expr: Any, statement: Statement) -> list[str]:
    """LaTeX of an expression, cut at its summands, and further where a summand is wider than a page."""
    if expr.is_Add:
        terms = sorted(expr.as_ordered_terms(), key=lambda t: bool(t.could_extract_minus_sign()))
        found: list[str] = []
        for number, term in enumerate(terms):
            negative = term.could_extract_minus_sign()
            own = _pieces(-term if negative else term, statement)
            if number or negative:
                own[0] = f"{'-' if negative else '+'} {own[0]}"
            found += own
        return found
    latex = expr_latex(expr, statement)
    if width(latex) <= WIDE:
        return [latex]
    above, below = sp.fraction(expr)
    if expr.is_Mul or below != 1:
        factors = [f for f in sp.Mul.make_args(above) if f != 1]
        found = [p for f in factors for p in _factor(f, statement)] or ["1"]
        for factor in (f for f in sp.Mul.make_args(below) if f != 1):
            own = _factor(factor, statement)
            found += [f"/ {own[0]}", *own[1:]]
        return found
    if expr.is_Pow:
        root = expr.exp == sp.Rational(1, 2)
        own = _pieces(expr.base, statement)
        end = ")" if root else f")^{{{expr_latex(expr.exp, statement)}}}"
        return _enclosed("√ (" if root else "(", own, end)
    name = _CALLED.get(expr.func.__name__)
    if name is None:
        return [latex]
    own = [_pieces(argument, statement) for argument in expr.args]
    listed = [p for pieces in own[:-1] for p in (*pieces[:-1], f"{pieces[-1]} ,")] + own[-1]
    return _enclosed(f"{name} (", listed, ")")


def _enclosed(start: str, pieces: Sequence[str], end: str) -> list[str]:
    if len(pieces) == 1:
        return [f"{start} {pieces[0]} {end}"]
    return [f"{start} {pieces[0]}", *pieces[1:-1], f"{pieces[-1]} {end}"]


def _factor(expr: Any, statement: Statement) -> list[str]:
    pieces = _pieces(expr, statement)
    return _enclosed("(", pieces, ")") if expr.is_Add else pieces


@lru_cache(maxsize=1 << 14)
def width(latex: str) -> float:
    """About how many ems wide a formula is when typeset."""
    return STRETCH * _wide(ET.fromstring(latex_to_mathml(latex)))


def _wide(node: ET.Element) -> float:
    tag, parts = node.tag.rpartition("}")[2], [_wide(child) for child in node]
    if tag == "mfrac":
        return 0.75 * max(parts) + 0.3
    if tag in ("msup", "msub", "msubsup"):
        return parts[0] + 0.72 * max(parts[1:])
    if tag in ("munder", "mover", "munderover"):
        return max(parts[0], *(0.72 * part for part in parts[1:]))
    if tag == "mspace":
        return float(node.get("width", "0").removesuffix("em"))
    if tag == "mo":
        return {1: 1.1, 0: 0.0}.get(len(node.text or ""), 1.5) if (node.text or "") in "+−=≤≥<>∈→⟹⟺" else 0.45
    own = (0.62 if tag == "mi" else 0.56) * len(node.text or "")
    return own + sum(parts) + (0.9 if tag == "msqrt" else 0.0)


def is_wide(lines: Iterable[Sequence[str]]) -> bool:
    """Whether lines of MathML pieces need the whole width of a page, or would be tall beside something else."""
    widths = [[STRETCH * _wide(ET.fromstring(piece)) for piece in line] for line in lines]
    rows = sum(max(1, math.ceil(sum(own) / HALF)) for own in widths)
    return rows > ROWS or any(own > HALF for row in widths for own in row)


# ---- what differs between two readings ----


def _mark(latex: str) -> str:
    return f"{{{_OPEN} {latex} {_CLOSE}}}"


def marked(expr: Any, other: Any, statement: Statement) -> Any:
    """The expression with its smallest parts that `other` has not replaced by symbols that print as marked.

    other: None marks all of it. Equal expressions come back as they are.
    """
    return _compared(expr, other, statement, inside=False)


def _compared(expr: Any, other: Any, statement: Statement, *, inside: bool) -> Any:
    if other is not None and expr == other:
        return expr
    alike: Any = other if other is not None and expr.func == other.func and expr.args else None
    if getattr(expr, "is_Relational", False):
        theirs = (None, None) if alike is None else (alike.lhs, alike.rhs)
        own = zip((expr.lhs, expr.rhs), theirs, strict=True)
        return expr.func(*(_compared(a, b, statement, inside=False) for a, b in own), evaluate=False)
    if alike is not None and (expr.is_Add or expr.is_Mul):
        return _of_many(expr, alike, statement)
    if alike is not None and expr.is_Pow and expr.exp == alike.exp:
        return sp.Pow(_compared(expr.base, alike.base, statement, inside=True), expr.exp, evaluate=False)
    if alike is not None and expr.is_Function and len(expr.args) == len(alike.args):
        parts = [_compared(a, b, statement, inside=False) for a, b in zip(expr.args, alike.args, strict=True)]
        return expr.func(*parts, evaluate=False)
    latex = expr_latex(expr, statement)
    if (expr.is_Add or expr.is_Mul) and width(latex) > WIDE:  # part by part, so that lines can break there
        return expr.func(*(_compared(a, None, statement, inside=expr.is_Mul) for a in expr.args), evaluate=False)
    return sp.Symbol(_mark(rf"\left( {latex} \right)" if inside and expr.is_Add else latex))


def _of_many(expr: Any, other: Any, statement: Statement) -> Any:
    """A sum or product: arguments that the other has too stay, each of the rest is held against its nearest."""
    left = list(other.args)
    rest: list[int] = []
    for number, arg in enumerate(expr.args):
        if arg in left:
            left.remove(arg)
        else:
            rest.append(number)
    args = list(expr.args)
    for number in rest:
        own = args[number]
        near = max(left, key=lambda a: _likeness(own, a), default=None)
        if near is not None and _likeness(own, near) >= 0.5:
            left.remove(near)
        else:
            near = None
        negative = expr.is_Add and own.could_extract_minus_sign()
        if negative:
            shown = _compared(-own, None if near is None else -near, statement, inside=False)
            args[number] = sp.Mul(-1, shown, evaluate=False)
        else:
            args[number] = _compared(own, near, statement, inside=expr.is_Mul)
    return expr.func(*args, evaluate=False)


def _likeness(one: Any, two: Any) -> float:
    """The share of symbols that two expressions of one kind have in common; 0 for different kinds."""
    if one.func != two.func or not one.args:
        return 0.0
    a, b = one.free_symbols, two.free_symbols
    return len(a & b) / len(a | b) if a | b else 0.0
