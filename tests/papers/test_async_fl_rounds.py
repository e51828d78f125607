"""Quantities of the lemmas of the asynchronous paper, as measured, against every course of a few small runs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from async_scalar import Law, Setting, World, histories, real, virtual

from boundcheck.engines.run import run
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.metrics import of_a_round
from boundcheck.verdict import Grade, Outcome

F = Fraction
# metric -> name in `async_scalar.Quantities`, at the real models and at the virtual ones
REAL = {
    "round_weight": "q",
    "round_noise": "sg1",
    "round_noise2": "sg2",
    "movement2": "sq",
    "dist2_change": "change",
    "round_gap": "Z",
    "round_difference": "Xi",
    "work_distance2": "phi",
    "work_grad2": "Sn",
    "work_inner": "inner",
    "work_mean_grad2": "Rn",
}
VIRTUAL = {
    "virtual_round_gap": "Z",
    "virtual_difference": "Xi",
    "virtual_distance2": "phi",
    "virtual_inner": "inner",
    "virtual_mean_grad2": "Rn",
}
OTHERS = ("round_chi2", "round_spread", "absent_gap")


def turns(n: int) -> Law:
    return [(F(1), (n % 2,))]


def one_of_two(_: int) -> Law:
    return [(F(1, 2), (0,)), (F(1, 2), (1,))]


def window(n: int) -> Law:
    """Update times 1 and 2 in windows of length 1: the second client arrives in every other round."""
    return [(F(1), (0, 1) if n % 2 else (0,))]


def pauses(n: int) -> Law:
    """Both clients need 2 windows."""
    return [(F(1), (0, 1) if n % 2 else ())]


CASES: dict[str, tuple[Setting, Mapping[str, Any], int]] = {}
for _K, _noise in ((1, F(0)), (3, F(0)), (2, F(1, 2))):
    _common = {"c": (F(1), F(1, 2)), "t": (F(1), F(-1)), "noise": (_noise, _noise), "K": _K, "eta_l": F(1, 16)}
    _steps: dict[str, Any] = {"K": _K, "eta_l": "1/16", "eta_g": 3, **({"batch": 1} if _noise else {})}
    for _name, _law, _d, _method, _rounds in (
        ("turns", turns, (F(1, 2), F(1, 2)), {"kind": "fedavg_async", "times": [1, 1], "weights": "1/2"}, 6),
        ("drawn", one_of_two, (F(1), F(1)), {"kind": "uniform_sampling", "m": 1}, 4),
        ("window", window, (F(1, 4), F(2)), {"kind": "fedfix", "times": [1, 2], "dt": 1, "weights": ["1/4", 2]}, 4),
        ("pauses", pauses, (F(1), F(1)), {"kind": "fedfix", "times": [2, 2], "dt": 1, "weights": "identical"}, 4),
    ):
        _own = Setting(**_common, d=_d, law=_law, eta_g=F(3), start=F(2), stale=_name != "drawn")  # pyright: ignore
        _known = {"turns": 3, "drawn": 1, "window": 2, "pauses": 3}[_name] if _noise else _rounds
        CASES[f"{_name}, K = {_K}{', noise' if _noise else ''}"] = (_own, {**_method, **_steps}, _known)


def problem_of(s: Setting) -> Any:
    signs = (1, -1) if any(s.noise) else (0,)
    clients = [
        {"components": [{"A": str(c), "b": str(c * t - sign * v)} for sign in signs]}
        for c, t, v in zip(s.c, s.t, s.noise, strict=True)
    ]
    return build_problem({"kind": "quadratics", "start": [str(s.start)], "clients": clients})


def gaps(s: Setting, worlds: list[World], n: int) -> dict[str, Fraction]:
    """chi_n^2, the spread, and the gaps of the absent clients, from their definitions; every client is of its kind."""
    q, total, size = s.q(n), sum(s.q(n), F(0)), len(s.c)
    best = s.minimiser(q)
    return {
        "round_chi2": sum(((F(1, size) - v / total) ** 2 / (v / total) for v in q if v), F(0)),
        "round_spread": s.loss(q, best),  # F_j* = 0
        "absent_gap": sum(
            (w.p * s.loss([F(1, size) if not v else F(0) for v in q], w.models[-1]) for w in worlds), F(0)
        ),
    }


@pytest.mark.parametrize("name", CASES)
def test_every_quantity_is_that_of_all_courses_of_the_run(name: str) -> None:
    s, method, rounds = CASES[name]
    metrics = [*REAL, *VIRTUAL, *OTHERS]
    measure: dict[str, Any] = {"rounds": list(range(rounds)), "metrics": metrics}
    curve = run(build_method(method), problem_of(s), arithmetic="rational", **measure)
    before = histories(s, rounds)
    x = s.minimiser([sum((s.q(n)[i] for n in range(2)), F(0)) for i in s.clients])
    for n in range(rounds):
        if not any(s.q(n)):
            assert all(curve.exact[metric][n] == 0 for metric in metrics)
            continue
        own, models = real(s, before[n], before[n + 1], n, x), virtual(s, before[n], n, x)
        expected = {metric: getattr(own, symbol) for metric, symbol in REAL.items()}
        expected |= {metric: getattr(models, symbol) for metric, symbol in VIRTUAL.items()}
        expected |= gaps(s, before[n], n)
        assert {metric: curve.exact[metric][n] for metric in metrics} == expected
    balls = run(build_method(method), problem_of(s), arithmetic="ball", **measure)
    for metric in metrics:
        for n in range(rounds):
            assert balls.low[metric][n] <= curve.exact[metric][n] <= balls.high[metric][n]


def test_samples_of_different_curvature() -> None:
    """One client with the samples (3 x^2/2 - x) and (-x^2/2), two steps of one sample each, a second round."""
    slopes, offsets, eta, eta_g, start = (F(3), F(-1)), (F(1), F(0)), F(1, 8), F(5), F(2)
    best = F(1, 2)  # the mean gradient is x - 1/2

    def gradient(j: int, y: Fraction) -> Fraction:
        return slopes[j] * y - offsets[j]

    def square(y: Fraction) -> Fraction:
        return sum((gradient(j, y) ** 2 for j in (0, 1)), F(0)) / 2

    def round_from(theta: Fraction) -> list[dict[str, Fraction]]:
        """All courses of a round, with the chance 1/4 each."""
        found: list[dict[str, Fraction]] = []
        for first, second in itertools.product((0, 1), repeat=2):
            g0 = gradient(first, theta)
            y1 = theta - eta * g0
            g1 = gradient(second, y1)
            after, mid = theta - eta_g * eta * (g0 + g1), theta - eta_g * eta * g0
            gap = [(m - best) ** 2 / 2 for m in (theta, mid)]
            found.append(
                {
                    "next": after,
                    "movement2": (after - theta) ** 2,
                    "dist2_change": (after - best) ** 2 - (theta - best) ** 2,
                    "work_distance2": (y1 - theta) ** 2 / 2,
                    "work_grad2": (g0**2 + g1**2) / 2,
                    "work_inner": (g0 + g1) / 2 * (theta - best),
                    "work_mean_grad2": ((g0 + g1) / 2) ** 2,
                    "virtual_distance2": (y1 - mid) ** 2 / 2,
                    "virtual_inner": (g0 * (theta - best) + g1 * (mid - best)) / 2,
                    "virtual_mean_grad2": (g0**2 + g1**2) / 2,
                    "virtual_round_gap": sum(gap, F(0)) / 2,
                    "round_noise": square(best),
                    "round_noise2": square(best),
                }
            )
        return found

    components = [{"A": str(a), "b": str(b)} for a, b in zip(slopes, offsets, strict=True)]
    problem = build_problem({"kind": "quadratics", "start": [str(start)], "clients": [{"components": components}]})
    method = build_method({"kind": "centralised", "K": 2, "batch": 1, "eta_l": str(eta), "eta_g": str(eta_g)})
    first = round_from(start)
    second = [own for course in first for own in round_from(course["next"])]
    metrics = [name for name in first[0] if name != "next"]
    curve = run(method, problem, rounds=[0, 1], metrics=metrics, arithmetic="rational")
    for n, courses in enumerate((first, second)):
        mean = {name: sum((c[name] for c in courses), F(0)) / len(courses) for name in metrics}
        assert {name: curve.exact[name][n] for name in metrics} == mean


def test_clients_of_one_kind_count_together() -> None:
    """chi_n^2, spread and absent kinds where two of three clients have the same objective."""
    kinds = [{"A": "1", "b": "2"}, {"A": "1", "b": "2"}, {"A": "2", "b": "0"}]
    clients = [{"components": [k]} for k in kinds]
    problem = build_problem({"kind": "quadratics", "start": ["3"], "clients": clients})
    method = build_method({"kind": "biased_sampling", "cohorts": [[0], [2]], "K": 1, "eta_l": "1/4"})
    metrics = ["round_chi2", "round_spread", "absent_gap"]
    curve = run(method, problem, rounds=[0, 1], metrics=metrics, arithmetic="rational")
    # round 0: the kind of clients 1 and 2 alone, r = 2/3, st = 1; absent F_3(3) = 9; round 1 starts at 3 - 1/4 = 11/4
    assert [curve.exact[m][0] for m in metrics] == [(F(2, 3) - 1) ** 2, 0, F(1, 3) * 9]
    assert [curve.exact[m][1] for m in metrics] == [(F(1, 3) - 1) ** 2, 0, F(2, 3) * F(3, 4) ** 2 / 2]


# --- claims ------------------------------------------------------------------------------------------------------

TWO = {"kind": "quadratics", "start": [4], "clients": [{"A": 1, "b": 1}, {"A": 1, "b": -1}]}
TURNS = {"kind": "fedavg_async", "times": [1, 1], "weights": "1/8", "K": 1, "eta_l": "1/16"}


def test_the_bound_of_a_lemma_is_of_the_same_round() -> None:
    """Lemma 3 as printed, K = 1 and one delay: Q(n-1) on the left, 4 q Q(n-1) and nothing else on the right."""
    claim = Claim("async_fl/lemma_3/as_printed", TWO, TURNS, at={"n": [1, 3]})
    result = run_claim(claim)
    assert result.verdict.outcome is Outcome.VIOLATED
    assert result.verdict.grade is Grade.EXACT
    assert result.index == (1, 3)
    for metric, bound in zip(result.metric_high, result.bound, strict=True):
        assert bound == pytest.approx(metric * 4 / 8, rel=1e-14)
    curve = run(build_method(TURNS), build_problem(TWO), rounds=[0, 2], metrics=["movement2"], arithmetic="rational")
    quantities = result.verdict.witness["quantities"]
    assert F(quantities["Qs"]) in curve.exact["movement2"]
    assert quantities["q"] == "1/8"


def test_rounds_without_clients_are_left_out() -> None:
    method = {"kind": "fedfix", "times": [2, 2], "dt": 1, "K": 2, "eta_l": "1/16"}
    result = run_claim(Claim("async_fl/lemma_3/corrected", TWO, method, at={"n": [0, 1, 2, 3, 4]}))
    assert result.index == (1, 3)
    assert result.verdict.outcome is Outcome.HOLDS


def test_means_over_rounds_have_means_in_their_bound() -> None:
    method = {"kind": "fedavg_async", "times": [1, 2], "K": 2, "eta_l": "1/100"}
    result = run_claim(Claim("async_fl/lemma_6/corrected", TWO, method, at={"s": [1, 2]}))
    curve = run(build_method(method), build_problem(TWO), rounds=list(range(6)), metrics=["round_gap"])
    assert result.index == (1, 2)
    found = run_claim(Claim("async_fl/lemma_6/corrected", TWO, method, at={"s": [2]})).verdict.witness
    assert float(F(found["quantities"]["Z_mean"])) == pytest.approx(curve.values["round_gap"].mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"engine": "sampled"}, "engine = 'sampled' is not allowed; it takes engine = 'exact'"),
        ({"arithmetic": "ball"}, "arithmetic = 'ball' is not allowed"),
        ({"constants": {"Z": 1}}, r"Z is a quantity of each round \(round/virtual_gap\), which the run computes"),
    ],
)
def test_what_a_lemma_cannot_be_compared_with(more: dict[str, Any], message: str) -> None:
    claim = replace(Claim("async_fl/lemma_3/as_printed", TWO, TURNS, at={"n": [1]}), **more)
    with pytest.raises(BadInput, match=message):
        run_claim(claim)


def test_a_curve_without_the_quantities_is_refused() -> None:
    curve = run(build_method(TURNS), build_problem(TWO), rounds=[0, 1, 2], metrics=["virtual_distance2"])
    claim = Claim("async_fl/lemma_3/as_printed", TWO, TURNS, at={"n": [1]}, curve=curve)
    with pytest.raises(BadInput, match=r"needs the quantity '.*' of every round in fractions"):
        run_claim(claim)


def test_methods_without_such_rounds_are_refused() -> None:
    problem = build_problem({"kind": "quadratics", "start": [4], "clients": [{"A": 1, "b": 1}, {"A": 1, "b": -1}]})
    method = build_method({"kind": "fedshuffle", "E": 1, "eta_l": "1/8", "eta_g": 1})
    for metric in ("work_inner", "dist2_change"):
        with pytest.raises(Unsupported):
            run(method, problem, rounds=[0], metrics=[metric])
    moved = run(method, problem, rounds=[0, 1], metrics=["movement2", "x"], arithmetic="rational").exact
    assert moved["movement2"][0] == (moved["x"][1] - moved["x"][0]) ** 2 > 0
    assert {*REAL, *VIRTUAL, *OTHERS} <= set(of_a_round())
