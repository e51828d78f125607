"""Figure 2 of FedDANE: what few devices a round do to its training loss.

Run: python figures/feddane_figure_2.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Sequence

import _common as c
import _feddane as f
import _files as files

NAME = "feddane_figure_2"
QUICK, PAPER = f.Size(samples=300, E=20, rounds=10, seeds=1), f.Size(samples=None, E=20, rounds=200, seeds=5)
COHORTS = (1, 5, 10, 30)
TUNED_AT = 10


def panel(devices: f.Devices, size: f.Size) -> f.Panel:
    """FedDANE with each number of devices; 30 are all of them."""
    problem = f.measured(devices)
    mu = f.tuned(devices, problem, size, TUNED_AT)
    lines: list[f.Line] = []
    for K in COHORTS:
        spec = f.method("FedDANE", devices, size, mu, None if K == f.DEVICES else K)
        lines.append(f.Line(f"K = {K}", mu, f.losses(spec, problem, size, size.seeds)))
    return f.Panel(devices, size.grid, lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    size, out = f.size_from(str(__doc__), QUICK, PAPER, argv, NAME)
    panels = f.each(f.four(size)[1:], lambda devices: panel(devices, size))
    agrees: list[str] = []
    differs: list[str] = []
    for one in panels:
        ends = one.ends()
        hurts = f.larger(ends["K = 1"], ends["K = 10"])
        (agrees if hurts else differs).append(
            f"{one.devices.title}: loss in the end {f.listed(ends)}; "
            f"one device a round does {'' if hurts else 'not '}hurt."
        )
    apart = panels[1]
    start, end = float(apart.lines[0].loss[:, 0].mean()), apart.ends()["K = 30"]
    rescued = f.larger(start, end)
    (differs if rescued else agrees).append(
        f"{apart.devices.title}: with all devices the loss in the end is {end:.3g}, "
        f"{'' if rescued else 'not '}below the {start:.3g} of the start; the paper finds that full participation does "
        "not help there."
    )
    found = f.facts("FedDANE with few devices a round (Figure 2 of the FedDANE paper)", panels, size)
    found |= {"agrees": agrees, "differs": differs}
    found["caption"] = (
        "Training loss of FedDANE by updating round, K of 30 devices in each of its two sets, sampled engine, local "
        f"steps of 0.01. {f.at_size(size, PAPER)}mu is the best of the paper's grid by the loss of one seed in the end "
        f"at K = {TUNED_AT}. K devices are draws by weight; K = 30 is every device once, with the plain means of "
        f"Algorithm 2. {f.END}"
    )
    for path in c.save(f.figure(panels), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
