"""Which mistakes a comparison with a bound would miss: the power of a claim, and what catches more.

Every mutant of the claim's method is carried out at the claim's rounds (and seeds) and compared with the bound as if it
were the method. A bound is a weak test: a wrong method below the bound passes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.exact.run import run_exact
from boundcheck.engines.simulate.run import run_sampled
from boundcheck.errors import BadInput, BoundcheckError, Unsupported
from boundcheck.evidence.claim import Claim, ClaimResult, Resolved, resolve
from boundcheck.evidence.claim_result import failures, measured_rate
from boundcheck.evidence.hypotheses import with_assumptions
from boundcheck.evidence.open_step_sizes import with_start
from boundcheck.evidence.outside import compare_outside, describe_outside
from boundcheck.judge.findings import listed
from boundcheck.judge.mutants import Mutant, mutants
from boundcheck.judge.reference import attempted, is_random, iterates
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Floats
from boundcheck.verdict import Outcome, Verdict, plain

ROUNDS_OF_REFERENCE = 200  # that a comparison with the reference runs, as `compare_implementation` does by default
QUICK = 10_000  # rounds of all seeds that are not compiled
NEAREST = 0.001  # relative distance from the tightness that a window leaves at least
WIDEST = 0.1
_named = partial(listed, most=8)
_SAME = 1e-9
_NOTHING = (Outcome.FAILED, Outcome.OUT_OF_SCOPE, Outcome.VACUOUS)


@dataclass(frozen=True)
class Judged:
    """A mutant at the claim's rounds. outcome: None where no engine carries it out. tightness: NaN where none is known.

    caught: whether its outcome is another than that of the method, or its tightness or rate not what is asked for.
    same: whether its run is that of the method, so that nothing can tell them apart on this problem.
    """

    mutant: Mutant
    outcome: Outcome | None
    tightness: float
    caught: bool
    same: bool


@dataclass(frozen=True)
class Power:
    """What a claim would catch.

    outcome, tightness: of the method itself. judged: its mutants, none where nothing is compared (outcome VACUOUS,
    OUT_OF_SCOPE or FAILED).
    """

    label: str
    outcome: Outcome
    tightness: float
    judged: tuple[Judged, ...]

    @property
    def caught(self) -> tuple[str, ...]:
        """Names of the mutants that the claim would not let pass."""
        return tuple(j.mutant.name for j in self.judged if j.caught)

    @property
    def missed(self) -> tuple[Judged, ...]:
        """The mutants that pass like the method."""
        return tuple(j for j in self.judged if j.outcome is not None and not j.caught)

    @property
    def not_run(self) -> tuple[str, ...]:
        """Names of the mutants that no engine carries out here."""
        return tuple(j.mutant.name for j in self.judged if j.outcome is None)

    @property
    def window(self) -> tuple[float, float] | None:
        """(at_least, at_most) around the tightness of the method that leaves out the mutants that can be left out.

        Half of the way to the nearest of them, at most 10 %; None where no tightness is known or none would be caught.
        """
        if not math.isfinite(self.tightness) or self.tightness <= 0:
            return None
        apart = [abs(j.tightness / self.tightness - 1) for j in self.missed if not math.isnan(j.tightness)]
        far = [d for d in apart if d > 2 * NEAREST]
        if not far:
            return None
        room = min(WIDEST, max(NEAREST, min(far) / 2))
        return float(f"{self.tightness * (1 - room):.6g}"), float(f"{self.tightness * (1 + room):.6g}")

    @property
    def by_window(self) -> tuple[str, ...]:
        """Missed mutants that the window catches."""
        if self.window is None:
            return ()
        low, high = self.window
        return tuple(j.mutant.name for j in self.missed if not low <= j.tightness <= high)

    @property
    def by_reference(self) -> tuple[str, ...]:
        """Mutants that only a comparison with the reference (`assert_matches`) catches."""
        return tuple(j.mutant.name for j in self.missed if not j.same and j.mutant.name not in self.by_window)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Mutants whose runs on this problem are those of the method."""
        return tuple(j.mutant.name for j in self.missed if j.same)

    def words(self) -> str:
        """The power as sentences."""
        if self.outcome in _NOTHING:
            return (
                f"Power: none. The claim is {self.outcome.value} for the method itself, so it tests no implementation."
            )
        ran = len(self.judged) - len(self.not_run)
        missed = (
            f" and misses {len(self.missed)}: {_named([j.mutant.name for j in self.missed])}" if self.missed else ""
        )
        found = [f"Power: of {ran} mistakes of the method, the claim catches {len(self.caught)}{missed}."]
        if self.not_run:
            found.append(f"{len(self.not_run)} more could not be carried out.")
        if self.window is not None and self.by_window:
            low, high = self.window
            found.append(
                f"tightness = {{at_least = {low:g}, at_most = {high:g}}} catches {len(self.by_window)} of these."
            )
        if self.by_reference:
            found.append(f"Only a comparison with the reference (assert_matches) catches {_named(self.by_reference)}.")
        if self.unseen:
            found.append(f"On this problem nothing can show {_named(self.unseen)}.")
        return " ".join(found)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return plain(
            {
                "claim": self.label,
                "outcome": self.outcome.value,
                "tightness": self.tightness,
                "mutants": [
                    {
                        "name": j.mutant.name,
                        "sentence": j.mutant.sentence,
                        "outcome": None if j.outcome is None else j.outcome.value,
                        "tightness": j.tightness,
                    }
                    for j in self.judged
                ],
                "caught": list(self.caught),
                "missed": [j.mutant.name for j in self.missed],
                "not_run": list(self.not_run),
                "window": None if self.window is None else dict(zip(("at_least", "at_most"), self.window, strict=True)),
                "by_window": list(self.by_window),
                "by_reference": list(self.by_reference),
                "unseen": list(self.unseen),
            }
        )


