"""The falsifier on clients with samples: its floats against the exact engine, what it breaks and what it must not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.witness import replay
from boundcheck.falsify.generator import BATCH, Numbers
from boundcheck.falsify.generators.reshuffled_samples import ReshuffledSamples, Shape, drift, moments
from boundcheck.falsify.generators.special import symmetric
from boundcheck.falsify.search import falsify
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.setting import describe_constants
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Grade, Outcome

PAPER = "fedshuffle"
FALSE = ("lemma_c_2", "lemma_e_4", "theorem_5_1_convex", "theorem_5_1_strongly_convex")


GENERATOR = ReshuffledSamples(statement(f"{PAPER}/lemma_c_2/as_printed"))


def instance(shape: Shape, seed: int) -> Numbers:
    random = np.random.default_rng(seed)
    sizes = GENERATOR.genes(shape)
    return GENERATOR.decode(shape, {name: 0.4 * random.standard_normal((3, *size)) for name, size in sizes.items()})


@pytest.mark.parametrize(
    "shape", [Shape((3, 2), 2, 2, Fraction(2)), Shape((2,), 1, 3, Fraction(1)), Shape((1, 3), 2, 1, Fraction(4))]
)
def test_its_floats_are_those_of_the_exact_engine(shape: Shape) -> None:
    found = instance(shape, 4)
    own = GENERATOR.constants(shape, found)
    eta_l = 0.3 / own["L"] / shape.E
    curves, first = moments(shape, found, eta_l, 3), drift(shape, found, eta_l)
    k, total = 1, sum(shape.sizes)
    A = [[str(Fraction(float(v))) for v in row] for row in symmetric(found["A"])[k]]
    clients = [
        {"components": [{"A": A, "b": [str(Fraction(float(v))) for v in b]} for b in samples[k]]}
        for samples in shape.pushes(found)
    ]
    start = [str(Fraction(float(v))) for v in found["start"][k]]
    weights = [str(Fraction(s, total)) for s in shape.sizes]
    problem = build_problem({"kind": "quadratics", "clients": clients, "weights": weights, "start": start})
    method = build_method(
        {"kind": "fedshuffle", "E": shape.E, "eta_g": shape.eta_g, "eta_l": Fraction(float(eta_l[k]))}
    )
    exact = run(method, problem, rounds=[0, 1, 2, 3], metrics=["dist2", "gap", "grad2", "drift"])
    for name, curve in curves.items():
        assert exact.values[name] == pytest.approx(curve[k], rel=1e-9)
    assert exact.values["drift"][0] == pytest.approx(first[k], rel=1e-9)
    known = describe_constants(method, problem)
    for name, value in own.items():
        if name in known:
            assert float(known[name].value) == pytest.approx(
                float(np.broadcast_to(value, 3)[k]), rel=1e-9, abs=1e-12
            ), name
    assert {"L_ij", "mu_ij", "G2", "B2", "P2", "noise2", "M", "W", "noise2_gen", "gap_0"} <= set(own) & set(known)


@pytest.mark.parametrize("name", FALSE)
def test_the_printed_statements_are_broken(name: str) -> None:
    found = falsify(statement(f"{PAPER}/{name}/as_printed"), seed=0, max_instances=60_000)
    assert found.witness is not None
    again = replay(found.witness)
    assert (again.outcome, again.grade) == (Outcome.VIOLATED, Grade.EXACT)
    result = run_claim(found.witness.claim())
    assert result.verdict.details["scope"]["in_scope"] is True
    assert set(result.verdict.details["assumptions"].values()) == {"decided"}
    # the corrected statement holds on the same run, or does not speak of it
    corrected = run_claim(replace(found.witness.claim(), statement=f"{PAPER}/{name}/corrected"))
    assert corrected.verdict.outcome is not Outcome.VIOLATED


@pytest.mark.parametrize("reading", ["corrected", "sharp"])
@pytest.mark.parametrize("name", FALSE)
def test_the_corrected_statements_are_not(name: str, reading: str) -> None:
    found = falsify(statement(f"{PAPER}/{name}/{reading}"), seed=0, max_instances=8 * BATCH)
    assert found.witness is None
    assert found.best <= 1e-6


def test_one_seed_finds_one_witness() -> None:
    claimed = statement(f"{PAPER}/lemma_c_2/as_printed")
    first, again = (falsify(claimed, seed=3, budget=budget) for budget in (100, 1000))
    assert first.witness is not None
    assert first.witness == again.witness
