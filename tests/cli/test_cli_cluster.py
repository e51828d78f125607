"""Every command on a cluster: the output, files and store of one machine."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from cli_tools import DESCENT, FEDAVG, OUT, STUDIES, Answer, Run

import boundcheck as bc
from boundcheck.core.places import MARKER
from boundcheck.core.worker_process import pack
from boundcheck.evidence import stored
from boundcheck.falsify import all_readings

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

Both = Callable[..., list[Answer]]
Write = Callable[..., Path]

SAMPLED = """
[[claim]]
name = "sampled"
statement = "fedshuffle/theorem_5_1_convex/sharp"
problem = { kind = "fedshuffle_36" }
method = { kind = "fedshuffle", eta_l = "largest", participation = { kind = "uniform", size = 2 } }
at = { R = [1, 10, 1000] }
engine = "sampled"
seeds = 20000
expect = "HOLDS"
"""
SWEEP = """
kind = "compare"
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 2, eta = "largest" }
at = { K = [1, 10] }
chunk = 2
[grid]
method.E = [1, 2]
method.eta = ["largest", "1/1000"]
"""
BROKEN = "async_fl/lemma_1_jensen/as_printed"  # falls at once


class Carried:
    """Items that travel as they do to the worker of a cluster, and are carried out in this process."""

    def __init__(self, address: str, limit: float | None = None, shared: Path | str | None = None) -> None:
        pass

    def map(self, function: Any, items: Iterable[Any], on_done: Any = None, on_share: Any = None) -> list[Any]:
        results: list[Any] = []
        for item in items:
            sent, own, telling = pickle.loads(pack(function, item, on_share is not None))
            found = sent(own, lambda share: None) if telling else sent(own)
            results.append(pickle.loads(pickle.dumps(found)))
            if on_done is not None:
                on_done(len(results) - 1, results[-1])
        return results


@pytest.fixture(
    params=["carried", pytest.param("real", marks=pytest.mark.slow)],  # each command starts a scheduler and processes
    autouse=True,
)
def _cluster(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "carried":
        monkeypatch.setattr("boundcheck.core.cluster.ClusterExecutor", Carried)


def files(folder: Path) -> dict[str, bytes]:
    """All but the markers of stores, which differ on purpose."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return {name: content for name, content in found.items() if not name.endswith(MARKER)}


@pytest.fixture
def both(boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    """A command on this machine and on a cluster, each in a folder of its own: equal files, codes and JSON."""

    def run(*arguments: str | Path, apart: tuple[str, ...] = ()) -> list[Answer]:
        answers: list[Answer] = []
        for name, options in (("local", ("--workers", "1")), ("cluster", ("--cluster", "local:2"))):
            (tmp_path / name).mkdir()
            monkeypatch.chdir(tmp_path / name)
            monkeypatch.setenv("BOUNDCHECK_STORE", "store")
            answers.append(boundcheck_cli(*arguments, *options, "--json"))
        assert files(tmp_path / "cluster") == files(tmp_path / "local")
        assert answers[0].code == answers[1].code
        local, cluster = ({k: v for k, v in one.json.items() if k not in apart} for one in answers)
        assert local == cluster
        return answers

    return run


def test_check(both: Both, spec: Write, tmp_path: Path) -> None:
    both("check", spec(FEDAVG, OUT))
    assert len(list((tmp_path / "cluster" / "store").glob("*.npz"))) == 4  # two runs, two results


def test_tune(both: Both, spec: Write, tmp_path: Path) -> None:
    local, _ = both("tune", spec(DESCENT))
    assert local.json["claims"][0]["recommended"] is not None
    assert len(list((tmp_path / "cluster" / "store").glob("*.npz"))) == 1


@pytest.mark.slow  # all pages of a report, twice; `check` has the same path
def test_report(both: Both, spec: Write) -> None:
    both("report", spec(FEDAVG, OUT, STUDIES), "-o", "pages")


def test_falsify(both: Both) -> None:
    found = both("falsify", BROKEN, "--seeds", "2", "--budget", "200s", "-o", "witness.json", apart=("seconds",))
    assert found[0].code == 1


def test_sweep(both: Both, spec: Write) -> None:
    pytest.importorskip("pyarrow", reason="the extra 'data' is not installed")
    apart = ("peak_memory_bytes", "place")
    _, cluster = both("sweep", spec(SWEEP, name="sweep.toml"), "-o", "rows", apart=apart)
    assert (cluster.json["rows"], cluster.json["computed_chunks"]) == (4, 2)


@pytest.mark.slow  # the sampled engine compiles its kernels
def test_seeds_of_one_claim(both: Both, spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[int] = []
    held = stored._elsewhere  # pyright: ignore[reportPrivateUsage]

    def noted(run_seeds: Any, seeds: range, curve: Any, _: int, *rest: Any) -> Any:
        split.append(len(seeds))
        return held(run_seeds, seeds, curve, 20, *rest)

    monkeypatch.setattr("boundcheck.evidence.carry_out.MANY_SEEDS", 10)
    monkeypatch.setattr(stored, "WORTH", -1.0)
    monkeypatch.setattr(stored, "_elsewhere", noted)
    both("check", spec(SAMPLED))
    assert set(split) == {50}


def test_all_readings(boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ("async_fl/lemma_1_jensen/corrected", BROKEN, "fedshuffle/lemma_d_1/corrected")
    monkeypatch.setattr(all_readings, "believed", lambda: [bc.statement(id) for id in ids])
    kept = tmp_path / "searched.json"
    command = ("falsify", "--all", "--budget", "0.1s", "--seed", "1", "-o", kept, "--cluster", "local:2")
    found = boundcheck_cli(*command, "--json")
    assert (found.code, found.json["readings"], found.json["out_of_reach"]) == (1, 2, 1)
    assert [entry["statement"] for entry in json.loads(kept.read_text())["searches"]] == list(ids[:2])
    before = kept.read_bytes()
    assert boundcheck_cli(*command, "--json").json["broken"] == found.json["broken"]
    assert kept.read_bytes() == before
