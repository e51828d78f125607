"""Table 1 of FedShuffle as this project finds it: what each implemented method really has, computed from its parts.

Run: python figures/fedshuffle_table_1.py [-o DIR]

The paper's table sets check marks; this one computes them on equation (36) (three clients with 1, 2, 3 samples):
HD + NL: the small-step weights of the clients are their data weights although they take unequal steps;
CS: they still are when 2 of 3 clients take part at random;
RR: each epoch visits every sample once, in random order; VR, GM: the composition takes the momentum of equations (13)
and (14); SS: it takes a server step size. Beside them the exact limit of the expected gap at the step size 1/8.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import _files as files
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from boundcheck.engines.exact import stationary
from boundcheck.errors import BadInput
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Epochs
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of
from boundcheck.report.words import pretty
from boundcheck.setting.followed_objective import small_step_weights

NAME = "fedshuffle_table_1"
STEP = Fraction(1, 8)  # a pass over the largest client moves by about this much: 1/8 is 1/(4 beta L) on (36)
PROBLEM = {"kind": "fedshuffle_36"}
SOME = {"kind": "uniform", "size": 2}
MOMENTUM = {"a": "1/10"}
COLUMNS = ("RR", "HD, NL", "CS", "VR, GM", "SS", "E gap, limit", "gap of the mean")

# method -> specification without step size
METHODS: Mapping[str, dict[str, Any]] = {
    "FedAvg": {"kind": "fedavg_sgd"},
    "FedAvgRR": {"kind": "fedavg_rr"},
    "FedAvgMin": {"kind": "fedavg_min"},
    "FedAvgMean": {"kind": "fedavg_mean"},
    "FedNova": {"kind": "fednova"},
    "FedNovaRR": {"kind": "fednova_rr"},
    "FedShuffle, Sum-One": {"kind": "fedshuffle_sum_one"},
    "FedShuffle": {"kind": "fedshuffle"},
    "FedShuffleMVR": {"kind": "fedshuffle_mvr", "a": "1/10", "participation": "full"},
}
UNDIVIDED = ("fedavg_sgd", "fedavg_rr", "fedavg_min", "fedavg_mean")  # their eta_l is the step of one sample
LARGEST = 3  # samples of the largest client


def _takes(spec: Mapping[str, Any], more: Mapping[str, Any]) -> bool:
    try:
        build_method({**spec, "eta_l": STEP, **more})
    except BadInput:  # a parameter that the composition has not
        return False
    return True


def _weights(spec: Mapping[str, Any], problem: Problem, more: Mapping[str, Any]) -> list[Fraction]:
    return small_step_weights(build_method({**spec, "eta_l": STEP, **more}), clients_of(problem))


def row(spec: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
    """What one method has: yes or no by column, and its exact limit as fractions."""
    step = STEP / LARGEST if spec["kind"] in UNDIVIDED else STEP
    method = build_method({**spec, "eta_l": step})
    weights = list(problem.weights)
    found = stationary(method, problem, ("gap",))
    mean_gap = (
        sum(((x - Fraction(1, problem.dim)) ** 2 for x in found.mean), Fraction(0)) / 2
    )  # equation (36) is |x|^2/2 - mean of x + const, its minimiser has all coordinates 1/d
    mvr = spec["kind"] == "fedshuffle_mvr"
    return {
        "RR": isinstance(method.local, Epochs) and method.local.sampling == "reshuffled",
        "HD, NL": _weights(spec, problem, {}) == weights,
        "CS": _weights(spec, problem, {"participation": SOME}) == weights,
        "VR, GM": mvr or _takes(spec, {"momentum": MOMENTUM}),
        "SS": _takes(spec, {"eta_g": 2}),
        "E gap, limit": str(found.values["gap"]),
        "gap of the mean": str(mean_gap),
    }


def compute() -> dict[str, dict[str, Any]]:
    """All rows."""
    problem = build_problem(PROBLEM)
    return {name: row(spec, problem) for name, spec in METHODS.items()}


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return pretty(Fraction(value), 4)


CAPTION = (
    "Computed, not copied: the check marks of the paper's Table 1, as the implemented compositions have them on "
    "equation (36). RR: random reshuffling of the samples. HD, NL: the true objective is minimised, to first order in "
    "the step, although clients take 1, 2 and 3 steps. CS: it still is when 2 of 3 clients take part at random. "
    "VR, GM: takes the variance-reduced global momentum of (13) and (14). SS: takes a server step size. The limits are "
    "exact, at the step size 1/8 for a pass of the largest client, all clients taking part; momentum is off except for "
    "FedShuffleMVR (a = 1/10)."
)


def _markdown(rows: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["# What each method really has (Table 1 of FedShuffle)", "", "| method | " + " | ".join(COLUMNS) + " |"]
    lines.append("|---" * (len(COLUMNS) + 1) + "|")
    lines += ["| " + " | ".join([name, *(_cell(cells[c]) for c in COLUMNS)]) + " |" for name, cells in rows.items()]
    return "\n".join([*lines, "", CAPTION, ""])


def draw(rows: Mapping[str, Mapping[str, Any]]) -> Figure:
    """The table as a picture."""
    figure = Figure(figsize=(10, 0.36 * len(rows) + 1.5))
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.01, 0.2, 0.98, 0.78))
    ax.set_axis_off()
    table = ax.table(
        [[name, *(_cell(cells[c]) for c in COLUMNS)] for name, cells in rows.items()],
        colLabels=["method", *COLUMNS],
        colWidths=[0.2, *([0.1] * 5), 0.14, 0.16],
        cellLoc="center",
        bbox=(0, 0, 1, 1),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8.5)
    for (line, column), cell in table.get_celld().items():
        cell.set_edgecolor("#d5d9de")
        cell.set_linewidth(0.6)
        text = cell.get_text()
        if line == 0 or column == 0:
            text.set_weight("bold")
        elif text.get_text() == "no":
            text.set_color("#b5432a")
    figure.text(0.01, 0.16, textwrap.fill(CAPTION, 150), va="top", fontsize=8, color="#24282d")
    return figure


def main(argv: Sequence[str] | None = None) -> None:
    """Computes and writes picture, Markdown and JSON."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    folder = files.folder_of(parser.parse_args(argv).out, NAME)
    rows = compute()
    facts = {"schema": 1, "caption": CAPTION, "rows": rows}
    texts = {".json": json.dumps(facts, indent=1) + "\n", ".md": _markdown(rows)}
    for path in files.write_figure(draw(rows), texts, folder, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
