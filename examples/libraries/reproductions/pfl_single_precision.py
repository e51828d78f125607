import torch
from pfl.model.pytorch import PyTorchModel

net = torch.nn.Linear(1, 1, bias=False, dtype=torch.float64)
net.loss, net.metrics = None, None
model = PyTorchModel(net, torch.optim.SGD, torch.optim.SGD(net.parameters(), lr=1.0))
before = model.get_parameters()
net.weight.data += 0.1
print("expected torch.float64, got", model.get_model_difference(before)["weight"].dtype)
