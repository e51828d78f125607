"""Write the frozen results anew: `.venv/bin/python tests/oracle/record.py [PART ...]`, from the root of the repository.

Parts: statements, steps, witnesses, verdicts, constants, hypotheses, seeds, options, limits, watched,
refusals; all of them without an argument. What is frozen may change only on purpose: the commit that changes it writes
the part anew and gives the reason for each difference of the data.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from boundcheck.cli import main
from tests.oracle import evidence, limits, options, refusals, runs, statements
from tests.oracle.frozen import write


def verdicts() -> dict[str, dict[str, Any]]:
    """The claims of all examples that tests carry out whole, run afresh."""
    found: dict[str, dict[str, Any]] = {}
    for stem in (*evidence.CHECKED, *evidence.CHECKED_ONE_BY_ONE):
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as store, contextlib.redirect_stdout(printed):
            os.environ["BOUNDCHECK_STORE"] = store
            main(["check", str(evidence.EXAMPLES / f"{stem}.toml"), "--workers", "1", "--json", "--exact"])
        found |= evidence.verdicts(printed.getvalue(), stem)
    return found


PARTS: Mapping[str, Callable[[], Mapping[str, Mapping[str, Any]]]] = {
    "statements": statements.described,
    "steps": evidence.steps,
    "witnesses": evidence.witnesses,
    "verdicts": verdicts,
    "constants": runs.constants,
    "hypotheses": runs.hypotheses,
    "seeds": runs.seeds,
    "options": options.described,
    "watched": options.watched,
    "refusals": refusals.described,
    "limits": limits.limits,
}


if __name__ == "__main__":
    unknown = [part for part in sys.argv[1:] if part not in PARTS]
    if unknown:
        sys.exit(f"there is no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}.")
    for part in sys.argv[1:] or PARTS:
        write(part, PARTS[part]())
