from types import SimpleNamespace

import torch
from fedml.ml.trainer.scaffold_trainer import ScaffoldModelTrainer
from fedml.simulation.sp.scaffold.client import Client

net = torch.nn.PReLU(init=0.0).requires_grad_(False)
trainer = ScaffoldModelTrainer(net, None)
trainer.train = lambda *given: net.weight.sub_(1.0) is not None  # one local step along a gradient of 1
client = Client(0, 0, 0, 1, SimpleNamespace(learning_rate=1.0), 0, trainer)
client.train({"weight": torch.zeros(1)}, {"weight": torch.zeros(1)})
print("expected c_i = 1.0, got", client.c_model_local.weight.item())
