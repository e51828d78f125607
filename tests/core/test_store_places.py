"""One contract for the stores in a folder, in memory and on S3-like storage (moto's server on this machine)."""

from __future__ import annotations

import logging
import sys
import threading
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_tools import ARRAYS, KEY, META, SPEC, same

from boundcheck.cli import main
from boundcheck.core.digest import digest
from boundcheck.core.files import files_at
from boundcheck.core.places import MARKER, STORE_VARIABLE
from boundcheck.core.remote_files import remote_files
from boundcheck.core.seal import KEY_VARIABLE
from boundcheck.core.store import AnyCheckpoint, Store, run_stored, sizes_at
from boundcheck.errors import BadInput, MissingExtra, StoreError

pytest.importorskip("fsspec", reason="the extra `cluster` is not installed")
OTHER = digest("another")


@pytest.fixture(scope="session")
def s3() -> Generator[str]:
    """An empty bucket of a server on the loopback address; its URL."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server_module = pytest.importorskip("moto.server", reason="moto is not installed")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        import s3fs

        s3fs.S3FileSystem().mkdir("runs")
        yield "s3://runs"
    server.stop()


@pytest.fixture(params=["folder", "file", "memory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where nothing is."""
    if request.param == "folder":
        return str(tmp_path / "store")
    if request.param == "file":
        return f"file://{tmp_path}/a%20shared/store"
    if request.param == "memory":
        return f"memory://{uuid.uuid4().hex}"
    return f"{request.getfixturevalue('s3')}/{uuid.uuid4().hex}"


def damaged(store: Store, key: str) -> None:
    """Cuts off what a reader finds under a key."""
    if store.where(key).startswith(("memory://", "s3://")):
        store.files.write(key, (store.files.read(key) or b"")[:-100])
    else:
        path = store.path / key / "curve.npz"
        path.write_bytes(path.read_bytes()[:-100])


def test_put_and_get(place: str) -> None:
    store = Store(place)
    assert store.get(KEY) is None
    assert store.keys() == []
    put = store.put(KEY, SPEC, ARRAYS, META)
    for found in (put, Store(place).get(KEY)):
        assert found is not None
        assert found.spec == SPEC
        assert found.meta == META
        assert same(found.arrays, ARRAYS)
        assert found.place == store.where(KEY)
    assert store.keys() == [KEY]
    assert found.environment["schema"] == 1


def test_the_first_of_two_writers_stays(place: str) -> None:
    first, second = Store(place), Store(place)
    first.put(KEY, SPEC, ARRAYS, META)
    found = second.put(KEY, SPEC, {"rounds": np.arange(3)}, {"another": True})
    assert found.meta == META
    assert same(found.arrays, ARRAYS)


