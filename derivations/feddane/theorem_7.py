"""The proof of Theorem 7 (FedDANE, Appendix V-F), corrected, as checked steps: constants of each device.

Vectors are random and <u, v> is the expectation of their inner product, given S'_t; S_t is independent of it. The names
are those of the derivation of Theorem 5, from which the facts about S_t and the bound of E|g|^2 are taken, and

    inv(k), gam(k), lip(k)  1/mu_k, gamma_k and L_k of device k of S'_t    d(k)  its point

The model of f that is averaged over S'_t has the smoothness L_f of f, where the paper takes that of device k.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, eq, functions, ge, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("corrected", "sharp")

L_f, B2, K, gap_0, grad2_0, C, k, gap_1 = symbols("L_f B2 K gap_0 grad2_0 C k gap_1")
inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2 = symbols("inv_mu gamma_inv_mu L_inv_mu2 gamma2_inv_mu2")
inv, gam, lip = (f(k) for f in functions("inv gam lip"))
slope, g, x, d = vector("slope"), vector("g"), vector("x"), vector("d", k)

TAKEN = ("gradients", "index j", "mean of S_t", "shares", "variance", "solvers", "index k", "gradient", "mean of S'_t",
    "E g", "E g, above", "dissimilar")
GIVEN = ("shares", "variance", "E g", "E g, above")


def derivation(statement: Any) -> Any:
    """The derivation of one reading; factor is the multiple of |slope|^2 that bounds E|g|^2."""
    general = derivation_of(f"feddane/theorem_5/{'sharp' if statement.reading == 'sharp' else 'as_printed'}")
    p = Proof(statement, gap_1, drawn=general.drawn)
    for fact in (f for f in general.facts if f.name in TAKEN):
        given = ", given S'_t, of which S_t is independent" if fact.name in GIVEN else ""
        p.add(replace(fact, source=fact.source + given))
    p.known("constants", sp.And(inv > 0, gam >= 0, lip >= 0), "mu_k > 0")
    for name, symbol, term in (("mean 1/mu", inv_mu, inv), ("mean gamma/mu", gamma_inv_mu, gam * inv),
        ("mean L/mu^2", L_inv_mu2, lip * inv**2), ("mean (1 + gamma)^2/mu^2", gamma2_inv_mu2, (1 + gam)**2 * inv**2)):
        p.known(name, eq(symbol, total(term, k, C) / C), "a mean over the devices of S'_t")
    p.assume("descent", "client_smoothness", gap_1 <= gap_0 + inner(slope, x) + L_f / 2 * norm2(x),
        "f is L_f-smooth; its value at w^t is below the quadratic upper model")

    p.take_steps(general.statement.id, "g.1", "g.2", "(18)", "(10)")
    if p.reading == "sharp":
        factor = 1 + (B2 - 1) / K
        p.step("E|g|^2", norm2(g) <= factor * norm2(slope), {"g.2": 1}, why="as it is")
    else:
        factor = 2 * B2
        p.step("E|g|^2", norm2(g) <= factor * norm2(slope), {"(10)": 1, "(18)": 2}, why="the paper's bound")
    rho = inv - (lip * inv**2 + gam * inv) * (1 + factor) / 2 - L_f * (1 + gam)**2 * inv**2 * factor / 2
    means = inv_mu - (L_inv_mu2 + gamma_inv_mu) * (1 + factor) / 2 - L_f * gamma2_inv_mu2 * factor / 2
    model = inner(slope, d) + L_f / 2 * norm2(d)
    p.step("square", ge(norm2(g), 0), why="a squared norm")
    p.step("square of the gradient", ge(norm2(slope), 0), why="a squared norm")
    p.cite("device", model <= -rho * grad2_0, "one_device/corrected", model, "E g", "E|g|^2", "square",
        "square of the gradient", "gradient", "constants", inv=inv, gam=gam, lip=lip, L_f=L_f, factor=factor,
        grad2=grad2_0, product=inner(slope, g), square=norm2(g),
        why="the upper model of f at one device's point, in expectation over S_t")
    p.sum_over("average", total(model, k, C) <= -total(rho, k, C) * grad2_0, "device", k, C, why="over S'_t")
    p.square_of_sum("convex", d + slope / L_f, over=(k, C),
        why="the upper model is L_f/2 |x + slope/L_f|^2 and a constant")
    p.step("pathwise", gap_1 <= gap_0 - total(rho, k, C) / C * grad2_0,
        {"descent": 1, "average": 1 / C, "convex": L_f / (2 * C**2)}, "mean of S'_t", why="for every S'_t")
    p.conclude(gap_1 <= gap_0 - means * grad2_0, "pathwise", "mean 1/mu", "mean gamma/mu", "mean L/mu^2",
        "mean (1 + gamma)^2/mu^2", why="the means by their names")
    return p.done()
