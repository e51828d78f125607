from types import SimpleNamespace

import torch
from fluke.algorithms.fedavgm import FedAVGMServer

start, trained = (torch.nn.PReLU(init=x).requires_grad_(False) for x in (0.0, 1.0))  # models with one number
server = FedAVGMServer(start, None, [SimpleNamespace(n_examples=1)])
server.aggregate(server.clients, [trained])
print("expected 1.0, got", server.model.weight.item())
