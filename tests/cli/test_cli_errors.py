"""What goes wrong apart from the input: errors of boundcheck, memory, full disks, closed streams, Ctrl-C, odd files."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_tools import FEDAVG, LONG, WITNESS, Run

from boundcheck.core.places import write_whole
from boundcheck.core.targets import probe_file, read_text
from boundcheck.core.worker_process import WorkerTraceback
from boundcheck.errors import LONGEST_LINE, LONGEST_WORD, BadInput, UnknownName, shortened, shown
from boundcheck.evidence.witness import load_witness, save_witness

Write = Callable[..., Path]
KEPT = "interrupted; what is finished is kept, and the same command continues from there."


def sentence(err: str) -> str:
    """What was said, which is one line of text and no traceback."""
    assert (err[:12], err.count("\n"), "Traceback" in err) == ("boundcheck: ", 1, False)
    return err.removeprefix("boundcheck: ").strip()


def raising(error: BaseException, cause: BaseException | None = None) -> Callable[..., object]:
    def fail(*_: object, **__: object) -> None:
        raise error from cause

    return fail


# --- errors inside ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [False, True])
def test_an_unforeseen_error_exits_with_70_and_leaves_its_traceback(
    boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_json: bool
) -> None:
    monkeypatch.setattr(
        "boundcheck.theory.discovery.all_statements", raising(AttributeError("a mistake of ours " + "x" * 10_000))
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = boundcheck_cli("list", *(["--json"] if as_json else []))
    (file,) = tmp_path.glob("boundcheck-error-*.txt")
    said = sentence(found.err)
    assert found.code == 70
    assert said.startswith("an error of boundcheck itself: AttributeError: a mistake of ours xxx")
    assert len(said) < LONGEST_LINE
    assert str(file) in said
    text = file.read_text()
    assert all(part in text for part in ("Traceback (most recent call last)", "in fail", "command: boundcheck list"))
    assert not as_json or (found.json["exit_code"], found.json["kind"]) == (70, "OwnError")


def test_an_unforeseen_error_where_no_file_can_be_written(
    boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("boundcheck.theory.discovery.all_statements", lambda *_: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    found = boundcheck_cli("list")
    assert found.code == 70
    assert "ZeroDivisionError: division by zero; its traceback could not be written" in found.err


def test_an_unforeseen_error_of_a_worker_process_keeps_its_traceback(
    boundcheck_cli: Run, spec: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    error = raising(KeyError("x"), WorkerTraceback("the worker's own lines"))
    monkeypatch.setattr("boundcheck.evidence.carry_out.carry_out", error)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert boundcheck_cli("check", spec(FEDAVG)).code == 70
    (file,) = tmp_path.glob("boundcheck-error-*.txt")
    assert "the worker's own lines" in file.read_text()


@pytest.mark.parametrize(
    ("error", "arguments", "code", "said"),
    [
        (MemoryError(), "list", 2, "there is not enough memory for this; ask for fewer points, rounds or seeds."),
        (RecursionError(), "list", 2, "the input is nested too deeply; write it in a flatter form."),
        (OSError(28, "No space left on device", "/some/file"), "list", 2, "'/some/file': no space left on device."),
        (KeyboardInterrupt(), "list", 130, "interrupted."),
        (KeyboardInterrupt(), "falsify scgd/theorem_3_3", 130, "interrupted; nothing of the search is kept."),
        (KeyboardInterrupt(), "falsify --all", 130, KEPT),
        (KeyboardInterrupt(), "check x.toml", 130, KEPT),
        (KeyboardInterrupt(), "check x.toml --no-store", 130, "interrupted."),
    ],
)
def test_what_ends_a_command(
    boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, arguments: str, code: int, said: str
) -> None:
    monkeypatch.setattr("boundcheck.cli.app.whole_command", lambda: raising(error))
    found = boundcheck_cli(*arguments.split())
    assert (found.code, sentence(found.err)) == (code, said)


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


# --- the real program ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
def test_closed_and_full_streams_keep_the_exit_code() -> None:
    """Of the entry point itself; the processes run at the same time."""
    full = "completion bash >/dev/full" if Path("/dev/full").exists() else "check nope.toml"
    codes = {"completion bash >&- 2>&- <&-": 0, "check nope.toml 2>&-": 2, full: 2}
    codes["completion bash | true"] = 0  # the reader has gone
    running = {
        command: subprocess.Popen(
            ["bash", "-c", f"set -o pipefail; {sys.executable} -m boundcheck {command}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for command in codes
    }
    for command, process in running.items():
        _, err = process.communicate(timeout=120)
        assert process.returncode == codes[command], (command, err)
        assert "Traceback" not in err


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_interrupted_and_continued(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path, store = spec(FEDAVG, LONG.replace("CYCLES", "900_000")), tmp_path / "store"
    process = subprocess.Popen(
        [sys.executable, "-m", "boundcheck", "compare", str(path), "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not list(store.glob("*.npz")):  # the first claim is finished, the second one begins
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, sentence(err)) == (130, "", KEPT)
    before = {kept: kept.stat().st_mtime_ns for kept in store.glob("*.npz")}  # of its run, and of its result
    # a second run takes what is there; the long claim is cut short here only to save the time of this test
    again = boundcheck_cli("run", spec(FEDAVG, LONG.replace("CYCLES", "3000")), "--json")
    (folder,) = again.json["runs"][0]["folders"]
    assert Path(folder) in before
    assert {kept: kept.stat().st_mtime_ns for kept in before} == before


# --- the disk --------------------------------------------------------------------------------------------------------


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
def test_a_full_disk(boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, store, junit, report = spec(FEDAVG), tmp_path / "store", tmp_path / "junit.xml", tmp_path / "report"
    with full_disk(monkeypatch):
        checked = boundcheck_cli("check", path)
        reported = boundcheck_cli("report", path, "-o", report, "--no-store")
        assert boundcheck_cli("check", path, "--no-store", "--junit", junit).code == 2
    assert (checked.code, reported.code) == (2, 2)
    assert "cannot be written: file too large" in sentence(checked.err)
    assert "cannot be written" in sentence(reported.err)
    assert [p for p in store.rglob("*") if p.is_file() and p.parent != store] == []
    assert [p.name for p in report.iterdir() if "partial" in p.name or p.suffix == ".html"] == []
    assert not junit.exists()
    assert boundcheck_cli("check", path).code == 0  # space again: the second run does it all
    assert len(list(store.glob("*.npz"))) == 2  # the run and the result


def test_outputs_are_probed_before_the_work(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boundcheck.evidence.carry_out.carry_out", raising(AssertionError("the work has begun")))
    for target in (".", tmp_path / "no" / "x.xml"):
        found = boundcheck_cli("check", spec(FEDAVG), "--junit", target)
        assert found.code == 2
        assert sentence(found.err).startswith(f"--junit '{target}' ")


TINY = """
[[claim]]
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "random_quadratics", clients = 2, d = 2, seed = 1 }
method = { kind = "scgd", E = 1, eta = "0.5*largest" }
at = { K = [1, 2] }
expect = "HOLDS"
"""
SWEEP = "evaluate scgd/theorem_3_3 --sweep eta=1e-6:1e-4:3:log"
for _pair in ("mu=1/10", "L=1", "n=20", "E=4", "sigma2=1", "dist2_0=4", "K=1000"):
    SWEEP += f" --set {_pair}"
# every command that takes a name of the user's, which stands at PATH; "" may name this folder for some
COMMANDS = [
    *("run PATH", "run tiny.toml -o PATH", "constants PATH", "compare PATH", "check PATH", "tune PATH", "power PATH"),
    *("check tiny.toml --junit PATH", "schedule PATH", "schedule --times 1,2 --plot PATH", f"{SWEEP} --plot PATH"),
    *("report PATH -o out", "report tiny.toml -o PATH", "diff PATH PATH", "replay PATH"),
    "falsify scgd/theorem_3_3/as_printed_main --budget 1s -o PATH",
    *(f"data fetch {name} --from PATH" for name in ("digits", "mnist", "shakespeare")),
    *("new paper my_paper --in PATH", "new statement my_paper/theorem_1 --package PATH"),
]
HERE = ("new ", "run tiny.toml -o")
FILES = ("new ", "run tiny.toml -o", "report tiny.toml", "data fetch digits")  # that take a folder, not a file
FOLDERS = ("run PATH", "compare", "check", "report PATH", "replay", "falsify", "diff")  # that take a file


@pytest.mark.parametrize("command", COMMANDS)
def test_odd_names(boundcheck_cli: Run, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence and exit code 2, and nothing else is written or changed."""
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    Path("tiny.toml").write_text(TINY)
    Path("folder").mkdir()
    names = ["file/below", "x" * 300, "a\0b", "/proc/none/x"]
    names += [] if command.startswith(HERE) else [""]
    names += ["file"] if command.startswith(FILES) else ["folder"] if command.startswith(FOLDERS) else []
    for name in names:
        found = boundcheck_cli(*(part.replace("PATH", name) for part in command.split()))
        assert (found.code, found.out) == (2, ""), name
        assert found.err.startswith("boundcheck: "), name
        assert found.err.endswith(".\n"), name
        assert "Traceback" not in found.err, name
    assert {p.name for p in Path().iterdir()} <= {"file", "tiny.toml", "folder", "store", "out"}
    assert (Path("file").read_text(), list(Path("folder").iterdir())) == ("mine", [])


