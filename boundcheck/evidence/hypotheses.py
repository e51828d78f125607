"""The hypotheses of a statement at the constants of a run: its values, what fails, how each assumption is known.

What neither the problem decides nor points have shown is taken for granted, and said so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.engines.curve import Curve
from boundcheck.errors import BadInput
from boundcheck.evidence.assumptions import check_assumption, covers
from boundcheck.evidence.external_curve import ENGINE
from boundcheck.evidence.kind_parameters import UNDECIDED, Parameters, left_open, objection_to_run
from boundcheck.setting.user_constants import UNCHECKED, check_parameters, given_constants, key_of
from boundcheck.theory.choices import check_choices
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import decide_scope, index_conditions, missed_by, scope_symbols
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.assumptions import Assumption
    from boundcheck.theory.scope import Scope

MISSED = "condition "  # how the reason of a step condition begins

# How `Curve.assumptions` says that a hypothesis was decided for the constants of a claim, not only for the run's own.
DECIDED_HERE = "decided for the given constants"


def symbol_values(
    statement: Statement, curve: Curve, constants: Mapping[str, Any] | None
) -> tuple[dict[str, Fraction], dict[str, Constant]]:
    """Values of the statement's symbols (the index excepted) and how each is known.

    Given constants take precedence over the curve's own as far as they do not contradict them
    (`setting.user_constants`). Raises BadInput where one is missing or contradicts the run.
    """
    methods = tuple(statement.known(dict.fromkeys(curve.parameters or ())))
    if curve.parameters is not None:
        check_parameters(statement, methods)
    own = statement.known(curve.constants)
    every = {**own, **given_constants(statement, own, constants or {}, methods)}
    names = [s.name for s in statement.symbols if s.name != statement.metric.index]
    known = {name: every[name] for name in names if name in every}
    missing = [name for name in names if name not in {*known, *round_symbols(statement)}]
    if missing:
        them = "it" if len(missing) == 1 else "them"
        raise BadInput(
            f"{statement.best_id}: no value for {', '.join(missing)}; neither the problem nor the method has {them}, "
            f"so give {them} as constants{statement.keyless(missing)}."
        )
    return {name: c.value for name, c in known.items()}, known


def assumption_states(statement: Statement, curve: Curve, known: Mapping[str, Constant]) -> dict[str, str]:
    """How each assumption of the statement is known at these constants.

    "broken"; "decided" (exactly, by the problem); "sampled" (at many points); "granted" (taken for granted). What the
    problem decided for its own constants says nothing about others that were given, unless they are on the safe side.
    """
    found: dict[str, str] = {}
    own = statement.known(curve.constants)
    for assumption in statement.assumptions:
        state = curve.assumptions.get(key_of(assumption), "granted")
        if objection_of(curve, assumption) is not None:
            state = "broken"
        elif state == DECIDED_HERE:
            state = "decided"
        elif state == "decided" and not covers(assumption, own, {k: c.value for k, c in known.items()}):
            state = "granted"
        found[assumption.name] = state
    return found


def objection_of(curve: Curve, assumption: Assumption) -> str | None:
    """Why the run's problem breaks an assumption, None where it is not known to."""
    if key_of(assumption) in curve.violations:
        return curve.violations[key_of(assumption)]
    kind, _, example = assumption.name.partition(":")
    own = [name.partition(":")[2] for name in curve.assumptions if name.startswith("instance:")]
    if kind == "instance" and own and example not in own:
        return f"the statement is about the example '{example}', the problem is '{own[0]}'."
    return None


def scope_of(statement: Statement, values: Mapping[str, Fraction]) -> Scope:
    """The scope without what is said of the index, which decides where to compare (`evidence.compared_points`)."""
    if index_conditions(statement):
        return decide_scope(statement, values, every_index=True)
    return statement.scope(**values)


