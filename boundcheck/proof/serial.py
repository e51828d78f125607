"""Derivations as JSON: expressions are trees of named operations and methods are named with their fields.

Nothing is parsed as code: an operation is one of a table, and a method is a dataclass of this package, found by its
module and name. A derivation that is read back is checked as one that is written in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.core.numbers import format_exact, parse_number
from boundcheck.errors import BadInput
from boundcheck.proof.vectors import Inner
from boundcheck.theory.statement import Statement

if TYPE_CHECKING:
    from boundcheck.proof.derivation import Derivation

SCHEMA = 1
PACKAGE = "boundcheck.proof"
MAX_TEXT = 1_000_000  # characters of one number
DEEPEST = 100  # trees within trees
_FIELDS = ("facts", "steps", "conclusion", "target", "quantities", "rounds", "drawn", "laws")
_OF_NUMBERS = {"+": sp.Add, "*": sp.Mul, "^": sp.Pow, "min": sp.Min, "max": sp.Max}
_RELATIONS = {
    "<=": sp.Le,
    "<": sp.Lt,
    ">=": sp.Ge,
    ">": sp.Gt,
    "=": sp.Eq,
    "!=": sp.Ne,
    "and": sp.And,
    "=>": sp.Implies,
}
_PLAIN: Mapping[str, Callable[..., Any]] = _OF_NUMBERS | _RELATIONS
_WHOLE: Mapping[str, Callable[..., Any]] = {"abs": sp.Abs, "inner": Inner, "sum": sp.Sum, "slope": sp.Derivative}
_NAMES = {operation: name for name, operation in {**_PLAIN, **_WHOLE}.items()}
_TRUTHS = {"true": sp.true, "false": sp.false}


def derivation_to_dict(proof: Derivation) -> dict[str, Any]:
    """A JSON-able form of the whole derivation, with its statement."""
    own = {name: _written(getattr(proof, name)) for name in _FIELDS}
    return {"schema": SCHEMA, "statement": proof.statement.to_dict(), **own}


def derivation_from_dict(made: type[Derivation], data: Any) -> Derivation:
    """Inverse of `derivation_to_dict`: an equal derivation, with all its checks made again.

    Raises BadInput for another schema, for what is malformed, and for a method that this package does not have.
    """
    if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
        raise BadInput(f"the derivation is not of schema {SCHEMA}, which this version reads.")
    try:
        own = {name: _read(data[name]) for name in _FIELDS}
        return made(Statement.from_dict(data["statement"]), **own)
    except BadInput:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise BadInput(f"the derivation's JSON form is not as written by to_dict(): {error!r:.200}") from error


def _written(value: Any) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    if isinstance(value, Mapping):
        return {"map": [[_written(key), _written(item)] for key, item in value.items()]}
    if isinstance(value, sp.Basic):
        return _expression(value)
    module, name = type(value).__module__, type(value).__name__
    if is_dataclass(value) and module.startswith(f"{PACKAGE}."):
        own = {f.name: _written(getattr(value, f.name)) for f in fields(value)}
        return {"is": f"{module.removeprefix(f'{PACKAGE}.')}:{name}", "with": own}
    raise BadInput(f"{value!r:.80} cannot be written as JSON: {module}.{name} is no part of the checker.")


def _expression(expr: Any) -> Any:
    if expr.is_Rational:
        return {"number": format_exact(Fraction(int(expr.p), int(expr.q)))}
    if expr.is_Symbol:
        return {"number symbol" if expr.is_real else "vector symbol": expr.name}
    if expr in _TRUTHS.values():
        return {"truth": str(expr).lower()}
    if isinstance(expr, AppliedUndef):
        kind = "number function" if expr.is_real else "vector function"
        return {kind: type(expr).__name__, "of": [_expression(a) for a in expr.args]}
    if isinstance(expr, sp.Tuple):
        return {"do": "limits", "of": [_expression(a) for a in expr.args]}
    name = _NAMES.get(expr.func)
    if name is None:
        raise BadInput(f"{expr} cannot be written as JSON: {expr.func.__name__} is not used in derivations.")
    return {"do": name, "of": [_expression(a) for a in expr.args]}


def _read(data: Any, depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise BadInput(f"the derivation's JSON form is nested more than {DEEPEST} deep.")
    if data is None or isinstance(data, str | int):
        return data
    if isinstance(data, list):
        return tuple(_read(item, depth + 1) for item in data)
    if set(data) == {"set"}:
        return frozenset(map(str, data["set"]))
    if set(data) == {"map"}:
        return {_read(key, depth + 1): _read(item, depth + 1) for key, item in data["map"]}
    if set(data) == {"is", "with"}:
        cls, own = _class(data["is"]), {name: _read(item, depth + 1) for name, item in data["with"].items()}
        return cls(**own)
    return _expression_from(data, depth)


def _class(name: str) -> type:
    """A dataclass of this package, by its module below the package and its name."""
    module, _, own = name.partition(":")
    if re.fullmatch(r"[a-z_]+(\.[a-z_]+)*", module) and re.fullmatch(r"[A-Za-z_]\w*", own):
        try:
            found = getattr(import_module(f"{PACKAGE}.{module}"), own, None)
        except ModuleNotFoundError:
            found = None
        if isinstance(found, type) and is_dataclass(found) and found.__module__ == f"{PACKAGE}.{module}":
            return found
    raise BadInput(f"the checker has no '{name!s:.80}' of which a derivation could be made.")


def _expression_from(data: Mapping[str, Any], depth: int) -> Any:
    arguments = [_read(item, depth + 1) for item in data.get("of", ())]
    if not all(isinstance(a, sp.Basic) for a in arguments):
        raise BadInput(f"{data!s:.80} has an argument that is no expression.")
    match dict(data):
        case {"number": str(text)}:
            value = parse_number(text, "an expression's number", max_text=MAX_TEXT)
            return sp.Rational(value.numerator, value.denominator)
        case {"number symbol": str(name)}:
            return sp.Symbol(name, real=True)
        case {"vector symbol": str(name)}:
            return sp.Symbol(name)
        case {"truth": "true" | "false" as name}:
            return _TRUTHS[name]
        case {"number function": str(name), "of": list()}:
            return sp.Function(name, real=True)(*arguments)
        case {"vector function": str(name), "of": list()}:
            return sp.Function(name)(*arguments)
        case {"do": "limits", "of": list()}:
            return sp.Tuple(*arguments)
        case {"do": str(name), "of": list()} if name in _PLAIN:
            return _PLAIN[name](*arguments, evaluate=False)
        case {"do": str(name), "of": list()} if name in _WHOLE:
            return _WHOLE[name](*arguments)
        case _:
            raise BadInput(f"{data!s:.80} is no expression of a derivation.")
