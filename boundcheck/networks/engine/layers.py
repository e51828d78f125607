"""Layers of many models at once, each with its backward pass; recurrent layers are in `recurrent`.

The same code runs on a processor and on a GPU. Images of N models lie as (N, B, channels, height, width). Convolution,
pooling and GroupNorm see them as (B, N * channels, height, width), so that the models are groups of channels of one
call of torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from boundcheck.networks.architectures.layers import Convolution
from boundcheck.networks.engine.device import library
from boundcheck.networks.engine.network import Backward, Tensor


def write(gradient: Tensor, into: Tensor, adding: bool) -> None:
    """Write a gradient into its place, or add it to what is there."""
    if adding:
        into.add_(gradient)
    else:
        into.copy_(gradient)


def write_product(a: Tensor, b: Tensor, into: Tensor, adding: bool) -> None:
    """Write the products of a (N, m, k) and b (N or 1, k, n) into an array (N, m, n), or add them to it.

    A step of SGD therefore reads and writes a large weight once.
    """
    torch = library()
    if a.shape[0] == 1:  # the plain product is faster than a batch of one
        a, b, into = a[0], b[0], into[0]
        if adding:
            into.addmm_(a, b)
        else:
            torch.mm(a, b, out=into)
        return
    b = b.expand(a.shape[0], -1, -1)
    if adding:
        into.baddbmm_(a, b)
    else:
        torch.bmm(a, b, out=into)


def product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """y = x W' + b: x (N or 1, M, inputs), weight (N, outputs, inputs), bias (N, outputs); (N, M, outputs)."""
    lanes = weight.shape[0]
    if lanes == 1:
        return library().nn.functional.linear(x[0], weight[0], None if bias is None else bias[0]).unsqueeze(0)
    if x.shape[0] != lanes:
        x = x.expand(lanes, -1, -1)
    if bias is None:
        return library().bmm(x, weight.mT)
    return library().baddbmm(bias.unsqueeze(1), x, weight.mT)


class ByAutograd:
    """A layer whose backward pass is torch's autograd."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        raise NotImplementedError

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The layer, recorded by autograd for one backward pass."""
        torch = library()
        with torch.enable_grad():
            # `data` hides changes in place from autograd: they are made when the gradients are known
            leaves: list[Any] = [a.data.requires_grad_() for a in (x, *parameters)]
            y = self(leaves[0], leaves[1:])

        def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            asked = leaves if wanted else leaves[1:]
            if not asked:
                return None
            found = torch.autograd.grad(y, asked, gy)
            for target, gradient in zip(into, found[1:] if wanted else found, strict=True):
                write(gradient, target, adding)
            return found[0] if wanted else None

        return y.detach(), backward


class BatchedDense:
    """y = W x + b on the last axis; parameters weight (N, outputs, inputs) and, if the layer has one, bias."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        flat = x if x.ndim == 3 else x.flatten(1, -2)
        y = product(flat, parameters[0], parameters[1] if len(parameters) > 1 else None)
        return y if x.ndim == 3 else y.unflatten(1, x.shape[1:-1])

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """dW = dy' x and db = sum of dy, straight into their places; dx = dy W."""
        torch = library()
        flat = x if x.ndim == 3 else x.flatten(1, -2)
        weight = parameters[0]

        def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            gy = gy.reshape(gy.shape[0], -1, gy.shape[-1])
            gx = None
            if wanted:
                gx = torch.mm(gy[0], weight[0]).unsqueeze(0) if len(gy) == 1 else torch.bmm(gy, weight)
                gx = gx if x.ndim == 3 else gx.unflatten(1, x.shape[1:-1])
            write_product(gy.mT, flat, into[0], adding)
            if len(into) > 1:
                write(gy.sum(dim=1), into[1], adding)
            return gx

        return self(x, parameters), backward


@dataclass(frozen=True)
class BatchedConvolution:
    """A two-dimensional convolution; parameters weight (N, outputs, inputs, k, k) and, if the layer has one, bias.

    The models are the groups of one convolution. If all models see the same images (1, B, ...), their filters make one
    wide convolution.
    """

    layer: Convolution

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        weight, lanes = parameters[0], parameters[0].shape[0]
        bias = parameters[1].reshape(-1) if len(parameters) > 1 else None
        groups = lanes if x.shape[0] == lanes else 1
        convolve = library().nn.functional.conv2d
        y = convolve(_side_by_side(x), weight.flatten(0, 1), bias, self.layer.stride, self.layer.padding, 1, groups)
        return _apart(y, lanes)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The gradients by torch's own function for one convolution."""
        gradients = library().ops.aten.convolution_backward
        weight, lanes = parameters[0], parameters[0].shape[0]
        wide = _side_by_side(x.expand(lanes, *x.shape[1:]))
        stride, padding = [self.layer.stride] * 2, [self.layer.padding] * 2

        def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            filters = weight.flatten(0, 1)
            sizes = [filters.shape[0]] if self.layer.bias else None
            asked = [wanted, True, self.layer.bias]
            found = gradients(
                _side_by_side(gy), wide, filters, sizes, stride, padding, [1, 1], False, [0, 0], lanes, asked
            )
            for target, gradient in zip(into, found[1:], strict=False):
                write(gradient.reshape(target.shape), target, adding)
            return _apart(found[0], lanes) if wanted else None

        return self(x, parameters), backward


