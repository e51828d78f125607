"""Checks proof records of boundcheck with the standard library alone: python boundcheck_verify.py RECORD [RECORD ...]

A record is a JSON file: a statement, facts, and lines. Every line claims a relation and names the lines before it and
the rule from which it follows. This file computes everything anew in exact arithmetic and believes no word of the
record. It prints the statement that it checked and one of

    valid                          every line follows, and the last one is the statement
    valid, rests on N things       the same, with each thing that is taken over and not shown
    refuted at step 'NAME' (...)   a step fails at these values, at which all that it uses holds; no proof
    invalid at step 'NAME': why    exit code 1

Lines of the output that begin with > quote the record. The record says itself what its statement is and where its facts
come from; `boundcheck verify` compares it with the statement of today.

Conventions. Symbols are real numbers, vectors are of any inner product space (such as random vectors with E<u, v>),
sum(i, n, a) is a over i = 0, ..., n - 1. A line with a free index holds for every value in the range of the index. A
quotient is used only where its denominator is shown to differ from 0.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import warnings
from fractions import Fraction
from functools import cache, lru_cache
from itertools import accumulate, combinations
from math import gcd
from pathlib import Path
from time import process_time
from typing import Any
from unicodedata import bidirectional

# what a record may be made of at most; beyond it is invalid
BYTES, LETTERS, DIGITS = 2_000_000, 10_000, 1_000  # of a file, of a text in it, of a number
EXPONENT, NESTING, DEPTH = 100, 40, 1_000  # of a power or root; lists and brackets; operations inside each other
TERMS, SECONDS = 300_000, 1.5  # products of terms for one line; processor time for a record

sys.setrecursionlimit(10000)
BITS = DIGITS * 10 // 3


class Invalid(Exception):
    """The record proves nothing; the message says why. missing: a denominator that is not shown to differ from 0."""

    missing = ""


def require(fine: Any, why: str) -> None:
    """Raises Invalid where the condition does not hold."""
    if not fine:
        raise Invalid(why)


def refuse(wrong: Any, why: str) -> None:
    """Raises Invalid where the condition holds."""
    require(not wrong, why)


BROKEN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration, RecursionError,
          MemoryError)  # fmt: skip


class Meter:
    """Counts the work on a line and the time for a record."""

    terms, due, before, until = 0, 0, 0, float("inf")  # due: when it looks at the limits; before: work on other lines
    late: type[Exception] = Invalid  # beyond the time

    def spend(self, terms: int) -> None:
        """Raises Invalid beyond a limit."""
        self.terms += terms + 1
        if self.terms + self.before > self.due:
            self.due = self.terms + self.before + 4096
            refuse(self.terms > TERMS, f"it takes more than {TERMS} products of terms")
            if process_time() > self.until:
                raise self.late(f"it takes more than {SECONDS} s of processor time")

    def line(self) -> None:
        """Begins a line or a fact."""
        self.before, self.terms = self.before + self.terms + 256, 0


METER = Meter()


def rational(number: Any) -> Fraction:
    """An exact number of a record: an integer, or text such as -1/2."""
    own = type(number) is int or re.fullmatch(rf"-?\d{{1,{DIGITS}}}(/\d{{1,{DIGITS}}})?", str(number), re.ASCII)
    require(own and not isinstance(number, bool), "a number is not written as an integer or a fraction")
    return Fraction(number)


# ---------------------------------------------------------------------------------------------------------------------
# Text to trees: ("num", 3) ("name", "x") ("call", "f", args) ("inner", u, v) ("+", a, b) ("*", a, b) ("/", a, b) ...

# Relations are written with spaces around them, <u, v> without, so that what is left is arithmetic as Python reads it.

ANY = "_any"  # the variable of a line about every number, written @
_RELATION = re.compile(r" (<=|>=|==|!=|<|>|=) ")
_SIGNS: dict[Any, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


@cache
def parsed(text: str, rule: str = "claim") -> Any:
    """The tree of a claim, or of an expression with rule "sum"."""
    if len(text) > LETTERS or re.search(r"[^\w\s+\-*/()<>=!,&@]|\b\d+[A-Za-z_]", text, re.ASCII):
        raise Invalid(f"a claim is longer than {LETTERS} letters, or has letters that are none of an expression")
    depths = accumulate((letter in "(<") - (letter in ")>") for letter in text)
    if re.search(rf"\d{{{DIGITS + 1}}}", text) or max(depths, default=0) > NESTING:
        raise Invalid(f"a claim has a number of more than {DIGITS} digits, or more than {NESTING} nested brackets")
    if rule == "sum":
        plain = re.sub("(?<![ =])>", ")", re.sub("<(?![ =])", "inner(", text.strip().replace("@", ANY)))
        try:
            return _tree(ast.parse(plain, mode="eval").body)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise Invalid(f"'{text:.200}' cannot be read") from error
    supposed, implies, wanted = text.rpartition(" => ")
    if implies:
        return ("=>", tuple(parsed(part) for part in supposed.split(" & ")), parsed(wanted))
    if len(parts := _RELATION.split(text)) != 3:
        raise Invalid(f"'{text:.200}' is no single claim")
    return (parts[1], parsed(parts[0], "sum"), parsed(parts[2], "sum"))


def _tree(node: ast.expr, depth: int = 0) -> Any:
    if depth > DEPTH:
        raise Invalid(f"an expression has more than {DEPTH} operations inside each other")
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ("num", node.value)
    if isinstance(node, ast.Name):
        return ("name", node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return ("-", ("num", 0), _tree(node.operand, depth + 1))
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
        return (_SIGNS[type(node.op)], _tree(node.left, depth + 1), _tree(node.right, depth + 1))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args and not node.keywords:
        arguments = tuple(_tree(a, depth + 1) for a in node.args)
        if node.func.id != "inner":
            return ("call", node.func.id, arguments)
        if len(arguments) == 2:
            return ("inner", *arguments)
    raise Invalid("an expression is not made of numbers, names, sums, products, powers and calls")


# ---------------------------------------------------------------------------------------------------------------------
# Exact values: a polynomial is a map monomial -> number, a monomial a sorted tuple of (atom, power); a value is a pair
# (polynomial, denominator), the denominator a map base polynomial -> power. Nothing is ever cancelled, so that every
# denominator that was written stays visible. Atoms and bases are numbers of entries of tables.

ATOMS: list[Any] = []  # ("x", name), ("bound", k), ("f", name, arguments), ("<>", u, v), ("S", k, body, count), ...
INSIDE: list[frozenset[int]] = []  # all atoms that an atom is made of, itself included
_atom_of: dict[Any, int] = {}
BASES: list[Any] = []
_base_of: dict[Any, int] = {}
Value = Any
ZERO: Value = ({}, {})
ONE: Value = ({(): 1}, {})


def atom(key: Any, *inside: frozenset[int]) -> int:
    """The number of an atom."""
    if key not in _atom_of:
        _atom_of[key] = len(ATOMS)
        ATOMS.append(key)
        INSIDE.append(frozenset({len(ATOMS) - 1}).union(*inside))
    return _atom_of[key]


def variable(number: int) -> Value:
    """An atom as a value."""
    return ({((number, 1),): 1}, {})


def constant(number: Any) -> Value:
    """A number as a value."""
    return ({(): number} if number else {}, {})


def poly_plus(p: Any, q: Any, factor: Any = 1) -> Any:
    """p + factor * q."""
    METER.spend(len(q))
    result = dict(p)
    for m, c in q.items():
        total = result.get(m, 0) + c * factor
        if total:
            result[m] = total
        else:
            result.pop(m, None)
    return result


@lru_cache(maxsize=1 << 18)
def _monomial_times(m: Any, n: Any) -> Any:
    if not m or not n:
        return m or n
    powers = dict(m)
    for a, e in n:
        powers[a] = powers.get(a, 0) + e
    return tuple(sorted(powers.items()))


def poly_times(p: Any, q: Any) -> Any:
    """The product of two polynomials."""
    result: dict[Any, Any] = {}
    for m, c in p.items():
        METER.spend(len(q))
        for n, d in q.items():
            both = _monomial_times(m, n)
            result[both] = result.get(both, 0) + c * d
    if any(c.numerator.bit_length() > BITS or c.denominator.bit_length() > BITS for c in result.values()):
        raise Invalid(f"a number has more than {DIGITS} digits")
    return {m: c for m, c in result.items() if c}


def expanded(bases: Any) -> Any:
    """The product of powers of bases, as a polynomial."""
    result: Any = {(): 1}
    for base in (base for base, power in bases.items() for _ in range(power)):
        result = poly_times(result, dict(BASES[base]))
    return result


def plus(a: Value, b: Value, factor: Any = 1) -> Value:
    """a + factor * b."""
    (p, d), (q, e) = a, b
    if d == e:
        return poly_plus(p, q, factor), d
    common = {k: max(d.get(k, 0), e.get(k, 0)) for k in {**d, **e}}
    more = {k: n - d.get(k, 0) for k, n in common.items() if n > d.get(k, 0)}
    others = {k: n - e.get(k, 0) for k, n in common.items() if n > e.get(k, 0)}
    return poly_plus(poly_times(p, expanded(more)), poly_times(q, expanded(others)), factor), common


def times(a: Value, b: Value) -> Value:
    """The product."""
    bases = dict(a[1])
    for k, n in b[1].items():
        bases[k] = bases.get(k, 0) + n
    return poly_times(a[0], b[0]), bases


def split_off(poly: Any) -> tuple[Any, Any, Any]:
    """A polynomial as number * monomial * primitive rest whose first coefficient is positive."""
    shared = dict(next(iter(poly)))
    for m in poly:
        powers = dict(m)
        shared = {a: min(e, powers[a]) for a, e in shared.items() if a in powers}
    rest = {tuple((a, e - shared.get(a, 0)) for a, e in m if e > shared.get(a, 0)): c for m, c in poly.items()}
    number = _content(rest.values()) * (1 if rest[min(rest)] > 0 else -1)
    return number, shared, {m: _short(Fraction(c) / number) for m, c in rest.items()}


def _content(numbers: Any) -> Fraction:
    from math import gcd, lcm

    top, bottom = 0, 1
    for c in numbers:
        top, bottom = gcd(top, abs(c.numerator)), lcm(bottom, c.denominator)
    return Fraction(top, bottom)


def _short(number: Fraction) -> Any:
    return number.numerator if number.denominator == 1 else number


def bases_of(poly: Any) -> dict[int, int]:
    """The bases whose powers have the polynomial, up to a number, as their product: single atoms, and what is left."""
    _, shared, rest = split_off(poly)
    found = {base_number({((a, 1),): 1}): e for a, e in shared.items()}
    if list(rest) != [()]:
        found[base_number(rest)] = 1
    return found


def base_number(poly: Any) -> int:
    """The number of a base polynomial."""
    key = tuple(sorted(poly.items()))
    if key not in _base_of:
        _base_of[key] = len(BASES)
        BASES.append(key)
    return _base_of[key]


def inverse(a: Value) -> Value:
    """1 / a; the denominator of a stays one, so that it is still asked for."""
    require(a[0], "a denominator is 0")
    number = constant(_short(1 / split_off(a[0])[0]))
    turned = times(number, (expanded(a[1]), bases_of(a[0])))
    return times(turned, (expanded(a[1]), a[1])) if a[1] else turned


def power(a: Value, exponent: int) -> Value:
    """An integer power."""
    if exponent < 0:
        return power(inverse(a), -exponent)
    refuse(exponent > EXPONENT, f"an exponent is larger than {EXPONENT}")
    result = ONE
    for _ in range(exponent):
        result = times(result, a)
    return result


def number_of(a: Value) -> Any:
    """The number that the value is, or None."""
    if a[1] or any(m for m in a[0]):
        return None
    return a[0].get((), 0)


def frozen(a: Value) -> Any:
    """A value as part of a key."""
    return tuple(sorted(a[0].items())), tuple(sorted(a[1].items()))


def thawed(key: Any) -> Value:
    """The value of a part of a key."""
    return dict(key[0]), dict(key[1])


def inside(a: Value) -> frozenset[int]:
    """All atoms of a value."""
    found = {n for m in a[0] for n, _ in m} | {n for k in a[1] for m, _ in BASES[k] for n, _ in m}
    return frozenset().union(*(INSIDE[n] for n in found)) if found else frozenset()


@cache
def _own_bases(n: int) -> frozenset[int]:
    """The denominators that are written directly inside an atom."""
    kind, *rest = ATOMS[n]
    parts: Any = rest[-1] if kind in ("f", "vf", "min") else ()
    if kind in ("root", "**", "S"):
        parts = [k for k in rest if isinstance(k, tuple)]
    return frozenset(k for _, bottom in parts for k, _ in bottom)


def needed(a: Value) -> frozenset[int]:
    """All denominators of a value, those inside of its atoms too."""
    return frozenset(a[1]).union(*(_own_bases(n) for n in inside(a)))


# vectors: values that are linear in vector atoms, ("v", name), ("vf", name, arguments) or ("S", k, atom, count)


def function_atom(kind: str, name: str, arguments: list[Value]) -> int:
    """The atom of a (vector) function; the function itself is an atom inside, for which another one may be put."""
    head = INSIDE[atom(("head" if kind == "vf" else "function", name))]
    return atom((kind, name, tuple(map(frozen, arguments))), head, *map(inside, arguments))


def head_of(n: int) -> int:
    """What a vector atom is a value of: its function, that of the terms of a sum, or itself."""
    key = ATOMS[n]
    return head_of(key[2]) if key[0] == "S" else atom(("head", key[1])) if key[0] == "vf" else n


@cache
def is_vector(n: int) -> bool:
    """Whether an atom is a vector."""
    return ATOMS[n][0] in ("v", "vf") or (ATOMS[n][0] == "S" and isinstance(ATOMS[n][2], int))


def vectors_in(a: Value) -> bool:
    """Whether a value has vectors, other than in inner products."""
    return any(is_vector(n) for m in a[0] for n, _ in m)


def linear(u: Value) -> dict[int, Value]:
    """The coefficient of each vector; raises Invalid for a value that is no vector."""
    found: dict[int, Value] = {}
    for monomial, c in u[0].items():
        own = [(n, e) for n, e in monomial if is_vector(n)]
        refuse(len(own) != 1 or own[0][1] != 1, "this is no vector")
        rest = tuple(x for x in monomial if x != own[0])
        found[own[0][0]] = plus(found.get(own[0][0], ({}, u[1])), ({rest: c}, u[1]))
    return found


def product_of(u: Any, v: Any) -> Value:
    """The inner product, expanded in atoms."""
    total = ZERO
    second = linear(v)
    for a, c in linear(u).items():
        for b, d in second.items():
            pair = variable(atom(("<>", min(a, b), max(a, b)), INSIDE[a], INSIDE[b]))
            total = plus(total, times(times(c, d), pair))
    return total


# sums over an index, brought to one form: linear, constant factors outside, powers of the index in closed form


def sum_over(index: int, body: Value, count: Value, whole: Any) -> Value:
    """The sum of the body over 0 <= index < count, the index being an atom of its own."""
    total = ZERO
    if (few := _few(count)) is not None:
        for k in few:
            total = plus(total, put(body, {index: constant(k)}, whole))
        return total
    outside = {k: n for k, n in body[1].items() if index not in inside((dict(BASES[k]), {}))}
    kept = {k: n for k, n in body[1].items() if k not in outside}
    for monomial, c in body[0].items():
        free = tuple((a, e) for a, e in monomial if index not in INSIDE[a])
        bound = tuple((a, e) for a, e in monomial if index in INSIDE[a])
        if not kept and all(a == index for a, _ in bound):
            require(whole(count), "the number of terms of a sum is not an integer")
            one = _powers_added(bound[0][1] if bound else 0, count)
        elif not kept and len(bound) == 1 and bound[0][1] == 1 and is_vector(bound[0][0]):
            one = variable(_vector_sum(index, bound[0][0], count))
        elif any(is_vector(n) for n, _ in bound):
            raise Invalid("a coefficient of a vector depends on the index of its sum")
        else:
            one = _elementary(index, ({bound: 1}, kept), count)
        total = plus(total, times(({free: c}, outside), one))
    if not body[0] and body[1]:
        total = plus(total, ({}, outside))
    return total


def _few(count: Value) -> range | None:
    """The values of the index of a sum with a given number of terms."""
    number = number_of(count)
    return range(number) if isinstance(number, int) and 0 <= number <= 64 else None


def _powers_added(degree: int, count: Value) -> Value:
    """0**d + ... + (n - 1)**d, by falling factorials: their sums telescope."""
    refuse(degree > EXPONENT, f"an exponent is larger than {EXPONENT}")
    row = [1]  # i**d in falling factorials, by Stirling numbers
    for _ in range(degree):
        row = [(row[k - 1] if k else 0) + (k * row[k] if k < len(row) else 0) for k in range(len(row) + 1)]
    total, falling = ZERO, ONE
    for k, number in enumerate(row):
        falling = times(falling, plus(count, constant(k), -1))
        total = plus(total, falling, Fraction(number, k + 1))
    return total


def _level(atoms: Any) -> int:
    return 1 + max((ATOMS[n][1] for n in atoms if ATOMS[n][0] == "S"), default=0)


def _elementary(index: int, body: Value, count: Value) -> Value:
    """A sum that is not taken apart: <a(i), b> with b fixed becomes <sum of a(i), b>, so that equal sums look alike."""
    (monomial,) = body[0]
    if len(monomial) == 1 and not body[1] and monomial[0][1] == 1 and ATOMS[monomial[0][0]][0] == "<>":
        pair = ATOMS[monomial[0][0]][1:]
        fixed = [n for n in pair if index not in INSIDE[n]]
        if len(fixed) == 1:
            moving = pair[0] if fixed[0] == pair[1] else pair[1]
            return product_of(variable(fixed[0]), variable(_vector_sum(index, moving, count)))
    inner = inside(body)
    level = _level(inner)
    body = put(body, {index: variable(atom(("bound", level)))})
    return variable(
        atom(("S", level, frozen(body), frozen(count)), inside(body) - {atom(("bound", level))}, inside(count))
    )


def _vector_sum(index: int, moving: int, count: Value) -> int:
    level = _level(INSIDE[moving])
    ((((name, _),), _),) = put(variable(moving), {index: variable(atom(("bound", level)))})[0].items()
    return atom(("S", level, name, frozen(count)), INSIDE[name] - {atom(("bound", level))}, inside(count))


# substitution of atoms, also inside other atoms


def put(a: Value, what: Any, whole: Any = None) -> Value:
    """The value with values (or, for vector atoms, vectors) in place of atoms."""
    METER.spend(1)
    found = {n for m in a[0] for n, _ in m} | {n for k in a[1] for m, _ in BASES[k] for n, _ in m}
    keys = set(what)
    images = {n: _image(n, what, whole) for n in found if not keys.isdisjoint(INSIDE[n])}
    if not images:
        return a
    top = _poly_put(a[0], images)
    for k, n in a[1].items():
        top = times(top, power(inverse(_poly_put(dict(BASES[k]), images)), n))
    return top


def _poly_put(poly: Any, images: Any) -> Value:
    total: Value = ({}, {})
    plain: dict[Any, Any] = {}
    for monomial, c in poly.items():
        moved = [(images[n], e) for n, e in monomial if n in images]
        rest = tuple((n, e) for n, e in monomial if n not in images)
        if not moved:
            plain[monomial] = plain.get(monomial, 0) + c
            continue
        one: Value = ({rest: c}, {})
        for image, e in moved:
            one = times(one, power(image, e))
        total = plus(total, one)
    return plus(total, (plain, {}))


def _image(n: int, what: Any, whole: Any) -> Value:
    if n in what:
        return what[n]
    key = ATOMS[n]
    kind = key[0]
    if kind in ("f", "vf"):
        arguments = [put(thawed(x), what, whole) for x in key[2]]
        if (head := atom(("head" if kind == "vf" else "function", key[1]))) not in what:
            return variable(function_atom(kind, key[1], arguments))
        parameters, body = what[head]
        return put(body, dict(zip(parameters, arguments, strict=True)), whole)
    if kind == "<>":
        return product_of(*(put(variable(m), what, whole) for m in key[1:]))
    if kind == "S":
        index, body, count = _opened(key, what, whole)
        return sum_over(index, put(body, what, whole), count, whole or (lambda _: False))
    if kind == "root":
        return root_of(put(thawed(key[1]), what, whole), key[2])
    if kind == "**":
        return power_of(put(thawed(key[1]), what, whole), put(thawed(key[2]), what, whole))
    if kind == "min":
        return least_of([put(thawed(x), what, whole) for x in key[1]])
    # what is put must not have the variable: it is known at one value of it, or would be differentiated too
    for own, image in ((m, what[m]) for m in INSIDE[key[1]] & set(what)):
        bound, value = image if isinstance(image[0], list | tuple) else ((), image)
        if key[2] in (inside(value) - set(bound)) or (not bound and key[2] in INSIDE[own]):
            raise Invalid("a derivative is not put into")
    return derivative(put(variable(key[1]), what, whole), key[2])


def _opened(key: Any, what: Any, whole: Any) -> Any:
    """A sum with an index of its own in place of the bound one, and its count with the substitution made."""
    index = atom(("bound", f"open {key[1]} {len(ATOMS)}"))
    place = {atom(("bound", key[1])): variable(index)}
    body = put(variable(key[2]) if isinstance(key[2], int) else thawed(key[2]), place)
    return index, body, put(thawed(key[3]), what, whole)


# roots, powers with a symbol in the exponent, and the least of several


def root_of(a: Value, degree: int) -> Value:
    """The real root; exact for numbers that have one."""
    refuse(degree > EXPONENT, f"the degree of a root is larger than {EXPONENT}")
    number = number_of(a)
    if number is not None and number >= 0:
        number = Fraction(number)
        top, bottom = (_whole_root(x, degree) for x in (number.numerator, number.denominator))
        if top**degree == number.numerator and bottom**degree == number.denominator:
            return constant(_short(Fraction(top, bottom)))
    return variable(atom(("root", frozen(a), degree), inside(a)))


def _whole_root(x: int, degree: int) -> int:
    low, high = 0, 1 << (x.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= x else (low, middle)
    return low


def power_of(a: Value, exponent: Value) -> Value:
    """a to a number, or to an integer expression."""
    number = number_of(exponent)
    if number is None:
        return variable(atom(("**", frozen(a), frozen(exponent)), inside(a), inside(exponent)))
    number = Fraction(number)
    return power(a if number.denominator == 1 else root_of(a, number.denominator), number.numerator)


def least_of(values: list[Value]) -> Value:
    """The least of the values."""
    numbers = [number_of(v) for v in values]
    if all(n is not None for n in numbers):
        return constant(min(numbers))
    keys = sorted({frozen(v) for v in values})
    return values[0] if len(keys) == 1 else variable(atom(("min", tuple(keys)), *map(inside, values)))


def derivative(a: Value, x: int) -> Value:
    """The derivative with respect to an atom, of what is rational in it and in functions of it alone."""
    top = _poly_derivative(a[0], x)
    result = times(top, ({(): 1}, a[1]))
    for k, n in a[1].items():
        slope = _poly_derivative(dict(BASES[k]), x)
        result = plus(result, times(times(a, slope), ({(): n}, {k: 1})), -1)
    return result


def _poly_derivative(poly: Any, x: int) -> Value:
    total = ZERO
    for monomial, c in poly.items():
        for n, e in monomial:
            if x in INSIDE[n]:
                less = tuple((m, f - (m == n)) for m, f in monomial if f > (m == n))
                total = plus(total, times(({less: c * e}, {}), _slope(n, x)))
    return total


def _slope(n: int, x: int) -> Value:
    if n == x:
        return ONE
    key = ATOMS[n]
    if key[0] != "f" or any(x in inside(thawed(k)) and thawed(k) != variable(x) for k in key[2]):
        raise Invalid("the derivative of this expression is not known")
    return variable(atom(("slope", n, x), INSIDE[n]))


# ---------------------------------------------------------------------------------------------------------------------
# Claims: trees to values, with the names of a record


class Claim:
    """A relation `gap op 0` with op among >=, >, ==, !=, = (vectors), or an implication (op "=>")."""

    def __init__(self, op: str, gap: Any, supposed: tuple[Claim, ...] = ()) -> None:
        self.op, self.gap, self.supposed = op, gap, supposed

    @property
    def atoms(self) -> frozenset[int]:
        """All atoms in it."""
        own = self.gap.atoms if self.op == "=>" else inside(self.gap)
        return own.union(*(p.atoms for p in self.supposed))

    def put(self, what: Any, whole: Any) -> Claim:
        """The claim with values in place of atoms."""
        if self.op == "=>":
            return Claim("=>", self.gap.put(what, whole), tuple(p.put(what, whole) for p in self.supposed))
        return Claim(self.op, put(self.gap, what, whole))

    def same(self, other: Claim) -> bool:
        """Whether both say the same, one being a positive multiple of the other."""
        if self.op != other.op or len(self.supposed) != len(other.supposed):
            return False
        if self.op == "=>":
            return self.gap.same(other.gap) and all(map(Claim.same, self.supposed, other.supposed))
        if self.op == "=":
            return not plus(self.gap, other.gap, -1)[0]
        return _same_sign(self.gap, other.gap, turned=self.op in ("==", "!="))

    def gives(self, other: Claim) -> bool:
        """Whether the other claim is this one, or this one without its strictness, or plainly true."""
        weaker = {">": (">=", "!="), "==": (">=",)}.get(self.op, ())
        turned = self.op == "==" or other.op == "!="
        return self.same(other) or (other.op in weaker and _same_sign(self.gap, other.gap, turned=turned))

    @property
    def plain(self) -> Any:
        """True or False where the claim is about numbers only, else None."""
        if self.op in ("=", "=>"):
            return True if self.op == "=" and not self.gap[0] else None
        n = number_of(self.gap)
        return None if n is None else {">=": n >= 0, ">": n > 0, "==": n == 0, "!=": n != 0}[self.op]


def _same_sign(a: Value, b: Value, *, turned: bool = False) -> bool:
    """Whether a is a positive number (turned: any but 0) times b, with the same denominators."""
    if a[1] != b[1] or a[0].keys() != b[0].keys():
        return False
    ratios = {Fraction(c) / Fraction(b[0][m]) for m, c in a[0].items()}
    return not ratios or (len(ratios) == 1 and (turned or min(ratios) > 0))


def shown_by(given: list[Claim], wanted: Claim) -> bool:
    """Whether a claim is about numbers and true, or one of these gives it."""
    return bool(wanted.plain) or any(g.gives(wanted) for g in given)


KINDS = ("number", "integer", "vector", "function", "vector function")
OWN = ("sum", "min", "max", "diff", "inner")  # words that are no names of a record


class Language:
    """Reads text with the names of a record."""

    def __init__(self, kinds: Any) -> None:
        self.kinds: dict[str, str] = {ANY: "number"}
        for name, kind in kinds.items():
            taken = name in OWN and (name, kind) != ("inner", "number")  # a product is written <a, b>
            if kind not in KINDS or taken or not re.fullmatch(r"[A-Za-z][A-Za-z_0-9]*", name):
                raise Invalid(f"'{name}' cannot be declared as {kind}")
            self.kinds[name] = kind
        self.integers = {atom(("x", name)) for name, kind in self.kinds.items() if kind == "integer"}
        self._claims: dict[str, Claim] = {}
        self._values: dict[str, Value] = {}

    def whole(self, a: Value) -> bool:
        """Whether the value is an integer: a polynomial with integer coefficients in integer symbols."""
        atoms = {n for m in a[0] for n, _ in m}
        return not a[1] and atoms <= self.integers and all(c.denominator == 1 for c in a[0].values())

    def claim(self, text: str) -> Claim:
        """The claim of a text."""
        if text not in self._claims:
            self._claims[text] = self._claim(parsed(text))
        return self._claims[text]

    def _claim(self, tree: Any) -> Claim:
        op = tree[0]
        if op == "=>":
            return Claim("=>", self._claim(tree[2]), tuple(self._claim(p) for p in tree[1]))
        if op == "=":
            return Claim("=", plus(self.vector(tree[1], {}), self.vector(tree[2], {}), -1))
        left, right = self.scalar(tree[1], {}), self.scalar(tree[2], {})
        if op in ("<=", "<"):
            left, right, op = right, left, ">" + op[1:]
        return Claim(op, plus(left, right, -1))

    def value(self, text: str) -> Value:
        """The value of a text."""
        if text not in self._values:
            self._values[text] = self.scalar(parsed(text, "sum"), {})
        return self._values[text]

    def scalar(self, tree: Any, bound: Any) -> Value:
        """The number of a tree."""
        found = self.read(tree, bound)
        refuse(vectors_in(found), "a vector stands where a number belongs")
        return found

    def vector(self, tree: Any, bound: Any) -> Value:
        """The vector of a tree."""
        found = self.read(tree, bound)
        linear(found)
        return found

    def read(self, tree: Any, bound: Any) -> Value:
        """The number or the vector of a tree."""
        op = tree[0]
        if op == "num":
            return constant(tree[1])
        if op == "name":
            if tree[1] in bound:
                return variable(bound[tree[1]])
            if self.kinds.get(tree[1]) not in ("number", "integer", "vector"):
                raise Invalid(f"{tree[1]} is not declared as a number or a vector")
            return variable(atom(("v" if self.kinds[tree[1]] == "vector" else "x", tree[1])))
        if op in ("+", "-"):
            return plus(self.read(tree[1], bound), self.read(tree[2], bound), 1 if op == "+" else -1)
        if op == "*":
            return times(self.read(tree[1], bound), self.read(tree[2], bound))
        if op == "/":
            return times(self.read(tree[1], bound), self._inverse(tree[2], bound))
        if op == "**":
            return power_of(self.scalar(tree[1], bound), self.scalar(tree[2], bound))
        if op == "inner":
            return product_of(self.vector(tree[1], bound), self.vector(tree[2], bound))
        return self._call(tree[1], tree[2], bound)

    def _inverse(self, tree: Any, bound: Any) -> Value:
        """1 / tree; the factors of the denominator stay apart."""
        if tree[0] == "*":
            return times(self._inverse(tree[1], bound), self._inverse(tree[2], bound))
        if tree[0] == "**" and tree[2][0] == "num" and tree[2][1] > 0:
            return power(self._inverse(tree[1], bound), tree[2][1])
        return inverse(self.scalar(tree, bound))

    def _call(self, name: str, arguments: Any, bound: Any) -> Value:
        if name == "sum":
            index, inner, count = self._bind(arguments, bound)
            return sum_over(index, self.read(arguments[2], inner), count, self.whole)
        if name == "diff":
            refuse(len(arguments) != 2 or arguments[1][0] != "name", "a derivative is written diff(a, t)")
            return derivative(self.scalar(arguments[0], bound), next(iter(self.scalar(arguments[1], bound)[0]))[0][0])
        values = [self.scalar(x, bound) for x in arguments]
        if name == "min":
            return least_of(values)
        if name == "max":
            return times(constant(-1), least_of([times(constant(-1), v) for v in values]))
        kind = {"function": "f", "vector function": "vf"}.get(self.kinds.get(name, ""))
        if kind is None:
            raise Invalid(f"{name} is not declared as a function")
        return variable(function_atom(kind, name, values))

    def _bind(self, arguments: Any, bound: Any) -> Any:
        refuse(len(arguments) != 3 or arguments[0][0] != "name", "a sum is written sum(i, n, a)")
        index = atom(("bound", f"read {len(ATOMS)}"))
        return index, {**bound, arguments[0][1]: index}, self.scalar(arguments[1], bound)

    def not_negative(self, tree: Any, bound: Any, counts: Any) -> bool:
        """Whether an expression is at least 0 by its form: squares, squared norms, roots, and sums of such."""
        op = tree[0]
        if op == "num":
            return True
        if op == "inner":
            return self.vector(tree[1], bound) == self.vector(tree[2], bound)
        if op == "**":
            exponent = number_of(self.scalar(tree[2], bound))
            if exponent is None or exponent < 0:
                return False
            return exponent % 2 == 0 or Fraction(exponent).denominator % 2 == 0
        if op in ("+", "*", "/"):
            return all(self.not_negative(t, bound, counts) for t in tree[1:])
        if op == "call" and tree[1] == "sum":
            _, inner, count = self._bind(tree[2], bound)
            return counts(count) and self.not_negative(tree[2][2], inner, counts)
        return False


# ---------------------------------------------------------------------------------------------------------------------
# Laws: how vectors are drawn, and what inner products of such are in the mean


ITEM = atom(("bound", "item"))  # an item, or a position


def single(language: Language, text: str) -> tuple[int, list[int]]:
    """A vector of a law, and the atoms that are its arguments."""
    ((n, factor),) = linear(language.vector(parsed(text, "sum"), {})).items()
    arguments = [thawed(k) for k in ATOMS[n][2]] if ATOMS[n][0] == "vf" else []
    numbers = [next(iter(a[0]))[0][0] for a in arguments]
    plain = ATOMS[n][0] != "S" and factor == ONE and arguments == [variable(k) for k in dict.fromkeys(numbers)]
    require(plain, f"'{text}' is no single vector of a law")
    return n, numbers


class Law:
    """Vectors x(..., a), drawn at positions a, and vectors of the past, which are known before the draws.

    order: x(..., a) is u(..., i) of the item i at position a of a uniform order of n items, with "epochs" of a fresh
    one after every n positions; at other arguments than the position are orders of their own. draws: independent at
    all arguments, with a mean that is known before; "alike": distributed as another vector. weights: x(..., a) is w_a
    times the vector "weighted", w_a being "largest" or 0 with the mean "mean_weight", and E w_a w_b "correlation" times
    the product of the means for a other than b; the mean of x is a vector that is so defined. time: the argument that
    counts rounds: what is of the past at one time is known before the draws at that time and later.
    """

    def __init__(self, data: Any, language: Language) -> None:
        self.data, self.whole = data, language.whole
        self.order: bool = data["kind"] == "order"

        def vector(text: str) -> Value:
            return language.vector(parsed(text, "sum"), {})

        def pattern(text: str) -> tuple[int, list[int]]:
            n, numbers = single(language, text)
            return head_of(n), numbers

        self.patterns = dict(pattern(text) for text in (*data["past"], *(x for x, _ in data["drawn"])))
        self.past = {pattern(text)[0] for text in data["past"]}
        self.sources = {pattern(x)[0]: vector(source) for x, source in data["drawn"]}
        self.alike = {pattern(x)[0]: vector(other) for x, other in data.get("alike", ())}
        self.items = language.value(data["items"]) if self.order else ZERO
        self.weights: bool = data["kind"] == "weights"
        own = data["weighted"] if self.weights else []
        self.weighted = {pattern(x)[0]: vector(v) for (x, _), v in zip(data["drawn"], own, strict=self.weights)}
        names = ("mean_weight", "largest", "correlation", "clients")
        self.numbers = [language.value(data[k]) if self.weights else ZERO for k in names]
        self.time: int | None = atom(("x", data["time"])) if "time" in data else None
        self.places = {head: self.patterns[head][-1] for head in self.sources}  # what the position or item is put for
        now = None if self.time is None else variable(self.time)
        fine = data["kind"] in ("order", "draws", "weights") and not self.past & set(self.sources)
        fine = fine and not any(head_of(n) in self.sources for x in self.alike.values() for n in linear(x))
        for head, source in self.sources.items():
            others = self.patterns[head][:-1]
            fine = fine and all(self.known(n, now) for n in linear(source))
            fine = fine and (self.time is None or self.time in others)
            if self.order:
                ((n, factor),) = linear(source).items()
                *free, self.places[head] = self.patterns[head_of(n)]
                own = pattern(name_of(n))[1]
                fine = fine and own[:-1] == free and factor == ONE and set(free) <= set(others)
        require(fine, f"the law '{data['name']}' is not well formed, or draws from what is not known before")

    def words(self) -> str:
        """The law in a sentence."""
        own = f"a uniform order of {self.data.get('items')} items"
        own += ", a fresh one after every so many" if self.data.get("epochs") else ""
        if self.weights:
            q, d, alpha = (self.data[k] for k in ("mean_weight", "largest", "correlation"))
            drawn, own = (", ".join(x) for x in ([x for x, _ in self.data["drawn"]], self.data["weighted"]))
            known = ", ".join(self.data["past"])
            said = f"{drawn} is {own} times a weight that is {d} or 0 and has the mean {q}, and of two clients the mean"
            return f"{said} product {alpha} times that of the means, whatever {known} are ({self.data['of']})"
        said = [f"{x} is {u} of the item at that position of {own}" if self.order
                else f"{x} has the mean 0 given all that is drawn before it" if u == "0"
                else f"{x} is drawn with the mean {u}, independently at each of its arguments"
                for x, u in self.data["drawn"]]  # fmt: skip
        said += [f"{x} has the distribution of {u}" for x, u in self.data.get("alike", ())]
        when = f" the draws at the same {self.data['time']}" if "time" in self.data else ""
        return f"{'; '.join(said)}; known before{when}: {', '.join(self.data['past'])} ({self.data['of']})"

    def moment(self, n: int) -> Value | None:
        """The time of a vector, or None for one that has none."""
        while ATOMS[n][0] == "S":
            n = ATOMS[n][2]
        parameters: list[Any] = self.patterns.get(head_of(n), [])
        return thawed(ATOMS[n][2][parameters.index(self.time)]) if self.time in parameters else None

    def known(self, n: int, moment: Value | None) -> bool:
        """Whether a vector is known before the draws at that time."""
        own = self.moment(n)
        gap = None if own is None or moment is None else number_of(plus(moment, own, -1))
        return head_of(n) in self.past and (own is None or (gap is not None and gap >= 0))

    def fits(self, left: Any, right: Any) -> bool:
        """Whether an equation of vectors gives no draw, and no vector of the past by what is known later only."""
        for n in linear(left):
            moment = self.moment(n)
            for other in linear(plus(left, right, -1)):
                own = self.moment(other)
                gap = None if own is None or moment is None else number_of(plus(moment, own, -1))
                drawn = head_of(other) in self.sources and gap is not None and gap >= 1
                if head_of(n) in self.past and other != n and not (drawn or self.known(other, moment)):
                    return False
        return not any(head_of(n) in self.sources for n in linear(left))

    def place(self, n: int) -> Any:
        """(head, other arguments, first position, how many, whether it is a single draw), or None for no draw."""
        key, count, bound = ATOMS[n], None, ITEM
        if key[0] == "S":
            count, bound, key = thawed(key[3]), atom(("bound", key[1])), ATOMS[key[2]]
        if key[0] != "vf" or atom(("head", key[1])) not in self.sources:
            return None
        *others, last = map(thawed, key[2])
        if count is None:
            return atom(("head", key[1])), others, last, ONE, True
        refuse(last != variable(bound) or any(bound in inside(x) for x in others), "a sum over no positions of a law")
        return atom(("head", key[1])), others, ZERO, count, False

    def family(self, place: Any) -> Any:
        """The vector of which there is one for each value of an index: of an item, or of a position."""
        head, others, start, _, _ = place
        values = dict(zip(self.patterns[head], others, strict=False))
        values[self.places[head]] = variable(ITEM) if self.order else plus(variable(ITEM), start)
        return put(self.sources[head], values, self.whole)

    def size(self, place: Any) -> Value:
        """The number of items."""
        return put(self.items, dict(zip(self.patterns[place[0]], place[1], strict=False)), self.whole)

    def mean(self, place: Any) -> Any:
        """The mean of the sum of the draws there: every item is equally often at every position."""
        one = self.family(place)
        if self.order:
            n = self.size(place)
            return times(sum_over(ITEM, one, n, self.whole), times(place[3], inverse(n)))
        return put(one, {ITEM: ZERO}) if place[4] else sum_over(ITEM, one, place[3], self.whole)

    def expected(self, first: int, second: int, factor: Value | None, before: Value) -> Value:
        """The mean of an inner product, of which one vector at least is drawn.

        factor: of the covariance, for an order; before: how many whole epochs come before the last one.
        """
        places = [self.place(n) for n in (first, second)]
        moments = [self.moment(n) for n, p in zip((first, second), places, strict=True) if p]
        refuse(not moments or moments[0] != moments[-1], "how draws at two times depend on each other is not known")
        if not all(p or self.known(n, moments[0]) for n, p in zip((first, second), places, strict=True)):
            raise Invalid("a product is of a draw and of what is not known before")
        one, two = places
        value = product_of(*(self.mean(p) if p else variable(n) for n, p in zip((first, second), places, strict=True)))
        return plus(value, self._covariance(one, two, factor, before)) if one and two else value

    def _of_weights(self, one: Any, two: Any) -> Value:
        """(alpha - 1) <E X, E Y>, and q (d - alpha q) <x, y> for each client in common."""
        q, d, alpha, _ = self.numbers
        if one[1] != two[1] or (one[4], one[2], one[3]) != (two[4], two[2], two[3]):
            raise Invalid("how many clients the two have in common is not known")
        values = dict(zip(self.patterns[one[0]], [*one[1], plus(variable(ITEM), one[2])], strict=True))
        own = plus(times(q, d), times(alpha, times(q, q)), -1)
        x, y = (put(self.weighted[p[0]], values, self.whole) for p in (one, two))
        each = times(put(own, values, self.whole), product_of(x, y))
        each = put(each, {ITEM: ZERO}, self.whole) if one[4] else sum_over(ITEM, each, one[3], self.whole)
        return plus(times(plus(alpha, ONE, -1), product_of(self.mean(one), self.mean(two))), each)

    def _covariance(self, one: Any, two: Any, factor: Value | None, before: Value) -> Value:
        if self.weights:
            return self._of_weights(one, two)
        gaps = [number_of(plus(a, b, -1)) for a, b in zip(one[1], two[1], strict=True)]
        if any(gaps):
            return ZERO
        if None in gaps or (self.order and factor is None):
            raise Invalid("whether draws are at the same arguments is not known")
        (start, size), (other, more) = (self.within(p, before) for p in (one, two))
        apart, equal = number_of(plus(start, other, -1)), not plus(size, more, -1)[0]
        if apart == 0 and equal:
            both = size
        elif one[4] and two[4] and apart:
            both = ZERO
        else:
            raise Invalid("how many positions the two have in common is not known")
        u, v = self.family(one), self.family(two)
        if self.order:
            # c = factor: an item is at one of the common positions with the chance both/n, so that
            # c (1 - 1/n) + size more/n^2 == both/n; then two different ones have the chance -c/n + size more/n^2
            n, c = self.size(one), factor or ZERO
            least = plus(n, ONE, -1)
            minus = times(constant(-1), least)
            names = {k for m in least_of([constant(-1), minus])[0] for k, _ in m if ATOMS[k][0] == "min"}
            wanted = plus(times(n, both), times(size, more), -1)
            if plus(put(times(c, times(n, least)), dict.fromkeys(names, minus)), wanted, -1)[0] or not self.whole(n):
                raise Invalid("the factor is not that of an order")
            spread = sum_over(ITEM, product_of(u, v), n, self.whole)
            means = product_of(*(sum_over(ITEM, x, n, self.whole) for x in (u, v)))
            return times(c, plus(spread, times(means, inverse(n)), -1))
        if not both[0]:
            return ZERO
        if one[4]:
            refuse(one[0] != two[0] or one[0] not in self.alike, "the covariance of two draws is not known")
            other = put(self.alike[one[0]], dict(zip(self.patterns[one[0]], (*one[1], one[2]), strict=True)))
            return plus(product_of(other, other), put(product_of(u, v), {ITEM: ZERO}), -1)
        drawn = [function_atom("vf", ATOMS[p[0]][1], [*p[1], plus(variable(ITEM), p[2])]) for p in (one, two)]
        return sum_over(ITEM, plus(product_of(*map(variable, drawn)), product_of(u, v), -1), both, self.whole)

    def within(self, place: Any, before: Value) -> tuple[Value, Value]:
        """First position and number of positions in the last epoch; the whole ones before are not random."""
        n = times(before, self.size(place)) if self.order else ZERO
        return (plus(place[2], n, -1), ONE) if place[4] else (ZERO, plus(place[3], n, -1))

    def positions(self, place: Any, before: Value) -> list[Value]:
        """What must be an integer that is at least 0 so that the positions are ones."""
        start, size = self.within(place, before)
        if self.weights:
            return [start, size, plus(plus(self.numbers[3], start, -1), size, -1)]
        if not self.order:
            return [] if place[4] else [size]
        n = self.size(place)
        return [plus(n, ONE, -1), before, start, size, plus(plus(n, start, -1), size, -1)]

    def needed(self, pair: tuple[int, int], before: Value) -> list[Value]:
        """The same for the places of an inner product."""
        return [value for place in filter(None, map(self.place, pair)) for value in self.positions(place, before)]


class Averages:
    """Families x of one vector a client, and their means X, which all clients share: <x, Y> is <X, Y> for a mean Y.

    independent: families of noise that each client draws independently with mean 0, where `clients` clients have equal
    weights; then <X, Y> is <x, y>/clients for their means.
    """

    order, weights = False, False
    sources, past = dict[int, Any](), set[int]()  # they draw nothing, and know nothing before a draw

    def __init__(self, data: Any, language: Language) -> None:
        self.data, self.whole = data, language.whole
        pairs = [(single(language, x), single(language, mean)) for x, mean in data["drawn"]]
        self.means = {head_of(x): (own, variable(mean)) for (x, own), (mean, _) in pairs}
        self.families = {head_of(mean): (own, variable(x)) for (x, _), (mean, own) in pairs}
        self.noise = {head_of(single(language, x)[0]) for x in data.get("independent", ())}
        self.clients = language.value(data["clients"]) if self.noise else ZERO
        alike = all(own == other for (_, own), (_, other) in pairs)
        alike = alike and not data["past"] and "time" not in data
        if not alike or len({*self.means, *self.families}) != 2 * len(pairs) or not self.noise <= set(self.means):
            raise Invalid(f"the law '{data['name']}' is not well formed")

    def words(self) -> str:
        """The law in a sentence."""
        said = [f"{mean} is the mean over the clients of {x}" for x, mean in self.data["drawn"]]
        said += [
            f"{x} is independent noise of {self.data['clients']} clients" for x in self.data.get("independent", ())
        ]
        return f"{'; '.join(said)} ({self.data['of']})"

    def place(self, n: int) -> Any:
        """Nothing is drawn."""
        return None

    def image(self, n: int) -> Any:
        """The mean of a family, and a mean itself; raises Invalid for another vector."""
        if head_of(n) in self.families:
            return variable(n)
        require(head_of(n) in self.means, "a vector has no mean over the clients")
        return put(variable(n), {head_of(n): self.means[head_of(n)]}, self.whole)

    def _noise_of(self, n: int) -> Any:
        own = self.families.get(head_of(n))
        if own is None or ATOMS[n][0] == "S" or head_of(next(iter(linear(own[1])))) not in self.noise:
            return None
        return put(variable(n), {head_of(n): own}, self.whole)

    def _reduced(self, first: int, second: int) -> list[int]:
        """The pair, the family of which is replaced by its mean where the other one is a mean."""
        pair = [first, second]
        for k in (0, 1):
            if head_of(pair[k]) in self.means and head_of(pair[1 - k]) in self.families:
                (pair[k],) = linear(self.image(pair[k]))
                break
        return pair

    def expected(self, first: int, second: int, factor: Value | None, before: Value) -> Value:
        """What the inner product is."""
        pair = self._reduced(first, second)
        noise = [self._noise_of(n) for n in pair]
        if all(noise):
            return times(product_of(*noise), inverse(self.clients))
        refuse(pair == [first, second], "the averages say nothing of this product")
        return product_of(variable(pair[0]), variable(pair[1]))

    def needed(self, pair: tuple[int, int], before: Value) -> list[Value]:
        """That there is a client, where their number is used."""
        return [plus(self.clients, ONE, -1)] if all(self._noise_of(n) for n in self._reduced(*pair)) else []


# ---------------------------------------------------------------------------------------------------------------------
# Records

# what a statement must have for a law, an assumption, a method or a metric -> the kinds of laws that it declares
DECLARES = {
    "without_replacement": ("order",), "uniform_cohort": ("order",), "fedshuffle": ("order",),
    "fedshuffle_mvr": ("order", "draws"), "fedshuffle_gen": ("order", "draws"), "epoch_error2": ("order",),
    "followed_objective": ("draws",), "block_variance": ("draws",), "unbiased_gradients": ("draws",),
    "unbiased_gradient_cohort": ("draws",), "unbiased_solver_cohort": ("draws",),
    "averages_as_objective": ("draws", "averages"), "averages_uniformly": ("averages",),
    "covariance_of_weights": ("weights",),
}  # fmt: skip
FACTS = ("domain", "condition", "assumption", "algorithm", "metric", "count", "index", "range", "definition")
ORIGINS = ("statement", "generated", "transcribed", "notation")


class Line:
    """A claim that holds where its suppositions do; of: the kinds of facts, and the rules, from which it follows."""

    def __init__(self, name: str, claim: Claim, supposed: tuple[str, ...] = (), of: Any = ()) -> None:
        self.name, self.claim, self.supposed, self.of = name, claim, supposed, frozenset[str](of)


TERM = ("f", "vf", "v", "<>", "S", "slope")  # atoms that are more than numbers


def leaves(atoms: Any) -> set[str]:
    """The names among atoms."""
    return {ATOMS[n][1] for n in atoms if ATOMS[n][0] in ("x", "v", "head", "function")}


def _core(gap: Value, own: set[str]) -> Any:
    """What is left of a polynomial without numbers and factors of the statement's symbols, in either sign."""
    _, shared, rest = split_off(gap[0]) if gap[0] else (0, {}, {})
    return sorted(rest.items()), {n: e for n, e in shared.items() if not leaves([n]) <= own}


