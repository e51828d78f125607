"""The problem whose objective a method really minimises when its steps are small (FedShuffle, Appendix E: fhat)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundcheck.engines.small_step import small_step_weights
from boundcheck.problems.problem import clients_of
from boundcheck.problems.surrogate import reweighted

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

__all__ = ["surrogate"]


def surrogate(method: Method, problem: Problem) -> Problem:
    """The same clients with the objective fhat = sum of what_i f_i that the method follows to first order in its step.

    Its constants and metrics are about fhat; the method does on it what it does on `problem`. Where what = w it is
    `problem` itself. Raises Unsupported where the weights cannot be had (too many cohorts) or the problem cannot be
    given others.
    """
    weights = small_step_weights(method, clients_of(problem))
    return problem if list(problem.weights) == weights else reweighted(problem, weights)
