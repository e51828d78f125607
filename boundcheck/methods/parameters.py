"""The parameters that users write: declared once, and how each becomes a part of a method or a field of one.

Parameters of a single family stand with its kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from inspect import Parameter as Argument
from typing import Any

from boundcheck.core.expressions import parse_expression
from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import parts
from boundcheck.methods.own_parts import made, named
from boundcheck.methods.parts.server import FISTA

# Each way of giving the step size: the parameters that belong together.
_WAYS = ({"eta"}, {"eta0"}, {"eta0", "rounds_per_cycle"}, {"ell", "T"})
MAX_COUNT = 10**15
NOT_CLIPPED = "none"  # what users write for gradients that are not clipped
NEEDED: Any = Argument.empty  # in the place of a parameter's default
Reader = Callable[[Any, str], Any]  # of a user's value and its name
FORMULA = "formula"
COUNT = "an integer of at least 1"  # the words for what `count` reads


def as_written(value: Any, name: str) -> Any:
    """The user's value as it is."""
    return value


@dataclass(frozen=True)
class Parameter:
    """A parameter of kinds of methods.

    sentence: what it is. allowed: its values, in words. read: from the user's value and the name to what a part takes;
    raises BadInput and UnknownName. into: the part of a method that it gives ("schedule"), or the field of a part
    ("local.E"); "" where the kind's own function takes it. default: as users would write it; None is not read. unit: ""
    if there is none. annotation: the type that
    `core.parameters.check_parameters` asks of the value.
    """

    name: str
    sentence: str
    allowed: str
    read: Reader = as_written
    into: str = ""
    default: Any = NEEDED
    unit: str = ""
    annotation: str = "Any"

    def but(self, **changes: Any) -> Parameter:
        """The same parameter with other fields, such as its default in another kind."""
        return replace(self, **changes)

    def value(self, given: Any) -> Any:
        """What a part takes for the user's value."""
        return None if given is None and self.default is None else self.read(given, self.name)


def one_of(what: str, known: Mapping[str, Any] | Sequence[str]) -> Reader:
    """A reader of a word: its value in `known`, or the word itself. It raises UnknownName; `what` names the thing."""

    def read(value: Any, name: str) -> Any:
        for word in known:
            if value == word:
                return known[word] if isinstance(known, Mapping) else word
        raise UnknownName(what, str(value), known)

    return read


def fields_of(
    given: Mapping[str, Any],
    readers: Mapping[str, Reader],
    what: str,
    optional: Sequence[str] = (),
    verb: str = "needs",
) -> dict[str, Any]:
    """The fields of a user's table, read. Raises UnknownName, and BadInput for a missing one that is not optional."""
    for key in given:
        if key not in readers:
            raise UnknownName(f"{what}: parameter", str(key), readers or ["none"])
    for key in readers:
        if key not in given and key not in optional:
            raise BadInput(f"{what} {verb} '{key}'.")
    return {key: readers[key](value, key) for key, value in given.items()}


def kind_and_fields(given: Any) -> tuple[str, dict[str, Any]]:
    """The kind that users wrote as a word or in a table such as {kind = "uniform", size = 2}, and the other fields."""
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {"kind": given}
    return str(table.get("kind", "")), {k: v for k, v in table.items() if k != "kind"}


def count(value: Any, name: str) -> int:
    """A whole number from 1 to 10^15 (as many rounds as a run may have), or BadInput."""
    number = as_fraction(value, name)
    if number.denominator != 1 or number < 1:
        raise BadInput(f"{name} = {format_short(number)} is not allowed; it must be an integer of at least 1.")
    if number > MAX_COUNT:
        raise BadInput(f"{name} = {format_short(number)} is not allowed; it must be at most 10^15.")
    return int(number)


