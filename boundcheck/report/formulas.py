"""Formulas on the pages: MathML in pieces that may break between lines, with the changed parts of a reading marked.

A page sets the pieces side by side and lets the browser break between them: by hypothesis, by summand, and inside a
summand only where it is wider than a page. Two readings are compared as trees; what one has and the other has not is
marked where it stands: the terms of a printed reading keep the order that they have without marks, and those of a
reading that replaces it follow.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sympy as sp
from markupsafe import Markup
from sympy.printing.latex import LatexPrinter

from boundcheck.theory.mathml import latex_to_mathml
from boundcheck.theory.translate import negative_last
from boundcheck.theory.typeset import metric_latex, symbol_latex

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement
    from boundcheck.theory.symbols import Symbol


WIDE = 46  # ems of a piece: what is wider is cut further; a page of 1280 pixels has room for about 48
STRETCH = 1.25  # of the widths below, to cover nine formulas of ten as Chromium sets them
HALF = 22  # ems of a left side and the start of the right one that stay together
COLUMN = 28  # ems that one of two columns has room for
ROWS = 12  # of a column on the first screen
NARROW = 22  # ems of a piece that is cut for a column, so that signs and brackets around it fit as well
# characters of a private area, which no statement has: around what is marked, on its way through LaTeX
_OPEN, _CLOSE = "\ue000", "\ue001"
LETTERS, LONG = 4, 12  # abbreviations of a formula, and operations from which on a part gets one
_CALLED = {r"\min": r"\min", r"\max": r"\max", "exp": r"\exp", "log": r"\log"}
_SIGNS = {"<=": r"\leq", "<": "<", ">=": r"\geq", ">": ">", "==": "=", "!=": r"\neq"}


def mathml(latex: str, kind: str = "changed") -> str:
    """A <math> element; what stands between the marks of `marked` gets the class `kind`."""
    text = latex_to_mathml(latex)
    for sign, tag in ((_OPEN, f'<mrow class="{kind}">'), (_CLOSE, "</mrow>")):
        text = text.replace(f"<mo>{sign}</mo>", tag).replace(f"<mi>{sign}</mi>", tag)
    return text.replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')  # a norm's bars enclose what stands in one row


def claim_lines(
    statement: Statement, other: Statement | None = None, kind: str = "changed", room: float = WIDE
) -> list[list[str]]:
    """The claim as lines of MathML pieces: one a hypothesis, then the inequality, piece by piece.

    other: the reading with which this one is compared; what it has not is marked with the class `kind`. room: ems of
    the widest piece. Long parts that occur several times get a letter, and a line that says what it stands for.
    """

    def shown_as(expr: Any, before: Any) -> Any:
        return arranged(expr) if other is None else marked(expr, before, statement, follow=kind != "printed", room=room)

    hypotheses = [shown_as(relation, before) for relation, before in _hypotheses(statement, other)]
    bound = shown_as(statement.bound, None if other is None else other.bound)
    value = statement.metric.value
    if value is not None:  # against a reading that bounds something else there is nothing to compare
        before = None if other is None else other.metric.value
        value = arranged(value) if before is None else shown_as(value, before)
    named, shown = _abbreviated([*hypotheses, bound, *([] if value is None else [value])], statement)
    lines = [_relation(relation, statement, room) for relation in shown[: len(hypotheses)]]
    lines.append(_conclusion(statement, other, shown[len(hypotheses)], None if value is None else shown[-1], room))
    lines += [_relation(sp.Eq(letter, part, evaluate=False), statement, room) for letter, part in named]
    return [[mathml(latex, kind) for latex in line] for line in lines]


def _abbreviated(exprs: Sequence[Any], statement: Statement) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """(letter, part) pairs for long parts that occur several times, and the expressions with the letters."""
    found: list[tuple[Any, Any]] = []
    shown = list(exprs)
    while len(found) < LETTERS:
        counts: Counter[Any] = Counter()
        for expr in (*shown, *(part for _, part in found)):
            counts.update(p for p in sp.preorder_traversal(expr) if p.args and not getattr(p, "is_Relational", False))
        several = (p for p, count in counts.items() if count > 1)
        long = [p for p in several if p.count_ops() >= LONG or width(_latex(p, statement)) > NARROW]
        if not long or sum(width(_latex(expr, statement)) for expr in shown) < 2 * WIDE:
            break
        part = max(long, key=lambda p: (counts[p] - 1) * p.count_ops())
        letter = sp.Symbol(rf"u_{{{len(found) + 1}}}")
        shown = [_put(expr, part, letter) for expr in shown]
        found = [(name, _put(own, part, letter)) for name, own in found] + [(letter, part)]
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
    return [mathml(latex) for latex in _relation(arranged(relation), statement, WIDE)]


def metric_mathml(statement: Statement) -> str:
    """The left side of the claim; "" for a formula that bounds nothing."""
    latex = metric_latex(statement)
    return latex_to_mathml(latex) if latex else ""


def markup(lines: Sequence[Sequence[str]]) -> Markup:
    """Lines of pieces as HTML that breaks between the pieces."""
    rows = ("".join(f"<span>{piece}</span>" for piece in line) for line in lines)
    return Markup("".join(f'<div class="line">{row}</div>' for row in rows))


def symbol_mathml(symbol: Symbol) -> str:
    """One symbol."""
    return latex_to_mathml(symbol_latex(symbol))


def _relation(relation: Any, statement: Statement, room: float) -> list[str]:
    if not getattr(relation, "is_Relational", False):
        return [_latex(relation, statement)]
    left, right = _pieces(relation.lhs, statement, room), _pieces(relation.rhs, statement, room)
    right[0] = f"{_SIGNS[relation.rel_op]} {right[0]}"
    if len(left) == len(right) == 1 and width(left[0]) + width(right[0]) < HALF:
        return [f"{left[0]} {right[0]}"]
    return [*left, *right]


def _conclusion(statement: Statement, other: Statement | None, bound: Any, value: Any, room: float) -> list[str]:
    left = metric_latex(statement)
    index = None if statement.metric.index is None else statement.symbol(statement.metric.index)
    if statement.kind.limit and index is not None:
        left = rf"\{statement.kind.limit}_{{{symbol_latex(index)} \to \infty}} {_grouped(left)}"
    if left and value is None and other is not None and metric_latex(other) != metric_latex(statement):
        left = _mark(left)
    pieces = _pieces(bound, statement, room)
    if not left:
        return pieces
    lefts = [left] if value is None else _pieces(value, statement, room)
    pieces[0] = f"{_SIGNS.get(statement.kind.sign, '=')} {pieces[0]}"
    if len(lefts) == 1 and width(pieces[0]) + width(lefts[0]) < HALF:
        return [f"{lefts[0]} {pieces[0]}", *pieces[1:]]
    return [*lefts, *pieces]


def _grouped(text: str) -> str:
    return rf"\left( {text} \right)" if " - " in text and not text.startswith(r"\mathbb") else text


def _pieces(expr: Any, statement: Statement, room: float) -> list[str]:
    """LaTeX of an expression, cut at its summands, and further where a summand is wider than `room`."""
    if expr.is_Add:
        found: list[str] = []
        for number, term in enumerate(negative_last(list(expr.args))):
            negative = term.could_extract_minus_sign()
            own = _pieces(_negated(term) if negative else term, statement, room)
            if number or negative:
                own[0] = f"{'-' if negative else '+'} {own[0]}"
            found += own
        return found
    latex = _latex(expr, statement)
    if width(latex) <= room:
        return [latex]
    above, below = sp.fraction(expr, exact=True)
    if expr.is_Mul or below != 1:
        factors = [f for f in sp.Mul.make_args(above) if f != 1]
        found = [p for f in factors for p in _factor(f, statement, room)] or ["1"]
        for factor in (f for f in sp.Mul.make_args(below) if f != 1):
            own = _factor(factor, statement, room)
            found += [f"/ {own[0]}", *own[1:]]
        return found
    if expr.is_Pow:
        root = expr.exp == sp.Rational(1, 2)
        own = _pieces(expr.base, statement, room)
        end = ")" if root else f")^{{{_latex(expr.exp, statement)}}}"
        return _enclosed("√ (" if root else "(", own, end)
    name = _CALLED.get(expr.func.__name__)
    if name is None:
        return [latex]
    own = [_pieces(argument, statement, room) for argument in expr.args]
    listed = [p for pieces in own[:-1] for p in (*pieces[:-1], f"{pieces[-1]} ,")] + own[-1]
    return _enclosed(f"{name} (", listed, ")")


def _enclosed(start: str, pieces: Sequence[str], end: str) -> list[str]:
    if len(pieces) == 1:
        return [f"{start} {pieces[0]} {end}"]
    return [f"{start} {pieces[0]}", *pieces[1:-1], f"{pieces[-1]} {end}"]


def _factor(expr: Any, statement: Statement, room: float) -> list[str]:
    pieces = _pieces(expr, statement, room)
    return _enclosed("(", pieces, ")") if expr.is_Add else pieces


@lru_cache(maxsize=1 << 14)
def width(latex: str) -> float:
    """About how many ems wide a formula is when typeset."""
    return _ems(latex_to_mathml(latex))


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
    """Whether a piece of these lines is wider than one of two columns."""
    return any(_ems(piece) > COLUMN for line in lines for piece in line)


def fits_column(lines: Iterable[Sequence[str]]) -> bool:
    """Whether one of two columns has room for these lines, without a wide piece and in at most `ROWS` rows."""
    rows = [-(-sum(map(_ems, line)) // COLUMN) for line in lines]
    return not is_wide(lines) and sum(rows) <= ROWS


def _ems(mathml: str) -> float:
    return STRETCH * _wide(ET.fromstring(mathml))


# ---- expressions whose parts stand in the order in which they are shown ----


class _Kept(LatexPrinter):
    """Prints the parts of sums and products in the order in which they stand."""

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        text = ""
        for number, term in enumerate(negative_last(list(expr.args))):
            negative = term.could_extract_minus_sign()
            own = _negated(term) if negative else term
            shown = self._print(own)
            shown = rf"\left({shown}\right)" if self._needs_add_brackets(own) or (negative and own.is_Add) else shown
            text += (" - " if number else "- ") + shown if negative else (" + " if number else "") + shown
        return text

    def _print_Mul(self, expr: Any) -> str:
        if expr.args[0].is_Number and expr.args[0].is_negative:
            own = _negated(expr)
            return "- " + (rf"\left({self._print(own)}\right)" if own.is_Add else self._print(own))
        return super()._print_Mul(expr)

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        text = super()._print_Function(expr, None if expr.func.__name__ in _CALLED else exp)
        return text if exp is None or expr.func.__name__ not in _CALLED else f"{text}^{{{exp}}}"


def _latex(expr: Any, statement: Statement) -> str:
    names = {s.expr: symbol_latex(s) for s in statement.symbols}
    return str(_Kept({"symbol_names": names, "order": "none"}).doprint(expr))


def _negated(term: Any) -> Any:
    """The negative of a term, its factors in their order."""
    if not term.is_Mul or not term.args[0].is_Number:
        return -term
    rest = term.args[1:] if term.args[0] == -1 else (-term.args[0], *term.args[1:])
    return rest[0] if len(rest) == 1 else _built(sp.Mul, rest)


def _built(kind: Any, args: Sequence[Any]) -> Any:
    kept = (sp.Add, sp.Mul, sp.Pow, sp.Function, sp.core.relational.Relational)
    return kind(*args, evaluate=False) if issubclass(kind, kept) else kind(*args)


def _parts(expr: Any) -> list[Any]:
    """The parts of an expression in the order in which they are shown."""
    if expr.is_Add:
        return negative_last(expr.as_ordered_terms())
    if isinstance(expr, sp.Max | sp.Min):
        return sorted(expr.args, key=sp.default_sort_key)
    return expr.as_ordered_factors() if expr.is_Mul else list(expr.args)


def arranged(expr: Any) -> Any:
    """The expression with the parts of sums and products as they are shown, to be printed as they stand."""
    if not isinstance(expr, sp.Basic) or not expr.args:
        return expr
    if isinstance(expr, sp.Max | sp.Min):
        return _extreme(expr)(*map(arranged, _parts(expr)))
    return _built(expr.func, [arranged(part) for part in _parts(expr)])


def _extreme(expr: Any) -> Any:
    """A function that prints as the greatest or least of several values, and keeps their order."""
    return sp.Function(rf"\{type(expr).__name__.lower()}")


def _put(expr: Any, part: Any, letter: Any) -> Any:
    """The expression with the letter in place of each such part; the others stay where they are."""
    if expr == part:
        return letter
    args = [_put(a, part, letter) for a in expr.args]
    return _built(expr.func, args) if any(a is not b for a, b in zip(args, expr.args, strict=True)) else expr


# ---- what differs between two readings ----


def _mark(latex: str) -> str:
    return f"{{{_OPEN} {latex} {_CLOSE}}}"


def marked(expr: Any, other: Any, statement: Statement, *, follow: bool = False, room: float = WIDE) -> Any:
    """The arranged expression with its smallest parts that `other` has not replaced by symbols that print as marked.

    other: None marks all of it. follow: summands and factors stand in the order of those of `other`.
    room: ems beyond which a part is marked piece by piece.
    """
    return _Comparison(statement, follow, room).of(expr, other)


class _Comparison:
    """Marks the parts of one reading that another has not. follow, room: see `marked`."""

    def __init__(self, statement: Statement, follow: bool, room: float) -> None:
        self.statement, self.follow, self.room = statement, follow, room

    def of(self, expr: Any, other: Any, *, inside: bool = False) -> Any:
        if other is not None and expr == other:
            return arranged(expr)
        alike: Any = other if other is not None and expr.func == other.func and expr.args else None
        if getattr(expr, "is_Relational", False):
            theirs = (None, None) if alike is None else (alike.lhs, alike.rhs)
            return _built(expr.func, [self.of(a, b) for a, b in zip((expr.lhs, expr.rhs), theirs, strict=True)])
        if alike is not None and (expr.is_Add or expr.is_Mul):
            return self._of_many(expr, alike)
        if alike is not None and expr.is_Pow and expr.exp == alike.exp:
            return _built(sp.Pow, [self.of(expr.base, alike.base, inside=True), expr.exp])
        if alike is not None and expr.is_Function and len(expr.args) == len(alike.args):
            parts = [self.of(a, b) for a, b in zip(_parts(expr), _parts(alike), strict=True)]
            return _extreme(expr)(*parts) if isinstance(expr, sp.Max | sp.Min) else _built(expr.func, parts)
        if expr.is_Pow and expr.exp.could_extract_minus_sign():  # what is in a denominator stays there
            return _built(sp.Pow, [self.of(expr.base**-expr.exp, None, inside=inside), sp.Integer(-1)])
        if inside and expr.is_Rational and expr.q != 1:
            below = _built(sp.Pow, [self.of(sp.Integer(expr.q), None), sp.Integer(-1)])
            return below if expr.p == 1 else _built(sp.Mul, [self.of(sp.Integer(expr.p), None), below])
        latex = _latex(arranged(expr), self.statement)
        if width(latex) > self.room:  # part by part, so that lines can break there
            if expr.is_Add or expr.is_Mul:
                return _built(expr.func, [self.of(a, None, inside=expr.is_Mul) for a in _parts(expr)])
            if isinstance(expr, sp.Max | sp.Min):
                return _extreme(expr)(*(self.of(a, None) for a in _parts(expr)))
            if expr.is_Pow or expr.func.__name__ in _CALLED:
                return _built(expr.func, [self.of(expr.args[0], None, inside=expr.is_Pow), *expr.args[1:]])
        return sp.Symbol(_mark(rf"\left( {latex} \right)" if inside and expr.is_Add else latex))

    def _of_many(self, expr: Any, other: Any) -> Any:
        """A sum or product: parts that the other has too stay, each of the rest is held against its nearest."""
        own, theirs = _parts(expr), _parts(other)
        left = list(theirs)
        partner: dict[int, Any] = {}
        for number, part in enumerate(own):
            if part in left:
                left.remove(part)
                partner[number] = part
        pairs = [(_likeness(own[n], near), -n, near) for n in range(len(own)) if n not in partner for near in left]
        for likeness, number, near in sorted(pairs, key=lambda pair: pair[:2], reverse=True):
            if likeness >= 0.5 and -number not in partner and near in left:
                left.remove(near)
                partner[-number] = near
        places: list[float] = []
        for number in range(len(own)):
            after = places[-1] + 1e-3 if places else -1.0  # a part without a partner stays behind the one before it
            places.append(theirs.index(partner[number]) if number in partner else after)
        shown = [self._part(expr, part, partner.get(number)) for number, part in enumerate(own)]
        order = sorted(range(len(own)), key=places.__getitem__) if self.follow else range(len(own))
        args = (part for n in order for part in (shown[n].args if expr.is_Mul and shown[n].is_Mul else (shown[n],)))
        return _built(expr.func, list(args))

    def _part(self, expr: Any, part: Any, near: Any) -> Any:
        if not (expr.is_Add and part.could_extract_minus_sign() and part != near):
            below = [p for p in _parts(expr) if p.is_Pow and p.exp.could_extract_minus_sign()]
            return self.of(part, near, inside=expr.is_Mul and below != [part])
        shown = self.of(-part, None if near is None else -near)
        factors = shown.args if shown.is_Mul else (shown,)
        if factors[0].is_Number:
            return _built(sp.Mul, (-factors[0], *factors[1:]))
        return _built(sp.Mul, (sp.Integer(-1), *factors))


def _likeness(one: Any, two: Any) -> float:
    """The share of symbols that two expressions of one kind have in common; 0 for different kinds."""
    if one.func != two.func or not one.args:
        return 0.0
    a, b = one.free_symbols, two.free_symbols
    return len(a & b) / len(a | b) if a | b else 0.0
