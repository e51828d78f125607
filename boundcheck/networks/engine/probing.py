"""Constants of a model measured at points of its trajectory: estimates, each with its method and its confidence.

At G points x (the server's), with g_i = grad f_i(x), of all n clients, of which only sums are kept:

    G2 (with B2 = 1)    largest sum of w_i |g_i|^2 - |grad F|^2
    B2_only, B2_0       largest B(x)^2 = sum of w_i |g_i|^2/|grad F|^2, and at the first point
    kappa2_j, beta2_j   the same by block j of the model, with beta^2 = 1, resp. with kappa = 0
    grad2_0, gap_0      at the first point; gap_0 is F(x) minus a known lower bound of F

of some clients, drawn at random if there are many,

    L, lam              the ends of the Hessians of f_i by Lanczos (`networks.engine.curvature`), and of L also
                        |g_i(x) - g_i(x')|/|x - x'| over successive points
    delta               the largest |eigenvalue| of Hess f_i - Hess F, and the same quotients for f_i - F
    sigma_i^2 (P_i = 0) the variance of the gradients of single samples, from a random part of them with an upper
                        confidence limit of Student's, and by block; P_i^2 (with sigma_i = 0)

and L_f from F itself, L_ij from the Hessians of single samples. A constant is the largest over the points: nothing is
known of other points, nor of those between, at which clients work. The confidence limit of a variance is one for many
samples: a rare sample far from all others that was not drawn is not in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.certified.constant import Constant
from boundcheck.certified.estimate import upper_mean
from boundcheck.engines.curve import Floats, Ints
from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.networks.engine.curvature import Ends, ends, hessian_product, sample_hessian_product
from boundcheck.networks.engine.device import Tensor, library
from boundcheck.networks.engine.estimates import Found
from boundcheck.networks.engine.losses import sample_losses
from boundcheck.networks.engine.passes import Passes
from boundcheck.networks.engine.task import Task
from boundcheck.verdict import plain

_LEVEL = 0.99


@dataclass(frozen=True)
class Effort:
    """How much is examined.

    clients: whose Hessians and samples are examined, drawn at random if there are more. samples: of each of them,
    for the variance. curved: samples of all whose Hessians are looked at. steps: of Lanczos. seed: of all draws.
    """

    clients: int = 10
    samples: int = 64
    curved: int = 32
    steps: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("clients", 1), ("samples", 2), ("curved", 1), ("steps", 1)):
            if getattr(self, name) < least:
                raise BadInput(f"{name} = {getattr(self, name)} is not allowed; it must be at least {least}.")

    @staticmethod
    def of(given: Mapping[str, Any] | None) -> Effort:
        """From a table such as {clients = 5}. Raises UnknownName and BadInput."""
        known = [f.name for f in fields(Effort)]
        for name, value in (given or {}).items():
            if name not in known:
                raise UnknownName("estimate: the key", name, known)
            if not isinstance(value, int) or isinstance(value, bool):
                raise BadInput(f"estimate: {name} = {shown(repr(value))} is not allowed; it must be a whole number.")
        return Effort(**(given or {}))


@dataclass(frozen=True)
class Probe:
    """What was measured.

    constants: by the names that problems use; all ESTIMATED but those that were chosen. along: name -> its value at
    each point. clients: which were looked at closely; curvatures: their (least, largest) eigenvalues and variances:
    their sigma_i^2 (with P_i = 0), as far as they were seen at any point; block_noise (c, J): their variances by block,
    kappa2 and beta2 (J,): of the blocks; empty without blocks.
    """

    constants: Mapping[str, Constant]
    along: Mapping[str, Floats]
    clients: tuple[int, ...]
    curvatures: tuple[tuple[float, float], ...]
    variances: tuple[float, ...]
    block_noise: Floats = field(default_factory=lambda: np.empty((0, 0)))
    kappa2: Floats = field(default_factory=lambda: np.empty(0))
    beta2: Floats = field(default_factory=lambda: np.empty(0))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return plain(
            {
                "constants": {name: c.to_dict() for name, c in self.constants.items()},
                "along": {name: v.tolist() for name, v in self.along.items()},
                "clients": list(self.clients),
                "curvatures": [list(pair) for pair in self.curvatures],
                "variances": list(self.variances),
                "block_noise": self.block_noise.tolist(),
                "kappa2": self.kappa2.tolist(),
                "beta2": self.beta2.tolist(),
            }
        )


def probe(
    task: Task,
    problem: Any,
    points: Tensor | Floats,
    *,
    blocks: Sequence[Sequence[int]] = (),
    effort: Effort | None = None,
    low: Fraction = Fraction(0),
) -> Probe:
    """The constants at points (G, dim), in the order of the run, the start first.

    blocks: the coordinates of each block of the model, for the constants by block. low: a lower bound of F. Raises
    BadInput for points that are not finite or of another dimension, Unsupported where the model has no Hessian.
    """
    torch = library()
    at = torch.as_tensor(points, dtype=torch.float64, device=task.device)
    if at.ndim != 2 or at.shape[1] != task.network.dim or not len(at):
        raise BadInput(f"constants are measured at points (G, {task.network.dim}); {tuple(at.shape)} were given.")
    if not bool(torch.isfinite(at).all()):
        raise BadInput("constants are measured at finite points; the run has diverged.")
    own = tuple(np.asarray(block, dtype=np.int64) for block in blocks)
    return _Probing(task, Passes(task), at, own, effort or Effort(), low).all()


@dataclass(frozen=True, eq=False)
class _Probing:
    task: Task
    passes: Passes
    points: Tensor
    blocks: tuple[Ints, ...]
    effort: Effort
    low: Fraction

    @cached_property
    def random(self) -> np.random.Generator:
        return np.random.default_rng(self.effort.seed)

    @cached_property
    def chosen(self) -> Ints:
        """The clients that are looked at closely, increasing."""
        n = len(self.task.weights)
        if n <= self.effort.clients:
            return np.arange(n)
        return np.sort(self.random.choice(n, self.effort.clients, replace=False))

    @cached_property
    def block_of(self) -> Tensor | None:
        """The block of each coordinate (dim,)."""
        torch = library()
        if not self.blocks:
            return None
        found = torch.zeros(self.points.shape[1], dtype=torch.int64)
        for j, block in enumerate(self.blocks):
            found[torch.from_numpy(block)] = j
        return found.to(self.points.device)

    def squares(self, rows: Tensor) -> Floats:
        """|row|^2 by block (s, J), in one block if the model has no blocks."""
        torch, own = library(), rows.square()
        if self.block_of is None:
            return own.sum(dim=1, keepdim=True).cpu().numpy()
        empty = torch.zeros(len(rows), len(self.blocks), dtype=own.dtype, device=own.device)
        return empty.index_add_(1, self.block_of, own).cpu().numpy()

    def quotients(self, slopes: Tensor) -> float:
        """The largest |g(x') - g(x)|/|x' - x| over successive points; 0 where none differ."""
        apart = (self.points[1:] - self.points[:-1]).norm(dim=1).cpu().numpy()
        moved = (slopes[1:] - slopes[:-1]).norm(dim=1).cpu().numpy()
        # below this, the rounding of the gradients would be measured
        rounding = 1e-14 if self.task.dtype == library().float64 else 1e-5
        far = apart > rounding * (1 + self.points[1:].norm(dim=1).cpu().numpy())
        return float((moved[far] / apart[far]).max()) if far.any() else 0.0

    # --- gradients of clients -----------------------------------------------------------------------------

    def client(self, i: int) -> tuple[Floats, Tensor]:
        """f_i (G,) and grad f_i (G, dim)."""
        losses, slopes = list[Floats](), list[Tensor]()
        for _, part in self.passes.parts(self.points):
            own, slope = self.passes.client_slopes(part, i)
            losses.append(own)
            slopes.append(slope)
        return np.concatenate(losses), library().cat(slopes)

    def spectra(self, parts: Sequence[tuple[int, int, Tensor, float]], ridge: float) -> Ends:
        """The ends of a weighted sum of Hessians at all points.

        parts: (low, high, shares, factor): the samples of one sum, what it is multiplied by.
        """
        torch = library()
        found: list[Ends] = []
        for _, points in self.passes.parts(self.points):
            products = [
                (factor, hessian_product(self.passes, points, low, high, shares, 0.0))
                for low, high, shares, factor in parts
            ]

            def apply(v: Tensor, products: Any = products) -> Tensor:
                total = ridge * v
                for factor, product in products:
                    total = total + factor * product(v)
                return total

            starts = torch.as_tensor(self.random.standard_normal(tuple(points.shape)), device=points.device)
            found.append(ends(apply, starts, self.effort.steps, _LEVEL))
        return Ends(
            least=np.concatenate([e.least for e in found]),
            largest=np.concatenate([e.largest for e in found]),
            residual=np.concatenate([e.residual for e in found]),
            above=np.concatenate([e.above for e in found]),
            steps=found[0].steps,
            confidence=found[0].confidence,
        )

    def own(self, i: int, factor: float = 1.0) -> tuple[int, int, Tensor, float]:
        """The samples of client i with equal shares."""
        torch = library()
        low, high = int(self.task.offsets[i]), int(self.task.offsets[i + 1])
        shares = torch.full((high - low,), 1 / (high - low), dtype=torch.float64, device=self.task.device)
        return low, high, shares, factor

    def everyone(self, factor: float = 1.0) -> tuple[int, int, Tensor, float]:
        """All samples with the shares that they have in F."""
        return 0, len(self.task.labels), self.passes.shares, factor

    # --- single samples -----------------------------------------------------------------------------------

    def sample_slopes(self, point: Tensor, rows: Ints) -> Any:
        """grad f_ij (m, dim) of the samples `rows` at a point (dim,), in groups."""
        torch, task = library(), self.task
        step = self.passes.models_at_once()
        for begin in range(0, len(rows), step):
            own = torch.as_tensor(rows[begin : begin + step], device=task.device)
            leaf = point.to(task.dtype).expand(len(own), -1).contiguous().requires_grad_()
            with torch.enable_grad():
                scores = task.network.scores(leaf, task.inputs[own].unsqueeze(1))
                losses = sample_losses(task, scores, task.labels[own].unsqueeze(1))
                (slopes,) = torch.autograd.grad(losses.sum(), leaf)
            yield slopes.double() + task.ridge * point

    def variance(self, i: int, slopes: Tensor) -> tuple[Floats, Floats, int]:
        """Upper limits (G,) and (G, J) of the variance of a client's samples' gradients, and how many were looked at.

        slopes: grad f_i (G, dim). The mean of |grad f_ij - grad f_i|^2 over samples drawn without replacement, with an
        upper 99 % limit of that mean (Student's); exact where all are looked at.
        """
        low, high = int(self.task.offsets[i]), int(self.task.offsets[i + 1])
        size = high - low
        count = min(size, self.effort.samples)
        rows = low + (np.arange(size) if count == size else np.sort(self.random.choice(size, count, replace=False)))
        whole, parts = np.empty(len(self.points)), np.empty((len(self.points), max(1, len(self.blocks))))
        for g, point in enumerate(self.points):
            each = np.concatenate([self.squares(own - slopes[g]) for own in self.sample_slopes(point, rows)])
            parts[g] = upper_mean(each, size, _LEVEL)
            whole[g] = upper_mean(each.sum(axis=1, keepdims=True), size, _LEVEL)[0]
        return whole, parts, count

    def sharpest(self) -> tuple[float, str]:
        """The largest |eigenvalue| of a sample's Hessian over random samples and all points, and how it was found."""
        torch, total = library(), len(self.task.labels)
        count = min(total, self.effort.curved)
        rows = np.arange(total) if count == total else np.sort(self.random.choice(total, count, replace=False))
        picked = torch.as_tensor(rows, device=self.task.device)
        best, how = -math.inf, ""
        for point in self.points:
            product = sample_hessian_product(self.passes, point.to(self.task.dtype), picked, self.task.ridge)
            starts = self.random.standard_normal((count, len(point)))
            found = ends(product, torch.as_tensor(starts, device=point.device), self.effort.steps, _LEVEL)
            at = int(np.argmax(found.norm))
            if found.norm[at] > best:
                best, how = float(found.norm[at]), found.words(at)
        if count < total:
            share = 1 - (1 - _LEVEL) ** (1 / count)
            how += f"; {count} of {total} samples, of which at most {share:.2g} are steeper at 99 % confidence"
        return best, f"Lanczos on the Hessians of samples, {how}"

    # --- everything ---------------------------------------------------------------------------------------

    def all(self) -> Probe:
        task, w = self.task, self.task.weights
        g, n, many = len(self.points), len(w), max(1, len(self.blocks))
        values, parts = np.zeros(g), np.zeros((g, many))
        mean: Tensor = library().zeros_like(self.points)
        quotient, noise, block_noise, looked = 0.0, list[Floats](), list[Floats](), list[int]()
        relative = list[Floats]()
        chosen = set(self.chosen.tolist())
        for i in range(n):
            losses, slopes = self.client(i)
            values += w[i] * losses
            own = self.squares(slopes)
            parts += w[i] * own
            mean += float(w[i]) * slopes
            quotient = max(quotient, self.quotients(slopes))
            if i in chosen:
                whole, by_block, count = self.variance(i, slopes)
                noise.append(whole)
                block_noise.append(by_block)
                looked.append(count)
                with np.errstate(divide="ignore", invalid="ignore"):
                    relative.append(whole / own.sum(axis=1))
        of_all = self.squares(mean)
        spectra = {int(i): self.spectra([self.own(int(i))], task.ridge) for i in self.chosen}
        # of F - f_i, in which the ridge cancels
        unlike = [self.spectra([self.everyone(), self.own(int(i), -1.0)], 0.0) for i in self.chosen] if n > 1 else []
        apart = 0.0
        if n > 1:
            for i in self.chosen:
                apart = max(apart, self.quotients(self.client(int(i))[1] - mean))
        found = Found(
            weights=w,
            sizes=np.diff(task.offsets).astype(np.float64),
            chosen=self.chosen,
            low=float(self.low),
            values=values,
            parts=parts,
            of_all=of_all,
            quotients=(quotient, self.quotients(mean), apart),
            noise=np.array(noise),
            relative=np.array(relative),
            looked=looked,
            spectra=list(spectra.values()),
            unlike=unlike,
            of_F=self.spectra([self.everyone()], task.ridge * float(w.sum())),
            steepest=self.sharpest(),
        )
        by_block = {}
        if self.blocks:
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(parts > 0, parts / of_all, 1.0)
            by_block = {
                "block_noise": np.array(block_noise).max(axis=1),
                "kappa2": np.maximum(parts - of_all, 0).max(axis=0),
                "beta2": np.maximum(ratio, 1).max(axis=0),
            }
        return Probe(
            constants=found.constants(),
            along=found.along(),
            clients=tuple(int(i) for i in self.chosen),
            curvatures=tuple((float(e.least.min()), float(e.largest.max())) for e in spectra.values()),
            variances=tuple(float(v.max()) for v in noise),
            **by_block,
        )
