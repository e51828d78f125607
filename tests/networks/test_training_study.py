"""Tables of trained methods: what they say, what they refuse, what comes out, and that cut-off runs go on."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.core.store import Store
from boundcheck.errors import SpecError
from boundcheck.evidence.studies import Study, carry_out_study, load_studies
from boundcheck.methods.build import build as build_method
from boundcheck.networks.study.check import printed
from boundcheck.networks.study.page import (
    _ours,  # pyright: ignore[reportPrivateUsage]
    _reached,  # pyright: ignore[reportPrivateUsage]
    _wide,  # pyright: ignore[reportPrivateUsage]
    page,
    pairs,
)
from boundcheck.networks.study.runs import CaseRuns, Ran, carry_out, value_of
from boundcheck.networks.study.spec import Comparison, Spec, settings
from boundcheck.problems.problem import clients_of

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "neural"
FILES = sorted(CONFIGS.glob("*.toml")) + sorted((CONFIGS / "full").glob("*.toml"))

SPEC = """schema = 1
[[training]]
name = "A small network"
source = "a test"
neural = { device = "cpu", precision = "float64" }
problem = { kind = "neural", data = "digits", model = MODEL, clients = 4, samples = 60, test_samples = 20 }
rounds = 4
points = 3
seeds = 2
compare = { metric = "f" }
also = [{ metric = "accuracy", best = "highest" }]
expected_order = ["larger step", "smaller step"]
paper = { "larger step" = "0.5 ± 0.1", "smaller step" = "0.75" }
paper_is = "loss"
scaled = ["Everything is smaller."]
methods = [
  { label = "larger step", method = { kind = "fedavg_rr", batch = 5 }, grid = { eta_l = ["1/5", "1/1000"] } },
  { label = "smaller step", method = { kind = "fedavg_rr", eta_l = "1/100", batch = 5 } },
]
""".replace("MODEL", '{ name = "mlp", hidden = [4] }')
PROBLEM = (
    'kind = "softmax_regression", data = "breast_cancer", clients = 4, split = "shards", features = "unit", '
    'weights = "equal", ridge = "1/20"'
)
SHARDS = """schema = 1
[[training]]
name = "Two weights"
source = "a test"
engine = "sampled"
problem = { PROBLEM }
rounds = 900
points = 4
seeds = 2
surrogate = "identical"
compare = { metric = "gap", over = "1/10" }
also = [{ metric = "surrogate_gap", over = "1/10", order = ["identical", "time-based"] }]
expected_order = ["time-based", "identical"]
[[training.methods]]
label = "identical"
method = { kind = "fedavg_async", times = [1, 2, 3, 4], K = 1, weights = "identical", eta_l = "1/5" }
[[training.methods]]
label = "time-based"
method = { kind = "fedavg_async", times = [1, 2, 3, 4], K = 1, weights = "time_based", eta_l = "1/5" }
""".replace("PROBLEM", PROBLEM)


def _write(folder: Path, text: str) -> Path:
    path = folder / "spec.toml"
    path.write_text(text)
    return path


def _spec(path: Path) -> Spec:
    (asked,) = load_studies(path)
    assert isinstance(asked.spec, Spec)
    return asked.spec


def _facts(study: Study) -> str:
    return json.dumps([study.data, [t.rows for t in study.tables], study.words, [c.y for c in study.series]])


def test_settings_are_tuned_on_other_seeds_and_the_order_is_tested(tmp_path: Path) -> None:
    (asked,) = load_studies(_write(tmp_path, SPEC))
    study = carry_out_study(asked)
    results, orders, tried = study.tables
    assert [row[:2] for row in results.rows] == [("larger step", "eta_l = 1/5"), ("smaller step", "-")]
    assert [row[-1] for row in results.rows] == ["0.5 ± 0.1", "0.75"]
    assert [row[-1] for row in tried.rows] == ["chosen", ""]
    assert [row[1] for row in orders.rows] == ["larger step before smaller step"]
    (case,) = study.data["cases"]
    first, second = (np.array(run["samples"]["f"]) for run in case["runs"])
    assert first.shape == (2, 3)
    assert (first[:, -1] < second[:, -1]).all()
    assert (first[:, 0] == second[:, 0]).all()  # the same start for all
    assert "Everything is smaller." in study.words[-1]
    assert any("at an end of the values tried for larger step" in words for words in study.words)
    assert len(study.series) == 4
    assert study.series[0].low[-1] == first[:, -1].min()


def test_a_run_that_was_cut_off_goes_on_and_ends_alike(tmp_path: Path) -> None:
    (asked,) = load_studies(_write(tmp_path, SPEC))
    whole = carry_out_study(asked)
    store = Store(tmp_path / "store")

    def stop(share: float) -> None:
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out_study(asked, stop, store)
    kept = store.keys()
    assert 1 <= len(kept) < 4
    assert _facts(carry_out_study(asked, None, store)) == _facts(whole)
    assert len(store.keys()) == 4  # two settings that were tried out, and a run of each method
    assert set(kept) < set(store.keys())
    assert _facts(carry_out_study(asked, None, store)) == _facts(whole)


def test_identical_weights_end_at_the_surrogate_and_time_based_ones_at_the_federated_minimum(tmp_path: Path) -> None:
    (asked,) = load_studies(_write(tmp_path, SHARDS))
    study = carry_out_study(asked, None, Store(tmp_path / "store"))
    (case,) = study.data["cases"]
    ends = {run["method"]: {k: v[0][-1] for k, v in run["samples"].items()} for run in case["runs"]}
    constants = study.data["surrogate"][0]["methods"]
    above = float(Fraction(constants["identical"]["F - F* at the surrogate's minimiser"]["value"]))
    assert above > 1e-3
    assert ends["identical"]["gap"] == pytest.approx(above, rel=0.3)
    assert ends["identical"]["surrogate_gap"] < above / 5
    assert ends["time-based"]["gap"] < above / 5
    assert ends["time-based"]["surrogate_gap"] > above / 2
    # q_i / sum of q_j of clients with times 1, 2, 3, 4 is 12/25, 6/25, 4/25, 3/25; importances are 1/4
    shares, own = [Fraction(n, 25) for n in (12, 6, 4, 3)], Fraction(1, 4)
    chi2 = sum((own - s) ** 2 / s for s in shares)
    assert Fraction(constants["identical"]["chi2"]["value"]) == chi2
    assert Fraction(constants["time-based"]["chi2"]["value"]) == 0
    assert {p["outcome"] for p in case["orders"]} == {"reproduced"}


def test_losses_by_client_make_up_the_loss(tmp_path: Path) -> None:
    spec = _spec(
        _write(tmp_path, SHARDS.replace("rounds = 900", "rounds = 5").replace('over = "1/10"', 'over = "1/2"'))
    )
    spec = spec.model_copy(update={"metrics": ["f", "spread", "surrogate_f", "surrogate_spread"]})
    (case,) = carry_out(spec)
    problem: Any = case.problem
    run = case.runs[0]
    assert run.samples["f"] - problem.minimum.low == pytest.approx(run.samples["gap"], abs=1e-12)
    assert run.samples["f"][:, 0] == pytest.approx(np.log(2.0))  # two classes, start 0
    assert run.samples["spread"][:, 0] == pytest.approx(0, abs=1e-12)
    assert (run.samples["surrogate_f"][:, -1] != run.samples["f"][:, -1]).all()


def test_a_run_up_to_a_time_has_the_rounds_of_that_time(tmp_path: Path) -> None:
    text = SHARDS.replace("rounds = 900", 'time = "13/2"').replace('over = "1/10"', 'over = "1/2"')
    clocks = "times = [1, 2, 3, 4], K = 1, eta_l = '1/5'"
    for label, kind in (("fix", "kind = 'fedfix', dt = 2"), ("all", "kind = 'fedavg_sync'")):
        text += f"[[training.methods]]\nlabel = '{label}'\nmethod = {{ {kind}, {clocks} }}\n"
    spec = _spec(_write(tmp_path, text))
    (case,) = carry_out(spec)
    # up to 6.5 the four clients finish 6, 3, 2 and 1 times; windows of 2 end at 2, 4, 6; all are done once at 4
    assert [run.rounds for run in case.runs] == [12, 12, 3, 1]
    assert [run.x[-1] for run in case.runs] == [6, 6, 6, 4]


@pytest.mark.parametrize("take", ["mean", "deviation"])
def test_a_comparison_looks_at_the_last_share_of_a_run(take: Any) -> None:
    x = np.array([0.0, 50, 90, 95, 100])
    samples = np.array([[9.0, 9, 1, 2, 3], [9, 9, 4, np.inf, 4]])
    found = value_of(Comparison(metric="f", over=Fraction(1, 10), take=take), x, samples)
    assert found[0] == pytest.approx(2.0 if take == "mean" else np.sqrt(2 / 3))
    assert np.isnan(found[1])
    assert value_of(Comparison(metric="f"), x, samples).tolist() == [3.0, 4.0]


@pytest.mark.parametrize("name", ["eta_l", "eta_l.value"], ids=["constant", "decaying"])
def test_the_step_of_the_busiest_client_is_what_is_asked_for(tmp_path: Path, name: str) -> None:
    own = "" if name == "eta_l" else ", eta_l = { at = [2] }"
    gen = f'{{ kind = "fedshuffle_gen", c = "work", batch = 5{own} }}, of_busiest = "{name}"'
    text = SPEC.replace('{ kind = "fedavg_rr", batch = 5 }', gen, 1).replace("grid = { eta_l", f'grid = {{ "{name}"', 1)
    spec = _spec(_write(tmp_path, text.replace("clients = 4", 'clients = 4, imbalance = 1, split = "random"')))
    (case,) = carry_out(spec.model_copy(update={"rounds": 1, "points": 2}))
    run = case.runs[0]
    clients = clients_of(case.problem)
    (visits,) = zip(*(run.method.local.visits(i, (i,), clients) for i in range(4)), strict=True)
    steps = {visit.steps: run.method.schedule.step(1) * visit.scale for _, visit in visits}
    assert len(steps) > 1
    assert steps[max(steps)] == min(steps.values()) == Fraction(run.trained.tried[name])
    own = page(spec, [case]).data["cases"][0]["runs"][0]["specification"]  # as it was run, tables as tables
    step = run.method.schedule.step(1)
    assert own["eta_l"] == (str(step) if name == "eta_l" else {"at": ["2"], "value": str(step)})


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"larger step", "smaller step"]', '"larger step", "other step"]', "other step"),
        (
            'expected_order = ["larger step", "smaller step"]',
            'expected_order = ["smaller step", "larger step"]',
            "0.75",
        ),
        ('metric = "f"', 'metric = "loss"', "loss"),
        ("rounds = 4", "", "rounds and time"),
        ("rounds = 4", "rounds = 4\ntime = 3", "rounds and time"),
        ("rounds = 4", "time = 3", "update times"),
        ('label = "smaller step"', 'label = "larger step"', "two methods"),
        ('kind = "fedavg_rr", eta_l', 'kind = "fedavg_xx", eta_l', "fedavg_xx"),
        ("clients = 4", "clientz = 4", "clientz"),
        ('precision = "float64"', 'precision = "float16"', "float16"),
        ('engine = "exact"\nname', "", "A small network"),
        ("seeds = 2", 'seeds = 20\ntest = "sign_flip"', "16 seeds"),
        ("seeds = 2", "seeds = 2\nconfidence = 1", "confidence"),
        ('"1/5", "1/1000"]', "]", "the grid of 'larger step' has no settings; 1 to 200 are allowed."),
        (
            '"1/5", "1/1000"]',
            f"{', '.join(map(str, range(1, 202)))}]",
            "has more than 200 settings; 1 to 200 are allow",
        ),
        ('metric = "f"', 'metric = "surrogate_f"', "surrogate"),
        ('metric = "f"', 'metric = "f", take = "deviation"', "over"),
        (
            'paper = { "larger step" = "0.5 ± 0.1", "smaller step" = "0.75" }',
            'cases = [{ label = "one", grid = { eta_k = ["1/10"] } }]',
            "eta_k",
        ),
    ],
)
def test_mistakes_are_told(tmp_path: Path, old: str, new: str, what: str) -> None:
    if old.startswith("engine"):
        old, new = 'name = "A small network"', 'name = "A small network"\nengine = "exact"'
    assert old in SPEC
    with pytest.raises(SpecError) as caught:
        load_studies(_write(tmp_path, SPEC.replace(old, new, 1)))
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('precision = "float64"', 'precision = "float16"', "neural = "),
        ("clients = 4", "clientz = 4", "problem = "),
        ('metric = "f"', 'metric = "loss"', "compare = "),
        ('metric = "accuracy"', 'metric = "acuracy"', "also = "),
        ('"larger step", "smaller step"]', '"larger step", "other step"]', "expected_order = "),
        ("seeds = 2", "seeds = 2\nconfidence = 1", "confidence = "),
        ("seeds = 2", 'seeds = 2\nestimate = [\n  { method = "no" },\n]', '  { method = "no" }'),
        ('kind = "fedavg_rr", eta_l', 'kind = "fedavg_xx", eta_l', '  { label = "smaller step"'),
        ('eta_l = "1/100"', 'eta_x = "1/100"', '  { label = "smaller step"'),
        ('["1/5", "1/1000"]', '["1/5", "fast"]', '  { label = "larger step"'),
        ("rounds = 4", "rounds = 4\nmetrics = [\n  'grad2',\n  'grad3',\n]", "  'grad3'"),
    ],
)
def test_a_mistake_has_the_line_of_its_key(tmp_path: Path, old: str, new: str, line: str) -> None:
    assert old in SPEC
    text = SPEC.replace(old, new, 1)
    with pytest.raises(SpecError) as caught:
        load_studies(_write(tmp_path, text))
    ((number, _),) = caught.value.problems
    assert text.splitlines()[number - 1].startswith(line)


CASES = (
    SPEC.replace('paper = { "larger step" = "0.5 ± 0.1", "smaller step" = "0.75" }\n', "")
    + """
