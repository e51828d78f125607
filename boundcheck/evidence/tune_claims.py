"""Tuning of several claims: through the store, on several processes when there are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.core.executor import HERE, Lost, SerialExecutor, Where, chosen_executor
from boundcheck.core.store import Store
from boundcheck.errors import BoundcheckError, WorkerLost
from boundcheck.evidence.kept_results import entry_of_claim, keep, recall
from boundcheck.evidence.not_run import is_absence
from boundcheck.evidence.tuning import Tuning, tune
from boundcheck.problems.build import build
from boundcheck.theory.discovery import statement

if TYPE_CHECKING:
    from boundcheck.evidence.claim import Claim
    from boundcheck.evidence.kept_results import Entry

SERIAL = 3  # up to this many claims are tuned in this process: starting others costs more


@dataclass(frozen=True)
class _Absent:
    """A claim whose data set or package is not on the machine that was to tune it."""

    error: BoundcheckError

    @property
    def lacking(self) -> str:
        """For the executor."""
        return str(self.error)


def tune_claims(
    claims: Sequence[Claim],
    target: Fraction,
    local_work: Sequence[int],
    *,
    store: Path | str | None = None,
    where: Where = HERE,
    show: Callable[[float], None] = lambda done: None,
) -> list[Tuning]:
    """What the bound of each claim recommends, in their order; see `evidence.tuning.tune`.

    target: share of the metric at the start. local_work: amounts to choose among; none: as in the claim. show: called
    with the number of finished claims. Raises WorkerLost where a process was lost twice, and the errors of bad input.
    """
    entries = [entry_of_claim(c, Tuning, "tuning", target=target, local_work=list(local_work)) for c in claims]
    results: list[Any] = [k and k.result for k in recall(store, entries)]
    rest = [place for place, result in enumerate(results) if result is None]
    few = len(rest) <= SERIAL and where == HERE
    executor = SerialExecutor() if few else chosen_executor(where, shared=store)
    shares = [float(result is not None) for result in results]

    def progressed(place: int, done: float) -> None:
        shares[rest[place]] = done
        show(sum(shares))

    items = [(claims[place], target, list(local_work), store, entries[place]) for place in rest]
    computed = executor.map(_tuned, items, lambda place, _: progressed(place, 1.0), progressed)
    for place, result in zip(rest, computed, strict=True):
        results[place] = result
    return [_unless_lost(claim, result) for claim, result in zip(claims, results, strict=True)]


def _tuned(
    item: tuple[Claim, Fraction, list[int], Path | str | None, Entry], tell: Callable[[float], None]
) -> Tuning | _Absent:
    """One claim; at the top of the module, so that worker processes find it."""
    claim, target, local_work, place, entry = item
    try:
        problem = build(claim.problem)
        found = tune(statement(claim.statement), problem, claim.method, target, claim.constants, local_work, tell)
        return found if place is None else keep(Store(place), entry, found, ())
    except BoundcheckError as error:
        if is_absence(error):
            return _Absent(error)
        raise


def _unless_lost(claim: Claim, result: Tuning | _Absent | Lost) -> Tuning:
    if isinstance(result, Lost):
        raise WorkerLost(f"claim '{claim.label()}': {result.reason}")
    if isinstance(result, _Absent):
        raise result.error
    return result
