"""Mistakes that implementations of a composition make: for each type of part the changes that a wrong one has.

`_BY_PART` is the table. A row goes from a part of a method to mutants: a name, a sentence and the method with the
mistake. A new type of part adds a row; a mutant is a composition like any other and is carried out by the engines.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from boundcheck.core.parameters import checks_types
from boundcheck.errors import BoundcheckError, Unsupported
from boundcheck.judge.altered import AlteredWeights, DrawnAgain
from boundcheck.judge.mistakes_of_averages import MOST_CLIENTS, Found, server_mistakes, weight_mistakes
from boundcheck.judge.mistakes_of_rounds import round_mistakes
from boundcheck.judge.mistakes_of_steps import epoch_mistakes, schedule_mistakes, step_mistakes
from boundcheck.judge.reference import iterates
from boundcheck.methods import parts
from boundcheck.methods.build import build as build_method
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts.control import POINTS
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Floats, Problem, clients_of


@dataclass(frozen=True)
class Mutant:
    """A method with one mistake: a name, a sentence that says what is wrong, and the composition.

    carried: how it is carried out, where the mistake is not one of the composition (`carried_out`).
    """

    name: str
    sentence: str
    method: Method
    carried: Callable[[Problem, int], Floats] | None = None

    def iterates(self, problem: Problem, rounds: int) -> Floats:
        """As `reference.iterates`."""
        return iterates(self.method, problem, rounds) if self.carried is None else self.carried(problem, rounds)


@checks_types
def mutants(method: Method | Mapping[str, Any], problem: Problem | Mapping[str, Any]) -> list[Mutant]:
    """The known mistakes of a composition, those that the problem's clients allow, in the order of the table.

    method, problem: objects or specifications. Raises BadInput and UnknownName.
    """
    method = build_method(method) if isinstance(method, Mapping) else method
    problem = build_problem(problem) if isinstance(problem, Mapping) else problem
    clients, found = clients_of(problem), list[Mutant]()
    for make in _BY_PART:
        for name, sentence, changes in _rows(make, method, clients):
            try:
                wrong = replace(method, name=f"{method.name} with {name}", **_consistent(method, changes))
                wrong.check(clients, problem.dim)
            except BoundcheckError:  # the mistake makes no sense with these clients
                continue
            found.append(Mutant(name, sentence, wrong))
    return found


def _rows(make: Callable[[Method, Clients], Found], method: Method, clients: Clients) -> Found:
    """The mutants of a row; none where the parts have no meaning together as functions."""
    try:
        yield from make(method, clients)
    except Unsupported:
        return


def _consistent(method: Method, changes: dict[str, Any]) -> dict[str, Any]:
    """Weights that depend on the local work stay those of the right one."""
    rule = changes.get("aggregation", method.aggregation)
    if "local" in changes and not isinstance(rule, parts.Average | parts.Same | parts.PerClient):
        return {**changes, "aggregation": AlteredWeights(rule, local=method.local)}
    return changes


def _participation(method: Method, clients: Clients) -> Found:
    part, n = method.participation, clients.count
    if isinstance(part, parts.Cyclic):
        order = part.order or tuple(range(n))
        for name, other in (("in reverse", order[::-1]), ("starting with the second", (*order[1:], order[0]))):
            yield f"clients {name}", f"the clients take their turns {name}", {"participation": parts.Cyclic(other)}
        words = "all clients take part in every round and are averaged"
        yield "all clients in every round", words, {"participation": parts.Full()}
    if isinstance(part, parts.Uniform):
        yield from _uniform(method, part, clients)
    if isinstance(part, parts.WithReplacement):
        words = "clients are drawn uniformly without replacement"
        yield "clients drawn without replacement", words, {"participation": parts.Uniform(part.size)}
        words = "clients are drawn uniformly, not by their weights"
        yield "clients drawn uniformly", words, {"participation": DrawnAgain(part.size)}
        if not isinstance(method.aggregation, parts.SumOne):
            words = "clients are drawn by their weights, and weighted by them again"
            yield "drawn and weighted by data", words, {"aggregation": parts.SumOne()}
        if n <= MOST_CLIENTS and part.size <= MOST_CLIENTS:
            law = dict[tuple[int, ...], Fraction]()
            for drawn in itertools.product(range(n), repeat=part.size):
                own = tuple(sorted(set(drawn)))
                law[own] = law.get(own, Fraction(0)) + math.prod((clients.weights[i] for i in drawn), start=Fraction(1))
            once = {"participation": parts.Subsets(tuple(law), tuple(law.values())), "aggregation": parts.Average()}
            yield "clients drawn twice count once", "the cohort is the set of the clients that were drawn", once
    if isinstance(part, parts.OneByWeight):
        yield "one client drawn uniformly", "the client is not drawn by its weight", {"participation": parts.Uniform(1)}
    if isinstance(part, parts.Independent):
        mean = sum(part.probabilities, Fraction(0)) / n
        words = "all clients take part with the same probability"
        yield "equal probabilities", words, {"participation": parts.Independent((mean,) * n)}


def _uniform(method: Method, part: parts.Uniform, clients: Clients) -> Found:
    """Cohorts drawn otherwise, with the weights that belong to the right ones."""
    rule, fixed = method.aggregation, dict[str, Any]()
    if isinstance(rule, parts.Unbiased):
        own = rule.by_client(method.context(clients))
        fixed = {"aggregation": parts.PerClient(tuple(own(i) for i in range(clients.count)))}
    words = "a client can be drawn twice in a round"
    yield "clients drawn with replacement", words, {"participation": DrawnAgain(part.size), **fixed}
    words = "clients are drawn with replacement, by their weights"
    yield "clients drawn by weight", words, {"participation": parts.WithReplacement(part.size), **fixed}
    for size, word in ((part.size - 1, "fewer"), (part.size + 1, "more")):
        if 1 <= size <= clients.count:
            name, words = f"one client {word} in a cohort", f"every cohort has one client {word}"
            yield name, words, {"participation": parts.Uniform(size), **fixed}
            if fixed:
                words = f"{words}, with the weights that belong to it"
                yield f"{name}, and its weights", words, {"participation": parts.Uniform(size)}
    yield "all clients in every round", "nobody is left out", {"participation": parts.Full(), **fixed}
    n, size = clients.count, part.size
    first = parts.Pattern((tuple(range(size)),))
    yield "first clients in every round", f"the cohort is always the first {size} clients", {"participation": first}
    if n % size == 0 and n > size:
        turns = parts.Pattern(tuple(tuple(range(k, k + size)) for k in range(0, n, size)))
        yield "cohorts in turn", f"the clients take part in turn, {size} a round", {"participation": turns, **fixed}
    if n <= MOST_CLIENTS and 1 < size < n and len(set(clients.weights)) > 1:
        words = "clients are drawn one after the other by their weights, none twice"
        yield "clients drawn by weight, none twice", words, {"participation": _by_weight(clients, size), **fixed}


def _by_weight(clients: Clients, size: int) -> parts.Subsets:
    """Clients drawn one after the other, each time by the weights of those that are left."""
    law: dict[tuple[int, ...], Fraction] = {}
    for order in itertools.permutations(range(clients.count), size):
        p, left = Fraction(1), Fraction(1)
        for i in order:
            p, left = p * clients.weights[i] / left, left - clients.weights[i]
        law[tuple(sorted(order))] = law.get(tuple(sorted(order)), Fraction(0)) + p
    return parts.Subsets(tuple(law), tuple(law.values()))


def _momentum(method: Method, clients: Clients) -> Found:
    m = method.momentum
    if m is None:
        return
    if m.a not in (Fraction(1), Fraction(1, 2)):
        words = "the fresh gradient and the momentum have each other's weight"
        yield "a and 1 - a swapped", words, {"momentum": replace(m, a=1 - m.a)}
    words = "gradients are not compared at two points" if m.variance_reduced else "gradients are compared at two points"
    yield "the other form of momentum", words, {"momentum": replace(m, variance_reduced=not m.variance_reduced)}
    if m.start != "zero":
        yield "momentum from zero", "the momentum starts at zero", {"momentum": replace(m, start="zero", warm_up=0)}


def _server_momentum(method: Method, clients: Clients) -> Found:
    m = method.server_momentum
    if m is None:
        return
    point = "the point of the last round" if m.nesterov else "the point after the momentum"
    name = "heavy ball instead of Nesterov" if m.nesterov else "Nesterov instead of heavy ball"
    yield name, f"clients start from {point}", {"server_momentum": replace(m, nesterov=not m.nesterov)}
    if isinstance(m.momentum, Fraction):
        damped = replace(method.server, eta_g=method.server.eta_g * (1 - m.momentum))
        yield "aggregated difference times 1 - momentum", "the momentum is a weighted mean", {"server": damped}
        squared = replace(m, momentum=m.momentum**2)
        yield "momentum used twice", "the momentum is the square of what it should be", {"server_momentum": squared}
        words = "the local steps of the clients have the momentum, not the server"
        local = parts.ClientOptimizer(momentum=m.momentum) if m.momentum else None
        yield "momentum of the clients' steps", words, {"server_momentum": None, "client_optimizer": local}


def _correction(method: Method, clients: Clients) -> Found:
    c = method.correction
    if c is None:
        return
    other = "data" if c.weights == "uniform" else "uniform"
    weighed = {"correction": replace(c, weights=other)}
    yield f"correction with {other} weights", f"the mean gradient has {other} weights", weighed
    words = "the correction uses gradients of the round before"
    if not c.pipelined and c.participation is None:
        yield "correction one round late", words, {"correction": replace(c, pipelined=True)}


def _control(method: Method, clients: Clients) -> Found:
    c = method.control
    if isinstance(c, parts.ControlVariates):
        if c.update == "difference":
            words = "new control variates are whole gradients at the server's point"
            yield "control variates: option I", words, {"control": replace(c, update="gradient")}
        else:
            words = "new control variates are the mean gradients of the local steps"
            yield "control variates: option II", words, {"control": replace(c, update="difference")}
        start = "gradient" if c.start == "zero" else "zero"
        words = f"the first control variates are {start}"
        yield f"control variates from {start}", words, {"control": replace(c, start=start)}
    if isinstance(c, parts.ReferencePoint):
        for point in POINTS:
            if point != c.point:
                words = f"the reference point is the {point} point of its rounds"
                yield f"reference point: {point}", words, {"control": replace(c, point=point)}
        for inner in (c.inner - 1, c.inner + 1):
            if inner:
                words = f"the reference point is renewed after {inner} rounds"
                yield f"reference point for {inner} rounds", words, {"control": replace(c, inner=inner)}
    if c is not None:
        other = "data" if c.weights == "uniform" else "uniform"
        words = f"the mean of the control variates has {other} weights"
        yield f"control variates with {other} weights", words, {"control": replace(c, weights=other)}


def _exchange(method: Method, clients: Clients) -> Found:
    if isinstance(method.exchange, parts.Stale):
        words = "clients work on the server's current model instead of the one that they received"
        yield "no staleness", words, {"exchange": None}
    elif method.is_plain and method.participation.fixed(0, clients) != tuple(range(clients.count)):
        words = "clients go on from the model that they had when they last took part"
        yield "stale models", words, {"exchange": parts.Stale()}


def _without(method: Method, clients: Clients) -> Found:
    """Every optional part, whatever it is, left out."""
    words = {
        "momentum": "the momentum",
        "correction": "the correction",
        "server_momentum": "the momentum of the server",
        "control": "the control variates",
        "client_optimizer": "the optimizer of the clients (momentum, weight decay, clipping)",
    }
    known = {"participation", "local", "schedule", "aggregation", "server", "exchange"}
    for part, own in method.parts.items():
        if part not in known and own is not None:
            text = words.get(part, f"the {part}".replace("_", " "))
            yield f"no {text.removeprefix('the ')}", f"{text} is left out", {part: None}


_BY_PART: tuple[Callable[[Method, Clients], Found], ...] = (
    weight_mistakes,
    server_mistakes,
    step_mistakes,
    epoch_mistakes,
    schedule_mistakes,
    _participation,
    _momentum,
    _server_momentum,
    _correction,
    _control,
    _exchange,
    _without,
    round_mistakes,
)
