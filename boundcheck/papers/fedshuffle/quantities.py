"""Metrics of a round of FedShuffle and of its momentum variance reduction."""

from __future__ import annotations

from typing import Any

from boundcheck.setting.quantities import MOMENTUM, VISITS, Quantity


def _drift(r: Any) -> Any:
    """xi of Lemma C.2: each client's weight in F goes evenly to its local steps, in the cohort or not.

    For FedShuffle a step has 1/(|D| E); on the surrogate objective of a FedShuffleGen with the weights what_i it has
    wtilde_i/(W q_i c_i), as in Lemma E.4. Where the work depends on the cohort, every client does what the cohort
    drawn makes its members do.
    """
    return r.sum(
        r.square(v.point(k) - v.point(0)) * (v.p * r.weights[v.client] / v.count)
        for v in r.everyone
        for k in range(v.count)
    )


def _epoch_grad2(r: Any) -> Any:
    """The mean over the cohort's clients and over their epochs; at x without a local step and for an empty cohort."""
    begun = r.sum(r.grad2(r.objective, v.point(k)) * (v.p / len(v.epochs)) for v in r.chosen for k in v.epochs)
    return begun + r.grad2(r.objective, r.before) * r.idle


def _momentum_error2(r: Any) -> Any:
    """m is the momentum that the round uses, after its update at the round's start."""
    slope = r.slope(r.objective, r.before)
    return r.sum(r.square(m - slope) * p for p, m in r.possible(r.method.momentum.used))


# fmt: off
quantities = (
    Quantity("drift", "mean squared distance of a round's local models to the server's point, by the clients' weights "
             "(Lemma C.2 of FedShuffle)", _drift, VISITS),
    Quantity("epoch_grad2", "mean of |grad F|^2 at the points where the cohort's epochs begin; all engines, sampled "
             "and neural ones for one client a round with as many epochs as any other", _epoch_grad2, MOMENTUM),
    Quantity("momentum_error2", "squared distance of the momentum to grad F(x); exact runs with momentum",
             _momentum_error2, MOMENTUM),
)
