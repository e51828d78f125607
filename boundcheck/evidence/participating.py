"""The falsifier's family for methods whose clients take part at random or in a fixed pattern, without delays.

One to three clients c_i (x - t_i)^2/2 on the line, which take K exact gradient steps each: curvatures, minimisers and
the start are drawn, and so are the way in which clients take part (uniformly, with replacement, all, a pattern with
three kinds of weights), K up to 100 and the server step over orders of magnitude. A round is a random affine map of x,
so that E x and E x^2 follow a linear map of three coordinates, whose powers give the mean of a metric over very many
rounds. Nothing here refers to a theorem; the weights' constants are those that the library knows of the method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.cohorts import law_of
from boundcheck.errors import Unsupported
from boundcheck.evidence.participating_shrinking import ParticipatingShrinking
from boundcheck.evidence.searchable import check_searchable
from boundcheck.evidence.witness import Witness
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.setting.expected_weights import Expected, expected_weights
from boundcheck.theory.scope import difference
from boundcheck.theory.statement import Statement

__all__ = ["KINDS", "METRICS", "ClientGenes", "ParticipatingSearch", "Quadratics", "Setup"]

# "" are the statements that are about every method of Algorithm 1 of the asynchronous paper
KINDS = ("", "uniform_sampling", "md_sampling", "biased_sampling", "fedavg_sync", "centralised")
METRICS = ("gap", "grad2", "round_gap", "virtual_gap", "virtual_grad2", "virtual_round_gap")
BATCH, TRIES = 128, 1000
REACH = 4.0
ROUNDING = 1e-15
LAST = 14  # the longest run has 2^14 periods
STEPS = (1, 2, 5, 10, 20, 50, 100)
SERVER = tuple(Fraction(10) ** k for k in range(-1, 4))


@dataclass(frozen=True)
class Setup:
    """What a batch has in common: clients, local steps, server step, the method without those, and rest: whether the
    run starts at the minimiser of the surrogate problem, so that all that is seen is where it stays in the end."""

    clients: int
    K: int
    eta_g: Fraction
    scheme: Mapping[str, Any]
    rest: bool = False

    def method(self) -> Method:
        """The method, with a local step of 1."""
        return build({**self.scheme, "K": self.K, "eta_g": self.eta_g, "eta_l": 1})


@dataclass(frozen=True)
class Quadratics:
    """B instances c_i (x - t_i)^2/2 with weights 1/n: c, t (B, n); start, edge (B,): the start, measured from the
    surrogate minimiser, and the share of the largest step in scope."""

    setup: Setup
    c: Floats
    t: Floats
    start: Floats
    edge: Floats


@dataclass(frozen=True)
class ClientGenes:
    """Candidates of one setup: genes (B, G) in an unbounded search space."""

    setup: Setup
    genes: Floats

    def offspring(self, random: np.random.Generator, width: float) -> ClientGenes:
        """These and mutants of them, a whole batch."""
        children = self.genes[random.integers(len(self.genes), size=BATCH - len(self.genes))]
        mask = random.random(children.shape) < 0.5
        children = children + width * mask * random.standard_normal(children.shape)
        return replace(self, genes=np.clip(np.concatenate([self.genes, children]), -REACH, REACH))

    def decode(self) -> Quadratics:
        """The instances."""
        n = self.setup.clients
        c = np.exp(np.minimum(0.0, self.genes[:, :n]))  # often 1: the largest curvature sets the step
        t = self.genes[:, n : 2 * n]
        start = self.genes[:, 2 * n] * np.exp(self.genes[:, 2 * n + 1]) * (not self.setup.rest)
        edge = np.exp(np.minimum(0.0, self.genes[:, 2 * n + 2]))
        return Quadratics(self.setup, c, t, start, edge)


class _Rounds:
    """The instances' rounds: the weights' constants, and what a round does for a step size."""

    def __init__(self, found: Quadratics, expected: Expected) -> None:
        self.found, self.expected = found, expected
        n, method = found.setup.clients, found.setup.method()
        clients = Clients((Fraction(1, n),) * n, (1,) * n)
        self.period = expected.period or 1
        self.laws = [law_of(method, k, clients, one_by_one=True) for k in range(self.period)]
        self.q = [self._expected(k) for k in range(self.period)]
        self.surrogate = self._minimiser(np.mean(self.q, axis=0))
        self.optimum = self._minimiser(np.full(n, 1 / n))
        self.own = [self._minimiser(q) for q in self.q]

    def _expected(self, k: int) -> Floats:
        law, q = self.laws[k], np.zeros(self.found.setup.clients)
        for cohort in law.cohorts:
            for v, a in zip(cohort.members, cohort.coefficients, strict=True):
                q[law.members[v].client] += float(cohort.p * a)
        return q

    def _minimiser(self, q: Floats) -> Floats:
        """(B,) of sum of q_i f_i."""
        c, t = self.found.c, self.found.t
        return (q * c * t).sum(1) / (q * c).sum(1)

    def _loss(self, q: Floats, x: Floats) -> Floats:
        return (q * self.found.c * (x[:, None] - self.found.t) ** 2).sum(1) / 2

    def constants(self) -> dict[str, Any]:
        """By the names that problems and methods know them under."""
        found, one = self.found, np.ones(len(self.found.c))
        n, covariance = found.setup.clients, self.expected.covariance
        shares = [q / q.sum() for q in self.q]
        noise = [(found.c * (x[:, None] - found.t)) ** 2 for x in self.own]
        mean = np.mean(self.q, axis=0)
        chi2 = [sum((1 / n - v) ** 2 / v for v in share if v > 0) for share in shares]
        own = list(zip(self.q, self.own, strict=True))
        # of the minimum of a round's problem, since every client's own loss is 0 at its minimiser
        spread = [self._loss(share, x) for share, x in zip(shares, self.own, strict=True)]
        values = {
            "L": found.c.max(1),
            "L_ij": found.c.max(1),
            "n": n * one,
            "local_steps": found.setup.K * one,
            "eta_g": float(found.setup.eta_g) * one,
            "window": (self.expected.window or self.period) * one,
            "period": self.period * one,
            "tau_delay": 0 * one,
            "rho": max(1.0, *(q.sum() for q in self.q)) * one,
            "q_min": min(q.sum() for q in self.q) * one,
            "q_max": max(q.max() for q in self.q) * one,
            "q_bar": float(np.mean([q.sum() for q in self.q])) * one,
            "R_loss": np.mean([self._loss(q, self.surrogate) - self._loss(q, x) for q, x in own], axis=0),
            "S1": np.mean([(s * v).sum(1) for s, v in zip(shares, noise, strict=True)], axis=0),
            "S2": np.mean([(s**2 * v).sum(1) for s, v in zip(shares, noise, strict=True)], axis=0),
            "Sigma": (mean * (found.c * (self.surrogate[:, None] - found.t)) ** 2).sum(1),
            "dist2_surrogate_0": found.start**2,
            "chi2_max": max(chi2) * one,
            "P_loss": np.mean([k * v for k, v in zip(chi2, spread, strict=True)], axis=0),
        }
        if covariance is not None:
            values |= {"alpha": float(covariance.alpha) * one, "beta": float(covariance.beta) * one}
        if self.expected.certain:
            values |= {"alpha_det": one, "beta_det": 0 * one}
        if all((q > 0).all() for q in self.q):
            values["U_loss"] = 0 * one
        return values

    def second(self, k: int, step: Floats, steps: Sequence[int]) -> Floats:
        """The mean over the numbers of local steps of the map of (E x^2, E x, 1) in round k, (B, 3, 3).

        x is measured from the surrogate minimiser; a cohort takes it to slope x + offset.
        """
        found, law, scale = self.found, self.laws[k], float(self.found.setup.eta_g)
        counts = np.array(steps, dtype=float)
        moved = np.expm1(np.log1p(-found.c * step[:, None])[..., None] * counts)  # (B, n, steps)
        result = np.zeros((len(step), 3, 3))
        for cohort in law.cohorts:
            slope, offset = np.ones((len(step), len(counts))), np.zeros((len(step), len(counts)))
            for v, a in zip(cohort.members, cohort.coefficients, strict=True):
                i = law.members[v].client
                part = scale * float(a) * moved[:, i]
                slope, offset = slope + part, offset - part * (found.t[:, i] - self.surrogate)[:, None]
            square = np.stack([(slope**2).mean(1), 2 * (slope * offset).mean(1), (offset**2).mean(1)], 1)
            result[:, 0] += float(cohort.p) * square
            result[:, 1, 1:] += float(cohort.p) * np.stack([slope.mean(1), offset.mean(1)], 1)
        result[:, 2, 2] = 1.0
        return result

    def reader(self, quantity: str, k: int, step: Floats) -> Floats:
        """The metric before round k as a functional of (E x^2, E x, 1), (B, 3)."""
        found, n = self.found, self.found.setup.clients
        q = self.q[k] if quantity.endswith("round_gap") else np.full(n, 1 / n)
        centre = (self.own[k] if quantity.endswith("round_gap") else self.optimum) - self.surrogate
        curved = (q * found.c).sum(1)
        factor = curved**2 if quantity.endswith("grad2") else curved / 2
        square = factor[:, None] * np.stack([np.ones(len(step)), -2 * centre, centre**2], 1)
        if not quantity.startswith("virtual"):
            return square
        return np.einsum("bi,bij->bj", square, self.second(k, step, range(found.setup.K)))

    def means(self, quantity: str, step: Floats) -> list[tuple[int, Floats]]:
        """(periods, mean of the metric over their rounds), for 1, 2, 4, ... periods."""
        whole = np.broadcast_to(np.eye(3), (len(step), 3, 3))
        total = np.zeros((len(step), 3))
        for k in range(self.period):
            total = total + np.einsum("bi,bij->bj", self.reader(quantity, k, step), whole)
            whole = self.second(k, step, (self.found.setup.K,)) @ whole
        begin = np.stack([self.found.start**2, self.found.start, np.ones(len(step))], 1)
        result: list[tuple[int, Floats]] = []
        for power in range(LAST + 1):
            periods = 2**power
            result.append((periods, (total * begin).sum(1) / (periods * self.period)))
            total = total + np.einsum("bi,bij->bj", total, whole)
            whole = whole @ whole
        return result


class ParticipatingSearch:
    """A statement about the mean of a metric over the rounds, compiled for double precision."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        metric = statement.metric
        means = metric.weights == 1 and metric.index is not None and not metric.surrogate
        check_searchable(statement, METRICS, "as a mean over the rounds", fits=means, prescribing=True)
        if any(a.name == "bounded_gradients" for a in statement.assumptions):
            raise Unsupported(f"{statement.best_id}: the search has quadratics, whose gradients are not bounded.")
        self.index = str(metric.index)
        self.keys = {s.name: s.reported or (s.name if s.index else "") for s in statement.symbols}
        self.names = list(self.keys)
        symbols = [s.expr for s in statement.symbols]

        def compiled(expr: Any) -> Callable[..., Any]:
            return sp.lambdify(symbols, expr, "numpy", cse=True)

        self.bound, self.scale = compiled(statement.bound), compiled(metric.scale)
        strict = (sp.StrictLessThan, sp.StrictGreaterThan)
        self.gaps = [
            (compiled(difference(c.relation)), isinstance(c.relation, strict), isinstance(c.relation, sp.Eq))
            for c in statement.conditions
        ]
        unknown = [name for name in self.names if name != "eta_l" and name != self.index and not self._given(name)]
        if unknown:
            raise Unsupported(f"{statement.best_id}: the search gives no value to {', '.join(sorted(unknown))}.")

    def _given(self, name: str) -> bool:
        genes = ClientGenes(Setup(2, 1, Fraction(1), {"kind": "fedavg_sync"}), np.zeros((1, _gene_count(2))))
        return self.keys[name] in self.rounds_of(genes.decode()).constants()

    def rounds_of(self, found: Quadratics) -> _Rounds:
        """What the rounds of the instances do."""
        n = found.setup.clients
        expected = expected_weights(found.setup.method(), Clients((Fraction(1, n),) * n, (1,) * n))
        assert expected is not None
        return _Rounds(found, expected)

    def draw(self, random: np.random.Generator) -> ClientGenes:
        """A fresh batch."""
        for _ in range(TRIES):
            n, K = int(random.integers(1, 4)), STEPS[int(random.integers(len(STEPS)))]
            eta_g, scheme = SERVER[int(random.integers(len(SERVER)))], _scheme(random, n)
            setup = Setup(n, K, eta_g, scheme, bool(random.integers(2)))
            algorithm = self.statement.algorithm
            if algorithm is not None and algorithm.kind not in algorithms(setup.method()):
                continue
            genes = ClientGenes(setup, random.standard_normal((BATCH, _gene_count(n))))
            values = self.rounds_of(genes.decode()).constants()
            if self._assumed(values) and np.isfinite(self.largest(values)).any():
                return genes
        raise Unsupported(f"{self.statement.best_id}: no method of the search is within its scope.")

    def _assumed(self, values: Mapping[str, Any]) -> bool:
        """Whether what the statement assumes of the expected weights is so: the rest is true of every method here."""
        names = {a.name for a in self.statement.assumptions}
        whole = "U_loss" in values
        alike = whole and float(np.max(values["chi2_max"])) < 1e-12
        return (alike or "same_expected_weights" not in names) and (whole or "every_type_every_round" not in names)

    def _arguments(self, values: Mapping[str, Any], step: Floats, index: float = 1.0) -> list[Any]:
        given = {"eta_l": step, self.index: index}
        return [given.get(name, values.get(self.keys[name], np.nan * step)) for name in self.names]

    def _in_scope(self, values: Mapping[str, Any], step: Floats) -> Any:
        inside: Any = np.ones(len(step), dtype=bool)
        with np.errstate(all="ignore"):
            arguments = self._arguments(values, step)
            for gap, strict, equal in self.gaps:
                found = gap(*arguments)
                inside &= (found == 0) if equal else (found > 0) if strict else (found >= 0)
        return inside

    def largest(self, values: Mapping[str, Any]) -> Floats:
        """Largest step in scope for each instance, from a log scan and bisection; NaN where there is none."""
        unit = 1 / values["L"]
        low = np.full(len(unit), np.nan)
        for power in np.arange(-12, 1.01, 0.5):
            low = np.where(self._in_scope(values, unit * 10.0**power), unit * 10.0**power, low)
        high = low * 10**0.5
        for _ in range(50):
            middle = np.sqrt(low * high)
            inside = self._in_scope(values, middle)
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return low

    def scores(self, found: Quadratics) -> list[tuple[int, Floats]]:
        """(periods, log of metric over bound of each instance), -inf out of scope."""
        rounds = self.rounds_of(found)
        values = rounds.constants()
        step = self.largest(values) * found.edge
        usable = np.isfinite(step)
        step = np.where(usable, step, 1e-9)
        size2 = found.start**2 + (found.t**2).sum(1)
        rounding = ROUNDING * values["L"] * size2  # of gaps and, with L <= 1, of squared gradients
        result: list[tuple[int, Floats]] = []
        with np.errstate(all="ignore"):
            for periods, mean in rounds.means(self.statement.metric.quantity, step):
                at = self._arguments(values, step, float(periods))
                score = np.log(np.where(mean > rounding, mean, 0) * self.scale(*at)) - np.log(self.bound(*at))
                result.append((periods, np.where(usable & np.isfinite(score), score, -np.inf)))
        return result

    def score(self, candidates: ClientGenes) -> Floats:
        """Largest score over the lengths of a run, (B,): positive where the metric exceeds the bound."""
        best = np.full(len(candidates.genes), -np.inf)
        for _, score in self.scores(candidates.decode()):
            best = np.fmax(best, score)
        return best

    def confirm(self, candidates: ClientGenes, at: int, provenance: Mapping[str, Any]) -> Witness | None:
        """The candidate as a shrunk witness in exact arithmetic, or None when exactness takes it back."""
        found = replace(candidates, genes=candidates.genes[at : at + 1]).decode()
        return ParticipatingShrinking(self, found).witness(provenance)


