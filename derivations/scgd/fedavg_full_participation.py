"""FedAvg with all devices and full gradients obeys the lemma of SCGD in every round; this project's own proof.

In round r each of N devices makes E local steps, counted by m, from the common start x; the server takes the mean of
the N points. Positions are taken relative to ts, the minimiser nearest to x:

    u(r)        the start x minus ts           end(r)      the mean of the N points minus ts
    w(r, i, m)  device i after m local steps   g(r, i, m)  gradient that device i uses in step m
    gx(r, i)    its gradient at x              gs(r, i)    its gradient at ts
    slope(r)    gradient of F at x             gap(r)      F(x) minus its least value
    dist2(r)    squared distance to the solution set before round r

Where Lemma 3.1 sums over the n E visits of a cycle, the mean over devices is taken of the sum over local steps, and
every drift is counted from x. No device's loss needs to be convex. The rounds are then put together by induction.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, le, symbols
from boundcheck.proof.rules import PartialSum
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import finite_gradient_noise, smooth_clients, strong_quasi_convexity

READINGS = ("corrected",)

mu, L, E, eta, sigma2, dist2_0, R = symbols("mu L E eta sigma2 dist2_0 R")
N, s, c, b, floor, r, i, m = symbols("N s c b floor r i m")
dist2, gap = functions("dist2 gap")

u, end, slope, zero = vector("u", r), vector("end", r), vector("grad_F", r), Vector(())
w, g, gx, gs = vector("w", r, i, m), vector("g", r, i, m), vector("gx", r, i), vector("gs", r, i)
drift, error = w - u, vector_total(g - gx, m, E)  # the second: of the gradients of one device in a round
at_w, at_x, at_ts = (Evaluation("f_i", point, grad, which=i) for point, grad in ((w, g), (u, gx), (zero, gs)))


def both(term: Any) -> Any:
    """The sum over local steps and devices."""
    return total(total(term, m, E), i, N)


T1, T2, G, D = norm2(u - slope * s), both(norm2(g - gx)) / N, both(norm2(g)), both(norm2(drift))
bracket = (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2) + 4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2))
noise, final_noise = 2 * L**2 * s**3 / (mu * (1 - 2 * L**2 * s**2)), 4 * L**2 * s**3 / mu
contraction, half = 1 - mu * s / 3, sp.Rational(1, 2)


def derivation(statement: Any) -> Any:
    """The derivation; the step condition is the statement's."""
    p = Proof(statement, dist2(R), squares=(sigma2,))
    p.define(s, E * eta, "total step of a round")
    p.define(c, 1 - mu * s / 3, "factor of one round")
    p.define(b, 4 * L**2 * s**3 / mu * sigma2, "noise of one round")
    p.define(floor, b / (1 - c), "the geometric series b + c b + c^2 b + ...")
    p.count("clients", N >= 1, "number of devices")
    p.index(r, None, "rounds")
    p.index(i, N, "devices")
    p.index(m, E, "local steps")
    p.known("start", eq(dist2_0, dist2(0)), "no round has been run at the start")
    p.known("distance", norm2(u) <= dist2(r), "ts is a minimiser nearest to x")
    p.known("end", dist2(r + 1) <= norm2(end), "the distance to the solution set is at most that to ts")
    p.algorithm("common start", eq(w.at(m, 0), u), "every device starts from the server's point")
    p.algorithm("local step", eq(w.at(m, m + 1), w - g * eta), "full local gradients")
    p.algorithm("average", eq(end, vector_total(w.at(m, E), i, N) / N), "plain mean of all devices")
    p.algorithm("mean gradient", eq(vector_total(gx, i, N), slope * N), "F is the mean of the losses")
    p.known("minimiser", eq(vector_total(gs, i, N), zero), "ts is a minimiser, where the gradient of F vanishes")
    p.pointwise("A2.2 at w(m), x", smooth_clients, "smooth losses", at_w, at_x)
    p.pointwise("A2.2 at w(m), ts", smooth_clients, "smooth losses", at_w, at_ts)
    p.pointwise("A2.2 at x, ts", smooth_clients, "smooth losses", at_x, at_ts)
    p.pointwise("A2.1 at x", strong_quasi_convexity, "strong quasi-convexity", Evaluation("F", u, slope, gap(r)),
        Evaluation("F", zero, zero, sp.Integer(0)))
    p.known("minimum", gap(r) >= 0, "F is nowhere below its least value")
    p.pointwise("A2.3", finite_gradient_noise, "finite gradient noise", noise2=total(norm2(gs), i, N) / N)
    p.signs(s > 0, "s", why="the total step is positive")
    p.step("s <= C", le(s, p.condition().rhs), "s", why="the step condition in terms of s")
    p.step("requirement 1", 1 - mu * s / 2 >= half, "s <= C", "s > 0", why="from the step condition")
    p.step("requirement 2", 1 - 2 * L**2 * s**2 >= half, "s <= C", "s > 0", why="from the step condition")
    one_round(p)
    drifts(p)
    rounds(p)
    return p.done()


