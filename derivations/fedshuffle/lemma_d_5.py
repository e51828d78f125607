"""The proof of Lemma D.5 (Horvath et al., FedShuffle, Appendix D) as checked steps.

Rounds r = 0, ..., R-1 of E local epochs e each. Vectors are random, inner products stand for their expectations over
the whole run; i is the client of the round, drawn by weight.

    y(r,e)  start of epoch e minus the start of round r       phi(r,e), gap(r)  E f - f* there and at the round's start
    g(r,e)  average gradient of the epoch, (24)               d(r,e)   its direction, (25)
    fi(r,e) gradient of f_i at the start of the epoch         f(r,e)   gradient of f there
    m(r)    momentum of round r                               c        288 eta_l E/(23 a), weight of its error in Psi
    fix(r,0), fx(r)  gradient of f_i and of f at the start of the round
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.citations import plain
from boundcheck.proof.laws import Draws
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import bounded_below, gradient_dissimilarity, smooth_samples

READINGS = ("corrected", "as_printed")

gap_0, h2_0, E, R, eta_l, delta, L, a, G2, sigma2 = symbols("gap_0 h2_0 E R eta_l delta L a G2 sigma2")
r, e, k, c, grad2, sigma2_i, D_i = symbols("r e k c grad2 sigma2_i D_i")
phi, gap = functions("phi gap")
y, g, d, f, fi, u, q = (vector(name, r, e) for name in ("y", "g", "d", "f", "fi", "u", "q"))
m, fx, client, zero = vector("m", r), vector("fx", r), vector("fix", r, k), Vector(())  # one client, number 0, is drawn
fix, after = client.at(k, 0), y.at(e, e + 1)
h, G = m - fx, fix - fx

# in every round the client, the order of every epoch, and the client of the momentum, which is the last of its round
begun = r * (E + 2)
DRAWN = ((m, begun), (fx, begun - 1), (fx.at(r, 0), 0), (client, begun + 1), (y.at(e, 0), 0),
    *((one, begun + e + 1) for one in (y, f, fi, d)), (g, begun + e + 2))
CLIENT = Draws("client", "fedshuffle_mvr", ((client, fx),), (m, fx), time=r)


def over(term: Any) -> Any:
    """The sum over the epochs of the round."""
    return total(term, e, E)


def psi(k: Any) -> Any:
    """The potential at the start of round k."""
    return gap(k) + c * norm2(h.at(r, k))


grads, drift = over(norm2(f)), over(norm2(y))
weight = 288 * eta_l * E / (23 * a)  # c
ratio = E**2 * delta**2 * eta_l**2 / a
before_a_fourth = eta_l / 2 * (1 - 4 * eta_l**2 * L**2)  # the gain before 4 eta_l^2 L^2 <= 1/4


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma D.5."""
    p = Proof(statement, grad2, squares=(gap_0, h2_0, G2, sigma2), drawn=DRAWN, laws=(CLIENT,),
        rounds=tuple((term, r) for term in (y, g, d, f, fi, m, fx, client)))  # those before the round they are in
    p.index(r, R, "rounds")
    p.index(e, E, "epochs of a round")
    p.define(c, weight, "weight of the momentum error in Psi")
    p.define(u, d - f, "error of the direction")
    p.define(q, u + f + (g - fi), "step of the epoch")
    p.algorithm("start of the round", eq(y.at(e, 0), zero), "positions are relative to x^r")
    p.algorithm("epoch", eq(after, y - (g + (m - fix) * (1 - a)) * eta_l), "(12), (13), (24)")
    p.algorithm("direction", eq(d, fi * a + m * (1 - a) + (fi - fix) * (1 - a)), "(25)")
    p.algorithm("first epoch", phi(r, 0) <= gap(r), "the first epoch starts at x^r")
    p.algorithm("last epoch", gap(r + 1) <= phi(r, E), "x^(r+1) is where the last epoch ends: one client")
    p.known("gap_0", gap(0) <= gap_0, "Psi^0")
    p.known("h2_0", norm2(h.at(r, 0)) <= h2_0, "Psi^0")
    p.known("grad2", grad2 <= total(grads, r, R) / (R * E), "(30)")
    p.upper_model("(15)", smooth_samples, "Assumption 3.2, by (15)", Evaluation("F", y, f, phi(r, e)),
        Evaluation("F", after, value=phi(r, e + 1)))
    p.pointwise("A3.3", gradient_dissimilarity, "(4), for a client drawn by weight", Evaluation("F", zero, fx),
        client_grad2=norm2(fix))
    p.pointwise("f below", bounded_below, "f* is the infimum of f", gap=gap(R))

    lemmas(p)
    one_epoch(p)
    p.add_up("round.1", phi(r, E) <= phi(r, 0) - before_a_fourth * grads + 2 * eta_l**3 * L**2 * E * sigma2
        + 6 * eta_l * (E * norm2(h) + delta**2 * drift + E * a**2 * norm2(G)), "descent", phi(r, e), e, E,
        why="all epochs of the round")
    p.step("1/1600", E**2 * delta**2 * eta_l**2 <= sp.Rational(1, 1600), why="eta_l <= 1/(40 delta E)")
    p.step("1/1152", ratio <= sp.Rational(1, 1152), why="a >= 1152 E^2 delta^2 eta_l^2")
    p.expected("client deviation", norm2(G) <= G2, "client", {"A3.3": 1}, "condition B is 1",
        why="Assumption 3.3 with B = 1")
    gain = sp.Rational(63, 200) if p.reading == "corrected" else sp.Rational(1, 4)
    p.step("round",
        gap(r + 1) <= gap(r) - gain * eta_l * grads + 4 * eta_l**3 * L**2 * E * sigma2 + 12 * E * eta_l * (
            norm2(h) + a**2 * G2), {"round.1": 1, "first epoch": 1, "last epoch": 1, "D.3": 6 * eta_l * delta**2,
        "client deviation": 6 * E * eta_l * a**2 * (1 + 48 * E**2 * delta**2 * eta_l**2)}, "1/16", "1/1600",
        why="Lemma D.3, with 4 eta_l^2 L^2 <= 1/4 and 192 E^2 delta^2 eta_l^2 <= 12/100")
    potential(p) if p.reading == "corrected" else potential_as_printed(p)
    p.add_up("all rounds", psi(R) <= psi(sp.Integer(0)) - eta_l / 5 * total(grads, r, R)
        + R * (5 * E * eta_l**3 * L**2 * sigma2 + 51 * E * eta_l * a * G2), "potential", psi(r), r, R, why="all rounds")
    last = 5 / (eta_l * R * E)
    p.conclude(grad2 <= 5 * (gap_0 + weight * h2_0) / (eta_l * R * E) + 25 * eta_l**2 * L**2 * sigma2 + 255 * a * G2,
        {"grad2": 1, "all rounds": last, "f below": last, "gap_0": last, "h2_0": last * weight}, "c",
        why="Psi is at least 0; times 5/(eta_l R E)")
    return p.done()


