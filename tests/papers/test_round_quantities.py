"""Every metric of a round has a value by hand on two clients on the line: f_1 = (x-1)^2/2 and f_2 = x^2, x_0 = 2.

F = (f_1 + f_2)/2 has the gradient (3x - 1)/2 and the gap 3/4 (x - 1/3)^2. Client 1 has the samples (x-1)^2/2 -+ (x-1)/2
where a method draws any, so that each gradient has the variance 1/4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from loaded_papers import THEOREM, unloaded_afterwards

import boundcheck as bc
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.engines.exact.paths import run_paths
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Full, GradientSteps, Momentum, Proximal, Uniform
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.least_squares import LeastSquares
from boundcheck.setting.metrics import of_a_round
from boundcheck.verdict import Grade, Outcome

F = Fraction
STEP = Constant(F(1, 4))


def problem(*, noise: bool = False) -> Any:
    offsets = ("1/2", "3/2") if noise else ("1",)
    first = [{"A": "1", "b": b} for b in offsets]
    clients = [{"components": own} for own in (first, [{"A": "2", "b": "0"}] * len(first))]
    return build_problem({"kind": "quadratics", "start": ["2"], "clients": clients})


# Both clients every second round, else the first alone, with the weights 1/4 and 2; K = 2 steps of 1/4, eta_g = 2.
# Round 0: y^1 = 2 - 1/4 and y^2 = y^1 - (3/4)/4 with the variances 1/64 and (9/16)/64 + 1/64 = 25/1024. The models
# between are 2 + (y^k - 2)/2: 15/8 (variance 1/256), and 57/32 (25/4096) after the round. L^0 = f_1/4. The mean weights
# 1/4 and 1 give (x-1)/4 + 2x = 0, thetabar = 1/9.
WINDOWS = {"kind": "fedfix", "times": [1, 2], "dt": 1, "weights": ["1/4", 2], "K": 2, "eta_l": "1/4", "eta_g": 2}
_AT_1 = F(25, 12) + F(3, 4) * (F(37, 24) ** 2 + F(1, 256))  # 2 (F - min F) on average over the models 2 and 15/8
IN_ROUND_0 = {
    "round_weight": F(1, 4),
    "round_gap": F(1, 8),
    "round_difference": F(1, 8) - F(8, 81),
    "round_chi2": (F(1, 2) - 1) ** 2,
    "absent_gap": F(1, 2) * 4,
    "movement2": F(7, 32) ** 2 + F(25, 4096),
    "dist2_change": F(481, 288) ** 2 - F(17, 9) ** 2 + F(25, 4096),
    "virtual_round_gap": (1 + F(49, 64) + F(1, 256)) / 16,
    "virtual_difference": (1 + F(49, 64) + F(1, 256)) / 16 - F(8, 81),
    "virtual_gap": _AT_1 / 2,
    "virtual_grad2": 3 * _AT_1 / 2,
    "work_distance2": (F(1, 16) + F(1, 64)) / 2,
    "virtual_distance2": (F(1, 64) + F(1, 256)) / 2,
    "work_grad2": (1 + F(9, 16) + F(1, 64) + F(1, 2)) / 2,
    "work_mean_grad2": F(7, 8) ** 2 + F(25, 256),
    "virtual_mean_grad2": (1 + F(9, 16) + F(1, 64) + F(1, 2)) / 2,
    "work_inner": F(1, 4) * F(7, 8) * F(17, 9),
    "virtual_inner": (F(17, 9) + F(3, 4) * F(127, 72) + F(1, 128)) / 8,
}
# L^1 = f_1/4 + 2 f_2 is least at 1/17, where the mean squares of the gradients are (16/17)^2 + 1/4 and (2/17)^2
IN_ROUND_1 = {
    "round_spread": F(1, 8) * F(16, 17) ** 2 + 2 * F(1, 17) ** 2,
    "round_noise": F(1, 9) * (F(256, 289) + F(1, 4)) + F(8, 9) * F(4, 289),
    "round_noise2": F(1, 81) * (F(256, 289) + F(1, 4)) + F(64, 81) * F(4, 289),
}


def of_windows() -> Mapping[str, Fraction]:
    metrics = [*IN_ROUND_0, *IN_ROUND_1]
    curve = run(
        build_method({**WINDOWS, "batch": 1}),
        problem(noise=True),
        rounds=[0, 1],
        metrics=metrics,
        arithmetic="rational",
    )
    return {name: own[int(name in IN_ROUND_1)] for name, own in curve.exact.items()}


def test_a_round_without_clients_is_0() -> None:
    """Both clients need two windows; the virtual models are then the server's point."""
    method = build_method({**WINDOWS, "times": [2, 2], "batch": 1})
    metrics = [*IN_ROUND_0, *IN_ROUND_1]
    found = run(method, problem(noise=True), rounds=[0], metrics=metrics, arithmetic="rational").exact
    kept = {"virtual_gap": F(3, 4) * F(5, 3) ** 2, "virtual_grad2": F(5, 2) ** 2}
    assert {name: own[0] for name, own in found.items()} == dict.fromkeys(metrics, F(0)) | kept


