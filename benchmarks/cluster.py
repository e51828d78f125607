"""What an executor costs: seconds to start, milliseconds an item, items a second, and the gain of a second worker.

Empty items are `abs` of a number; the compute-bound sweep has 40 chunks of 10^6 rows of SCGD's Theorem 3.3. With an
address the items go to that cluster, otherwise to `local:2`, whose scheduler is a thread of this process. Wall-clock
times are medians of three; a machine that others use stretches them, but not the processor times, from which the
ceiling is: two processors for the time of the workers, of the client and of the scheduler.

Run: python benchmarks/cluster.py [ADDRESS]
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time

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


def processor_seconds() -> tuple[float, float]:
    """Of this process with all its threads, and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), children.ru_utime + children.ru_stime


def seconds(where: Where, items: list[int]) -> tuple[float, float]:
    """Medians of the wall-clock and of this process's processor times of empty items."""
    found: list[tuple[float, float]] = []
    for _ in range(TIMES):
        executor = chosen_executor(where)
        began, used = time.perf_counter(), processor_seconds()[0]
        executor.map(abs, items)
        found.append((time.perf_counter() - began, processor_seconds()[0] - used))
    wall, used = zip(*found, strict=True)
    return statistics.median(wall), statistics.median(used)


def swept(workers: int) -> tuple[float, float, float]:
    """Wall-clock time, processor time of client with scheduler, and of the workers, of the compute-bound sweep."""
    sweep = sweep_from_text(SWEEP)
    with tempfile.TemporaryDirectory() as folder:
        began, (mine, theirs) = time.perf_counter(), processor_seconds()
        carry_out(sweep, folder, chosen_executor(Where(cluster=f"local:{workers}")))
        after = processor_seconds()
        return time.perf_counter() - began, after[0] - mine, after[1] - theirs


def main() -> None:
    """Prints one line an executor, the gain of a second worker, and what follows for 10^9 rows."""
    address = sys.argv[1] if len(sys.argv) > 1 else "local:2"
    for name, where in (("two processes", Where(2)), (address, Where(cluster=address))):
        start = seconds(where, [0])
        wall, used = ((a - b) / EMPTY for a, b in zip(seconds(where, list(range(EMPTY))), start, strict=True))
        print(f"{name}: start {start[0]:.2f} s, an empty item {1e3 * wall:.3f} ms ({1e3 * used:.3f} ms of the client)")
    print(f"so {1 / wall:.0f} items a second pass here; {1 / used:.0f} where client and scheduler have a processor")
    (alone, *_), (both, client, workers) = swept(1), swept(2)
    print(f"40 million rows: {alone:.1f} s with one worker, {both:.1f} s with two: {alone / both:.2f} times")
    print(f"processor seconds with two: workers {workers:.1f}, client and scheduler {client:.1f}")
    print(f"so at most {2 * workers / (workers + client):.2f} times on two processors")
    row = workers / 4e7
    print(f"10^9 rows: {1e9 * row / 3600:.2f} processor hours of the workers")
    for rows in (10**4, 10**5, 10**6):
        chunks = 10**9 // rows
        print(f"in chunks of {rows}: {chunks * used:.0f} s of the client; {row * rows / used:.0f} workers keep it busy")


if __name__ == "__main__":
    main()