def exchanged(language: Language, term: str, sums: Any) -> tuple[Value, Value]:
    """The double sums of a term over (index, count) pairs, the first index outside and inside."""
    body = language.value(term)
    (i, first), (j, second) = ((atom(("x", n)), language.value(count)) for n, count in sums)
    whole = language.whole
    return (
        sum_over(i, sum_over(j, body, second, whole), first, whole),
        sum_over(j, sum_over(i, body, first, whole), second, whole),
    )


def loaded(path: Path) -> Any:
    """The data of a record; raises Invalid for what is none."""
    try:
        with path.open("rb") as file:
            raw = file.read(BYTES + 1)
        refuse(len(raw) > BYTES, f"the file has more than {BYTES} bytes")
        return json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=rational, parse_float=rational)
    except (OSError, *BROKEN) as error:
        raise Invalid(f"the record cannot be read ({type(error).__name__})") from error


def _once(pairs: Any) -> Any:
    if len(found := dict(pairs)) < len(pairs):
        raise Invalid("a key occurs twice in the record")
    return found


class Facts:
    """A record and what it may take for given: its facts and laws."""

    def __init__(self, path: Path, open_records: tuple[str, ...] = (), data: Any = None) -> None:
        try:
            self.data: Any = loaded(path) if data is None else data
            self.id: str = self.data["id"]
            self.statement: Any = self.data["statement"]
            self.kind: str = self.data.get("kind", "proof")
            self.language = Language(self.data["names"])
            self.claim, self.value = self.language.claim, self.language.value
            self.whole = self.language.whole
        except BROKEN as error:
            raise Invalid(f"the record cannot be read ({type(error).__name__})") from error
        self.path, self.open = path, (*open_records, self.id)
        self.lines: dict[str, Line] = {}
        self.ranges: dict[int, list[Claim]] = {}  # index -> the relations of its range
        self.laws: dict[str, Any] = {}
        self.rests: list[str] = []
        self.said_generated: set[str] = set()  # what it says is generated, which is not checked here
        self.cites: dict[str, str] = {}  # id -> digest of the records on which it rests, and of this one
        self.holes: list[str] = []  # lines that are open or refuted
        self.refuted: dict[str, str] = {}  # line -> at which values it fails, or which refuted reading it cites
        self.steps = 0
        self.now: tuple[str, ...] = ()  # suppositions of the line that is being checked
        self.used: list[Line] = []

    # facts ------------------------------------------------------------------------------------------------------------

    def read_facts(self) -> None:
        """The facts and laws as lines; raises Invalid for one that is not allowed."""
        self.own = {row[0] for row in self.statement["symbols"]}
        for name, kind, _ in self.statement["symbols"]:
            if self.data["names"].get(name) != kind or kind not in ("number", "integer"):
                raise Invalid(f"'{name}' is not declared as in the statement")
        self.indices = {f["about"] for f in self.data["facts"] if f["kind"] in ("index", "range")}
        self.defined: dict[int, Value] = {}  # numbers that are defined by others, each in what is not defined
        self.counted: set[str] = set()
        seen = self.own | self.indices
        assumed = {row[0] for row in self.statement["assumptions"]}
        given = [tuple(row) for row in self.statement["hypotheses"]]
        before = ""  # the symbol of the count or index of the fact before
        for fact in self.data["facts"]:
            METER.line()
            name, kind, text = fact["name"], fact["kind"], fact["claim"]
            where = f"the fact '{name}'"
            if kind not in FACTS or name in self.lines or name.startswith("#") or fact["origin"] not in ORIGINS:
                raise Invalid(f"{where} has an unknown kind, or a name that is taken")
            claim, tree, last, before = self.claim(text), parsed(text), before, ""
            names = set(re.findall(r"[A-Za-z_@][A-Za-z_0-9]*", text)) & set(self.language.kinds)
            refuse(claim.op == "=>" or "@" in text or ANY in names, f"{where} is no plain relation")
            if kind in ("domain", "condition"):
                require((name, text) in given, f"{where} is no hypothesis of the statement")
            elif kind in ("index", "range"):
                before = self._index(fact, tree, last, where)
            elif kind == "definition":
                self._definition(claim, tree, seen, where)
            elif names <= self.own or leaves(claim.atoms) <= self.own:
                raise Invalid(f"{where} restricts the statement's own symbols")
            else:
                if kind == "count":
                    before = self._count(tree, seen, last, where)
                else:
                    self._transcribed(kind, claim, tree, where)
                refuse(kind == "assumption" and fact["assumption"] not in assumed, f"{where} names no such assumption")
                require(fact["origin"] in ("generated", "transcribed"), f"{where} does not say where it comes from")
                self.rests.append(f"the transcribed {kind} '{name}'")
                self.said_generated |= {self.rests[-1]} if fact["origin"] == "generated" else set()
            seen |= names
            sign = claim.op == "=" or (claim.op == "==" and not self.statement["method"])
            sign = sign or (claim.op in (">=", ">") and ("num", 0) in tree[1:] and min(claim.gap[0].values()) > 0)
            self.lines[name] = Line(name, claim, (), [kind if sign else f"{kind} comparison"])
        self._read_laws()

    def check_target(self) -> None:
        """The metric of the statement is a quantity of its own, and no fact is the statement itself."""
        tree, claim = parsed(self.statement["target"], "sum"), parsed(self.statement["claim"])
        head, used = tree[1], self.mentioned(tree) - {tree[1]}
        fixed = self.own | self.indices | self.counted | {t[1][1] for t in map(parsed, self._texts("definition"))}
        if tree[0] not in ("name", "call") or head in fixed or not used <= self.own or claim[1] != tree:
            raise Invalid("the target is no symbol of its own, or the claim is not about it")
        hypotheses = [parsed(text) for _, text in self.statement["hypotheses"]]
        if not self.mentioned(claim) <= self.own | {head} or not self.mentioned(tuple(hypotheses)) <= self.own:
            raise Invalid("the statement mentions what is none of its symbols")
        values = dict(self.defined)
        for _, left, right in (t for t in map(parsed, self._texts("algorithm", "metric")) if t[0] == "=="):
            place = atom(("x", left[1])) if left[0] == "name" else -1
            if place >= 0 and left[1] not in {*fixed, head} and place not in values:
                value = put(self.language.scalar(right, {}), values, self.whole)
                if place not in inside(value):
                    values = {n: put(x, {place: value}, self.whole) for n, x in values.items()}
                    values[place] = value
        wanted = _core(put(self.claim(self.statement["claim"]).gap, values, self.whole), self.own)
        for text in self._texts("assumption", "algorithm", "metric"):
            fact = self.claim(text)
            if fact.op in (">=", "==") and _core(put(fact.gap, values, self.whole), self.own) == wanted:
                raise Invalid(f"the fact '{text:.200}' is the statement itself")

    def _texts(self, *kinds: str) -> list[str]:
        return [fact["claim"] for fact in self.data["facts"] if fact["kind"] in kinds]

    def _transcribed(self, kind: str, claim: Claim, tree: Any, where: str) -> None:
        """A fact about a run; only an assumption may compare it with more than one symbol of the statement."""
        if claim.atoms & {atom(("x", n)) for n in self.indices} and not any(ATOMS[n][0] in TERM for n in claim.atoms):
            raise Invalid(f"{where} restricts an index")
        bound = parsed(self.statement["claim"])[2]
        if bound[0] not in ("name", "num") and tree[0] != "=":
            value = self.language.scalar(bound, {})
            if str(bound) in str(tree) or any(not plus(self.language.scalar(t, {}), value, -1)[0] for t in tree[1:]):
                raise Invalid(f"{where} contains the bound of the statement")
        if kind == "assumption" or claim.op == "=" or (claim.op == "==" and not self.statement["method"]):
            return
        gap = put(claim.gap, self.defined, self.whole)
        rest = {m: c for m, c in gap[0].items() if leaves(n for a, _ in m for n in INSIDE[a]) <= self.own}
        if rest and leaves(n for k in gap[1] for n in inside((dict(BASES[k]), {}))) <= self.own:
            top, integers = bases_of(rest), {ATOMS[n][1] for n in self.language.integers}
            powers = {k: top.get(k, 0) - gap[1].get(k, 0) for k in {**top, **gap[1]}}
            other = [k for k, e in powers.items() if e and not leaves(inside((dict(BASES[k]), {}))) <= integers]
            single = [k for k in other if powers[k] == 1 and re.fullmatch(r"\w+", written((dict(BASES[k]), {})))]
            require(len(other) == len(single) < 2, f"{where} compares a run with more than one symbol, times integers")

    def _read_laws(self) -> None:
        """The laws: declared by the statement, in the order of the draws, and not against the facts."""
        declares = {self.statement["method"], self.statement["metric"].split(",")[0]}
        declares |= {row[0] for row in self.statement["assumptions"]}
        trees = [t for t in map(parsed, self._texts(*FACTS)) if t[0] == "="]
        equations = [[self.language.vector(t, {}) for t in tree[1:]] for tree in trees]
        named = [t for t in map(parsed, self._texts("definition")) if t[0] == "="]
        defined = [[self.language.vector(t, {}) for t in tree[1:]] for tree in named]
        for data in self.data["laws"]:
            METER.line()
            law = Averages(data, self.language) if data["kind"] == "averages" else Law(data, self.language)
            where = f"the law '{data['name']}'"
            if isinstance(law, Averages) and law.noise:
                still = {h for other in self.laws.values() for h, mean in other.sources.items() if not linear(mean)}
                if data["of"] != "averages_uniformly" or not law.noise <= still:
                    raise Invalid(f"{where} is about noise that no law draws with mean 0, or about other weights")
            declared = data["of"] in declares and data["kind"] in DECLARES.get(data["of"], ())
            if not declared or data["name"] in self.laws:
                raise Invalid(f"{where} is declared by nothing in the statement, or its name is taken")
            for other in self.laws.values():
                if set(law.sources) & (set(other.sources) | other.past):
                    raise Invalid(f"{where} draws what an earlier law draws or knows before")
            refuse(law.weights and "independent_weights" not in declares, f"{where} needs independent weights")
            if isinstance(law, Law):
                means = [[law.sources[head], times(x, law.numbers[0])] for head, x in law.weighted.items()]
                require(all(mean in defined for mean in means), f"{where} has a mean that is not so defined")
                require(all(law.fits(*sides) for sides in equations), f"{where} is against an equation among the facts")
            self.laws[data["name"]] = law
            self.rests.append(f"{where}: {law.words()}")
        if self.laws:
            self._given_once(equations)

    def _given_once(self, equations: Any) -> None:
        """Every equation of vectors gives one vector by others, no two give the same, and none goes in a circle."""
        rows: list[tuple[int, list[int]]] = []
        for left, right in equations:
            own, gap = linear(left), linear(plus(left, right, -1))
            if len(own) != 1 or any(plus(side.get(n, ZERO), ONE, -1)[0] for n in own for side in (own, gap)):
                raise Invalid("an equation of vectors among the facts does not give the one vector on its left")
            rows.append((next(iter(own)), list(linear(right))))
        made: dict[int, set[int]] = {}  # what each vector is made of
        for n, own in rows:
            made.setdefault(head_of(n), {head_of(n)}).update(map(head_of, own))
        for _ in made:
            METER.spend(len(made))
            made = {h: found.union(*(made.get(k, {k}) for k in found)) for h, found in made.items()}
        circle = any(h != k and h in made[k] for h in made for k in made[h] & set(made))
        if circle or not all(self._apart(n, m, alike=True) for n, own in rows for m in own):
            raise Invalid("equations of vectors among the facts give vectors by themselves")
        drawn, sums = {h for law in self.laws.values() for h in law.sources}, [r for r in rows if ATOMS[r[0]][0] == "S"]
        if any(made.get(head_of(m), {head_of(m)}) & drawn for n, own in sums for m in (n, *own)):
            raise Invalid("an equation among the facts gives a sum of what is drawn")
        if not all(self._apart(a, b) for a, b in combinations([n for n, _ in rows if ATOMS[n][0] != "S"], 2)):
            raise Invalid("two equations of vectors among the facts give the same vector")

    def _apart(self, one: int, other: int, alike: bool = False) -> bool:
        """Whether two vectors differ in their function or an argument, whatever the indices are (alike: in both)."""
        if head_of(one) != head_of(other) or not ATOMS[one][0] == ATOMS[other][0] == "vf":
            return head_of(one) != head_of(other)
        from_0 = {n for n, claims in self.ranges.items() if any(c.same(Claim(">=", variable(n))) for c in claims)}
        others = {} if alike else {n: variable(atom(("bound", f"other {n}"))) for n in from_0}
        from_0 |= {m for value in others.values() for m in inside(value)}
        for a, b in zip(ATOMS[one][2], ATOMS[other][2], strict=True):
            gap = plus(thawed(a), put(thawed(b), others), -1)[0]
            plain = all(m == () or (len(m) == 1 and m[0][0] in from_0) for m in gap)
            if plain and () in gap and len({c > 0 for c in gap.values()}) == 1:
                return True
        return False

    def _index(self, fact: Any, tree: Any, last: str, where: str) -> str:
        """A relation `index <= expression`, in numbers and indices before it; those of one index come together."""
        name, right = fact["about"], self.mentioned(tree[2:])
        if name in self.own or tree[1] != ("name", name) or tree[0] not in ("<=", ">=", "<", ">") or name in right:
            raise Invalid(f"{where} does not have an index of its own on its left")
        number, inner = atom(("x", name)), inside(self.language.scalar(tree[2], {}))
        later = {atom(("x", n)) for n in right & self.indices} - set(self.ranges)
        if later or (number in self.ranges and last != name) or any(ATOMS[n][0] in TERM for n in inner):
            raise Invalid(f"{where} is not about numbers, or about an index that is declared later or was before")
        refuse((self.language.kinds[name] == "integer") != (fact["kind"] == "index"), f"{where} ranges over no index")
        self.ranges.setdefault(number, []).append(self.claim(fact["claim"]))
        return name

    def _count(self, tree: Any, seen: set[str], last: str, where: str) -> str:
        """A new integer that is at least a number, and at least others that are known before it."""
        op, left, right = tree
        if op != ">=" or left[0] != "name" or self.language.kinds.get(left[1]) != "integer":
            raise Invalid(f"{where} is not of the form integer >= number")
        first = left[1] != last and left[1] not in seen and right[0] == "num"
        terms = any(ATOMS[n][0] in TERM for n in inside(self.language.scalar(right, {})))
        used = self.mentioned(right)
        if not (
            first or (left[1] == last and last in self.counted and not terms and used <= seen - self.indices - {last})
        ):
            raise Invalid(f"{where} restricts what is in use, or is not at least an integer")
        self.counted.add(left[1])
        return left[1]

    def _definition(self, claim: Claim, tree: Any, seen: set[str], where: str) -> None:
        """A definition names something new: `symbol == expression`, or a vector, or a function of indices."""
        left = tree[1]
        arguments = left[2] if left[0] == "call" else ()
        refuse(left[0] not in ("name", "call") or claim.op not in ("==", "="), f"{where} is no definition")
        indices = [a[1] for a in arguments if a[0] == "name" and a[1] in self.indices]
        if len(indices) != len(arguments) or len(set(indices)) != len(indices) or left[1] in seen or left[1] in OWN:
            raise Invalid(f"{where} does not define something new")
        right = self.mentioned(tree[2])
        if left[1] in right or (right & self.indices) - set(indices):
            raise Invalid(f"{where} defines by itself, or by an index that it does not have")
        integer = claim.op == "==" and left[0] == "name" and self.language.kinds[left[1]] == "integer"
        if integer and not self.whole(self.language.scalar(tree[2], {})):
            raise Invalid(f"{where} defines an integer by what may be none")
        if claim.op == "==" and left[0] == "name":
            value = self.language.scalar(tree[2], {})
            self.defined[atom(("x", left[1]))] = put(value, self.defined, self.whole)

    def mentioned(self, tree: Any) -> set[str]:
        if not isinstance(tree, tuple):
            return {tree} if isinstance(tree, str) and tree in self.language.kinds else set()
        return set().union(*map(self.mentioned, tree)) if tree else set()

    def closure(self, atoms: Any) -> set[int]:
        """The indices among the atoms, and those that their ranges mention."""
        found = set(atoms) & set(self.ranges)
        while True:
            more = {n for i in found for r in self.ranges[i] for n in r.atoms & set(self.ranges)} - found
            if not more:
                return found
            found |= more

    def with_scope(self, claim: Claim, uses: dict[str, Claim]) -> dict[str, Claim]:
        """What is used, and every hypothesis and count about what that, the claim or a range of theirs mentions."""
        texts = dict(self.statement["hypotheses"])
        texts |= {f["name"]: f["claim"] for f in self.data["facts"] if f["kind"] == "count"}
        waiting = {name: self.claim(text) for name, text in texts.items() if name not in uses}
        given, about = dict(uses), set(claim.atoms).union(*(c.atoms for c in uses.values()))
        more: Any = waiting
        while more:
            about = about.union(*(r.atoms for index in self.closure(about) for r in self.ranges[index]))
            more = {name: c for name, c in waiting.items() if leaves(c.atoms) & leaves(about)}
            waiting = {name: c for name, c in waiting.items() if name not in more}
            given, about = given | more, about.union(*(c.atoms for c in more.values()))
        return given

    def _point(self) -> None:
        """The point of the record meets all facts, so that they are not empty."""
        if self.data["point"] is None:
            self.rests.append("that its hypotheses can be met")
        else:
            Model(self).check()


