"""The executors: order, independence of the number of workers, dying workers, Ctrl-C."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from boundcheck.core.executor import Lost, ProcessExecutor, SerialExecutor, Where, chosen_executor
from boundcheck.core.worker_process import WorkerTraceback
from boundcheck.errors import BadInput, SpecError, StoreError, UnknownName


def square(value: int) -> int:
    return value * value


def uneven(value: int) -> tuple[int, float]:
    time.sleep(0.02 * (value % 3))
    return value, sum(1 / k for k in range(1, value + 2))


def deadly(item: tuple[str, Path]) -> str:
    """Dies as its item says: 'exit', 'kill', 'once' (the first time only), or not at all."""
    kind, folder = item
    with (folder / f"{kind}.log").open("a") as log:
        log.write("x")
    if kind == "exit":
        os._exit(7)
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "once" and (folder / "once.log").read_text() == "x":
        os._exit(1)
    return kind


def telling(value: int, tell: Callable[[float], None]) -> int:
    for share in (0.25, 0.5, 1.0):
        tell(share)
    return value * value


def dies_telling(_: int, tell: Callable[[float], None]) -> int:
    tell(0.5)
    os._exit(3)


def raises(kind: str) -> str:
    if kind == "unknown":
        raise UnknownName("The problem", "diabets", ["diabetes"])
    if kind == "spec":
        raise SpecError("claims.toml", [(3, "bad")])
    if kind == "store":
        raise StoreError("the disk is full.")
    if kind == "unicode":
        b"\xff".decode("utf-8")
    if kind == "local":
        raise RuntimeError("cannot travel", lambda: None)
    return kind


def unsendable(_: int) -> object:
    return lambda: None


def test_serial_and_parallel_agree_in_order() -> None:
    items, calls = list(range(12)), list[int]()
    expected = SerialExecutor().map(uneven, items, lambda index, _: calls.append(index))
    assert [r[0] for r in expected if not isinstance(r, Lost)] == items == calls
    for workers in (1, 3):
        seen: dict[int, object] = {}
        results = ProcessExecutor(workers).map(uneven, iter(items), seen.__setitem__)
        assert results == expected
        assert seen == dict(enumerate(expected))
        assert ProcessExecutor(workers).map(uneven, []) == SerialExecutor().map(uneven, []) == []


def test_shares_reach_the_caller() -> None:
    for executor in (SerialExecutor(), ProcessExecutor(1), ProcessExecutor(2)):
        heard: list[tuple[int, float]] = []  # -1: done
        results = executor.map(
            telling,
            [3, 4],
            lambda i, _, heard=heard: heard.append((i, -1.0)),
            lambda *share, heard=heard: heard.append(share),
        )
        assert results == [9, 16]
        for index in (0, 1):
            told = [share for i, share in heard if i == index]
            # processes leave out shares that follow at once, not the first one
            assert told in ([0.25, 0.5, 1.0, -1.0], [0.25, -1.0])
    assert ProcessExecutor(1).map(dies_telling, [1], on_share=lambda *_: None) == [
        Lost("the worker process of this item died twice, the last time with exit status 3.")
    ]


def test_dying_workers_cost_nobody_else_anything(tmp_path: Path) -> None:
    kinds = ["a", "exit", "b", "kill", "once", "c"]
    seen: list[int] = []
    results = ProcessExecutor(2).map(deadly, [(k, tmp_path) for k in kinds], lambda i, _: seen.append(i))
    assert [results[i] for i in (0, 2, 4, 5)] == ["a", "b", "once", "c"]
    assert results[1] == Lost("the worker process of this item died twice, the last time with exit status 7.")
    assert results[3] == Lost("the worker process of this item died twice, the last time by signal 9.")
    assert sorted(seen) == [0, 1, 2, 3, 4, 5]
    tries = {k: len((tmp_path / f"{k}.log").read_text()) for k in kinds}
    assert tries == {"a": 1, "b": 1, "c": 1, "exit": 2, "kill": 2, "once": 2}


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("unknown", UnknownName, "did you mean 'diabetes'"),
        ("spec", SpecError, r"^claims.toml:3: bad$"),
        ("store", StoreError, r"^the disk is full\.$"),
        ("unicode", UnicodeDecodeError, "invalid start byte"),
        ("local", RuntimeError, r"^RuntimeError: \('cannot travel'"),
    ],
)
def test_exceptions_arrive_whole(kind: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        ProcessExecutor(1).map(raises, ["fine", kind])
    assert isinstance(caught.value.__cause__, WorkerTraceback)
    assert "in raises" in str(caught.value.__cause__)
    own = caught.value
    assert not isinstance(own, UnknownName) or own.name == "diabets"
    assert not isinstance(own, SpecError) or own.problems == ((3, "bad"),)


def test_what_cannot_travel_is_said() -> None:
    with pytest.raises((AttributeError, pickle.PicklingError), match="local object"):
        ProcessExecutor(1).map(unsendable, [1])
    with pytest.raises(BadInput, match="cannot be sent to a worker process"):
        ProcessExecutor(1).map(lambda x: x, [1])


def test_chosen_executor() -> None:
    assert isinstance(chosen_executor(Where(1)), SerialExecutor)
    two = chosen_executor(Where(2))
    assert isinstance(two, ProcessExecutor)
    assert two.workers == 2
    chosen_executor(Where())
    for workers in (0, -1):
        with pytest.raises(BadInput, match=f"workers = {workers} is not allowed"):
            chosen_executor(Where(workers))


SCRIPT = """
    import sys, time
    from pathlib import Path
    from boundcheck.core.executor import ProcessExecutor

    def work(item):
        folder, index = item
        (folder / f"started-{index}").touch()
        time.sleep(0 if index == 0 else 60)
        (folder / f"done-{index}").touch()

    if __name__ == "__main__":
        folder = Path(sys.argv[1])
        try:
            ProcessExecutor(2).map(work, [(folder, i) for i in range(6)])
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.exit(130)
"""


def start(tmp_path: Path) -> "subprocess.Popen[str]":
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own, which Ctrl-C reaches as a whole
    )
    wait_for(lambda: (tmp_path / "started-2").exists() and (tmp_path / "done-0").exists())
    return process


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def group_is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")
def test_interrupt_stops_the_rest_and_keeps_what_is_done(tmp_path: Path) -> None:
    process = start(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == "interrupted\n"
    assert err == ""  # no traceback of a worker
    assert sorted(p.name for p in tmp_path.glob("done-*")) == ["done-0"]
    assert not (tmp_path / "started-3").exists()
    wait_for(lambda: group_is_empty(process.pid))


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
def test_workers_follow_a_killed_parent(tmp_path: Path) -> None:
    process = start(tmp_path)
    process.kill()
    process.communicate(timeout=30)
    wait_for(lambda: group_is_empty(process.pid))


def test_a_callback_that_fails_leaves_no_worker() -> None:
    def fail(_: int, __: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ProcessExecutor(2).map(square, range(5), fail)
    assert multiprocessing.active_children() == []


def test_maps_from_another_thread() -> None:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.extend(ProcessExecutor(1).map(square, [5])))
    thread.start()
    thread.join()
    assert results == [25]
