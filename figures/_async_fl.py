"""What the figures of the asynchronous paper share: softmax regression, its losses on two problems and over clients.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Section 5: p_i = 1/M, eta_g = 1, batches of 64. Here the model is convex (softmax
regression without a penalty worth the name) and the data are MNIST, where it is on this machine and asked for, or the
handwritten digits; "by Dirichlet(0.1)" is the paper's MNIST-shard. The client with the fewest samples bounds the batch
of all. Step sizes are tuned as in the paper, from 1e-5 to 1 and further while the best lies at an end, on seeds that
are not shown. The full size is recorded (`_recorded`); the small one is drawn where the record does not fit.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import _common as c
import _files as files
import numpy as np
from _recorded import NotRecorded, Recorded
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from boundcheck.core.palette import hue
from boundcheck.engines.simulate import run_sampled
from boundcheck.methods.build import build as build_method
from boundcheck.problems._classifier import Classifier
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting.expected_weights import expected_weights

T = TypeVar("T")
SEEDS = range(10)
TUNING_SEEDS = range(100, 103)
STEPS = tuple(Fraction(1, 2**k) for k in range(16, -1, -1))  # 1.5e-5 to 1
SPLITS: Mapping[str, Mapping[str, Any]] = {
    "random": {"split": "random"},
    "by Dirichlet(0.1)": {"split": "dirichlet", "alpha": "1/10"},
}
COLOURS = {"identical": hue(1), "time-based": hue(0)}
COLOURS |= {"asynchronous": hue(0), "synchronous": hue(5), "FedFix-0.5": hue(2)}
POINTS = 40


class Watched(Classifier):
    """The same problem with the loss of every client as a metric, "loss:<client>"."""

    @classmethod
    def of(cls, problem: Classifier) -> Watched:
        """The same data."""
        return cls(**{f.name: getattr(problem, f.name) for f in fields(Classifier)})

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those of the problem, and the clients' losses."""
        return (*super().metrics, *(f"loss:{i}" for i in range(self.clients)))

    def metric_many(self, name: str, points: c.Array) -> c.Array:
        """As in the problem."""
        if not name.startswith("loss:"):
            return super().metric_many(name, points)
        client = int(name.partition(":")[2])
        rows = slice(self.offsets[client], self.offsets[client + 1])
        scores = np.einsum("rp,kcp->krc", self.features[rows], points.reshape(len(points), self.loss.columns, -1))
        values = np.asarray(self.loss.values(scores, self.labels[rows]), dtype=np.float64).mean(axis=1)
        return values + float(self.ridge) / 2 * np.einsum("kd,kd->k", points, points)


@dataclass(frozen=True)
class Losses:
    """Along runs of a method, each (seeds, T): the loss on the federated and on the surrogate problem, and the standard
    deviation over the clients of each, the second weighted as the surrogate problem weighs them. rounds: (T,).
    """

    rounds: c.Array
    federated: c.Array
    surrogate: c.Array
    spread: c.Array
    surrogate_spread: c.Array


@dataclass(frozen=True)
class Size:
    """How large the runs are. length: aggregations or units of time."""

    data: str
    length: int
    seeds: range
    tuning: range
    steps: Sequence[Fraction]


def problem(data: str, clients: int, split: str) -> Watched:
    """Softmax regression on the data, split among the clients, all of the same importance."""
    spec = {"kind": "softmax_regression", "data": data, "clients": clients, "seed": 0, "features": "unit"}
    found = build_problem({**spec, **SPLITS[split], "weights": "equal", "ridge": "1/10000"})
    assert isinstance(found, Classifier)
    return Watched.of(found)


def batch(on: Watched) -> int:
    """64, or as many samples as the smallest client has."""
    return min(64, *on.sizes)


def shares(spec: Mapping[str, Any], on: Watched) -> tuple[Fraction, ...]:
    """The weights of the clients in the surrogate problem that a method follows: q_i over their sum."""
    expected = expected_weights(build_method(spec), clients_of(on))
    assert expected is not None
    total = sum(expected.mean.values(), Fraction(0))
    return tuple(expected.mean.get(i, Fraction(0)) / total for i in range(on.clients))