def test_clients_of_one_kind_count_together() -> None:
    """Two of three clients have the same objective; round 0 has one of them, round 1 the third."""
    clients = [{"components": [{"A": a, "b": b}]} for a, b in (("1", "2"), ("1", "2"), ("2", "0"))]
    three = build_problem({"kind": "quadratics", "start": ["3"], "clients": clients})
    method = build_method({"kind": "biased_sampling", "cohorts": [[0], [2]], "K": 1, "eta_l": "1/4"})
    metrics = ["round_chi2", "round_spread", "absent_gap"]
    found = run(method, three, rounds=[0, 1], metrics=metrics, arithmetic="rational").exact
    # shares 2/3 and 1; the absent f_3(3) = 9; round 1 starts at 3 - 1/4 = 11/4
    assert [found[m][0] for m in metrics] == [(F(2, 3) - 1) ** 2, 0, F(1, 3) * 9]
    assert [found[m][1] for m in metrics] == [(F(1, 3) - 1) ** 2, 0, F(2, 3) * F(3, 4) ** 2 / 2]


def of_visits() -> Mapping[str, Fraction]:
    """One of the two clients is drawn, and takes two steps with the whole gradient; with momentum these are halved."""
    drawn = run_exact(Method("m", Uniform(1), GradientSteps(2), STEP), problem(), [0], ["drift"], arithmetic=RATIONAL)
    half = Method("m", Uniform(1), GradientSteps(2), STEP, momentum=Momentum(F(1, 2)))
    begun = run_exact(half, problem(), [0], ["epoch_grad2"], arithmetic=RATIONAL)
    return {name: own[0] for curve in (drawn, begun) for name, own in curve.exact.items()}


def of_momentum() -> Mapping[str, Fraction]:
    """m begins as a gradient of a client drawn, 1 or 4; m - grad F then falls by 1 - a = 3/4 a round."""
    method = Method("m", Full(), GradientSteps(1), STEP, momentum=Momentum(F(1, 4), start="sampled", warm_up=1))
    found = run_exact(method, problem(), [0, 1], ["momentum_error2"], arithmetic=RATIONAL).exact["momentum_error2"]
    assert found[0] == ((1 - F(5, 2)) ** 2 + (4 - F(5, 2)) ** 2) / 2
    return {"momentum_error2": found[1]}


def of_models() -> Mapping[str, Fraction]:
    """Before the models 7/4 and 1 are averaged."""
    method = build_method({"kind": "periodic_averaging", "tau": 2, "eta": "1/4"})
    found = run(method, problem(), rounds=[1], metrics=["discrepancy", "discrepancy:0"], arithmetic="rational").exact
    assert found["discrepancy:0"] == found["discrepancy"]
    return {"discrepancy": found["discrepancy"][0]}


def of_solves() -> Mapping[str, Fraction]:
    """One step of 3/8 from 2 on (y-1)^2/2 + (y-2)^2/2 ends at 13/8, 1/8 from the solution; 3/8 - 1/8 is known of it."""
    alone = build_problem({"kind": "quadratics", "start": ["2"], "clients": [{"components": [{"A": "1", "b": "1"}]}]})
    method = Method("m", Full(), Proximal(F(1), GradientSteps(1)), Constant(F(3, 8)))
    found = run_sampled(method, alone, 1, 1, ("inexactness",), [1], path="numpy").values["inexactness"][0]
    own = run_sampled(Method("m", Full(), GradientSteps(1), STEP), problem(), 1, 1, ("B2",), [0], path="numpy").values[
        "B2"
    ][0]
    return {name: F(float(v)).limit_denominator(10**6) for name, v in (("inexactness", found), ("B2", own))}


