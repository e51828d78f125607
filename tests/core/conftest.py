"""The stores of a test."""

import uuid
from pathlib import Path

import pytest

from boundcheck.core.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture(params=["folder", "file", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where nothing is."""
    if request.param == "folder":
        return str(tmp_path / "store")
    if request.param == "file":
        return f"file://{tmp_path}/a%20shared/store"
    return f"memory://{uuid.uuid4().hex}/store"
