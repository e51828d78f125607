"""Methods of the papers that become textbook methods, or one another, at special parameters: the same exact curves.

Every curve is in rational arithmetic, so that equal means equal. Where a method only tends to another, the distance of
their exact curves is shown to fall in proportion to the step size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.run import run
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.problems.build import build as build_problem

F = Fraction
METRICS = ("dist2", "gap", "grad2")
ROUNDS = 5

# Three clients in the plane that differ in everything, with equal weights
CLIENTS = [
    {"A": [[2, 0], [0, 1]], "b": [1, 0]},
    {"A": [[1, "1/2"], ["1/2", 1]], "b": [0, 1]},
    {"A": [["3/2", 0], [0, "1/2"]], "b": [-1, 2]},
]
# and three with samples that differ
WEIGHTS = ["1/2", "1/3", "1/6"]


def problem(clients: Sequence[Any] = CLIENTS, **more: Any) -> Any:
    return build_problem({"kind": "quadratics", "clients": list(clients), "start": [3, -2], **more})


def curve(spec: Mapping[str, Any], about: Any, rounds: int | Sequence[int] = ROUNDS) -> dict[str, tuple[Fraction, ...]]:
    """The exact metrics at the rounds."""
    grid = range(rounds + 1) if isinstance(rounds, int) else rounds
    found = run(build(spec), about, rounds=list(grid), metrics=METRICS, arithmetic=Arithmetic.RATIONAL).exact
    assert set(found) == set(METRICS)
    return {name: tuple(found[name]) for name in METRICS}


def assert_moves(curves: Mapping[str, tuple[Fraction, ...]]) -> None:
    """No two methods are the same because neither does anything."""
    assert len(set(curves["dist2"])) == len(curves["dist2"])


def test_fedavg_with_one_client_and_one_step_is_gradient_descent() -> None:
    alone = problem(CLIENTS[:1])
    descent = {"kind": "gradient_descent", "eta": "1/3"}
    expected = curve(descent, alone)
    # x_k - x* = (1 - eta lam)^k (x_0 - x*) in each coordinate, with x* = (1/2, 0)
    by_hand = [F(1, 3) ** (2 * k) * F(5, 2) ** 2 + F(2, 3) ** (2 * k) * 4 for k in range(ROUNDS + 1)]
    assert list(expected["dist2"]) == by_hand
    for spec in (
        {"kind": "fedavg", "E": 1, "eta": "1/3"},
        {"kind": "fedavg_sync", "K": 1, "eta_l": "1/3"},
        {"kind": "fedavg_rr", "eta_l": "1/3"},  # one sample is the full gradient
        {"kind": "fedshuffle", "eta_l": "1/3"},
        {"kind": "scgd", "E": 1, "eta": "1/3"},
        {"kind": "sync_sgd", "eta": "1/3"},
        {"kind": "fedprox", "mu": 7, "solver": {"steps": 1, "eta": "1/3"}},  # at its anchor the proximal term is flat
        {"kind": "feddane", "mu": 7, "participation": "full", "solver": {"steps": 1, "eta": "1/3"}},
    ):
        assert curve(spec, alone) == expected
    names = algorithms(build({"kind": "fedavg", "E": 1, "eta": "1/3"}), Clients.alike(1))
    assert {"fedavg", "gradient_descent"} <= set(names)
    assert names == algorithms(build(descent), Clients.alike(1))
    assert "gradient_descent" not in algorithms(build({"kind": "fedavg", "E": 2, "eta": "1/3"}))


TWICE, JOINT = {"K": 3, "eta_l": "1/20"}, {"kind": "fedavg_async", "K": 2, "eta_l": "1/5", "times": [2, 2, 2]}
HALF_TIME = {"kind": "fedfix", **TWICE, "times": "f0", "dt": "1/2"}
SYNC = {"kind": "fedavg_sync", "K": 2, "eta_l": "1/5"}
FULL = {"kind": "feddane", "mu": 2, "participation": "full"}
CORRECTED = {"kind": "feddane", "mu": 2, "participation": "uniform", "K": 2, "decay": "constant"}
OFF = {**CORRECTED, "decay": {"kind": "constant", "factor": 0}}
PROX = {"kind": "fedprox", "mu": 2, "participation": "uniform", "K": 2}
SOLVER = {"steps": 2, "eta": "1/5"}


def periodic(tau: int, **more: Any) -> dict[str, Any]:
    return {"kind": "periodic_averaging", "tau": tau, "eta": "1/6", "gradient": "full", **more}


# A method, another that does the same, how many of its rounds make one of the other, whether clients have weights of
# their own, and methods that do not do the same.
SAME: list[tuple[dict[str, Any], dict[str, Any], int, bool, list[dict[str, Any]]]] = [
    (
        {"kind": "fedavg_sync", **TWICE, "eta_g": 2},
        {"kind": "fedfix", **TWICE, "times": "f0", "dt": "1/2"},
        2,
        True,
        [],
    ),
    # one by one, the second of a tie works on an old model
    (SYNC, {**JOINT, "ties": "joint"}, 1, True, [JOINT, {**JOINT, "ties": "joint", "times": [1, 2, 2]}]),
    ({"kind": "fedavg", "E": 3, "eta": "1/6"}, {"kind": "fedavg_sync", "K": 3, "eta_l": "1/6"}, 1, False, []),
    ({"kind": "fedavg", "E": 2, "eta": "1/6"}, periodic(2), 2, False, []),
    ({"kind": "fedavg", "E": 3, "eta": "1/6"}, periodic(3), 3, False, []),
    ({"kind": "fedavg_sync", "K": 2, "eta_l": "1/6"}, periodic(2, weights="data"), 2, True, []),
    ({"kind": "fedavg_sync", "K": 3, "eta_l": "1/6"}, periodic(3, weights="data"), 3, True, []),
    ({**PROX, "solver": "exact"}, {**OFF, "solver": "exact"}, 1, False, [{**CORRECTED, "solver": "exact"}]),
    ({**PROX, "solver": SOLVER}, {**OFF, "solver": SOLVER}, 1, False, [{**CORRECTED, "solver": SOLVER}]),
    ({"kind": "dane", "mu": 2}, FULL, 1, False, []),
    (
        {"kind": "fedavg", "E": 3, "eta": "1/5"},
        {"kind": "fedprox", "mu": 0, "solver": {"steps": 3, "eta": "1/5"}},
        1,
        False,
        [{"kind": "fedprox", "mu": "1/10", "solver": {"steps": 3, "eta": "1/5"}}],
    ),
]


@pytest.mark.parametrize(("spec", "same", "each", "weighted", "others"), SAME)
def test_methods_that_do_the_same(spec: Any, same: Any, each: int, weighted: bool, others: list[Any]) -> None:
    about = problem(**({"weights": WEIGHTS} if weighted else {}))
    expected = curve(spec, about)
    assert_moves(expected)
    assert curve(same, about, range(0, each * ROUNDS + 1, each)) == expected
    for other in others:
        assert curve(other, about) != expected


def test_dane_on_one_client_tends_to_newton() -> None:
    """With exact solves x+ = x - (A + mu I)^{-1} grad F(x): at mu = 0 Newton's step, which ends at the minimiser."""
    alone = problem([{"A": [[2, 0], [0, 1]], "b": [1, 0]}])
    newton = curve({"kind": "dane", "mu": 0}, alone, 1)
    assert newton["dist2"] == (F(5, 2) ** 2 + 4, F(0))
    sizes = []
    for mu in (F(1, 100), F(1, 200)):
        found = curve({"kind": "dane", "mu": str(mu)}, alone, 1)
        left = (mu / (2 + mu) * F(5, 2)) ** 2 + (mu / (1 + mu) * 2) ** 2
        assert found["dist2"][1] == left
        sizes.append(left)
    # the distance to Newton's point falls in proportion to mu, so that its square falls by four
    assert F(24, 100) < sizes[1] / sizes[0] < F(26, 100)
    # heterogeneous clients share the gradient, not the Hessian: no Newton step, however small mu is
    for clients, at_once in (([CLIENTS[1]] * 3, True), (CLIENTS, False)):
        assert (curve({"kind": "dane", "mu": 0}, problem(clients), 1)["dist2"][1] == 0) is at_once
