"""The falsifier on averaged blocks: its floats against the exact engine, what it breaks and what it must not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.witness import load_witness
from boundcheck.falsify.generator import BATCH, Numbers
from boundcheck.falsify.generators.averaged_blocks import AveragedBlocks, mean_grad2
from boundcheck.falsify.generators.block_constants import constants_of
from boundcheck.falsify.generators.block_shape import Shape, hessian, pushes
from boundcheck.falsify.search import falsify, generator_for
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.setting import describe_constants
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Grade, Outcome

PAPER = "partial_averaging"
WITNESSES = sorted((Path(__file__).parents[2] / "examples" / "witnesses").glob(f"{PAPER}_*.json"))
SLOW = f"{PAPER}_theorem_2_as_printed_appendix"
HALVES = (Fraction(1, 2), Fraction(1, 2))
THIRDS = (Fraction(1, 3),) * 3
BLOCKS = ((0, 2), (1,), (3,))

# partition, order, weights, data, coupled, rank, pairs, alike, scaled
SHAPES = {
    "IID": Shape(BLOCKS, (2, 0, 1), THIRDS, True, True, 2, 2, True, False),
    "IID, one direction": Shape(((1,), (0,)), (0, 1), THIRDS, True, True, 1, 1, True, False),
    "linear terms differ": Shape(BLOCKS, (0, 2, 1), HALVES, True, True, 3, 1, False, False),
    "curvatures differ": Shape(BLOCKS, (1, 0, 2), (Fraction(1, 4), Fraction(3, 4)), True, True, 4, 2, False, True),
    "plain averages": Shape(BLOCKS, (1, 0, 2), (Fraction(1, 4), Fraction(3, 4)), False, False, 4, 1, False, True),
}  # fmt: skip


def instance(shape: Shape) -> Numbers:
    """Three instances with eighths for numbers, but for the last client's linear term."""
    random = np.random.default_rng(3)
    generator = AveragedBlocks(statement(f"{PAPER}/theorem_1/corrected"))
    sizes = generator.genes(shape)
    found = generator.decode(shape, {name: 0.5 * random.standard_normal((3, *size)) for name, size in sizes.items()})
    return {name: np.round(8 * found[name]) / 8 for name in ("factor", "a", "b", "noise", "start")}


@pytest.mark.parametrize("name", SHAPES)
def test_its_floats_are_those_of_the_exact_engine(name: str) -> None:
    shape = SHAPES[name]
    found = instance(shape)
    k = int(np.argmax(np.ptp(found["a"], axis=1)))
    assert shape.scaled == (len(set(found["a"][k])) > 1)
    own = constants_of(shape, found)
    step = 0.2 / own["Lmax_G"]
    b = [[Fraction(float(v)) for v in row] for row in pushes(shape, found)[k]]
    b[-1] = [
        -sum((w * row[q] for w, row in zip(shape.weights, b[:-1], strict=False)), Fraction(0)) / shape.weights[-1]
        for q in range(shape.dim)
    ]
    clients: list[dict[str, Any]] = []
    for i in range(shape.m):
        A = (found["a"][k, i] * hessian(shape, found)[k]).tolist()
        signed = [(s * z).tolist() for z in found["noise"][k, i % found["noise"].shape[1]] for s in (1, -1)]
        vectors = [[str(v + Fraction(z)) for v, z in zip(b[i], own_z, strict=True)] for own_z in signed]
        clients.append({"components": [{"A": A, "b": v} for v in vectors]})
    weights = [str(w) for w in shape.weights]
    problem = build_problem(
        {"kind": "quadratics", "clients": clients, "weights": weights, "start": found["start"][k].tolist()}
    )
    spec = {"kind": "block_averaging", "tau": shape.tau, "partition": shape.partition, "order": shape.order}
    method = build_method({**spec, "eta": Fraction(float(step[k])), "weights": "data" if shape.data else "uniform"})
    curve = run(method, problem, rounds=list(range(16)), metrics=["grad2"]).values["grad2"]
    for K, mean in mean_grad2(shape, found, step):
        if K <= 16:
            assert mean[k] == pytest.approx(curve[:K].mean(), rel=1e-8)
    known = describe_constants(method, problem)
    compared = set(own) & set(known)
    assert set(own) - compared <= ({"Lmax_S", "sum_L_sigma2_S", "sum_L2_sigma2_S"} if shape.coupled else set())
    # where H has no full rank the search knows the clients' dissimilarity from above only
    above = {"kappa2", "kappa2_diss", *(f"sum_L2_kappa2_{s}" for s in "BSWG")} if shape.rank < shape.dim else set()
    for key in compared:
        exact, floating = float(known[key].value), float(own[key][k])
        if key in above:
            assert floating >= exact - 1e-9 * (1 + exact), key
        elif key.endswith("_S") and shape.coupled:
            continue  # the reading has no constants there
        else:
            assert exact == pytest.approx(floating, rel=1e-8, abs=1e-9), key


@pytest.mark.parametrize(
    "path", [pytest.param(p, marks=[pytest.mark.slow] if p.stem == SLOW else [], id=p.stem) for p in WITNESSES]
)
def test_a_shipped_witness_is_found_again_by_its_search_seed_and_budget(path: Path) -> None:
    shipped = load_witness(path)
    assert shipped.provenance["search"] == "falsify"
    count = int(str(shipped.provenance["budget"]).removesuffix(" instances"))
    found = falsify(statement(shipped.statement), seed=shipped.provenance["seed"], max_instances=count)
    assert found.witness == shipped
    assert found.instances == count
    result = run_claim(shipped.claim())
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.VIOLATED, Grade.EXACT)
    assert result.verdict.details["scope"]["in_scope"] is True
    assert set(result.verdict.details["assumptions"].values()) == {"decided"}


TRUE = ("theorem_1/corrected", "theorem_1/global", "theorem_1/separable", "theorem_2/corrected", "theorem_2/weighted",
        "theorem_2/separable", "theorem_2/as_printed_appendix_separable")  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_the_corrected_readings_are_not_broken(name: str) -> None:
    found = falsify(statement(f"{PAPER}/{name}"), seed=0, max_instances=6 * BATCH)
    assert found.witness is None
    assert found.instances >= 6 * BATCH
    assert np.log(0.2) < found.best < -1e-3  # not far from the bound, and below it


def test_a_bound_that_promises_too_much_is_broken() -> None:
    """Nothing of any paper is known to the search: it breaks a sound bound divided by 2 through the sound scope."""
    sound = statement(f"{PAPER}/theorem_1/corrected")
    found = falsify(replace(sound, bound=sound.bound / 2), seed=0, max_instances=8 * BATCH)
    assert found.witness is not None
    assert found.witness.verdict.grade is Grade.EXACT


def test_the_kind_of_method_chooses_the_generator() -> None:
    assert isinstance(generator_for(statement(f"{PAPER}/theorem_1/corrected")), AveragedBlocks)
