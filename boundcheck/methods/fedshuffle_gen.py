"""FedShuffleGen(c, wtilde, q): the general method of FedShuffle's Appendix E (Algorithm 4).

Client i does E_i local epochs with step size eta_l/c_i; the server adds wtilde_i/q_i^S times its difference.
"""

from __future__ import annotations

from typing import Any

from boundcheck.core.numbers import format_short
from boundcheck.errors import UnknownName
from boundcheck.methods._family import Common, compose, epochs_from, numbers
from boundcheck.methods._steps import NONE, count, sgd_from
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, SumOne, Unbiased

__all__ = ["build", "matches", "objection"]

MAX_CLIENTS = 1000  # whose divisors are looked at one by one
NORMALISERS = ("inclusion", "sum_one")
# "largest" is what a claim asks of step sizes, so that the largest c has another name here
_DIVISORS = {"work": "work", "max": "largest", "size": "size", "none": "none"}


def build(
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
    clip_l: Any = NONE,
) -> Method:
    """FedShuffleGen.

    c: "work" (E_i |D_i|), "max" (max_j E_j |D_j|), "size", "none" or one number a client. weights (wtilde): "data",
    "nova" or one number a client. normaliser (q_i^S): "inclusion" (p_i) or "sum_one" (sum over S of w_j).
    E, participation, momentum: see `methods._family`. weight_decay_l, clip_l: of the local steps (`ClientSGD`).
    Raises BadInput and UnknownName.
    """
    if normaliser not in NORMALISERS:
        raise UnknownName("the normaliser of fedshuffle_gen", normaliser, NORMALISERS)
    if isinstance(c, str) and c not in _DIVISORS:
        raise UnknownName("the divisor c of fedshuffle_gen", c, _DIVISORS)
    divide = _DIVISORS[c] if isinstance(c, str) else numbers(c, "c")
    local = Epochs(epochs_from(E), count(batch, "batch"), divide=divide)
    tilde = weights if isinstance(weights, str) else numbers(weights, "weights")
    aggregation = Unbiased(tilde) if normaliser == "inclusion" else SumOne(tilde)
    given = Common(eta_l, eta_g, participation, momentum, sgd_from(0, weight_decay_l, clip_l))
    return compose("fedshuffle_gen", local, aggregation, given)


def matches(method: Method, clients: Clients | None = None) -> bool:
    """Whether Theorem E.1 speaks of a composition: reshuffled epochs of single samples, c_i >= E_i |D_i|.

    The divisors "work" and "max" meet this whatever the sizes, and so does "size" with one epoch. Whether others do is
    decided where the clients are given.
    """
    local = method.local
    if not isinstance(local, Epochs) or not _is_family(method):
        return False
    one_epoch = local.E == 1 or (isinstance(local.E, tuple) and set(local.E) == {1})
    if local.divide in ("work", "largest") or (local.divide == "size" and one_epoch):
        return True
    return clients is not None and clients.count <= MAX_CLIENTS and objection(method, clients) is None


def objection(method: Method, clients: Clients) -> str | None:
    """Why Theorem E.1 does not speak of a composition of its family with these clients, as a clause; else None."""
    local = method.local
    if not isinstance(local, Epochs) or not _is_family(method) or clients.count > MAX_CLIENTS:
        return None
    for i in range(clients.count):
        steps = local.planned(i, clients)
        c = local.divisor(i, steps, clients)
        if c < steps:
            return f"which needs c_i >= E_i |D_i|: client {i} has c_i = {format_short(c)} and E_i |D_i| = {steps}"
    return None


def _is_family(method: Method) -> bool:
    """Whether a composition is FedShuffleGen with reshuffled epochs of single samples, whatever its divisors."""
    local = method.local
    if not isinstance(local, Epochs) or not method.is_plain or method.server.ascend:
        return False
    whole = local.sampling == "reshuffled" and local.common is None and local.missed is None and local.batch == 1
    fixed = isinstance(local.E, int | tuple)
    # the n/b of the printed Algorithm 2 is no normaliser of the theorem's step
    known = isinstance(method.aggregation, Unbiased | SumOne) and not getattr(method.aggregation, "per_share", False)
    return whole and fixed and known
