"""FedAvg with clients that take different times or are sampled: synchronous, asynchronous, FedFix, FedBuff.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Algorithm 1, Section 4 and Appendix C.

Parameters that several kinds share: K: local steps. eta_l, eta_g: step sizes of clients and server. sampling: of local
steps, "full" (whole gradients; the default without a batch) or "replacement". batch: samples a step, drawn with
replacement (1 where only the sampling is given). times: how long each client takes, see `times_from`. ties: clients
that finish together are a round each ("one_by_one") or one cohort ("joint"). weights: with which a client's
contribution counts, see `weights_from`. momentum_l, weight_decay_l, clip_l: of the local steps (`ClientOptimizer`). All
kinds raise BadInput and UnknownName.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import parameters, parts, schedules
from boundcheck.methods.kind import AnyOf, Form, Kind, Part, anything
from boundcheck.methods.method import Method

# "time_based" makes every client count by its importance p_i over a period; "identical" is 1 for every contribution.
WEIGHTS = ("time_based", "identical")
_NAMED: Mapping[str, schedules.Times] = {"f0": schedules.F0, "f80": schedules.F80, "f80_literal": schedules.F80_LITERAL}
_TIMES = ("list", "spread", "exponential", *_NAMED)


def fedavg_sync(
    *,
    K: Any,
    eta_l: Any,
    eta_g: Any = 1,
    batch: Any = None,
    sampling: Any = None,
    times: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """Synchronous FedAvg (Section 4.2): every round waits for all clients, x <- x + eta_g sum of p_i (y_i - x).

    times: say how long a round takes.
    """
    work = _work(K, eta_l, eta_g, batch, sampling)
    whole = {"participation": parts.Full()} if times is None else _timed(times, schedules.WaitForAll())
    return {**work, **whole, "client_optimizer": parameters.client_optimizer_from(momentum_l, weight_decay_l, clip_l)}


def fedavg_async(
    *,
    K: Any,
    eta_l: Any,
    times: Any,
    eta_g: Any = 1,
    weights: Any = "time_based",
    ties: Any = "one_by_one",
    batch: Any = None,
    sampling: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """Asynchronous FedAvg (Section 4.3): the server aggregates whenever a client delivers, and sends it the new model.

    K local steps are taken on the model that the client received last. "time_based" weights are
    d_i = (sum of 1/T_j) T_i p_i (36).
    """
    return {
        **_work(K, eta_l, eta_g, batch, sampling),
        **_timed(times, schedules.FirstToArrive(ties_from(ties))),
        "aggregation": weights_from(weights),
        "client_optimizer": parameters.client_optimizer_from(momentum_l, weight_decay_l, clip_l),
    }


def fedfix(
    *,
    K: Any,
    eta_l: Any,
    times: Any,
    dt: Any,
    eta_g: Any = 1,
    weights: Any = "time_based",
    batch: Any = None,
    sampling: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """FedFix-dt (Section 4.4): the server aggregates after every window of length dt what has arrived within it.

    The slowest client of the times "f0" and "f80" takes the time 1. "time_based" weights are d_i = ceil(T_i/dt) p_i
    (40). A window that is long enough for all clients makes it synchronous FedAvg.
    """
    return {
        **_work(K, eta_l, eta_g, batch, sampling),
        **_timed(times, schedules.Window(as_fraction(dt, "dt"))),
        "aggregation": weights_from(weights),
        "client_optimizer": parameters.client_optimizer_from(momentum_l, weight_decay_l, clip_l),
    }


def fedbuff(
    *,
    K: Any,
    eta_l: Any,
    times: Any,
    m: Any,
    eta_g: Any = 1,
    weights: Any = "time_based",
    ties: Any = "one_by_one",
    batch: Any = None,
    sampling: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """FedBuff: the server aggregates as soon as it has the work of m different clients.

    A client that has delivered waits for the aggregation. "time_based" weights are p_i over the client's share of the
    rounds of a period, which the paper leaves open. End of Section 4.4, after J. Nguyen et al., "Federated Learning
    with Buffered Asynchronous Aggregation".
    """
    return {
        **_work(K, eta_l, eta_g, batch, sampling),
        **_timed(times, schedules.Buffer(parameters.count(m, "m"), ties_from(ties))),
        "aggregation": weights_from(weights),
        "client_optimizer": parameters.client_optimizer_from(momentum_l, weight_decay_l, clip_l),
    }


def centralised(*, K: Any = 1, eta_l: Any, eta_g: Any = 1, batch: Any = None, sampling: Any = None) -> dict[str, Any]:
    """Centralised learning (Appendix C.1): SGD by a problem's only client, K steps a round.

    It is refused where there are several clients.
    """
    return {**_work(K, eta_l, eta_g, batch, sampling), "participation": parts.Sole()}


def uniform_sampling(
    *, K: Any, eta_l: Any, m: Any, eta_g: Any = 1, weights: Any = "time_based", batch: Any = None, sampling: Any = None
) -> dict[str, Any]:
    """FedAvg with m of the M clients a round, sampled uniformly without replacement (Appendix C.2).

    "time_based" weights are M p_i/m, which gives client i the mean weight p_i.
    """
    cohort = parts.Uniform(parameters.count(m, "m"))
    work = _work(K, eta_l, eta_g, batch, sampling)
    return {**work, "participation": cohort, "aggregation": weights_from(weights)}


def md_sampling(
    *, K: Any, eta_l: Any, m: Any, eta_g: Any = 1, batch: Any = None, sampling: Any = None
) -> dict[str, Any]:
    """FedAvg with MD sampling: m clients a round, each drawn anew by importance (Appendix C.2, "Multinomial").

    One may be drawn several times; the weights are (how often client i is drawn)/m.
    """
    cohort = parts.WithReplacement(parameters.count(m, "m"))
    work = _work(K, eta_l, eta_g, batch, sampling)
    return {**work, "participation": cohort, "aggregation": parts.Same(Fraction(1, cohort.size))}


def biased_sampling(
    *,
    K: Any,
    eta_l: Any,
    cohorts: Any,
    eta_g: Any = 1,
    weights: Any = "average",
    batch: Any = None,
    sampling: Any = None,
) -> dict[str, Any]:
    """FedAvg with the cohorts [[0, 1], [2], ...], chosen by a deterministic criterion, over and over (Appendix C.3).

    weights: "average" (1 over the size of the cohort) too. "time_based" weights are p_i over the share of the rounds in
    which client i takes part, which makes up for the criterion over a period.
    """
    aggregation = parts.Average() if weights == "average" else weights_from(weights, ("average", *WEIGHTS))
    pattern = tuple(tuple(sorted(cohort)) for cohort in parameters.cohorts_from(cohorts or None, "cohorts"))
    work = _work(K, eta_l, eta_g, batch, sampling)
    return {**work, "participation": parts.Pattern(pattern), "aggregation": aggregation}


def _work(K: Any, eta_l: Any, eta_g: Any, batch: Any, sampling: Any) -> dict[str, Any]:
    """Local steps and step sizes. Raises BadInput and UnknownName."""
    return {
        "local": _local_work(K, batch, sampling),
        "schedule": parameters.step_from(eta_l, "eta_l"),
        "server": {"eta_g": as_fraction(eta_g, "eta_g")},
    }


def _local_work(K: Any, batch: Any, sampling: Any) -> parts.LocalWork:
    chosen = ("full" if batch is None else "replacement") if sampling is None else sampling
    if chosen not in ("full", "replacement"):
        raise UnknownName("the sampling of local steps", chosen, ("full", "replacement"))
    steps = parameters.count(K, "K")
    if chosen == "replacement":
        return parts.StochasticSteps(steps, parameters.count(1 if batch is None else batch, "batch"))
    if batch is not None:
        raise BadInput("a batch goes with sampling = 'replacement'; full gradients have none.")
    return parts.GradientSteps(steps)


def _timed(times: Any, policy: schedules.Policy) -> dict[str, Any]:
    """Participation that follows from the clients' clocks; work is stale unless all always take part."""
    participation = parts.Timed(times_from(times), policy)
    return {"participation": participation, "exchange": None if participation.always_full else parts.Stale()}


