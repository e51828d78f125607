"""What the tests of shipped claims share: running a claim under a named mutation of method, problem or statement.

A mutated part says of itself what the sound one says (it compares equal to it) and does something else, so that the
claim must notice what is done, not what is declared.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from boundcheck.evidence import claim as claims_module
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.spec import load_claims
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Condition, Statement

Spec = Mapping[str, Any]


class Claims(Mapping[str, Claim]):
    """The claims of a file by name. They are checked when the first is asked for: collecting tests asks for none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _loaded(self) -> dict[str, Claim]:
        return {c.name: c for c in load_claims(self._path, need_expect=True)}

    def __getitem__(self, name: str) -> Claim:
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    def written(self) -> list[Spec]:
        """The tables of the file as they are written, for what tests are named after."""
        return tomllib.loads(self._path.read_text())["claim"]


@dataclass(frozen=True)
class Mutations:
    """Mutations by name, of each of the three things that a claim is made of."""

    methods: Mapping[str, Callable[[Method], Method]]
    problems: Mapping[str, Callable[[Spec], dict[str, Any]]]
    statements: Mapping[str, Callable[[Statement], Statement]]

    def names(self) -> set[str]:
        return {*self.methods, *self.problems, *self.statements}

    def run(self, claim: Claim, mutation: str, monkeypatch: pytest.MonkeyPatch) -> ClaimResult:
        """The claim's result under the mutation; step sizes are those that the sound method was given."""
        if mutation in self.methods:
            change = self.methods[mutation]
            monkeypatch.setattr(claims_module, "build_method", lambda spec: change(build_method(spec)))
        elif mutation in self.problems:
            claim = replace(claim, problem=self.problems[mutation](claim.problem))
        else:
            alter = self.statements[mutation]
            monkeypatch.setattr(claims_module, "statement", lambda id: alter(statement(id)))
        return run_claim(claim)


def poses_as(part: Any, base: type, other: object) -> bool:
    """Whether `other` is a `base` with the same fields: what a mutated part answers when it is compared."""
    return isinstance(other, base) and all(getattr(part, f.name) == getattr(other, f.name) for f in fields(base))


@dataclass(frozen=True)
class HalvedStep(Constant):
    def step(self, cycle: int) -> Fraction:
        return self.eta / 2


@dataclass(frozen=True)
class NoStep(Constant):
    def step(self, cycle: int) -> Fraction:
        return self.eta / 10**30


def with_schedule(cls: type[Constant]) -> Callable[[Method], Method]:
    """The mutation that runs another step size than the constant one that is declared."""

    def mutate(method: Method) -> Method:
        assert isinstance(method.schedule, Constant)
        return replace(method, schedule=cls(method.schedule.eta, method.schedule.symbol))

    return mutate


def bound_divided(claimed: Statement) -> Statement:
    return replace(claimed, bound=claimed.bound / Fraction(101, 100))


def condition_dropped(claimed: Statement) -> Statement:
    """Upper limits (of the step size) a million times as high."""

    def lax(condition: Condition) -> Condition:
        relation: Any = condition.relation
        if not isinstance(relation, sp.Le | sp.Lt):
            return condition
        looser: Any = relation.lhs / sp.Integer(10**6)
        return Condition(condition.name, relation.func(looser, relation.rhs))

    return replace(claimed, conditions=tuple(map(lax, claimed.conditions)))
