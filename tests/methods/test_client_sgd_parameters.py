"""Clients' steps that are not plain: what users write, what no statement about plain steps takes, who carries them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.engines.run import run
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.spec import claims_from_text
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import ClientOptimizer
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.followed_objective import small_step_weights
from boundcheck.verdict import Outcome

F = Fraction
SPECS: list[dict[str, Any]] = [
    {"kind": "periodic_averaging", "tau": 2, "eta": "1/100"},
    {"kind": "partial_averaging", "tau": 2, "eta": "1/100"},
    {"kind": "block_averaging", "tau": 2, "eta": "1/100"},
    {"kind": "block_averaging", "tau": 2, "eta": "1/100", "partition": "whole"},
    {"kind": "sync_sgd", "eta": "1/100"},
    {"kind": "fedavg", "E": 2, "eta": "1/100"},
    {"kind": "fedavg_reshuffled", "E": 2, "eta": "1/100"},
    {"kind": "fedavg_rr", "E": 2, "eta_l": "1/100"},
    {"kind": "fedavg_sgd", "E": 2, "eta_l": "1/100"},
    {"kind": "fedprox", "mu": 1, "E": 2, "eta": "1/100"},
    {"kind": "fedavg_sync", "K": 2, "eta_l": "1/10"},
    {"kind": "fedavg_async", "K": 2, "eta_l": "1/10", "times": "f80"},
    {"kind": "fedfix", "K": 2, "eta_l": "1/10", "times": "f80", "dt": "1/2"},
    {"kind": "fedbuff", "K": 2, "eta_l": "1/10", "times": "f80", "m": 2},
]
# These divide by the number of steps or of samples, of which a momentum makes another number.
BY_STEPS: list[dict[str, Any]] = [
    {"kind": kind, "eta_l": "1/10", "E": 2}
    for kind in (
        *("fedshuffle", "fedshuffle_gen", "fedshuffle_sum_one"),
        *("fedshuffle_nova", "fedshuffle_nova_rr", "fedavg_min", "fedavg_mean"),
    )
]
SHAPED: dict[str, Any] = {"weight_decay_l": "1/10000", "clip_l": 5}
LINE = {"kind": "quadratics", "clients": [{"A": 2, "b": 2}, {"A": 4, "b": -4}], "start": [1]}
CLAIM = """schema = 1
[[claim]]
name = "Theorem 2"
statement = "partial_averaging/theorem_2/weighted"
engine = "sampled"
seeds = 4
problem = { kind = "coupled_blocks", clients = 3, d = 2, start = [1, 2] }
method = { kind = "partial_averaging", tau = 2, eta = "1/1000", gradient = "full", %s }
at = { K = [1, 5] }
expect = "%s"
"""


@pytest.mark.parametrize("spec", [*SPECS, *BY_STEPS], ids=lambda s: s["kind"])
def test_every_kind_with_plain_steps_takes_it(spec: dict[str, Any]) -> None:
    plain, shaped = build(spec), build({**spec, **SHAPED})
    assert spec["kind"] in algorithms(plain) or spec in BY_STEPS
    assert "client_optimizer" not in plain.to_dict()
    assert shaped.client_optimizer == ClientOptimizer(F(0), F(1, 10000), F(5))
    assert shaped.parameters() == {**plain.parameters(), "weight_decay_l": F(1, 10000), "clip_l": F(5)}
    assert build({**spec, "weight_decay_l": 0, "clip_l": "none"}) == plain
    for key, value in SHAPED.items():
        assert not algorithms(build({**spec, key: value}))
    if spec in BY_STEPS:  # and no momentum, see test_bad_parameters
        return
    method = build({**spec, "momentum_l": "9/10"})
    assert method.client_optimizer == ClientOptimizer(F(9, 10))
    assert method.parameters() == {**plain.parameters(), "momentum_l": F(9, 10)}
    own = {"part": "ClientOptimizer", "momentum": "9/10", "weight_decay": "0", "clip": None}
    assert method.to_dict()["client_optimizer"] == own
    assert build({**spec, "momentum_l": 0}) == plain
    assert not algorithms(method)
    assert not method.is_plain


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "fedshuffle", "eta_l": "1/10"},
        {"kind": "fedshuffle_gen", "eta_l": "1/10"},
        {"kind": "fedshuffle_mvr", "eta_l": "1/10", "a": "1/2", "warm_up": 2},
        {"kind": "feddane", "mu": 1, "K": 2, "solver": {"steps": 2, "eta": "1/10"}},
        {"kind": "fedfix", "K": 2, "eta_l": "1/10", "times": "f80", "dt": 1},
    ],
    ids=lambda s: s["kind"],
)
def test_no_composition_is_of_a_known_kind_with_it(spec: dict[str, Any]) -> None:
    plain = build(spec)
    assert algorithms(plain)
    assert not algorithms(replace(plain, client_optimizer=ClientOptimizer(F(1, 2))))


def test_plain_steps_are_no_part() -> None:
    with pytest.raises(BadInput, match="that are all left out are no part of a method"):
        ClientOptimizer()
    with pytest.raises(BadInput, match="momentum_l = 1 is not allowed"):
        ClientOptimizer(F(1))


@pytest.mark.parametrize("more", ['momentum_l = "9/10"', "clip_l = 1000000", 'weight_decay_l = "1/1000000"'])
def test_no_statement_about_plain_steps_takes_it(more: str) -> None:
    (plain,) = claims_from_text(CLAIM % ("momentum_l = 0", "HOLDS"))
    assert run_claim(plain).verdict.outcome is not Outcome.OUT_OF_SCOPE
    (claim,) = claims_from_text(CLAIM % (more, "OUT_OF_SCOPE"))
    result = run_claim(claim)
    assert not result.failures
    assert result.verdict.outcome is Outcome.OUT_OF_SCOPE
    assert "the statement is about block_averaging, the run is no named method" in result.verdict.reason


def test_it_does_not_go_with_the_momentum_of_the_server() -> None:
    method = build({"kind": "fedavg_sgd", "eta_l": "1/100", "momentum": "1/10", "momentum_l": "9/10"})
    problem = build_problem({"kind": "fedshuffle_36"})
    with pytest.raises(Unsupported, match="momentum does not go with a local momentum"):
        run(method, problem, rounds=[1], metrics=["gap"], engine="sampled", seeds=1)


@pytest.mark.parametrize(
    ("more", "rho", "clip", "decay"),
    [({"momentum_l": "9/10"}, F(9, 10), F(99), F(0)), ({"clip_l": 2, "weight_decay_l": "1/5"}, F(0), F(2), F(1, 5))],
)
def test_visits_by_hand(more: dict[str, Any], rho: Fraction, clip: Fraction, decay: Fraction) -> None:
    """E = 3 steps on x^2 - 2 x and 2 x^2 + 4 x from 1, the buffers beginning at 0 in each of two rounds."""
    problem, x = build_problem(LINE), F(1)
    for _ in range(2):
        ends = list[F]()
        for a, b in ((2, 2), (4, -4)):
            y, v = x, F(0)
            for _ in range(3):
                v = rho * v + max(min(a * y - b, clip), -clip) + decay * y
                y -= v / 10
            ends.append(y)
        x = sum(ends, F(0)) / 2
    method = build({"kind": "fedavg", "E": 3, "eta": "1/10", **more})
    curve = run(method, problem, rounds=[2], metrics=["dist2"], engine="sampled", seeds=1)
    assert curve.values["dist2"][0] == pytest.approx(float((x + F(1, 3)) ** 2), rel=1e-12)


def test_weights_of_small_steps_count_what_is_repeated() -> None:
    """Clients with 1 and 3 steps: a gradient is followed 1 and 1 + (1 + r) + (1 + r + r^2) times in all."""
    clients = Clients([F(1, 2), F(1, 2)], [1, 3])
    method = build({"kind": "fedavg_rr", "eta_l": 1, "momentum_l": "1/2"})
    often = [F(1), 1 + F(3, 2) + F(7, 4)]
    assert small_step_weights(method, clients) == [v / sum(often) for v in often]


@pytest.mark.parametrize("more", [{"clip_l": 1}, {"weight_decay_l": "1/10"}], ids=["clip", "decay"])
def test_steps_along_other_gradients_have_no_weights_of_their_own(more: dict[str, Any]) -> None:
    method = build({"kind": "fedavg_rr", "eta_l": 1, **more})
    with pytest.raises(Unsupported, match="so that no weights are its own"):
        small_step_weights(method, Clients([F(1, 2), F(1, 2)], [1, 3]))


def test_corrections_by_whole_gradients_do_not_go_with_clipped_ones() -> None:
    reduced = build({"kind": "fedshuffle_gen", "eta_l": "1/10", "momentum": "1/10", **SHAPED})
    corrected = build({"kind": "feddane", "mu": 1, "K": 2, "solver": {"steps": 2, "eta": "1/10"}})
    problem = build_problem({"kind": "fedshuffle_36"})
    for method in (reduced, replace(corrected, client_optimizer=ClientOptimizer(clip=F(1)))):
        with pytest.raises(Unsupported, match="that are corrected by whole gradients do not go with"):
            run(method, problem, rounds=[1], metrics=["gap"], engine="sampled", seeds=1)
