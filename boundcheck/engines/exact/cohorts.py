"""The law of a round's cohort, reduced to what the first two moments of the server's step need.

A member v is a client together with what it does (which can depend on the cohort). With a_v the aggregation
coefficient where v takes part and 0 where not, the server moves by sum of a_v Q_v z, so that E[a_v], E[a_v a_w] and
E[a_v^2] suffice as long as Q_v itself does not depend on the cohort.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Drawing, Epochs, GradientSteps, NoStep, Participation, Same, Unbiased, Visit
from boundcheck.methods.round import PLAIN, Sent

MAX_COHORTS = 20_000  # possible cohorts that are gone through one by one at most

Visits = tuple[tuple[Fraction, Visit], ...]


@dataclass(frozen=True)
class Member:
    """A client and its possible visits with their probabilities."""

    client: int
    visits: Visits


@dataclass(frozen=True)
class Cohort:
    """One possible cohort: its probability, the positions of its members in `Law.members` and their weights.

    weights: by the rule by which vectors are summed, None for the method's own, the a_v. A client that is drawn several
    times is one member, with the sum of its weights.
    """

    p: Fraction
    members: Sequence[int]
    weights: Mapping[Any, Sequence[Fraction]]


@dataclass(frozen=True)
class Law:
    """The law of the cohort of a round.

    mean: E[a_v]. square: E[a_v^2]. E[a_v a_w] is `joint[v][w]`, or where that is None
    common * mean[v] * mean[w], plus own[v] for v = w. cohorts: every possible cohort, where they were gone through.
    """

    members: tuple[Member, ...]
    mean: tuple[Fraction, ...]
    square: tuple[Fraction, ...]
    common: Fraction = Fraction(1)
    own: tuple[Fraction, ...] = ()
    joint: Sequence[Sequence[Fraction]] | None = None
    cohorts: tuple[Cohort, ...] = ()

    def second(self, v: int, w: int) -> Fraction:
        """E[a_v a_w]."""
        if self.joint is not None:
            return self.joint[v][w]
        return self.common * self.mean[v] * self.mean[w] + (self.own[v] if v == w and self.own else 0)

    def drift(self, ring: Ring, maps: Sequence[Matrix]) -> Matrix:
        """Sum of E[a_v] Q_v."""
        return ring.sum([q * ring.scalar(m) for q, m in zip(maps, self.mean, strict=True)])

    def apart(self, ring: Ring, left: Sequence[Matrix], right: Sequence[Matrix]) -> list[tuple[Matrix, Matrix]]:
        """Pairs (P, Q) whose sum of P M Q' is the covariance of sum of a_v P_v z and sum of a_v Q_v z."""
        means = self.drift(ring, left), self.drift(ring, right)
        if self.joint is None:
            pairs = [(means[0] * ring.scalar(self.common - 1), means[1])] if self.common != 1 else []
            own = zip(left, right, self.own, strict=False)
            return [*pairs, *((p * ring.scalar(w), q) for p, q, w in own if w)]
        if len(self.cohorts) == 1:
            return []
        pairs = [(means[0] * ring.scalar(Fraction(-1)), means[1])]
        for p, row in zip(left, self.joint, strict=True):
            others = [other * ring.scalar(w) for other, w in zip(right, row, strict=True) if w]
            pairs += [(p, ring.sum(others))] if others else []
        return pairs


def weights_of(rule: Any, method: Method, cohort: Sequence[int], clients: Clients) -> list[Fraction]:
    """The weights of a cohort's clients under a rule by which vectors are summed; None: the method's a_i, no eta_g."""
    if not cohort or rule == PLAIN:
        return [Fraction(1)] * len(cohort)
    own = method.aggregation if rule is None else rule
    return own.coefficients(tuple(cohort), method.context(clients))