class Lines(Facts):
    """Lines: what is checked of each, and what the rules share."""

    def check(self) -> None:
        """Checks facts, point and lines; raises Invalid."""
        try:
            named = re.fullmatch(r"\w{1,99}/\w{1,99}/\w{1,99}", self.id, re.ASCII)
            if not named or self.data["format"] not in (1, 2) or self.kind not in ("proof", "refutation"):
                raise Invalid("its format, its kind or its id paper/statement/reading is unknown")
            require(digest(self.data) == self.data["digest"], "the statement and the facts are not those of the digest")
            self.cites[self.id] = self.data["digest"]
            self.read_facts()
            self.check_target()
            self._point()
        except BROKEN as error:
            raise Invalid(f"its facts, laws or point are not well formed ({type(error).__name__})") from error
        self.check_lines()

    def check_lines(self, first: int = 0) -> None:
        """Checks the lines from a number on, and that the last one is the statement; raises Invalid."""
        require(self.data["lines"], "it has no lines")
        for entry in self.data["lines"][first:]:
            try:
                self.check_line(entry)
            except (Invalid, *BROKEN) as error:
                why = error if isinstance(error, Invalid) else f"it is not well formed ({type(error).__name__})"
                raise Invalid(f"at step '{entry['name']}': {why}") from error
        if self.kind == "refutation":
            require(self.refuted, "nothing in this refutation is refuted")
        last = list(self.lines.values())[-1]
        wanted = self.claim(self.statement["claim"])
        if last.supposed or last.name != self.data["lines"][-1]["name"] or not last.claim.same(wanted):
            raise Invalid("the last line is not the statement")
        refuse(self.closure(last.claim.atoms), "the statement mentions an index of the proof")
        more = {"assumption", "assumption comparison", "cite", "assumed", "open", "refuted", "mean", "once", "average"}
        if not last.of & more and last.of & {"metric comparison", "algorithm comparison"} and last.claim.op == ">=":
            raise Invalid("the facts about the metric and the method add up to the bound, without any assumption")

    def check_line(self, entry: Any) -> None:
        METER.line()
        name, self.now, self.used = entry["name"], tuple(entry.get("if", ())), []
        self.current: str = name
        refuse(name in self.lines or name.startswith("#"), "its name is taken")
        claim = self.claim(entry["claim"])
        by = entry["by"]
        rule = getattr(self, f"_by_{by['rule']}".replace(" ", "_"), None)
        if rule is None:
            raise Invalid("there is no such rule")
        taken = rule(claim, by) or set()
        own = self.closure(claim.atoms.union(*(self.claim(t).atoms for t in self.now)))
        for line in self.used:
            every = line.claim.atoms.union(*(self.claim(t).atoms for t in line.supposed))
            require(self.closure(every) - taken <= own, f"'{line.name}' is about an index that the claim does not have")
        of = {by["rule"]}.union(*(line.of for line in self.used if line.name not in by.get("signs", ())))
        self.lines[name] = Line(name, claim, self.now, of)
        self.steps += 1

    def _get(self, name: str, more: tuple[str, ...] = ()) -> Claim:
        """The claim of an earlier line, or of a supposition "#k" of this one."""
        if name.startswith("#"):
            return self.claim((*self.now, *more)[int(name[1:])])
        line = self.lines.get(name)
        if line is None:
            raise Invalid(f"'{name}' is no earlier line")
        require(set(line.supposed) <= {*self.now, *more}, f"'{name}' holds under another supposition")
        self.used.append(line)
        return line.claim

    def _made(self, wanted: Claim, claim: Claim, by: Any, why: str) -> None:
        """The claim is what a rule gives, and has a value."""
        require(wanted.same(claim), why)
        self._no_poles(needed(claim.gap), self._signs(by))

    def _signs(self, by: Any) -> list[Claim]:
        return [self._get(n) for n in by.get("signs", ())]

    def _counted(self, count: Value, signs: list[Claim]) -> bool:
        """Whether a number of terms is an integer that is at least 0."""
        number = number_of(count)
        if not self.whole(count):
            return False
        return (number is not None and number >= 0) or any(c.gives(Claim(">=", count)) for c in signs)

    def _no_poles(self, poles: frozenset[int], signs: list[Claim]) -> None:
        """Every denominator is shown to differ from 0; a line that has one itself counts after that is shown."""
        shown: set[int] = set()
        waiting = [c for c in signs if c.op in (">", "!=") and c.gap[0]]
        while not poles <= shown:
            ready = [c for c in waiting if needed(c.gap) <= shown]
            if not ready:
                given = {k: c for c in waiting for k in bases_of(c.gap[0])}
                first = frozenset().union(*(needed(given[k].gap) for k in poles & set(given))) - shown - set(given)
                missing = min(first or poles - shown)
                error = Invalid(f"the denominator {written((dict(BASES[missing]), {}))} is not shown to differ from 0")
                error.missing = written((dict(BASES[missing]), {}))
                raise error
            waiting = [c for c in waiting if c not in ready]
            shown |= {k for c in ready for k in bases_of(c.gap[0])}


