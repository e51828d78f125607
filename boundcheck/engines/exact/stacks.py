"""The exact reader over an axis of instances: thousands of small quadratic problems at once, in double precision.

The method, with its numbers, is one; the problems have the same clients and samples, and each its own matrices. A
matrix is a `Stack` (B, rows, columns) whose first axis has length 1 where all instances agree. For searches, which
decide in exact arithmetic what they find here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq_mat

from boundcheck.core.linalg import floats
from boundcheck.engines.curve import Arithmetic, Floats
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.each import Each, values_of
from boundcheck.engines.exact.layout import Samples
from boundcheck.engines.exact.reduction import started
from boundcheck.engines.exact.rings import Matrix, Pairs, RationalRing
from boundcheck.engines.exact.run import columns
from boundcheck.engines.exact.space import Operators
from boundcheck.engines.exact.state import Exact, lower, repeats
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem, Quadratic

MAX_PERIOD = 100  # rounds that are composed to one
MAX_STATE = 9  # numbers of a state whose second moments are mapped as a whole
_FLAT = 1e-12  # eigenvalues below this share of the largest are 0


def _entry(value: Any) -> Any:
    """A number, or one for each instance (B,), as it multiplies a stack."""
    if isinstance(value, Each):
        value = value.values
    if isinstance(value, np.ndarray):
        return value[..., None, None]
    return float(value) if isinstance(value, int | float) else int(value.numerator) / int(value.denominator)


class Stack:
    """Matrices (B, rows, columns); `*` is the product of matrices, or with a number, as for matrices of fractions."""

    def __init__(self, v: Floats) -> None:
        self.v = v

    def __add__(self, other: Any) -> Stack:
        return Stack(self.v + _stack(other).v)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Stack:
        return Stack(self.v - _stack(other).v)

    def __rsub__(self, other: Any) -> Stack:
        return Stack(_stack(other).v - self.v)

    def __neg__(self) -> Stack:
        return Stack(-self.v)

    def __mul__(self, other: Any) -> Stack:
        return Stack(self.v @ _stack(other).v if isinstance(other, Stack | fmpq_mat) else self.v * _entry(other))

    def __rmul__(self, other: Any) -> Stack:
        return _stack(other) * self

    def __getitem__(self, at: tuple[int, int]) -> Floats:
        return self.v[:, at[0], at[1]]

    def __setitem__(self, at: tuple[int, int], value: Any) -> None:
        if isinstance(value, np.ndarray) and len(value) > len(self.v):
            self.v = np.repeat(self.v, len(value), axis=0)
        self.v[:, at[0], at[1]] = value if isinstance(value, np.ndarray) else _entry(value)

    def transpose(self) -> Stack:
        """The transposed matrices."""
        return Stack(np.swapaxes(self.v, 1, 2))

    def entries(self) -> list[bytes]:
        """What tells stacks apart."""
        return [self.v.tobytes()]

    def nrows(self) -> int:
        """The number of rows."""
        return int(self.v.shape[1])


def _stack(m: Any) -> Stack:
    return m if isinstance(m, Stack) else Stack(floats(m)[None])


class StackRing(RationalRing):
    """Stacks in double precision. work: the multiplications so far, for one instance each."""

    arithmetic = Arithmetic.FLOAT64
    work = 0

    def lift(self, m: Any) -> Matrix:
        return _stack(m)

    def scalar(self, value: Fraction) -> Any:
        return values_of(value)

    def mul(self, a: Matrix, b: Matrix) -> Matrix:
        self.work += a.v.shape[1] * a.v.shape[2] * b.v.shape[2]
        return Stack(a.v @ b.v)

    def shape(self, m: Matrix) -> tuple[int, int]:
        return m.v.shape[1:]

    def zeros(self, rows: int, columns: int) -> Matrix:
        return Stack(np.zeros((1, rows, columns)))

    def rows(self, m: Matrix) -> Sequence[Any]:
        return list(np.moveaxis(m.v, 0, 2))  # a row is (columns, B)

    def from_rows(self, rows: Sequence[Any]) -> Matrix:
        made = [row if isinstance(row, np.ndarray) else np.stack(np.broadcast_arrays(*row)) for row in rows]
        return Stack(np.moveaxis(np.stack(np.broadcast_arrays(*made)), 2, 0))

    def placed(self, blocks: Iterable[tuple[int, Matrix]], height: int, width: int) -> Matrix:
        own = [(first, m.v) for first, m in blocks]
        found = np.zeros((max((len(v) for _, v in own), default=1), height, width))
        for first, v in own:
            found[:, first : first + v.shape[1]] = v
        return Stack(found)

    def dot(self, a: Matrix, b: Matrix) -> Any:
        return (a.v * b.v).sum((1, 2))

    def row_dots(self, a: Matrix, b: Matrix) -> list[Any]:
        return list((a.v * b.v).sum(2).T)

    def pack(self, m: Matrix) -> Matrix:
        return Stack(m.v[:, *np.triu_indices(m.nrows())][:, :, None])

    def unpack(self, column: Matrix, size: int) -> Matrix:
        full = np.zeros((len(column.v), size, size))
        full[:, *np.triu_indices(size)] = column.v[:, :, 0]
        return Stack(np.swapaxes(np.triu(full, 1), 1, 2) + full)

    def weights(self, q: Matrix) -> Matrix:
        both, size = q.v + np.swapaxes(q.v, 1, 2), q.nrows()
        both[:, range(size), range(size)] /= 2
        return Stack(both[:, *np.triu_indices(size)][:, None])

    def form(self, row: Matrix, size: int) -> Matrix:
        full = np.zeros((len(row.v), size, size))
        full[:, *np.triu_indices(size)] = row.v[:, 0]
        return Stack((full + np.swapaxes(full, 1, 2)) / 2)

    def operator(self, pairs: Pairs) -> Matrix:
        (out, size), count = self.shape(pairs[0][0]), len(pairs)
        self.work += count * (out * size) ** 2
        left, right = (
            np.stack(np.broadcast_arrays(*(pair[k].v for pair in pairs)), 1).reshape(-1, count, out * size)
            for k in (0, 1)
        )
        r = np.swapaxes(left, 1, 2) @ right
        r = r.reshape(-1, out, size, out, size).transpose(0, 1, 3, 2, 4)[:, *np.triu_indices(out)]
        p, q = np.triu_indices(size)
        return Stack(r[:, :, p, q] + np.where(p == q, 0.0, r[:, :, q, p]))

    def solve(self, a: Matrix, b: Matrix) -> Matrix:
        regular = np.linalg.eigvalsh(a.v)[:, 0] > 0  # of a subproblem, which else has no one minimiser
        found = np.linalg.solve(np.where(regular[:, None, None], a.v, np.eye(a.nrows())), b.v)
        return Stack(np.where(regular[:, None, None], found, np.nan))

    def symmetric(self, a: Any) -> bool:
        """Instances are sums of quadratics, and no games."""
        return True

    def convex(self, a: Any) -> bool:
        """Whether an objective is taken to be (strongly) convex: instances of which it is not true have no meaning."""
        return True

    def number(self, value: Any) -> Any:
        return value if isinstance(value, np.ndarray) else values_of(value)

    def vanishes(self, m: Matrix) -> bool:
        return not m.v.any()

    def lowest(self, a: Any, o: Any, start: Any) -> Matrix:
        whole, side, own = _stack(a).v, _stack(o).v, _stack(start).v
        back, onto = inverses(whole)
        found = own + onto @ (back @ side - own)
        size, reach = (np.abs(m).max((1, 2), keepdims=True) for m in (whole, np.abs(found) + np.abs(own)))
        rest = np.abs(whole @ found - side).max((1, 2), keepdims=True)
        none = rest > 1e-9 * (size * reach + np.abs(side).max((1, 2), keepdims=True))
        bent = np.linalg.eigvalsh(whole)[:, :1, None] < -1e-9 * size
        return Stack(np.where(none | bent, np.nan, found))


def inverses(a: Floats) -> tuple[Floats, Floats]:
    """(pseudo-inverses, projectors onto the ranges) of symmetric matrices (B, d, d)."""
    values, vectors = np.linalg.eigh(a)
    there = np.abs(values) > _FLAT * np.abs(values).max(1, keepdims=True)
    back = np.where(there, 1 / np.where(there, values, 1.0), 0.0)
    turned = np.swapaxes(vectors, 1, 2)
    return vectors @ (back[:, :, None] * turned), vectors @ (there[:, :, None] * turned)


@dataclass(frozen=True)
class Instances:
    """Quadratic problems of one form. A (B, N, d, d), b (B, N, d): a sample has the gradient A x - b.

    sizes: how many of the N samples each client holds, in order; weights: of the clients in F; start (B, d).
    """

    A: Floats
    b: Floats
    sizes: tuple[int, ...]
    weights: tuple[Fraction, ...]
    start: Floats

    def __len__(self) -> int:
        return len(self.A)

    @cached_property
    def firsts(self) -> list[int]:
        """The place of each client's first sample."""
        return [0, *np.cumsum(self.sizes)[:-1].tolist()]

    def of_clients(self, values: Floats) -> Floats:
        """The means over each client's samples, (B, N, ...) to (B, n, ...)."""
        sums = np.add.reduceat(values, self.firsts, axis=1)
        return sums / np.array(self.sizes).reshape(-1, *[1] * (values.ndim - 2))

    @cached_property
    def maps(self) -> tuple[Floats, Floats]:
        """A_i (B, n, d, d) and b_i (B, n, d) of the clients."""
        return self.of_clients(self.A), self.of_clients(self.b)

    @cached_property
    def shares(self) -> Floats:
        """The weights (n,) as floats."""
        return np.array([float(w) for w in self.weights])

    @cached_property
    def whole(self) -> tuple[Floats, Floats]:
        """A (B, d, d) and b (B, d) of F."""
        A, b = self.maps
        return np.einsum("i,bijk->bjk", self.shares, A), np.einsum("i,bij->bj", self.shares, b)

    @cached_property
    def inverse(self) -> tuple[Floats, Floats]:
        """Pseudo-inverse and projector onto the range of the Hessian of F."""
        return inverses(self.whole[0])

    def scaled(self, by: Floats) -> Instances:
        """Every objective times a number of its instance, (B,)."""
        return replace(self, A=self.A * by[:, None, None, None], b=self.b * by[:, None, None])


