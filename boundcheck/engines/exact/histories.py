"""Runs on problems that are not quadratic, history by history: every cohort, visit and draw of samples in turn.

A history is what was random so far; the state of a run is a list of (probability, server's point, models that clients
keep). Each round replaces a history by one for each outcome of the round, and histories with the same points become one
again: on piecewise quadratic clients whole numbers of steps often cancel. In ball arithmetic histories whose points
agree to half the working precision become one, with balls that hold both. A method without randomness has one history.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from boundcheck.certified.slopes import number
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.exact.cohorts import Cohort, Law, Member, law_of
from boundcheck.engines.exact.oracle import no_solves
from boundcheck.engines.exact.reduction import kept_models
from boundcheck.engines.exact.results import Columns, curve_of
from boundcheck.engines.exact.rings import MAX_DIGITS
from boundcheck.engines.exact.visits import batch_sizes
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import ExactSolve, Stale, StepSize, Visit, first_repeated
from boundcheck.problems.problem import Problem, SteppedProblem, clients_of
from boundcheck.setting.step_sizes import run_steps

# Gradients of samples in one run; the gradient of a client counts as those of its samples.
MAX_GRADIENTS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 5_000_000,
    Arithmetic.BALL: 2_000_000,
    Arithmetic.RATIONAL: 500_000,
}
MAX_HISTORIES = 20_000  # kept at once
VIRTUAL = ("virtual_gap", "virtual_grad2")  # metrics at the virtual models, see `virtual`

Point = tuple[Any, ...]
# y^k - y^0 of a visit for k = 0, ..., K, or for 0 and K alone; differences of balls would forget how these depend
Path = tuple[Point, ...]
KINDS: Mapping[Arithmetic, Any] = {
    Arithmetic.RATIONAL: Fraction(0),
    Arithmetic.BALL: arb(0),
    Arithmetic.FLOAT64: 0.0,
}


@dataclass(frozen=True)
class _History:
    p: Fraction
    x: Point
    kept: tuple[Point, ...]


def run_histories(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    metrics: Sequence[str],
    arithmetic: Arithmetic,
    progress: Callable[[float], None],
) -> Curve:
    """The metrics of a run, or their expectations, on a `SteppedProblem` in one of its arithmetics.

    Balls are rigorous: each gradient is an enclosure over the ball of points. Raises Unsupported for methods with
    momentum, corrections, control variates, exact solves, averaged blocks or models, for more than `MAX_GRADIENTS`
    gradients or `MAX_HISTORIES` histories, and for fractions of more than `MAX_DIGITS` digits.
    """
    _check(method, problem)

    def compute(asked: Arithmetic) -> Columns:
        return _Walk(method, problem, asked).measured(grid, metrics, progress)

    return curve_of(compute, arithmetic, grid, method.is_random(clients_of(problem)))


def _check(method: Method, problem: Problem) -> None:
    if method.client_optimizer is not None:
        assert method.rule is not None  # raises
    solves = isinstance(method.local, ExactSolve)
    if solves and not method.is_random(clients_of(problem)):
        raise no_solves(problem)
    others = (method.momentum, method.server_momentum, method.correction, method.control)
    kept = method.exchange is not None and not isinstance(method.exchange, Stale)
    if solves or kept or method.server.averages_models or any(part is not None for part in others):
        raise Unsupported(
            f"the problem '{problem.name}' is not quadratic, and there the exact engine carries out only methods whose "
            "clients take plain steps from a point of the server's and whose server adds up differences, not "
            f"{method.name}; use engine = 'sampled'."
        )


class _Walk:
    """The rounds of a run in one arithmetic."""

    def __init__(self, method: Method, problem: Problem, arithmetic: Arithmetic) -> None:
        self._method, self._problem, self._arithmetic = method, problem, arithmetic
        self._data: SteppedProblem = problem  # pyright: ignore[reportAttributeAccessIssue]
        self._clients = clients_of(problem)
        self._zero = KINDS[arithmetic]
        self._sizes = run_steps(method, self._clients)
        stale = isinstance(method.exchange, Stale)
        self._kept = kept_models(method, self._clients) if stale else (None,) * self._clients.count
        self._period = method.participation.period(self._clients)
        self._first = first_repeated(method.participation, self._clients)
        self._laws: dict[int, Law] = {}
        self._gradients = 0

    def _number(self, value: Fraction) -> Any:
        return number(value, self._zero)

    def measured(self, grid: Sequence[int], metrics: Sequence[str], progress: Callable[[float], None]) -> Columns:
        """The metrics at each round of the grid."""
        virtual = [name for name in metrics if name in VIRTUAL]
        found: dict[str, list[Any]] = {name: [] for name in metrics}
        start = tuple(self._number(v) for v in self._problem.start)
        slots = len({k for k in self._kept if k is not None})
        histories = [_History(Fraction(1), start, (start,) * slots)]
        self._refuse_long(grid[-1])
        done = 0
        for target in grid:
            while done < target:
                histories, _ = self._round(histories, done, ())
                done += 1
                progress(done / grid[-1])
            for name in metrics:
                if name not in VIRTUAL:
                    found[name].append(self._sum((h.p, self._data.metric_of(name, h.x)) for h in histories))
            if virtual:  # a round from here on, which is not kept
                _, seen = self._round(histories, done, virtual)
                for name in virtual:
                    found[name].append(seen[name])
        return found

    def _sum(self, terms: Iterator[tuple[Fraction, Any]]) -> Any:
        total = self._zero
        for p, value in terms:
            total = total + (value if p == 1 else self._number(p) * value)
        return total

    # --- rounds -----------------------------------------------------------------------------------------------------

    def _law(self, done: int) -> Law:
        late = done - self._first
        position = done if late < 0 else self._first + late % self._period
        if position not in self._laws:
            self._laws[position] = law_of(self._method, position, self._clients, one_by_one=True)
        return self._laws[position]

    def _round(
        self, histories: Sequence[_History], done: int, virtual: Sequence[str]
    ) -> tuple[list[_History], dict[str, Any]]:
        """The histories after round `done`, and the metrics of its virtual models."""
        law, eta = self._law(done), self._sizes.of_round(done)
        after: dict[Any, _History] = {}
        seen = dict.fromkeys(virtual, self._zero)
        for history in histories:
            paths: dict[int, list[tuple[Fraction, Fraction, Path]]] = {}
            for cohort in law.cohorts:
                for v in cohort.members:
                    if v not in paths:
                        paths[v] = self._visited(law.members[v], history, eta, bool(virtual))
                for outcome in itertools.product(*(paths[v] for v in cohort.members)):
                    p = math.prod((q for q, _, _ in outcome), start=history.p * cohort.p)
                    weights = zip(cohort.coefficients, outcome, strict=True)
                    shares = [self._number(self._method.server.factor * a * w) for a, (_, w, _) in weights]
                    moves = [path for _, _, path in outcome]
                    for name in virtual:
                        seen[name] = seen[name] + self._number(p) * self._virtual(name, history.x, shares, moves)
                    x = self._moved(history.x, shares, moves, -1)
                    self._add(after, _History(p, x, self._received(law, cohort, history, x)))
        return list(after.values()), seen

    def _moved(self, x: Point, shares: Sequence[Any], moves: Sequence[Path], k: int) -> Point:
        """x + the sum of shares times (y_i^k - y_i^0); a share is eta_g a_i."""
        found = list(x)
        for share, path in zip(shares, moves, strict=True):
            found = [v + share * y for v, y in zip(found, path[k], strict=True)]
        return tuple(found)

    def _received(self, law: Law, cohort: Cohort, history: _History, x: Point) -> tuple[Point, ...]:
        """The models that are kept after a round of this cohort."""
        own = {self._kept[law.members[v].client] for v in cohort.members}
        return tuple(x if k in own else y for k, y in enumerate(history.kept))

    def _virtual(self, name: str, x: Point, shares: Sequence[Any], moves: Sequence[Path]) -> Any:
        """The mean of a metric over the virtual models theta^{n,k} of one outcome, k = 0, ..., K - 1."""
        counts = {len(path) - 1 for path in moves} or {1}
        if len(counts) > 1:
            raise Unsupported(
                f"{self._method.name} takes numbers of local steps that differ, so that it has no virtual models and "
                f"no metric '{name}'."
            )
        count = counts.pop()
        metric = name.removeprefix("virtual_")
        values = [self._data.metric_of(metric, self._moved(x, shares, moves, k)) for k in range(count)]
        return self._number(Fraction(1, count)) * sum(values, self._zero)

    def _add(self, known: dict[Any, _History], new: _History) -> None:
        """Add a history to those with the same points."""
        points = (new.x, *new.kept)
        key = points if self._arithmetic is not Arithmetic.BALL else tuple(tuple(map(_cell, p)) for p in points)
        old = known.get(key)
        if old is None:
            if len(known) >= MAX_HISTORIES:
                raise Unsupported(self._too_many(f"more than {MAX_HISTORIES} different histories"))
            known[key] = new
            return
        merged = new
        if self._arithmetic is Arithmetic.BALL:
            pairs = zip(points, (old.x, *old.kept), strict=True)
            x, *kept = [tuple(a.union(b) for a, b in zip(p, q, strict=True)) for p, q in pairs]
            merged = _History(new.p, x, tuple(kept))
        known[key] = _History(old.p + new.p, merged.x, merged.kept)

    # --- visits -----------------------------------------------------------------------------------------------------

    def _visited(
        self, member: Member, history: _History, eta: StepSize, whole: bool
    ) -> list[tuple[Fraction, Fraction, Path]]:
        """Each outcome of a member's visit: probability, weight, path; whole: with all points in between."""
        slot = self._kept[member.client]
        start = history.x if slot is None else history.kept[slot]
        return [
            (p * q, visit.weight, path)
            for p, visit in member.visits
            for q, path in self._steps(member.client, visit, start, eta, whole)
        ]

    def _steps(
        self, client: int, visit: Visit, start: Point, eta: StepSize, whole: bool
    ) -> list[tuple[Fraction, Path]]:
        size = self._clients.sizes[client]
        sizes = eta if isinstance(eta, tuple) else (eta,) * visit.steps
        batches = [0] * visit.steps if visit.sampling == "full" else batch_sizes(size, visit.batch, visit.steps)
        every = tuple(range(size))
        unmoved = (self._zero,) * len(start)
        # probability, displacement, those before it as pairs (earlier ones, one more), samples left in the epoch
        states: list[tuple[Fraction, Point, Any, tuple[int, ...]]] = [(Fraction(1), unmoved, None, every)]
        lifted = {v: self._number(v * visit.scale) for v in set(sizes)}
        for step, batch in zip((lifted[v] for v in sizes), batches, strict=True):
            found: list[tuple[Fraction, Point, Any, tuple[int, ...]]] = []
            for p, moved, before, left in states:
                for q, drawn, rest in _draws(visit.sampling, every, left, batch):
                    trail = (before, moved) if whole or before is None else before
                    found.append((p * q, self._step(client, visit, drawn, moved, start, step), trail, rest))
            if len(found) > MAX_HISTORIES:
                raise Unsupported(self._too_many(f"more than {MAX_HISTORIES} draws of samples in one visit"))
            states = found
        return [(p, (*_unrolled(before), moved)) for p, moved, before, _ in states]

    def _step(
        self, client: int, visit: Visit, drawn: Mapping[int, int] | None, moved: Point, start: Point, size: Any
    ) -> Point:
        """The displacement from the start of the visit after one more step."""
        y = tuple(a + b for a, b in zip(start, moved, strict=True))
        data = self._data
        if drawn is None:
            self._count(self._clients.sizes[client])
            slope = data.gradient_of(client, None, y)
        else:
            self._count(len(drawn))
            batch = sum(drawn.values())
            parts = [(Fraction(times, batch), data.gradient_of(client, j, y)) for j, times in drawn.items()]
            slope = [self._sum((p, g[k]) for p, g in parts) for k in range(len(y))]
        if visit.prox:
            mu = self._number(visit.prox)
            slope = [g + mu * a for g, a in zip(slope, moved, strict=True)]
        found = tuple(a - size * g for a, g in zip(moved, slope, strict=True))
        exact = self._arithmetic is Arithmetic.RATIONAL
        if exact and any(v.denominator.bit_length() > 3.33 * MAX_DIGITS for v in found):
            raise Unsupported(
                f"exact rational arithmetic met numbers of more than {MAX_DIGITS} digits on '{self._problem.name}'; "
                "use fewer rounds or another arithmetic."
            )
        return found

    # --- limits -----------------------------------------------------------------------------------------------------

    def _count(self, gradients: int) -> None:
        self._gradients += gradients
        limit = MAX_GRADIENTS[self._arithmetic]
        if self._gradients > limit:
            raise Unsupported(self._too_many(f"more than {limit} gradients of samples"))

    def _too_many(self, what: str) -> str:
        return (
            f"'{self._problem.name}' is not quadratic, so the exact engine follows every history of random choices of "
            f"{self._method.name}, and these rounds have {what}, the most that it carries out in arithmetic "
            f"'{self._arithmetic.value}'; use fewer rounds or engine = 'sampled'."
        )

    def _refuse_long(self, rounds: int) -> None:
        """Refuse before it starts what a run of one history alone has too much of."""
        fixed = [law for t in range(min(rounds, self._first + self._period)) for law in (self._law(t),)]
        if not fixed:
            return
        sizes = self._clients.sizes

        def least(law: Law, cohort: Cohort) -> int:
            members = [law.members[v] for v in cohort.members]
            return sum(
                min(v.steps * (sizes[m.client] if v.sampling == "full" else 1) for _, v in m.visits) for m in members
            )

        each = [min(least(law, cohort) for cohort in law.cohorts) for law in fixed]
        total = sum(each) * rounds // len(each)
        limit = MAX_GRADIENTS[self._arithmetic]
        if total > limit:
            raise Unsupported(
                f"{rounds} rounds on '{self._problem.name}', which is not quadratic, are {total} gradients of samples; "
                f"step by step at most {limit} are carried out in arithmetic '{self._arithmetic.value}'."
            )


