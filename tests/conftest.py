"""Settings shared by all tests."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# tests carry no timing: a slow machine is not a failure
settings.register_profile("boundcheck", deadline=None)
settings.load_profile("boundcheck")

# A shell starts background jobs with SIGINT ignored, and processes that tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def never_collected() -> bool:
    """Whether pytest has compiled no test of the last folder yet, and is going to keep what it compiles."""
    last = max(path for path in Path(__file__).parent.glob("*/test_*.py"))
    compiled = Path(importlib.util.cache_from_source(str(last))).parent
    return not sys.dont_write_bytecode and not list(compiled.glob("test_*"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """In a fresh checkout one worker compiles all tests, and the others, after it, read what it has written."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None or os.name != "posix" or not never_collected():
        return (yield)
    import fcntl

    lock = Path(tempfile.gettempdir()) / f"boundcheck-collects-{run}"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            return (yield)
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
            with contextlib.suppress(OSError):
                lock.unlink()


@pytest.fixture(autouse=True)
def sockets_of_dask(request: pytest.FixtureRequest) -> Generator[None]:
    """Sockets that Dask's client leaves open are closed here, not in a later test, whose warning they would be."""
    if "cluster" not in request.node.path.stem:
        yield
        return
    gc.freeze()  # what was there before is not looked at again: that takes seconds
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    gc.unfreeze()


@pytest.fixture(autouse=True)
def wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands print a row of a table on one line; tests of the width set another one."""
    monkeypatch.setenv("COLUMNS", "1000")


class Scripts(dict[str, Any]):
    """The modules of `figures/` by name, each imported when it is first needed."""

    def __missing__(self, name: str) -> Any:
        self[name] = importlib.import_module(name)
        return self[name]


@pytest.fixture(scope="module")
def figures() -> Generator[Scripts]:
    """The modules of `figures/`, which import one another by their bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[1] / "figures"))
        yield Scripts()


@pytest.fixture(scope="module")
def made(figures: Scripts) -> Callable[..., Any]:
    """What the script of a figure makes, without its files; once for the same options."""
    return functools.cache(lambda name, **options: figures[name].make(**options))


@pytest.fixture(scope="session")
def browser() -> Generator[Any]:
    """A Chromium for the tests of pages; without it or playwright they are skipped with the reason."""
    playwright: Any = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()
