from types import SimpleNamespace

import torch
from fedml.ml.trainer.mime_trainer import MimeModelTrainer

net = torch.nn.Linear(1, 2, bias=False)
net.weight.data.fill_(0.0)
args = SimpleNamespace(client_optimizer="sgd", learning_rate=0.0, weight_decay=0, momentum=0, epochs=1, mimelite=True)
batches = [(torch.tensor([[10.0]]), torch.tensor([1]))] * 3  # the gradient of each is (5, -5)
trainer = MimeModelTrainer(net, args)
found = trainer.train(batches, "cpu", args, None, {"weight": {}})
print("expected 5.0, got", round(found["weight"][0].item(), 4))
