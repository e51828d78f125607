"""The result store in a folder and in memory: what was put comes back bit for bit, and what is damaged never does."""

import hashlib
import io
import json
import logging
import os
import random
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_tools import ARRAYS, FILE, KEY, META, SPEC, partials, same

from boundcheck.core.arrays import pack_arrays, unpack, unpack_arrays
from boundcheck.core.digest import digest
from boundcheck.core.store import Checkpoint, Store, Stored, run_stored, sizes_at
from boundcheck.errors import BadInput, StoreError

OTHER = digest("another")
CHECKPOINT = f".checkpoint/{FILE}"


def compute(_: Checkpoint) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return ARRAYS, META


# --- one contract for all places -------------------------------------------------------------------------------


def test_put_and_get(place: str) -> None:
    store = Store(place)
    assert store.get(KEY) is None
    assert store.keys() == []
    put = store.put(KEY, SPEC, ARRAYS, META)
    again = Store(place).get(KEY)
    assert again is not None
    for stored in (put, again):
        assert (stored.key, stored.spec, stored.meta) == (KEY, SPEC, META)
        assert same(stored.arrays, ARRAYS)
        assert stored.place == store.where(KEY)
        assert not any(a.flags.writeable for a in stored.arrays.values())
        assert stored.environment["versions"]["numpy"] == np.__version__
    assert (put.reused, again.reused) == (False, True)
    assert store.keys() == [KEY]


def test_whoever_writes_last_changes_nothing(place: str) -> None:
    first, second = Store(place), Store(place)
    first.put(KEY, SPEC, ARRAYS, META)
    before = first.files.read(FILE)
    second.put(KEY, SPEC, {name: np.asfortranarray(array) for name, array in reversed(ARRAYS.items())}, dict(META))
    assert first.files.read(FILE) == before
    assert first.files.usage()[0] == 1  # nothing temporary is left


def test_a_run_is_computed_once_and_goes_on_from_its_checkpoint(place: str) -> None:
    starts: list[int] = []

    def interrupted(checkpoint: Checkpoint) -> tuple[dict[str, Any], dict[str, Any]]:
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
        run_stored(Store(place), KEY, SPEC, interrupted)
    resumed = run_stored(Store(place), KEY, SPEC, interrupted)
    assert not resumed.reused
    assert run_stored(Store(place), KEY, SPEC, interrupted).reused
    assert starts == [0, 6]
    assert same(resumed.arrays, run_stored(None, KEY, SPEC, interrupted).arrays)
    assert Store(place).checkpoint(KEY).load() is None  # it went with the run


def test_sizes_usage_and_emptying(place: str) -> None:
    assert sizes_at(place) == {}
    store = Store(place)
    assert store.files.usage() == (0, 0)
    store.put(KEY, SPEC, ARRAYS, META)
    store.put(OTHER, SPEC, {"x": np.arange(5000)}, META)
    sizes = sizes_at(place)
    assert list(sizes) == [OTHER, KEY]  # the largest first
    assert 40_000 < sizes[OTHER] < 42_000
    assert store.files.usage() == (2, sum(sizes.values()))
    store.checkpoint(digest(3)).save(ARRAYS)
    assert store.files.empty()[0] == 3
    assert store.keys() == []
    assert store.files.usage() == (0, 0)
    assert Store(place).keys() == []  # still boundcheck's
    assert store.checkpoint(digest(3)).load() is None