def _side_by_side(x: Tensor) -> Tensor:
    """Images (N, B, channels, height, width) as (B, N * channels, height, width)."""
    return x.transpose(0, 1).flatten(1, 2)


def _apart(wide: Tensor, lanes: int) -> Tensor:
    """Inverse of `_side_by_side`."""
    return wide.unflatten(1, (lanes, -1)).transpose(0, 1)


@dataclass(frozen=True)
class BatchedMaxPool:
    """The largest value of each window."""

    size: int
    stride: int
    padding: int

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        pool = library().nn.functional.max_pool2d
        return _apart(pool(_side_by_side(x), self.size, self.stride, self.padding), x.shape[0])

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The gradient goes to the first largest value of each window."""
        aten, lanes = library().ops.aten, x.shape[0]
        wide = _side_by_side(x)
        size, stride, padding = [self.size] * 2, [self.stride] * 2, [self.padding] * 2
        y, places = aten.max_pool2d_with_indices(wide, size, stride, padding)

        def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            if not wanted:
                return None
            gy = _side_by_side(gy)
            gx = aten.max_pool2d_with_indices_backward(gy, wide, size, stride, padding, [1, 1], False, places)
            return _apart(gx, lanes)

        return _apart(y, lanes), backward


class BatchedGlobalMean(ByAutograd):
    """The mean over all positions of each channel."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.mean(dim=(3, 4))


@dataclass(frozen=True)
class BatchedGroupNorm(ByAutograd):
    """Channels in groups, each normalised over channels and positions, then scaled and shifted by channel."""

    groups: int
    epsilon: float

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        norm = library().nn.functional.group_norm
        weight, bias = parameters
        lanes = weight.shape[0]
        if x.shape[0] == lanes:
            wide = norm(_side_by_side(x), lanes * self.groups, weight.reshape(-1), bias.reshape(-1), self.epsilon)
            return _apart(wide, lanes)
        y = norm(x.flatten(0, 1), self.groups, None, None, self.epsilon).unflatten(0, x.shape[:2])
        return library().addcmul(bias[:, None, :, None, None], y, weight[:, None, :, None, None])


class BatchedRelu:
    """max(x, 0), with derivative 0 at 0."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.relu()

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The derivative is 1 where the result is positive."""
        backward = library().ops.aten.threshold_backward
        y = x.relu()
        return y, lambda gy, into, wanted, adding: backward(gy, y, 0) if wanted else None


class BatchedTanh:
    """tanh(x)."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.tanh()

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The derivative is 1 - y^2."""
        backward = library().ops.aten.tanh_backward
        y = x.tanh()
        return y, lambda gy, into, wanted, adding: backward(gy, y) if wanted else None


class BatchedFlatten:
    """(N, B, *sample) as (N, B, size)."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.flatten(2)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The backward pass restores the axes."""
        sample = x.shape[2:]
        return x.flatten(2), lambda gy, into, wanted, adding: gy.unflatten(2, sample) if wanted else None


@dataclass(frozen=True)
class BatchedLast:
    """(N, B, length, width) at the last place; both: half of it at the last place and half at the first."""

    both: bool

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        if not self.both:
            return x[:, :, -1]
        half = x.shape[-1] // 2
        return library().cat((x[:, :, -1, :half], x[:, :, 0, half:]), dim=-1)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The gradient is zero at all other places."""
        half, shape = x.shape[-1] // 2 if self.both else x.shape[-1], x.shape[1:]

        def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            if not wanted:
                return None
            gx = gy.new_zeros(len(gy), *shape)
            gx[:, :, -1, :half] = gy[..., :half]
            if self.both:
                gx[:, :, 0, half:] = gy[..., half:]
            return gx

        return self(x, parameters), backward


class BatchedEmbedding:
    """A vector for each symbol; parameter weight (N, symbols, width), x (N or 1, B, length) of int64.

    Vectors are taken and added up by one index a vector, not one a number: deterministic sums on a GPU sort the indices
    and lay them out beside the numbers, and `scatter_add_` copies from the host for it, which no CUDA graph can record.
    """

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        weight = parameters[0]
        if len(weight) == 1:  # several times as fast as a batch of one
            return weight[0].index_select(0, x.reshape(-1)).view(*x.shape, -1)
        return weight[self._places(x, weight)].unflatten(1, x.shape[1:])

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The gradients of a symbol are added up; the symbols themselves have none."""
        weight = parameters[0]
        places = self._places(x, weight)

        def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            if not adding:
                into[0].zero_()
            into[0].index_put_(places, gy.flatten(1, -2), accumulate=True)

        return self(x, parameters), backward

    @staticmethod
    def _places(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Model (N, 1) and symbol (N, B * length) of every vector."""
        lanes = len(weight)
        return library().arange(lanes, device=weight.device).unsqueeze(1), x.flatten(1).expand(lanes, -1)
