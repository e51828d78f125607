"""Centralised learning: one client does all the work, K steps a round (Y. Fraboni et al., Appendix C.1)."""

from __future__ import annotations

from typing import Any

from boundcheck.methods._asynchronous import Given, compose, has_async_steps
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Sole, Unbiased

__all__ = ["build", "matches"]


def build(*, K: Any = 1, eta_l: Any, eta_g: Any = 1, batch: Any = None, sampling: Any = None) -> Method:
    """SGD by a problem's only client, K steps between two looks at it; refused where there are several clients.

    batch: samples a step, drawn with replacement (default: full gradients). Raises BadInput and UnknownName.
    """
    return compose("centralised", Sole(), Unbiased("data"), Given(K, eta_l, eta_g, batch, sampling))


def matches(method: Method) -> bool:
    """Whether a composition is centralised learning, whatever its numbers."""
    return (
        isinstance(method.participation, Sole)
        and method.aggregation == Unbiased("data")
        and has_async_steps(method)
        and method.exchange is None
    )
