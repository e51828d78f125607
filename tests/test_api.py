"""The public names of `boundcheck`."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.evidence.claim import run_claim
from boundcheck.report import audit
from boundcheck.setting.setting import describe_constants

STEP = {"mu": 1, "L": 10, "n": 20, "E": 4}


def test_every_public_name_is_there() -> None:
    for name in bc.__all__:
        assert getattr(bc, name) is not None
    assert set(bc.__all__) <= set(dir(bc))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="best_case"):
        _ = bc.best_case  # pyright: ignore[reportAttributeAccessIssue]


def test_scope_evaluate_and_largest_as_documented() -> None:
    s = bc.statement("scgd/theorem_3_3/corrected")
    # s = n*E*eta = 80/50000 = 0.0016; with x = mu/L = 1/10, L*C is 0.00728897..., so C = 0.000728897...
    assert s.scope(**STEP, eta="1/50000").in_scope is False
    assert s.scope(**STEP, eta="1/200000").in_scope is True
    top = s.largest("eta", **STEP)
    assert isinstance(top, Fraction)
    assert float(top) == pytest.approx(0.000728897 / 80, rel=1e-6)
    found = s.evaluate(**STEP, eta="1/200000", sigma2=0, dist2_0=3, K=[0, 1])
    # contraction 1 - mu*s/3 with s = 80/200000
    assert list(found.value) == pytest.approx([3.0, 3 * (1 - 0.0004 / 3)], rel=1e-15)


def test_a_claim_takes_objects_as_it_takes_specifications() -> None:
    tables = ({"kind": "scgd_appendix_c"}, {"kind": "scgd", "E": 1, "eta": "1/10000"})
    built = bc.problem(tables[0]), bc.method(tables[1])
    assert bc.method(tables[1]).spec == tables[1]
    at = {"K": [0, 1, 5]}
    (expected,), (found,) = (bc.check("scgd/theorem_3_3", *given, at=at) for given in (tables, built))
    assert found.verdict.to_dict() == expected.verdict.to_dict()
    slower = replace(built[1], name="slower")  # not what was specified
    with pytest.raises(bc.BadInput, match="the method must be a specification"):
        bc.check("scgd/theorem_3_3", built[0], slower, at=at)


def test_a_bare_id_takes_the_best_reading() -> None:
    assert bc.statement("scgd/theorem_3_3").id == "scgd/theorem_3_3/corrected"
    assert "scgd/theorem_3_3/as_printed_main" in [s.id for s in bc.statements("scgd")]


def test_run_and_compare_take_objects_and_specifications() -> None:
    spec = {"kind": "huber", "L": 1, "R": 1, "k": 3}
    step = {"kind": "gradient_descent", "eta": 1}
    one = bc.run(step, spec, rounds=3)
    other = bc.run(bc.method(step), bc.problem(spec), rounds=3)
    # x_k = R - k/(2*3 + 1), f - f* = L R^2/(4k + 2) at k = 3
    assert one.values["gap"][3] == other.values["gap"][3] == pytest.approx(1 / 14, rel=1e-12)
    assert bc.problem(kind="huber", k=3).constants()["dist2_0"].value == 1
    lower = [one.values["gap"][0], *one.values["gap"][1:] / 2]
    outside = bc.Curve.from_samples(one.rounds, lower, "gap", deterministic=True)
    made = [(spec, step), (bc.problem(spec), bc.method(step))]
    verdicts = [bc.compare("classics/gradient_descent_convex", outside, problem=p, method=m) for p, m in made]
    assert verdicts[0].outcome is bc.Outcome.HOLDS
    assert verdicts[0] == verdicts[1]


def test_compare_takes_an_id_and_a_claim_runs() -> None:
    problem = {"kind": "scgd_appendix_c"}
    curve = bc.run({"kind": "fedavg", "E": 2, "eta": "1/10"}, problem, rounds=3, arithmetic="rational")
    verdict = bc.compare("scgd/example_app_c_fedavg/corrected", curve, {"x_0": 1})
    assert verdict.outcome is bc.Outcome.HOLDS
    assert verdict.grade is bc.Grade.EXACT
    claim = bc.Claim(
        "scgd/example_app_c_fedavg/corrected",
        problem,
        {"kind": "fedavg", "E": 2, "eta": "1/10"},
        at={"K": [1]},
        arithmetic="rational",
    )
    assert run_claim(claim).verdict.outcome is bc.Outcome.HOLDS  # 76/75 after one round


def test_mistakes_are_sentences() -> None:
    with pytest.raises(bc.BadInput, match="did you mean 'scgd/theorem_3_3"):
        bc.statement("scgd/theorem_3_3/correctd")
    with pytest.raises(bc.BadInput, match="mu = nan is not finite"):
        bc.statement("scgd/theorem_3_3").scope(mu=float("nan"), L=1, n=1, E=1, eta=1)
    with pytest.raises(bc.BadInput, match="'gradient_descent': parameter 'et' is unknown"):
        bc.run({"kind": "gradient_descent", "et": 1}, {"kind": "huber"}, rounds=2)


def test_derivation_and_falsify_say_what_they_do_not_reach() -> None:
    with pytest.raises(bc.BadInput, match="has no derivation"):
        bc.derivation("scgd/equation_2/as_printed_appendix")
    with pytest.raises(bc.BoundcheckError, match="is a formula without another side"):
        bc.falsify("async_fl/equation_108/as_printed", budget=0.1)


def test_objects_show_themselves_in_one_line_and_as_json() -> None:
    problem = bc.problem(kind="least_squares", data="diabetes", clients=20)
    method = bc.method(kind="scgd", E=4, eta="1/50000")
    curve = bc.run(method, problem, rounds=40)
    verdict = bc.compare("scgd/theorem_3_3", curve)
    for shown in (problem, method, curve, verdict):
        assert len(repr(shown)) < 400
        assert "\n" not in repr(shown)
        card = shown._repr_html_()
        assert card
        assert "scgd/theorem_3_3/corrected on" not in card
        assert json.loads(json.dumps(shown.to_dict()))["schema"] == 1
    assert repr(problem).startswith("<LeastSquares 'least squares on diabetes")
    assert repr(problem).endswith("20 clients, d = 10>")
    assert "eta = 1/50000" in repr(method)
    rebuilt = bc.problem({k: v for k, v in problem.to_dict().items() if k != "schema"})
    assert rebuilt.constants() == problem.constants()
    assert curve.to_dict()["rounds"] == list(range(41))


def test_a_rounded_number_in_a_formula_is_refused() -> None:
    stated = bc.statement("scgd/theorem_3_3")
    with pytest.raises(bc.BadInput, match=r"the bound holds the rounded number .*sympy\.Rational\(100, 101\)"):
        replace(stated, bound=stated.bound / 1.01)


def test_constants_and_prescribed_steps_are_public() -> None:
    method = {"kind": "fedshuffle", "eta_l": "1/10", "participation": {"kind": "uniform", "size": 2}}
    found = describe_constants(bc.method(method), bc.problem(kind="fedshuffle_36"))
    # of the problem, of both together, of the method
    assert (found["L"].value, found["M"].value, found["eta_l"].value) == (1, Fraction(3, 8), Fraction(1, 10))
    s = bc.statement("feddane/corollary_4/as_printed")
    assert s.prescribed("mu", L=1, B2="9/4") == Fraction(45, 4)  # 5 B^2 L
    tuned = bc.statement("fedshuffle/theorem_5_1_strongly_convex_tuned/sharp")
    values = {"L": 2, "mu": 1, "G2": 1, "B2": 1, "P2": 0, "sigma2": 0, "M": 0, "E": 1, "eta_g": 1, "dist2_0": 1}
    step = tuned.prescribed("eta_l", **values, R=1000)
    assert tuned.scope(**values, eta_l=step, R=1000).in_scope is True
    assert tuned.scope(**values, eta_l=step * Fraction(101, 100), R=1000).in_scope is False
    with pytest.raises(bc.BadInput, match="prescribes no eta_g"):
        tuned.prescribed("eta_g", **values, R=1000)
    with pytest.raises(bc.BadInput, match="needs a value for R"):
        tuned.prescribed("eta_l", **values)
    with pytest.raises(bc.BadInput, match="symbol 'step' is unknown"):
        tuned.prescribed("step", **values, R=1000)
    with pytest.raises(bc.BadInput, match="mu = -1 is outside its domain"):
        tuned.prescribed("eta_l", **{**values, "mu": -1}, R=1000)


METHOD, PROBLEM = {"kind": "gradient_descent", "eta": 1}, {"kind": "huber", "k": 3}
ID = "classics/gradient_descent_convex/as_printed"
TABLE = {"statement": ID, "problem": PROBLEM, "method": METHOD, "at": {"k": [3]}}
WRONG = (5, 1.5, None, b"x", object(), [1], ("a",), {1: 2}, {"a": 1}, "nonsense", float("nan"))
RIGHT: dict[str, dict[str, Any]] = {
    "load": {"path": "nowhere.py"},
    "statement": {"id": ID},
    "statements": {"paper": "scgd"},
    "method": {"spec": METHOD},
    "problem": {"spec": PROBLEM},
    "run": {"method": METHOD, "problem": PROBLEM, "rounds": 2, "engine": "exact", "metrics": ["gap"], "neural": None}
    | {"arithmetic": "ball", "assumptions": (), "on_progress": print},
    "task": {"method": METHOD, "problem": PROBLEM, "rounds": 2},
    "compare": {"statement": ID, "curve": 1, "constants": None, "level": 0.9, "problem": None, "method": None},
    "check": {"what": TABLE, "problem": None, "method": None, "store": None, "on_progress": print},
    "derivation": {"statement": "scgd/theorem_3_3/corrected"},
    "falsify": {"statement": ID, "budget": 0.1, "seed": 0, "max_instances": 1, "cluster": None},
    "judge": {"method": METHOD, "run": print, "problem": PROBLEM},
    "worst_case": {"statement": ID, "clients": 1, "samples": 1, "rounds": 1, "method": None, "k": 1}
    | {"L": 1, "eta": 1, "dist2_0": 1},
    "audit": {"statement": ID, "limits": {"units": 1}},
    "identify": {"run": print, "problem": PROBLEM},
    "mutants": {"method": 1, "problem": 1},
    "Claim": {"statement": ID, "problem": PROBLEM, "method": METHOD, "at": {}, "engine": "exact", "level": 0.9},
}


@pytest.mark.parametrize("name", RIGHT)
def test_an_argument_of_a_wrong_type_is_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each argument in turn is of each wrong type: the function answers, or refuses by a sentence of its own."""
    monkeypatch.chdir(tmp_path)  # where a text that is a place for a result store makes one
    monkeypatch.setattr("boundcheck.report.audit.PARTS", {"units": audit.PARTS["units"]})  # the others search
    refused: list[str] = []
    for argument in RIGHT[name]:
        for wrong in WRONG:
            try:
                getattr(bc, name)(**{**RIGHT[name], argument: wrong})
            except bc.BoundcheckError as error:
                refused.append(str(error))
    assert all(text.endswith((".", "?")) for text in refused)
    assert len(refused) >= 7 * len(RIGHT[name]) - 20  # None and texts are often allowed


