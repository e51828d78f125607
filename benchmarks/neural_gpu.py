"""The neural engine on a GPU: that it is right there, a row of each full configuration, and its speed.

    python benchmarks/neural_gpu.py                       everything; without a GPU one sentence, and exit code 2
    python benchmarks/neural_gpu.py -o rows.json          and the rows of the full configurations as a file
    python benchmarks/neural_gpu.py --compiled --graphs   with torch.compile and CUDA graphs
    python benchmarks/neural_gpu.py --cpu                 the speed on one CPU thread, fewer clients
    python benchmarks/neural_gpu.py --cpu --small         the same with small models: a test of this script

No result of a GPU is in this repository: where this was written there was none. What is done first therefore is to hold
the engine against torch's own layers on the card: steps of all clients at once against the same steps one after the
other, and passes without gradients, in float64, eager and as CUDA graphs. Then one row of each file of
`configs/neural/full` runs for some rounds (`neural_rows.py`), then comes the speed: clients x local steps a second,
beside a loop over clients and the roofline of the card.

Samples are random numbers in the shape of the data sets (MNIST, CIFAR-10, Shakespeare): time does not depend on them.
Both contestants take the same steps of stochastic gradient descent; their results are compared in float64 first (in
float32 a ReLU that is 0 but for rounding may open in one and not in the other: "apart" is the relative difference).

Rival: a loop over the clients, each loaded into one torch module (cuDNN's convolutions and LSTM), tau steps of
torch.optim.SGD, and stored again.

Roofline. `neural_roofline` counts, from the architecture alone, the operations of each layer of a local step (products:
a multiplication and an addition each) and the least traffic, where each pass over a layer reads and writes each of its
arrays once: forward, gradient of the weights, gradient of the inputs, and the update. No step that goes layer by
layer is faster than the sum over layers of max(operations/ceiling of products, bytes/ceiling of copies); both
ceilings are measured in the same run, as a large matrix product in the same precision and a large copy. "of roofline"
is that time over the measured one. Per client and step with 32 samples in float32:

    model                    parameters   operations   least traffic   operations a byte
    CNN, MNIST                1 663 370     2.32 Gop        92.0 MB                  25
    ResNet-20, CIFAR-10         272 474     7.92 Gop         479 MB                  17
    char-LSTM, 80 symbols       133 520     1.89 Gop        33.5 MB                  56

ResNet-20 on CIFAR-10 with 128 clients, tau = 10, 10 000 iterations (S. Lee et al., Partial Model Averaging in
Federated Learning, Table 3): 1.01e16 operations and 614 TB. With what NVIDIA states for an H100 (67 TFLOP/s in float32,
3.35 TB/s) that is 151 s of products and 183 s of traffic; layer by layer at least 277 s, of which 183 s are left where
products cost next to nothing (TF32). So minutes, and memory before products. The time that is printed is extrapolated
from a stretch of rounds, averaging included.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import neural_rows
import numpy as np
from neural_roofline import Work, client_step

from boundcheck.methods.clients import Clients, Repeated
from boundcheck.networks.architectures import zoo
from boundcheck.networks.architectures.architecture import Architecture
from boundcheck.networks.architectures.layers import (
    LSTM,
    Convolution,
    Dense,
    Embedding,
    Flatten,
    GlobalMean,
    GroupNorm,
    Last,
    Layer,
    MaxPool,
    Relu,
    Residual,
)
from boundcheck.networks.engine import local_step
from boundcheck.networks.engine.batched import batched
from boundcheck.networks.engine.device import PRECISIONS, Settings, environment, library, peak_memory, reset_peak_memory
from boundcheck.networks.engine.task import Task

TAU, ITERATIONS, CLIENTS = 10, 10_000, 128
SYMBOLS, LENGTH = 80, 80
ETA = 0.01
SAMPLES = 32  # of a step
REPEATS = 5
AGREEMENT = 1e-9  # of the update after three steps, and of the scores, in float64


class Ceilings(NamedTuple):
    """What the device reaches: operations a second in matrix products, bytes a second (read and written) in copies."""

    operations: float
    bytes: float

    def seconds(self, passes: Sequence[Work]) -> float:
        """The least time of passes one after the other."""
        return sum(max(w.operations / self.operations, w.bytes / self.bytes) for w in passes)


def models(*, small: bool) -> dict[str, Architecture]:
    """The models of the three data sets; small: of the same layers, for a test."""
    if small:
        return {
            "CNN": zoo.architecture("cnn", (1, 8, 8), 10, options={"channels": [2, 4], "hidden": 8}),
            "ResNet-20": zoo.architecture("resnet20", (3, 8, 8), 10, options={"width": 4, "blocks": 1, "groups": 2}),
            "char-LSTM": zoo.architecture("char_lstm", (6,), 12, 12, {"embedding": 3, "hidden": 5}),
        }
    return {
        "CNN": zoo.architecture("cnn", (1, 28, 28), 10),
        "ResNet-20": zoo.architecture("resnet20", (3, 32, 32), 10),
        "char-LSTM": zoo.architecture("char_lstm", (LENGTH,), SYMBOLS, SYMBOLS),
    }


def module(model: Architecture) -> Any:
    """The model as a torch module, parameters in the order of the flat vector."""
    nn = library().nn

    class Sum(nn.Module):
        def __init__(self, layer: Residual) -> None:
            super().__init__()
            self.body, self.shortcut = stack(layer.body), stack(layer.shortcut)

        def forward(self, x: Any) -> Any:
            return self.body(x) + self.shortcut(x)

    class Outputs(nn.Module):
        def __init__(self, layer: LSTM) -> None:
            super().__init__()
            self.inner = nn.LSTM(layer.inputs, layer.hidden, layer.layers, batch_first=True, bidirectional=layer.both)

        def forward(self, x: Any) -> Any:
            return self.inner(x)[0]

    class Final(nn.Module):
        def forward(self, x: Any) -> Any:
            return x[:, -1]

    class Mean(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.mean(dim=(2, 3))

    def one(layer: Layer) -> Any:
        match layer:
            case Dense():
                return nn.Linear(layer.inputs, layer.outputs, layer.bias)
            case Convolution():
                sizes = layer.inputs, layer.outputs, layer.kernel, layer.stride, layer.padding
                return nn.Conv2d(*sizes, bias=layer.bias)
            case GroupNorm():
                return nn.GroupNorm(layer.groups, layer.channels, layer.epsilon)
            case MaxPool():
                return nn.MaxPool2d(layer.size, layer.stride, layer.padding)
            case Embedding():
                return nn.Embedding(layer.symbols, layer.width)
            case Relu():
                return nn.ReLU()
            case Flatten():
                return nn.Flatten()
            case GlobalMean():
                return Mean()
            case LSTM():
                return Outputs(layer)
            case Last(both=False):
                return Final()
            case Residual():
                return Sum(layer)
            case _:
                raise TypeError(f"no module for the layer {layer}")

    def stack(layers: Sequence[Layer]) -> Any:
        return nn.Sequential(*(one(layer) for layer in layers))

    return stack(model.layers)


class Bench:
    """A model on a device: clients' points, samples, and what both contestants do with them."""

    def __init__(self, model: Architecture, device: str, settings: Settings, clients: int, batch: int) -> None:
        torch = library()
        self.clock = clock_of(device)
        self.model, self.settings, self.clients, self.device = model, settings, clients, torch.device(device)
        dtype = torch.float64 if settings.precision == "float64" else torch.float32
        draw = torch.Generator().manual_seed(1)
        count = clients * batch * 2
        if model.kind == "tokens":
            inputs = torch.randint(model.classes, (count, *model.inputs), generator=draw)
        else:
            inputs = torch.randn(count, *model.inputs, generator=draw).to(dtype)
        labels = torch.randint(model.classes, (count,), generator=draw)
        self.task = Task(
            network=batched(model),
            known=Clients(Repeated(Fraction(1, clients), clients), Repeated(2 * batch, clients)),
            weights=np.full(clients, 1 / clients),
            inputs=inputs.to(self.device),
            labels=labels.to(self.device),
            offsets=np.arange(clients + 1) * 2 * batch,
            loss="cross_entropy",
            ridge=0.0,
            start=model.start(0),
            test_inputs=None,
            test_labels=None,
            device=self.device,
            dtype=dtype,
            autocast=settings.precision == "bf16",
        )
        self.start = torch.from_numpy(model.start(0)).to(self.device, dtype)
        own = torch.arange(clients)[:, None] * 2 * batch
        self.rows = [(own + torch.randperm(2 * batch, generator=draw)[:batch]).to(self.device) for _ in range(TAU)]
        self.module = module(model).to(self.device, dtype)
        self.step = local_step.prepare(self.task, settings)

    def together(self, steps: int, lanes: int) -> Any:
        """Points (clients, dim) after local steps of all clients, so many at once."""
        points, eta = self.start.repeat(self.clients, 1), self.start.new_full((self.clients, 1), ETA)
        for first in range(0, self.clients, lanes):
            own = points[first : first + lanes]
            for t in range(steps):
                self.step.descend(own, self.rows[t % TAU][first : first + lanes], None, eta[first : first + lanes])
        return points

    def one_by_one(self, steps: int, clients: int) -> Any:
        """The same for the first clients, one after the other."""
        torch, task = library(), self.task
        utils, points = torch.nn.utils, self.start.repeat(clients, 1)
        descent = torch.optim.SGD(self.module.parameters(), lr=ETA)
        for c in range(clients):
            with torch.no_grad():
                utils.vector_to_parameters(points[c], self.module.parameters())
            for t in range(steps):
                own = self.rows[t % TAU][c]
                descent.zero_grad()
                with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=task.autocast):
                    scores = self.module(task.inputs[own])
                torch.nn.functional.cross_entropy(scores.to(task.dtype), task.labels[own]).backward()
                descent.step()
            with torch.no_grad():
                points[c] = utils.parameters_to_vector(self.module.parameters())
        return points

    def seconds(self, call: Callable[[], Any]) -> float:
        """Median time of a call, after one that does not count."""
        found = list[float]()
        for _ in range(REPEATS + 1):
            self.wait()
            begin = self.clock()
            call()
            self.wait()
            found.append(self.clock() - begin)
        return statistics.median(found[1:])

    def wait(self) -> None:
        if self.device.type == "cuda":
            library().cuda.synchronize()


