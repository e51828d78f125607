"""What the figures of the FedDANE paper share: devices, methods, the training loss of sampled runs, drawing, judging.

T. Li et al., "FedDANE: A Federated Newton-Type Method", Section V and Appendix V-G. The synthetic devices are those of
the FedProx code (`boundcheck.problems.synthetic`). What the paper leaves to FedProx is taken from its code: local steps
of 0.01 on batches of 10, epochs in a fresh order, mu = 1 for FedProx on synthetic devices. mu of FedDANE is tuned by
the training loss over the paper's grid. The size at which `make report` draws is smaller than the paper's; --full takes
the paper's own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import _common as c
import _files as files
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from boundcheck.engines.sampled import run_sampled
from boundcheck.errors import UnknownName
from boundcheck.methods.build import build as build_method
from boundcheck.problems._classifier import Classifier
from boundcheck.problems.build import build as build_problem

GRID = ("0", "1/1000", "1/100", "1/10", "1")  # of mu, Section V-A
COLOURS = ("#1d67a8", "#2e9d4f", "#d1502f", "#7b45c3", "#c9a000")
DEVICES = 30
CLEARLY = 1.02  # a loss is called larger from this ratio on
HIGHEST = 1e3  # a loss above this, or one that is not finite, is drawn here


@dataclass(frozen=True)
class Size:
    """How large the runs are. samples: the most of a device (None: as drawn); E epochs; points: recorded, at most."""

    samples: int | None
    E: int
    rounds: int
    seeds: int
    points: int = 40

    @property
    def grid(self) -> list[int]:
        """The rounds that are recorded, the first and the last among them."""
        return sorted({round(v) for v in np.linspace(0, self.rounds, min(self.rounds, self.points) + 1)})

    def words(self) -> str:
        """For a caption."""
        cut = "sizes as drawn" if self.samples is None else f"at most {self.samples} samples a device"
        seeds = "1 seed" if self.seeds == 1 else f"{self.seeds} seeds"
        return f"E = {self.E}, {self.rounds} rounds, {seeds}, {cut}"


@dataclass(frozen=True)
class Devices:
    """Problem of a panel; eta: the local step size."""

    title: str
    problem: Mapping[str, Any]
    eta: str = "1/100"


@dataclass(frozen=True)
class Line:
    """The training loss of a method: (seeds, recorded rounds). mu: its proximal weight."""

    label: str
    mu: str
    loss: c.Array

    @property
    def end(self) -> float:
        """Mean over seeds and the last quarter of the recorded rounds; inf where some loss is not finite."""
        return float(self.loss[:, -max(1, self.loss.shape[1] // 4) :].mean())


@dataclass(frozen=True)
class Panel:
    """What was computed for one set of devices."""

    devices: Devices
    rounds: Sequence[int]
    lines: Sequence[Line]

    def ends(self) -> dict[str, float]:
        """Label -> loss in the end."""
        return {line.label: line.end for line in self.lines}


class Measured(Classifier):
    """A classification problem with the training loss as its metric: no minimum has to be found for it."""

    @cached_property
    def known(self) -> dict[str, c.Array]:
        """What `losses` found on this problem, by method and size: the losses of the first seeds."""
        return {}

    @property
    def metrics(self) -> tuple[str, ...]:
        """The loss alone."""
        return ("loss",)

    def metric_many(self, name: str, points: c.Array) -> c.Array:
        """F at each row of points."""
        if name != "loss":
            raise UnknownName("the metric", name, self.metrics)
        found: dict[bytes, float] = {}  # the engine fills blocks up with copies of their last point
        for x in points:
            if x.tobytes() not in found:
                found[x.tobytes()] = self.objective.value(x)
        return np.array([found[x.tobytes()] for x in points])


def synthetic(title: str, size: Size, **more: Any) -> Devices:
    """Synthetic devices of the paper."""
    cut = {} if size.samples is None else {"max_samples": size.samples}
    return Devices(title, {"kind": "synthetic", "devices": DEVICES, **more, **cut})


def four(size: Size) -> list[Devices]:
    """IID, (0, 0), (0.5, 0.5) and (1, 1), in the order of their heterogeneity."""
    unequal = [synthetic(f"Synthetic ({v}, {v})", size, alpha=v, beta=v) for v in ("0", "0.5", "1")]
    return [synthetic("Synthetic IID", size, iid=True), *unequal]


def measured(devices: Devices) -> Measured:
    """The problem. Raises DataNotFetched where its data are not on this machine."""
    built: Any = build_problem(devices.problem)
    names = ("name", "spec", "features", "labels", "offsets", "weights", "ridge", "loss")
    return Measured(**{name: getattr(built, name) for name in names})


def method(name: str, devices: Devices, size: Size, mu: str, K: int | None) -> dict[str, Any]:
    """FedAvg, FedProx or FedDANE with K draws by weight a cohort, or (None) all devices."""
    cohort: dict[str, Any] = {"participation": "full"} if K is None else {"participation": "with_replacement", "K": K}
    steps = {"E": size.E, "eta": devices.eta, "batch": 10, "sampling": "reshuffled"}
    if name == "FedDANE":
        return {"kind": "feddane", "mu": mu, "solver": steps, **cohort}
    return {"kind": "fedprox", "mu": "0" if name == "FedAvg" else mu, **steps, **cohort}


def losses(spec: Mapping[str, Any], problem: Measured, size: Size, seeds: int) -> c.Array:
    """The training loss (seeds, recorded rounds), inf where it is not finite."""
    key = json.dumps([spec, size.rounds, size.grid])
    known = problem.known.get(key, np.empty((0, len(size.grid))))
    if len(known) < seeds:  # a seed's losses are the same, whoever runs beside it
        more = range(len(known), seeds)
        curve = run_sampled(build_method(spec), problem, size.rounds, more, ("loss",), size.grid)
        known = problem.known[key] = np.concatenate([known, curve.samples["loss"]])
    return known[:seeds]


def tuned(devices: Devices, problem: Measured, size: Size, K: int | None) -> str:
    """The mu of the grid with which FedDANE's first seed has the least loss in the end."""
    ends = {mu: Line("", mu, losses(method("FedDANE", devices, size, mu, K), problem, size, 1)).end for mu in GRID}
    return min(GRID, key=lambda mu: ends[mu])


