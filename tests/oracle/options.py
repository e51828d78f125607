"""Every option of every kind of method, each in one row of `options.json`: what is measured on two problems.

A row holds the specification of a method (`spec`); where it does the same as another row of another description, which
(`same_as`) and why (`because`). The rest is what the exact engine gives. A row is added by its `spec` alone, and then
`record.py options` writes the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from boundcheck.engines.run import run
from boundcheck.errors import BoundcheckError
from boundcheck.methods.build import algorithms
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import AveragedModels
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of
from boundcheck.setting.metrics import of_a_round
from tests.oracle.frozen import load
from tests.oracle.instances import ONE_CLIENT, QUADRATICS

METRICS = ("dist2", "gap", "grad2")
# Rounds that are run; the last whose values stand one by one; the longest text of a fraction that is written out.
ROUNDS, LAST, TEXT = 8, 3, 24
# One Hessian a client, in three dimensions; weights that do not follow the sizes.
_OWN: Sequence[tuple[Any, Sequence[Any]]] = (
    ([["1", "1/4", "0"], ["1/4", "1/2", "0"], ["0", "0", "3/4"]], [["0", "1", "0"], ["1", "1", "0"], ["0", "0", "2"]]),
    ([["1/2", "0", "1/8"], ["0", "1", "0"], ["1/8", "0", "1/4"]], [["-1", "1/3", "0"]]),
    ([["3/4", "0", "0"], ["0", "1/3", "-1/6"], ["0", "-1/6", "1"]], [["1", "0", "-1"], ["0", "1/2", "1"]]),
)
_CLIENTS = [[{"A": a, "b": b} for b in offsets] for a, offsets in _OWN]
_SHARED: Mapping[str, Any] = {"kind": "quadratics", "start": ["1", "-1/2", "2/3"]}
PROBLEMS: Mapping[str, Mapping[str, Any]] = {
    "samples": QUADRATICS,
    "own": {**_SHARED, "clients": [{"components": own} for own in _CLIENTS], "weights": ["1/2", "1/8", "3/8"]},
}
# For a method that has no other client.
_AT_ONE: Mapping[str, Mapping[str, Any]] = {
    "samples": ONE_CLIENT,
    "own": {**_SHARED, "clients": [{"components": [sample for own in _CLIENTS for sample in own]}]},
}


@cache
def rows() -> Mapping[str, Mapping[str, Any]]:
    """Row -> its fields, as frozen."""
    return load("options")


def method_of(spec: Mapping[str, Any], where: str = "samples") -> Method:
    """The method of a row. A partition has a coordinate more on the second problem; servers may average models."""
    own = {name: value for name, value in spec.items() if name != "averaged_models"}
    if where == "own" and own.get("partition", "whole") != "whole":
        own["partition"] = [[1, 2], [0]]
    method = build_method(own)
    return replace(method, server=AveragedModels(method.server.eta_g)) if "averaged_models" in spec else method


@cache
def problem_of(kind: str, where: str) -> Problem:
    return build_problem((_AT_ONE if kind == "centralised" else PROBLEMS)[where])


def digest_of(text: str) -> str:
    return "#" + hashlib.sha256(text.encode()).hexdigest()[:12]


def shown(value: Any) -> str:
    """A fraction, or a digest in place of a long one."""
    return str(value) if len(str(value)) <= TEXT else digest_of(str(value))


def _in_rounds(values: Sequence[Any]) -> str:
    """The values of a metric one by one up to round LAST, and one digest of all later ones."""
    return " ".join([*map(shown, values[: LAST + 1]), digest_of(" ".join(map(str, values[LAST + 1 :])))])


def curve(spec: Mapping[str, Any], where: str) -> dict[str, str]:
    """Metric -> its exact values after each round on a problem."""
    method, problem = method_of(spec, where), problem_of(spec["kind"], where)
    found = run(method, problem, rounds=range(ROUNDS + 1), metrics=METRICS, arithmetic="rational").exact
    return {f"{where} {name}": _in_rounds(found[name]) for name in METRICS}


def instance_of(spec: Mapping[str, Any]) -> str:
    """The kinds of which a row is an instance with the clients of a problem; of both, where that differs."""
    problems = [problem_of(spec["kind"], where) for where in PROBLEMS]
    found = [" ".join(algorithms(method_of(spec), clients_of(problem))) for problem in problems]
    return " | ".join(dict.fromkeys(found))


def described() -> dict[str, dict[str, Any]]:
    """Row -> its fields, run afresh."""
    found: dict[str, dict[str, Any]] = {}
    for row, frozen in rows().items():
        given = {name: frozen[name] for name in ("spec", "same_as", "because") if name in frozen}
        spec = frozen["spec"]
        found[row] = {**given, **curve(spec, "samples"), **curve(spec, "own"), "algorithms": instance_of(spec)}
    return found


def watched() -> dict[str, dict[str, Any]]:
    """Kind -> metric of a round -> its exact values after rounds 1 and 3 on the second problem, where it has any."""
    found: dict[str, dict[str, Any]] = {}
    for kind, frozen in rows().items():
        if kind != frozen["spec"]["kind"]:  # the row is one with other options
            continue
        method, problem = method_of(frozen["spec"], "own"), problem_of(kind, "own")
        found[kind] = {}
        for name in of_a_round():
            with suppress(BoundcheckError):  # the method has no such metric, or the exact engine does not compute it
                own = run(method, problem, rounds=(1, 3), metrics=[name], arithmetic="rational").exact[name]
                found[kind][name] = " ".join(map(shown, own))
    return found
