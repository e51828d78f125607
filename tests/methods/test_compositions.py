"""Methods as compositions: what each kind is made of, which kinds a composition is an instance of, bad parameters."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parameters import participation_from
from boundcheck.methods.parts import (
    Average,
    Constant,
    Correction,
    Cyclic,
    Epochs,
    Full,
    GradientSteps,
    InverseCycle,
    LogHorizon,
    Pattern,
    ServerStep,
    StochasticSteps,
    SumOne,
    Uniform,
    WithReplacement,
    inclusion,
)
from boundcheck.problems.build import build as build_problem

THREE = Clients.alike(3)


def test_scgd() -> None:
    method = build({"kind": "scgd", "E": 4, "eta": "1/3"})
    assert (method.participation, method.local, method.schedule) == (
        Cyclic(),
        GradientSteps(4),
        Constant(Fraction(1, 3)),
    )
    assert (method.aggregation, method.server) == (Average(), ServerStep())
    assert method.parameters() == {"E": 4, "eta": Fraction(1, 3), "eta_g": 1}
    assert not method.is_random(Clients.alike(5))
    assert algorithms(method) == ("scgd",)
    assert [method.participation.fixed(t, THREE) for t in range(4)] == [(0,), (1,), (2,), (0,)]


def test_a_visiting_order() -> None:
    method = build({"kind": "scgd", "E": 1, "eta": 1, "order": [2, 0, 1]})
    assert [method.participation.fixed(t, THREE) for t in range(4)] == [(2,), (0,), (1,), (2,)]
    for order in ([0, 1], [0, 0, 1], [1, 2, 3]):
        with pytest.raises(BadInput, match="not a permutation of the clients 0 to 2"):
            build({"kind": "scgd", "E": 1, "eta": 1, "order": order}).participation.fixed(0, THREE)


def test_fedavg_full_and_uniform() -> None:
    full, some = (build({"kind": "fedavg", "E": 2, "eta": 1, **more}) for more in ({}, {"size": 3}))
    assert (full.participation, some.participation) == (Full(), Uniform(3))
    assert algorithms(full) == ("fedavg",)
    assert algorithms(some) == ()
    assert tuple(m.is_random(Clients.alike(n)) for m, n in ((full, 20), (some, 20), (some, 3))) == (False, True, False)
    assert some.participation.fixed(7, THREE) == (0, 1, 2)
    assert full.aggregation.coefficients((0, 1, 2), full.context(THREE)) == [Fraction(1, 3)] * 3


def test_gradient_descent_is_fedavg_with_one_step() -> None:
    """Where all clients have one weight: otherwise gradient descent weighs them, and FedAvg of this kind does not."""
    descent, one = build({"kind": "gradient_descent", "eta": 1}), build({"kind": "fedavg", "E": 1, "eta": 1})
    both = ("fedavg", "fedavg_weighted", "gradient_descent")
    assert algorithms(descent, THREE) == algorithms(one, THREE) == both
    unlike = Clients([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [1, 1, 1])
    assert (algorithms(descent, unlike), algorithms(one, unlike)) == (both[1:], both[:1])
    assert (algorithms(descent), algorithms(one)) == (both[1:], both[:1])
    all_of = build({"kind": "fedavg", "E": 1, "eta": 1, "size": 3})  # a cohort of all clients
    assert (algorithms(all_of, THREE), algorithms(all_of, Clients.alike(4))) == (both, ("fedavg_weighted",))
    assert algorithms(build({"kind": "fedavg_reshuffled", "eta": 1, "E": 2})) == ("fedavg_reshuffled",)


def test_a_composition_of_ones_own_is_an_instance_of_nothing() -> None:
    odd = Method("odd", Cyclic(), Epochs(1), Constant(Fraction(1)))
    assert algorithms(odd) == ()
    relaxed = Method("relaxed", Full(), GradientSteps(1), Constant(Fraction(1)), server=ServerStep(Fraction(1, 2)))
    assert algorithms(relaxed) == ()


def test_cohort_probabilities() -> None:
    part, twenty = Uniform(3), Clients.alike(20)
    assert [inclusion(part, i, twenty) for i in range(20)] == [Fraction(3, 20)] * 20
    drawing = part.drawing(twenty)
    assert drawing is not None
    matrix = [[drawing.pair(i, j) for j in range(20)] for i in range(20)]
    assert matrix[0][0] == Fraction(3, 20)
    assert matrix[0][1] == Fraction(3, 190)  # 3*2/(20*19)
    assert sum(matrix[0]) == 3 * Fraction(3, 20)
    for size in (0, 21):
        with pytest.raises(BadInput, match="1 to 20 are allowed"):
            Uniform(size).drawing(twenty)
    assert [inclusion(Cyclic(), i, Clients.alike(4)) for i in range(4)] == [Fraction(1, 4)] * 4


def test_diminishing_steps_by_cycle() -> None:
    scgd = build({"kind": "scgd", "E": 1, "eta0": "1/2"})
    assert scgd.schedule == InverseCycle(Fraction(1, 2))
    # n = 3 rounds share a step: eta0/1 in rounds 0 to 2, eta0/2 in rounds 3 to 5
    assert [scgd.cycle_of(t, THREE) for t in range(7)] == [1, 1, 1, 2, 2, 2, 3]
    assert scgd.schedule.step(3) == Fraction(1, 6)
    fedavg = build({"kind": "fedavg", "E": 1, "eta0": 1})
    assert [fedavg.cycle_of(t, THREE) for t in range(3)] == [1, 2, 3]
    shared = build({"kind": "fedavg", "E": 1, "eta0": 1, "rounds_per_cycle": 20})
    assert [shared.cycle_of(t, THREE) for t in (0, 19, 20, 40)] == [1, 1, 2, 3]


def test_the_horizon_dependent_step_is_just_below_its_formula() -> None:
    schedule = LogHorizon(Fraction(2), 1000)
    step = schedule.step(1)
    exact = 2 * math.log(1000) / 1000  # 0.0138155...
    assert 0 < 1 - float(step) / exact < 1e-12
    assert schedule.is_constant()
    assert schedule.step(77) == step


def test_local_steps_of_a_visit() -> None:
    ten = Clients.alike(1, 10)
    visits = [work.visits(0, (0,), ten) for work in (GradientSteps(4), Epochs(2), Epochs(2, 3))]
    assert [[(p, v.steps) for p, v in found] for found in visits] == [[(1, 4)], [(1, 20)], [(1, 8)]]


# --- FedProx, FedDANE, stochastic steps -----------------------------------------------------------------------------


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
    assert {"dane", "feddane"} <= set(algorithms(build({"kind": "dane", "mu": 2})))


def test_factors_of_the_correction() -> None:
    geometric = Correction(decay="geometric", factor=Fraction(0))
    assert [geometric.at(t) for t in range(3)] == [1, 0, 0]
    assert not geometric.steady
    assert Correction(decay="inverse", factor=Fraction(0)).steady
    pipelined = Correction(decay="inverse", pipelined=True)
    assert [pipelined.at(t) for t in range(3)] == [0, Fraction(1, 2), Fraction(1, 3)]


def test_participation_of_specifications() -> None:
    assert participation_from({"kind": "with_replacement", "size": 3}) == WithReplacement(3)
    pattern = participation_from({"kind": "pattern", "cohorts": [[0], [1, 2]], "lead": [[0, 1, 2]]})
    assert pattern == Pattern(((0,), (1, 2)), ((0, 1, 2),))
    assert participation_from({"kind": "pattern", "cohorts": [[0], []]}) == Pattern(((0,), ()))


def test_stochastic_steps() -> None:
    clients = Clients.alike(2, 3)
    ((p, visit),) = StochasticSteps(2).visits(0, (0, 1), clients)
    assert (p, visit.sampling, visit.steps, visit.batch, visit.scale) == (1, "replacement", 2, 1, 1)
    batches = {work: work.visits(0, (0,), clients)[0][1].batch for work in map(StochasticSteps, (1, 5, 5), (2, 3, 4))}
    assert list(batches.values()) == [2, 3, 4]  # the last draws 3: as many as there are
    with pytest.raises(BadInput, match="client 0 holds 3 samples and takes 2 steps"):
        StochasticSteps(2, 2).visits(0, (0,), clients)


@pytest.mark.parametrize("engine", ["exact", "sampled"])
def test_a_batch_above_a_clients_samples_draws_as_many_as_there_are(engine: str) -> None:
    problem = build_problem({"kind": "pure_noise", "clients": 3, "d": 4})  # two samples a client
    partial = {"kind": "partial_averaging", "tau": 4, "eta": "1/10"}
    found = [
        run(build({**partial, "batch": batch}), problem, rounds=6, engine=engine, seeds=5, metrics=["discrepancy"])
        for batch in (1, 2, 7)
    ]
    one, two, seven = (curve.values["discrepancy"].tolist() for curve in found)
    assert seven == two != one
    assert [curve.constants["blocks/sigma2"].value for curve in found] == [4, 2, 2]
    with pytest.raises(BadInput, match="exactly once"):
        run(build({**partial, "partition": [[0], [1], [2], [4]]}), problem, rounds=2, engine=engine, seeds=1)
