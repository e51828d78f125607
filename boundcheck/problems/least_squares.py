"""Linear least squares over rows that are spread over clients.

With rows a_j (d,) and targets y_j, client i that holds the rows J_i has, by `loss`,

    sum        f_i(x) = sum_{j in J_i} (a_j'x - y_j)^2          (SCGD, Section 4)
    mean       f_i(x) = (1/|J_i|) sum_{j in J_i} (a_j'x - y_j)^2
    half_sum   half of sum
    half_mean  half of mean

and F is the plain average of the f_i over the n clients, or with weights = "data" their average by |J_i|. A ridge adds
ridge/2 |x|^2 to every sample's loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq_mat

from boundcheck.certified.samples import Rows
from boundcheck.core.linalg import identity, matrix, nearest_float, rational
from boundcheck.core.numbers import as_fraction, format_exact, format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.problems._data import Samples
from boundcheck.problems._data_sets import TAKEN_BY, module
from boundcheck.problems._own_data import Given, regression
from boundcheck.problems._quadratic import QuadraticInstance
from boundcheck.problems._specs import vector
from boundcheck.problems._split import data_weights
from boundcheck.problems.problem import Arrays

# loss -> (factor of (a'x - y)^2 / 2 in one component, how a client combines its components)
LOSSES: Mapping[str, tuple[int, str]] = {
    "sum": (2, "sum"),
    "mean": (2, "mean"),
    "half_sum": (1, "sum"),
    "half_mean": (1, "mean"),
}

# Data sets whose `load()` gives exact rows and a target.
DATA = TAKEN_BY["least_squares"]

Row = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LeastSquares(QuadraticInstance):
    """Least squares with exact rational data.

    name, spec: see `Problem`. rows: one tuple a client, each a tuple of its rows (d,); targets: likewise.
    loss: a key of `LOSSES`. start: x_0 (d,). ridge: at least 0. shares: client weights; empty: 1/n each.
    """

    name: str
    spec: Mapping[str, Any]
    rows: tuple[tuple[Row, ...], ...]
    targets: tuple[Row, ...]
    loss: str
    start: Row
    ridge: Fraction = Fraction(0)
    shares: tuple[Fraction, ...] = ()

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
        """1/n for each of the n clients, or the shares given."""
        return self.shares or (Fraction(1, len(self.rows)),) * len(self.rows)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each client."""
        return tuple(len(client) for client in self.rows)

    def sample_maps(self) -> tuple[tuple[tuple[fmpq_mat, fmpq_mat], ...], ...]:
        """Per client and row (s a_j a_j' + r I, s y_j a_j), s = 2 or 1 by the loss and r the ridge."""
        factor, ridge = rational(Fraction(LOSSES[self.loss][0])), identity(self.dim) * rational(self.ridge)

        def sample(row: Row, y: Fraction) -> tuple[fmpq_mat, fmpq_mat]:
            a = matrix([[v] for v in row])
            return a * a.transpose() * factor + ridge, a * (factor * rational(y))

        return tuple(
            tuple(sample(row, y) for row, y in zip(rows, targets, strict=True))
            for rows, targets in zip(self.rows, self.targets, strict=True)
        )

    def samples(self) -> tuple[Rows, ...]:
        """The rows of each client, without a matrix for each."""
        factor = Fraction(LOSSES[self.loss][0])
        pairs = zip(self.rows, self.targets, strict=True)
        return tuple(Rows(matrix(rows), matrix([[y] for y in ys]), factor, self.ridge) for rows, ys in pairs)

    def maps(self) -> tuple[tuple[fmpq_mat, fmpq_mat], ...]:
        """Per client A_i = s sum a_j a_j' + r I, b_i = s sum y_j a_j; s by the loss, r the ridge of one or all rows."""
        factor, reduction = LOSSES[self.loss]
        out: list[tuple[fmpq_mat, fmpq_mat]] = []
        for rows, targets in zip(self.rows, self.targets, strict=True):
            a = matrix(rows)
            scale = rational(Fraction(factor, len(rows) if reduction == "mean" else 1))
            right = a.transpose() * matrix([[y] for y in targets])
            hessian = a.transpose() * a * scale
            if self.ridge:
                hessian += identity(self.dim) * rational(self.ridge * (1 if reduction == "mean" else len(rows)))
            out.append((hessian, right * scale))
        return tuple(out)

    def arrays(self) -> Arrays:
        """Layout "rows": one component a row, scale 2 or 1 by the loss; "quadratic" where there is a ridge."""
        return self._flat

    @cached_property
    def _flat(self) -> Arrays:
        factor, reduction = LOSSES[self.loss]
        flat = [row for client in self.rows for row in client]
        offsets = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        rows = np.array([[nearest_float(v) for v in row] for row in flat], dtype=np.float64)
        target = np.array([nearest_float(y) for t in self.targets for y in t], dtype=np.float64)
        shared: dict[str, Any] = {"reduction": reduction, "offsets": offsets, **self._layout()}
        if self.ridge:
            hessians = factor * rows[:, :, None] * rows[:, None, :] + nearest_float(self.ridge) * np.eye(self.dim)
            right = factor * target[:, None] * rows
            return Arrays(kind="quadratic", A=hessians, b=right, **shared)
        return Arrays(kind="rows", curvature=np.full(len(flat), float(factor)), b=rows, target=target, **shared)


