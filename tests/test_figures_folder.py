"""A figure script refuses a folder that it cannot use in one sentence before it computes, and writes all or nothing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from boundcheck.errors import BadInput, BoundcheckError, DataNotFetched, StoreError

FIGURES = Path(__file__).parents[1] / "figures"
SCRIPTS = sorted(path.stem for path in FIGURES.glob("[!_]*.py"))


@pytest.fixture(autouse=True)
def _on_path() -> Iterator[None]:
    sys.path.insert(0, str(FIGURES))
    yield
    sys.path.remove(str(FIGURES))


def tell(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FIGURES / f"{script}.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def one_sentence(done: subprocess.CompletedProcess[str], script: str) -> str:
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"{script}.py: ")
    assert done.stderr.endswith(".\n")
    return done.stderr


@pytest.mark.parametrize("script", ["async_fl_gantt", "_every"])
def test_a_file_for_a_folder_is_one_sentence_and_exit_code_2(script: str, tmp_path: Path) -> None:
    file = tmp_path / "report"
    file.write_text("mine")
    more = ["scgd_figure_1"] if script == "_every" else []
    told = one_sentence(tell(script, "-o", str(file), *more), script)
    assert f"-o/--out '{file}' is a file; name a folder." in told
    assert file.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("FILE", BadInput, "is a file; name a folder"),
        ("FILE/below", StoreError, "cannot be written: not a directory"),
        ("/proc/figures", StoreError, "cannot be written"),
        ("", BadInput, "names no folder"),
        ("a\0b", BadInput, "names no folder"),
        ("x" * 300, StoreError, "cannot be written: file name too long"),
    ],
)
def test_every_script_refuses_before_it_computes(
    script: str, text: str, error: type[BoundcheckError], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text("")
    module = importlib.import_module(script)
    for name in ("compute", "tables", "expected", "panels"):  # what a script of its kind begins with
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("it computes"), raising=False)
    with pytest.raises(error, match=sentence):
        module.main(["-o", text])
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]


def test_a_folder_with_the_name_of_a_file_of_the_figure_is_refused(tmp_path: Path) -> None:
    (tmp_path / "async_fl_gantt.md").mkdir()
    told = one_sentence(tell("async_fl_gantt", "-o", str(tmp_path)), "async_fl_gantt")
    assert "async_fl_gantt.md is a folder, where a file of the figure is to be; remove it." in told
    assert [path.name for path in tmp_path.iterdir()] == ["async_fl_gantt.md"]


def test_a_disk_that_refuses_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = importlib.import_module("_files")
    figure = Figure(figsize=(1, 1))
    FigureCanvasAgg(figure)
    written = files.write_figure(figure, {".json": "old", ".md": "old"}, tmp_path, "name")
    before = {path: path.read_bytes() for path in written}
    assert {path.name for path in tmp_path.iterdir()} == {f"name.{end}" for end in ("png", "svg", "pdf", "json", "md")}

    def full(path: Path, text: str, encoding: str) -> int:
        if path.suffix == ".md":
            raise OSError(28, "No space left on device")
        return len(path.write_bytes(text.encode(encoding)) * b" ")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StoreError, match=r"the files of name cannot be written to .*: no space left on device\."):
        files.write_figure(figure, {".json": "new", ".md": "new"}, tmp_path, "name")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_prose_is_in_the_png_alone(tmp_path: Path) -> None:
    files = importlib.import_module("_files")
    drawn: list[dict[str, bytes]] = []
    for words in ("", "a sentence below the figure"):
        figure = Figure(figsize=(3, 1))
        FigureCanvasAgg(figure)
        figure.add_subplot().plot([1, 2])
        written = files.write_figure(figure, {}, tmp_path, "name", partial(figure.text, 0.1, 0.5, words))
        drawn.append({path.suffix: path.read_bytes() for path in written})
    assert drawn[0][".png"] != drawn[1][".png"]
    assert drawn[0][".svg"] == drawn[1][".svg"]
    assert drawn[0][".pdf"] == drawn[1][".pdf"]
    assert drawn[0][".pdf"].startswith(b"%PDF")


def test_what_boundcheck_refuses_is_a_sentence_of_the_script(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = importlib.import_module("_files")
    monkeypatch.setattr(sys, "argv", ["figures/some.py"])

    def refuse(_: object) -> None:
        raise DataNotFetched("the data set 'mnist' is not here.")

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    for main, code, told in ((refuse, 2, "the data set 'mnist' is not here."), (interrupt, 130, "interrupted.")):
        with pytest.raises(SystemExit) as stopped:
            files.start(main)
        assert stopped.value.code == code
        assert capsys.readouterr().err == f"some.py: {told}\n"
