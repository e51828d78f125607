"""Faults on a cluster of real processes: items that crash, hang or grow, and workers that lack things."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from cluster_items import Found, Item, begun, faulty, lacks, stored
from cluster_tools import Machines, environment, is_running, machines, wait_for

from boundcheck.core.cluster import ClusterExecutor
from boundcheck.core.executor import Lost, SerialExecutor
from boundcheck.errors import BadInput, StoreError

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytestmark = [
    pytest.mark.slow,  # a minute: processes that hang, grow and are started anew
    pytest.mark.skipif(os.name != "posix", reason="the signals of these tests are POSIX's"),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[Machines]:
    with machines(tmp_path_factory.mktemp("cluster")) as found:
        found.scheduler()
        for has in ("data", "nothing"):  # with their nannies, as a user starts them
            found.worker("--memory-limit", "600MB", CLUSTER_TEST_HAS=has)
        yield found


def test_items_that_crash_hang_or_grow_are_lost_and_nothing_else(cluster: Machines, tmp_path: Path) -> None:
    kinds = ["a", "exits", "b", "hangs", "c"]
    items = [Item(number, tmp_path, kind) for number, kind in enumerate(kinds)]
    results = ClusterExecutor(cluster.address, limit=6.0).map(faulty, items)
    assert [results[i] for i in (0, 2, 4)] == ["a", "b", "c"]
    lost = "the worker process of this item died twice, the last time "
    assert results[1] == Lost(f"{lost}with exit status 7. Its last output: one line | the last line.")
    assert results[3] == Lost(f"{lost}stopped because the item took longer than 6 s.")
    (grown,) = ClusterExecutor(cluster.address).map(faulty, [Item(5, tmp_path, "grows")])
    assert isinstance(grown, Lost)
    assert grown.reason.startswith(f"{lost}stopped because it took 0.")
    assert grown.reason.endswith("GB, above its worker's limit of 0.6 GB.")
    assert [len(begun(tmp_path, number)) for number in range(6)] == [1, 2, 1, 2, 1, 2]


def test_an_item_that_kills_two_workers_is_lost(cluster: Machines, tmp_path: Path) -> None:
    items = [Item(number, tmp_path, kind) for number, kind in enumerate(["a", "kills", "b"])]
    results = ClusterExecutor(cluster.address).map(faulty, items)
    reason = "the worker process of this item died twice, the last time together with its Dask worker."
    assert results == ["a", Lost(reason), "b"]
    assert len(begun(tmp_path, 1)) == 2
    wait_for(lambda: not any(is_running(pid) for pid in begun(tmp_path, 1)))


def test_what_a_worker_lacks_is_said_once_and_found_elsewhere(
    cluster: Machines, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    items = [Item(number, tmp_path, "data" if number < 4 else "never") for number in range(5)]
    with caplog.at_level(logging.WARNING, "boundcheck.cluster"):
        results = ClusterExecutor(cluster.address).map(lacks, items)
    assert results == [Found()] * 4 + [Found("no 'never' here.")]
    said = [record.getMessage() for record in caplog.records if "lacks something" in record.getMessage()]
    assert len(said) == len(set(said))
    assert len([sentence for sentence in said if "no 'never' here." in sentence]) == 2


def test_the_same_item_twice_is_one_entry(cluster: Machines, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    twice = [Item(3, tmp_path), Item(3, tmp_path)]
    first, second = ClusterExecutor(cluster.address, shared=tmp_path / "store").map(stored, twice)
    assert first == second == SerialExecutor().map(stored, twice)[0]
    assert len(list((tmp_path / "store").glob("*/done.json"))) == 1


def test_a_store_that_cannot_be_written_is_a_sentence(cluster: Machines, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("in the way")
    with pytest.raises(StoreError, match="is not a folder"):
        ClusterExecutor(cluster.address).map(stored, [Item(1, tmp_path)])


def test_other_workers_are_refused(cluster: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from boundcheck.core import cluster as module

    own = module.shared_facts()
    monkeypatch.setattr(module, "shared_facts", lambda: {**own, "code": "changed"})
    said = r"^no worker can take part:\nthe worker tcp://127.0.0.1:\d+ on .* is refused: it has boundcheck code"
    with pytest.raises(BadInput, match=said):
        ClusterExecutor(cluster.address).map(faulty, [Item(0, tmp_path, "a")])


# The command `check`, whose work are items that wait until a file `go` is there.
CHECK = """
import sys
from pathlib import Path
from cluster_items import Item, stored
from boundcheck.cli import _execute, main
from boundcheck.core.cluster import ClusterExecutor

def work(*_, **__):
    folder = Path(sys.argv[2])
    items = [Item(number, folder, "waits" if number < 2 else "") for number in range(4)]
    print(ClusterExecutor(sys.argv[1], shared=folder / "store").map(stored, items))
    return []

if __name__ == "__main__":
    _execute.carry_out = work
    sys.exit(main(["check", sys.argv[3]]))
"""
CLAIM = """
[[claim]]
statement = "scgd/example_app_c_fedavg/corrected"
problem = { kind = "scgd_appendix_c" }
method = { kind = "fedavg", E = 2, eta = "1/10" }
at = { K = [1] }
expect = "HOLDS"
"""
# What a worker imports as it starts: its disk is full while the file `full` is there.
FULL_DISK = """
import errno, os, pathlib
fsync = os.fsync
def refusing(number):
    if (pathlib.Path(__file__).parent / "full").exists():
        raise OSError(errno.ENOSPC, "No space left on device")
    fsync(number)
os.fsync = refusing
"""


def test_ctrl_c_leaves_nothing_running_and_the_command_goes_on(cluster: Machines, tmp_path: Path) -> None:
    script, spec = tmp_path / "check.py", tmp_path / "claims.toml"
    script.write_text(CHECK)
    spec.write_text(CLAIM)
    command = [sys.executable, str(script), cluster.address, str(tmp_path), str(spec)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as one:
        wait_for(lambda: begun(tmp_path, 0) and begun(tmp_path, 1))
        one.send_signal(signal.SIGINT)
        out, err = one.communicate(timeout=60)
    assert (one.returncode, out) == (130, "")
    assert err == "boundcheck: interrupted; what is finished is kept, and the same command continues from there.\n"
    wait_for(lambda: not any(is_running(pid) for number in (0, 1) for pid in begun(tmp_path, number)), 10)
    (tmp_path / "go").touch()
    assert not list((tmp_path / "store").glob("*/done.json"))
    two = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert two.stdout.startswith(f"{SerialExecutor().map(stored, [Item(number, tmp_path) for number in range(4)])}\n")
    assert len(list((tmp_path / "store").glob("*/done.json"))) == 4


def test_a_disk_that_is_full_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(FULL_DISK)
    (tmp_path / "full").touch()
    items = [Item(number, tmp_path) for number in range(3)]
    with machines(tmp_path / "machines") as found:
        found.scheduler()
        found.worker(PYTHONPATH=f"{tmp_path}{os.pathsep}{environment()['PYTHONPATH']}")
        executor = ClusterExecutor(found.address, shared=tmp_path / "store")
        with pytest.raises(StoreError, match="cannot be written: no space left on device; free some space"):
            executor.map(stored, items)
        assert not list((tmp_path / "store").glob("*/done.json"))
        (tmp_path / "full").unlink()
        assert executor.map(stored, items) == SerialExecutor().map(stored, items)
    assert len(list((tmp_path / "store").glob("*/done.json"))) == 3