def test_every_public_function_is_in_the_table() -> None:
    functions = {name for name in bc.__all__ if callable(getattr(bc, name)) and not isinstance(getattr(bc, name), type)}
    assert functions == set(RIGHT) - {"Claim"} | {"constants"}  # which takes no argument


def old(name: str) -> Any:
    """An old public name, which warns and says what to use instead."""
    with pytest.warns(DeprecationWarning, match=rf"boundcheck\.{name} is deprecated and goes in 0\.3; use .*\."):
        return getattr(bc, name)


def test_old_names_do_what_they_did() -> None:
    method = {"kind": "fedshuffle", "eta_l": "1/10", "participation": {"kind": "uniform", "size": 2}}
    assert old("describe_constants")(method, {"kind": "fedshuffle_36"})["M"].value == Fraction(3, 8)
    with pytest.raises(bc.BadInput, match="nowhere"):
        old("load_paper")("nowhere.py")
    for name in ("compare_implementation", "check_implementation", "implementation_checks"):
        with pytest.raises(bc.BadInput, match=r"run = 5 is not allowed|run is int"):
            old(name)(method=METHOD, run=5)
    assert not any(name in bc.__all__ for name in bc._OLD)  # pyright: ignore[reportPrivateUsage]


def test_judge_compares_or_runs_named_checks() -> None:
    def descent(task: Any, seed: int) -> Any:
        x, points = task.start, []
        for step in task.step_sizes:
            x = x - step * sum(c.weight * c.gradient(x) for c in task.clients)
            points.append(x)
        return points

    assert bc.judge(METHOD, descent, PROBLEM, rounds=5).agrees
    checks = bc.judge(METHOD, descent, checks=["seeds_repeat"])
    assert [r.status for r in checks.results] == ["passed"]
    with pytest.raises(bc.BadInput, match="lacks belongs to named checks"):
        bc.judge(METHOD, descent, lacks=["samples"])  # pyright: ignore[reportCallIssue]
    with pytest.raises(bc.BadInput, match="each of the checks has a problem of its own"):
        bc.judge(METHOD, descent, PROBLEM, checks="all")  # pyright: ignore[reportCallIssue]