def compared(devices: Devices, size: Size, K: int | None, prox: str = "1") -> Panel:
    """FedAvg, FedProx (with mu = prox) and FedDANE (tuned) on one set of devices."""
    problem = measured(devices)
    weights = {"FedAvg": "0", "FedProx": prox, "FedDANE": tuned(devices, problem, size, K)}
    lines = [
        Line(name, mu, losses(method(name, devices, size, mu, K), problem, size, size.seeds))
        for name, mu in weights.items()
    ]
    return Panel(devices, size.grid, lines)


def draw(ax: Axes, panel: Panel) -> None:
    """Mean over seeds, and their range as a band, on a logarithmic axis."""
    for k, line in enumerate(panel.lines):
        shown = np.minimum(np.where(np.isfinite(line.loss), line.loss, HIGHEST), HIGHEST)
        colour = COLOURS[k % len(COLOURS)]
        ax.fill_between(panel.rounds, shown.min(0), shown.max(0), color=colour, alpha=0.15, lw=0)
        ax.plot(panel.rounds, shown.mean(0), color=colour, lw=1.6, label=f"{line.label}, mu = {_decimal(line.mu)}")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** (0.07 * len(panel.lines)))  # room for the names above the curves
    ax.set_title(panel.devices.title, loc="left", fontsize=9.5)
    ax.set_xlabel("updating round")
    ax.legend(frameon=False, fontsize=7.2, loc="upper right")
    ax.tick_params(axis="y", which="both", labelsize=7.5)
    c.style(ax)


def _decimal(mu: str) -> str:
    top, _, bottom = mu.partition("/")
    return f"{int(top) / int(bottom or 1):g}"


