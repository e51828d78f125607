"""Hypotheses about who takes part, which a method and a problem answer together.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Assumptions 3 and 5 to 7, what Section 3.3 says of kinds of data, its Examples 1 and
2, and what Section 4 says of update times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.engines.alternating import alternation_hypotheses
from boundcheck.engines.expected_weights import Expected, data_kinds, expected_weights
from boundcheck.engines.joint_times import time_hypotheses
from boundcheck.methods.parts import StochasticSteps
from boundcheck.problems.problem import QuadraticProblem, clients_of

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

__all__ = ["async_hypotheses"]


def async_hypotheses(method: Method, problem: Problem) -> dict[str, str | None]:
    """Hypothesis -> why it fails, or None where it holds; one that cannot be decided is left out.

    Cohorts are drawn or fixed without a look at models or gradients, and clocks of exponential times are memoryless, so
    that who takes part is independent of how old a model is, too.
    """
    clients = clients_of(problem)
    examples = alternation_hypotheses(method, problem)
    expected = expected_weights(method, clients)
    if expected is None or not expected.full_kinds:
        return examples
    data = data_kinds(problem)
    # an empty round weighs nothing: that is the matter of "no_empty_rounds"
    unlike = next((k for k in expected.full_kinds if data.chi_square(k.q) or not data.complete(k.q)), None)
    missing = next((k for k in expected.kinds if not k.q or not data.complete(k.q)), None)
    found: dict[str, str | None] = {
        "unbiased_gradients": _biased_steps(method, problem),
        "independent_weights": None,
        "covariance_of_weights": None
        if expected.covariance is not None
        else "some pairs of clients take part together more often than others, so that no single alpha fits.",
        "window_property": _window(expected),
        "same_expected_weights": None
        if unlike is None
        else f"{_round(unlike.q)} weighs the kinds of data otherwise than F does.",
        "every_type_every_round": None if missing is None else f"{_round(missing.q)} leaves out a kind of data.",
        "no_empty_rounds": None if len(expected.full_kinds) == len(expected.kinds) else "some rounds have no clients.",
        "time_based": _time_based(expected, clients.weights),
        "own_minimisers": None if len(data.shares) == clients.count else "some clients have the same kind of data.",
        **time_hypotheses(method, clients),
        **examples,
    }
    if isinstance(problem, QuadraticProblem):
        curved = next((i for i, (a, _) in enumerate(problem.forms().maps) if a.rank()), None)
        if curved is not None:
            found["bounded_gradients"] = f"client {curved} is a quadratic, whose gradient grows without bound."
    return found


def _biased_steps(method: Method, problem: Problem) -> str | None:
    """Why the sampled gradient of a step has another mean than the client's own, None where it has not."""
    samples = getattr(problem, "samples", None)
    if not isinstance(method.local, StochasticSteps) or not isinstance(problem, QuadraticProblem) or samples is None:
        return None
    pairs = zip(samples(), problem.forms().maps, strict=True)
    bad = next((i for i, (own, client) in enumerate(pairs) if own.mean() != client), None)
    return None if bad is None else f"client {bad} is the sum of its samples, and its steps follow single ones."


def _window(expected: Expected) -> str | None:
    if expected.window is not None:
        return None
    return "the first rounds are unlike the later ones, so that no window has the same means everywhere."


def _time_based(expected: Expected, weights: Sequence[Fraction]) -> str | None:
    """Whether the mean weights of a period are the clients' importance."""
    unlike = next((i for i, w in enumerate(weights) if expected.mean.get(i, Fraction(0)) != w), None)
    return None if unlike is None else f"client {unlike} has another mean weight than its importance in F."


def _round(q: Mapping[int, Fraction]) -> str:
    if not q:
        return "an empty round"
    shown = ", ".join(str(i) for i in sorted(q)[:6]) + (", ..." if len(q) > 6 else "")
    return f"a round of the clients {shown}"
