"""The result store on disks that refuse, beside other writers, and killed in the middle."""

import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from store_tools import ARRAYS, FILE, KEY, META, SPEC, partials, same

from boundcheck.core import store as module
from boundcheck.core.digest import digest
from boundcheck.core.places import MARKER
from boundcheck.core.store import Store, Stored
from boundcheck.errors import BadInput, MissingExtra, StoreError


def refusing(code: int) -> Callable[..., Any]:
    def refuse(*_: object, **__: object) -> Any:
        raise OSError(code, os.strerror(code))

    return refuse


@pytest.mark.parametrize("call", ["replace", "makedirs"])
@pytest.mark.parametrize(
    ("code", "text"), [(errno.ENOSPC, "no space left on device"), (errno.EACCES, "permission denied")]
)
def test_a_refusing_disk_leaves_nothing_half_written(
    store: Store, monkeypatch: pytest.MonkeyPatch, call: str, code: int, text: str
) -> None:
    monkeypatch.setattr(os, call, refusing(code))
    with pytest.raises(StoreError, match=rf"^the result store .* cannot be written: {text}; free some space") as caught:
        store.put(KEY, SPEC, ARRAYS, META)
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert store.get(KEY) is None
    assert store.keys() == []
    assert partials(store) == []
    store.put(KEY, SPEC, ARRAYS, META)
    assert store.get(KEY) is not None


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX's")
def test_a_disk_that_fills_up_in_the_middle_of_a_file(store: Store) -> None:
    checkpoint = store.checkpoint(KEY)
    checkpoint.save({"x": np.arange(3)})
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        for write in (
            lambda: store.put(KEY, SPEC, {"x": np.zeros(100_000)}, META),
            lambda: checkpoint.save({"x": np.zeros(100_000)}),
        ):
            with pytest.raises(StoreError, match="cannot be written: file too large; free some space"):
                write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert store.get(KEY) is None
    assert same(checkpoint.load() or {}, {"x": np.arange(3)})  # the old one stays
    assert partials(store) == []


def test_unreadable_runs_are_said(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(place)
    store.put(KEY, SPEC, ARRAYS, META)
    monkeypatch.setattr(type(fsspec.core.url_to_fs(place)[0]), "cat_file", refusing(errno.EACCES))
    for read in (store.get, lambda key: store.checkpoint(key).load()):
        with pytest.raises(StoreError, match=r"^the result store cannot read .*: permission denied\.$"):
            read(KEY)


def test_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(f"memory://{uuid.uuid4().hex}")
    with pytest.raises(BadInput, match=r"the result store memory://\w+ is no folder\."):
        _ = store.path
    with pytest.raises(BadInput, match="nowhere://x cannot be reached: Protocol not known: nowhere"):
        Store("nowhere://x")
    if not find_spec("s3fs"):
        with pytest.raises(MissingExtra, match="s3://bucket cannot be reached: Install s3fs"):
            Store("s3://bucket")

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("Unable to locate\ncredentials.")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "pipe_file", refuse)
    with pytest.raises(StoreError, match=r"cannot be written: unable to locate credentials; free some space"):
        store.put(KEY, SPEC, ARRAYS, META)


def test_emptying_and_removing_in_the_middle_cost_only_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, calls = os.replace, list[str]()

    def interfering(partial: str, final: str) -> None:
        if final.endswith(FILE):
            calls.append(final)
            if len(calls) == 1:
                store.files.empty()
        replace(partial, final)

    monkeypatch.setattr(os, "replace", interfering)
    store.put(KEY, SPEC, ARRAYS, META)
    assert store.get(KEY) is not None
    shutil.rmtree(store.path)
    store.put(KEY, SPEC, ARRAYS, META)
    assert (store.path / MARKER).is_file()
    assert Store(store.path).get(KEY) is not None


def test_what_killed_writers_have_left_is_tidied_after_a_day(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for name, age in (("young", 3600), ("old", 90_000)):
        path = store.path / ".partial" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
        os.utime(path, (now - age, now - age))
    resumable, forgotten = digest(1), digest(2)
    for key in (KEY, resumable, forgotten):
        store.checkpoint(key).save(ARRAYS)
    os.utime(store.path / ".checkpoint" / f"{forgotten}.npz", (now - 31 * 86400, now - 31 * 86400))
    finished = store.files.read(f".checkpoint/{FILE}") or b""
    store.put(KEY, SPEC, ARRAYS, META)
    store.files.write(f".checkpoint/{FILE}", finished)  # by a second process that was slower and then killed
    monkeypatch.setattr(module, "_TIDIED", set())  # as in a new process
    Store(store.path)
    assert partials(store) == ["young"]
    assert [p.name for p in (store.path / ".checkpoint").iterdir()] == [f"{resumable}.npz"]
    assert store.get(KEY) is not None


def test_many_writers_of_the_same_run(place: str) -> None:
    """Some of them beside somebody who damages what is there."""
    results: list[Stored] = []
    gate = threading.Barrier(8)

    def put() -> None:
        gate.wait()
        for number in range(5):
            store = Store(place)
            results.append(store.put(KEY, SPEC, ARRAYS, META))
            found = store.get(KEY)
            assert found is None or same(found.arrays, ARRAYS)
            if number == 1:
                store.files.write(FILE, (store.files.read(FILE) or b"")[:-100])

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 40
    assert all(same(r.arrays, ARRAYS) for r in results)
    store = Store(place)
    assert same((store.get(KEY) or pytest.fail("nothing stored")).arrays, ARRAYS)
    assert (store.keys(), store.files.usage()[0]) == ([KEY], 1)


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
                os.truncate(store.path / f"{key}.npz", 100)
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
    for attempt in range(2):  # each starts two processes
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
    assert found > 0
    opened = Store(path)
    for leftover in (path / ".partial").glob("*"):
        os.utime(leftover, (0, 0))
    opened.files.tidy()
    assert partials(opened) == []
