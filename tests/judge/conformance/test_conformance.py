"""The conformance suite: correct plug-ins pass it, each planted fault is caught by a named check."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from plugin_tools import install

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.judge.conformance import methods as of_methods
from boundcheck.judge.conformance.methods import check_kind, check_part
from boundcheck.judge.conformance.problems import check_problem
from boundcheck.judge.conformance.result import Check, Subject
from boundcheck.judge.conformance.suite import conformance
from boundcheck.judge.conformance.toys import random_toy, trajectories
from boundcheck.judge.findings import Status
from boundcheck.methods.build import build as build_method
from boundcheck.methods.build import kind_of, kinds
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    Constant,
    Cyclic,
    Decaying,
    EpochRange,
    Epochs,
    ExactSolve,
    Full,
    GradientSteps,
    Importance,
    OneByWeight,
    Pattern,
    PerClient,
    Proximal,
    Same,
    StochasticSteps,
    Subsets,
    SumOne,
    Unbiased,
    Uniform,
    WithReplacement,
)
from boundcheck.problems.build import build as build_problem

F = Fraction
EXAMPLE = Path(__file__).parents[3] / "examples" / "own_problem" / "own_problem.py"
PARTS = Path(__file__).parent / "sample_parts_source.py"
OWN = {
    "problems": {"two_distances": "own_problem"},
    "methods": {"alternating_fedavg": "own_problem:ALTERNATING"},
    "parts": {"alternating": "own_problem:Alternating"},
}
SAMPLE = {
    "methods": {"by_size": "sample_parts:BY_SIZE"},
    "parts": {
        name: f"sample_parts:{kind}"
        for name, kind in (
            ("first_or_rest", "FirstOrRest"),
            ("one_or_two", "OneOrTwo"),
            ("by_size", "BySize"),
            ("halving", "Halving"),
        )
    },
}


def failures(checks: list[Check]) -> list[Check]:
    return [c for c in checks if c.status is Status.FAILED]


def test_the_example_passes(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, "own_problem", EXAMPLE.read_text(), OWN)
    checks = conformance("own-problem")
    assert failures(checks) == []
    names = {(c.subject, c.name): c.status for c in checks}
    for subject, name in (
        ("problem 'two_distances' (example 1)", "gradient of F"),
        ("problem 'two_distances' (example 2)", "constant sigma2"),
        ("method 'alternating_fedavg'", "exact engine (built)"),
        ("part 'alternating'", "sampled engine: mean (random)"),
    ):
        assert names[subject, name] is Status.PASSED
    assert names["problem 'two_distances' (example 1)", "forms"] is Status.NOT_ASKED


def test_correct_parts_pass_and_run_by_name(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, "sample_parts", PARTS.read_text(), SAMPLE)
    checks = conformance("sample_parts")
    assert failures(checks) == []
    assert sum(c.status is Status.PASSED for c in checks) > 40
    problem = {"kind": "random_quadratics", "clients": 3, "d": 2}
    composed = {
        "kind": "composed",
        "participation": {"kind": "first_or_rest", "p": "1/4"},
        "local": "one_or_two",
        "aggregation": "by_size",
        "eta": {"part": "halving", "eta": "1/50"},
    }
    method = build_method(composed)
    assert method.participation.p == F(1, 4)
    curve = bc.run(composed, problem, rounds=4, metrics=["dist2"])
    assert curve.expectation
    assert curve.values["dist2"][-1] < curve.values["dist2"][0]
    with pytest.raises(BadInput, match="the part 'halving' is for the schedule of a method, not for its aggregation"):
        build_method({**composed, "aggregation": "halving"})
    with pytest.raises(UnknownName, match="parameter 'q' is unknown"):
        build_method({**composed, "participation": {"kind": "first_or_rest", "q": 1}})


# name -> (what stands in the example, what is put there, the check that must fail)
PROBLEM_FAULTS = {
    "gradient": ("u / np.sqrt(1 + u @ u)", "u / np.sqrt(2 + u @ u)", "gradient of F"),
    "no gradient": ("return u / np.sqrt(1 + u @ u)", "return u[::-1] * [1, -1][: len(u)]", "gradients of functions"),
    "L too small": ("Constant(Fraction(1), Known.C", "Constant(Fraction(1, 2), Known.C", "constant L"),
    "mu too large": ('"L_f": lipschitz,', '"L_f": lipschitz, "mu": exact(1, "guessed"),', "constant mu"),
    "minimiser": ("return np.zeros(self.dim)", "return np.array([float(v) for v in self.centre])", "distance"),
    "weights": ("(Fraction(1, 2), Fraction(1, 2))", "(Fraction(1, 2), Fraction(1, 3))", "weights"),
    "gap": ("max(0.0, self._value(at) -", "(self._value(at) - 2 *", "metrics are not negative"),
    "grad2": ("return mean @ mean", "return 2 * mean @ mean", "squared gradient"),
    "start": ('for v in self.start), "|x_0|^2"', 'for v in self.start) / 2, "half"', "constant dist2_0"),
    "noise": ("c2 / (1 + c2)", "c2 / (2 + c2)", "constant sigma2"),
    "specification": ('"kind": "two_distances", **own}', '**own, "kind": "two_distances", "start": own["centre"]}',
                      "specification"),
    "hypothesis": ('"plain_mean"):\n            return None', '"plain_mean"):\n            return True', "hypotheses"),
    "number of clients": ('exact(2, "counted")', 'exact(3, "counted")', "constant n"),
}  # fmt: skip


@pytest.mark.parametrize("fault", PROBLEM_FAULTS)
def test_every_fault_of_a_problem_is_caught_by_a_named_check(fault, monkeypatch, tmp_path):
    old, new, name = PROBLEM_FAULTS[fault]
    text = EXAMPLE.read_text()
    assert text.count(old) == 1
    install(monkeypatch, tmp_path, "own_problem", text.replace(old, new), {"problems": OWN["problems"]})
    caught = failures(conformance("own_problem"))
    details = {c.name: c.detail for c in caught}
    assert details[name]
    assert all(details.values())
    if fault == "L too small":  # the witness is a pair of points
        assert "L = 0.5, but the gradients of client" in details[name]
        assert "x = [" in details[name]


SIZE, NONE, NEVER = "Fraction(setting.clients.sizes[i], total)", "return None", "return False"
# name -> (part, what stands there, what is put there, the check that must fail)
PART_FAULTS = {
    "probabilities": ("first_or_rest", "1 - self.p)", "self.p)", "probabilities sum to 1"),
    "clients": ("first_or_rest", "((0,), rest)", "((0,), (*rest, clients.count))", "the law of cohorts"),
    "both": ("first_or_rest", f"{NONE}\n\n    def drawing", "return (0,)\n\n    def drawing", "either fixed or drawn"),
    "weights": ("by_size", SIZE, SIZE.replace("total", "total + 1"), "weights"),
    "floats": ("by_size", SIZE, "setting.clients.sizes[i] / total", "coefficients of a cohort"),
    "by_client": ("by_size", f"[int], Fraction] | None:\n        {NONE}",
                  "[int], Fraction] | None:\n        return lambda i: Fraction(1, 2)", "by_client"),
    "chances": ("one_or_two", "half = Fraction(1, 2)", "half = Fraction(1, 3)", "probabilities sum to 1"),
    "not random": ("one_or_two", "random(self) -> bool:\n        return True",
                   f"random(self) -> bool:\n        {NEVER}", "is_random"),
    "sampling": ("one_or_two", 'Visit("full", 2)', 'Visit("antithetic", 2)', "visits of clients"),
    "constant": ("halving", f"constant(self) -> bool:\n        {NEVER}", "constant(self) -> bool:\n        return True",
                 "is_constant"),
    "zero": ("halving", "self.eta / 2 ** (cycle - 1)", "self.eta - Fraction(cycle, 100)", "exact positive steps"),
    "form": ("by_size", "aggregation=BySize()))", "aggregation=BySize(), relation=lambda m: False))", "recognised"),
}  # fmt: skip


@pytest.mark.parametrize("fault", PART_FAULTS)
def test_every_fault_of_a_part_is_caught_by_a_named_check(fault, monkeypatch, tmp_path):
    part, old, new, name = PART_FAULTS[fault]
    text = PARTS.read_text()
    assert text.count(old) == 1
    group = "methods" if fault == "form" else "parts"
    install(monkeypatch, tmp_path, "sample_parts", text.replace(old, new), {group: {part: SAMPLE[group][part]}})
    assert name in {c.name for c in failures(conformance("sample-parts"))}


def test_a_wrong_engine_is_caught(monkeypatch):
    """The engines get a method whose step is 1 % too long: both of their checks fail, and say by how much."""

    def longer(method: Method, *rest, **more):
        return Method("other", method.participation, method.local, Constant(F(101, 2000)), method.aggregation), *rest

    for name in ("run_exact", "run_sampled"):
        true = getattr(of_methods, name)
        monkeypatch.setattr(of_methods, name, lambda *a, true=true, **k: true(*longer(*a), **k))
    caught = {c.name for c in failures(list(check_part(Subject("the part"), "local", GradientSteps(2))))}
    assert {"exact engine (plain)", "sampled engine: outcomes (plain)", "sampled engine: mean (plain)"} <= caught
    assert "exact engine (random)" in caught


def test_the_paths_by_hand():
    """One client a round with probability 1/2 each, one gradient step: two outcomes, computed by hand."""
    toy = random_toy(5, clients=2)
    method = Method("one", Subsets(((0,), (1,)), (F(1, 2), F(1, 2))), GradientSteps(1), Constant(F(1, 10)), Average())
    _, outcomes = trajectories(method, toy, 1)
    wanted = {}
    for own in toy.components:
        gradient = [
            sum(sum(c.A[k][m] * toy.start[m] for m in range(2)) - c.b[k] for c in own) / len(own) for k in range(2)
        ]
        wanted[tuple(x - g / 10 for x, g in zip(toy.start, gradient, strict=True))] = F(1, 2)
    assert outcomes == wanted


def test_the_command_and_its_exit_codes(monkeypatch, tmp_path, capsys):
    install(monkeypatch, tmp_path, "own_problem", EXAMPLE.read_text(), {"problems": OWN["problems"]})
    assert main(["conformance", "own-problem"]) == 0
    out = capsys.readouterr().out
    assert " passed, 0 failed, " in out
    assert "NOT ASKED problem 'two_distances' (example 1): forms" in out
    assert main(["conformance", "nothing-here"]) == 2
    assert "the package of plug-ins 'nothing-here' is unknown" in capsys.readouterr().err
    old, new, name = PROBLEM_FAULTS["noise"]
    wrong = EXAMPLE.read_text().replace(old, new)
    install(monkeypatch, tmp_path / "wrong", "own_problem", wrong, {"problems": OWN["problems"]})
    assert main(["conformance", "own-problem", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["failed"] >= 1
    assert sum(told["counts"].values()) == len(told["checks"])
    assert any(c["check"] == name and c["status"] == "failed" and c["detail"] for c in told["checks"])


# --- our own problems and parts ---------------------------------------------------------------------------------------

PROBLEMS = (
    {"kind": "huber", "L": 3, "R": 2, "k": 10},
    {"kind": "random_quadratics", "clients": 3, "d": 3},
    {"kind": "least_squares", "data": "diabetes", "clients": 5, "loss": "sum", "ridge": "1/10"},
    {"kind": "least_squares", "data": {"X": [[1, 2], [3, "1/3"], [0, 1], [2, 5]], "y": [1, 2, 0, 1]}, "clients": 2},
    {"kind": "logistic_regression", "data": {"X": [[1, 2], [3, 4], [0, 1], [5, 5]], "y": [1, 0, 0, 1]}, "clients": 2},
    {"kind": "softmax_regression", "data": {"X": [[1, 2], [3, 4], [0, 1], [5, 5]], "y": [1, 0, 2, 1]}, "clients": 2},
    {
        "kind": "piecewise_quadratics",
        "clients": [{"knots": [-1, 1], "slopes": [1, -1], "beyond": [1, 2]}, {"knots": [0, 3], "slopes": [-1, 1]}],
    },
    {"kind": "coupled_blocks"},
    {"kind": "feddane_1d"},
    {"kind": "fedshuffle_36"},
    {"kind": "pure_noise"},
    {"kind": "scgd_appendix_b"},
    {"kind": "scgd_appendix_c"},
    {"kind": "scgd_section_4"},
    {"kind": "population", "clients": 6},
)


@pytest.mark.parametrize("spec", PROBLEMS, ids=lambda s: s["kind"])
def test_the_shipped_problems_pass(spec):
    checks = list(check_problem(Subject("shipped"), spec))
    assert failures(checks) == []
    assert sum(c.status is Status.PASSED for c in checks) >= 15


SHIPPED = {
    "participation": (
        Full(),
        Cyclic(),
        OneByWeight(),
        Subsets(((0, 1), (2,)), (F(1, 3), F(2, 3))),
        Pattern(((0,), (1, 2)), ((0, 1, 2),)),
    ),
    "local": (
        GradientSteps(2),
        Epochs(1, batch=2, divide="size"),
        Proximal(F(1, 2), GradientSteps(2)),
        ExactSolve(F(1)),
    ),
    "aggregation": (Average(), Same(), PerClient((F(1, 2), F(1, 4), F(1, 4))), Unbiased(), SumOne("nova")),
    "schedule": (Constant(F(1, 10)), Decaying(F(1, 10), (2,), F(1, 2), 1)),
}
LONG = {
    "participation": (Uniform(2), Importance(F(2)), WithReplacement(2)),
    "local": (StochasticSteps(2), Epochs((1, 2, 1)), Epochs(EpochRange(1, 2)), Epochs(2, missed=(1, 1, 1))),
}


@pytest.mark.parametrize(("role", "part"), [(r, p) for r, own in SHIPPED.items() for p in own], ids=str)
def test_the_shipped_parts_pass(role, part):
    checks = list(check_part(Subject("shipped"), role, part))
    assert failures(checks) == []
    asked = [c for c in checks if c.name.startswith(("exact engine", "sampled engine"))]
    assert len(asked) == 6
    assert all(c.status is Status.PASSED for c in asked)


@pytest.mark.slow  # thousands of outcomes each, in fractions
@pytest.mark.parametrize(("role", "part"), [(r, p) for r, own in LONG.items() for p in own], ids=str)
def test_the_shipped_parts_with_many_outcomes_pass(role, part):
    assert failures(list(check_part(Subject("shipped"), role, part))) == []


KINDS = {
    "fednova": {"E": 1, "eta": "1/20"},
    "scgd": {"E": 2, "eta": "1/20"},
    "fedshuffle_sum_one": {"E": 1, "eta_l": "1/20", "participation": {"kind": "uniform", "size": 2}},
    "gradient_descent": {"eta": "1/20"},
}


@pytest.mark.parametrize("name", KINDS)
def test_shipped_kinds_pass(name):
    found = list(check_kind(Subject("shipped"), name, kind_of(name), KINDS[name]))
    assert failures(found) == []


# --- what is refused --------------------------------------------------------------------------------------------------


RAISES = "raise RuntimeError('no luck')\n"


@pytest.mark.parametrize(
    ("build", "name", "value", "source", "expected"),
    [
        (build_problem, "huber", "sample_bad", "build = 3\n", "sample_bad provides 'huber' .* a name of boundcheck's"),
        (build_problem, "mine", "sample_bad", "build = 3\n", "'mine' .* has no function build"),
        (build_problem, "mine", "sample_gone", "", "'mine' .* cannot be loaded: ModuleNotFoundError"),
        (build_method, "fedavg", "sample_bad:KIND", "KIND = 1\n", "provides 'fedavg' .* a name of boundcheck's own"),
        (build_method, "mine", "sample_bad:KIND", "KIND = 1\n", "'mine' .* is of type int; it must be a Kind"),
        (build_method, "mine", "sample_bad:KIND", RAISES, "RuntimeError: no luck, line 1 of .*sample_bad.py"),
    ],
)
def test_bad_plugins_are_refused(build, name, value, source, expected, monkeypatch, tmp_path):
    group = "problems" if build is build_problem else "methods"
    install(monkeypatch, tmp_path, "sample_bad", source, {group: {name: value}})
    with pytest.raises(BadInput, match=expected):
        build({"kind": "mine"})


def test_a_broken_method_plugin_does_not_stop_other_methods(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, "sample_bad", "raise RuntimeError\n", {"methods": {"mine": "sample_bad:KIND"}})
    assert "mine" in kinds()
    bc.run({"kind": "gradient_descent", "eta": 1}, {"kind": "huber", "L": 1, "R": 1, "k": 2}, rounds=2)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class P: pass\n", "the part P has no role"),
        ("from boundcheck.methods.parts import Epochs\nclass P(Epochs): pass\n", "inherits from Epochs"),
        (PARTS.read_text().replace("@dataclass(frozen=True)\nclass First", "class First") + "P = FirstOrRest\n",
         "must be a frozen dataclass"),
    ],
)  # fmt: skip
def test_bad_part_plugins_are_refused(source, expected, monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, "sample_bad", source, {"parts": {"mine": "sample_bad:P"}})
    with pytest.raises(BadInput, match=expected):
        build_method({"kind": "composed", "participation": "mine", "eta": 1})
    (check,) = conformance("sample_bad")
    assert (check.name, check.status) == ("loads", Status.FAILED)


def test_engines_refuse_parts_that_they_would_take_for_others():
    class Longer(GradientSteps):
        def visits(self, client, cohort, clients):
            return GradientSteps(self.E + 1).visits(client, cohort, clients)

    with pytest.raises(Unsupported, match="Longer, which inherits from GradientSteps; engines would take it"):
        Method("own", Full(), Longer(1), Constant(F(1)))
    with pytest.raises(Unsupported, match="the exchange FirstExchange of a plug-in, which no engine carries out"):
        Method("own", Full(), GradientSteps(1), Constant(F(1)), exchange=type("FirstExchange", (), {})())  # pyright: ignore


def test_answers_that_a_protocol_does_not_allow_stop_a_run(monkeypatch, tmp_path):
    text = PARTS.read_text().replace('Visit("full", 2)', 'Visit("antithetic", 2)')
    install(monkeypatch, tmp_path, "sample_parts", text, SAMPLE)
    composed = {"kind": "composed", "local": "one_or_two", "eta": "1/50"}
    for engine in ("exact", "sampled"):
        with pytest.raises(BadInput, match="fails the check 'visits of clients': sampling = 'antithetic' is none of"):
            bc.run(composed, {"kind": "random_quadratics", "clients": 3, "d": 2}, rounds=2, engine=engine, seeds=2)


def test_the_code_of_a_plugin_is_part_of_a_runs_digest(monkeypatch, tmp_path):
    from boundcheck.evidence.stored import code_of

    install(monkeypatch, tmp_path, "sample_parts", PARTS.read_text(), SAMPLE)
    spec = {"kind": "composed", "local": "one_or_two", "eta": "1/50"}
    method = build_method(spec)
    problem = build_problem({"kind": "random_quadratics", "clients": 3, "d": 2})
    assert "sample_parts" in code_of(problem, spec, "exact", method.modules)
