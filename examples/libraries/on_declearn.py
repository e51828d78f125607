"""Aggregators, optimiser modules and client samplers of declearn in the order of calls of its server and clients.

Its network and its data sets are not run: gradients come from the task, and vectors are declearn's NumPy vectors.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from declearn.aggregator import AveragingAggregator
from declearn.client_sampler import UniformClientSampler
from declearn.model.sklearn import NumpyVector
from declearn.optimizer import Optimizer

from libraries.runs import EPOCHS, Record, Run, size_of_cohort


class Weights:
    """What an optimiser of declearn needs of a model: its weights, and how updates are applied."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def get_weights(self, trainable: bool = False) -> NumpyVector:
        return NumpyVector({"x": self.x.copy()})

    def apply_updates(self, updates: Any) -> None:
        self.x = self.x + updates.coefs["x"]


def run(rate: float = 1.0, server: Sequence[Any] = (), client: Sequence[Any] = (), prox: Sequence[Any] = ()) -> Run:
    """Averaging of local updates; server, client: modules of the optimisers, prox: regularisers of the clients."""

    def carry_out(task: Any, seed: int) -> Record:
        record, aggregator, central = Record(), AveragingAggregator(), Optimizer(rate, modules=list(server))
        eta = float(task.step_sizes[0])
        own = [Optimizer(eta, regularizers=list(prox), modules=list(client)) for _ in task.clients]
        names = {str(c.index) for c in task.clients}
        sampler = UniformClientSampler(size_of_cohort(task), seed)
        sampler.init_clients({name: SimpleNamespace() for name in names})  # type: ignore[arg-type]
        model = Weights(task.start)
        for _ in range(task.rounds):
            cohort = sorted(int(name) for name in sampler.sample(names))
            sent, replies, auxiliary = central.collect_aux_var(), [], []
            for i in cohort:
                local = Weights(model.x)
                own[i].process_aux_var(sent)
                own[i].start_round()
                samples = [j for _ in range(EPOCHS) for j in range(task.clients[i].size)]
                for j in samples:
                    gradient = NumpyVector({"x": task.clients[i].gradient(local.x, [j])})
                    own[i].apply_gradients(local, gradient)  # type: ignore[arg-type]
                replies.append(aggregator.prepare_for_sharing(model.get_weights() - local.get_weights(), len(samples)))
                auxiliary.append(own[i].collect_aux_var())
            central.process_aux_var({name: sum(a[name] for a in auxiliary) for name in auxiliary[0]})
            central.apply_gradients(model, aggregator.finalize_updates(sum(replies)))  # type: ignore[arg-type]
            record.cohorts.append(cohort)
            record.points.append(model.x)
        return record

    return carry_out


RUNS = {
    "averaging": run(),
    "averaging, momentum": run(0.5, server=[("momentum", {"beta": 0.5})]),
    "FedProx": run(prox=[("fedprox", {"alpha": 0.5})]),
    "SCAFFOLD": run(server=["scaffold-server"], client=["scaffold-client"]),
}
