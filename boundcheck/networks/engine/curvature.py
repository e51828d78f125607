"""Extreme eigenvalues of Hessians by Lanczos with products of Hessian and vector; the Hessian itself is never formed.

The largest Ritz value is at most the largest eigenvalue for any start. From a start that is uniform on the sphere
it is close with a known probability: J. Kuczynski and H. Wozniakowski, "Estimating the largest eigenvalue by the power
and Lanczos algorithms with a random start" (SIAM J. Matrix Anal. Appl. 13, 1992), Theorem 3.2: for a positive definite
matrix of order n and k steps, P(theta < (1 - eps) lambda) <= 1.648 sqrt(n) exp(-sqrt(eps) (2k - 1)). Applied to H minus
its least eigenvalue, and to -H, it bounds both ends by the spread of the Ritz values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.errors import Unsupported
from boundcheck.networks.engine.device import Tensor, library
from boundcheck.networks.engine.losses import sample_losses
from boundcheck.networks.engine.passes import Passes

Product = Callable[[Tensor], Tensor]  # (N, dim) vectors -> (N, dim), each by the Hessian of its lane

_BASIS_BYTES = 1 << 29  # up to here all Lanczos vectors are kept and made orthogonal to each other


@dataclass(frozen=True)
class Ends:
    """The ends of N spectra as Lanczos sees them.

    least, largest: Ritz values (N,), inside the spectrum. residual: (N,) the larger |H v - theta v| of the two, so that
    an eigenvalue is within it of each (up to rounding). above: (N,) what the spectrum exceeds either end by at most,
    with probability `confidence` for each lane; inf where so few steps say nothing. steps: that were done.
    """

    least: Floats
    largest: Floats
    residual: Floats
    above: Floats
    steps: int
    confidence: float

    @property
    def norm(self) -> Floats:
        """The largest |eigenvalue| that was seen (N,)."""
        return np.maximum(np.abs(self.least), np.abs(self.largest))

    @staticmethod
    def joined(found: Sequence[Ends]) -> Ends:
        """The ends of all lanes of several groups."""
        least, largest, residual, above = (
            np.concatenate([getattr(ends, name) for ends in found])
            for name in ("least", "largest", "residual", "above")
        )
        return Ends(least, largest, residual, above, found[0].steps, found[0].confidence)

    def words(self, at: int) -> str:
        """How far lane `at` may be off, in words."""
        words = f"residual {self.residual[at]:.2g} after {self.steps} steps"
        if math.isfinite(self.above[at]):
            words += f", at most {self.above[at]:.2g} too low with probability {self.confidence:g}"
        return words


def kept_share(dim: int, steps: int, miss: float) -> float:
    """The eps of Kuczynski and Wozniakowski that a random start misses with probability `miss`; inf above 1."""
    root = math.log(1.648 * math.sqrt(dim) / miss) / (2 * steps - 1)
    return root * root if root < 1 else math.inf


def ends(product: Product, starts: Tensor, steps: int, confidence: float = 0.99) -> Ends:
    """The ends of the spectra of N symmetric operators.

    starts: (N, dim) float64, uniform on directions. At most `steps` steps of Lanczos; a lane that has found an
    invariant subspace is exact from there on. Vectors are kept orthogonal where they fit into the memory.
    """
    torch = library()
    lanes, dim = starts.shape
    steps = min(steps, dim)
    kept = steps * lanes * dim * 8 <= _BASIS_BYTES
    v = starts / starts.norm(dim=1, keepdim=True)
    before, beta = torch.zeros_like(v), torch.zeros(lanes, dtype=v.dtype, device=v.device)
    basis: list[Tensor] = []
    diagonal, beside = list[Tensor](), list[Tensor]()
    for _ in range(steps):
        if kept:
            basis.append(v)
        w = product(v).to(v.dtype)
        alpha = (v * w).sum(dim=1)
        w = w - alpha[:, None] * v - beta[:, None] * before
        for _ in range(2 if kept else 0):  # twice is enough
            for u in basis:
                w = w - (u * w).sum(dim=1, keepdim=True) * u
        diagonal.append(alpha)
        size = w.norm(dim=1)
        scale = torch.stack([a.abs() for a in diagonal]).amax(dim=0)
        # what is left is rounding: the subspace is invariant, and a step of 0 keeps its spectrum
        size = torch.where(size <= 1e-13 * scale * math.sqrt(dim), torch.zeros_like(size), size)
        beside.append(size)
        before, beta = v, size
        v = torch.where(size[:, None] > 0, w / size.clamp_min(1e-300)[:, None], torch.zeros_like(w))
    alphas = torch.stack(diagonal, dim=1).cpu().numpy()
    betas = torch.stack(beside, dim=1).cpu().numpy()
    least, largest, residual = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for n in range(lanes):
        stop = int(np.argmax(betas[n] == 0)) + 1 if (betas[n] == 0).any() else steps
        off = betas[n, : stop - 1]
        values, vectors = np.linalg.eigh(np.diag(alphas[n, :stop]) + np.diag(off, 1) + np.diag(off, -1))
        least[n], largest[n] = values[0], values[-1]
        residual[n] = betas[n, stop - 1] * max(abs(vectors[-1, 0]), abs(vectors[-1, -1]))
    share = 0.0 if steps == dim and kept else kept_share(dim, steps, (1 - confidence) / 2)
    spread = largest - least
    above = share * spread / (1 - 2 * share) if share < 0.5 else np.full(lanes, np.inf)
    above[(betas == 0).any(axis=1)] = 0.0  # a random start has a part in every eigenspace, so that all were seen
    return Ends(least, largest, residual, above, steps, confidence)


def hessian_product(passes: Passes, points: Tensor, low: int, high: int, shares: Tensor, ridge: float) -> Product:
    """Vectors (s, dim) -> (sum of shares_j Hess f_j + ridge I) v over the samples low to high, at points (s, dim).

    shares: (high - low,) float64. points: of `Passes.parts`.
    """
    torch, task = library(), passes.task

    def apply(vectors: Tensor) -> Tensor:
        total = ridge * vectors
        own = vectors.to(points.dtype)
        step = max(1, passes.rows_at_once(len(points)) // 3)
        for begin in range(low, high, step):
            rows = slice(begin, min(begin + step, high))
            part = shares[rows.start - low : rows.stop - low].to(points.dtype)

            def loss(leaf: Tensor, rows: slice = rows, part: Tensor = part) -> Tensor:
                scores = task.network.scores(leaf, task.inputs[rows].unsqueeze(0))
                return (sample_losses(task, scores, task.labels[rows]) * part).sum()

            total = total + _twice(torch, loss, points, own).double()
        return total

    return apply


def sample_hessian_product(passes: Passes, point: Tensor, rows: Tensor, ridge: float) -> Product:
    """Vectors (N, dim) -> (Hess f_j + ridge I) v, lane by lane, for the N samples `rows` at one point (dim,)."""
    torch, task = library(), passes.task
    inputs, labels = task.inputs[rows].unsqueeze(1), task.labels[rows].unsqueeze(1)

    def apply(vectors: Tensor) -> Tensor:
        step, found = passes.models_at_once(), list[Tensor]()
        for begin in range(0, len(rows), step):
            own = slice(begin, min(begin + step, len(rows)))
            models = point.expand(own.stop - own.start, -1).contiguous()

            def loss(leaf: Tensor, own: slice = own) -> Tensor:
                scores = task.network.scores(leaf, inputs[own])
                return sample_losses(passes.task, scores, labels[own]).sum()

            found.append(_twice(torch, loss, models, vectors[own].to(point.dtype)).double())
        return torch.cat(found) + ridge * vectors

    return apply


def _twice(torch: Any, loss: Callable[[Tensor], Tensor], points: Tensor, vectors: Tensor) -> Tensor:
    """The Hessian of a sum of lane losses times vectors, by differentiating <gradient, vector>."""
    leaf = points.detach().requires_grad_()
    try:
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(loss(leaf), leaf, create_graph=True)
            if not slope.requires_grad:  # the loss is linear in the parameters
                return torch.zeros_like(vectors)
            (found,) = torch.autograd.grad((slope * vectors).sum(), leaf)
    except RuntimeError as error:
        if "derivative" not in str(error) and "differentiable" not in str(error):
            raise
        raise Unsupported(f"the Hessian of this model cannot be had: {str(error).splitlines()[0]}.") from error
    return found