class Sums(Lines):
    """Rules about single numbers: sums of products, cases, roots, powers, equals."""

    def _by_sum(self, claim: Claim, by: Any) -> None:
        """The claim is a sum of products of what is at least 0, up to multiples of equations.

        put: equations, each with the atom that it replaces, used in the claim and in all that follows; terms: [number,
        factors], a factor being a line that claims >= or >, [line, power], or {"square": what is at least 0 by its
        form}; equal: [line, multiplier]; signs: further lines that show denominators to differ from 0 and numbers of
        terms to be at least 0.
        """
        rules: list[Any] = []

        def image(x: Value) -> Value:
            for what in rules:
                x = put(x, what, self.whole)
            return x

        for name, text in by.get("put", ()):
            rules.append(self.substitution(self._get(name), text, rules))
        factors = [f for _, factors in by.get("terms", ()) for f in factors if not isinstance(f, dict)]
        names = [f if isinstance(f, str) else f[0] for f in factors]
        signs = [self._get(n) for n in dict.fromkeys([*by.get("signs", ()), *names])]
        signs = [Claim(c.op, image(c.gap)) for c in signs if c.op in (">=", ">", "==", "!=")]
        refuse(claim.op == "=>", "an implication is no sum")
        sign = -1 if by.get("turned") and claim.op == "!=" else 1
        rest, firm, poles = image(times(constant(sign), claim.gap)), False, frozenset[int]()
        for number, factors in by.get("terms", ()):
            one, strict = self._term(rational(number), factors, image, signs)
            rest, firm = plus(rest, one, -1), firm or strict
            poles |= needed(one)
        for name, multiplier in by.get("equal", ()):
            equation = self._get(name)
            refuse(equation.op != ("=" if claim.op == "=" else "=="), f"'{name}' is no equation of this kind")
            one = times(image(self.value(multiplier)), image(equation.gap))
            rest, poles = plus(rest, one, -1), poles | needed(one)
        refuse(rest[0], "the two sides of its identity differ")
        if (claim.op in ("=", "==") and by.get("terms")) or (claim.op in (">", "!=") and not firm):
            raise Invalid("its terms do not show the claim")
        self._no_poles(poles | needed(rest), signs)

    def _term(self, number: Fraction, factors: Any, image: Any, signs: list[Claim]) -> tuple[Value, bool]:
        """A product of what is at least 0, and whether it is positive."""
        refuse(number <= 0, "a coefficient is not positive")
        one, firm = constant(_short(number)), True
        for factor in factors:
            if isinstance(factor, dict):
                tree = parsed(factor["square"], "sum")
                if not self.language.not_negative(tree, {}, lambda n: self._counted(image(n), signs)):
                    raise Invalid(f"'{factor['square']}' is not at least 0 by its form")
                one, firm = times(one, image(self.value(factor["square"]))), False
                continue
            name, exponent = (factor, 1) if isinstance(factor, str) else factor
            line = self._get(name)
            refuse(line.op != ">" and (line.op != ">=" or exponent < 1), f"'{name}' shows no sign for this factor")
            firm = firm and line.op == ">"
            one = times(one, power(image(line.gap), exponent))
        return one, firm

    def substitution(self, equation: Claim, text: str, rules: Any) -> Any:
        """The substitution that an equation gives for an atom in which it is linear with a number as coefficient."""
        gap = equation.gap
        require(equation.op in ("=", "=="), "only equations are put in")
        for what in rules:
            gap = put(gap, what, self.whole)
        value = self.language.read(parsed(text, "sum"), {})
        for what in rules:
            value = put(value, what, self.whole)
        ((monomial, one),) = value[0].items()
        ((target, exponent),) = monomial
        refuse(one != 1 or exponent != 1 or value[1], f"'{text}' is no single term")
        top = gap[0]
        factor_terms = [(m, c) for m, c in top.items() if target in {n for n, _ in m}]
        rest = {m: c for m, c in top.items() if target not in {n for n, _ in m}}
        linear_in = factor_terms and all(dict(m).get(target) == 1 for m, _ in factor_terms)
        require(linear_in and target not in inside((rest, gap[1])), f"'{text}' cannot be replaced")
        slope = {tuple((n, e) for n, e in m if n != target): c for m, c in factor_terms}
        bottom = expanded(gap[1])
        ratio = Fraction(next(iter(slope.values()))) / Fraction(bottom.get(next(iter(slope)), 1))
        refuse(target in inside((slope, {})) or poly_plus(slope, bottom, -ratio), f"'{text}' has no plain coefficient")
        return {target: times(constant(_short(-1 / ratio)), (rest, gap[1]))}

    def _by_cases(self, claim: Claim, by: Any) -> None:
        """Two lines claim it, one where a relation holds and one where it does not."""
        first, second = (self.lines[n] for n in by["of"])
        one, other = self.claim(by["on"]), self.claim(by["else"])
        turned = Claim(">" if one.op == ">=" else ">=", times(constant(-1), one.gap))
        refuse(one.op not in (">=", ">") or not turned.same(other), "the two cases are not opposites")
        self._no_poles(needed(one.gap), self._signs(by))
        for line, text in ((first, by["on"]), (second, by["else"])):
            if not set(line.supposed) <= {*self.now, text} or not line.claim.gives(claim):
                raise Invalid(f"'{line.name}' does not claim it in this case")
            self.used.append(line)

    def _by_absurd(self, claim: Claim, by: Any) -> None:
        """From a false line anything follows."""
        refuse(self._get(by["of"]).plain is not False, f"'{by['of']}' is not false")

    def _by_suppose(self, claim: Claim, by: Any) -> None:
        """An implication: a line claims its end where its suppositions hold."""
        line = self.lines[by["of"]]
        refuse(claim.op != "=>" or not line.claim.same(claim.gap), f"'{line.name}' is not the end of the implication")
        for text in set(line.supposed) - set(self.now):
            if not any(p.gives(self.claim(text)) for p in claim.supposed):
                raise Invalid(f"'{line.name}' holds under another supposition")
        self.used.append(line)

    def _by_apply(self, claim: Claim, by: Any) -> None:
        """The end of an implication all of whose suppositions are lines."""
        implication, given = self._get(by["of"]), [self._get(n) for n in by["to"]]
        refuse(implication.op != "=>" or not implication.gap.gives(claim), "the claim is not the end of an implication")
        require(all(any(g.gives(p) for g in given) for p in implication.supposed), "a supposition of it is not shown")

    def _by_both(self, claim: Claim, by: Any) -> None:
        """Equal, since neither is greater."""
        one, other = (self._get(n) for n in by["of"])
        parts = (Claim(">=", claim.gap), Claim(">=", times(constant(-1), claim.gap)))
        if claim.op != "==" or not all(any(c.gives(p) for c in (one, other)) for p in parts):
            raise Invalid("the two lines do not give the equation")

    def _by_integer(self, claim: Claim, by: Any) -> None:
        """An integer that is greater than 0 is at least 1."""
        line = self._get(by["of"])
        more = plus(line.gap, constant(1), -1)
        if line.op != ">" or not self.whole(line.gap) or claim.op != ">=" or plus(claim.gap, more, -1)[0]:
            raise Invalid("the claim is not that an integer is at least 1")

    def _by_root(self, claim: Claim, by: Any) -> None:
        """A root of what is at least 0 is at least 0, and its power is what it is the root of."""
        base, degree = self.value(by["of"]), by["degree"]
        if not self._get(by["sign"]).gives(Claim(">=", base)) or not isinstance(degree, int) or degree < 2:
            raise Invalid("what the root is taken of is not shown to be at least 0")
        root = root_of(base, degree)
        ways = [Claim(">=", root), Claim("==", plus(power(root, degree), base, -1))]
        ways += [Claim(">", root)] if self._get(by["sign"]).gives(Claim(">", base)) else []
        require(any(way.same(claim) for way in ways), "the claim is not what a root gives")
        self._no_poles(needed(base), self._signs(by))

    def _by_min(self, claim: Claim, by: Any) -> None:
        """The least of several is at most each, and at least what is at most each."""
        values = [self.value(t) for t in by["of"]]
        least = least_of(values)
        if any(Claim(">=", plus(v, least, -1)).same(claim) for v in values):
            return
        low, given = self.value(by["low"]), [self._get(n) for n in by["each"]]
        require(Claim(">=", plus(least, low, -1)).same(claim), "the claim is not what the least of several gives")
        wanted = [Claim(">=", plus(v, low, -1)) for v in values]
        require(all(not w.gap[0] or shown_by(given, w) for w in wanted), "a value is not shown to be at least that")

    def _by_power(self, claim: Claim, by: Any) -> None:
        """b**(e + f) == b**e * b**f for b > 0, or for an integer e that is at least 0 and f = 1.

        For b > 0 also b**e > 0, and for e <= 0 the tangent, (b + 1)**e >= (1 + e/b) * b**e.
        """
        base, exponent = self.value(by["base"]), self.value(by["exponent"])
        more, sign, one = self.value(by.get("more", "1")), self._get(by["sign"]), power_of(base, exponent)
        positive = sign.gives(Claim(">", base))
        if not positive and (more != ONE or not self._counted(exponent, [sign])):
            raise Invalid("neither is the base shown to be positive nor the exponent an integer that is at least 0")
        both = power_of(base, plus(exponent, more))
        ways = [Claim("==", plus(both, times(one, power_of(base, more)), -1)), *([Claim(">", one)] if positive else [])]
        if positive and "falls" in by and self._get(by["falls"]).gives(Claim(">=", times(constant(-1), exponent))):
            slope = plus(ONE, times(exponent, inverse(base)))
            ways.append(Claim(">=", plus(power_of(plus(base, ONE), exponent), times(slope, one), -1)))
        require(any(way.same(claim) for way in ways), "the claim is not what a power gives")
        self._no_poles(needed(base) | needed(claim.gap), [sign, *(self._get(n) for n in by.get("signs", ()))])

    def _by_replace(self, claim: Claim, by: Any) -> None:
        """Equals in place of equals: an expression with @ has the same value at both sides of an equation."""
        left, right, within = (self.value(by[k]) for k in ("left", "right", "in"))
        require(self._get(by["of"]).same(Claim("==", plus(left, right, -1))), f"'{by['of']}' is no such equation")
        place = atom(("x", ANY))
        one, other = (put(within, {place: x}, self.whole) for x in (left, right))
        self._made(Claim("==", plus(one, other, -1)), claim, by, "the claim is not what equals in place of equals give")


