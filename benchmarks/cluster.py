"""What an executor costs: seconds to start, milliseconds an item, items a second, and the gain of a second process.

Items are `abs` of a number, which costs nothing, and the sum of a range, which keeps a processor busy. With an address
they go to that cluster, otherwise to `local:2`, whose scheduler is a thread of this process.

Run: python benchmarks/cluster.py [ADDRESS]
"""

from __future__ import annotations

import statistics
import sys
import time

from boundcheck.core import cluster
from boundcheck.core.executor import SerialExecutor, Where, chosen_executor

EMPTY = 5000
CHUNKS = 500
BUSY = range(4_000_000)
TIMES = 3


def seconds(where: Where | None, function: object, items: list[object]) -> float:
    """Median of the wall-clock times of a list of items."""
    found: list[float] = []
    for _ in range(TIMES):
        executor = SerialExecutor() if where is None else chosen_executor(where)
        began = time.perf_counter()
        executor.map(function, items)  # pyright: ignore[reportArgumentType]
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def main() -> None:
    """Prints one line an executor, and what follows for 10^9 rows."""
    address = sys.argv[1] if len(sys.argv) > 1 else "local:2"
    for name, where in (("two processes", Where(2)), (address, Where(cluster=address))):
        start = seconds(where, abs, [0])
        item = (seconds(where, abs, list(range(EMPTY))) - start) / EMPTY
        print(f"{name}: start {start:.2f} s, {1e3 * item:.3f} ms an empty item, {1 / item:.0f} a second")
    largest, cluster.LARGEST_CHUNK = cluster.LARGEST_CHUNK, 1  # each item a message of its own
    chunk = seconds(Where(cluster=address), abs, list(range(CHUNKS))) / CHUNKS
    cluster.LARGEST_CHUNK = largest
    print(f"{address}: {1e3 * chunk:.2f} ms a chunk of one empty item, {1 / chunk:.0f} chunks a second")
    busy: list[object] = [BUSY] * 20
    alone = seconds(None, sum, busy)
    one, two = (seconds(Where(cluster=f"local:{n}"), sum, busy) for n in (1, 2))
    print(f"compute-bound: {alone:.2f} s here, {one:.2f} s one worker, {two:.2f} s two: {one / two:.2f} times")
    for rows in (10**4, 10**5, 10**6):
        chunks = 10**9 // rows
        print(f"10^9 rows in chunks of {rows}: {chunks} items, {chunks * chunk:.0f} s of the client and scheduler")


if __name__ == "__main__":
    main()
