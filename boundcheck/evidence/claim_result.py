"""What is claimed and what came out, and both as data for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from boundcheck.core.cards import Card
from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_apart, format_exact, format_short, parse_number
from boundcheck.core.parameters import check_types
from boundcheck.engines.curve import Curve
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.outside import CurveFile, Source, source_name
from boundcheck.evidence.rate import Rate, fit_rate, fit_rate_sampled, within
from boundcheck.problems._own_data import data_label, plain_spec
from boundcheck.theory.discovery import statement
from boundcheck.theory.results import Picture, Result, as_number, metric_label, shortened
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Outcome, Verdict, plain

SCHEMA = 1
_SERIES = ("metric_low", "metric_high", "bound")
# Runs where a claim names no number: the budget of the sampled engine, and what decides at level 0.999 with some room.
SEEDS: Mapping[str, int] = {"sampled": 1000, "neural": 200}


def _nothing() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class RateClaim:
    """The log-log slope of `metric` over the last share `last` of the range lies in [low, high]."""

    metric: str
    low: Fraction
    high: Fraction
    last: Fraction = Fraction(1, 2)


@dataclass(frozen=True)
class Claim:
    """What is claimed, in the terms of a specification file.

    statement: id (a bare one takes the best reading), or a Statement, which need not be registered. problem, method:
    specifications by kind; a step size may be "c*largest" or "tuned" (see `open_step_sizes`). at: index symbol -> grid
    (`core.numbers.parse_grid`); empty: a log grid up to where the bound has met its floor; of a claim about numbers
    without a problem, the value of every symbol. constants: values that
    neither problem nor method knows, or weaker ones than the problem's (see `setting.user_constants`), by the
    statement's names. expect: the outcome that `check` asks for.
    tightness: (least, largest) allowed value of the least ratio bound/metric over the compared points where the bound
    is at most half its trivial value (over all points if there is none; see `evidence.deciding.tightness_of`).
    arithmetic: of the exact engine (None: "ball"). seeds: budget of the sampled engine, number of runs of the neural
    one (None: that of `SEEDS`). estimate: with how much effort (`networks.engine.probing.Effort`; empty: its defaults)
    constants that the problem does not know are measured along the run; None: they are not. neural: settings of the
    neural engine. curve: one that was measured elsewhere (a file, or the Curve itself); nothing is run then, and
    problem and method, both optional, say where its constants come from. number: which of its file it is, from 1.
    """

    statement: str | Statement
    problem: Mapping[str, Any] = field(default_factory=_nothing)
    method: Mapping[str, Any] = field(default_factory=_nothing)
    name: str = ""
    at: Mapping[str, Any] = field(default_factory=_nothing)
    constants: Mapping[str, Any] = field(default_factory=_nothing)
    engine: str = "exact"
    arithmetic: str | None = None
    seeds: int | None = None
    level: float = 0.999
    expect: Outcome | None = None
    tightness: tuple[float | None, float | None] = (None, None)
    rate: RateClaim | None = None
    estimate: Mapping[str, Any] | None = None
    neural: Mapping[str, Any] | None = None
    curve: Source | None = None
    number: int | None = field(default=None, compare=False)

    prepared: ClassVar[Any] = None  # what the reader of a file has built of it (`evidence.resolve.Prepared`)

    def __post_init__(self) -> None:
        asked = ("statement", "problem", "method", "name", "at", "constants", "engine", "seeds", "level")
        check_types("Claim", self.__annotations__, {name: getattr(self, name) for name in asked})
        if "data" in self.problem:  # arrays from Python become what a file and another process can read
            object.__setattr__(self, "problem", plain_spec(self.problem))

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: the fields alone."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @cached_property
    def claimed(self) -> Statement:
        """The statement, looked up once. Raises UnknownName if there is none."""
        return statement(self.statement)

    @property
    def id(self) -> str:
        """The id of the statement, as it was given; of a Statement without one, a readable label."""
        return self.statement if isinstance(self.statement, str) else self.statement.best_id

    @property
    def runs(self) -> int:
        """How many seeds a run with a random method may have."""
        return SEEDS.get(self.engine, 0) if self.seeds is None else self.seeds

    @property
    def trains_with(self) -> Mapping[str, Any] | None:
        """The settings of the neural engine, if it carries out the claim or measures its constants."""
        return (self.neural or {}) if self.engine == "neural" or self.estimate is not None else None

    def label(self) -> str:
        """The claim's own name, or one made of its number in the file, statement, problem and method."""
        data = data_label(self.problem.get("data"))
        parts = [data or str(self.problem.get("kind", "")), str(self.method.get("kind", ""))]
        place = "" if self.number is None else f"claim {self.number}: "
        if self.curve is not None:
            parts = [source_name(self.curve)]
        return self.name or place + " ".join([self.id, *(["on", *parts] if any(parts) else [])])


