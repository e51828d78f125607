"""A browser for the tests of pages; without playwright and a Chromium these are skipped with the reason."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def browser() -> Generator[Any]:
    playwright: Any = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()
