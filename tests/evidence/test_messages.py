"""Numbers in messages: those that differ look different, and no zero has a sign."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from compare_tools import HALVING, D, K, curve
from hypothesis import given, settings
from hypothesis import strategies as st

import boundcheck as bc
from boundcheck.core.numbers import format_apart, format_short
from boundcheck.engines.curve import Arithmetic
from boundcheck.errors import BadInput, SpecError
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.compare import compare
from boundcheck.evidence.spec import claims_from_text
from boundcheck.theory.statement import Kind
from boundcheck.verdict import Outcome


@settings(max_examples=200, deadline=None)
@given(st.fractions(), st.integers(-(10**6), 10**6), st.integers(0, 25))
def test_different_numbers_look_different(value: Fraction, step: int, power: int) -> None:
    other = value + Fraction(step, 10**power)
    first, second = format_apart(value, other)
    assert (first == second) is (value == other)


def test_format_apart_by_hand() -> None:
    assert format_apart(1.0, 1.0000000000000002) == ["1", "1.0000000000000002"]
    assert format_apart(Fraction(1, 3), Fraction(333333, 10**6)) == ["0.3333333", "0.333333"]
    assert format_apart(Fraction(1, 3), 2) == ["1/3", "2"]
    assert format_apart(-0.0, 0.0) == ["0", "0"]
    assert format_apart(-0.0, 1e-300) == ["0", "1e-300"]
    assert format_apart(math.inf, 1.0) == ["inf", "1"]
    assert format_short(-0.0) == "0"


def test_a_missed_tightness_names_the_limit_and_enough_digits() -> None:
    huber = {"kind": "huber", "L": 2, "R": 3, "k": 10}
    descent = {"kind": "gradient_descent", "eta": "largest"}
    claim = bc.Claim("classics/gradient_descent_convex/as_printed", huber, descent, at={"k": [1, 5, 20]})
    found = run_claim(claim).verdict.tightness
    assert found is not None
    below = math.nextafter(found.ratio_min, 0)
    above = math.nextafter(found.ratio_min, math.inf)
    for limits, text in (((above, None), "is below at_least = "), ((None, below), "is above at_most = ")):
        missed = run_claim(replace(claim, tightness=limits)).failures
        assert len(missed) == 1
        shown, limit = missed[0].removeprefix("tightness ").split(f" {text}")
        assert shown != limit
    assert run_claim(replace(claim, tightness=(found.ratio_min, found.ratio_min))).failures == ()


def test_metric_and_bound_of_a_violation_look_different() -> None:
    v = compare(HALVING, curve([1, math.nextafter(0.5, 1), 0.1]))
    assert v.outcome is Outcome.VIOLATED
    assert v.reason == "At K = 1 the metric is 0.5000000000000001, above the bound 0.5."
    # exact values whose doubles agree
    just = Fraction(1, 2) + Fraction(1, 10**25)
    v = compare(HALVING, curve(["1", str(just), "1/10"], Arithmetic.RATIONAL))
    assert v.outcome is Outcome.VIOLATED
    assert v.reason == "At K = 1 the metric is 0.5000000000000000000000001, above the bound 0.5."
    equal = replace(HALVING, kind=Kind.EQUALITY)
    v = compare(equal, curve(["1", str(just), "1/4"], Arithmetic.RATIONAL))
    assert v.reason == "At K = 1 the metric is 0.5000000000000000000000001, not 0.5."


def test_a_bound_of_0_has_no_sign() -> None:
    # the bound -(1/2)^K D 10^-400 lies below the doubles, whose upper end of it is a negative zero
    tiny = replace(HALVING, bound=-HALVING.bound / 10**400, trivial=None)
    v = compare(tiny, curve([1, 0.5, 0.25]))
    assert v.outcome is Outcome.VIOLATED
    assert v.reason.endswith("above the bound 0.")
    assert D in HALVING.bound.free_symbols
    assert K in HALVING.bound.free_symbols


def test_values_outside_a_domain_look_outside() -> None:
    s = bc.statement("async_fl/corollary_1/corrected")
    with pytest.raises(BadInput, match=r"alpha = 1\.00000000000000000001 is outside its domain"):
        s.symbol("alpha").check(1 + Fraction(1, 10**20), s.id)
    with pytest.raises(BadInput, match=r"K = 2\.00000000000000000001 is outside its domain: integers K >= 1"):
        s.symbol("K").check(2 + Fraction(1, 10**20), s.id)
    convex = bc.statement("scgd/theorem_3_3/corrected")
    with pytest.raises(BadInput, match=r"L = 1 and mu = 1\.00000000000000000001"):
        convex.scope(mu=1 + Fraction(1, 10**20), L=1, n=2, E=1, eta="1/100")


def test_the_order_of_limits_is_told_apart() -> None:
    text = """
[[claim]]
statement = "scgd/example_app_c_fedavg"
problem = { kind = "scgd_appendix_c" }
method = { kind = "fedavg", E = 1, size = 2, eta = "1/2" }
tightness = { at_least = "1.00000000001", at_most = "1.00000000000" }
"""
    with pytest.raises(SpecError, match=r"at_least = 1\.00000000001 is above at_most = 1\."):
        claims_from_text(text)
