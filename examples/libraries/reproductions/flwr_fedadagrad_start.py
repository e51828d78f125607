import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp.strategy import FedAdagrad, FedAvg

FedAvg.aggregate_train = lambda self, server_round, replies: (replies, None)  # only what FedAdagrad adds to FedAvg
strategy = FedAdagrad(eta=1.0, tau=1.0)
strategy.current_arrays = {"x": np.zeros(1)}
after, _ = strategy.aggregate_train(1, ArrayRecord({"x": Array(np.ones(1))}))  # the mean change is 1
print("expected 1/(sqrt(1 + 1) + 1) = 0.4142, got", after["x"].numpy()[0])
