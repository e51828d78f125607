"""list, show, cite, evaluate, scope: what they compute, and how it is laid out. Their text is in the documentation."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import loaded_papers
import pytest
from cli_tools import Run

import boundcheck
from boundcheck.cli import output
from boundcheck.cli.options import matching_ids
from boundcheck.cli.statements import is_slip
from boundcheck.core import index
from boundcheck.evidence import shipped_files
from boundcheck.theory.discovery import statement

THEOREM = "scgd/theorem_3_3"
POINT = {"mu": "1/10", "L": "1", "n": "20", "E": "4", "dist2_0": "4", "sigma2": "0"}
EDGE = {"mu": "1/100", "L": "1/10", "n": "2", "E": "64"}


def sets(**values: object) -> list[str]:
    return [part for name, value in values.items() for part in ("--set", f"{name}={value}")]


@pytest.fixture(autouse=True)
def own_papers() -> Iterator[None]:
    with loaded_papers.unloaded_afterwards():
        yield


def listed(run: Run, *arguments: str | Path) -> list[dict[str, Any]]:
    return run("list", *arguments, "--json").json["statements"]


# --- list ------------------------------------------------------------------------------------------------------------


def test_list_flags_equation_2_from_the_declarations(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("list", "--paper", "scgd", "--json")
    rows = {r["id"].removeprefix("scgd/"): r for r in found.json["statements"]}
    assert listed(boundcheck_cli, "--paper", "scgd", "--false") == [r for r in rows.values() if r["belief"] == "false"]
    assert rows["equation_2/as_printed_main"]["dimensions"] == "units disagree"
    assert rows["equation_2/as_printed_main"]["dimension_errors"]
    assert rows["equation_2/as_printed_appendix"]["dimensions"] == "units agree"
    names = ("lemma_3_1/corrected", "lemma_3_1/as_printed_main", "equation_2/conservative")
    assert [rows[name]["derivation"] for name in names] == ["PROVED", "REFUTED", "none"]
    counts = found.json["counts"]
    assert counts["readings"] == len(rows)
    assert counts["statements"] == len({i.rpartition("/")[0] for i in rows}) < len(rows)
    assert counts["in which units disagree"] == sum(r["dimensions"] == "units disagree" for r in rows.values())
    assert counts["without dimensions"] == sum(r["dimensions"] == "none declared" for r in rows.values())


def test_list_chooses_by_reading_and_by_words(boundcheck_cli: Run) -> None:
    def ids(*words: str) -> list[str]:
        return [r["id"] for r in listed(boundcheck_cli, *words, "--paper", "scgd")]

    every = ids()
    assert {i.split("/")[1] for i in ids("3.3")} >= {"theorem_3_3"}
    assert {i.split("/")[1] for i in ids("THEOREM", "3.4")} == {"theorem_3_4"}
    chosen = [i for i in every if i.endswith("conservative")]
    assert ids("conservative") == ids("--reading", "conservative") == chosen != []
    assert ids("no such word") == []
    lines = boundcheck_cli("list", "--reading", "conservative").out.splitlines()
    assert lines[-1].startswith(f"{lines.index('') - 1} readings of {lines.index('') - 1} statements, ")


@pytest.mark.parametrize(
    ("what", "columns", "some"),
    [
        ("methods", "method paper equation parameter default meaning", [
            ["saga", "A. Defazio, F. Bach, S. Lacoste-Julien, 2014", "Algorithm 1", "eta", "needed", "step size"],
            ["scaffold", "eta_g", "1", "step size of the server"],
        ]),
        ("problems", "problem parameter type default meaning", [
            ["random_quadratics", "mu", "number", '"1/10"'], ["surrogate", "of", "table", "needed"],
            ["random_quadratics", "indefinite", "true or false", "false"], ["logistic_regression", "split", "text"],
        ]),
        ("metrics", "metric of needs meaning", [
            ["grad2", "point", "problem with a gradient", "squared norm of grad F(x)"],
        ]),
    ],
)  # fmt: skip
def test_other_lists(boundcheck_cli: Run, what: str, columns: str, some: list[list[str]]) -> None:
    rows = [re.split(r"  +", line) for line in boundcheck_cli("list", f"--{what}").out.splitlines()]
    assert [name.split()[0] for name in rows[0]] == columns.split()
    assert all(row in rows for row in some)


def test_problems_and_metrics_of_a_loaded_file(boundcheck_cli: Run, tmp_path: Path) -> None:
    """With and without annotations, and what is no kind of problem."""
    file = tmp_path / "own_kind.py"
    file.write_text(f'''{loaded_papers.THEOREM}
from boundcheck.setting.quantities import Quantity

quantities = (Quantity("twice_moved2", "twice the squared movement", lambda r: 2 * r.movement2, signed=True),)

def build(scale, bits: int = 3, *, names: list[str] | None = None, spread: float = 0.5):
    """Scaled copies.

    More.
    """


problems = {{"scaled": build, "number": 5, "least": min}}
''')
    found = {r["problem"]: r for r in boundcheck_cli("list", "--problems", "--load", file, "--json").json["problems"]}
    assert found["scaled"] == {"problem": "scaled", "module": "own_kind", "text": "Scaled copies.", "parameters": [
        {"name": "scale", "type": "number, list or text", "needed": True, "default": ""},
        {"name": "bits", "type": "number", "needed": False, "default": "3"},
        {"name": "names", "type": "list", "needed": False, "default": ""},
        {"name": "spread", "type": "number", "needed": False, "default": "0.5"},
    ]}  # fmt: skip
    assert "must be a function that gives a problem" in found["number"]["text"]
    assert "no signature" in found["least"]["text"]
    metrics = {r["metric"]: r for r in boundcheck_cli("list", "--metrics", "--load", file, "--json").json["metrics"]}
    assert {name for name, row in metrics.items() if row["signed"]} >= {"x", "twice_moved2", "work_inner"}
    assert metrics["twice_moved2"] == {
        "metric": "twice_moved2", "of a": "round", "needs": "method with a server",
        "meaning": "twice the squared movement", "signed": True,
    }  # fmt: skip
    needs = {name: metrics[name]["needs"] for name in ("inexactness", "epoch_grad2", "discrepancy[:NUMBER]")}
    whose = "method with models of its own at every client"
    assert list(needs.values()) == ["run with samples", "method with momentum", whose]


def test_list_and_show_count_the_shipped_claims(boundcheck_cli: Run) -> None:
    importance = "fedshuffle/section_5_importance/as_printed"
    found = boundcheck_cli("list", "--paper", "fedshuffle", "--json")
    rows = {r["id"]: r for r in found.json["statements"]}
    assert rows[importance]["claims"] == {"HOLDS": 1, "VIOLATED": 1}
    assert rows["fedshuffle/lemma_b_1/sharp"]["claims"] == {}
    assert found.json["counts"]["with a shipped claim"] == sum(bool(r["claims"]) for r in rows.values())
    words = {line.split()[0]: line for line in boundcheck_cli("list", "--paper", "fedshuffle").out.splitlines() if line}
    assert words[importance].endswith("  1 claim HOLDS; 1 claim VIOLATED")
    assert words["fedshuffle/section_5_full_participation/corrected"].endswith("2 claims HOLD; 1 claim OUT_OF_SCOPE")
    assert words["fedshuffle/lemma_b_1/sharp"].endswith("  derivation PROVED (6 transcribed facts)")
    assert "evidence: 1 claim HOLDS; 1 claim VIOLATED" in boundcheck_cli("show", importance).out.splitlines()
    assert boundcheck_cli("show", importance, "--json").json["claims"] == {"HOLDS": 1, "VIOLATED": 1}


def test_slips_are_the_printed_readings_that_are_false_or_break(boundcheck_cli: Run) -> None:
    every, rows = listed(boundcheck_cli), listed(boundcheck_cli, "--slips")
    printed = [row for row in every if row["reading"].startswith("as_printed")]
    assert rows == [row for row in printed if row["belief"] == "false" or row["refuted_at"]]
    assert not is_slip({"reading": "corrected", "belief": "false", "refuted_at": []})
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


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command as in a process that has imported no statement."""
    monkeypatch.setattr(index, "begin", lambda: None)
    monkeypatch.setitem(index._state, "fresh", True)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.usefixtures("fresh")
