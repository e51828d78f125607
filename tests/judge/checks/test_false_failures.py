"""How often a right implementation fails: never in exact checks, and within the stated rate in statistical ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from scipy.stats import binom

import boundcheck as bc
from boundcheck.judge.checks.instances import Subject
from boundcheck.judge.checks.result import BAD
from boundcheck.judge.checks.table import CHECKS, find
from boundcheck.judge.checks.trial import NotAsked, Trial
from boundcheck.judge.findings import Status
from tests.judge.checks.wrong_fedavg import BATCHES, FULL, RIGHT, SLOWING, SOME

EXACT = [c.name for c in CHECKS if not c.statistical]
STATISTICAL = [c.name for c in CHECKS if c.statistical]
DRAWN: dict[str, Any] = {"kind": "fedavg_sgd", "eta_l": "1/10"}


def failed(spec: dict[str, Any], checks: Sequence[str], firsts: range, **how: Any) -> int:
    """Suites, each with seeds of its own, in which a check failed."""
    run = RIGHT if spec is not DRAWN else _drawing
    suites = [bc.judge(spec, run, checks=checks, first_seed=first, **how) for first in firsts]
    assert all(s.count(Status.NOT_ASKED) < len(s.results) for s in suites)
    return sum(any(r.status in BAD for r in s.results) for s in suites)


def _drawing(task: Any, seed: int) -> Any:
    """FedAvg that draws samples with replacement."""
    from tests.judge.checks.wrong_fedavg import FedAvg

    return FedAvg(order=lambda rng, size: rng.integers(size, size=size))(task, seed)


def test_sixty_seeds_of_exact_checks() -> None:
    assert failed(SOME, ["exact_after_k_rounds", "unequal_local_steps"], range(0, 64, 16)) == 0
    assert failed(FULL, EXACT, range(7, 8)) == 0


def test_suites_of_a_few_seeds_fail_rarely() -> None:
    """At a rate of 1/5, and 10 suites: more than 9 failures have a probability below 1e-6."""
    count = failed(SOME, STATISTICAL, range(0, 120, 12), seeds=12, rate=0.2)
    assert binom.sf(9, 10, 0.2) < 1e-6
    assert count <= 9


@pytest.mark.slow  # 2,000 seeds of every check: minutes
@pytest.mark.parametrize("name", [c.name for c in CHECKS])
def test_no_false_failure_in_2000_seeds(name: str) -> None:
    """With all clients seeds choose the order of samples alone; some of them are tried one by one."""
    check, kept, asked = find(name), dict[str, Any](), 0
    one_by_one, together = [range(s, s + 1) for s in range(0, 2000, 20)], [range(2000)]
    for spec, run, blocks in (
        (SOME, RIGHT, together),
        (DRAWN, _drawing, together if check.statistical else one_by_one),
        (FULL, RIGHT, one_by_one),
        (SLOWING, RIGHT, one_by_one),
        (BATCHES, RIGHT, one_by_one),
    ):
        try:
            cases = check.cases(Subject(spec))
            for seeds in blocks:
                found = check.judge(Trial(run, cases, 1e-9, 1e-6, seeds, len(seeds), kept if run is RIGHT else {}))
                assert not found.reason, found
                asked += 1
        except NotAsked:
            continue
    assert asked


@pytest.mark.slow  # the rate of false failures, measured over hundreds of suites: minutes
@pytest.mark.parametrize(("spec", "seeds", "suites"), [(SOME, 40, 300), (DRAWN, 40, 300)], ids=["cohorts", "samples"])
def test_the_rate_of_false_failures(spec: dict[str, Any], seeds: int, suites: int) -> None:
    rate = 0.1
    count = failed(spec, STATISTICAL, range(0, suites * seeds, seeds), seeds=seeds, rate=rate)
    assert binom.sf(count - 1, suites, rate) > 1e-6, f"{count} of {suites} suites failed at a stated rate of {rate}"