@dataclass(frozen=True)
class Reading:
    """Another reading of the same statement at the same constants: its bound, and whether it is in scope.

    Out of scope is also what rests on an assumption that the run is known to break. remark: why its bound has no value
    here, or empty; the bound is NaN then.
    """

    id: str
    in_scope: bool | None
    bound: tuple[float, ...]
    remark: str = ""


@dataclass(frozen=True, repr=False)
class ClaimResult(Result):
    """Everything a report needs of one claim.

    failures: what an expectation missed, one sentence each (empty: all met). index, rounds, metric_low,
    metric_high, bound: what was compared, point by point; for sampled curves the metric is the band of the
    sequential test. method: the resolved specification (step sizes as numbers).
    """

    claim: Claim
    verdict: Verdict
    method: Mapping[str, Any]
    failures: tuple[str, ...]
    index: tuple[Fraction, ...] = ()
    rounds: tuple[int, ...] = ()
    metric_low: tuple[float, ...] = ()
    metric_high: tuple[float, ...] = ()
    bound: tuple[float, ...] = ()
    readings: tuple[Reading, ...] = ()
    rate: Rate | None = None
    info: Mapping[str, Any] = field(default_factory=_nothing)

    def __repr__(self) -> str:
        return shortened(f"<ClaimResult {self.claim.label()}: {self.verdict!r}>")

    def _claimed(self) -> tuple[Statement]:
        return (self.claim.claimed,)

    def _columns(self) -> dict[str, list[Any]]:
        return claim_columns(self)

    def _picture(self) -> Picture:
        return claim_picture(self)

    def _card(self) -> Card:
        return claim_card(self)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; `from_dict` restores it."""
        return {
            "schema": SCHEMA,
            "claim": _claim_to_dict(self.claim),
            "verdict": self.verdict.to_dict(),
            "method": _plain(self.method),
            "failures": list(self.failures),
            "index": [format_exact(k) for k in self.index],
            "rounds": list(self.rounds),
            **{name: plain(getattr(self, name)) for name in _SERIES},
            "readings": [{**asdict(r), "bound": plain(r.bound)} for r in self.readings],
            "rate": None if self.rate is None else _plain(asdict(self.rate)),
            "info": _plain(self.info),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ClaimResult:
        """Inverse of `to_dict`; tuples inside specifications are lists. Raises BadInput for what is no result."""
        try:
            rate: Any = _read(data["rate"])
            return ClaimResult(
                claim=_claim_from_dict(data["claim"]),
                verdict=Verdict.from_dict(data["verdict"]),
                method=_read(data["method"]),
                failures=tuple(data["failures"]),
                index=tuple(_exact(k) for k in data["index"]),
                rounds=tuple(data["rounds"]),
                **{name: tuple(map(float, data[name])) for name in _SERIES},
                readings=tuple(
                    Reading(r["id"], r["in_scope"], tuple(map(float, r["bound"])), r.get("remark", ""))
                    for r in data["readings"]
                ),
                rate=None if rate is None else _rate(rate),
                info=_read(data["info"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"this is no result of a claim: {type(error).__name__} {error}.") from error


def claim_card(result: ClaimResult) -> Card:
    """The card of a result; its table has a row for each compared point."""
    verdict = result.verdict
    grade = "" if verdict.grade is None else f" ({verdict.grade.value})"
    facts = [("reason", verdict.reason), *(("missed", text) for text in result.failures)]
    if verdict.tightness is not None:
        facts.insert(0, ("tightness", f"{verdict.tightness.ratio_min:.4g} (1 is tight)"))
    columns = {
        "index": [str(v) for v in result.index],
        "round": list(result.rounds),
        "metric from": list(result.metric_low),
        "metric to": list(result.metric_high),
        "bound": list(result.bound),
    }
    title = f"{verdict.outcome.value}{grade}: {result.claim.label()}"
    if not result.index:
        return Card(title, facts)
    return Card(title, facts, columns=columns, lines=claim_picture(result).lines)


def claim_columns(result: ClaimResult) -> dict[str, list[Any]]:
    """A row for each compared point, with the constants; within: whether the metric meets the bound."""
    claimed = result.claim.claimed
    points = list(zip(result.metric_low, result.metric_high, result.bound, strict=True))
    above, below = claimed.kind.sign == ">=", claimed.kind.sign == "<="
    return {
        **{name: [value] * len(points) for name, value in symbol_columns(result.verdict).items()},
        claimed.metric.index or "rounds": list(map(as_number, result.index)),
        "round": list(result.rounds),
        "metric_low": list(result.metric_low),
        "metric_high": list(result.metric_high),
        "bound": list(result.bound),
        "within": [(above or high <= bound) and (below or low >= bound) for low, high, bound in points],
    }


def symbol_columns(verdict: Verdict) -> dict[str, int | float]:
    """The constants at which a statement was judged, by symbol."""
    return {name: as_number(own["value"]) for name, own in verdict.details.get("constants", {}).items()}


def claim_picture(result: ClaimResult) -> Picture:
    """Bound and metric over the statement's index."""
    index, claimed = [float(v) for v in result.index], result.claim.claimed
    ends = zip(result.metric_low, result.metric_high, strict=True)
    metric = [(low + high) / 2 for low, high in ends]
    lines = {name: list(zip(index, row, strict=True)) for name, row in (("bound", result.bound), ("metric", metric))}
    return Picture(lines, claimed.metric.index or "communication rounds", metric_label(claimed))


