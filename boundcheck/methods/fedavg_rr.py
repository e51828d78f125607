"""FedAvg with random reshuffling: every client does local epochs with one common step size (FedShuffle, Algorithm 2).

The server weighs a client by its share of the cohort's data, w_i / sum over S of w_j. As printed, Algorithm 2
multiplies this by n/b, b the cohort's size; `aggregation = "printed"` does. FedAvg minimises another objective when
clients hold different amounts of data (Section 4.1).
"""

from __future__ import annotations

from typing import Any

from boundcheck.errors import UnknownName
from boundcheck.methods._family import Common, compose, epochs_from, is_epochs
from boundcheck.methods._steps import NONE, count, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, SumOne

__all__ = ["build", "matches"]

AGGREGATIONS = ("sum_one", "printed")


def build(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    participation: Any = "full",
    momentum: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
    aggregation: str = "sum_one",
) -> Method:
    """FedAvgRR with E local epochs of step size eta_l a step and server step eta_g.

    E, participation, momentum (of the server): see `methods._family`. momentum_l, weight_decay_l, clip_l: of the local
    steps (`ClientSGD`). Raises BadInput and UnknownName.
    """
    if aggregation not in AGGREGATIONS:
        raise UnknownName("the aggregation of fedavg_rr", aggregation, AGGREGATIONS)
    given = Common(eta_l, eta_g, participation, momentum, sgd_from(momentum_l, weight_decay_l, clip_l))
    local = Epochs(epochs_from(E), count(batch, "batch"))
    parts = SumOne(per_share=aggregation == "printed")
    return compose("fedavg_rr", local, parts, given)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvgRR without momentum and with one number E of epochs for all clients and rounds.

    Section 4.1 speaks of this E. The other numbers and the participation may be any.
    """
    common = isinstance(method.local, Epochs) and isinstance(method.local.E, int)
    return common and is_epochs(method) and method.aggregation == SumOne()
