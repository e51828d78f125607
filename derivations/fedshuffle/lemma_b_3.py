"""The proof of Lemma B.3 (FedShuffle, Appendix B.2): the sublinear rate, at any step and at the tuned one.

d(r)    the sequence        part(r)  sum of the first r increments, of which Psi is the mean
index   r counts from 0: d(0) = d0, the increments are those of r = 1, ..., K
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, functions, le, symbols

READINGS = ("as_printed", "fixed_step")

d0, c1, c2, K, eta, eta_max, psi, r = symbols("d0 c1 c2 K eta eta_max psi r")
d, part = functions("d part")
at_step = psi <= d0 / (eta * K) + c1 * eta + c2 * eta**2


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, psi)
    fixed(p) if p.reading == "fixed_step" else tuned(p)
    return p.done()


def fixed(p: Proof) -> None:
    """At any step: the sum telescopes."""
    p.index(r, None, "terms")
    p.known("start", eq(d0, d(0)), "d_0")
    p.known("psi", eq(psi, part(K) / K), "Psi is the mean of the increments")
    p.known("nothing", eq(part(0), 0), "an empty sum")
    p.known("increment", eq(part(r + 1), part(r) + d(r) / eta - d(r + 1) / eta + c1 * eta + c2 * eta**2),
        "the increment of r + 1")
    p.assume("last", "increments", d(K) >= 0, "no member of the sequence is negative")
    p.induct("sum", lambda r: le(part(r), (d0 - d(r)) / eta + r * (c1 * eta + c2 * eta**2)), r, K,
        base=("nothing", "start"), step="increment", why="the sum telescopes", words=("no term", "one more increment"))
    p.conclude(at_step, "sum", "psi", "last", why="the last member is dropped")


def tuned(p: Proof) -> None:
    """At the step that the paper chooses, 1/max(1/eta_max, first, second)."""
    first, second = sp.sqrt(c1 * K / d0), sp.cbrt(c2 * K / d0)
    p.define(eta, 1 / sp.Max(1 / eta_max, first, second),
        "min(eta_max, sqrt(d0/(c1 K)), cbrt(d0/(c2 K))), with a term left out where its coefficient is 0")
    p.signs(eta > 0, "eta", why="a minimum of positive numbers")
    p.step("1", 1 / eta <= 1 / eta_max + first + second, "eta", why="the maximum is at most the sum")
    p.step("2.1", eta * first <= 1, "eta", why="eta is at most sqrt(d0/(c1 K))")
    p.step("3.1", eta * second <= 1, "eta", why="eta is at most cbrt(d0/(c2 K))")
    p.step("2.2", first * d0 / K <= sp.sqrt(c1 * d0 / K), why="both are at least 0, with equal squares")
    p.step("3.2", second * d0 / K <= sp.cbrt(c2) * sp.cbrt(d0 / K)**2, why="with equal cubes")
    p.step("2", c1 * eta <= first * d0 / K, "2.1", "eta > 0", why="c1 K/d0 is the square of the root")
    p.step("3", c2 * eta**2 <= second * d0 / K, "3.1", "eta > 0", why="c2 K/d0 is the cube of the root")
    p.cite("fixed", at_step, "lemma_b_3/fixed_step", psi, "eta > 0", why="at this step", d0=d0, c1=c1, c2=c2, K=K,
        eta=eta)
    p.conclude(psi <= d0 / (eta_max * K) + 2 * sp.sqrt(c1 * d0 / K) + 2 * sp.cbrt(c2) * sp.cbrt(d0 / K)**2,
        {"fixed": 1, "1": d0 / K, "2": 1, "3": 1, "2.2": 2, "3.2": 2}, "eta > 0", why="each term twice at most")
