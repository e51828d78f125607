"""Figure 2 of FedDANE: what few devices a round do to its training loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import _feddane as f
import _findings as fd
import _recorded as rec
import _study as s

NAME = "feddane_figure_2"
PAPER = f.Size(samples=None, E=20, rounds=200, seeds=10, tuning=1)
QUICK = f.Size(samples=200, E=20, rounds=10, seeds=1)
COHORTS = (1, 5, 10, 30)
TUNED, LEAST = 10, 2  # the number of devices without which there is no figure; the fewest seeds of a line


def compute(size: f.Size, kept: rec.Recorded) -> list[f.Devices]:
    """FedDANE with each number of devices, mu tuned for each; 30 are all of them.

    A record may lack some numbers of devices, or some seeds of them; at least two seeds of ten devices are needed.
    """
    found: list[f.Devices] = []
    for title, devices in list(f.four(size.samples).items())[1:]:
        runs, lines, tried = f.Runs(devices, size, kept), dict[str, f.Line](), dict[str, Mapping[str, float]]()
        for K in COHORTS:
            cohort = None if K == f.DEVICES else K
            try:
                mu, further, tried[str(K)] = runs.tuned(cohort)
                lines[f"K = {K}"] = runs.line("FedDANE", mu, cohort, LEAST)
                if further not in f.GRID:  # not drawn: the notes have its end
                    lines[f"K = {K}, beyond"] = runs.line("FedDANE", further, cohort, LEAST)
            except rec.NotRecorded:
                if K == TUNED:
                    raise
        found.append(f.Devices(title, lines, tried))
    return found


def compared(sets: Sequence[f.Devices], smaller: int, larger: int, factor: float = 1.0) -> fd.Decision:
    """The losses in the end of two numbers of devices, on the seeds that both have; undecided where one has none."""
    names = tuple(f"{K} device{'s' if K > 1 else ''}" for K in (smaller, larger))
    pairs: list[fd.Comparison] = []
    for d in (d for d in sets if {f"K = {smaller}", f"K = {larger}"} <= set(d.lines)):
        first, second = (d.lines[f"K = {K}"].ends for K in (smaller, larger))
        both = min(len(first), len(second))
        pairs.append(fd.Comparison(d.title, first[:both], second[:both]))
    summary = fd.ordered(pairs, (names[0], names[1])).statistic
    lacking = [d.title for d in sets if d.title not in [pair.label for pair in pairs]]
    if lacking:
        return fd.Decision(fd.UNDECIDED, f"{summary}; not run: {', '.join(lacking)}".removeprefix("; "))
    words = fd.decided([fd.Comparison("", pair.smaller, pair.larger, factor) for pair in pairs])
    return fd.Decision(fd.together(words), summary)


def findings(sets: Sequence[f.Devices]) -> dict[str, fd.Decision]:
    """The paper's findings on the loss in the end, seed by seed."""
    helps = compared(sets[1:], 10, 30, 1 / f.LEVEL)
    return {
        "low_hurts": compared(sets, 10, 1),
        "all_no_help": fd.Decision(helps.word, f"{helps.statistic}; lower by {f.LEVEL - 1:.0%} would be help"),
    }


def lacking(sets: Sequence[f.Devices]) -> str:
    """How many seeds each number of devices has, where they differ, for the caption."""
    seeds = {f"{d.title}, {name}": len(line.loss) for d in sets for name, line in d.lines.items()}
    absent = [f"{d.title}, K = {K}" for d in sets for K in COHORTS if f"K = {K}" not in d.lines]
    most = max(seeds.values())
    fewer = [f"{name}: {n}" for name, n in seeds.items() if n < most]
    summary = f"Fewer seeds than {most}: {', '.join(fewer)}. " if fewer else ""
    return summary + (f"Not run yet (--full runs them): {', '.join(absent)}. " if absent else "")


def make(full: bool = False, rounds: int | None = None, seeds: int | None = None, samples: int | None = None) -> s.Made:
    """The figure."""
    given = {"rounds": rounds, "seeds": seeds, "samples": samples}
    sets, size, kept = rec.computed(NAME, compute, PAPER, QUICK, full, **given)
    notes: list[str] = []
    for d in sets:
        further = {K: d.lines[f"K = {K}, beyond"] for K in COHORTS if f"K = {K}, beyond" in d.lines}
        ends = ", ".join(f"K = {K} and mu = {line.mu} {fd.mean_of(line.ends)}" for K, line in further.items())
        notes += [f"{d.title}, with mu beyond the paper's grid: {ends}."] if further else []
    caption = (
        "Training loss of FedDANE by updating round, K of 30 devices in each of its two sets, sampled engine. "
        f"{f.made_at(size, PAPER, kept)}{lacking(sets)}mu is tuned for each K. K devices are draws by weight; K = 30 "
        f"is every device once, with the plain means of Algorithm 2. {f.END} The panels share their axes."
    )
    title = "FedDANE with few devices a round (Figure 2 of the FedDANE paper)"
    drawn = {f"K = {K}": f"K = {K}" for K in COHORTS}
    return s.Made(f.study(title, caption, notes, sets, size, drawn), findings(sets))


main = s.script(make, rounds=2, seeds=1, samples=2)

if __name__ == "__main__":
    s.start(main)