class Indices(Sums):
    """Rules about all values of an index: sums over it, one value of it, limits, induction."""

    def _general(self, line: Line, index: int, texts: tuple[str, ...] = (), by: Any = None) -> None:
        """The line holds for all values of the index, whatever the others are, and for every number @ of the texts."""
        require(index in self.ranges, "the index has no range")
        refuse(any(index in self.claim(t).atoms for t in self.now), "a supposition is about one value of the index")
        every = self.closure(line.claim.atoms.union(*(self.claim(t).atoms for t in line.supposed)))
        if any(index in r.atoms for other in every - {index} for r in self.ranges[other]):
            raise Invalid("the range of another index depends on this one")
        place = {index: variable(atom(("x", ANY)))}
        given = [*map(self.claim, texts), *(self._get(n, texts) for n in by.get("ranges", ()))] if texts else []
        if texts and not all(shown_by(given, r.put(place, self.whole)) for r in self.ranges[index]):
            raise Invalid("a value that is used is not shown to be in the range of the index")

    def _index_of(self, by: Any, integer: bool) -> int:
        index = atom(("x", by["index"]))
        refuse((index in self.language.integers) is not integer, f"{by['index']} is of another kind")
        return index

    def _by_over(self, claim: Claim, by: Any) -> set[int]:
        """The sum of a line over an index; with "part", the sum of fewer of its terms is at most that of all."""
        index, count = self._index_of(by, True), self.value(by["count"])
        source = self._get(by["of"])
        self._general(self.lines[by["of"]], index, ("@ >= 0", f"@ <= {by['count']} - 1"), by)
        signs = self._signs(by)
        # with a part, that is shown to be at least 0 and at most the count
        fewer = "part" in by and source.op != "=" and self.whole(count)
        require(fewer or self._counted(count, signs), "the number of terms is not shown to be a natural number")
        if source.op == "=":
            wanted = Claim("=", sum_over(index, source.gap, count, self.whole))
        else:
            total = sum_over(index, source.gap, count, self.whole)
            if "part" in by:
                part = self.value(by["part"])
                more = Claim(">=", plus(count, part, -1))
                if not self._counted(part, signs) or not (more.plain or any(s.gives(more) for s in signs)):
                    raise Invalid("the part is not shown to be a part")
                total = plus(total, sum_over(index, source.gap, part, self.whole), -1)
            wanted = Claim("==" if source.op == "==" and "part" not in by else ">=", total)
            require(source.op in (">=", ">", "=="), "this line cannot be summed")
        self._made(wanted, claim, by, "the claim is not the sum of the line")
        return {index}

    def _by_telescope(self, claim: Claim, by: Any) -> None:
        """The sum of a(i + 1) - a(i) over i = 0, ..., n - 1 is a(n) - a(0), for an integer n."""
        index, count = self._index_of(by, True), self.value(by["count"])
        whole, i = self.whole, variable(atom(("x", by["index"])))
        require(whole(count), "the number of terms is not an integer")
        places = [{index: v} for v in (plus(i, ONE), i, count, ZERO)]
        after, here, end, start = (put(self.language.read(parsed(by["term"], "sum"), {}), p, whole) for p in places)
        gap = plus(sum_over(index, plus(after, here, -1), count, whole), plus(end, start, -1), -1)
        wanted = Claim("=" if claim.op == "=" else "==", gap)
        self._made(wanted, claim, by, "the claim is not a telescoping sum")

    def _by_exchange(self, claim: Claim, by: Any) -> None:
        """Two finite sums may be carried out in either order."""
        signs = self._signs(by)
        (i, first), (j, second) = ((atom(("x", n)), self.value(count)) for n, count in by["sums"])
        if not all(n in self.language.integers for n in (i, j)) or {i, j} & (inside(first) | inside(second)) or i == j:
            raise Invalid("the sums are not over all pairs of two indices")
        if not all(self._counted(count, signs) for count in (first, second)):
            raise Invalid("the number of terms is not shown to be a natural number")
        left, right = exchanged(self.language, by["term"], by["sums"])
        self._made(Claim("==", plus(left, right, -1)), claim, by, "the claim is not that of two sums in either order")

    def _by_at(self, claim: Claim, by: Any) -> set[int]:
        """A line at given values of indices, which are shown to be in their ranges."""
        source = self._get(by["of"])
        line, values = self.lines[by["of"]], {atom(("x", n)): self.value(t) for n, t in by["values"].items()}
        for index, value in values.items():
            if index not in self.ranges or any(index in self.claim(t).atoms for t in line.supposed):
                raise Invalid("this is no index of the line")
            refuse(index in self.language.integers and not self.whole(value), "the value of an index is not an integer")
        given = [self._get(n) for n in by.get("ranges", ())]
        every = self.closure(source.atoms)
        for index in every:
            for relation in self.ranges[index]:
                if index not in values and not relation.atoms & set(values):
                    continue
                require(index in values, "the range of another index depends on this one")
                wanted = relation.put(values, self.whole)
                require(shown_by(given, wanted), "the value of an index is not shown to be in its range")
        require(source.put(values, self.whole).same(claim), "the claim is not the line at these values")
        return set(values)

    def _by_limit(self, claim: Claim, by: Any) -> set[int]:
        """An inequality that holds for 0 < e < 1 and is polynomial in e holds at 0."""
        index, source = self._index_of(by, False), self._get(by["of"])
        self._general(self.lines[by["of"]], index, ("@ > 0", "@ < 1"), by)
        others = {n for m in source.gap[0] for n, _ in m if n != index}
        others |= {n for k in source.gap[1] for n in inside((dict(BASES[k]), {}))}
        if source.op not in (">=", ">") or any(index in INSIDE[n] for n in others):
            raise Invalid("the line is no polynomial inequality in this variable")
        self._made(Claim(">=", put(source.gap, {index: ZERO})), claim, by, "the claim is not the limit of the line")
        return {index}

    def _by_limsup(self, claim: Claim, by: Any) -> set[int]:
        """From v(m) <= b + f * (m + s)**(-r) for every integer m >= 0, with s > 0 and r > 0: limsup v(m) <= b."""
        index, source = self._index_of(by, True), self._get(by["of"])
        self._general(self.lines[by["of"]], index, ("@ >= 0",), by)
        keys = ("value", "bound", "factor", "shift", "rate")
        of, bound, factor, shift, rate = (self.value(by[k]) for k in keys)
        if any(index in inside(x) for x in (bound, factor, shift, rate)):
            raise Invalid("the bound, the factor, the shift or the rate depends on the index")
        last = times(factor, power_of(plus(variable(index), shift), times(constant(-1), rate)))
        require(Claim(">=", plus(plus(bound, last), of, -1)).same(source), "the line has no term that tends to 0")
        signs = self._signs(by)
        if not all(any(s.gives(Claim(">", x)) for s in signs) for x in (shift, rate)):
            raise Invalid("the shift and the rate are not shown to be positive")
        limit = atom(("x", by["limit"]))
        own = {name for name, *_ in self.statement["symbols"]} | set(re.findall(r"\w+", json.dumps(self.data["laws"])))
        used = inside(of).union(*(line.claim.atoms for line in self.lines.values()))
        if by["limit"] in own or self.language.kinds.get(by["limit"]) != "number" or limit in used:
            raise Invalid("the limit is no number that nothing else is said of")
        self._made(Claim(">=", plus(bound, variable(limit), -1)), claim, by, "the claim is not the bound on the limit")
        self.rests.append(f"that {by['limit']} is the limit superior of {by['value']} as {by['index']} grows")
        return {index}

    def _by_mean_value(self, claim: Claim, by: Any) -> set[int]:
        """From q'(t) >= slope for start <= t <= 1: q(1) - q(start) >= slope * (1 - start), for start < 1."""
        index, source = self._index_of(by, False), self._get(by["of"])
        texts = (f"@ >= {by['start']}", "@ <= 1")
        self._general(self.lines[by["of"]], index, texts, by)
        path, slope, start = (self.value(by[k]) for k in ("path", "slope", "start"))
        if index in inside(slope) or index in inside(start) or source.op not in (">=", ">"):
            raise Invalid("the slope depends on the variable")
        refuse(plus(source.gap, plus(derivative(path, index), slope, -1), -1)[0], "the line bounds no derivative")
        require(self._get(by["below"]).gives(Claim(">", plus(ONE, start, -1))), "the start is not shown to be below 1")
        place = {index: variable(atom(("x", ANY)))}
        along = [self._get(n, texts) for n in by.get("along", ())]
        self._no_poles(needed(put(path, place)), along)
        rise = plus(put(path, {index: ONE}), put(path, {index: start}), -1)
        if not Claim(">=", plus(rise, times(slope, plus(ONE, start, -1)), -1)).same(claim):
            raise Invalid("the claim is not what the mean value theorem gives")
        self._no_poles(needed(claim.gap), self._signs(by))
        for n in sorted(inside(path)):
            if ATOMS[n][0] == "f" and index in INSIDE[n]:
                self.rests.append(f"that {ATOMS[n][1]} is continuously differentiable")
        return {index}

    def _by_induction(self, claim: Claim, by: Any) -> set[int]:
        """From p(0), and p(k) => p(k + 1) for every k: p(last)."""
        index, last = self._index_of(by, True), self.value(by["last"])
        base, step = self._get(by["base"]), self._get(by["step"])
        self._general(self.lines[by["step"]], index, ("@ >= 0", f"@ <= {by['last']} - 1"), by)
        refuse(step.op != "=>" or len(step.supposed) != 1, "the step is no implication")
        before, whole, k = step.supposed[0], self.whole, variable(index)
        require(before.put({index: plus(k, ONE)}, whole).same(step.gap), "the step does not lead from k to k + 1")
        require(self._counted(last, self._signs(by)), "the last value is not shown to be a natural number")
        refuse(index in base.atoms or not base.gives(before.put({index: ZERO}, whole)), "the base is not the case 0")
        require(before.put({index: last}, whole).same(claim), "the claim is not the last case")
        return {index}


