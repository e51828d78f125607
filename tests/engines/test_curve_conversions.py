"""Curves to data frames and xarray and back, where these libraries are installed; frames that need none of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BadInput, MissingExtra
from tests.hidden_packages import hide

ONE = Curve.from_samples([0, 1, 5], [1, "1/3", "inf"], "gap")
SEEDS = Curve.from_samples([0, 2], [[1, 0.5], [1, 0.25], [1, 0.125]], "dist2", seeds=["a", "b", "c"])
MEANS = Curve.from_samples([0, 2], [1, 0.5], "gap", standard_error=[0, 0.1])
CURVES = {"one": ONE, "seeds": SEEDS, "means": MEANS}


def missing(*names: str) -> pytest.MarkDecorator:
    lacking = [name for name in names if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(lacking), reason=f"not installed: {', '.join(lacking)}")


def check_equal(found: Curve, expected: Curve) -> None:
    assert found.rounds.tolist() == expected.rounds.tolist()
    assert (found.arithmetic, found.expectation) == (expected.arithmetic, expected.expectation)
    for part in ("values", "low", "high", "samples"):
        mine, other = getattr(found, part), getattr(expected, part)
        assert {name: row.tolist() for name, row in mine.items()} == {name: row.tolist() for name, row in other.items()}
    assert found.info["seeds"] == expected.info["seeds"]


@pytest.mark.parametrize("which", CURVES)
@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=missing(name)) for name in ("pandas", "polars", "pyarrow")]
)
def test_data_frames_there_and_back(library: str, which: str) -> None:
    frame = CURVES[which].to_frame(library)
    assert type(frame).__module__.partition(".")[0] in (library, "builtins")
    check_equal(Curve.from_frame(frame), CURVES[which])


@pytest.mark.parametrize("which", CURVES)
@missing("xarray", "pandas")
def test_xarray_there_and_back(which: str) -> None:
    data = CURVES[which].to_xarray()
    if which == "means":  # a Dataset has no standard errors of its own; they are a variable
        assert set(data.data_vars) == {"gap", "gap_stderr"}
    check_equal(Curve.from_xarray(data), CURVES[which])


@missing("xarray", "pandas")
def test_xarray_with_other_dimensions() -> None:
    xarray = importlib.import_module("xarray")
    table = xarray.DataArray([[1, 0.5], [1, 0.25]], dims=("who", "t"), coords={"t": [0, 3]}, name="gap")
    found = Curve.from_xarray(table, round="t", seed="who")
    assert (found.rounds.tolist(), found.samples["gap"].tolist()) == ([0, 3], [[1, 0.5], [1, 0.25]])
    others: list[tuple[dict[str, Any], str]] = [
        ({}, r"no column of rounds \(it has the columns 't', 'who', 'gap'\)"),
        ({"round": "x"}, r"no column 'x' \(round\); it has the columns 't', 'who', 'gap'"),
        ({"round": "t"}, "gives round 0 again, which row 1 has"),
    ]
    for roles, sentence in others:
        with pytest.raises(BadInput, match=sentence):
            Curve.from_xarray(table, **roles)
    with pytest.raises(BadInput, match="an xarray Dataset or DataArray is allowed"):
        Curve.from_xarray(3)


class OnlyArrow:
    """A frame that has no columns to look at, only the Arrow protocol."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


@missing("pyarrow")
def test_frames_through_arrow_and_parquet(tmp_path: Path) -> None:
    table = SEEDS.to_frame("pyarrow")
    check_equal(Curve.from_frame(OnlyArrow(table)), SEEDS)
    write = importlib.import_module("pyarrow.parquet").write_table
    write(table, tmp_path / "runs.parquet")
    check_equal(Curve.from_file(tmp_path / "runs.parquet"), SEEDS)
    arrow = importlib.import_module("pyarrow")
    for last, path in ((0.5, tmp_path / "empty.parquet"), (float("nan"), tmp_path / "nan.parquet")):
        write(arrow.table({"round": [0, 1, 2], "gap": [1.0, None, last]}), path)
    assert Curve.from_file(tmp_path / "empty.parquet", "gap").rounds.tolist() == [0, 2]
    with pytest.raises(BadInput, match="row 3: the value is nan"):
        Curve.from_file(tmp_path / "nan.parquet", "gap")
    (tmp_path / "bad.parquet").write_text("no parquet")
    with pytest.raises(BadInput, match=r"cannot be read as .parquet: .* this is not a parquet file\.$"):
        Curve.from_file(tmp_path / "bad.parquet")


def test_libraries_that_are_not_installed_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "pyarrow", "pandas", "polars", "xarray")
    (tmp_path / "runs.parquet").write_bytes(b"PAR1")
    (tmp_path / "runs.csv").write_text("round,gap\n0,1\n")
    with pytest.raises(MissingExtra, match=r"reading the curve .*runs.csv needs pandas, which is not installed"):
        Curve.from_file(tmp_path / "runs.csv")
    with pytest.raises(MissingExtra, match=r'pip install "boundcheck\[data\]"'):
        Curve.from_file(tmp_path / "runs.parquet")
    with pytest.raises(MissingExtra, match=r'pip install "boundcheck\[data\]"'):
        Curve.from_frame(OnlyArrow(None))
    with pytest.raises(MissingExtra, match="pip install polars"):
        ONE.to_frame("polars")
    with pytest.raises(MissingExtra, match="pip install xarray"):
        ONE.to_xarray()
    with pytest.raises(BadInput, match="library = excel"):
        ONE.to_frame("excel")
    with pytest.raises(BadInput, match="no data frame and no mapping"):
        Curve.from_frame(3)


@missing("pandas")
def test_an_enclosure_is_not_read_as_a_metric() -> None:
    ball = Curve(
        np.array([0, 1]),
        {"gap": np.array([1.0, 0.5])},
        Arithmetic.BALL,
        low={"gap": np.array([1.0, 0.4])},
        high={"gap": np.array([1.0, 0.6])},
    )
    table = ball.to_frame("pandas")
    assert list(table) == ["round", "gap", "gap_low", "gap_high"]
    assert list(Curve.from_frame(table).values) == ["gap"]
    check_equal(Curve.from_frame({name: list(table[name]) for name in ("round", "gap")}), Curve.from_frame(table))


@pytest.mark.parametrize("which", CURVES)
def test_a_plot_draws_each_metric_and_its_band(which: str) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    ax = figure.Figure().subplots()
    assert CURVES[which].plot(ax) is ax
    (line,) = ax.lines
    (name,) = CURVES[which].values
    assert line.get_xdata().tolist() == CURVES[which].rounds.tolist()
    assert line.get_ydata().tolist() == CURVES[which].values[name].tolist()
    assert len(ax.collections) == (which != "one")
    assert ax.get_yscale() == "log"
    with pytest.raises(BadInput, match="not the metric 'loss'"):
        CURVES[which].plot(ax, "loss")
