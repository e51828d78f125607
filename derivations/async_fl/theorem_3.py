"""The proof of Theorem 3 (asynchronous federated learning, Section 3.4) as checked steps.

n = 0, ..., N-1 counts the rounds, W V of them in a period, and e = 0, ..., s V - 1 the windows of W rounds. i and j
count the clients, r, r2, t and u the rounds of a window. Losses are relative to those at the minimiser x of the
surrogate problem.

    a(n, i)    E L_i(theta^n)              p(n, i)  q_i(n)             pbar(i)  its mean q_i
    th(n)      theta^n                     S(n, i)  gradient of L_i there
    g(n, j, k), gb(n, j), A(n, j), z(n, j), d(n, j)  of round n, as in the proof of Lemma 2
    gw(n, j), sw(n, i, j)   gb(n, j) and S(n + 1, i) times the root of w_j(n)
    Z(n)  gap of L^n, rg(n)  the same at x      Zbar, Rbar  their means

What a window costs: a_r - a_r' is at most (W - 1) c for two of its rounds, if a changes by at most c in a round.
The sum over all pairs with the weights p(r')/W is q_i times the sum of a, less the sum of p a.

The printed proof loses the sum q(n) of the weights, here qn, between (24) and (25), and rests on the printed Theorem 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.laws import Weights
from boundcheck.proof.methods import Imported
from boundcheck.proof.proof import Proof, eq, functions, ge, le, symbols
from boundcheck.proof.rules import At, Exchange, InEpochs
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples

READINGS = ("corrected", "as_printed")

K, eta_l, eta_g, alpha, rho, B, W, q_bar, R, s, period = symbols("K eta_l eta_g alpha rho B W q_bar R s period")
n, e, i, j, k, r, r2, t, u, M, V, mean, Zbar, qn = symbols("n e i j k r r2 t u M V mean Zbar qn")
a, weight, d = functions("a p d")
pbar, Z, rg = functions("pbar")(i), functions("Z")(n), functions("rg")(n)
g, gb, A, z, gw = vector("g", n, j, k), *(vector(name, n, j) for name in ("gb", "A", "z", "gw"))
S, sw, th, moved = vector("S", n, i), vector("sw", n, i, j), vector("th", n), vector_total(vector("A", n, j), j, M)
then, S_then = th.at(n, n + 1), S.at(n, n + 1)
h, N, windows = K * eta_g * eta_l, s * period, s * V
c = h * rho * B**2  # what a round changes
ain, pin, pj = a(n, i), weight(n, i), weight(n, j)
half = sp.Rational(1, 2)

# rounds of window e: the first, the last, two others, and the weight in the second of these
first, last, inside, second = e * W, e * W + W - 1, e * W + r, e * W + r2
other = weight(second, i)


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    if statement.reading == "as_printed":
        return printed(statement)
    weights = Weights("weights", "covariance_of_weights", ((A, z),), (z, gb, g, S, th), time=n, weighted=(gb,),
        mean_weight=pj, largest=d(n, j), correlation=alpha, clients=M)
    end = 2 * n + 2
    p = Proof(statement, mean, laws=(weights,),
        drawn=((th, 2 * n), (S, 2 * n), (g, 2 * n + 1), (A, end), (moved, end), (sw, end), (gw, end)))
    indices(p)
    known(p)
    change(p)
    pairs(p)
    window(p)
    all_rounds(p)
    p.cite("Theorem 1", None, "theorem_1/corrected", Zbar, why="the mean gap of the rounds' own problems")
    p.conclude(mean <= p.bound, {"(29)": 1, "Theorem 1": 1}, why="with eps_W")
    return p.done()


def indices(p: Proof) -> None:
    """What is counted."""
    p.count("clients", M >= 1, "clients")
    p.count("windows", V >= 1, "windows in a period")
    p.assume("period", "window_property", eq(period, W * V), "a period is made of windows")
    for index, count, what in ((n, N, "rounds"), (e, windows, "windows"), (i, M, "clients"), (j, M, "clients"),
        (k, K, "local steps"), (r, W, "rounds of a window"), (r2, W, "rounds of a window"),
        (t, W, "rounds of a window"), (u, W - 1, "rounds of a window but the last")):
        p.index(index, count, what)


def known(p: Proof) -> None:
    """What is known of the rounds."""
    samples = "bounded_sample_gradients"
    here, there = Evaluation("f_i", th, S, ain, which=i), Evaluation("f_i", then, S_then, a(n + 1, i), which=i)
    p.define(gb, vector_total(g, k, K) / K, "mean gradient of a client's local work")
    p.define(z, gb * pj, "with the expected weight")
    p.algorithm("round", eq(then, th - moved * h), "(6): a client sends K steps")
    p.lower_model("convex", convex_samples, "L_i is convex too, around theta^{n+1}", there, here)
    p.lower_model("convex, back", convex_samples, "L_i is convex too, around theta^n", here, there)
    p.assume("steps", samples, norm2(g) <= B**2, "of the samples that the local steps use")
    p.assume("own", samples, norm2(S) <= B**2, "a mean of gradients of samples")
    p.assume("own, weighted", samples, norm2(sw) <= pj * B**2, "at every point, times w_j")
    p.assume("weighted", "independent_weights", norm2(gw) <= pj * norm2(gb), "E w_j is p")
    p.known("product", inner(S_then, A) >= inner(sw, gw), "w_j is the square of its root")
    p.known("p >= 0", pin >= 0, "a mean of weights")
    p.known("pj >= 0", pj >= 0, "a mean of weights")
    p.known("pbar >= 0", pbar >= 0, "a mean of weights")
    p.known("rho", total(pj, j, M) <= rho, "rho is the largest q(n)")
    p.assume("window", "window_property", eq(total(weight(inside, i), r, W), W * pbar), "Assumption 6")
    p.known("q_bar", eq(q_bar, total(pbar, i, M)), "the mean of q(n)")
    p.known("mean", eq(mean, total(pbar * total(ain, n, N), i, M) / N), "mean over the rounds")
    p.known("Z", total(pin * ain, i, M) <= Z - rg, "L^n has the weights p(n, i), and L^n(x) is 0")
    p.known("Zbar", eq(Zbar, total(Z, n, N) / N), "mean over the rounds, what Theorem 1 bounds")
    p.known("R", eq(R, total(rg, n, N) / N), "mean over the rounds")


def change(p: Proof) -> None:
    """(24): what a round changes, in both directions."""
    p.square_of_sum("square of the mean", g, over=(k, K), why="the square of a mean")
    p.sum_over("all steps", None, "steps", k, K, why="bounded")
    p.step("work", norm2(gb) <= B**2, {"square of the mean": 1 / K**2, "all steps": 1 / K}, "gb",
        why="and so is their mean")
    p.step("client, up", -inner(S_then, A) <= pj * B**2,
        {"product": 1, "own, weighted": half, "weighted": half, "work": pj / 2}, "pj >= 0", numbers=(pj,),
        why="2 <u, v> <= |u|^2 + |v|^2")
    p.sum_over("clients, up", None, "client, up", j, M, why="all clients")
    p.step("up", a(n + 1, i) <= ain + c, {"convex": 1, "clients, up": h, "rho": h * B**2}, "round", why="(24)")
    p.step("square", ge(norm2(S - gb), 0), why="a squared norm")
    p.step("client, down", inner(S, z) <= pj * B**2, dict.fromkeys(("own", "work", "square"), pj / 2), "z", "pj >= 0",
        numbers=(pj,), why="2 <u, v> <= |u|^2 + |v|^2")
    p.sum_over("clients, down", None, "client, down", j, M, why="all clients")
    p.expected("down", ain <= a(n + 1, i) + c, "weights", {"convex, back": 1, "clients, down": h, "rho": h * B**2},
        "round", why="in the other direction")


def pairs(p: Proof) -> None:
    """Two rounds of a window, by the first round and by the last."""
    for name, source, value in (("up, t", "up", first + t), ("down, t", "down", first + t),
        ("up, u", "up", last - 1 - u), ("down, u", "down", last - 1 - u)):
        p.rule(name, At(source, n, value), source, "period", why="in a window")
    p.add_up("from the first", le(a(inside, i), a(first, i) + r * c), "up, t", a(first + t, i), t, r, "period",
        why="r rounds")
    p.add_up("to the first", le(-a(inside, i), -a(first, i) + r * c), "down, t", -a(first + t, i), t, r, "period",
        why="r rounds")
    p.add_up("from the last", le(a(inside, i), a(last, i) + (W - 1 - r) * c), "down, u", a(last - u, i), u, W - 1 - r,
        "period", why="W - 1 - r rounds")
    p.add_up("to the last", le(-a(inside, i), -a(last, i) + (W - 1 - r) * c), "up, u", -a(last - u, i), u, W - 1 - r,
        "period", why="W - 1 - r rounds")
    p.rule("to the first, r2", At("to the first", r, r2), "to the first", "period", why="in a window")
    p.rule("to the last, r2", At("to the last", r, r2), "to the last", "period", why="in a window")
    ways = ("from the first", "from the last", "to the first, r2", "to the last, r2")
    p.step("pair", a(inside, i) <= a(second, i) + (W - 1) * c, dict.fromkeys(ways, half),
        why="the mean of the way by the first round and of that by the last")


def window(p: Proof) -> None:
    """(25): the sum over all pairs of rounds of a window."""
    p.rule("p2 >= 0", At("p >= 0", n, second), "p >= 0", "period", why="in a window")
    p.step("pair, weighted", other * a(second, i) + other * (W - 1) * c - other * a(inside, i) >= 0, {"pair": other},
        "p2 >= 0", numbers=(other,), why="times the weight of the one")
    p.sum_over("pairs", None, "pair, weighted", r, W, "period", why="all rounds of the window")
    p.sum_over("all pairs", None, "pairs", r2, W, "period", why="all pairs of rounds")
    p.step("(25)", pbar * total(a(inside, i), r, W)
        <= total(weight(inside, i) * a(inside, i), r, W) + W * pbar * (W - 1) * c, {"all pairs": 1 / W}, "window",
        numbers=(total(weight(inside, i), r, W), pbar), why="the weights of a window have the mean q_i")


def all_rounds(p: Proof) -> None:
    """(29): all windows and all clients."""
    p.sum_over("windows together", None, "(25)", e, windows, "period", why="all windows")
    p.rule("losses in windows", InEpochs(ain, n, e, windows, r, W), "period", why="round n is round r of window e",
        claim=total(ain, n, N) <= total(total(a(inside, i), r, W), e, windows))
    p.rule("products in windows", InEpochs(-pin * ain, n, e, windows, r, W), "period",
        claim=total(-pin * ain, n, N) <= total(total(-weight(inside, i) * a(inside, i), r, W), e, windows),
        why="round n is round r of window e")
    p.step("client", pbar * total(ain, n, N) <= total(pin * ain, n, N) + N * (W - 1) * c * pbar,
        {"windows together": 1, "losses in windows": pbar, "products in windows": 1}, "pbar >= 0", "period",
        numbers=(pbar,), why="all windows")
    p.sum_over("all clients", None, "client", i, M, why="all clients")
    p.rule("exchange", Exchange(pin * ain, i, M, n, N), "period", why="over clients and rounds")
    p.sum_over("rounds", None, "Z", n, N, "period", why="all rounds")
    p.step("(29)", mean <= Zbar - R + q_bar * (W - 1) * c,
        dict.fromkeys(("all clients", "exchange", "rounds"), 1 / (windows * W)), "mean", "Zbar", "R", "q_bar", "period",
        why="R cancels")


def printed(statement: Any) -> Any:
    """Up to where it breaks."""
    p = Proof(statement, mean)
    p.range("range qn", sp.And(qn > 0, qn <= rho), "the sum of the weights of a round")
    p.index(n, N, "rounds")
    p.known("Zbar", eq(Zbar, total(Z, n, N) / N), "mean over the rounds, what Theorem 1 bounds")
    p.known("mean", eq(mean, total(ain, n, N) / N), "q_bar times the gap of the surrogate problem")
    p.step("(25)", h * qn * B**2 <= h * B**2, why="the change in a round, from (24)")
    p.cite("Theorem 1", None, "theorem_1/as_printed", Zbar, why="the mean gap of the rounds")
    p.rule("(29)", Imported("(28) and (29)"), "(25)", claim=mean <= Zbar - R + q_bar * (W - 1) * h * B**2,
        why="R cancels")
    p.conclude(mean <= p.bound, {"(29)": 1, "Theorem 1": 1}, why="with eps_W")
    return p.done()
