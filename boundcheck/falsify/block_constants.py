"""Constants of blocks of coordinates of many problems at once, as `setting.blocks` has them of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.stacks import Instances, inverses
from boundcheck.methods import answers
from boundcheck.setting import Setting
from boundcheck.setting.local_work import possible_visits, variance_share

ROOM = 2.0  # a factor of dissimilarity is this many times the least possible one, where Hessians differ
Forms = tuple[Floats, Floats, Floats]  # q (B, d, d), v (B, d), c (B,) of x'q x - 2 v'x + c
NEAR = 1e-9  # eigenvalues within this share of the largest one are 0


def forms(A: Floats, b: Floats, weights: Floats) -> Forms:
    """(q, v, c): sum of weights |A x - b|^2 = x'q x - 2 v'x + c; A (B, k, d, d), b (B, k, d), weights (k,)."""
    return (
        np.einsum("k,bkji,bkjl->bil", weights, A, A),
        np.einsum("k,bkji,bkj->bi", weights, A, b),
        np.einsum("k,bkj->b", weights, b * b),
    )


def largest(form: Forms) -> Floats:
    """The maximum of a concave form x'q x - 2 v'x + c over x, (B,); inf if there is none."""
    q, v, c = form
    values, vectors = np.linalg.eigh(q)
    turned = np.einsum("bji,bj->bi", vectors, v)
    size = np.maximum(np.abs(values).max(1, keepdims=True), 1e-300)
    flat = np.abs(values) <= NEAR * size
    risen = np.where(flat, 0.0, -(turned**2) / np.where(flat, 1.0, values))
    bad = (values > NEAR * size) | (flat & (turned**2 > NEAR * size * np.maximum(c, 1e-300)[:, None]))
    return np.where(bad.any(1), np.inf, c + risen.sum(1))


def less(left: Forms, right: Forms, factor: Floats) -> Forms:
    """left - factor right, factor (B,)."""
    (q, v, c), (r, w, d) = left, right
    return q - factor[:, None, None] * r, v - factor[:, None] * w, c - factor * d


def pair(left: Forms, right: Forms, root: Floats, least: float) -> Any:
    """(factor, constant) with left <= constant + factor right, as `Dissimilarity.default` takes them."""
    back, onto = inverses(root)
    size = np.maximum(np.abs(left[0]).max((1, 2)), 1e-300)
    outside = np.abs(left[0] - onto @ left[0] @ onto).max((1, 2)) > 1e-7 * size
    ratio = np.linalg.eigvalsh(back @ left[0] @ back)[:, -1]
    factor = np.maximum(least, ROOM * ratio)
    return np.where(outside, np.nan, factor), np.where(outside, np.nan, largest(less(left, right, factor)))


class Blocks:
    """Those of a batch. size: the largest curvature of each instance; dissimilarity: (B2, G2)."""

    def __init__(self, instances: Instances, like: Setting, size: Floats, dissimilarity: tuple[Floats, Floats]) -> None:
        self.given, self.like, self.size, self.dissimilarity = instances, like, size, dissimilarity

    @cached_property
    def _blocks(self) -> list[list[int]]:
        exchange = answers.averaging(self.like.described.exchange)
        assert exchange is not None
        return [list(block) for block in exchange.blocks(self.given.A.shape[-1])]

    @cached_property
    def _block_noise(self) -> Floats:
        """sigma_j^2, (B, blocks)."""
        given, clients = self.given, self.like.clients
        own = np.repeat(given.maps[1], given.sizes, axis=1)
        each = given.of_clients((given.b - own) ** 2)  # of samples with their client's Hessian
        spread = np.abs(given.A - np.repeat(given.maps[0], given.sizes, axis=1)).max((1, 2, 3)) > NEAR * self.size
        shares: list[float] = []
        for i, size in enumerate(given.sizes):
            share = variance_share(possible_visits(self.like.described, i, clients)[0], size)
            shares.append(np.nan if share is None else float(share))
        sums = np.stack([each[:, :, block].sum(2) for block in self._blocks], 2) * np.array(shares)[:, None]
        return np.where(spread[:, None], np.nan, sums.max(1))

    @cached_property
    def _block_pairs(self) -> tuple[Floats, Floats]:
        """beta^2 (B,) and kappa_j^2 (B, blocks)."""
        (A, b), (whole, side), w = self.given.maps, self.given.whole, self.given.shares
        apart = np.abs(A - whole[:, None]).max((1, 2, 3)) > NEAR * self.size
        kinds: list[tuple[Any, Any]] = []
        for block in self._blocks:
            left = forms(A[:, :, block], b[:, :, block], w)
            right = forms(whole[:, None, block], side[:, None, block], np.ones(1))
            kinds.append((left, right))
        ratios = [np.linalg.eigvalsh(_root(r[0]) @ left[0] @ _root(r[0]))[:, -1] for left, r in kinds]
        beta2 = np.where(apart, np.maximum(1.0, ROOM * np.max(ratios, axis=0)), 1.0)
        kappa2 = [np.where(apart, largest(less(left, r, beta2)), left[2] - r[2]) for left, r in kinds]
        return beta2, np.maximum(np.stack(kappa2, 1), 0.0)

    @cached_property
    def _lipschitz(self) -> dict[str, Floats]:
        """L_j (B, blocks) of the four readings."""
        A, blocks = self.given.maps[0], self._blocks
        own = np.stack([norm(A[:, :, block][..., block]).max(1) for block in blocks], 1)
        whole = norm(A).max(1)
        return {
            "blocks": own, "separable": own, "global": np.repeat(whole[:, None], len(blocks), axis=1),
            "weighted": weighted(A, own, whole, blocks),
        }  # fmt: skip

    def of(self, name: str) -> Any:
        """A constant of the group "blocks"; None where it is not here."""
        if name == "sigma2":
            return self._block_noise.sum(1)
        if name in ("beta2", "kappa2"):
            beta2, kappa2 = self._block_pairs
            return beta2 if name == "beta2" else kappa2.sum(1)
        if name in ("beta2_whole", "kappa2_whole"):
            B2, G2 = self.dissimilarity
            return np.maximum(B2, 1.0) if name == "beta2_whole" else G2
        what, _, reading = name.rpartition("_")
        if reading not in self._lipschitz:
            return None
        L = self._lipschitz[reading]
        if what == "Lmax":
            return L.max(1)
        power = 2 if what.startswith("sum_L2_") else 1
        return (L**power * (self._block_noise if what.endswith("sigma2") else self._block_pairs[1])).sum(1)


def norm(a: Floats) -> Floats:
    """Spectral norms of symmetric matrices."""
    return np.abs(np.linalg.eigvalsh(a)).max(-1)


def _root(q: Floats) -> Floats:
    """Pseudo-inverses of the roots of positive semidefinite matrices (B, d, d)."""
    values, vectors = np.linalg.eigh(q)
    there = values > NEAR * values.max(1, keepdims=True)
    back = np.where(there, 1 / np.sqrt(np.where(there, values, 1.0)), 0.0)
    return vectors @ (back[:, :, None] * np.swapaxes(vectors, 1, 2))


def weighted(A: Floats, own: Floats, whole: Floats, blocks: Sequence[Sequence[int]]) -> Floats:
    """L_j with A_i^2 <= diag(L_j^2 I) for all clients: the block norms, the global constant or one of two proposals."""
    square = A @ A
    coupled: Any = [[np.linalg.norm(square[:, :, s][..., t], 2, (2, 3)) for t in blocks] for s in blocks]
    sums = np.stack([np.sum(row, axis=0).max(1) for row in coupled], 1)
    parts = np.stack([norm(square[:, :, s][..., s]).max(1) for s in blocks], 1)
    best = np.repeat(whole[:, None], len(blocks), axis=1)
    for proposal in (sums, parts):
        values = np.sqrt(_factor(square, proposal, blocks)[:, None] * proposal)
        better = (values**2).sum(1) < (best**2).sum(1)
        best = np.where(better[:, None], values, best)
    enough = _factor(square, own**2, blocks) <= 1 + 1e-9
    return np.where(enough[:, None], own, best)


def _factor(square: Floats, weights: Floats, blocks: Sequence[Sequence[int]]) -> Floats:
    """The least c with A_i^2 <= c diag(weights) for all clients, (B,)."""
    spread = np.empty((len(square), square.shape[-1]))
    for j, block in enumerate(blocks):
        spread[:, list(block)] = weights[:, [j]]
    half = np.where(spread > 0, 1 / np.sqrt(np.where(spread > 0, spread, 1.0)), 0.0)
    return norm(half[:, None, :, None] * square * half[:, None, None, :]).max(1)
