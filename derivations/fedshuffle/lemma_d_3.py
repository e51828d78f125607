"""The proof of Lemma D.3 (Horvath et al., FedShuffle, Appendix D) as checked steps.

One round of the drawn client i makes E local epochs, counted by e = 0, ..., E-1. Vectors are random, inner products
stand for their expectations given what came before the round.

    y(e)   start of epoch e minus the start x of the round        m      momentum of the round
    g(e)   average gradient of epoch e, (24)                      d(e)   its direction, (25)
    fi(e)  gradient of f_i there                                  f(e)   gradient of f there
    fix    gradient of f_i at x                                   q(e)   step of the epoch: y(e+1) = y(e) - eta_l q(e)

The readings share all but the last roundings, and Lemma D.2 with or without its factor (1 - a)^2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.citations import plain
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.rules import PartialSum
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, norm2, vector

READINGS = ("as_printed", "sharp")

h2, gam2, sigma2_i, D_i, S, E, eta_l, delta, L, a = symbols("h2 gam2 sigma2_i D_i S E eta_l delta L a")
e, A, Q, drift2 = symbols("e A Q drift2")
y, g, d, f, fi, u, q = (vector(name, e) for name in ("y", "g", "d", "f", "fi", "u", "q"))
m, fix, fx, zero = vector("m"), vector("fix"), vector("fx"), Vector(())
noise, pairs = sigma2_i / D_i, E * (E - 1) / 2


def over(term: Any) -> Any:
    """The sum over the epochs of the round."""
    return total(term, e, E)


drift = over(norm2(y))
# the client, then the order of every epoch
DRAWN = ((m, 0), (fx, 0), (fix, 1), (y.at(e, 0), 0), (y, e + 1), (f, e + 1), (fi, e + 1), (g, e + 2), (d, e + 1))


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma D.3."""
    p = Proof(statement, drift2, squares=(h2, gam2, sigma2_i, S, A, Q), drawn=DRAWN,
        at_start=(y, g, d, f, fi, h2, gam2, S, m, fix, fx))  # of the round that is about to be made
    p.index(e, E, "epochs of the round")
    p.define(u, d - f, "error of the direction")
    p.define(q, u + f + (g - fi), "step of the epoch")
    p.define(A, over(norm2(u)), "errors of the directions")
    p.define(Q, over(norm2(q)), "lengths of the steps")
    p.algorithm("start", eq(y.at(e, 0), zero), "positions are relative to x")
    p.algorithm("epoch", eq(y.at(e, e + 1), y - (g + (m - fix) * (1 - a)) * eta_l), "(12), (13), (24)")
    p.algorithm("direction", eq(d, fi * a + m * (1 - a) + (fi - fix) * (1 - a)), "(25)")
    p.known("S", over(norm2(f)) <= S, "Lemma D.3")
    p.known("h2", norm2(m - fx) <= h2, "Lemma D.3")
    p.known("gam2", norm2(fix - fx) <= gam2, "Lemma D.3")
    p.known("drift2", drift2 <= over(norm2(y)), "Lemma D.3")

    lengths(p)
    kept = (1 - a)**2 * h2 if p.reading == "sharp" else h2  # of the momentum's error, by Lemma D.2
    p.cite_for("D.2", norm2(d - f) <= 3 * kept + 3 * delta**2 * norm2(y) + 3 * a**2 * gam2, f"lemma_d_2/{p.reading}",
        plain(m=m, x=zero, y=y, fix=fix, fiy=fi, fx=fx, fy=f, d=d), "direction", "h2", "gam2", kept=(h2, gam2),
        why="Lemma D.2 in every epoch")
    p.step("error", norm2(u) <= 3 * kept + 3 * delta**2 * norm2(y) + 3 * a**2 * gam2, {"D.2": 1}, "u", why="Lemma D.2")
    p.sum_over("errors", A <= 3 * E * kept + 3 * delta**2 * drift + 3 * E * a**2 * gam2, "error", e, E, "A",
        why="Lemma D.2 over the epochs")
    positions(p)
    sharp(p) if p.reading == "sharp" else rounded(p)
    return p.done()


