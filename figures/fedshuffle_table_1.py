"""Tables 1 and 4 of FedShuffle as this project finds them: what each implemented method has, computed from its parts.

Run: python figures/fedshuffle_table_1.py [-o DIR]

The paper's Table 1 sets check marks; this one computes them on equation (36). HD: heterogeneous clients that take as
many steps as each other have their data weights to first order in the step. NL: they have them where they take 1, 2 and
3 steps. CS: their weights stay as they are where 2 of 3 clients take part at random. RR: each epoch visits every sample
once, in random order. VR, GM: the method as it stands has variance reduction and a global momentum (of FedShuffle's
methods those of (13) and (14)), or takes them. SS: it takes a server step size. Of FedLin and Mime, whose local steps
are shifted by gradients of all, the exact limit of the mean says whether it is the minimiser.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import _files as files
import _findings as fd
import _tables as tables

from boundcheck.engines.exact import stationary
from boundcheck.errors import BadInput
from boundcheck.methods.build import build as build_method
from boundcheck.methods.build import kind_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of
from boundcheck.report.words import pretty
from boundcheck.setting.followed_objective import small_step_weights

NAME, BASELINES = "fedshuffle_table_1", "fedshuffle_table_4"
STEP = Fraction(1, 8)  # a pass over the largest client moves by about this much: 1/8 is 1/(4 beta L) on (36)
PROBLEM = {"kind": "fedshuffle_36"}
EQUAL = {"kind": "fedshuffle_36", "sizes": [2, 2, 2]}
SOME = {"kind": "uniform", "size": 2}
MOMENTUM = {"a": "1/10"}
COLUMNS = ("HD", "CS", "RR", "NL", "VR", "GM", "SS")  # those of the paper, in its order

# method -> specification without step size
METHODS: Mapping[str, dict[str, Any]] = {
    "FedAvg": {"kind": "fedavg_sgd"},
    "FedAvgRR": {"kind": "fedavg_rr"},
    "FedAvgMin": {"kind": "fedavg_min"},
    "FedAvgMean": {"kind": "fedavg_mean"},
    "FedNova": {"kind": "fedshuffle_nova"},
    "FedNovaRR": {"kind": "fedshuffle_nova_rr"},
    "FedShuffle, Sum-One": {"kind": "fedshuffle_sum_one"},
    "FedShuffle": {"kind": "fedshuffle"},
    "FedShuffleMVR": {"kind": "fedshuffle_mvr", "a": "1/10", "participation": "full"},
    "FedLin": {"kind": "fedlin", "steps": 2},
    "Mime": {"kind": "mime", "K": 2, "batch": 1},
    "FedRR": {"kind": "fedrr"},
    "LocalRR": {"kind": "local_rr"},
}
OTHERS = ("fedlin", "mime", "fedrr", "local_rr")
UNDIVIDED = ("fedavg_sgd", "fedavg_rr", "fedavg_min", "fedavg_mean")  # their eta_l is the step of one sample
LARGEST = 3  # samples of the largest client
# Table 4 of the paper: local work, and whether gradients are drawn with replacement
PRINTED: Mapping[str, tuple[str, str]] = {
    "FedAvgRR": ("epochs", "without"),
    "FedAvgMin": ("steps", "with"),
    "FedAvgMean": ("steps", "with"),
    "FedNova": ("epochs", "with"),
    "FedNovaRR": ("epochs", "without"),
    "FedShuffle": ("epochs", "without"),
}


def _built(spec: Mapping[str, Any], step: Fraction = STEP, **more: Any) -> Method:
    size = "eta_l" if "eta_l" in kind_of(spec["kind"]).parameters() else "eta"
    return build_method({**spec, size: step, **more})


def _takes(spec: Mapping[str, Any], more: Mapping[str, Any]) -> bool:
    try:
        _built(spec, **more)
    except BadInput:  # a parameter that the composition has not
        return False
    return True


def _weights(spec: Mapping[str, Any], problem: Problem, **more: Any) -> list[Fraction]:
    return small_step_weights(_built(spec, **more), clients_of(problem))


def _mean_gap(method: Method, problem: Problem) -> Fraction:
    """The gap of the limit of E x: (36) is |x|^2/2 - mean of x + const, its minimiser has all coordinates 1/d."""
    mean = stationary(method, problem, ("gap",)).mean
    return sum(((Fraction(x) - Fraction(1, problem.dim)) ** 2 for x in mean), Fraction(0)) / 2


def other_row(spec: Mapping[str, Any], problem: Problem, equal: Problem) -> dict[str, Any]:
    """As `row`, for the methods of others, which have their limits on clients that hold equally many samples."""
    method, shifted = _built(spec), spec["kind"] in ("fedlin", "mime")
    apart = _built(spec, steps=[1, 2, 3]) if spec["kind"] == "fedlin" else None
    unlike = apart is not None and _mean_gap(apart, equal) == 0
    if spec["kind"] == "fedrr":
        unlike = _weights(spec, problem) == list(problem.weights)
    some = _takes(spec, {"participation": SOME})
    cells = {
        "HD": _mean_gap(method, equal) == 0 if shifted else _weights(spec, equal) == list(equal.weights),
        "CS": some and _mean_gap(_built(spec, participation=SOME), equal) == 0,
        "RR": method.local.visits(0, (0,), clients_of(equal))[0][1].sampling == "reshuffled",
        "NL": unlike,
        "VR": shifted,
        "GM": "can" if _takes(spec, {"momentum_g": "9/10"}) else "no",
        "SS": _takes(spec, {"eta_g": 2}),
    }
    found = stationary(method, equal, ("gap",)).values["gap"]
    told = {name: v if isinstance(v, str) else "yes" if v else "no" for name, v in cells.items()}
    return {**told, "expected gap, limit": str(found), "gap of the mean": str(_mean_gap(method, equal))}


def row(spec: Mapping[str, Any], problem: Problem, equal: Problem) -> dict[str, Any]:
    """What one method has, by column ("can": it takes it), and its exact limits as fractions."""
    step = STEP / LARGEST if spec["kind"] in UNDIVIDED else STEP
    method = _built(spec, step)
    assert isinstance(method.local, Epochs)
    found = stationary(method, problem, ("gap",))
    moved = "yes" if spec["kind"] == "fedshuffle_mvr" else "can" if _takes(spec, {"momentum": MOMENTUM}) else "no"
    plain = {
        "HD": _weights(spec, equal) == list(equal.weights),
        "CS": _weights(spec, problem, participation=SOME) == _weights(spec, problem),
        "RR": method.local.sampling == "reshuffled",
        "NL": _weights(spec, problem) == list(problem.weights),
        "SS": _takes(spec, {"eta_g": 2}),
    }
    cells = {name: "yes" if holds else "no" for name, holds in plain.items()} | {"VR": moved, "GM": moved}
    limits = {"expected gap, limit": str(found.values["gap"]), "gap of the mean": str(_mean_gap(method, problem))}
    return {**{name: cells[name] for name in COLUMNS}, **limits}


def baselines() -> dict[str, dict[str, str]]:
    """Table 4 from the compositions: row -> what its clients do, as printed and here."""
    found: dict[str, dict[str, str]] = {}
    for name, (work, drawn) in PRINTED.items():
        local = _built(METHODS[name]).local
        assert isinstance(local, Epochs)
        found[name] = {
            "local work, printed": work,
            "here": "epochs" if local.common is None else "steps",
            "replacement, printed": drawn,
            "here ": "without" if local.sampling == "reshuffled" else "with",
            "number of steps": local.common or "one for each sample",
            "step size": {"none": "the same for all", "size": "eta_l over the client's samples"}.get(
                local.divide, "eta_l over the largest client's samples"
            ),
        }
    return found


def compute() -> dict[str, dict[str, Any]]:
    """All rows of Table 1."""
    problem, equal = build_problem(PROBLEM), build_problem(EQUAL)
    made = {name: other_row if spec["kind"] in OTHERS else row for name, spec in METHODS.items()}
    return {name: made[name](spec, problem, equal) for name, spec in METHODS.items()}


def findings(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, fd.Decision]:
    """What the text around the paper's table says, on the computed rows."""
    own = {name: [c for c in COLUMNS if rows[name][c] == "yes"] for name in rows}
    gap = Fraction(rows["FedAvgRR"]["gap of the mean"])
    return {
        "wrong_objective": fd.certain(
            rows["FedAvgRR"]["NL"] == "no" and gap > 0,
            f"FedAvgRR with 1, 2 and 3 steps: the gap of its mean tends to {pretty(gap)}",
        ),
        "all_of_them": fd.certain(own["FedShuffleMVR"] == list(COLUMNS), f"it has {', '.join(own['FedShuffleMVR'])}"),
    }


