"""What a sampled HOLDS rests on: certified upper limits, or the seeds that it takes to see a method's rarest choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from compare_tools import HALVING, benchmark, curve, sampled

from boundcheck.engines.curve import Envelope, Rarest
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import points_of
from boundcheck.verdict import Outcome

bench = benchmark("honesty")


def table(seeds: int) -> np.ndarray:
    """dist2 at K = 0, 1, where the bound is 1/2: 0.2, more or less."""
    rows = np.full((seeds, 2), 0.9)
    rows[:, 1] = 0.2 + 0.1 * np.random.default_rng(3).uniform(-1, 1, seeds)
    return rows


def test_a_rare_choice_of_the_method_has_to_be_seen() -> None:
    """A client of weight 1e-3 needs log(0.0005)/log(0.999) = 7598 seeds at the level 0.999."""
    rare = Rarest(1e-3, "client 4 takes part in a round")
    few = compare(HALVING, sampled(table(400), rarest=rare))
    assert few.outcome is Outcome.UNDECIDED
    assert few.reason == (
        "The 400 seeds could have missed events of probability below 0.0188 (at level 0.999), which is above the "
        "probability 0.001 that client 4 takes part in a round; 7598 seeds are needed."
    )
    enough = compare(HALVING, sampled(table(7598), rarest=rare))
    assert enough.outcome is Outcome.HOLDS
    assert "below 0.001 (at level 0.999); the rarest choice of the method, that client 4 takes part" in enough.reason
    common = compare(HALVING, sampled(table(400), rarest=Rarest(0.3, "client 0 takes part in a round")))
    assert common.outcome is Outcome.HOLDS
    assert compare(HALVING, sampled(table(400))).outcome is Outcome.HOLDS
    # a violation needs no such knowledge
    high = table(400)
    high[:, 1] += 0.5
    assert compare(HALVING, sampled(high, rarest=rare)).outcome is Outcome.VIOLATED


def test_a_certified_envelope_takes_the_caveat_away() -> None:
    rare = Rarest(1e-3, "client 4 takes part in a round")
    for top, decided in ((0.31, True), (0.8, True), (9.9, True), (10.1, False), (np.inf, False)):
        known = {"dist2": Envelope(np.array([0.9, top]), "by hand")}
        found = compare(HALVING, sampled(table(400), rarest=rare, envelopes=known))
        assert (found.outcome is Outcome.HOLDS) == decided
        assert ("certified upper limits: by hand" in found.reason) == decided
        if decided:
            assert found.details["statistics"]["missed"] is None


def test_scaled_metrics_scale_their_envelopes() -> None:
    twice = replace(HALVING, metric=replace(HALVING.metric, scale=2 + 0 * HALVING.metric.scale), trivial=None)
    made = sampled(table(5), envelopes={"dist2": Envelope(np.array([0.9, 0.31]), "by hand")})
    values = {name: c.value for name, c in curve([1]).constants.items()}
    assert points_of(twice, made, values).envelope == pytest.approx([1.8, 0.62])
    assert points_of(HALVING, made, values).envelope == pytest.approx([0.9, 0.31])


def test_a_claim_about_a_plan_with_a_rare_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients with 20, 19 and 1 samples of 40, one drawn by weight: log(0.0005)/log(39/40) = 301 seeds are needed."""
    monkeypatch.setattr("boundcheck.engines.run.certified_envelopes", lambda *_: {})
    problem = {
        "kind": "quadratics",
        "clients": [{"components": [{"A": 1, "b": b}] * n} for n, b in ((20, 1), (19, -1), (1, 2))],
        "weights": ["1/2", "19/40", "1/40"],
        "start": [3],
    }
    method = {"kind": "fedshuffle", "eta_l": "largest", "participation": {"kind": "importance", "b": 1}}
    claim = Claim("fedshuffle/theorem_5_1_strongly_convex/sharp", problem, method, engine="sampled", at={"R": [1, 20]})
    few = run_claim(replace(claim, seeds=300)).verdict
    assert few.outcome is Outcome.UNDECIDED
    assert "the probability 0.025 that client 2 takes part in a round; 301 seeds are needed" in few.reason
    assert run_claim(replace(claim, seeds=301)).verdict.outcome is Outcome.HOLDS


def test_the_honesty_table_on_few_replications() -> None:
    """Errors and power of the three columns, on a spike and on two other laws; the benchmark has all of them."""
    laws = {law.name: law for law in bench.laws()}
    rows = []
    for rounds in (1, 5):
        for name in ("uniform", "exponential", "spike 0.01"):
            counts = {f: bench.count(laws[name], f, rounds, seeds=400, replications=150) for f in bench.FACTORS}
            rows.append(bench.Rates(laws[name], rounds, counts))
    assert [text for row in rows for text in bench.too_many(row, 150)] == []
    assert bench.abstaining([r for r in rows if r.law.name == "uniform"], 150) in ([], _LATE)
    spike = next(r for r in rows if r.law.name == "spike 0.01" and r.rounds == 1)
    assert spike.by_factor[0.9].holds[2, 1] > 0.1 * 150  # HOLDS that names the event which it has missed
    assert spike.by_factor[0.9].unnamed[2].sum() <= 2


# At 99.9 % and 400 seeds a bound 10 % too small is noticed in fewer than half of the trials.
_LATE = [
    f"{column}, {rounds} rounds, level 0.999: EXCEEDS in at most half of the trials of every law"
    for column in bench.COLUMNS
    for rounds in (1, 5)
]


def test_the_table_notices_a_dishonest_and_an_idle_test() -> None:
    law = bench.laws()[0]
    none, all_of = np.zeros((3, 2), dtype=np.int64), np.full((3, 2), 100)
    idle = {f: bench.Counts(none, none, none) for f in bench.FACTORS}
    assert len(bench.abstaining([bench.Rates(law, 1, idle)], 100)) == 12
    loud = {f: bench.Counts(all_of, all_of, all_of) for f in bench.FACTORS}
    assert len(bench.too_many(bench.Rates(law, 1, loud), 100)) == 24
    assert bench.abstaining([bench.Rates(law, 1, loud)], 100) == []


def test_the_event_that_carries_the_mean() -> None:
    """0.5 + 0.5*10 of probability 0.1: E min(X, q) = 0.9 at q = 4.5, E min(X, q) = 0.45 below all values."""
    law = bench.Law("two", np.array([0.5, 5.5]), np.array([0.9, 0.1]))
    assert (law.carrier(1.0), law.carrier(0.9), law.carrier(0.45)) == (0.1, 0.1, 1.0)
