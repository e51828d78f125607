"""Checks of a problem's constants: the inequality of each definition, at sampled points and pairs of points."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.errors import BadInput
from boundcheck.judge.conformance.points import Plain, at, sample_gradients, settled
from boundcheck.judge.conformance.result import Check, Subject
from boundcheck.problems.problem import Floats, optional

SLACK = 1e-9  # relative, of a comparison in double precision
NOISE = 1e-13  # of a difference of gradients, relative to these
CLIMB = 60  # pairs that are tried around the one where a constant is nearest to its bound
LOOSE = 1e-6  # relative, of constants of the start: metrics may be bounds themselves

Values = Mapping[str, float]
Objection = Callable[[Plain, float, Values], str | None]
Fields = Callable[[Plain, Floats], Iterable[tuple[str, Floats]]]  # names and gradients at a point


def _clients(plain: Plain, x: Floats) -> Iterable[tuple[str, Floats]]:
    return ((f"client {i}", plain.gradient(i, x)) for i in plain.some_clients)


def _samples(plain: Plain, x: Floats) -> Iterable[tuple[str, Floats]]:
    for i in plain.some_clients:
        yield from ((f"sample {j} of client {i}", row) for j, row in enumerate(plain.sample_gradients(i, x)))


def _objective(plain: Plain, x: Floats) -> Iterable[tuple[str, Floats]]:
    return [("F", plain.full(x))]


def _difference(plain: Plain, x: Floats) -> Iterable[tuple[str, Floats]]:
    return ((f"f_{i} - F", plain.gradient(i, x) - plain.full(x)) for i in plain.some_clients)


def _stretch(pair: tuple[tuple[str, Floats], tuple[str, Floats]], x: Floats, y: Floats) -> tuple[float, float]:
    """|grad(x) - grad(y)|, as far as it is above the rounding, over |x - y|; and without that allowance."""
    (_, gx), (_, gy) = pair
    moved, apart = float(np.linalg.norm(gx - gy)), float(np.linalg.norm(x - y))
    noise = NOISE * (float(np.linalg.norm(gx)) + float(np.linalg.norm(gy)))
    return (moved - noise) / apart, moved / apart


def _lipschitz(fields: Fields, what: str) -> Objection:
    """|grad(x) - grad(y)| <= value |x - y|: at the pairs of the problem, then around the pair that comes closest."""

    def objection(plain: Plain, value: float, _: Values) -> str | None:
        best, closest = -np.inf, plain.points[0]
        for x, y in itertools.chain(plain.pairs, (plain.near(closest, k) for k in range(CLIMB))):
            for pair in zip(fields(plain, x), fields(plain, y), strict=True):
                sure, seen = _stretch(pair, x, y)
                if sure > value * (1 + SLACK):
                    return (
                        f"{what} = {value:.9g}, but the gradients of {pair[0][0]} at {at(x)} and at {at(y)[4:]} differ "
                        f"by {seen:.9g} |x - y|"
                    )
                if sure > best:
                    best, closest = sure, x
        return None

    return objection


def _monotone(fields: Fields, what: str, sign: int) -> Objection:
    """<grad(x) - grad(y), x - y> >= sign value |x - y|^2."""

    def objection(plain: Plain, value: float, _: Values) -> str | None:
        for x, y in plain.pairs:
            for (name, gx), (_name, gy) in zip(fields(plain, x), fields(plain, y), strict=True):
                u = x - y
                product, square = float((gx - gy) @ u), float(u @ u)
                noise = NOISE * (float(np.linalg.norm(gx)) + float(np.linalg.norm(gy))) * np.sqrt(square)
                if product < sign * value * square - SLACK * abs(value) * square - noise:
                    return (
                        f"{what} = {value:.9g}, but the gradients of {name} at {at(x)} and at {at(y)[4:]} have "
                        f"<grad(x) - grad(y), x - y> = {product / square:.9g} |x - y|^2"
                    )
        return None

    return objection


def _quasi_convex(plain: Plain, value: float, _: Values) -> str | None:
    problem = plain.problem
    if plain.minimiser is None:
        raise BadInput("the problem names no minimiser")
    nearest = optional(problem, "nearest")
    for x in plain.points:
        best = np.asarray(nearest(x)) if nearest is not None else plain.minimiser
        u, gradient = x - best, plain.full(x)
        square = float(u @ u)
        noise = (1e-7 if nearest is None else 1e-12) * plain.size * np.sqrt(square)
        if float(gradient @ u) < value * square * (1 - SLACK) - noise:
            return (
                f"mu = {value:.9g}, but at {at(x)}, with x* = {at(best)[4:]}, <grad F(x), x - x*> is "
                f"{float(gradient @ u) / square:.9g} |x - x*|^2"
            )
    return None


def _dissimilarity(plain: Plain, x: Floats) -> tuple[float, float]:
    """sum w_i |grad f_i(x)|^2 and |grad F(x)|^2."""
    gradients = [plain.gradient(i, x) for i in range(plain.problem.clients)]
    return (
        float(sum(w * (g @ g) for w, g in zip(plain.weights, gradients, strict=True))),
        float(np.sum(plain.full(x) ** 2)),
    )


def _bounded_by(additive: str, factor: str) -> Objection:
    def objection(plain: Plain, _: float, values: Values) -> str | None:
        if factor not in values or (additive and additive not in values):
            raise BadInput(f"{additive or factor} and {factor} belong together, and one is missing")
        g2, b2 = values.get(additive, 0.0), values[factor]
        extra = [] if plain.minimiser is None else [plain.minimiser]
        for x in [*plain.points, *extra]:
            parts, whole = _dissimilarity(plain, x)
            if parts > (g2 + b2 * whole) * (1 + SLACK) + 1e-13 * plain.size**2:
                return (
                    f"at {at(x)} sum w_i |grad f_i|^2 is {parts:.9g}, above {additive or '0'} + {factor} |grad F|^2 = "
                    f"{g2 + b2 * whole:.9g}"
                )
        return None

    return objection


def _variance(plain: Plain, _: float, values: Values) -> str | None:
    """What the definitions of P2 and noise2 imply: sum of the clients' variances over |D|."""
    if "P2" not in values or "noise2" not in values:
        raise BadInput("P2 and noise2 belong together, and one is missing")
    if plain.problem.clients > len(plain.some_clients):
        raise BadInput(f"the sum over {plain.problem.clients} clients is not gone through")
    sizes: Any = optional(plain.problem, "sizes") or (1,) * plain.problem.clients
    total = sum(sizes)
    for x in plain.points:
        seen = allowed = 0.0
        for i in plain.some_clients:
            rows = sample_gradients(plain.problem, i, x)
            if rows is None:
                raise BadInput("the problem has no arrays() with its samples")
            mean = rows.mean(axis=0)
            seen += float(np.mean(np.sum((rows - mean) ** 2, axis=1)))
            allowed += values["P2"] * sizes[i] * float(mean @ mean)
        allowed = values["noise2"] + allowed / total
        if seen / total > allowed * (1 + SLACK) + 1e-13 * plain.size**2:
            return (
                f"at {at(x)} the variances of the clients' samples sum to {seen / total:.9g} |D|, above noise2 + the "
                f"mean of P2 |D_i| |grad f_i|^2, {allowed:.9g}"
            )
    return None


