"""A report on several processes: equal bytes, bad studies, lost ones, those on a GPU, interruptions."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_tools import FEDAVG, LIMITS, OUT, Run, neural, training

from boundcheck.core.executor import Lost, SerialExecutor, Where
from boundcheck.errors import BadInput
from boundcheck.evidence import carry_out as execute
from boundcheck.evidence.carry_out import WorkerLost, carry_out_report
from boundcheck.evidence.limits import load_limits
from boundcheck.evidence.spec import load_claims
from boundcheck.evidence.studies import load_studies
from boundcheck.networks import provider
from boundcheck.report import other_pages
from boundcheck.report.words import page_names

Write = Callable[..., Path]

CYCLES = """
[[cycles]]
name = "Two points"
problem = { kind = "quadratics", start = [0], weights = ["2/3", "1/3"], clients = [{ A = 1, b = 0 }, { A = 1, b = 3 }] }
methods = [{ kind = "fedavg_async", times = [1, 1], K = 1, eta_g = "3/4" }]
parameter = "eta_l"
values = ["3/10"]
"""


@pytest.mark.slow  # a report with one and with two processes: fifteen seconds
def test_pages_do_not_depend_on_the_number_of_processes(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path = spec(FEDAVG, OUT, LIMITS, CYCLES, training())
    found: list[dict[str, bytes]] = []
    for workers in (1, 2):
        folder = tmp_path / f"report-{workers}"
        done = boundcheck_cli("report", path, "-o", folder, "--workers", str(workers), "--no-store")
        assert done.code == 0, done.err
        found.append({p.name: p.read_bytes() for p in folder.iterdir()})
    assert {"limits-where-it-ends.html", "study-two-points.html", "study-trained.html"} <= set(found[0])
    assert found[0] == found[1]


# with two processes it is their start that takes long
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_bad_study_does_not_stop_the_others(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    store = tmp_path / "own-store"
    monkeypatch.setenv("BOUNDCHECK_STORE", str(store))
    path = spec(neural("first", "cuda:99"), FEDAVG, training())
    done = boundcheck_cli("report", path, "-o", tmp_path / "report", "--workers", str(workers))
    assert done.code == 2
    early, refused = (text for text in done.err.splitlines() if " elapsed" not in text)  # progress on a slow machine
    assert early == f"written without the training that still runs: {tmp_path / 'report' / 'index.html'}"
    assert refused.startswith("boundcheck: study 'first': device = 'cuda:99' is not there: torch sees ")
    assert "Being computed" in (tmp_path / "report" / "index.html").read_text()
    assert len(list(store.glob("*.npz"))) == 5  # two trained methods, the claim's run, and the results of both


def test_a_lost_study_is_a_sentence(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Losing:
        """Loses cycles, as processes do that the system ends for want of memory."""

        def map(self, function: Any, items: Any, on_done: Any = None, on_share: Any = None) -> list[Any]:
            jobs = list(items)
            results = SerialExecutor().map(function, jobs, on_done, on_share)
            lost = Lost("the worker process of this item died twice, the last time by signal 9.")
            cycles = [getattr(job.what, "kind", "") == "cycles" for job in jobs]
            return [lost if c else r for c, r in zip(cycles, results, strict=True)]

    monkeypatch.setattr(execute, "chosen_executor", lambda *_, **__: Losing())
    done = boundcheck_cli("report", spec(FEDAVG, LIMITS, CYCLES), "-o", tmp_path / "report", "--workers", "2")
    assert done.code == 2
    assert done.err == (
        "boundcheck: study 'Two points': the worker process of this item died twice, the last time by signal 9. "
        "What is in the store is kept; --workers 1 needs the least memory.\n"
    )
    assert not (tmp_path / "report" / "index.html").exists()
    with pytest.raises(BadInput, match=r"study 'bad': .* is not there.*\nstudy 'Two points': the worker"):
        carry_out_report([], [], load_studies(spec(CYCLES, neural("bad", "cuda:99"))), store=None, where=Where(2))
    with pytest.raises(WorkerLost):
        carry_out_report([], [], load_studies(spec(CYCLES)), store=None, where=Where(2))


@pytest.mark.parametrize("alone", [True, False])
def test_what_computes_on_a_gpu_is_never_side_by_side(
    spec: Write, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    path = spec(*(neural(f"on {device} {k}", device) for k in range(2) for device in ("cpu", "cuda")))
    asked = load_studies(path)
    assert [a.neural for a in asked] == [{"device": d} for d in ("cpu", "cuda") * 2]
    here: list[str] = []
    sent: list[str] = []

    def noted(job: Any, tell: Callable[[float], None]) -> str:
        here.append(job.what.name)
        tell(0.5)
        return job.what.name

    class Elsewhere:
        """Stands in for other processes."""

        def map(self, function: Any, items: Any, on_done: Any = None, on_share: Any = None) -> list[Any]:
            names = [job.what.name for job in items]
            sent.extend(names)
            for place, name in enumerate(names):
                on_share(place, 0.25)
                on_done(place, name)
            return names

    monkeypatch.setattr(execute, "_carry_out", noted)
    monkeypatch.setattr(execute, "chosen_executor", lambda *_, **__: Elsewhere())
    monkeypatch.setattr(provider, "device_of", lambda settings: settings.device if alone else "cpu")
    found = carry_out_report([], [], asked, store=None, where=Where(2))
    names = [a.name for a in asked]
    assert found.studies == names  # each in its place, wherever it was carried out
    assert here == ([n for n in names if "cuda" in n] if alone else [])
    assert sent == ([n for n in names if "cpu" in n] if alone else names)


def test_claims_on_a_gpu_are_known(spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    (claim,) = load_claims(spec(FEDAVG))
    (study,) = load_studies(spec(training(), name="studies.toml"))
    monkeypatch.setattr(provider, "device_of", lambda settings: "cpu" if settings.device == "cpu" else "cuda")
    assert [execute._Job.of(what, None).on_gpu for what in (claim, study)] == [False, False]  # pyright: ignore[reportPrivateUsage]
    for neural_settings, on_gpu in ((None, True), ({"device": "auto"}, True), ({"device": "cpu"}, False)):
        own = replace(claim, engine="neural", neural=neural_settings)
        assert execute._Job.of(own, None).on_gpu is on_gpu  # pyright: ignore[reportPrivateUsage]


def test_what_runs_long_is_begun_first(spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def noted(job: Any, tell: Callable[[float], None]) -> Any:
        begun.append(getattr(job.what, "name", ""))
        return execute.Done(execute._lost(job.what, Lost("gone.")).result) if job.what is claim else job.what.name  # pyright: ignore[reportPrivateUsage]

    path = spec(FEDAVG, LIMITS, CYCLES, training("a"), training("b"))
    (claim,) = load_claims(path)
    monkeypatch.setattr(execute, "_carry_out", noted)
    found = carry_out_report([claim], load_limits(path), load_studies(path), store=None, where=Where(1))
    assert begun == ["Where it ends", "Two points", "one round", "a", "b"]  # one process alone: what is long comes last
    begun.clear()
    several = type("Several", (), {"map": SerialExecutor().map})
    monkeypatch.setattr(execute, "chosen_executor", lambda where, shared: several())
    early: list[execute.Reported] = []
    how: dict[str, Any] = {"store": None, "where": Where(2), "on_short": early.append}
    carry_out_report([claim], load_limits(path), load_studies(path), **how)
    assert begun == ["a", "b", "Where it ends", "Two points", "one round"]
    assert early == []  # nothing ran any more
    assert found.limits == ["Where it ends"]
    assert found.studies == ["Two points", "a", "b"]
    assert found.results[0].claim is claim


def test_studies_share_the_processes_without_being_asked(spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int | None] = []

    def processes(where: Where, shared: object) -> SerialExecutor:
        asked.append(where.workers)
        return SerialExecutor()

    monkeypatch.setattr(execute, "chosen_executor", processes)
    monkeypatch.setattr(execute, "_carry_out", lambda job, tell: job.what.name)  # pyright: ignore[reportUnknownLambdaType]
    for tables, started in (((CYCLES, training("a")), False), ((training("a"), training("b")), True)):
        asked.clear()
        carry_out_report([], [], load_studies(spec(*tables)), store=None)
        assert asked == ([None] if started else [])


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")
@pytest.mark.slow  # half a minute of training in two processes; interrupted claims are in test_cli_bad_input.py
def test_interrupted_and_resumed(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path = spec(training("short", 20), training("long", 5_000_000))
    store = Path(os.environ["BOUNDCHECK_STORE"])
    command = [sys.executable, "-m", "boundcheck", "report", str(path), "-o", str(tmp_path / "report")]
    process = subprocess.Popen(
        [*command, "--workers", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    end = time.monotonic() + 120
    while len(list(store.glob("*.npz"))) < 2:
        assert process.poll() is None
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "boundcheck: interrupted; what is finished is kept, and the same command continues from there.\n"
    kept = {p: p.stat().st_mtime_ns for p in store.glob("*.npz")}
    path.write_text(training("short", 20))
    done = boundcheck_cli("report", path, "-o", tmp_path / "report", "--workers", "2")
    assert done.code == 0, done.err
    assert {p: p.stat().st_mtime_ns for p in kept} == kept
    assert (tmp_path / "report" / "study-short.html").is_file()
    assert multiprocessing.active_children() == []


def test_pages_of_another_report_are_not_removed_in_silence(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    large, small = spec(FEDAVG, OUT), spec(FEDAVG, name="small.toml")
    first = boundcheck_cli("report", large, "-o", folder, "--workers", "1", "--no-store", "--json")
    assert first.code == 0, first.err
    assert first.json["removed"] == []
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    refused = boundcheck_cli("report", small, "-o", folder)
    assert refused.code == 2
    assert "holds a report with 1 page that this one does not have, such as outside.html" in refused.err
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    pages = {name for name in before if name.endswith(".html")} - {"index.html"}
    catalogue = {name for name in pages if name.startswith(("catalogue.", "paper.", "statement."))}
    assert page_names([c.label() for c in load_claims(large)], [], []) == pages - catalogue
    assert page_names(["A b", "a-b", "index"], ["L"], ["S", "s"]) == {
        *("a-b.html", "a-b-2.html", "index-2.html", "limits-l.html", "study-s.html", "study-s-2.html")
    }
    assert other_pages(folder, pages) == []
    done = boundcheck_cli("report", small, "-o", folder, "--replace", "--workers", "1", "--no-store")
    assert done.code == 0, done.err
    assert "removed: 1 page of the report that was there" in done.out
    assert not (folder / "outside.html").exists()
