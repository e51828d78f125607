"""The result store: whole results only, whatever happens to the writer."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from store_tools import ARRAYS, KEY, META, SPEC, checkpoint_file, partials, same

from boundcheck.core import store as module
from boundcheck.core.arrays import pack_arrays, unpack_arrays
from boundcheck.core.digest import Undigestible, digest
from boundcheck.core.files import LocalFiles
from boundcheck.core.places import MARKER
from boundcheck.core.store import Store
from boundcheck.errors import BadInput, StoreError


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
        assert stored.place == str(store.path / KEY)
        assert not any(a.flags.writeable for a in stored.arrays.values())
    assert store.keys() == [KEY]
    assert partials(store) == []
    assert sorted(os.listdir(store.path / KEY)) == ["curve.npz", "done.json", "environment.json", "spec.json"]


def test_a_new_store_is_marked_and_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    Store(tmp_path / "new").put(KEY, SPEC, ARRAYS, META)
    assert (tmp_path / "new" / MARKER).is_file()
    opened = Store(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    opened.put(KEY, SPEC, ARRAYS, META)
    assert (tmp_path / "gone" / MARKER).is_file()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(StoreError, match=r"thesis\.tex"):
        Store(tmp_path / "other").put(KEY, SPEC, ARRAYS, META)
    assert os.listdir(tmp_path / "other") == ["thesis.tex"]


@pytest.mark.parametrize("failures", [0, 1, 2, 3])
def test_an_action_whose_files_vanish_is_repeated_twice(store: Store, failures: int) -> None:
    folders: list[Path] = []

    def action(folder: Path) -> None:
        folders.append(folder)
        assert folder.is_dir()
        if len(folders) <= failures:
            raise FileNotFoundError(2, "No such file", str(folder))

    if failures == 3:
        with pytest.raises(StoreError, match="cannot be written: no such file"):
            LocalFiles(store.path).placing(action)
    else:
        LocalFiles(store.path).placing(action)
    assert len(set(folders)) == min(failures + 1, 3)
    assert partials(store) == []


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


def test_a_metric_with_a_colon_is_kept(store: Store) -> None:
    stored = store.put("ab" * 16, {"a": 1}, {"values/discrepancy:2": np.arange(3.0)}, {})
    assert stored.arrays["values/discrepancy:2"].tolist() == [0.0, 1.0, 2.0]


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
    damage(checkpoint_file(store))
    assert checkpoint.load() is None


def test_newer_checkpoints_are_said(store: Store) -> None:
    checkpoint = store.checkpoint(KEY)
    checkpoint.save(ARRAYS)
    file = checkpoint_file(store)
    file.write_bytes(file.read_bytes().replace(b"checkpoint 1 ", b"checkpoint 2 "))
    with pytest.raises(StoreError, match="has schema 2"):
        checkpoint.load()
