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

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, le, symbols
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import convexity, smooth_clients

READINGS = ("as_printed", "sharp")

L, eta, dist2_0, k, r = symbols("L eta dist2_0 k r")
gap, origin = functions("gap"), Vector(())
s, x, next_s, next_x, last_s, last_x = (vector(name, at) for at in (r, r + 1, k) for name in ("s", "x"))
at_x, at_next = Evaluation("F", x, s, gap(r)), Evaluation("F", next_x, next_s, gap(r + 1))
at_end, at_minimum = Evaluation("F", last_x, last_s, gap(k)), Evaluation("F", origin, origin, sp.Integer(0))


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, gap(k))
    p.index(r, None, "steps")
    p.known("start", eq(dist2_0, norm2(x.at(r, 0))), "positions are relative to a nearest minimiser")
    p.known("gap >= 0", gap(r) >= 0, "a gap")
    p.algorithm("step", eq(next_x, x - s * eta), "gradient descent")
    sharp(p) if p.reading == "sharp" else printed(p)
    return p.done()


def printed(p: Proof) -> None:
    """The gap does not grow, and the distance falls by a multiple of it."""
    p.upper_model("smooth", smooth_clients, "F is L-smooth", at_x, Evaluation("F", next_x, value=gap(r + 1)))
    p.lower_model("convex", convexity, "to the minimiser", at_x, Evaluation("F", origin, value=sp.Integer(0)))
    p.step("descent", gap(r + 1) <= gap(r) - eta / 2 * norm2(s), {"smooth": 1}, "step", why="eta L <= 1")

    def potential(steps: Any) -> Any:
        return le(2 * eta * steps * gap(steps) + norm2(x.at(r, steps)), dist2_0)

    p.induct("induction", potential, r, k, base="start",
        step=({"hypothesis": 1, "descent": 2 * eta * (r + 1), "convex": 2 * eta}, "step", "condition step size"),
        words=("no step", "the gap does not grow, and the distance falls by 2 eta times the next one"),
        why="every number of steps")
    p.conclude(le(gap(k), p.bound), {"induction": 1 / (2 * eta * k)}, why="the distance is dropped")


def sharp(p: Proof) -> None:
    """The exact worst case."""
    change, difference = (s - next_s) / L, norm2(s - next_s)
    between(p, "back", at_x, at_next, x - change)
    between(p, "on", at_next, at_x, next_x + change)
    between(p, "minimum", at_minimum, at_x, s / L)
    between(p, "end", at_minimum, at_end, last_s / L, k)
    p.step("back", gap(r) - gap(r + 1) >= eta * inner(s, next_s) + difference / (2 * L),
        {"convex, back": 1, "smooth, back": 1}, "step", why="from the next point to this one")
    p.step("on", gap(r + 1) - gap(r) >= -eta * norm2(s) + difference / (2 * L), {"convex, on": 1, "smooth, on": 1},
        "step", why="and from this one to the next")
    p.step("minimum", gap(r) <= inner(s, x) - norm2(s) / (2 * L), {"convex, minimum": 1, "smooth, minimum": 1},
        why="and from the minimiser")
    p.step("at the end", gap(k) <= inner(last_s, last_x) - norm2(last_s) / (2 * L),
        {"convex, end": 1, "smooth, end": 1}, why="there too")

    def potential(steps: Any) -> Any:
        gradient = eta * steps * (eta * steps + 1 / L) * norm2(s.at(r, steps))
        return le(2 * eta * steps * gap(steps) + norm2(x.at(r, steps)) + gradient, dist2_0)

    low = 2 * (r + 1) * (eta * r + 1 / L)
    p.induct("induction", potential, r, k, base="start",
        step=({"hypothesis": 1, "back": low + 2 * eta * (r + 1), "on": low, "minimum": 2 * eta}, "step",
            "condition step size"),
        words=("no step", "what is left is a square"), why="every number of steps")
    p.conclude(le(gap(k), p.bound), {"induction": 1 / (4 * eta * k + 2 / L),
        "at the end": 2 * (eta * k + 1 / L) / (4 * eta * k + 2 / L)},
        why="|x - (eta k + 1/L) s|^2 is dropped")


def between(p: Proof, name: str, a: Evaluation, b: Evaluation, point: Vector, at: Any = r) -> None:
    """From b to the point, and from a to the point: f(a) >= f(b) + <f'(b), a - b> + |f'(a) - f'(b)|^2/(2L)."""
    third = Evaluation("F", point, value=functions(f"low_{name}")(at))
    p.lower_model(f"convex, {name}", convexity, "F is convex", b, third)
    p.upper_model(f"smooth, {name}", smooth_clients, "F is L-smooth", a, third)
