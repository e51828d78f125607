"""A torch module of your own in federated training: `python examples/own_module.py`.

Ten clients with few digits each (8 x 8 images, shipped with scikit-learn) run FedAvg, clients and seeds at once.
"""

import numpy as np
import torch
from sklearn.datasets import load_digits

import boundcheck as bc
from boundcheck.networks.own_module import own_module


class Digits(torch.nn.Module):
    """Scores of ten digits; nothing here knows of boundcheck."""

    def __init__(self) -> None:
        super().__init__()
        self.look = torch.nn.Conv2d(1, 8, 3, padding=1)
        self.decide = torch.nn.Linear(8 * 4 * 4, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """(samples, 1, 8, 8) to (samples, 10)."""
        seen = torch.nn.functional.max_pool2d(torch.nn.functional.gelu(self.look(images)), 2)
        return self.decide(seen.flatten(1))


torch.manual_seed(0)  # of the module's start
digits = load_digits()
images, labels = digits.images[:, None] / 16, digits.target
shards = np.argsort(labels[:1200], kind="stable").reshape(2, 10, 60)
order = shards.transpose(1, 0, 2).ravel()  # each client has two of the twenty shards
held = {"test_inputs": images[1200:], "test_labels": labels[1200:]}
problem = own_module(Digits(), inputs=images[order], labels=labels[order], sizes=[120] * 10, **held)
method = bc.method(kind="fedavg_reshuffled", batch=20, eta="1/5", size=5)
curve = bc.run(method, problem, engine="neural", rounds=[0, 5, 10, 20], seeds=3, neural={"precision": "float64"})
for r, f, right in zip(curve.rounds, curve.values["f"], curve.values["accuracy"], strict=True):
    print(f"round {r:>2}: F = {f:.3f}, held-out accuracy {right:.1%}")  # noqa: T201
