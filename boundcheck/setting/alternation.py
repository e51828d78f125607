"""Examples 1 and 2: clients |theta - theta_i*|^2/2 who take turns, each on the model that it received last.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Sections 3.3 and 3.4. Whether a method on a problem is one of them is decided exactly,
and for Example 2, in one dimension, the constants q_1, q_2 (weights in even and odd rounds, counted from 0) and
theta_1, theta_2 (minimisers of the client of even and of odd rounds) are those of the instance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.linalg import fraction, identity
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods import answers
from boundcheck.methods.parts import first_repeated
from boundcheck.problems.problem import clients_of, quadratic_objectives
from boundcheck.setting.local_work import plain_steps
from boundcheck.setting.makers import Makers, make_exact

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


@dataclass(frozen=True)
class _Turns:
    """Who takes part in even and odd rounds with which weights, and the clients' minimisers, one (d, 1) each."""

    cohorts: tuple[tuple[int, ...], tuple[int, ...]]
    weights: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    minimisers: tuple[Any, ...]


def _turns(method: Method, problem: Problem, each: int) -> _Turns | str:
    """The turns of two groups of `each` clients, or why there are none such."""
    clients = clients_of(problem)
    if clients.count != 2 * each:
        return f"the clients are not {'two' if each == 1 else 'four'}."
    quadratic = quadratic_objectives(problem)
    if quadratic is None or any(a != identity(problem.dim) for a, _ in quadratic.forms().maps):
        return "the clients' objectives are not |theta - theta_i*|^2/2."
    whole = plain_steps(method, clients, ("full",)) is not None
    if not whole or not answers.starts_stale(method.exchange) or not replace(method, exchange=None).is_plain:
        return "the clients do not take full gradient steps on the model that they received last."
    try:
        if first_repeated(method.participation, clients) or method.participation.period(clients) != 2:
            return "the cohorts of the rounds are not two that alternate."
        even, odd = (method.participation.fixed(n, clients) for n in range(2))
        if even is None or odd is None or sorted((*even, *odd)) != list(range(clients.count)) or len(even) != each:
            return f"the cohorts are not {each} of the clients and {each} others in turn."
        setting = method.context(clients)
        weights = tuple(method.aggregation.coefficients(cohort, setting) for cohort in (even, odd))
    except (BadInput, Unsupported) as error:
        return str(error)
    # A is the identity, so that b is the minimiser
    return _Turns((even, odd), (tuple(weights[0]), tuple(weights[1])), tuple(b for _, b in quadratic.forms().maps))


def alternation_hypotheses(method: Method, problem: Problem) -> dict[str, str | None]:
    """Whether this is Example 1 (`four_alternating_clients`) and 2 (`two_alternating_clients`): why not, or None.

    In Example 1 either half has one client of each of two kinds of data, and all weights are 1/2.
    """
    two, four = _turns(method, problem, 1), _turns(method, problem, 2)
    objection = four if isinstance(four, str) else _unlike_halves(four)
    return {"two_alternating_clients": two if isinstance(two, str) else None, "four_alternating_clients": objection}


def _unlike_halves(found: _Turns) -> str | None:
    first, second = ([found.minimisers[i] for i in cohort] for cohort in found.cohorts)
    if first[0] == first[1] or second not in (first, first[::-1]):
        return "either half of the clients does not have one client of each of two kinds of data."
    if any(w != Fraction(1, 2) for own in found.weights for w in own):
        return "the aggregation weights are not 1/2."
    return None


def alternation_makers(method: Method, problem: Problem) -> Makers:
    """q_1, q_2, theta_1 and theta_2 of Example 2; empty for all else."""
    found = _turns(method, problem, 1) if problem.dim == 1 else ""
    if isinstance(found, str):
        return {}
    makers: Makers = {}
    for k, (cohort, weights) in enumerate(zip(found.cohorts, found.weights, strict=True), 1):
        who = "even" if k == 1 else "odd"
        minimiser = fraction(found.minimisers[cohort[0]][0, 0])
        makers[f"q_{k}"] = make_exact(weights[0], f"aggregation weight in {who} rounds")
        makers[f"theta_{k}"] = make_exact(minimiser, f"minimiser of the client of {who} rounds")
    return makers
