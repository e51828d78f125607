"""Long short-term memory of one model by the passes of `recurrent_compiled`, with its way back."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

from boundcheck.engines.neural.kernels.bound import BoundChain
from boundcheck.engines.neural.kernels.plain import put
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Bound, Flat, Handed, Tensor
from boundcheck.problems.architectures import LSTM

__all__ = ["Model", "available", "bound_model", "traced_model"]

# Samples, and products of a time, from which a layer's products are those of a processor's matrix unit. With fewer
# samples it loses more where others share the core than it wins elsewhere (`benchmarks/neural_recurrent.py`).
MANY, UNIT = 32, 1 << 18
Strip = tuple[Any, int, int, int]  # a flat array, the first place of a pass and what lies between times and samples


def available() -> bool:
    """Whether this processor can run the compiled passes."""
    from boundcheck.engines.neural.kernels import words  # numba takes a moment

    return words.usable()


def traced_model(layer: LSTM, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
    """The layers of one model on x (samples, length, inputs); parameters as PyTorch's LSTM has them.

    The way back takes and gives arrays without the axis of the models. It may be called once.
    """
    samples, length, _ = x.shape
    key = (layer, samples, length, x.dtype)
    model, _FREE.model = _FREE.model, None
    if model is None or model.key != key:
        model = Model(*key)
    return model.forth(x, parameters), model.back


class Model:
    """The passes of the layers with their memory, which one model after the other uses.

    New memory costs as much time as a third of a pass: the system clears it page by page. unit: whether the products
    are those of the processor's matrix unit, or None for the choice by MANY and UNIT.
    """

    def __init__(self, layer: LSTM, samples: int, length: int, dtype: Tensor, unit: bool | None = None) -> None:
        self.key, self.ways = (layer, samples, length, dtype), 2 if layer.both else 1
        widths = [layer.inputs] + [layer.hidden * self.ways] * (layer.layers - 1)
        self.passes = [
            [_Pass(samples, length, width, layer.hidden, dtype, bool(w), unit) for w in range(self.ways)]
            for width in widths
        ]

    def forth(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        for k, ways in enumerate(self.passes):
            found = [one.lent(x, self.own(parameters, k, w)) for w, one in enumerate(ways)]
            x = found[0] if len(found) == 1 else library().cat(found, dim=-1)
        return x

    def back(self, gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
        for k, ways in reversed(list(enumerate(self.passes))):
            parts, asked = gy.chunk(self.ways, dim=-1), wanted or k > 0
            found = [one.lent_back(parts[w], self.own(into, k, w), asked, adding) for w, one in enumerate(ways)]
            gy = found[0] if len(found) == 1 or not asked else found[0] + found[1]
        _FREE.model = self
        return gy

    def own(self, arrays: Sequence[Any], k: int, w: int) -> Sequence[Any]:
        """Those of a layer one way."""
        first = 4 * (self.ways * k + w)
        return arrays[first : first + 4]


def bound_model(layer: LSTM, given: Handed, dtype: Tensor) -> BoundChain:
    """The layers of one model on (samples, length, inputs), in arrays that stay."""
    samples, length, _ = given.x.shape
    layers, before = list[tuple[Bound, int]](), given
    for ways in Model(layer, samples, length, dtype).passes:
        layers.append((_BoundLayer(ways, before), 4 * len(ways)))
        before = layers[-1][0].found
    return BoundChain(tuple(layers))


class _BoundLayer:
    """One layer, one way or both."""

    def __init__(self, passes: Sequence[_Pass], given: Handed) -> None:
        self.passes, self.given = passes, given
        states = [one.begun() for one in passes]
        (samples, length, hidden), ways = states[0].shape, len(passes)
        g = states[0].new_zeros(length, samples, hidden * ways).transpose(0, 1)
        self.found = Handed(states[0] if ways == 1 else states[0].new_zeros(g.shape), g)
        # where the states of each way go, in the order of time, and what each way adds to the gradient in what came in
        self.halves = [
            (half.numpy(), state.numpy()[:, :: -1 if one.backwards else 1])
            for half, state, one in zip(self.found.x.chunk(ways, dim=-1), states, passes, strict=True)
        ]
        self.parts = [] if ways == 1 or given.g is None else [library().zeros_like(given.g) for _ in passes]
        exits = self.parts or [given.x if given.g is None else given.g] * ways
        self.strips = [
            (one.strip(given.x), one.strip(above), one.strip(through))
            for one, above, through in zip(passes, g.chunk(ways, dim=-1), exits, strict=True)
        ]
        self.size = self.found.size + sum(a.nbytes for a in self.parts) + sum(one.size for one in passes)

    def bind(self, parameters: Sequence[Flat], into: Sequence[Flat]) -> Any:
        ways = range(len(self.passes))
        return [[tuple(some[4 * w : 4 * w + 4]) for w in ways] for some in (parameters, into)]

    def forth(self, own: Any) -> None:
        for one, (entry, _, _), parameters in zip(self.passes, self.strips, own[0], strict=True):
            one.forth(entry, parameters)
        if len(self.passes) > 1:
            for half, state in self.halves:
                half[:] = state

    def back(self, own: Any, adding: bool) -> None:
        wanted = self.given.g is not None
        for one, (_, above, through), into in zip(self.passes, self.strips, own[1], strict=True):
            one.back(above, through, into, wanted, adding)
        if self.parts:
            library().add(*self.parts, out=self.given.g)


class _Free(threading.local):
    """The passes that the thread's last model used, until the next takes them."""

    model: Model | None = None


