"""Formulas on the pages: MathML in pieces that may break between lines, with the changed parts of a reading marked.

A page sets the pieces side by side and lets the browser break between them: by hypothesis, by summand, and inside a
summand only where it is wider than a page. Two readings are compared as trees; what one has and the other has not is
marked in the formula itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from boundcheck.theory.mathml import latex_to_mathml
from boundcheck.theory.typeset import expr_latex, metric_latex, symbol_latex

if TYPE_CHECKING:
    from markupsafe import Markup

    from boundcheck.theory.statement import Statement
    from boundcheck.theory.symbols import Symbol


WIDE = 26  # ems of a product that is broken at its factors: half a page of 1280 pixels shows about 30
WIDE_FRACTION = 44  # ems of a fraction that is written with a slash, so that it can be broken
# characters of a private area, which no statement has: around what is marked, on its way through LaTeX
_OPEN, _CLOSE = "\ue000", "\ue001"
_SIGNS = {"<=": r"\leq", "<": "<", ">=": r"\geq", ">": ">", "==": "=", "!=": r"\neq"}


def mathml(latex: str, kind: str = "changed") -> str:
    """A <math> element; what stands between the marks of `marked` gets the class `kind`."""
    text = latex_to_mathml(latex)
    for sign, tag in ((_OPEN, f'<mrow class="{kind}">'), (_CLOSE, "</mrow>")):
        text = text.replace(f"<mo>{sign}</mo>", tag).replace(f"<mi>{sign}</mi>", tag)
    return text.replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')  # a norm's bars enclose what stands in one row


def claim_lines(statement: Statement, other: Statement | None = None, kind: str = "changed") -> list[list[str]]:
    """The claim as lines of MathML pieces: one a hypothesis, then the inequality, piece by piece.

    other: the reading with which this one is compared; what it has not is marked with the class `kind`.
    """
    lines: list[list[str]] = []
    for relation, before in _hypotheses(statement, other):
        shown = marked(relation, before, statement) if other is not None else relation
        lines.append([mathml(latex, kind) for latex in _relation(shown, statement)])
    return [*lines, [mathml(latex, kind) for latex in _conclusion(statement, other)]]


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
    if len(left) == len(right) == 1 and _width(relation.lhs) + _width(relation.rhs) < WIDE:
        return [f"{left[0]} {right[0]}"]
    return [*left, *right]


def _conclusion(statement: Statement, other: Statement | None) -> list[str]:
    left = metric_latex(statement)
    index = None if statement.metric.index is None else statement.symbol(statement.metric.index)
    if statement.kind.limit and index is not None:
        left = rf"\{statement.kind.limit}_{{{symbol_latex(index)} \to \infty}} {_grouped(left)}"
    if left and other is not None and metric_latex(other) != metric_latex(statement):
        left = _mark(left)
    bound = statement.bound if other is None else marked(statement.bound, other.bound, statement)
    pieces = _pieces(bound, statement)
    if not left:
        return pieces
    value = statement.metric.value
    lefts = [left] if value is None or _OPEN in left else _pieces(value, statement)
    pieces[0] = f"{_SIGNS.get(statement.kind.sign, '=')} {pieces[0]}"
    if len(lefts) == 1 and _width(bound) < WIDE:
        return [f"{lefts[0]} {pieces[0]}", *pieces[1:]]
    return [*lefts, *pieces]


def _grouped(text: str) -> str:
    return rf"\left( {text} \right)" if " - " in text and not text.startswith(r"\mathbb") else text


def _pieces(expr: Any, statement: Statement) -> list[str]:
    """LaTeX of an expression, cut at its summands, and at factors where a summand is wider than a page."""
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
    if _width(expr) <= WIDE or not expr.is_Mul:
        return [expr_latex(expr, statement)]
    above, below = sp.fraction(expr)
    if below != 1 and _width(expr) <= WIDE_FRACTION:
        return [expr_latex(expr, statement)]
    factors = [f for f in sp.Mul.make_args(above) if f != 1]
    found = [p for f in factors for p in _factor(f, statement)] or ["1"]
    divided = [p for f in sp.Mul.make_args(below) if f != 1 for p in ("/", *_factor(f, statement))]
    return _joined([*found, *divided])


def _factor(expr: Any, statement: Statement) -> list[str]:
    if not expr.is_Add:
        return [expr_latex(expr, statement)]
    pieces = _pieces(expr, statement)
    return [f"( {pieces[0]}", *pieces[1:-1], f"{pieces[-1]} )"] if len(pieces) > 1 else [f"( {pieces[0]} )"]


def _joined(pieces: Sequence[str]) -> list[str]:
    """A division sign stays with what it divides by."""
    found: list[str] = []
    for piece in pieces:
        if found and found[-1] == "/":
            found[-1] = f"/ {piece}"
        else:
            found.append(piece)
    return found


def _width(expr: Any) -> float:
    """About how many ems wide the expression is when typeset."""
    if expr.is_Symbol:
        name = str(expr.name)
        return len(name) / 4 if _OPEN in name else 0.7 + 0.45 * max(len(name) - 1, 0)
    if expr.is_Rational:
        return 0.6 * max(len(str(expr.p)), len(str(expr.q)))
    if expr.is_Mul:
        above, below = sp.fraction(expr)
        if below != 1:
            return max(_width(above), _width(below))
        return sum(_width(a) + (1 if a.is_Add else 0) for a in expr.args)
    if expr.is_Pow:
        if expr.exp.is_Rational and expr.exp < 0:
            return _width(1 / expr)
        return _width(expr.base) + 0.7 * _width(expr.exp) + (1 if expr.base.is_Add else 0)
    return sum(_width(a) + 1.5 for a in expr.args) if expr.args else 1.0


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
