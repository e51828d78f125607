"""Whether methods converge on a quadratic problem, by what exact factor, and through which points they go in the end.

A period of a method with a constant step is one linear map. Its spectral radius is the factor by which the distance to
the limit changes in a period in the long run: an exact algebraic number where the characteristic polynomial is small
enough to factor, enclosed otherwise. Where it is below 1 the models tend to a cycle, one point for each round of the
period, which is solved for exactly. Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous
and Heterogeneous Clients Updates", Examples 1 and 2, is stated in these terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from pydantic import Field

from boundcheck.core.numbers import format_exact, format_short
from boundcheck.engines.exact import contraction, limit_cycle
from boundcheck.engines.exact.algebraic import Modulus, Power, Radius, radius_of
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.growing import MAX_SIZE
from boundcheck.engines.exact.rings import RationalRing
from boundcheck.engines.exact.spectral import cycle_map, projector_of
from boundcheck.engines.exact.state import lower
from boundcheck.engines.exact.stationary import mean_point
from boundcheck.errors import BadInput, BoundcheckError, Unsupported
from boundcheck.evidence.studies.study import Methods, Study, StudyTable, TableSpec, cases, label
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, Quadratic, clients_of
from boundcheck.setting.expected_weights import expected_weights
from boundcheck.setting.followed_objective import weighted_minimiser

MAX_VALUES, MAX_STEPS, MAX_ROUNDS = 100, 100, 10_000
SHOWN = 6  # points of a cycle in a cell of the table
MAX_DIGITS = 24  # characters of a fraction in it; report.json has them all

Point = tuple[Fraction, ...]


class Spec(TableSpec):
    """One `[[cycles]]` table.

    methods: specifications, without `parameter` where one is named, which takes the values of the grid `values`.
    steps: number of models of each method, from the start on, that are listed side by side, without empty rounds.
    """

    name: str
    """what the page calls it"""
    problem: dict[str, Any]
    """a quadratic problem"""
    methods: Methods
    """methods, without `parameter` where one is named"""
    parameter: str | None = None
    """the parameter that takes the `values`"""
    values: Any = None
    """its grid"""
    steps: int = Field(0, strict=True, ge=0, le=MAX_STEPS)
    """models of the first rounds that are listed side by side, rounds without clients left out"""


class Cycle:
    """The long-run behaviour of one method.

    rounds: of a period. second: whether the map is that of second moments (something is drawn). radius: of a period.
    converges: None where the enclosure does not tell. points: the limit of E x before each round of the period, those
    that repeat earlier left out; None without a limit. why: the reason for that.
    """

    def __init__(
        self, rounds: int, second: bool, radius: Radius, points: tuple[Point, ...] | None, why: str = ""
    ) -> None:
        self.rounds, self.second, self.radius, self.points, self.why = rounds, second, radius, points, why
        self.converges = radius.below_one


def check(spec: Spec) -> None:
    """Raises BadInput, UnknownName and Unsupported for what cannot be carried out."""
    problem = build_problem(spec.problem)
    if not isinstance(problem, Quadratic):
        raise Unsupported(f"the problem '{problem.name}' is not quadratic, so that no linear map describes a round.")
    clients = clients_of(problem)
    for given, _ in _cases(spec):
        build_method(given).check(clients, problem.dim)


def _cases(spec: Spec) -> list[tuple[dict[str, Any], Fraction | None]]:
    """The specifications of all methods, each with the value of the parameter."""
    if spec.parameter is None:
        if spec.values is not None:
            raise BadInput("values were given without a parameter that takes them.")
        return [(method, None) for method in spec.methods]
    if spec.values is None:
        raise BadInput(f"the parameter '{spec.parameter}' has no values.")
    found = cases(spec.methods, spec.parameter, spec.values, MAX_VALUES)
    return [(own[k], value) for k in range(len(spec.methods)) for value, own in found.items()]


def cycle_of(method: Method, problem: Problem) -> Cycle:
    """The factor of a period and the limit cycle. Raises Unsupported for what has no map of a period."""
    found = contraction(method, problem, only_decide=True)
    exact = lower(method, problem, ())
    wide = exact.layout.moving * (exact.layout.moving + 1) // 2 if found.second_moment else exact.layout.moving
    if wide <= MAX_SIZE:
        mean, second = cycle_map(RationalRing(), method, exact, projector_of(exact))
        radius = radius_of((mean if second is None else second).charpoly())
    else:
        found = contraction(method, problem)
        radius = Radius(None, found.radius_low, found.radius_high)
    if radius.below_one is not True:
        return Cycle(found.rounds, found.second_moment, radius, None)
    try:
        solved = limit_cycle(method, problem, ())
    except BoundcheckError as error:
        return Cycle(found.rounds, found.second_moment, radius, None, str(error))
    points = [tuple(v for v in point if isinstance(v, Fraction)) for point in solved.points]
    return Cycle(found.rounds, found.second_moment, radius, _shortest(points))


def _shortest(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points up to where they begin to repeat."""
    n = len(points)
    for k in range(1, n):
        if n % k == 0 and all(points[j] == points[j % k] for j in range(n)):
            return tuple(points[:k])
    return tuple(points)


