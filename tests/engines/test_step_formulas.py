"""Step sizes that users write as text in the round or in the local steps: every engine, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from sampled_toys import small_problem

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BadInput
from boundcheck.methods.build import build
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Epochs,
    Formula,
    Full,
    GradientSteps,
    InverseCycle,
    Stale,
    Uniform,
)
from boundcheck.problems.build import build as build_problem

F = Fraction
ROUNDS, STEPS = Formula("1/(16 + 5*r)"), Formula("2/(31 + 7*t)")


def test_a_formula_of_a_known_schedule_is_that_schedule() -> None:
    p = small_problem(2, 1)
    for formula, known in (("1/(8*(r+1))", InverseCycle(F(1, 8))), ("1/8 + 0*r", Constant(F(1, 8)))):
        methods = [Method("m", Full(), Epochs(1), s) for s in (Formula(formula), known)]
        one, other = (run_exact(m, p, range(5), ["dist2"], arithmetic=Arithmetic.RATIONAL).exact for m in methods)
        assert one == other
        sampled = [run_sampled(m, p, 20, 3, ("dist2",), [20]).samples["dist2"].tolist() for m in methods]
        assert sampled[0] == sampled[1]


def test_problems_that_are_not_quadratic_by_hand() -> None:
    """Two steps a round on |x|'s Huber function, whose slope is 2 beyond the kink: x falls by 2 (1/(t+1))."""
    huber = build_problem({"kind": "huber", "L": 1, "R": 50, "k": 12})  # the kink is at 2
    method = build({"kind": "fedavg", "E": 2, "eta": "1/(t+1)"})
    curve = run_exact(method, huber, range(4), ["dist2"], arithmetic=Arithmetic.RATIONAL)
    points = [F(50), 50 - 2 * (1 + F(1, 2))]
    points += [points[1] - 2 * (F(1, 3) + F(1, 4))]
    points += [points[2] - 2 * (F(1, 5) + F(1, 6))]
    assert list(curve.exact["dist2"]) == [x * x for x in points]
    enclosed = run_exact(method, huber, range(4), ["dist2"])
    assert all(
        lo <= x * x <= hi for lo, x, hi in zip(enclosed.low["dist2"], points, enclosed.high["dist2"], strict=True)
    )


def test_a_square_root_is_rounded_down_in_both_engines() -> None:
    p = build_problem({"kind": "quadratics", "clients": [{"A": 1, "b": 0}], "start": [1]})
    method = build({"kind": "gradient_descent", "eta": "1/(2*sqrt(r+2))"})
    assert not method.schedule.is_exact()
    curve = run_exact(method, p, range(3), ["dist2"])
    assert curve.values["dist2"][2] == pytest.approx(((1 - 8**-0.5) * (1 - 12**-0.5)) ** 2, rel=1e-12)
    assert run_sampled(method, p, 2, 1, ("dist2",), [2]).values["dist2"][0] == pytest.approx(curve.values["dist2"][2])


def test_constants_of_a_table_are_put_in() -> None:
    given = {"formula": "2/(mu*(8*L/mu + t))", "mu": "1/2", "L": 1}
    method = build({"kind": "fedavg", "E": 5, "eta": given})
    assert method.schedule == Formula("2/((1/2)*(8*(1)/(1/2)+t))", "eta")
    assert method.schedule.steps(1, 5) == tuple(F(4, 16 + t) for t in range(5, 10))  # pyright: ignore
    assert build({"kind": "fedavg", "E": 5, "eta": method.schedule.text}).schedule == method.schedule  # pyright: ignore
    assert "eta" not in method.parameters()


def test_a_step_size_that_becomes_negative_stops_the_run() -> None:
    method = build({"kind": "fedavg", "E": 2, "eta": "1/10 - t/100"})
    p = small_problem(1, 1)
    run_exact(method, p, [5], ["dist2"])
    for engine in (lambda: run_exact(method, p, [6], ["dist2"]), lambda: run_sampled(method, p, 6, 1, ("dist2",), [6])):
        with pytest.raises(BadInput, match="is 0 in round 5, local step 10 of the run; a step size must be above 0"):
            engine()


def test_clients_must_take_equally_many_steps_for_t() -> None:
    p = small_problem(2, 1)
    for local in (Epochs(1), Epochs((1, 3)), Epochs(1, common="min")):
        method = Method("m", Full(), local, STEPS)
        for engine in (lambda m=method: run_exact(m, p, [1], ["dist2"]), lambda m=method: run(m, p, rounds=[1])):
            with pytest.raises(BadInput, match="needs one number of local steps"):
                engine()
        run_exact(Method("m", Full(), local, ROUNDS), p, [1], ["dist2"])


def test_kept_models_take_steps_by_iteration() -> None:
    stale = Method("m", Uniform(1), GradientSteps(2), STEPS, exchange=Stale())
    everyone = replace(stale, participation=Full())  # whose kept models are the server's point
    plain = replace(everyone, exchange=None)
    p = small_problem(1, 1)
    found = [run_exact(m, p, [3], ["dist2"], arithmetic=Arithmetic.RATIONAL).exact for m in (everyone, plain)]
    assert found[0] == found[1]
    assert run_exact(stale, p, [3], ["dist2"]).values["dist2"][0] > 0
