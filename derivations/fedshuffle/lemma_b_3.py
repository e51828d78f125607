"""The proof of Lemma B.3 (FedShuffle, Appendix B.2): the sublinear rate, at any step and at the tuned one.

d(r)    the sequence        part(r)  sum of the first r increments, of which Psi is the mean
index   r counts from 0: d(0) = d0, the increments are those of r = 1, ..., K
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Induction, Supposing
from boundcheck.proof.step import Fact, Step

READINGS = ("as_printed", "fixed_step")

d0, c1, c2, K, eta, eta_max, psi, r = sp.symbols("d0 c1 c2 K eta eta_max psi r", real=True)
d: Any = sp.Function("d", real=True)
part: Any = sp.Function("part", real=True)
INCREMENTS = "increments"

FIXED = (
    Fact("index r", r >= 0, "index", "terms"),
    Fact("start", sp.Eq(d0, d(0)), "metric", "d_0"),
    Fact("psi", sp.Eq(psi, part(K) / K), "metric", "Psi is the mean of the increments"),
    Fact("nothing", sp.Eq(part(0), 0), "metric", "an empty sum"),
    Fact(
        "increment",
        sp.Eq(part(r + 1), part(r) + d(r) / eta - d(r + 1) / eta + c1 * eta + c2 * eta**2),
        "metric",
        "the increment of r + 1",
    ),
    Fact("last", d(K) >= 0, "assumption", "no member of the sequence is negative", INCREMENTS),
)


def after(terms: Any) -> Any:
    """What the first so many increments sum up to, as a claim."""
    total = (d0 - d(terms)) / eta + terms * (c1 * eta + c2 * eta**2)
    return sp.Le(part(terms), total, evaluate=False)


UNROLLED = (
    Step("base case", after(sp.Integer(0)), ("nothing", "start", "domain eta"), Decide(), "no term"),
    Step(
        "step case",
        sp.Implies(after(r), after(r + 1)),
        ("increment", "domain eta"),
        Supposing(Decide()),
        "one more increment",
    ),
    Step(
        "sum",
        after(K),
        ("base case", "step case", "domain K", "domain eta"),
        Induction("base case", "step case", r, K),
        "the sum telescopes",
    ),
    Step(
        "conclusion",
        sp.Le(psi, d0 / (eta * K) + c1 * eta + c2 * eta**2),
        ("sum", "psi", "last", "domain eta", "domain K"),
        Decide(),
        "the last member is dropped",
    ),
)

first, second = sp.sqrt(c1 * K / d0), sp.cbrt(c2 * K / d0)
TUNED = (
    Fact(
        "eta",
        sp.Eq(eta, 1 / sp.Max(1 / eta_max, first, second)),
        "definition",
        "min(eta_max, sqrt(d0/(c1 K)), cbrt(d0/(c2 K))), with a term left out where its coefficient is 0",
    ),
)
SIZES = ("domain eta_max", "domain d0", "domain c1", "domain c2", "domain K")
CHOSEN = (
    Step("eta > 0", eta > 0, ("eta", *SIZES), Decide(), "a minimum of positive numbers"),
    Step("1", 1 / eta <= 1 / eta_max + first + second, ("eta", *SIZES), Decide(), "the maximum is at most the sum"),
    Step("2.1", eta * first <= 1, ("eta", *SIZES), Decide(), "eta is at most sqrt(d0/(c1 K))"),
    Step("3.1", eta * second <= 1, ("eta", *SIZES), Decide(), "eta is at most cbrt(d0/(c2 K))"),
    Step("2.2", first * d0 / K <= sp.sqrt(c1 * d0 / K), SIZES, Decide(), "both are at least 0, with equal squares"),
    Step("3.2", second * d0 / K <= sp.cbrt(c2) * sp.cbrt(d0 / K) ** 2, SIZES, Decide(), "with equal cubes"),
    Step("2", c1 * eta <= first * d0 / K, ("2.1", "eta > 0", *SIZES), Decide(), "c1 K/d0 is the square of the root"),
    Step(
        "3",
        c2 * eta**2 <= second * d0 / K,
        ("3.1", "eta > 0", *SIZES),
        Decide(),
        "c2 K/d0 is the cube of the root",
    ),
    Step(
        "fixed",
        sp.Le(psi, d0 / (eta * K) + c1 * eta + c2 * eta**2),
        ("eta > 0", *SIZES),
        Instance("fedshuffle/lemma_b_3/fixed_step", psi, (("d0", d0), ("c1", c1), ("c2", c2), ("K", K), ("eta", eta))),
        "at this step",
    ),
    Step(
        "conclusion",
        sp.Le(psi, d0 / (eta_max * K) + 2 * sp.sqrt(c1 * d0 / K) + 2 * sp.cbrt(c2) * sp.cbrt(d0 / K) ** 2),
        ("fixed", "1", "2", "2.2", "3", "3.2", "eta > 0", *SIZES),
        Combine({"fixed": 1, "1": d0 / K, "2": 1, "3": 1, "2.2": 2, "3.2": 2}),
        "each term twice at most",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    fixed = statement.reading == "fixed_step"
    return Derivation(
        statement,
        (*scope_facts(statement), *(FIXED if fixed else TUNED)),
        UNROLLED if fixed else CHOSEN,
        conclusion="conclusion",
        target=psi,
    )
