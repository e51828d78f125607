"""Compositions that have no agreed meaning, or that simulated runs do not carry out."""

from __future__ import annotations

from boundcheck.engines.simulate.cohorts import Cohorts
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks


def check_parts(method: Method, known: Clients) -> None:
    """Raises Unsupported or BadInput where parts of a method do not go together."""
    law = method.participation.drawing(known)
    visit = method.local.visits(0, (0,), known)[0][1] if known.count else None
    own = method.client_optimizer
    name = f"the sampled engine does not carry out {method.name}:"
    if method.momentum is not None:
        others = [
            (method.correction is not None, "a gradient correction"),
            (method.exchange is not None, "models that clients keep"),
            (law is not None and law.kind == "replacement", "clients drawn with replacement"),
            (visit is not None and (visit.prox != 0 or visit.sampling == "exact"), "proximal local work"),
            (own is not None and own.momentum != 0, "a local momentum"),
        ]
        for there, what in others:
            if there:
                raise Unsupported(f"{name} momentum does not go with {what}.")
    if method.server_momentum is not None:
        for there, what in (
            (method.momentum is not None, "a momentum in local steps"),
            (method.correction is not None, "a gradient correction"),
            (method.exchange is not None, "models that clients keep"),
        ):
            if there:
                raise Unsupported(f"{name} a momentum of the server's step does not go with {what}.")
    if own is not None and visit is not None and visit.sampling == "exact":
        raise Unsupported(f"{name} exact solves have no steps that could have {own.words()}.")
    if own is not None and method.functions is not None:
        raise Unsupported(
            f"{name} functions of its own say what its local steps are, which {own.words()} would change."
        )
    shaped = own is not None and (own.clip is not None or own.weight_decay != 0)
    whole = method.correction is not None or (method.momentum is not None and method.momentum.variance_reduced)
    if own is not None and shaped and whole:
        raise Unsupported(f"{name} local steps that are corrected by whole gradients do not go with {own.words()}.")
    if method.correction is not None:
        if method.exchange is not None:
            raise Unsupported(f"{name} a gradient correction does not go with models that clients keep.")
        own = method.correction.participation
        if Cohorts.of(method.participation if own is None else own, known, 1 << 16).may_be_empty:
            raise Unsupported(f"{name} the mean gradient that corrects local work may be one of no client.")
    if isinstance(method.exchange, Blocks):
        _check_blocks(method, method.exchange, known, name)


def _check_blocks(method: Method, blocks: Blocks, known: Clients, name: str) -> None:
    cohort = method.participation.fixed(0, known)
    if method.participation.period(known) != 1 or cohort is None or sorted(cohort) != list(range(known.count)):
        raise Unsupported(f"{name} where every client works on its own model, all take part in every round.")
    if method.server.factor != 1:
        raise Unsupported(f"{name} there is no server whose step size could differ from 1.")
    if blocks.hand_over is not None:
        if blocks.hand_over.active > known.count:
            raise BadInput(f"{blocks.hand_over.active} clients cannot hold a model; there are {known.count}.")
        if blocks.weights == "data" and len(set(known.weights)) > 1:
            raise Unsupported(f"{name} models that are handed from client to client are averaged with equal weights.")
