"""The statistical checks: how often clients, cohorts and samples take part, by exact tests of counts.

On an instance in which each client has a coordinate of its own, a client takes part in a round just where its
coordinate moves. Cohorts of different rounds and seeds are independent, so that counts over them have a binomial law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_exact
from boundcheck.judge.agreement import Expected, check_means
from boundcheck.judge.checks.counts import Event, refuted, smallest
from boundcheck.judge.checks.instances import Case
from boundcheck.judge.checks.outcomes import Bools, Choice
from boundcheck.judge.checks.trial import Finding, NotAsked, Parting, Trial
from boundcheck.problems.problem import Floats

MAX_EVENTS = 64


def _decided(trial: Trial, events: Sequence[Event]) -> Finding:
    if not events:
        raise NotAsked("nothing is random on this instance")
    change = smallest(events, trial.rate)
    error = f"a change of {change:.3g} in any of {len(events)} probabilities"
    found = refuted(events, trial.rate)
    reason = ""
    if found is not None:
        share = found.count / found.trials
        reason = (
            f"{found.words} in {found.count} of {found.trials} cases, a share of {share:.4g} instead of {found.p:.4g}."
        )
    return Finding(reason, error, None, trial.rate, len(trial.seeds))


def _moves(trial: Trial, case: Case) -> Bools:
    """(S, rounds, d): whether a coordinate moves in a round."""
    points = trial.points(case, trial.seeds)
    if not np.isfinite(points).all():
        raise NotAsked("the iterates are not finite")
    return np.abs(np.diff(points, axis=1)) > trial.tolerance * np.abs(points).max()


def _share(choices: Iterable[Choice], holds: Callable[[Choice], bool]) -> float:
    return float(sum((c.p for c in choices if holds(c)), Fraction(0)))


def _cohorts(trial: Trial) -> tuple[Case, list[Choice]]:
    """The case, and its possible cohorts. Raises NotAsked where participation does not show in the iterates."""
    case = trial.cases[0]
    outcomes = trial.outcomes(case)
    if not trial.is_random(case) or len({frozenset(c.cohort) for c in outcomes.choices}) == 1:
        raise NotAsked("all clients take part in every round")
    if not outcomes.plain:
        raise NotAsked("clients move the model in rounds in which they take no part")
    return case, outcomes.choices


def participation(trial: Trial) -> Finding:
    """Clients and cohorts take part with their probabilities."""
    case, choices = _cohorts(trial)
    moves = _moves(trial, case)
    trials = moves.shape[0] * moves.shape[1]
    events = [
        Event(
            f"client {i} takes part", _share(choices, lambda c, i=i: i in c.cohort), int(moves[:, :, i].sum()), trials
        )
        for i in range(moves.shape[2])
    ]
    sets = {frozenset(c.cohort) for c in choices}
    for cohort in sorted(sets, key=sorted) if len(sets) <= MAX_EVENTS else []:
        taken = np.array([i in cohort for i in range(moves.shape[2])])
        p = _share(choices, lambda c, s=cohort: frozenset(c.cohort) == s)
        count = int((moves == taken).all(axis=2).sum())
        events.append(Event(f"the cohort is {sorted(cohort)}", p, count, trials))
    return _decided(trial, events)


def anew(trial: Trial) -> Finding:
    """Cohorts of successive rounds are independent."""
    case, choices = _cohorts(trial)
    moves = _moves(trial, case)
    pairs = moves.shape[1] // 2
    first, second = moves[:, 0 : 2 * pairs : 2], moves[:, 1 : 2 * pairs : 2]
    trials = moves.shape[0] * pairs
    events: list[Event] = []
    for i in range(moves.shape[2]):
        p = _share(choices, lambda c, i=i: i in c.cohort)
        both = int((first[:, :, i] & second[:, :, i]).sum())
        events.append(Event(f"client {i} takes part in two rounds in a row", p * p, both, trials))
    sets = {frozenset(c.cohort) for c in choices}
    shares = [_share(choices, lambda c, s=s: frozenset(c.cohort) == s) for s in sets]
    same = int((first == second).all(axis=2).sum())
    events.append(Event("the cohort of a round is that of the round before", sum(p * p for p in shares), same, trials))
    return _decided(trial, events)


def choices(trial: Trial) -> Finding:
    """All that a round chooses has its probability: cohorts, numbers of epochs, cohorts of a correction."""
    case = trial.cases[0]
    outcomes = trial.outcomes(case)
    if not trial.is_random(case):
        raise NotAsked("nothing is random on this instance")
    if len(outcomes.choices) > MAX_EVENTS:
        raise NotAsked(f"there are {len(outcomes.choices)} possible rounds, more than {MAX_EVENTS}")
    points = trial.points(case, trial.seeds)
    found = outcomes.explain(points, trial.tolerance)
    if (found.parted > 0).any():
        parting = trial.parting(0, statistical=True)
        return Finding("The iterates are none that the choices allow.", trial.smallest(), parting, 0.0, len(points))
    if not found.unique.all():
        raise NotAsked("different choices give the same iterates on this instance")
    trials = found.chosen.size
    events = [
        Event(f"a round chooses {_words(c)}", float(c.p), int((found.chosen == k).sum()), trials)
        for k, c in enumerate(outcomes.choices)
    ]
    return _decided(trial, events)


def means(trial: Trial) -> Finding:
    """The means over seeds, after one round and after all, are the exact expectations."""
    case = trial.cases[0]
    outcomes = trial.outcomes(case)
    if not trial.is_random(case):
        raise NotAsked("nothing is random on this instance")
    exact = outcomes.mean(case.rounds)
    low, high = outcomes.limits(case.rounds)
    at = sorted({1, case.rounds})
    labels = [(r, k) for r in at for k in range(outcomes.dim)]
    size = max(float(np.abs(low).max()), float(np.abs(high).max()))
    mean = np.array([nearest_float(exact[r][k]) for r, k in labels])
    lower, upper = (np.array([rows[r, k] for r, k in labels]) for rows in (low, high))
    expected = Expected(
        tuple(f"coordinate {k} after round {r}" for r, k in labels),
        mean,
        np.minimum(lower, mean),
        np.maximum(upper, mean),
        np.full(len(labels), trial.tolerance * size),
    )

    def draw(numbers: range) -> Floats:
        points = trial.points(case, [trial.seeds[i] for i in numbers])
        return np.stack([points[:, r, k] for r, k in labels], axis=1)

    test = check_means(draw, expected, seeds=len(trial.seeds), rate=trial.rate)
    error = f"a difference of {test.error.max():.3g} in any of {len(labels)} means"
    if not test.refuted or test.where is None:
        return Finding("", error, None, trial.rate, test.seeds)
    r, k = labels[test.where]
    reason = f"The mean over {test.seeds} seeds is not the exact expectation."
    got = float(test.seen[test.where])
    parting = Parting(r, k, trial.client(case), format_exact(exact[r][k]), got, 0, trial.seeds[0])
    return Finding(reason, error, parting, trial.rate, test.seeds)


def _words(choice: Choice) -> str:
    parts = [f"the cohort {list(choice.cohort)}"]
    if choice.work is not None:
        parts.append(f"{[v.steps for v in choice.work]} local steps")
    if choice.gradients is not None:
        parts.append(f"the gradients of {list(choice.gradients)}")
    return " with ".join(parts)


def drawn_samples(trial: Trial) -> Finding:
    """Each sample is left out of a round as often as drawing with replacement does."""
    case = trial.cases[0]
    task = trial.task(case)
    outcomes = trial.outcomes(case)
    if trial.is_random(case) or not outcomes.plain:
        raise NotAsked("what a sample moves does not show in the iterates")
    moves = _moves(trial, case)
    clients = outcomes.clients
    events: list[Event] = []
    at = 0
    for client in task.clients:
        ((_, visit),) = task.method.local.visits(client.index, range(clients.count), clients)
        drawn = visit.steps * min(visit.batch, client.size)
        for _ in range(client.size):
            p = (1 - 1 / client.size) ** drawn
            words = f"sample {at} is not drawn by client {client.index}"
            events.append(Event(words, p, int((~moves[:, :, at]).sum()), moves.shape[0] * moves.shape[1]))
            at += 1
    return _decided(trial, events)
