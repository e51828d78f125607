"""Constants that a method and a problem have together: what participation costs, and the FedShuffleGen view.

FedShuffleGen (S. Horvath et al., "FedShuffle", Algorithm 4 and Appendix E) is the family with local steps eta_l/c_i and
the aggregate sum over S of (wtilde_i/q_i^S) Delta_i. With K_i local steps (E_i |D_i| for single samples) it follows
fhat = sum of what_i f_i,

    1/q_i = E[1{i in S}/q_i^S],   W = sum of wtilde_i K_i/(q_i c_i),   what_i = wtilde_i K_i/(W q_i c_i),

and its theorem uses M1 = max of h_i s_i what_i with Hmat - e e' <= diag(h_i s_i) (`certified.sampling`) and of
M2 = (sum of K_i) max of wtilde_i/(W q_i c_i).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from boundcheck.certified import sampling
from boundcheck.certified.certify import from_above
from boundcheck.certified.constant import Constant, Known, exact
from boundcheck.core.linalg import matrix
from boundcheck.core.numbers import root_from_above, round_up
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.parts.participation import cohort_law, cohort_sizes, everyone, known_rounds
from boundcheck.problems.problem import clients_of, optional
from boundcheck.setting.local_work import certain_visits
from boundcheck.setting.theories import Makers, Row, Theory

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Drawing, Visit
    from boundcheck.problems.problem import Problem


MAX_COHORTS = 5000  # cohorts that are gone through one by one
MAX_MATRIX = 100  # clients of a sampling that is known by its probability matrix alone
MAX_CLIENTS = 1000  # clients of which the FedShuffleGen view is computed
MAX_LISTED = 100  # clients whose weights (w_1, ...; what_1, ... under the method) have names

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class General:
    """A method on given clients as FedShuffleGen. All vectors have one entry a client.

    q, what, h, s: see the module. visits: with their K_i and 1/c_i. W, M1, M2: numbers; rule: which s is taken.
    """

    visits: tuple[Visit, ...]
    q: Vector
    W: Fraction
    what: Vector
    h: Vector
    s: Vector
    M1: Fraction
    M2: Fraction
    rule: str


def participation_constants(method: Method, clients: Clients) -> sampling.SamplingConstants | None:
    """p, s, M and b of the method's participation; None where rounds are not alike or clients are left out for ever.

    Raises BadInput for a sampling given by its matrix with more than `MAX_MATRIX` clients or with zero weights.
    """
    participation, weights = method.participation, clients.weights
    drawing = participation.drawing(clients)
    n = clients.count
    if drawing is None:
        return sampling.full(weights) if everyone(participation, clients) else None
    if drawing.kind == "uniform":
        return sampling.uniform(n, drawing.size, weights)
    if drawing.kind == "replacement":  # coefficients of a client drawn several times add up, which M knows nothing of
        return None
    if any(drawing.inclusion(i) == 0 for i in range(n)):
        return None
    if drawing.kind == "independent":
        return sampling.independent(drawing.probabilities, weights)
    if cohort_sizes(participation, clients) == {1}:
        return sampling.one_client([drawing.inclusion(i) for i in range(n)], weights)
    if n > MAX_MATRIX:
        raise BadInput(f"{n} clients are too many for a sampling given by its cohorts; at most {MAX_MATRIX} are taken.")
    return sampling.sampling_constants(matrix([[drawing.pair(i, j) for j in range(n)] for i in range(n)]), weights)


def general(method: Method, clients: Clients, sampled: sampling.SamplingConstants | None = None) -> General | None:
    """The method as FedShuffleGen; None where it is none.

    It is one with local steps along samples whose number is certain, and coefficients wtilde_i/q_i^S. Where these do
    not depend on the cohort, q_i^S = p_i, and s is that of `participation_constants`; otherwise wtilde = w, and s is
    the one with the least M1, for which all cohorts are gone through (at most `MAX_COHORTS`). sampled: those constants,
    where they are known. Raises Unsupported or BadInput where that is too much.
    """
    aggregation, n = method.aggregation, clients.count
    # FedShuffleGen's coefficients are weights of the clients over normalisers
    if not method.is_plain or getattr(aggregation, "weights", None) is None or n > MAX_CLIENTS:
        return None
    visits = certain_visits(method, clients)
    if visits is None or not all(map(_goes_through, visits, clients.sizes)):
        return None
    sampled = sampled or participation_constants(method, clients)
    if sampled is None:
        return None
    setting = method.context(clients)
    own, found = aggregation.by_client(setting), None
    wtilde = clients.weights if own is None else [own(i) * p for i, p in enumerate(sampled.p)]
    if min(wtilde) <= 0:
        return None
    q, h, rule = (Fraction(1),) * n, tuple(1 / p for p in sampled.p), sampled.rule
    if own is None:
        cohorts = cohort_law(method.participation, clients, MAX_COHORTS) or ()
        if n > MAX_MATRIX:
            raise BadInput(f"{n} clients are too many for their cohorts; at most {MAX_MATRIX} are taken.")
        given = [(cohort, aggregation.coefficients(cohort, setting)) for _, cohort in cohorts]
        if any(a <= 0 for _, values in given for a in values):
            return None
        norms = [[wtilde[i] / a for i, a in zip(cohort, values, strict=True)] for cohort, values in given]
        found = sampling.general_sampling(cohorts, norms)
        q, h, rule = found.q, found.h, "the least M1, verified exactly"
    each = [w / q_i * v.scale for w, q_i, v in zip(wtilde, q, visits, strict=True)]  # wtilde_i/(q_i c_i)
    shares = [w * v.steps for w, v in zip(each, visits, strict=True)]
    W = sum(shares, Fraction(0))
    if W <= 0:
        return None
    what = tuple(v / W for v in shares)
    s = sampled.s if found is None else found.least(what)[1]
    M1 = max(h_i * s_i * v for h_i, s_i, v in zip(h, s, what, strict=True))
    M2 = sum(v.steps for v in visits) * max(each) / W
    return General(tuple(visits), q, W, what, h, s, M1, M2, rule)


def _goes_through(visit: Visit, size: int) -> bool:
    """Whether a visit goes through the client's samples: in epochs, or with as many draws as whole epochs have."""
    if visit.prox:
        return False
    epochs = Fraction(visit.steps, -(-size // visit.batch))
    return visit.sampling == "reshuffled" or (visit.sampling == "replacement" and epochs.denominator == 1)


def _epochs(gen: General, clients: Clients) -> list[int] | None:
    """E_i, the whole epochs of single samples that each client does; None where there are no such."""
    pairs = list(zip(gen.visits, clients.sizes, strict=True))
    whole = all(v.batch == 1 and v.steps and v.steps % size == 0 for v, size in pairs)
    return [v.steps // size for v, size in pairs] if whole else None


def sampling_makers(method: Method, problem: Problem, clients: Clients) -> Makers:
    """Formulas for M and b and, where the method is a FedShuffleGen (`general`), W, M1, M2, P2_gen and noise2_gen.

    For at most `MAX_LISTED` clients also what_1, what_2, ..., the weights with which the method follows the clients.
    Constants that would need too many cohorts, or rounds that are all alike, are left out.
    """
    makers: Makers = {}
    try:
        if clients.count > MAX_CLIENTS:
            return _of_many(method, clients)
        sampled = participation_constants(method, clients)
        if sampled is not None:
            makers |= {name: (lambda c=c: c) for name, c in sampled.constants().items()}
        gen = None if sampled is None else general(method, clients, sampled)
    except (BadInput, Unsupported):  # too many clients or cohorts: the run does not need these constants
        return makers
    if gen is None:
        return makers
    makers["W"] = lambda: exact(gen.W, "sum of wtilde_i K_i/(q_i c_i)")
    makers["M1"] = lambda: exact(gen.M1, f"largest h_i s_i what_i, s by {gen.rule}")
    makers["M2"] = lambda: exact(gen.M2, "(sum of K_i) times the largest wtilde_i/(W q_i c_i)")
    epochs = _epochs(gen, clients)
    if epochs is not None and _varies(problem):
        scales = [3 * size * E**2 for size, E in zip(clients.sizes, epochs, strict=True)]
        makers["P2_gen"] = lambda: _variances(problem, gen, scales)[0]
        makers["noise2_gen"] = lambda: _variances(problem, gen, scales)[1]
    for i, weight in enumerate(gen.what if clients.count <= MAX_LISTED else (), 1):
        makers[f"what_{i}"] = partial(exact, weight, f"weight of client {i} in the objective that the method follows")
    return makers


def weight_makers(clients: Clients) -> Makers:
    """Formulas for w_min and w_max, the extreme weights, and for at most `MAX_LISTED` clients w_1, w_2, ..."""
    makers: Makers = {
        "w_min": lambda: exact(min(clients.weights), "smallest weight of a client"),
        "w_max": lambda: exact(max(clients.weights), "largest weight of a client"),
    }
    for i, weight in enumerate(clients.weights if clients.count <= MAX_LISTED else (), 1):
        makers[f"w_{i}"] = partial(exact, weight, f"weight of client {i}")
    return makers


def _of_many(method: Method, clients: Clients) -> Makers:
    """M and b of very many clients, where their formula takes no look at each: computed only when asked for."""
    drawing = method.participation.drawing(clients)
    if drawing is None:
        simple = known_rounds(method.participation, clients) == 1
    else:
        simple = drawing.kind == "uniform" or (drawing.kind == "independent" and min(drawing.probabilities) > 0)
    if not simple:
        return {}

    def make(name: str) -> Constant:
        found = participation_constants(method, clients)
        assert found is not None
        return found.constants()[name]

    return {name: partial(make, name) for name in ("M", "b")}


def _varies(problem: Problem) -> bool:
    return optional(problem, "local_variances") is not None and problem.violations("local_variance") is None


def client_variances(problem: Problem) -> tuple[tuple[Constant, Constant], ...] | None:
    """(P_i^2, sigma_i^2) of each client, as P2 and noise2 are made of them; None where there are none to be had."""
    pairs = optional(problem, "local_variances")() if _varies(problem) else None
    if pairs is None:
        return None
    known: Known = optional(problem, "variances_known") or Known.EXACT
    side = "exact" if known is Known.EXACT else "upper"
    return tuple((exact(P, "P_i^2 as in P2"), Constant(v, known, side, "sigma_i^2 as in noise2")) for P, v in pairs)


def _variances(problem: Problem, gen: General, scales: Sequence[int]) -> tuple[Constant, Constant]:
    """max of P_i^2/(3 |D_i| E_i^2) and sum of what_i sigma_i^2/(3 |D_i| E_i^2)."""
    pairs = client_variances(problem)
    assert pairs is not None
    P2 = max(P.value / scale for (P, _), scale in zip(pairs, scales, strict=True))
    terms = (what * v.value / scale for what, (_, v), scale in zip(gen.what, pairs, scales, strict=True))
    how = "sum of what_i sigma_i^2/(3 |D_i| E_i^2), sigma_i^2 as in noise2"
    noise2 = from_above(sum(terms, Fraction(0)), how, exact=all(v.known is Known.EXACT for _, v in pairs))
    return exact(P2, "largest P_i^2/(3 |D_i| E_i^2), P_i^2 as in P2"), noise2


# What the step conditions divide by: the constants for P^2, what P^2 is divided by, the constant for M, and in words.
_FACTORS = {
    "beta": ("P2", 1, "M", "1 + (1 + P) B + M B^2, P^2 = P2"),
    "beta_c": ("P2", 3, "M", "1 + (1 + P) B + M B^2, P^2 = P2/3 (sharp readings)"),
    "beta_gen": ("P2_gen", 1, "M1", "1 + (1 + P) B + M1 B^2, P^2 = P2_gen"),
}


def step_factors(constants: Mapping[str, Constant]) -> dict[str, Constant]:
    """The beta in the step conditions 4 beta L et <= 1 of FedShuffle (Theorem 5.1) and of FedShuffleGen (Theorem E.1).

    beta = 1 + (1 + P) B + M B^2, from above. constants: by the names of problems and methods, P2, B2 and M among them.
    "beta" is that of Section 5, "beta_c" that with the P^2 of Lemma C.2 (where it is another one), "beta_gen" that of
    Appendix E; what lacks a constant is left out.
    """
    found: dict[str, Constant] = {}
    for name, (of, divisor, joint, how) in _FACTORS.items():
        if any(k not in constants for k in (of, "B2", joint)) or (divisor > 1 and constants[of].value == 0):
            continue
        used = [constants[k] for k in (of, "B2", joint)]
        P, B = root_from_above(used[0].value / divisor), root_from_above(used[1].value)
        value = 1 + (1 + P) * B + used[2].value * used[1].value
        rational = used[0].value / divisor == P * P and used[1].value == B * B
        if rational and all(c.known is Known.EXACT for c in used):
            found[name] = exact(value, how)
        else:
            weakest = Known.ESTIMATED if any(c.known is Known.ESTIMATED for c in used) else Known.CERTIFIED
            found[name] = Constant(round_up(value), weakest, "upper", how)
    return found


# --- hypotheses about who takes part ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Participants:
    """Who takes part in a method's rounds."""

    method: Method
    clients: Clients

    @property
    def drawing(self) -> Drawing | None:
        """How a cohort is drawn; None where it is not."""
        return self.method.participation.drawing(self.clients)

    @property
    def independent(self) -> Sequence[Fraction]:
        """The probabilities of the clients; none where these are not drawn independently."""
        return () if self.drawing is None or self.drawing.kind != "independent" else self.drawing.probabilities


def participants(method: Method, problem: Problem) -> Participants:
    """Who takes part in the rounds of a method on a problem."""
    return Participants(method, clients_of(problem))


def _uniform(own: Participants) -> str | None:
    if own.drawing is None:
        return None if everyone(own.method.participation, own.clients) else "the cohorts of a round are not drawn."
    return None if own.drawing.kind == "uniform" else "clients are not drawn uniformly."


def _importance(own: Participants) -> str | None:
    p, w = own.independent, own.clients.weights
    if not p:
        return "clients are not drawn independently of each other."
    if min(w) <= 0 or len({a / b for a, b in zip(p, w, strict=True)}) > 1:
        return "the probabilities of the clients are not proportional to their weights."
    return None


PARTICIPATION = Theory(
    participants, named=(Row("uniform_participation", _uniform), Row("importance_participation", _importance))
)
