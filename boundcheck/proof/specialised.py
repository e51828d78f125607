"""A statement about a general method, for a method that is a special case of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.cited import Instance, as_strong, not_one_value, start_and_end
from boundcheck.proof.clock import at_start
from boundcheck.proof.discovery import derivation
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.step import Context, Finding, Status
from boundcheck.theory.assumptions import follows
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.theory.special_cases import SPECIAL_CASES, SpecialCase


def _case(general: str) -> SpecialCase | None:
    return next((case for case in SPECIAL_CASES.values() if case.general == general), None)


@dataclass(frozen=True)
class Specialised(Instance):
    """The bound of a statement about a general method, for a run of the special one that is being derived.

    statement, metric, images: as for an `Instance`; the symbols of the general method have the values that
    `theory.special_cases` gives, the others must be declared alike in both statements. That the special method is the
    general one with these values is named in the trusted base.
    """

    @property
    def label(self) -> str:
        """What the report calls it."""
        return f"special case: {self.statement}"

    def values(self, cited: Any) -> dict[Any, Any]:
        """Symbol of the general method -> its value for the special one."""
        case, names = _case(cited.algorithm.kind), {s.name for s in cited.symbols}
        return {} if case is None else {cited.symbol(n).expr: e for n, e in case.values if n in names}

    def _images(self, cited: Any) -> dict[Any, Any]:
        """Symbol of the cited statement -> what it stands for here."""
        return {**self.values(cited), **super()._images(cited)}

    def trusted(self) -> tuple[tuple[str, str], ...]:
        """That the one method is the other."""
        cited: Any = find_statement(self.statement)
        case = _case(cited.algorithm.kind)
        return () if case is None else ((case.why, f"{self.statement} is used"),)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """Those of an instance that the values do not settle."""
        yield from ((relation, own) for relation, own in super().obligations(facts) if relation != sp.true)

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """UNDECIDED where the cited statement does not apply; else the status of its own derivation."""
        proof = derivation(self.statement)
        reason = self._unfit(proof.statement, setting)
        if reason:
            return Finding(Status.UNDECIDED, "no decision", note=reason, claim=str(claim))
        return as_strong(Rule.check(self, claim, facts, setting), proof, setting.seconds, self.label)

    def _unfit(self, cited: Any, setting: Context) -> str:
        """Why the cited statement is not about the run; empty where it is."""
        citing = setting.statement
        if citing is None or setting.clock is None or citing.algorithm is None or cited.algorithm is None:
            return "no statement about a method is being derived, or cited"
        case = SPECIAL_CASES.get(citing.algorithm.kind)
        if case is None or case.general != cited.algorithm.kind:
            return f"{citing.id} is not about a special case of the method of {cited.id}"
        if citing.metric.surrogate or not cited.metric.surrogate:
            return f"{cited.id} must be about the surrogate objective, and {citing.id} about f"
        wanted: list[Any] = [next((own for a, own in case.assumptions if a == one), one) for one in cited.assumptions]
        missing = [a.name for a in wanted if not follows(a, citing.assumptions, {})]
        if missing:
            return f"{cited.id} assumes {', '.join(missing)} besides"
        return (
            not_one_value(cited, setting, self.metric)
            or self._undeclared(cited, citing, case)
            or start_and_end(cited, setting, self.metric, dict(self.images), later=False)
        )

    def _undeclared(self, cited: Any, citing: Any, case: SpecialCase) -> str:
        """The first symbol that is not the same in both statements, or that has a wrong image."""
        declared, values, images = {s.name: s for s in citing.symbols}, dict(case.values), dict(self.images)
        needed = {
            s.name for name in (c.name for c in cited.symbols) for s in getattr(values.get(name), "free_symbols", ())
        }
        absent = sorted(needed - set(declared))
        if absent:
            return f"{', '.join(absent)}, by which the method is a special case, is no symbol of {citing.id}"
        if not (self.metric.is_Symbol or isinstance(self.metric, AppliedUndef)) or str(self.metric) in declared:
            return f"{self.metric} is no quantity of its own, which what {cited.id} bounds must be"
        for symbol in cited.symbols:
            image = images.get(symbol.name)
            if at_start(symbol) != (image is not None):
                return (
                    f"{symbol.name} of {cited.id} must have an image where it is a value at the start, and only there"
                )
            if image is None and symbol.name not in values and declared.get(symbol.name) != symbol:
                return f"{symbol.name} is not declared as in {cited.id}, or not at all"
            if image is not None and symbol.name in declared and image != symbol.expr:
                return f"{symbol.name} of {cited.id} is the value at the start of this run, and has no other image"
            if image is not None and not (image.is_Symbol or isinstance(image, AppliedUndef)):
                return f"{image} is no quantity of its own, which a value at the start of {cited.id} must be"
        return ""
