"""The data set of a sweep: whole files, the same after any interruption, read by pyarrow and pandas, and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from boundcheck.cli import main
from boundcheck.core.executor import SerialExecutor
from boundcheck.errors import BadInput
from boundcheck.sweeps.dataset import is_whole, read_sweep
from boundcheck.sweeps.run import Summary, carry_out
from boundcheck.sweeps.spec import sweep_from_text

pq = pytest.importorskip("pyarrow.parquet", reason="the extra `data` is not installed")

BOUND = """kind = "bound"
statement = "scgd/theorem_3_3/corrected"
constants = { n = 2, E = 4, sigma2 = 1, dist2_0 = 4, L = 10 }
chunk = 7
[grid]
constants.mu = ["1/10", 1, 20]
constants.eta = "log:1e-6:1e-2:5"
at.K = [10, 1000]
"""
COMPARE = """kind = "compare"
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 2, eta = "largest" }
seeds = 60
at = { K = [1, 10, 100] }
[grid]
engine = ["exact", "sampled"]
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.glob("*.parquet"))}


def swept(text: str, folder: Path | str) -> Summary:
    return carry_out(sweep_from_text(text), folder, SerialExecutor())


def test_a_data_set(tmp_path: Path) -> None:
    summary = swept(BOUND, tmp_path / "a")
    assert (summary.rows, summary.computed, summary.kept, summary.lost) == (30, 6, 0, ())
    assert min(summary.memory) > 10**7
    again = swept(BOUND, tmp_path / "a")
    assert (again.computed, again.kept, again.counts) == (0, 6, summary.counts)
    read = pq.read_table(tmp_path / "a")
    assert read.column_names[:4] == ["mu", "eta", "K", "label"]
    assert read.schema.field("bound").metadata[b"unit"] == b"[x]^2"
    assert read.schema.field("mu").metadata[b"meaning"].startswith(b"strong")
    about = read.schema.metadata[b"boundcheck"]
    assert b"scgd/theorem_3_3/corrected" in about
    assert str(tmp_path).encode() not in about
    frame = pytest.importorskip("pandas", reason="pandas is not installed").read_parquet(tmp_path / "a")
    assert len(frame) == 30
    assert frame["mu"].to_list()[::10] == [0.1, 1.0, 20.0]
    assert {label: n for label, n in frame["label"].value_counts().items() if n} == summary.counts
    assert summary.counts["not run"] == 10  # mu = 20 is above L
    assert frame["in_scope"].sum() == summary.counts["in scope"]


def test_at_a_url_it_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="the extra `cluster` is not installed")
    import fsspec

    swept(BOUND, tmp_path / "a")
    swept(BOUND, "memory://sweep-of-a-test")
    assert swept(BOUND, "memory://sweep-of-a-test").kept == 6
    system = fsspec.filesystem("memory")
    names = system.find("/sweep-of-a-test")
    assert {n.rpartition("/")[2]: system.cat_file(n) for n in names} == contents(tmp_path / "a")


