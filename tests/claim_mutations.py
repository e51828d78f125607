"""What the tests of shipped claims share: running a claim under a named mutation of method, problem or statement.

A mutated part says of itself what the sound one says (it compares equal to it) and does something else, so that the
claim must notice what is done, not what is declared.
"""

from __future__ import annotations

import re
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
from boundcheck.evidence.claim import Claim, ClaimResult, Resolved, resolve, run_claim
from boundcheck.evidence.spec import claims_from_text, load_claims
from boundcheck.methods import own_parts
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Unbiased
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem
from boundcheck.setting import Setting
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Condition, Statement

Spec = Mapping[str, Any]


class Claims(Mapping[str, Claim]):
    """The claims of a file by name, each checked when it is first asked for: collecting tests asks for none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checked: dict[str, Claim] = {}

    @cached_property
    def _texts(self) -> dict[str, str]:
        parts = re.split(r"^\[\[claim\]\]$", self._path.read_text(), flags=re.MULTILINE)[1:]
        return {spec["name"]: f"[[claim]]{part}" for spec, part in zip(self.written(), parts, strict=True)}

    def __getitem__(self, name: str) -> Claim:
        if name not in self._checked:
            (self._checked[name],) = claims_from_text(self._texts[name], self._path.name, need_expect=True)
        return self._checked[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def take_from_commands(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What a command in this process loads from the file is not checked again here."""

        def load(path: Path, **options: Any) -> list[Claim]:
            found = load_claims(path, **options)
            if path == self._path:
                self._checked.update((claim.name, claim) for claim in found)
            return found

        monkeypatch.setattr("boundcheck.evidence.spec.load_claims", load)

    def written(self) -> list[Spec]:
        """The tables of the file as they are written, for what tests are named after."""
        return tomllib.loads(self._path.read_text())["claim"]


class Posing(Setting):
    """The setting of a mutated method that declares the sound one's local work and unbiased weights.

    Its constants are of those: they follow from what parts answer, so that a part alone cannot declare another thing.
    """

    def __init__(self, method: Method, problem: Problem, sound: Method) -> None:
        super().__init__(method, problem)
        weights = sound.aggregation if isinstance(sound.aggregation, Unbiased) else method.aggregation
        self.declared = Setting(replace(method, local=sound.local, aggregation=weights), problem)

    _constants = property(lambda self: self.declared._constants)


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
            monkeypatch.setattr(own_parts, "is_own", lambda part: False)  # a mutated part poses as a shipped one
            change = self.methods[mutation]

            def resolved(claim: Claim) -> Any:
                found = resolve(claim)
                if not isinstance(found, Resolved):
                    return found
                sound, problem = found.setting.method, found.setting.problem
                method = change(sound)
                if found.claimed.metric.surrogate:  # the objective that the mutated method follows
                    problem = Setting(method, build_problem(claim.problem)).following().problem
                return replace(found, setting=Posing(method, problem, sound))

            monkeypatch.setattr(claims_module, "resolve", resolved)
        elif mutation in self.problems:
            claim = replace(claim, problem=self.problems[mutation](claim.problem))
        else:
            alter = self.statements[mutation]
            claim = replace(claim, statement=alter(statement(claim.statement)))
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
