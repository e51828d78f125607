"""The search for counterexamples to lemmas about one round of the asynchronous methods."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.evidence.witness import load_witness, replay, stands
from boundcheck.falsify.generators.lemma_rounds import LemmaRounds, Run
from boundcheck.falsify.search import falsify, generator_for
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.theory.discovery import statement
from boundcheck.theory.keys import CATALOGUE

WITNESSES = Path(__file__).parents[2] / "examples" / "witnesses"
FALSE = ("lemma_2", "lemma_3", "lemma_3_gradients", "lemma_4", "lemma_5", "lemma_6", "equation_105")
TRUE = (*(f"{name}/corrected" for name in FALSE), "equation_105/corrected_every_type")


@pytest.mark.parametrize("name", FALSE)
def test_the_search_finds_the_shipped_witness_again(name: str) -> None:
    shipped = load_witness(WITNESSES / f"async_fl_{name}_as_printed.json")
    budget = int(str(shipped.provenance["budget"]).split()[0])
    claimed = statement(f"async_fl/{name}/as_printed")
    again = falsify(claimed, seed=int(shipped.provenance["seed"]), max_instances=budget + 1)
    assert again.witness is not None
    found = (again.witness.problem, again.witness.method, again.witness.at)
    assert found == (shipped.problem, shipped.method, shipped.at)
    assert stands(replay(again.witness))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_seed_breaks_lemma_3_as_printed(seed: int) -> None:
    found = falsify(statement("async_fl/lemma_3/as_printed"), seed=seed, max_instances=8000)
    assert found.witness is not None
    assert stands(replay(found.witness))


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_survives_the_same_search(name: str) -> None:
    found = falsify(statement(f"async_fl/{name}"), seed=0, max_instances=2000)
    assert found.witness is None
    assert found.best < 1e-5  # an equality, up to rounding


@pytest.mark.slow  # a minute for each
@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_survives_a_long_search(name: str) -> None:
    assert falsify(statement(f"async_fl/{name}"), seed=1, max_instances=200_000).witness is None


def test_lemmas_are_searched_among_several_methods() -> None:
    generator: Any = generator_for(statement("async_fl/lemma_3/corrected"))
    assert isinstance(generator, LemmaRounds)
    random = np.random.default_rng(0)
    shapes = [generator.drawn(random) for _ in range(100)]
    assert len({shape.scheme["kind"] for shape in shapes}) == 7
    assert {shape.schedule.delay for shape in shapes} > {0, 1}
    assert {shape.noisy for shape in shapes} == {True, False}


@pytest.mark.parametrize("seed", range(3))
def test_every_quantity_is_that_of_the_exact_engine(seed: int) -> None:
    """Double precision against fractions, in runs of random shapes, with the constants of method and problem."""
    generator: Any = generator_for(statement("async_fl/lemma_3/as_printed"))
    random = np.random.default_rng(seed)
    shape = generator.draw(random)
    drawn = {name: random.standard_normal((1, *size)) for name, size in generator.genes(shape).items()}
    exact: dict[str, Any] = {}
    for name, values in generator.decode(shape, drawn).items():
        exact[name] = np.empty(values.shape[1:], dtype=object)
        exact[name].flat = [Fraction(round(float(v) * 64), 64) for v in values.flat]
    exact["c"] = exact["c"] + Fraction(1, 64)
    exact["eta"] = exact["eta"] + Fraction(1, 64)
    numbers = {name: values.astype(float)[None] for name, values in exact.items()}
    method, problem = build_method(generator.method(shape, exact)), build_problem(generator.problem(shape, exact))
    rounds = 5
    batch, steps = Run(shape, numbers), list[Any]()
    for n in range(rounds):
        steps.append(batch.quantities(n))
        batch.move(n)
    names = sorted(steps[0])
    curve = run(method, problem, rounds=list(range(rounds)), metrics=names, arithmetic="rational")
    for n, own in enumerate(steps):
        for name in names:
            expected = float(curve.exact[name][n])
            scale = max(abs(expected), 1e-9 * float(np.abs([step[name][0] for step in steps]).max()))
            assert own[name][0] == pytest.approx(expected, abs=1e-6 * scale), (shape, n, name)
    setting = Setting(method, problem)
    keys = {key.name: key.key for key in CATALOGUE.values()}
    keys |= {"L": "clients/L", "eta_l": "method/eta_l", "eta_g": "method/eta_g"}
    for name, value in generator.constants(shape, numbers).items():
        assert float(np.ravel(value)[0]) == pytest.approx(float(setting.constant(keys[name]).value), rel=1e-9), name
