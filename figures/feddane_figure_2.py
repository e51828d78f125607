"""Figure 2 of FedDANE: what few devices a round do to its training loss.

Run: python figures/feddane_figure_2.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Sequence

import _common as c
import _feddane as f

NAME = "feddane_figure_2"
QUICK, PAPER = f.Size(samples=150, E=5, rounds=30, seeds=2), f.Size(samples=None, E=20, rounds=200, seeds=5)
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
    size, out = f.size_from(str(__doc__), QUICK, PAPER, argv)
    panels = f.each(f.four(size)[1:], lambda devices: panel(devices, size))
    agrees: list[str] = []
    differs: list[str] = []
    for one in panels:
        ends = one.ends()
        hurts = f.larger(ends["K = 1"], ends["K = 10"])
        (agrees if hurts else differs).append(
            f"{one.devices.title}: loss in the end {f.listed(ends)}; one device a round does {'' if hurts else 'not '}hurt."
        )
    apart = panels[1]
    rescued = apart.ends()["K = 30"] < float(apart.lines[0].loss[:, 0].mean()) / f.CLEARLY
    (differs if rescued else agrees).append(
        f"{apart.devices.title}: with all devices the loss in the end is {apart.ends()['K = 30']:.3g}, "
        f"{'below' if rescued else 'not below'} the {float(apart.lines[0].loss[:, 0].mean()):.3g} of the start; the paper "
        "finds that full participation does not help there."
    )
    found = f.facts("FedDANE with few devices a round (Figure 2 of the FedDANE paper)", panels, size)
    found |= {"agrees": agrees, "differs": differs}
    found["caption"] = (
        "Training loss of FedDANE by updating round with K of 30 devices in each of its two sets, sampled engine: mean and "
        f"range over seeds. Local epochs of SGD, step 0.01, batches of 10; {size.words()} (the paper: {PAPER.E} epochs on "
        f"all samples). mu is the best of the paper's grid by the loss of one seed at K = {TUNED_AT}. K devices are draws by "
        "weight, K = 30 means every device once, with plain means as in Algorithm 2. 'In the end' is the mean over the last "
        "quarter of the rounds."
    )
    for path in c.save(f.figure(panels), found, out, NAME):
        print(path)


if __name__ == "__main__":
    main()
