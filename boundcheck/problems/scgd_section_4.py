"""The regression of SCGD, Section 4: 1000 observations of dimension 8, spread at random over 20 devices.

S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate". The
paper says: local data from normal random variables, device sizes at random, mean squared error. It leaves open
the coefficients, the noise, the loss's scale and how devices differ. Here:

- every observation goes to a device drawn uniformly, so that sizes differ (about 50 +- 7);
- features are standard normal; the true coefficients b are standard normal, and with heterogeneity = "device"
  each device has its own b_i = b + spread * (standard normal), with "iid" all share b;
- targets are y = x'b_i + noise * (standard normal);
- f_i(x) = sum over the device's rows of (a'x - y)^2 (see `least_squares`, loss "sum"), F = mean of the f_i;
- every number is rounded to a multiple of 2^-10, so that data are exact in float64 and short as rationals.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from boundcheck.core import streams
from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.errors import BadInput, UnknownName
from boundcheck.problems._specs import whole
from boundcheck.problems._split import DATA, SPLIT
from boundcheck.problems.least_squares import LeastSquares

HETEROGENEITY = ("iid", "device")
GRID = 1024


def normals(seed: int, block: int, count: int) -> list[int]:
    """`count` standard normal numbers of stream (seed, block), as multiples of 2^-10: the numerators over `GRID`.

    By inversion: the inverse distribution function at (u + 1/2)/2^53, u the upper 53 bits of a word.
    """
    inverse = NormalDist().inv_cdf
    words = streams.words([streams.check_seed(seed)], DATA, block, 0, 0, count)[0].tolist()
    return [round(inverse(((w >> 11) + 0.5) * 2.0**-53) * GRID) for w in words]


@lru_cache(1 << 15)
def _over_grid(numerator: int) -> Fraction:
    """numerator / GRID; a normal number of so few bits comes again and again."""
    return Fraction(numerator, GRID)


def build(
    *,
    seed: Any = 0,
    heterogeneity: str = "iid",
    spread: Any = 1,
    noise: Any = 1,
    clients: Any = 20,
    observations: Any = 1000,
    d: Any = 8,
) -> LeastSquares:
    """Section 4's problem with explicit seed; see the module's text for the choices. Start: zeros.

    Raises BadInput (also where a device gets no observation) and UnknownName.
    """
    if heterogeneity not in HETEROGENEITY:
        raise UnknownName("the heterogeneity", heterogeneity, HETEROGENEITY)
    n = whole(clients, "clients", 1, 10**4)
    count, dim = whole(observations, "observations", n, 10**6), whole(d, "d", 1, 200)
    s = whole(seed, "seed", 0, 2**64 - 1)
    wide, loud = as_fraction(spread, "spread"), as_fraction(noise, "noise")
    if wide < 0 or loud < 0:
        raise BadInput(f"spread = {wide} and noise = {loud} are not allowed; both must be at least 0.")
    # numerators over GRID throughout: sums of this many fractions would be dear
    common = normals(s, 0, dim)
    own = normals(s, 1, n * dim)
    apart = wide if heterogeneity == "device" else Fraction(0)
    truth = [[b + round(apart * own[i * dim + k]) for k, b in enumerate(common)] for i in range(n)]
    device = streams.below(streams.words([s], SPLIT, 0, 0, 0, count)[0], n)
    features, errors = normals(s, 2, count * dim), normals(s, 3, count)
    rows: list[list[tuple[Fraction, ...]]] = [[] for _ in range(n)]
    targets: list[list[Fraction]] = [[] for _ in range(n)]
    for j in range(count):
        i = int(device[j])
        row = features[j * dim : (j + 1) * dim]
        rows[i].append(tuple(map(_over_grid, row)))
        clean = sum(a * b for a, b in zip(row, truth[i], strict=True))  # over GRID^2
        targets[i].append(_over_grid(round(Fraction(clean, GRID) + loud * errors[j])))
    spec = {
        "kind": "scgd_section_4",
        "seed": s,
        "heterogeneity": heterogeneity,
        "spread": format_exact(wide),
        "noise": format_exact(loud),
        "clients": n,
        "observations": count,
        "d": dim,
    }
    return LeastSquares(
        name=f"SCGD, Section 4 ({heterogeneity}, seed {s})",
        spec=spec,
        rows=tuple(tuple(r) for r in rows),
        targets=tuple(tuple(t) for t in targets),
        loss="sum",
        start=(Fraction(0),) * dim,
    )
