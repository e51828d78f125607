"""The result store: what a look-up costs in a small and in a large store, what listing costs, and puts and gets
elsewhere.

The large store has 10^5 runs in a folder; they are hard links to a few real ones, in memory where the
system has such a folder. `check` opens the store and looks up a key for each claim: both are timed in a store of one
run and in the large one. Elsewhere is the disk, memory, and an S3-like server (moto) in another process of this
machine. Processor time, medians; by the clock where that is said.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _table import Row, run, timed

from boundcheck.core.digest import digest
from boundcheck.core.store import Store, sizes_at

COUNT = 100_000
IN_MEMORY = Path("/dev/shm")  # on a disk 10^5 files take minutes to make and to remove
LINKS = 20_000  # of one file; file systems allow 65,000 and more
ARRAYS = {"rounds": np.arange(60), "values/dist2": np.linspace(1, 0, 60), "low/dist2": np.zeros(60)}
SPEC = {"method": {"kind": "scgd", "E": 4}, "problem": {"kind": "quadratics"}, "rounds": list(range(60))}


def large_store(path: Path) -> Store:
    store, source = Store(path), ""
    for number in range(COUNT):
        key = digest(number)
        if number % LINKS == 0:
            store.put(key, SPEC, ARRAYS, {})
            source = store.where(key)
        else:
            os.link(source, store.where(key))
    return store


def milliseconds(call: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    """The median of several calls."""
    return 1e3 * statistics.median(timed(call, clock)[0] for _ in range(repeats))


def puts_and_gets(where: str, place: str, repeats: int) -> Iterator[Row]:
    store = Store(place)
    keys = [digest(["put", number]) for number in range(repeats)]
    for name, call in (("put", lambda key: store.put(key, SPEC, ARRAYS, {})), ("get", store.get)):
        spent = statistics.median(timed(partial(call, key), time.perf_counter)[0] for key in keys)
        yield Row(f"{where}: {name}, by the clock", 1e3 * spent, "ms")
    absent = milliseconds(lambda: store.get(digest("absent")), repeats, time.perf_counter)
    yield Row(f"{where}: a key that is absent, by the clock", absent, "ms")


def s3_server() -> tuple[subprocess.Popen[str], str]:
    code = (
        "import time; from moto.server import ThreadedMotoServer as S\n"
        "s = S(ip_address='127.0.0.1', port=0, verbose=False); s.start()\n"
        "print('http://%s:%d' % s.get_host_and_port(), flush=True); time.sleep(600)"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}  # it tells every request
    server = subprocess.Popen([sys.executable, "-c", code], text=True, **pipes)
    assert server.stdout is not None
    return server, server.stdout.readline().strip()


def results() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.exists() else None) as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        Store(small).put(digest(0), SPEC, ARRAYS, {})
        large_store(large)
        for name, path in (("one run", small), (f"{COUNT} runs", large)):
            look = milliseconds(lambda p=path: Store(p).get(digest(0)), 200)
            yield Row(f"a folder of {name}: opening it and reading a run", look, "ms", 2)
        for what, call in (("keys", lambda: Store(large).keys()), ("keys and sizes", lambda: sizes_at(large))):
            yield Row(f"{what} of {COUNT} runs", milliseconds(call, 3) / 1e3, "s", 2)
    with tempfile.TemporaryDirectory() as folder:
        yield from puts_and_gets("a folder on the disk", str(Path(folder) / "puts"), 50)
    yield from puts_and_gets("memory", f"memory://{uuid.uuid4().hex}", 200)
    server, url = s3_server()
    try:
        os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_ENDPOINT_URL": url}
        os.environ |= {"AWS_DEFAULT_REGION": "us-east-1"}
        import s3fs

        s3fs.S3FileSystem().mkdir("runs")
        place = f"s3://runs/{uuid.uuid4().hex}"
        yield from puts_and_gets("S3-like storage", place, 100)
        listing = milliseconds(lambda: sizes_at(place), 5, time.perf_counter)
        yield Row("S3-like storage: listing 100 runs, by the clock", listing, "ms")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
