"""Which client works on which of the kept models, where models are handed over between clients."""

from __future__ import annotations

import itertools
import math

from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks

MAX_COORDINATES = 400  # of the state with a copy for every assignment


def models_of(exchange: Blocks, clients: Clients) -> int:
    """How many models there are. Raises BadInput where more clients are active than there are."""
    return exchange.models(clients.count)


def assignments(method: Method, exchange: Blocks, clients: Clients, dim: int) -> tuple[tuple[int, ...], ...]:
    """The equally likely assignments: the client of each model. Without a hand-over there is one.

    With design 1 all models are equal when they are handed over, so that it does not matter which goes to whom; with
    design 2 every order of the new clients is as likely. Raises Unsupported where they are too many.
    """
    models, hand_over = models_of(exchange, clients), exchange.hand_over
    if hand_over is None:
        return (tuple(range(models)),)
    if exchange.weights == "data" and len(set(clients.weights)) > 1:
        raise Unsupported(f"the models that {method.name} hands from client to client are averaged with equal weights.")
    n, each = clients.count, (models + 1) * dim + 1
    count = math.comb(n, models) if hand_over.design == 1 else math.perm(n, models)
    if count * each > MAX_COORDINATES:
        raise Unsupported(
            f"{method.name} hands {models} models over among {n} clients that are not alike, in {count} ways; with "
            f"{each} numbers for each the exact engine carries at most {MAX_COORDINATES}; use engine = 'sampled'."
        )
    ways = itertools.combinations if hand_over.design == 1 else itertools.permutations
    return tuple(ways(range(n), models))
