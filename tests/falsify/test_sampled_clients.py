"""The search for counterexamples among clients who take part at random or in a pattern."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.evidence.witness import load_witness, replay, stands
from boundcheck.falsify.generators.sampled_clients import METRICS, Shape, means
from boundcheck.falsify.search import falsify
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.discovery import statement

WITNESSES = Path(__file__).parents[2] / "examples" / "witnesses"
QUICK = ("theorem_1/as_printed", "theorem_1/as_printed_used", "corollary_1/as_printed")
LONG = ("theorem_1/as_printed_sigma", "theorem_2/as_printed", "equation_107/as_printed")


def mirrored(problem: Mapping[str, Any]) -> dict[str, Any]:
    """The quadratics x -> f(-x): every b and the start with the other sign."""
    clients = [
        {"components": [{**c, "b": str(-Fraction(c["b"]))} for c in client["components"]]}
        for client in problem["clients"]
    ]
    return {**problem, "clients": clients, "start": [str(-Fraction(x)) for x in problem["start"]]}


def searched(name: str) -> None:
    shipped = load_witness(WITNESSES / f"async_fl_{name.replace('/', '_')}.json")
    budget = int(str(shipped.provenance["budget"]).split()[0])
    again = falsify(statement(f"async_fl/{name}"), seed=int(shipped.provenance["seed"]), max_instances=budget + 1)
    assert again.witness is not None
    assert (again.witness.method, again.witness.at) == (shipped.method, shipped.at)
    # processors round differently, so that of two equally bad mirror images either may be found
    assert again.witness.problem in (shipped.problem, mirrored(shipped.problem))
    assert stands(replay(again.witness))


@pytest.mark.parametrize("name", QUICK)
def test_the_search_finds_the_shipped_witness_again(name: str) -> None:
    searched(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_longer_search_finds_the_shipped_witness_again(name: str) -> None:
    searched(name)


@pytest.mark.parametrize("name", ["theorem_1/corrected", "theorem_1/corrected_certain", "corollary_1/corrected"])
def test_what_is_true_survives_the_same_search(name: str) -> None:
    found = falsify(statement(f"async_fl/{name}"), seed=0, max_instances=8000)
    assert found.witness is None
    assert found.best < 0


@pytest.mark.parametrize(
    "scheme",
    [
        {"kind": "uniform_sampling", "m": 2},
        {"kind": "md_sampling", "m": 2},
        {"kind": "fedavg_sync"},
        {"kind": "biased_sampling", "cohorts": [[0, 1], [2]], "weights": "identical"},
    ],
    ids=lambda scheme: str(scheme["kind"]),
)
def test_the_means_are_those_of_the_exact_engine(scheme: dict[str, Any]) -> None:
    """E x and E x^2 in double precision against the library's own runs."""
    c, t, begin, step, K = (1.0, 0.5, 0.25), (1.0, -1.0, 2.0), 3.0, 0.1, 3
    shape = Shape(3, K, Fraction(3, 2), scheme)
    q = shape.rounds.mean.astype(float)
    surrogate = (q * c * np.array(t)).sum() / (q * c).sum()
    found = {"c": np.array([c]), "t": np.array([t]), "away": np.array([[begin - surrogate]])}
    clients = [{"components": [{"A": str(a), "b": str(a * b)}]} for a, b in zip(c, t, strict=True)]
    problem = build_problem({"kind": "quadratics", "start": [3], "clients": clients})
    method = build_method({**scheme, "K": K, "eta_g": "3/2", "eta_l": "1/10"})
    last = 8 * shape.rounds.period
    curve = run(method, problem, rounds=list(range(last)), metrics=METRICS)
    for name in METRICS:
        own = dict(means(name, shape, found, np.array([step])))
        for periods in (1, 2, 4, 8):
            expected = curve.values[name][: periods * shape.rounds.period].mean()
            assert own[periods][0] == pytest.approx(expected, rel=1e-9), name
