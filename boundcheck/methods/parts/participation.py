"""Which clients take part in a round.

A participation is either *fixed* (the cohort of a round is known in advance and repeats with a period) or *random*
(the cohorts of different rounds are independent and alike). A random one lowers to a `Drawing`, the small vocabulary
that every engine carries out and from which the inclusion and pair probabilities follow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, Protocol

from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients

Law = Sequence[tuple[Fraction, tuple[int, ...]]]  # cohorts with their probabilities
MAX_PATTERN = 20_000  # rounds of a period that are gone through


@dataclass(frozen=True)
class Drawing:
    """The law of a random cohort out of n clients.

    kind "uniform": `size` clients without replacement, all such sets alike; "independent": client i takes part with
    probability probabilities[i], independently of the others (the cohort may be empty); "subsets": the cohort is
    subsets[k] (increasing client numbers) with probability probabilities[k], summing to 1; "replacement": `size`
    clients, each drawn anew, client i with probability probabilities[i]. A cohort may then hold a client several times
    (its number repeated): it does its local work once, and its coefficients add up.
    """

    kind: Literal["uniform", "independent", "subsets", "replacement"]
    n: int
    size: int = 0
    probabilities: Sequence[Fraction] = ()
    subsets: Sequence[tuple[int, ...]] = field(default=())

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], Fraction]:
        """Pair probabilities of "subsets", the diagonal included; absent pairs have probability 0."""
        found: dict[tuple[int, int], Fraction] = {}
        for p, cohort in zip(self.probabilities, self.subsets, strict=True):
            for i, j in itertools.product(set(cohort), repeat=2):
                found[i, j] = found.get((i, j), Fraction(0)) + p
        return found

    def inclusion(self, i: int) -> Fraction:
        """p_i, the probability that client i takes part."""
        if self.kind == "uniform":
            return Fraction(self.size, self.n)
        if self.kind == "replacement":
            return 1 - (1 - self.probabilities[i]) ** self.size
        return self.probabilities[i] if self.kind == "independent" else self._pairs.get((i, i), Fraction(0))

    def pair(self, i: int, j: int) -> Fraction:
        """The probability that clients i and j both take part."""
        if i == j:
            return self.inclusion(i)
        if self.kind == "uniform":
            return Fraction(self.size * (self.size - 1), self.n * (self.n - 1))
        if self.kind == "independent":
            return self.probabilities[i] * self.probabilities[j]
        if self.kind == "replacement":
            p, q = 1 - self.probabilities[i], 1 - self.probabilities[j]
            return 1 - p**self.size - q**self.size + (p + q - 1) ** self.size
        return self._pairs.get((i, j), Fraction(0))

    def _of_multiset(self, cohort: Sequence[int]) -> Fraction:
        """The probability of a cohort of "replacement", whatever the order in which it is drawn."""
        share = Fraction(math.factorial(self.size))
        for i in set(cohort):
            share *= self.probabilities[i] ** cohort.count(i) / math.factorial(cohort.count(i))
        return share

    @property
    def largest(self) -> int:
        """The size of the largest possible cohort."""
        return max(len(s) for s in self.subsets) if self.kind == "subsets" else len(self.example())

    def example(self) -> tuple[int, ...]:
        """One cohort with a positive probability."""
        if self.kind == "uniform":
            return tuple(range(self.size))
        if self.kind == "replacement":
            return (next(i for i, p in enumerate(self.probabilities) if p > 0),) * self.size
        if self.kind == "independent":
            return tuple(i for i, p in enumerate(self.probabilities) if p > 0)
        return next(s for s, p in zip(self.subsets, self.probabilities, strict=True) if p > 0)

    def count(self) -> int:
        """How many cohorts have a positive probability (an upper bound for "independent")."""
        if self.kind == "uniform":
            return math.comb(self.n, self.size)
        if self.kind == "replacement":
            return math.comb(sum(1 for p in self.probabilities if p > 0) + self.size - 1, self.size)
        return 2 ** sum(1 for p in self.probabilities if 0 < p < 1) if self.kind == "independent" else len(self.subsets)

    def support(self, limit: int) -> list[tuple[Fraction, tuple[int, ...]]]:
        """Every possible cohort with its probability. Raises Unsupported where there are more than `limit`."""
        if self.count() > limit:
            raise Unsupported(
                f"there are {self.count()} possible cohorts; at most {limit} can be gone through one by one."
            )
        if self.kind == "uniform":
            share = Fraction(1, self.count())
            return [(share, cohort) for cohort in itertools.combinations(range(self.n), self.size)]
        if self.kind == "subsets":
            return [(p, tuple(s)) for p, s in zip(self.probabilities, self.subsets, strict=True) if p > 0]
        if self.kind == "replacement":
            possible = [i for i, p in enumerate(self.probabilities) if p > 0]
            drawn = itertools.combinations_with_replacement(possible, self.size)
            return [(self._of_multiset(cohort), cohort) for cohort in drawn]
        sure = [i for i, p in enumerate(self.probabilities) if p == 1]
        found = [(Fraction(1), sure)]
        for i, p in enumerate(self.probabilities):
            if 0 < p < 1:
                found = [(q * share, [*s, *taken]) for q, s in found for share, taken in ((1 - p, []), (p, [i]))]
        return [(q, tuple(sorted(s))) for q, s in found]


class Participation(Protocol):
    """What every participation answers about the clients (numbered from 0)."""

    def period(self, clients: Clients) -> int:
        """Rounds after which a fixed pattern repeats; 1 for random participation."""
        ...

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        """The cohort of a round (counted from 0), or None when it is random."""
        ...

    def drawing(self, clients: Clients) -> Drawing | None:
        """The law of the cohort of a round, or None when it is fixed."""
        ...


def first_repeated(participation: Participation, clients: Clients) -> int:
    """The round (from 0) from which on a fixed pattern repeats; 0 for most participations, which need not answer."""
    own = getattr(participation, "first", None)
    return 0 if own is None else int(own(clients))


def position(participation: Participation, round_index: int, clients: Clients) -> int:
    """The first round whose cohort has the same law as that of a round."""
    first = first_repeated(participation, clients)
    late = round_index - first
    return round_index if late < 0 else first + late % participation.period(clients)


def _pattern(participation: Participation, clients: Clients) -> range:
    """The rounds of one period of a fixed pattern."""
    first = first_repeated(participation, clients)
    return range(first, first + participation.period(clients))


def pattern_law(participation: Participation, clients: Clients, most: int = MAX_PATTERN) -> Law:
    """The cohorts of one period of a fixed pattern, empty ones too, each with its share of the rounds.

    Raises Unsupported for a period of more than `most` rounds, unless the participation knows its law by formula.
    """
    known = getattr(participation, "law", None)
    if known is not None:
        found = known(clients)
        if found is not None:
            return found
    period = participation.period(clients)
    if period > most:
        shown = str(period) if period < 10**15 else f"about 10^{len(str(period)) - 1}"
        raise Unsupported(f"the cohorts repeat after {shown} rounds, which are too many to go through.")
    rounds = _pattern(participation, clients)
    return [(Fraction(1, len(rounds)), participation.fixed(t, clients) or ()) for t in rounds]


def inclusion(participation: Participation, i: int, clients: Clients) -> Fraction:
    """p_i: the probability that client i takes part in a round; for a fixed pattern its share of a period's rounds."""
    drawing = participation.drawing(clients)
    if drawing is not None:
        return drawing.inclusion(i)
    share = getattr(participation, "share", None)  # by formula, where the pattern is long
    if share is not None:
        return share(i, clients)
    rounds = _pattern(participation, clients)
    return Fraction(sum(i in (participation.fixed(t, clients) or ()) for t in rounds), len(rounds))


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
        lead = range(first_repeated(participation, clients))
        sizes = {len(cohort) for _, cohort in pattern_law(participation, clients)}
        return sizes | {len(participation.fixed(t, clients) or ()) for t in lead}
    if drawing.kind == "subsets":
        return {len(s) for s, p in zip(drawing.subsets, drawing.probabilities, strict=True) if p > 0}
    if drawing.kind == "independent":
        return set(range(sum(p == 1 for p in drawing.probabilities), drawing.largest + 1))
    return {drawing.size}


