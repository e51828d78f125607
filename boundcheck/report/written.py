"""Propositions and proofs as a reader writes them: squares of norms put together again, one-line text and LaTeX."""

from __future__ import annotations

import re
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from boundcheck.errors import BadInput
from boundcheck.proof.step import Status
from boundcheck.proof.vectors import Inner, Vector, VectorEquality
from boundcheck.theory.typeset import claim_latex, symbol_latex

if TYPE_CHECKING:
    from boundcheck.proof.derive import DerivationReport

SIGNS = {"==": "=", "<=": r"\leq", ">=": r"\geq", "!=": r"\neq", "<": "<", ">": ">"}


class Norm2(sp.Function):
    """|c1 a1 + c2 a2 + ...|^2 from c1, a1, c2, a2, ...; for printing only."""

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """The coefficients with their vectors."""
        return list(zip(self.args[::2], self.args[1::2], strict=True))


def folded(expr: Any) -> Any:
    """The expression with sums of inner products that are one squared norm written as such.

    >>> from boundcheck.proof.vectors import norm2, vector
    >>> len(folded(norm2(vector("x") - vector("y") * 3)).args)
    4
    """
    whole = expr.replace(lambda e: isinstance(e, sp.Add), _put_together)
    return whole.replace(lambda e: isinstance(e, Inner) and e.args[0] == e.args[1], lambda e: Norm2(1, e.args[0]))


def _put_together(total: Any) -> Any:
    groups: dict[Any, dict[Any, Any]] = {}  # ranges of a sum, () without one -> inner product -> coefficient
    rest: list[Any] = []
    for term in total.args:
        found = [f for f in sp.Mul.make_args(term) if isinstance(_summand(f), Inner)]
        if len(found) == 1:
            own = groups.setdefault(found[0].limits if isinstance(found[0], sp.Sum) else (), {})
            own[_summand(found[0])] = own.get(_summand(found[0]), sp.Integer(0)) + term / found[0]
        else:
            rest.append(term)
    for ranges, products in groups.items():
        parts = [*_squares(products), *((c, p) for p, c in products.items())]
        rest += [c * (sp.Sum(p, *ranges) if ranges else p) for c, p in parts]
    return sp.Add(*rest)


def _summand(expr: Any) -> Any:
    return expr.function if isinstance(expr, sp.Sum) else expr


