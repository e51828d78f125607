"""Instances for lemmas about one round of the asynchronous paper's Algorithm 1, with delays, noise or neither.

One to three clients on the line with f_i = c_i (x - t_i)^2/2, of two samples where the steps are stochastic:
c_i (1 +- u_i) (x - t_i)^2/2 -+ v_i x and so the gradients c_i (1 +- u_i) (x - t_i) +- v_i. The state is
z = [x, the model that each client works on, 1], whose second moments M follow a linear map in each round. With
E[y_i^k | z] a row and Var(y_i^k | z) quadratic, every quantity of a round is a functional of M."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.cohorts import law_of
from boundcheck.errors import BadInput, Unsupported
from boundcheck.falsify.float_statement import Known
from boundcheck.falsify.generator import Genes, Numbers
from boundcheck.falsify.generators.reach import not_covered
from boundcheck.falsify.generators.special import Special, texts
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import Stale
from boundcheck.setting.expected_weights import expected_weights
from boundcheck.theory.statement import Statement

METRICS = (
    *("dist2_change", "movement2", "grad2", "work_grad2"),
    *("work_distance2", "work_inner", "work_mean_grad2"),
    *("virtual_distance2", "virtual_inner", "virtual_mean_grad2"),
)
TRIES = 1000
SHAPES, SAMPLED = 16, 32  # shapes among which one is chosen, and instances of each that are looked at
ROUNDS, MOST = 8, 24  # of a run, or two periods of its schedule where these are more; and at most
ROUNDING = 1e-8  # of a metric, relative to the numbers of which it is made
LOCAL_STEPS = (1, 2, 3, 5, 10)
SERVER_STEPS = tuple(Fraction(10) ** k for k in range(-1, 4))
WEIGHTS = ("time_based", "identical", "1/4", "1/20", "4")


@dataclass(frozen=True)
class Shape:
    """What a batch has in common. scheme: specification of the method without its steps. noisy: two samples a client,
    one of which each local step takes."""

    clients: int
    K: int
    eta_g: Fraction
    scheme: Mapping[str, Any]
    noisy: bool

    @property
    def spec(self) -> dict[str, Any]:
        """The method without its local step size."""
        return {**self.scheme, "K": self.K, "eta_g": format_exact(self.eta_g), **({"batch": 1} if self.noisy else {})}

    @cached_property
    def schedule(self) -> Schedule:
        """The cohorts of all rounds, which do not depend on the problem."""
        return Schedule(self)


@dataclass(frozen=True)
class Cohorts:
    """One round: (probability, coefficients a (n,)) of each cohort; q = E a (n,), joint = E a a' (n, n)."""

    law: tuple[tuple[float, Floats], ...]

    @cached_property
    def q(self) -> Floats:
        return sum((p * a for p, a in self.law), np.zeros(len(self.law[0][1])))

    @cached_property
    def joint(self) -> Floats:
        return sum((p * np.outer(a, a) for p, a in self.law), np.zeros((len(self.q),) * 2))


class Schedule:
    """The rounds of a method: `cohorts` of each, and the constants that it has with any problem."""

    def __init__(self, shape: Shape) -> None:
        n = shape.clients
        clients = Clients((Fraction(1, n),) * n, (2 if shape.noisy else 1,) * n)
        self.method = build({**shape.spec, "eta_l": 1})
        expected = expected_weights(self.method, clients)
        self.fits = expected is not None and expected.period is not None and expected.delay is not None
        if expected is None or expected.period is None or expected.delay is None or 2 * expected.period > MOST:
            self.fits = False
            return
        self.expected, self.period, self.delay = expected, expected.period, expected.delay
        self.stale = isinstance(self.method.exchange, Stale)
        self.cohorts: list[Cohorts] = []
        for position in range(self.period):
            law = law_of(self.method, position, clients, one_by_one=True)
            found: list[tuple[float, Floats]] = []
            for cohort in law.cohorts:
                a = np.zeros(n)
                for v, share in zip(cohort.members, cohort.coefficients, strict=True):
                    a[law.members[v].client] += float(share)
                found.append((float(cohort.p), a))
            self.cohorts.append(Cohorts(tuple(found)))

    @property
    def mean(self) -> Floats:
        """The weights of the surrogate problem, (n,)."""
        return np.mean([c.q for c in self.cohorts], axis=0)


