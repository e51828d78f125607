"""The store of a test."""

from pathlib import Path

import pytest

from boundcheck.core.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")
