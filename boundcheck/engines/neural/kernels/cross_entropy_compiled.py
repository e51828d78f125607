"""The cross-entropy of the scores of many models and its derivative, on a processor.

A dozen operations of torch on arrays as small as these take longer than a small network's layers.
"""

from __future__ import annotations

import math
from typing import Any

from boundcheck.engines.sampled.jit import bare

__all__ = ["cross_entropy"]


def _cross_entropy(
    scores: Any, labels: Any, counted: Any, classes: Any, width: Any, factors: Any, losses: Any, slopes: Any
) -> None:
    """losses (N,): the mean of a model's samples that count; slopes (N, width, classes): factors times its derivative.

    scores (N, width, classes), labels (N, width), counted: (N, width), or empty where all count; factors (N,). All are
    flat. A model without samples has loss 0.
    """
    for k in range(len(losses)):
        total, count = 0.0, 0
        for sample in range(k * width, (k + 1) * width):
            row = sample * classes
            of, into = scores[row : row + classes], slopes[row : row + classes]
            if len(counted) and not counted[sample]:
                for c in range(classes):
                    into[c] = 0
                continue
            top, whole = of[0], 0.0
            for c in range(1, classes):
                top = max(top, of[c])
            for c in range(classes):
                into[c] = math.exp(of[c] - top)
                whole += into[c]
            total += math.log(whole) + top - of[labels[sample]]
            count += 1
            for c in range(classes):
                into[c] /= whole
            into[labels[sample]] -= 1
        count = max(count, 1)
        losses[k] = total / count
        factor = factors[k] / count
        for place in range(k * width * classes, (k + 1) * width * classes):
            slopes[place] *= factor


cross_entropy = bare(_cross_entropy)
