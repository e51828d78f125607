"""What a metric measured from above, or rounded, is not taken for: a violation of a true bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import boundcheck as bc
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.measurement_error import from_below
from boundcheck.evidence.spec import claims_from_text
from boundcheck.verdict import Grade, Outcome

torch.set_num_threads(1)
DESCENT = """
[[claim]]
statement = "classics/gradient_descent_strongly_convex/sharp"
problem = { kind = "logistic_regression", data = "breast_cancer", clients = 2, split = "random", seed = 0, features = "unit", ridge = "1/2", weights = "equal" }
method = { kind = "gradient_descent", eta = "largest" }
at = { k = [1, 5, 100] }
seeds = 1
"""  # noqa: E501
GAP = """
[[claim]]
statement = "classics/gradient_descent_convex/as_printed"
problem = { kind = "neural", data = "digits", model = "softmax", clients = 2, split = "random", seed = 0, samples = 40, ridge = 1, start = "zero" }
method = { kind = "gradient_descent", eta = "1/10" }
constants = { dist2_0 = 1, L = 10 }
engine = "neural"
neural = { precision = "float64" }
at = { k = [1, 10, 40] }
"""  # noqa: E501


def verdict_of(text: str) -> Any:
    return run_claim(claims_from_text(text)[0]).verdict


@pytest.mark.parametrize("how", ["sampled", "float64", "float32"])
def test_descent_is_not_refuted_by_the_rounding_at_its_end(how: str) -> None:
    # the bound falls to 1e-141, the distance to the enclosed minimiser no further than to about 1e-27 (1e-15)
    own = 'engine = "sampled"' if how == "sampled" else f'engine = "neural"\nneural = {{ precision = "{how}" }}'
    verdict = verdict_of(DESCENT + own)
    if how == "float32":  # the point at the end is above the floor of doubles
        assert (verdict.outcome, verdict.grade) == (Outcome.UNDECIDED, Grade.SUPPORTED)
        return
    assert (verdict.outcome, verdict.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "were left out, the first at k = 100: rounding in doubles decides nothing" in verdict.reason


def test_a_gap_above_a_lower_bound_refutes_nothing() -> None:
    # F* is far above 0, the lower bound of F that is known, so that F - 0 stays large while F - F* goes to 0
    verdict = verdict_of(GAP)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "from above" in verdict.reason


def test_clear_violations_stay() -> None:
    # from |x_0 - x*|^2 <= 1/10^6 the bound would be 1/10^6/(2 eta k), which F itself comes nowhere near
    verdict = verdict_of(
        GAP.replace("dist2_0 = 1,", 'dist2_0 = "1/1000000",').replace("k = [1, 10, 40]", "k = [1, 40]")
    )
    assert (verdict.outcome, verdict.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)


def test_step_sizes_that_estimates_forbid_are_no_exact_verdict() -> None:
    text = GAP.replace("constants = { dist2_0 = 1, L = 10 }", "estimate = { samples = 4, curved = 4, steps = 4 }")
    text = text.replace("classics/gradient_descent_convex/as_printed", "fedshuffle/theorem_5_1_nonconvex/corrected")
    text = text.replace('{ kind = "gradient_descent", eta = "1/10" }', '{ kind = "fedshuffle", eta_l = "1/10" }')
    verdict = verdict_of(text.replace("k = [1, 10, 40]", "R = [1, 2]"))
    assert verdict.grade is Grade.SUPPORTED


def test_how_far_down_a_metric_may_lie() -> None:
    problem, method = claims_from_text(DESCENT)[0].problem, {"kind": "gradient_descent", "eta": "1/10"}
    how: dict[str, Any] = {"engine": "neural", "neural": {"precision": "float64"}}
    curve = bc.run(method, problem, rounds=2, seeds=1, metrics=("gap", "dist2", "grad2"), **how)
    above = curve.info["from_above"]
    for name in ("gap", "dist2"):
        low = from_below(curve, name)
        assert low is not None
        assert (low.samples[name] >= 0).all()
        assert (low.samples[name] < curve.samples[name]).all()
        np.testing.assert_allclose(low.values[name], curve.values[name], rtol=1e-9)  # the enclosure is narrow
    distance = np.sqrt(curve.samples["dist2"]) - 2 * above["dist2"]
    lowered = from_below(curve, "dist2")
    assert lowered is not None
    np.testing.assert_array_equal(lowered.samples["dist2"], distance**2)
    assert from_below(curve, "grad2") is None
    coarse = from_below(replace(curve, info={**curve.info, "precision": "float32"}), "grad2")
    assert coarse is not None
    start = float(curve.values["grad2"].max())
    np.testing.assert_allclose(coarse.samples["grad2"], curve.samples["grad2"] - 1e-6 * start)