class Draws(Indices):
    """Rules about what is drawn: means, and sums of draws."""

    def expectation(self, by: Any) -> tuple[Value, list[Value]]:
        """The inner product of a draw less its mean, and what must be an integer that is at least 0."""
        law, whole = self.laws[by["law"]], self.whole
        (first,), (second,) = (linear(self.language.vector(parsed(by[k], "sum"), {})) for k in ("first", "second"))
        before = self.value(by.get("before", "0"))
        refuse(before[0] and not law.data.get("epochs"), "this order has no epochs")
        factor = self.value(by["factor"]) if "factor" in by else None
        mean = law.expected(first, second, factor, before)
        pair = product_of(variable(first), variable(second))
        needed = law.needed((first, second), before)
        require(all(map(whole, needed)), "a position is not an integer")
        return plus(pair, mean, -1), needed

    def _by_average(self, claim: Claim, by: Any) -> None:
        """An equation of families holds of their means."""
        law, source = self.laws[by["law"]], self._get(by["of"])
        refuse(not isinstance(law, Averages) or source.op != "=", "the averages are of no equation of vectors")
        total = ZERO
        for n, factor in linear(source.gap).items():
            total = plus(total, times(law.image(n), factor))
        require(Claim("=", total).same(claim), "the claim is not the mean of the equation")

    def _by_mean(self, claim: Claim, by: Any) -> None:
        """An inner product with a draw is its mean, by the law."""
        gap, positions = self.expectation(by)
        self._draws(Claim("==", gap), positions, claim, by)

    def _draws(self, wanted: Claim, positions: list[Value], claim: Claim, by: Any) -> None:
        signs = self._signs(by)
        require(all(self._counted(v, signs) for v in positions), "a position is not shown to be in its range")
        self._made(wanted, claim, by, "the claim is not what the law gives")

    def once(self, by: Any) -> tuple[Any, list[Value]]:
        """The sum of an order over whole epochs less what it is for every outcome, and numbers that are at least 0."""
        law, times_ = self.laws[by["law"]], self.value(by["times"])
        (n,) = linear(self.language.vector(parsed(by["sum"], "sum"), {}))
        place = law.place(n)
        items = law.size(place)
        refuse(not law.order or place[4] or plus(place[3], times(items, times_), -1)[0], "it is no sum of whole epochs")
        refuse(times_ != ONE and not law.data.get("epochs"), "this order has no epochs")
        every = times(sum_over(ITEM, law.family(place), items, self.whole), times_)
        return plus(variable(n), every, -1), [plus(items, ONE, -1), times_]

    def _by_once(self, claim: Claim, by: Any) -> None:
        """An order draws every item once in every epoch, for every outcome."""
        gap, positions = self.once(by)
        self._draws(Claim("=", gap), positions, claim, by)

    def _by_divide(self, claim: Claim, by: Any) -> None:
        """A sum over t < n m is one over e < n and r < m, t being e m + r."""
        self._draws(Claim("==", self.divided(by)), [self.value(by[k]) for k in ("outer", "inner")], claim, by)

    def divided(self, by: Any) -> Value:
        """The sum less that over quotients and remainders."""
        index, whole = self._index_of(by, True), self.whole
        outer, inner = (self.value(by[k]) for k in ("outer", "inner"))
        e, r = (atom(("bound", k)) for k in ("quotient", "remainder"))
        term = self.value(by["term"])
        moved = put(term, {index: plus(times(variable(e), inner), variable(r))}, whole)
        parts = sum_over(e, sum_over(r, moved, inner, whole), outer, whole)
        return plus(sum_over(index, term, times(outer, inner), whole), parts, -1)


class Record(Draws):
    """One record; `check` raises Invalid where it proves nothing. Here: what it takes over."""

    def _by_cite(self, claim: Claim, by: Any) -> set[int]:
        """The claim of another record at given terms; its hypotheses are lines here, and its assumptions made here."""
        cited = cited_record(by["record"], self.path, self.open)
        refuse(cited.kind != "proof" or cited.holes, f"the cited record {cited.id} is no proof")
        METER.line()
        whole, statement = self.whole, cited.statement
        averaged, declared = set(by.get("averaged", ())), {row[0] for row in statement["symbols"]}
        if not set(by["images"]) | averaged <= declared or averaged & set(by["images"]):
            raise Invalid("a symbol with an image is none of the cited record")
        fixed = {atom(("x", row[0])) for row in self.statement["symbols"]} | {*self.ranges, *self.language.integers}
        if averaged and any(inside(self.value(text)) - fixed for text in by["images"].values()):
            raise Invalid("a constant of the cited record has a value that may be random")
        place, single = self.place_of(cited, by), self.single_means(cited, by)
        for name, kind, _ in statement["symbols"]:
            if kind == "integer" and name not in averaged and not whole(place[atom(("x", name))]):
                raise Invalid(f"what stands for {name} is not an integer")
        given = [self._get(n) for n in by["hypotheses"]]
        for name, text in statement["hypotheses"]:
            wanted = cited.language.claim(text)
            free = {atom(("x", n)) for n in averaged} - set(single)
            if wanted.atoms & free:
                if name.split(".")[0] not in {f"domain {n}" for n in averaged}:
                    raise Invalid(f"'{name}' of the cited record is about what is averaged")
                continue
            wanted = wanted.put({**place, **single}, whole)
            require(shown_by(given, wanted), f"'{name}' of the cited record is not shown")
        self._assumptions(cited, by)
        self.rests += [f"that for {cited.id} {by['special']}"] if "special" in by else []
        target = target_of(cited)
        told, taken = self._for_vectors(cited, by)
        stands = self._of_a_run(cited, by, {ATOMS[n][1] for n in told})
        if target not in told or stands:
            self.rests.append(f"that {by['metric']} is what {cited.id} bounds{stands}")
        bound = cited.language.claim(statement["claim"])
        gap = put(bound.gap, place, whole)
        if averaged:  # the bound is linear in what is averaged: rest + sum of factor * expression
            free, used = {atom(("x", n)) for n in averaged}, set[int]()
            symbols = {n: x for n, x in place.items() if n != target}
            rest = mean = self.value(by["rest"])
            left = plus(plus(put(bound.gap, symbols, whole), variable(target)), rest, -1)
            for factor, what, its_mean in by["means"]:
                coefficient, one = self.value(factor), put(cited.language.value(what), symbols, whole)
                require(
                    free & inside(one) and not used & inside(one),
                    f"{what} of {cited.id} is no expression in what is averaged, or has part in two means",
                )
                used |= free & inside(one)
                left = plus(left, times(coefficient, one), -1)
                mean = plus(mean, times(coefficient, self.value(its_mean)))
                if not (what in averaged and inside(cited.language.value(what)) <= told):
                    self.rests.append(f"that {its_mean} is the mean of {what} of {cited.id}")
                refuse(free & inside(coefficient), "the cited bound is not linear in what is averaged")
            refuse(free & inside(rest) or left[0], "the cited bound is another one")
            gap = plus(mean, self.value(by["metric"]), -1)
        wanted = Claim(bound.op, gap)
        refuse(bound.op not in (">=", "==") or not wanted.same(claim), "the claim is not that of the cited record")
        self._no_poles(needed(claim.gap), self._signs(by))
        self.rests.append(f"the record {cited.id}")
        self.cites |= cited.cites
        self.said_generated |= {r if r.endswith("]") else f"{r} [{cited.id}]" for r in cited.said_generated}
        self.rests += [r if r.endswith("]") else f"{r} [{cited.id}]" for r in cited.rests]
        return taken

    def _of_a_run(self, cited: Record, by: Any, told: set[str]) -> str:
        """What stands for symbols of the cited record, in words; raises Invalid where that is none of the same run.

        Of a record about a method: a constant that both declare stands for itself, a value at the start (its name ends
        in _0) for one term, no term for two quantities. The target must be what it bounds, after as many rounds.
        """
        own, rows = ({row[0]: row for row in r.statement["symbols"]} for r in (self, cited))
        images = {name: by["images"].get(name, name) for name in rows if name not in by.get("averaged", ())}
        given = images | {what: mean for _, what, mean in by.get("means", ()) if what in rows}
        (mine, theirs), metric = (metric_of(r.statement) for r in (self, cited)), by["metric"]
        roles = {self.statement["target"].split("(")[0]: mine[0]} | {n: n[:-2] for n in own if n.endswith("_0")}
        first = next((a for a, _ in cited.statement["assumptions"] if a.endswith("_at_start")), "")
        ends = [put(cited.language.value(t), self.place_of(cited, by), self.whole) for t in theirs[3:]]
        special, method = by.get("special"), cited.statement["method"]
        require(method in ("", self.statement["method"]) or special, f"{cited.id} is about another method")
        for name, text in [("", metric), *given.items()] if method else ():
            value, start = self.value(text), name.endswith("_0")
            unit, terms = ONE if name else ends[1], [n for n in inside(value) if ATOMS[n][0] in ("x", "f")]
            term = next((ATOMS[n][1] for n in terms if not plus(value, times(unit, variable(n)), -1)[0]), "")
            if not name:
                fine = leaves(inside(value)) - {*own} and (term or unit == ONE)
                require(fine, f"'{metric}' is no value of a run, times the scale of the metric of {cited.id}")
            elif start and name not in told and text != name:
                fine = term not in {"", *own} and (text != metric or theirs[3] == "0")
                require(fine, f"'{text}' is no value of a run, which {name} of {cited.id} is")
                refuse(first, f"{cited.id} assumes {first}, which another start need not meet")
            elif own.get(name) == rows[name] and text != name and not special:
                raise Invalid(f"{name} of {cited.id} is a constant of this statement too, and stands for itself")
            quantity = name[:-2] if start else theirs[0]
            if term and (start or not name) and roles.setdefault(term, quantity) != quantity:
                raise Invalid(f"'{text}' is {roles[term]}, and {cited.id} takes it for {quantity}")
        if target_of(self) in inside(put(self.value(metric), self.defined, self.whole)):
            same = all(not plus(self.value(t), x, -1)[0] for t, x in zip(mine[3:], ends, strict=True))
            same = same and mine[:2] == theirs[:2] and mine[2] in ("", theirs[2]) and mine[4] == "1"
            require(same and metric == self.statement["target"], f"{cited.id} does not bound what this statement does")
        other = {n: text for n, text in images.items() if n not in told and (own.get(n), n) != (rows[n], text)}
        return f", with {', '.join(f'{text} for {n}' for n, text in other.items())}" if other else ""

    def _for_vectors(self, cited: Record, by: Any) -> tuple[set[int], set[int]]:
        """The symbols of which the facts of the cited record say what they are, and its indices in lines that show it.

        vectors: [name, arguments, what stands for it here]. What the cited record says of such vectors alone must hold
        of these: by a line of "shown", or by what stands for a symbol.
        """
        told, taken = set[int](), set[int]()
        if "vectors" not in by:
            return told, taken
        lines = [self._get(n) for n in by.get("shown", ())]
        for fact, wanted in self.said_of(cited, by):
            origin, where = fact["origin"], f"'{fact['name']}' of {cited.id}"
            if wanted.op != "=" and not wanted.gap[0] and not wanted.gap[1] and wanted.op in (">=", "=="):
                told |= inside(cited.language.claim(fact["claim"]).gap)
            elif any(line.gives(wanted) for line in lines):
                told |= inside(cited.language.claim(fact["claim"]).gap) if wanted.op != "=" else set()
            elif origin == "generated" and fact["kind"] == "assumption":  # it holds of all vectors at their points
                self.rests.append(f"that {where} holds of what stands for its vectors")
            elif not wanted.plain:
                raise Invalid(f"{where} is not shown of what stands for its vectors")
        for line in [self.lines[n] for n in by.get("shown", ())]:
            for index in self.closure(line.claim.atoms) & set(cited.ranges):
                self._general(line, index)
                taken.add(index)
        self.rests += [f"that {text} stands for {name} of {cited.id}" for name, _, text in by["vectors"]]
        self.rests += [
            f"that what stands for its past is known before what stands for the draws of '{name}' of {cited.id}"
            for name in cited.laws
        ]
        return told, taken

    def single_means(self, cited: Record, by: Any) -> dict[int, Value]:
        """The means of single symbols of the cited record."""
        means = {atom(("x", n)): self.value(mean) for _, n, mean in by.get("means", ()) if n in cited.language.kinds}
        return {n: mean for n, mean in means.items() if ATOMS[n][1] in by["averaged"]}

    def place_of(self, cited: Record, by: Any) -> dict[int, Any]:
        """What stands for the symbols of the cited statement and for its metric."""
        names = {row[0] for row in cited.statement["symbols"]} - set(by.get("averaged", ()))
        place = {atom(("x", n)): self.value(by["images"].get(n, n)) for n in names}
        return place | {target_of(cited): self.value(by["metric"])}

    def said_of(self, cited: Record, by: Any) -> Any:
        """(fact, what it says here) for the facts of the cited record about vectors for which some stand here."""
        place = self.place_of(cited, by) | self.single_means(cited, by)
        for name, arguments, text in by["vectors"]:
            image, own = self.language.vector(parsed(text, "sum"), {}), [atom(("x", a)) for a in arguments]
            refuse((inside(image) - set(own)) & set(cited.ranges), f"what stands for {name} depends on an index there")
            key, value = (("head", name), (own, image)) if own else (("v", name), image)
            place[atom(key)] = value
        for fact in cited.data["facts"]:
            claim = cited.language.claim(fact["claim"])
            names = {n for n in claim.atoms if ATOMS[n][0] in ("v", "head", "f")}
            names |= claim.atoms & {atom(("x", n)) for n in cited.language.kinds} - set(cited.ranges)
            vectors = {n for n in names if ATOMS[n][0] in ("v", "head")}
            if fact["kind"] in ("domain", "condition", "index", "range") or not vectors or not names <= set(place):
                continue
            for index in cited.closure(claim.atoms):
                own, here = cited.ranges[index], self.ranges.get(index, [])
                images = [r.put(place, self.whole) for r in own]
                if len(own) != len(here) or not all(any(r.same(h) for h in here) for r in images):
                    raise Invalid(f"{ATOMS[index][1]} has another range in {cited.id}")
            yield fact, claim.put(place, self.whole)

    def _assumptions(self, cited: Record, by: Any) -> None:
        """The assumptions of a cited record are made here, or follow by what is named, or are taken over."""
        ours = [tuple(row) for row in self.statement["assumptions"]]
        implied = {name: (given, at, why) for name, given, at, why in by.get("implied", ())}
        for name, meaning in cited.statement["assumptions"]:
            if (name, meaning) in ours:
                continue
            if name not in implied:
                self.rests.append(f"that the assumption {name} of {cited.id} holds here")
                continue
            given, at, why = implied[name]
            if not set(given) <= {own for own, _ in ours} or any(by["images"].get(n) != t for n, t in at.items()):
                raise Invalid(f"the assumption {name} of the cited record does not follow from what is assumed here")
            self.rests.append(f"that {', '.join(given)} give {name} of {cited.id}: {why}")

    def _by_open(self, claim: Claim, by: Any) -> None:
        """Nothing is shown: no proof has such a line. record: a reading that the step cites, and that is refuted."""
        self._hole(claim)
        if "record" in by:
            cited = cited_record(by["record"], self.path, self.open)
            require(cited.kind == "refutation", f"{cited.id}, which it cites, is not refuted")
            self.cites |= cited.cites
            self.refuted[self.current] = f"it cites {cited.id}, which is refuted"

    def _by_refuted(self, claim: Claim, by: Any) -> None:
        """It does not follow from the facts and lines that it uses: at a point these hold, and the claim fails."""
        require(self.kind == "refutation", "a proof has no refuted line")
        self._hole(claim)
        lines = {name: self.lines[name] for name in by["uses"]}
        refuse(self.now or any(line.supposed for line in lines.values()), "a refuted claim has no suppositions")
        ranged = [f["name"] for f in self.data["facts"] if f["kind"] in ("index", "range")]
        uses = {name: line.claim for name, line in lines.items() if name not in ranged}
        Model(self, by["point"]).refutes(claim, uses)
        values = (f"{n} = {x}" for n, x in by["point"]["numbers"].items())
        functions = (f"{n}({', '.join(own)}) = {x}" for n, (own, x) in by["point"]["functions"].items())
        self.refuted[self.current] = ", ".join([*values, *functions])

    def _hole(self, claim: Claim) -> None:
        step = self.current in self.data["steps"] or claim.same(self.claim(self.statement["claim"]))
        require(step, "only a step may be open or refuted")
        self.holes.append(self.current)

    def _by_assumed(self, claim: Claim, by: Any) -> None:
        """Taken as it is."""
        self.rests.append(f"the cited result '{by['source']}'")


