"""Checks of problems: gradients against finite differences, metrics, minimiser, hypotheses and the specification."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from boundcheck.core.digest import digest
from boundcheck.core.linalg import floats
from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.judge.conformance.constants import check_constants
from boundcheck.judge.conformance.points import COORDINATES, DIFFERENCE, ROUNDING, Plain, at, sample_gradients, settled
from boundcheck.judge.conformance.result import Check, Subject
from boundcheck.problems._instance import ASSUMPTIONS
from boundcheck.problems.build import build
from boundcheck.problems.problem import Floats, Quadratic, flat_arrays, is_neural, no_minimum, optional


@dataclass(frozen=True)
class Asked:
    """A check of a problem: what it asks, and the objection or None; a BadInput says why it cannot be asked."""

    name: str
    sentence: str
    objection: Callable[[Plain], str | None]


def _exact(value: Any) -> bool:
    return isinstance(value, Fraction | int)


def _weights(plain: Plain) -> str | None:
    problem = plain.problem
    weights = problem.weights
    if len(weights) != problem.clients:
        return f"there are {len(weights)} weights for {problem.clients} clients"
    if not all(_exact(w) and w >= 0 for w in weights):
        return "the weights are not all Fractions of at least 0"
    total = sum(weights, Fraction(0))
    if total != 1:
        return f"the weights sum to {total}"
    sizes = optional(problem, "sizes")
    if sizes is not None and (len(sizes) != problem.clients or min(sizes) < 1):
        return f"sizes are {list(sizes)[:12]}; every client holds at least 1 sample"
    return None


def _start(plain: Plain) -> str | None:
    start = plain.problem.start
    if len(start) != plain.problem.dim:
        return f"the start has {len(start)} entries in dimension {plain.problem.dim}"
    bad = [v for v in start if not _exact(v)]
    return f"the start holds {bad[0]!r}, which is no exact number" if bad else None


def _differences(plain: Plain) -> str | None:
    """grad F against central differences of the metric "gap"."""
    problem = plain.problem
    if "gap" not in problem.metrics:
        raise BadInput("the problem has no metric 'gap' to take differences of")
    scale = plain.size
    for x in plain.points[:: max(1, len(plain.points) // 8)]:
        gradient, h = plain.full(x), 1e-5 * max(1.0, float(np.linalg.norm(x)))
        for k in _coordinates(plain):
            e = np.zeros(len(x))
            e[k] = h
            high, low = (float(problem.metric("gap", x + s * e)) for s in (1, -1))
            noise = 1e-15 * max(abs(high), abs(low)) / h
            found = (high - low) / (2 * h)
            allowed = DIFFERENCE * max(abs(found), float(np.linalg.norm(gradient)), 1e-3 * scale) + noise
            if abs(found - gradient[k]) > allowed:
                return (
                    f"at {at(x)} the derivative of F by coordinate {k} is {found:.6g} by differences of the gap, and "
                    f"{gradient[k]:.6g} by the gradients"
                )
    return None


def _coordinates(plain: Plain) -> list[int]:
    d = plain.problem.dim
    return list(range(d)) if d <= COORDINATES else sorted(plain.draw.choice(d, COORDINATES, replace=False).tolist())


def _symmetric(plain: Plain) -> str | None:
    """The Jacobian of every client's gradient is symmetric: it is the gradient of some function."""
    if plain.problem.dim == 1:
        raise BadInput("in one dimension every function is a derivative")
    if no_minimum(plain.problem) is not None:
        raise BadInput("the problem is no minimisation")
    chosen = _coordinates(plain)
    for i in plain.some_clients:
        for x in plain.points[1:4]:
            h = 1e-5 * max(1.0, float(np.linalg.norm(x)))
            moves = h * np.eye(len(x))[chosen]
            changes = np.array([plain.gradient(i, x + e) - plain.gradient(i, x - e) for e in moves])
            jacobian = changes[:, chosen] / (2 * h)
            noise = DIFFERENCE * max(float(np.abs(jacobian).max()), 1e-6 * plain.size)
            off = np.abs(jacobian - jacobian.T)
            if off.max() > noise:
                a, b = np.unravel_index(int(np.argmax(off)), off.shape)
                return (
                    f"client {i} at {at(x)}: d g_{chosen[b]}/d x_{chosen[a]} = {jacobian[a, b]:.6g} and "
                    f"d g_{chosen[a]}/d x_{chosen[b]} = {jacobian[b, a]:.6g}"
                )
    return None


def _exact_gradients(plain: Plain) -> str | None:
    problem = plain.problem
    for x in plain.points[:4]:
        exactly: Any = np.array([Fraction(v) for v in x.tolist()], dtype=object)
        for i in plain.some_clients[:4]:
            found, wanted = np.array([float(v) for v in problem.gradient(i, exactly)]), plain.gradient(i, x)
            if np.max(np.abs(found - wanted)) > ROUNDING * plain.size:
                return f"client {i} at {at(x)}: {at(found)[4:]} in Fractions and {at(wanted)[4:]} in doubles"
    return None


