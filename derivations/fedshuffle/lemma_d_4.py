"""The proof of Lemma D.4 (Horvath et al., FedShuffle, Appendix D) as checked steps.

One round of the drawn client i, then the momentum update (14) with the next client j. Vectors are random, inner
products stand for their expectations given what came before the round.

    y(e)   start of epoch e minus the start x of the round, e = 0, ..., E; y(E) = x+ - x
    g(e)   average gradient of epoch e, (24)       d(e)   its direction, (25)
    fi(e)  gradient of f_i at the start of e       f(e)   gradient of f there
    m, mp  momentum before and after               fix    gradient of f_i at x
    fx, fxp  gradient of f at x and x+             fjx, fjxp  gradient of f_j at x and x+

The numbers 8343/800 = 10.43, 2781/800 = 3.48 and 4881/800 = 6.10 are what the repaired chain gives before it is rounded
up to the printed 24, 4 and 8. Equation (14) is not in the paper's text; it is what its display of h+ expands to. In the
printed reading that display is taken without its misprints (i for j, x for x+).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.citations import plain
from boundcheck.proof.laws import Draws
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import hessian_similarity

READINGS = ("corrected", "as_printed")

h2, gam2, sigma2_i, D_i, S, E, eta_l, delta, L, a = symbols("h2 gam2 sigma2_i D_i S E eta_l delta L a")
e, k, A, B, Q, X, error2_1 = symbols("e k A B Q X error2_1")
y, g, d, f, fi, u, v, q = (vector(name, e) for name in ("y", "g", "d", "f", "fi", "u", "v", "q"))
m, mp, fx, fxp = (vector(name) for name in ("m", "mp", "fx", "fxp"))
of_i, of_j, of_j_after = (vector(name, k) for name in ("fix", "fjx", "fjxp"))  # one client is drawn, number 0
fix, fjx, fjxp = (one.at(k, 0) for one in (of_i, of_j, of_j_after))
h, Z, G = m - fx, fjxp - fjx - fxp + fx, fjx - fx
end, begin, noise = y.at(e, E), Vector(()), sigma2_i / D_i
numbers = ((noise, noise),)

# the client, the order of every epoch, and the client j
DRAWN = ((m, 0), (fx, 0), (fix, 1), (y.at(e, 0), 0), (y, e + 1), (f, e + 1), (fi, e + 1), (g, e + 2), (d, e + 1),
    (fxp, E + 1), (fjx, E + 2), (fjxp, E + 2), (mp, E + 2))
LAWS = (Draws("i", "fedshuffle_mvr", ((of_i, fx),), (m, fx)),
    Draws("j", "fedshuffle_mvr", ((of_j, fx), (of_j_after, fxp)), (m, fx, fxp, of_i, y, g, d, f, fi), ((of_j, fix),)))


def over(term: Any) -> Any:
    """The sum over the epochs of the round."""
    return total(term, e, E)


def length(of_h2: Any, of_S: Any, of_noise: Any) -> Any:
    """X <= eta_l^2 E^2 of_h2 (h2 + a^2 gam2) + eta_l^2 E of_S S + eta_l^4 E^2 L^2 of_noise noise, as a claim."""
    first = eta_l**2 * E**2 * of_h2 * (h2 + a**2 * gam2)
    return X <= first + eta_l**2 * E * of_S * S + eta_l**4 * E**2 * L**2 * of_noise * noise


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma D.4."""
    p = Proof(statement, error2_1, squares=(h2, gam2, sigma2_i, S, A, B, Q, X), drawn=DRAWN, laws=LAWS,
        at_start=(y, g, d, f, fi, h2, gam2, S, m, of_i, fx))  # of the round that is about to be made
    p.index(e, E, "epochs of the round")
    p.define(u, d - f, "error of the direction")
    p.define(v, g - fi, "error of the epoch's gradient")
    p.define(q, u + f + v, "step of the epoch")
    p.define(A, over(norm2(u)), "errors of the directions")
    p.define(B, over(norm2(v)), "errors of the epochs' gradients")
    p.define(Q, over(norm2(q)), "lengths of the steps")
    p.define(X, norm2(end), "squared length of x+ - x")
    p.algorithm("start", eq(y.at(e, 0), begin), "positions are relative to x")
    p.algorithm("epoch", eq(y.at(e, e + 1), y - (g + (m - fix) * (1 - a)) * eta_l), "(12), (13), (24)")
    p.algorithm("direction", eq(d, fi * a + m * (1 - a) + (fi - fix) * (1 - a)), "(25)")
    p.algorithm("momentum", eq(mp, fjxp * a + m * (1 - a) + (fjxp - fjx) * (1 - a)), "(14)")
    p.known("h2", norm2(h) <= h2, "Lemma D.4")
    p.known("gam2", norm2(fix - fx) <= gam2, "Lemma D.4")
    p.known("S", over(norm2(f)) <= S, "Lemma D.4")
    p.known("error2_1", error2_1 <= norm2(mp - fxp), "Lemma D.4")
    p.pointwise("A3.5", hessian_similarity, "Assumption 3.5 for f_j at x and x+", Evaluation("f_i", end, fjxp),
        Evaluation("f_i", begin, fjx), Evaluation("F", end, fxp), Evaluation("F", begin, fx))

    lemmas(p)
    momentum(p)
    movement(p) if p.reading == "corrected" else movement_as_printed(p)
    p.conclude(error2_1 <= (1 - 23 * a / 24) * h2 + 3 * a**2 * gam2 + 16 * eta_l**4 * E**2 * delta**2 * L**2 * noise
        + 8 * eta_l**2 * delta**2 * E * S, {"momentum error": 1, "length": 2 * delta**2},
        why="48 E^2 delta^2 eta_l^2 <= a/24 <= 1")
    return p.done()


