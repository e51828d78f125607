"""Constants and hypotheses that a method with block averages and a problem have together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.certified.constant import Known
from boundcheck.evidence.assumptions import check_assumption
from boundcheck.methods.build import algorithms
from boundcheck.methods.build import build as method
from boundcheck.methods.parts import Epochs, StochasticSteps
from boundcheck.problems.build import build as problem
from boundcheck.problems.quadratics import build as quadratics
from boundcheck.setting.blocks import BLOCKS, block_view
from boundcheck.setting.constants import joint_constants, joint_makers
from boundcheck.theory.assumptions import smooth_blocks, smooth_globally, smooth_separable, smooth_weighted
from boundcheck.verdict import Grade, Outcome

F = Fraction


def partial(tau: int = 2, **more: Any) -> Any:
    return method({"kind": "partial_averaging", "tau": tau, "eta": "1/4", **more})


def values(own: Any, instance: Any) -> dict[str, Fraction]:
    return {name: c.value for name, c in joint_constants(own, instance).items()}


def objections(averaging: Any, instance: Any) -> dict[str, str | None]:
    view = block_view(averaging, instance)
    return {} if view is None else BLOCKS.hypotheses(view)


def test_coupled_blocks() -> None:
    instance = problem({"kind": "coupled_blocks", "clients": 3, "d": 4, "delta": "1/2"})
    found = values(partial(4), instance)
    wanted = {"m": 3, "sum_p2": F(1, 3), "sigma2_total": 4, "Lmax_B": F(3, 2), "sum_L_sigma2_B": 6}
    wanted |= {"sum_L2_sigma2_B": 9, "Lmax_G": F(9, 2), "sum_L2_sigma2_G": 81, "beta2_diss": 1, "sum_L2_kappa2": 0}
    assert {name: found[name] for name in wanted} == wanted
    found = values(method({"kind": "periodic_averaging", "tau": 4, "eta": "1/4"}), instance)  # one block, the whole
    assert found["Lmax_B"] == found["Lmax_G"] == F(9, 2)
    assert found["sum_L_sigma2_B"] == 18


def test_blocks_of_other_sizes_weights_and_batches() -> None:
    def client(z: int) -> dict[str, Any]:
        a = [[1, 0, 0], [0, 2, 0], [0, 0, 5]]
        return {"components": [{"A": a, "b": [z, z, 0]}, {"A": a, "b": [-z, -z, 0]}]}

    instance = quadratics(clients=[client(1), client(3)], weights=["3/4", "1/4"])
    found = values(partial(2, partition=[[0, 2], [1]]), instance)
    # L = (5, 2); the second client has the larger noise, 9 in either block
    assert found["sum_L_sigma2_S"] == 5 * 9 + 2 * 9
    assert found["sum_L2_sigma2_W"] == 25 * 9 + 4 * 9
    assert found["sum_p2"] == F(10, 16)
    assert values(partial(2, partition=[[0, 2], [1]], batch=2), instance)["sigma2_total"] == 9
    assert values(partial(2, gradient="full"), instance)["sigma2_total"] == 0


def test_certified_constants_say_so() -> None:
    instance = quadratics(clients=[{"A": [[2, 1], [1, 3]]}], start=[1, 1])
    found = joint_constants(partial(gradient="full"), instance)
    assert found["Lmax_B"].known is Known.EXACT
    assert found["Lmax_G"].known is Known.CERTIFIED  # (5 + sqrt 5)/2
    assert 0 < found["Lmax_G"].value - F(36180339887498948482, 10**19) < F(1, 10**11)


def test_hypotheses() -> None:
    instance = problem({"kind": "coupled_blocks", "clients": 3, "d": 4})
    found = objections(partial(4), instance)
    broken = {name for name, why in found.items() if why is not None}
    assert broken == {"smooth_separable", "pure_noise"}
    assert "couples the blocks 0 and 1" in str(found["smooth_separable"])
    unlike = quadratics(clients=[{"A": [[1]], "b": [0]}, {"A": [[1]], "b": [1]}], weights=["3/4", "1/4"])
    found = objections(partial(1), unlike)
    broken = {name for name, why in found.items() if why is not None}
    assert broken == {"averages_as_objective", "pure_noise"}
    found = objections(partial(1, weights="data"), unlike)
    assert found["averages_as_objective"] is None
    assert found["averages_uniformly"] is not None


def test_noise_without_a_bound() -> None:
    spread = quadratics(clients=[{"components": [{"A": [[1]]}, {"A": [[3]]}]}] * 2)
    found = objections(partial(1), spread)
    assert "spread without bound in block 0" in str(found["block_variance"])
    assert "sigma2_total" not in joint_makers(partial(1), spread)
    assert objections(partial(1, gradient="full"), spread)["block_variance"] is None
    several = replace(partial(1), local=StochasticSteps(2))
    assert "exactly one plain step" in str(objections(several, spread)["block_variance"])


def test_samples_without_replacement() -> None:
    # four samples with gradients x -+ 1 and x -+ 3, two of them a step: variance 5, times (4 - 2)/(2 * 3)
    parts = [{"A": [[1]], "b": [b]} for b in (1, -1, 3, -3)]
    instance = quadratics(clients=[{"components": parts}])
    own = replace(partial(1), local=Epochs(1, 2, missed=(1,)))
    assert values(own, instance)["sigma2_total"] == F(5, 3)


def test_unlike_coupled_clients_have_no_block_dissimilarity() -> None:
    instance = quadratics(clients=[{"A": [[1, 0], [0, 1]]}, {"A": [[1, "1/2"], ["1/2", 1]]}])
    found = objections(partial(gradient="full"), instance)
    assert found["block_dissimilarity"] is not None
    assert found["total_dissimilarity"] is None
    assert "sum_L2_kappa2_W" not in joint_makers(partial(gradient="full"), instance)


def test_a_problem_that_is_not_quadratic_has_its_global_constant() -> None:
    instance = problem({"kind": "logistic_regression", "data": "breast_cancer", "clients": 3, "ridge": "1/10"})
    own = partial(gradient="full")
    found = values(own, instance)
    assert found["Lmax_G"] == found["Lmax_W"] == found["Lmax_B"] == instance.constants()["L"].value
    assert found["sum_L_sigma2_W"] == 0
    assert "Lmax_S" not in found
    told = objections(own, instance)
    assert told["smooth_weighted"] is None
    assert "smooth_separable" not in told


def test_other_methods_are_left_alone() -> None:
    instance = problem({"kind": "coupled_blocks", "clients": 3, "d": 4})
    plain = method({"kind": "gradient_descent", "eta": "1/8"})
    assert objections(plain, instance) == {}
    assert "Lmax" not in joint_makers(plain, instance)
    handed = partial(2, hand_over={"active": 2, "every": 4})
    assert objections(handed, instance) == {}
    assert "block_averaging" not in algorithms(handed)


@pytest.mark.parametrize("kind", ["partial_averaging", "periodic_averaging"])
def test_the_general_kind(kind: str) -> None:
    own = method({"kind": kind, "tau": 3, "eta": 1})
    assert "block_averaging" in algorithms(own)
    partition = "even" if kind == "partial_averaging" else "whole"
    assert method({"kind": "block_averaging", "tau": 3, "eta": 1, "partition": partition}) == own


# --- the four readings as assumptions that an instance is tested against ------------------------------------------

READINGS = {"smooth_blocks": smooth_blocks, "smooth_separable": smooth_separable, "smooth_weighted": smooth_weighted}
SINGLE = ((0,), (1,))


@pytest.mark.parametrize(
    ("name", "constants", "outcome"),
    [
        ("smooth_blocks", (1, 1), Outcome.HOLDS),
        ("smooth_blocks", (1, F(9, 10)), Outcome.VIOLATED),
        ("smooth_separable", (100, 100), Outcome.VIOLATED),
        ("smooth_weighted", (1, 1), Outcome.VIOLATED),
        ("smooth_weighted", (F(17, 10), F(27, 10)), Outcome.HOLDS),
        ("smooth_weighted", (F(17, 10), F(25, 10)), Outcome.VIOLATED),
    ],
)
def test_a_reading_on_an_instance(name: str, constants: Any, outcome: Outcome) -> None:
    instance = problem({"kind": "coupled_blocks", "clients": 2, "d": 2})  # H = [[1, 1], [1, 1]]
    found = check_assumption(READINGS[name], instance, blocks=(SINGLE, constants))
    assert (found.outcome, found.grade) == (outcome, Grade.EXACT)
    # an assumption under another name is no shipped one: nothing is decided, points alone tell
    own = replace(READINGS[name], name="mine")
    sampled = check_assumption(own, instance, blocks=(SINGLE, constants))
    assert sampled.outcome is outcome
    assert sampled.grade is (Grade.SUPPORTED if outcome is Outcome.HOLDS else Grade.EXACT)
    if outcome is Outcome.VIOLATED:
        assert "block" in sampled.witness


def test_the_global_reading_and_missing_blocks() -> None:
    instance = problem({"kind": "coupled_blocks", "clients": 2, "d": 2})
    for constant, outcome in ((2, Outcome.HOLDS), (F(19, 10), Outcome.VIOLATED)):
        found = check_assumption(smooth_globally, instance, {"Lmax": constant})
        assert (found.outcome, found.grade) == (outcome, Grade.EXACT)
    found = check_assumption(smooth_blocks, instance)
    assert found.outcome is Outcome.UNDECIDED
    assert "blocks" in found.reason


def test_a_reading_on_a_problem_that_is_not_quadratic() -> None:
    instance = problem({"kind": "logistic_regression", "data": "breast_cancer", "clients": 2, "ridge": "1/10"})
    halves = (tuple(range(instance.dim // 2)), tuple(range(instance.dim // 2, instance.dim)))
    top = instance.constants()["L"].value
    found = check_assumption(smooth_weighted, instance, blocks=(halves, (top, top)), points=5)
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    found = check_assumption(smooth_separable, instance, blocks=(halves, (F(1, 100), F(1, 100))), points=5)
    assert found.outcome is Outcome.VIOLATED
