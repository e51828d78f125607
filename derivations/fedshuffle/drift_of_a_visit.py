"""The drift of a client's visit by its gradient where the visit begins (FedShuffle, Appendix E) as checked steps.

The client has N samples and makes Q epochs; step t of the T = Q N steps is sample j of epoch e, t = e N + j. Vectors
are random, and <u, v> is the expectation of their inner product over the orders of the samples.

    y(t)  local point before step t         x      the point at which the visit begins
    g(t)  gradient of the sample used       g0(t)  the same sample's gradient at x
    a(j)  gradient of sample j at x         gf     gradient of the client's loss at x, their mean
    P(t)  g0(0) + ... + g0(t-1)             Y      sum of the squared distances of the y(t) to x
    W     sum over the samples of the squared distances of their gradients at x to gf
    step  the client's local step, eta_l over its divisor
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.laws import Order
from boundcheck.proof.proof import Proof, eq, ge, symbols
from boundcheck.proof.rules import InEpochs, PartialSum
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import norm2, vector
from boundcheck.theory.assumptions import local_variance, smooth_samples

READINGS = ("corrected",)

L, P2_gen, eta_l, own_grad2_0, own_noise_0 = symbols("L P2_gen eta_l own_grad2_0 own_noise_0")
N, Q, t, e, j, i, step, sig, p_i, drift = symbols("N Q t e j i step sig p drift")
T = Q * N  # steps of the visit
x, gf, own = vector("x"), vector("gf"), vector("a", i)
y, g, g0 = vector("y", t), vector("g", t), vector("g0", t)
P, changes = vector_total(g0, t, t), vector_total(g - g0, t, t)
away, Y, W = norm2(y - x), total(norm2(y - x), t, T), total(norm2(own - gf), i, N)

others = sp.Max(1, N - 1)
in_epoch = norm2(P).subs(t, e * N + j)  # the squared norm of P, by epoch and sample
variance = j * (N - j) / (N * others)  # E|P|^2 - |E P|^2 after j samples of an epoch, over W
own_share = 2 * eta_l**2 * L**2
bound = (1 + P2_gen) * own_grad2_0 + own_noise_0


def derivation(statement: Any) -> Any:
    """The derivation; the condition on the local step is the statement's."""
    order = Order("order", "fedshuffle_gen", ((g0, own),), (own, x), N, epochs=True)
    p = Proof(statement, drift, drawn=((y, t), (g, t + 1)), laws=(order,))
    known(p)
    p.step("T >= 1", T >= 1, "samples", "epochs", why="a visit has a step")
    change_of_gradients(p)
    gradients_at_the_start(p)
    whole_visit(p)
    p.step("own", own_share <= sp.Rational(1, 2), why="the condition")
    p.conclude(drift <= p.bound, {"8": 1 / (1 - own_share)}, "own", why="solved for the drift")
    return p.done()


def known(p: Proof) -> None:
    """Notation, the visit, and the assumptions."""
    p.count("samples", N >= 1, "samples of the client")
    p.count("epochs", Q >= 1, "epochs of the visit")
    p.index(t, T, "steps of the visit")
    p.index(e, Q, "epochs")
    p.index(j, N, "samples of an epoch")
    p.index(i, N, "samples of the client")
    p.define(gf, vector_total(own, i, N) / N, "f_i is the mean of its samples' losses")
    p.known("drift", eq(drift, Y / T), "mean over the steps of the visit")
    p.known("gradient", eq(own_grad2_0, norm2(gf)), "squared gradient norm at the start of the visit")
    p.algorithm("local step", eq(y.at(t, t + 1), y - g * step), "Algorithm 4")
    p.algorithm("divisor", sp.And(step >= 0, step * T <= eta_l), "step = eta_l/c_i, and c_i >= E_i |D_i|")
    p.algorithm("start", eq(y.at(t, 0), x), "every client starts from the server's point")
    p.pointwise("A3.2", smooth_samples, "Assumption 3.2 between y(t) and x", Evaluation("f_ij", y, g, which=t),
        Evaluation("f_ij", x, g0, which=t))
    p.pointwise("A3.4", local_variance, "Assumption 3.4 for the client, with sig for sigma_i^2 and p for P_i^2/|D_i|",
        Evaluation("f_i", x, gf), Evaluation("f_ij", x, own, which=i), sigma2_i=sig, P2=p_i, D_i=N)
    p.known("noise", eq(sig, 3 * N * Q**2 * own_noise_0), "what own_noise_0 is")
    p.known("share", p_i <= 3 * Q**2 * P2_gen, "what P2_gen is: the largest P_i^2/(3 |D_i| E_i^2)")


