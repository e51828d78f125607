"""Handlers and trainers of FedLab, with an oracle of the task as data loader and loss."""

from typing import Any

import torch
from fedlab.contrib import algorithm as fedlab
from fedlab.core.standalone import StandalonePipeline

from libraries.runs import EPOCHS, Loss, Point, Record, Run, batches_of, seed_all, size_of_cohort


class Data:
    """The data set of a task; who asks for a client's batches is recorded."""

    def __init__(self, task: Any, record: Record) -> None:
        self.task, self.record = task, record

    def get_dataloader(self, client: int, batch_size: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        self.record.cohorts[-1].append(client)
        return batches_of(self.task.clients[client])


class Pipeline(StandalonePipeline):
    """FedLab's loop over rounds; `evaluate` is what it leaves to its users."""

    def __init__(self, handler: Any, trainer: Any, record: Record) -> None:
        super().__init__(handler, trainer)
        self.record = record

    def evaluate(self) -> None:
        self.record.points.append(self.handler.model_parameters.numpy().copy())
        self.record.cohorts.append([])


def run(name: str, server: dict[str, Any] | None = None, **client: Any) -> Run:
    """The handler and trainer of that name; server, client: what their `setup_optim` takes besides.

    A handler without `setup_optim` has server = None.
    """
    handler, trainer = getattr(fedlab, f"{name}ServerHandler"), getattr(fedlab, f"{name}SerialClientTrainer")

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record, model, n = Record([], [[]]), Point(task), len(task.clients)
        own_server, own = handler(model, task.rounds, size_of_cohort(task) / n), trainer(model, n)
        loop = Pipeline(own_server, own, record)
        own_server.num_clients = n
        own.setup_dataset(Data(task, record))
        own.setup_optim(EPOCHS, 1, float(task.step_sizes[0]), **client)
        own.criterion = Loss(task)
        if server is not None:
            own_server.setup_optim(**server)
        loop.main()
        del record.cohorts[-1]
        return record

    return carry_out


RUNS = {
    "FedAvg": run("FedAvg"),
    "FedAvg, equal weights": run("FedAvg"),
    "FedProx": run("FedProx", mu=0.5),
    "FedNova": run("FedNova", {}),
    "FedNova, equal weights": run("FedNova", {}),
    "SCAFFOLD, option II": run("Scaffold", {"lr": 1.0}),
    "FedDyn": run("FedDyn", {"alpha": 0.5}, alpha=0.5),
}
