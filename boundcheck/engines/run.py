"""The entry to all engines: `run(method, problem, ...)` returns a Curve that carries its constants."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core import providers
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.envelopes import certified_envelopes
from boundcheck.engines.rare_choices import rarest_choice
from boundcheck.engines.summaries import Summary, asked_summaries, bounded, on_grid, summary_of
from boundcheck.engines.trained import training_engine
from boundcheck.errors import BadInput, UnknownName, Unsupported, shown
from boundcheck.methods.method import Method
from boundcheck.methods.own_parts import check_answers, unchecked
from boundcheck.problems._minimum import Minimum
from boundcheck.problems._own_problem import check_own
from boundcheck.problems.problem import clients_of, is_neural, no_minimum, optional
from boundcheck.setting import Setting
from boundcheck.setting.metrics import is_round_metric, unknown_metric
from boundcheck.theory.quantities import PROOF_QUANTITIES
from boundcheck.theory.statement import Statement

if TYPE_CHECKING:
    from boundcheck.core.store import Checkpoint
    from boundcheck.problems.problem import Problem


ENGINES = ("exact", "sampled", *providers.names(providers.ENGINES))
MAX_ROUNDS = 10**15
_PLAIN_GRID = 2000  # up to here every round is measured by default; beyond, about 300 rounds on a log grid


def run(method: Method, problem: Problem, *, assumptions: Iterable[str] = (), **how: Any) -> Curve:
    """Carry out a method on a problem; the curve has their constants, and their answers to hypotheses.

    how: rounds, engine, seeds, metrics and the other parameters of `carry_out`, which raises the same errors.
    assumptions: names of hypotheses beside the shipped ones; the answers stand in `Curve.assumptions` and
    `Curve.violations`. A statement among the summaries asks for its own.
    """
    setting = Setting(method, problem)
    how["summaries"] = tuple(
        summary_of(s, {k: c.value for k, c in s.known(setting.constants()).items()}) if isinstance(s, Statement) else s
        for s in how.get("summaries", ())
    )
    curve = carry_out(method, problem, **how)
    asked = asked_summaries(how["summaries"], curve.values, int(curve.rounds[-1]))
    found = describe(curve, setting, assumptions, asked)
    return replace(found, again=Again(partial(run, method, problem, **{**how, "checkpoint": None}), found))


class Again:
    """Carries a run out again for a summary that its curve lacks; a copy of the curve has False in its place."""

    def __init__(self, carried_out: Callable[..., Curve], curve: Curve) -> None:
        self._carried_out, self._values = carried_out, curve.values

    def __call__(self, curve: Curve, summary: Summary) -> Curve | None:
        """The summary at the rounds of the run and before them; None for a curve with other values than the run's."""
        if any(self._values.get(name) is not own for name, own in curve.values.items()):
            return None
        return self._carried_out(summaries=[summary], metrics=[summary.metric]).summaries[summary.key]

    def __reduce__(self) -> tuple[type[bool], tuple[()]]:
        return bool, ()


