"""Mistakes in what a round does with vectors: its start, its state, its momenta and control variates.

Each is a rule like the right one with some functions of its own (`edited`), so that every reader carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from boundcheck.judge.altered import edited
from boundcheck.judge.mistakes_of_averages import Found
from boundcheck.judge.mistakes_of_visits import Edit, decay_alone, of_visits, server_buffers
from boundcheck.methods import parts
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.round import PLAIN, At, Rule, Sent

_SAYING = ("momentum", "correction", "control", "exchange", "server_momentum")  # parts that say what a round does


def round_mistakes(method: Method, clients: Clients) -> Found:
    """Edits of the functions of the method's round."""
    optimizer = method.client_optimizer
    visits = [v for i in range(clients.count) for _, v in method.local.visits(i, range(clients.count), clients)]
    exact = any(v.sampling == "exact" for v in visits)  # solved without steps, so that edits of a step change nothing
    if optimizer is not None and replace(method, client_optimizer=None).is_plain:
        rows = [*_client_momentum(optimizer, method.schedule.is_constant()), *decay_alone(optimizer)]
        rule: Rule = method.server
    else:
        rule = method.rule
        several = any(v.steps > 1 for v in visits) and not exact
        pulled = any(v.prox for v in visits) and not exact
        rows = [*_of_any(rule, several), *of_visits(rule, steps=several, prox=pulled)]
        if isinstance(rule, parts.ControlVariates):
            rows = [*rows, *_control_variates(rule, method, clients)]
        if isinstance(rule, parts.ServerMomentum):
            rows = [*rows, *_server_momentum(rule), *server_buffers(rule)]
        if isinstance(rule, parts.Correction):
            rows = [*rows, *_correction(rule)]
        if pulled:
            rows = [*rows, *_proximal(rule)]
    none = dict.fromkeys((*_SAYING, "client_optimizer"))
    for name, sentence, functions in rows:
        yield name, sentence, {**none, "functions": edited(rule, **functions)}


