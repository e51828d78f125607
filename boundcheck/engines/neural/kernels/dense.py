"""Dense layers of many models as one batched matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.engines.neural.kernels.bound import handed, numbers
from boundcheck.engines.neural.kernels.plain import put
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Bound, Flat, Handed, Tensor

__all__ = ["LARGE", "BoundSmall", "DenseKernel", "compiled", "product", "put_product"]

# Numbers of a weight above which a processor goes by the compiled passes, and samples up to which it does so on the way
# there; with more it multiplies W x', not x W'. 512 x 3136 in float32, out of the nearer caches, in ms, three runs of
# `benchmarks/neural_convolutions.py` on a Zen 4 at 3.6 GHz: 10 samples compiled 0.31 to 0.44, W x' 1.5 to 1.7, x W' 0.8
# to 1.0, back with a step of SGD 0.8 to 1.0 beside 1.5 to 2.3 by two products; 32 samples 1.1 to 1.6, 1.5 to 1.7, 1.4
# to 1.7, back 2.2 to 2.8 beside 2.9 to 4.7.
LARGE, FEW = 1 << 20, 40
SMALL = 1 << 17  # products of a layer of one model up to which calls of torch take longer


def _large(weight: Tensor) -> bool:
    return weight.device.type == "cpu" and weight.shape[1] * weight.shape[2] > LARGE


def _small(x: Tensor, weight: Tensor) -> bool:
    """Whether one model's weight (outputs, inputs) goes through the compiled passes of small layers."""
    if x.device.type != "cpu" or x.dtype not in (library().float32, library().float64):
        return False
    from boundcheck.engines.neural.kernels.words import usable  # numba takes a moment

    return usable() and x.numel() * len(weight) <= SMALL


def product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """y = x W' + b: x (N or 1, M, inputs), weight (N, outputs, inputs), bias (N, outputs); (N, M, outputs)."""
    lanes = weight.shape[0]
    if lanes == 1:  # the plain product is faster than a batch of one
        if _large(weight):
            a, b = weight[0], x[0].mT
            return (library().mm(a, b) if bias is None else library().addmm(bias[0].unsqueeze(1), a, b)).mT.unsqueeze(0)
        y = library().nn.functional.linear(x[0], weight[0], None if bias is None else bias[0])
        return y.unsqueeze(0)
    if x.shape[0] != lanes:
        x = x.expand(lanes, -1, -1)
    if bias is None:
        return library().bmm(x, weight.mT)
    return library().baddbmm(bias.unsqueeze(1), x, weight.mT)


def put_product(a: Tensor, b: Tensor, into: Tensor, adding: bool) -> None:
    """Writes the products of a (N, m, k) and b (N or 1, k, n) into an array (N, m, n), or adds them to it.

    That one pass over a large weight is all that a step of SGD takes there.
    """
    if a.shape[0] == 1:
        _put_one(a[0], b[0], into[0], adding)
        return
    b = b.expand(a.shape[0], -1, -1)
    if adding:
        into.baddbmm_(a, b)
    else:
        library().bmm(a, b, out=into)


def _put_one(a: Tensor, b: Tensor, into: Tensor, adding: bool) -> None:
    if adding:
        into.addmm_(a, b)
    else:
        library().mm(a, b, out=into)


def compiled(weight: Tensor) -> bool:
    """Whether the way back through a weight (N, outputs, inputs) is the compiled pass of one model."""
    kinds = (library().float32, library().float64)
    if len(weight) > 1 or not _large(weight) or weight.dtype not in kinds or not weight.is_contiguous():
        return False
    from boundcheck.engines.neural.kernels.words import BYTES, usable  # numba takes a moment

    return usable() and weight.shape[2] * weight.element_size() % BYTES == 0


def _compiled_back(gy: Tensor, x: Tensor, weight: Tensor, into: Tensor, wanted: bool, adding: bool) -> Tensor:
    gx = x.new_empty(len(x) if wanted else 0, x.shape[1])
    one = _Passes(x, weight, wanted)
    one.back([a.detach().reshape(-1).numpy() for a in (gy, x, weight, into, gx)], adding)
    return gx if wanted else None


class _Passes:
    """The compiled passes of one model for samples x (B, inputs); wanted: the gradient in them."""

    def __init__(self, x: Tensor, weight: Tensor, wanted: bool) -> None:
        from boundcheck.engines.neural.kernels import dense_compiled
        from boundcheck.engines.neural.kernels.words import BYTES, ready

        ready(weight.element_size())
        self.compiled, self.lanes, self.wanted = dense_compiled, BYTES // weight.element_size(), wanted
        self.room = [numbers(x.new_empty(len(x) if needed else 0, x.shape[1])) for needed in (True, wanted)]
        self.room.append(numbers(x.new_empty(dense_compiled.ROWS, len(x))))
        self.sizes = (*x.shape, len(weight))
        self.size = sum(a.nbytes for a in self.room)

    def forth(self, arrays: Sequence[Any]) -> None:
        """arrays: x, W, its bias or an empty one, and where the results go; all flat."""
        self.compiled.forth(*arrays, *self.sizes)

    def back(self, arrays: Sequence[Any], adding: bool) -> None:
        """arrays: the gradient in the results, x, W, where its gradient goes, and where that in x goes; all flat."""
        self.compiled.back(self.lanes, *arrays, *self.room, self.wanted, adding, *self.sizes)


