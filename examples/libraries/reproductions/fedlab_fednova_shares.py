import torch
from fedlab.contrib.algorithm import FedNovaServerHandler

server = FedNovaServerHandler(torch.nn.PReLU(init=0.0), global_round=1, sample_ratio=1.0)
server.num_clients = 2
server.setup_optim()
# one step each; client 0 has 1 sample and stays at 0, client 1 has 9 and moves to 1
server.load([torch.tensor([0.0]), torch.tensor([1.0])])
server.load([torch.tensor([1.0]), torch.tensor([1.0])])
print("expected 0.9, got", server.model_parameters.item())
