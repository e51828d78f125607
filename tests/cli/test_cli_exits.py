"""Exit code 70 for errors of boundcheck itself, known inputs that met them, closed streams, and short echoes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_tools import FEDAVG, Run

from boundcheck.errors import LONGEST_LINE, LONGEST_WORD, BadInput, UnknownName, shortened, shown

ROOT = Path(__file__).parent.parent.parent
WITNESS = ROOT / "examples" / "witnesses" / "scgd_theorem_3_3_as_printed_main.json"
CLAIM = """
[[claim]]
statement = "scgd/theorem_3_3"
problem = PROBLEM
method = { kind = "scgd", E = 1, eta = "1/10" }
at = { K = [1] }
expect = "HOLDS"
"""
ONE = '{ kind = "quadratics", clients = [{ A = 1, b = 1 }] }'
LONG_HEX = "0x" + "f" * 4000


def on(problem: str) -> str:
    return CLAIM.replace("PROBLEM", problem)


# --- errors that nothing foresaw -----------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [False, True])
def test_an_unforeseen_error_exits_with_70_and_leaves_its_traceback(
    boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_json: bool
) -> None:
    def fail(*_: object) -> None:
        raise AttributeError("a mistake of ours " + "x" * 10_000)

    monkeypatch.setattr("boundcheck.theory.discovery.all_statements", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = boundcheck_cli("list", *(["--json"] if as_json else []))
    assert found.code == 70
    assert found.err.startswith("boundcheck: an error of boundcheck itself: AttributeError: a mistake of ours xxx")
    assert found.err.count("\n") == 1
    assert len(found.err) < LONGEST_LINE
    (file,) = tmp_path.glob("boundcheck-error-*.txt")
    assert str(file) in found.err
    text = file.read_text()
    assert "Traceback (most recent call last)" in text
    assert "in fail" in text
    assert "command: boundcheck list" in text
    if as_json:
        assert found.json["exit_code"] == 70
        assert found.json["kind"] == "OwnError"


def test_an_unforeseen_error_where_no_file_can_be_written(
    boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("boundcheck.theory.discovery.all_statements", lambda *_: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    found = boundcheck_cli("list")
    assert found.code == 70
    assert "ZeroDivisionError: division by zero; its traceback could not be written" in found.err


def test_an_unforeseen_error_of_a_worker_process_keeps_its_traceback(
    boundcheck_cli: Run, spec: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from boundcheck.core.worker_process import WorkerTraceback

    def fail(*_: object, **__: object) -> None:
        raise KeyError("x") from WorkerTraceback("the worker's own lines")

    monkeypatch.setattr("boundcheck.evidence.carry_out._carry_out_all", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert boundcheck_cli("check", spec(FEDAVG)).code == 70
    (file,) = tmp_path.glob("boundcheck-error-*.txt")
    assert "the worker's own lines" in file.read_text()


# --- inputs that met one -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (on('{ kind = "quadratics", clients = [{ components = 5 }] }'), "client 0 must be one table"),
        (on('{ kind = "quadratics", clients = [{ components = "ab" }] }'), "client 0 must be one table"),
        (
            on('{ kind = "logistic_regression", data = 5 }'),
            "data = 5 is not allowed; it must be the name of a data set or of a file",
        ),
        (on('{ kind = "softmax_regression", data = ["x"] }'), "it must be the name of a data set or of a file"),
        (on('{ kind = "least_squares", data = "diabetes", split = 3 }'), "split = 3 is not allowed"),
        (on('{ kind = "quadratics", clients = [{ A = 1 }], reduction = [] }'), "reduction = [] is not allowed"),
        (on('{ kind = "random_quadratics", indefinite = "yes" }'), "it must be true or false"),
        (on('{ kind = "random_quadratics", L = "1e4000" }'), "L <= 1e100"),
        (on('{ kind = "surrogate", of = 3, weights = [1] }'), "of = 3 is not allowed; it must be a table"),
        (on('{ kind = "coupled_blocks", start = 4 }'), "start = 4 is not allowed; it must be a list"),
        (on(ONE).replace('"HOLDS"', LONG_HEX), "too many digits"),
        (on(ONE).replace("E = 1", f"E = {LONG_HEX}"), "too many digits"),
        (on(ONE).replace("[1]", f"[1, {LONG_HEX}]"), "too many digits"),
        (on(ONE).replace('"1/10"', LONG_HEX), "too many digits"),
        (on(ONE).replace("A = 1", f"A = [[{LONG_HEX}]]"), "too many digits"),
        (on(ONE).replace("A = 1", f'A = [["{"9" * 3000}e2000"]]'), "more than 4300 digits"),
        (on(ONE).replace("E = 1", 'E = "1e4000"'), "it must be at most 10^15"),
        (on(ONE) + f'name = "{"n" * 5000}"\n', "at most 200 characters"),
    ],
)
def test_known_mistakes_are_sentences(boundcheck_cli: Run, spec: Callable[..., Path], text: str, said: str) -> None:
    found = boundcheck_cli("check", spec(text), "--no-store")
    assert found.code == 2
    assert said in found.err
    assert found.err.startswith("boundcheck: ")
    assert max(map(len, found.err.splitlines())) < 1000


@pytest.mark.parametrize(
    "change",
    [
        {"witness": 1},
        {"witness": [1]},
        {"tightness": 3},
        {"tightness": {"ratio_min": "x", "ratio_max": 1}},
        {"tightness": {}},
        {"outcome": []},
        {"grade": 7},
        {"points": "many"},
        {"reason": None},
        {"details": 0},
    ],
)
def test_a_witness_with_a_verdict_that_is_none(boundcheck_cli: Run, tmp_path: Path, change: dict[str, Any]) -> None:
    data = json.loads(WITNESS.read_text())
    data["verdict"] |= change
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(data))
    found = boundcheck_cli("replay", path)
    assert found.code == 2
    assert next(iter(change)) in found.err
    assert found.err.count("\n") == 1


# --- closed streams ------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("list --paper classics >&-", 0),
        ("list --paper classics --json >&- 2>&- <&-", 0),
        ("check nope.toml 2>&-", 2),
        ("show scgd/equation_2 >/dev/full", 2),
    ],
)
def test_closed_and_full_streams_keep_the_exit_code(command: str, code: int) -> None:
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = subprocess.run(f"{sys.executable} -m boundcheck {command}", shell=True, capture_output=True, text=True)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


# --- echoes --------------------------------------------------------------------------------------------------


def test_values_and_messages_are_shown_on_short_lines() -> None:
    assert [shown("abc"), shown([1, "a"]), shown("a\n  b")] == ["abc", "[1, 'a']", "a b"]
    for long in ("x" * 10**6, ["x"] * 10**5, {"k": "v" * 10**5}, 10**5000, [10**5000]):
        assert len(shown(long)) <= 60
    assert shown("x" * 100) == "x" * 57 + "..."
    usual = "mu = 3 is outside its domain: real numbers 0 < mu <= L."
    assert shortened(usual) == usual
    word = shortened(f"eta = {'9' * 10**6} is not allowed; eta > 0 is.")
    assert len(word) < LONGEST_WORD + 50
    assert (word[:9], word[-32:]) == ("eta = 999", "9999 is not allowed; eta > 0 is.")
    lines = shortened("\n".join(["a short line", "many words " * 10**5]))
    assert lines.startswith("a short line\nmany words")
    assert max(map(len, lines.splitlines())) == LONGEST_LINE
    assert shortened(lines) == lines
    assert len(str(BadInput("x" * 10**6))) == LONGEST_WORD
    assert re.match(r"the method 'y{57}\.\.\.' is unknown", str(UnknownName("the method", "y" * 10**6, ["fedavg"])))


def test_long_arguments_and_files_give_short_lines(boundcheck_cli: Run, spec: Callable[..., Path]) -> None:
    long = "z" * 100_000
    for arguments in (
        ["show", long],
        ["evaluate", "scgd/theorem_3_3", "--set", f"mu={long}"],
        ["evaluate", "scgd/theorem_3_3", "--set", f"{long}=1"],
        ["evaluate", "scgd/theorem_3_3", f"--{long}"],
        ["list", "--paper", long],
        ["report", spec(FEDAVG), "--title", os.fsdecode(b"\xff")],  # bytes that are not text
        [long],
        ["check", spec(on(ONE) + f"{long} = 1\n")],
        ["check", spec(on(ONE).replace("scgd/theorem_3_3", long))],
        ["check", spec(on(f'{{ kind = "{long}" }}'))],
        ["check", spec(on(f"{{ kind = {[1] * 50_000} }}"))],
        ["check", spec(on(f'{{ kind = "quadratics", clients = {[1] * 50_000} }}'))],
        ["check", spec(on(ONE).replace('{ kind = "scgd"', f'{{ {long} = 1, kind = "scgd"'))],
    ):
        found = boundcheck_cli(*arguments)
        assert found.code == 2
        assert max(map(len, found.err.splitlines())) <= LONGEST_LINE + len("boundcheck: ")
        assert len(found.err) < 20_000
