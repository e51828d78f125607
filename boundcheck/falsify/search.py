"""Search for a counterexample: seeded random and local search, then a witness in exact arithmetic.

A generator makes instances for the statement's kind of method. It knows the statement's symbols, conditions, bound and
hypotheses, and nothing else. Instances whose score is positive in double precision are simplified to short fractions as
long as the violation, certified constants and scope included, survives in exact arithmetic. A search that finds nothing
proves nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from boundcheck.core.cards import Card, Shown
from boundcheck.engines.curve import Floats
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.claim_card import claim_card
from boundcheck.evidence.witness import Witness
from boundcheck.falsify.float_statement import PROMISING
from boundcheck.falsify.free_numbers import FreeNumbers
from boundcheck.falsify.generator import Generator
from boundcheck.falsify.runs import Runs
from boundcheck.falsify.shrinking import shrink
from boundcheck.theory.free_data import about_numbers
from boundcheck.theory.statement import Statement
from boundcheck.verdict import plain

PARENTS = 16  # instances of a generation for each of those from which the next one comes
WIDTHS = tuple(0.6 * 0.85**k for k in range(14))  # standard deviations of the mutations, until the next shape
FEW = 100  # a batch of at most so many instances, which are carried out one by one, has fewer generations
REACH = 4.0  # standard deviations within which genes stay, which bounds the condition numbers
VARIED = 0.4  # share of the starts that are variants of the best shape of a niche
FIRST = 5  # generations after which a start that is worse than the best of its niche is given up
TRIED = 3  # instances of a generation that are tried in exact arithmetic


@dataclass(frozen=True)
class FalsifyResult(Shown):
    """What a search did. witness: None when nothing was found.

    best: the largest score seen in double precision; a positive one would be a violation there. A score is
    log(metric/bound), in units of the promised decrease log(trivial/bound) if that is below 1; -inf if no instance was
    within the statement's hypotheses. searched: see `Generator.searched`.
    """

    statement: str
    witness: Witness | None
    best: float
    instances: int
    seconds: float
    seed: int
    budget: float
    searched: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def best_words(self) -> str:
        """How near the best instance came, or why there is no best one, as the end of a sentence."""
        if self.best == -np.inf:
            return "no instance was within the statement's domain, conditions and hypotheses, and had a bound"
        return f"best score {self.best:.4g}" if np.isfinite(self.best) else "the best run diverged, or its bound is 0"

    @property
    def searched_words(self) -> str:
        """What was searched, in one sentence without its end."""
        return "; ".join(f"{name}: {what}" for name, what in self.searched.items()) or "numbers alone, without a method"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; `from_dict` restores it."""
        own = {f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name != "witness"}
        return {"schema": 1, **own, "witness": None if self.witness is None else self.witness.to_dict()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> FalsifyResult:
        """Inverse of `to_dict`. Raises BadInput where an entry of the witness is missing, KeyError for another one."""
        found = None if data["witness"] is None else Witness.from_dict(data["witness"])
        best = float(data["best"])
        counts = int(data["instances"]), float(data["seconds"]), int(data["seed"]), float(data["budget"])
        return FalsifyResult(str(data["statement"]), found, best, *counts, dict(data.get("searched", {})))

    def _card(self) -> Card:
        """Without a witness what was tried; with one its instance, and the run beside the bound."""
        tried = f"{self.instances} instances in {self.seconds:.3g} s, seed {self.seed}, {self.best_words}"
        what = ("searched", self.searched_words)
        if self.witness is None:
            return Card(f"{self.statement}: nothing found, which proves nothing", [("tried", tried), what])
        shown = claim_card(run_claim(self.witness.claim()))
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
) -> FalsifyResult:
    """Search for an instance in scope on which the metric exceeds the bound.

    budget: seconds. max_instances: instances after which it stops. Either only ends the search: what a seed finds
    does not depend on the clock. on_progress: called with (finished share, best score). Raises Unsupported for a
    statement that no generator serves (a limit, a formula, a metric that no run measures, ...).
    """
    generator = generator_for(statement)
    random = np.random.default_rng(seed)
    began = time.monotonic()
    best, instances = -np.inf, 0

    def result(witness: Witness | None) -> FalsifyResult:
        return FalsifyResult(
            statement.best_id, witness, best, instances, time.monotonic() - began, seed, budget, generator.searched
        )

    niches: dict[Any, tuple[float, Any]] = {}  # the best score and shape of each niche
    while True:
        shape = None
        if niches and random.random() < VARIED:
            ranked = sorted(niches.values(), key=lambda own: -own[0])
            shape = generator.varied(ranked[int(len(ranked) * random.random() ** 2)][1], random)
        shape = generator.draw(random) if shape is None else shape
        sizes = generator.genes(shape)
        count = generator.batch(shape)
        genes = random.standard_normal((count, sum(int(np.prod(size)) for size in sizes.values())))
        niche, reached = generator.niche(shape), -np.inf
        known = niches[niche][0] if niche in niches else -np.inf
        for number, width in enumerate(WIDTHS if count > FEW else WIDTHS[::4]):
            numbers = generator.decode(shape, _named(genes, sizes))
            scores = _best(generator.scores(shape, numbers))
            instances += len(scores)
            order = np.argsort(-scores)
            reached = max(reached, float(scores[order[0]]))
            best = max(best, reached)
            for k in order[:TRIED]:
                if scores[k] > PROMISING:
                    one = {name: values[k : k + 1] for name, values in numbers.items()}
                    found_by = {"search": "falsify", "seed": seed, "budget": f"{instances} instances"}
                    witness = shrink(generator, shape, one, found_by)
                    if witness is not None:
                        return result(witness)
            done = (time.monotonic() - began) / budget if max_instances is None else instances / max_instances
            if on_progress is not None:
                on_progress(min(1.0, done), best)
            if done >= 1:
                return result(None)
            if reached == -np.inf or (number == FIRST and reached < known):
                break
            genes = _offspring(genes[order[: max(count // PARENTS, 2)]], random, width, count)
        if reached > known:
            niches[niche] = (reached, shape)


def _named(genes: Floats, sizes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """The genes (B, G) as the named arrays of a generator, (B, *size) each."""
    ends = np.cumsum([int(np.prod(size)) for size in sizes.values()])
    parts = np.split(genes, ends[:-1], axis=1)
    return {name: part.reshape(len(genes), *size) for (name, size), part in zip(sizes.items(), parts, strict=True)}


def _best(scores: Iterable[tuple[int, Floats]]) -> Floats:
    """The largest score of each instance over the values of the index, (B,)."""
    return np.max([score for _, score in scores], axis=0)


def _offspring(parents: Floats, random: np.random.Generator, width: float, count: int) -> Floats:
    """The parents and mutants of them, a whole batch; width: standard deviation of the mutated genes."""
    children = parents[random.integers(len(parents), size=count - len(parents))]
    mask = random.random(children.shape) < 0.5
    children = children + width * mask * random.standard_normal(children.shape)
    return np.clip(np.concatenate([parents, children]), -REACH, REACH)
