"""Numbers that no double holds, and files that are no specification: a sentence with exit code 2, never a raw error."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import FEDAVG, Run

HUGE = '"1e400"'


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("tightness = { at_most = '1e4000' }", "above the largest number in double precision, 1.8e308"),
        ("tightness = { at_least = '1e400' }", "above the largest number in double precision, 1.8e308"),
        ("rate = { metric = 'dist2', slope = [0, '1e400'] }", "above the largest number in double precision, 1.8e308"),
        ("rate = { metric = 'dist2', slope = [0, 1], last = '1e400' }", "above the largest number in double precision"),
        ("level = '1e400'", "above the largest number in double precision, 1.8e308"),
    ],
)
def test_expectations_that_no_double_holds(boundcheck_cli: Run, tmp_path: Path, more: str, said: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(FEDAVG + more + "\n")
    for command in ("check", "compare", "report"):
        found = boundcheck_cli(command, str(path), *(["-o", str(tmp_path / "report")] if command == "report" else []))
        assert (found.code, said in found.err, "Traceback" in found.err) == (2, True, False)


def test_the_largest_double_is_an_expectation(boundcheck_cli: Run, tmp_path: Path) -> None:
    """One round of the example: the bound is met exactly (76/75), so that bound over metric is 1."""
    path = tmp_path / "claims.toml"
    path.write_text(FEDAVG + "tightness = { at_least = 1, at_most = '1.7e308' }\n")
    assert boundcheck_cli("check", str(path), "--no-store").code == 0
