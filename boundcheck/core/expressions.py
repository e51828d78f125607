"""Sequences of exact numbers that users write as text, such as "2/(8 + t)"; the text is parsed here, never evaluated.

    sum     :=  product { ("+" | "-") product }
    product :=  sign { ("*" | "/") sign }
    sign    :=  [ "+" | "-" ] power
    power   :=  atom [ ("^" | "**") sign ]
    atom    :=  decimal | name | function "(" sum { "," sum } ")" | "(" sum ")"

A decimal is that of `core.numbers`. The functions are sqrt, floor, min and max. An exponent must be an integer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from boundcheck.core.numbers import (
    DECIMAL,
    as_fraction,
    exact_root,
    format_exact,
    parse_number,
    root_below,
    round_down,
)
from boundcheck.errors import BadInput, UnknownName, shown

MAX_TEXT = 500  # characters
MAX_DEPTH = 30  # brackets and signs inside each other
MAX_BITS = 100_000  # of a power
_TOKEN = re.compile(rf"\s*(?:({DECIMAL})|([A-Za-z_][A-Za-z_0-9]*)|(\*\*|[-+*/^(),]))")
_ROOT_BITS = 512  # under the root sign, where the root is irrational
_ROOT_SHARE = 1 - Fraction(1, 10**40)  # far more than the relative error that such roots leave in an expression

_Node = tuple[Any, ...]  # (operation, arguments ...); leaves are ("number", value) and ("name", name)


def _sqrt(value: Fraction) -> Fraction:
    if value < 0:
        raise BadInput(f"the square root of {value} is not real")
    exact = exact_root(value)
    if exact is not None:
        return exact
    shift = max(0, _ROOT_BITS + value.denominator.bit_length() - value.numerator.bit_length())
    return root_below(value, 1 << ((shift + 1) // 2))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise BadInput(f"the exponent {exponent} is no integer (a square root is written sqrt(...))")
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) - (abs(base) == 1)
    if abs(exponent) * bits > MAX_BITS:
        raise BadInput(f"the power {base}^{exponent} has too many digits")
    return base ** int(exponent)


_FUNCTIONS: Mapping[str, Callable[..., Fraction]] = {
    "sqrt": _sqrt,
    "floor": lambda v: Fraction(math.floor(v)),
    "min": lambda *v: min(v),
    "max": lambda *v: max(v),
}
_SEVERAL = ("min", "max")  # functions of one or more arguments; the others have one
_OPERATIONS: Mapping[str, Callable[..., Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": _power,
    **_FUNCTIONS,
}


@dataclass(frozen=True)
class Expression:
    """An expression with its variables; two are equal if their texts are.

    name: the quantity that messages name. text: with all constants as numbers. variables: those that occur.
    """

    name: str
    text: str
    variables: frozenset[str]
    tree: _Node = field(compare=False, repr=False)

    def at(self, **values: int) -> Fraction:
        """The value at integers: exact, or rounded down to 13 digits if it needs a square root that is irrational.

        Raises BadInput if there is none, such as for a division by zero.
        """
        rough: list[bool] = []

        def value(node: _Node) -> Fraction:
            kind, *own = node
            if kind == "number":
                return own[0]
            if kind == "name":
                return Fraction(values[own[0]])
            found = [value(v) for v in own]
            result = _OPERATIONS[kind](*found)
            if kind == "sqrt" and result * result != found[0]:
                rough.append(True)
            return result

        try:
            found = value(self.tree)
        except (BadInput, ZeroDivisionError) as error:
            why = "it divides by zero" if isinstance(error, ZeroDivisionError) else str(error)
            where = ", ".join(f"{k} = {v}" for k, v in values.items() if k in self.variables)
            at = f" at {where}" if where else ""
            raise BadInput(f"{self.name} = '{self.text}' has no value{at}: {why}.") from error
        if not rough:
            return found
        return round_down(found - abs(found) * (1 - _ROOT_SHARE))

    @property
    def is_exact(self) -> bool:
        """Whether the expression has no square root, so that its values are never rounded."""
        return not any(node[0] == "sqrt" for node in _nodes(self.tree))

    def degrees(self, variable: str) -> tuple[int, int] | None:
        """Degrees of numerator and denominator in a variable from above; None if it is no rational function."""
        return _degrees(self.tree, variable)


def _nodes(tree: _Node) -> list[_Node]:
    kind, *own = tree
    return [tree] if kind in ("number", "name") else [tree, *(n for v in own for n in _nodes(v))]


def _degrees(tree: _Node, variable: str) -> tuple[int, int] | None:
    kind, *own = tree
    if all(node[1] != variable for node in _nodes(tree) if node[0] == "name"):
        return 0, 0
    if kind == "name":
        return 1, 0
    if kind == "^":
        base, (how, power) = _degrees(own[0], variable), own[1][:2]
        if base is None or how != "number":
            return None
        top, bottom = (d * abs(int(power)) for d in base)
        return (top, bottom) if power >= 0 else (bottom, top)
    parts = [_degrees(v, variable) for v in own]
    if kind in _FUNCTIONS or parts[0] is None or parts[1] is None:
        return None
    (a, b), (c, d) = parts[0], parts[1]
    return (a + c, b + d) if kind == "*" else (a + d, b + c) if kind == "/" else (max(a + d, c + b), b + d)


def parse_expression(
    text: str, name: str, variables: Sequence[str], constants: Mapping[str, Any] | None = None
) -> Expression:
    """The expression that a text writes; `name` is the quantity that messages name.

    variables: names that it may have. constants: further names with their values, which are put in.
    Raises BadInput for text outside the grammar or too long, UnknownName for a name that is not known.
    """
    known = {k: as_fraction(v, f"{name}: {k}") for k, v in (constants or {}).items()}
    for own in known:
        if own in variables or own in _FUNCTIONS:
            raise BadInput(f"{name}: the constant '{own}' has the name of a variable or function; give it another one.")
    parser = _Parser(text, name, tuple(variables), known)
    tree = parser.whole()
    used = frozenset(node[1] for node in _nodes(tree) if node[0] == "name")
    return Expression(name, parser.written(), used, tree)


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, name: str, variables: tuple[str, ...], constants: Mapping[str, Fraction]) -> None:
        self._name, self._variables, self._constants = name, variables, constants
        if len(text) > MAX_TEXT:
            raise BadInput(f"{name} has {len(text)} characters; at most {MAX_TEXT} are allowed.")
        self._text, self._tokens, at = text, list[tuple[str, str]](), 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                self._refuse(f"'{shown(text[at:].strip()[:10])}' is not understood")
            number, word, sign = match.groups()
            kind = "number" if number else "word" if word else "sign"
            self._tokens.append((kind, number or word or ("^" if sign == "**" else sign)))
            at = match.end()
        self._at, self._depth = 0, 0

    def _refuse(self, why: str) -> NoReturn:
        """Raise BadInput with what the grammar allows."""
        raise BadInput(
            f"{self._name} = '{shown(self._text)}' is no expression that can be read: {why}; write numbers, "
            f"{' and '.join(self._variables)}, + - * / ^, brackets, {', '.join(_FUNCTIONS)}."
        )

    def written(self) -> str:
        """The text with the values of its constants."""
        own = {k: f"({format_exact(v)})" for k, v in self._constants.items()}
        return "".join(own.get(token, token) if kind == "word" else token for kind, token in self._tokens)

    def whole(self) -> _Node:
        found = self._sum()
        if self._at < len(self._tokens):
            self._refuse(f"'{self._tokens[self._at][1]}' stands where an operation or the end is needed")
        return found

    def _next(self, *wanted: str) -> str | None:
        """Take the next token if it is one of these signs."""
        if self._at < len(self._tokens) and self._tokens[self._at] in [("sign", w) for w in wanted]:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _sum(self) -> _Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"more than {MAX_DEPTH} brackets are open")
        found = self._product()
        while sign := self._next("+", "-"):
            found = (sign, found, self._product())
        self._depth -= 1
        return found

    def _product(self) -> _Node:
        found = self._signed()
        while sign := self._next("*", "/"):
            found = (sign, found, self._signed())
        return found

    def _signed(self) -> _Node:
        sign = self._next("+", "-")
        own = self._power()
        if sign != "-":
            return own
        return ("number", -own[1]) if own[0] == "number" else ("-", ("number", Fraction(0)), own)

    def _power(self) -> _Node:
        base = self._atom()
        return ("^", base, self._signed_exponent()) if self._next("^") else base

    def _signed_exponent(self) -> _Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"more than {MAX_DEPTH} exponents stand above each other")
        found = self._signed()
        self._depth -= 1
        return found

    def _atom(self) -> _Node:
        if self._at == len(self._tokens):
            self._refuse("it ends too early")
        kind, token = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return ("number", parse_number(token, self._name))
        if kind == "word":
            return self._named(token)
        if token != "(":
            self._refuse(f"'{token}' stands where a number or name is needed")
        found = self._sum()
        if not self._next(")"):
            self._refuse("a bracket is not closed")
        return found

    def _named(self, word: str) -> _Node:
        if word in _FUNCTIONS:
            if not self._next("("):
                self._refuse(f"{word} needs its argument in brackets")
            own = [self._sum()]
            while self._next(","):
                own.append(self._sum())
            if not self._next(")"):
                self._refuse("a bracket is not closed")
            if len(own) > 1 and word not in _SEVERAL:
                self._refuse(f"{word} has one argument")
            return (word, *own)
        if word in self._constants:
            return ("number", self._constants[word])
        if word not in self._variables:
            raise UnknownName(f"{self._name}: the name", word, (*self._variables, *self._constants, *_FUNCTIONS))
        return ("name", word)
