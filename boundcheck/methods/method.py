"""A method: one composition of parts, carried out unchanged by every engine."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.own_parts import check_answers, is_own, refuse_unknown
from boundcheck.methods.own_rule import check_declared
from boundcheck.methods.parts import (
    Aggregation,
    AggregationContext,
    Average,
    Blocks,
    ClientOptimizer,
    Control,
    Correction,
    EpochRange,
    Epochs,
    ExactSolve,
    Exchange,
    Formula,
    LocalWork,
    Momentum,
    Participation,
    Proximal,
    Schedule,
    ServerMomentum,
    ServerStep,
    SumOne,
    Unbiased,
    Uniform,
    Visit,
    WithReplacement,
)
from boundcheck.methods.parts.aggregation import check_rule
from boundcheck.methods.round import Rule

_OTHERS = ("momentum", "server_momentum", "correction", "control", "exchange")
# Parts of which only one says what a round does: the first beside any of the others, and why not.
_APART: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("server_momentum", ("momentum", "correction", "exchange"), "the exact engine has no momentum of the server's step "
     "beside a momentum in local steps, a correction or models that the clients keep ({name})."),
    ("correction", ("exchange",), "the exact engine has no correction beside models that the clients keep ({name})."),
    ("server", (*_OTHERS, "functions"), "the exact engine averages the models of plain methods only ({name})."),
    ("correction", ("momentum",), "the exact engine has no correction beside a momentum ({name})."),
    ("functions", _OTHERS, "{name} says with functions of its own what a round does, and has no further part for it."),
)  # fmt: skip
_NOT_WITH_CONTROL = {
    "momentum": "a momentum", "correction": "a gradient correction", "exchange": "models that clients keep",
    "client_optimizer": "local steps that are not plain", "server_momentum": "a momentum of the server's step",
}  # fmt: skip
_STALE = (
    "{name} has a momentum or a correction, which the exact engine does not combine with clients that work on older "
    "points."
)
_KEPT = (
    "{name} averages models that the clients keep; the exact engine carries this out without a momentum, a correction, "
    "or a server step other than 1."
)

# Largest numbers of clients of which `Method.check` looks at the local work one by one, and at the law of any cohort
_CHECKED_ONE_BY_ONE = 1000
_CHECKED_LAW = 100_000


@dataclass(frozen=True, repr=False)
class Method:
    """An algorithm as a composition.

    One round from the server point x: the cohort S of `participation` receives x; each i in S does
    `local` work with the step size of `schedule` and returns y_i; the server moves to
    x + eta_g * sum over S of a_i^S (y_i - x), with a from `aggregation` and eta_g from `server`. With `momentum` the
    local steps follow a direction that mixes gradients and the server's momentum; with a `correction` the local work is
    on a shifted objective; with a `control` variate the gradients of local steps are corrected by those that the
    clients keep; with an `exchange` clients keep models of their own between rounds; a `client_optimizer` says how
    local steps differ from plain ones; a `server_momentum` makes the server go on in the direction of its step before
    (see these parts). In place of these parts `functions` can say all that a round does with vectors (`round.Rule`).

    name: how reports call it; `build.algorithms` lists the shipped compositions of which it is an instance. spec: the
    specification that it was built from; None for a composition made in another way, such as by `replace`.
    Raises BadInput for aggregation weights that the local work does not define, and for parts beside a control variate
    with which it has no agreed meaning.
    """

    spec: ClassVar[Mapping[str, Any] | None] = None
    name: str
    participation: Participation
    local: LocalWork
    schedule: Schedule
    aggregation: Aggregation = field(default_factory=Average)
    server: ServerStep = field(default_factory=ServerStep)
    momentum: Momentum | None = None
    correction: Correction | None = None
    control: Control | None = None
    exchange: Exchange | None = None
    client_optimizer: ClientOptimizer | None = None
    server_momentum: ServerMomentum | None = None
    functions: Rule | None = None

    def __post_init__(self) -> None:
        refuse_unknown(self.name, self.parts)
        if self.functions is not None and is_own(self.functions):
            check_declared(self.name, self.functions)
        if isinstance(self.aggregation, SumOne | Unbiased):
            check_rule(self.aggregation.weights, self.local)
        if self.control is not None:
            self._check_control()
        further = any(part is not None for part in (self.correction, self.exchange, self.control))
        if self.weighs_visits and further:
            raise BadInput(f"{self.name}: differences divided by drawn numbers of steps go with no further part.")
        if self.steps_together and further:
            raise BadInput(f"{self.name}: a common number of steps that is drawn goes with no further part.")
        if self.by_iteration and (self.momentum is not None or self.control is not None):
            what = "a momentum in local steps" if self.control is None else "control variates"
            raise BadInput(f"{self.name}: a step size that changes within a round does not go with {what}.")

    def _check_control(self) -> None:
        there = [what for role, what in _NOT_WITH_CONTROL.items() if getattr(self, role) is not None]
        there += ["proximal local work"] * isinstance(self.local, ExactSolve | Proximal)
        there += ["clients drawn with replacement"] * isinstance(self.participation, WithReplacement)
        if there:
            raise BadInput(f"the control variates of {self.name} do not go with {there[0]}.")

    @property
    def parts(self) -> dict[str, Any]:
        """Its parts by role, None for those that it does not have."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "name"}

    @property
    def modules(self) -> set[str]:
        """The modules of the classes of its parts, and of the parts inside these."""
        found: set[str] = set()
        waiting = list(self.parts.values())
        while waiting:
            part = waiting.pop()
            if is_dataclass(part):
                found.add(type(part).__module__)
                waiting += [getattr(part, f.name) for f in fields(part)]
        return found

    @property
    def is_plain(self) -> bool:
        """Whether visits start from the server's point and follow the clients' gradients, and the server adds up their
        differences to its point and nothing else."""
        own = self.exchange is None and self.client_optimizer is None and self.server_momentum is None
        own = own and self.functions is None
        own = own and not self.server.averages_models
        return own and self.momentum is None and self.correction is None and self.control is None

    @property
    def rule(self) -> Rule:
        """What a round does, as functions over vectors. Raises Unsupported for parts that have no meaning together."""
        if self.client_optimizer is not None:
            raise Unsupported(
                f"the exact engine carries plain local steps, and {self.name} has {self.client_optimizer.words()}; "
                "take engine = 'sampled' or 'neural', or leave that out."
            )
        for first, others, why in _APART:
            own = getattr(self, first)
            if first == "server":
                own = own if own.averages_models else None
            if own is not None and any(getattr(self, other) is not None for other in others):
                raise Unsupported(why.format(name=self.name))
        if self.exchange is not None and (
            self.momentum is not None or (self.exchange.needs_all and self.server != ServerStep())
        ):
            raise Unsupported((_KEPT if self.exchange.needs_all else _STALE).format(name=self.name))
        return next((part for part in self._rules if part is not None), self.server)

    @property
    def _rules(self) -> tuple[Rule | None, ...]:
        """The parts of which one says what a round does, where there is any."""
        return self.functions, self.control, self.correction, self.momentum, self.exchange, self.server_momentum

    @property
    def weighs_visits(self) -> bool:
        """Whether the coefficient of a client depends on the number of epochs that it draws (FedNova)."""
        normalised = isinstance(self.aggregation, SumOne | Unbiased) and self.aggregation.weights == "nova"
        return normalised and isinstance(self.local, Epochs) and isinstance(self.local.E, EpochRange)

    def work(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        """What client i of the cohort does, as `LocalWork.visits`, with the weights of visits.

        With the weights "nova" a visit of K steps counts 1/K over the mean of 1/K, so that on average over all draws
        the weights are those of `aggregation.client_weights`.
        """
        found = self.local.visits(client, cohort, clients)
        if not self.weighs_visits:
            return found
        mean = sum((p / v.steps for p, v in found), Fraction(0))
        return tuple((p, replace(v, weight=1 / (v.steps * mean))) for p, v in found)

    @property
    def steps_together(self) -> bool:
        """Whether the number of local steps of a cohort rests on what all its members draw (FedAvgMin, FedAvgMean)."""
        return isinstance(self.local, Epochs) and self.local.together

    @property
    def by_iteration(self) -> bool:
        """Whether the step size changes from local step to local step (see `Formula`)."""
        return isinstance(self.schedule, Formula) and self.schedule.by_iteration

    def local_steps(self, clients: Clients) -> int:
        """K, the number of local steps that every client takes in every round.

        Raises BadInput where that differs or is random, so that local steps cannot be counted over the rounds.
        """
        found = {v.steps for i in range(clients.count) for _, v in self.local.visits(i, (i,), clients)}
        if self.local.by_cohort or len(found) != 1 or any(v < 1 for v in found):
            shown = " or ".join(map(str, sorted(found)[:4]))
            raise BadInput(
                f"{self.name}: a step size in t, which counts local steps over all rounds, needs one number of local "
                f"steps for all clients and rounds; here a client takes {shown}"
                + (" or what its cohort makes it take." if self.local.by_cohort else ".")
            )
        return found.pop()

    def rounds_per_cycle(self, clients: Clients) -> int:
        """Rounds that share one step size."""
        own = getattr(self.schedule, "rounds_per_cycle", None)
        return self.participation.period(clients) if own is None else int(own)

    def cycle_of(self, round_index: int, clients: Clients) -> int:
        """The cycle (from 1) to which a round (from 0) belongs."""
        return round_index // self.rounds_per_cycle(clients) + 1

    def is_random(self, clients: Clients) -> bool:
        """Whether two runs can differ."""
        rules = [part for part in self._rules if part is not None]
        laws = [part.collecting for part in rules if part.collecting not in (None, "same")]
        drawn = any(law.fixed(0, clients) is None for law in (self.participation, *laws))
        own = any(part.draws or part.uniforms for part in rules)
        return drawn or self.local.is_random or own

    def context(self, clients: Clients) -> AggregationContext:
        """What the aggregation's coefficients may depend on."""
        return AggregationContext(clients, self.participation, self.local)

    def factors(self, cohort: Sequence[int], clients: Clients) -> list[Fraction]:
        """eta_g * a_i for each client of a cohort (negative under an ascending server step)."""
        return [self.server.factor * a for a in self.aggregation.coefficients(cohort, self.context(clients))]

    def check(self, clients: Clients, dim: int | None = None) -> None:
        """Raises BadInput where a part does not fit: a cohort larger than all clients, a list too short, no partition,
        an answer of a plug-in's part that its protocol does not allow.

        dim: length of the model, where it is known. With many clients only what takes little time is checked.
        """
        n = clients.count
        check_answers(self.parts, clients)
        if isinstance(self.exchange, Blocks):
            self.exchange.models(clients)
            if dim is not None and not self.exchange.by_network:
                self.exchange.blocks(dim)
        if n > _CHECKED_LAW and not isinstance(self.participation, Uniform):
            return
        drawing = self.participation.drawing(clients)
        for i in range(n if n <= _CHECKED_ONE_BY_ONE else 1):
            self.local.visits(i, (i,), clients)
        if n > _CHECKED_ONE_BY_ONE:
            return
        if self.by_iteration:
            self.local_steps(clients)
        cohort = self.participation.fixed(0, clients) if drawing is None else drawing.example()
        if cohort and any(clients.weights[i] for i in cohort):
            self.factors(cohort, clients)

    def parameters(self) -> Mapping[str, Fraction]:
        """The numbers of all parts under the names that statements use (E, eta, eta0, size, eta_g, ...)."""
        found: dict[str, Fraction] = {}
        parts = (self.participation, self.local, self.schedule, self.aggregation, self.server, self.momentum)
        for part in (*parts, self.control, self.exchange, self.client_optimizer, self.server_momentum):
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
        parts = {name: _part(part) for name, part in self.parts.items() if part is not None}
        return {"schema": 1, "name": self.name, **parts}

    def __repr__(self) -> str:
        return f"<Method {self._words()}>"

    def _repr_html_(self) -> str:
        return f"<b>Method</b> {html.escape(self._words())}"

    def _words(self) -> str:
        shown: list[str] = []
        for part in self.parts.values():
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
