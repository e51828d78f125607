"""FedAvg with clients that are chosen by a deterministic criterion (Y. Fraboni et al., Appendix C.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput
from boundcheck.methods._asynchronous import WEIGHTS, Given, compose, has_async_steps, has_own_weights, weights_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Pattern

__all__ = ["build", "matches"]


def build(
    *,
    K: Any,
    eta_l: Any,
    cohorts: Any,
    eta_g: Any = 1,
    weights: Any = "average",
    batch: Any = None,
    sampling: Any = None,
) -> Method:
    """FedAvg with the cohorts [[0, 1], [2], ...], round by round and over and over.

    weights: "average" (1 over the size of the cohort), "time_based" (p_i over the share of the rounds in which client
    i takes part, which makes up for the criterion over a period), "identical" (1), a number for all clients or a list
    with one a client. batch: samples a step, drawn with replacement (default: full gradients). Raises BadInput and
    UnknownName.
    """
    aggregation = Average() if weights == "average" else weights_from(weights, ("average", *WEIGHTS))
    pattern = Pattern(_cohorts(cohorts))
    return compose("biased_sampling", pattern, aggregation, Given(K, eta_l, eta_g, batch, sampling))


def _cohorts(given: Any) -> tuple[tuple[int, ...], ...]:
    if not _is_list(given) or not given or not all(_is_list(c) for c in given):
        raise BadInput("cohorts must be a list of lists of client numbers, such as [[0, 1], [2]].")
    return tuple(tuple(sorted(_client(i) for i in c)) for c in given)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _client(value: Any) -> int:
    number = as_fraction(value, "a client number")
    if number.denominator != 1 or number < 0:
        raise BadInput(f"{value} is no client number; they are 0, 1, 2, ...")
    return int(number)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvg with fixed cohorts, whatever its numbers."""
    known = method.aggregation == Average() or has_own_weights(method.aggregation)
    return isinstance(method.participation, Pattern) and known and has_async_steps(method) and method.exchange is None
