"""Parts of methods that plug-ins provide: their role, how specifications name them, and what they must answer.

Four roles are open: participation, local work, aggregation and schedule. Engines carry out what such a part answers to
its protocol. All other parts of a method (server step, momentum, correction, exchange and the like) are known to the
engines by their type, so that no plug-in adds one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, cast, get_args

from boundcheck.core import plugins
from boundcheck.core.numbers import as_fraction
from boundcheck.core.parameters import check_parameters
from boundcheck.errors import BadInput, BoundcheckError, Unsupported, shown
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts.aggregation import AggregationContext
from boundcheck.methods.parts.local import GradientSteps, LocalWork, Sampling, Visit
from boundcheck.methods.parts.participation import Drawing, Full, Participation, first_repeated, known_rounds

# The open roles, and the methods by which a part of each is recognised.
ROLES: Mapping[str, tuple[str, ...]] = {
    "participation": ("period", "fixed", "drawing"),
    "local": ("visits", "by_cohort", "is_random"),
    "aggregation": ("coefficients", "by_client"),
    "schedule": ("step", "is_constant", "is_exact"),
}
FIRST = 50  # rounds of which every answer is gone through before a run says how many it has
MOST = 1 << 12  # clients, rounds and cohorts whose answers are gone through at most
WORK = 500_000  # clients times rounds, at most, beyond the first
Objection = tuple[str, str]  # the name of a check and what is wrong, as a clause


def is_own(part: Any) -> bool:
    """Whether a part comes from outside boundcheck."""
    return part is not None and not type(part).__module__.startswith("boundcheck.")


def role_of(part_class: Any) -> str:
    """The role of a class of parts. Raises BadInput where it has none, or is nothing that engines can rely on."""
    if not isinstance(part_class, type):
        raise BadInput(f"{shown(repr(part_class))} is no class of parts.")
    name = part_class.__qualname__
    held = [role for role, asked in ROLES.items() if all(hasattr(part_class, a) for a in asked)]
    if len(held) != 1:
        lists = "; ".join(f"{role}: {', '.join(asked)}" for role, asked in ROLES.items())
        raise BadInput(f"the part {name} has {'no role' if not held else 'several roles'}; a part has ({lists}).")
    shipped = _shipped_base(part_class)
    if shipped is not None:
        raise BadInput(f"the part {name} inherits from {shipped}, for which engines would take it; write its methods.")
    frozen = getattr(part_class, "__dataclass_params__", None)
    if not is_dataclass(part_class) or frozen is None or not frozen.frozen:
        raise BadInput(f"the part {name} must be a frozen dataclass, so that runs can be distinguished by its numbers.")
    return held[0]


def _shipped_base(part_class: type) -> str | None:
    bases = [b for b in part_class.__mro__[1:] if b.__module__.startswith("boundcheck.")]
    return next((b.__qualname__ for b in bases if not getattr(b, "_is_protocol", False)), None)


def refuse_unknown(name: str, parts: Mapping[str, Any]) -> None:
    """Raises Unsupported for a part that engines would not see, or would take for another one.

    name: of the method. parts: role -> part.
    """
    for role, part in parts.items():
        if not is_own(part) or role == "functions":
            continue
        if role not in ROLES:
            raise Unsupported(
                f"the method '{name}' has the {role} {type(part).__qualname__} of a plug-in, which no engine carries "
                f"out; plug-ins bring parts for {', '.join(ROLES)}."
            )
        shipped = _shipped_base(type(part))
        if shipped is not None:
            raise Unsupported(
                f"the method '{name}' has the {role} {type(part).__qualname__}, which inherits from {shipped}; engines "
                "would take it for that part, so it is not carried out: write its methods without inheriting."
            )


def named(role: str, name: str) -> type | None:
    """The class of a plug-in's part of this name and role; None if there is none. Raises BadInput for a bad one."""
    if name not in plugins.names(plugins.PARTS, ()):
        return None
    found = plugins.load(plugins.PARTS, name)
    try:
        own = role_of(found)
    except BadInput as error:
        raise plugins.refuse(plugins.PARTS, name, f"cannot be used: {str(error).rstrip('.')}") from error
    if own != role:
        raise BadInput(f"the part '{name}' is for the {own} of a method, not for its {role}.")
    return cast("type", found)


