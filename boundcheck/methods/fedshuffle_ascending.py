"""FedShuffle with the sign as its boxes print it: Delta_i = y_i - x and x <- x - eta_g Delta, which ascends.

The proofs of the paper use the opposite sign; see `methods.fedshuffle`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from boundcheck.methods import fedshuffle
from boundcheck.methods.method import Method

__all__ = ["build", "matches"]


def build(*, eta_l: Any, eta_g: Any = 1, E: Any = 1, batch: Any = 1, participation: Any = "full") -> Method:
    """FedShuffle with the printed sign of the server step; parameters as for `fedshuffle`."""
    return fedshuffle.build(eta_l=eta_l, eta_g=eta_g, E=E, batch=batch, participation=participation, sign="printed")


def matches(method: Method) -> bool:
    """Whether a composition is FedShuffle with the printed sign, whatever its numbers."""
    server = method.server
    return server.ascend and fedshuffle.matches(replace(method, server=replace(server, ascend=False)))
