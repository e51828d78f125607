"""list, show, evaluate, scope."""

from __future__ import annotations

import io
import math
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import loaded_papers
import pytest
from cli_tools import Run

from boundcheck.cli import main, output
from boundcheck.evidence import shipped_files
from boundcheck.theory.discovery import statement

THEOREM = "scgd/theorem_3_3"
EDGE = ["--set", "mu=1/100", "--set", "L=1/10", "--set", "n=2", "--set", "E=64"]
POINT = ["--set", "mu=1/10", "--set", "L=1", "--set", "n=20", "--set", "E=4", "--set", "dist2_0=4"]


@pytest.fixture(autouse=True)
def own_papers() -> Iterator[None]:
    with loaded_papers.unloaded_afterwards():
        yield


def test_list_flags_equation_2_from_the_declarations(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("list", "--paper", "scgd", "--json")
    assert found.code == 0
    false = boundcheck_cli("list", "--paper", "scgd", "--false", "--json").json["statements"]
    assert false == [r for r in found.json["statements"] if r["belief"] == "false"] != []
    rows = {r["id"]: r for r in found.json["statements"]}
    assert rows["scgd/equation_2/as_printed_main"]["dimensions"] == "units disagree"
    assert rows["scgd/equation_2/as_printed_main"]["dimension_errors"]
    assert rows["scgd/equation_2/as_printed_appendix"]["dimensions"] == "units agree"
    assert rows["scgd/lemma_3_1/corrected"]["derivation"] == "PROVED"
    assert rows["scgd/lemma_3_1/as_printed_main"]["derivation"] == "REFUTED"
    assert rows["scgd/equation_2/conservative"]["derivation"] == "none"
    counts = found.json["counts"]
    assert counts["readings"] == len(rows)
    assert counts["statements"] == len({i.rpartition("/")[0] for i in rows}) < len(rows)
    assert counts["in which units disagree"] == sum(r["dimensions"] == "units disagree" for r in rows.values())
    assert counts["without dimensions"] == sum(r["dimensions"] == "none declared" for r in rows.values())


def test_list_as_a_table_and_by_reading(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("list", "--reading", "conservative")
    lines = found.out.splitlines()
    assert lines[0].split()[0] == "statement"
    ids = [line.split()[0] for line in lines[1 : lines.index("")]]
    assert "scgd/theorem_3_3/conservative" in ids
    assert all(i.endswith("/conservative") for i in ids)
    assert lines[-1].startswith(f"{len(ids)} readings of {len(ids)} statements, ")


def test_list_of_methods(boundcheck_cli: Run) -> None:
    columns, *rows = (re.split(r"  +", line) for line in boundcheck_cli("list", "--methods").out.splitlines())
    assert columns == ["method", "paper", "equation", "parameter", "default", "meaning"]
    saga, *other = (row for row in rows if row[0] == "saga")
    assert saga == ["saga", "A. Defazio, F. Bach, S. Lacoste-Julien, 2014", "Algorithm 1", "eta", "needed", "step size"]
    assert not other
    assert ["scaffold", "eta_g", "1", "step size of the server"] in rows
    refused = boundcheck_cli("list", "--methods", "--paper", "scgd")
    assert (refused.code, refused.err.count("list --methods goes with --json only")) == (2, 1)


def test_list_of_problems(boundcheck_cli: Run, tmp_path: Path) -> None:
    rows = [re.split(r"  +", line) for line in boundcheck_cli("list", "--problems").out.splitlines()]
    assert rows[0] == ["problem", "parameter", "type", "default", "meaning"]
    own = [row[1:] for row in rows if row[0] == "random_quadratics"]
    assert own[0][0].startswith("Random heterogeneous quadratics")
    for row in (["mu", "number", '"1/10"'], ["d", "number", "2"], ["indefinite", "true or false", "false"]):
        assert row in own
    assert ["surrogate", "of", "table", "needed"] in rows
    assert ["logistic_regression", "split", "text"] in rows
    # of a file given by --load, with and without annotations
    file = tmp_path / "own_kind.py"
    file.write_text('''
def build(scale, bits: int = 3, *, names: list[str] | None = None, spread: float = 0.5):
    """Scaled copies.

    More.
    """


problems = {"scaled": build, "number": 5, "least": min}
''')
    found = boundcheck_cli("list", "--problems", "--load", file, "--json").json["problems"]
    (scaled,) = (row for row in found if row["problem"] == "scaled")
    assert scaled == {"problem": "scaled", "module": "own_kind", "text": "Scaled copies.", "parameters": [
        {"name": "scale", "type": "number, list or text", "needed": True, "default": ""},
        {"name": "bits", "type": "number", "needed": False, "default": "3"},
        {"name": "names", "type": "list", "needed": False, "default": ""},
        {"name": "spread", "type": "number", "needed": False, "default": "0.5"},
    ]}  # fmt: skip
    broken = {row["problem"]: row["text"] for row in found if row["problem"] in ("number", "least")}
    assert "must be a function that gives a problem" in broken["number"]
    assert "no signature" in broken["least"]
    refused = boundcheck_cli("list", "--problems", "--methods")
    assert (refused.code, refused.err.count("list --methods goes with --json only")) == (2, 1)


def test_list_of_metrics(boundcheck_cli: Run, tmp_path: Path) -> None:
    rows = [re.split(r"  +", line) for line in boundcheck_cli("list", "--metrics").out.splitlines()]
    assert rows[0] == ["metric", "of a", "needs", "meaning"]
    assert ["grad2", "point", "problem with a gradient", "squared norm of grad F(x)"] in rows
    assert [row[:3] for row in rows if row[0] in ("epoch_grad2", "inexactness", "discrepancy[:NUMBER]")] == [
        ["inexactness", "round", "run with samples"],
        ["epoch_grad2", "round", "method with momentum"],
        ["discrepancy[:NUMBER]", "round", "method with models of its own at every client"],
    ]
    file = tmp_path / "own_metric.py"
    file.write_text(
        loaded_papers.THEOREM
        + """
from boundcheck.setting.quantities import Quantity

quantities = (Quantity("twice_moved2", "twice the squared movement", lambda r: 2 * r.movement2, signed=True),)
"""
    )
    found = boundcheck_cli("list", "--metrics", "--load", file, "--json").json["metrics"]
    assert {row["metric"] for row in found if row["signed"]} >= {"x", "twice_moved2", "work_inner"}
    (own,) = (row for row in found if row["metric"] == "twice_moved2")
    assert own == {"metric": "twice_moved2", "of a": "round", "needs": "method with a server",
                   "meaning": "twice the squared movement", "signed": True}  # fmt: skip


def test_list_and_show_count_the_shipped_claims(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("list", "--paper", "fedshuffle", "--json")
    rows = {r["id"]: r for r in found.json["statements"]}
    assert rows["fedshuffle/section_5_importance/as_printed"]["claims"] == {"HOLDS": 1, "VIOLATED": 1}
    assert rows["fedshuffle/lemma_b_1/sharp"]["claims"] == {}
    assert found.json["counts"]["with a shipped claim"] == sum(bool(r["claims"]) for r in rows.values())
    words = {line.split()[0]: line for line in boundcheck_cli("list", "--paper", "fedshuffle").out.splitlines() if line}
    assert words["fedshuffle/section_5_importance/as_printed"].endswith("  1 claim HOLDS; 1 claim VIOLATED")
    assert words["fedshuffle/section_5_full_participation/corrected"].endswith("2 claims HOLD; 1 claim OUT_OF_SCOPE")
    assert words["fedshuffle/lemma_b_1/sharp"].endswith("  derivation PROVED (6 transcribed facts)")
    shown = boundcheck_cli("show", "fedshuffle/section_5_importance/as_printed")
    assert "evidence: 1 claim HOLDS; 1 claim VIOLATED" in shown.out.splitlines()
    as_json = boundcheck_cli("show", "fedshuffle/section_5_importance/as_printed", "--json")
    assert as_json.json["claims"] == {"HOLDS": 1, "VIOLATED": 1}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_narrow_output(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    """80 columns where nothing says how wide the output is, or those of the terminal; ids are whole."""
    shown = Terminal() if terminal else io.StringIO()
    if terminal:
        monkeypatch.setenv("COLUMNS", "60")
    else:
        monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(sys, "stdout", shown)
    for command in (["list", "--reading", "conservative"], ["show", f"{THEOREM}/conservative"], ["show", "scgd"]):
        assert main(command) == 0
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in shown.getvalue().splitlines()]
    assert max(map(len, lines)) <= (60 if terminal else 80)
    assert "scgd/theorem_3_3/conservative" in lines
    for part in ("title: ", "kind: ", "our verdict: ", "dimensions: ", "evidence: ", "printed: σ²", "dimensionless"):
        assert any(part in text for text in lines)  # no column is lost, and no word is broken


def test_a_formula_is_as_wide_as_the_output(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    formula = boundcheck_cli("show", "async_fl/theorem_1/sharp").out
    drawn = [row for row in formula.splitlines() if "─" in row or "⎛" in row]
    assert 0 < max(map(len, drawn)) <= 80


def test_outcomes_are_coloured_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for shown, coloured in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stdout", shown)
        output.table(["claim", "outcome"], [["one", "HOLDS"], ["two", "VIOLATED"]], coloured=[1])
        assert ("\x1b[32mHOLDS" in shown.getvalue(), "\x1b[31mVIOLATED" in shown.getvalue()) == (coloured, coloured)


def test_a_table_breaks_cells_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    output.table(["name", "what", "how"], [["a", "one two three four five", "six seven eight nine ten"]])
    assert capsys.readouterr().out.splitlines() == [
        "name  what               how",
        "a     one two three      six seven eight",
        "      four five          nine ten",
    ]


def test_list_searches_titles_numbers_and_ids(boundcheck_cli: Run) -> None:
    def ids(*words: str) -> list[str]:
        return [r["id"] for r in boundcheck_cli("list", *words, "--paper", "scgd", "--json").json["statements"]]

    every = ids()
    assert {i.split("/")[1] for i in ids("3.3")} >= {"theorem_3_3"}
    assert {i.split("/")[1] for i in ids("THEOREM", "3.4")} == {"theorem_3_4"}
    assert ids("conservative") == [i for i in every if i.endswith("conservative")]
    assert ids("no such word") == []


def test_the_card_of_a_paper_and_its_citation(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("show", "scgd")
    data = boundcheck_cli("show", "scgd", "--json").json
    (title,) = data["publications"]
    assert found.out.startswith(f"scgd: {title}\n")
    rows = boundcheck_cli("list", "--paper", "scgd", "--json").json["statements"]
    assert sum(len(s["readings"]) for s in data["statements"]) == sum(data["beliefs"].values()) == len(rows)
    assert all(f"  {row['reading']} ({row['belief']}): " in found.out for row in rows)
    refused = boundcheck_cli("show", "scgd", "--latex")
    assert (refused.code, "'scgd' is a paper" in refused.err) == (2, True)
    cited = boundcheck_cli("cite", "scgd").out
    assert cited == re.sub(r",\n  note = .*\n", "\n", boundcheck_cli("cite", THEOREM).out)
    assert boundcheck_cli("cite", THEOREM).out == f"{statement(THEOREM).bibtex()}\n"
    assert boundcheck_cli("cite", "classics").out.count("@") > 3


def test_the_largest_step_size_needs_no_step_size(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("scope", f"{THEOREM}/as_printed_main", *EDGE)
    assert found.out.splitlines()[0] == "largest eta in scope: 5/128"
    assert (found.code, found.out.endswith("scope undecided, needs eta\n")) == (3, True)
    assert (
        boundcheck_cli("scope", f"{THEOREM}/as_printed_main", *EDGE, "--json").json["largest"]["eta"]["exact"]
        == "5/128"
    )


def test_a_bound_needs_no_symbol_of_its_trivial_value_alone(boundcheck_cli: Run) -> None:
    values = dict.fromkeys(("L", "G2", "B2", "P2", "sigma2", "M", "E", "R", "eta_g", "dist2_0"), "1") | {
        "eta_l": "1e-3"
    }
    point = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    found = boundcheck_cli("evaluate", "fedshuffle/theorem_5_1_convex/sharp", *point)
    whole = boundcheck_cli("evaluate", "fedshuffle/theorem_5_1_convex/sharp", *point, "--set", "gap_0=1/2")
    assert found.out.splitlines() == [*whole.out.splitlines()[:2], "vacuous: unknown, needs gap_0"]


def test_json_has_no_long_fraction_unless_asked(boundcheck_cli: Run) -> None:
    point = ["evaluate", THEOREM]
    for name, value in {"mu": "1/10", "L": 1, "n": 20, "E": 4, "sigma2": 1, "dist2_0": 4, "K": 40}.items():
        point += ["--set", f"{name}={value}"]
    point += ["--set", "eta=1/200000", "--json"]
    short, whole = boundcheck_cli(*point).json, boundcheck_cli(*point, "--exact").json
    assert short["exact"] is None
    assert short["exact_characters"] == len(whole["exact"]) > output.DIGITS
    assert float(Fraction(whole["exact"])) == pytest.approx(short["value"], rel=1e-12)
    assert len(boundcheck_cli(*point).out) < 20_000


def test_show_says_everything(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("show", "scgd/theorem_3_3/as_printed_main")
    assert found.code == 0
    for text in ("Theorem 3.3", "false", "strong_quasi_convexity", "step size", "UNITS DISAGREE", "mu <= L"):
        assert text in found.out
    assert "scgd/theorem_3_3/corrected" in found.out.splitlines()[-1]
    corrected = boundcheck_cli("show", THEOREM)
    assert corrected.out.startswith(f"{THEOREM}: taking the reading {THEOREM}/corrected\n")
    assert "replaces: " in corrected.out
    assert boundcheck_cli("show", THEOREM, "--latex").out.count(r"\mu") > 2
    data = boundcheck_cli("show", THEOREM, "--json").json
    assert data["schema"] == 1
    assert data["id"] == f"{THEOREM}/corrected"
    assert data["dimension_errors"] == []


def test_evaluate_a_point(boundcheck_cli: Run) -> None:
    # eta = 1/100000: s = 80/100000, 1 - mu s/3 = 1 - 1/37500; noise 12 s^2/mu^2 = 12 * 6.4e-7 * 100 = 0.000768
    arguments = [*POINT, "--set", "sigma2=1", "--set", "eta=1/100000", "--set", "K=1"]
    exact = 4 * (1 - Fraction(1, 37500)) + Fraction(768, 10**6)
    data = boundcheck_cli("evaluate", THEOREM, *arguments, "--json").json
    assert Fraction(data["exact"]) == exact
    assert data["value"] == pytest.approx(float(exact), rel=1e-15)
    assert data["in_scope"] is True  # the limit is C/80 with C = 0.00728897...
    assert data["values"]["eta"] == {"exact": "1/100000", "float": 1e-5}
    text = boundcheck_cli("evaluate", THEOREM, *arguments).out
    assert f" = {exact.numerator}/{exact.denominator} exactly" in text
    assert "scope: in scope" in text


def test_evaluate_encloses_what_is_irrational(boundcheck_cli: Run) -> None:
    data = boundcheck_cli(
        "evaluate", "scgd/equation_2/as_printed_appendix", "--set", "mu=1", "--set", "L=1", "--json"
    ).json
    exact = math.sqrt(177) / 48 - 3 / 16
    assert data["value"] == pytest.approx(exact, rel=1e-14)
    assert data["exact"]["bits"] >= 100


def test_a_power_too_long_becomes_a_ball_and_says_so(boundcheck_cli: Run) -> None:
    arguments = [*POINT, "--set", "sigma2=0", "--set", "eta=1/123456", "--set", "K=1000000000000"]
    found = boundcheck_cli("evaluate", THEOREM, *arguments)
    assert found.code == 0
    assert "rigorous ball" in found.out


def test_evaluate_a_sweep(boundcheck_cli: Run) -> None:
    arguments = [*POINT, "--set", "sigma2=0", "--set", "K=1", "--sweep", "eta=1e-6:1e-4:5:log"]
    rows = boundcheck_cli("evaluate", THEOREM, *arguments, "--csv").out.splitlines()
    assert rows[0] == "eta,bound,in_scope,vacuous"
    assert len(rows) == 6
    first = rows[1].split(",")
    assert float(first[0]) == 1e-6
    assert float(first[1]) == pytest.approx(4 * (1 - 0.1 * 80e-6 / 3), rel=1e-15)
    assert [r.split(",")[2] for r in rows[1:]] == ["true"] * 4 + ["false"]  # the limit is 9.11e-5
    points = boundcheck_cli("evaluate", THEOREM, *arguments, "--json").json["points"]
    assert points[0]["at"]["eta"] == "1/1000000"
    table = boundcheck_cli("evaluate", THEOREM, *arguments).out.splitlines()
    assert table[0] == f"{THEOREM}: taking the reading {THEOREM}/corrected"
    assert table[1].split() == ["eta", "bound", "in", "scope", "vacuous"]
    assert len(table) == 7


def test_two_sweeps_make_a_product(boundcheck_cli: Run) -> None:
    arguments = [
        "--set",
        "sigma2=0",
        "--set",
        "eta=1e-6",
        "--sweep",
        "K=0,1,7",
        *POINT[:-2],
        "--sweep",
        "dist2_0=1:2:2",
    ]
    points = boundcheck_cli("evaluate", THEOREM, *arguments, "--json").json["points"]
    assert [(p["at"]["K"], p["at"]["dist2_0"]) for p in points] == [(k, d) for k in ("0", "1", "7") for d in ("1", "2")]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_sweep_is_drawn(boundcheck_cli: Run, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"sweep.{ending}"
    arguments = [*POINT, "--set", "sigma2=0", "--set", "K=1", "--sweep", "eta=1e-6:1e-4:5:log", "--plot", target]
    found = boundcheck_cli("evaluate", THEOREM, *arguments)
    assert found.code == 0
    assert target.stat().st_size > 2000
    assert [p.name for p in tmp_path.iterdir() if "partial" in p.name] == []


def test_scope_on_the_edge(boundcheck_cli: Run) -> None:
    # s = 2*64*10/256 = 5 = 1/(2 L), which is C of the main text exactly
    inside = boundcheck_cli("scope", f"{THEOREM}/as_printed_main", *EDGE, "--set", "eta=10/256")
    assert inside.code == 0
    assert "largest eta in scope: 5/128" in inside.out
    beyond = boundcheck_cli("scope", f"{THEOREM}/as_printed_main", *EDGE, "--set", f"eta=0.0390625{'0' * 24}1")
    assert beyond.code == 3
    outside = boundcheck_cli("scope", f"{THEOREM}/corrected", *EDGE, "--set", "eta=10/256", "--json")
    assert outside.code == 3
    assert outside.json["in_scope"] is False
    # with x = mu/L = 1/10: C = x^2-independent 0.00728897.../L, so eta = 0.0728897.../128
    assert outside.json["largest"]["eta"]["float"] == pytest.approx(0.0728897 / 128, rel=1e-6)
    assert outside.json["assumptions"] == [
        "plain_mean",
        "strong_quasi_convexity",
        "smooth_clients",
        "finite_gradient_noise",
    ]


def test_version(boundcheck_cli: Run) -> None:
    import boundcheck

    assert boundcheck_cli("--version").out == f"{boundcheck.__version__}\n"


def test_show_lists_what_a_proof_rests_on_by_weight(boundcheck_cli: Run) -> None:
    id = "fedshuffle/theorem_5_1_convex/corrected"
    sentence = next(row for row in boundcheck_cli("show", id).out.splitlines() if row.startswith("derivation: "))
    first, *rows = boundcheck_cli("show", id, "--rests").out.splitlines()
    heads = [row.removeprefix("Rests on ") for row in rows if row.startswith("Rests on ")]
    kinds = ["assumption", "algorithm", "metric", "other transcribed", "draws", "generated", "(all proved)", "of names"]
    assert all(kind in head for kind, head in zip(kinds, heads, strict=True))
    assert sentence == f"derivation: {first.removeprefix(f'{id}: ')} Rests on {', '.join(heads)}."
    for head in heads:  # as many things as the sentence counts
        below = rows[rows.index(f"Rests on {head}") + 1 :]
        assert below[: below.index("")] == [row for row in below[: int(head.split()[0])] if row.startswith(">   ")]
    assert ">   fedshuffle/recursion_convex/corrected" in rows
    verified = boundcheck_cli("verify", id, "--json").json["rests"]
    assert sum(r.startswith("the record fedshuffle/") for r in verified) == 11 == int(heads[-2].split()[0])
    assert len(verified) == sum(row.startswith("> ") for row in rows)
    assert boundcheck_cli("show", id, "--rests", "--json").code == 2
    none = boundcheck_cli("show", "async_fl/equation_108", "--rests")
    assert (none.code, "has no derivation" in none.err) == (2, True)


def test_slips_are_the_printed_readings_that_are_false_or_break(boundcheck_cli: Run) -> None:
    every = boundcheck_cli("list", "--json").json["statements"]
    rows = boundcheck_cli("list", "--slips", "--json").json["statements"]
    printed = [row for row in every if row["reading"].startswith("as_printed")]
    assert rows == [row for row in printed if row["belief"] == "false" or row["refuted_at"]]
    assert {"fedshuffle/lemma_d_5/as_printed", "async_fl/theorem_1/as_printed"} <= {row["id"] for row in rows}
    # where another reading is encoded, a false one says what that replaces
    paths = {row["id"].rpartition("/")[0] for row in every if not row["reading"].startswith("as_printed")}
    assert all((row["correction"] is not None) == (row["id"].rpartition("/")[0] in paths) for row in rows)
    own = [row for row in rows if row["id"].startswith("fedshuffle/")]
    lines = boundcheck_cli("list", "--slips", "--paper", "fedshuffle").out.splitlines()
    assert [text.split()[0] for text in lines[1 : 1 + len(own)]] == [row["id"] for row in own]
    assert lines[-1] == f"{len(own)} readings, {sum(bool(row['refuted_at']) for row in own)} with a refuted step."


def test_readings_without_evidence(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = boundcheck_cli("list", "--paper", "classics", "--json").json
    lacking = [r["id"] for r in rows["statements"] if r["belief"] != "open" and not r["borne_out_by"]]
    assert rows["counts"]["believed true or false without evidence"] == len(lacking)
    found = boundcheck_cli("list", "--paper", "classics", "--no-evidence", "--json")
    assert (found.json, found.code) == (lacking, 1 if lacking else 0)
    one = ("list", "--reading", "as_printed_client_3", "--no-evidence")
    assert (boundcheck_cli(*one).out, boundcheck_cli(*one).code) == ("", 0)
    monkeypatch.setattr(shipped_files, "shipped_witnesses", dict)
    monkeypatch.setattr(shipped_files, "claims_by_id", dict)
    found = boundcheck_cli(*one)
    assert (found.code, found.out) == (1, "fedshuffle/section_4_2_sum_one/as_printed_client_3: believed true\n")
