"""What one client does along a path: its visit as formal vectors, read once, and their values where numbers are known.

A local vector is kept as how far it is from where the visit began, which is a formal vector of what was known then: so
y - x is the sum of the steps itself, and balls do not forget that the x of y is this x.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from numpy.typing import NDArray

from boundcheck.engines.exact.visits import batch_sizes
from boundcheck.errors import Unsupported
from boundcheck.methods.formal import Atom, ClientMean, Gradient, Minimiser, NotAffine, Part, Term, Vector
from boundcheck.methods.parts import StepSize, Visit
from boundcheck.methods.reading import Reading, lengths
from boundcheck.methods.round import Sent

Point = NDArray[Any]
Drawn = Mapping[int, int] | None  # how often each sample is in a batch, None: the client's whole gradient
Terms = tuple[tuple[Any, int], ...]  # numbers (None for 1) of local vectors or nodes, by their positions
Atoms = Mapping[tuple[str, str], Point | None]
_MOVED = "moved"
_LATER = ("out", "total", "collected", _MOVED)  # places whose atoms are not known when a round begins


class Data(Protocol):
    """A problem in one arithmetic: points, gradients and metrics of its kind of numbers."""

    def number(self, value: Fraction) -> Any: ...

    def gradient(self, client: int, drawn: Drawn, x: Point) -> Point: ...

    def objective(self, x: Point) -> Point:
        """The gradient of F."""
        ...

    def metric(self, name: str, x: Point) -> Any: ...


class Numbers:
    """Formal vectors with the numbers of one arithmetic in place of fractions, None for 1."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self._known: dict[Vector, tuple[tuple[Any, Term, bool], ...]] = {}

    def of(self, c: Fraction) -> Any:
        """The number, None for 1."""
        return None if c == 1 else self.data.number(c)

    def terms(self, vector: Vector) -> tuple[tuple[Any, Term, bool], ...]:
        """(number, term, whether it keeps its value for a whole round)."""
        if vector not in self._known:
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[vector] = tuple(
                (self.of(c), t, not any(Vector.of(t).mentions(p) for p in _LATER)) for t, c in vector.terms.items()
            )
        return self._known[vector]


class Values:
    """What atoms are in one history: what the server keeps, and what clients keep, each in its slot."""

    def __init__(
        self, numbers: Numbers, start: Point, server: Mapping[str, Point], clients: Mapping[tuple[str, int], Point]
    ) -> None:
        self.numbers, self.start, self.server, self.clients = numbers, start, server, clients
        self._known: dict[tuple[Term, int | None], Point | None] = {}

    def of(self, vector: Vector, client: int | None, atoms: Atoms | None = None) -> Point | None:
        """The value, None for 0; atoms: what is known besides, or instead. client: whose vector it is."""
        found: Point | None = None
        for c, term, lasts in self.numbers.terms(vector):
            own = self._term(term, client, atoms, lasts)
            if own is not None:
                own = own if c is None else own * c
                found = own if found is None else found + own
        return found

    def at(self, vector: Vector, client: int | None, atoms: Atoms | None = None) -> Point:
        """The value, an array also for 0."""
        found = self.of(vector, client, atoms)
        return self.start * self.numbers.data.number(Fraction(0)) if found is None else found

    def part(self, point: Point, coordinates: Sequence[int]) -> Point:
        """Some coordinates of a point, the others 0."""
        found = self.at(Vector(), None)
        found[list(coordinates)] = point[list(coordinates)]
        return found

    def _term(self, term: Term, client: int | None, atoms: Atoms | None, lasts: bool) -> Point | None:
        if isinstance(term, Atom):
            if atoms is not None and (term.place, term.name) in atoms:
                return atoms[term.place, term.name]
            if term.place == "server":
                return self.server[term.name]
            if term.place == "client":
                assert client is not None, "what a client keeps, asked for without a client"
                return self.clients[term.name, client]
            if term.place == "start":
                return self.start
            assert term.place == "total", f"{term} is not given"  # nobody sends anything
            return None
        if lasts and (term, client) in self._known:
            return self._known[term, client]
        found = self._node(term, client, atoms)
        if lasts:
            self._known[term, client] = found
        return found

    def _node(self, term: Term, client: int | None, atoms: Atoms | None) -> Point | None:
        data = self.numbers.data
        if isinstance(term, ClientMean):
            shares = enumerate(term.shares)
            own = [
                self.clients[term.name, i] * data.number(s) for i, s in shares if s and (term.name, i) in self.clients
            ]
            return sum(own[1:], own[0]) if own else None
        if isinstance(term, Part):
            return self.part(self.at(term.of, client, atoms), term.coordinates)
        if isinstance(term, Gradient) and term.whole:
            point = self.at(term.at, client, atoms)
            return data.objective(point) if client is None else data.gradient(client, None, point)
        what = "a gradient of drawn samples" if isinstance(term, Gradient) else "the minimiser of a subproblem"
        raise NotAffine(f"a function of the round takes {what} outside local steps, which the exact engine has not.")