def models(method: Method, problem: Problem, steps: int) -> list[Point]:
    """E x at the start and after each of the first rounds that have clients, exactly.

    Raises BadInput where there are too few such rounds, Unsupported for changing step sizes.
    """
    if not method.schedule.is_constant():
        raise Unsupported(f"the step size of {method.name} changes; its models are not listed.")
    exact = lower(method, problem, ())
    dynamics = Dynamics(RationalRing(), method, exact)
    eta, z = method.schedule.step(1), dynamics.ring.lift(exact.start)
    found = [_point(dynamics, z)]
    for t in range(MAX_ROUNDS):
        if len(found) > steps:
            return found
        z = dynamics.ring.mul(dynamics.rounds.plan(eta, t).mean, z)
        if method.participation.fixed(t, exact.clients) != ():
            found.append(_point(dynamics, z))
    raise BadInput(f"{method.name} has fewer than {steps} rounds with clients among the first {MAX_ROUNDS}.")


def _point(dynamics: Dynamics, z: Any) -> Point:
    return tuple(v for v in mean_point(dynamics, z) if isinstance(v, Fraction))  # all of them: they are rational


def study(spec: Spec, on_progress: Callable[[float], None] | None = None) -> Study:
    """Carries out the table."""
    problem = build_problem(spec.problem)
    cases = _cases(spec)
    best = _optimum(problem, tuple(problem.weights))
    rows: list[tuple[str, ...]] = []
    data: list[dict[str, Any]] = []
    followed: list[tuple[str, list[Point]]] = []
    for k, (given, value) in enumerate(cases):
        method = build_method(given)
        expected = expected_weights(method, clients_of(problem))
        own = None if expected is None else _optimum(problem, _dense(expected.mean, problem.clients))
        found = cycle_of(method, problem)
        named = label(str(given["kind"]), given)
        rows.append((named, *_cells(found), _shown(own), _shown(best)))
        data.append(_numbers(given, value, found, own))
        if spec.steps:
            followed.append((named, models(method, problem, spec.steps)))
        if on_progress is not None:
            on_progress((k + 1) / len(cases))
    columns = (
        *("method", "rounds of a period", "factor of a period", "factor of a round", "converges"),
        *("limit, round by round", "minimiser of the surrogate problem", "minimiser of F"),
    )
    tables = [StudyTable("Factors and limit cycles, exactly", columns, tuple(rows), (1,))]
    words = [
        f"Where these methods lead on {problem.name}: the spectral radius of the linear map of a period, which is the "
        "factor by which the distance to the limit changes in the long run, and the models before each round of the "
        "period in the limit. More than one point is a cycle: the method does not converge to any single model.",
        "The surrogate problem weighs a client by its mean aggregation weight, F by its importance. Where something "
        "is drawn at random, the factor is that of the second moments, and the limit that of the expected model.",
    ]
    facts: dict[str, Any] = {"cases": data, "optimum": None if best is None else [format_exact(v) for v in best]}
    if spec.steps:
        table, equal = _side_by_side(followed)
        tables.append(table)
        facts["equal"] = equal
        words.append(
            "The second table has the models of all methods after each round in which someone takes part: they are "
            + ("the same, step for step." if equal else "not the same.")
        )
    return Study("cycles", spec.name, tuple(words), tuple(tables), data=facts)


