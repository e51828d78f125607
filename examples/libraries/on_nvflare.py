"""Controllers, aggregators and client helpers of nvflare, with an engine in memory and the gradients of a task."""

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.app_constant import AlgorithmConstants
from nvflare.app_common.workflows.fedavg import FedAvg
from nvflare.app_common.workflows.scaffold import Scaffold
from nvflare.app_opt.pt.fedproxloss import PTFedProxLoss
from nvflare.app_opt.pt.scaffold import PTScaffoldHelper

from libraries.runs import EPOCHS, Point, Record, Run, seed_all, size_of_cohort


class Client:
    """A client of the task with its own model: what a user of nvflare writes, and its helpers for torch."""

    def __init__(self, task: Any, index: int, mu: float, scaffold: bool) -> None:
        self.client, self.eta, self.model = task.torch().clients[index], float(task.step_sizes[0]), Point(task)
        self.prox = PTFedProxLoss(mu) if mu else None
        self.helper = PTScaffoldHelper() if scaffold else None
        if self.helper:
            self.helper.init(self.model)

    def train(self, sent: FLModel) -> FLModel:
        """Local epochs from the model that was sent; the difference, the number of steps and control variates."""
        start = {"x": torch.as_tensor(sent.params["x"]).clone()}
        self.model.load_state_dict(start)
        received = copy.deepcopy(self.model).requires_grad_(False)
        optimiser = torch.optim.SGD(self.model.parameters(), lr=self.eta)
        controls: Any = ()
        if self.helper:
            self.helper.load_global_controls(sent.meta[AlgorithmConstants.SCAFFOLD_CTRL_GLOBAL])
            controls = self.helper.get_params()
        steps = [j for _ in range(EPOCHS) for j in range(self.client.size)]
        for j in steps:
            optimiser.zero_grad()
            loss = self.client.loss(self.model.x, [j])
            (loss + self.prox(self.model, received) if self.prox else loss).backward()
            optimiser.step()
            if self.helper:
                self.helper.model_update(self.model, self.eta, *controls)
        meta: dict[str, Any] = {"NUM_STEPS_CURRENT_ROUND": len(steps), "client_name": str(self.client.index)}
        if self.helper:
            self.helper.terms_update(self.model, self.eta, *controls, received)
            meta[AlgorithmConstants.SCAFFOLD_CTRL_DIFF] = self.helper.get_delta_controls()
        change = {"x": self.model.numbers() - start["x"].numpy()}
        return FLModel(params=change, params_type=ParamsType.DIFF, meta=meta, current_round=sent.current_round)


def _in_memory(workflow: type[Any], clients: list[Client], record: Record, first: FLModel) -> Any:
    """A controller whose clients reply at once, and which stores the model in a record."""

    class InMemory(workflow):
        def send_model_and_wait(self, targets: list[str], data: FLModel) -> list[FLModel]:
            record.cohorts.append([int(name) for name in targets])
            return [clients[int(name)].train(data) for name in targets]

        def send_model(self, targets: list[str], data: FLModel, callback: Callable[..., None], **more: Any) -> None:
            for result in self.send_model_and_wait(targets, data):
                callback(result)

        def save_model(self, model: FLModel) -> None:
            record.points.append(np.array(model.params["x"], dtype=np.float64))

        get_num_standing_tasks = staticmethod(lambda: 0)
        load_model = staticmethod(lambda: first)
        event = fire_event_with_data = staticmethod(lambda *given: None)

    return InMemory


def run(workflow: type[Any] = FedAvg, mu: float = 0.0) -> Run:
    """A workflow on a task. mu: of the client's FedProx loss."""

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record, first = Record(), FLModel(params={"x": task.start})
        clients = [Client(task, c.index, mu, workflow is Scaffold) for c in task.clients]
        names = [SimpleNamespace(name=str(c.index)) for c in task.clients]
        kind = _in_memory(workflow, clients, record, first)
        loop = kind(num_clients=size_of_cohort(task), num_rounds=task.rounds)
        loop.fl_ctx, loop.engine = FLContext(), SimpleNamespace(get_clients=lambda: names)
        if workflow is Scaffold:  # what its `initialize` does
            loop.model, loop._global_ctrl_weights = first, {"x": np.zeros_like(task.start)}
        loop.run()
        return record

    return carry_out


RUNS = {"FedAvg": run(), "FedProx": run(mu=0.5), "SCAFFOLD": run(Scaffold)}
