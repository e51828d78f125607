"""One round as the formulas of quantities see it (`setting.quantities`), in the moments of the state before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

from flint import fmpq_mat

from boundcheck.engines.exact.cohorts import Law, virtual
from boundcheck.engines.exact.expected import (
    After,
    AfterSquare,
    CohortSum,
    Covariance,
    Form,
    Map,
    Noise,
    Objective,
    Objectives,
    Sum,
    products,
)  # fmt: skip  # isort: skip
from boundcheck.engines.exact.plans import Begun
from boundcheck.engines.exact.rings import Matrix
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.visits import Outcome, Step
from boundcheck.errors import BadInput, BoundcheckError, Unsupported
from boundcheck.methods.parts import StepSize, Visit
from boundcheck.setting.expected_weights import DataKinds

_ZERO, _ONE = Fraction(0), Fraction(1)


class OfARoundError(BoundcheckError):
    """A formula asks for more than the state."""


class Points:
    """The local points of one client in the round, as a quantity sees them.

    p: probability of the visit; q: expected weight of the client in the round; count: number of local steps. member:
    whether the points are vectors of the state; else they are vectors of the inputs of the visit.
    """

    def __init__(
        self, round_: Round, client: int, visit: Visit, *, p: Fraction = _ONE, q: Fraction = _ZERO,
        cohorts: Sequence[tuple[int, Fraction]] | None = None, member: bool = False,
    ) -> None:  # fmt: skip
        self.round, self.client, self.visit, self.p, self.q = round_, client, visit, p, q
        self.count, self._cohorts, self._member = visit.steps, cohorts, member
        self._known: dict[tuple[int, bool], Sum] = {}

    @cached_property
    def begun(self) -> Begun:
        """The visit."""
        now = self.round
        return now.rounds.begun(self.client, self.visit, now.eta, now.index, self._cohorts)

    @cached_property
    def space(self) -> Space:
        """The space of the second moments of its inputs."""
        return self.begun.at(self.round.space)

    @cached_property
    def _run(self) -> tuple[list[Step], Outcome]:
        steps: list[Step] = []
        outcome = self.begun.local.run(self.space, self.client, self.visit, steps)
        return steps, outcome

    @property
    def epochs(self) -> Sequence[int]:
        """The steps with which an epoch begins; 0 for a visit without steps. A whole gradient is an epoch."""
        each = -(-sum(self.begun.local.counts(self.client)) // self.visit.batch)
        return range(0, self.count, 1 if self.visit.sampling == "full" else each) or (0,)

    def point(self, k: int) -> Sum:
        """The point before local step k, counted from 0; for k = K the last one."""
        if self._member:
            self.round.check_steps()
        if (k, False) not in self._known:
            steps, outcome = self._run
            mean = steps[k].mean if k < len(steps) else outcome.mean
            own = Map(self.begun.lift(mean), None, True) if self._member else Map(mean, self, True)
            self._known[k, False] = Sum(self.round.ring, {own: _ONE, **({Noise(self, k): _ONE} if k else {})})
        return self._known[k, False]

    def gradient(self, k: int) -> Sum:
        """The stochastic gradient of local step k."""
        self.round.check_samples(self.visit)
        if (k, True) not in self._known:
            self._known[k, True] = self.round.drawn(self, k, self.point(k))
        return self._known[k, True]

    @property
    def mean_gradient(self) -> Sum:
        """The mean of the stochastic gradients of all steps, (y^0 - y^K)/(eta K)."""
        size = self.round.check_samples(self.visit) * self.visit.scale
        return (self.point(0) - self.point(self.count)) * (1 / (size * self.count))

    def covariance(self, k: int, w: Matrix) -> tuple[Matrix, Matrix | None]:
        """trace(W Cov(y^k)), the covariance given the state: a form in the inputs, and a functional beside it."""
        (steps, outcome), ring, wide = self._run, self.round.ring, self.begun.local.wide
        step = steps[k] if k < len(steps) else Step(k, outcome.mean, outcome.gamma)
        if step.second is not None:
            known = ring.mul(ring.mul(step.mean.transpose(), w), step.mean)
            return known * ring.scalar(-_ONE), self.space.trace(w, step.second)
        if k >= len(steps) and outcome.covariance is not None:
            return ring.zeros(wide, wide), self.space.trace(w, outcome.covariance)
        return self.round.constant(ring.scalar(_ZERO) if step.gamma is None else ring.dot(w, step.gamma), wide), None


class Round:
    """A round as a quantity sees it. Vectors and expected values can be added, subtracted, multiplied by fractions.

    before: the server's point. objective: F; weights: of the clients in it. eta, index: step size and number of the
    round. space: of the second moments before it; None where a formula may ask for the state alone.

    Raises Unsupported where a formula asks for local points of clients whose numbers of local steps differ or are
    random, that solve subproblems or correct gradients, and for stochastic gradients of steps that change in size or
    whose samples are not drawn independently.
    """

    name = argument = ""

    def __init__(self, known: Objectives, space: Space | None, eta: StepSize, index: int) -> None:
        self.known, self.rounds, self.ring, self.exact = known, known.rounds, known.ring, known.exact
        self._space, self.eta, self.index = space, eta, index
        self.method, self.clients = known.rounds.method, known.exact.clients
        self.weights, self.dim, self.objective = self.exact.weights, self.exact.layout.d, known.objective
        self.mixture = known.mixture
        self._pick = self.ring.lift(self.exact.layout.block(0))
        self.before = self._vector(self._pick, point=True)

    @property
    def data_kinds(self) -> DataKinds:
        """Which clients have the same objective."""
        return self.known.data_kinds

    def named(self, name: str) -> Round:
        """The round for the formula of this metric; argument: the text after the colon."""
        self.name, (_, _, self.argument) = name, name.partition(":")
        return self

    @property
    def space(self) -> Space:
        """The space of the second moments before the round."""
        self._ask_for_round()
        assert self._space is not None
        return self._space

    def _ask_for_round(self) -> None:
        if self._space is None:
            raise OfARoundError

    # --- vectors ----------------------------------------------------------------------------------------------------

    def _vector(self, mean: Matrix, *, point: bool = False) -> Sum:
        return Sum(self.ring, {Map(mean, None, point): _ONE})

    @property
    def origin(self) -> Sum:
        """The point 0."""
        return self._vector(self.ring.mul(self.ring.lift(-self.exact.centre), self._one(None)), point=True)

    @cached_property
    def _second(self) -> tuple[Matrix, Matrix]:
        """The mean map of the server's point after the round, and the second moments there."""
        plan = (self.space, self.rounds.plan(self.eta, self.index))
        return self.ring.mul(self._pick, plan[1].mean), self.rounds.second(*plan)

    @cached_property
    def after(self) -> Sum:
        """The server's point after the round."""
        return Sum(self.ring, {After(self._second[0]): _ONE})

    @property
    def round_objective(self) -> Objective:
        """Sum of q_i f_i."""
        place = self.rounds.position(self.index)
        what = f"the sum of the clients' objectives with round {place}'s mean weights"
        return self.mixture(self.expected, what)

    def minimiser(self, objective: Objective) -> Sum:
        """The minimiser that is nearest to the start. Raises Unsupported if there is none."""
        return self._vector(self.ring.mul(self.known.lowest(objective), self._one(None)), point=True)

    def slope(self, objective: Objective, vector: Sum) -> Sum:
        """The gradient of the objective at a point."""
        if vector.points != 1:
            raise Unsupported(f"the formula of '{self.name}' asks for the gradient at a vector that is no point.")
        offset = Map(self.ring.mul(self.ring.lift(objective.o), self._one(vector.home)), vector.home)
        return Sum(self.ring, {**self._mapped(objective, vector), offset: Fraction(-1)})

    def _mapped(self, objective: Objective, vector: Sum) -> dict[Any, Fraction]:
        """The Hessian of an objective times a vector."""
        a, found = self.known.weight((objective,)), dict[Any, Fraction]()
        for term, c in vector.terms.items():
            if isinstance(term, CohortSum):
                term = CohortSum(term.law, [Sum(self.ring, self._mapped(objective, p)) for p in term.parts])
            elif isinstance(term, Map):
                term = Map(self.ring.mul(a, term.mean), term.home)
            elif isinstance(term, Noise) and term.tag is None:
                term = Noise(term.points, term.step, term.at, objective)
            else:
                raise Unsupported("the exact engine has no gradients at gradients, nor at the point after the round.")
            found[term] = c
        return found

    def drawn(self, points: Points, step: int, vector: Sum) -> Sum:
        """The stochastic gradient of a client at a point, with the samples of a step."""
        slope = self.slope(self.mixture({points.client: _ONE}), vector)
        return Sum(self.ring, {**slope.terms, Noise(points, step, vector): _ONE})

    def cohort_sum(self, vector: Callable[[Points], Sum]) -> Sum:
        """The sum over the cohort drawn of the clients' weights times their vectors."""
        parts = [vector(m) for m in self.members]
        if any(p.parts(After) or p.parts(CohortSum) for p in parts):
            raise Unsupported("the exact engine has no sums over the cohort of what rests on the whole cohort.")
        self._refuse_points(*parts)
        return Sum(self.ring, {CohortSum(self._law, parts): _ONE} if parts else {})

    def _refuse_points(self, *vectors: Sum) -> None:
        """Raise Unsupported for vectors that are no differences, as points are known less c."""
        if any(v.points for v in vectors):
            raise Unsupported(
                f"the formula of '{self.name}' uses a point as a vector; take its difference to a point, such as "
                "`r.origin`."
            )

    def possible(self, function: Callable[[Any], Any]) -> list[tuple[Fraction, Sum]]:
        """The vectors, with their probabilities, that a function of what the server keeps can give in the round."""
        self._ask_for_round()
        return [(p, self._vector(m)) for p, m in self.rounds.seen(function, self.eta, self.index)]

    def kept(self, weights: Sequence[Fraction], coordinates: Sequence[int]) -> list[tuple[Fraction, Sum]]:
        """Coordinates of what clients keep, with weights that sum to 1, equal where clients are alike or drawn."""
        layout, reduced, d = self.exact.layout, self.exact.reduced, self.dim
        keys = [key for key in layout.keys if key[0] == "client"]
        if reduced.alike or reduced.holders is not None:
            weights = [Fraction(1, len(keys))] * len(keys)
        chosen = fmpq_mat(d, d)
        for k in coordinates:
            chosen[k, k] = 1
        picked = [self.ring.lift(chosen * layout.block(layout.place(key))) for key in keys]
        flags = [self.rounds.rule.kept_by_clients[key[1]] for key in keys]
        return [(w, self._vector(m, point=flag)) for w, m, flag in zip(weights, picked, flags, strict=True)]

    # --- values -----------------------------------------------------------------------------------------------------

    def number(self, value: Fraction) -> Sum:
        """A value that is known."""
        return Sum(self.ring, {Form(self.constant(self.ring.scalar(value), self.exact.layout.size)): _ONE})

    def square(self, vector: Sum) -> Sum:
        """E|vector|^2."""
        return self.inner(vector, vector)

    def inner(self, left: Sum, right: Sum, f: Objective | None = None) -> Sum:
        """E<left, right>, or E<left, A right> with the Hessian of an objective."""
        self._refuse_points(left, right)
        ring, home, mean = self.ring, left.home, right.mean
        mean = mean if f is None else ring.mul(self.known.weight((f,)), mean)
        found: dict[Any, Fraction] = {Form(ring.mul(left.mean.transpose(), mean), home): _ONE}
        for term, c in products(left, right, f):
            found[term] = found.get(term, _ZERO) + c
        both = sum((c * d for _, c in left.parts(After) for _, d in right.parts(After)), _ZERO)
        if both:  # the square of its mean is in the first form
            moved, weight = self._second[0], self.known.weight(() if f is None else (f,))
            known = Form(ring.mul(ring.mul(moved.transpose(), weight), moved))
            found |= {AfterSquare(weight): both, known: -both}
        return Sum(ring, found)

    def excess(self, objective: Objective, vector: Sum) -> Sum:
        """E of the objective at a point, less its minimum."""
        away = vector - self.minimiser(objective)
        return self.inner(away, away, objective) * Fraction(1, 2)

    def grad2(self, objective: Objective, vector: Sum) -> Sum:
        """E of the squared norm of the gradient at a point."""
        return self.square(self.slope(objective, vector))

    def noisy_gradient2(self, points: Points, vector: Sum) -> Sum:
        """E of the squared norm of a client's stochastic gradient at a point that is not random."""
        if any(not isinstance(term, Map) for term in vector.terms):
            raise Unsupported("the exact engine has stochastic gradients at local points and at points that are known.")
        return self.square(self.drawn(points, points.count, vector))

    def sum(self, parts: Iterable[Sum]) -> Sum:
        """The sum of vectors, or of values; no part: 0."""
        return reduce(Sum.include, parts, Sum(self.ring, {}))

    def form(self, value: Any) -> Matrix:
        """A value that rests on the state alone, as a form in it."""
        return self.ring.sum([q * self.ring.scalar(c) for _, q, _, c in self._read(value)])

    def functional(self, value: Any) -> Matrix:
        """A value as a functional of the second moments."""
        ring, size, found = self.ring, self.exact.layout.size, list[Matrix]()
        forms: dict[Any, dict[Fraction, list[Matrix]]] = {None: {_ONE: [ring.zeros(size, size)]}}
        for home, q, f, c in self._read(value):
            forms.setdefault(home, {}).setdefault(c, []).extend([] if q is None else [q])
            found += [] if f is None else [f * ring.scalar(c)]
        for home, own in forms.items():
            sums = [ring.sum(each) * ring.scalar(c) for c, each in own.items() if each]
            found += [(home or self).space.form(ring.sum(sums))] if sums else []
        return ring.sum(found)

    def _read(self, value: Any) -> Iterator[tuple[Points | None, Matrix | None, Matrix | None, Fraction]]:
        """Forms in the state or in the inputs of a visit, functionals, and factors, whose sum a value is."""
        known = isinstance(value, Sum) and all(isinstance(t, (Form, Covariance, AfterSquare)) for t in value.terms)
        if not known:
            raise BadInput(f"the formula of the metric '{self.name}' gives no expected value.")
        for term, c in value.terms.items():
            if not c:
                continue
            if isinstance(term, Form):
                yield term.home, term.q, None, c
            elif isinstance(term, AfterSquare):
                picked = self.ring.mul(self.ring.mul(self._pick.transpose(), term.weight), self._pick)
                yield None, None, self.space.trace(picked, self._second[1]), c
            elif isinstance(term.left, CohortSum):
                yield None, term.left.covariance(term.right, self.known.weight(term.words)), None, c
            elif term.left.at is None:
                yield term.left.points, *term.left.points.covariance(term.left.step, self.known.weight(term.words)), c
            else:
                assert not term.words, "a map of the samples of a gradient"
                yield from ((home, q, f, c) for home, q, f in self._of_samples(term.left.points, term.left.at))

    def _of_samples(self, points: Points, vector: Sum) -> Iterator[tuple[Points | None, Matrix, Matrix | None]]:
        """The variance of a client's stochastic gradient at a point."""
        ring, mean = self.ring, vector.mean
        w, v, c = self.known.sample_noise(points.client, points.visit.batch)
        linear = ring.mul(ring.mul(v.transpose(), mean).transpose(), self._one(None))
        form = ring.mul(ring.mul(mean.transpose(), w), mean) - linear - linear.transpose()
        yield None, form + self.constant(ring.number(c), self.exact.layout.size), None
        for noise, _ in vector.parts(Noise):
            yield noise.points, *noise.points.covariance(noise.step, w)

    def constant(self, value: Any, size: int) -> Matrix:
        """The form that is `value` times the square of the constant coordinate."""
        form = self.ring.zeros(size, size)
        form[size - 1, size - 1] = value
        return form

    def _one(self, home: Points | None) -> Matrix:
        """The row that picks the constant coordinate, of the state or of a visit's inputs."""
        row = self.ring.zeros(1, self.exact.layout.size if home is None else home.begun.local.wide)
        row[0, self.ring.shape(row)[1] - 1] = self.ring.scalar(_ONE)
        return row

    # --- who takes part, and what clients do ------------------------------------------------------------------------

    @cached_property
    def _law(self) -> Law:
        self._ask_for_round()
        return self.rounds.law(self.rounds.position(self.index))

    @cached_property
    def _by_cohort(self) -> Law:
        """The law of the cohort, cohort by cohort."""
        return self._law if self._law.cohorts else self.rounds.law(self.rounds.position(self.index), one_by_one=True)

    @cached_property
    def members(self) -> list[Points]:
        """The clients that can take part."""
        law = zip(self._law.members, self._law.mean, strict=True)
        return [Points(self, m.client, m.visits[0][1], q=q, member=True) for m, q in law]

    @cached_property
    def expected(self) -> dict[int, Fraction]:
        """q_i, of the clients where it is not 0."""
        found: dict[int, Fraction] = {}
        for m in self.members:
            found[m.client] = found.get(m.client, _ZERO) + m.q
        return {i: q for i, q in found.items() if q}

    @cached_property
    def total(self) -> Fraction:
        """The sum of the q_i."""
        return sum(self.expected.values(), _ZERO)

    @cached_property
    def everyone(self) -> list[Points]:
        """The visits of every client, in the cohort or not, with their probabilities."""
        found, rounds = list[Points](), self.rounds
        self._ask_for_round()
        cohorts = self._by_cohort.cohorts if rounds.rule.collecting == "same" else ()
        for member, places, p in virtual(self.method, rounds.position(self.index), self.clients):
            own = [(k, c.p) for k, c in enumerate(cohorts) if places is None or k in places] or [(0, p)]
            found += [Points(self, member.client, visit, p=q, cohorts=own) for q, visit in member.visits]
        return found

    @cached_property
    def chosen(self) -> list[Points]:
        """The visits of a client drawn uniformly from the cohort, with their probabilities."""
        law = self._by_cohort
        shares: list[list[tuple[int, Fraction]]] = [[] for _ in law.members]
        for k, cohort in enumerate(law.cohorts):
            for v in cohort.members:
                shares[v].append((k, cohort.p / len(cohort.members)))
        each = zip(law.members, shares, strict=True)
        return [Points(self, m.client, visit, p=q, cohorts=own) for m, own in each for q, visit in m.visits]

    @property
    def idle(self) -> Fraction:
        """The probability that the cohort is empty."""
        return sum((c.p for c in self._by_cohort.cohorts if not c.members), _ZERO)

    @cached_property
    def _irregular(self) -> str | None:
        """Why the members have no local points that belong together."""
        visits = [visit for member in self._law.members for _, visit in member.visits]
        if any(len(member.visits) > 1 for member in self._law.members) or len({v.steps for v in visits}) > 1:
            return "takes numbers of local steps that differ or are random"
        if self.method.correction is not None:
            return "corrects gradients"
        return "solves subproblems" if any(v.sampling == "exact" for v in visits) else None

    def check_steps(self) -> None:
        """Raise Unsupported where the members do not take K local steps each."""
        name, why = self.method.name, self._irregular
        if why is not None:
            raise Unsupported(f"{name} {why}, so that it has no virtual models and no metric '{self.name}'.")

    @property
    def steps(self) -> int:
        """K, the number of local steps of each member; 1 where nobody takes part."""
        self.check_steps()
        return max((m.count for m in self.members), default=1) or 1

    def check_samples(self, visit: Visit) -> Fraction:
        """The size of all local steps. Raises Unsupported where their samples are not drawn independently."""
        self.check_steps()
        if isinstance(self.eta, tuple) or self.method.server.averages_models:
            raise Unsupported(f"{self.method.name} has no steps of one size, and so no metric '{self.name}'.")
        if visit.sampling not in ("full", "replacement") or visit.prox:
            raise Unsupported(f"{self.method.name} draws no independent samples: no metric '{self.name}'.")
        return self.eta
