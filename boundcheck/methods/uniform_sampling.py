"""FedAvg with uniform sampling without replacement and unbiased weights (Y. Fraboni et al., Appendix C.2)."""

from __future__ import annotations

from typing import Any

from boundcheck.methods._asynchronous import Given, compose, has_async_steps
from boundcheck.methods._steps import count
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Unbiased, Uniform

__all__ = ["build", "matches"]


def build(*, K: Any, eta_l: Any, m: Any, eta_g: Any = 1, batch: Any = None, sampling: Any = None) -> Method:
    """FedAvg with m of the M clients a round and the weights (M/m) p_i.

    batch: samples a step, drawn with replacement (default: full gradients). Raises BadInput and UnknownName.
    """
    given = Given(K, eta_l, eta_g, batch, sampling)
    return compose("uniform_sampling", Uniform(count(m, "m")), Unbiased("data"), given)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvg with uniform sampling and unbiased weights, whatever its numbers."""
    return (
        isinstance(method.participation, Uniform)
        and method.aggregation == Unbiased("data")
        and has_async_steps(method)
        and method.exchange is None
    )
