"""Linear least squares over rows that are spread over clients.

With rows a_j (d,) and targets y_j, client i that holds the rows J_i has, by `loss`,

    sum        f_i(x) = sum_{j in J_i} (a_j'x - y_j)^2          (SCGD, Section 4)
    mean       f_i(x) = (1/|J_i|) sum_{j in J_i} (a_j'x - y_j)^2
    half_sum   half of sum
    half_mean  half of mean

and F is the plain average of the f_i over the n clients.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq_mat

from boundcheck.core.linalg import matrix, nearest_float, rational
from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.problems._quadratic import QuadraticInstance
from boundcheck.problems._specs import whole
from boundcheck.problems._split import split_random, split_sorted
from boundcheck.problems.problem import Arrays

__all__ = ["LOSSES", "LeastSquares", "build"]

# loss -> (factor of (a'x - y)^2 / 2 in one component, how a client combines its components)
LOSSES: Mapping[str, tuple[int, str]] = {
    "sum": (2, "sum"),
    "mean": (2, "mean"),
    "half_sum": (1, "sum"),
    "half_mean": (1, "mean"),
}

# Data sets by name: modules with `load() -> Table`.
DATA = ("diabetes",)
SPLITS = ("random", "sorted")

Row = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LeastSquares(QuadraticInstance):
    """Least squares with exact rational data.

    name, spec: see `Problem`. rows: one tuple a client, each a tuple of its rows (d,); targets: likewise.
    loss: a key of `LOSSES`. start: x_0 (d,).
    """

    name: str
    spec: Mapping[str, Any]
    rows: tuple[tuple[Row, ...], ...]
    targets: tuple[Row, ...]
    loss: str
    start: Row

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise UnknownName("the loss", self.loss, LOSSES)
        sizes = [len(client) for client in self.rows]
        if not sizes or min(sizes) == 0:
            raise BadInput(f"the problem '{self.name}' has a client without rows; every client needs at least 1.")
        if sizes != [len(t) for t in self.targets]:
            raise BadInput(f"the problem '{self.name}' has clients with more rows than targets or the reverse.")
        if any(len(row) != len(self.start) for client in self.rows for row in client):
            raise BadInput(f"the problem '{self.name}' needs rows of length {len(self.start)}, that of its start.")

    @property
    def weights(self) -> tuple[Fraction, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """1/n for each of the n clients."""
        return (Fraction(1, len(self.rows)),) * len(self.rows)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each client."""
        return tuple(len(client) for client in self.rows)

    def maps(self) -> tuple[tuple[fmpq_mat, fmpq_mat], ...]:
        """Per client A_i = s sum a_j a_j', b_i = s sum y_j a_j, s by the loss."""
        factor, reduction = LOSSES[self.loss]
        out: list[tuple[fmpq_mat, fmpq_mat]] = []
        for rows, targets in zip(self.rows, self.targets, strict=True):
            a = matrix(rows)
            scale = rational(Fraction(factor, len(rows) if reduction == "mean" else 1))
            right = a.transpose() * matrix([[y] for y in targets])
            out.append((a.transpose() * a * scale, right * scale))
        return tuple(out)

    def arrays(self) -> Arrays:
        """Layout "rows": one component a row, scale 2 or 1 by the loss."""
        factor, reduction = LOSSES[self.loss]
        flat = [row for client in self.rows for row in client]
        sizes = [len(client) for client in self.rows]
        return Arrays(
            kind="rows",
            reduction=reduction,
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            A=np.empty((0, self.dim, self.dim)),
            curvature=np.full(len(flat), float(factor)),
            b=np.array([[nearest_float(v) for v in row] for row in flat], dtype=np.float64),
            target=np.array([nearest_float(y) for t in self.targets for y in t], dtype=np.float64),
            **self._layout(),
        )


def build(
    *,
    data: str,
    clients: Any = 20,
    split: str = "random",
    seed: Any = 0,
    feature: str | None = None,
    loss: str = "half_mean",
    start: Sequence[Any] | None = None,
) -> LeastSquares:
    """Least squares on a data set that is on this machine, spread over equally large clients.

    data: "diabetes". split: "random" (seeded) or "sorted" (by `feature`, a column name; default the data set's
    own, so that clients differ). start: default zeros.
    Raises UnknownName, BadInput, and DataNotFetched where the data set is missing.
    """
    if data not in DATA:
        raise UnknownName("the data set", data, DATA)
    if split not in SPLITS:
        raise UnknownName("the split", split, SPLITS)
    if split == "random" and feature is not None:
        raise BadInput(f"feature = '{feature}' is only used with split = 'sorted'.")
    table = importlib.import_module(f"boundcheck.problems.{data}").load()
    n = whole(clients, "clients", 1, len(table.rows))
    spec: dict[str, Any] = {"kind": "least_squares", "data": data, "clients": n, "split": split, "loss": loss}
    if split == "random":
        spec["seed"] = whole(seed, "seed", 0, 2**64 - 1)
        parts = split_random(len(table.rows), n, spec["seed"])
    else:
        spec["feature"] = feature if feature is not None else table.sort_by
        if spec["feature"] not in table.names:
            raise UnknownName(f"the data set '{data}': feature", spec["feature"], table.names)
        parts = split_sorted([row[table.names.index(spec["feature"])] for row in table.rows], n)
    d = len(table.names)
    x0 = (Fraction(0),) * d if start is None else tuple(as_fraction(v, "start") for v in start)
    if len(x0) != d:
        raise BadInput(f"start has {len(x0)} entries; the data set '{data}' has {d} features.")
    if start is not None:
        spec["start"] = [str(v) for v in x0]
    how = "at random" if split == "random" else f"sorted by {spec['feature']}"
    return LeastSquares(
        name=f"least squares on {data}, {n} clients, split {how}",
        spec=spec,
        rows=tuple(tuple(table.rows[j] for j in part) for part in parts),
        targets=tuple(tuple(table.target[j] for j in part) for part in parts),
        loss=loss,
        start=x0,
    )
