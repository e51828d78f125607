"""A quadratic that couples the blocks of the model, for which Theorem 1 of partial averaging is false in one reading.

F(x) = x'Hx/2 with H = ones(d, d) + delta I on every worker; a worker's two samples have the gradients
Hx + z (1, ..., 1) with z = 1 and z = -1. Each coordinate alone is smooth with L_j = 1 + delta and its noise has the
variance 1, but F is smooth with lam = d + delta only, and the noise lies along the eigenvector of that eigenvalue. SGD
with the mean of m such gradients has E|grad F(x_k)|^2 -> eta lam d/(m (2 - eta lam)).

The paper is S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance
Guarantees and Benefits" (its Assumption 1 is about blocks of the model); the example is this project's.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.errors import BadInput
from boundcheck.problems._alike import AlikeQuadratics, alike
from boundcheck.problems._specs import vector, whole
from boundcheck.problems.quadratics import Component


def build(*, clients: Any = 2, d: Any = 8, delta: Any = 0, start: Any = None) -> AlikeQuadratics:
    """The example in dimension d. delta: at least 0, default 0. start: default the minimiser 0.

    Raises BadInput.
    """
    n, dim, more = whole(clients, "clients", 1, 10_000), whole(d, "d", 1, 200), as_fraction(delta, "delta")
    if more < 0:
        raise BadInput(f"delta = {format_exact(more)} is not allowed; it must be at least 0.")
    x0 = (Fraction(0),) * dim if start is None else vector(start, "start")
    if len(x0) != dim:
        raise BadInput(f"start has {len(x0)} entries; the dimension is {dim}.")
    hessian = tuple(tuple(1 + more if i == j else Fraction(1) for j in range(dim)) for i in range(dim))
    samples = tuple(Component(hessian, (Fraction(z),) * dim) for z in (1, -1))
    spec: dict[str, Any] = {"kind": "coupled_blocks", "clients": n, "d": dim, "delta": format_exact(more)}
    if start is not None:
        spec["start"] = [format_exact(v) for v in x0]
    return alike(f"coupled blocks in dimension {dim}, {n} workers", spec, n, samples, x0)
