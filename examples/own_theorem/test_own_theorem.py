"""The theorem on the Huber function that attains it."""


def test_the_bound_holds_where_it_is_attained(boundcheck):
    """Metric and bound are equal, decided in exact arithmetic."""
    problem = {"kind": "huber", "L": 3, "R": 2, "k": 10}
    method = {"kind": "gradient_descent", "eta": "1/3"}
    boundcheck.assert_holds("own/theorem_1", problem=problem, method=method, at={"k": 10}, arithmetic="rational")
