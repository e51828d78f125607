"""The drift of one round of FedShuffleGen: the mean over the clients of the drifts of their visits.

A client is drawn with the probability what_i, its weight in fhat. The drift of the round has the
weights wtilde_i/(W q_i c_i) of each step, and is the mean of the drift of this visit.

    visits, own, noise  means over the clients of the drift of the visit, of own_grad2_0 and of own_noise_0
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.step import Fact, Step
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected",)

L, P2_gen, eta_l, sigma2_gen, client_grad2_0 = sp.symbols("L P2_gen eta_l sigma2_gen client_grad2_0", real=True)
own_grad2_0, own_noise_0 = sp.symbols("own_grad2_0 own_noise_0", real=True)
drift, visits, own, noise = sp.symbols("drift visits own noise", real=True)
VISIT = "fedshuffle/drift_of_a_visit/corrected"
SIZES = ("domain L", "domain eta_l", "condition local step")


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    means = {own_grad2_0: own, own_noise_0: noise}
    share = 2 * eta_l**2 / (1 - 2 * eta_l**2 * L**2)
    facts = (
        Fact("drift", sp.Eq(drift, visits), "metric", "the mean over the clients"),
        Fact("gradients", sp.And(own >= 0, sp.Le(own, client_grad2_0)), "metric", "what client_grad2_0 is"),
        Fact("noise", sp.And(noise >= 0, sp.Le(noise, sigma2_gen)), "metric", "what sigma2_gen is"),
    )
    steps = (
        Step(
            "visits",
            sp.Le(visits, find_statement(VISIT).bound.xreplace(means)),
            ("noise", "gradients", "domain P2_gen", *SIZES),
            Lemma(VISIT, visits, means),
            "the mean over the clients",
        ),
        Step("own", 2 * eta_l**2 * L**2 < 1, SIZES, Decide(), "the step condition"),
        Step(
            "conclusion",
            sp.Le(drift, statement.bound),
            ("drift", "visits", "noise", "gradients", "own", "domain P2_gen", *SIZES),
            Combine({"visits": 1, "noise.1": share, "gradients.1": share * (1 + P2_gen)}),
            "what client_grad2_0 and sigma2_gen are",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=drift,
        rounds=((visits, 0), (own, 0), (noise, 0)),
    )
