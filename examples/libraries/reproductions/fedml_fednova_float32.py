from types import SimpleNamespace

import torch
from fedml.simulation.sp.fednova.client import Client

client = Client(0, None, None, 1, SimpleNamespace(dataset=""), "cpu")
one = torch.ones(1, dtype=torch.float64)
share = torch.FloatTensor([1 / 3])  # as FedNovaTrainer.train makes it
step = SimpleNamespace(ratio=share, local_normalizing_vec=1)
print(f"expected {1 / 3:.12f}, got {client.get_local_norm_grad(step, {'x': 0 * one}, {'x': one})['x'].item():.12f}")
