"""Which known mistakes explain a run of an implementation that is not a run of its method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from boundcheck.judge.altered import AlteredWeights, AlteredWork
from boundcheck.judge.carried_out import carried_out
from boundcheck.judge.mistakes_of_averages import MOST_CLIENTS
from boundcheck.judge.mutants import Mutant, mutants
from boundcheck.judge.reference import attempted, iterates
from boundcheck.methods.method import Method
from boundcheck.methods.parts import AveragedModels, ClientOptimizer, ExactSolve
from boundcheck.problems.problem import Floats, Problem, clients_of

Measure = Callable[[Floats], Floats]  # iterates (R + 1, d) -> what the implementation returned (R + 1, q)
LARGEST_FACTOR = 1000
SCREEN = 3  # rounds of every mistake that are carried out; the others only of those that fit so far


def agreeing(got: Floats, expected: Floats, tolerance: float) -> np.ndarray:
    """Where two runs (R, q) are the same up to `tolerance`, relative to the largest number of either run so far."""
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.maximum(np.abs(got), np.abs(expected))
        scale = np.maximum.accumulate(np.where(np.isfinite(size), size, 0.0).max(axis=1))[:, None]
        near = np.abs(got - expected) <= tolerance * scale
    return near | (got == expected) | (~np.isfinite(got) & ~np.isfinite(expected))


class Mutations:
    """The known mistakes of a method on a problem, carried out as far as they are looked at.

    measure: iterates (R + 1, d) -> what is compared (R + 1, q). tried: how many mistakes an engine carries out.
    """

    def __init__(self, method: Method, problem: Problem, rounds: int, measure: Measure) -> None:
        self._problem, self._rounds, self._measure = problem, rounds, measure
        known = [*mutants(method, problem), *carried_out(method, problem)]
        begun = [(m, self._run(m, min(rounds, SCREEN))) for m in known]
        self._begun = [(m, run) for m, run in begun if run is not None]
        self.tried = len(self._begun)

    def like(self, run: Floats, tolerance: float) -> list[Mutant]:
        """The mistakes whose runs are this one (R + 1, q), at every round."""
        near = [m for m, own in self._begun if agreeing(run[: len(own)], own, tolerance).all()]
        if self._rounds <= SCREEN:
            return near
        return [m for m in near if self._is_like(m, run, tolerance)]

    def _is_like(self, mutant: Mutant, run: Floats, tolerance: float) -> bool:
        whole = self._run(mutant, self._rounds)
        return whole is not None and bool(agreeing(run, whole, tolerance).all())

    def _run(self, mutant: Mutant, rounds: int) -> Floats | None:
        return attempted(lambda: self._measure(mutant.iterates(self._problem, rounds)))

    def pairs(self, run: Floats, tolerance: float) -> list[Mutant]:
        """Two mistakes at once whose runs are this one: of a mistake, the mistakes that it can have itself."""
        found: dict[frozenset[str], Mutant] = {}
        for first, _ in self._begun:
            if first.carried is not None or "client " in first.name:
                continue
            for second in mutants(first.method, self._problem):
                both = frozenset((first.name, second.name))
                if "client " in second.name or len(both) < 2 or both in found:
                    continue
                early = self._run(second, 1)
                if early is None or not agreeing(run[:2], early, tolerance).all():
                    continue
                pair = replace(
                    second, name=f"{first.name} and {second.name}", sentence=f"{first.sentence}, and {second.sentence}"
                )
                if self._is_like(pair, run, tolerance):
                    found[both] = pair
        return list(found.values())

    def prefix(self, run: Floats, right: Floats, tolerance: float) -> tuple[list[Mutant], int]:
        """The mistakes whose runs are this one for the most rounds, at least 1 and not all, and how many these are.

        Those rounds tell the mistakes from the method, whose run is `right`.
        """
        found, most = list[Mutant](), 1
        for mutant, early in self._begun:
            if not agreeing(run[:2], early[:2], tolerance).all():
                continue
            whole = self._run(mutant, self._rounds)
            if whole is None:
                continue
            alike = agreeing(run, whole, tolerance).all(axis=1)
            rounds = int(np.argmin(alike)) - 1 if not alike.all() else len(run) - 1
            if rounds < most or agreeing(right[: rounds + 1], whole[: rounds + 1], tolerance).all():
                continue
            found, most = (found if rounds == most else []) + [mutant], rounds
        return found, most if found else 0


def _measured(method: Method, problem: Problem, rounds: int, measure: Measure) -> Floats | None:
    return attempted(lambda: measure(iterates(method, problem, rounds)))


# --- mistakes with an unknown factor --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Family:
    """Mistakes that differ in a factor."""

    name: str
    sentence: str
    make: Callable[[Fraction], Method]


def solved(method: Method, problem: Problem, got: Floats, measure: Measure, tolerance: float) -> list[Mutant]:
    """Mistakes with a factor that the first round determines and all later rounds confirm."""
    found: list[Mutant] = []
    for family in _families(method, problem):
        factor = _factor(family, problem, got[1], measure)
        if factor is None:
            continue
        nice = Fraction(factor).limit_denominator(LARGEST_FACTOR)
        for value in (nice, Fraction(factor)):
            run = None if value <= 0 else _measured(family.make(value), problem, len(got) - 1, measure)
            if run is not None and agreeing(got, run, tolerance).all():
                text = f"{float(value):.12g}"
                wrong = family.make(value)
                found.append(Mutant(family.name.format(text), family.sentence.format(text), wrong))
                break
    return found


def _families(method: Method, problem: Problem) -> Iterator[_Family]:
    clients = clients_of(problem)
    rule, work, n = method.aggregation, method.local, clients.count

    def alone(i: int, factor: Fraction) -> tuple[Fraction, ...]:
        return tuple(factor if k == i else Fraction(1) for k in range(n))

    def scaled(times: Fraction | tuple[Fraction, ...]) -> Method:
        return replace(method, aggregation=AlteredWeights(rule, times=times))

    def longer(scale: Fraction | tuple[Fraction, ...]) -> Method:
        kept = AlteredWeights(rule, local=work)
        return replace(method, local=AlteredWork(work, scale), aggregation=kept)

    yield _Family("weights scaled by {}", "differences are added up with weights multiplied by {}", scaled)
    if method.is_plain:
        models = AveragedModels(method.server.eta_g, method.server.ascend)
        yield _Family(
            "models averaged with weights scaled by {}",
            "the server averages models with weights multiplied by {}",
            lambda s: replace(scaled(s), server=models),
        )
    steps = not isinstance(work, ExactSolve)
    if steps and method.is_plain:
        words = "local steps have a weight decay of {}, which the method has not"
        yield _Family("weight decay of {}", words, lambda s: replace(method, client_optimizer=_decay(s)))
    if steps:
        yield _Family("local step size times {}", "every local step is {} times as long", longer)
    for i in range(min(n, MOST_CLIENTS)) if n > 1 else ():
        if steps:
            words = f"the local steps of client {i} alone are {{}} times as long"
            yield _Family(f"step size of client {i} times {{}}", words, lambda s, i=i: longer(alone(i, s)))
        words = f"client {i} alone has {{}} times its weight"
        yield _Family(f"weight of client {i} times {{}}", words, lambda s, i=i: scaled(alone(i, s)))


def _decay(weight: Fraction) -> ClientOptimizer:
    return ClientOptimizer(weight_decay=weight)


def _factor(family: _Family, problem: Problem, got: Floats, measure: Measure) -> float | None:
    """The factor for which the first round is `got` (q,), by Gauss and Newton's method, or None."""

    def first(s: float) -> Floats | None:
        run = _measured(family.make(Fraction(s)), problem, 1, measure)
        return None if run is None or not np.isfinite(run[1]).all() else run[1]

    if not np.isfinite(got).all():
        return None
    s = 1.0
    for _ in range(25):
        here, beside = first(s), first(s * (1 + 1e-6))
        if here is None or beside is None:
            return None
        slope = (beside - here) / (1e-6 * s)
        size = float(slope @ slope)
        if size == 0:
            return None
        step = float(slope @ (got - here)) / size
        s = min(max(s + step, s / 10), s * 10)
        if not 1 / LARGEST_FACTOR <= s <= LARGEST_FACTOR:
            return None
        if abs(step) <= 1e-13 * s:
            break
    return s
