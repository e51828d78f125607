"""Readings decided by the checker of an earlier commit, held against today's records; run by hand.

    python tests/old_kernel.py COMMIT [--ids ID ...] [--minutes 12]

The commit is unpacked into a folder of its own, and a process imports its package there and calls
`derivation(id).check()`.
That checker needs z3 and cvc5, which no record does. A status that differs is printed; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from boundcheck.proof.derive import recorded
from boundcheck.proof.discovery import shipped_readings

OLD = """
import json, sys, warnings
from time import process_time
warnings.simplefilter("ignore")
from boundcheck.proof.discovery import derivation
for id in sys.argv[1:]:
    begin = process_time()
    try:
        found = derivation(id).check()
        row = {"status": found.status.value, "steps": {r.step.name: r.status.value for r in found.results}}
    except Exception as error:  # what became of one reading, whatever it is
        row = {"status": f"{type(error).__name__}: {error}", "steps": {}}
    print(json.dumps({"id": id, "seconds": round(process_time() - begin, 2), **row}), flush=True)
"""
ALIKE = {"UNDECIDED": "OPEN"}  # what the checker could not decide, a record leaves open


def today(id: str) -> dict[str, Any]:
    """The statuses of a reading and of its steps by its record, which the verifier checks again."""
    found = recorded(id)
    return {"status": found.status.value, "steps": {r.step.name: r.status.value for r in found.results}}


def compared(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A sentence for each status that differs."""
    was, now = dict(old["steps"]), dict(new["steps"])
    pairs = [("the reading", old["status"], new["status"])]
    pairs += [(f"step '{name}'", was.get(name), now.get(name)) for name in {**was, **now}]
    return [f"{what}: was {a}, is {b}" for what, a, b in pairs if ALIKE.get(a, a) != b]


def main() -> int:
    """Compares and prints; 1 where a status differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commit", help="a tag or commit whose package has the checker")
    parser.add_argument("--ids", nargs="*", help="full ids of readings; all that are shipped where they are not given")
    parser.add_argument("--minutes", type=float, default=60, help="begin no reading after this many minutes")
    asked = parser.parse_args()
    ids = asked.ids or shipped_readings()
    root = Path(__file__).resolve().parents[1]
    counts, steps, differing = Counter[str](), 0, 0
    with tempfile.TemporaryDirectory() as place:
        archive = subprocess.run(["git", "-C", root, "archive", asked.commit], stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", place], input=archive.stdout, check=True)
        own = {**os.environ, "PYTHONPATH": place, "OMP_NUM_THREADS": "1"}
        command = ["timeout", str(60 * asked.minutes), sys.executable, "-c", OLD, *ids]
        with subprocess.Popen(command, env=own, cwd=place, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                old = json.loads(line)
                new = today(old["id"])
                apart = compared(old, new)
                counts[f"{old['status']} then, {new['status']} now"] += 1
                steps += len(new["steps"])
                differing += bool(apart)
                sys.stdout.write(f"{old['id']}: {'; '.join(apart) or 'alike'}  [{old['seconds']} s]" + "\n")
    whole = f"{sum(counts.values())} of {len(ids)} readings, {steps} steps, {differing} with a difference"
    sys.stdout.write(f"{whole}; {dict(counts)}\n")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
