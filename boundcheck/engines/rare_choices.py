"""The least probable of the random choices that a method makes anew in every round.

A finite number of seeds that has not seen such a choice says nothing about what follows from it. A run of several
rounds makes it at least once with a probability that is at least that of one round.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.engines.curve import Rarest
from boundcheck.methods.parts import Blocks, ReferencePoint

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Drawing


MAX_CLIENTS = 100_000  # whose probabilities are gone through


def rarest_choice(method: Method, clients: Clients) -> Rarest | None:
    """The least probable of: a client takes part in a round, a client stays away, a number of local epochs, a point is
    the next reference point.

    The rarest of the client sets that are given by name (`subsets`) counts, too. Which samples a client visits, and in
    which order, has no probability of a size that seeds could see, and is left out. None where nothing else is random.
    """
    found = [Rarest(float(p), event) for p, event in _choices(method, clients) if 0 < p < 1]
    return min(found, key=lambda r: r.probability, default=None)


def _choices(method: Method, clients: Clients) -> Iterator[tuple[Fraction, str]]:
    drawn = [method.participation.drawing(clients)]
    if method.correction is not None and method.correction.participation is not None:
        drawn.append(method.correction.participation.drawing(clients))
    for drawing in drawn:
        if drawing is not None:
            yield from _of_drawing(drawing)
    control = method.control
    if isinstance(control, ReferencePoint) and control.point == "random":
        yield Fraction(1, control.inner), "a given point becomes the reference point"
    if not isinstance(method.exchange, Blocks) and clients.count <= MAX_CLIENTS:
        for i in range(clients.count):
            for p, visit in method.local.visits(i, (i,), clients):
                yield p, f"client {i} takes {visit.steps} local steps"


def _of_drawing(drawing: Drawing) -> Iterator[tuple[Fraction, str]]:
    if drawing.kind == "subsets":
        for p, cohort in zip(drawing.probabilities, drawing.subsets, strict=True):
            yield p, f"the cohort is {list(cohort)}"
        return
    alike = drawing.kind == "uniform"
    for i in range(1 if alike else min(drawing.n, MAX_CLIENTS)):
        p, who = drawing.inclusion(i), "a given client" if alike else f"client {i}"
        yield p, f"{who} takes part in a round"
        if drawing.kind == "independent":
            yield 1 - p, f"{who} takes no part in a round"
