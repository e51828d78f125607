"""Handlers and trainers of FedLab, with an oracle of the task as data loader and loss."""

from __future__ import annotations

from typing import Any

import torch
from fedlab.contrib import algorithm as fedlab
from fedlab.core.client.trainer import SerialClientTrainer
from fedlab.core.standalone import StandalonePipeline

from libraries.runs import EPOCHS, Loss, Options, Point, Record, Run, batches_of, nothing, seed_all, size_of_cohort


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


class OneByOne(Pipeline):
    """The same loop for trainers that take one client at a time."""

    def main(self) -> None:
        while not self.handler.if_stop:
            sampled, broadcast = self.handler.sample_clients(), self.handler.downlink_package
            for client in sampled:
                self.trainer.local_process(broadcast, client)
                self.handler.load(self.trainer.uplink_package)
            self.evaluate()


def run(name: str, server: Options | None = None, client: Options = nothing) -> Run:
    """The handler and trainer of that name; server, client: what their `setup_optim` takes besides.

    A handler without `setup_optim` has server = None.
    """
    handler, trainer = getattr(fedlab, f"{name}ServerHandler"), getattr(fedlab, f"{name}SerialClientTrainer")

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record, model, n = Record([], [[]]), Point(task), len(task.clients)
        one_by_one = not issubclass(trainer, SerialClientTrainer)
        own_server = handler(model, task.rounds, size_of_cohort(task) / n)
        own = trainer(model) if one_by_one else trainer(model, n)
        loop = (OneByOne if one_by_one else Pipeline)(own_server, own, record)
        loop.handler.num_clients = n
        own.setup_dataset(Data(task, record))
        own.setup_optim(EPOCHS, 1, float(task.step_sizes[0]), **client(task))
        own.criterion = Loss(task)
        if server is not None:
            own_server.setup_optim(**server(task))
        loop.main()
        del record.cohorts[-1]
        return record

    return carry_out


RUNS = {
    "FedAvg": run("FedAvg"),
    "FedAvg, equal weights": run("FedAvg"),
    "FedProx": run("FedProx", client=lambda task: {"mu": 0.5}),
    "FedNova": run("FedNova", nothing),
    "FedNova, equal weights": run("FedNova", nothing),
    "SCAFFOLD, option II": run("Scaffold", lambda task: {"lr": 1.0}),
    "FedDyn": run("FedDyn", lambda task: {"alpha": 0.5}, lambda task: {"alpha": 0.5}),
}
