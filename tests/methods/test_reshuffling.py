"""FedRR and local random reshuffling: two rounds by hand, and which clients make them one method."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.methods.build import algorithms, build, objections
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of

F = Fraction
# f = A x^2/2 - b x of each sample; with eta = 1/2 the passes from x end at 0 or 1/2, and at -x/4 + 1/2 or -x/4 + 1/4
FIRST = [{"A": [[1]], "b": [1]}, {"A": [[2]], "b": [0]}]
SECOND = [{"A": [[1]], "b": [0]}, {"A": [[3]], "b": [1]}]


def problem(*clients: list[dict[str, Any]], **more: Any) -> Any:
    return build_problem({"kind": "quadratics", "clients": [{"components": c} for c in clients], "start": [1], **more})


def distances(kind: str, where: Any) -> Any:
    method = build({"kind": kind, "eta": "1/2"})
    return run_exact(method, where, [0, 1, 2], ["dist2"], arithmetic=Arithmetic.RATIONAL).exact["dist2"]


@pytest.mark.parametrize("kind", ["fedrr", "local_rr"])
def test_two_rounds_by_hand_with_clients_of_one_size(kind: str) -> None:
    """x <- -x/8 + u, u of mean 5/16 and variance (1/16 + 1/64)/4 = 5/256; the minimiser is 2/7."""
    found = distances(kind, problem(FIRST, SECOND))
    means, squares = (1, F(3, 16), F(37, 128)), (1, F(7, 128), F(847, 8192))
    assert list(found) == [s - 2 * m * F(2, 7) + F(4, 49) for m, s in zip(means, squares, strict=True)]


def test_two_rounds_by_hand_with_clients_of_two_sizes() -> None:
    """The second client takes one step, to x/2, and counts once: x <- x/4 + u, u = 0 or 1/4 with probability 1/2.

    By data F' = (3 x - 1)/2 * 2/3 + x/3 = (4 x - 1)/3, so that the minimiser is 1/4.
    """
    found = distances("fedrr", problem(FIRST, SECOND[:1], weights=["2/3", "1/3"]))
    means, squares = (1, F(3, 8), F(7, 32)), (1, F(5, 32), F(5, 512) + F(3, 128) + F(1, 32))
    assert list(found) == [s - m / 2 + F(1, 16) for m, s in zip(means, squares, strict=True)]


def test_which_kinds_they_are() -> None:
    alike, unlike = (clients_of(problem(FIRST, second)) for second in (SECOND, SECOND[:1]))
    rr, local = (build({"kind": kind, "eta": "1/2"}) for kind in ("fedrr", "local_rr"))
    both = {"fedrr", "local_rr", "fedavg_reshuffled"}
    assert both <= set(algorithms(rr)) == set(algorithms(local))
    assert {*both, "fedavg_rr"} <= set(algorithms(local, alike))
    assert set(algorithms(local, unlike)) & both == {"fedrr", "fedavg_reshuffled"}
    assert objections(local, unlike)["local_rr"].endswith("equally many samples of all clients, not 1 and 2")
    assert "local_rr" not in objections(local, alike)
    for other in ({"E": 2}, {"batch": 2}, {"size": 1}):
        assert not {"fedrr", "local_rr"} & set(algorithms(build({"kind": "fedavg_reshuffled", "eta": 1, **other})))
    slower = build({"kind": "fedrr", "eta": {"value": "1/2", "at": [3]}})
    assert "fedrr" in algorithms(slower)
    assert "local_rr" not in algorithms(slower)  # its step size is constant