def of_losses() -> Mapping[str, Fraction]:
    """The squares (x-1)^2/2 and (2x)^2/2 from 2 in a step of 1/4: models 7/4 and 0, their mean 7/8."""
    data = (((F(1),),), ((F(2),),)), ((F(1),), (F(0),))
    squares = LeastSquares("two", {}, *data, "half_sum", (F(2),), F(0), (F(1, 2), F(1, 2)))
    method = build_method({"kind": "periodic_averaging", "tau": 2, "eta": "1/4", "gradient": "full"})
    names = ("least_local_f", "least_local_loss", "f_above_least_local")
    found = run_sampled(method, squares, 1, 1, names, [1], path="numpy").values
    return {name: F(float(found[name][0])).limit_denominator(10**6) for name in names}


RATIONAL = Arithmetic.RATIONAL
VALUES: Mapping[Any, Mapping[str, Fraction]] = {
    of_windows: {**IN_ROUND_0, **IN_ROUND_1},
    of_visits: {"drift": (F(1, 4) ** 2 + 1) / 4, "epoch_grad2": F(25, 4) / 2 + (F(37, 16) ** 2 + F(7, 4) ** 2) / 4},
    of_momentum: {"momentum_error2": F(3, 4) ** 2 * F(9, 4)},
    of_models: {"discrepancy": F(3, 8) ** 2},
    of_solves: {"inexactness": F(1, 2), "B2": (F(1 + 16, 2)) / F(5, 2) ** 2},
    of_losses: {
        "least_local_f": F(1, 4),  # at 0; at 7/4 it is (9/32 + 49/8)/2
        "least_local_loss": F(0),
        "f_above_least_local": (F(1, 128) + F(49, 32)) / 2 - F(1, 4),
    },
}


@pytest.mark.parametrize("measured", VALUES, ids=lambda f: f.__name__)
def test_metrics_have_their_values_by_hand(measured: Any) -> None:
    assert measured() == VALUES[measured]


def test_every_metric_of_a_round_has_a_value_by_hand() -> None:
    assert sorted(of_a_round()) == sorted(name for own in VALUES.values() for name in own)


class Stepped:
    """The noisy problem, of which only gradients and metrics at points are known."""

    arithmetics = ("rational",)

    def __init__(self, own: Any) -> None:
        for name in ("name", "dim", "start", "clients", "weights", "metrics", "sizes"):
            setattr(self, name, getattr(own, name))

    def gradient_of(self, client: int, sample: int | None, x: Sequence[Fraction]) -> list[Fraction]:
        offset = F(1) if sample is None else (F(1, 2), F(3, 2))[sample]
        return [x[0] - offset if client == 0 else 2 * x[0]]

    def metric_of(self, name: str, x: Sequence[Fraction]) -> Fraction:
        square = (x[0] - F(1, 3)) ** 2
        return {"gap": F(3, 4), "grad2": F(9, 4), "dist2": F(1)}[name] * square


def test_one_formula_outcome_by_outcome_and_by_moments() -> None:
    """All outcomes of two rounds of both clients, one of two samples a step, from old points in the second."""
    of_one_outcome = [
        "movement2",
        "round_weight",
        "work_distance2",
        "virtual_distance2",
        "virtual_gap",
        "virtual_grad2",
    ]
    own, method = problem(noise=True), build_method({**WINDOWS, "batch": 1})
    stepped: Any = Stepped(own)
    paths = run_paths(method, stepped, [0, 1], of_one_outcome, RATIONAL, lambda share: None)
    moments = run(method, own, rounds=[0, 1], metrics=of_one_outcome, arithmetic="rational")
    assert paths.exact == moments.exact
    with pytest.raises(Unsupported, match="'round_gap' asks for 'round_objective' of a round, which the exact engine"):
        run_paths(method, stepped, [0], ["round_gap"], RATIONAL, lambda share: None)


