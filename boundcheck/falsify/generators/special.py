"""What generators for single kinds of methods share; statements that none of them serves go to `falsify.runs`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.evidence.claim import Claim
from boundcheck.falsify.float_statement import FloatStatement, Known
from boundcheck.falsify.generator import Generator, Instance, Numbers
from boundcheck.falsify.generators.reach import one_step, refuse, undecided_hypotheses
from boundcheck.theory.statement import Statement

_SYMMETRIC = {1: [[0]], 3: [[0, 1], [1, 2]]}


class NamedStatement(FloatStatement):
    """A statement in double precision whose constants have the names under which problems report them.

    known: those that a generator computes. reasons: why the generator does not serve the statement otherwise. Raises
    Unsupported with all of these, and with the symbols that are neither step, index nor known.
    """

    def __init__(
        self, statement: Statement, step: str | None, known: Collection[str], reasons: Sequence[str] = ()
    ) -> None:
        names = {s.name: s.reported for s in statement.symbols}
        missing = [n for n, key in names.items() if n not in (step, statement.metric.index) and key not in known]
        unvalued = [f"has {', '.join(sorted(missing))}, to which the search gives no value"] if missing else []
        refuse(statement, [*reasons, *unvalued])
        super().__init__(statement, step, names)
        self.parameter = "" if step is None else (statement.symbol(step).reported or step)  # its name in a method

    def index_at(self, known: Known, rounds: int) -> float | None:
        """The value of the index after a number of rounds (an affine map); None if no value of the index fits."""
        first, second = (float(self._rounds(known, np.nan, k)) for k in (0.0, 1.0))
        if self.index is None:
            return 1.0 if first == rounds else None
        index = Fraction((rounds - first) / (second - first))
        fits = index.denominator == 1 and self.statement.symbol(self.index).admits(index)
        return float(index) if fits else None

    def rounds(self, known: Known) -> int:
        """Rounds of a statement without an index."""
        return int(self._rounds(known))


class Special(Generator):
    """Random instances for the statements about some kinds of methods.

    The constructor raises Unsupported, with the reason, if no instance fits the statement.

    kinds: kinds of methods. decides: hypotheses that it decides on each instance; others are refused. participation,
    sampling: which ones are searched, in words. curvature: key of a smoothness constant, the inverse of which is the
    unit of step sizes.
    claimed: the statement in double precision.
    """

    kinds: ClassVar[tuple[str, ...]]
    decides: ClassVar[tuple[str, ...]] = ()
    participation: str = ""
    sampling: ClassVar[str] = "none: every local step takes the client's full gradient"
    curvature: ClassVar[str] = "L"
    claimed: NamedStatement
    varies = False

    @abstractmethod
    def __init__(self, statement: Statement) -> None: ...

    def compiled(
        self, statement: Statement, steps: Sequence[str] | None, known: Iterable[str], reasons: Sequence[str]
    ) -> NamedStatement:
        """The statement in double precision. steps: its step sizes, None if it needs none; the rest: `NamedStatement`.

        Raises Unsupported with all reasons why the search does not serve the statement.
        """
        lacking = undecided_hypotheses(statement, self.decides)
        if steps is not None:
            lacking += one_step(steps)
        own = {s.reported for s in statement.symbols if s.name in (steps or ())}
        return NamedStatement(statement, next(iter(steps or ()), None), {*known, *own}, [*reasons, *lacking])

    @property
    def statement(self) -> Statement:  # pyright: ignore[reportIncompatibleVariableOverride]
        """See `Generator`."""
        return self.claimed.statement

    @property
    def searched(self) -> dict[str, str]:
        """The method, participation and sampling that are searched, in words; empty for claims about numbers."""
        named = self.claimed.statement.algorithm
        kind = "any method" if named is None else named.kind
        own = {"method": kind, "participation": self.participation, "sampling": self.sampling}
        return own if self.participation else {}

    @abstractmethod
    def constants(self, shape: Any, numbers: Numbers) -> Known:
        """Constants of the instances by key, each a number or (B,); NaN where an instance has no such constant."""

    def meets(self, shape: Any, numbers: Numbers, known: Known) -> Mapping[str, Any]:
        """Where instances meet the hypotheses of `decides` that not all meet, a truth value or (B,), by name."""
        return {}

    def constants_of_step(self, shape: Any, numbers: Numbers, step: Any) -> Known:
        """Further constants, which depend on the step size."""
        return {}

    @abstractmethod
    def curve(
        self, shape: Any, numbers: Numbers, known: Known, step: Any
    ) -> Iterable[tuple[int, Floats] | tuple[int, Floats, Known]]:
        """(index, the statement's metric without its scale (B,)) at some values of the index, in rising order.

        Values within rounding of 0 are 0. A third entry has the constants that change with the index.
        """

    @abstractmethod
    def problem(self, shape: Any, numbers: Numbers) -> dict[str, Any]:
        """Specification of the problem of an exact instance."""

    @abstractmethod
    def method(self, shape: Any, numbers: Numbers) -> dict[str, Any]:
        """Specification of its method without the step size."""

    def scores(self, shape: Any, numbers: Numbers) -> list[tuple[int, Floats]]:
        """(index, score of each instance (B,)); see `FloatStatement.score`."""
        known = self.constants(shape, numbers)
        step: Any = np.nan
        with np.errstate(all="ignore"):
            if self.claimed.step is None:
                usable = self.claimed.in_scope(known)
            else:
                unit = 1 / known[self.curvature]
                step = self.claimed.largest_step(known, unit) * numbers["share"]
                usable = np.isfinite(step)
                step = np.where(usable, step, 1e-3 * unit)
            met = self.meets(shape, numbers, known)
            usable = usable & self.claimed.in_domain(known)
            for assumption in self.claimed.statement.assumptions:
                usable = usable & met.get(assumption.name, True)
            known = {**known, **self.constants_of_step(shape, numbers, step)}
            found: list[tuple[int, Floats]] = []
            for index, metric, *own in self.curve(shape, numbers, known, step):
                here = {**known, **own[0]} if own else known
                found.append((index, np.where(usable, self.claimed.score(here, step, index, metric), -np.inf)))
            return found

    def claim(self, instance: Instance) -> Claim:
        """The claim that an exact instance makes about the statement."""
        step = {} if self.claimed.step is None else {self.claimed.parameter: instance.step}
        method = {**self.method(instance.shape, instance.numbers), **step}
        at = {} if self.claimed.index is None else {self.claimed.index: [instance.index]}
        return Claim(self.claimed.statement, self.problem(instance.shape, instance.numbers), method, at=at)


def symmetric(triangle: Any) -> Any:
    """Symmetric matrices (..., d, d) from their upper triangles (..., d (d + 1)/2), d at most 2."""
    return triangle[..., _SYMMETRIC[triangle.shape[-1]]]


def balanced(vectors: Any, weights: Sequence[Fraction]) -> Any:
    """The vectors (..., n - 1, d) and one more, which makes the weighted sum 0."""
    w = np.array(weights, dtype=vectors.dtype)
    last = -(w[:-1, None] * vectors).sum(-2, keepdims=True) / w[-1]
    return np.concatenate([vectors, last], -2)


def rotated(diagonal: Floats, angle: Floats) -> Floats:
    """Upper triangles (B, 3) of the matrices with the eigenvalues (B, 2), turned by angles (B,)."""
    c, s = np.cos(angle), np.sin(angle)
    p, q = diagonal.T
    return np.stack([c * c * p + s * s * q, c * s * (p - q), s * s * p + c * c * q], 1)


def on_one_axis(triangles: Any, axis: int) -> Any:
    """Upper triangles (..., 3) restricted to one of the two coordinates, (..., 1)."""
    return triangles[..., [2 * axis]]


def texts(value: Any) -> Any:
    """Exact numbers as text, arrays of them as nested lists."""
    return format_exact(value) if isinstance(value, Fraction) else [texts(v) for v in value]
