"""How the runs of a check are judged: against exact iterates, against each other, or by exact tests of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.judge.checks.instances import Case
from boundcheck.judge.checks.trial import CANNOT_TELL, Finding, NotAsked, Parting, RunFailed, Trial
from boundcheck.problems.problem import Floats, clients_of

Points = list[list[Fraction]]


def exact(trial: Trial) -> Finding:
    """Every case is explained by the exact iterates of its method."""
    seeds = 0
    for number, case in enumerate(trial.cases):
        parting = trial.parting(number)
        seeds = max(seeds, len(trial.used(case)))
        if parting is not None:
            reason = f"The iterates are not those of {case.method['kind']}.{trial.hint(parting)}"
            return Finding(reason, trial.smallest(), parting)
    return Finding("", trial.smallest(), seeds=seeds)


def stays(trial: Trial) -> Finding:
    """The iterates stay at the start, as those of the method do."""
    for case in trial.cases:
        path = trial.outcomes(case).mean(case.rounds)
        if any(point != path[0] for point in path):
            raise NotAsked("the method itself does not stay there")
    return exact(trial)


def gradient_steps(trial: Trial) -> Finding:
    """The iterates are x - eta * sum of a_i grad f_i(x), as those of the method are."""
    for case in trial.cases:
        if trial.outcomes(case).mean(case.rounds) != _descent(trial, case):
            raise NotAsked("one local step of every client is no gradient step of this composition")
    return exact(trial)


def _descent(trial: Trial, case: Case) -> Points:
    """Distributed gradient descent in fractions, from the specification alone."""
    task, method = trial.task(case), trial.task(case).method
    n, known = len(task.clients), clients_of(task.problem)
    tables = [c["components"][0] for c in case.problem["clients"]]
    maps = [(np.vectorize(Fraction)(t["A"]), np.vectorize(Fraction)(t["b"])) for t in tables]
    visits = [method.local.visits(i, range(n), known)[0][1] for i in range(n)]
    factors = [a * v.scale for a, v in zip(method.factors(range(n), known), visits, strict=True)]
    points = [np.array(task.problem.start)]
    for t in range(case.rounds):
        eta, x = Fraction(method.schedule.step(method.cycle_of(t, known))), points[-1]
        points.append(x - eta * sum(a * (A @ x - b) for a, (A, b) in zip(factors, maps, strict=True)))
    return [list(x) for x in points]


def image(trial: Trial) -> Finding:
    """The iterates of the later cases follow from those of the first with the same seed, as those of the method do."""
    first = trial.cases[0]
    seeds = trial.used(first)
    before = trial.points(first, seeds)
    for number, case in enumerate(trial.cases[1:], 1):
        how = case.image or {}
        keep = list(how.get("keep", range(before.shape[2])))
        if case.problem != first.problem or case.method != first.method:
            wanted = [_moved(point, how) for point in trial.outcomes(first).mean(first.rounds)]
            found = trial.outcomes(case).mean(case.rounds)
            if any([p[k] for k in keep] != [q[k] for k in keep] for p, q in zip(found, wanted, strict=False)):
                raise NotAsked("the relation does not hold for this composition itself")
        after = trial.points(case, seeds)
        shift = np.array([float(Fraction(v)) for v in how.get("shift", [0] * before.shape[2])])
        common = min(before.shape[1], after.shape[1])
        expected = (float(Fraction(how.get("scale", 1))) * before + shift)[:, :common]
        parting = _differ(trial, case, number, seeds, expected[:, :, keep], after[:, :common, keep])
        if parting is not None:
            return Finding("Two runs that belong together differ.", trial.smallest(), parting)
    return Finding("", trial.smallest(), seeds=len(seeds))


def _moved(point: Sequence[Fraction], how: Mapping[str, Any]) -> list[Fraction]:
    scale = Fraction(how.get("scale", 1))
    shift = [Fraction(v) for v in how.get("shift", [0] * len(point))]
    return [scale * v + s for v, s in zip(point, shift, strict=True)]


def _differ(
    trial: Trial, case: Case, number: int, seeds: Sequence[int], expected: Floats, got: Floats, exactly: bool = False
) -> Parting | None:
    """The first difference of iterates (S, rounds + 1, k); the expected ones are other iterates, not fractions."""
    if not np.isfinite(expected).all():
        raise RunFailed("the iterates are not finite")
    allowed = 0 if exactly else trial.tolerance * np.abs(expected).max(axis=(1, 2), keepdims=True)
    with np.errstate(invalid="ignore"):
        bad = ~(np.abs(got - expected) <= allowed)
    if not bad.any():
        return None
    t = int(np.argmax(bad.any(axis=(0, 2))))
    s, k = (int(v) for v in np.argwhere(bad[:, t])[0])
    text = format_exact(Fraction(float(expected[s, t, k])))
    client = trial.client(case) if not exactly else CANNOT_TELL
    return Parting(max(t, 1), k, client, text, float(got[s, t, k]), number, seeds[s])


def unordered(trial: Trial) -> Finding:
    """As `image`; with random cohorts the same seed may choose others, and each case is explained by itself."""
    if trial.is_random(trial.cases[0]):
        ours, theirs = (trial.outcomes(c).mean(c.rounds) for c in trial.cases[:2])
        if ours != theirs:
            raise NotAsked("the relation does not hold for this composition itself")
        return exact(trial)
    return image(trial)


def repeats(trial: Trial) -> Finding:
    """A seed gives the same iterates again, bit for bit, whatever ran in between."""
    case = trial.cases[0]
    seeds = trial.used(case)[:4]
    other = seeds[-1] + 1
    for seed in seeds:
        first = trial.follow(trial.task(case), seed)
        trial.follow(trial.task(case), other)
        again = trial.follow(trial.task(case), seed)
        parting = _differ(trial, case, 0, [seed], first[None], again[None], exactly=True)
        if parting is not None:
            return Finding("A seed does not repeat its iterates.", "any difference", parting)
    return Finding("", "any difference", seeds=len(seeds))


def differs(trial: Trial) -> Finding:
    """Different seeds give different iterates, where the method is random."""
    case = trial.cases[0]
    outcomes = trial.outcomes(case)
    if len(outcomes.choices) == 1:
        raise NotAsked("nothing is random on this instance")
    largest = max(float(c.p) for c in outcomes.choices)
    found = outcomes.explain(trial.points(case, trial.seeds[:1]), trial.tolerance)
    if not found.parted.any() and (found.unsure.any() or not found.unique.any()):
        raise NotAsked("different choices give the same iterates on this instance")
    told = case.rounds if found.parted.any() else int(found.unique.sum())  # rounds in which choices can be separated
    alike = largest**told  # the probability that a second seed gives the iterates of the first, at most
    needed = 2
    while alike ** (needed - 1) > trial.rate and needed < len(trial.seeds):
        needed += 1
    if alike ** (needed - 1) > trial.rate:
        raise NotAsked(f"{len(trial.seeds)} seeds can be alike by chance")
    seeds = list(trial.seeds[:needed])
    points = trial.points(case, seeds)
    if (points == points[0]).all():
        return Finding(
            f"{needed} seeds give the same iterates.", "all seeds alike", None, alike ** (needed - 1), needed
        )
    return Finding("", "all seeds alike", None, alike ** (needed - 1), needed)


def untouched(trial: Trial) -> Finding:
    """A second run of the very same task gives the same iterates, and the task's arrays are what they were."""
    case = trial.cases[0]
    seed = trial.used(case)[0]
    task = trial.task(case)
    steps, parameters = task.step_sizes.copy(), dict(task.parameters)
    first = trial.follow(task, seed)
    if not (np.array_equal(steps, task.step_sizes) and parameters == dict(task.parameters)):
        return Finding("The run changed the step sizes or parameters of its task.", "any difference")
    parting = _differ(trial, case, 0, [seed], first[None], trial.follow(task, seed)[None], exactly=True)
    if parting is not None:
        return Finding("A second run of the same task differs.", "any difference", parting)
    return Finding("", "any difference")
