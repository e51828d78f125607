"""Claims about a curve that no engine of ours has made: what problem and method say of it, and its comparison.

Nothing here is run, so that the method which made the curve is unknown. What is not checked is named in the reason of
the verdict, which is SUPPORTED at most. A statement in expectation is judged on the seeds (or on means with standard
errors), a statement that holds for every outcome on each seed by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from boundcheck.core.linalg import nearest_float
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.curve_parts import START_TOLERANCE
from boundcheck.engines.rare_choices import rarest_choice
from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.evidence.compare import Comparison, comparison
from boundcheck.evidence.external_curve import ENGINE, ROLES, curve_of_table, read_table
from boundcheck.problems.problem import is_neural, optional
from boundcheck.setting.client_hypotheses import client_hypotheses
from boundcheck.setting.user_constants import is_library, key_of
from boundcheck.verdict import Grade, Outcome

if TYPE_CHECKING:
    from boundcheck.problems.problem import Problem
    from boundcheck.setting import Setting
    from boundcheck.theory.statement import Statement

_COUNTS = ("round", "rounds", "communication_round")  # columns that say that they count communication rounds


@dataclass(frozen=True)
class CurveFile:
    """A file with a curve. file: as it was written; folder: where that is relative to. columns: role -> name of the
    column (`external_curve`). deterministic: whether nothing in the run is random.
    """

    file: str
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    deterministic: bool = False
    folder: str = field(default="", compare=False)

    @classmethod
    def of_spec(cls, given: str | Mapping[str, Any], folder: str) -> CurveFile:
        """The file that an entry `curve` of a specification names. Raises BadInput and UnknownName."""
        table: Mapping[str, Any] = {"file": given} if isinstance(given, str) else given
        if not isinstance(cast("Any", table), Mapping):
            raise BadInput(f"curve = {shown(given)} is not allowed; the name of a file, a table or a Curve is.")
        for name, value in table.items():
            if name not in ("file", "deterministic", *ROLES):
                raise UnknownName("curve: the key", name, ("file", "deterministic", *ROLES))
            if not isinstance(value, bool if name == "deterministic" else str):
                needed = "true or false" if name == "deterministic" else "text in quotes"
                raise BadInput(f"curve.{name} = {shown(value)} is not allowed; it must be {needed}.")
        if not table.get("file"):
            raise BadInput("curve names no file; write curve = 'runs.csv' or curve = { file = 'runs.csv', ... }.")
        columns = {role: str(table[role]) for role in ROLES if role in table}
        return cls(str(table["file"]), columns, bool(table.get("deterministic", False)), folder)

    def to_spec(self) -> str | dict[str, Any]:
        """The entry `curve` of a specification."""
        more = {**self.columns, **({"deterministic": True} if self.deterministic else {})}
        return {"file": self.file, **more} if more else self.file


Source = CurveFile | Curve | str | Mapping[str, Any]  # what a claim may have as its curve


def source_name(source: Source) -> str:
    """The file's name as it was written; "a curve" for one that is no file."""
    if isinstance(source, Curve):
        return str(source.info.get("source", "a curve"))
    return source.file if isinstance(source, CurveFile) else CurveFile.of_spec(source, "").file


def read_curve(source: Source, claimed: Statement, level: float) -> Curve:
    """The curve of the statement's metric. Raises BadInput in one sentence where a file is malformed."""
    if isinstance(source, Curve):
        return source
    file = source if isinstance(source, CurveFile) else CurveFile.of_spec(source, "")
    table = read_table(Path(file.folder) / file.file, file.file)
    return curve_of_table(table, file.columns, claimed.metric.quantity, level, file.deterministic)


def describe_outside(curve: Curve, claimed: Statement, problem: Problem | None, setting: Setting | None) -> Curve:
    """The curve with the constants and hypotheses of the problem, and of the method that is said to have made it.

    Raises BadInput where its first value is not that of the problem's start.
    """
    quantity = claimed.metric.quantity
    if quantity not in curve.values:
        raise BadInput(
            f"{claimed.best_id} is about the metric '{quantity}', of which the curve holds nothing "
            f"(it holds {', '.join(curve.values) or 'none'})."
        )
    found = np.abs(curve.values[quantity])  # all that was recorded, of which a part may be compared
    info = {**curve.info, "engine": ENGINE, "assumed": _assumed(curve, claimed, problem, setting)}
    info["scale"] = float(np.max(found, where=np.isfinite(found), initial=0.0))
    if problem is not None and not is_neural(problem):
        info["start_norm"] = math.hypot(*map(float, problem.start))
    curve = replace(curve, info=info)
    if problem is None:
        return curve
    answers = _answers(claimed, problem) if setting is None else _of_setting(claimed, setting)
    curve = replace(
        curve,
        constants=problem.constants() if setting is None else setting.constants(),
        assumptions={name: known for name, (known, why) in answers.items() if why is None or known == "sampled"},
        violations={name: why for name, (_, why) in answers.items() if why is not None},
        start=_start(curve, claimed, problem),
    )
    if setting is None:
        return curve
    random = setting.method.is_random(setting.clients)
    return replace(
        curve,
        algorithms=setting.algorithms,
        parameters=tuple(setting.parameters),
        chosen=setting.chosen,
        rounded_steps=not setting.method.schedule.is_exact(),
        step_sizes=setting.step_sizes,
        momentum=setting.described.server_momentum,
        rarest=rarest_choice(setting.method, setting.clients) if random and curve.samples else None,
        info={**info, **({} if random else {"deterministic": True})},
    )


