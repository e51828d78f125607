import torch
from fedlab.contrib.algorithm import FedNovaServerHandler

server = FedNovaServerHandler(torch.nn.Linear(1, 1, bias=False), global_round=1, sample_ratio=0.5)
server.num_clients = 4
server.setup_optim()  # "weighted_scale" is the default
server.set_model(torch.tensor([0.0]))
for _ in range(2):  # both clients of the cohort took 3 steps and returned 1
    server.load([torch.tensor([1.0]), torch.tensor([3.0])])
print("expected 1, got", server.model_parameters.item())