def _gene_count(n: int) -> int:
    return 2 * n + 3


def _scheme(random: np.random.Generator, n: int) -> dict[str, Any]:
    """How clients take part."""
    kind = str(random.choice(["uniform_sampling", "md_sampling", "fedavg_sync", "biased_sampling"]))
    if n == 1:
        return {"kind": "centralised"} if kind == "fedavg_sync" else _pattern(random, n)
    if kind == "uniform_sampling":
        return {"kind": kind, "m": int(random.integers(1, n + 1))}
    if kind == "md_sampling":
        return {"kind": kind, "m": int(random.integers(1, 4))}
    return {"kind": kind} if kind == "fedavg_sync" else _pattern(random, n)


def _pattern(random: np.random.Generator, n: int) -> dict[str, Any]:
    """Cohorts of one to three rounds, every client in one of them."""
    cohorts: list[list[int]] = [[] for _ in range(int(random.integers(1, min(n, 3) + 1)))]
    for k, i in enumerate(random.permutation(n)):
        cohorts[k if k < len(cohorts) else int(random.integers(len(cohorts)))].append(int(i))
    weights = str(random.choice(["average", "time_based", "identical"]))
    return {"kind": "biased_sampling", "cohorts": [sorted(c) for c in cohorts], "weights": weights}
