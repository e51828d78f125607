"""Vectors of one round, and expected values of their products.

A vector is a combination of maps of the state before the round and of random parts: a local point differs from its mean
by the noise of the steps before, a stochastic gradient besides by that of its own samples, a sum over the cohort by who
takes part. An expected value is a combination of what has to be computed, so that nothing is computed twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

from flint import fmpq, fmpq_mat

from boundcheck.core.linalg import rational
from boundcheck.engines.exact.cohorts import Law
from boundcheck.engines.exact.rings import Matrix
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.errors import Unsupported
from boundcheck.setting.expected_weights import DataKinds, kinds_of

_ZERO = Fraction(0)


class Sum:
    """A combination of terms, of a vector or of an expected value. ring: the arithmetic of their matrices."""

    def __init__(self, ring: Any, terms: Mapping[Any, Fraction]) -> None:
        self.ring, self.terms = ring, terms

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.ring, dict(self.terms)).include(other)

    def include(self, other: Sum) -> Sum:
        """This one, which nobody else holds, with another one added to it."""
        found: Any = self.terms
        for term, c in other.terms.items():
            found[term] = found[term] + c if term in found else c
        return self

    def __mul__(self, c: Fraction) -> Sum:
        return Sum(self.ring, {term: v * c for term, v in self.terms.items()})

    def __sub__(self, other: Sum) -> Sum:
        return self + Sum(self.ring, {term: -v for term, v in other.terms.items()})

    @cached_property
    def mean(self) -> Matrix:
        """Of a vector: its mean given the state, or the inputs of a visit, as a map of that."""
        own = [t.mean if c == 1 else t.mean * self.ring.scalar(c) for t, c in self.terms.items() if t.mean is not None]
        return own[0] if len(own) == 1 else self.ring.sum(own)

    @cached_property
    def home(self) -> Any:
        """Of a vector: the points of a visit whose inputs take the place of the state; None where it is the state."""
        first, *more = {term.home for term, _ in self.parts(Map)} or {None}
        if more:
            raise Unsupported("the exact engine has no sums of points of visits that take different inputs.")
        return first

    @property
    def points(self) -> Fraction:
        """Of a vector: how many points it sums, 1 for a point and 0 for a difference."""
        whole = sum((c for term, c in self.parts(Map) if term.point), _ZERO)
        return sum((c for _, c in self.parts(After)), whole)

    @cached_property
    def _kinds(self) -> dict[Any, list[tuple[Any, Fraction]]]:
        found: dict[Any, list[tuple[Any, Fraction]]] = {}
        for term, c in self.terms.items():
            found.setdefault(type(term), []).append((term, c))
        return found

    def parts(self, kind: Any) -> Sequence[tuple[Any, Fraction]]:
        """The terms of a kind, with their factors."""
        return self._kinds.get(kind, ())


@dataclass(frozen=True, eq=False)
class Objective:
    """u'Au/2 - o'u with u = x - c, of gradient A u - o. what: how a message calls it."""

    a: fmpq_mat
    o: fmpq_mat
    what: str = "a sum of the clients' objectives"


class Objectives:
    """The objectives of a run, for all of its rounds."""

    def __init__(self, rounds: Rounds) -> None:
        self.rounds, self.ring, self.exact = rounds, rounds.ring, rounds.exact
        self.objective = Objective(self.exact.hessian, -self.exact.residual, "the objective F")
        self._known: dict[Any, Any] = {}

    @cached_property
    def data_kinds(self) -> DataKinds:
        """The clients with the same objective."""
        labels = [(tuple(a.entries()), tuple(o.entries())) for a, o in self.exact.whole]
        return kinds_of(labels, self.exact.weights)

    def mixture(self, weights: Mapping[int, Fraction], *what: str) -> Objective:
        """Sum of weights times the clients' objectives."""
        key = (*what, *weights.items())
        if key not in self._known:
            d = self.exact.layout.d
            a, o = fmpq_mat(d, d), fmpq_mat(d, 1)
            for i, w in weights.items():
                a, o = a + self.exact.whole[i][0] * rational(w), o + self.exact.whole[i][1] * rational(w)
            self._known[key] = Objective(a, o, *what)
        return self._known[key]

    def lowest(self, f: Objective) -> Matrix:
        """The minimiser that is nearest to the start, less c. Raises Unsupported if there is none."""
        if f not in self._known:
            start = self.exact.layout.block(0) * self.exact.start
            try:
                self._known[f] = self.ring.lowest(f.a, f.o, start)
            except ZeroDivisionError:
                raise Unsupported(f"{f.what} has no minimum, so that there is no gap to it.") from None
        return self._known[f]

    def weight(self, words: tuple[Objective, ...]) -> Matrix:
        """The product of Hessians."""
        if not words:
            return self.ring.one(self.exact.layout.d)
        if words not in self._known:
            self._known[words] = reduce(self.ring.mul, [self.ring.lift(f.a) for f in words])
        return self._known[words]

    def sample_noise(self, client: int, batch: int) -> tuple[Matrix, Matrix, Any]:
        """(W, v, c) with u'W u - 2 v'u + c the variance of a client's stochastic gradient at u.

        Raises Unsupported where the batches of its steps differ in size.
        """
        if self.exact.samples is None:
            size, each = 1, list[Any]()
        else:
            own = self.exact.samples[client]
            size, hessians = own.total, own.hessians * len(own.offsets) if own.alike else own.hessians
            each = list(zip(hessians, own.offsets, own.counts, strict=True))
        batch = min(batch, size)
        if size % batch:
            raise Unsupported("the batches of a client have different sizes, so that its steps are not alike.")
        key = "sample noise", client, batch
        if key not in self._known:
            shares = [(a, o, Fraction(n, size * batch)) for a, o, n in each]
            shares += [(*self.exact.whole[client], Fraction(-1, batch))] if each else []
            d = self.exact.layout.d
            w, v, squares = fmpq_mat(d, d), fmpq_mat(d, 1), list[Any]()
            for a, o, share in shares:
                w, v = w + a * a * rational(share), v + a * o * rational(share)
                squares.append((o.transpose() * o * rational(share))[0, 0])
            self._known[key] = self.ring.lift(w), self.ring.lift(v), sum(squares) if squares else fmpq(0)
        return self._known[key]


