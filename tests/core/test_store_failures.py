"""The result store on disks that refuse, beside other writers, and killed in the middle."""

import dataclasses
import errno
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from store_tools import ARRAYS, KEY, META, SPEC, checkpoint_file, partials, same

from boundcheck.core.digest import digest
from boundcheck.core.files import host
from boundcheck.core.store import AnyCheckpoint, NullCheckpoint, Store, Stored, run_stored
from boundcheck.errors import StoreError


def full_disk(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def denied(*_: object, **__: object) -> Any:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "mkdir"])
@pytest.mark.parametrize(("failure", "text"), [(full_disk, "no space left on device"), (denied, "permission denied")])
def test_a_refusing_disk_leaves_nothing_half_written(
    store: Store, monkeypatch: pytest.MonkeyPatch, call: str, failure: Callable[..., Any], text: str
) -> None:
    monkeypatch.setattr(os, call, failure)
    with pytest.raises(StoreError, match=rf"^the result store .* cannot be written: {text}; free some space") as caught:
        store.put(KEY, SPEC, ARRAYS, META)
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert store.get(KEY) is None
    assert store.keys() == []
    assert partials(store) == []
    store.put(KEY, SPEC, ARRAYS, META)
    assert store.get(KEY) is not None


@pytest.mark.parametrize("call", ["write", "replace", "fsync"])
def test_a_refusing_disk_keeps_the_old_checkpoint(store: Store, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    checkpoint = store.checkpoint(KEY)
    checkpoint.save({"x": np.arange(3)})
    monkeypatch.setattr(os, call, full_disk)
    with pytest.raises(StoreError, match="no space left on device"):
        checkpoint.save({"x": np.arange(4)})
    monkeypatch.undo()
    assert same(checkpoint.load() or {}, {"x": np.arange(3)})
    assert partials(store) == []


def test_a_disk_that_fills_up_in_the_middle_of_a_file(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write, left = os.write, [700]

    def filling(descriptor: int, content: memoryview) -> int:
        if not left[0]:
            full_disk()
        part = content[: min(left[0], 100)]
        left[0] -= len(part)
        return write(descriptor, part)

    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(StoreError, match="no space left on device"):
        store.put(KEY, SPEC, ARRAYS, META)
    left[0] = 10**6  # short writes alone do no harm
    store.put(KEY, SPEC, ARRAYS, META)
    monkeypatch.undo()
    assert same((store.get(KEY) or pytest.fail("nothing stored")).arrays, ARRAYS)


def test_unreadable_runs_are_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(StoreError, match=r"^the result store cannot read .*: permission denied\.$"):
        store.get(KEY)
    with pytest.raises(StoreError, match="permission denied"):
        store.checkpoint(KEY).load()


def test_places_that_are_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is not a folder"):
        Store(tmp_path / "file")
    with pytest.raises(StoreError, match="holds files that boundcheck did not write"):
        Store(tmp_path)


def test_emptying_in_the_middle_costs_only_what_was_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from boundcheck.core import places

    mkdir, calls = os.mkdir, []

    def interfering(path: Any, *rest: Any) -> None:
        mkdir(path, *rest)
        calls.append(path)
        if Path(path).name == KEY and len(calls) < 4:
            places.empty(store.path)

    monkeypatch.setattr(os, "mkdir", interfering)
    store.put(KEY, SPEC, ARRAYS, META)
    assert store.get(KEY) is not None


def finished_child() -> int:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    return process.pid


def test_tidying(store: Store) -> None:
    here, now = host(), time.time()
    dead, alive, foreign, old = (
        f"{here}-{finished_child()}-aa",
        f"{here}-{os.getpid()}-bb",
        "0123456789ab-1-cc",
        "0123456789ab-1-dd",
    )
    for name in (dead, alive, foreign, old):
        (store.path / ".partial" / name).mkdir(parents=True)
        (store.path / ".partial" / name / "half").write_bytes(b"1")
    os.utime(store.path / ".partial" / old, (now - 90000, now - 90000))
    resumable, forgotten = digest(1), digest(2)
    for key in (resumable, forgotten):
        store.checkpoint(key).save(ARRAYS)
    os.utime(checkpoint_file(store, forgotten), (now - 31 * 86400, now - 31 * 86400))
    store.put(KEY, SPEC, ARRAYS, META)
    store.checkpoint(KEY).save(ARRAYS)  # a second process that was slower and then killed
    Store(store.path)
    assert partials(store) == sorted([alive, foreign])
    assert [p.name for p in (store.path / ".checkpoint").iterdir()] == [resumable]
    assert store.get(KEY) is not None


def test_run_stored_computes_once(store: Store) -> None:
    calls: list[AnyCheckpoint] = []

    def compute(checkpoint: AnyCheckpoint) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        calls.append(checkpoint)
        return {"x": np.asfortranarray(np.ones((2, 2), dtype=">f8"))}, {"n": 1}

    first = run_stored(store, KEY, SPEC, compute)
    second = run_stored(store, KEY, SPEC, compute)
    alone = run_stored(None, KEY, SPEC, compute)
    assert (first.reused, second.reused, alone.reused) == (False, True, False)
    assert len(calls) == 2
    assert isinstance(calls[1], NullCheckpoint)
    assert alone.place is None
    for stored in (first, second, alone):
        assert same(stored.arrays, {"x": np.ones((2, 2))})
        assert stored.arrays["x"].dtype.str == "<f8"
        assert not stored.arrays["x"].flags.writeable
        assert stored.meta == {"n": 1}
        assert stored.spec == SPEC


def test_run_stored_resumes(store: Store) -> None:
    starts: list[int] = []

    def compute(checkpoint: AnyCheckpoint) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        state = checkpoint.load()
        k, x = (0, 1.0) if state is None else (int(state["k"]), float(state["x"]))
        starts.append(k)
        while k < 10:
            k, x = k + 1, x * 0.7 + 0.1
            checkpoint.save({"k": np.array(k), "x": np.array(x)})
            if k == 6 and len(starts) == 1:
                raise KeyboardInterrupt
        return {"x": np.array(x)}, {}

    with pytest.raises(KeyboardInterrupt):
        run_stored(store, KEY, SPEC, compute)
    resumed = run_stored(store, KEY, SPEC, compute)
    assert starts == [0, 6]
    assert same(resumed.arrays, run_stored(None, KEY, SPEC, compute).arrays)


def test_null_checkpoint() -> None:
    nothing = NullCheckpoint()
    nothing.save(ARRAYS)
    assert nothing.load() is None
    assert nothing.due() is False


def test_results_are_frozen(store: Store) -> None:
    stored = store.put(KEY, SPEC, ARRAYS, META)
    assert isinstance(stored, Stored)
    with pytest.raises(dataclasses.FrozenInstanceError):
        stored.__setattr__("key", "x")
    with pytest.raises(ValueError, match="read-only"):
        stored.arrays["dist2"][0] = 3


def test_many_threads_put_the_same_run(store: Store) -> None:
    results: list[Stored] = []
    gate = threading.Barrier(8)

    def put() -> None:
        gate.wait()
        for _ in range(5):
            results.append(Store(store.path).put(KEY, SPEC, ARRAYS, META))

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 40
    assert all(same(r.arrays, ARRAYS) for r in results)
    assert store.keys() == [KEY]
    assert partials(store) == []


WRITER = """
    import contextlib, itertools, os, sys
    import numpy as np
    from boundcheck.core.digest import digest
    from boundcheck.core.store import Store

    store, start = Store(sys.argv[1]), int(sys.argv[2])
    print("ready", flush=True)
    for number in itertools.count(start):
        key = digest(number % 50)
        big = np.full(20000, number % 50)
        store.checkpoint(key).save({"x": big, "half": big[:10] / 2})
        store.put(key, number % 50, {"x": big}, {"n": number % 50})
        if number % 7 == 0:  # a damaged run to be replaced
            with contextlib.suppress(FileNotFoundError):  # the other one is replacing it
                os.truncate(store.path / key / "curve.npz", 100)
        if number % 5 == 0:
            store.checkpoint(key).save({"x": big, "half": big[:10] / 2})
"""


def check_whole(path: Path) -> int:
    reader, found = Store(path), 0
    for number in range(50):
        stored = reader.get(digest(number))
        if stored is not None:
            found += 1
            assert stored.spec == number
            assert stored.meta == {"n": number}
            assert stored.arrays["x"].tolist() == [number] * 20000
        state = reader.checkpoint(digest(number)).load()
        if state is not None:
            assert state["x"].tolist() == [number] * 20000
            assert state["half"].tolist() == [number / 2] * 10
    return found


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
def test_killed_writers_leave_only_whole_results(tmp_path: Path) -> None:
    script, path = tmp_path / "writer.py", tmp_path / "store"
    script.write_text(textwrap.dedent(WRITER))
    moments = random.Random(2)
    found = 0
    for attempt in range(5):
        writers = [
            subprocess.Popen(
                [sys.executable, str(script), str(path), str(13 * attempt)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)  # on the same keys
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0.02, 0.4))
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            _, errors = writer.communicate()
            assert writer.returncode == -signal.SIGKILL, errors
        found = check_whole(path)
        assert partials(Store(path)) == []
    assert found > 0