@pytest.mark.parametrize("epochs", [1, {"low": 1, "high": 2}])
def test_the_weights_of_all_that_a_client_can_do_are_added(epochs: Any) -> None:
    """L = (f_1 + f_2 + f_3)/3 with the slopes x - 1/2, 2x and 3x/2 is least at 1/9, whatever is drawn together."""
    rows = [[("1", "1"), ("1", "0")], [("2", "0")] * 2, [("1", "0"), ("2", "0")]]
    clients = [{"components": [{"A": a, "b": b} for a, b in own]} for own in rows]
    three = build_problem({"kind": "quadratics", "start": ["2"], "clients": clients})
    spec = {"kind": "fedavg_min", "E": epochs, "eta_l": "1/8", "participation": {"kind": "uniform", "size": 2}}
    found = run(build_method(spec), three, rounds=[0], metrics=["round_weight", "round_spread"], arithmetic="rational")
    spread = (F(7, 18) ** 2 / 2 + F(1, 9) ** 2 + F(3, 4) * F(1, 9) ** 2) / 3
    assert found.exact == {"round_weight": (1,), "round_spread": (spread,)}


def test_samples_without_replacement_have_local_distances() -> None:
    """Two orders: the second step starts at 7/4 -+ 1/8 in both of them; stochastic gradients are refused."""
    method = build_method({"kind": "fedavg_rr", "E": 1, "eta_l": "1/4"})
    curve = run(method, problem(noise=True), rounds=[0], metrics=["work_distance2"], arithmetic="rational")
    assert curve.exact["work_distance2"] == ((F(1, 16) + F(1, 64) + 1) / 4,)
    with pytest.raises(Unsupported, match="draws no independent samples: no metric 'work_grad2'"):
        run(method, problem(noise=True), rounds=[0], metrics=["work_grad2"])


# --- claims about rounds ----------------------------------------------------------------------------------------------

TWO = {"kind": "quadratics", "start": [4], "clients": [{"A": 1, "b": 1}, {"A": 1, "b": -1}]}
TURNS = {"kind": "fedavg_async", "times": [1, 1], "weights": "1/8", "K": 1, "eta_l": "1/16"}
LEMMA_3 = Claim("async_fl/lemma_3/as_printed", TWO, TURNS, at={"n": [1, 3]})


def test_the_bound_of_a_lemma_is_of_the_same_round() -> None:
    """Lemma 3 as printed, K = 1 and one delay: Q(n-1) on the left, 4 q Q(n-1) and nothing else on the right."""
    result = run_claim(LEMMA_3)
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.VIOLATED, Grade.EXACT)
    for metric, bound in zip(result.metric_high, result.bound, strict=True):
        assert bound == pytest.approx(metric * 4 / 8, rel=1e-14)
    moved = run(build_method(TURNS), build_problem(TWO), rounds=[0, 2], metrics=["movement2"], arithmetic="rational")
    quantities = result.verdict.witness["quantities"]
    assert F(quantities["Qs"]) in moved.exact["movement2"]
    assert quantities["q"] == "1/8"


def test_rounds_without_clients_are_left_out_and_means_have_means_in_their_bound() -> None:
    method = {"kind": "fedfix", "times": [2, 2], "dt": 1, "K": 2, "eta_l": "1/16"}
    result = run_claim(Claim("async_fl/lemma_3/corrected", TWO, method, at={"n": [0, 1, 2, 3, 4]}))
    assert (result.index, result.verdict.outcome) == ((1, 3), Outcome.HOLDS)
    method = {"kind": "fedavg_async", "times": [1, 2], "K": 2, "eta_l": "1/100"}
    found = run_claim(Claim("async_fl/lemma_6/corrected", TWO, method, at={"s": [2]})).verdict.witness
    curve = run(build_method(method), build_problem(TWO), rounds=list(range(6)), metrics=["round_gap"])
    assert float(F(found["quantities"]["Z_mean"])) == pytest.approx(curve.values["round_gap"].mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"engine": "sampled"}, "engine = 'sampled' is not allowed; it takes engine = 'exact'"),
        ({"arithmetic": "ball"}, "arithmetic = 'ball' is not allowed"),
        ({"constants": {"Z": 1}}, r"Z is a quantity of each round \(round/virtual_gap\), which the run computes"),
        ({"curve": True}, r"needs the quantity '.*' of every round in fractions"),
    ],
)
def test_what_a_lemma_cannot_be_compared_with(more: dict[str, Any], message: str) -> None:
    if "curve" in more:  # without the quantities
        own = build_method(TURNS), build_problem(TWO)
        more = {"curve": run(*own, rounds=[0, 1, 2, 3], metrics=["virtual_distance2"])}
    with pytest.raises(BadInput, match=message):
        run_claim(replace(LEMMA_3, **more))


