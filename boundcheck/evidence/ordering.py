"""Whether runs put methods in an expected order, decided at a stated confidence.

Every method is run with the same seeds, so that two of them are compared seed by seed. A pair has two hypotheses, "the
first is not better in the mean" and "the second is not better in the mean", of which at least one is true. Each gets a
one-sided p value, and Holm's step-down procedure over both hypotheses of all pairs keeps the probability of any false
rejection at or below 1 - confidence (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979). A pair
is "reproduced" where the first hypothesis falls, "reversed" where the second does, else "undecided".

The p values are those of Student's t test of the differences, or those of the exact sign-flip permutation test; the
former takes the differences as normally distributed, the latter as symmetric about their mean. Where a run diverged
there is no difference to take the mean of: such a pair gets the exact sign test, a diverged run being worse than one
that did not. So does a pair whose differences are all the same, as those of coarse metrics (an accuracy on few samples)
may be by chance; where both methods draw nothing at random, that difference is what it is. One seed decides nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import BadInput, UnknownName

Array = NDArray[np.float64]

TESTS = ("t", "sign_flip")
BEST = ("lowest", "highest")
OUTCOMES = ("reproduced", "reversed", "undecided")
ALIKE = 1e-12  # relative distance up to which differences are the same
MAX_FLIPS = 16  # seeds of whose differences all patterns of signs are gone through


def rankings(counts: Mapping[str, int]) -> str:
    """Numbers of rankings of two methods by outcome as words, such as "Rankings reproduced: 1 of 6; 5 undecided"."""
    others = (f"{counts[word]} {word}" for word in OUTCOMES[1:] if counts.get(word))
    return "; ".join((f"Rankings reproduced: {counts.get(OUTCOMES[0], 0)} of {sum(counts.values())}", *others))


@dataclass(frozen=True)
class Pair:
    """Two methods of an expected order.

    first: the better one, as expected. difference: by how much it is better in the mean over seeds (below 0: worse;
    nan where a run diverged). p: the smaller of the two one-sided p values, before Holm's correction.
    """

    first: str
    second: str
    difference: float
    p: float
    outcome: str


def pairs_of(order: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """(better, worse) for every two methods of different groups; order: groups of equals, the best first."""
    return [(a, b) for upper, lower in itertools.combinations(order, 2) for a in upper for b in lower]


def judge(
    samples: Mapping[str, Array],
    order: Sequence[Sequence[str]],
    *,
    best: str,
    confidence: float,
    test: str = "t",
    certain: Collection[str] = (),
) -> tuple[Pair, ...]:
    """The pairs of an order and the outcome of each; samples: method -> (S,) one value a seed.

    best: "lowest" or "highest" value. certain: the methods that draw nothing at random. Raises BadInput and
    UnknownName.
    """
    if best not in BEST:
        raise UnknownName("which value is best", best, BEST)
    if not 0.5 <= confidence < 1:
        raise BadInput(f"confidence = {confidence:g} is not allowed; it must be at least 1/2 and below 1.")
    sign = 1.0 if best == "lowest" else -1.0
    named = pairs_of(order)
    gains = [_gains(sign * samples[a], sign * samples[b]) for a, b in named]
    both = [p_values(gain, test, certain={a, b} <= set(certain)) for (a, b), gain in zip(named, gains, strict=True)]
    rejected = holm([p for pair in both for p in pair], 1 - confidence)
    found: list[Pair] = []
    for k, ((a, b), gain, p) in enumerate(zip(named, gains, both, strict=True)):
        outcome = OUTCOMES[0] if rejected[2 * k] else OUTCOMES[1] if rejected[2 * k + 1] else OUTCOMES[2]
        found.append(Pair(a, b, float(gain.mean()) if np.isfinite(gain).all() else math.nan, min(p), outcome))
    return tuple(found)


def _gains(first: Array, second: Array) -> Array:
    """second - first seed by seed, lower being better: +-inf where one of the two diverged, nan where both did."""
    if first.shape != second.shape:
        raise BadInput(f"{len(first)} and {len(second)} seeds cannot be compared seed by seed.")
    bad, worse = ~np.isfinite(first), ~np.isfinite(second)
    gain = np.where(bad | worse, 0.0, np.where(worse, 0.0, second) - np.where(bad, 0.0, first))
    return np.where(bad & worse, np.nan, np.where(bad, -np.inf, np.where(worse, np.inf, gain)))


def p_values(gain: Array, test: str = "t", *, certain: bool = False) -> tuple[float, float]:
    """One-sided p values of "the mean is at most 0" and of "the mean is at least 0"; gain: (S,) of independent seeds.

    certain: whether nothing in them is random. Raises UnknownName for another test than those of `TESTS` and BadInput
    for too many seeds for one.
    """
    if test not in TESTS:
        raise UnknownName("the test of an order", test, TESTS)
    if not np.isfinite(gain).all():
        known = gain[~np.isnan(gain)]
        return _sign_test(known), _sign_test(-known)
    if len(gain) < 2:
        return 1.0, 1.0
    mean, spread = float(gain.mean()), float(gain.std(ddof=1))
    if certain and np.ptp(gain) == 0:
        return (1.0, 1.0) if mean == 0 else (0.0, 1.0) if mean > 0 else (1.0, 0.0)
    if test == "sign_flip":
        return _sign_flips(gain), _sign_flips(-gain)
    if np.ptp(gain) <= ALIKE * float(
        np.abs(gain).max()
    ):  # equal up to rounding, so that there is no spread to judge by
        return _sign_test(gain), _sign_test(-gain)
    from scipy.special import stdtr

    t = mean / (spread / math.sqrt(len(gain)))
    return float(stdtr(len(gain) - 1, -t)), float(stdtr(len(gain) - 1, t))


def _sign_test(gain: Array) -> float:
    """Probability of at least this number of gains above 0 if both signs are equally likely; ties are left out."""
    count = int(np.count_nonzero(gain))
    above = int(np.count_nonzero(gain > 0))
    return sum(math.comb(count, k) for k in range(above, count + 1)) / 2**count


def _sign_flips(gain: Array) -> float:
    """The share of all patterns of signs whose sum is at least that of the gains."""
    if len(gain) > MAX_FLIPS:
        raise BadInput(f'test = "sign_flip" goes through all signs of at most {MAX_FLIPS} seeds; use test = "t".')
    signs = 1.0 - 2.0 * (np.arange(2 ** len(gain))[:, None] >> np.arange(len(gain)) & 1)
    sums = signs @ gain
    slack = 1e-12 * float(np.abs(gain).sum())  # a pattern with the same sum must not be lost to rounding
    return float((sums >= sums[0] - slack).mean())


def holm(p: Sequence[float], level: float) -> list[bool]:
    """Which hypotheses fall: in the order of their p values, as long as the k-th of m is at most level/(m - k + 1)."""
    rejected = [False] * len(p)
    for k, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if p[i] > level / (len(p) - k):
            break
        rejected[i] = True
    return rejected


def half_width(values: Array, confidence: float) -> float:
    """Half of Student's confidence interval of the mean of (S,) values; nan for one seed or a diverged run."""
    if len(values) < 2 or not np.isfinite(values).all():
        return math.nan
    from scipy.special import stdtrit

    return float(stdtrit(len(values) - 1, (1 + confidence) / 2) * values.std(ddof=1) / math.sqrt(len(values)))


def seeds_needed(gain: Array, level: float, power: float = 0.8) -> float:
    """How many seeds a one-sided t test at this level needs, so that it decides with this power; inf: no number does.

    gain: (S,) differences of the seeds so far, whose mean and deviation stand in for the true ones: an estimate, and a
    rough one where they are few. The quantiles are the normal ones, and at least 2 seeds are needed.
    """
    if len(gain) < 2 or not np.isfinite(gain).all() or float(gain.mean()) == 0:
        return math.inf
    from scipy.special import ndtri

    reach = float(ndtri(1 - level) + ndtri(power))
    return float(max(2, math.ceil((reach * gain.std(ddof=1) / gain.mean()) ** 2)))
