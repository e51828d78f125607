"""Everything that can be said of one statement in a short time, and the same for a bound that is typed."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boundcheck.core.cards import Card, Shown
from boundcheck.core.parameters import checks_types
from boundcheck.errors import BadInput, BoundcheckError, UnknownName, Unsupported, shown
from boundcheck.report.worked import worked_number
from boundcheck.theory.discovery import all_statements as statements
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.theory.statement import Statement
from boundcheck.worst_case.result import WorstCase
from boundcheck.worst_case.sizes import Size, looked_at
from boundcheck.worst_case.vacuity import vacuous_points

LIMITS = {"units": 5.0, "hypotheses": 10.0, "vacuity": 10.0, "search": 30.0, "worst case": 30.0, "evidence": 10.0,
          "similar": 5.0}  # fmt: skip
TRY = {"units": 1.0, "worst case": 4.0, "search": 3.0}  # it ends at the first part that breaks the bound


@dataclass
class Part:
    """One part of an audit. lines: what a person reads. data: JSON-able. seconds: how long it took.

    late: whether the time ran out before it was done.
    """

    name: str
    lines: list[str] = field(default_factory=list[str])
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    seconds: float = 0.0
    late: bool = False


class _Late(Exception):
    pass


@contextlib.contextmanager
def _within(seconds: float) -> Generator[None]:
    """Raises `_Late` in the body after this many seconds, where the system has such an alarm."""

    def ring(*_: Any) -> None:
        raise _Late

    if not hasattr(signal, "setitimer"):
        yield
        return
    try:
        before = signal.signal(signal.SIGALRM, ring)
    except ValueError:  # not in the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


Work = Callable[[Part, Statement, float], None]


def parts(statement: Statement, limits: Mapping[str, float] = LIMITS) -> Iterator[Part]:
    """The parts of an audit, each as soon as it is known. limits: part -> seconds; the parts that it names are done."""
    for name, seconds in limits.items():
        part, began = Part(name), time.monotonic()
        try:
            with _within(seconds * 1.5 + 1):
                PARTS[name](part, statement, seconds)
        except _Late:
            part.late = True
            part.lines.append(f"stopped after {seconds:g} s")
        except BoundcheckError as error:
            part.lines.append(str(error))
            part.data["why"] = str(error)
        part.seconds = time.monotonic() - began
        yield part


def conclusion(found: Sequence[Part]) -> tuple[str, str]:
    """An outcome and a sentence: VIOLATED, PROVED for these sizes, or NOT BROKEN; never that a bound holds."""
    by = {p.name: p.data for p in found}
    witness = by.get("search", {}).get("witness") or by.get("worst case", {}).get("witness")
    if witness:
        return "VIOLATED", str(witness)
    sizes = by.get("worst case", {}).get("sizes", [])
    proved = [s for s in sizes if s.get("outcome") == "PROVED"]
    near = by.get("search", {}).get("nearest")
    how = "" if near is None else f"; the search came to a ratio of metric to bound of {near:.4g}"
    if proved and len(proved) == len([s for s in sizes if "outcome" in s]):
        return "PROVED for these sizes", f"no instance of {len(proved)} small sizes exceeds the bound{how}"
    some = f"; proved at {len(proved)} of {len(sizes)} small sizes" if proved else ""
    return "NOT BROKEN", f"neither the search nor the worst cases broke it{some}{how}"


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Shown):
    """What is known of a statement. outcome, why: see `conclusion`. parts: units, search, worst case and so on."""

    statement: str
    outcome: str
    why: str
    parts: Sequence[Part]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        own = {p.name: {**p.data, "lines": p.lines, "seconds": p.seconds, "late": p.late} for p in self.parts}
        return {"schema": 1, "statement": self.statement, "outcome": self.outcome, "why": self.why, "parts": own}

    def _card(self) -> Card:
        facts = [(p.name, "; ".join(p.lines)) for p in self.parts]
        return Card(f"{self.statement}: {self.outcome}", [*facts, (self.outcome, self.why)])

    def __repr__(self) -> str:
        return f"<Audit {self.outcome} {self.statement}: {len(self.parts)} parts>"


@checks_types
def audit(statement: Statement | str, limits: Mapping[str, Any] | None = None) -> Audit:
    """Everything that can be said of a statement in two minutes; see `boundcheck audit`.

    statement: object or id. limits: part -> seconds, for the parts that are wanted (default: `LIMITS`, all of them).
    Raises UnknownName for an id or a part that does not exist, BadInput for a limit that is no positive number.
    """
    claimed = find_statement(statement) if isinstance(statement, str) else statement
    wanted = LIMITS if limits is None else limits
    for name, seconds in wanted.items():
        if name not in PARTS:
            raise UnknownName("audit: the part", str(name), PARTS)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
            raise BadInput(f"audit: {shown(repr(seconds))} is no number of seconds; {name} needs one above 0.")
    found = list(parts(claimed, wanted))
    return Audit(claimed.best_id, *conclusion(found), found)


# --- the parts ------------------------------------------------------------------------------------------------------


def _units(part: Part, statement: Statement, seconds: float) -> None:
    errors = statement.dimension_errors()
    part.data["errors"] = errors
    part.lines += errors or ["the units of all sides agree"]


def _hypotheses(part: Part, statement: Statement, seconds: float) -> None:
    found = worked_number(statement)
    part.data["point"] = None if found is None else dict(found.constants)
    if found is None:
        part.lines.append("no plain constants meet all conditions")
        return
    at = ", ".join(f"{k} = {v}" for k, v in found.constants)
    part.lines.append(f"can be met: {at}; the bound is {found.value:.6g} there")


def _vacuity(part: Part, statement: Statement, seconds: float) -> None:
    if statement.trivial is None:
        part.lines.append("the statement has no trivial value to beat")
        return
    points, inside, empty = vacuous_points(statement)
    part.data |= {"points": points, "in_scope": inside, "vacuous": empty}
    part.lines.append(
        f"of {points} random constants {inside} are in scope; at {empty} of these the bound is no better than its "
        "trivial value"
        if points
        else "no random constants lie in the domain"
    )


def _search(part: Part, statement: Statement, seconds: float) -> None:
    from boundcheck.falsify.search import falsify

    found = falsify(statement, budget=seconds, seed=0)
    part.data |= {"instances": found.instances, "score": found.best if np.isfinite(found.best) else None}
    if found.witness is not None:
        part.data["witness"] = found.witness.verdict.reason
        part.data["instance"] = {
            "problem": found.witness.problem, "method": found.witness.method, "at": found.witness.at,
        }  # fmt: skip
        part.lines.append(f"broken after {found.instances} instances: {found.witness.verdict.reason}")
        return
    if np.isfinite(found.best):
        part.data["nearest"] = float(np.exp(found.best)) if found.best < 700 else None
    part.lines.append(f"not broken by {found.instances} instances in {found.seconds:.0f} s")


def search_of(statement: Statement, seconds: float, seed: int = 0) -> dict[str, Any] | None:
    """An instance that breaks a statement, found by a search of this many seconds; None if there is none."""
    from boundcheck.falsify.search import falsify

    try:
        witness = falsify(statement, budget=seconds, seed=seed).witness
    except Unsupported:
        return None
    return None if witness is None else {"problem": witness.problem, "method": witness.method, "at": witness.at}


def broken_by(statement: Statement, seconds: float) -> list[dict[str, Any]]:
    """Instances that break a statement: of searches with two seeds, a shipped witness, and worst cases."""
    from boundcheck.evidence.shipped_files import shipped_witnesses
    from boundcheck.evidence.witness import load_witness

    found = [w for w in (search_of(statement, 2 * seconds, seed) for seed in (0, 1)) if w is not None]
    shipped = shipped_witnesses().get(statement.id)
    if shipped is not None:
        witness = load_witness(shipped)
        found.append({"problem": witness.problem, "method": witness.method, "at": witness.at})
    for _, own in looked_at(statement, (1, 2)):
        if not isinstance(own, str) and own.outcome == "VIOLATED" and own.attained is not None:
            found.append({"problem": own.attained.problem, "method": own.attained.method, "at": own.attained.at})
    return found


def _worst(part: Part, statement: Statement, seconds: float) -> None:
    rows: list[dict[str, Any]] = []
    part.data["sizes"] = rows
    began = time.monotonic()
    for size, found in looked_at(statement):
        rows.append(_row(size, found))
        if isinstance(found, str):
            part.lines.append(f"{size.words()}: {found}")
            break
        part.lines.append(f"{size.words()}: {found.outcome}, looseness {found.loose}")
        if found.outcome == "VIOLATED" and found.attained is not None:
            part.data["witness"] = found.attained.verdict.reason
            break
        if time.monotonic() - began > seconds:
            break
    if not rows:
        part.lines.append("no small size in scope was found")


def _row(size: Size, found: WorstCase | str) -> dict[str, Any]:
    row: dict[str, Any] = {"values": {k: str(v) for k, v in size.values.items()}, **size.more}
    if isinstance(found, str):
        return row | {"why": found}
    upper = None if found.upper is None else float(found.upper)
    return row | {"outcome": found.outcome, "upper": upper, "lower": found.lower, "bound": float(found.bound.value)}


def _evidence(part: Part, statement: Statement, seconds: float) -> None:
    from boundcheck.evidence.shipped_files import claims_by_id, shipped_witnesses
    from boundcheck.evidence.standing import derivation_words

    found = [words for words in (derivation_words(statement.id),) if words]
    if statement.id in shipped_witnesses():
        found.append(f"a shipped witness breaks it: boundcheck replay {statement.id}")
    found += [f"claims with the outcome {k}: {n}" for k, n in sorted(claims_by_id().get(statement.id, {}).items())]
    part.data["evidence"] = found
    part.lines += found or ["none"]


def _similar(part: Part, statement: Statement, seconds: float) -> None:
    """Other statements with the same metric, most alike in assumptions and method."""
    own = {a.name for a in statement.assumptions}

    def alike(other: Statement) -> float:
        names = {a.name for a in other.assumptions}
        shared = len(own & names) / max(1, len(own | names))
        same = statement.algorithm is not None and other.algorithm is not None
        return shared + (1 if same and statement.algorithm.kind == other.algorithm.kind else 0)  # pyright: ignore

    mine = statement.id.rpartition("/")[0]
    others = [s for s in statements() if s.metric.quantity == statement.metric.quantity
              and not (mine and s.id.startswith(f"{mine}/"))]  # fmt: skip
    found = sorted(others, key=lambda s: (-alike(s), s.id))[:3]
    part.data["statements"] = [s.id for s in found]
    part.lines += [f"{s.id}: {s.title}" for s in found] or ["none has this metric"]


PARTS: Mapping[str, Work] = {
    "units": _units, "hypotheses": _hypotheses, "vacuity": _vacuity, "search": _search, "worst case": _worst,
    "evidence": _evidence, "similar": _similar,
}  # fmt: skip
