"""Theorems evaluated with measured constants: what is estimated is said, and no verdict is more than SUPPORTED."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.certified.constant import Constant, Known
from boundcheck.errors import BadInput, SpecError, UnknownName
from boundcheck.evidence.assumptions import check_assumption
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.spec import claims_from_text, load_claims
from boundcheck.methods.build import build as method
from boundcheck.networks.engine.probing import Probe
from boundcheck.networks.estimated import merged, overlaid
from boundcheck.problems.build import build
from boundcheck.setting.setting import describe_constants
from boundcheck.theory.assumptions import CLASSES
from boundcheck.verdict import Grade, Outcome

torch.set_num_threads(1)

FILE = Path(__file__).parents[2] / "configs" / "neural" / "theory.toml"


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    return {claim.statement + "/" + str(claim.problem["kind"]): claim for claim in load_claims(FILE)}


def test_the_shipped_claims_are_about_each_theorem(claims: dict[str, Claim]) -> None:
    asked = {name.rpartition("/")[0].rpartition("/")[0] for name in claims}
    assert asked == {
        *("fedshuffle/theorem_5_1_nonconvex", "fedshuffle/theorem_5_2"),
        *("feddane/theorem_5", "feddane/theorem_6", "partial_averaging/theorem_1", "partial_averaging/theorem_2"),
    }
    assert all(claim.expect is not None for claim in claims.values())


def test_feddane_with_measured_constants(claims: dict[str, Claim]) -> None:
    result = run_claim(claims["feddane/theorem_5/as_printed/neural"])
    verdict = result.verdict
    assert not result.failures
    assert verdict.grade is Grade.SUPPORTED
    assert verdict.reason.endswith(
        "Estimated, not proved, at 2 of the rounds 0 to 1 of a run with seed 0: L, lam, gamma, B2, gap_0, grad2_0."
    )
    measured = result.info["measured"]  # the values at each point stand beside the curve
    assert len(measured["along"]["B2"]) == len(measured["along"]["lam"]) == 2
    assert measured["constants"]["delta"]["known"] == "estimated"
    known = verdict.details["constants"]
    assert known["gamma"]["known"] == "estimated"
    assert known["mu"]["known"] == "exact"
    assert "Lanczos" in known["L"]["how"]
    assert "probability 0.99" in known["lam"]["how"]
    states = verdict.details["assumptions"]
    assert states["smooth_clients"] == states["lower_curvature"] == states["inexact_solves"] == "sampled"
    assert states["unbiased_gradient_cohort"] == "decided"


def test_small_proximal_weights_guarantee_nothing(claims: dict[str, Claim]) -> None:
    claim = replace(claims["feddane/theorem_5/as_printed/neural"], expect=None)
    verdict = run_claim(replace(claim, method={**claim.method, "mu": 2})).verdict
    assert verdict.outcome is Outcome.VACUOUS
    assert verdict.grade is Grade.SUPPORTED
    assert "positive decrease" in verdict.reason
    # below the negative curvature that was seen the subproblems may have no solution, and no gamma
    with pytest.raises(BadInput, match="no value for gamma"):
        run_claim(replace(claim, method={**claim.method, "mu": "1/100"}))


def test_iid_clients_are_asked_for(claims: dict[str, Claim]) -> None:
    result = run_claim(claims["partial_averaging/theorem_1/corrected/neural"])
    assert not result.failures
    assert "iid_clients fails" in result.verdict.reason
    assert result.verdict.details["assumptions"]["block_variance"] == "sampled"
    assert result.verdict.grade is Grade.SUPPORTED


def test_softmax_regression_keeps_its_certified_constants(claims: dict[str, Claim]) -> None:
    result = run_claim(claims["feddane/theorem_5/as_printed/softmax_regression"])
    assert not result.failures
    assert "Estimated" not in result.verdict.reason
    assert set(result.verdict.details["assumptions"].values()) == {"decided"}
    assert {c["known"] for c in result.verdict.details["constants"].values()} <= {"certified", "exact"}


# --- the overlay ------------------------------------------------------------------------------------------


def seen(value: int, name: str = "seen") -> Constant:
    return Constant(Fraction(value), Known.ESTIMATED, "exact", name)


@pytest.fixture(scope="module")
def network() -> Any:
    model = {"name": "mlp", "hidden": [2]}
    return build({"kind": "neural", "data": "digits", "model": model, "clients": 3, "seed": 1, "samples": 12})


def measured(*, scale: int = 1) -> Probe:
    return Probe(
        constants={name: seen(scale * 2, name) for name in ("L", "lam", "L_ij", "G2", "noise2", "f_low")}
        | {"B2": Constant(Fraction(1), Known.EXACT, "exact", "chosen")},
        along={},
        clients=(0, 2),
        curvatures=((-1.0 * scale, 2.0), (-0.5, 3.0 * scale)),
        variances=(4.0, 6.0 * scale),
        block_noise=np.array([[1.0, 2.0], [3.0, 1.0]]) * scale,
        kappa2=np.array([0.5, 0.25]),
        beta2=np.array([1.0, 2.0]),
    )


def test_what_the_problem_knows_wins(network: Any) -> None:
    found: Any = overlaid(network, measured(), along="at x")
    known = found.constants()
    assert known["f_low"].known is Known.CERTIFIED
    assert known["f_low"].value == 0
    assert known["L"].value == 2
    assert known["n"].value == 3
    assert set(found.estimates) == {"L", "lam", "L_ij", "G2", "noise2"}
    assert found.metrics[-1] == "gap"
    assert found.dim == network.dim
    assert found.violations("smooth_clients") is None
    assert found.holds_by_estimates("smooth_clients")
    assert not found.holds_by_estimates("bounded_below")
    with pytest.raises(BadInput):
        found.violations("hessian_similarity")  # no delta was measured


def test_what_the_problem_knows_to_fail_is_not_overruled() -> None:
    class Objecting:
        def violations(self, assumption: str) -> str | None:
            if assumption == "smooth_clients":
                return "they have a kink."
            raise UnknownName("the assumption", assumption, ["smooth_clients"])

        def constants(self) -> dict[str, Constant]:
            return {}

    found: Any = overlaid(Objecting(), measured(), along="at x")  # pyright: ignore[reportArgumentType]
    assert found.violations("smooth_clients") == "they have a kink."
    assert found.violations("smooth_samples") is None
    with pytest.raises(UnknownName):
        found.violations("hessian_similarity")


def test_clients_that_were_not_looked_at_get_the_worst(network: Any) -> None:
    found: Any = overlaid(network, measured(), blocks=(range(5), range(5, network.dim)))
    assert found.client_curvatures() == ((-1, 2), (-1, 3), (Fraction(-1, 2), 3))
    assert found.local_variances() == ((0, 4), (0, 6), (0, 6))
    blocks = (tuple(range(5)), tuple(range(5, network.dim)))
    assert found.block_variances(1, blocks) == (3, 2)
    assert found.block_variances(2, blocks) == (3, 1)
    assert found.block_dissimilarity(blocks).kappa2(Fraction(1)) == (Fraction(1, 2), Fraction(1, 4))
    assert found.block_variances(0, (tuple(range(6)), tuple(range(6, network.dim)))) is None
    assert found.block_dissimilarity(blocks[:1]) is None


def test_the_larger_of_two_measurements(network: Any) -> None:
    both = merged(measured(scale=3), measured())
    assert both.constants["L"].value == 6
    assert both.constants["B2"].value == 1
    assert both.curvatures == ((-3.0, 2.0), (-0.5, 9.0))
    assert both.variances == (4.0, 18.0)
    np.testing.assert_array_equal(both.block_noise, [[3, 6], [9, 3]])
    with pytest.raises(BadInput, match="different clients"):
        merged(measured(), replace(measured(), clients=(0, 1)))


def test_constants_made_of_estimates_are_estimates(network: Any) -> None:
    found: Any = overlaid(network, measured())
    known = describe_constants(
        method({"kind": "feddane", "mu": 9, "participation": "full", "solver": {"steps": 2, "eta": "1/10"}}), found
    )
    # the steps shrink by at most |1 - (9 - 1)/10| and |1 - (9 + 3)/10|, twice
    assert known["gamma"].value == Fraction(1, 25)
    assert known["gamma"].known is Known.ESTIMATED
    assert known["inv_mu"].known is Known.EXACT
    assert known["cohort_size"].known is Known.EXACT


def test_hypotheses_of_a_network_are_not_tried_at_points(network: Any) -> None:
    verdict = check_assumption(CLASSES["smooth_clients"], network, {"L": 3})
    assert verdict.outcome is Outcome.UNDECIDED
    assert "neural engine alone" in verdict.reason


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('engine = "neural"\nestimate = { sample = 3 }', "sample"),
        ('engine = "neural"\nestimate = { samples = 0 }', "at least 2"),
    ],
)
def test_bad_wishes_are_told(line: str, told: str) -> None:
    text = f"""
[[claim]]
statement = "feddane/theorem_5/as_printed"
{line}
problem = {{ kind = "neural", data = "digits", model = {{ name = "mlp", hidden = [2] }}, clients = 3 }}
method = {{ kind = "feddane", mu = 60, participation = "full", solver = {{ steps = 3, eta = "1/62" }} }}
"""
    with pytest.raises(SpecError, match=told):
        claims_from_text(text)


def test_estimates_are_the_neural_engines() -> None:
    text = """
[[claim]]
statement = "feddane/theorem_5/as_printed"
estimate = true
problem = { kind = "feddane_1d" }
method = { kind = "feddane", mu = 60, participation = "full" }
"""
    with pytest.raises(SpecError, match="estimate is for engine = 'neural'"):
        claims_from_text(text)
