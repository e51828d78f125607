"""FedAvg with uniform sampling without replacement (Y. Fraboni et al., Appendix C.2)."""

from __future__ import annotations

from typing import Any

from boundcheck.methods._asynchronous import Given, compose, has_async_steps, has_own_weights, weights_from
from boundcheck.methods._steps import count
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Uniform

__all__ = ["build", "matches"]


def build(
    *,
    K: Any,
    eta_l: Any,
    m: Any,
    eta_g: Any = 1,
    weights: Any = "time_based",
    batch: Any = None,
    sampling: Any = None,
) -> Method:
    """FedAvg with m of the M clients a round.

    weights: "time_based" (M p_i/m, which gives client i the mean weight p_i), "identical" (1), a number for all clients
    or a list with one a client. batch: samples a step, drawn with replacement (default: full gradients). Raises
    BadInput and UnknownName.
    """
    given = Given(K, eta_l, eta_g, batch, sampling)
    return compose("uniform_sampling", Uniform(count(m, "m")), weights_from(weights), given)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvg with uniform sampling, whatever its weights and numbers."""
    return (
        isinstance(method.participation, Uniform)
        and has_own_weights(method.aggregation)
        and has_async_steps(method)
        and method.exchange is None
    )