def _assumed(curve: Curve, claimed: Statement, problem: Problem | None, setting: Setting | None) -> list[str]:
    """What nobody has checked of where the curve comes from, as phrases for the reason."""
    found: list[str] = []
    if setting is not None:
        found.append(f"that the curve was made by the method given ({setting.method.name}) on the problem given")
    elif problem is not None:
        found.append("that the curve was measured on the problem given")
    if setting is None and claimed.algorithm is None:
        found.append("that the unknown method that made the curve is one of the statement's")
    names = curve.info.get("names")
    if isinstance(names, list) and claimed.metric.quantity not in names:
        found.append(f"that the values are the metric {claimed.metric.quantity}")
    rounds = curve.info.get("round_column")
    if rounds is not None and str(rounds).lower() not in _COUNTS:
        found.append(f"that '{rounds}' counts communication rounds")
    seeds = len(next(iter(curve.samples.values()), []))
    if seeds > 1:
        found.append(f"that the {seeds} seeds are independent runs")
    if "normal" in curve.info:
        found.append(str(curve.info["normal"]))
        if claimed.metric.expectation.startswith("none"):
            found.append("that what holds of the mean holds of every run")
    if curve.info.get("deterministic") and setting is None:
        found.append("that nothing in the run is random")
    return found


def _answers(claimed: Statement, problem: Problem) -> dict[str, tuple[str, str | None]]:
    """Hypothesis -> (how it is known, why it fails or None), where the problem answers without a method."""
    joint, inexact = client_hypotheses(problem)
    by_estimates = optional(problem, "holds_by_estimates") or (lambda _: False)
    found: dict[str, tuple[str, str | None]] = {}
    for assumption in claimed.assumptions:
        if not is_library(assumption):
            continue
        name = key_of(assumption)
        try:
            why = problem.violations(name)
        except UnknownName:
            if name not in joint:
                continue
            why = None
        why = joint.get(name) if why is None else why
        sampled = (name in inexact and why is not None) or by_estimates(name)
        found[name] = ("sampled" if sampled else "decided", why)
    return found


def _of_setting(claimed: Statement, setting: Setting) -> dict[str, tuple[str, str | None]]:
    names = [a.name for a in claimed.assumptions if is_library(a)]
    return {name: (a.known, None if a.holds else a.why) for name, a in setting.hypotheses(names).items()}


def _start(curve: Curve, claimed: Statement, problem: Problem) -> dict[str, Fraction]:
    """The exact value of the metric at the problem's start, where the curve holds round 0 and it is rational."""
    name = claimed.metric.quantity
    if curve.rounds[0] != 0 or name not in problem.metrics or is_neural(problem):
        return {}
    x = np.empty(problem.dim, dtype=object)
    x[:] = problem.start
    value: Any = problem.metric(name, x)
    if not isinstance(value, int | Fraction):
        return {}
    first, start = float(curve.values[name][0]), nearest_float(Fraction(value))
    if not np.isclose(first, start, rtol=START_TOLERANCE, atol=START_TOLERANCE):
        if curve.low[name][0] <= value <= curve.high[name][0] if name in curve.low else False:
            return {}  # a mean whose interval has it
        raise BadInput(
            f"{curve.info.get('source', 'the curve')}: {name} is {first:.10g} at round 0, but {start:.10g} at "
            "the start of the problem; the curve is of another problem, start or metric."
        )
    return {name: Fraction(value)}


# --- comparison -------------------------------------------------------------------------------------------


