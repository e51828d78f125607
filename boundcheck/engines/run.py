"""One door to all engines: `run(method, problem, ...)` gives a Curve with its constants attached."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BadInput, UnknownName, Unsupported, shown
from boundcheck.methods.build import algorithms, objections
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks
from boundcheck.problems._minimum import Minimum
from boundcheck.problems.problem import clients_of
from boundcheck.theory.quantities import PROOF_QUANTITIES

if TYPE_CHECKING:
    from boundcheck.core.store import AnyCheckpoint
    from boundcheck.engines.neural.settings import Settings
    from boundcheck.problems.problem import Problem

__all__ = [
    "ENGINES",
    "ROUND_METRICS",
    "check_engine",
    "describe",
    "describe_constants",
    "hypotheses_of",
    "is_neural",
    "is_round_metric",
    "needed_for",
    "round_grid",
    "run",
]

ENGINES = ("exact", "sampled", "neural")
MAX_ROUNDS = 10**15
_SAMPLED = "computation in the exact engine (engine = 'sampled' has one)"
# Metrics of a round rather than of a point, asked for by name, and what a method must have for the exact engine to
# know them; what they mean is told in `engines.exact.readers`, `.stale` and `.blocks`, and of those that it has not in
# `engines.sampled.looking` and `engines.neural.looking`.
ROUND_METRICS: Mapping[str, str] = {
    "drift": "visits from the server's point",
    "epoch_grad2": "momentum",
    "momentum_error2": "momentum",
    "discrepancy": "models of its own at every client",
    "round_gap": "a server",
    "virtual_round_gap": "a server",
    "virtual_gap": "a server",
    "virtual_grad2": "a server",
    "inexactness": _SAMPLED,
    "B2": _SAMPLED,
    "f_above_least_local": _SAMPLED,
    "least_local_f": _SAMPLED,
    "least_local_loss": _SAMPLED,
}
_OF_BLOCK = "discrepancy:"  # followed by the number of a block
_PLAIN_GRID = 2000  # up to here every round is measured by default; beyond, about 300 rounds on a log grid


def run(
    method: Method,
    problem: Problem,
    *,
    rounds: int | Sequence[int],
    engine: str = "exact",
    seeds: int | range = 100,
    metrics: Iterable[str] | None = None,
    arithmetic: str | Arithmetic | None = None,
    assumptions: Iterable[str] = (),
    neural: Settings | Mapping[str, Any] | None = None,
    checkpoint: AnyCheckpoint | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Curve:
    """Carry out a method on a problem.

    rounds: a number of communication rounds (measured at every round up to 2000, else on a log grid) or the
    increasing list of rounds to measure at. engine: "exact" (no sampling; `arithmetic` "ball", the default,
    "rational" or "float64"), "sampled" (seeds 0 to `seeds` - 1, or a range of them) or "neural" (so many seeds of a
    model on labelled samples, all clients and seeds at once in torch). metrics: default all that the problem has; those
    of `ROUND_METRICS`, and for "neural" those of `engines.neural.looking`, by name. assumptions: names of hypotheses
    that the problem is asked about besides the shipped ones; its answers stand in `Curve.assumptions` and
    `Curve.violations`. neural: settings of the neural engine, such as {"precision": "float64"}. checkpoint: where a
    neural run is saved in between, and from which it goes on. on_progress: called with the finished share, 0 to 1.

    Raises UnknownName (engine, metric), BadInput (rounds, seeds), Unsupported (an engine cannot carry this) and
    MissingExtra (the neural engine without torch).
    """
    if engine not in ENGINES:
        raise UnknownName("the engine", engine, ENGINES)
    check_engine(engine, problem, neural, arithmetic)
    grid = round_grid(rounds)
    names = problem.metrics if metrics is None else _named(metrics)
    for name in names if engine != "neural" else ():  # the neural engine has more of them and says which
        if name in PROOF_QUANTITIES:
            raise BadInput(f"the metric '{name}' occurs in a proof and no run measures it: {PROOF_QUANTITIES[name]}.")
        if name not in problem.metrics and not is_round_metric(name):
            raise UnknownName(f"the problem '{problem.name}': metric", name, problem.metrics)
    if engine == "exact":
        from boundcheck.engines.exact import run_exact

        asked = _arithmetic(Arithmetic.BALL if arithmetic is None else arithmetic)
        curve = run_exact(method, problem, grid, names, arithmetic=asked, on_progress=on_progress)
    else:
        wanted = seeds if isinstance(seeds, range) else range(_count(seeds))
        if not len(wanted):
            raise BadInput(f"seeds = {seeds} is not allowed; the {engine} engine needs at least 1.")
        share = None if on_progress is None else lambda done, of: on_progress(done / of)
        if engine == "neural":
            from boundcheck.engines.neural.run import run_neural
            from boundcheck.engines.neural.settings import Settings

            curve = run_neural(
                method, problem, grid[-1], wanted, names, grid, Settings.of(neural),
                on_progress=share, checkpoint=checkpoint,
            )  # fmt: skip
        else:
            from boundcheck.engines.sampled import run_sampled

            curve = run_sampled(method, problem, grid[-1], wanted, names, grid, on_progress=share)
    return describe(curve, method, problem, assumptions)


def is_neural(problem: Problem) -> bool:
    """Whether a problem is one that only the neural engine carries: its start is a vector of floats, not exact."""
    return hasattr(problem, "start_vector")


def check_engine(
    engine: str,
    problem: Problem,
    neural: Settings | Mapping[str, Any] | None = None,
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


def is_round_metric(name: str) -> bool:
    """Whether a metric is one of a round, which the method has and not the problem."""
    return name in ROUND_METRICS or (name.startswith(_OF_BLOCK) and name[len(_OF_BLOCK) :].isdecimal())


def needed_for(name: str, method: Method) -> str | None:
    """What a method lacks for a metric of a round, in words; None where it lacks nothing."""
    needs = ROUND_METRICS[name.partition(":")[0]]
    blocks = isinstance(method.exchange, Blocks)
    met = {
        "momentum": method.momentum is not None,
        "models of its own at every client": blocks,
        "a server": not blocks and method.momentum is None,
        _SAMPLED: False,
    }.get(needs, method.exchange is None and method.correction is None)
    return None if met else needs


def _arithmetic(name: str | Arithmetic) -> Arithmetic:
    known = [a.value for a in Arithmetic if a is not Arithmetic.SAMPLED]
    if name not in known:
        raise UnknownName("the arithmetic", str(name), known)
    return Arithmetic(name)


def describe(curve: Curve, method: Method, problem: Problem, assumptions: Iterable[str] = ()) -> Curve:
    """The curve with the constants of problem and method, their answers to hypotheses and the algorithm's names."""
    from boundcheck.engines.envelopes import certified_envelopes
    from boundcheck.engines.rare_choices import rarest_choice

    decided, broken = hypotheses_of(method, problem, assumptions)
    told = getattr(problem, "told", "")  # along which run constants were estimated
    info = {**curve.info, **_from_above(curve, problem)}
    clients = clients_of(problem)
    named = algorithms(method, clients)
    unnamed = {} if named else objections(method, clients)
    if unnamed:
        info["unnamed"] = unnamed  # of which kinds the method nearly is one, and why it is none
    drawn = curve.expectation and bool(curve.samples)
    return replace(
        curve,
        start=_at_start(problem, curve.values),
        info={**info, "estimated": told, "measured": getattr(problem, "measured", {})} if told else info,
        constants=describe_constants(method, problem),
        assumptions=decided,
        violations=broken,
        algorithms=named,
        parameters=tuple(method.parameters()),
        rounded_steps=not method.exact_steps(),
        rarest=rarest_choice(method, clients) if drawn else None,
        envelopes=certified_envelopes(method, problem, curve.rounds, tuple(curve.samples)) if drawn else {},
    )