_FREE = _Free()


class _Pass:
    """One layer one way, there and back; backwards: the pass begins at the end of the sequence."""

    def __init__(
        self, samples: int, length: int, inputs: int, hidden: int, dtype: Tensor, backwards: bool,
        unit: bool | None,
    ) -> None:  # fmt: skip
        from boundcheck.engines.neural.kernels import matrix_unit, recurrent_compiled
        from boundcheck.engines.neural.kernels.recurrent_words import PANEL
        from boundcheck.engines.neural.kernels.words import BYTES, ready, whole

        self.dtype, self.backwards, size = dtype, backwards, dtype.itemsize
        ready(size)
        lanes, panel = BYTES // size, PANEL // size
        zr, gr = whole(hidden + inputs + 1, size), whole(4 * hidden, size)
        rows = length * samples
        self.sizes, self.zr = (length, samples, inputs, hidden, lanes), zr
        self.weights = tuple(self._array(n) for n in (-(-gr // panel) * zr * panel, -(-zr // panel) * gr * panel))
        self.kept = tuple(self._array(n) for n in (rows * gr, (rows + samples) * hidden, rows * hidden))
        self.room = tuple(self._array(n) for n in (samples * zr, samples * hidden, zr * gr, lanes * zr))
        # words beyond the last row are read where rows and columns of z are exchanged
        self.states, self.given = _Lent((rows + samples + lanes) * zr, dtype), _Lent(rows * inputs, dtype)
        self.z: Any = None
        self.squares, self.ways = (), (recurrent_compiled.forth, recurrent_compiled.back)
        many = samples >= MANY and samples * 4 * hidden * (hidden + inputs) >= UNIT
        if (many if unit is None else unit) and size == 4 and matrix_unit.usable():
            self.ways = recurrent_compiled.forth_by_unit, recurrent_compiled.back_by_unit
            self.squares = tuple(map(self._array, self._squares(recurrent_compiled.CHUNK)))

    def lent(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """x (samples, length, inputs) to (samples, length, hidden)."""
        found = self.begun()
        self.forth(self.strip(x), tuple(map(_flat, parameters)))
        return found.flip(1) if self.backwards else found

    def lent_back(self, gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
        """The gradient in x (samples, length, inputs), if wanted, and those in the parameters into their places."""
        length, samples, inputs, _, _ = self.sizes
        x = self.given.lend().view(length, samples, inputs).transpose(0, 1)
        places = [a.contiguous() for a in into]
        self.back(self.strip(gy), self.strip(x), tuple(map(_flat, places)), wanted, adding)
        for target, place in zip(into, places, strict=True):
            if place is not target:
                put(place, target, False)
        return x if wanted else None

    def begun(self) -> Tensor:
        """What comes next finds its states here (samples, length, hidden), in the order of the pass."""
        length, samples, _, hidden, _ = self.sizes
        z = self.states.lend()
        self.z = self.states.array
        return z.as_strided((samples, length, hidden), (self.zr, samples * self.zr, 1), samples * self.zr)

    def forth(self, entry: Strip, parameters: tuple[Any, ...]) -> None:
        """From what comes in to the states; flat parameters."""
        self.ways[0](entry, parameters, (*self.weights, self.z, *self.kept), self.squares, self.sizes)

    def back(self, above: Strip, entry: Strip, into: tuple[Any, ...], wanted: bool, adding: bool) -> None:
        """From the gradient in the states to that in what came in, if wanted, and in the parameters."""
        arrays = (self.weights[1], self.z, *self.kept)
        flags = bool(wanted), bool(adding)
        self.ways[1](above, entry, into, arrays, self.room, self.squares, self.sizes, flags)

    def _squares(self, chunk: int) -> tuple[int, ...]:
        """Numbers of the arrays of the matrix unit."""
        from boundcheck.engines.neural.kernels.matrix_unit import left_size, right_size
        from boundcheck.engines.neural.kernels.words import whole

        length, samples, inputs, hidden, _ = self.sizes
        wide, gates, rows = hidden + inputs + 1, 4 * hidden, min(length * samples, max(samples, chunk))
        first = left_size(samples, wide), left_size(samples, gates), left_size(wide, rows)
        there, back = right_size(wide, gates), right_size(gates, hidden + inputs)
        return there, back, max(first), right_size(rows, gates), self.zr * whole(rows, 4)

    @property
    def size(self) -> int:
        """Bytes of the arrays that it begins with."""
        own = (*self.weights, *self.kept, *self.room, *self.squares)
        return sum(a.nbytes for a in own) + self.states.size * self.dtype.itemsize

    def _array(self, size: int) -> Any:
        """Zeros: those that fill up the weights to whole words stay."""
        return library().zeros(size, dtype=self.dtype).numpy()

    def strip(self, a: Tensor) -> Strip:
        """The numbers of (samples, length, width): a flat array, the pass's first place and what lies between two."""
        a = a if a.stride(2) == 1 else a.contiguous()
        apart, onwards, _ = a.stride()
        samples, length, width = a.shape
        flat = _flat(a.as_strided(((samples - 1) * apart + (length - 1) * onwards + width,), (1,)))
        return (flat, (length - 1) * onwards, -onwards, apart) if self.backwards else (flat, 0, onwards, apart)


class _Lent:
    """A flat array that others may look at; a fresh one as long as they do."""

    def __init__(self, size: int, dtype: Tensor) -> None:
        self.size, self.dtype = size, dtype
        self.array: Any = None
        self._handed: Any = None

    def lend(self) -> Tensor:
        """An array of torch with any content."""
        if self.array is None or (self._handed is not None and self._handed() is not None):
            self.array = library().empty(self.size, dtype=self.dtype).numpy()
        handed = self.array[:]  # lives as long as an array of torch with this memory does
        self._handed = weakref.ref(handed)
        return library().from_numpy(handed)


def _flat(a: Tensor) -> Any:
    """The numbers of a tensor as an array of NumPy, without a copy where they lie one after the other."""
    return (a.detach() if a.requires_grad else a).numpy().reshape(-1)
