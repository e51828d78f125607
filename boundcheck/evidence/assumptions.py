"""An instance against the defining inequality of an assumption.

A problem that can decide a shipped assumption exactly answers first, as far as the constants are its own or on the safe
side of them. Otherwise the inequality is evaluated at many points: random ones, ones along the extreme directions of
the Hessians (finite differences), and ones that a local search in double precision found worst. Points are short
fractions and the evaluation is exact, so that a violation is a proof; finding none is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from boundcheck.core.numbers import as_fraction, format_exact, format_short, simplest_between
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.given import is_library
from boundcheck.problems.problem import LocatedProblem, ValuedProblem
from boundcheck.theory.assumptions import QUANTITIES, Assumption
from boundcheck.theory.decide import sign
from boundcheck.theory.scope import difference
from boundcheck.verdict import Grade, Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.constants.constant import Constant
    from boundcheck.problems.problem import Problem

__all__ = ["check_assumption", "covers"]

_PAIRED = {"grad_difference2", "point_difference2", "monotonicity"}  # quantities of two points (and a client)
_SEARCHES = 3  # local searches, from the worst trials
_STEPS = 120  # of each
_POOL = 10  # random trials in double precision for each exact one
_REFINED = 6  # worst trials that are rounded in several ways


def covers(assumption: Assumption, own: Mapping[str, Constant], values: Mapping[str, Fraction]) -> bool:
    """Whether an assumption that holds with the constants `own` holds with `values` too.

    It does where they are equal, or where the inequality says that a value on that side is weaker (a smaller mu, a
    larger L).
    """
    if assumption.inequality is None:
        return is_library(assumption)  # what an unknown hypothesis says of other values is unknown
    slack = difference(assumption.inequality)
    for symbol in slack.free_symbols:
        name = symbol.name
        if name in QUANTITIES:
            continue
        if name not in own or name not in values:
            return False
        rise = _direction(slack, symbol)
        moved = values[name] - own[name].value
        if moved and (rise is None or (moved > 0) != (rise > 0)):
            return False
    return True


def _direction(slack: Any, symbol: Any) -> int | None:
    """1 where a larger value of the symbol makes the slack larger, -1 where smaller, None where that depends."""
    signed = {"inner", "monotonicity"}  # all other quantities and constants are non-negative
    table = {s: sp.Dummy(s.name, real=True, nonnegative=None if s.name in signed else True) for s in slack.free_symbols}
    slope = sp.diff(slack, symbol).xreplace(table)
    return 1 if slope.is_nonnegative else -1 if slope.is_nonpositive else None


def check_assumption(
    assumption: Assumption,
    problem: Problem,
    constants: Mapping[str, Any] | None = None,
    *,
    points: int = 40,
    seed: int = 0,
) -> Verdict:
    """Whether an instance meets an assumption.

    constants: values of the symbols in the inequality (default: the problem's own). points: how many points are
    evaluated exactly, at least; seed: of the random ones.
    HOLDS with grade EXACT where the problem decides it, SUPPORTED where no point breaks it; VIOLATED with the point as
    witness (grade EXACT for exact gradients); UNDECIDED where the inequality or a quantity in it is missing.
    Raises BadInput where a constant has no value.
    """
    own = problem.constants()
    values = {name: c.value for name, c in own.items()}
    values |= {name: as_fraction(v, name) for name, v in (constants or {}).items()}
    base = Verdict(f"assumption {assumption.name}", Outcome.UNDECIDED, None, "")

    def answer(outcome: Outcome, grade: Grade | None, reason: str, **more: Any) -> Verdict:
        return Verdict(base.statement, outcome, grade, reason, **more)

    objection, decided = None, False
    if is_library(assumption):  # an answer to the name is one to the assumption
        try:
            objection, decided = problem.violations(assumption.name), True
        except UnknownName:
            decided = False
    if objection is not None:
        return answer(Outcome.VIOLATED, Grade.EXACT, objection)
    if decided and covers(assumption, own, values):
        return answer(Outcome.HOLDS, Grade.EXACT, f"'{problem.name}' meets it with these constants, decided exactly.")
    if assumption.inequality is None:
        return answer(Outcome.UNDECIDED, None, "The assumption has no inequality that could be evaluated.")
    slack = difference(assumption.inequality)
    used = {s.name for s in slack.free_symbols}
    missing = sorted(used - set(QUANTITIES) - set(values))
    if missing:
        raise BadInput(f"the assumption {assumption.name} needs a value for {', '.join(missing)}.")
    lacking = _lacking(problem, used & set(QUANTITIES))
    if lacking:
        return answer(Outcome.UNDECIDED, None, f"'{problem.name}' {lacking}.")
    oracle = _Oracle(problem, slack, used & set(QUANTITIES), {k: values[k] for k in used - set(QUANTITIES)})
    count = 0
    for trial in _Search(oracle, np.random.default_rng(seed)).trials(points):
        count += 1
        broken = oracle.broken(trial)
        if broken is not None:
            found, exact = broken
            shown = ", ".join(f"{k} = {format_short(v)}" for k, v in oracle.constants.items())
            at = "(" + ", ".join(format_short(v) for v in trial.x) + ")"
            reason = f"It fails at x = {at}" + (f" with {shown}." if shown else ".")
            grade = Grade.EXACT if exact else Grade.SUPPORTED
            return answer(Outcome.VIOLATED, grade, reason, witness=found, points=count)
    return answer(Outcome.HOLDS, Grade.SUPPORTED, f"It holds at all {count} points that were tried.", points=count)


def _lacking(problem: Problem, quantities: set[str]) -> str:
    """What the problem cannot be asked for, as the rest of a sentence, or ''."""
    if quantities & {"inner", "dist2", "noise2"} and not isinstance(problem, LocatedProblem):
        return "does not say which minimiser is nearest"
    if "gap" in quantities and "gap" not in problem.metrics and not isinstance(problem, ValuedProblem):
        return "does not give F(x) - F*"
    return ""


@dataclass(frozen=True)
class _Trial:
    """Two points (dim,) and a client; y and client matter to smoothness alone."""

    x: NDArray[Any]
    y: NDArray[Any]
    client: int


class _Oracle:
    """The inequality's slack on one instance, in double precision and exactly."""

    def __init__(self, problem: Problem, slack: Any, quantities: set[str], constants: Mapping[str, Fraction]) -> None:
        self.problem, self.slack, self.quantities, self.constants = problem, slack, quantities, constants
        self.paired = bool(quantities & _PAIRED)
        names = [*sorted(quantities), *constants]
        symbols = {s.name: s for s in slack.free_symbols}
        self._names = names
        self._float = sp.lambdify([symbols[n] for n in names], slack, "math")
        # the size against which the slack is small or not
        size = sum((sp.Abs(term) for term in sp.Add.make_args(sp.expand(slack))), sp.Integer(0))
        self._size = sp.lambdify([symbols[n] for n in names], size, "math")
        self._gap_direction = _direction(slack, symbols["gap"]) if "gap" in symbols else None

    def gradient(self, x: NDArray[Any]) -> NDArray[Any]:
        """Gradient of F."""
        exact = x.dtype == object
        parts = [self.problem.gradient(i, x) * (w if exact else float(w)) for i, w in enumerate(self.problem.weights)]
        return sum(parts[1:], parts[0])

    def nearest(self, x: NDArray[Any]) -> NDArray[Any]:
        """The minimiser nearest to x."""
        assert isinstance(self.problem, LocatedProblem)
        return self.problem.nearest(x)

    def measure(self, trial: _Trial) -> dict[str, Any]:
        """The quantities at one trial; "gap" is a pair of bounds."""
        problem, wanted = self.problem, self.quantities
        found: dict[str, Any] = {}
        if "gap" in wanted:
            if "gap" in problem.metrics:
                value = problem.metric("gap", trial.x)
                found["gap"] = (value, value)
            else:
                assert isinstance(problem, ValuedProblem)
                found["gap"] = problem.gap_bounds(Fraction(trial.x[0]))
        if wanted & {"inner", "dist2", "noise2"}:
            nearest = self.nearest(trial.x)
            away = trial.x - nearest
            if "dist2" in wanted:
                found["dist2"] = _square(away)
            if "inner" in wanted:
                found["inner"] = _dot(self.gradient(trial.x), away)
            if "noise2" in wanted:
                noise = [_square(problem.gradient(i, nearest)) for i in range(problem.clients)]
                found["noise2"] = sum(noise[1:], noise[0]) / len(noise)
        if wanted & _PAIRED:
            moved = problem.gradient(trial.client, trial.x) - problem.gradient(trial.client, trial.y)
            found |= {"grad_difference2": _square(moved), "point_difference2": _square(trial.x - trial.y)}
        if "monotonicity" in wanted:
            found["monotonicity"] = _dot(self.gradient(trial.x) - self.gradient(trial.y), trial.x - trial.y)
        return {k: v for k, v in found.items() if k in wanted}

    def score(self, trial: _Trial) -> float:
        """The slack over its size, in double precision: negative where it seems broken, inf where both are 0."""
        found = {k: float(v[0] if k == "gap" else v) for k, v in self.measure(trial).items()}
        arguments = [found[n] if n in found else float(self.constants[n]) for n in self._names]
        size = float(self._size(*arguments))
        return float(self._float(*arguments)) / size if size > 0 else float("inf")

    def broken(self, trial: _Trial) -> tuple[dict[str, Any], bool] | None:
        """The witness, and whether it is exact, where the inequality fails at an exact trial."""
        found = self.measure(trial)
        gaps = found.pop("gap", (None, None))
        if gaps[0] != gaps[1] and self._gap_direction is None:
            return None  # the slack at the two bounds of the gap says nothing about the gap between
        exact = all(isinstance(v, int | Fraction) for v in (*found.values(), *gaps) if v is not None)
        for gap in gaps:
            at = {**found, **({} if gap is None else {"gap": gap})}
            direction = sign(self.slack, {**self.constants, **{k: Fraction(v) for k, v in at.items()}})
            if direction is None or direction >= 0:
                return None
        witness: dict[str, Any] = {"x": [format_exact(Fraction(v)) for v in trial.x]}
        if self.paired:
            witness |= {"y": [format_exact(Fraction(v)) for v in trial.y], "client": trial.client}
        shown = {k: format_exact(Fraction(v)) for k, v in found.items()}
        if gaps[0] is not None:
            shown["gap"] = format_exact(Fraction(gaps[0]))
        constants = {k: format_exact(v) for k, v in self.constants.items()}
        return witness | {"quantities": shown, "constants": constants}, exact


def _dot(a: NDArray[Any], b: NDArray[Any]) -> Any:
    terms = [p * q for p, q in zip(a, b, strict=True)]
    return sum(terms[1:], terms[0])


def _square(v: NDArray[Any]) -> Any:
    return _dot(v, v)


class _Search:
    """Where to look: trials in double precision, the worst first, then rounded to short fractions."""

    def __init__(self, oracle: _Oracle, random: np.random.Generator) -> None:
        self.oracle, self.random = oracle, random
        problem = oracle.problem
        self.start: Floats = np.array([float(v) for v in problem.start])
        located = isinstance(problem, LocatedProblem)
        self.centre: Floats = np.array(oracle.nearest(self.start)) if located else self.start
        self.reach = max(1e-3, float(np.linalg.norm(self.start - self.centre)), 1e-3 * float(np.abs(self.start).max()))

    def trials(self, count: int) -> Iterator[_Trial]:
        """At least `count` exact trials: the worst of the pool, refined ones, and the rest of the pool."""
        pool = [*self._structured(), *self._random(_POOL * count)]
        scored = sorted(((self.oracle.score(t), k) for k, t in enumerate(pool)))
        worst = [pool[k] for _, k in scored]
        refined = [self._refine(t) for t in worst[:_SEARCHES]]
        refined.sort(key=self.oracle.score)
        for width in (Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6), Fraction(0)):
            for trial in [*refined, *worst[:_REFINED]]:
                yield _rounded(trial, width)
        for trial in worst[_REFINED:count]:
            yield _rounded(trial, Fraction(1, 1000))

    def _structured(self) -> Iterator[_Trial]:
        """Along the extreme eigenvectors of finite-difference Hessians, at three distances, both ways."""
        problem = self.oracle.problem
        if self.oracle.paired:
            for base in (self.start, self.centre):
                found: list[tuple[float, int, Floats]] = []
                for client in range(problem.clients):
                    values, vectors = self._hessian(lambda x, i=client: problem.gradient(i, x), base)
                    k = int(np.argmax(np.abs(values)))
                    found.append((-abs(float(values[k])), client, vectors[:, k]))
                _, mean = self._hessian(self.oracle.gradient, base)
                ends = [*sorted(found, key=lambda f: f[:2])[:3], (0.0, 0, mean[:, 0])]
                for _, client, direction in ends:
                    for scale in (0.01, 1.0, 100.0):
                        yield _Trial(base, base + scale * self.reach * direction, client)
            return
        _, vectors = self._hessian(self.oracle.gradient, self.centre)
        directions = [*vectors.T[:8], *vectors.T[8:][-2:], self.start - self.centre]
        for direction in directions:
            for scale in (0.01, 1.0, 100.0):
                for way in (1.0, -1.0):
                    x = self.centre + way * scale * self.reach * direction
                    yield _Trial(x, x, 0)

    def _random(self, count: int) -> Iterator[_Trial]:
        dim, clients = len(self.start), self.oracle.problem.clients
        for _ in range(count):
            scales = self.reach * 10.0 ** self.random.uniform(-2, 2, size=2)
            x = self.centre + scales[0] * self.random.standard_normal(dim)
            y = x + scales[1] * self.random.standard_normal(dim)
            yield _Trial(x, y, int(self.random.integers(clients)))

    def _hessian(self, gradient: Callable[[Floats], Any], base: Floats) -> tuple[Floats, Floats]:
        """Eigenvalues (ascending) and eigenvectors (columns) of the symmetric part of finite differences."""
        dim = len(base)
        width = 1e-3 * self.reach
        at = np.asarray(gradient(base), dtype=np.float64)
        columns = [np.asarray(gradient(base + width * e), dtype=np.float64) - at for e in np.eye(dim)]
        found = np.stack(columns, axis=1) / width
        values, vectors = np.linalg.eigh((found + found.T) / 2)
        return values, vectors

    def _refine(self, trial: _Trial) -> _Trial:
        """A local search that lowers the slack over its size."""
        best, value, width = trial, self.oracle.score(trial), 0.5
        for _ in range(_STEPS):
            size = width * self.reach
            x = best.x + size * self.random.standard_normal(len(best.x))
            y = best.y + size * self.random.standard_normal(len(best.y))
            for moved in (_Trial(x, best.y, best.client), _Trial(best.x, y, best.client))[: 1 + self.oracle.paired]:
                found = self.oracle.score(moved)
                if found < value:
                    best, value = moved, found
            width *= 0.9
        return best


def _rounded(trial: _Trial, width: Fraction) -> _Trial:
    """The trial with each coordinate of x and y - x the simplest fraction within a relative `width` (0: exact)."""
    x = _round(trial.x, width)
    return _Trial(x, x + _round(trial.y - trial.x, width), trial.client)


def _round(x: Floats, width: Fraction) -> NDArray[Any]:
    out = np.empty(len(x), dtype=object)
    for k, v in enumerate(x):
        value = Fraction(float(v))
        out[k] = value if width == 0 else simplest_between(*sorted((value * (1 - width), value * (1 + width))))
    return out
