import torch
from fluke.algorithms.fedopt import FedOptServer

print("expected at least tau^2 = 0.01, got", FedOptServer(torch.nn.PReLU(), None, [], tau=0.1).v_t["weight"].item())
