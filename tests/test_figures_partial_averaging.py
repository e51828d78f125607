"""The figures of the partial averaging paper at a small size: what they say, against closed forms and fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest


def test_figure_1(made: Any) -> None:
    """Two workers, noise of variance 1 in each of three blocks: half of it for each step since the last average."""
    found = made("partial_averaging_figure_1")["discrepancy"]
    assert found["periodic"][:3] == [[0.5] * 3, [1.0] * 3, [0.0] * 3]
    for k, row in enumerate(found["partial"]):
        assert [block for block, value in enumerate(row) if value == 0] == [k % 3]


def test_figure_2(made: Any) -> None:
    found = made("partial_averaging_figure_2", "--iterations", "48", "--workers", "4")
    quadratics, digits = found["shapes"]["quadratics"], found["shapes"]["digits"]
    # eta^2 sigma^2 (m-1)/m (tau-1)/2 with eta = 1/40, sigma^2 = 8, m = 4, tau = 8; curvature makes it smaller
    assert found["pure_noise"] == pytest.approx(8 / 1600 * 3 / 4 * 7 / 2)
    assert quadratics["partial"]["peak"] < found["pure_noise"]
    assert quadratics["partial"]["least"] > 0.9 * quadratics["partial"]["peak"]
    for by_kind in (quadratics, digits):
        assert by_kind["periodic"]["least"] < 1e-9
        assert by_kind["periodic"]["peak"] > 1.2 * by_kind["partial"]["peak"]
        assert by_kind["periodic"]["mean"] == pytest.approx(by_kind["partial"]["mean"], rel=0.2)
    assert [f["word"] for f in found["findings"]] == ["reproduced", "reproduced"]
    assert "ResNet" not in found["caption"]


def test_the_expected_curve_by_the_scalar_recursion(figures: Any) -> None:
    """Each coordinate j of a deviation: v <- (1 - eta h_j)^2 v + eta^2 (m-1)/m, set to 0 where it is averaged."""
    module, m, tau, eta = figures["partial_averaging_figure_2"], 3, 8, 1 / 40
    for kind in ("partial", "periodic"):
        v, own = np.zeros(8), [0.0]
        for r in range(20):
            v = (1 - eta * np.arange(1, 9) / 4) ** 2 * v + eta**2 * (m - 1) / m
            if kind == "partial":
                v[r % tau] = 0
            elif r % tau == tau - 1:
                v[:] = 0
            own.append(v.sum())
        assert module.expected(kind, 20, m)[0] == pytest.approx(own, rel=1e-9, abs=1e-15)


def test_figure_3(made: Any) -> None:
    found = made("partial_averaging_figure_3", "--rounds", "6")
    assert found["rounds"] == 6
    for kind in ("periodic", "partial"):
        # 6 rounds from a gap of 1.56; the loss is convex
        assert 0 < found["ends"][kind] < 1
        assert found["least_over_global"][kind] > 1
    assert found["least_over_global"]["partial"] < found["least_over_global"]["periodic"]
    assert {f["key"]: f["word"] for f in found["findings"]}["together"] == "reproduced"
    assert any("convex" in sentence for sentence in found["notes"])


def test_table(made: Any) -> None:
    rows = made("partial_averaging_table")["exact"]
    assert len(rows) == 6
    for cells in rows.values():
        for what in ("mean", "peak"):
            assert cells[f"{what}, engine"] == cells[f"{what}, formula"]
    peaks = [float(Fraction(cells["peak, engine"])) for cells in rows.values()]
    assert peaks == [1.5, 3, 4.5, 9, 27.78125, 55.5625]
    assert {cells["Lemma 2 on the mean"] for cells in rows.values()} == {"6", "12", "56"}