def _layout(plain: Plain) -> str | None:
    """Gradients of the arrays that the sampled engine reads."""
    if flat_arrays(plain.problem) is None:
        raise BadInput("the problem has no arrays(), and the sampled engine calls its gradients")
    for x in plain.points[:6]:
        for i in plain.some_clients:
            rows = sample_gradients(plain.problem, i, x)
            assert rows is not None
            found = rows.mean(axis=0)
            wanted = plain.gradient(i, x)
            if np.max(np.abs(found - wanted)) > ROUNDING * len(rows) * max(plain.size, float(np.abs(rows).max())):
                return f"client {i} at {at(x)}: {at(found)[4:]} by arrays() and {at(wanted)[4:]} by gradient()"
    return None


def _exact_forms(plain: Plain) -> str | None:
    problem = plain.problem
    if not isinstance(problem, Quadratic):
        raise BadInput("the problem has no forms(): it is not quadratic")
    forms = problem.forms()
    x = plain.points[2]
    for i in plain.some_clients:
        a, b = (floats(m) for m in forms.maps[i])
        found, scale = a @ x - b[:, 0], plain.size * max(1.0, float(np.abs(a).max()))
        if np.max(np.abs(found - plain.gradient(i, x))) > ROUNDING * scale:
            return f"client {i} at {at(x)}: A x - b of forms() is {at(found)[4:]}, gradient() is another"
    for name, pair in forms.quadratic.items():
        c, q = (floats(m) for m in pair)
        u = x - c[:, 0]
        value, wanted = float(u @ q @ u), float(problem.metric(name, x))
        if abs(value - wanted) > 1e-7 * max(1e-12, abs(value), abs(wanted)):
            return f"{name} at {at(x)} is {value:.9g} by forms() and {wanted:.9g} by metric()"
    return None


def _nonnegative(plain: Plain) -> str | None:
    for name in set(plain.problem.metrics) & {"dist2", "gap", "grad2"}:
        lows: list[tuple[float, Floats]] = [(float(plain.problem.metric(name, x)), x) for x in plain.points]
        least, x = min(lows, key=lambda pair: pair[0])
        if not np.isfinite([v for v, _ in lows]).all():
            return f"{name} is not finite at a sampled point"
        if least < -1e-12 * max(v for v, _ in lows):
            return f"{name} is {least:.6g} at {at(x)}"
    return None


def _at_minimiser(plain: Plain) -> str | None:
    best = plain.minimiser
    if best is None:
        raise BadInput("the problem names no minimiser")
    slope = float(np.linalg.norm(plain.full(best)))
    if slope > 1e-6 * plain.size:
        return f"|grad F| = {slope:.6g} at the minimiser {at(best)}"
    for name, low in (("gap", 0.0), ("dist2", 0.0), ("grad2", 0.0)):
        if name in plain.problem.metrics:
            found = float(plain.problem.metric(name, best))
            largest = max(float(plain.problem.metric(name, x)) for x in plain.points)
            if found > low + 1e-6 * largest:
                return f"{name} is {found:.6g} at the minimiser {at(best)}"
    return None


def _distances(plain: Plain) -> str | None:
    problem = plain.problem
    nearest = optional(problem, "nearest")
    if "dist2" not in problem.metrics or nearest is None:
        raise BadInput("the problem has no metric 'dist2' beside nearest()")
    for x in plain.points:
        near = np.asarray(nearest(x), dtype=np.float64)
        wanted, found = float(np.sum((x - near) ** 2)), float(problem.metric("dist2", x))
        if abs(wanted - found) > 1e-6 * max(wanted, found, 1e-12):
            return f"dist2 at {at(x)} is {found:.9g}, and |x - nearest(x)|^2 is {wanted:.9g}"
        if float(np.linalg.norm(plain.full(near))) > 1e-6 * plain.size:
            return f"|grad F| is not 0 at nearest(x) = {at(near)[4:]}, for {at(x)}"
    return None


def _slopes(plain: Plain) -> str | None:
    if "grad2" not in plain.problem.metrics:
        raise BadInput("the problem has no metric 'grad2'")
    for x in plain.points:
        wanted, found = float(np.sum(plain.full(x) ** 2)), float(plain.problem.metric("grad2", x))
        if abs(wanted - found) > 1e-7 * max(wanted, found) + (ROUNDING * plain.size) ** 2:
            return f"grad2 at {at(x)} is {found:.9g}, and the gradients give {wanted:.9g}"
    return None


