import torch
from fedlab.contrib.algorithm import AsyncServerHandler

server = AsyncServerHandler(torch.nn.Linear(1, 1), global_round=10)
server.setup_optim(torch.tensor(1.0), strategy="hinge", a=10, b=4)
server.round = 5
print("expected 1/11 = 0.0909, got", round(server.adapt_alpha(receive_model_time=0).item(), 4))
