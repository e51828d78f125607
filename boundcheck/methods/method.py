"""A method: one composition of parts, carried out unchanged by every engine."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import (
    Aggregation,
    AggregationContext,
    Average,
    Blocks,
    ClientOptimizer,
    Correction,
    Exchange,
    LocalWork,
    Momentum,
    Participation,
    Schedule,
    ServerStep,
    SumOne,
    Unbiased,
    Uniform,
)
from boundcheck.methods.parts.aggregation import check_rule

# `Method.check` looks at the local work of each of up to so many clients, and at the law of any cohort of up to so many
_CHECKED_ONE_BY_ONE = 1000
_CHECKED_LAW = 100_000


@dataclass(frozen=True, repr=False)
class Method:
    """An algorithm as a composition.

    One round from the server point x: the cohort S of `participation` receives x; each i in S does
    `local` work with the step size of `schedule` and returns y_i; the server moves to
    x + eta_g * sum over S of a_i^S (y_i - x), with a from `aggregation` and eta_g from `server`. With `momentum` the
    local steps follow a direction that mixes gradients and the server's momentum; with a `correction` the local work is
    on a shifted objective; with an `exchange` clients keep models of their own between rounds; a `client_optimizer`
    says how local steps differ from plain ones (see these parts).

    name: how reports call it; `build.algorithms` lists the shipped compositions of which it is an instance.
    Raises BadInput for aggregation weights that the local work does not define.
    """

    name: str
    participation: Participation
    local: LocalWork
    schedule: Schedule
    aggregation: Aggregation = field(default_factory=Average)
    server: ServerStep = field(default_factory=ServerStep)
    momentum: Momentum | None = None
    correction: Correction | None = None
    exchange: Exchange | None = None
    client_optimizer: ClientOptimizer | None = None

    def __post_init__(self) -> None:
        if isinstance(self.aggregation, SumOne | Unbiased):
            check_rule(self.aggregation.weights, self.local)

    @property
    def is_plain(self) -> bool:
        """Whether every visit starts from the server's point and steps along gradients of the clients' objectives."""
        own = self.exchange is None and self.client_optimizer is None
        return own and self.momentum is None and self.correction is None

    def rounds_per_cycle(self, clients: Clients) -> int:
        """Rounds that share one step size."""
        own = getattr(self.schedule, "rounds_per_cycle", None)
        return self.participation.period(clients) if own is None else int(own)

    def cycle_of(self, round_index: int, clients: Clients) -> int:
        """The cycle (from 1) to which a round (from 0) belongs."""
        return round_index // self.rounds_per_cycle(clients) + 1

    def is_random(self, clients: Clients) -> bool:
        """Whether two runs can differ."""
        warmed = self.momentum is not None and self.momentum.start == "sampled"
        drawn = None if self.correction is None else self.correction.participation
        own = drawn is not None and drawn.fixed(0, clients) is None
        moved = isinstance(self.exchange, Blocks) and self.exchange.hand_over is not None
        return self.participation.fixed(0, clients) is None or self.local.is_random or warmed or own or moved

    def context(self, clients: Clients) -> AggregationContext:
        """What the aggregation's coefficients may depend on."""
        return AggregationContext(clients, self.participation, self.local)

    def factors(self, cohort: Sequence[int], clients: Clients) -> list[Fraction]:
        """eta_g * a_i for each client of a cohort (negative under an ascending server step)."""
        return [self.server.factor * a for a in self.aggregation.coefficients(cohort, self.context(clients))]

    def check(self, clients: Clients, dim: int | None = None) -> None:
        """Raises BadInput where a part does not fit: a cohort larger than all clients, a list too short, no partition.

        dim: length of the model, where it is known. With many clients only what takes little time is checked.
        """
        n = clients.count
        if isinstance(self.exchange, Blocks):
            self.exchange.models(n)
            if dim is not None and not self.exchange.by_network:
                self.exchange.blocks(dim)
        if n > _CHECKED_LAW and not isinstance(self.participation, Uniform):
            return
        drawing = self.participation.drawing(clients)
        for i in range(n if n <= _CHECKED_ONE_BY_ONE else 1):
            self.local.visits(i, (i,), clients)
        if n > _CHECKED_ONE_BY_ONE:
            return
        cohort = self.participation.fixed(0, clients) if drawing is None else drawing.example()
        if cohort and any(clients.weights[i] for i in cohort):
            self.factors(cohort, clients)

    def exact_steps(self) -> bool:
        """Whether the step sizes that run are those of the schedule's formula, not rounded ones."""
        return self.schedule.is_exact()

    def momentum_factors(self, cohort: Sequence[int], clients: Clients) -> list[Fraction]:
        """w_i/p_i for each client of a cohort: with them the sampled gradients estimate grad F without bias."""
        unbiased = Unbiased()
        return unbiased.coefficients(cohort, self.context(clients))

    def parameters(self) -> Mapping[str, Fraction]:
        """The numbers of all parts under the names that statements use (E, eta, eta0, size, eta_g, ...)."""
        found: dict[str, Fraction] = {}
        parts = (self.participation, self.local, self.schedule, self.aggregation, self.server, self.momentum)
        for part in (*parts, self.exchange, self.client_optimizer):
            if part is None:
                continue
            own = getattr(part, "parameters", None)
            if own is not None:
                found |= own()
                continue
            for f in fields(part):  # pyright: ignore[reportArgumentType]  (parts are dataclasses)
                value = getattr(part, f.name)
                if isinstance(value, int | Fraction) and not isinstance(value, bool):
                    found[f.name] = Fraction(value)
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: each part by its name, with its numbers as exact text."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "name"}
        parts = {name: _part(part) for name, part in given.items() if part is not None}
        return {"schema": 1, "name": self.name, **parts}

    def __repr__(self) -> str:
        return f"<Method {self._words()}>"

    def _repr_html_(self) -> str:
        return f"<b>Method</b> {html.escape(self._words())}"

    def _words(self) -> str:
        parts = [getattr(self, f.name) for f in fields(self) if f.name != "name"]
        shown: list[str] = []
        for part in parts:
            if part is None:
                continue
            numbers = {k: v for k, v in _part(part).items() if k != "part" and v is not None}
            inner = ", ".join(f"{k} = {v}" for k, v in numbers.items())
            shown.append(f"{type(part).__name__}({inner})")
        return f"{self.name}: {', '.join(shown)}"


def _part(part: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"part": type(part).__name__}
    for f in fields(part):
        found[f.name] = _jsonable(getattr(part, f.name))
    return found


def _jsonable(value: Any) -> Any:
    if isinstance(value, Fraction):
        return format_exact(value)
    if isinstance(value, tuple):
        return [_jsonable(v) for v in value]
    return _part(value) if is_dataclass(value) else value
