import copy

import torch
from fedml.ml.trainer.my_model_trainer_classification import ModelTrainerCLS
from fedml.simulation.sp.fedavg.client import Client

net = torch.nn.PReLU(init=0.0).requires_grad_(False)
trainer = ModelTrainerCLS(net, None)
trainer.train = lambda *given: net.weight.add_(1.0)  # local training that moves any model by 1
w_global = trainer.get_model_params()
ends = [Client(i, 0, 0, 1, 0, 0, trainer).train(copy.deepcopy(w_global))["weight"].item() for i in (0, 1)]
print("expected [1.0, 1.0], got", ends)
