"""How loose a bound is over all instances: between a certified upper value and an instance that attains a lower one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from boundcheck.core.cards import Card
from boundcheck.core.numbers import format_exact, format_short
from boundcheck.core.parameters import checks_types
from boundcheck.errors import BadInput
from boundcheck.methods.build import known_kinds
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.theory.evaluation import Evaluation
from boundcheck.theory.results import Picture, Result, as_number, shortened
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Outcome
from boundcheck.worst_case import lower as below
from boundcheck.worst_case.case import Case
from boundcheck.worst_case.certificate import record
from boundcheck.worst_case.programme import solve

NONE = "no value"


@dataclass(frozen=True, eq=False, repr=False)
class WorstCase(Result):
    """The worst case of a statement at given constants.

    statement: id. values: of its symbols, by name. upper: a certified upper value of the worst case over all instances,
    in the metric's units; None where there is no certificate, and `why` says why. attained: an instance with a lower
    value, or None; why_not: why rebuilt instances do not count. bound: the statement's, at these constants.
    certificate: the record of the upper value, which the verifier checks. unused: assumptions that the class leaves
    out; necessary: assumptions whose inequalities are necessary only: for both the upper value is valid and may be
    larger than the worst case. rounds, clients, method: what was run. broken: assumptions on method and clients that
    fail, so that the statement says nothing of them. constrained: whether only instances that meet the user's own
    constraints were looked at.
    """

    statement: str
    metric: str
    values: Mapping[str, Fraction]
    bound: Evaluation
    upper: Fraction | None
    why: str
    attained: below.Attained | None
    why_not: Sequence[str]
    certificate: Mapping[str, Any] | None
    unused: Sequence[str]
    necessary: Sequence[str]
    rounds: int
    clients: int
    method: str
    broken: Sequence[str] = ()
    constrained: bool = False

    @cached_property
    def outcome(self) -> str:
        """PROVED for these constants, VIOLATED, OUT_OF_SCOPE, or UNDECIDED."""
        if self.attained is not None and self.attained.verdict.outcome is Outcome.VIOLATED:
            return Outcome.VIOLATED.value
        if self.broken or self.bound.in_scope is not True:
            return Outcome.OUT_OF_SCOPE.value
        least = self.bound.exact if isinstance(self.bound.exact, Fraction | None) else self.bound.exact.low
        if self.upper is not None and least is not None and self.upper <= least:
            return "PROVED"
        return Outcome.UNDECIDED.value

    @property
    def lower(self) -> float | None:
        """The metric on the instance."""
        return None if self.attained is None else self.attained.value

    @property
    def looseness(self) -> tuple[float | None, float | None]:
        """Between which numbers bound over worst case lies; None for an end that is not known."""
        bound, low = float(self.bound.value), self.lower
        return (
            None if self.upper is None or self.upper <= 0 else bound / float(self.upper),
            None if low is None or low <= 0 else bound / low,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        attained = self.attained
        return {
            "schema": 1,
            "statement": self.statement,
            "values": {k: format_exact(v) for k, v in self.values.items()},
            "metric": self.metric,
            "rounds": self.rounds,
            "clients": self.clients,
            "method": self.method,
            "outcome": self.outcome,
            "upper": None if self.upper is None else format_exact(self.upper),
            "certified": self.upper is not None,
            "why": self.why,
            "lower": self.lower,
            "instance": None
            if attained is None
            else {
                "problem": attained.problem,
                "method": attained.method,
                "at": attained.at,
                "constants": {k: format_exact(v) for k, v in attained.constants.items()},
                "verdict": attained.verdict.to_dict(),
            },
            "why_not": list(self.why_not),
            "bound": self.bound.to_dict(),
            "ratio": list(self.looseness),
            "unused": list(self.unused),
            "necessary": list(self.necessary),
            "broken": list(self.broken),
            "constrained": self.constrained,
            "certificate": self.certificate,
        }

    def lines(self) -> list[str]:
        """What a person reads."""
        upper = (
            f"at most {format_short(self.upper, 10)} (certified)" if self.upper is not None else f"{NONE}: {self.why}"
        )
        own = self.attained
        if own is None:
            low = f"{NONE}: {self.why_not[0]}" if self.why_not else f"{NONE}: no instance was rebuilt"
        else:
            low = f"at least {own.value:.10g} (an instance of kind {own.problem['kind']}, run)"
        found = [
            f"worst case of {self.metric} after {self.rounds} round{'s' * (self.rounds != 1)} of {self.method}, "
            f"{self.clients} client{'s of equal weight' * (self.clients != 1)}",
            f"  {upper}",
            f"  {low}",
            f"bound: {float(self.bound.value):.10g}",
            f"looseness: {self.loose}",
        ]
        if self.unused:
            found.append(f"not used, so that the upper value may be too large: {', '.join(self.unused)}")
        if self.necessary:
            found.append(f"used by necessary inequalities only: {', '.join(self.necessary)}")
        return [*found, f"{self.outcome}: {self._sentence()}"]

    @property
    def loose(self) -> str:
        """The looseness in words."""
        least, most = self.looseness
        if least is None and most is None:
            return "not known"
        if least is None:
            return f"at most {most:.4g}"
        return f"at least {least:.4g}" if most is None else f"between {least:.4g} and {most:.4g}"

    def _sentence(self) -> str:
        if self.outcome == "PROVED":
            own = " that meets the constraints given" if self.constrained else ""
            return f"no instance of these sizes and constants{own} exceeds the bound"
        if self.outcome == Outcome.VIOLATED.value:
            assert self.attained is not None
            return f"on the instance, {self.attained.verdict.reason[0].lower()}{self.attained.verdict.reason[1:]}"
        if self.outcome == Outcome.OUT_OF_SCOPE.value:
            if self.broken:
                return f"method and clients do not meet the assumption '{self.broken[0]}'"
            return "a condition of the statement fails at these constants"
        if self.upper is None:
            return "no instance exceeds the bound, and no certified value is known"
        beyond = float(self.upper) / float(self.bound.value) - 1 if self.bound.value else float("inf")
        return f"the certified value is above the bound by a relative {beyond:.1e}, and no instance exceeds the bound"

    def _card(self) -> Card:
        facts = [tuple(text.strip().split(": ", 1)) if ": " in text else ("", text.strip()) for text in self.lines()]
        return Card(f"Worst case of {self.statement}", [(a, b) for a, b in facts])  # pyright: ignore

    def __repr__(self) -> str:
        upper = NONE if self.upper is None else format_short(self.upper, 8)
        low = NONE if self.lower is None else f"{self.lower:.8g}"
        bound = f"{float(self.bound.value):.8g}"
        return shortened(f"<WorstCase {self.outcome} {self.statement}: between {low} and {upper}, bound {bound}>")

    def _claimed(self) -> Sequence[Statement]:
        return self.bound._claimed()  # pyright: ignore[reportPrivateUsage]

    def _columns(self) -> dict[str, list[Any]]:
        own = {
            "bound": float(self.bound.value),
            "upper": None if self.upper is None else float(self.upper),
            "lower": self.lower,
            "in_scope": self.bound.in_scope,
            "certified": self.upper is not None,
            "outcome": self.outcome,
        }
        symbols = {name: as_number(v) for name, v in self.values.items()}
        return {name: [value] for name, value in {**symbols, "rounds": self.rounds, **own}.items()}

    def _picture(self) -> Picture:
        """The bound, the certified value and the instance, as dots above the number of rounds."""
        found = {"bound": float(self.bound.value), "certified upper value": self.upper, "an instance": self.lower}
        lines = {name: [(float(self.rounds), float(v))] for name, v in found.items() if v is not None}
        return Picture(lines, "communication rounds", self.metric)


@checks_types
def worst_case(
    statement: Statement | str,
    *,
    clients: int | None = None,
    samples: int = 1,
    rounds: int | None = None,
    method: Mapping[str, Any] | None = None,
    constraints: Callable[..., Any] | None = None,
    **values: Any,
) -> WorstCase:
    """The worst case of a statement's metric over all instances of its class, at the values of its symbols.

    statement: object or id. clients: how many (default: the statement's n, else 2 where a cohort takes part, else
    1). samples: functions of each client. rounds: where the values do not say. method: parameters of the method
    that no symbol names. values: numbers or text, by the names of the symbols; what method and clients fix need not
    be given. constraints: a function of the run that returns constraints of cvxpy on it
    (`boundcheck.worst_case.constraints`); the answer is then about the instances that meet them, and none is
    rebuilt.
    Raises BadInput and Unsupported, in one sentence.
    """
    claimed = find_statement(statement) if isinstance(statement, str) else statement
    for name, count in (("clients", clients), ("samples", samples), ("rounds", rounds)):
        if count is not None and count < 1:
            raise BadInput(f"{name} = {count} is not allowed; it must be at least 1.")
    case = Case(
        claimed,
        values,
        (samples,) * (clients or _clients(claimed, values)),
        rounds,
        method or {},
        constraints=constraints,
    )
    bound, programme = case.bound, case.programme
    certified = solve(programme)
    found: tuple[below.Attained | None, list[str]] = (None, [])
    if constraints is not None:
        found = None, ["an instance is not rebuilt under constraints of your own"]
    elif not isinstance(certified, str):
        found = below.best(case, certified.floating)
    upper = None if isinstance(certified, str) else certified.upper
    return WorstCase(
        statement=claimed.best_id,
        metric=claimed.metric.quantity
        if claimed.metric.average == "last"
        else f"{claimed.metric.average} {claimed.metric.quantity}",
        values=case.values,
        bound=bound,
        upper=upper,
        why=certified if isinstance(certified, str) else "",
        attained=found[0],
        why_not=found[1],
        certificate=None if isinstance(certified, str) else record(case, certified),
        unused=case.unused,
        necessary=case.necessary,
        rounds=case.horizon,
        clients=len(case.sizes),
        method=case.method.name,
        broken=case.broken,
        constrained=constraints is not None,
    )


def _clients(statement: Statement, values: Mapping[str, Any]) -> int:
    named = next((s.name for s in statement.symbols if s.key == "clients/n" and s.name in values), None)
    if named is not None:
        return int(statement.symbol(named).check(Fraction(str(values[named])), statement.best_id))
    kind = None if statement.algorithm is None else known_kinds().get(statement.algorithm.kind)
    return 2 if kind is not None and any(p.name == "participation" for p in kind.declared) else 1
