"""Bad input of every kind: one sentence, the right exit code, nothing half-written, and a second run continues."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_tools import FEDAVG, LONG, Answer, Run

from boundcheck.cli import main

THEOREM = "scgd/theorem_3_3"
VALUES = {"mu": "1/10", "L": "1", "n": "20", "E": "4", "eta": "1e-5"}
ONE_CLAIM = "<a specification of one claim>"
MAIN = "import sys; from boundcheck.cli import main; sys.exit(main())"


def sets(**changed: str | None) -> list[str]:
    given = {**VALUES, **changed}
    return [part for name, value in given.items() if value is not None for part in ("--set", f"{name}={value}")]


def sentence(err: str) -> str:
    """What was said, which is one line of text and no traceback."""
    assert err.startswith("boundcheck: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err.removeprefix("boundcheck: ").strip()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mu": None, "mue": "1"}, "symbol 'mue' is unknown; did you mean 'mu'?"),
        ({"mu": None}, "the scope needs a value for mu"),
        ({"eta": "0"}, "eta = 0 is outside its domain: real numbers eta > 0."),
        ({"eta": "nan"}, "eta = 'nan' is not a number"),
        ({"eta": "inf"}, "eta = 'inf' is not a number"),
        ({"n": "-2"}, "n = -2 is outside its domain: integers n >= 1."),
        ({"n": "2.5"}, "n = 5/2 is outside its domain: integers n >= 1."),
        ({"mu": "3"}, "mu <= L is needed"),
        ({"mu": "__import__('os').system('x')"}, "is not a number"),
        ({"mu": "9**9**9**9"}, "mu = '9**9**9**9' is not a number"),
        ({"mu": "1e999999999"}, "exponent beyond"),
        ({"mu": "1/0"}, "divides by zero"),
        ({"mu": "sqrt(2)"}, "is not a number"),
        ({"mu": "1" * 5000}, "5000 characters"),
    ],
)
def test_values(boundcheck_cli: Run, changed: dict[str, str | None], said: str) -> None:
    for command, more in (("scope", []), ("evaluate", ["--set", "sigma2=1", "--set", "dist2_0=1", "--set", "K=3"])):
        found = boundcheck_cli(command, THEOREM, *sets(**changed), *more)
        assert found.code == 2
        assert found.out == ""
        expected = said.replace("the scope needs", "the bound needs") if command == "evaluate" else said
        assert expected in sentence(found.err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "scgd/theorem_33"], "the statement 'scgd/theorem_33' is unknown; did you mean 'scgd/theorem_3_3'"),
        (["show", "scgdd"], "the paper 'scgdd' is unknown; did you mean 'scgd'"),
        (["show", "nothing/x"], "the paper 'nothing' is unknown; known: "),
        (["show", ""], "is unknown"),
        (["list", "--paper", "scdg"], "the paper 'scdg' is unknown; did you mean 'scgd'?"),
        (["list", "--reading", "corected"], "did you mean 'corrected'"),
        (["evalute"], "evaluate"),
        (["evaluate", THEOREM, "--sett", "mu=1"], "--set"),
        (["evaluate"], "Missing argument"),
        (["scope", THEOREM, "--set", "mu"], "--set 'mu' is not of the form NAME=VALUE, such as mu=1/10."),
        (["scope", THEOREM, "--set", "mu=1", "--set", "mu=2"], "--set gives mu twice"),
        (["evaluate", THEOREM, *sets(eta=None), "--sweep", "eta=1:2"], "is not of the form NAME=LOW:HIGH:COUNT"),
        (["evaluate", THEOREM, *sets(eta=None), "--sweep", "eta=0:1:3"], "eta = 0 is outside its domain"),
        (["evaluate", THEOREM, *sets(), "--sweep", "eta=1:2:3"], "either set it or sweep it"),
        (["evaluate", THEOREM, *sets(), "--sweep", "K=0:1e9:1000001"], "from 2 to 1000000"),
        (["evaluate", THEOREM, *sets(), "--csv"], "--csv needs a --sweep"),
        (["evaluate", THEOREM, *sets(), "--sweep", "K=1,2", "--plot", "x.bmp"], "no known ending"),
        (["evaluate", THEOREM, *sets(), "--sweep", "K=1,2", "--plot", "no/such/x.svg"], "does not exist"),
        (["data", "fetch", "diabets"], "the data set 'diabets' is unknown; did you mean 'diabetes'"),
        (["data", "fetch", "diabetes", "--from", "/no/such"], "no such file or directory"),
        (["derive", "scgd/equation_2/conservative"], "has no derivation"),
        (["falsify", "async_fl/equation_108/as_printed"], "is a formula without another side"),
        (["falsify", THEOREM, "--budget", "soon"], "--budget = 'soon' is no duration; write 60s, 10m or 1h."),
        (["falsify", THEOREM, "--budget", "0s"], "more than 0 s"),
        (["falsify"], "falsify takes either the id of a statement or --all."),
        (["falsify", THEOREM, "--all"], "falsify takes either the id of a statement or --all."),
        (["replay", "/no/such.json"], "cannot be read"),
        (["diff", "/no/such", "/no/such"], "cannot be read: no such file or directory"),
        (["check", "/no/such.toml"], "does not exist"),
        (["new", "paper", "scgd"], "exists already"),
        (["new", "paper", "My Paper"], "lower-case letters, digits and _, such as my_paper."),
        (["new", "statement", "theorem_1"], "not of the form"),
        (["new", "statement", "nopaper/theorem_1"], "is not installed; give --package nopaper/nopaper"),
        (["report", ONE_CLAIM, "-o", ""], "--out '' names no folder."),
        (["report", ONE_CLAIM, "-o", "/proc/foo"], "--out '/proc/foo' cannot be written: "),
        (["report", ONE_CLAIM, "-o", __file__], "is a file; name a folder."),
        (["falsify", THEOREM, "-o", "."], "--out '.' is a folder; name a file."),
        (["falsify", THEOREM, "-o", "/proc/x/w.json"], "--out '/proc/x/w.json' cannot be written: no such file"),
    ],
)
def test_commands(boundcheck_cli: Run, spec: Callable[..., Path], arguments: list[str], said: str) -> None:
    found = boundcheck_cli(*(spec(FEDAVG) if a == ONE_CLAIM else a for a in arguments))
    assert found.code == 2
    assert found.out == ""
    assert said in sentence(found.err)


@pytest.mark.parametrize(
    "more",
    [
        "tightness = { at_most = '1e4000' }",
        "tightness = { at_least = '1e400' }",
        "rate = { metric = 'dist2', slope = [0, '1e400'] }",
        "rate = { metric = 'dist2', slope = [0, 1], last = '1e400' }",
        "level = '1e400'",
    ],
)
def test_expectations_that_no_double_holds(boundcheck_cli: Run, spec: Callable[..., Path], more: str) -> None:
    found = boundcheck_cli("check", spec(f"{FEDAVG}{more}\n"))
    assert (found.code, "Traceback" in found.err) == (2, False)
    assert "above the largest number in double precision" in found.err


def test_the_largest_double_is_an_expectation(boundcheck_cli: Run, spec: Callable[..., Path]) -> None:
    """One round of the example: the bound is met exactly (76/75), so that bound over metric is 1."""
    path = spec(FEDAVG + "tightness = { at_least = 1, at_most = '1.7e308' }\n")
    assert boundcheck_cli("check", path, "--no-store").code == 0


def test_json_errors_are_json(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("scope", THEOREM, *sets(eta="0"), "--json")
    assert found.code == 2
    assert found.json["schema"] == 1
    assert "eta = 0" in found.json["error"]
    assert found.json["kind"] == "BadInput"
    usage = boundcheck_cli("scope", "--nonsense", "--json")
    assert usage.code == 2
    assert "--nonsense" in usage.json["error"]


def test_a_broken_toml_line(boundcheck_cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(FEDAVG + 'rate = { metric = "x" \nlast = 3\n')
    found = boundcheck_cli("check", path)
    assert found.code == 2
    assert sentence(found.err).startswith(f"{path}:10: ")


def test_a_data_set_that_is_not_there(boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from boundcheck.problems import diabetes

    monkeypatch.setattr(diabetes, "FILES", dict.fromkeys(diabetes.FILES, "0" * 64))
    diabetes.load.cache_clear()
    try:
        path = tmp_path / "claims.toml"
        path.write_text(
            '[[claim]]\nstatement = "scgd/theorem_3_3"\nproblem = { kind = "least_squares", data = "diabetes" }\n'
            'method = { kind = "scgd", E = 1, eta = "largest" }\n'
        )
        found = boundcheck_cli("compare", path)
        assert found.code == 2
        assert "has the sha256" in sentence(found.err)
        listed = boundcheck_cli("data", "list", "--json").json["data"][0]
        assert listed["there"] is False
        assert "sha256" in listed["problem"]
        fetched = boundcheck_cli("data", "fetch", "diabetes", "--from", tmp_path)
        assert fetched.code == 2
        assert not (tmp_path / "data" / "diabetes").exists()
    finally:
        diabetes.load.cache_clear()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MemoryError(), 2, "not enough memory"),
        (RecursionError(), 2, "nested too deeply"),
        (OSError(28, "No space left on device", "/some/file"), 2, "'/some/file': no space left on device."),
        (KeyboardInterrupt(), 130, "interrupted."),
    ],
)
def test_what_the_machine_runs_out_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("boundcheck.theory.discovery.all_statements", fail)
    assert main(["list"]) == code
    assert said in sentence(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["falsify", THEOREM], "interrupted; nothing of the search is kept."),
        (["falsify", "--all"], "interrupted; what is finished is kept, and the same command continues from there."),
        (["check", "x.toml"], "interrupted; what is finished is kept, and the same command continues from there."),
        (["check", "x.toml", "--no-store"], "interrupted."),
        (["list"], "interrupted."),
    ],
)
def test_an_interruption_promises_what_is_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    def interrupt(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("boundcheck.cli._run", interrupt)
    assert main(arguments) == 130
    assert sentence(capsys.readouterr().err) == said


def test_outputs_are_probed_before_the_work(
    boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr("boundcheck.evidence.carry_out.carry_out", work)
    path = spec(FEDAVG)
    for arguments in (["--junit", "."], ["--junit", tmp_path / "no" / "x.xml"]):
        found = boundcheck_cli("check", path, *arguments)
        assert found.code == 2
        assert sentence(found.err).startswith(f"--junit '{arguments[1]}' ")
    found = boundcheck_cli("run", path, "-o", path)
    assert found.code == 2
    assert "is not a folder" in sentence(found.err)


def test_a_closed_pipe_is_quiet() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "list", "--paper", "classics"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


@contextlib.contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A limit on the sizes of files stands in for a full disk: the system refuses to write in just the same way."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with monkeypatch.context() as patch:
        # not all versions of Python throw away a compiled module that was cut short at the limit: they fail on it later
        patch.setattr(sys, "dont_write_bytecode", True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.skipif(os.name != "posix", reason="limits on file sizes are POSIX")
def test_a_full_disk(
    boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spec(FEDAVG)

    def limited(*arguments: str | Path) -> Answer:
        with full_disk(monkeypatch):
            return boundcheck_cli(*arguments)

    checked = limited("check", path)
    assert checked.code == 2
    assert "cannot be written: file too large" in sentence(checked.err)
    store = tmp_path / "store"
    assert [p for p in store.rglob("*") if p.is_file() and p.parent != store] == []
    reported = limited("report", path, "-o", tmp_path / "report", "--no-store")
    assert reported.code == 2
    assert "cannot be written" in sentence(reported.err)
    assert [p.name for p in (tmp_path / "report").iterdir() if "partial" in p.name or p.suffix == ".html"] == []
    junit = tmp_path / "junit.xml"
    assert limited("check", path, "--no-store", "--junit", junit).code == 2
    assert not junit.exists()
    again = boundcheck_cli("check", path)  # space again: the second run does it all
    assert again.code == 0
    assert len(list(store.glob("*.npz"))) == 2  # the run and the result


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_interrupted_and_continued(boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path) -> None:
    path = spec(FEDAVG, LONG.replace("CYCLES", "900_000"))
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "compare", str(path), "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    store = tmp_path / "store"
    deadline = time.monotonic() + 120
    while not list(store.glob("*.npz")):  # the first claim is finished, the second one begins
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert sentence(err) == "interrupted; what is finished is kept, and the same command continues from there."
    before = {kept: kept.stat().st_mtime_ns for kept in store.glob("*.npz")}  # of its run, and of its result
    # a second run takes what is there; the long claim is cut short here only to save the time of this test
    again = boundcheck_cli("run", spec(FEDAVG, LONG.replace("CYCLES", "3000")), "--json")
    assert again.code == 0
    (folder,) = again.json["runs"][0]["folders"]
    assert Path(folder) in before
    assert {kept: kept.stat().st_mtime_ns for kept in before} == before


@pytest.mark.parametrize("command", ["evaluate", "scope"])
def test_all_wrong_values_are_named_at_once(boundcheck_cli: Run, command: str) -> None:
    wrong = [*("--set", "E=0"), *("--set", "L=-1"), *("--set", "n=x")]
    done = boundcheck_cli(command, "scgd/theorem_3_3", *wrong, "--set", "mu=1")
    assert done.code == 2
    for text in ("E = 0 is outside", "L = -1 is outside", "n = 'x' is not a number", "needs a value for"):
        assert text in sentence(done.err)


@pytest.mark.parametrize("example", ['kind = "scgd_appendix_c"', 'kind = "scgd_appendix_b", clients = 2'])
def test_a_start_beyond_double_precision(boundcheck_cli: Run, spec: Callable[..., Path], example: str) -> None:
    start = "1" + "0" * 400
    path = spec(
        f"""
[[claim]]
statement = "scgd/theorem_3_3/corrected"
problem = {{ {example}, start = {start} }}
method = {{ kind = "scgd", E = 2, eta = "1/1000" }}
at = {{ K = [0, 1, 2] }}
expect = "HOLDS"
"""
    )
    for command in (["compare", path, "--no-store", "--json"], ["check", path, "--no-store"]):
        assert boundcheck_cli(*command).code in (0, 1, 3)
    said = boundcheck_cli("constants", path)
    assert said.code == 0
    if "scgd_appendix_b" in example:  # the trial run for the largest step size that works is left out, with the reason
        assert "is above the largest number in double precision" in said.out
