"""The plan: every random choice of a run as a function of the seed, defined with NumPy from the streams."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from boundcheck.core import streams
from boundcheck.engines.curve import Ints
from boundcheck.engines.simulate.lowering import Lowered


def draw_choices(lowered: Lowered, seeds: streams.Words, round_index: int, client: int) -> Ints:
    """Which of its possible visits a client does in a round, for each seed; shape (S,)."""
    if lowered.visits == 1:
        return np.zeros(len(seeds), dtype=np.int64)
    return streams.pick(streams.words(seeds, streams.EPOCHS, round_index, client, 0, 1)[:, 0], lowered.cuts)


def draw_common(
    lowered: Lowered, seeds: streams.Words, round_index: int, cohorts: Sequence[Sequence[int]]
) -> list[int | None]:
    """The number of steps that the cohort of each seed takes together; None where clients do not draw it together."""
    local = lowered.together
    if local is None:
        return [None] * len(seeds)
    cuts, planned = streams.cuts([Fraction(1, len(local.epochs(0)))] * len(local.epochs(0))), dict[int, Ints]()
    for i in {i for cohort in cohorts for i in cohort}:
        words = streams.words(seeds, streams.EPOCHS, round_index, i, 0, 1)[:, 0]
        each = local.steps_per_epoch(i, lowered.known)
        planned[i] = np.array(local.epochs(i))[streams.pick(words, cuts)] * each
    return [
        local.common_of([int(planned[i][s]) for i in cohort]) if cohort else None for s, cohort in enumerate(cohorts)
    ]


def samples_of(size: int, batch: int, steps: int) -> int:
    """How many samples this many steps use."""
    epochs, rest = divmod(steps, -(-size // batch))
    return epochs * size + min(rest * batch, size)


def typical(lowered: Lowered) -> tuple[int, int]:
    """Steps and samples of a busy visit, by a look at a few clients; only to size pieces of work."""
    law = lowered.law
    if law is None:
        cohort = max(lowered.cohorts.fixed, key=len)
    else:
        cohort = tuple(range(min(law.largest, law.n))) if law.kind != "subsets" else max(law.subsets, key=len)
    some = cohort[:16]
    work = lowered.members(cohort if lowered.by_cohort and len(cohort) <= 1024 else some)
    steps = max([0, *(max(m.steps) for m in work)])
    if lowered.whole:
        return steps, 0
    return steps, max([0, *(samples_of(lowered.known.sizes[i], lowered.batch, steps) for i in some)])


def draw_samples(lowered: Lowered, seeds: streams.Words, round_index: int, client: int, size: int, steps: int) -> Ints:
    """The samples, out of `size`, that a client's steps use, in order, for each seed; shape (S, samples)."""
    count = samples_of(size, lowered.batch, steps)
    if lowered.sampling == "replacement":
        return streams.below(streams.words(seeds, streams.SAMPLE, round_index, client, 0, count), size)
    each = streams.shuffle_words(size, size)
    epochs = range(-(-count // size))
    orders = [streams.shuffle(seeds, streams.ORDER, round_index, client, size, size, e * each) for e in epochs]
    return np.concatenate([np.empty((len(seeds), 0), dtype=np.int64), *orders], axis=1)[:, :count]


def draw_clients(lowered: Lowered, seeds: streams.Words, count: int) -> Ints:
    """Clients, drawn by weight, whose vectors start what the server keeps; shape (S, count)."""
    words = streams.words(seeds, streams.WARM_UP, 0, 0, 0, count)
    return streams.pick(words, streams.cuts(lowered.known.weights))


def draw_numbers(lowered: Lowered, seeds: streams.Words, round_index: int) -> Ints:
    """Which of the rule's outcomes of a round each seed draws; shape (S,)."""
    law = lowered.rule.drawn(round_index)
    if len(law) == 1:
        return np.zeros(len(seeds), dtype=np.int64)
    word = streams.words(seeds, streams.REFERENCE, round_index, 0, 0, 1)[:, 0]
    return streams.pick(word, streams.cuts(p for p, _ in law))
