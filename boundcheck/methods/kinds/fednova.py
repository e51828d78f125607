"""FedNova, whose clients take different numbers of local steps that the server divides out.

J. Wang et al., "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization", 2020, for plain
local steps. The variant with which the paper of FedShuffle compares is `fedshuffle_nova`: it divides step sizes by the
most local steps, and its weights sum to 1.
"""

from __future__ import annotations

from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput
from boundcheck.methods.kind import AnyOf, Form, Kind, Part, anything
from boundcheck.methods.parameters import count, epochs_from, is_list, participation_from, step_from
from boundcheck.methods.parts import EpochRange, Epochs, GradientSteps, LocalWork, Normalised, OwnSteps, ServerStep


def fednova(
    *,
    eta: Any,
    steps: Any = None,
    E: Any = None,
    batch: Any = None,
    sampling: Any = None,
    eta_g: Any = 1,
    participation: Any = "full",
) -> dict[str, Any]:
    """FedNova: x <- x - eta_g tau_eff sum of p_i (x - y_i)/tau_i with tau_eff = sum of p_i tau_i.

    The sums are over the cohort, p_i is a client's share of the cohort's data, tau_i its number of local steps of size
    eta: `steps` with its whole gradient (one number, or one a client), or those of E epochs (default 1) with `batch`
    samples a step (default 1) and `sampling` "reshuffled" (default) or "replacement". Raises BadInput and UnknownName.
    """
    return {
        "participation": participation_from(participation),
        "local": _work(steps, E, batch, sampling),
        "schedule": step_from(eta, "eta"),
        "server": {"eta_g": as_fraction(eta_g, "eta_g")},
    }


def _work(steps: Any, E: Any, batch: Any, sampling: Any) -> LocalWork:
    if steps is None:
        epochs = epochs_from(1 if E is None else E)
        if isinstance(epochs, EpochRange):
            raise BadInput("E of fednova is an integer or one for each client; its weights divide by numbers of steps.")
        return Epochs(epochs, count(1 if batch is None else batch, "batch"), sampling or "reshuffled")
    if (E, batch, sampling) != (None, None, None):
        raise BadInput("fednova takes either steps, with whole gradients, or E epochs with batch and sampling.")
    if is_list(steps):
        return OwnSteps(tuple(count(k, "steps") for k in steps))
    return GradientSteps(count(steps, "steps"))


_WORK = AnyOf(GradientSteps, OwnSteps, Part(Epochs, E=AnyOf(int, tuple), batch=anything, sampling=anything))

KINDS = {
    "fednova": Kind(fednova, Form(local=_WORK, aggregation=Normalised(), server=Part(ServerStep, eta_g=anything))),
}