def _check_sets(cohorts: Sequence[tuple[int, ...]], n: int) -> None:
    for cohort in cohorts:
        if len(set(cohort)) != len(cohort) or any(not 0 <= i < n for i in cohort):
            raise BadInput(f"{list(cohort)} is no set of clients out of 0 to {n - 1}.")


class _Random:
    """Random participations share these two answers."""

    def period(self, clients: Clients) -> int:
        return 1

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        return None


@dataclass(frozen=True)
class Full:
    """Every client in every round."""

    def period(self, clients: Clients) -> int:
        return 1

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        return tuple(range(clients.count))

    def drawing(self, clients: Clients) -> Drawing | None:
        return None


@dataclass(frozen=True)
class Sole(Full):
    """The only client, in every round: centralised learning."""

    def drawing(self, clients: Clients) -> Drawing | None:
        if clients.count != 1:
            raise BadInput(f"centralised learning has one client; the problem has {clients.count}.")
        return None


@dataclass(frozen=True)
class Cyclic:
    """One client a round, in a fixed order that repeats every n rounds (SCGD, Algorithm 1).

    order: a permutation of 0..n-1, or None for the natural one.
    """

    order: tuple[int, ...] | None = None

    def _order(self, n: int) -> tuple[int, ...]:
        order = self.order if self.order is not None else tuple(range(n))
        if sorted(order) != list(range(n)):
            raise BadInput(f"the visiting order {list(order)} is not a permutation of the clients 0 to {n - 1}.")
        return order

    def period(self, clients: Clients) -> int:
        return clients.count

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        n = clients.count
        return (self._order(n)[round_index % n],)

    def drawing(self, clients: Clients) -> Drawing | None:
        return None


