"""Local SGD steps of all clients at once beside a Python loop over clients and seeds, on one thread of a processor.

    python benchmarks/neural_cpu.py [mlp cnn lstm] [--repeats 9]     times, ratios, first call, memory
    python benchmarks/neural_cpu.py --case cnn-32                    one workload in this process
    python benchmarks/neural_cpu.py --memory cnn-32 ours             one side in this process, its peak memory

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
"first" is the time of the first call of all its steps in that process.
Memory: the peak of a process that only does these steps, less what it had before them, by client. Exit code 1 where a
target is missed.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
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

SYMBOLS, LENGTH, ETA = 80, 80, 0.1
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


def timed(go: Callable[[], Any]) -> float:
    """Processor time of a call, in seconds."""
    began = time.process_time()
    go()
    return time.process_time() - began


def memory(case: Case, side: str) -> float:
    """Peak memory that the steps add, in MiB by lane, measured in a process of their own."""
    found = subprocess.run(
        [sys.executable, __file__, "--memory", case.name, side], capture_output=True, text=True, check=True
    )
    return float(found.stdout) / case.lanes


def measure(case: Case, side: str) -> None:
    """Prints the MiB that the steps add to this process's peak."""
    go = getattr(case, side)()
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten (Linux)
    before = _status("VmRSS")
    go()
    print((_status("VmHWM") - before) / 1024)


def _status(name: str) -> int:
    """A number of kB that Linux keeps of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def compare(case: Case, repeats: int) -> bool:
    """Prints one workload; whether its target is met."""
    loop, ours = case.loop(), case.ours()
    start = torch.from_numpy(case.network.start(0)).float()
    began = time.process_time()
    found = ours()
    first = time.process_time() - began
    wanted = loop()
    apart = float((found - wanted).norm() / (wanted - start).norm())
    if not apart < AGREEMENT:
        raise SystemExit(f"{case.name}: the two sides end {apart:.1e} of their way apart")
    turns = [(timed(loop), timed(ours)) for _ in range(repeats)]
    slow, fast = (statistics.median(side) for side in zip(*turns, strict=True))
    low, ratio, high = np.quantile([a / b for a, b in turns], (0.25, 0.5, 0.75))
    each = case.lanes * case.steps
    met = case.target is None or bool(ratio >= case.target)
    print(
        f"{case.name:<14}{case.lanes:>6}{1e3 * slow / each:>11.3f}{1e3 * fast / each:>11.3f}{ratio:>8.2f}"
        f"{f'{low:.2f}-{high:.2f}':>12}{'none' if case.target is None else case.target:>8}{first:>8.2f}"
        f"{memory(case, 'loop'):>10.2f}{memory(case, 'ours'):>10.2f}{'' if met else '  MISSED'}",
        flush=True,
    )
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description="Local SGD steps of many clients at once, on one thread.")
    parser.add_argument("models", nargs="*", help="mlp, cnn, lstm; default all")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--case", metavar="CASE")
    parser.add_argument("--memory", nargs=2, metavar=("CASE", "SIDE"))
    options = parser.parse_args()
    models, names = ({c.name.partition("-")[0] for c in CASES}, {c.name for c in CASES})
    if unknown := sorted(set(options.models) - models):
        parser.error(f"no model {', '.join(unknown)}; there are {', '.join(sorted(models))}")
    if options.repeats < 1:
        parser.error("--repeats is at least 1")
    if options.memory and not (options.memory[0] in names and options.memory[1] in ("loop", "ours")):
        parser.error(f"--memory takes {', '.join(sorted(names))}, then loop or ours")
    if options.case and options.case not in names:
        parser.error(f"--case takes {', '.join(sorted(names))}")
    torch.set_num_threads(1)
    if options.memory:
        name, side = options.memory
        measure(next(c for c in CASES if c.name == name), side)
        return 0
    if options.case:
        return 0 if compare(next(c for c in CASES if c.name == options.case), options.repeats) else 1
    print(f"torch {torch.__version__}, one thread, float32")
    print("Times in ms by step and model; first call of all steps in s; memory in MiB by model")
    print(
        f"{'':<14}{'models':>6}{'loop':>11}{'ours':>11}{'ratio':>8}{'quartiles':>12}{'target':>8}{'first':>8}"
        f"{'MiB loop':>10}{'MiB ours':>10}",
        flush=True,
    )
    wanted = [c for c in CASES if not options.models or c.name.partition("-")[0] in options.models]
    given = "--repeats", str(options.repeats)
    ends = [
        subprocess.run([sys.executable, __file__, "--case", c.name, *given], check=False).returncode for c in wanted
    ]
    return 0 if not any(ends) else 1


if __name__ == "__main__":
    sys.exit(main())
