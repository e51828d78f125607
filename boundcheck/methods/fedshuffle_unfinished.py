"""FedShuffle when clients leave out their last local steps, with weights that make up for it (FedShuffle, F.1).

A client that finishes K_i of its E_i |D_i| steps gets wtilde_i = w_i E_i |D_i|/K_i, so that the method minimises the
true objective to first order. A client that finishes none cannot be made up for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput
from boundcheck.methods._family import Common, compose, epochs_from
from boundcheck.methods._steps import count
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, Unbiased

__all__ = ["build", "matches"]


def build(
    *,
    eta_l: Any,
    missed: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    reweighted: bool = True,
    participation: Any = "full",
) -> Method:
    """FedShuffle with step size eta_l/(E_i |D_i|) whose client i leaves out its last missed[i] steps.

    reweighted: False keeps FedShuffle's weights w_i. E, participation: see `methods._family`. Raises BadInput (for a
    client that finishes no step, when weights are computed) and UnknownName.
    """
    if isinstance(missed, str) or not isinstance(missed, Sequence):
        raise BadInput("missed must be a list with the number of steps that each client leaves out.")
    left_out = tuple(_whole(v) for v in missed)
    local = Epochs(epochs_from(E), count(batch, "batch"), divide="work", missed=left_out)
    weights = Unbiased("unfinished" if reweighted else "data")
    return compose("fedshuffle_unfinished", local, weights, Common(eta_l, eta_g, participation))


def _whole(value: Any) -> int:
    number = as_fraction(value, "missed")
    if number.denominator != 1 or number < 0:
        raise BadInput(f"missed = {value} is not allowed; a client leaves out 0, 1, 2, ... steps.")
    return int(number)


def matches(method: Method) -> bool:
    """Whether a composition is FedShuffle with unfinished rounds and the weights that make up for them."""
    local = method.local
    return (
        isinstance(local, Epochs)
        and local.missed is not None
        and local == Epochs(local.E, local.batch, divide="work", missed=local.missed)
        and method.aggregation == Unbiased("unfinished")
        and method.is_plain
        and not method.server.ascend
    )
