"""The pages of the documentation do what they say: files, commands, Python blocks and their output."""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from loaded_papers import unloaded_afterwards

from boundcheck.core.toml_lines import parse_toml
from boundcheck.evidence.spec import claims_from_text
from docs.hooks import notebooks, picture
from docs.hooks.blocks import Block, blocks
from tests.documents import difference, follow, same_line

ROOT = Path(__file__).parent.parent
# the page on libraries is written by `make libraries`, in the environment of these libraries, and runs there
PAGES = (ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.name != "libraries.md"))
LINKED = ("examples", "configs", "figures", "docs", "derivations")  # what pages name in the repository
INSTALLS = ("python -m venv", ". venv", "pip install", "git clone", "npm ", "apt", "make ", "boundcheck data fetch")


def installs(command: str) -> bool:
    return command.startswith(INSTALLS)


def runs(block: Block) -> bool:
    return block.language in ("console", "python") and not block.title


def slow(page: Path) -> bool:
    return any(block.mark == "slow" for block in blocks(page.read_text(encoding="utf-8")))


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("index")


@pytest.fixture
def work(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the repository's folders, a store and data of its own, and the index of all pages."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("BOUNDCHECK_INDEX", str(index))
    monkeypatch.setattr("boundcheck.cli.output.PIPED", 1e6)  # no line of progress on a slow machine
    for name in ("STORE", "DATA"):
        monkeypatch.setenv(f"BOUNDCHECK_{name}", str(tmp_path / name.lower()))
    folder = tmp_path / "work"
    folder.mkdir()
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    with unloaded_afterwards():
        yield folder


WITH_BLOCKS = [page for page in PAGES if any(map(runs, blocks(page.read_text(encoding="utf-8"))))]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=named)
def test_page(page: Path, work: Path) -> None:
    """All blocks but the slow ones; what is left out is counted."""
    own = [block for block in blocks(page.read_text(encoding="utf-8")) if runs(block)]
    count = follow(page, work, installs)
    commands = sum(len(list(b.commands())) for b in own if b.language == "console" and not b.mark)
    assert count.ran + count.installs == commands + sum(b.language == "python" and not b.mark for b in own)
    assert count.slow + count.not_run == sum(bool(b.mark) for b in own)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in WITH_BLOCKS if slow(page)], ids=named)
def test_page_with_its_slow_blocks(page: Path, work: Path) -> None:
    assert follow(page, work, installs, slow=True).slow == 0


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_specifications_are_valid(page: Path) -> None:
    """TOML that is no file of the page is a valid specification where it has claims."""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "toml" and not block.title and "claim" in parse_toml(block.body, "page").data:
            assert claims_from_text(block.body)


def test_output_is_compared() -> None:
    assert same_line("at R = 4 the metric is 9.80696e-11", "at  R = 4 the metric is 9.8070e-11")
    assert not same_line("at R = 4 the metric is 9.80696e-11", "at R = 5 the metric is 9.80696e-11")
    assert not same_line("tightness 84.6361", "tightness 84.7")
    assert same_line("broken in … s", "broken in 0.8 s")
    assert difference("a\n...\nc 1", "a\nb\nb\nc 1") == ""
    assert "c 1" in difference("a\n...\nc 1", "a\nb\nb\nc 2")
    assert difference("a", "a\nb")


LINK = re.compile(r"\]\(([^)\s]+)\)")
HOSTS = re.compile(r"pypi\.org|pythonhosted|npmjs|unpkg|jsdelivr|cdnjs|/home/|/root/|/tmp/|/work/")


def test_the_readme_begins_with_an_example_of_ten_lines() -> None:
    """One sentence, the picture, how to install it, one example and one command, before the first heading below."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    found = blocks(text)
    assert [block.language for block in found] == ["console", "python", "console"]
    assert len(found[1].body.splitlines()) <= 10
    assert found[1].output
    assert len(list(found[2].commands())) == 1


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=named)
def test_links_lead_to_files_of_the_repository(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (page.parent / link.partition("#")[0]).exists(), link


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / ".github").rglob("*.yml"))], ids=named)
def test_no_page_names_a_registry_or_a_machine(page: Path) -> None:
    found = HOSTS.search(page.read_text(encoding="utf-8"))
    assert found is None, found[0]


def test_the_picture_is_drawn_from_the_readme() -> None:
    """The text and every tenth number of the picture; matplotlib versions write the rest in other words."""
    drawn, kept = picture.picture(), picture.PICTURE.read_text(encoding="utf-8")
    assert re.findall(r"<text[^>]*>([^<]+)", drawn) == re.findall(r"<text[^>]*>([^<]+)", kept)
    numbers = [[float(x) for x in re.findall(r"[ML] (-?[\d.]+) ", svg)] for svg in (drawn, kept)]
    assert len(numbers[0]) > 100
    assert numbers[0] == pytest.approx(numbers[1], abs=0.01)


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", NOTEBOOKS, ids=named)
def test_notebook_in_a_kernel(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebook made of the page, with a kernel of its own (seconds to start, and searches inside)."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    text = page.read_text(encoding="utf-8")
    found = nbformat.reads(notebooks.notebook_file(text), as_version=4)
    nbformat.validate(found)
    done = NotebookClient(
        found, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    own = [cell for cell in done.cells if cell.cell_type == "code"]
    for cell, block in zip(own, notebooks.cells(text), strict=True):
        printed = "".join(out.text for out in cell.outputs if out.output_type == "stream" and out.name == "stdout")
        assert difference(block.output or "", printed) == ""
        assert bool(cell.outputs) or cell.source.rstrip().endswith(("]", ")")) or "def " in cell.source


@pytest.mark.slow
def test_ci_in_a_clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page on CI with the wheel and its extra `data`, in an environment of its own (minutes: pip gets packages)."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    installed = subprocess.run(
        [binaries / "pip", "install", "--quiet", f"{wheel}[data]", "pytest"], capture_output=True, check=False
    )
    if installed.returncode:
        pytest.skip(f"no package registry: {installed.stderr.decode()[-200:]}")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "work").mkdir()
    assert follow(ROOT / "docs" / "ci.md", tmp_path / "work", installs, slow=True, path=str(binaries)).ran > 8
