"""The proof of Lemma 2 (partial model averaging, Appendix B): how far the models drift apart, as checked steps.

A *stretch* of a block are the iterations from one averaging of it to the next: it begins in agreement and has at most
tau steps. Stretches are taken together by their length: class n holds those with n + 1 steps, t = 0, ..., n, of all
blocks; together they hold every iteration of every block once. A vector of class n is the family of these stretches'
vectors, one a client, and <u, v> the sum over the stretches, divided by K, of the mean over the clients of the
expectation of their inner product.

    y(n, t)   block of a local model before step t      yb(n, t)   of the averaged model
    q(n, t)   block of the client's own gradient there  qb(n, t)   mean of these over the clients
    xi(n, t)  noise of the stochastic gradient          xib(n, t)  mean of that over the clients
    sig(n)    sum of the sigma_j^2 of the stretches, divided by K

The sums over s in (34) are those of one stretch, and the counting (49), (63) is that of its steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.laws import Averages, Draws
from boundcheck.proof.methods import Averaged
from boundcheck.proof.proof import Proof, eq, functions, ge, symbols
from boundcheck.proof.rules import PartialSum
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import block_variance

READINGS = ("as_printed", "sharp")

eta, tau, m, sigma2, local_grad2, n, t, apart = symbols("eta tau m sigma2 local_grad2 n t apart")
sig, N, zero = functions("sig")(n), n + 1, Vector(())  # N: steps of a stretch
y, yb, q, qb, xi, xib = (vector(name, n, t) for name in ("y", "yb", "q", "qb", "xi", "xib"))
noise, drift = vector_total(xi - xib, t, t), vector_total(q - qb, t, t)
every = total(norm2(q), t, N)

CLIENTS = Averages("clients", "averages_uniformly", ((y, yb), (q, qb), (xi, xib)))
NOISE = Draws("noise", "block_variance", ((xi, zero), (xib, zero)))


def over_stretches(expr: Any) -> Any:
    """The sum over all steps of all stretches."""
    return total(total(expr, t, N), n, tau)


def derivation(statement: Any) -> Any:
    """The derivation of one reading; share: of the noise's variance that is left after its mean is taken off."""
    share, clients = sp.S.One, CLIENTS
    if statement.reading == "sharp":
        share, clients = 1 - 1 / m, replace(CLIENTS, clients=m, independent=(xi,))
    p = Proof(statement, apart, laws=(NOISE, clients),
        drawn=((y, t), (yb, t), (q, t), (qb, t), (xi, t + 1), (xib, t + 1)))
    p.index(n, tau, "every block is averaged within tau iterations")
    p.index(t, N, "steps of a stretch")
    p.algorithm("agreement", eq(y.at(t, 0), yb.at(t, 0)), "the clients agree where a stretch begins")
    p.algorithm("local step", eq(y.at(t, t + 1), y - (q + xi) * eta), "(34)")
    p.pointwise("noise", block_variance, "(36) to (48), summed over the stretches", draw_deviation2=xi,
        weight2=sp.S.One, deviation2=sig)
    p.known("mean", eq(apart, over_stretches(norm2(y - yb))), "all iterations of all blocks")
    p.known("local", eq(local_grad2, over_stretches(norm2(q))), "as measured")
    p.known("sigma2", total(N * sig, n, tau) <= sigma2, "every block makes K steps")
    stretch_so_far(p, share)
    all_stretches(p, share)
    p.conclude(apart <= p.bound, {"all stretches": 1, "sigma2": eta**2 * (tau - 1) * share}, "mean", "local",
        why="(64)")
    return p.done()


def stretch_so_far(p: Proof, share: Any) -> None:
    """(35) to (54): how far a block is from its mean after t steps."""
    p.rule("mean step", Averaged("clients", "local step"), "local step",
        claim=eq(yb.at(t, t + 1), yb - (qb + xib) * eta), why="of the averaged model")
    p.telescope("path", None, "local step", t, t, why="the steps of the stretch so far")
    p.telescope("mean path", None, "mean step", t, t, why="likewise")
    p.square_of_sum("(35)", noise * -eta, drift * -eta, uses=("path", "mean path", "agreement"),
        claim=norm2(y - yb) <= 2 * eta**2 * (norm2(noise) + norm2(drift)), why="noise and gradients apart")
    p.expected("(38)", norm2(xi - xib) <= share * sig, "clients", {"noise": share}, why="I - J is a projection")
    p.sum_over("(38) so far", share * t * sig - total(norm2(xi - xib), t, t) >= 0, "(38)", t, t,
        why="all steps of the stretch so far")
    p.expected("(48)", norm2(noise) <= share * t * sig, "noise", {"(38) so far": 1},
        why="noise of different steps is uncorrelated")
    p.square_of_sum("(51)", q - qb, over=(t, t), why="Jensen's inequality")
    p.expected("(53)", norm2(q - qb) <= norm2(q), "clients", why="I - J is a projection")
    p.rule("part", PartialSum(norm2(q - qb), t, t, N), why="the first t steps of the stretch")
    p.sum_over("whole", every - total(norm2(q - qb), t, N) >= 0, "(53)", t, N, why="of a stretch")
    p.step("(54)", norm2(y - yb) <= 2 * eta**2 * t * (share * sig + every),
        {"(35)": 1, "(48)": 2 * eta**2, "(51)": 2 * eta**2, "part": 2 * eta**2 * t, "whole": 2 * eta**2 * t},
        why="t steps after agreement")


def all_stretches(p: Proof, share: Any) -> None:
    """(49), (50), (63) and (64): the steps counted."""
    p.sum_over("stretch", eta**2 * n * N * (share * sig + every) - total(norm2(y - yb), t, N) >= 0, "(54)", t, N,
        why="the counting (49), (63): 0 + 1 + ... + n")
    p.step("sig.1", ge(norm2(xi), 0), why="a squared norm")
    p.step("sig >= 0", sig >= 0, {"noise": 1, "sig.1": 1}, why="a variance")
    p.step("gradient", ge(norm2(q), 0), why="a squared norm")
    p.sum_over("gradients", ge(every, 0), "gradient", t, N, why="so a sum")
    p.step("(50), (64)", total(norm2(y - yb), t, N) <= eta**2 * (tau - 1) * (share * N * sig + tau * every),
        {"stretch": 1, "sig >= 0": eta**2 * share * N * (tau - 1 - n), "gradients": eta**2 * (tau * (tau - 1) - n * N)},
        why="a stretch has at most tau steps")
    p.sum_over("all stretches", eta**2 * (tau - 1) * (share * total(N * sig, n, tau) + tau * over_stretches(norm2(q)))
        - over_stretches(norm2(y - yb)) >= 0, "(50), (64)", n, tau, why="of all lengths and blocks")
