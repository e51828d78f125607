"""Which vectors the state has to hold: those that methods keep, less what follows from the others.

Read off formal vectors and cohorts, without knowing the method:

- clients that take over one vector of the server whenever they take part, and always take part together, share one
  block; one that takes part in every round needs none, and neither does one that never does;
- a vector of the server that is the mean of what all clients keep, at first and after every round, follows from that;
- clients that hold the same data and do the same work are one: the mean of what they keep, which is 0, and the distance
  of one of them from it;
- where it is drawn who holds the models, there is a copy of the state for every way to hold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.engines.exact.cohorts import supported
from boundcheck.engines.exact.layout import Key, Layout, Samples
from boundcheck.engines.exact.lowering import Affine, Source
from boundcheck.engines.exact.rings import RationalRing
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.formal import ZERO, Atom, ClientMean, Vector
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Visit, first_repeated
from boundcheck.methods.reading import Reading
from boundcheck.methods.round import PLAIN, Rule

MAX_ROUNDS = 100_000  # of a pattern that is gone through


@dataclass(frozen=True)
class Reduced:
    """The blocks of the state. slots: name -> for each client the block of what it keeps; None: it is `over[name]`.

    means: name -> the mean of what clients keep that this vector of the server is. over: what clients take over from
    the server. holders: the equally likely ways in which clients hold the models. alike: how many models are alike and
    one of them stands for, or 0.
    """

    layout: Layout
    slots: Mapping[str, tuple[int | None, ...]]
    means: Mapping[str, ClientMean]
    over: Mapping[str, Vector]
    holders: tuple[tuple[int, ...], ...] | None = None
    alike: int = 0


def reduce_state(
    method: Method,
    rule: Rule,
    clients: Clients,
    whole: Sequence[Affine],
    samples: Sequence[Samples] | None,
    dim: int,
) -> Reduced:
    """The blocks of the state of a method. Raises Unsupported and BadInput as the rule's `check` does."""
    rule.check(method.name, method.participation, clients)
    reading = Reading(rule, clients, method.server.factor, method.name)
    reading.check(dim)
    reading.check_functions(dim)
    means = _means(reading, dim)
    server: list[Key] = [("server", name, 0) for name in rule.kept_by_server if name not in {**means, "x": None}]
    server.insert(0, ("server", "x", 0))
    names, everyone = list(rule.kept_by_clients), tuple(range(clients.count))
    models = rule.models(clients)

    def layout(blocks: int, copies: int = 1) -> Layout:
        return Layout(dim, (*server, *(("client", name, k) for name in names for k in range(blocks))), copies)

    if rule.needs_all and _alike(method, clients, whole, samples, reading, dim):
        return Reduced(layout(1), dict.fromkeys(names, (0,) * clients.count), means, {}, alike=models)
    holders = rule.holders(method.name, clients, dim)
    if holders is not None:
        return Reduced(layout(models, len(holders)), {}, means, {}, holders)
    over = _taken_over(reading, dim)
    own = kept_models(method, clients) if over else everyone if names else ()
    blocks = 1 + max((k for k in own if k is not None), default=-1)
    return Reduced(layout(blocks), dict.fromkeys(names, own), means, over)


def _numbers(reading: Reading, dim: int) -> list[Mapping[str, Any]]:
    """The different numbers of the rounds of a rule, those of the first round alone where they do not repeat."""
    rule = reading.rule
    rounds = range(rule.settled + rule.repeats_after(dim) if rule.steady else 2)
    return list({tuple(own.items()): own for t in rounds for own in (rule.numbers(t, dim),)}.values())


def _taken_over(reading: Reading, dim: int) -> dict[str, Vector]:
    """What clients of a cohort take over from the server, where that is all that they keep, and so at the start."""
    rule, found = reading.rule, list[dict[str, Vector]]()
    if not rule.receives:
        return {}
    for number in _numbers(reading, dim):
        if reading.after(0, number, _VISIT, ZERO, _LENGTH)[1]:
            return {}
        found += [reading.receive(i, number) for i in range(min(reading.clients.count, 2))]
    places = {t.place if isinstance(t, Atom) else "" for v in found[0].values() for t in v.terms}
    if any(own != found[0] for own in found) or set(found[0]) != set(rule.kept_by_clients) or places != {"server"}:
        return {}
    initial = {Atom("server", n, p): reading.initial()[n] for n, p in rule.kept_by_server.items()}
    same = {name: v.replaced(initial) for name, v in found[0].items()} == reading.initial_client(0)
    return found[0] if same else {}


