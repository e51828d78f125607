"""Weights of clients, and participations of examples of FedShuffle.

S. Horvath et al., "FedShuffle". "data_weights" (1) asks that every client counts as its share of all samples, in the
objective and in what it reports to the method; "followed_objective" (Theorem E.1) that the objective is the one that
the method follows to first order in its step. Hypotheses that are decided where a statement names them are about two
clients drawn with the probabilities that make M smallest (Section 5), and Sum-One for pairs of three clients (Section
4.2).
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.core.numbers import format_short
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import algorithms
from boundcheck.problems.problem import clients_of
from boundcheck.setting.followed_objective import small_step_weights
from boundcheck.setting.participation import Participants, general, participants
from boundcheck.setting.theories import Objections, Row, Theory

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

MAX_CLIENTS = 1000  # whose weights in the objective that is followed are computed


def _weights(pair: tuple[Method, Problem]) -> Objections:
    """The answers; "followed_objective" is looked at for the FedShuffleGen family with few clients and cohorts."""
    method, problem = pair
    clients = clients_of(problem)
    found: Objections = {"data_weights": _unlike_data(problem, clients)}
    if clients.count > MAX_CLIENTS or "fedshuffle_gen" not in algorithms(method, clients):
        return found
    try:
        weights = small_step_weights(method, clients)
    except (BadInput, Unsupported):  # too many cohorts
        return found
    followed = list(problem.weights) == weights
    why = "the method follows an objective with other weights of the clients; run it on its surrogate problem."
    return {**found, "followed_objective": None if followed else why}


def _unlike_data(problem: Problem, clients: Clients) -> str | None:
    own, sizes = clients.weights, clients.sizes
    if problem.weights is not own and list(problem.weights) != list(own):
        return "its clients report other weights than they have in the objective."
    if clients.one_weight and clients.one_size:
        return None if own[0] == Fraction(1, clients.count) else "its weights do not sum to 1."
    total = sum(sizes)
    bad = next((i for i, (w, size) in enumerate(zip(own, sizes, strict=True)) if w * total != size), None)
    return None if bad is None else f"client {bad} has the weight {own[bad]}, but {sizes[bad]} of {total} samples."


def _smallest_of_two(own: Participants) -> str | None:
    w, p = own.clients.weights, own.independent
    if own.clients.count != 2 or sum(w) != 1:
        return "the clients are not two of total weight 1."
    if not p:
        return "clients are not drawn independently of each other."
    if sum(p) != 1:
        return "the clients drawn in a round are not one in the mean."
    # max(q w_1/p, p w_2/q) is smallest where both are equal
    return None if p[1] ** 2 * w[0] == p[0] ** 2 * w[1] else "M is smaller at other probabilities."


def _equal_work(method: Method, clients: Clients) -> str | None:
    """Whether all clients do equally much local work: steps times their factor of the step size."""
    gen = general(method, clients)
    if gen is None:
        return "the method is none of the FedShuffleGen family."
    work = [v.steps * v.scale for v in gen.visits]
    bad = next((i for i, v in enumerate(work) if v != work[0]), None)
    if bad is None:
        return None
    return f"client {bad} does {format_short(work[bad] / work[0])} times as much local work as client 0."


def _pairs(own: Participants) -> str | None:
    method, clients = own.method, own.clients
    if clients.count != 3:
        return "the clients are not three."
    if own.drawing is None or own.drawing.kind != "uniform" or own.drawing.size != 2:
        return "the cohorts are not two clients drawn uniformly."
    w = clients.weights
    if min(w) <= 0:
        return "a client has the weight 0."
    for i, j in itertools.combinations(range(3), 2):
        shares = [w[i] / (w[i] + w[j]), w[j] / (w[i] + w[j])]
        if list(method.aggregation.coefficients((i, j), method.context(clients))) != shares:
            return "the aggregation is not Sum-One."
    return _equal_work(method, clients)


def _pairs_of_three(own: Participants) -> str | None:
    total = sum(own.clients.weights)
    if own.clients.count != 3 or [w / total * 6 for w in own.clients.weights] != [1, 2, 3]:
        return "the clients are not three with the weights 1/6, 1/3 and 1/2."
    return _pairs(own)


theories = (
    Theory(lambda method, problem: (method, problem), hypotheses=_weights),
    Theory(
        participants,
        named=(
            Row("smallest_m_of_two", _smallest_of_two),
            Row("sum_one_pairs", _pairs),
            Row("sum_one_pairs_of_three", _pairs_of_three),
        ),
    ),
)