class DenseKernel:
    """y = W x + b on the last axis; parameters weight (N, outputs, inputs) and, where there is one, bias."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        flat = x if x.ndim == 3 else x.flatten(1, -2)
        y = product(flat, parameters[0], parameters[1] if len(parameters) > 1 else None)
        return y if x.ndim == 3 else y.unflatten(1, x.shape[1:-1])

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """dW = dy' x and db = sum of dy, straight into their places; dx = dy W."""
        torch = library()
        flat = x if x.ndim == 3 else x.flatten(1, -2)
        weight = parameters[0]

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            gy = gy.reshape(gy.shape[0], -1, gy.shape[-1])
            if compiled(weight) and into[0].is_contiguous():
                gx = _compiled_back(gy[0], flat[0], weight[0], into[0][0], wanted, adding)
                gx = None if gx is None else gx.view(x.shape)
                if len(into) > 1:
                    put(gy.sum(dim=1), into[1], adding)
                return gx
            gx = None
            if wanted:
                gx = torch.mm(gy[0], weight[0]).unsqueeze(0) if len(gy) == 1 else torch.bmm(gy, weight)
                gx = gx if x.ndim == 3 else gx.unflatten(1, x.shape[1:-1])
            put_product(gy.mT, flat, into[0], adding)
            if len(into) > 1:
                put(gy.sum(dim=1), into[1], adding)
            return gx

        return self(x, parameters), back

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """Of one model; None where what comes in does not lie in one piece."""
        if not given.x.is_contiguous():
            return None
        made = BoundSmall if _small(given.x, parameters[0]) else _BoundDense
        return made(given, parameters)


class _BoundDense:
    """The same products of one model, into places that stay."""

    def __init__(self, given: Handed, parameters: Sequence[Tensor]) -> None:
        weight = parameters[0]
        self.found = handed(weight, (*given.x.shape[:-1], len(weight)))
        self.x, self.y, self.gy = (a.view(-1, a.shape[-1]) for a in (given.x, self.found.x, self.found.g))
        self.gx = None if given.g is None else given.g.view(self.x.shape)
        gx = self.x.view(-1)[:0] if self.gx is None else self.gx
        self.flat = [numbers(a) for a in (self.x, self.y, self.gy, gx)]
        self.shape, self.total = weight.shape, self.y.new_empty(len(weight))
        self.passes = _Passes(self.x, weight, self.gx is not None) if compiled(weight[None]) else None
        through = _large(weight[None]) and (self.passes is None or len(self.x) > FEW)
        self.turned = self.y.new_empty(len(weight), len(self.x)) if through else None  # W x'
        self.size = self.found.size + (0 if self.passes is None else self.passes.size)

    def bind(self, parameters: Sequence[Flat], into: Sequence[Flat]) -> Any:
        torch, (x, y, gy, gx) = library(), self.flat
        flat, bias = parameters[0], parameters[1] if len(parameters) > 1 else x[:0]
        arrays = (x, flat, bias, y), (gy, x, flat, into[0], gx)  # of the compiled passes
        weight, slope = (torch.from_numpy(a[0]).view(self.shape) for a in (parameters, into))
        bias, total = (torch.from_numpy(a[1]) if len(a) > 1 else None for a in (parameters, into))
        if self.turned is None:
            factors = self.x, weight.mT, self.y
        else:
            factors, bias = (weight, self.x.mT, self.turned), None if bias is None else bias.unsqueeze(1)
        return factors, bias, weight, slope, total, arrays

    def forth(self, own: Any) -> None:
        torch, ((a, b, y), bias, *_, arrays) = library(), own
        if self.passes is not None and self.turned is None:
            self.passes.forth(arrays[0])
        elif bias is None:
            torch.mm(a, b, out=y)
        else:
            torch.addmm(bias, a, b, out=y)
        if self.turned is not None:
            self.y.numpy()[:] = self.turned.numpy().T  # torch takes twice as long

    def back(self, own: Any, adding: bool) -> None:
        torch, (_, _, weight, into, slope, arrays) = library(), own
        if self.passes is not None:
            self.passes.back(arrays[1], adding)
        else:
            if self.gx is not None:
                torch.mm(self.gy, weight, out=self.gx)
            _put_one(self.gy.mT, self.x, into, adding)
        if slope is not None:
            put(torch.sum(self.gy, 0, out=self.total), slope, adding)


class BoundSmall:
    """The products of one model where calls of torch take longer than the work."""

    def __init__(self, given: Handed, parameters: Sequence[Tensor]) -> None:
        from boundcheck.engines.neural.kernels import small_compiled
        from boundcheck.engines.neural.kernels.words import BYTES, ready

        weight = parameters[0]
        (outputs, inputs), size = weight.shape, weight.element_size()
        ready(size)
        self.compiled, self.lanes, samples = small_compiled, BYTES // size, given.x.numel() // inputs
        self.found = handed(weight, (*given.x.shape[:-1], outputs))
        self.sizes = samples, inputs, outputs
        wide = -(-outputs // self.lanes) * self.lanes
        self.turned, self.room = (numbers(weight.new_zeros(rows * wide)) for rows in (inputs, samples))
        self.x, self.y, self.gy = (numbers(a) for a in (given.x, self.found.x, self.found.g))
        self.gx, self.none = self.x[:0] if given.g is None else numbers(given.g), self.x[:0]
        self.size = self.found.size + self.turned.nbytes + self.room.nbytes

    def bind(self, parameters: Sequence[Tensor], into: Sequence[Tensor]) -> Any:
        return [(*some, self.none)[:2] for some in (parameters, into)]

    def forth(self, own: Any) -> None:
        (weight, bias), _ = own
        self.compiled.dense(self.lanes, self.x, weight, bias, self.y, self.turned, self.room, *self.sizes)

    def back(self, own: Any, adding: bool) -> None:
        (weight, _), (into, slope) = own
        self.compiled.dense_back(self.gy, self.x, weight, into, slope, self.gx, *self.sizes, adding)
