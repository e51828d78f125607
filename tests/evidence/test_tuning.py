"""What a bound promises and recommends, against runs carried out here by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.evidence.rounds_to_target import needed, prepare, promised, start_value
from boundcheck.evidence.tuning import recommended, tune
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build
from boundcheck.theory.discovery import statement

SCGD = statement("scgd/theorem_3_3/corrected")
PROBLEM = build({"kind": "scgd_section_4"})
METHOD = {"kind": "scgd", "E": 2, "eta": "largest"}
SHARE = Fraction(1, 10)


def test_the_promised_index_is_where_the_bound_first_meets_the_target() -> None:
    setup = prepare(SCGD, PROBLEM, METHOD)
    assert not isinstance(setup, str)
    target = start_value(setup) * SHARE
    index = promised(setup, target)
    assert index is not None
    at = setup.claimed.evaluate(**setup.values, K=index)
    well_before = setup.claimed.evaluate(**setup.values, K=index - index // 1000 - 1)
    assert float(at.value) <= float(target) < float(well_before.value)


def test_the_needed_index_is_the_first_of_a_run_round_by_round() -> None:
    setup = prepare(SCGD, PROBLEM, {**METHOD, "eta": "1/500"})
    assert isinstance(setup, str)  # far outside the scope
    setup = prepare(SCGD, PROBLEM, METHOD)
    assert not isinstance(setup, str)
    target = start_value(setup) * Fraction(9, 10)
    index = needed(setup, target)
    n = PROBLEM.clients
    curve = run(setup.method, PROBLEM, rounds=range(0, 400 * n, n), metrics=["dist2"], arithmetic="float64")
    below = [k for k, v in enumerate(curve.values["dist2"]) if k and v <= float(target)]
    assert index == below[0]


def test_a_statement_that_does_not_apply_says_why() -> None:
    why = prepare(SCGD, build({"kind": "fedshuffle_36"}), METHOD)
    assert isinstance(why, str)
    assert "plain_mean" in why


def test_the_recommendation_is_the_best_of_what_is_tried() -> None:
    setup, choice, _ = recommended(SCGD, PROBLEM, METHOD, SHARE, grid=(1, 2))
    assert setup is not None
    assert choice is not None
    others = []
    for e in (1, 2):
        for c in ("1", "1/2", "1/4"):
            other = prepare(SCGD, PROBLEM, {**METHOD, "E": e, "eta": f"{c}*largest"})
            assert not isinstance(other, str)
            others.append(promised(other, start_value(other) * SHARE))
    assert choice.index == min(k for k in others if k is not None)


def test_running_finds_a_better_choice_and_the_ratio_says_by_how_much() -> None:
    found = tune(SCGD, PROBLEM, METHOD, SHARE)
    assert found.recommended is not None
    assert found.best is not None
    assert found.best.rounds is not None
    assert found.really is not None
    assert found.recommended.rounds is not None
    assert found.best.rounds < found.really < found.recommended.rounds
    assert found.ratio == found.recommended.rounds / found.best.rounds
    # the best choice does reach the target in as many rounds, and not one cycle earlier
    rounds, n = found.best.rounds, PROBLEM.clients
    curve = run(build_method(found.best.method), PROBLEM, rounds=[rounds - n, rounds], metrics=["dist2"])
    assert found.target is not None
    before, after = curve.values["dist2"]
    assert after <= float(found.target) < before


def test_a_share_outside_the_unit_interval_is_refused() -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        tune(SCGD, PROBLEM, METHOD, Fraction(2))


def test_a_statement_without_a_number_of_rounds_is_refused() -> None:
    with pytest.raises(BadInput, match="promises nothing"):
        tune(statement("fedshuffle/lemma_c_2"), PROBLEM, METHOD, SHARE)
