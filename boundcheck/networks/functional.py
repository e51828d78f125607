"""A module as a function of one flat vector: many models at once, by `functional_call` mapped over them (`vmap`).

The flat vector holds the parameters in the order of `named_parameters`, each in C order. A module with something that
`vmap` does not support, such as a recurrent layer other than an LSTM, is called in a loop over the models.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.core import streams
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput, Unsupported
from boundcheck.networks.engine.device import Tensor, library

START = 1010  # purpose of the streams that draw starts; round: the number of the slot
OWN_WIDTH = 32  # numbers that the layers of a user's module keep for each number of a sample, about


@dataclass(frozen=True)
class Slot:
    """A parameter in the flat vector: coordinates offset to offset + size, in C order.

    name: as in PyTorch. axis: that of the output channels (or units); gates: how many times these stand on it one after
    the other. start, width: how it begins in a shipped model: "uniform" on [-width, width], "normal" of that standard
    deviation, "ones" or "zeros".
    """

    name: str
    shape: tuple[int, ...]
    offset: int
    axis: int = 0
    gates: int = 1
    start: str = "uniform"
    width: float = 0.0

    @property
    def size(self) -> int:
        """How many coordinates it has."""
        return math.prod(self.shape)

    @property
    def layer(self) -> tuple[str, str]:
        """The place of its layer; of a deep LSTM, whose layers are one place, with the layer's number."""
        place, _, name = self.name.rpartition(".")
        depth = re.search(r"_l(\d+)", name)
        return place, depth[1] if depth else ""


def _slots(module: Any) -> Iterator[Slot]:
    nn, offset = library().nn, 0
    for place, own in module.named_modules():
        for name, parameter in own.named_parameters(recurse=False):
            how: dict[str, Any] = {}
            if isinstance(own, nn.Linear):
                how = {"width": 1 / math.sqrt(own.in_features)}
            elif isinstance(own, nn.Conv2d):
                how = {"width": 1 / math.sqrt(own.weight[0].numel())}
            elif isinstance(own, nn.LSTM):
                how = {"width": 1 / math.sqrt(own.hidden_size), "gates": 4}
            elif isinstance(own, nn.Embedding):
                how = {"start": "normal", "width": 1.0, "axis": 1}
            elif isinstance(own, nn.GroupNorm):
                how = {"start": "ones" if name == "weight" else "zeros"}
            found = Slot(f"{place}.{name}" if place else name, tuple(parameter.shape), offset, **how)
            offset += found.size
            yield found


