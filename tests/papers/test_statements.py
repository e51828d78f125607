"""What all statements say of themselves: units, beliefs, and reasons for each reading that is not printed."""

from __future__ import annotations

from boundcheck.theory.discovery import all_statements
from boundcheck.theory.statement import Belief, Kind, Statement

EVERY = list(all_statements())
# Printed readings whose sides have different units: a lost factor, which the corrected readings put back.
WRONG_UNITS = {
    "async_fl/theorem_3_gradient/as_printed",
    "feddane/equation_11/as_printed",
    *(f"fedshuffle/{name}/as_printed" for name in ("lemma_c_2", "lemma_e_4", "section_5_middle_term")),
    *(f"fedshuffle/recursion_{kind}/as_printed" for kind in ("convex", "nonconvex")),
    *(
        f"fedshuffle/theorem_{number}_{kind}{tuned}/as_printed"
        for number in ("5_1", "e_1")
        for kind in ("strongly_convex", "convex", "nonconvex")
        for tuned in ("", "_tuned")
    ),
    "fedshuffle/theorem_5_2_tuned/as_printed_proof",
    *(f"partial_averaging/remark_{number}/as_printed" for number in (2, 4)),
    *(f"scgd/{name}/as_printed_main" for name in ("equation_2", "lemma_3_1", "theorem_3_3")),
    "scgd/theorem_3_4/as_printed",
}


def ids(wrong: list[Statement]) -> list[str]:
    return [s.id for s in wrong]


def test_units_flag_the_lost_factors_and_nothing_else() -> None:
    flagged = [s for s in EVERY if s.dimension_errors()]
    assert {s.id for s in flagged} == WRONG_UNITS
    assert all(s.belief is Belief.FALSE for s in flagged)


def test_a_reading_that_is_not_printed_says_why_and_a_false_one_has_a_remark() -> None:
    derived = [s for s in EVERY if not s.reading.startswith("as_printed")]
    assert ids([s for s in derived if s.belief is not Belief.TRUE or len(s.why) <= 20]) == []
    assert ids([s for s in EVERY if s.belief is Belief.FALSE and not s.remark]) == []


def test_the_best_reading_is_never_believed_false() -> None:
    best = {s.id.rpartition("/")[0]: s for s in reversed(EVERY)}
    assert ids([s for s in best.values() if s.belief is Belief.FALSE]) == []


def test_a_bound_on_a_method_has_hypotheses() -> None:
    bounds = [s for s in EVERY if s.kind is Kind.UPPER_BOUND and s.algorithm is not None]
    assert ids([s for s in bounds if not s.assumptions]) == []


def test_which_conditions_only_say_that_something_is_guaranteed() -> None:
    vacuity = {c.name for s in EVERY for c in s.conditions if c.vacuity}
    assert vacuity == {"B above 1", "positive decrease", "small gamma"}
    assert all(c.vacuity for s in EVERY for c in s.conditions if c.name in vacuity)