def losses(
    spec: Mapping[str, Any], on: Watched, grid: Sequence[int], seeds: range, kept: Recorded, weights: Sequence[Fraction]
) -> Losses:
    """The losses along runs of a method. weights: of the clients in the surrogate problem."""
    method = build_method(spec)
    names = tuple(f"loss:{i}" for i in range(on.clients))
    share = np.array([float(w) for w in weights])

    def one(seed: int) -> c.Array:
        found = run_sampled(method, on, grid[-1], range(seed, seed + 1), names, list(grid), threads=1)
        each = np.stack([found.samples[name][0] for name in names], axis=1)
        surrogate = each @ share
        apart = np.sqrt(np.maximum((each - surrogate[:, None]) ** 2 @ share, 0))
        return np.concatenate([each.mean(axis=1), surrogate, each.std(axis=1), apart])

    rows = kept.row(on.spec, spec, grid, seeds, one).reshape(len(seeds), 4, len(grid))
    return Losses(np.array(grid, dtype=float), *np.moveaxis(rows, 1, 0))


def federated(spec: Mapping[str, Any], on: Watched, grid: Sequence[int], seeds: range, kept: Recorded) -> c.Array:
    """(seeds, T): the loss on the federated problem alone, the mean over the clients."""
    method = build_method(spec)
    names = tuple(f"loss:{i}" for i in range(on.clients))

    def one(seed: int) -> c.Array:
        found = run_sampled(method, on, grid[-1], range(seed, seed + 1), names, list(grid), threads=1)
        return np.mean([found.samples[name][0] for name in names], axis=0)

    return kept.row(on.spec, spec, grid, seeds, one)


def grid_to(rounds: int) -> list[int]:
    """About `POINTS` rounds up to the last, evenly."""
    return sorted({round(v) for v in np.linspace(0, rounds, POINTS)})


def common_heights(groups: Sequence[Sequence[Axes]]) -> None:
    """One range of values for all panels of a group, so that they can be compared."""
    for group in groups:
        low, high = zip(*(ax.get_ylim() for ax in group), strict=True)
        for ax in group:
            ax.set_ylim(min(low), max(high))
            plain_ticks(ax)


def plain_ticks(ax: Axes) -> None:
    """Decimals instead of powers of ten where a logarithmic axis spans few of them."""
    low, high = ax.get_ylim()
    if ax.get_yscale() == "log" and high < 100 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())


def drawn(
    argv: Sequence[str] | None,
    description: str,
    name: str,
    full: Size,
    small: Size,
    compute: Callable[[Size, Recorded], T],
) -> tuple[T, Size, Recorded, Path]:
    """What `compute` finds, at which size, from which record, and the folder for the files.

    The full size is read from the record, and with --full computed where the record lacks it; where it is not there, or
    a size is named, the runs are made here and kept nowhere.
    """
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--data", choices=("digits", "mnist"), help="data set (default digits)")
    parser.add_argument("--seeds", type=int, help=f"runs with seeds of their own (default {len(full.seeds)})")
    parser.add_argument("--rounds", type=int, help=f"aggregations or units of time (default {full.length})")
    parser.add_argument("--full", action="store_true", help="compute what figures/results lacks, and write it there")
    chosen = parser.parse_args(argv)
    if (chosen.seeds is not None and chosen.seeds < 1) or (chosen.rounds is not None and chosen.rounds < 20):
        parser.error("at least 1 seed and 20 rounds are needed.")
    out = files.folder_of(chosen.out, name)
    if (chosen.data, chosen.seeds, chosen.rounds) == (None, None, None):
        kept = Recorded(name, "extend" if chosen.full else "read")
        try:
            return compute(full, kept), full, kept, out
        except NotRecorded:
            pass
    seeds = small.seeds if chosen.seeds is None else range(chosen.seeds)
    size = replace(small, data=chosen.data or small.data, length=chosen.rounds or small.length, seeds=seeds)
    kept = Recorded(name, "off")
    return compute(size, kept), size, kept, out


def scaled(size: Size, full: Size) -> str:
    """What a smaller size leaves out, for a caption."""
    if size == full:
        return ""
    return (
        f"Drawn small: {size.length} instead of {full.length}, {len(size.seeds)} instead of {len(full.seeds)} seeds. "
    )
