"""The paper's figures at a tiny size: what their captions say, against a plain loop over the data."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from tests.engines.drawn_plans import plan

REPEATS, ROUNDS = 3, 160  # rounds of eight cycles
E, DEVICES = 4, 20


@cache  # its exact fractions take longer than all loops over them
def data(seed: int, heterogeneity: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Features and targets of every device."""
    problem: Any = build_problem({"kind": "scgd_section_4", "seed": seed, "heterogeneity": heterogeneity})
    features = [np.array([[float(v) for v in row] for row in rows]) for rows in problem.rows]
    return features, [np.array([float(v) for v in y]) for y in problem.targets]


def loop(cohorts: list[list[int]], steps: list[float], seed: int, heterogeneity: str = "iid") -> np.ndarray:
    """MSE over all observations after every round: local gradient steps on the sum of squares, then the average."""
    features, targets = data(seed, heterogeneity)
    every, answers = np.concatenate(features), np.concatenate(targets)
    assert every.shape == (1000, 8)
    theta = np.zeros(8)
    errors = [np.mean((answers - every @ theta) ** 2)]
    for cohort, step in zip(cohorts, steps, strict=True):
        ends = []
        for i in cohort:
            local = theta.copy()
            for _ in range(E):
                local = local - step * 2 * features[i].T @ (features[i] @ local - targets[i])
            ends.append(local)
        theta = np.mean(ends, axis=0)
        errors.append(np.mean((answers - every @ theta) ** 2))
    return np.array(errors)


def difference(seed: int, of_data: int, steps: list[float], heterogeneity: str = "iid") -> np.ndarray:
    """MSE of FedAvg with 3 random devices a round (drawn from `seed`) minus MSE of SCGD, on the data of `of_data`."""
    cohorts = plan(build_method({"kind": "fedavg", "E": E, "size": 3, "eta": 1}), [1] * DEVICES, seed, ROUNDS).cohorts
    fedavg = loop([list(c) for c in cohorts], steps, of_data, heterogeneity)
    return fedavg - loop([[t % DEVICES] for t in range(ROUNDS)], steps, of_data, heterogeneity)


def first_round_above_zero(low: np.ndarray) -> int | None:
    """Straight from the definition, without looking for the last failure."""
    return next((t for t in range(len(low)) if (low[t:] > 0).all()), None)


def check(found: dict[str, Any], expected: np.ndarray) -> None:
    low, middle, high = (np.percentile(expected, q, axis=0) for q in (5, 50, 95))
    assert found["end"] == pytest.approx([low[-1], middle[-1], high[-1]], rel=1e-6, abs=1e-12)
    assert found["positive_from"] == first_round_above_zero(low)
    assert found["share_positive_end"] == pytest.approx(np.mean(expected[:, -1] > 0))


CONSTANT = [1e-5] * ROUNDS
# K is the number of cycles begun: 1 in rounds 1 to 20, 2 in rounds 21 to 40, ...
DIMINISHING = [1e-3 / -(-t // DEVICES) for t in range(1, ROUNDS + 1)]


@pytest.mark.parametrize(("name", "steps"), [("scgd_figure_1", CONSTANT), ("scgd_figure_2", DIMINISHING)])
def test_caption_facts_against_a_plain_loop(figures: Any, name: str, steps: list[float], tmp_path: Path) -> None:
    figures[name].main(["-o", str(tmp_path), "--repeats", str(REPEATS), "--rounds", str(ROUNDS)])
    facts = json.loads((tmp_path / f"{name}.json").read_text())
    shared = np.array([difference(k, 0, steps) for k in range(REPEATS)])
    check(facts["one_data_set"], shared)
    check(facts["fresh_data"], np.array([shared[0], *(difference(k, k, steps) for k in range(1, REPEATS))]))
    check(
        facts["one_data_set_device_coefficients"], np.array([difference(k, 0, steps, "device") for k in range(REPEATS)])
    )
    every = loop([list(range(DEVICES))] * ROUNDS, steps, 0)
    scgd = loop([[t % DEVICES] for t in range(ROUNDS)], steps, 0)
    assert facts["all_devices_minus_scgd_end"] == pytest.approx(every[-1] - scgd[-1], rel=1e-6)
    text = (tmp_path / f"{name}.md").read_text()
    assert all(finding["says"] in text and finding["statistic"] in text for finding in facts["findings"])
    assert all(note in text for note in facts["notes"])
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    endings = ("json", "md", "pdf", "png", "svg")
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"{name}.{end}" for end in endings]


def test_figure_1_says_out_of_scope_at_the_papers_step(figures: Any) -> None:
    results = figures["scgd_figure_1"].compute(2, 40)
    facts = figures["scgd_figure_1"].facts(results)
    assert facts["paper_step"] == {"eta": "1e-5", "outcome": "OUT_OF_SCOPE"}
    assert facts["largest_step"]["outcome"] == "HOLDS"
    # the step condition of Appendix A in floats: s = 80 eta <= C with the certified mu and L
    constants = results.paper.verdict.details["constants"]
    mu, lipschitz = (float(Fraction(constants[k]["value"])) for k in ("mu", "L"))
    a = (4 * lipschitz**2 - mu**2) / (16 * lipschitz**4)
    limit = (mu**2 / (24 * lipschitz**4) + (a * mu) ** 2) ** 0.5 - a * mu
    assert facts["largest_step"]["eta"] == pytest.approx(limit / 80, rel=1e-9)
    assert facts["paper_over_largest"] == pytest.approx(80e-5 / limit, rel=1e-9)
    assert any("OUT_OF_SCOPE" in sentence for sentence in facts["notes"])
    assert facts["findings"][0]["word"] == "undecided"  # 40 rounds say nothing about those after 6000


@pytest.mark.parametrize(
    ("values", "at"), [([1, 1], 0), ([-1, 1, -1, 2, 3], 3), ([1, 1, 0], None), ([0, float("nan"), 1], 2), ([-1], None)]
)
def test_first_round_from_which_all_are_positive(figures: Any, values: list[float], at: int | None) -> None:
    assert figures["_common"].stays_positive_from(np.array(values, dtype=float)) == at


@pytest.mark.parametrize(("since", "word"), [(100, "reproduced"), (6000, "reproduced"), (6001, "undecided")])
def test_the_word_follows_the_percentile(figures: Any, since: int, word: str) -> None:
    module = figures["scgd_figure_1"]
    values = np.where(np.arange(6101) >= since, 1.0, -1.0) * np.ones((100, 1))
    results = module.Results(values, values, values, values, None, None, 0.0)
    assert module.always(results).word == word
    below = module.Results(-values, -values, values, values, None, None, 0.0)
    assert module.always(below).word == "reversed"


def test_figure_2_sets_the_two_step_conditions_against_each_other(figures: Any) -> None:
    results = figures["scgd_figure_2"].compute(2, 400)
    facts = figures["scgd_figure_2"].facts(results)
    mu, limit = (float(Fraction(results.claim.verdict.details["constants"]["mu"]["value"])), results.largest_constant)
    # Theorem 3.4 needs mu*n*E*eta0 > 6 with n = 20 and E = 4
    assert (mu * 80 * 1e-3 > 6) == (facts["theorem_3_4"]["outcome"] != "OUT_OF_SCOPE")
    assert (mu * 80 * float(limit) > 6) == (facts["covered_first_step"]["outcome"] != "OUT_OF_SCOPE")
    first = facts["first_cycle_in_scope"]
    assert 1e-3 / first <= limit < 1e-3 / (first - 1)
    assert facts["cycles_run"] == 20
