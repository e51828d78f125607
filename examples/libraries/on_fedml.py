"""FedML's single-process simulation: its loops, clients and trainers, with the loss of a task.

The trainers make `nn.CrossEntropyLoss()` themselves; while they run, that name makes the task's loss. What they report
to FedML's servers goes nowhere, and their tests of a model are left out.
"""

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

from libraries import table
from libraries.runs import EPOCHS, Loss, Point, Record, Run, batches_of, seed_all, size_of_cohort

OPTIONS = {**table("matrix")["library"]["fedml"]["options"], "epochs": EPOCHS}
for _name in dir(mlops):
    if _name.startswith("log") or _name == "event":
        setattr(mlops, _name, lambda *given, **named: None)


def build(simulation: Callable[..., Any], name: str, net: torch.nn.Module, batches: list[Any], **options: Any) -> Any:
    """A simulation with the data of each client; name: FedML's name of the `federated_optimizer`."""
    sizes, data = {i: len(own) for i, own in enumerate(batches)}, dict(enumerate(batches))
    counts = {"client_num_in_total": len(batches), "client_num_per_round": len(batches), "comm_round": 1}
    args = SimpleNamespace(**{**OPTIONS, **counts, "federated_optimizer": name, **options})
    dataset = [sum(sizes.values()), 0, None, None, sizes, data, dict.fromkeys(sizes), 2]
    loop = simulation(dataset=dataset, model=net, device=torch.device("cpu"), args=args)
    loop._local_test_on_all_clients = loop.local_test_on_all_clients = loop.test = lambda *given: None
    return loop


def run(simulation: Callable[..., Any], name: str) -> Run:
    """A simulation on a task."""

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record = Record()
        cohort = {"client_num_per_round": size_of_cohort(task), "comm_round": task.rounds}
        with patch.object(torch.nn, "CrossEntropyLoss", lambda: Loss(task)):
            batches, eta = [batches_of(c) for c in task.clients], float(task.step_sizes[0])
            loop = build(simulation, name, Point(task), batches, learning_rate=eta, **cohort)
            draw = "client_sampling" if name == "FedNova" else "_client_sampling"
            drawn = getattr(loop, draw)

            def measure() -> None:
                record.points.append((loop.model_global if name == "FedNova" else loop.model_trainer.model).numbers())

            def sample(*given: Any) -> Any:
                if record.cohorts:  # a round has ended
                    measure()
                record.cohorts.append([int(i) for i in drawn(*given)])
                return record.cohorts[-1]

            setattr(loop, draw, sample)
            loop.train()
            measure()
        return record

    return carry_out


RUNS = {
    "FedAvg": run(FedAvgAPI, "FedAvg"),
    "FedProx": run(FedProxTrainer, "FedProx"),
    "FedOpt, SGD": run(FedOptAPI, "FedOpt"),
    "FedNova": run(FedNovaTrainer, "FedNova"),
    "SCAFFOLD": run(ScaffoldTrainer, "SCAFFOLD"),
    "FedDyn": run(FedDynTrainer, "FedDyn"),
    "Mime": run(MimeTrainer, "Mime"),
}
