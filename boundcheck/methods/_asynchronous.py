"""What the compositions of the asynchronous paper share, from what users write in a specification.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Algorithm 1, Section 4 and Appendix C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods._family import numbers
from boundcheck.methods._steps import count, step_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Aggregation,
    ClientSGD,
    Constant,
    Exchange,
    GradientSteps,
    LocalWork,
    Participation,
    PerClient,
    Same,
    ServerStep,
    Stale,
    StochasticSteps,
    Timed,
    Unbiased,
)
from boundcheck.methods.schedules import F0, F80, F80_LITERAL, TIES, Exponential, Fixed, Policy, Spread, Ties, Times

__all__ = [
    "WEIGHTS",
    "Given",
    "compose",
    "has_async_steps",
    "has_own_weights",
    "ties_from",
    "timed",
    "times_from",
    "weights_from",
]

# "time_based" makes every client count by its importance p_i over a period; "identical" is 1 for every contribution.
WEIGHTS = ("time_based", "identical")
_NAMED: Mapping[str, Times] = {"f0": F0, "f80": F80, "f80_literal": F80_LITERAL}
_TIMES = ("list", "spread", "exponential", *_NAMED)


@dataclass(frozen=True)
class Given:
    """The parameters that every composition has, as users write them.

    K: local steps. eta_l, eta_g: step sizes of clients and server. sampling: "full" (whole gradients; the default
    without a batch) or "replacement". batch: samples a step, drawn with replacement (1 where only sampling is given).
    sgd: how local steps differ from plain ones.
    """

    K: Any
    eta_l: Any
    eta_g: Any = 1
    batch: Any = None
    sampling: Any = None
    sgd: ClientSGD | None = None


def times_from(given: Any) -> Times:
    """[1, 2, "7/2"] (one time a client), "f0", "f80" (ratio 5), "f80_literal" (ratio 1.8), {kind = "spread", ratio =
    3}, {kind = "exponential", rates = [1, 2]}.

    Raises UnknownName and BadInput.
    """
    if isinstance(given, Sequence) and not isinstance(given, str):
        return Fixed(numbers(given, "times"))
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {"kind": given}
    kind = str(table.get("kind", ""))
    if kind in _NAMED:
        _only(table, kind, ())
        return _NAMED[kind]
    if kind == "list":
        _only(table, kind, ("values",))
        return Fixed(numbers(table["values"], "times"))
    if kind == "spread":
        _only(table, kind, ("ratio",))
        return Spread(as_fraction(table["ratio"], "ratio"))
    if kind == "exponential":
        _only(table, kind, ("rates",))
        return Exponential(numbers(table["rates"], "rates"))
    raise UnknownName("the kind of update times", kind, _TIMES)


def _only(table: Mapping[str, Any], kind: str, needed: Sequence[str]) -> None:
    for key in table:
        if key != "kind" and key not in needed:
            raise UnknownName(f"the update times '{kind}': parameter", str(key), needed or ["none"])
    for key in needed:
        if key not in table:
            raise BadInput(f"the update times '{kind}' need '{key}'.")


def ties_from(given: Any) -> Ties:
    """ "one_by_one" or "joint"; UnknownName otherwise."""
    for known in TIES:
        if given == known:
            return known
    raise UnknownName("the treatment of ties", given, TIES)


def weights_from(given: Any, names: Sequence[str] = WEIGHTS) -> Aggregation:
    """The weight d_i with which a contribution of client i counts.

    "time_based" (p_i over the share of rounds in which client i takes part), "identical" (1), a positive number for all
    clients, or a list of numbers, one for each client. names: what a message lists. Raises BadInput and UnknownName.
    """
    if isinstance(given, Sequence) and not isinstance(given, str):
        return PerClient(numbers(given, "weights"))
    if given in WEIGHTS:
        return Unbiased("data") if given == "time_based" else Same(Fraction(1))
    try:
        value = as_fraction(given, "weights")
    except BadInput:
        raise UnknownName("the weights of the contributions", given, names) from None
    return Same(value)


def has_own_weights(aggregation: Aggregation) -> bool:
    """Whether each client's contribution counts with a weight of its own, as `weights_from` gives it."""
    return isinstance(aggregation, Same | PerClient) or aggregation == Unbiased("data")


def _local_work(given: Given) -> LocalWork:
    sampling = ("full" if given.batch is None else "replacement") if given.sampling is None else given.sampling
    if sampling not in ("full", "replacement"):
        raise UnknownName("the sampling of local steps", sampling, ("full", "replacement"))
    steps = count(given.K, "K")
    if sampling == "replacement":
        return StochasticSteps(steps, count(1 if given.batch is None else given.batch, "batch"))
    if given.batch is not None:
        raise BadInput("a batch goes with sampling = 'replacement'; full gradients have none.")
    return GradientSteps(steps)


def compose(
    name: str,
    participation: Participation,
    aggregation: Aggregation,
    given: Given,
    exchange: Exchange | None = None,
) -> Method:
    """The method of these parts. Raises BadInput and UnknownName."""
    return Method(
        name,
        participation,
        _local_work(given),
        step_from(given.eta_l, "eta_l"),
        aggregation,
        ServerStep(as_fraction(given.eta_g, "eta_g")),
        exchange=exchange,
        sgd=given.sgd,
    )


def timed(name: str, times: Any, policy: Policy, aggregation: Aggregation, given: Given) -> Method:
    """A method whose participation follows from the clients' clocks; work is stale unless all always take part."""
    participation = Timed(times_from(times), policy)
    exchange = None if participation.always_full else Stale()
    return compose(name, participation, aggregation, given, exchange)


def has_async_steps(method: Method) -> bool:
    """Whether local work, step size and server are those of the paper, whatever their numbers."""
    return (
        isinstance(method.local, GradientSteps | StochasticSteps)
        and isinstance(method.schedule, Constant)
        and method.momentum is None
        and method.correction is None
        and not method.server.ascend
    )
