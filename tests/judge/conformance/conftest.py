"""Entry points are forgotten after each test; one random problem instead of two, for speed."""

import sys

import pytest
from plugin_tools import forget

from boundcheck.judge.conformance import methods


@pytest.fixture(autouse=True)
def _fresh_plugins(monkeypatch):
    monkeypatch.setattr(methods, "TOYS", methods.TOYS[:1])
    yield
    for module in [m for m in sys.modules if m.startswith("sample_") or m == "own_problem"]:
        del sys.modules[module]
    forget()
