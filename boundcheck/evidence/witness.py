"""Witnesses: a violation as a file that runs again, and how a found one is shrunk to short fractions."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact, parse_number, simplest_between
from boundcheck.core.places import is_special
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput, BoundcheckError, StoreError, shown
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import Grade, Outcome, Verdict, entry, plain

__all__ = [
    "Witness",
    "check_writable",
    "differences",
    "excess",
    "load_witness",
    "replay",
    "save_witness",
    "shrink",
    "stands",
]

SCHEMA = 1
MAX_READ = 64 * 1024 * 1024  # bytes of a witness file
VISIBLE = 2e-3  # shrinking leaves the metric so far above the bound, or half as far as it was found
_LADDER = sorted({k for power in range(12) for k in (2**power, 3 * 2**power // 2)})


@dataclass(frozen=True)
class Witness:
    """An instance on which a statement is violated.

    problem, method, at: as in a claim, all numbers as exact text. verdict: what was found. provenance: which search,
    seed and budget found it, or which reasoning built it.
    """

    statement: str
    problem: Mapping[str, Any]
    method: Mapping[str, Any]
    at: Mapping[str, Any]
    verdict: Verdict
    provenance: Mapping[str, Any]

    def claim(self) -> Claim:
        """The claim that runs it again."""
        # a claim about a limit is decided in fractions alone
        arithmetic = "rational" if statement(self.statement).kind is Kind.LIMIT else "ball"
        return Claim(
            self.statement, self.problem, self.method, at=self.at, arithmetic=arithmetic, expect=Outcome.VIOLATED
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "schema": SCHEMA,
            "statement": self.statement,
            "problem": dict(self.problem),
            "method": dict(self.method),
            "at": dict(self.at),
            "verdict": self.verdict.to_dict(),
            "provenance": dict(self.provenance),
        }


def check_writable(path: Path) -> None:
    """BadInput in one sentence where no witness file can be put at `path`; to be asked before a long search."""
    if path.is_dir():
        raise BadInput(f"the witness file {path} is a folder; give the name of a file in it.")
    above = next((p for p in path.absolute().parents if p.exists()), None)
    if above is None or not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise BadInput(f"the witness file {path} cannot be written: {above} is not a folder that can be written to.")
    if path.exists() and not path.is_file():
        raise BadInput(f"the witness file {path} is not a plain file.")


def save_witness(witness: Witness, path: Path) -> None:
    """Write a witness file, whole or not at all; BadInput for a folder, StoreError where the disk refuses."""
    if path.is_dir():
        raise BadInput(f"the witness file {path} is a folder; give the name of a file in it.")
    text = json.dumps(witness.to_dict(), indent=2) + "\n"
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if is_special(path):  # a pipe or a device: nothing is put in its place
            path.write_text(text)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text)
        os.replace(partial, path)
    except OSError as error:
        with contextlib.suppress(OSError):  # the message is about the first error
            partial.unlink()
        raise StoreError(f"the witness file {path} cannot be written: {error.strerror}.") from error


def load_witness(path: Path) -> Witness:
    """Read a witness file; BadInput in one sentence where it is not one."""
    try:
        with path.open("rb") as file:  # never more than that of a device, which may have no end
            content = file.read(MAX_READ + 1)
    except OSError as error:
        raise BadInput(f"the witness file {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a NUL in the name
        raise BadInput(f"the witness file {path} cannot be read: {error}.") from error
    if len(content) > MAX_READ:
        raise BadInput(f"the witness file {path} has more than {MAX_READ // 2**20} MiB, which is more than is read.")
    try:
        data = json.loads(content)
    except RecursionError as error:
        raise BadInput(f"the witness file {path} is nested too deeply to be read.") from error
    except ValueError as error:
        raise BadInput(f"the witness file {path} is not JSON: {error}.") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise BadInput(f"the witness file {path} has schema {shown(repr(schema))}; this version reads {SCHEMA}.")
    read = partial(entry, data, "a witness")
    try:
        tables = [dict(read(name, Mapping)) for name in ("problem", "method", "at", "verdict", "provenance")]
        verdict = Verdict.from_dict(tables[3])
        return Witness(read("statement", str), tables[0], tables[1], tables[2], verdict, tables[4])
    except BadInput as error:
        raise BadInput(f"the witness file {path} holds something else than a witness does: {error}") from error


def replay(witness: Witness) -> Verdict:
    """The verdict of running it now; `stands` says whether that is a violation.

    Where numbers that the file records differ from the fresh ones, `details["differs"]` lists them in sentences and the
    reason ends with them.
    """
    fresh = run_claim(witness.claim()).verdict
    differs = differences(witness, fresh)
    if not differs:
        return fresh
    reason = f"{fresh.reason} The file records something else: {' '.join(differs)}"
    return replace(fresh, reason=reason, details={**fresh.details, "differs": list(differs)})


def stands(verdict: Verdict) -> bool:
    """Whether a replay shows a violation, in exact arithmetic."""
    return verdict.outcome is Outcome.VIOLATED and verdict.grade is Grade.EXACT


def differences(witness: Witness, fresh: Verdict) -> tuple[str, ...]:
    """What the file records otherwise than a fresh run finds, one sentence each."""
    old = witness.verdict
    found = [
        f"{name} is {before}, now {now}."
        for name, before, now in (
            ("the statement", old.statement, fresh.statement),
            ("the outcome", old.outcome.value, fresh.outcome.value),
            ("the grade", old.grade and old.grade.value, fresh.grade and fresh.grade.value),
            ("the reason", repr(old.reason), repr(fresh.reason)),
            ("the tightness", old.tightness, fresh.tightness),
            ("the number of points", old.points, fresh.points),
        )
        if before != now
    ]
    before, now = _flat(plain(old.witness)), _flat(plain(fresh.witness))
    for name in dict.fromkeys([*before, *now]):
        if before.get(name) != now.get(name):
            found.append(f"{name} is {before.get(name, 'missing')}, now {now.get(name, 'missing')}.")
    return tuple(found)


def _flat(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of inner tables under their own names: "constants mu", "index K", "metric"."""
    found: dict[str, Any] = {}
    for name, value in recorded.items():
        if isinstance(value, Mapping):
            found |= {f"{name} {inner}": v for inner, v in value.items()}
        else:
            found[name] = value
    return found


