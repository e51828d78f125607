"""Equation (36) of FedShuffle: f_ij(x) = |x - e_j|^2/2, every sample a unit vector of its own.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", Section 6. The paper's
problem has three clients with 1, 2 and 3 samples in dimension 6 (Figure 1, right: sizes 8, 1, 1 in dimension 10);
clients weigh |D_i|/|D|, so that F is the mean over all samples and x* is the vector of 1/|D|.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput
from boundcheck.problems._specs import vector, whole
from boundcheck.problems.quadratics import Component, Quadratics


def build(*, sizes: Sequence[Any] = (1, 2, 3), start: Sequence[Any] | None = None) -> Quadratics:
    """The problem with clients that hold `sizes` unit vectors each, in dimension sum(sizes). start: default zeros.

    Raises BadInput.
    """
    if isinstance(sizes, str) or not len(sizes):
        raise BadInput("sizes must be a list with the number of samples of each client, such as [1, 2, 3].")
    counts = [whole(s, "sizes", 1, 200) for s in sizes]
    d = sum(counts)
    if d > 200:
        raise BadInput(f"sizes sum to {d} samples, each a coordinate of its own; at most 200 are allowed.")
    x0 = (Fraction(0),) * d if start is None else vector(start, "start")
    one = tuple(tuple(Fraction(int(i == j)) for j in range(d)) for i in range(d))
    samples = [Component(one, one[j]) for j in range(d)]
    parts = [tuple(samples[sum(counts[:i]) : sum(counts[: i + 1])]) for i in range(len(counts))]
    spec: dict[str, Any] = {"kind": "fedshuffle_36", "sizes": counts}
    if start is not None:
        spec["start"] = [format_exact(v) for v in x0]
    weights = tuple(Fraction(c, d) for c in counts)
    return Quadratics(f"FedShuffle (36), sizes {counts}", spec, tuple(parts), "mean", weights, x0)
