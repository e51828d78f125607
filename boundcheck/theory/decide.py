"""Signs and enclosures of expressions at exact rational constants; nothing is guessed.

A sign is read from balls (python-flint, rigorous) at growing precision. A value that no ball tells from
zero is decided exactly: rationals by their fraction, other algebraic numbers by a separation bound.

Separation bound (after Burnikel, Funke, Mehlhorn, Schirra and Schmitt, "A Separation Bound for Real
Algebraic Expressions", ESA 2001). By induction every expression of rationals, + - * / and roots is U/V
with algebraic integers U, V all of whose conjugates are at most u, v in modulus: p/q gives (|p|, |q|), a sum
(u1 v2 + v1 u2, v1 v2), a product (u1 u2, v1 v2), a quotient (u1 v2, v1 u2), a k-th root
(k-th root of u1 v1^(k-1), v1) or (u1, k-th root of u1^(k-1) v1). U lies in a field of degree at most D, the
product of k over the distinct roots. The norm of U is an integer, not 0 where U is not, hence |U| >= u^(1-D)
and |U/V| >= 1/(v u^(D-1)). A ball inside that distance of 0 is 0.

Where exp, log or pi is involved, or the bound needs more than MAX_ZERO_BITS bits, a value that MAX_BITS bits do
not tell from zero stays undecided (None).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

from boundcheck.core.numbers import as_fraction, dyadic, exact_root, float_above, float_below, next_down, next_up
from boundcheck.errors import BadInput
from boundcheck.theory.balls import Separation, as_ball, ends, root_bound
from boundcheck.theory.program import Builder, compile_expression

EXACT_DIGITS = 20_000  # exact powers of more decimal digits than this become balls
MAX_BITS = 16_384  # precision at which a comparison without a separation bound is given up
MAX_ZERO_BITS = 1 << 20  # largest separation bound, in bits, that is worked through
_EXACT_BITS = int(EXACT_DIGITS * 3.3219280948873626)


class Undefined(BadInput):
    """The expression has no real value here: a division by zero, or an even root or logarithm of a negative number."""


class Point:
    """An expression at exact constants; balls and exact values are computed on demand and kept.

    flint's precision is global to the process: threads may widen one another's balls, never make them wrong.

    Raises BadInput where a symbol has no value.
    """

    def __init__(self, expr: Any, values: Mapping[str, Any]) -> None:
        program = compile_expression(expr)
        missing = sorted(program.symbols - set(values))
        if missing:
            raise BadInput(f"no value is given for {', '.join(missing)}.")
        self.values = {name: as_fraction(values[name], name) for name in program.symbols}
        self.root = program.root
        self.too_large = False  # whether an exact power beyond EXACT_DIGITS was replaced by a ball
        self._builder = Builder(program.nodes)
        self._balls: dict[int, dict[int, Any]] = {}
        self._exact: dict[int, Fraction | None] = {}
        self._bounds: dict[int, Separation | None] = {}
        self._moving: tuple[str, int, frozenset[int]] | None = None

    # -- the three answers -------------------------------------------------------------------------

    def sign(self, node: int | None = None) -> int | None:
        """-1, 0 or 1; None where it stays undecided. Raises Undefined."""
        i = self.root if node is None else node
        ball = self.ball(64, i)
        if ball > 0 or ball < 0:
            return 1 if ball > 0 else -1
        exact = self.exact(i)
        if exact is not None:
            return (exact > 0) - (exact < 0)
        from flint import arb

        needed, limit = self._zero_bits(i)
        precision = 128
        while precision <= limit:
            ball = self.ball(precision, i)
            if ball > 0 or ball < 0:
                return 1 if ball > 0 else -1
            if needed is not None and ball.is_finite() and ball.abs_upper() < arb(2) ** -needed:
                return 0
            precision *= 2
        return None

    def exact(self, node: int | None = None) -> Fraction | None:
        """The value as a fraction; None where it is irrational, unknown to be rational, or too long."""
        i = self.root if node is None else node
        if i not in self._exact:
            self._exact[i] = self._fraction(i)
        return self._exact[i]

    def ball(self, precision: int, node: int | None = None) -> Any:
        """A flint ball that contains the value, computed with `precision` bits (it may be wide or not finite)."""
        from flint import ctx

        i = self.root if node is None else node
        memo = self._balls.setdefault(precision, {})
        if i not in memo:
            with ctx.workprec(precision):
                memo[i] = self._ball(i, precision)
        return memo[i]

    def accurate_ball(self, bits: int) -> Any:
        """A ball with `bits` relative bits, or the narrowest that MAX_BITS allow."""
        precision = bits + 32
        while True:
            ball = self.ball(precision)
            if ball.is_finite() and (ball.rel_accuracy_bits() >= bits or ball.is_zero()):
                return ball
            if 0 in ball and self.sign() == 0:
                return as_ball(Fraction(0))
            if precision > MAX_BITS:
                return ball
            precision *= 2

    def enclose(self, bits: int) -> tuple[Fraction, Fraction]:
        """Dyadic ends low <= value <= high with at least `bits` relative bits where MAX_BITS allow; equal if exact.

        Raises BadInput where the value is beyond 2^131072.
        """
        exact = self.exact()
        if exact is not None and exact.numerator.bit_length() + exact.denominator.bit_length() <= 8 * bits:
            return exact, exact
        low, high = ends(self.accurate_ball(bits), bits + 32)
        if low is None or high is None:
            raise BadInput("the value is too large to be written out (beyond 2^131072).")
        return low, high

    def float_ends(self, bits: int = 64) -> tuple[float, float]:
        """Floats around the value, from a ball of `bits` relative bits: the low one rounded down, the high one up."""
        ball = self.accurate_ball(bits)
        low, high = ends(ball, bits + 32)
        if low is not None and high is not None:
            return float_below(low), float_above(high)
        if ball.is_finite() and ball < 0:
            return -math.inf, next_up(-math.inf)
        return (next_down(math.inf), math.inf) if ball.is_finite() and ball > 0 else (-math.inf, math.inf)

    def is_algebraic(self) -> bool:
        """Whether no exp, log or pi is left in the value here (False where that is not settled)."""
        return self._separation(self.root) is not None

    def move(self, name: str, value: Fraction) -> None:
        """Change one value, keeping what does not depend on it."""
        if self._moving is None or self._moving[:2] != (name, len(self._builder.nodes)):
            found: set[int] = set()
            for i, node in enumerate(self._builder.nodes):
                if (node.op == "sym" and node.data == name) or any(a in found for a in node.args):
                    found.add(i)
            self._moving = (name, len(self._builder.nodes), frozenset(found))
        changed = self._moving[2]
        self.values[name] = value
        self.too_large = False
        for table in (*self._balls.values(), self._exact, self._bounds):
            for i in changed.intersection(table):
                del table[i]

    # -- balls -------------------------------------------------------------------------------------

    def _ball(self, i: int, precision: int) -> Any:
        node = self._builder.nodes[i]
        if node.op == "num":
            return as_ball(node.data)
        if node.op == "sym":
            return as_ball(self.values[node.data])
        if node.op == "pi":
            from flint import arb

            return arb.pi()
        if node.op == "root":
            p, q = node.data
            return self._root_ball(node.args[0], p, q, precision)
        if node.op == "pow":
            return self._power_ball(node.args[0], node.args[1], precision)
        args = [self.ball(precision, a) for a in node.args]
        if node.op == "add":
            total = args[0] if node.data[0] > 0 else -args[0]
            for arg, direction in zip(args[1:], node.data[1:], strict=True):
                total = total + arg if direction > 0 else total - arg
            return total
        if node.op == "mul":
            product = args[0]
            for arg in args[1:]:
                product = product * arg
            return product
        if node.op == "div":
            if 0 in args[1] and self.sign(node.args[1]) == 0:
                raise Undefined("a denominator is zero at these constants.")
            return args[0] / args[1]
        if node.op == "powi":
            return args[0] ** node.data
        if node.op == "log":
            self._refuse_nonpositive(args[0], node.args[0])
            return args[0].log()
        if node.op in ("floor", "ceiling"):
            whole = self.exact(i)
            return as_ball(whole) if whole is not None else args[0].floor() if node.op == "floor" else args[0].ceil()
        return _UNARY[node.op](args)

    def _refuse_nonpositive(self, ball: Any, i: int) -> None:
        if not ball > 0:
            direction = self.sign(i)
            if direction is not None and direction <= 0:
                raise Undefined("the logarithm of a number that is not positive is taken at these constants.")

    def _root_ball(self, base: int, p: int, q: int, precision: int) -> Any:
        ball = self.ball(precision, base)
        if not ball > 0:
            direction = self.sign(base)
            if direction == 0:
                return as_ball(Fraction(0))
            if direction == -1:
                raise Undefined("a root of a negative number is taken at these constants.")
            if direction == 1 and ball.is_finite():
                ball = ball.nonnegative_part()
        root = ball.sqrt() if q == 2 else ball.root(q)
        return root if p == 1 else root**p

    def _power_ball(self, base: int, exponent: int, precision: int) -> Any:
        power = self.exact(exponent)
        if power is None:
            ball = self.ball(precision, base)
            if not ball > 0:
                direction = self.sign(base)
                if direction == -1:
                    raise Undefined("a negative number is raised to an irrational power at these constants.")
                if direction == 0:
                    return as_ball(self._zero_power(self.sign(exponent)))
            return (ball.log() * self.ball(precision, exponent)).exp()
        if power == 0:
            return as_ball(Fraction(1))
        inverse, power = power < 0, abs(power)
        if power.denominator == 1:
            result = self.ball(precision, base) ** power.numerator
        elif power.denominator < 1 << 32:
            result = self._root_ball(base, power.numerator, power.denominator, precision)
        else:
            ball = self.ball(precision, base)
            self._refuse_nonpositive(ball, base)
            result = (ball.log() * as_ball(power)).exp()
        if inverse:
            if 0 in result and self.sign(base) == 0:
                raise Undefined("zero is raised to a negative power at these constants.")
            return 1 / result
        return result

    def _zero_power(self, direction: int | None) -> Fraction:
        if direction is None or direction < 0:
            raise Undefined("zero is raised to a power that is not known to be positive at these constants.")
        return Fraction(direction == 0)

    # -- exact values ------------------------------------------------------------------------------

    def _fraction(self, i: int) -> Fraction | None:
        node = self._builder.nodes[i]
        if node.op == "num":
            return node.data
        if node.op == "sym":
            return self.values[node.data]
        if node.op in ("min", "max", "abs"):
            chosen = self._chosen(i)
            value = None if chosen is None else self.exact(chosen[0])
            return None if chosen is None or value is None else chosen[1] * value
        if node.op in ("floor", "ceiling"):
            return self._whole(node.args[0], upwards=node.op == "ceiling")
        args = [self.exact(a) for a in node.args]
        if node.op == "mul" and any(a == 0 for a in args):
            self.ball(64, i)  # raises where another factor is undefined
            return Fraction(0)
        if node.op == "pow" and args[0] == 0 and args[1] is None:
            return self._zero_power(self.sign(node.args[1]))
        if any(a is None for a in args):
            return None
        known = [a for a in args if a is not None]
        if node.op == "mul":
            return math.prod(known, start=Fraction(1))
        if node.op == "add":
            return sum((a * d for a, d in zip(known, node.data, strict=True)), Fraction(0))
        if node.op == "div":
            if known[1] == 0:
                raise Undefined("a denominator is zero at these constants.")
            return known[0] / known[1]
        if node.op == "powi":
            return self._fraction_power(known[0], Fraction(node.data))
        if node.op == "root":
            return self._fraction_power(known[0], Fraction(*node.data))
        if node.op == "pow":
            return self._fraction_power(known[0], known[1])
        if node.op == "exp" and known[0] == 0:
            return Fraction(1)
        return Fraction(0) if node.op == "log" and known[0] == 1 else None

    def _fraction_power(self, base: Fraction, power: Fraction) -> Fraction | None:
        if base == 0 and power < 0:
            raise Undefined("zero is raised to a negative power at these constants.")
        if base < 0 and power.denominator != 1:
            raise Undefined("a root of a negative number is taken at these constants.")
        if power == 0 or base == 1:
            return Fraction(1)
        if base == 0:
            return base
        if base == -1:
            return Fraction(-1 if power.numerator % 2 else 1)
        root = exact_root(base, power.denominator)
        if root is None:
            return None
        if max(root.numerator.bit_length(), root.denominator.bit_length()) * abs(power.numerator) > _EXACT_BITS:
            self.too_large = True
            return None
        return root**power.numerator

    def _chosen(self, i: int) -> tuple[int, int] | None:
        """The argument that a minimum, maximum or absolute value takes here, with its sign; None if undecided."""
        node = self._builder.nodes[i]
        if node.op == "abs":
            direction = self.sign(node.args[0])
            return None if direction is None else (node.args[0], direction or 1)
        best = node.args[0]
        for other in node.args[1:]:
            direction = self.sign(self._builder.difference(best, other))
            if direction is None:
                return None
            if (direction > 0) == (node.op == "min") and direction != 0:
                best = other
        return best, 1

    def _whole(self, i: int, *, upwards: bool) -> Fraction | None:
        precision = 64
        while precision <= MAX_BITS:
            ball = self.ball(precision, i)
            if ball.is_finite():
                low = ball.floor().unique_fmpz()
                high = ball.ceil().unique_fmpz()
                if low is not None and high is not None:
                    return Fraction(int(high if upwards else low))
                near = Fraction(round(dyadic(ball.mid())))
                direction = self.sign(self._builder.difference(i, self._builder.number(near)))
                if direction is None:
                    return None
                if direction == 0:
                    return near
                # not an integer: more bits separate it, unless the midpoint was a different integer
            precision *= 2
        return None

    # -- separation --------------------------------------------------------------------------------

    def _zero_bits(self, i: int) -> tuple[int | None, int]:
        """(B, largest precision to try): the value is 0 or at least 2^-B in modulus; None: no such B is available."""
        found = self._separation(i)
        if found is None:
            return None, MAX_BITS
        u, v, roots = found
        degree = 1
        for _, q in roots:
            degree *= q
        needed = v + (degree - 1) * u
        if needed > MAX_ZERO_BITS:
            return None, MAX_BITS
        return needed, 4 * (needed + u) + MAX_BITS  # the ball is narrow enough well before

    def _separation(self, i: int) -> Separation | None:
        """(log2 u, log2 v, the distinct roots) of the module's docstring; None for a transcendental value."""
        if i not in self._bounds:
            self._bounds[i] = self._separate(i)
        return self._bounds[i]

    def _separate(self, i: int) -> Separation | None:
        value = self.exact(i)
        if value is not None:
            return max(abs(value.numerator) - 1, 0).bit_length(), (value.denominator - 1).bit_length(), frozenset()
        node = self._builder.nodes[i]
        if node.op in ("min", "max", "abs"):
            chosen = self._chosen(i)
            return None if chosen is None else self._separation(chosen[0])
        if node.op not in ("add", "mul", "div", "powi", "root", "pow"):
            return None
        if node.op == "pow":
            power = self.exact(node.args[1])
            base = self._separation(node.args[0])
            if power is None or base is None:
                return None
            u, v, roots = root_bound(base, i, power.denominator)
            k = abs(power.numerator)
            return (u * k, v * k, roots) if power > 0 else (v * k, u * k, roots)
        parts = [self._separation(a) for a in node.args]
        known = [p for p in parts if p is not None]
        if len(known) < len(parts):
            return None
        if node.op == "root":
            p, q = node.data
            u, v, roots = root_bound(known[0], i, q)
            return u * p, v * p, roots
        roots = frozenset[tuple[int, int]]().union(*(r for _, _, r in known))
        u, v, _ = known[0]
        if node.op == "powi":
            return u * node.data, v * node.data, roots
        for u2, v2, _ in known[1:]:
            if node.op == "add":
                u, v = max(u + v2, v + u2) + 1, v + v2
            elif node.op == "mul":
                u, v = u + u2, v + v2
            else:
                u, v = u + v2, v + u2
        return u, v, roots


_UNARY: dict[str, Callable[[list[Any]], Any]] = {
    "min": lambda args: reduce(lambda best, arg: best.min(arg), args),
    "max": lambda args: reduce(lambda best, arg: best.max(arg), args),
    "abs": lambda args: abs(args[0]),
    "exp": lambda args: args[0].exp(),
}


def sign(expr: Any, values: Mapping[str, Any]) -> int | None:
    """The sign of a SymPy expression at exact constants: -1, 0, 1, or None where it stays undecided.

    values: symbol name -> anything that `as_fraction` takes. Raises BadInput (a symbol without a value, a function
    without a rule) and Undefined (no real value here).
    """
    return Point(expr, values).sign()


def enclose(expr: Any, values: Mapping[str, Any], bits: int = 128) -> tuple[Fraction, Fraction]:
    """Rational low <= value <= high of a SymPy expression with `bits` relative bits; equal where it is known exactly.

    Raises BadInput for a missing symbol or a value beyond 2^131072, Undefined where there is no real value.
    """
    return Point(expr, values).enclose(bits)
