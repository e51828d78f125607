"""What a bound recommends for an instance, beside the best that is found by running.

Both sides choose the step size and the amount of local work so that a target is reached in the fewest communication
rounds: the bound's side by its own promise, the other by runs. Steps are tried on a grid of powers of two below the
largest that the theorem allows (one that leaves a floor above the target promises nothing), and on one up to the
largest that works (`working_step_size`). A parameter that no theorem limits from above, such as the weight of a
proximal term, may be left to the bound as "best": the value at which it is least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.core.executor import HERE, Lost, SerialExecutor, Where, chosen_executor
from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.core.store import Store
from boundcheck.errors import BadInput, BoundcheckError, Unsupported, WorkerLost
from boundcheck.evidence import rounds_to_target
from boundcheck.evidence.kept_results import entry_of_claim, keep, recall
from boundcheck.evidence.not_run import is_absence
from boundcheck.evidence.open_step_sizes import TUNED, first_of, is_open
from boundcheck.evidence.rounds_to_target import largest_in_practice
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build
from boundcheck.setting import Setting

if TYPE_CHECKING:
    from boundcheck.evidence.claim import Claim
    from boundcheck.evidence.kept_results import Entry
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement


BEST = "best"
STEPS = ("eta_l", "eta", "eta0")  # parameters of methods that are step sizes, in the order of preference
WEIGHTS = ("mu",)  # and that limit how far local work goes, where a method has no step size
HALVINGS = 14  # of the largest step that the theorem allows
TRIED = 12  # halvings of the largest step that works


@dataclass(frozen=True)
class Choice:
    """A method's specification with numbers, and the index and communication rounds at which it reaches the target.

    index, rounds: None where it does not within what is tried.
    """

    method: Mapping[str, Any]
    index: int | None
    rounds: int | None


@dataclass(frozen=True)
class Tuning:
    """statement: id. why: why the bound does not apply or promises nothing, "" where it recommends something.

    target: value of the statement's metric; step: the name of the step size; recommended: by the bound, rounds as it
    promises; really: what that choice really needs; best: the best found by running.
    """

    statement: str
    target: Fraction | None
    step: str | None
    why: str = ""
    recommended: Choice | None = None
    really: int | None = None
    best: Choice | None = None

    @property
    def ratio(self) -> float | None:
        """Rounds that the bound promises over the rounds of the best choice found by running."""
        if self.recommended is None or self.best is None or not self.best.rounds or self.recommended.rounds is None:
            return None
        return self.recommended.rounds / self.best.rounds


def step_of(claimed: Statement, method: Mapping[str, Any] | None = None) -> str | None:
    """The step size among the statement's parameters, or else the proximal weight.

    method: the specification; a statement about many kinds of methods names no parameters, and covers those of the
    method that it has a symbol for.
    """
    if claimed.algorithm is None:
        named = [s.name for s in claimed.symbols if s.name in (method or {})]
    else:
        named = list(claimed.parameters)
    return next((name for name in (*STEPS, *WEIGHTS) if name in named), None)


def standing_in(method: Mapping[str, Any]) -> dict[str, Any]:
    """The specification with 1 for every size that the statement is to give, "best" ones too."""
    return first_of({name: 1 if _is_best(value) else value for name, value in method.items()})[0]


def _is_best(value: Any) -> bool:
    return isinstance(value, str) and value.strip() == BEST


def _local(claimed: Statement, method: Mapping[str, Any], grid: Sequence[int]) -> list[dict[str, Any]]:
    """The method with each amount of local work of the grid, where the statement covers it; as it is without one."""
    if "E" not in claimed.parameters or "E" not in method or not grid:
        return [dict(method)]
    return [{**method, "E": e} for e in grid]


def recommended(
    claimed: Statement,
    problem: Problem,
    method: Mapping[str, Any],
    share: Fraction,
    constants: Mapping[str, Any] | None = None,
    grid: Sequence[int] = (),
) -> tuple[rounds_to_target.Setup | None, Choice | None, str]:
    """The setup and choice with the fewest promised rounds to `share` of the start value; else why there is none.

    A step size that is a number stays; "largest", "c*largest", "tuned" or "best" is chosen here. grid: amounts of local
    work E to choose among; empty: that of the method stays.
    """
    if not rounds_to_target.measures_progress(claimed):
        return None, None, f"it is about '{claimed.metric.quantity}', which does not tell how far a method still is"
    found: tuple[rounds_to_target.Setup, Choice] | None = None
    why = ""
    step = step_of(claimed, method)
    for spec in _local(claimed, method, grid):
        least = step is not None and _is_best(spec.get(step))
        free = not least and step is not None and step in spec and is_open(spec[step], step)
        prescribed = least or (free and step in dict(claimed.choices))
        for k in range(HALVINGS + 1 if free and not prescribed else 1):
            tried = {**spec, str(step): f"{Fraction(1, 2**k)}*largest" if k else "largest"} if free else spec
            setup = rounds_to_target.prepare(claimed, problem, tried, constants) if not prescribed else None
            if prescribed:
                asked = {**spec, str(step): BEST if least else TUNED}
                setup = _prescribed(claimed, problem, asked, constants, share, str(step))
            if setup is None or isinstance(setup, str):
                why = why or str(setup)
                break
            target = rounds_to_target.start_value(setup) * share
            index = rounds_to_target.promised(setup, target)
            if index is None:
                why = why or "its bound stays above the target at every step that was tried"
                continue
            choice = Choice(setup.spec, index, rounds_to_target.rounds_at(setup, index))
            assert choice.rounds is not None
            if found is None or found[1].rounds is None or choice.rounds < found[1].rounds:
                found = (setup, choice)
            elif found[0].spec.get("E") == setup.spec.get("E"):
                break  # smaller steps only take longer now
    return (None, None, why) if found is None else (*found, "")


def _prescribed(
    claimed: Statement,
    problem: Problem,
    spec: Mapping[str, Any],
    constants: Mapping[str, Any] | None,
    share: Fraction,
    step: str,
) -> rounds_to_target.Setup | str:
    """The setup at the horizon for which a prescribed or best step promises the target, horizons doubling."""
    name = str(claimed.metric.index)
    for k in range(2, 41):
        asked = spec
        if _is_best(spec[step]):
            size = _best(claimed, problem, spec, constants, step, 2**k)
            if isinstance(size, str):
                return size
            asked = {**spec, step: format_exact(size)}
        tried = rounds_to_target.prepare(claimed, problem, asked, constants, {name: [2**k]})
        if isinstance(tried, str):
            return tried
        found = rounds_to_target.bound_at(tried, 2**k)
        if found is not None and found <= nearest_float(rounds_to_target.start_value(tried) * share):
            return tried
    return "no value of its step promises the target for a horizon that was tried"


def _best(
    claimed: Statement,
    problem: Problem,
    spec: Mapping[str, Any],
    constants: Mapping[str, Any] | None,
    step: str,
    index: int,
) -> Fraction | str:
    """The value of a parameter at which the bound is least at an index, or why there is none.

    The constants are those at the value 1; where they depend on it, the value is a good one and not the best.
    """
    at_one = rounds_to_target.assembled(claimed, problem, {**spec, step: 1}, constants)
    if isinstance(at_one, str):
        return at_one
    values = {**{k: v for k, v in at_one.values.items() if k != step}, str(claimed.metric.index): Fraction(index)}
    try:
        return claimed.best(step, **values)
    except BoundcheckError as error:
        return str(error).rstrip(".")


def tune(
    claimed: Statement,
    problem: Problem,
    method: Mapping[str, Any],
    share: Fraction,
    constants: Mapping[str, Any] | None = None,
    grid: Sequence[int] = (),
    on_progress: Callable[[float], None] | None = None,
) -> Tuning:
    """The bound's recommendation to reach `share` of the start value, and the best found by running.

    Raises BadInput for a share outside (0, 1) or a statement that bounds no metric for every index.
    """
    if not 0 < share < 1:
        raise BadInput(f"the target {format_exact(share)} is not allowed; it is a share of the start, between 0 and 1.")
    if not rounds_to_target.is_bound(claimed):
        raise BadInput(f"{claimed.best_id} bounds no metric for every number of rounds, so that it promises nothing.")
    step = step_of(claimed, method)
    setup, choice, why = recommended(claimed, problem, method, share, constants, grid)
    if setup is None or choice is None:
        return Tuning(claimed.best_id, None, step, why)
    target = rounds_to_target.start_value(setup) * share
    really = _rounds(setup, rounds_to_target.needed(setup, target))
    best = Choice(setup.spec, None, really) if really is not None else None
    tried = _to_try(setup, claimed, problem, method, step, grid)
    for k, spec in enumerate(tried):
        other = _setup(setup, spec)
        try:
            rounds = _rounds(
                other,
                rounds_to_target.needed(other, target, None if best is None or best.rounds is None else best.rounds),
            )
        except (BadInput, Unsupported):
            continue
        if rounds is not None and (best is None or best.rounds is None or rounds < best.rounds):
            best = Choice(spec, None, rounds)
        if on_progress is not None:
            on_progress((k + 1) / len(tried))
    return Tuning(claimed.best_id, target, step, "", choice, really, best)


def _rounds(setup: rounds_to_target.Setup, index: int | None) -> int | None:
    return None if index is None else rounds_to_target.rounds_at(setup, index)


def _setup(setup: rounds_to_target.Setup, spec: Mapping[str, Any]) -> rounds_to_target.Setup:
    """The same statement and problem with another method, for running alone: nothing is claimed there."""
    setting = Setting(build_method(spec), setup.problem)
    own = setup.claimed.known(setting.parameters)
    values = {**setup.values, **{k: v for k, v in own.items() if k in setup.values}}
    return rounds_to_target.Setup(setup.claimed, setting, spec, values)


def _to_try(
    setup: rounds_to_target.Setup,
    claimed: Statement,
    problem: Problem,
    method: Mapping[str, Any],
    step: str | None,
    grid: Sequence[int],
) -> list[dict[str, Any]]:
    """Specifications with steps up to the largest that works, or smaller weights, for each amount of local work."""
    found: list[dict[str, Any]] = []
    for spec in _local(claimed, method, grid):
        solved = {**setup.spec, **({"E": spec["E"]} if "E" in spec else {})}
        if step is None or step not in solved:
            found.append(solved)
            continue
        if step in WEIGHTS:  # a smaller weight lets local work go further
            start = as_fraction(solved[step], step)
            found += [{**solved, step: format_exact(start / 2**k)} for k in range(1, TRIED + 1)]
            continue
        try:
            works = largest_in_practice(solved, step, problem, as_fraction(solved[step], step)).works
        except BoundcheckError:
            continue
        if works is not None:
            least = as_fraction(solved[step], step)
            steps = [works / 2**k for k in range(TRIED + 1)]
            found += [{**solved, step: format_exact(size)} for size in steps if size > least]
    return found


SERIAL = 3  # up to this number claims are tuned in this process: starting others costs more


@dataclass(frozen=True)
class _Absent:
    """A claim whose data set or package is not on the machine that was to tune it."""

    error: BoundcheckError

    @property
    def lacking(self) -> str:
        """For the executor."""
        return str(self.error)


def tune_claims(
    claims: Sequence[Claim],
    target: Fraction,
    local_work: Sequence[int],
    *,
    store: Path | str | None = None,
    where: Where = HERE,
    show: Callable[[float], None] = lambda done: None,
) -> list[Tuning]:
    """What the bound of each claim recommends, in their order; see `evidence.tuning.tune`.

    target: share of the metric at the start. local_work: amounts to choose among; none: as in the claim. show: called
    with the number of finished claims. Raises WorkerLost where a process was lost twice, and the errors of bad input.
    """
    entries = [entry_of_claim(c, Tuning, "tuning", target=target, local_work=list(local_work)) for c in claims]
    results: list[Any] = [k and k.result for k in recall(store, entries)]
    rest = [place for place, result in enumerate(results) if result is None]
    few = len(rest) <= SERIAL and where == HERE
    executor = SerialExecutor() if few else chosen_executor(where, shared=store)
    shares = [float(result is not None) for result in results]

    def progressed(place: int, done: float) -> None:
        shares[rest[place]] = done
        show(sum(shares))

    items = [(claims[place], target, list(local_work), store, entries[place]) for place in rest]
    computed = executor.map(_tuned, items, lambda place, _: progressed(place, 1.0), progressed)
    for place, result in zip(rest, computed, strict=True):
        results[place] = result
    return [_unless_lost(claim, result) for claim, result in zip(claims, results, strict=True)]


def _tuned(
    item: tuple[Claim, Fraction, list[int], Path | str | None, Entry], tell: Callable[[float], None]
) -> Tuning | _Absent:
    """One claim; at the top of the module, so that worker processes find it."""
    claim, target, local_work, place, entry = item
    try:
        problem = build(claim.problem)
        found = tune(claim.claimed, problem, claim.method, target, claim.constants, local_work, tell)
        return found if place is None else keep(Store(place), entry, found, ())
    except BoundcheckError as error:
        if is_absence(error):
            return _Absent(error)
        raise


def _unless_lost(claim: Claim, result: Tuning | _Absent | Lost) -> Tuning:
    if isinstance(result, Lost):
        raise WorkerLost(f"claim '{claim.label()}': {result.reason}")
    if isinstance(result, _Absent):
        raise result.error
    return result