def hypotheses(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> tuple[str | None, Scope]:
    """Why the statement says nothing about this run (None: it does), and the decided step conditions."""
    names = scope_symbols(statement, choices=True)
    scope = scope_of(statement, {k: v for k, v in values.items() if k in names})
    return next(_objections(statement, curve, values, scope), None), scope


def _objections(statement: Statement, curve: Curve, values: Mapping[str, Fraction], scope: Scope) -> Iterator[str]:
    """What of a statement's hypotheses fails: method, step sizes, assumptions, prescribed values, conditions."""
    kind = None if statement.algorithm is None else statement.algorithm.kind
    if kind is not None and curve.algorithms is not None and kind not in curve.algorithms:
        why = curve.info.get("unnamed", {}).get(kind)
        ran = " or ".join(curve.algorithms) or "no named method"
        yield f"the statement is about {kind}, {why or f'the run is {ran}'}"
    steps, _ = steps_objection(statement, curve, values)
    if steps is not None:
        yield steps
    for assumption in statement.assumptions:
        objection = objection_of(curve, assumption)
        if objection is not None:
            yield f"assumption {assumption.name} fails: {objection.rstrip('.')}"
    yield from (c.objection(values[c.name]) for c in check_choices(statement, values) if c.met is False)
    for c in scope.conditions:
        if c.holds is False:
            yield f"{MISSED}'{c.name}' fails: {c.relation} {missed_by(c)}"


def steps_objection(statement: Statement, curve: Curve, values: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Why the run has other step sizes or parameters than the statement prescribes, and why that is not decided."""
    last = int(curve.rounds[-1]) if len(curve.rounds) else 0
    found = objection_to_run(statement, Parameters.of_curve(curve), last, values)
    undecided = found is not None and found.startswith(UNDECIDED)
    return (None, found) if undecided else (found, None)


def with_assumptions(curve: Curve, constants: Mapping[str, Any], claimed: Statement, problem: Problem) -> Curve:
    """The curve with the assumptions that the problem has not decided at these constants tried at many points."""
    _, known = symbol_values(claimed, curve, constants)
    states = assumption_states(claimed, curve, known)
    values = {name: c.value for name, c in known.items()}
    tried, broken = dict(curve.assumptions), dict(curve.violations)
    for assumption in claimed.assumptions:
        if states[assumption.name] != "granted":
            continue
        key = key_of(assumption)
        tried.pop(key, None)
        found = check_assumption(assumption, problem, values, claimed=claimed)
        if found.outcome is Outcome.VIOLATED:
            broken[key] = found.reason
            if found.grade is not Grade.EXACT:
                tried[key] = "sampled"
        elif found.outcome is Outcome.HOLDS:
            tried[key] = DECIDED_HERE if found.grade is Grade.EXACT else "sampled"
    return replace(curve, assumptions=tried, violations=broken)


def untested(
    statement: Statement,
    curve: Curve,
    known: Mapping[str, Constant],
    assumed: Mapping[str, str],
    choices: Sequence[str] = (),
) -> list[str]:
    """What a comparison takes for granted, as phrases: assumptions, the method of the run, values of constants.

    assumed: see `assumption_states`. choices: symbols that may not have the value that the statement prescribes. The
    list is empty for a run of an engine whose hypotheses were all decided or sampled.
    """
    found: list[str] = []
    granted = [name for name, state in assumed.items() if state == "granted"]
    if granted:
        found.append(f"assumption{'s' if len(granted) > 1 else ''} {', '.join(granted)}")
    if statement.algorithm is not None and curve.algorithms is None:
        prescribed = " and ".join(f"{name} = {expr} after r rounds" for name, expr in statement.algorithm.steps)
        found.append(f"that the run is {statement.algorithm.kind}" + (f" with {prescribed}" if prescribed else ""))
    elif statement.algorithm is not None and curve.chosen is None:  # read from a file, say
        names = [name for name, _ in statement.algorithm.steps] if curve.parameters is None else []
        names = list(dict.fromkeys([*names, *left_open(statement, Parameters.of_curve(curve))]))
        found += [f"that the run has the {', '.join(names)} of the statement, which are not recorded"] if names else []
    elif statement.algorithm is not None:
        found += [f"that it is made for every {name}" for name in left_open(statement, Parameters.of_curve(curve))]
    found += [str(phrase) for phrase in curve.info.get("assumed", ())]
    found += [f"that {name} has the prescribed value" for name in choices]
    outside = curve.info.get("engine") == ENGINE and not curve.constants  # no problem has tested what was given
    chosen = {s.name for s in statement.symbols if s.free}
    unchecked = [
        name for name, constant in known.items() if constant.how.endswith(UNCHECKED) or (outside and name not in chosen)
    ]
    if unchecked:
        found.append(f"the given value{'s' if len(unchecked) > 1 else ''} of {', '.join(unchecked)}")
    return found
