"""The proof of Lemma 6 (asynchronous federated learning, Appendix A.3, (82)), corrected, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product. n = 0, ..., rounds-1 counts the rounds in which
a client can take part: in the others nothing moves, and all that is added up over the rounds is 0. i counts the
clients, k their local steps, and r = 0, ..., tau-1 the rounds before a round.

    b(n)  the movement of the global model in round n, 0 before the start      Qs(n)  |b(n-1)|^2 + ... + |b(n-tau)|^2
    g(n, i, k), gb(n, i), a(n, i), z(n, i), p(n, i), d(n, i)  of round n, as in the proof of Lemma 2
    q(n)  sum over the clients of p(n, i)      R(n), S(n), Z(n), sg1(n), sg2(n)  the quantities of Lemmas 3 and 5
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.laws import Weights
from boundcheck.proof.proof import Proof, eq, functions, ge, le, symbols
from boundcheck.proof.rules import Exchange, Shift
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, norm2, vector

READINGS = ("corrected",)

L, K, eta_l, eta_g, alpha, beta, rho, tau, S1, S2, Z_mean, s, period = symbols(
    "L K eta_l eta_g alpha beta rho tau S1 S2 Z_mean s period")
M, n, i, k, r, rounds, moved = symbols("M n i k r rounds moved")
p_i, d_i = (f(n, i) for f in functions("p d"))
q, R, S, Qs, Z, sg1, sg2 = (f(n) for f in functions("q R S Qs Z sg1 sg2"))
b, g = vector("b", n), vector("g", n, i, k)
gb, a, z = (vector(name, n, i) for name in ("gb", "a", "z"))
h, e = K * eta_g * eta_l, eta_l**2 * (K - 1)**2
squares, own = total(norm2(g), k, K), p_i * d_i - alpha * p_i**2  # own: gamma_i
moves, N, all_z = total(norm2(b), n, rounds), s * period, vector_total(z, i, M)
earlier = norm2(b.at(n, n - 1 - r))
signs = ("q > 0", "Qs >= 0", "Z >= 0", "sg1 >= 0", "sg2 >= 0")

# what a round costs in (84), over the square of the step
by_qs, by_z = 12 * rho**2 * (alpha + beta) * L**2 * tau, 12 * rho * (2 * alpha + beta) * L
by_sg1, by_sg2 = 6 * rho**2 * (6 * e * L**2 * alpha + beta), 6 * rho**2 * alpha / K


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    weights = Weights("weights", "covariance_of_weights", ((a, z),), (z, gb, g), time=n, weighted=(gb,),
        mean_weight=p_i, largest=d_i, correlation=alpha, clients=M)
    end = 2 * n + 2
    p = Proof(statement, moved, laws=(weights,),
        drawn=((g, 2 * n + 1), (a, end), (vector_total(a, i, M), end), (b, end), (b.at(n, -1 - r), 0)))
    known(p)
    one_round(p)
    windows(p)

    p.sum_over("(84), all", None, "(84)", n, rounds, why="all rounds")
    back = h**2 * by_qs  # A of (85)
    p.step("half", 2 * back * tau <= 1, "condition delays", why="the condition on the delays")
    p.conclude(moved <= 2 * h**2 * (by_z * Z_mean + by_sg1 * S1 + by_sg2 * S2),
        {"(84), all": 2 / N, "window": 2 * back / N}, "half", "moved", "S1", "S2", "Z_mean",
        why="(85): solved for the movements")
    return p.done()


def known(p: Proof) -> None:
    """What is known of the rounds."""
    p.count("rounds", rounds >= 0, "rounds in which a client can take part")
    p.count("clients", M >= 1, "clients")
    p.index(n, rounds, "rounds")
    p.index(i, M, "clients")
    p.index(k, K, "local steps")
    p.index(r, tau, "rounds before a round")
    p.define(gb, vector_total(g, k, K) / K, "mean gradient of a client's local work")
    p.define(z, gb * p_i, "with the expected weight")
    p.algorithm("movement", eq(b, vector_total(a, i, M) * -h), "(6): a client sends K steps")
    p.algorithm("before", eq(b.at(n, -1 - r), Vector(())), "nothing moves before the start")
    for symbol, term in ((moved, norm2(b)), (S1, sg1), (S2, sg2), (Z_mean, Z)):  # 0 in rounds without clients
        p.known(str(symbol), eq(symbol, total(term, n, rounds) / N), "mean over the rounds")
    p.known("Qs", Qs <= total(earlier, r, tau), "movements of the last rounds")
    p.known("R", norm2(all_z) <= q**2 * R, "qt_i(n) = q_i(n)/q(n)")
    p.known("S", total(p_i * squares, i, M) <= q * K * S, "qt_i(n) = q_i(n)/q(n)")
    p.known("q > 0", q > 0, "a client can take part")
    p.known("q <= rho", q <= rho, "rho is the largest q(n), at least 1")
    p.known("p >= 0", p_i >= 0, "a mean of weights")
    p.known("beta", own <= beta * p_i, "beta is the largest d_i - alpha q_i of those that can take part")
    for f in (Qs, Z, sg1, sg2):
        p.known(f"{f.func} >= 0", f >= 0, "a sum of squares, or a gap")


def one_round(p: Proof) -> None:
    """(84): the movement in a round."""
    p.square_of_sum("mean", g, over=(k, K), why="the square of a mean")
    p.step("square", ge(norm2(gb), 0), why="a squared norm")
    p.step("client", own * norm2(gb) <= beta / K * p_i * squares,
        {"mean": beta * p_i / K**2, "square": beta * p_i - own}, "gb", "beta", "p >= 0", numbers=(p_i, d_i),
        why="gamma_i <= beta q_i")
    p.sum_over("clients together", None, "client", i, M, why="all clients")
    p.expected("Lemma 1", norm2(b) <= h**2 * (alpha * norm2(all_z) + total(own * norm2(gb), i, M)), "weights",
        "movement", why="the square of the step")
    p.step("(83)", norm2(b) <= h**2 * (alpha * q**2 * R + beta * q * S),
        {"Lemma 1": 1, "clients together": h**2, "R": h**2 * alpha, "S": h**2 * beta / K}, "domain rho", numbers=(q,),
        why="as in Lemma 2")
    p.cite("(73)", R <= 12 * L**2 * tau * Qs + 24 * L * Z / q + 36 * e * L**2 * sg1 + 6 * sg2 / K, "lemma_5/corrected",
        R, *signs, q=q, Qs=Qs, Z=Z, sg1=sg1, sg2=sg2, why="Lemma 5 in round n")
    p.cite("(62)", S <= 12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1, "lemma_3_gradients/corrected", S, *signs, q=q,
        Qs=Qs, Z=Z, sg1=sg1, why="Lemma 3 in round n")
    p.step("(84)", norm2(b) <= h**2 * (by_qs * Qs + by_z * Z + by_sg1 * sg1 + by_sg2 * sg2),
        {"(83)": 1, "(73)": h**2 * alpha * q**2, "(62)": h**2 * beta * q,
            "Qs >= 0": h**2 * (by_qs - 12 * L**2 * tau * (alpha * q**2 + beta * q)),
            "Z >= 0": h**2 * (by_z - 12 * L * (2 * alpha * q + beta)),
            "sg1 >= 0": h**2 * (by_sg1 - 36 * e * L**2 * alpha * q**2 - 6 * beta * q),
            "sg2 >= 0": h**2 * (by_sg2 - 6 * alpha * q**2 / K)},
        "q > 0", "q <= rho", numbers=(q,), why="q(n) <= rho, and rho >= 1")


def windows(p: Proof) -> None:
    """A movement is in at most tau of the Qs(n)."""
    p.rule("window, shift", Shift(earlier, n, rounds), why="n - 1 - r and n - r")
    p.induct("window, r", lambda by: le(total(norm2(b.at(n, n - by)), n, rounds), moves), r, r, why="r rounds earlier",
        step=({"hypothesis": 1, "window, shift": 1}, "before"), names=("window, 0", "window, step"),
        words=("the same sum", "one round earlier"))
    p.step("window, r + 1", total(earlier, n, rounds) <= moves, {"window, r": 1, "window, shift": 1}, "before",
        why="and one more")
    p.sum_over("window, all", None, "window, r + 1", r, tau, why="the last tau rounds")
    p.rule("window, exchange", Exchange(earlier, n, rounds, r, tau), why="over rounds and delays")
    p.sum_over("Qs, all", None, "Qs", n, rounds, why="all rounds")
    p.step("window", total(Qs, n, rounds) <= tau * moves, {"Qs, all": 1, "window, exchange": 1, "window, all": 1},
        why="a movement is in at most tau windows")
