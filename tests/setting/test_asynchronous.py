"""Constants of a schedule and an instance: by hand, by going through rounds and samples one by one, and Table 2."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.certified.constant import Known
from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build, kinds
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import Timed
from boundcheck.papers.async_fl.theories.scheme_table import Entry, scheme_table
from boundcheck.problems.build import build as problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting.constants import joint_constants, joint_objections
from boundcheck.setting.expected_weights import KINDS, expected_weights
from boundcheck.setting.setting import describe_constants

F = Fraction
STEPS: dict[str, Any] = {"K": 2, "eta_l": "1/4"}


def line(*pairs: tuple[Any, Any], start: Any = 5, weights: Any = None) -> Any:
    """Clients h x^2/2 - b x."""
    spec: dict[str, Any] = {"clients": [{"A": [[h]], "b": [b]} for h, b in pairs], "start": [start]}
    return problem({"kind": "quadratics", **spec, **({} if weights is None else {"weights": weights})})


def values(method: dict[str, Any], instance: Any) -> dict[str, Fraction]:
    return {k: c.value for k, c in joint_constants(build({**method, **STEPS}), instance).items()}


def alike(count: int) -> Any:
    return line(*((1, i) for i in range(count)))


# M, m, alpha, beta with p_i = 1/M (Appendix C.2)
UNIFORM = [(2, 1, F(0), F(1)), (3, 2, F(3, 4), F(1, 4)), (10, 5, F(8, 9), F(1, 9)), (1000, 2, F(500, 999), F(499, 999))]


@pytest.mark.parametrize(("M", "m", "alpha", "beta"), UNIFORM)
def test_covariance_of_uniform_sampling(M: int, m: int, alpha: Fraction, beta: Fraction) -> None:
    found = expected_weights(build({"kind": "uniform_sampling", "m": m, **STEPS}), Clients.alike(M))
    assert found is not None
    assert found.covariance is not None
    assert (found.covariance.alpha, found.covariance.beta) == (alpha, beta)
    assert (found.delay, found.window, found.mean) == (0, 1, {i: F(1, M) for i in range(M)})


ASYNC = {"kind": "fedavg_async", "times": [2, 3, 5]}
BY_HAND: list[tuple[dict[str, Any], int, dict[str, Any]]] = [  # None: there is no such constant
    ({"kind": "uniform_sampling", "m": 10}, 10, {"alpha": 1, "beta": 0, "alpha_det": 1, "beta_det": 0}),
    (
        {"kind": "fedavg_async", "times": {"kind": "exponential", "rates": [1, 2]}}, 2,
        {"tau_delay": None, "alpha": 0, "beta": F(3, 2), "window": 1},
    ),
    # p = 1/3: d = 31/45, 31/30, 31/18, whose largest is beta where alpha = 0
    (
        ASYNC, 3,
        {"alpha": 0, "beta": F(31, 18), "rho": F(31, 18), "q_min": F(31, 45), "alpha_det": 1, "beta_det": 0,
         "tau_delay": 5, "window": 31, "q_bar": 1, "rounds_share": 1, "local_steps": 2, "chi2": 0},
    ),
    ({**ASYNC, "ties": "joint"}, 3, {"alpha": 1, "beta": 0, "tau_delay": 3, "window": 22}),
    (
        {"kind": "fedfix", "times": [2, 3, 5], "dt": 1}, 3,
        {"alpha": 1, "beta": 0, "tau_delay": 4, "window": 30, "rounds_share": F(22, 30), "q_bar": 1, "q_max": F(5, 3)},
    ),
    ({"kind": "fedavg_sync", "times": [2, 3, 5]}, 3,
     {"alpha": 1, "beta": 0, "tau_delay": 0, "window": 1, "R_loss": 0}),
    # the surrogate weighs clients by 1/T_i
    (
        {"kind": "fedavg_async", "times": "f80", "weights": "identical"}, 10,
        {"chi2": pytest.approx(0.276836, abs=5e-7), "rho": 1, "q_min": 1, "q_bar": 1, "beta": 1},
    ),
    ({"kind": "fedavg_async", "times": [1, 5], "weights": "identical"}, 2, {"chi2": F(4, 5)}),
    # (37): the mean of L_i(theta*) - L_i*, here L_i = (x - i)^2/2; each round follows one client, whose gradient is 0
    # at its own minimiser
    (
        {"kind": "fedavg_async", "times": [1, 2, 3, 4]}, 4,
        {"R_loss": sum((F(3, 2) - t) ** 2 for t in range(4)) / 8, "S1": 0},
    ),
    ({"kind": "fedbuff", "times": {"kind": "exponential", "rates": [1, 2, 3]}, "m": 2}, 3,
     {"alpha": None, "beta": None}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "count", "expected"), BY_HAND, ids=str)
def test_constants_by_hand(method: dict[str, Any], count: int, expected: dict[str, Any]) -> None:
    found = values(method, alike(count))
    assert {name: found.get(name) for name in expected} == expected


RANDOM: list[tuple[dict[str, Any], tuple[Fraction, ...]]] = [
    ({"kind": "uniform_sampling", "m": 2}, (F(1, 2), F(1, 3), F(1, 6))),
    ({"kind": "md_sampling", "m": 3}, (F(1, 2), F(1, 3), F(1, 6))),
    ({"kind": "fedavg_async", "times": {"kind": "exponential", "rates": [1, 2, 5]}}, (F(1, 2), F(1, 3), F(1, 6))),
    ({"kind": "fedfix", "times": {"kind": "exponential", "rates": [1, 2, 5]}, "dt": 1}, (F(1, 2), F(1, 3), F(1, 6))),
    ({"kind": "fedbuff", "times": {"kind": "exponential", "rates": [2, 2, 2]}, "m": 2}, (F(1, 3),) * 3),
]


@pytest.mark.parametrize(("spec", "p"), RANDOM, ids=lambda v: v["kind"] if isinstance(v, dict) else "")
def test_covariances_against_all_cohorts(spec: dict[str, Any], p: tuple[Fraction, ...]) -> None:
    method, clients = build({**spec, **STEPS}), Clients(p, (1, 1, 1))
    drawing = method.participation.drawing(clients)
    assert drawing is not None
    mean = [F(0)] * 3
    second = [[F(0)] * 3 for _ in range(3)]
    for chance, cohort in drawing.support(1000):
        w = [F(0)] * 3
        for i, a in zip(cohort, method.aggregation.coefficients(cohort, method.context(clients)), strict=True):
            w[i] += a
        for i in range(3):
            mean[i] += chance * w[i]
            for j in range(3):
                second[i][j] += chance * w[i] * w[j]
    found = expected_weights(method, clients)
    assert found is not None
    assert found.covariance is not None
    alpha = found.covariance.alpha
    assert [found.mean[i] for i in range(3)] == mean
    assert mean == list(p)  # time-based weights
    for i, j in itertools.permutations(range(3), 2):
        assert second[i][j] == alpha * mean[i] * mean[j]
    assert found.covariance.beta == max(second[i][i] / mean[i] - alpha * mean[i] for i in range(3))
    assert 0 <= alpha <= 1


CLIENTS = [(F(1), F(0)), (F(2), F(3)), (F(1, 2), F(-1))]  # h, b
PLANS: list[dict[str, Any]] = [
    {"kind": "fedavg_async", "times": [2, 3, 5]},
    {"kind": "fedavg_async", "times": [2, 3, 5], "weights": "identical"},
    {"kind": "fedavg_async", "times": [2, 4, 4], "ties": "joint"},
    {"kind": "fedfix", "times": [2, 3, 5], "dt": 1},
    {"kind": "fedfix", "times": [3, 4, 6], "dt": 2},
    {"kind": "fedbuff", "times": [1, 2, 3], "m": 2},
    {"kind": "biased_sampling", "cohorts": [[0, 1], [], [1], [2]]},
]


@pytest.mark.parametrize("spec", PLANS, ids=str)
def test_losses_round_by_round(spec: dict[str, Any]) -> None:
    """R, S1, S2, Sigma, P and the heterogeneity by going through the rounds of a period on the line."""
    instance, method = line(*CLIENTS), build({**spec, **STEPS})
    known = clients_of(instance)
    part = method.participation
    first = part.first(known) if isinstance(part, Timed) else 0
    rounds = range(first, first + part.period(known))
    N = len(rounds)
    q: list[dict[int, Fraction]] = []
    for n in rounds:
        cohort = part.fixed(n, known) or ()
        weights = method.aggregation.coefficients(cohort, method.context(known)) if cohort else []
        q.append(dict(zip(cohort, weights, strict=True)))

    def loss(w: dict[int, Fraction], x: Fraction) -> Fraction:
        return sum((v * (CLIENTS[i][0] * x * x / 2 - CLIENTS[i][1] * x) for i, v in w.items()), F(0))

    def least(w: dict[int, Fraction]) -> Fraction:
        return sum(v * CLIENTS[i][1] for i, v in w.items()) / sum(v * CLIENTS[i][0] for i, v in w.items())

    def own(i: int, x: Fraction) -> Fraction:
        return loss({i: F(1)}, x) - loss({i: F(1)}, least({i: F(1)}))

    def gradient2(i: int, x: Fraction) -> Fraction:
        return (CLIENTS[i][0] * x - CLIENTS[i][1]) ** 2

    mean = {i: sum((w.get(i, F(0)) for w in q), F(0)) / N for i in range(3)}
    best = least(mean)
    busy = [w for w in q if w]
    total = [sum(w.values()) for w in busy]
    chi = [sum((F(1, 3) - v / s) ** 2 / (v / s) for v in w.values()) for w, s in zip(busy, total, strict=True)]
    expected = {
        "R_loss": sum(loss(w, best) - loss(w, least(w)) for w in busy) / N,
        "S1": sum(v / s * gradient2(i, least(w)) for w, s in zip(busy, total, strict=True) for i, v in w.items()) / N,
        "S2": sum((v / s) ** 2 * gradient2(i, least(w)) for w, s in zip(busy, total, strict=True) for i, v in w.items())
        / N,
        "Sigma": sum(v * gradient2(i, best) for i, v in mean.items()),
        "dist2_surrogate_0": (5 - best) ** 2,
        "F_het": sum(v * own(i, best) for i, v in mean.items()),
        "P_loss": sum(
            c * v / s * own(i, least(w)) for w, s, c in zip(busy, total, chi, strict=True) for i, v in w.items()
        )
        / N,
        "chi2_max": max(chi),
        "rho": max(F(1), *total),
        "q_min": min(total),
        "q_bar": sum(total) / N,
        "rounds_share": F(len(busy), N),
    }
    found = joint_constants(method, instance)
    assert {k: found[k].value for k in expected} == expected
    assert all(found[k].known is Known.EXACT for k in expected)
    assert expected["R_loss"] >= 0


def test_a_client_alone_in_its_round_has_no_gradient_at_its_minimiser() -> None:
    data = {"kind": "logistic_regression", "data": "breast_cancer", "clients": 4, "split": "random", "ridge": 1}
    alone = {"kind": "biased_sampling", "K": 2, "eta_l": "1/8"}
    found = describe_constants(build({**alone, "cohorts": [[0], [1]]}), problem(data))
    assert 0 <= found["S1"].value < F(1, 10**60)  # squares of balls around 0
    shared = describe_constants(build({**alone, "cohorts": [[0, 1], [2]]}), problem(data))
    assert shared["S1"].value > F(1, 10**6)


def test_samples_add_their_variance() -> None:
    clients = [
        {"components": [{"A": [[1]], "b": [0]}, {"A": [[3]], "b": [2]}]},
        {"components": [{"A": [[2]], "b": [1]}, {"A": [[2]], "b": [5]}]},
    ]
    for reduction, factor in (("mean", F(1, 2)), ("sum", F(1))):
        instance = problem({"kind": "quadratics", "clients": clients, "start": [4], "reduction": reduction})
        h, b = [4 * factor, 4 * factor], [2 * factor, 6 * factor]
        best = (b[0] + b[1]) / (h[0] + h[1])
        parts = [[(1, 0), (3, 2)], [(2, 1), (2, 5)]]
        scale = factor * 2
        for batch in (1, 2, 5):  # of 5 samples, a client that holds 2 draws 2
            square = F(0)
            for own in parts:
                draws = list(itertools.product(own, repeat=min(batch, 2)))
                for draw in draws:
                    g = scale * sum(a * best - c for a, c in draw) / len(draw)
                    square += F(1, 2) * g * g / len(draws)
            found = values({"kind": "fedavg_sync", "batch": batch}, instance)
            assert (found["Sigma"], found["S1"], found["S2"]) == (square, square, square / 2)


def test_clients_with_one_objective_are_one_kind_of_data() -> None:
    """Example 1: clients 1, 3 and 2, 4 in turn, where 1 and 2, and 3 and 4, have the same data."""
    four = line((1, 0), (1, 0), (1, 3), (1, 3))
    method = build({"kind": "biased_sampling", "cohorts": [[0, 2], [1, 3]], **STEPS})
    assert values({"kind": "biased_sampling", "cohorts": [[0, 2], [1, 3]]}, four)["chi2_max"] == 0
    assert joint_objections(method, four)["same_expected_weights"] is None
    assert joint_objections(method, four)["every_type_every_round"] is None
    other = line((1, 0), (1, 1), (1, 3), (1, 3))
    assert "weighs the kinds of data otherwise" in str(joint_objections(method, other)["same_expected_weights"])
    assert "leaves out a kind" in str(joint_objections(method, other)["every_type_every_round"])


def test_hypotheses() -> None:
    fix = joint_objections(build({"kind": "fedfix", "times": [2, 3], "dt": 1, **STEPS}), alike(2))
    assert fix["no_empty_rounds"] == "some rounds have no clients."
    assert fix["window_property"] is None
    assert "quadratic" in str(fix["bounded_gradients"])
    sync = joint_objections(build({"kind": "fedavg_sync", **STEPS}), alike(2))
    turns = {"two_alternating_clients", "four_alternating_clients"}
    grow = {"bounded_gradients", "bounded_sample_gradients"}
    assert {k for k, v in sync.items() if v is not None} == grow | turns
    lead = joint_objections(build({"kind": "fedbuff", "times": [3, 4, 6, 6], "m": 3, **STEPS}), alike(4))
    assert (lead["window_property"] is None) is (
        "window" in values({"kind": "fedbuff", "times": [3, 4, 6, 6], "m": 3}, alike(4))
    )
    curve = run(build({"kind": "fedavg_sync", **STEPS}), alike(2), rounds=2)
    assert "covariance_of_weights" in curve.assumptions
    assert "bounded_gradients" in curve.violations
    unlike = {"kind": "fedbuff", "times": {"kind": "exponential", "rates": [1, 2, 3]}, "m": 2, **STEPS}
    assert "no single alpha" in str(joint_objections(build(unlike), alike(3))["covariance_of_weights"])


def test_other_methods_have_none_of_it() -> None:
    assert set(KINDS) <= set(kinds())
    scgd = build({"kind": "scgd", "E": 2, "eta": "1/4"})
    others = {"data_weights", "two_alternating_clients", "four_alternating_clients"}
    assert set(joint_objections(scgd, alike(3))) == others
    assert "R_loss" not in describe_constants(scgd, alike(3))


def test_problems_without_convex_clients_have_no_losses() -> None:
    found = values({"kind": "fedavg_async", "times": [1, 2]}, line((2, 0), (-1, 1)))
    assert "rho" in found
    assert not {"R_loss", "S1", "Sigma", "F_het"} & set(found)


def table(spec: dict[str, Any], instance: Any) -> dict[str, Entry]:
    return {entry.quantity: entry for entry in scheme_table(build({**spec, **STEPS}), instance)}


WRONG = [  # the entries of Table 2 that are not the exact number
    (ASYNC, alike(3), set[str]()),
    # max d_i <= tau_M/tau_0 needs equal importance: (1 + 1/2) 2 9/10 = 27/10 with the slow client the important one
    ({"kind": "fedavg_async", "times": [2, 1]}, line((1, 0), (1, 1), weights=["9/10", "1/10"]), {"beta"}),
    ({"kind": "fedavg_async", "times": [1, 1, 1], "ties": "joint"}, alike(3), {"W", "alpha"}),
    ({"kind": "fedfix", "times": [2, 3, 5], "dt": 2}, alike(3), set[str]()),
    ({"kind": "fedfix", "times": [2, 3, 5], "dt": 1}, alike(3), {"tau"}),
    ({"kind": "fedavg_sync", "times": [2, 3, 5]}, alike(3), set[str]()),
]


@pytest.mark.parametrize(("spec", "instance", "wrong"), WRONG)
def test_table_2(spec: dict[str, Any], instance: Any, wrong: set[str]) -> None:
    found = table(spec, instance)
    assert {name for name, entry in found.items() if not entry.agrees} >= wrong
    if spec == ASYNC:
        exact = {"d": F(31, 18), "N": F(31, 30), "alpha": 0, "beta": F(31, 18), "tau": 5, "W": 31, "R": F(1, 3)}
        assert {k: e.exact for k, e in found.items()} == exact
    if not wrong:
        assert all(entry.agrees for entry in found.values())


def test_methods_without_a_column_of_table_2() -> None:
    for spec, message in (
        ({"kind": "fedbuff", "times": [2, 3, 5], "m": 2}, "no column"),
        ({"kind": "md_sampling", "m": 2}, "fixed update times"),
    ):
        with pytest.raises(Unsupported, match=message):
            table(spec, alike(3))


def test_a_period_too_long_to_go_through_leaves_out_what_it_hides() -> None:
    """Many clients whose slowest is in the middle: shares and weights by formula, the largest delay unknown."""
    times = [100 + 7 * i for i in range(20)]
    times[5], times[-1] = times[-1], times[5]
    found = values({"kind": "fedavg_async", "times": times}, alike(20))
    assert "tau_delay" not in found
    assert found["window"] > 10**12
    assert found["q_bar"] == 1
    assert found["R_loss"] == sum((F(19, 2) - t) ** 2 for t in range(20)) / 40


def test_single_samples_of_a_client_that_is_their_sum() -> None:
    client = {"components": [{"A": [[1]], "b": [1]}, {"A": [[1]], "b": [-3]}]}
    sums, means = (problem({"kind": "quadratics", "clients": [client] * 2, "reduction": r}) for r in ("sum", "mean"))
    method = {"kind": "fedavg_sync", "times": [1, 1], "K": 1, "eta_l": "1/10"}
    sampled, full = build({**method, "batch": 1}), build(method)
    assert joint_objections(sampled, sums)["unbiased_gradients"] is not None
    for steps, of in ((full, sums), (sampled, means), (full, means)):
        assert joint_objections(steps, of)["unbiased_gradients"] is None
