"""What methods and the exact engine refuse: an input each in `refusals.json`, and the sentence.

An entry has the specification of a method (`spec`) and, where they are others than these, the `problem` ("samples",
"own" or a specification), and `how` it is carried out: parameters of `run`, or "limit" or "converges".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from boundcheck.engines.exact import stationary
from boundcheck.engines.exact.growing import stays_away
from boundcheck.engines.run import run
from boundcheck.errors import BoundcheckError
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from tests.oracle import options
from tests.oracle.frozen import load

LONGEST = 240  # characters of a sentence that are written out
GIVEN = ("spec", "problem", "how")


@cache
def entries() -> Mapping[str, Mapping[str, Any]]:
    return load("refusals")


def sentence(entry: Mapping[str, Any]) -> str:
    """The kind of error and what it says; "carried out" where there is none."""
    given, how = entry.get("problem", "samples"), entry.get("how", {})
    try:
        method = build_method(entry["spec"])
        problem = options.problem_of(entry["spec"]["kind"], given) if isinstance(given, str) else build_problem(given)
        method.check(clients_of(problem), getattr(problem, "dim", None))
        if how == "limit":
            stationary(method, problem)
        elif how == "converges":
            stays_away(method, problem)
        else:
            run(method, problem, **{"rounds": 2, "metrics": options.METRICS, "arithmetic": "rational", **how})
    except BoundcheckError as error:
        found = f"{type(error).__name__}: {error}"
        return found if len(found) <= LONGEST else f"{found[:LONGEST]}... {options.digest_of(found)}"
    return "carried out"


def described() -> dict[str, dict[str, Any]]:
    """Entry -> its fields, carried out afresh."""
    return {
        name: {**{key: entry[key] for key in GIVEN if key in entry}, "sentence": sentence(entry)}
        for name, entry in entries().items()
    }
