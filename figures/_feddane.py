"""What the figures of the FedDANE paper share: devices, methods, the training loss of sampled runs, tuning, drawing.

T. Li et al., "FedDANE: A Federated Newton-Type Method", Section V and Appendix V-G. The synthetic devices are those of
the FedProx code (`boundcheck.problems.synthetic`). What the paper leaves to FedProx is taken from its code: local steps
of 0.01 on batches of 10, epochs in a fresh order, 200 rounds, mu = 1 for FedProx. mu of FedDANE is tuned by the
training loss over the paper's grid; where the best is the grid's largest value, the grid goes on and that run is shown,
too. The paper's size is recorded (`_recorded`); a small one is drawn where a size is named on the command line.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import _common as c
import _files as files
import _findings as fd
import numpy as np
from _recorded import NotRecorded, Recorded
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from boundcheck.core.palette import hue
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import UnknownName
from boundcheck.methods.build import build as build_method
from boundcheck.problems._classifier import Classifier
from boundcheck.problems.build import build as build_problem

GRID = tuple(Fraction(v) for v in ("0", "1/1000", "1/100", "1/10", "1"))  # of mu, Section V-A
BEYOND = (Fraction(10), Fraction(100))  # tried as well, and further while the last is the best of all
MOST = 10**6
PROX = Fraction(1)  # mu of FedProx on synthetic devices
DASHES = ("-", (0, (5, 1.5)), "-", (0, (4, 2)), (0, (1, 1.2)))
DEVICES = 30
LEVEL = 1.02  # losses in the end within this ratio are level
HIGHEST = 1e3  # a loss above this, or one that is not finite, is drawn here


@dataclass(frozen=True)
class Size:
    """How large the runs are. samples: the most of a device (None: as drawn); E epochs; points: recorded, at most;
    tuning: how many of the seeds choose mu.
    """

    samples: int | None
    E: int
    rounds: int
    seeds: int
    points: int = 40
    tuning: int = 3

    @property
    def grid(self) -> list[int]:
        """The rounds that are recorded, the first and the last among them."""
        return sorted({round(v) for v in np.linspace(0, self.rounds, min(self.rounds, self.points) + 1)})


@dataclass(frozen=True)
class Devices:
    """Problem of a panel."""

    title: str
    problem: Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """The training loss of a method: (seeds, recorded rounds). mu: its proximal weight."""

    label: str
    mu: Fraction
    loss: c.Array

    @property
    def ends(self) -> c.Array:
        """By seed: the mean over the last quarter of the recorded rounds; inf where a loss is not finite."""
        return self.loss[:, -max(1, self.loss.shape[1] // 4) :].mean(axis=1)


@dataclass(frozen=True)
class Panel:
    """What was computed for one set of devices. tried: by number of devices a round, mu -> loss in the end."""

    devices: Devices
    rounds: Sequence[int]
    lines: Mapping[str, Line]
    tried: Mapping[str, Mapping[str, float]]


class Measured(Classifier):
    """A classification problem with the training loss as its metric: no minimum has to be found for it."""

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


def four(size: Size) -> list[Devices]:
    """IID, (0, 0), (0.5, 0.5) and (1, 1), in the order of their heterogeneity."""
    cut = {} if size.samples is None else {"max_samples": size.samples}
    common = {"kind": "synthetic", "devices": DEVICES, **cut}
    unequal = [Devices(f"Synthetic ({v}, {v})", {**common, "alpha": v, "beta": v}) for v in ("0", "0.5", "1")]
    return [Devices("Synthetic IID", {**common, "iid": True}), *unequal]


def measured(devices: Devices) -> Measured:
    """The problem."""
    built: Any = build_problem(devices.problem)
    names = ("name", "spec", "features", "labels", "offsets", "weights", "ridge", "loss")
    return Measured(**{name: getattr(built, name) for name in names})


def method(name: str, size: Size, mu: Fraction, K: int | None) -> dict[str, Any]:
    """FedAvg, FedProx or FedDANE with K draws by weight a cohort, or (None) all devices."""
    cohort: dict[str, Any] = {"participation": "full"} if K is None else {"participation": "with_replacement", "K": K}
    steps = {"E": size.E, "eta": "1/100", "batch": 10, "sampling": "reshuffled"}
    if name == "FedDANE":
        return {"kind": "feddane", "mu": str(mu), "solver": steps, **cohort}
    return {"kind": "fedprox", "mu": str(mu), **steps, **cohort}


@dataclass
class Runs:
    """The runs on one set of devices. problem: built when a run is made, not when it is read."""

    devices: Devices
    size: Size
    kept: Recorded
    problem: Measured | None = None

    def losses(self, name: str, mu: Fraction, K: int | None, seeds: int) -> c.Array:
        """The training loss (seeds, recorded rounds)."""
        spec = method(name, self.size, mu, K)

        def one(seed: int) -> c.Array:
            if self.problem is None:
                self.problem = measured(self.devices)
            seeded = range(seed, seed + 1)
            found = run_sampled(
                build_method(spec), self.problem, self.size.rounds, seeded, ("loss",), self.size.grid, threads=1
            )
            return found.samples["loss"][0]

        return self.kept.row(self.devices.problem, spec, self.size.grid, range(seeds), one)

    def line(self, label: str, name: str, mu: Fraction, K: int | None, least: int | None = None) -> Line:
        """A method over all seeds; of a record also over fewer, where `least` of them are enough."""
        seeds = self.size.seeds
        if least is not None and self.kept.mode == "read":
            spec = method(name, self.size, mu, K)
            seeds = max(least, min(seeds, self.kept.complete(self.devices.problem, spec, self.size.grid)))
        return Line(label, mu, self.losses(name, mu, K, seeds))

    def tuned(self, K: int | None) -> tuple[Fraction, Fraction, dict[str, float]]:
        """The mu of least loss in the end over the seeds that choose, on the paper's grid and on the longer one.

        The longer one goes on until the best lies inside it; 0 is the least mu that there is. Raises ValueError where
        it does not up to `MOST`.
        """
        chosen = min(self.size.tuning, self.size.seeds)

        def end(mu: Fraction) -> float:
            return float(Line("", mu, self.losses("FedDANE", mu, K, chosen)).ends.mean())

        tried = {mu: end(mu) for mu in (*GRID, *BEYOND)}
        while (further := min(tried, key=lambda mu: tried[mu])) == max(tried):
            if further >= MOST:
                raise ValueError(f"{self.devices.title}, K = {K}: the best mu lies at the end of the grid, {further}.")
            tried[10 * further] = end(10 * further)
        return min(GRID, key=lambda mu: tried[mu]), further, {str(mu): v for mu, v in tried.items()}


def compared(devices: Devices, size: Size, K: int | None, kept: Recorded) -> Panel:
    """FedAvg, FedProx and FedDANE (tuned) on one set of devices; also with a mu beyond the grid where it is better."""
    runs = Runs(devices, size, kept)
    best, further, tried = runs.tuned(K)
    lines = [
        runs.line("FedAvg", "FedAvg", Fraction(0), K),
        runs.line("FedProx", "FedProx", PROX, K),
        runs.line("FedDANE", "FedDANE", best, K),
    ]
    if further not in GRID:
        lines.append(runs.line("FedDANE beyond", "FedDANE", further, K))
        lines.append(runs.line("FedProx beyond", "FedProx", further, K))
    return Panel(devices, size.grid, {line.label: line for line in lines}, {"all" if K is None else str(K): tried})


def worse(panels: Sequence[Panel], rival: str) -> fd.Decision:
    """Whether FedDANE ends above the rival on all of these sets."""
    return fd.ordered(
        [fd.Comparison(p.devices.title, p.lines[rival].ends, p.lines["FedDANE"].ends) for p in panels],
        (rival, "FedDANE"),
    )


def beyond(panels: Sequence[Panel]) -> list[str]:
    """What a mu beyond the paper's grid does, where it is better than all of the grid."""
    found: list[str] = []
    for p in panels:
        if "FedDANE beyond" in p.lines:
            longer, prox = p.lines["FedDANE beyond"], p.lines["FedProx beyond"]
            others = ", ".join(f"{name} {fd.mean_of(p.lines[name].ends)}" for name in ("FedAvg", "FedProx"))
            found.append(
                f"{p.devices.title}: the best mu of the paper's grid is its largest; with mu = {longer.mu} FedDANE "
                f"ends at "
                f"{fd.mean_of(longer.ends)} ({others}; FedProx with the same mu {fd.mean_of(prox.ends)})."
            )
    return found


