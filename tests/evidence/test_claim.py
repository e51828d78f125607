"""Claims end to end: every form of a call, grids chosen, seeds added until decided, readings beside, expectations."""

from __future__ import annotations

import json
import math
import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loaded_papers import TEXT as PAPER
from loaded_papers import unloaded_afterwards

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.core import toml_lines
from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.evidence import claim_result, open_step_sizes, resolve, stored
from boundcheck.evidence.check import check
from boundcheck.evidence.claim import Claim, ClaimResult, RateClaim, run_claim
from boundcheck.evidence.claim_rounds import default_index
from boundcheck.evidence.compare import compare
from boundcheck.evidence.spec import claims_from_text, load_claims
from boundcheck.judge.against_bound import check_against_bound
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.problems import _own_data
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.discovery import statement
from boundcheck.theory.loading import load_paper
from boundcheck.verdict import Grade, Outcome

APP_C = {"kind": "scgd_appendix_c"}
DIABETES = {"kind": "least_squares", "data": "diabetes", "clients": 20, "split": "sorted"}
LINE = {"kind": "quadratics", "start": [1], "clients": [{"A": [[1]]}]}
GD = {"kind": "gradient_descent", "eta": "1/2"}
STATEMENT, SHARP = "scgd/theorem_3_3/corrected", "classics/gradient_descent_strongly_convex/sharp"
METHOD, AT = {"kind": "scgd", "E": 2, "eta": "1e-5"}, {"K": [10, 100000]}
TEXT = f"""[[claim]]
statement = "{STATEMENT}"
problem = {{ kind = "scgd_appendix_c" }}
method = {{ kind = "scgd", E = 2, eta = "1e-5" }}
at = {{ K = [10, 100000] }}
expect = "HOLDS"
"""


# --- forms of a call and files --------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    path = tmp_path / "claims.toml"
    path.write_text(TEXT)
    return path


def test_every_form_gives_the_same_verdict(file: Path) -> None:
    table: dict[str, Any] = {"statement": STATEMENT, "problem": APP_C, "method": METHOD, "at": AT, "expect": "HOLDS"}
    asked: dict[str, Any] = {"at": AT, "expect": "HOLDS"}
    found = [
        check(file),
        check(table),
        check(Claim(STATEMENT, APP_C, METHOD, at=AT, expect=Outcome.HOLDS)),
        check(STATEMENT, APP_C, METHOD, **asked),
        check(bc.statement(STATEMENT), bc.problem(APP_C), METHOD, **asked),
    ]
    assert len({(r.verdict.outcome, r.verdict.reason, r.bound) for results in found for r in results}) == 1
    assert all(len(results) == 1 and results.met for results in found)
    assert "HOLDS" in found[0].to_frame().to_string()
    assert found[0].bibtex().count("@") == 1


def test_a_claim_of_a_file_travels_without_what_was_built(file: Path) -> None:
    (claim,) = load_claims(file)
    assert claim.prepared is not None
    assert claim.claimed.id == STATEMENT
    sent = pickle.loads(pickle.dumps(claim))
    assert sent == claim
    assert sent.prepared is None
    assert "claimed" not in vars(sent)


def test_results_of_a_file_are_a_table(file: Path) -> None:
    file.write_text(TEXT + TEXT.replace("HOLDS", "VIOLATED"))
    shares: list[float] = []
    found = check(file, store=file.parent / "runs", on_progress=shares.append)
    assert not found.met
    frame = found.to_frame()
    assert list(frame["outcome"]) == ["HOLDS", "HOLDS"]
    assert "expected VIOLATED, got HOLDS" in frame["missed"][1]
    assert shares == sorted(shares)
    labels = [c.label() for c in load_claims(file)]
    assert labels == [f"claim {k}: {STATEMENT} on scgd_appendix_c scgd" for k in (1, 2)]


@pytest.mark.parametrize(("eta", "methods"), [("1e-5", 1), ("0.9*largest", 2)])
def test_what_a_claim_is_made_of_is_built_once(
    file: Path, monkeypatch: pytest.MonkeyPatch, eta: str, methods: int
) -> None:
    """A size that the statement gives is found with a method that has 1 in its place."""
    file.write_text(TEXT.replace("1e-5", eta))
    calls: Counter[str] = Counter()

    def counted(module: Any, name: str) -> None:
        real = getattr(module, name)

        def call(*arguments: Any, **options: Any) -> Any:
            calls[name] += 1
            return real(*arguments, **options)

        monkeypatch.setattr(module, name, call)

    counted(resolve, "build_problem")
    counted(open_step_sizes, "build_method")
    counted(claim_result, "statement")
    counted(toml_lines, "parse_toml")
    counted(_own_data, "load_toml")
    assert main(["check", str(file)]) == 0
    assert calls == {"build_problem": 1, "build_method": methods, "statement": 1, "parse_toml": 1, "load_toml": 1}