def times_from(given: Any) -> schedules.Times:
    """[1, 2, "7/2"] (one time a client), "f0", "f80" (ratio 5), "f80_literal" (ratio 1.8), {kind = "spread", ratio =
    3}, {kind = "exponential", rates = [1, 2]}.

    Raises UnknownName and BadInput.
    """
    if parameters.is_list(given):
        return schedules.Fixed(parameters.numbers(given, "times"))
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {"kind": given}
    kind = str(table.get("kind", ""))
    if kind in _NAMED:
        _only(table, kind, ())
        return _NAMED[kind]
    if kind == "list":
        _only(table, kind, ("values",))
        return schedules.Fixed(parameters.numbers(table["values"], "times"))
    if kind == "spread":
        _only(table, kind, ("ratio",))
        return schedules.Spread(as_fraction(table["ratio"], "ratio"))
    if kind == "exponential":
        _only(table, kind, ("rates",))
        return schedules.Exponential(parameters.numbers(table["rates"], "rates"))
    raise UnknownName("the kind of update times", kind, _TIMES)


def _only(table: Mapping[str, Any], kind: str, needed: Sequence[str]) -> None:
    for key in table:
        if key != "kind" and key not in needed:
            raise UnknownName(f"the update times '{kind}': parameter", str(key), needed or ["none"])
    for key in needed:
        if key not in table:
            raise BadInput(f"the update times '{kind}' need '{key}'.")