def draw(ax: Axes, panel: Panel) -> None:
    """Mean over seeds, and their range as a band, on a logarithmic axis."""
    for k, line in enumerate(line for line in panel.lines.values() if line.label != "FedProx beyond"):
        shown = np.minimum(np.where(np.isfinite(line.loss), line.loss, HIGHEST), HIGHEST)
        colour = hue(k)
        ax.fill_between(panel.rounds, shown.min(0), shown.max(0), color=colour, alpha=0.15, lw=0)
        label = f"{line.label.removesuffix(' beyond')}, mu = {float(line.mu):g}"
        ax.plot(panel.rounds, shown.mean(0), color=colour, lw=1.5, ls=DASHES[k % len(DASHES)], label=label)
    ax.set_yscale("log")
    ax.set_title(panel.devices.title, loc="left", fontsize=9.5)
    ax.set_xlabel("updating round")
    ax.tick_params(axis="y", which="both", labelsize=7.5)
    c.style(ax)


def figure(panels: Sequence[Panel]) -> Figure:
    """The panels side by side, on one range of losses."""
    made, (axes,) = c.canvas(1, len(panels))
    for ax, panel in zip(axes, panels, strict=True):
        draw(ax, panel)
    low, high = (pick(v) for pick, v in zip((min, max), zip(*(ax.get_ylim() for ax in axes), strict=True), strict=True))
    for ax, panel in zip(axes, panels, strict=True):
        ax.set_ylim(low, high * (high / low) ** (0.07 * len(panel.lines)))  # room for the names above the curves
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.legend(frameon=False, fontsize=7.2, loc="upper right")
    axes[0].set_ylabel("training loss")
    top = max(len(panel.lines) for panel in panels)
    for ax in axes:
        ax.set_ylim(low, high * (high / low) ** (0.07 * top))
    return made