def test_a_claim_without_a_constant_stops_no_other() -> None:
    """The Huber function is not strongly convex, so that it has no mu; alone such a claim is refused at once."""
    text = TEXT.replace("scgd_appendix_c", '%s", L = 1, R = 2, k = "10').replace("E = 2", "E = 1")
    first, second = claims_from_text(text % "huber" + TEXT)
    assert "There is no mu" in run_claim(first).verdict.reason
    assert run_claim(second).verdict.outcome is Outcome.HOLDS


# --- before anything is run -----------------------------------------------------------------------------------------


def test_hypotheses_that_no_step_meets_are_vacuous() -> None:
    """L = 10 and mu = 2: the second entry of the printed equation (2) is -1.76e-4."""
    problem = {"kind": "quadratics", "clients": [{"A": [[10, 0], [0, 2]]}, {"A": [[10, 0], [0, 2]]}]}
    method = {"kind": "scgd", "E": 1, "eta": "largest"}
    asked = Claim("scgd/theorem_3_3/as_printed_main", problem, method, expect=Outcome.VACUOUS)
    result = run_claim(asked)
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.VACUOUS, Grade.EXACT)
    assert "no positive eta satisfies" in result.verdict.reason
    assert result.failures == ()
    # what was asked beyond the outcome is not met by a run that did not take place
    more = run_claim(replace(asked, tightness=(1.0, None), rate=RateClaim("dist2", Fraction(-3), Fraction(-1))))
    assert len(more.failures) == 2


def test_the_default_grid_reaches_the_floor() -> None:
    claimed = statement("scgd/theorem_3_3")
    at = {"mu": 1, "L": 1, "n": 1, "E": 1, "eta": Fraction(3, 100), "sigma2": 1, "dist2_0": 100}
    values = {name: Fraction(v) for name, v in at.items()}
    grid = default_index(claimed, values)
    assert grid[:2] == [0, 1]
    assert grid == sorted(set(grid))
    # the floor is 12*0.03^2 = 0.0108; the contraction 0.99^K*100 is 1 % of it from K = 1375 on
    assert 1375 <= grid[-1] < 4 * 1375
    assert claimed.evaluate(**values, K=grid[-1]).value == pytest.approx(0.0108, rel=0.011)


def test_an_instance_that_lacks_what_it_breaks_is_out_of_scope() -> None:
    """F = x^3 - 2x^2/3 has no minimiser, so neither mu nor dist2: a hypothesis fails, and nothing was mistyped."""
    cubic = {"kind": "scgd_appendix_c", "cubic": True}
    asked = Claim("scgd/theorem_3_3", cubic, {"kind": "scgd", "E": 2, "eta": "1/10"}, expect=Outcome.OUT_OF_SCOPE)
    result = run_claim(asked)
    assert (result.verdict.outcome, result.verdict.grade, result.failures) == (Outcome.OUT_OF_SCOPE, Grade.EXACT, ())
    assert "unbounded below" in result.verdict.reason
    assert "no mu, L, sigma2, dist2_0, the metric dist2" in result.verdict.reason


def test_weights_without_an_average_are_out_of_scope_where_a_hypothesis_fails() -> None:
    claim = Claim("fedshuffle/theorem_5_1_strongly_convex/sharp", {"kind": "fedshuffle_36"},
                  {"kind": "fedshuffle", "eta_l": "1e30"}, at={"R": [10]})  # fmt: skip
    result = run_claim(claim)
    assert (result.verdict.outcome, result.index) == (Outcome.OUT_OF_SCOPE, ())
    assert "condition 'step size' fails" in result.verdict.reason


def test_an_impossible_step_is_refused_before_an_implementation_runs() -> None:
    def never(task: Any, seed: int) -> Sequence[np.ndarray]:
        raise AssertionError("it ran")

    claim = Claim(SHARP, LINE, {**GD, "eta": "5"}, at={"k": [1, 5]}, expect=Outcome.HOLDS)
    found = check_against_bound(claim, never, seeds=2000)
    assert found.verdict.outcome is Outcome.OUT_OF_SCOPE
    assert "is missed by" in found.verdict.reason
    sampled = run_claim(replace(claim, engine="sampled", seeds=10**9, expect=None))
    assert (sampled.verdict.outcome, sampled.index) == (Outcome.OUT_OF_SCOPE, ())


# --- results --------------------------------------------------------------------------------------------------------


