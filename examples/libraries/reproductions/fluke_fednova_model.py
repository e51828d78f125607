from types import SimpleNamespace

import torch
from fluke.algorithms.fednova import FedNovaServer

model, steps = torch.nn.PReLU(init=1.0).requires_grad_(False), [2, 4]
server = FedNovaServer(model, None, [SimpleNamespace(index=i) for i in range(2)])
server.channel.receive = lambda *given: SimpleNamespace(payload=steps.pop())
server.aggregate(server.clients, [model, model])  # both clients return the model as they got it
print("expected 1.0, got", model.weight.item())
