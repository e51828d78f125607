"""The quadratics on which the libraries run, and how many local steps each client takes there.

Client i holds one, two, three or four samples, so that an epoch of one sample a step is as many local steps. The
samples of a client are alike: the order in which a library visits them makes no difference, and a run is determined by
who takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_CURVATURES = (("1", "2"), ("3", "1"), ("1/2", "4"), ("2", "1/4"))
_LINEAR = ((1, 0), (0, 1), (-1, 2), (1, 1))


def _quadratics(sizes: Sequence[int], weights: Sequence[str], name: str) -> dict[str, Any]:
    clients = [
        {"components": [{"A": [[h, 0], [0, k]], "b": list(b)}] * size}
        for (h, k), b, size in zip(_CURVATURES, _LINEAR, sizes, strict=True)
    ]
    return {"kind": "quadratics", "clients": clients, "weights": list(weights), "start": [1, -2], "name": name}


_SAME = ["1/4"] * 4
PROBLEMS = {
    # weights n_i/n, as in the objective of FedAvg's paper
    "by data": _quadratics((1, 2, 3, 4), ("1/10", "1/5", "3/10", "2/5"), "clients weighted by their samples"),
    # F is the plain mean of the f_i, as in the papers of SCAFFOLD and q-FedAvg; the numbers of local steps differ
    "plain mean": _quadratics((1, 2, 3, 4), _SAME, "clients with equal weights and different numbers of steps"),
    # a client has one sample, so that its steps are along its whole gradient
    "one sample": _quadratics((1, 1, 1, 1), _SAME, "clients with one sample each"),
    # weights and numbers of steps are equal; only the functions differ
    "equal": _quadratics((3, 3, 3, 3), _SAME, "clients with equal weights and numbers of steps"),
}
