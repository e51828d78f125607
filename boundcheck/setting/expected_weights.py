"""The aggregation weights of a method round by round: their means q_i(n), how they vary together, and the delays.

Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
Section 2: client i contributes to round n with the weight w_i(n), which is d_i where it takes part and 0 elsewhere,
q_i(n) = E[w_i(n)] and q(n) = sum of q_i(n). The server step eta_g is not part of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods import answers
from boundcheck.methods.parts import first_repeated
from boundcheck.problems.problem import Quadratic, optional

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Drawing
    from boundcheck.methods.schedules import Plan
    from boundcheck.problems.problem import Problem


# The compositions of the paper.
KINDS = (
    *("centralised", "fedavg_sync", "fedavg_async", "fedfix", "fedbuff"),
    *("md_sampling", "uniform_sampling", "biased_sampling"),
)
MAX_KINDS = 20_000  # different cohorts of a period that are gone through
MAX_CLIENTS = 1000
MAX_ROUNDS = 20_000  # rounds of a pattern that is gone through
MAX_NUMBERS = 1_000_000  # of the clients' Hessians, which are compared to find kinds of data


@dataclass(frozen=True)
class RoundKind:
    """Rounds with the same q_i(n): their share of all rounds, and q_i(n) of the clients where it is above 0."""

    share: Fraction
    q: Mapping[int, Fraction]

    @cached_property
    def total(self) -> Fraction:
        """q(n)."""
        return sum(self.q.values(), Fraction(0))


@dataclass(frozen=True)
class Covariance:
    """E[w_i w_j] = alpha q_i q_j for i != j, and beta the largest E[w_i^2]/q_i - alpha q_i over q_i > 0.

    For w_i that is d_i or 0 the latter is d_i - alpha q_i (Lemma 1). how: where alpha comes from.
    """

    alpha: Fraction
    beta: Fraction
    how: str


@dataclass(frozen=True)
class Expected:
    """What the theory needs of a method's rounds.

    kinds: the kinds of rounds, shares summing to 1; an empty round is a kind with no q. certain: whether it is known
    beforehand who takes part. covariance: None where no single alpha fits all pairs of clients. delay: the largest
    n - rho_i(n), None where delays have no bound or it is not known. window: the least W of Assumption 6, None if
    there is none. period: rounds after which the cohorts repeat from round 0 on, a multiple of the window; 1 where they
    are drawn, None where the first rounds are unlike the later ones or it is not known.
    """

    kinds: tuple[RoundKind, ...]
    certain: bool
    covariance: Covariance | None
    delay: int | None
    window: int | None
    period: int | None

    @cached_property
    def mean(self) -> dict[int, Fraction]:
        """q_i, the mean of q_i(n) over all rounds, empty ones among them."""
        found: dict[int, Fraction] = {}
        for kind in self.kinds:
            for i, v in kind.q.items():
                found[i] = found.get(i, Fraction(0)) + kind.share * v
        return found

    @property
    def full_kinds(self) -> tuple[RoundKind, ...]:
        """The kinds of rounds in which someone takes part."""
        return tuple(kind for kind in self.kinds if kind.q)


@dataclass(frozen=True)
class DataKinds:
    """Which clients have the same kind of data (Section 3.3): of[i] is the kind of client i, shares[j] = r_j."""

    of: tuple[int, ...]
    shares: tuple[Fraction, ...]

    def weigh(self, q: Mapping[int, Fraction]) -> dict[int, Fraction]:
        """st_j of the kinds j with s_j > 0: the share of each in the weights q."""
        total = sum(q.values(), Fraction(0))
        found: dict[int, Fraction] = {}
        for i, v in q.items():
            found[self.of[i]] = found.get(self.of[i], Fraction(0)) + v / total
        return found

    def chi_square(self, q: Mapping[int, Fraction]) -> Fraction:
        """Sum of (r_j - st_j)^2/st_j over the kinds with s_j > 0 (18)."""
        return sum(((self.shares[j] - v) ** 2 / v for j, v in self.weigh(q).items()), Fraction(0))

    def complete(self, q: Mapping[int, Fraction]) -> bool:
        """Whether every kind has a positive weight."""
        return len(self.weigh(q)) == len(self.shares)


def data_kinds(problem: Problem) -> DataKinds:
    """Clients with the same quadratic or piecewise quadratic objective have one kind of data, any other its own."""
    n, weights = problem.clients, problem.weights
    labels: list[Any] = list(range(n))
    if isinstance(problem, Quadratic) and n * problem.dim**2 <= MAX_NUMBERS:
        labels = [(tuple(a.entries()), tuple(b.entries())) for a, b in problem.forms().maps]
    elif optional(problem, "client_slopes") is not None:
        labels = list(optional(problem, "client_slopes"))
    return kinds_of(labels, weights)


def kinds_of(labels: Sequence[Any], weights: Sequence[Fraction]) -> DataKinds:
    """Clients with the same label have one kind of data; weights: those of the clients in F."""
    known: dict[Any, int] = {}
    of = tuple(known.setdefault(label, len(known)) for label in labels)
    shares = [Fraction(0)] * len(known)
    for j, w in zip(of, weights, strict=True):
        shares[j] += w
    return DataKinds(of, tuple(shares))


def is_asynchronous(method: Method) -> bool:
    """Whether a method is one of the paper's compositions (`KINDS`)."""
    from boundcheck.methods.build import known_kinds

    kinds = known_kinds()
    return any(kinds[name].contains(method, None) for name in KINDS)


def expected_weights(method: Method, clients: Clients) -> Expected | None:
    """The rounds of one of the paper's methods; None for other methods and where they are too many to go through."""
    if clients.count > MAX_CLIENTS or not is_asynchronous(method):
        return None
    found = gone_through(method, clients)
    return None if isinstance(found, str) else found


