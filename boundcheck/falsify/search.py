"""Search for a counterexample: seeded random and local search, then a witness in exact arithmetic.

A generator makes instances that the statement is about. It knows the statement's symbols, conditions, bound and
hypotheses, and no paper. Instances whose score is positive in double precision are simplified to short fractions as
long as the violation, certified constants and scope included, survives in exact arithmetic. A search that finds nothing
proves nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.core.cards import Card
from boundcheck.core.numbers import format_short
from boundcheck.engines.curve import Floats
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.claim_result import Claim, ClaimResult, claim_card, claim_columns, claim_picture
from boundcheck.evidence.witness import Witness
from boundcheck.falsify.float_statement import PROMISING
from boundcheck.falsify.free_numbers import FreeNumbers
from boundcheck.falsify.generator import Generator
from boundcheck.falsify.runs import Runs
from boundcheck.falsify.shrinking import short_instance, shrink
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.theory.free_data import about_numbers
from boundcheck.theory.results import Picture, Result, shortened
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Outcome, plain

PARENTS = 16  # instances of a generation for each of those from which the next one comes
GENERATIONS = 14  # of a shape
WIDTH = 0.4  # standard deviation of a mutation, for each child times a number of its own
FEW = 100  # a shape with batches of at most this many instances is slow, and has fewer generations:
SHORT = 4
REACH = 4.0  # standard deviations within which genes stay, which bounds the condition numbers
VARIED = 0.4  # share of the starts that are variants of the best of a niche
AGAIN = 0.3  # and of these the share that have its shape
HALVES = (0, 2)  # generations after which a start that is worse than the median of the starts so far is given up
FIRST = 5  # and one that is worse than the best of its niche
PATIENT = 0.3  # share of the starts that are compared within their niche alone
STARTS = 32  # shapes of an epoch
MISSES = 6  # instances of a shape that may turn out to break nothing before no more of it are tried
TRIED = 3  # instances of a generation that are tried in exact arithmetic


@dataclass(frozen=True)
class State:
    """Where a search ended: its epoch, which begins anew, the instances before, and the best score of these."""

    epoch: int = 0
    instances: int = 0
    best: float = -np.inf


@dataclass(frozen=True, repr=False)
class FalsifyResult(Result):
    """What a search did. witness: None when nothing was found.

    best: the largest score seen in double precision; a positive one would be a violation there. A score is
    log(metric/bound), in units of the promised decrease log(trivial/bound) if that is below 1; -inf if no instance was
    within the statement's hypotheses. searched: see `Generator.searched`. nearest: the instance that came nearest, with
    the "ratio" of metric to bound there: the bound divided by less would be false. epoch: see `State`. claimed: the
    statement, where the result was not read from data.
    """

    statement: str
    witness: Witness | None
    best: float
    instances: int
    seconds: float
    seed: int
    budget: float
    searched: Mapping[str, str] = field(default_factory=dict[str, str])
    nearest: Mapping[str, Any] = field(default_factory=dict[str, Any])
    epoch: int = 0
    interrupted: bool = False
    claimed: Statement | None = field(default=None, compare=False)

    @property
    def state(self) -> State:
        """Where the search ended, for `falsify(..., after=)`."""
        return State(self.epoch, self.instances, self.best)

    @property
    def best_words(self) -> str:
        """How near the best instance came, or why there is no best one, as the end of a sentence."""
        if self.best == -np.inf:
            return "no instance was within the statement's domain, conditions and hypotheses, and had a bound"
        return f"best score {self.best:.4g}" if np.isfinite(self.best) else "the best run diverged, or its bound is 0"

    @property
    def nearest_words(self) -> str:
        """The instance that came nearest, and how near, in one sentence without its end."""
        ratio = format_short(Fraction(float(self.nearest["ratio"])), 4)
        rest = {name: value for name, value in self.nearest.items() if name != "ratio"}
        return f"metric/bound = {ratio} at {json.dumps(rest)}"

    @property
    def searched_words(self) -> str:
        """What was searched, in one sentence without its end."""
        return "; ".join(f"{name}: {what}" for name, what in self.searched.items()) or "numbers alone, without a method"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; `from_dict` restores it."""
        own = {f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name not in ("witness", "claimed")}
        return {"schema": 1, **own, "witness": None if self.witness is None else self.witness.to_dict()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> FalsifyResult:
        """Inverse of `to_dict`. Raises BadInput where an entry of the witness is missing, KeyError for another one."""
        found = None if data["witness"] is None else Witness.from_dict(data["witness"])
        best = float(data["best"])
        counts = int(data["instances"]), float(data["seconds"]), int(data["seed"]), float(data["budget"])
        more = dict(data.get("searched", {})), dict(data.get("nearest", {})), int(data.get("epoch", 0))
        return FalsifyResult(str(data["statement"]), found, best, *counts, *more, bool(data.get("interrupted", False)))

    def __repr__(self) -> str:
        found = "nothing found" if self.witness is None else "a counterexample"
        tried = f"{self.instances} instances, seed {self.seed}, {self.best_words}"
        return shortened(f"<FalsifyResult {self.statement}: {found}; {tried}>")

    @cached_property
    def replayed(self) -> ClaimResult | None:
        """The counterexample, or else the instance that came nearest, run again; None without either."""
        if self.witness is not None:
            return run_claim(self.witness.claim())
        own: dict[str, Any] = {name: value for name, value in self.nearest.items() if name != "ratio"}
        return run_claim(Claim(self._claimed()[0], **own)) if own else None

    def _claimed(self) -> tuple[Statement]:
        if self.witness is not None:
            return (self.witness.claim().claimed,)
        return (find_statement(self.statement) if self.claimed is None else self.claimed,)

    def _columns(self) -> dict[str, list[Any]]:
        """The points of `replayed`, and whether it is a counterexample; one row where nothing was within the scope."""
        columns = {} if self.replayed is None else claim_columns(self.replayed)
        count = max(map(len, columns.values()), default=1)
        return {**columns, "counterexample": [self.witness is not None] * count}

    def _picture(self) -> Picture:
        return Picture({}, "", "") if self.replayed is None else claim_picture(self.replayed)

    def _card(self) -> Card:
        """Without a witness what was tried; with one its instance, and the run beside the bound."""
        tried = f"{self.instances} instances in {self.seconds:.3g} s, seed {self.seed}, {self.best_words}"
        what = ("searched", self.searched_words)
        if self.witness is None:
            near = [("nearest", self.nearest_words)] if self.nearest else []
            return Card(f"{self.statement}: nothing found, which proves nothing", [("tried", tried), what, *near])
        assert self.replayed is not None
        shown = claim_card(self.replayed)
        instance = {"problem": self.witness.problem, "method": self.witness.method, "at": self.witness.at}
        facts = [("tried", tried), what, *((name, json.dumps(dict(value))) for name, value in instance.items())]
        return replace(shown, title=f"{self.statement}: a counterexample", facts=[*facts, *shown.facts])


def generator_for(statement: Statement) -> Generator:
    """The generator for the statement's numbers or runs. Raises Unsupported if no instance fits."""
    return FreeNumbers(statement) if about_numbers(statement) else Runs(statement)


def falsify(
    statement: Statement,
    *,
    budget: float = 60.0,
    seed: int = 0,
    max_instances: int | None = None,
    on_progress: Callable[[float, float], None] | None = None,
    after: State | None = None,
) -> FalsifyResult:
    """Search for an instance in scope on which the metric exceeds the bound.

    budget: seconds. max_instances: instances after which it stops. Either only ends the search: what a seed finds does
    not depend on the clock. on_progress: called with (finished share, best score). after: where an earlier search with
    this seed ended, from which it goes on. An interruption (Ctrl-C) ends the search with what there is. Raises
    Unsupported for a statement that no instance fits.
    """
    found = _Search(generator_for(statement), seed, after or State())
    began = time.monotonic()

    def spent() -> bool:
        done = (time.monotonic() - began) / budget if max_instances is None else found.instances / max_instances
        if on_progress is not None:
            on_progress(min(1.0, done), found.best)
        return done >= 1

    witness, interrupted = None, False
    try:
        witness = found.run(spent)
    except KeyboardInterrupt:
        interrupted = True
    seconds, near = time.monotonic() - began, {} if witness is not None or interrupted else found.nearest()
    how = found.generator.searched, near, found.epoch, interrupted, statement
    return FalsifyResult(statement.best_id, witness, found.best, found.instances, seconds, seed, budget, *how)


@dataclass(frozen=True)
class _Niche:
    """The best of the starts in a niche: its score and shape, and the genes of its best instances."""

    score: float
    shape: Any
    genes: Floats


@dataclass
class _Epoch:
    """What an epoch knows. halves: the best scores so far of its starts after some generations."""

    random: np.random.Generator
    niches: dict[Any, _Niche] = field(default_factory=dict[Any, _Niche])
    halves: dict[int, list[float]] = field(default_factory=lambda: {number: [] for number in HALVES})


class _Search:
    """A search on its way. Its epochs, of `STARTS` shapes each, depend on the seed and their number alone."""

    def __init__(self, generator: Generator, seed: int, after: State) -> None:
        self.generator, self.seed = generator, seed
        self.epoch, self.instances, self.best = after.epoch, after.instances, after.best
        self._closest: tuple[Any, Mapping[str, Any]] | None = None
        self._near = -np.inf

    def run(self, spent: Callable[[], bool]) -> Witness | None:
        """The witness that is found before everything is spent."""
        while True:
            epoch = _Epoch(np.random.default_rng([self.seed, self.epoch] if self.epoch else self.seed))
            for _ in range(STARTS):
                witness, ended = self._start(epoch, spent)
                if witness is not None or ended:
                    return witness
            self.epoch += 1

    def _begun(self, epoch: _Epoch) -> tuple[Any, Floats]:
        """A shape and the genes of its first generation: at random, or from the best of a niche."""
        random, generator, shape, parents = epoch.random, self.generator, None, None
        if epoch.niches and generator.varies and random.random() < VARIED:
            ranked = sorted(epoch.niches.values(), key=lambda own: -own.score)
            best = ranked[int(len(ranked) * random.random() ** 2)]
            shape = best.shape if random.random() < AGAIN else generator.varied(best.shape, random)
            parents = best.genes
        if shape is None:
            shape, parents = generator.draw(random), None
        count = generator.batch(shape)
        genes = random.standard_normal((count, sum(int(np.prod(size)) for size in generator.genes(shape).values())))
        if parents is not None and parents.shape[1] == genes.shape[1]:
            genes[: count // 2] = _offspring(parents[: count // 4], random, count // 2)
        return shape, genes

    def _start(self, epoch: _Epoch, spent: Callable[[], bool]) -> tuple[Witness | None, bool]:
        """Instances of a shape and a local search from the best: a witness, and whether everything is spent."""
        generator, random = self.generator, epoch.random
        shape, genes = self._begun(epoch)
        sizes, count, niche = generator.genes(shape), len(genes), generator.niche(shape)
        reached, misses, parents = -np.inf, 0, genes
        known = epoch.niches[niche].score if niche in epoch.niches else -np.inf
        compared = epoch.halves if random.random() > PATIENT else {}
        for number in range(GENERATIONS if count > FEW else SHORT):
            numbers = generator.decode(shape, _named(genes, sizes))
            scores = _best(generator.scores(shape, numbers))
            self.instances += len(scores)
            order = np.argsort(-scores)
            reached = max(reached, float(scores[order[0]]))
            if reached > self._near:
                self._near, self._closest = reached, (shape, _one(numbers, int(order[0])))
            self.best = max(self.best, reached)
            for k in order[:TRIED]:
                if scores[k] > PROMISING and (misses < MISSES or not generator.varies):
                    found_by = {"search": "falsify", "seed": self.seed, "budget": f"{self.instances} instances"}
                    witness = shrink(generator, shape, _one(numbers, int(k)), found_by)
                    if witness is not None:
                        return witness, False
                    misses += 1
            if spent():
                return None, True
            parents = genes[order[: max(count // PARENTS, 2)]]
            epoch.halves.get(number, []).append(reached)
            lost = reached < (known if number == FIRST else np.median(compared.get(number, [-np.inf])))
            if generator.varies and (reached == -np.inf or lost):
                break
            genes = _offspring(parents, random, count)
        if reached > known:
            epoch.niches[niche] = _Niche(reached, shape, parents)
        return None, False

    def nearest(self) -> dict[str, Any]:
        """The instance that came nearest, in short fractions, with metric over bound there; empty where it has none."""
        if self._closest is None:
            return {}
        shape, numbers = self._closest
        scores = [(index, float(score[0])) for index, score in self.generator.scores(shape, numbers)]
        if not scores or max(score for _, score in scores) == -np.inf:
            return {}
        index = max(scores, key=lambda own: own[1])[0]
        claim = self.generator.claim(short_instance(shape, self.generator.settled(shape, numbers), index))
        try:
            result = run_claim(claim)
        except BoundcheckError:
            return {}
        if result.verdict.outcome is not Outcome.HOLDS or not result.bound:
            return {}
        own = {"problem": claim.problem, "method": result.method, "at": claim.at, "constants": claim.constants}
        pairs = [(m, b) for m, b in zip(result.metric_high, result.bound, strict=True) if b > 0]
        ratio = max((m / b for m, b in pairs), default=np.nan)
        if not np.isfinite(ratio):
            return {}
        return {"ratio": float(ratio), **{name: plain(dict(value)) for name, value in own.items() if value}}


def _one(numbers: Mapping[str, Any], k: int) -> dict[str, Any]:
    """Instance k of a batch, as a batch of one."""
    return {name: values[k : k + 1] for name, values in numbers.items()}


def _named(genes: Floats, sizes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """The genes (B, G) as the named arrays of a generator, (B, *size) each."""
    ends = np.cumsum([int(np.prod(size)) for size in sizes.values()])
    parts = np.split(genes, ends[:-1], axis=1)
    return {name: part.reshape(len(genes), *size) for (name, size), part in zip(sizes.items(), parts, strict=True)}


def _best(scores: Iterable[tuple[int, Floats]]) -> Floats:
    """The largest score of each instance over the values of the index, (B,)."""
    return np.max([score for _, score in scores], axis=0)


def _offspring(parents: Floats, random: np.random.Generator, count: int) -> Floats:
    """The parents and mutants of them, a whole batch; each child has a width of its own."""
    children = parents[random.integers(len(parents), size=count - len(parents))]
    mask = random.random(children.shape) < 0.5
    width = WIDTH * np.exp(random.standard_normal((len(children), 1)))
    children = children + width * mask * random.standard_normal(children.shape)
    return np.clip(np.concatenate([parents, children]), -REACH, REACH)
