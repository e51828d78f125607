"""Claims about curves that were measured elsewhere: what is compared, what is taken for granted, what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare_tools import HALVING

import boundcheck as bc
from boundcheck.engines.curve import Curve
from boundcheck.errors import BadInput
from boundcheck.evidence.claim import Claim, ClaimResult, RateClaim, run_claim
from boundcheck.evidence.confidence import Decision, SequentialTest
from boundcheck.evidence.contradictions import contradictions
from boundcheck.evidence.deciding import about_seeds
from boundcheck.evidence.outside import CurveFile
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Grade, Outcome, Verdict

# f = x^2/2 from x = 4: gradient descent with step 1/4 has x_k = 4 (3/4)^k and the gap 8 (9/16)^k
PARABOLA = {"kind": "quadratics", "clients": [{"A": 1}], "start": [4]}
GD: dict[str, Any] = {"kind": "gradient_descent", "eta": "1/4"}
MADE: dict[str, Any] = {"problem": PARABOLA, "method": GD}
GD_CONVEX = "classics/gradient_descent_convex/as_printed"  # gap_k <= dist2_0/(2 eta k)
EXACT = [8 * Fraction(9, 16) ** k for k in range(30)]
GD_STRONGLY = "classics/gradient_descent_strongly_convex/sharp"
# the mean of |f'|^2 = x^2 over rounds 0 to k - 1
GD_MEAN = "classics/gradient_descent_nonconvex/as_printed"
SQUARES = [16 * Fraction(9, 16) ** k for k in range(200)]


def outside(values: Any, metric: str = "gap", rounds: Any = None, **more: Any) -> Curve:
    shape = np.array(values, dtype=float).shape
    return Curve.from_samples(range(shape[-1]) if rounds is None else rounds, values, metric, **more)


def judged(id: str, curve: Any, **more: Any) -> ClaimResult:
    return run_claim(Claim(id, curve=curve, **more))


# --- what is compared and what is taken for granted -------------------------------------------------------


def test_with_problem_and_method() -> None:
    found = judged(GD_CONVEX, outside(EXACT), **MADE)
    assert (found.verdict.outcome, found.verdict.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert found.verdict.reason.endswith(
        "Taken for granted: that the curve was made by the method given (gradient_descent) on the problem given."
    )
    # the bound 32/k is at most half the trivial value 8 from k = 8 on, where bound/metric is 4/(8 (9/16)^8)
    assert found.verdict.tightness is not None
    assert found.verdict.tightness.ratio_min == pytest.approx((16 / 9) ** 8 / 2)
    assert found.rounds == tuple(range(1, 30))


def test_with_the_problem_alone_and_with_constants_alone() -> None:
    alone = judged(GD_CONVEX, outside(EXACT), problem=PARABOLA, constants={"eta": "1/4"}).verdict
    assert (alone.outcome, alone.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert alone.reason.endswith(
        "Taken for granted: that the run is gradient_descent; that the curve was measured on the problem given; the "
        "given value of eta."
    )
    values = {"eta": "1/4", "L": 1, "dist2_0": 16}
    free = judged(GD_CONVEX, outside(EXACT), constants=values).verdict
    assert (free.outcome, free.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "assumptions smooth_clients, convexity; that the run is gradient_descent; the given value" in free.reason
    assert bc.compare(GD_CONVEX, outside(EXACT), values).reason == free.reason


def test_a_curve_above_its_bound_is_violated_and_says_nothing_against_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundcheck.evidence.contradictions._proved", lambda id: True)
    wrong = [v if k == 0 else v * 9 for k, v in enumerate(EXACT)]  # 9 * 8 (9/16)^2 = 22.78 above 16 at k = 2
    found = judged(GD_CONVEX, outside(wrong), **MADE)
    assert (found.verdict.outcome, found.verdict.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
    assert found.verdict.witness["round"] == 2
    assert contradictions((), [found]) == ()
    ran = replace(found, claim=replace(found.claim, curve=None))
    assert [c.statement for c in contradictions((), [ran])] == [statement(GD_CONVEX).id]


def test_another_method_or_step_is_out_of_scope_with_the_same_ceiling() -> None:
    for method in ({"kind": "gradient_descent", "eta": 2}, {"kind": "fedavg", "E": 2, "eta": "1/4"}):
        found = judged(GD_CONVEX, outside(EXACT), problem=PARABOLA, method=method).verdict
        assert (found.outcome, found.grade) == (Outcome.OUT_OF_SCOPE, Grade.SUPPORTED)


def test_rounds_that_are_asked_for_are_there() -> None:
    found = judged(GD_CONVEX, outside(EXACT), **MADE, at={"k": [1, 5]})
    assert found.rounds == (1, 5)


# --- round 0, gaps ----------------------------------------------------------------------------------------


def test_a_start_that_agrees_to_rounding_is_left_out() -> None:
    constants = {"mu": "1/2", "n": 2, "dist2_0": 16}  # dist2 after 2K rounds is at most 16 (1/2)^K

    def at(values: list[float]) -> Verdict:
        curve = outside(values, "dist2", rounds=range(0, 2 * len(values), 2))
        return run_claim(Claim(HALVING, constants=constants, curve=curve)).verdict

    for first in (16 - 1e-12, 16, 16 + 1e-12):
        below = at([first, 7, 3])
        assert (below.outcome, below.points) == (Outcome.HOLDS, 2)
        assert "Round 0, where metric and bound agree to rounding before anything has run, was left out" in below.reason
        equal = at([first, 8, 3])
        assert (equal.outcome, equal.witness["round"]) == (Outcome.UNDECIDED, 2)
    above = at([17, 7, 3])
    assert (above.outcome, above.witness["round"]) == (Outcome.VIOLATED, 0)
    assert at([15, 7, 3]).points == 3
    assert at([16]).outcome is not Outcome.HOLDS


def test_an_average_needs_every_round_and_says_which_is_missing() -> None:
    whole = judged(GD_MEAN, outside(SQUARES, "grad2"), **MADE).verdict
    assert whole.outcome is Outcome.HOLDS
    assert "needs every round" not in whole.reason
    thin = outside(SQUARES[::20], "grad2", rounds=range(0, 200, 20))
    found = judged(GD_MEAN, thin, **MADE).verdict
    assert found.outcome is Outcome.UNDECIDED
    assert "the curve has no round 1 (it holds 10 rounds up to round 180): only the start was compared" in found.reason
    part = outside([*SQUARES[:50], SQUARES[60]], "grad2", rounds=[*range(50), 60])
    found = judged(GD_MEAN, part, **MADE).verdict
    assert found.outcome is Outcome.HOLDS
    assert "has no round 50 (it holds 51 rounds up to round 60): only averages over the first 50 rounds" in found.reason
    late = judged(GD_MEAN, outside(SQUARES[1:], "grad2", rounds=range(1, 200)), **MADE).verdict
    assert late.outcome is Outcome.FAILED
    assert "the curve has no round 0 " in late.reason


def test_a_run_of_our_own_at_a_grid_is_averaged_unless_it_was_written_down() -> None:
    curve = bc.run(GD, PARABOLA, rounds=[0, 200, 400], metrics=["grad2"])
    found = bc.compare(GD_MEAN, curve)
    assert (found.outcome, found.points) == (Outcome.HOLDS, 5)  # after 0, 199, 200, 399 and 400 rounds
    found = bc.compare(GD_MEAN, bc.Curve.from_dict(curve.to_dict()))
    assert found.outcome is Outcome.UNDECIDED
    assert "the curve has no round 1 (it holds 3 rounds up to round 400)" in found.reason


# --- seeds, means and deterministic runs ------------------------------------------------------------------

# FedShuffle on (36) with two of three clients a round is random
RANDOM: dict[str, Any] = {
    "problem": {"kind": "fedshuffle_36"},
    "method": {"kind": "fedshuffle", "eta_l": "1/20", "participation": {"kind": "uniform", "size": 2}},
}


@pytest.fixture(scope="module")
def seeds() -> np.ndarray:
    """Gaps (300, 21) that fall by a tenth a round, times a random number with mean 1."""
    start = bc.run(RANDOM["method"], RANDOM["problem"], rounds=[0], metrics=["gap"]).values["gap"][0]
    noise = np.random.default_rng(3).uniform(0.5, 1.5, (300, 21))
    noise[:, 0] = 1
    return start * 0.9 ** np.arange(21) * noise


def of_seeds(rows: Any, **more: Any) -> ClaimResult:
    id = "fedshuffle/theorem_5_1_convex/sharp"
    assert not statement(id).metric.expectation.startswith("none")
    return judged(id, outside(rows, statement(id).metric.quantity, **more), **RANDOM)


def test_seeds_are_judged_as_those_of_our_engine(seeds: np.ndarray) -> None:
    found = of_seeds(seeds).verdict
    assert found.grade is Grade.SUPPORTED
    assert "that the 300 seeds are independent runs" in found.reason
    assert found.details["statistics"]["seeds"] == 300


def test_one_run_of_a_random_method_decides_nothing(seeds: np.ndarray) -> None:
    for rows in (seeds[0], seeds[:3]):
        found = of_seeds(rows).verdict
        assert found.outcome is not Outcome.HOLDS
        assert found.details["statistics"]["seeds"] == (1 if rows.ndim == 1 else 3)


def test_too_few_seeds_say_about_how_many_would_decide() -> None:
    """Uniform values with mean 1/2 against bounds near it: the number is that of the test itself, to a factor of 4."""
    random = np.random.default_rng(7)
    for bound in (0.7, 0.6):
        rows = random.uniform(0, 1, (6000, 1))
        guess = about_seeds(rows[:400], np.array([bound]), 0.999)
        assert guess is not None
        test, real = SequentialTest(np.array([bound])), 0
        while test.decision is Decision.UNDECIDED and real < 6000:
            test = test.update(rows[real : real + 20])
            real += 20
        assert test.decision is Decision.WITHIN
        assert real / 4 <= max(guess, test.seeds_needed) <= 4 * real
    assert about_seeds(rows[:1], np.array([0.7]), 0.999) is None
    assert about_seeds(np.full((9, 1), 0.7), np.array([0.7]), 0.999) is None


def test_means_with_standard_errors_are_intervals() -> None:
    values = [float(v) for v in EXACT]
    small = [0.0, *(1e-3 * v for v in values[1:])]
    holds = judged(GD_CONVEX, outside(values, standard_error=small), **MADE).verdict
    assert (holds.outcome, holds.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "that the mean at each of the 30 rounds is normal about the expectation" in holds.reason
    assert "that what holds of the mean holds of every run" in holds.reason
    errors = [0.1, *small[1:]]
    noisy = judged(GD_CONVEX, outside([8.1, *values[1:]], standard_error=errors), **MADE)
    assert noisy.verdict.outcome is Outcome.HOLDS
    # at k = 2 the bound is 16 and the mean 2.53: an error of 4 leaves it open, with 4.14 errors to each side
    wide = [0.0, 0.0, 4.0, *(0.0 for _ in values[3:])]
    open_ = judged(GD_CONVEX, outside(values, standard_error=wide), **MADE).verdict
    assert open_.outcome is Outcome.UNDECIDED
    high = [v if k != 2 else 20.0 for k, v in enumerate(values)]
    for error, outcome in ((0.5, Outcome.VIOLATED), (2.0, Outcome.UNDECIDED)):
        errors = [0.0, 0.0, error, *(0.0 for _ in values[3:])]
        found = judged(GD_CONVEX, outside(high, standard_error=errors), **MADE).verdict
        assert found.outcome is outcome


def test_a_statement_about_every_outcome_is_about_every_seed() -> None:
    values = np.array([float(v) for v in EXACT])
    rows = np.stack([values, values / 2, values / 3])
    rows[:, 0] = 8
    found = judged(GD_CONVEX, outside(rows, seeds=["a", "b", "c"]), **MADE).verdict
    assert found.outcome is Outcome.HOLDS
    assert found.reason.startswith("Each of the 3 seeds was compared by itself; this is about seed 'a', the closest")
    rows[1, 3] = 11  # above 16/(3/2) = 10.67, while the mean is not
    found = judged(GD_CONVEX, outside(rows, seeds=["a", "b", "c"]), **MADE).verdict
    assert (found.outcome, found.witness["round"]) == (Outcome.VIOLATED, 3)
    assert found.reason.startswith("Each of the 3 seeds was compared by itself; seed 'b': At k = 3")


# --- files, rates, mistakes in a call ---------------------------------------------------------------------


def test_a_file_and_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("step,loss\n" + "".join(f"{k},{float(v)!r}\n" for k, v in enumerate(EXACT)))
    source = CurveFile("runs.csv", {"round": "step", "value": "loss"}, folder=str(tmp_path))
    found = run_claim(Claim(GD_CONVEX, PARABOLA, GD, curve=source))
    assert found.verdict.outcome is Outcome.HOLDS
    assert "that the values are the metric gap; that 'step' counts communication rounds" in found.verdict.reason
    assert found.info["columns"] == "rounds 'step', values 'loss'"
    (tmp_path / "runs.csv").write_text((tmp_path / "runs.csv").read_text() + "\n")
    again = run_claim(found.claim)
    assert again.verdict.reason == found.verdict.reason
    assert again.info["sha256"] != found.info["sha256"]
    unnamed = replace(source, columns={"round": "step"})
    with pytest.raises(BadInput, match=r"holds 'loss', not 'gap'; name its column, such as value = 'loss'"):
        run_claim(Claim(GD_CONVEX, PARABOLA, GD, curve=unnamed))


def test_the_slope_says_over_which_rounds_it_was_fitted() -> None:
    rate = RateClaim("gap", Fraction(-2), Fraction(-1))
    found = judged(GD_CONVEX, outside(EXACT), **MADE, rate=rate)
    assert len(found.failures) == 1
    assert "fitted over rounds 6 to 29 (24 points, the last 1/2 of the log range of rounds)" in found.failures[0]


def test_gradient_descent_in_doubles_far_from_the_origin(tmp_path: Path) -> None:
    """Doubles near 10^6 are 10^-10 apart, so that a distance to the minimiser of 10^-16 is rounding."""
    problem = {"kind": "quadratics", "start": [1000001], "clients": [{"A": [[1]], "b": [1000000]}]}
    rows = [(r, 0.25**r * (0.9 if r else 1) if r < 30 else 1.2e-21) for r in range(101)]
    (tmp_path / "gd.csv").write_text("round,dist2\n" + "".join(f"{r},{v!r}\n" for r, v in rows))
    source = {"file": str(tmp_path / "gd.csv"), "deterministic": True}
    for at, outcome in (([1, 5, 100], Outcome.HOLDS), ([100], Outcome.UNDECIDED)):
        found = run_claim(Claim(GD_STRONGLY, problem, {**GD, "eta": "1/2"}, at={"k": at}, curve=source))
        assert found.verdict.outcome is outcome, found.verdict.reason
