"""A `[[training]]` table as data, and the settings of its grids; `configs/neural/README.md` explains the keys."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.setting.metrics import is_round_metric

# Metrics of a point that some problem has in some engine, and some of a round, as a page calls them.
METRICS: Mapping[str, str] = {
    "f": "loss F",
    "grad2": "|grad F|^2",
    "gap": "F - F*, from above",
    "dist2": "|x - x*|^2",
    "B2": "B^2",
    "accuracy": "accuracy on held-out samples",
    "test_f": "loss on held-out samples",
    "spread": "standard deviation of the clients' losses",
    "surrogate_f": "loss of the surrogate problem",
    "surrogate_gap": "surrogate loss above its minimum",
    "surrogate_spread": "standard deviation of the clients' losses, weighted as in the surrogate problem",
    "discrepancy": "discrepancy of the models",
    "least_local_f": "least F of a local model",
    "f_above_least_local": "F above the least F of a local model",
    "least_local_loss": "least loss of a local model on its own data",
}


def _metric(name: str) -> str:
    if name not in METRICS and not is_round_metric(name):
        raise UnknownName("the metric", name, METRICS)
    return name


def _number(value: Any) -> Fraction:
    return as_fraction(value, "the number")


def key(meaning: str, default: Any = ..., **limits: Any) -> Any:
    """A key of a table; without a default it is needed."""
    return Field(default, description=meaning, **limits)


Metric = Annotated[str, AfterValidator(_metric)]
Number = Annotated[Fraction, BeforeValidator(_number)]
Table = dict[str, Any]
Order = list[str | list[str]]
Count = Annotated[int, Field(strict=True, ge=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MethodSpec(_Model):
    """A method of the table."""

    label: str = key("the name on the page")
    method: Table = key("its specification")
    grid: dict[str, list[Any]] = key("parameter, or `solver.eta` in a table -> values tried, in all combinations", {})
    of_busiest: str | None = key(
        "parameter of the grid that is the local step size of the client with most steps", None
    )


class Comparison(_Model):
    """What methods are compared by."""

    metric: Metric = key("what methods are compared by")
    best: Literal["lowest", "highest"] = key(
        "which end of the metric wins; if it is not given, the highest mean accuracy and the lowest of all else",
        "lowest",
    )
    over: Number = key("average over this last share of a run; 0 is its end", Fraction(0), ge=0, lt=1)
    take: Literal["mean", "deviation"] = key("mean or deviation over the rounds", "mean")
    target: Number | None = key("a value to reach: the page shows the first measured round that is there", None)
    order: Order | None = key("of this comparison, as `expected_order`", None)
    says: str = key("the paper's words", "")

    @model_validator(mode="before")
    @classmethod
    def _highest_accuracy(cls, given: Any) -> Any:
        """A ranking by accuracy from the lowest on would call the worse method the better one."""
        if not isinstance(given, dict) or given.get("metric") != "accuracy" or given.get("take") == "deviation":
            return cast("Any", given)
        if given.get("best") == "lowest":
            raise BadInput("best = 'lowest': a higher mean accuracy is better; 'highest' is allowed.")
        return {"best": "highest", **given}


class Case(_Model):
    """A row or panel of the paper. A value in `method` or `methods` replaces the table's grid of that parameter."""

    label: str = key("the row of the paper's table or the panel of its figure")
    problem: Table = key("laid over the problem of the table", {})
    method: Table = key("laid over every method", {})
    methods: dict[str, Table] = key("label -> what is laid over that method alone", {})
    grid: dict[str, list[Any]] = key("laid over the grids", {})
    rounds: Count | None = key("in place of those, or of the time, of the table", None)
    paper: dict[str, str] = key("label -> the paper's number, as printed", {})
    expected_order: Order | None = key("in place of that of the table", None)


class Tuning(_Model):
    """How the settings of a grid are chosen."""

    seeds: Count = key("number of seeds of their own on which settings are chosen", 1)


class Estimate(_Model):
    """Constants that are measured along the run of seed 0 of one method of one case."""

    method: str = key("label of the method along whose run constants are measured")
    case: str | None = key("label of the case", None)
    points: int = key("rounds after the start at which they are", 4, strict=True, ge=1, le=100)
    effort: Table = key("how much is looked at", {})


