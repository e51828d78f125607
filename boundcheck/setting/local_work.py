"""What clients do in a round, as the visits of their local work say."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.errors import BadInput, Unsupported

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Visit


def possible_visits(method: Method, client: int, clients: Clients) -> list[Visit]:
    """The visits of a client that has a cohort of its own; none where its local work refuses these clients."""
    try:
        return [visit for _, visit in method.local.visits(client, (client,), clients)]
    except (BadInput, Unsupported):  # the run itself says what is wrong
        return []


def certain_visits(method: Method, clients: Clients) -> list[Visit] | None:
    """The visit of each client; None where one is drawn, refused or rests on the cohort."""
    every = [possible_visits(method, i, clients) for i in range(clients.count)]
    if method.local.by_cohort or any(len(own) != 1 for own in every):
        return None
    return [visit for (visit,) in every]


def plain_steps(method: Method, clients: Clients, samplings: Sequence[str] = ("full", "replacement")) -> int | None:
    """K, where every client takes K steps of the schedule's size, along gradients of these samplings; else None."""
    visits = certain_visits(method, clients) or []
    numbers = {v.steps if v.sampling in samplings and v.scale == 1 and not v.prox else None for v in visits}
    return numbers.pop() if len(numbers) == 1 else None


def takes_steps(method: Method, clients: Clients) -> bool:
    """Whether some client takes local steps; otherwise all solve their subproblems exactly."""
    return any(visit.sampling != "exact" for i in range(clients.count) for visit in possible_visits(method, i, clients))


def draws_samples(method: Method, clients: Clients) -> bool:
    """Whether some client steps along samples that are drawn anew."""
    every = (visit for i in range(clients.count) for visit in possible_visits(method, i, clients))
    return any(visit.sampling == "replacement" for visit in every)


def variance_share(visit: Visit, size: int) -> Fraction | None:
    """The variance of a step's gradient over that of a single sample's; None for no sampled gradient.

    size: samples of the client.
    """
    batch = min(visit.batch, size)
    if visit.sampling == "full" or size == 1:
        return Fraction(0)
    if visit.sampling == "replacement":
        return Fraction(1, batch)
    return Fraction(size - batch, batch * (size - 1)) if visit.sampling == "reshuffled" else None
