"""The averaging of blocks of the models that clients keep."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Tensor
from boundcheck.methods.parts import Blocks

__all__ = ["Averaging"]

Place = slice | Tensor


class Averaging:
    """The averaging that ends each round; models are (S, models, dim), weights of the average (models,)."""

    def __init__(self, blocks: Blocks, weights: Floats, dim: int, dtype: Tensor, device: Tensor) -> None:
        self.blocks = blocks
        self.dim = dim
        self.device = device
        self.weights: Tensor = library().as_tensor(weights, dtype=dtype).to(device)
        self.pattern = self._pattern()

    def _pattern(self) -> list[Place | None]:
        """What is averaged after each round of a period: a stretch of coordinates where it is one, or their numbers."""
        blocks, dim = self.blocks, self.dim
        if blocks.partition == "whole":
            return [None] * (blocks.tau - 1) + [slice(0, dim)]
        if blocks.partition == "even":
            cuts = [dim * k // blocks.tau for k in range(blocks.tau + 1)]
            places: list[Place | None] = [slice(a, b) for a, b in itertools.pairwise(cuts)]
        else:
            places = [self._place(own) for own in blocks.blocks(dim)]
        return places if blocks.order is None else [places[k] for k in blocks.order]

    def _place(self, coordinates: Sequence[int]) -> Place:
        own = np.sort(np.asarray(coordinates, dtype=np.int64))
        if not len(own) or own[-1] - own[0] + 1 == len(own):
            return slice(int(own[0]), int(own[-1]) + 1) if len(own) else slice(0, 0)
        return library().from_numpy(own).to(self.device)

    def mean(self, models: Tensor) -> Tensor:
        """Their weighted mean (S, k) at some coordinates (S, models, k)."""
        total = models[:, 0] * self.weights[0]
        for k in range(1, models.shape[1]):
            total.addcmul_(models[:, k], self.weights[k])
        return total

    def end(self, models: Tensor, round_index: int) -> None:
        """End a round, in place."""
        place, moved = self.pattern[round_index % self.blocks.tau], self.blocks.hand_over
        if moved is not None and moved.design == 1 and (round_index + 1) % moved.every == 0:
            place = slice(0, self.dim)
        if place is None:
            return
        if isinstance(place, slice):
            own = models[:, :, place]
            own.copy_(self.mean(own).unsqueeze(1).expand_as(own))
        else:
            own = models.index_select(2, place)
            models.index_copy_(2, place, self.mean(own).unsqueeze(1).expand_as(own))
