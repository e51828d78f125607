from types import SimpleNamespace

import torch
from fluke.algorithms.scaffold import SCAFFOLDServer

model = torch.nn.PReLU(init=1.0).requires_grad_(False)
server = SCAFFOLDServer(model, None, [SimpleNamespace(index=0, n_examples=1)], global_step=0.5)
server.channel.receive = lambda *given: SimpleNamespace(payload={"weight": torch.zeros(1)})
server.aggregate(server.clients, [model])  # the client returns the model as it got it
print("expected 1.0, got", server.model.weight.item())