def kept_models(method: Method, clients: Clients) -> tuple[int | None, ...]:
    """For each client the number (from 0) of its block; None for one that always or never takes part.

    Raises Unsupported for random cohorts that are too many to go through.
    """
    if method.participation.fixed(0, clients) is not None:
        rounds = first_repeated(method.participation, clients) + method.participation.period(clients)
        if rounds > MAX_ROUNDS:  # a block of its own for every client is always right, only not always the least
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
    return tuple(known.setdefault(tuple(at), len(known)) if 0 < len(at) < len(cohorts) else None for at in present)


def last_reads(
    method: Method, clients: Clients, slots: Sequence[int | None], first: int, period: int
) -> dict[int, int]:
    """Block -> the last round in which it is read, of the blocks that no later round reads."""
    if not first or not slots:  # what is read in a period is read again: the period itself may be very long
        return {}
    found: dict[int, int] = {}
    for t in range(first + period):
        cohort = method.participation.fixed(t, clients) or ()
        found |= {k: t for i in cohort if (k := slots[i]) is not None}
    return {k: t for k, t in found.items() if t < first}


_VISIT, _LENGTH = Visit("full", 3), Fraction(7, 5)  # of a visit like any other, the sum of its step sizes too


def _means(reading: Reading, dim: int) -> dict[str, ClientMean]:
    """The vectors of the server that are the mean of what all clients keep, at first and after every round."""
    found: dict[str, ClientMean] = {}
    for name, vector in reading.initial().items():
        term = next(iter(vector.terms), None)
        if name == "x" or not isinstance(term, ClientMean) or vector != Vector.of(term):
            continue
        if all(_stays_mean(reading, name, term, number) for number in _numbers(reading, dim)):
            found[name] = term
    return found


def _stays_mean(reading: Reading, name: str, mean: ClientMean, number: Mapping[str, Any]) -> bool:
    """Whether the server adds to the mean what the clients of a cohort add to theirs."""
    gained = reading.combine(number)[name] - reading.server[name]
    (total, factor), *more = gained.terms.items() or [(None, Fraction(0))]
    if more or not isinstance(total, Atom) or total.place != "total" or reading.rule.receives:
        return False
    for i in range(reading.clients.count):
        sent, kept = reading.after(i, number, _VISIT, reading.begin(i, number)[0], _LENGTH)
        own = sent.get(total.name)
        added = kept.get(mean.name, reading.client[mean.name]) - reading.client[mean.name]
        if own is None or own.rule != PLAIN or own.vector * factor != added * mean.shares[i]:
            return False
    return True


def _alike(
    method: Method,
    clients: Clients,
    whole: Sequence[Affine],
    samples: Sequence[Samples] | None,
    reading: Reading,
    dim: int,
) -> bool:
    """Whether all clients hold the same data, do the same work and weigh the same, and keep what is 0 in the mean."""
    everyone = range(clients.count)
    number, *more = _numbers(reading, dim)
    sent = [reading.after(i, number, _VISIT, reading.begin(i, number)[0], _LENGTH) for i in everyone[:2]]
    entries = sent[0][0]
    context = method.context(clients)
    for s in entries.values():
        rule = method.aggregation if s.rule is None else s.rule
        shares = set() if rule == PLAIN else set(rule.coefficients(tuple(everyone), context))
        if len(shares) != 1 or shares.pop() * reading.rule.models(clients) != 1:
            return False
    visits = [method.local.visits(i, everyone, clients) for i in everyone]
    same = (
        all(v == visits[0] for v in visits)
        and all(ao is whole[0] or ao == whole[0] for ao in whole)
        and (samples is None or all(s is samples[0] or s == samples[0] for s in samples))
    )
    other = reading.after(0, number, Visit("full", 2), reading.begin(0, number)[0], Fraction(5, 3))
    if not same or sent[0] != sent[-1] or sent[0] != other or any(v.terms for v in reading.initial_client(0).values()):
        return False
    mean = {Atom("total", name): s.vector for name, s in entries.items()}  # weights that sum to 1
    kept = {Atom("client", n, p): sent[0][1][n] for n, p in reading.rule.kept_by_clients.items()}
    moved = {
        Atom("server", n, p): reading.combine(number)[n].replaced(mean) for n, p in reading.rule.kept_by_server.items()
    }
    at = {**mean, **kept, **moved}
    return not any(v.replaced(at).terms for own in (number, *more) for v in reading.receive(0, own).values())


