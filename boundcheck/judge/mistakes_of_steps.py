"""Mistakes in the local steps: their sizes, numbers, samples and proximal terms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from boundcheck.judge.altered import AlteredSteps, AlteredWork
from boundcheck.judge.mistakes_of_averages import MOST_CLIENTS, Found
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, ExactSolve, GradientSteps, StochasticSteps

_STEPS = (Fraction(1, 2), Fraction(2), Fraction(1, 3), Fraction(3), Fraction(1, 10), Fraction(10))


def step_mistakes(method: Method, clients: Clients) -> Found:
    """Step sizes and numbers of steps of any local work."""
    work, n = method.local, clients.count
    if isinstance(work, ExactSolve):
        for factor, name in ((Fraction(1, 2), "proximal weight halved"), (Fraction(2), "proximal weight doubled")):
            words = f"the proximal weight is {factor} times what it should be"
            own = tuple(v * factor for v in work.mu) if isinstance(work.mu, tuple) else work.mu * factor
            yield name, words, {"local": ExactSolve(own)}
        return

    def altered(*scale: Any, **how: Any) -> dict[str, Any]:
        return {"local": AlteredWork(work, *scale, **how)}

    counts = sorted({v.steps for i in range(min(n, 50)) for _, v in work.visits(i, (i,), clients)})
    scales = dict.fromkeys((*_STEPS, *(Fraction(1, k) for k in counts if k > 1), *map(Fraction, counts)))
    for s in scales:
        if s != 1:
            yield f"local step size times {s}", f"every local step is {s} times as long", altered(s)
    if len(set(clients.sizes)) > 1:
        words = "a client's gradient is the sum over its samples, not their mean"
        yield "gradients summed over samples", words, altered(tuple(map(Fraction, clients.sizes)))
    for i in range(min(n, MOST_CLIENTS)) if n > 1 else ():
        for s in (Fraction(2), Fraction(1, 2)):
            own = tuple(s if k == i else Fraction(1) for k in range(n))
            words = f"the local steps of client {i} alone are {s} times as long"
            yield f"step size of client {i} times {s}", words, altered(own)
        for more in (-1, 1):
            extra = tuple(more if k == i else 0 for k in range(n))
            which = "more" if more > 0 else "fewer"
            words = f"client {i} alone takes one local step {which}"
            yield f"one step {which} of client {i}", words, altered(more=extra)
    yield "one local step fewer", "every client takes one local step fewer", altered(more=-1)
    yield "one local step more", "every client takes one local step more", altered(more=1)
    if counts[-1] > 2:
        yield "a single local step", "every client takes one local step", altered(only=1)
    if len(counts) > 1:
        for k, word in ((counts[0], "fewest"), (counts[-1], "most")):
            words = f"all clients take {k} local steps, as the one with the {word} does"
            yield f"{k} local steps for everyone", words, altered(only=k)
    if any(v.prox for i in range(min(n, 50)) for _, v in work.visits(i, (i,), clients)):
        for s, name in ((Fraction(0), "no proximal term"), (Fraction(2), "proximal weight doubled")):
            yield name, f"the proximal weight is {s} times what it should be", altered(prox=s)
        words = "the proximal term pushes away from the server's point"
        yield "proximal term with the wrong sign", words, altered(prox=Fraction(-1))
    if isinstance(work, StochasticSteps) and work.batch > 1:
        yield "batches of one sample", "every step draws one sample", {"local": replace(work, batch=1)}
    sampled = {v.sampling for _, v in work.visits(0, (0,), clients)}
    for now, then in (("reshuffled", "replacement"), ("replacement", "reshuffled"), ("replacement", "full")):
        if now in sampled:
            words = {"replacement": "samples are drawn with replacement", "reshuffled": "each epoch is reshuffled"}
            text = f"{words.get(then, 'steps take the whole gradient')} instead of {now}"
            yield f"samples: {then}", text, altered(sampling=then)


def epoch_mistakes(method: Method, clients: Clients) -> Found:
    """Wrong numbers of epochs and divisors of the step size."""
    work = method.local
    if not isinstance(work, Epochs):
        return
    if isinstance(work.E, int):
        for more, word in ((-1, "fewer"), (1, "more")):
            if work.E + more >= 1:
                local = replace(work, E=work.E + more, missed=None)
                yield f"one epoch {word}", f"every client runs one epoch {word}", {"local": local}
        words = "every epoch is one step along the whole gradient"
        yield "whole gradients for epochs", words, {"local": GradientSteps(work.E)}
    divisors = {"none": "nothing", "size": "|D_i|", "work": "its number of steps", "largest": "the most steps of any"}
    for divide, words in divisors.items():
        if divide != work.divide:
            text = f"a client's step size is divided by {words}"
            yield f"step size divided by {words}", text, {"local": replace(work, divide=divide)}
    if work.common is not None:
        yield "own numbers of steps", "clients take their own numbers of steps", {"local": replace(work, common=None)}
    if work.missed is not None:
        yield "no missed steps", "every client finishes its epochs", {"local": replace(work, missed=None)}


def schedule_mistakes(method: Method, clients: Clients) -> Found:
    """Step sizes of a wrong cycle."""
    steps = method.schedule
    if steps.is_constant():
        return
    yield "first step size for ever", "the step size does not change", {"schedule": AlteredSteps(steps, first=True)}
    for shift, word in ((1, "early"), (-1, "late")):
        words = f"the step size changes one cycle too {word}"
        yield f"step size one cycle {word}", words, {"schedule": AlteredSteps(steps, shift)}
