from types import SimpleNamespace

import torch
from fluke.algorithms.fedopt import FedOptServer

start, trained = (torch.nn.PReLU(init=x, dtype=torch.float64) for x in (0.0, 1.0))  # models with one number
# with so large a tau the step is lr/tau times the mean change, which is 1
server = FedOptServer(start, None, [SimpleNamespace(n_examples=1)], lr=0.1, tau=1e6, beta1=0.0)
server.aggregate(server.clients, [trained])
print("expected a step of 1.0 lr/tau, got", round(server.model.weight.item() * 1e6 / 0.1, 4), "lr/tau")
