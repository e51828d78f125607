import torch
from fedlab.contrib.algorithm import FedAvgServerHandler

server = FedAvgServerHandler(torch.nn.Linear(1, 1, bias=False), global_round=1, sample_ratio=1.0)
server.num_clients = 2
# client 0 trained on 1 sample and client 1 on 9, so that FedAvg's mean of 0 and 1 is 9/10
server.load([torch.tensor([0.0])])
server.load([torch.tensor([1.0])])
print("expected 0.9, got", round(server.model_parameters.item(), 6))
