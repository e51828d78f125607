"""Metrics of a round in which clients keep models of their own."""

from __future__ import annotations

from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods import answers
from boundcheck.setting.quantities import MODELS, SAMPLED, Quantity

_KNOWN = "sampled and neural runs, where the losses are known (least squares without ridge, regressions, networks)"


def _discrepancy(r: Any) -> Any:
    """What a worker keeps is y_i - u."""
    averaging = answers.averaging(r.method.exchange)
    assert averaging is not None, "only methods that average blocks have this metric"
    blocks, chosen = averaging.blocks(r.dim), range(r.dim)
    if r.argument:
        number = int(r.argument)
        if number >= len(blocks):
            raise BadInput(f"'{r.name}': there is no such block; the model has the blocks 0 to {len(blocks) - 1}.")
        chosen = blocks[number]
    return r.sum(r.square(apart) * w for w, apart in r.kept(averaging.of(r.clients.weights), chosen))


# fmt: off
quantities = (
    Quantity("discrepancy", "sum of w_i |u - y_i|^2, u the mean of the workers' models y_i; `discrepancy:2` over block "
             "2 alone (from 0); both engines", _discrepancy, MODELS, numbered=True),
    Quantity("least_local_f", "min over i of F(z_i), z_i what worker i's steps of the round end with, before models "
             "are averaged; " + _KNOWN, needs=SAMPLED),
    Quantity("least_local_loss", "min over i of f_i(z_i), each model on its own worker's data; " + _KNOWN,
             needs=SAMPLED),
    Quantity("f_above_least_local", "F(u) - min over i of F(z_i); below 0 where the mean u of the models is better "
             "than each; sampled and neural runs", needs=SAMPLED),
)
