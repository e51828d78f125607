"""Softmax (multinomial logistic) regression with an l2 term, x the rows of X (K, p) one after the other:

    f_ij(x) = log sum_k exp(<a_ij, X_k>) - <a_ij, X_{y_ij}> + ridge/2 |x|^2.

Data that is on this machine, spread over clients. Constants and minimum are certified, see
`certified.linear_scores` and `_minimum`.
"""

from __future__ import annotations

from typing import Any

from boundcheck.problems._classifier import Classifier
from boundcheck.problems._data import Samples
from boundcheck.problems._data_sets import TAKEN_BY, module
from boundcheck.problems._losses import Softmax
from boundcheck.problems._own_data import Given, labelled
from boundcheck.problems._spread import spread

DATA = TAKEN_BY["softmax_regression"]


def build(
    *,
    data: Any,
    clients: Any = None,
    split: str | None = None,
    seed: Any = None,
    feature: str | None = None,
    alpha: Any = None,
    shards_per_client: Any = None,
    imbalance: Any = None,
    weights: str = "data",
    ridge: Any = None,
    intercept: Any = True,
    features: str | None = None,
    target: str | None = None,
    client: str | None = None,
) -> Classifier:
    """Softmax regression; d = classes * (features + intercept).

    data: "breast_cancer", "digits", "mnist" or "mnist_5k"; or own data, a file or arrays, with target and client, see
    `_own_data`. clients: default 20. split, seed, feature, alpha, shards_per_client, imbalance: see `_split`; default
    "random", and "owners" for own data with clients. weights: "data" (|D_i|/|D|) or "equal". ridge: default 1/|D|,
    above 0. intercept: a last feature 1 (its coefficients are regularised too). features: "standardised" (the default,
    as the data set has them) or "unit" (each row divided by its norm, the intercept included, so that
    L_ij = 1/2 + ridge up to rounding); of own data also "as_given" (the default), where "standardised" gives each
    column mean 0 and deviation 1 to six decimals.
    Raises UnknownName, BadInput, and DataNotFetched where the data set is missing.
    """
    asked = locals()
    given = Given.of(data, target, client)
    samples: Samples = module(data, DATA).load() if given.own is None else labelled(given.own)
    spec = {"kind": "softmax_regression", "data": given.spec}
    title = f"softmax regression on {given.name}"
    return spread(samples, samples.labels, Softmax(samples.classes), spec, title, given, asked)
