"""A labelled data set over clients, as a classification problem."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.separation import MAX_NUMBERS
from boundcheck.core.numbers import as_fraction, format_exact, format_short
from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._data import Samples
from boundcheck.problems._losses import Logistic, Loss
from boundcheck.problems._own_data import Given
from boundcheck.problems._split import data_weights
from boundcheck.problems.problem import Floats

# As the data set has them (digits and mnist: within 0 and 1), or rows of length 1; of own data as they are given by
# default, and "standardised" scales their columns.
FEATURES = ("standardised", "unit")
OWN_FEATURES = ("as_given", *FEATURES)


def spread(
    samples: Samples,
    labels: NDArray[Any],
    loss: Loss,
    spec: dict[str, Any],
    title: str,
    given: Given,
    asked: Mapping[str, Any],
) -> Classifier:
    """A labelled data set over clients; labels: what the loss reads (N,), spec: kind, data and what the labels need.

    given: which data these are. asked: what `build` of a kind is given; features: of `FEATURES`, of own data of
    `OWN_FEATURES`, the first by default. Splits go by the data set's own labels. Raises BadInput and UnknownName.
    """
    count, scales = samples.count, FEATURES if given.own is None else OWN_FEATURES
    scale = scales[0] if asked["features"] is None else asked["features"]
    if scale not in scales:
        raise UnknownName("the scale of the features", str(scale), scales)
    ridge, intercept, weights = asked["ridge"], asked["intercept"], asked["weights"]
    if not isinstance(intercept, bool):
        raise BadInput(f"intercept = {shown(repr(intercept))} is not allowed; it must be true or false.")
    strength = Fraction(1, count) if ridge is None else as_fraction(ridge, "ridge")
    without = isinstance(loss, Logistic)
    if not Fraction(1, 10**12) <= strength <= 10**6 and not (without and strength == 0):
        allowed = "0, or from 1e-12 to 1000000" if without else "from 1e-12 to 1000000"
        raise BadInput(f"ridge = {format_short(strength)} is not allowed; it must be {allowed}.")
    dealt, parts = given.dealt(samples, asked)
    spec |= {"clients": dealt.clients, "split": dealt.kind, **dealt.given, "weights": weights, "intercept": intercept}
    if ridge is not None:
        spec["ridge"] = format_exact(strength)
    if scale != scales[0]:
        spec["features"] = scale
    sizes = [len(part) for part in parts]
    shares = data_weights(sizes, weights)
    order = np.concatenate([np.array(part, dtype=np.int64) for part in parts])
    rows = np.ones((count, len(samples.names) + intercept))
    rows[:, : len(samples.names)] = samples.numbers[order]
    rows[:, : len(samples.names)] /= samples.denominator
    if given.own is not None and scale == "standardised":
        _standardise(rows[:, : len(samples.names)], samples.names, given.words)
        title = f"{title}, standardised"
    if scale == "unit":
        _shorten(rows)
        title = f"{title}, rows of length 1"
    found = Classifier(
        name=f"{title}, {dealt.clients} clients, split {dealt.name}",
        spec=spec,
        features=rows,
        labels=labels[order],
        offsets=tuple(itertools.accumulate(sizes, initial=0)),
        weights=shares,
        ridge=strength,
        loss=loss,
    )
    if not strength and rows.size > MAX_NUMBERS:
        raise BadInput(
            f"ridge = 0 needs a certificate, which is computed for at most {MAX_NUMBERS} features in all rows."
        )
    if not found.attained:
        raise BadInput(
            "ridge = 0 needs data that no plane separates and linearly independent features, so that there is one "
            f"minimiser; no certificate of that was found for {given.words}: choose a ridge above 0."
        )
    return found


def _standardise(columns: Floats, names: Sequence[str], words: str) -> None:
    """Gives every column mean 0 and standard deviation 1, rounded to six decimals, in place.

    The sums are correctly rounded, so that every machine gets the same doubles. Raises BadInput for a constant column.
    """
    for j, name in enumerate(names):
        centred = columns[:, j] - math.fsum(columns[:, j]) / len(columns)
        deviation = math.sqrt(math.fsum(centred * centred) / len(columns))
        if deviation == 0:
            raise BadInput(
                f"{words}: the feature '{name}' is constant, so that it cannot be standardised; leave it out."
            )
        columns[:, j] = np.round(centred / deviation, 6)


def _shorten(rows: Floats) -> None:
    """Divides every row by its norm, in place; a row of zeros stays. The rounded doubles are the data from then on."""
    norms = np.sqrt(np.einsum("jl,jl->j", rows, rows))
    rows /= np.where(norms > 0, norms, 1.0)[:, None]