def test_the_second_list_and_show_load_no_sympy(boundcheck_cli: Run) -> None:
    first, shown = boundcheck_cli("list", "--json"), boundcheck_cli("show", THEOREM, "--json")
    script = (
        "import contextlib, io, json, sys\n"
        "from boundcheck.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        f"    assert main(['list', '--json']) == main(['show', {THEOREM!r}, '--json']) == 0\n"
        "heavy = {'sympy', 'numpy', 'boundcheck.papers.scgd'} & set(sys.modules)\n"
        "print(json.dumps([out.getvalue(), list(heavy)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [first.out + shown.out, []]
    assert len(first.json["statements"]) > 300


@pytest.mark.usefixtures("fresh")
def test_statements_of_load_are_listed_and_not_kept(boundcheck_cli: Run, tmp_path: Path) -> None:
    (tmp_path / "tight.py").write_text(loaded_papers.THEOREM)
    load = ("--load", tmp_path / "tight.py")
    ids = [r["id"] for r in listed(boundcheck_cli, *load)]
    assert ids == sorted(ids, key=lambda id: id.rpartition("/")[0])
    assert len(ids) == len(set(ids)) > 300
    assert [r["id"] for r in listed(boundcheck_cli, "--paper", "tight", *load)] == ids[-2:]
    assert boundcheck_cli("show", "tight/tight", *load, "--json").json["id"] == "tight/tight/as_printed"
    assert not any(b"tight/tight" in p.read_bytes() for p in (tmp_path / "index").glob("*/*.json"))


def test_a_shell_completes_ids(boundcheck_cli: Run) -> None:
    assert "_BOUNDCHECK_COMPLETE=complete_bash" in boundcheck_cli("completion", "bash").out
    assert matching_ids("scgd/theorem_3") == ["scgd/theorem_3_3", "scgd/theorem_3_4"]
    assert f"{THEOREM}/corrected" in matching_ids(f"{THEOREM}/")


def test_version(boundcheck_cli: Run) -> None:
    assert boundcheck_cli("--version").out == f"{boundcheck.__version__}\n"


# --- layout ----------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_narrow_output(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    """80 columns where nothing says how wide the output is, or those of the terminal; ids are whole."""
    from boundcheck.cli import main

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
    # three summands of six columns: two fit beside the left side of six in twenty columns, the third stands below
    blocks = [["  a   ", "+ b + "], ["  c   ", "+ d + "], ["  e   ", "+ f   "]]
    assert output.formula_lines("left =", blocks, 1, 20) == [
        *("        a     c", "left =+ b + + d +", "", "        e", "      + f"),
    ]


def test_tables_break_between_words_and_colour_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for shown, coloured in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stdout", shown)
        output.table(["claim", "outcome"], [["one", "HOLDS"], ["two", "VIOLATED"]], coloured=[1])
        assert ("\x1b[32mHOLDS" in shown.getvalue(), "\x1b[31mVIOLATED" in shown.getvalue()) == (coloured, coloured)
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setattr(sys, "stdout", plain := io.StringIO())
    output.table(["name", "what", "how"], [["a", "one two three four five", "six seven eight nine ten"]])
    assert plain.getvalue().splitlines() == [
        "name  what               how",
        "a     one two three      six seven eight",
        "      four five          nine ten",
    ]


# --- show and cite ---------------------------------------------------------------------------------------------------


def test_the_card_of_a_paper_and_its_citation(boundcheck_cli: Run) -> None:
    found, data = boundcheck_cli("show", "scgd"), boundcheck_cli("show", "scgd", "--json").json
    (title,) = data["publications"]
    assert found.out.startswith(f"scgd: {title}\n")
    rows = listed(boundcheck_cli, "--paper", "scgd")
    assert sum(len(s["readings"]) for s in data["statements"]) == sum(data["beliefs"].values()) == len(rows)
    assert all(f"  {row['reading']} ({row['belief']}): " in found.out for row in rows)
    cited = boundcheck_cli("cite", THEOREM).out
    assert cited == f"{statement(THEOREM).bibtex()}\n"
    assert boundcheck_cli("cite", "scgd").out == re.sub(r",\n  note = .*\n", "\n", cited)
    assert boundcheck_cli("cite", "classics").out.count("@") > 3


def test_show_says_everything(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("show", f"{THEOREM}/as_printed_main").out
    for text in ("Theorem 3.3", "false", "strong_quasi_convexity", "step size", "UNITS DISAGREE", "mu <= L"):
        assert text in found
    assert f"{THEOREM}/corrected" in found.splitlines()[-1]
    corrected = boundcheck_cli("show", THEOREM).out
    assert corrected.startswith(f"{THEOREM}: taking the reading {THEOREM}/corrected\n")
    assert "replaces: " in corrected
    assert boundcheck_cli("show", THEOREM, "--latex").out.count(r"\mu") > 2
    data = boundcheck_cli("show", THEOREM, "--json").json
    assert (data["schema"], data["id"], data["dimension_errors"]) == (1, f"{THEOREM}/corrected", [])


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


# --- evaluate and scope ----------------------------------------------------------------------------------------------


def test_scope_on_the_edge(boundcheck_cli: Run) -> None:
    """At 10/256 s = 2*64*10/256 = 5 = 1/(2 L), which is C of the main text exactly."""
    alone = boundcheck_cli("scope", f"{THEOREM}/as_printed_main", *sets(**EDGE))  # no step size is needed for it
    assert alone.out.splitlines()[0] == "largest eta in scope: 5/128"
    assert (alone.code, alone.out.endswith("scope undecided, needs eta\n")) == (3, True)
    data = boundcheck_cli("scope", f"{THEOREM}/as_printed_main", *sets(**EDGE), "--json").json
    assert data["largest"]["eta"]["exact"] == "5/128"
    for eta, code in (("10/256", 0), (f"0.0390625{'0' * 24}1", 3)):
        assert boundcheck_cli("scope", f"{THEOREM}/as_printed_main", *sets(**EDGE, eta=eta)).code == code
    outside = boundcheck_cli("scope", f"{THEOREM}/corrected", *sets(**EDGE, eta="10/256"), "--json")
    assert (outside.code, outside.json["in_scope"]) == (3, False)
    # with x = mu/L = 1/10: C = x^2-independent 0.00728897.../L, so eta = 0.0728897.../128
    assert outside.json["largest"]["eta"]["float"] == pytest.approx(0.0728897 / 128, rel=1e-6)
    assumed = ["plain_mean", "strong_quasi_convexity", "smooth_clients", "finite_gradient_noise"]
    assert outside.json["assumptions"] == assumed


def test_evaluate_a_point(boundcheck_cli: Run) -> None:
    # eta = 1/100000: s = 80/100000, 1 - mu s/3 = 1 - 1/37500; noise 12 s^2/mu^2 = 12 * 6.4e-7 * 100 = 0.000768
    arguments = ("evaluate", THEOREM, *sets(**POINT | {"sigma2": 1}, eta="1/100000", K=1))
    exact = 4 * (1 - Fraction(1, 37500)) + Fraction(768, 10**6)
    data = boundcheck_cli(*arguments, "--json").json
    assert Fraction(data["exact"]) == exact
    assert data["value"] == pytest.approx(float(exact), rel=1e-15)
    assert data["in_scope"] is True  # the limit is C/80 with C = 0.00728897...
    assert data["values"]["eta"] == {"exact": "1/100000", "float": 1e-5}
    assert f" = {exact.numerator}/{exact.denominator} exactly" in boundcheck_cli(*arguments).out


def test_values_that_are_irrational_or_long(boundcheck_cli: Run) -> None:
    data = boundcheck_cli("evaluate", "scgd/equation_2/as_printed_appendix", *sets(mu=1, L=1), "--json").json
    assert data["value"] == pytest.approx(math.sqrt(177) / 48 - 3 / 16, rel=1e-14)
    assert data["exact"]["bits"] >= 100
    ball = boundcheck_cli("evaluate", THEOREM, *sets(**POINT, eta="1/123456", K=10**12))
    assert (ball.code, "rigorous ball" in ball.out) == (0, True)
    point = ("evaluate", THEOREM, *sets(**POINT | {"sigma2": 1}, K=40, eta="1/200000"), "--json")
    short, whole = boundcheck_cli(*point).json, boundcheck_cli(*point, "--exact").json
    assert short["exact"] is None
    assert short["exact_characters"] == len(whole["exact"]) > output.DIGITS
    assert float(Fraction(whole["exact"])) == pytest.approx(short["value"], rel=1e-12)
    assert len(boundcheck_cli(*point).out) < 20_000


def test_a_bound_needs_no_symbol_of_its_trivial_value_alone(boundcheck_cli: Run) -> None:
    names = ("L", "G2", "B2", "P2", "sigma2", "M", "E", "R", "eta_g", "dist2_0")
    point = ("evaluate", "fedshuffle/theorem_5_1_convex/sharp", *sets(**dict.fromkeys(names, 1), eta_l="1e-3"))
    found, whole = boundcheck_cli(*point), boundcheck_cli(*point, *sets(gap_0="1/2"))
    assert found.out.splitlines() == [*whole.out.splitlines()[:2], "vacuous: unknown, needs gap_0"]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_sweep_is_drawn(boundcheck_cli: Run, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"sweep.{ending}"
    swept = ("evaluate", THEOREM, *sets(**POINT, K=1), "--sweep", "eta=1e-6:1e-4:5:log")
    assert boundcheck_cli(*swept, "--plot", target).code == 0
    assert target.stat().st_size > 2000
    assert [p.name for p in tmp_path.iterdir() if "partial" in p.name] == []


def test_evaluate_a_sweep(boundcheck_cli: Run) -> None:
    swept = ("evaluate", THEOREM, *sets(**POINT, K=1), "--sweep", "eta=1e-6:1e-4:5:log")
    rows = boundcheck_cli(*swept, "--csv").out.splitlines()
    assert (rows[0], len(rows)) == ("eta,bound,in_scope,vacuous", 6)
    assert list(map(float, rows[1].split(",")[:2])) == pytest.approx([1e-6, 4 * (1 - 0.1 * 80e-6 / 3)], rel=1e-15)
    assert [r.split(",")[2] for r in rows[1:]] == ["true"] * 4 + ["false"]  # the limit is 9.11e-5
    assert boundcheck_cli(*swept, "--json").json["points"][0]["at"]["eta"] == "1/1000000"
    table = boundcheck_cli(*swept).out.splitlines()
    assert table[0] == f"{THEOREM}: taking the reading {THEOREM}/corrected"
    assert (table[1].split(), len(table)) == (["eta", "bound", "in", "scope", "vacuous"], 7)
    two = ("--sweep", "K=0,1,7", *sets(**POINT | {"eta": "1e-6"})[:8], "--sweep", "dist2_0=1:2:2")
    points = boundcheck_cli("evaluate", THEOREM, *two, *sets(sigma2=0, eta="1e-6"), "--json").json["points"]
    assert [(p["at"]["K"], p["at"]["dist2_0"]) for p in points] == [(k, d) for k in ("0", "1", "7") for d in ("1", "2")]
