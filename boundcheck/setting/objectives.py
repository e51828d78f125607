"""Minima and gradient noise of weighted sums of the clients' objectives, where these are known exactly or in balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from flint import arb

from boundcheck.certified.forms import Form, gap, square, weighted
from boundcheck.certified.slopes import Slope, mixed
from boundcheck.core.linalg import column, float_up, precision, range_projector, rational, solve_any
from boundcheck.core.numbers import round_up
from boundcheck.methods.parts import StochasticSteps
from boundcheck.problems.problem import MixableProblem, QuadraticProblem, SlopedProblem, clients_of

_BITS = 128  # in which enclosures are computed
MAX_NUMBERS = 50_000  # entries of data that are gone through in balls

if TYPE_CHECKING:
    from flint import fmpq_mat

    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


class Objectives(Protocol):
    """Convex clients L_i and their sums with weights q (client -> weight); a point is what `minimiser` returns.

    exact: whether the numbers are exact; else they are bounds from above.
    """

    @property
    def exact(self) -> bool: ...

    def attained(self, q: Mapping[int, Fraction]) -> bool:
        """Whether sum q_i L_i is known to have a minimiser."""
        ...

    def minimiser(self, q: Mapping[int, Fraction]) -> Any:
        """The minimiser of sum q_i L_i nearest to the start; None where there is none."""
        ...

    def excess(self, q: Mapping[int, Fraction], x: Any, least: Any) -> Fraction:
        """Sum of q_i L_i at x less that at its minimiser `least`."""
        ...

    def second_moment(self, client: int, x: Any) -> Fraction:
        """E|g_i(x)|^2 of one local step."""
        ...

    def squared_distance(self, x: Any) -> Fraction:
        """|x_0 - x|^2."""
        ...


@dataclass(frozen=True, eq=False)
class Quadratics:
    """Of quadratics: maps (A_i, b_i) of each client; second: E|g_i(x)|^2 as a form; start (d, 1)."""

    maps: tuple[tuple[Any, Any], ...]
    second: tuple[Form, ...]
    start: fmpq_mat
    exact = True

    def attained(self, q: Mapping[int, Fraction]) -> bool:
        """See `Objectives`."""
        return self.minimiser(q) is not None

    def _map(self, q: Mapping[int, Fraction]) -> tuple[Any, Any]:
        """(A, b) of sum q_i L_i."""
        a, b = self.maps[0][0] * 0, self.start * 0
        for i, v in q.items():
            a, b = a + self.maps[i][0] * rational(v), b + self.maps[i][1] * rational(v)
        return a, b

    def minimiser(self, q: Mapping[int, Fraction]) -> fmpq_mat | None:
        """See `Objectives`."""
        a, b = self._map(q)
        x = solve_any(a, b)
        if x is None or a.rank() == a.nrows():
            return x
        return self.start + range_projector(a) * (x - self.start)

    def excess(self, q: Mapping[int, Fraction], x: fmpq_mat, least: fmpq_mat) -> Fraction:
        """See `Objectives`."""
        return gap(*self._map(q), least).at(x)

    def second_moment(self, client: int, x: fmpq_mat) -> Fraction:
        """See `Objectives`."""
        return self.second[client].at(x)

    def squared_distance(self, x: fmpq_mat) -> Fraction:
        """See `Objectives`."""
        difference: Any = self.start - x
        return sum((Fraction(int(v.p), int(v.q)) ** 2 for v in difference.entries()), Fraction(0))


@dataclass(frozen=True, eq=False)
class Sloped:
    """Of a `SlopedProblem`: slopes of the clients; samples: those of each client's batch of a step, with its size (1
    where steps use the whole client); start: x_0."""

    slopes: Sequence[Slope]
    samples: Sequence[tuple[tuple[Slope, ...], int]]
    start: Fraction
    exact = True

    def attained(self, q: Mapping[int, Fraction]) -> bool:
        """See `Objectives`."""
        return self.minimiser(q) is not None

    def minimiser(self, q: Mapping[int, Fraction]) -> Fraction | None:
        """See `Objectives`."""
        whole = mixed((v, self.slopes[i]) for i, v in q.items())
        return None if whole.zeros is None else whole.nearest_zero(self.start)

    def excess(self, q: Mapping[int, Fraction], x: Fraction, least: Fraction) -> Fraction:
        """See `Objectives`."""
        return sum((v * (self.slopes[i].area(x) - self.slopes[i].area(least)) for i, v in q.items()), Fraction(0))

    def second_moment(self, client: int, x: Fraction) -> Fraction:
        """See `Objectives`."""
        own, batch = self.samples[client]
        mean = self.slopes[client].at(x) ** 2
        each = sum((s.at(x) ** 2 for s in own), Fraction(0)) / len(own)
        return each / batch + mean * (1 - Fraction(1, batch))

    def squared_distance(self, x: Fraction) -> Fraction:
        """See `Objectives`."""
        return (self.start - x) ** 2


@dataclass(frozen=True, eq=False)
class Mixed:
    """Of a `MixableProblem`, in balls: points are enclosures. batches: samples of a local step, by client, and how many
    there are; (1, 1) where steps use the whole client."""

    problem: MixableProblem
    batches: Sequence[tuple[int, int]]
    start: Sequence[Fraction]
    exact = False

    @cached_property
    def _known(self) -> dict[tuple[tuple[int, Fraction], ...], MixableProblem]:
        return {}

    def _of(self, q: Mapping[int, Fraction]) -> MixableProblem:
        key = tuple(sorted(q.items()))
        if key not in self._known:
            self._known[key] = self.problem.of_clients(dict(key))
        return self._known[key]

    def attained(self, q: Mapping[int, Fraction]) -> bool:
        """See `Objectives`."""
        return self._of(q).attained

    def minimiser(self, q: Mapping[int, Fraction]) -> list[arb] | None:
        """See `Objectives`."""
        with precision(_BITS):
            return self._of(q).minimiser_of() if self.attained(q) else None

    def excess(self, q: Mapping[int, Fraction], x: list[arb], least: list[arb]) -> Fraction:
        """See `Objectives`."""
        with precision(_BITS):
            return _above(self._of(q).metric_of("gap", x) * arb(rational(sum(q.values(), Fraction(0)))))

    def second_moment(self, client: int, x: list[arb]) -> Fraction:
        """See `Objectives`."""
        batch, count = self.batches[client]
        with precision(_BITS):
            mean = sum((v**2 for v in self.problem.gradient_of(client, None, x)), arb(0))
            if batch == count == 1:
                return _above(mean)
            slopes = [self.problem.gradient_of(client, j, x) for j in range(count)]
            each = sum((v**2 for slope in slopes for v in slope), arb(0)) / count
            return _above(each / batch + mean * arb(rational(1 - Fraction(1, batch))))

    def squared_distance(self, x: list[arb]) -> Fraction:
        """See `Objectives`."""
        with precision(_BITS):
            return _above(sum(((v - arb(rational(s))) ** 2 for v, s in zip(x, self.start, strict=True)), arb(0)))


def _above(value: arb) -> Fraction:
    """At least every number of the ball, to 13 digits."""
    return round_up(max(Fraction(0), Fraction(float_up(value))))


def objectives_of(method: Method, problem: Problem) -> Objectives | None:
    """The clients' objectives of a quadratic problem with convex clients, of a `SlopedProblem` or a `MixableProblem`.

    None for other problems, and for the last with more than `MAX_NUMBERS` samples times coordinates.
    """
    if isinstance(problem, SlopedProblem):
        local, whole = method.local, tuple(problem.client_slopes)
        own = [((s,), 1) for s in whole]
        if isinstance(local, StochasticSteps):
            own = [(samples, min(local.batch, len(samples))) for samples in problem.slopes]
        return Sloped(whole, own, problem.start[0])
    if isinstance(problem, MixableProblem):
        sizes, local = clients_of(problem).sizes, method.local
        if sum(sizes) * problem.dim > MAX_NUMBERS:
            return None
        drawn = local.batch if isinstance(local, StochasticSteps) else None
        return Mixed(problem, [(1, 1) if drawn is None else (min(drawn, n), n) for n in sizes], problem.start)
    if not isinstance(problem, QuadraticProblem):
        return None
    if problem.violations("convex_clients") is not None:  # pyright: ignore[reportAttributeAccessIssue]
        return None
    maps = problem.forms().maps
    second = _second_moments(method, problem, maps)
    return None if second is None else Quadratics(maps, second, column(problem.start))


def _second_moments(method: Method, problem: Any, maps: tuple[tuple[Any, Any], ...]) -> tuple[Form, ...] | None:
    """E|g_i(x)|^2 of one local step; None where the samples are not known."""
    means = tuple(square(a, b) for a, b in maps)
    if not isinstance(method.local, StochasticSteps):
        return means
    samples = getattr(problem, "samples", None)
    if samples is None:
        return None
    sizes = clients_of(problem).sizes
    found: list[Form] = []
    for (a, b), whole, own, size in zip(maps, means, samples(), sizes, strict=True):
        batch = min(method.local.batch, size)
        # a client that is the sum of its samples takes steps along their number times a sample's gradient
        factor = 1 if own.mean() == (a, b) else own.count
        if own.mean() != (a / factor, b / factor):
            return None
        one = own.moment().times(Fraction(factor**2))
        found.append(weighted([(Fraction(1, batch), one), (1 - Fraction(1, batch), whole)]))
    return tuple(found)
