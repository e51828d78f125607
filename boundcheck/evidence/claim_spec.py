"""The models of a specification file: which keys a `[[claim]]` has, and of what type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from boundcheck.core.numbers import as_fraction
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.run import ENGINES
from boundcheck.errors import BoundcheckError, nearest
from boundcheck.evidence.claim import Claim, RateClaim
from boundcheck.evidence.outside import CurveFile
from boundcheck.theory.discovery import statement
from boundcheck.theory.free_data import about_numbers
from boundcheck.verdict import Outcome

MAX_CLAIMS = 10_000
MAX_NAME = 200  # characters of a claim's name, which stands in tables and titles


def _number(value: Any) -> Fraction:
    return as_fraction(value, "the number")


def _one_of(known: tuple[str, ...], what: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value not in known:
            raise ValueError(f"{what} '{value}' is unknown{nearest(str(value), known)}")
        return value

    return check


_ARITHMETICS = tuple(a.value for a in Arithmetic if a is not Arithmetic.SAMPLED)
Number = Annotated[Fraction, BeforeValidator(_number)]
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

    at_least: Number | None = None
    at_most: Number | None = None


class RateSpec(_Model):
    """The log-log slope of `metric` over the last share `last` of the log range of rounds."""

    metric: str
    slope: Annotated[list[Number], Field(min_length=2, max_length=2)]
    last: Number = Fraction(1, 2)


class ClaimSpec(_Model):
    """One `[[claim]]` table; see `evidence.claim.Claim` for the meaning of each key."""

    statement: str
    problem: Table
    method: Table
    name: Annotated[str, Field(max_length=MAX_NAME)] = ""
    at: Table = Field(default_factory=dict)
    constants: Table = Field(default_factory=dict)
    engine: Annotated[str, BeforeValidator(_one_of(ENGINES, "the engine"))] = "exact"
    arithmetic: Annotated[str | None, BeforeValidator(_one_of(_ARITHMETICS, "the arithmetic"))] = None
    seeds: Annotated[int | None, Field(strict=True, ge=1, le=10**9)] = None
    level: Number = Fraction(999, 1000)
    expect: Outcome | None = None
    tightness: TightnessSpec | None = None
    rate: RateSpec | None = None
    estimate: bool | Table = False
    neural: Table | None = None
    curve: str | Table | None = None

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
