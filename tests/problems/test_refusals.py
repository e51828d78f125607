"""Bad specifications of the shipped kinds of problem, each refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from boundcheck.errors import BadInput, Unsupported
from boundcheck.problems.build import build

ONE = {"A": [[1]]}
PAIR = {"X": [[1, 2], [-1, -2]], "y": [1, 1]}
# kind -> (other parameters, what the message says)
REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "bilinear_game": [
        ({"clients": [{"A": [[1, 0]], "b": [1, 2]}]}, "1 rows of .* 2 numbers in b"),
        ({"clients": [ONE, {"A": [[1, 2]]}]}, "alike for all"),
        ({"clients": [{"A": [[0]], "b": [1]}]}, "has no saddle point"),
        ({"clients": [ONE], "start": [1]}, "start has 1 numbers; x and y have 2"),
        ({"clients": [{"A": [[1]], "d": [1]}]}, "key 'd' is unknown"),
        ({"clients": []}, "clients must be a list"),
        ({"clients": [{"b": [1]}]}, "must be a table with A"),
        ({"clients": [{"A": []}]}, "0 rows"),
    ],
    "coupled_blocks": [
        ({"delta": -1}, "delta = -1 is not allowed; it must be at least 0"),
        ({"d": 2, "start": [0]}, "start has 1 entries; the dimension is 2"),
        ({"start": "zero"}, "start = 'zero' is not allowed; it must be a list"),
        ({"clients": 0}, "clients = 0"),
        ({"d": 201}, "d = 201"),
        ({"clients": "1/2"}, "clients = 1/2"),
    ],
    "huber": [({"L": 0}, "above 0")],
    "least_squares": [
        ({"data": "diabets"}, "did you mean 'diabetes'"),
        ({"data": "mnist"}, "data set 'mnist' goes with kind = 'logistic_regression'"),
        ({"data": "diabetes", "clients": 443}, "1 to 442"),
        ({"data": "diabetes", "feature": "bmi"}, "only used with split"),
        ({"data": "diabetes", "split": "sorted", "feature": "bmy"}, "'bmi'"),
        ({"data": "diabetes", "split": "shards"}, "by their labels, which this data set has not"),
        ({"data": "digits", "split": "sorted", "feature": "pixel_9_9"}, "feature 'pixel_9_9'"),
        ({"data": "digits", "ridge": -1}, "ridge = -1 is not allowed"),
    ],
    "logistic_regression": [
        ({"data": "diabetes"}, "the data set 'diabetes' goes with kind = 'least_squares'"),
        ({"data": "digits", "positive": 10}, "the data set 'digits': class '10' is unknown"),
        ({"data": "digits", "positive": "benign"}, "class 'benign' is unknown"),
        ({"data": "digits", "positive": 1.5}, "positive = 1.5 is not allowed; it must name a class: 0, 1,"),
        ({"data": "digits", "ridge": "1e-13"}, "ridge = 1e-13 is not allowed; it must be 0, or from 1e-12"),
        ({"data": "digits", "ridge": "x"}, "ridge"),
        ({"data": "digits", "features": "long"}, "scale of the features 'long' is unknown; known: standardised, unit"),
        ({"data": "digits", "intercept": 1}, "intercept = 1 is not allowed; it must be true or false"),
        ({"data": "digits", "weights": "size"}, "the client weights 'size' is unknown; known: equal, data"),
        ({"data": "digits", "clients": 1798}, "clients = 1798 is not allowed; it must be an integer from 1 to 1797"),
        ({"data": "digits", "split": "sorted", "feature": "mean radius"}, "feature 'mean radius' is unknown"),
        # without a ridge
        ({"data": "breast_cancer", "ridge": 0}, "no certificate of that was found for the data set 'breast_cancer'"),
        ({"data": {"X": [[1], [2], [-1]], "y": [1, 1, 0]}, "ridge": 0, "clients": 1}, "data that no plane separates"),
        ({"data": PAIR, "ridge": 0, "clients": 1}, "at least 2 are needed"),
        (
            {"data": {"X": [[1, 2], [-1, -2], [1, 2]], "y": [1, 1, 0]}, "ridge": 0, "clients": 1, "intercept": False},
            "linearly independent features",
        ),
    ],
    "piecewise_quadratics": [
        ({"clients": [{"knots": [1, 1], "slopes": [0, 1]}]}, "they must increase"),
        ({"clients": [{"knots": [0, 1], "slopes": [1, 0]}]}, "is unbounded below"),
        ({"clients": [{"knots": [0], "slopes": [0], "beyond": [1, -1]}]}, "is unbounded below"),
        ({"clients": [{"knots": [0], "slopes": [0], "beyond": [1]}]}, "beyond has 1 numbers"),
        ({"clients": [{"knots": [0, 1], "slopes": [1]}]}, "as many are needed"),
        ({"clients": [{"knots": [0, 1], "slopes": [1, 2]}]}, "is unbounded below"),
        ({"clients": [{"knots": [0, 1]}]}, "must be a table with knots and slopes"),
        ({"clients": []}, "must be a list with one table"),
        ({"clients": [{"components": []}]}, "a list of such tables"),
        ({"clients": [{"knots": [0, 1], "slopes": [-1, 1], "slope": 2}]}, "key 'slope'"),
    ],
    "quadratics": [
        ({"clients": [{"A": [[1, 2], [0, 1]], "b": [0, 0]}]}, "not symmetric"),
        ({"clients": [{"A": [[1, 2]], "b": [0, 0]}]}, "must have 2 rows"),
        ({"clients": [{"A": [[1]], "B": [0]}]}, "unknown"),
        ({"clients": [{"b": [0]}]}, "must be a table with A"),
        ({"clients": [{"A": [["__import__('os')"]]}]}, "not a number"),
        ({"clients": [{"A": 1, "b": 1}, {"A": [[1, 0], [0, 1]], "b": [0, 0]}]}, "entries"),
        ({"clients": []}, "list with one table a client"),
        ({"clients": [{"components": []}]}, "a list of such tables"),
        ({"clients": [{"A": 1}, {"A": 1}], "weights": ["1/3", "1/3"]}, "sum to exactly 1"),
        ({"clients": [ONE], "reduction": "median"}, "the reduction 'median' is unknown"),
        ({}, "needs the parameter 'clients'"),
        ({"clients": 3}, "the problem 'quadratics': clients = 3 is not allowed; it must be a list"),
    ],
    "random_quadratics": [({"sed": 1}, "'seed'"), ({"mu": 2, "L": 1}, "mu <= L")],
    "scgd_appendix_c": [({"cubic": "yes"}, "true or false")],
    "scgd_section_4": [({"heterogeneity": "devise"}, "'device'")],
    "softmax_regression": [
        ({"data": "digits", "ridge": 0}, "ridge = 0 is not allowed; it must be from 1e-12 to 1000000"),
        ({"data": "digits", "split": "owners"}, "this data set has none"),
        ({"data": "cifar100"}, "the data set 'cifar100' is not to be had: .*'cifar10' with 500 clients"),
        ({"data": "femnist"}, "'shakespeare' with its roles"),
    ],
    "surrogate": [
        ({"of": {"kind": "fedshuffle_36"}, "weights": ["1/2", "1/4", "1/8"]}, "sum to exactly 1"),
        ({"of": {"kind": "fedshuffle_36"}, "weights": [1]}, "3 clients"),
        ({"of": {"kind": "fedshuffle_36"}, "weights": "1"}, "weights = '1' is not allowed; it must be a list"),
        ({"of": {"kind": "huber"}, "weights": [1]}, "cannot be given other weights"),
    ],
    "synthetic": [
        ({"iid": "yes"}, "true or false"),
        ({"iid": True, "alpha": 0}, "leave them out"),
        ({"alpha": -1}, "from 0 to 1000"),
        ({"devices": 0}, "devices"),
        ({"max_samples": 1}, "max_samples"),
        ({"ridge": 0}, "ridge"),
        ({"seed": -1}, "seed"),
    ],
    "quadratic": [({}, "'quadratics'")],
}
CASES = [(kind, given, said) for kind, rows in REFUSED.items() for given, said in rows]


@pytest.mark.parametrize(("kind", "given", "said"), CASES, ids=[f"{kind}: {said[:30]}" for kind, _, said in CASES])
def test_bad_specifications_are_refused_in_one_sentence(kind: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises((BadInput, Unsupported), match=said) as raised:
        build({"kind": kind, **given})
    assert "\n" not in str(raised.value)


def test_a_specification_names_its_kind() -> None:
    with pytest.raises(BadInput, match="names no kind"):
        build({"clients": 3})