def _of_any(rule: Rule, steps: bool) -> Iterator[Edit]:
    """Mistakes that any rule can have that adds up differences; steps: whether clients take several."""

    def frozen(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return rule.step(y, lambda v: g(at.start), at)

    if steps:
        words = "all local steps use the gradient where the visit began"
        yield "gradients of the round's start", words, {"step": frozen}

    def model(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        sent = dict(rule.upload(y, at))
        return {**sent, "x": sent["x"] + at.start}

    yield "models added", "the server adds the clients' models to its own, as if they were differences", {
        "upload": model
    }  # fmt: skip

    def late(self: Rule, at: At) -> Mapping[str, Any]:
        return {**rule.initial(at), "before": at.x0}

    def from_before(self: Rule, at: At) -> Any:
        return at.server["before"]

    def followed(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {**rule.combine(total, at), "before": at.server["x"]}

    def from_server(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        sent = dict(rule.upload(y, at))
        return {**sent, "x": sent["x"] + at.start - at.server["x"]}

    if not rule.kept_by_clients and not rule.receives:
        stale = {
            "kept_by_server": {**rule.kept_by_server, "before": True},
            "initial": late, "begin": from_before, "combine": followed,
        }  # fmt: skip
        yield "models of the round before", "clients start from the server's model of the round before", stale
        words = "clients start from the server's model of the round before, and their models replace the server's"
        yield "models of the round before, averaged", words, {**stale, "upload": from_server}

    def numbers(self: Rule, round_index: int, dim: int) -> Mapping[str, Any]:
        return {**rule.numbers(round_index, dim), "counts": int(round_index > 0)}

    def kept(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        new, counts = rule.combine(total, at), at.number["counts"]
        return {name: at.server[name] + counts * (v - at.server[name]) for name, v in new.items()}

    first = {"numbers": numbers, "combine": kept, "settled": max(rule.settled, 1)}
    yield "first round lost", "the server's update of the first round is lost, or all points are one round late", first


def _proximal(rule: Rule) -> Iterator[Edit]:
    def halved(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return rule.direction(y, g, at) - at.prox * Fraction(1, 2) * (y - at.start)

    def first(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return rule.direction(y, g, at) + at.prox * (at.start - at.server["first"])

    def begun(self: Rule, at: At) -> Mapping[str, Any]:
        return {**rule.initial(at), "first": at.x0}

    def stays(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {**rule.combine(total, at), "first": at.server["first"]}

    def origin(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return rule.direction(y, g, at) + at.prox * at.start

    yield "proximal weight halved", "the proximal term lacks a factor 2, as mu/4 |y - x|^2 does", {"direction": halved}
    own = {"kept_by_server": {**rule.kept_by_server, "first": True}, "initial": begun, "combine": stays}
    words = "the proximal term pulls to the start of the run"
    yield "proximal term around the first point", words, {**own, "direction": first}
    yield "proximal term around the origin", "the proximal term pulls to 0, as weight decay does", {"direction": origin}


def _client_momentum(optimizer: parts.ClientOptimizer, constant: bool) -> Iterator[Edit]:
    """v <- m v + g in local steps: other conventions, and a buffer that stays."""
    m, decay = optimizer.momentum, optimizer.weight_decay
    if optimizer.clip is not None or not m:
        return

    def steps(old: Fraction, new: Fraction, *, nesterov: bool = False) -> Callable[..., Mapping[str, Any]]:
        def step(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Mapping[str, Any]:
            d = g(y["y"]) + at.prox * (y["y"] - at.start) + decay * y["y"]
            v = old * y["v"] + new * d
            return {"y": y["y"] - at.eta * (d + old * v if nesterov else v), "v": v}

        return step

    def sent(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        return {"x": y["y"] - at.start}

    def begun(self: Rule, at: At) -> Mapping[str, Any]:
        return {"y": at.server["x"], "v": at.client["v"]}

    def kept(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        return {"v": y["v"]}

    own: dict[str, Any] = {"local": ("y", "v"), "upload": sent}
    one = Fraction(1)
    stays = {**own, "kept_by_clients": {"v": False}, "begin": begun, "keep": kept, "step": steps(m, one)}
    yield "momentum kept over rounds", "clients keep the buffer of their momentum from round to round", stays
    if not constant:

        def scaled(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Mapping[str, Any]:
            d = g(y["y"]) + at.prox * (y["y"] - at.start) + decay * y["y"]
            v = m * y["v"] + at.eta * d
            return {"y": y["y"] - v, "v": v}

        words = "the buffer holds steps, m v + eta g, which differs where the step size changes within a visit"
        yield "buffer of steps", words, {**own, "step": scaled}
    if decay:

        def apart(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Mapping[str, Any]:
            v = m * y["v"] + g(y["y"]) + at.prox * (y["y"] - at.start)
            return {"y": y["y"] - at.eta * (v + decay * y["y"]), "v": v}

        yield "weight decay apart from the momentum", "the weight decay does not enter the buffer", {
            **own, "step": apart
        }  # fmt: skip
    words = "the buffer is a weighted mean, m v + (1 - m) g, or its dampening is m"
    yield "momentum as a weighted mean", words, {**own, "step": steps(m, 1 - m)}
    yield "Nesterov's local momentum", "local steps go along g + m v", {**own, "step": steps(m, one, nesterov=True)}


def _server_momentum(rule: parts.ServerMomentum) -> Iterator[Edit]:
    def begun(self: Rule, at: At) -> Mapping[str, Any]:
        return {**rule.initial(at), "d": at.zero}

    def one_back(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        now = at.eta_g * total["x"]
        return {**rule.combine(total, at), "x": at.server["x"] + now + at.number["beta"] * at.server["d"], "d": now}

    if not rule.nesterov:
        words = "the server's step has the difference of the last round alone, not those of all rounds before"
        kept = {**rule.kept_by_server, "d": False}
        own = {"kept_by_server": kept, "initial": begun, "combine": one_back}
        yield "momentum of one round", words, own

    def replaced(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {**rule.combine(total, at), "previous": at.server["previous"]}

    words = "the momentum goes along x - x_0, as the model before is never renewed"
    yield "momentum from the first point", words, {"combine": replaced}


def _correction(rule: parts.Correction) -> Iterator[Edit]:
    words = "the gradient correction is subtracted"
    yield "correction with the wrong sign", words, {"at": lambda self, round_index: -rule.at(round_index)}

    def without_own(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return rule.direction(y, g, at) + at.number["c"] * at.whole(at.start)

    yield "the client's own gradient not subtracted", "the correction is g, not g - grad f_i(x)", {
        "direction": without_own
    }  # fmt: skip


def _control_variates(rule: parts.ControlVariates, method: Method, clients: Clients) -> Iterator[Edit]:
    share = rule.share

    def opposite(self: Rule, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return g(y) + at.client["c"] - at.server["c"]

    words = "local steps add c_i - c instead of c - c_i"
    yield "control variates with the wrong sign", words, {"direction": opposite}

    def fixed(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {**rule.combine(total, at), "c": at.server["c"]}

    yield "the server's control variate is not renewed", "the server's c stays what it was at first", {"combine": fixed}

    def forgot(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        return {"c": at.client["c"]}

    yield "control variates not stored", "clients do not keep their new c_i", {"keep": forgot}

    def whole(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
        return {**rule.upload(y, at), "c": Sent(share(at) * rule.keep(y, at)["c"], PLAIN)}

    yield "whole control variates sent", "clients send c_i in the place of its change", {"upload": whole}

    drawing = method.participation.drawing(clients)
    cohort = method.participation.fixed(0, clients) or (drawing.example() if drawing is not None else ())
    if 0 < len(cohort) < clients.count:
        up = Fraction(clients.count, len(cohort))

        def of_cohort(self: Rule, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
            new = rule.combine(total, at)
            return {**new, "c": at.server["c"] + up * (new["c"] - at.server["c"])}

        words = "the changes of c_i are divided by the size of the cohort, not by the number of clients"
        yield "control variates averaged over the cohort", words, {"combine": of_cohort}
    if rule.update != "difference":
        return

    def renewed(way: str) -> Mapping[str, Any]:
        def new(y: Any, at: At) -> Any:
            moved = (at.start - y) / at.length
            apart = at.client["c"] - at.server["c"]
            if way == "steps":
                return apart + at.steps * moved
            if way == "size":
                return apart + (at.start - y) / Fraction(at.steps)
            if way == "server":
                return apart + moved / at.eta_g
            if way == "alone":
                return at.client["c"] + moved
            return apart - moved if way == "opposite" else moved - apart

        def upload(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
            return {**rule.upload(y, at), "c": Sent(share(at) * (new(y, at) - at.client["c"]), PLAIN)}

        def keep(self: Rule, y: Any, at: At) -> Mapping[str, Any]:
            return {"c": new(y, at)}

        return {"upload": upload, "keep": keep}

    for way, name, words in (
        ("steps", "no step count in c_i", "c_i+ lacks the division by the number of local steps"),
        ("size", "no step size in c_i", "c_i+ lacks the division by the local step size"),
        ("opposite", "c_i with the wrong difference", "c_i+ has (y_i - x)/(K eta) in the place of (x - y_i)/(K eta)"),
        ("server", "server step size in c_i", "c_i+ is divided by the server's step size, too"),
        ("alone", "c missing in c_i", "c_i+ lacks the - c"),
        ("swapped", "c and c_i swapped in c_i", "c_i+ is c - c_i + (x - y_i)/(K eta)"),
    ):
        yield name, words, renewed(way)
