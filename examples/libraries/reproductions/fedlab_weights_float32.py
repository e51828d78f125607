import torch
from fedlab.utils.aggregator import Aggregators

one = torch.ones(1, dtype=torch.float64)
print("expected 1.0, got", Aggregators.fedavg_aggregate([one, one, one]).item())
