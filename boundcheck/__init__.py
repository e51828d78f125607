"""boundcheck: whether a published convergence bound holds, where, how tightly, and how we know.

    import boundcheck as bc

    s = bc.statement("scgd/theorem_3_3/corrected")
    problem = bc.problem(kind="least_squares", data="diabetes", clients=20)
    curve = bc.run(bc.method(kind="scgd", E=4, eta="1/50000"), problem, rounds=200)
    print(bc.compare(s, curve).reason)

Names are loaded when they are first used: importing boundcheck alone loads no scientific package.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from boundcheck._version import __version__
from boundcheck.core import providers
from boundcheck.core.parameters import checks_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from boundcheck.engines.curve import Curve
    from boundcheck.errors import BadInput, BoundcheckError
    from boundcheck.evidence.check import Compared, Run, check
    from boundcheck.evidence.claim import Claim, ClaimResult
    from boundcheck.falsify.search import FalsifyResult
    from boundcheck.judge.checks.result import CheckResult, ImplementationChecks
    from boundcheck.judge.findings import Agreement
    from boundcheck.judge.identify import Identified, identify
    from boundcheck.judge.judging import judge
    from boundcheck.judge.mutants import mutants
    from boundcheck.judge.task import Task
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem
    from boundcheck.proof.derivation import Derivation
    from boundcheck.report.audit import Audit, audit
    from boundcheck.theory.keys import Key
    from boundcheck.theory.statement import Statement
    from boundcheck.theory.symbols import Symbol
    from boundcheck.verdict import Grade, Outcome, Verdict
    from boundcheck.worst_case.result import WorstCase, worst_case

__all__ = [
    "Agreement",
    "Audit",
    "BadInput",
    "BoundcheckError",
    "CheckResult",
    "Claim",
    "ClaimResult",
    "Curve",
    "Grade",
    "Identified",
    "ImplementationChecks",
    "Key",
    "Method",
    "Outcome",
    "Problem",
    "Statement",
    "Symbol",
    "Task",
    "Verdict",
    "WorstCase",
    "__version__",
    "audit",
    "check",
    "compare",
    "constants",
    "derivation",
    "falsify",
    "identify",
    "judge",
    "load",
    "method",
    "mutants",
    "problem",
    "run",
    "statement",
    "statements",
    "task",
    "worst_case",
]

providers.register(providers.STATEMENTS, "discovery", "boundcheck.theory.discovery")
providers.register(providers.STATEMENTS, "derive", "boundcheck.proof.derive")
providers.register(providers.STATEMENTS, "figures", "boundcheck.report.figures")
providers.register(providers.NAMES, "methods", "boundcheck.methods.build")
providers.register(providers.NAMES, "metrics", "boundcheck.setting.metrics")
providers.register(providers.CURVES, "external", "boundcheck.evidence.external_curve")
# What the room of trained networks contributes to those below it.
providers.register(providers.ENGINES, "neural", "boundcheck.networks.provider")
providers.register(providers.PROBLEMS, "neural", "boundcheck.networks.problem")
for _name in ("fashion_mnist", "cifar10", "shakespeare", "imdb"):
    providers.register(providers.DATA, _name, f"boundcheck.networks.data.{_name}")
providers.register(providers.STUDIES, "training", "boundcheck.networks.study")

# Public names that live elsewhere: name -> module.
_ELSEWHERE = {
    **dict.fromkeys(("BadInput", "BoundcheckError"), "boundcheck.errors"),
    **dict.fromkeys(("CheckResult", "ImplementationChecks"), "boundcheck.judge.checks.result"),
    **dict.fromkeys(("Claim", "ClaimResult"), "boundcheck.evidence.claim"),
    "Agreement": "boundcheck.judge.findings",
    "Curve": "boundcheck.engines.curve",
    **dict.fromkeys(("Grade", "Outcome", "Verdict"), "boundcheck.verdict"),
    "Key": "boundcheck.theory.keys",
    "Method": "boundcheck.methods.method",
    "Problem": "boundcheck.problems.problem",
    "Statement": "boundcheck.theory.statement",
    "Symbol": "boundcheck.theory.symbols",
    "Task": "boundcheck.judge.task",
    "Verdict": "boundcheck.verdict",
    "Identified": "boundcheck.judge.identify",
    "identify": "boundcheck.judge.identify",
    "judge": "boundcheck.judge.judging",
    "check": "boundcheck.evidence.check",
    "mutants": "boundcheck.judge.mutants",
    **dict.fromkeys(("Audit", "audit"), "boundcheck.report.audit"),
    **dict.fromkeys(("WorstCase", "worst_case"), "boundcheck.worst_case.result"),
}


# Names of 0.1, which go in 0.3: name -> what to use instead.
_OLD = {
    "check_implementation": "boundcheck.judge(method, run, checks='all')",
    "compare_implementation": "boundcheck.judge(method, run, problem)",
    "describe_constants": "the constants of a result, such as boundcheck.run(...).constants",
    "implementation_checks": "boundcheck.pytest_plugin.judge",
    "load_paper": "boundcheck.load",
    "run_claim": "boundcheck.check",
    "run_claims": "boundcheck.check",
}


def __getattr__(name: str) -> Any:
    if name in _OLD:
        warnings.warn(
            f"boundcheck.{name} is deprecated and goes in 0.3; use {_OLD[name]}.", DeprecationWarning, stacklevel=2
        )
        return getattr(import_module("boundcheck.old_names"), name)
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'boundcheck' has no attribute '{name}'")
    found = getattr(import_module(_ELSEWHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """The package, whose public functions stay what they are when a subpackage of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


