"""What a `[[training]]` table says, and what can be wrong with it before anything runs.

Checking needs no data: a configuration can be read where its data set is not.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from boundcheck.core.numbers import as_fraction
from boundcheck.engines.neural.settings import Settings
from boundcheck.engines.run import ENGINES, is_round_metric
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.ordering import BEST, MAX_FLIPS, TESTS, pairs_of
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Timed
from boundcheck.problems.build import check_names

__all__ = ["METRICS", "Case", "Comparison", "Estimate", "MethodSpec", "Spec", "Trained", "check", "groups"]

# Metrics of a point that some problem has in some engine; those of a round are in `engines.run.ROUND_METRICS`.
METRICS = (
    *("f", "grad2", "gap", "dist2", "B2", "accuracy", "test_f", "spread"),
    *("surrogate_f", "surrogate_gap", "surrogate_spread"),
)
OF_SURROGATE = ("surrogate_f", "surrogate_gap", "surrogate_spread")
OVER = ("mean", "deviation")
MAX_TRIED = 200  # settings of one method
MAX_CASES = 60


def _number(value: Any) -> Fraction:
    return as_fraction(value, "the number")


Number = Annotated[Fraction, BeforeValidator(_number)]
Table = dict[str, Any]
Order = list[str | list[str]]
Count = Annotated[int, Field(strict=True, ge=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class MethodSpec(_Model):
    """A method of the table.

    method: its specification. grid: parameter -> values that are tried out, in all combinations; a parameter inside a
    table of the specification is written "solver.eta". of_busiest: the step size that is tried is the one of a single
    local step of the client with the most of them, whatever the method divides it by.
    """

    label: str
    method: Table
    grid: dict[str, list[Any]] = Field(default_factory=dict)
    of_busiest: str | None = None


class Comparison(_Model):
    """What methods are compared by: a metric, averaged over the last share `over` of a run (0: where it ends).

    take: "mean", or "deviation" over the rounds. order: as in the table, for this comparison. says: the paper's words.
    """

    metric: str
    best: Literal["lowest", "highest"] = "lowest"
    over: Number = Fraction(0)
    take: Literal["mean", "deviation"] = "mean"
    target: Number | None = None
    order: Order | None = None
    says: str = ""


class Case(_Model):
    """A row of the paper's table or a panel of its figure: what differs from the rest of the specification.

    problem, method, grid: laid over those of the table, method over every method; methods: label -> what is laid over
    that method alone. paper: label -> the paper's number, as printed.
    """

    label: str
    problem: Table = Field(default_factory=dict)
    method: Table = Field(default_factory=dict)
    methods: dict[str, Table] = Field(default_factory=dict)
    grid: dict[str, list[Any]] = Field(default_factory=dict)
    rounds: Count | None = None
    time: Number | None = None
    paper: dict[str, str] = Field(default_factory=dict)
    expected_order: Order | None = None


class Tuning(_Model):
    """How settings are chosen: seeds of their own, so many, after so many rounds (default: all)."""

    seeds: Count = 1
    rounds: Count | None = None


class Estimate(_Model):
    """Constants measured along the run of one method of one case, at so many rounds after the start (seed 0).

    effort: how much is looked at, see `engines.neural.probing.Effort`.
    """

    method: str
    case: str | None = None
    points: Annotated[int, Field(strict=True, ge=1, le=100)] = 4
    effort: Table = Field(default_factory=dict)


class Spec(_Model):
    """One `[[training]]` table; see `configs/neural/README.md` for the keys in words.

    compare: the main comparison; also: further ones, each with an order of its own. expected_order: labels, the best
    first, as the paper has it; a list inside it holds methods that the paper does not tell apart. surrogate: the label
    of the method whose surrogate problem (the clients weighed as it weighs them in the long run) is looked at as well.
    """

    name: str
    source: str
    problem: Table
    methods: Annotated[list[MethodSpec], Field(min_length=1, max_length=30)]
    compare: Comparison
    also: list[Comparison] = Field(default_factory=list)
    cases: Annotated[list[Case], Field(max_length=MAX_CASES)] = Field(default_factory=list)
    engine: Literal["neural", "sampled"] = "neural"
    neural: Table = Field(default_factory=dict)
    rounds: Count | None = None
    time: Number | None = None
    points: Annotated[int, Field(strict=True, ge=2, le=2000)] = 25
    seeds: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 3
    tuning: Tuning = Tuning()
    metrics: list[str] = Field(default_factory=list)
    paper_is: str = ""
    paper: dict[str, str] = Field(default_factory=dict)
    expected_order: Order = Field(default_factory=list)
    confidence: Number = Fraction(19, 20)
    test: Literal["t", "sign_flip"] = "t"
    scaled: list[str] = Field(default_factory=list)
    surrogate: str | None = None
    estimate: list[Estimate] = Field(default_factory=list)
    pictures: Annotated[int, Field(strict=True, ge=1, le=12)] = 6

    @property
    def all_cases(self) -> tuple[Case, ...]:
        """The cases, or the one without a name of a table that has none."""
        own = Case(label="", paper=self.paper, expected_order=None)
        return tuple(self.cases) or (own,)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The main comparison, with the table's order where it has none of its own, and the others."""
        main = self.compare
        if main.order is None:
            main = main.model_copy(update={"order": self.expected_order})
        return (main, *self.also)

    @property
    def measured(self) -> tuple[str, ...]:
        """Every metric that is looked at, once."""
        return tuple(dict.fromkeys([*(c.metric for c in self.comparisons), *self.metrics]))

    def order_of(self, number: int, case: Case) -> list[list[str]]:
        """Groups of labels of a comparison, the best first; the case's own where it has one, for the main one (0)."""
        own = self.comparisons[number].order
        if number == 0 and case.expected_order is not None:
            own = case.expected_order
        return groups(own or [])

    def length(self, case: Case) -> tuple[int | None, Fraction | None]:
        """(rounds, time) of a case; one of the two is None."""
        if case.rounds is not None or case.time is not None:
            return case.rounds, case.time
        return self.rounds, self.time


