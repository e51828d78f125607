"""The proof of Theorem 2 (asynchronous federated learning, Appendix B.2) as checked steps.

n = 0, ..., N-1 counts the rounds; in each a client can take part. Besides the notation of Theorem 1,

    g2(n)   E|grad F(theta^n)|^2       Z(n)  E L^n(theta^n) less the minimum of L^n, and gap its mean over the rounds
    chi(n)  chi_n^2                    spread(n)  the minimum of L^n less the sum of s_j(n) F_j*, q(n) times het(n)
    mean    mean of g2(n)              absent(n)  sum over the kinds j outside W_n of r_j [F_j(theta^n) - F_j*]
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "corrected_every_type", "as_printed")

L, q_min, chi2_max, P, U, s, period = sp.symbols("L q_min chi2_max P U s period", real=True)
n, mean, gap = sp.symbols("n mean gap", real=True)
NAMES = ("g2", "q", "Z", "chi", "spread", "het", "absent")
g2, q, Z, chi, spread, het, absent = (sp.Function(name, real=True)(n) for name in NAMES)
N = s * period
COUNT = ("domain s", "domain period")


def _mean(name: str, symbol: Any, term: Any, why: str) -> Fact:
    return Fact(name, sp.Eq(symbol, total(term, n, N) / N), "metric", why)


FACTS = (
    Fact("index n", sp.And(n >= 0, n <= N - 1), "index", "rounds"),
    _mean("mean", mean, g2, "mean over the rounds"),
    _mean("gap", gap, Z, "mean over the rounds, what Theorem 1 bounds"),
    _mean("P", P, chi * het, "mean over the rounds"),
    Fact("spread", sp.Le(spread, q * het), "metric", "st_j(n) = s_j(n)/q(n)"),
    Fact("spread >= 0", spread >= 0, "metric", "the minimum of a sum is at least the sum of the minima"),
    Fact("Z >= 0", Z >= 0, "metric", "a gap"),
    Fact("chi2", sp.And(chi >= 0, chi <= chi2_max), "metric", "chi2_max is the largest"),
)
ABSENT = (
    _mean("U", U, absent, "mean over the rounds"),
    Fact("absent >= 0", absent >= 0, "metric", "gaps"),
)


def _factors(reading: str) -> tuple[Any, Any, Any]:
    """Of the gap of L^n by chi_n^2 and q(n), of what the kinds cost, and of the absent kinds, over 4 L."""
    if reading == "as_printed":
        return (lambda x, w: x / w + 1 / w**2), 1, 1
    if reading == "corrected_every_type":
        return (lambda x, w: (x + 1) / w), 1, 0
    return (lambda x, w: (2 * x + 1) / w), 2, 2


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    every, printed = statement.reading == "corrected_every_type", statement.reading == "as_printed"
    factor, kind, rest = _factors(statement.reading)
    others, kinds, gaps = 4 * L * rest * absent, 4 * L * kind, 4 * L * factor(chi2_max, q_min)
    lemma = f"async_fl/equation_105/{statement.reading}"
    theorem = f"async_fl/theorem_1/{'as_printed' if printed else 'corrected'}"
    images = (("q", q), ("chi2_n", chi), ("gap_n", Z), ("spread_n", spread))
    conditions = tuple(f"condition {x.name}" for x in statement.conditions)
    domains = tuple(f"domain {x.name}" for x in find_statement(theorem).symbols if f"domain {x.name}" not in COUNT)
    own = {f.name for f in scope_facts(statement)}
    filled = "every_type_every_round" if every else "no_empty_rounds"
    smallest = Fact("q", q >= q_min, "assumption", "q_min is the smallest of all rounds", filled)
    if printed:
        smallest = Fact("q", q >= q_min, "metric", "q_min is the smallest of all rounds")
    signs = ("Z >= 0", "spread >= 0", "chi2", "q", "domain q_min", "domain L", *(() if every else ("absent >= 0",)))
    steps = (
        Step("q > 0", q > 0, ("q", "domain q_min"), Decide(), "no round is empty"),
        Step(
            "(105)",
            sp.Le(g2, 4 * L * factor(chi, q) * Z + kinds * chi / q * spread + others),
            ("index n", "q > 0", *signs),
            Instance(lemma, g2, images if every else (*images, ("absent", absent))),
            "at theta^n",
        ),
        Step(
            "round",
            sp.Le(g2, gaps * Z + kinds * chi * het + others),
            ("(105)", "q > 0", "spread", *signs),
            Combine(
                {"(105)": 1, "spread": kinds * chi / q, "Z >= 0": gaps - 4 * L * factor(chi, q)},
                (q, chi),
            ),
            "the largest chi2 and the smallest q(n)",
        ),
        Step(
            "rounds",
            sp.Le(total(g2, n, N), total(gaps * Z + kinds * chi * het + others, n, N)),
            ("round", "domain q_min", *COUNT),
            SumOver("round", n, N),
            "all rounds",
        ),
        Step(
            "Theorem 1",
            sp.Le(gap, find_statement(theorem).bound),
            (*conditions, *(d for d in domains if d in own), *COUNT),
            Instance(theorem, gap),
            "the mean gap of the rounds' own problems",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("rounds", "Theorem 1", "mean", "gap", "P", *(() if every else ("U",)), *(d for d in domains if d in own),
             "domain q_min", "domain chi2_max", *COUNT),
            Combine({"rounds": 1 / N, "Theorem 1": gaps}),
            "divided by the number of rounds",
        ),
    )  # fmt: skip
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS, smallest, *(() if every else ABSENT)),
        steps,
        conclusion="conclusion",
        target=mean,
    )
