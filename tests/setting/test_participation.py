"""Constants that a method and a problem have together, and the objective that a method really minimises."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.methods.clients import Repeated
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    Constant,
    Cyclic,
    EpochRange,
    Epochs,
    Full,
    GradientSteps,
    Importance,
    Independent,
    Momentum,
    OneByWeight,
    Subsets,
    SumOne,
    Unbiased,
    Uniform,
)
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of
from boundcheck.setting.constants import joint_constants, joint_makers, key_of_name
from boundcheck.setting.followed_objective import small_step_weights, surrogate
from boundcheck.setting.participation import general, participation_constants
from boundcheck.setting.setting import describe_constants

F = Fraction

P36 = build({"kind": "fedshuffle_36"})
CLIENTS = clients_of(P36)
W = (F(1, 6), F(1, 3), F(1, 2))


def method(participation=None, local=None, aggregation=None, momentum=None):
    return Method(
        "test",
        Full() if participation is None else participation,
        Epochs(divide="size") if local is None else local,
        Constant(F(1, 8), "eta_l"),
        Unbiased() if aggregation is None else aggregation,
        momentum=momentum,
    )


FEDSHUFFLE = method()
FEDAVG = method(None, Epochs(divide="largest"), SumOne())
FEDNOVA = method(None, Epochs(divide="largest"), Unbiased("nova"))


@pytest.mark.parametrize(
    ("m", "W_", "M2", "what"),
    [
        (FEDSHUFFLE, 1, 1, W),
        (FEDAVG, F(7, 9), F(9, 7), (F(1, 14), F(4, 14), F(9, 14))),
        (FEDNOVA, F(2, 3), 1, W),
        (method(None, Epochs(divide="none"), SumOne()), F(7, 3), F(9, 7), (F(1, 14), F(4, 14), F(9, 14))),
    ],
)
def test_full_participation_on_36(m, W_, M2, what):
    found = general(m, CLIENTS)
    assert (found.W, found.M1, found.M2, found.what) == (W_, 0, M2, what)
    constants = {k: c.value for k, c in joint_constants(m, P36).items()}
    assert (constants["M"], constants["b"], constants["W"], constants["M2"]) == (0, 3, W_, M2)
    # sum of what_i sigma_i^2/(3 |D_i|) with sigma_i^2 = 0, 1/2, 2/3
    assert constants["noise2_gen"] == what[1] / 12 + what[2] * F(2, 27)
    assert constants["P2_gen"] == 0


@pytest.mark.parametrize(
    ("m", "what"),
    [
        (method(Uniform(2), None, SumOne()), (F(7, 36), F(16, 45), F(9, 20))),
        (method(Uniform(2), Epochs(divide="none"), SumOne()), (F(5, 58), F(64, 203), F(243, 406))),
        (method(Uniform(1), Epochs(divide="none"), SumOne()), W),
        (method(Uniform(2)), W),
        (method(OneByWeight()), W),
        (method(Importance(F(2))), W),
        (method(Uniform(2), Epochs(divide="none")), (F(1, 14), F(4, 14), F(9, 14))),
        (method(Uniform(2), Epochs((3, 2, 1), divide="work")), W),
        (method(Uniform(2), Epochs(missed=(0, 1, 1), divide="work"), Unbiased("unfinished")), W),
        (method(None, Epochs(missed=(0, 1, 1), divide="work")), (F(2, 8), F(2, 8), F(4, 8))),
    ],
)
def test_the_weights_that_a_method_follows(m, what):
    found = general(m, CLIENTS)
    assert found.what == what
    assert sum(found.what) == 1
    assert list(found.what) == small_step_weights(m, CLIENTS)
    assert found.M2 >= 1
    assert max(h * s * v for h, s, v in zip(found.h, found.s, found.what, strict=True)) == found.M1


def test_sum_one_by_hand():
    found = general(method(Uniform(2), None, SumOne()), CLIENTS)
    # 1/q_i = (1/3) sum over the two cohorts of i of 1/(sum of w): 1/q_1 = (2 + 3/2)/3, 1/q_2 = (2 + 6/5)/3, ...
    assert found.q == (F(6, 7), F(15, 16), F(10, 9))
    # h_1 = q_1^2 (4 + 9/4)/3
    assert found.h[0] == F(36, 49) * F(25, 12)
    assert found.W == 1
    # a factor that is the same for all cohorts scales W alone
    doubled = general(method(Uniform(2), None, SumOne(per_share=True)), CLIENTS)
    assert (doubled.W, doubled.what, doubled.h, doubled.M1, doubled.M2) == (
        F(3, 2),
        found.what,
        found.h,
        found.M1,
        found.M2,
    )


def test_unbiased_gives_the_M_of_the_participation():
    for participation, M in ((Uniform(2), F(3, 8)), (OneByWeight(), F(1)), (Importance(F(2)), F(1, 3))):
        found = joint_constants(method(participation), P36)
        assert found["M"].value == found["M1"].value == M
        assert (found["W"].value, found["M2"].value) == (1, 1)


def test_different_epochs_cost_M2():
    # (sum of E_i |D_i|) max of w_i/(E_i |D_i|) with E |D| = 3, 4, 3
    assert 10 * F(1, 6) == general(method(None, Epochs((3, 2, 1), divide="work")), CLIENTS).M2
    scaled = joint_constants(method(None, Epochs(2, divide="work")), P36)
    assert scaled["noise2_gen"].value == F(7, 108) / 4
    assert (scaled["M2"].value, scaled["W"].value) == (1, 1)


def test_participation_given_by_its_cohorts():
    shares = Subsets(((0, 1), (1, 2), (0, 2)), (F(1, 3),) * 3)
    assert F(3, 8) == participation_constants(method(shares), CLIENTS).M  # uniform sampling in other words
    odd = Subsets(((0,), (1, 2)), (F(1, 2),) * 2)
    found = participation_constants(method(odd), CLIENTS)
    assert found.rule.startswith("the least M")
    # either {0} or {1, 2}: variance |z_0 - z_1 - z_2|^2, so that M = 1/6 + 1/3 + 1/2 = 1
    assert found.M == 1
    assert F(1, 2) == participation_constants(method(Independent((F(1, 2),) * 3)), CLIENTS).M


WIDE = build({"kind": "quadratics", "clients": [{"A": 1, "b": i} for i in range(40)]})


@pytest.mark.parametrize(
    ("m", "problem", "names"),
    [
        (method(Cyclic(), GradientSteps(2), Average()), P36, set()),
        (method(None, GradientSteps(2), Average()), P36, {"M", "b"}),
        (method(None, Epochs(common="min"), SumOne()), P36, {"M", "b"}),
        (method(None, Epochs(EpochRange(1, 2))), P36, {"M", "b"}),
        (method(momentum=Momentum(F(1, 10))), P36, {"M", "b"}),
        (method(Uniform(20), None, SumOne()), WIDE, {"M", "b"}),  # 137846528820 cohorts
    ],
)
def test_what_cannot_be_had_is_left_out(m, problem, names):
    assert set(joint_constants(m, problem)) == names


def test_batches_have_a_weight_and_no_variance():
    batches = joint_constants(method(None, Epochs(batch=2, divide="size")), P36)
    assert "W" in batches
    assert "noise2_gen" not in batches


def test_very_many_clients_are_not_looked_at_one_by_one():
    class Crowd:
        weights = Repeated(F(1, 10**4), 10**4)
        sizes = Repeated(1, 10**4)

    crowd: Any = Crowd()
    makers = joint_makers(method(Uniform(100)), crowd)
    assert set(makers) == {"M", "b"}
    assert makers["M"]().value == F(10**4 - 100, 10**4 - 1) / 100
    some = joint_makers(method(Importance(F(100))), crowd)
    assert some["M"]().value == F(1, 100) - F(1, 10**4)
    assert joint_makers(method(OneByWeight()), crowd) == {}


def test_full_participation_with_sum_one_takes_any_number_of_clients():
    wide = build({"kind": "quadratics", "clients": [{"A": 1, "b": i} for i in range(150)]})
    found = joint_constants(method(None, None, SumOne()), wide)
    assert (found["M1"].value, found["W"].value, found["M2"].value) == (0, 1, 1)
    assert set(joint_constants(method(Uniform(1), None, SumOne()), wide)) == {"M", "b"}


def test_a_run_carries_them():
    curve = run(FEDSHUFFLE, P36, rounds=2)
    found = describe_constants(FEDSHUFFLE, P36)
    names = {"M", "b", "W", "M1", "M2", "P2_gen", "noise2_gen", "G2", "L_ij", "eta_l"}
    assert names <= set(found)
    assert all(curve.constants[key_of_name(name)] == found[name] for name in names - {"eta_l"})
    assert curve.constants["method/eta_l"] == found["eta_l"]
    assert found["eta_l"].value == F(1, 8)
    # the parameter of the method goes before the joint constant of that name
    assert describe_constants(method(Importance(F(3))), P36)["b"].how == "parameter of the method"


def test_the_surrogate_is_what_the_method_minimises():
    assert surrogate(FEDSHUFFLE, P36) is P36
    for m, gap in (
        (FEDAVG, F(5, 588)),
        (method(Uniform(2), None, SumOne()), F(1, 1080)),
        (method(Uniform(2), Epochs(divide="none"), SumOne()), F(2441, 494508)),
    ):
        other = surrogate(m, P36)
        limit = np.array([other.weights[i] / s for i, s in enumerate((1, 2, 3)) for _ in range(s)], dtype=object)
        assert other.metric("gap", limit) == 0
        assert P36.metric("gap", limit) == gap
        assert general(m, clients_of(other)) == general(m, CLIENTS)
        assert surrogate(m, other) is other


def test_the_surrogate_runs_as_the_problem_does():
    own, other = run(FEDAVG, P36, rounds=[0, 400]), run(FEDAVG, surrogate(FEDAVG, P36), rounds=[0, 400])
    # the same iterates: the one gap stays up, the other is only the bias of the finite step and its noise
    assert own.values["gap"][-1] > 5e-3 > 1e-3 > other.values["gap"][-1]


def test_clients_that_hold_the_same_samples_have_a_variance_each() -> None:
    instance = build({"kind": "coupled_blocks", "clients": 2, "d": 2, "delta": 0})
    own = {"components": [{"A": [[1, 1], [1, 1]], "b": [z, z]} for z in (1, -1)]}
    apart = build({"kind": "quadratics", "clients": [own, own], "start": [0, 0]})
    sums = build_method({"kind": "fedavg_sgd", "eta_l": "1/8", "E": 1})
    found, same = (describe_constants(sums, problem) for problem in (instance, apart))
    for name in ("P2_gen", "noise2_gen"):
        assert found[name].value == same[name].value
    assert found["noise2_gen"].value == F(2, 6)  # variance 2 of a sample's gradient over 3 |D_i| E^2
