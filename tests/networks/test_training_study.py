"""Tables of trained methods: what they say, what they refuse, their results, and that cut-off runs go on."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.core.store import Store
from boundcheck.errors import SpecError, Unsupported
from boundcheck.evidence.studies import Study, carry_out_study, load_studies
from boundcheck.methods.build import build as build_method
from boundcheck.networks.study.check import printed
from boundcheck.networks.study.page import page, pairs
from boundcheck.networks.study.runs import Row, Run, Runs
from boundcheck.networks.study.spec import Comparison, Spec, settings
from boundcheck.problems.problem import clients_of

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "neural"
FILES = sorted(CONFIGS.glob("*.toml")) + sorted((CONFIGS / "full").glob("*.toml"))

NUMBERS = 'paper = { "larger step" = "0.5 ± 0.1", "smaller step" = "0.75" }\n'
SPEC = f"""schema = 1
[[training]]
name = "A small network"
source = "a test"
neural = {{ device = "cpu", precision = "float64" }}
problem = {{ kind = "neural", data = "digits", model = {{ name = "mlp", hidden = [4] }}, clients = 4, samples = 60 }}
rounds = 4
points = 3
seeds = 2
compare = {{ metric = "f" }}
also = [{{ metric = "spread" }}]
expected_order = ["larger step", "smaller step"]
{NUMBERS}scaled = ["Everything is smaller."]
methods = [
  {{ label = "larger step", method = {{ kind = "fedavg_rr", batch = 5 }}, grid = {{ eta_l = ["1/5", "1/1000"] }} }},
  {{ label = "smaller step", method = {{ kind = "fedavg_rr", eta_l = "1/100", batch = 5 }} }},
]
"""
PROBLEM = (
    'kind = "softmax_regression", data = "breast_cancer", clients = 4, split = "shards", features = "unit", '
    'weights = "equal", ridge = "1/20"'
)
SHARDS = f"""schema = 1
[[training]]
name = "Two weights"
source = "a test"
engine = "sampled"
problem = {{ {PROBLEM} }}
rounds = 900
points = 4
seeds = 2
surrogate = "identical"
compare = {{ metric = "gap", over = "1/10" }}
also = [{{ metric = "surrogate_gap", over = "1/10", order = ["identical", "time-based"] }}]
expected_order = ["time-based", "identical"]
[[training.methods]]
label = "identical"
method = {{ kind = "fedavg_async", times = [1, 2, 3, 4], K = 1, weights = "identical", eta_l = "1/5" }}
[[training.methods]]
label = "time-based"
method = {{ kind = "fedavg_async", times = [1, 2, 3, 4], K = 1, weights = "time_based", eta_l = "1/5" }}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "spec.toml"
    path.write_text(text)
    return path


def spec_of(path: Path) -> Spec:
    (asked,) = load_studies(path)
    assert isinstance(asked.spec, Spec)
    return asked.spec


def rows_of(spec: Spec) -> tuple[Runs, Row]:
    runs = Runs(spec)
    return runs, runs.row(next(iter(spec.all_cases.values())))


def run_of(method: str = "", certain: bool = False, **samples: Any) -> Run:
    """A run with these samples, (S, G) each."""
    arrays = {name: np.array(values, dtype=float) for name, values in samples.items()}
    x = [float(n) for n in range(next(iter(arrays.values())).shape[1])]
    lists = {name: values.tolist() for name, values in arrays.items()}
    return Run(method=method, tried={}, rounds=4, certain=certain, x=x, samples=lists)


def facts(study: Study) -> str:
    return json.dumps([study.data, [t.rows for t in study.tables], study.words, [c.y for c in study.series]])


def test_settings_are_tuned_on_other_seeds_and_the_order_is_tested(tmp_path: Path) -> None:
    """And a run that was cut off goes on and ends alike."""
    (asked,) = load_studies(write(tmp_path, SPEC))
    study = carry_out_study(asked)
    results, orders, tried = study.tables
    assert results.caption == "What came out, beside the paper"
    assert [row[:2] for row in results.rows] == [("larger step", "eta_l = 1/5"), ("smaller step", "-")]
    assert [row[-1] for row in results.rows] == ["0.5 ± 0.1", "0.75"]
    assert [row[-1] for row in tried.rows] == ["chosen", "-"]
    assert [row[1] for row in orders.rows] == ["larger step before smaller step"]
    assert orders.columns[-1] == "outcome"
    (case,) = study.data["cases"]
    first, second = (np.array(run["samples"]["f"]) for run in case["runs"])
    assert first.shape == (2, 3)
    assert (first[:, -1] < second[:, -1]).all()
    assert (first[:, 0] == second[:, 0]).all()  # the same start for all
    assert "Everything is smaller." in study.words[-1]
    assert any(
        "at an end of the values tried, and a better one may lie beyond: larger step" in words for words in study.words
    )
    assert len(study.series) == 4
    assert study.series[0].low[-1] == first[:, -1].min()

    store = Store(tmp_path / "store")

    def stop(share: float) -> None:
        if share > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out_study(asked, stop, store)
    kept = store.keys()
    assert 1 <= len(kept) < 4
    assert facts(carry_out_study(asked, None, store)) == facts(study)
    assert len(store.keys()) == 4  # two settings that were tried out, and a run of each method
    assert set(kept) < set(store.keys())
    assert facts(carry_out_study(asked, None, store)) == facts(study)