[[training.cases]]
label = "a"
[[training.cases]]
label = "b"
"""
)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ("problem = { clientz = 2 }", "clientz"),
        ("method = { eta_x = 2 }", "eta_x"),
        ('methods = { "smaller step" = { eta_x = 2 } }', "eta_x"),
        ('methods = { "another step" = { eta_l = 2 } }', "another step"),
        ('grid = { eta_l = ["fast"] }', "fast"),
        ('grid = { eta_l = ["1/5"] }\nmethod = { eta_l = "1/9" }', "both a value and a grid"),
        ("rounds = 3\ntime = 4", "exactly one"),
        ('expected_order = ["no"]', "'no'"),
    ],
)
def test_a_mistake_in_a_case_has_its_line(tmp_path: Path, changed: str, what: str) -> None:
    text = CASES + changed
    with pytest.raises(SpecError, match=what) as caught:
        load_studies(_write(tmp_path, text))
    ((number, _),) = caught.value.problems
    assert number > 1
    assert text.splitlines()[number - 1] in changed


def test_the_value_of_a_case_stands_in_the_place_of_the_grid(tmp_path: Path) -> None:
    own = 'methods = { "larger step" = { eta_l = "1/7" } }'
    spec = _spec(_write(tmp_path, CASES + own))
    larger, smaller = spec.methods
    tried = [[t.spec["eta_l"] for t in settings(case, larger)] for case in spec.all_cases]
    assert tried == [["1/5", "1/1000"], ["1/7"]]
    assert [[t.spec["eta_l"] for t in settings(case, smaller)] for case in spec.all_cases] == [["1/100"], ["1/100"]]
    inner = larger.model_copy(update={"method": {"solver": {"eta": 1}}, "grid": {"solver.eta": [2, 3]}})
    case = spec.all_cases[1].model_copy(update={"methods": {}, "method": {"solver": {"eta": 4}}})
    assert [t.spec["solver"]["eta"] for t in settings(case, inner)] == [4]


def test_outcomes_follow_the_samples(tmp_path: Path) -> None:
    spec = _spec(_write(tmp_path, SPEC)).model_copy(update={"seeds": 4})
    first, second = spec.methods
    noise = np.array([0.01, 0.0, -0.01, 0.02])

    def outcome(ahead: float) -> str:
        runs = tuple(
            Ran(next(settings(spec.all_cases[0], m)), None, 4, np.array([0.0, 4]), {"f": np.stack([v, v], axis=1)})  # pyright: ignore[reportArgumentType]
            for m, v in ((first, np.ones(4)), (second, 1 + ahead + noise))
        )
        case = CaseRuns(spec.all_cases[0], None, None, runs, ())  # pyright: ignore[reportArgumentType]
        return pairs(spec, case, 0)[0].outcome

    assert [outcome(0.5), outcome(-0.5), outcome(0.0)] == ["reproduced", "reversed", "undecided"]


def test_methods_that_draw_nothing_are_compared_for_certain(tmp_path: Path) -> None:
    spec = _spec(_write(tmp_path, SPEC))

    def outcome(*, certain: bool) -> str:
        runs = tuple(
            Ran(next(settings(spec.all_cases[0], m)), None, 4, np.array([4.0]), {"f": np.full((2, 1), v)}, certain)  # pyright: ignore[reportArgumentType]
            for m, v in zip(spec.methods, (1.0, 2.0), strict=True)
        )
        return pairs(spec, CaseRuns(spec.all_cases[0], None, None, runs, ()), 0)[0].outcome  # pyright: ignore[reportArgumentType]

    assert [outcome(certain=True), outcome(certain=False)] == ["reproduced", "undecided"]


def test_a_diverged_run_reaches_no_target() -> None:
    values = np.array([[0.5, np.inf, np.inf], [0.5, 0.6, 0.7]])
    ran = Ran(None, None, 2, np.arange(3.0), {"accuracy": values})  # pyright: ignore[reportArgumentType]
    for goal, expected in (("0.5", "0"), ("0.65", "never")):
        assert _reached(Comparison(metric="accuracy", best="highest", target=goal), ran) == expected  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("metric", "values", "shown"),
    [
        ("accuracy", [0.22, 0.62], "42.00 % (seeds: 22.00 % to 62.00 %)"),  # +- 254 % would be Student's interval
        ("accuracy", [0.42], "42.00 %"),
        ("accuracy", [0.41, 0.42, 0.43], "42.00 % \u00b1 2.48 %"),
        ("accuracy", [0.99, 0.98, 1.0], "99.00 % (seeds: 98.00 % to 100.00 %)"),
        ("f", [0.5, 1.0, 3.0], "1.5 (seeds: 0.5 to 3)"),
        ("f", [1.0, 1.0, 4.0, 4.0], "2.5 (seeds: 1 to 4)"),
        ("f", [1.0, 1.0, 2.0, 2.0], "1.5 \u00b1 0.92"),
        ("f", [1.0, np.inf, 2.0], "diverged in 1 of 3 seeds"),
    ],
)
def test_an_interval_beyond_the_range_of_a_metric_is_not_shown(
    tmp_path: Path, metric: str, values: list[float], shown: str
) -> None:
    spec = _spec(_write(tmp_path, SPEC))
    run = Ran(None, None, 4, np.array([4.0]), {metric: np.array(values)[:, None]})  # pyright: ignore[reportArgumentType]
    assert _ours(spec, Comparison(metric=metric), run) == shown


def test_a_loss_that_may_be_negative_keeps_its_interval(tmp_path: Path) -> None:
    spec = _spec(_write(tmp_path, SPEC)).model_copy(update={"engine": "sampled"})
    run = Ran(None, None, 4, np.array([4.0]), {"f": np.array([[0.5], [1.0], [3.0]])})  # pyright: ignore[reportArgumentType]
    assert _ours(spec, Comparison(metric="f"), run) == "1.5 \u00b1 3.3"


@pytest.mark.parametrize(
    ("values", "wide"),
    [
        ([1e-16, 0.2, 0.3], False),  # rounding
        ([0.0, 0.2, 0.3], False),
        ([2.0, 0.2, 1e-3], True),
        ([2.0, 0.2, 0.2], False),
        ([2.0, 0.2, -1e-3], False),
        ([np.inf, 2.0, 1e-3], True),
    ],
)
def test_an_axis_is_logarithmic_where_values_span_much_but_not_down_to_rounding(
    values: list[float], wide: bool
) -> None:
    assert _wide([np.array([values, values])]) is wide


def test_a_table_without_numbers_of_a_paper_does_not_speak_of_them(tmp_path: Path) -> None:
    spec = _spec(_write(tmp_path, SPEC)).model_copy(update={"rounds": 1, "points": 2})
    found = carry_out(spec)
    assert page(spec, found).tables[0].caption == "What came out, beside the paper"
    bare = spec.model_copy(update={"paper": {}})
    assert page(bare, found).tables[0].caption == "What came out"


def test_there_are_configurations_of_both_sizes() -> None:
    small, full = ({f.name for f in FILES if (f.parent.name == "full") == is_full} for is_full in (False, True))
    papers = {"fedshuffle.toml", "feddane.toml", "async_fl.toml", "partial_averaging.toml"}
    assert papers <= full <= small


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_configuration_is_valid_and_tells_the_paper(path: Path) -> None:
    for asked in load_studies(path):
        spec = asked.spec
        if not isinstance(spec, Spec):
            continue
        assert spec.source
        assert spec.scaled or spec.metrics
        for case in spec.all_cases:
            if case.paper:
                assert set(case.paper) == {m.label for m in spec.methods}
                assert all(printed(text) is not None for text in case.paper.values())
            for method in spec.methods:
                for one in settings(case, method):
                    build_method(one.spec)
