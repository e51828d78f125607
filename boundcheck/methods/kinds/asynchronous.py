"""FedAvg with clients that take different times or are sampled: synchronous, asynchronous, FedFix, FedBuff.

Below, p_i is the weight of client i in F.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import parameters as p
from boundcheck.methods import parts, schedules
from boundcheck.methods.kind import AnyOf, Form, Part, anything, kind
from boundcheck.methods.method import Method

PAPER = (
    'Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and '
    'Heterogeneous Clients Updates", 2023'
)
_BY_IMPORTANCE = parts.Unbiased("data")
# "time_based" makes every client count by its importance p_i over a period; "identical" is 1 for every contribution.
WEIGHTS: Mapping[str, parts.Aggregation] = {"time_based": _BY_IMPORTANCE, "identical": parts.Same(Fraction(1))}
# Kind of update times -> what makes them, and its fields
_TIMES: Mapping[str, tuple[Callable[..., schedules.Times], Mapping[str, p.Reader]]] = {
    "list": (schedules.Fixed, {"values": lambda values, _: p.numbers(values, "times")}),
    "spread": (schedules.Spread, {"ratio": as_fraction}),
    "exponential": (schedules.Exponential, {"rates": p.numbers}),
    "f0": (lambda: schedules.F0, {}),
    "f80": (lambda: schedules.F80, {}),
    "f80_literal": (lambda: schedules.F80_LITERAL, {}),
}


def _work(K: int, batch: int | None, sampling: Any) -> dict[str, Any]:
    if sampling == "full" and batch is not None:
        raise BadInput("a batch goes with sampling = 'replacement'; full gradients have none.")
    return {"local": p.local_steps(K, 1 if sampling == "replacement" and batch is None else batch)}


def _clocked(policy: Callable[..., schedules.Policy]) -> Callable[..., dict[str, Any]]:
    """Participation that follows from the clients' clocks; work is stale unless all always take part."""

    def parts_of(K: int, batch: int | None, sampling: Any, times: schedules.Times | None, **own: Any) -> dict[str, Any]:
        if times is None:
            return {**_work(K, batch, sampling), "participation": parts.Full()}
        clocks = parts.Timed(times, policy(**own))
        exchange = None if clocks.always_full else parts.Stale()
        return {**_work(K, batch, sampling), "participation": clocks, "exchange": exchange}

    return parts_of


def _multinomial(m: int, **work: Any) -> dict[str, Any]:
    return _work(**work) | {"participation": parts.WithReplacement(m), "aggregation": parts.Same(Fraction(1, m))}


def _uniform(value: Any, name: str) -> parts.Uniform:
    return parts.Uniform(p.count(value, name))


def _pattern(cohorts: Any, name: str) -> parts.Pattern:
    return parts.Pattern(tuple(tuple(sorted(cohort)) for cohort in p.cohorts_from(cohorts or None, name)))


def times_from(given: Any, name: str = "times") -> schedules.Times:
    """[1, 2, "7/2"] (one time a client), "f0", "f80" (ratio 5), "f80_literal" (ratio 1.8), or a table such as
    {kind = "spread", ratio = 3}. Raises UnknownName and BadInput."""
    if p.is_list(given):
        return schedules.Fixed(p.numbers(given, "times"))
    kind, own = p.kind_and_fields(given)
    if kind not in _TIMES:
        raise UnknownName("the kind of update times", kind, _TIMES)
    made, readers = _TIMES[kind]
    return made(**p.fields_of(own, readers, f"the update times '{kind}'", verb="need"))


def _weights_from(**words: parts.Aggregation) -> p.Reader:
    """A reader of the weights d_i: one of the words, a positive number for all clients, or a list with one for each."""

    def read(given: Any, name: str) -> parts.Aggregation:
        if p.is_list(given):
            return parts.PerClient(p.numbers(given, name))
        if isinstance(given, str) and given in words:
            return words[given]
        try:
            value = as_fraction(given, name)
        except BadInput:
            raise UnknownName("the weights of the contributions", given, words) from None
        return parts.Same(value)

    return read


def _weights_are_shares(method: Method) -> bool:
    """Whether a client counts with (how often it is drawn)/m, m the size of the cohort."""
    size: Any = getattr(method.participation, "size", None)
    return method.aggregation == parts.Same(Fraction(1, size))


_OWN_WEIGHTS = AnyOf(parts.Same, parts.PerClient, _BY_IMPORTANCE)
_FORM = Form(
    local=AnyOf(parts.GradientSteps, parts.StochasticSteps),
    schedule=parts.Constant,
    aggregation=_OWN_WEIGHTS,
    server=Part(parts.ServerStep, eta_g=anything),
)

