"""Carrying out a sweep: the chunks that are not there yet go to an executor, and each is put in place by its worker."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from boundcheck.core.executor import Lost
from boundcheck.errors import BadInput
from boundcheck.sweeps.dataset import Counts, Dataset, need_pyarrow
from boundcheck.sweeps.rows import LABELS

if TYPE_CHECKING:
    from boundcheck.core.executor import Executor
    from boundcheck.sweeps.sweep import Sweep


@dataclass(frozen=True)
class _Item:
    """One chunk; whoever computes it writes its file."""

    sweep: Sweep
    place: Path | str
    digest: str
    chunk: int


_Answer = tuple[Counts, int]  # the labels of a chunk, and the peak memory of the process that computed it, in bytes


@dataclass(frozen=True)
class Summary:
    """What a call did.

    place; rows of the sweep; counts: rows of each label; computed: chunks of this call; kept: chunks that were there;
    lost: a sentence for each chunk whose worker died; memory: of this process and the most of a worker, in bytes.
    """

    place: str
    rows: int
    counts: Mapping[str, int]
    computed: int
    kept: int
    lost: tuple[str, ...]
    memory: tuple[int, int]


def _compute(item: _Item, tell: Callable[[float], None]) -> _Answer:
    """One chunk; at the top of the module, so that worker processes find it."""
    return Dataset(item.sweep, item.place, item.digest).compute(item.chunk, tell), peak_memory()


def peak_memory() -> int:
    """The most resident memory of this process since it began, in bytes; 0 where the system does not say."""
    with contextlib.suppress(OSError):  # Linux, whose getrusage counts what the parent had before it started this one
        peak = re.search(r"VmHWM:\s*([0-9]+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
        if peak is not None:
            return int(peak[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def carry_out(
    sweep: Sweep, place: Path | str, executor: Executor, on_rows: Callable[[float], None] = lambda rows: None
) -> Summary:
    """Computes what is not there yet; on_rows: called with the number of rows that are done.

    Raises BadInput where the place holds something else, StoreError where it cannot be written. What is finished stays
    there, whatever happens.
    """
    need_pyarrow()
    dataset = Dataset(sweep, place)
    there = dataset.claim()
    missing = [chunk for chunk in range(sweep.chunks) if chunk not in there]
    size = {chunk: high - low for chunk in missing for low, high in (sweep.range_of(chunk),)}
    done = float(sweep.rows - sum(size.values()))
    shares = dict.fromkeys(missing, 0.0)
    most = 0

    def share(index: int, part: float) -> None:
        nonlocal done
        chunk = missing[index]
        done += (part - shares[chunk]) * size[chunk]
        shares[chunk] = part
        on_rows(done)

    def finished(index: int, answer: _Answer | Lost) -> None:
        nonlocal most
        share(index, 1.0)
        if not isinstance(answer, Lost):
            if not most:  # the first one tells
                _check_there(dataset, [missing[index]])
            most = max(most, answer[1])

    on_rows(done)
    items = [_Item(sweep, place, dataset.digest, chunk) for chunk in missing]
    answers = executor.map(_compute, items, finished, share)
    lost: list[str] = []
    for chunk, answer in zip(missing, answers, strict=True):
        if isinstance(answer, Lost):
            low, high = sweep.range_of(chunk)
            lost.append(f"rows {low} to {high - 1}: {answer.reason}")
        else:
            there[chunk] = answer[0]
    _check_there(dataset, there)
    counts = {label: sum(counts.get(label, 0) for counts in there.values()) for label in LABELS}
    counts = {label: count for label, count in counts.items() if count}
    kept = len(there) - (len(missing) - len(lost))
    return Summary(
        dataset.files.place, sweep.rows, counts, len(missing) - len(lost), kept, tuple(lost), (peak_memory(), most)
    )


def _check_there(dataset: Dataset, chunks: Iterable[int]) -> None:
    """Raises BadInput where this process does not see what a worker has written."""
    absent = sorted(set(chunks) - dataset.chunks())
    if absent:
        raise BadInput(
            f"chunk {absent[0]} was written, but is not in {dataset.files.place}; where workers run on other machines, "
            "-o must be a folder that all of them share, or a URL such as s3://bucket/sweep."
        )
