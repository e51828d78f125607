"""The columns of Table 2 and of Appendix C: constants of a scheme's schedule, compared without a run."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import Reading, formula, of_constant
from boundcheck.papers.async_fl._times import OWN
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import ONE, VALUE
from boundcheck.theory.statement import Kind, Statement

SYNC, ASYNC, FEDFIX = "fedavg_sync", "fedavg_async", "fedfix"
_MEANINGS = {
    "alpha": ("covariance parameter alpha", ONE),
    "beta": ("covariance parameter beta", ONE),
    "tau_delay": ("largest delay tau", ONE),
    "window": ("window W", ONE),
    "R_loss": ("residual R", VALUE),
}
_NAMES = {
    SYNC: "synchronous FedAvg",
    ASYNC: "asynchronous FedAvg",
    FEDFIX: "FedFix",
    "uniform_sampling": "uniform sampling without replacement",
    "md_sampling": "sampling with replacement by importance",
    "centralised": "centralised learning",
}
_PLACES = {
    "uniform_sampling": "Appendix C.2, and the paper on client sampling that it cites",
    "md_sampling": "Appendix C.2, and the paper on client sampling that it cites",
    "centralised": "Appendix C.1",
}


def entry(
    reading: Reading,
    method: str,
    constant: str,
    value: Any,
    *assumptions: Assumption,
    at_most: bool = False,
    domain: tuple[Any, ...] = (),
) -> Statement:
    """One entry: the constant of the scheme, or a bound of it."""
    meaning, dimension = _MEANINGS[constant]
    return of_constant(
        reading,
        ("Table 2", _PLACES.get(method, f"Section 4, column {_NAMES[method]}")),
        f"{meaning[0].upper()}{meaning[1:]} of {_NAMES[method]}",
        constant,
        value,
        kind=Kind.UPPER_BOUND if at_most else Kind.EQUALITY,
        dimension=dimension,
        assumptions=assumptions,
        domain=domain,
        changed=OWN,
        method=method,
    )


def rounds(reading: Reading, method: str, value: Any, *assumptions: Assumption) -> Statement:
    """How many rounds fit into a time T."""
    return formula(
        reading,
        ("Table 2", f"Section 4, column {_NAMES[method]}, row N"),
        f"Rounds of {_NAMES[method]} within a time T",
        value,
        ONE,
        assumptions=assumptions,
        changed=OWN,
    )