def lemmas(p: Proof) -> None:
    """The lemmas before, in every round."""
    numbers = ((sigma2_i / D_i, sigma2),)
    start, run = plain(m=m, fx=fx), tuple((name, (e,), vector(name, r, e)) for name in ("y", "g", "d", "f", "fi"))
    after_it = plain(mp=m.at(r, r + 1), fxp=fx.at(r, r + 1))
    p.cite_for("D.1", norm2(g - fi) <= 2 * eta_l**2 * L**2 * sigma2 + eta_l**2 * L**2 * norm2(d), "lemma_d_1/corrected",
        plain(fy=fi, fx=fix, m=m, d=d, mean=g), "direction", numbers=numbers,
        why="Lemma D.1; the mean of sigma_i^2/|D_i| over the clients is sigma^2")
    p.cite_for("D.2", norm2(d - f) <= 3 * norm2(h) + 3 * delta**2 * norm2(y) + 3 * a**2 * norm2(G),
        "lemma_d_2/as_printed", plain(m=m, x=zero, y=y, fix=fix, fiy=fi, fx=fx, fy=f, d=d), "direction",
        why="Lemma D.2")
    p.cite_for("D.3", drift <= 16 * E**2 * eta_l**2 * grads + 16 * E**3 * eta_l**2 * (
        3 * norm2(h) + 3 * a**2 * norm2(G) + eta_l**2 * L**2 * sigma2), "lemma_d_3/as_printed",
        (*start, *plain(fix=fix), *run), "start of the round", "epoch", "direction", numbers=numbers,
        why="Lemma D.3")
    p.cite_for("D.4", norm2(h.at(r, r + 1)) <= (1 - 23 * a / 24) * norm2(h) + 3 * a**2 * norm2(G)
        + 16 * eta_l**4 * E**2 * delta**2 * L**2 * sigma2 + 8 * eta_l**2 * delta**2 * E * grads, "lemma_d_4/corrected",
        (*start, ("fix", (k,), client), *run, *after_it), "start of the round", "epoch", "direction",
        numbers=numbers, why="Lemma D.4")


