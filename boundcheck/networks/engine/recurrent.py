"""Long short-term memory of many models: all of them in one loop over time, with its backward pass written out.

Where no gradient is wanted, as in passes over all samples, each model goes through torch's own layer, which has no loop
in Python; on a GPU it is cuDNN's. It cannot be differentiated twice there, and has no batch of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boundcheck.networks.architectures.layers import LSTM
from boundcheck.networks.engine.device import library
from boundcheck.networks.engine.layers import product, write
from boundcheck.networks.engine.network import Backward, Tensor


@dataclass(frozen=True)
class BatchedLSTM:
    """Layers of long short-term memory from (N, B, length, inputs) to (N, B, length, hidden), twice that for both ways.

    parameters: as in PyTorch's LSTM, four a layer and way. Gates stand in the order input, forget, cell, output. The
    products with the inputs are one for all times; those with the state are one a time, of all models. Inside,
    sequences lie with the time before the sample.
    """

    layer: LSTM

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        torch = library()
        if not torch.is_grad_enabled():
            return self._by_torch(x, parameters)
        x = x.transpose(1, 2)
        for k in range(self.layer.layers):
            ways = [_forward(x, some, reverse) for reverse, some in self._of_layer(parameters, k)]
            x = ways[0] if len(ways) == 1 else torch.cat(ways, dim=-1)
        return x.transpose(1, 2)

    def _by_torch(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """Each model by torch's own layer; cuDNN wants parameters of their own, not views of a row."""
        torch, layer = library(), self.layer
        ways = 2 if layer.both else 1
        found: list[Tensor] = []
        for lane in range(len(parameters[0])):
            own = x[lane if len(x) > 1 else 0]
            start = own.new_zeros(layer.layers * ways, len(own), layer.hidden)
            weights = [p[lane].contiguous() for p in parameters]
            found.append(torch.lstm(own, (start, start), weights, True, layer.layers, 0.0, False, layer.both, True)[0])
        return torch.stack(found)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """Backpropagation through time; the products with the weights are one for all times."""
        torch = library()
        at, passes = x.transpose(1, 2), list[list[Backward]]()
        for k in range(self.layer.layers):
            ways = [_traced(at, some, reverse) for reverse, some in self._of_layer(parameters, k)]
            at = ways[0][0] if len(ways) == 1 else torch.cat([y for y, _ in ways], dim=-1)
            passes.append([backward for _, backward in ways])

        def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            g = gy.transpose(1, 2)
            for k in reversed(range(self.layer.layers)):
                asked = wanted or k > 0
                parts = g.chunk(len(passes[k]), dim=-1)
                places = [place for _, place in self._of_layer(into, k)]
                found = [b(part, place, asked, adding) for b, part, place in zip(passes[k], parts, places, strict=True)]
                if not asked:
                    return None
                g = found[0] if len(found) == 1 else found[0] + found[1]
            return g.transpose(1, 2)

        return at.transpose(1, 2), backward

    def _of_layer(self, parameters: Sequence[Tensor], k: int) -> list[tuple[bool, Sequence[Tensor]]]:
        """The parameters of layer k, with whether they go backwards in time."""
        ways = 2 if self.layer.both else 1
        return [(bool(w), parameters[4 * (ways * k + w) : 4 * (ways * k + w + 1)]) for w in range(ways)]


def _forward(x: Tensor, parameters: Sequence[Tensor], reverse: bool) -> Tensor:
    """One layer one way, (N, length, B, hidden), of x (N or 1, length, B, inputs)."""
    torch = library()
    taken, kept = parameters[0], parameters[1].mT
    bias = parameters[2] + parameters[3]
    given = product(x.flatten(1, 2), taken, bias).unflatten(1, x.shape[1:3]).unbind(1)
    found: list[Tensor] = []
    state = cell = None
    for pre in reversed(given) if reverse else given:
        gates = pre if state is None else torch.baddbmm(pre, state, kept)
        entry, forget, change, leave = gates.chunk(4, dim=-1)
        fresh = entry.sigmoid() * change.tanh()
        cell = fresh if cell is None else fresh + forget.sigmoid() * cell
        state = leave.sigmoid() * cell.tanh()
        found.append(state)
    return torch.stack(found[::-1] if reverse else found, dim=1)


def _traced(x: Tensor, parameters: Sequence[Tensor], reverse: bool) -> tuple[Tensor, Backward]:
    """One layer one way, as `_forward`, with its backward pass.

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
    first = 1 if reverse else 0  # what step t starts from stands at t + first, what it finds at t + 1 - first
    order = range(length - 1, -1, -1) if reverse else range(length)
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

    def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
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
            _write_gates(_products(rows, found), target, adding)
        for target in into[2:]:
            _write_gates(found.sum(dim=1).unsqueeze(1), target.unsqueeze(-1), adding)
        return product(found, taken.mT, None).unflatten(1, (length, samples)) if wanted else None

    return states[:, 1 - first : 1 - first + length], backward


def _products(rows: Tensor, slopes: Tensor) -> Tensor:
    """rows' slopes: (N or 1, M, k), (N, M, l) to (N, k, l)."""
    if len(slopes) == 1:
        return library().mm(rows[0].mT, slopes[0]).unsqueeze(0)
    return library().bmm(rows.expand(len(slopes), -1, -1).mT, slopes)


def _reordered(parameter: Tensor) -> Tensor:
    """The rows (N, 4 hidden, ...) of a parameter with the gates input, forget, output, cell."""
    entry, forget, change, leave = parameter.chunk(4, dim=1)
    return library().cat((entry, forget, leave, change), dim=1)


def _write_gates(found: Tensor, into: Tensor, adding: bool) -> None:
    """Write (N, k, 4 hidden) into (N, 4 hidden, k), the gates as PyTorch has them."""
    entry, forget, leave, change = found.mT.chunk(4, dim=1)
    for target, part in zip(into.chunk(4, dim=1), (entry, forget, change, leave), strict=True):
        write(part, target, adding)
