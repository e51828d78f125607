"""Formal vectors as maps of a state whose last coordinate is the constant 1, and the local step of a method as maps.

Points are kept less c (see `state`). A vector with p points in sum is therefore its lowered part plus p c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq_mat

from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.errors import Unsupported
from boundcheck.methods.formal import (
    ZERO,
    Atom,
    ClientMean,
    Gradient,
    NotAffine,
    Part,
    Term,
    Vector,
    draws,
    occurring,
)

Affine = tuple[fmpq_mat, fmpq_mat]  # (A, o) of a gradient A (x - c) - o
Poly = tuple[Fraction, ...]  # coefficients of 1, A, A^2, ... for the Hessian A of a sample


@dataclass
class Source:
    """What atoms are as maps (d, size) of a state; an atom that is not there is 0.

    atoms: (place, name) -> map, the same for all clients. clients: name -> the map for each client. one: the row that
    picks the constant, None where only linear parts are wanted. centre: c (d, 1). gradients: (A, o) of each client;
    objective: of F, which `client` None stands for.
    """

    ring: Ring
    d: int
    size: int
    one: Matrix | None
    centre: Matrix
    gradients: Sequence[Affine]
    objective: Affine
    atoms: Mapping[tuple[str, str], Matrix]
    clients: Mapping[str, Sequence[Matrix | None]] = field(default_factory=dict[str, "Sequence[Matrix | None]"])
    _lifted: dict[int, tuple[fmpq_mat, Matrix]] = field(default_factory=dict[int, "tuple[fmpq_mat, Matrix]"])
    _known: dict[tuple[Vector, bool], Matrix] = field(default_factory=dict[tuple[Vector, bool], Matrix])

    def with_atoms(self, atoms: Mapping[tuple[str, str], Matrix]) -> Source:
        """The same with further atoms, or others in the place of some."""
        return Source(
            self.ring, self.d, self.size, self.one, self.centre, self.gradients, self.objective,
            {**self.atoms, **atoms}, self.clients, self._lifted,
        )  # fmt: skip

    def lower(self, vector: Vector, client: int | None, *, point: bool = False) -> Matrix:
        """The vector as a map of the state, less c where point."""
        own = client is not None and any(_rests_on_client(t) for t in vector.terms)
        if not own and self._known and (vector, point) in self._known:
            return self._known[vector, point]
        found = self.summed(vector, client)
        offset = vector.points - int(point)
        if offset and self.one is not None:
            found = self._plus(found, self.ring.mul(self.centre * self.ring.scalar(offset), self.one))
        result = self.ring.zeros(self.d, self.size) if found is None else found
        if not own:
            self._known[vector, point] = result
        return result

    def summed(self, vector: Vector, client: int | None) -> Matrix | None:
        """The lowered part: the vector less c for each of its points; None for 0."""
        found: Matrix | None = None
        for term, c in vector.terms.items():
            own = self._term(term, client)
            if own is not None:
                found = self._plus(found, own if c == 1 else own * self.ring.scalar(c))
        return found

    def _plus(self, a: Matrix | None, b: Matrix) -> Matrix:
        return b if a is None else a + b

    def _term(self, term: Term, client: int | None) -> Matrix | None:
        ring = self.ring
        if isinstance(term, Atom):
            if term.place == "client":
                assert client is not None, "what a client keeps, asked for without a client"
                if ("client", term.name) in self.atoms:
                    return self.atoms["client", term.name]
                return self.clients[term.name][client] if term.name in self.clients else None
            found = self.atoms.get((term.place, term.name))
            assert found is not None or self.one is None or term.place == "total", f"{term} is not given"
            return found
        if isinstance(term, ClientMean):
            parts = [
                own * ring.scalar(s)
                for own, s in zip(self.clients.get(term.name, ()), term.shares, strict=False)
                if own is not None and s
            ]
            return ring.sum(parts) if parts else None
        if isinstance(term, Part):
            inner = self.lower(term.of, client)
            chosen, rows = set(term.coordinates), ring.rows(inner)
            nothing = ring.rows(ring.zeros(1, self.size))[0]
            return ring.from_rows([row if k in chosen else nothing for k, row in enumerate(rows)])
        if isinstance(term, Gradient) and term.whole:
            a, o = self.objective if client is None else self.gradients[client]
            moved = ring.mul(self.lifted(a), self.lower(term.at, client, point=True))
            return moved if self.one is None else moved - ring.mul(self.lifted(o), self.one)
        what = "a gradient of drawn samples" if isinstance(term, Gradient) else "the minimiser of a subproblem"
        raise NotAffine(f"a function of the round takes {what} outside local steps, which the exact engine has not.")

    def lifted(self, m: fmpq_mat) -> Matrix:
        """A matrix of the problem in the arithmetic of the run."""
        if id(m) not in self._lifted:
            self._lifted[id(m)] = (m, self.ring.lift(m))
        return self._lifted[id(m)][1]


def _rests_on_client(term: Term) -> bool:
    return any(isinstance(t, Gradient) or (isinstance(t, Atom) and t.place == "client") for t in occurring(term))


# --- local steps ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One local vector after a step: the polynomials in A that multiply the local vectors, the inputs, o and c."""

    local: tuple[Poly, ...]
    inputs: tuple[Poly, ...]
    offset: Poly
    centre: Poly


