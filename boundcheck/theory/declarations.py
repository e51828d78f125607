"""What a statement is declared with: its source, metric, algorithm and conditions, and the words for their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self

import sympy as sp

from boundcheck.core import providers
from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.dimension import QUANTITIES, Dimension
from boundcheck.theory.keys import check_key
from boundcheck.theory.paper import Paper

# The symbol that counts rounds in `Metric.weights` and `Algorithm.steps`.
ROUND = sp.Symbol("r", real=True)
# The symbol that counts local steps over all rounds in `Algorithm.steps`: r K + k in local step k of round r, from 0.
ITERATION = sp.Symbol("t", real=True)
# Names of step sizes in `Algorithm.steps` of every kind: two of the local step, and the server's.
STEP_SIZES = ("eta", "eta_l", "eta_g")
LOCAL_STEP_SIZES = STEP_SIZES[:2]

PROOF_QUANTITIES: Mapping[str, str] = MappingProxyType(
    {
        "direction_error2": "squared distance of an epoch's direction from the gradient of f",
        "epoch_error2": "squared distance of an epoch's mean gradient from the gradient at its start",
        "inverse_of_1_minus_A": "the factor 1/(1 - A) of the proof",
        "largest_constraint": "the largest left side of the proof's step conditions, scaled to right sides of 1",
        "limsup": "limit superior of a sequence of numbers that satisfies a recursion, times its rate",
        "norm2_of_deviation": "squared distance of a vector from its mean over the clients",
        "norm2_of_product": "squared norm of a matrix times a vector",
        "norm2_of_sum": "squared norm of a sum of vectors",
        "participation_variance": "variance of a sum over a random cohort",
        "perturbed_inner_product": "inner product of a gradient at one point with the difference of two others",
        "psi": "weighted mean of the increments of a recursion",
        "sampling_variance": "variance of a mean of vectors drawn without replacement",
        "summed_epoch_drift2": "squared distances of the starts of the epochs of a round from its start, summed",
        "visit_drift": "mean squared distance of the local iterates of a visit from its start",
        "visit_error2": "squared distance of a visit's mean gradient from the client's gradient at its start",
        "visit_shortfall": "what a visit's mean gradient lacks of the client's progress towards the minimiser",
        "upper_model": "quadratic upper model of f at the point of one device",
    }
)

# The group of keys whose values change from round to round: a run computes them, beside the metric.
OF_A_ROUND = "round/"


class Kind(StrEnum):
    """What sort of claim it is; it decides how a curve is compared."""

    UPPER_BOUND = "upper bound"  # metric <= bound at every index
    LOWER_BOUND = "lower bound"  # metric >= bound; of numbers alone (`Metric.value`)
    EQUALITY = "equality"  # metric == bound at every index
    LIMSUP = "limsup"  # limsup of scaled metric <= bound
    LIMIT = "limit"  # the metric tends to the bound exactly when the conditions hold
    FORMULA = "formula"  # a derived quantity without another side; evaluated, not compared

    @property
    def sign(self) -> str:
        """The relation of the metric to the bound, "<=", ">=" or "="."""
        if self is Kind.LOWER_BOUND:
            return ">="
        return "<=" if self in (Kind.UPPER_BOUND, Kind.LIMSUP) else "="

    @property
    def limit(self) -> str:
        """The limit over the index that the claim is about, "limsup" or "lim"; empty for other claims."""
        return {Kind.LIMSUP: "limsup", Kind.LIMIT: "lim"}.get(self, "")

    @property
    def at_every_index(self) -> bool:
        """Whether the claim is made for each value of the index."""
        return self in (Kind.UPPER_BOUND, Kind.EQUALITY)


class Average(StrEnum):
    """How a metric is summarised over rounds; the comparison carries it out."""

    LAST = "last"  # the quantity after `rounds` rounds
    MEAN = "mean"  # its mean over the points, by the weights
    LEAST = "least"  # its least value at the points, in every run by itself
    DRAWN = "drawn"  # its value at one of the points, drawn by the weights: in expectation the mean


class Belief(StrEnum):
    """What the project holds of the claim; evidence is kept apart from it."""

    TRUE = "believed true"
    FALSE = "false"
    OPEN = "open"


@dataclass(frozen=True)
class Source:
    """Where the claim is printed; captions, which decide nothing.

    paper: text is taken as its title. where: equation, theorem and section, in words.
    """

    paper: Paper
    number: str
    where: str

    def __init__(self, paper: Paper | str, number: str, where: str) -> None:
        object.__setattr__(self, "paper", Paper(paper) if isinstance(paper, str) else paper)
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "where", where)


@dataclass(frozen=True)
class Metric:
    """What is bounded.

    quantity: a metric of problems or of methods ("dist2", "gap", "grad2", "x", ...), "constant:participation/M" for the
    constant of method and problem with that key (compared without a run, see `evidence.constant_claims`), or "none" for
    a formula; another name is refused. measured: the quantity is one of another package's problem or of a curve that
    was measured elsewhere, under a name of its own.
    index: the symbol that counts (None: one number of rounds only). rounds: SymPy expression of the communication
    rounds done at that index; rounds between are not compared. scale: the metric is multiplied by this SymPy expression
    first (K**2 in a limsup). dimension: of quantity times scale.
    average: how the quantity is summarised, a word of `Average`. All but "last" are over the points after
    r = 0, ..., rounds - 1 finished rounds, with_last: and after `rounds`. weights: of "mean" and "drawn", in proportion
    to this SymPy expression in `ROUND` and the statement's symbols (default 1: all alike).
    expectation: over what, in words. Only whether it begins with "none" decides something: then the claim is about
    every outcome, in proofs and for curves measured elsewhere. The rest is a caption: runs are compared in the
    expectation over all that is random in them.
    surrogate: the quantity is that of the objective which the method really minimises (fhat of FedShuffleGen), the
    constants of the objective too.
    value: None, or the metric itself as a SymPy expression in the statement's symbols; such a claim is about numbers
    and compared without a run, and the quantity is a caption. where: with a value, what symbols of the statement are in
    terms of others (a squared norm, of the entries of the vector), as pairs of a name and a SymPy expression: free
    data, at one small size. meets: names of those assumptions of the statement that all such data satisfy.
    Raises BadInput for a word or a part that does not go with the average.
    """

    quantity: str
    dimension: Dimension | None
    index: str | None = None
    rounds: Any = sp.S.Zero
    scale: Any = sp.S.One
    average: Any = Average.LAST
    expectation: str = "none: the method is deterministic"
    weights: Any = None
    surrogate: bool = False
    value: Any = None
    where: tuple[tuple[str, Any], ...] = ()
    meets: tuple[str, ...] = ()
    with_last: bool = False
    measured: bool = False

    def __post_init__(self) -> None:
        words = [a.value for a in Average]
        if self.average not in words:
            raise BadInput(
                f"the metric's average is {str(self.average)[:80]!r}; it is one of {', '.join(words)}: at the last "
                "point, the mean (with weights), the least value so far, or at a point drawn at random by weights."
            )
        own = Average(self.average)
        object.__setattr__(self, "average", own)
        if own in (Average.MEAN, Average.DRAWN) and self.weights is None:
            object.__setattr__(self, "weights", sp.S.One)
        if own in (Average.LAST, Average.LEAST) and self.weights is not None:
            raise BadInput(f"the metric's average is '{own}', which has no weights; write average = 'mean' or 'drawn'.")
        if own is Average.LAST and self.with_last:
            raise BadInput("the metric's average is 'last', which is the last point; leave with_last out.")
        if own is Average.DRAWN and self.expectation.startswith("none"):
            raise BadInput("the metric's average is 'drawn', so that expectation says over what, the draw included.")
        if self.over_rounds and (self.value is not None or self.quantity.partition(":")[0] in ("none", "constant")):
            raise BadInput(f"the metric '{self.quantity}' has no rounds, so that its average can only be 'last'.")

    @classmethod
    def last(
        cls, quantity: str, dimension: Dimension | None, *, index: Any = None, rounds: Any = None, **more: Any
    ) -> Self:
        """The quantity after `rounds` rounds.

        index: a symbol of the statement, whose value is the number of rounds unless `rounds` says otherwise; None for
        one number of rounds, by default none. more: further fields of `Metric`.
        """
        done = sp.sympify((0 if index is None else index) if rounds is None else rounds)
        return cls(quantity, dimension, None if index is None else index.name, done, **more)

    @classmethod
    def mean(cls, quantity: str, dimension: Dimension | None, **more: Any) -> Self:
        """The mean of the quantity over the points before `rounds` rounds are done; more: as in `last`."""
        return cls.last(quantity, dimension, average=Average.MEAN, **more)

    @classmethod
    def least(cls, quantity: str, dimension: Dimension | None, **more: Any) -> Self:
        """The least value of the quantity at these points, in every run by itself; more: as in `last`."""
        return cls.last(quantity, dimension, average=Average.LEAST, **more)

    @classmethod
    def drawn(cls, quantity: str, dimension: Dimension | None, **more: Any) -> Self:
        """The quantity at one of these points, drawn by the weights; more: as in `last`, with the expectation."""
        return cls.last(quantity, dimension, average=Average.DRAWN, **more)

    @classmethod
    def constant(cls, key: str, dimension: Dimension, of: str, **more: Any) -> Self:
        """The constant with this key; of: what it belongs to, in words (the schedule)."""
        return cls(f"constant:{key}", dimension, expectation=f"none: a constant of {of}", **more)

    @classmethod
    def formula(
        cls,
        dimension: Dimension | None,
        value: Any = None,
        *,
        quantity: str = "none",
        where: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Self:
        """A number: the metric is `value`, computed from symbols and data, without a run; None for the bound alone.

        where: symbol -> formula, the data behind symbols of the bound. quantity: a caption. more: further fields of
        `Metric`.
        """
        return cls(quantity, dimension, value=value, where=tuple((where or {}).items()), **more)

    @property
    def over_rounds(self) -> bool:
        """Whether it needs the quantity of every round, not only of the last."""
        return self.average != Average.LAST

    @property
    def more_points(self) -> int:
        """How many more points than rounds it is over, 0 or 1."""
        return int(self.with_last)

    def weights_at(self, values: Mapping[str, Fraction]) -> Any:
        """The weights as an expression in `ROUND` alone; values: of the other symbols, by name."""
        others = self.weights.free_symbols - {ROUND}
        return self.weights.subs({s: sp.Rational(*values[s.name].as_integer_ratio()) for s in others})


def counters(where: str) -> tuple[Any, ...]:
    """The symbols that an expression of a statement may have without declaring them."""
    if where.startswith(ALGORITHMS):
        return (ROUND, ITERATION) if where.removeprefix(ALGORITHMS) in LOCAL_STEP_SIZES else (ROUND,)
    return (ROUND,) if where == "the metric's weights" else ()


ALGORITHMS = "the algorithm's "  # how the label of an expression of `Algorithm.steps` begins


@dataclass(frozen=True)
class Algorithm:
    """Which method the claim is about; every part decides, and a name that does not exist is refused.

    kind: its name under `boundcheck.methods`. parameters: the symbols that it sets; each has a key "method/...". steps:
    what the claim prescribes for parameters of the kind, as pairs of a name ("eta", "eta_g", "momentum_g", "E") and a
    SymPy expression in `ROUND` (finished rounds, 0 in the first), for local step sizes also in `ITERATION`, and the
    statement's symbols; a run with another value is out of scope. A step size that is not listed is constant.
    any_value: parameters of the kind for whose every value the claim is made. Of a parameter that needs a value, or has
    another than its default (a number, text or table), and that neither these nor a hypothesis decides, a verdict takes
    for granted that it may have any.
    """

    kind: str
    parameters: tuple[str, ...] = ()
    steps: tuple[tuple[str, Any], ...] = ()
    any_value: tuple[str, ...] = ()


def check_metric(metric: Metric, label: str) -> None:
    """Raises UnknownName for a quantity that nothing provides. label: how the message calls the statement."""
    if metric.quantity.startswith("constant:"):
        check_key(metric.quantity.removeprefix("constant:"), f"{label}: the metric has")
    elif metric.value is None and not metric.measured:
        known = {*QUANTITIES, *PROOF_QUANTITIES, "none", *providers.load(providers.NAMES, "metrics").meanings()}
        if metric.quantity.partition(":")[0] not in known:
            hint = "no problem or method provides it; write measured=True for a quantity of your own"
            raise UnknownName(f"{label}: {hint}: the metric", metric.quantity, sorted(known))


def check_algorithm(algorithm: Algorithm, label: str) -> None:
    """Raises UnknownName for a method that does not exist, or a parameter that its kind does not have."""
    methods = providers.load(providers.NAMES, "methods")
    if algorithm.kind not in methods.kinds():
        raise UnknownName(f"{label}: the algorithm", algorithm.kind, methods.kinds())
    named = [*(name for name, _ in algorithm.steps), *algorithm.any_value]
    own = sorted({*STEP_SIZES, *methods.kind_of(algorithm.kind).parameters()}) if named else []
    for name in named:
        if name not in own:
            raise UnknownName(f"{label}: the algorithm {algorithm.kind}, parameter", name, own)