def at_rounds(curve: Curve, rounds: Sequence[int]) -> Curve:
    """The curve at these rounds alone. Raises BadInput where it lacks one."""
    places = {int(r): i for i, r in enumerate(curve.rounds)}
    lacking = [r for r in rounds if r not in places]
    if lacking:
        raise BadInput(
            f"{curve.info.get('source', 'the curve')} has no round {lacking[0]}, at which it is to be compared"
            + (f" ({len(lacking)} such rounds are missing)." if len(lacking) > 1 else ".")
        )
    return _part(curve, [places[r] for r in rounds])


def _part(curve: Curve, kept: Sequence[int]) -> Curve:
    places = np.array(kept, dtype=np.int64)
    parts: dict[str, Any] = {
        part: {name: np.ascontiguousarray(row[..., places]) for name, row in getattr(curve, part).items()}
        for part in ("values", "low", "high", "samples")
    }
    rounds = curve.rounds[places]
    return replace(curve, rounds=rounds, start=curve.start if len(rounds) and rounds[0] == 0 else {}, **parts)


def compare_outside(
    claimed: Statement, curve: Curve, constants: Mapping[str, Any], level: float, at: Sequence[Fraction] | None = None
) -> Comparison:
    """The comparison of a described curve; that of the decisive seed, where one decides."""
    surely = claimed.metric.expectation.startswith("none")
    if not curve.samples and not surely and "normal" not in curve.info and not curve.info.get("deterministic"):
        row = curve.values[claimed.metric.quantity]
        samples = {claimed.metric.quantity: row[None]}
        values = {claimed.metric.quantity: row}
        info = {**curve.info, "seeds": {"count": 1}}
        curve = replace(
            curve, values=values, arithmetic=Arithmetic.SAMPLED, samples=samples, expectation=True, info=info
        )
    if curve.samples and (surely or curve.info.get("deterministic")):
        found = _each_seed(claimed, curve, constants, level, at)
    else:
        found = _without_start(claimed, curve, constants, level, at)
    grade = None if found.verdict.grade is None else found.verdict.grade.at_most(Grade.SUPPORTED)
    return replace(found, verdict=replace(found.verdict, grade=grade))


_BAD = (Outcome.FAILED, Outcome.OUT_OF_SCOPE, Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.VACUOUS, Outcome.HOLDS)


def _each_seed(
    claimed: Statement, curve: Curve, constants: Mapping[str, Any], level: float, at: Sequence[Fraction] | None
) -> Comparison:
    """The worst comparison among those on single seeds: the statement is about every one of them."""
    name = claimed.metric.quantity
    facts = curve.info.get("seeds") or {}
    rows = curve.samples[name]
    labels = facts.get("names", [str(i) for i in range(len(rows))])
    worst: tuple[tuple[int, float], str, Comparison] | None = None
    for label, row in zip(labels, rows, strict=True):
        one = replace(
            curve, values={name: row}, arithmetic=Arithmetic.FLOAT64, samples={}, expectation=False, rarest=None
        )
        found = _without_start(claimed, one, constants, level, at)
        tightness = found.verdict.tightness
        ratio = np.inf if tightness is None else tightness.ratio_min
        rank = (_BAD.index(found.verdict.outcome), float(np.nan_to_num(ratio, nan=np.inf)))
        if worst is None or rank < worst[0]:
            worst = rank, label, found
    if worst is None:
        raise BadInput(f"{curve.info.get('source', 'the curve')} has no seeds.")
    _, label, found = worst
    verdict = found.verdict
    if len(rows) == 1:
        return found
    which = f"Each of the {len(rows)} seeds was compared by itself; this is about seed '{label}', the closest:"
    if verdict.outcome is not Outcome.HOLDS:
        which = f"Each of the {len(rows)} seeds was compared by itself; seed '{label}':"
    return replace(found, verdict=replace(verdict, reason=f"{which} {verdict.reason}"))


def _without_start(
    claimed: Statement, curve: Curve, constants: Mapping[str, Any], level: float, at: Sequence[Fraction] | None
) -> Comparison:
    """The comparison; round 0 is left out where metric and bound agree there to rounding and later rounds are there.

    Many bounds are attained at the start by their form, and a curve that was written down in decimals cannot tell
    whether it is below or above by its rounding.
    """
    found = comparison(claimed, curve, constants, level=level, at=at)
    start_alone = found.verdict.outcome is Outcome.UNDECIDED and found.verdict.witness.get("round") == 0
    if not start_alone or claimed.metric.over_rounds or len(curve.rounds) < 2:
        return found
    later = comparison(claimed, _part(curve, range(1, len(curve.rounds))), constants, level=level, at=at)
    if later.verdict.points == 0:
        return found
    left = "Round 0, where metric and bound agree to rounding before anything has run, was left out."
    return replace(later, verdict=replace(later.verdict, reason=f"{later.verdict.reason} {left}"))