# --- a visit as formal vectors --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sum:
    """What is known at the beginning of a visit, multiples of how far local vectors moved, multiples of nodes."""

    known: Vector
    moved: Terms
    nodes: Terms

    def value(self, known: Point | None, moved: Sequence[Point | None], nodes: Sequence[Point | None]) -> Point | None:
        """Its value, None for 0, from those of its parts."""
        for terms, values in ((self.moved, moved), (self.nodes, nodes)):
            for c, k in terms:
                own = values[k]
                if own is not None:
                    own = own if c is None else own * c
                    known = own if known is None else known + own
        return known


@dataclass(frozen=True)
class Node:
    """A gradient (whole, or of the step's samples) or coordinates of a vector that a step forms on its way."""

    at: Sum
    drawn: bool
    coordinates: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Step:
    """A local step: its nodes in the order in which they need one another, and how far local vectors are then."""

    nodes: tuple[Node, ...]
    after: tuple[Sum, ...]


@dataclass(frozen=True)
class Compiled:
    """A visit as formal vectors. steps: one where all are alike. sent, kept: in how far local vectors moved."""

    begin: tuple[Vector, ...]
    steps: tuple[Step, ...]
    solve: Minimiser | None
    sent: Mapping[str, Sent]
    kept: Mapping[str, Vector]
    collects: bool  # whether it rests on what was collected


class _Reader:
    """One local step as sums over nodes."""

    def __init__(self, begin: Sequence[Vector], names: Sequence[str], numbers: Numbers) -> None:
        self.begin, self.names, self.numbers = begin, names, numbers
        self.nodes: list[Node] = []
        self._known: dict[Term, int] = {}

    def sum(self, vector: Vector, less: Vector | None = None) -> Sum:
        known = Vector() if less is None else -less
        moved: dict[int, Fraction] = {}
        nodes: dict[int, Fraction] = {}
        for term, c in vector.terms.items():
            if isinstance(term, Atom) and term.place == "local":
                k = self.names.index(term.name)
                known, moved[k] = known + self.begin[k] * c, c
            elif _draws(term) or Vector.of(term).mentions("local"):
                nodes[self._node(term)] = c
            else:
                known = known + Vector({term: c})
        own = self.numbers.of
        return Sum(known, tuple((own(c), k) for k, c in moved.items()), tuple((own(c), k) for k, c in nodes.items()))

    def _node(self, term: Term) -> int:
        if term not in self._known:
            if isinstance(term, Gradient):
                node = Node(self.sum(term.at), not term.whole)
            elif isinstance(term, Part):
                node = Node(self.sum(term.of), False, term.coordinates)
            else:
                raise Unsupported("a local step takes the minimiser of a subproblem, which the exact engine has not.")
            self.nodes.append(node)
            self._known[term] = len(self.nodes) - 1
        return self._known[term]


def _draws(term: Term) -> bool:
    if isinstance(term, Gradient):
        return not term.whole or any(_draws(t) for t in term.at.terms)
    return isinstance(term, Minimiser) or (isinstance(term, Part) and any(_draws(t) for t in term.of.terms))


def compile_visit(
    reading: Reading, numbers: Numbers, client: int, visit: Visit, number: Mapping[str, Any], eta: StepSize
) -> Compiled:
    """A client's visit with the numbers of a round."""
    rule = reading.rule
    begin = reading.begin(client, number)
    sizes, length = lengths(visit, eta)
    solve, steps = None, dict[Any, Step]()
    if visit.steps and visit.sampling == "exact":
        solve = reading.solve(client, number, visit, begin[0])
    elif visit.steps:
        for size in dict.fromkeys(sizes):
            reader = _Reader(begin, rule.local, numbers)
            after = reading.step(client, number, visit, begin[0], size)
            found = tuple(reader.sum(v, less) for v, less in zip(after, begin, strict=True))
            steps[size] = Step(tuple(reader.nodes), found)
    sent, kept = reading.after(client, number, visit, begin[0], length)
    out = {
        Atom("out", name, k == 0): own + Vector.of(Atom(_MOVED, name))
        for k, (name, own) in enumerate(zip(rule.local, begin, strict=True))
    }
    uploads = {name: Sent(s.vector.replaced(out), s.rule) for name, s in sent.items()}
    keeps = {name: v.replaced(out) for name, v in kept.items()}
    parts = [n.at.known for s in steps.values() for n in s.nodes] + [
        own.known for s in steps.values() for own in s.after
    ]
    parts += [*begin, *(s.vector for s in uploads.values()), *keeps.values()]
    parts += [] if solve is None else [solve.centre, solve.shift]
    collects = any(v.mentions("collected") for v in parts)
    return Compiled(begin, tuple(steps[v] for v in sizes) if steps else (), solve, uploads, keeps, collects)


