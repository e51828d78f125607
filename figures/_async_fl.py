"""What the figures of the asynchronous paper share: softmax regression, its losses on two problems and over clients.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Section 5: p_i = 1/M, eta_g = 1, batches of 64. Here the model is convex (softmax
regression without a penalty worth the name) and the data are MNIST, where it is on this machine and asked for, or the
handwritten digits; "by Dirichlet(0.1)" is the paper's MNIST-shard. The client with the fewest samples bounds the batch
of all. Step sizes are tuned as in the paper, from 1e-5 to 1 and further while the best lies at an end, on seeds that
are not shown. The full size is recorded (`_recorded`); the small one is drawn where the record does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import _recorded as rec
import numpy as np

from boundcheck.methods.build import build as build_method
from boundcheck.networks.study import surrogate
from boundcheck.problems._classifier import Classifier
from boundcheck.problems.build import build as build_problem

Found = TypeVar("Found")
SEEDS, TUNING_SEEDS = range(10), range(100, 103)
STEPS = tuple(Fraction(1, 2**k) for k in range(16, -1, -1))  # 1.5e-5 to 1
SHARD = "by Dirichlet(0.1)"
SPLITS: Mapping[str, Mapping[str, Any]] = {
    "random": {"split": "random"},
    SHARD: {"split": "dirichlet", "alpha": "1/10"},
}
WEIGHTS = {"time-based": "time_based", "identical": "identical"}
COLUMNS = ("f", "surrogate_f", "spread", "surrogate_spread")  # of a row of a record
CLIENTS, POINTS = 10, 40


@dataclass(frozen=True)
class Size:
    """How large the runs are. length: aggregations or units of time."""

    data: str
    length: int
    seeds: range
    tuning: range
    steps: Sequence[Fraction]


def problem(data: str, clients: int, split: str) -> Classifier:
    """Softmax regression on the data, split among the clients, all of the same importance."""
    spec = {"kind": "softmax_regression", "data": data, "clients": clients, "seed": 0, "features": "unit"}
    found = build_problem({**spec, **SPLITS[split], "weights": "equal", "ridge": "1/10000"})
    assert isinstance(found, Classifier)
    return found


def shares(spec: Mapping[str, Any], on: Classifier) -> tuple[Fraction, ...]:
    """The weights of the clients in the surrogate problem that a method follows."""
    return surrogate.weights(on, build_method(spec))


def losses(
    spec: Mapping[str, Any],
    on: Classifier,
    grid: Sequence[int],
    seeds: range,
    kept: rec.Recorded,
    u: Sequence[Fraction] = (),
) -> dict[str, rec.Array]:
    """Along runs of a method, (seeds, T) each: "f", and all of `COLUMNS` with weights u of a surrogate problem."""
    names = COLUMNS if u else COLUMNS[:1]

    def one(seed: int) -> rec.Array:
        found = rec.losses(spec, on, grid, seed, u or on.weights)
        return np.concatenate([found[name] for name in names])

    rows = kept.row(on.spec, spec, grid, seeds, one).reshape(len(seeds), len(names), len(grid))
    return {name: rows[:, k] for k, name in enumerate(names)}


def computed(
    name: str,
    compute: Callable[[Size, rec.Recorded], Found],
    paper: Size,
    quick: Size,
    full: bool,
    data: str | None,
    seeds: int | None,
    rounds: int | None,
) -> tuple[Found, Size, str]:
    """What `compute` finds, at which size, and what a caption says of it; see `_recorded.computed`."""
    given = {"data": data, "seeds": None if seeds is None else range(seeds), "length": rounds}
    found, size, kept = rec.computed(name, compute, paper, quick, full, **given)
    small = (
        f"Drawn small: {size.length} instead of {paper.length}, {len(size.seeds)} instead of {len(paper.seeds)} seeds. "
    )
    return found, size, ("" if size == paper else small) + kept.words()