def test_what_is_missing_or_damaged_is_found_and_computed_again(tmp_path: Path) -> None:
    swept(BOUND, tmp_path / "a")
    before = contents(tmp_path / "a")
    part, second, third, fourth, *_ = sorted((tmp_path / "a").glob("*.parquet"))
    whole = before[part.name]
    random = np.random.default_rng(0)
    damaged = bytearray(whole)
    for at in random.integers(0, 8 * len(whole), 300):
        damaged = bytearray(whole)
        damaged[at // 8] ^= 1 << int(at % 8)
        assert not is_whole(part.name, bytes(damaged))
    part.write_bytes(bytes(damaged))  # the last one
    with pytest.raises(BadInput, match=r"is damaged; run the sweep again"):
        read_sweep(str(tmp_path / "a"), []).columns(["bound"])
    second.unlink()
    third.write_bytes(third.read_bytes()[:-50])
    fourth.write_bytes(b"")
    summary = swept(BOUND, tmp_path / "a")
    assert (summary.computed, summary.kept) == (4, 2)
    assert contents(tmp_path / "a") == before


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(BadInput, match=r"no part of a sweep \(such as 'thesis\.tex'\)"):
        swept(BOUND, tmp_path)
    swept(BOUND, tmp_path / "a")
    with pytest.raises(BadInput, match="another specification, or of another version of boundcheck"):
        swept(BOUND.replace("n = 2", "n = 3"), tmp_path / "a")


def test_a_row_that_cannot_be_run_says_why(tmp_path: Path) -> None:
    assert sum(swept(COMPARE, tmp_path / "a").counts.values()) == 2
    tuned = """kind = "tune"
statement = "classics/gradient_descent_strongly_convex/as_printed"
problem = { kind = "quadratics", start = [4], clients = [{ A = [[1]] }, { A = [[3]] }] }
method = { kind = "gradient_descent", eta = "largest" }
[grid]
target = ["1/10", "1/100"]
"""
    swept(tuned, tmp_path / "b")
    rows = pq.read_table(tmp_path / "b").to_pylist()
    # as in `boundcheck tune`: (1/3)^k <= 1/10 from k = 3 on, and near eta = 1/2 one step is enough
    assert (rows[0]["promised_rounds"], rows[0]["needed_rounds"], rows[0]["best_rounds"]) == (3, 2, 1)
    assert rows[0]["ratio"] == 3
    assert rows[0]["recommended_step"] == pytest.approx(1 / 3)


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, out = tmp_path / "sweep.toml", tmp_path / "out"
    spec.write_text(BOUND)
    assert main(["sweep", str(spec), "-o", str(out), "--workers", "1"]) == 0
    assert "30 rows; 6 chunks computed." in capsys.readouterr().out
    assert main(["plot", str(out), "--at", "K=1000"]) == 0
    assert capsys.readouterr().out.startswith(f"drawn: {out}.svg, 15 rows: ")
    svg = (tmp_path / "out.svg").read_text()
    assert svg.startswith("<svg")
    assert "var(--series-metric,#1d67a8)" in svg  # the page's colour, or its own where it stands alone
    assert "prefers-color-scheme:dark" in svg
    assert "out of scope" in svg
    assert main(["plot", str(out), "--at", "K=1000", "-o", str(tmp_path / "p.pdf")]) == 0
    assert (tmp_path / "p.pdf").read_bytes().startswith(b"%PDF")
    assert main(["plot", str(out), "--at", "K=1000", "--value", "bound", "--lines", "--x", "eta"]) == 0
    assert main(["plot", str(out), "--value", "bound", "--breaks", "1,4", "-o", str(tmp_path / "p.svg")]) == 0
    assert ">K = 10<" in (tmp_path / "p.svg").read_text().replace(" </", "</")  # a panel for each level of K
    spec.write_text(BOUND.replace("constants.mu", "constant.mu"))
    assert main(["sweep", str(spec), "-o", str(tmp_path / "no")]) == 2
    assert f"{spec}:6: the key 'grid.constant' is unknown" in capsys.readouterr().err


BAD_OPTIONS = [
    (["--value", "colour"], "the value to draw 'colour' is unknown"),
    (["--value", "reason"], "the value to draw 'reason' is unknown"),
    (["--x", "sigma"], "the axis 'sigma' is unknown"),
    (["--at", "K"], "is not of the form NAME=VALUE"),
    (["--at", "K=3"], "no row of the sweep has the values"),
    (["--at", "Q=3"], "the column 'Q' is unknown"),
    (["--value", "bound", "--breaks", "2,1"], "not in increasing order"),
    (["--breaks", "2"], "--breaks is for numbers"),
    (["-o", "x.txt"], "--out 'x.txt' has no known ending; .svg, .png, .pdf are allowed."),
    (["--lines"], "fix K with --at K=VALUE"),
]


def test_bad_input_of_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swept(BOUND, tmp_path / "out")
    for options, text in BAD_OPTIONS:
        assert main(["plot", str(tmp_path / "out"), *options]) == 2
        assert text in capsys.readouterr().err
    assert not (tmp_path / "out.svg").exists()
    assert main(["plot", str(tmp_path)]) == 2


def test_a_latin_hypercube_is_drawn_as_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, _, _ = BOUND.partition("[grid]")
    text = head + '[latin]\npoints = 60\nconstants.mu = "log:1e-2:10"\nconstants.eta = "log:1e-6:1e-1"\n'
    swept(text + "[grid]\nat.K = [10, 1000]\n", tmp_path / "a")
    assert main(["plot", str(tmp_path / "a"), "--at", "eta=1e-6:1e-2"]) == 0
    assert "rows: " in capsys.readouterr().out
    read = pq.read_table(tmp_path / "a", columns=["mu", "eta", "K"]).to_pandas()
    assert np.array_equal(read.mu[:60], read.mu[60:])  # the same points within each level of the grid
    assert read.mu.nunique() == 60
