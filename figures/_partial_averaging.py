"""What the figures of partial averaging share: the two methods, and softmax regression on digits by sampled runs.

S. Lee, A. K. Sahu, C. He and S. Avestimehr, "Partial Model Averaging in Federated Learning", Figures 2 and 3: ResNet20
on CIFAR-10 with 128 workers. Here: quadratics, whose expectations the exact engine has, and the digits of scikit-learn,
split at random over 16 workers (IID data).
"""

from __future__ import annotations

from typing import Any

KINDS = ("partial", "periodic")
TAU, SEEDS = 8, 5
DIGITS = {"kind": "softmax_regression", "data": "digits", "clients": 16, "split": "random", "seed": 0, "ridge": "1/100"}
STEP, BATCH = "1/2", 4
RUNS = (
    f"over {SEEDS} runs of softmax regression on the digits of scikit-learn, ridge {DIGITS['ridge']}, split at random "
    f"over {DIGITS['clients']} workers, batches of {BATCH}, step {STEP}"
)


def method(kind: str, tau: int = TAU, eta: str | int = STEP, **more: Any) -> dict[str, Any]:
    """Periodic or partial averaging."""
    return {"kind": f"{kind}_averaging", "tau": tau, "eta": eta, **more}
