from types import SimpleNamespace

import torch
from fluke.algorithms.feddyn import FedDynServer

model = torch.nn.PReLU(init=0.0)
server = FedDynServer(model, None, [SimpleNamespace(index=0, n_examples=1)], alpha=0.5)
server.channel.receive = lambda *given, **named: SimpleNamespace(payload=torch.ones(1))  # the client's gradient
server.aggregate(server.clients, [model])
print("expected 0 - 1/0.5 = -2.0, got", server.cld_mdl.weight.item())
