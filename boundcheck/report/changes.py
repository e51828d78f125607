"""What changed between two reports."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from boundcheck.core.targets import read_text
from boundcheck.errors import BadInput
from boundcheck.verdict import Grade, Outcome

SCHEMA = 1
TIGHTNESS_CHANGE = 1e-6  # relative; below it, two tightness values count as equal


@dataclass(frozen=True)
class Change:
    """One difference. what: "outcome", "grade", "tightness" or "claim"; worse: whether CI should stop for it."""

    claim: str
    what: str
    before: str
    after: str
    worse: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return asdict(self)


@dataclass(frozen=True)
class Entry:
    """What a report says of one claim."""

    outcome: Outcome
    grade: Grade | None
    tightness: float | None


def read_report(path: Path) -> dict[str, Entry]:
    """The claims of a report by label; BadInput where the file is missing or is no report."""
    file = path / "report.json" if path.is_dir() else path
    try:
        data: Any = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{file} is not JSON: {error}.") from error
    try:
        if data["schema"] != SCHEMA:
            raise BadInput(f"{file} has schema {data['schema']}; this version reads {SCHEMA}.")
        found: dict[str, Entry] = {}
        for claim in data["claims"]:
            label = str(claim["label"])
            count = sum(name == label or name.startswith(f"{label} #") for name in found)
            found[label if count == 0 else f"{label} #{count + 1}"] = _entry(claim["verdict"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{file} is not a report of boundcheck: it lacks or garbles {error}.") from error
    return found


def _entry(verdict: Mapping[str, Any]) -> Entry:
    tight = cast("Mapping[str, Any] | None", verdict["tightness"])
    ratio = None if tight is None or tight["ratio_min"] is None else float(tight["ratio_min"])
    grade = verdict["grade"]
    return Entry(Outcome(verdict["outcome"]), None if grade is None else Grade(grade), ratio)


def changes_between(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[Change]:
    """All differences, in the order of the old report, claims that are new at the end."""
    changes: list[Change] = []
    for label, before in old.items():
        after = new.get(label)
        if after is None:
            changes.append(Change(label, "claim", "there", "gone", worse=True))
            continue
        if before.outcome is not after.outcome:
            lost = before.outcome is Outcome.HOLDS or after.outcome in (Outcome.VIOLATED, Outcome.FAILED)
            changes.append(Change(label, "outcome", before.outcome.value, after.outcome.value, worse=lost))
        if before.grade is not after.grade:
            shown = ["none" if g is None else g.value for g in (before.grade, after.grade)]
            changes.append(Change(label, "grade", shown[0], shown[1], worse=_rank(after.grade) > _rank(before.grade)))
        if not _alike(before.tightness, after.tightness):
            shown = ["none" if t is None else f"{t:.6g}" for t in (before.tightness, after.tightness)]
            changes.append(Change(label, "tightness", shown[0], shown[1], worse=False))
    changes += [Change(label, "claim", "absent", "new", worse=False) for label in new if label not in old]
    return changes


def _rank(grade: Grade | None) -> int:
    return len(Grade) if grade is None else grade.rank


def _alike(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=TIGHTNESS_CHANGE)
