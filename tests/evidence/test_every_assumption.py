"""Every assumption of every statement: an instance that breaks it, or why no run can test it.

The names are those of the statements; nothing here lists them a second time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from assumption_breaks import BREAKS, UNTESTABLE
from claim_mutations import Claims

from boundcheck.evidence.constant_claims import constant_of
from boundcheck.evidence.open_step_sizes import first_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.setting.constants import named_hypotheses
from boundcheck.setting.metrics import is_round_metric
from boundcheck.setting.user_constants import is_library
from boundcheck.theory.discovery import all_statements, statement
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import Outcome

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = (
    *("classics", "scgd", "feddane", "fedshuffle", "fedshuffle_constants", "async_fl", "partial_averaging", "numbers"),
)
POINTWISE = ("dist2", "gap", "grad2", "x")


@cache
def named() -> Mapping[str, tuple[Statement, ...]]:
    """Assumption -> the statements that make it."""
    found: defaultdict[str, list[Statement]] = defaultdict(list)
    for s in all_statements():
        for assumption in s.assumptions:
            found[assumption.name].append(s)
    return {name: tuple(of) for name, of in sorted(found.items())}


def measured(s: Statement) -> bool:
    """Whether a run, or method and problem without a run, give the statement's metric."""
    quantity = s.metric.quantity
    return s.kind is not Kind.FORMULA and (
        quantity in POINTWISE or is_round_metric(quantity) or constant_of(s) is not None
    )


def test_every_name_is_broken_or_said_to_be_untestable() -> None:
    assert set(named()) == set(BREAKS) | set(UNTESTABLE)
    assert not set(BREAKS) & set(UNTESTABLE)
    assert len(UNTESTABLE) < len(BREAKS) / 3
    assert all(why for why in UNTESTABLE.values())
    for name, case in BREAKS.items():
        assert case.statement in {s.id for s in named()[name]}


def test_what_is_untestable_is_of_lemmas_without_a_run_or_has_a_reason_of_its_own() -> None:
    of_runs = {name for name in UNTESTABLE if any(measured(s) for s in named()[name])}
    assert of_runs == {"independent_weights", "iid_data"}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_assumption_is_out_of_scope(name: str) -> None:
    found = BREAKS[name].verdict(name)
    assert found.outcome is Outcome.OUT_OF_SCOPE, found.reason
    assert f"assumption {name} fails" in found.reason


# --- each assumption of each statement is asked of the runs that the statement is about ----------------------------


@cache
def shipped() -> tuple[dict[str, Any], ...]:
    """The shipped claims as they are written; what is asked here needs none of them checked."""
    every = (spec for name in FILES for spec in Claims(EXAMPLES / f"{name}.toml").written())
    return tuple(c for c in every if c.get("engine") != "neural" and c.get("problem"))


@cache
def answered(number: int) -> frozenset[str]:
    """The hypotheses that problem and method of a shipped claim answer."""
    claim = shipped()[number]
    setting = Setting(first_method(claim["method"]), build_problem(claim["problem"]))
    return frozenset((*setting.hypotheses(), *named_hypotheses()))


def runs_for(s: Statement) -> list[int]:
    """Shipped claims about this statement, then about others on the same method, then about the same paper."""
    paper, kind = s.id.split("/")[0], None if s.algorithm is None else s.algorithm.kind
    about = [statement(c["statement"]) for c in shipped()]
    own = [k for k, other in enumerate(about) if other.id == s.id]
    alike = [
        k for k, o in enumerate(about) if kind is not None and o.algorithm is not None and o.algorithm.kind == kind
    ]
    same = [k for k, other in enumerate(about) if kind is None and other.id.startswith(paper + "/")]
    return [*own, *alike, *same][:12]


@pytest.mark.parametrize("s", [s for s in all_statements() if s.assumptions and measured(s)], ids=lambda s: s.id)
def test_the_runs_of_a_statement_answer_its_assumptions(s: Statement) -> None:
    asked = {a.name for a in s.assumptions if is_library(a) or a.name in named_hypotheses()} - set(UNTESTABLE)
    asked = {name for name in asked if not name.startswith("instance:")}
    runs = runs_for(s)
    assert runs, f"no shipped claim runs {s.algorithm}"
    assert any(asked <= answered(k) for k in runs), [asked - answered(k) for k in runs]
