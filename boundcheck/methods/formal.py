"""Formal vectors: what the functions of a round return when a reader wants their coefficients and not numbers.

A formal vector is a sum of terms with exact numbers. A term is an atom, such as what the server keeps under a name, or
a node that a primitive makes of another vector: a gradient there, its coordinates, the minimiser of a subproblem.
Functions of a round add vectors, multiply them by numbers and call the primitives; whatever else they do with a vector
raises `NotAffine`, and is carried out by readers with numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from numpy.typing import NDArray

from boundcheck.errors import Unsupported

Floats = NDArray[Any]


class NotAffine(Unsupported):
    """A function of a round does more with a vector than sums, multiples and the primitives."""


class Atom(NamedTuple):
    """A vector that is given: place is "server", "client", "collected", "start", "local", "out" or "total"."""

    place: str
    name: str
    point: bool = False


@dataclass(frozen=True)
class Gradient:
    """The mean gradient of the samples that a local step draws; whole: of all the client's samples."""

    at: Vector
    whole: bool = False


@dataclass(frozen=True)
class Part:
    """Some coordinates of a vector, the others 0."""

    of: Vector
    coordinates: tuple[int, ...]


@dataclass(frozen=True)
class Minimiser:
    """The minimiser v of f_i(v) + <shift, v> + mu/2 |v - centre|^2."""

    centre: Vector
    shift: Vector
    mu: Fraction


@dataclass(frozen=True)
class ClientMean:
    """Sum of shares_i times what client i keeps under a name."""

    name: str
    shares: tuple[Fraction, ...]


Term = Atom | Gradient | Part | Minimiser | ClientMean


class Numbers:
    """A number of each of several rounds, in doubles, where one reading serves all of them."""

    __slots__ = ("values",)
    __array_ufunc__ = None

    def __init__(self, values: Floats) -> None:
        self.values = values

    def _with(self, other: Any, compute: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, Numbers):
            return Numbers(compute(self.values, other.values))
        return Numbers(compute(self.values, float(other))) if isinstance(other, int | Fraction) else NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Numbers:
        return Numbers(-self.values)

    def __bool__(self) -> bool:
        return bool(self.values.any())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbers):
            return bool((self.values == other.values).all())
        return isinstance(other, int | Fraction) and bool((self.values == float(other)).all())

    def __hash__(self) -> int:
        return hash(self.values.tobytes())


