import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp.strategy import FedAdam, FedAvg

FedAvg.aggregate_train = lambda self, server_round, replies: (replies, None)  # only what FedAdam adds to FedAvg
strategy = FedAdam(eta=1.0, tau=1e8, beta_1=0.0, beta_2=0.99)
strategy.current_arrays = {"x": np.zeros(1)}
after, _ = strategy.aggregate_train(1, ArrayRecord({"x": Array(np.ones(1))}))
print("expected sqrt(1 - 0.99) = 0.1, got", round(after["x"].numpy()[0] * 1e8, 4))
