"""Carrying out what a specification asks for: through the store, on several processes when there is much of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from boundcheck.core.executor import HERE, Lost, SerialExecutor, Where, chosen_executor
from boundcheck.core.store import Store, Stored
from boundcheck.errors import BadInput, MissingExtra, Unsupported, WorkerLost
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.claim_constants import no_progress
from boundcheck.evidence.kept_results import NOWHERE, Entry, entry_of, entry_of_claim, keep, recall
from boundcheck.evidence.limits import Limits, LimitStudy, limit_study
from boundcheck.evidence.not_run import NotRun, is_absence
from boundcheck.evidence.studies import Asked, Study, carry_out_study
from boundcheck.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.core.executor import Executor
    from boundcheck.evidence.claim_constants import Progress
    from boundcheck.evidence.stored import Spread


WAITING = "It still ran when this report was written, which is written again when all is done."
MANY_SEEDS = 5000  # a sampled claim that may need more has its seeds spread over the executor
SERIAL = 3  # up to this many jobs are carried out in this process: starting others costs more


@dataclass(frozen=True)
class Done:
    """A claim that was carried out; folders: the runs in the result store that it made or found there."""

    result: ClaimResult
    folders: tuple[str, ...] = ()


Item = TypeVar("Item", bound=Claim | Limits | Asked, covariant=True)


@dataclass(frozen=True)
class Refused(Generic[Item]):
    """What turned out to be bad input, or beyond its engine, while it was carried out.

    absent: because a data set or an optional package is not on this machine.
    """

    what: Item
    problem: str
    absent: bool = False

    @property
    def lacking(self) -> str:
        """For the executor: what another machine may have."""
        return self.problem if self.absent else ""

    @property
    def words(self) -> str:
        """The sentence that names it."""
        named = f"claim '{self.what.label()}'" if isinstance(self.what, Claim) else f"study '{self.what.name}'"
        return f"{named}: {self.problem}"


@dataclass(frozen=True)
class Reported:
    """What a report shows, each in the order of the specifications."""

    results: list[ClaimResult]
    limits: list[LimitStudy]
    studies: list[Study]
    not_run: list[NotRun]


@dataclass(frozen=True)
class _Job:
    """What one process does at a time. entry: of its result."""

    what: Claim | Limits | Asked
    store: Path | str | None
    entry: Entry

    @classmethod
    def of(cls, what: Claim | Limits | Asked, store: Path | str | None) -> _Job:
        """The job with its entry."""
        if store is None:
            entry = NOWHERE
        elif isinstance(what, Claim):
            entry = entry_of_claim(what)
        elif isinstance(what, Limits):
            entry = entry_of(Entry(what.name, LimitStudy, {"limits": what}), "limits", what.model_dump())
        else:
            entry = entry_of(Entry(what.name, Study, {}), what.kind, what.spec.model_dump(), neural=what.neural)
        return cls(what, store, entry)

    @property
    def long(self) -> bool:
        return isinstance(self.what, Asked) and self.what.runs_long

    @property
    def turn(self) -> int:
        """What is begun first: training, then studies of several methods, then claims of one."""
        return 0 if self.long else 2 if isinstance(self.what, Claim) else 1

    @property
    def spreads(self) -> bool:
        """Whether its seeds are items, instead of itself."""
        return isinstance(self.what, Claim) and self.what.engine == "sampled" and self.what.runs > MANY_SEEDS

    @property
    def on_gpu(self) -> bool:
        """Whether it computes on a GPU of this machine."""
        if isinstance(self.what, Limits):
            return False
        neural = self.what.trains_with if isinstance(self.what, Claim) else self.what.neural
        if neural is None:
            return False
        from boundcheck.engines.trained import training_engine

        try:
            return training_engine("neural").on_gpu(neural)
        except (BadInput, MissingExtra):  # a GPU or a torch that is not there: it will be refused, by name
            return False


class NotedStore(Store):
    """A store that remembers which runs were requested. on_use: is called before the store looks for a run."""

    def __init__(self, place: Path | str) -> None:
        super().__init__(place)
        self.used: dict[str, None] = {}
        self.on_use: Callable[[], None] = lambda: None

    def get(self, key: str) -> Stored | None:
        self.used[key] = None
        self.on_use()
        return super().get(key)

    def put(self, key: str, spec: Any, arrays: Any, meta: Mapping[str, Any]) -> Stored:
        self.used[key] = None
        return super().put(key, spec, arrays, meta)


def _carry_out(
    job: _Job, tell: Callable[[float], None], spread: Spread | None = None
) -> Done | Refused[Any] | LimitStudy | Study | Lost:
    """One job; at the top of the module, so that worker processes find it. spread: of the seeds of a sampled claim."""
    what = job.what
    store = None if job.store is None else NotedStore(job.store)
    try:
        if isinstance(what, Limits):
            result = limit_study(what, tell)
        elif isinstance(what, Asked):
            result = carry_out_study(what, tell, store)
        else:
            result = run_claim(what, store, tell, spread)
    except WorkerLost as error:
        return Lost(str(error))
    except (BadInput, MissingExtra, Unsupported) as error:  # a StoreError concerns all jobs and is passed on
        return Refused(what, str(error), is_absence(error))
    folders: tuple[str, ...] = ()
    if store is not None:
        runs = tuple(store.used)
        folders = tuple(map(store.where, runs))
        result = keep(store, job.entry, result, runs)
    return Done(result, folders) if isinstance(result, ClaimResult) else result


def executor_for(few: bool, where: Where, store: Path | str | None = None) -> Executor:
    """The executor that is asked for; this process for few items, where nothing is asked for."""
    return SerialExecutor() if few and where == HERE else chosen_executor(where, shared=store)


def _carry_out_all(
    jobs: Sequence[_Job],
    where: Where,
    title: str,
    *,
    progress: Progress,
    curves: bool = False,
    on_short: Callable[[Sequence[Any]], None] | None = None,
) -> list[Any]:
    """The results in the order of the jobs, `Lost` among them.

    What the store has is not handed to the executor. Of the rest, those that take longer are begun first, so that no
    process is left with one at the end; a process alone begins with the short ones. After the others, one after the
    other in this process, come sampled claims with many seeds, which are the items instead, and those that compute on a
    GPU of this machine: side by side they would share its memory. on_short: called once, with None for what still runs,
    when all but the long jobs are done and one of these is not.
    """
    found = recall(jobs[0].store if jobs else None, [job.entry for job in jobs], curves=curves)
    results = [k and (Done(k.result, k.folders) if isinstance(k.result, ClaimResult) else k.result) for k in found]
    rest = [index for index, result in enumerate(results) if result is None]
    few = len(rest) <= SERIAL and sum(jobs[index].long for index in rest) <= 1
    executor = executor_for(few, where, jobs[0].store if jobs else None)
    short = {index for index in rest if not jobs[index].long}
    if on_short is not None and not short and 0 < len(rest) < len(jobs):
        on_short(results)
    alone = isinstance(executor, SerialExecutor)
    on_gpu = [index for index in rest if jobs[index].on_gpu]
    spread = [index for index in rest if jobs[index].spreads and not alone and where.limit is None]
    rest = [index for index in rest if index not in {*on_gpu, *spread}]
    rest.sort(key=lambda index: (alone and jobs[index].long, jobs[index].turn))
    shares = [float(result is not None) for result in results]
    with progress(title, float(max(len(jobs), 1))) as show:
        here = SerialExecutor()
        for own, order, function in (
            (executor, rest, _carry_out),
            (here, spread, partial(_carry_out, spread=executor.map)),
            (here, on_gpu, _carry_out),
        ):

            def share(place: int, done: float, order: Sequence[int] = order) -> None:
                shares[order[place]] = done
                show(sum(shares))

            def arrived(place: int, result: Any, order: Sequence[int] = order) -> None:
                results[order[place]] = result
                share(place, 1.0)
                if on_short is not None and order[place] in short:
                    short.discard(order[place])
                    if not short and None in results:
                        on_short(results)

            found = own.map(function, [jobs[i] for i in order], arrived, share)
            for index, result in zip(order, found, strict=True):
                results[index] = result
    return results


def carry_out(
    claims: Sequence[Claim],
    *,
    store: Path | str | None,
    where: Where = HERE,
    curves: bool = False,
    progress: Progress = no_progress,
) -> list[Done | Refused[Claim]]:
    """All claims in their order; what was finished before an interruption is in the store.

    where: by default in this process for up to 3 claims, else on one process a processor. curves: whether their runs
    must be in the store when it returns. progress: shows how much is done. A claim that is bad input does not stop the
    others.
    Raises StoreError and KeyboardInterrupt at once.
    """
    jobs = [_Job.of(claim, store) for claim in claims]
    title = _count(len(claims), "claim", "claims")
    found = _carry_out_all(jobs, where, title, progress=progress, curves=curves)
    return [_lost(c, r) if isinstance(r, Lost) else r for c, r in zip(claims, found, strict=True)]


def carry_out_report(
    claims: Sequence[Claim],
    limits: Sequence[Limits],
    studies: Sequence[Asked],
    *,
    store: Path | str | None,
    where: Where = HERE,
    progress: Progress = no_progress,
    on_short: Callable[[Reported], None] | None = None,
) -> Reported:
    """All that a report shows, as `carry_out` does it; claims and studies share the processes.

    What is bad input does not stop the others; at the end it raises BadInput listing all of it, or WorkerLost where
    nothing is missing but studies whose processes were ended. What needs a data set or an optional package that is not
    on this machine is no mistake: it stands in `not_run`. on_short: called when nothing but training still runs, with
    what is there; the rest stands in `not_run` as waiting.
    """
    jobs = [_Job.of(what, store) for what in (*claims, *limits, *studies)]
    titles = [_count(len(claims), "claim", "claims")] if claims else []
    others = len(limits) + len(studies)
    titles += [_count(others, "study", "studies")] if others else []

    def early(found: Sequence[Any]) -> None:
        if on_short is not None:
            with suppress(BadInput, WorkerLost):  # raised again at the end, with what comes until then
                on_short(_reported(claims, limits, studies, found))

    found = _carry_out_all(jobs, where, " and ".join(titles), progress=progress, on_short=early)
    return _reported(claims, limits, studies, found)


def _reported(
    claims: Sequence[Claim], limits: Sequence[Limits], studies: Sequence[Asked], found: Sequence[Any]
) -> Reported:
    """What was carried out, sorted; see `carry_out_report`. found: None for what still runs."""
    done = [_lost(c, r) if isinstance(r, Lost) else r for c, r in zip(claims, found[: len(claims)], strict=True)]
    rest = found[len(claims) :]
    named = [("limits", asked.name) for asked in limits] + [(asked.kind, asked.name) for asked in studies]
    studied = [(kind, name, r) for (kind, name), r in zip(named, rest, strict=True)]
    not_run = [NotRun("claim", d.what.label(), d.problem) for d in done if isinstance(d, Refused) and d.absent]
    not_run += [NotRun(kind, name, r.problem) for kind, name, r in studied if isinstance(r, Refused) and r.absent]
    not_run += [NotRun(kind, name, WAITING, waiting=True) for kind, name, r in studied if r is None]
    bad = [r.words for r in (*done, *rest) if isinstance(r, Refused) and not r.absent]
    gone = [
        f"study '{name}': {r.reason} What is in the store is kept; --workers 1 needs the least memory."
        for _, name, r in studied
        if isinstance(r, Lost)
    ]
    if bad:
        raise BadInput("\n".join([*bad, *gone]))
    if gone:
        raise WorkerLost("\n".join(gone))
    there, more = (
        [r for r in part if r is not None and not isinstance(r, Refused)]
        for part in (rest[: len(limits)], rest[len(limits) :])
    )
    return Reported([d.result for d in done if isinstance(d, Done)], there, more, not_run)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _lost(claim: Claim, lost: Lost) -> Done:
    verdict = Verdict(claim.id, Outcome.FAILED, None, lost.reason)
    missed = () if claim.expect in (None, Outcome.FAILED) else (f"expected {claim.expect}, got FAILED: {lost.reason}",)
    return Done(ClaimResult(claim, verdict, claim.method, missed))


def results_of(done: Sequence[Done | Refused[Claim]]) -> list[ClaimResult]:
    """The results; raises BadInput listing every claim that was refused."""
    refused = [d.words for d in done if isinstance(d, Refused)]
    if refused:
        raise BadInput("\n".join(refused))
    return [d.result for d in done if isinstance(d, Done)]
