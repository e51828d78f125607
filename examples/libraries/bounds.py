"""FedAvg of each library against a theorem: that of local gradient descent, with one sample a client."""

from __future__ import annotations

from typing import Any

import boundcheck as bc
from boundcheck.judge.against_bound import check_against_bound
from libraries.instances import PROBLEMS
from libraries.pairs import PAIRS

STATEMENT = "classics/local_gd_convex/sharp"
_METHOD = {"kind": "fedavg", "E": 2, "eta": "9/10*largest"}
_RUNS = (("flwr", "FedAvg"), ("pfl", "FederatedAveraging"), ("FedLab", "FedAvg"))
_ROUNDS = [1, 10, 100, 300]


def against_bounds() -> list[str]:
    """A line for each library with the verdict on its curve, and one with what the comparison misses."""
    lines = [
        f"FedAvg with all clients, one sample and two local steps a client, against `{STATEMENT}` with eta",
        f"= 9/10 of the largest in scope, R up to {_ROUNDS[-1]}:",
        "",
    ]
    claim = bc.Claim(STATEMENT, PROBLEMS["one sample"], _METHOD, at={"R": _ROUNDS})
    missed = ""
    for pair in PAIRS:
        if (pair.library, pair.algorithm) in _RUNS:

            def run(task: Any, seed: int, own: Any = pair.run) -> Any:
                return own(task, seed).points[-task.rounds :]

            found = check_against_bound(claim, run, power=not missed)
            missed = missed or ("" if found.power is None else found.power.words())
            verdict = found.verdict
            lines.append(
                f"- {pair.library}, {pair.algorithm}: {verdict.outcome.name} ({verdict.grade}). {verdict.reason}"
            )
    return [*lines, "", missed]
