"""The proof of Lemma 2 (asynchronous federated learning, Appendix A.3, (56)) as checked steps.

Vectors are random and <u, v> is the expectation of their inner product. i = 0, ..., M-1 counts the clients, and
k = 0, ..., K-1 their local steps. Points are relative to x, the minimiser of the surrogate problem.

    here, then  the global model before and after round n     g(i, k)  stochastic gradient of client i in step k
    gb(i)       mean of g(i, k) over k                         a(i)     w_i gb(i), with the random weight w_i
    p(i), d(i)  q_i(n) = E w_i, and what w_i is when client i takes part      z(i)  p(i) gb(i)

The weights are drawn independently of the models and of the gradients, so that the cross term has their means, and the
square of the step is that of Lemma 1, here with gamma_i = p(i) (d(i) - alpha p(i)) by the law of the weights.

The printed reading is about the virtual models v(k) = theta^{n,k} less x, with

    B(k), Y(k)  sum of w_i g(i, k), and of q_i g(i, k)      own(k)  sum of q_i |g(i, k)|^2

The weights are the same in all steps of a round. So v(k) depends on them for k > 0, and (59), which has their means in
the cross term, does not follow from what is known of them.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.laws import Weights
from boundcheck.proof.proof import Proof, eq, functions, ge, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("corrected", "as_printed")

K, eta_l, eta_g, alpha, beta, q, Rn, Sn = symbols("K eta_l eta_g alpha beta q Rn Sn")
along, change, M, i, k = symbols("inner change M i k")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    return virtual_models(statement) if statement.reading == "as_printed" else whole_round(statement)


def whole_round(statement: Any) -> Any:
    """The corrected reading: the global models."""
    p_i, d_i = (f(i) for f in functions("p d"))
    g, gb, a, z = vector("g", i, k), vector("gb", i), vector("a", i), vector("z", i)
    here, then = vector("here"), vector("then")
    moved, expected = vector_total(a, i, M), vector_total(z, i, M)
    h, squares, own = K * eta_g * eta_l, total(norm2(g), k, K), p_i * d_i - alpha * p_i**2  # own: gamma_i
    weights = Weights("weights", "covariance_of_weights", ((a, z),), (z, gb, g, here), weighted=(gb,), mean_weight=p_i,
        largest=d_i, correlation=alpha, clients=M)
    p = Proof(statement, change, drawn=((here, 0), (g, 1), (a, 2), (moved, 2), (then, 2)), laws=(weights,))
    p.count("clients", M >= 1, "clients")
    p.index(i, M, "clients")
    p.index(k, K, "local steps")
    p.define(gb, vector_total(g, k, K) / K, "mean gradient of a client's local work")
    p.define(z, gb * p_i, "with the expected weight")
    p.algorithm("round", eq(then, here - moved * h), "(6): a client sends K steps")
    p.known("change", eq(change, norm2(then) - norm2(here)), "of the squared distance to x")
    p.known("D", eq(along, inner(expected, here)), "D(x, n)")
    p.known("R", eq(Rn, norm2(expected) / q**2), "qt_i(n) = q_i(n)/q(n)")
    p.known("S", eq(Sn, total(p_i * squares, i, M) / (q * K)), "qt_i(n) = q_i(n)/q(n)")
    p.known("p >= 0", p_i >= 0, "a mean of weights")
    p.known("beta", own <= beta * p_i, "beta is the largest d_i - alpha q_i of those that can take part")

    p.expected("(59)", change <= -2 * h * along + h**2 * (alpha * q**2 * Rn + total(own * norm2(gb), i, M)), "weights",
        "round", "change", "D", "R", why="the square expanded; Lemma 1")
    p.square_of_sum("mean", g, over=(k, K), why="the square of a mean")
    p.step("square", ge(norm2(gb), 0), why="a squared norm")
    p.step("client", own * norm2(gb) <= beta / K * p_i * squares,
        {"mean": beta * p_i / K**2, "square": beta * p_i - own}, "gb", "beta", "p >= 0", numbers=(p_i, d_i),
        why="gamma_i <= beta q_i")
    p.sum_over("clients together", None, "client", i, M, why="all clients")
    p.conclude(change <= -2 * h * along + h**2 * alpha * q**2 * Rn + h**2 * beta * q * Sn,
        {"(59)": 1, "clients together": h**2}, "S", why="(60) for a whole round")
    return p.done()


def virtual_models(statement: Any) -> Any:
    """The printed reading: the virtual models."""
    et, own, (v, B, Y) = eta_g * eta_l, functions("own")(k), (vector(name, k) for name in ("v", "B", "Y"))
    start, then = v.at(k, 0), v.at(k, k + 1)
    p = Proof(statement, change, drawn=((v, k), (B, k + 1), (Y, 0)))
    p.index(k, K, "local steps")
    p.algorithm("virtual step", eq(then, v - B * et), "(7)")
    p.algorithm("weights", sp.And(inner(B, start) >= inner(Y, start), inner(B, start) <= inner(Y, start)),
        "q_i is the mean of w_i, on which theta^n does not depend")
    p.assume("squares", "covariance_of_weights", norm2(B) <= alpha * norm2(Y) + beta * own,
        "Lemma 1 in step k, and gamma_i <= beta q_i")
    p.known("change", eq(change, (norm2(v.at(k, K)) - norm2(start)) / K), "the mean over the steps")
    p.known("D", eq(along, total(inner(Y, v), k, K) / K), "mean over the steps")
    p.known("R", eq(Rn, total(norm2(Y), k, K) / (K * q**2)), "qt_i(n) = q_i(n)/q(n)")
    p.known("S", eq(Sn, total(own, k, K) / (K * q)), "qt_i(n) = q_i(n)/q(n)")

    p.step("(58)", norm2(then) <= norm2(v) - 2 * et * inner(B, v) + et**2 * norm2(B), "virtual step",
        why="the square expanded")
    p.step("(59)", -inner(B, v) <= -inner(Y, v), "virtual step", "weights", why="the mean of the weights put in")
    p.step("(60)", norm2(then) <= norm2(v) - 2 * et * inner(Y, v) + et**2 * (alpha * norm2(Y) + beta * own),
        {"(58)": 1, "(59)": 2 * et, "squares": et**2}, why="with Lemma 1")
    p.add_up("(60), steps", None, "(60)", norm2(v), k, K, why="all steps")
    p.conclude(change <= -2 * et * along + et**2 * alpha * q**2 * Rn + et**2 * beta * q * Sn, {"(60), steps": 1 / K},
        "change", "D", "R", "S", why="the mean over the steps")
    return p.done()