class Trained:
    """One method of one case with its settings: what is run. tried: parameter -> value, of the grid."""

    def __init__(self, case: Case, method: MethodSpec, spec: Mapping[str, Any], tried: Mapping[str, Any]) -> None:
        self.case, self.method, self.spec, self.tried = case, method, spec, tried

    @property
    def label(self) -> str:
        """Of the method."""
        return self.method.label


def groups(order: Sequence[str | Sequence[str]]) -> list[list[str]]:
    """An order as groups of methods that it does not tell apart."""
    return [[g] if isinstance(g, str) else list(g) for g in order]


def problem_spec(spec: Spec, case: Case) -> dict[str, Any]:
    """The specification of a case's problem."""
    return {**spec.problem, **case.problem}


def settings(case: Case, method: MethodSpec) -> Iterator[Trained]:
    """Every combination of the values of a method's grid."""
    base: dict[str, Any] = {**method.method, **case.method, **case.methods.get(method.label, {})}
    grid = {**method.grid, **{name: values for name, values in case.grid.items() if name in method.grid}}
    for values in itertools.product(*grid.values()):
        tried = dict(zip(grid, values, strict=True))
        yield Trained(case, method, _with(base, tried), tried)


def _with(base: Mapping[str, Any], tried: Mapping[str, Any]) -> dict[str, Any]:
    """A specification with values put into it, those of "solver.eta" into its table `solver`."""
    found = dict(base)
    for name, value in tried.items():
        outer, _, inner = name.partition(".")
        if not inner:
            found[outer] = value
            continue
        table = found.get(outer)
        if not isinstance(table, Mapping):
            raise BadInput(f"the grid of '{name}' needs the table {outer} in the method's specification.")
        found[outer] = {**table, inner: value}
    return found


def check(spec: Spec) -> None:
    """Raises BadInput, UnknownName and Unsupported for what cannot be carried out; the data need not be there."""
    if spec.engine not in ENGINES:
        raise UnknownName("the engine", spec.engine, ENGINES)
    if spec.engine == "neural":
        Settings.of(spec.neural)
    elif spec.neural:
        raise BadInput(f"the settings under neural go with engine = 'neural', not '{spec.engine}'.")
    labels = [m.label for m in spec.methods]
    _distinct(labels, "methods")
    _distinct([c.label for c in spec.all_cases], "cases")
    _check_numbers(spec)
    for name in spec.measured:
        if name not in METRICS and not is_round_metric(name):
            raise UnknownName("the metric", name, METRICS)
        if name in OF_SURROGATE and spec.surrogate is None:
            raise BadInput(f"the metric '{name}' needs the key surrogate, which names the method whose problem it is.")
    if spec.surrogate is not None:
        _known(spec.surrogate, labels, "surrogate")
    if spec.cases and spec.paper:
        raise BadInput("where there are cases, each has the paper's numbers under its own key paper.")
    for case in spec.all_cases:
        _check_case(spec, case, labels)
    for estimate in spec.estimate:
        _check_estimate(spec, estimate, labels)