def _dense(weights: Mapping[int, Fraction], clients: int) -> tuple[Fraction, ...]:
    return tuple(weights.get(i, Fraction(0)) for i in range(clients))


def _optimum(problem: Problem, weights: Sequence[Fraction]) -> Point | None:
    try:
        return weighted_minimiser(problem, weights)
    except Unsupported:  # it is not unique
        return None


def _cells(found: Cycle) -> tuple[str, ...]:
    if found.converges is None:
        answer = "not decided"
    elif found.converges and found.points is None:
        answer = "yes"
    elif found.converges:
        count = len(found.points or ())
        answer = "to one point" if count == 1 else f"to a cycle of {count}"
    else:
        answer = "diverges" if found.radius.above_one else "no: neither grows nor settles"
    per_round = "-"
    if found.radius.modulus is not None:
        per_round = Power(found.radius.modulus, found.rounds).text()
    elif f"{found.radius.low:.8g}" == f"{found.radius.high:.8g}":
        per_round = f"about {found.radius.low ** (1 / found.rounds):.8g}"
    points = found.why or "-"
    if found.points is not None:
        points = ", ".join(_shown(p) for p in found.points[:SHOWN]) + (", ..." if len(found.points) > SHOWN else "")
    return (str(found.rounds), found.radius.text(), per_round, answer, points)


def _numbers(given: Mapping[str, Any], value: Fraction | None, found: Cycle, own: Point | None) -> dict[str, Any]:
    modulus: Modulus | None = found.radius.modulus
    return {
        "method": {k: str(v) for k, v in given.items()},
        "value": None if value is None else format_exact(value),
        "rounds": found.rounds,
        "second_moments": found.second,
        "factor_of_period": None if modulus is None else modulus.text(),
        "factor_of_round": None if modulus is None else Power(modulus, found.rounds).exact(),
        "low": found.radius.low,
        "high": found.radius.high,
        "converges": found.converges,
        "points": None if found.points is None else [[format_exact(v) for v in p] for p in found.points],
        "surrogate": None if own is None else [format_exact(v) for v in own],
    }


def _side_by_side(followed: Sequence[tuple[str, list[Point]]]) -> tuple[StudyTable, bool]:
    rows: list[tuple[str, ...]] = []
    equal = True
    for k, points in enumerate(zip(*(own for _, own in followed), strict=True)):
        same = len(set(points)) == 1
        equal = equal and same
        rows.append((str(k), *map(_shown, points), "yes" if same else "no"))
    columns = ("rounds with clients", *(named for named, _ in followed), "equal")
    return StudyTable("Models from the start on, exactly", columns, tuple(rows), (0,)), equal


def _shown(point: Point | None) -> str:
    """The coordinates, as fractions where all are short; a page has no room for hundreds of digits."""
    if point is None:
        return "not unique"
    texts, about = [format_exact(v) for v in point], ""
    if max(map(len, texts)) > MAX_DIGITS:
        texts, about = [format_short(v, 8) for v in point], "\u2248\u00a0"
    return about + (texts[0] if len(texts) == 1 else "(" + ", ".join(texts) + ")")