def test_methods_without_such_rounds_are_refused() -> None:
    method = build_method({"kind": "fedshuffle", "E": 1, "eta_l": "1/8", "eta_g": 1})
    for metric in ("work_inner", "dist2_change"):
        with pytest.raises(Unsupported):
            run(method, build_problem(TWO), rounds=[0], metrics=[metric])
    moved = run(method, build_problem(TWO), rounds=[0, 1], metrics=["movement2", "x"], arithmetic="rational").exact
    assert moved["movement2"][0] == (moved["x"][1] - moved["x"][0]) ** 2 > 0


# --- metrics of a user ----------------------------------------------------------------------------------------------


def test_a_file_of_a_user_declares_a_metric_and_a_theorem_about_it(tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    declared = (
        "from boundcheck.setting.quantities import Quantity\n"
        "quantities = (Quantity('twice', 'twice the way', lambda r: r.square((r.after - r.before) * 2)),)\n"
    )
    own.write_text(declared + THEOREM.replace('Metric("gap"', 'Metric("twice"'))
    with unloaded_afterwards():
        assert [s.metric.quantity for s in bc.load(own)] == ["twice"] * 2
        method = build_method({"kind": "fedavg_sync", "K": 1, "eta_l": "1/4"})
        found = run(method, problem(), rounds=[0], metrics=["twice"], arithmetic="rational").exact["twice"]
        assert found == ((2 * (F(1, 4) * F(5, 2))) ** 2,)
        own.write_text(own.read_text().replace("'twice'", "'drift'"))
        with pytest.raises(BadInput, match="the metric 'drift' is declared twice"):
            bc.load(own)
    assert "twice" not in of_a_round()


REFUSED = {
    "after_and_point": (
        "r.inner(r.after - r.before, r.members[0].point(1) - r.before)",
        "products of points of a visit",
    ),
    "two_steps": ("r.inner(r.members[0].point(1) - r.before, r.members[0].point(2) - r.before)", "of different steps"),
    "late_point": ("r.inner(r.members[0].gradient(0), r.members[0].point(1) - r.before)", "points of different steps"),
    "after_in_sum": ("r.square(r.cohort_sum(lambda m: r.after - m.point(0)))", "sums over the cohort of what rests on"),
    "two_visits": ("r.square(r.everyone[0].point(1) - r.before)", "visits that take different inputs"),
    "no_difference": ("r.square(r.before)", "uses a point as a vector; take its difference to a point, such as"),
    "points_in_sum": ("r.square(r.cohort_sum(lambda m: m.point(0)))", "uses a point as a vector"),
    "no_point": ("r.grad2(r.objective, r.before - r.after)", "the gradient at a vector that is no point"),
    "a_vector": ("r.after - r.before", "the formula of the metric 'a_vector' gives no expected value"),
    "a_number": ("r.total", "the formula of the metric 'a_number' gives no expected value"),
    "a_mistake": ("r.middle", "the formula of the metric 'a_mistake' raises AttributeError"),
    "random_place": ("r.noisy_gradient2(r.members[0], r.members[1].point(1))", "at points that are known"),
}


def test_correlated_parts_of_a_formula_are_refused(tmp_path: Path) -> None:
    own, noisy = tmp_path / "mine.py", problem(noise=True)
    lines = [f"Quantity('{name}', 'refused', lambda r: {formula})" for name, (formula, _) in REFUSED.items()]
    apart = "r.inner(r.members[0].gradient(0), r.members[1].point(1) - r.origin)"
    lines += [f"Quantity('apart', 'two clients', lambda r: {apart})"]
    lines += ["Quantity('later', 'gap after the round', lambda r: r.excess(r.objective, r.after))"]
    imported = "from boundcheck.setting.quantities import Quantity\n"
    own.write_text(f"{imported}quantities = ({', '.join(lines)},)\n{THEOREM}")
    method = build_method({"kind": "fedavg_sync", "K": 3, "batch": 1, "eta_l": "1/4"})
    with unloaded_afterwards():
        bc.load(own)
        for name, (_, why) in REFUSED.items():
            with pytest.raises((Unsupported, BadInput), match=why):
                run(method, noisy, rounds=[0], metrics=[name])
        # the mean gradient 1 of the first client at 2, and where the second one is on average after a step
        found = run(method, noisy, rounds=[0, 1], metrics=["apart", "later", "gap"], arithmetic="rational").exact
        assert found["apart"][0] == 1
        assert found["later"][0] == found["gap"][1]
