"""Verdicts on hand-made curves: every outcome and its precedence, every kind of claim, every arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from compare_tools import (
    DOUBLED,
    HALVING,
    ORDER2,
    POWER,
    D,
    K,
    about,
    check_json,
    curve,
    drawn_start,
    known,
    n,
    q,
    rows,
    sampled,
)

from boundcheck.certified.constant import Known
from boundcheck.engines.curve import Arithmetic, Curve, Envelope, Rarest
from boundcheck.evidence.compare import compare
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Condition, Kind, Metric, Statement
from boundcheck.verdict import Grade, Outcome

HOLDS, VIOLATED, UNDECIDED, VACUOUS = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.VACUOUS
OUT, FAILED, EXACT, SUPPORTED = Outcome.OUT_OF_SCOPE, Outcome.FAILED, Grade.EXACT, Grade.SUPPORTED
BALL, FLOAT, RATIONAL = Arithmetic.BALL, Arithmetic.FLOAT64, Arithmetic.RATIONAL
THIRD, HALF = Fraction(1, 3), Fraction(1, 2)


@dataclass(frozen=True)
class Case:
    """A comparison and its verdict. grade: "any" if it is open; round: of the witness; words: in the reason."""

    made: Curve
    outcome: Outcome
    grade: Any = "any"
    words: str = ""
    of: Statement = HALVING
    round: int | None = None
    given: Mapping[str, Any] = field(default_factory=dict)


def estimated(made: Curve, name: str, how: Known = Known.ESTIMATED) -> Curve:
    constants = {**made.constants, name: replace(made.constants[name], known=how)}
    return replace(made, constants=constants)


# --- statements -----------------------------------------------------------------------------------------------------

LOOSE = replace(HALVING, bound=HALVING.bound + D)
NEGATIVE = replace(HALVING, bound=HALVING.bound - 2 * D, trivial=None)
HUGE = replace(HALVING, bound=HALVING.bound + 10 ** (400 * K) * D, trivial=None)  # 10^400 is above every double
MINUS_ONE = replace(HALVING, bound=-D + 0 * q, trivial=None)
TINY = replace(HALVING, bound=-HALVING.bound / 10**400, trivial=None)
FALLING = replace(POWER, bound=-POWER.bound)
LIMIT = replace(HALVING, kind=Kind.LIMIT, bound=D, trivial=None)
LATE = replace(
    HALVING, metric=replace(HALVING.metric, rounds=n * (K - 1)),
    symbols=tuple(s.but(low=Fraction(1)) if s.name == "K" else s for s in HALVING.symbols),
)  # fmt: skip
ONCE = replace(HALVING, metric=Metric("dist2", LENGTH2, rounds=2 * n), bound=D / 4 + 0 * q, symbols=HALVING.symbols[:3])
OPEN = Condition("open", sp.Ge(sp.log(n) + sp.log(q), 0))  # 0 at mu = 1/2 and n = 2, which is not proved
FALSE = Condition("false", sp.Le(q, sp.Rational(1, 4)))


def conditioned(*conditions: Condition) -> Statement:
    return replace(HALVING, conditions=conditions)


# --- curves ---------------------------------------------------------------------------------------------------------


def ends(values: Sequence[Any], low: Sequence[float], high: Sequence[float], **more: Any) -> Curve:
    return curve(values, low=low, high=high, **more)


def heavy(value: float) -> Curve:
    """400 seeds far below the bound 1/2 at K = 1, but for one."""
    table = np.full((400, 2), 1e-3)
    table[:, 0] = 0.9
    table[7, 1] = value
    return sampled(table)


def diverged() -> Curve:
    table = rows([0.9, 0.2, 0.05])
    table[7, 2] = math.inf
    return sampled(table)


AROUND = {"low": [float(THIRD / 2**k) * (1 - 1e-15) for k in range(3)]}
AROUND |= {"high": [float(THIRD / 2**k) * (1 + 1e-15) for k in range(3)]}
LESS, MORE = (
    curve([THIRD, THIRD / 4], FLOAT, start=THIRD),
    ends([THIRD, THIRD / 4], [0.33, 0.08], [0.34, 0.09], start=THIRD),
)
AT_THIRD = {"dist2": THIRD}
STARTED = sampled(rows([1 / 3, 0.05, 0.01]), constants={**sampled(rows([1.0])).constants, "dist2_0": known("1/3")})
BROKEN = {"strong_quasi_convexity": "two minima.", "convexity": "x"}
BARE = {"n": known(2)}
RARE = Rarest(1e-3, "client 4 takes part in a round")  # log(0.0005)/log(0.999) = 7598 seeds are needed
JUST = HALF + Fraction(1, 10**25)
CAPPED = {"dist2": Envelope(np.array([0.9, 9.9]), "by hand")}
TOO_HIGH = {"dist2": Envelope(np.array([0.9, 10.1]), "by hand")}
TIGHT = {"dist2": Fraction(1)}

# fmt: off
CASES: dict[str, Case] = {
    # --- outcomes and precedence --------------------------------------------------------------------------------------
    "worst point": Case(curve([1, 0.6, 0.5]), VIOLATED, EXACT, "At K = 2 the metric is 0.5, above the bound 0.25",
        round=4),
    "touching wide point": Case(ends([1, 0.6, 0.2], [1, 0.6, 0.0], [1, 0.6, 100.0]), VIOLATED, round=2),
    "condition": Case(curve([1, 5, 9], mu="4/5"), OUT, EXACT, "'small' fails"),
    "by how much": Case(curve([1, 5, 9], mu="4/5"), OUT, EXACT, "0.05"),
    "algorithm": Case(curve([1, 5, 9], algorithms=("fedavg",)), OUT, EXACT, "the run is fedavg"),
    "no named method": Case(curve([1, 5, 9], algorithms=()), OUT, EXACT, "no named method"),
    "assumption": Case(curve([1, 5, 9], violations=BROKEN), OUT, EXACT, "strong_quasi_convexity fails: two minima"),
    "no metric": Case(replace(curve([1]), values={}, low={}, high={}, violations=BROKEN), OUT),
    "less than a double": Case(curve([1, 5, 9], mu=Fraction(3, 4) + Fraction(1, 10**400)), OUT, "any",
        "missed by 1e-400"),
    "plain doubles out": Case(curve([1, 5, 9], FLOAT, mu="4/5"), OUT, EXACT),
    "estimated mu out": Case(estimated(curve([1, 5, 9], mu="4/5"), "mu"), OUT, SUPPORTED),
    "estimated start out": Case(estimated(curve([1, 5, 9], mu="4/5"), "dist2_0"), OUT, EXACT),
    "sampled objection": Case(curve([1], violations=BROKEN, assumptions={"strong_quasi_convexity": "sampled"}), OUT,
        SUPPORTED),
    "open condition, above": Case(curve([1, 0.6]), UNDECIDED, None, "condition 'open'", conditioned(OPEN)),
    "open condition, below": Case(curve([1, 0.4]), UNDECIDED, None, "condition 'open'", conditioned(OPEN)),
    "open and false": Case(curve([1, 0.6]), OUT, "any", "'false' fails", conditioned(OPEN, FALSE)),
    "an equation": Case(curve([1, 0.1]), OUT, "any", "is missed by 0.167", conditioned(Condition("size", sp.Eq(q,
        sp.Rational(1, 3))))),
    "an inequation": Case(curve([1, 0.1]), OUT, "any", "is missed, since both sides are equal",
        conditioned(Condition("size", sp.Ne(q, sp.Rational(1, 2))))),
    "no number": Case(curve([math.nan] * 3, Arithmetic.SAMPLED, mu="4/5", samples={"dist2": np.empty((0, 3))},
        expectation=True),
        FAILED, None, "The run gave no number at round 0."),
    "nowhere": Case(curve([0.5, 0.25], rounds=[1, 3]), FAILED, None, "admissible K"),
    "start": Case(curve([1]), UNDECIDED, "any", "compare at later values of K"),
    "start above": Case(curve([1.5]), VIOLATED),
    "violated beside open": Case(ends([1, 0.5, 0.3], [1, 0.4, 0.3], [1, 0.6, 0.3]), VIOLATED),
    "vacuous": Case(ends([1, 2, 1.25], [1, 0.4, 0.25], [1, 2.6, 2.25]), VACUOUS, EXACT, "", LOOSE),
    "not vacuous": Case(curve(["1/3", "1/4"], RATIONAL, mu=Fraction(1, 10**20), start="1/3"), HOLDS),  # below by 10^-20
    "undecided": Case(ends([1, 0.5, 0.1], [1, 0.45, 0.1], [1, 0.55, 0.1]), UNDECIDED, SUPPORTED, "K = 1.", round=2),
    "given start": Case(curve([1, 0.4], constants=BARE), HOLDS, SUPPORTED, given={"mu": "1/2", "dist2_0": 1}),
    "given start, above": Case(curve([1, 0.4], constants=BARE), VIOLATED, SUPPORTED, given={"mu": "1/2",
        "dist2_0": "1/2"}),
    "between cycles": Case(curve([1, 99, 0.4, 99, 0.1], rounds=range(5)), HOLDS),
    "offset": Case(curve([0.4, 0.2, 0.2]), VIOLATED, EXACT, "At K = 3 the metric is 0.2, above the bound 0.125", LATE),
    "no index": Case(curve([1, 9, 0.2, 9], rounds=[0, 2, 4, 6]), HOLDS, EXACT, "", ONCE, 4),
    "no index, no round": Case(curve([1, 9], rounds=[0, 2]), FAILED, None, "", ONCE),
    # --- arithmetics --------------------------------------------------------------------------------------------------
    "touching fractions": Case(curve(["1/3", "1/6", "1/12"], RATIONAL, start="1/3"), HOLDS, EXACT),
    "touching balls": Case(curve([THIRD, THIRD / 2, THIRD / 4], start=THIRD, **AROUND), UNDECIDED),
    "touching doubles": Case(curve([THIRD, THIRD / 2, THIRD / 4], FLOAT, start=THIRD), UNDECIDED),
    "a hair over": Case(curve([1, HALF + Fraction(1, 10**40)], RATIONAL), VIOLATED, EXACT, round=2),
    "a hair under": Case(curve([1, HALF - Fraction(1, 10**40)], RATIONAL), HOLDS),
    "start of doubles": Case(LESS, UNDECIDED),
    "exact start of doubles": Case(replace(LESS, start=AT_THIRD), HOLDS),
    "start of balls": Case(MORE, UNDECIDED),
    "exact start of balls": Case(replace(MORE, start=AT_THIRD), HOLDS),
    "doubles within": Case(curve([0.9, 0.4, 0.1], FLOAT), HOLDS, SUPPORTED),
    "doubles above": Case(curve([0.9, 0.6], FLOAT), VIOLATED, SUPPORTED),
    "doubles a hair above": Case(curve([0.9, 0.5 * (1 + 1e-12)], FLOAT), UNDECIDED),
    "estimated": Case(estimated(curve([1, 0.4]), "mu"), HOLDS, SUPPORTED),
    "certified": Case(estimated(curve([1, 0.4]), "mu", Known.CERTIFIED), HOLDS, EXACT),
    # (1/2)^181 is 4e-55, and doubles end at the square of their last digit
    "rounding in a tail": Case(curve([0.2, 1.2e-32], FLOAT, rounds=[2, 362]), HOLDS, "any",
        "1 more, where both are below"),
    "rounding alone": Case(curve([1.2e-32], FLOAT, rounds=[362]), UNDECIDED, "any",
        "rounding in doubles decides nothing"),
    "seen through rounding": Case(curve([1.0, 1e-20], FLOAT, rounds=[0, 362]), VIOLATED, round=362),
    "balls do not round": Case(curve([1.0, 1.2e-32], rounds=[0, 362]), VIOLATED, EXACT),
    # --- extreme numbers ----------------------------------------------------------------------------------------------
    "diverged balls": Case(ends([1, math.inf], [1, 1e300], [1, math.inf]), VIOLATED),
    "diverged doubles": Case(curve([1, math.inf], FLOAT), VIOLATED),
    "below an enormous bound": Case(ends([1, 1e300], [1, 1e300], [1, 1.1e300]), HOLDS, "any", "", HUGE),
    "infinity and an enormous bound": Case(ends([1, math.inf], [1, 1.7e308], [1, math.inf]), UNDECIDED, "any", "",
        HUGE),
    "zero above a negative bound": Case(curve([0, 0]), VIOLATED, EXACT, "", NEGATIVE),
    "almost a negative bound": Case(curve([-1 - 1e-12], FLOAT), UNDECIDED, "any", "", MINUS_ONE),
    "below a negative bound": Case(curve([-1.1], FLOAT), HOLDS, "any", "", MINUS_ONE),
    # 2^-2000 underflows: the bound is known to lie in [0, 5e-324], the metric too
    "underflow": Case(ends([1, 0.25, 0], [1, 0.25, 0], [1, 0.25, 5e-324], rounds=[0, 2, 4000]), HOLDS, "any", "1 more"),
    "underflow alone": Case(ends([0], [0], [5e-324], rounds=[4000]), UNDECIDED),
    "above what underflows": Case(curve([1, 1e-200], rounds=[0, 4000]), VIOLATED),
    "fractions do not underflow": Case(curve([1, Fraction(1, 10**500)], RATIONAL, rounds=[0, 4000]), VIOLATED, EXACT,
        "metric is 1e-500, above the bound 8.70981e-603"),
    # --- equalities and limits ----------------------------------------------------------------------------------------
    "equal": Case(curve([1, "1/2", "1/4"], RATIONAL), HOLDS, EXACT, "", POWER),
    "unequal": Case(curve([1, HALF - Fraction(1, 10**30), "1/4"], RATIONAL), VIOLATED, EXACT, "", POWER, 2),
    "equal balls": Case(curve([1, 0.5, 0.25]), HOLDS, SUPPORTED, "", POWER),
    "touching balls are not equal": Case(ends([1, 0.5], [1, 0.5], [1, math.nextafter(0.5, 1)]), UNDECIDED, "any", "",
        POWER),
    "wide balls": Case(ends([1, 0.5], [1, 0.1], [1, 0.9]), UNDECIDED, "any", "", POWER),
    "balls apart": Case(ends([1, 0.4], [1, 0.4], [1, 0.4999999999999]), VIOLATED, EXACT, "", POWER),
    "equal doubles": Case(curve([1, 0.5 + 1e-12], FLOAT), HOLDS, SUPPORTED, "", POWER),
    "unequal doubles": Case(curve([1, 0.5001], FLOAT), VIOLATED, SUPPORTED, "", POWER),
    "equal negative": Case(curve([-1, "-1/2"], RATIONAL), HOLDS, "any", "", FALLING),
    "unequal negative": Case(curve([-1, "1/2"], RATIONAL), VIOLATED, "any", "", FALLING),
    "limsup": Case(curve([9.0] * 4 + [0.9 / k**2 for k in range(4, 8)]), HOLDS, SUPPORTED, "", ORDER2),
    "limsup, last above": Case(curve([0.0] * 4 + [0.9 / k**2 for k in range(4, 7)] + [1.1 / 49]), UNDECIDED,
        SUPPORTED, "", ORDER2),
    "scaled": Case(curve(["1/2", "1/4"], RATIONAL), HOLDS, "any", "", DOUBLED),
    "scaled above": Case(curve(["1/2", "26/100"], RATIONAL), VIOLATED, "any", "", DOUBLED),
    "limit": Case(curve([3, 1.5, 1.0005]), HOLDS, SUPPORTED, "", LIMIT),
    "limit not near": Case(curve([3, 1.5, 1.1]), UNDECIDED, "any", "A finite range decides no limit", LIMIT),
    "limit of one point": Case(curve([3]), UNDECIDED, "any", "", LIMIT),
    "limit of what diverges": Case(ends([3, math.inf], [3, 1e300], [3, math.inf]), UNDECIDED, "any", "", LIMIT),
    # nothing is within 1/1000 of an infinite distance: bands of sampled runs may be infinite
    "limit with a wide start": Case(ends([3, 1, 1], [0, 0, 1], [math.inf, math.inf, 1.0005]), UNDECIDED, "any", "",
        LIMIT),
    "limit with a wide end": Case(ends([3, 1, 1], [0, 0, 1], [math.inf] * 3), UNDECIDED, "any", "", LIMIT),
    # --- sampled curves -----------------------------------------------------------------------------------------------
    "seeds within": Case(sampled(rows([0.9, 0.2, 0.05])), HOLDS, SUPPORTED,
        "could have missed events of probability below 0.0188 (at level 0.999)"),
    "seeds above": Case(sampled(rows([0.9, 0.8, 0.05])), VIOLATED, SUPPORTED, "mean over the seeds", round=2),
    "few seeds": Case(sampled(rows([0.9, 0.2, 0.05], 3)), UNDECIDED, "any", "149 seeds are needed."),
    "start by doubles": Case(STARTED, UNDECIDED),
    "exact start": Case(replace(STARTED, start=AT_THIRD), HOLDS),
    "drawn start": Case(drawn_start(), UNDECIDED),
    "exact start above": Case(sampled(rows([2.0, 0.05]), start={"dist2": Fraction(2)}), VIOLATED),
    "nothing drawn": Case(sampled(np.repeat([[0.9, 0.2]], 5, axis=0), expectation=False), HOLDS, SUPPORTED),
    "seeds above a negative bound": Case(sampled(rows([0.9, 0.2, 0.05])), VIOLATED, "any", "", NEGATIVE),
    "seeds below an enormous bound": Case(sampled(rows([0.9, 0.2, 0.05])), HOLDS, "any", "", HUGE),
    "a diverged seed": Case(diverged(), VIOLATED),
    "a diverged seed and an enormous bound": Case(diverged(), UNDECIDED, "any", "", HUGE),
    "a heavy seed": Case(heavy(100.0), UNDECIDED, "any", "too close to decide at K = 1"),
    "a bearable seed": Case(heavy(5.0), HOLDS),
    "seeds apart": Case(sampled(rows([1.0, 0.9]), start=TIGHT), VIOLATED, SUPPORTED, "", POWER),
    "seeds near": Case(sampled(rows([1.0, 0.5]), start=TIGHT), UNDECIDED, "any", "", POWER),
    "limsup of seeds": Case(sampled(rows([1.0, 0.2, 0.05])), HOLDS, SUPPORTED, "", ORDER2),
    "limsup of seeds, close": Case(sampled(rows([1.0, 0.99, 0.2475])), UNDECIDED, "any", "", ORDER2),
    "a rare choice": Case(about(0.2, 400, rarest=RARE), UNDECIDED, "any",
        "The 400 seeds could have missed events of probability below 0.0188 (at level 0.999), which is above the "
        "probability 0.001 that client 4 takes part in a round; 7598 seeds are needed."),
    "a rare choice seen": Case(about(0.2, 7598, rarest=RARE), HOLDS, "any",
        "below 0.001 (at level 0.999); the rarest choice of the method, that client 4 takes part"),
    "a common choice": Case(about(0.2, 400, rarest=Rarest(0.3, "client 0 takes part in a round")), HOLDS),
    "a violation needs no such knowledge": Case(about(0.7, 400, rarest=RARE), VIOLATED),
    "an envelope": Case(about(0.2, 400, rarest=RARE, envelopes=CAPPED), HOLDS, "any",
        "certified upper limits: by hand"),
    "an envelope that is too high": Case(about(0.2, 400, rarest=RARE, envelopes=TOO_HIGH), UNDECIDED),
    # --- metric and bound look different ------------------------------------------------------------------------------
    "next double": Case(curve([1, math.nextafter(0.5, 1), 0.1]), VIOLATED, EXACT,
        "At K = 1 the metric is 0.5000000000000001, above the bound 0.5."),
    "beyond doubles": Case(curve(["1", str(JUST), "1/10"], RATIONAL), VIOLATED, EXACT,
        "At K = 1 the metric is 0.5000000000000000000000001, above the bound 0.5."),
    "beyond doubles, unequal": Case(curve(["1", str(JUST), "1/4"], RATIONAL), VIOLATED, EXACT,
        "At K = 1 the metric is 0.5000000000000000000000001, not 0.5.", POWER),
    "no signed zero": Case(curve([1, 0.5, 0.25]), VIOLATED, "any", "above the bound 0.", TINY),
}
# fmt: on


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str) -> None:
    case = CASES[name]
    found = compare(case.of, case.made, case.given)
    assert found.outcome is case.outcome, found.reason
    assert case.grade == "any" or found.grade is case.grade
    assert case.words in found.reason
    assert case.round is None or found.witness["round"] == case.round
    check_json(found)


def test_json_of_what_diverged() -> None:
    assert compare(HALVING, CASES["diverged doubles"].made).to_dict()["witness"]["metric"] == ["inf", "inf"]


# --- tightness and witness ------------------------------------------------------------------------------------------


def test_holds_with_tightness_by_hand() -> None:
    # bounds 1, 1/2, 1/4; the bound is at most half of the start at K = 1 and 2, where bound/metric is 5/4 and 5/2
    v = compare(HALVING, curve([1, 0.4, 0.1]))
    assert (v.outcome, v.grade, v.points) == (HOLDS, EXACT, 3)
    assert v.tightness is not None
    assert (v.tightness.ratio_min, v.tightness.ratio_max) == pytest.approx((1.25, 2.5))
    # promised log 2, actual log 2.5, both from K = 0 to K = 1
    assert v.tightness.decrease == pytest.approx(math.log(2) / math.log(2.5))
    assert v.witness["index"] == {"K": "1"}
    assert v.witness["constants"] == {"mu": "1/2", "n": "2", "dist2_0": "1"}
    assert v.details["assumptions"] == {"strong_quasi_convexity": "decided"}
    assert v.details["taken_for_granted"] == []
    nothing = compare(replace(HALVING, trivial=None), curve([0, 0, 0], start=0))  # nothing below a bound of nothing
    assert nothing.outcome is HOLDS
    assert nothing.tightness is not None
    assert math.isnan(nothing.tightness.ratio_min)
    assert math.isnan(nothing.tightness.ratio_max)


def test_a_gap_rounded_below_zero_has_no_tightness() -> None:
    claimed = replace(HALVING, metric=replace(HALVING.metric, quantity="gap"))
    made = curve([1.0, 0.25, -1.1e-16], FLOAT)
    found = compare(claimed, replace(made, values={"gap": made.values["dist2"]}, start={"gap": Fraction(1)}))
    assert found.outcome is HOLDS
    assert found.tightness is not None
    assert found.tightness.ratio_min == 2  # (1/2) / (1/4)
