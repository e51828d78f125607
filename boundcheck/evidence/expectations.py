"""What a claim asks beyond its outcome: a tightness, a rate; and in sentences what of it was missed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_apart, format_short
from boundcheck.errors import UnknownName
from boundcheck.evidence.rate import Rate, fit_rate, fit_rate_sampled, within
from boundcheck.verdict import Outcome

if TYPE_CHECKING:
    from boundcheck.engines.curve import Curve
    from boundcheck.evidence.claim_result import Claim, ClaimResult, RateClaim


def measured_rate(claim: RateClaim, curve: Curve) -> Rate:
    """The slope of the metric that the claim is about. Raises UnknownName where the curve does not hold it."""
    if claim.metric not in curve.values:
        raise UnknownName("the rate: metric", claim.metric, curve.values)
    positive = curve.rounds > 0
    x = curve.rounds[positive].astype(float)
    if claim.metric in curve.samples:
        return fit_rate_sampled(x, curve.samples[claim.metric][:, positive], last=nearest_float(claim.last))
    return fit_rate(x, curve.values[claim.metric][positive], last=nearest_float(claim.last))


def failures(claim: Claim, result: ClaimResult) -> tuple[str, ...]:
    """What an expectation of the claim missed, one sentence each; nothing where all are met."""
    missed: list[str] = []
    verdict = result.verdict
    if claim.expect is not None and verdict.outcome is not claim.expect:
        missed.append(f"expected {claim.expect.value}, got {verdict.outcome.value}: {verdict.reason}")
    least, largest = claim.tightness
    if least is not None or largest is not None:
        found = math.nan if verdict.tightness is None else verdict.tightness.ratio_min
        if math.isnan(found):
            missed.append("no tightness was measured")
        elif least is not None and found < least:
            shown, limit = format_apart(found, least)
            missed.append(f"tightness {shown} is below at_least = {limit}")
        elif largest is not None and found > largest:
            shown, limit = format_apart(found, largest)
            missed.append(f"tightness {shown} is above at_most = {limit}")
    if claim.rate is not None and result.rate is None:
        missed.append("no slope was measured, because nothing was run")
    elif claim.rate is not None and result.rate is not None:
        decided = within(result.rate, nearest_float(claim.rate.low), nearest_float(claim.rate.high))
        if decided is not Outcome.HOLDS:
            missed.append(
                f"the slope {result.rate.slope:.4f} in [{result.rate.low:.4f}, {result.rate.high:.4f}], fitted over "
                f"{_window(claim.rate, result.rate)}, is not known to "
                f"lie in [{format_short(claim.rate.low)}, {format_short(claim.rate.high)}]: {decided.value}"
            )
    return tuple(missed)


def _window(asked: RateClaim, rate: Rate) -> str:
    """Which rounds a slope was fitted over, in words."""
    share = "all" if asked.last == 1 else f"the last {format_short(asked.last)}"
    first, last = (format_short(v) for v in rate.span)
    return f"rounds {first} to {last} ({rate.points} points, {share} of the log range of rounds)"
