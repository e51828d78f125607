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

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, le, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import convex_clients, finite_gradient_noise, smooth_clients

READINGS = ("sharp",)

L, E, eta, sigma2, dist2_0, R, r, e, h, mean, fs = symbols("L E eta sigma2 dist2_0 R r e h mean fs")
fx, low, beside = (f(r) for f in functions("fx low beside"))
fy, one, other = (f(r, e) for f in functions("fy one other"))
x, then, star, origin = vector("x", r), vector("x", r + 1), vector("star"), Vector(())
y, g, A = vector("y", r, e), vector("g", r, e), vector("A", r, e)
next_y, next_g, next_fy = y.at(e, e + 1), g.at(e, e + 1), fy.subs(e, e + 1)
first, slope, D = g.at(e, 0), A.at(e, 0), g - next_g
gap, Y, drift = fx - fs, total(norm2(y - x), e, E), (E - 1) * (2 * E - 1) / 6


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, mean, squares=(sigma2, dist2_0))
    p.index(r, R, "rounds")
    p.index(e, E, "local steps")
    p.define(h, E * eta, "step of a round")
    p.known("start", eq(dist2_0, norm2(x.at(r, 0))), "positions are relative to a nearest minimiser")
    p.known("mean", eq(mean, total(gap, r, R) / R), "over the points at which rounds begin")
    p.known("gap >= 0", gap >= 0, "a gap")
    p.known("minimum", low - fs >= 0, "a gap")
    p.algorithm("common start", eq(y.at(e, 0), x), "every client starts from the server's point")
    p.algorithm("local step", eq(next_y, y - g * eta), "gradient descent on f_i")
    p.algorithm("round", eq(then, x - vector_total(A, e, E) * eta), "the mean of the local points")
    p.algorithm("alike", inner(vector_total(A, e, E), x) >= total(inner(g, x), e, E),
        "x is alike for all clients, and A the mean of g")
    p.algorithm("projection", inner(g - first - A + slope, A - slope) >= 0,
        "A - A(r, 0) is the mean over the clients of g - g(r, 0)")
    p.known("optimal", inner(star, x) >= 0, "the mean of the gradients at the minimiser is 0")
    models(p)
    local_steps(p)
    one_round(p)
    rounds(p)
    return p.done()


def models(p: Proof) -> None:
    """The clients' objectives between pairs of points, and at points a gradient step away."""
    at_y, at_next = Evaluation("f_i", y, g, fy), Evaluation("f_i", next_y, next_g, next_fy)
    at_x, at_star = Evaluation("f_i", x, first, fx), Evaluation("f_i", origin, star, fs)
    past_next, past_y = Evaluation("f_i", next_y + D / L, value=one), Evaluation("f_i", y - D / L, value=other)
    past_x = Evaluation("f_i", x - (first - star) / L, value=beside)
    smooth, convex = "every f_i is L-smooth", "every f_i is convex"
    p.upper_model("smooth, back", smooth_clients, smooth, at_y, at_x)
    p.lower_model("convex, star", convex_clients, convex, at_y, at_star)
    p.lower_model("convex, 1", convex_clients, convex, at_y, past_next)
    p.upper_model("smooth, 1", smooth_clients, smooth, at_next, past_next)
    p.lower_model("convex, 2", convex_clients, convex, at_next, past_y)
    p.upper_model("smooth, 2", smooth_clients, smooth, at_y, past_y)
    p.lower_model("convex, 3", convex_clients, convex, at_star, past_x)
    p.upper_model("smooth, 3", smooth_clients, smooth, at_x, past_x)
    p.pointwise("smooth, 4", smooth_clients, smooth, at_y, at_x)
    p.upper_model("smooth, F", smooth_clients, "F is L-smooth", Evaluation("F", x, slope, fx),
        Evaluation("F", x - slope / L, value=low))
    p.pointwise("noise", finite_gradient_noise, "at the minimiser", noise2=norm2(star))


