"""A curve is checked where it is made: no part of it can be wrong in a way that a comparison then believes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.core.linalg import float_down, float_up
from boundcheck.engines.curve import Arithmetic, Curve, Envelope, Rarest
from boundcheck.errors import BadInput

VALUES = [Fraction(4), Fraction(5, 3), Fraction(1, 7)]


def made(arithmetic: Arithmetic, /, **more: Any) -> Curve:
    """A good curve of dist2 at the rounds 0, 2, 4."""
    middle = np.array([float(v) for v in VALUES])
    parts: dict[str, Any] = {"rounds": np.array([0, 2, 4]), "values": {"dist2": middle}, "arithmetic": arithmetic}
    if arithmetic in (Arithmetic.RATIONAL, Arithmetic.BALL):
        parts["low"] = {"dist2": np.array([float_down(v) for v in VALUES])}
        parts["high"] = {"dist2": np.array([float_up(v) for v in VALUES])}
    if arithmetic is Arithmetic.RATIONAL:
        parts["exact"] = {"dist2": tuple(VALUES)}
    if arithmetic is Arithmetic.SAMPLED:
        parts["samples"] = {"dist2": middle * np.array([[1, 1.5, 1.25], [1, 0.5, 0.75]])}
        parts["expectation"] = True
    return Curve(**{**parts, **more})


@pytest.mark.parametrize("arithmetic", list(Arithmetic))
def test_a_good_curve_keeps_its_numbers_and_cannot_be_written_to(arithmetic: Arithmetic) -> None:
    curve = made(arithmetic)
    assert curve.rounds.tolist() == [0, 2, 4]
    assert curve.values["dist2"].tolist() == [float(v) for v in VALUES]
    with pytest.raises(ValueError, match="read-only"):
        curve.values["dist2"][1] = 0.0
    again = replace(curve, info={"note": 1})
    assert again.values["dist2"] is curve.values["dist2"]
    lists = made(arithmetic, rounds=[0, 2, 4], values={"dist2": [float(v) for v in VALUES]})
    assert lists.rounds.dtype == np.int64


def test_a_diverged_run_and_a_run_without_seeds_are_curves() -> None:
    for arithmetic, low in ((Arithmetic.FLOAT64, {}), (Arithmetic.BALL, {"dist2": np.array([1.0, 1e300, 1e300])})):
        high = {"dist2": np.array([1.0, 1e300, math.inf])} if low else {}
        curve = made(arithmetic, values={"dist2": np.array([1.0, 1e300, math.inf])}, low=low, high=high)
        assert curve.diverged == 4
    rows = np.array([[1.0, 1.0, math.inf], [1.0, 2.0, 3.0]])
    assert made(Arithmetic.SAMPLED, samples={"dist2": rows}, values={"dist2": rows.mean(axis=0)}).diverged == 4
    none = made(Arithmetic.SAMPLED, samples={"dist2": np.empty((0, 3))}, values={"dist2": np.full(3, math.nan)})
    assert none.diverged == 0


def test_a_certified_limit_and_a_rare_choice_belong_to_samples() -> None:
    above = Envelope(np.array([6.0, math.inf, 1.0]), "by hand")
    for probability in (1e-3, 1.0):
        rarest = Rarest(probability, "client 0 takes part")
        curve = made(Arithmetic.SAMPLED, envelopes={"dist2": above}, rarest=rarest)
        assert curve.envelopes["dist2"].limits.tolist() == [6.0, math.inf, 1.0]
        assert curve.rarest == rarest
    # the samples are at most 6, 2.5 and about 0.179
    exact = Envelope(np.array([4.0, 2.5, 0.25]), "by hand")
    assert made(Arithmetic.SAMPLED, envelopes={"dist2": exact}).envelopes["dist2"] is not None


def test_every_round_may_be_measured_and_a_start_may_be_an_end() -> None:
    assert made(Arithmetic.FLOAT64, rounds=[0, 1, 2]).rounds.tolist() == [0, 1, 2]
    ends = {"low": {"dist2": [4.0, 1.0, 0.1]}, "high": {"dist2": [4.0, 2.0, 0.2]}}
    assert made(Arithmetic.BALL, **ends, start={"dist2": Fraction(4)}).start == {"dist2": 4}


BALL, SAMPLED, RATIONAL, FLOAT64 = Arithmetic.BALL, Arithmetic.SAMPLED, Arithmetic.RATIONAL, Arithmetic.FLOAT64
REFUSED: list[tuple[Arithmetic, Mapping[str, Any], str]] = [
    (BALL, {"low": {"dist2": [4.0, 2.0, 0.1]}}, "'low' of 'dist2' is 2, above 'high' 1.666666667, at round 2"),
    (BALL, {"values": {"dist2": [4.0, 3.0, 1 / 7]}}, "value 3 of 'dist2' at round 2 is outside"),
    (BALL, {"low": {}}, "needs 'low' of the metric 'dist2'"),
    (BALL, {"start": {"dist2": Fraction(5)}}, "recorded start 5 of 'dist2' contradicts its value 4 at round 0"),
    (SAMPLED, {"start": {"dist2": Fraction(5)}}, "recorded start 5 of 'dist2' contradicts"),
    (BALL, {"samples": {"dist2": np.ones((2, 3))}}, "arithmetic 'ball' has no part 'samples'"),
    (BALL, {"arithmetic": SAMPLED, "expectation": True}, "arithmetic 'sampled' has no part 'low'"),
    (BALL, {"info": {"engine": "sampled"}}, "the sampled engine gives no curve of the arithmetic 'ball'"),
    (SAMPLED, {"info": {"engine": "exact"}}, "the exact engine gives no curve of the arithmetic 'sampled'"),
    (SAMPLED, {"arithmetic": FLOAT64}, "arithmetic 'float64' has no part 'samples'"),
    (SAMPLED, {"samples": {}}, "needs 'samples' of the metric 'dist2'"),
    (SAMPLED, {"values": {"dist2": [4.0, 1.0, 1 / 7]}}, "value 1 of 'dist2' at round 2 is not the mean 1.666"),
    (SAMPLED, {"values": {"dist2": [4.0, math.inf, 1 / 7]}}, "value inf of 'dist2' at round 2 is not"),
    (SAMPLED, {"expectation": False}, "differ between seeds, but the run is said to be deterministic"),
    (SAMPLED, {"samples": {"dist2": [[4.0, 1.0, math.nan]]}}, "sample of 'dist2' at round 4 is NaN"),
    (SAMPLED, {"samples": {"dist2": [[4.0, -math.inf, 0]]}}, "sample of 'dist2' at round 2 is NaN or minus"),
    (SAMPLED, {"samples": {"dist2": [1.0, 2.0, 3.0]}}, r"'samples' of 'dist2' has the shape \(3,\)"),
    (RATIONAL, {"exact": {"dist2": (4, 5, 6)}}, "exact value of 'dist2' at round 2 is outside"),
    (RATIONAL, {"exact": {"dist2": (Fraction(4),)}}, "has 1 numbers; with 3 rounds it has 3"),
    (RATIONAL, {"exact": {"dist2": (4.0, 1.0, 1.0)}}, "it is a tuple of fractions"),
    (RATIONAL, {"exact": {}}, "needs 'exact' of the metric 'dist2'"),
    (
        SAMPLED,
        {"envelopes": {"dist2": Envelope(np.array([3.9, 9.0, 9.0]), "")}},
        "a sample 4 of 'dist2' at round 0 is above its envelope 3.9",
    ),
    (
        SAMPLED,
        {"envelopes": {"dist2": Envelope(np.array([9.0, 2.4, 9.0]), "")}},
        "a sample 2.5 of 'dist2' at round 2 is above its envelope 2.4",
    ),
    (
        SAMPLED,
        {"envelopes": {"dist2": Envelope(np.array([9.0, -1.0, 9.0]), "")}},
        "an envelope of 'dist2' is -1; it is at least 0",
    ),
    (SAMPLED, {"envelopes": {"dist2": [9, 9, 9]}}, "it is an Envelope of a metric with samples"),
    (
        SAMPLED,
        {"envelopes": {"gap": Envelope(np.array([9.0, 9.0, 9.0]), "")}},
        "it is an Envelope of a metric with samples",
    ),
    (SAMPLED, {"rarest": Rarest(0.0, "never")}, "it is a Rarest with a probability above 0"),
    (SAMPLED, {"rarest": Rarest(1.5, "surely")}, "it is a Rarest with a probability above 0"),
    (FLOAT64, {"values": {"dist2": [1.0, math.nan, 1.0]}}, "'values' of 'dist2' is NaN at round 2"),
    (FLOAT64, {"values": {"dist2": [1.0, 2.0]}}, r"has the shape \(2,\); with 3 rounds it is \(3,\)"),
    (FLOAT64, {"values": {"dist2": None}}, "'values' of 'dist2' = None is not allowed"),
    (FLOAT64, {"values": None}, "values = None is not allowed; it is a mapping"),
    (FLOAT64, {"high": {"dist2": [4.0, 5.0, 6.0]}}, "one end of an enclosure only"),
    (FLOAT64, {"low": {"f": [0, 0, 0]}, "high": {"f": [0, 0, 0]}}, "'low' has the metric 'f', of which"),
    (FLOAT64, {"rounds": None}, "rounds = None is not allowed; an array of integers is"),
    (FLOAT64, {"rounds": [0, 4, 2]}, "strictly increasing"),
    (FLOAT64, {"rounds": [0, 2, 2]}, "strictly increasing"),
    (FLOAT64, {"rounds": [-1, 2, 4]}, "at least 0"),
    (FLOAT64, {"rounds": [0.0, 2.0, 4.0]}, "an array of integers is"),
    (FLOAT64, {"rounds": [[0, 2, 4]]}, "one number for each measurement"),
    (FLOAT64, {"arithmetic": "float64"}, "a member of Arithmetic is"),
    (FLOAT64, {"expectation": None}, "expectation = None is not allowed"),
    (FLOAT64, {"constants": {"mu": 3}}, "constants of 'mu' is 3; it is a Constant"),
    (FLOAT64, {"assumptions": {"convex": None}}, "assumptions of 'convex' is None; it is text"),
    (FLOAT64, {"start": {"dist2": 0.5}}, "start of 'dist2' is 0.5; it is a fraction"),
    (FLOAT64, {"algorithms": "fedavg"}, "a tuple of names or None"),
    (FLOAT64, {"violations": {3: "x"}}, "has the key 3; keys are names"),
]


@pytest.mark.parametrize(("arithmetic", "parts", "why"), REFUSED, ids=[why[:40] for _, _, why in REFUSED])
def test_a_wrong_part_is_refused_in_one_sentence(arithmetic: Arithmetic, parts: Mapping[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why) as caught:
        made(arithmetic, **parts)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
