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

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.cohorts import Cohort, Law, Member, law_of, law_of_collected, weights_of
from boundcheck.engines.exact.paths_histories import Histories, History
from boundcheck.engines.exact.paths_quantities import OutcomeRound
from boundcheck.engines.exact.paths_visits import (
    MAX_GRADIENTS,
    MAX_HISTORIES,
    Atoms,
    Compiled,
    Data,
    Ended,
    Point,
    Reader,
    Values,
    is_stepped,
    total,
    unrolled,
    walked,
)  # fmt: skip
from boundcheck.engines.exact.results import Columns
from boundcheck.engines.exact.rings import MAX_DIGITS
from boundcheck.engines.summaries import LEAST_OF
from boundcheck.errors import Unsupported
from boundcheck.methods.formal import Vector
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize, Visit, first_repeated, position
from boundcheck.methods.reading import Reading
from boundcheck.problems.problem import Arrays, Problem, clients_of, flat_arrays, optional
from boundcheck.setting.metrics import is_round_metric, measured
from boundcheck.setting.step_sizes import run_steps

# Gradients of one run on a problem that has those of its clients alone, of the centre or of each end of an interval.
MAX_STEPS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 20_000_000,
    Arithmetic.BALL: 1_000_000,
    Arithmetic.RATIONAL: 100_000,
}
NEWTON = 100  # gradients for which an exact solve is counted
KEPT = 4096  # rounds that are kept as they were read

Progress = Callable[[float], None]
Snap = Callable[[Fraction], Fraction]
Weights = Mapping[Any, Fraction]  # of what a client sends, by the rule by which it is summed
Seen = Mapping[str, list[tuple[Fraction, Any]]]  # values of metrics with their probabilities
_ONE_STEP = Visit("full", 1)


@dataclass(frozen=True)
class Plan:
    """What a round does whatever its step size. collecting: the cohorts that collect apart from those that work."""

    number: Mapping[str, Any]
    members: Sequence[Member]
    cohorts: Sequence[Cohort]
    combined: Mapping[str, Vector]
    collecting: Sequence[tuple[Fraction, Sequence[tuple[int, Weights]]]]

    def works(self, reader: Reader, eta: StepSize) -> list[list[tuple[Fraction, Visit, Compiled]]]:
        """Of each member its visits with their probabilities."""
        return [[(p, v, reader.compiled(m.client, v, self.number, eta)) for p, v in m.visits] for m in self.members]


