"""Scores and claims of instances for statements about runs: many at a time, or one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.each import Each, EachStep
from boundcheck.engines.exact.stacks import Instances, mean_stacks, run_stacks
from boundcheck.errors import BoundcheckError, Unsupported
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.claim_result import ClaimResult
from boundcheck.evidence.claim_rounds import REACH, SUMMED
from boundcheck.evidence.open_step_sizes import START, TUNED, first_of
from boundcheck.falsify import methods
from boundcheck.falsify.constants import Constants
from boundcheck.falsify.float_statement import Known
from boundcheck.falsify.generator import SETTLED, Instance, Numbers
from boundcheck.falsify.pieces import Pieces
from boundcheck.falsify.shapes import Shape, Shapes, rounded
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.setting import Setting
from boundcheck.theory.dimension import CURVATURE, STEP, Dimension
from boundcheck.theory.keys import name_of
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.statement import Average, Kind
from boundcheck.verdict import Outcome

AVERAGED = 256  # rounds of an average
DOUBLINGS = 14  # of the period, of a plain mean whose rounds repeat
STEPWISE = 256  # rounds of a method whose rounds are not alike
LAST = 2**20  # rounds of one whose rounds are
LADDER = sorted({0, 3, 6, *(2**power for power in range(21))})
FEW = 30  # the largest index of a run that is carried out round by round
# what rounding leaves of a metric that is 0, over its largest value: of second moments, and of the point itself
NOISE = {True: 1e-13, False: 1e-25}
FARTHEST = 1e60  # by which an instance is scaled at most
SLOW_LADDER = (1, 2, 3, 5, 10, 30, 100, 300)


class Runs(Shapes):
    """Statements about runs of a method on quadratic problems, or about constants of the two."""

    # --- scores -------------------------------------------------------------------------------------------------------

    def scores(self, shape: Shape, numbers: Numbers) -> list[tuple[int, Floats]]:
        return self._one_by_one(shape, numbers) if shape.slow else self.fast(shape, numbers)

    def _known(self, constants: Constants, shape: Shape) -> dict[str, Any]:
        known = {key: constants.of(key) for key in self.keys}
        free = {name: float(Fraction(value)) for name, value in shape.free.items()}
        return {key: value for key, value in known.items() if value is not None} | free

    def settled(self, shape: Shape, numbers: Numbers) -> Numbers:
        """The instances with problems scaled so that the method's step size is the wanted share of the largest one.

        Where the statement limits no step size it is a share of 4 over the largest curvature.
        """
        if shape.step is None or shape.spec[shape.step] == TUNED or isinstance(shape.form, Pieces):
            return numbers
        assert shape.like is not None
        with np.errstate(all="ignore"):
            constants = Constants(self.instances(shape, numbers), shape.like)
            unit = 1 / np.maximum(constants.size, 1e-300)
            if not self.limited:
                factor = 4 * numbers["share"] * unit
            elif shape.slow:
                return numbers
            else:
                factor = self.claimed.largest_step(self._known(constants, shape), unit) * numbers["share"]
            factor = factor / float(Fraction(shape.spec[shape.step]))
            usable = (factor > 1 / FARTHEST) & (factor < FARTHEST)  # false for NaN, too
            return shape.form.scaled(numbers, np.where(usable, factor, 1.0))

    def fast(self, shape: Shape, numbers: Numbers) -> list[tuple[int, Floats]]:
        claimed, like = self.claimed, shape.like
        assert like is not None
        instances = self.instances(shape, self.settled(shape, numbers))
        units = numbers.get("units")
        quantity = self.statement.metric.dimension
        with np.errstate(all="ignore"):
            constants = Constants(instances, like)
            known = self._in(units, self._known(constants, shape))
            method, given = self._prescribed(shape, known, units, len(instances))
            known |= given
            step: Any = np.nan
            if self.size is not None and self.size.key in given:
                step = given[self.size.key]
            elif self.size is not None and shape.step is not None:
                step = np.full(len(instances), float(Fraction(shape.spec[shape.step]))) * _power(units, STEP)
            usable = constants.clear & claimed.in_domain(known) & claimed.in_scope(known, step)
            for assumption in self.statement.assumptions:
                usable = usable & constants.meets(assumption.name)
            found: list[tuple[int, Floats]] = []
            for index, metric, own in self._curve(method, like, instances, known, step):
                here = {**known, **self._in(units, own)}
                score = claimed.score(here, step, index, metric * _power(units, quantity))
                found.append((index, np.where(usable, score, -np.inf)))
            return found

    def _prescribed(self, shape: Shape, known: Known, units: Any, count: int) -> tuple[Method, dict[str, Any]]:
        """The method with the sizes that the statement gives for each instance, and their values by key."""
        assert shape.like is not None
        claimed, ones = self.claimed, np.ones(count)
        sizes, given = first_of(shape.spec)[0], dict[str, Any]()
        own: dict[str, Any] = {}
        for symbol, formula in claimed.choices:
            given[symbol.key] = formula({**known, **given}) * ones
            if symbol.reported in sizes:
                values = given[symbol.key] / _power(units, symbol.dimension)
                own[symbol.reported] = Each(Fraction(sizes[symbol.reported]), values)
        method = build_method({**sizes, **own}) if own else shape.like.method
        for name, formula in claimed.sequences.items():
            if shape.spec.get(name) == TUNED:
                steps = EachStep(
                    lambda r, f=formula: f({**known, **given}, np.nan, 1.0, r) * ones / _power(units, STEP)
                )
                method = replace(method, schedule=steps)
        return method, given

    def _in(self, units: Any, known: Known) -> dict[str, Any]:
        """Constants of the instances in other units of f and x, (B, 2)."""
        powers = {**self.powers, "rounding": self.statement.metric.dimension}
        return {key: value * _power(units, powers[key]) for key, value in known.items()}

    def _points(self, method: Method, known: Known) -> list[tuple[int, int]]:
        """(index, rounds) at which the metric is compared."""
        metric = self.statement.metric
        if metric.over_rounds:
            most = AVERAGED
        elif round_symbols(self.statement):
            most = 16
        else:
            most = LAST if method.schedule.is_constant() and method.rule.steady else STEPWISE
        if metric.index is None:
            rounds = self.claimed.rounds_at(known, Fraction(1))
            return [(1, rounds)] if rounds is not None and 0 <= rounds <= most else []
        symbol = self.statement.symbol(metric.index)
        found: list[tuple[int, int]] = []
        for k in LADDER if not round_symbols(self.statement) else range(most + 1):
            rounds = self.claimed.rounds_at(known, Fraction(k)) if symbol.admits(Fraction(k)) else None
            if rounds is not None and rounds > most:
                break
            if rounds is not None and rounds >= int(metric.over_rounds):
                found.append((k, rounds))
        return found

    def _curve(
        self, method: Method, like: Setting, instances: Instances, known: Known, step: Any
    ) -> Iterator[tuple[int, Floats, dict[str, Any]]]:
        """(index, metric without its scale (B,), constants that change with the index)."""
        points, values = self._measured(method, like, instances, known, step)
        if not points:
            return
        starts = {key: START[key] for key in self.keys if key in START}
        own: dict[str, Any] = {}
        if starts:
            first = run_stacks(method, like.problem, instances, [0], sorted(starts.values()), self.ring)
            own = {key: first[name][:, 0] for key, name in starts.items()}
        if round_symbols(self.statement) or self.statement.kind is not Kind.UPPER_BOUND:
            own["rounding"] = 1e-12 * self._reach(instances)
        main = values[self.statement.metric.quantity]
        ground = NOISE[method.is_random(like.clients)]
        top = np.maximum(np.maximum.accumulate(np.abs(main), axis=1), self._reach(instances)[:, None]) * ground
        main = np.where(np.abs(main) < top, 0.0, main)
        main = np.where(np.isnan(main).all(1, keepdims=True), -np.inf, main)  # it has none, and has not diverged
        for k, index in enumerate(points):
            at = {key: values[name_of(key)][:, k] for key in round_symbols(self.statement).values()}
            yield index, main[:, k], {**own, **at}

    def _measured(
        self, method: Method, like: Setting, instances: Instances, known: Known, step: Any
    ) -> tuple[list[int], dict[str, Floats]]:
        """Values of the index, and the metrics of both sides there, (B, values) each."""
        statement = self.statement
        metric, rounds = statement.metric, set(round_symbols(statement).values())
        names = sorted({metric.quantity, *map(name_of, rounds)})
        even = metric.average in (Average.MEAN, Average.DRAWN) and metric.weights == 1 and not metric.with_last
        if even and metric.index is not None:
            with suppress(Unsupported):
                period, means = mean_stacks(method, like.problem, instances, DOUBLINGS, names, self.ring)
                places = {self._index_at(known, period << k): k for k in range(DOUBLINGS + 1)}
                points = sorted(index for index in places if index is not None)
                return points, {name: v[:, [places[p] for p in points]] for name, v in means.items()}
        pairs = self._points(method, known)
        if not pairs:
            return [], {}
        whole = metric.over_rounds or SUMMED in rounds
        grid = list(range(pairs[-1][1] + 1)) if whole else sorted({0, *(r for _, r in pairs)})
        values = dict(run_stacks(method, like.problem, instances, grid, names, self.ring))
        at = [grid.index(r) for _, r in pairs]
        if metric.over_rounds:
            values = self._averages(known, step, values, len(grid) - 1 + metric.more_points)
            at = [r - 1 + metric.more_points for r in at]
        if SUMMED in rounds:
            own, tau = values[name_of(SUMMED)], int(np.max(known.get(REACH, 0)))
            sums = np.cumsum(np.pad(own, ((0, 0), (1, 0))), axis=1)
            values[name_of(SUMMED)] = np.stack([sums[:, r] - sums[:, max(0, r - tau)] for r in grid], 1)
        return [index for index, _ in pairs], {name: v[:, at] for name, v in values.items()}

    def _index_at(self, known: Known, rounds: int) -> int | None:
        """The value of the index after this many rounds, which depend on it affinely; None where none fits."""
        metric = self.statement.metric
        first, second = (self.claimed.rounds_at(known, Fraction(k)) for k in (0, 1))
        if first is None or second is None or first == second or (rounds - first) % (second - first):
            return None
        index = (rounds - first) // (second - first)
        return index if metric.index and self.statement.symbol(metric.index).admits(Fraction(index)) else None

    def _reach(self, instances: Instances) -> Floats:
        """The metric at the farthest point that rounding errors are relative to, (B,): linear terms may cancel."""
        values = np.abs(np.linalg.eigvalsh(instances.whole[0]))
        largest = values.max(1)
        least = np.where(values > 1e-12 * largest[:, None], values, np.inf).min(1)
        dimension = self.statement.metric.dimension
        power = 0 if dimension is None else float(dimension.f)
        return ((instances.b**2).sum((1, 2)) / least**2 + (instances.start**2).sum(1)) * largest**power

    def _averages(self, known: Known, step: Any, values: Mapping[str, Floats], count: int) -> dict[str, Floats]:
        """The averages over the first 1, 2, ..., count points."""
        if self.statement.metric.average is Average.LEAST:
            return {name: np.minimum.accumulate(v[:, :count], axis=1) for name, v in values.items()}
        weights = self.claimed.weights(known, step, count)
        bottom = np.cumsum(weights, axis=1)
        return {name: np.cumsum(weights * v[:, :count], axis=1) / bottom for name, v in values.items()}

    # --- claims -------------------------------------------------------------------------------------------------------

    def _one_by_one(self, shape: Shape, numbers: Numbers) -> list[tuple[int, Floats]]:
        """Scores of exact claims at a few values of the index."""
        count, numbers = len(next(iter(numbers.values()))), self.settled(shape, numbers)
        found: dict[int, Any] = {}
        for k in range(count):
            exact = {name: rounded(v[k]) for name, v in numbers.items() if name != "share"}
            share = format_exact(Fraction(float(numbers["share"][k])).limit_denominator(100) or Fraction(1, 100))
            instance = Instance(shape, exact, "largest" if float(numbers["share"][k]) > 0.9 else f"{share}*largest", 0)
            try:
                claim = self._claim(instance, SLOW_LADDER)
                if isinstance(shape.form, Pieces):
                    few = {name: [k for k in own if k <= FEW] for name, own in claim.at.items()}
                    claim = replace(claim, at=few, arithmetic=None if round_symbols(self.statement) else "float64")
                result = run_claim(claim)
            except BoundcheckError as error:
                self._refused = str(error).rstrip(".")
                continue
            for index, score in self._scores_of(result):
                self._ran = True
                found.setdefault(index, np.full(count, -np.inf))[k] = score
        return sorted(found.items()) or [(0, np.full(count, -np.inf))]

    def _scores_of(self, result: ClaimResult) -> list[tuple[int, float]]:
        """(index, score) of an exact claim at its points; none where it is out of scope."""
        outcome, kind = result.verdict.outcome, self.statement.kind
        if outcome not in (Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED):
            return []
        names, values = self.claimed.keys, result.verdict.details["constants"]
        known = {names[name]: float(Fraction(str(c["value"]))) for name, c in values.items() if name in names}
        step = np.nan if self.size is None else known.get(self.size.key, np.nan)
        found: list[tuple[int, float]] = []
        top = max([*result.metric_low, self.claimed.before(known, step)], default=0.0)
        ground = NOISE[True] * top if result.claim.arithmetic == "float64" else 0.0
        for index, metric, bound in zip(result.index or [0], result.metric_low, result.bound, strict=False):
            metric = 0.0 if abs(metric) < ground else metric  # what rounding leaves
            if kind is Kind.UPPER_BOUND and not round_symbols(self.statement):
                score = float(self.claimed.compared(known, step, float(index), metric, bound))
            else:
                apart = metric - bound
                apart = abs(apart) if kind is Kind.EQUALITY else -apart if kind is Kind.LOWER_BOUND else apart
                score = float(apart / (abs(metric) + abs(bound) + 1e-300))
            found.append((int(index), -np.inf if np.isnan(score) else score))
        if outcome is Outcome.VIOLATED and not ground and all(score <= 0 for _, score in found):
            return [(found[-1][0] if found else 0, 1.0)]
        return found

    def claim(self, instance: Instance) -> Claim:
        return self._claim(instance, [instance.index])

    def _claim(self, instance: Instance, indices: Sequence[int]) -> Claim:
        shape, name = instance.shape, self.statement.metric.index
        method = dict(shape.spec)
        if shape.step is not None and method.get(shape.step) != TUNED:
            open_ = self.limited and self.size is not None and self.size.reported == shape.step
            method[shape.step] = (
                instance.step if open_ and instance.step not in (None, SETTLED) else shape.spec[shape.step]
            )
        numbers = {name: v for name, v in instance.numbers.items() if name != "share"}
        if "units" in numbers:
            method = self._method_in([abs(u) or Fraction(1) for u in numbers["units"]], method)
        at: dict[str, Any] = {}
        if name is not None and not self.statement.kind.limit:
            symbol = self.statement.symbol(name)
            at = {name: [k for k in indices if symbol.admits(Fraction(k))]}
        return Claim(self.statement, shape.form.problem(numbers), method, at=at, constants=dict(shape.free))

    def _method_in(self, units: Sequence[Fraction], method: Mapping[str, Any]) -> dict[str, Any]:
        """The specification with its numbers in other units of f and x."""
        powers = {s.reported: s.dimension for s in self.statement.symbols if s.key.startswith(methods.METHOD)}
        powers = {"mu": CURVATURE, **dict.fromkeys(methods.STEPS, STEP), **powers}
        found = dict(method)
        for name in found.keys() & powers.keys():
            by = units[0] ** int(powers[name].f) * units[1] ** int(powers[name].x)
            given = found[name] if isinstance(found[name], list) else [found[name]]
            if by != 1 and not any("largest" in str(v) or v == TUNED for v in given):
                own = [format_exact(Fraction(v) * by) for v in given]
                found[name] = own if isinstance(found[name], list) else own[0]
        return found

    def simpler(self, shape: Shape, numbers: Numbers) -> Iterator[tuple[Shape, Numbers]]:
        n = len(shape.form.sizes)
        for form, kept, client in shape.form.simpler(numbers):
            spec = shape.spec if client is None else methods.without_client(shape.spec, client, n)
            if "tau" in spec and form.dim < shape.form.dim:
                spec = {name: v for name, v in spec.items() if name != "partition"}
                spec["tau"] = min(int(spec["tau"]), form.dim)
            yield replace(shape, form=form, spec=spec), kept
        keep = {shape.step, *self.chosen} - {None}
        for spec in methods.simpler(shape.spec, sorted(str(name) for name in keep)):
            yield replace(shape, spec=spec), numbers


def _power(units: Any, dimension: Dimension | None) -> Any:
    """By how much a quantity of this dimension is larger in other units of f and x, (B, 2)."""
    if units is None or dimension is None:
        return 1.0
    return units[:, 0] ** float(dimension.f) * units[:, 1] ** float(dimension.x)
