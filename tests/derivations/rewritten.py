"""Compares rewritten derivations with their stored proof records, and has new records of them verified.

    python tests/derivations/rewritten.py scgd fedshuffle/recursion_convex    (papers, statements or readings)
    python tests/derivations/rewritten.py --digests scgd                      (digests only, at once)

For each reading it prints whether the skeleton (statement, names, facts and laws) has the digest of the stored record,
what differs, whether the steps have the same names, for which steps the writer found no certificate, and what the
verifier says of the new record. Nothing is written beside the derivations. Readings with a refuted step have no record;
`refuted.json` has their digests and the steps that stay open. Exit code 1 where a digest differs, where another step
than those is open, or where the verifier refuses a new record. Seconds are processor time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from boundcheck.certificates.record import record_file, skeleton
from boundcheck.certificates.write import save, write_record
from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation, derived_readings, folder
from boundcheck.verify import boundcheck_verify

REFUTED: dict[str, Any] = json.loads((Path(__file__).parent / "refuted.json").read_bytes())


def readings(name: str) -> list[str]:
    """Full ids of a paper, a statement or a reading."""
    paper, *rest = name.split("/")
    if len(rest) == 2:
        return [name]
    names = rest or sorted(f.stem for f in (folder() / paper).glob("*.py"))
    return [f"{paper}/{n}/{reading}" for n in names for reading in derived_readings(paper, n)]


def differences(now: dict[str, Any], stored: dict[str, Any]) -> list[str]:
    """What the skeletons say differently, in sentences."""
    found: list[str] = []
    for key in ("statement", "names", "laws"):
        if now[key] != stored[key]:
            found.append(f"{key}: now {_only(now[key], stored[key])}, stored {_only(stored[key], now[key])}")
    rows, before = ({r["name"]: r for r in data["facts"]} for data in (now, stored))
    found += [f"fact '{n}' is new" for n in rows if n not in before]
    found += [f"fact '{n}' is gone" for n in before if n not in rows]
    for n in rows.keys() & before.keys():
        if rows[n] != before[n]:
            found.append(f"fact '{n}': now {_only(rows[n], before[n])}, stored {_only(before[n], rows[n])}")
    if not found and list(rows) != list(before):
        place = next(k for k, (a, b) in enumerate(zip(rows, before, strict=True)) if a != b)
        found.append(
            f"only the order of the facts: number {place} is '{list(rows)[place]}', stored '{list(before)[place]}'"
        )
    return found


def _only(a: Any, b: Any) -> Any:
    if isinstance(a, dict) and isinstance(b, dict):
        return {k: x for k, x in a.items() if b.get(k) != x}
    return [x for x in a if x not in b]


def compare(id: str, records: Path, digests: bool) -> tuple[bool, str]:
    """Whether all is well, and a report of some lines."""
    begin = time.process_time()
    now: Derivation = derivation(id)
    data, old, new = skeleton(now), record_file(folder(), id), record_file(records, id)
    stored: dict[str, Any] = json.loads(old.read_bytes()) if old.is_file() else REFUTED[id]
    same = data["digest"] == stored["digest"]
    if digests:
        more = differences(data, stored) if old.is_file() and not same else []
        return same, "\n    ".join([f"{id}: {'same digest' if same else 'ANOTHER DIGEST'}", *more])
    outcome = write_record(now, records)
    seconds = time.process_time() - begin
    if not old.is_file():
        steps, wanted = sorted(outcome.open), stored["open"]
        head = f"{id}: {'same digest' if same else 'ANOTHER DIGEST'}, open {steps}, {seconds:.1f} s"
        return same and steps == wanted, head + ("" if steps == wanted else f"; before {wanted}")
    said = [] if same else differences(outcome.data, stored)
    if outcome.data["steps"] != stored["steps"]:
        mine, theirs = outcome.data["steps"], stored["steps"]
        said.append(f"steps: new {_only(mine, theirs)}, gone {_only(theirs, mine)}, or in another order")
    said += [f"no certificate for step {step} ({reason[:200]})" for step, reason in outcome.open.items()]
    save(outcome, records)
    row = boundcheck_verify.examined(new)
    if not row["valid"]:
        shutil.copy(old, new)  # so that what cites it is still read
        said.append(f"the verifier refuses the new record: {row['verdict'][:300]}")
    well = same and not outcome.open and row["valid"]
    head = f"{id}: {'same digest' if same else 'ANOTHER DIGEST'}, {'valid' if row['valid'] else 'NOT VALID'}"
    lines = f"{len(outcome.data['lines'])} lines (stored {len(stored['lines'])}), {seconds:.1f} s"
    return well, "\n    ".join([f"{head}, {lines}", *said])


def main(names: list[str], digests: bool) -> int:
    """Compares all that is named."""
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        records = Path(place)
        for file in folder().glob("*/*.proof.json"):  # cited records are those that are stored
            (records / file.parent.name).mkdir(exist_ok=True)
            shutil.copy(file, records / file.parent.name / file.name)
        for id in (id for name in names for id in readings(name)):
            well, text = compare(id, records, digests)
            bad += not well
            print(text, flush=True)  # noqa: T201
    return 1 if bad else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--digests", action="store_true")
    sys.exit(main(parser.parse_args().names, parser.parse_args().digests))
