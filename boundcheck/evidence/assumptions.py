"""An instance against the defining inequality of an assumption.

A problem that can decide a shipped assumption exactly answers first, as far as the constants are its own or on the safe
side of them. Otherwise the inequality is evaluated at many points: random ones, ones along the extreme directions of
the Hessians (finite differences), and ones that a local search in double precision found worst. Points are short
fractions and the evaluation is exact, so that a violation is a proof; finding none is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from boundcheck.core.numbers import as_fraction, format_exact, format_short, simplest_between
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.block_quantities import BLOCK, Blocks, decides_blocks, of_block
from boundcheck.evidence.samples import sample_gradients
from boundcheck.problems.problem import is_neural, optional
from boundcheck.setting.client_hypotheses import client_hypotheses
from boundcheck.setting.user_constants import is_library
from boundcheck.theory.assumptions import QUANTITIES, Assumption
from boundcheck.theory.decide import sign
from boundcheck.theory.scope import difference
from boundcheck.verdict import Grade, Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement


_COMPONENT = {"component_difference2", "component_monotonicity"}  # quantities of two points and a sample of a client
# quantities of two points (and a client)
_CLIENT = {"grad_difference2", "point_difference2", "client_monotonicity"}
_PAIRED = {"monotonicity", "similarity2"} | _CLIENT | _COMPONENT | BLOCK
# all others, and the constants, are not negative
_SIGNED = {"inner", "monotonicity", "client_monotonicity", "component_monotonicity"}
# What statements about every sample call a constant, and problems otherwise.
_OF_SAMPLES: Mapping[str, Mapping[str, str]] = {
    "smooth_samples": {"L": "L_ij"},
    "strongly_convex_samples": {"mu": "mu_ij"},
    "relaxed_dissimilarity": {"L": "L_ij"},
    "bounded_dissimilarity": {"B2": "B2_only"},
}
_INEXACT = 1e-9  # a violation in double precision is one where the slack is below minus so much of its size
_MOST_SAMPLES = 60  # whose extreme directions are looked for
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
    signs = {s: None if s.name in _SIGNED else True for s in slack.free_symbols}
    table = {s: sp.Dummy(s.name, real=True, nonnegative=sign) for s, sign in signs.items()}
    slope = sp.diff(slack, symbol).xreplace(table)
    return 1 if slope.is_nonnegative else -1 if slope.is_nonpositive else None


def check_assumption(
    assumption: Assumption,
    problem: Problem,
    constants: Mapping[str, Any] | None = None,
    *,
    claimed: Statement | None = None,
    points: int = 40,
    seed: int = 0,
    blocks: Blocks | None = None,
) -> Verdict:
    """Whether an instance meets an assumption.

    constants: values of the symbols in the inequality (default: the problem's own). claimed: the statement under whose
    names the constants stand (None: those of the shipped assumption). points: how many points are
    evaluated exactly, at least; seed: of the random ones. blocks: the coordinates of each block and its L_j, for an
    assumption about blocks.
    HOLDS with grade EXACT where the problem decides it, SUPPORTED where no point breaks it; VIOLATED with the point as
    witness (grade EXACT for exact gradients); UNDECIDED where the inequality or a quantity in it is missing.
    Raises BadInput where a constant has no value.
    """
    keys = _OF_SAMPLES.get(assumption.name, {}) if claimed is None else {s.name: s.reported for s in claimed.symbols}
    named = () if assumption.inequality is None else difference(assumption.inequality).free_symbols
    asked = sorted({s.name for s in named} - set(QUANTITIES) | (set() if claimed is None else set(keys)))
    known = problem.constants()
    own = {name: known[keys.get(name, name)] for name in asked if keys.get(name, name) in known}
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
            answers, inexact = client_hypotheses(problem)
            objection, decided = answers.get(assumption.name), assumption.name in answers
            if objection is not None and assumption.name in inexact:
                return answer(Outcome.VIOLATED, Grade.SUPPORTED, objection)
    if objection is not None:
        return answer(Outcome.VIOLATED, Grade.EXACT, objection)
    if decided and covers(assumption, own, values):
        return answer(Outcome.HOLDS, Grade.EXACT, f"'{problem.name}' meets it with these constants, decided exactly.")
    told = None
    decides = optional(problem, "decides")
    if is_library(assumption) and decides is not None:
        told = decides(assumption.name, {keys.get(n, n): v for n, v in values.items() if keys.get(n, n)})
    if told is None and is_library(assumption):
        told = decides_blocks(assumption.name, problem, values, blocks)
    used = sorted(s.name for s in named)
    shown = ", ".join(f"{k} = {format_short(values[k])}" for k in used if k in values)
    how = f"'{problem.name}' {'meets' if told else 'does not meet'} it" + (f" with {shown}" if shown else "")
    refuted = answer(Outcome.VIOLATED, Grade.EXACT, f"{how}, decided exactly.")
    if told:
        return answer(Outcome.HOLDS, Grade.EXACT, f"{how}, decided exactly.")
    if told is False and (assumption.inequality is None or _lacking(problem, set(used) & set(QUANTITIES), blocks)):
        return refuted
    if assumption.inequality is None:
        return answer(Outcome.UNDECIDED, None, "The assumption has no inequality that could be evaluated.")
    slack = difference(assumption.inequality)
    used = {s.name for s in slack.free_symbols}
    missing = sorted(used - set(QUANTITIES) - set(values))
    if missing:
        raise BadInput(f"the assumption {assumption.name} needs a value for {', '.join(missing)}.")
    lacking = _lacking(problem, used & set(QUANTITIES), blocks)
    if lacking:
        return answer(Outcome.UNDECIDED, None, f"'{problem.name}' {lacking}.")
    given = {k: values[k] for k in used - set(QUANTITIES)}
    oracle = _Oracle(problem, slack, used & set(QUANTITIES), given, blocks)
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
    if told is False:  # no short point shows it
        return refuted
    return answer(Outcome.HOLDS, Grade.SUPPORTED, f"It holds at all {count} points that were tried.", points=count)


def _lacking(problem: Problem, quantities: set[str], blocks: Blocks | None) -> str:
    """What the problem cannot be asked for, as the rest of a sentence, or ''."""
    if is_neural(problem):
        return "has gradients in the neural engine alone, which tries no points of its own"
    if quantities & BLOCK and blocks is None:
        return "has no blocks of its own; they and their constants L_j come from a method"
    if quantities & {"inner", "dist2", "noise2"} and optional(problem, "nearest") is None:
        return "does not say which minimiser is nearest"
    if "gap" in quantities and "gap" not in problem.metrics and optional(problem, "gap_bounds") is None:
        return "does not give F(x) - F*"
    if quantities & _COMPONENT and sample_gradients(problem) is None:
        return "does not give the gradients of single samples"
    return ""


@dataclass(frozen=True)
class _Trial:
    """Two points (dim,), a client and a sample of it; y, client and sample matter to paired quantities alone."""

    x: NDArray[Any]
    y: NDArray[Any]
    client: int
    sample: int = 0


class _Oracle:
    """The inequality's slack on one instance, in double precision and exactly."""

    def __init__(
        self,
        problem: Problem,
        slack: Any,
        quantities: set[str],
        constants: Mapping[str, Fraction],
        blocks: Blocks | None = None,
    ) -> None:
        self.problem, self.slack, self.quantities, self.constants = problem, slack, quantities, constants
        self.blocks = [] if blocks is None else [pair for pair in zip(*blocks, strict=True) if len(pair[0])]
        self.paired = bool(quantities & _PAIRED)
        found = sample_gradients(problem) if quantities & _COMPONENT else None
        self.samples = None if found is None else found[0]
        each = len(self.blocks) if quantities & BLOCK else 1  # a trial's sample is then a block
        self.counts = (each,) * problem.clients if found is None else found[1]
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

    def part(self, client: int, sample: int, x: NDArray[Any]) -> NDArray[Any]:
        """Gradient of one sample's loss."""
        assert self.samples is not None
        return self.samples(client, sample, x)

    def bent(self, client: int, sample: int, x: NDArray[Any]) -> NDArray[Any]:
        """The gradient whose changes the inequality is about."""
        if self.quantities & _COMPONENT:
            return self.part(client, sample, x)
        own = self.problem.gradient(client, x)
        return own - self.gradient(x) if "similarity2" in self.quantities else own

    def nearest(self, x: NDArray[Any]) -> NDArray[Any]:
        """The minimiser nearest to x."""
        return optional(self.problem, "nearest")(x)

    def measure(self, trial: _Trial) -> dict[str, Any]:
        """The quantities at one trial; "gap" is a pair of bounds."""
        problem, wanted = self.problem, self.quantities
        found: dict[str, Any] = {}
        if "gap" in wanted:
            if "gap" in problem.metrics:
                value = problem.metric("gap", trial.x)
                found["gap"] = (value, value)
            else:
                found["gap"] = optional(problem, "gap_bounds")(Fraction(trial.x[0]))
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
            away = trial.x - trial.y
            found |= {"grad_difference2": _square(moved), "point_difference2": _square(away)}
            found["client_monotonicity"] = _dot(moved, away)
        if wanted & _COMPONENT:
            moved = self.part(trial.client, trial.sample, trial.x) - self.part(trial.client, trial.sample, trial.y)
            found["component_difference2"] = _square(moved)
            found["component_monotonicity"] = _dot(moved, trial.x - trial.y)
            found["point_difference2"] = _square(trial.x - trial.y)
        if wanted & BLOCK:
            found |= of_block(problem, trial.client, trial.x, trial.y, self.blocks, trial.sample)
        if "similarity2" in wanted:
            of_client = problem.gradient(trial.client, trial.x) - problem.gradient(trial.client, trial.y)
            found["similarity2"] = _square(of_client - self.gradient(trial.x) + self.gradient(trial.y))
        if "grad2" in wanted:
            found["grad2"] = _square(self.gradient(trial.x))
        if "client_grad2" in wanted:
            exact = trial.x.dtype == object
            weights = [w if exact else float(w) for w in problem.weights]
            terms = [w * _square(problem.gradient(i, trial.x)) for i, w in enumerate(weights)]
            found["client_grad2"] = sum(terms[1:], terms[0])
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
        plain = replace(trial, x=trial.x.astype(np.float64), y=trial.y.astype(np.float64))
        if not exact and self.score(plain) > -_INEXACT:
            return None
        for gap in gaps:
            at = {**found, **({} if gap is None else {"gap": gap})}
            direction = sign(self.slack, {**self.constants, **{k: Fraction(v) for k, v in at.items()}})
            if direction is None or direction >= 0:
                return None
        witness: dict[str, Any] = {"x": [format_exact(Fraction(v)) for v in trial.x]}
        if self.paired:
            witness |= {"y": [format_exact(Fraction(v)) for v in trial.y], "client": trial.client}
        if self.samples is not None:
            witness["sample"] = trial.sample
        elif self.quantities & BLOCK:
            witness["block"] = trial.sample
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
        located = optional(problem, "nearest") is not None
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
        if self.oracle.paired:
            for base in (self.start, self.centre):
                found: list[tuple[float, int, int, Floats]] = []
                low: list[tuple[float, int, int, Floats]] = []
                for client, sample in self._parts():
                    values, vectors = self._hessian(lambda x, i=client, j=sample: self.oracle.bent(i, j, x), base)
                    k = int(np.argmax(np.abs(values)))
                    found.append((-abs(float(values[k])), client, sample, vectors[:, k]))
                    low.append((float(values[0]), client, sample, vectors[:, 0]))
                _, mean = self._hessian(self.oracle.gradient, base)
                ends = [*sorted(found, key=lambda f: f[:3])[:3], (0.0, 0, 0, mean[:, 0])]
                ends += sorted(low, key=lambda f: f[:3])[:3] if self.oracle.samples is not None else []
                for _, client, sample, direction in ends:
                    for scale in (0.01, 1.0, 100.0):
                        yield _Trial(base, base + scale * self.reach * direction, client, sample)
            return
        _, vectors = self._hessian(self.oracle.gradient, self.centre)
        directions = [*vectors.T[:8], *vectors.T[8:][-2:], self.start - self.centre]
        for direction in directions:
            for scale in (0.01, 1.0, 100.0):
                for way in (1.0, -1.0):
                    x = self.centre + way * scale * self.reach * direction
                    yield _Trial(x, x, 0)

    def _parts(self) -> list[tuple[int, int]]:
        """Every client, or its samples, thinned where there are many."""
        every = [(i, j) for i, count in enumerate(self.oracle.counts) for j in range(count)]
        if self.oracle.samples is None or len(every) <= _MOST_SAMPLES:
            return every
        return [every[k] for k in np.linspace(0, len(every) - 1, _MOST_SAMPLES).astype(int)]

    def _random(self, count: int) -> Iterator[_Trial]:
        dim, clients = len(self.start), self.oracle.problem.clients
        for _ in range(count):
            scales = self.reach * 10.0 ** self.random.uniform(-2, 2, size=2)
            x = self.centre + scales[0] * self.random.standard_normal(dim)
            y = x + scales[1] * self.random.standard_normal(dim)
            client = int(self.random.integers(clients))
            own = self.oracle.counts[client]
            yield _Trial(x, y, client, int(self.random.integers(own)) if own > 1 else 0)

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
            for moved in (replace(best, x=x), replace(best, y=y))[: 1 + self.oracle.paired]:
                found = self.oracle.score(moved)
                if found < value:
                    best, value = moved, found
            width *= 0.9
        return best


def _rounded(trial: _Trial, width: Fraction) -> _Trial:
    """The trial with each coordinate of x and y - x the simplest fraction within a relative `width` (0: exact)."""
    x = _round(trial.x, width)
    return replace(trial, x=x, y=x + _round(trial.y - trial.x, width))


def _round(x: Floats, width: Fraction) -> NDArray[Any]:
    out = np.empty(len(x), dtype=object)
    for k, v in enumerate(x):
        value = Fraction(float(v))
        out[k] = value if width == 0 else simplest_between(*sorted((value * (1 - width), value * (1 + width))))
    return out
