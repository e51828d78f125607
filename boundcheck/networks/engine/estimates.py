"""What was measured at points of a run, as constants with their method and confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.engines.curve import Floats, Ints
from boundcheck.networks.engine.curvature import Ends


@dataclass(frozen=True, eq=False)
class Found:
    """Sums over the clients at G points, and spectra.

    weights, sizes: w_i and |D_i| (n,). chosen: the clients that were looked at closely. low: a lower bound of F.
    values: F (G,); parts: sum of w_i |grad f_i|^2 by block (G, J); of_all: |grad F|^2 by block; quotients: the largest
    difference quotient of a client's gradient, of grad F, and of their difference. noise, relative: variances of the
    chosen clients (c, G), and over |grad f_i|^2; looked: how many samples of each. spectra: of the chosen clients'
    Hessians; unlike: of their differences from that of F; of_F: of F itself. steepest: the largest |eigenvalue| of a
    sample's Hessian and how it was found.
    """

    weights: Floats
    sizes: Floats
    chosen: Ints
    low: float
    values: Floats
    parts: Floats
    of_all: Floats
    quotients: tuple[float, float, float]
    noise: Floats
    relative: Floats
    looked: list[int]
    spectra: list[Ends]
    unlike: list[Ends]
    of_F: Ends
    steepest: tuple[float, str]

    @cached_property
    def grad2(self) -> Floats:
        return self.of_all.sum(axis=1)

    @cached_property
    def client_grad2(self) -> Floats:
        return self.parts.sum(axis=1)

    @cached_property
    def ratio(self) -> Floats:
        """B(x)^2, at least 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.maximum(np.where(self.client_grad2 > 0, self.client_grad2 / self.grad2, 1.0), 1.0)

    def along(self) -> dict[str, Floats]:
        found = {
            "f": self.values,
            "grad2": self.grad2,
            "B2": self.ratio,
            "G2": np.maximum(self.client_grad2 - self.grad2, 0.0),
            "L": np.max([e.norm for e in self.spectra], axis=0),
            "lam": np.maximum(0.0, -np.min([e.least for e in self.spectra], axis=0)),
            "L_f": self.of_F.norm,
            "sigma2_i": self.noise.max(axis=0),
        }
        if self.unlike:
            found["delta"] = np.max([e.norm for e in self.unlike], axis=0)
        return found

    def constants(self) -> dict[str, Constant]:
        w, g = self.weights, len(self.values)
        over = f"the largest at {g} points of the run"
        some = "" if len(self.chosen) == len(w) else f"; {len(self.chosen)} of {len(w)} clients, drawn at random"
        own = self.sizes[self.chosen]
        whole = all(count == size for count, size in zip(self.looked, own, strict=True))
        how_noise = "all samples" if whole else f"{max(self.looked)} samples a client, upper 99 % Student limit"
        # sum of sigma_i^2 over all samples, from the chosen clients
        noise2 = self.noise.max(axis=1).mean() * len(w) / self.sizes.sum()
        smooth, lanczos = _sharpest(self.spectra)
        smooth_F, lanczos_F = _sharpest([self.of_F])
        steepest, how_steep = self.steepest
        curved = max(0.0, -min(float(e.least.min()) for e in self.spectra))
        steps = "or a difference quotient between successive points"
        found = {
            "B2": _chosen(1, "chosen; G2 is for this"),
            "G2": _estimate(self.client_grad2 - self.grad2, f"{over} of sum w_i |grad f_i|^2 - |grad F|^2"),
            "B2_0": _estimate(self.ratio[:1], "sum of w_i |grad f_i|^2 over |grad F|^2 at the start, float rounding"),
            "B2_only": _estimate(self.ratio, f"{over} of sum w_i |grad f_i|^2 over |grad F|^2"),
            "grad2_0": _estimate(self.grad2[:1], "|grad F|^2 at the start, up to float rounding"),
            "gap_0": _estimate(
                self.values[:1] - self.low, "F at the start minus a lower bound of F, up to float rounding"
            ),
            "P2": _chosen(0, "chosen; noise2 is for this"),
            "noise2": _estimate(np.array([noise2]), f"{over} of the variance of sample gradients; {how_noise}{some}"),
            "L": _estimate(
                np.array([smooth, self.quotients[0]]), f"{over}: Lanczos on clients, {lanczos}; {steps}{some}"
            ),
            "L_f": _estimate(np.array([smooth_F, self.quotients[1]]), f"{over}: Lanczos on F, {lanczos_F}; {steps}"),
            "L_ij": _estimate(np.array([steepest]), f"{over}: {how_steep}"),
            "lam": _estimate(np.array([curved]), f"{over}: Lanczos on clients, {lanczos}{some}"),
        }
        unlike, how_unlike = _sharpest(self.unlike) if self.unlike else (0.0, "a single client")
        found["delta"] = _estimate(
            np.array([unlike, self.quotients[2]]), f"{over}: Lanczos on f_i - F, {how_unlike}; {steps}{some}"
        )
        shares = self.relative.max(axis=1) / own
        if np.isfinite(shares).all():
            found["P2_only"] = _estimate(
                shares, f"{over} of the variance over |D_i| |grad f_i|^2 with sigma_i = 0{some}"
            )
        return found


def _sharpest(all_ends: Sequence[Ends]) -> tuple[float, str]:
    best = max(all_ends, key=lambda e: float(e.norm.max()))
    at = int(np.argmax(best.norm))
    return float(best.norm[at]), best.words(at)


def _estimate(values: Floats, how: str) -> Constant:
    return Constant(Fraction(max(0.0, float(values.max()))), Known.ESTIMATED, "exact", how)


def _chosen(value: int, how: str) -> Constant:
    return Constant(Fraction(value), Known.EXACT, "exact", how)
