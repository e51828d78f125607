"""A problem on a device: its samples, its model, its loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.neural.network import Network, Tensor
from boundcheck.methods.clients import Clients

__all__ = ["Task"]


@dataclass(frozen=True, eq=False)
class Task:
    """What a run reads of a problem.

    f_i(x) = mean over the client's samples of loss(scores(x, input), label) + ridge/2 |x|^2, F = sum of w_i f_i.

    known: the clients (weights as they report them, sizes). weights: w_i of the objective, (n,) float64.
    inputs: (N, *sample) in the dtype in which the network takes it (symbols: int64), labels: (N,) int64 (+1 or -1,
    float, for the loss "logistic"); client i owns the rows offsets[i] to offsets[i + 1]. start: x_0 (dim,) float64.
    test_inputs, test_labels: held-out samples, None where there are none.
    device, dtype: of the parameters. autocast: whether passes run under bfloat16 autocast.
    """

    network: Network
    known: Clients
    weights: Floats
    inputs: Tensor
    labels: Tensor
    offsets: Ints
    loss: Literal["cross_entropy", "logistic"]
    ridge: float
    start: Floats
    test_inputs: Tensor | None
    test_labels: Tensor | None
    device: Tensor
    dtype: Tensor
    autocast: bool = False
