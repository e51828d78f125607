"""No objective at all: F = 0, and every worker's two samples have the gradients s (1, ..., 1) and -s (1, ..., 1).

What methods do here is what they do to noise: every coordinate of a step has mean 0 and variance s^2. With an
objective that is flat, models differ by the noise since their last averaging alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.problems._alike import AlikeQuadratics, alike
from boundcheck.problems._specs import whole
from boundcheck.problems.quadratics import Component


def build(*, clients: Any = 2, d: Any = 1, s: Any = 1) -> AlikeQuadratics:
    """Pure noise of standard deviation s in each of d coordinates, from 0. Raises BadInput."""
    n, dim, size = whole(clients, "clients", 1, 10_000), whole(d, "d", 1, 200), as_fraction(s, "s")
    flat = ((Fraction(0),) * dim,) * dim
    samples = tuple(Component(flat, (z * size,) * dim) for z in (1, -1))
    spec: dict[str, Any] = {"kind": "pure_noise", "clients": n, "d": dim, "s": format_exact(size)}
    return alike(f"pure noise in dimension {dim}, {n} workers", spec, n, samples, (Fraction(0),) * dim)