def ties_from(given: Any) -> schedules.Ties:
    """ "one_by_one" or "joint"; UnknownName otherwise."""
    for known in schedules.TIES:
        if given == known:
            return known
    raise UnknownName("the treatment of ties", given, schedules.TIES)


def weights_from(given: Any, names: Sequence[str] = WEIGHTS) -> parts.Aggregation:
    """The weight d_i with which a contribution of client i counts.

    "time_based" (p_i over the share of rounds in which client i takes part), "identical" (1), a positive number for all
    clients, or a list of numbers, one for each client. names: what a message lists. Raises BadInput and UnknownName.
    """
    if parameters.is_list(given):
        return parts.PerClient(parameters.numbers(given, "weights"))
    if given in WEIGHTS:
        return parts.Unbiased("data") if given == "time_based" else parts.Same(Fraction(1))
    try:
        value = as_fraction(given, "weights")
    except BadInput:
        raise UnknownName("the weights of the contributions", given, names) from None
    return parts.Same(value)


def _weights_are_shares(method: Method) -> bool:
    """Whether a client counts with (how often it is drawn)/m, m the size of the cohort."""
    size: Any = getattr(method.participation, "size", None)
    return method.aggregation == parts.Same(Fraction(1, size))


_BY_IMPORTANCE = parts.Unbiased("data")
_OWN_WEIGHTS = AnyOf(parts.Same, parts.PerClient, _BY_IMPORTANCE)
_FORM = Form(
    local=AnyOf(parts.GradientSteps, parts.StochasticSteps),
    schedule=parts.Constant,
    aggregation=_OWN_WEIGHTS,
    server=Part(parts.ServerStep, eta_g=anything),
)

KINDS = {
    # FedFix with a window for all clients is synchronous
    "fedavg_sync": Kind(
        fedavg_sync,
        replace(
            _FORM, participation=AnyOf(parts.Full, Part(parts.Timed, always_full=True)), aggregation=_BY_IMPORTANCE
        ),
    ),
    "fedavg_async": Kind(
        fedavg_async,
        replace(_FORM, participation=Part(parts.Timed, policy=schedules.FirstToArrive), exchange=parts.Stale),
    ),
    "fedfix": Kind(
        fedfix,
        replace(_FORM, participation=Part(parts.Timed, policy=schedules.Window), exchange=AnyOf(parts.Stale, None)),
    ),
    "fedbuff": Kind(
        fedbuff, replace(_FORM, participation=Part(parts.Timed, policy=schedules.Buffer), exchange=parts.Stale)
    ),
    "centralised": Kind(centralised, replace(_FORM, participation=parts.Sole, aggregation=_BY_IMPORTANCE)),
    "uniform_sampling": Kind(uniform_sampling, replace(_FORM, participation=parts.Uniform)),
    "md_sampling": Kind(
        md_sampling,
        replace(_FORM, participation=parts.WithReplacement, aggregation=parts.Same, relation=_weights_are_shares),
    ),
    "biased_sampling": Kind(
        biased_sampling, replace(_FORM, participation=parts.Pattern, aggregation=AnyOf(parts.Average(), _OWN_WEIGHTS))
    ),
}
