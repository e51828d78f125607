"""Examples 1 and 2: clients |theta - theta_i*|^2/2 that take turns, each on the model that it received last.

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
from boundcheck.setting.theories import Row, Theory, constants, hypotheses, maybe

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


@dataclass(frozen=True)
class Alternation:
    """A method on a problem as Example 1 (four clients) and as Example 2 (two clients), or why it is neither."""

    four: _Turns | str
    two: _Turns | str

    def constants(self, k: int) -> tuple[Fraction, Fraction] | None:
        """Weight and minimiser of the client of even (k = 0) or odd rounds, in Example 2 on the line."""
        if isinstance(self.two, str) or len(self.two.minimisers[0].entries()) != 1:
            return None
        return self.two.weights[k][0], fraction(self.two.minimisers[self.two.cohorts[k][0]][0, 0])


def _alternation(method: Method, problem: Problem) -> Alternation:
    return Alternation(_turns(method, problem, 2), _turns(method, problem, 1))


def _known(name: str, k: int, place: int, how: str) -> Row[Alternation]:
    return maybe(name, lambda v: (own := v.constants(k)) and own[place], how)


def _unlike_halves(found: _Turns | str) -> str | None:
    """Why this is not Example 1: one client of each of two kinds of data in either half, and all weights 1/2."""
    if isinstance(found, str):
        return found
    first, second = ([found.minimisers[i] for i in cohort] for cohort in found.cohorts)
    if first[0] == first[1] or second not in (first, first[::-1]):
        return "either half of the clients does not have one client of each of two kinds of data."
    if any(w != Fraction(1, 2) for own in found.weights for w in own):
        return "the aggregation weights are not 1/2."
    return None


EXAMPLES = Theory(
    _alternation,
    constants=constants(
        _known("q_1", 0, 0, "aggregation weight in even rounds"),
        _known("theta_1", 0, 1, "minimiser of the client of even rounds"),
        _known("q_2", 1, 0, "aggregation weight in odd rounds"),
        _known("theta_2", 1, 1, "minimiser of the client of odd rounds"),
    ),
    hypotheses=hypotheses(
        Row("two_alternating_clients", lambda v: v.two if isinstance(v.two, str) else None),
        Row("four_alternating_clients", lambda v: _unlike_halves(v.four)),
    ),
)
