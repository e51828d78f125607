"""Algorithms of Apple's pfl with its simulated backend, its torch model and an oracle of the task as loss."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByDatapoints, WeightByUser
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.algorithm.fedprox import FedProx, FedProxParams
from pfl.algorithm.scaffold import SCAFFOLD, SCAFFOLDParams
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.data.user_state import InMemoryUserStateStorage
from pfl.hyperparam.base import NNTrainHyperParams
from pfl.metrics import Metrics, Weighted
from pfl.model.pytorch import PyTorchModel

from libraries.runs import EPOCHS, Loss, Point, Record, Run, data_of, seed_all, size_of_cohort


class Model(Point):
    """The point with the loss of the client whose samples a batch names, as pfl's torch models have it."""

    def __init__(self, task: Any) -> None:
        super().__init__(task)
        self.of_task = Loss(task)

    def loss(self, target: torch.Tensor) -> torch.Tensor:
        return self.of_task(self.x, target)

    def metrics(self, target: torch.Tensor) -> dict[str, Weighted]:
        return {"loss": Weighted(float(self.loss(target)), len(target))}


@dataclass
class Measure(TrainingProcessCallback):
    """Record the model after each round."""

    record: Record

    def after_central_iteration(self, aggregate_metrics: Any, model: Any, *, central_iteration: int) -> Any:
        self.record.points.append(model.pytorch_model.numbers())
        self.record.cohorts.append([])
        return False, Metrics()


def run(
    algorithm: Callable[[], Any] = FederatedAveraging,
    parameters: Callable[..., Any] = lambda task, **common: NNAlgorithmParams(**common),
    sampler: str = "minimize_reuse",
    central: Callable[..., Any] = lambda p: torch.optim.SGD(p, lr=1.0),
    weighting: Callable[[], Any] = WeightByDatapoints,
) -> Run:
    """An algorithm of pfl on a task. sampler: of pfl, for partial participation. central: the server's optimiser."""

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record = Record([], [[]])
        users = [str(c.index) for c in task.clients]
        size = size_of_cohort(task)

        def make(user: str) -> Dataset:
            client = task.clients[int(user)]
            record.cohorts[-1].append(client.index)
            return Dataset((data_of(client)[1].numpy(),), user_id=user)

        kind = "minimize_reuse" if size == len(users) else sampler
        data = FederatedDataset(make, get_user_sampler(kind, users))
        model = PyTorchModel(point := Model(task), torch.optim.SGD, central(point.parameters()))
        common = {"central_num_iterations": task.rounds, "evaluation_frequency": task.rounds, "val_cohort_size": None}
        eta = float(task.step_sizes[0])
        local = NNTrainHyperParams(local_learning_rate=eta, local_num_epochs=EPOCHS, local_batch_size=1)
        own, backend = parameters(task, train_cohort_size=size, **common), SimulatedBackend(data, data, [weighting()])
        algorithm().run(own, backend, model, local, callbacks=[Measure(record)], send_metrics_to_platform=False)
        del record.cohorts[-1]
        return record

    return carry_out


def _scaffold(gradient: bool) -> Run:
    def parameters(task: Any, **common: Any) -> SCAFFOLDParams:
        own = {"population": len(task.clients), "use_gradient_as_control_variate": gradient}
        return SCAFFOLDParams(**common, **own, user_state_storage=InMemoryUserStateStorage())

    return run(SCAFFOLD, parameters, weighting=WeightByUser)


RUNS = {
    "FederatedAveraging": run(),
    "FederatedAveraging with server momentum": run(central=lambda p: torch.optim.SGD(p, lr=0.5, momentum=0.5)),
    "FedProx": run(FedProx, lambda task, **common: FedProxParams(**common, mu=0.5), weighting=WeightByUser),
    "SCAFFOLD, option I": _scaffold(True),
    "SCAFFOLD, option II": _scaffold(False),
}
DRAWN = {"FederatedAveraging": run(sampler="random")}  # the cohorts that it draws at random; above it visits in turn