def clock_of(device: str) -> Callable[[], float]:
    """Time on a GPU; on one CPU thread its processor time, which others on the machine disturb less."""
    return time.process_time if device == "cpu" else time.perf_counter


def ceilings(device: str, precision: str, *, small: bool) -> Ceilings:
    """Measured: the best of some large products in this precision and of some large copies (read and written)."""
    torch = library()
    kind = {"float64": torch.float64, "bf16": torch.bfloat16}.get(precision, torch.float32)
    side, numbers = (8192, 1 << 28) if device == "cuda" else (2048, 1 << 25)
    if small:
        side, numbers = 256, 1 << 18
    a, b = torch.randn(side, side, device=device).to(kind), torch.randn(side, side, device=device).to(kind)
    source = torch.ones(numbers, device=device)
    target = torch.empty_like(source)
    clock = clock_of(device)

    def best(call: Callable[[], Any]) -> float:
        found = list[float]()
        for _ in range(REPEATS + 2):
            begin = clock()
            call()
            if device == "cuda":
                torch.cuda.synchronize()
            found.append(clock() - begin)
        return min(found)

    return Ceilings(2 * side**3 / best(lambda: a @ b), 8 * numbers / best(lambda: target.copy_(source)))


def check(name: str, bench: Bench) -> None:
    """Steps and scores of both contestants in float64. Raises SystemExit if they disagree."""
    torch = library()
    norm = torch.linalg.vector_norm
    for graphs in (False, True) if bench.device.type == "cuda" else (False,):
        settings = replace(bench.settings, precision="float64", compiled=False, graphs=graphs)
        own = Bench(bench.model, bench.task.device.type, settings, 3, 4)
        ours, theirs = own.together(3, 2), own.one_by_one(3, 3)
        away = float(norm(ours - theirs) / norm(theirs - own.start))
        if not away < AGREEMENT:
            sys.exit(f"{name}: the contestants disagree: {away:.1e} of the update{' with CUDA graphs' * graphs}.")
        with torch.no_grad():
            scores = own.task.network.scores(own.start.repeat(2, 1), own.task.inputs[None])
            torch.nn.utils.vector_to_parameters(own.start, own.module.parameters())
            wanted = own.module(own.task.inputs)
        away = float((scores - wanted).abs().max() / wanted.abs().max())
        if not away < AGREEMENT:
            sys.exit(f"{name}: the contestants disagree: {away:.1e} of the scores.")


