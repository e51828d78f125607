"""Reads claims and methods of the kit from text, by a grammar of its own; nothing is evaluated as Python."""

from __future__ import annotations

import ast
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof import rules
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector

VECTORS = frozenset("uvwghrp")
INTEGERS = frozenset({"n", "N", "P", "k", "j", "m"})
_FUNCTIONS: dict[str, Any] = {
    "inner": inner, "norm2": norm2, "sqrt": sp.sqrt, "Min": sp.Min, "Max": sp.Max, "Abs": sp.Abs,
    "total": total, "vtotal": vector_total,
}  # fmt: skip
_METHODS: dict[str, Any] = {
    "young": rules.Young, "triangle": rules.Triangle, "cauchy": rules.CauchySchwarz, "sumover": rules.SumOver,
    "telescoping": rules.Telescoping, "partial": rules.PartialSum, "accumulation": rules.Accumulation,
}  # fmt: skip
_RELATIONS: dict[type, Any] = {ast.LtE: sp.Le, ast.Lt: sp.Lt, ast.GtE: sp.Ge, ast.Gt: sp.Gt, ast.Eq: sp.Eq}


def symbol(name: str) -> Any:
    """The real symbol of that name."""
    return sp.Symbol(name, real=True)


def relation(text: str) -> Any:
    """A relation of numbers, or an equality of vectors; raises BadInput for anything else."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        raise BadInput(f"'{text}' is no relation between two sides.")
    left, right = _value(node.left), _value(node.comparators[0])
    if isinstance(left, Vector):
        return VectorEquality(left, right)
    return _RELATIONS[type(node.ops[0])](left, right, evaluate=False)


def method(text: str) -> Any:
    """The method of a step; h1, h2, ... are names of hypotheses."""
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.Name):
        return {"decide": Decide(), "identity": Identity(), "combine": Combine()}[node.id]
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise BadInput(f"'{text}' is no method.")
    values = [_value(a) for a in node.args]
    if node.func.id == "combine":
        return Combine({str(k.arg): _value(k.value) for k in node.keywords})
    if node.func.id == "jensen":
        return rules.Jensen(tuple(values[::2]), tuple(values[1::2]))
    return _METHODS[node.func.id](*values)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sp.Integer(node.value)
    if isinstance(node, ast.Name):
        if len(node.id) == 2 and node.id[0] == "h":
            return node.id
        return vector(node.id) if node.id in VECTORS else symbol(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return right * left if isinstance(right, Vector) else left * right
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Pow):
            return left**right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        values = [_value(a) for a in node.args]
        name = node.func.id
        return vector(name, *values) if name in VECTORS else _FUNCTIONS[name](*values)
    raise BadInput(f"'{ast.unparse(node)}' is outside the notation of the kit.")
