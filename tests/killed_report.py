"""Reports killed at chosen moments.

As a program it takes a specification and two folders, writes the report into the first one undisturbed, and then, in
processes forked from this one so that the imports are done once, into the second one, first killed at each of the
MOMENTS in turn and then to its end. It prints how each process ended and how many runs it left finished.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from boundcheck.cli import main

# Before this call of this function: the second run is half written (a run is flushed six times, and the marker of the
# store once); the pages of the report are half in place.
MOMENTS = (("fsync", 10), ("replace", 4), None)


def killing(function: Callable[..., Any], at: int) -> Callable[..., Any]:
    """The function, whose call number `at` kills this process."""
    calls = 0

    def called(*given: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*given, **more)

    return called


def report(spec: str, folder: Path) -> int:
    """Write the report on one process, with a store beside it."""
    os.environ["BOUNDCHECK_STORE"] = str(folder / "store")
    return main(["report", spec, "-o", str(folder / "report"), "--workers", "1", "--json"])


def forked(spec: str, folder: Path, moment: tuple[str, int] | None) -> int:
    """How a process ends that writes the report and is killed at this moment."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if moment is not None:
            name, at = moment
            setattr(os, name, killing(getattr(os, name), at))
        os._exit(report(spec, folder))
    except BaseException:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    spec, undisturbed, disturbed = sys.argv[1:]
    if report(spec, Path(undisturbed)):
        sys.exit("the undisturbed report failed")
    for moment in MOMENTS:
        code = forked(spec, Path(disturbed), moment)
        finished = len(list((Path(disturbed) / "store").glob("*.npz")))
        pages = len(list((Path(disturbed) / "report").glob("*.html")))
        sys.stdout.write(f"\nended {code} {finished} {pages}")
