"""Points at which the hypotheses of a record are met: found by the writer, and checked by the verifier."""

from __future__ import annotations

import json

import pytest

from boundcheck.proof.discovery import derivation, folder
from boundcheck.proof.find.point import find_point
from boundcheck.proof.find.record import record_file
from boundcheck.verify import boundcheck_verify as v

CONSTANT, RECURSIVE = "feddane/theorem_7/corrected", "fedshuffle/lemma_b_2/fixed_step"
IN_A_RANGE = "classics/gradient_descent_strongly_convex/sharp"
CHANGES = {
    CONSTANT: ("functions", "inv", [["x"], "0"]),
    RECURSIVE: ("functions", "V", [["x"], "x"]),
    IN_A_RANGE: ("numbers", "mu", "2"),
}


def with_point(id: str, point: object) -> v.Record:
    path = record_file(folder(), id)
    return v.Record(path, data={**json.loads(path.read_bytes()), "point": point})


@pytest.mark.parametrize("id", CHANGES)
def test_a_point_is_found_where_not_everything_can_be_0(id: str) -> None:
    data = json.loads(record_file(folder(), id).read_bytes())
    point = find_point(derivation(id), data)
    assert point is not None
    with_point(id, point).check()
    kind, name, value = CHANGES[id]
    assert point[kind][name] != value
    point[kind][name] = value
    with pytest.raises(v.Invalid, match="at the point"):
        with_point(id, point).check()


def test_every_shipped_record_has_a_point() -> None:
    assert not [p.name for p in folder().glob("*/*.proof.json") if json.loads(p.read_bytes())["point"] is None]


def test_a_record_on_hypotheses_that_nobody_met_says_so() -> None:
    record = with_point(CONSTANT, None)
    record.check()
    assert "that its hypotheses can be met" in record.rests


def test_a_polynomial_in_a_range_has_the_sign_of_its_terms() -> None:
    record = with_point(IN_A_RANGE, json.loads(record_file(folder(), IN_A_RANGE).read_bytes())["point"])
    record.read_facts()
    model = v.Model(record)
    e = v.atom(("x", "e"))
    positive, unknown = ({(): 1, ((e, 1),): 1}, {((e, 1),): 1, ((e, 2),): 2}), ({(): -1, ((e, 1),): 2},)
    assert all(model._at_least_0(poly, True) for poly in positive)
    assert not any(model._at_least_0(poly, False) for poly in unknown)
    other = {((v.atom(("x", "L")), 1),): 1}  # no range says its sign
    assert not model._at_least_0(other, False)
    assert model._at_least_0({}, False)
    assert not model._at_least_0({}, True)


def test_an_index_without_an_end_is_met_by_the_signs_of_its_terms() -> None:
    id = "scgd/lemma_3_2/corrected"
    point = json.loads(record_file(folder(), id).read_bytes())["point"]
    with_point(id, point).check()
    wrong = {**point, "numbers": {**point["numbers"], "b": "-1"}}
    with pytest.raises(v.Invalid, match="at the point"):
        with_point(id, wrong).check()
    above = {**point, "functions": {"u": [["x"], "1"]}}  # the recursion then fails from some step on
    with pytest.raises(v.Invalid, match="at the point"):
        with_point(id, above).check()


@pytest.mark.parametrize(("base", "same"), [("2", True), ("1/2", True), ("0", False), ("x", False)])
def test_powers_of_positive_numbers_are_split_at_a_point(base: str, same: bool) -> None:
    model = v.Model(with_point(RECURSIVE, {"numbers": {}, "functions": {}}))
    model.language.kinds.update(x="number", r="integer")
    claim = model.at(model.language.claim(f"({base})**(r + 1) == ({base})*({base})**r"), {})
    assert (claim.gap[0] == {}) is same