class Vector:
    """A sum of terms, each with its number. Only sums and multiples are defined; see the module."""

    __slots__ = ("_hash", "_sum", "terms")

    def __init__(self, terms: Mapping[Term, Fraction] | None = None) -> None:
        self.terms: dict[Term, Fraction] = {t: c for t, c in (terms or {}).items() if c}
        self._hash: int | None = None
        self._sum: Fraction | None = None

    @staticmethod
    def of(term: Term) -> Vector:
        """The vector that is this term."""
        return Vector({term: Fraction(1)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __add__(self, other: Any) -> Vector:
        if not isinstance(other, Vector):
            if isinstance(other, int | Fraction) and other == 0:
                return self
            self._refuse("a number that is added to it")
        found = dict(self.terms)
        for term, c in other.terms.items():
            found[term] = found[term] + c if term in found else c
        return Vector(found)

    __radd__ = __add__

    def __iadd__(self, other: Any) -> NoReturn:
        raise TypeError("vectors are read-only")

    __isub__ = __imul__ = __itruediv__ = __iadd__

    def __neg__(self) -> Vector:
        return Vector({t: -c for t, c in self.terms.items()})

    def __sub__(self, other: Any) -> Vector:
        if not isinstance(other, Vector):
            return self + (-other)
        found = dict(self.terms)
        for term, c in other.terms.items():
            found[term] = found[term] - c if term in found else -c
        return Vector(found)

    def __rsub__(self, other: Any) -> Vector:
        return -self + other

    def __mul__(self, number: Any) -> Vector:
        if isinstance(number, Vector):
            self._refuse("a product of two vectors")
        if not isinstance(number, int | Fraction | Numbers):
            self._refuse(f"a product with {number!r}, which is no exact number")
        if number == 1:
            return self
        return Vector({t: c * number for t, c in self.terms.items()} if number else {})

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> Vector:
        if isinstance(number, Vector):
            self._refuse("a division by a vector")
        return self * (1 / (number if isinstance(number, Numbers) else Fraction(number)))

    def _refuse(self, what: str) -> NoReturn:
        raise NotAffine(
            f"a function of the round takes {what}; the exact engine reads sums of vectors, their multiples by exact "
            "numbers, and gradients; engine = 'sampled' carries it out."
        )

    def __array_ufunc__(self, function: Any, *_: Any, **__: Any) -> NoReturn:
        self._refuse(f"NumPy's {function.__name__} of a vector")

    def __array_function__(self, function: Any, *_: Any, **__: Any) -> NoReturn:
        self._refuse(f"NumPy's {function.__name__} of a vector")

    def __abs__(self) -> NoReturn:
        self._refuse("an absolute value of a vector")

    def __bool__(self) -> NoReturn:
        self._refuse("a decision that rests on a vector")

    def __lt__(self, other: object) -> NoReturn:
        self._refuse("a comparison of vectors")

    __le__ = __gt__ = __ge__ = __lt__

    def __getitem__(self, index: object) -> NoReturn:
        self._refuse("single entries of a vector")

    __iter__ = __float__ = __len__ = __pow__ = __matmul__ = __getitem__  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return " + ".join(f"{c} {t}" for t, c in self.terms.items()) or "0"

    @property
    def points(self) -> Fraction:
        """How many points the vector holds in sum: 1 for a point, 0 for a difference of points or a gradient."""
        if self._sum is None:
            self._sum = sum((c * _points(t) for t, c in self.terms.items()), Fraction(0))
        return self._sum

    def everywhere(self) -> Iterator[Term]:
        """Its terms, and those inside its nodes."""
        for term in self.terms:
            yield from occurring(term)

    def atoms(self) -> set[Atom]:
        """All atoms that occur in it."""
        return {term for term in self.everywhere() if isinstance(term, Atom)}

    def mentions(self, place: str) -> bool:
        """Whether an atom of this place occurs in it."""
        return any(isinstance(term, Atom) and term.place == place for term in self.everywhere())

    def replaced(self, by: Mapping[Any, Vector]) -> Vector:
        """The vector with terms put for others, inside nodes too."""
        found = Vector()
        for term, c in self.terms.items():
            found = found + (by[term] if term in by else _replaced(term, by)) * c
        return found


def _points(term: Term) -> int | Fraction:
    if isinstance(term, Atom):
        return int(term.point)
    if isinstance(term, Part):
        return 0  # the coordinates of a point are no point
    return int(isinstance(term, Minimiser))


def _inside(term: Term) -> tuple[Vector, ...]:
    if isinstance(term, Gradient):
        return (term.at,)
    if isinstance(term, Part):
        return (term.of,)
    return (term.centre, term.shift) if isinstance(term, Minimiser) else ()


def occurring(term: Term) -> Iterator[Term]:
    """The term, and all terms inside it."""
    yield term
    for vector in _inside(term):
        yield from vector.everywhere()


def draws(term: Term) -> bool:
    """Whether a term rests on the samples of a local step, or solves a subproblem."""
    return any(isinstance(t, Minimiser) or (isinstance(t, Gradient) and not t.whole) for t in occurring(term))


def _replaced(term: Term, by: Mapping[Any, Vector]) -> Vector:
    if isinstance(term, Part):
        return part(term.of.replaced(by), term.coordinates)
    if isinstance(term, Gradient):
        return Vector.of(Gradient(term.at.replaced(by), term.whole))
    if isinstance(term, Minimiser):
        return Vector.of(Minimiser(term.centre.replaced(by), term.shift.replaced(by), term.mu))
    return Vector.of(term)


def part(vector: Vector, coordinates: Sequence[int]) -> Vector:
    """Some coordinates of a vector, the others 0."""
    chosen = tuple(coordinates)
    return Vector.of(Part(vector, chosen)) if vector.terms and chosen else ZERO


ZERO = Vector()
