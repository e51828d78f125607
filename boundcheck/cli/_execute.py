"""Carrying out the claims of a specification: through the store, on several processes when there are many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.core.store import Store, Stored
from boundcheck.errors import BadInput, MissingExtra, Unsupported
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.core.executor import Lost

__all__ = ["Done", "Refused", "carry_out", "results_of"]

SERIAL = 3  # up to so many claims are carried out in this process: starting others costs more


@dataclass(frozen=True)
class Done:
    """A claim that was carried out; folders: the runs in the result store that it made or found there."""

    result: ClaimResult
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """A claim whose specification turned out to be bad input, or beyond its engine, while it was carried out."""

    claim: Claim
    problem: str


@dataclass(frozen=True)
class _Job:
    claim: Claim
    store: Path | None
    on_progress: Callable[[float], None] | None = field(default=None, compare=False)


class _NotedStore(Store):
    """A store that remembers which runs were asked of it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.used: dict[str, None] = {}

    def get(self, key: str) -> Stored | None:
        self.used[key] = None
        return super().get(key)

    def put(self, key: str, spec: Any, arrays: Any, meta: Mapping[str, Any]) -> Stored:
        self.used[key] = None
        return super().put(key, spec, arrays, meta)


def _carry_out(job: _Job) -> Done | Refused:
    """One claim; at the top of the module, so that worker processes find it."""
    store = None if job.store is None else _NotedStore(job.store)
    try:
        result = run_claim(job.claim, store, job.on_progress)
    except (BadInput, MissingExtra, Unsupported) as error:  # a StoreError concerns all claims and is passed on
        return Refused(job.claim, str(error))
    if store is None:
        return Done(result)
    return Done(result, tuple(str(store.path / key) for key in store.used))


def carry_out(claims: Sequence[Claim], *, store: Path | None, workers: int | None = None) -> list[Done | Refused]:
    """All claims in their order, with a progress bar; what was finished before an interruption is in the store.

    workers: processes (default: one for up to 3 claims, else one a processor). A claim that is bad input does
    not stop the others. Raises StoreError and KeyboardInterrupt at once.
    """
    from boundcheck.cli._output import progress
    from boundcheck.core.executor import default_executor

    total = len(claims)
    with progress(f"{total} claims" if total > 1 else "1 claim", float(total)) as show:
        if (workers is None and total <= SERIAL) or workers == 1:
            done: list[Done | Refused] = []
            for i, claim in enumerate(claims):
                done.append(_carry_out(_Job(claim, store, lambda share, i=i: show(i + share))))
                show(i + 1.0)
            return done
        finished = 0

        def count(index: int, result: Any) -> None:
            nonlocal finished
            finished += 1
            show(float(finished))

        jobs = [_Job(claim, store) for claim in claims]
        found = default_executor(workers).map(_carry_out, jobs, count)
    return [r if isinstance(r, Done | Refused) else _lost(c, r) for c, r in zip(claims, found, strict=True)]


def _lost(claim: Claim, lost: Lost) -> Done:
    verdict = Verdict(claim.statement, Outcome.FAILED, None, lost.reason)
    missed = () if claim.expect in (None, Outcome.FAILED) else (f"expected {claim.expect}, got FAILED: {lost.reason}",)
    return Done(ClaimResult(claim, verdict, claim.method, missed))


def results_of(done: Sequence[Done | Refused]) -> list[ClaimResult]:
    """The results; raises BadInput listing every claim that was refused."""
    refused = [d for d in done if isinstance(d, Refused)]
    if refused:
        raise BadInput("\n".join(f"claim '{r.claim.label()}': {r.problem}" for r in refused))
    return [d.result for d in done if isinstance(d, Done)]
