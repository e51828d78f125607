"""Random quadratic problems: a few clients and samples in a few dimensions, in the forms that break bounds.

The forms: one Hessian for all, also on the axes with eigenvalues that are squares of fractions; Hessians that differ by
sample or by client around a common one and may be indefinite; products of roots of any rank with signs; multiples of
one product. Samples differ from their client by vectors that sum to 0, free or in opposite pairs along few directions.
The weighted sum of all linear terms is 0, so that the origin is a minimiser of F. Which of these a hypothesis allows is
said in `Wanted`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.stacks import Instances
from boundcheck.theory.statement import Statement

FORMS = ("one", "around", "roots", "multiples", "axes")
SHARES = (0.18, 0.38, 0.28, 0.1, 0.06)  # how often each is drawn
SQUARES = (1.0, 1 / 4, 9 / 16, 1 / 16, 1 / 64, 1 / 256)  # of rationals, so that roots that a theorem prescribes are
DIMS = (1, 1, 1, 2, 2, 2, 2, 2, 3)  # and each number of coordinates
MANY = (8, 20)  # clients, of which most wait where few take part
OFTEN = 0.04  # how often there are as many
FLAT = 0.05  # sizes below this are 0
_SYMMETRIC = {1: [[0]], 3: [[0, 1], [1, 2]], 6: [[0, 1, 2], [1, 3, 4], [2, 4, 5]]}

# Named arrays: floats with a leading axis for the instances of a batch, or arrays of Fractions without it.
Numbers = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """What the hypotheses of a statement ask of its problems.

    convex: "samples", "clients" or "" (F alone). strongly: every sample is strongly convex. plain: equal weights;
    data: weights in proportion to the numbers of samples; alike: all clients hold the same samples; apart: coordinates
    are not coupled.
    """

    convex: str = ""
    strongly: bool = False
    plain: bool = False
    data: bool = False
    alike: bool = False
    apart: bool = False

    @staticmethod
    def of(statement: Statement) -> Wanted:
        """Those of a statement, by the names of its assumptions."""
        names = {a.name for a in statement.assumptions}
        convex = next((of for of, own in _CONVEX.items() if names & own), "")
        return Wanted(
            convex, "strongly_convex_samples" in names, "plain_mean" in names, "data_weights" in names,
            bool(names & {"iid_clients", "iid_data"}), "smooth_separable" in names,
        )  # fmt: skip


_CONVEX = {
    "samples": {"convex_samples", "strongly_convex_samples", "convex_device"},
    "clients": {"convex_clients", "own_minimisers"},
}


@dataclass(frozen=True)
class Form:
    """What the instances of a batch have in common.

    sizes: samples of each client; weights: of the clients. kind: one of `FORMS`; each: whether Hessians differ by
    sample, else by client; rank: of roots. paired: whether samples lie in opposite pairs around their client. scale,
    ratio: largest eigenvalue of the common Hessian and the smallest over it; where these varied within a batch, a local
    search would run to clients that are all alike, which have the best scores and break no bound.
    pushed: whether clients have other minimisers than F; noisy: and samples others than their client; moved: whether
    the start is another point than the minimiser. length: the size of distances.
    """

    sizes: tuple[int, ...]
    weights: tuple[Fraction, ...]
    dim: int
    kind: str
    each: bool
    rank: int
    paired: bool
    scale: float
    ratio: float
    wanted: Wanted
    pushed: bool = True
    noisy: bool = True
    moved: bool = True
    length: float = 1.0

    @property
    def kinds(self) -> int:
        """How many Hessians there are."""
        if self.wanted.alike:
            return self.sizes[0] if self.each else 1
        return sum(self.sizes) if self.each else len(self.sizes)

    @cached_property
    def owners(self) -> list[int]:
        """The Hessian of each sample."""
        if self.wanted.alike:
            return list(range(self.sizes[0])) * len(self.sizes) if self.each else [0] * sum(self.sizes)
        return list(range(sum(self.sizes))) if self.each else np.repeat(range(len(self.sizes)), self.sizes).tolist()

    @property
    def free(self) -> list[int]:
        """How many vectors say how the samples of each client differ from it."""
        own = self.sizes[:1] if self.wanted.alike else self.sizes
        return [size // 2 if self.paired else size - 1 for size in own]

    @cached_property
    def of_samples(self) -> list[Fraction]:
        """The weight of each sample in F."""
        pairs = zip(self.weights, self.sizes, strict=True)
        return [w / size for w, size in pairs for _ in range(size)]

    def without_samples(self) -> Form:
        """The same with one sample a client, where no method looks at samples."""
        weights = (Fraction(1, len(self.sizes)),) * len(self.sizes) if self.wanted.data else self.weights
        return replace(self, sizes=(1,) * len(self.sizes), weights=weights, each=False, paired=False)

    # --- the instances of a batch -------------------------------------------------------------------------------------

    def genes(self) -> dict[str, tuple[int, ...]]:
        """Sizes of the arrays of standard normal numbers that make one instance."""
        d, n = self.dim, len(self.sizes)
        found: dict[str, tuple[int, ...]] = dict.fromkeys(("spread", "noise", "push", "away", "angle"), ())
        found |= {"b": (0 if self.wanted.alike else n - 1, d), "z": (sum(self.free), d), "start": (d,)}
        if self.kind in ("one", "around"):
            found["ratio"] = ()
        if self.kind == "around":
            found["A"] = (self.kinds, d * (d + 1) // 2)
        elif self.kind == "roots":
            found |= {
                "size": (self.kinds, self.rank),
                "root": (self.kinds, d, self.rank),
                "sign": (self.kinds, self.rank),
            }
        elif self.kind == "multiples":
            found |= {"factor": (d, self.rank), "a": (self.kinds,)}
        return found

    def decode(self, genes: Mapping[str, Floats]) -> dict[str, Floats]:
        """The instances of a batch."""
        sizes = (("b", "push", self.pushed), ("z", "noise", self.noisy), ("start", "away", self.moved))
        found = self._hessians(genes)
        for name, size, there in sizes:
            scale = self.length * (self.scale if name != "start" else 1.0)
            found[name] = (
                there
                * scale
                * np.exp(2 * genes[size])[:, None, None]
                * genes[name].reshape(len(genes[size]), -1, self.dim)
            )
        return {**found, "start": found["start"][:, 0]}

    def _hessians(self, genes: Mapping[str, Floats]) -> dict[str, Floats]:
        d = self.dim
        convex = self.wanted.convex == "samples" or (self.wanted.convex == "clients" and not self.each)
        if self.kind == "axes":
            values = [1.0, self.ratio, (1 + self.ratio) / 2][: max(d, 1)]
            own = np.diag(values if d > 1 else [self.ratio])[np.triu_indices(d)]
            return {"A": np.tile(self.scale * own, (len(genes["angle"]), 1, 1))}
        if self.kind == "one":
            ratio = np.exp(-np.abs(3 * genes["ratio"]))
            return {"A": self.scale * _turned(ratio, genes["angle"], d)[:, None]}
        if self.kind == "around":
            mean = _turned(np.full(len(genes["angle"]), self.ratio), genes["angle"], d)
            apart = self._balanced(genes["A"])
            spread = np.exp(2 * genes["spread"] - 1)
            if convex:
                spread = np.minimum(spread, _convex_up_to(mean, apart))
            return {"A": self.scale * (mean[:, None] + spread[:, None, None] * apart)}
        if self.kind == "multiples":
            a = 1 + np.exp(genes["spread"])[:, None] / 4 * genes["a"]
            return {"factor": np.sqrt(self.scale) * genes["factor"], "a": np.abs(a) if convex else a}
        size = np.exp(1.5 * genes["size"])
        size = np.where((size < 2 * FLAT) & (not self.wanted.strongly), 0.0, size)
        root = np.sqrt(self.scale) * size[:, :, None] * genes["root"]
        if self.rank == d and self.wanted.apart:
            root = root * np.eye(d)
        sign = np.where((genes["sign"] < -1) & (not convex), -1.0, 1.0)
        return {"root": root, "sign": sign}

    def _balanced(self, apart: Floats) -> Floats:
        """Deviations (B, kinds, t) of the Hessians whose weighted mean is 0; within each client where it is convex."""
        if self.each and self.wanted.convex == "clients" and not self.wanted.alike:
            ends = np.cumsum((0, *self.sizes))
            own = [apart[:, i:j] for i, j in itertools.pairwise(ends)]
            return np.concatenate([a - a.mean(1, keepdims=True) for a in own], 1)
        weights = np.zeros(self.kinds)
        np.add.at(weights, self.owners, [float(w) for w in self.of_samples])
        mean = np.einsum("k,bkt->bt", weights, apart) / weights.sum()
        return apart - mean[:, None]

    def scaled(self, numbers: Numbers, by: Floats) -> dict[str, Floats]:
        """The instances with every objective times a number of its own, (B,)."""
        powers = {"A": 1.0, "b": 1.0, "z": 1.0, "root": 0.5, "factor": 0.5}
        return {
            name: v * (by ** powers[name]).reshape(-1, *[1] * (v.ndim - 1)) if name in powers else v
            for name, v in numbers.items()
        }

    # --- what numbers mean --------------------------------------------------------------------------------------------

    def hessians(self, numbers: Numbers) -> Any:
        """(..., N, d, d), of the samples."""
        if "A" in numbers:
            own = numbers["A"][..., _SYMMETRIC[numbers["A"].shape[-1]]]
            if own.shape[-3] == 1:
                return np.repeat(own, sum(self.sizes), axis=-3)
        elif "root" in numbers:
            root = numbers["root"]
            own = (root * numbers["sign"][..., None, :]) @ np.swapaxes(root, -1, -2)
        else:
            factor = numbers["factor"]
            own = numbers["a"][..., None, None] * (factor @ np.swapaxes(factor, -1, -2))[..., None, :, :]
        return own[..., self.owners, :, :]

    def pushes(self, numbers: Numbers) -> Any:
        """b (..., N, d) of the samples; their weighted sum is 0."""
        b, z = numbers["b"], numbers["z"]
        kind = object if b.dtype == object else float
        n = len(self.sizes)
        if self.wanted.alike:
            client = np.zeros((*b.shape[:-2], n, self.dim), dtype=kind) * (Fraction(0) if kind is object else 0.0)
        else:
            w = np.array(self.weights, dtype=kind)
            client = np.concatenate([b, -(w[:-1, None] * b).sum(-2, keepdims=True) / w[-1]], -2)
        parts: list[Any] = []
        for i, size in enumerate(self.sizes):
            k = 0 if self.wanted.alike else i
            first = sum(self.free[:k])
            own = z[..., first : first + self.free[k], :]
            if self.paired:
                odd = [0 * own[..., :1, :]] if size % 2 else []
                if size == 1:
                    odd = [0 * client[..., i : i + 1, :]]
                parts.append(client[..., i : i + 1, :] + np.concatenate([own, -own, *odd], -2))
            else:
                parts.append(client[..., i : i + 1, :] + np.concatenate([own, -own.sum(-2, keepdims=True)], -2))
        return np.concatenate(parts, -2)

    def instances(self, numbers: Numbers) -> Instances:
        """The batch as the exact reader takes it."""
        return Instances(self.hessians(numbers), self.pushes(numbers), self.sizes, self.weights, numbers["start"])

    def problem(self, numbers: Numbers) -> dict[str, Any]:
        """The specification of one exact instance, in the units of f and x that it has."""
        f, x = (abs(Fraction(u)) or Fraction(1) for u in numbers.get("units", (1, 1)))
        A, b = self.hessians(numbers) * (f / x**2), self.pushes(numbers) * (f / x)
        samples = iter(zip(A, b, strict=True))
        clients: list[dict[str, Any]] = []
        for size in self.sizes:
            own = [{"A": texts(A), "b": texts(b)} for A, b in (next(samples) for _ in range(size))]
            clients.append(own[0] if size == 1 else {"components": own})
        weights = {} if len(set(self.weights)) == 1 else {"weights": [format_exact(w) for w in self.weights]}
        return {"kind": "quadratics", "clients": clients, **weights, "start": texts(numbers["start"] * x)}

    # --- simpler instances --------------------------------------------------------------------------------------------

    def simpler(self, numbers: Numbers) -> Iterator[tuple[Form, Numbers, int | None]]:
        """Instances of a simpler form, and the client that was left out."""
        n = len(self.sizes)
        for k in reversed(range(n if n > 1 else 0)):
            if (found := self._without_client(k, numbers)) is not None:
                yield *found, k
        if self.dim > 1:
            for axis in reversed(range(self.dim)):
                yield *self._without_axis(axis, numbers), None
        for i, size in enumerate(self.sizes):
            if size > 1 and not self.wanted.alike and not self.each:
                yield *self._one_sample(i, numbers), None
        if self.rank > 1 and "factor" in numbers:
            yield replace(self, rank=1), {**numbers, "factor": numbers["factor"][:, :1]}, None

    def _without_client(self, k: int, numbers: Numbers) -> tuple[Form, Numbers] | None:
        sizes = self.sizes[:k] + self.sizes[k + 1 :]
        weights = self.weights[:k] + self.weights[k + 1 :]
        form = replace(self, sizes=sizes, weights=tuple(w / sum(weights) for w in weights))
        if self.wanted.alike:
            return form, numbers
        client = np.concatenate(
            [
                numbers["b"],
                -(np.array(self.weights)[:-1, None] * numbers["b"]).sum(-2, keepdims=True) / self.weights[-1],
            ],
            -2,
        )
        owned = sorted({self.owners[j] for j in range(sum(self.sizes[:k]), sum(self.sizes[: k + 1]))})
        first = sum(self.free[:k])
        kept = {
            "b": np.delete(client, k, 0)[:-1],
            "z": np.delete(numbers["z"], range(first, first + self.free[k]), 0),
        }
        for name in ("A", "root", "sign", "a"):
            if (
                name in numbers
                and len(numbers[name]) == self.kinds
                and not (name == "A" and self.kind in ("one", "axes"))
            ):
                kept[name] = np.delete(numbers[name], owned, 0)
        return form, {**numbers, **kept}

    def _without_axis(self, axis: int, numbers: Numbers) -> tuple[Form, Numbers]:
        form = replace(self, dim=self.dim - 1)
        kept = {name: np.delete(numbers[name], axis, -1) for name in ("b", "z", "start")}
        if "A" in numbers:
            places = _SYMMETRIC[numbers["A"].shape[-1]]
            left = [k for k in range(self.dim) if k != axis]
            kept["A"] = numbers["A"][..., [places[p][q] for a, p in enumerate(left) for q in left[a:]]]
        elif "root" in numbers:
            kept["root"] = np.delete(numbers["root"], axis, -2)
        else:
            kept["factor"] = np.delete(numbers["factor"], axis, 0)
        return form, {**numbers, **kept}

    def _one_sample(self, i: int, numbers: Numbers) -> tuple[Form, Numbers]:
        sizes = (*self.sizes[:i], 1, *self.sizes[i + 1 :])
        first = sum(self.free[:i])
        weights = self.weights
        if self.wanted.data:
            weights = tuple(Fraction(s, sum(sizes)) for s in sizes)
        form = replace(self, sizes=sizes, weights=weights)
        return form, {**numbers, "z": np.delete(numbers["z"], range(first, first + self.free[i]), 0)}


def draw(
    random: np.random.Generator, wanted: Wanted, *, dims: Sequence[int] = DIMS, clients: int = 0, rational: bool = False
) -> Form:
    """A random form that the hypotheses allow. clients: how many (0: any); rational: with such roots of curvatures."""
    n = clients or int(random.choice(MANY if random.random() < OFTEN else [1, 2, 2, 2, 3, 3]))
    sizes = tuple(int(s) for s in random.integers(1, 4, size=n)) if random.random() < 0.7 else (1,) * n
    if wanted.alike or (wanted.plain and wanted.data):
        sizes = sizes[:1] * n
    weights = (Fraction(1, n),) * n
    if wanted.data:
        weights = tuple(Fraction(s, sum(sizes)) for s in sizes)
    elif not wanted.plain and random.random() < 0.4:
        parts = [int(v) for v in random.choice([1, 1, 2, 3, 9], size=n)]
        weights = tuple(Fraction(v, sum(parts)) for v in parts)
    dim = int(random.choice(dims))
    if n in MANY:
        sizes, weights, dim = (1,) * n, (Fraction(1, n),) * n, min(dims)
    kind = str(random.choice(FORMS, p=SHARES))
    if rational and random.random() < 0.6:
        kind = "axes"
    if kind in ("one", "around") and dim > 3:
        kind = "multiples"
    if wanted.apart and dim > 1:
        kind = "roots"
    rank = dim if wanted.strongly or wanted.apart or random.random() < 0.5 else int(random.integers(1, dim + 1))
    scale, ratio = np.exp(random.choice([0, 3]) * random.standard_normal()), np.exp(-random.uniform(0, 9))
    if kind == "axes":
        scale, ratio = float(random.choice([1, 1, 4, 1 / 4])), float(random.choice(SQUARES))
        if dim > 3:
            dim = 3
    each, paired = (bool(v) for v in random.random(2) < (0.5, 0.4))
    pushed, noisy, moved = (bool(v) for v in random.random(3) < (0.7, 0.75, 0.75))
    length = float(10.0 ** (random.choice([0, 2]) * random.standard_normal()))
    return Form(
        sizes, weights, dim, kind, each, rank, paired, float(scale), float(ratio), wanted, pushed, noisy, moved, length
    )


def varied(random: np.random.Generator, form: Form) -> Form:
    """The form with other sizes, or with one of its properties the other way round."""
    part = str(random.choice(["pushed", "noisy", "moved", "paired", "scale", "ratio", "length"]))
    if part in ("scale", "ratio", "length"):
        size = getattr(form, part) * float(np.exp(2 * random.standard_normal()))
        return replace(form, **{part: min(size, 1.0) if part == "ratio" else size})
    return replace(form, **{part: not getattr(form, part)})


def texts(value: Any) -> Any:
    """Exact numbers as text, arrays of them as nested lists."""
    return [texts(v) for v in value] if isinstance(value, np.ndarray) else format_exact(Fraction(value))


def _turned(ratio: Floats, angle: Floats, d: int) -> Floats:
    """Upper triangles (B, t) of matrices with the eigenvalues 1 and ratio (and their geometric mean), turned."""
    one = np.ones(len(ratio))
    if d == 1:
        return one[:, None]
    c, s = np.cos(angle), np.sin(angle)
    p, q, r = ratio, one, np.sqrt(ratio)
    if d == 2:
        return np.stack([c * c * p + s * s * q, c * s * (p - q), s * s * p + c * c * q], 1)
    zero = 0 * one
    return np.stack([c * c * p + s * s * q, c * s * (p - q), zero, s * s * p + c * c * q, zero, r], 1)


def _convex_up_to(mean: Floats, apart: Floats) -> Floats:
    """Nearly the largest factors (B,) with which all matrices mean + factor apart are positive semidefinite."""
    index = _SYMMETRIC[mean.shape[-1]]
    root = np.linalg.inv(np.linalg.cholesky(mean[:, index]))[:, None]
    lowest = np.linalg.eigvalsh(root @ apart[..., index] @ np.swapaxes(root, -1, -2)).min((1, 2))
    return 0.99 / np.maximum(-lowest, 1e-9)