@checks_types
def load(path: Path | str) -> list[Statement]:
    """Runs a Python file that exports `theorem` or `theorems`, or a folder of such files; returns its statements.

    path: the file or folder.

    Their ids are `<name of the file or folder>/<statement>/<reading>`; from then on they are found as those of
    installed papers are, in worker processes too. What has changed since it was loaded is loaded anew. On the command
    line the same is `--load PATH`. Raises BadInput in one sentence where the path holds no statements, its name is
    taken, or its code raises an exception.
    """
    from boundcheck.theory.loading import load_paper

    return load_paper(path)


@checks_types
def statement(id: str) -> Statement:
    """The statement of an id.

    id: `<paper>/<statement>/<reading>`, or `<paper>/<statement>` for the best reading. Raises UnknownName, with the
    nearest ids, if there is none.
    """
    from boundcheck.theory.discovery import statement as find

    return find(id)


@checks_types
def statements(paper: str | None = None) -> list[Statement]:
    """Every reading of every statement.

    paper: of this paper alone, such as "scgd". Raises UnknownName for a paper that does not exist.
    """
    from boundcheck.theory.discovery import all_statements

    return list(all_statements(paper))


@checks_types
def method(spec: Mapping[str, Any] | None = None, **parameters: Any) -> Method:
    """The method of a specification such as `method(kind="scgd", E=4, eta="1/100")`.

    spec: the specification as a table. parameters: its entries by name, in place of the table or over it.

    All kinds and their parameters: "Methods" in the documentation; `boundcheck.methods.build.kinds()` names them.
    Raises UnknownName for a kind or parameter that does not exist, BadInput for a missing or forbidden one.
    """
    from boundcheck.methods.build import build

    return build({**(spec or {}), **parameters})


@checks_types
def problem(spec: Mapping[str, Any] | None = None, **parameters: Any) -> Problem:
    """The problem of a specification such as `problem(kind="least_squares", data="diabetes", clients=20)`.

    spec: the specification as a table. parameters: its entries by name, in place of the table or over it.

    All kinds and their parameters: "Problems" in the documentation; `boundcheck.problems.build.kinds()` names them.
    Raises UnknownName for a kind or parameter that does not exist, BadInput for a missing or forbidden one,
    DataNotFetched where its data set is not on this machine.
    """
    from boundcheck.problems.build import build

    return build({**(spec or {}), **parameters})


