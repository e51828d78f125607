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
    that method alone. A value in method or methods stands in the place of the table's grid of that parameter. paper:
    label -> the paper's number, as printed.
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
    """How settings are chosen: on a number of seeds of their own, after a number of rounds (default: all)."""

    seeds: Count = 1
    rounds: Count | None = None


class Estimate(_Model):
    """Constants measured along the run of one method of one case, at `points` rounds after the start (seed 0).

    effort: how much is looked at, see `networks.engine.probing.Effort`.
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
