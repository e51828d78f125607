"""The shrinker: it keeps the violation, shortens the numbers, and shrinks nothing that is not violated."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import BadInput
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.witness import load_witness, replay
from boundcheck.falsify.generator import Instance
from boundcheck.falsify.quadratics import Form, Wanted
from boundcheck.falsify.runs import Runs
from boundcheck.falsify.search import generator_for
from boundcheck.falsify.shapes import Shape
from boundcheck.falsify.shrinking import complexity, round_between, shrink
from boundcheck.methods.build import build as build_method
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Grade, Outcome

PRINTED = "scgd/theorem_3_3/as_printed_main"
SHIPPED = Path(__file__).parents[2] / "examples" / "witnesses" / "scgd_theorem_3_3_as_printed_main.json"


def two_clients(generator: Runs, steps: int) -> Shape:
    """Two clients in the plane without linear terms, under cycles of local steps."""
    half = Fraction(1, 2)
    form = Form((1, 1), (half, half), 2, "around", False, 2, False, 1.0, 0.1, Wanted.of(generator.statement))
    shape, spec = Shape(form, {"kind": "scgd", "E": steps, "eta": "1"}, "eta"), {"kind": "scgd", "E": steps, "eta": 1}
    return generator.fitting((shape, build_method(spec)), np.random.default_rng(0))


def test_shrinking_keeps_the_violation_and_shortens_the_numbers() -> None:
    """From a noisy copy of the shipped instance; the step is the largest one in scope."""
    random = np.random.default_rng(5)
    witness = load_witness(SHIPPED)
    clients = [[[float(Fraction(v)) for v in row] for row in c["A"]] for c in witness.problem["clients"]]
    A = np.array([[(a[0][0], a[0][1], a[1][1]) for a in clients]])
    numbers = {
        "A": A + random.uniform(-1e-6, 1e-6, size=A.shape),
        "b": np.zeros((1, 1, 2)),
        "z": np.zeros((1, 0, 2)),
        "start": np.array([[float(Fraction(v)) for v in witness.problem["start"]]]),
        "share": np.ones(1),
    }
    generator = Runs(statement(PRINTED))
    shrunk = shrink(generator, two_clients(generator, witness.method["E"]), numbers, {"search": "by hand"})
    assert shrunk is not None
    assert (replay(shrunk).outcome, shrunk.verdict.grade) == (Outcome.VIOLATED, Grade.EXACT)
    assert max(len(v) for c in shrunk.problem["clients"] for row in c["A"] for v in row) <= 10
    assert len(shrunk.method["eta"]) <= 9
    assert shrunk.provenance == {"search": "by hand"}
    tight = shrunk.verdict.tightness
    assert tight is not None
    assert tight.ratio_min < 1 / 1.00002


def test_what_is_not_violated_is_not_shrunk() -> None:
    numbers = {
        "A": np.array([[[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]]),
        "b": np.zeros((1, 1, 2)),
        "z": np.zeros((1, 0, 2)),
        "start": np.array([[1.0, 0.0]]),
        "share": np.ones(1),
    }
    generator = Runs(statement(PRINTED))
    assert shrink(generator, two_clients(generator, 1), numbers, {}) is None


@pytest.mark.parametrize(
    ("low", "high", "simple"),
    [
        (Fraction(3, 10), Fraction(2, 5), Fraction(1, 3)),
        (Fraction(18000), Fraction(26000), Fraction(20000)),
        (Fraction(123), Fraction(124), Fraction(123)),
        (Fraction(1, 26000), Fraction(1, 18000), Fraction(1, 20000)),
        (Fraction(101, 10), Fraction(102, 10), Fraction(51, 5) - Fraction(1, 15)),
    ],
)
def test_simple_numbers(low: Fraction, high: Fraction, simple: Fraction) -> None:
    found = round_between(low, high)
    assert low <= found <= high
    assert complexity(found) <= complexity(simple)


@pytest.mark.parametrize(
    "id",
    [
        PRINTED,
        "fedshuffle/lemma_c_2/as_printed",
        "feddane/theorem_7/as_printed",
        "async_fl/theorem_1/as_printed_used",
        "partial_averaging/theorem_1/as_printed",
    ],
)
def test_every_simpler_shape_makes_a_claim(id: str) -> None:
    """What is drawn becomes claims that run, and so does every simpler shape of it."""
    generator = generator_for(statement(id))
    random = np.random.default_rng(2)
    shape = next(shape for shape in (generator.draw(random) for _ in range(50)) if isinstance(shape.form, Form))
    genes = {name: random.standard_normal((1, *size)) for name, size in generator.genes(shape).items()}
    decoded = generator.decode(shape, genes)
    numbers: dict[str, Any] = {}
    for name, values in decoded.items():
        numbers[name] = np.empty(values.shape[1:], dtype=object)
        numbers[name].flat = [Fraction(round(float(v) * 64), 64) or Fraction(1, 64) for v in values.flat]
    step = "1/4*largest" if numbers.pop("share", None) is not None else None
    simpler = [(shape, numbers), *generator.simpler(shape, numbers)]
    outcomes: set[Outcome] = set()
    for own_shape, own in simpler[:: max(1, len(simpler) // 6)]:
        with suppress(BadInput):  # a method without a parameter that it needs beside another, which the shrinker leaves
            outcomes.add(run_claim(generator.claim(Instance(own_shape, own, step, 2))).verdict.outcome)
    assert outcomes
    assert outcomes <= {Outcome.HOLDS, Outcome.VIOLATED, Outcome.VACUOUS, Outcome.OUT_OF_SCOPE}