def test_identical_weights_end_at_the_surrogate_and_time_based_ones_at_the_federated_minimum(tmp_path: Path) -> None:
    (asked,) = load_studies(write(tmp_path, SHARDS))
    study = carry_out_study(asked, None, Store(tmp_path / "store"))
    (case,) = study.data["cases"]
    ends = {run["method"]: {k: v[0][-1] for k, v in run["samples"].items()} for run in case["runs"]}
    constants = study.data["surrogate"][0]["methods"]
    above = float(Fraction(constants["identical"]["excess"]["value"]))
    assert above > 1e-3
    assert ends["identical"]["gap"] == pytest.approx(above, rel=0.3)
    assert ends["identical"]["surrogate_gap"] < above / 5
    assert ends["time-based"]["gap"] < above / 5
    assert ends["time-based"]["surrogate_gap"] > above / 2
    # q_i / sum of q_j of clients with times 1, 2, 3, 4 is 12/25, 6/25, 4/25, 3/25; importances are 1/4
    shares, own = [Fraction(n, 25) for n in (12, 6, 4, 3)], Fraction(1, 4)
    assert [Fraction(constants["identical"][f"u_{i} (w_{i} = 1/4)"]["value"]) for i in range(4)] == shares
    chi2 = sum((own - s) ** 2 / s for s in shares)
    assert Fraction(constants["identical"]["chi2"]["value"]) == chi2
    assert Fraction(constants["time-based"]["chi2"]["value"]) == 0
    assert {p["outcome"] for p in case["orders"]} == {"reproduced"}
    assert study.tables[-1].caption == "The theorem's constants"
    assert ("chi2", "29/96", "0") in study.tables[-1].rows


def test_losses_by_client_make_up_the_loss(tmp_path: Path) -> None:
    text = SHARDS.replace("rounds = 900", "rounds = 5").replace('over = "1/10"', 'over = "1/2"')
    spec = spec_of(write(tmp_path, text)).model_copy(update={"metrics": ["f", "spread", "surrogate_f"]})
    runs, row = rows_of(spec)
    problem: Any = runs.problem(spec.all_cases[""])
    found = {name: np.array(values) for name, values in row.runs[0].samples.items()}
    assert found["f"] - problem.minimum.low == pytest.approx(found["gap"], abs=1e-12)
    assert found["f"][:, 0] == pytest.approx(np.log(2.0))  # two classes, start 0
    assert found["spread"][:, 0] == pytest.approx(0, abs=1e-12)
    assert (found["surrogate_f"][:, -1] != found["f"][:, -1]).all()


def test_a_run_up_to_a_time_has_the_rounds_of_that_time(tmp_path: Path) -> None:
    text = SHARDS.replace("rounds = 900", 'time = "13/2"').replace('over = "1/10"', 'over = "1/2"')
    clocks = "times = [1, 2, 3, 4], K = 1, eta_l = '1/5'"
    for label, kind in (("fix", "kind = 'fedfix', dt = 2"), ("all", "kind = 'fedavg_sync'")):
        text += f"[[training.methods]]\nlabel = '{label}'\nmethod = {{ {kind}, {clocks} }}\n"
    _, row = rows_of(spec_of(write(tmp_path, text)))
    # up to 6.5 the four clients finish 6, 3, 2 and 1 times; windows of 2 end at 2, 4, 6; all are done once at 4
    assert [run.rounds for run in row.runs] == [12, 12, 3, 1]
    assert [run.x[-1] for run in row.runs] == [6, 6, 6, 4]


