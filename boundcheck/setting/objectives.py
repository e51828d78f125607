"""Minima and gradient noise of weighted sums of the clients' objectives, where these are known exactly or in balls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from flint import arb

from boundcheck.certified.forms import Affine, Form, gap, square, weighted, weighted_map
from boundcheck.certified.slopes import Slope, mixed
from boundcheck.core.linalg import column, float_up, fraction, nearest_solution, precision, rational
from boundcheck.core.numbers import round_up
from boundcheck.problems.problem import clients_of, optional, quadratic_objectives
from boundcheck.setting.local_work import possible_visits, variance_share

_BITS = 128  # in which enclosures are computed
MAX_NUMBERS = 50_000  # entries of data that are gone through in balls

if TYPE_CHECKING:
    from flint import fmpq_mat

    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


class _Exact:
    """Objectives whose numbers are exact, and not bounds from above."""

    exact: ClassVar[bool] = True

    def minimiser(self, q: Mapping[int, Fraction]) -> Any:
        """The minimiser of sum q_i L_i nearest to the start; None if there is none."""
        raise NotImplementedError

    def attained(self, q: Mapping[int, Fraction]) -> bool:
        """Whether sum q_i L_i is known to have a minimiser."""
        return self.minimiser(q) is not None


@dataclass(frozen=True, eq=False)
class Quadratics(_Exact):
    """Of quadratics: maps (A_i, b_i) of each client; second: E|g_i(x)|^2 as a form; start (d, 1)."""

    maps: Sequence[Affine]
    second: tuple[Form, ...]
    start: fmpq_mat

    def _map(self, q: Mapping[int, Fraction]) -> Affine:
        """(A, b) of sum q_i L_i."""
        return weighted_map((v, self.maps[i]) for i, v in q.items())

    def minimiser(self, q: Mapping[int, Fraction]) -> fmpq_mat | None:
        return nearest_solution(*self._map(q), self.start)

    def excess(self, q: Mapping[int, Fraction], x: fmpq_mat, least: fmpq_mat) -> Fraction:
        return gap(*self._map(q), least).at(x)

    def second_moment(self, client: int, x: fmpq_mat) -> Fraction:
        return self.second[client].at(x)

    def squared_distance(self, x: fmpq_mat) -> Fraction:
        difference: Any = self.start - x
        return sum((fraction(v) ** 2 for v in difference.entries()), Fraction(0))


@dataclass(frozen=True, eq=False)
class Sloped(_Exact):
    """Of piecewise quadratics: slopes of the clients and of their samples; shares: see `_shares`; start: x_0."""

    slopes: Sequence[Slope]
    samples: Sequence[Sequence[Slope]]
    shares: Sequence[Fraction]
    start: Fraction

    def minimiser(self, q: Mapping[int, Fraction]) -> Fraction | None:
        whole = mixed((v, self.slopes[i]) for i, v in q.items())
        return whole.nearest_minimiser(self.start) if whole.minima else None

    def excess(self, q: Mapping[int, Fraction], x: Fraction, least: Fraction) -> Fraction:
        return sum((v * (self.slopes[i].area(x) - self.slopes[i].area(least)) for i, v in q.items()), Fraction(0))

    def second_moment(self, client: int, x: Fraction) -> Fraction:
        own, share = self.samples[client], self.shares[client]
        each = sum((s.at(x) ** 2 for s in own), Fraction(0)) / len(own)
        return each * share + self.slopes[client].at(x) ** 2 * (1 - share)

    def squared_distance(self, x: Fraction) -> Fraction:
        return (self.start - x) ** 2


@dataclass(frozen=True, eq=False)
class Mixed:
    """Of a problem with `of_clients`, in balls: points are enclosures. sizes: of the clients; shares: see `_shares`."""

    problem: Any
    sizes: Sequence[int]
    shares: Sequence[Fraction]
    start: Sequence[Fraction]
    exact: ClassVar[bool] = False

    @cached_property
    def _known(self) -> dict[tuple[tuple[int, Fraction], ...], Any]:
        return {}

    def _of(self, q: Mapping[int, Fraction]) -> Any:
        key = tuple(sorted(q.items()))
        if key not in self._known:
            self._known[key] = self.problem.of_clients(dict(key))
        return self._known[key]

    def attained(self, q: Mapping[int, Fraction]) -> bool:
        return self._of(q).attained

    def minimiser(self, q: Mapping[int, Fraction]) -> list[arb] | None:
        with precision(_BITS):
            return self._of(q).minimiser_of() if self.attained(q) else None

    def excess(self, q: Mapping[int, Fraction], x: list[arb], least: list[arb]) -> Fraction:
        with precision(_BITS):
            return _above(self._of(q).metric_of("gap", x) * arb(rational(sum(q.values(), Fraction(0)))))

    def second_moment(self, client: int, x: list[arb]) -> Fraction:
        count, share = self.sizes[client], self.shares[client]
        with precision(_BITS):
            mean = _squares(self.problem.gradient_of(client, None, x))
            if not share:
                return _above(mean)
            slopes = [self.problem.gradient_of(client, j, x) for j in range(count)]
            each = sum(map(_squares, slopes), arb(0)) / count
            return _above(each * arb(rational(share)) + mean * arb(rational(1 - share)))

    def squared_distance(self, x: list[arb]) -> Fraction:
        with precision(_BITS):
            return _above(_squares(v - arb(rational(s)) for v, s in zip(x, self.start, strict=True)))


# Convex clients L_i and their sums with weights q (client -> weight): minima, E|g_i(x)|^2 of one local step, and
# |x_0 - x|^2. A point is what `minimiser` returns; `excess` is sum of q_i L_i there less that at its minimiser.
Objectives = Quadratics | Sloped | Mixed


def _squares(values: Iterable[arb]) -> arb:
    """The sum of the squares; by products, since flint's power of a ball around 0 may be NaN."""
    return sum((v * v for v in values), arb(0))


