import torch
from fedlab.contrib.algorithm import qFedAvgClientTrainer

trainer = qFedAvgClientTrainer(torch.nn.Linear(2, 2))
trainer.setup_optim(epochs=1, batch_size=1, lr=0.1, q=1.0)
try:
    trainer.train(torch.zeros(6), [(torch.ones(1, 2), torch.tensor([0]))])
except AttributeError as error:
    print("expected an update, got:", error)
