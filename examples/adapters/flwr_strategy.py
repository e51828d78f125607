"""FedAvg by the strategy of flwr, fed with the models of clients that train with NumPy."""

from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg
from flwr.supercore.task_identity import TaskIdentity

from boundcheck.adapters.numpy import sgd

TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 0  # as flwr's server process sets it


def run(task, seed):
    x, strategy, points = task.start, FedAvg(), []
    for r in range(task.rounds):
        models = [sgd(c, x, task.step_sizes[r], epochs=int(task.parameters["K"])) for c in task.clients]
        replies = [
            Message(
                RecordDict({"arrays": ArrayRecord([y]), "metrics": MetricRecord({"num-examples": c.size})}), 0, "train"
            )
            for c, y in zip(task.clients, models, strict=True)
        ]
        arrays, _ = strategy.aggregate_train(r + 1, replies)
        x = arrays.to_numpy_ndarrays()[0]
        points.append(x)
    return points
