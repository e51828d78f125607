"""Recognition: which shipped parts do the same as a round that is given by functions of its own.

Both rounds are read (`reading`) and carried out on formal vectors, along the same cohorts and the same drawn samples, a
few clients at a time. They are one method where the server's point is the same sum in every round. How the functions
call what they keep, and in which form they keep it, does not matter. A number that a part leaves open is found from a
coefficient of that sum that is affine in it, and then all coefficients are compared.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction
from itertools import chain, islice, product
from typing import Any, Literal, get_args, get_origin, get_type_hints

from boundcheck.errors import BoundcheckError, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.formal import ZERO, Atom, Gradient, Minimiser, Vector
from boundcheck.methods.formal import Part as Coordinates
from boundcheck.methods.kind import MAX_CLIENTS, AnyOf, Form, Part, is_open
from boundcheck.methods.method import Method
from boundcheck.methods.own_parts import MOST, is_own, some_cohorts
from boundcheck.methods.parts import Visit
from boundcheck.methods.reading import Reading, lengths
from boundcheck.methods.round import PLAIN, Rule, Sent

DIM = 4  # coordinates of the model along which rounds are carried out
GROUP = 3  # clients that are followed at a time
ROUNDS, SHORT = 8, 3  # that are carried out for the first group and for every other one
STEPS = 4  # local steps that are carried out at most; the functions see how many there are
Point = tuple[tuple[Fraction, ...], Vector]  # the probabilities of what a round draws, and where the server is after it
Env = Mapping[str, Mapping[str, Vector]]  # place of an atom -> its name -> its value
_TRIED = Fraction(1, 3), Fraction(1, 7)  # values of an open number


def in_shipped_parts(method: Method, clients: Clients, forms: Iterable[Form]) -> Iterator[Method]:
    """The ways to write a method in parts of the forms in place of functions of a user's own."""
    rule = method.functions
    if rule is None or not is_own(rule) or (clients.count > MAX_CLIENTS and rule.kept_by_clients):
        return
    if not rule.steady:
        return  # numbers that never repeat could be compared in some rounds alone
    plays = _Plays(method, clients)
    try:
        plays.read(method.rule)
    except (BoundcheckError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return  # the run itself says what is wrong
    for role, part in _candidates(forms):
        yield from (found for found in _made(method, role, part, rule, plays) if plays.agree(method, found))


def _candidates(forms: Iterable[Form]) -> list[tuple[str, Any]]:
    """The parts that say what a round does, by role: pattern or part, each once."""
    found: dict[str, tuple[str, Any]] = {"": ("server", None)}
    for form, role in product(forms, ("server_momentum", "momentum", "correction", "control", "exchange", "functions")):
        given = getattr(form, role)
        for pattern in given.patterns if isinstance(given, AnyOf) else (given,):
            kind = (
                pattern.type if isinstance(pattern, Part) else pattern if isinstance(pattern, type) else type(pattern)
            )
            shipped = kind.__module__.startswith("boundcheck.")  # a file's own parts may need what nobody can guess
            if shipped and isinstance(pattern, Part | Rule | type):
                found[f"{role} {vars(pattern)}"] = role, pattern
    return list(found.values())


def _made(method: Method, role: str, part: Any, rule: Rule, plays: _Plays) -> Iterator[Method]:
    """The method with instances of the part in place of its functions."""
    plain = replace(method, functions=None)
    if part is None or isinstance(part, Rule):
        with suppress(BoundcheckError):  # parts that do not go together
            yield plain if part is None else replace(plain, **{role: part})
        return
    kind, given = (part.type, part.given) if isinstance(part, Part) else (part, {})
    hints, number, choices = get_type_hints(kind), None, dict[str, Sequence[Any]]()
    for f in fields(kind):
        hint = hints[f.name]
        if f.name in given and not is_open(given[f.name]):
            choices[f.name] = (given[f.name],)
        elif get_origin(hint) is Literal:
            choices[f.name] = get_args(hint)
        elif hint is int:
            drawn = rule.drawn_at_first(Reading(rule, plays.clients, Fraction(1), method.name).at(0))
            choices[f.name] = (*(count for _, count in drawn.values()), rule.repeats_after(DIM))
        elif f.name == "participation":
            choices[f.name] = (None if rule.collecting == "same" else rule.collecting,)
        elif hint is Fraction or Fraction in get_args(hint):
            number, choices[f.name] = f.name, _TRIED[:1]
    for values in product(*choices.values()):
        try:
            found = replace(plain, **{role: kind(**dict(zip(choices, values, strict=True)))})
            yield from [found] if number is None else _with_number(method, found, role, number, plays)
        except BoundcheckError:  # parts that do not go together
            continue


def _with_number(own: Method, found: Method, role: str, name: str, plays: _Plays) -> Iterator[Method]:
    """The method with values of an open number of a part, from coefficients that are affine in it."""
    first, other = _TRIED

    def with_(value: Fraction) -> Method:
        return replace(found, **{role: replace(getattr(found, role), **{name: value})})

    for ((_, own_x), (_, a)), (_, (_, b)) in zip(plays.pairs(own, found), plays.pairs(own, with_(other)), strict=True):
        if not a == b == own_x:
            x, y, z = a.terms, b.terms, own_x.terms
            apart = [t for t in z if t in x and t in y and x[t] != y[t]]
            values = (first + (z[t] - x[t]) * (other - first) / (y[t] - x[t]) for t in apart)
            for value in islice(dict.fromkeys(values), GROUP):
                with suppress(BoundcheckError):  # a value that the part does not allow
                    yield with_(value)
            return


class _Plays:
    """Rounds of methods with the same cohorts, local work, weights and step sizes, on formal vectors.

    All vectors are sums of the start and of nodes; one node is one gradient, or one minimiser, of one client.
    """

    def __init__(self, method: Method, clients: Clients) -> None:
        self.clients, self._method, self._nodes = clients, method, dict[Any, Vector]()
        self._asked, self._alone = False, dict[Any, Any]()
        looked_at = range(min(clients.count, MAX_CLIENTS))
        alike = {method.local.visits(i, (i,), clients): i for i in reversed(looked_at)}
        self._unlike = tuple(dict.fromkeys([*alike.values(), *looked_at[:GROUP]]))  # of different work, a few at least

    def read(self, rule: Rule) -> None:
        """Carries out the user's functions. Raises Unsupported where not every client can be looked at."""
        reading = Reading(rule, self.clients, self._method.server.factor, self._method.name)
        reading.check(DIM)
        for _ in self._carried_out(self._method, reading, self._unlike[:GROUP], self._times([rule], ROUNDS)):
            continue
        self._asked, many = reading.asked, self.clients.count > MAX_CLIENTS
        if (self._asked and many) or rule.holders("", self.clients, DIM) is not None:
            raise Unsupported("not every client, or not who holds a model, can be looked at.")

    def agree(self, method: Method, found: Method) -> bool:
        """Whether a method has the same server's points as that with the user's functions, whoever is followed."""
        asked, own = range(self.clients.count) if self._asked else self._unlike, method.rule
        groups = [asked[k : k + GROUP] for k in range(0, len(asked), GROUP)]
        try:
            if not found.rule.steady:
                return False
            if self.clients.count > MAX_CLIENTS and (
                found.rule.kept_by_clients or found.rule.collecting != own.collecting
            ):
                return False  # all clients would be gone through
            pairs = chain([self.pairs(method, found)], (self.pairs(method, found, g) for g in groups))
            return all(a == b for pair in pairs for a, b in pair)
        except BoundcheckError:
            return False

    def pairs(self, method: Method, found: Method, players: Sequence[int] = ()) -> Iterator[tuple[Point, Point]]:
        """The server's points of two methods, a few where it is said which clients are followed."""
        both = method.functions or method.rule, found.rule
        times = self._times(both, SHORT if players else ROUNDS)
        chosen = tuple(players) or self._unlike[:GROUP]
        read = [Reading(r, self.clients, m.server.factor, m.name) for m, r in zip((method, found), both, strict=True)]
        first, other = (self._carried_out(m, r, chosen, times) for m, r in zip((method, found), read, strict=True))
        return zip(first, other, strict=True)

    def _times(self, rules: Sequence[Rule], rounds: int) -> tuple[int, ...]:
        """The rounds that are carried out."""
        period, settled = math.lcm(*(r.repeats_after(DIM) for r in rules)), max(r.settled for r in rules)
        near = range(max(rounds, settled + min(2 * period + 2, 5 * ROUNDS)))
        far = [k * period + j for k in (1, 2) for j in (-2, -1, 0, 1)] if period > 2 * ROUNDS else []
        return tuple(dict.fromkeys([*near, *far]))

    def _carried_out(
        self, method: Method, reading: Reading, players: tuple[int, ...], times: Sequence[int]
    ) -> Iterator[Point]:
        rule, clients, order = reading.rule, self.clients, random.Random(0)
        schedule: Any = method.schedule
        start = {"start": {"x": Vector.of(Atom("start", "x", True))}}
        kept = {i: self._values(reading.initial_client(i), start, i) for i in players}
        server = {name: self._value(v, start, None, reading=reading) for name, v in reading.initial().items()}
        for name, (vector, count) in rule.drawn_at_first(reading.at(0)).items():
            server[name] = self._value(vector, start, ("drawn", count))
        worked = self._cohorts(method.participation, players)
        apart = rule.collecting not in (None, "same")
        collected = self._cohorts(rule.collecting, players) if apart else worked
        for n, t in enumerate(times):
            law, pick = rule.drawn(t), n if n < len(worked) else order.randrange(len(worked))
            number = {**rule.numbers(t, DIM), **law[order.randrange(len(law))][1]}
            cohort, env, after = worked[pick], {**start, "server": server}, dict[int, Any]()
            sums, total = dict[str, Vector](), dict[str, Vector]()
            gathered = collected[(pick + 1) % len(collected)] if apart else cohort
            for i in (i for i in players if rule.collecting is not None and i in gathered):
                self._add(sums, method, reading.collect(i, number), {**env, "client": kept[i]}, i, gathered)
            env["collected"] = sums
            for i in (i for i in players if i in cohort):
                options = method.work(i, cohort, clients)
                visit, here = options[order.randrange(len(options))][1], {**env, "client": kept[i]}
                by_step = method.by_iteration
                eta = schedule.steps(t, visit.steps) if by_step else schedule.step(method.cycle_of(t, clients))
                here["out"], length, begin = self._visited(reading, i, number, visit, eta, here, t)
                sent, left = reading.after(i, number, visit, begin, length)
                self._add(total, method, sent, here, i, cohort, visit.weight)
                after[i] = {**kept[i], **self._values(left, here, i)}
            env["total"] = total
            server = env["server"] = self._values(reading.combine(number), env, None)
            for i, own in after.items():
                received = reading.receive(i, number) if rule.receives else {}
                kept[i] = {**own, **self._values(received, {**env, "client": own}, i)}
            yield tuple(p for p, _ in law), server["x"]

    def _visited(
        self, reading: Reading, i: int, number: Mapping[str, Any], visit: Visit, eta: Any, env: Env, t: int
    ) -> tuple[dict[str, Vector], Any, Vector]:
        """The local vectors in the end, the sum of the step sizes, and the model at the beginning."""
        begin, (sizes, length) = reading.begin(i, number), lengths(visit, eta)
        own = [self._value(v, env, i) for v in begin]
        if visit.sampling == "exact":
            own[0] = self._value(Vector.of(reading.solve(i, number, visit, begin[0])), env, i)
        for k in range(min(visit.steps, STEPS) if visit.sampling != "exact" else 0):
            draw = None if visit.sampling == "full" or self.clients.sizes[i] == 1 else (t, k)
            here = {**env, "local": dict(zip(reading.rule.local, own, strict=True))}
            step = reading.step(i, number, visit, begin[0], sizes[k % len(sizes)])
            own = [self._value(v, here, i, draw) for v in step]
        return dict(zip(reading.rule.local, own, strict=True)), length, begin[0]

    def _add(
        self, sums: dict[str, Vector], method: Method, sent: Mapping[str, Sent], env: Env, i: int,
        cohort: tuple[int, ...], weight: Fraction = Fraction(1),
    ) -> None:  # fmt: skip
        """Adds what a client of a cohort sends, as often as it is in it. weight: of its visit."""
        context = method.context(self.clients)
        for name, own in sent.items():
            used, share = (method.aggregation, weight) if own.rule is None else (own.rule, Fraction(1))
            if used != PLAIN:
                if used not in self._alone:
                    self._alone[used] = used.by_client(context)
                alone = self._alone[used]
                share *= alone(i) if alone is not None else used.coefficients(cohort, context)[cohort.index(i)]
            sums[name] = sums.get(name, ZERO) + self._value(own.vector, env, i) * (share * cohort.count(i))

    def _cohorts(self, participation: Any, players: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Cohorts that take each of the possible choices from the clients that are followed."""
        drawing, n = participation.drawing(self.clients), self.clients.count
        if drawing is None or drawing.count() <= MOST:
            every = some_cohorts(participation, self.clients)
        elif drawing.kind in ("uniform", "replacement"):
            every = [tuple(sorted((k + j) % n for j in range(drawing.size))) for k in range(players[0], players[0] + 4)]
        elif drawing.kind == "independent":
            full = drawing.example()
            every = [full, *(tuple(j for j in full if j != i) for i in players)]
        else:
            every = list(drawing.subsets[:MOST])
        found: dict[tuple[int, ...], tuple[int, ...]] = {}
        for cohort in every:
            members = frozenset(cohort)
            found.setdefault(tuple(i for i in players if i in members), cohort)
        if not {i for seen in found for i in seen} >= set(players):
            raise Unsupported("a client that is followed is in no cohort that is looked at.")
        return list(found.values())

    def _node(self, *what: Any) -> Vector:
        key = tuple(frozenset(v.terms.items()) if isinstance(v, Vector) else v for v in what)
        return self._nodes.setdefault(key, Vector.of(Atom("node", str(len(self._nodes)))))

    def _values(self, vectors: Mapping[str, Vector], env: Env, client: Any) -> dict[str, Vector]:
        return {name: self._value(v, env, client) for name, v in vectors.items()}

    def _value(self, vector: Vector, env: Env, client: Any, draw: Any = None, reading: Reading | None = None) -> Vector:
        """The sum with the values of its atoms; reading: what all clients keep at first."""
        found = ZERO
        for term, c in vector.terms.items():
            if isinstance(term, Atom):
                own = env.get(term.place, {}).get(term.name, ZERO)
            elif isinstance(term, Gradient):
                at = self._value(term.at, env, client, draw)
                own = self._node("gradient", client, None if term.whole else draw, at)
            elif isinstance(term, Coordinates):
                inside = self._value(term.of, env, client, draw)
                own = inside if len(term.coordinates) == DIM else self._node("part", inside, term.coordinates)
            elif isinstance(term, Minimiser):
                given = (self._value(v, env, client, draw) for v in (term.centre, term.shift))
                own = self._node("minimiser", client, *given, term.mu)
            else:
                assert reading is not None, "means over all clients are for the start"
                first = (reading.initial_client(i)[term.name] * share for i, share in enumerate(term.shares))
                own = sum((self._value(v, env, i) for i, v in enumerate(first)), ZERO)
            found = found + own * c
        return found
