"""Which cohorts a participation gives, whether they are fixed or drawn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.methods.parts import first_repeated

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.parts import Participation

Law = Sequence[tuple[Fraction, tuple[int, ...]]]


def known_rounds(participation: Participation, clients: Clients) -> int:
    """How many rounds it takes until every cohort of a fixed pattern has occurred."""
    return first_repeated(participation, clients) + participation.period(clients)


def only_cohort(participation: Participation, clients: Clients) -> tuple[int, ...] | None:
    """The cohort of every round; None where rounds differ."""
    if participation.drawing(clients) is not None or known_rounds(participation, clients) > 1:
        return None
    return participation.fixed(0, clients) or ()


def everyone(participation: Participation, clients: Clients) -> bool:
    """Whether all clients take part in every round."""
    return len(only_cohort(participation, clients) or ()) == clients.count


def cohort_law(participation: Participation, clients: Clients, most: int) -> Law | None:
    """Every cohort with its probability; None where rounds are not alike.

    Raises Unsupported for more than `most` cohorts.
    """
    drawing = participation.drawing(clients)
    if drawing is not None:
        return drawing.support(most)
    only = only_cohort(participation, clients)
    return None if only is None else [(Fraction(1), only)]


def cohort_sizes(participation: Participation, clients: Clients) -> set[int]:
    """How many clients a cohort may have; one that is drawn several times counts as often."""
    drawing = participation.drawing(clients)
    if drawing is None:
        rounds = range(known_rounds(participation, clients))
        return {len(participation.fixed(t, clients) or ()) for t in rounds}
    if drawing.kind == "subsets":
        return {len(s) for s, p in zip(drawing.subsets, drawing.probabilities, strict=True) if p > 0}
    if drawing.kind == "independent":
        return set(range(sum(p == 1 for p in drawing.probabilities), drawing.largest + 1))
    return {drawing.size}
