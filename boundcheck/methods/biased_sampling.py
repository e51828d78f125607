"""FedAvg with clients that are chosen by a deterministic criterion (Y. Fraboni et al., Appendix C.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods._asynchronous import Given, compose, has_async_steps, weights_from, weights_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Pattern

__all__ = ["build", "matches"]

_WEIGHTS = ("average", "time_based", "identical")


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
    i takes part, which makes up for the criterion over a period) or "identical" (1). batch: samples a step, drawn with
    replacement (default: full gradients). Raises BadInput and UnknownName.
    """
    if weights not in _WEIGHTS:
        raise UnknownName("the weights of the contributions", weights, _WEIGHTS)
    aggregation = Average() if weights == "average" else weights_from(weights)
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
    known = method.aggregation == Average() or weights_of(method.aggregation) is not None
    return isinstance(method.participation, Pattern) and known and has_async_steps(method) and method.exchange is None