def lemmas(p: Proof) -> None:
    """The lemmas before, for the round."""
    p.cite_for("D.1", norm2(g - fi) <= 2 * eta_l**2 * L**2 * noise + eta_l**2 * L**2 * norm2(d), "lemma_d_1/corrected",
        plain(fy=fi, fx=fix, m=m, d=d, mean=g), "direction", numbers=numbers, why="Lemma D.1 in every epoch")
    p.cite_for("D.2", norm2(d - f) <= 3 * h2 + 3 * delta**2 * norm2(y) + 3 * a**2 * gam2, "lemma_d_2/as_printed",
        plain(m=m, x=begin, y=y, fix=fix, fiy=fi, fx=fx, fy=f, d=d), "direction", "h2", "gam2", kept=(h2, gam2),
        why="Lemma D.2 in every epoch")
    drift = over(norm2(y))
    run = tuple((name, (e,), vector(name, e)) for name in ("y", "g", "d", "f", "fi"))
    p.cite_for("D.3", drift <= 16 * E**2 * eta_l**2 * S
        + 16 * E**3 * eta_l**2 * (3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * noise), "lemma_d_3/as_printed",
        (*plain(m=m, fix=fix, fx=fx), *run), "start", "epoch", "direction", "h2", "gam2", "S",
        numbers=numbers, kept=(S, h2, gam2), why="Lemma D.3 for the round")
    p.square_of_sum("length of the direction", d - f, f, claim=norm2(d) <= 2 * norm2(u) + 2 * norm2(f), uses="u",
        why="the direction is the gradient of f and its error")
    p.step("epoch errors.1", norm2(v) <= 2 * eta_l**2 * L**2 * (noise + norm2(u) + norm2(f)),
        {"D.1": 1, "length of the direction": eta_l**2 * L**2}, "v", why="Lemma D.1 with the length of the direction")
    p.sum_over("epoch errors", B <= 2 * eta_l**2 * L**2 * (E * noise + A + over(norm2(f))), "epoch errors.1", e, E, "A",
        "B", why="over the epochs")
    p.step("direction errors.1", norm2(u) <= 3 * h2 + 3 * delta**2 * norm2(y) + 3 * a**2 * gam2, {"D.2": 1}, "u",
        why="Lemma D.2")
    p.sum_over("direction errors", A <= 3 * E * h2 + 3 * delta**2 * drift + 3 * E * a**2 * gam2, "direction errors.1",
        e, E, "A", why="Lemma D.2 over the epochs")
    p.step("step", eq(y.at(e, e + 1), y - q * eta_l), "epoch", "direction", "u", "v", "q",
        why="grad f and grad f_i at the start of the epoch added and subtracted")
    p.telescope("x+ - x", eq(end, y.at(e, 0) + vector_total(q * -eta_l, e, E)), "step", e, E, why="all epochs")