# --- terms of vectors -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Map:
    """A map of the state, or of the inputs of the visit at `home`. point: whether it is a point, less c."""

    mean: Matrix
    home: Any = None
    point: bool = False


@dataclass(frozen=True, eq=False)
class After:
    """The server's point after the round."""

    mean: Matrix


@dataclass(frozen=True)
class Noise:
    """A noise of mean 0, mapped by the Hessian of an objective if there is one.

    It is that of a client's local point before a step; or of the samples of the step, in a gradient at the vector `at`.
    """

    points: Any
    step: int
    at: Sum | None = None
    tag: Objective | None = None
    mean = None

    def related(self, other: Noise) -> bool:
        """Whether it is correlated with a noise of the same client that is not of the same point or samples."""
        if self.at is None and other.at is None:
            return True
        drawn, local = (other, self) if self.at is None else (self, other)
        return local.at is None and local.step > drawn.step


@dataclass(frozen=True, eq=False)
class CohortSum:
    """The sum over the cohort of a_v parts[v]."""

    law: Law
    parts: Sequence[Sum]
    known: dict[Any, Fraction] = field(default_factory=dict[Any, Fraction])

    @cached_property
    def mean(self) -> Matrix:
        """Its mean."""
        return self.law.drift(self.parts[0].ring, [p.mean for p in self.parts])

    @cached_property
    def noise(self) -> Mapping[Noise, Mapping[int, Fraction]]:
        """The factors of each noise, by member."""
        found: dict[Noise, dict[int, Fraction]] = {}
        for v, part in enumerate(self.parts):
            for key, c in part.parts(Noise):
                found.setdefault(key, {})[v] = c
        return found

    @cached_property
    def expected(self) -> Mapping[Noise, Fraction]:
        """E of the factor of each noise."""
        return {key: sum((self.law.mean[v] * c for v, c in own.items()), _ZERO) for key, own in self.noise.items()}

    def product(self, key: Noise, other: CohortSum, another: Noise) -> Fraction:
        """E of the product of two factors."""
        at = key, other, another
        if at not in self.known:
            pairs = itertools.product(self.noise.get(key, {}).items(), other.noise.get(another, {}).items())
            self.known[at] = sum((c * d * self.law.second(v, w) for (v, c), (w, d) in pairs), _ZERO)
        return self.known[at]

    def covariance(self, other: CohortSum, w: Matrix) -> Matrix | None:
        """The form of the covariance <X, W Y> of the two sums of means by who takes part; None where it is 0."""
        ring = self.parts[0].ring
        pairs = self.law.apart(ring, [p.mean for p in self.parts], [p.mean for p in other.parts])
        return ring.sum([ring.mul(ring.mul(y.transpose(), w), x) for x, y in pairs]) if pairs else None


