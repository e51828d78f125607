"""A neural run killed at random moments and started again gives the curve of an undisturbed one, byte for byte."""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest
from neural_killed import METHODS

KILLS = 2


class Server:
    """The program from which runs are forked."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.asked: IO[str] = process.stdin
        self.told: IO[str] = process.stdout

    def run(self, folder: Path, patience: float | None = None) -> int:
        """How a run into a folder ends that is killed after this many seconds."""
        self.asked.write(f"{folder}\n")
        self.asked.flush()
        pid = int(self.told.readline())
        if patience is not None and not select.select([self.told], [], [], patience)[0]:
            os.kill(pid, signal.SIGKILL)
        return int(self.told.readline())


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.npz")}


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_run_ends_like_an_undisturbed_one(method: str, tmp_path: Path) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    chance, in_the_middle = random.Random(20261122), 0
    program = Path(__file__).with_name("neural_killed.py")
    with subprocess.Popen(
        [sys.executable, str(program), method], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        server = Server(process)
        assert server.run(tmp_path / "first") == 0  # waits for the imports
        began = time.monotonic()
        assert server.run(undisturbed) == 0
        whole = time.monotonic() - began
        for _ in range(10 * KILLS):
            ended = server.run(disturbed, chance.uniform(0.1, 0.5) * whole)
            assert ended in (0, -signal.SIGKILL)
            if ended == 0:  # the processor is faster now than it was for the undisturbed run
                shutil.rmtree(disturbed)
                in_the_middle, whole = 0, whole / 2
                continue
            in_the_middle += any((disturbed / ".checkpoint").glob("*"))
            if in_the_middle == KILLS:
                break
        assert in_the_middle >= 2
        assert server.run(disturbed) == 0
        process.communicate()
    expected = _files(undisturbed)
    assert len(expected) == 1
    assert _files(disturbed) == expected
    assert _files(tmp_path / "first") == expected
