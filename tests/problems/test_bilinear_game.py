"""Bilinear games: a problem that is no minimisation, against hand computations and runs over all orders."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import boundcheck as bc
from boundcheck.certified import certify
from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.cli import main
from boundcheck.core.linalg import matrix
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.assumptions import check_assumption
from boundcheck.problems.problem import Quadratic, quadratic_objectives
from boundcheck.setting import Setting
from boundcheck.theory.assumptions import smooth_clients

F = Fraction
# f(x, y) = x'Ay + b'x + c'y with A = 2 times a rotation: F(x, y) = (A y + b, -A'x - c) is 0 where A y = -b, A'x = -c.
ROTATED = {
    "kind": "bilinear_game",
    "start": [1, 2, 0, 1],
    "clients": [{"A": [["6/5", "-8/5"], ["8/5", "6/5"]], "b": [2, 0], "c": [0, 4]}],
}
# Two clients, the first with two samples; A is not square, so that there are many solutions.
SAMPLES = {
    "kind": "bilinear_game",
    "start": [1, 1, 1],
    "weights": ["1/3", "2/3"],
    "clients": [
        {"components": [{"A": [[1, 2]], "b": [1]}, {"A": [[3, 0]], "c": [1, 0]}]},
        {"A": [[0, 1]], "b": ["1/2"], "c": ["-1/4", 0]},
    ],
}


def linear(a: Any, b: Any, c: Any, z: list[F]) -> list[F]:
    """F at z for one x and two y, by hand."""
    x, y1, y2 = z
    return [a[0] * y1 + a[1] * y2 + b, -a[0] * x - c[0], -a[1] * x - c[1]]


def test_map_solution_and_constants_by_hand() -> None:
    p: Any = bc.problem(ROTATED)
    z = np.array([F(1), F(2), F(0), F(1)], dtype=object)
    # A y + b at y = (0, 1) is (-8/5 + 2, 6/5); -A'x - c at x = (1, 2) is (-(6/5 + 16/5), -(-8/5 + 12/5) - 4)
    assert list(p.gradient(0, z)) == [F(2, 5), F(6, 5), F(-22, 5), F(-24, 5)]
    # A'A = 4 I: y* = -A'b/4 = (-3/5, 4/5), x* = -A c/4 = (8/5, -6/5)
    assert list(p.nearest(z)) == [F(8, 5), F(-6, 5), F(-3, 5), F(4, 5)]
    assert p.metric("dist2", z) == F(9, 25) + F(256, 25) + F(9, 25) + F(1, 25)
    known = p.constants()
    assert {name: known[name].value for name in known} == {
        "n": 1, "d": 4, "dist2_0": 11, "s_min": 2, "L": 2, "L_f": 2, "L_ij": 2,
    }  # fmt: skip
    assert all(c.side == "exact" for c in known.values())
    assert bc.problem(p.spec).spec == p.spec


def test_operator_norms_that_are_irrational_lie_on_the_safe_side() -> None:
    known = bc.problem({"kind": "bilinear_game", "clients": [{"A": [[1, 1], [0, 1]]}]}).constants()
    phi = F(16180339887498948482045868343656381177203, 10**40)  # cut off; the singular values are phi and 1/phi
    assert phi < known["L"].value < phi * (1 + F(1, 10**11))
    assert 1 / phi * (1 - F(1, 10**11)) < known["s_min"].value < 1 / phi
    # twice the symmetric part is 0: the largest |eigenvalue| of that says nothing about the map
    with pytest.raises(BadInput, match="only a symmetric matrix"):
        is_positive_semidefinite(matrix([[0, 1], [-1, 0]]))
    with pytest.raises(BadInput, match="not symmetric"):
        certify.smoothness([matrix([[0, 1], [-1, 0]])])


def test_there_is_no_objective_and_nothing_takes_it_for_one() -> None:
    p = bc.problem(ROTATED)
    assert isinstance(p, Quadratic)
    assert quadratic_objectives(p) is None
    found = Setting(bc.method(kind="fedavg", E=2, eta="1/10"), p)
    assert not {"objective/mu", "samples/mu", "start/gap", "clients/G2", "clients/lambda"} & set(found.constants())
    for name in ("convexity", "strong_quasi_convexity", "convex_samples", "bounded_below"):
        assert found.hypothesis(name).why == "it is no minimisation: F(x, y) = (A y + b, -A'x - c) is no gradient."
    assert found.hypothesis("smooth_clients").holds
    assert found.hypothesis("gradient_dissimilarity").holds is None
    edge = {L: check_assumption(smooth_clients, p, {"L": L}).outcome.value for L in (F(2), F(2) - F(1, 10**30))}
    assert list(edge.values()) == ["HOLDS", "VIOLATED"]


def test_reshuffled_samples_over_all_orders() -> None:
    """FedAvg with one reshuffled epoch, two rounds: the mean over the orders of both clients, by hand."""
    parts = [[((1, 2), 1, (0, 0)), ((3, 0), 0, (1, 0))], [((0, 1), F(1, 2), (F(-1, 4), 0))]]
    eta, weights, ends = F(1, 10), (F(1, 3), F(2, 3)), [[F(1)] * 3]
    for _ in range(2):
        moved: list[list[F]] = []
        for z in ends:
            for order in itertools.permutations(parts[0]):
                ways = list[list[F]]()
                for own in (order, parts[1]):
                    y = z
                    for sample in own:
                        y = [v - eta * g for v, g in zip(y, linear(*sample, y), strict=True)]
                    ways.append(y)
                moved.append([sum((w * y[k] for w, y in zip(weights, ways, strict=True)), F(0)) for k in range(3)])
        ends = moved
    # the mean map: A = (2/3, 1/3) + (0, 2/3) = (2/3, 1), b = 1/6 + 1/3, c = (1/6 - 1/6, 0): x* = 0, 2/3 y1 + y2 = -1/2
    dist2 = [z[0] ** 2 + (F(2, 3) * z[1] + z[2] + F(1, 2)) ** 2 / F(13, 9) for z in ends]
    method = {"kind": "fedavg_rr", "eta_l": "1/10", "E": 1}
    curve = bc.run(method, SAMPLES, rounds=[2], metrics=["dist2"], arithmetic="rational")
    assert curve.exact is not None
    assert list(curve.exact["dist2"]) == [sum(dist2) / len(dist2)]
    drawn = bc.run(method, SAMPLES, rounds=[2], metrics=["dist2"], engine="sampled", seeds=400).samples["dist2"][:, 0]
    assert set(np.round(drawn, 9)) == {round(float(v), 9) for v in dist2}


GAP = """
[[claim]]
name = "gap"
statement = "classics/gradient_descent_convex/sharp"
problem = { kind = "bilinear_game", clients = [{ A = [[2]] }] }
method = { kind = "gradient_descent", eta = "1/10" }
at = { k = [10] }
expect = "HOLDS"
"""
LIMITS = """
[[limits]]
problem = { kind = "bilinear_game", clients = [{ A = [[2]] }] }
name = "l"
methods = [{ kind = "fedavg", E = 2 }]
parameter = "eta"
values = ["1/10"]
"""


@pytest.mark.parametrize(("text", "quantity"), [(GAP, "'gap'"), (LIMITS, "gap")])
def test_commands_that_need_a_minimum_say_so(text: str, quantity: str, tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(text)
    assert (
        main(
            ["check" if text is GAP else "report", str(path), *(() if text is GAP else ("--out", str(tmp_path / "o")))]
        )
        == 2
    )
    captured = capsys.readouterr()
    said = captured.out + captured.err
    assert "'bilinear game of 1 client in dimension 2' is no minimisation but seeks a zero of" in said
    assert f"has no {quantity}" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("engine", ["exact", "sampled"])
def test_metrics_and_solves_that_need_a_minimum_say_so(engine: str) -> None:
    for name in ("gap", "grad2", "drift", "B2"):
        with pytest.raises(BadInput, match=rf"in dimension 4' is no minimisation .* has no '{name}'"):
            bc.run({"kind": "fedavg", "E": 2, "eta": "1/10"}, ROTATED, rounds=[1], metrics=[name], engine=engine)
    with pytest.raises(Unsupported, match="the map of client 0 is no gradient"):
        bc.run({"kind": "fedprox", "mu": 1, "solver": "exact"}, ROTATED, rounds=[1], metrics=["dist2"], engine=engine)
    with pytest.raises(Unsupported, match="cannot be given other weights"):
        bc.problem({"kind": "surrogate", "of": SAMPLES, "weights": ["1/2", "1/2"]})
    with pytest.raises(Unsupported, match="is no minimisation"):
        bc.task({"kind": "gradient_descent", "eta": 1}, ROTATED, 2)
