"""Instances for statements about runs: random quadratic problems under random methods, many at a time.

Nothing here knows a paper or a method. A shape is a form of problems with a method; the exact reader carries all
instances of a batch out together (`engines.exact.stacks`). The numbers of a method that are drawn are the same for a
batch, and where the statement limits a step size the problems are scaled until the step has the wanted share of its
limit; the numbers that a statement prescribes are those of each instance (`engines.exact.each`).

A statement that prescribes whole numbers, or numbers that depend on its index, that is about limits or constants,
or needs constants that are not known for batches is carried out claim by claim, which is slower; so are problems by
pieces.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.run import check_metrics
from boundcheck.engines.exact.stacks import Instances, StackRing
from boundcheck.errors import BoundcheckError, Unsupported
from boundcheck.evidence.open_step_sizes import START, TUNED, first_method
from boundcheck.falsify import methods, pieces, quadratics
from boundcheck.falsify.constants import Constants, is_shared
from boundcheck.falsify.float_statement import FloatStatement
from boundcheck.falsify.generator import BATCH, Generator, Genes, Numbers, shares
from boundcheck.falsify.pieces import Pieces
from boundcheck.falsify.quadratics import Form, Wanted
from boundcheck.methods.build import known_kinds
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.setting.user_constants import is_library
from boundcheck.theory.keys import name_of
from boundcheck.theory.quantities import PROOF_QUANTITIES, round_symbols
from boundcheck.theory.statement import Average, Kind, Statement
from boundcheck.theory.symbols import Symbol

TRIES = 400  # methods and forms that are tried for a shape
PIECES = 0.05  # share of the shapes whose problems are by pieces, where others can be had
HOPELESS = 8  # of one kind without one that fits, after which it is left out
BLOCKS = (2, 2, 3, 3, 4, 6)  # coordinates of problems whose blocks are averaged
LONG = 10  # local steps where both sides are quantities of a round, in fractions
EPOCHS = 3  # over samples that differ
SINGLE = 12  # instances of a shape that is carried out claim by claim
WORK = 25 * 10**7  # multiplications of a batch, which bound its instances
LEAST = 1  # instances of a batch


@dataclass(frozen=True, eq=False)
class Shape:
    """What a batch has in common.

    form: of the problems; spec: of the method, whose step size is called `step` (None: it has none). free: values of
    symbols that a reader chooses. like: a problem of the form with the method. slow: why claims are
    carried out one by one. count: instances of a batch.
    """

    form: Form | Pieces
    spec: Mapping[str, Any]
    step: str | None
    free: Mapping[str, str] = field(default_factory=dict[str, str])
    like: Setting | None = None
    slow: str = ""
    count: int = BATCH


class Shapes(Generator):
    """Shapes for statements about runs of a method, or about constants of method and problem."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        if statement.kind is Kind.FORMULA:
            raise Unsupported(f"{statement.best_id} is a formula without another side, which no instance can break.")
        quantity = statement.metric.quantity
        if quantity in PROOF_QUANTITIES:
            raise Unsupported(
                f"{statement.best_id} is about '{quantity}', a quantity of its proof that no run measures."
            )
        if statement.algorithm is not None and statement.algorithm.kind == "composed":
            raise Unsupported(
                f"{statement.best_id} is about 'composed', which leaves open who takes part and which samples a step "
                "uses; name a kind of method that fixes both."
            )
        open_ = [s.name for s in statement.symbols if not s.key and not s.free and not self.is_index(s)]
        if open_:
            raise Unsupported(
                f"{statement.best_id} has {', '.join(open_)}, to which the search gives no value: no problem and no "
                "method has it, and no reader may choose it."
            )
        own = {s.reported: s for s in statement.symbols if s.key.startswith(methods.METHOD)}
        self.size = next((own[name] for name in methods.STEPS if name in own), None)
        scope = {s.name for c in statement.conditions for s in c.relation.free_symbols}
        self.limited = self.size is not None and self.size.name in scope
        self.chosen = {statement.symbol(name).reported for name, _ in statement.choices}
        if statement.algorithm is not None:
            self.chosen |= set(dict(statement.algorithm.steps))
        self.claimed = FloatStatement(statement, None if self.size is None else self.size.name)
        self.in_units = bool(statement.dimension_errors())  # so that other units of f and x may break it
        self.powers = {s.key or s.name: s.dimension for s in statement.symbols}
        self.wanted = Wanted.of(statement)
        self.kinds = list(methods.kinds_for(statement))
        self._failed, self._reasons = Counter[str](), Counter[str]()
        self._used: dict[str, set[str]] = {"method": set(), "problems": set()}
        self._why = self._refused = ""
        self._ran = False  # whether one of the claims that were carried out one by one was in scope
        self.share_of_pieces = PIECES
        self.in_general = self._general()
        self.ring = StackRing()

    def _general(self) -> str:
        """Why all claims of the statement are carried out one by one; empty where they need not be."""
        statement = self.statement
        if statement.kind.limit:
            return "it is about a limit"
        if statement.metric.quantity.startswith("constant:"):
            return "it is about a constant"
        own = {s.name for _, e in statement.choices for s in e.free_symbols}
        if statement.metric.index in own or any(statement.symbol(name).integer for name, _ in statement.choices):
            return "it gives sizes of its method that are whole numbers or depend on its index"
        return ""

    @property
    def searched(self) -> dict[str, str]:
        found = {name: ", ".join(sorted(own)) for name, own in self._used.items() if own}
        if self._refused and not self._ran:
            found["none carried out"] = self._refused
        return found | ({"one by one": self._why} if self._why else {})

    # --- shapes -------------------------------------------------------------------------------------------------------

    def draw(self, random: np.random.Generator) -> Shape:
        for _ in range(TRIES):
            shape = self._drawn(random, self._kind(random))
            if shape is not None:
                self._used["method"].add(str(shape.spec["kind"]))
                self._used["problems"].add("piecewise quadratic" if isinstance(shape.form, Pieces) else "quadratic")
                self._why = shape.slow or self._why
                return shape
            if not self.kinds:
                break
        why = "; ".join(reason for reason, _ in self._reasons.most_common(3))
        raise Unsupported(f"{self.statement.best_id}: the search finds no instance that it is about: {why}.")

    def _kind(self, random: np.random.Generator) -> str:
        named = self.statement.algorithm
        if named is not None and named.kind in known_kinds() and (random.random() < 0.8 or len(self.kinds) < 2):
            return named.kind
        return str(random.choice(self.kinds))

    def _drawn(self, random: np.random.Generator, kind: str) -> Shape | None:
        """A shape with a method of this kind; None, and the reason is counted, where the statement is not about it."""
        named = self.statement.algorithm
        try:
            found = self.fitting(self._proposed(random, kind), random)
        except BoundcheckError as error:
            self._reasons[str(error).rstrip(".")] += 1
            self._failed[kind] += 1
            if named is not None:
                self.share_of_pieces = min(0.5, self.share_of_pieces + 0.01)
            if self._failed[kind] > HOPELESS and kind in self.kinds and (named is None or kind != named.kind):
                self.kinds.remove(kind)
            return None
        self._failed[kind] = -TRIES
        if not isinstance(found.form, Pieces):
            self.share_of_pieces = PIECES
        return found

    def varied(self, shape: Shape, random: np.random.Generator) -> Shape | None:
        kind, form, spec = str(shape.spec["kind"]), shape.form, dict(shape.spec)
        part = str(random.choice(["form", "flags", "flags", "number", "number", "method", "kind"]))
        if part == "form" and isinstance(form, Form):
            form = quadratics.draw(random, self.wanted, dims=(form.dim,), clients=len(form.sizes))
        elif part == "flags" and isinstance(form, Form):
            form = quadratics.varied(random, form)
        elif part == "number":
            again = methods.draw(self.statement, kind, random, form)
            name = str(random.choice([name for name in again if name != "kind"] or ["kind"]))
            spec[name] = again[name]
        else:
            other = kind if part == "method" else self._kind(random)
            spec = methods.draw(self.statement, other, random, form)
        try:
            return self.fitting(self._completed(spec, form, random), random)
        except BoundcheckError:
            return None

    def niche(self, shape: Shape) -> Any:
        form = shape.form
        own = (form.kind, form.dim, form.pushed) if isinstance(form, Form) else (form.knots, form.curved)
        return shape.spec["kind"], len(form.sizes), own

    def _proposed(self, random: np.random.Generator, kind: str) -> tuple[Shape, Method]:
        declared = {p.name for p in known_kinds()[kind].declared}
        if "tau" not in declared and random.random() < self.share_of_pieces:
            form: Any = pieces.draw(random, self.wanted)
        else:
            dims = BLOCKS if "tau" in declared else quadratics.DIMS
            form = quadratics.draw(random, self.wanted, dims=dims, rational=bool(self.statement.choices))
        return self._completed(methods.draw(self.statement, kind, random, form), form, random)

    def _completed(self, spec: dict[str, Any], form: Any, random: np.random.Generator) -> tuple[Shape, Method]:
        """The shape of a method on problems, not yet looked at."""
        stepped = any(name in spec for name in methods.STEPS)  # a step size that gives the prescribed sequence
        for name in self.chosen & {p.name for p in known_kinds()[spec["kind"]].declared}:
            if name not in methods.STEPS or name in spec or not stepped:
                spec[name] = TUNED
        step = next((name for name in methods.STEPS if name in spec), None)
        free = {s.name: methods.number_of(s, random) for s in self.statement.symbols if self._is_free(s)}
        method = first_method(spec)
        counts = [str(spec.get(name, 1)) for name in ("K", "E", "steps", "inner")]
        steps = max(int(count) for count in counts if count.isdigit())
        if round_symbols(self.statement) and steps > LONG:
            raise Unsupported(f"more than {LONG} local steps are not searched for quantities of a round")
        if _samples(method, form):
            if int(str(spec.get("E", 1))) > EPOCHS:  # the orders of samples make long visits expensive
                raise Unsupported(f"more than {EPOCHS} epochs are not searched")
        elif sum(form.sizes) > len(form.sizes) and not self._of_samples:
            form = form.without_samples()
        return Shape(form, spec, step, free), method

    def _is_free(self, symbol: Symbol) -> bool:
        """Whether a reader chooses the symbol's value."""
        return not symbol.key and not self.is_index(symbol)

    def fitting(self, proposed: tuple[Shape, Method], random: np.random.Generator) -> Shape:
        """The shape with a setting of one instance. Raises an error where the statement is not about such instances."""
        statement, (shape, method) = self.statement, proposed
        genes = {name: random.standard_normal((1, *size)) for name, size in self.genes(shape).items()}
        numbers = self.decode(shape, genes)
        exact = {name: rounded(v[0]) for name, v in numbers.items()}
        like = Setting(method, build_problem(shape.form.problem(exact)))
        method.check(like.clients, like.problem.dim)
        if statement.algorithm is not None and statement.algorithm.kind not in like.algorithms:
            raise Unsupported(f"the method '{method.name}' is no {statement.algorithm.kind} for some clients")
        if self.size is not None and not like.has(self.size.key):
            raise Unsupported(f"the method '{method.name}' has no step size {self.size.reported}")
        if statement.metric.surrogate:
            like = like.following()
        for assumption in statement.assumptions:
            answer = like.hypothesis(assumption.name) if is_library(assumption) else None
            if answer is None or answer.holds is None:
                raise Unsupported(f"it assumes {assumption.name}, which is not decided on its instances")
            if answer.holds is False:
                raise Unsupported(f"assumption {assumption.name} fails: {answer.why}")
        shape = replace(shape, like=like)
        shared = {key: float(like.constant(key).value) for key in self.keys if is_shared(key) and like.has(key)}
        failing = self.claimed.failing(shared)
        if failing is not None:
            raise Unsupported(f"the method '{method.name}' with such clients does not meet the condition '{failing}'")
        if self.in_general:
            return replace(shape, slow=self.in_general)
        if isinstance(shape.form, Pieces):
            if method.is_random(like.clients):
                raise Unsupported("random runs on problems by pieces are not searched")
            check_metrics(self.metrics, like.problem, like.method)
            self._lacking(shape, numbers)
            return replace(shape, slow="problems by pieces have no batches")
        if statement.metric.average is Average.LEAST and method.is_random(like.clients):
            raise Unsupported("the exact reader has no least value so far of a random run")
        check_metrics(self.metrics, like.problem, like.method)
        lacking = self._lacking(shape, numbers)
        if lacking:
            return replace(shape, slow=f"its constants {', '.join(lacking)} are not known for batches")
        before = self.ring.work
        if not self.fast(shape, numbers):
            raise Unsupported("no value of the index is a number of rounds that is searched")
        count = min(BATCH, WORK // max(self.ring.work - before, 1))
        if count < LEAST:
            raise Unsupported(f"a run of {method.name} is too long, or its state too large, for batches")
        return replace(shape, count=count)

    def _lacking(self, shape: Shape, numbers: Numbers) -> list[str]:
        """The keys that the statement needs and that are not known for batches; UnknownName where one is not there."""
        assert shape.like is not None
        rounds = set(round_symbols(self.statement).values())
        own = [key for key in self.keys if key not in rounds and key not in START]
        if isinstance(shape.form, Pieces):
            found = own
        else:
            known = Constants(self.instances(shape, numbers), shape.like)
            found = [key for key in own if known.of(key) is None]
        for key in found:
            shape.like.constant(key)
        return found

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics of a run from which both sides take their values."""
        of_rounds = {name_of(key) for key in round_symbols(self.statement).values()}
        starts = {START[key] for key in self.keys if key in START}
        return sorted({self.statement.metric.quantity} | of_rounds | starts)

    @cached_property
    def _of_samples(self) -> bool:
        """Whether the statement has constants of samples."""
        return any(key.startswith("samples/") for key in self.keys)

    @cached_property
    def keys(self) -> list[str]:
        """The keys of all symbols but the step size."""
        steps = () if self.size is None else (self.size.key,)
        return [s.key for s in self.statement.symbols if s.key and s.key not in steps and not self.is_index(s)]

    def is_index(self, symbol: Symbol) -> bool:
        """Whether a symbol is the statement's index."""
        return symbol.name == self.statement.metric.index

    # --- numbers ------------------------------------------------------------------------------------------------------

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        units = {"units": (2,)} if self.in_units and isinstance(shape.form, Form) else {}
        return {**shape.form.genes(), **units, "share": ()}

    def batch(self, shape: Shape) -> int:
        return SINGLE if shape.slow else shape.count

    def decode(self, shape: Shape, genes: Genes) -> Numbers:
        units = {"units": 10 ** (1.5 * genes["units"])} if "units" in genes else {}
        return {**shape.form.decode(genes), **units, "share": shares(genes["share"])}

    def instances(self, shape: Shape, numbers: Numbers) -> Instances:
        """A batch as the exact reader takes it, with the weights of the objective that the statement is about."""
        assert shape.like is not None
        assert not isinstance(shape.form, Pieces)
        found = shape.form.instances(numbers)
        weights = tuple(shape.like.problem.weights)
        return found if weights == found.weights else replace(found, weights=weights)

    @abstractmethod
    def fast(self, shape: Shape, numbers: Numbers) -> list[tuple[int, Floats]]:
        """The scores of a batch that is carried out together."""


def _samples(method: Method, form: Form) -> bool:
    """Whether a method takes steps along samples; False where it refuses the clients, too."""
    clients = Clients(form.weights, form.sizes)
    everyone = tuple(range(clients.count))
    try:
        visits = [v for i in everyone for _, v in method.local.visits(i, everyone, clients)]
    except BoundcheckError:
        return False
    return any(v.sampling not in ("full", "exact") for v in visits)


def rounded(values: Any) -> Any:
    """Short fractions near the numbers, of the same shape; what is small beside the largest becomes 0."""
    values = np.asarray(values, dtype=float)
    found: Any = np.empty(values.shape, dtype=object)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    found.flat = [Fraction(0) if abs(v) < 1e-9 * largest else _short(float(v)) for v in values.flat]
    return found


def _short(value: float) -> Fraction:
    exponent = int(np.floor(np.log2(abs(value))))
    return Fraction(round(value * 2.0 ** (10 - exponent))) * Fraction(2) ** (exponent - 10)
