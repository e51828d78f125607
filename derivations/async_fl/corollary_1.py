"""The proof of Corollary 1 (asynchronous federated learning, Section 3.3, (20)) as checked steps.

n = 0, ..., N-1 counts the rounds; in each a client can take part, and L^n = q(n) F, so that F and L^n have the same
minimisers. Besides the notation of Theorem 1,

    gap(n)  E F(theta^n) - F*      Z(n)   E L^n(theta^n) less the minimum of L^n, and Zbar its mean over the rounds
    mean    mean of gap(n)         rg(n)  L^n at the minimiser of the surrogate problem, less its minimum; mean Rbar

The printed reading has the gap of F at most that of L^n, which needs q(n) >= 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "as_printed")

L, K, eta_l, eta_g, alpha, beta, rho, tau, q_min, R = sp.symbols(
    "L K eta_l eta_g alpha beta rho tau q_min R", real=True
)
s, period, n, mean, Zbar, Rbar = sp.symbols("s period n mean Zbar Rbar", real=True)
q, gap, Z, rg = (sp.Function(name, real=True)(n) for name in ("q", "gap", "Z", "rg"))
N, COUNT = s * period, ("domain s", "domain period")


def _mean(symbol: Any, term: Any, why: str) -> Fact:
    return Fact(str(symbol), sp.Eq(symbol, total(term, n, N) / N), "metric", why)


SAME = "same_expected_weights"
FACTS = (
    Fact("index n", sp.And(n >= 0, n <= N - 1), "index", "rounds"),
    _mean(mean, gap, "mean over the rounds"),
    _mean(Zbar, Z, "mean over the rounds, what Theorem 1 bounds"),
    _mean(Rbar, rg, "mean over the rounds, R of Theorem 1"),
    Fact("gap >= 0", gap >= 0, "metric", "a gap"),
    Fact("rg >= 0", rg >= 0, "metric", "a gap"),
    Fact("Z", sp.Ge(Z, q * gap), "assumption", "s_j(n) = q(n) r_j, so that L^n = q(n) F", SAME),
    Fact("rg", rg <= 0, "assumption", "the surrogate problem is F times the mean of q(n)", SAME),
)
SMALLEST = Fact("q", q >= q_min, "assumption", "q_min is the smallest of the rounds", "no_empty_rounds")
POSITIVE = Fact("q", q > 0, "metric", "a client can take part")


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    printed = statement.reading == "as_printed"
    theorem = f"async_fl/theorem_1/{statement.reading}"
    least = sp.Integer(1) if printed else q_min
    bound = find_statement(theorem).bound.subs(R, Rbar)
    back = sp.expand(bound).coeff(Rbar)  # of R in Theorem 1
    conditions = tuple(f"condition {x.name}" for x in statement.conditions)
    scope = tuple(f.name for f in scope_facts(statement) if f.kind == "domain" and f.name not in COUNT)
    steps = (
        Step(
            "round",
            sp.Le(least * gap, Z),
            ("Z", "q", "gap >= 0"),
            Combine({"Z": 1, "gap >= 0": q - least}, (q,)),
            "the gap of F by that of L^n",
        ),
        Step(
            "rounds",
            sp.Le(total(least * gap, n, N), total(Z, n, N)),
            ("round", *COUNT),
            SumOver("round", n, N),
            "all rounds",
        ),
        Step("residual", sp.Le(total(rg, n, N), 0), ("rg", *COUNT), SumOver("rg", n, N), "all rounds"),
        Step("residual >= 0", sp.Ge(total(rg, n, N), 0), ("rg >= 0", *COUNT), SumOver("rg >= 0", n, N), "all rounds"),
        Step("Rbar >= 0", Rbar >= 0, ("residual >= 0", "Rbar", *COUNT), Combine({"residual >= 0": 1 / N}), "a mean"),
        Step("Rbar <= 0", Rbar <= 0, ("residual", "Rbar", *COUNT), Combine({"residual": 1 / N}), "a mean"),
        Step(
            "Theorem 1",
            sp.Le(Zbar, bound),
            (*conditions, "Rbar >= 0", *scope, *COUNT),
            Instance(theorem, Zbar, (("R", Rbar),)),
            "the mean gap of the rounds' own problems",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("rounds", "Theorem 1", "Rbar <= 0", "mean", "Zbar", *scope, *COUNT),
            Combine({"rounds": 1 / (least * N), "Theorem 1": 1 / least, "Rbar <= 0": back / least}),
            "R is 0, and divided by the smallest q(n)",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS, POSITIVE if printed else SMALLEST),
        steps,
        conclusion="conclusion",
        target=mean,
    )