@pytest.mark.parametrize("take", ["mean", "deviation"])
def test_a_comparison_looks_at_the_last_share_of_a_run(take: Any) -> None:
    run = run_of(f=[[9.0, 9, 1, 2, 3], [9, 9, 4, np.inf, 4]]).model_copy(update={"x": [0.0, 50, 90, 95, 100]})
    found = run.values(Comparison(metric="f", over=Fraction(1, 10), take=take))
    assert found[0] == pytest.approx(2.0 if take == "mean" else np.sqrt(2 / 3))
    assert np.isnan(found[1])
    assert run.values(Comparison(metric="f")).tolist() == [3.0, 4.0]


@pytest.mark.parametrize("name", ["eta_l", "eta_l.value"], ids=["constant", "decaying"])
def test_the_step_of_the_busiest_client_is_what_is_asked_for(tmp_path: Path, name: str) -> None:
    own = "" if name == "eta_l" else ", eta_l = { at = [2] }"
    gen = f'{{ kind = "fedshuffle_gen", c = "work", batch = 5{own} }}, of_busiest = "{name}"'
    text = SPEC.replace('{ kind = "fedavg_rr", batch = 5 }', gen, 1).replace("grid = { eta_l", f'grid = {{ "{name}"', 1)
    spec = spec_of(write(tmp_path, text.replace("clients = 4", 'clients = 4, imbalance = 1, split = "random"')))
    runs, row = rows_of(spec.model_copy(update={"rounds": 1, "points": 2}))
    run, clients = row.runs[0], clients_of(runs.problem(spec.all_cases[""]))
    method = build_method(run.specification)  # as it was run, tables as tables
    (visits,) = zip(*(method.local.visits(i, (i,), clients) for i in range(4)), strict=True)
    steps = {visit.steps: method.schedule.step(1) * visit.scale for _, visit in visits}
    assert len(steps) > 1
    assert steps[max(steps)] == min(steps.values()) == Fraction(run.tried[name])
    step = str(method.schedule.step(1))
    assert run.specification["eta_l"] == (step if name == "eta_l" else {"at": [2], "value": step})


CASES = SPEC.replace(NUMBERS, "") + '\n[[training.cases]]\nlabel = "a"\n[[training.cases]]\nlabel = "b"\n'
LARGER, SMALLER = '  { label = "larger step"', '  { label = "smaller step"'
ORDER = '"larger step", "smaller step"]'
# what is replaced, by what, a part of the message, and how the line that it names begins ("": that of the table)
MISTAKES = [
    (ORDER, '"larger step", "other step"]', "other step", "expected_order = "),
    (ORDER, '"smaller step", "larger step"]', "0.75", "expected_order = "),
    (ORDER, '"larger step", ["larger step"]]', "names a method twice", "expected_order = "),
    ('metric = "f"', 'metric = "los"', "the metric 'los' is unknown", "compare = "),
    ('metric = "spread"', 'metric = "spred"', "did you mean 'spread'", "also = "),
    ('metric = "f"', 'metric = "surrogate_f"', "surrogate", "compare = "),
    ('metric = "f"', 'metric = "f", take = "deviation"', "over", "compare = "),
    ('metric = "f"', 'metric = "f", over = 1', "over = 1 is not allowed; it must be less than 1", "compare = "),
    ("rounds = 4", "", "rounds and time", ""),
    ("rounds = 4", "rounds = 4\ntime = 3", "rounds and time", ""),
    ("rounds = 4", "time = 3", "update times", LARGER),
    ("rounds = 4", "rounds = 4\nmetrics = [\n  'grad2',\n  'grad3',\n]", "grad3", "  'grad3'"),
    ("rounds = 4", 'rounds = 4\nsurrogate = "none"', "the method 'none' is unknown", "surrogate = "),
    ("rounds = 4", 'rounds = 4\nengine = "exact"', "Allowed: 'neural' or 'sampled'", "engine = "),
    ("rounds = 4", 'rounds = 4\nengine = "sampled"', "go with engine = 'neural'", "neural = "),
    ('label = "smaller step"', 'label = "larger step"', "two methods are called 'larger step'", LARGER),
    ('kind = "fedavg_rr", eta_l', 'kind = "fedavg_xx", eta_l', "fedavg_xx", SMALLER),
    ('eta_l = "1/100"', 'eta_x = "1/100"', "eta_x", SMALLER),
    ('"1/5", "1/1000"]', '"1/5", "fast"]', "fast", LARGER),
    ('"1/5", "1/1000"]', "]", "the grid of 'larger step' has no settings; 1 to 200 are allowed.", LARGER),
    ('"1/5", "1/1000"]', f"{', '.join(map(str, range(1, 202)))}]", "has more than 200 settings", LARGER),
    ('"1/5", "1/1000"] }', '"1/5"] }, of_busiest = "eta"', "the parameter of the grid 'eta'", LARGER),
    ("clients = 4", "clientz = 4", "clientz", "problem = "),
    ('precision = "float64"', 'precision = "float16"', "float16", "neural = "),
    ("seeds = 2", "seeds = 2\nconfidence = 1", "confidence = 1 is not allowed", "confidence = "),
    ("seeds = 2", 'seeds = 2\nestimate = [\n  { method = "no" },\n]', "'no' is unknown", '  { method = "no" }'),
    ("seeds = 2", "seedz = 2", "the key 'seedz' is unknown; did you mean 'seeds'", "seedz = "),
    (NUMBERS, 'cases = [{ label = "one", grid = { eta_k = ["1/10"] } }]\n', "did you mean 'eta_l'", "cases = "),
    (NUMBERS, NUMBERS + 'cases = [{ label = "one" }]\n', "under its own key paper", "paper = "),
]
OF_A_CASE = [
    ("problem = { clientz = 2 }", "clientz"),
    ("method = { eta_x = 2 }", "eta_x"),
    ('methods = { "smaller step" = { eta_x = 2 } }', "eta_x"),
    ('methods = { "another step" = { eta_l = 2 } }', "another step"),
    ('grid = { eta_l = ["fast"] }', "fast"),
    ('grid = { eta_l = ["1/5"] }\nmethod = { eta_l = "1/9" }', "both a value and a grid"),
    ("rounds = 0", "rounds of item 2 of cases = 0 is not allowed"),
    ('expected_order = ["no"]', "'no'"),
]


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [(SPEC.replace(old, new, 1), what, line) for old, new, what, line in MISTAKES]
    + [(CASES + changed, what, changed.split("\n")[0]) for changed, what in OF_A_CASE],
    ids=[new[:40] for _, new, *_ in MISTAKES] + [changed[:40] for changed, _ in OF_A_CASE],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, what: str, line: str) -> None:
    assert text not in (SPEC, CASES)
    with pytest.raises(SpecError) as caught:
        load_studies(write(tmp_path, text))
    ((number, message),) = caught.value.problems
    assert what in message
    assert text.splitlines()[number - 1].startswith(line or "[[training]]")


