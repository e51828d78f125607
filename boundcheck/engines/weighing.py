"""Hypotheses on weights, which a problem cannot answer by itself: they are about what a method does with its clients.

"data_weights" (FedShuffle, (1)) asks that every client counts as its share of all samples, in the objective and in what
it reports to the method; "followed_objective" (FedShuffle, Theorem E.1) that the objective is the one that the method
follows to first order in its step.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.engines.small_step import small_step_weights
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients, Repeated
from boundcheck.problems.problem import clients_of

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

__all__ = ["weight_hypotheses"]

MAX_CLIENTS = 1000  # whose weights in the objective that is followed are computed


def weight_hypotheses(method: Method, problem: Problem) -> dict[str, str | None]:
    """Hypothesis -> why it fails, or None where it holds; one that is not looked at is left out.

    "followed_objective" is looked at for methods of the FedShuffleGen family with few clients and cohorts.
    """
    clients = clients_of(problem)
    found = {"data_weights": _unlike_data(problem, clients)}
    if clients.count > MAX_CLIENTS or not _is_general(method, clients):
        return found
    try:
        weights = small_step_weights(method, clients)
    except (BadInput, Unsupported):  # too many cohorts
        return found
    followed = list(problem.weights) == weights
    why = "the method follows an objective with other weights of the clients; run it on its surrogate problem."
    return {**found, "followed_objective": None if followed else why}


def _is_general(method: Method, clients: Clients) -> bool:
    from boundcheck.methods.build import algorithms

    return "fedshuffle_gen" in algorithms(method, clients)


def _unlike_data(problem: Problem, clients: Clients) -> str | None:
    own, sizes = clients.weights, clients.sizes
    if problem.weights is not own and list(problem.weights) != list(own):
        return "its clients report other weights than they have in the objective."
    if isinstance(own, Repeated) and isinstance(sizes, Repeated):
        return None if own.value == Fraction(1, clients.count) else "its weights do not sum to 1."
    total = sum(sizes)
    bad = next((i for i, (w, size) in enumerate(zip(own, sizes, strict=True)) if w * total != size), None)
    return None if bad is None else f"client {bad} has the weight {own[bad]}, but {sizes[bad]} of {total} samples."
