"""A stored neural run that may be killed.

As a program, with the name of one of METHODS, it reads folders, one a line, and carries out the run in a process of its
own for each, forked so that the imports are done once; it prints the number of the process, and how it ended.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import torch

from boundcheck.core.digest import code_digest
from boundcheck.core.store import Checkpoint, Store
from boundcheck.engines.simulate.lowering import lower
from boundcheck.evidence.stored import code_of, run_or_recall
from boundcheck.methods.build import build as build_method
from boundcheck.networks.engine.run import run_neural
from boundcheck.networks.engine.visits import visits_of
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting import Setting

torch.set_num_threads(1)
ROUNDS = 40
PROBLEM = {
    "kind": "neural", "data": "digits", "model": {"name": "mlp", "hidden": [8]}, "clients": 6, "split": "dirichlet",
    "alpha": "1/2", "seed": 1, "samples": 60,
}  # fmt: skip
METHODS: dict[str, dict[str, Any]] = {
    "momentum of the server": {
        "kind": "fedavg_rr", "eta_l": "1/20", "batch": 5, "momentum": "1/2",
        "participation": {"kind": "uniform", "size": 3},
    },
    "momentum of the clients": {
        "kind": "partial_averaging", "tau": 3, "eta": "1/40", "batch": 5, "momentum_l": "9/10", "clip_l": 1,
        "hand_over": {"active": 3, "every": 5},
    },
}  # fmt: skip


class Often(Store):
    """A store whose checkpoints are due all the time."""

    def checkpoint(self, key: str) -> Checkpoint:
        return Checkpoint(self.files, key, 0.01)


def work(method: dict[str, Any], folder: str) -> None:
    """Carry out the run, or what is left of it, into the store in a folder."""
    run_or_recall(
        Often(Path(folder)), Setting(build_method(method), build_problem(PROBLEM)), method,
        seeds=range(4), engine="neural",
        rounds=list(range(0, ROUNDS + 1, 2)), metrics=["f", "accuracy"], neural={"lanes": 5},
    )  # fmt: skip


def _prepare(spec: dict[str, Any]) -> None:
    """What a forked process finds done: the compiled plan is loaded, the code is digested."""
    problem, method = build_problem(PROBLEM), build_method(spec)
    code_digest(code_of(problem, spec, "neural"))
    offsets = np.concatenate([[0], np.cumsum(clients_of(problem).sizes)]).astype(np.int64)
    visits_of(lower(method, clients_of(problem), 1), offsets, np.zeros(1, dtype=np.uint64), 0)
    run_neural(method, problem, 1, 2, ("f", "accuracy"))  # torch imports what it maps with


def _fork(method: dict[str, Any], folder: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        work(method, folder)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _tell(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    chosen = METHODS[sys.argv[1]]
    _prepare(chosen)
    for line in sys.stdin:
        pid = _fork(chosen, line.strip())
        _tell(pid)
        _tell(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