class Spec(_Model):
    """One `[[training]]` table."""

    name: str = key("what the page calls it")
    source: str = key("the table or figure of the paper")
    problem: Table = key("as in a claim")
    methods: list[MethodSpec] = key("methods with their labels and grids", min_length=1, max_length=30)
    compare: Comparison = key("the main comparison")
    also: list[Comparison] = key("further ones, each with an order of its own", [])
    cases: list[Case] = key("rows or panels, each with what differs", [], max_length=60)
    engine: Literal["neural", "sampled"] = key("what trains", "neural")
    neural: Table = key("settings of the neural engine, as in a claim", {})
    rounds: Count | None = key("how many", None)
    time: Number | None = key("how long, in the units of the update times, in place of rounds", None, gt=0)
    points: int = key("rounds at which metrics are measured", 25, strict=True, ge=2, le=2000)
    seeds: int = key("runs of every method", 3, strict=True, ge=1, le=10_000)
    tuning: Tuning = key("how settings of a grid are chosen", Tuning())
    metrics: list[Metric] = key("further metrics that are recorded", [])
    paper_is: str = key("what the paper's numbers are", "")
    paper: dict[str, str] = key("label -> the paper's number, as printed", {})
    expected_order: Order = key("labels, the best first; a list holds methods that the paper does not tell apart", [])
    confidence: Number = key("at which a ranking is said to be reproduced", Fraction(19, 20), ge=Fraction(1, 2), lt=1)
    scaled: list[str] = key("what was scaled down, in words", [])
    surrogate: str | None = key("label of the method whose surrogate problem is looked at as well", None)
    estimate: list[Estimate] = key("theorems at constants that are measured along the runs", [])
    pictures: int = key("curves on the page, at most", 6, strict=True, ge=1, le=12)

    @property
    def training_settings(self) -> Table | None:
        """The settings of the neural engine; None if the table runs on another engine."""
        return self.neural if self.engine == "neural" else None

    @property
    def all_cases(self) -> dict[str, Case]:
        """The cases by label, or the one without a name of a table that has none."""
        return {case.label: case for case in self.cases or [Case(label="", paper=self.paper)]}

    @property
    def comparisons(self) -> list[Comparison]:
        """The main comparison and the others."""
        return [self.compare, *self.also]

    @property
    def measured(self) -> list[str]:
        """Every metric that is looked at, once."""
        return list(dict.fromkeys([*(c.metric for c in self.comparisons), *self.metrics]))

    def order_of(self, number: int, case: Case) -> list[list[str]]:
        """Groups of labels of a comparison, the best first; the main one (0) has that of the case or the table."""
        own = self.comparisons[number].order
        if number == 0:
            own = next((order for order in (case.expected_order, own) if order is not None), self.expected_order)
        return [[group] if isinstance(group, str) else group for group in own or []]

    def problem_of(self, case: Case) -> Table:
        """The specification of a case's problem."""
        return {**self.problem, **case.problem}

    def length(self, case: Case) -> tuple[int | None, Fraction | None]:
        """(rounds, time) of a case; one of the two is None."""
        return (self.rounds, self.time) if case.rounds is None else (case.rounds, None)


class Choice(NamedTuple):
    """A method with one combination of the values of its grid. spec: with these values; tried: the values alone."""

    method: MethodSpec
    spec: Table
    tried: Table


def settings(case: Case, method: MethodSpec) -> Iterator[Choice]:
    """Every combination of the values of a method's grid; a value or a grid of the case replaces those of the table."""
    own = {**case.method, **case.methods.get(method.label, {})}
    grid = {name: case.grid.get(name, values) for name, values in method.grid.items()}
    grid |= {name: [value] for name in grid if (value := value_in(own, name)) is not None}
    for values in itertools.product(*grid.values()):
        tried = dict(zip(grid, values, strict=True))
        yield Choice(method, with_values({**method.method, **own}, tried), tried)


def value_in(table: Table, name: str) -> Any:
    """The value of a parameter, "solver.eta" being `eta` in the table `solver`; None if there is none."""
    outer, _, inner = name.partition(".")
    value = table.get(outer)
    return value if not inner else value.get(inner) if isinstance(value, Mapping) else None


def with_values(base: Table, tried: Table) -> Table:
    """A specification with values put into it, those of "solver.eta" into its table `solver`."""
    found = dict(base)
    for name, value in tried.items():
        outer, _, inner = name.partition(".")
        if inner and not isinstance(found.get(outer), Mapping):
            raise BadInput(f"the grid of '{name}' needs the table {outer} in the method's specification.")
        found[outer] = {**found[outer], inner: value} if inner else value
    return found
