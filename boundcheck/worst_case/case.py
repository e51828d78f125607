"""The worst case of a statement at given constants: its method on all instances of its class, as a programme."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.paths_histories import History
from boundcheck.engines.exact.paths_rounds import Plan, Walk
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.build import build, known_kinds
from boundcheck.methods.formal import Part
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, StepSize
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.theory.declarations import ROUND
from boundcheck.theory.evaluation import Evaluation
from boundcheck.theory.statement import Average, Kind, Statement
from boundcheck.worst_case.classes import (
    AT_POINTS,
    CONVEX,
    NECESSARY,
    OF_SAMPLES,
    SMOOTH,
    Curvature,
    Inequality,
    common_points,
    curvature_of,
    of_functions,
)
from boundcheck.worst_case.constraints import Constraints, Run
from boundcheck.worst_case.forms import ZERO, Form, Row, minus, number, square, total
from boundcheck.worst_case.oracles import Answers, TooMany, row_of
from boundcheck.worst_case.programme import Programme

METRICS = ("gap", "dist2", "grad2")
MOST_ROWS = 120  # basis vectors; a programme of this many takes about a minute and a gigabyte
OF_METHOD = ("method", "participation", "schedule")
WITHOUT_MINIMISER = "bounded_below"
COUNTS = ("clients/n", "clients/m")
# Assumptions that method and clients decide, whatever the functions are.
OF_CLIENTS = (
    "unbiased_gradients", "covariance_of_weights", "independent_weights", "same_expected_weights", "plain_mean",
    "window_property", "averages_as_objective", "averages_uniformly", "inexact_solves", "unbiased_gradient_cohort",
    "unbiased_cohorts", "independent_cohorts", "data_weights", "followed_objective",
)  # fmt: skip
UNKNOWN = ("subproblem/", "surrogate/")  # constants of functions that differ from client to client
STARTS = ("start/dist2", "start/gap", "start/grad2", "start/client_grad2")


@dataclass(frozen=True)
class Measured:
    """What is bounded: scale times the sum of shares times the metric at points, each with its probability.

    least: the value that stands for the least of them, or None.
    """

    scale: Fraction
    of: Sequence[tuple[Fraction, Sequence[tuple[Fraction, Row]]]]
    least: int | None


@dataclass
class Case:
    """A statement with everything that its worst case needs.

    given: value of each symbol, by name. sizes: samples of each client, functions of their own. rounds: R. spec: of the
    method; what a symbol of the statement names need not stand there. used, unused: the assumptions whose inequalities
    the programme has, and those that it leaves out (the class is then larger, and the upper value still valid).
    constraints: further ones on the run, of the user; see `constraints`.
    convex: only functions that are convex, with the mu of F: a smaller class, in which instances are easier to rebuild.
    Raises BadInput and Unsupported, in one sentence.
    """

    statement: Statement
    given: Mapping[str, Any]
    sizes: Sequence[int] = (1,)
    rounds: int | None = None
    spec: Mapping[str, Any] = field(default_factory=dict[str, Any])
    convex: bool = False
    constraints: Constraints | None = None
    answers: Answers = field(init=False)
    measured: Measured = field(init=False)
    start: Row = field(init=False)

    def __post_init__(self) -> None:
        statement = self.statement
        if statement.kind is not Kind.UPPER_BOUND or statement.algorithm is None:
            raise Unsupported(f"{statement.best_id} is no upper bound on a run of a method, so it has no worst case.")
        if statement.metric.quantity not in METRICS:
            raise Unsupported(
                f"{statement.best_id} bounds '{statement.metric.quantity}'; worst cases are of {', '.join(METRICS)}."
            )
        self.names = [a.name for a in statement.assumptions]
        other = [s.key for s in statement.symbols if s.key.startswith(UNKNOWN) and s.key != "subproblem/gamma"]
        if other or (statement.metric.surrogate and "followed_objective" not in self.names):
            what = f"'{other[0]}'" if other else "objectives with other weights"
            raise Unsupported(f"{statement.best_id}: a worst case has no {what}.")

    @cached_property
    def method(self) -> Method:
        """The method."""
        return build(self.method_spec)

    @cached_property
    def method_spec(self) -> Mapping[str, Any]:
        """The specification of the method, with the parameters that the statement's symbols name."""
        statement, algorithm = self.statement, self.statement.algorithm
        assert algorithm is not None
        kind = str(self.spec.get("kind", algorithm.kind))
        kinds = known_kinds()
        if kind not in kinds:
            raise UnknownName("the kind of method", kind, kinds)
        declared = {p.name for p in kinds[kind].declared}
        spec: dict[str, Any] = {"kind": kind}
        for symbol in statement.symbols:
            name = next((n for n in (symbol.name, symbol.reported) if n in declared), None)
            if symbol.key.startswith("method/") and name is not None and symbol.name in self.given:
                spec[name] = format_exact(as_fraction(self.given[symbol.name], symbol.name))
        exact = {k: as_fraction(v, k) for k, v in self.given.items()}
        for name, _ in algorithm.steps:
            if name not in self.spec and name in declared:
                if name not in dict(statement.choices):
                    raise Unsupported(
                        f"{statement.best_id}: its steps {name} are no fractions; a worst case needs a number."
                    )
                spec[name] = format_exact(statement.prescribed(name, **exact))
        for name, value in spec.items():
            if name != "kind" and value.isdigit():
                spec[name] = int(value)
        if "participation" in algorithm.any_value and not {"participation", "K"} & {*self.spec}:
            spec["participation"] = "full"
        return {**spec, **self.spec}

    @cached_property
    def setting(self) -> Setting:
        """The method on some problem with these clients: for what rests on who takes part, not on functions."""
        clients = [{"samples": [{"A": [["1"]], "b": ["0"]}] * size} for size in self.sizes]
        if all(size == 1 for size in self.sizes):
            clients = [{"A": [["1"]], "b": ["0"]} for _ in self.sizes]
        return Setting(self.method, build_problem({"kind": "quadratics", "clients": clients, "start": ["1"]}))

    @cached_property
    def values(self) -> Mapping[str, Fraction]:
        """The values of the statement's symbols by name: those given, and those of the method and its clients."""
        statement = self.statement
        found = {name: statement.symbol(name).check(as_fraction(v, name), statement.best_id) for name, v in
                 self.given.items()}  # fmt: skip
        for symbol in statement.symbols:
            group = symbol.key.partition("/")[0]
            if group not in OF_METHOD and symbol.key not in COUNTS:
                continue
            constant = self.setting.constant(symbol.key) if self.setting.has(symbol.key) else None
            if constant is not None and symbol.name not in found:
                found[symbol.name] = constant.value
            elif constant is not None and found[symbol.name] != constant.value and symbol.key != "clients/n":
                raise BadInput(
                    f"{symbol.name} = {found[symbol.name]} is not allowed: of this method and these clients it is "
                    f"{format_exact(constant.value)}; leave it out."
                )
        named = [s for s in statement.symbols if s.key == "clients/n"]
        for symbol in named:
            if found.get(symbol.name) != len(self.sizes):
                raise BadInput(
                    f"{symbol.name} = {found.get(symbol.name)} is not allowed beside {len(self.sizes)} clients; "
                    f"give --clients {found.get(symbol.name)}."
                )
        return found

    @cached_property
    def by_key(self) -> Mapping[str, Fraction]:
        """The values by the keys of their symbols."""
        found = {s.key: self.values[s.name] for s in self.statement.symbols if s.key and s.name in self.values}
        if found.get("subproblem/gamma"):
            raise Unsupported(f"{self.statement.best_id}: a worst case has exact solves alone; set gamma = 0.")
        return found

    @cached_property
    def horizon(self) -> int:
        """The number of rounds."""
        metric = self.statement.metric
        at = self.values
        rounds = metric.rounds.subs({s: at[s.name] for s in metric.rounds.free_symbols if s.name in at})
        if rounds.is_Integer:
            found = int(rounds)
            if self.rounds is not None and self.rounds != found:
                raise BadInput(f"--rounds {self.rounds} contradicts the {found} rounds of the values given.")
            return found
        if self.rounds is None:
            names = ", ".join(sorted(s.name for s in rounds.free_symbols))
            raise BadInput(f"{self.statement.best_id}: the number of rounds needs {names}; give --set {names}=... .")
        return self.rounds

    @cached_property
    def curvature(self) -> Curvature:
        """Of every function; a single function is F itself."""
        alone = ["convex_clients"] if sum(self.sizes) == 1 and "convexity" in self.names else []
        found = curvature_of([*self.names, *alone], self.by_key)
        if sum(self.sizes) == 1 and "objective/L" in self.by_key:
            found = replace(found, L=min(found.L or self.by_key["objective/L"], self.by_key["objective/L"]))
        if self.convex:
            return replace(found, mu=max(found.mu or ZERO, self.by_key.get("objective/mu", ZERO)))
        return found

    @cached_property
    def unused(self) -> list[str]:
        """Assumptions without inequalities here, which method and clients do not decide either."""
        known = {*SMOOTH, *CONVEX, *AT_POINTS, "lower_curvature", "dissimilarity_at_start"} - self._without_constant
        decided = {n for n in self.names if n in OF_CLIENTS and self.setting.hypothesis(n).holds is not None}
        return [name for name in self.names if name not in known | decided]

    @cached_property
    def broken(self) -> list[str]:
        """Assumptions on method and clients that fail here: the statement says nothing of such runs."""
        return [n for n in self.names if n in OF_CLIENTS and self.setting.hypothesis(n).holds is False]

    @cached_property
    def _without_constant(self) -> set[str]:
        """Assumptions whose constants this statement has in another form only (FedShuffle's Theorem E.1)."""
        return {"local_variance"} if "samples/P2_gen" in self.by_key else set[str]()

    @cached_property
    def necessary(self) -> list[str]:
        """Used assumptions whose inequalities are necessary only."""
        return [name for name in self.at_points if name in NECESSARY]

    @cached_property
    def at_points(self) -> list[str]:
        """Assumptions about points where all functions are known; of one function convexity is its own."""
        alone = sum(self.sizes) == 1
        own = [*self.names, *(["smooth_objective"] if "objective/L" in self.by_key else [])]
        left = {"convexity", "smooth_objective"} if alone else set[str]()
        return [name for name in own if name in AT_POINTS and name not in left | self._without_constant]

    @cached_property
    def about_minimiser(self) -> bool:
        """Whether something is said of a minimiser; otherwise F has a least value, and that is all."""
        spoken = self.statement.metric.quantity == "dist2" or "start/dist2" in self.by_key
        if spoken and WITHOUT_MINIMISER in self.names:
            raise Unsupported(f"{self.statement.best_id} speaks of a minimiser, which its class need not have.")
        strongly = "strongly_convex_samples" in self.names and self.by_key.get("samples/mu", ZERO) > 0
        return spoken or strongly or bool({"strong_quasi_convexity", "finite_gradient_noise"} & {*self.names})

    # --- the programme ------------------------------------------------------------------------------------------------

    @cached_property
    def programme(self) -> Programme:
        """See the module."""
        if any(size > 1 for size in self.sizes) and not any(name in OF_SAMPLES for name in self.names):
            raise BadInput(f"{self.statement.best_id} says nothing of samples; leave --samples out.")
        room = 24
        while True:
            try:
                return self._programme(min(room, MOST_ROWS))
            except TooMany:
                if room >= MOST_ROWS:
                    raise Unsupported(
                        f"{self.statement.best_id}: {self.horizon} rounds of {len(self.sizes)} clients need more than "
                        f"{MOST_ROWS} basis vectors; fewer rounds, clients or local steps fit."
                    ) from None
                room *= 2

    def _programme(self, room: int) -> Programme:
        self.answers = answers = Answers(self.sizes, room, minimiser=self.about_minimiser)
        points = self._points(answers, self._grid)
        self.start = start = row_of(answers.start)
        objective, extra = self._objective(answers, points)
        given = list(self._of_start(answers, start))
        own = [] if self.constraints is None else list(self._own(answers, self.constraints))
        if self.at_points:  # what is said of F is used wherever the metric looks, and at the start
            answers.everywhere(start)
        common = common_points(answers)
        inequalities = [*given, *of_functions(answers, self.curvature), *extra, *own]
        for name in self.at_points:
            inequalities += AT_POINTS[name](answers, common, self.by_key)
        if answers.minimiser:
            inequalities += self._minimum(answers)
        elif WITHOUT_MINIMISER not in self.names:
            inequalities += AT_POINTS[WITHOUT_MINIMISER](answers, common, self.by_key)
        unit_x, slope = self._units()
        unit_rows = [unit_x if answers.minimiser and k == 0 else unit_x * slope for k in range(answers.rows)]
        values = max(answers.values, 1 + max((k for q in inequalities for k in q.form.lin), default=-1))
        return Programme(objective, inequalities, answers.rows, values, unit_rows, unit_x * unit_x * slope)

    def _minimum(self, answers: Answers) -> list[Inequality]:
        """The anchor minimises F, also where no function need be convex."""
        if (self.curvature.mu is not None and self.curvature.mu >= 0) or "convexity" in self.names:
            return []
        smooth = self.curvature.L
        found: list[Inequality] = []
        for k, p in enumerate(common_points(answers)):
            less = Form() if smooth is None else 1 / (2 * smooth) * square(p.objective.gradient)
            found.append(Inequality(("minimum", str(k)), less - p.objective.value))
        return found

    @property
    def _grid(self) -> list[int]:
        """The rounds that the metric looks at."""
        metric, rounds = self.statement.metric, self.horizon
        grid = list(range(rounds + metric.more_points)) if metric.over_rounds else [rounds]
        if not grid:
            raise BadInput(f"{self.statement.best_id}: {rounds} rounds have no point to measure.")
        return grid

    def _own(self, answers: Answers, constraints: Constraints) -> Iterator[Inequality]:
        found = self._points(answers, list(range(self.horizon + 1)))
        if any(len(histories) > 1 for histories in found):
            raise Unsupported("constraints of your own need a run without chance, such as full participation.")
        points = [row_of(own[0].server["x"].tolist()) for own in found]
        return Run(answers, points).inequalities(constraints)

    def _points(self, answers: Answers, grid: Sequence[int]) -> list[list[History]]:
        """The histories after each of these rounds."""
        if isinstance(self.method.exchange, Blocks) and self.method.exchange.partition != "whole":
            raise self._cut()
        walk = Walk(self.method, answers, Arithmetic.RATIONAL, checked=self._whole)  # pyright: ignore[reportArgumentType]
        return [list(found) for _, found in walk.rounds(grid, lambda share: None)]

    def _whole(self, plan: Plan, eta: StepSize, works: Sequence[Any]) -> None:
        """Raises Unsupported where a vector is cut into coordinates, for rows have none."""
        done = [compiled for own in works for _, _, compiled in own]
        vectors = [*plan.combined.values()]
        for own in done:
            vectors += [*own.begin, *(v for step in own.steps for v in step), *own.kept.values()]
            vectors += [s.vector for s in own.sent.values()]
        if any(isinstance(term, Part) for v in vectors for term in v.terms):
            raise self._cut()

    def _cut(self) -> Unsupported:
        return Unsupported(f"{self.method.name} treats blocks of the model apart, which a worst case does not.")

    def _expected(self, answers: Answers, histories: Sequence[tuple[Fraction, Row]]) -> Form:
        return total((p, self._metric(answers, x)) for p, x in histories)

    def _metric(self, answers: Answers, point: Row) -> Form:
        quantity = self.statement.metric.quantity
        if quantity == "gap":
            return answers.gap(point)
        return square(point) if quantity == "dist2" else square(answers.objective_gradient(point))

    def _objective(self, answers: Answers, points: Sequence[Sequence[History]]) -> tuple[Form, list[Inequality]]:
        """The metric as a form; the least value is a further unknown below each of them."""
        metric = self.statement.metric
        own = [[(h.p, row_of(h.server["x"].tolist())) for h in histories] for histories in points]
        each = [self._expected(answers, p) for p in own]
        scale, shares = self._number(metric.scale), [Fraction(1)]
        least = None
        if metric.average == Average.LEAST:
            if any(len(p) > 1 for p in points):
                raise Unsupported("the least value over the rounds of a random run has no form in a worst case.")
            least, shares = answers.values, [Fraction(1)] * len(each)
        elif metric.average != Average.LAST:
            weights = metric.weights_at({k: Fraction(v) for k, v in self.values.items()})
            found = [self._number(weights.subs(ROUND, k)) for k in range(len(each))]
            shares = [w / sum(found) for w in found]
        self.measured = Measured(scale, list(zip(shares, own, strict=True)), least)
        if least is not None:
            unknown = Form(lin={least: Fraction(1)})
            return scale * unknown, [Inequality(("least", str(k)), unknown - f) for k, f in enumerate(each)]
        return scale * total(zip(shares, each, strict=True)), []

    def _number(self, expression: Any) -> Fraction:
        found = expression.subs({s: self.values[s.name] for s in expression.free_symbols if s.name in self.values})
        if not found.is_Rational:
            raise Unsupported(f"{self.statement.best_id}: {found} is no fraction at these values.")
        return Fraction(int(found.p), int(found.q))

    def _of_start(self, answers: Answers, start: Mapping[int, Fraction]) -> list[Inequality]:
        found: list[Inequality] = []
        known, bound = self.by_key, self.statement.bound
        spoken = {s.name for e in (bound, *(c.relation for c in self.statement.conditions)) for s in e.free_symbols}
        said = {s.key for s in self.statement.symbols if s.name in spoken}
        for key in STARTS:  # what only the trivial value has does not narrow the class
            if key in known and key in said:
                found.append(Inequality((key,), self._start(answers, start, key) - number(known[key]), equal=True))
        other = [key for key in known if key.startswith("start/") and key not in (*STARTS, "start/B2")]
        if other:
            raise Unsupported(f"{self.statement.best_id}: a worst case has no '{other[0]}'.")
        if "dissimilarity_at_start" in self.names:
            own = self._start(answers, start, "start/client_grad2") - known["start/B2"] * self._start(
                answers, start, "start/grad2"
            )
            found.append(Inequality(("dissimilarity_at_start",), own))
        if not found:
            raise Unsupported(f"{self.statement.best_id}: nothing bounds the start, so the worst case has no bound.")
        return found

    def _start(self, answers: Answers, start: Mapping[int, Fraction], key: str) -> Form:
        if key == "start/dist2":
            return square(minus(start, {}))
        if key == "start/gap":
            return answers.gap(start)
        if key == "start/grad2":
            return square(answers.objective_gradient(start))
        return total((answers.weights[i], square(answers.client_gradient(i, start))) for i in range(answers.clients))

    def _units(self) -> tuple[Fraction, Fraction]:
        """Powers of two near the unit of length, and that of curvature."""
        known = self.by_key
        slope = self.curvature.L or max((abs(known[k]) for k in ("objective/mu",) if k in known), default=Fraction(1))
        squared = known.get("start/dist2") or known.get("start/gap", ZERO) / slope
        squared = squared or known.get("start/grad2", ZERO) / slope**2 or Fraction(1)
        return _power(float(squared) ** 0.5), _power(float(slope))

    # --- the bound ----------------------------------------------------------------------------------------------------

    @cached_property
    def bound(self) -> Evaluation:
        """The statement's bound at these constants, and whether they are in scope."""
        metric, values = self.statement.metric, dict(self.values)
        if metric.index is not None and metric.index in self.statement.parameters:
            values[metric.index] = self.index
        return self.statement.evaluate(**values)

    @cached_property
    def index(self) -> Fraction:
        """The value of the statement's index after these rounds."""
        import sympy as sp

        metric = self.statement.metric
        if metric.index is not None and metric.index in self.values:
            return self.values[metric.index]
        (symbol,) = [s for s in metric.rounds.free_symbols if s.name == metric.index]
        others = metric.rounds.free_symbols - {symbol}
        (found,) = sp.solve(metric.rounds.subs({s: self.values[s.name] for s in others}) - self.horizon, symbol)
        return Fraction(int(found.p), int(found.q))


def _power(value: float) -> Fraction:
    from math import log2

    return Fraction(2) ** round(log2(value)) if value > 0 else Fraction(1)