def _noise(plain: Plain, value: float, _: Values) -> str | None:
    if plain.minimiser is None:
        raise BadInput("the problem names no minimiser")
    found = float(np.mean([np.sum(plain.gradient(i, plain.minimiser) ** 2) for i in range(plain.problem.clients)]))
    if found > value * (1 + LOOSE) + 1e-9 * plain.size**2:
        return f"sigma2 = {value:.9g}, but the mean of |grad f_i(x*)|^2 at {at(plain.minimiser)} is {found:.9g}"
    return None


def _metric_at_start(name: str) -> Callable[[Plain], float]:
    def value(plain: Plain) -> float:
        if name == "grad2":
            return float(np.sum(plain.full(plain.start) ** 2))
        if name not in plain.problem.metrics:
            raise BadInput(f"the problem has no metric '{name}'")
        return float(plain.problem.metric(name, plain.start))

    return value


def _ratio_at_start(plain: Plain, value: float, _: Values) -> str | None:
    parts, whole = _dissimilarity(plain, plain.start)
    if parts > value * whole * (1 + LOOSE) + NOISE**2 * plain.size**2:
        return f"B2_0 = {value:.9g}, but at the start sum w_i |grad f_i|^2 is {parts:.9g} and |grad F|^2 {whole:.9g}"
    return None


