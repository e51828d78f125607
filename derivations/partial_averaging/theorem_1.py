"""The proof of Theorem 1 (partial model averaging, Appendix B): the framework without a dropped term, and Lemma 2.

Vectors, facts and first steps are those of Theorem 2 up to (27), with equal weights; here every client's objective is
F, so that h = s, and the identity (21) holds worker by worker. It leaves a multiple of the local gradients p, which
pays for those in Lemma 2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import body
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import Accumulation, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector

READINGS = ("corrected", "global", "separable", "as_printed")
GENERAL = {"global": "corrected", "as_printed": "as_printed_appendix"}  # the reading of Theorem 2 that is taken over
FROM = "(27)"  # the last step that is taken over, but for what leads to (30)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


eta, tau, K, m, Lmax, sigma2, sum_L_sigma2, sum_L2_sigma2 = _symbols(  # noqa: N816
    "eta tau K m Lmax sigma2 sum_L_sigma2 sum_L2_sigma2"
)
gap_0, mean, sum_p2, r = _symbols("gap_0 mean sum_p2 r")
gap: Any = sp.Function("gap", real=True)
scaled: Any = sp.Function("scaled", real=True)(r)
z, p, B, h, s, p_scaled = (vector(name, r) for name in ("z", "p", "B", "h", "s", "pL"))


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    one = statement.reading == "global"
    general = derivation_of(f"partial_averaging/theorem_2/{GENERAL.get(statement.reading, 'weighted')}")
    names = [step.name for step in general.steps]
    dropped = names[names.index(FROM) + 1 :]
    facts, steps = body(general.statement.id, ("clients", "dissimilar", "largest s", "largest p - h", *dropped))
    uniform = statement.reading == "as_printed"  # then with 1/m in place of sum_p2
    apart, scale = (Lmax**2 * norm2(z), Lmax**2) if one else (scaled, sp.S.One)
    noise, of_stretches = (Lmax * sigma2, sigma2) if one else (sum_L_sigma2, sum_L2_sigma2)
    mean_apart, local = total(apart, r, K) / K, total(norm2(p), r, K) / K
    left = (eta * Lmax - 1) * norm2(p)  # what (21) and (26) leave of the local gradients
    largest = (
        ()
        if one
        else (Fact("largest p", sp.Le(norm2(p_scaled), Lmax**2 * norm2(p)), "metric", "every L_j is at most Lmax"),)
    )
    facts = (
        *(() if uniform else (Fact("sum_p2", sp.Eq(sum_p2, 1 / m), "definition", "all clients have the same weight"),)),
        *facts,
        *largest,
        Fact("IID", VectorEquality(h, s), "assumption", "every client's objective is F", "iid_clients"),
    )
    steps = (
        *steps,
        Step(
            "(21)",
            sp.Ge(2 * inner(s, B), norm2(s) + norm2(p) - apart),
            ("smooth", "IID"),
            Expected(("means",), Combine({"smooth": 1})),
            "2 <a, b> = |a|^2 + |b|^2 - |a - b|^2 for every client, and (30)",
        ),
        Step("spread", sp.Ge(norm2(p - B), 0, evaluate=False), (), Combine(), "a squared norm"),
        Step(
            "(24)",
            sp.Le(norm2(B), norm2(p)),
            ("spread",),
            Expected(("means",), Combine({"spread": 1})),
            "Jensen's inequality",
        ),
        Step(
            "decrease",
            sp.Le(
                gap(r + 1),
                gap(r) - eta / 2 * norm2(s) + eta / 2 * apart + eta / 2 * left + eta**2 / (2 * m) * noise,
            ),
            (FROM, "(21)", "(24)", *(() if uniform else ("sum_p2",))),
            Combine({FROM: 1, "(21)": eta / 2, "(24)": eta**2 * Lmax / 2}),
            "(27), with nothing dropped",
        ),
        Step(
            "(28)",
            sp.Le(
                gap(K),
                gap(0) + total(-eta / 2 * norm2(s) + eta / 2 * apart + eta / 2 * left + eta**2 / (2 * m) * noise, r, K),
            ),
            ("decrease",),
            Accumulation("decrease", gap(r), r, K),
            "all iterations",
        ),
        Step(
            "(29)",
            sp.Le(mean, 2 * gap_0 / (eta * K) + eta / m * noise + mean_apart + (eta * Lmax - 1) * local),
            ("(28)", "mean", "start", "bounded"),
            Combine({"(28)": 2 / (eta * K), "bounded": 2 / (eta * K)}),
            "divided by K and half the step",
        ),
        *(
            ()
            if one
            else (
                Step(
                    "largest gradients",
                    sp.Ge(total(Lmax**2 * norm2(p) - norm2(p_scaled), r, K), 0),
                    ("largest p",),
                    SumOver("largest p", r, K),
                    "every L_j is at most Lmax",
                ),
            )
        ),
        Step(
            "Lemma 2",
            sp.Le(mean_apart, eta**2 * (tau - 1) * scale * of_stretches + eta**2 * tau * (tau - 1) * Lmax**2 * local),
            (
                "all stretches",
                "iterations",
                "local gradients",
                "sigma2",
                *(() if one else ("largest gradients",)),
            ),
            Combine(
                {
                    "all stretches": scale,
                    "iterations": scale,
                    "local gradients": scale * eta**2 * tau * (tau - 1),
                    "sigma2": scale * eta**2 * (tau - 1),
                    **({} if one else {"largest gradients": eta**2 * tau * (tau - 1) / K}),
                }
            ),
            "for these models",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("(29)", "Lemma 2", "condition step size"),
            Combine({"(29)": 1, "Lemma 2": 1}),
            "(16): the step condition leaves nothing of the local gradients",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        drawn=general.drawn,
        laws=general.laws,
    )
