"""A violation that the search found in double precision, made exact and as simple as it stays a violation.

The shrinker tries simpler instances one after another and keeps each one that is still a violation in exact arithmetic:
an earlier index, a simpler shape (fewer clients, coordinates or local steps), simpler numbers. It repeats this until
nothing changes, and shortens the step size at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact, parse_number, simplest_between
from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.evidence.claim import ClaimResult, run_claim
from boundcheck.evidence.open_step_sizes import TUNED
from boundcheck.evidence.witness import Witness, witness_of
from boundcheck.falsify.float_statement import EDGE, PROMISING
from boundcheck.falsify.generator import SETTLED, Generator, Instance, Numbers
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import Grade, Outcome

VISIBLE = 0.05  # the least excess that shrinking leaves, or half of the excess that was found if that is smaller
CLEAR = 0.1  # scores above this are as good as any
PASSES = 3
MOST = 1500  # claims that are carried out for one instance
LARGEST = "largest"  # a claim's step size: the largest one in scope
LADDER = sorted({k for power in range(16) for k in (2**power, 3 * 2**power // 2)})
# how far numbers may move, relatively: to become exact, in units of the largest of them, to become simpler, and a step
# size to become shorter
ROUNDINGS = tuple(Fraction(1, k) for k in (2, 4, 10, 100, 1000, 10**4, 10**6, 10**9))
UNITS = (*(Fraction(1, k) for k in (10, 100, 1000)), Fraction(0))
CHANGES = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 20))
SHORTENINGS = tuple(Fraction(1, k) for k in (2, 4, 10, 50, 1000, 10**4, 10**6))


def shrink(generator: Generator, shape: Any, numbers: Numbers, provenance: Mapping[str, Any]) -> Witness | None:
    """The witness that one instance becomes; None if it is no violation in exact arithmetic.

    numbers: arrays of floats as in the search, of one instance. provenance: of the witness.
    """
    scores = [(index, float(score[0])) for index, score in generator.scores(shape, numbers)]
    enough = max(PROMISING, min(CLEAR, max(score for _, score in scores)) / 2)
    index = next((index for index, score in scores if score >= enough), None)
    if index is None:
        return None
    return _Shrinker(generator).witness(shape, generator.settled(shape, numbers), index, provenance)


class _Shrinker:
    """A shrinker for one instance; it remembers the claims that it has run."""

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.claimed = _never_vacuous(generator.statement)
        self.kept = 0.0  # the least excess of metric over bound
        self._results: dict[str, ClaimResult | None] = {}

    def witness(self, shape: Any, numbers: Numbers, index: int, provenance: Mapping[str, Any]) -> Witness | None:
        instance = next((i for i in _roundings(shape, numbers, index) if self.stays(i)), None)
        if instance is None:
            return None
        self.kept = min(VISIBLE, excess(self.result(instance)) / 2)
        for _ in range(PASSES):
            before, instance = instance, self.simplified(instance)
            if self.generator.claim(before) == self.generator.claim(instance):
                break
        instance = self.first(instance, self.shorter_steps(instance))
        claim = self.generator.claim(instance)
        found = run_claim(claim)
        steps = {name: _text(found.method[name]) for name in claim.method if _is_step(claim.method[name])}
        verdict = replace(found.verdict, details={})
        return witness_of(replace(claim, method={**claim.method, **steps}), verdict, provenance)

    def result(self, instance: Instance) -> ClaimResult | None:
        """The claim carried out, if it is violated in exact arithmetic."""
        claim = self.generator.claim(instance)
        key = repr((claim.problem, claim.method, claim.at))
        if key not in self._results and len(self._results) >= MOST:
            return None
        if key not in self._results:
            try:
                result = run_claim(replace(claim, statement=self.claimed))
            except BoundcheckError:  # the instance has left the family: no minimiser, no step size in scope, ...
                self._results[key] = None
            else:
                exact = result.verdict.outcome is Outcome.VIOLATED and result.verdict.grade is Grade.EXACT
                self._results[key] = result if exact else None
        return self._results[key]

    def stays(self, instance: Instance) -> bool:
        """Whether the instance is a violation that is large enough."""
        return excess(self.result(instance)) > self.kept

    def simplified(self, instance: Instance) -> Instance:
        """Every simplification but that of the step size once."""
        instance = self.simpler_shape(self.earlier(instance))
        if instance.step is not None and instance.step != LARGEST:
            instance = self.first(instance, [replace(instance, step=LARGEST)])
        for name in instance.numbers:
            instance = self.first(instance, _whole(instance, name))
            for value in dict.fromkeys(abs(v) for v in instance.numbers[name].flat):
                instance = self.first(instance, _everywhere(instance, name, value))
            for at in np.ndindex(instance.numbers[name].shape):
                instance = self.first(instance, _entry(instance, name, at))
        return instance

    def first(self, instance: Instance, candidates: Iterable[Instance]) -> Instance:
        """The first candidate that stays a violation; without one, the instance itself."""
        return next((c for c in candidates if self.stays(c)), instance)

    def earlier(self, instance: Instance) -> Instance:
        """The instance at an early index, found by bisection, as if every later one were violated too."""
        ladder = [k for k in LADDER if k < instance.index]
        low, high = 0, len(ladder)
        while low < high:
            middle = (low + high) // 2
            candidate = replace(instance, index=ladder[middle])
            if self.stays(candidate):
                instance, high = candidate, middle
            else:
                low = middle + 1
        return instance

    def simpler_shape(self, instance: Instance) -> Instance:
        """The instance with the simplest shape that steps of `Generator.simpler` lead to."""
        refused = 0
        while True:
            shapes = islice(self.generator.simpler(instance.shape, instance.numbers), refused, None)
            candidates = (replace(instance, shape=shape, numbers=numbers) for shape, numbers in shapes)
            accepted = next(((k, c) for k, c in enumerate(candidates) if self.stays(c)), None)
            if accepted is None:
                return instance
            refused, instance = refused + accepted[0], accepted[1]

    def shorter_steps(self, instance: Instance) -> Iterator[Instance]:
        found = self.result(instance)
        if instance.step is None or found is None:
            return
        name = next(
            (n for n, v in self.generator.claim(instance).method.items() if isinstance(v, str) and LARGEST in v), ""
        )
        if not name:
            return
        largest = _number(found.method[name])
        for slack in SHORTENINGS:
            short = round_between(largest * (1 - slack), largest)
            yield replace(instance, step=format_exact(short))


def _never_vacuous(statement: Statement) -> Statement:
    """The statement with a trivial value above its bound.

    The violations are the same, and no time goes into the nearest constants at which a vacuous bound is not.
    """
    return (
        statement if statement.trivial is None else replace(statement, trivial=statement.trivial + 2 * statement.bound)
    )


def excess(result: ClaimResult | None) -> float:
    """How far the metric is above the bound relative to the larger of both (equality: from it; lower bound: below).

    -1 if nothing is violated.
    """
    if result is None:
        return -1.0
    metric, bound = result.metric_low[0], result.bound[0]
    claimed = result.claim.statement
    if isinstance(claimed, Statement) and claimed.kind in (Kind.EQUALITY, Kind.LOWER_BOUND):
        return abs(metric - bound) / max(abs(metric), abs(bound))  # only violations come here
    return (metric - bound) / max(abs(metric), abs(bound))


def _roundings(shape: Any, numbers: Numbers, index: int) -> Iterator[Instance]:
    """The instance in fractions, the shortest ones first."""
    for tolerance in ROUNDINGS:
        instance = _rounded(shape, numbers, index, tolerance)
        yield instance
        if instance.step not in (None, LARGEST):
            yield replace(instance, step=SETTLED)


def _rounded(shape: Any, numbers: Numbers, index: int, tolerance: Fraction) -> Instance:
    """The instance in fractions within a relative tolerance."""
    exact: dict[str, Any] = {}
    for name, values in numbers.items():
        exact[name] = np.empty(values.shape[1:], dtype=object)
        exact[name].flat = [_near(Fraction(float(v)), tolerance) for v in values.flat]
    share = None
    if "share" in exact:
        share = _share(float(numbers["share"][0]), tolerance)
        del exact["share"]
    return Instance(shape, exact, share, index)


def short_instance(shape: Any, numbers: Numbers, index: int) -> Instance:
    """The instance of a batch of one in fractions that differ from its numbers by a relative 10^-6 at most."""
    return _rounded(shape, numbers, index, Fraction(1, 10**6))


def _share(share: float, tolerance: Fraction) -> str:
    """A share of the largest step size in scope, not above the given one, as a claim takes it."""
    if share >= EDGE:
        return LARGEST
    return f"{format_exact(round_between(Fraction(share) * (1 - tolerance), Fraction(share)))}*{LARGEST}"


def _near(value: Fraction, tolerance: Fraction) -> Fraction:
    """A simple number that differs from the value by at most this share of it."""
    near = round_between(abs(value) * (1 - tolerance), abs(value) * (1 + tolerance))
    return near if value > 0 else -near


def round_between(low: Fraction, high: Fraction) -> Fraction:
    """A simple number between two positive ones: a fraction of small integers, or few digits and zeros."""
    if low > 1 and high > 10:
        power = 10 ** len(str(int(high)))
        while -(-low // power) * power > high:
            power //= 10
            if not power:
                return simplest_between(low, high)
        return Fraction(-(-low // power) * power)
    if low > 0 and high < 1 and low < Fraction(1, 10):
        return 1 / round_between(1 / high, 1 / low)
    return simplest_between(low, high)


def _simpler(value: Fraction) -> list[Fraction]:
    """0, 1 or -1, and shorter fractions near the value."""
    if value == 0:
        return []
    found = [Fraction(0), Fraction(1 if value > 0 else -1), *(_near(value, t) for t in CHANGES)]
    return [v for v in dict.fromkeys(found) if complexity(v) < complexity(value)]


def complexity(value: Fraction) -> tuple[int, int]:
    """Digits of numerator and denominator without zeros at the end, and with them."""
    parts = [str(abs(value.numerator)), *([str(value.denominator)] if value.denominator != 1 else [])]
    return sum(len(part.rstrip("0")) for part in parts), sum(map(len, parts))


def _whole(instance: Instance, name: str) -> Iterator[Instance]:
    """All entries of an array 0, all 1, or all in units of the largest."""
    values = list(instance.numbers[name].flat)
    largest = max(map(abs, values), default=Fraction(0))
    if largest > 0:
        yield _with(instance, name, [Fraction(0)] * len(values))
    if set(values) - {0, 1}:
        yield _with(instance, name, [Fraction(1)] * len(values))
    if largest not in (0, 1):
        yield from (_with(instance, name, [_near(v / largest, t) for v in values]) for t in UNITS)


def _everywhere(instance: Instance, name: str, value: Fraction) -> Iterator[Instance]:
    """A value replaced by simpler ones wherever it stands in an array, and its negative likewise."""
    old = list(instance.numbers[name].flat)
    for new in _simpler(value):
        yield _with(instance, name, [new if v == value else -new if v == -value else v for v in old])


def _entry(instance: Instance, name: str, at: tuple[int, ...]) -> Iterator[Instance]:
    """One entry of an array replaced by simpler values."""
    values = instance.numbers[name]
    for new in _simpler(values[at]):
        changed = values.copy()
        changed[at] = new
        yield replace(instance, numbers={**instance.numbers, name: changed})


def _with(instance: Instance, name: str, entries: list[Fraction]) -> Instance:
    values = np.empty_like(instance.numbers[name])
    values.flat = entries
    return replace(instance, numbers={**instance.numbers, name: values})


def _is_step(value: Any) -> bool:
    """Whether an entry of a method is text that only the claim makes a number, such as "largest"."""
    return isinstance(value, str) and (LARGEST in value or value == TUNED)


def _number(step: Any) -> Fraction:
    return parse_number(str(step), "the step size", max_text=100_000)


def _text(step: Any) -> str:
    """A step size as a number, a sequence of them as its formula."""
    try:
        return format_exact(_number(step))
    except BadInput:
        return str(step)