def build(
    *,
    data: Any,
    clients: Any = None,
    split: str | None = None,
    seed: Any = None,
    feature: str | None = None,
    loss: str = "half_mean",
    start: Sequence[Any] | None = None,
    ridge: Any = None,
    weights: str | None = None,
    alpha: Any = None,
    shards_per_client: Any = None,
    imbalance: Any = None,
    target: str | None = None,
    client: str | None = None,
) -> LeastSquares:
    """Least squares on a data set that is on this machine, or on own data, spread over clients.

    data: "diabetes", "breast_cancer" (labels +1 and -1) or "digits" (the digit); or own data, a file or arrays, with
    target and client, see `_own_data`. clients: default 20. split: see `_split`; default "random", and "owners" for
    own data with clients. "sorted" is by `feature`, a column name or "label" (default the data set's own, so that
    clients differ; of own data the target). alpha,
    shards_per_client, imbalance: of the split. ridge: default 0. weights: "equal" (default) or "data". start: default
    zeros.
    Raises UnknownName, BadInput, and DataNotFetched where the data set is missing.
    """
    asked = locals()
    given = Given.of(data, target, client)
    table: Samples = module(data, DATA).load() if given.own is None else regression(given.own)
    dealt, parts = given.dealt(table, asked)
    d = len(table.names)
    spec: dict[str, Any] = {"kind": "least_squares", "data": given.spec, "clients": dealt.clients, "split": dealt.kind}
    spec |= {"loss": loss, **dealt.given}
    x0 = (Fraction(0),) * d if start is None else vector(start, "start")
    if len(x0) != d:
        raise BadInput(f"start has {len(x0)} entries; {given.words} has {d} features.")
    if start is not None:
        spec["start"] = [str(v) for v in x0]
    added = Fraction(0) if ridge is None else as_fraction(ridge, "ridge")
    if added < 0:
        raise BadInput(f"ridge = {format_short(added)} is not allowed; it must be at least 0.")
    if ridge is not None:
        spec["ridge"] = format_exact(added)
    shares: tuple[Fraction, ...] = ()
    if weights is not None:
        spec["weights"] = weights
        shares = data_weights([len(part) for part in parts], weights)
    return LeastSquares(
        name=f"least squares on {given.name}, {dealt.clients} clients, split {dealt.name}",
        spec=spec,
        rows=tuple(tuple(table.rows[j] for j in part) for part in parts),
        targets=tuple(tuple(table.target[j] for j in part) for part in parts),
        loss=loss,
        start=x0,
        ridge=added,
        shares=shares,
    )