def is_list(value: Any) -> bool:
    """Whether users wrote a list."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def numbers(values: Any, name: str) -> tuple[Fraction, ...]:
    """A list of numbers, one a client. Raises BadInput."""
    if not is_list(values):
        raise BadInput(f"{name} must be a list of numbers, one for each client.")
    return tuple(as_fraction(v, name) for v in values)


def whole(value: Any, name: str, wrong: str) -> int:
    """One of the numbers 0, 1, 2, .... Raises BadInput with the sentence `wrong`."""
    number = as_fraction(value, name)
    if number.denominator != 1 or number < 0:
        raise BadInput(wrong)
    return int(number)


def whole_numbers(values: Any, name: str) -> tuple[int, ...]:
    """A list of the numbers 0, 1, 2, .... Raises BadInput."""
    wrong = f"{name} must be a list of integers from 0 on."
    if not is_list(values):
        raise BadInput(wrong)
    return tuple(whole(v, name, wrong) for v in values)


def whole_steps(value: Any, name: str) -> parts.LocalWork:
    """Steps with the whole gradient: their number, or a list with one for each client. Raises BadInput."""
    own = tuple(count(v, name) for v in value) if is_list(value) else None
    return parts.GradientSteps(count(value, name)) if own is None else parts.OwnSteps(own)


def local_steps(K: int, batch: int | None) -> parts.LocalWork:
    """K local steps with the whole gradient, or with that of `batch` samples drawn anew."""
    return parts.GradientSteps(K) if batch is None else parts.StochasticSteps(K, batch)


def local_epochs(E: Any, batch: int | None, sampling: Any = None) -> parts.Epochs:
    """E local epochs; what is None has its default."""
    return parts.Epochs(
        1 if E is None else E, 1 if batch is None else batch, "reshuffled" if sampling is None else sampling
    )


def cohorts_from(values: Any, name: str) -> tuple[tuple[int, ...], ...]:
    """A list of lists of client numbers. Raises BadInput."""
    if not is_list(values) or not all(is_list(s) for s in values):
        raise BadInput(f"{name} must be a list of lists of client numbers, such as [[0, 1], [2]].")
    wrong = "is no client number; they are 0, 1, 2, ..."
    return tuple(tuple(whole(i, "a client number", f"{i} {wrong}") for i in s) for s in values)


def epochs_from(value: Any, name: str = "E") -> int | tuple[int, ...] | parts.EpochRange:
    """Epochs: a number, one number a client ([1, 2, 3]), or {low = 2, high = 5} for a draw each time."""
    if isinstance(value, Mapping):
        if set(value) != {"low", "high"}:
            raise BadInput("random epochs are written {low = 2, high = 5}.")
        return parts.EpochRange(count(value["low"], "low"), count(value["high"], "high"))
    return tuple(count(v, name) for v in value) if is_list(value) else count(value, name)


def participation_from(given: Any, name: str = "participation") -> parts.Participation:
    """`"full"`, `"one_by_weight"`, or a table with the fields of a kind, such as {kind = "uniform", size = 2},
    or the name of a plug-in's part as the kind, with its fields. Raises UnknownName and BadInput."""
    kind, own = kind_and_fields(given)
    if kind in _PARTICIPATION:
        part, readers = _PARTICIPATION[kind]
        return part(**fields_of(own, readers, f"the participation '{kind}'", ("lead",)))
    plugged = named("participation", kind)
    if plugged is None:
        raise UnknownName("the participation", kind, _PARTICIPATION)
    return made(plugged, own, f"the participation '{kind}'")


def _probabilities(values: Any, name: str) -> tuple[Fraction, ...]:
    if not is_list(values):
        raise BadInput(f"{name} must be a list of numbers.")
    return tuple(as_fraction(v, name) for v in values)


_PARTICIPATION: Mapping[str, tuple[Callable[..., parts.Participation], Mapping[str, Reader]]] = {
    "full": (parts.Full, {}),
    "uniform": (parts.Uniform, {"size": count}),
    "independent": (parts.Independent, {"probabilities": _probabilities}),
    "importance": (parts.Importance, {"b": as_fraction}),
    "one_by_weight": (parts.OneByWeight, {}),
    "subsets": (parts.Subsets, {"subsets": cohorts_from, "probabilities": _probabilities}),
    "with_replacement": (parts.WithReplacement, {"size": count}),
    "pattern": (parts.Pattern, {"cohorts": cohorts_from, "lead": cohorts_from}),
}


def clip_from(value: Any, name: str) -> Fraction | None:
    """The largest norm of a gradient, None for "none". Raises BadInput."""
    return None if value == NOT_CLIPPED else as_fraction(value, name)


def client_optimizer_from(given: Mapping[str, Any]) -> parts.ClientOptimizer | None:
    """What differs from plain local steps, None where nothing does. Raises BadInput."""
    plain = given.items() <= {"momentum": 0, "weight_decay": 0, "clip": None}.items()
    return None if plain else parts.ClientOptimizer(**given)


def server_momentum_from(value: Any, name: str) -> Fraction | str:
    """A number, or text in the round r such as "(r-1)/(r+2)", or "fista" (`ServerMomentum`). Raises BadInput."""
    return value if value == FISTA or _is_written(value) else as_fraction(value, name)


def _is_written(value: Any) -> bool:
    """Whether a value is text about the round r or the local step t."""
    return isinstance(value, str) and re.search(r"\b[rt]\b", value) is not None