def one_epoch(p: Proof) -> None:
    """How f descends in an epoch."""
    descent = phi(r, e + 1) - phi(r, e)
    p.step("step", eq(after, y - q * eta_l), "epoch", "direction", "u", "q",
        why="grad f and grad f_i at the start of the epoch added and subtracted")
    p.step("descent.1", descent <= -eta_l / 2 * norm2(f) + eta_l / 2 * norm2(u + (g - fi)), {"(15)": 1}, "step", "q",
        why="polarisation; the square of the step is dropped since eta_l L <= 1")
    p.square_of_sum("descent.2", u, g - fi, why="Lemma B.6")
    p.square_of_sum("descent.3", d - f, f, claim=norm2(d) <= 2 * norm2(u) + 2 * norm2(f), uses="u", why="Lemma B.6")
    p.step("1/16", eta_l**2 * L**2 <= sp.Rational(1, 16), why="eta_l <= 1/(4L)")
    p.step("descent.4", descent <= -before_a_fourth * norm2(f) + 2 * eta_l * norm2(u) + 2 * eta_l**3 * L**2 * sigma2,
        {"descent.1": 1, "descent.2": eta_l / 2, "D.1": eta_l, "descent.3": eta_l**3 * L**2}, "1/16",
        why="Lemma D.1 and 1 + 2 eta_l^2 L^2 <= 2")
    p.step("descent", phi(r, e + 1) <= phi(r, e) - before_a_fourth * norm2(f) + 2 * eta_l**3 * L**2 * sigma2
        + 6 * eta_l * (norm2(h) + delta**2 * norm2(y) + a**2 * norm2(G)), {"descent.4": 1, "D.2": 2 * eta_l}, "u",
        why="Lemma D.2")


def growth(of_grads: Any, of_noise: Any, of_G: Any) -> Any:
    """Psi(r+1) <= Psi(r) - eta_l of_grads grads + E eta_l^3 L^2 of_noise sigma2 + E eta_l of_G G2."""
    extra = E * eta_l**3 * L**2 * of_noise * sigma2 + E * eta_l * of_G * G2
    return psi(r + 1) <= psi(r) - eta_l * of_grads * grads + extra


def lemma_d_4_added(p: Proof, name: str, claim: Any, *uses: str) -> None:
    """The growth of the potential in one round."""
    p.step(name, claim, {"round": 1, "D.4": weight, "client deviation": 3 * a**2 * weight}, "c", *uses,
        why="c times Lemma D.4 added: c (1 - 23a/24) + 12 E eta_l = c")


added, noise, deviation = 2304 * ratio / 23, 4 + 4608 * ratio / 23, 12 * a**2 + 864 * a / 23  # with c times Lemma D.4


def potential(p: Proof) -> None:
    """The last line of the display."""
    p.step("1/5", sp.Rational(63, 200) - added >= sp.Rational(1, 5), "1/1152", why="63/200 - 2/23 > 1/5")
    p.step("noise 5", noise <= 5, "1/1152", why="4 + 4/23 < 5")
    p.step("deviation 51", deviation <= 51 * a, why="12 + 864/23 < 51")
    lemma_d_4_added(p, "potential", growth(sp.Rational(1, 5), 5, 51 * a), "1/5", "noise 5", "deviation 51")


def potential_as_printed(p: Proof) -> None:
    """The same by way of the printed 104, 208 and 39."""
    conditions = ("condition step size and L", "condition P is 0")
    fourth, fifth = sp.Rational(1, 4), sp.Rational(1, 5)
    printed = fourth * (1 - 104 * ratio), 4 + 208 * ratio, 12 * a**2 + 39 * a
    p.step("printed 104", fourth - added >= printed[0], *conditions,
        why="the printed coefficient of the squared gradients against what c times Lemma D.4 adds")
    p.step("printed 1/5", fourth - added >= fifth, *conditions,
        why="the last line of the display with what c times Lemma D.4 adds in place of 104")
    p.step("printed noise", noise <= printed[1], why="the printed 208")
    p.step("printed deviation", deviation <= printed[2], why="the printed 39")
    lemma_d_4_added(p, "printed potential", growth(*printed), "printed 104", "printed noise", "printed deviation")
    p.step("printed rest", sp.And(printed[0] >= fifth, printed[1] <= 5, printed[2] <= 51 * a), "1/1152",
        why="a >= 1152 E^2 delta^2 eta_l^2 and a <= 1")
    p.step("potential", growth(fifth, 5, 51 * a), {"printed potential": 1}, "printed rest", "c",
        why="the last line of the display")