def local_steps(p: Proof) -> None:
    """The drift of a client, by its first gradient, and that one by the gap."""
    p.step("eta L", eta * L <= 1, "condition step size", why="E >= 1")
    p.step("cocoercive", inner(D, y - next_y) >= norm2(D) / L,
        {"convex, 1": 1, "smooth, 1": 1, "convex, 2": 1, "smooth, 2": 1}, why="the smaller values cancel")
    p.step("gradients fall", norm2(next_g) <= norm2(g), {"cocoercive": 2 / eta}, "local step", "eta L",
        why="a step of gradient descent")
    p.induct("gradients", lambda e: le(norm2(vector("g", r, e)), norm2(first)), e, e,
        step={"hypothesis": 1, "gradients fall": 1}, words=("the same gradient", "one more step"), why="all")
    p.telescope("path", None, "local step", e, e, why="the local point is the sum of its steps")
    p.square_of_sum("squares", g, over=(e, e), why="e steps")
    p.sum_over("each", e * norm2(first) - total(norm2(g), e, e) >= 0, "gradients", e, e,
        why="none is larger than the first")
    p.step("away", norm2(y - x) <= eta**2 * e**2 * norm2(first), {"squares": eta**2, "each": eta**2 * e}, "path",
        "common start", why="distance from the start")
    p.sum_over("drift", eta**2 * E * drift * norm2(first) - Y >= 0, "away", e, E, why="sum of the squares of e")
    p.step("first gradient", norm2(first - star) <= 2 * L * (gap - inner(star, x)),
        {"convex, 3": 2 * L, "smooth, 3": 2 * L}, why="at the start of the round")
    p.step("heterogeneity", norm2(first) <= 4 * L * gap + 2 * sigma2,
        {"first gradient": 2, "noise": 2, "optimal": 4 * L}, why="the clients' gradients by those at the minimiser")


def one_round(p: Proof) -> None:
    """The squared distance after a round, with the drift in it."""
    p.step("progress", inner(g, x) >= gap - L / 2 * norm2(y - x), {"smooth, back": 1, "convex, star": 1},
        why="convexity and smoothness around the local point")
    p.sum_over("all progress", total(inner(g, x) - gap + L / 2 * norm2(y - x), e, E) >= 0, "progress", e, E,
        why="in all steps")
    p.step("slope", norm2(slope) <= 2 * L * gap, {"smooth, F": 2 * L, "minimum": 2 * L},
        why="the gap at x - grad F(x)/L is not negative")
    p.step("steps", norm2(A) <= 2 * L**2 * norm2(y - x) + 4 * L * gap, {"projection": 4, "smooth, 4": 2, "slope": 2},
        why="a mean is no longer than what it is the mean of")
    p.sum_over("all steps", total(2 * L**2 * norm2(y - x) + 4 * L * gap - norm2(A), e, E) >= 0, "steps", e, E,
        why="summed")
    p.square_of_sum("movement", A, over=(e, E), why="of the server's point")
    p.step("display", norm2(then) <= norm2(x) - 2 * h * gap + h * L / E * Y + h**2 * (2 * L**2 / E * Y + 4 * L * gap),
        {"alike": 2 * eta, "all progress": 2 * eta, "movement": eta**2, "all steps": eta**2 * E}, "round", "h",
        why="the square expanded")


def rounds(p: Proof) -> None:
    """The drift put in, and all rounds added up."""
    def loss(step: Any) -> Any:
        return 2 - 4 * step * L - 4 * (1 + 2 * step * L) * L**2 * eta**2 * drift

    noise, share = 2 * (1 + 2 * h * L) * L * eta**2 * drift * sigma2, eta * L * (1 + 2 * E * eta * L)
    p.step("recursion", norm2(then) <= norm2(x) - h * loss(h) * gap + h * noise,
        {"display": 1, "drift": share, "heterogeneity": E * share * eta**2 * drift}, "h", why="the drift put in")
    p.signs(h > 0, "h", why="a product")
    p.step("loss > 0", loss(h) > 0, "h", "condition step size", why="the step condition")
    p.add_up("sum", None, "recursion", norm2(x), r, R, why="all rounds")
    p.conclude(mean <= p.bound, {"sum": 1 / (E * eta * loss(E * eta) * R)}, "mean", "start", "h", "h > 0", "loss > 0",
        "condition step size", why="divided by the number of rounds")
