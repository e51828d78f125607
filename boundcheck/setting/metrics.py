"""Metrics of a round, which the method has and not the problem, and what a method needs for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from boundcheck.methods.parts import Blocks

if TYPE_CHECKING:
    from boundcheck.methods.method import Method

_SAMPLED = "computation in the exact engine (engine = 'sampled' has one)"
# Metrics of a round rather than of a point, asked for by name, and what a method must have for the exact engine to
# know them; what they mean is told in `engines.exact.readers`, `.lemmas`, `.stale` and `.blocks`, and of those that it
# has not in `engines.sampled.metrics` and `networks.engine.metrics`.
ROUND_METRICS: Mapping[str, str] = {
    "drift": "visits from the server's point",
    "epoch_grad2": "momentum",
    "momentum_error2": "momentum",
    "discrepancy": "models of its own at every client",
    "round_gap": "a server",
    "virtual_round_gap": "a server",
    "virtual_gap": "a server",
    "virtual_grad2": "a server",
    **dict.fromkeys(
        (
            *("round_weight", "round_noise", "round_noise2", "round_chi2", "round_spread", "absent_gap"),
            *("movement2", "dist2_change", "round_difference", "virtual_difference"),
            *("work_distance2", "work_grad2", "work_inner", "work_mean_grad2"),
            *("virtual_distance2", "virtual_inner", "virtual_mean_grad2"),
        ),
        "a server",
    ),
    "inexactness": _SAMPLED,
    "B2": _SAMPLED,
    "f_above_least_local": _SAMPLED,
    "least_local_f": _SAMPLED,
    "least_local_loss": _SAMPLED,
}
_OF_BLOCK = "discrepancy:"  # followed by the number of a block


# Of these some can be negative.
SIGNED = frozenset({"dist2_change", "round_difference", "virtual_difference", "work_inner", "virtual_inner"})


def is_round_metric(name: str) -> bool:
    """Whether a metric is one of a round, which the method has and not the problem."""
    return name in ROUND_METRICS or (name.startswith(_OF_BLOCK) and name[len(_OF_BLOCK) :].isdecimal())


def needed_for(name: str, method: Method) -> str | None:
    """What a method lacks for a metric of a round, in words; None where it lacks nothing."""
    needs = ROUND_METRICS[name.partition(":")[0]]
    if method.server_momentum is not None:
        return "server step without momentum"
    blocks = isinstance(method.exchange, Blocks)
    met = {
        "momentum": method.momentum is not None,
        "models of its own at every client": blocks,
        "a server": not blocks and method.momentum is None and method.control is None,
        _SAMPLED: False,
    }.get(needs, method.exchange is None and method.correction is None and method.control is None)
    return None if met else needs
