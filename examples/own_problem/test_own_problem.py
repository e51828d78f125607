"""The plug-ins pass the conformance suite, and run as shipped ones do."""

import boundcheck as bc
from boundcheck.judge.conformance.suite import conformance
from boundcheck.judge.findings import Status


def test_no_check_fails():
    """What was not asked is not counted as passed."""
    checks = conformance("own-problem")
    assert not [c for c in checks if c.status is Status.FAILED]
    assert sum(c.status is Status.PASSED for c in checks) > 50


def test_a_shipped_theorem_holds_on_the_own_problem(boundcheck):
    """Gradient descent on a convex problem of which no more is known than L and the distance of the start."""
    problem = {"kind": "two_distances", "centre": [1, "1/2"], "start": [3, -2]}
    method = {"kind": "gradient_descent", "eta": 1}
    result = boundcheck.assert_holds(
        "classics/gradient_descent_convex", problem=problem, method=method, rounds=20, engine="sampled"
    )
    assert result.verdict.tightness.ratio_min > 1


def test_the_own_part_is_used_by_its_name():
    """The own kind and a composition that names the own part are the same method."""
    problem = {"kind": "least_squares", "data": "diabetes", "clients": 4}
    own = bc.run({"kind": "alternating_fedavg", "eta": "1/10"}, problem, rounds=6, arithmetic="rational")
    named = {"kind": "composed", "participation": "alternating", "local": "gradient_steps", "eta": "1/10"}
    assert bc.run(named, problem, rounds=6, arithmetic="rational").exact == own.exact
