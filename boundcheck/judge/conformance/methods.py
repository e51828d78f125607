"""Checks of parts and kinds of methods: their answers, and engines against the paths reader on random quadratics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BadInput, BoundcheckError, Unsupported
from boundcheck.judge.conformance.result import Check, Subject
from boundcheck.judge.conformance.toys import Toy, expected, random_toy, trajectories
from boundcheck.judge.findings import Status
from boundcheck.methods.build import algorithms
from boundcheck.methods.kind import Kind
from boundcheck.methods.method import Method
from boundcheck.methods.own_parts import expected_sum, objections
from boundcheck.methods.parts import Average, Constant, Epochs, Full, GradientSteps, SumOne, Uniform
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of

ROUNDS = 3
SEEDS = 400
FALSE_FAILURE = 1e-9  # of one statistical check of parts that are right
NEAR = 1e-9  # relative distance at which a sampled run counts as an outcome of the paths reader
TOYS = (1, 2)  # seeds of the random quadratics
ETA = Constant(Fraction(1, 20))

# Role -> the checks of its answers, as `own_parts.objections` names them, and what each asks.
ANSWERS: Mapping[str, Mapping[str, str]] = {
    "participation": {
        "the law of cohorts": "drawing() is None or a Drawing of the clients that there are",
        "probabilities sum to 1": "the probabilities of the cohorts are exact and sum to 1",
        "either fixed or drawn": "a round's cohort is either known in advance or drawn",
        "the period": "cohorts that are known in advance repeat after period() rounds",
        "cohorts of clients": "a cohort holds different clients that exist",
        "shares of rounds": "share(i), if there is one, is the share of the rounds in which client i takes part",
        "the same answer twice": "two calls give the same answer",
    },
    "local": {
        "visits of clients": "every visit is one that engines know, with an exact probability",
        "probabilities sum to 1": "the probabilities of a client's visits sum to 1",
        "by_cohort": "work that depends on the cohort says so",
        "is_random": "work that draws random numbers says so",
        "the same answer twice": "two calls give the same answer",
    },
    "aggregation": {
        "coefficients of a cohort": "every client of a cohort has one exact coefficient",
        "by_client": "by_client gives the coefficients that coefficients() gives",
    },
    "schedule": {
        "exact positive steps": "every step size is an exact number above 0",
        "is_constant": "a schedule that says so is constant",
        "the same answer twice": "two calls give the same answer",
    },
}
SUM_TO_ONE = "the coefficients of a cohort sum to 1 in the mean over the cohorts"
EXACT = "the exact engine gives the expected distances of the paths reader, as fractions"
SAMPLED_POINTS = "every sampled run is one of the outcomes of the paths reader"
SAMPLED_MEAN = "the mean of the sampled runs is the expectation of the paths reader"


def check_part(subject: Subject, role: str, part: Any) -> Iterable[Check]:
    """The checks of one part: its answers, then methods made with it."""
    faults: dict[str, str] = {}
    for seed in TOYS:
        try:
            faults |= dict(objections(role, part, clients_of(random_toy(seed)), {"local": Epochs(1)}))
        except BoundcheckError as error:
            yield subject.not_asked("answers", "the part answers its protocol on three clients", str(error))
            return
        except Exception as error:  # the part's own code
            detail = f"{type(error).__name__}: {error}"
            yield subject.failed("answers", "the part answers its protocol on three clients", detail)
            return
    for name, sentence in ANSWERS[role].items():
        yield subject.settled(name, sentence, faults.get(name))
    if faults:
        yield subject.not_asked("exact engine", EXACT, "the part's own answers are wrong")
        return
    if role == "aggregation":
        yield _sums(subject, part)
    for label, method in _methods(role, part):
        yield from against_the_loop(subject, method, label)


def _sums(subject: Subject, part: Any) -> Check:
    if not getattr(part, "sums_to_one", True):
        return subject.not_asked("weights", SUM_TO_ONE, "the part says sums_to_one = False")
    for seed in TOYS:
        clients = clients_of(random_toy(seed))
        for participation in (Full(), Uniform(2)):
            total = expected_sum(part, clients, participation, Epochs(1))
            if total != 1:
                who = type(participation).__name__.lower()
                return subject.failed("weights", SUM_TO_ONE, f"{total} for {who} participation of 3 clients")
    return subject.passed("weights", SUM_TO_ONE)


def _methods(role: str, part: Any) -> list[tuple[str, Method]]:
    """Methods with the part, the other parts as simple as they are and then random ones."""

    def method(name: str, **parts: Any) -> Method:
        return Method(name, **{**parts, role: part})

    steps = Epochs(1) if role == "aggregation" else GradientSteps(2)  # weights may divide by the steps of epochs
    plain = method("plain", participation=Full(), local=steps, schedule=ETA, aggregation=SumOne())
    drawn = method("random", participation=Uniform(2), local=Epochs(1), schedule=ETA, aggregation=Average())
    return [("plain", plain), ("random", drawn)]


def against_the_loop(subject: Subject, method: Method, label: str) -> Iterable[Check]:
    """The exact and the sampled engine against the paths reader on random quadratics."""
    names = [f"{name} ({label})" for name in ("exact engine", "sampled engine: outcomes", "sampled engine: mean")]
    exact: list[Check] = []
    sampled: list[Check] = []
    for seed in TOYS:
        toy = random_toy(seed)
        try:
            method.check(clients_of(toy), 2)
            outcomes = trajectories(method, toy, ROUNDS)
        except (BadInput, Unsupported) as error:
            for name, sentence in zip(names, (EXACT, SAMPLED_POINTS, SAMPLED_MEAN), strict=True):
                yield subject.not_asked(name, sentence, str(error))
            return
        exact.append(_exact(subject, method, toy, outcomes, names[0]))
        sampled += _sampled(subject, method, toy, outcomes, names[1], names[2])
    yield worst(exact)
    for name in names[1:]:
        yield worst([c for c in sampled if c.name == name])


def worst(checks: list[Check]) -> Check:
    """The first failure, else the first that was not asked, else the last."""
    for status in (Status.FAILED, Status.NOT_ASKED):
        for check in checks:
            if check.status is status:
                return check
    return checks[-1]


def _exact(subject: Subject, method: Method, toy: Toy, outcomes: list[dict[Any, Fraction]], name: str) -> Check:
    wanted = [expected(values, toy) for values in outcomes]
    grid = list(range(len(wanted)))
    try:
        curve = run_exact(method, build_problem(toy.spec), grid, ["dist2"], arithmetic=Arithmetic.RATIONAL)
    except Unsupported as error:
        return subject.not_asked(name, EXACT, str(error))
    found = curve.exact["dist2"]
    for r, (ours, theirs) in enumerate(zip(wanted, found, strict=True)):
        if ours != theirs:
            detail = (
                f"after {r} rounds the paths reader has {ours} = {float(ours):.12g}, the engine {float(theirs):.12g}"
            )
            return subject.failed(name, EXACT, detail)
    return subject.passed(name, EXACT, f"equal after 0 to {grid[-1]} rounds")


def _sampled(
    subject: Subject, method: Method, toy: Toy, outcomes: list[dict[Any, Fraction]], points: str, mean: str
) -> Iterable[Check]:
    last = len(outcomes) - 1
    random = method.is_random(clients_of(toy))
    try:
        curve = run_sampled(
            method, build_problem(toy.spec), last, SEEDS if random else 1, ("dist2",), [last], path="numpy"
        )
    except Unsupported as error:
        yield subject.not_asked(points, SAMPLED_POINTS, str(error))
        yield subject.not_asked(mean, SAMPLED_MEAN, str(error))
        return
    seen = curve.samples["dist2"][:, 0]
    possible = np.array(sorted({float(toy.metric_of("dist2", x)) for x in outcomes[-1]}))
    scale = max(1.0, float(possible[-1]))
    nearest = np.min(np.abs(seen[:, None] - possible[None, :]), axis=1)
    off = int(np.argmax(nearest))
    if nearest[off] > NEAR * scale:
        detail = f"seed {off} ends at distance^2 {seen[off]:.12g} after {last} rounds, which is none of the outcomes"
        yield subject.failed(points, SAMPLED_POINTS, detail)
    elif not random and len(possible) > 1:
        detail = f"the method says that it is not random, and the paths reader has {len(possible)} outcomes"
        yield subject.failed(points, SAMPLED_POINTS, detail)
    else:
        yield subject.passed(points, SAMPLED_POINTS, f"{len(seen)} seeds, {len(possible)} outcomes, {last} rounds")
    # Hoeffding's inequality: the runs are independent and lie between the least and the largest outcome
    width = float(possible[-1] - possible[0]) * math.sqrt(math.log(2 / FALSE_FAILURE) / (2 * len(seen)))
    wanted = float(expected(outcomes[-1], toy))
    error = abs(float(np.mean(seen)) - wanted)
    allowed = width + NEAR * scale
    detail = (
        f"mean {np.mean(seen):.9g} of {len(seen)} seeds, expectation {wanted:.9g}, difference allowed {allowed:.3g}"
    )
    rate = f"{detail}; a right method fails with probability at most {FALSE_FAILURE:g}"
    yield subject.settled(mean, SAMPLED_MEAN, None if error <= allowed else detail, rate)


def check_kind(subject: Subject, name: str, kind: Kind, parameters: Mapping[str, Any]) -> Iterable[Check]:
    """The checks of a kind of method with some parameters."""
    recognised = "a method that the kind builds is an instance of the kind"
    try:
        method = kind.build(name, parameters)
    except BoundcheckError as error:
        yield subject.failed("builds", "the kind builds a method from the example", str(error))
        return
    yield subject.passed("builds", "the kind builds a method from the example")
    clients = clients_of(random_toy(TOYS[0]))
    known = algorithms(method, clients)
    yield subject.settled(
        "recognised", recognised, None if name in known else f"it is an instance of {known or 'none'}"
    )
    yield from against_the_loop(subject, method, "built")
