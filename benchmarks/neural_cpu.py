"""Local SGD steps of all clients at once beside a Python loop over clients and seeds, on one thread of a processor.

Models and batches:

- mlp: 20-32-2, 10 clients x 20 seeds, batch 10. The one workload with a target: at least 25 times as fast as the loop.
- cnn: two 5x5 convolutions that keep the size, 32 and 64 channels, a dense layer of 512, on samples of 1x28x28; 10
  clients. Batch 32 (S. Lee et al., Partial Model Averaging in Federated Learning, Table 3) and 10 (B. McMahan et al.,
  2017).
- lstm: embedding 8, 2 x 100 units, length 80, 80 symbols; 10 clients. Batch 64 (Y. Fraboni et al., A General Theory for
  Federated Optimization with Asynchronous and Heterogeneous Clients Updates, whose model this is) and 10.
- cnn-small, lstm-small: the sizes of the scaled-down experiments of configs/neural: 8 and 16 channels, a dense layer of
  32; 2 x 16 units, length 20. 10 clients, batch 10.

The other models have no target on a processor. Their layers are those that a GPU runs: all clients in one call of
torch, which pays where a client's own work is small.

Both sides carry out one round of FedAvg, whose mean of the models is checked to be the same. The loop is the usual
simulation in PyTorch: for each client the server's parameters are loaded into one nn.Module, then optim.SGD, and for
each step zero_grad, forward, backward, step. It reads the samples in the order that our plan draws. Each time is the
processor's, the median of the repeats. The sides take turns, and the ratio is the median of the turns' ratios, beside
its quartiles: the speed of a rented processor changes from second to second, and both sides of a turn see the same.

Each workload has a process of its own: the loop's time depends on what is left of the memory of what came before.
Memory: what the steps add to the peak of a process that only does them, by client.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from _table import Row, fresh, run, take_turns
from torch import nn

from boundcheck.engines.simulate.lowering import Lowered, lower
from boundcheck.methods.build import build
from boundcheck.methods.clients import Clients
from boundcheck.networks import models, modules
from boundcheck.networks.engine.local_step import LocalStep
from boundcheck.networks.engine.memory import Lanes, lanes_that_fit
from boundcheck.networks.engine.rounds import Rounds
from boundcheck.networks.engine.task import Task
from boundcheck.networks.engine.visits import visits_of
from boundcheck.networks.functional import Network

SYMBOLS, LENGTH, ETA, TURNS = 80, 80, 0.1, 9
SEED = np.array([1], dtype=np.uint64)
AGREEMENT = 1e-2  # between the changes of both sides: in float32 a ReLU may open on one side and not on the other


@dataclass(frozen=True)
class Case:
    """A workload: lanes models, steps steps of batch samples; target: how many times as fast, None without one.

    model: name, shape of a sample, classes and options, as `networks.models.model` takes them.
    """

    name: str
    lanes: int
    batch: int
    steps: int
    target: float | None
    model: tuple[str, tuple[int, ...], int, dict[str, Any]]
    device: str = "cpu"

    @cached_property
    def data(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Samples and labels, client after client."""
        source, count = torch.Generator().manual_seed(1), self.lanes * self.steps * self.batch
        name, shape, classes, _ = self.model
        if models.takes(name) == "tokens":
            inputs = torch.randint(0, SYMBOLS, (count, *shape), generator=source)
        else:
            inputs = torch.randn(count, *shape, generator=source)
        return inputs.to(self.device), torch.randint(0, classes, (count,), generator=source).to(self.device)

    @cached_property
    def network(self) -> Network:
        name, shape, classes, options = self.model
        return Network(models.model(name, shape, classes, SYMBOLS, options), shape)

    @cached_property
    def lowered(self) -> Lowered:
        """One epoch of batches at each client."""
        method = build({"kind": "fedavg_rr", "eta_l": str(ETA), "E": 1, "batch": self.batch})
        return lower(method, Clients.alike(self.lanes, self.steps * self.batch), 1)

    @cached_property
    def rows(self) -> torch.Tensor:
        """The samples (lanes, steps, batch) of the plan."""
        drawn = visits_of(self.lowered, self.offsets, SEED, 0).samples.astype(np.int64)
        return torch.from_numpy(drawn).view(self.lanes, self.steps, self.batch).to(self.device)

    @cached_property
    def offsets(self) -> Any:
        return np.arange(self.lanes + 1) * self.steps * self.batch

    def plain(self) -> nn.Module:
        """The model with torch's own layers, at its start."""
        module = self.network.module.to_empty(device=self.device)
        for own in module.modules():
            if isinstance(own, nn.Linear):
                own.__class__ = nn.Linear
            if isinstance(own, nn.LSTM):
                own.__class__ = modules.LSTM
                own.fused = True
        start = torch.from_numpy(self.network.start(0)).float().to(self.device)
        nn.utils.vector_to_parameters(start, module.parameters())
        return module

    def loop(self) -> Callable[[], torch.Tensor]:
        """The loop over clients; returns the mean of their parameters."""
        (inputs, labels), rows, loss = self.data, self.rows, nn.CrossEntropyLoss()
        module = Case.plain(replace(self))  # a network of its own
        server = copy.deepcopy(module.state_dict())

        def go() -> torch.Tensor:
            mean = torch.zeros_like(flat(module))
            for k in range(self.lanes):
                module.load_state_dict(server)
                optimiser = torch.optim.SGD(module.parameters(), lr=ETA)
                for t in range(self.steps):
                    optimiser.zero_grad()
                    loss(module(inputs[rows[k, t]]), labels[rows[k, t]]).backward()
                    optimiser.step()
                mean += flat(module) / self.lanes
            return mean

        return go

    def ours(self) -> Callable[[], torch.Tensor]:
        """All models at once."""
        inputs, labels = self.data
        task = Task(
            network=self.network,
            known=self.lowered.known,
            weights=np.full(self.lanes, 1 / self.lanes),
            inputs=inputs,
            labels=labels,
            offsets=self.offsets,
            loss="cross_entropy",
            ridge=0.0,
            start=self.network.start(0).astype(np.float32).astype(np.float64),
            test_inputs=None,
            test_labels=None,
            device=torch.device(self.device),
            dtype=torch.float32,
        )
        server = torch.from_numpy(task.start).float().to(self.device)
        rounds = Rounds(self.lowered, LocalStep(task), SEED, Lanes(lanes_that_fit(task, self.lowered, 1)))

        def go() -> torch.Tensor:
            rounds.state[:, 0] = server
            rounds.advance(0)
            return rounds.state[0, 0]

        return go


