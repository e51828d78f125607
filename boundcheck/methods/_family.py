"""What the compositions of the FedShuffle paper share, from what users write in a specification.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", Sections 4, 6, App. E, F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods._participation import participation_from
from boundcheck.methods._steps import count, step_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Aggregation, ClientSGD, EpochRange, Epochs, Momentum, ServerStep, SumOne, Unbiased
from boundcheck.methods.parts.local import SAMPLINGS

__all__ = [
    "Common",
    "compose",
    "epochs_from",
    "equal_steps",
    "is_epochs",
    "is_equal_steps",
    "is_nova",
    "momentum_from",
    "nova",
    "numbers",
]

_MOMENTUM = ("a", "form", "start", "warm_up")
FORMS = ("variance_reduced", "practical")
_FREE = ("E", "batch")  # settings of local epochs that make no other composition


@dataclass(frozen=True)
class Common:
    """The parameters that every composition of the family has, as users write them."""

    eta_l: Any
    eta_g: Any
    participation: Any
    momentum: Any = None
    sgd: ClientSGD | None = None


def compose(name: str, local: Epochs, aggregation: Aggregation, given: Common) -> Method:
    """The method of these parts. Raises BadInput and UnknownName."""
    return Method(
        name,
        participation_from(given.participation),
        local,
        step_from(given.eta_l, "eta_l"),
        aggregation,
        ServerStep(as_fraction(given.eta_g, "eta_g")),
        momentum_from(given.momentum),
        sgd=given.sgd,
    )


def epochs_from(value: Any) -> int | tuple[int, ...] | EpochRange:
    """Epochs: a number, one number a client ([1, 2, 3]), or {low = 2, high = 5} for a draw each time."""
    if isinstance(value, Mapping):
        if set(value) != {"low", "high"}:
            raise BadInput("random epochs are written {low = 2, high = 5}.")
        return EpochRange(count(value["low"], "low"), count(value["high"], "high"))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(count(v, "E") for v in value)
    return count(value, "E")


def momentum_from(given: Any) -> Momentum | None:
    """{a = "1/10", form = "variance_reduced" or "practical", start = "zero", "gradient" or "sampled", warm_up = R}."""
    if given is None:
        return None
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {"a": given}
    for key in table:
        if key not in _MOMENTUM:
            raise UnknownName("the momentum: parameter", str(key), _MOMENTUM)
    if "a" not in table:
        raise BadInput("the momentum needs a, the weight of the fresh gradient (momentum 0.9 is a = 1/10).")
    form = table.get("form", "variance_reduced")
    if form not in FORMS:
        raise UnknownName("the form of the momentum", str(form), FORMS)
    warm_up = 0 if "warm_up" not in table else count(table["warm_up"], "warm_up")
    start = table.get("start", "sampled" if warm_up else "zero")
    return Momentum(as_fraction(table["a"], "a"), form == "variance_reduced", start, warm_up)


def numbers(values: Any, name: str) -> tuple[Fraction, ...]:
    """A list of numbers, one a client."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise BadInput(f"{name} must be a list of numbers, one for each client.")
    return tuple(as_fraction(v, name) for v in values)


def is_epochs(method: Method, **wanted: Any) -> bool:
    """Whether the local work is epochs with these settings, whatever E and batch, and no momentum."""
    local = method.local
    if not isinstance(local, Epochs) or not method.is_plain or method.server.ascend:
        return False
    # compared setting by setting: random epochs with `common` are no epochs that could be constructed
    return all(getattr(local, f.name) == wanted.get(f.name, f.default) for f in fields(local) if f.name not in _FREE)


def equal_steps(rule: Literal["min", "mean"], given: Common, E: Any, batch: Any, sampling: Any) -> Method:
    """FedAvgMin or FedAvgMean: the clients of a cohort take equally many steps."""
    local = Epochs(epochs_from(E), count(batch, "batch"), sampling=sampling, common=rule)
    return compose(f"fedavg_{rule}", local, SumOne(), given)


def is_equal_steps(method: Method, rule: str) -> bool:
    """Whether a composition is that of `equal_steps`, whatever its numbers and sampling."""
    return method.aggregation == SumOne() and any(is_epochs(method, sampling=s, common=rule) for s in SAMPLINGS)


def nova(name: str, sampling: Literal["reshuffled", "replacement"], given: Common, E: Any, batch: Any) -> Method:
    """FedNova in either sampling: differences are divided by the number of steps."""
    local = Epochs(epochs_from(E), count(batch, "batch"), sampling=sampling, divide="largest")
    return compose(name, local, Unbiased("nova"), given)


def is_nova(method: Method, sampling: str) -> bool:
    """Whether a composition is that of `nova`, whatever its numbers and participation."""
    return is_epochs(method, sampling=sampling, divide="largest") and method.aggregation == Unbiased("nova")
