"""FedProx, DANE and FedDANE as compositions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parameters import participation_from
from boundcheck.methods.parts import (
    Average,
    Constant,
    Correction,
    Epochs,
    ExactSolve,
    Full,
    GradientSteps,
    NoStep,
    Pattern,
    Proximal,
    SumOne,
    Uniform,
    WithReplacement,
)
from boundcheck.problems.build import build as problem_of

F = Fraction
THREE = Clients.alike(3)


def test_fedprox() -> None:
    m = build(
        {"kind": "fedprox", "mu": "1/2", "E": 20, "eta": "1/100", "batch": 10, "participation": "uniform", "K": 2}
    )
    assert (m.participation, m.local) == (Uniform(2), Proximal(F(1, 2), Epochs(20, 10)))
    assert (m.schedule, m.aggregation, m.correction) == (Constant(F(1, 100)), Average(), None)
    assert algorithms(m) == ("fedprox",)
    assert m.parameters() == {"size": 2, "prox": F(1, 2), "E": 20, "eta": F(1, 100), "eta_g": 1}
    exact = build({"kind": "fedprox", "mu": 1, "solver": "exact"})
    assert (exact.local, exact.schedule, exact.participation) == (ExactSolve(F(1)), NoStep(), Full())
    assert algorithms(exact) == ("fedprox",)
    assert exact.parameters() == {"prox": 1, "eta_g": 1}
    inexact = build({"kind": "fedprox", "mu": [1, 2, 3], "solver": {"steps": 5, "eta": "1/4"}})
    assert inexact.local == Proximal((F(1), F(2), F(3)), GradientSteps(5))


def test_fedprox_without_a_proximal_term_is_fedavg() -> None:
    sampled = build({"kind": "fedprox", "mu": 0, "E": 2, "eta": "1/9", "participation": "uniform", "K": 2})
    plain = build({"kind": "fedavg_reshuffled", "E": 2, "eta": "1/9", "size": 2})
    assert algorithms(sampled) == algorithms(plain) == ("fedavg_reshuffled",)
    whole = build({"kind": "fedprox", "mu": 0, "solver": {"steps": 2, "eta": "1/9"}})
    fedavg = build({"kind": "fedavg_weighted", "K": 2, "eta_l": "1/9"})
    assert algorithms(whole) == algorithms(fedavg) == ("fedavg_weighted",)
    assert build({"kind": "fedprox", "mu": 1, "E": 1, "eta": 1, "weights": "uniform"}).aggregation == Average()
    drawn = {"kind": "fedprox", "mu": 1, "solver": "exact", "participation": "uniform", "K": 2}
    assert [build({**drawn, **more}).aggregation for more in ({}, {"weights": "data"})] == [Average(), SumOne()]
    assert "fedprox" in algorithms(build(drawn))
    assert "fedprox" not in algorithms(build({**drawn, "weights": "data"}))  # the paper's cohorts have plain means
    with pytest.raises(UnknownName, match="the weights of fedprox 'sizes'"):
        build({**drawn, "weights": "sizes"})
    p = problem_of({"kind": "fedshuffle_36"})
    for one, other in ((sampled, plain), (whole, fedavg)):
        assert (one.local, one.participation, one.aggregation) == (other.local, other.participation, other.aggregation)
        runs = [run_exact(m, p, [0, 1, 2], arithmetic=Arithmetic.RATIONAL).exact for m in (one, other)]
        assert runs[0] == runs[1]


def test_dane() -> None:
    m = build({"kind": "dane", "mu": 3})
    assert (m.participation, m.local, m.schedule) == (Full(), ExactSolve(F(3)), NoStep())
    assert m.correction == Correction(Full(), weights="data")
    assert algorithms(m) == ("dane", "feddane")
    inexact = build({"kind": "dane", "mu": 3, "steps": 4, "eta": "1/10"})
    assert inexact.local == Proximal(F(3), GradientSteps(4))
    assert algorithms(inexact) == ("dane", "feddane")
    assert not m.is_random(THREE)


def test_feddane() -> None:
    m = build({"kind": "feddane", "mu": 3, "K": 10})
    assert (m.participation, m.correction) == (WithReplacement(10), Correction(WithReplacement(10)))
    assert m.is_random(THREE)
    assert algorithms(m) == ("feddane",)
    same = build({"kind": "feddane", "mu": 3, "K": 2, "participation": "uniform", "same": True})
    assert (same.participation, same.correction) == (Uniform(2), Correction())
    assert algorithms(same) == ("feddane",)
    other = build(
        {"kind": "feddane", "mu": 0, "participation": "full", "gradient_participation": "uniform", "K": 2}
        | {"solver": {"E": 1, "eta": "1/10", "batch": 2, "sampling": "replacement"}}
    )
    assert (other.participation, other.correction) == (Full(), Correction(Uniform(2)))
    assert other.local == Proximal(F(0), Epochs(1, 2, "replacement"))  # FedDANE all the same, with prox = 0
    assert other.parameters()["prox"] == 0
    assert algorithms(other) == ("feddane",)
    assert other.is_random(THREE)


@pytest.mark.parametrize(
    ("more", "correction"),
    [
        ({"decay": "inverse"}, Correction(WithReplacement(2), "inverse")),
        ({"decay": {"kind": "geometric", "factor": "9/10"}}, Correction(WithReplacement(2), "geometric", F(9, 10))),
        ({"decay": {"kind": "constant", "factor": "1/2"}, "same": True}, Correction(factor=F(1, 2))),
        ({"pipelined": True}, Correction(pipelined=True)),
    ],
)
def test_variants_are_not_the_algorithm_of_the_theorems(more: Any, correction: Correction) -> None:
    m = build({"kind": "feddane", "mu": 3, "K": 2} | more)
    assert m.correction == correction
    assert algorithms(m) == ()


def test_factors_of_the_correction() -> None:
    geometric = Correction(decay="geometric", factor=F(0))
    assert [geometric.at(t) for t in range(3)] == [1, 0, 0]
    assert not geometric.steady
    assert Correction(decay="inverse", factor=F(0)).steady
    assert [Correction(decay="inverse", pipelined=True).at(t) for t in range(3)] == [0, F(1, 2), F(1, 3)]


def test_participation_of_specifications() -> None:
    assert participation_from({"kind": "with_replacement", "size": 3}) == WithReplacement(3)
    pattern = participation_from({"kind": "pattern", "cohorts": [[0], [1, 2]], "lead": [[0, 1, 2]]})
    assert pattern == Pattern(((0,), (1, 2)), ((0, 1, 2),))
    assert participation_from({"kind": "pattern", "cohorts": [[0], []]}) == Pattern(((0,), ()))


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"kind": "feddane", "mu": 1}, "needs K"),
        ({"kind": "feddane", "mu": -1, "K": 1}, "mu must be at least 0"),
        ({"kind": "feddane", "mu": "x", "K": 1}, "mu = 'x' is not a number"),
        ({"kind": "feddane", "mu": 1, "K": 0}, "K = 0 is not allowed"),
        ({"kind": "feddane", "mu": 1, "K": 1, "same": 1}, "it is true or false"),
        ({"kind": "feddane", "mu": 1, "K": 1, "same": True, "gradient_participation": "full"}, "cohort of its own"),
        ({"kind": "feddane", "mu": 1, "K": 1, "solver": "newton"}, "a solver is"),
        ({"kind": "feddane", "mu": 1, "K": 1, "solver": {"steps": 3}}, "needs eta"),
        ({"kind": "feddane", "mu": 1, "K": 1, "solver": {"eta": 3}}, "either steps or E"),
        ({"kind": "feddane", "mu": 1, "K": 1, "solver": {"steps": 3, "eta": 1, "E": 2}}, "parameter 'E' is unknown"),
        ({"kind": "feddane", "mu": 1, "K": 1, "solver": {"E": 1, "eta": 1, "sampling": "full"}}, "sampling"),
        ({"kind": "feddane", "mu": 1, "K": 1, "decay": "linear"}, "decay of the correction 'linear' is unknown"),
        ({"kind": "feddane", "mu": 1, "K": 1, "decay": "geometric"}, "needs its factor"),
        ({"kind": "feddane", "mu": 1, "K": 1, "decay": {"kind": "inverse", "factor": 2}}, "between 0 and 1"),
        ({"kind": "feddane", "mu": 1, "K": 1, "decay": {"power": 2}}, "parameter 'power' is unknown"),
        ({"kind": "dane", "mu": 1, "steps": 2}, "both steps and eta"),
        ({"kind": "fedprox", "mu": 1}, "needs eta"),
        ({"kind": "fedprox", "mu": 1, "solver": "exact", "eta": 1}, "either a solver or eta"),
    ],
)
def test_bad_parameters(spec: dict[str, Any], text: str) -> None:
    with pytest.raises((BadInput, UnknownName), match=text):
        build(spec)


def test_too_few_weights_are_told_of() -> None:
    with pytest.raises(BadInput, match="2 proximal weights were given"):
        build({"kind": "dane", "mu": [1, 2]}).check(THREE)