def change_of_gradients(p: Proof) -> None:
    """1 to 3: the local point by gradients at x, and by how much the gradients used differ from them."""
    p.telescope("1.1", eq(y, y.at(t, 0) + vector_total(g * -step, t, t)), "local step", t, t,
        why="the local point is the sum of its steps")
    p.step("1", eq(y, x + (changes + P) * -step), "1.1", "start", why="the gradients at x subtracted and added")
    p.square_of_sum("2", changes * -step, P * -step, claim=away <= 2 * step**2 * (norm2(changes) + norm2(P)), uses="1",
        why="Lemma B.6 with a = 1")
    p.square_of_sum("3.1", g - g0, over=(t, t), why="Lemma B.6")
    p.rule("3.2", PartialSum(norm2(g - g0), t, t, T), why="the first t steps of the visit")
    p.sum_over("3.3", total(norm2(g - g0), t, T) <= L**2 * Y, "A3.2", t, T, "T >= 1",
        why="Assumption 3.2 in every step")
    p.step("3", norm2(changes) <= t * L**2 * Y, {"3.1": 1, "3.2": t, "3.3": t}, why="the first part")


def gradients_at_the_start(p: Proof) -> None:
    """4: the squared norms of the sums P(t), summed over the visit."""
    p.expected("4.1", in_epoch <= (e * N + j)**2 * norm2(gf) + variance * W, "order", "gf",
        why="mean and variance, (17) and Lemma B.5: whole epochs leave no noise")
    p.sum_over("4.2", None, "4.1", j, N, why="summed over an epoch")
    p.sum_over("4.3", total(total(in_epoch, j, N), e, Q)
        <= T * (T - 1) * (2 * T - 1) / 6 * norm2(gf) + Q * (N**2 - 1) / (6 * others) * W, "4.2", e, Q,
        why="and over the epochs")
    p.rule("4.4", InEpochs(norm2(P), t, e, Q, j, N), why="step t is sample j of epoch e")
    p.step("4.5", ge(norm2(own - gf), 0), why="a squared norm")
    p.sum_over("4.6", ge(W, 0), "4.5", i, N, why="and a sum of such")
    p.step("4.7", (N**2 - 1) / others <= N + 1, why="0 for a single sample")
    p.step("4.8", W <= 3 * N**2 * Q**2 * (own_noise_0 + P2_gen * own_grad2_0), "A3.4", "noise", "share", "gradient",
        why="Assumption 3.4 in terms of the lemma")
    p.step("4", total(norm2(P), t, T) <= T**3 * (own_grad2_0 + own_noise_0 + P2_gen * own_grad2_0),
        {"4.3": 1, "4.4": 1, "4.6": Q / 6 * (N + 1 - (N**2 - 1) / others), "4.8": Q * (N + 1) / 6}, "4.7", "gradient",
        why="N + 1 <= 2 N and T (T - 1)(2 T - 1)/6 <= T^3")


def whole_visit(p: Proof) -> None:
    """6 to 8: the drift of the visit by itself and by the bound on 4."""
    p.step("6", away <= 2 * step**2 * (t * L**2 * Y + norm2(P)), {"2": 1, "3": 2 * step**2}, why="both parts")
    p.sum_over("7.1", Y <= 2 * step**2 * (T * (T - 1) / 2 * L**2 * Y + total(norm2(P), t, T)), "6", t, T, "T >= 1",
        why="summed over the visit")
    p.step("7.2", ge(away, 0), why="a squared norm")
    p.sum_over("7.3", ge(Y, 0), "7.2", t, T, "T >= 1", why="and a sum of such")
    p.step("T step", step**2 * T**2 <= eta_l**2, "divisor", why="the divisor is at least the number of steps")
    p.step("bound >= 0", bound >= 0, why="no negative term")
    p.signs(drift >= 0, "7.3", "drift", why="a mean of squares")
    p.step("7", drift <= 2 * step**2 * T**2 * (L**2 * drift + bound),
        {"7.1": 1 / T, "4": 2 * step**2 / T, "7.3": step**2 * L**2 * (T + 1)}, "drift", "divisor",
        why="T (T - 1)/2 <= T^2")
    p.step("8", drift <= 2 * eta_l**2 * (L**2 * drift + bound), "7", "T step", "bound >= 0", "drift >= 0",
        why="in terms of eta_l")