def _squares(products: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """(factor, squared norm) of what is one; its inner products are removed from `products`."""
    found: list[tuple[Any, Any]] = []
    squares = [p for p in products if p.args[0] == p.args[1]]
    for square in sorted(squares, key=lambda p: (len(str(products[p])), str(products[p]), str(p))):
        first, scale = square.args[0], products.get(square)
        if scale is None:
            continue
        others = {
            next(v for v in p.args if v != first): sp.cancel(c / (2 * scale))
            for p, c in sorted(products.items(), key=str)
            if first in p.args and p != square
        }
        own = {first: sp.Integer(1), **others}
        needed = {Inner(v, v): c**2 for v, c in own.items()}
        needed |= {Inner(u, v): 2 * own[u] * own[v] for u, v in combinations(own, 2)}
        if others and all(p in products and sp.expand(products[p] - scale * c) == 0 for p, c in needed.items()):
            for p in needed:
                del products[p]
            found.append((scale, Norm2(*(part for v, c in own.items() for part in (c, v)))))
    return found


def _lettered(claim: Any) -> Any:
    """The indices of sums as i, j, ..., where these letters are free."""
    taken = {s.name for s in claim.atoms(sp.Symbol)}
    letters = iter([x for x in "ijklmnpqst" if x not in taken])
    inner = sorted({limit[0] for e in claim.atoms(sp.Sum) for limit in e.limits}, key=str)
    return claim.xreplace(
        {s: sp.Symbol(x, **s.assumptions0) for s, x in zip(inner, letters, strict=False) if s.name[0] == "_"}
    )


class _Words(StrPrinter):
    def _print_Inner(self, e: Any) -> str:
        return f"<{self._print(e.args[0])}, {self._print(e.args[1])}>"

    def _print_Norm2(self, e: Any) -> str:
        return f"|{_combination(e.pairs, self._print, '*')}|^2"

    def _print_Sum(self, expr: Any) -> str:
        ranges = ", ".join(f"{self._print(i)} = {self._print(a)}, ..., {self._print(b)}" for i, a, b in expr.limits)
        return f"sum[{ranges}]({self._print(expr.function)})"

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        return super()._print_Pow(expr, rational).replace("**", "^")


class _Latex(LatexPrinter):
    def _print_Inner(self, e: Any, exp: Any = None) -> str:
        text = rf"\langle {self._print(e.args[0])}, {self._print(e.args[1])}\rangle"
        return text if exp is None else f"{text}^{{{exp}}}"

    def _print_Norm2(self, e: Any, exp: Any = None) -> str:
        text = rf"\lVert {_combination(e.pairs, self._print, ' ')}\rVert^2"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"

    def _print_Sum(self, expr: Any) -> str:
        ranges = [rf"\sum_{{{self._print(i)}={self._print(a)}}}^{{{self._print(b)}}}" for i, a, b in expr.limits[::-1]]
        body = self._print(expr.function)
        return " ".join([*ranges, rf"\left({body}\right)" if expr.function.is_Add else body])

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        if not isinstance(expr, sp.core.function.AppliedUndef):
            return super()._print_Function(expr, exp)
        name, index = _letter(expr.func.__name__), ", ".join(map(self._print, expr.args))
        text = f"{name}({index})" if re.search("[_^]", name) else f"{name}_{{{index}}}"
        return text if exp is None else f"{text}^{{{exp}}}"


def _letter(name: str) -> str:
    """LaTeX of a name that the derivation introduces, by the rules for symbols; an index of a sum has no underscore."""
    bare: Any = SimpleNamespace(latex="", name=re.sub(r"^_(?=\w)", "", name))
    return symbol_latex(bare) if re.fullmatch(r"\w+", bare.name) else rf"\mathrm{{{re.sub(r'[^A-Za-z0-9]', '', name)}}}"


def letter(name: str, statement: Any) -> str:
    """LaTeX of one name of a derivation of the statement: of its symbol, or made of the ASCII name."""
    own = next((s for s in statement.symbols if s.name == name), None)
    return _letter(name) if own is None else symbol_latex(own)


def _combination(pairs: list[tuple[Any, Any]], write: Any, times: str) -> str:
    """c1 a1 + c2 a2 + ... with the signs of the coefficients."""
    text = ""
    for c, v in pairs:
        minus = bool(c.could_extract_minus_sign())
        size = -c if minus else c
        factor = "" if size == 1 else f"({write(size)})" if isinstance(size, sp.Add) else write(size)
        sign = (" - " if text else "-") if minus else (" + " if text else "")
        text += f"{sign}{factor}{times if factor else ''}{write(v)}"
    return text or "0"


def _with(printer: Any, claim: Any, signs: dict[str, str], times: str, implies: str) -> str:
    def write(e: Any) -> str:
        return str(printer.doprint(_lettered(folded(e))))

    def vector(v: Vector) -> str:
        return _combination([(c, a) for a, c in v.terms], write, times)

    if isinstance(claim, VectorEquality):
        return f"{vector(claim.left)} {signs.get('==', '=')} {vector(claim.right)}"
    if isinstance(claim, sp.Implies):
        parts = [_with(printer, part, signs, times, implies) for part in claim.args]
        return f" {implies} ".join(parts)
    if isinstance(claim, sp.And):
        return ", ".join(_with(printer, part, signs, times, implies) for part in sorted(claim.args, key=str))
    if getattr(claim, "is_Relational", False):
        return f"{write(claim.lhs)} {signs.get(claim.rel_op, claim.rel_op)} {write(claim.rhs)}"
    return write(claim)


def in_words(claim: Any) -> str:
    """A proposition as one line of text.

    >>> from boundcheck.proof.vectors import norm2, vector
    >>> in_words(norm2(vector("x") - vector("y")) <= sp.Symbol("R") ** 2)
    '|x - y|^2 <= R^2'
    """
    return _with(_Words({}), claim, {"==": "="}, "*", "=>")


def in_latex(claim: Any, statement: Any) -> str:
    """A proposition as LaTeX: the statement's own letters for its symbols, letters made of ASCII names elsewhere."""
    names = {s.expr: symbol_latex(s) for s in statement.symbols}
    sides = (claim.left, claim.right) if isinstance(claim, VectorEquality) else ()
    found = [e for side in sides for term in side.terms for e in term] or [claim]
    names |= {s: _letter(s.name) for e in found for s in e.atoms(sp.Symbol) if s not in names}
    return _with(_Latex({"symbol_names": names}), claim, SIGNS, r"\, ", r"\Longrightarrow")


def proof_latex(report: DerivationReport, statement: Any) -> str:
    """The statement and its checked proof as a theorem and a proof environment; needs amsmath and amsthm.

    Raises BadInput for a derivation with a step that is not proved.
    """
    if report.status is not Status.PROVED:
        weak = ", ".join(r.step.name for r in report.results if r.status is not Status.PROVED)
        raise BadInput(
            f"{report.statement} is {report.status.value}{f' at {weak}' if weak else ''}; only a proof is set."
        )
    used = {name for r in report.results for name in r.step.uses}
    given = {f.name: f for f in report.facts if f.name in used}
    mark = {name: f"A{k}" for k, name in enumerate(given, start=1)}
    mark |= {r.step.name: str(k) for k, r in enumerate(report.results, start=1)}
    lines = [
        f"% {report.statement}, checked step by step by boundcheck",
        rf"\begin{{theorem}}[{_plain(statement.source.number)}, {_plain(statement.reading.replace('_', ' '))}]",
        rf"\[ {claim_latex(statement)} . \]",
        r"\end{theorem}",
        r"\begin{proof}",
        "We use:",
        r"\begin{itemize}",
        *(rf"\item[({mark[n]})] ${in_latex(f.claim, statement)}$ ({_plain(f.source)})." for n, f in given.items()),
        r"\end{itemize}",
        "It follows that:",
        r"\begin{itemize}",
    ]
    for r in report.results:
        sources = ", ".join(f"({mark[name]})" for name in r.step.uses)
        lines += [
            rf"\item[({mark[r.step.name]})] ${in_latex(r.step.claim, statement)}$",
            rf"  {f'from {sources} ' if sources else ''}by {_plain(r.step.by.label)}: {_plain(r.step.text)}.",
        ]
    last = next(r.step.name for r in reversed(report.results))
    return "\n".join([*lines, r"\end{itemize}", rf"The last line, ({mark[last]}), is the claim.", r"\end{proof}"])


def _plain(text: str) -> str:
    """Text for LaTeX: its special characters escaped."""
    table = {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\(<\)",
        ">": r"\(>\)",
    }
    return "".join(table.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in text).rstrip(".")
