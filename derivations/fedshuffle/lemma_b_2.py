"""The proof of Lemma B.2 (FedShuffle, Appendix B.2) at any step: the linear rate with the exact sum of the weights.

    d(r)   the sequence, r counting from 0      part(r)  weighted sum of the first r increments    V(r)  of the weights

The weights v_r = (1 - mu eta)^(1-r) grow; both sums are multiplied by (1 - mu eta)^(r-1), so that only powers with a
positive exponent are left: part and V stand for these products.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, functions, le, symbols

READINGS = ("fixed_step",)

mu, d0, c1, c2, K, eta, psi, r, f = symbols("mu d0 c1 c2 K eta psi r f")
d, part, V = functions("d part V")


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, psi)
    p.define(f, 1 - mu * eta, "factor of the recursion")
    p.index(r, None, "terms")
    p.known("start", eq(d0, d(0)), "d_0")
    p.known("psi", eq(psi * V(K), part(K)), "Psi is the weighted mean of the increments")
    p.known("nothing", eq(part(0), 0), "an empty sum")
    p.known("no weight", eq(V(0), 0), "an empty sum")
    p.known("weight", eq(V(r + 1), f * V(r) + 1), "v_(r+1) times (1 - mu eta)^r is 1")
    p.known("increment", eq(part(r + 1), f * part(r) + f * d(r) / eta - d(r + 1) / eta + c1 * eta + c2 * eta**2),
        "the increment of r + 1, with v_(r+1) times (1 - mu eta)^r")
    p.assume("last", "weighted_increments", d(K) >= 0, "no member of the sequence is negative")

    p.signs(f > 0, "f", why="the weights exist")
    p.signs(f < 1, "f", why="the recursion contracts")
    small = ("f > 0", "f < 1")
    p.induct("weights", lambda r: eq(V(r), (1 - f**r) / (1 - f)), r, K, *small, why="the geometric sum",
        base=("no weight", "f < 1"), step=("weight", *small), names=("weights 0", "weights r"),
        words=("no term", "one more weight"))
    p.induct("sum", lambda r: le(part(r), (f**r * d0 - d(r)) / eta + (c1 * eta + c2 * eta**2) * V(r)), r, K, *small,
        why="the sum telescopes", base=("nothing", "no weight", "start"), step=("increment", "weight", *small),
        names=("sum 0", "sum r"), words=("no term", "one more increment"))
    p.induct("positive", lambda r: sp.Gt(f**r, 0, evaluate=False), r, r, *small, why="every power is positive",
        step=small, names=("positive 0", "positive r"), words=("1 > 0", "a product of positive numbers"))
    p.induct("power", lambda r: le(f**r * (1 + r * (1 - f)), 1), r, K, *small, step=("positive", *small),
        why="Bernoulli's inequality, so that f^K < 1", names=("power 0", "power r"),
        words=("1 <= 1", "f (1 + (r + 1)(1 - f)) <= 1 + r (1 - f)"))
    p.conclude(psi <= mu * d0 * f**K / (1 - f**K) + c1 * eta + c2 * eta**2, "f", "sum", "weights", "power", "psi",
        "last", *small, why="over the sum of the weights; the last member is dropped")
    return p.done()
