"""Carry out the named checks of an implementation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from boundcheck.core.parameters import checks_types
from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.judge.checks.instances import Case, Subject
from boundcheck.judge.checks.result import CheckResult, ImplementationChecks, Settings, carry_out
from boundcheck.judge.checks.table import CHECKS, Check, find
from boundcheck.judge.checks.trial import NotAsked
from boundcheck.judge.findings import Status
from boundcheck.judge.trajectories import Run
from boundcheck.methods.build import build
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of

# What an implementation may lack. The first three show in a check's instances, the others are declared by the check.
CAPABILITIES = (
    "partial participation",
    "unequal weights",
    "unequal sizes",
    "several rounds",
    "one client",
    "other numbers of local steps",
    "other step sizes",
    "changing step sizes",
    "server step size",
    "samples",
)


@checks_types
def check_implementation(
    method: Mapping[str, Any],
    run: Run,
    *,
    checks: Iterable[str] | None = None,
    lacks: Collection[str] = (),
    expected: Mapping[str, str] | None = None,
    seeds: int = 400,
    first_seed: int = 0,
    tolerance: float | None = None,
    rate: float = 1e-6,
) -> ImplementationChecks:
    """Run the named checks on an implementation of a method, each on a fixed instance of its own.

    method: the specification of the method that it is to carry out; which checks are asked follows from its parts.
    run: `run(task, seed)` returns the iterates, (rounds, d) or with the start (rounds + 1, d); see `Task`.
    checks: names (default all). lacks: capabilities of `CAPABILITIES` that the implementation does not have; it may
    also raise NotImplementedError. Such checks are "not asked". expected: check -> reason, of checks that are known to
    fail; one that passes, or is not asked, is an error. seeds: of the statistical checks. tolerance: relative, of exact
    comparisons, by default that of the iterates' precision. rate: probability that a right implementation fails any.
    Raises UnknownName and BadInput for what does not exist or is not allowed.
    """
    how: dict[str, Any] = {"seeds": seeds, "first_seed": first_seed, "tolerance": tolerance, "rate": rate}
    chosen, settings, known = validated(method, lacks, expected, how, checks), Settings(**how), expected or {}
    kept: dict[str, Any] = {}
    results = [_check(c, run, method, lacks, settings, kept) for c in chosen]
    return ImplementationChecks(dict(method), tuple(as_expected(r, known) for r in results), settings)


def validated(
    method: Mapping[str, Any],
    lacks: Collection[str],
    expected: Mapping[str, str] | None,
    settings: Mapping[str, Any],
    checks: Iterable[str] | None = None,
) -> list[Check]:
    """The checks that are run, after all that was given has been looked at; see `check_implementation`."""
    for name in settings:
        if name not in (known := [f.name for f in fields(Settings)]):
            raise UnknownName("the setting", name, known)
    Settings(**settings)
    _ = Subject(method).clients
    for name in lacks:
        if name not in CAPABILITIES:
            raise UnknownName("the capability", name, CAPABILITIES)
    chosen = list(CHECKS) if checks is None else [find(name) for name in checks]
    for name in expected or {}:
        if find(name) not in chosen:
            raise BadInput(f"expected: the check '{name}' is not among those that are run.")
    return chosen


def as_expected(result: CheckResult, expected: Mapping[str, str]) -> CheckResult:
    """The result where some failures are expected, each for a reason."""
    if result.check not in expected:
        return result
    why = f"A failure was expected: {expected[result.check]}"
    if result.status is Status.FAILED:
        return replace(result, status=Status.EXPECTED_FAILURE, reason=f"{why.rstrip('.')}. {result.reason}")
    said = "It passed." if result.status is Status.PASSED else f"It was not asked: {result.reason}"
    return replace(result, status=Status.UNEXPECTED_PASS, reason=f"{why.rstrip('.')}. {said}")


def _check(
    check: Check, run: Run, method: Mapping[str, Any], lacks: Collection[str], settings: Settings, kept: dict[str, Any]
) -> CheckResult:
    subject = Subject(method)
    try:
        cases = check.cases(subject)
        without = [name for name in (*check.needs, *_shown(cases)) if name in lacks]
        if without:
            raise NotAsked(f"the implementation lacks {' and '.join(dict.fromkeys(without))}")
    except NotAsked as error:
        return CheckResult(check.name, check.sentence, Status.NOT_ASKED, dict(method), str(error), settings=settings)
    except BoundcheckError as error:
        why = f"its instance does not fit the composition: {error}"
        return CheckResult(check.name, check.sentence, Status.NOT_ASKED, dict(method), why, settings=settings)
    return carry_out(check, run, method, cases, settings, kept)


def _shown(cases: tuple[Case, ...]) -> list[str]:
    """The capabilities that cases need."""
    found: list[str] = []
    for case in cases:
        sizes = [len(c["components"]) for c in case.problem["clients"]]
        clients = clients_of(build_problem(case.problem))
        drawn = build(case.method).participation.drawing(clients) is not None
        found += ["partial participation"] * drawn
        found += ["unequal weights"] * (len(set(case.problem["weights"])) > 1)
        found += ["unequal sizes"] * (len(set(sizes)) > 1)
    return found