def _together(plain: Plain) -> str | None:
    together = optional(plain.problem, "metric_many")
    if together is None:
        raise BadInput("the problem has no metric_many()")
    for name in plain.problem.metrics:
        many = together(name, plain.points)
        one = np.array([float(plain.problem.metric(name, x)) for x in plain.points])
        if np.any(np.abs(many - one) > 1e-9 * (1 + np.abs(one))):
            return f"metric_many('{name}') differs from metric('{name}')"
    return None


def _specification(plain: Plain) -> str | None:
    problem = plain.problem
    try:
        spec = json.loads(json.dumps(dict(problem.spec)))
        digest(dict(problem.spec))
    except (TypeError, ValueError) as error:
        return f"it is not JSON-able and digestible: {error}"
    again = build(spec, tried=False)
    if dict(again.spec) != dict(problem.spec):
        return f"the problem rebuilt from {spec} has the specification {dict(again.spec)}"
    other = Plain(again)
    for x in plain.points[:3]:
        for i in plain.some_clients:
            if not np.array_equal(other.gradient(i, x), plain.gradient(i, x)):
                return f"the problem rebuilt from it has another gradient of client {i} at {at(x)}"
    own, theirs = problem.constants(), again.constants()
    for name in own:
        if name not in theirs or own[name].value != theirs[name].value:
            return f"the problem rebuilt from it has another constant {name}"
    return None


def _hypotheses(plain: Plain) -> str | None:
    problem = plain.problem
    for name in ASSUMPTIONS:
        try:
            answer: Any = problem.violations(name)
        except UnknownName:
            continue
        if answer is not None and not isinstance(answer, str):
            return f"violations('{name}') is {answer!r}; it must be None, a sentence, or raise UnknownName"
        if answer is None:
            broken = _broken(plain, name)
            if broken is not None:
                return f"violations('{name}') is None, but {broken}"
    return None


def _broken(plain: Plain, name: str) -> str | None:
    if name == "plain_mean" and len(set(plain.problem.weights)) > 1:
        return "the clients have different weights"
    if name not in ("convexity", "convex_clients"):
        return None
    for x, y in plain.pairs:
        clients = [partial(plain.gradient, i) for i in plain.some_clients]
        fields = [plain.full] if name == "convexity" else clients
        for field in fields:
            difference = field(x) - field(y)
            product = float(difference @ (x - y))
            if product < -ROUNDING * plain.size * float(np.linalg.norm(x - y)):
                return f"the gradients at {at(x)} and {at(y)} have <grad(x) - grad(y), x - y> = {product:.6g}"
    return None


CHECKS: tuple[Asked, ...] = (
    Asked("weights", "the weights are exact, at least 0, and sum to 1; every client holds a sample", _weights),
    Asked("start", "the start is exact and has the dimension of the problem", _start),
    Asked("gradient of F", "the clients' gradients, weighed, are the differences of the metric 'gap'", _differences),
    Asked("gradients of functions", "the Jacobian of each client's gradient is symmetric", _symmetric),
    Asked("exact gradients", "gradients at Fractions are those at doubles", _exact_gradients),
    Asked("arrays", "the arrays of the sampled engine have the gradients of gradient()", _layout),
    Asked("forms", "the exact matrices have the gradients and metrics of gradient() and metric()", _exact_forms),
    Asked("metrics are not negative", "dist2, gap and grad2 are at least 0 at sampled points", _nonnegative),
    Asked("minimiser", "at the minimiser grad F and the metrics are 0", _at_minimiser),
    Asked("distance", "dist2 is the squared distance to nearest(x), where grad F is 0", _distances),
    Asked("squared gradient", "grad2 is |grad F|^2 by the clients' gradients", _slopes),
    Asked("metrics at many points", "metric_many gives what metric gives", _together),
    Asked("hypotheses", "no sampled pair of points breaks a hypothesis that violations() grants", _hypotheses),
    Asked("specification", "the specification is JSON-able and digestible, and rebuilds the problem", _specification),
)


def check_problem(subject: Subject, spec: Mapping[str, Any]) -> Iterable[Check]:
    """The checks of the problem of a specification, its constants included."""
    built = "the example builds a problem"
    try:
        problem = build(spec, tried=False)  # each of its answers has a check of its own
    except BoundcheckError as error:
        yield subject.failed("builds", built, str(error))
        return
    except Exception as error:  # the plug-in's own code
        yield subject.failed("builds", built, f"{type(error).__name__}: {error}")
        return
    yield subject.passed("builds", built)
    if is_neural(problem):
        yield subject.not_asked("gradients", "gradients are those of F", "a network has gradients in its engine alone")
        return
    try:
        plain = Plain(problem)
    except Exception as error:  # the plug-in's own code
        sentence = "gradients and metrics can be computed at the start"
        yield subject.failed("can be evaluated", sentence, f"{type(error).__name__}: {error}")
        return
    for asked in CHECKS:
        yield settled(subject, asked.name, asked.sentence, lambda asked=asked: asked.objection(plain))
    yield from check_constants(subject, plain)