def lengths(p: Proof) -> None:
    """How long the steps of the epochs are."""
    p.cite_for("D.1", norm2(g - fi) <= 2 * eta_l**2 * L**2 * noise + eta_l**2 * L**2 * norm2(d), "lemma_d_1/corrected",
        plain(fy=fi, fx=fix, m=m, d=d, mean=g), "direction", numbers=((noise, noise),), why="Lemma D.1 in every epoch")
    p.step("step", eq(y.at(e, e + 1), y - q * eta_l), "epoch", "direction", "u", "q",
        why="grad f and grad f_i at the start of the epoch added and subtracted")
    p.square_of_sum("three parts", u, f, g - fi, uses="q", why="Lemma B.6 with three terms",
        claim=norm2(q) <= 3 * norm2(u) + 3 * norm2(f) + 3 * norm2(g - fi))
    p.square_of_sum("length.1", d - f, f, claim=norm2(d) <= 2 * norm2(u) + 2 * norm2(f), uses="u",
        why="the direction is the gradient of f and its error")
    p.step("length", norm2(q) <= (3 + 6 * eta_l**2 * L**2) * (norm2(u) + norm2(f)) + 6 * eta_l**2 * L**2 * noise,
        {"three parts": 1, "D.1": 3, "length.1": 3 * eta_l**2 * L**2}, why="with Lemma D.1")
    p.sum_over("lengths", Q <= (3 + 6 * eta_l**2 * L**2) * (A + over(norm2(f))) + 6 * E * eta_l**2 * L**2 * noise,
        "length", e, E, "A", "Q", why="over the epochs")


def positions(p: Proof) -> None:
    """How far the epochs start from x, by the lengths of the steps."""
    p.telescope("position.1", None, "step", e, e, why="the first e epochs")
    p.square_of_sum("position.2", q * -eta_l, over=(e, e), claim=norm2(y) <= e * eta_l**2 * total(norm2(q), e, e),
        uses=("position.1", "start"), why="the squared sum of e steps")
    p.rule("position.3", PartialSum(norm2(q), e, e, E), why="the first e of E steps")
    p.step("position", norm2(y) <= e * eta_l**2 * Q, {"position.2": 1, "position.3": e * eta_l**2}, "Q",
        why="both together")
    p.sum_over("drift", drift <= pairs * eta_l**2 * Q, "position", e, E, why="0 + 1 + ... + (E-1) = E(E-1)/2")
    p.step("six times the square", 6 * eta_l**2 * L**2 <= sp.Rational(3, 2), why="eta_l <= 1/(2L)")


all_parts = {"drift": 1, "lengths": pairs * eta_l**2, "S": pairs * eta_l**2 * (3 + 6 * eta_l**2 * L**2)}


def rounded(p: Proof) -> None:
    """The conclusion with the printed constants."""
    rest = 3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * noise
    room = 1 - 12 * E**2 * eta_l**2 * delta**2
    p.step("factor 4", drift <= 4 * E**2 * eta_l**2 * (A + S + E * eta_l**2 * L**2 * noise), all_parts,
        "six times the square", why="3/2 (1 + 1/2) <= 4 and 3 <= 4")
    p.step("room", room >= sp.Rational(1, 4), why="eta_l <= 1/(4 E delta)")
    p.step("conclusion.1", room * drift <= 4 * E**2 * eta_l**2 * S + 4 * E**3 * eta_l**2 * rest,
        {"factor 4": 1, "errors": 4 * E**2 * eta_l**2}, why="Lemma D.2 put in")
    p.conclude(drift2 <= 16 * E**2 * eta_l**2 * S + 16 * E**3 * eta_l**2 * rest, {"drift2": 1, "conclusion.1": 4},
        "room", why="solved for the drift")


def sharp(p: Proof) -> None:
    """The conclusion with the constants as they come."""
    kept = (1 - a)**2 * h2 + a**2 * gam2
    room = 1 - sp.Rational(27, 2) * pairs * eta_l**2 * delta**2
    p.step("factor 9/4", drift <= pairs * eta_l**2 * (9 * (A + S) / 2 + 6 * E * eta_l**2 * L**2 * noise), all_parts,
        "six times the square", why="3 (1 + 1/2) = 9/2")
    p.step("room", room >= sp.Rational(37, 64), why="eta_l <= 1/(4 E delta)")
    p.step("conclusion.1",
        room * drift <= pairs * eta_l**2 * (9 * S / 2 + 27 * E * kept / 2 + 6 * E * eta_l**2 * L**2 * noise),
        {"factor 9/4": 1, "errors": 9 * pairs * eta_l**2 / 2}, why="Lemma D.2 put in")
    p.conclude(drift2 <= sp.Rational(48, 37) * E * (E - 1) * eta_l**2 * (
        3 * S + 9 * E * kept + 4 * E * eta_l**2 * L**2 * noise), {"drift2": 1, "conclusion.1": sp.Rational(64, 37)},
        "room", why="solved for the drift")
