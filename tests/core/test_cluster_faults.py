"""Faults on a cluster of real processes: items that crash, hang or grow, and workers that lack things."""

import logging
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from cluster_items import Found, Item, begun, faulty, lacks
from cluster_tools import Machines, is_running, machines, wait_for

from boundcheck.core import cluster as module
from boundcheck.core.cluster import ClusterExecutor
from boundcheck.core.executor import Lost
from boundcheck.core.places import Place
from boundcheck.core.store import Store
from boundcheck.errors import BadInput

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


@pytest.mark.parametrize("what", ["code", "store"])
def test_workers_that_differ_are_refused(
    cluster: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """With other code, or if they see another result store."""
    own, shared = module.facts(), tmp_path / "store"
    Store(shared)
    if what == "code":
        monkeypatch.setattr(module, "facts", lambda: {**own, "code": "changed"})
        said = r"^the worker tcp://127.0.0.1:\d+ on .* cannot take part: it has boundcheck code with digest"
    else:
        monkeypatch.setattr(Place, "prepare", lambda self: b"the marker of this machine")
        said = r"cannot take part: it does not see the result store .*/store; name a folder"
    with pytest.raises(BadInput, match=said):
        ClusterExecutor(cluster.address, shared=shared).map(faulty, [Item(0, tmp_path, "a")])
