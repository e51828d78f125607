"""FedNova, whose clients take different numbers of local steps that the server divides out."""

from __future__ import annotations

from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods import parameters as p
from boundcheck.methods.kind import AnyOf, Form, Part, anything, kind
from boundcheck.methods.parts import EpochRange, Epochs, GradientSteps, Normalised, OwnSteps, ServerStep

PAPER = 'J. Wang et al., "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization", 2020'


def _work(steps: Any, E: Any, batch: int | None, sampling: Any) -> dict[str, Any]:
    if steps is None:
        if isinstance(E, EpochRange):
            raise BadInput("E of fednova is an integer or one for each client; its weights divide by numbers of steps.")
        return {"local": p.local_epochs(E, batch, sampling)}
    if (E, batch, sampling) != (None, None, None):
        raise BadInput("fednova takes either steps, with whole gradients, or E epochs with batch and sampling.")
    return {"local": steps}


_WORK = AnyOf(GradientSteps, OwnSteps, Part(Epochs, E=AnyOf(int, tuple), batch=anything, sampling=anything))

KINDS = {
    "fednova": kind(
        """FedNova: x <- x - eta_g tau_eff sum of p_i (x - y_i)/tau_i, tau_eff = sum of p_i tau_i.

        The sums are over the cohort, p_i is a client's share of the cohort's data, tau_i its number of plain local
        steps. `fedshuffle_nova` is the variant of the FedShuffle paper: it divides
        step sizes by the most local steps, and its weights sum to 1.
        """,
        (PAPER, "Section 4"),
        Form(local=_WORK, aggregation=Normalised(), server=Part(ServerStep, eta_g=anything)),
        (
            p.ETA,
            p.STEPS.but(into="", default=None),
            p.E.but(into="", default=None, allowed=f"{p.COUNT} (1 without steps), or a list with one for each client"),
            p.BATCH.but(into="", default=None, allowed=f"{p.COUNT}, in epochs (1)"),
            p.SAMPLING.but(into="", default=None, allowed='"reshuffled" (in epochs) or "replacement"'),
            p.ETA_G,
            p.PARTICIPATION,
        ),
        _work,
    ),
}
