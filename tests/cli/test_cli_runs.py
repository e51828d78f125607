"""constants, run, compare, check, report, diff, derive, falsify, replay."""

from __future__ import annotations

import importlib.util
import json
import re
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from cli_tools import FALSE, FEDAVG, LONG, OUT, Run

from boundcheck.certified.constant import Constant, Known
from boundcheck.falsify import all_readings
from boundcheck.setting.participation import step_factors
from boundcheck.theory.keys import CATALOGUE

Write = Callable[..., Path]

THEOREM_3_3 = """
[[claim]]
name = "diabetes"
statement = "scgd/theorem_3_3"
problem = { kind = "least_squares", data = "diabetes", clients = 20 }
method = { kind = "scgd", E = 4, eta = "0.9*largest" }
at = { K = [0, 1_000, 1_000_000] }
expect = "HOLDS"
"""


def test_a_check_without_numba_says_what_that_costs(boundcheck_cli: Run, spec: Write, monkeypatch: Any) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "numba" else find(name, *more))
    exact = boundcheck_cli("check", str(spec(THEOREM_3_3)), "--no-store")
    assert "in NumPy" not in exact.out
    sampled = THEOREM_3_3.replace("0, 1_000, 1_000_000", "0, 3") + 'engine = "sampled"\nseeds = 2\n'
    assert "1 claim was simulated in NumPy" in boundcheck_cli("check", str(spec(sampled)), "--no-store").out


def test_the_catalogue_of_constants_is_listed(boundcheck_cli: Run) -> None:
    rows = boundcheck_cli("constants", "--list", "--json").json["constants"]
    assert [row["key"] for row in rows] == list(CATALOGUE)
    assert "participation/alpha" in boundcheck_cli("constants", "--list").out
    assert "either a specification file or --list" in boundcheck_cli("constants").err


def test_constants_say_how_they_are_known(boundcheck_cli: Run, spec: Write) -> None:
    path = spec(THEOREM_3_3, OUT)
    data = boundcheck_cli("constants", path, "--json").json["claims"]
    known = {name: c["known"] for name, c in data[0]["constants"].items()}
    assert known["n"] == "exact"
    assert known["mu"] == known["L"] == "certified"
    assert data[0]["constants"]["mu"]["side"] == "lower"
    # the step is 0.9 times the largest one, rounded down to 13 digits
    assert Fraction(data[0]["method"]["eta"]) > 0
    assert data[1]["violations"] == {}
    text = boundcheck_cli("constants", path, "--quick").out
    assert re.search(r"^mu +>= ", text, re.MULTILINE)
    assert "certified" in text


FEDSHUFFLE = """
[[claim]]
statement = "fedshuffle/theorem_5_1_convex/sharp"
problem = { kind = "fedshuffle_36" }
method = { kind = "fedshuffle", eta_l = "largest", participation = { kind = "uniform", size = 2 } }
at = { R = [1, 10, 100] }
expect = "HOLDS"
"""


def test_constants_of_problem_and_method_and_the_steps_they_allow(boundcheck_cli: Run, spec: Write) -> None:
    """Equation (36): L = 1, P = 0, B = 1, M = 3/8 for two of three clients, so that beta = 2 + 3/8."""
    path = spec(FEDSHUFFLE)
    found = boundcheck_cli("constants", path, "--json").json["claims"][0]
    assert found["symbols"] == {"L": "L_ij", "sigma2": "noise2"}
    assert {k: found["constants"][k]["value"] for k in ("M", "G2", "noise2")} == {
        "M": "3/8",
        "G2": "1/3",
        "noise2": "7/36",
    }
    step = found["steps"][0]
    assert (step["symbol"], step["allowed"]["exact"], step["prescribed"]) == ("eta_l", "2/19", None)
    # a step of 2 multiplies x - x* of the client with one sample by -1; the runs contract up to well beyond 2/19
    assert 1 < step["practice"]["works"]["float"] <= step["practice"]["fails"]["float"]
    assert found["constants"]["beta"]["value"] == "19/8"
    assert "beta_c" not in found["constants"]  # P = 0, so that both readings have one beta
    squares = [(c["size"], c["sigma2"]["value"], c["P2"]["value"]) for c in found["clients"]]
    assert squares == [(1, "0", "0"), (2, "1/2", "0"), (3, "2/3", "0")]
    text = boundcheck_cli("constants", path, "--quick").out
    assert "samples of each of the 3 clients" in text
    assert "largest eta_l that the statement allows: 2/19" in text
    assert "in practice" not in text
    assert boundcheck_cli("check", path).code == 0


