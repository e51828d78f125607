"""One small instance of every kind of method: its constants and hypotheses, and sampled seeds to the last bit.

Exact curves of every kind and option are those of `options`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

from boundcheck.engines.curve import Curve
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem
from tests.oracle.instances import METHODS, ONE_CLIENT, QUADRATICS

SAMPLED = list(METHODS)
ROUNDS = (1, 3)
SEEDS = range(5, 8)
METRICS = ("dist2", "gap", "grad2")
SOME_ROUNDS = (1, 4)


@cache
def instance(kind: str) -> tuple[Method, Problem]:
    spec = ONE_CLIENT if kind == "centralised" else QUADRATICS
    return build_method({"kind": kind, **METHODS[kind]}), build_problem(spec)


@cache
def exact(kind: str) -> Curve:
    method, problem = instance(kind)
    return run(method, problem, rounds=ROUNDS, arithmetic="rational")


def constants() -> dict[str, dict[str, Any]]:
    """Kind -> constant of method and problem -> its exact value, or the decimal of one that is not rational."""
    found: dict[str, dict[str, Any]] = {}
    for kind in METHODS:
        found[kind] = {name: known.to_dict()["value"] for name, known in exact(kind).constants.items()}
    return found


def hypotheses() -> dict[str, dict[str, Any]]:
    """Kind -> which kinds the method is an instance of, and what is known of the hypotheses of statements."""
    return {
        kind: {
            "algorithms": sorted(exact(kind).algorithms or ()),
            "assumptions": dict(sorted(exact(kind).assumptions.items())),
            "violations": sorted(exact(kind).violations),
        }
        for kind in METHODS
    }


def sampled(kind: str, path: Literal["numpy", "auto"], seeds: range = SEEDS) -> Curve:
    method, problem = instance(kind)
    return run_sampled(method, problem, SOME_ROUNDS[-1], seeds, METRICS, SOME_ROUNDS, path=path)


def seeds() -> dict[str, dict[str, Any]]:
    """Kind -> metric -> each seed's values after the rounds in the reference, as hexadecimal floats."""
    return {kind: {name: hexadecimal(row) for name, row in sampled(kind, "numpy").samples.items()} for kind in SAMPLED}


def hexadecimal(rows: Sequence[Any]) -> list[list[str]]:
    return [[float(value).hex() for value in row] for row in np.asarray(rows)]
