"""FedShuffle and the methods with which its paper compares it: local epochs, reshuffled or not.

A method with momentum is an instance of FedShuffleMVR or of no kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput
from boundcheck.methods import parameters as p
from boundcheck.methods.clients import Clients
from boundcheck.methods.kind import AnyOf, ForClients, Form, Part, anything, kind
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, Momentum, OneByWeight, ServerStep, SumOne, Unbiased

PAPER = 'S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", 2022'
FORMS = ("variance_reduced", "practical")
_MOMENTUM: Mapping[str, p.Reader] = {
    "a": as_fraction, "form": p.one_of("the form of the momentum", FORMS), "start": p.as_written, "warm_up": p.count,
}  # fmt: skip
# "largest" is what a claim asks of step sizes, so that the largest c has another name here
_DIVISORS = {"work": "work", "max": "largest", "size": "size", "none": "none"}


def _missed(values: Any, name: str) -> tuple[int, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise BadInput("missed must be a list with the number of steps that each client leaves out.")
    wrong = "is not allowed; a client leaves out 0, 1, 2, ... steps."
    return tuple(p.whole(v, name, f"{name} = {v} {wrong}") for v in values)


def _mvr(a: Fraction, warm_up: int | None, start: Any) -> dict[str, Any]:
    usual = "gradient" if warm_up is None else "sampled"
    return {"momentum": Momentum(a, True, usual if start is None else start, warm_up or 0)}


def _general(c: Any, weights: Any, normaliser: type[Unbiased | SumOne], **local: Any) -> dict[str, Any]:
    return {"local": Epochs(**local, divide=c), "aggregation": normaliser(weights)}


def _divisor(c: Any, name: str) -> Any:
    return p.one_of("the divisor c of fedshuffle_gen", _DIVISORS)(c, name) if isinstance(c, str) else p.numbers(c, name)


def _weights(tilde: Any, name: str) -> Any:
    return tilde if isinstance(tilde, str) else p.numbers(tilde, name)


def _too_small_divisor(method: Method, clients: Clients) -> str | None:
    """Why Theorem E.1 does not cover FedShuffleGen with these clients, as a clause; else None."""
    local: Any = method.local
    for i in range(clients.count):
        steps = local.planned(i, clients)
        c = local.divisor(i, steps, clients)
        if c < steps:
            return f"which needs c_i >= E_i |D_i|: client {i} has c_i = {format_short(c)} and E_i |D_i| = {steps}"
    return None


def momentum_from(given: Any, name: str = "momentum") -> Momentum | None:
    """{a = "1/10", form = "variance_reduced" or "practical", start = "zero", "gradient" or "sampled", warm_up = R}."""
    if given is None:
        return None
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {"a": given}
    found = p.fields_of(table, _MOMENTUM, "the momentum", tuple(_MOMENTUM))
    if "a" not in found:
        raise BadInput("the momentum needs a, the weight of the fresh gradient (momentum 0.9 is a = 1/10).")
    warm_up = found.get("warm_up", 0)
    start = found.get("start", "sampled" if warm_up else "zero")
    return Momentum(found["a"], found.get("form", "variance_reduced") == "variance_reduced", start, warm_up)


def _form(local: Part | AnyOf, aggregation: Any) -> Form:
    return Form(local=local, aggregation=aggregation, server=Part(ServerStep, eta_g=anything))


def _is_one_epoch(E: Any) -> bool:
    return E == 1 or (isinstance(E, tuple) and set(E) == {1})


_ANY_NUMBER = {"E": anything, "batch": anything}
_FEDSHUFFLE = _form(Part(Epochs, E=int, divide="size"), Unbiased())
# The paper's FedNova divides differences by the number of steps: wtilde_i proportional to w_i/(E_i |D_i|), c = max
# E_j |D_j| and q_i^S = p_i in FedShuffleGen, so that it minimises the true objective (Appendix E.2).
# With numbers of epochs that are drawn, each visit is divided by its own, and c is that of the most epochs.
_NOVA = {"E": AnyOf(int, tuple), "batch": anything, "divide": "largest"}
# The n/b of the printed Algorithm 2 is no normaliser of Theorem E.1. Its condition c_i >= E_i |D_i| holds with the
# divisors "work" and "max" whatever the sizes, and with "size" for one epoch; others are checked with the clients.
_NORMALISED = AnyOf(Part(Unbiased, weights=anything), Part(SumOne, weights=anything))
_GIVEN_EPOCHS = AnyOf(int, tuple)
_GEN = _form(
    AnyOf(Part(Epochs, E=_GIVEN_EPOCHS, divide=AnyOf("work", "largest")), Part(Epochs, E=_is_one_epoch, divide="size")),
    _NORMALISED,
)
_GEN_FOR_CLIENTS = replace(_GEN, local=Part(Epochs, E=_GIVEN_EPOCHS, divide=anything))
_MVR = replace(
    _FEDSHUFFLE,
    participation=OneByWeight(),
    server=Part(ServerStep, eta_g=1),
    momentum=Part(Momentum, start="sampled", warm_up=anything),
)

_MOMENTUM_G = p.Parameter(
    "momentum", "momentum of the server", "its weight a of the fresh gradient, or a table (values.md)", momentum_from,
    "momentum", None,
)  # fmt: skip
_BASE = (p.ETA_L, p.ETA_G, p.E, p.BATCH, p.PARTICIPATION)
_ONE_E = p.E.but(read=p.count, allowed=p.COUNT)
_OWN = (p.E.but(into=""), p.BATCH.but(into=""))
_DECAY = (p.WEIGHT_DECAY_L, p.CLIP_L)
_EPOCHS = (*_BASE, _MOMENTUM_G, *_DECAY)
_SAMPLED = (*_BASE[:4], p.SAMPLING.but(default="replacement"), p.PARTICIPATION, _MOMENTUM_G, *_DECAY)
_SIGN = p.Parameter(
    "sign", "of the server's step: it descends, or ascends as printed", '"corrected" or "printed"',
    p.one_of("the sign of the server step", {"corrected": False, "printed": True}), "server.ascend", "corrected",
    annotation="str",
)  # fmt: skip
_SHARES = p.Parameter(
    "aggregation", "w_i over the sum of the cohort's w_j, or as printed n/b times that", '"sum_one" or "printed"',
    p.one_of("the aggregation of fedavg_rr", {"sum_one": SumOne(), "printed": SumOne(per_share=True)}), "aggregation",
    "sum_one", annotation="str",
)  # fmt: skip
_MISSED = p.Parameter(
    "missed", "steps that each client leaves out", "a list of integers from 0 on", _missed, "local.missed"
)
_REWEIGHTED = p.Parameter(
    "reweighted", "whether unfinished work is made up for by weights", "true or false",
    lambda value, _: Unbiased("unfinished" if value else "data"), "aggregation", True, annotation="bool",
)  # fmt: skip
_A = p.Parameter("a", "weight of the fresh gradient in the momentum", "above 0 and at most 1", as_fraction)
_WARM_UP = p.Parameter(
    "warm_up", "rounds before the first whose sampled gradients at x_0 make the first momentum",
    p.COUNT, p.count, default=None, unit="rounds",
)  # fmt: skip
_START = p.Parameter(
    "start", "first momentum without warm_up", '"zero" or "gradient" (grad F(x_0), the default)', default=None
)
_C = p.Parameter(
    "c", "c_i, by which client i divides eta_l", '"work" (E_i |D_i|), "max" (of all), "size", "none", or one for each',
    _divisor, default="work",
)  # fmt: skip
_TILDE = p.Parameter(
    "weights", "wtilde_i of the differences", '"data", "nova" or one number a client', _weights, default="data"
)
_NORMALISER = p.Parameter(
    "normaliser", "q_i^S, by which wtilde_i is divided", '"inclusion" (p_i) or "sum_one" (sum over S of w_j)',
    p.one_of("the normaliser of fedshuffle_gen", {"inclusion": Unbiased, "sum_one": SumOne}), default="inclusion",
    annotation="str",
)  # fmt: skip

_ALIKE = kind(
    """All clients of a cohort take as many steps as the one that planned least; E local epochs are planned.

    Where E is drawn, the least is that of what the cohort's clients drew in the round. Equal work removes the objective
    inconsistency of FedAvg. Samples are drawn with replacement on the paper's quadratics, and "reshuffled" (an epoch
    cut short) on its real data.
    """,
    (PAPER, "Section 6; Appendix F, Table 4"),
    _form(Part(Epochs, **_ANY_NUMBER, sampling=anything, common="min"), SumOne()),
    _SAMPLED,
)
_NOVA_KIND = kind(
    """FedNova as this paper compares it: c = max_j E_j |D_j| divides step sizes, wtilde_i is as w_i/(E_i |D_i|).

    It differs from `fednova`, the method of Wang et al.: its weights sum to 1, so that it minimises the true objective.
    Every sample of a step is drawn anew. With drawn numbers of epochs each visit is divided by its own.
    """,
    (PAPER, "Appendix E.2"),
    _form(Part(Epochs, **_NOVA, sampling="replacement"), Unbiased("nova")),
    _EPOCHS,
)

KINDS = {
    "fedavg_min": _ALIKE,
    "fedavg_mean": _ALIKE.but(
        "All clients of a cohort take equally many steps, the rounded mean of what they planned; else as `fedavg_min`.",
        _form(Part(Epochs, **_ANY_NUMBER, sampling=anything, common="mean"), SumOne()),
    ),
    "fedavg_sgd": kind(
        "FedAvg with as many steps as E local epochs have, every sample of a step drawn anew.",
        (PAPER, "Section 6; Appendix F, Table 4"),
        _form(Part(Epochs, **_ANY_NUMBER, sampling="replacement"), SumOne()),
        (*_BASE, _MOMENTUM_G, *p.SGD),
    ),
    "fedavg_rr": kind(
        """FedAvgRR: every client does reshuffled local epochs with one common step size.

        The server weighs a client by its share of the cohort's data. As printed, Algorithm 2 multiplies this by n/b, b
        the cohort's size. FedAvg minimises another objective when clients hold different amounts of data (Section 4.1,
        which is about one number E for all clients and rounds).
        """,
        (PAPER, "Algorithm 2"),
        _form(Part(Epochs, E=int, batch=anything), SumOne()),
        (*_BASE, _MOMENTUM_G, *p.SGD, _SHARES),
    ),
    "fedshuffle_nova": _NOVA_KIND,
    "fedshuffle_nova_rr": _NOVA_KIND.but(
        "`fedshuffle_nova` with reshuffled epochs.", _form(Part(Epochs, **_NOVA), Unbiased("nova"))
    ),
    "fedshuffle": kind(
        """FedShuffle: reshuffled epochs of step size eta_l/|D_i|, and the unbiased aggregation w_i/p_i.

        With a batch, |D_i| is the number of steps of an epoch. Algorithm 1 has one sample a step and one number E; with
        others, as Section 6 draws them, a run is no instance of the kind.
        """,
        (PAPER, "Algorithms 1 and 3"),
        _FEDSHUFFLE,
        (*_BASE, _SIGN, *_DECAY),
    ),
    "fedshuffle_ascending": kind(
        """FedShuffle with the sign as its boxes print it: Delta_i = y_i - x and x <- x - eta_g Delta, which ascends.

        The proofs of the paper use the opposite sign, that of `fedshuffle`.
        """,
        (PAPER, "Algorithms 1 and 3, as printed"),
        replace(_FEDSHUFFLE, server=Part(ServerStep, eta_g=anything, ascend=True)),
        _BASE,
        lambda: {"name": "fedshuffle"},
    ),
    "fedshuffle_sum_one": kind(
        "FedShuffle with FedAvg's aggregation, which biases it.",
        (PAPER, "Section 4.2"),
        _form(Part(Epochs, **_ANY_NUMBER, divide="size"), SumOne()),
        _EPOCHS,
    ),
    "fedshuffle_unfinished": kind(
        """FedShuffle with step size eta_l/(E_i |D_i|) whose client i leaves out its last missed[i] steps.

        A client that finishes K_i of its E_i |D_i| steps gets the weight wtilde_i = w_i E_i |D_i|/K_i: the method
        minimises the true objective to first order; reweighted = false keeps w_i. A client that finishes none cannot be
        made up for, which is an error when weights are computed.
        """,
        (PAPER, "Appendix F.1"),
        _form(Part(Epochs, **_ANY_NUMBER, divide="work", missed=tuple), Unbiased("unfinished")),
        (p.ETA_L, _MISSED, p.ETA_G, p.E, p.BATCH, _REWEIGHTED, p.PARTICIPATION),
    ),
    "fedshuffle_mvr": kind(
        """FedShuffleMVR: FedShuffle with momentum-based variance reduction in every local step.

        The paper's text lost equation (14); it is the momentum update from which the proof of Lemma D.4 starts:
        m <- (1-a) m + sum over S of (w_i/p_i) (grad f_i(x) - (1-a) grad f_i(x_previous)), with the clients that then do
        the local work of the round. Theorem 5.2 is about one client a round by weight, eta_g = 1, and a sampled warm-up
        of as many rounds as follow.
        """,
        (PAPER, "(12) to (14)"),
        _MVR,
        (p.ETA_L, _A, _ONE_E, p.ETA_G, _WARM_UP, _START, p.PARTICIPATION.but(default="one_by_weight")),
        _mvr,
    ),
    "fedshuffle_gen": kind(
        "FedShuffleGen(c, wtilde, q): E_i local epochs with step size eta_l/c_i, weighed by wtilde_i/q_i^S.",
        (PAPER, "Appendix E, Algorithm 4"),
        _GEN,
        (*_BASE[:2], *_OWN, _C, _TILDE, _NORMALISER, p.PARTICIPATION, _MOMENTUM_G, *_DECAY),
        _general,
        ForClients(_GEN_FOR_CLIENTS, _too_small_divisor),
    ),
}