def metric_of(statement: Any) -> Any:
    """Quantity, average, "none" where it holds for every outcome, rounds and scale of the metric of a statement."""
    form = r"([^,]+), (last|.*?= 0, \.\.\., [^,]+), (none)?.*, after (.+) rounds, times (.+)"
    found = re.fullmatch(form, statement["metric"])
    require(found, "the metric of a statement is not: quantity, average, what it is over, rounds and scale")
    return found and found.groups("")


def target_of(record: Record) -> int:
    """The symbol of the metric of a statement."""
    ((((target, _),), _),) = record.language.value(record.statement["target"])[0].items()
    return target


_checked: dict[Path, Record] = {}


def cited_record(name: str, citing: Path, open_records: tuple[str, ...]) -> Record:
    """The cited record, checked: `paper/statement/reading`, beside the citing one or in the folder of its paper."""
    refuse(name in open_records, f"{name} is cited in its own proof")
    paper, statement, reading = name.split("/")
    file = f"{statement}.{reading}.proof.json"
    places = (citing.parent / f"{paper}.{file}", citing.parent.parent / paper / file)
    path = next((p.resolve() for p in places if p.is_file()), None)
    if path is None:
        raise Invalid(f"the cited record {name} is not there")
    if path not in _checked:
        record = Record(path, open_records)
        require(record.id == name, f"the cited record {name} is that of {record.id}")
        begin, until = process_time(), METER.until
        METER.until = begin + SECONDS  # of its own
        record.check()
        METER.until = until + process_time() - begin
        _checked[path] = record
    return _checked[path]


UNITS = tuple(atom(("v", f"_unit {k}")) for k in (1, 2))  # of the plane


class Model:
    """A point: numbers for symbols, vectors of a line or of the plane, expressions for functions.

    A vector is a number or a list of two, and so is the expression for a function whose values are vectors.
    """

    def __init__(self, record: Facts, point: Any = None) -> None:
        self.record, self.language = record, record.language
        point, self.here = record.data["point"] if point is None else point, dict[int, Value]()  # here: indices
        pairs = (((one, other), ONE if one == other else ZERO) for one in UNITS for other in UNITS if one <= other)
        self.place: dict[int, Any] = {atom(("<>", *two), *(INSIDE[n] for n in two)): value for two, value in pairs}
        for name, own in point["numbers"].items():
            value = self._value(name, own, lambda text: constant(_short(rational(text))))
            if self.language.kinds.get(name) == "integer" and number_of(value).denominator != 1:
                raise Invalid(f"at the point: {name} is not an integer")
            if (index := atom(("x", name))) in record.ranges:
                self.here[index] = value
            else:
                self._set(name, [], value)
        for name, (names, own) in point["functions"].items():
            bound = {n: atom(("bound", n)) for n in names}
            value = self._value(name, own, lambda text, bound=bound: self.language.scalar(parsed(text, "sum"), bound))
            self._set(name, list(bound.values()), value)
        for tree in (parsed(f["claim"]) for f in record.data["facts"] if f["kind"] == "definition"):
            if (left := tree[1])[1] not in {*point["numbers"], *point["functions"]}:
                parameters = [atom(("x", a[1])) for a in left[2]] if left[0] == "call" else []
                self._set(left[1], parameters, self.language.read(tree[2], {}))

    def _value(self, name: str, own: Any, read: Any) -> Value:
        parts = [read(x) for x in (own if isinstance(own, list) else [own])]
        if "vector" not in self.language.kinds.get(name, "number"):
            require(len(parts) == 1, f"at the point: {name} is no vector")
            return parts[0]
        require(len(parts) <= 2, f"at the point: {name} has more than two coordinates")
        return plus(*(times(x, variable(n)) for x, n in zip([*parts, ZERO][:2], UNITS, strict=True)))

    def _set(self, name: str, parameters: list[int], value: Any) -> None:
        """What a name is."""
        kind = self.language.kinds.get(name, "number")
        key = {"vector": "v", "vector function": "head", "function": "function"}.get(kind, "x")
        self.place[atom((key, name))] = (parameters, value) if "function" in kind else value

    def check(self) -> None:
        """Every fact holds at the point, for all values of the indices."""
        given = {**self.record.data["point"]["numbers"], **self.record.data["point"]["functions"]}
        for fact in self.record.data["facts"]:
            own = fact["kind"] == "definition" and parsed(fact["claim"])[1][1] not in given  # what it defines is put in
            if fact["kind"] not in ("index", "range") and not own:
                self.require(fact["name"], self.language.claim(fact["claim"]))

    def require(self, name: str, claim: Claim) -> None:
        """Raises Invalid for a claim that is not shown to hold at the point, for all values of the indices."""
        try:
            if self.truth(claim, {}):
                return
        except Invalid:  # a quotient or a number of terms is known at values of the indices only
            pass
        own = self.record.closure(claim.atoms)
        rows = self._rows([n for n in self.record.ranges if n in own and n in self.language.integers], {})
        require(all(self.truth(claim, row) for row in rows), f"at the point: the fact '{name}' does not hold")

    def refutes(self, claim: Claim, uses: dict[str, Claim]) -> None:
        """Raises Invalid unless the claim fails at the point, and all that is used and is about it holds there."""
        for name, own in self.record.with_scope(claim, uses).items():
            self.require(name, own)
        for index in self.record.closure(claim.atoms):
            if not all(self.truth(r, self.here) for r in self.record.ranges[index]):
                raise Invalid("at the point: an index is not in its range")
        require(self.truth(claim, self.here) is False, "the claim is not shown to fail at the point")

    def _rows(self, indices: list[int], values: Any) -> Any:
        """All values of integer indices in their ranges, which must be few; a real variable stays one."""
        if not indices:
            yield values
            return
        first, lows, highs = indices[0], list[int](), list[int]()
        for relation in (self.at(r, values) for r in self.record.ranges[first]):
            slope = relation.gap[0].get(((first, 1),), 0)
            rest = number_of(plus(relation.gap, variable(first), -slope))
            if rest is None or not slope:
                raise Invalid("at the point: the range of an index is not known")
            end, strict = Fraction(-rest) / Fraction(slope), relation.op == ">"
            if slope > 0:
                lows.append(end.__floor__() + 1 if strict else end.__ceil__())
            else:
                highs.append(end.__ceil__() - 1 if strict else end.__floor__())
        few = lows and highs and min(highs) - max(lows) <= LARGEST
        require(few, "at the point: an index has too many values")
        for k in range(max(lows), min(highs) + 1):
            yield from self._rows(indices[1:], {**values, first: constant(k)})

    def at(self, claim: Claim, values: Any) -> Claim:
        """The claim at the point and at values of indices."""
        place = {**self.place, **values}
        for _ in range(LARGEST):  # what is put may be given by others
            claim = claim if claim.atoms.isdisjoint(place) else claim.put(place, self.language.whole)
        powers = {n: self._power(*map(thawed, ATOMS[n][1:])) for n in claim.atoms if ATOMS[n][0] == "**"}
        return claim.put(powers, self.language.whole) if powers else claim

    def truth(self, claim: Claim, values: Any) -> bool | None:
        """Whether a claim holds at the point and at values of indices; None where that is not shown."""
        if claim.op == "=>":
            given, own = [self.truth(p, values) for p in claim.supposed], self.truth(claim.gap, values)
            return True if own or False in given else None if None in given else own
        claim = self.at(claim, values)
        top, poles = claim.gap[0], [dict(BASES[k]) for k in needed(claim.gap)]
        holds = not top if claim.op in ("==", "=") else claim.op != "!=" and self._at_least_0(top, claim.op == ">")
        if holds and all(self._at_least_0(p, True) for p in poles):
            return True
        if claim.op == "=":
            return False if top and not poles and all(m in [((n, 1),) for n in UNITS] for m in top) else None
        if not all(ATOMS[n][0] in ("root", "min") for n in inside(claim.gap)):
            return None
        low, high = _between(claim.gap)
        if claim.op in ("==", "!="):
            apart = low > 0 or high < 0
            return (apart == (claim.op == "!=")) if apart or low == high else None
        least = (lambda x: x > 0) if claim.op == ">" else (lambda x: x >= 0)
        return True if least(low) else None if least(high) else False

    def _at_least_0(self, poly: Any, positive: bool) -> bool:
        """Whether a polynomial is, by the ranges of its variables: all terms are at least 0, one is more if asked."""
        found: dict[str, set[int]] = {">": set(), ">=": set()}  # the variables that their ranges make so
        for own, claim in ((n, claim) for n, claims in self.record.ranges.items() for claim in claims):
            if not claim.gap[1] and set(claim.gap[0]) == {((own, 1),)} and claim.gap[0][(own, 1),] > 0:
                found[claim.op].add(own)
        terms = [({n for n, _ in m}, c > 0) for m, c in poly.items()]
        both = found[">"] | found[">="]
        return all(c and own <= both for own, c in terms) and (
            not positive or any(own <= found[">"] for own, _ in terms)
        )

    def _power(self, base: Value, exponent: Value) -> Value:
        """b**(e + n) as b**n * b**e, for a number b > 0 and an integer n, so that equal powers look alike."""
        number, whole = number_of(base), exponent[0].get((), 0)
        plain = number_of(exponent) is not None or exponent[1] or Fraction(whole).denominator != 1
        if number is None or number <= 0 or plain:
            return power_of(base, exponent)
        return times(power(base, int(whole)), power_of(base, plus(exponent, constant(whole), -1)))


def _between(a: Value) -> tuple[Fraction, Fraction]:
    """Two numbers around a value that is made of numbers, roots and the least of such."""
    low, high = Fraction(0), Fraction(0)
    for monomial, c in a[0].items():
        ends = [Fraction(c), Fraction(c)]
        for n, e in monomial:
            for _ in range(e):
                METER.spend(8)
                corners = [x * y for x in ends for y in _around(n)]
                ends = [min(corners), max(corners)]
        low, high = low + ends[0], high + ends[1]
    for k, e in a[1].items():
        ends = _between((dict(BASES[k]), {}))
        refuse(ends[0] <= 0 <= ends[1], "at the point: a denominator is not shown to differ from 0")
        for _ in range(e):
            METER.spend(8)
            corners = [x / y for x in (low, high) for y in ends]
            low, high = min(corners), max(corners)
    return low, high


