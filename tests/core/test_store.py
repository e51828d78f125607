"""The result store: whole results only, whatever happens to the writer."""

import dataclasses
import errno
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from boundcheck.core import store as module
from boundcheck.core.arrays import pack_arrays, unpack_arrays
from boundcheck.core.digest import Undigestible, digest
from boundcheck.core.store import AnyCheckpoint, NullCheckpoint, Store, Stored, run_stored
from boundcheck.errors import BadInput, StoreError

SPEC = {"method": {"kind": "scgd", "E": 4, "eta": Fraction(1, 3)}, "seeds": [0, 1], "x": 0.1}
KEY = digest(SPEC)
ARRAYS = {"rounds": np.arange(5), "dist2": np.array([1.0, 0.5, 0.25, -0.0, np.nan])}
META = {"exact": True, "worst": 0.1}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return pack_arrays(left) == pack_arrays(right)


def partials(store: Store) -> list[str]:
    folder = store.path / ".partial"
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_put_and_get(store: Store) -> None:
    assert store.get(KEY) is None
    assert store.keys() == []
    put = store.put(KEY, SPEC, ARRAYS, META)
    again = Store(store.path).get(KEY)
    assert again is not None
    for stored in (put, again):
        assert stored.key == KEY
        assert stored.spec == SPEC
        assert stored.meta == META
        assert same(stored.arrays, ARRAYS)
        assert stored.path == store.path / KEY
        assert not any(a.flags.writeable for a in stored.arrays.values())
    assert store.keys() == [KEY]
    assert partials(store) == []
    assert sorted(os.listdir(store.path / KEY)) == ["curve.npz", "done.json", "environment.json", "spec.json"]


def test_every_json_has_a_schema_and_no_host(store: Store) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    for name in ("spec.json", "environment.json", "done.json"):
        assert json.loads((store.path / KEY / name).read_text())["schema"] == 1
    environment = json.loads((store.path / KEY / "environment.json").read_text())
    assert environment["versions"]["numpy"] == np.__version__
    assert os.uname().nodename not in json.dumps(environment).split('"')


def test_any_reader_of_npz_reads_the_curve(store: Store) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    with np.load(store.path / KEY / "curve.npz", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["dist2"], ARRAYS["dist2"])
        assert archive.files == ["dist2", "rounds"]


def test_equal_arrays_give_equal_bytes(tmp_path: Path) -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    forms = [
        {"a": matrix, "b": np.array(3)},
        {"b": np.array(3), "a": np.asfortranarray(matrix)},
        {"a": matrix.astype(">f8"), "b": np.array(3, dtype=">i8")},
        {"a": np.repeat(matrix, 2, axis=1)[:, ::2], "b": np.array(3)},
    ]
    packed = {pack_arrays(form) for form in forms}
    assert len(packed) == 1
    for folder, form in enumerate(forms):
        Store(tmp_path / str(folder)).put(KEY, SPEC, form, META)
    for name in ("spec.json", "curve.npz", "done.json"):
        assert len({(tmp_path / str(i) / KEY / name).read_bytes() for i in range(len(forms))}) == 1
    back = unpack_arrays(packed.pop())
    assert back is not None
    assert back["b"].shape == ()
    assert {a.dtype.str for a in back.values()} == {"<f8", "<i8"}


dtypes = st.sampled_from(["<f8", ">f4", "<i8", "|b1", "|u1", "<c16", "<U3"])


@settings(deadline=None)
@given(dtypes, st.lists(st.integers(0, 3), max_size=3), st.integers(0, 2**32 - 1))
def test_arrays_come_back_bit_for_bit(dtype: str, shape: list[int], seed: int) -> None:
    count = int(np.prod(shape, dtype=int))
    raw = np.random.default_rng(seed).integers(0, 100, count)
    array = raw.astype(np.dtype(dtype)).reshape(shape)
    back = unpack_arrays(pack_arrays({"a": array}))
    assert back is not None
    assert back["a"].shape == tuple(shape)
    assert back["a"].dtype == array.dtype.newbyteorder("<")
    assert back["a"].tolist() == array.tolist()


def test_names_may_have_parts(store: Store) -> None:
    exact = np.array(["1/3", "-12345678901234567890/7"])
    stored = store.put(KEY, SPEC, {"values/dist2": np.ones(2), "exact/dist2": exact}, META)
    assert sorted(stored.arrays) == ["exact/dist2", "values/dist2"]
    assert stored.arrays["exact/dist2"].tolist() == exact.tolist()