@dataclass(frozen=True)
class Form:
    """The local work of a visit, as far as it does not depend on data: what visits of one form share.

    count: of inputs, vectors of the state on which the work rests. begun: where each local vector begins, as the number
    of an input, its factor and how often c is added to it; None: at 0.
    steps: the rows of each local step, one step where all are alike. solve: (input of the shift or None, mu) of an
    exact solve around the first input.
    """

    locals: int
    count: int
    begun: tuple[tuple[int, Fraction, Fraction] | None, ...]
    steps: tuple[tuple[Row, ...], ...]
    solve: tuple[tuple[int, Fraction] | None, Fraction] | None = None


class Inputs:
    """The vectors of the state on which a visit rests: equal up to a factor, they are one."""

    def __init__(self) -> None:
        self.vectors: list[Vector] = []
        self._known: dict[Vector, tuple[int, Fraction]] = {}

    def add(self, vector: Vector) -> tuple[int, Fraction]:
        """(number of the input, factor)."""
        lead = next(iter(sorted(vector.terms.items(), key=lambda item: repr(item[0]))))[1]
        shape = vector / lead
        if shape not in self._known:
            self._known[shape] = (len(self.vectors), lead)
            self.vectors.append(vector)
        index, own = self._known[shape]
        return index, lead / own


_Parts = dict[tuple[str, int], Poly]


def rows_of(names: Sequence[str], after: Sequence[Vector], inputs: Inputs) -> list[_Parts]:
    """The local vectors after a step by their parts: ("local", k), ("input", k), ("offset", 0), ("centre", 0).

    The first of them is the model, a point, which is kept less c; the others are kept as they are.
    """
    found: list[_Parts] = []
    for k, vector in enumerate(after):
        parts = _parts_of(names, vector, inputs)
        _add(parts, ("centre", 0), (vector.points - int(k == 0),))
        found.append(parts)
    return found


def row(parts: _Parts, locals_: int, count: int) -> Row:
    """The row of these parts."""
    own = [parts.get(("local", k), ()) for k in range(locals_)]
    inputs = [parts.get(("input", k), ()) for k in range(count)]
    return Row(tuple(own), tuple(inputs), parts.get(("offset", 0), ()), parts.get(("centre", 0), ()))


def _parts_of(names: Sequence[str], vector: Vector, inputs: Inputs) -> _Parts:
    found: _Parts = {}
    rest = ZERO
    for term, c in vector.terms.items():
        if isinstance(term, Atom) and term.place == "local":
            _add(found, ("local", names.index(term.name)), (c,))
        elif isinstance(term, Gradient) and not term.whole:
            inner = _parts_of(names, term.at, inputs)
            _add(inner, ("centre", 0), (term.at.points - 1,))
            for key, poly in inner.items():
                _add(found, key, (Fraction(0), *(v * c for v in poly)))
            _add(found, ("offset", 0), (-c,))
        elif Vector.of(term).mentions("local") or draws(term):
            raise Unsupported(
                "a local step takes the client's whole gradient, some coordinates or a minimiser at a point that it "
                "has itself moved; the exact engine has these at points of the round's start alone."
            )
        else:
            rest = rest + Vector({term: c})
    if rest.terms:
        index, factor = inputs.add(rest)
        _add(found, ("input", index), (factor,))
    return found


def _add(parts: _Parts, key: tuple[str, int], poly: Sequence[Fraction]) -> None:
    known = parts.get(key, ())
    size = max(len(known), len(poly))
    both = [
        (known[k] if k < len(known) else Fraction(0)) + (poly[k] if k < len(poly) else Fraction(0)) for k in range(size)
    ]
    while both and not both[-1]:
        both.pop()
    if both:
        parts[key] = tuple(both)
    else:
        parts.pop(key, None)
