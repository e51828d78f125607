"""Points at which the hypotheses of a record are met: found by the writer, and checked by the verifier."""

from __future__ import annotations

from typing import Any

import pytest
from hand_records import FACTS_AT, checked, record, said, shipped

from boundcheck.proof.discovery import derivation, folder
from boundcheck.proof.find.point import find_point
from boundcheck.verify import boundcheck_verify as v

CONSTANT, RECURSIVE = "feddane/theorem_7/corrected", "fedshuffle/lemma_b_2/fixed_step"
IN_A_RANGE, WITHOUT_END = "classics/gradient_descent_strongly_convex/sharp", "scgd/lemma_3_2/corrected"


@pytest.mark.parametrize(("id", "kind", "name", "value", "found"), [
    (CONSTANT, "functions", "inv", [["x"], "0"], True), (RECURSIVE, "functions", "V", [["x"], "x"], True),
    (IN_A_RANGE, "numbers", "mu", "2", True),
    # an index without an end is met by the signs of its terms; the recursion fails with another function
    (WITHOUT_END, "numbers", "b", "-1", False), (WITHOUT_END, "functions", "u", [["x"], "1"], False),
])  # fmt: skip
def test_a_point_meets_the_hypotheses_and_another_one_does_not(
    id: str, kind: str, name: str, value: Any, found: bool
) -> None:
    data = shipped(id)
    point: Any = find_point(derivation(id), data) if found else data["point"]
    assert said({**data, "point": point}) == ""
    assert point[kind][name] != value
    assert "at the point" in said({**data, "point": {**point, kind: {**point[kind], name: value}}})


def test_every_shipped_record_has_a_point() -> None:
    assert not [p.name for p in folder().glob("*/*.proof.json") if '"point": null' in p.read_text()]
    assert "that its hypotheses can be met" in checked(CONSTANT, point=None).rests


@pytest.mark.parametrize(("fact", "holds"), [
    ("1 + a + b >= 0", True), ("a + 2*a*b > 0", True), ("2*a - 1 >= 0", False), ("b > 0", False), ("a - b >= 0", False),
])  # fmt: skip
def test_a_polynomial_in_ranges_has_the_sign_of_its_terms(fact: str, holds: bool) -> None:
    """a > 0 and b >= 0 are real variables, so that nothing but their signs is known."""
    facts = ("[a] range: a > 0", "[b] range: b >= 0", f"metric: f(a) + f(b) + {fact}")
    point = {"numbers": FACTS_AT, "functions": {"f": [["x"], "0"]}}
    line = ("all", "dist2_1 >= dist2_1", {"rule": "sum"})
    found = said(record(facts, [line], names={"b": "number"}, point=point, claim="dist2_1 >= dist2_1"))
    assert (found == "") is holds


@pytest.mark.parametrize(("base", "same"), [("2", True), ("1/2", True), ("0", False), ("x", False)])
def test_powers_of_positive_numbers_are_split_at_a_point(base: str, same: bool) -> None:
    names = {**shipped(RECURSIVE)["names"], "x": "number", "r": "integer"}
    model = v.Model(v.Record(folder(), data={**shipped(RECURSIVE), "names": names}), {"numbers": {}, "functions": {}})
    claim = model.at(model.language.claim(f"({base})**(r + 1) == ({base})*({base})**r"), {})
    assert (claim.gap[0] == {}) is same