def _above(value: arb) -> Fraction:
    """At least every number of the ball, to 13 digits."""
    return round_up(max(Fraction(0), Fraction(float_up(value))))


def objectives_of(method: Method, problem: Problem) -> Objectives | None:
    """The clients' objectives that are quadratic or have `slopes` and are convex, or of a problem with `of_clients`.

    None for other problems, for the last with more than `MAX_NUMBERS` samples times coordinates, and for local work
    whose steps are no whole gradients or samples drawn anew.
    """
    shares = _shares(method, clients_of(problem))
    if shares is None:
        return None
    slopes, quadratic = optional(problem, "slopes"), quadratic_objectives(problem)
    if (slopes is not None or quadratic is not None) and problem.violations("convex_clients") is not None:
        return None
    if slopes is not None:
        return Sloped(optional(problem, "client_slopes"), slopes, shares, problem.start[0])
    if optional(problem, "of_clients") is not None:
        sizes = clients_of(problem).sizes
        fits = sum(sizes) * problem.dim <= MAX_NUMBERS
        return Mixed(problem, sizes, shares, problem.start) if fits else None
    if quadratic is None:
        return None
    maps = quadratic.forms().maps
    second = _second_moments(problem, maps, shares)
    return None if second is None else Quadratics(maps, second, column(problem.start))


def for_quadratics_only(problem: Problem) -> str | None:
    """Why constants of a problem that is neither quadratic nor piecewise quadratic are missing; None for these."""
    if quadratic_objectives(problem) is not None or optional(problem, "slopes") is not None:
        return None
    return "some constants of this theory are computed for quadratic and piecewise quadratic problems only"


def _shares(method: Method, clients: Clients) -> list[Fraction] | None:
    """The variance of each client's step over that of a single sample; None for steps of another kind."""
    found: list[Fraction] = []
    for i, size in enumerate(clients.sizes):
        visits = possible_visits(method, i, clients)
        own = {variance_share(v, size) if v.sampling in ("full", "replacement") else None for v in visits}
        share = own.pop() if len(own) == 1 else None
        if share is None:
            return None
        found.append(share)
    return found


def _second_moments(problem: Any, maps: Sequence[Affine], shares: Sequence[Fraction]) -> tuple[Form, ...] | None:
    """E|g_i(x)|^2 of one local step; None where the samples are not known."""
    means = tuple(square(a, b) for a, b in maps)
    if not any(shares):
        return means
    samples = optional(problem, "samples")
    if samples is None:
        return None
    found: list[Form] = []
    for (a, b), whole, own, share in zip(maps, means, samples(), shares, strict=True):
        # a client that is the sum of its samples takes steps along their number times a sample's gradient
        factor = 1 if own.mean() == (a, b) else own.count
        if own.mean() != (a / factor, b / factor):
            return None
        found.append(weighted([(share, own.moment().times(Fraction(factor**2))), (1 - share, whole)]))
    return tuple(found)