def _unrolled(pairs: Any) -> list[Point]:
    found: list[Point] = []
    while pairs is not None:
        pairs, point = pairs
        found.append(point)
    return found[::-1]


def _cell(value: arb) -> Any:
    """Which of the cells of half the working precision the middle of a ball lies in."""
    return (value.mid() * arb(2) ** (ctx.prec // 2)).floor().mid().unique_fmpz()


def _draws(
    sampling: str, every: tuple[int, ...], left: tuple[int, ...], batch: int
) -> list[tuple[Fraction, Mapping[int, int] | None, tuple[int, ...]]]:
    """The batches of a step: probability, how often each sample is in it (None: the whole client), what is left."""
    if sampling == "full":
        return [(Fraction(1), None, left)]
    if sampling == "replacement":
        found: list[tuple[Fraction, Mapping[int, int] | None, tuple[int, ...]]] = []
        for drawn in itertools.combinations_with_replacement(every, batch):
            counts = Counter(drawn)
            ways = math.factorial(batch) // math.prod(math.factorial(c) for c in counts.values())
            found.append((Fraction(ways, len(every) ** batch), counts, left))
        return found
    left = left or every  # a new epoch
    choices = list(itertools.combinations(left, batch))
    return [(Fraction(1, len(choices)), Counter(drawn), tuple(j for j in left if j not in drawn)) for drawn in choices]