def made(part_class: type, given: Mapping[str, Any], what: str) -> Any:
    """The part with the fields that a specification gives; fields of type int, Fraction and tuples of these are exact.

    Raises UnknownName and BadInput.
    """
    check_parameters(part_class, given, what)
    types = {f.name: str(f.type) for f in fields(part_class)}  # pyright: ignore[reportArgumentType]
    values = {name: _value(value, types[name], f"{what}: {name}") for name, value in given.items()}
    try:
        return part_class(**values)
    except (TypeError, ValueError) as error:
        if isinstance(error, BoundcheckError):
            raise
        raise BadInput(f"{what} does not take these parameters: {shown(str(error), 160)}.") from error


def _value(value: Any, kind: str, what: str) -> Any:
    if isinstance(value, str) and "str" in kind.split(" | "):
        return value
    if "tuple[" in kind and isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_value(v, kind.split("tuple[", 1)[1].rstrip("]"), what) for v in value)
    if "Fraction" in kind:
        return as_fraction(value, what)
    if kind.startswith("int"):
        number = as_fraction(value, what)
        if number.denominator != 1:
            raise BadInput(f"{what} = {number} is not allowed; it must be an integer.")
        return int(number)
    return value


def check_answers(parts: Mapping[str, Any], clients: Clients, rounds: int = FIRST) -> None:
    """Raises BadInput for the first answer of a plug-in's part that its protocol does not allow, on these clients.

    rounds: how many a run has, whose answers are gone through as far as there are not too many (`unchecked`).
    """
    for role, part in parts.items():
        if role in ROLES and is_own(part):
            for name, why in objections(role, part, clients, parts, rounds):
                raise BadInput(f"the {role} {type(part).__qualname__} of a plug-in fails the check '{name}': {why}.")


