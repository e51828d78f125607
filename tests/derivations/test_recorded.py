"""What is recorded beside each derivation is what a fresh check finds."""

from __future__ import annotations

import pytest
import test_async_fl_proofs
import test_classics_proofs
import test_feddane_proofs
import test_fedshuffle_d
import test_fedshuffle_lemma_proofs
import test_partial_averaging_proofs
import test_partial_averaging_theorems
import test_scgd_fedavg_full_participation
import test_scgd_lemma_3_1
import test_scgd_theorem_3_3
from derivation_tools import fresh

from boundcheck.proof.discovery import derived_readings, folder
from boundcheck.proof.records import NOT_CHECKED, record, recorded

# whose tests check every one of these through `fresh`, which takes most of the time
ELSEWHERE = (
    *(test_async_fl_proofs, test_classics_proofs, test_feddane_proofs, test_fedshuffle_d),
    *(test_fedshuffle_lemma_proofs, test_partial_averaging_proofs, test_partial_averaging_theorems),
    *(test_scgd_lemma_3_1, test_scgd_theorem_3_3, test_scgd_fedavg_full_participation),
)
CHECKED = {name for module in ELSEWHERE for name in module.CHECKED}
# by their records, which are as many as the derivations: the first test looks
CASES = [
    (path.parent.name, path.stem, reading)
    for path in sorted(folder().glob("*/*.json"))
    for reading in recorded(path.parent.name, path.stem)
]


def test_there_are_derivations_and_no_stale_records() -> None:
    assert len(CASES) >= 9
    of_code, records = (
        {(p.parent.name, p.stem) for p in folder().glob(f"*/*.{end}") if not p.stem.endswith(".proof")}
        for end in ("py", "json")
    )
    assert of_code == records
    for paper, name in of_code:
        assert set(recorded(paper, name)) == set(derived_readings(paper, name))


def test_every_record_fits_what_it_is_about() -> None:
    """`make derivations` seals the records anew after a change of a statement, a derivation or the checker."""
    found = {"/".join(case): record("/".join(case)) for case in CASES}
    assert [id for id, known in found.items() if known is None or known.status == NOT_CHECKED] == []


def test_what_is_checked_elsewhere_is_a_derivation() -> None:
    assert {"/".join(case) for case in CASES} > CHECKED


@pytest.mark.parametrize("name", sorted({"/".join(case) for case in CASES} - CHECKED))
def test_record_is_fresh(name: str) -> None:
    assert fresh(name).results
