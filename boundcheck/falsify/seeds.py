"""Searches as items of an executor: of one statement with several seeds, or of many statements."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from boundcheck.core.executor import HERE, Lost, SerialExecutor, Where, chosen_executor
from boundcheck.errors import Unsupported, WorkerLost
from boundcheck.falsify.search import FalsifyResult, State, falsify
from boundcheck.theory.discovery import is_registered, statement

if TYPE_CHECKING:
    from boundcheck.core.executor import Executor
    from boundcheck.theory.statement import Statement

GRACE = 60.0  # seconds beyond twice its budget after which a search is stopped: shrinking a witness takes its time


class _Enough(Exception):
    """A seed has found a witness, and no smaller one is still searching."""


def falsify_seeds(
    claimed: Statement,
    seeds: range,
    *,
    budget: float = 60.0,
    max_instances: int | None = None,
    where: Where = HERE,
    on_progress: Callable[[float], None] | None = None,
    after: State | None = None,
) -> list[FalsifyResult]:
    """The results of the seeds up to the first one that has found a witness, in their order.

    budget and max_instances are those of each seed; after: where an earlier search of the one seed ended. What a seed
    finds does not depend on the others, so the last result is the same wherever they search and in whatever order they
    end. Raises WorkerLost where the process of a search was lost twice.
    """
    found: dict[int, FalsifyResult | Lost] = {}
    shares = [0.0] * len(seeds)

    def told(place: int, share: float) -> None:
        shares[place] = share
        if on_progress is not None:
            on_progress(sum(shares) / len(seeds))

    def done(place: int, result: FalsifyResult | Lost) -> None:
        found[place] = result
        told(place, 1.0)
        first = next((p for p in sorted(found) if getattr(found[p], "witness", None) is not None), len(seeds))
        if first < len(seeds) and all(p in found for p in range(first)):
            raise _Enough

    executor = executor_of_searches(len(seeds) == 1, where, budget)
    asked = claimed.id if is_registered(claimed) else claimed
    with contextlib.suppress(_Enough):
        executor.map(_search, [(asked, budget, seed, max_instances, after) for seed in seeds], done, told)
    results: list[FalsifyResult] = []
    for place, seed in enumerate(seeds):
        result = found[place]
        if isinstance(result, Lost):
            raise WorkerLost(f"{claimed.best_id}: the search with seed {seed} failed: {result.reason}")
        results.append(result)
        if result.witness is not None:
            break
    return results


def executor_of_searches(alone: bool, where: Where, budget: float) -> Executor:
    """The executor that is asked for, with a limit from the budget; alone: this process, where nothing is asked for."""
    if alone and where == HERE:
        return SerialExecutor()
    return chosen_executor(where if where.limit is not None else replace(where, limit=2 * budget + GRACE))


def together(results: Sequence[FalsifyResult]) -> FalsifyResult:
    """What several searches of one statement found as one result: the last one's witness, all instances."""
    last = results[-1]
    best, instances = max(r.best for r in results), sum(r.instances for r in results)
    seconds, seed = sum(r.seconds for r in results), last.seed if last.witness is not None else results[0].seed
    closest = max(results, key=lambda r: r.best).nearest if last.witness is None else {}
    more = last.budget, last.searched, closest, last.epoch, last.interrupted, last.claimed
    return FalsifyResult(last.statement, last.witness, best, instances, seconds, seed, *more)


def _search(
    item: tuple[Statement | str, float, int, int | None, State | None], tell: Callable[[float], None]
) -> FalsifyResult:
    """One seed; at the top of the module, so that worker processes find it."""
    asked, budget, seed, most, after = item
    claimed = statement(asked)

    def told(share: float, _: float) -> None:
        tell(share)

    return falsify(claimed, budget=budget, seed=seed, max_instances=most, on_progress=told, after=after)


def search_reading(item: tuple[str, float, int], tell: Callable[[float], None]) -> FalsifyResult | None:
    """One reading, by its id; None where it is out of the search's reach."""
    id, budget, seed = item
    try:
        return _search((id, budget, seed, None, None), tell)
    except Unsupported:
        return None
