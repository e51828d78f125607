from types import SimpleNamespace

import torch
from fluke.algorithms.fednova import FedNovaServer

model = torch.nn.PReLU(init=1.0, dtype=torch.float64).requires_grad_(False)
server = FedNovaServer(model, None, [SimpleNamespace(index=i) for i in range(3)])
server.channel.receive = lambda *given: SimpleNamespace(payload=1)  # one local step each
server.aggregate(server.clients, [model] * 3)
print("expected 1.0, got", model.weight.item())
