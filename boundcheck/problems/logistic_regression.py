"""Logistic regression with an l2 term: f_ij(x) = log(1 + exp(-y_ij <a_ij, x>)) + ridge/2 |x|^2, y = +1 or -1.

Data that is on this machine, spread over clients. Constants and minimum are certified, see
`certified.linear_scores` and `_minimum`. With ridge = 0 gradients are bounded, and there is a minimum where no plane
separates the two classes (`certified.separation`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._data import Samples
from boundcheck.problems._data_sets import TAKEN_BY, module
from boundcheck.problems._losses import Logistic
from boundcheck.problems._own_data import Given, labelled
from boundcheck.problems._spread import spread

DATA = TAKEN_BY["logistic_regression"]
PARITIES = ("even", "odd")


def build(
    *,
    data: Any,
    positive: Any = None,
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
    """Binary logistic regression.

    data: "breast_cancer", "digits" or "mnist"; or own data, a file or arrays, with target and client, see `_own_data`.
    positive: the class with y = +1, against all others: "benign" (default) or "malignant"; a digit, "odd" (default) or
    "even"; of own data with two classes the second by default, of more it must be named. clients: default 20. split,
    seed, feature, alpha, shards_per_client, imbalance: see `_split`; default "random", and "owners" for own data with
    clients. weights: "data" (|D_i|/|D|) or "equal". ridge: default 1/|D|; 0 is allowed where no plane separates the
    classes. intercept: a last feature 1 (its coefficient is regularised too). features: "standardised" (the default,
    as the data set has them) or "unit" (each row divided by its norm, the intercept included, so that
    L_ij = 1/4 + ridge up to rounding); of own data also "as_given" (the default), where "standardised" gives each
    column mean 0 and deviation 1 to six decimals.
    Raises UnknownName, BadInput, and DataNotFetched where the data set is missing.
    """
    asked = locals()
    given = Given.of(data, target, client)
    samples: Samples = module(data, DATA).load() if given.own is None else labelled(given.own)
    chosen = _positive(samples, given, positive)
    if chosen in PARITIES and given.own is None:
        mine = samples.labels % 2 == PARITIES.index(chosen)
    else:
        mine = samples.labels == samples.meanings.index(chosen)
    labels: NDArray[Any] = np.where(mine, 1.0, -1.0)
    spec = {"kind": "logistic_regression", "data": given.spec, "positive": chosen}
    title = f"logistic regression on {given.name}, {chosen} or not"
    return spread(samples, labels, Logistic(), spec, title, given, asked)


def _positive(samples: Samples, given: Given, positive: Any) -> str:
    binary = samples.classes == 2
    known = samples.meanings if binary or given.own is not None else (*samples.meanings, *PARITIES)
    if positive is None and not binary and given.own is not None:
        classes = shown(", ".join(samples.meanings))
        raise BadInput(
            f"{given.words} has {samples.classes} classes ({classes}); name the one with y = +1 against all others: "
            f"positive = '{samples.meanings[0]}'."
        )
    if positive is None:
        return samples.meanings[1] if binary else "odd"
    if isinstance(positive, bool) or not isinstance(positive, int | str):
        raise BadInput(f"positive = {shown(repr(positive))} is not allowed; it must name a class: {', '.join(known)}.")
    if str(positive) not in known:
        raise UnknownName(f"{given.words}: class", str(positive), known)
    return str(positive)
