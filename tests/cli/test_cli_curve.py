"""A curve measured elsewhere: one verdict for options and specification."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import Run

# two clients x -> (x -+ 1)^2/2 from 4, both in every round, two local steps of 1/288 each: the mean moves to 0 by
# (1 - eta)^2 a round, and F(x) - F* is x^2/2
GAPS = [8 * (287 / 288) ** (4 * k) for k in range(601)]
PROBLEM = """
problem = { kind = "quadratics", start = [4], clients = [
  { components = [{ A = 1, b = 1 }] }, { components = [{ A = 1, b = -1 }] },
] }
"""
METHOD = 'method = { kind = "uniform_sampling", m = 2, K = 2 }\n'
CLAIM = f"""
[[claim]]
statement = "async_fl/corollary_1"
curve = "runs.csv"
{PROBLEM}
method = {{ kind = "uniform_sampling", m = 2, K = 2, eta_l = "1/288" }}
expect = "HOLDS"
"""
BARE = '[[claim]]\nstatement = "classics/gradient_descent_convex"\n'
CURVE = ("async_fl/corollary_1", "--curve", "runs.csv")
SCGD = ["scgd/theorem_3_3", "--curve", "runs.csv"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(PROBLEM + METHOD)
    (tmp_path / "empty.toml").write_text("schema = 1\n")
    (tmp_path / "runs.csv").write_text("round,value\n" + "".join(f"{k},{v!r}\n" for k, v in enumerate(GAPS)))
    (tmp_path / "claim.toml").write_text(CLAIM)
    return tmp_path


def test_the_command_and_the_specification_give_one_verdict(
    boundcheck_cli: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--problem", "spec.toml", "--set", "eta_l=1/288")
    by_options = boundcheck_cli("compare", *CURVE, *options, "--json")
    by_file = boundcheck_cli("compare", folder / "claim.toml", "--json")
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
    text = boundcheck_cli("compare", *CURVE, *options).out
    assert text.startswith("runs.csv: taking rounds 'round', values 'value' as the metric gap\n")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")  # the path in a file is relative to the file
    assert boundcheck_cli("check", "../claim.toml").code == 0


def test_the_other_commands_read_such_a_claim(boundcheck_cli: Run, folder: Path) -> None:
    assert boundcheck_cli("run", "claim.toml", "-o", "runs").code == 0
    assert boundcheck_cli("constants", "claim.toml", "--quick").code == 0
    assert boundcheck_cli("report", "claim.toml", "-o", "pages").code == 0
    catalogue = ("index", "catalogue", "paper.", "statement.")
    (page,) = [p for p in (folder / "pages").glob("*.html") if not p.name.startswith(catalogue)]
    told = page.read_text()
    assert "outside (nothing was run)" in told
    assert "curve = &#34;runs.csv&#34;" in told
    (snippet,) = (folder / "pages").glob("*.toml")
    (folder / "pages" / "runs.csv").write_text((folder / "runs.csv").read_text())
    assert boundcheck_cli("compare", snippet).code == 0
    (folder / "bare.toml").write_text(f'{BARE}curve = "runs.csv"\nconstants = {{ eta = "1/4", L = 1, dist2_0 = 16 }}\n')
    assert boundcheck_cli("compare", "bare.toml").code in (0, 1)
    for command in ("constants", "tune"):
        found = boundcheck_cli(command, "bare.toml")
        assert (found.code, "has a curve and no method" in found.err) == (2, True), found.err


def test_constants_alone(boundcheck_cli: Run, folder: Path) -> None:
    options = ("--set", "eta=1/4", "--set", "L=1", "--set", "dist2_0=16")
    (folder / "gd.csv").write_text("round,gap\n" + "".join(f"{k},{8 * (9 / 16) ** k!r}\n" for k in range(9)))
    command = ("compare", "classics/gradient_descent_convex", "--curve", "gd.csv", *options)
    found = boundcheck_cli(*command)
    assert found.code == 0
    assert "that the run is gradient_descent; the given value" in found.out
    assert boundcheck_cli(*command, "--column", "value=gap", "--deterministic").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["claim.toml", "--set", "eta=1"], "belong to --curve"),
        ([*CURVE, "--set", "eta_l=1/288"], "no value for L, K, eta_g"),
        ([*CURVE, "--set", "eta_l=1/288"], "or give the problem and the method that the curve is of"),
        (["scgd/theorem_3_33", *SCGD[1:]], "did you mean"),
        ([*SCGD, "--set", "eta"], "is not of the form NAME=VALUE"),
        ([*SCGD, "--set", "mu=1", "--set", "mu=2"], "--set gives mu twice"),
        ([*SCGD, "--set", "nu=1"], "nu"),
        ([*SCGD, "--column", "x=value"], "curve: the key 'x' is unknown"),
        ([*SCGD, "--column", "value=loss"], "has no column 'loss' (value); it has the columns 'round', 'value'."),
        ([*CURVE, "--problem", "none.toml"], "does not exist"),
        ([*CURVE, "--problem", "empty.toml"], "has no problem"),
        ([*CURVE, "--problem", "spec.toml", "--set", "K=3"], "has K already"),
    ],
)
def test_mistakes_in_options(boundcheck_cli: Run, folder: Path, arguments: list[str], sentence: str) -> None:
    found = boundcheck_cli("compare", *arguments)
    assert (found.code, sentence in found.err) == (2, True), found.err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("curve = 3", "curve = 3 is not allowed"),
        ("curve = {}", "curve names no file"),
        ('curve = { file = "runs.csv", value = 3 }', "curve.value = 3 is not allowed"),
        ('curve = { file = "runs.csv", colour = "x" }', "the key 'colour' is unknown"),
        ('curve = "runs.csv"\nengine = "sampled"', "engine is for claims that are run"),
        ('curve = "runs.csv"\nmethod = { kind = "scgd", E = 1, eta = 1 }', "says nothing without a problem"),
    ],
)
def test_mistakes_in_a_specification(boundcheck_cli: Run, folder: Path, line: str, sentence: str) -> None:
    (folder / "claim.toml").write_text(f"{BARE}{line}\n")
    found = boundcheck_cli("compare", "claim.toml")
    assert (found.code, sentence in found.err) == (2, True), found.err


@pytest.mark.parametrize("text", [None, "round,value\n0,1\n1,__import__('os')\n", "round,value\n0,7\n1,.5\n"])
def test_a_malformed_file_is_one_sentence_in_both_forms(boundcheck_cli: Run, folder: Path, text: str | None) -> None:
    if text is not None:
        (folder / "bad.csv").write_text(text)
    (folder / "claim.toml").write_text(CLAIM.replace("runs.csv", "bad.csv"))
    options = ("--curve", "bad.csv", "--problem", "spec.toml", "--set", "eta_l=1/288")
    sentences: set[str] = set()
    for arguments in (("async_fl/corollary_1", *options), ("claim.toml",)):
        found = boundcheck_cli("compare", *arguments)
        assert (found.code, found.err.count("\n")) == (2, 1)
        sentences.add(found.err.partition("bad.csv")[2])
    assert len(sentences) == 1