def carry_out(
    method: Method,
    problem: Problem,
    *,
    rounds: int | Sequence[int],
    engine: str = "exact",
    seeds: int | range = 100,
    metrics: Iterable[str] | None = None,
    arithmetic: str | Arithmetic | None = None,
    summaries: Iterable[Summary | str] = (),
    neural: Mapping[str, Any] | None = None,
    checkpoint: Checkpoint | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Curve:
    """The metrics of a method on a problem, without what the two know of constants and hypotheses.

    rounds: a number of communication rounds (measured at every round up to 2000, else on a log grid) or the
    increasing list of rounds to measure at. engine: "exact" (no sampling; `arithmetic` "ball", the default,
    "rational" or "float64"), "sampled" (seeds 0 to `seeds` - 1, or a range of them) or "neural" (this many seeds of a
    model on labelled samples, all clients and seeds at once in torch). metrics: default all that the problem has; those
    of `setting.metrics`, and for "neural" those of `networks.engine.metrics`, by name. summaries: what is kept of the
    metrics over all rounds (`Curve.summaries`), "mean" or "least" of every metric or a `Summary`; each round is then
    measured. neural: settings of the neural
    engine, such as {"precision": "float64"}. checkpoint: where a neural run is saved in between, and from which it goes
    on. on_progress: called with the finished share, 0 to 1.

    Raises UnknownName (engine, metric), BadInput (rounds, seeds), Unsupported (an engine cannot carry this) and
    MissingExtra (the neural engine without torch).
    """
    if engine not in ENGINES:
        raise UnknownName("the engine", engine, ENGINES)
    check_engine(engine, problem, neural, arithmetic)
    grid, summaries = round_grid(rounds), tuple(summaries)
    check_own(problem)
    check_answers(method.parts, clients_of(problem), grid[-1])
    names = problem.metrics if metrics is None else _named(metrics)
    names = tuple(dict.fromkeys((*names, *(s.metric for s in summaries if isinstance(s, Summary)))))
    for name in names if engine != "neural" else ():  # the neural engine has more of them and says which
        if name in PROOF_QUANTITIES:
            raise BadInput(f"the metric '{name}' occurs in a proof and no run measures it: {PROOF_QUANTITIES[name]}.")
        if name not in problem.metrics and (not is_round_metric(name) or no_minimum(problem) is not None):
            raise unknown_metric(problem, name)
    kept = asked_summaries(summaries, names, grid[-1])
    if engine == "exact":
        from boundcheck.engines.exact import run_exact

        asked = _arithmetic(Arithmetic.BALL if arithmetic is None else arithmetic)
        curve = run_exact(method, problem, grid, names, arithmetic=asked, summaries=kept, on_progress=on_progress)
    else:
        wanted = seeds if isinstance(seeds, range) else range(_count(seeds))
        if not len(wanted):
            raise BadInput(f"seeds = {seeds} is not allowed; the {engine} engine needs at least 1.")
        share = None if on_progress is None else lambda done, of: on_progress(done / max(of, 1))
        if engine == "neural":
            trained = training_engine(engine)
            every = range(grid[-1] + 1) if kept else grid
            curve = trained.run(method, problem, wanted, names, every, neural, on_progress=share, checkpoint=checkpoint)
            curve = on_grid(curve, grid, kept, names) if kept else curve
        else:
            from boundcheck.engines.simulate import run_sampled

            curve = run_sampled(method, problem, grid[-1], wanted, names, grid, summaries=kept, on_progress=share)
    return curve


def check_engine(
    engine: str,
    problem: Problem,
    neural: Mapping[str, Any] | None = None,
    arithmetic: str | Arithmetic | None = None,
) -> None:
    """Raises Unsupported where an engine does not carry a problem, BadInput for settings of another engine."""
    if engine == "neural" and arithmetic is not None:
        raise BadInput(
            f"arithmetic = '{arithmetic}' is a setting of engine = 'exact'; leave it out with engine = 'neural', whose "
            "precision stands under neural."
        )
    if engine != "neural" and neural is not None:
        raise BadInput(f"engine = '{engine}' has no settings 'neural'; leave them out or take engine = 'neural'.")
    if engine != "neural" and is_neural(problem):
        raise Unsupported(
            f"engine = '{engine}' does not train networks, such as that of '{problem.name}'; take engine = 'neural'."
        )


def _arithmetic(name: str | Arithmetic) -> Arithmetic:
    known = [a.value for a in Arithmetic if a is not Arithmetic.SAMPLED]
    if name not in known:
        raise UnknownName("the arithmetic", str(name), known)
    return Arithmetic(name)


def describe(
    curve: Curve, setting: Setting, assumptions: Iterable[str] = (), summaries: Iterable[Summary] = ()
) -> Curve:
    """The curve with what its method and problem know: constants, answers to hypotheses, algorithms, step sizes.

    assumptions: names of hypotheses beside the shipped ones. summaries: those that the curve holds.
    """
    problem, clients = setting.problem, setting.clients
    answers = setting.hypotheses(assumptions)
    run_of_estimates = optional(problem, "along")  # the run along which constants were estimated
    info = {**curve.info, **_from_above(curve, problem)}
    if setting.objections:
        info["unnamed"] = dict(setting.objections)  # of which kinds the method nearly is one, and why it is none
    if run_of_estimates:
        info |= {"estimated": run_of_estimates, "measured": optional(problem, "measured")}
    believed = unchecked(setting.method.parts, clients, int(curve.rounds[-1]) if len(curve.rounds) else 0)
    if believed:
        info["assumed"] = believed
    if curve.arithmetic in (Arithmetic.FLOAT64, Arithmetic.SAMPLED) and not is_neural(problem):
        info["start_norm"] = math.hypot(*map(float, problem.start))  # what doubles have to hold beside the metric
    drawn = curve.expectation and bool(curve.samples)
    start = {name: setting.metric(name).start for name in curve.values}
    over_rounds = dict(curve.summaries)
    for s in summaries if drawn else ():
        every = np.arange(int(curve.rounds[-1]) + 1)
        for limits in certified_envelopes(setting.method, problem, every, (s.metric,)).values():
            over_rounds[s.key] = bounded(over_rounds[s.key], s, limits)
    return replace(
        curve,
        start={name: value for name, value in start.items() if value is not None},
        info=info,
        constants=setting.constants(),
        assumptions={name: a.known for name, a in answers.items() if a.holds or a.known == "sampled"},
        violations={name: a.why for name, a in answers.items() if not a.holds},
        algorithms=setting.algorithms,
        parameters=tuple(setting.parameters),
        chosen=setting.chosen,
        rounded_steps=not setting.method.schedule.is_exact(),
        step_sizes=setting.step_sizes,
        momentum=setting.described.server_momentum,
        rarest=rarest_choice(setting.method, clients) if drawn else None,
        envelopes=certified_envelopes(setting.method, problem, curve.rounds, tuple(curve.samples)) if drawn else {},
        summaries=over_rounds,
    )


def _from_above(curve: Curve, problem: Problem) -> dict[str, Any]:
    """By how much metrics of a sampled run may be too large: gap by so much, dist2 by twice so much in |x - x*|."""
    names = {"gap", "dist2"} & set(curve.samples)
    least = optional(problem, "minimum") if names and not is_neural(problem) else None
    if isinstance(least, Minimum):
        widths = {"gap": least.value - least.low, "dist2": least.radius}
    elif is_neural(problem) and "gap" in names:  # above a lower bound of F; F* is at most all that was seen of F
        seen = curve.samples["gap"]
        widths = {"gap": float(seen[np.isfinite(seen)].min(initial=np.finfo(np.float64).max))}
    else:
        return {}
    return {"from_above": {name: widths[name] for name in sorted(names & set(widths))}}


def round_grid(rounds: int | Sequence[int]) -> list[int]:
    """The rounds at which a curve is measured: strictly increasing, 0 allowed. Raises BadInput."""
    if isinstance(rounds, str) or not isinstance(rounds, Iterable):  # an integer of numpy is no int
        rounds = _whole(rounds)
        if not 0 < rounds <= MAX_ROUNDS:
            raise BadInput(f"rounds = {rounds} is not allowed; it must be between 1 and 10^15.")
        if rounds <= _PLAIN_GRID:
            return list(range(rounds + 1))
        ratio = (rounds / 100) ** (1 / 200)
        spread = {min(rounds, round(100 * ratio**k)) for k in range(201)}
        return sorted({*range(101), *spread, rounds})
    grid = [_whole(r) for r in rounds]
    if not grid or grid[0] < 0 or any(b <= a for a, b in itertools.pairwise(grid)) or grid[-1] > MAX_ROUNDS:
        raise BadInput("the rounds to measure at must be a strictly increasing list between 0 and 10^15.")
    return grid


def _named(metrics: Any) -> tuple[str, ...]:
    """The names of metrics that are asked for."""
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        example = [metrics] if isinstance(metrics, str) else ["f"]
        raise BadInput(
            f"metrics = {shown(repr(metrics))} is not allowed; it must be a list of names, such as {example!r}."
        )
    names: tuple[Any, ...] = tuple(metrics)
    for name in names:
        if not isinstance(name, str):
            raise BadInput(f"metrics: {name!r} is not allowed; a metric is asked for by its name.")
    return names


def _count(seeds: Any) -> int:
    """How many seeds are asked for, of whatever type the number is."""
    try:
        if not isinstance(seeds, bool):
            return operator.index(seeds)
    except TypeError:
        pass
    raise BadInput(f"seeds = {seeds!r} is not allowed; it must be an integer or a range.")


def _whole(value: Any) -> int:
    """A number of rounds, of whatever type, as an int."""
    try:
        number = int(value)
        if number == value:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise BadInput(f"rounds: {value!r} is not allowed; a number of rounds is an integer.")
