"""Instances for methods whose clients take part at random or in a fixed pattern, without delays.

One to three clients c_i (x - t_i)^2/2 on the line, which take K exact gradient steps each. A round is a random affine
map of x, so that E x and E x^2 follow a linear map of three coordinates; its powers give the mean of a metric over many
rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.cohorts import law_of
from boundcheck.errors import Unsupported
from boundcheck.falsify.float_statement import Known
from boundcheck.falsify.generator import Genes, Numbers, shares
from boundcheck.falsify.generators.reach import not_covered
from boundcheck.falsify.generators.special import Special, texts
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.setting.expected_weights import expected_weights
from boundcheck.theory.statement import Statement

METRICS = ("gap", "grad2", "round_gap", "virtual_gap", "virtual_grad2", "virtual_round_gap")
TRIES = 1000
ROUNDING = 1e-15
LAST = 14  # the longest run has 2^14 periods
LOCAL_STEPS = (1, 2, 5, 10, 20, 50, 100)
SERVER_STEPS = tuple(Fraction(10) ** k for k in range(-1, 4))


@dataclass(frozen=True)
class Shape:
    """What a batch has in common: clients, local steps, server step and how clients take part.

    scheme: specification of the method without its steps. rest: whether the run starts at the minimiser of the
    surrogate problem, so that all that counts is where the run stays in the end.
    """

    clients: int
    K: int
    eta_g: Fraction
    scheme: Mapping[str, Any]
    rest: bool = False

    @cached_property
    def rounds(self) -> Rounds:
        """What the method's rounds have in common for all problems."""
        return Rounds(self)


class Rounds:
    """The rounds of a period: the law of the cohorts, and the expected weights q (clients,) of each round, exact."""

    def __init__(self, shape: Shape) -> None:
        n = shape.clients
        clients = Clients((Fraction(1, n),) * n, (1,) * n)
        self.method = build({**shape.scheme, "K": shape.K, "eta_g": shape.eta_g, "eta_l": 1})
        expected = expected_weights(self.method, clients)
        assert expected is not None
        self.expected, self.period = expected, expected.period or 1
        self.laws = [law_of(self.method, k, clients, one_by_one=True) for k in range(self.period)]
        self.q: list[Any] = [np.full(n, Fraction(0)) for _ in self.laws]
        for law, q in zip(self.laws, self.q, strict=True):
            for cohort in law.cohorts:
                for v, a in zip(cohort.members, cohort.coefficients, strict=True):
                    q[law.members[v].client] += cohort.p * a

    @property
    def mean(self) -> Any:
        """The weights of the surrogate problem, (clients,), exact."""
        return sum(self.q) / Fraction(len(self.q))


