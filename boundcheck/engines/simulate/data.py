"""The flat arrays of a problem as the kernel reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundcheck.engines.simulate import kernel
from boundcheck.problems.problem import Arrays

_KINDS = {
    "isotropic": kernel.ISOTROPIC,
    "quadratic": kernel.QUADRATIC,
    "rows": kernel.ROWS,
    "logistic": kernel.LOGISTIC,
    "softmax": kernel.SOFTMAX,
}


def fixed(values: ArrayLike) -> NDArray[Any]:
    """C-ordered float64 and read-only, so that every problem meets the same machine code, and no copy where none is
    needed: data sets may be large."""
    found = np.ascontiguousarray(values, dtype=np.float64).view()
    found.flags.writeable = False
    return found


def data_of(arrays: Arrays) -> tuple[Any, ...]:
    """What the kernel reads of a problem."""
    matrices = arrays.A if arrays.kind == "quadratic" else np.empty((0, 0, 0))
    known = len(arrays.client_A) > 0
    return (
        _KINDS[arrays.kind],
        max(1, arrays.classes) if arrays.kind == "softmax" else 1,
        float(arrays.ridge),
        fixed(arrays.b),
        fixed(arrays.target),
        fixed(arrays.curvature),
        fixed(matrices),
        arrays.reduction == "sum",
        fixed(arrays.client_A if known else np.empty((0, 0, 0))),
        fixed(arrays.client_b if known else np.empty((0, 0))),
    )


def joined_arrays(parts: Sequence[Arrays]) -> Arrays:
    """Arrays of clients one after the other."""
    first = parts[0]
    counts = [len(p.b) for p in parts]

    def of(name: str) -> Any:
        return np.concatenate([getattr(p, name) for p in parts])

    return Arrays(
        first.kind, first.reduction, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), of("A"),
        of("curvature"), of("b"), of("target"), of("client_A"), of("client_b"), first.centre, first.centred,
        first.ridge, first.classes,
    )  # fmt: skip
