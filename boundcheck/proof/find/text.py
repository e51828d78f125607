"""Propositions of a derivation as text that the verifier reads."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.vectors import Inner, Vector, VectorEquality

_OPS = {"<=": "<=", "<": "<", ">=": ">=", ">": ">", "==": "==", "!=": "!="}
_SUM, _PRODUCT, _POWER = 1, 2, 3


class Unwritten(ValueError):
    """The verifier has no words for this."""


def claim_text(claim: Any) -> str:
    """A relation, an implication or a vector equality."""
    if isinstance(claim, VectorEquality):
        return f"{vector_text(claim.left)} = {vector_text(claim.right)}"
    if isinstance(claim, sp.Implies):
        supposed, wanted = claim.args
        parts = supposed.args if isinstance(supposed, sp.And) else (supposed,)
        return f"{' & '.join(map(claim_text, parts))} => {claim_text(wanted)}"
    if claim is sp.true:
        return "0 == 0"
    if claim is sp.false:
        return "0 > 0"
    if not isinstance(claim, sp.Rel):
        raise Unwritten(str(claim))
    return f"{text(claim.lhs)} {_OPS[str(vars(type(claim))['rel_op'])]} {text(claim.rhs)}"


def text(expr: Any) -> str:
    """A scalar expression."""
    return _written(expr, 0)


def vector_text(vector: Vector) -> str:
    """A linear combination of vector atoms."""
    if not vector.terms:
        return "0"
    found = ""
    for atom, factor in vector.terms:
        if factor.could_extract_minus_sign():
            sign, factor = "-", -factor
        else:
            sign = "+"
        one = atom_text(atom) if factor == 1 else f"{_written(factor, _PRODUCT)}*{atom_text(atom)}"
        if not found:
            # a leading minus sign belongs to the factor
            found = one if sign == "+" else f"{_written(-factor, _PRODUCT)}*{atom_text(atom)}"
        else:
            found += f" {sign} {one}"
    return found


def atom_text(atom: Any) -> str:
    """A vector atom."""
    if isinstance(atom, sp.Sum):
        return _sum_text(atom, atom_text)
    if isinstance(atom, AppliedUndef):
        return f"{type(atom).__name__}({', '.join(map(text, atom.args))})"
    return str(atom.name)


def _sum_text(expr: Any, inner: Any) -> str:
    body = inner(expr.function)
    for limit in expr.limits:
        index, low, high = limit
        if low != 0:
            raise Unwritten(str(expr))
        body = f"sum({index}, {text(sp.expand(high + 1))}, {body})"
    return body


def _written(expr: Any, level: int) -> str:
    found, own = _parts(expr)
    return f"({found})" if own < level else found


def _parts(expr: Any) -> tuple[str, int]:
    """Text and how strongly it binds."""
    if expr.is_Rational:
        if expr.q == 1:
            return str(expr.p), _POWER + 1 if expr.p >= 0 else _SUM
        return f"{expr.p}/{expr.q}", _PRODUCT if expr.p >= 0 else _SUM
    if isinstance(expr, Inner):
        return f"<{atom_text(expr.args[0])}, {atom_text(expr.args[1])}>", _POWER + 1
    if isinstance(expr, sp.Sum):
        return _sum_text(expr, text), _POWER + 1
    if isinstance(expr, sp.Derivative):
        (variable,) = expr.variables
        return f"diff({text(expr.expr)}, {variable})", _POWER + 1
    if isinstance(expr, AppliedUndef):
        return f"{type(expr).__name__}({', '.join(map(text, expr.args))})", _POWER + 1
    if isinstance(expr, sp.Min | sp.Max):
        name = "min" if isinstance(expr, sp.Min) else "max"
        return f"{name}({', '.join(map(text, expr.args))})", _POWER + 1
    if expr.is_Symbol:
        return str(expr.name), _POWER + 1
    if expr.is_Add:
        found = ""
        for term in expr.as_ordered_terms():
            minus = term.could_extract_minus_sign()
            one = _written(-term if minus else term, _PRODUCT)
            found += f" {'-' if minus else '+'} {one}" if found else f"-{one}" if minus else one
        return found, _SUM
    if expr.is_Mul:
        if expr.could_extract_minus_sign():
            return f"-{_written(-expr, _PRODUCT)}", _SUM
        top: list[str] = []
        bottom: list[str] = []
        for factor in expr.as_ordered_factors():
            if factor.is_Pow and factor.exp.is_Rational and factor.exp.is_negative:
                bottom.append(_written(factor.base**-factor.exp, _POWER))
            elif factor.is_Rational and factor.q != 1:
                top += [str(factor.p)] if factor.p != 1 else []
                bottom.append(str(factor.q))
            else:
                top.append(_written(factor, _POWER))
        head = "*".join(top) or "1"
        if not bottom:
            return head, _PRODUCT
        tail = bottom[0] if len(bottom) == 1 else f"({'*'.join(bottom)})"
        return f"{head}/{tail}", _PRODUCT
    if expr.is_Pow:
        base, exponent = expr.args
        if exponent.is_Rational and exponent.is_negative:
            return f"1/{_written(base**-exponent, _POWER)}", _PRODUCT
        return f"{_written(base, _POWER + 1)}**{_written(exponent, _POWER + 1)}", _POWER
    raise Unwritten(str(expr))