def power_of(claim: Claim, seeds: int | None = None) -> Power:
    """Judge every mutant of a claim's method as the claim judges the method.

    seeds: runs of a random method, compared by the sequential test; None: those of the claim where it is sampled, else
    exact expectations. Raises BadInput for a claim about a curve from outside or about a trained network, Unsupported
    where no engine carries out the method itself.
    """
    if claim.curve is not None or claim.engine == "neural":
        raise BadInput(f"{claim.label()}: only claims that the engines 'exact' and 'sampled' carry out have mutants.")
    resolved = resolve(claim)
    if isinstance(resolved, Verdict):
        return Power(claim.label(), resolved.outcome, math.nan, ())
    if seeds is None and claim.engine == "sampled":
        seeds = claim.runs
    method, problem = resolved.setting.method, resolved.setting.problem
    own = _curve(method, resolved, seeds)
    if own is None:
        raise Unsupported(f"{claim.label()}: no engine carries out {method.name} on '{problem.name}' at these rounds.")
    described = _described(claim, resolved, own)
    first = _verdict(claim, resolved, described)
    if first.outcome in _NOTHING:
        return Power(claim.label(), first.outcome, _tightness(first), ())
    start = _begun(method, resolved)
    judged: list[Judged] = []
    for mutant in mutants(method, problem):
        curve = _curve(mutant.method, resolved, seeds)
        verdict = None if curve is None else _verdict(claim, resolved, _of(described, curve))
        same = curve is not None and _same(curve, own) and _alike(start, _begun(mutant.method, resolved))
        if verdict is None or curve is None:
            judged.append(Judged(mutant, None, math.nan, False, False))
            continue
        caught = verdict.outcome is not first.outcome or _missed_expectation(claim, resolved, verdict, curve)
        judged.append(Judged(mutant, verdict.outcome, _tightness(verdict), caught, same))
    return Power(claim.label(), first.outcome, _tightness(first), tuple(judged))


def _missed_expectation(claim: Claim, resolved: Resolved, verdict: Verdict, curve: Curve) -> bool:
    """Whether the tightness or the rate that the claim asks for is not met."""
    rate = None
    if claim.rate is not None and claim.rate.metric in curve.values:
        rate = measured_rate(claim.rate, curve)
    asked = replace(claim, expect=None, rate=claim.rate if rate is not None else None)
    return bool(failures(asked, ClaimResult(asked, verdict, resolved.spec, (), rate=rate)))


def _curve(method: Method, resolved: Resolved, seeds: int | None) -> Curve | None:
    """The metric at the claim's rounds: exact, or of this many seeds; None where no engine carries it out."""
    name, problem = resolved.claimed.metric.quantity, resolved.setting.problem
    whole = resolved.claimed.metric.over_rounds  # a mean over rounds is made of all of them
    rounds = list(range(resolved.rounds[-1] + 1)) if whole else resolved.rounds
    try:
        if seeds is not None and is_random(method, problem):
            path = "numpy" if seeds * rounds[-1] < QUICK else "auto"  # compiling takes seconds
            found = run_sampled(method, problem, rounds[-1], seeds, (name,), rounds, path=path)
            return replace(found, info={**found.info, "engine": "implementation"})  # seeds may be compared one by one
        found = run_exact(method, problem, rounds, (name,), arithmetic=Arithmetic.FLOAT64)
    except BoundcheckError:
        return None
    return replace(found, info={"engine": "exact", "deterministic": True})


def _described(claim: Claim, resolved: Resolved, curve: Curve) -> Curve:
    """The curve with what is known of the method and the problem."""
    setting = resolved.setting
    found = describe_outside(curve, resolved.claimed, setting.problem, setting)
    found = replace(found, info={**found.info, **curve.info, "assumed": []})
    found = with_start(found, resolved.start)
    return with_assumptions(found, claim.constants, resolved.claimed, setting.problem)


def _of(described: Curve, curve: Curve) -> Curve:
    """The numbers of one curve with what is known of another."""
    return replace(
        described,
        values=curve.values,
        samples=curve.samples,
        arithmetic=curve.arithmetic,
        expectation=curve.expectation,
        info={**described.info, **curve.info},
        rarest=described.rarest if curve.samples else None,
    )


def _verdict(claim: Claim, resolved: Resolved, curve: Curve) -> Verdict:
    index = resolved.index or None
    return compare_outside(resolved.claimed, curve, claim.constants, claim.level, index).verdict


def _tightness(verdict: Verdict) -> float:
    return math.nan if verdict.tightness is None else verdict.tightness.ratio_min


def _same(one: Curve, other: Curve) -> bool:
    pairs: list[tuple[Mapping[str, Floats], Mapping[str, Floats]]] = [(one.values, other.values)]
    if one.samples and other.samples:
        pairs.append((one.samples, other.samples))
    return all(_alike(a[name], b[name]) for a, b in pairs for name in a)


def _alike(one: Floats | None, other: Floats | None) -> bool:
    if one is None or other is None:
        return one is other
    with np.errstate(invalid="ignore"):
        return one.shape == other.shape and bool(np.allclose(one, other, rtol=_SAME, atol=1e-12))


def _begun(method: Method, resolved: Resolved) -> Floats | None:
    """The (expected) iterates of the first rounds, None where no engine gives them."""
    return attempted(iterates, method, resolved.setting.problem, min(resolved.rounds[-1], ROUNDS_OF_REFERENCE))
