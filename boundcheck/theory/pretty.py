"""Formulas drawn in Unicode for terminals: a block of lines a summand, so that a formula breaks between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.stringpict import prettyForm

from boundcheck.theory.mathml import LETTERS
from boundcheck.theory.typeset import symbol_latex

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement

_RAISED = str.maketrans("0123456789+-nik", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱᵏ")
_LOWERED = str.maketrans("0123456789+-aeijklmnoprstux", "₀₁₂₃₄₅₆₇₈₉₊₋ₐₑᵢⱼₖₗₘₙₒₚᵣₛₜᵤₓ")
_SIGNS = {r"\nabla": "∇", r"\sum": "∑", r"\|": "‖", r"\lVert": "‖", r"\rVert": "‖", r"\Delta": "Δ", r"\,": " "}


def symbol_unicode(latex: str, name: str) -> str:
    """One line of Unicode for a symbol's LaTeX; its ASCII name where the LaTeX has more than letters and scripts.

    >>> symbol_unicode(r"\\sigma^2", "sigma2"), symbol_unicode(r"\\eta_l", "eta_l")
    ('σ²', 'ηₗ')
    """
    text = re.sub(r"\\(?:mathrm|text|mathit)\{([^{}]*)\}", r"\1", latex)
    text = re.sub(r"\\(min|max|log)\b", r"\1", text)
    for command, sign in _SIGNS.items():
        text = text.replace(command, sign)
    text = re.sub(r"\\([A-Za-z]+) ?", lambda m: LETTERS.get(m[1], m[0]), text)
    for mark, table in (("^", _RAISED), ("_", _LOWERED)):

        def script(match: re.Match[str], table: dict[int, int] = table) -> str:
            inner = match[1] or match[2]
            return inner.translate(table) if all(ord(c) in table for c in inner) else match[0]

        text = re.sub(rf"\{mark}(?:\{{([^{{}}]+)\}}|([^{{}}\\]))", script, text)
    text = re.sub(r"_\{([A-Za-z0-9 ]+)\}", r"_\1", text)
    return name if re.search(r"[\\{}^]", text) else text


class _Unicode(PrettyPrinter):
    def __init__(self, names: dict[Any, str]) -> None:
        super().__init__({"use_unicode": True, "wrap_line": False})
        self._names = names

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return sorted(super()._as_ordered_terms(expr, order=order), key=lambda t: bool(t.could_extract_minus_sign()))

    def _print_Symbol(self, e: Any, bold_name: bool = False) -> Any:
        text = self._names.get(e, str(e))
        shape = prettyForm(text)
        whole = re.fullmatch(r"[^\W\d]\w*|\(.*\)", text) and not re.search("[⁰¹²³⁴⁵⁶⁷⁸⁹]", text)
        return shape if whole else prettyForm(text, binding=prettyForm.POW)


def formula_blocks(expr: Any, statement: Statement) -> tuple[list[list[str]], int]:
    """The formula as blocks of lines to be set side by side, its summands with their signs; and their base line.

    All blocks have the same number of lines and the signs between them on the base line.
    """
    names = {s.expr: symbol_unicode(symbol_latex(s), s.name) for s in statement.symbols}
    printer: Any = _Unicode(names)
    terms = printer._as_ordered_terms(expr) if isinstance(expr, sp.Add) else [expr]
    drawn: list[tuple[Sequence[str], int]] = []
    for k, term in enumerate(terms):
        minus = bool(k) and bool(term.could_extract_minus_sign())
        shape = printer._print(-term if minus else term)
        if k:
            shape = prettyForm(*prettyForm(" - " if minus else " + ").right(shape))
        drawn.append((shape.picture, shape.baseline))
    above = max(base for _, base in drawn)
    below = max(len(picture) - base for picture, base in drawn)
    blocks: list[list[str]] = []
    for picture, base in drawn:
        blank = " " * len(picture[0])
        blocks.append([*[blank] * (above - base), *picture, *[blank] * (below - len(picture) + base)])
    return blocks, above
