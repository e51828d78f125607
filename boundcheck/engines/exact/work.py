"""What one client does in a round, in the coordinates of a state: its visit, what it sends and what it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from boundcheck.engines.exact.lowering import Form, Inputs, Source, row, rows_of
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.visits import Data, Local, Outcome
from boundcheck.methods.formal import Vector
from boundcheck.methods.parts import StepSize, Visit
from boundcheck.methods.reading import Reading, lengths
from boundcheck.methods.round import Sent


@dataclass(frozen=True)
class Compiled:
    """A visit as formal vectors: the form of its steps, its inputs, what it sends and what the client keeps."""

    form: Form
    inputs: tuple[Vector, ...]
    sent: Mapping[str, Sent]
    kept: Mapping[str, Vector]

    def mentions(self, place: str) -> bool:
        """Whether anything of it rests on an atom of this place."""
        vectors = (*self.inputs, *(s.vector for s in self.sent.values()), *self.kept.values())
        return any(v.mentions(place) for v in vectors)


class Work:
    """A visit in a state. inputs: S with S z what it takes, None where that is z itself; width: of its noise."""

    def __init__(
        self, reading: Reading, local: Local, outcome: Outcome, client: int, visit: Visit, compiled: Compiled,
        source: Source,
    ) -> None:  # fmt: skip
        self.reading, self.local, self.outcome, self.client, self.visit = reading, local, outcome, client, visit
        self.compiled, self.source, self.sent = compiled, source, compiled.sent
        self.closed = local.closed(client, visit)
        self.width = compiled.form.locals * source.d
        self.inputs = inputs_of(compiled.inputs, source, client)

    @cached_property
    def out(self) -> Matrix:
        """E of the local vectors at the end, a map of the state."""
        mean = self.outcome.mean
        return mean if self.inputs is None else self.source.ring.mul(mean, self.inputs)

    def _split(self, m: Matrix) -> dict[tuple[str, str], Matrix]:
        names, d, ring = self.reading.rule.local, self.source.d, self.source.ring
        if len(names) == 1:
            return {("out", names[0]): m}
        rows = ring.rows(m)
        return {("out", name): ring.from_rows(rows[k * d : (k + 1) * d]) for k, name in enumerate(names)}

    @cached_property
    def _after(self) -> Source:
        return self.source.with_atoms(self._split(self.out))

    @cached_property
    def _noisy(self) -> Source:
        ring = self.source.ring
        return linear(self.source, self.width, self._split(ring.one(self.width)))

    def upload(self, entry: str) -> Matrix:
        """What is sent, on average, a map of the state."""
        return self._after.lower(self.sent[entry].vector, self.client)

    def upload_noise(self, entry: str) -> Matrix:
        """What the noise of the local vectors adds to it."""
        return self._noisy.lower(self.sent[entry].vector, self.client)

    def keep(self, name: str) -> Matrix:
        """What the client keeps, on average, as the state holds it."""
        return self._after.lower(self.compiled.kept[name], self.client, point=self.reading.rule.kept_by_clients[name])

    def keep_noise(self, name: str) -> Matrix:
        """What the noise of the local vectors adds to that."""
        return self._noisy.lower(self.compiled.kept[name], self.client)


def linear(source: Source, size: int, atoms: Mapping[tuple[str, str], Matrix]) -> Source:
    """The linear part of vectors in these atoms alone."""
    return Source(source.ring, source.d, size, None, source.centre, source.gradients, source.objective, atoms)


def inputs_of(vectors: Sequence[Vector], source: Source, client: int) -> Matrix | None:
    """S (n d + 1, D) with S z the inputs and the constant; None where S is the identity."""
    ring, parts = source.ring, [source.summed(v, client) for v in vectors]
    nothing = ring.zeros(source.d, source.size)
    rows = [row for part in parts for row in ring.rows(nothing if part is None else part)]
    last = ring.zeros(1, source.size) if source.one is None else source.one
    found = ring.from_rows([*rows, *ring.rows(last)])
    same = len(rows) + 1 == source.size and ring.vanishes(found - ring.one(source.size))
    return None if same else found


class Works:
    """The works of a method's clients in one kind of round: with these numbers and this step size."""

    def __init__(self, data: Data, reading: Reading) -> None:
        self.data, self.reading = data, reading
        self._round: tuple[Mapping[str, Any], StepSize] | None = None
        self._locals: dict[Form, Local] = {}
        self._outcomes: dict[tuple[int, int, Visit], Outcome] = {}
        self._made: dict[tuple[int, Visit, int], Work] = {}
        self._compiled: dict[tuple[int | None, Visit], tuple[Compiled, Local]] = {}

    def begin(self, number: Mapping[str, Any], eta: StepSize) -> None:
        """Take up a kind of round; what rests on the forms of visits alone is kept as long as the step size stays."""
        if self._round == (number, eta):
            return
        if self._round is not None and self._round[1] != eta:
            self._locals, self._outcomes = {}, {}
        self._round, self._made, self._compiled = (number, eta), {}, {}

    def compiled(self, client: int, visit: Visit) -> tuple[Compiled, Local]:
        """A visit as formal vectors, and its local work."""
        for key in ((None, visit), (client, visit)):
            if key in self._compiled:
                return self._compiled[key]
        assert self._round is not None, "no round has begun"
        self.reading.asked = False
        found = self._compile(client, visit, *self._round)
        if found.form not in self._locals:
            self._locals[found.form] = Local(self.data, found.form)
        own = found, self._locals[found.form]
        self._compiled[client if self.reading.asked else None, visit] = own
        return own

    def _compile(self, client: int, visit: Visit, number: Mapping[str, Any], eta: StepSize) -> Compiled:
        reading, inputs = self.reading, Inputs()
        names = reading.rule.local
        begin = reading.begin(client, number)
        begun = tuple((*inputs.add(v), v.points - int(k == 0)) if v.terms else None for k, v in enumerate(begin))
        sizes, length = lengths(visit, eta)
        parts, solve = [], None
        if visit.steps and visit.sampling == "exact":
            problem = reading.solve(client, number, visit, begin[0])
            assert problem.centre == begin[0], "subproblems are around the point at which the visit begins"
            solve = (inputs.add(problem.shift) if problem.shift.terms else None, problem.mu)
        elif visit.steps:
            for size in sizes:
                after = reading.step(client, number, visit, begin[0], size)
                parts.append(rows_of(names, after, inputs))
        count = len(inputs.vectors)
        steps = tuple(tuple(row(own, len(names), count) for own in rows) for rows in parts)
        sent, kept = reading.after(client, number, visit, begin[0], length)
        return Compiled(Form(len(names), count, begun, steps, solve), tuple(inputs.vectors), sent, kept)

    def of(self, client: int, visit: Visit, source: Source) -> Work:
        """The work of a client, with its mean, in a state."""
        key = (client, visit, id(source))
        if key not in self._made:
            compiled, local = self.compiled(client, visit)
            own = (id(local), client, visit)
            if own not in self._outcomes:
                self._outcomes[own] = local.run(None, client, visit)
            self._made[key] = Work(self.reading, local, self._outcomes[own], client, visit, compiled, source)
        return self._made[key]


def scaled(ring: Ring, m: Matrix, share: Fraction) -> Matrix:
    """A multiple of a matrix."""
    return m if share == 1 else m * ring.scalar(share)