def supported(method: Method, drawing: Drawing) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Every possible cohort with its probability. Raises Unsupported beyond `MAX_COHORTS`."""
    if drawing.count() > MAX_COHORTS:
        raise Unsupported(
            f"{method.name} has {drawing.count()} possible cohorts, and what it does depends on who takes part; the "
            f"exact engine goes through at most {MAX_COHORTS} of them; use engine = 'sampled'."
        )
    return drawing.support(MAX_COHORTS)


def law_of(
    method: Method, round_index: int, clients: Clients, *, one_by_one: bool = False, rules: Sequence[Any] = ()
) -> Law:
    """The law of a round's cohort; one_by_one: go through all cohorts in any case. rules: further ones by which
    vectors are summed (`Cohort.weights`).

    Raises Unsupported where more than `MAX_COHORTS` cohorts would have to be gone through.
    """
    fixed = method.participation.fixed(round_index, clients)
    if fixed is not None and method.steps_together:
        return _enumerated(method, [(Fraction(1), fixed)], clients, rules)
    if fixed is not None:
        a = tuple(weights_of(None, method, fixed, clients))
        members = tuple(Member(i, method.work(i, fixed, clients)) for i in fixed)
        further = {rule: weights_of(rule, method, fixed, clients) for rule in rules}
        cohort = Cohort(Fraction(1), range(len(fixed)), {None: a, **further})
        return Law(members, a, tuple(v * v for v in a), cohorts=(cohort,))
    drawing = method.participation.drawing(clients)
    if drawing is None:
        raise Unsupported(f"the cohorts of {method.name} are neither fixed nor drawn by a known law.")
    if drawing.kind == "replacement" and any(isinstance(rule, Unbiased) for rule in rules):
        raise Unsupported(f"{method.name} draws clients with replacement, for which its momentum has no weights.")
    own = None if method.local.by_cohort or one_by_one else method.aggregation.by_client(method.context(clients))
    if own is None:
        return _enumerated(method, supported(method, drawing), clients, rules)
    n = clients.count
    a, p = [own(i) for i in range(n)], [drawing.inclusion(i) for i in range(n)]
    if drawing.kind == "replacement":  # how often a client is drawn, on average
        p = [drawing.size * q for q in drawing.probabilities]
    members = tuple(Member(i, method.work(i, (i,), clients)) for i in range(n))
    mean = tuple(x * q for x, q in zip(a, p, strict=True))
    square = tuple(x * x * q for x, q in zip(a, p, strict=True))
    if drawing.kind == "subsets":
        joint = [[drawing.pair(i, j) * a[i] * a[j] for j in range(n)] for i in range(n)]
        return Law(members, mean, square, joint=joint)
    if drawing.kind == "replacement":
        # with N_i the number of times, E N_i N_j = m (m-1) q_i q_j + m q_i 1[i = j] for m draws
        common, own_part = 1 - Fraction(1, drawing.size), square
        square = tuple(common * m * m + s for m, s in zip(mean, own_part, strict=True))
        return Law(members, mean, square, common, own_part)
    # uniform and independent cohorts: P_ij = common p_i p_j for i != j
    common = drawing.pair(0, 1) / (p[0] * p[1]) if drawing.kind == "uniform" and n > 1 else Fraction(1)
    rest = tuple(s - common * m * m for s, m in zip(square, mean, strict=True))
    return Law(members, mean, square, common, rest)


def law_of_collected(
    method: Method, participation: Participation, sent: Iterable[Sent], round_index: int, clients: Clients, *,
    one_by_one: bool = False,
) -> Law:  # fmt: skip
    """The law of a cohort of its own that sends vectors before the local work. Raises Unsupported for several rules."""
    rule, *more = dict.fromkeys(s.rule for s in sent)
    if more:
        raise Unsupported(f"{method.name} collects vectors under several rules, of which the exact engine has one.")
    weights = Same(Fraction(1)) if rule == PLAIN else method.aggregation if rule is None else rule
    own = Method(method.name, participation, GradientSteps(1), NoStep(), weights)
    return law_of(own, round_index, clients, one_by_one=one_by_one)


def _enumerated(
    method: Method, support: Sequence[tuple[Fraction, tuple[int, ...]]], clients: Clients, rules: Sequence[Any]
) -> Law:
    index: dict[Member, int] = {}
    cohorts: list[Cohort] = []
    alone = None if method.local.by_cohort else [method.work(i, (i,), clients) for i in range(clients.count)]

    def outcomes() -> Iterator[tuple[Fraction, tuple[int, ...], list[Visits]]]:
        """The possible cohorts, with what its members do; apart for each number of steps that they draw together."""
        for p, cohort in support:
            if isinstance(method.local, Epochs) and method.steps_together and cohort:
                for q, steps in method.local.law_of_common(cohort, clients):
                    own = [((Fraction(1), method.local.visit_of(i, steps, clients)),) for i in cohort]
                    yield p * q, cohort, [*own]
            else:
                yield p, cohort, [method.work(i, cohort, clients) if alone is None else alone[i] for i in cohort]

    for p, clients_in, visits in outcomes():
        places = [index.setdefault(Member(i, v), len(index)) for i, v in zip(clients_in, visits, strict=True)]
        weights: dict[Any, Sequence[Fraction]] = {}
        for rule in (None, *rules):
            added = dict.fromkeys(places, Fraction(0))
            for position, share in zip(places, weights_of(rule, method, clients_in, clients), strict=True):
                added[position] += share
            weights[rule] = tuple(added.values())
        cohorts.append(Cohort(p, tuple(dict.fromkeys(places)), weights))
    size = len(index)
    mean, joint = [Fraction(0)] * size, [[Fraction(0)] * size for _ in range(size)]
    for cohort in cohorts:
        own = list(zip(cohort.members, cohort.weights[None], strict=True))
        for v, a in own:
            mean[v] += cohort.p * a
            for w, b in own:
                joint[v][w] += cohort.p * a * b
    square = tuple(joint[v][v] for v in range(size))
    return Law(tuple(index), tuple(mean), square, joint=joint, cohorts=tuple(cohorts))


def virtual(method: Method, round_index: int, clients: Clients) -> list[tuple[Member, list[int] | None, Fraction]]:
    """What every client would do, in the cohort or not: (member, cohorts by position in `Law.cohorts`, probability).

    Cohorts None: all of them alike. An empty cohort sets no common number of steps and is left out then.
    """
    fixed = method.participation.fixed(round_index, clients)
    if fixed is not None or not method.local.by_cohort:
        cohort = fixed if fixed is not None else ()
        return [
            (Member(i, method.local.visits(i, cohort or (i,), clients)), None, Fraction(1))
            for i in range(clients.count)
        ]
    drawing = method.participation.drawing(clients)
    found: dict[Member, tuple[list[int], Fraction]] = {}
    for position, (p, cohort) in enumerate([] if drawing is None else supported(method, drawing)):
        for i in range(clients.count) if cohort else ():
            member = Member(i, method.local.visits(i, cohort, clients))
            positions, total = found.get(member, ([], Fraction(0)))
            found[member] = ([*positions, position], total + p)
    return [(member, positions, p) for member, (positions, p) in found.items()]
