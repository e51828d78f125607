"""A method on given clients as flat numbers, and the plan that its random choices follow.

Both execution paths read a `Lowered` and nothing else of the method, so that they carry out the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from boundcheck.core import streams
from boundcheck.engines.curve import Floats, Ints
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients, Repeated
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, GradientSteps

__all__ = ["Lowered", "Plan", "draw_cohorts", "draw_order", "lower", "plan"]

MAX_ROUNDS = (1 << 32) - 1  # the round is a 32-bit field of the generator's counter
NEVER = 1 << 62


@dataclass(frozen=True)
class Lowered:
    """What the execution paths know of a method.

    clients, cohort_size: n and m.
    fixed: (P, m) cohorts of the P rounds of a period; P = 0 when cohorts are drawn.
    coefficients: (max(P, 1), m) float64, eta_g * a_i by cohort position; one row when cohorts are drawn.
    weigh: for drawn cohorts whose coefficients depend on who is in them: cohort -> (m,); else None.
    steps: float64 step size by cycle (one entry when constant), each the float nearest to the exact number.
    rounds_per_cycle: rounds that share an entry of `steps`.
    reshuffled, repeats, batch: the local program; repeats counts steps, or epochs when reshuffled.
    """

    clients: int
    cohort_size: int
    fixed: Ints
    coefficients: Floats
    weigh: Callable[[Sequence[int]], Floats] | None
    steps: Floats
    rounds_per_cycle: int
    reshuffled: bool
    repeats: int
    batch: int

    def step(self, round_index: int) -> float:
        """Step size of a round (from 0)."""
        return float(self.steps[round_index // self.rounds_per_cycle])


def lower(method: Method, known: Clients, rounds: int) -> Lowered:
    """The method on these clients for rounds 0..rounds-1.

    Raises BadInput for a negative or too large number of rounds, and whatever the parts refuse; Unsupported for
    a fixed participation whose cohorts differ in size.
    """
    if not 0 <= rounds <= MAX_ROUNDS:
        raise BadInput(f"rounds = {rounds} is not allowed; the sampled engine runs 0 to {MAX_ROUNDS} rounds.")
    clients = known.count
    if not 1 <= clients <= streams.MAX_BOUND:
        raise BadInput(f"{clients} clients are not allowed; the sampled engine takes 1 to {streams.MAX_BOUND}.")
    participation = method.participation
    drawing = participation.drawing(known)
    first = participation.fixed(0, known)
    if drawing is not None and drawing.kind != "uniform":
        raise Unsupported(f"the sampled engine draws cohorts of one size; those of '{method.name}' vary.")
    size = len(first or ()) if drawing is None else drawing.size
    own = method.aggregation.by_client(method.setting(known))

    def weights(cohort: Sequence[int]) -> Floats:
        return np.array([float(a) for a in method.factors(cohort, known)], dtype=np.float64)

    weigh = None
    if first is None:
        fixed = np.empty((0, size), dtype=np.int64)
        coefficients = weights(range(size))[None]
        weigh = None if own is not None and len({own(i) for i in range(clients)}) == 1 else weights
    else:
        period = participation.period(known)
        cohorts = [participation.fixed(r, known) for r in range(min(period, max(rounds, 1)))]
        if any(c is None or len(c) != size for c in cohorts):
            raise Unsupported(
                f"method '{method.name}' has fixed cohorts that are not all of {size} clients; "
                "the sampled engine runs cohorts of one size."
            )
        fixed = np.array(cohorts, dtype=np.int64).reshape(-1, size)
        coefficients = np.array([weights([int(i) for i in row]) for row in fixed], dtype=np.float64)

    if method.schedule.is_constant():
        per_cycle, steps = NEVER, [method.schedule.step(1)]
    else:
        per_cycle = method.rounds_per_cycle(known)
        steps = [method.schedule.step(k + 1) for k in range(max(1, -(-rounds // per_cycle)))]
    local = method.local
    epochs = local if isinstance(local, Epochs) else None
    plain = epochs == Epochs(epochs.E, epochs.batch) and isinstance(epochs.E, int) if epochs is not None else True
    if method.momentum is not None or not plain or not isinstance(local, Epochs | GradientSteps):
        raise Unsupported(f"the sampled engine cannot carry the local work of '{method.name}'.")
    repeats = local.E if isinstance(local.E, int) else 1
    return Lowered(
        clients=clients,
        cohort_size=size,
        fixed=fixed,
        coefficients=coefficients,
        weigh=weigh,
        steps=np.array([float(s) for s in steps], dtype=np.float64),
        rounds_per_cycle=per_cycle,
        reshuffled=epochs is not None,
        repeats=repeats,
        batch=1 if epochs is None else epochs.batch,
    )


def draw_cohorts(lowered: Lowered, seeds: streams.Words, round_index: int) -> Ints:
    """The clients of one round for each seed, in the order of the plan; shape (S, m)."""
    if len(lowered.fixed):
        return np.tile(lowered.fixed[round_index % len(lowered.fixed)], (len(seeds), 1))
    return streams.shuffle(seeds, streams.COHORT, round_index, 0, lowered.clients, lowered.cohort_size)


def draw_order(seeds: streams.Words, round_index: int, client: int, size: int, epoch: int) -> Ints:
    """The order in which a client visits its `size` samples in one epoch of a round; shape (S, size)."""
    first = epoch * streams.shuffle_words(size, size)
    return streams.shuffle(seeds, streams.ORDER, round_index, client, size, size, first)


@dataclass(frozen=True)
class Plan:
    """Every random choice of one seed: a function of the seed and the method alone.

    cohorts: (rounds, m) clients in each round, in the order in which the server adds them.
    """

    seed: int
    sizes: tuple[int, ...]
    epochs: int
    cohorts: Ints

    def order(self, round_index: int, client: int) -> Ints:
        """Sample orders of a client's visit, one row an epoch; shape (epochs, size), epochs = 0 for full gradients.

        It is defined for every client, whether or not it is in the round's cohort.
        """
        size = self.sizes[client]
        one = np.array([self.seed], dtype=np.uint64)
        rows = [draw_order(one, round_index, client, size, e)[0] for e in range(self.epochs)]
        return np.array(rows, dtype=np.int64).reshape(self.epochs, size)


def plan(method: Method, sizes: Sequence[int], seed: int, rounds: int) -> Plan:
    """The plan of one seed for clients that hold `sizes` samples each. Raises BadInput for an impossible seed."""
    seeds = np.array([streams.check_seed(seed)], dtype=np.uint64)
    lowered = lower(method, Clients(Repeated(Fraction(1, len(sizes)), len(sizes)), sizes), rounds)
    cohorts = [draw_cohorts(lowered, seeds, r)[0] for r in range(rounds)]
    return Plan(
        seed=seed,
        sizes=tuple(int(s) for s in sizes),
        epochs=lowered.repeats if lowered.reshuffled else 0,
        cohorts=np.array(cohorts, dtype=np.int64).reshape(rounds, lowered.cohort_size),
    )