# --- a visit along paths --------------------------------------------------------------------------------------------

Moved = tuple[Point | None, ...]  # how far each local vector is from where it began, None for 0


@dataclass(frozen=True)
class Ended:
    """One outcome of a visit: its probability, what is sent and kept, the model's way where that is wanted."""

    p: Fraction
    sent: Mapping[str, Point | None]
    kept: Mapping[str, Point]
    way: tuple[Point | None, ...]


class Visits:
    """Carries visits out. checked: what is done with every new point, less where its visit began."""

    def __init__(
        self, names: Sequence[str], sizes: Sequence[int], checked: Callable[[Point | None, Point], Point]
    ) -> None:
        self._names, self._sizes, self._checked = names, sizes, checked

    def ended(
        self, values: Values, client: int, visit: Visit, compiled: Compiled, collected: Atoms, most: int, *, way: bool
    ) -> list[Ended] | None:
        """Every outcome of the steps of a visit; None where these are more than `most`."""
        states: list[tuple[Fraction, Moved, Any, tuple[int, ...]]]
        every = tuple(range(self._sizes[client]))
        states = [(Fraction(1), (None,) * len(self._names), None, every)]
        begin = values.of(compiled.begin[0], client, collected)
        batches = [0] * visit.steps
        if visit.sampling not in ("full", "exact"):
            batches = batch_sizes(len(every), visit.batch, visit.steps)
        known: dict[int, tuple[list[Point | None], list[Point | None]]] = {}
        steps = compiled.steps if len(compiled.steps) != 1 else itertools.repeat(compiled.steps[0])
        for step, batch in zip(steps, batches, strict=False):
            if id(step) not in known:
                known[id(step)] = (
                    [values.of(n.at.known, client, collected) for n in step.nodes],
                    [values.of(s.known, client, collected) for s in step.after],
                )
            found: list[tuple[Fraction, Moved, Any, tuple[int, ...]]] = []
            for p, moved, before, left in states:
                trail = (before, moved[0]) if way else None
                for q, drawn, rest in draws(visit.sampling, every, left, batch):
                    after = self._step(values, client, step, known[id(step)], moved, drawn, begin)
                    found.append((p if q == 1 else p * q, after, trail, rest))
            if len(found) > most:
                return None
            states = found
        return [self.after(values, client, compiled, collected, p, moved, way=t) for p, moved, t, _ in states]

    def _step(
        self, values: Values, client: int, step: Step, known: tuple[list[Point | None], list[Point | None]],
        moved: Moved, drawn: Drawn, begin: Point | None,
    ) -> Moved:  # fmt: skip
        nodes: list[Point | None] = []
        data = values.numbers.data
        for node, own in zip(step.nodes, known[0], strict=True):
            point = node.at.value(own, moved, nodes)
            point = values.at(Vector(), None) if point is None else point
            if node.coordinates is None:
                nodes.append(data.gradient(client, drawn if node.drawn else None, point))
            else:
                nodes.append(values.part(point, node.coordinates))
        after = [s.value(own, moved, nodes) for s, own in zip(step.after, known[1], strict=True)]
        if after[0] is not None:
            after[0] = self._checked(begin, after[0])
        return tuple(after)

    def after(
        self, values: Values, client: int, compiled: Compiled, collected: Atoms, p: Fraction, moved: Moved, *, way: Any
    ) -> Ended:
        """What follows from how far the local vectors moved."""
        atoms = {**collected, **{(_MOVED, name): v for name, v in zip(self._names, moved, strict=True)}}
        sent = {name: values.of(s.vector, client, atoms) for name, s in compiled.sent.items()}
        kept = {name: values.at(v, client, atoms) for name, v in compiled.kept.items()}
        return Ended(p, sent, kept, tuple(_unrolled(way)))


def _unrolled(pairs: Any) -> list[Point | None]:
    found: list[Point | None] = []
    while pairs is not None:
        pairs, point = pairs
        found.append(point)
    return found[::-1]


def draws(
    sampling: str, every: tuple[int, ...], left: tuple[int, ...], batch: int
) -> list[tuple[Fraction, Drawn, tuple[int, ...]]]:
    """The batches of a step: probability, how often each sample is in it, what is left of the epoch."""
    if sampling == "full":
        return [(_ONE, None, left)]
    if sampling == "replacement":
        found: list[tuple[Fraction, Drawn, tuple[int, ...]]] = []
        for drawn in itertools.combinations_with_replacement(every, batch):
            counts = Counter(drawn)
            ways = math.factorial(batch) // math.prod(math.factorial(c) for c in counts.values())
            found.append((Fraction(ways, len(every) ** batch), counts, left))
        return found
    left = left or every  # a new epoch
    choices = list(itertools.combinations(left, batch))
    return [(Fraction(1, len(choices)), Counter(drawn), tuple(j for j in left if j not in drawn)) for drawn in choices]


_ONE = Fraction(1)
