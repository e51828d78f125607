"""What a belief rests on, and that every piece of evidence which is shown is there."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from boundcheck.evidence.shipped_files import claims_by_id, shipped_witnesses
from boundcheck.evidence.standing import grounds, lacks_grounds
from boundcheck.proof.records import record
from boundcheck.theory.discovery import all_statements, papers, statement
from boundcheck.theory.statement import Belief
from boundcheck.verdict import Outcome
from tests.oracle import evidence
from tests.oracle.frozen import load

EXAMPLES = Path(__file__).parents[2] / "examples"
SHIPPED = {name for name, module in papers().items() if module.startswith("boundcheck.")}
STATEMENTS = [s for s in all_statements() if s.id.split("/")[0] in SHIPPED]
WITNESSES, CLAIMS = shipped_witnesses(), claims_by_id()
FOUND = {s.id: grounds(s, record(s.id), WITNESSES, CLAIMS) for s in STATEMENTS}


def test_which_evidence_bears_out_which_belief() -> None:
    claimed = statement("scgd/theorem_3_3/as_printed_appendix")
    false, open_ = replace(claimed, belief=Belief.FALSE), replace(claimed, belief=Belief.OPEN)
    holds, violated = {claimed.id: {"HOLDS": 1}}, {claimed.id: {"VIOLATED": 2, "HOLDS": 1, "VACUOUS": 1}}
    empty: dict[str, Any] = {}
    assert grounds(claimed, None, empty, holds) == ("claim that holds",)
    assert grounds(claimed, None, empty, {claimed.id: {"VACUOUS": 1, "OUT_OF_SCOPE": 1}}) == ()
    assert grounds(claimed, None, {claimed.id: Path("a")}, empty) == ()  # a witness is no evidence for a true reading
    assert grounds(false, None, {claimed.id: Path("a")}, violated) == ("witness", "violated claim")
    assert grounds(false, None, empty, holds) == ()
    wrong = replace(false, bound=claimed.bound + sp.Symbol("mu", real=True))
    assert grounds(wrong, None, empty, empty) == ("dimension clash",)
    assert grounds(open_, None, empty, holds) == ()
    assert [lacks_grounds(s, ()) for s in (claimed, false, open_)] == [True, True, False]


def test_derivations_count_by_their_status() -> None:
    proved, refuted = statement("scgd/lemma_3_1/corrected"), statement("scgd/lemma_3_1/as_printed_main")
    for own, status, kind in ((proved, "PROVED", "proved derivation"), (refuted, "REFUTED", "refuted derivation")):
        derived = record(own.id)
        assert derived is not None
        assert kind in grounds(own, replace(derived, status=status), {}, {})
        assert kind not in grounds(own, replace(derived, status="not checked"), {}, {})


def test_every_claim_that_is_shown_is_carried_out_by_a_test() -> None:
    """Files of claims are those whose tests run them: frozen verdicts, or a test that is named."""
    tests = Path(__file__).parents[1]
    for path in sorted(EXAMPLES.glob("*.toml")):
        if not tomllib.loads(path.read_text()).get("claim"):
            continue
        frozen = (*evidence.CHECKED, *evidence.CHECKED_ONE_BY_ONE)
        named = evidence.NOT_FROZEN.get(path.stem, "").rpartition("tests/")[2]
        assert path.stem in frozen or path.stem == "fedshuffle_mnist" or (tests / named).is_file(), path.stem


def test_every_witness_that_is_shown_is_a_violation_of_its_statement() -> None:
    """That they replay is held in `test_witness.py`."""
    for id, path in WITNESSES.items():
        verdict = json.loads(path.read_text())["verdict"]
        assert (verdict["statement"], verdict["outcome"], verdict["grade"]) == (id, Outcome.VIOLATED.value, "EXACT")


def test_every_derivation_that_is_shown_is_on_record() -> None:
    shown = {id for id, kinds in FOUND.items() if {"proved derivation", "refuted derivation"} & set(kinds)}
    assert shown <= set(load("steps"))


def test_every_reading_with_a_belief_has_evidence() -> None:
    assert [s.id for s in STATEMENTS if lacks_grounds(s, FOUND[s.id])] == []


@pytest.mark.parametrize("id", ["partial_averaging/equation_12", "async_fl/equation_36", "async_fl/lemma_7"])
def test_a_claim_bears_out_what_was_a_formula(id: str) -> None:
    assert "claim that holds" in FOUND[statement(id).id]
