"""What the figures of the FedShuffle paper share: panels of exact expected curves over sampled bands, with bounds.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", Sections 6.1 and F.1. The
paper gives neither its step sizes ("theoretical") nor its numbers of rounds. Here each method takes the largest step
that Theorem E.1 (corrected) allows, eta_l <= 1/(4 beta L) with local steps eta_l/c_i; methods of which the theorem does
not speak (samples drawn with replacement, equal numbers of steps, momentum) take the step of the reshuffled method that
they go with. The panels and methods stand in fedshuffle.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import _study as s
import numpy as np

from boundcheck.engines.exact import stationary
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.studies.study import Panel, Series
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem

STATED = Path(__file__).with_name("fedshuffle.toml")
SEEDS = 200
BAND = (5, 95)  # percentiles of the sampled runs
BOUND_DASH = 3


@dataclass(frozen=True)
class Drawn:
    """One computed line: expected gap after rounds 0..R (exact), percentiles of the sampled gap.

    floor: limit of the expected gap, solved. z: largest distance of the sampled mean from the exact expectation, in
    standard errors. bound, at: the bound on the averaged gap after these rounds; outcome: of the claim.
    """

    exact: s.Array
    band: s.Array
    floor: Fraction
    z: float
    at: Sequence[float] = ()
    bound: Sequence[float] = ()
    outcome: str = ""


def stated(script: str) -> Any:
    """What the file states of a script: panels, with "title", "problem" and "methods", or the methods of a table."""
    return tomllib.loads(STATED.read_text(encoding="utf-8"))[script]


def compute(panel: Mapping[str, Any], seeds: int, rounds: int, statement: str = "") -> dict[str, Drawn]:
    """All lines of a panel. statement: whose bound is drawn."""
    problem, last, found = build_problem(panel["problem"]), rounds * panel.get("longer", 1), dict[str, Drawn]()
    at = sorted({round(float(r)) for r in np.geomspace(1, last, 40)})
    for label, spec in panel["methods"].items():
        found[label] = line_of(spec, problem, last, seeds)
        if label in panel.get("bounds", ()):
            result = run_claim(Claim(statement, panel["problem"], spec, at={"R": at}))
            bound = {"at": [float(k) for k in result.index], "bound": result.bound}
            found[label] = replace(found[label], **bound, outcome=result.verdict.outcome.value)
    return found


def line_of(spec: Mapping[str, Any], problem: Problem, rounds: int, seeds: int) -> Drawn:
    """The expected and the sampled gap of one method."""
    method = build_method(spec)
    exact = run(method, problem, rounds=rounds, metrics=("gap",), arithmetic="float64").values["gap"]
    sampled = run_sampled(method, problem, rounds, seeds, ("gap",), list(range(rounds + 1))).samples["gap"]
    error = sampled.std(axis=0, ddof=1) / np.sqrt(seeds)
    # where all seeds agree to rounding there is no standard error to compare with
    known = error > 1e-12 * exact
    z = (np.abs(sampled.mean(axis=0) - exact)[known] / error[known]).max(initial=0)
    return Drawn(exact, np.percentile(sampled, BAND, axis=0), limit(spec, problem), float(z))


def limit(spec: Mapping[str, Any], problem: Problem) -> Fraction:
    """The limit of the expected gap."""
    return Fraction(stationary(build_method(spec), problem, ("gap",)).values["gap"])


def pictures(titles: Sequence[str], drawn: Sequence[Mapping[str, Drawn]]) -> dict[str, Any]:
    """Series and panels of a study: exact expectations over sampled bands, and bounds where a theorem speaks."""
    labels = list(dict.fromkeys(label for lines in drawn for label in lines))
    series: list[Series] = []
    for panel, lines in enumerate(drawn):
        for label, one in lines.items():
            line = s.curve(label, range(len(one.exact)), one.exact[None], labels.index(label), panel)
            low, high = (tuple(map(float, edge)) for edge in one.band)
            series.append(replace(line, low=low, high=high))
            if one.outcome:
                name = f"bound of {label}"
                series.append(Series(name, tuple(one.at), tuple(one.bound), line.role, BOUND_DASH, panel=panel))
    own = tuple(Panel(title, "E f(x) − f*", log=True) for title in titles)
    return {"series": tuple(series), "panels": own, "axes": ("communication round", ""), "log": (False, True)}
