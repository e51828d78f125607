"""FedML's single-process simulation: its loops, clients and trainers, with the loss of a task.

The trainers make `nn.CrossEntropyLoss()` themselves; while they run, that name makes the task's loss. What they report
to FedML's servers goes nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from fedml import mlops
from fedml.simulation.sp.fedavg.fedavg_api import FedAvgAPI
from fedml.simulation.sp.feddyn.feddyn_trainer import FedDynTrainer
from fedml.simulation.sp.fednova.fednova_trainer import FedNovaTrainer
from fedml.simulation.sp.fedopt.fedopt_api import FedOptAPI
from fedml.simulation.sp.fedprox.fedprox_trainer import FedProxTrainer
from fedml.simulation.sp.mime.mime_trainer import MimeTrainer
from fedml.simulation.sp.scaffold.scaffold_trainer import ScaffoldTrainer

from libraries.runs import EPOCHS, Loss, Point, Record, Run, batches_of, seed_all, size_of_cohort

_COMMON = {
    **{"client_optimizer": "sgd", "server_optimizer": "sgd", "dataset": "own", "enable_wandb": False},
    **{"frequency_of_the_test": 1, "initialize_all_clients": True, "epochs": EPOCHS, "server_lr": 1.0},
    **dict.fromkeys(("weight_decay", "wd", "gmf", "mu", "momentum", "server_momentum", "dampening"), 0),
    **{"nesterov": False, "mimelite": False, "fedprox_mu": 0.5, "feddyn_alpha": 0.5},
}


def run(simulation: Callable[..., Any], name: str) -> Run:
    """A simulation on a task; name: FedML's name of its `federated_optimizer`."""

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record, n, model = Record(), len(task.clients), Point(task)
        batches = {c.index: batches_of(c) for c in task.clients}
        args = SimpleNamespace(
            **_COMMON,
            federated_optimizer=name,
            client_num_in_total=n,
            client_num_per_round=size_of_cohort(task),
            comm_round=task.rounds,
            learning_rate=float(task.step_sizes[0]),
        )
        sizes = {c.index: c.size for c in task.clients}
        data = [sum(sizes.values()), 0, None, None, sizes, batches, dict.fromkeys(sizes), 2]
        with patch.object(torch.nn, "CrossEntropyLoss", lambda: Loss(task)), _silent():
            loop = simulation(dataset=data, model=model, device=torch.device("cpu"), args=args)
            draw = "client_sampling" if hasattr(loop, "client_sampling") else "_client_sampling"
            drawn = getattr(loop, draw)

            def measure() -> None:
                record.points.append((loop.model_global if name == "FedNova" else loop.model_trainer.model).numbers())

            def sample(*given: Any) -> Any:
                if record.cohorts:  # a round has ended
                    measure()
                cohort = drawn(*given)
                record.cohorts.append([int(i) for i in cohort])
                return cohort

            setattr(loop, draw, sample)
            for test in ("_local_test_on_all_clients", "local_test_on_all_clients", "test"):
                setattr(loop, test, lambda *given: None)
            loop.train()
            measure()
        return record

    return carry_out


def _silent() -> Any:
    """FedML's reports as functions that do nothing."""
    names = [n for n in dir(mlops) if n.startswith("log") or n == "event"]
    return patch.multiple(mlops, **{n: lambda *a, **k: None for n in names})


RUNS = {
    "FedAvg": run(FedAvgAPI, "FedAvg"),
    "FedProx": run(FedProxTrainer, "FedProx"),
    "FedOpt, SGD": run(FedOptAPI, "FedOpt"),
    "FedNova": run(FedNovaTrainer, "FedNova"),
    "SCAFFOLD": run(ScaffoldTrainer, "SCAFFOLD"),
    "FedDyn": run(FedDynTrainer, "FedDyn"),
    "Mime": run(MimeTrainer, "Mime"),
}
