"""The proof of Lemma D.1 (Horvath et al., FedShuffle, Appendix D) as checked steps.

One epoch of client i makes N = |D_i| local steps, counted by k = 0, ..., N-1; k-th is the sample of a random order.
Vectors are random, inner products stand for their expectations given what came before the epoch.

    y(k)   position after k local steps minus y_{i,e}, so y(0) = 0
    g(k)   gradient of the k-th sample's loss at that position
    gy(k)  the same at y(0)                                   gx(k)  the same at the start x of the round
    ay(j)  gradient of the loss of sample j at y(0)           ax(j)  the same at x
    fy, fx gradient of f_i at y(0) and x                      m      momentum
    z(k)   direction (13) with both gradients of the k-th sample, taken at y(0)       d    its mean, (25)
    mean   average gradient of the epoch, (24)
    W      sum over the samples of the squared distances of these directions to d
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.laws import Order
from boundcheck.proof.methods import EverySample
from boundcheck.proof.proof import Proof, eq, ge, symbols
from boundcheck.proof.rules import PartialSum
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import local_variance, smooth_samples

READINGS = ("corrected", "as_printed")

d2, sigma2_i, N, eta_l, L, a, k, j, v, W, S, error2 = symbols("d2 sigma2_i D_i eta_l L a k j v W S error2")
y, g, gy, gx = (vector(name, k) for name in ("y", "g", "gy", "gx"))
ay, ax = vector("ay", j), vector("ax", j)
fy, fx, m, d, mean, x, zero = *(vector(name) for name in ("fy", "fx", "m", "d", "mean", "x")), Vector(())
error, z, az = g - gy, gy + (m - gx) * (1 - a), ay + (m - ax) * (1 - a)
part, draws = vector_total(error, k, k), vector_total(z, k, k)
third, step = sp.Rational(1, 3), eta_l / N

order = Order("order", "epoch_error2", ((gy, ay), (gx, ax)), (ay, ax, m, x), N)
claimed = 2 * eta_l**2 * sigma2_i + eta_l**2 * N * d2  # the bound on S


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma D.1."""
    # the samples are drawn one after the other, all of them
    p = Proof(statement, error2, squares=(S, d2, sigma2_i), drawn=((y, k), (g, k + 1)), laws=(order,))
    p.index(k, N, "local steps of the epoch")
    p.index(j, N, "samples of the client")
    p.define(fy, vector_total(ay, j, N) / N, "f_i is the mean of its samples' losses")
    p.define(fx, vector_total(ax, j, N) / N, "likewise")
    p.define(d, fy * a + m * (1 - a) + (fy - fx) * (1 - a), "(25)", name="direction")
    p.define(S, total(norm2(y), k, N), "sum of the squared distances from y(0)")
    p.define(W, total(norm2(az - d), j, N), "spread of the directions")
    p.define(v, W / (N * sp.Max(1, N - 1)), "minus the covariance of two different draws")
    p.algorithm("start", eq(y.at(k, 0), zero), "positions are relative to y_{i,e}")
    p.algorithm("local step", eq(y.at(k, k + 1), y - (g + (m - gx) * (1 - a)) * step), "(12)")
    p.known("d2", eq(d2, norm2(d)), "Lemma D.1")
    p.define(mean, vector_total(g, k, N) / N, "(24)")
    p.known("error2", eq(error2, norm2(mean - fy)), "Lemma D.1")
    p.pointwise("A3.2", smooth_samples, "Assumption 3.2", Evaluation("f_ij", y, g, which=k),
        Evaluation("f_ij", zero, gy, which=k))
    p.pointwise("A3.4 at y", local_variance, "Assumption 3.4", Evaluation("f_i", zero, fy),
        Evaluation("f_ij", zero, ay, which=j))
    p.pointwise("A3.4 at x", local_variance, "Assumption 3.4", Evaluation("f_i", x, fx),
        Evaluation("f_ij", x, ax, which=j))

    of_the_draws(p)
    positions(p)
    distances(p) if p.reading == "corrected" else distances_as_printed(p)

    p.rule("every sample once", EverySample("order"), why="an order of all samples",
        claim=eq(vector_total(gy, k, N), vector_total(ay, j, N)))
    p.square_of_sum("average.1", error, over=(k, N), why="the squared sum of N errors")
    p.step("average", error2 <= L**2 / N * S, {"average.1": 1 / N**2, "errors.3": 1 / N}, "every sample once", "fy",
        "mean", "error2", why="grad f_i(y(0)) is the mean of all samples' gradients there")
    p.conclude(error2 <= 2 * eta_l**2 * L**2 * sigma2_i / N + eta_l**2 * L**2 * d2,
        {"average": 1, "distances": L**2 / N}, why="both together")
    return p.done()