class SampledClients(Special):
    """Statements about the mean of a metric over the rounds; an instance has c, t (n,) and away (1,).

    away: the start, measured from the minimiser of the surrogate problem.
    """

    # "" are the statements that are about every method of Algorithm 1 of the asynchronous paper
    kinds = ("", "uniform_sampling", "md_sampling", "biased_sampling", "fedavg_sync", "centralised")
    participation = (
        "uniform or MD sampling, fixed cohorts in turn, all clients, or one client, where the method allows it"
    )
    decides = (
        *("smooth_clients", "smooth_samples", "convex_clients", "convex_samples", "unbiased_gradients", "plain_mean"),
        *("independent_weights", "covariance_of_weights", "no_empty_rounds", "same_expected_weights"),
        "every_type_every_round",
    )

    def __init__(self, statement: Statement) -> None:
        metric = statement.metric
        means = metric.weights == 1 and metric.index is not None and not metric.surrogate
        reasons = not_covered(statement, METRICS, "as a mean over the rounds", fits=means)
        self.assumed = {a.name for a in statement.assumptions}
        sample = Shape(2, 1, Fraction(1), {"kind": "fedavg_sync"})
        known = self.constants(sample, {"c": np.ones((1, 2)), "t": np.ones((1, 2)), "away": np.ones((1, 1))})
        self.claimed = self.compiled(statement, ["eta_l"], known, reasons)

    def draw(self, random: np.random.Generator) -> Shape:
        algorithm = self.claimed.statement.algorithm
        for _ in range(TRIES):
            n, K = int(random.integers(1, 4)), LOCAL_STEPS[int(random.integers(len(LOCAL_STEPS)))]
            eta_g, scheme = SERVER_STEPS[int(random.integers(len(SERVER_STEPS)))], _scheme(random, n)
            shape = Shape(n, K, eta_g, scheme, bool(random.integers(2)))
            if algorithm is not None and algorithm.kind not in algorithms(shape.rounds.method):
                continue
            alike = {"c": np.ones((1, n)), "t": np.arange(n)[None] * 1.0, "away": np.ones((1, 1))}
            known = self.constants(shape, alike)
            met, steps = self.meets(shape, alike, known), self.claimed.largest_step(known, 1 / known["L"])
            if all(met.get(name, True) for name in self.assumed) and np.isfinite(steps).any():
                return shape
        raise Unsupported(f"{self.claimed.statement.best_id}: no method of the search is within its scope.")

    def meets(self, shape: Shape, numbers: Numbers, known: Known) -> Mapping[str, Any]:
        """Hypotheses about the expected weights; the others hold for every method here."""
        whole = "U_loss" in known
        same = whole and float(np.max(known["chi2_max"])) < 1e-12
        return {
            "same_expected_weights": same,
            "every_type_every_round": whole,
            "covariance_of_weights": "alpha" in known,
        }

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        return {"c": (shape.clients,), "t": (shape.clients,), "away": (), "distance": (), "share": ()}

    def decode(self, shape: Shape, genes: Genes) -> Numbers:
        c, t = np.exp(np.minimum(0.0, genes["c"])), genes["t"]  # often c = 1: the largest curvature sets the step
        away = genes["away"] * np.exp(genes["distance"]) * (not shape.rest)
        return {"c": c, "t": t, "away": away[:, None], "share": shares(genes["share"])}

    def constants(self, shape: Shape, numbers: Numbers) -> Known:
        c, t, n, rounds = numbers["c"], numbers["t"], shape.clients, shape.rounds
        expected, qs, mean = rounds.expected, [q.astype(float) for q in rounds.q], rounds.mean.astype(float)
        surrogate, own = _minimiser(c, t, mean), [_minimiser(c, t, q) for q in qs]
        parts = [q / q.sum() for q in qs]
        noise = [(c * (x[:, None] - t)) ** 2 for x in own]
        chi2 = [float(sum((1 / n - v) ** 2 / v for v in part if v > 0)) for part in parts]
        # of the minimum of a round's problem, since every client's own loss is 0 at its minimiser
        spread = [_loss(c, t, part, x) for part, x in zip(parts, own, strict=True)]
        known: dict[str, Any] = {
            **dict.fromkeys(("L", "L_ij"), c.max(1)),
            "n": float(n),
            "local_steps": float(shape.K),
            "eta_g": float(shape.eta_g),
            "window": float(expected.window or rounds.period),
            "period": float(rounds.period),
            "tau_delay": 0.0,
            "rho": max(1.0, *(float(q.sum()) for q in qs)),
            "q_min": min(float(q.sum()) for q in qs),
            "q_max": max(float(q.max()) for q in qs),
            "q_bar": float(mean.sum()),
            "R_loss": np.mean([_loss(c, t, q, surrogate) - _loss(c, t, q, x) for q, x in zip(qs, own, strict=True)], 0),
            "S1": np.mean([(p * v).sum(1) for p, v in zip(parts, noise, strict=True)], axis=0),
            "S2": np.mean([(p**2 * v).sum(1) for p, v in zip(parts, noise, strict=True)], axis=0),
            "Sigma": (mean * (c * (surrogate[:, None] - t)) ** 2).sum(1),
            "dist2_surrogate_0": numbers["away"][:, 0] ** 2,
            "chi2_max": max(chi2),
            "P_loss": np.mean([k * v for k, v in zip(chi2, spread, strict=True)], axis=0),
        }
        if expected.covariance is not None:
            known |= {"alpha": float(expected.covariance.alpha), "beta": float(expected.covariance.beta)}
        if expected.certain:
            known |= {"alpha_det": 1.0, "beta_det": 0.0}
        return known | ({"U_loss": 0.0} if all((q > 0).all() for q in qs) else {})

    def curve(self, shape: Shape, numbers: Numbers, known: Known, step: Floats) -> Iterable[tuple[int, Floats]]:
        size2 = known["dist2_surrogate_0"] + (numbers["t"] ** 2).sum(1)
        rounding = ROUNDING * known["L"] * size2  # of gaps and, with L <= 1, of squared gradients
        for periods, mean in means(self.claimed.statement.metric.quantity, shape, numbers, step):
            yield periods, np.where(mean > rounding, mean, 0.0)

    def problem(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        pairs = zip(numbers["c"], numbers["t"], strict=True)
        clients = [{"components": [{"A": format_exact(c), "b": format_exact(c * t)}]} for c, t in pairs]
        flat = not numbers["c"].any()  # no surrogate minimiser: the claim is refused
        start = numbers["away"] + (0 if flat else _minimiser(numbers["c"], numbers["t"], shape.rounds.mean))
        return {"kind": "quadratics", "clients": clients, "start": texts(start)}

    def method(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        return {**shape.scheme, "K": shape.K, "eta_g": format_exact(shape.eta_g)}

    def simpler(self, shape: Shape, numbers: Numbers) -> Iterator[tuple[Shape, Numbers]]:
        if "cohorts" not in shape.scheme:
            for k in range(shape.clients if shape.clients > 1 else 0):
                kept = {"c": np.delete(numbers["c"], k), "t": np.delete(numbers["t"], k), "away": numbers["away"]}
                yield replace(shape, clients=shape.clients - 1), kept
        yield from ((replace(shape, K=K), numbers) for K in LOCAL_STEPS if K < shape.K)
        if shape.eta_g != 1:
            yield replace(shape, eta_g=Fraction(1)), numbers


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


# --- the moments of a run -------------------------------------------------------------------------------------


def _minimiser(c: Any, t: Any, q: Any) -> Any:
    """(...,) of sum of q_i f_i."""
    weights = q.astype(c.dtype) * c
    return (weights * t).sum(-1) / weights.sum(-1)


def _loss(c: Floats, t: Floats, q: Floats, x: Floats) -> Floats:
    return (q * c * (x[:, None] - t) ** 2).sum(1) / 2


def _second(shape: Shape, numbers: Numbers, k: int, step: Floats, counts: Sequence[int]) -> Floats:
    """The mean over numbers of local steps of the map of (E x^2, E x, 1) in round k, (B, 3, 3).

    x is measured from the surrogate minimiser; a cohort takes it to slope x + offset.
    """
    c, law, scale = numbers["c"], shape.rounds.laws[k], float(shape.eta_g)
    t = numbers["t"] - _minimiser(c, numbers["t"], shape.rounds.mean)[:, None]
    moved = np.expm1(np.log1p(-c * step[:, None])[..., None] * np.array(counts, dtype=float))  # (B, n, counts)
    result = np.zeros((len(step), 3, 3))
    for cohort in law.cohorts:
        slope, offset = np.ones((len(step), len(counts))), np.zeros((len(step), len(counts)))
        for v, a in zip(cohort.members, cohort.coefficients, strict=True):
            i = law.members[v].client
            part = scale * float(a) * moved[:, i]
            slope, offset = slope + part, offset - part * t[:, [i]]
        square = np.stack([(slope**2).mean(1), 2 * (slope * offset).mean(1), (offset**2).mean(1)], 1)
        result[:, 0] += float(cohort.p) * square
        result[:, 1, 1:] += float(cohort.p) * np.stack([slope.mean(1), offset.mean(1)], 1)
    result[:, 2, 2] = 1.0
    return result


def _reader(quantity: str, shape: Shape, numbers: Numbers, k: int, step: Floats) -> Floats:
    """The metric before round k as a functional of (E x^2, E x, 1), (B, 3)."""
    c, t, n = numbers["c"], numbers["t"], shape.clients
    q = shape.rounds.q[k].astype(float) if quantity.endswith("round_gap") else np.full(n, 1 / n)
    centre = _minimiser(c, t, q) - _minimiser(c, t, shape.rounds.mean)
    curved = (q * c).sum(1)
    factor = curved**2 if quantity.endswith("grad2") else curved / 2
    square = factor[:, None] * np.stack([np.ones(len(step)), -2 * centre, centre**2], 1)
    if not quantity.startswith("virtual"):
        return square
    return np.einsum("bi,bij->bj", square, _second(shape, numbers, k, step, range(shape.K)))


def means(quantity: str, shape: Shape, numbers: Numbers, step: Floats) -> list[tuple[int, Floats]]:
    """(periods, mean of the metric over their rounds (B,)), for 1, 2, 4, ... periods."""
    whole, total = np.broadcast_to(np.eye(3), (len(step), 3, 3)), np.zeros((len(step), 3))
    for k in range(shape.rounds.period):
        total = total + np.einsum("bi,bij->bj", _reader(quantity, shape, numbers, k, step), whole)
        whole = _second(shape, numbers, k, step, (shape.K,)) @ whole
    x = numbers["away"][:, 0]
    begin = np.stack([x**2, x, np.ones(len(step))], 1)
    result: list[tuple[int, Floats]] = []
    for periods in (2**power for power in range(LAST + 1)):
        result.append((periods, (total * begin).sum(1) / (periods * shape.rounds.period)))
        total = total + np.einsum("bi,bij->bj", total, whole)
        whole = whole @ whole
    return result