def test_no_time_enters_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pack_arrays(ARRAYS)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(2e9))
    assert pack_arrays(ARRAYS) == before


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.array([object()])}, "the array 'a' holds Python objects"),
        ({"../a": np.zeros(1)}, r"'\.\./a' cannot name a stored array"),
        ({"values/../a": np.zeros(1)}, r"'values/\.\./a' cannot name a stored array"),
        ({"/a": np.zeros(1)}, "'/a' cannot name a stored array"),
        ({"": np.zeros(1)}, "'' cannot name a stored array"),
    ],
)
def test_unfit_arrays_are_refused(store: Store, arrays: dict[str, NDArray[Any]], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        store.put(KEY, SPEC, arrays, META)
    assert store.keys() == []
    assert partials(store) == []


def test_unfit_specifications_are_refused(store: Store) -> None:
    with pytest.raises(Undigestible, match=r"the specification\.f is of type function"):
        store.put(KEY, {"f": lambda: None}, ARRAYS, META)
    with pytest.raises(Undigestible, match=r"meta\.f is of type function"):
        store.put(KEY, SPEC, ARRAYS, {"f": lambda: None})
    assert store.keys() == []


@pytest.mark.parametrize("key", ["", "..", "../../etc", "ABCDEF0123456789", "0123", "f" * 129, "f" * 16 + "/x"])
def test_keys_are_digests(store: Store, key: str) -> None:
    for use in (store.get, store.checkpoint, lambda k: store.put(k, SPEC, ARRAYS, META)):
        with pytest.raises(BadInput, match="is no key of the result store"):
            use(key)


def damage_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def damage_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def damage_empty(path: Path) -> None:
    path.write_bytes(b"")


def damage_list(path: Path) -> None:
    path.write_bytes(b"[1]")


@pytest.mark.parametrize("name", ["spec.json", "curve.npz", "done.json", "environment.json"])
@pytest.mark.parametrize("damage", [damage_cut, damage_empty, damage_list, Path.unlink])
def test_damaged_runs_are_ignored_and_replaced(store: Store, name: str, damage: Callable[[Path], None]) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    damage(store.path / KEY / name)
    assert store.get(KEY) is None
    assert same(store.put(KEY, SPEC, ARRAYS, META).arrays, ARRAYS)
    assert store.get(KEY) is not None
    assert partials(store) == []


@pytest.mark.parametrize("name", ["spec.json", "curve.npz"])
def test_one_flipped_bit_is_noticed(store: Store, name: str) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    damage_bit(store.path / KEY / name)
    assert store.get(KEY) is None


def test_other_things_in_the_place_of_a_run(store: Store) -> None:
    (store.path / KEY).write_text("a file")
    assert store.get(KEY) is None
    store.put(KEY, SPEC, ARRAYS, META)
    other = digest("other")
    (store.path / KEY).rename(store.path / other)
    assert store.get(other) is None
    (store.path / KEY).mkdir()
    assert store.get(KEY) is None
    store.put(KEY, SPEC, ARRAYS, META)
    assert store.get(KEY) is not None


def test_pickles_are_never_loaded(store: Store, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    store.put(KEY, SPEC, ARRAYS, META)
    folder = store.path / KEY
    np.savez(folder / "curve.npz", a=np.array([Trap()], dtype=object))
    done = json.loads((folder / "done.json").read_text())
    done["sha256"]["curve.npz"] = module.hashlib.sha256((folder / "curve.npz").read_bytes()).hexdigest()
    (folder / "done.json").write_text(json.dumps(done))
    assert store.get(KEY) is None
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["done.json", "environment.json"])
def test_newer_schemas_are_said_and_kept(store: Store, name: str) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    path = store.path / KEY / name
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 2}))
    content = path.read_bytes()
    for use in (lambda: store.get(KEY), lambda: store.put(KEY, SPEC, ARRAYS, META)):
        with pytest.raises(StoreError, match=rf"{name} has schema 2, and this boundcheck reads schema 1 at most"):
            use()
    assert path.read_bytes() == content


def test_checkpoints(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    checkpoint = store.checkpoint(KEY)
    assert checkpoint.load() is None
    assert not checkpoint.due()
    now[0] += 5.0
    assert checkpoint.due()
    checkpoint.save({"x": np.arange(3), "k": np.array(7)})
    assert not checkpoint.due()
    loaded = store.checkpoint(KEY).load()
    assert loaded is not None
    assert same(loaded, {"x": np.arange(3), "k": np.array(7)})
    loaded["x"][0] = 5  # a computation goes on in place
    checkpoint.save({"x": np.arange(4)})
    assert same(store.checkpoint(KEY).load() or {}, {"x": np.arange(4)})
    assert store.get(KEY) is None
    assert store.keys() == []
    store.put(KEY, SPEC, ARRAYS, META)
    assert store.checkpoint(KEY).load() is None
    assert list((store.path / ".checkpoint").iterdir()) == []


@pytest.mark.parametrize("damage", [damage_cut, damage_bit, damage_empty, damage_list])
def test_damaged_checkpoints_are_ignored(store: Store, damage: Callable[[Path], None]) -> None:
    checkpoint = store.checkpoint(KEY)
    checkpoint.save(ARRAYS)
    damage(checkpoint.path)
    assert checkpoint.load() is None


def test_newer_checkpoints_are_said(store: Store) -> None:
    checkpoint = store.checkpoint(KEY)
    checkpoint.save(ARRAYS)
    checkpoint.path.write_bytes(checkpoint.path.read_bytes().replace(b"checkpoint 1 ", b"checkpoint 2 "))
    with pytest.raises(StoreError, match="has schema 2"):
        checkpoint.load()


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
    host, now = module._host(), time.time()
    dead, alive, foreign, old = (
        f"{host}-{finished_child()}-aa",
        f"{host}-{os.getpid()}-bb",
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
    os.utime(store.checkpoint(forgotten).path, (now - 31 * 86400, now - 31 * 86400))
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
    assert alone.path is None
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
