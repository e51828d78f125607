"""Small problems: by their arrays for the sampled engine, and quadratic ones by their specification."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from boundcheck.methods.clients import Repeated
from boundcheck.problems.build import build
from boundcheck.problems.problem import Arrays


@dataclass(frozen=True)
class Toy:
    """A problem known by its arrays; client 0's gradient etc. are read from them."""

    flat: Arrays
    start: tuple[Fraction, ...]
    name: str = "toy"
    shares: tuple[Fraction, ...] = ()

    @property
    def dim(self) -> int:
        return len(self.start)

    @property
    def clients(self) -> int:
        return len(self.flat.offsets) - 1

    @property
    def weights(self) -> Sequence[Fraction]:
        return self.shares or Repeated(Fraction(1, self.clients), self.clients)

    @property
    def metrics(self) -> tuple[str, ...]:
        return (*self.flat.centred, "x") if self.dim == 1 else tuple(self.flat.centred)

    def arrays(self) -> Arrays:
        return self.flat

    def metric(self, name: str, x: Any) -> Any:
        assert name == "x"
        return x[0]


def make_toy(
    kind: str, sizes: Sequence[int], matrices: Any, b: Any, start: Sequence[int | Fraction],
    centre: Any = None, scale: Any = None, target: Any = None,
) -> Toy:  # fmt: skip
    """Components with dense matrices A_j and vectors b_j ("rows": vectors a_j, scales and targets)."""
    b = np.array(b, dtype=np.float64)
    count, d = b.shape
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if kind == "rows":
        scale, target = np.array(scale, dtype=np.float64), np.array(target, dtype=np.float64)
        dense, linear = scale[:, None, None] * b[:, :, None] * b[:, None, :], (scale * target)[:, None] * b
    else:
        dense, linear = np.array(matrices, dtype=np.float64), b
    pairs = list(pairwise(offsets))
    flat = Arrays(
        kind=kind,
        reduction="mean",
        offsets=offsets,
        A=dense if kind == "quadratic" else np.empty((0, d, d)),
        curvature=dense[:, 0, 0].copy() if kind == "isotropic" else scale if kind == "rows" else np.empty(0),
        b=b,
        target=target if kind == "rows" else np.empty(0),
        client_A=np.array([dense[i:j].mean(axis=0) for i, j in pairs]),
        client_b=np.array([linear[i:j].mean(axis=0) for i, j in pairs]),
        centre=np.zeros(d) if centre is None else np.array(centre, dtype=np.float64),
        centred={"dist2": np.eye(d), "gap": 0.5 * dense.mean(axis=0)},
    )
    assert count == offsets[-1]
    return Toy(flat, tuple(Fraction(v) for v in start))


# dimensions of toys that are no powers of two, and few of them: machine code is made for each
DIM = {"isotropic": 6, "quadratic": 3, "rows": 3}


def random_toy(kind: str, d: int, sizes: Sequence[int], seed: int = 0) -> Toy:
    """Numbers with denominator 8, exact in float64."""
    rng = np.random.default_rng(seed)
    count = sum(sizes)
    b = rng.integers(-8, 9, (count, d)) / 8
    factor = rng.integers(-4, 5, (count, d, d)) / 8
    matrices = factor + factor.transpose(0, 2, 1)
    if kind == "isotropic":
        matrices = rng.integers(-4, 12, count)[:, None, None] / 8 * np.eye(d)
    scale, target = rng.integers(1, 9, count) / 8, rng.integers(-8, 9, count) / 8
    start = [Fraction(int(v), 4) for v in rng.integers(-4, 5, d)]
    return make_toy(kind, sizes, matrices, b, start, rng.integers(-8, 9, d) / 8, scale, target)


def equation_36() -> Toy:
    """FedShuffle, eq. (36): clients with 1, 2, 3 points, |x - e_j|^2 / 2 in R^6; gap = |x - (1/6, ...)|^2 / 2."""
    return make_toy("isotropic", (1, 2, 3), [np.eye(6)] * 6, np.eye(6), [0] * 6, centre=[1 / 6] * 6)


@dataclass(frozen=True)
class Model:
    """A classifier on random data, with its loss written sample by sample."""

    flat: Arrays
    name: str = "model"
    metrics: tuple[str, ...] = ("loss",)
    asked: list[int] = field(default_factory=list)

    @property
    def dim(self) -> int:
        return self.flat.b.shape[1] * max(1, self.flat.classes)

    @property
    def clients(self) -> int:
        return len(self.flat.offsets) - 1

    @property
    def sizes(self) -> list[int]:
        return np.diff(self.flat.offsets).tolist()

    @property
    def weights(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(s, sum(self.sizes)) for s in self.sizes)

    @property
    def start(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(k % 5 - 2, 8) for k in range(self.dim))

    def arrays(self) -> Arrays:
        return self.flat

    def loss(self, j: int, x: Any) -> float:
        a = self.flat
        if a.kind == "logistic":
            own = math.log1p(math.exp(-a.target[j] * float(a.b[j] @ x)))
        else:
            scores = [float(row @ a.b[j]) for row in x.reshape(a.classes, -1)]
            own = math.log(sum(math.exp(s) for s in scores)) - scores[int(a.target[j])]
        return own + a.ridge / 2 * float(x @ x)

    def client_loss(self, client: int, x: Any) -> float:
        own = range(self.flat.offsets[client], self.flat.offsets[client + 1])
        return sum(self.loss(j, x) for j in own) / len(own)

    def metric_many(self, name: str, points: Any) -> Any:
        self.asked.append(len(points))
        margins = points[:, : self.flat.b.shape[1]] @ self.flat.b.T
        return np.log1p(np.exp(-np.abs(margins))).sum(axis=1)


def model(
    kind: str, p: int = 5, sizes: tuple[int, ...] = (4, 7, 1, 6), classes: int = 3, ridge: float = 0.125
) -> Model:
    rng = np.random.default_rng(p)
    count, none = sum(sizes), np.empty(0)
    logistic = kind == "logistic"
    labels = rng.choice([-1.0, 1.0], count) if logistic else rng.integers(0, classes, count).astype(float)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    flat = Arrays(
        kind, "mean", offsets, none, none, rng.normal(size=(count, p)), labels, none, none, none, {}, ridge,
        0 if logistic else classes,
    )  # fmt: skip
    return Model(flat)


def small_problem(*sizes: int, alike: bool = False, d: int = 2, **more: Any) -> Any:
    """Clients with this many samples of different Hessians (or one Hessian a client), some of them indefinite."""
    clients = []
    for i, size in enumerate(sizes):
        own = []
        for j in range(size):
            k = 0 if alike else j
            a = [[2 + i + k, 1 - k], [1 - k, 3 - 2 * (k == 1)]] if d == 2 else [[1 + i + k]]
            own.append({"A": a, "b": [1 + j, i - 2 * j][:d]})
        clients.append({"components": own})
    weights = [str(Fraction(s, sum(sizes))) for s in sizes]
    return build({"kind": "quadratics", "clients": clients, "weights": weights, "start": [1, -2][:d], **more})