def momentum(p: Proof) -> None:
    """The error of the next momentum, by the length of x+ - x."""
    p.step("h+", eq(mp - fxp, h * (1 - a) + Z + G * a), "momentum",
        why="(14) with the gradients of f at x and x+ added and subtracted")
    p.square_of_sum("noise of h+", Z, G * a, claim=norm2(Z + G * a) <= 2 * norm2(Z) + 2 * a**2 * norm2(G),
        why="Lemma B.6")
    p.step("1 - a", (1 - a)**2 <= 1 - a, why="0 <= a <= 1")
    p.expected("h+ square", norm2(mp - fxp) <= (1 - a)**2 * norm2(h) + 2 * norm2(Z) + 2 * a**2 * norm2(G), "j",
        {"noise of h+": 1}, "momentum", why="the products with h have mean 0")
    p.expected("momentum error", error2_1 <= (1 - a) * h2 + 2 * delta**2 * X + 2 * a**2 * gam2, ("j", "i"),
        {"error2_1": 1, "h+ square": 1, "A3.5": 2, "h2": (1 - a)**2, "gam2": 2 * a**2}, "1 - a", "X",
        why="Assumption 3.5 and (1-a)^2 <= 1-a")


def small_steps(p: Proof) -> None:
    """What the step conditions say of the squares."""
    p.step("1/16", eta_l**2 * L**2 <= sp.Rational(1, 16), why="eta_l <= 1/(4L)")
    p.step("1/1600", E**2 * delta**2 * eta_l**2 <= sp.Rational(1, 1600), why="eta_l <= 1/(40 delta E)")


def movement(p: Proof) -> None:
    """The length of x+ - x from the three parts of a step."""
    p.square_of_sum("three parts", u, f, v, claim=norm2(q) <= 3 * norm2(u) + 3 * norm2(f) + 3 * norm2(v), uses="q",
        why="Lemma B.6 with the three terms that there are")
    p.sum_over("all parts", Q <= 3 * A + 3 * over(norm2(f)) + 3 * B, "three parts", e, E, "A", "B", "Q",
        why="over the epochs")
    p.square_of_sum("length.1", q * -eta_l, over=(e, E), claim=norm2(end) <= eta_l**2 * E * over(norm2(q)),
        uses=("x+ - x", "start"), why="the squared sum of E steps")
    small_steps(p)
    p.step("length.2", X <= eta_l**2 * E * (27 * (A + S) / 8 + 6 * E * eta_l**2 * L**2 * noise),
        {"length.1": 1, "all parts": eta_l**2 * E, "epoch errors": 3 * eta_l**2 * E,
        "S": eta_l**2 * E * (3 + 6 * eta_l**2 * L**2)}, "X", "Q", "1/16", why="3 (1 + 2 eta_l^2 L^2) <= 27/8")
    p.step("length.3", length(sp.Rational(8343, 800), sp.Rational(2781, 800), sp.Rational(4881, 800)),
        {"length.2": 1, "direction errors": 27 * eta_l**2 * E / 8, "D.3": 81 * eta_l**2 * E * delta**2 / 8}, "1/1600",
        why="Lemmas D.2 and D.3: 27/8 * 3 * 103/100, 27/8 * 103/100 and 6 + 27/8 * 3/100")
    p.step("length", length(24, 4, 8), {"length.3": 1}, why="rounded up to the printed constants")


def movement_as_printed(p: Proof) -> None:
    """The same as printed, where a step has only the two errors as parts."""
    p.step("printed x+ - x", eq(end, vector_total(u - v, e, E) * -eta_l), "x+ - x", "start", "q",
        why="the second line of the printed display")
    p.square_of_sum("printed two parts", u, -v, claim=norm2(u - v) <= 2 * norm2(u) + 2 * norm2(v),
        why="Lemma B.6 with two terms")
    p.square_of_sum("printed length.1", (u - v) * -eta_l, over=(e, E), uses="printed x+ - x",
        claim=norm2(end) <= eta_l**2 * E * over(norm2(u - v)), why="the squared sum of E of these")
    p.sum_over("printed all parts", over(norm2(u - v)) <= 2 * A + 2 * B, "printed two parts", e, E, "A", "B",
        why="over the epochs")
    p.step("printed length of one step", eta_l**2 * S <= 4 * eta_l**4 * L**2 * S, why=
        "'printed length.2' where E = 1, m = grad f(x) and the one client has one sample: x+ - x = -eta_l grad f(x)")
    small_steps(p)
    p.step("printed length.2",
        X <= 4 * eta_l**4 * E**2 * L**2 * noise + 4 * eta_l**2 * E * A + 4 * eta_l**4 * L**2 * E * S,
        {"printed length.1": 1, "printed all parts": eta_l**2 * E, "epoch errors": 2 * eta_l**2 * E,
        "S": 4 * eta_l**4 * L**2 * E}, "X", "1/16", why="with Lemma D.1")
    p.step("length", length(24, 4, 8),
        {"printed length.2": 1, "direction errors": 4 * eta_l**2 * E, "D.3": 12 * eta_l**2 * E * delta**2}, "1/16",
        "1/1600", why="Lemmas D.2 and D.3")