def test_claims_from_tables_and_files(tmp_path: Path) -> None:
    """Gradient descent with the step 1/L attains its bound on the Huber function: L R^2/(4 k + 2) = 1/14 at k = 3."""
    path = tmp_path / "claims.toml"
    one = f'[[claim]]\nstatement = "{ID}"\nproblem = {{ kind = "huber", k = 3 }}\n'
    one += 'method = { kind = "gradient_descent", eta = 1 }\nat = { k = [3] }\n'
    path.write_text(one)
    one_claim, claims = old("run_claim"), old("run_claims")
    results = [one_claim(given) for given in (TABLE, path, str(path))]
    results += [*claims(path), *claims(TABLE), *claims([TABLE])]
    for found in results:
        assert found.verdict.outcome is bc.Outcome.HOLDS
        assert found.metric_high[0] == pytest.approx(1 / 14, rel=1e-12)
    path.write_text(one + one)
    with pytest.raises(bc.BadInput, match="holds 2 claims; one is allowed"):
        one_claim(path)
    with pytest.raises(bc.BadInput, match="the key 'method' is missing") as missing:
        claims({"statement": "scgd/theorem_3_33", "problem": {"kind": "hubr"}})
    for part in ("theorem_3_3", "did you mean 'huber'?"):  # all mistakes at once
        assert part in str(missing.value)
    with pytest.raises(bc.BadInput, match=r"nowhere\.toml does not exist"):
        claims("nowhere.toml")
