"""Mistakes of what is kept from step to step and from visit to visit: gradients, models, decay, buffers of the server.

Each is an edit of the functions of a round, as in `mistakes_of_rounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from boundcheck.methods import parts
from boundcheck.methods.round import At, Rule

Edit = tuple[str, str, Mapping[str, Any]]  # name, sentence, functions of the edited rule


def of_visits(rule: Rule, *, steps: bool, prox: bool) -> Iterator[Edit]:
    """Of rules with one local vector whose clients keep nothing; steps, prox: whether a visit has them."""
    if rule.local != ("y",) or rule.kept_by_clients or rule.receives:
        return
    upload = rule.upload

    def sent(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        return upload(y["y"], at)

    if steps:

        def piled(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Mapping[str, Any]:
            total = y["sum"] + rule.direction(y["y"], g, at)
            return {"y": y["y"] - at.eta * total, "sum": total}

        words = "a step goes along the sum of all gradients of the visit so far"
        yield "gradients not set to zero", words, {"local": ("y", "sum"), "step": piled, "upload": sent}
    kept = {"kept_by_clients": {"own": True}, "keep": lambda self, y, at: {"own": y}}

    def relative(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        return {**upload(y, at), "x": y - at.server["x"]}

    words = "clients go on from their own last models, not from the server's"
    yield "own models kept", words, {**kept, "begin": lambda self, at: at.client["own"], "upload": relative}
    if prox:

        def centred(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
            return rule.direction(y, g, at) + at.prox * (at.start - at.client["own"])

        words = "the proximal term pulls to the client's own last model"
        yield "proximal term around the own model", words, {**kept, "direction": centred}

        def unscaled(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
            return rule.direction(y, g, at) + at.prox * (1 / at.eta - 1) * (y - at.start)

        words = "the proximal pull is not multiplied by the step size"
        yield "proximal term without the step size", words, {"direction": unscaled}


def decay_alone(optimizer: parts.ClientOptimizer) -> Iterator[Edit]:
    """Weight decay of clients without momentum: its half, and without the step size."""
    decay = optimizer.weight_decay
    if not decay or optimizer.momentum or optimizer.clip is not None:
        return

    def decaying(factor: Callable[[At], Any]) -> Callable[..., Any]:
        def direction(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
            return g(y) + at.prox * (y - at.start) + factor(at) * y

        return direction

    words = "the weight decay lacks a factor 2, as decay/4 |y|^2 does"
    yield "weight decay halved", words, {"direction": decaying(lambda at: decay / 2)}
    words = "the weight decay is not multiplied by the step size"
    yield "weight decay without the step size", words, {"direction": decaying(lambda at: decay / at.eta)}

    def at_the_end(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        return {"x": y - at.length / at.steps * decay * y - at.start} if at.steps else {"x": y - at.start}

    once = {"direction": decaying(lambda at: Fraction(0)), "upload": at_the_end}
    yield "weight decay once a visit", "the weight decay is applied once, at the end of a visit", once


def server_buffers(rule: parts.ServerMomentum) -> Iterator[Edit]:
    """A buffer of the server that is combined otherwise; `beta` is the momentum of the round."""
    if not rule.nesterov:

        def begun(self: Rule, at: At) -> Mapping[str, Any]:
            return {"x": at.x0, "buffer": at.zero}

        def numbers(self: Rule, round_index: int, dim: int) -> Mapping[str, Any]:
            return {**rule.numbers(round_index, dim), "later": int(round_index > 0)}

        def ahead(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
            change = at.eta_g * total["x"]
            buffer = at.number["beta"] * at.server["buffer"] + change
            return {"x": at.server["x"] + change + at.number["beta"] * buffer, "buffer": buffer}

        def damped(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
            beta, change = at.number["beta"], at.eta_g * total["x"]
            buffer = beta * at.server["buffer"] + (1 - at.number["later"] * beta) * change
            return {"x": at.server["x"] + buffer, "buffer": buffer}

        def of_models(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
            buffer = at.number["beta"] * at.server["buffer"] + at.server["x"] + total["x"]
            return {"x": at.server["x"] + at.eta_g * (buffer - at.server["x"]), "buffer": buffer}

        own = {"kept_by_server": {"x": True, "buffer": False}, "initial": begun, "begin": _from_server}
        words = "the server steps along its change plus momentum times the new buffer, as torch's Nesterov does"
        yield "Nesterov's step of the server", words, {**own, "combine": ahead}
        words = "the buffer is a weighted mean but for its first entry, as torch's dampening makes it"
        more = {"numbers": numbers, "settled": max(rule.settled, 1)}
        yield "dampening after the first round", words, {**own, **more, "combine": damped}
        words = "the momentum is one of the clients' mean models, not of their changes"
        yield "momentum of models", words, {**own, "combine": of_models}
    if rule.steady:
        return
    for by, word in ((1, "early"), (-1, "late")):

        def shifted(self: Rule, round_index: int, dim: int, by: int = by) -> Mapping[str, Any]:
            return rule.numbers(max(0, round_index + by), dim)

        yield f"momentum one round {word}", f"the momentum is that of the round {word}", {"numbers": shifted}


def _from_server(self: Rule, at: At) -> Any:
    return at.server["x"]