def one_round(p: Proof) -> None:
    """E1 to E4: the end of a round, by the errors of the gradients."""
    p.square_of_sum("gradient of F.1", gx - gs, over=(i, N),
        why="the mean of the devices' gradient differences")
    p.sum_over("gradient of F.2", total(norm2(gx - gs), i, N) <= N * L**2 * norm2(u), "A2.2 at x, ts", i, N,
        why="smoothness of every device")
    p.step("gradient of F", norm2(slope) <= L**2 * norm2(u), "gradient of F.1", "gradient of F.2", "mean gradient",
        "minimiser", why="F is L-smooth as well")
    p.telescope("E1.1", eq(w.at(m, E), w.at(m, 0) + vector_total(g * -eta, m, E)), "local step", m, E,
        why="each device adds up its local steps")
    p.step("E1.2", eq(w.at(m, E), u + vector_total(g * -eta, m, E)), "E1.1", "common start",
        why="from the common start")
    p.sum_over("E1.3", eq(vector_total(w.at(m, E), i, N), u * N + vector_total(vector_total(g * -eta, m, E), i, N)),
        "E1.2", i, N, why="summed over the devices")
    p.step("E1", eq(end, u - slope * s - vector_total(error, i, N) * eta / N), "average", "E1.3", "mean gradient", "s",
        why="the mean, with gradients at x added and subtracted")
    p.square_of_sum("E2", u - slope * s, vector_total(error, i, N) * (-eta / N), weights=(1 - mu * s / 2, mu * s / 2),
        claim=norm2(end) <= T1 / (1 - mu * s / 2) + 2 * eta**2 / (mu * s * N**2) * norm2(vector_total(error, i, N)),
        uses=("E1", "requirement 1", "s > 0"), why="convexity of the squared norm with t = mu s/2")
    p.square_of_sum("E3.1", error, over=(i, N),
        why="the squared sum over the devices")
    p.square_of_sum("E3.2", g - gx, over=(m, E),
        why="the squared sum over the local steps")
    p.sum_over("E3.3", total(norm2(error), i, N) <= E * N * T2, "E3.2", i, N, why="E3.2 for every device")
    p.step("E3", norm2(end) <= T1 / (1 - mu * s / 2) + 2 * eta / mu * T2, "s", "requirement 1",
        {"E2": 1, "E3.1": 2 * eta / (mu * E * N**2), "E3.3": 2 * eta / (mu * E * N)},
        why="the second term of E2 by E3.1 and E3.3")
    p.step("E4", T1 <= (1 - mu * s + L**2 * s**2) * norm2(u), "gradient of F", "A2.1 at x", "minimum", "s > 0",
        why="the square expanded; F(x) minus its least value is dropped")