def _rate(data: dict[str, Any]) -> Rate:
    own: dict[str, Any] = {**data, "span": tuple(data["span"])}
    return Rate(**own)


def _claim_to_dict(claim: Claim) -> dict[str, Any]:
    """Every field that is not the default, by name."""
    found: dict[str, Any] = {f.name: getattr(claim, f.name) for f in fields(claim)}
    found = {name: value for name, value in found.items() if value not in (None, "", {})}
    stated: Any = claim.statement
    if not isinstance(stated, str):
        found["statement"] = {"definition": stated.to_dict()}
    if isinstance(claim.curve, CurveFile):
        found["curve"] = {"file of a curve": asdict(claim.curve)}
    elif isinstance(claim.curve, Curve):
        found["curve"] = {"curve": claim.curve.to_dict()}
    if claim.rate is not None:
        found["rate"] = asdict(claim.rate)
    return {name: _plain(value) for name, value in found.items()}


def _claim_from_dict(data: Mapping[str, Any]) -> Claim:
    own = {name: _read(value) for name, value in data.items() if name not in ("statement", "curve")}
    stated: Any = data["statement"]
    curve: Any = data.get("curve")
    own["statement"] = stated if isinstance(stated, str) else Statement.from_dict(stated["definition"])
    if isinstance(curve, Mapping) and "file of a curve" in curve:
        own["curve"] = CurveFile(**_read(curve["file of a curve"]))
    elif curve is not None:
        own["curve"] = Curve.from_dict(curve["curve"]) if "curve" in curve else _read(curve)
    if "rate" in own:
        own["rate"] = RateClaim(**own["rate"])
    if "expect" in own:
        own["expect"] = Outcome(own["expect"])
    if "tightness" in own:
        own["tightness"] = tuple(own["tightness"])
    return Claim(**own)


