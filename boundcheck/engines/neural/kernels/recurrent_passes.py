"""Long short-term memory of one model by the passes of `recurrent_compiled`, with its way back."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

from boundcheck.engines.neural.kernels.plain import put
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Tensor
from boundcheck.problems.architectures import LSTM

__all__ = ["available", "traced_model"]


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
        model = _Model(*key)
    return model.forth(x, parameters), model.back


class _Model:
    """The passes of the layers with their memory, which one model after the other uses.

    New memory costs as much time as a third of a pass: the system clears it page by page.
    """

    def __init__(self, layer: LSTM, samples: int, length: int, dtype: Tensor) -> None:
        self.key, self.ways = (layer, samples, length, dtype), 2 if layer.both else 1
        widths = [layer.inputs] + [layer.hidden * self.ways] * (layer.layers - 1)
        self.passes = [
            [_Pass(samples, length, width, layer.hidden, dtype, bool(w)) for w in range(self.ways)] for width in widths
        ]

    def forth(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        for k, ways in enumerate(self.passes):
            found = [one.forth(x, self._own(parameters, k, w)) for w, one in enumerate(ways)]
            x = found[0] if len(found) == 1 else library().cat(found, dim=-1)
        return x

    def back(self, gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
        for k, ways in reversed(list(enumerate(self.passes))):
            parts, asked = gy.chunk(self.ways, dim=-1), wanted or k > 0
            found = [one.back(parts[w], self._own(into, k, w), asked, adding) for w, one in enumerate(ways)]
            gy = found[0] if len(found) == 1 or not asked else found[0] + found[1]
        _FREE.model = self
        return gy

    def _own(self, arrays: Sequence[Tensor], k: int, w: int) -> Sequence[Tensor]:
        first = 4 * (self.ways * k + w)
        return arrays[first : first + 4]


class _Free(threading.local):
    """The passes that the thread's last model used, until the next takes them."""

    model: _Model | None = None


_FREE = _Free()


class _Pass:
    """One layer one way, there and back; backwards: the pass begins at the end of the sequence."""

    def __init__(self, samples: int, length: int, inputs: int, hidden: int, dtype: Tensor, backwards: bool) -> None:
        from boundcheck.engines.neural.kernels import recurrent_compiled
        from boundcheck.engines.neural.kernels.recurrent_words import PANEL
        from boundcheck.engines.neural.kernels.words import BYTES, ready, whole

        self.compiled, self.dtype, self.backwards, size = recurrent_compiled, dtype, backwards, dtype.itemsize
        ready(size)
        lanes, panel = BYTES // size, PANEL // size
        zr, gr = whole(hidden + inputs + 1, size), whole(4 * hidden, size)
        rows = length * samples
        self.sizes, self.zr = (length, samples, inputs, hidden, lanes), zr
        self.weights = tuple(self._array(n) for n in (-(-gr // panel) * zr * panel, -(-zr // panel) * gr * panel))
        self.kept = tuple(self._array(n) for n in (rows * gr, (rows + samples) * hidden, rows * hidden))
        self.room = tuple(self._array(n) for n in (samples * zr, samples * hidden, zr * gr, lanes * zr))
        self.states, self.given = _Lent((rows + samples) * zr, dtype), _Lent(rows * inputs, dtype)
        self.z: Any = None

    def forth(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """x (samples, length, inputs) to (samples, length, hidden)."""
        length, samples, _, hidden, _ = self.sizes
        z = self.states.lend()
        self.z = self.states.array
        arrays = (*self.weights, self.z, *self.kept)
        self.compiled.forth(self._strip(x), tuple(map(_flat, parameters)), arrays, self.sizes)
        found = z.as_strided((samples, length, hidden), (self.zr, samples * self.zr, 1), samples * self.zr)
        return found.flip(1) if self.backwards else found

    def back(self, gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
        """The gradient in x (samples, length, inputs), if wanted, and those in the parameters into their places."""
        length, samples, inputs, _, _ = self.sizes
        x = self.given.lend().view(length, samples, inputs).transpose(0, 1)
        places = [a if a.is_contiguous() else a.contiguous() for a in into]
        strips, flat = (self._strip(gy), self._strip(x)), tuple(map(_flat, places))
        arrays = (self.weights[1], self.z, *self.kept)
        self.compiled.back(*strips, flat, arrays, self.room, self.sizes, (bool(wanted), bool(adding)))
        for target, place in zip(into, places, strict=True):
            if place is not target:
                put(place, target, False)
        return x if wanted else None

    def _array(self, size: int) -> Any:
        """Zeros: those that fill up the weights to whole words stay."""
        return library().zeros(size, dtype=self.dtype).numpy()

    def _strip(self, a: Tensor) -> tuple[Any, int, int, int]:
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