LOGISTIC = """
[[claim]]
name = "cancer"
statement = "fedshuffle/theorem_5_1_strongly_convex/corrected"
method = { kind = "fedshuffle", eta_l = "largest", participation = { kind = "uniform", size = 1 } }
engine = "sampled"
at = { R = [1, 10] }
problem = { kind = "logistic_regression", data = "breast_cancer", clients = 14, features = "unit", ridge = "1/10" }
"""


def test_constants_of_a_classifier(boundcheck_cli: Run, spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = spec(LOGISTIC)
    found = boundcheck_cli("constants", path, "--json").json["claims"][0]
    values = {k: Fraction(c["value"]) for k, c in found["constants"].items()}
    # P = 0 and B = 1: beta = 2 + M, and the largest step is 1/(4 beta L)
    assert values["beta"] == 2 + values["M"]
    assert Fraction(found["steps"][0]["allowed"]["exact"]) == 1 / (4 * values["beta"] * values["L_ij"])
    sigma2 = [Fraction(c["sigma2"]["value"]) for c in found["clients"]]
    assert len(sigma2) == 14
    assert {c["sigma2"]["known"] for c in found["clients"]} == {"certified"}
    assert abs(sum(sigma2) / 569 / values["noise2"] - 1) < Fraction(1, 10**10)
    assert "mean gap of 20 sampled runs is below its start after 200 rounds" in found["steps"][0]["practice"]["how"]
    text = boundcheck_cli("constants", path, "--quick").out
    assert all(f"({which} sigma_i)" in " ".join(text.split()) for which in ("least", "median", "largest"))
    assert " ".join(text.split()).count("F* lies in") == 1
    assert max(map(len, text.splitlines())) <= 80


def test_beta_is_rounded_up_where_it_is_irrational() -> None:
    def exact(value: Fraction) -> Constant:
        return Constant(value, Known.EXACT, "exact", "given")

    given = {"P2": exact(Fraction(12)), "B2": exact(Fraction(9, 4)), "M": exact(Fraction(1, 3))}
    found = step_factors(given)
    assert set(found) == {"beta", "beta_c"}
    # sqrt(12/3) = 2: 1 + 3 * 3/2 + 1/3 * 9/4
    assert (found["beta_c"].value, found["beta_c"].known) == (Fraction(25, 4), Known.EXACT)
    # beta - 1 - 3/2 - 3/4 = 3/2 sqrt(12), whose square is 27
    rest = found["beta"].value - Fraction(13, 4)
    assert 27 <= rest**2 <= 27 * (1 + Fraction(1, 10**11))
    assert (found["beta"].known, found["beta"].side) == (Known.CERTIFIED, "upper")
    tiny = step_factors({**given, "P2": exact(Fraction(1, 3 * 10**40))})["beta"].value
    assert Fraction(13, 4) < tiny < Fraction(13, 4) + Fraction(1, 10**11)


def test_run_writes_curves_once(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path, out = spec(THEOREM_3_3, FEDAVG), tmp_path / "runs"
    first = boundcheck_cli("run", path, "-o", out, "--json")
    assert first.code == 0
    folders = [Path(r["folders"][0]) for r in first.json["runs"]]
    assert [f.parent for f in folders] == [out, out]
    with np.load(folders[0]) as curve:
        assert list(curve["rounds"]) == [0, 20_000, 20_000_000]
    with zipfile.ZipFile(folders[1]) as file:
        assert json.loads(file.read("about.json"))["spec"]["problem"]["kind"] == "scgd_appendix_c"
    before = {f: f.stat().st_mtime_ns for f in folders}
    again = boundcheck_cli("run", path, "-o", out, "--json")
    assert [r["folders"] for r in again.json["runs"]] == [[str(f)] for f in folders]
    assert {f: f.stat().st_mtime_ns for f in folders} == before


def test_compare_ignores_expect_and_its_exit_code_says_the_worst(boundcheck_cli: Run, spec: Write) -> None:
    assert boundcheck_cli("compare", spec(FEDAVG)).code == 0
    outside = boundcheck_cli("compare", spec(FEDAVG, OUT))
    assert outside.code == 3
    assert "OUT_OF_SCOPE" in outside.out
    worst = boundcheck_cli("compare", spec(FEDAVG, OUT, FALSE), "--json")
    assert worst.code == 1
    assert [c["verdict"]["outcome"] for c in worst.json["claims"]] == ["HOLDS", "OUT_OF_SCOPE", "VIOLATED"]
    assert worst.json["counts"]["outcome"]["HOLDS"] == 1
    assert worst.json["counts"]["outcome"]["UNDECIDED"] == 0
    assert boundcheck_cli("compare", spec(FEDAVG.replace('expect = "HOLDS"', ""))).code == 0


def test_check_is_a_gate(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    good = boundcheck_cli("check", spec(FEDAVG, OUT), "--junit", junit, "--no-store")
    assert good.code == 0
    assert "2 of 2 claims met" in good.out
    assert not (tmp_path / "store").exists()
    bad = boundcheck_cli("check", spec(FEDAVG, OUT, FALSE), "--junit", junit)
    assert bad.code == 1
    assert "MISSED false: expected HOLDS, got VIOLATED" in bad.out
    suite = ElementTree.parse(junit).getroot()
    assert suite.attrib["failures"] == "1"
    cases = suite.findall(".//testcase")
    assert [c.find("failure") is None for c in cases] == [True, True, False]
    failure = cases[2].find("failure")
    assert failure is not None
    assert "witness" in (failure.text or "")
    properties = {p.attrib["name"]: p.attrib["value"] for p in cases[0].iter("property")}
    assert properties["outcome"] == "HOLDS"
    assert properties["grade"] == "EXACT"
    assert properties["tightness"] == "1"
    assert properties["statement"] == "scgd/example_app_c_fedavg/corrected"
    data = boundcheck_cli("check", spec(FEDAVG, FALSE), "--json")
    assert data.code == 1
    assert data.json["expectations"] == {"met": 1, "missed": 1, "bad input": 0, "not run": 0}


def test_check_notices_tightness_and_rate(boundcheck_cli: Run, spec: Write) -> None:
    assert boundcheck_cli("check", spec(FEDAVG + "tightness = { at_least = 0.999999, at_most = 1.000001 }\n")).code == 0
    found = boundcheck_cli("check", spec(FEDAVG + "tightness = { at_least = 1.01 }\n"))
    assert found.code == 1
    assert "tightness 1 is below at_least = 1.01" in found.out


def test_a_claim_that_turns_out_bad_input_does_not_stop_the_others(boundcheck_cli: Run, spec: Write) -> None:
    beyond = LONG.replace("CYCLES", "3_000_000")
    found = boundcheck_cli("check", spec(beyond, FEDAVG), "--json")
    assert found.code == 2
    assert [c["label"] for c in found.json["claims"]] == ["one round"]
    (refused,) = found.json["bad_input"]
    assert refused["claim"] == "long"
    assert "at most" in refused["problem"]
    assert "BAD INPUT long: " in boundcheck_cli("check", spec(beyond, FEDAVG)).out
    assert boundcheck_cli("compare", spec(beyond, FEDAVG)).code == 2


def test_a_step_that_no_condition_allows_is_vacuous(boundcheck_cli: Run, spec: Write) -> None:
    # the main text's constant is negative for these curvatures
    hopeless = """
    [[claim]]
    statement = "scgd/theorem_3_3/as_printed_main"
    problem = { kind = "quadratics", clients = [{ A = [[2, 0], [0, 10]] }, { A = [[2, 0], [0, 10]] }] }
    method = { kind = "scgd", E = 1, eta = "largest" }
    at = { K = [1] }
    expect = "VACUOUS"
    """
    assert boundcheck_cli("check", spec(hopeless)).code == 0
    assert boundcheck_cli("compare", spec(hopeless)).code == 3


def test_report_and_diff(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert boundcheck_cli("report", spec(FEDAVG, OUT), "-o", old).code == 0
    assert (old / "index.html").is_file()
    assert json.loads((old / "report.json").read_text())["counts"]["outcome"]["HOLDS"] == 1
    same = boundcheck_cli("diff", old, old / "report.json")
    assert (same.code, same.out) == (0, "nothing changed.\n")
    broken = FALSE.replace('"false"', '"one round"')
    added = FALSE
    assert boundcheck_cli("report", spec(broken, added), "-o", new).code == 0
    found = boundcheck_cli("diff", old, new, "--json")
    assert found.code == 1
    changes = {(c["claim"], c["what"]): (c["before"], c["after"], c["worse"]) for c in found.json["changes"]}
    assert changes["one round", "outcome"] == ("HOLDS", "VIOLATED", True)
    assert changes["outside", "claim"] == ("there", "gone", True)
    assert changes["false", "claim"] == ("absent", "new", False)
    assert boundcheck_cli("diff", new, old).code == 1  # "false" is gone


def test_diff_sees_a_lost_grade_and_a_tightness(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert boundcheck_cli("report", spec(FEDAVG), "-o", old).code == 0
    assert boundcheck_cli("report", spec(FEDAVG.replace("rational", "ball")), "-o", new).code == 0
    found = boundcheck_cli("diff", old, new)
    assert found.code == 1
    assert "EXACT" in found.out
    assert "SUPPORTED" in found.out
    assert boundcheck_cli("diff", new, old).code == 0  # a stronger grade is a change, not for the worse


def test_derive_finds_the_step_that_does_not_follow(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("derive", "partial_averaging/one_minus_a/as_printed")
    assert found.code == 1
    lines = found.out.splitlines()
    (refuted,) = [k for k, line in enumerate(lines) if line.endswith("conclusion: REFUTED")]
    assert lines[refuted + 1 : refuted + 5] == [
        "   claim    inverse <= 2/3",
        "   because  rounded (scalar inequality)",
        "   from     before rounding, 1/2, inverse, condition A not negative, condition A small, domain beta2",
        "   witness  A = 0, beta2 = 1, inverse = 1",
    ]
    assert lines[-1].startswith("partial_averaging/one_minus_a/as_printed: REFUTED (refuted at step 'conclusion'")


def test_derive_proves_the_corrected_reading_and_shows_a_step(boundcheck_cli: Run) -> None:
    whole = boundcheck_cli("derive", "partial_averaging/one_minus_a/corrected", "--json")
    assert (whole.code, whole.json["status"], whole.json["verdict"]) == (0, "PROVED", "valid")
    assert {s["status"] for s in whole.json["steps"]} == {"PROVED"}
    found = boundcheck_cli("derive", "partial_averaging/one_minus_a/corrected", "--step", "1/2")
    assert found.code == 0
    assert "claim    1/(2*beta2) <= 1/2" in found.out
    assert "because  beta^2 >= 1; 2/3 is printed (scalar inequality)" in found.out
    data = boundcheck_cli("derive", "partial_averaging/one_minus_a/corrected", "--step", "1/2", "--json").json
    assert (data["name"], data["status"], data["rule"]) == ("1/2", "PROVED", "sum")
    assert "domain beta2" in data["uses"]
    assert boundcheck_cli("derive", "partial_averaging/one_minus_a/as_printed", "--step", "conclusion").code == 1
    assert boundcheck_cli("derive", "partial_averaging/one_minus_a/as_printed", "--step", "none").code == 2
    assert boundcheck_cli("derive", "--all", "--latex").code == 2


def test_derive_sets_a_proof_in_latex_and_nothing_less(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("derive", "partial_averaging/one_minus_a/corrected", "--latex")
    assert found.code == 0
    assert found.out.count(r"\item[(") == 9  # four facts and five steps
    assert r"\item[(4)] $\frac{1}{2 \beta^2} \leq \frac{1}{2}$" in found.out
    refused = boundcheck_cli("derive", "partial_averaging/one_minus_a/as_printed", "--latex")
    assert (refused.code, refused.out) == (2, "")
    assert "REFUTED at conclusion" in refused.err


def test_falsify_writes_a_witness_that_replays(boundcheck_cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "witness.json"
    statement = "fedshuffle/theorem_5_1_strongly_convex/as_printed"
    # found in the first thousands of instances; the budget is no measure of time
    found = boundcheck_cli("falsify", statement, "--budget", "600s", "--seed", "2", "-o", path)
    assert found.code == 1
    assert f"`boundcheck replay {path}`" in found.out
    again = boundcheck_cli("replay", path, "--json")
    assert again.code == 1
    assert again.json["stands"] is True
    assert again.json["verdict"]["grade"] == "EXACT"
    data = json.loads(path.read_text())
    data["method"]["eta_l"] = "1/8"
    path.write_text(json.dumps(data))
    gone = boundcheck_cli("replay", path)
    assert (gone.code, "no longer stands" in gone.out) == (0, True)
    none = boundcheck_cli("falsify", "scgd/theorem_3_3/corrected", "--budget", "0.5s", "--json")
    assert (none.code, none.json["witness"], none.json["instances"] > 0) == (0, None, True)
    assert none.json["best"] <= 1


def test_falsify_all_keeps_what_it_has_searched(
    boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reading that nothing breaks, one that falls at once, one out of reach; the second call searches nothing."""
    import boundcheck as bc

    ids = ("async_fl/lemma_1_jensen/corrected", "async_fl/lemma_1_jensen/as_printed", "fedshuffle/lemma_d_1/corrected")
    monkeypatch.setattr(all_readings, "believed", lambda: [bc.statement(id) for id in ids])
    path = tmp_path / "searched.json"
    command = ("falsify", "--all", "--budget", "0.1s", "--seed", "1", "-o", path)
    found = boundcheck_cli(*command)
    assert found.code == 1
    assert "2 readings believed true searched, 0.1 s each, seed 1:" in found.out
    assert "1 broken. 1 others are out of the search's reach." in found.out
    witness = tmp_path / "witness-async_fl-lemma_1_jensen-as_printed-seed1.json"
    assert boundcheck_cli("replay", witness, "--json").json["stands"] is True
    kept = json.loads(path.read_text())
    assert [(entry["statement"], entry["witness"] is None) for entry in kept["searches"]] == list(
        zip(ids, (True, False), strict=False)
    )
    before = path.read_bytes()
    again = boundcheck_cli(*command, "--json")
    assert again.json["instances"] == sum(entry["instances"] for entry in kept["searches"])
    assert (again.json["readings"], again.json["out_of_reach"], list(again.json["broken"])) == (2, 1, [ids[1]])
    assert path.read_bytes() == before
    other = boundcheck_cli("falsify", "--all", "--budget", "0.2s", "--seed", "1", "-o", path)
    assert (other.code, "is of another seed or budget" in other.err) == (2, True)
    path.write_text('{"schema": 1}')
    broken = boundcheck_cli(*command)
    assert (broken.code, "is no file of boundcheck falsify --all" in broken.err) == (2, True)


def test_all_that_is_believed_true_is_searched() -> None:
    ids = {s.best_id for s in all_readings.believed()}
    assert {"scgd/theorem_3_3/corrected", "async_fl/theorem_3/corrected"} <= ids
    assert "scgd/theorem_3_3/as_printed_main" not in ids


def test_a_lost_worker_is_a_failed_claim() -> None:
    from boundcheck.core.executor import Lost
    from boundcheck.evidence.carry_out import Done, results_of
    from boundcheck.evidence.carry_out import _lost as lost  # pyright: ignore[reportPrivateUsage]
    from boundcheck.evidence.spec import claims_from_text

    (claim,) = claims_from_text(FEDAVG)
    done = lost(claim, Lost("the worker process of this item died twice."))
    assert isinstance(done, Done)
    (result,) = results_of([done])
    assert result.verdict.outcome.value == "FAILED"
    assert result.failures == ("expected HOLDS, got FAILED: the worker process of this item died twice.",)
