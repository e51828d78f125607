"""An implementation of a random method against exact expectations, and against draws of the sampled engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boundcheck.engines.envelopes import certified_envelopes
from boundcheck.errors import BadInput, Unsupported
from boundcheck.judge import findings
from boundcheck.judge.agreement import FIRST, Expected, LawTest, MeanTest, check_means, same_law
from boundcheck.judge.carried_out import carried_out
from boundcheck.judge.mutants import Mutant, mutants
from boundcheck.judge.precision import SINGLE_ROUNDOFF, Rounding, rounding_of
from boundcheck.judge.reference import attempted, expected_metrics, iterates, sampled_iterates
from boundcheck.judge.task import Task
from boundcheck.judge.trajectories import Run, Trajectories, follow
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Floats, Quadratic

METRICS = ("gap", "dist2", "grad2")
MOST_COORDINATES = 8  # of iterates; in larger dimensions their metrics alone are compared
MOST_DRAWS = 8192  # of the reference
TO_EXPLAIN = 512  # seeds with which mistakes are separated, at least
FAR = 5.0  # standard errors that a mean may be from that of a mistake that explains it
ROUNDING = 1e-9


def compare_random(
    task: Task, run: Run, seeds: int, rate: float, power: float, tolerance: float | None = None
) -> findings.Agreement:
    """See `comparison.compare_implementation`; half of the rate goes to the test of means, half to that of laws."""
    if seeds < FIRST:
        raise BadInput(f"seeds = {seeds} is not allowed; a random method is compared with at least {FIRST}.")
    seen = _Seen(task, run)
    rounding = rounding_of(task, seen.roundoff) if tolerance is None else Rounding(tolerance)
    expected = _expected(task, seen)
    draws = _draws(task.method, task, seen, 4 * seeds)
    if expected is None and draws is None:
        raise Unsupported(
            f"no engine carries out {task.method.name} on '{task.problem.name}', so there is no reference."
        )

    def tested(allowed: float) -> tuple[MeanTest | None, LawTest | None]:
        means, laws = None, None
        if expected is not None:
            known, where = expected
            known = replace(known, slack=allowed * np.maximum(np.abs(known.mean), 1e-300) + 1e-3 * allowed)
            means = check_means(lambda b: seen.values(b)[:, where], known, seeds=seeds, rate=rate / 2, power=power)
        if draws is not None and not (means is not None and means.refuted):
            laws = _laws(seen, draws, seeds, rate / 2, power, allowed)
        return means, laws

    means, laws = tested(rounding.tolerance)
    single = rounding_of(task, SINGLE_ROUNDOFF).tolerance if _refuted(means, laws) else 0.0
    if single <= rounding.tolerance or _refuted(*tested(single)):
        single = 0.0
    return _Answer(task, seen, means, laws, draws, rate, power, rounding, single).agreement(seeds)


def _refuted(means: MeanTest | None, laws: LawTest | None) -> bool:
    return (means is not None and means.refuted) or (laws is not None and laws.refuted)


class _Seen:
    """What the implementation returns at the compared rounds, each seed run once.

    rounds: the compared ones. labels: of the J numbers of a seed, (round, what), one round after the other.
    """

    def __init__(self, task: Task, run: Run) -> None:
        self._task, self._run = task, run
        self._rows = np.empty((0, 0))
        first = follow(run, task, range(1))
        self.roundoff = first.roundoff
        self.metrics = tuple(sorted(first.metrics)) or tuple(m for m in METRICS if m in task.problem.metrics)
        self.coordinates = 0 if first.metrics else task.dimension if task.dimension <= MOST_COORDINATES else 0
        self.rounds = compared_rounds(task.rounds)
        names = (*findings.labels(task, ())[: self.coordinates], *self.metrics)
        self.labels = tuple((r, name) for r in self.rounds for name in names)
        if not names:
            raise Unsupported(f"'{task.problem.name}' has no metric and too many coordinates to compare.")

    def values(self, block: range) -> Floats:
        """The numbers (S, J) of these seeds."""
        if block.stop > len(self._rows):
            fresh = follow(self._run, self._task, range(len(self._rows), block.stop))
            rows = self.of(fresh)
            self._rows = rows if not len(self._rows) else np.concatenate([self._rows, rows])
        return self._rows[block.start : block.stop]

    def of(self, found: Trajectories) -> Floats:
        """The compared numbers (S, J) of trajectories at all rounds."""
        rounds = np.array(self.rounds)
        if found.points is not None:
            points = found.points[:, rounds]
            own = [points[:, :, k] for k in range(self.coordinates)]
            measured = Trajectories(points, {}, 0).measured(self._task.problem, self.metrics)
            every = [*own, *measured.values()]
        else:
            measured = found.measured(self._task.problem, self.metrics)
            every = [measured[name][:, rounds - found.first] for name in self.metrics]
        return np.stack(every, axis=2).reshape(len(every[0]), -1)

    @property
    def count(self) -> int:
        """Seeds that have been run."""
        return len(self._rows)


def compared_rounds(rounds: int) -> list[int]:
    """At most about 12 rounds, more of the early ones: 1, 2, 3, 5, 8, ... and the last."""
    found, step = [1, 2], 2
    while found[-1] < rounds:
        step = found[-1] + found[-2]
        found.append(min(step, rounds))
    return sorted({r for r in found if r <= rounds})


def _means_of(method: Method, task: Task, seen: _Seen) -> Floats:
    """E of the compared numbers (J,). Raises Unsupported."""
    columns: list[Floats] = []
    if seen.coordinates:
        points = iterates(method, task.problem, task.rounds)[seen.rounds]
        columns += [points[:, k] for k in range(seen.coordinates)]
    metrics = expected_metrics(method, task.problem, seen.rounds, seen.metrics)
    columns += [metrics[name] for name in seen.metrics]
    return np.stack(columns, axis=1).reshape(-1)


def _expected(task: Task, seen: _Seen) -> tuple[Expected, list[int]] | None:
    """Expectations with certain limits, and which of the numbers they are about; None where there are none."""
    mean = attempted(_means_of, task.method, task, seen)
    if mean is None:
        return None
    rounds = np.array(seen.rounds, dtype=np.int64)
    limits = certified_envelopes(task.method, task.problem, rounds, METRICS)
    if not limits or not isinstance(task.problem, Quadratic):
        return None
    centre = next((c for c, _ in task.problem.forms().quadratic.values()), None)
    low, high = np.full((2, len(rounds), seen.coordinates + len(seen.metrics)), np.inf)
    low = -low
    if centre is not None and "dist2" in limits:
        reach = np.sqrt(limits["dist2"].limits)
        for k in range(seen.coordinates):
            low[:, k], high[:, k] = float(centre[k, 0]) - reach, float(centre[k, 0]) + reach
    for j, name in enumerate(seen.metrics):
        if name in limits:
            low[:, seen.coordinates + j], high[:, seen.coordinates + j] = 0.0, limits[name].limits
    flat_low, flat_high = low.reshape(-1), high.reshape(-1)
    inside = np.isfinite(flat_high) & np.isfinite(mean) & (flat_low <= mean) & (mean <= flat_high)
    where = [int(j) for j in np.flatnonzero(inside)]
    if not where:
        return None
    names = tuple(f"{what} after round {r}" for r, what in (seen.labels[j] for j in where))
    return Expected(names, mean[where], flat_low[where], flat_high[where], np.zeros(len(where))), where


def _draws(method: Method, task: Task, seen: _Seen, count: int) -> Floats | None:
    """The compared numbers of the sampled engine's seeds (S', J), or None where it does not carry out the method."""
    grid, seeds = [0, *seen.rounds], range(min(count, MOST_DRAWS))
    drawn = attempted(sampled_iterates, method, task.problem, grid, seeds)
    if drawn is None:
        return None
    points = np.zeros((len(seeds), task.rounds + 1, task.dimension))
    points[:, grid] = drawn
    return seen.of(Trajectories(points, {}, 0))


def _laws(seen: _Seen, draws: Floats, seeds: int, rate: float, power: float, rounding: float) -> LawTest:
    """Look after 32, 64, ... seeds; each look has its share of the rate."""
    names = [f"{what} after round {r}" for r, what in seen.labels]
    looks = 1 + max(0, math.ceil(math.log2(seeds / FIRST)))
    used = FIRST
    while True:
        found = same_law(seen.values(range(used)), draws, names, rate=rate / looks, power=power, rounding=rounding)
        if found.refuted or used >= seeds:
            return found
        used = min(2 * used, seeds)


@dataclass(frozen=True)
class _Answer:
    """What the two tests say together."""

    task: Task
    seen: _Seen
    means: MeanTest | None
    laws: LawTest | None
    draws: Floats | None
    rate: float
    power: float
    rounding: Rounding
    single: float  # the tolerance of single precision, where that explains all differences

    def agreement(self, seeds: int) -> findings.Agreement:
        task, seen, used = self.task, self.seen, self.seen.count
        refuted = _refuted(self.means, self.laws)
        what = f"{task.rounds} rounds of {task.method.name} on '{task.problem.name}'"
        how = "two samples" if self.means is None else "expectation"
        mistakes, compatible, difference = dict[str, str](), dict[str, str](), None
        if refuted:
            difference = self._difference()
            values = seen.values(range(min(max(seen.count, TO_EXPLAIN), seeds)))
            found, merely, tried, alike = self._explanations(values)
            mistakes, compatible = ({m.name: m.sentence for m in each} for each in (found, merely))
            reason = f"{what} differ from the method in {used} seeds: {difference.words()}, {self._why()}. "
            reason += (findings.within_single("seeds", self.single) if self.single else "") + findings.looks_like(
                mistakes, tried, compatible
            )
        else:
            reason = f"{what}: no difference found in {used} seeds. {self._would_have_seen()}{self.rounding.words}"
            _, _, tried, alike = self._explanations(None)
        return findings.Agreement(
            task.method.name, task.problem.name, task.rounds, not refuted, how, difference, mistakes, tried, alike,
            reason + findings.not_told(alike, what="have the same expectations"), self._evidence(used), compatible,
        )  # fmt: skip

    def _difference(self) -> findings.Difference:
        if self.means is not None and self.means.refuted and self.means.where is not None:
            label = self.means.expected.labels[self.means.where]
            expected, got = float(self.means.expected.mean[self.means.where]), float(self.means.seen[self.means.where])
        else:
            assert self.laws is not None
            assert self.laws.where is not None
            assert self.draws is not None
            label = self.laws.labels[self.laws.where]
            expected = float(self.draws[:, self.laws.where].mean())
            got = float(self.seen.values(range(self.laws.seeds))[:, self.laws.where].mean())
        what, _, r = label.partition(" after round ")
        return findings.Difference(int(r), f"the mean of {what}", expected, "", got)

    def _why(self) -> str:
        if self.means is not None and self.means.refuted:
            if self.means.outside:
                return "and a seed is beyond what any order of samples and any cohort can reach"
            return f"which a right implementation shows with probability {self.rate:g} at most"
        assert self.laws is not None
        assert self.laws.where is not None
        distance = self.laws.distance[self.laws.where]
        return (
            f"where the distribution differs from that of the sampled engine by {distance:.2g} "
            f"({self.laws.allowed:.2g} is allowed; a right implementation exceeds it with probability {self.rate:g})"
        )

    def _would_have_seen(self) -> str:
        """The smallest errors that would have been seen."""
        words: list[str] = []
        if self.means is not None:
            size = np.abs(self.means.expected.mean)
            with np.errstate(divide="ignore"):
                share = self.means.error / np.where(size > 0, size, 1.0)
            best = int(np.argmin(np.where(self.means.error > 2 * self.means.expected.slack, share, np.inf)))
            words.append(
                f"an error of at least {self.means.error[best]:.3g} in the mean of {self.means.expected.labels[best]} "
                f"(expected {self.means.expected.mean[best]:.6g})"
            )
        if self.laws is not None:
            words.append(
                "a distribution function that is off by "
                f"{self.laws.error:.2g} anywhere, in any of {len(self.laws.labels)} numbers"
            )
        against = "" if self.means is not None else " The reference is a sample of the sampled engine."
        return f"Seen with probability {self.power:g} would have been {', or '.join(words)}.{against}"

    def _evidence(self, seeds: int) -> Mapping[str, Any]:
        found: dict[str, Any] = {"seeds": seeds, "rate": self.rate, "power": self.power}
        if self.means is not None:
            found["means"] = {
                name: {"expected": float(m), "seen": float(s), "error": float(e)}
                for name, m, s, e in zip(
                    self.means.expected.labels, self.means.expected.mean, self.means.seen, self.means.error, strict=True
                )
            }
        if self.laws is not None:
            found["laws"] = {"allowed": self.laws.allowed, "error": self.laws.error}
            found["distances"] = dict(zip(self.laws.labels, self.laws.distance.tolist(), strict=True))
        return found

    def _explanations(self, values: Floats | None) -> tuple[list[Mutant], list[Mutant], int, tuple[str, ...]]:
        """Mistakes with which the numbers (S, J) agree, those that they merely do not refute, how many were tried, and
        those with the method's expectations.

        Numbers agree with a mistake if their means do, and their law with draws of it; where no engine draws, their
        means must be others than the method's.
        """
        right, first = self._mean(self.task.method), self._first
        usual = values is not None and right is not None and _standard_errors(values, right) <= FAR
        found, merely = list[tuple[float, Mutant]](), list[tuple[float, Mutant]]()
        alike, tried, names = list[str](), 0, [what for _, what in self.seen.labels]

        known = [*mutants(self.task.method, self.task.problem), *carried_out(self.task.method, self.task.problem)]
        for mutant in known:
            begun = self._coordinates(mutant)  # second moments take longer, and are needed for few mistakes
            if begun is None:
                continue
            tried += 1
            fits = values is not None and _standard_errors(values[:, first], begun) <= FAR
            if not fits and not (right is not None and _same(begun, right[first])):
                continue
            own = self._mean(mutant.method) if mutant.carried is None else self._certain(mutant)
            if own is None:
                continue
            if right is not None and _same(own, right):
                alike.append(mutant.name)
            elif values is not None and fits and (off := _standard_errors(values, own)) <= FAR:
                if mutant.carried is not None:
                    found.append((off, mutant))
                    continue
                draws = _draws(mutant.method, self.task, self.seen, 4 * len(values))
                if draws is None:
                    (merely if usual else found).append((off, mutant))
                elif not same_law(values, draws, names, rate=self.rate, rounding=self.rounding.tolerance).refuted:
                    found.append((off, mutant))
        near, far = ([m for _, m in sorted(each, key=lambda pair: pair[0])] for each in (found, merely))
        return near, far, tried, tuple(alike)

    @property
    def _first(self) -> list[int]:
        """Which of the numbers are coordinates."""
        return [j for j, (_, what) in enumerate(self.seen.labels) if what.startswith("coordinate")]

    def _certain(self, mutant: Mutant) -> Floats:
        """The compared numbers of a mistake after which nothing is random."""
        points = mutant.iterates(self.task.problem, self.task.rounds)
        return self.seen.of(Trajectories(points[None], {}, 0))[0]

    def _coordinates(self, mutant: Mutant) -> Floats | None:
        """E of those numbers that are coordinates."""
        if not self.seen.coordinates:
            return np.empty(0)
        points = attempted(mutant.iterates, self.task.problem, self.task.rounds)
        return None if points is None else points[self.seen.rounds, : self.seen.coordinates].reshape(-1)

    def _mean(self, method: Method) -> Floats | None:
        """E of the compared numbers, None where the exact engine does not carry out the method."""
        return attempted(_means_of, method, self.task, self.seen)


def _standard_errors(values: Floats, mean: Floats) -> float:
    """The largest distance of the means of (S, J) from these, in standard errors."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        error = values.std(axis=0, ddof=1) / math.sqrt(len(values)) + ROUNDING * np.abs(mean) + 1e-12
        off = np.abs(values.mean(axis=0) - mean) / error
    return float(np.where(np.isnan(off), np.inf, off).max(initial=0.0))


def _same(one: Floats, other: Floats) -> bool:
    return bool(np.allclose(one, other, rtol=ROUNDING, atol=1e-12))