def figure(panels: Sequence[Panel]) -> Figure:
    """The panels side by side."""
    made = Figure(figsize=(12, c.PANELS))
    FigureCanvasAgg(made)
    axes = made.subplots(1, len(panels), squeeze=False)[0]
    for ax, panel in zip(axes, panels, strict=True):
        draw(ax, panel)
    axes[0].set_ylabel("training loss")
    return made


def larger(first: float, second: float) -> bool:
    """Whether a loss is clearly larger than another."""
    return not np.isfinite(first) or first > CLEARLY * second


def listed(ends: Mapping[str, float]) -> str:
    """Losses in words, from the least."""
    order = sorted(ends, key=lambda name: ends[name])
    return ", ".join(f"{name} {ends[name]:.3g}" for name in order)


def judge_worst(panel: Panel, agrees: list[str], differs: list[str]) -> None:
    """Whether FedDANE ends clearly above both others, as a sentence in the right list."""
    ends = panel.ends()
    worst = all(larger(ends["FedDANE"], ends[other]) for other in ("FedAvg", "FedProx"))
    (agrees if worst else differs).append(
        f"{panel.devices.title}: loss in the end {listed(ends)}; FedDANE is {'' if worst else 'not '}worse than both."
    )


def at_size(size: Size, paper: Size) -> str:
    """What was made smaller than in the paper, for a caption."""
    changed: list[str] = []
    if size.samples != paper.samples:
        changed.append(f"at most {size.samples} samples a device (test set included) instead of all of them")
    if size.E != paper.E:
        changed.append(f"{size.E} epochs instead of {paper.E}")
    if size.rounds != paper.rounds:
        changed.append(f"{size.rounds} rounds instead of {paper.rounds}")
    seeds = "one seed" if size.seeds == 1 else f"mean and range over {size.seeds} seeds"
    scaled = (
        f"Scaled down for speed: {', '.join(changed)}; --full takes the paper's size. Fewer local steps and rounds may "
        "change an order. "
    )
    epochs = "one epoch" if size.E == 1 else f"{size.E} epochs"
    return f"E: {epochs} of SGD, batches of 10; {seeds}. {scaled if changed else ''}"


TUNED = "mu of FedDANE is the best of the paper's grid by the loss of one seed in the end; FedProx has mu = 1. "
END = "'In the end' is the mean over the last quarter of the rounds; 'worse' means by 2 % at least."


def facts(title: str, panels: Sequence[Panel], size: Size, **more: Any) -> dict[str, Any]:
    """What every figure records."""
    return {
        "schema": 1,
        "title": title,
        "E": size.E,
        "rounds": size.rounds,
        "seeds": size.seeds,
        "samples": size.samples,
        "ends": {p.devices.title: {k: v if np.isfinite(v) else "inf" for k, v in p.ends().items()} for p in panels},
        "mu": {p.devices.title: {line.label: line.mu for line in p.lines} for p in panels},
        **more,
    }


def size_from(doc: str, quick: Size, paper: Size, argv: Sequence[str] | None, name: str) -> tuple[Size, Path]:
    """The size that is asked for on the command line, and the folder for the files of the figure of that name."""
    parser = argparse.ArgumentParser(description=doc.split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--full", action="store_true", help=f"the paper's size ({paper.words()}); hours")
    parser.add_argument("--rounds", type=int, help=f"rounds (default {quick.rounds})")
    parser.add_argument("--seeds", type=int, help=f"sampled runs (default {quick.seeds})")
    parser.add_argument("--samples", type=int, help=f"the most samples of a device (default {quick.samples})")
    chosen = parser.parse_args(argv)
    size = paper if chosen.full else quick
    given = {k: v for k, v in vars(chosen).items() if k in ("rounds", "seeds", "samples") and v is not None}
    if any(v < 2 for k, v in given.items() if k != "seeds") or given.get("seeds", 1) < 1:
        parser.error("at least 2 rounds, 2 samples and 1 seed are needed.")
    return replace(size, **given), files.folder_of(chosen.out, name)


def each(devices: Iterable[Devices], of: Callable[[Devices], Panel]) -> list[Panel]:
    """The panels, one after the other."""
    return [of(one) for one in devices]