@dataclass(frozen=True, eq=False)
class Network:
    """A module's models.

    module: with or without memory for its parameters, which are given in every call; its buffers are what they are.
    sample: the shape of a sample. mapped: whether vmap carries it.
    """

    module: Any
    sample: tuple[int, ...]
    mapped: bool = True

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """All parameters, in the order of the flat vector."""
        return tuple(_slots(self.module))

    @cached_property
    def dim(self) -> int:
        """How many coordinates a model has."""
        return sum(slot.size for slot in self.slots)

    @cached_property
    def _recurrent(self) -> tuple[Any, ...]:
        return tuple(m for m in self.module.modules() if isinstance(m, library().nn.LSTM) and hasattr(m, "fused"))

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Scores (N, B, classes) of N models at B samples each; differentiable in the parameters, any number of times.

        parameters: (N, dim), one model a row; inputs: (N, B, *sample), or (1, B, *sample) if all models see the same
        samples.
        """
        return self.scores_of(self.split(parameters), inputs)

    def split(self, parameters: Tensor) -> list[Tensor]:
        """The rows (N, dim) as one array (N, *shape) for each slot, without a copy."""
        # split once, so that the gradient of all parts is one concatenation
        parts = library().split(parameters, [slot.size for slot in self.slots], dim=1)
        return [p.view(len(parameters), *s.shape) for s, p in zip(self.slots, parts, strict=True)]

    def scores_of(self, parts: Sequence[Tensor], inputs: Tensor) -> Tensor:
        """As `scores`, of what `split` gives."""
        torch, shared, lanes = library(), inputs.shape[0] == 1, len(parts[0])
        models = {slot.name: part for slot, part in zip(self.slots, parts, strict=True)}
        buffers = {
            name: b.to(parts[0].device, parts[0].dtype if b.is_floating_point() else b.dtype)
            for name, b in self.module.named_buffers()
        }

        def one(own: Mapping[str, Tensor], samples: Tensor) -> Tensor:
            found = torch.func.functional_call(self.module, (dict(own), buffers), (samples,))
            return found.unsqueeze(-1) if found.ndim == 1 else found

        # torch's own LSTM cannot be mapped over, and on a GPU not differentiated twice
        by_kernel = bool(self._recurrent) and (
            not torch.is_grad_enabled() or (lanes == 1 and parts[0].device.type == "cpu")
        )
        if lanes == 1 or by_kernel or not self.mapped:
            for layer in self._recurrent:
                layer.fused = by_kernel
            try:
                each = [one({n: p[k] for n, p in models.items()}, inputs[0 if shared else k]) for k in range(lanes)]
            finally:
                for layer in self._recurrent:
                    layer.fused = False
            return each[0].unsqueeze(0) if lanes == 1 else torch.stack(each)
        samples = inputs[0] if shared else inputs
        return torch.func.vmap(one, in_dims=(0, None if shared else 0))(models, samples)

    @cached_property
    def width(self) -> int:
        """Numbers that one sample leaves in all layers, about: what a backward pass keeps."""
        torch, total = library(), [math.prod(self.sample)]
        if next(self.module.parameters()).device.type != "meta":  # a user's, which is not called for this
            return OWN_WIDTH * total[0]
        if self._recurrent:  # outputs of all gates, without going through time
            total += [
                5 * m.hidden_size * m.num_layers * (1 + m.bidirectional) * self.sample[0] for m in self._recurrent
            ]
            return sum(total)

        def count(own: Any, given: Any, found: Any) -> None:
            total.append(found.numel())

        leaves = [m for m in self.module.modules() if not isinstance(m, torch.nn.Sequential)]
        hooks = [m.register_forward_hook(count) for m in leaves]
        try:
            self.module(torch.empty((1, *self.sample), device="meta"))
        finally:
            for hook in hooks:
                hook.remove()
        return sum(total)

    def start(self, seed: int) -> Floats:
        """A start (dim,) of a shipped model, a function of the seed alone; the same on every device."""
        found = np.empty(self.dim)
        for k, slot in enumerate(self.slots):
            own = slice(slot.offset, slot.offset + slot.size)
            if slot.start in ("ones", "zeros"):
                found[own] = float(slot.start == "ones")
                continue
            words = streams.words([streams.check_seed(seed)], START, k, 0, 0, slot.size)[0]
            u = (words.astype(np.float64) + 0.5) * 2.0**-64
            if slot.start == "uniform":
                found[own] = slot.width * (2 * u - 1)
            else:
                from scipy.special import ndtri

                found[own] = slot.width * ndtri(np.clip(u, 2.0**-54, 1 - 2.0**-53))
        return found


# --- modules of users -----------------------------------------------------------------------------------------------


def own_network(module: Any, inputs: Tensor) -> tuple[Network, Floats, int]:
    """The network of a user's module, its parameters (dim,) and how many scores it returns for a sample.

    inputs: some samples (B, *sample), with which it is tried. Raises BadInput for what is no module or cannot be
    called, Unsupported for a module whose result is no function of its parameters and the samples alone.
    """
    from boundcheck.networks.modules import suit

    torch = library()
    if not isinstance(module, torch.nn.Module):
        raise BadInput(f"{type(module).__name__} is no torch.nn.Module.")
    _check_layers(module)
    own = copy.deepcopy(module).to("cpu").requires_grad_(True)
    if not any(True for _ in own.parameters()):
        raise BadInput(f"the module {type(module).__name__} has no parameters.")
    classes = _called(own, inputs)
    sample = tuple(inputs.shape[1:])
    found = Network(own, sample, suit(own))
    start = torch.cat([p.detach().to(torch.float64).reshape(-1) for p in own.parameters()])
    if found.mapped:
        samples = inputs.to(torch.float64) if inputs.is_floating_point() else inputs
        try:
            with torch.enable_grad():
                found.scores(start.expand(2, -1), samples.expand(2, *samples.shape))
        except RuntimeError:  # vmap does not carry it, such as a module that branches
            found = Network(own, sample, False)
    return found, start.numpy(), classes


def _check_layers(module: Any) -> None:
    """Raises Unsupported for layers whose result is no function of the parameters and the sample alone, by name."""
    nn = library().nn
    batch = (nn.modules.batchnorm._BatchNorm,)
    for name, layer in module.named_modules():
        kind, place = type(layer).__name__, f"'{name}'" if name else "itself"
        if isinstance(layer, batch) or getattr(layer, "track_running_stats", False):
            raise Unsupported(
                f"the module's layer {place} ({kind}) keeps statistics of what it has seen, so that no loss is "
                "a mean over samples; take GroupNorm."
            )
        if isinstance(layer, nn.modules.dropout._DropoutNd) or (
            isinstance(layer, nn.RNNBase | nn.MultiheadAttention) and layer.dropout
        ):
            raise Unsupported(
                f"the module's layer {place} ({kind}) drops values at random, so that its gradient is that of no loss; "
                "take dropout = 0."
            )


_OF_CALLS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def _called(module: Any, inputs: Tensor) -> int:
    """How many scores a module returns for a sample, found by calling it twice."""
    torch, name = library(), type(module).__name__
    own = copy.deepcopy(module)
    kept = {n: b.clone() for n, b in own.named_buffers()}
    samples = inputs.to(next(own.parameters()).dtype) if inputs.is_floating_point() else inputs
    try:
        with torch.no_grad():
            first, second = own(samples), own(samples)
    except _OF_CALLS as e:
        why = next(iter(str(e).splitlines()), "") or type(e).__name__
        shape = list(samples.shape[1:])
        raise BadInput(
            f"the module {name} cannot be called with samples of the shape {shape}: {why.rstrip('.')}."
        ) from e
    if not isinstance(first, torch.Tensor) or first.ndim not in (1, 2) or first.shape[0] != samples.shape[0]:
        raise BadInput(f"the module {name} must return scores of the shape (samples, classes).")
    if not torch.equal(first, second):
        raise Unsupported(f"the module {name} gives two results for the same samples; it must not draw random numbers.")
    if any(not torch.equal(b, kept[n]) for n, b in own.named_buffers()):
        raise Unsupported(f"the module {name} changes its buffers when it is called; they must stay as they are.")
    return 1 if first.ndim == 1 else int(first.shape[1])
