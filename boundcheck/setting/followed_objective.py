"""The objective that a method minimises when its steps are small: client weights to first order in the step.

`surrogate` is the problem with this objective (fhat in Appendix E of FedShuffle).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from boundcheck.certified.forms import Affine, weighted_map
from boundcheck.core.linalg import column, fraction, solve_any
from boundcheck.errors import Unsupported
from boundcheck.methods import answers
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import inclusion, pattern_law
from boundcheck.problems.problem import Problem, clients_of, quadratic_objectives
from boundcheck.problems.surrogate import reweighted

COHORTS = 20_000  # gone through one by one at most


def small_step_weights(method: Method, clients: Clients) -> list[Fraction]:
    """u_i, summing to 1: to first order in the step size the method follows sum of u_i grad f_i in expectation.

    u_i is proportional to E[a_i^S * (local steps * their factor of the step size)], a step counting for all later ones
    in which a local momentum repeats it; FedShuffle's what_i (Appendix E) where the method is a FedShuffleGen. With
    control variates it is the share in their mean. How old the points are from which clients start is of second order.
    Raises Unsupported where cohorts matter and there are too many of them, for a corrected local objective, and for
    steps that follow another gradient than the objective's.
    """
    if method.correction is not None:
        raise Unsupported(f"the local objectives of {method.name} are corrected, so that no weights are its own.")
    if method.functions is not None:
        raise Unsupported(f"a round of {method.name} is said by functions of its own, so that no weights are known.")
    if method.control is not None:  # the steps of every client follow the mean of the control variates
        return list(method.control.shares(clients))
    optimizer = method.client_optimizer
    if optimizer is not None and (optimizer.clip is not None or optimizer.weight_decay):
        raise Unsupported(f"local steps of {method.name} have {optimizer.words()}, so that no weights are its own.")
    averaging = answers.averaging(method.exchange)
    if averaging is not None:
        return list(averaging.of(clients.weights))
    n = clients.count
    own = method.aggregation.by_client(method.context(clients))
    if own is not None and not method.local.by_cohort:
        shares = [inclusion(method.participation, i, clients) for i in range(n)]
        raw = [p * own(i) * _work(method, i, (i,), clients) if p else p for i, p in enumerate(shares)]
    else:
        raw = [Fraction(0)] * n
        drawing = method.participation.drawing(clients)
        law = pattern_law(method.participation, clients) if drawing is None else drawing.support(COHORTS)
        for share, cohort in (own for own in law if own[1]):  # an empty round moves nothing
            for i, a in zip(cohort, method.aggregation.coefficients(cohort, method.context(clients)), strict=True):
                raw[i] += share * a * _work(method, i, cohort, clients)
    total = sum(raw, Fraction(0))
    return [r / total for r in raw]


def _work(method: Method, client: int, cohort: Sequence[int], clients: Clients) -> Fraction:
    """The mean of a visit's steps times their factor of the step size."""
    visits = method.work(client, cohort, clients)
    rho = Fraction(0) if method.client_optimizer is None else method.client_optimizer.momentum
    return sum((p * _repeated(v.steps, rho) * v.scale * v.weight for p, v in visits), Fraction(0))


def _repeated(steps: int, rho: Fraction) -> Fraction:
    """How often all gradients of a visit are followed: the sum of 1 + rho + ... + rho^(k-1) over k = 1, ..., steps."""
    return (steps - rho * (1 - rho**steps) / (1 - rho)) / (1 - rho)


def weighted_minimiser(problem: Problem, weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The minimiser (d,) of sum of weights_i f_i on a quadratic problem, exactly.

    Raises Unsupported where the problem is not quadratic or the weighted sum has no single minimiser.
    """
    a, b = weighted_map(zip(weights, _maps(problem), strict=True))
    if a.rank() < problem.dim:
        raise Unsupported(f"the weighted objective of '{problem.name}' has no single minimiser.")
    return tuple(fraction(v) for v in a.solve(b).entries())


def effective_weights(problem: Problem, point: Sequence[Fraction]) -> list[Fraction] | None:
    """The weights u, summing to 1, with sum of u_i grad f_i(x) = 0; None where there are none or several.

    The point x (d,) then is stationary for sum of u_i f_i: what a method that ends there minimises in effect.
    """
    maps, x = _maps(problem), column(point)
    gradients = [[*(a * x - b).entries(), fmpq(1)] for a, b in maps]
    system, right = fmpq_mat(gradients).transpose(), column([Fraction(0)] * problem.dim + [Fraction(1)])
    if system.rank() < len(maps):
        return None
    normal = system.transpose() * system
    found = solve_any(normal, system.transpose() * right)
    if found is None or system * found != right:
        return None
    return [fraction(v) for v in found.entries()]


def _maps(problem: Problem) -> Sequence[Affine]:
    quadratic = quadratic_objectives(problem)
    if quadratic is None:
        raise Unsupported(f"the problem '{problem.name}' is not quadratic, so that no exact limit is known.")
    return quadratic.forms().maps


def surrogate(method: Method, problem: Problem) -> Problem:
    """The same clients with the objective fhat = sum of what_i f_i that the method follows to first order in its step.

    Its constants and metrics are about fhat; the method does on it what it does on `problem`. Where what = w it is
    `problem` itself. Raises Unsupported where the weights cannot be had (too many cohorts) or the problem cannot be
    given others.
    """
    weights = small_step_weights(method, clients_of(problem))
    return problem if list(problem.weights) == weights else reweighted(problem, weights)