class LemmaRounds(Special):
    """Lemmas whose two sides are quantities of one round, or their means over the rounds.

    An instance has c, t (n,), away (1,), eta (1,) and, where it is noisy, u, v (n,)."""

    kinds = ()
    participation = "uniform or MD sampling, all clients, asynchronous, FedFix or FedBuff, where the method allows it"
    sampling = "full gradients, or one of two samples a step"
    decides = (
        *("smooth_clients", "smooth_samples", "convex_clients", "convex_samples", "unbiased_gradients", "plain_mean"),
        *("independent_weights", "covariance_of_weights", "every_type_every_round"),
    )

    def __init__(self, statement: Statement) -> None:
        reasons = not_covered(statement, METRICS, "of a round of the asynchronous methods")
        self.assumed = {a.name for a in statement.assumptions}
        sample = Shape(2, 1, Fraction(1), {"kind": "fedavg_sync"}, noisy=True)
        ones = {name: np.ones((1, size)) for name, size in (("c", 2), ("t", 2), ("u", 2), ("v", 2))}
        numbers = {**ones, "away": np.ones((1, 1)), "eta": np.ones((1, 1)) / 4}
        known = self.constants(sample, numbers)
        self.claimed = self.compiled(statement, None, [*known, *Run(sample, numbers).quantities(0)], reasons)

    def draw(self, random: np.random.Generator) -> Shape:
        """The best of a few shapes, by the scores of a few instances: the shape decides more than the numbers do."""
        best, found = -np.inf, self.drawn(random)
        for k in range(SHAPES):
            shape = self.drawn(random) if k else found
            genes = {name: random.standard_normal((SAMPLED, *size)) for name, size in self.genes(shape).items()}
            score = max(float(own.max()) for _, own in self.scores(shape, self.decode(shape, genes)))
            if score > best:
                best, found = score, shape
        return found

    def drawn(self, random: np.random.Generator) -> Shape:
        """A random shape in the statement's scope."""
        for _ in range(TRIES):
            n, K = int(random.integers(1, 4)), LOCAL_STEPS[int(random.integers(len(LOCAL_STEPS)))]
            eta_g = SERVER_STEPS[int(random.integers(len(SERVER_STEPS)))]
            try:
                shape = Shape(n, K, eta_g, _scheme(random, n), bool(random.integers(2)))
                if self._fits(shape):
                    return shape
            except BadInput:  # a policy that does not go with these times
                continue
        raise Unsupported(f"{self.claimed.statement.best_id}: no method of the search is within its scope.")

    def _fits(self, shape: Shape) -> bool:
        schedule, named = shape.schedule, self.claimed.statement.algorithm
        if not schedule.fits or schedule.expected.covariance is None:
            return False
        whole = all((c.q > 0).all() for c in schedule.cohorts)
        return (named is None or named.kind in algorithms(schedule.method)) and (
            whole or "every_type_every_round" not in self.assumed
        )

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        own = {"c": (shape.clients,), "t": (shape.clients,), "away": (1,), "distance": (1,), "eta": (1,)}
        return own | ({"u": (shape.clients,), "v": (shape.clients,)} if shape.noisy else {})

    def decode(self, shape: Shape, genes: Genes) -> Numbers:
        found = {
            "c": np.exp(np.minimum(0.0, genes["c"])),
            "t": genes["t"],
            "away": genes["away"] * np.exp(genes["distance"]),
            "eta": np.exp(2 * genes["eta"] - 2) / shape.K,
        }
        if shape.noisy:
            u = np.sinh(genes["u"])
            # samples whose losses are not convex only where the lemma does not exclude them
            found |= {"u": u / (1 + np.abs(u)) if "convex_samples" in self.assumed else u, "v": np.sinh(genes["v"])}
        return found

    def constants(self, shape: Shape, numbers: Numbers) -> Known:
        schedule, c = shape.schedule, numbers["c"]
        run = Run(shape, numbers)
        fixed = [run.fixed(cohorts.q) for cohorts in schedule.cohorts]
        totals = [float(cohorts.q.sum()) for cohorts in schedule.cohorts]
        covariance = schedule.expected.covariance
        assert covariance is not None
        return {
            "L": c.max(1),
            "L_ij": (c * (1 + np.abs(numbers["u"]))).max(1) if shape.noisy else c.max(1),
            "local_steps": float(shape.K),
            "eta_l": numbers["eta"][:, 0],
            "eta_g": float(shape.eta_g),
            "period": float(schedule.period),
            "tau_delay": float(schedule.delay),
            "rho": max(1.0, *totals),
            "alpha": float(covariance.alpha),
            "beta": float(covariance.beta),
            "S1": np.mean([own["round_noise"] for own in fixed], axis=0),
            "S2": np.mean([own["round_noise2"] for own in fixed], axis=0),
        }

    def curve(
        self, shape: Shape, numbers: Numbers, known: Known, step: Floats
    ) -> Iterable[tuple[int, Floats, Mapping[str, Floats]]]:
        metric = self.claimed.statement.metric
        schedule, run = shape.schedule, Run(shape, numbers)
        seen: list[dict[str, Floats]] = []
        for n in range(max(ROUNDS, 2 * schedule.period)):
            own = run.quantities(n) | {"rounding": ROUNDING * run.scale(metric.quantity, known)}
            moved = [o["movement2"] for o in seen[max(0, n - schedule.delay) :]]
            seen.append(own)
            if metric.weights is None and own["round_weight"].any():
                before = np.sum(moved, axis=0) if moved else 0 * own["grad2"]
                yield n, own[metric.quantity], {**own, "movement2": before}
            if metric.weights is not None and (n + 1) % schedule.period == 0:
                means = {name: np.mean([o[name] for o in seen], axis=0) for name in own}
                yield (n + 1) // schedule.period, means[metric.quantity], means
            run.move(n)

    def problem(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        clients: list[dict[str, Any]] = []
        for i, (c, t) in enumerate(zip(numbers["c"], numbers["t"], strict=True)):
            signs = (1, -1) if shape.noisy else (0,)
            u, v = (numbers["u"][i], numbers["v"][i]) if shape.noisy else (Fraction(0), Fraction(0))
            parts = [
                {"A": format_exact(c * (1 + s * u)), "b": format_exact(c * (1 + s * u) * t - s * v)} for s in signs
            ]
            clients.append({"components": parts})
        return {"kind": "quadratics", "clients": clients, "start": texts(numbers["away"])}

    def method(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        return {**shape.spec, "eta_l": format_exact(numbers["eta"][0])}

    def simpler(self, shape: Shape, numbers: Numbers) -> Iterator[tuple[Shape, Numbers]]:
        if shape.clients > 1:
            alone = {name: v[:1] for name, v in numbers.items()}
            yield replace(shape, clients=1, scheme={"kind": "centralised"}), alone
        if shape.noisy:
            yield replace(shape, noisy=False), {k: v for k, v in numbers.items() if k not in ("u", "v")}
        yield from ((replace(shape, K=K), numbers) for K in LOCAL_STEPS if K < shape.K)
        if shape.eta_g != 1:
            yield replace(shape, eta_g=Fraction(1)), numbers


def _scheme(random: np.random.Generator, n: int) -> dict[str, Any]:
    """How clients take part."""
    kind = str(random.choice(["uniform_sampling", "md_sampling", "fedavg_sync", "fedavg_async", "fedfix", "fedbuff"]))
    if n == 1 and kind in ("uniform_sampling", "md_sampling", "fedavg_sync"):
        return {"kind": "centralised"}
    if kind in ("uniform_sampling", "md_sampling"):
        return {"kind": kind, "m": int(random.integers(1, n + 1))}
    if kind == "fedavg_sync":
        return {"kind": kind}
    own: dict[str, Any] = {"kind": kind, "times": [int(v) for v in random.integers(1, 4, n)]}
    own["weights"] = str(random.choice(WEIGHTS))
    if kind == "fedfix":
        own["dt"] = int(random.integers(1, 4))
    if kind == "fedbuff":
        own["m"] = int(random.integers(1, n + 1))
    return own


class Run:
    """A batch of runs in double precision, round by round, by the second moments of z (B, n + 2, n + 2)."""

    def __init__(self, shape: Shape, numbers: Numbers) -> None:
        self.shape, self.schedule = shape, shape.schedule
        self.c, self.t, self.eta = numbers["c"], numbers["t"], numbers["eta"]
        none = np.zeros_like(self.c)
        self.u, self.v = (numbers["u"], numbers["v"]) if shape.noisy else (none, none)
        start = np.concatenate([*[numbers["away"]] * (shape.clients + 1), np.ones_like(numbers["away"])], 1)
        self.moment = start[:, :, None] * start[:, None, :]
        self.largest = numbers["away"][:, 0] ** 2  # of all lengths so far, squared: their rounding stays
        self.surrogate = self._lowest(self.schedule.mean)
        self._local()

    def scale(self, quantity: str, known: Known) -> Floats:
        """The size of the numbers of which a metric is made, (B,)."""
        lengths = self.largest + (self.t**2 + self.v**2).max(1)
        curvature, server = known["L_ij"], 1 + known["eta_g"] * known["rho"]
        step = known["eta_l"] * self.shape.K * curvature
        if quantity.endswith("grad2"):
            return curvature**2 * lengths
        if quantity.endswith("inner"):
            return curvature * known["rho"] * lengths
        return step * server * (1 if quantity == "dist2_change" else step * server) * lengths

    def _lowest(self, q: Floats) -> Floats:
        return (q * self.c * self.t).sum(1) / (q * self.c).sum(1)

    def _local(self) -> None:
        """rows (B, n, K + 1, n + 2): E[y_i^k | z]. noise (B, n, K + 1, 3): the coefficients of Var(y_i^k | z) at
        (y^0 - t_i)^2, y^0 - t_i and 1."""
        (batch, n), K = self.c.shape, self.shape.K
        a = 1 - self.eta * self.c  # y - t_i moves by 1 - eta c (1 +- u) and -+ eta v
        spread = self.eta * self.c * self.u
        second = np.zeros((batch, n, K + 1, 3))
        second[:, :, 0, 0] = 1
        power = np.ones((batch, n, K + 1))
        for k in range(K):
            grown = (a**2 + spread**2)[..., None] * second[:, :, k]
            grown[..., 1] += 2 * spread * self.eta * self.v * power[:, :, k]
            grown[..., 2] += (self.eta * self.v) ** 2
            second[:, :, k + 1], power[:, :, k + 1] = grown, a * power[:, :, k]
        second[..., 0] -= power**2
        self.noise = second
        self.rows = np.zeros((batch, n, K + 1, n + 2))
        for i in range(n):
            self.rows[:, i, :, i + 1] = power[:, i]
            self.rows[:, i, :, -1] = (1 - power[:, i]) * self.t[:, [i]]

    def _inner(self, left: Floats, right: Floats) -> Floats:
        """E[(left z)(right z)] of rows (..., n + 2) of each instance, (B, ...)."""
        flat = left.reshape(len(left), -1, left.shape[-1]), right.reshape(len(right), -1, right.shape[-1])
        return np.einsum("bri,bij,brj->br", flat[0], self.moment, flat[1]).reshape(left.shape[:-1])

    def _variance(self) -> Floats:
        """E Var(y_i^k | z), (B, n, K + 1)."""
        away = self.rows[:, :, 0].copy()
        away[:, :, -1] -= self.t
        first = np.einsum("bni,bi->bn", away, self.moment[:, :, -1])
        parts = np.stack([self._inner(away, away), first, np.ones_like(first)], -1)
        return np.einsum("bnkj,bnj->bnk", self.noise, parts)

    def _gradient2(self, y: Floats, y2: Floats) -> Floats:
        """E|g_i|^2 from E(y - t_i) and E(y - t_i)^2."""
        return self.c**2 * (1 + self.u**2) * y2 + 2 * self.c * self.u * self.v * y + self.v**2

    def fixed(self, q: Floats) -> dict[str, Floats]:
        """What does not depend on the models; 0 in a round without clients."""
        total, n = q.sum(), len(q)
        if not total:
            zero = np.zeros(len(self.c))
            names = ("round_weight", "round_noise", "round_noise2", "round_chi2", "round_spread")
            return dict.fromkeys(names, zero)
        away, share = self._lowest(q)[:, None] - self.t, q / total
        own = self._gradient2(away, away**2)
        chi2 = sum((1 / n - s) ** 2 / s for s in share if s > 0)
        return {
            "round_weight": np.full(len(self.c), total),
            "round_noise": (share * own).sum(1),
            "round_noise2": (share**2 * own).sum(1),
            "round_chi2": np.full(len(self.c), chi2),
            "round_spread": (q * self.c * away**2).sum(1) / 2,
        }

    def _gap(self, weights: Floats, row: Floats, spread: Floats, best: Floats) -> Floats:
        """E of the weighted objective at a row of z with a further variance, less its value at `best`, (B,)."""
        curved, away = (weights * self.c).sum(1), row.copy()
        away[:, -1] -= self._lowest(weights)
        least = best - self._lowest(weights)
        return curved / 2 * (self._inner(away, away) + spread - least**2)

    def quantities(self, n: int) -> dict[str, Floats]:
        """The metrics of round n by name, (B,) each."""
        cohorts, clients, K = self.schedule.cohorts[n % self.schedule.period], self.shape.clients, self.shape.K
        q, eta_g, fixed = cohorts.q, float(self.shape.eta_g), self.fixed(cohorts.q)
        batch, rows, variance = len(self.c), self.rows, self._variance()
        x = np.zeros((batch, clients + 2))
        x[:, 0] = 1
        away = x.copy()
        away[:, -1] = -self.surrogate
        weights = np.full(clients, 1 / clients)
        slope = (weights * self.c).sum(1)[:, None] * x
        slope[:, -1] -= (weights * self.c * self.t).sum(1)
        moved = rows - rows[:, :, :1]
        drift = eta_g * np.einsum("n,bnki->bki", q, moved)  # of the mean virtual model
        cross = np.einsum("bnki,bij,bmkj->bnmk", moved, self.moment, moved)
        own = np.einsum("nm,bnmk->bk", cohorts.joint - np.outer(q, q), cross)
        noise = np.einsum("n,bnk->bk", np.diag(cohorts.joint), variance)
        apart = eta_g**2 * (own + noise)  # the variance of theta^{n,k} beyond that of its mean model, (B, K + 1)
        movement = self._inner(drift[:, K], drift[:, K]) + apart[:, K]
        found = {
            **fixed,
            "grad2": self._inner(slope, slope),
            "movement2": movement,
            "dist2_change": movement + 2 * self._inner(drift[:, K], away),
        }
        if not q.any():
            return {name: 0 * movement for name in (*METRICS, *_GAPS)} | found  # noqa: C420
        share, best, none = q / q.sum(), self._lowest(q), np.zeros(batch)
        slopes = self.c[:, :, None, None] * rows[:, :, :K]
        slopes[..., -1] -= (self.c * self.t)[:, :, None]
        near = rows[:, :, :K].copy()
        near[..., -1] -= self.t[:, :, None]
        firsts = np.einsum("bnki,bi->bnk", near, self.moment[:, :, -1])
        seconds = self._inner(near, near) + variance[:, :, :K]
        squares = np.stack([self._gradient2(firsts[..., k], seconds[..., k]) for k in range(K)], -1)  # E|g_i^k|^2
        mean_slope = np.einsum("n,bnki->bki", q, slopes)
        whole = -np.einsum("n,bni->bi", q, moved[:, :, K]) / (self.eta * K)  # sum of q_i times the mean gradient
        work = rows[:, :, :K] - x[:, None, None]
        model = x[:, None] + drift[:, :K]
        virtual = rows[:, :, :K] - model[:, None]
        alone = (1 - 2 * eta_g * q)[:, None] * variance[:, :, :K]
        gaps = [self._gap(q, model[:, k], apart[:, k], best) for k in range(K)]
        differences = [self._gap(q, model[:, k], apart[:, k], self.surrogate) for k in range(K)]
        stepwise = self._inner(mean_slope, mean_slope) / q.sum() ** 2
        stepwise = stepwise + np.einsum("n,bnk->bk", share**2, squares - self._inner(slopes, slopes))
        inner = self._inner(mean_slope, away[:, None] + drift[:, :K])
        inner = inner + eta_g * np.einsum("n,bn,bnk->bk", q**2, self.c, variance[:, :, :K])
        absent = np.where(q > 0, 0.0, weights)
        apart_from = np.broadcast_to(x[:, None], (batch, clients, clients + 2)).copy()
        apart_from[:, :, -1] -= self.t
        return (
            found
            | {
                "absent_gap": (absent * self.c * self._inner(apart_from, apart_from)).sum(1) / 2,
                "round_gap": np.maximum(self._gap(q, x, none, best), 0),  # below 0 by rounding alone
                "round_difference": self._gap(q, x, none, self.surrogate),
                "virtual_round_gap": np.maximum(np.mean(gaps, axis=0), 0),
                "virtual_difference": np.mean(differences, axis=0),
                "work_distance2": np.einsum("n,bnk->b", share, self._inner(work, work) + variance[:, :, :K]) / K,
                "work_grad2": np.einsum("n,bnk->b", share, squares) / K,
                "work_inner": self._inner(whole, away),
                "work_mean_grad2": self._inner(whole, whole) / q.sum() ** 2
                + (share**2 * variance[:, :, K]).sum(1) / (self.eta[:, 0] * K) ** 2,
                "virtual_distance2": np.einsum("n,bnk->b", share, self._inner(virtual, virtual) + alone) / K
                + apart[:, :K].mean(1),
                "virtual_inner": inner.mean(1),
                "virtual_mean_grad2": stepwise.mean(1),
            }
        )

    def move(self, n: int) -> None:
        """Carry out round n."""
        cohorts, K, eta_g = self.schedule.cohorts[n % self.schedule.period], self.shape.K, float(self.shape.eta_g)
        size, variance = self.moment.shape[1], self._variance()[:, :, K]
        after = np.zeros_like(self.moment)
        for p, a in cohorts.law:
            row = np.zeros((len(self.c), size))
            row[:, 0] = 1
            row += eta_g * np.einsum("n,bni->bi", a, self.rows[:, :, K] - self.rows[:, :, 0])
            got = np.zeros(size)
            got[0] = 1
            got[1:-1] = (a > 0) if self.schedule.stale else 1
            whole = np.where(got[:, None] > 0, row[:, None, :], np.eye(size))
            noise = eta_g**2 * (a**2 * variance).sum(1)
            after += p * (whole @ self.moment @ whole.transpose(0, 2, 1))
            after += p * noise[:, None, None] * np.outer(got, got)
        self.moment = after
        self.largest = np.maximum(self.largest, np.diagonal(after, axis1=1, axis2=2)[:, :-1].max(1))


_GAPS = ("absent_gap", "round_gap", "round_difference", "virtual_round_gap", "virtual_difference")