def compare(name: str, bench: Bench, passes: Sequence[Work], top: Ceilings, options: argparse.Namespace) -> None:
    """One line: both contestants, the achieved rates, the share of the roofline."""
    torch = library()
    check(name, bench)
    few, lanes = min(bench.clients, options.loop), options.lanes or bench.clients
    reset_peak_memory(bench.device)
    ours = bench.seconds(lambda: bench.together(options.steps, lanes)) / (options.steps * bench.clients)
    held = peak_memory(bench.device)["bytes"] if bench.device.type == "cuda" else 0
    theirs = bench.seconds(lambda: bench.one_by_one(options.steps, few)) / (options.steps * few)
    a, b = bench.together(options.steps, lanes)[:few], bench.one_by_one(options.steps, few)
    away = float(torch.linalg.vector_norm(a - b) / torch.linalg.vector_norm(b - bench.start))
    operations, moved = sum(w.operations for w in passes), sum(w.bytes for w in passes)
    print(
        f"{name:<11}{bench.settings.precision:<9}{1 / ours:>9.0f}{1 / theirs:>9.0f}{theirs / ours:>8.1f}x"
        f"{operations / ours / 1e12:>9.3f}{top.operations / 1e12:>9.3f}"
        f"{moved / ours / 1e9:>8.1f}{top.bytes / 1e9:>8.1f}"
        f"{top.seconds(passes) / ours:>10.1%}{away:>10.1e}" + (f"{held / bench.clients / 1e6:>9.1f}" if held else "")
    )
    for notice in bench.step.notices:
        print(f"  {notice}")