def test_other_readings_stand_beside_with_their_scope() -> None:
    result = run_claim(Claim("scgd/theorem_3_3", DIABETES, {"kind": "scgd", "E": 4, "eta": "largest"}))
    scopes = {r.id.rsplit("/", 1)[1]: r.in_scope for r in result.readings}
    # diabetes has mu/L = 0.00036 and L = 23.7 here: the printed constant of the main text is smaller for L > 1
    assert scopes["as_printed_appendix"] is True
    assert scopes["conservative"] is False
    sharp = {r.bound for r in result.readings if r.id.endswith("/sharp")}
    assert {r.bound for r in result.readings} - sharp == {result.bound}
    assert len(sharp) == 1
    assert all(a < b for a, b in zip(sharp.pop(), result.bound, strict=True))
    assert len(result.index) == len(result.rounds) == len(result.bound) == len(result.metric_low)
    assert result.rounds[1] == 20 * result.index[1]
    json.dumps(result.verdict.to_dict(), allow_nan=False)
    # the theorem promises a sixth of what a step does: mu s/3 against 2 mu s, slowed by the other directions
    assert result.verdict.tightness is not None
    assert 0.1 < (result.verdict.tightness.decrease or 0) < 0.17


def test_another_reading_without_a_value_is_a_remark(tmp_path: Path) -> None:
    """At eta L = 3/2, (1 - eta L)^(2k) dist2_0 is the run itself; sqrt(1 - eta L) is no real number."""
    text = PAPER.replace('("gap", VALUE', '("dist2", LENGTH2').replace("import VALUE", "import LENGTH2")
    text = text.replace('    conditions=(Condition("step size", eta * L <= 1),),\n', "")
    text = text.replace("(FORMULA) / 2", "(1 - eta * L) ** (2 * k) * dist2_0")
    text = text.replace("FORMULA", "sqrt(1 - eta * L) ** k * dist2_0")
    (tmp_path / "two.py").write_text(f"from sympy import sqrt\n{text}")
    with unloaded_afterwards():
        load_paper(tmp_path / "two.py")
        claim = Claim("two/two/half", LINE, {**GD, "eta": "3/2"}, at={"k": [1, 5]}, arithmetic="rational")
        found = run_claim(claim)
    assert (found.verdict.outcome, found.verdict.grade) == (Outcome.HOLDS, Grade.EXACT)
    (other,) = found.readings
    assert ("root of a negative number" in other.remark, other.in_scope) == (True, None)
    assert all(math.isnan(v) for v in other.bound)
    assert ClaimResult.from_dict(found.to_dict()).readings[0].remark == other.remark


def test_an_expectation_that_is_missed_says_what_came_out() -> None:
    base = Claim("scgd/theorem_3_3", APP_C, {"kind": "scgd", "E": 1, "eta": "largest"}, at={"K": [0, 1, 5000]})
    missed = run_claim(replace(base, expect=Outcome.VIOLATED, tightness=(None, 1.0)))
    assert missed.failures[0].startswith("expected VIOLATED, got HOLDS")
    assert missed.failures[1].endswith("is above at_most = 1")
    slope = RateClaim("dist2", Fraction(1), Fraction(2))
    (text,) = run_claim(replace(base, at={"K": "log:10:1000:20"}, rate=slope)).failures
    assert "is not known to lie in [1, 2]" in text
    assert run_claim(base).failures == ()


def test_a_missed_tightness_names_the_limit_and_enough_digits() -> None:
    huber = {"kind": "huber", "L": 2, "R": 3, "k": 10}
    descent = {"kind": "gradient_descent", "eta": "largest"}
    claim = Claim("classics/gradient_descent_convex/as_printed", huber, descent, at={"k": [1, 5, 20]})
    found = run_claim(claim).verdict.tightness
    assert found is not None
    below, above = (math.nextafter(found.ratio_min, end) for end in (0, math.inf))
    for limits, text in (((above, None), "is below at_least = "), ((None, below), "is above at_most = ")):
        (missed,) = run_claim(replace(claim, tightness=limits)).failures
        shown, limit = missed.removeprefix("tightness ").split(f" {text}")
        assert shown != limit
    assert run_claim(replace(claim, tightness=(found.ratio_min, found.ratio_min))).failures == ()


def test_a_claim_below_every_double_holds_on_what_can_be_compared() -> None:
    at = {"K": "log:1:1e9:30"}
    found = run_claim(Claim("scgd/theorem_3_3", APP_C, {"kind": "scgd", "E": 2, "eta": "largest"}, at=at)).verdict
    assert found.outcome is Outcome.HOLDS
    assert found.points + found.details["negligible"] == 30
    assert found.details["negligible"] > 0


