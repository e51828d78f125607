"""Vectors of many lanes as the functions of a round see them: a tensor (lanes, dim) each.

Functions add vectors, multiply them by numbers and take NumPy's functions coordinate by coordinate, as on the NumPy
path; a number that differs from lane to lane is a column (lanes, 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import as_double
from boundcheck.networks.engine.device import Tensor, library


class Nothing:
    """A factor that is 0 in every lane: its products are 0, and adding them costs nothing."""

    def _same(self, other: Any) -> Nothing:
        return self

    __mul__ = __rmul__ = __truediv__ = _same

    def _other(self, other: Any) -> Any:
        return other

    __add__ = __radd__ = __rsub__ = _other

    def __neg__(self) -> Nothing:
        return self

    def __sub__(self, other: Any) -> Any:
        return -other

    def __bool__(self) -> bool:
        return False

    def __float__(self) -> float:
        return 0.0


NOTHING = Nothing()


class Vectors:
    """A tensor (lanes, dim), or (lanes, 1) for numbers. It is never changed in place. of: whose first lanes these are.

    A product with a number is computed when it is needed, so that y - eta g is one pass over memory.
    """

    __slots__ = ("_by", "_tensor", "of")

    def __init__(self, tensor: Tensor, of: Vectors | None = None, by: Any = None) -> None:
        self._tensor, self._by, self.of = tensor, by, of

    @property
    def tensor(self) -> Tensor:
        """The numbers."""
        if self._by is not None:
            self._tensor, self._by = self._tensor * self._by, None
        return self._tensor

    def _plus(self, other: Any, sign: int) -> Vectors:
        by = other._by if isinstance(other, Vectors) else None
        if isinstance(by, float | int) and abs(by) <= library().finfo(self.tensor.dtype).max:
            return Vectors(library().add(self.tensor, other._tensor, alpha=sign * by))
        if by is None or isinstance(by, float | int):
            return Vectors(self.tensor + _plain(other) if sign > 0 else self.tensor - _plain(other))
        return Vectors(library().addcmul(self.tensor, by, other._tensor, value=sign))

    def __add__(self, other: Any) -> Vectors:
        return self if other is NOTHING else self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Vectors:
        return self if other is NOTHING else self._plus(other, -1)

    def __rsub__(self, other: Any) -> Vectors:
        return -self if other is NOTHING else Vectors(_plain(other) - self.tensor)

    def __mul__(self, other: Any) -> Any:
        if other is NOTHING:
            return other
        by = _plain(other)
        if isinstance(by, float | int) or by.shape[1] == 1:
            return Vectors(self._tensor, None, by if self._by is None else self._by * by)
        return Vectors(self.tensor * by)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Vectors:
        return Vectors(self.tensor / _plain(other))

    def __rtruediv__(self, other: Any) -> Vectors:
        return Vectors(_plain(other) / self.tensor)

    def __neg__(self) -> Vectors:
        return Vectors(-self.tensor)

    def __pow__(self, power: Any) -> Vectors:
        return Vectors(self.tensor ** _plain(power))

    def __bool__(self) -> bool:
        """Whether no number is 0."""
        return bool((self.tensor != 0).all())

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **how: Any) -> Any:
        """NumPy's function by torch's of the same name, such as `minimum` or `sign`."""
        torch, name = library(), str(ufunc.__name__)
        own = getattr(torch, name, None)
        if method != "__call__" or how or own is None:
            return NotImplemented
        return Vectors(own(*(torch.as_tensor(_plain(v), dtype=self.tensor.dtype) for v in given)))


def _plain(value: Any) -> Any:
    """What torch computes with."""
    if isinstance(value, Vectors):
        return value.tensor
    if isinstance(value, Fraction):
        return as_double(value, "a number of the round")
    return float(value) if isinstance(value, np.number) else value


def number(values: np.ndarray, like: Tensor) -> Any:
    """Numbers (lanes,) as a function sees them: one where all are the same, NOTHING where that is 0, else a column."""
    if len(values) == 0 or (values == values[0]).all():
        one = values[0].item() if len(values) else 0
        return one if one else NOTHING
    return Vectors(library().as_tensor(values, dtype=like.dtype).to(like.device).unsqueeze(1))


class Held(Mapping[str, Any]):
    """Vectors by name, each gathered from rows when it is first asked for; `missing` where the name is not there."""

    def __init__(self, found: Mapping[str, Any], zero: Any = None) -> None:
        self._found, self._zero, self._known = found, zero, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            if name not in self._found and self._zero is None:
                raise KeyError(name)
            made = self._found.get(name)
            self._known[name] = self._zero if made is None else made() if callable(made) else made
        return self._known[name]

    def first(self, count: int) -> Held:
        """The same of the first lanes alone."""
        return Held({name: _First(self, name, count) for name in self._found}, first(self._zero, count))

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class _First:
    """Makes the first lanes of a vector that others hold."""

    def __init__(self, of: Held, name: str, count: int) -> None:
        self.of, self.name, self.count = of, name, count

    def __call__(self) -> Any:
        return first(self.of[self.name], self.count)


def first(value: Any, count: int) -> Any:
    """The first lanes of a vector or a column; numbers are those of every lane."""
    return (
        Vectors(value.tensor[:count], value if value.of is None else value.of) if isinstance(value, Vectors) else value
    )


def norm(vector: Any) -> Vectors:
    """The Euclidean norm of each row, as a column."""
    return Vectors(library().linalg.vector_norm(vector.tensor, dim=1, keepdim=True))