def test_checkpoints(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    store = Store(place)
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
    assert store.keys() == []
    other = store.checkpoint(OTHER)
    store.files.write(f".checkpoint/{OTHER}.npz", store.files.read(CHECKPOINT) or b"")
    assert other.load() is None  # it is of another run
    checkpoint.refuse(ValueError("not what the run had saved"))
    assert checkpoint.load() is None


def test_checkpoints_of_finished_and_forgotten_runs_are_tidied(place: str) -> None:
    store = Store(place)
    store.put(KEY, SPEC, ARRAYS, META)
    store.checkpoint(KEY).save(ARRAYS)  # by a process that was slower
    store.checkpoint(OTHER).save(ARRAYS)
    store.files.tidy(".checkpoint", 1e6, store.files.has)
    assert store.checkpoint(KEY).load() is None
    assert store.checkpoint(OTHER).load() is not None
    store.files.tidy(".checkpoint", -1e6)
    assert store.checkpoint(OTHER).load() is None


def test_without_a_store_the_result_is_the_same(place: str) -> None:
    seen: list[Checkpoint] = []

    def unordered(checkpoint: Checkpoint) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        seen.append(checkpoint)
        assert checkpoint.load() is None
        checkpoint.save(ARRAYS)
        array = np.asfortranarray(np.ones((2, 2), dtype=">f8"))
        return {"x": array}, {"z": 1, "a": {"y": (1, 2), "b": 0.1}}

    found = [run_stored(s, KEY, SPEC, unordered) for s in (Store(place), Store(place), None)]
    assert [f.reused for f in found] == [False, True, False]
    assert isinstance(seen[1], Checkpoint)
    assert seen[1].due() is False
    assert found[2].place is None
    assert {json.dumps(f.meta) for f in found} == {'{"a": {"b": 0.1, "y": [1, 2]}, "z": 1}'}
    for one in found:
        assert one.arrays["x"].dtype.str == "<f8"
        assert one.arrays["x"].tolist() == [[1, 1], [1, 1]]
        with pytest.raises(ValueError, match="read-only"):
            one.arrays["x"][0] = 3


# --- what a file holds -----------------------------------------------------------------------------------------


def test_any_reader_of_npz_reads_the_file(store: Store) -> None:
    exact = np.array(["1/3", "-12345678901234567890/7"])
    named = store.put(OTHER, SPEC, {"values/discrepancy:2": np.ones(2), "exact/dist2": exact}, META)
    assert sorted(named.arrays) == ["exact/dist2", "values/discrepancy:2"]
    assert named.arrays["exact/dist2"].tolist() == exact.tolist()
    store.put(KEY, SPEC, ARRAYS, META)
    with np.load(store.path / FILE, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["dist2"], ARRAYS["dist2"])
        assert archive.files == ["about.json", "dist2", "rounds"]
        about = json.loads(archive["about.json"])
    assert (about["schema"], about["key"], about["meta"]) == (2, KEY, {"exact": True, "worst": {"$float": (0.1).hex()}})
    assert os.uname().nodename not in json.dumps(about).split('"')


def test_equal_arrays_give_equal_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    forms = [
        {"a": matrix, "b": np.array(3)},
        {"b": np.array(3), "a": np.asfortranarray(matrix)},
        {"a": matrix.astype(">f8"), "b": np.array(3, dtype=">i8")},
        {"a": np.repeat(matrix, 2, axis=1)[:, ::2], "b": np.array(3)},
    ]
    packed = {pack_arrays(form) for form in forms}
    monkeypatch.setattr(time, "time", lambda: 2e9)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(2e9))
    packed.add(pack_arrays(forms[0]))
    assert len(packed) == 1
    back = unpack_arrays(packed.pop())
    assert back is not None
    assert back["b"].shape == ()
    assert {a.dtype.str for a in back.values()} == {"<f8", "<i8"}
    for code in ("<f8", ">f4", "<i8", "|b1", "|u1", "<c16", "<U3"):
        for shape in ((), (0,), (3,), (2, 0, 1), (2, 3)):
            array = np.arange(np.prod(shape, dtype=int)).astype(code).reshape(shape)
            arrays, about = unpack(pack_arrays({"a": array}, b"text"))
            assert (about, arrays["a"].shape, arrays["a"].tolist()) == (b"text", shape, array.tolist())
            assert arrays["a"].dtype == array.dtype.newbyteorder("<")