def at_size(size: Size, paper: Size, kept: Recorded) -> str:
    """Seeds, bands, tuning and what was made smaller than in the paper, for a caption."""
    changed: list[str] = []
    if size.samples != paper.samples:
        changed.append(f"at most {size.samples} samples a device (test set included) instead of all of them")
    if size.rounds != paper.rounds:
        changed.append(f"{size.rounds} rounds instead of {paper.rounds}")
    epochs = "one epoch" if size.E == 1 else f"{size.E} epochs"
    seeds = "one seed" if size.seeds == 1 else f"mean (lines) and range (bands) over {size.seeds} seeds"
    scaled = f"Scaled down: {', '.join(changed)}, which may change an order. " if changed else ""
    first = min(size.tuning, size.seeds)
    return (
        f"{epochs.capitalize()} of SGD, local steps of 0.01, batches of 10; {seeds}. {scaled}mu of FedDANE is the "
        f"best of the "
        f"paper's grid (0 to 1) by the loss in the end of the first {'seed' if first == 1 else f'{first} seeds'}. "
        f"{kept.words()}"
    )


END = "'In the end' is the mean over the last quarter of the rounds."


def facts(title: str, panels: Sequence[Panel], size: Size, **more: Any) -> dict[str, Any]:
    """What every figure records."""
    return {
        "schema": 1,
        "title": title,
        "E": size.E,
        "rounds": size.rounds,
        "seeds": size.seeds,
        "samples": size.samples,
        "ends": {p.devices.title: {n: [_plain(v) for v in x.ends] for n, x in p.lines.items()} for p in panels},
        "mu": {p.devices.title: {name: str(line.mu) for name, line in p.lines.items()} for p in panels},
        "tried": {
            p.devices.title: {K: {m: _plain(v) for m, v in t.items()} for K, t in p.tried.items()} for p in panels
        },
        **more,
    }


def _plain(value: float) -> float | str:
    return float(value) if np.isfinite(value) else "inf"


def drawn(
    argv: Sequence[str] | None,
    doc: str,
    name: str,
    paper: Size,
    quick: Size,
    compute: Callable[[Size, Recorded], list[Panel]],
) -> tuple[list[Panel], Size, Recorded, Path]:
    """What `compute` finds, at which size, from which record, and the folder for the files of the figure."""
    parser = argparse.ArgumentParser(description=doc.split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--full", action="store_true", help="compute what figures/results lacks, and write it there")
    parser.add_argument("--rounds", type=int, help=f"rounds (default {paper.rounds})")
    parser.add_argument("--seeds", type=int, help=f"sampled runs (default {paper.seeds})")
    parser.add_argument("--samples", type=int, help="the most samples of a device (default: as drawn)")
    chosen = parser.parse_args(argv)
    given = {k: v for k, v in vars(chosen).items() if k in ("rounds", "seeds", "samples") and v is not None}
    if any(v < 2 for k, v in given.items() if k != "seeds") or given.get("seeds", 1) < 1:
        parser.error("at least 2 rounds, 2 samples and 1 seed are needed.")
    out = files.folder_of(chosen.out, name)
    if not given:
        kept = Recorded(name, "extend" if chosen.full else "read")
        try:
            return compute(paper, kept), paper, kept, out
        except NotRecorded:
            pass
    size, kept = replace(quick, **given), Recorded(name, "off")
    return compute(size, kept), size, kept, out