def whole_run(bench: Bench, options: argparse.Namespace) -> None:
    """The long run, extrapolated from rounds of TAU steps and an averaging."""
    lanes = options.lanes or bench.clients

    def a_round() -> Any:
        return bench.together(options.steps, lanes).mean(dim=0)

    rounds = ITERATIONS / TAU * (TAU / options.steps)
    seconds = bench.seconds(a_round) * rounds * CLIENTS / bench.clients
    unit, per = ("minutes", 60) if seconds < 2 * 3600 else ("hours", 3600)
    print(
        f"ResNet-20, {CLIENTS} clients, tau = {TAU}, {ITERATIONS} iterations, {bench.settings.precision}: "
        f"{seconds / per:.1f} {unit} (extrapolated from {REPEATS} stretches of {options.steps} iterations with "
        f"{bench.clients} clients)"
    )


def right_on_the_card() -> None:
    """Hold every model, small, against torch's own layers. Raises SystemExit if they disagree."""
    settings = Settings("cuda", "float64")
    with environment(settings, library().device("cuda")):
        for name, model in models(small=True).items():
            check(name, Bench(model, "cuda", settings, 3, 4))
            print(f"{name}: as torch's own layers have it, eager and as CUDA graphs")


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The neural engine against a loop over clients and the roofline.")
    parser.add_argument("--cpu", action="store_true", help="on one CPU thread")
    parser.add_argument("--small", action="store_true", help="small models")
    parser.add_argument("--clients", type=int, help=f"default: {CLIENTS}, on the CPU 4")
    parser.add_argument("--loop", type=int, default=4, help="clients of the loop, whose time is linear in them")
    parser.add_argument("--steps", type=int, help=f"local steps; default: {TAU}, on the CPU 2")
    parser.add_argument("--batch", type=int, default=SAMPLES)
    parser.add_argument("--lanes", type=int, help="clients at once; default: all")
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, help="default: all but float64; CPU: float32")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--rounds", type=int, default=neural_rows.ROUNDS, help="of the rows")
    parser.add_argument("-o", "--out", type=Path, help="JSON file for the rows")
    options = parser.parse_args(given)
    counts = (options.clients, options.loop, options.steps, options.batch, options.lanes, options.rounds)
    if any(count is not None and count < 1 for count in counts):
        parser.error("clients, loop, steps, batch, lanes and rounds are at least 1.")
    torch = library()
    if not options.cpu and not torch.cuda.is_available():
        print("There is no GPU here (torch sees none), so nothing was run; --cpu measures the speed on a processor.")
        return 2
    device = "cpu" if options.cpu else "cuda"
    clients = options.clients or (4 if options.cpu else CLIENTS)
    options.steps = options.steps or (2 if options.cpu else TAU)
    print(f"{'one CPU thread' if options.cpu else torch.cuda.get_device_name()}, torch {torch.__version__}")
    if not options.cpu:
        right_on_the_card()
        neural_rows.report(neural_rows.FULL, device, options.rounds, graphs=options.graphs, out=options.out)
    print(
        f"{clients} clients, {options.steps} local steps, {options.batch} samples a step"
        + (", models of a fraction of their size" if options.small else "")
    )
    print("a second: clients x local steps; TFLOP/s and GB/s: achieved, then the ceiling measured in this run")
    print(
        f"{'model':<11}{'precision':<9}{'a second':>9}{'loop':>9}{'ratio':>9}{'TFLOP/s':>9}{'ceiling':>9}{'GB/s':>8}"
        f"{'ceiling':>8}{'roofline':>10}{'apart':>10}" + ("" if options.cpu else f"{'MB/client':>10}")
    )
    for precision in options.precision or (("float32",) if options.cpu else ("float32", "tf32", "bf16")):
        settings = Settings(device, precision, compiled=options.compiled, graphs=options.graphs)
        with environment(settings, torch.device(device)):
            top = ceilings(device, precision, small=options.small)
            for name, model in models(small=options.small).items():
                bench = Bench(model, device, settings, clients, options.batch)
                passes = client_step(model, options.batch, {"float64": 8, "bf16": 2}.get(precision, 4))
                compare(name, bench, passes, top, options)
                if name == "ResNet-20":
                    whole_run(bench, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
