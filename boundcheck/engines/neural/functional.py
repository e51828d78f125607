"""A torch module of the user's own as a network of many models, through `torch.func`.

The module is called as it is, with the parameters of one model after another mapped over (vmap); its recurrent layers,
which cannot be mapped over, are called in a loop, and so is a module with something else that vmap does not carry. The
flat vector holds the parameters in the order of `named_parameters`, each in C order.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from boundcheck.engines.curve import Floats
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Tensor
from boundcheck.errors import BadInput, Unsupported

__all__ = ["Functional", "check_calls", "check_module", "functional", "mapped_where_possible"]


@dataclass(frozen=True, eq=False)
class Functional:
    """A module as a network.

    module: whose parameters and buffers are those that it had when it was handed over, on the CPU. shapes: of its
    parameters, by name, in the order of the flat vector. mapped: whether vmap carries it.
    """

    module: Any
    shapes: Mapping[str, tuple[int, ...]]
    mapped: bool

    @property
    def dim(self) -> int:
        """Coordinates of a model."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def start(self) -> Floats:
        """The parameters that the module was handed over with (dim,)."""
        torch = library()
        values = [p.detach().to("cpu", torch.float64).reshape(-1) for p in self.module.parameters()]
        return torch.cat(values).numpy()

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Scores (N, B, classes), see `Network`."""
        torch = library()
        lanes = parameters.shape[0]
        parts = torch.split(parameters, [math.prod(shape) for shape in self.shapes.values()], dim=1)
        models = {
            name: part.view(lanes, *shape) for part, (name, shape) in zip(parts, self.shapes.items(), strict=True)
        }
        buffers = {
            name: b.to(parameters.device, parameters.dtype if b.is_floating_point() else b.dtype)
            for name, b in self.module.named_buffers()
        }

        def one(own: Mapping[str, Tensor], samples: Tensor) -> Tensor:
            found = torch.func.functional_call(self.module, (dict(own), buffers), (samples,))
            return found.unsqueeze(-1) if found.ndim == 1 else found

        shared = inputs.shape[0] == 1
        if self.mapped:
            samples = inputs[0] if shared else inputs
            return torch.func.vmap(one, in_dims=(0, None if shared else 0))(models, samples)
        each = [one({n: p[k] for n, p in models.items()}, inputs[0 if shared else k]) for k in range(lanes)]
        return torch.stack(each)


def functional(module: Any) -> Functional:
    """The network of a module. Raises BadInput for what is no module, Unsupported for what `check_module` refuses."""
    torch = library()
    if not isinstance(module, torch.nn.Module):
        raise BadInput(f"{type(module).__name__} is no torch.nn.Module.")
    check_module(module)
    own = copy.deepcopy(module).to("cpu").requires_grad_(True)
    shapes = {name: tuple(p.shape) for name, p in own.named_parameters()}
    if not shapes:
        raise BadInput(f"the module {type(module).__name__} has no parameters.")
    mapped = not any(isinstance(m, torch.nn.RNNBase) for m in own.modules())
    return Functional(own, shapes, mapped)


def mapped_where_possible(network: Functional, inputs: Tensor) -> Functional:
    """The network, called in a loop over the models where vmap does not carry its module, such as one that branches.

    inputs: some samples (B, *sample), with which it can be called.
    """
    torch = library()
    if not network.mapped:
        return network
    samples = inputs.to(torch.float64) if inputs.is_floating_point() else inputs
    models = torch.from_numpy(network.start).expand(2, -1)
    try:
        with torch.no_grad():
            network.scores(models, samples.expand(2, *samples.shape))
    except RuntimeError:
        return replace(network, mapped=False)
    return network


def check_module(module: Any) -> None:
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


def check_calls(network: Functional, inputs: Tensor) -> int:
    """How many scores a module returns for a sample, found by calling it.

    inputs: some samples (B, *sample). Raises Unsupported where two calls differ or change the module's buffers,
    BadInput where it cannot be called with them or returns anything but (B, classes), or (B,).
    """
    torch = library()
    own, name = copy.deepcopy(network.module), type(network.module).__name__
    kept = {n: b.clone() for n, b in own.named_buffers()}
    samples = inputs.to(next(own.parameters()).dtype) if inputs.is_floating_point() else inputs
    try:
        with torch.no_grad():
            first, second = own(samples), own(samples)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        NotImplementedError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as e:
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
