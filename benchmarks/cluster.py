"""What an executor costs: milliseconds an empty item, and the gain of a second worker.

Empty items are `abs` of a number; the compute-bound sweep has 40 chunks of 10^6 rows of SCGD's Theorem 3.3. The
cluster is `local:2`, whose scheduler is a thread of this process. Wall-clock times are medians of three; a machine that
others use stretches them, but not the processor times, from which the ceiling is: two processors for the time of the
workers, of the client and of the scheduler.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator

from _table import Row, run, timed

from boundcheck.core.executor import Where, chosen_executor
from boundcheck.sweeps.run import carry_out
from boundcheck.sweeps.spec import sweep_from_text

EMPTY = 5000
TIMES = 3
SWEEP = """kind = "bound"
statement = "scgd/theorem_3_3/corrected"
constants = { n = 20, E = 4, sigma2 = 1, dist2_0 = 4, L = 10 }
chunk = 1000000
[grid]
constants.mu = "log:1/10:8:40"
constants.eta = "log:1e-6:1e-3:10000"
at.K = "log:1:1000000:100:integer"
"""


def children() -> float:
    """Processor seconds of children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def milliseconds(where: Where) -> tuple[float, float]:
    """Of an empty item, by the clock and of this process's processors, without the start."""
    columns: list[list[float]] = []
    for clock in (time.perf_counter, time.process_time):
        runs = [[timed(lambda n=n: chosen_executor(where).map(abs, list(range(n))), clock)[0] for n in (EMPTY, 1)]
                for _ in range(TIMES)]  # fmt: skip
        columns.append([1e3 * (many - one) / EMPTY for many, one in runs])
    wall, used = map(statistics.median, columns)
    return wall, used


def swept(workers: int) -> tuple[float, float, float]:
    """Wall-clock time, processor time of client with scheduler, and of the workers, of the compute-bound sweep."""
    sweep = sweep_from_text(SWEEP)
    with tempfile.TemporaryDirectory() as folder:
        before, used = children(), time.process_time()
        cluster = chosen_executor(Where(cluster=f"local:{workers}"))
        wall, _ = timed(lambda: carry_out(sweep, folder, cluster), time.perf_counter)
        return wall, time.process_time() - used, children() - before


def results() -> Iterator[Row]:
    for name, where in (("two processes", Where(2)), ("local:2", Where(cluster="local:2"))):
        wall, used = milliseconds(where)
        note = f"{used:.3g} ms of the client's processor"
        yield Row(f"{name}: an empty item, by the clock", wall, "ms", most=5, note=note)
    (alone, *_), (both, client, workers) = swept(1), swept(2)
    note = f"{both:.1f} s; at most {2 * workers / (workers + client):.2f} on two processors by processor times"
    yield Row("40 million rows: one worker's time over that of two, by the clock", alone / both, least=1.6, note=note)


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
