"""A run of a method written out from its parts, slow and plain; nothing is shared with the engines but the parts.

What is random comes from outside: `every` goes through all choices, so that expectations are exact in fractions, and
`outcomes.Planned` has those of one seed. Numbers are fractions (of flint) or doubles, as the `World` has them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, ControlVariates, EpochRange, ReferencePoint, Stale, Visit, inclusion
from boundcheck.problems.problem import clients_of

ONE = Fraction(1)


def exact(value: Any) -> fmpq:
    """A number as a fraction of flint."""
    known = value if isinstance(value, fmpq) else Fraction(value)
    return known if isinstance(known, fmpq) else fmpq(known.numerator, known.denominator)


State = Mapping[str, Any]  # name -> what is kept between rounds, an array with a row for each where clients keep it


# --- what is drawn --------------------------------------------------------------------------------------------------


class Choices:
    """Choices that are replayed as far as they are given, then always the first option; p is their probability."""

    def __init__(self, prefix: Sequence[int] = ()) -> None:
        self.prefix, self.taken, self.options, self.p = list(prefix), list[int](), list[int](), fmpq(1)

    def one(self, options: Sequence[Any], probabilities: Sequence[Fraction] | None = None) -> Any:
        at = len(self.taken)
        k = self.prefix[at] if at < len(self.prefix) else 0
        self.taken.append(k)
        self.options.append(len(options))
        self.p *= fmpq(1, len(options)) if probabilities is None else exact(probabilities[k])
        return options[k]

    def cohort(self, own: Run, t: int, participation: Any, *, collecting: bool = False) -> tuple[int, ...]:
        fixed = participation.fixed(t, own.clients)
        if fixed is not None:
            return fixed
        law = participation.drawing(own.clients)
        if law.kind == "independent":
            picked = [self.one([True, False], [p, 1 - p]) if p < 1 else True for p in law.probabilities]
            return tuple(i for i, took in enumerate(picked) if took)
        if law.kind == "subsets":
            return law.subsets[self.one(range(len(law.subsets)), law.probabilities)]
        if law.kind == "replacement":
            sets = list(itertools.combinations_with_replacement(range(law.n), law.size))
            ways = [
                math.factorial(law.size) // math.prod(math.factorial(own.count(i)) for i in set(own)) for own in sets
            ]
            chances = [
                math.prod((law.probabilities[i] for i in own), start=w * ONE) for own, w in zip(sets, ways, strict=True)
            ]
            return self.one(sets, chances)
        return self.one(list(itertools.combinations(range(law.n), law.size)))

    def epochs(self, own: Run, t: int, i: int) -> int:
        """A client's number of epochs where the cohort takes one number of steps."""
        local: Any = own.method.local
        return self.one(local.epochs(i))

    def visit(self, own: Run, t: int, i: int, options: Sequence[tuple[Fraction, Visit]]) -> Visit:
        return options[0][1] if len(options) == 1 else self.one([v for _, v in options], [p for p, _ in options])

    def batches(self, own: Run, t: int, i: int, visit: Visit) -> Iterator[Sequence[int] | None]:
        """The samples of each local step, None for all of them."""
        size, left = own.world.sizes[i], list[int]()
        for step in range(visit.steps):
            if visit.sampling == "full":
                yield None
            elif visit.sampling == "replacement":
                position = step % -(-size // visit.batch) * visit.batch
                yield [self.one(range(size)) for _ in range(min(visit.batch, size - position))]
            else:
                left = left or list(range(size))
                batch = self.one(list(itertools.combinations(left, min(visit.batch, len(left)))))
                left = [j for j in left if j not in batch]
                yield batch

    def by_weight(self, own: Run, count: int) -> Sequence[int]:
        return [self.one(range(own.n), own.clients.weights) for _ in range(count)]

    def holders(self, own: Run, t: int, active: int) -> tuple[int, ...]:
        return self.one(list(itertools.permutations(range(own.n), active)))


def every(run: Callable[[Choices], Any]) -> Iterator[tuple[fmpq, Any]]:
    """(probability, run(choices)) for all sequences of choices."""
    mass, prefix = fmpq(0), list[int]()
    while True:
        choices = Choices(prefix)
        found = run(choices)
        yield choices.p, found
        mass += choices.p
        prefix = choices.taken
        while prefix and prefix[-1] == choices.options[len(prefix) - 1] - 1:
            prefix = prefix[:-1]
        if not prefix:
            assert mass == 1
            return
        prefix = [*prefix[:-1], prefix[-1] + 1]


def mean(run: Callable[[Choices], Any]) -> Any:
    """The expectation of run(choices), a number or an array."""
    return sum(p * value for p, value in every(run))


# --- where it runs --------------------------------------------------------------------------------------------------


def vector(values: Sequence[Any]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = [exact(v) for v in values]
    return out


def solved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of a x = b, in fractions by elimination."""
    if a.dtype != object:
        return np.linalg.solve(a, b)
    rows = np.column_stack([a, b])
    for k in range(len(b)):
        pivot = next(r for r in range(k, len(b)) if rows[r, k])
        rows[[k, pivot]] = rows[[pivot, k]]
        rows[k] = rows[k] / rows[k, k]
        for r in set(range(len(b))) - {k}:
            rows[r] = rows[r] - rows[r, k] * rows[k]
    return rows[:, -1]


class World:
    """Clients of samples (A, b) of gradient A x - b; f_i is their mean, or with `summed` their sum."""

    def __init__(self, samples: Any, weights: Sequence[Fraction], start: np.ndarray, *, summed: bool = False) -> None:
        self.samples, self.weights, self.start, self.summed = samples, weights, start, summed
        self.sizes = [len(own) for own in samples]
        self.clients, self._parts = Clients(weights, self.sizes), dict[int, tuple[Any, Any, Any]]()

    def number(self, value: Fraction) -> Any:
        """A fraction as a number of this world."""
        return exact(value) if self.start.dtype == object else float(value)

    def one(self, i: int, j: int, x: np.ndarray) -> np.ndarray:
        """The gradient of a sample."""
        a, b = self.samples[i][j]
        return a @ x - b

    def drawn(self, i: int, batch: Sequence[int] | None, x: np.ndarray) -> np.ndarray:
        """The mean gradient of samples of client i; of None the whole gradient."""
        own = range(self.sizes[i]) if batch is None else batch
        total = sum(self.one(i, j, x) for j in own)
        return total if batch is None and self.summed else total / len(own)

    def whole(self, x: np.ndarray) -> np.ndarray:
        """The gradient of F."""
        return sum(self.number(w) * self.drawn(i, None, x) for i, w in enumerate(self.weights))

    def subproblem(self, i: int, x: np.ndarray, shift: Any, mu: Any) -> tuple[np.ndarray, np.ndarray]:
        """(H, l) of f_i(v) + <shift, v> + mu/2 |v - x|^2 = v'Hv/2 - l'v + const."""
        if i not in self._parts:
            zero = 0 * x
            linear, units = -self.drawn(i, None, zero), np.eye(len(x), dtype=int) + np.array([zero] * len(x))
            self._parts[i] = np.column_stack([self.drawn(i, None, u) + linear for u in units]), linear, units
        hessian, linear, units = self._parts[i]
        return hessian + mu * units, linear + mu * x - shift

    def measure(self, name: str, x: np.ndarray) -> Any:
        """A metric of a point."""
        raise NotImplementedError


class Quadratics(World):
    """The samples of a problem in fractions, and its metrics of a point."""

    def __init__(self, problem: Any) -> None:
        own = [[(np.array([vector(row) for row in c.A]), vector(c.b)) for c in part] for part in problem.components]
        super().__init__(own, problem.weights, vector(problem.start), summed=problem.reduction == "sum")
        self.clients, self.problem = clients_of(problem), problem

    def measure(self, name: str, x: np.ndarray) -> Any:
        at = np.array([Fraction(int(v.p), int(v.q)) for v in x], dtype=object)
        return exact(self.problem.metric(name, at))


# --- a run ----------------------------------------------------------------------------------------------------------


@dataclass
class Visited:
    """A client of the cohort: its factor eta_g a_i, where it begins, and what is added to its gradients.

    points: the local points before each step and in the end.
    """

    client: int
    factor: Any
    visit: Visit
    begin: np.ndarray
    shift: Any
    points: Sequence[np.ndarray] = ()


@dataclass
class Round:
    """A round from a state. m: the momentum as local steps see it; after: the state that follows."""

    number: int
    state: State
    cohort: tuple[int, ...]
    m: Any
    base: Any
    visits: list[Visited]
    after: dict[str, Any] = field(default_factory=dict[str, Any])


class Run:
    """The steps of the papers' algorithms, as they are written there."""

    def __init__(self, method: Method, world: World) -> None:
        self.method, self.world, self.clients, self.n = method, world, world.clients, world.clients.count
        self.remembers = bool(method.server_momentum or (method.momentum and method.momentum.variance_reduced))
        self.objectives: dict[int, tuple[Any, Any]] = {}
        self.solutions: dict[Any, np.ndarray] = {}

    def start(self, c: Choices) -> State:
        method, world, x = self.method, self.world, self.world.start
        state: dict[str, Any] = {"x": x, **({"before": x} if self.remembers else {})}
        if method.momentum is not None:
            first = c.by_weight(self, method.momentum.warm_up) if method.momentum.start == "sampled" else ()
            whole = method.momentum.start == "gradient"
            state["m"] = world.whole(x) if whole else sum((world.drawn(i, None, x) / len(first) for i in first), 0 * x)
        if method.exchange is not None:
            handed = getattr(method.exchange, "hand_over", None)
            state["kept"] = np.array([x] * (self.n if handed is None else handed.active))
        if isinstance(method.control, ControlVariates):
            at = method.control.start == "gradient"
            state["c"] = np.array([world.drawn(i, None, x) if at else 0 * x for i in range(self.n)])
        if isinstance(method.control, ReferencePoint):
            state["points"] = np.array([x])  # the reference point, and those since then
        return state

    def round(self, t: int, state: State, c: Choices) -> Round:
        begun = self.begun(t, state, c)
        return self.ended(begun, [self.path(begun, v, c) for v in begun.visits], c)

    def begun(self, t: int, state: State, c: Choices) -> Round:
        """Who takes part, with which work, and from where."""
        method, world, x, holders = self.method, self.world, state["x"], None
        blocks = method.exchange if isinstance(method.exchange, Blocks) else None
        if blocks is not None and blocks.hand_over is not None:
            new = t % blocks.hand_over.every == 0
            holders = c.holders(self, t, blocks.hand_over.active) if new else tuple(state["holders"].tolist())
        cohort = c.cohort(self, t, method.participation) if holders is None else holders
        base = sent = x
        if method.server_momentum is not None:
            base = x + world.number(method.server_momentum.at(t)) * (x - state["before"])
            sent = base if method.server_momentum.nesterov else x
        found = Round(t, state, cohort, self.renewed(t, state, cohort), base, [])
        factors = [ONE] * len(cohort) if blocks else method.factors(cohort, self.clients) if cohort else []
        works, weights = self.works(t, cohort, c), dict[int, Fraction]()
        for i, a in zip(cohort, factors, strict=True):
            weights[i] = weights.get(i, Fraction(0)) + a * self.normalised(i, works[i])
        shifted, stale = self.shifts(found, c), isinstance(method.exchange, Stale)
        for place, (i, a) in enumerate(weights.items()):
            begin = sent if method.exchange is None else state["kept"][i if stale else place]
            found.visits.append(Visited(i, world.number(a), works[i], begin, shifted(i, begin)))
        found.after |= {"before": x} if self.remembers else {}
        found.after |= {} if holders is None else {"holders": np.array(holders)}
        return found

    def ended(self, begun: Round, paths: Sequence[Sequence[np.ndarray]], c: Choices) -> Round:
        """The round with the clients' local points."""
        visits = [replace(v, points=own) for v, own in zip(begun.visits, paths, strict=True)]
        after = begun.base + sum((v.factor * (v.points[-1] - v.begin) for v in visits), 0 * begun.base)
        found = replace(begun, visits=visits, after={"x": after, **begun.after})
        self.keep(found, c)
        return found

    def works(self, t: int, cohort: tuple[int, ...], c: Choices) -> dict[int, Visit]:
        """What each client of the cohort does."""
        local: Any = self.method.local
        if not (getattr(local, "common", None) and isinstance(local.E, EpochRange)):
            return {i: c.visit(self, t, i, local.visits(i, cohort, self.clients)) for i in dict.fromkeys(cohort)}
        planned = [c.epochs(self, t, i) * -(-self.world.sizes[i] // local.batch) for i in cohort]
        steps = min(planned) if local.common == "min" else (2 * sum(planned) + len(planned)) // (2 * len(planned))
        return {i: local.visit_of(i, steps, self.clients) for i in cohort}

    def normalised(self, i: int, visit: Visit) -> Fraction:
        """By what FedNova multiplies the coefficient of a client that drew its number of epochs."""
        local: Any = self.method.local
        if getattr(self.method.aggregation, "weights", None) != "nova" or not isinstance(local.E, EpochRange):
            return ONE
        each = -(-self.world.sizes[i] // local.batch)
        drawn = range(local.E.low, local.E.high + 1)
        return Fraction(1, visit.steps) / (sum(Fraction(1, e * each) for e in drawn) / len(drawn))

    def sizes(self, t: int, visit: Visit) -> list[Any]:
        """The size of each local step."""
        method, steps = self.method, visit.steps
        if method.by_iteration:
            schedule: Any = method.schedule
            each = [schedule.expression.at(r=t, t=t * steps + k) for k in range(steps)]
        else:
            each = [method.schedule.step(method.cycle_of(t, self.clients))] * steps
        return [self.world.number(eta * visit.scale) for eta in each]

    def path(self, found: Round, own: Visited, c: Choices) -> list[np.ndarray]:
        """The local points before each step and in the end."""
        world, momentum, m, i, x = self.world, self.method.momentum, found.m, own.client, own.begin
        mu, visit = world.number(own.visit.prox), own.visit
        if visit.sampling == "exact":
            key = (i, mu, *x.tolist(), *own.shift.tolist())
            if key not in self.solutions:
                self.solutions[key] = solved(*world.subproblem(i, x, own.shift, mu))
            return [x, self.solutions[key]]
        seen = [x]
        sizes = self.sizes(found.number, visit)
        for batch, eta in zip(c.batches(self, found.number, i, visit), sizes, strict=True):
            y, d = seen[-1], world.drawn(i, batch, seen[-1])
            if momentum is not None:
                a = world.number(momentum.a)
                fresh = m - world.drawn(i, batch, x) if momentum.variance_reduced else m
                d = d + (1 - a) * fresh if momentum.variance_reduced else a * d + (1 - a) * fresh
            seen.append(y - eta * (d + own.shift + mu * (y - x)))
        return seen

    # --- what the server and the clients keep -----------------------------------------------------------------------

    def shares(self) -> list[Any]:
        """The weights of the mean of models that clients keep, or of control variates."""
        own: Any = self.method.exchange or self.method.control
        handed = getattr(own, "hand_over", None)
        count = self.n if handed is None else handed.active
        equal = [Fraction(1, count)] * count
        return [self.world.number(w) for w in (self.clients.weights if own.weights == "data" else equal)]

    def mixed(self, vectors: Any) -> np.ndarray:
        """Their mean with these weights."""
        return sum(s * v for s, v in zip(self.shares(), vectors, strict=True))

    def unbiased(self, i: int) -> Any:
        """The weight of a client in the momentum, w_i/p_i, whatever the aggregation."""
        return self.world.number(self.clients.weights[i] / inclusion(self.method.participation, i, self.clients))

    def renewed(self, t: int, state: State, cohort: tuple[int, ...]) -> Any:
        """m after the update at the start of a round."""
        momentum = self.method.momentum
        if momentum is None or not momentum.variance_reduced or t == 0:
            return state.get("m")
        a = self.world.number(momentum.a)
        m = (1 - a) * state["m"]
        for i in cohort:
            now, old = (self.world.drawn(i, None, state[at]) for at in ("x", "before"))
            m = m + self.unbiased(i) * (now - (1 - a) * old)
        return m

    def shifts(self, found: Round, c: Choices) -> Callable[[int, np.ndarray], Any]:
        """What is added to the gradients of local steps, by client and the point at which it begins."""
        method, world, state = self.method, self.world, found.state
        x, own, control = state["x"], method.correction, method.control
        if own is not None:
            asked = (
                found.cohort
                if own.participation is None
                else c.cohort(self, found.number, own.participation, collecting=True)
            )
            weights = [world.number(self.clients.weights[i] if own.weights == "data" else ONE) for i in asked]
            fresh = sum(w * world.drawn(i, None, x) for w, i in zip(weights, asked, strict=True)) / sum(weights)
            at, used = world.number(own.at(found.number)), state.get("g") if own.pipelined else fresh
            found.after |= {"g": fresh} if own.pipelined else {}
            return lambda i, begin: at * (used - world.drawn(i, None, begin)) if at else 0 * x
        if isinstance(control, ControlVariates):
            all_of = self.mixed(state["c"])
            return lambda i, begin: all_of - state["c"][i]
        if isinstance(control, ReferencePoint):
            each = [world.drawn(i, None, state["points"][0]) for i in range(self.n)]
            return lambda i, begin: self.mixed(each) - each[i]
        return lambda i, begin: 0 * x

    def keep(self, found: Round, c: Choices) -> None:
        """What is kept besides the server's point."""
        method, world, t, after = self.method, self.world, found.number, found.after
        x, control, momentum = found.state["x"], method.control, method.momentum
        if momentum is not None:
            after["m"] = found.m
        if momentum is not None and not momentum.variance_reduced:
            a, worked = world.number(momentum.a), [v for v in found.visits if v.visit.steps]
            ways = (self.unbiased(v.client) * (x - v.points[-1]) / sum(self.sizes(t, v.visit)) for v in worked)
            after["m"] = (1 - a) * found.m + a * sum(ways, 0 * x)
        if isinstance(method.exchange, Stale):
            after["kept"] = found.state["kept"].copy()
            after["kept"][[v.client for v in found.visits]] = after["x"]
        if isinstance(method.exchange, Blocks):
            own, models = method.exchange, np.array([v.points[-1] for v in found.visits])
            handed, block = own.hand_over, list(own.pattern(len(x))[t % own.tau])
            if handed is not None and handed.design == 1 and (t + 1) % handed.every == 0:
                block = list(range(len(x)))
            after["x"] = self.mixed(models)
            models[:, block] = after["x"][block]
            after["kept"] = models
        if isinstance(control, ControlVariates):
            after["c"] = found.state["c"].copy()
            for v in found.visits:
                gained = (x - v.points[-1]) / sum(self.sizes(t, v.visit)) - self.mixed(found.state["c"])
                whole = control.update == "gradient"
                after["c"][v.client] = world.drawn(v.client, None, x) if whole else after["c"][v.client] + gained
        if isinstance(control, ReferencePoint):
            points = [*found.state["points"], x]
            if (t + 1) % control.inner == 0:
                before = points[1:]
                if control.point != "last":
                    after["x"] = c.one(before) if control.point == "random" else sum(before) / len(before)
                points = [after["x"]]
            after["points"] = np.array(points)