@checks_types
def run(
    method: Method | Mapping[str, Any],
    problem: Problem | Mapping[str, Any],
    *,
    rounds: int | Sequence[int],
    engine: str = "exact",
    seeds: int | range = 100,
    metrics: Any = None,
    arithmetic: str | None = None,
    summaries: Iterable[Any] = (),
    assumptions: Iterable[str] = (),
    neural: Mapping[str, Any] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Run:
    """The metrics of a method on a problem, by communication round.

    method, problem: objects or specifications. rounds: a number of rounds (all are measured up to 2000, about 300
    beyond) or the increasing list of rounds to measure at. engine: "exact" (no sampling), "sampled" or "neural" (runs
    of models on labelled samples, in torch). seeds: of the engines that sample, a number or a range; one run a seed.
    arithmetic: of the exact engine, "ball" (the default), "rational" or "float64". metrics: a list of names, default
    all that the problem has. summaries: "mean", "least" or statements, whose means have weights: what is kept of
    metrics over all rounds (`Curve.summaries`), each of which is then measured; `compare` carries the run out again for
    one that the curve lacks. assumptions: further names of hypotheses to ask the problem about. neural: settings of
    that engine, such as {"precision": "float64"}. on_progress: called with the finished share, 0 to 1. Raises
    UnknownName, BadInput, Unsupported (an engine cannot carry this; the message names one that can) and MissingExtra
    (engine "neural" where torch is not installed).
    """
    from boundcheck.engines.run import run as carry_out
    from boundcheck.evidence.check import Run

    found = carry_out(
        _build_method(method) if isinstance(method, Mapping) else method,
        _build_problem(problem) if isinstance(problem, Mapping) else problem,
        rounds=rounds,
        engine=engine,
        seeds=seeds,
        metrics=metrics,
        arithmetic=arithmetic,
        summaries=summaries,
        assumptions=assumptions,
        neural=neural,
        on_progress=on_progress,
    )
    return Run.of(found)


_build_method, _build_problem, _find = method, problem, statement


def constants() -> list[Key]:
    """The catalogue of constants: for each key its definition in words and as a formula, dimension, source and where.

    The symbols of statements name these keys, and `boundcheck constants --list` prints them.
    """
    from boundcheck.theory.keys import CATALOGUE

    return list(CATALOGUE.values())


@checks_types
def task(method: Method | Mapping[str, Any], problem: Problem | Mapping[str, Any], rounds: int) -> Task:
    """What an implementation of a method gets: client oracles, weights, start, step sizes; see `Task`.

    method, problem: objects or specifications. rounds: their number. Raises BadInput, UnknownName and Unsupported.
    """
    from boundcheck.judge.task import task_of

    built = _build_method(method) if isinstance(method, Mapping) else method
    return task_of(built, _build_problem(problem) if isinstance(problem, Mapping) else problem, rounds)


@checks_types
def compare(
    statement: Statement | str,
    curve: Curve,
    constants: Mapping[str, Any] | None = None,
    *,
    level: float = 0.999,
    problem: Mapping[str, Any] | Problem | None = None,
    method: Mapping[str, Any] | Method | None = None,
) -> Compared:
    """The verdict on one run.

    statement: object or id. curve: of `run`, or from outside. constants: values by symbol name, over those that the
    curve carries. level: of the sequential test on sampled curves. problem, method: objects or specifications that give
    the constants of a curve from outside (`Curve.from_samples`, `from_file`, ...), such as {"kind": "quadratics", ...};
    that the curve was made by them is not checked, which the reason says. Raises BadInput where a symbol has no value,
    the metric is missing or a value is outside its domain.
    """
    from boundcheck.engines.curve import Curve
    from boundcheck.errors import BadInput, shown
    from boundcheck.evidence.check import Compared, spec_of
    from boundcheck.evidence.claim import Claim, run_claim
    from boundcheck.evidence.external_curve import ENGINE

    found = _find(statement) if isinstance(statement, str) else statement
    given: Any = curve
    if not isinstance(given, Curve):
        raise BadInput(f"compare: {shown(curve)} is no Curve; make one with Curve.from_samples or Curve.from_file.")
    if curve.info.get("engine") == ENGINE:
        specs = spec_of("problem", problem or {}, "compare"), spec_of("method", method or {}, "compare")
        result = run_claim(Claim(found, *specs, constants=constants or {}, level=level, curve=curve))
        return Compared.of(result.verdict, found, result=result)
    if problem is not None or method is not None:
        raise BadInput("compare: problem and method are for curves from outside; a run carries its own constants.")
    return Compared.at(found, curve, constants, level)


@checks_types
def derivation(statement: Statement | str) -> Derivation:
    """The derivation of a statement; its `check()` decides every step.

    statement: object or id. Raises UnknownName for an unknown id, BadInput for a statement without a derivation and for
    an object that differs from the statement of its id.
    """
    from boundcheck.proof.discovery import derivation as find

    return find(statement)


@checks_types
def falsify(
    statement: Statement | str,
    *,
    budget: float | str = 60.0,
    seed: int = 0,
    seeds: int = 1,
    max_instances: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    on_progress: Callable[[float, float], None] | None = None,
) -> FalsifyResult:
    """Searches for an instance in scope on which the metric exceeds the bound; finding none proves nothing.

    statement: object or id. budget: seconds, or text such as "60s" or "10m". seed: of the search. seeds: number of
    searches, with this seed and those after it; the witness of the smallest one that finds one is taken. max_instances:
    stop after this number instead, so that the search does not depend on the clock. workers: processes for seeds;
    cluster: a Dask cluster instead, see `check`. on_progress: called with (finished share, best score so far),
    for one seed in this process.
    Raises Unsupported for statements that the search does not reach, BadInput for text that is no duration.
    """
    from boundcheck.core.numbers import parse_seconds
    from boundcheck.falsify.search import falsify as search

    found = _find(statement) if isinstance(statement, str) else statement
    budget = parse_seconds(budget, "budget") if isinstance(budget, str) else budget
    if seeds == 1 and workers is None and cluster is None:
        return search(found, budget=budget, seed=seed, max_instances=max_instances, on_progress=on_progress)
    from boundcheck.core.executor import Where
    from boundcheck.falsify.seeds import falsify_seeds, together

    which = range(seed, seed + seeds)
    where = Where(workers, cluster)
    return together(falsify_seeds(found, which, budget=budget, max_instances=max_instances, where=where))
