"""The falsifier's family for FedDANE: two or three quadratic devices on the line or in the plane, and one round.

Curvatures, gradients at the start and proximal weights (one, or one a device, as the statement has it) are drawn
independently over orders of magnitude; some devices are flat, and where the statement does not ask for convex devices
some are concave. Local solutions are exact. All devices take part, or K draws with replacement make each of the two
cohorts. Nothing here refers to a theorem: what a round does on average is a short formula in the moments of the mean
gradient and of the mean local step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from boundcheck.engines.curve import Floats
from boundcheck.errors import Unsupported
from boundcheck.evidence.one_round_shrinking import OneRoundShrinking
from boundcheck.evidence.searchable import check_searchable
from boundcheck.evidence.witness import Witness
from boundcheck.theory.scope import difference
from boundcheck.theory.statement import Statement

__all__ = ["KINDS", "DeviceGenes", "Devices", "OneRoundSearch", "Setup", "constants_of", "decrease"]

KINDS = ("feddane",)
BATCH = 512
REACH = 4.0
PROMISING = 1e-6
FLAT = 0.05  # roots of curvatures below this are 0
NICHES = (-2.0, 7.0)
COHORTS = (None, None, 1, 2, 3)  # devices of a cohort; None: all of them


@dataclass(frozen=True)
class Setup:
    """What a batch has in common.

    K: draws with replacement a cohort, None: all devices. common: one mu for all. convex: no device is concave. niche:
    log of a typical mu over the largest curvature. Left free, mu runs to infinity: there a round does nothing but a
    gradient step, and every bound is tight in the limit.
    """

    n: int
    dim: int
    K: int | None
    common: bool
    convex: bool
    niche: float = 2.0


@dataclass(frozen=True)
class Devices:
    """B instances, F_k(w) = w'H_k w/2 + s_k'w at the start 0, all weights 1/n.

    root (B, n, d, d) and sign (B, n, d) with H_k = root diag(sign) root'; slope (B, n, d) the s_k; mu (B, n).
    """

    setup: Setup
    root: Floats
    sign: Floats
    slope: Floats
    mu: Floats

    @property
    def H(self) -> Floats:
        """(B, n, d, d)."""
        return np.einsum("bkij,bkj,bklj->bkil", self.root, self.sign, self.root)


@dataclass(frozen=True)
class DeviceGenes:
    """Candidates of one setup: genes (B, G) in an unbounded search space."""

    setup: Setup
    genes: Floats

    def offspring(self, random: np.random.Generator, width: float) -> DeviceGenes:
        """These and mutants of them, a whole batch."""
        children = self.genes[random.integers(len(self.genes), size=BATCH - len(self.genes))]
        mask = random.random(children.shape) < 0.5
        children = children + width * mask * random.standard_normal(children.shape)
        return replace(self, genes=np.clip(np.concatenate([self.genes, children]), -REACH, REACH))

    def decode(self) -> Devices:
        """The instances."""
        n, d, count = self.setup.n, self.setup.dim, len(self.genes)
        column = iter(self.genes.T)
        root, sign = np.zeros((count, n, d, d)), np.ones((count, n, d))
        slope, mu = np.zeros((count, n, d)), np.ones((count, n))
        for k in range(n):
            for i in range(d):
                size = np.exp(2 * next(column))
                root[:, k, i, i] = np.where(size < FLAT, 0.0, size)
                turned = next(column)  # one device in six is concave along the axis
                sign[:, k, i] = np.where((turned < -1) & (not self.setup.convex), -1.0, 1.0)
                if i:
                    root[:, k, i, 0] = next(column) * root[:, k, 0, 0]
            size = np.exp(2 * next(column))
            for i in range(d):
                slope[:, k, i] = size * next(column)
            mu[:, k] = np.exp(1.5 * next(column) + self.setup.niche)
        curvature = np.einsum("bkij,bkij->bk", root, root).max(1)
        mu = np.where(self.setup.common, mu[:, :1], mu) * np.maximum(curvature, FLAT**2)[:, None]
        return Devices(self.setup, root, sign, slope, mu)


def _gene_count(setup: Setup) -> int:
    d = setup.dim
    return setup.n * (2 * d + (d - 1) + 1 + d + 1)


def constants_of(found: Devices) -> dict[str, Floats]:
    """The constants by the names that problems and methods know them under; NaN where f has no minimum."""
    H, slope, mu = found.H, found.slope, found.mu
    each, mean = np.linalg.eigvalsh(H), H.mean(1)
    L_k = np.abs(each).max(2)
    of_mean = np.linalg.eigvalsh(mean)
    g = slope.mean(1)
    solvable = of_mean[:, 0] > 1e-9 * np.abs(each).max((1, 2))
    safe = np.where(solvable[:, None, None], mean, np.eye(found.setup.dim))
    gap = np.einsum("bi,bi->b", g, np.linalg.solve(safe, g[..., None])[..., 0]) / 2
    # of a cohort that is drawn, the least favourable device is all that is known in advance
    drawn = found.setup.K is not None
    least, largest = (np.min, np.max) if drawn else (np.mean, np.mean)
    one = np.ones(len(mu))
    grad2 = (g**2).sum(1)
    return {
        "L": L_k.max(1),
        "L_f": np.abs(of_mean).max(1),
        "lam": np.maximum(0.0, -each.min((1, 2))),
        "prox": mu[:, 0],
        "gamma": 0 * one,
        "B2_0": (slope**2).sum(2).mean(1) / np.where(grad2 > 0, grad2, np.nan),
        "gradient_cohort_size": (found.setup.K or found.setup.n) * one,
        "cohort_size": (found.setup.K or found.setup.n) * one,
        "gap_0": np.where(solvable, gap, np.nan),
        "grad2_0": grad2,
        "inv_mu": least(1 / mu, axis=1),
        "gamma_inv_mu": 0 * one,
        "L_inv_mu2": largest(L_k / mu**2, axis=1),
        "gamma2_inv_mu2": largest(1 / mu**2, axis=1),
        "L_gamma2_inv_mu2": largest(L_k / mu**2, axis=1),
    }


def decrease(found: Devices) -> Floats:
    """f(start) - E f(w^1), (B,). w^1 = -A g with A the mean of (H_k + mu_k I)^-1 over S'_t, g that of s_k over S_t."""
    d, K = found.setup.dim, found.setup.K
    each = np.linalg.inv(found.H + found.mu[..., None, None] * np.eye(d))
    mean, A, g = found.H.mean(1), each.mean(1), found.slope.mean(1)
    second = g[:, :, None] * g[:, None, :]
    curved = A @ mean @ A
    if K is not None:
        apart = found.slope - g[:, None]
        second = second + np.einsum("bki,bkj->bij", apart, apart) / (found.setup.n * K)
        alone = (each @ mean[:, None] @ each).mean(1)
        curved = alone / K + (1 - 1 / K) * curved
    return np.einsum("bi,bij,bj->b", g, A, g) - np.einsum("bij,bij->b", curved, second) / 2