def run_stacks(
    method: Method, like: Problem, instances: Instances, grid: Sequence[int], metrics: Sequence[str], ring: StackRing
) -> Mapping[str, Floats]:
    """The metrics of all instances at the rounds of the grid, (B, rounds) each.

    like: one of the instances as a problem; what it has equal (samples, clients), all have. Raises what `run_exact`
    raises.
    """
    with np.errstate(all="ignore"):
        found = columns(method, _stacked(lower(method, like, metrics), like, instances), list(grid), ring)
    ones = np.ones(len(instances))
    return {name: np.stack([v * ones for v in own], 1) for name, own in found.items()}


def mean_stacks(
    method: Method, like: Problem, instances: Instances, doublings: int, metrics: Sequence[str], ring: StackRing
) -> tuple[int, Mapping[str, Floats]]:
    """The period of a method whose rounds repeat from the first on, and the means of the metrics over the rounds of
    1, 2, 4, ... periods, (B, doublings + 1) each.

    Raises what `run_exact` raises, and Unsupported for a method whose rounds do not repeat, or of a large state.
    """
    with np.errstate(all="ignore"):
        dynamics = Dynamics(ring, method, _stacked(lower(method, like, metrics), like, instances))
        rounds, wide = dynamics.rounds, dynamics.exact.layout.size
        if not repeats(method) or rounds.first or rounds.period > MAX_PERIOD or wide > MAX_STATE:
            raise Unsupported(f"the rounds of {method.name} do not repeat from the first on, or its state is large.")
        eta, space = method.schedule.step(1), Operators(ring, wide)
        whole = ring.one(wide * (wide + 1) // 2)
        sums = {name: ring.zeros(1, wide * (wide + 1) // 2) for name in metrics}
        plain = {name: ring.weights(q) for name, q in dynamics.readers.forms().items()}
        for t in range(rounds.period):
            for name, row in {**plain, **dynamics.readers.watched(space, eta, t)}.items():
                sums[name] = sums[name] + ring.mul(row, whole)
            whole = ring.mul(rounds.second(space, rounds.plan(eta, t)), whole)
        begin = dynamics.start()
        start = begin.transpose() if dynamics.random else ring.pack(ring.mul(begin.transpose(), begin))
        found: dict[str, list[Any]] = {name: [] for name in metrics}
        for k in range(doublings + 1):
            for name, row in sums.items():
                found[name].append(ring.mul(row, start)[0, 0] / (rounds.period << k))
                sums[name] = row + ring.mul(row, whole)
            whole = ring.mul(whole, whole)
    ones = np.ones(len(instances))
    return rounds.period, {name: np.stack([v * ones for v in own], 1) for name, own in found.items()}


def _stacked(template: Exact, like: Problem, given: Instances) -> Exact:
    """The data of all instances in the form of one."""
    (A, b), (hessian, push), (back, onto) = given.maps, given.whole, given.inverse
    push, x0 = push[:, :, None], given.start[:, :, None]
    centre = x0 + onto @ (back @ push - x0) if template.quadratic else np.zeros_like(x0)
    whole: Any = tuple((Stack(A[:, i]), Stack(b[:, i, :, None] - A[:, i] @ centre)) for i in range(A.shape[1]))
    residual = Stack(hessian @ centre - push)
    forms = {"dist2": onto, "gap": hessian / 2, "grad2": hessian @ hessian}
    samples = None
    if template.samples is not None:
        samples = tuple(
            _samples(own, [first + j for j in _places(like, i)], given, centre)
            for i, (own, first) in enumerate(zip(template.samples, given.firsts, strict=True))
        )
    objective: Any = (Stack(hessian), -residual)
    start, spread = started(
        template.rule, template.reduced, template.clients, whole, objective, Stack(x0 - centre), Stack(centre),
        StackRing(),
    )  # fmt: skip
    return replace(
        template, whole=whole, samples=samples, centre=Stack(centre), start=start, spread=spread,
        quadratic={name: Stack(forms[name]) for name in template.quadratic}, hessian=Stack(hessian), residual=residual,
    )  # fmt: skip


def _places(like: Problem, client: int) -> list[int]:
    """The first sample of each distinct kind of a client, in order."""
    maps = like.sample_maps() if isinstance(like, Quadratic) else None
    if maps is None:
        return [0]
    seen: list[Any] = []
    found: list[int] = []
    for j, own in enumerate(maps[client]):
        if own not in seen:
            seen.append(own)
            found.append(j)
    return found


def _samples(own: Samples, places: Sequence[int], given: Instances, centre: Floats) -> Any:
    offsets: Any = tuple(Stack(given.b[:, j, :, None] - given.A[:, j] @ centre) for j in places)
    hessians: Any = tuple(Stack(given.A[:, j]) for j in (places[:1] if own.alike else places))
    return Samples(hessians, offsets, own.counts)
