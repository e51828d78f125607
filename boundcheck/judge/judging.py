"""The one function that judges an implementation: `judge`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from boundcheck.core.parameters import checks_types
from boundcheck.errors import BadInput
from boundcheck.judge.checks.result import ImplementationChecks
from boundcheck.judge.checks.run import check_implementation
from boundcheck.judge.comparison import compare_implementation
from boundcheck.judge.findings import Agreement
from boundcheck.judge.trajectories import Run

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

_OF_CHECKS = ("first_seed",)  # settings that a comparison does not have


@overload
def judge(
    method: Method | Mapping[str, Any],
    run: Run,
    problem: Problem | Mapping[str, Any] | None = None,
    *,
    checks: None = None,
    **settings: Any,
) -> Agreement: ...


@overload
def judge(
    method: Mapping[str, Any],
    run: Run,
    *,
    checks: Literal["all"] | Iterable[str],
    lacks: Collection[str] = (),
    expected: Mapping[str, str] | None = None,
    **settings: Any,
) -> ImplementationChecks: ...


@checks_types
def judge(
    method: Method | Mapping[str, Any],
    run: Run,
    problem: Problem | Mapping[str, Any] | None = None,
    *,
    checks: str | Iterable[str] | None = None,
    lacks: Collection[str] = (),
    expected: Mapping[str, str] | None = None,
    **settings: Any,
) -> Agreement | ImplementationChecks:
    """Judge whether `run(task, seed)` carries out a method: against its exact runs, or by named checks.

    method: an object or specification. run: the implementation, which returns the iterates. problem: an object or
    specification, by default one on which the mistakes of the method differ. checks: None for an `Agreement` with the
    runs of the method on the problem; "all" or names for `ImplementationChecks`, each on a fixed instance of its own.
    lacks: capabilities that the implementation does not have. expected: check -> reason, of checks that are known to
    fail. settings: rounds (200), tolerance, seeds, rate, power of a comparison (`judge.comparison`); seeds (400),
    first_seed, tolerance, rate of checks (`judge.checks.run`). `boundcheck.pytest_plugin.judge` makes a test of each
    check. Raises BadInput, UnknownName and Unsupported; an error inside `run` passes through.
    """
    if checks is None:
        _refuse([*(["lacks"] if lacks else []), *(["expected"] if expected else []), *settings], ("lacks", "expected"))
        _refuse(settings, _OF_CHECKS)
        return compare_implementation(method, run, problem, **settings)
    if problem is not None:
        raise BadInput("judge: each of the checks has a problem of its own; leave out problem, or leave out checks.")
    spec = method if isinstance(method, Mapping) else method.spec
    if spec is None:
        raise BadInput("judge: checks need the specification of the method, such as {'kind': 'fedavg', ...}.")
    chosen = None if checks == "all" else [checks] if isinstance(checks, str) else checks
    return check_implementation(spec, run, checks=chosen, lacks=lacks, expected=expected, **settings)


def _refuse(given: Iterable[str], names: Collection[str]) -> None:
    for name in given:
        if name in names:
            raise BadInput(f"judge: {name} belongs to named checks; give checks, too, such as checks = 'all'.")
