"""FedShuffle and the methods with which its paper compares it: local epochs, reshuffled or not.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", Algorithms 1 to 4, Sections
4, 5.1 and 6, Appendices E and F.

Parameters that several kinds share: eta_l: local step size (`methods.parameters.step_from`), eta_g: step size of the
server. E: local epochs (`methods.parameters.epochs_from`), batch: samples a step. participation: see
`methods.parameters.participation_from`. momentum: of the server, see `momentum_from`. momentum_l, weight_decay_l,
clip_l: of the local steps (`ClientOptimizer`). All kinds raise BadInput and UnknownName. A method with momentum is an
instance of FedShuffleMVR or of no kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import parameters
from boundcheck.methods.clients import Clients
from boundcheck.methods.kind import AnyOf, ForClients, Form, Kind, Part, anything
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, Momentum, OneByWeight, ServerStep, SumOne, Unbiased

_MOMENTUM = ("a", "form", "start", "warm_up")
FORMS = ("variance_reduced", "practical")
SIGNS = ("corrected", "printed")
AGGREGATIONS = ("sum_one", "printed")
NORMALISERS = ("inclusion", "sum_one")
# "largest" is what a claim asks of step sizes, so that the largest c has another name here
_DIVISORS = {"work": "work", "max": "largest", "size": "size", "none": "none"}


def epochs(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    participation: Any = "full",
    momentum: Any = None,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """Local epochs whose sampling, step sizes and aggregation the kind fixes."""
    return {
        "participation": parameters.participation_from(participation),
        "local": {"E": parameters.epochs_from(E), "batch": parameters.count(batch, "batch")},
        "schedule": parameters.step_from(eta_l, "eta_l"),
        "server": {"eta_g": as_fraction(eta_g, "eta_g")},
        "momentum": momentum_from(momentum),
        "client_optimizer": parameters.client_optimizer_from(0, weight_decay_l, clip_l),
    }


def equal_steps(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    sampling: Any = "replacement",
    participation: Any = "full",
    momentum: Any = None,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """All clients of a cohort take equally many steps; E local epochs are what a client plans (Section 6).

    Where E is drawn, the least or mean is that of what the cohort's clients drew in the round; see `epochs_from`.
    Equal work removes the objective inconsistency of FedAvg. sampling: "replacement", as the paper draws samples on its
    quadratics, or "reshuffled" (an epoch cut short), as on its real data.
    """
    parts = epochs(
        eta_l=eta_l, eta_g=eta_g, E=E, batch=batch, participation=participation, momentum=momentum,
        weight_decay_l=weight_decay_l, clip_l=clip_l,
    )  # fmt: skip
    return {**parts, "local": {**parts["local"], "sampling": sampling}}


def fedavg_sgd(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    participation: Any = "full",
    momentum: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """FedAvg (Section 6 and Table 4): as many steps as E local epochs have, every sample of a step drawn anew."""
    parts = epochs(eta_l=eta_l, eta_g=eta_g, E=E, batch=batch, participation=participation, momentum=momentum)
    return {**parts, "client_optimizer": parameters.client_optimizer_from(momentum_l, weight_decay_l, clip_l)}


def fedavg_rr(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    participation: Any = "full",
    momentum: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
    aggregation: str = "sum_one",
) -> dict[str, Any]:
    """FedAvgRR: every client does local epochs with one common step size (Algorithm 2).

    The server weighs a client by its share of the cohort's data, w_i / sum over S of w_j. As printed, Algorithm 2
    multiplies this by n/b, b the cohort's size; aggregation = "printed" does. FedAvg minimises another objective when
    clients hold different amounts of data (Section 4.1, which speaks of one number E for all clients and rounds).
    """
    if aggregation not in AGGREGATIONS:
        raise UnknownName("the aggregation of fedavg_rr", aggregation, AGGREGATIONS)
    parts = epochs(eta_l=eta_l, eta_g=eta_g, E=E, batch=batch, participation=participation, momentum=momentum)
    optimizer = parameters.client_optimizer_from(momentum_l, weight_decay_l, clip_l)
    return {**parts, "aggregation": SumOne(per_share=aggregation == "printed"), "client_optimizer": optimizer}


def fedshuffle(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    participation: Any = "full",
    sign: str = "corrected",
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """FedShuffle: reshuffled epochs of step size eta_l/|D_i|, and the unbiased aggregation w_i/p_i (Algorithms 1, 3).

    With a batch, |D_i| is the number of steps of an epoch. E: one number in Algorithm 1; with others, as Section 6
    draws them, a run is no instance of the kind. sign: "corrected", with which the server descends, or "printed", with
    which it ascends. Algorithm 1 has one sample a step.
    """
    if sign not in SIGNS:
        raise UnknownName("the sign of the server step", sign, SIGNS)
    parts = epochs(
        eta_l=eta_l, eta_g=eta_g, E=E, batch=batch, participation=participation,
        weight_decay_l=weight_decay_l, clip_l=clip_l,
    )  # fmt: skip
    return {**parts, "server": ServerStep(parts["server"]["eta_g"], sign == "printed")}


def fedshuffle_ascending(
    *, eta_l: Any, eta_g: Any = 1, E: Any = 1, batch: Any = 1, participation: Any = "full"
) -> dict[str, Any]:
    """FedShuffle with the sign as its boxes print it: Delta_i = y_i - x and x <- x - eta_g Delta, which ascends.

    The proofs of the paper use the opposite sign; see `fedshuffle`.
    """
    parts = fedshuffle(eta_l=eta_l, eta_g=eta_g, E=E, batch=batch, participation=participation, sign="printed")
    return {**parts, "name": "fedshuffle"}


def fedshuffle_unfinished(
    *,
    eta_l: Any,
    missed: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    reweighted: bool = True,
    participation: Any = "full",
) -> dict[str, Any]:
    """FedShuffle with step size eta_l/(E_i |D_i|) whose client i leaves out its last missed[i] steps (F.1).

    A client that finishes K_i of its E_i |D_i| steps gets the weight wtilde_i = w_i E_i |D_i|/K_i, so that the method
    minimises the true objective to first order; reweighted = False keeps w_i. A client that finishes none cannot be
    made up for, which is BadInput when weights are computed.
    """
    if isinstance(missed, str) or not isinstance(missed, Sequence):
        raise BadInput("missed must be a list with the number of steps that each client leaves out.")
    left_out = tuple(_missed(v) for v in missed)
    parts = epochs(eta_l=eta_l, eta_g=eta_g, E=E, batch=batch, participation=participation)
    weights = Unbiased("unfinished" if reweighted else "data")
    return {**parts, "local": {**parts["local"], "missed": left_out}, "aggregation": weights}


def _missed(value: Any) -> int:
    number = as_fraction(value, "missed")
    if number.denominator != 1 or number < 0:
        raise BadInput(f"missed = {value} is not allowed; a client leaves out 0, 1, 2, ... steps.")
    return int(number)


def fedshuffle_mvr(
    *,
    eta_l: Any,
    a: Any,
    E: Any = 1,
    eta_g: Any = 1,
    warm_up: Any = None,
    start: Any = None,
    participation: Any = "one_by_weight",
) -> dict[str, Any]:
    """FedShuffleMVR: FedShuffle with momentum-based variance reduction in every local step (Section 5.1).

    Local steps follow (12) and (13). The paper's text lost equation (14); it is the momentum update from which the
    proof of Lemma D.4 starts: m <- (1-a) m + sum over S of (w_i/p_i) (grad f_i(x) - (1-a) grad f_i(x_previous)), with
    the clients that then do the local work of the round. Theorem 5.2 is about one client a round by weight, eta_g = 1
    and a sampled warm-up.
    a: momentum weight. warm_up: rounds, before the first, whose sampled gradients at x_0 make the first momentum
    (Theorem 5.2 takes as many as the rounds that follow); without it start is "zero" or "gradient" (grad F(x_0), the
    default).
    """
    momentum: dict[str, Any] = {"a": as_fraction(a, "a")}
    if warm_up is not None:
        momentum["warm_up"] = parameters.count(warm_up, "warm_up")
    if start is not None or warm_up is None:
        momentum["start"] = "gradient" if start is None else start
    parts = epochs(eta_l=eta_l, eta_g=eta_g, E=parameters.count(E, "E"), participation=participation, momentum=momentum)
    return {**parts, "correction": None, "exchange": None}


def fedshuffle_gen(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    c: Any = "work",
    weights: Any = "data",
    normaliser: str = "inclusion",
    participation: Any = "full",
    momentum: Any = None,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """FedShuffleGen(c, wtilde, q), the general method of Appendix E (Algorithm 4).

    Client i does E_i local epochs with step size eta_l/c_i; the server adds wtilde_i/q_i^S times its difference.
    c: "work" (E_i |D_i|), "max" (max_j E_j |D_j|), "size", "none" or one number a client. weights (wtilde): "data",
    "nova" or one number a client. normaliser (q_i^S): "inclusion" (p_i) or "sum_one" (sum over S of w_j).
    """
    if normaliser not in NORMALISERS:
        raise UnknownName("the normaliser of fedshuffle_gen", normaliser, NORMALISERS)
    if isinstance(c, str) and c not in _DIVISORS:
        raise UnknownName("the divisor c of fedshuffle_gen", c, _DIVISORS)
    divide = _DIVISORS[c] if isinstance(c, str) else parameters.numbers(c, "c")
    tilde = weights if isinstance(weights, str) else parameters.numbers(weights, "weights")
    parts = epochs(
        eta_l=eta_l, eta_g=eta_g, E=E, batch=batch, participation=participation, momentum=momentum,
        weight_decay_l=weight_decay_l, clip_l=clip_l,
    )  # fmt: skip
    aggregation = Unbiased(tilde) if normaliser == "inclusion" else SumOne(tilde)
    return {**parts, "local": Epochs(**parts["local"], divide=divide), "aggregation": aggregation}


def _too_small_divisor(method: Method, clients: Clients) -> str | None:
    """Why Theorem E.1 does not speak of FedShuffleGen with these clients, as a clause; else None."""
    local: Any = method.local
    for i in range(clients.count):
        steps = local.planned(i, clients)
        c = local.divisor(i, steps, clients)
        if c < steps:
            return f"which needs c_i >= E_i |D_i|: client {i} has c_i = {format_short(c)} and E_i |D_i| = {steps}"
    return None


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
    warm_up = 0 if "warm_up" not in table else parameters.count(table["warm_up"], "warm_up")
    start = table.get("start", "sampled" if warm_up else "zero")
    return Momentum(as_fraction(table["a"], "a"), form == "variance_reduced", start, warm_up)


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

KINDS = {
    # the least, and the rounded mean, of the cohort's numbers of steps
    "fedavg_min": Kind(equal_steps, _form(Part(Epochs, **_ANY_NUMBER, sampling=anything, common="min"), SumOne())),
    "fedavg_mean": Kind(equal_steps, _form(Part(Epochs, **_ANY_NUMBER, sampling=anything, common="mean"), SumOne())),
    "fedavg_sgd": Kind(fedavg_sgd, _form(Part(Epochs, **_ANY_NUMBER, sampling="replacement"), SumOne())),
    "fedavg_rr": Kind(fedavg_rr, _form(Part(Epochs, E=int, batch=anything), SumOne())),
    "fedshuffle_nova": Kind(epochs, _form(Part(Epochs, **_NOVA, sampling="replacement"), Unbiased("nova"))),
    "fedshuffle_nova_rr": Kind(epochs, _form(Part(Epochs, **_NOVA), Unbiased("nova"))),
    "fedshuffle": Kind(fedshuffle, _FEDSHUFFLE),
    "fedshuffle_ascending": Kind(
        fedshuffle_ascending, replace(_FEDSHUFFLE, server=Part(ServerStep, eta_g=anything, ascend=True))
    ),
    # FedShuffle with FedAvg's aggregation, which biases it (Section 4.2)
    "fedshuffle_sum_one": Kind(epochs, _form(Part(Epochs, **_ANY_NUMBER, divide="size"), SumOne())),
    "fedshuffle_unfinished": Kind(
        fedshuffle_unfinished,
        _form(Part(Epochs, **_ANY_NUMBER, divide="work", missed=tuple), Unbiased("unfinished")),
    ),
    "fedshuffle_mvr": Kind(fedshuffle_mvr, _MVR),
    "fedshuffle_gen": Kind(fedshuffle_gen, _GEN, ForClients(_GEN_FOR_CLIENTS, _too_small_divisor)),
}
