import torch
from fedlab.contrib.algorithm import FedDynSerialClientTrainer

returned = []
for alpha in (0.01, 100.0):
    torch.manual_seed(0)
    trainer = FedDynSerialClientTrainer(torch.nn.Linear(2, 2), num_clients=1)
    trainer.setup_optim(epochs=2, batch_size=1, lr=0.1, alpha=alpha)
    (model,) = trainer.train(0, torch.zeros(6), [(torch.ones(1, 2), torch.tensor([0]))])
    returned.append(model)
print("expected different models, got equal ones:", torch.equal(*returned))
