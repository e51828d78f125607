import torch
from fedml.simulation.sp.feddyn.feddyn_trainer import FedDynTrainer

from libraries.on_fedml import build

net = torch.nn.PReLU(init=0.0).requires_grad_(False)
loop = build(FedDynTrainer, "FedDyn", net, [[]])  # one client, one round, alpha = 1/2
loop.model_trainer.train = lambda *given: net.weight.add_(1.0)  # the client moves the model by 1
loop.train()
print("expected 1 + (alpha * 1)/alpha = 2.0, got", net.weight.item())
