"""report and diff: what is absent, bad, lost or on a GPU, the order of the work, equal bytes, pages of old reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from cli_tools import FALSE, FEDAVG, LIMITS, OUT, Run, neural, training

from boundcheck.core.digest import package_version
from boundcheck.core.executor import Lost, SerialExecutor, Where
from boundcheck.errors import BadInput
from boundcheck.evidence import carry_out as execute
from boundcheck.evidence.carry_out import WorkerLost, carry_out_report
from boundcheck.evidence.limits import load_limits
from boundcheck.evidence.spec import load_claims
from boundcheck.evidence.studies import load_studies
from boundcheck.networks import provider
from boundcheck.networks.study import record
from boundcheck.problems import mnist_5k
from boundcheck.report.words import page_names
from tests.hidden_packages import hide

Write = Callable[..., Path]

CYCLES = """
[[cycles]]
name = "Two points"
problem = { kind = "quadratics", start = [0], weights = ["2/3", "1/3"], clients = [{ A = 1, b = 0 }, { A = 1, b = 3 }] }
methods = [{ kind = "fedavg_async", times = [1, 1], K = 1, eta_g = "3/4" }]
parameter = "eta_l"
values = ["3/10"]
"""
ABSENT_CLAIM = """
[[claim]]
name = "on images"
statement = "fedshuffle/theorem_5_1_strongly_convex"
problem = { kind = "logistic_regression", data = "mnist", clients = 2 }
method = { kind = "fedshuffle", eta_l = "largest" }
engine = "sampled"
expect = "HOLDS"
"""
ABSENT_LIMITS = LIMITS.replace('kind = "fedshuffle_36"', 'kind = "logistic_regression", data = "mnist"')
ABSENT_TRAINING = """
[[training]]
name = "trained on <images>"
source = "a test"
engine = "sampled"
problem = { kind = "softmax_regression", data = "mnist_5k", clients = 10 }
rounds = 2
points = 2
seeds = 2
compare = { metric = "f" }
methods = [{ label = "FedAvg", method = { kind = "fedavg_rr", eta_l = "1/100" } }]
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


# --- what is absent --------------------------------------------------------------------------------------------------