class Walk:
    """The rounds of a run in one arithmetic; snap rounds every new coordinate, `checked` looks at every new plan.

    inexactness: None without exact solves, else the largest gamma of Definition 1 of FedDANE of all of them,
    |w - v| <= gamma |v - x| with v the solution: |w - v| is at most |grad P(w)|/m, P the subproblem and m its strong
    convexity (in double precision).
    """

    def __init__(
        self, method: Method, problem: Problem, arithmetic: Arithmetic, *, stepped: bool = True,
        snap: Snap | None = None, checked: Callable[[Plan, StepSize, Any], None] | None = None,
    ) -> None:  # fmt: skip
        self._method, self._problem, self._snap, self._look = method, problem, snap, checked
        self._rule, self._clients = method.rule, clients_of(problem)
        self._sizes = run_steps(method, self._clients)
        stepped = stepped and is_stepped(problem, arithmetic)
        if not stepped and method.is_random(self._clients):
            raise Unsupported(
                f"the problem '{problem.name}' is not quadratic, so the exact engine has no expectation over the "
                f"random choices of {method.name}; use engine = 'sampled'."
            )
        self._rule.check(method.name, method.participation, self._clients)
        self._data = Data(problem, arithmetic, method, stepped=stepped)
        self._reading = Reading(self._rule, self._clients, method.server.factor, method.name)
        self._reading.check(problem.dim)
        self._reading.check_functions(problem.dim)
        self._reader = Reader(self._reading)
        self._holders = self._rule.holders(method.name, self._clients, problem.dim)
        self._laws: dict[Any, Law] = {}
        self._plans: dict[Any, Plan] = {}
        self._works: dict[Any, list[list[tuple[Fraction, Visit, Compiled]]]] = {}
        self._done = 0
        self._least: Mapping[str, str] = {}
        self.inexactness: float | None = None

    def measured(self, grid: Sequence[int], metrics: Sequence[str], progress: Progress) -> Columns:
        """The metrics at each round of the grid; "least gap" is that of each history so far."""
        found: dict[str, list[Any]] = {name: [] for name in metrics}
        own = self._problem.metrics
        self._least = {k: k.removeprefix(LEAST_OF) for k in metrics if k.startswith(LEAST_OF) and k not in own}
        for done, histories in self.rounds(grid, progress):
            seen: dict[str, list[tuple[Fraction, Any]]] = {name: [] for name in metrics if is_round_metric(name)}
            if seen:  # a round from here on, which is not kept
                self._round(histories, done, seen)
            points = [(h.p, h.server["x"]) for h in histories]
            for name, own in found.items():
                if name in self._least:
                    values = [(h.p, h.server[name][0]) for h in histories]
                else:
                    values = seen[name] if name in seen else [(p, self._data.metric(name, x)) for p, x in points]
                own.append(self._mean(values))
        return found

    def _mean(self, terms: Sequence[tuple[Fraction, Any]]) -> Any:
        own = [value if p == 1 else self._data.number(p) * value for p, value in terms]
        return sum(own[1:], own[0])

    def rounds(self, grid: Sequence[int], progress: Progress) -> Iterator[tuple[int, Sequence[History]]]:
        """The histories at each round of the grid."""
        self.refuse(grid[-1])
        histories, done = self._begun(), 0
        for target in grid:
            while done < target:
                histories = self._round(histories, done, {})
                done += 1
                if len(histories) > 1 or done % 1000 == 0:
                    progress(done / grid[-1])
            yield done, histories

    def _begun(self) -> list[History]:
        """The histories at the start: what is drawn there is who holds models, and gradients of drawn clients."""
        rule, reading, data, n = self._rule, self._reading, self._data, self._clients.count
        values = Values(data, {}, {})
        first = [reading.initial_client(i) for i in range(n)] if rule.kept_by_clients else []
        clients = {
            (name, i): values.at(own[name], i, {}) for name in rule.kept_by_clients for i, own in enumerate(first)
        }
        values = Values(data, {}, clients)
        drawn, initial = rule.drawn_at_first(reading.at(0)), reading.initial()
        found = [(Fraction(1), {name: values.at(v, None, {}) for name, v in initial.items()})]
        for name, (vector, count) in drawn.items():
            if math.comb(n + count - 1, count) > MAX_HISTORIES:
                raise data.too_many(f"more than {MAX_HISTORIES} different histories")
            each = [values.at(vector, i, {}) * data.number(Fraction(1, count)) for i in range(n)]
            means: list[tuple[Fraction, Point]] = []
            for own in itertools.combinations_with_replacement(range(n), count):
                ways = math.factorial(count) // math.prod(math.factorial(own.count(i)) for i in set(own))
                p = math.prod((self._clients.weights[i] for i in own), start=Fraction(ways))
                means.append((p, total(each[i] for i in own)))
            found = [(p * q, {**kept, name: mean}) for p, kept in found for q, mean in means if q]
        ways = len(self._holders or (0,))
        found = [(p, {**server, **self._lowered(server["x"], {})}) for p, server in found]
        return [History(p / ways, server, clients, k) for p, server in found for k in range(ways)]

    def _lowered(self, x: Point, before: Mapping[str, Point]) -> dict[str, Point]:
        """The least values so far of the metrics of which they are followed, at a further point."""
        found: dict[str, Point] = {}
        for key, name in self._least.items():
            value = self._data.metric(name, x)
            if key in before:
                old = before[key][0]
                value = old.min(value) if self._data.arithmetic is Arithmetic.BALL else min(old, value)
            found[key] = self._data.array([value])
        return found

    # --- what a round does ------------------------------------------------------------------------------------------

    def _law(self, t: int, rules: Sequence[Any] = ()) -> Law:
        key = (position(self._method.participation, t, self._clients), tuple(rules))
        if key not in self._laws:
            self._laws[key] = law_of(self._method, key[0], self._clients, one_by_one=True, rules=rules)
        return self._laws[key]

    def _planned(self, t: int, number: Mapping[str, Any], eta: StepSize, holder: int) -> tuple[Plan, Any]:
        """The plan of round t, and what its members do."""
        own = self._rule.collecting
        place = position(self._method.participation, t, self._clients)
        apart = 0 if own is None or own == "same" else position(own, t, self._clients)
        key = (place, apart, tuple(number.items()), holder)
        if key not in self._plans:
            if len(self._plans) >= KEPT:
                self._plans.clear()
            self._plans[key] = self._plan(t, number, holder)
        plan = self._plans[key]
        if (key, eta) not in self._works:
            if len(self._works) >= KEPT:
                self._works.clear()
            self._works[key, eta] = plan.works(self._reader, eta)
            if self._look is not None:
                self._look(plan, eta, self._works[key, eta])
        return plan, self._works[key, eta]

    def _plan(self, t: int, number: Mapping[str, Any], holder: int) -> Plan:
        method, reading, clients, own = self._method, self._reading, self._clients, self._rule.collecting
        sent, _ = reading.after(0, number, _ONE_STEP, reading.begin(0, number)[0], Fraction(1))
        collected = reading.collect(0, number)
        asked = [s.rule for s in (*sent.values(), *(collected.values() if own == "same" else ())) if s.rule is not None]
        rules = tuple(dict.fromkeys(asked))
        if self._holders is not None:
            held = self._holders[holder]
            members: Sequence[Member] = [Member(i, method.local.visits(i, held, clients)) for i in held]
            weights = {rule: weights_of(rule, method, held, clients) for rule in rules}
            cohorts = (Cohort(Fraction(1), range(len(held)), {None: [Fraction(1)] * len(held), **weights}),)
        else:
            law = self._law(t, rules)
            members, cohorts = law.members, law.cohorts
        apart: list[tuple[Fraction, Sequence[tuple[int, Weights]]]] = [(Fraction(1), ())]
        if own is not None and own != "same":
            law = law_of_collected(method, own, collected.values(), t, clients, one_by_one=True)
            (rule,) = {s.rule for s in collected.values()}
            apart = [
                (c.p, [(law.members[v].client, {rule: a}) for v, a in zip(c.members, c.weights[None], strict=True)])
                for c in law.cohorts
            ]
        return Plan(number, members, cohorts, reading.combine(number), apart)

    # --- one round --------------------------------------------------------------------------------------------------

    def _round(self, histories: Sequence[History], done: int, seen: Seen) -> list[History]:
        """The histories after round `done`; seen: to which its metrics are added."""
        eta, numbers, self._done = self._sizes.of_round(done), self._rule.numbers(done, self._problem.dim), done
        after = Histories(self._data)
        for q, more in self._rule.drawn(done):
            number = {**numbers, **more} if more else numbers
            for history in histories:
                plan, works = self._planned(done, number, eta, history.holder)
                own = history if q == 1 else replace(history, p=history.p * q)
                for found in self._outcomes(own, plan, works, seen):
                    for new in self._handed(found) if number.get("handed") else (found,):
                        after.add(new)
        return after.found()

    def _handed(self, history: History) -> Iterator[History]:
        """The history with its models handed to others, in their order."""
        assert self._holders is not None
        for k, holders in enumerate(self._holders):
            before = dict(zip(holders, self._holders[history.holder], strict=True))
            clients = {
                (n, i): history.clients[n, before[i]] if i in before else self._data.zero() for n, i in history.clients
            }
            yield History(history.p / len(self._holders), history.server, clients, k)

    def _outcomes(self, history: History, plan: Plan, works: Any, seen: Seen) -> Iterator[History]:
        values, known = Values(self._data, history.server, history.clients), dict[Any, Sequence[Ended]]()
        same = self._rule.collecting == "same"
        for kind, (q, apart) in enumerate(plan.collecting):
            collected = self._sums(values, plan, apart)
            for place, cohort in enumerate(plan.cohorts):
                if same:
                    each = [{r: w[k] for r, w in cohort.weights.items()} for k in range(len(cohort.members))]
                    members = [plan.members[v].client for v in cohort.members]
                    collected = self._sums(values, plan, list(zip(members, each, strict=True)))
                found: list[Sequence[Ended]] = []
                for v in cohort.members:
                    key = (v, kind, place) if any(own.collects for _, _, own in works[v]) else v
                    if key not in known:
                        known[key] = self._ended(values, plan.members[v].client, works[v], collected, way=bool(seen))
                    found.append(known[key])
                for outcome in itertools.product(*found):
                    p = math.prod((end.p for end in outcome if end.p != 1), start=history.p * cohort.p * q)
                    yield self._after(history, values, plan, cohort, collected, outcome, p, seen)

    def _sums(self, values: Values, plan: Plan, shares: Sequence[tuple[int, Weights]]) -> Atoms:
        """What clients send before the local work, summed; shares: whose, with their weights."""
        found: Atoms = {}
        for client, weights in shares:
            for name, s in self._reading.collect(client, plan.number).items():
                self._add(found, ("collected", name), values.of(s.vector, client, {}), weights[s.rule])
        return found

    def _add(self, sums: Atoms, key: tuple[str, str], own: Point | None, share: Fraction) -> None:
        if own is not None and share:
            own, old = own if share == 1 else own * self._data.number(share), sums.get(key)
            sums[key] = own if old is None else old + own

    def _ended(self, values: Values, client: int, works: Any, collected: Atoms, *, way: bool) -> Sequence[Ended]:
        """Every outcome of what a member does."""
        found: list[Ended] = []
        for p, visit, own in works:
            begin = values.of(own.begin[0], client, collected)
            if own.solve is not None:
                ends: Sequence[Any] = [(Fraction(1), (self._solve(values, client, own, collected),), None)]
            else:
                ends = walked(values, client, visit, own, collected, lambda m, b=begin: self._checked(b, m), way=way)
            for q, moved, before in ends:
                names = zip(self._rule.local, moved, strict=True)
                atoms = {**collected, **{("moved", name): v for name, v in names}}
                sent = {name: values.of(s.vector, client, atoms) for name, s in own.sent.items()}
                kept = {name: values.at(v, client, atoms) for name, v in own.kept.items()}
                found.append(Ended(p if q == 1 else p * q, visit, own, sent, kept, unrolled(before)))
        return found

    def _after(
        self, history: History, values: Values, plan: Plan, cohort: Cohort, collected: Atoms,
        outcome: Sequence[Ended], p: Fraction, seen: Seen,
    ) -> History:  # fmt: skip
        """The history after one outcome of a round."""
        atoms, clients = dict(collected), dict(history.clients)
        members = [plan.members[v].client for v in cohort.members]
        for k, (client, end) in enumerate(zip(members, outcome, strict=True)):
            for name, own in end.sent.items():
                rule = end.compiled.sent[name].rule
                share = cohort.weights[rule][k]
                if rule is None and end.visit.weight != 1:
                    share = share * end.visit.weight
                self._add(atoms, ("total", name), own, share)
            clients.update({(name, client): own for name, own in end.kept.items()})
        server = {name: values.at(v, None, atoms) for name, v in plan.combined.items()}
        if self._snap is not None:
            server = {name: self._data.array([self._snap(v) for v in own]) for name, own in server.items()}
        if self._least:
            server |= self._lowered(server["x"], history.server)
        for name, found in seen.items():
            own = (values.at(end.compiled.begin[0], i, atoms) for i, end in zip(members, outcome, strict=True))
            round_ = OutcomeRound(
                name, self._data, values.server["x"], server["x"], list(own), outcome, cohort.weights[None],
                everyone=len(plan.cohorts) == 1,
            )  # fmt: skip
            found.append((p, round_.number_of(measured(name, round_))))
        if self._rule.receives:
            new = Values(self._data, server, dict(clients))
            for client in members:
                received = self._reading.receive(client, plan.number)
                clients |= {(name, client): new.at(v, client, atoms) for name, v in received.items()}
        return History(p, server, clients, history.holder)

    def _checked(self, begin: Point | None, moved: Point) -> Point:
        """How far a local model is from where it began: rounded with the snap, or small enough to go on."""
        if self._snap is not None:
            assert begin is not None, "a run between two ends begins at the server's point"
            return self._data.array([self._snap(v) for v in begin + moved]) - begin
        exact = self._data.arithmetic is Arithmetic.RATIONAL
        if exact and max(v.denominator.bit_length() for v in moved) > 3.33 * MAX_DIGITS:
            raise Unsupported(
                f"exact rational arithmetic met numbers of more than {MAX_DIGITS} digits after {self._done} rounds on "
                f"'{self._problem.name}'; use fewer rounds or another arithmetic."
            )
        return moved

    def _solve(self, values: Values, client: int, compiled: Compiled, collected: Atoms) -> Point:
        from boundcheck.engines.simulate.solves import newton

        arrays, solve, exact = _linear_scores(self._problem), compiled.solve, optional(self._problem, "proximal")
        assert solve is not None
        centre, shift = values.at(solve.centre, client, collected), values.at(solve.shift, client, collected)
        if exact is not None:
            own = exact(client, centre, shift, solve.mu)
            return self._data.array(own) - values.at(compiled.begin[0], client, collected)
        assert arrays is not None
        prox = float(solve.mu)
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
        kinds = [v for m in self._law(0).members for _, v in m.visits]
        if any(v.sampling == "exact" for v in kinds) and optional(problem, "proximal") is None:
            if self._data.stepped or self._data.arithmetic is not Arithmetic.FLOAT64 or _linear_scores(problem) is None:
                raise no_solves(problem)
            self.inexactness = 0.0
        if not self._data.stepped and any(v.sampling not in ("full", "exact") for v in kinds):
            raise Unsupported(f"the local steps of {method.name} use samples; this problem has whole gradients only.")
        own = method.participation
        laws = [self._law(t) for t in range(min(rounds, first_repeated(own, clients) + own.period(clients)))]

        def least(v: Visit, client: int) -> int:
            if v.sampling == "exact":
                return NEWTON
            return v.steps * (clients.sizes[client] if self._data.stepped and v.sampling == "full" else 1)

        each = [
            min(sum(min(least(v, law.members[k].client) for _, v in law.members[k].visits) for k in c.members)
                for c in law.cohorts)
            for law in laws
        ]  # fmt: skip
        total = sum(each) * rounds // len(each) if each else 0
        asked = self._data.arithmetic if self._snap is None else Arithmetic.BALL
        limit = (MAX_GRADIENTS if self._data.stepped else MAX_STEPS)[asked]
        if total > limit and self._data.stepped:
            raise Unsupported(
                f"{rounds} rounds on '{problem.name}', which is not quadratic, are {total} gradients of samples; "
                f"step by step at most {limit} are carried out in arithmetic '{self._data.arithmetic.value}'."
            )
        if total > limit:
            raise Unsupported(
                f"{rounds} rounds on '{problem.name}' are {total} gradients; step by step at most "
                f"{limit} are carried out in arithmetic '{asked}'."
            )


def no_solves(problem: Problem) -> Unsupported:
    """Why exact solves are not carried out on a problem that is not quadratic."""
    return Unsupported(
        f"exact solves on '{problem.name}', which is not quadratic, are carried out by Newton's method: in "
        "arithmetic 'float64', on logistic and softmax regression."
    )


def _linear_scores(problem: Problem) -> Arrays | None:
    """The data of logistic or softmax regression, else None."""
    from boundcheck.engines.simulate.solves import LINEAR

    arrays = flat_arrays(problem)
    return arrays if arrays is not None and arrays.kind in LINEAR else None