# Constants that are a number of the instance: name -> what it is, and the number.
NUMBERS: Mapping[str, tuple[str, Callable[[Plain], float]]] = {
    "n": ("the number of clients", lambda plain: float(plain.problem.clients)),
    "d": ("the number of coordinates", lambda plain: float(plain.problem.dim)),
    "x_0": ("the start", lambda plain: float(plain.start[0])),
    "dist2_0": ("the metric dist2 at the start", _metric_at_start("dist2")),
    "gap_0": ("the metric gap at the start", _metric_at_start("gap")),
    "grad2_0": ("|grad F|^2 at the start", _metric_at_start("grad2")),
    "client_grad2_0": ("sum w_i |grad f_i|^2 at the start", lambda plain: _dissimilarity(plain, plain.start)[0]),
}
# Constants of an inequality that holds at all points.
INEQUALITIES: Mapping[str, tuple[str, Objection]] = {
    "L": ("|grad f_i(x) - grad f_i(y)| <= L |x - y| for every client", _lipschitz(_clients, "L")),
    "L_f": ("|grad F(x) - grad F(y)| <= L_f |x - y|", _lipschitz(_objective, "L_f")),
    "L_ij": ("|grad f_ij(x) - grad f_ij(y)| <= L_ij |x - y| for every sample", _lipschitz(_samples, "L_ij")),
    "delta": ("|grad (f_i - F)(x) - grad (f_i - F)(y)| <= delta |x - y|", _lipschitz(_difference, "delta")),
    "mu": ("<grad F(x), x - x*> >= mu |x - x*|^2", _quasi_convex),
    "mu_ij": ("every sample's loss is mu_ij-strongly convex", _monotone(_samples, "mu_ij", 1)),
    "lam": ("lam I + every client's Hessian is positive semidefinite", _monotone(_clients, "lam", -1)),
    "G2": ("sum w_i |grad f_i|^2 <= G2 + B2 |grad F|^2", _bounded_by("G2", "B2")),
    "B2": ("sum w_i |grad f_i|^2 <= G2 + B2 |grad F|^2", _bounded_by("G2", "B2")),
    "B2_only": ("sum w_i |grad f_i|^2 <= B2_only |grad F|^2", _bounded_by("", "B2_only")),
    "B2_0": ("sum w_i |grad f_i|^2 <= B2_0 |grad F|^2 at the start", _ratio_at_start),
    "P2": ("the variance within clients is at most that of P2 and noise2", _variance),
    "noise2": ("the variance within clients is at most that of P2 and noise2", _variance),
    "sigma2": ("(1/n) sum |grad f_i(x*)|^2 <= sigma2", _noise),
}


def check_constants(subject: Subject, plain: Plain) -> Iterable[Check]:
    """One check for each constant that the problem reports."""
    try:
        constants = dict(plain.problem.constants())
    except Exception as error:  # the plug-in's own code
        detail = f"{type(error).__name__}: {error}"
        yield subject.failed("constants", "constants() answers", detail)
        return
    values = {name: float(c.value) for name, c in constants.items()}
    for name, constant in constants.items():
        label = f"constant {name}"
        if constant.known.value == "estimated":
            yield subject.not_asked(label, "the definition holds at sampled points", "it is estimated, not certified")
        elif name in NUMBERS:
            what, compute = NUMBERS[name]
            yield settled(subject, label, f"{name} is {what}", lambda c=constant, f=compute: _compared(plain, c, f))
        elif name in INEQUALITIES:
            sentence, objection = INEQUALITIES[name]
            yield settled(subject, label, sentence, lambda f=objection, v=values[name]: f(plain, v, values))
        else:
            yield subject.not_asked(label, "the definition holds at sampled points", "it has no check here")


def _compared(plain: Plain, constant: Any, compute: Callable[[Plain], float]) -> str | None:
    if not isinstance(constant.value, Fraction | int):
        return f"its value {constant.value!r} is no exact number"
    found, value = compute(plain), float(constant.value)
    room = LOOSE * max(abs(found), abs(value)) + 1e-300
    wrong = {
        "upper": found > value + room,
        "lower": found < value - room,
        "exact": abs(found - value) > room,
    }.get(constant.side)
    if wrong is None:
        return f"its side is {constant.side!r}; it must be exact, upper or lower"
    sign = {"upper": "at most ", "lower": "at least "}.get(constant.side, "")
    return f"it says {sign}{value:.9g}, and {found:.9g} is measured" if wrong else None
