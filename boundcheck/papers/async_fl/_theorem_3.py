"""What Theorem 3, its second claim and the rates built on it share: the error term of the window.

Where a sequence of values f_n changes by at most c from round to round, the sum over a window of (q_i - q_i(n)) f_n is
at most W q_i (W - 1) c, since the weights q_i - q_i(n) sum to 0 and their positive parts to at most W q_i.
"""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import B, L, W, dist2_0, h, q_bar, rho
from boundcheck.papers.async_fl._theorem_1 import AS_CORRECTED, AS_PRINTED, Setting, corrected_errors, printed_errors
from boundcheck.theory.assumptions import bounded_gradients, window_property

# eps_W; in a round the model moves by rho K et B at most, in the mean
WINDOW = q_bar * rho * h * (W - 1) * B**2
WINDOW_PRINTED = q_bar * h * (W - 1) * B**2

OF_CORRECTED = Setting(
    AS_CORRECTED.conditions, (*AS_CORRECTED.assumptions, window_property, bounded_gradients), AS_CORRECTED.changed
)
OF_PRINTED = Setting(
    AS_PRINTED.conditions, (*AS_PRINTED.assumptions, window_property, bounded_gradients), AS_PRINTED.changed
)
IDLE = q_bar * L / 2 * dist2_0  # the gap at the start is at most this

WEIGHT_LOST = (
    "(25) drops the sum q(n) of the weights, which (23) and (24) have: a model moves by rho K et B in a round, not by "
    "K et B."
)
SCOPE = (
    "Convex objectives with bounded gradients are no quadratics, so that the paper's own Examples 1 and 2 are outside. "
    "(24) needs the stochastic gradients bounded too. The residual R cancels outside the error terms and stays in them."
)


def corrected_total() -> Any:
    """eps of Theorem 3, corrected."""
    return corrected_errors().total + WINDOW


def printed_total() -> Any:
    """eps of Theorem 3 with the constants of the printed proofs."""
    return printed_errors().total + WINDOW_PRINTED