_WORK = (
    p.BATCH.but(into="", default=None, allowed=f"{p.COUNT}, with replacement (1 where only the sampling is given)"),
    p.SAMPLING.but(
        into="", default=None, allowed='"full" (whole gradients; without a batch) or "replacement"',
        read=p.one_of("the sampling of local steps", ("full", "replacement")),
    ),
)  # fmt: skip
_STEPS = (p.K, p.ETA_L)
_TIMED = p.Parameter(
    "times", "how long each client's local work takes", "a list, a word or a table (values.md)", times_from, unit="time"
)
_WEIGHTS = p.Parameter(
    "weights", "d_i, with which a contribution counts", '"time_based" (p_i over the share of rounds in which client i '
    'takes part), "identical" (1), a number, or a list with one for each client', _weights_from(**WEIGHTS),
    "aggregation", "time_based",
)  # fmt: skip
_ANY_WEIGHTS = _WEIGHTS.but(
    allowed=f'"average" (1 over the size of the cohort), {_WEIGHTS.allowed}', default="average",
    read=_weights_from(average=parts.Average(), **WEIGHTS),
)  # fmt: skip
_TIES = p.Parameter(
    "ties", "clients that finish together", '"one_by_one" (a round each) or "joint" (one cohort)',
    p.one_of("the treatment of ties", schedules.TIES), default="one_by_one",
)  # fmt: skip
_DT = p.Parameter("dt", "length of a window", "a number above 0", as_fraction, unit="time")
_M = p.Parameter("m", "clients of a cohort", p.COUNT, _uniform, "participation", unit="clients")
_COHORTS = p.Parameter(
    "cohorts", "the cohorts, over and over", "a list such as [[0, 1], [2]]", _pattern, "participation"
)

KINDS = {
    # FedFix with a window for all clients is synchronous
    "fedavg_sync": kind(
        "Synchronous FedAvg: every round waits for all clients, x <- x + eta_g sum of p_i (y_i - x).",
        (PAPER, "Algorithm 1; Section 4.2"),
        replace(
            _FORM, participation=AnyOf(parts.Full, Part(parts.Timed, always_full=True)), aggregation=_BY_IMPORTANCE
        ),
        (*_STEPS, p.ETA_G, *_WORK, _TIMED.but(default=None, sentence="which say how long a round takes"), *p.SGD),
        _clocked(schedules.WaitForAll),
    ),
    "fedavg_async": kind(
        """Asynchronous FedAvg: the server aggregates whenever a client delivers, and sends it the new model.

        K local steps are taken on the model that the client received last. "time_based" weights are
        d_i = (sum of 1/T_j) T_i p_i (36).
        """,
        (PAPER, "Section 4.3, (36)"),
        replace(_FORM, participation=Part(parts.Timed, policy=schedules.FirstToArrive), exchange=parts.Stale),
        (*_STEPS, _TIMED, p.ETA_G, _WEIGHTS, _TIES, *_WORK, *p.SGD),
        _clocked(schedules.FirstToArrive),
    ),
    "fedfix": kind(
        """FedFix-dt: the server aggregates after every window of length dt what has arrived within it.

        The slowest client of the times "f0" and "f80" takes the time 1. "time_based" weights are d_i = ceil(T_i/dt) p_i
        (40). A window that is long enough for all clients makes it synchronous FedAvg.
        """,
        (PAPER, "Section 4.4, (40)"),
        replace(_FORM, participation=Part(parts.Timed, policy=schedules.Window), exchange=AnyOf(parts.Stale, None)),
        (*_STEPS, _TIMED, _DT, p.ETA_G, _WEIGHTS, *_WORK, *p.SGD),
        _clocked(lambda dt: schedules.Window(dt)),
    ),
    "fedbuff": kind(
        """FedBuff: the server aggregates as soon as it has the work of m different clients.

        A client that has delivered waits for the aggregation. "time_based" weights are p_i over the client's share of
        the rounds of a period, which the paper leaves open. After J. Nguyen et al., "Federated Learning with Buffered
        Asynchronous Aggregation".
        """,
        (PAPER, "end of Section 4.4"),
        replace(_FORM, participation=Part(parts.Timed, policy=schedules.Buffer), exchange=parts.Stale),
        (*_STEPS, _TIMED, _M.but(read=p.count, into=""), p.ETA_G, _WEIGHTS, _TIES, *_WORK, *p.SGD),
        _clocked(lambda m, ties: schedules.Buffer(m, ties)),
    ),
    "centralised": kind(
        "Centralised learning: SGD by a problem's only client, K steps a round; several clients are refused.",
        (PAPER, "Appendix C.1"),
        replace(_FORM, participation=parts.Sole, aggregation=_BY_IMPORTANCE),
        (p.K.but(default=1), p.ETA_L, p.ETA_G, *_WORK),
        lambda **work: _work(**work) | {"participation": parts.Sole()},
    ),
    "uniform_sampling": kind(
        """FedAvg with m of the M clients a round, sampled uniformly without replacement.

        "time_based" weights are M p_i/m, which gives client i the mean weight p_i.
        """,
        (PAPER, "Appendix C.2"),
        replace(_FORM, participation=parts.Uniform),
        (*_STEPS, _M, p.ETA_G, _WEIGHTS, *_WORK),
        _work,
    ),
    "md_sampling": kind(
        """FedAvg with MD sampling: m clients a round, each drawn anew by importance.

        One may be drawn several times; the weights are (how often client i is drawn)/m.
        """,
        (PAPER, 'Appendix C.2, "Multinomial"'),
        replace(_FORM, participation=parts.WithReplacement, aggregation=parts.Same, relation=_weights_are_shares),
        (*_STEPS, _M.but(read=p.count, into=""), p.ETA_G, *_WORK),
        _multinomial,
    ),
    "biased_sampling": kind(
        """FedAvg with cohorts that are chosen by a deterministic criterion.

        "time_based" weights are p_i over the share of the rounds in which client i takes part, which makes up for the
        criterion over a period.
        """,
        (PAPER, "Appendix C.3"),
        replace(_FORM, participation=parts.Pattern, aggregation=AnyOf(parts.Average(), _OWN_WEIGHTS)),
        (*_STEPS, _COHORTS, p.ETA_G, _ANY_WEIGHTS, *_WORK),
        _work,
    ),
}
