"""The one door to the engines: grids, bad input, and what it attaches to a curve."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.certified.constant import Known
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.run import describe, round_grid, run
from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting

APP_C = build_problem({"kind": "scgd_appendix_c"})
APP_B = build_problem({"kind": "scgd_appendix_b"})
SCGD = build_method({"kind": "scgd", "E": 2, "eta": "1/10"})


def test_short_runs_measure_every_round_and_long_ones_a_log_grid() -> None:
    assert round_grid(3) == [0, 1, 2, 3]
    assert round_grid(2000) == list(range(2001))
    grid = round_grid(10**9)
    assert grid[:101] == list(range(101))
    assert grid[-1] == 10**9
    assert len(grid) < 400
    assert grid == sorted(set(grid))
    assert round_grid([0, 5, 7]) == [0, 5, 7]


def test_rounds_of_any_integer_type() -> None:
    assert round_grid(np.int64(3)) == [0, 1, 2, 3]  # pyright: ignore[reportArgumentType]  (what users have)
    assert round_grid(np.array([0, 2, 5])) == [0, 2, 5]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "rounds", [0, -1, 10**15 + 1, [], [3, 3], [5, 2], [-1, 2], [10**16], "abc", None, [1.5], ["1"]]
)
def test_impossible_rounds(rounds: Any) -> None:
    with pytest.raises(BadInput):
        round_grid(rounds)


def test_unknown_names() -> None:
    with pytest.raises(UnknownName, match="did you mean 'sampled'"):
        run(SCGD, APP_C, rounds=3, engine="sample")
    with pytest.raises(UnknownName, match="did you mean 'dist2'"):
        run(SCGD, APP_C, rounds=3, metrics=["dist"])
    with pytest.raises(UnknownName, match="rational"):
        run(SCGD, APP_C, rounds=3, arithmetic="sampled")
    for seeds in (0, range(0)):
        with pytest.raises(BadInput, match="at least 1"):
            run(SCGD, APP_C, rounds=3, engine="sampled", seeds=seeds)


def test_what_a_curve_carries() -> None:
    curve = run(SCGD, APP_C, rounds=[0, 3], arithmetic="rational")
    # 5184/15625 after one cycle, whatever the order
    assert curve.exact["x"] == (1, Fraction(5184, 15625))
    assert curve.start == {"dist2": 1, "gap": Fraction(1, 3), "grad2": Fraction(4, 9), "x": 1}
    assert {k: curve.constants[k].value for k in ("method/E", "method/eta", "clients/L", "clients/n")} == {
        "method/E": 2,
        "method/eta": Fraction(1, 10),
        "clients/L": 6,
        "clients/n": 3,
    }
    assert curve.constants["method/eta"].known is Known.EXACT
    assert curve.algorithms == ("fedavg_weighted", "scgd")  # the clients have one weight
    assert curve.assumptions["strong_quasi_convexity"] == "decided"
    assert "convex_clients" in curve.violations
    assert curve.diverged is None


def test_the_start_is_exact_whatever_the_arithmetic() -> None:
    third = build_problem({"kind": "scgd_appendix_c", "start": "1/3"})
    for arithmetic in ("ball", "float64"):
        assert run(SCGD, third, rounds=[0], arithmetic=arithmetic).start["dist2"] == Fraction(1, 9)
    assert run(build_method({"kind": "scgd", "E": 1, "eta": "1/10"}), APP_B, rounds=[0]).start == {
        "dist2": Fraction(9, 4),
        "x": 2,
    }


def test_what_a_problem_cannot_decide_is_in_neither_list() -> None:
    curve = run(SCGD, APP_C, rounds=[0], assumptions=["convex_clients", "no_such_assumption", "instance:another"])
    known = set(curve.assumptions) | set(curve.violations)
    assert "no_such_assumption" not in known
    assert {"convex_clients", "instance:another"} <= set(curve.violations)
    assert curve.assumptions["instance:scgd_appendix_c"] == "decided"
    assert describe(curve, Setting(SCGD, APP_C)).assumptions["smooth_clients"] == "decided"


def test_seeds_as_a_count_and_as_a_range() -> None:
    method = build_method({"kind": "fedavg", "E": 2, "eta": "1/10", "size": 1})
    how: dict[str, Any] = {"rounds": [0, 1, 5], "engine": "sampled", "metrics": ["dist2"]}
    all_of = run(method, APP_C, seeds=6, **how)
    part = run(method, APP_C, seeds=range(2, 5), **how)
    np.testing.assert_array_equal(all_of.samples["dist2"][2:5], part.samples["dist2"])
    assert all_of.arithmetic is Arithmetic.SAMPLED
    assert all_of.expectation


def test_progress_ends_at_one() -> None:
    for engine in ("exact", "sampled"):
        seen: list[float] = []
        run(SCGD, APP_C, rounds=50, engine=engine, seeds=3, on_progress=seen.append)
        assert seen[-1] == 1


@pytest.mark.parametrize("kind", ["fedavg_rr", "fedshuffle"])
def test_a_round_of_too_many_local_steps_is_refused(kind: str) -> None:
    method = build_method({"kind": kind, "E": 10**9, "eta_l": "1/1000"})
    with pytest.raises(BoundcheckError, match="local steps"):
        run(method, build_problem({"kind": "fedshuffle_36"}), rounds=1, engine="sampled", seeds=2)