def flat(module: nn.Module) -> torch.Tensor:
    return nn.utils.parameters_to_vector(module.parameters()).detach().clone()


MODELS: dict[str, tuple[str, tuple[int, ...], int, dict[str, Any]]] = {
    "mlp": ("mlp", (20,), 2, {"hidden": [32]}),
    "cnn": ("cnn", (1, 28, 28), 10, {}),
    "lstm": ("char_lstm", (LENGTH,), SYMBOLS, {}),
    "cnn-small": ("cnn", (1, 28, 28), 10, {"channels": [8, 16], "hidden": 32}),
    "lstm-small": ("char_lstm", (20,), SYMBOLS, {"hidden": 16}),
}


def _case(name: str, lanes: int, batch: int, steps: int, target: float | None = None) -> Case:
    return Case(f"{name}-{batch}", lanes, batch, steps, target, MODELS[name])


CASES = (
    _case("mlp", 200, 10, 20, 25),
    _case("cnn", 10, 32, 10),
    _case("cnn", 10, 10, 10),
    _case("lstm", 10, 64, 1),
    _case("lstm", 10, 10, 10),
    _case("cnn-small", 10, 10, 20),
    _case("lstm-small", 10, 10, 20),
)


def _status(name: str) -> int:
    """A number of kB that Linux keeps of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def memory(case: Case, side: str) -> float:
    """MiB by model that the steps of one side add to this process's peak."""
    go = getattr(case, side)()
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten (Linux)
    before = _status("VmRSS")
    go()
    return (_status("VmHWM") - before) / 1024 / case.lanes


def once(name: str, side: str = "") -> Any:
    """Of one workload milliseconds by step and model and the ratio of both sides; of one side its memory."""
    torch.set_num_threads(1)
    case = next(c for c in CASES if c.name == name)
    if side:
        return memory(case, side)
    seen = take_turns({"loop": case.loop(), "ours": case.ours()}, TURNS)
    start = torch.from_numpy(case.network.start(0)).float()
    apart = float((seen.found["ours"] - seen.found["loop"]).norm() / (seen.found["loop"] - start).norm())
    if not apart < AGREEMENT:
        raise SystemExit(f"{case.name}: the two sides end {apart:.1e} of their way apart")
    ratios = [a / b for a, b in zip(seen.seconds["loop"], seen.seconds["ours"], strict=True)]
    each = 1e3 / (case.lanes * case.steps)
    return [np.quantile(ratios, q) for q in (0.5, 0.25, 0.75)], [each * seen.median(n) for n in ("loop", "ours")]


def results() -> Iterator[Row]:
    for case in CASES:
        (ratio, low, high), (loop, ours) = fresh(__file__, case.name)
        slow, fast = (fresh(__file__, case.name, side) for side in ("loop", "ours"))
        note = f"quartiles {low:.2f} to {high:.2f}; {loop:.3g} and {ours:.3g} ms a step, "
        note += f"{slow:.2g} and {fast:.2g} MiB a model"
        yield Row(f"{case.name}, {case.lanes} models: time of the loop over ours", ratio, least=case.target, note=note)


if __name__ == "__main__":
    sys.exit(run(__doc__, results, once))
