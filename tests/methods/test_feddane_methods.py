"""FedProx, DANE and FedDANE: what they are instances of, factors of the correction, bad parameters."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parameters import participation_from
from boundcheck.methods.parts import (
    Average,
    Correction,
    Pattern,
    SumOne,
    WithReplacement,
)

F = Fraction
THREE = Clients.alike(3)


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