class OneRoundSearch:
    """A statement about a round of FedDANE compiled for double precision."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        metric, assumed = statement.metric, {a.name for a in statement.assumptions}
        one = metric.weights is None and metric.index is None and metric.rounds == 1 and statement.trivial is not None
        check_searchable(statement, ("gap",), "after one round", fits=one, prescribing=True)
        self.convex = "convex_clients" in assumed
        own = {s.name: s for s in statement.symbols}
        self.keys = {s.name: s.reported or (s.name if s.index else "") for s in statement.symbols}
        self.common = "prox" in self.keys.values() or "mu" in statement.parameters
        self.choice = dict(statement.choices).get("mu")
        sample = DeviceGenes(Setup(2, 1, None, True, True), np.zeros((1, 10))).decode()
        unknown = [name for name, key in self.keys.items() if key not in constants_of(sample)]
        if unknown:
            raise Unsupported(f"{statement.best_id}: the search gives no value to {', '.join(sorted(unknown))}.")
        symbols = [own[name].expr for name in self.keys]

        def compiled(expr: Any) -> Any:
            return sp.lambdify(symbols, expr, "numpy", cse=True)

        self.promised = compiled(statement.trivial - statement.bound)
        gaps = [c for c in statement.conditions if not isinstance(c.relation, sp.Eq)]
        self.gaps = [compiled(difference(c.relation)) for c in gaps]
        equal = [c for c in statement.conditions if isinstance(c.relation, sp.Eq)]
        self.equal = [compiled(difference(c.relation)) for c in equal]
        self.prescribed = None if self.choice is None else compiled(self.choice)

    def draw(self, random: np.random.Generator) -> DeviceGenes:
        """A fresh batch."""
        n, dim = int(random.integers(2, 4)), int(random.integers(1, 3))
        K = COHORTS[int(random.integers(len(COHORTS)))]
        setup = Setup(n, dim, K, self.common, self.convex, float(random.uniform(*NICHES)))
        return DeviceGenes(setup, random.standard_normal((BATCH, _gene_count(setup))))

    def devices(self, candidates: DeviceGenes) -> Devices:
        """The instances, with the mu that the statement prescribes where it does."""
        found = candidates.decode()
        if self.prescribed is None:
            return found
        mu = self.prescribed(*self._arguments(constants_of(found)))
        return replace(
            found, mu=np.repeat(np.where(np.isfinite(mu) & (mu > 0), mu, 1.0)[:, None], found.setup.n, axis=1)
        )

    def _arguments(self, values: Mapping[str, Floats]) -> list[Floats]:
        return [values[key] for key in self.keys.values()]

    def score(self, candidates: DeviceGenes) -> Floats:
        """(promised - actual decrease)/promised, (B,): positive where the gap exceeds the bound, -inf out of scope."""
        return self.scores_of(self.devices(candidates))

    def scores_of(self, found: Devices) -> Floats:
        """The scores of instances."""
        values = constants_of(found)
        arguments = self._arguments(values)
        lowest = np.linalg.eigvalsh(found.H)[:, :, 0]
        with np.errstate(all="ignore"):
            usable = np.isfinite(values["gap_0"]) & np.isfinite(values["B2_0"]) & (lowest + found.mu > 0).all(1)
            for gap in self.gaps:
                usable &= gap(*arguments) > 0
            for apart in self.equal:
                usable &= apart(*arguments) == 0
            promised = self.promised(*arguments)
            score = (promised - decrease(found)) / promised
        return np.where(usable & (promised > 0) & np.isfinite(score), score, -np.inf)

    def confirm(self, candidates: DeviceGenes, at: int, provenance: Mapping[str, Any]) -> Witness | None:
        """The candidate as a shrunk witness in exact arithmetic, or None when exactness takes it back."""
        found = self.devices(replace(candidates, genes=candidates.genes[at : at + 1]))
        return OneRoundShrinking(self.statement, found, self.prescribed is not None).witness(provenance)
