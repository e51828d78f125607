"""Every statement is about something that a run can measure, or about a named quantity of a proof."""

from __future__ import annotations

import pytest

import boundcheck as bc
from boundcheck.errors import BadInput
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.constant_claims import constant_of
from boundcheck.networks.study.spec import METRICS
from boundcheck.setting.metrics import is_round_metric
from boundcheck.theory.discovery import all_statements
from boundcheck.theory.quantities import PROOF_QUANTITIES, check_measurable
from boundcheck.theory.statement import Kind

PROBLEM = {"kind": "quadratics", "clients": [{"A": 1, "b": 0}]}
METHOD = {"kind": "fedavg_async", "times": [1], "K": 1, "eta_l": "1/1000", "eta_g": "3/4"}


def test_every_metric_is_measured_or_named() -> None:
    others = {s.metric.quantity for s in all_statements() if s.kind is not Kind.FORMULA and constant_of(s) is None}
    others -= {"none"}  # of claims about numbers alone
    unmeasured = {q for q in others if q not in (*METRICS, "x") and not is_round_metric(q)}
    assert unmeasured == set(PROOF_QUANTITIES)


@pytest.mark.parametrize("id", ["fedshuffle/lemma_d_1/corrected", "fedshuffle/lemma_b_2/fixed_step"])
def test_a_claim_about_a_quantity_of_a_proof_is_refused_in_words(id: str) -> None:
    quantity = bc.statement(id).metric.quantity
    with pytest.raises(BadInput, match=f"is about '{quantity}', a quantity of its proof that no run measures"):
        run_claim(bc.Claim(id, PROBLEM, METHOD))
    with pytest.raises(BadInput, match=f"the metric '{quantity}' occurs in a proof and no run measures it"):
        bc.run(METHOD, PROBLEM, rounds=1, metrics=[quantity])


def test_only_numbers_have_a_metric_without_a_name() -> None:
    unnamed = [s for s in all_statements() if s.metric.quantity == "none" and s.kind is not Kind.FORMULA]
    assert all(s.metric.value is not None for s in unnamed)


def test_what_runs_measure_passes() -> None:
    for id in ("scgd/theorem_3_3", "fedshuffle/lemma_e_4", "async_fl/table_2_async_tau"):
        check_measurable(bc.statement(id))
    with pytest.raises(BadInput, match="is a formula, not a claim about a run"):
        check_measurable(bc.statement("async_fl/equation_108/as_printed"))