@pytest.mark.parametrize(
    ("spec", "arrays", "meta", "message"),
    [
        (SPEC, {"a": np.array([object()])}, META, "the array 'a' holds Python objects"),
        (SPEC, {"../a": np.zeros(1)}, META, r"'\.\./a' cannot name a stored array"),
        (SPEC, {"values/../a": np.zeros(1)}, META, r"'values/\.\./a' cannot name a stored array"),
        (SPEC, {"/a": np.zeros(1)}, META, "'/a' cannot name a stored array"),
        (SPEC, {"": np.zeros(1)}, META, "'' cannot name a stored array"),
        ({"f": print}, ARRAYS, META, r"the specification\.f is of type builtin_function"),
        (SPEC, ARRAYS, {"f": print}, r"meta\.f is of type builtin_function"),
    ],
)
def test_unfit_results_are_refused(store: Store, spec: Any, arrays: Any, meta: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        store.put(KEY, spec, arrays, meta)
    assert (store.keys(), partials(store)) == ([], [])


@pytest.mark.parametrize("key", ["", "..", "../../etc", "ABCDEF0123456789", "0123", "f" * 129, "f" * 16 + "/x"])
def test_keys_are_digests(store: Store, key: str) -> None:
    for use in (store.get, store.checkpoint, lambda k: store.put(k, SPEC, ARRAYS, META)):
        with pytest.raises(BadInput, match="is no key of the result store"):
            use(key)


# --- damage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [FILE, CHECKPOINT])
def test_every_flipped_bit_and_every_cut_is_noticed(place: str, name: str, caplog: pytest.LogCaptureFixture) -> None:
    store, moments = Store(place), random.Random(1)

    def write() -> bytes:
        store.put(KEY, SPEC, ARRAYS, META)
        store.checkpoint(KEY).save(ARRAYS)
        return store.files.read(name) or pytest.fail("nothing stored")

    def read() -> object:
        return store.get(KEY) if name == FILE else store.checkpoint(KEY).load()

    whole = write()
    bits = [moments.randrange(8 * len(whole)) for _ in range(300)]
    for bit in bits:
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        store.files.write(name, bytes(content))
        assert read() is None, f"bit {bit}"
    for content in (b"", b"PK", bytes(200), whole[:-7], whole[:100], whole + b"x"):
        store.files.write(name, content)
        assert read() is None
    assert f"{store.files.where(name)} is not used, because it is damaged; it is computed again" in caplog.text
    write()
    assert read() is not None


def npz(member: bytes, name: str = "rounds.npy", **how: Any) -> bytes:
    """An archive with about.json and this one member, with a sound checksum."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", **how) as archive:
        archive.writestr("about.json", json.dumps({"schema": 2, "key": KEY, "spec": {}, "meta": {}, "environment": {}}))
        archive.writestr(name, member)
        archive.comment = bytes(64)
    return resealed(packed.getvalue())


def resealed(content: bytes) -> bytes:
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def torn() -> bytes:
    """The compressed member of an archive whose bytes are not what the format says."""
    content = bytearray(npz(b"x" * 1000, compression=zipfile.ZIP_DEFLATED))
    at = content.index(b"rounds.npy") + 10
    content[at : at + 5] = b"\xff\xff\xff\xff\xff"
    return resealed(bytes(content))


def encrypted() -> bytes:
    content = bytearray(npz(b"x"))
    content[content.index(b"rounds.npy") - 24] |= 1
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    return resealed(bytes(content))


def about(**changes: Any) -> bytes:
    """A run whose about.json has these entries instead; None: without."""
    whole = {"schema": 2, "key": KEY, "spec": {}, "meta": {}, "environment": {}} | changes
    return pack_arrays(ARRAYS, json.dumps({k: v for k, v in whole.items() if v is not None}).encode())


MALFORMED: Mapping[str, Callable[[], bytes]] = {
    "no meta": lambda: about(meta=None),
    "no spec": lambda: about(spec=None),
    "no schema": lambda: about(schema=None),
    "a schema that is none": lambda: about(schema="2"),
    "of another run": lambda: about(key=OTHER),
    "meta a list": lambda: about(meta=[1]),
    "a float that is none": lambda: about(meta={"x": {"$float": "zz"}}),
    "a float that is a number": lambda: about(meta={"x": {"$float": 5}}),
    "a fraction that is none": lambda: about(spec={"$fraction": "1/0"}),
    "a fraction of a list": lambda: about(spec={"$fraction": [1]}),
    "an integer that is none": lambda: about(meta={"x": {"$int": None}}),
    "a table that is none": lambda: about(meta={"$dict": 3}),
    "no JSON": lambda: pack_arrays(ARRAYS, b"{"),
    "a list": lambda: pack_arrays(ARRAYS, b"[1]"),
    "nested too deeply": lambda: pack_arrays(ARRAYS, b"[" * 100_000),
    "nothing about it": lambda: pack_arrays(ARRAYS),
    "no archive": lambda: resealed(b"PK" + bytes(64)),
    "empty": lambda: resealed(bytes(64)),
    "no array": lambda: npz(b"text"),
    "a header that is no Python": lambda: npz(header("{'descr': '<f8', 'fortran_order': False, 'shape': (")),
    "a header with other keys": lambda: npz(header("{'a': 1}\n")),
    "a type that is none": lambda: npz(header("{'descr': 'zz', 'fortran_order': False, 'shape': (1,)}\n")),
    "an array beyond all memory": lambda: npz(header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**18,)}\n")),
    "an array of a petabyte": lambda: npz(
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000,)}\n")
    ),
    "an array cut off": lambda: npz(header("{'descr': '<f8', 'fortran_order': False, 'shape': (9,)}\n") + b"1234"),
    "a pickle": lambda: npz(header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n") + b"cos\nsystem\n"),
    "torn": torn,
    "encrypted": encrypted,
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_run_that_does_not_parse_is_computed_again(store: Store, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    store.files.write(FILE, MALFORMED[kind]())
    with caplog.at_level(logging.WARNING, "boundcheck.store"):
        found = run_stored(store, KEY, SPEC, compute)
    assert not found.reused
    assert same(found.arrays, ARRAYS)
    assert found.meta == META
    assert f"{store.path / FILE} is not used, because it does not parse" in caplog.text
    assert run_stored(store, KEY, SPEC, compute).reused  # it was replaced


def test_pickles_are_never_loaded(store: Store, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    member = io.BytesIO()
    np.save(member, np.array([Trap()], dtype=object))
    store.files.write(FILE, npz(member.getvalue()))
    assert store.get(KEY) is None
    assert not (tmp_path / "sprung").exists()


def test_what_the_reader_refuses_is_computed_again(place: str, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(place)
    store.put(KEY, SPEC, {"rounds": np.arange(3)}, META)
    refused: list[Stored] = []

    def check(found: Stored) -> None:
        refused.append(found)
        found.arrays["dist2"]

    found = run_stored(store, KEY, SPEC, compute, check)
    assert len(refused) == 1
    assert same(found.arrays, ARRAYS)
    assert "does not parse (KeyError)" in caplog.text
    assert run_stored(store, KEY, SPEC, compute, check).reused


def test_newer_files_are_said_and_kept(place: str) -> None:
    store, content = Store(place), about(schema=3)
    for name, use in (
        (FILE, lambda: store.get(KEY)),
        (FILE, lambda: run_stored(store, KEY, SPEC, compute)),
        (CHECKPOINT, lambda: store.checkpoint(KEY).load()),
    ):
        store.files.write(name, content)
        with pytest.raises(StoreError, match=rf"{name} has schema 3, and this boundcheck reads schema 2 at most"):
            use()
        assert store.files.read(name) == content