# --- terms of expected values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Form:
    """trace(q M), M the second moments of the state or of the inputs of the visit at `home`."""

    q: Matrix
    home: Any = None


@dataclass(frozen=True)
class Covariance:
    """trace(W Cov), W the product of the Hessians, of a noise or of two sums over the cohort (by who takes part)."""

    left: Noise | CohortSum
    right: Noise | CohortSum
    words: tuple[Objective, ...]


@dataclass(frozen=True, eq=False)
class AfterSquare:
    """E<x, W x> of the server's point x after the round, W the weight."""

    weight: Matrix


def products(left: Sum, right: Sum, f: Objective | None) -> Iterator[tuple[Covariance, Fraction]]:
    """The covariances in E<left, H right>, H the Hessian of f, with their expected factors.

    Raises Unsupported where different random parts of the two vectors are correlated, and for points of other inputs.
    """
    sums, others = left.parts(CohortSum), right.parts(CohortSum)
    for one, other in ((left, right), (right, left)):
        mixed = one.parts(After) and (other.parts(Noise) or other.parts(CohortSum))
        if one.home is not other.home or mixed:
            raise Unsupported("the exact engine has no products of points of a visit with those of other inputs.")
    middle = () if f is None else (f,)
    yield from ((Covariance(s, t, middle), m * n) for (s, m), (t, n) in itertools.product(sums, others))
    seen: dict[Any, list[Noise]] = {}
    for key in dict.fromkeys([*(n for n, _ in right.parts(Noise)), *(n for t, _ in others for n in t.noise)]):
        seen.setdefault(key.points, []).append(key)
    for key in dict.fromkeys([*(n for n, _ in left.parts(Noise)), *(n for s, _ in sums for n in s.noise)]):
        for another in seen.get(key.points, ()):
            if key.step != another.step or key.at is not another.at:
                if key.related(another):
                    raise Unsupported("the exact engine has no products of local points of different steps.")
                continue
            g, h = left.terms.get(key, _ZERO), right.terms.get(another, _ZERO)
            c = g * h
            if sums or others:
                both = itertools.product(sums, others)
                c += sum((m * n * s.product(key, t, another) for (s, m), (t, n) in both), _ZERO)
                c += g * sum((n * t.expected.get(another, _ZERO) for t, n in others), _ZERO) if g else _ZERO
                c += h * sum((m * s.expected.get(key, _ZERO) for s, m in sums), _ZERO) if h else _ZERO
            words = tuple(tag for tag in (key.tag, f, another.tag) if tag is not None)
            source = key if key.tag is None else Noise(key.points, key.step, key.at)
            yield Covariance(source, source, words), c
