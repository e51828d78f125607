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

from boundcheck.core import cluster as module
from boundcheck.core.cluster import ClusterExecutor
from boundcheck.core.executor import Lost, SerialExecutor
from boundcheck.core.places import Place
from boundcheck.core.store import Store
from boundcheck.errors import BadInput, StoreError

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytestmark = [
    pytest.mark.slow,  # a minute: processes that hang, grow and are started anew
    pytest.mark.skipif(os.name != "posix", reason="the signals of these tests are POSIX's"),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[Machines]:
    with machines(tmp_path_factory.mktemp("cluster")) as found:
        found.scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
        for has in ("data", "nothing"):  # with their nannies, as a user starts them
            found.worker("--memory-limit", "600MB", CLUSTER_TEST_HAS=has)
        yield found


def test_items_that_end_their_workers_are_lost_and_nothing_else(cluster: Machines, tmp_path: Path) -> None:
    """They crash, hang or take too much memory; Dask gives an item up after two workers, and it has a second chance."""
    kinds = ["a", "exits", "b", "hangs", "c", "kills", "d"]
    items = [Item(number, tmp_path, kind) for number, kind in enumerate(kinds)]
    results = ClusterExecutor(cluster.address, limit=6.0).map(faulty, items)
    lost = "all Dask workers that carried out this item were lost: it crashed or took too much memory"
    gone = Lost(f"{lost}, or took longer than 6 s.")
    assert results == ["a", gone, "b", gone, "c", gone, "d"]
    assert ClusterExecutor(cluster.address).map(faulty, [Item(7, tmp_path, "grows")]) == [Lost(f"{lost}.")]
    assert [len(begun(tmp_path, number)) >= 4 for number in (1, 3, 5, 7)] == [True] * 4
    wait_for(lambda: not any(is_running(pid) for pid in begun(tmp_path, 3)))


def test_what_a_worker_lacks_is_said_once_and_found_elsewhere(
    cluster: Machines, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    items = [Item(number, tmp_path, "data" if number < 4 else "never") for number in range(5)]
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)  # their nannies may be starting them anew
    with caplog.at_level(logging.WARNING, "boundcheck.cluster"):
        results = ClusterExecutor(cluster.address).map(lacks, items)
    assert results == [Found()] * 4 + [Found("no 'never' here.")]
    said = {record.getMessage() for record in caplog.records if "lacks something" in record.getMessage()}
    assert len([sentence for sentence in said if "no 'never' here." in sentence]) == 2


def test_workers_with_other_code_are_refused(
    cluster: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = module.facts()
    monkeypatch.setattr(module, "facts", lambda: {**own, "code": "changed"})
    said = r"^the worker tcp://127.0.0.1:\d+ on .* cannot take part: it has boundcheck code with digest"
    with pytest.raises(BadInput, match=said):
        ClusterExecutor(cluster.address).map(faulty, [Item(0, tmp_path, "a")])


def test_workers_that_see_another_store_are_refused(
    cluster: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(tmp_path / "store")
    monkeypatch.setattr(Place, "prepare", lambda self: b"the marker of this machine")
    with pytest.raises(BadInput, match=r"cannot take part: it does not see the result store .*/store; name a folder"):
        ClusterExecutor(cluster.address, shared=tmp_path / "store").map(faulty, [Item(0, tmp_path, "a")])


# The command `check`, whose work are items that wait until a file `go` is there.
CHECK = """
import sys
from pathlib import Path
from cluster_items import Item, stored
from boundcheck.cli import main
from boundcheck.evidence import carry_out
from boundcheck.core.cluster import ClusterExecutor

def work(*_, **__):
    folder = Path(sys.argv[2])
    items = [Item(number, folder, "waits" if number < 2 else "") for number in range(4)]
    print(ClusterExecutor(sys.argv[1], shared=folder / "store").map(stored, items))
    return []

if __name__ == "__main__":
    carry_out.carry_out = work
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
replace = os.replace
def refusing(source, target):
    if str(target).endswith(".npz") and (pathlib.Path(__file__).parent / "full").exists():
        raise OSError(errno.ENOSPC, "No space left on device")
    replace(source, target)
os.replace = refusing
"""


def test_the_command_goes_on_after_ctrl_c(cluster: Machines, tmp_path: Path) -> None:
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
    assert not list((tmp_path / "store").glob("*.npz"))
    (tmp_path / "go").touch()  # Dask's workers end what they have begun
    two = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert two.stdout.startswith(f"{SerialExecutor().map(stored, [Item(number, tmp_path) for number in range(4)])}\n")
    assert len(list((tmp_path / "store").glob("*.npz"))) == 4


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
        assert not list((tmp_path / "store").glob("*.npz"))
        (tmp_path / "full").unlink()
        assert executor.map(stored, items) == SerialExecutor().map(stored, items)
    assert len(list((tmp_path / "store").glob("*.npz"))) == 3
