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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.estimate import upper_mean
from boundcheck.engines.curve import Floats, Ints
from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.networks.engine.curvature import Ends, ends, hessian_product, sample_hessian_product
from boundcheck.networks.engine.device import Tensor, library
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
        constants = {name: c.to_dict() for name, c in self.constants.items()}
        along = {name: values.tolist() for name, values in self.along.items()}
        others = {f.name: np.asarray(getattr(self, f.name)).tolist() for f in fields(self)[2:]}
        return plain({"constants": constants, "along": along, **others})


def probe(
    task: Task,
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
    return _Probing(task, at, own, effort or Effort(), float(low)).all()


class _Probing:
    """What is measured at G points (G, dim): sums over the clients, and of the chosen clients variances and spectra."""

    def __init__(self, task: Task, points: Tensor, blocks: tuple[Ints, ...], effort: Effort, low: float) -> None:
        self.task, self.passes, self.points, self.blocks, self.effort, self.low = (
            task, Passes(task), points, blocks, effort, low,
        )  # fmt: skip
        self.random = np.random.default_rng(effort.seed)
        self.chosen = self.some(len(task.weights), effort.clients)  # the clients that are looked at closely
        self.block_of: Tensor | None = None  # of each coordinate (dim,)
        if blocks:
            found = library().zeros(points.shape[1], dtype=library().int64)
            for j, block in enumerate(blocks):
                found[library().from_numpy(block)] = j
            self.block_of = found.to(points.device)

    def some(self, total: int, most: int) -> Ints:
        """All numbers below `total`, or this many of them drawn at random; increasing."""
        return np.arange(total) if total <= most else np.sort(self.random.choice(total, most, replace=False))

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

    # --- of clients -------------------------------------------------------------------------------------------------

    def rows(self, i: int) -> tuple[int, int]:
        """Where the samples of client i begin and end."""
        return int(self.task.offsets[i]), int(self.task.offsets[i + 1])

    def client(self, i: int) -> tuple[Floats, Tensor]:
        """f_i (G,) and grad f_i (G, dim)."""
        found = [self.passes.client_slopes(part, i) for _, part in self.passes.parts(self.points)]
        return np.concatenate([losses for losses, _ in found]), library().cat([slopes for _, slopes in found])

    def spectra(self, clients: Sequence[int], ridge: float, *, of_all: bool = False) -> Ends:
        """The ends of the Hessians of client i at all points, or of F less that client's, or of F for no client."""
        torch, found = library(), list[Ends]()
        for _, points in self.passes.parts(self.points):
            products = list[tuple[float, Callable[[Tensor], Tensor]]]()
            if of_all:
                every = len(self.task.labels)
                products.append((1.0, hessian_product(self.passes, points, 0, every, self.passes.shares, 0.0)))
            for low, high in map(self.rows, clients):
                shares = torch.full((high - low,), 1 / (high - low), dtype=torch.float64, device=self.task.device)
                sign = -1.0 if of_all else 1.0
                products.append((sign, hessian_product(self.passes, points, low, high, shares, 0.0)))

            def apply(v: Tensor, products: Any = products) -> Tensor:
                total = ridge * v
                for factor, product in products:
                    total = total + factor * product(v)
                return total

            starts = torch.as_tensor(self.random.standard_normal(tuple(points.shape)), device=points.device)
            found.append(ends(apply, starts, self.effort.steps, _LEVEL))
        return Ends.joined(found)

    # --- of single samples ------------------------------------------------------------------------------------------

    def sample_slopes(self, point: Tensor, rows: Ints) -> Iterator[Tensor]:
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
        low, high = self.rows(i)
        rows = low + self.some(high - low, self.effort.samples)
        whole, parts = np.empty(len(self.points)), np.empty((len(self.points), max(1, len(self.blocks))))
        for g, point in enumerate(self.points):
            each = np.concatenate([self.squares(own - slopes[g]) for own in self.sample_slopes(point, rows)])
            parts[g] = upper_mean(each, high - low, _LEVEL)
            whole[g] = upper_mean(each.sum(axis=1, keepdims=True), high - low, _LEVEL)[0]
        return whole, parts, len(rows)

    def sharpest(self) -> tuple[float, str]:
        """The largest |eigenvalue| of a sample's Hessian over random samples and all points, and how it was found."""
        torch, total = library(), len(self.task.labels)
        rows = self.some(total, self.effort.curved)
        picked, count = torch.as_tensor(rows, device=self.task.device), len(rows)
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

    # --- everything -------------------------------------------------------------------------------------------------

    def all(self) -> Probe:
        """Measure everything; random numbers are drawn in the order below."""
        w, several = self.task.weights, len(self.task.weights) > 1
        chosen = [int(i) for i in self.chosen]
        self.values, parts = np.zeros(len(self.points)), np.zeros((len(self.points), max(1, len(self.blocks))))
        mean: Tensor = library().zeros_like(self.points)
        steep, seen, relative = 0.0, list[tuple[Floats, Floats, int]](), list[Floats]()
        for i in range(len(w)):
            losses, slopes = self.client(i)
            own = self.squares(slopes)
            self.values += w[i] * losses
            parts += w[i] * own
            mean += float(w[i]) * slopes
            steep = max(steep, self.quotients(slopes))
            if i in chosen:
                seen.append(self.variance(i, slopes))
                with np.errstate(divide="ignore", invalid="ignore"):
                    relative.append(seen[-1][0] / own.sum(axis=1))
        of_all = self.squares(mean)
        self.client_grad2, self.grad2 = parts.sum(axis=1), of_all.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.ratio = np.maximum(np.where(self.client_grad2 > 0, self.client_grad2 / self.grad2, 1.0), 1.0)  # B(x)^2
        self.noise, self.relative = np.array([whole for whole, _, _ in seen]), np.array(relative)
        self.looked = [count for *_, count in seen]
        self.each = [self.spectra([i], self.task.ridge) for i in chosen]
        # of F - f_i, in which the ridge cancels
        self.unlike = [self.spectra([i], 0.0, of_all=True) for i in chosen] if several else []
        apart = max((self.quotients(self.client(i)[1] - mean) for i in chosen), default=0.0) if several else 0.0
        self.of_F = self.spectra([], self.task.ridge * float(w.sum()), of_all=True)
        by_block = {}
        if self.blocks:
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(parts > 0, parts / of_all, 1.0)
            by_block = {
                "block_noise": np.array([own for _, own, _ in seen]).max(axis=1),
                "kappa2": np.maximum(parts - of_all, 0).max(axis=0),
                "beta2": np.maximum(ratio, 1).max(axis=0),
            }
        return Probe(
            constants=self.constants((steep, self.quotients(mean), apart)),
            along=self.along(),
            clients=tuple(chosen),
            curvatures=tuple((float(e.least.min()), float(e.largest.max())) for e in self.each),
            variances=tuple(float(v.max()) for v in self.noise),
            **by_block,
        )

    def along(self) -> dict[str, Floats]:
        """What changes along the run, at each point."""
        found = {
            "f": self.values,
            "grad2": self.grad2,
            "B2": self.ratio,
            "G2": np.maximum(self.client_grad2 - self.grad2, 0.0),
            "L": np.max([e.norm for e in self.each], axis=0),
            "lam": np.maximum(0.0, -np.min([e.least for e in self.each], axis=0)),
            "L_f": self.of_F.norm,
            "sigma2_i": self.noise.max(axis=0),
        }
        return found | ({"delta": np.max([e.norm for e in self.unlike], axis=0)} if self.unlike else {})

    def constants(self, quotients: tuple[float, float, float]) -> dict[str, Constant]:
        """The constants; quotients: the largest of a client's gradient, of grad F, and of their difference."""
        n, sizes = len(self.task.weights), np.diff(self.task.offsets).astype(np.float64)
        over, own = f"the largest at {len(self.values)} points of the run", sizes[self.chosen]
        some = "" if len(self.chosen) == n else f"; {len(self.chosen)} of {n} clients, drawn at random"
        how_noise = f"{max(self.looked)} samples a client, upper 99 % Student limit"
        if all(count == size for count, size in zip(self.looked, own, strict=True)):
            how_noise = "all samples"
        # sum of sigma_i^2 over all samples, from the chosen clients
        noise2 = self.noise.max(axis=1).mean() * n / sizes.sum()
        (smooth, lanczos), (smooth_F, lanczos_F) = _sharpest(self.each), _sharpest([self.of_F])
        unlike, how_unlike = _sharpest(self.unlike) if self.unlike else (0.0, "a single client")
        curved = -min(float(e.least.min()) for e in self.each)
        steepest, how_steep = self.sharpest()
        steps = "or a difference quotient between successive points"
        found = {
            "B2": Constant(Fraction(1), Known.EXACT, "exact", "chosen; G2 is for this"),
            "G2": _estimate(self.client_grad2 - self.grad2, f"{over} of sum w_i |grad f_i|^2 - |grad F|^2"),
            "B2_0": _estimate(self.ratio[:1], "sum of w_i |grad f_i|^2 over |grad F|^2 at the start, float rounding"),
            "B2_only": _estimate(self.ratio, f"{over} of sum w_i |grad f_i|^2 over |grad F|^2"),
            "grad2_0": _estimate(self.grad2[:1], "|grad F|^2 at the start, up to float rounding"),
            "gap_0": _estimate(
                self.values[:1] - self.low, "F at the start minus a lower bound of F, up to float rounding"
            ),
            "P2": Constant(Fraction(0), Known.EXACT, "exact", "chosen; noise2 is for this"),
            "noise2": _estimate([noise2], f"{over} of the variance of sample gradients; {how_noise}{some}"),
            "L": _estimate([smooth, quotients[0]], f"{over}: Lanczos on clients, {lanczos}; {steps}{some}"),
            "L_f": _estimate([smooth_F, quotients[1]], f"{over}: Lanczos on F, {lanczos_F}; {steps}"),
            "L_ij": _estimate([steepest], f"{over}: {how_steep}"),
            "lam": _estimate([curved], f"{over}: Lanczos on clients, {lanczos}{some}"),
            "delta": _estimate([unlike, quotients[2]], f"{over}: Lanczos on f_i - F, {how_unlike}; {steps}{some}"),
        }
        shares = self.relative.max(axis=1) / own
        if np.isfinite(shares).all():
            how = f"{over} of the variance over |D_i| |grad f_i|^2 with sigma_i = 0{some}"
            found["P2_only"] = _estimate(shares, how)
        return found


def _sharpest(all_ends: Sequence[Ends]) -> tuple[float, str]:
    best = max(all_ends, key=lambda e: float(e.norm.max()))
    at = int(np.argmax(best.norm))
    return float(best.norm[at]), best.words(at)


def _estimate(values: Floats | Sequence[float], how: str) -> Constant:
    """The largest value, at least 0."""
    return Constant(Fraction(max(0.0, float(np.max(values)))), Known.ESTIMATED, "exact", how)
