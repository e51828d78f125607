"""Methods with published worst cases, on rows: what is maximised, over which class, and the printed value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from boundcheck.worst_case.classes import Curvature, Inequality, of_functions
from boundcheck.worst_case.forms import Form, Row, combined, inner, minus, number, square, total
from boundcheck.worst_case.oracles import Answer, Answers
from boundcheck.worst_case.programme import Programme

F = Fraction
ROOM = 40
ONE = F(1)


@dataclass(frozen=True)
class Rate:
    """A method. value: the printed worst case; tight: whether it is exact, or only at most this."""

    name: str
    programme: Callable[[], Programme]
    value: float
    tight: bool


def programme(answers: Answers, objective: Form, inequalities: Iterable[Inequality]) -> Programme:
    found = list(inequalities)
    values = max([answers.values, *(k + 1 for q in found for k in q.form.lin), *(k + 1 for k in objective.lin)])
    return Programme(objective, found, answers.rows, values, [ONE] * answers.rows, ONE)


def start(form: Form, value: F | int = 1) -> Inequality:
    return Inequality(("start",), form - number(value))


def ask(answers: Answers, point: Row) -> Answer:
    return answers.at((0, 0), point)


def moved(point: Row, *steps: tuple[F | int, Row]) -> dict[int, F]:
    return combined(((1, point), *steps))


def functions(answers: Answers, mu: F | None, L: F | None) -> Iterator[Inequality]:
    return of_functions(answers, Curvature(mu, L))


X0: Row = {0: ONE}


def smooth_convex(points: Callable[[Answers], Row], mu: F | int = 0) -> Programme:
    """F at the last point of a method on L-smooth convex functions, L = 1, from the distance 1."""
    answers = Answers([1], ROOM, minimiser=True)
    last = points(answers)
    return programme(answers, ask(answers, last).value, [*functions(answers, F(mu), ONE), start(square(X0))])


def gradient_descent(n: int) -> Programme:
    def run(a: Answers) -> Row:
        x: Row = X0
        for _ in range(n):
            x = moved(x, (-1, ask(a, x).gradient))
        return x

    return smooth_convex(run)


def contraction(n: int, eta: F, mu: F) -> Programme:
    """|x_n - x*|^2 of gradient descent, mu-strongly convex."""
    answers, x = Answers([1], ROOM, minimiser=True), X0
    for _ in range(n):
        x = moved(x, (-eta, ask(answers, x).gradient))
    return programme(answers, square(x), [*functions(answers, mu, ONE), start(square(X0))])


def nonconvex(n: int) -> Programme:
    """The least |grad|^2 over the points 0 to n of gradient descent with step 1, from the gap 1."""
    answers = Answers([1], ROOM, minimiser=False)
    x: Row = {}
    seen: list[Answer] = []
    for _ in range(n + 1):
        seen.append(ask(answers, x))
        x = moved(x, (-1, seen[-1].gradient))
    least = answers.values
    unknown = Form(lin={least: ONE})
    gap0 = answers.gap_at_anchor
    below = [Inequality(("below", str(k)), F(1, 2) * square(a.gradient) - (a.value + gap0)) for k, a in enumerate(seen)]
    own = [Inequality(("least", str(k)), unknown - square(a.gradient)) for k, a in enumerate(seen)]
    return programme(answers, unknown, [*functions(answers, None, ONE), *below, *own, start(gap0)])


def subgradient(n: int) -> Programme:
    """The least gap over the points 0 to n with steps 1/sqrt(n + 1) = 1/2 at n = 3, |g| <= 1, from the distance 1."""
    answers, x = Answers([1], ROOM, minimiser=True), X0
    seen: list[Answer] = []
    for _ in range(n + 1):
        seen.append(ask(answers, x))
        x = moved(x, (F(-1, 2), seen[-1].gradient))
    least = Form(lin={answers.values: ONE})
    own = [Inequality(("least", str(k)), least - a.value) for k, a in enumerate(seen)]
    bound = [
        Inequality(("lipschitz", str(k)), square(a.gradient) - number(1)) for k, a in enumerate(answers.answers[0, 0])
    ]
    return programme(answers, least, [*functions(answers, F(0), None), *own, *bound, start(square(X0))])


def proximal_point(n: int) -> Programme:
    """gap after n steps with gamma = 1, convex."""
    answers = Answers([1], ROOM, minimiser=True)
    x = [F(int(k == 0)) for k in range(ROOM)]
    for _ in range(n):
        x = answers.proximal(0, x, [F(0)] * ROOM, ONE)
    (*_, last) = answers.answers[0, 0]
    return programme(answers, last.value, [*functions(answers, F(0), None), start(square(X0))])


def accelerated(n: int) -> Programme:
    """The fast gradient method: F(y_n), y the gradient steps; momentum (k - 1)/(k + 2)."""

    def run(a: Answers) -> Row:
        x: Row = X0
        y: Row = X0
        for k in range(1, n + 1):
            new = moved(x, (-1, ask(a, x).gradient))
            x = moved(new, (F(k - 1, k + 2), minus(new, y)))
            y = new
        return y

    return smooth_convex(run)


def optimised(n: int) -> tuple[Callable[[], Programme], float]:
    """The optimised gradient method with its theta_k rounded to fractions."""
    theta = [1.0]
    for k in range(n):
        theta.append((1 + sqrt((8 if k == n - 1 else 4) * theta[-1] ** 2 + 1)) / 2)
    own = [F(t).limit_denominator(10**9) for t in theta]

    def run(a: Answers) -> Row:
        x: Row = X0
        y: Row = X0
        for k in range(n):
            new = moved(x, (-1, ask(a, x).gradient))
            x = moved(new, ((own[k] - 1) / own[k + 1], minus(new, y)), (own[k] / own[k + 1], minus(new, x)))
            y = new
        return x

    return lambda: smooth_convex(run), 1 / (2 * theta[-1] ** 2)


def line_search(mu: F) -> Programme:
    """A step with exact line search, mu-strongly convex, from the gap 1; the new point is a further basis vector."""
    answers = Answers([1], ROOM, minimiser=True)
    first = ask(answers, X0)
    x1 = answers.basis()
    second = ask(answers, x1)
    exact = [
        Inequality(("line", "0"), inner(second.gradient, minus(x1, X0)), equal=True),
        Inequality(("line", "1"), inner(second.gradient, first.gradient), equal=True),
    ]
    return programme(answers, second.value, [*functions(answers, mu, ONE), *exact, start(first.value)])


def proximal_gradient(mu: F, gamma: F) -> Programme:
    """|x_1 - x*|^2 of a step on f + h, f smooth and mu-strongly convex, h convex; grad f(x*) + grad h(x*) = 0."""
    answers = Answers([1, 1], ROOM, minimiser=True)
    gradient = answers.at((0, 0), X0).gradient
    h = answers.basis()
    x1 = moved(X0, (-gamma, gradient), (-gamma, h))
    answers.keep((1, 0), Answer(x1, h, answers.value()))
    found = [q for q in functions(answers, mu, ONE) if q.of[1] == "0"]
    found += [q for q in functions(answers, F(0), None) if q.of[1] == "1"]
    return programme(answers, square(x1), [*found, start(square(X0))])


def frank_wolfe(n: int) -> Programme:
    """gap after n steps of size 2/(k + 2) on a set of diameter 1; gradients at the minimiser of norm 4 at most."""
    answers = Answers([1], ROOM, minimiser=False)
    inside: list[tuple[Row, Row | None]] = []  # points of the set, the normal there
    minimiser = answers.basis()
    best = Answer(minimiser, answers.basis(), answers.value())
    answers.keep((0, 0), best)
    inside.append((minimiser, combined(((-1, best.gradient),))))
    x: Row = {}
    for k in range(n):
        gradient = ask(answers, x).gradient
        corner = answers.basis()
        inside.append((corner, combined(((-1, gradient),))))
        x = moved(x, (F(2, k + 2), minus(corner, x)))
    last = ask(answers, x)
    points = [*(p for p, _ in inside), {}]
    normal = [
        Inequality(("normal", str(k), str(m)), inner(g, minus(other, p)))
        for k, (p, g) in enumerate(inside) if g is not None
        for m, other in enumerate(points) if other is not p
    ]  # fmt: skip
    apart = [
        Inequality(("diameter", str(k), str(m)), square(minus(a, b)) - number(1))
        for k, a in enumerate(points) for m, b in enumerate(points) if k < m
    ]  # fmt: skip
    base = Inequality(("unused",), answers.gap_at_anchor, equal=True)
    small = start(square(best.gradient), 16)
    return programme(answers, last.value - best.value, [*functions(answers, F(0), ONE), *normal, *apart, base, small])


def sgd_step(n: int, mu: F, eta: F) -> Programme:
    """E|x_1 - x*|^2 of a step on one of n functions, with mean |grad f_i(x*)|^2 = 1, from the distance 1."""
    answers = Answers([1] * n, ROOM, minimiser=True)
    anchors = [answers.answers[i, 0][0].gradient for i in range(n)]
    ends = [moved(X0, (-eta, answers.at((i, 0), X0).gradient)) for i in range(n)]
    noise = total((F(1, n), square(g)) for g in anchors)
    objective = total((F(1, n), square(x)) for x in ends)
    return programme(answers, objective, [*functions(answers, mu, ONE), start(square(X0)), start(noise)])


def saga_step(n: int, mu: F) -> Programme:
    """E V_1 with V = mean of (f_i(p_i) - f_i(x*) - <grad f_i(x*), p_i - x*>) + c |x - x*|^2 from V_0 = 1."""
    gamma = 1 / (2 * (mu * n + 1))
    c = 1 / (2 * gamma * (1 - gamma * mu) * n)
    answers = Answers([1] * n, ROOM, minimiser=True)
    anchors = [answers.answers[i, 0][0].gradient for i in range(n)]
    kept = [answers.at((i, 0), answers.basis()) for i in range(n)]
    at_x = [answers.at((i, 0), X0) for i in range(n)]
    mean = combined((F(1, n), a.gradient) for a in kept)

    def gap(i: int, a: Answer) -> Form:
        return a.value - inner(anchors[i], a.point)

    before = total([*((F(1, n), gap(i, a)) for i, a in enumerate(kept)), (c, square(X0))])
    after: list[tuple[F, Form]] = []
    for j in range(n):
        x1 = moved(X0, (-gamma, at_x[j].gradient), (gamma, kept[j].gradient), (-gamma, mean))
        own = [(F(1, n), gap(i, at_x[i] if i == j else kept[i])) for i in range(n)]
        after.append((F(1, n), total([*own, (c, square(x1))])))
    return programme(answers, total(after), [*functions(answers, mu, ONE), start(before)])


class Operator:
    """An operator of which values are known at points; the zero vector is where it stays."""

    def __init__(self) -> None:
        self.answers = Answers([1], ROOM, minimiser=True)
        self.known: list[tuple[Row, Row]] = [({}, {})]
        self.rows = 1

    def at(self, point: Row) -> Row:
        self.known.append((point, {self.rows: ONE}))
        self.rows += 1
        return self.known[-1][1]

    def bounded(self, objective: Form, between: Callable[[Row, Row], Form]) -> Programme:
        """between: a form <= 0 of two differences, of points and of values."""
        found = [
            Inequality(("operator", str(k), str(m)), between(minus(x, y), minus(u, v)))
            for k, (x, u) in enumerate(self.known) for m, (y, v) in enumerate(self.known) if k < m
        ]  # fmt: skip
        return Programme(objective, [*found, start(square(X0))], self.rows, 0, [ONE] * self.rows, ONE)


def halpern(n: int) -> Programme:
    """|x_n - T x_n|^2 of x_{k+1} = x_0/(k + 2) + (k + 1)/(k + 2) T x_k, T nonexpansive."""
    operator, x = Operator(), X0
    for k in range(n):
        x = combined(((F(1, k + 2), X0), (F(k + 1, k + 2), operator.at(x))))
    left = minus(x, operator.at(x))
    return operator.bounded(square(left), lambda d, e: square(e) - square(d))


def extragradient(mu: F) -> Programme:
    """|x_1 - x*|^2 of a step of size 1/4, the operator mu-strongly monotone and 1-Lipschitz."""
    operator = Operator()
    half = moved(X0, (F(-1, 4), operator.at(X0)))
    x1 = moved(X0, (F(-1, 4), operator.at(half)))
    pairs = operator.bounded(square(x1), lambda d, e: square(e) - square(d))
    more = operator.bounded(square(x1), lambda d, e: mu * square(d) - inner(d, e))
    return Programme(
        pairs.objective, [*more.inequalities, *pairs.inequalities[:-1]], pairs.rows, 0, pairs.unit_rows, ONE
    )


def coordinate_descent(mu: F, eta: F) -> Programme:
    """E|x_1 - x*|^2 of a step in one of two blocks, drawn evenly; vectors of different blocks are orthogonal."""
    blocks = ({0: ONE, 2: ONE}, {1: ONE, 3: ONE})  # the basis: x - x* in both blocks, the gradient in both
    x, gradient = {0: ONE, 1: ONE}, {2: ONE, 3: ONE}
    answers = Answers([1], ROOM, minimiser=True)
    answers.rows = 4
    answers.keep((0, 0), Answer(x, gradient, answers.value()))
    apart = [
        Inequality(("blocks", str(a), str(b)), inner({a: ONE}, {b: ONE}), equal=True)
        for a in blocks[0]
        for b in blocks[1]
    ]
    ends = [moved(x, (-eta, {k: c for k, c in gradient.items() if k in own})) for own in blocks]
    mean = total((F(1, 2), square(end)) for end in ends)
    return programme(answers, mean, [*functions(answers, mu, ONE), *apart, start(square(x))])


MU = F(1, 10)
_OGM, _OGM_VALUE = optimised(3)
_SGD = 0.5 * 0.9**2 + 0.5 * 0.9 * sqrt(0.9**2 + 4 * 1) + 1

RATES = (
    Rate("gradient descent", lambda: gradient_descent(4), 1 / 18, True),
    Rate("gradient descent, strongly convex", lambda: contraction(2, ONE, MU), 0.9**4, True),
    Rate("gradient descent, non-convex", lambda: nonconvex(3), 8 / 17, False),
    Rate("subgradient", lambda: subgradient(3), 1 / 2, True),
    Rate("optimised gradient", _OGM, _OGM_VALUE, True),
    Rate("exact line search", lambda: line_search(MU), (0.9 / 1.1) ** 2, True),
    Rate("proximal point", lambda: proximal_point(3), 1 / 12, True),
    Rate("fast gradient", lambda: accelerated(4), 2 / (16 + 20 + 6), True),
    Rate("proximal gradient", lambda: proximal_gradient(MU, ONE), 0.9**2, True),
    Rate("Frank-Wolfe", lambda: frank_wolfe(3), 2 / 5, False),
    Rate("SGD, one step", lambda: sgd_step(3, MU, ONE), _SGD, True),
    Rate("SAGA, one step", lambda: saga_step(2, MU), 1 - float(MU / (2 * (2 * MU + 1))), True),
    Rate("coordinate descent, one step", lambda: coordinate_descent(MU, ONE), (1 + 0.9**2) / 2, True),
    Rate("Halpern", lambda: halpern(4), 4 / 25, True),
    Rate("extragradient", lambda: extragradient(MU), 1 - 0.1 / 4, False),
)
