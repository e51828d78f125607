"""Two devices on the line, one of them flat: F_1 = 0, F_2 = w^2, p = 1/2 each, so that f = w^2/2.

The smallest example on which FedDANE (T. Li et al., "FedDANE: A Federated Newton-Type Method") diverges for small mu.
With both devices in both sets and exact solutions, an iteration multiplies w by the mean of 1 - 1/mu and
1 - 1/(mu + 2),

    (mu^2 + mu - 1)/(mu (mu + 2)),

which has modulus below 1 exactly where mu > (sqrt(17) - 3)/4 = 0.2808. Here L = 2, B^2 = 2 at every point, and
Theorem 3 needs mu > 9.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.problems.quadratics import Component, Quadratics


def build(*, start: Any = 1) -> Quadratics:
    """The example from the point `start`. Raises BadInput."""
    x0 = as_fraction(start, "start")
    flat, curved = (Component(((Fraction(h),),), (Fraction(0),)) for h in (0, 2))
    half = (Fraction(1, 2),) * 2
    spec = {"kind": "feddane_1d", "start": format_exact(x0)}
    return Quadratics("FedDANE on F_1 = 0, F_2 = w^2", spec, ((flat,), (curved,)), "mean", half, (x0,))
