"""Relations as polynomial constraints: roots, Min and Max eliminated exactly, denominators cleared by proved signs.

A root, Min, Max or Abs becomes a new variable with the constraints that define it. A denominator is cleared
only after its sign has been proved from constraints that are already there; what does not depend on the relation
theory (inner products, sums, functions) is generalised to a real variable, which is sound for proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import sympy as sp

from boundcheck.proof.step import Finding
from boundcheck.proof.vectors import is_nonnegative_atom

_NEGATED = {">=": "<", ">": "<=", "==": "!=", "!=": "=="}
KEPT = 1 << 14  # expressions whose parts or factors are remembered: the steps of a derivation ask for them many times


class Unsigned(ArithmeticError):
    """The sign of a denominator or of the argument of a root was not proved; the message is a sentence."""


@dataclass(frozen=True)
class Constraint:
    """`poly op 0` with op one of >=, >, ==, !=; origin names the fact it comes from.

    defines: the introduced variable that this constraint defines, if any.
    """

    poly: Any
    op: str
    origin: str = ""
    defines: Any = None

    def negation(self) -> tuple[Any, str]:
        """The polynomial and the operator of the opposite, among <, <=, ==, !=."""
        return self.poly, _NEGATED[self.op]


def direction(relation: Any) -> tuple[Any, str]:
    """(gap, op) with the relation equivalent to `gap op 0`; op among >=, >, ==, !=."""
    left, right = relation.lhs, relation.rhs
    match type(relation).__name__:
        case "GreaterThan":
            return left - right, ">="
        case "StrictGreaterThan":
            return left - right, ">"
        case "LessThan":
            return right - left, ">="
        case "StrictLessThan":
            return right - left, ">"
        case "Equality":
            return left - right, "=="
        case _:
            return left - right, "!="


def rational_parts(expr: Any) -> tuple[Any, Any]:
    """Numerator (expanded) and denominator (as it factors by itself) of a rational expression.

    Powers with a symbolic exponent are taken as they are, but for base**(e + 1) == base * base**e.
    """
    return _rational_parts(sp.sympify(expr, strict=True))


@lru_cache(maxsize=KEPT)
def _rational_parts(expr: Any) -> tuple[Any, Any]:
    powers = {p: split_power(p) for p in expr.atoms(sp.Pow) if not p.exp.is_Rational}
    if not powers:
        top, bottom = sp.fraction(sp.together(expr))
        return sp.expand(top), bottom
    names = {rest: sp.Dummy("power", real=True) for _, rest in powers.values()}
    top, bottom = rational_parts(expr.xreplace({p: factor * names[rest] for p, (factor, rest) in powers.items()}))
    back = {name: rest for rest, name in names.items()}
    return top.xreplace(back), bottom.xreplace(back)


def split_power(power: Any) -> tuple[Any, Any]:
    """base**(e + j) as (base**j, base**e) for a positive integer j, else (1, the power)."""
    shift, exponent = power.exp.as_coeff_Add()
    if shift.is_Integer and shift > 0:
        return power.base**shift, power.base**exponent
    return sp.Integer(1), power


def factorised(poly: Any) -> tuple[Any, list[tuple[Any, int]]]:
    """The constant and the irreducible factors with their powers."""
    constant, factors = _factorised(sp.sympify(poly, strict=True))
    return constant, list(factors)


@lru_cache(maxsize=KEPT)
def _factorised(poly: Any) -> tuple[Any, tuple[tuple[Any, int], ...]]:
    plain = _irreducible(poly)
    if plain is not None:
        return plain
    names = {p: sp.Dummy("power", real=True) for p in poly.atoms(sp.Pow) if not p.exp.is_Rational}
    constant, factors = cast("tuple[Any, list[tuple[Any, int]]]", sp.factor_list(poly.xreplace(names)))
    back = {name: p for p, name in names.items()}
    return constant, tuple((factor.xreplace(back), power) for factor, power in factors)


LONG = 12  # terms from which a polynomial is first looked at for a symbol that occurs in one term only


def _irreducible(poly: Any) -> tuple[Any, tuple[tuple[Any, int], ...]] | None:
    """The factors of a long polynomial in one term of which a symbol occurs that no other has; None for others.

    With m x the term, m a monomial, and g the rest, a factor without x divides m and g, so it is a number once the
    monomial that divides all terms is taken out.
    """
    gens = sorted(poly.free_symbols, key=sp.default_sort_key)
    if not isinstance(poly, sp.Add) or len(poly.args) < LONG or not poly.is_polynomial(*gens):
        return None
    whole = sp.Poly(poly, *gens)
    if not (whole.domain.is_ZZ or whole.domain.is_QQ):
        return None
    common = tuple(min(powers) for powers in zip(*whole.monoms(), strict=True))
    rest = {tuple(a - b for a, b in zip(m, common, strict=True)): c for m, c in whole.terms()}
    if not any(sorted(column, reverse=True)[:2] == [1, 0] for column in zip(*rest, strict=True)):
        return None
    _, primitive = sp.Poly(rest, *gens).clear_denoms(convert=True)[1].primitive()
    one = -primitive if primitive.LC() < 0 else primitive
    constant = sp.Rational(whole.LC()) / sp.Rational(one.LC())
    powers = tuple((g, k) for g, k in zip(gens, common, strict=True) if k)
    return constant, (*powers, (one.as_expr(), 1))


def smt(constraints: Iterable[tuple[tuple[Any, str], ...]], integers: frozenset[str]) -> tuple[str, dict[str, str]]:
    """SMT-LIB text of a conjunction of disjunctions of `poly op 0`; with it the map from its names to symbol names."""
    clauses = [tuple(c) for c in constraints]
    symbols = sorted({s for clause in clauses for poly, _ in clause for s in poly.free_symbols}, key=lambda s: s.name)
    short = {s: f"x{i}" for i, s in enumerate(symbols)}
    lines = [f"(declare-const {short[s]} {'Int' if s.name in integers else 'Real'})" for s in symbols]
    for clause in clauses:
        literals = [_literal(poly, op, short) for poly, op in clause]
        lines.append(f"(assert {literals[0] if len(literals) == 1 else '(or ' + ' '.join(literals) + ')'})")
    return "\n".join(lines), {short[s]: s.name for s in symbols}


def _literal(poly: Any, op: str, short: dict[Any, str]) -> str:
    text = _poly_text(poly, short)
    if op == "!=":
        return f"(not (= {text} 0))"
    return f"({'=' if op == '==' else op} {text} 0)"


def _poly_text(poly: Any, short: dict[Any, str]) -> str:
    gens = sorted(poly.free_symbols, key=lambda s: s.name)
    if not gens:
        return _integer_text(sp.sign(poly))
    _, integral = sp.Poly(poly, *gens).clear_denoms(convert=True)
    terms: list[str] = []
    for powers, coefficient in integral.terms():
        factors = [_integer_text(coefficient)]
        for gen, power in zip(gens, powers, strict=True):
            factors += [short[gen]] * power
        terms.append(factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})")
    return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"


def _integer_text(value: Any) -> str:
    return f"(- {-int(value)})" if value < 0 else str(int(value))


Prover = Callable[[Any, str, "Encoder"], Finding | None]


class Encoder:
    """Collects the constraints of one question.

    `prove(poly, op, encoder)` must return a PROVED finding when `poly op 0` follows from `encoder.constraints` and
    `encoder.clauses`, else None; it is asked for the signs of denominators and of arguments of roots.
    """

    def __init__(self, prove: Prover, quantities: frozenset[str] = frozenset()) -> None:
        self.constraints: list[Constraint] = []
        self.clauses: list[tuple[Constraint, ...]] = []
        self.parts: list[Finding] = []
        self.opaque: dict[Any, Any] = {}
        self.defined: dict[Any, Any] = {}
        self._roots: dict[Any, tuple[Any, Any]] = {}
        self._signs: dict[Any, int] = {}
        self._prove = prove
        self._quantities = quantities
        self._seen: set[Any] = set()

    def add(self, relation: Any, origin: str) -> None:
        """Add a hypothesis; raises Unsigned when a sign that it needs is not proved (nothing is added then)."""
        self.constraints += self._rootless(self.encode(relation, origin))

    def encode(self, relation: Any, origin: str = "") -> Constraint:
        """The polynomial constraint equivalent to the relation, given those already there."""
        if relation in (sp.true, sp.false):
            return Constraint(sp.Integer(0 if relation is sp.true else -1), ">=", origin)
        gap, op = direction(relation)
        return Constraint(self._reduced(self._cleared(gap)[0]), op, origin)

    def _reduced(self, poly: Any) -> Any:
        """The polynomial without its positive content and the factors that are known to be positive."""
        if poly.is_Rational:
            return poly
        constant, factors = factorised(poly)
        kept = [f**p for f, p in factors if self._signs.get(f) != 1 and not self._stated_positive(f)]
        return sp.expand(sp.sign(constant) * sp.Mul(*kept))

    def _stated_positive(self, poly: Any) -> bool:
        for c in self.constraints:
            if c.op == ">" and c.poly.free_symbols == poly.free_symbols:
                ratio = sp.cancel(c.poly / poly)
                if ratio.is_Rational and ratio > 0:
                    return True
        return False

    def raw(self, relation: Any) -> Constraint:
        """Numerator times denominator in place of the quotient: equivalent wherever the quotient is defined."""
        gap, op = direction(relation)
        top, bottom = rational_parts(self._replace(gap))
        return Constraint(sp.expand(top * bottom), op)

    def sign(self, poly: Any) -> int:
        """+1 or -1 where the polynomial is proved to have that sign, 0 where it is not."""
        poly = sp.expand(poly)
        if poly.is_Rational:
            return int(sp.sign(poly))
        if poly not in self._signs:
            self._signs[poly] = self._find_sign(poly)
        return self._signs[poly]

    def _find_sign(self, poly: Any) -> int:
        for factor in (1, -1):
            if self._stated_positive(sp.expand(factor * poly)):
                return factor
        for factor in (1, -1):
            found = self._prove(sp.expand(factor * poly), ">", self)
            if found is not None:
                self.parts.append(found)
                return factor
        return 0

    def _cleared(self, expr: Any) -> tuple[Any, Any]:
        """Numerator and denominator, the denominator proved positive."""
        top, bottom = rational_parts(self._replace(expr))
        constant, factors = factorised(bottom)
        sign = int(sp.sign(constant))
        for factor, power in factors:
            one = self.sign(factor)
            if one == 0:
                raise Unsigned(f"the sign of the denominator {self.restore(factor)} is not proved")
            sign *= one**power
        return sp.expand(sign * top), sp.expand(sign * bottom)

    def restore(self, expr: Any) -> Any:
        """The expression with the introduced variables spelled out again."""
        back = {symbol: node for node, symbol in (self.defined | self.opaque).items()}
        return expr.xreplace(back).xreplace(back)

    def _fresh(self, node: Any, kind: str) -> Any:
        symbol = sp.Symbol(f"_{kind}{len(self.defined) + len(self.opaque)}", real=True)
        self.defined[node] = symbol
        return symbol

    def _replace(self, expr: Any) -> Any:
        if expr.is_Rational:
            return expr
        if expr.is_Symbol:
            if expr.name in self._quantities and expr not in self._seen:
                self._seen.add(expr)
                self.constraints.append(Constraint(expr, ">=", f"{expr.name} is a quantity"))
            return expr
        if expr.is_Add or expr.is_Mul:
            return expr.func(*[self._replace(a) for a in expr.args])
        if expr.is_Pow and expr.exp.is_Integer:
            return self._replace(expr.base) ** expr.exp
        if expr.is_Pow and expr.exp.is_Rational:
            return self._root(expr.base, int(expr.exp.q)) ** expr.exp.p
        if expr.is_Pow and not expr.exp.is_Rational:
            factor, rest = split_power(expr)
            return self._replace(factor) * self._generalise(rest)
        if isinstance(expr, sp.Min | sp.Max):
            return self._extreme(expr)
        if isinstance(expr, sp.Abs):
            return self._absolute(expr)
        return self._generalise(expr)

    def _generalise(self, expr: Any) -> Any:
        if expr not in self.opaque:
            symbol = sp.Symbol(f"_a{len(self.opaque) + len(self.defined)}", real=True)
            self.opaque[expr] = symbol
            if is_nonnegative_atom(expr):
                self.constraints.append(Constraint(symbol, ">=", f"{expr} >= 0"))
        return self.opaque[expr]

    def _root(self, base: Any, degree: int) -> Any:
        """The real root of this degree of a number that is proved to be at least 0, as a new variable."""
        node = sp.root(base, degree)
        if node in self.defined:
            return self.defined[node]
        argument, bottom = self._cleared(base)
        if not (argument.is_Rational and argument >= 0) and self.sign(argument) != 1:
            found = self._prove(argument, ">=", self)
            if found is None:
                raise Unsigned(f"the argument {base} of a root is not proved to be at least 0")
            self.parts.append(found)
        symbol = self._fresh(node, "r")
        self.constraints.append(Constraint(symbol, ">=", f"{node} >= 0", symbol))
        power = sp.expand(symbol**degree * bottom - argument)
        self.constraints.append(Constraint(power, "==", f"({node})**{degree} == {base}", symbol))
        if degree == 2:
            self._roots[symbol] = (argument, bottom)
        return symbol

    def _extreme(self, expr: Any) -> Any:
        if expr in self.defined:
            return self.defined[expr]
        toward = 1 if isinstance(expr, sp.Min) else -1
        cleared = [self._cleared(arg) for arg in expr.args]
        symbol = self._fresh(expr, "w")
        origin = f"definition of {type(expr).__name__}"
        meets: list[Constraint] = []
        for top, bottom in cleared:
            gap = sp.expand(toward * (top - symbol * bottom))
            self.constraints.append(Constraint(gap, ">=", origin))
            meets.append(Constraint(sp.expand(-gap), ">=", origin))
        self.clauses.append(tuple(meets))
        return symbol

    def _absolute(self, expr: Any) -> Any:
        if expr in self.defined:
            return self.defined[expr]
        top, bottom = self._cleared(expr.args[0])
        symbol = self._fresh(expr, "w")
        self.constraints.append(Constraint(symbol, ">=", f"{expr} >= 0"))
        self.constraints.append(Constraint(sp.expand(symbol**2 * bottom**2 - top**2), "==", f"definition of {expr}"))
        return symbol

    def _rootless(self, constraint: Constraint) -> list[Constraint]:
        """Equivalent constraints without a root in which the constraint is linear, where the signs are proved."""
        for symbol, (argument, bottom) in self._roots.items():
            if constraint.op not in (">=", ">") or sp.degree(constraint.poly, symbol) != 1:
                continue
            slope, rest = constraint.poly.coeff(symbol, 1), constraint.poly.coeff(symbol, 0)
            if slope.has(*self._roots) or rest.has(*self._roots) or self.sign(slope) == 0:
                continue
            squares = sp.expand(rest**2 * bottom - slope**2 * argument)
            op, origin = constraint.op, f"{constraint.origin}, squared"
            if self.sign(slope) < 0:  # rest >= -slope*root >= 0
                return [Constraint(rest, op, constraint.origin), Constraint(self._reduced(squares), op, origin)]
            found = self._prove(sp.expand(-rest), ">=", self)  # slope*root >= -rest; squares where -rest >= 0
            if found is not None:
                self.parts.append(found)
                return [Constraint(self._reduced(-squares), op, origin)]
        return [constraint]

    def goals(self, relation: Any) -> list[Constraint]:
        """Constraints that are together equivalent to the claim; raises Unsigned."""
        return self._rootless(self.encode(relation))

    def active(self, poly: Any) -> tuple[list[Constraint], list[tuple[Constraint, ...]]]:
        """The constraints and clauses without the definitions of variables that nothing else mentions."""
        defined = {c.defines for c in self.constraints if c.defines is not None}
        used = set(poly.free_symbols)
        for c in [c for c in self.constraints if c.defines is None] + [c for cs in self.clauses for c in cs]:
            used |= c.poly.free_symbols
        while True:  # a definition that is used may mention further ones
            more = {s for c in self.constraints if c.defines in used for s in c.poly.free_symbols & defined} - used
            if not more:
                return [c for c in self.constraints if c.defines is None or c.defines in used], self.clauses
            used |= more