# --- sampled --------------------------------------------------------------------------------------------------------


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> list[range]:
    """Which seeds were run. FedAvg with a random cohort counts as the method of the full-participation statement, so
    that an error floor shows."""

    def algorithms(method: Method, clients: Any = None, described: Any = None) -> tuple[str, ...]:
        return ("fedavg",)

    found: list[range] = []
    whole = stored.run_or_recall

    def noted(*args: Any, seeds: range, **kwargs: Any) -> Any:
        found.append(seeds)
        return whole(*args, seeds=seeds, **kwargs)

    monkeypatch.setattr("boundcheck.setting.setting.algorithms", algorithms)
    monkeypatch.setattr(stored, "run_or_recall", noted)
    return found


# f_i = (x -+ 1)^2/2: mu = L = sigma2 = 1. One client a round: x -> (1 - eta) x +- eta, and E x^2 -> eta/(2 - eta).
SAMPLED = {"kind": "quadratics", "clients": [{"A": 1, "b": 1}, {"A": 1, "b": -1}], "start": ["1/10"]}
RANDOM = Claim(
    "scgd/fedavg_full_participation", SAMPLED, {"kind": "fedavg", "E": 1, "eta": "1/100", "size": 1},
    engine="sampled", seeds=400,
)  # fmt: skip


def test_seeds_are_added_until_decided_and_only_new_ones_are_run(blocks: list[range]) -> None:
    result = run_claim(replace(RANDOM, at={"R": [0, 100, 2000]}))
    # the statement's floor is 12 eta^2 = 0.0012, that of a random cohort 1/199 = 0.005
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
    stops = [b.stop for b in blocks]
    assert [b.start for b in blocks] == [0, *stops[:-1]]
    assert stops == [50, 100, 200, 400][: len(stops)]
    assert result.verdict.details["statistics"]["seeds"] == result.info["seeds"]["count"] == stops[-1]
    how: dict[str, Any] = {"rounds": list(result.rounds), "engine": "sampled", "seeds": stops[-1]}
    once = run(build_method(result.method), build_problem(SAMPLED), **how)
    assert compare(statement(RANDOM.statement), once) == result.verdict


def test_an_undecided_claim_spends_its_budget_and_progress_never_falls(blocks: list[range]) -> None:
    seen: list[float] = []
    result = run_claim(replace(RANDOM, at={"R": [0, 600]}, seeds=120, level=1 - 1e-12), on_progress=seen.append)
    assert result.verdict.outcome is Outcome.UNDECIDED
    assert [(b.start, b.stop) for b in blocks] == [(0, 50), (50, 100), (100, 120)]
    assert seen == sorted(seen)
    assert (seen[0] >= 0, seen[-1]) == (True, pytest.approx(1))


def test_a_deterministic_method_needs_one_block(blocks: list[range]) -> None:
    result = run_claim(replace(RANDOM, method={"kind": "fedavg", "E": 1, "eta": "1/100"}, at={"R": [1, 10, 1000]}))
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    exact = {"kind": "fedavg", "E": 1, "eta": "1/100"}
    undecided = run_claim(replace(RANDOM, method=exact, at={"R": [0]}))
    assert undecided.verdict.outcome is Outcome.UNDECIDED
    assert blocks == [range(50), range(50)]


def test_a_claim_about_a_plan_with_a_rare_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients with 20, 19 and 1 samples of 40, one drawn by weight: log(0.0005)/log(39/40) = 301 seeds are needed."""
    monkeypatch.setattr("boundcheck.engines.run.certified_envelopes", lambda *_: {})
    problem = {
        "kind": "quadratics",
        "clients": [{"components": [{"A": 1, "b": b}] * n} for n, b in ((20, 1), (19, -1), (1, 2))],
        "weights": ["1/2", "19/40", "1/40"],
        "start": [3],
    }
    method = {"kind": "fedshuffle", "eta_l": "largest", "participation": {"kind": "importance", "b": 1}}
    claim = Claim("fedshuffle/theorem_5_1_strongly_convex/sharp", problem, method, engine="sampled", at={"R": [1, 20]})
    few = run_claim(replace(claim, seeds=300)).verdict
    assert few.outcome is Outcome.UNDECIDED
    assert "the probability 0.025 that client 2 takes part in a round; 301 seeds are needed" in few.reason
    assert run_claim(replace(claim, seeds=301)).verdict.outcome is Outcome.HOLDS


def test_an_index_outside_its_range_is_bad_input() -> None:
    known = statement("classics/gradient_descent_convex/sharp")
    later = replace(known, metric=replace(known.metric, rounds=known.symbol("k").expr - 2))
    at = {"L": 1, "eta": "1/2", "dist2_0": 1}
    with pytest.raises(BadInput, match=r"k = 1 is outside the range of the index: its number of rounds, k - 2, is -1"):
        later.evaluate(**at, k=1)
    assert later.evaluate(**at, k=2).value > 0
