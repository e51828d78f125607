"""Statements typeset: LaTeX, presentation MathML and one-line text, all derived from the expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy.printing.latex import LatexPrinter

from boundcheck.core import providers
from boundcheck.core.cards import Card
from boundcheck.core.numbers import format_short
from boundcheck.errors import BadInput
from boundcheck.theory.declarations import Average
from boundcheck.theory.mathml import GREEK, latex_to_mathml
from boundcheck.theory.translate import expr_text as expr_text
from boundcheck.theory.translate import negative_last

if TYPE_CHECKING:
    from boundcheck.theory.declarations import Metric
    from boundcheck.theory.relations import Condition
    from boundcheck.theory.statement_data import StatementData
    from boundcheck.theory.symbols import Symbol


_RELATIONS = {
    "<=": r"\leq",
    "<": "<",
    ">=": r"\geq",
    ">": ">",
    "==": "=",
    "!=": r"\neq",
}

# the quantities that problems report, as functions of the iterate with an index
_QUANTITIES = {
    "dist2": r"\mathrm{dist}^2(\theta_{%s})",
    "gap": r"F(\theta_{%s}) - F^*",
    "grad2": r"\lVert \nabla F(\theta_{%s}) \rVert^2",
    "x": r"\theta_{%s}",
}


class _Latex(LatexPrinter):
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return negative_last(super()._as_ordered_terms(expr, order=order))


def symbol_latex(symbol: Symbol) -> str:
    """The declared typesetting of a symbol, else one made of its name: sigma2 is \\sigma^2, tau_M is \\tau_{M}.

    A Greek name is a letter; a 2 at the end of a name is a square, another number a subscript; what follows an
    underscore is a subscript, and "bar" a bar over the letter.
    """
    if symbol.latex:
        return symbol.latex
    stem, _, index = symbol.name.partition("_")
    found = re.fullmatch(r"([A-Za-z]+?)([0-9]*)", stem)
    letters, digits = (stem, "") if found is None else (found[1], found[2])
    text = _word(letters)
    index = index.replace("_", r"\,")
    if index == "bar":
        text, index = rf"\bar{{{text}}}", ""
    index = ("" if digits in ("", "2") else digits) + (_word(index) if index.isalpha() else index)
    text = f"{text}_{{{index}}}" if index else text
    return f"{text}^2" if digits == "2" else text


def _word(text: str) -> str:
    """A Greek or single letter, min and max as they are; several letters upright."""
    if text in GREEK or text in ("min", "max"):
        return f"\\{text}"
    return text if len(text) == 1 else rf"\mathrm{{{text}}}"


def expr_latex(expr: Any, statement: StatementData) -> str:
    """LaTeX of an expression or relation, with the statement's declared names."""
    if getattr(expr, "is_Relational", False):
        left, right = expr_latex(expr.lhs, statement), expr_latex(expr.rhs, statement)
        return f"{left} {_RELATIONS[expr.rel_op]} {right}"
    names = {s.expr: symbol_latex(s) for s in statement.symbols}
    return str(_Latex({"symbol_names": names}).doprint(expr))


def expr_mathml(expr: Any, statement: StatementData) -> str:
    """A <math> element that browsers show without help, from the same LaTeX."""
    return latex_to_mathml(expr_latex(expr, statement))


def relation_text(relation: Any) -> str:
    """One line of plain text for a condition or domain relation."""
    return expr_text(relation)


def condition_latex(condition: Condition, statement: StatementData) -> str:
    """LaTeX of a condition's relation."""
    return expr_latex(condition.relation, statement)


def metric_latex(statement: StatementData) -> str:
    """LaTeX of the left side: the quantity at the index, scaled, averaged and under its expectation."""
    metric = statement.metric
    if metric.value is not None:
        return expr_latex(metric.value, statement)
    if metric.quantity == "none":
        return ""
    index = "" if metric.index is None else symbol_latex(statement.symbol(metric.index))
    pattern = _QUANTITIES.get(metric.quantity)
    if pattern is None:
        text = rf"\mathrm{{{metric.quantity.removeprefix('constant:').replace('_', ' ')}}}" + (
            f"_{{{index}}}" if index else ""
        )
    else:
        text = pattern % index if index else (pattern % "K").replace("_{K}", "")
    if metric.over_rounds:
        return _scaled(_averaged(statement, pattern), statement)
    text = _expected(text, statement)
    return _scaled(text, statement)


def _expected(text: str, statement: StatementData) -> str:
    if statement.metric.expectation.startswith("none"):
        return text
    return rf"\mathbb{{E}}\left[ {text} \right]"


def _scaled(text: str, statement: StatementData) -> str:
    scale = statement.metric.scale
    return text if scale == 1 else f"{expr_latex(scale, statement)} {_grouped(text)}"


def _averaged(statement: StatementData, pattern: str | None) -> str:
    """The average over the points after 0 to rounds - 1 rounds, or to rounds; in expectation also of a drawn one."""
    metric = statement.metric
    inner = pattern % "r" if pattern is not None else rf"\mathrm{{{metric.quantity.replace('_', ' ')}}}_{{r}}"
    count = metric.rounds + metric.more_points
    last = expr_latex(count - 1, statement)
    if metric.average is Average.LEAST:
        return _expected(rf"\min_{{0 \leq r \leq {last}}} {_grouped(inner)}", statement)
    inner = _expected(inner, statement)
    rounds = expr_latex(count, statement)
    total = rf"\sum_{{r=0}}^{{{last}}}"
    if not metric.weights.free_symbols:
        return rf"\frac{{1}}{{{rounds}}} {total} {_grouped(inner)}"
    weight = expr_latex(metric.weights, statement)
    return rf"\frac{{{total} {weight} {_grouped(inner)}}}{{{total} {weight}}}"


