import torch
from pfl.model.pytorch import PyTorchModel

net = torch.nn.Linear(1, 1, bias=False)
net.loss, net.metrics = lambda: 3 * net.weight.sum(), dict  # the gradient is 3
model = PyTorchModel(net, torch.optim.SGD, torch.optim.SGD(net.parameters(), lr=1.0))
before = model.get_parameters()
net.loss().backward()
torch.optim.SGD(net.parameters(), lr=1.0).step()
# algorithm/scaffold.py with use_gradient_as_control_variate takes this difference as c_i
print("expected c_i = 3, got", round(model.get_model_difference(before)["weight"].item(), 6))
