from types import SimpleNamespace

import torch
from fedml.ml.trainer.feddyn_trainer import FedDynModelTrainer

ends = []
for alpha in (0.01, 100.0):
    net = torch.nn.PReLU(init=1.0)
    args = SimpleNamespace(client_optimizer="sgd", learning_rate=0.1, epochs=2, feddyn_alpha=alpha, weight_decay=0)
    batches = [(torch.tensor([[1.0, -1.0]]), torch.tensor([0]))]
    ends.append(FedDynModelTrainer(net, args).train(batches, "cpu", args, {"weight": torch.ones(1)}) and net.weight)
print("expected different models, got equal ones:", torch.equal(*ends))
