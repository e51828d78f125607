"""FedShuffleMVR: FedShuffle with momentum-based variance reduction in every local step (FedShuffle, Section 5.1).

Local steps follow (12) and (13). The paper's text lost equation (14); it is the momentum update from which the proof of
Lemma D.4 starts: m <- (1-a) m + sum over S of (w_i/p_i) (grad f_i(x) - (1-a) grad f_i(x_previous)), with the clients
that then do the local work of the round.
"""

from __future__ import annotations

from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.methods._family import Common, compose
from boundcheck.methods._steps import count
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, OneByWeight, Unbiased

__all__ = ["build", "matches"]


def build(
    *,
    eta_l: Any,
    a: Any,
    E: Any = 1,
    eta_g: Any = 1,
    warm_up: Any = None,
    start: Any = None,
    participation: Any = "one_by_weight",
) -> Method:
    """FedShuffleMVR with local step size eta_l/|D_i| and momentum weight a.

    warm_up: rounds, before the first, whose sampled gradients at x_0 make the first momentum (Theorem 5.2 takes as many
    as the rounds that follow); without it start is "zero" or "gradient" (grad F(x_0), the default).
    Raises BadInput and UnknownName.
    """
    momentum: dict[str, Any] = {"a": as_fraction(a, "a")}
    if warm_up is not None:
        momentum["warm_up"] = count(warm_up, "warm_up")
    if start is not None or warm_up is None:
        momentum["start"] = "gradient" if start is None else start
    local = Epochs(count(E, "E"), divide="size")
    return compose("fedshuffle_mvr", local, Unbiased(), Common(eta_l, eta_g, participation, momentum))


def matches(method: Method) -> bool:
    """Whether a composition is what Theorem 5.2 is about: one client a round by weight, eta_g = 1, sampled warm-up."""
    local, momentum = method.local, method.momentum
    return (
        isinstance(local, Epochs)
        and isinstance(local.E, int)
        and local == Epochs(local.E, divide="size")
        and method.participation == OneByWeight()
        and method.aggregation == Unbiased()
        and momentum is not None
        and momentum.variance_reduced
        and momentum.start == "sampled"
        and method.server.eta_g == 1
        and not method.server.ascend
    )
