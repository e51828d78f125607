"""Rounds as rows of coefficients: what the functions of a rule return on formal vectors, as a program for the kernel.

A program works on registers, vectors of one seed: what the server and the client at work keep, the sums, the local
vectors and others. An instruction sets one register to a linear combination of others, to a gradient at another one, or
to some of its coordinates. What does not change in a visit is computed once before its steps. The rounds of a stretch
that differ in numbers alone share their instructions, and each has its row of coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import as_double
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate.lowering import Lowered
from boundcheck.methods.formal import Atom, Gradient, NotAffine, Numbers, Part, Term, Vector, draws, occurring
from boundcheck.methods.parts import Visit
from boundcheck.methods.reading import Reading
from boundcheck.methods.round import Sent

LINE, DRAWN, WHOLE, PART = 0, 1, 2, 3  # instructions
COLLECT, BEFORE, STEP, AFTER, RECEIVE, COMBINE = 0, 1, 2, 3, 4, 5  # phases of a program
PHASES = 6
REMEMBERED = 4096  # instants of which the numbers are remembered
Instant = tuple[int, int]  # a round, and which of the rule's outcomes it draws


@dataclass(frozen=True)
class Layout:
    """Where vectors stand among the registers.

    sums: what is uploaded by name, with the rule of its weights; collected: likewise what is collected.
    """

    server: tuple[str, ...]
    client: tuple[str, ...]
    local: tuple[str, ...]
    sums: Mapping[str, Any]
    collected: Mapping[str, Any]

    @property
    def begins(self) -> dict[str, int]:
        """Where each group begins, "free" after the last."""
        sizes = (
            ("server", len(self.server)), ("client", len(self.client)), ("local", len(self.local)),
            ("total", len(self.sums)), ("collected", len(self.collected)),
            ("sent", max(len(self.sums), len(self.collected))), ("kept", len(self.client)), ("free", 0),
        )  # fmt: skip
        found, at = dict[str, int](), 0
        for name, size in sizes:
            found[name] = at
            at += size
        return found

    def register(self, atom: Atom) -> int:
        """That of an atom."""
        names: Sequence[str] = {
            "server": self.server, "client": self.client, "local": self.local, "out": self.local,
            "total": tuple(self.sums), "collected": tuple(self.collected),
        }.get(atom.place, ())  # fmt: skip
        if atom.name not in names:
            raise NotAffine(f"a function of the round asks for the vector '{atom.name}', which is not known there.")
        return self.begins["local" if atom.place == "out" else atom.place] + list(names).index(atom.name)


@dataclass
class Program:
    """Instructions (op, to, first, count), the terms of linear combinations, and their coefficients by instant.

    LINE: the terms first, ..., first + count - 1; gradients and PART: of the register `first`; PART: by the mask number
    `count`. bounds: of each class of visits and phase, (first instruction, their number); of STEP the instructions of
    one local step, which follow one another where each has its own coefficients.
    """

    code: list[tuple[int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int]])
    terms: list[int] = field(default_factory=list[int])
    coefficients: list[Any] = field(default_factory=list[Any])
    bounds: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict[tuple[int, int], tuple[int, int]])
    registers: int = 0


class _Writer:
    """Writes the instructions of one phase; those that rest on nothing that changes in a visit go to `before`."""

    def __init__(
        self, layout: Layout, program: Program, masks: dict[tuple[int, ...], int], *, server: bool = False
    ) -> None:
        self.layout, self.program, self.masks, self.server = layout, program, masks, server
        self.known: dict[Term, int] = {}
        self.free = layout.begins["free"]
        self.before: list[Any] = []
        self.now: list[Any] = []

    def _fresh(self) -> int:
        self.free += 1
        self.program.registers = max(self.program.registers, self.free)
        return self.free - 1

    def node(self, term: Term, *, fixed: bool) -> int:
        """The register of a term."""
        if isinstance(term, Atom):
            return self.layout.register(term)
        if term in self.known:
            return self.known[term]
        if isinstance(term, Gradient) and self.server:
            raise NotAffine("a function of the round takes a gradient where no client is at work.")
        if isinstance(term, Gradient):
            source, op, mask = term.at, WHOLE if term.whole else DRAWN, 0
        elif isinstance(term, Part):
            source, op, mask = term.of, PART, self.masks.setdefault(term.coordinates, len(self.masks))
        else:
            raise NotAffine("a function of the round solves a subproblem, which the compiled path does not.")
        early = fixed and _is_fixed(term)
        at = self._point(source, early=early)
        to = self._fresh()
        (self.before if early else self.now).append((op, to, at, mask, None))
        self.known[term] = to
        return to

    def _point(self, vector: Vector, *, early: bool) -> int:
        (term, c), *more = vector.terms.items() if vector.terms else [(None, 0)]
        if not more and isinstance(term, Atom) and not isinstance(c, Numbers) and c == 1:
            return self.layout.register(term)
        to = self._fresh()
        self.line(vector, to, early=early)
        return to

    def line(self, vector: Vector, to: int, *, early: bool = False, fixed: bool = True) -> None:
        """to = the vector."""
        own = [(self.node(term, fixed=fixed), c) for term, c in vector.terms.items()]
        (self.before if early else self.now).append((LINE, to, 0, 0, own))

    def outputs(self, vectors: Iterable[tuple[int, Vector]]) -> None:
        """Set registers to vectors, all of which are computed before the first is set."""
        found = list(vectors)
        if len(found) == 1:
            self.line(found[0][1], found[0][0])
            return
        room = [self._fresh() for _ in found]
        for (_, vector), to in zip(found, room, strict=True):
            self.line(vector, to)
        for (to, _), held in zip(found, room, strict=True):
            self.now.append((LINE, to, 0, 0, [(held, 1)]))


def _is_fixed(term: Term) -> bool:
    """Whether a term is the same in all steps of a visit."""
    moving = ("local", "out")
    return not draws(term) and not any(isinstance(t, Atom) and t.place in moving for t in occurring(term))


class _Watched(dict[str, Any]):
    """Numbers of a round that note whether one was asked for."""

    asked = False

    def __getitem__(self, name: str) -> Any:
        self.asked = True
        return super().__getitem__(name)


class Coefficients:
    """The programs of a method. Raises NotAffine where the functions of its round are none of the kernel's."""

    def __init__(self, lowered: Lowered, dim: int) -> None:
        self.lowered, self.dim = lowered, dim
        self.reading = Reading(lowered.rule, lowered.known, lowered.method.server.factor, lowered.method.name)
        self.masks: dict[tuple[int, ...], int] = {}
        self._each: dict[Instant, Mapping[str, Any]] = {}
        self._known: dict[Any, Any] = {}
        self.layout = self._layout()

    def _layout(self) -> Layout:
        lowered, reading = self.lowered, self.reading
        number = self._numbers([(0, 0)])[1]
        begin, visit = reading.begin(0, number), Visit("full", 1)
        sent, _ = reading.after(0, number, visit, begin[0], Numbers(np.ones(1)))
        reading.step(0, number, visit, begin[0], Numbers(np.ones(1)))
        watched = _Watched(number)
        collected = reading.collect(0, watched) if lowered.rule.collecting is not None else {}
        if lowered.rule.receives:
            reading.receive(0, number)
        self.by_client = reading.asked
        atoms = {a for own in collected.values() for a in own.vector.atoms()}
        named = {a.name for a in atoms if a.place == "server"}
        self.rests = [k for k, name in enumerate(lowered.server) if name in named]
        self.collects_alike = not watched.asked and all(a.place == "server" for a in atoms)
        return Layout(
            lowered.server, lowered.kept, lowered.rule.local, {n: s.rule for n, s in sent.items()},
            {n: s.rule for n, s in collected.items()},
        )  # fmt: skip

    # --- instants -----------------------------------------------------------------------------------------------------

    def outcomes(self, round_index: int) -> Sequence[Fraction]:
        """The probabilities of what the rule draws in a round."""
        return [p for p, _ in self.lowered.rule.drawn(round_index)]

    def _of(self, instant: Instant) -> Mapping[str, Any]:
        if instant not in self._each:
            if len(self._each) >= REMEMBERED:
                self._each.clear()
            t, k = instant
            self._each[instant] = {**self.lowered.rule.numbers(t, self.dim), **self.lowered.rule.drawn(t)[k][1]}
        return self._each[instant]

    def _numbers(self, instants: Sequence[Instant]) -> tuple[Any, dict[str, Any]]:
        """What instants have in common, and their numbers, together where they differ."""
        found = [self._of(i) for i in instants]
        shared, number = dict[str, Any](), dict[str, Any]()
        for name, value in found[0].items():
            if isinstance(value, int | Fraction):
                values = np.array([float(own[name]) for own in found])
                number[name] = value if (values == values[0]).all() else Numbers(values)
            else:
                number[name] = shared[name] = value
        return tuple(sorted(shared.items())), number

    def groups(self, instants: Sequence[Instant]) -> list[list[int]]:
        """Which instants differ in numbers alone, by their places in the list."""
        found: dict[Any, list[int]] = {}
        for place, instant in enumerate(instants):
            key = tuple((n, v) for n, v in sorted(self._of(instant).items()) if not isinstance(v, int | Fraction))
            found.setdefault(key, []).append(place)
        return list(found.values())

    # --- programs -----------------------------------------------------------------------------------------------------

    def program(self, instants: Sequence[Instant], classes: Sequence[Any], sizes: Floats) -> tuple[Program, Floats]:
        """The program of instants that differ in numbers alone, and a row of coefficients for each, or one for all.

        classes: (client, steps, scale, prox) of visits; sizes: the step sizes of each instant (instants, K) or (.., 1).
        """
        _, number = self._numbers(instants)
        alike = bool((sizes == sizes[0]).all())
        key = (tuple(classes), sizes[0].tobytes(), tuple(number.items())) if alike else None
        if key is not None and key in self._known:
            return self._known[key]
        program = Program(registers=self.layout.begins["free"])
        for k, (client, steps, scale, prox) in enumerate(classes):
            own = sizes[0] if alike else sizes
            self._visit(program, k, client, Visit("full", steps, Fraction(1), 1, Fraction(prox)), number, own * scale)
        writer = _Writer(self.layout, program, self.masks, server=True)
        combined = self.reading.combine(number)
        writer.outputs((k, combined[name]) for k, name in enumerate(self.layout.server))
        self._write(program, (0, COMBINE), writer.before + writer.now)
        rows = 1 if all(not isinstance(c, Numbers) for c in program.coefficients) else len(instants)
        values = np.empty((rows, len(program.coefficients)))
        for k, c in enumerate(program.coefficients):
            values[:, k] = c.values if isinstance(c, Numbers) else as_double(c, "a number of the round")
        if key is not None:
            if len(self._known) >= 256:
                self._known.clear()
            self._known[key] = program, values
        return program, values

    def _visit(
        self, program: Program, k: int, client: int, visit: Visit, number: Mapping[str, Any], sizes: Floats
    ) -> None:
        reading, layout, rule = self.reading, self.layout, self.lowered.rule
        begins = layout.begins

        def size(values: Any) -> Any:
            return Numbers(values) if np.ndim(values) else _exact(values)

        if rule.collecting is not None:
            writer = _Writer(layout, program, self.masks)
            self._send(writer, reading.collect(client, number), layout.collected)
            self._write(program, (k, COLLECT), writer.before + writer.now)
        # one writer for all that a visit does, so that what does not change is computed once
        start = reading.begin(client, number)
        writer = _Writer(layout, program, self.masks)
        writer.outputs((begins["local"] + j, v) for j, v in enumerate(start))
        opening, writer.now = writer.now, []
        steps: list[list[Any]] = []
        for own in range(sizes.shape[-1]):
            held, known = writer.free, dict(writer.known)
            found = reading.step(client, number, visit, start[0], size(sizes[..., own]))
            writer.outputs((begins["local"] + j, v) for j, v in enumerate(found))
            steps.append(writer.now)
            # nodes of a step are computed anew in the next one; what is fixed stays
            writer.known = {t: r for t, r in writer.known.items() if t in known or _is_fixed(t)}
            writer.now, writer.free = [], writer.free if len(writer.known) > len(known) else held
        length = sizes.sum(axis=-1) if sizes.shape[-1] > 1 else sizes[..., 0] * visit.steps
        after, kept = reading.after(client, number, visit, start[0], size(length))
        self._send(writer, after, layout.sums)
        writer.outputs((begins["kept"] + j, kept.get(n, reading.client[n])) for j, n in enumerate(layout.client))
        ending, writer.now = writer.now, []
        self._write(program, (k, BEFORE), [*writer.before, *opening])
        first = len(program.code)
        for own in steps:
            self._write(program, (k, STEP), own)
        if len({len(own) for own in steps}) > 1:
            raise NotAffine("local steps of one round differ in more than their size.")
        program.bounds[k, STEP] = (first, len(steps[0]))
        self._write(program, (k, AFTER), ending)
        if rule.receives:
            writer = _Writer(layout, program, self.masks, server=True)
            received = reading.receive(client, number)
            named = ((begins["kept"] + j, received.get(n, reading.client[n])) for j, n in enumerate(layout.client))
            writer.outputs(named)
            self._write(program, (k, RECEIVE), writer.before + writer.now)

    def _send(self, writer: _Writer, sent: Mapping[str, Sent], known: Mapping[str, Any]) -> None:
        for name in sent:
            if name not in known or known[name] != sent[name].rule:
                raise NotAffine(f"what is sent as '{name}' differs from client to client in how it is summed.")
        first = self.layout.begins["sent"]
        writer.outputs((first + j, sent[n].vector if n in sent else Vector()) for j, n in enumerate(known))

    def _write(self, program: Program, where: tuple[int, int], instructions: Sequence[Any]) -> None:
        program.bounds[where] = (len(program.code), len(instructions))
        for op, to, first, count, terms in instructions:
            if op == LINE:
                program.code.append((LINE, to, len(program.terms), len(terms)))
                program.terms += [register for register, _ in terms]
                program.coefficients += [c for _, c in terms]
            else:
                program.code.append((op, to, first, count))

    def mask_rows(self) -> Floats:
        """The coordinates of each mask, as 0 and 1; one row at least."""
        found = np.zeros((max(1, len(self.masks)), self.dim))
        for coordinates, k in self.masks.items():
            found[k, list(coordinates)] = 1.0
        return found


def _exact(value: Any) -> Fraction:
    return Fraction(float(value))


def joined(programs: Sequence[Program], classes: int) -> tuple[Ints, Ints, Ints, Ints, int]:
    """Programs one after the other.

    Returns the instructions (n, 4), the registers of all terms, the bounds (programs, classes, PHASES, 2), where the
    terms of each program begin, and how many registers there are.
    """
    code: list[tuple[int, int, int, int]] = []
    terms: list[int] = []
    begins: list[int] = []
    bounds = np.zeros((len(programs), classes, PHASES, 2), dtype=np.int64)
    for g, program in enumerate(programs):
        begins.append(len(terms))
        for (k, phase), (first, count) in program.bounds.items():
            bounds[g, k, phase] = first + len(code), count
        code += [(op, to, first + (len(terms) if op == LINE else 0), n) for op, to, first, n in program.code]
        terms += program.terms
    registers = max(program.registers for program in programs)
    return (
        np.array(code, dtype=np.int64).reshape(-1, 4),
        np.array(terms, dtype=np.int64),
        bounds,
        np.array(begins, dtype=np.int64),
        registers,
    )
