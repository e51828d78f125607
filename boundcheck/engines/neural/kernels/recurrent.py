"""Embeddings and long short-term memory of many models.

Two ways to the same numbers of an LSTM, and how one is chosen:

"batched": all models in one loop over time, written out with its way back. On a GPU, in float64, and wherever autograd
    is to go through more than once.
"each": one model after the other, on a processor in float32, where its work alone fills a core and stays in the
    caches. By the passes of `recurrent_compiled` where the processor has words of 32 or 64 bytes with fused
    multiplication (`words.usable`), of many samples by its matrix unit, if it has one (`matrix_unit`); otherwise by
    torch's own LSTM, one call of oneDNN a layer.

Measured on one thread of a processor with AVX-512 and a matrix unit (`benchmarks/neural_cpu.py`, best run), a step of a
model with embedding 8, 2 x 100 units, 80 times, in ms: 64 samples, a loop over torch's LSTM 63, compiled passes 31;
10 samples, 14.3 beside 7.5. The products alone are 3.78 and 0.59 GFLOP, and one large product by torch ran at 123
GFLOP/s: at that speed 31 and 4.8 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from boundcheck.engines.neural.kernels.bound import handed, numbers
from boundcheck.engines.neural.kernels.dense import product
from boundcheck.engines.neural.kernels.plain import own, put
from boundcheck.engines.neural.kernels.recurrent_passes import available, bound_model, traced_model
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Bound, Flat, Handed, Tensor
from boundcheck.problems.architectures import LSTM

__all__ = ["EmbeddingKernel", "LSTMKernel"]

Way = Literal["batched", "each"]


class EmbeddingKernel:
    """A vector for each symbol; parameter weight (N, symbols, width), x (N or 1, B, length) of int64."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        weight = parameters[0]
        if len(weight) == 1:  # several times as fast as a batch of one
            return weight[0].index_select(0, x.reshape(-1)).view(*x.shape, -1)
        return weight.gather(1, self._places(x, weight)).unflatten(1, x.shape[1:])

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The way back adds up at each symbol; there is none to x."""
        weight = parameters[0]
        places = self._places(x, weight)

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            if not adding:
                into[0].zero_()
            into[0].scatter_add_(1, places, gy.reshape(places.shape))

        return self(x, parameters), back

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """Of one model, on (B, length) symbols."""
        return _BoundEmbedding(given, parameters[0])

    @staticmethod
    def _places(x: Tensor, weight: Tensor) -> Tensor:
        return x.flatten(1).unsqueeze(-1).expand(weight.shape[0], -1, weight.shape[2])


class _BoundEmbedding:
    """The vectors of one model, in places that stay."""

    def __init__(self, given: Handed, weight: Tensor) -> None:
        from boundcheck.engines.neural.kernels import small_compiled  # numba takes a moment

        self.compiled, self.width = small_compiled, weight.shape[1]
        self.found = handed(weight, (*given.x.shape, self.width))
        self.x, self.y, self.gy = (numbers(a) for a in (given.x, self.found.x, self.found.g))
        self.size = self.found.size

    def bind(self, parameters: Sequence[Flat], into: Sequence[Flat]) -> Any:
        return parameters[0], into[0]

    def forth(self, own: Any) -> None:
        if not self.compiled.looked_up(self.x, own[0], self.y, self.width):
            raise IndexError("a symbol is beyond the vocabulary")

    def back(self, own: Any, adding: bool) -> None:
        self.compiled.looked_up_back(self.x, self.gy, own[1], self.width, adding)


@dataclass(frozen=True)
class LSTMKernel:
    """Layers of long short-term memory from (N, B, length, inputs) to (N, B, length, hidden), twice that for both ways.

    parameters: as in PyTorch's LSTM, four a layer and way. Gates stand in the order input, forget, cell, output. The
    products with what comes in are one for all times; those with the state are one a time, of all models. Inside,
    sequences lie with the time before the sample. way: fixed, or None for the choice above; compiled: whether "each" is
    by the compiled passes, or None for the choice above.
    """

    layer: LSTM
    way: Way | None = None
    compiled: bool | None = None

    def choose(self, device: str, dtype: Tensor) -> Way:
        """The way back on a device, for parameters of a type."""
        if self.way is not None:
            return self.way
        return "each" if device == "cpu" and dtype == library().float32 else "batched"

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        torch = library()
        x = x.transpose(1, 2)
        for k in range(self.layer.layers):
            ways = [self._way(x, some, way) for way, some in self._own(parameters, k)]
            x = ways[0] if len(ways) == 1 else torch.cat(ways, dim=-1)
        return x.transpose(1, 2)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """Backpropagation through time, written out; the products with the weights are one for all times."""
        torch = library()
        if self.choose(x.device.type, parameters[0].dtype) == "each":
            return self._traced_each(x, parameters)
        at, backs = x.transpose(1, 2), list[list[Back]]()
        for k in range(self.layer.layers):
            ways = [_traced(at, some, way) for way, some in self._own(parameters, k)]
            at = ways[0][0] if len(ways) == 1 else torch.cat([y for y, _ in ways], dim=-1)
            backs.append([back for _, back in ways])

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            g = gy.transpose(1, 2)
            for k in reversed(range(self.layer.layers)):
                asked = wanted or k > 0
                parts = g.chunk(len(backs[k]), dim=-1)
                places = [place for _, place in self._own(into, k)]
                found = [b(part, place, asked, adding) for b, part, place in zip(backs[k], parts, places, strict=True)]
                if not asked:
                    return None
                g = found[0] if len(found) == 1 else found[0] + found[1]
            return g.transpose(1, 2)

        return at.transpose(1, 2), back

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """Of one model, by the compiled passes."""
        dtype = parameters[0].dtype
        compiled = available() if self.compiled is None else self.compiled
        if not compiled or self.choose("cpu", dtype) != "each" or given.x.stride(2) != 1:
            return None
        return bound_model(self.layer, given, dtype)

    def _traced_each(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        compiled = available() if self.compiled is None else self.compiled
        one = traced_model if compiled else _through_the_library
        found, backs = list[Tensor](), list[Back]()
        for k in range(len(parameters[0])):
            y, own_back = one(self.layer, x[k if len(x) > 1 else 0], [p[k] for p in parameters])
            found.append(y)
            backs.append(own_back)

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            through = [b(gy[k], [target[k] for target in into], wanted, adding) for k, b in enumerate(backs)]
            return _stacked(through) if wanted else None

        return _stacked(found), back

    def _own(self, parameters: Sequence[Tensor], k: int) -> list[tuple[bool, Sequence[Tensor]]]:
        """The parameters of layer k, with whether they go backwards in time."""
        ways = 2 if self.layer.both else 1
        return [(bool(w), parameters[4 * (ways * k + w) : 4 * (ways * k + w + 1)]) for w in range(ways)]

    @staticmethod
    def _way(x: Tensor, parameters: Sequence[Tensor], backwards: bool) -> Tensor:
        """One layer one way, (N, length, B, hidden), of x (N or 1, length, B, inputs)."""
        torch = library()
        taken, kept = parameters[0], parameters[1].mT
        bias = parameters[2] + parameters[3]
        given = product(x.flatten(1, 2), taken, bias).unflatten(1, x.shape[1:3]).unbind(1)
        found: list[Tensor] = []
        state = cell = None
        for pre in reversed(given) if backwards else given:
            gates = pre if state is None else torch.baddbmm(pre, state, kept)
            entry, forget, change, leave = gates.chunk(4, dim=-1)
            fresh = entry.sigmoid() * change.tanh()
            cell = fresh if cell is None else fresh + forget.sigmoid() * cell
            state = leave.sigmoid() * cell.tanh()
            found.append(state)
        return torch.stack(found[::-1] if backwards else found, dim=1)


def _traced(x: Tensor, parameters: Sequence[Tensor], backwards: bool) -> tuple[Tensor, Back]:
    """One layer one way, as `LSTMKernel._way`, with its way back.

    Inside, gates stand in the order input, forget, output, cell, and after their activations apart from one another
    (length, 4, N, B, hidden), so that what is done to each number runs along memory. All four activations are one
    hyperbolic tangent: sigmoid(v) = (1 + tanh(v/2))/2, with the 1/2 in the weights.
    """
    torch = library()
    lanes, (length, samples), hidden = len(parameters[0]), x.shape[1:3], parameters[1].shape[2]
    taken, kept, *biases = (_reordered(p) for p in parameters)
    half = taken.new_full((4 * hidden,), 0.5)
    half[3 * hidden :] = 1.0
    flat = x.flatten(1, 2)
    pre = product(flat, taken * half[:, None], (biases[0] + biases[1]) * half)
    pre = pre.view(lanes, length, samples, 4 * hidden)
    turned = (kept * half[:, None]).mT.contiguous()
    first = 1 if backwards else 0  # what step t starts from stands at t + first, what it finds at t + 1 - first
    order = range(length - 1, -1, -1) if backwards else range(length)
    states = pre.new_empty(lanes, length + 1, samples, hidden)
    cells = pre.new_empty(length + 1, lanes, samples, hidden)
    states[:, order[0] + first] = 0
    cells[order[0] + first] = 0
    bent = pre.new_empty(length, lanes, samples, hidden)  # tanh of the cells
    gates = pre.new_empty(length, 4, lanes, samples, hidden)
    given = pre.view(lanes, length, samples, 4, hidden).permute(1, 3, 0, 2, 4).unbind(0)
    room = pre.new_empty(lanes, samples, 4 * hidden)
    apart = room.view(lanes, samples, 4, hidden).permute(2, 0, 1, 3)
    inside, state, cell, arcs = pre.unbind(1), states.unbind(1), cells.unbind(0), bent.unbind(0)
    soft, each = gates[:, :3].unbind(0), [g.unbind(0) for g in gates.unbind(0)]
    whole = gates.unbind(0)
    for t in order:
        old, new = t + first, t + 1 - first
        if t == order[0]:
            torch.tanh(given[t], out=whole[t])
        else:
            torch.baddbmm(inside[t], state[old], turned, out=room)
            torch.tanh(apart, out=whole[t])
        soft[t].mul_(0.5).add_(0.5)
        entry, forget, leave, change = each[t]
        torch.mul(forget, cell[old], out=cell[new])
        cell[new].addcmul_(entry, change)
        torch.tanh(cell[new], out=arcs[t])
        torch.mul(leave, arcs[t], out=state[new])

    def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
        sigmoid, tanh = torch.ops.aten.sigmoid_backward.grad_input, torch.ops.aten.tanh_backward.grad_input
        above, slopes = gy.unbind(1), pre.new_empty(4, lanes, samples, hidden)
        soft_slopes, (d_entry, d_forget, d_leave, d_change) = slopes[:3], slopes.unbind(0)
        one, gc, gh = torch.empty_like(d_entry), torch.zeros_like(d_entry), torch.empty_like(d_entry)
        for t in reversed(order):  # what came in before the activations becomes the gradient in it
            entry, forget, leave, change = each[t]
            if t == order[-1]:
                gh.copy_(above[t])
            torch.mul(gh, arcs[t], out=d_leave)
            torch.mul(gh, leave, out=one)
            gc += tanh(one, arcs[t], grad_input=one)
            torch.mul(gc, change, out=d_entry)
            torch.mul(gc, cell[t + first], out=d_forget)
            torch.mul(gc, entry, out=d_change)
            gc *= forget
            sigmoid(soft_slopes, soft[t], grad_input=soft_slopes)
            tanh(d_change, change, grad_input=d_change)
            given[t].copy_(slopes)
            if t != order[0]:
                torch.baddbmm(above[t + first - (1 - first)], inside[t], kept, out=gh)
        found = pre.flatten(1, 2)
        for rows, target in ((flat, into[0]), (states[:, first : first + length].flatten(1, 2), into[1])):
            _put_back(_products(rows, found), target, adding)
        for target in into[2:]:
            _put_back(found.sum(dim=1).unsqueeze(1), target.unsqueeze(-1), adding)
        return product(found, taken.mT, None).unflatten(1, (length, samples)) if wanted else None

    return states[:, 1 - first : 1 - first + length], back


def _through_the_library(layer: LSTM, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
    """One model by torch's own LSTM, recorded by autograd."""
    torch = library()
    given = [own(a) for a in (x, *parameters)]
    start = x.new_zeros(layer.layers * (2 if layer.both else 1), x.shape[0], layer.hidden)
    rest = (True, layer.layers, 0.0, True, layer.both, True)  # biases; recorded; samples before times
    with torch.enable_grad():
        y = torch.lstm(given[0], (start, start), given[1:], *rest)[0]

    def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
        found = torch.autograd.grad(y, given if wanted else given[1:], gy)
        for target, gradient in zip(into, found[1:] if wanted else found, strict=True):
            put(gradient, target, adding)
        return found[0] if wanted else None

    return y.detach(), back


def _products(rows: Tensor, slopes: Tensor) -> Tensor:
    """rows' slopes: (N or 1, M, k), (N, M, l) to (N, k, l)."""
    if len(slopes) == 1:
        return library().mm(rows[0].mT, slopes[0]).unsqueeze(0)
    return library().bmm(rows.expand(len(slopes), -1, -1).mT, slopes)


def _reordered(parameter: Tensor) -> Tensor:
    """The rows (N, 4 hidden, ...) of a parameter with the gates input, forget, output, cell."""
    entry, forget, change, leave = parameter.chunk(4, dim=1)
    return library().cat((entry, forget, leave, change), dim=1)


def _put_back(found: Tensor, into: Tensor, adding: bool) -> None:
    """Puts (N, k, 4 hidden) into (N, 4 hidden, k), the gates as PyTorch has them."""
    entry, forget, leave, change = found.mT.chunk(4, dim=1)
    for target, part in zip(into.chunk(4, dim=1), (entry, forget, change, leave), strict=True):
        put(part, target, adding)


def _stacked(found: Sequence[Tensor]) -> Tensor:
    return found[0].unsqueeze(0) if len(found) == 1 else library().stack(found)
