"""What a store holds with sound checksums and yet is not believed: malformed content, and content without its seal."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_tools import ARRAYS, KEY, META, SPEC, checkpoint_file, partials, same

from boundcheck.core.arrays import pack_arrays
from boundcheck.core.seal import KEY_VARIABLE, is_sealed, seal
from boundcheck.core.store import AnyCheckpoint, Store, Stored, run_stored

Files = dict[str, bytes]


def compute(_: AnyCheckpoint) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return ARRAYS, META


def reseal(
    folder: Path, change: Callable[[Files], None], mark: Callable[[Files], dict[str, Any]] | None = None
) -> None:
    """Changes the files of a run and computes its checksums anew; mark: more entries of done.json."""
    files = {name: (folder / name).read_bytes() for name in ("spec.json", "curve.npz")}
    change(files)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    (folder / "done.json").write_text(json.dumps({"schema": 1, "sha256": sums} | ({} if mark is None else mark(files))))


def spec_of(**changes: Any) -> Callable[[Files], None]:
    """Entries of spec.json replaced; None: removed."""

    def change(files: Files) -> None:
        spec = json.loads(files["spec.json"])
        files["spec.json"] = json.dumps({k: v for k, v in {**spec, **changes}.items() if v is not None}).encode()

    return change


def npz(member: bytes, name: str = "rounds.npy", **how: Any) -> Callable[[Files], None]:
    """curve.npz with this one member."""

    def change(files: Files) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", **how) as archive:
            archive.writestr(name, member)
        files["curve.npz"] = packed.getvalue()

    return change


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def torn(files: Files) -> None:
    """The compressed member of an archive whose bytes are not what the format says."""
    npz(b"x" * 1000, compression=zipfile.ZIP_DEFLATED)(files)
    content = bytearray(files["curve.npz"])
    content[45:50] = b"\xff\xff\xff\xff\xff"
    files["curve.npz"] = bytes(content)


def encrypted(files: Files) -> None:
    npz(b"x")(files)
    content = bytearray(files["curve.npz"])
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    files["curve.npz"] = bytes(content)


MALFORMED: Mapping[str, Callable[[Files], None]] = {
    "no meta": spec_of(meta=None),
    "no spec": spec_of(spec=None),
    "meta a list": spec_of(meta=[1]),
    "a float that is none": spec_of(meta={"x": {"$float": "zz"}}),
    "a float that is a number": spec_of(meta={"x": {"$float": 5}}),
    "a fraction that is none": spec_of(spec={"$fraction": "1/0"}),
    "a fraction of a list": spec_of(spec={"$fraction": [1]}),
    "an integer that is none": spec_of(meta={"x": {"$int": None}}),
    "a table that is none": spec_of(meta={"$dict": 3}),
    "spec no JSON": lambda files: files.update({"spec.json": b"{"}),
    "spec nested too deeply": lambda files: files.update({"spec.json": b"[" * 100_000}),
    "no archive": lambda files: files.update({"curve.npz": b"PK"}),
    "empty": lambda files: files.update({"curve.npz": b""}),
    "no array": npz(b"text"),
    "a header that is no Python": npz(header("{'descr': '<f8', 'fortran_order': False, 'shape': (")),
    "a header with other keys": npz(header("{'a': 1}\n")),
    "a type that is none": npz(header("{'descr': 'zz', 'fortran_order': False, 'shape': (1,)}\n")),
    "an array beyond all memory": npz(header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**18,)}\n")),
    "an array of a petabyte": npz(header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000,)}\n")),
    "an array cut off": npz(header("{'descr': '<f8', 'fortran_order': False, 'shape': (9,)}\n") + b"1234"),
    "a pickle": npz(header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n") + b"cos\nsystem\n"),
    "torn": torn,
    "encrypted": encrypted,
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_run_that_does_not_parse_is_computed_again(store: Store, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    reseal(store.path / KEY, MALFORMED[kind])
    with caplog.at_level(logging.WARNING, "boundcheck.store"):
        found = run_stored(store, KEY, SPEC, compute)
    assert not found.reused
    assert same(found.arrays, ARRAYS)
    assert found.meta == META
    assert str(store.path / KEY) in caplog.text
    assert "computed again" in caplog.text
    assert run_stored(store, KEY, SPEC, compute).reused  # it was replaced
    assert partials(store) == []


def test_what_the_reader_refuses_is_computed_again(store: Store, caplog: pytest.LogCaptureFixture) -> None:
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


def test_meta_data_come_in_one_order_with_and_without_a_store(store: Store) -> None:
    def unordered(_: AnyCheckpoint) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return ARRAYS, {"z": 1, "a": {"y": (1, 2), "b": 0.1}}

    found = [run_stored(store, KEY, SPEC, unordered), run_stored(store, KEY, SPEC, unordered)]
    found.append(run_stored(None, KEY, SPEC, unordered))
    assert {json.dumps(f.meta) for f in found} == {'{"a": {"b": 0.1, "y": [1, 2]}, "z": 1}'}


# --- seals ---------------------------------------------------------------------------------------------------


def halved(files: Files) -> None:
    files["curve.npz"] = pack_arrays({**ARRAYS, "dist2": ARRAYS["dist2"] / 2})


def wrong_mark(_: Files) -> dict[str, Any]:
    return {"hmac": "0" * 64}


def mark_of_another_key(files: Files) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as other:
        other.setenv(KEY_VARIABLE, "another key")
        return {"hmac": seal(b"run", KEY.encode(), *files.values())}


@pytest.mark.parametrize("mark", [None, wrong_mark, mark_of_another_key, lambda _: {"hmac": 5}])
def test_an_altered_run_with_new_checksums_is_not_believed_under_a_key(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    mark: Callable[[Files], dict[str, Any]] | None,
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a secret")
    store.put(KEY, SPEC, ARRAYS, META)
    assert run_stored(store, KEY, SPEC, compute).reused
    reseal(store.path / KEY, halved, mark)
    found = run_stored(store, KEY, SPEC, compute)
    assert not found.reused
    assert same(found.arrays, ARRAYS)
    assert "seal of the key in BOUNDCHECK_STORE_KEY" in caplog.text
    assert run_stored(store, KEY, SPEC, compute).reused


def test_without_a_key_the_checksums_are_all_that_is_asked(store: Store) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    reseal(store.path / KEY, halved)
    found = store.get(KEY)
    assert found is not None
    assert found.arrays["dist2"][1] == 0.25


def test_a_run_that_was_stored_without_a_key_is_computed_again_under_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(KEY, SPEC, ARRAYS, META)
    monkeypatch.setenv(KEY_VARIABLE, "a secret")
    assert not run_stored(store, KEY, SPEC, compute).reused
    assert run_stored(store, KEY, SPEC, compute).reused
    monkeypatch.delenv(KEY_VARIABLE)
    assert run_stored(store, KEY, SPEC, compute).reused  # a seal does not disturb where none is asked for


def test_a_seal_is_of_one_run_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a secret")
    store.put(KEY, SPEC, ARRAYS, META)
    other = "ab" * 32
    done = (store.path / KEY / "done.json").read_text()
    (store.path / KEY).rename(store.path / other)
    reseal(store.path / other, spec_of(key=other), lambda _: {"hmac": json.loads(done)["hmac"]})
    assert store.get(other) is None


def test_an_altered_checkpoint_is_not_resumed_under_a_key(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a secret")
    checkpoint = store.checkpoint(KEY)
    checkpoint.save(ARRAYS)
    assert checkpoint.load() is not None
    head, _, _ = checkpoint_file(store).read_bytes().partition(b"\n")
    body = pack_arrays({"dist2": ARRAYS["dist2"] / 2})
    for marks in ([b""], [head.split(b" ")[-1]]):
        first = b" ".join([b"boundcheck checkpoint 1", hashlib.sha256(body).hexdigest().encode(), *filter(None, marks)])
        checkpoint_file(store).write_bytes(first + b"\n" + body)
        assert checkpoint.load() is None
    assert caplog.text.count("seal of the key") == 2
    monkeypatch.delenv(KEY_VARIABLE)
    assert checkpoint.load() is not None


def test_a_checkpoint_of_another_run_is_not_resumed_under_a_key(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a secret")
    store.checkpoint(KEY).save(ARRAYS)
    other = store.checkpoint("ab" * 32)
    checkpoint_file(store).rename(checkpoint_file(store, "ab" * 32))
    assert other.load() is None


def test_seals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert seal(b"a") is None
    assert is_sealed(None, b"a")
    monkeypatch.setenv(KEY_VARIABLE, "k")
    mark = seal(b"a", b"b")
    assert is_sealed(mark, b"a", b"b")
    for parts in ([b"ab"], [b"b", b"a"], [b"a", b"b", b""]):
        assert not is_sealed(mark, *parts)
    for wrong in (None, "", "é" * 64, 0, mark.upper() if mark else ""):
        assert not is_sealed(wrong, b"a", b"b")
    # HMAC by its definition (RFC 2104)
    digests = hashlib.sha256(b"a").digest() + hashlib.sha256(b"b").digest()
    inner = hashlib.sha256(b"k".ljust(64, b"\0").translate(bytes(c ^ 0x36 for c in range(256))) + digests).digest()
    outer = hashlib.sha256(b"k".ljust(64, b"\0").translate(bytes(c ^ 0x5C for c in range(256))) + inner).hexdigest()
    assert mark == outer