def test_the_value_of_a_case_replaces_the_grid(tmp_path: Path) -> None:
    spec = spec_of(write(tmp_path, CASES + 'methods = { "larger step" = { eta_l = "1/7" } }'))
    larger, smaller = spec.methods
    tried = [[t.spec["eta_l"] for t in settings(case, larger)] for case in spec.cases]
    assert tried == [["1/5", "1/1000"], ["1/7"]]
    assert [[t.spec["eta_l"] for t in settings(case, smaller)] for case in spec.cases] == [["1/100"], ["1/100"]]
    inner = larger.model_copy(update={"method": {"solver": {"eta": 1}}, "grid": {"solver.eta": [2, 3]}})
    case = spec.cases[1].model_copy(update={"methods": {}, "method": {"solver": {"eta": 4}}})
    assert [t.spec["solver"]["eta"] for t in settings(case, inner)] == [4]


def test_outcomes_follow_the_samples(tmp_path: Path) -> None:
    spec = spec_of(write(tmp_path, SPEC))

    def outcome(second: Any, certain: bool = False) -> str:
        both = (("larger step", np.ones(len(second))), ("smaller step", second))
        runs = [run_of(label, certain, f=np.transpose([own])) for label, own in both]
        return pairs(spec, Row(case="", processor_hours=0.0, tried=[], runs=runs), 0)[0].outcome

    noise = np.array([0.01, 0.0, -0.01, 0.02])
    assert [outcome(1 + by + noise) for by in (0.5, -0.5, 0.0)] == ["reproduced", "reversed", "undecided"]
    # methods that draw nothing are compared for certain
    assert [outcome(np.full(2, 2.0), certain) for certain in (True, False)] == ["reproduced", "undecided"]


def page_of(folder: Path, samples: Any, engine: str = "neural", **comparison: Any) -> Study:
    """The page of one run with samples (S, G) of the metric that is compared."""
    own = {"engine": engine, "compare": Comparison.model_validate(comparison), "also": [], "expected_order": []}
    spec = spec_of(write(folder, SPEC)).model_copy(update=own)
    run = run_of("larger step", **{comparison["metric"]: samples})
    return page(spec, [Row(case="", processor_hours=0.0, tried=[], runs=[run])])


def cells_of(study: Study) -> dict[str, str]:
    (row,) = study.tables[0].rows
    return dict(zip(study.tables[0].columns, row, strict=True))