# --- shrinking ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Exact:
    """A candidate in fractions: client matrices (row-major upper triangle), pushes of all clients but the last."""

    A: tuple[tuple[Fraction, ...], ...]
    b: tuple[tuple[Fraction, ...], ...]
    start: tuple[Fraction, ...]
    counts: tuple[tuple[str, int], ...]  # integer parameters of the method
    step: str
    index: int

    def problem(self) -> dict[str, Any]:
        last = tuple(-sum(column, Fraction(0)) for column in zip(*self.b, strict=True))
        clients = [
            {
                "A": [[format_exact(p), format_exact(q)], [format_exact(q), format_exact(r)]],
                "b": [format_exact(v) for v in push],
            }
            for (p, q, r), push in zip(self.A, (*self.b, last), strict=True)
        ]
        return {"kind": "quadratics", "clients": clients, "start": [format_exact(v) for v in self.start]}


def shrink(
    statement: Statement,
    *,
    A: Floats,
    b: Floats,
    start: Floats,
    method: Mapping[str, Any],
    step: tuple[str, float],
    index: Sequence[int],
    provenance: Mapping[str, Any],
) -> Witness | None:
    """A violation found in double precision, as a witness in short fractions; None where exactness takes it back.

    A (n, 2, 2), b (n, 2), start (2,): the instance. method: kind and integer parameters. step: symbol, and share of the
    largest step in scope. index: values of the statement's index at which it was violated.
    """
    name, share = step
    kind = {"kind": method["kind"]}
    counts = tuple((k, int(v)) for k, v in method.items() if k != "kind")

    def carry_out(candidate: _Exact) -> ClaimResult | None:
        at = {} if statement.metric.index is None else {statement.metric.index: [candidate.index]}
        spec = {**kind, **dict(candidate.counts), name: candidate.step}
        try:
            result = run_claim(Claim(statement.best_id, candidate.problem(), spec, at=at), claimed=statement)
        except BoundcheckError:
            return None  # the shrunk instance left the family (no minimiser, mu > L, no step in scope)
        verdict = result.verdict
        return result if verdict.outcome is Outcome.VIOLATED and verdict.grade is Grade.EXACT else None

    exact = _coarsest(A, b, start, share, counts, index, carry_out)
    if exact is None:
        return None
    kept = min(VISIBLE, excess(carry_out(exact)) / 2)

    def visible(candidate: _Exact) -> ClaimResult | None:
        result = carry_out(candidate)
        return result if excess(result) >= kept else None

    exact = _smaller_counts(exact, visible)
    exact = _shorter_step(exact, name, visible)
    exact = _plainer_entries(exact, visible)
    exact = _earlier(exact, visible)
    found = carry_out(exact)
    if found is None:
        return None
    at = {} if statement.metric.index is None else {statement.metric.index: [exact.index]}
    spec = {**kind, **dict(exact.counts), name: exact.step}
    return Witness(statement.best_id, exact.problem(), spec, at, replace(found.verdict, details={}), provenance)


