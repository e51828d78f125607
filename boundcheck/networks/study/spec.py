"""What a `[[training]]` table says; `training_check` tells what can be wrong with it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput

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
    local step of the client with the most of them, before the method divides it.
    """

    label: str
    """the name on the page"""
    method: Table
    """its specification"""
    grid: dict[str, list[Any]] = Field(default_factory=dict)
    """parameter -> values that are tried out, in all combinations; `"solver.eta"` is a parameter inside a table"""
    of_busiest: str | None = None
    """the step size that is tried is that of a single local step of the client with the most of them"""


class Comparison(_Model):
    """What methods are compared by: a metric, averaged over the last share `over` of a run (0: where it ends).

    take: "mean", or "deviation" over the rounds. order: as in the table, for this comparison. says: the paper's words.
    """

    metric: str
    """what methods are compared by"""
    best: Literal["lowest", "highest"] = "lowest"
    """which end of the metric wins"""
    over: Number = Fraction(0)
    """average over this last share of a run; 0 is its end"""
    take: Literal["mean", "deviation"] = "mean"
    """mean or deviation over the rounds"""
    target: Number | None = None
    """a value to reach: the rounds until then are compared"""
    order: Order | None = None
    """of this comparison, as `expected_order`"""
    says: str = ""
    """the paper's words"""


class Case(_Model):
    """A row of the paper's table or a panel of its figure: what differs from the rest of the specification.

    problem, method, grid: laid over those of the table, method over every method; methods: label -> what is laid over
    that method alone. A value in method or methods stands in the place of the table's grid of that parameter. paper:
    label -> the paper's number, as printed.
    """

    label: str
    """the row of the paper's table or the panel of its figure"""
    problem: Table = Field(default_factory=dict)
    """laid over the problem of the table"""
    method: Table = Field(default_factory=dict)
    """laid over every method"""
    methods: dict[str, Table] = Field(default_factory=dict)
    """label -> what is laid over that method alone"""
    grid: dict[str, list[Any]] = Field(default_factory=dict)
    """laid over the grids"""
    rounds: Count | None = None
    """in place of those of the table"""
    time: Number | None = None
    """in place of that of the table"""
    paper: dict[str, str] = Field(default_factory=dict)
    """label -> the paper's number, as printed"""
    expected_order: Order | None = None
    """in place of that of the table"""


class Tuning(_Model):
    """How settings are chosen: on a number of seeds of their own, after a number of rounds (default: all)."""

    seeds: Count = 1
    """number of seeds of their own on which settings are chosen"""
    rounds: Count | None = None
    """after how many rounds (default: all)"""


class Estimate(_Model):
    """Constants measured along the run of one method of one case, at `points` rounds after the start (seed 0).

    effort: how much is looked at, see `networks.engine.probing.Effort`.
    """

    method: str
    """label of the method along whose run constants are measured"""
    case: str | None = None
    """label of the case"""
    points: Annotated[int, Field(strict=True, ge=1, le=100)] = 4
    """rounds after the start at which they are"""
    effort: Table = Field(default_factory=dict)
    """how much is looked at"""


class Spec(_Model):
    """One `[[training]]` table; see `configs/neural/README.md` for the keys in words.

    compare: the main comparison; also: further ones, each with an order of its own. expected_order: labels, the best
    first, as the paper has it; a list inside it holds methods that the paper does not tell apart. surrogate: the label
    of the method whose surrogate problem (the clients weighed as it weighs them in the long run) is looked at as well.
    """

    name: str
    """what the page calls it"""
    source: str
    """the table or figure of the paper"""
    problem: Table
    """as in a claim"""
    methods: Annotated[list[MethodSpec], Field(min_length=1, max_length=30)]
    """methods with their labels and grids"""
    compare: Comparison
    """the main comparison"""
    also: list[Comparison] = Field(default_factory=list)
    """further ones, each with an order of its own"""
    cases: Annotated[list[Case], Field(max_length=MAX_CASES)] = Field(default_factory=list)
    """rows or panels, each with what differs"""
    engine: Literal["neural", "sampled"] = "neural"
    """what trains"""
    neural: Table = Field(default_factory=dict)
    """settings of the neural engine, as in a claim"""
    rounds: Count | None = None
    """how many"""
    time: Number | None = None
    """how long, in the units of the update times, in place of rounds"""
    points: Annotated[int, Field(strict=True, ge=2, le=2000)] = 25
    """rounds at which metrics are measured"""
    seeds: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 3
    """runs of every method"""
    tuning: Tuning = Tuning()
    """how settings of a grid are chosen"""
    metrics: list[str] = Field(default_factory=list)
    """further metrics that are recorded"""
    paper_is: str = ""
    """what the paper's numbers are"""
    paper: dict[str, str] = Field(default_factory=dict)
    """label -> the paper's number, as printed"""
    expected_order: Order = Field(default_factory=list)
    """labels, the best first, as the paper has it; a list inside it holds methods that the paper does not tell apart"""
    confidence: Number = Fraction(19, 20)
    """at which an order is said to come out"""
    test: Literal["t", "sign_flip"] = "t"
    """for the difference of two methods over the seeds"""
    scaled: list[str] = Field(default_factory=list)
    """what was scaled down, in words"""
    surrogate: str | None = None
    """label of the method whose surrogate problem is looked at as well"""
    estimate: list[Estimate] = Field(default_factory=list)
    """theorems at constants that are measured along the runs"""
    pictures: Annotated[int, Field(strict=True, ge=1, le=12)] = 6
    """curves on the page, at most"""

    @property
    def training_settings(self) -> Table | None:
        """The settings of the neural engine; None if the table runs on another engine."""
        return self.neural if self.engine == "neural" else None

    @property
    def all_cases(self) -> tuple[Case, ...]:
        """The cases, or the one without a name of a table that has none."""
        own = Case(label="", paper=self.paper, expected_order=None)
        return tuple(self.cases) or (own,)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The main comparison, with the table's order if it has none of its own, and the others."""
        main = self.compare
        if main.order is None:
            main = main.model_copy(update={"order": self.expected_order})
        return (main, *self.also)

    @property
    def measured(self) -> tuple[str, ...]:
        """Every metric that is looked at, once."""
        return tuple(dict.fromkeys([*(c.metric for c in self.comparisons), *self.metrics]))

    def order_of(self, number: int, case: Case) -> list[list[str]]:
        """Groups of labels of a comparison, the best first; the case's own, if any, for the main one (0)."""
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
    own = laid_over(case, method)
    base: dict[str, Any] = {**method.method, **own}
    grid = {**method.grid, **{name: [value] for name, value in fixed_values(own, method).items()}}
    grid |= {name: values for name, values in case.grid.items() if name in method.grid}
    for values in itertools.product(*grid.values()):
        tried = dict(zip(grid, values, strict=True))
        yield Trained(case, method, with_values(base, tried), tried)


def laid_over(case: Case, method: MethodSpec) -> dict[str, Any]:
    """What a case lays over the specification of a method."""
    return {**case.method, **case.methods.get(method.label, {})}


def fixed_values(own: Mapping[str, Any], method: MethodSpec) -> dict[str, Any]:
    """Parameters of a method's grid to which a case gives a value, "solver.eta" by its table `solver`."""
    found: dict[str, Any] = {}
    for name in method.grid:
        outer, _, inner = name.partition(".")
        value = own.get(outer)
        if inner:
            value = value.get(inner) if isinstance(value, Mapping) else None
        if value is not None:
            found[name] = value
    return found


def with_values(base: Mapping[str, Any], tried: Mapping[str, Any]) -> dict[str, Any]:
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