def test_a_diverged_run_reaches_no_target(tmp_path: Path) -> None:
    samples = [[0.5, np.inf, np.inf], [0.5, 0.6, 0.7]]
    for goal, percent, expected in (("1/2", "50.00 %", "0"), ("13/20", "65.00 %", "never")):
        shown = cells_of(page_of(tmp_path, samples, metric="accuracy", best="highest", target=goal))
        assert shown[f"reaches {percent} at"] == expected


@pytest.mark.parametrize(
    ("metric", "values", "shown"),
    [
        ("accuracy", [0.22, 0.62], "42.00 % (seeds: 22.00 % to 62.00 %)"),  # +- 254 % would be Student's interval
        ("accuracy", [0.42], "42.00 %"),
        ("accuracy", [0.41, 0.42, 0.43], "42.00 % \u00b1 2.48 %"),
        ("accuracy", [0.99, 0.98, 1.0], "99.00 % (seeds: 98.00 % to 100.00 %)"),
        ("f", [0.5, 1.0, 3.0], "1.5 (seeds: 0.5 to 3)"),
        ("f", [1.0, 1.0, 2.0, 2.0], "1.5 \u00b1 0.92"),
        ("f", [1.0, np.inf, 2.0], "diverged in 1 of 3 seeds"),
        ("f, sampled", [0.5, 1.0, 3.0], "1.5 \u00b1 3.3"),  # may be negative
        ("f_above_least_local", [0.5, 1.0, 3.0], "1.5 \u00b1 3.3"),
    ],
)
def test_an_interval_beyond_the_range_of_a_metric_is_not_shown(
    tmp_path: Path, metric: str, values: list[float], shown: str
) -> None:
    metric, _, engine = metric.partition(", ")
    assert shown in cells_of(page_of(tmp_path, [[v] for v in values], engine or "neural", metric=metric)).values()


def test_an_axis_is_logarithmic_where_values_span_much_but_not_down_to_rounding(tmp_path: Path) -> None:
    for values, wide in (
        ([1e-16, 0.2, 0.3], False),  # rounding
        ([2.0, 0.2, 1e-3], True),
        ([2.0, 0.2, 0.2], False),
        ([2.0, 0.2, -1e-3], False),
        ([np.inf, 2.0, 1e-3], True),
    ):
        (panel,) = page_of(tmp_path, [values, values], metric="f").panels
        assert panel.log is wide


def test_losses_of_the_clients_own_models(tmp_path: Path) -> None:
    """The loss of the averaged model may lie above that of the clients' own; a method without them is named."""
    text = SPEC.replace(ORDER, "]").replace(NUMBERS, "").replace('metric = "f"', 'metric = "f_above_least_local"')
    text = text.replace("seeds = 2", "seeds = 3")
    with pytest.raises(Unsupported, match="'fedavg_rr' keeps no models at its clients"):
        carry_out_study(load_studies(write(tmp_path, text))[0])
    own = 'methods = [{ label = "own", method = { kind = "periodic_averaging", tau = 2, batch = 5, eta = "1/5" } }]\n'
    study = carry_out_study(load_studies(write(tmp_path, text[: text.index("methods = [")] + own))[0])
    ends = np.array(study.data["cases"][0]["runs"][0]["samples"]["f_above_least_local"])[:, -1]
    assert ends.min() < 0 < ends.max()
    assert study.tables[0].caption == "What came out"


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_configuration_is_valid_and_tells_the_paper(path: Path) -> None:
    assert path.parent.name != "full" or path.name in {f.name for f in CONFIGS.glob("*.toml")}
    for spec in (asked.spec for asked in load_studies(path) if isinstance(asked.spec, Spec)):
        assert spec.source
        assert spec.scaled or spec.metrics
        for case in spec.all_cases.values():
            if case.paper:
                assert set(case.paper) == {m.label for m in spec.methods}
                assert all(printed(text) is not None for text in case.paper.values())


def test_the_method_with_the_higher_accuracy_is_the_better_one(tmp_path: Path) -> None:
    assert Comparison.model_validate({"metric": "accuracy"}).best == "highest"
    assert Comparison.model_validate({"metric": "accuracy", "take": "deviation"}).best == "lowest"
    path = tmp_path / "spec.toml"
    path.write_text(SPEC.replace('compare = { metric = "f" }', 'compare = { metric = "accuracy", best = "lowest" }'))
    with pytest.raises(SpecError, match=r"spec.toml:10: .*a higher mean accuracy is better; 'highest' is allowed"):
        load_studies(path, [])
