"""What a belief rests on, and that every piece of evidence which is shown is there."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

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


@cache
def found() -> dict[str, tuple[str, ...]]:
    """The evidence on each shipped reading; collected when a test needs it, and not by every worker."""
    own = {name for name, module in papers().items() if module.startswith("boundcheck.")}
    witnesses, claims = shipped_witnesses(), claims_by_id()
    every = [s for s in all_statements() if s.id.split("/")[0] in own]
    return {s.id: grounds(s, record(s.id), witnesses, claims) for s in every}


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
    tests, frozen = Path(__file__).parents[1], (*evidence.CHECKED, *evidence.CHECKED_ONE_BY_ONE)
    for path in sorted(EXAMPLES.glob("*.toml")):
        if not tomllib.loads(path.read_text()).get("claim"):
            continue
        named = evidence.NOT_FROZEN.get(path.stem, "").rpartition("tests/")[2]
        assert path.stem in frozen or path.stem == "fedshuffle_mnist" or (tests / named).is_file(), path.stem


def test_every_witness_that_is_shown_is_a_violation_of_its_statement() -> None:
    """That they replay is a test of the examples."""
    for id, path in shipped_witnesses().items():
        verdict = json.loads(path.read_text())["verdict"]
        assert (verdict["statement"], verdict["outcome"], verdict["grade"]) == (id, Outcome.VIOLATED.value, "EXACT")


def test_every_derivation_that_is_shown_is_on_record() -> None:
    shown = {id for id, kinds in found().items() if {"proved derivation", "refuted derivation"} & set(kinds)}
    assert shown <= set(load("steps"))


def test_every_reading_with_a_belief_has_evidence() -> None:
    assert [id for id, kinds in found().items() if lacks_grounds(statement(id), kinds)] == []
    for id in ("partial_averaging/equation_12", "async_fl/equation_36", "async_fl/lemma_7"):  # they were formulas
        assert "claim that holds" in found()[statement(id).id]
