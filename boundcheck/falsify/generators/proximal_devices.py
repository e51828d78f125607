"""Instances for one round of FedDANE: two or three quadratic devices on the line or in the plane.

Curvatures, gradients at the start and proximal weights (one, or one a device, as the statement has it) vary
independently over orders of magnitude; some devices are flat, and some are concave if the statement does not ask for
convex devices. Local solutions are exact. All devices take part, or K draws with replacement make each of the two
cohorts. A round's mean decrease is a short formula in the moments of the mean gradient and of the mean local step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.evidence.open_step_sizes import TUNED
from boundcheck.falsify.float_statement import Known
from boundcheck.falsify.generator import Genes, Numbers
from boundcheck.falsify.generators.reach import not_covered
from boundcheck.falsify.generators.special import Special, texts
from boundcheck.theory.statement import Statement

FLAT = 0.05  # roots of curvatures below this are 0
WEIGHTS = (-2.0, 7.0)
COHORTS = (None, None, 1, 2, 3)  # devices of a cohort; None: all of them
ROUNDING = 1e-12


@dataclass(frozen=True)
class Shape:
    """What a batch has in common: devices, dimension, cohorts and the typical proximal weight.

    K: draws with replacement a cohort, None: all devices. weight: log of a typical mu over the largest curvature. If it
    varied within a batch, the local search would run to infinite mu: there a round is a gradient step, and every bound
    is tight in the limit.
    """

    devices: int
    dim: int
    K: int | None
    weight: float = 2.0


class ProximalDevices(Special):
    """Statements about the gap after one round of FedDANE.

    An instance has F_k(w) = w'H_k w/2 + s_k'w, start 0 and weights 1/n. Its numbers: root (n, d, d) and sign (n, d)
    with H_k = root diag(sign) root', slope (n, d) the s_k, and mu (n,), or (1,) if all devices have one.
    """

    kinds = ("feddane",)
    participation = "all devices, or two cohorts of 1 to 3 independent draws"
    decides = (
        *("convex_clients", "client_smoothness", "smooth_clients", "lower_curvature", "dissimilarity_at_start"),
        *("inexact_solves", "unbiased_gradient_cohort", "gradient_cohort_variance", "independent_cohorts"),
    )

    def __init__(self, statement: Statement) -> None:
        metric = statement.metric
        one = metric.weights is None and metric.index is None and metric.rounds == 1 and statement.trivial is not None
        reasons = not_covered(statement, ("gap",), "after one round", fits=one, prescribing=True)
        self.convex = "convex_clients" in {a.name for a in statement.assumptions}
        self.common = "prox" in {s.reported for s in statement.symbols} or "mu" in statement.parameters
        self.prescribed = None
        sample = {name: np.ones((1, 1, 1)) for name in ("sign", "slope")}
        known = self.constants(Shape(1, 1, None), {**sample, "root": np.ones((1, 1, 1, 1)), "mu": np.ones((1, 1))})
        self.claimed = self.compiled(statement, None, known, reasons)
        choice = dict(statement.choices).get("mu")
        if choice is not None:
            self.prescribed = self.claimed.formula(choice)

    def draw(self, random: np.random.Generator) -> Shape:
        devices, dim = int(random.integers(2, 4)), int(random.integers(1, 3))
        return Shape(devices, dim, COHORTS[int(random.integers(len(COHORTS)))], float(random.uniform(*WEIGHTS)))

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        n, d = shape.devices, shape.dim
        return {"curvature": (n, d), "sign": (n, d), "tilt": (n,), "size": (n,), "slope": (n, d), "mu": (n,)}

    def decode(self, shape: Shape, genes: Genes) -> Numbers:
        curvature = np.exp(2 * genes["curvature"])
        root = np.where(curvature < FLAT, 0.0, curvature)[..., None] * np.eye(shape.dim)
        if shape.dim == 2:
            root[:, :, 1, 0] = genes["tilt"] * root[:, :, 0, 0]
        sign = np.where((genes["sign"] < -1) & (not self.convex), -1.0, 1.0)  # one axis in six is concave
        slope = np.exp(2 * genes["size"])[..., None] * genes["slope"]
        numbers = {"root": root, "sign": sign, "slope": slope}
        if self.prescribed is not None:
            return numbers
        largest = np.maximum((root**2).sum((2, 3)).max(1), FLAT**2)
        mu = np.exp(1.5 * genes["mu"] + shape.weight) * largest[:, None]
        return {**numbers, "mu": mu[:, :1] if self.common else mu}

    def mu(self, shape: Shape, numbers: Numbers) -> Floats:
        """Proximal weights of all devices, (B, n): drawn, or those that the statement prescribes."""
        if self.prescribed is None:
            mu = numbers["mu"]
        else:
            found = self.prescribed(self._constants(shape, numbers, np.ones((len(numbers["root"]), 1))))
            mu = np.where(np.isfinite(found) & (found > 0), found, 1.0)[:, None]
        return np.broadcast_to(mu, (len(mu), shape.devices))

    def constants(self, shape: Shape, numbers: Numbers) -> Known:
        with np.errstate(all="ignore"):
            return self._constants(shape, numbers, self.mu(shape, numbers))

    def _constants(self, shape: Shape, numbers: Numbers, mu: Floats) -> Known:
        H, slope = hessians(numbers), numbers["slope"]
        each, mean, g = np.linalg.eigvalsh(H), H.mean(1), slope.mean(1)
        L_k, of_mean, grad2 = np.abs(each).max(2), np.linalg.eigvalsh(mean), (g**2).sum(1)
        solvable = (of_mean[:, 0] > 1e-9 * L_k.max(1)) & (each[:, :, 0] + mu > 0).all(1)
        safe = np.where(solvable[:, None, None], mean, np.eye(shape.dim))
        gap = np.einsum("bi,bi->b", g, np.linalg.solve(safe, g[..., None])[..., 0]) / 2
        # of a cohort that is drawn, the least favourable device is all that is known in advance
        least, largest = (np.mean, np.mean) if shape.K is None else (np.min, np.max)
        cohort = shape.K or shape.devices
        return {
            "L": L_k.max(1),
            "L_f": np.abs(of_mean).max(1),
            "lam": np.maximum(0.0, -each.min((1, 2))),
            "prox": mu[:, 0],
            "gamma": 0.0,
            "B2_0": (slope**2).sum(2).mean(1) / np.where(grad2 > 0, grad2, np.nan),
            "gradient_cohort_size": float(cohort),
            "cohort_size": float(cohort),
            "gap_0": np.where(solvable, gap, np.nan),
            "grad2_0": grad2,
            "inv_mu": least(1 / mu, axis=1),
            "gamma_inv_mu": 0.0,
            "L_inv_mu2": largest(L_k / mu**2, axis=1),
            "gamma2_inv_mu2": largest(1 / mu**2, axis=1),
            "L_gamma2_inv_mu2": largest(L_k / mu**2, axis=1),
        }

    def meets(self, shape: Shape, numbers: Numbers, known: Known) -> Mapping[str, Any]:
        """A device that is concave along an axis is not convex; B2 is infinite where the mean gradient is 0."""
        return {
            "convex_clients": ((numbers["sign"] > 0) | (numbers["root"] == 0).all(2)).all((1, 2)),
            "dissimilarity_at_start": np.isfinite(known["B2_0"]),
        }

    def curve(self, shape: Shape, numbers: Numbers, known: Known, step: Any) -> Iterable[tuple[int, Floats]]:
        gap = known["gap_0"] - self.decrease(shape, numbers)
        return [(1, np.where(gap < ROUNDING * known["gap_0"], 0.0, gap))]

    def decrease(self, shape: Shape, numbers: Numbers) -> Floats:
        """f(start) - E f(w^1), (B,).

        w^1 = -A g with A the mean of (H_k + mu_k I)^-1 over one cohort, and g that of s_k over the other.
        """
        H, slope, mu = hessians(numbers), numbers["slope"], self.mu(shape, numbers)
        system = H + mu[..., None, None] * np.eye(shape.dim)
        solvable = np.linalg.eigvalsh(system)[..., 0] > 0
        each = np.linalg.inv(np.where(solvable[..., None, None], system, np.eye(shape.dim)))
        mean, A, g = H.mean(1), each.mean(1), slope.mean(1)
        second, curved = g[:, :, None] * g[:, None, :], A @ mean @ A
        if shape.K is not None:
            apart = slope - g[:, None]
            second = second + np.einsum("bki,bkj->bij", apart, apart) / (shape.devices * shape.K)
            alone = (each @ mean[:, None] @ each).mean(1)
            curved = alone / shape.K + (1 - 1 / shape.K) * curved
        return np.einsum("bi,bij,bj->b", g, A, g) - np.einsum("bij,bij->b", curved, second) / 2

    def problem(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        exact = zip(hessians(numbers), numbers["slope"], strict=True)
        clients = [{"A": texts(H), "b": texts(-slope)} for H, slope in exact]
        return {"kind": "quadratics", "clients": clients, "start": ["0"] * shape.dim}

    def method(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        cohorts: dict[str, Any] = {"participation": "full"} if shape.K is None else {"K": shape.K}
        if self.prescribed is not None:
            mu: Any = TUNED
        else:
            mu = texts(numbers["mu"]) if len(numbers["mu"]) > 1 else format_exact(numbers["mu"][0])
        return {"kind": "feddane", "mu": mu, **cohorts}

    def simpler(self, shape: Shape, numbers: Numbers) -> Iterator[tuple[Shape, Numbers]]:
        for k in range(shape.devices if shape.devices > 1 else 0):
            kept = {name: np.delete(v, k, 0) if len(v) > 1 else v for name, v in numbers.items()}
            yield replace(shape, devices=shape.devices - 1), kept
        if shape.dim == 2:
            line = {
                "root": numbers["root"][:, :1, :1],
                "sign": numbers["sign"][:, :1],
                "slope": numbers["slope"][:, :1],
            }
            yield replace(shape, dim=1), {**numbers, **line}
        if shape.K is not None:
            yield from ((replace(shape, K=K), numbers) for K in (None, *range(1, shape.K)))


def hessians(numbers: Numbers) -> Any:
    """H_k = root diag(sign) root', (..., n, d, d)."""
    root = numbers["root"]
    return (root * numbers["sign"][..., None, :]) @ np.swapaxes(root, -1, -2)
