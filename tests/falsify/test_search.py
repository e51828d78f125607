"""The search for counterexamples: what it breaks, what it must not break, and that it is a function of its seed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.witness import replay
from boundcheck.falsify.generator import BATCH
from boundcheck.falsify.search import FalsifyResult, falsify
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Grade, Outcome

PRINTED = "scgd/theorem_3_3/as_printed_main"


@pytest.fixture(scope="module")
def found() -> FalsifyResult:
    return falsify(statement(PRINTED), seed=2, budget=1000, max_instances=100_000)


def test_the_find_does_not_depend_on_the_clock(found: FalsifyResult) -> None:
    hurried = falsify(statement(PRINTED), seed=2, budget=60)
    assert hurried.witness is not None
    assert (hurried.witness, hurried.instances) == (found.witness, found.instances)


def test_what_is_found_is_violated_exactly_and_replays(found: FalsifyResult) -> None:
    witness = found.witness
    assert witness is not None
    for verdict in (witness.verdict, replay(witness)):
        assert (verdict.outcome, verdict.grade) == (Outcome.VIOLATED, Grade.EXACT)
    result = run_claim(witness.claim())
    assert result.verdict.details["scope"]["in_scope"] is True
    assert set(result.verdict.details["assumptions"].values()) == {"decided"}
    # the same instance is outside the corrected reading, whose step condition is the sound one
    corrected = run_claim(replace(witness.claim(), statement="scgd/theorem_3_3/corrected"))
    assert corrected.verdict.outcome is Outcome.OUT_OF_SCOPE


@pytest.mark.parametrize("reading", ["corrected", "conservative", "as_printed_appendix"])
def test_true_readings_are_not_broken_within_a_small_budget(reading: str) -> None:
    found = falsify(statement(f"scgd/theorem_3_3/{reading}"), seed=0, max_instances=30_000)
    assert found.witness is None
    assert found.best < 0
    assert found.instances >= 30_000


def test_a_symbol_that_only_an_equation_knows_is_no_obstacle() -> None:
    """P2 = 0 is a condition of the printed Lemma D.1, and P2 occurs nowhere else."""
    found = falsify(statement("fedshuffle/lemma_d_1/as_printed"), max_instances=2000)
    assert found.witness is None
    assert found.best > -1  # some instances were in scope


def test_full_participation_is_not_broken_within_a_small_budget() -> None:
    assert falsify(statement("scgd/fedavg_full_participation"), seed=0, max_instances=30_000).witness is None


def test_a_bound_that_promises_too_much_is_broken() -> None:
    """Nothing of any paper is known to the search: it breaks a sound bound divided by 2 through the sound scope."""
    sound = statement("scgd/theorem_3_3/corrected")
    found = falsify(replace(sound, bound=sound.bound / 2, trivial=None), seed=0, max_instances=20_000)
    assert found.witness is not None
    assert found.witness.verdict.grade is Grade.EXACT


@pytest.mark.parametrize(
    ("id", "count"),
    [
        ("fedshuffle/lemma_e_4/as_printed", 50_000),
        ("fedshuffle/theorem_e_1_nonconvex/as_printed", 50_000),
        ("async_fl/lemma_3_gradients/as_printed", 100_000),
        pytest.param("async_fl/theorem_1/as_printed", 100_000, marks=pytest.mark.slow),  # as long as all the others
    ],
)
def test_statements_of_other_methods_are_broken_too(id: str, count: int) -> None:
    """Also those about any method, about quantities of a round, and those in which units disagree."""
    found = falsify(statement(id), seed=0, max_instances=count)
    assert found.witness is not None
    assert replay(found.witness).outcome is Outcome.VIOLATED


def test_progress_and_budget() -> None:
    seen: list[float] = []
    falsify(
        statement("scgd/theorem_3_3/corrected"),
        max_instances=3 * BATCH,
        on_progress=lambda share, best: seen.append(share),
    )
    assert seen == [1 / 3, 2 / 3, 1]


@pytest.mark.slow  # three searches of up to a minute each
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_printed_theorem_is_broken_within_a_minute(seed: int) -> None:
    found = falsify(statement(PRINTED), seed=seed, budget=60)
    assert found.witness is not None
    assert replay(found.witness).outcome is Outcome.VIOLATED


@pytest.mark.slow  # ten minutes of search
def test_the_corrected_theorem_is_not_broken_in_ten_minutes() -> None:
    assert falsify(statement("scgd/theorem_3_3/corrected"), seed=0, budget=600).witness is None
