"""Limit studies: where methods end on equation (36) of FedShuffle, against fractions by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from boundcheck.errors import SpecError, Unsupported
from boundcheck.evidence.limits import Limits, limit_study, load_limits

TABLE = """
[[limits]]
name = "ends"
problem = { kind = "fedshuffle_36" }
methods = [{ kind = "fedavg_rr" }, { kind = "fedshuffle", participation = { kind = "uniform", size = 2 } }]
parameter = "eta_l"
values = ["1/8", "1/2", 3]
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "limits.toml"
    path.write_text(text)
    return path


def test_limits_on_equation_36(tmp_path: Path) -> None:
    (limits,) = load_limits(written(tmp_path, TABLE))
    seen: list[float] = []
    study = limit_study(limits, seen.append)
    fedavg, fedshuffle = study.curves
    assert fedavg.predicted_weights == (Fraction(1, 14), Fraction(4, 14), Fraction(9, 14))
    assert fedavg.predicted_bias == Fraction(5, 588)
    eighth, half, beyond = fedavg.points
    assert eighth.weights == (Fraction(64, 811), Fraction(240, 811), Fraction(507, 811))
    assert eighth.bias == Fraction(53753, 7892652)
    assert eighth.gap is not None
    assert float(eighth.gap) == pytest.approx(0.0069425, rel=1e-4)
    # weights (1, 2(2-eta), 3(3-3eta+eta^2))/(14-11eta+3eta^2) at eta = 1/2: (1, 3, 21/4)/(37/4)
    assert half.weights == (Fraction(4, 37), Fraction(12, 37), Fraction(21, 37))
    assert (beyond.gap, beyond.bias, beyond.weights) == (None, None, None)
    assert "has no stationary distribution" in beyond.why
    assert fedshuffle.predicted_weights == study.data_weights
    assert fedshuffle.predicted_bias == 0
    assert fedshuffle.label == "fedshuffle, participation uniform size 2"
    assert seen[-1] == 1


def test_a_file_without_limits_has_none(tmp_path: Path) -> None:
    assert load_limits(written(tmp_path, "schema = 1\n")) == []


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('parameter = "eta_l"', 'parameter = "eta"', "'eta' is unknown"),
        ('values = ["1/8", "1/2", 3]', "values = [0]", "step sizes above 0 are allowed"),
        ('values = ["1/8", "1/2", 3]', 'values = "log:1:2"', "log:1:2"),
        ('kind = "fedavg_rr"', 'kind = "fedavg_r"', "did you mean 'fedavg_rr'"),
        ('name = "ends"', "", "name"),
        ('name = "ends"', 'name = "ends"\nextra = 1', "extra"),
        ('{ kind = "fedshuffle_36" }', '{ kind = "huber" }', "is no quadratic with a minimiser"),
    ],
)
def test_bad_tables_are_told_with_their_line(tmp_path: Path, old: str, new: str, text: str) -> None:
    assert old in TABLE
    with pytest.raises(SpecError, match=text):
        load_limits(written(tmp_path, TABLE.replace(old, new)))
    with pytest.raises(SpecError, match="must be"):
        load_limits(written(tmp_path, 'limits = "all"\n'))


def test_a_problem_without_limits() -> None:
    flat = {"kind": "quadratics", "clients": [{"A": [[1, 0], [0, 0]]}]}
    limits = Limits(name="flat", problem=flat, methods=[{"kind": "fedavg_rr"}], parameter="eta_l", values=["1/2"])
    with pytest.raises(Unsupported, match="has no single minimiser"):
        limit_study(limits)
