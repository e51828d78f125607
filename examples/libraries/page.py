"""The page docs/libraries.md, from what the comparisons found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from libraries.departures import DEPARTURES, Departure
from libraries.judge import LAST, ROUNDS, ROUNDS_IN_LAW, SEEDS, SIZE, SIZE_IN_LAW, Answer, Judged
from libraries.pairs import LIMIT, SINGLE

HERE = Path(__file__).parent
_INTRODUCTION = f"""# Three libraries, run and compared

`make libraries` writes this page. It runs the code of three libraries of federated learning, client and server, on
quadratics with different curvatures, weights and numbers of local steps, and compares every round with the exact
run of the composition that boundcheck has for the algorithm. The libraries are not changed: a data loader and a
loss call the oracles of a `Task`. Of flwr the server is run, the aggregation and the sampling of clients; local
training is its users' part, and is done with the task's gradients. flwr has no network here: a grid in memory
answers its messages, and the identity of the server process is set to 0. FedLab imports torchvision for data sets;
an empty module stands in for it.

A comparison takes {ROUNDS} rounds. "All clients" is one run. "{SIZE} of 4 clients" is one run with the cohorts that
the library itself drew (pfl: in turn); the composition has the same cohorts. *Digits* are decimal digits to which
all coordinates of all rounds agree, relative to the largest coordinate so far; 16 is the most that float64 has.
*Ends* is the squared distance to the minimiser of F after {LAST} rounds, of the library and of the composition.
FedAvg does not end in the minimiser where clients take several steps: that is its bias, and the composition has it
too.

An agreement says that these runs are those of the composition, and no more. The tolerance is 1e-12; {SINGLE:g} for
pfl, which keeps differences of models in single precision (a relative rounding error of 6e-8 a round); and
{LIMIT:g} for servers with adaptive steps. These have no composition. At a very large constant `tau` they are
affine, up to |Delta|/`tau`, and that limit alone is compared.
"""


Drawn = Mapping[str, tuple[str, bool, str]]


def write(judged: Sequence[Judged], cohorts: Drawn, bounds: Sequence[str], to: Path) -> None:
    """Write the page. cohorts: library -> algorithm, whether its cohorts have the law, and the reason.

    Raises ValueError where a departure is described that no comparison found.
    """
    both = [(j.pair, part, answer.agreement) for j in judged for part, answer in _parts(j)]
    found = {(pair.library, pair.algorithm, part) for pair, part, agreement in both if not agreement.agrees}
    found |= {(library, algorithm, "cohorts") for library, (algorithm, same, _) in cohorts.items() if not same}
    told = {key for d in DEPARTURES for key in d.pairs}
    versions = ", ".join(f"{name} {version(name)}" for name in ("flwr", "pfl", "fedlab", "torch", "numpy"))
    lines = [_INTRODUCTION, f"Versions: {versions}, Python {sys.version.split()[0]}.", "", *_table(judged), ""]
    lines += ["How each was used, and its file:", "", *(_use(j) for j in judged), "", *_sampling(cohorts), ""]
    lines += ["## Against a bound", "", *bounds, "", "## What is done otherwise", "", *_first_differences(judged), ""]
    if found - told:
        lines += [f"Not explained: {', '.join(map(str, sorted(found - told)))}.", ""]
    for departure in DEPARTURES:
        lines += _departure(departure)
    lines += _NOT_TAKEN
    to.parent.mkdir(exist_ok=True)
    to.write_text("\n".join(lines).rstrip() + "\n")
    if told - found:
        raise ValueError(f"libraries/departures.py describes what was not found: {sorted(told - found)}.")


def _parts(judged: Judged) -> list[tuple[str, Answer]]:
    return [("full", judged.full), ("partial", judged.partial)]


def _table(judged: Sequence[Judged]) -> list[str]:
    head = f"| library | algorithm | composition | all clients | ends | {SIZE} of 4 clients | ends |"
    rows = [head, "|---|---|---|---|---|---|---|"]
    for j in judged:
        cells = [j.pair.library, j.pair.algorithm, f"`{j.pair.method['kind']}`"]
        for _, answer in _parts(j):
            same = answer.agreement.agrees
            cells += [f"agrees, {int(answer.digits)} digits" if same else "**differs**", _ends(answer.ends)]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _ends(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g}, should {ends[1]:.3g}"


def _use(judged: Judged) -> str:
    pair = judged.pair
    setup = f"; {pair.setup}" if pair.setup else ""
    return f'- {pair.library}, {pair.algorithm}: `{pair.source}`, clients "{pair.problem}"{setup}.'


def _sampling(cohorts: Drawn) -> list[str]:
    lines = [
        "## Whom they draw",
        "",
        f"The cohorts of {SIZE_IN_LAW} of 4 clients that a library draws are held against cohorts drawn uniformly, "
        f"none twice: {ROUNDS_IN_LAW} round, up to {SEEDS} seeds, means against exact expectations, laws against draws "
        "of the sampled engine. The numbers compared are a round of FedAvg with these cohorts, in double precision. "
        "All algorithms of a library draw with the same code.",
        "",
    ]
    for library, (algorithm, same, reason) in cohorts.items():
        lines.append(f"- {library}, {algorithm}: {'no difference' if same else '**differs**'}. {reason}")
    return lines


def _first_differences(judged: Sequence[Judged]) -> list[str]:
    lines = ["Where the runs part first, and the mistakes that boundcheck's list has for it:", ""]
    for j in judged:
        for part, answer in _parts(j):
            agreement = answer.agreement
            if agreement.difference is not None:
                who = "all clients" if part == "full" else f"{SIZE} of 4 clients"
                named = ", ".join(agreement.mistakes) or f"none of {agreement.tried}"
                words = agreement.difference.words()
                lines.append(f"- {j.pair.library}, {j.pair.algorithm}, {who}: {words}. Looks like: {named}.")
    return lines


def _departure(departure: Departure) -> list[str]:
    script = HERE / "reproductions" / departure.script
    code = f"import runpy, libraries; runpy.run_path({str(script)!r})"
    made = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    printed = made.stdout.strip().splitlines()[-1]
    source = script.read_text().rstrip()
    return [
        f"### {departure.title}",
        "",
        f"{departure.where}. {departure.text}",
        "",
        "```python",
        source,
        "```",
        "",
        "```",
        printed,
        "```",
        "",
    ]


_NOT_TAKEN = [
    "## Not taken",
    "",
    "- flwr FedAdam, FedYogi and FedAdagrad at their default `tau`, and pfl with an adaptive central optimiser: "
    "their steps are not affine in the state, and boundcheck has no composition for them.",
    "- flwr QFedAvg with q > 0, FedMedian, FedTrimmedAvg, Krum, MultiKrum, Bulyan, differential privacy and "
    "XGBoost: the same. The older interface `flwr.server.strategy` was not run.",
    "- pfl: reptile, expectation maximisation, trees and privacy mechanisms. pfl has no FedNova, FedDyn or FedBuff.",
    "- FedLab: FedDyn and FedAsync (no composition), q-FedAvg (does not run), Ditto, IFCA and power-of-choice. Of "
    "SCAFFOLD it has option II only.",
    "- flwr has no SCAFFOLD, FedNova, FedDyn or FedBuff among its strategies.",
]
