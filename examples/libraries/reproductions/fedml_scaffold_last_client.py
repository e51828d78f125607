from types import SimpleNamespace

import torch
from fedml.ml.aggregator.agg_operator import torch_aggregator

args = SimpleNamespace(federated_optimizer="SCAFFOLD", client_num_in_total=2)
changes = [(1, {"x": torch.tensor(c)}, {"x": torch.tensor(c)}) for c in (1.0, 3.0)]
model, control = torch_aggregator(args, changes, training_num=2)
print("expected 2.0 and 2.0, got", model["x"].item(), "and", control["x"].item())