@dataclass(frozen=True)
class Pattern:
    """Cohorts that are known in advance: those of `lead` once, then those of `cohorts` over and over.

    A cohort may be empty; a client need not take part in any.
    """

    cohorts: tuple[tuple[int, ...], ...]
    lead: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.cohorts:
            raise BadInput("a pattern of cohorts needs at least one round.")

    def period(self, clients: Clients) -> int:
        return len(self.cohorts)

    def first(self, clients: Clients) -> int:
        return len(self.lead)

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        if round_index < len(self.lead):
            return self.lead[round_index]
        return self.cohorts[(round_index - len(self.lead)) % len(self.cohorts)]

    def drawing(self, clients: Clients) -> Drawing | None:
        _check_sets((*self.lead, *self.cohorts), clients.count)
        return None


@dataclass(frozen=True)
class Uniform:
    """`size` clients a round, uniformly without replacement, independently from round to round."""

    size: int

    def _size(self, n: int) -> int:
        if not 1 <= self.size <= n:
            raise BadInput(f"a cohort of {self.size} clients is impossible; 1 to {n} are allowed.")
        return self.size

    def period(self, clients: Clients) -> int:
        return 1

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        n = clients.count
        return tuple(range(n)) if self._size(n) == n else None

    def drawing(self, clients: Clients) -> Drawing | None:
        n = clients.count
        return None if self._size(n) == n else Drawing("uniform", n, self.size)


@dataclass(frozen=True)
class Independent(_Random):
    """Client i takes part with probability probabilities[i], independently of the others; the cohort may be empty."""

    probabilities: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for p in self.probabilities:
            if not 0 < p <= 1:
                raise BadInput(f"the probability {p} of taking part is not allowed; it is above 0 and at most 1.")

    def drawing(self, clients: Clients) -> Drawing | None:
        if len(self.probabilities) != clients.count:
            raise BadInput(f"{len(self.probabilities)} probabilities were given for {clients.count} clients.")
        return Drawing("independent", clients.count, probabilities=self.probabilities)


@dataclass(frozen=True)
class Importance(_Random):
    """Independent participation with p_i = min(1, b w_i): b clients a round on average (FedShuffle, Section 5)."""

    b: Fraction

    def drawing(self, clients: Clients) -> Drawing | None:
        if not 0 < self.b <= clients.count:
            raise BadInput(
                f"b = {self.b} clients a round are impossible; above 0 and at most {clients.count} are allowed."
            )
        p = tuple(min(Fraction(1), self.b * w) for w in clients.weights)
        return Drawing("independent", clients.count, probabilities=p)


@dataclass(frozen=True)
class OneByWeight(_Random):
    """One client a round, client i with probability w_i (FedShuffle, Theorem 5.2)."""

    def drawing(self, clients: Clients) -> Drawing | None:
        chosen = [(w, (i,)) for i, w in enumerate(clients.weights) if w > 0]
        return Drawing(
            "subsets", clients.count, probabilities=tuple(w for w, _ in chosen), subsets=tuple(s for _, s in chosen)
        )


@dataclass(frozen=True)
class WithReplacement(_Random):
    """`size` clients a round, each drawn anew by weight: a client may be drawn several times (MD sampling; FedDANE)."""

    size: int

    def drawing(self, clients: Clients) -> Drawing | None:
        if self.size < 1:
            raise BadInput(f"a cohort of {self.size} clients is impossible; at least 1 is allowed.")
        return Drawing("replacement", clients.count, self.size, tuple(clients.weights))


@dataclass(frozen=True)
class Subsets(_Random):
    """Any distribution: the cohort is subsets[k] with probability probabilities[k].

    Every client must take part with a positive probability (a *proper* sampling).
    """

    subsets: tuple[tuple[int, ...], ...]
    probabilities: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.subsets) != len(self.probabilities):
            raise BadInput(
                f"{len(self.probabilities)} probabilities were given for {len(self.subsets)} sets of clients."
            )
        if any(p < 0 for p in self.probabilities) or sum(self.probabilities) != 1:
            raise BadInput("the probabilities of the sets of clients must be at least 0 and sum to 1.")

    def drawing(self, clients: Clients) -> Drawing | None:
        _check_sets(self.subsets, clients.count)
        cohorts = tuple(tuple(sorted(s)) for s in self.subsets)
        drawn = {i for s, p in zip(cohorts, self.probabilities, strict=True) if p > 0 for i in s}
        missing = sorted(set(range(clients.count)) - drawn)
        if missing:
            raise BadInput(f"client {missing[0]} never takes part; every client needs a positive probability.")
        return Drawing("subsets", clients.count, probabilities=self.probabilities, subsets=cohorts)
