"""A pytest plugin for the coverage run: names the running test to coverage, and writes outcomes and processor time.

`python -m coverage run -m pytest -p tests.mutants.contexts FILE`; BOUNDCHECK_TESTS_RUN names the JSON file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest


def _now() -> float:
    """Processor time of this process and its children, which a busy machine changes little."""
    return sum(os.times()[:4])


_collected = [0.0]
_seconds: dict[str, float] = {}
_failed: set[str] = set()
_skipped: set[str] = set()


def pytest_collection_finish() -> None:
    _collected[0] = _now()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run one test in a context of its own."""
    measured = coverage.Coverage.current()
    begin = _now()
    if measured is not None:
        measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        if measured is not None:
            measured.switch_context("")
        _seconds[item.nodeid] = _now() - begin


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.passed:
        (_failed if report.failed else _skipped).add(report.nodeid)


def pytest_sessionfinish() -> None:
    passed = {name: round(spent, 3) for name, spent in _seconds.items() if name not in _failed | _skipped}
    found = {"collection": round(_collected[0], 3), "passed": passed, "failed": sorted(_failed)}
    Path(os.environ["BOUNDCHECK_TESTS_RUN"]).write_text(json.dumps(found))
