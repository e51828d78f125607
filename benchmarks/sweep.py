"""Sweeps of a bound: rows a second and core, of the evaluation and of whole chunks with their Parquet files, and the
memory of short and long sweeps.

The rows are those of SCGD's Theorem 3.3 over a grid of mu, eta and K and a Latin hypercube of L. Processor time,
medians of five chunks after the first; the goal is 10^6 rows a second. The memory is the peak of a process that
computes 2, 8 and 32 chunks: it must not grow by more than a tenth from 8 to 32.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time

from boundcheck.sweeps.dataset import Dataset
from boundcheck.sweeps.rows import columns_of
from boundcheck.sweeps.run import peak_memory
from boundcheck.sweeps.spec import sweep_from_text

SPEC = """kind = "bound"
statement = "scgd/theorem_3_3/corrected"
constants = { n = 20, E = 4, sigma2 = 1, dist2_0 = 4 }
[grid]
constants.mu = "log:1/10:8:20"
constants.eta = "log:1e-6:1e-3:700"
at.K = [10, 100, 1000]
[latin]
points = 100
constants.L = "lin:9:11"
"""


def seconds(call) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def compute(chunks: int) -> None:
    """Computes some chunks and prints the peak memory of this process."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = Dataset(sweep_from_text(SPEC), folder)
        for chunk in range(chunks):
            dataset.compute(chunk)
    print(json.dumps(peak_memory()))


def main() -> int:
    sweep = sweep_from_text(SPEC)
    with tempfile.TemporaryDirectory() as folder:
        dataset = Dataset(sweep, folder)
        dataset.compute(0)
        evaluated = [seconds(lambda k=k: columns_of(sweep, *sweep.range_of(k))) for k in range(1, 6)]
        whole = [seconds(lambda k=k: dataset.compute(k)) for k in range(1, 6)]
        size = sum(len(dataset.files.read(name) or b"") for name in dataset.files.names()) / (6 * sweep.chunk)
    rates = [sweep.chunk / statistics.median(times) for times in (evaluated, whole)]
    print(f"{sweep.rows} rows in chunks of {sweep.chunk}; {size:.1f} bytes of Parquet a row")
    print(f"evaluated: {rates[0]:.3g} rows a second and core; with their files: {rates[1]:.3g} (goal: 10^6)")
    peaks = []
    for chunks in (2, 8, 32):
        done = subprocess.run([sys.executable, __file__, str(chunks)], capture_output=True, text=True, check=True)
        peaks.append(json.loads(done.stdout))
        print(f"{chunks * sweep.chunk} rows: peak memory {peaks[-1] / 2**20:.0f} MiB")
    return int(rates[1] < 1e6 or peaks[2] > 1.1 * peaks[1])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        compute(int(sys.argv[1]))
    else:
        sys.exit(main())
