"""Algorithms of fluke: its clients, servers and loop over rounds, with the loss of a task."""

from dataclasses import dataclass
from typing import Any

from fluke.algorithms import CentralizedFL
from fluke.algorithms.fedavg import FedAVG
from fluke.algorithms.fedavgm import FedAVGM
from fluke.algorithms.feddyn import FedDyn
from fluke.algorithms.fednova import FedNova
from fluke.algorithms.fedopt import FedOpt
from fluke.algorithms.fedprox import FedProx
from fluke.algorithms.scaffold import SCAFFOLD
from fluke.config import OptimizerConfigurator
from fluke.data import FastDataLoader
from fluke.utils import FederationObserver

from libraries.runs import EPOCHS, Loss, Point, Record, Run, data_of, seed_all, size_of_cohort


@dataclass(eq=False)
class Measure(FederationObserver):
    """Record what the loop tells: who was selected, and that a round has ended."""

    record: Record
    server: Any

    def selected_clients(self, round: int, clients: Any) -> None:
        self.record.cohorts.append([client.index for client in clients])

    def end_round(self, round: int) -> None:
        self.record.points.append(self.server.model.numbers())


def run(algorithm: type[CentralizedFL], client: dict[str, Any] | None = None, **server: Any) -> Run:
    """An algorithm on a task; client, server: options of its clients and its server."""

    def carry_out(task: Any, seed: int) -> Record:
        seed_all(seed)
        record, n = Record(), len(task.clients)
        optimiser = OptimizerConfigurator({"name": "SGD", "lr": float(task.step_sizes[0])})
        build: Any = algorithm.__new__(algorithm)  # for the classes of its clients and its server
        common = {"optimizer_cfg": optimiser, "loss_fn": Loss(task), "local_epochs": EPOCHS, "test_set": None}
        data = [FastDataLoader(*data_of(c), num_labels=1, batch_size=1, skip_singleton=False) for c in task.clients]
        known = {**common, **(client or {})}
        clients = [build.get_client_class()(index=i, train_set=own, **known) for i, own in enumerate(data)]
        own = build.get_server_class()(model=Point(task), test_set=None, clients=clients, **server)
        loop = algorithm(n, None, {}, clients=clients, server=own)  # type: ignore[arg-type]
        loop.set_callbacks([Measure(record, own)])
        loop.run(task.rounds, size_of_cohort(task) / n)
        return record

    return carry_out


_DYN = {"alpha": 0.5, "clipping": 0}
RUNS = {
    "FedAVG": run(FedAVG, weighted=True),
    "FedProx": run(FedProx, {"mu": 0.5}),
    "FedAVGM": run(FedAVGM, momentum=0.5),
    "FedOpt, Adagrad": run(FedOpt, mode="adagrad", lr=0.1, tau=0.001),
    "FedOpt, Adam": run(FedOpt, mode="adam", lr=1e8, tau=1e8, beta1=0.0),
    "FedNova": run(FedNova, weighted=True),
    "SCAFFOLD": run(SCAFFOLD, weighted=False),
    "SCAFFOLD, server step 1/2": run(SCAFFOLD, weighted=False, global_step=0.5),
    "FedDyn": run(FedDyn, _DYN, alpha=0.5, weighted=False),
}
