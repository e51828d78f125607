"""The proof of Lemma 3 (asynchronous federated learning, Appendix A.3, (61)), corrected, as checked steps.

A vector stands for the family of one vector a client, and <u, v> for the sum of qt_i(n) E<u_i, v_i>. Points are
relative to theta^n. k = 0, ..., K-1 counts the local steps, s = 0, ..., tau-1 the rounds before round n.

    y(k)  local model before step k      b(s)   the movement of round n-1-s where the client has missed it, else 0
    g(k)  stochastic gradient there      g0(k)  the same sample's gradient at theta^n
    star  theta-bar^n                    gs(k)  the same sample's gradient there
    Q(s)  E|theta^{n-s} - theta^{n-s-1}|^2
    f0(k), fs(k)  expected loss of the sample of step k, at theta^n and at theta-bar^n
    Y, S  sums over k of <y(k), y(k)> and <g(k), g(k)>
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, ge, symbols
from boundcheck.proof.rules import PartialSum
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples, smooth_samples

READINGS = ("corrected",)

L, K, eta_l, tau, q, Qs, Z, sg1, k, s, phi = symbols("L K eta_l tau q Qs Z sg1 k s phi")
f0, fs, low = (f(k) for f in functions("f0 fs low"))
Q = functions("Q")(s)
y, g, g0, gs = (vector(name, k) for name in ("y", "g", "g0", "gs"))
b, star, start = vector("b", s), vector("star"), y.at(k, 0)
Y, S, work = total(norm2(y), k, K), total(norm2(g), k, K), vector_total(g, k, k)
e = eta_l**2 * (K - 1)**2
D = 6 * e * L**2

at_origin = Evaluation("f_ij", y * 0, g0, f0, which=k)
at_star = Evaluation("f_ij", star, gs, fs, which=k)
past = Evaluation("f_ij", (g0 - gs) * (-1 / L), value=low, which=k)


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    p = Proof(statement, phi, squares=(Qs, Z, sg1),
        drawn=((b, 0), (star, 0), (y, k), (g, k + 1), (g0, k + 1), (gs, k + 1)))
    p.index(k, K, "local steps")
    p.index(s, tau, "rounds before")
    p.known("phi", eq(phi, Y / K), "mean over the local steps")
    p.known("Z", K * Z >= q * total(f0 - fs, k, K), "L^n has the weights q_i(n) = q qt_i(n)")
    p.known("sg1", K * sg1 >= total(norm2(gs), k, K), "one sample a step, all drawn alike")
    p.known("Qs", eq(Qs, total(Q, s, tau)), "the movements of the last rounds")
    p.algorithm("local step", eq(y.at(k, k + 1), y - g * eta_l), "a local step")
    p.algorithm("delay", eq(start, vector_total(b, s, tau) * -1), "the missed rounds, tau at most")
    p.algorithm("movement", norm2(b) <= Q, "the weights qt_i(n) sum to 1, and are drawn independently")
    p.known("optimal", total(inner(gs, star), k, K) <= 0,
        "theta-bar^n minimises L^n: the sum of qt_i(n) grad L_i is 0 there")
    p.pointwise("smooth", smooth_samples, "between y(k) and theta^n", Evaluation("f_ij", y, g, which=k), at_origin)
    p.upper_model("smooth, 1", smooth_samples, "around theta^n", at_origin, past)
    p.lower_model("convex, 1", convex_samples, "around theta-bar^n", at_star, past)

    gradients(p)
    models(p)
    p.step("counts", K * (K - 1) <= 2 * (K - 1)**2, why="K is 1, or at least 2")
    p.step("S >= 0", ge(norm2(g), 0), why="a squared norm")
    p.sum_over("S >= 0, summed", None, "S >= 0", k, K, why="and a sum")
    p.step("display", Y <= 2 * K * tau * Qs + 2 * e * S,
        {"model, summed": 1, "delays": 2 * K, "S >= 0, summed": eta_l**2 * (2 * (K - 1)**2 - K * (K - 1))}, "counts",
        why="sum of k")
    p.conclude(phi <= 4 * tau * Qs + 4 * D * Z / (L * q) + 12 * e * sg1,
        {"display": 1 / (K * (1 - D)), "work": 2 * e / (K * (1 - D))}, "phi",
        why="(70), divided by 1 - D, which is at least 1/2")
    return p.done()


def gradients(p: Proof) -> None:
    """The sum S of the squared stochastic gradients by that of the squared distances to theta^n."""
    p.square_of_sum("split", g - g0, g0 - gs, gs, why="(67)")
    p.step("(68)", norm2(g0 - gs) <= 2 * L * (f0 - fs + inner(gs, star)), {"smooth, 1": 2 * L, "convex, 1": 2 * L},
        why="Bregman")
    p.step("gradients", norm2(g) <= 3 * L**2 * norm2(y) + 3 * norm2(g0 - gs) + 3 * norm2(gs), {"split": 1, "smooth": 3},
        why="smoothness")
    p.sum_over("(68), summed", None, "(68)", k, K, why="all steps")
    p.sum_over("gradients, summed", None, "gradients", k, K, why="all steps")
    p.step("work", S <= 3 * L**2 * Y + 6 * L * K * Z / q + 3 * K * sg1,
        {"gradients, summed": 1, "(68), summed": 3, "optimal": 6 * L, "Z": 6 * L / q, "sg1": 3}, why="S by phi")


def models(p: Proof) -> None:
    """The local models by the delays and by S."""
    p.telescope("path", None, "local step", k, k, why="(63)")
    p.square_of_sum("halves", start, work * -eta_l, claim=norm2(y) <= 2 * norm2(start) + 2 * eta_l**2 * norm2(work),
        uses="path", why="delay and local work")
    p.square_of_sum("squares", g, over=(k, k), why="k steps")
    p.rule("part", PartialSum(norm2(g), k, k, K), why="k of K steps")
    p.step("model", norm2(y) <= 2 * norm2(start) + 2 * eta_l**2 * k * S,
        {"halves": 1, "squares": 2 * eta_l**2, "part": 2 * eta_l**2 * k}, why="(69)")
    p.sum_over("model, summed", None, "model", k, K, why="all steps")
    p.square_of_sum("missed", b, over=(s, tau), why="tau rounds")
    p.sum_over("movements", None, "movement", s, tau, why="the movement of each")
    p.step("delays", norm2(start) <= tau * Qs, {"missed": 1, "movements": tau}, "delay", "Qs", why="(66)")
