"""synthetic(alpha, beta) and its IID variant: softmax regression on the devices that FedProx and FedDANE simulate.

T. Li et al., "Federated Optimization in Heterogeneous Networks" and "FedDANE: A Federated Newton-Type Method". Device k
of 30 has, with all draws independent, features x in R^60 and one of 10 labels:

    n_k = int(exp(Normal(4, sd 2))) + 50
    u_k ~ Normal(0, sd alpha),    b_k ~ Normal(0, sd beta)
    v_k[j] ~ Normal(b_k, 1),      W_k[j, c] ~ Normal(u_k, 1),    c_k[c] ~ Normal(u_k, 1)
    x ~ Normal(v_k, diag(j^-1.2)), j = 1..60,    y = argmax of x W_k + c_k

(the papers write N(0, alpha); their code takes alpha as the standard deviation). IID: one W and c ~ Normal(0, 1) for
all devices, and v_k = 0. 90 per cent of each device's samples, chosen at random, are its training set, the objective's;
the rest is a test set. F is the mean cross entropy of a linear model with bias over all training samples, p_k = n_k/n.
The papers' loss has no regulariser; a ridge above 0 is needed here for a certified minimum and is small by default.

Normal numbers come by inversion of the counter-based streams (`core.streams`, purposes below), so that a device's data
depend on seed, alpha, beta and its number alone: not on the number of devices, nor on `max_samples`, which cuts sizes.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core import streams
from boundcheck.core.numbers import as_fraction, format_exact, format_short
from boundcheck.errors import BadInput, shown
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._losses import Softmax
from boundcheck.problems._specs import whole
from boundcheck.problems._split import data_weights, permutation
from boundcheck.problems.problem import Floats

FEATURES, CLASSES = 60, 10
RIDGE = Fraction(1, 10**6)
MOST = 100_000  # training samples of a device

# Purposes of the streams; the client of a stream is the device, and SHARED stands for all of them.
SIZE, MODEL, CENTRE, ROWS, HELD_OUT = 1010, 1011, 1012, 1013, 1014
SHARED = 2**32 - 1


def normals(seed: int, purpose: int, client: int, count: int) -> Floats:
    """`count` standard normal numbers of one stream, by inversion at (u + 1/2)/2^53, u the upper 53 bits of a word."""
    from scipy.special import ndtri

    words = streams.words([seed], purpose, 0, client, 0, count)[0]
    return ndtri(((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


@dataclass(frozen=True, eq=False)
class Device:
    """The data of one device: features (n, 60) and labels (n,), training set and test set."""

    train: Floats
    train_labels: NDArray[np.int64]
    test: Floats
    test_labels: NDArray[np.int64]


def device(k: int, seed: int, alpha: float, beta: float, iid: bool, max_samples: int | None) -> Device:
    """Device k (from 0), training and test set; max_samples: the most samples of both together."""
    size = int(math.exp(4 + 2 * float(normals(seed, SIZE, k, 1)[0]))) + 50
    size = min(size, MOST if max_samples is None else max_samples)
    # the device's middle u_k, then W by rows, then the biases
    drawn = normals(seed, MODEL, SHARED if iid else k, 1 + CLASSES * (FEATURES + 1))
    model = drawn[1:] + (0.0 if iid else alpha * drawn[0])
    weights, bias = model[: FEATURES * CLASSES].reshape(FEATURES, CLASSES), model[FEATURES * CLASSES :]
    around = normals(seed, CENTRE, k, 1 + FEATURES)
    centre = np.zeros(FEATURES) if iid else beta * around[0] + around[1:]
    spread = np.arange(1, FEATURES + 1) ** -0.6
    rows = centre + spread * normals(seed, ROWS, k, size * FEATURES).reshape(size, FEATURES)
    # summed in a fixed order: a label must not depend on how a library multiplies matrices
    scores = np.tile(bias, (size, 1))
    for j in range(FEATURES):
        scores += rows[:, j, None] * weights[j]
    labels = scores.argmax(axis=1).astype(np.int64)
    order = np.array(permutation(size, seed, HELD_OUT, k), dtype=np.int64)
    kept, held = order[: int(0.9 * size)], order[int(0.9 * size) :]
    return Device(rows[kept], labels[kept], rows[held], labels[held])


def build(
    *,
    alpha: Any = 1,
    beta: Any = 1,
    iid: Any = False,
    devices: Any = 30,
    seed: Any = 0,
    max_samples: Any = None,
    ridge: Any = None,
) -> Classifier:
    """The training objective; see the module's text. Start: 0.

    iid: all devices share one model and the centre 0 (alpha and beta must then be left out). max_samples: the most
    samples of a device, test set included (default: as drawn, up to 100000). ridge: default 1e-6. Raises BadInput.
    """
    if not isinstance(iid, bool):
        raise BadInput(f"iid = {shown(repr(iid))} is not allowed; it must be true or false.")
    wide, apart = as_fraction(alpha, "alpha"), as_fraction(beta, "beta")
    if min(wide, apart) < 0 or max(wide, apart) > 1000:
        raise BadInput(f"alpha = {format_short(wide)} and beta = {format_short(apart)} must be from 0 to 1000.")
    if iid and (wide, apart) != (1, 1):
        raise BadInput("alpha and beta are of the heterogeneous sets; leave them out with iid = true.")
    count, s = whole(devices, "devices", 1, 1000), whole(seed, "seed", 0, 2**64 - 1)
    most = None if max_samples is None else whole(max_samples, "max_samples", 2, MOST)
    strength = RIDGE if ridge is None else as_fraction(ridge, "ridge")
    if not Fraction(1, 10**12) <= strength <= 10**6:
        raise BadInput(f"ridge = {format_short(strength)} is not allowed; it must be from 1e-12 to 1000000.")
    spec: dict[str, Any] = {"kind": "synthetic", "iid": True} if iid else {"kind": "synthetic"}
    if not iid:
        spec |= {"alpha": format_exact(wide), "beta": format_exact(apart)}
    spec |= {"devices": count, "seed": s}
    if most is not None:
        spec["max_samples"] = most
    if ridge is not None:
        spec["ridge"] = format_exact(strength)
    parts = [device(k, s, float(wide), float(apart), iid, most) for k in range(count)]
    sizes = [len(p.train_labels) for p in parts]
    rows = np.ones((sum(sizes), FEATURES + 1))
    rows[:, :FEATURES] = np.concatenate([p.train for p in parts])
    name = "IID" if iid else f"({format_short(wide)}, {format_short(apart)})"
    return Classifier(
        name=f"synthetic {name}, {count} devices, seed {s}",
        spec=spec,
        features=rows,
        labels=np.concatenate([p.train_labels for p in parts]),
        offsets=tuple(itertools.accumulate(sizes, initial=0)),
        weights=data_weights(sizes, "data"),
        ridge=strength,
        loss=Softmax(CLASSES),
    )
