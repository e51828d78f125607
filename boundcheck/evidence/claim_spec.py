"""The models of a specification file: which keys a `[[claim]]` has, and of what type.

The text below a key says what it means; the reference in the documentation is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from boundcheck.core.numbers import as_double, as_fraction, format_apart, format_short
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.run import ENGINES
from boundcheck.errors import BadInput, BoundcheckError, nearest
from boundcheck.evidence.claim_result import Claim, RateClaim
from boundcheck.evidence.outside import CurveFile
from boundcheck.theory.discovery import statement
from boundcheck.theory.free_data import about_numbers
from boundcheck.verdict import Outcome

MAX_CLAIMS = 10_000
MAX_NAME = 200  # characters of a claim's name, which stands in tables and titles


def _number(value: Any) -> Fraction:
    return as_fraction(value, "the number")


def _double(value: Any) -> Fraction:
    found = _number(value)
    as_double(found, "the number")
    return found


def _between(name: str, low: Fraction, high: Fraction, *, closed: bool) -> BeforeValidator:
    """A number above `low` and below `high`, or at it where the interval is closed."""

    def check(value: Any) -> Fraction:
        number = _double(value)
        if not low < number <= high or (number == high and not closed):
            allowed = f"{format_short(low)} < {name} {'<=' if closed else '<'} {format_short(high)}"
            raise BadInput(f"{name} = {format_short(number)} is not allowed; {allowed} is.")
        return number

    return BeforeValidator(check)


def _in_order(what: str, names: tuple[str, str], low: Fraction | None, high: Fraction | None) -> None:
    if low is not None and high is not None and low > high:
        first, second = format_apart(low, high)
        raise BadInput(f"{what}: {names[0]} = {first} is above {names[1]} = {second}.")


def _one_of(known: tuple[str, ...], what: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value not in known:
            raise ValueError(f"{what} '{value}' is unknown{nearest(str(value), known)}")
        return value

    return check


_ARITHMETICS = tuple(a.value for a in Arithmetic if a is not Arithmetic.SAMPLED)
Number = Annotated[Fraction, BeforeValidator(_number)]
Double = Annotated[Fraction, BeforeValidator(_double)]  # it is compared with doubles
Table = dict[str, Any]


def numbers_alone(table: Mapping[str, Any]) -> bool:
    """Whether a claim is about numbers, and its table gives them without problem and method."""
    if "problem" in table or "method" in table or not isinstance(table.get("statement"), str):
        return False
    try:
        return about_numbers(statement(table["statement"]))
    except BoundcheckError:  # the statement is unknown, which is a mistake of its own
        return False


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class TightnessSpec(_Model):
    """Allowed bound over metric at the closest compared point."""

    at_least: Double | None = None
    """bound over metric is at least this at the closest compared point"""
    at_most: Double | None = None
    """bound over metric is at most this at the closest compared point"""

    @field_validator("at_most")
    @classmethod
    def _ordered(cls, value: Fraction | None, info: ValidationInfo) -> Fraction | None:
        _in_order("tightness", ("at_least", "at_most"), info.data.get("at_least"), value)
        return value


class RateSpec(_Model):
    """The log-log slope of `metric` over the last share `last` of the log range of rounds."""

    metric: str
    """one of the metrics that the problem has"""
    slope: Annotated[list[Double], Field(min_length=2, max_length=2)]
    """the least and the largest slope that is allowed, `[low, high]`"""
    last: Annotated[Fraction, _between("last", Fraction(0), Fraction(1), closed=True)] = Fraction(1, 2)
    """share of the log range of the rounds, at their end, over which the slope is taken"""

    @field_validator("slope")
    @classmethod
    def _ordered(cls, value: list[Fraction]) -> list[Fraction]:
        _in_order("rate", ("low", "high"), *value)
        return value


class ClaimSpec(_Model):
    """One `[[claim]]` table."""

    statement: str
    """id, `paper/statement/reading`; without the reading the best one is taken (`boundcheck list` shows all)"""
    problem: Table
    """a table with the kind of problem and its parameters; a claim about numbers or a curve needs none"""
    method: Table
    """a table with the kind of method and its parameters; a claim about numbers or a curve needs none"""
    name: Annotated[str, Field(max_length=MAX_NAME)] = ""
    """what reports call the claim"""
    at: Table = Field(default_factory=dict)
    """the statement's index and where to compare: a number, a list, `"log:low:high:count"` or `"lin:low:high:count"`;
    left out, a log grid up to where the bound has met its floor. Of a claim about numbers without problem and
    method: the value of every symbol, `at = { x = 1, y = "1/3" }`
    """
    constants: Table = Field(default_factory=dict)
    """values, by the statement's names (`boundcheck show ID`), that neither problem nor method gives, or weaker ones
    than the problem's
    """
    engine: Annotated[str, BeforeValidator(_one_of(ENGINES, "the engine"))] = "exact"
    """`"exact"` (no sampling), `"sampled"` or `"neural"` (networks and linear classifiers, all clients at once; needs
    the extra `neural`)
    """
    arithmetic: Annotated[str | None, BeforeValidator(_one_of(_ARITHMETICS, "the arithmetic"))] = None
    """of the exact engine: `"ball"` (default; rigorous enclosures), `"rational"` or `"float64"`"""
    seeds: Annotated[int | None, Field(strict=True, ge=1, le=10**9)] = None
    """most runs of the sampled engine (default 1000), which stops as soon as the claim is decided; where the metric has
    no certified upper limit it says HOLDS at level 0.999 from 149 seeds on, or from about 7.6/p if the method's
    rarest choice has the probability p < 0.05. Runs of the neural engine, all at once (default 200); a method that
    draws nothing is run once
    """
    level: Annotated[Fraction, _between("level", Fraction(1, 2), Fraction(1), closed=False)] = Fraction(999, 1000)
    """of the sequential test on sampled runs, above 1/2 and below 1"""
    expect: Outcome | None = None
    """`"HOLDS"`, `"VIOLATED"`, `"VACUOUS"`, `"OUT_OF_SCOPE"`, `"UNDECIDED"` or `"FAILED"`; `check` needs it"""
    tightness: TightnessSpec | None = None
    """window for bound over metric at the closest compared point, `{ at_least = ..., at_most = ... }`"""
    rate: RateSpec | None = None
    """the log-log slope of a metric over the last share of the rounds, `{ metric = "gap", slope = [low, high], last =
    "1/2" }`
    """
    estimate: bool | Table = False
    """`true`, or a table such as `{ samples = 64 }`: constants that neither problem nor method has are measured along
    the run (at most SUPPORTED); `configs/neural/theory.toml` is an example
    """
    neural: Table | None = None
    """settings of the neural engine: `{ device = "auto", precision = "float32", lanes = 64, compiled = false, graphs =
    false, threads = 1 }`; precisions `"float64"`, `"float32"`, `"tf32"`, `"bf16"`
    """
    curve: str | Table | None = None
    """a file with a curve that was measured elsewhere, instead of a run: `"runs.csv"`, or `{ file = "runs.csv", round =
    "step", value = "loss", seed = "run", deterministic = true }` with the names of its columns; relative to the
    specification. `problem` and `method`, where they are given, supply constants; at most SUPPORTED
    """

    @model_validator(mode="before")
    @classmethod
    def _of_no_run(cls, table: Any) -> Any:
        """A claim about a curve or about numbers needs neither problem nor method."""
        if isinstance(table, dict) and ("curve" in table or numbers_alone(table)):
            return {"problem": {}, "method": {}, **cast("Table", table)}
        return table

    def to_claim(self, number: int, folder: str = "") -> Claim:
        """The claim that the table describes; number: its place in the file, from 1; folder: that of the file."""
        tight = self.tightness or TightnessSpec()
        limits = [None if v is None else float(v) for v in (tight.at_least, tight.at_most)]
        rate = None
        if self.rate is not None:
            rate = RateClaim(self.rate.metric, self.rate.slope[0], self.rate.slope[1], self.rate.last)
        return Claim(
            statement=self.statement,
            problem=self.problem,
            method=self.method,
            name=self.name,
            at=self.at,
            constants=self.constants,
            engine=self.engine,
            arithmetic=self.arithmetic,
            seeds=self.seeds,
            level=float(self.level),
            expect=self.expect,
            tightness=(limits[0], limits[1]),
            rate=rate,
            neural=self.neural,
            estimate={} if self.estimate is True else (self.estimate or None),
            curve=None if self.curve is None else CurveFile.of_spec(self.curve, folder),
            number=number,
        )


class SpecFile(_Model):
    """The whole file. schema: version of the format. limits and the kinds of `evidence.studies`: tables that these read
    and check themselves.
    """

    claim: Annotated[list[ClaimSpec], Field(default_factory=list, min_length=1, max_length=MAX_CLAIMS)]
    limits: list[Any] = Field(default_factory=list)
    methods_compared: list[Any] = Field(default_factory=list)
    proximal_weight: list[Any] = Field(default_factory=list)
    schemes: list[Any] = Field(default_factory=list)
    cycles: list[Any] = Field(default_factory=list)
    training: list[Any] = Field(default_factory=list)
    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
