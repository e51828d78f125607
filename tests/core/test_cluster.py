"""The executor of a cluster, with a scheduler and workers as real processes: results, and the first faults."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from cluster_items import Item, begun, stored, told
from cluster_tools import Machines, environment, is_running, machines, wait_for

from boundcheck.core.cluster import ClusterExecutor, ClusterLost
from boundcheck.core.executor import SerialExecutor, Where, chosen_executor
from boundcheck.errors import BadInput

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the signals of these tests are POSIX's")

ITEMS = 4
CLIENT = """
import sys
from pathlib import Path
from cluster_items import Item, stored
from boundcheck.core.cluster import ClusterExecutor

if __name__ == "__main__":
    folder = Path(sys.argv[2])
    items = [Item(number, folder, "waits" if number < 2 else "") for number in range(int(sys.argv[3]))]
    print(ClusterExecutor(sys.argv[1], shared=folder / "store").map(stored, items))
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[Machines]:
    with machines(tmp_path_factory.mktemp("cluster")) as found:
        found.scheduler()
        found.worker()
        found.worker()
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "disturbed").mkdir()
    return tmp_path / "disturbed"


def items(folder: Path) -> list[Item]:
    """The first two wait until a file `go` is there, so that both workers are at work."""
    return [Item(number, folder, "waits" if number < 2 else "") for number in range(ITEMS)]


def undisturbed(folder: Path) -> tuple[list[Any], dict[str, bytes]]:
    folder.mkdir()
    (folder / "go").touch()
    return SerialExecutor().map(stored, items(folder)), runs(folder)


def runs(folder: Path) -> dict[str, bytes]:
    """The files of the store."""
    return {path.name: path.read_bytes() for path in (folder / "store").glob("*.npz")}


class Mapped(threading.Thread):
    """The items on the cluster, in a thread of this process."""

    def __init__(self, cluster: Machines, folder: Path) -> None:
        super().__init__()
        self.address, self.folder = cluster.address, folder
        self.results: list[Any] | ClusterLost = []
        self.start()
        wait_for(lambda: begun(folder, 0) and begun(folder, 1))

    def run(self) -> None:
        executor = ClusterExecutor(self.address, shared=self.folder / "store")
        try:
            self.results = executor.map(stored, items(self.folder))
        except ClusterLost as error:
            self.results = error

    def end(self) -> list[Any] | ClusterLost:
        (self.folder / "go").touch()
        self.join(60)
        return self.results


def test_a_worker_is_killed_in_the_middle_of_an_item(cluster: Machines, folder: Path, tmp_path: Path) -> None:
    mapped = Mapped(cluster, folder)
    (pid,) = begun(folder, 0)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not is_running(pid))
    cluster.worker()
    assert (mapped.end(), runs(folder)) == undisturbed(tmp_path / "undisturbed")
    assert [len(begun(folder, number)) for number in range(ITEMS)] == [2, 1, 1, 1]


def test_the_client_is_killed_and_started_again(cluster: Machines, folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(CLIENT)
    command = [sys.executable, str(script), cluster.address, str(folder), str(ITEMS)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL) as first:
        wait_for(lambda: begun(folder, 0) and begun(folder, 1))
        first.kill()
    assert runs(folder) == {}
    (folder / "go").touch()
    again = ClusterExecutor(cluster.address, shared=folder / "store").map(stored, items(folder))
    assert (again, runs(folder)) == undisturbed(tmp_path / "undisturbed")


def test_shares_reach_the_client_and_results_are_in_order(cluster: Machines, tmp_path: Path) -> None:
    heard, done = list[tuple[int, float]](), dict[int, int]()
    own = [Item(number, tmp_path) for number in range(40)]
    results = ClusterExecutor(cluster.address).map(
        told, own, lambda place, result: done.update({place: place}), lambda *share: heard.append(share)
    )
    assert results == sorted(done) == list(range(40))
    assert (0, 0.25) in heard


def test_a_lost_scheduler_is_said_and_the_same_call_goes_on(cluster: Machines, folder: Path, tmp_path: Path) -> None:
    mapped = Mapped(cluster, folder)
    cluster.running[0].kill()
    cluster.running[0].wait()
    mapped.join(60)
    assert isinstance(mapped.results, ClusterLost)
    assert "was lost; what is finished is kept, and the same command continues from there." in str(mapped.results)
    (folder / "go").touch()  # Dask's workers end with their scheduler, and what they are at before
    cluster.scheduler()
    cluster.worker()
    cluster.worker()
    again = Mapped(cluster, folder)
    assert (again.end(), runs(folder)) == undisturbed(tmp_path / "undisturbed")


@pytest.mark.slow  # a scheduler of its own; test_cli_cluster.py has every command on one
def test_a_cluster_of_this_process(tmp_path: Path) -> None:
    own = [Item(number, tmp_path) for number in range(5)]
    found = chosen_executor(Where(cluster="local:2"), tmp_path / "store").map(stored, own)
    assert found == SerialExecutor().map(stored, own)


def test_what_is_no_cluster_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_executor(Where(cluster="local:1")).map(stored, []) == []
    for address in ("nowhere", "local:0", "local:two", str(tmp_path)):
        with pytest.raises(BadInput, match="is neither the address of a scheduler"):
            chosen_executor(Where(cluster=address))
    with pytest.raises(BadInput, match="exclude each other"):
        chosen_executor(Where(2, "local:2"))
    monkeypatch.setattr("boundcheck.core.cluster.CONNECTING", 0.5)
    with pytest.raises(ClusterLost, match=r"^no scheduler answers at tcp://127\.0\.0\.1:9: "):
        ClusterExecutor("tcp://127.0.0.1:9").map(stored, [1])
