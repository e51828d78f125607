"""What the figures of the FedDANE paper share: devices, methods, the training loss of sampled runs, tuning, drawing.

T. Li et al., "FedDANE: A Federated Newton-Type Method", Section V and Appendix V-G. The synthetic devices are those of
the FedProx code (`boundcheck.problems.synthetic`). What the paper leaves to FedProx is taken from its code: local steps
of 0.01 on batches of 10, epochs in a fresh order, 200 rounds, mu = 1 for FedProx. mu of FedDANE is tuned by the
training loss over the paper's grid; where the best is the grid's largest value, the grid goes on and that run is shown,
too. The paper's size is recorded (`_recorded`); a small one is drawn where a size is named on the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import _findings as fd
import _recorded as rec
import _study as s
import numpy as np

from boundcheck.evidence.studies.study import Study
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem

GRID = tuple(map(Fraction, ("0", "1/1000", "1/100", "1/10", "1")))  # of mu, Section V-A
BEYOND = (Fraction(10), Fraction(100))  # tried as well, and further while the last is the best of all
PROX = Fraction(1)  # mu of FedProx on synthetic devices
DEVICES = 30
POINTS = 41  # recorded rounds, at most
LEVEL = 1.02  # losses in the end within this ratio are level
HIGHEST = 1e3  # a loss above this, or one that is not finite, is drawn here
END = "'In the end' is the mean over the last quarter of the rounds."


@dataclass(frozen=True)
class Size:
    """How large the runs are. samples: the most of a device (None: as drawn); E epochs; tuning: how many of the seeds
    choose mu.
    """

    samples: int | None
    E: int
    rounds: int
    seeds: int
    tuning: int = 3

    @property
    def grid(self) -> list[int]:
        """The rounds that are recorded, the first and the last among them."""
        return rec.evenly(self.rounds, POINTS)


@dataclass(frozen=True)
class Line:
    """The training loss of a method: (seeds, recorded rounds). mu: its proximal weight."""

    mu: Fraction
    loss: rec.Array

    @property
    def ends(self) -> rec.Array:
        """By seed: the mean over the last quarter of the recorded rounds; inf where a loss is not finite."""
        return self.loss[:, -max(1, self.loss.shape[1] // 4) :].mean(axis=1)


@dataclass(frozen=True)
class Devices:
    """What was computed for one set of devices. tried: by number of devices a round, mu -> loss in the end."""

    title: str
    lines: Mapping[str, Line]
    tried: Mapping[str, Mapping[str, float]]


def four(samples: int | None = None) -> dict[str, dict[str, Any]]:
    """IID, (0, 0), (0.5, 0.5) and (1, 1), in the order of their heterogeneity, by title."""
    common = {"kind": "synthetic", "devices": DEVICES, **({} if samples is None else {"max_samples": samples})}
    unequal = {f"Synthetic ({v}, {v})": {**common, "alpha": v, "beta": v} for v in ("0", "0.5", "1")}
    return {"Synthetic IID": {**common, "iid": True}, **unequal}


def method(name: str, E: int, mu: Fraction, K: int | None) -> dict[str, Any]:
    """FedAvg, FedProx or FedDANE with K draws by weight a cohort, or (None) all devices."""
    cohort: dict[str, Any] = {"participation": "full"} if K is None else {"participation": "with_replacement", "K": K}
    steps = {"E": E, "eta": "1/100", "batch": 10, "sampling": "reshuffled"}
    if name == "FedDANE":
        return {"kind": "feddane", "mu": str(mu), "solver": steps, **cohort}
    return {"kind": "fedprox", "mu": str(mu), **steps, **cohort}


@dataclass
class Runs:
    """The runs on one set of devices."""

    devices: Mapping[str, Any]
    size: Size
    kept: rec.Recorded

    @cached_property
    def problem(self) -> Problem:
        """Built when a run is made, not when it is read."""
        return build_problem(self.devices)

    def losses(self, name: str, mu: Fraction, K: int | None, seeds: int) -> rec.Array:
        """The training loss (seeds, recorded rounds)."""
        spec, grid = method(name, self.size.E, mu, K), self.size.grid

        def one(seed: int) -> rec.Array:
            return rec.losses(spec, self.problem, grid, seed, tuple(self.problem.weights))["f"]

        return self.kept.row(self.devices, spec, grid, range(seeds), one)

    def line(self, name: str, mu: Fraction, K: int | None, least: int | None = None) -> Line:
        """A method over all seeds; of a record also over fewer, where `least` of them are enough."""
        seeds = self.size.seeds
        if least is not None and self.kept.mode == "read":
            there = self.kept.complete(self.devices, method(name, self.size.E, mu, K), self.size.grid)
            seeds = max(least, min(seeds, there))
        return Line(mu, self.losses(name, mu, K, seeds))

    def tuned(self, K: int | None) -> tuple[Fraction, Fraction, dict[str, float]]:
        """The mu of least loss in the end over the seeds that choose, on the paper's grid and on the longer one."""
        chosen = min(self.size.tuning, self.size.seeds)
        further, tried = rec.tuned(
            (*GRID, *BEYOND), lambda mu: float(Line(mu, self.losses("FedDANE", mu, K, chosen)).ends.mean()), 2
        )
        return min(GRID, key=lambda mu: tried[str(mu)]), further, tried