CAPTION = (
    "Computed, not copied: the columns of the paper's Table 1 as the implemented compositions have them on equation "
    "(36). "
    "HD, NL: heterogeneous clients have their data weights to first order in the step, where all take as many steps "
    "(HD) and where they take 1, 2 and 3 (NL). CS: their weights stay as they are where 2 of 3 clients take part at "
    "random. "
    "RR: random reshuffling. VR, GM: variance reduction and global momentum of (13) and (14), which are one part here "
    "('can': the method takes it). SS: server step size. Limits: exact, at the step size 1/8 for a pass of the largest "
    "client, all clients taking part, momentum for FedShuffleMVR alone (a = 1/10). The check marks of the paper are "
    "lost in its text, so that only what its text says is compared. FedLin, Mime, FedRR and LocalRR: their limits are "
    "on clients with 2 samples each, where FedLin's clients take 2 steps each or, for NL, 1, 2 and 3; for the first "
    "two HD, CS and NL say that the mean tends to the minimiser."
)
BASELINES_CAPTION = (
    "Table 4 of the paper beside what the implemented compositions do, read off their parts. The paper's own "
    "exception, "
    "that on real data all methods draw without replacement, is a setting of configs/neural/fedshuffle.toml."
)


def main(argv: Sequence[str] | None = None) -> None:
    """Computes and writes pictures, Markdown and JSON of both tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    folder = files.folder_of(parser.parse_args(argv).out, NAME, BASELINES)
    rows = compute()
    shown = {
        name: {c: pretty(Fraction(v), 4) if c not in COLUMNS else v for c, v in cells.items()}
        for name, cells in rows.items()
    }
    told = fd.judged("fedshuffle", "Table 1", findings(rows))
    title = "What each method has (Table 1 of FedShuffle)"
    written = tables.write(shown, "method", title, CAPTION, told, folder, NAME, exact=rows)
    four = baselines()
    same = sum(
        own["local work, printed"] == own["here"] and own["replacement, printed"] == own["here "]
        for own in four.values()
    )
    judged = fd.judged(
        "fedshuffle", "Table 4", {"same": fd.certain(same == len(four), f"{same} of {len(four)} rows agree")}
    )
    title = "The baselines (Table 4 of FedShuffle)"
    for path in [*written, *tables.write(four, "method", title, BASELINES_CAPTION, judged, folder, BASELINES)]:
        print(path)


if __name__ == "__main__":
    files.start(main)