def _grouped(text: str) -> str:
    return rf"\left( {text} \right)" if " - " in text and not text.startswith(r"\mathbb") else text


def _domain_latex(symbol: Symbol) -> str:
    name = symbol_latex(symbol)
    low = "" if symbol.low is None else format_short(symbol.low)
    high = "" if symbol.high is None else format_short(symbol.high)
    if low and low == high:
        return f"{name} = {low}"
    from_low = "<" if symbol.low_open else r"\leq"
    at_least, at_most = (">" if symbol.low_open else r"\geq"), ("<" if symbol.high_open else r"\leq")
    left = f"{low} {from_low} " if low and high else ""
    right = f" {at_most} {high}" if high else f" {at_least} {low}" if low else ""
    kind = r" \in \mathbb{Z}" if symbol.integer and not left + right else ""
    return f"{left}{name}{kind}{right}"


def _join(parts: Sequence[str]) -> str:
    return r",\; ".join(parts)


def claim_latex(statement: StatementData) -> str:
    """The whole claim: hypotheses on the constants, then the inequality, then for which indices it is said."""
    bound = expr_latex(statement.bound, statement)
    left = metric_latex(statement)
    index = None if statement.metric.index is None else statement.symbol(statement.metric.index)
    if statement.kind.limit and index is not None:
        left = rf"\{statement.kind.limit}_{{{symbol_latex(index)} \to \infty}} {_grouped(left)}"
    sign = {"<=": r"\leq", ">=": r"\geq"}.get(statement.kind.sign, "=")
    claim = f"{left} {sign} {bound}" if left else bound
    if index is not None and statement.kind.at_every_index:
        claim += rf" \quad \text{{for all }} {_domain_latex(index)}"
    hypotheses = [expr_latex(r, statement) for r in statement.domain]
    hypotheses += [condition_latex(c, statement) for c in statement.conditions]
    hypotheses += [f"{symbol_latex(statement.symbol(n))} = {expr_latex(e, statement)}" for n, e in statement.choices]
    if not hypotheses:
        return claim
    arrow = r"\Longleftrightarrow" if statement.kind.limit == "lim" else r"\Longrightarrow"
    return rf"{_join(hypotheses)} \quad {arrow} \quad {claim}"


def claim_mathml(statement: StatementData) -> str:
    """The whole claim as one block <math> element."""
    return latex_to_mathml(claim_latex(statement), block=True)


def average_text(metric: Metric) -> str:
    """How a metric is summarised over rounds, in words."""
    if not metric.over_rounds:
        return metric.average.value
    points = f"r = 0, ..., {expr_text(metric.rounds + metric.more_points - 1)}"
    text = f"at one r drawn from {points}" if metric.average is Average.DRAWN else f"{metric.average} over {points}"
    weights = metric.weights
    return f"{text} with the weights {expr_text(weights)}" if weights and weights.free_symbols else text


def left_text(statement: StatementData) -> str:
    """The left side of the claim on one line; empty for a formula."""
    metric, index = statement.metric, statement.metric.index
    left = "" if metric.quantity == "none" else metric.quantity + (f"_{index}" if index else "")
    if metric.over_rounds:
        weights = f", weights {expr_text(metric.weights)}" if metric.weights and metric.weights.free_symbols else ""
        rounds = f"r {'<=' if metric.with_last else '<'} {expr_text(metric.rounds)}"
        how = f"{metric.average} of {metric.quantity} over"
        left = f"{metric.quantity} at a drawn" if metric.average is Average.DRAWN else how
        left = f"{left} {rounds}{weights}"
    if metric.value is not None:
        left = expr_text(metric.value)
    if metric.scale != 1 and left:
        left = f"{expr_text(metric.scale)} * {left}"
    return f"{statement.kind.limit} {left}" if statement.kind.limit and left else left


def claim_text(statement: StatementData) -> str:
    """The whole claim on one line, for terminals."""
    left = left_text(statement)
    claim = f"{left} {statement.kind.sign} {expr_text(statement.bound)}" if left else expr_text(statement.bound)
    hypotheses = [relation_text(c.relation) for c in statement.conditions]
    hypotheses += [f"{name} = {expr_text(expr)}" for name, expr in statement.choices]
    return f"{' and '.join(hypotheses)} ==> {claim}" if hypotheses else claim


def statement_card(statement: StatementData) -> Card:
    """What a notebook shows of a statement: formula, hypotheses, its readings and its symbols."""
    facts = [("source", f"{statement.source.paper}, {statement.source.number} ({statement.source.where})")]
    facts.append(("claim", f"{statement.kind.value}, {statement.belief.value}"))
    facts += [(label, text) for label, text in (("replaces", statement.replaces), ("why", statement.why)) if text]
    facts += [(f"assumption {a.name}", a.meaning) for a in statement.assumptions]
    facts += [(f"condition '{c.name}'", relation_text(c.relation)) for c in statement.conditions]
    paper, _, rest = statement.id.partition("/")
    if rest:
        discovery = providers.load(providers.STATEMENTS, "discovery")
        try:
            own = discovery.readings(paper, rest.partition("/")[0])
        except (KeyError, BadInput):  # an object that no paper has
            own = ()
        facts.append(("readings", ", ".join(f"{s.reading} ({s.belief.value})" for s in own)))
    columns = {
        "symbol": [s.name for s in statement.symbols],
        "meaning": [s.meaning for s in statement.symbols],
        "dimension": [str(s.dimension) for s in statement.symbols],
        "allowed": [s.allowed() for s in statement.symbols],
        "constant": [s.key for s in statement.symbols],
    }
    title = f"{statement.best_id}: {statement.title}"
    return Card(title, facts, claim_latex(statement), claim_mathml(statement), columns)
