"""The drift of one round of FedShuffleGen: the mean over the clients of the drifts of their visits.

A client is drawn with the probability what_i, its weight in fhat. The drift of the round has the
weights wtilde_i/(W q_i c_i) of each step, and is the mean of the drift of this visit.

    visits, own, noise  means over the clients of the drift of the visit, of own_grad2_0 and of own_noise_0
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("corrected",)

L, P2_gen, eta_l, sigma2_gen, client_grad2_0 = symbols("L P2_gen eta_l sigma2_gen client_grad2_0")
own_grad2_0, own_noise_0, drift, visits, own, noise = symbols("own_grad2_0 own_noise_0 drift visits own noise")
share = 2 * eta_l**2 / (1 - 2 * eta_l**2 * L**2)


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, drift, at_start=(visits, own, noise))
    p.known("drift", eq(drift, visits), "the mean over the clients")
    p.known("gradients", sp.And(own >= 0, own <= client_grad2_0), "what client_grad2_0 is")
    p.known("noise", sp.And(noise >= 0, noise <= sigma2_gen), "what sigma2_gen is")
    p.cite_mean("visits", visits <= share * ((1 + P2_gen) * own + noise), "drift_of_a_visit/corrected", visits,
        {own_grad2_0: own, own_noise_0: noise}, "noise", "gradients", why="the mean over the clients")
    p.step("own", 2 * eta_l**2 * L**2 < 1, why="the step condition")
    p.conclude(drift <= p.bound, {"visits": 1, "noise.1": share, "gradients.1": share * (1 + P2_gen)}, "drift", "noise",
        "gradients", "own", why="what client_grad2_0 and sigma2_gen are")
    return p.done()
