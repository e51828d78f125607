"""GroupNorm of many models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boundcheck.engines.neural.kernels.plain import Plain
from boundcheck.engines.neural.kernels.pooling import lanes_inside
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Tensor

__all__ = ["GroupNormKernel"]


@dataclass(frozen=True)
class GroupNormKernel(Plain):
    """Channels in groups, each normalised over channels and positions, then scaled and shifted by channel."""

    groups: int
    epsilon: float

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        norm = library().nn.functional.group_norm
        weight, bias = parameters
        lanes = weight.shape[0]
        if x.shape[0] == lanes and (lanes == 1 or lanes_inside(x)):  # the lanes are groups of channels
            wide = x.transpose(0, 1).flatten(1, 2)
            y = norm(wide, lanes * self.groups, weight.reshape(-1), bias.reshape(-1), self.epsilon)
            return y.unflatten(1, (lanes, -1)).transpose(0, 1)
        y = norm(x.flatten(0, 1), self.groups, None, None, self.epsilon).unflatten(0, x.shape[:2])
        return library().addcmul(bias[:, None, :, None, None], y, weight[:, None, :, None, None])