def of_the_draws(p: Proof) -> None:
    """The sum of the first k directions has the mean k d and a variance."""
    p.square_of_sum("variance.1", ay - fy, (fx - ax) * (1 - a), uses="direction",
        claim=norm2(az - d) <= 2 * norm2(ay - fy) + 2 * (1 - a)**2 * norm2(ax - fx),
        why="both gradients of the sample deviate")
    p.sum_over("variance.2", W <= 2 * total(norm2(ay - fy), j, N) + 2 * (1 - a)**2 * total(norm2(ax - fx), j, N),
        "variance.1", j, N, "W", why="over the samples")
    p.step("variance.3", (1 - a)**2 <= 1, why="0 <= a <= 1")
    p.step("variance.4", W <= 4 * N * sigma2_i, {"variance.2": 1, "A3.4 at y": 2 * N, "A3.4 at x": 2 * (1 - a)**2 * N},
        "variance.3", "condition P is 0", why="Assumption 3.4 twice")
    p.step("spread.1", ge(norm2(az - d), 0), why="a squared norm")
    p.sum_over("spread", W >= 0, "spread.1", j, N, "W", why="and a sum of such")
    p.step("others", (N - 1) / sp.Max(1, N - 1) <= 1, why="0 for a single sample")
    p.step("variance", (N - 1) * v <= 4 * sigma2_i, "variance.4", "spread", "others", "v", why="N-1 covariances")
    p.expected("mean and deviation", norm2(draws) <= v * k * (N - k) + k**2 * d2, "order", "direction", "fy", "fx",
        "d2", "v", "W", why="(17), and Lemma B.5 for the sum of k draws")


def positions(p: Proof) -> None:
    """A position is made of errors of the gradients, which S bounds, and of draws."""
    p.step("position.1", eq(y.at(k, k + 1), y - (error + z) * step), "local step",
        why="the gradient at y(0) subtracted and added")
    p.telescope("position.2", None, "position.1", k, k, why="the first k steps")
    p.step("position", eq(y, (part + draws) * -step), "position.2", "start",
        why="errors of the gradients, and the draws")
    p.square_of_sum("errors.1", error, over=(k, k), why="the squared sum of k errors")
    p.rule("errors.2", PartialSum(norm2(error), k, k, N), why="the first k of N")
    p.sum_over("errors.3", total(norm2(error), k, N) <= L**2 * S, "A3.2", k, N, "S", why="Assumption 3.2 in every step")
    p.step("errors", norm2(part) <= k * L**2 * S, {"errors.1": 1, "errors.2": k, "errors.3": k},
        why="the three together")


def distances(p: Proof) -> None:
    """S is at most what is claimed, since the factor of S is below 1 where S bounds itself."""
    own = 3 * eta_l**2 * L**2 * (N - 1) / (2 * N)
    p.square_of_sum("split", part * -step, draws * -step, weights=(third, 2 * third), uses="position",
        claim=norm2(y) <= step**2 * (3 * norm2(part) + 3 * norm2(draws) / 2), why="the square split 3 : 3/2")
    p.step("one position", norm2(y) <= step**2 * (3 * k * L**2 * S + 3 * (v * k * (N - k) + k**2 * d2) / 2),
        {"split": 1, "errors": 3 * step**2, "mean and deviation": 3 * step**2 / 2}, why="errors and draws bounded")
    p.sum_over("all positions",
        S <= step**2 * N * (N - 1) * (3 * L**2 * S / 2 + (N + 1) * v / 4 + (2 * N - 1) * d2 / 4),
        "one position", k, N, "S", why="sums of k, k (N-k) and k^2")
    p.step("room", 1 - own > 0, why="eta_l^2 L^2 <= 1/4")
    p.step("distances", S <= claimed,
        {"all positions": 1 / (1 - own), "variance": eta_l**2 * (N + 1) / (4 * N) / (1 - own)}, "room",
        why="solved for the sum: 8(N+1)/(5N+3) <= 2 and 2(N-1)(2N-1)/(5N+3) <= N")


def distances_as_printed(p: Proof) -> None:
    """The same with the client's gradient at x in place of the samples', and with the sums over j = 1, ..., N."""
    before = 8 * step**2 / 3 * (sigma2_i * N * (N + 1) / 6 + d2 * N * (N + 1) * (2 * N + 1) / 6)
    p.telescope("position.4", None, "local step", k, k + 1, why="the first k+1 steps as (13) has them")
    p.step("printed equality", eq(y.at(k, k + 1), (vector_total(g, k, k + 1) + (m - fx) * ((k + 1) * (1 - a))) * -step),
        "position.4", "start", why="the same with the client's gradient at x in place of the samples'")
    p.step("printed sum over j", 2 * step**2 * L**2 * (N * (N + 1) / 2 - 1) <= eta_l**2 * L**2,
        why="the coefficient of |y(1) - y(0)|^2: the sum of j from 2 to N")
    p.step("printed 8/3", S <= before, "printed equality", "printed sum over j", "errors", "mean and deviation",
        "variance", why="what the display has after eta_l <= 1/(2L), (21) and (6)")
    p.step("printed constants", before <= claimed, why="the last line of the display")
    p.step("distances", S <= claimed, {"printed 8/3": 1, "printed constants": 1}, why="the last two lines in a row")
