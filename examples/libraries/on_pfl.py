"""Algorithms of Apple's pfl with its simulated backend, its torch model and an oracle of the task as loss."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByDatapoints
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.hyperparam.base import NNTrainHyperParams
from pfl.metrics import Metrics, Weighted
from pfl.model.pytorch import PyTorchModel

from libraries.runs import Record, seed_all, size_of_cohort

logging.getLogger("pfl").setLevel(logging.ERROR)


class Point(torch.nn.Module):
    """A model that is a point x (d,) with the loss of the client whose samples a batch names."""

    def __init__(self, task: Any) -> None:
        super().__init__()
        self.task = task.torch()
        self.x = torch.nn.Parameter(self.task.start)

    def loss(self, clients: torch.Tensor, samples: torch.Tensor) -> torch.Tensor:
        return self.task.clients[int(clients[0])].loss(self.x, samples.int().tolist())

    def metrics(self, clients: torch.Tensor, samples: torch.Tensor) -> dict[str, Weighted]:
        return {"loss": Weighted(float(self.loss(clients, samples)), len(samples))}


class Measure(TrainingProcessCallback):
    """Record the model after each round."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def after_central_iteration(self, aggregate_metrics: Any, model: Any, *, central_iteration: int) -> Any:
        self.record.points.append(model.pytorch_model.x.detach().numpy().astype(np.float64))
        self.record.cohorts.append([])
        return False, Metrics()


def run(
    algorithm: Callable[[], Any] = FederatedAveraging,
    parameters: Callable[..., Any] = lambda task, **common: NNAlgorithmParams(**common),
    sampler: str = "random",
    central: Callable[..., Any] = lambda p: torch.optim.SGD(p, lr=1.0),
    weighting: Callable[[], Any] = WeightByDatapoints,
) -> Callable[[Any, int], Record]:
    """An algorithm of pfl on a task. sampler: of pfl, for partial participation. central: the server's optimiser."""

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record = Record([], [[]])
        users = [str(c.index) for c in task.clients]
        size = size_of_cohort(task)

        def make(user: str) -> Dataset:
            client = task.clients[int(user)]
            record.cohorts[-1].append(client.index)
            return Dataset((np.full(client.size, client.index), np.arange(client.size)), user_id=user)

        kind = "minimize_reuse" if size == len(users) else sampler
        data = FederatedDataset(make, get_user_sampler(kind, users))
        model = PyTorchModel(point := Point(task), torch.optim.SGD, central(point.parameters()))
        common = {
            "central_num_iterations": task.rounds,
            "evaluation_frequency": task.rounds,
            "train_cohort_size": size,
            "val_cohort_size": None,
        }
        local = NNTrainHyperParams(
            local_batch_size=1,
            local_num_epochs=int(task.parameters["E"]),
            local_learning_rate=float(task.step_sizes[0]),
        )
        algorithm().run(
            parameters(task, **common),
            SimulatedBackend(data, data, [weighting()]),
            model,
            local,
            callbacks=[Measure(record)],
            send_metrics_to_platform=False,
        )
        del record.cohorts[-1]
        return record

    return carry_out
