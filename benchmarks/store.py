"""The result store: what a look-up costs in a small and in a large store, what listing costs, and puts and gets
elsewhere.

The large store has 10^5 runs in a folder; they are hard links to the files of a few real runs, in memory where the
system has such a folder. `check` opens the store and looks up a key for each claim: both are timed in a store of one
run and in the large one. Elsewhere is memory and an S3-like server (moto) in another process of this machine. Processor
time and medians where nothing else is said; the listing must take less than 2 s, and the look-up less than 2 ms.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import numpy as np

from boundcheck.core.digest import digest
from boundcheck.core.store import Store, sizes_at

COUNT = 100_000
IN_MEMORY = Path("/dev/shm")  # on a disk the 10^5 folders take minutes to make and to remove
LINKS = 20_000  # of one file; file systems allow 65,000 and more
ARRAYS = {"rounds": np.arange(60), "values/dist2": np.linspace(1, 0, 60), "low/dist2": np.zeros(60)}
SPEC = {"method": {"kind": "scgd", "E": 4}, "problem": {"kind": "quadratics"}, "rounds": list(range(60))}


def large_store(path: Path) -> Store:
    store = Store(path)
    for number in range(COUNT):
        key = digest(number)
        if number % LINKS == 0:
            store.put(key, SPEC, ARRAYS, {})
            names = os.listdir(path / key)
            source = path / key
        else:
            os.mkdir(path / key)
            for name in names:
                os.link(source / name, path / key / name)
    return store


def median_ms(call, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def processor_seconds(call) -> tuple[float, float]:
    start, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - start, time.perf_counter() - wall


def puts_and_gets(place: str, repeats: int) -> str:
    store = Store(place)
    keys = [digest(["put", number]) for number in range(repeats)]
    waiting = iter(keys)
    put = median_ms(lambda: store.put(next(waiting), SPEC, ARRAYS, {}), repeats)
    waiting = iter(keys)
    get = median_ms(lambda: store.get(next(waiting)), repeats)
    absent = median_ms(lambda: store.get(digest("absent")), repeats)
    return f"put {put:.2f} ms, get {get:.2f} ms, a key that is absent {absent:.2f} ms"


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


def main() -> int:
    missed = False
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.exists() else None) as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        Store(small).put(digest(0), SPEC, ARRAYS, {})
        large_store(large)
        looked = {}
        for name, path in (("one run", small), (f"{COUNT} runs", large)):
            looked[name] = median_ms(lambda p=path: Store(p).get(digest(0)), 200)
            print(f"a folder of {name}: opening it and reading a run {looked[name]:.3f} ms")
        added = abs(looked[f"{COUNT} runs"] - looked["one run"])
        missed |= looked[f"{COUNT} runs"] > 2
        print(f"the size of the store adds {added:.3f} ms a claim (goal: under 2 ms with the reading)")
        for what, call in (("keys", lambda: Store(large).keys()), ("keys and sizes", lambda: sizes_at(large))):
            runs = [processor_seconds(call) for _ in range(3)]
            used, wall = (statistics.median(column) for column in zip(*runs, strict=True))
            missed |= used > 2
            print(
                f"{what} of {COUNT} runs: {used:.2f} s of processor time, {wall:.2f} s by the clock (goal: under 2 s)"
            )
    with tempfile.TemporaryDirectory() as folder:
        print(f"a folder on the disk: {puts_and_gets(str(Path(folder) / 'puts'), 50)}")
    print(f"memory: {puts_and_gets(f'memory://{uuid.uuid4().hex}', 200)}")
    server, url = s3_server()
    try:
        os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_ENDPOINT_URL": url}
        os.environ |= {"AWS_DEFAULT_REGION": "us-east-1"}
        import s3fs

        s3fs.S3FileSystem().mkdir("runs")
        place = f"s3://runs/{uuid.uuid4().hex}"
        print(f"S3-like storage on this machine: {puts_and_gets(place, 100)}")
        runs = [processor_seconds(lambda: sizes_at(place))[1] for _ in range(5)]
        print(f"S3-like storage: listing 100 runs {statistics.median(runs) * 1e3:.0f} ms by the clock")
    finally:
        server.terminate()
        server.wait()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
