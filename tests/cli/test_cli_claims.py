"""constants, tune, power, run, compare, check: numbers by hand and exit codes. Their text is in the documentation."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import sys
import time
import zipfile
from collections.abc import Callable, Generator
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from cli_tools import ABSENT, DESCENT, FALSE, FEDAVG, GAPS, LONG, MEASURED, OUT, PROBLEM, Run

from boundcheck.certified.constant import Constant, Known
from boundcheck.cli import constants, output
from boundcheck.core.executor import Lost
from boundcheck.setting.participation import step_factors
from boundcheck.theory.keys import CATALOGUE

Write = Callable[..., Path]
F = Fraction

THEOREM_3_3 = """
[[claim]]
name = "diabetes"
statement = "scgd/theorem_3_3"
problem = { kind = "least_squares", data = "diabetes", clients = 20 }
method = { kind = "scgd", E = 4, eta = "0.9*largest" }
at = { K = [0, 1_000, 1_000_000] }
expect = "HOLDS"
"""

# --- constants -------------------------------------------------------------------------------------------------------


def test_the_catalogue_of_constants_is_listed(boundcheck_cli: Run) -> None:
    rows = boundcheck_cli("constants", "--list", "--json").json["constants"]
    assert [row["key"] for row in rows] == list(CATALOGUE)
    assert "participation/alpha" in boundcheck_cli("constants", "--list").out


def test_constants_say_how_they_are_known(boundcheck_cli: Run, spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    titles: list[str] = []

    @contextlib.contextmanager
    def noted(title: str, total: float = 1.0) -> Generator[Callable[[float], None]]:
        titles.append(title)
        yield lambda done: None

    monkeypatch.setattr(constants, "progress", noted)
    path = spec(THEOREM_3_3, OUT)
    data = boundcheck_cli("constants", path, "--json").json["claims"]
    known = {name: c["known"] for name, c in data[0]["constants"].items()}
    assert [known[name] for name in ("n", "mu", "L")] == ["exact", "certified", "certified"]
    assert data[0]["constants"]["mu"]["side"] == "lower"
    assert Fraction(data[0]["method"]["eta"]) > 0  # 0.9 times the largest one, rounded down to 13 digits
    assert data[1]["violations"] == {}
    assert titles[0].endswith("claims.toml: reading")
    assert titles[1] == "claim 1 of 2, diabetes: the data"
    assert titles[-1].startswith("claim 2 of 2, outside: ")
    text = boundcheck_cli("constants", path, "--quick").out
    assert re.search(r"^mu +>= ", text, re.MULTILINE)


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
    values = {name: c["value"] for name, c in found["constants"].items()}
    assert [values[k] for k in ("M", "G2", "noise2", "beta")] == ["3/8", "1/3", "7/36", "19/8"]
    assert "beta_c" not in values  # P = 0, so that both readings have one beta
    step = found["steps"][0]
    assert (step["symbol"], step["allowed"]["exact"], step["prescribed"]) == ("eta_l", "2/19", None)
    # a step of 2 multiplies x - x* of the client with one sample by -1; the runs contract up to well beyond 2/19
    assert 1 < step["practice"]["works"]["float"] <= step["practice"]["fails"]["float"]
    squares = [(c["size"], c["sigma2"]["value"], c["P2"]["value"]) for c in found["clients"]]
    assert squares == [(1, "0", "0"), (2, "1/2", "0"), (3, "2/3", "0")]
    text = boundcheck_cli("constants", path, "--quick").out
    assert "samples of each of the 3 clients" in text
    assert "largest eta_l that the statement allows: 2/19" in text
    assert "in practice" not in text


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
    numbers = {"P2": F(12), "B2": F(9, 4), "M": F(1, 3)}
    given = {name: Constant(value, Known.EXACT, "exact", "given") for name, value in numbers.items()}
    found = step_factors(given)
    assert set(found) == {"beta", "beta_c"}
    # sqrt(12/3) = 2: 1 + 3 * 3/2 + 1/3 * 9/4
    assert (found["beta_c"].value, found["beta_c"].known) == (F(25, 4), Known.EXACT)
    # beta - 1 - 3/2 - 3/4 = 3/2 sqrt(12), whose square is 27
    assert 27 <= (found["beta"].value - F(13, 4)) ** 2 <= 27 * (1 + F(1, 10**11))
    assert (found["beta"].known, found["beta"].side) == (Known.CERTIFIED, "upper")
    tiny = step_factors({**given, "P2": Constant(F(1, 3 * 10**40), Known.EXACT, "exact", "given")})["beta"].value
    assert F(13, 4) < tiny < F(13, 4) + F(1, 10**11)


# --- tune and power --------------------------------------------------------------------------------------------------


def test_what_the_bound_recommends_beside_the_best_that_is_found(boundcheck_cli: Run, spec: Write) -> None:
    """(1/3)^k <= 1/10 from k = 3 on, (1/3)^(2k) <= 1/10 from k = 2 on, and near eta = 1/2 one step is enough."""
    path = spec(DESCENT, OUT, FEDAVG, FALSE)  # the last two have no number of rounds
    found = boundcheck_cli("tune", path, "--target", "1/10")
    assert (found.code, found.err) == (0, "")
    rows = {line.split()[0]: line for line in found.out.splitlines()}
    assert list(rows) == ["claim", "descent", "outside"]
    assert rows["descent"].split() == [
        *("descent", "eta", "=", "0.333333", "3", "2"),
        *rows["descent"].split()[6:9],
        "1",
        "3",
    ]
    assert "nothing: condition 'step size' fails" in rows["outside"]
    data = boundcheck_cli("tune", path, "--target", "0.1", "--json").json
    own, outside = data["claims"]
    assert (data["target"], own["why"], own["target"]) == ("1/10", "", "8/5")  # a tenth of 4^2
    assert own["recommended"] == {"method": {"kind": "gradient_descent", "eta": "1/3"}, "rounds": 3}
    assert (own["needed"], own["best"]["rounds"], own["ratio"]) == (2, 1, 3.0)
    assert (1 - 2 * F(own["best"]["method"]["eta"])) ** 2 <= F(1, 10)
    assert (outside["recommended"], outside["ratio"]) == (None, None)
    (default,) = boundcheck_cli("tune", spec(DESCENT), "--json").json["claims"]
    assert default["recommended"]["rounds"] == 5  # 1/100
    for claim, count in ((OUT, 1), (FEDAVG, 0)):
        nothing = boundcheck_cli("tune", spec(claim), "--json")
        assert (nothing.code, len(nothing.json["claims"])) == (3, count)


LOCAL = """
[[claim]]
name = "local"
statement = "classics/local_gd_convex/sharp"
problem = { kind = "quadratics", start = [4], clients = [{ A = [[1]], b = [1] }, { A = [[3]], b = [-1] }] }
method = { kind = "fedavg", E = 2, eta = "largest" }
at = { R = [1, 2] }
expect = "HOLDS"
"""


def test_local_work_is_chosen_where_it_is_asked(boundcheck_cli: Run, spec: Write) -> None:
    path = spec(LOCAL)
    fixed, chosen, one = (
        boundcheck_cli("tune", path, "--target", "1/2", *more, "--json").json["claims"][0]["recommended"]
        for more in ((), ("--local-work", "1, 2"), ("--local-work", "1"))
    )
    assert (fixed["method"]["E"], one["method"]["E"]) == ("2", "1")
    assert chosen["rounds"] == min(fixed["rounds"], one["rounds"])


def test_power_leaves_out_curves_from_elsewhere(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    own = LOCAL.replace("local_gd_convex/sharp", "local_gd_convex").replace("R = [1, 2]", "R = [1, 20]")
    (tmp_path / "runs.csv").write_text("round,value\n0,1\n2,0.5\n")
    path = spec(own, MEASURED)
    found = boundcheck_cli("power", path)
    assert found.code == 0
    assert "local: Power: of " in found.out
    assert "not judged." in found.out
    data = boundcheck_cli("power", path, "--json").json
    (claim,) = data["claims"]
    assert set(claim["caught"]) | set(claim["missed"]) | set(claim["not_run"]) == {m["name"] for m in claim["mutants"]}
    assert len(data["refused"]) == 1


# --- run, compare, check ---------------------------------------------------------------------------------------------


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
    assert boundcheck_cli("run", path, "-o", out, "--json").out == first.out
    assert {f: f.stat().st_mtime_ns for f in folders} == before
    folders[1].unlink()  # a run needs the curves, not the results alone
    assert boundcheck_cli("run", path, "-o", out, "--json").out == first.out
    assert folders[1].is_file()


VACUOUS = """
[[claim]]
name = "hopeless"
statement = "scgd/theorem_3_3/as_printed_main"
problem = { kind = "quadratics", clients = [{ A = [[2, 0], [0, 10]] }, { A = [[2, 0], [0, 10]] }] }
method = { kind = "scgd", E = 1, eta = "largest" }
at = { K = [1] }
expect = "VACUOUS"
"""  # the main text's constant is negative for these curvatures
BEYOND = LONG.replace("CYCLES", "3_000_000")


@pytest.mark.parametrize(
    ("claims", "compared", "checked", "said"),
    [
        ([FEDAVG], 0, 0, "1 of 1 claims met"),
        ([FEDAVG, OUT], 3, 0, "2 of 2 claims met"),
        ([FEDAVG, OUT, FALSE], 1, 1, "MISSED false: expected HOLDS, got VIOLATED"),
        ([VACUOUS], 3, 0, "1 of 1 claims met"),
        ([BEYOND, FEDAVG], 2, 2, "BAD INPUT long: "),  # the others are carried out
        ([FEDAVG, ABSENT], 2, 3, "NOT RUN away: "),
        ([f"{FEDAVG}tightness = {{ at_least = 0.999999, at_most = 1.000001 }}\n"], 0, 0, "1 of 1 claims met"),
        ([f"{FEDAVG}tightness = {{ at_least = 1.01 }}\n"], 0, 1, "tightness 1 is below at_least = 1.01"),
    ],
)
def test_exit_codes(
    boundcheck_cli: Run, spec: Write, claims: list[str], compared: int, checked: int, said: str
) -> None:
    """`compare` ignores what a claim expects, and its exit code says the worst; `check` is a gate."""
    path = spec(*claims)
    found = boundcheck_cli("check", path)
    assert (found.code, said in found.out) == (checked, True), found.out
    assert boundcheck_cli("compare", path).code == compared


def test_what_check_counts_and_writes(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path, junit = spec(FEDAVG, OUT, FALSE, BEYOND, ABSENT), tmp_path / "junit.xml"
    data = boundcheck_cli("check", path, "--junit", junit, "--no-store", "--json").json
    assert not (tmp_path / "store").exists()
    assert [c["verdict"]["outcome"] for c in data["claims"]] == ["HOLDS", "OUT_OF_SCOPE", "VIOLATED"]
    assert (data["counts"]["outcome"]["HOLDS"], data["counts"]["outcome"]["UNDECIDED"]) == (1, 0)
    assert data["expectations"] == {"met": 2, "missed": 1, "bad input": 1, "not run": 1}
    assert ([r["claim"] for r in data["bad_input"]], [n["claim"] for n in data["not_run"]]) == (["long"], ["away"])
    assert "at most" in data["bad_input"][0]["problem"]
    assert "boundcheck data fetch mnist" in data["not_run"][0]["problem"]
    suite = ElementTree.parse(junit).getroot()
    assert suite.attrib == {"tests": "5", "failures": "1", "errors": "1", "skipped": "1"}
    cases = suite.findall(".//testcase")
    assert [[c.find(kind) is not None for c in cases].index(True) for kind in ("failure", "error", "skipped")] == [
        2,
        3,
        4,
    ]
    assert "witness" in (cases[2].findtext("failure") or "")
    properties = {p.attrib["name"]: p.attrib["value"] for p in cases[0].iter("property")}
    own = {"outcome": "HOLDS", "grade": "EXACT", "tightness": "1", "statement": "scgd/example_app_c_fedavg/corrected"}
    assert own.items() <= properties.items()


def test_a_check_without_numba_says_what_that_costs(
    boundcheck_cli: Run, spec: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    find: Any = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "numba" else find(name, *more))
    sampled = THEOREM_3_3.replace("0, 1_000, 1_000_000", "0, 3") + 'engine = "sampled"\nseeds = 2\n'
    found = boundcheck_cli("check", spec(THEOREM_3_3, sampled), "--no-store").out
    assert "1 claim was simulated in NumPy" in found


def test_a_lost_worker_is_a_failed_claim(boundcheck_cli: Run, spec: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    class Losing:
        def map(self, function: Any, items: Any, on_done: Any = None, on_share: Any = None) -> list[Any]:
            return [Lost("the worker process of this item died twice.") for _ in items]

    monkeypatch.setattr("boundcheck.evidence.carry_out.chosen_executor", lambda *_, **__: Losing())
    found = boundcheck_cli("check", spec(FEDAVG, OUT), "--workers", "2")
    assert found.code == 1
    assert "expected HOLDS, got FAILED: the worker process of this item died twice." in found.out


# --- a curve measured elsewhere --------------------------------------------------------------------------------------


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(PROBLEM)
    (tmp_path / "runs.csv").write_text("round,value\n" + "".join(f"{k},{v!r}\n" for k, v in enumerate(GAPS)))
    (tmp_path / "claim.toml").write_text(MEASURED)
    return tmp_path


def test_options_and_specification_give_one_verdict(
    boundcheck_cli: Run, measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (
        "compare",
        "async_fl/corollary_1",
        "--curve",
        "runs.csv",
        "--problem",
        "spec.toml",
        "--set",
        "eta_l=1/288",
    )
    by_options, by_file = boundcheck_cli(*command, "--json"), boundcheck_cli("compare", "claim.toml", "--json")
    assert (by_options.code, by_file.code) == (0, 0)
    first, second = (found.json["claims"][0] for found in (by_options, by_file))
    for part in ("verdict", "constants", "scope", "curve", "run", "statement"):
        assert first[part] == second[part], part
    verdict = first["verdict"]
    assert (verdict["outcome"], verdict["grade"]) == ("HOLDS", "SUPPORTED")
    assert verdict["reason"].endswith(
        "Taken for granted: that the curve was made by the method given (uniform_sampling) on the problem given; that "
        "the values are the metric gap."
    )
    assert len(first["run"]["info"]["sha256"]) == 64
    taken = "runs.csv: taking rounds 'round', values 'value' as the metric gap\n"
    assert boundcheck_cli(*command).out.startswith(taken)
    (measured / "elsewhere").mkdir()
    monkeypatch.chdir(measured / "elsewhere")  # the path in a file is relative to the file
    assert boundcheck_cli("check", "../claim.toml").code == 0


def test_the_other_commands_read_such_a_claim(boundcheck_cli: Run, measured: Path) -> None:
    for command in (("run", "claim.toml", "-o", "runs"), ("constants", "claim.toml", "--quick")):
        assert boundcheck_cli(*command).code == 0
    assert boundcheck_cli("report", "claim.toml", "-o", "pages").code == 0
    catalogue = ("index", "catalogue", "paper.", "statement.")
    (page,) = [p for p in (measured / "pages").glob("*.html") if not p.name.startswith(catalogue)]
    assert "outside (nothing was run)" in page.read_text()
    assert "curve = &#34;runs.csv&#34;" in page.read_text()
    (snippet,) = (measured / "pages").glob("*.toml")
    (measured / "pages" / "runs.csv").write_text((measured / "runs.csv").read_text())
    assert boundcheck_cli("compare", snippet).code == 0


def test_constants_alone(boundcheck_cli: Run, measured: Path) -> None:
    Path("gd.csv").write_text("round,gap\n" + "".join(f"{k},{8 * (9 / 16) ** k!r}\n" for k in range(9)))
    options = ("--set", "eta=1/4", "--set", "L=1", "--set", "dist2_0=16")
    command = ("compare", "classics/gradient_descent_convex", "--curve", "gd.csv", *options)
    found = boundcheck_cli(*command)
    assert (found.code, "that the run is gradient_descent; the given value" in found.out) == (0, True)
    assert boundcheck_cli(*command, "--column", "value=gap", "--deterministic").code == 0


# --- progress --------------------------------------------------------------------------------------------------------


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.isatty = lambda: terminal


def test_progress_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.progress import Progress

    shown: list[float] = []
    monkeypatch.setattr(sys, "stderr", Stream(terminal=True))
    monkeypatch.setattr(Progress, "update", lambda self, task, completed: shown.append(completed))
    with output.progress("work", 3) as show:
        for done in (0.5, 1.5, 0.2, 2.0):
            show(done)
    assert shown == [0.5, 1.5, 1.5, 2.0]


def test_progress_is_lines_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Stream(terminal=False))
    monkeypatch.setattr(output, "PIPED", 0.02)
    with output.progress("3 claims", 3) as show:
        show(1.5)
        while stream.getvalue().count("\n") < 2:
            time.sleep(0.01)
    lines = stream.getvalue().splitlines()
    assert {line.partition(",")[0] for line in lines} == {"3 claims: 50 %"}
    time.sleep(0.1)
    assert stream.getvalue().splitlines() == lines  # none after the end
