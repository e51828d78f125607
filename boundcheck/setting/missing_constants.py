"""Why constants that a method and a problem could have together are not there, in words for those who miss them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundcheck.methods import answers
from boundcheck.problems.problem import clients_of, no_minimum, optional, quadratic_objectives
from boundcheck.setting.asynchronous import losses_of
from boundcheck.setting.expected_weights import gone_through, is_asynchronous
from boundcheck.setting.objectives import MAX_NUMBERS

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


def reason_missing(method: Method, problem: Problem) -> str | None:
    """What keeps constants of the method on the problem from being known; None where nothing special does.

    Raises BadInput where the method does not fit the problem's clients.
    """
    without = no_minimum(problem)
    if without is not None:
        return without
    clients, averaging = clients_of(problem), answers.averaging(method.exchange)
    if averaging is not None and averaging.hand_over is not None:
        return "the constants of averaged blocks are for workers that all keep models, and here models are handed over"
    if is_asynchronous(method):
        expected = gone_through(method, clients)
        if isinstance(expected, str):
            return expected.rstrip(".")
        timed = answers.timing(method.participation)
        if timed is not None and timed.of(clients.count).values is None:
            return "exponential update times have no largest delay"
        if not expected.full_kinds:
            return "no client ever takes part"
        if optional(problem, "of_clients") is not None:
            if losses_of(method, problem, expected) is not None:
                return None
            return (
                "some constants of this theory need a minimum of every round's objective, which these data have not, "
                f"or at most {MAX_NUMBERS} samples times coordinates"
            )
    known = quadratic_objectives(problem) is not None or optional(problem, "slopes") is not None
    if (is_asynchronous(method) or averaging is not None) and not known:
        return "some constants of this theory are computed for quadratic and piecewise quadratic problems only"
    return None