def most(clients: Clients) -> int:
    """How many rounds, clients and cohorts are gone through at most."""
    return min(MOST, max(FIRST, WORK // clients.count))


def unchecked(parts: Mapping[str, Any], clients: Clients, rounds: int) -> list[str]:
    """What a run of this many rounds uses of plug-ins' answers and nobody has gone through, as phrases for a reason."""
    limit, own = most(clients), {r: p for r, p in parts.items() if r in ROLES and is_own(p)}
    if not own:
        return []
    participation = parts.get("participation") or Full()
    drawing = participation.drawing(clients)
    cohorts = participation.period(clients) if drawing is None else drawing.count()
    beyond = {
        "participation": (rounds if drawing is None else 0, "rounds"),
        "local": (clients.count, "clients"),
        "aggregation": (cohorts, "cohorts"),
        "schedule": (rounds, "rounds"),
    }
    return [
        f"that the {role} {type(part).__qualname__} of a plug-in answers in all {beyond[role][0]} {beyond[role][1]} as "
        f"its protocol says ({limit} at most were gone through)"
        for role, part in own.items()
        if beyond[role][0] > limit
    ]


def objections(
    role: str, part: Any, clients: Clients, others: Mapping[str, Any], rounds: int = FIRST
) -> Iterator[Objection]:
    """What is wrong with a part's answers, by the name of the check.

    others: the method's parts by role, as far as they are known; full participation and gradient steps otherwise.
    rounds: how many the run has.
    """
    rounds = min(max(rounds, FIRST), most(clients))
    participation, local = others.get("participation") or Full(), others.get("local") or GradientSteps(1)
    if role in ("participation", "schedule"):
        yield from (_participation if role == "participation" else _schedule)(part, clients, rounds)
        return
    why = _local(part, clients) if role == "local" else _aggregation(part, clients, participation, local)
    if why is not None:
        yield why


def _exact(value: Any) -> bool:
    return isinstance(value, Fraction | int) and not isinstance(value, bool)


def some_cohorts(participation: Participation, clients: Clients) -> list[tuple[int, ...]]:
    """Cohorts of the participation: those of its first rounds, or some that may be drawn."""
    drawing = participation.drawing(clients)
    if drawing is not None:
        return [s for _, s in drawing.support(MOST)] if drawing.count() <= MOST else [drawing.example()]
    rounds = min(known_rounds(participation, clients), most(clients))
    return list(dict.fromkeys(participation.fixed(t, clients) or () for t in range(rounds)))


def _participation(part: Any, clients: Clients, rounds: int) -> Iterator[Objection]:
    n = clients.count
    drawing = part.drawing(clients)
    if drawing is not None:
        yield from _law(drawing, n)
        if part.fixed(0, clients) is not None or part.period(clients) != 1:
            yield "either fixed or drawn", "it has a drawing, and then fixed() must be None and period() 1"
        return
    period = part.period(clients)
    if not isinstance(period, int) or period < 1:
        yield "the period", f"period() is {period!r}; it must be an integer of at least 1"
        return
    first = first_repeated(part, clients)
    for t in range(max(rounds, min(first + period, most(clients)))):
        cohort = part.fixed(t, clients)
        if cohort is None:
            yield "either fixed or drawn", f"drawing() is None, and fixed({t}) is None as well"
            return
        if not isinstance(cohort, tuple) or len(set(cohort)) != len(cohort) or not _are_clients(cohort, n):
            yield "cohorts of clients", f"fixed({t}) is {cohort!r}, which is no tuple of different clients below {n}"
            return
        if part.fixed(t, clients) != cohort:
            yield "the same answer twice", f"fixed({t}) is {cohort} and then {part.fixed(t, clients)}"
            return
        if t >= first and part.fixed(t + period, clients) != cohort:
            again = part.fixed(t + period, clients)
            yield "the period", f"round {t} has {cohort} and round {t + period}, a period of {period} later, {again}"
            return
    share = getattr(part, "share", None)
    if share is not None and period <= FIRST:
        for i in range(min(n, most(clients))):
            counted = sum(i in (part.fixed(t, clients) or ()) for t in range(first, first + period))
            if share(i, clients) != Fraction(counted, period):
                said = share(i, clients)
                yield "shares of rounds", f"share({i}) is {said}, and it takes part in {counted} of {period} rounds"
                return


def _are_clients(cohort: Sequence[Any], n: int) -> bool:
    return all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i < n for i in cohort)


def _law(drawing: Any, n: int) -> Iterator[Objection]:
    name = "the law of cohorts"
    if not isinstance(drawing, Drawing):
        yield name, f"drawing() is of type {type(drawing).__name__}; it must be a Drawing"
        return
    p, kind = list(drawing.probabilities), drawing.kind
    if drawing.n != n:
        yield name, f"its drawing is of {drawing.n} clients; there are {n}"
    elif kind not in ("uniform", "independent", "subsets", "replacement"):
        yield name, f"kind = {kind!r} is no kind of Drawing"
    elif kind in ("uniform", "replacement") and not 1 <= drawing.size <= (n if kind == "uniform" else 1 << 20):
        yield name, f"cohorts of {drawing.size} clients out of {n} are impossible"
    elif kind != "uniform" and not all(_exact(v) and 0 <= v <= 1 for v in p):
        yield name, f"its probabilities [{', '.join(map(str, p[:12]))}] are not all Fractions from 0 to 1"
    elif kind in ("independent", "replacement") and len(p) != n:
        yield name, f"it has {len(p)} probabilities for {n} clients"
    elif kind in ("subsets", "replacement") and sum(p, Fraction(0)) != 1:
        yield "probabilities sum to 1", f"its probabilities sum to {sum(p, Fraction(0))}"
    elif kind == "subsets" and len(p) != len(drawing.subsets):
        yield name, f"it has {len(p)} probabilities for {len(drawing.subsets)} sets of clients"
    elif kind == "subsets":
        for s in drawing.subsets:
            if not _are_clients(s, n) or sorted(set(s)) != list(s):
                yield name, f"{s} is no set of increasing clients below {n}"
                return


def _local(part: Any, clients: Clients) -> Objection | None:
    everyone = tuple(range(clients.count))
    for i in everyone[: most(clients)]:
        alone, among = part.visits(i, (i,), clients), part.visits(i, everyone, clients)
        why = _visits_objection(i, alone) or _visits_objection(i, among)
        if why is not None:
            return why
        if part.visits(i, everyone, clients) != among:
            return "the same answer twice", f"visits({i}) differ between two calls"
        if not part.by_cohort and alone != among:
            return "by_cohort", f"by_cohort is False, and client {i} does something else alone than among all"
        draws = len(among) > 1 or any(
            v.sampling in ("reshuffled", "replacement") and v.steps and clients.sizes[i] > 1 for _, v in among
        )
        if draws and not part.is_random:
            return "is_random", f"is_random is False, and the visit of client {i} draws samples or amounts of work"
    return None


def _visits_objection(i: int, drawn: Any) -> Objection | None:
    name = "visits of clients"
    pairs = cast("tuple[Any, ...]", drawn if isinstance(drawn, tuple) else ())
    if not pairs or not all(isinstance(pair, tuple) and len(cast("tuple[Any, ...]", pair)) == 2 for pair in pairs):
        return name, f"visits({i}) is {shown(repr(drawn))}; it must be a tuple of (probability, Visit)"
    for p, visit in pairs:
        if not _exact(p) or not 0 < p <= 1 or not isinstance(visit, Visit):
            return name, f"visits({i}) holds {shown(repr((p, visit)))}, which is no (probability, Visit)"
        whole = all(isinstance(v, int) for v in cast("tuple[Any, ...]", (visit.steps, visit.batch)))
        if visit.sampling not in get_args(Sampling):
            return name, f"sampling = {visit.sampling!r} is none of {', '.join(get_args(Sampling))}"
        if not whole or visit.steps < 0 or visit.batch < 1:
            return name, f"visits({i}) has {visit.steps!r} steps with batches of {visit.batch!r}"
        if not _exact(visit.scale) or visit.scale <= 0 or not _exact(visit.prox) or visit.prox < 0:
            return name, f"visits({i}) has scale {visit.scale!r} and prox {visit.prox!r}; they are exact, scale above 0"
    total = sum((p for p, _ in pairs), Fraction(0))
    return None if total == 1 else ("probabilities sum to 1", f"those of the visits of client {i} sum to {total}")


def _aggregation(part: Any, clients: Clients, participation: Participation, local: LocalWork) -> Objection | None:
    context = AggregationContext(clients, participation, local)
    own = part.by_client(context)
    for cohort in some_cohorts(participation, clients)[: most(clients)]:
        if not cohort or not any(clients.weights[i] for i in cohort):
            continue
        found, name = part.coefficients(cohort, context), "coefficients of a cohort"
        if not isinstance(found, list) or len(cast("list[Any]", found)) != len(cohort):
            return name, f"the coefficients of {cohort} are {shown(repr(found))}; one each is needed"
        if not all(_exact(a) for a in cast("list[Any]", found)):
            return name, f"the coefficients of {cohort}, {shown(repr(found))}, are not all exact"
        if own is not None and [own(i) for i in cohort] != found:
            alone = [str(own(i)) for i in cohort]
            return "by_client", f"by_client gives {alone} to {cohort} and coefficients() {[str(a) for a in found]}"
    return None


def expected_sum(part: Any, clients: Clients, participation: Participation, local: LocalWork) -> Fraction:
    """E sum of a_i^S over the cohorts of a participation of few clients."""
    context = AggregationContext(clients, participation, local)
    drawing = participation.drawing(clients)
    cohorts = [(Fraction(1), tuple(range(clients.count)))] if drawing is None else drawing.support(1 << 12)
    sums = (p * sum(part.coefficients(cohort, context), Fraction(0)) for p, cohort in cohorts if cohort)
    return sum(sums, Fraction(0))


def _steps(part: Any, rounds: int) -> list[Any]:
    """The step sizes of the first cycles, or of the first local steps where each has its own."""
    if getattr(part, "by_iteration", False):
        return [eta for r in range(rounds // 5) for eta in part.steps(r, 5)]
    return [part.step(cycle) for cycle in range(1, rounds + 1)]


def _schedule(part: Any, clients: Clients, rounds: int) -> Iterator[Objection]:
    steps = _steps(part, rounds)
    for cycle, eta in enumerate(steps, 1):
        if not _exact(eta) or eta <= 0:
            yield "exact positive steps", f"step({cycle}) is {eta!r}; it must be an exact number above 0"
            return
    if _steps(part, rounds) != steps:
        yield "the same answer twice", "step() differs between two calls"
    elif part.is_constant() and len(set(steps)) > 1:
        cycle = next(k for k, (a, b) in enumerate(itertools.pairwise(steps), 2) if a != b)
        yield "is_constant", f"is_constant() is True, and step(1) is {steps[0]}, step({cycle}) {steps[cycle - 1]}"
