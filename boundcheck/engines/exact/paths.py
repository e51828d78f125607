"""Runs outcome by outcome, on any problem with gradients: the paths on which all that is random is known.

A history is what was random so far; the state of a run is a list of (probability, what the server keeps, what clients
keep). Each round replaces a history by one for each outcome of the round, whatever is drawn: its numbers, the cohort
that collects, the cohort that works, numbers of steps, samples, and who holds models that are handed over. Histories
that agree in all vectors become one again; in ball arithmetic those that agree to half the working precision, with
balls that hold both. A method without randomness has one history. No method is named here (`methods.round`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from boundcheck.certified.slopes import number
from boundcheck.core.linalg import float_down, float_up, nearest_float
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.exact.cohorts import Law, Member, law_of, weights_of
from boundcheck.engines.exact.paths_visits import (
    Atoms,
    Compiled,
    Drawn,
    Ended,
    Numbers,
    Point,
    Step,
    Values,
    Visits,
    compile_visit,
)  # fmt: skip
from boundcheck.engines.exact.results import Columns, curve_of
from boundcheck.engines.exact.rings import MAX_DIGITS
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.formal import Atom, Vector
from boundcheck.methods.method import Method
from boundcheck.methods.parts import GradientSteps, NoStep, Participation, Same, StepSize, Visit, first_repeated
from boundcheck.methods.reading import Reading
from boundcheck.methods.round import PLAIN, Sent
from boundcheck.problems.problem import Arrays, IntervalProblem, Problem, SteppedProblem, clients_of
from boundcheck.setting.step_sizes import run_steps

# Gradients of samples in one run with its draws; the gradient of a client counts as those of its samples.
MAX_GRADIENTS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 5_000_000,
    Arithmetic.BALL: 2_000_000,
    Arithmetic.RATIONAL: 500_000,
}
# Gradients of one run on a problem that has those of its clients alone, of the centre or of each end of an interval.
MAX_STEPS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 20_000_000,
    Arithmetic.BALL: 1_000_000,
    Arithmetic.RATIONAL: 100_000,
}
MAX_HISTORIES = 20_000  # kept at once
VIRTUAL = ("virtual_gap", "virtual_grad2")  # metrics at the virtual models, see `virtual`
NEWTON = 100  # gradients for which an exact solve is counted
# Intervals: the ends are multiples of 2^-bits; bits double until values are known to TOLERANCE, or MAX_BITS.
FIRST_BITS = 128
MAX_BITS = 4096
TOLERANCE = Fraction(1, 10**12)
NEGLIGIBLE = Fraction(1, 10**300)
KEPT = 4096  # rounds, and visits, that are kept as they were read

KINDS: Mapping[Arithmetic, Any] = {
    Arithmetic.RATIONAL: Fraction(0),
    Arithmetic.BALL: arb(0),
    Arithmetic.FLOAT64: 0.0,
}
Progress = Callable[[float], None]
Snap = Callable[[Fraction], Fraction]
Weights = Mapping[Any, Fraction]  # of what a client sends, by the rule by which it is summed
Outcome = tuple[Fraction, Visit, Compiled, Ended]  # of a member's work, with its probability
Seen = Mapping[str, list[tuple[Fraction, Any]]]  # values of metrics with their probabilities


def run_paths(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    metrics: Sequence[str],
    arithmetic: Arithmetic,
    progress: Progress,
) -> Curve:
    """The metrics of a run, or their expectations, history by history.

    A `SteppedProblem` in one of its arithmetics is carried out with all that is random; balls are rigorous, as each
    gradient is an enclosure over the ball of points. Any other problem with gradients is carried out with methods
    without randomness, in FLOAT64 or RATIONAL; in BALL where it lies on the line and bounds its metrics over intervals,
    as long as each step x - eta f_i'(x) is a nondecreasing map: running the two ends of an interval, rounded outwards,
    then encloses the run.

    Raises Unsupported for what that leaves out, beyond `MAX_STEPS` or `MAX_GRADIENTS` gradients or `MAX_HISTORIES`
    histories, and for fractions of more than `MAX_DIGITS` digits.
    """
    walks: list[_Walk] = []
    random = method.is_random(clients_of(problem))

    def compute(asked: Arithmetic) -> Columns:
        walks.append(_Walk(method, problem, asked))
        return walks[-1].measured(grid, metrics, progress)

    if arithmetic is Arithmetic.BALL and not _is_stepped(problem, arithmetic):
        return _enclosed(method, problem, grid, metrics, progress)
    curve = curve_of(compute, arithmetic, grid, random)
    if walks[-1].inexactness is None:
        return curve
    return replace(curve, info={**curve.info, "inexactness": walks[-1].inexactness})


def oracle_iterates(method: Method, problem: Problem, rounds: int) -> NDArray[np.float64]:
    """The server's point after 0, ..., rounds rounds, shape (rounds + 1, d), in double precision.

    From the clients' gradients. Raises Unsupported as `run_paths`, and for random methods.
    """
    walk = _Walk(method, problem, Arithmetic.FLOAT64, stepped=False)
    with np.errstate(over="ignore", invalid="ignore"):
        found = [walk.point(h, t) for t, (h,) in walk.rounds(range(rounds + 1), lambda share: None)]
    return np.where(np.isnan(found), np.inf, np.array(found, dtype=np.float64))


def _is_stepped(problem: Problem, arithmetic: Arithmetic) -> bool:
    return isinstance(problem, SteppedProblem) and arithmetic in problem.arithmetics


def _array(values: Sequence[Any], arithmetic: Arithmetic) -> Point:
    if arithmetic is Arithmetic.FLOAT64:
        return np.array(values, dtype=np.float64)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


# --- problems -------------------------------------------------------------------------------------------------------


class _Whole:
    """A problem that has the gradients of its clients."""

    def __init__(self, problem: Problem, arithmetic: Arithmetic, method: Method) -> None:
        self._problem, self._arithmetic, self._method = problem, arithmetic, method

    def number(self, value: Fraction) -> Any:
        return number(value, KINDS[self._arithmetic])

    def gradient(self, client: int, drawn: Drawn, x: Point) -> Point:
        assert drawn is None, "refused before"
        return self._problem.gradient(client, x)

    def objective(self, x: Point) -> Point:
        own = [self.gradient(i, None, x) * self.number(w) for i, w in enumerate(self._problem.weights)]
        return sum(own[1:], own[0])

    def metric(self, name: str, x: Point) -> Any:
        value: Any = self._problem.metric(name, x)
        return Fraction(value) if self._arithmetic is Arithmetic.RATIONAL else value


class _Stepped(_Whole):
    """A problem that has the gradients of samples in this arithmetic; they are counted."""

    def __init__(self, problem: Problem, arithmetic: Arithmetic, method: Method) -> None:
        super().__init__(problem, arithmetic, method)
        assert isinstance(problem, SteppedProblem)
        self._data, self._sizes, self._gradients = problem, clients_of(problem).sizes, 0

    def gradient(self, client: int, drawn: Drawn, x: Point) -> Point:
        self._gradients += self._sizes[client] if drawn is None else len(drawn)
        if self._gradients > MAX_GRADIENTS[self._arithmetic]:
            what = f"more than {MAX_GRADIENTS[self._arithmetic]} gradients of samples"
            raise _too_many(self._method, self._problem, self._arithmetic, what)
        if drawn is None:
            return self._of(client, None, x)
        batch = sum(drawn.values())
        own = [self._of(client, j, x) * self.number(Fraction(times, batch)) for j, times in drawn.items()]
        return sum(own[1:], own[0])

    def _of(self, client: int, sample: int | None, x: Point) -> Point:
        return _array(self._data.gradient_of(client, sample, x.tolist()), self._arithmetic)

    def metric(self, name: str, x: Point) -> Any:
        return self._data.metric_of(name, x.tolist())


def _too_many(method: Method, problem: Problem, arithmetic: Arithmetic, what: str) -> Unsupported:
    return Unsupported(
        f"'{problem.name}' is not quadratic, so the exact engine follows every history of random choices of "
        f"{method.name}, and these rounds have {what}, the most that it carries out in arithmetic "
        f"'{arithmetic.value}'; use fewer rounds or engine = 'sampled'."
    )


def _linear_scores(problem: Problem) -> Arrays | None:
    """The data of logistic or softmax regression, else None."""
    from boundcheck.engines.sampled.solves import LINEAR

    arrays = getattr(problem, "arrays", None)
    found = None if arrays is None else arrays()
    return found if isinstance(found, Arrays) and found.kind in LINEAR else None


# --- rounds ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _History:
    """holder: the number of the way in which clients hold the models, where these are handed over."""

    p: Fraction
    server: Mapping[str, Point]
    clients: Mapping[tuple[str, int], Point]
    holder: int = 0

    def points(self) -> Iterator[Point]:
        yield from self.server.values()
        yield from self.clients.values()


@dataclass(frozen=True)
class _Cohort:
    """One possible cohort: its members by position in `_Plan.members`, their weights under each rule."""

    p: Fraction
    members: tuple[int, ...]
    weights: Mapping[Any, Sequence[Fraction]]


@dataclass
class _Plan:
    """What a round does, with its numbers and step size. works: of each member its visits with their probabilities."""

    number: Mapping[str, Any]
    members: Sequence[Member]
    works: Sequence[Sequence[tuple[Fraction, Visit, Compiled]]]
    cohorts: Sequence[_Cohort]
    combined: Mapping[str, Vector]
    collecting: Sequence[tuple[Fraction, Sequence[tuple[int, Weights]]]] | None


class _Walk:
    """The rounds of a run in one arithmetic; snap rounds every new coordinate.

    inexactness: None without exact solves, else the largest gamma of Definition 1 of FedDANE of all of them,
    |w - v| <= gamma |v - x| with v the solution: |w - v| is at most |grad P(w)|/m, P the subproblem and m its strong
    convexity (in double precision).
    """

    def __init__(
        self,
        method: Method,
        problem: Problem,
        arithmetic: Arithmetic,
        snap: Snap | None = None,
        *,
        stepped: bool = True,
    ) -> None:
        self._method, self._problem, self._arithmetic, self._snap = method, problem, arithmetic, snap
        self._rule, self._clients = method.rule, clients_of(problem)
        self._stepped = stepped and _is_stepped(problem, arithmetic)
        if not self._stepped and method.is_random(self._clients):
            raise Unsupported(
                f"the problem '{problem.name}' is not quadratic, so the exact engine has no expectation over the "
                f"random choices of {method.name}; use engine = 'sampled'."
            )
        self._rule.check(method.name, method.participation, self._clients)
        self._data = (_Stepped if self._stepped else _Whole)(problem, arithmetic, method)
        self._numbers = Numbers(self._data)
        self._reading = Reading(self._rule, self._clients, method.server.factor, method.name)
        self._visits = Visits(self._rule.local, self._clients.sizes, self._checked)
        self._sizes = run_steps(method, self._clients)
        self._holders = self._rule.holders(method.name, self._clients, problem.dim)
        self._laws: dict[Any, Law] = {}
        self._plans: dict[Any, _Plan] = {}
        self._compiled: dict[Any, Compiled] = {}
        self._done = 0
        self.inexactness: float | None = None

    def measured(self, grid: Sequence[int], metrics: Sequence[str], progress: Progress) -> Columns:
        """The metrics at each round of the grid."""
        virtual = [name for name in metrics if name in VIRTUAL]
        found: dict[str, list[Any]] = {name: [] for name in metrics}
        for done, histories in self.rounds(grid, progress):
            for name in metrics:
                if name not in VIRTUAL:
                    values = [(h.p, self._data.metric(name, self.point(h, done))) for h in histories]
                    found[name].append(self._mean(values))
            if virtual:  # a round from here on, which is not kept
                seen: dict[str, list[tuple[Fraction, Any]]] = {name: [] for name in virtual}
                self._round(histories, done, seen)
                for name, values in seen.items():
                    found[name].append(self._mean(values))
        return found

    def _mean(self, terms: Sequence[tuple[Fraction, Any]]) -> Any:
        own = [value if p == 1 else self._data.number(p) * value for p, value in terms]
        return sum(own[1:], own[0])

    def point(self, history: _History, done: int) -> Point:
        """The point of which metrics speak."""
        number = self._rule.numbers(done, self._problem.dim)
        return self._values(history).at(self._reading.measured(number), None)

    def rounds(self, grid: Sequence[int], progress: Progress) -> Iterator[tuple[int, Sequence[_History]]]:
        """The histories at each round of the grid."""
        self.refuse(grid[-1])
        histories: Sequence[_History] = self._begun()
        done = 0
        for target in grid:
            while done < target:
                histories = self._round(histories, done, {})
                done += 1
                if len(histories) > 1 or done % 1000 == 0:
                    progress(done / grid[-1])
            yield done, histories

    def _values(self, history: _History) -> Values:
        return Values(self._numbers, self._start, history.server, history.clients)

    # --- the start --------------------------------------------------------------------------------------------------

    def _begun(self) -> list[_History]:
        """The histories at the start: what is drawn there is who holds models, and gradients of drawn clients."""
        rule, reading, n = self._rule, self._reading, self._clients.count
        self._start = _array([self._data.number(v) for v in self._problem.start], self._arithmetic)
        values = Values(self._numbers, self._start, {}, {})
        first = {i: reading.initial_client(i) for i in range(n)} if rule.kept_by_clients else {}
        clients = {(name, i): values.at(own[name], i) for name in rule.kept_by_clients for i, own in first.items()}
        values = Values(self._numbers, self._start, {}, clients)
        drawn = rule.drawn_at_first(reading.at(0))
        fixed = {name: values.at(v, None) for name, v in reading.initial().items() if name not in drawn}
        found = [(Fraction(1), fixed)]
        for name, (vector, count) in drawn.items():
            if math.comb(n + count - 1, count) > MAX_HISTORIES:
                what = f"more than {MAX_HISTORIES} different histories"
                raise _too_many(self._method, self._problem, self._arithmetic, what)
            each = [values.at(vector, i) * self._data.number(Fraction(1, count)) for i in range(n)]
            longer: list[tuple[Fraction, dict[str, Point]]] = []
            for own in itertools.combinations_with_replacement(range(n), count):
                ways = math.factorial(count)
                for i in set(own):
                    ways //= math.factorial(own.count(i))
                q = math.prod((self._clients.weights[i] for i in own), start=Fraction(ways))
                longer += [(p * q, {**kept, name: sum((each[i] for i in own[1:]), each[own[0]])}) for p, kept in found]
            found = longer
        ways = len(self._holders or "1")
        order = list(rule.kept_by_server)
        return [
            _History(p / ways, {name: server[name] for name in order}, clients, k)
            for p, server in found
            if p
            for k in range(ways)
        ]

    # --- what a round does ------------------------------------------------------------------------------------------

    def _law(self, t: int, rules: Sequence[Any]) -> Law:
        own = self._method.participation
        key = (_position(own, t, self._clients), tuple(rules))
        if key not in self._laws:
            self._laws[key] = law_of(self._method, key[0], self._clients, one_by_one=True, rules=rules)
        return self._laws[key]

    def _plan(self, t: int, number: Mapping[str, Any], eta: StepSize, holder: int) -> _Plan:
        """The plan of round t."""
        own = self._rule.collecting
        apart = own is not None and own != "same"
        place = _position(self._method.participation, t, self._clients)
        key = (place, _position(own, t, self._clients) if apart else 0, tuple(number.items()), eta, holder)
        if key not in self._plans:
            if len(self._plans) >= KEPT:
                self._plans.clear()
            self._plans[key] = self._planned(t, number, eta, holder)
            if self._snap is not None:
                self._require_monotone(self._plans[key], eta)
        return self._plans[key]

    def _planned(self, t: int, number: Mapping[str, Any], eta: StepSize, holder: int) -> _Plan:
        method, reading, clients, own = self._method, self._reading, self._clients, self._rule.collecting
        sent, _ = reading.after(0, number, _ONE_STEP, reading.begin(0, number)[0], Fraction(1))
        asked = [s.rule for s in sent.values()]
        asked += [s.rule for s in reading.collect(0, number).values()] if own == "same" else []
        rules = tuple(dict.fromkeys(r for r in asked if r is not None))
        if self._holders is not None:
            held = self._holders[holder]
            members: Sequence[Member] = [Member(i, method.local.visits(i, held, clients)) for i in held]
            weights = {r: weights_of(r, method, held, clients) for r in rules}
            cohorts = [_Cohort(Fraction(1), tuple(range(len(held))), {None: [Fraction(1)] * len(held), **weights})]
        else:
            law = self._law(t, rules)
            members = law.members
            cohorts = [
                _Cohort(c.p, c.members, dict(zip((None, *rules), (c.coefficients, *c.further), strict=True)))
                for c in law.cohorts
            ]
        works = [[(p, v, self._compile(m.client, v, number, eta)) for p, v in m.visits] for m in members]
        apart = None if own is None or own == "same" else self._collecting(t, number)
        return _Plan(number, members, works, cohorts, reading.combine(number), apart)

    def _collecting(
        self, t: int, number: Mapping[str, Any]
    ) -> Sequence[tuple[Fraction, Sequence[tuple[int, Weights]]]]:
        """The cohorts that collect apart from those that work: probability, the weight of each of their vectors."""
        own, method = self._rule.collecting, self._method
        (rule,) = {s.rule for s in self._reading.collect(0, number).values()}
        weights = Same(Fraction(1)) if rule == PLAIN else method.aggregation if rule is None else rule
        law = law_of(Method(method.name, own, GradientSteps(1), NoStep(), weights), t, self._clients, one_by_one=True)
        return [
            (c.p, [(law.members[v].client, {rule: a}) for v, a in zip(c.members, c.coefficients, strict=True)])
            for c in law.cohorts
        ]

    def _compile(self, client: int, visit: Visit, number: Mapping[str, Any], eta: StepSize) -> Compiled:
        key = (visit, tuple(number.items()), eta)
        for own in ((None, *key), (client, *key)):
            if own in self._compiled:
                return self._compiled[own]
        if len(self._compiled) >= KEPT:
            self._compiled.clear()
        self._reading.asked = False
        found = compile_visit(self._reading, self._numbers, client, visit, number, eta)
        self._compiled[client if self._reading.asked else None, *key] = found
        return found

    # --- one round --------------------------------------------------------------------------------------------------

    def _round(self, histories: Sequence[_History], done: int, seen: Seen) -> list[_History]:
        """The histories after round `done`; seen: to which the metrics of its virtual models are added."""
        eta, numbers, self._done = self._sizes.of_round(done), self._rule.numbers(done, self._problem.dim), done
        after = _Histories(self._arithmetic, self._method, self._problem)
        ways = len(self._holders or "1")
        for q, more in self._rule.drawn(done):
            number = {**numbers, **more} if more else numbers
            for history in histories:
                plan = self._plan(done, number, eta, history.holder)
                for found in self._outcomes(replace(history, p=history.p * q) if q != 1 else history, plan, seen):
                    if ways > 1 and number.get("handed"):
                        for k in range(ways):
                            after.add(self._held_by(found, k, Fraction(1, ways)))
                    else:
                        after.add(found)
        return after.found()

    def _held_by(self, history: _History, holder: int, p: Fraction) -> _History:
        """The history with its models handed to others, in their order."""
        assert self._holders is not None
        before = dict(zip(self._holders[holder], self._holders[history.holder], strict=True))
        nothing = self._values(history).at(Vector(), None)
        clients = {(n, i): history.clients[n, before[i]] if i in before else nothing for n, i in history.clients}
        return _History(history.p * p, history.server, clients, holder)

    def _outcomes(self, history: _History, plan: _Plan, seen: Seen) -> Iterator[_History]:
        values = self._values(history)
        known: dict[Any, Sequence[Outcome]] = {}
        for kind, (q, apart) in enumerate(plan.collecting or [(Fraction(1), None)]):
            collected = self._sums(values, plan, apart or ())
            for place, cohort in enumerate(plan.cohorts):
                if self._rule.collecting == "same":
                    members = [plan.members[v].client for v in cohort.members]
                    own = [{r: w[k] for r, w in cohort.weights.items()} for k in range(len(members))]
                    collected = self._sums(values, plan, list(zip(members, own, strict=True)))
                found: list[Sequence[Outcome]] = []
                for v in cohort.members:
                    rests = any(compiled.collects for _, _, compiled in plan.works[v])
                    key = (v, kind, place) if rests else v
                    if key not in known:
                        known[key] = self._ended(values, plan, v, collected, way=bool(seen))
                    found.append(known[key])
                for outcome in itertools.product(*found):
                    p = math.prod((own[0] for own in outcome if own[0] != 1), start=history.p * cohort.p * q)
                    yield self._after(history, values, plan, cohort, collected, outcome, p, seen)

    def _sums(self, values: Values, plan: _Plan, shares: Sequence[tuple[int, Weights]]) -> Atoms:
        """What clients send before the local work, summed; shares: whose, with their weights."""
        found: dict[tuple[str, str], Point | None] = {}
        for client, weights in shares:
            for name, s in self._reading.collect(client, plan.number).items():
                c, own = weights[s.rule], values.of(s.vector, client)
                if own is not None and c:
                    old, own = found.get(("collected", name)), own if c == 1 else own * self._data.number(c)
                    found["collected", name] = own if old is None else old + own
        return found

    def _ended(self, values: Values, plan: _Plan, v: int, collected: Atoms, *, way: bool) -> Sequence[Outcome]:
        """Every outcome of what a member does."""
        client, found = plan.members[v].client, []
        for p, visit, compiled in plan.works[v]:
            if compiled.solve is not None:
                moved = self._solve(values, client, compiled, collected)
                ends = [self._visits.after(values, client, compiled, collected, Fraction(1), (moved,), way=None)]
            else:
                ends = self._visits.ended(values, client, visit, compiled, collected, MAX_HISTORIES, way=way)
            if ends is None:
                what = f"more than {MAX_HISTORIES} draws of samples in one visit"
                raise _too_many(self._method, self._problem, self._arithmetic, what)
            found += [(p * end.p, visit, compiled, end) for end in ends]
        return found

    def _after(
        self, history: _History, values: Values, plan: _Plan, cohort: _Cohort, collected: Atoms,
        outcome: Sequence[Outcome], p: Fraction,
        seen: Seen,
    ) -> _History:  # fmt: skip
        """The history after one outcome of a round."""
        atoms: dict[tuple[str, str], Point | None] = dict(collected)
        clients = dict(history.clients) if history.clients else history.clients
        for k, (_, visit, compiled, end) in enumerate(outcome):
            for name, own in end.sent.items():
                rule = compiled.sent[name].rule
                share = cohort.weights[rule][k] * visit.weight if rule is None else cohort.weights[rule][k]
                if own is not None and share:
                    old, own = atoms.get(("total", name)), own if share == 1 else own * self._data.number(share)
                    atoms["total", name] = own if old is None else old + own
            for name, own in end.kept.items():
                clients[name, plan.members[cohort.members[k]].client] = own
        server = {name: values.at(v, None, atoms) for name, v in plan.combined.items()}
        if self._snap is not None:
            server = {name: _array([self._snap(v) for v in own], self._arithmetic) for name, own in server.items()}
        for name, found in seen.items():
            found.append((p, self._virtual(name, values, cohort, outcome)))
        if self._rule.receives:
            new = Values(self._numbers, self._start, server, clients)
            received = dict(clients)
            for v in cohort.members:
                client = plan.members[v].client
                for name, vector in self._reading.receive(client, plan.number).items():
                    received[name, client] = new.at(vector, client, atoms)
            clients = received
        return _History(p, server, clients, history.holder)

    def _virtual(self, name: str, values: Values, cohort: _Cohort, outcome: Sequence[Outcome]) -> Any:
        """The mean of a metric over the virtual models theta^{n,k} of one outcome, k = 0, ..., K - 1."""
        counts = {len(end.way) for _, _, _, end in outcome} or {1}
        if len(counts) > 1:
            raise Unsupported(
                f"{self._method.name} takes numbers of local steps that differ, so that it has no virtual models and "
                f"no metric '{name}'."
            )
        (count,), found = counts, list[tuple[Fraction, Any]]()
        for k in range(count):
            x = values.server["x"]
            for a, (_, visit, _, end) in zip(cohort.weights[None], outcome, strict=True):
                if (moved := end.way[k]) is not None:
                    x = x + moved * self._data.number(self._method.server.factor * a * visit.weight)
            found.append((Fraction(1, count), self._data.metric(name.removeprefix("virtual_"), x)))
        return self._mean(found)

    def _checked(self, begin: Point | None, moved: Point) -> Point:
        """How far a local model is from where it began: rounded with the snap, or small enough to go on."""
        if self._snap is not None:
            assert begin is not None, "a run between two ends begins at the server's point"
            return _array([self._snap(v) for v in begin + moved], self._arithmetic) - begin
        exact = self._arithmetic is Arithmetic.RATIONAL
        if exact and max(v.denominator.bit_length() for v in moved) > 3.33 * MAX_DIGITS:
            raise Unsupported(
                f"exact rational arithmetic met numbers of more than {MAX_DIGITS} digits after {self._done} rounds on "
                f"'{self._problem.name}'; use fewer rounds or another arithmetic."
            )
        return moved

    def _solve(self, values: Values, client: int, compiled: Compiled, collected: Atoms) -> Point:
        from boundcheck.engines.sampled.solves import newton

        arrays, solve = _linear_scores(self._problem), compiled.solve
        assert arrays is not None
        assert solve is not None
        prox, centre = float(solve.mu), values.at(solve.centre, client, collected)
        shift = values.at(solve.shift, client, collected)
        y = newton(arrays, client, centre, shift, prox)
        left = self._problem.gradient(client, y) + shift + prox * (y - centre)
        off = float(np.linalg.norm(left)) / (arrays.ridge + prox)
        moved = float(np.linalg.norm(y - centre)) - off
        gamma = 0.0 if off == 0 else off / moved if moved > 0 else math.inf
        self.inexactness = max(self.inexactness or 0.0, gamma)
        return y - values.at(compiled.begin[0], client, collected)

    # --- limits -----------------------------------------------------------------------------------------------------

    def refuse(self, rounds: int) -> None:
        """Refuse before it starts what cannot be carried out, and what one history alone has too much of."""
        problem, clients, method = self._problem, self._clients, self._method
        kinds = [v for m in self._law(0, ()).members for _, v in m.visits]
        if any(v.sampling == "exact" for v in kinds):
            if self._stepped or self._arithmetic is not Arithmetic.FLOAT64 or _linear_scores(problem) is None:
                raise no_solves(problem)
            self.inexactness = 0.0
        if not self._stepped and any(v.sampling not in ("full", "exact") for v in kinds):
            raise Unsupported(f"the local steps of {method.name} use samples; this problem has whole gradients only.")
        own = method.participation
        laws = [self._law(t, ()) for t in range(min(rounds, first_repeated(own, clients) + own.period(clients)))]

        def least(v: Visit, client: int) -> int:
            if v.sampling == "exact":
                return NEWTON
            return v.steps * (clients.sizes[client] if self._stepped and v.sampling == "full" else 1)

        each = [
            min(sum(min(least(v, law.members[k].client) for _, v in law.members[k].visits) for k in c.members)
                for c in law.cohorts)
            for law in laws
        ]  # fmt: skip
        total = sum(each) * rounds // len(each) if each else 0
        asked = self._arithmetic if self._snap is None else Arithmetic.BALL
        limit = (MAX_GRADIENTS if self._stepped else MAX_STEPS)[asked]
        if total > limit and self._stepped:
            raise Unsupported(
                f"{rounds} rounds on '{problem.name}', which is not quadratic, are {total} gradients of samples; "
                f"step by step at most {limit} are carried out in arithmetic '{self._arithmetic.value}'."
            )
        if total > limit:
            raise Unsupported(
                f"{rounds} rounds on '{problem.name}' are {total} gradients; step by step at most "
                f"{limit} are carried out in arithmetic '{asked}'."
            )

    def _require_monotone(self, plan: _Plan, eta: StepSize) -> None:
        """Every step at most 1/L and no other, and the server's factors nonnegative with sum at most 1.

        Raises Unsupported otherwise.
        """
        name, problem = self._method.name, self._problem
        x, total = Atom("server", "x", True), Atom("total", "x")
        done = [(v, compiled) for works in plan.works for _, v, compiled in works]
        further = [is_point for kept, is_point in self._rule.kept_by_server.items() if kept != "x"]
        if not (all(further) and all(_is_plain(step, own) for _, own in done for step in own.steps)):
            raise Unsupported(f"a corrected step of {name} is no monotone map, so that its run cannot be enclosed.")
        if further:
            raise Unsupported(
                f"a step of {name} with momentum is no monotone map, so that its run cannot be enclosed; use "
                "arithmetic = 'rational' or 'float64'."
            )
        smooth = problem.constants().get("L")
        if smooth is None or problem.dim != 1:
            raise Unsupported(f"the problem '{problem.name}' has no L on the line, so its run cannot be enclosed.")
        factor = plan.combined["x"].terms.get(total, Fraction(0))
        moves = {"x": Sent(Vector.of(Atom("moved", self._rule.local[0])))}
        adds = all(compiled.begin == (Vector.of(x),) and compiled.sent == moves for _, compiled in done)
        factors = [[factor * a for a in c.weights[None]] for c in plan.cohorts]
        averages = plan.combined["x"].terms.get(x) == 1 and all(min(f, default=0) >= 0 and sum(f) <= 1 for f in factors)
        if not (adds and averages):
            raise Unsupported(f"the server step of {name} is no averaging, so its run cannot be enclosed.")
        largest = max(eta) if isinstance(eta, tuple) else eta
        largest *= max((v.scale for v, _ in done), default=Fraction(1))
        weight = max((v.prox for v, _ in done), default=Fraction(0))
        if largest * (smooth.value + weight) > 1:
            raise Unsupported(
                f"eta = {largest} exceeds 1/L = {1 / (smooth.value + weight)} of '{problem.name}'"
                f"{f' with the proximal weight {weight}' if weight else ''}, so that a step is no monotone map and its "
                "run cannot be enclosed; use arithmetic = 'rational' or 'float64'."
            )


_ONE_STEP = Visit("full", 1)


def no_solves(problem: Problem) -> Unsupported:
    """Why exact solves are not carried out on a problem that is not quadratic."""
    return Unsupported(
        f"exact solves on '{problem.name}', which is not quadratic, are carried out by Newton's method: in "
        "arithmetic 'float64', on logistic and softmax regression."
    )


def _position(part: Participation, t: int, clients: Clients) -> int:
    """The first round whose cohort is that of round t."""
    first = first_repeated(part, clients)
    return t if t < first else first + (t - first) % part.period(clients)


def _is_plain(step: Step, compiled: Compiled) -> bool:
    """Whether a step goes from a point against the gradient there, and to where the visit began, nowhere else."""
    (after, *others), nodes = step.after, step.nodes
    if others or after.known.terms or len(nodes) != 1 or not nodes[0].drawn or nodes[0].at.nodes:
        return False
    return nodes[0].at.known == compiled.begin[0] and nodes[0].at.moved == ((None, 0),)


class _Histories:
    """Histories, those with the same vectors as one."""

    def __init__(self, arithmetic: Arithmetic, method: Method, problem: Problem) -> None:
        self._arithmetic, self._too_many = arithmetic, lambda what: _too_many(method, problem, arithmetic, what)
        self._alone: _History | None = None  # the first, until there is another
        self._known: dict[Any, _History] = {}

    def found(self) -> list[_History]:
        return list(self._known.values()) if self._alone is None else [self._alone]

    def add(self, new: _History) -> None:
        if not self._known and self._alone is None:
            self._alone = new
            return
        if self._alone is not None:
            first, self._alone = self._alone, None
            self.add_to_others(first)
        self.add_to_others(new)

    def add_to_others(self, new: _History) -> None:
        ball = self._arithmetic is Arithmetic.BALL
        key = (new.holder, *(tuple(map(_cell, p)) if ball else tuple(p.tolist()) for p in new.points()))
        old = self._known.get(key)
        if old is None:
            if len(self._known) >= MAX_HISTORIES:
                raise self._too_many(f"more than {MAX_HISTORIES} different histories")
            self._known[key] = new
            return
        server, clients = new.server, new.clients
        if ball:
            server = {k: _union(v, old.server[k]) for k, v in server.items()}
            clients = {k: _union(v, old.clients[k]) for k, v in clients.items()}
        self._known[key] = _History(old.p + new.p, server, clients, new.holder)


def _union(a: Point, b: Point) -> Point:
    return _array([p.union(q) for p, q in zip(a, b, strict=True)], Arithmetic.BALL)


def _cell(value: arb) -> Any:
    """Which of the cells of half the working precision the middle of a ball lies in."""
    return (value.mid() * arb(2) ** (ctx.prec // 2)).floor().mid().unique_fmpz()


# --- a run between two ends -----------------------------------------------------------------------------------------


def _enclosed(
    method: Method, problem: Problem, grid: Sequence[int], metrics: Sequence[str], progress: Progress
) -> Curve:
    def end(unit: int, rounding: Callable[[Fraction], int]) -> list[Fraction]:
        walk = _Walk(method, problem, Arithmetic.RATIONAL, lambda v: Fraction(rounding(v * unit), unit), stepped=False)
        return [walk.point(h, t)[0] for t, (h,) in walk.rounds(grid, progress)]

    _Walk(method, problem, Arithmetic.RATIONAL, Fraction, stepped=False).refuse(grid[-1])
    if not isinstance(problem, IntervalProblem):
        raise Unsupported(
            f"the problem '{problem.name}' is not quadratic and bounds no metric over an interval, so the exact "
            "engine cannot enclose its run; use arithmetic = 'rational' or 'float64'."
        )
    bits = FIRST_BITS
    while True:
        unit = 1 << bits
        ends = list(zip(end(unit, math.floor), end(unit, math.ceil), strict=True))
        ranges = {k: [problem.metric_range(k, a, b) for a, b in ends] for k in metrics}
        width = max((_width(r) for rs in ranges.values() for r in rs), default=Fraction(0))
        if width <= TOLERANCE or bits >= MAX_BITS:
            break
        bits *= 2
    middle = {k: [nearest_float((a + b) / 2) for a, b in rs] for k, rs in ranges.items()}
    reached = "relative 1e-12" if width <= TOLERANCE else f"relative {nearest_float(width):.3g}"
    return Curve(
        rounds=np.array(grid, dtype=np.int64),
        values={k: np.array(v) for k, v in middle.items()},
        arithmetic=Arithmetic.BALL,
        low={k: np.array([float_down(a) for a, _ in rs]) for k, rs in ranges.items()},
        high={k: np.array([float_up(b) for _, b in rs]) for k, rs in ranges.items()},
        info={"engine": "exact", "bits": bits, "accuracy": reached},
    )


def _width(bounds: tuple[Fraction, Fraction]) -> Fraction:
    low, high = bounds
    if low == high or max(abs(low), abs(high)) < NEGLIGIBLE:
        return Fraction(0)
    return (high - low) / max(abs(low), abs(high))
