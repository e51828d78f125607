"""Metrics of a round rather than of a point: they are measured only when a run names them."""

from __future__ import annotations

from collections.abc import Mapping

from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks

_SAMPLED = "computation in the exact engine (engine = 'sampled' has one)"
# The metrics of a round, and what a method must have for the exact engine to compute them. Those that it computes are
# defined in `engines.exact.readers`, `.stale` and `.blocks`, the others in `engines.sampled.looking` and
# `engines.neural.looking`.
ROUND_METRICS: Mapping[str, str] = {
    "drift": "visits from the server's point",
    "epoch_grad2": "momentum",
    "momentum_error2": "momentum",
    "discrepancy": "models of its own at every client",
    "round_gap": "a server",
    "virtual_round_gap": "a server",
    "virtual_gap": "a server",
    "virtual_grad2": "a server",
    "inexactness": _SAMPLED,
    "B2": _SAMPLED,
    "f_above_least_local": _SAMPLED,
    "least_local_f": _SAMPLED,
    "least_local_loss": _SAMPLED,
}
_OF_BLOCK = "discrepancy:"  # followed by the number of a block


def is_round_metric(name: str) -> bool:
    """Whether `name` is a metric of a round, which belongs to the method and not to the problem."""
    return name in ROUND_METRICS or (name.startswith(_OF_BLOCK) and name[len(_OF_BLOCK) :].isdecimal())


def needed_for(name: str, method: Method) -> str | None:
    """What a method lacks for a metric of a round, in words; None if it lacks nothing."""
    needs = ROUND_METRICS[name.partition(":")[0]]
    blocks = isinstance(method.exchange, Blocks)
    met = {
        "momentum": method.momentum is not None,
        "models of its own at every client": blocks,
        "a server": not blocks and method.momentum is None,
        _SAMPLED: False,
    }.get(needs, method.exchange is None and method.correction is None)
    return None if met else needs
