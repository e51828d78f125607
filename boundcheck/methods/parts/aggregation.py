"""How the server combines what the cohort returned: sum over i in S of a_i^S (y_i - x)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, ClassVar, Protocol

from boundcheck.core.numbers import format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts.local import EpochRange, Epochs, LocalWork
from boundcheck.methods.parts.participation import Participation, cohort_sizes, inclusion, only_cohort

WEIGHTS = ("data", "nova", "unfinished")


@dataclass(frozen=True)
class AggregationContext:
    """What coefficients may depend on besides the cohort."""

    clients: Clients
    participation: Participation
    local: LocalWork

    @cached_property
    def inclusion(self) -> Callable[[int], Fraction]:
        """i -> p_i."""
        drawing = self.participation.drawing(self.clients)
        return cache(lambda i: inclusion(self.participation, i, self.clients)) if drawing is None else drawing.inclusion


class Aggregation(Protocol):
    """The coefficients a_i^S of the returned differences.

    A part whose coefficients do not sum to 1 in the mean over the cohorts says so with `sums_to_one = False`.
    """

    def coefficients(self, cohort: Sequence[int], setting: AggregationContext) -> list[Fraction]:
        """One coefficient for each client of the cohort, in its order."""
        ...

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction] | None:
        """i -> a_i where the coefficient of a client does not depend on who else takes part, else None."""
        ...


def client_weights(rule: str | tuple[Fraction, ...], setting: AggregationContext) -> Callable[[int], Fraction]:
    """i -> wtilde_i (FedShuffleGen): "data" (w_i), "nova" or "unfinished", or one number a client.

    "nova": proportional to w_i/(E_i |D_i|), summing to 1; where the number of epochs is drawn, proportional to the mean
    of that, and each visit is weighed by its own number (`Method.work`). "unfinished": w_i c_i/K_i, K_i the steps that
    are really taken (FedShuffle, F.1). Raises BadInput for a client that takes no step under "unfinished".
    """
    clients = setting.clients
    if not isinstance(rule, str):
        if len(rule) != clients.count:
            raise BadInput(f"{len(rule)} aggregation weights were given for {clients.count} clients.")
        return rule.__getitem__
    if rule == "data":
        return clients.weights.__getitem__
    check_rule(rule, setting.local)
    local: Any = setting.local
    if rule == "nova":
        raw = [w * inverse_steps(local, i, clients) for i, w in enumerate(clients.weights)]
        total = sum(raw, Fraction(0))
        return [r / total for r in raw].__getitem__

    def unfinished(i: int) -> Fraction:
        (_, visit), *_ = local.visits(i, (i,), clients)
        if visit.steps == 0:
            raise BadInput(
                f"client {i} finishes none of its local steps, so that no aggregation weight can make up for them."
            )
        return clients.weights[i] / visit.scale / visit.steps

    return unfinished


def inverse_steps(local: Epochs, client: int, clients: Clients) -> Fraction:
    """The mean of 1/(E_i |D_i|) over the equally likely numbers of epochs."""
    own, each = local.epochs(client), local.steps_per_epoch(client, clients)
    return sum((Fraction(1, e * each) for e in own), Fraction(0)) / len(own)


def check_rule(rule: str | tuple[Fraction, ...], local: LocalWork) -> None:
    """Raises BadInput for weights that divide by a client's number of local steps where that number is not fixed."""
    if rule not in ("nova", "unfinished"):
        return
    divide = f"the aggregation weights '{rule}' divide by a client's number of local steps"
    if not isinstance(local, Epochs):
        raise BadInput(f"{divide} in epochs; the local work of this method has no epochs.")
    if isinstance(local.E, EpochRange) and (rule == "unfinished" or local.common is not None):
        given = f"E = {{low = {local.E.low}, high = {local.E.high}}}"
        raise BadInput(f"{given} is not allowed: {divide}, so that E must be an integer, or one for each client.")


def _check_weights(weights: str | tuple[Fraction, ...]) -> None:
    """Raises UnknownName for a rule that does not exist, BadInput for numbers that weigh no average."""
    if isinstance(weights, str) and weights not in WEIGHTS:
        raise UnknownName("the aggregation weights", weights, WEIGHTS)
    if not isinstance(weights, str) and (any(w < 0 for w in weights) or not any(weights)):
        shown = ", ".join(format_short(w) for w in weights[:12]) + (", ..." if len(weights) > 12 else "")
        raise BadInput(f"the aggregation weights [{shown}] are not allowed; they are at least 0 and not all 0.")


