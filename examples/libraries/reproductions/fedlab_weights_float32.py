"""FedLab 1.3.0: the mean of three equal models in float64 is another one."""

import torch
from fedlab.utils.aggregator import Aggregators

one = torch.ones(1, dtype=torch.float64)
print("expected 1.0, got", Aggregators.fedavg_aggregate([one, one, one]).item())