def excess(result: ClaimResult | None) -> float:
    """Metric over bound less 1, at the closest point; -1 where nothing is violated."""
    tight = None if result is None else result.verdict.tightness
    return -1.0 if tight is None or not tight.ratio_min > 0 else 1 / tight.ratio_min - 1


_Check = Callable[[_Exact], ClaimResult | None]


def _coarsest(
    A: Floats,
    b: Floats,
    start: Floats,
    share: float,
    counts: tuple[tuple[str, int], ...],
    index: Sequence[int],
    check: _Check,
) -> _Exact | None:
    """The instance on the coarsest grid (relative to its curvature) on which it is still violated."""
    unit = 2.0 ** np.round(np.log2(np.abs(A).max()))
    for parts in (1, 2, 4, 8, 10, 16, 32, 64, 100, 1000, 10**4, 10**6):

        def on_grid(x: float, unit: float = unit, parts: int = parts) -> Fraction:
            return Fraction(round(x / unit * parts), parts) * Fraction(unit)

        for k in (index[0], index[-1]):
            candidate = _Exact(
                tuple((on_grid(m[0, 0]), on_grid(m[0, 1]), on_grid(m[1, 1])) for m in A),
                tuple(tuple(on_grid(v) for v in push) for push in b[:-1]),
                tuple(on_grid(v, 1.0, max(parts, 4)) for v in start),
                counts,
                f"{Fraction(share).limit_denominator(10**9)}*largest" if share < 1 - 1e-6 else "largest",
                int(k),
            )
            if check(candidate) is not None:
                return candidate
    return None


def _smaller_counts(exact: _Exact, check: _Check) -> _Exact:
    """Each integer parameter as small as a ladder 1, 2, 3, 4, 6, 8, ... and then single steps down bring it."""
    for k in range(len(exact.counts)):
        top = exact.counts[k][1]
        for value in [*(v for v in _LADDER if v < top), *range(top - 1, 0, -1)]:
            if value < exact.counts[k][1]:
                candidate = replace(exact, counts=_with(exact.counts, k, value))
                if check(candidate) is not None:
                    exact = candidate
                elif value not in _LADDER:
                    break
    return exact


def _with(counts: tuple[tuple[str, int], ...], k: int, value: int) -> tuple[tuple[str, int], ...]:
    return tuple((name, value if j == k else old) for j, (name, old) in enumerate(counts))


def _shorter_step(exact: _Exact, name: str, check: _Check) -> _Exact:
    """The step as the shortest fraction that keeps the violation."""
    found = check(exact)
    if found is None:
        return exact
    top = parse_number(str(found.method[name]), name)
    for slack in (
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 10),
        Fraction(1, 50),
        Fraction(1, 1000),
        Fraction(1, 10**6),
    ):
        for factor in (Fraction(99, 100), Fraction(1)):
            short = simplest_between(factor * top * (1 - slack), factor * top)
            candidate = replace(exact, step=format_exact(short))
            if check(candidate) is not None:
                return candidate
    return exact


def _plainer_entries(exact: _Exact, check: _Check) -> _Exact:
    """Each entry replaced by 0 or by a shorter fraction near it, as far as the violation survives."""
    for part in ("b", "A"):
        rows = getattr(exact, part)
        for i in range(len(rows)):
            for j in range(len(rows[i])):
                for short in _shorter(getattr(exact, part)[i][j]):
                    changed = [list(row) for row in getattr(exact, part)]
                    changed[i][j] = short
                    candidate = replace(exact, **{part: tuple(tuple(row) for row in changed)})
                    if check(candidate) is not None:
                        exact = candidate
                        break
    for j in range(len(exact.start)):
        for short in _shorter(exact.start[j]):
            start = tuple(short if k == j else v for k, v in enumerate(exact.start))
            candidate = replace(exact, start=start)
            if any(start) and check(candidate) is not None:
                exact = candidate
                break
    return exact


def _shorter(value: Fraction) -> list[Fraction]:
    if value == 0:
        return []
    near = [Fraction(0)]
    for slack in (Fraction(1, 4), Fraction(1, 20)):
        low, high = sorted((value * (1 - slack), value * (1 + slack)))
        near.append(simplest_between(low, high))
    return [v for v in near if len(format_exact(v)) < len(format_exact(value))]


def _earlier(exact: _Exact, check: _Check) -> _Exact:
    """The smallest index among 1, 2, 3, 4, 6, 8, ... at which it is violated."""
    for k in _LADDER:
        if 0 < k < exact.index:
            candidate = replace(exact, index=k)
            if check(candidate) is not None:
                return candidate
    return exact
