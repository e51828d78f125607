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
    if value < 0:
        os._exit(3)
    return value * value


RAISED: dict[str, Exception] = {
    "unknown": UnknownName("The problem", "diabets", ["diabetes"]),
    "spec": SpecError("claims.toml", [(3, "bad")]),
    "store": StoreError("the disk is full."),
    "unicode": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    "local": RuntimeError("cannot travel", lambda: None),
}


def raises(kind: str) -> object:
    if kind in RAISED:
        raise RAISED[kind]
    return (lambda: None) if kind == "unsendable" else kind


def test_serial_and_parallel_agree_in_order() -> None:
    items, calls = list(range(8)), list[int]()
    expected = SerialExecutor().map(uneven, items, lambda index, _: calls.append(index))
    assert [r[0] for r in expected if not isinstance(r, Lost)] == items == calls
    seen: dict[int, object] = {}
    assert ProcessExecutor(3).map(uneven, iter(items), seen.__setitem__) == expected
    assert seen == dict(enumerate(expected))
    assert ProcessExecutor(3).map(uneven, []) == SerialExecutor().map(uneven, []) == []


def test_shares_reach_the_caller_and_a_lost_item_is_said() -> None:
    for executor, items in ((SerialExecutor(), [3, 4]), (ProcessExecutor(2), [3, 4, -1])):
        heard: list[tuple[int, float]] = []  # -1: done
        results = executor.map(
            telling,
            items,
            lambda i, _, heard=heard: heard.append((i, -1.0)),
            lambda *share, heard=heard: heard.append(share),
        )
        assert results[:2] == [9, 16]
        for index in (0, 1):
            shares = [share for i, share in heard if i == index]
            # processes leave out shares that follow at once, not the first one
            assert shares in ([0.25, 0.5, 1.0, -1.0], [0.25, -1.0])
    assert results[2] == Lost("the worker process of this item died twice, the last time with exit status 3.")


def test_dying_workers_cost_nobody_else_anything(tmp_path: Path) -> None:
    kinds, seen = ["a", "exit", "kill", "once", "c"], list[int]()
    results = ProcessExecutor(2).map(deadly, [(k, tmp_path) for k in kinds], lambda i, _: seen.append(i))
    lost = "the worker process of this item died twice, the last time"
    assert results == ["a", Lost(f"{lost} with exit status 7."), Lost(f"{lost} by signal 9."), "once", "c"]
    assert sorted(seen) == [0, 1, 2, 3, 4]
    tries = {k: len((tmp_path / f"{k}.log").read_text()) for k in kinds}
    assert tries == {"a": 1, "c": 1, "exit": 2, "kill": 2, "once": 2}


def test_exceptions_arrive_whole() -> None:
    for kind in ("spec", "unicode", "local"):
        with pytest.raises(type(RAISED[kind])) as caught:
            ProcessExecutor(1).map(raises, ["fine", kind])
        assert isinstance(caught.value.__cause__, WorkerTraceback)
        assert "in raises" in str(caught.value.__cause__)
        if kind == "spec":
            assert (str(caught.value), caught.value.problems) == ("claims.toml:3: bad", ((3, "bad"),))  # type: ignore[attr-defined]
        if kind == "local":  # which cannot travel itself
            assert str(caught.value).startswith("RuntimeError: ('cannot travel'")
    for kind in ("unknown", "store"):
        back = pickle.loads(pickle.dumps(RAISED[kind]))
        assert (type(back), str(back), vars(back)) == (type(RAISED[kind]), str(RAISED[kind]), vars(RAISED[kind]))


def test_what_cannot_travel_is_said() -> None:
    with pytest.raises((AttributeError, pickle.PicklingError), match=r"local object|Can't pickle"):
        ProcessExecutor(1).map(raises, ["unsendable"])
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


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
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
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_follow_an_interrupted_and_a_killed_parent(tmp_path: Path, how: signal.Signals) -> None:
    """Ctrl-C stops the rest, and keeps what is done."""
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
    if how is signal.SIGINT:
        os.killpg(process.pid, how)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (130, "interrupted\n", "")  # no traceback of a worker
        assert sorted(p.name for p in tmp_path.glob("done-*")) == ["done-0"]
        assert not (tmp_path / "started-3").exists()
    else:
        process.kill()
        process.communicate(timeout=60)
    wait_for(lambda: group_is_empty(process.pid))


def test_maps_from_another_thread_and_a_callback_that_fails_leaves_no_worker() -> None:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.extend(ProcessExecutor(1).map(square, [5])))
    thread.start()
    thread.join()
    assert results == [25]

    def fail(_: int, __: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ProcessExecutor(2).map(square, range(5), fail)
    assert multiprocessing.active_children() == []
