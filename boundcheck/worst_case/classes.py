"""What an assumption says of the answers: inequalities that every instance of the class satisfies.

For functions with mu <= curvature <= L (mu may be negative) the inequalities between all pairs of answers are also
sufficient: some function of the class has these answers (A. Taylor, J. Hendrickx, F. Glineur, "Smooth Strongly Convex
Interpolation and Exact Worst-case Performance of First-order Methods", 2017, Theorem 4; for mu = -L ibid., "Exact
Worst-case Performance of First-order Methods for Composite Convex Optimization", 2017, Theorem 3.10). What is said of
F, of gradients at one point, or of differences of functions is stated at the points where all functions are known; such
inequalities are necessary, so that an upper value stays valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from boundcheck.errors import BadInput, Unsupported
from boundcheck.worst_case.forms import Form, Row, combined, inner, minus, number, square, total
from boundcheck.worst_case.oracles import Answer, Answers

Values = Mapping[str, Fraction]  # by key


@dataclass(frozen=True)
class Inequality:
    """form <= 0, or = 0 where `equal`; of: how it arises, for certificates and messages."""

    of: tuple[str, ...]
    form: Form
    equal: bool = False


@dataclass(frozen=True)
class Curvature:
    """Bounds mu <= curvature <= L of a function; L None: not smooth; mu None: not convex."""

    mu: Fraction | None = None
    L: Fraction | None = None

    @property
    def lower(self) -> Fraction | None:
        """mu, or -L of a smooth function that need not be convex."""
        return -self.L if self.mu is None and self.L is not None else self.mu


def interpolation(a: Answer, b: Answer, curvature: Curvature) -> Form:
    """f(a) >= f(b) + <g_b, a - b> + (what curvature adds), as a form that is at most 0."""
    mu, smooth = curvature.lower, curvature.L
    step, slope = minus(a.point, b.point), minus(a.gradient, b.gradient)
    parts: list[tuple[Fraction | int, Form]] = [(1, b.value), (1, inner(b.gradient, step)), (-1, a.value)]
    if smooth is not None:
        assert mu is not None
        factor = 1 / (2 * (1 - mu / smooth))
        parts.append((factor / smooth, square(slope)))
        if mu:
            parts += [(factor * mu, square(step)), (-2 * factor * mu / smooth, inner(slope, step))]
    elif mu:
        parts.append((mu / 2, square(step)))
    return total(parts)


def of_functions(answers: Answers, curvature: Curvature, word: str = "interpolation") -> Iterator[Inequality]:
    """Between all pairs of answers of every function."""
    if curvature.lower is None:
        return
    for cell, own in answers.answers.items():
        for k, a in enumerate(own):
            for m, b in enumerate(own):
                if k != m:
                    name = (word, str(cell[0]), str(cell[1]), str(k), str(m))
                    yield Inequality(name, interpolation(a, b, curvature))


@dataclass(frozen=True)
class Point:
    """A point where all functions are known: F, its gradient and those of the clients."""

    point: Row
    objective: Answer
    clients: Sequence[Row]
    samples: Sequence[Sequence[Row]]


def common_points(answers: Answers) -> list[Point]:
    """All points where every function has answered, the anchor first."""
    cells = answers.cells
    known = {c: {frozenset(a.point.items()): a for a in own} for c, own in answers.answers.items()}
    found: list[Point] = []
    for key in known[cells[0]]:
        if all(key in known[c] for c in cells):
            own = {c: known[c][key] for c in cells}
            point = dict(key)
            gradient = combined((answers.share(c), a.gradient) for c, a in own.items())
            value = total((answers.share(c), a.value) for c, a in own.items()) + answers.gap_at_anchor
            samples = [[own[i, j].gradient for j in range(size)] for i, size in enumerate(answers.sizes)]
            clients = [combined((Fraction(1, len(s)), g) for g in s) for s in samples]
            found.append(Point(point, Answer(point, gradient, value), clients, samples))
    return found


Maker = Callable[[Answers, Sequence[Point], Values], Iterator[Inequality]]


def _strong_quasi_convexity(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
    mu = needed(values, "objective/mu")
    for k, p in enumerate(points):
        form = p.objective.value + mu / 2 * square(p.point) - inner(p.objective.gradient, p.point)
        yield Inequality(("strong_quasi_convexity", str(k)), form)


def _convexity(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
    for k, a in enumerate(points):
        for m, b in enumerate(points):
            if k != m:
                form = interpolation(a.objective, b.objective, Curvature(Fraction(0)))
                yield Inequality(("convexity", str(k), str(m)), form)


def _smooth_objective(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
    smooth = Curvature(None, needed(values, "objective/L"))
    for k, a in enumerate(points):
        for m, b in enumerate(points):
            if k != m:
                form = interpolation(a.objective, b.objective, smooth)
                yield Inequality(("smooth_objective", str(k), str(m)), form)


def _client_grad2(answers: Answers, p: Point) -> Form:
    return total((w, square(g)) for w, g in zip(answers.weights, p.clients, strict=True))


def _dissimilarity(name: str, bound: Callable[[Point, Values], Form]) -> Maker:
    def made(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
        for k, p in enumerate(points):
            yield Inequality((name, str(k)), _client_grad2(answers, p) - bound(p, values))

    return made


def _noise(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
    (anchor,) = (p for p in points if not p.point)
    sigma2 = needed(values, "clients/sigma2")
    n = answers.clients
    form = total((Fraction(1, n), square(g)) for g in anchor.clients)
    yield Inequality(("finite_gradient_noise",), form - number(sigma2))


def _local_variance(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
    growth, sigma2 = needed(values, "samples/P2"), needed(values, "samples/sigma2")
    count = sum(answers.sizes)
    for k, p in enumerate(points):
        parts: list[tuple[Fraction, Form]] = []
        for own, client in zip(p.samples, p.clients, strict=True):
            parts += [(Fraction(1, len(own)), square(minus(g, client))) for g in own]
            parts.append((-growth * len(own), square(client)))
        yield Inequality(("local_variance", str(k)), total(parts) - number(sigma2 * count))


def _hessian_similarity(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
    delta = needed(values, "clients/delta")
    if any(size != 1 for size in answers.sizes):
        raise Unsupported("similar Hessians need clients of one function each in a worst case.")
    known = [{frozenset(a.point.items()): a for a in answers.answers[i, 0]} for i in range(answers.clients)]
    for i, own in enumerate(known):
        apart: list[Answer] = []
        for p in points:
            a = own[frozenset(p.point.items())]
            value = a.value - (p.objective.value - answers.gap_at_anchor)
            apart.append(Answer(p.point, minus(a.gradient, p.objective.gradient), value))
        for k, a in enumerate(apart):
            for m, b in enumerate(apart):
                if k != m:
                    form = interpolation(a, b, Curvature(None, delta))
                    yield Inequality(("hessian_similarity", str(i), str(k), str(m)), form)


def _below(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
    """F* <= F(x) - |grad F(x)|^2/(2 L), where F is L-smooth; else F* <= F(x)."""
    smooth = next((values[k] for k in ("objective/L", "clients/L", "samples/L") if k in values), None)
    for k, p in enumerate(points):
        less = Form() if smooth is None else 1 / (2 * smooth) * square(p.objective.gradient)
        yield Inequality(("bounded_below", str(k)), less - p.objective.value)


def _bounded_gradients(answers: Answers, points: Sequence[Point], values: Values) -> Iterator[Inequality]:
    bound = needed(values, "clients/gradient_bound")
    for cell, own in answers.answers.items():
        for k, a in enumerate(own):
            name = ("bounded_gradients", str(cell[0]), str(cell[1]), str(k))
            yield Inequality(name, square(a.gradient) - number(bound**2))


def needed(values: Values, key: str) -> Fraction:
    """The value of a constant. Raises BadInput where it is not given."""
    if key not in values:
        raise BadInput(f"the class needs the constant '{key}', which no --set gives.")
    return values[key]


# Assumptions that say something at points where all functions are known.
AT_POINTS: Mapping[str, Maker] = {
    "strong_quasi_convexity": _strong_quasi_convexity,
    "convexity": _convexity,
    "smooth_objective": _smooth_objective,
    "finite_gradient_noise": _noise,
    "local_variance": _local_variance,
    "hessian_similarity": _hessian_similarity,
    "bounded_below": _below,
    "bounded_gradients": _bounded_gradients,
    "bounded_dissimilarity": _dissimilarity(
        "bounded_dissimilarity", lambda p, v: needed(v, "clients/B2_without_G2") * square(p.objective.gradient)
    ),
    "gradient_dissimilarity": _dissimilarity(
        "gradient_dissimilarity",
        lambda p, v: number(needed(v, "clients/G2")) + needed(v, "clients/B2") * square(p.objective.gradient),
    ),
    "relaxed_dissimilarity": _dissimilarity(
        "relaxed_dissimilarity",
        lambda p, v: (
            number(needed(v, "clients/G2")) + 2 * needed(v, "samples/L") * needed(v, "clients/B2") * p.objective.value
        ),
    ),
}

# Assumptions on every function: the key of a bound of its curvature from below or from above, or its value.
SMOOTH: Mapping[str, str] = {"smooth_clients": "clients/L", "smooth_samples": "samples/L"}
CONVEX: Mapping[str, str | int] = {
    "convex_clients": 0, "convex_samples": 0, "strongly_convex_samples": "samples/mu",
}  # fmt: skip
OF_SAMPLES = ("smooth_samples", "convex_samples", "strongly_convex_samples", "local_variance")
NECESSARY = (
    "strong_quasi_convexity", "convexity", "smooth_objective", "local_variance", "hessian_similarity",
    "bounded_dissimilarity",
    "gradient_dissimilarity", "relaxed_dissimilarity",
)  # fmt: skip


def curvature_of(names: Sequence[str], values: Values) -> Curvature:
    """What the assumptions say of every function. Raises BadInput for mu = L, whose class is one quadratic."""
    smooth = [needed(values, SMOOTH[name]) for name in names if name in SMOOTH]
    convex = [CONVEX[name] for name in names if name in CONVEX]
    lower = [Fraction(v) if isinstance(v, int) else needed(values, v) for v in convex]
    mu: Fraction | None = max(lower, default=None)
    upper: Fraction | None = min(smooth, default=None)
    if "lower_curvature" in names:
        mu = max(-needed(values, "clients/lambda"), -(upper or Fraction(0))) if mu is None else mu
    if mu is not None and upper is not None and mu >= upper:
        raise BadInput(f"mu = {mu} is not below L = {upper}; the class of a worst case needs mu < L.")
    return Curvature(mu, upper)
