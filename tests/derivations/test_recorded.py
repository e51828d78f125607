"""What is recorded beside each derivation is what a fresh check finds."""

from __future__ import annotations

from pathlib import Path

import pytest
import test_async_fl_proofs
import test_classics_proofs
import test_feddane_proofs
import test_fedshuffle_d
import test_fedshuffle_lemma_proofs
import test_partial_averaging_proofs
import test_scgd_fedavg_full_participation
import test_scgd_lemma_3_1
import test_scgd_theorem_3_3
from derivation_tools import fresh

from boundcheck.proof.discovery import derived_readings, folder, recorded

# whose tests check every one of these through `fresh`, which takes most of the time
ELSEWHERE = (
    *(test_async_fl_proofs, test_classics_proofs, test_feddane_proofs, test_fedshuffle_d),
    *(test_fedshuffle_lemma_proofs, test_partial_averaging_proofs),
    *(test_scgd_lemma_3_1, test_scgd_theorem_3_3, test_scgd_fedavg_full_participation),
)
CHECKED = {name for module in ELSEWHERE for name in module.CHECKED}
CASES = [
    (path.parent.name, path.stem, reading)
    for path in sorted(folder().rglob("*.py"))
    for reading in derived_readings(path.parent.name, path.stem)
]


def test_there_are_derivations_and_no_stale_records() -> None:
    assert len(CASES) >= 9
    for path in folder().rglob("*.json"):
        assert set(recorded(path.parent.name, path.stem)) == set(derived_readings(path.parent.name, path.stem))
    assert all(Path(folder() / p / f"{n}.json").is_file() for p, n, _ in CASES)


def test_what_is_checked_elsewhere_is_a_derivation() -> None:
    assert {"/".join(case) for case in CASES} > CHECKED


@pytest.mark.parametrize("name", sorted({"/".join(case) for case in CASES} - CHECKED))
def test_record_is_fresh(name: str) -> None:
    assert fresh(name).results
