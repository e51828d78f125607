"""The limit cycle of a method with fixed cohorts that repeat: where the server is at each position of the period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.run import check_metrics
from boundcheck.engines.exact.space import Applied
from boundcheck.engines.exact.spectral import Contraction
from boundcheck.engines.exact.state import Exact, lower
from boundcheck.engines.exact.stationary import (
    Value,
    contracting,
    in_arithmetic,
    mean_point,
    metrics_at,
    plain,
    settled,
)
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem


@dataclass(frozen=True)
class LimitCycle:
    """What a run settles to, position by position of the period.

    Position k stands for the rounds first + k, first + k + period, ... (counted from 0), before each of them.
    points: the limit of E x there, one number a coordinate. values: metric -> the limit of its expectation at each
    position (without random local work: the metric of the point). Numbers are as in `stationary.Stationary`.
    contraction: of one period, with the enclosure of its spectral radius.
    """

    first: int
    points: tuple[tuple[Value, ...], ...]
    values: Mapping[str, tuple[Value, ...]]
    arithmetic: Arithmetic
    contraction: Contraction

    @property
    def period(self) -> int:
        """Rounds after which the cohorts repeat; the points may repeat earlier."""
        return len(self.points)


def limit_cycle(
    method: Method,
    problem: Problem,
    metrics: Iterable[str] | None = None,
    arithmetic: Arithmetic = Arithmetic.RATIONAL,
) -> LimitCycle:
    """The limit of a run at every position of its period, by solving for one and carrying out a period from there.

    metrics: as for `run_exact`, default all of the problem. Random cohorts are a period of one round.

    Raises UnknownName (metric), Unsupported (changing step sizes, problems that are not quadratic) and BadInput, with a
    bound of the spectral radius, where the period does not contract.
    """
    names = tuple(problem.metrics if metrics is None else metrics)
    check_metrics(names, problem, method)
    found = contracting(method, problem, only_decide=False)
    exact = lower(method, problem, names)
    return in_arithmetic(arithmetic, method, problem, lambda ring: _solve(ring, method, problem, exact, found))


def _solve(ring: Ring, method: Method, problem: Problem, exact: Exact, found: Contraction) -> LimitCycle:
    dynamics = Dynamics(ring, method, exact)
    rounds = dynamics.rounds
    z, moment = settled(ring, method, problem, exact)
    points: list[tuple[Value, ...]] = []
    values: dict[str, list[Value]] = {name: [] for name in exact.metrics}
    for t in rounds.cycle:
        points.append(mean_point(dynamics, z))
        for name, value in metrics_at(dynamics, moment, t).items():
            values[name].append(plain(ring, value, name))
        z, moment = _after(dynamics, z, moment, t)
    return LimitCycle(
        rounds.cycle.start, tuple(points), {k: tuple(v) for k, v in values.items()}, ring.arithmetic, found
    )


def _after(dynamics: Dynamics, z: Matrix, moment: Matrix, round_index: int) -> tuple[Matrix, Matrix]:
    """E z and E[z z'] after a round."""
    ring, eta = dynamics.ring, dynamics.method.schedule.step(1)
    plan = dynamics.rounds.plan(eta, round_index)
    z = ring.mul(plan.mean, z)
    if not dynamics.random:
        return z, ring.mul(z, z.transpose())
    return z, dynamics.rounds.second(Applied(ring, moment), plan)
