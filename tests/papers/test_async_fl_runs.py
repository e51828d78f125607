"""The asynchronous paper's statements compared with exact runs of its methods on small quadratics.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.verdict import Grade, Outcome

F = Fraction


def client(t: int, noise: int = 0) -> dict[str, Any]:
    """(theta - t)^2/2, or the mean of two such losses."""
    ends = (t - noise, t + noise) if noise else (t,)
    return {"components": [{"A": [[1]], "b": [end]} for end in ends]}


THREE = {"kind": "quadratics", "start": [4], "clients": [client(1), client(-1), client(3)]}
NOISY = {"kind": "quadratics", "start": [4], "clients": [client(1, 1), client(-1, 2), client(3)]}
TWO = {"kind": "quadratics", "start": [0], "clients": [client(1), client(-1)]}
ASYNC = {"kind": "fedavg_async", "times": [2, 3, 5]}
FEDFIX = {"kind": "fedfix", "times": [2, 3, 5], "dt": 1}
UNIFORM = {"kind": "uniform_sampling", "m": 2}
SYNC = {"kind": "fedavg_sync"}


def step(K: int, tau: int, rho: Fraction) -> str:
    """The limit of (98) for L = eta_g = 1, by hand."""
    return str(min(F(1), 1 / (3 * rho**2 * (tau + 1))) / (48 * K))


def verdict(statement: str, problem: Any, method: Any, **more: Any) -> ClaimResult:
    return run_claim(Claim(f"async_fl/{statement}", problem, method, **more))


# (method, delay, rho): time-based weights of the times 2, 3, 5 are 31/45, 31/30, 31/18; FedFix has 2/3, 1, 5/3
SCHEMES = [
    (ASYNC, 5, F(31, 18)),
    (FEDFIX, 4, F(10, 3)),
    (UNIFORM, 0, F(1)),
    (SYNC, 0, F(1)),
]


@pytest.mark.parametrize(("method", "tau", "rho"), SCHEMES, ids=lambda v: v["kind"] if isinstance(v, dict) else "")
@pytest.mark.parametrize("K", [1, 4])
@pytest.mark.parametrize("reading", ["corrected", "sharp"])
def test_theorem_1_on_exact_runs(method: dict[str, Any], tau: int, rho: Fraction, K: int, reading: str) -> None:
    spec = {**method, "K": K, "eta_l": step(K, tau, rho)}
    found = verdict(f"theorem_1/{reading}", THREE, spec, at={"s": [1, 5, 40]})
    assert found.verdict.outcome is Outcome.HOLDS, found.verdict.reason
    assert found.verdict.grade is Grade.EXACT
    beyond = verdict(f"theorem_1/{reading}", THREE, {**spec, "eta_l": "1/2"}, at={"s": [1, 5]})
    assert beyond.verdict.outcome is Outcome.OUT_OF_SCOPE


@pytest.mark.parametrize(("method", "tau", "rho"), SCHEMES[:3], ids=lambda v: v["kind"] if isinstance(v, dict) else "")
def test_theorem_1_with_stochastic_gradients(method: dict[str, Any], tau: int, rho: Fraction) -> None:
    spec = {**method, "K": 2, "batch": 1, "eta_l": step(2, tau, rho)}
    found = verdict("theorem_1/corrected", NOISY, spec, at={"s": [1, 20]})
    assert found.verdict.outcome is Outcome.HOLDS, found.verdict.reason


def test_certain_cohorts_need_no_beta() -> None:
    spec = {**ASYNC, "K": 4, "eta_l": step(4, 5, F(31, 18))}
    at = {"s": [1, 5, 40]}
    certain = verdict("theorem_1/corrected_certain", THREE, spec, at=at)
    assert certain.verdict.outcome is Outcome.HOLDS, certain.verdict.reason
    random = verdict("theorem_1/corrected_certain", THREE, {**UNIFORM, "K": 4, "eta_l": step(4, 0, F(1))}, at=at)
    assert random.verdict.outcome is Outcome.FAILED or random.verdict.outcome is Outcome.OUT_OF_SCOPE


def test_theorem_1_as_printed_is_violated_by_a_run() -> None:
    spec = {"kind": "uniform_sampling", "m": 1, "K": 100, "eta_l": step(100, 0, F(1))}
    at = {"s": [20_000]}
    printed = verdict("theorem_1/as_printed_used", TWO, spec, at=at)
    assert printed.verdict.outcome is Outcome.VIOLATED
    assert printed.metric_high[-1] == pytest.approx(0.0017322, rel=0.02)
    assert printed.bound[-1] == pytest.approx(0.00070026, rel=1e-4)
    assert verdict("theorem_1/corrected", TWO, spec, at=at).verdict.outcome is Outcome.HOLDS
    literal = verdict("theorem_1/as_printed", TWO, spec, at=at).verdict
    assert literal.outcome is Outcome.OUT_OF_SCOPE
    assert "alpha above 0" in literal.reason


def test_theorem_1_as_printed_is_violated_with_alpha_inside_the_interval() -> None:
    """Two of three clients: alpha = 3/4 and beta = 1/4, as Assumption 5 wants it."""
    clients = {"kind": "quadratics", "start": [0], "clients": [client(1), client(-1), client(0)]}
    eta_g, K = 1000, 200
    spec = {**UNIFORM, "K": K, "eta_g": eta_g, "eta_l": str(F(1, 48 * K * 3 * eta_g))}
    found = verdict("theorem_1/as_printed", clients, spec, at={"s": [20_000]})
    assert found.verdict.outcome is Outcome.VIOLATED, found.verdict.reason
    fixed = verdict("theorem_1/corrected", clients, spec, at={"s": [20_000]})
    assert fixed.verdict.outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    "statement", ["theorem_2/corrected_every_type", "corollary_1/corrected", "equation_107/corrected"]
)
def test_the_federated_problem_itself(statement: str) -> None:
    spec = {**UNIFORM, "K": 3, "eta_l": step(3, 0, F(1))}
    found = verdict(statement, THREE, spec, at={"s": [1, 30, 2000]})
    assert found.verdict.outcome is Outcome.HOLDS, found.verdict.reason


@pytest.mark.parametrize(
    ("statement", "method"),
    [
        ("table_2_uniform_alpha", UNIFORM),
        ("table_2_uniform_beta", UNIFORM),
        ("table_2_md_alpha", {"kind": "md_sampling", "m": 2}),
        ("table_2_md_beta", {"kind": "md_sampling", "m": 2}),
        ("table_2_sync_alpha", SYNC),
        ("table_2_sync_beta", SYNC),
        ("table_2_sync_tau", SYNC),
        ("table_2_sync_window", SYNC),
        ("table_2_sync_residual", SYNC),
        ("table_2_async_alpha", ASYNC),
        ("table_2_async_residual", ASYNC),
        ("table_2_fedfix_beta/as_printed", FEDFIX),
        ("table_2_fedfix_residual", FEDFIX),
        ("equation_96", ASYNC),
        ("equation_96_second", ASYNC),
    ],
)
def test_constants_of_the_schemes(statement: str, method: dict[str, Any]) -> None:
    found = verdict(statement, THREE, {**method, "K": 2, "eta_l": "1/1000"})
    assert found.verdict.outcome is Outcome.HOLDS, found.verdict.reason


def test_equation_96_as_printed_is_violated_by_small_weights() -> None:
    one = {"kind": "quadratics", "start": [0], "weights": ["1/4"], "clients": [client(0, 2)]}
    spec = {"kind": "fedavg_sync", "K": 1, "batch": 1, "eta_l": "1/1000"}
    assert verdict("equation_96/as_printed", one, spec).verdict.outcome is Outcome.VIOLATED
    assert verdict("equation_96/corrected", one, spec).verdict.outcome is Outcome.HOLDS