@pytest.fixture
def plain_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides torch, and the package that ships mnist_5k."""
    hide(monkeypatch, "torch")
    monkeypatch.setattr(record, "package_version", lambda name: None if name == "torch" else package_version(name))
    monkeypatch.setattr(mnist_5k, "_installed", lambda: None)
    mnist_5k.load.cache_clear()


@pytest.mark.usefixtures("plain_install")
def test_what_is_absent_gets_a_page_and_the_rest_is_written(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    wrong = boundcheck_cli("report", spec(FEDAVG, ABSENT_CLAIM.replace("eta_l =", "eta_k =")), "-o", folder)
    assert (wrong.code, "eta_k" in wrong.err, folder.exists()) == (2, True, False)
    path = spec(FEDAVG, ABSENT_CLAIM, ABSENT_LIMITS, ABSENT_TRAINING, neural("a network", "cpu"))
    found = boundcheck_cli("report", path, "-o", folder, "--workers", "1")
    assert found.code == 0, found.err
    data = json.loads((folder / "report.json").read_text())
    assert [c["label"] for c in data["claims"]] == ["one round"]
    missing = {m["name"]: m for m in data["not_run"]}
    commands = {
        "on images": ("claim", "boundcheck data fetch mnist"),
        "Where it ends": ("limits", "boundcheck data fetch mnist"),
        "trained on <images>": ("training", "boundcheck data fetch mnist_5k"),
        "a network": ("training", 'pip install "boundcheck[neural]"'),
    }
    assert set(missing) == set(commands)
    index = (folder / "index.html").read_text()
    assert "## Not run" in (folder / "report.md").read_text()
    for name, (kind, command) in commands.items():
        page = unescape((folder / missing[name]["page"]).read_text())
        assert (missing[name]["kind"], f"NOT RUN {name}: " in found.out) == (kind, True)
        assert all(part in page for part in ("Not run", command))
        assert command in missing[name]["why"]
        assert f'href="{missing[name]["page"]}"' in index
    assert "<images>" not in index
    assert boundcheck_cli("report", spec(FEDAVG), "-o", folder, "--workers", "1").code == 0
    assert not any((folder / m["page"]).exists() for m in missing.values())  # their pages go with them


@pytest.mark.slow  # all shipped claims: a quick test has the same for a specification of its own
@pytest.mark.usefixtures("plain_install")
def test_the_default_report_of_a_plain_install(boundcheck_cli: Run, tmp_path: Path) -> None:
    found = boundcheck_cli("report", "-o", tmp_path / "out", "--workers", "1")
    assert found.code == 0, found.err
    data = json.loads((tmp_path / "out" / "report.json").read_text())
    assert len(data["claims"]) > 20
    ways = ('pip install "boundcheck[neural]"', "boundcheck data fetch mnist_5k")
    assert [m for m in data["not_run"] if not any(way in m["why"] for way in ways)] == []
    assert data["not_run"]


# --- how the work is carried out -------------------------------------------------------------------------------------


@pytest.mark.slow  # a report with one and with two processes: fifteen seconds
def test_pages_do_not_depend_on_the_number_of_processes(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path = spec(FEDAVG, OUT, LIMITS, CYCLES, training())
    found: list[dict[str, bytes]] = []
    for workers in ("1", "2"):
        done = boundcheck_cli("report", path, "-o", tmp_path / workers, "--workers", workers, "--no-store")
        assert done.code == 0, done.err
        found.append(contents(tmp_path / workers))
    assert {"limits-where-it-ends.html", "study-two-points.html", "study-trained.html"} <= set(found[0])
    assert found[0] == found[1]


# with two processes it is their start that takes long
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_bad_study_does_not_stop_the_others(boundcheck_cli: Run, spec: Write, tmp_path: Path, workers: str) -> None:
    path, index = spec(neural("first", "cuda:99"), FEDAVG, training()), tmp_path / "report" / "index.html"
    done = boundcheck_cli("report", path, "-o", index.parent, "--workers", workers)
    assert done.code == 2
    early, refused = (text for text in done.err.splitlines() if " elapsed" not in text)  # progress on a slow machine
    assert early == f"written without the training that still runs: {index}"
    assert refused.startswith("boundcheck: study 'first': device = 'cuda:99' is not there: torch sees ")
    assert "Being computed" in index.read_text()
    # two trained methods, the claim's run, and the results of both
    assert len(list((tmp_path / "store").glob("*.npz"))) == 5


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
    assert (done.code, done.err) == (
        2,
        "boundcheck: study 'Two points': the worker process of this item died twice, the last time by signal 9. "
        "What is in the store is kept; --workers 1 needs the least memory.\n",
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
    asked = load_studies(spec(*(neural(f"on {device} {k}", device) for k in range(2) for device in ("cpu", "cuda"))))
    assert [a.neural for a in asked] == [{"device": d} for d in ("cpu", "cuda") * 2]
    here, sent = list[str](), list[str]()

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
    names = [a.name for a in asked]
    assert carry_out_report([], [], asked, store=None, where=Where(2)).studies == names  # each in its place
    assert here == ([n for n in names if "cuda" in n] if alone else [])
    assert sent == ([n for n in names if "cpu" in n] if alone else names)


def test_claims_on_a_gpu_are_known(spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    job = execute._Job.of  # pyright: ignore[reportPrivateUsage]
    (claim,), (study,) = load_claims(spec(FEDAVG)), load_studies(spec(training(), name="studies.toml"))
    monkeypatch.setattr(provider, "device_of", lambda settings: "cpu" if settings.device == "cpu" else "cuda")
    trained = [replace(claim, engine="neural", neural=own) for own in (None, {"device": "auto"}, {"device": "cpu"})]
    assert [job(what, None).on_gpu for what in (claim, study, *trained)] == [False, False, True, True, False]


def test_what_runs_long_is_begun_first(spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    path = spec(FEDAVG, LIMITS, CYCLES, training("a"), training("b"))
    (claim,) = load_claims(path)
    limits, studies = load_limits(path), load_studies(path)
    lost = execute._lost(claim, Lost("gone."))  # pyright: ignore[reportPrivateUsage]

    def noted(job: Any, tell: Callable[[float], None]) -> Any:
        begun.append(getattr(job.what, "name", ""))
        return lost if job.what is claim else job.what.name

    monkeypatch.setattr(execute, "_carry_out", noted)
    carry_out_report([claim], limits, studies, store=None, where=Where(1))
    assert begun == ["Where it ends", "Two points", "one round", "a", "b"]  # one process alone: what is long comes last
    begun.clear()
    asked: list[int | None] = []

    def processes(where: Where, shared: object) -> Any:
        asked.append(where.workers)
        return type("Several", (), {"map": SerialExecutor().map})()

    monkeypatch.setattr(execute, "chosen_executor", processes)
    early: list[execute.Reported] = []
    found = carry_out_report([claim], limits, studies, store=None, where=Where(2), on_short=early.append)
    assert begun == ["a", "b", "Where it ends", "Two points", "one round"]
    assert early == []  # nothing ran any more
    assert (found.limits, found.studies) == (["Where it ends"], ["Two points", "a", "b"])
    assert found.results[0].claim is claim
    for tables, started in (((CYCLES, training("a")), []), ((training("a"), training("b")), [None])):
        asked.clear()  # studies share the processes without being asked to
        carry_out_report([], [], load_studies(spec(*tables)), store=None)
        assert asked == started


# --- pages and their changes -----------------------------------------------------------------------------------------


def test_a_report_has_the_same_bytes_with_and_without_a_store(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    sampled = FEDAVG.replace("one round", "in samples").replace(
        'arithmetic = "rational"', 'engine = "sampled"\nseeds = 4'
    )
    path = spec(FEDAVG, sampled.replace('"HOLDS"', '"UNDECIDED"'))
    written: list[dict[str, bytes]] = []
    for name, more in (("plain", ["--no-store"]), ("stored", []), ("recalled", [])):
        assert boundcheck_cli("report", path, "-o", tmp_path / name, "--workers", "1", *more).code == 0
        written.append(contents(tmp_path / name))
    assert written[0] == written[1] == written[2]
    assert len(written[0]) == 9


def test_pages_of_another_report_are_not_removed_in_silence(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    folder, large, small = tmp_path / "report", spec(FEDAVG, OUT), spec(FEDAVG, name="small.toml")
    first = boundcheck_cli("report", large, "-o", folder, "--json")
    assert (first.code, first.json["removed"]) == (0, [])
    before = contents(folder)
    refused = boundcheck_cli("report", small, "-o", folder)
    assert refused.code == 2
    assert "holds a report with 1 page that this one does not have, such as outside.html" in refused.err
    assert contents(folder) == before
    others = ("index.", "catalogue.", "paper.", "statement.")
    pages = {name for name in before if name.endswith(".html") and not name.startswith(others)}
    assert page_names([c.label() for c in load_claims(large)], [], []) == pages
    assert page_names(["A b", "a-b", "index"], ["L"], ["S", "s"]) == {
        *("a-b.html", "a-b-2.html", "index-2.html", "limits-l.html", "study-s.html", "study-s-2.html")
    }
    done = boundcheck_cli("report", small, "-o", folder, "--replace")
    assert (done.code, "removed: 1 page of the report that was there" in done.out) == (0, True)
    assert not (folder / "outside.html").exists()


def test_diff(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    broken = FALSE.replace('"false"', '"one round"')
    reports = {"old": (FEDAVG, OUT), "new": (broken, FALSE), "ball": (FEDAVG.replace("rational", "ball"), OUT)}
    old, new, ball = (tmp_path / name for name in reports)
    for name, claims in reports.items():
        assert boundcheck_cli("report", spec(*claims), "-o", tmp_path / name).code == 0
    assert json.loads((old / "report.json").read_text())["counts"]["outcome"]["HOLDS"] == 1
    same = boundcheck_cli("diff", old, old / "report.json")
    assert (same.code, same.out) == (0, "nothing changed.\n")
    found = boundcheck_cli("diff", old, new, "--json")
    changes = {(c["claim"], c["what"]): (c["before"], c["after"], c["worse"]) for c in found.json["changes"]}
    assert found.code == 1
    assert changes["one round", "outcome"] == ("HOLDS", "VIOLATED", True)
    assert changes["outside", "claim"] == ("there", "gone", True)
    assert changes["false", "claim"] == ("absent", "new", False)
    assert boundcheck_cli("diff", new, old).code == 1  # "false" is gone
    weaker = boundcheck_cli("diff", old, ball)
    assert (weaker.code, all(grade in weaker.out for grade in ("EXACT", "SUPPORTED"))) == (1, True)
    assert boundcheck_cli("diff", ball, old).code == 0  # a stronger grade is a change, not for the worse
