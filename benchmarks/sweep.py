"""Sweeps of a bound: rows a second and core, of one statement with its files and of every statement without; memory.

The one statement is SCGD's Theorem 3.3 over a grid of mu, eta and K and a Latin hypercube of L. Of every other, all
symbols vary at once over wide ranges, where powers underflow and many points are out of scope. Processor time, medians
of five chunks after the first. Memory is the peak of the command and of its two workers at 10^4 and 10^6 rows.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _table import Row, run, timed

from boundcheck.errors import BoundcheckError
from boundcheck.sweeps.dataset import Dataset
from boundcheck.sweeps.rows import columns_of
from boundcheck.sweeps.spec import sweep_from_text
from boundcheck.theory.discovery import all_statements
from boundcheck.theory.evaluation import needed_symbols

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement
    from boundcheck.theory.symbols import Symbol

GOAL = 10**6
CHUNK = 131_072
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
MANY = """kind = "bound"
statement = "scgd/theorem_3_3/corrected"
constants = {{ n = 20, E = 4, sigma2 = 1, dist2_0 = 4, L = 10 }}
chunk = 5000
[grid]
constants.mu = [1, 2, 4, 8]
constants.eta = "log:1e-6:1e-3:{steps}"
at.K = "log:1:1000000:25:integer"
"""


def one() -> Iterator[Row]:
    sweep = sweep_from_text(SPEC)
    with tempfile.TemporaryDirectory() as folder:
        dataset = Dataset(sweep, folder)
        dataset.compute(0)
        evaluated = [timed(lambda k=k: columns_of(sweep, sweep.box(k)))[0] for k in range(1, 6)]
        whole = [timed(lambda k=k: dataset.compute(k))[0] for k in range(1, 6)]
        low, high = sweep.range_of(0)
        size = sum(len(dataset.files.read(name) or b"") for name in dataset.files.names()) / (6 * (high - low))
    yield Row("Theorem 3.3: evaluated", (high - low) / statistics.median(evaluated), "rows a second and core")
    rate, note = (high - low) / statistics.median(whole), f"{size:.1f} bytes of Parquet a row"
    yield Row("Theorem 3.3: with its files", rate, "rows a second and core", least=GOAL, note=note)


def memory() -> Iterator[Row]:
    first: dict[str, Any] = {}
    for rows in (10**4, 10**6):
        with tempfile.TemporaryDirectory() as folder:
            spec = Path(folder) / "sweep.toml"
            spec.write_text(MANY.format(steps=rows // 100))
            command = [sys.executable, "-m", "boundcheck", "sweep", str(spec), "-o", f"{folder}/out", "--workers", "2"]
            done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
        peak = json.loads(done.stdout)["peak_memory_bytes"]
        first = first or peak
        for where, used in peak.items():
            yield Row(f"{rows} rows: peak memory, {where}", used / 2**20, "MiB", most=round(1.1 * first[where] / 2**20))


def wide(symbol: Symbol) -> str:
    """Four decades of a symbol, within its declaration."""
    low = 1e-3 if symbol.low is None or symbol.low <= 0 else float(symbol.low)
    high = max(10.0, 10 * low) if symbol.high is None else 0.999 * float(symbol.high)
    if symbol.integer:
        low = max(1, round(low))
        return f'"log:{low}:{max(low + 1, 100 if symbol.high is None else round(high))}:integer"'
    return f'"log:{low if symbol.high is None else min(low, high / 100)!r}:{high!r}"'


def rate_of(claimed: Statement) -> float:
    """Rows a second; the first thousand rows compile, and draw the points."""
    names = needed_symbols(claimed)
    axes = "".join(f"constants.{s.name} = {wide(s)}\n" for s in claimed.symbols if s.name in names)
    text = f'kind = "bound"\nstatement = "{claimed.id}"\n[latin]\npoints = {2 * CHUNK}\n{axes}'
    sweep = sweep_from_text(text)
    columns_of(sweep, (range(1000),))
    return CHUNK / timed(lambda: columns_of(sweep, sweep.box(1)))[0]


def every() -> Iterator[Row]:
    rates: dict[str, float] = {}
    for claimed in all_statements():
        try:
            rates[claimed.id] = rate_of(claimed)
        except BoundcheckError:  # no symbols, or none that this range is for
            continue
    slowest = min(rates, key=lambda id: rates[id])
    yield Row(f"median of {len(rates)} statements", statistics.median(rates.values()), "rows a second and core")
    yield Row(f"how many are below {GOAL}", sum(rate < GOAL for rate in rates.values()))
    yield Row(f"the slowest, {slowest}", rates[slowest], "rows a second and core")


def results() -> Iterator[Row]:
    for part in (one, memory, every):
        yield from part()


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
