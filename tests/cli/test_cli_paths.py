"""Names of files and folders as a stranger may give them: a sentence and exit code 2, and nothing is put in the place
of a pipe."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from boundcheck.cli import main
from boundcheck.core.places import write_whole
from boundcheck.core.targets import probe_file, read_text
from boundcheck.errors import BadInput
from boundcheck.evidence.witness import load_witness, save_witness

TINY = """
[[claim]]
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "random_quadratics", clients = 2, d = 2, seed = 1 }
method = { kind = "scgd", E = 1, eta = "0.5*largest" }
at = { K = [1, 2] }
expect = "HOLDS"
"""
SWEEP = ["evaluate", "scgd/theorem_3_3", "--sweep", "eta=1e-6:1e-4:3:log"]
for _pair in ("mu=1/10", "L=1", "n=20", "E=4", "sigma2=1", "dist2_0=4", "K=1000"):
    SWEEP += ["--set", _pair]
WITNESS = Path(__file__).parents[2] / "examples" / "witnesses" / "scgd_theorem_3_3_as_printed_main.json"

# every command that takes a name of the user's; PATH stands for it
COMMANDS = {
    "run": ["run", "PATH"],
    "run -o": ["run", "tiny.toml", "-o", "PATH"],
    "constants": ["constants", "PATH"],
    "compare": ["compare", "PATH"],
    "check": ["check", "PATH"],
    "check --junit": ["check", "tiny.toml", "--junit", "PATH"],
    "tune": ["tune", "PATH"],
    "power": ["power", "PATH"],
    "schedule": ["schedule", "PATH"],
    "schedule --plot": ["schedule", "--times", "1,2", "--plot", "PATH"],
    "evaluate --plot": [*SWEEP, "--plot", "PATH"],
    "report": ["report", "PATH", "-o", "out"],
    "report -o": ["report", "tiny.toml", "-o", "PATH"],
    "diff": ["diff", "PATH", "PATH"],
    "replay": ["replay", "PATH"],
    "falsify -o": ["falsify", "scgd/theorem_3_3/as_printed_main", "--budget", "1s", "-o", "PATH"],
    "data fetch": ["data", "fetch", "digits", "--from", "PATH"],
    "data fetch, labelled": ["data", "fetch", "mnist", "--from", "PATH"],
    "data fetch, plays": ["data", "fetch", "shakespeare", "--from", "PATH"],
    "new paper": ["new", "paper", "my_paper", "--in", "PATH"],
    "new statement": ["new", "statement", "my_paper/theorem_1", "--package", "PATH"],
}
NAMES = {"below a file": "file/below", "too long": "x" * 300, "a character 0": "a\0b", "in no folder": "/proc/none/x"}
IN_THIS_FOLDER = ("new paper", "new statement", "run -o")  # with ""
EMPTY = [c for c in COMMANDS if c not in IN_THIS_FOLDER]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    Path("file").write_text("mine")
    Path("tiny.toml").write_text(TINY)


def refused(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> str:
    found = capsys.readouterr()
    assert found.out == "", command
    assert found.err.startswith("boundcheck: "), command
    assert found.err.endswith(".\n"), (command, name)
    assert "Traceback" not in found.err
    return found.err


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_odd_names(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part.replace("PATH", name) for part in COMMANDS[command]]) == 2
    refused(command, name, capsys)
    assert {p.name for p in Path().iterdir()} <= {"file", "tiny.toml", "store", "out"}
    assert Path("file").read_text() == "mine"


@pytest.mark.parametrize("command", EMPTY)
def test_no_name(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part.replace("PATH", "") for part in COMMANDS[command]]) == 2
    refused(command, "", capsys)


@pytest.mark.parametrize("command", ["report -o", "run -o", "new paper", "new statement", "data fetch"])
def test_a_file_for_a_folder(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part.replace("PATH", "file") for part in COMMANDS[command]]) == 2
    refused(command, "file", capsys)
    assert Path("file").read_text() == "mine"


@pytest.mark.parametrize(
    "command", ["run", "compare", "check", "check --junit", "report", "replay", "falsify -o", "diff"]
)
def test_a_folder_for_a_file(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()
    assert main([part.replace("PATH", "folder") for part in COMMANDS[command]]) == 2
    refused(command, "folder", capsys)
    assert not list(Path("folder").iterdir())


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


def test_what_is_no_file_is_written_into_and_stays(tmp_path: Path) -> None:
    """As /dev/stdout, /dev/null and `>(command)`: a file in the place of a device breaks the machine."""
    reader = Reader(tmp_path / "pipe")
    probe_file(reader.pipe, "--junit")
    write_whole(reader.pipe, b"content")
    assert reader.all() == b"content"
    link = tmp_path / "link"  # /dev/stdout is one
    reader = Reader(tmp_path / "other")
    link.symlink_to(reader.pipe)
    write_whole(link, b"more")
    assert reader.all() == b"more"
    assert link.is_symlink()
    assert {p.name for p in tmp_path.iterdir()} == {"file", "tiny.toml", "pipe", "other", "link"}


def test_witnesses_and_junit_go_into_a_pipe(tmp_path: Path) -> None:
    witness = load_witness(WITNESS)
    reader = Reader(tmp_path / "pipe")
    save_witness(witness, reader.pipe)
    assert reader.all().startswith(b"{")
    reader = Reader(tmp_path / "junit")
    main(["check", "tiny.toml", "--junit", str(reader.pipe)])
    assert b"<testsuite" in reader.all()


def test_what_has_no_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for place, read in (("boundcheck.core.targets", read_text), ("boundcheck.evidence.witness", load_witness)):
        monkeypatch.setattr(f"{place}.MAX_READ", 2**20)
        with pytest.raises(BadInput, match="has more than 1 MiB, which is more than is read"):
            read(Path("/dev/zero"))  # size 0, and no end


@pytest.mark.parametrize("change", [("K = 1, 2", "K = 1, 2"), ("E = 1", "E = -1"), ("claim]]", "claim]] ]")])
def test_a_report_that_is_bad_input_leaves_no_folder(tmp_path: Path, change: tuple[str, str]) -> None:
    """The last two are refused while the file is read; the first one, an impossible run, after the folder is chosen."""
    text = TINY.replace("d = 2", "d = -2") if change[0] == change[1] else TINY.replace(*change)
    (tmp_path / "tiny.toml").write_text(text)
    assert main(["report", str(tmp_path / "tiny.toml"), "-o", str(tmp_path / "a" / "out")]) == 2
    assert not (tmp_path / "a").exists()
