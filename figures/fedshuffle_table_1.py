"""Table 1 of FedShuffle as this project finds it: what each implemented method has, computed from its parts.

The paper's Table 1 sets check marks; this one computes them on equation (36), as its caption says. Of FedLin and Mime,
whose local steps are shifted by gradients of all, the exact limit of the mean says whether it is the minimiser.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import _fedshuffle as f
import _findings as fd
import _study as s

from boundcheck.engines.exact import stationary
from boundcheck.errors import BadInput
from boundcheck.methods.build import build as build_method
from boundcheck.methods.build import kind_of
from boundcheck.methods.method import Method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of
from boundcheck.report.words import pretty
from boundcheck.setting.followed_objective import small_step_weights

SECONDS = 9
STEP = Fraction(1, 8)  # a pass over the largest client moves by about this much: 1/8 is 1/(4 beta L) on (36)
LARGEST = 3  # samples of the largest client
SOME = {"participation": {"kind": "uniform", "size": 2}}
COLUMNS = ("HD", "CS", "RR", "NL", "VR", "GM", "SS")  # those of the paper, in its order
METHODS = f.stated("fedshuffle_table_1")
SHIFTED = ("fedlin", "mime")
OTHERS = (*SHIFTED, "fedrr", "local_rr")  # of others: their limits are on clients that hold equally many samples
CAPTION = (
    "Computed, not copied: the columns of the paper's Table 1 as the implemented compositions have them on equation "
    "(36). HD, NL: heterogeneous clients have their data weights to first order in the step, where all take as many "
    "steps (HD) and where they take 1, 2 and 3 (NL). CS: their weights stay as they are where 2 of 3 clients take part "
    "at random. RR: random reshuffling. VR, GM: variance reduction and global momentum of (13) and (14), which are one "
    "part here ('can': the method takes it). SS: server step size. Limits: exact, at the step size 1/8 for a pass of "
    "the largest client, all clients taking part, momentum for FedShuffleMVR alone (a = 1/10). The check marks of the "
    "paper are lost in its text, so that only what its text says is compared. FedLin, Mime, FedRR and LocalRR: their "
    "limits are on clients with 2 samples each, where FedLin's clients take 2 steps each or, for NL, 1, 2 and 3; for "
    "the first two HD, CS and NL say that the mean tends to the minimiser."
)


def built(spec: Mapping[str, Any], **more: Any) -> Method:
    """The method at the step size of the table, of one sample for FedAvg and its kin."""
    size = "eta_l" if "eta_l" in kind_of(spec["kind"]).parameters() else "eta"
    return build_method({**spec, size: STEP / LARGEST if spec["kind"].startswith("fedavg_") else STEP, **more})


def takes(spec: Mapping[str, Any], **more: Any) -> bool:
    """Whether a composition has the parameters."""
    try:
        built(spec, **more)
    except BadInput:
        return False
    return True


def weighted(spec: Mapping[str, Any], problem: Problem, **more: Any) -> list[Fraction]:
    """The clients' weights to first order in the step."""
    return small_step_weights(built(spec, **more), clients_of(problem))


def mean_gap(method: Method, problem: Problem) -> Fraction:
    """The gap of the limit of E x: (36) is |x|^2/2 - mean of x + const, its minimiser has all coordinates 1/d."""
    mean = stationary(method, problem, ("gap",)).mean
    return sum(((Fraction(x) - Fraction(1, problem.dim)) ** 2 for x in mean), Fraction(0)) / 2


def row(spec: Mapping[str, Any], problem: Problem, equal: Problem) -> dict[str, Any]:
    """What one method has, by column ("can": it takes it), and its exact limits as fractions."""
    kind, own = spec["kind"], list(problem.weights)
    shifted, on = kind in SHIFTED, equal if kind in OTHERS else problem
    method = built(spec)
    cells: dict[str, Any] = {
        "HD": mean_gap(method, equal) == 0 if shifted else weighted(spec, equal) == list(equal.weights),
        "RR": method.local.visits(0, (0,), clients_of(equal))[0][1].sampling == "reshuffled",
        "SS": takes(spec, eta_g=2),
    }
    if kind in OTHERS:
        cells["CS"] = takes(spec, **SOME) and mean_gap(built(spec, **SOME), equal) == 0
        apart = kind == "fedlin" and mean_gap(built(spec, steps=[1, 2, 3]), equal) == 0
        cells |= {"NL": apart or (kind == "fedrr" and weighted(spec, problem) == own), "VR": shifted}
        cells["GM"] = "can" if takes(spec, momentum_g="9/10") else "no"
    else:
        cells["CS"] = weighted(spec, problem, **SOME) == weighted(spec, problem)
        cells["NL"] = weighted(spec, problem) == own
        moved = "yes" if kind == "fedshuffle_mvr" else "can" if takes(spec, momentum={"a": "1/10"}) else "no"
        cells |= {"VR": moved, "GM": moved}
    summary = {name: {True: "yes", False: "no"}.get(cells[name], cells[name]) for name in COLUMNS}
    limit = str(stationary(method, on, ("gap",)).values["gap"])
    return {**summary, "expected gap, limit": limit, "gap of the mean": str(mean_gap(method, on))}


def compute() -> dict[str, dict[str, Any]]:
    """All rows."""
    problem, equal = (build_problem({"kind": "fedshuffle_36", **more}) for more in ({}, {"sizes": [2, 2, 2]}))
    return {name: row(spec, problem, equal) for name, spec in METHODS.items()}


def findings(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, fd.Decision]:
    """What the text around the paper's table says, on the computed rows."""
    own = [c for c in COLUMNS if rows["FedShuffleMVR"][c] == "yes"]
    gap = Fraction(rows["FedAvgRR"]["gap of the mean"])
    return {
        "wrong_objective": fd.certain(
            rows["FedAvgRR"]["NL"] == "no" and gap > 0,
            f"FedAvgRR with 1, 2 and 3 steps: the gap of its mean tends to {pretty(gap)}",
        ),
        "all_of_them": fd.certain(own == list(COLUMNS), f"it has {', '.join(own)}"),
    }


def make() -> s.Made:
    """The table."""
    rows = compute()
    shown = {n: {c: v if c in COLUMNS else pretty(Fraction(v), 4) for c, v in row.items()} for n, row in rows.items()}
    title = "What each method has (Table 1 of FedShuffle)"
    return s.Made(s.study(title, CAPTION, tables=s.table("method", shown), data={"exact": rows}), findings(rows))


main = s.script(make)

if __name__ == "__main__":
    s.start(main)
