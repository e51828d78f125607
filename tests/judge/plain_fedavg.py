"""FedAvg in plain NumPy as a stranger writes it, and seven wrong copies of it."""

from __future__ import annotations

from typing import Any

from corpus.loops import Loop, Uniform, looped


def scaled(factor: float) -> Any:
    """With every local step this many times as long."""
    return looped(Loop, rate=lambda s: factor * s.task.step_sizes[s.r])


def weighted(factor: float) -> Any:
    """With weights that sum to this."""
    return looped(Loop, share=lambda s, who: factor * s.task.weights)


def doubled_step(s: Any, i: int, y: Any, x: Any, samples: Any) -> Any:
    return (2 if i == 1 else 1) * s.g(i, y)


fedavg = looped(Loop)
BUGS: dict[str, Any] = {
    "unweighted": looped(Uniform),
    "weights swapped": looped(Loop, share=lambda s, who: s.task.weights[[1, 0, *range(2, s.n)]]),
    "one client with doubled step": looped(Loop, direction=doubled_step),
    "one step fewer": looped(Loop, batches=lambda s, i: [None] * (s.K - 1)),
    "lr/2": scaled(0.5),
    "lr x 3": scaled(3.0),
    "weights that sum to 1.01": weighted(1.01),
}
LOOKS_LIKE = {
    "unweighted": "uniform weights",
    "weights swapped": "weights 0 and 1 swapped",
    "one client with doubled step": "step size of client 1 times 2",
    "one step fewer": "one local step fewer",
    "lr/2": "local step size times 1/2",
    "lr x 3": "local step size times 3",
    "weights that sum to 1.01": "models averaged with weights that sum to 101/100",
}
