"""What one client does along a path: its visit as formal vectors, read once, and their values where numbers are known.

A local vector is kept as how far it is from where the visit began, which is a formal vector of what was known then: so
y - x is the sum of the steps itself, and balls do not forget that the x of y is this x.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from boundcheck.certified.slopes import number
from boundcheck.engines.curve import Arithmetic
from boundcheck.errors import Unsupported
from boundcheck.methods.formal import Atom, ClientMean, Gradient, Minimiser, NotAffine, Part, Term, Vector, draws
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize, Visit
from boundcheck.methods.parts.local import batch_sizes
from boundcheck.methods.reading import Reading, lengths
from boundcheck.methods.round import Sent
from boundcheck.problems._own_problem import ask
from boundcheck.problems.problem import Problem, Stepped, clients_of

# Gradients of samples in one run; the gradient of a client counts as those of its samples.
MAX_GRADIENTS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 5_000_000,
    Arithmetic.BALL: 2_000_000,
    Arithmetic.RATIONAL: 500_000,
}
MAX_HISTORIES = 20_000  # kept at once
KEPT = 10_000  # vectors that are kept with their numbers
KINDS = {Arithmetic.RATIONAL: Fraction(0), Arithmetic.BALL: arb(0), Arithmetic.FLOAT64: 0.0}

Point = NDArray[Any]
Drawn = Mapping[int, int] | None  # how often each sample is in a batch, None: the client's whole gradient
Atoms = dict[tuple[str, str], Point | None]  # (place, name) -> what is known besides the state, None for 0
Draw = tuple[Drawn, dict[Term, Point]]  # the samples of a local step, and the gradients that it took
Moved = tuple[Point | None, ...]  # how far each local vector is from where it began
_LATER = ("out", "total", "collected", "moved")  # places of atoms that are not known when a round begins


class Data:
    """A problem in one arithmetic. stepped: whether by the gradients of its samples, or by those of its clients."""

    def __init__(self, problem: Problem, arithmetic: Arithmetic, method: Method, *, stepped: bool) -> None:
        self.problem, self.arithmetic, self.method, self.stepped = problem, arithmetic, method, stepped
        self._own: Any = problem
        self.sizes, self._gradients = clients_of(problem).sizes, 0
        self._terms: dict[Vector, list[tuple[Any, Term, bool]]] = {}
        self.start = self.array([self.number(v) for v in problem.start])

    def number(self, value: Fraction) -> Any:
        """A fraction in this arithmetic."""
        return number(value, KINDS[self.arithmetic])

    def array(self, values: Sequence[Any]) -> Point:
        """A point of such numbers."""
        if self.arithmetic is Arithmetic.FLOAT64:
            return np.array(values, dtype=np.float64)
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found

    def zero(self) -> Point:
        """The point 0."""
        return self.array([KINDS[self.arithmetic]] * len(self.start))

    def terms(self, vector: Vector) -> list[tuple[Any, Term, bool]]:
        """(number or None for 1, term, whether it keeps its value for a whole round)."""
        found = self._terms.get(vector)
        if found is None:
            if len(self._terms) >= KEPT:
                self._terms.clear()
            found = self._terms[vector] = [
                (
                    None if c == 1 else self.number(c),
                    t,
                    not (draws(t) or any(Vector.of(t).mentions(p) for p in _LATER)),
                )
                for t, c in vector.terms.items()
            ]
        return found

    def gradient(self, client: int, drawn: Drawn, x: Point) -> Point:
        """The gradient of a client, or the mean of its drawn samples."""
        if not self.stepped:
            return ask(self.problem, "gradient", client, x)
        self._gradients += self.sizes[client] if drawn is None else len(drawn)
        if self._gradients > MAX_GRADIENTS[self.arithmetic]:
            raise self.too_many(f"more than {MAX_GRADIENTS[self.arithmetic]} gradients of samples")
        if drawn is None:
            return self.array(self._own.gradient_of(client, None, x.tolist()))
        batch = sum(drawn.values())
        parts = [self.array(self._own.gradient_of(client, j, x.tolist())) for j in drawn]
        return total(g * self.number(Fraction(times, batch)) for g, times in zip(parts, drawn.values(), strict=True))

    def objective(self, x: Point) -> Point:
        """The gradient of F."""
        weights = enumerate(self.problem.weights)
        return total(self.gradient(i, None, x) * self.number(w) for i, w in weights)

    def metric(self, name: str, x: Point) -> Any:
        """A metric at a point."""
        value = self._own.metric_of(name, x.tolist()) if self.stepped else ask(self.problem, "metric", name, x)
        return Fraction(value) if self.arithmetic is Arithmetic.RATIONAL else value

    def too_many(self, what: str) -> Unsupported:
        """Why no more histories are followed."""
        return Unsupported(
            f"'{self.problem.name}' is not quadratic, so the exact engine follows every history of random choices of "
            f"{self.method.name}, and these rounds have {what}, the most that it carries out in arithmetic "
            f"'{self.arithmetic.value}'; use fewer rounds or engine = 'sampled'."
        )


def is_stepped(problem: Problem, arithmetic: Arithmetic) -> bool:
    """Whether a problem has gradients of its samples in an arithmetic."""
    return isinstance(problem, Stepped) and arithmetic in problem.arithmetics


def total(points: Iterable[Point]) -> Point:
    """The sum of points, at least one."""
    return reduce(operator.add, points)


class Values:
    """What vectors are in one history: of the state, by what the server and the clients keep, and of what follows."""

    def __init__(self, data: Data, server: Mapping[str, Point], clients: Mapping[tuple[str, int], Point]) -> None:
        self.data, self.server, self.clients = data, server, clients
        self._known: dict[tuple[Term, int | None], Point | None] = {}

    def of(self, vector: Vector, client: int | None, atoms: Atoms, draw: Draw | None = None) -> Point | None:
        """The value, None for 0. client: whose vector it is; draw: of a local step, for its gradients."""
        found: Point | None = None
        for c, term, lasts in self.data.terms(vector):
            if isinstance(term, Atom):
                own = self._atom(term, client, atoms)
            elif not lasts:
                own = self._node(term, client, atoms, draw)
            else:
                if (term, client) not in self._known:
                    self._known[term, client] = self._node(term, client, atoms, draw)
                own = self._known[term, client]
            if own is not None:
                own = own if c is None else own * c
                found = own if found is None else found + own
        return found

    def at(self, vector: Vector, client: int | None, atoms: Atoms, draw: Draw | None = None) -> Point:
        """The value, an array also for 0."""
        found = self.of(vector, client, atoms, draw)
        return self.data.zero() if found is None else found

    def _atom(self, term: Atom, client: int | None, atoms: Atoms) -> Point | None:
        if term.place == "server":
            return self.server[term.name]
        if term.place == "moved":
            return atoms["moved", term.name]
        if term.place == "client":
            assert client is not None, "what a client keeps, asked for without a client"
            return self.clients[term.name, client]
        if term.place == "start":
            return self.data.start
        return atoms.get((term.place, term.name))  # what nobody sends is 0

    def _node(self, term: Term, client: int | None, atoms: Atoms, draw: Draw | None) -> Point | None:
        if isinstance(term, ClientMean):
            own = [self.clients[term.name, i] * self.data.number(s) for i, s in enumerate(term.shares) if s]
            return total(own) if own else None
        if isinstance(term, Part):
            found, chosen = self.data.zero(), list(term.coordinates)
            found[chosen] = self.at(term.of, client, atoms, draw)[chosen]
            return found
        if isinstance(term, Gradient) and term.whole:
            point = self.at(term.at, client, atoms, draw)
            return self.data.objective(point) if client is None else self.data.gradient(client, None, point)
        if isinstance(term, Gradient) and draw is not None and client is not None:
            drawn, taken = draw
            if term not in taken:
                taken[term] = self.data.gradient(client, drawn, self.at(term.at, client, atoms, draw))
            return taken[term]
        what = "a gradient of drawn samples" if isinstance(term, Gradient) else "the minimiser of a subproblem"
        raise NotAffine(f"a function of the round takes {what} outside local steps, which the exact engine has not.")


# --- visits ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compiled:
    """A visit as formal vectors, in how far local vectors moved. steps: where these are then, one where all are alike.

    collects: whether it rests on what was collected.
    """

    begin: tuple[Vector, ...]
    steps: Sequence[tuple[Vector, ...]]
    solve: Minimiser | None
    sent: Mapping[str, Sent]
    kept: Mapping[str, Vector]
    collects: bool


@dataclass(frozen=True)
class _Read:
    """A visit for all step sizes. line: constant and slope of the local vectors in the step size, None if not affine.

    after: what is sent and kept, None where it rests on the step size.
    """

    begin: tuple[Vector, ...]
    line: tuple[tuple[Vector, ...], tuple[Vector, ...]] | None
    solve: Minimiser | None
    after: tuple[Mapping[str, Sent], Mapping[str, Vector]] | None
    collects: bool


class Reader:
    """Reads visits; what rests on the step size only as a factor is read once for all of them."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known: dict[Any, _Read] = {}

    def compiled(self, client: int, visit: Visit, number: Mapping[str, Any], eta: StepSize) -> Compiled:
        """A client's visit with the numbers of a round."""
        key = (visit, tuple(number.items()))
        own = self._known.get((None, *key)) or self._known.get((client, *key))
        if own is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._reading.asked = False
            own = self._read(client, visit, number)
            self._known[client if self._reading.asked else None, *key] = own
        sizes, length = lengths(visit, eta)
        sent, kept = own.after or self._after(client, visit, number, own.begin, length)
        if not visit.steps or own.solve is not None:
            steps = []
        elif own.line is None:
            steps = [self._step(client, visit, number, own.begin, size) for size in sizes]
        else:
            steps = [tuple(a + b * size for a, b in zip(*own.line, strict=True)) for size in sizes]
        return Compiled(own.begin, steps, own.solve, sent, kept, own.collects)

    def _read(self, client: int, visit: Visit, number: Mapping[str, Any]) -> _Read:
        begin = self._reading.begin(client, number)
        first, other = (self._after(client, visit, number, begin, Fraction(k)) for k in (1, 2))
        parts = [*begin, *(s.vector for s in first[0].values()), *first[1].values()]
        line, solve = None, None
        if visit.steps and visit.sampling == "exact":
            solve = self._reading.solve(client, number, visit, begin[0])
            parts += [solve.centre, solve.shift]
        elif visit.steps:
            one, two, far = (self._step(client, visit, number, begin, Fraction(k)) for k in (1, 2, 7))
            slope = tuple(b - a for a, b in zip(one, two, strict=True))
            line = tuple(a - b for a, b in zip(one, slope, strict=True)), slope
            if tuple(a + b * 7 for a, b in zip(*line, strict=True)) != far:
                line = None
            parts += [*one, *two]
        collects = any(v.mentions("collected") for v in parts)
        return _Read(begin, line, solve, first if first == other else None, collects)

    def _moved(self, place: str, begin: Sequence[Vector]) -> dict[Term, Vector]:
        """The local vectors, by how far they are from where they began."""
        names = enumerate(zip(self._reading.rule.local, begin, strict=True))
        return {Atom(place, name, k == 0): own + Vector.of(Atom("moved", name)) for k, (name, own) in names}

    def _step(
        self, client: int, visit: Visit, number: Mapping[str, Any], begin: Sequence[Vector], size: Fraction
    ) -> tuple[Vector, ...]:
        after, moved = self._reading.step(client, number, visit, begin[0], size), self._moved("local", begin)
        return tuple(v.replaced(moved) - own for v, own in zip(after, begin, strict=True))

    def _after(
        self, client: int, visit: Visit, number: Mapping[str, Any], begin: Sequence[Vector], length: Fraction
    ) -> tuple[Mapping[str, Sent], Mapping[str, Vector]]:
        sent, kept = self._reading.after(client, number, visit, begin[0], length)
        moved = self._moved("out", begin)
        uploads = {name: Sent(s.vector.replaced(moved), s.rule) for name, s in sent.items()}
        return uploads, {name: v.replaced(moved) for name, v in kept.items()}