def compared(size: Size, kept: rec.Recorded, K: int | None) -> list[Devices]:
    """FedAvg, FedProx and FedDANE (tuned) on the four sets; also with a mu beyond the grid where it is better."""
    found: list[Devices] = []
    for title, devices in four(size.samples).items():
        runs = Runs(devices, size, kept)
        best, further, tried = runs.tuned(K)
        wanted = {"FedAvg": Fraction(0), "FedProx": PROX, "FedDANE": best}
        wanted |= {} if further in GRID else {"FedDANE beyond": further, "FedProx beyond": further}
        lines = {label: runs.line(label.removesuffix(" beyond"), mu, K) for label, mu in wanted.items()}
        found.append(Devices(title, lines, {"all" if K is None else str(K): tried}))
    return found


def worse(sets: Sequence[Devices], rival: str) -> fd.Decision:
    """Whether FedDANE ends above the rival on all of these sets."""
    pairs = [fd.Comparison(d.title, d.lines[rival].ends, d.lines["FedDANE"].ends) for d in sets]
    return fd.ordered(pairs, (rival, "FedDANE"))


def beyond(sets: Sequence[Devices]) -> list[str]:
    """What a mu beyond the paper's grid does, where it is better than all of the grid."""
    found: list[str] = []
    for d in sets:
        if "FedDANE beyond" in d.lines:
            ends = {name: fd.mean_of(line.ends) for name, line in d.lines.items()}
            found.append(
                f"{d.title}: the best mu of the paper's grid is its largest; with mu = {d.lines['FedDANE beyond'].mu} "
                f"FedDANE ends at {ends['FedDANE beyond']} (FedAvg {ends['FedAvg']}, FedProx {ends['FedProx']}; "
                f"FedProx with the same mu {ends['FedProx beyond']})."
            )
    return found


def made_at(size: Size, paper: Size, kept: rec.Recorded) -> str:
    """Seeds, bands, tuning and what was made smaller than in the paper, for a caption."""
    changed: list[str] = []
    if size.samples != paper.samples:
        changed.append(f"at most {size.samples} samples a device (test set included) instead of all of them")
    if size.rounds != paper.rounds:
        changed.append(f"{size.rounds} rounds instead of {paper.rounds}")
    epochs = "One epoch" if size.E == 1 else f"{size.E} epochs"
    seeds = "one seed" if size.seeds == 1 else f"mean (lines) and range (bands) over {size.seeds} seeds"
    scaled = f"Scaled down: {', '.join(changed)}, which may change an order. " if changed else ""
    first = min(size.tuning, size.seeds)
    return (
        f"{epochs} of SGD, local steps of 0.01, batches of 10; {seeds}. {scaled}mu of FedDANE is the best of the "
        f"paper's grid (0 to 1) by the loss in the end of the first {'seed' if first == 1 else f'{first} seeds'}. "
        f"Above a panel stands mu of its curves in the order of the legend, without FedAvg (mu = 0). {kept.words()}"
    )


def study(
    title: str, caption: str, notes: Sequence[str], sets: Sequence[Devices], size: Size, drawn: Mapping[str, str]
) -> Study:
    """A panel for each set of devices. drawn: the labels that the picture has for lines, the others being left out."""

    def plain(values: rec.Array) -> list[float | str]:
        return [float(v) if np.isfinite(v) else "inf" for v in values]

    shown: list[tuple[str, str, Mapping[str, s.Curve]]] = []
    for d in sets:
        named = {label: d.lines[name] for name, label in drawn.items() if name in d.lines}
        mus = ", ".join(f"{float(line.mu):g}" for label, line in named.items() if label != "FedAvg")
        curves = {n: (size.grid, np.minimum(np.nan_to_num(x.loss, nan=HIGHEST), HIGHEST)) for n, x in named.items()}
        shown.append((f"{d.title}, mu = {mus}", "training loss", curves))
    return s.study(
        title,
        caption,
        notes,
        **s.panels("updating round", shown),
        data={
            "E": size.E,
            "rounds": size.rounds,
            "seeds": size.seeds,
            "samples": size.samples,
            "ends": {d.title: {name: plain(line.ends) for name, line in d.lines.items()} for d in sets},
            "mu": {d.title: {name: str(line.mu) for name, line in d.lines.items()} for d in sets},
            "tried": {
                d.title: {
                    K: dict(zip(own, plain(np.array([*own.values()])), strict=True)) for K, own in d.tried.items()
                }
                for d in sets
            },
        },
    )


METHODS = {"FedAvg": "FedAvg", "FedProx": "FedProx", "FedDANE": "FedDANE", "FedDANE beyond": "FedDANE, larger mu"}
