"""Public names of 0.1 that have new names in 0.2 and go in 0.3; `boundcheck.__getattr__` warns where one is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.cli.output import progress
from boundcheck.core.executor import Where
from boundcheck.core.parameters import checks_types
from boundcheck.core.store import Store
from boundcheck.errors import BadInput
from boundcheck.evidence import claim as claim_module
from boundcheck.evidence.carry_out import carry_out, results_of
from boundcheck.evidence.spec import claim_from_table, load_claims
from boundcheck.judge.checks.run import check_implementation
from boundcheck.judge.comparison import compare_implementation
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import setting
from boundcheck.theory.loading import load_paper as load_paper

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.evidence.claim import Claim, ClaimResult
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

__all__ = [
    "check_implementation",
    "compare_implementation",
    "describe_constants",
    "implementation_checks",
    "load_paper",
    "run_claim",
    "run_claims",
]


def implementation_checks(*given: Any, **settings: Any) -> Any:
    """See `boundcheck.pytest_plugin.judge`."""
    from boundcheck.pytest_plugin import judge  # which needs pytest

    return judge(*given, **settings)


@checks_types
def run_claim(
    claim: Claim | Mapping[str, Any] | Path | str,
    store: Store | Path | str | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> ClaimResult:
    """The result of one claim: a Claim, the table of one, or a file that holds one; see `boundcheck.check`."""
    found = _claims(claim)
    if len(found) != 1:
        raise BadInput(f"run_claim: '{claim}' holds {len(found)} claims; one is allowed, so use run_claims.")
    return claim_module.run_claim(found[0], Store(store) if isinstance(store, str | PathLike) else store, on_progress)


def _claims(given: Claim | Mapping[str, Any] | Path | str) -> list[Claim]:
    """A claim as it is; those of a table or a specification file after the checks of `boundcheck check`."""
    if isinstance(given, Mapping):
        return [claim_from_table(given, "the claim")]
    return load_claims(given) if isinstance(given, str | PathLike) else [given]


@checks_types
def run_claims(
    claims: Iterable[Claim | Mapping[str, Any] | Path | str] | Mapping[str, Any] | Path | str,
    *,
    store: Path | str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    time_limit: float | None = None,
) -> list[ClaimResult]:
    """The results of claims, in their order: each a Claim, the table of one, or a file; see `boundcheck.check`."""
    place = Path(store) if isinstance(store, str) and "://" not in store else store
    each: Iterable[Any] = [claims] if isinstance(claims, Mapping | str | PathLike) else claims
    whole = [claim for given in each for claim in _claims(given)]
    return results_of(carry_out(whole, store=place, where=Where(workers, cluster, time_limit), progress=progress))


@checks_types
def describe_constants(
    method: Method | Mapping[str, Any], problem: Problem | Mapping[str, Any]
) -> Mapping[str, Constant]:
    """The constants of a method on a problem, by the names under which they are reported; see `setting.setting`."""
    return setting.describe_constants(
        build_method(method) if isinstance(method, Mapping) else method,
        build_problem(problem) if isinstance(problem, Mapping) else problem,
    )