def _distinct(names: Sequence[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"two {what} are called '{name}'; give them different labels.")


def _known(label: str, labels: Sequence[str], where: str) -> None:
    if label not in labels:
        raise UnknownName(f"{where}: the method", label, labels)


def _check_numbers(spec: Spec) -> None:
    if not Fraction(1, 2) <= spec.confidence < 1:
        raise BadInput(f"confidence = {float(spec.confidence):g} is not allowed; at least 1/2 and below 1 is.")
    if spec.test == TESTS[1] and spec.seeds > MAX_FLIPS:
        raise BadInput(f'test = "sign_flip" goes through all signs of at most {MAX_FLIPS} seeds; use test = "t".')
    assert set(BEST) == {"lowest", "highest"}
    for comparison in spec.comparisons:
        if not 0 <= comparison.over < 1:
            raise BadInput(f"over = {float(comparison.over):g} is not allowed; it is a share of the run, 0 to below 1.")
        if comparison.take == OVER[1] and comparison.over == 0:
            raise BadInput("a deviation over the rounds needs over, the share of the run that it is taken over.")


def _check_case(spec: Spec, case: Case, labels: Sequence[str]) -> None:
    where = f"the case '{case.label}'" if case.label else "the table"
    rounds, time = spec.length(case)
    if (rounds is None) == (time is None):
        raise BadInput(f"{where} needs exactly one of rounds and time.")
    if time is not None and time <= 0:
        raise BadInput(f"{where}: time = {time} is not allowed; it must be above 0.")
    check_names(problem_spec(spec, case))
    for label in (*case.paper, *case.methods):
        _known(label, labels, where)
    tried = dict.fromkeys(name for method in spec.methods for name in method.grid)
    for name in case.grid:  # laid over the grids that there are; another name would change nothing
        if name not in tried:
            raise UnknownName(f"{where}: the parameter of the grid", name, tried or ["none"])
    for number, comparison in enumerate(spec.comparisons):
        order = spec.order_of(number, case)
        named = [label for group in order for label in group]
        for label in named:
            _known(label, labels, f"{where}: the expected order")
        _distinct(named, "methods of the expected order")
        if number == 0:
            _check_printed(where, order, case.paper, comparison.best)
    for method in spec.methods:
        found = list(itertools.islice(settings(case, method), MAX_TRIED + 1))
        if not 1 <= len(found) <= MAX_TRIED:
            raise BadInput(f"{where}: the grid of '{method.label}' has {len(found)} settings; 1 to {MAX_TRIED} are.")
        for one in found:
            own = build_method(one.spec)
            if method.of_busiest is not None and method.of_busiest not in method.grid:
                raise BadInput(f"'{method.label}': of_busiest = '{method.of_busiest}' names no parameter of its grid.")
            if time is not None:
                _check_clock(method.label, own)


def _check_clock(label: str, method: Method) -> None:
    if not isinstance(method.participation, Timed):
        raise BadInput(f"'{label}' has no update times, which a run up to a time needs; give it times.")


def _check_printed(where: str, order: list[list[str]], paper: Mapping[str, str], best: str) -> None:
    """The order that is expected must be that of the numbers that the paper prints."""
    sign = 1 if best == "lowest" else -1
    for a, b in pairs_of(order):
        first, second = (printed(paper.get(label, "")) for label in (a, b))
        if first is not None and second is not None and sign * (first - second) > 0:
            told = f"the paper's {paper[a]} and {paper[b]} say otherwise."
            raise BadInput(f"{where} expects '{a}' before '{b}', but {told}")


def printed(text: str) -> Fraction | None:
    """The number at the beginning of what the paper prints, such as 59.57 of "59.57 ± 0.14"; None where none is."""
    found = re.match(r"\s*(-?[0-9]+(?:\.[0-9]+)?)", text)
    return None if found is None else Fraction(found[1])


def _check_estimate(spec: Spec, estimate: Estimate, labels: Sequence[str]) -> None:
    from boundcheck.engines.neural.probing import Effort

    if spec.engine != "neural":
        raise BadInput("estimate goes with engine = 'neural'; other problems have constants of their own.")
    Effort.of(estimate.effort)
    _known(estimate.method, labels, "estimate")
    cases = [c.label for c in spec.all_cases]
    if estimate.case is not None and estimate.case not in cases:
        raise UnknownName("estimate: the case", estimate.case, cases)