def step_from(value: Any, name: str) -> parts.Schedule:
    """The local step size of a method, its parameter `name`, from what users write.

    A number, or {value = "1/10", at = [500, 750], factor = "1/10", warm_up = 5}: value in the first rounds, multiplied
    by factor (default 1/10) from round 500 and again from round 750 on, rounds counted from 0; rising evenly to value
    over the first warm_up rounds. Text in the round r and in t, the local steps counted over all rounds, both from 0,
    such as "2/(8 + t)", or {formula = "2/(mu*(gamma + t))", mu = "1/2", gamma = 16} (`Formula`). Raises BadInput and
    UnknownName.
    """
    if _is_written(value):
        value = {FORMULA: value}
    if isinstance(value, Mapping) and FORMULA in value:
        constants = {k: v for k, v in value.items() if k != FORMULA}
        return parts.Formula(parse_expression(str(value[FORMULA]), name, ("r", "t"), constants).text, name)
    if not isinstance(value, Mapping):
        return parts.Constant(as_fraction(value, name), name)
    known: Mapping[str, Reader] = dict.fromkeys(("value", "at", "factor", "warm_up"), as_written)
    found = fields_of(value, known, f"the step size {name}", tuple(known))
    if "value" not in found:
        raise BadInput(f'a step size that changes needs its value, such as {name} = {{value = "1/10", at = [500]}}.')
    at = found.get("at", ())
    if not is_list(at):
        raise BadInput(f"{name}: at must be the rounds from which the step size is smaller, such as [500, 750].")
    return parts.Decaying(
        as_fraction(found["value"], f"{name}: value"),
        tuple(count(t, f"{name}: at") for t in at),
        as_fraction(found.get("factor", Fraction(1, 10)), f"{name}: factor"),
        count(found["warm_up"], f"{name}: warm_up") if "warm_up" in found else 0,
    )


def schedule_from(steps: Mapping[str, Any]) -> parts.Schedule:
    """`eta` (see `step_from`), `eta0` (eta0/K, optionally with `rounds_per_cycle`) or `ell` and `T` (ell*log(T)/T)."""
    given = {k: v for k, v in steps.items() if v is not None}
    if given.keys() not in _WAYS:
        shown = ", ".join(sorted(given)) or "none"
        raise BadInput(
            f"the step size needs exactly one of: eta; eta0 (and rounds_per_cycle); ell and T. Given: {shown}."
        )
    if "eta" in given:
        return step_from(given["eta"], "eta")
    read: dict[str, Any] = {
        k: (count if k in ("rounds_per_cycle", "T") else as_fraction)(v, k) for k, v in given.items()
    }
    return parts.InverseCycle(**read) if "eta0" in read else parts.LogHorizon(**read)


# Parts that are made of several parameters together, where a kind's form does not say how
TOGETHER: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "schedule": schedule_from,
    "client_optimizer": client_optimizer_from,
}

_STEP = "a number above 0, text in the round r and the local step t, or a table of either (values.md)"
ETA = Parameter("eta", "step size", _STEP, step_from, "schedule", unit="1/curvature")
ETA_L = ETA.but(name="eta_l", sentence="local step size")
ETA_G = Parameter("eta_g", "step size of the server", "a number above 0", as_fraction, "server.eta_g", 1)
# The ways to give a step size, of which one is chosen (`schedule_from`)
ETA_OR = ETA.but(read=as_written, into="schedule.eta", default=None)
ETA0 = Parameter(
    "eta0", "eta0/K is the step size in cycle K, from 1", "a number above 0, in place of eta", as_written,
    "schedule.eta0", None, "1/curvature",
)  # fmt: skip
PER_CYCLE = Parameter(
    "rounds_per_cycle", "rounds of a cycle of eta0", COUNT, as_written, "schedule.rounds_per_cycle", None, "rounds"
)
ELL = ETA0.but(name="ell", sentence="ell log(T)/T is the step size", into="schedule.ell")
HORIZON = PER_CYCLE.but(name="T", sentence="rounds of ell log(T)/T", into="schedule.T")

K = Parameter("K", "local steps", COUNT, count, unit="steps")
STEPS = Parameter(
    "steps", "local steps with the whole gradient", f"{COUNT}, or one a client", whole_steps, "local"
)  # fmt: skip
E = Parameter(
    "E", "local epochs", f"{COUNT}, a list with one for each client, or {{low = 2, high = 5}}, drawn at each visit",
    epochs_from, "local.E", 1, "epochs",
)  # fmt: skip
BATCH = Parameter("batch", "samples of a local step", COUNT, count, "local.batch", 1, "samples")
SAMPLING = Parameter("sampling", "how samples are drawn", '"reshuffled" or "replacement"', into="local.sampling")
PARTICIPATION = Parameter(
    "participation", "which clients take part in a round", "a word or a table (values.md, Participation)",
    participation_from, "participation", "full",
)  # fmt: skip
MOMENTUM_L = Parameter(
    "momentum_l", "momentum of local steps", "at least 0 and below 1", as_fraction, "client_optimizer.momentum", 0
)
WEIGHT_DECAY_L = Parameter(
    "weight_decay_l", "weight decay of local steps", "at least 0", as_fraction, "client_optimizer.weight_decay", 0,
    "curvature",
)  # fmt: skip
CLIP_L = Parameter(
    "clip_l", "largest norm of a gradient, to which a larger one is multiplied down", 'above 0, or "none"', clip_from,
    "client_optimizer.clip", NOT_CLIPPED, "gradient",
)  # fmt: skip
SGD = (MOMENTUM_L, WEIGHT_DECAY_L, CLIP_L)  # how local steps differ from plain ones