def _plain(value: Any) -> Any:
    """In JSON's own types; a fraction as {"exact": "1/3"}, a number that JSON lacks as {"float": "inf"}."""
    if isinstance(value, Outcome):
        return value.value
    if isinstance(value, Fraction):
        return {"exact": format_exact(value)}
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and value - value != 0:
        return {"float": repr(value)}
    return value


def _read(value: Any) -> Any:
    """Inverse of `_plain`; lists stay lists."""
    if isinstance(value, Mapping):
        if set(value) == {"exact"}:
            return _exact(value["exact"])
        return float(value["float"]) if set(value) == {"float"} else {k: _read(v) for k, v in value.items()}
    return [_read(v) for v in value] if isinstance(value, list) else value


def _exact(text: str) -> Fraction:
    return parse_number(text, "a result of a claim", max_text=len(text))


def measured_rate(claim: RateClaim, curve: Curve) -> Rate:
    """The slope of the metric that the claim is about. Raises UnknownName where the curve does not hold it."""
    if claim.metric not in curve.values:
        raise UnknownName("the rate: metric", claim.metric, curve.values)
    positive = curve.rounds > 0
    x = curve.rounds[positive].astype(float)
    if claim.metric in curve.samples:
        return fit_rate_sampled(x, curve.samples[claim.metric][:, positive], last=nearest_float(claim.last))
    return fit_rate(x, curve.values[claim.metric][positive], last=nearest_float(claim.last))


def failures(claim: Claim, result: ClaimResult) -> tuple[str, ...]:
    """What an expectation of the claim missed, one sentence each; nothing where all are met."""
    missed: list[str] = []
    verdict = result.verdict
    if claim.expect is not None and verdict.outcome is not claim.expect:
        missed.append(f"expected {claim.expect.value}, got {verdict.outcome.value}: {verdict.reason}")
    least, largest = claim.tightness
    if least is not None or largest is not None:
        found = math.nan if verdict.tightness is None else verdict.tightness.ratio_min
        if math.isnan(found):
            missed.append("no tightness was measured")
        elif least is not None and found < least:
            shown, limit = format_apart(found, least)
            missed.append(f"tightness {shown} is below at_least = {limit}")
        elif largest is not None and found > largest:
            shown, limit = format_apart(found, largest)
            missed.append(f"tightness {shown} is above at_most = {limit}")
    if claim.rate is not None and result.rate is None:
        missed.append("no slope was measured, because nothing was run")
    elif claim.rate is not None and result.rate is not None:
        decided = within(result.rate, nearest_float(claim.rate.low), nearest_float(claim.rate.high))
        if decided is not Outcome.HOLDS:
            missed.append(
                f"the slope {result.rate.slope:.4f} in [{result.rate.low:.4f}, {result.rate.high:.4f}], fitted over "
                f"{_window(claim.rate, result.rate)}, is not known to "
                f"lie in [{format_short(claim.rate.low)}, {format_short(claim.rate.high)}]: {decided.value}"
            )
    return tuple(missed)


def _window(asked: RateClaim, rate: Rate) -> str:
    """Which rounds a slope was fitted over, in words."""
    share = "all" if asked.last == 1 else f"the last {format_short(asked.last)}"
    first, last = (format_short(v) for v in rate.span)
    return f"rounds {first} to {last} ({rate.points} points, {share} of the log range of rounds)"
