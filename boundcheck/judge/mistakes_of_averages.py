"""Mistakes in what the server does with returned models: weights, cohorts' weights, the server's step."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from boundcheck.judge.altered import AlteredWeights, edited
from boundcheck.methods import parts
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method

Found = Iterator[tuple[str, str, dict[str, Any]]]  # name, sentence, the parts that differ
MOST_CLIENTS = 6  # mistakes with one client or one pair of clients are made for this many clients
_SUMS = (Fraction(101, 100), Fraction(99, 100), Fraction(1, 2), Fraction(2))


def weight_mistakes(method: Method, clients: Clients) -> Found:
    """Wrong weights of the clients, and averages that leave clients out."""
    if isinstance(method.exchange, parts.Blocks):
        yield from _block_weights(method.exchange, clients)
        return
    rule, n = method.aggregation, clients.count
    whole = method.participation.fixed(0, clients) == tuple(range(n))

    def altered(**how: Any) -> dict[str, Any]:
        return {"aggregation": AlteredWeights(rule, **how)}

    def using(weights: list[Fraction]) -> dict[str, Any]:
        """The rule with other weights of the clients, or, where it has its own numbers, with those moved alike."""
        if isinstance(rule, parts.PerClient):
            return {"aggregation": parts.PerClient(tuple(weights))}
        return altered(weights=tuple(weights))

    if isinstance(rule, parts.Average | parts.Same):
        words = "clients count by their data instead of alike"
        same = [] if isinstance(rule, parts.Average) else [rule.value * n * w for w in clients.weights]
        yield "data weights", words, {"aggregation": parts.PerClient(tuple(same)) if same else parts.SumOne()}
    else:
        own = list(rule.values) if isinstance(rule, parts.PerClient) else list(clients.weights)
        mean = sum(own, Fraction(0)) / n
        yield "uniform weights", "every client counts alike instead of by its weight", using([mean] * n)
        if not whole:
            words = "the cohort's clients count alike, as their mean does"
            yield "the cohort's mean weight", words, altered(kept="mean")
        yield from _moved(own, using)
    if isinstance(rule, parts.Normalised):
        words = "differences are not divided by the numbers of local steps, as in FedAvg"
        yield "weights not normalised", words, {"aggregation": parts.SumOne()}
        words = "the normaliser is not tau_eff: the weights p_i/tau_i are scaled to sum to 1"
        yield "normalised weights that sum to 1", words, altered(unit=True)
    if isinstance(rule, parts.SumOne | parts.Unbiased) and rule.weights != "data":
        words = f"the weights are the clients' shares of data instead of '{rule.weights}'"
        yield "plain data weights", words, {"aggregation": replace(rule, weights="data")}
    if not whole:
        yield from _cohort_weights(method, clients)
    for i in range(min(n, MOST_CLIENTS)) if n > 1 else ():
        left = tuple(Fraction(int(k != i)) for k in range(n))
        words = f"client {i} does not count"
        yield f"client {i} left out", words, altered(times=left)
        words = f"{words}, and the weights of the others are scaled to sum to 1"
        yield f"client {i} left out, the others scaled up", words, altered(times=left, unit=True)
    if whole and 1 < n <= MOST_CLIENTS:
        for i in range(n):
            twice = tuple(Fraction(1 + (k == i)) for k in range(n))
            words = f"client {i} counts twice, and the weights are scaled to sum to 1"
            yield f"client {i} counted twice", words, altered(times=twice, unit=True)
        words = "differences are added up without weights"
        yield "differences summed", words, {"aggregation": parts.PerClient((Fraction(1),) * n)}
    if n > 1:
        for kept in ("last", "first"):
            words = f"the server takes the model of the {kept} client instead of the average"
            yield f"{kept} client only", words, altered(kept=kept)
    for s in _SUMS:
        wrong, by = altered(times=s), f"with weights multiplied by {s}"
        yield f"weights scaled by {s}", f"differences are added up {by}", wrong
        if method.is_plain:
            wrong = {**wrong, "server": parts.AveragedModels(method.server.eta_g, method.server.ascend)}
            yield f"models averaged with weights that sum to {s}", f"the server averages models {by}", wrong


def _moved(own: list[Fraction], using: Callable[[list[Fraction]], dict[str, Any]]) -> Found:
    """Weights that clients have of each other."""
    n = len(own)
    for i, j in itertools.combinations(range(n), 2) if n <= MOST_CLIENTS else [(0, 1), (n - 2, n - 1)]:
        moved = [own[{i: j, j: i}.get(k, k)] for k in range(n)]
        yield f"weights {i} and {j} swapped", f"clients {i} and {j} have each other's weight", using(moved)
    if n > 2:
        shifted = [own[k - 1] for k in range(n)]
        yield "weights shifted", "each client has the weight of the one before", using(shifted)
        yield "weights in reverse", "the list of weights runs in the opposite order", using(own[::-1])


def _block_weights(blocks: parts.Blocks, clients: Clients) -> Found:
    """Wrong weights, of sum 1, of models that clients keep; none where models are handed over, which count alike."""
    own, n = list(blocks.of(clients.weights)), clients.count
    if blocks.hand_over is not None or n < 2:
        return

    def using(weights: list[Fraction]) -> dict[str, Any]:
        return {"exchange": edited(blocks, of=lambda self, of_clients: tuple(weights))}

    if blocks.weights == "data":
        words = "every client counts alike instead of by its weight"
        yield "uniform weights", words, {"exchange": replace(blocks, weights="uniform")}
        yield from _moved(own, using)
    else:
        words = "clients count by their data instead of alike"
        yield "data weights", words, {"exchange": replace(blocks, weights="data")}
    for i in range(min(n, MOST_CLIENTS)):
        left = [Fraction(0) if k == i else w for k, w in enumerate(own)]
        words = f"client {i} does not count, and the weights of the others are scaled to sum to 1"
        if sum(left):
            yield f"client {i} left out, the others scaled up", words, using([w / sum(left) for w in left])


def _cohort_weights(method: Method, clients: Clients) -> Found:
    """Mistakes that need a cohort of some of the clients."""
    rule = method.aggregation
    models = parts.AveragedModels(method.server.eta_g, method.server.ascend)
    means = isinstance(rule, parts.Average | parts.SumOne)  # which divide by |S|; other weights do not
    sizes: tuple[tuple[Literal["fewer", "more"], str], ...] = (
        ("fewer", "divided by n instead of |S|" if means else "times |S|/n"),
        ("more", "times n/|S|"),
    )
    for size, words in sizes:
        wrong = {"aggregation": AlteredWeights(rule, size=size)}
        yield f"weights {words}", f"the sum over the cohort of differences is {words}", wrong
        if method.is_plain:
            yield f"models {words}", f"the sum over the cohort of models is {words}", {**wrong, "server": models}
    if not means:
        scaled = {"aggregation": AlteredWeights(rule, unit=True)}
        yield "weights scaled to sum to 1", "the weights are divided by their sum", scaled
    if isinstance(rule, parts.SumOne):
        words = "weights are w_i/p_i instead of w_i over the cohort's sum"
        yield "unbiased weights", words, {"aggregation": parts.Unbiased()}
        if method.is_plain:
            own = {"aggregation": parts.PerClient(tuple(clients.weights)), "server": models}
            yield "data weights, not scaled to the cohort", "models are averaged with w_i, whose sum is below 1", own
    if not means and method.is_plain:
        words = "the server adds up models, not differences, with weights that do not sum to 1 in every cohort"
        yield "models instead of differences", words, {"server": models}
    if isinstance(rule, parts.Unbiased):
        words = "nothing makes up for clients that take part rarely"
        yield "weights not divided by p_i", words, {"aggregation": AlteredWeights(rule, likely=True)}
        words = "weights are w_i over the cohort's sum instead of w_i/p_i"
        yield "data weights over the cohort's sum", words, {"aggregation": parts.SumOne(rule.weights)}


def server_mistakes(method: Method, clients: Clients) -> Found:
    """A wrong step of the server."""
    if isinstance(method.exchange, parts.Blocks):  # there is no server
        return
    step = method.server
    if step.eta_g != 1:
        words = "the step size of the server is not used"
        yield "no server step size", words, {"server": replace(step, eta_g=Fraction(1))}
        words = "the step size of the server is used twice"
        yield "server step size twice", words, {"server": replace(step, eta_g=step.eta_g**2)}
    twice, other = replace(step, eta_g=2 * step.eta_g), replace(step, ascend=not step.ascend)
    yield "server step twice", "the server adds the aggregated difference twice", {"server": twice}
    yield "server step with the wrong sign", "the server subtracts the aggregated difference", {"server": other}