def test_many_writers_of_the_same_run_leave_one(place: str) -> None:
    gate, results = threading.Barrier(4), []

    def put() -> None:
        gate.wait()
        for number in range(3):
            store = Store(place)
            results.append(store.put(KEY, SPEC, ARRAYS, META))
            if number == 1:
                damaged(store, KEY)

    threads = [threading.Thread(target=put) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 12
    assert all(same(r.arrays, ARRAYS) for r in results)
    store = Store(place)
    store.put(KEY, SPEC, ARRAYS, META)  # the last word may have been the damage
    assert same((store.get(KEY) or pytest.fail("nothing stored")).arrays, ARRAYS)
    assert store.keys() == [KEY]


def test_a_damaged_run_counts_as_absent_and_is_replaced(place: str) -> None:
    store = Store(place)
    store.put(KEY, SPEC, ARRAYS, META)
    damaged(store, KEY)
    assert store.get(KEY) is None
    assert store.keys() == [KEY]
    assert same(store.put(KEY, SPEC, ARRAYS, META).arrays, ARRAYS)


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive at all", bytes(200)])
def test_bytes_that_are_no_archive_count_as_absent(content: bytes) -> None:
    store = Store(f"memory://{uuid.uuid4().hex}")
    store.files.write(KEY, content)
    assert store.get(KEY) is None
    store.put(KEY, SPEC, ARRAYS, META)
    assert store.get(KEY) is not None


def test_a_run_is_computed_once_and_goes_on_from_its_checkpoint(place: str) -> None:
    starts: list[int] = []

    def compute(checkpoint: AnyCheckpoint) -> tuple[dict[str, Any], dict[str, Any]]:
        state = checkpoint.load()
        starts.append(0 if state is None else int(state["k"]))
        if not starts[-1]:
            checkpoint.save({"k": np.array(5)})
            raise KeyboardInterrupt
        return {"x": np.arange(3)}, {}

    with pytest.raises(KeyboardInterrupt):
        run_stored(Store(place), KEY, SPEC, compute)
    assert not run_stored(Store(place), KEY, SPEC, compute).reused
    assert run_stored(Store(place), KEY, SPEC, compute).reused
    assert starts == [0, 5]
    assert Store(place).checkpoint(KEY).load() is None  # it went with the run


def test_the_key_of_a_shared_store(
    place: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(place)
    store.put(OTHER, SPEC, ARRAYS, META)
    monkeypatch.setenv(KEY_VARIABLE, "a secret")
    store.put(KEY, SPEC, ARRAYS, META)
    store.checkpoint(OTHER).save(ARRAYS)
    assert store.get(KEY) is not None
    with caplog.at_level(logging.WARNING, "boundcheck.store"):
        assert store.get(OTHER) is None  # written without the key
    assert f"{store.where(OTHER)} is not used, because it does not carry the seal" in caplog.text
    monkeypatch.setenv(KEY_VARIABLE, "another secret")
    assert store.get(KEY) is None
    assert store.checkpoint(OTHER).load() is None
    assert not run_stored(store, KEY, SPEC, lambda _: (ARRAYS, META)).reused
    assert store.get(KEY) is not None  # replaced by one with this key


def test_list_and_clean(place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(STORE_VARIABLE, place)
    assert sizes_at(place) == {}
    assert main(["clean", "--list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 runs, 0.0 MB"
    store = Store(place)
    store.put(KEY, SPEC, ARRAYS, META)
    store.put(OTHER, SPEC, {"x": np.arange(5000)}, META)
    store.checkpoint(digest(3)).save(ARRAYS)
    assert list(sizes_at(place)) == [OTHER, KEY]  # the largest first
    assert 40_000 < sizes_at(place)[OTHER] < 44_000
    assert main(["clean", "--list"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == [OTHER, str(sizes_at(place)[OTHER])]
    assert main(["clean", "--store", "--list"]) == 2
    assert main(["clean", "--store"]) == 0
    assert store.keys() == []
    assert store.files.usage() == (0, 0)
    assert Store(place).keys() == []  # still boundcheck's
    assert store.checkpoint(digest(3)).load() is None


def test_finished_checkpoints_are_tidied(place: str) -> None:
    store = Store(place)
    store.put(KEY, SPEC, ARRAYS, META)
    store.checkpoint(KEY).save(ARRAYS)  # by a process that was slower
    store.checkpoint(OTHER).save(ARRAYS)
    store.files.tidy(".checkpoint", 1e6)
    assert store.checkpoint(KEY).load() is None
    assert store.checkpoint(OTHER).load() is not None
    store.files.tidy(".checkpoint", -1e6)
    assert store.checkpoint(OTHER).load() is None


def test_a_place_with_other_files_is_refused(place: str) -> None:
    name = "thesis.tex"
    files = files_at(place)
    if place.startswith(("memory", "s3")):
        files.write(name, b"x")
    else:
        Path(files.place).mkdir(parents=True)
        (Path(files.place) / name).touch()
    with pytest.raises(StoreError, match=r"holds files that boundcheck did not write \(such as 'thesis\.tex'\)"):
        Store(place)
    with pytest.raises(StoreError, match=rf"was not made by boundcheck \(it has no file {MARKER}\)"):
        files.empty()
    assert files.read(name) is not None


def test_a_store_at_a_url_is_no_folder() -> None:
    with pytest.raises(BadInput, match=r"the result store memory://\w+ is no folder\."):
        _ = Store("memory://folder").path


def test_storage_that_does_not_answer(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match=r"store s3://elsewhere.* cannot be written: .*bucket does not exist"):
        Store("s3://elsewhere/store")
    store = Store(f"{s3}/{uuid.uuid4().hex}")

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("Unable to locate\ncredentials.")

    monkeypatch.setattr(store.files._system, "pipe_file", refuse)  # pyright: ignore
    with pytest.raises(StoreError, match=r"cannot be written: unable to locate credentials; free some space"):
        store.put(KEY, SPEC, ARRAYS, META)


def test_protocols_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="nowhere://x cannot be reached: Protocol not known: nowhere"):
        Store("nowhere://x")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    remote_files.cache_clear()
    with pytest.raises(MissingExtra, match=r'memory://y needs fsspec, .* pip install "boundcheck\[cluster\]"'):
        Store("memory://y")
    assert main(["clean"]) == 0  # a folder needs no fsspec