class Reader:
    """Reads all that is written into a pipe."""

    def __init__(self, pipe: Path) -> None:
        os.mkfifo(pipe)
        self.read = b""
        self.pipe, self.thread = pipe, threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        self.read = self.pipe.read_bytes()

    def all(self) -> bytes:
        self.thread.join(20)
        assert not self.thread.is_alive()
        assert self.pipe.is_fifo()
        return self.read


def test_what_is_no_file_is_written_into_and_stays(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    """As /dev/stdout, /dev/null and `>(command)`: a file in the place of a device breaks the machine."""
    reader = Reader(tmp_path / "pipe")
    probe_file(reader.pipe, "--junit")
    write_whole(reader.pipe, b"content")
    assert reader.all() == b"content"
    link, reader = tmp_path / "link", Reader(tmp_path / "other")  # /dev/stdout is one
    link.symlink_to(reader.pipe)
    write_whole(link, b"more")
    assert (reader.all(), link.is_symlink()) == (b"more", True)
    assert {p.name for p in tmp_path.iterdir()} == {"pipe", "other", "link"}
    reader = Reader(tmp_path / "witness")
    save_witness(load_witness(WITNESS), reader.pipe)
    assert reader.all().startswith(b"{")
    reader = Reader(tmp_path / "junit")
    boundcheck_cli("check", spec(TINY), "--junit", reader.pipe)
    assert b"<testsuite" in reader.all()


def test_what_has_no_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for place, read in (("boundcheck.core.targets", read_text), ("boundcheck.evidence.witness", load_witness)):
        monkeypatch.setattr(f"{place}.MAX_READ", 2**20)
        with pytest.raises(BadInput, match="has more than 1 MiB, which is more than is read"):
            read(Path("/dev/zero"))  # size 0, and no end


@pytest.mark.parametrize("change", [("d = 2", "d = -2"), ("E = 1", "E = -1"), ("claim]]", "claim]] ]")])
def test_a_report_that_is_bad_input_leaves_no_folder(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, change: tuple[str, str]
) -> None:
    """The last two are refused while the file is read; the first one, an impossible run, after the folder is chosen."""
    assert boundcheck_cli("report", spec(TINY.replace(*change)), "-o", tmp_path / "a" / "out").code == 2
    assert not (tmp_path / "a").exists()
