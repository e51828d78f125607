"""Gradient descent on a smooth convex function: a potential does not grow, as checked steps.

x(r)  point after r steps, relative to a minimiser nearest to the start    s(r)  gradient there    gap(r)  gap there

    as printed  2 eta r gap(r) + |x(r)|^2
    sharp       2 eta r gap(r) + |x(r)|^2 + eta r (eta r + 1/L) |s(r)|^2

The sharp one falls by a multiple of one square, with multipliers that are polynomials in r; at the end it is at least
(4 eta k + 2/L) gap(k). Each inequality between two points is that of the values at a third, a gradient step away.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import Induction, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import convexity, smooth_clients

READINGS = ("as_printed", "sharp")

L, eta, dist2_0, k, r = sp.symbols("L eta dist2_0 k r", real=True)
gap: Any = sp.Function("gap", real=True)
s, x, then = vector("s", r), vector("x", r), vector("x", r + 1)
at_x = Evaluation("F", x, s, gap(r))

FACTS = (
    Fact("index r", r >= 0, "index", "steps"),
    Fact("start", sp.Eq(dist2_0, norm2(x.at(r, 0))), "metric", "positions are relative to a nearest minimiser"),
    Fact("gap >= 0", gap(r) >= 0, "metric", "a gap"),
    Fact("step", VectorEquality(then, x - s * eta), "algorithm", "gradient descent"),
    upper_model("smooth", smooth_clients, "F is L-smooth", at_x, Evaluation("F", then, value=gap(r + 1))),
    lower_model("convex", convexity, "to the minimiser", at_x, Evaluation("F", Vector(()), value=sp.Integer(0))),
)
CONDITION = "condition step size"


def after(steps: Any) -> Any:
    """What is left of the potential after so many steps, as a claim."""
    return sp.Le(2 * eta * steps * gap(steps) + norm2(x.at(r, steps)), dist2_0, evaluate=False)


# the sharp reading: values at points a gradient step away
at_next = Evaluation("F", then, s.at(r, r + 1), gap(r + 1))
at_minimum = Evaluation("F", Vector(()), Vector(()), sp.Integer(0))
change = (s - s.at(r, r + 1)) / L
at_end = Evaluation("F", x.at(r, k), s.at(r, k), gap(k))
PAIRS = (
    ("back", at_x, at_next, x - change),
    ("on", at_next, at_x, then + change),
    ("minimum", at_minimum, at_x, s / L),
    ("end", at_minimum, at_end, s.at(r, k) / L),
)


def _between(name: str, a: Evaluation, b: Evaluation, point: Vector) -> tuple[Fact, ...]:
    """From b to the point, and from a to the point: f(a) >= f(b) + <f'(b), a - b> + |f'(a) - f'(b)|^2/(2L)."""
    third = Evaluation("F", point, value=sp.Function(f"low_{name}", real=True)(k if name == "end" else r))
    return (
        lower_model(f"convex, {name}", convexity, "F is convex", b, third),
        upper_model(f"smooth, {name}", smooth_clients, "F is L-smooth", a, third),
    )


BETWEEN = tuple(fact for pair in PAIRS for fact in _between(*pair))
own = eta * r + 1 / L


def potential(steps: Any) -> Any:
    """The sharp potential after so many steps, as a claim."""
    gradient = norm2(s.at(r, steps))
    left = 2 * eta * steps * gap(steps) + norm2(x.at(r, steps)) + eta * steps * (eta * steps + 1 / L) * gradient
    return sp.Le(left, dist2_0, evaluate=False)


def sharp(statement: Any) -> Derivation:
    """The exact worst case."""
    step, last, low = s.at(r, r + 1), own.subs(r, k), 2 * (r + 1) * own
    squares = (norm2(s), norm2(step), norm2(s - step))
    steps = (
        Step(
            "back",
            sp.Ge(gap(r) - gap(r + 1), eta * inner(s, step) + squares[2] / (2 * L)),
            ("convex, back", "smooth, back", "step"),
            Combine({"convex, back": 1, "smooth, back": 1}),
            "from the next point to this one",
        ),
        Step(
            "on",
            sp.Ge(gap(r + 1) - gap(r), -eta * squares[0] + squares[2] / (2 * L)),
            ("convex, on", "smooth, on", "step"),
            Combine({"convex, on": 1, "smooth, on": 1}),
            "and from this one to the next",
        ),
        Step(
            "minimum",
            sp.Le(gap(r), inner(s, x) - squares[0] / (2 * L)),
            ("convex, minimum", "smooth, minimum"),
            Combine({"convex, minimum": 1, "smooth, minimum": 1}),
            "and from the minimiser",
        ),
        Step(
            "at the end",
            sp.Le(gap(k), inner(s.at(r, k), x.at(r, k)) - norm2(s.at(r, k)) / (2 * L)),
            ("convex, end", "smooth, end"),
            Combine({"convex, end": 1, "smooth, end": 1}),
            "there too",
        ),
        Step("base case", potential(sp.Integer(0)), ("start",), Combine(), "no step"),
        Step(
            "step case",
            sp.Implies(potential(r), potential(r + 1)),
            ("back", "on", "minimum", "step", CONDITION),
            Supposing(Combine({"hypothesis": 1, "back": low + 2 * eta * (r + 1), "on": low, "minimum": 2 * eta})),
            "what is left is a square",
        ),
        Step(
            "induction",
            potential(k),
            ("base case", "step case"),
            Induction("base case", "step case", r, k),
            "every number of steps",
        ),
        Step(
            "conclusion",
            sp.Le(gap(k), statement.bound, evaluate=False),
            ("induction", "at the end"),
            Combine({"induction": 1 / (4 * eta * k + 2 / L), "at the end": 2 * last / (4 * eta * k + 2 / L)}),
            "|x - (eta k + 1/L) s|^2 is dropped",
        ),
    )
    facts = (*scope_facts(statement), *FACTS[:4], *BETWEEN)
    return Derivation(statement, facts, steps, conclusion="conclusion", target=gap(k))


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    if statement.reading == "sharp":
        return sharp(statement)
    steps = (
        Step(
            "descent",
            sp.Le(gap(r + 1), gap(r) - eta / 2 * norm2(s)),
            ("smooth", "step", CONDITION),
            Combine({"smooth": 1}),
            "eta L <= 1",
        ),
        Step("base case", after(sp.Integer(0)), ("start",), Combine(), "no step"),
        Step(
            "step case",
            sp.Implies(after(r), after(r + 1)),
            ("descent", "convex", "step", CONDITION),
            Supposing(Combine({"hypothesis": 1, "descent": 2 * eta * (r + 1), "convex": 2 * eta})),
            "the gap does not grow, and the distance falls by 2 eta times the next one",
        ),
        Step(
            "induction",
            after(k),
            ("base case", "step case"),
            Induction("base case", "step case", r, k),
            "every number of steps",
        ),
        Step(
            "conclusion",
            sp.Le(gap(k), statement.bound, evaluate=False),
            ("induction", CONDITION),
            Combine({"induction": 1 / (2 * eta * k)}),
            "the distance is dropped",
        ),
    )
    return Derivation(statement, (*scope_facts(statement), *FACTS), steps, conclusion="conclusion", target=gap(k))
