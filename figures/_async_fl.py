"""What the figures of the asynchronous paper share: softmax regression, its losses on two problems and over clients.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Section 5: p_i = 1/M, eta_g = 1, batches of 64. Here the model is convex (softmax
regression without a penalty worth the name) and the data are MNIST, where it is on this machine and asked for, or the
handwritten digits; "by Dirichlet(0.1)" is the paper's MNIST-shard. A client with fewer samples than a batch has bounds
the batch for all.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import _common as c
import _files as files
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from boundcheck.engines.sampled import run_sampled
from boundcheck.methods.build import build as build_method
from boundcheck.problems._classifier import Classifier
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting.expected_weights import expected_weights

SEEDS = 3
SPLITS: Mapping[str, Mapping[str, Any]] = {
    "random": {"split": "random"},
    "by Dirichlet(0.1)": {"split": "dirichlet", "alpha": "1/10"},
}
COLOURS = {"identical": "#d1502f", "time-based": "#1d67a8", "synchronous": "#4a4f57", "FedFix-0.5": "#2e9d4f"}
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
    """Losses of the clients along a run: rounds (T,), each (seeds, T, M); shares: q_i over their sum."""

    rounds: c.Array
    each: c.Array
    shares: tuple[Fraction, ...]

    @property
    def federated(self) -> c.Array:
        """(seeds, T): the mean over the clients."""
        return self.each.mean(axis=2)

    def under(self, shares: Sequence[Fraction]) -> c.Array:
        """(seeds, T): the clients weighed otherwise, as in the surrogate problem of a method."""
        return self.each @ np.array([float(s) for s in shares])

    @property
    def spread(self) -> c.Array:
        """(seeds, T): standard deviation over the clients."""
        return self.each.std(axis=2)


def problem(data: str, clients: int, split: str) -> Watched:
    """Softmax regression on the data, split among the clients, all of the same importance."""
    spec = {"kind": "softmax_regression", "data": data, "clients": clients, "seed": 0, "features": "unit"}
    found = build_problem({**spec, **SPLITS[split], "weights": "equal", "ridge": "1/10000"})
    assert isinstance(found, Classifier)
    return Watched.of(found)


def batch(on: Watched) -> int:
    """64, or as many samples as the smallest client has."""
    return min(64, *on.sizes)


def losses(spec: Mapping[str, Any], on: Watched, grid: Sequence[int], seeds: int) -> Losses:
    """The clients' losses along runs of a method."""
    method = build_method(spec)
    names = tuple(f"loss:{i}" for i in range(on.clients))
    found = run_sampled(method, on, grid[-1], seeds, names, list(grid))
    expected = expected_weights(method, clients_of(on))
    assert expected is not None
    total = sum(expected.mean.values(), Fraction(0))
    shares = tuple(expected.mean.get(i, Fraction(0)) / total for i in range(on.clients))
    return Losses(np.array(grid, dtype=float), np.stack([found.samples[name] for name in names], axis=2), shares)


def grid_to(rounds: int) -> list[int]:
    """About `POINTS` rounds up to the last, evenly."""
    return sorted({round(v) for v in np.linspace(0, rounds, POINTS)})


def canvas(rows: int, columns: int) -> tuple[Figure, Any]:
    """A figure and its axes (rows, columns)."""
    made = Figure(figsize=(12, c.PANELS))
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns, squeeze=False)


def plain_ticks(ax: Axes) -> None:
    """Decimals instead of powers of ten where a logarithmic axis spans few of them."""
    low, high = ax.get_ylim()
    if ax.get_yscale() == "log" and high < 100 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())


def options(description: str, argv: Sequence[str] | None, rounds: int, full: int, name: str) -> argparse.Namespace:
    """Folder, data, seeds and rounds; --full: as many rounds as the paper, 5 seeds and MNIST."""
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--data", choices=("digits", "mnist"), default="digits", help="data set (default digits)")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"runs with seeds of their own (default {SEEDS})")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"rounds or units of time (default {rounds})")
    parser.add_argument("--full", action="store_true", help=f"MNIST, 5 seeds and {full} rounds or units of time")
    chosen = parser.parse_args(argv)
    if chosen.full:
        chosen.data, chosen.seeds, chosen.rounds = "mnist", 5, full
    if chosen.seeds < 1 or chosen.rounds < 20:
        parser.error("at least 1 seed and 20 rounds are needed.")
    chosen.out = files.folder_of(chosen.out, name)
    return chosen


def put(holds: bool, sentence: str, agrees: list[str], differs: list[str]) -> None:
    """The sentence into the list where it belongs."""
    (agrees if holds else differs).append(sentence)