def drifts(p: Proof) -> None:
    """E5 to E8: the errors of the gradients, by the drift of the devices."""
    p.telescope("E5.1", eq(w, w.at(m, 0) + vector_total(g * -eta, m, m)), "local step", m, m,
        why="the drift of a device after m steps")
    p.square_of_sum("E5.2", g * -eta, over=(m, m), claim=norm2(drift) <= m * eta**2 * total(norm2(g), m, m),
        uses=("E5.1", "common start"), why="the squared sum of m vectors, from the common start")
    p.rule("E5.3", PartialSum(norm2(g), m, m, E), why="the first m of E terms")
    p.step("E5.4", norm2(drift) <= m * eta**2 * total(norm2(g), m, E), {"E5.2": 1, "E5.3": m * eta**2},
        why="both together")
    p.sum_over("E5.5", total(norm2(drift), m, E) <= E * (E - 1) / 2 * eta**2 * total(norm2(g), m, E), "E5.4", m, E,
        why="0 + 1 + ... + (E-1) = E(E-1)/2")
    p.sum_over("E5.6", D <= E * (E - 1) / 2 * eta**2 * G, "E5.5", i, N, why="for every device")
    p.sum_over("E5.7", total(norm2(g - gx), m, E) <= L**2 * total(norm2(drift), m, E), "A2.2 at w(m), x", m, E,
        why="smoothness in every local step")
    p.sum_over("E5.8", T2 * N <= L**2 * D, "E5.7", i, N, why="for every device")
    p.step("E5", T2 <= L**2 * E**2 / 2 * eta**2 * G / N, {"E5.8": 1 / N, "E5.6": L**2 / N}, why="E(E-1) <= E^2")
    p.square_of_sum("E6.1", g - gs, gs, why="the gradient at ts subtracted and added")
    p.square_of_sum("E6.2", u, drift, why="x subtracted and added")
    p.step("E6", norm2(g) <= 4 * L**2 * norm2(u) + 4 * L**2 * norm2(drift) + 2 * norm2(gs),
        {"E6.1": 1, "A2.2 at w(m), ts": 2, "E6.2": 2 * L**2}, why="the gradient of one local step")
    p.sum_over("E7.1",
        total(norm2(g), m, E) <= 4 * L**2 * E * norm2(u) + 4 * L**2 * total(norm2(drift), m, E) + 2 * E * norm2(gs),
        "E6", m, E, why="E6 summed over the local steps")
    p.sum_over("E7.2", G <= 4 * L**2 * E * N * norm2(u) + 4 * L**2 * D + 2 * E * total(norm2(gs), i, N), "E7.1", i, N,
        why="and over the devices")
    p.step("E7", G <= 4 * L**2 * E * N * norm2(u) + 2 * L**2 * E**2 * eta**2 * G + 2 * E * N * sigma2,
        {"E7.2": 1, "E5.6": 4 * L**2, "A2.3": 2 * E * N}, why="the drift by E5.6, the noise by assumption")
    p.step("E8", T2 <= L**2 * E**3 * eta**2 * (2 * L**2 * norm2(u) + sigma2) / (1 - 2 * L**2 * s**2), "s",
        "requirement 2", {"E5": 1, "E7": L**2 * E**2 * eta**2 / (2 * N * (1 - 2 * L**2 * E**2 * eta**2))},
        why="E7 solved for the sum of squared gradients and put into E5")


def rounds(p: Proof) -> None:
    """E9 to E11: a contraction in every round, then induction."""
    p.step("E9", norm2(end) <= bracket * norm2(u) + noise * sigma2, "s", "requirement 1", "requirement 2",
        {"E3": 1, "E4": 1 / (1 - mu * E * eta / 2), "E8": 2 * eta / mu}, why="the two bounds combined")
    p.step("E11'", bracket <= contraction, "s <= C", "requirement 1", "requirement 2", "s > 0",
        why="the bracket is small enough for every s up to C")
    p.step("E11 noise", noise <= final_noise, "requirement 2", "s > 0", why="requirement 2 in the noise")
    p.signs(c >= 0, "c", "s <= C", "s > 0", why="the factor is not negative")
    p.signs(c < 1, "c", "s > 0", why="the factor contracts")
    p.step("round", norm2(end) <= contraction * norm2(u) + final_noise * sigma2, "E11'", "E11 noise", "requirement 1",
        "requirement 2", "s > 0", {"E9": 1}, why="factor and noise of a round")
    p.step("recursion", dist2(r + 1) <= c * dist2(r) + b, "round", "end", "distance", "c", "b", "c >= 0",
        why="the distance to the solution set is at most that to ts")
    p.signs(floor >= 0, "floor", "b", "c", "s > 0", why="the series has no negative term")
    p.induct("induction", lambda r: le(dist2(r), c**r * dist2_0 + floor), r, R, base=("start", "floor >= 0"),
        step=("recursion", "floor", "c >= 0", "c < 1"), why="for every number of rounds",
        words=("no round, no decrease", "one more round"))
    p.step("noise", eq(floor, 12 * L**2 * s**2 * sigma2 / mu**2), "floor", "b", "c", "s > 0",
        why="the series summed: the noise of one round over mu s/3")
    p.conclude(le(dist2(R), (1 - mu * s / 3)**R * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2), "induction", "noise",
        "c", why="factor and floor written out")