def hypotheses_of(
    method: Method, problem: Problem, assumptions: Iterable[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """What problem and method answer to hypotheses, as in `Curve`: how each is known to hold, and why it fails.

    A hypothesis that fails in double precision only is in both. assumptions: names that the problem is asked about
    besides the shipped ones. Hypotheses that neither can decide are left out.
    """
    from boundcheck.setting.asynchronous import async_hypotheses
    from boundcheck.setting.blocks import block_hypotheses
    from boundcheck.setting.client_hypotheses import client_hypotheses
    from boundcheck.setting.followed_objective import weight_hypotheses
    from boundcheck.setting.proximal import cohort_hypotheses

    seen = getattr(problem, "holds_by_estimates", _on_none)
    decided: dict[str, str] = {}
    broken: dict[str, str] = {}
    for name in dict.fromkeys([*_known_assumptions(problem), *assumptions]):
        try:
            objection = problem.violations(name)
        except UnknownName:  # a hypothesis that this problem cannot decide
            continue
        if objection is None:
            decided[name] = "sampled" if seen(name) else "decided"
        else:
            broken[name] = objection
    joint, inexact = client_hypotheses(problem)
    joint |= {**weight_hypotheses(method, problem), **block_hypotheses(method, problem)}
    joint |= cohort_hypotheses(method, problem)
    joint |= async_hypotheses(method, problem)
    for name, objection in joint.items():
        if objection is None:
            decided[name] = "sampled" if seen(name) else "decided"
        else:
            broken[name] = objection
            if name in inexact:
                decided[name] = "sampled"  # it was seen to fail in double precision
    return decided, broken


def _from_above(curve: Curve, problem: Problem) -> dict[str, Any]:
    """By how much metrics of a sampled run may be too large: gap by so much, dist2 by twice so much in |x - x*|."""
    names = {"gap", "dist2"} & set(curve.samples)
    least: Any = getattr(problem, "minimum", None) if names and not is_neural(problem) else None
    if isinstance(least, Minimum):
        widths = {"gap": least.value - least.low, "dist2": least.radius}
    elif is_neural(problem) and "gap" in names:  # above a lower bound of F; F* is at most all that was seen of F
        seen = curve.samples["gap"]
        widths = {"gap": float(seen[np.isfinite(seen)].min(initial=np.finfo(np.float64).max))}
    else:
        return {}
    return {"from_above": {name: widths[name] for name in sorted(names & set(widths))}}


def describe_constants(method: Method, problem: Problem) -> Mapping[str, Constant]:
    """The constants of the problem, those of method and problem together and the method's parameters.

    A name in several is the parameter, then the joint constant. Each is computed when it is first asked for.
    """
    from boundcheck.certified.lazy import LazyConstants
    from boundcheck.setting.participation import joint_makers

    own = {
        name: Constant(value, Known.EXACT, "exact", "parameter of the method")
        for name, value in method.parameters().items()
    }
    known = problem.constants()
    makers: dict[str, Callable[[], Constant]] = {name: partial(known.__getitem__, name) for name in known}
    together = joint_makers(method, problem)
    rests = getattr(problem, "rests_on_estimates", _on_none)
    together = {k: partial(_estimated, make) if rests(k) else make for k, make in together.items()}
    return LazyConstants({**makers, **together, **{k: partial(own.__getitem__, k) for k in own}})


def _on_none(name: str) -> bool:
    """What an answer rests on of a problem without estimates."""
    return False


def _estimated(make: Callable[[], Constant]) -> Constant:
    """A constant that is made of estimates."""
    return replace(make(), known=Known.ESTIMATED)


def _known_assumptions(problem: Problem) -> list[str]:
    """The shipped hypotheses, and that the problem is the example that it is."""
    from boundcheck.problems._quadratic import ASSUMPTIONS

    return [*ASSUMPTIONS, f"instance:{getattr(problem, 'instance', problem.spec.get('kind'))}"]


def _at_start(problem: Problem, names: Iterable[str]) -> dict[str, Fraction]:
    """The exact metrics at round 0, as far as they are rational."""
    if is_neural(problem):
        return {}
    x = np.empty(problem.dim, dtype=object)
    x[:] = problem.start
    found: dict[str, Any] = {name: problem.metric(name, x) for name in names if name in problem.metrics}
    return {name: Fraction(v) for name, v in found.items() if isinstance(v, int | Fraction)}


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