# --- the start ------------------------------------------------------------------------------------------------------


def started(
    rule: Rule,
    reduced: Reduced,
    clients: Clients,
    whole: Sequence[Affine],
    objective: Affine,
    x0: Any,
    centre: Any,
    ring: RationalRing | None = None,
) -> tuple[Any, Any]:
    """Mean (D, 1) and covariance (D, D) of the state at the start, None where it is 0. x0: the start less c.

    ring: of the data, by default fractions.
    """
    layout, d = reduced.layout, reduced.layout.d
    reading = Reading(rule, clients, Fraction(1), "the method")
    ring = ring or RationalRing()
    one = ring.one(1)
    source = Source(ring, d, 1, one, centre, whole, objective, {("start", "x"): x0})
    by_client = [reading.initial_client(i) for i in range(clients.count)] if rule.kept_by_clients else []
    flags = {**rule.kept_by_server, **rule.kept_by_clients}
    source.clients = {
        name: [source.lower(own[name], i, point=flags[name]) for i, own in enumerate(by_client)]
        for name in rule.kept_by_clients
    }
    drawn, initial = rule.drawn_at_first(reading.at(0)), reading.initial()
    start, spread = ring.zeros(layout.each, 1), ring.zeros(layout.size, layout.size)
    start[layout.each - 1, 0] = ring.scalar(Fraction(1))
    for key in layout.keys:
        place, name, slot = key
        if place == "client":
            owner = reduced.slots[name].index(slot) if name in reduced.slots else slot
            own = source.clients[name][owner]
        elif name in drawn:
            vector, count = drawn[name]
            own, variance = _drawn(source, vector, clients)
            first = layout.place(key)
            for a in range(d):
                for b in range(d):
                    spread[first + a, first + b] = variance[a, b] * ring.scalar(Fraction(1, count))
        else:
            own = source.lower(initial[name], None, point=flags[name])
        for k in range(d):
            start[layout.place(key) + k, 0] = own[k, 0]
    if layout.copies > 1:
        return _in_copies(layout, start, ring)
    return start, spread if drawn else None


def _drawn(source: Source, vector: Vector, clients: Clients) -> tuple[Any, Any]:
    """Mean (d, 1) and covariance (d, d) of a client's vector, the client drawn by weight."""
    ring = source.ring
    mean, second = ring.zeros(source.d, 1), ring.zeros(source.d, source.d)
    for i, w in enumerate(clients.weights):
        g = source.lower(vector, i)
        mean, second = mean + g * ring.scalar(w), second + g * g.transpose() * ring.scalar(w)
    return mean, second - mean * mean.transpose()


def _in_copies(layout: Layout, start: Any, ring: RationalRing) -> tuple[Any, Any]:
    """Mean (D, 1) and covariance (D, D) of the state whose one copy that is not 0, drawn uniformly, is `start`."""
    share, each, one = ring.scalar(Fraction(1, layout.copies)), layout.each, ring.lift(layout.one)
    mean = ring.from_rows([*(list(ring.rows(start * share)) * layout.copies), *ring.rows(ring.one(1))])
    moment, own = mean * one, start * start.transpose() * share
    moment = moment + moment.transpose() - one.transpose() * one
    for copy in range(layout.copies):
        for a in range(each):
            for b in range(each):
                moment[copy * each + a, copy * each + b] = own[a, b]
    return mean, moment - mean * mean.transpose()