@dataclass(frozen=True)
class Ended:
    """One outcome of a visit: its probability, what is sent and kept, and how far the model was before each step."""

    p: Fraction
    visit: Visit
    compiled: Compiled
    sent: Mapping[str, Point | None]
    kept: Mapping[str, Point]
    way: Sequence[Point | None] = ()


def walked(
    values: Values, client: int, visit: Visit, compiled: Compiled, atoms: Atoms, checked: Any, *, way: bool
) -> list[tuple[Fraction, Moved, Any]]:
    """Every outcome of the steps of a visit: probability, how far local vectors are in the end, pairs of earlier ones.

    atoms: what was collected. checked: what is done with how far the model is from where it began, after each step.
    """
    data = values.data
    names, every = data.method.rule.local, tuple(range(data.sizes[client]))
    states: list[tuple[Fraction, Moved, Any, tuple[int, ...]]] = [(_ONE, (None,) * len(names), None, every)]
    batches = [0] * visit.steps
    if visit.sampling not in ("full", "exact"):
        batches = batch_sizes(len(every), visit.batch, visit.steps)
    own = [("moved", name) for name in names]
    for k, batch in enumerate(batches):
        step = compiled.steps[k if len(compiled.steps) > 1 else 0]
        found: list[tuple[Fraction, Moved, Any, tuple[int, ...]]] = []
        for p, moved, before, left in states:
            known = dict(atoms) if atoms else {}
            for key, value in zip(own, moved, strict=True):
                known[key] = value
            for q, drawn, rest in _batches(visit.sampling, every, left, batch):
                draw: Draw = (drawn, {})
                after = [values.of(v, client, known, draw) for v in step]
                if after[0] is not None:
                    after[0] = checked(after[0])
                found.append((p if q is _ONE else p * q, tuple(after), (before, moved[0]) if way else None, rest))
        if len(found) > MAX_HISTORIES:
            raise data.too_many(f"more than {MAX_HISTORIES} draws of samples in one visit")
        states = found
    return [(p, moved, before) for p, moved, before, _ in states]


def unrolled(pairs: Any) -> list[Point | None]:
    """The earlier points of `walked`, first ones first."""
    found: list[Point | None] = []
    while pairs is not None:
        pairs, point = pairs
        found.append(point)
    return found[::-1]


def _batches(
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
