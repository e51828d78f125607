"""Local gradient descent on smooth convex functions, as checked steps.

A vector stands for the family of one vector a client, and <u, v> for the mean over the clients of their inner product;
points are relative to a minimiser nearest to the start. Rounds r = 0, ..., R-1 have E local steps e each.

    x(r)    point at which the round starts, alike for all clients     y(r, e)  local point before step e
    g(r, e) gradient of the client there, g(r, 0) that at x(r)         A(r, e)  mean over the clients of g(r, e)
    star    gradients of the clients at the minimiser                  D(r, e)  g(r, e) - g(r, e + 1)
    fx(r), fy(r, e), fs  mean over the clients of f_i at x(r), at y(r, e), at the minimiser
    Y(r)    sum over e of the squared distance of y(r, e) from x(r)    gap(r)   fx(r) - fs
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Accumulation, CauchySchwarz, Induction, SumOver, Supposing, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import convex_clients, finite_gradient_noise, smooth_clients

READINGS = ("sharp",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


def _values(names: str, *at: Any) -> Any:
    return tuple(sp.Function(name, real=True)(*at) for name in names.split())


L, E, eta, sigma2, dist2_0, R, r, e, h, mean, fs = _symbols("L E eta sigma2 dist2_0 R r e h mean fs")
fx, low, beside = _values("fx low beside", r)
fy, one, other = _values("fy one other", r, e)
x, then, star = vector("x", r), vector("x", r + 1), vector("star")
y, g, A = vector("y", r, e), vector("g", r, e), vector("A", r, e)
next_y, next_g, next_fy = y.at(e, e + 1), g.at(e, e + 1), fy.subs(e, e + 1)
first, slope = g.at(e, 0), A.at(e, 0)
origin = Vector(())

gap = fx - fs
drift = (E - 1) * (2 * E - 1) / 6
Y = total(norm2(y - x), e, E)
D = g - next_g

at_y, at_next = Evaluation("f_i", y, g, fy), Evaluation("f_i", next_y, next_g, next_fy)
at_x, at_star = Evaluation("f_i", x, first, fx), Evaluation("f_i", origin, star, fs)
past_next, past_y = Evaluation("f_i", next_y + D / L, value=one), Evaluation("f_i", y - D / L, value=other)
past_x = Evaluation("f_i", x - (first - star) / L, value=beside)
SMOOTH, CONVEX = "every f_i is L-smooth", "every f_i is convex"

FACTS = (
    Fact("index r", sp.And(r >= 0, r <= R - 1), "index", "rounds"),
    Fact("index e", sp.And(e >= 0, e <= E - 1), "index", "local steps"),
    Fact("h", sp.Eq(h, E * eta), "definition", "step of a round"),
    Fact("start", sp.Eq(dist2_0, norm2(x.at(r, 0))), "metric", "positions are relative to a nearest minimiser"),
    Fact("mean", sp.Eq(mean, total(gap, r, R) / R), "metric", "over the points at which rounds begin"),
    Fact("gap >= 0", gap >= 0, "metric", "a gap"),
    Fact("minimum", low - fs >= 0, "metric", "a gap"),
    Fact("common start", VectorEquality(y.at(e, 0), x), "algorithm", "every client starts from the server's point"),
    Fact("local step", VectorEquality(next_y, y - g * eta), "algorithm", "gradient descent on f_i"),
    Fact("round", VectorEquality(then, x - vector_total(A, e, E) * eta), "algorithm", "the mean of the local points"),
    Fact(
        "alike",
        sp.Ge(inner(vector_total(A, e, E), x), total(inner(g, x), e, E)),
        "algorithm",
        "x is alike for all clients, and A the mean of g",
    ),
    Fact(
        "projection",
        sp.Ge(inner(g - first - A + slope, A - slope), 0),
        "algorithm",
        "A - A(r, 0) is the mean over the clients of g - g(r, 0)",
    ),
    Fact("optimal", sp.Ge(inner(star, x), 0), "metric", "the mean of the gradients at the minimiser is 0"),
    upper_model("smooth, back", smooth_clients, SMOOTH, at_y, at_x),
    lower_model("convex, star", convex_clients, CONVEX, at_y, at_star),
    lower_model("convex, 1", convex_clients, CONVEX, at_y, past_next),
    upper_model("smooth, 1", smooth_clients, SMOOTH, at_next, past_next),
    lower_model("convex, 2", convex_clients, CONVEX, at_next, past_y),
    upper_model("smooth, 2", smooth_clients, SMOOTH, at_y, past_y),
    lower_model("convex, 3", convex_clients, CONVEX, at_star, past_x),
    upper_model("smooth, 3", smooth_clients, SMOOTH, at_x, past_x),
    pointwise("smooth, 4", smooth_clients, SMOOTH, at_y, at_x),
    upper_model(
        "smooth, F",
        smooth_clients,
        "F is L-smooth",
        Evaluation("F", x, slope, fx),
        Evaluation("F", x - slope / L, value=low),
    ),
    pointwise("noise", finite_gradient_noise, "at the minimiser", noise2=norm2(star)),
)
CONDITION = "condition step size"
PAIR = {"convex, 1": 1, "smooth, 1": 1, "convex, 2": 1, "smooth, 2": 1}


def bounded(step: Any) -> Any:
    """Gradients do not grow along the local steps, as a claim."""
    return sp.Le(norm2(g.at(e, step)), norm2(first), evaluate=False)


LOCAL = (
    Step("eta L", eta * L <= 1, (CONDITION,), Decide(), "E >= 1"),
    Step(
        "cocoercive",
        sp.Ge(inner(D, y - next_y), norm2(D) / L),
        tuple(PAIR),
        Combine(PAIR),
        "the smaller values cancel",
    ),
    Step(
        "gradients fall",
        sp.Le(norm2(next_g), norm2(g)),
        ("cocoercive", "local step", "eta L"),
        Combine({"cocoercive": 2 / eta}),
        "a step of gradient descent",
    ),
    Step("base case", bounded(sp.Integer(0)), (), Combine(), "the same gradient"),
    Step(
        "step case",
        sp.Implies(bounded(e), bounded(e + 1)),
        ("gradients fall",),
        Supposing(Combine({"hypothesis": 1, "gradients fall": 1})),
        "one more step",
    ),
    Step("gradients", bounded(e), ("base case", "step case"), Induction("base case", "step case", e, e), "all"),
    Step(
        "path",
        VectorEquality(y, y.at(e, 0) + vector_total(g * -eta, e, e)),
        ("local step",),
        Telescoping("local step", e, e),
        "the local point is the sum of its steps",
    ),
    Step(
        "squares",
        sp.Le(norm2(vector_total(g, e, e)), e * total(norm2(g), e, e)),
        (),
        CauchySchwarz(g, e, e),
        "e steps",
    ),
    Step(
        "each",
        sp.Ge(e * norm2(first) - total(norm2(g), e, e), 0),
        ("gradients",),
        SumOver("gradients", e, e),
        "none is larger than the first",
    ),
    Step(
        "away",
        sp.Le(norm2(y - x), eta**2 * e**2 * norm2(first)),
        ("path", "common start", "squares", "each"),
        Combine({"squares": eta**2, "each": eta**2 * e}),
        "distance from the start",
    ),
    Step(
        "drift",
        sp.Ge(eta**2 * E * drift * norm2(first) - Y, 0),
        ("away",),
        SumOver("away", e, E),
        "sum of the squares of e",
    ),
    Step(
        "first gradient",
        sp.Le(norm2(first - star), 2 * L * (gap - inner(star, x))),
        ("convex, 3", "smooth, 3"),
        Combine({"convex, 3": 2 * L, "smooth, 3": 2 * L}),
        "at the start of the round",
    ),
    Step(
        "heterogeneity",
        sp.Le(norm2(first), 4 * L * gap + 2 * sigma2),
        ("first gradient", "noise", "optimal"),
        Combine({"first gradient": 2, "noise": 2, "optimal": 4 * L}),
        "the clients' gradients by those at the minimiser",
    ),
)

ROUND = (
    Step(
        "progress",
        sp.Ge(inner(g, x), gap - L / 2 * norm2(y - x)),
        ("smooth, back", "convex, star"),
        Combine({"smooth, back": 1, "convex, star": 1}),
        "convexity and smoothness around the local point",
    ),
    Step(
        "all progress",
        sp.Ge(total(inner(g, x) - gap + L / 2 * norm2(y - x), e, E), 0),
        ("progress",),
        SumOver("progress", e, E),
        "in all steps",
    ),
    Step(
        "slope",
        sp.Le(norm2(slope), 2 * L * gap),
        ("smooth, F", "minimum"),
        Combine({"smooth, F": 2 * L, "minimum": 2 * L}),
        "the gap at x - grad F(x)/L is not negative",
    ),
    Step(
        "steps",
        sp.Le(norm2(A), 2 * L**2 * norm2(y - x) + 4 * L * gap),
        ("projection", "smooth, 4", "slope"),
        Combine({"projection": 4, "smooth, 4": 2, "slope": 2}),
        "a mean is no longer than what it is the mean of",
    ),
    Step(
        "all steps",
        sp.Ge(total(2 * L**2 * norm2(y - x) + 4 * L * gap - norm2(A), e, E), 0),
        ("steps",),
        SumOver("steps", e, E),
        "summed",
    ),
    Step(
        "movement",
        sp.Le(norm2(vector_total(A, e, E)), E * total(norm2(A), e, E)),
        (),
        CauchySchwarz(A, e, E),
        "of the server's point",
    ),
    Step(
        "display",
        sp.Le(norm2(then), norm2(x) - 2 * h * gap + h * L / E * Y + h**2 * (2 * L**2 / E * Y + 4 * L * gap)),
        ("round", "h", "alike", "all progress", "movement", "all steps"),
        Combine({"alike": 2 * eta, "all progress": 2 * eta, "movement": eta**2, "all steps": eta**2 * E}),
        "the square expanded",
    ),
)
loss = 2 - 4 * h * L - 4 * (1 + 2 * h * L) * L**2 * eta**2 * drift
noise = 2 * (1 + 2 * h * L) * L * eta**2 * drift * sigma2
ENDING = (
    Step(
        "recursion",
        sp.Le(norm2(then), norm2(x) - h * loss * gap + h * noise),
        ("display", "drift", "heterogeneity", "h"),
        Combine(
            {
                "display": 1,
                "drift": eta * L * (1 + 2 * E * eta * L),
                "heterogeneity": E * eta * L * (1 + 2 * E * eta * L) * eta**2 * drift,
            }
        ),
        "the drift put in",
    ),
    Step("h > 0", h > 0, ("h",), Decide(), "a product"),
    Step("loss > 0", loss > 0, ("h", CONDITION), Decide(), "the step condition"),
    Step(
        "sum",
        sp.Le(norm2(x.at(r, R)), norm2(x.at(r, 0)) + total(-h * loss * gap + h * noise, r, R)),
        ("recursion",),
        Accumulation("recursion", norm2(x), r, R),
        "all rounds",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    conclusion = Step(
        "conclusion",
        sp.Le(mean, statement.bound),
        ("sum", "mean", "start", "h", "h > 0", "loss > 0", CONDITION),
        Combine({"sum": 1 / (E * eta * loss.subs(h, E * eta) * R)}),
        "divided by the number of rounds",
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*LOCAL, *ROUND, *ENDING, conclusion),
        conclusion="conclusion",
        target=mean,
        quantities=frozenset({"sigma2", "dist2_0"}),
    )