@lru_cache(maxsize=32)
def gone_through(method: Method, clients: Clients) -> Expected | str:
    """The rounds of one of the paper's methods, or why they are not gone through."""
    if clients.count > MAX_CLIENTS:
        return f"the rounds of {clients.count} clients are not gone through; at most {MAX_CLIENTS} are"
    try:
        found = _rounds(method, clients)
    except (BadInput, Unsupported) as error:  # the run itself says what is wrong, or does not need this
        return str(error)
    return "its rounds are too many to go through, or its weights are not known" if found is None else found


def _rounds(method: Method, clients: Clients) -> Expected | None:
    drawing = method.participation.drawing(clients)
    return _pattern(method, clients) if drawing is None else _random(method, clients, drawing)


def _pattern(method: Method, clients: Clients) -> Expected | None:
    participation, timing = method.participation, answers.timing(method.participation)
    plan = None if timing is None else timing.plan(clients.count)
    setting = method.context(clients)

    def weighed(share: Fraction, cohort: Sequence[int]) -> RoundKind:
        values = method.aggregation.coefficients(cohort, setting) if cohort else []
        return RoundKind(share, {i: v for i, v in zip(cohort, values, strict=True) if v > 0})

    if plan is not None:
        law, delay, window = plan.law, _delay_of(plan), plan.window
        repeats = None if plan.first else plan.period
        one_by_one = plan.single and clients.count > 1
    else:
        first, period = first_repeated(participation, clients), participation.period(clients)
        repeats = None if first else period
        if first + period > MAX_ROUNDS:
            return None
        cohorts = [participation.fixed(n, clients) or () for n in range(first + 2 * period)]
        law = [(Fraction(1, period), cohort) for cohort in cohorts[first : first + period]]
        delay, one_by_one = _largest_delay(cohorts), False
        window = None if first else _window([weighed(Fraction(1), cohort).q for cohort in cohorts[:period]])
    if len(law) > MAX_KINDS:
        return None
    kinds = tuple(weighed(share, cohort) for share, cohort in law)
    if one_by_one:
        largest = max(v for kind in kinds for v in kind.q.values())
        covariance = Covariance(Fraction(0), largest, "one client a round, so that w_i w_j = 0")
    else:
        covariance = Covariance(Fraction(1), Fraction(0), "the weights are not random")
    stale = answers.starts_stale(method.exchange)
    return Expected(kinds, True, covariance, delay if stale else 0, window, repeats)


def _delay_of(plan: Plan) -> int | None:
    """The largest delay of a schedule; None where its period is too long to go through and no formula tells."""
    try:
        return plan.max_delay
    except Unsupported:
        return None


def _largest_delay(cohorts: Sequence[Sequence[int]]) -> int:
    last: dict[int, int] = {}
    largest = 0
    for n, cohort in enumerate(cohorts):
        for i in cohort:
            largest = max(largest, n - last.get(i, -1) - 1)
            last[i] = n
    return largest


def _window(rounds: Sequence[Mapping[int, Fraction]]) -> int:
    """The least W that divides the period and after which the q_i(n) have had the same sums, window by window."""
    period = len(rounds)
    for width in (w for w in range(1, period + 1) if period % w == 0):
        sums: list[dict[int, Fraction]] = []
        for start in range(0, period, width):
            own: dict[int, Fraction] = {}
            for i, v in itertools.chain.from_iterable(q.items() for q in rounds[start : start + width]):
                own[i] = own.get(i, Fraction(0)) + v
            sums.append(own)
        if all(own == sums[0] for own in sums):
            return width
    return period


def _random(method: Method, clients: Clients, drawing: Drawing) -> Expected | None:
    own = method.aggregation.by_client(method.context(clients))
    if own is None:
        return None
    n, m = clients.count, drawing.size
    d = [own(i) for i in range(n)]
    if drawing.kind == "replacement":  # w_i = d_i times how often i is drawn, a multinomial count
        p = drawing.probabilities
        q = [x * m * v for x, v in zip(d, p, strict=True)]
        square = [x * x * (m * v * (1 - v) + (m * v) ** 2) for x, v in zip(d, p, strict=True)]
        alpha, how = 1 - Fraction(1, m), "the counts of a multinomial distribution"
    else:
        p = [drawing.inclusion(i) for i in range(n)]
        q = [x * v for x, v in zip(d, p, strict=True)]
        square = [x * x * v for x, v in zip(d, p, strict=True)]
        alpha, how = _alpha(drawing, p)
    covariance = None
    if alpha is not None:
        rest = [s / v - alpha * v for s, v in zip(square, q, strict=True) if v > 0]
        covariance = Covariance(alpha, max(rest), how)
    kind = RoundKind(Fraction(1), {i: v for i, v in enumerate(q) if v > 0})
    # memoryless times, and any other random cohort, can leave a client out for as long as one likes
    return Expected((kind,), False, covariance, None if answers.starts_stale(method.exchange) else 0, 1, 1)


def _alpha(drawing: Drawing, p: Sequence[Fraction]) -> tuple[Fraction | None, str]:
    """P(i and j)/(p_i p_j) where it is the same for all pairs."""
    n = drawing.n
    if drawing.kind == "independent":
        return Fraction(1), "clients take part independently"
    if drawing.kind == "uniform":
        return drawing.pair(0, 1) / (p[0] * p[1]), "cohorts drawn without replacement"
    if drawing.largest == 1:
        return Fraction(0), "one client a round, so that w_i w_j = 0"
    found = {drawing.pair(i, j) / (p[i] * p[j]) for i, j in itertools.combinations(range(n), 2)}
    return (found.pop(), "the pair probabilities of the cohorts") if len(found) == 1 else (None, "")
