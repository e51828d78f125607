"""Which clients need a kept model in the state when clients work on the server point that they received last.

Clients that always take part together received the same point, and share one. A client that takes part in every
round holds the server's point itself, and one that never takes part needs none.
"""

from __future__ import annotations

from boundcheck.engines.exact.cohorts import supported
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import first_repeated

MAX_ROUNDS = 100_000  # of a pattern that is gone through


def kept_models(method: Method, clients: Clients) -> tuple[int | None, ...]:
    """Per client the number (from 0) of its kept model; None where it needs none.

    Raises Unsupported for random cohorts that are too many to go through.
    """
    fixed = method.participation.fixed(0, clients) is not None
    if fixed:
        rounds = first_repeated(method.participation, clients) + method.participation.period(clients)
        if rounds > MAX_ROUNDS:  # a model of its own for every client is always right, only not always the least
            return tuple(range(clients.count))
        cohorts = [method.participation.fixed(t, clients) or () for t in range(rounds)]
    else:
        drawing = method.participation.drawing(clients)
        if drawing is None:
            raise Unsupported(f"the cohorts of {method.name} are neither fixed nor drawn by a known law.")
        cohorts = [cohort for _, cohort in supported(method, drawing)]
    present: list[list[int]] = [[] for _ in range(clients.count)]
    for position, cohort in enumerate(cohorts):
        for i in set(cohort):
            present[i].append(position)
    known: dict[tuple[int, ...], int] = {}
    found: list[int | None] = []
    for own in present:
        needed = 0 < len(own) < len(cohorts)
        found.append(known.setdefault(tuple(own), len(known)) if needed else None)
    return tuple(found)