class _ByClient:
    """Coefficients that do not depend on who else takes part."""

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction]:
        raise NotImplementedError

    def coefficients(self, cohort: Sequence[int], setting: AggregationContext) -> list[Fraction]:
        return list(map(self.by_client(setting), cohort))


class _ByCohort:
    """Coefficients that do, so that a client has one of its own only where every round has the same cohort."""

    def coefficients(self, cohort: Sequence[int], setting: AggregationContext) -> list[Fraction]:
        raise NotImplementedError

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction] | None:
        cohort = only_cohort(setting.participation, setting.clients)
        own = None if cohort is None else dict(zip(cohort, self.coefficients(cohort, setting), strict=True))
        return None if own is None else own.__getitem__


@dataclass(frozen=True)
class Average:
    """The plain average of the returned points: a_i^S = 1/|S|."""

    def coefficients(self, cohort: Sequence[int], setting: AggregationContext) -> list[Fraction]:
        return [Fraction(1, len(cohort))] * len(cohort)

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction] | None:
        sizes = cohort_sizes(setting.participation, setting.clients) - {0}  # an empty round has no coefficient
        if len(sizes) != 1:
            return None
        share = Fraction(1, sizes.pop())
        return lambda i: share


@dataclass(frozen=True)
class Same(_ByClient):
    """a_i = value, whoever else takes part."""

    value: Fraction = Fraction(1)
    sums_to_one: ClassVar[bool] = False  # the value is the user's

    def __post_init__(self) -> None:
        if self.value <= 0:
            raise BadInput(f"the aggregation weight {self.value} is not allowed; it is above 0.")

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction]:
        return lambda i: self.value


@dataclass(frozen=True)
class PerClient(_ByClient):
    """a_i = values[i], whoever else takes part."""

    values: tuple[Fraction, ...]
    sums_to_one: ClassVar[bool] = False  # the values are the user's

    def __post_init__(self) -> None:
        _check_weights(self.values)

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction]:
        return client_weights(self.values, setting)


@dataclass(frozen=True)
class Unbiased(_ByClient):
    """a_i = wtilde_i/p_i (FedShuffle with wtilde = w); see `client_weights`."""

    weights: str | tuple[Fraction, ...] = "data"

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    @property
    def sums_to_one(self) -> bool:
        """Whether the mean sum of the coefficients is 1 on all clients: that of wtilde."""
        return self.weights in ("data", "nova")

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction]:
        of = client_weights(self.weights, setting)

        def weight(i: int) -> Fraction:
            p = setting.inclusion(i)
            if not p:
                raise BadInput(f"client {i} never takes part, so that no weight w_i/p_i makes up for it.")
            return of(i) / p

        return weight


@dataclass(frozen=True)
class Normalised(_ByCohort):
    """a_i^S = p_i tau_eff/tau_i with tau_eff = sum over j in S of p_j tau_j (FedNova of J. Wang et al., 2020).

    p_i = w_i / sum over j in S of w_j; tau_i: the local steps of client i, a fixed number.
    """

    sums_to_one: ClassVar[bool] = False

    def coefficients(self, cohort: Sequence[int], setting: AggregationContext) -> list[Fraction]:
        if not cohort:
            return []
        shares, taken = SumOne().coefficients(cohort, setting), list[int]()
        for i in cohort:
            numbers = {v.steps for _, v in setting.local.visits(i, cohort, setting.clients)}
            if len(numbers) != 1 or not min(numbers):
                raise BadInput(f"the weights of FedNova divide by the local steps of client {i}: {sorted(numbers)}.")
            taken.append(numbers.pop())
        effective = sum((p * k for p, k in zip(shares, taken, strict=True)), Fraction(0))
        return [p * effective / k for p, k in zip(shares, taken, strict=True)]


@dataclass(frozen=True)
class SumOne(_ByCohort):
    """a_i^S = factor * wtilde_i / sum over j in S of w_j: what FedAvg does in practice.

    per_share: multiply by n/b, b the cohort's size, as Algorithm 2 of FedShuffle prints it.
    """

    weights: str | tuple[Fraction, ...] = "data"
    per_share: bool = False

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    @property
    def sums_to_one(self) -> bool:
        """Whether the coefficients of every cohort sum to 1."""
        return self.weights == "data" and not self.per_share

    def coefficients(self, cohort: Sequence[int], setting: AggregationContext) -> list[Fraction]:
        if not cohort:
            return []
        of = client_weights(self.weights, setting)
        total = sum((setting.clients.weights[i] for i in cohort), Fraction(0))
        factor = Fraction(setting.clients.count, len(cohort)) if self.per_share else Fraction(1)
        return [factor * of(i) / total for i in cohort]
