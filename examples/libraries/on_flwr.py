"""Strategies of flwr, fed with NumPy parameters by a grid in memory; local training is the user's part there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp import strategy as flwr
from flwr.serverapp.strategy import FedAvg
from flwr.supercore.task_identity import TaskIdentity

from libraries.runs import Record, Run, local_steps, seed_all, size_of_cohort

TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 0  # flwr's server process does this


@dataclass
class InMemory(Grid):
    """Nodes 1 to n, which are the clients of a task and reply at once."""

    task: Any
    record: Record

    def get_node_ids(self) -> Iterable[int]:
        return range(1, len(self.task.clients) + 1)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        sent = list(messages)
        if sent:
            self.record.cohorts.append([message.metadata.dst_node_id - 1 for message in sent])
        return [self._reply(message) for message in sent]

    def _reply(self, message: Message) -> Message:
        client = self.task.clients[message.metadata.dst_node_id - 1]
        x = np.asarray(message.content["arrays"].to_numpy_ndarrays()[0], dtype=np.float64)
        mu = float(message.content["config"].get("proximal-mu", 0.0))
        y = local_steps(self.task, client, x, mu)
        metrics = MetricRecord({"num-examples": client.size, "train_loss": float(client.loss(x))})
        content = RecordDict({"arrays": ArrayRecord({"x": Array(y)}), "metrics": metrics})
        return Message(content, reply_to=message)

    # what a grid needs besides, and no strategy calls
    def set_run(self, run: Any) -> None: ...
    def create_message(self, *args: Any, **kwargs: Any) -> Message: ...
    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]: ...
    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]: ...

    run = property(lambda self: None)


def run(strategy: Callable[..., FedAvg] = FedAvg, **options: Any) -> Run:
    """`strategy` of `flwr.serverapp.strategy` on a task; options go to the strategy as they are."""

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record = Record()
        chosen = strategy(fraction_train=size_of_cohort(task) / len(task.clients), fraction_evaluate=0.0, **options)

        def measure(round_index: int, arrays: ArrayRecord) -> None:
            record.points.append(arrays.to_numpy_ndarrays()[0])

        start = ArrayRecord({"x": Array(task.start)})
        chosen.start(InMemory(task, record), start, num_rounds=task.rounds, evaluate_fn=measure)
        return record

    return carry_out


_HUGE = {"eta": 1e8, "tau": 1e8}  # their step is then eta/tau Delta, up to |Delta|/tau
RUNS = {
    "FedAvg": run(),
    "FedProx": run(flwr.FedProx, proximal_mu=0.5),
    "FedAvgM": run(flwr.FedAvgM, server_learning_rate=0.5, server_momentum=0.5),
    "QFedAvg": run(flwr.QFedAvg, client_learning_rate=0.05, q=0.0),
    "FedAdagrad": run(flwr.FedAdagrad, **_HUGE),
    "FedAdagrad, default tau": run(flwr.FedAdagrad, eta=0.1),
    "FedYogi": run(flwr.FedYogi, **_HUGE, beta_1=0.0),
    "FedAdam": run(flwr.FedAdam, **_HUGE, beta_1=0.0),
}
