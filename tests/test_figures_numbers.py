"""The papers' figures and tables at a tiny size: their numbers against plain loops, fractions and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BoundcheckError
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from tests.engines.drawn_plans import plan

Make = Callable[..., Any]
REPEATS, ROUNDS = 3, 160  # rounds of eight cycles
E, DEVICES = 4, 20


def words(made: Any) -> dict[str, str]:
    """Finding -> word."""
    return {key: own.word for key, own in made.decisions.items()}


# --- SCGD -------------------------------------------------------------------------------------------------------------


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


def check(found: dict[str, Any], expected: np.ndarray) -> None:
    low, middle, high = (np.percentile(expected, q, axis=0) for q in (5, 50, 95))
    assert found["end"] == pytest.approx([low[-1], middle[-1], high[-1]], rel=1e-6, abs=1e-12)
    # straight from the definition, without looking for the last failure
    assert found["positive_from"] == next((t for t in range(len(low)) if (low[t:] > 0).all()), None)
    assert found["share_positive_end"] == pytest.approx(np.mean(expected[:, -1] > 0))


CONSTANT = [1e-5] * ROUNDS
# K is the number of cycles begun: 1 in rounds 1 to 20, 2 in rounds 21 to 40, ...
DIMINISHING = [1e-3 / -(-t // DEVICES) for t in range(1, ROUNDS + 1)]


@pytest.mark.parametrize(("name", "steps"), [("scgd_figure_1", CONSTANT), ("scgd_figure_2", DIMINISHING)])
def test_scgd_against_a_plain_loop(figures: Any, made: Make, name: str, steps: list[float], tmp_path: Path) -> None:
    study = made(name, repeats=REPEATS, rounds=ROUNDS)
    facts = study.study.data
    shared = np.array([difference(k, 0, steps) for k in range(REPEATS)])
    check(facts["one_data_set"], shared)
    check(facts["fresh_data"], np.array([shared[0], *(difference(k, k, steps) for k in range(1, REPEATS))]))
    own = np.array([difference(k, 0, steps, "device") for k in range(REPEATS)])
    check(facts["one_data_set_device_coefficients"], own)
    every = loop([list(range(DEVICES))] * ROUNDS, steps, 0)
    scgd = loop([[t % DEVICES] for t in range(ROUNDS)], steps, 0)
    assert facts["all_devices_minus_scgd_end"] == pytest.approx(every[-1] - scgd[-1], rel=1e-6)
    written = figures["_study"].write(study, tmp_path, name)
    assert written[0].read_bytes()[:4] == b"\x89PNG"
    text = (tmp_path / f"{name}.md").read_text()
    assert all(f"- {note}\n" in text for note in study.study.words)
    assert all(own.statistic in text for own in study.decisions.values())


def largest_step() -> float:
    """The step condition of Appendix A in floats: s = 80 eta <= C with the certified mu and L."""
    constants = build_problem({"kind": "scgd_section_4", "seed": 0, "heterogeneity": "iid"}).constants()
    mu, L = (float(constants[name].value) for name in ("mu", "L"))
    a = (4 * L**2 - mu**2) / (16 * L**4)
    return ((mu**2 / (24 * L**4) + (a * mu) ** 2) ** 0.5 - a * mu) / 80


def test_scgd_beside_its_theorems(made: Make) -> None:
    one, two = (made(f"scgd_figure_{k}", repeats=REPEATS, rounds=ROUNDS) for k in (1, 2))
    limit, facts = largest_step(), one.study.data
    assert facts["paper_step"] == {"eta": "1e-5", "outcome": "OUT_OF_SCOPE"}
    assert facts["largest_step"]["outcome"] == "HOLDS"
    assert facts["largest_step"]["eta"] == pytest.approx(limit, rel=1e-9)
    assert facts["paper_over_largest"] == pytest.approx(1e-5 / limit, rel=1e-9)
    assert any("OUT_OF_SCOPE" in sentence for sentence in one.study.words)
    assert words(one) == {"always": "undecided"}  # 160 rounds say nothing about those after 6000
    facts, mu = two.study.data, float(build_problem({"kind": "scgd_section_4", "seed": 0}).constants()["mu"].value)
    # Theorem 3.4 needs mu*n*E*eta0 > 6 with n = 20 and E = 4
    assert (mu * 80 * 1e-3 > 6) == (facts["theorem_3_4"]["outcome"] != "OUT_OF_SCOPE")
    assert (mu * 80 * limit > 6) == (facts["covered_first_step"]["outcome"] != "OUT_OF_SCOPE")
    first = facts["first_cycle_in_scope"]
    assert 1e-3 / first <= limit < 1e-3 / (first - 1)
    assert facts["cycles_run"] == ROUNDS / DEVICES
    low, slope, high = facts["slope_scgd"]
    assert low <= slope <= high < -1.5  # the square of 1/K


@pytest.mark.parametrize(
    ("values", "at"), [([1, 1], 0), ([-1, 1, -1, 2, 3], 3), ([1, 1, 0], None), ([0, float("nan"), 1], 2), ([-1], None)]
)
def test_first_round_from_which_all_are_positive(figures: Any, values: list[float], at: int | None) -> None:
    assert figures["_scgd"].stays_positive_from(np.array(values, dtype=float)) == at


@pytest.mark.parametrize(
    ("since", "sign", "word"),
    [(100, 1, "reproduced"), (6000, 1, "reproduced"), (6001, 1, "undecided"), (100, -1, "reversed")],
)
def test_the_word_of_scgd_follows_the_percentile(figures: Any, since: int, sign: int, word: str) -> None:
    values = sign * np.where(np.arange(6101) >= since, 1.0, -1.0) * np.ones((100, 1))
    assert figures["scgd_figure_1"].always(figures["_scgd"].Differences(values, values, values)).word == word


# --- asynchronous FL --------------------------------------------------------------------------------------------------


def test_losses_of_a_run_against_a_loop(figures: Any) -> None:
    """FedFix-0.5 on equal hardware, one full gradient step: synchronous with twice the server step."""
    a, grid = figures["_async_fl"], [0, 2, 4]
    on, off = a.problem("digits", 10, "random"), figures["_recorded"].Recorded("none", "off")
    spec = {"kind": "fedfix", "times": "f0", "dt": "1/2", "K": 1, "eta_l": "1/4"}
    u = [Fraction(i + 1, 55) for i in range(10)]
    found = a.losses(spec, on, grid, range(1), off, u)
    assert a.losses(spec, on, grid, range(1), off)["f"] == pytest.approx(found["f"])
    x, share = np.zeros(on.dim), np.array([float(v) for v in u])
    for k in range(3):
        each = []
        for i in range(10):
            own = slice(on.offsets[i], on.offsets[i + 1])
            scores, labels = on.features[own] @ x.reshape(10, -1).T, on.labels[own].astype(int)
            entropy = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(scores)), labels]
            each.append(entropy.mean() + 1e-4 / 2 * (x @ x))
        values = {"f": np.mean(each), "spread": np.std(each), "surrogate_f": share @ each}
        values["surrogate_spread"] = np.sqrt(share @ (each - values["surrogate_f"]) ** 2)
        assert {name: v[0, k] for name, v in found.items()} == pytest.approx(values)
        x = x - 2 * 0.25 * np.mean([on.gradient(i, x) for i in range(10)], axis=0)
    assert found["f"][0, 0] == pytest.approx(np.log(10))


def test_the_surrogate_of_identical_weights_is_by_speed(figures: Any) -> None:
    a = figures["_async_fl"]
    on = a.problem("digits", 10, "random")
    spec = {"kind": "fedavg_async", "times": "f80", "K": 1, "eta_l": "1/4"}
    speeds = np.array([1 / (1 + 4 * i / 9) for i in range(10)])
    shares = sorted(map(float, a.shares({**spec, "weights": "identical"}, on)))
    assert shares == pytest.approx(sorted(speeds / speeds.sum()))
    assert set(a.shares({**spec, "weights": "time_based"}, on)) == {Fraction(1, 10)}
    # aggregations in a unit of time, in which the slowest client finishes once and the fastest five times
    assert figures["async_fl_figure_4"].rounds_in_unit(spec, 10) == pytest.approx(5 * speeds.sum())


def test_async_figures_of_the_record(made: Make) -> None:
    two, three, four = (made(f"async_fl_figure_{k}").study for k in (2, 3, 4))
    ends = two.data["ends"]["by Dirichlet(0.1)"]
    assert ends["f"]["time-based"] < ends["f"]["identical"]
    assert ends["surrogate_f"]["identical"] < ends["surrogate_f"]["time-based"]
    tuned = [*two.data["steps"].values(), three.data["step"], *(own for p in four.data["steps"] for own in p.values())]
    for own in tuned:
        tried = [Fraction(step) for step in own["tried"]]
        assert min(tried) < Fraction(own["best"]) < max(tried)
        assert min(own["tried"], key=own["tried"].get) == own["best"]
    assert "Recorded in figures/results/async_fl_figure_3.json" in three.caption
    assert min(three.data["mean"]["identical"]) == three.data["mean"]["identical"][0]  # what the first finding is about
    assert all(panel["FedFix-0.5"] < panel["synchronous"] for panel in four.data["late"])
    assert four.data["late"][0]["asynchronous"] < four.data["late"][0]["synchronous"]
    # the last recorded point of the picture is at the last round, and 200 units of time
    assert [s.x[-1] for s in two.series] == [20_000] * 16
    assert [s.x[-1] for s in four.series] == pytest.approx([200.0] * 12, rel=1e-3)


def test_async_figure_2_small(made: Make) -> None:
    small = made("async_fl_figure_2", seeds=2, rounds=40).study
    assert "Drawn small: 40 instead of 20000, 2 instead of 10 seeds." in small.caption
    assert "Recorded" not in small.caption


@pytest.mark.parametrize(("ratio", "word"), [(2, "reproduced"), (8, "reversed"), (0.5, "reversed")])
def test_a_ratio_of_eight_is_not_twice(figures: Any, ratio: float, word: str) -> None:
    two, noise = figures["async_fl_figure_2"], np.linspace(-1e-4, 1e-4, 5)

    def row(gap: float) -> Any:
        levels = {"identical": 1 + gap, "time-based": 1.0}
        runs = {n: np.tile((v + noise * (v - 1))[:, None], (1, 40)) for n, v in levels.items()}
        columns = ("f", "spread", "surrogate_f", "surrogate_spread")
        return two.Row(None, [], {n: dict.fromkeys(columns, v) for n, v in runs.items()})

    found = two.findings({"random": row(0.1), "by Dirichlet(0.1)": row(0.1 * ratio)})
    assert found["twice"].word == word
    assert f"{ratio:.3g}" in found["twice"].statistic


def test_async_tables_and_timetables(figures: Any, made: Make, tmp_path: Path) -> None:
    one, two = ({row[0]: row[1:] for row in made(f"async_fl_table_{k}").study.tables[0].rows} for k in (1, 2))
    # one cycle of 30 units: 15, 10 and 6 contributions
    assert one["asynchronous, identical"][1] == "15/31, 10/31, 6/31"
    assert one["asynchronous, time-based"][0] == "31/45, 31/30, 31/18"
    # five windows of 1 until the slowest client is done: its contribution is 4 rounds old, above floor(5/2)
    assert two["FedFix, dt = 1: tau"] == ("0, floor(tau_M/tau_0)", "0 to 2", "4", "no")
    gantt = made("async_fl_gantt")
    # up to time 15: 15 windows of 1; 3 rounds of 5; 7 + 5 + 3 arrivals; 7 windows of 2
    assert list(gantt.study.data["rounds"].values()) == [15, 3, 15, 7, 6]
    assert list(gantt.study.data["delays"].values()) == [1, 0, 5, 2, 2]
    assert figures["_study"].write(gantt, tmp_path, "async_fl_gantt")[0].stat().st_size > 10_000


def mnist(figures: Any) -> Any:
    try:
        return figures["_async_fl"].problem("mnist", 10, "random")
    except BoundcheckError as error:
        pytest.skip(f"MNIST is not on this machine: {error}")


@pytest.mark.slow  # half a minute of losses over 60000 pictures
def test_mnist_is_drawn(figures: Any, made: Make) -> None:
    assert (mnist(figures).clients, mnist(figures).dim) == (10, 7850)
    made("async_fl_figure_2", data="mnist", seeds=1, rounds=20)


# --- FedDANE ----------------------------------------------------------------------------------------------------------

TINY = {"rounds": 4, "seeds": 2, "samples": 12}
UNLIKE = {"kind": "synthetic", "devices": 30, "max_samples": 12, "alpha": 1, "beta": 1}


def test_feddane_loss_and_tuning(figures: Any) -> None:
    f = figures["_feddane"]
    runs = f.Runs(UNLIKE, f.Size(12, 2, 6, 2), figures["_recorded"].Recorded("none", "off"))
    loss = runs.losses("FedDANE", Fraction(1, 10), 5, 2)
    assert loss.shape == (2, 7)
    assert loss[:, 0] == pytest.approx([np.log(10)] * 2)  # at 0 all ten classes are alike
    best, further, tried = runs.tuned(5)
    ends = {mu: runs.losses("FedDANE", mu, 5, 2)[:, -1].mean() for mu in map(Fraction, tried)}
    assert {mu: tried[str(mu)] for mu in ends} == pytest.approx(ends)  # of seven recorded rounds a quarter is one
    assert best == min(f.GRID, key=lambda mu: ends[mu])
    assert further == min(ends, key=lambda mu: ends[mu]) < max(ends)


def test_feddane_methods_are_those_of_the_paper(figures: Any) -> None:
    f = figures["_feddane"]
    assert [d.get("alpha") for d in f.four().values()] == [None, "0", "0.5", "1"]
    clients = clients_of(build_problem(UNLIKE))
    for name, kind in (("FedAvg", "fedprox"), ("FedProx", "fedprox"), ("FedDANE", "feddane")):
        built = build_method(f.method(name, 20, Fraction(name != "FedAvg"), 10))
        assert (built.name, built.correction is not None) == (kind, name == "FedDANE")
        assert built.local.visits(0, (0,), clients)[0][1].prox == (0 if name == "FedAvg" else 1)


def test_feddane_figures(figures: Any, made: Make) -> None:
    f, one, two = figures["_feddane"], made("feddane_figure_1", **TINY), made("feddane_figure_2", **TINY)
    assert list(one.study.data["ends"]) == list(f.four())
    assert all(Fraction(mu["FedDANE"]) in f.GRID for mu in one.study.data["mu"].values())
    assert "Scaled down: at most 12 samples a device" in one.study.caption
    shown = [[name for name in ends if "beyond" not in name] for ends in two.study.data["ends"].values()]
    assert shown == [["K = 1", "K = 5", "K = 10", "K = 30"]] * 3
    three = made("feddane_figure_3")
    assert [three.study.data[k] for k in ("E", "rounds", "seeds", "samples")] == [1, 200, 10, None]
    assert "Recorded in figures/results/feddane_figure_3.json" in three.study.caption
    # with one epoch and all (1, 1) devices FedDANE ends below FedAvg in every run
    ends = three.study.data["ends"]["Synthetic (1, 1)"]
    assert all(own < other for own, other in zip(ends["FedDANE"], ends["FedAvg"], strict=True))


def test_a_recorded_run_comes_out_again(figures: Any) -> None:
    """The first recorded rounds of one row, run anew."""
    f, three, rec = figures["_feddane"], figures["feddane_figure_3"], figures["_recorded"]
    devices, spec = f.four()["Synthetic (1, 1)"], f.method("FedDANE", 1, Fraction(0), None)
    recorded = rec.Recorded(three.NAME, "read").known(devices, spec, three.PAPER.grid, [7])
    assert recorded is not None
    problem = build_problem(devices)
    again = rec.losses(spec, problem, [0, 5, 10], 7, tuple(problem.weights))["f"]
    assert again == pytest.approx(recorded[0, :3], rel=1e-6)


# --- FedShuffle -------------------------------------------------------------------------------------------------------


def test_fedshuffle_figures(made: Make) -> None:
    one, four = made("fedshuffle_figure_1", seeds=50, rounds=40), made("fedshuffle_figure_4", seeds=20, rounds=20)
    left, _, sums, right = ({k: Fraction(v) for k, v in own.items()} for own in one.study.data["floors"])
    # with samples drawn with replacement, K equal steps of size s leave eta^2 noise/(1 - (1-eta)^2) whatever K is
    assert left["FedAvgMin"] == left["FedAvgMean"]
    assert float(left["FedShuffle"]) == pytest.approx(2.3768e-5, rel=1e-4)
    assert sums["FedShuffle, Sum-One"] > sums["FedShuffle"]
    assert right["by weight (IS)"] > right["uniform"]
    equal = one.study.data["equal_step"]
    assert (equal["uniform"], equal["weight"]) == pytest.approx((0.00136, 0.00260), abs=5e-6)
    assert (words(one)["importance"], words(one)["sum_one"], words(one)["noise"]) == (
        *("undecided", "reproduced", "reproduced"),  # importance sampling is ahead early, behind in the limit
    )
    # the bound of one uniform client out of (8, 1, 1) never falls below the gap of the start
    assert one.study.data["bounds"] == {
        "1: FedShuffle": "HOLDS",
        "3: FedShuffle": "HOLDS",
        "4: uniform": "VACUOUS",
        "4: by weight (IS)": one.study.data["bounds"]["4: by weight (IS)"],
    }
    assert one.study.data["largest_z"] < 6  # over hundreds of rounds of a skewed metric
    bounds = [line.label for line in one.study.series if line.label.startswith("bound of")]
    assert bounds == [f"bound of {n}" for n in ("FedShuffle", "FedShuffle", "uniform", "by weight (IS)")]
    assert four.study.data["small_step_gap"] == {"later": "1/192", "literal": "1/54", "best_rest": "1/60"}
    assert four.study.data["weights"] == ["1/6", "2/3", "3/4"]
    floors = {name: Fraction(v) for name, v in four.study.data["floors"].items()}
    assert floors["FedShuffleGen, reweighted"] < floors["FedShuffle, steps missed"]
    assert set(words(four).values()) == {"reproduced"}


def test_fedshuffle_tables(made: Make) -> None:
    one, four = (made(f"fedshuffle_table_{k}").study for k in (1, 4))
    assert one.tables[0].columns[1:8] == ("HD", "CS", "RR", "NL", "VR", "GM", "SS")  # the paper's columns
    has = {name: [key for key, cell in own.items() if cell == "yes"] for name, own in one.data["exact"].items()}
    assert has == {
        "FedAvg": ["HD", "SS"],
        "FedAvgRR": ["HD", "RR", "SS"],
        "FedAvgMin": ["HD", "NL", "SS"],
        "FedAvgMean": ["HD", "NL", "SS"],
        "FedNova": ["HD", "CS", "NL", "SS"],
        "FedNovaRR": ["HD", "CS", "RR", "NL", "SS"],
        "FedShuffle": ["HD", "CS", "RR", "NL", "SS"],
        "FedShuffle, Sum-One": ["HD", "RR", "NL", "SS"],
        "FedShuffleMVR": ["HD", "CS", "RR", "NL", "VR", "GM", "SS"],
        "FedLin": ["HD", "NL", "VR"],
        "Mime": ["HD", "CS", "VR", "SS"],
        "FedRR": ["HD", "RR", "NL"],
        "LocalRR": ["HD", "RR"],
    }
    gaps = {name: Fraction(own["gap of the mean"]) for name, own in one.data["exact"].items()}
    assert gaps["FedLin"] == gaps["Mime"] == gaps["FedAvgMin"] == 0
    assert gaps["FedShuffle"] == Fraction(2521, 134589612)
    rows = {row[0]: row for row in four.tables[0].rows}
    assert (rows["FedAvgMin"][2], rows["FedNova"][4]) == ("steps", "with")


# --- partial averaging ------------------------------------------------------------------------------------------------


def test_partial_averaging_figure_1(figures: Any, made: Make, tmp_path: Path) -> None:
    """Two workers, noise of variance 1 in each of three blocks: half of it for each step since the last average."""
    found = made("partial_averaging_figure_1")
    shown = found.study.data["discrepancy"]
    assert shown["periodic"][:3] == [[0.5] * 3, [1.0] * 3, [0.0] * 3]
    for k, row in enumerate(shown["partial"]):
        assert [block for block, value in enumerate(row) if value == 0] == [k % 3]
    assert figures["_study"].write(found, tmp_path, "partial_averaging_figure_1")[0].stat().st_size > 10_000


def test_partial_averaging_figure_2(made: Make) -> None:
    found = made("partial_averaging_figure_2", iterations=48, workers=4)
    flat, shapes = found.study.data["pure_noise"], found.study.data["shapes"]
    # eta^2 sigma^2 (m-1)/m (tau-1)/2 with eta = 1/40, sigma^2 = 8, m = 4, tau = 8; curvature makes it smaller
    assert flat == pytest.approx(8 / 1600 * 3 / 4 * 7 / 2)
    assert shapes["quadratics"]["partial"]["peak"] < flat
    assert shapes["quadratics"]["partial"]["least"] > 0.9 * shapes["quadratics"]["partial"]["peak"]
    for by_kind in shapes.values():
        assert by_kind["periodic"]["least"] < 1e-9
        assert by_kind["periodic"]["peak"] > 1.2 * by_kind["partial"]["peak"]
        assert by_kind["periodic"]["mean"] == pytest.approx(by_kind["partial"]["mean"], rel=0.2)
    assert words(found) == {"peak": "reproduced", "stable": "reproduced"}
    assert [line.y[0] for line in found.study.series if line.label == "in pure noise"] == [flat, 2 * flat]


def test_the_expected_curve_by_the_scalar_recursion(figures: Any) -> None:
    """Each coordinate j of a deviation: v <- (1 - eta h_j)^2 v + eta^2 (m-1)/m, set to 0 where it is averaged."""
    module, m, tau, eta = figures["partial_averaging_figure_2"], 3, 8, 1 / 40
    for kind in ("partial", "periodic"):
        v, own = np.zeros(8), [0.0]
        for r in range(20):
            v = (1 - eta * np.arange(1, 9) / 4) ** 2 * v + eta**2 * (m - 1) / m
            if kind == "partial":
                v[r % tau] = 0
            elif r % tau == tau - 1:
                v[:] = 0
            own.append(v.sum())
        assert module.expected(kind, 20, m)[0] == pytest.approx(own, rel=1e-9, abs=1e-15)


def test_partial_averaging_figure_3(figures: Any, made: Make) -> None:
    f, found = figures["_partial_averaging"], made("partial_averaging_figure_3", rounds=6)
    facts = found.study.data
    for kind in ("periodic", "partial"):
        # one iteration before the end of the sixth round of eight; the loss is convex
        method = build_method(f.method(kind, batch=f.BATCH))
        gap = run_sampled(method, build_problem(f.DIGITS), 47, f.SEEDS, ("gap",), [47]).samples["gap"]
        assert facts["ends"][kind] == pytest.approx(gap.mean(), rel=1e-9)
        assert facts["least_over_global"][kind] > 1
    assert facts["least_over_global"]["partial"] < facts["least_over_global"]["periodic"]
    assert words(found)["together"] == "reproduced"
    assert "convex" in found.study.words[0]


def test_partial_averaging_table(made: Make) -> None:
    rows = made("partial_averaging_table").study.data["exact"]
    assert len(rows) == 6
    for cells in rows.values():
        for what in ("mean", "peak"):
            assert cells[f"{what}, engine"] == cells[f"{what}, formula"]
    assert [float(Fraction(cells["peak, engine"])) for cells in rows.values()] == [1.5, 3, 4.5, 9, 27.78125, 55.5625]
    assert [cells["Lemma 2 on the mean"] for cells in rows.values()] == ["6", "6", "12", "12", "56", "56"]