def _around(n: int) -> tuple[Fraction, Fraction]:
    key = ATOMS[n]
    if key[0] == "min":
        ends = [_between(thawed(x)) for x in key[1]]
        return min(x for x, _ in ends), min(y for _, y in ends)
    low, high = _between(thawed(key[1]))
    refuse(low < 0, "at the point: a root is taken of a negative number")
    fine = 10**12
    below = _whole_root(low.numerator * fine ** key[2] // low.denominator, key[2])
    above = _whole_root(high.numerator * fine ** key[2] // high.denominator, key[2]) + 1
    return Fraction(below, fine), Fraction(above, fine)


LARGEST = 8  # integer indices are tried at the point from 0 up to this


# ---------------------------------------------------------------------------------------------------------------------
# What is printed


def digest(data: Any) -> str:
    """SHA-256 of what a record is about: id, statement, names and facts."""
    about = {k: data[k] for k in ("id", "statement", "names", "facts", "laws")}
    return hashlib.sha256(json.dumps(about, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def written(a: Value) -> str:
    """A value as text, in one form."""

    def poly(p: Any) -> str:
        terms = sorted((tuple(sorted(_powered(n, e) for n, e in m)), c) for m, c in p.items())
        text = ""
        for names, c in terms:
            size = "*".join([*([str(abs(c))] if abs(c) != 1 or not names else []), *names])
            text += (" - " if c < 0 else " + ") + size if text else "-" * (c < 0) + size
        return text or "0"

    bottom = " * ".join(sorted(f"({poly(dict(BASES[k]))})**{e}" for k, e in a[1].items()))
    return f"({poly(a[0])}) / ({bottom})" if bottom else poly(a[0])


def _powered(n: int, e: int) -> str:
    name = name_of(n)
    return name if e == 1 else f"({name})**{e}" if ATOMS[n][0] in ("root", "**") else f"{name}**{e}"


def name_of(n: int) -> str:
    """An atom as text."""
    key = ATOMS[n]
    if key[0] in ("x", "v"):
        return key[1]
    if key[0] in ("f", "vf"):
        return f"{key[1]}({', '.join(written(thawed(k)) for k in key[2])})"
    if key[0] == "<>":
        return "<" + ", ".join(sorted(map(name_of, key[1:]))) + ">"
    if key[0] == "S":
        body = name_of(key[2]) if isinstance(key[2], int) else written(thawed(key[2]))
        return f"sum(_{key[1]}, {written(thawed(key[3]))}, {body})"
    if key[0] == "bound":
        return f"_{key[1]}"
    if key[0] == "root":
        return f"({written(thawed(key[1]))})**(1/{key[2]})"
    if key[0] == "**":
        return f"({written(thawed(key[1]))})**({written(thawed(key[2]))})"
    if key[0] == "min":
        return f"min({', '.join(sorted(written(thawed(k)) for k in key[1]))})"
    return f"diff({name_of(key[1])}, {name_of(key[2])})"


def plain(text: Any) -> str:
    """A text of a record with escapes for what a terminal carries out, or writes in another direction."""
    own = ((c, c.isprintable() and bidirectional(c) not in ("R", "AL", "AN")) for c in str(text)[:2000])
    return "".join(c if fine else ascii(c)[1:-1] for c, fine in own)


def quoted(lines: Any) -> str:
    """Texts of a record as lines that are marked as quotations."""
    return "".join(f"> {plain(line)}\n" for line in lines)


def shown(record: Record) -> list[str]:
    """The statement as it was read, and its hypotheses and its claim in one form."""

    def form(text: str) -> str:
        claim = record.language.claim(text)
        return f"{written(claim.gap)} {claim.op} 0"

    rows = [f"statement {record.id}"]
    rows += [f"  {name}: {kind}, {meaning}" for name, kind, meaning in record.statement["symbols"]]
    rows += [f"  {record.statement['target']}: {record.statement['metric']}"]
    rows += [f"  method {record.statement['method']}"] if record.statement["method"] else []
    rows += [f"  where {text}    ({name}: {form(text)})" for name, text in record.statement["hypotheses"]]
    rows += [f"  assuming {name}: {meaning}" for name, meaning in record.statement["assumptions"]]
    text = record.statement["claim"]
    return [*rows, f"  claim {text}", f"  that is {form(text)}", f"  digest {record.data['digest']}"]


# how what a proof rests on begins, by weight, and what it is
WEIGHTS = (("the cited result ", "cited results"), ("the transcribed assumption ", "inequalities of assumptions"),
           ("the transcribed ", "transcribed facts"), ("the law ", "laws of draws"),
           ("the generated ", "generated facts"), ("the record ", "records"), ("", "readings of names"))  # fmt: skip


def weight(text: str) -> int:
    """The number of the row of WEIGHTS for what a proof rests on."""
    return next(k for k, (begin, _) in enumerate(WEIGHTS) if text.startswith(begin))


def account(rests: list[str]) -> str:
    """How many things of each weight a proof rests on; "" for nothing."""
    count = {word: sum(weight(r) == k for r in rests) for k, (_, word) in enumerate(WEIGHTS)}
    words = ", ".join(f"{word}: {n}" for word, n in count.items() if n)
    return f", rests on {len(rests)} thing{'s' * (len(rests) > 1)} ({words})" if words else ""


# ---------------------------------------------------------------------------------------------------------------------
# Worst cases: multipliers of inequalities of a class, whose sum leaves a square. A row is a vector {basis: number}; a
# form is {(a, b): number of <e_a, e_b>, k: number of value k, (): number}. Points and gradients are what the run of the
# method is said to be; every inequality is written anew from them, from the class and from the numbers given.

ROWS, PAIRS, WORST_SECONDS = 200, 40_000, 60  # basis vectors, inequalities; processor time for such a record


def form_sum(parts: Any) -> dict[Any, Fraction]:
    """The sum of multiples of forms, or of rows."""
    found: dict[Any, Fraction] = {}
    for factor, form in parts:
        for key, c in form.items():
            found[key] = found.get(key, Fraction(0)) + factor * c
    return {key: c for key, c in found.items() if c}


def inner_of(a: Any, b: Any) -> dict[Any, Fraction]:
    """<a, b>."""
    return form_sum((c * d, {(min(i, j), max(i, j)): Fraction(1)}) for i, c in a.items() for j, d in b.items())


def apart(a: Any, b: Any) -> dict[Any, Fraction]:
    """a - b."""
    return form_sum(((1, a), (-1, b)))


class Worst:
    """A record of a worst case."""

    def __init__(self, data: Any) -> None:
        number = rational
        self.data, self.rows = data, data["rows"]
        require(type(self.rows) is int and 0 < self.rows <= ROWS, f"it has more than {ROWS} basis vectors")
        self.constants = {k: number(v) for k, v in data["constants"].items()}
        self.mu, self.smooth = (None if v is None else number(v) for v in data["curvature"])
        refuse(self.smooth is not None and (self.smooth <= 0 or (self.mu is not None and self.mu >= self.smooth)),
               "the bounds of the curvature are not mu < L")  # fmt: skip
        self.names, alone = set(data["assumptions"]), sum(map(len, data["answers"])) == 1
        levels = {"smooth_clients": "clients/L", "smooth_samples": "samples/L"}
        upper = [self.constants[key] for name, key in levels.items() if name in self.names]
        upper += [self.constants[key] for key in ("objective/L",) if alone and key in self.constants]
        lower = [Fraction(0) for name in ("convex_clients", "convex_samples", "convexity")
                 if name in self.names and (alone or name != "convexity")]  # fmt: skip
        lower += [self.constants["samples/mu"]] if "strongly_convex_samples" in self.names else []
        lower += [-self.constants["clients/lambda"]] if "lower_curvature" in self.names else []
        require(self.smooth is None or self.smooth in upper, "the smoothness is none of the constants")
        fine = self.mu is None or self.mu in lower or (self.smooth is not None and self.mu == -self.smooth)
        require(fine, "the least curvature is none of the assumptions")
        self.weights = [number(w) for w in data["weights"]]
        self.sizes = [len(own) for own in data["answers"]]
        fine = len(self.weights) == len(self.sizes) and sum(self.weights) == 1 and min(self.weights) > 0
        require(fine and min(self.sizes) > 0, "the weights of the clients are no weights")
        self.base = {k: number(c) for k, c in self._keyed(data["gap_at_anchor"])}
        self.answers = [[[(self.row(p), self.row(g), dict(self._value(v))) for p, g, v in own] for own in client]
                        for client in data["answers"]]  # fmt: skip
        for client in self.answers:
            for own in client:
                require(own[0][0] == {} == own[0][2], "a function has no anchor")
                refuse(len({frozenset(p.items()) for p, _, _ in own}) < len(own), "a function answers twice at a point")
        mean = self.mean(lambda i, j: self.answers[i][j][0][1])
        if data["minimiser"]:
            refuse(mean or self.base, "the anchor is no minimiser")

    def row(self, given: Any) -> dict[int, Fraction]:
        """A vector."""
        found = {int(rational(k)): rational(c) for k, c in given.items()}
        require(all(0 <= k < self.rows for k in found), "a row has a basis vector that is not there")
        return {k: c for k, c in found.items() if c}

    def _keyed(self, given: Any) -> Any:
        return ((int(rational(k)), c) for k, c in given.items())

    def _value(self, given: Any) -> Any:
        return ((k, rational(c)) for k, c in self._keyed(given))

    def mean(self, of: Any) -> dict[Any, Fraction]:
        """The mean of something over all functions, by their weights in F."""
        cells = ((w / self.sizes[i], i, j) for i, w in enumerate(self.weights) for j in range(self.sizes[i]))
        return form_sum((share, of(i, j)) for share, i, j in cells)

    def client(self, i: int, point: Any) -> dict[Any, Fraction]:
        """The gradient of client i at a point where all its functions are known."""
        return form_sum((Fraction(1, self.sizes[i]), self.at(i, j, point)[1]) for j in range(self.sizes[i]))

    def at(self, i: int, j: int, point: Any) -> Any:
        """The answer of a function at a point."""
        found = [a for a in self.answers[i][j] if a[0] == point]
        require(found, "a function is not known at a point")
        return found[0]

    def objective(self, point: Any) -> Any:
        """F at a point: the point, the gradient, the value less F*."""
        value = form_sum(((1, self.mean(lambda i, j: self.at(i, j, point)[2])), (1, self.base)))
        return point, self.mean(lambda i, j: self.at(i, j, point)[1]), value

    def spread(self, point: Any) -> dict[Any, Fraction]:
        """The weighted sum of the squared gradients of the clients."""
        each = ((w, self.client(i, point)) for i, w in enumerate(self.weights))
        return form_sum((w, inner_of(g, g)) for w, g in each)

    def quantity(self, name: str, point: Any) -> dict[Any, Fraction]:
        """A metric at a point."""
        require(name in ("gap", "dist2", "grad2"), f"the metric '{plain(name)}' is not known here")
        if name == "dist2":
            require(self.data["minimiser"], "a distance to a minimiser that need not be there")
            return inner_of(point, point)
        _, gradient, value = self.objective(point)
        return value if name == "gap" else inner_of(gradient, gradient)

    def interpolated(self, a: Any, b: Any, mu: Any, smooth: Any) -> dict[Any, Fraction]:
        """f(b) + <g_b, a - b> + what curvature adds - f(a), at most 0 for mu <= curvature <= L."""
        (x, g, f), (y, h, e) = a, b
        step, slope = apart(x, y), apart(g, h)
        least = form_sum(((1, e), (1, inner_of(h, step)), (-1, f)))
        mu = -smooth if mu is None and smooth is not None else mu
        require(mu is not None, "nothing is known of the curvature")
        if smooth is None:
            return form_sum(((1, least), (mu / 2, inner_of(step, step))))
        factor = 1 / (2 * (1 - mu / smooth))
        return form_sum(((1, least), (factor / smooth, inner_of(slope, slope)), (factor * mu, inner_of(step, step)),
                         (-2 * factor * mu / smooth, inner_of(slope, step))))  # fmt: skip

    def below(self, point: Any) -> dict[Any, Fraction]:
        """F* <= F(x) - |grad F(x)|^2/(2 L), or F* <= F(x) where F is not smooth."""
        _, gradient, value = self.objective(point)
        less = {} if self.smooth is None else inner_of(gradient, gradient)
        return form_sum((*(((1 / (2 * self.smooth), less),) if self.smooth else ()), (-1, value)))

    def inequality(self, name: str, index: list[Any]) -> dict[Any, Fraction]:
        """A form that is at most 0 on the class; of start/*, one that is 0."""
        k = self.constants
        if name.startswith("start/"):
            start = self.row(self.data["start"])
            own = self.spread(start) if name == "start/client_grad2" else self.quantity(name[6:], start)
            return form_sum(((1, own), (-k[name], {(): Fraction(1)})))
        own = ("interpolation", "least", "minimum", "smooth_objective", "own")
        fine = name in own or name in self.names or (name == "bounded_below" and not self.data["minimiser"])
        require(fine, f"the inequality '{plain(name)}' is none of the assumptions")
        if name == "interpolation":
            i, j, a, b = map(int, index)
            refuse(a == b, "an inequality between a point and itself")
            return self.interpolated(self.answers[i][j][a], self.answers[i][j][b], self.mu, self.smooth)
        if name == "own":
            given = self.data["own"][int(index[0])]
            quad = {(min(a, b), max(a, b)): rational(c) for a, b, c in given["quad"]}
            fine = all(type(a) is int and 0 <= a < self.rows for pair in quad for a in pair)
            require(fine, "a row has a basis vector that is not there")
            return form_sum(((1, quad), (1, dict(self._value(given["lin"]))), (rational(given["const"]), {(): 1})))
        if name == "least":
            own, least = self.data["measured"], {self.data["least"]: Fraction(1)}
            return apart(least, self.expected(own["quantity"], own["of"][int(index[0])][1]))
        if name == "bounded_gradients":
            i, j, a = map(int, index)
            gradient = self.answers[i][j][a][1]
            return apart(inner_of(gradient, gradient), {(): k["clients/gradient_bound"] ** 2})
        points = [self.row(p) for p in self.data["common"]]
        point = points[int(index[0])] if index and name != "hessian_similarity" else self.row(self.data["start"])
        if name in ("minimum", "bounded_below"):
            return self.below(point)
        if name in ("convexity", "smooth_objective"):
            refuse(index[0] == index[1], "an inequality between a point and itself")
            one, other = (self.objective(points[int(index[m])]) for m in (0, 1))
            convex = name == "convexity"
            return self.interpolated(one, other, Fraction(0) if convex else None, None if convex else k["objective/L"])
        _, gradient, value = self.objective(point)
        squared = inner_of(gradient, gradient)
        if name == "strong_quasi_convexity":
            require(self.data["minimiser"], "strong quasi-convexity without a minimiser")
            own = (k["objective/mu"] / 2, inner_of(point, point))
            return form_sum(((1, value), own, (-1, inner_of(gradient, point))))
        if name == "finite_gradient_noise":
            each = [self.client(i, {}) for i in range(len(self.weights))]
            noise = form_sum((Fraction(1, len(each)), inner_of(g, g)) for g in each)
            return apart(noise, {(): k["clients/sigma2"]})
        if name == "dissimilarity_at_start":
            return form_sum(((1, self.spread(point)), (-k["start/B2"], squared)))
        if name == "bounded_dissimilarity":
            return form_sum(((1, self.spread(point)), (-k["clients/B2_without_G2"], squared)))
        if name in ("gradient_dissimilarity", "relaxed_dissimilarity"):
            relaxed = name == "relaxed_dissimilarity"
            own = (2 * k["samples/L"], value) if relaxed else (1, squared)
            return form_sum(((1, self.spread(point)), (-own[0] * k["clients/B2"], own[1]),
                             (-k["clients/G2"], {(): Fraction(1)})))  # fmt: skip
        if name == "local_variance":
            parts: list[Any] = [(-k["samples/sigma2"] * sum(self.sizes), {(): Fraction(1)})]
            for i, size in enumerate(self.sizes):
                mean = self.client(i, point)
                gaps = [apart(self.at(i, j, point)[1], mean) for j in range(size)]
                parts += [(Fraction(1, size), inner_of(g, g)) for g in gaps]
                parts.append((-k["samples/P2"] * size, inner_of(mean, mean)))
            return form_sum(parts)
        require(name == "hessian_similarity", f"the inequality '{plain(name)}' is not known")
        i, a, b = map(int, index)
        refuse(a == b or max(self.sizes) > 1, "an inequality between a point and itself, or of samples")
        pair: list[Any] = []
        for m in (a, b):
            own, whole = self.at(i, 0, points[m]), self.objective(points[m])
            value = form_sum(((1, own[2]), (-1, whole[2]), (1, self.base)))
            pair.append((points[m], apart(own[1], whole[1]), value))
        return self.interpolated(pair[0], pair[1], None, k["clients/delta"])

    def expected(self, quantity: str, histories: Any) -> dict[Any, Fraction]:
        """The mean of a metric over histories."""
        own = [(rational(p), self.row(x)) for p, x in histories]
        fine = sum(p for p, _ in own) == 1 and min(p for p, _ in own) > 0
        require(fine, "the probabilities of the histories do not sum to 1")
        return form_sum((p, self.quantity(quantity, x)) for p, x in own)

    def metric(self) -> dict[Any, Fraction]:
        """What is bounded, as a form."""
        own = self.data["measured"]
        if self.data["least"] is not None:
            return form_sum([(rational(own["scale"]), {self.data["least"]: Fraction(1)})])
        each = ((rational(own["scale"]) * rational(w), h) for w, h in own["of"])
        return form_sum((w, self.expected(own["quantity"], h)) for w, h in each)

    def check(self) -> None:
        """Raises Invalid unless sum of multiplier times form - metric + upper is a square, a form that is >= 0."""
        given = self.data["multipliers"]
        require(len(given) <= PAIRS, f"it has more than {PAIRS} multipliers")
        parts: list[Any] = [(-1, self.metric()), (1, {(): rational(self.data["upper"])})]
        for (name, *index), m in given:
            multiplier = rational(m)
            equal = name.startswith("start/") or (name == "own" and self.data["own"][int(index[0])]["equal"] is True)
            require(multiplier >= 0 or equal, "a multiplier is below 0")
            parts.append((multiplier, self.inequality(name, index)))
        left = form_sum(parts)
        refuse([key for key in left if not (isinstance(key, tuple) and len(key) == 2)], "values do not cancel")
        require(no_square_below(left, self.rows), "what is left is no square")

    def shown(self) -> list[str]:
        """The claim."""
        own, data = self.data["measured"], self.data
        word = "the least value of" if data["least"] is not None else "the mean of" if len(own["of"]) > 1 else ""
        values = ", ".join(f"{k} = {v}" for k, v in data["values"].items())
        names = ", ".join(sorted({name for (name, *_), _ in data["multipliers"]}))
        claim = f"{word} {own['quantity']} after {data['rounds']} rounds <= {data['upper']}".strip()
        return [
            f"statement {data['statement']}",
            f"  at {values}",
            f"  {len(self.weights)} clients, method {data['method']}",
            f"  assuming {', '.join(data['assumptions'])}",
            *(f"  and of the user: {own}" for own in data.get("own", [])),
            f"  claim {claim}",
            f"  curvature {data['curvature']}; inequalities: {names}",
        ]


def no_square_below(form: Any, rows: int) -> bool:
    """Whether the form is at least 0 for every Gram matrix: elimination in integers, with pivots above 0."""
    scale = 1
    for c in form.values():
        scale = scale * c.denominator // gcd(scale, c.denominator)
    own = [[0] * rows for _ in range(rows)]
    for (a, b), c in form.items():
        own[a][b] += int(c * scale)
        own[b][a] += int(c * scale)
    before, left = 1, [*range(rows)]
    while left:
        pivot = next((k for k in left if own[k][k] > 0), None)
        if pivot is None:
            return not any(own[a][b] for a in left for b in left)
        left.remove(pivot)
        top = own[pivot]
        for a in left:
            factor, line = own[a][pivot], own[a]
            for b in left:
                line[b] = (top[pivot] * line[b] - factor * top[b]) // before
        before = top[pivot]
        if any(own[k][k] < 0 for k in left):
            return False
    return True


def examined_worst(data: Any, row: dict[str, Any]) -> dict[str, Any]:
    """What became of a record of a worst case."""
    METER.until = process_time() + WORST_SECONDS
    found = Worst(data)
    row |= {"id": plain(data["statement"]), "kind": "worst", "shown": [*map(plain, found.shown())]}
    found.check()
    taken = ["the run of the method that is said to give these points"]
    return row | {"valid": True, "verdict": "valid", "lines": len(data["multipliers"]), "rests": [*map(plain, taken)]}


def answer(path: Path) -> dict[str, Any]:
    """The answer on a record before anything of it is known."""
    lists: dict[str, Any] = {key: [] for key in ("shown", "rests", "said_generated")}
    maps: dict[str, Any] = {key: {} for key in ("cites", "steps", "refuted")}
    return {"id": plain(path), "kind": "proof", "valid": False, **maps, **lists} | dict.fromkeys(
        ("lines", "transcribed", "seconds"), 0
    )


def examined(path: Path) -> dict[str, Any]:
    """What became of one record; its texts are without control characters."""
    begin, row = process_time(), answer(path)
    METER.until = begin + SECONDS
    try:
        METER.line()
        if isinstance(data := loaded(path), dict) and data.get("kind") == "worst":
            return examined_worst(data, row) | {"seconds": process_time() - begin}
        record = Record(path)
        record.check()
        row["id"] = record.id
        row["transcribed"] = sum(fact["origin"] in ("generated", "transcribed") for fact in record.data["facts"])
        rests = sorted(dict.fromkeys(record.rests), key=weight) if record.kind == "proof" else []
        rules = {entry["name"]: entry["by"]["rule"] for entry in record.data["lines"]}
        others = {"open": "open", "refuted": "refuted", "assumed": "assumed"}
        steps = {plain(n): others.get(rules[n], "proved") for n in rules if n in record.data["steps"]}
        row |= {"shown": [*map(plain, shown(record))], "rests": [*map(plain, rests)], "lines": record.steps}
        row |= {"kind": record.kind, "steps": steps}
        refuted = [e for e in record.data["lines"] if e["by"]["rule"] == "refuted"]
        own = {plain(e["name"]): {"claim": plain(e["claim"]), "uses": [*map(plain, e["by"]["uses"])]} for e in refuted}
        row |= {"refuted": own}
        row |= {"cites": record.cites, "said_generated": sorted(map(plain, record.said_generated))}
        if record.holes and record.kind == "proof":
            more = f", nor have {len(record.holes) - 1} others" if record.holes[1:] else ""
            raise Invalid(f"at step '{record.holes[0]}': it has no certificate{more}")
        failing = (f"refuted at step '{name}' ({why})" for name, why in record.refuted.items())
        row |= {"valid": True, "verdict": plain(next(failing, "valid"))}
    except Invalid as error:
        row["verdict"] = f"invalid {plain(str(error)[:400])}"
    except BROKEN as error:
        row["verdict"] = f"invalid: it is not well formed ({type(error).__name__})"
    METER.until = float("inf")
    return row | {"seconds": process_time() - begin}


def main(arguments: list[str]) -> int:
    """Checks the records of these paths and prints what became of each."""
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for path in [a for a in arguments if not a.startswith("--")]:
        rows.append(row := examined(Path(path)))
        if "--json" in arguments:
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
            continue
        text = "" if "--quiet" in arguments else quoted([*row["shown"], *(f"  rests on {r}" for r in row["rests"])])
        verdict = f"{row['verdict']}{account(row['rests']) if row['valid'] else ''}"
        text += f"{row['id']}: {verdict}  [{row['lines']} lines, {row['seconds']:.2f} s]\n"
        sys.stdout.write(text.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding))
    return 2 if not rows else int(not all(row["valid"] for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
