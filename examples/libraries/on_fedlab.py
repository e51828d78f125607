"""Handlers and trainers of FedLab, with an oracle of the task as data loader and loss."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch
from fedlab.core.client.trainer import SerialClientTrainer
from fedlab.core.standalone import StandalonePipeline

from libraries.runs import Record, seed_all, size_of_cohort

logging.disable(logging.WARNING)


class Point(torch.nn.Module):
    """A model that is a point x (d,); its output on any batch is x."""

    def __init__(self, start: torch.Tensor) -> None:
        super().__init__()
        self.x = torch.nn.Parameter(start.clone())

    def forward(self, batch: Any) -> torch.Tensor:
        return self.x


class Oracle:
    """Data set and loss of a task: the target of a batch is its client with its samples."""

    def __init__(self, task: Any, record: Record) -> None:
        self.task, self.record = task.torch(), record

    def get_dataloader(self, client: int, batch_size: int) -> list[tuple[None, tuple[int, range]]]:
        self.record.cohorts[-1].append(client)
        samples = range(self.task.clients[client].size)
        return [(None, (client, samples[j : j + batch_size])) for j in range(0, len(samples), batch_size)]

    def loss(self, x: torch.Tensor, target: tuple[int, range]) -> torch.Tensor:
        client, samples = target
        return self.task.clients[client].loss(x, list(samples))


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


def run(
    handler: Callable[..., Any],
    trainer: Callable[..., Any],
    server: Callable[[Any], dict[str, Any]] | None = None,
    client: Callable[[Any], dict[str, Any]] = lambda task: {},
) -> Callable[[Any, int], Record]:
    """A handler with a trainer; server, client: what their `setup_optim` takes besides, made from the task.

    A handler without `setup_optim` has server = None.
    """

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record = Record([], [[]])
        n = len(task.clients)
        oracle, model = Oracle(task, record), Point(task.torch().start)
        one_by_one = not issubclass(trainer, SerialClientTrainer)
        own_server = handler(model, task.rounds, size_of_cohort(task) / n)
        own = trainer(model) if one_by_one else trainer(model, n)
        loop = (OneByOne if one_by_one else Pipeline)(own_server, own, record)
        loop.handler.num_clients = n
        own.setup_dataset(oracle)
        own.setup_optim(int(task.parameters["E"]), 1, float(task.step_sizes[0]), **client(task))
        own.criterion = oracle.loss
        if server is not None:
            own_server.setup_optim(**server(task))
        loop.main()
        del record.cohorts[-1]
        return record

    return carry_out
