"""The figures of the FedShuffle paper at a tiny size: what they say, against fractions by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest


def test_figure_1(made: Any) -> None:
    found = made("fedshuffle_figure_1", "--seeds", "200", "--rounds", "40")
    left, _, sums, right = ({k: Fraction(v) for k, v in floors.items()} for floors in found["floors"])
    # with samples drawn with replacement, K equal steps of size s leave eta^2 noise/(1 - (1-eta)^2) whatever K is
    assert left["FedAvgMin"] == left["FedAvgMean"]
    assert float(left["FedShuffle"]) == pytest.approx(2.3768e-5, rel=1e-4)
    assert sums["FedShuffle, Sum-One"] > sums["FedShuffle"]
    assert right["by weight (IS)"] > right["uniform"]
    assert found["equal_step"]["uniform"]["limit"] == pytest.approx(0.00136, abs=5e-6)
    assert found["equal_step"]["weight"]["limit"] == pytest.approx(0.00260, abs=5e-6)
    words = {f["key"]: f["word"] for f in found["findings"]}
    assert words["importance"] == "undecided"  # ahead early, behind in the limit
    assert words["sum_one"] == words["noise"] == "reproduced"
    # the bound of one uniform client out of (8, 1, 1) never falls below the gap of the start
    assert found["bounds"]["4: uniform"] == "VACUOUS"
    assert set(found["bounds"].values()) <= {"HOLDS", "VACUOUS"}
    assert found["largest_z"] < 6  # over hundreds of rounds of a skewed metric


def test_figure_4(made: Any) -> None:
    found = made("fedshuffle_figure_4", "--seeds", "20", "--rounds", "20")
    assert found["small_step_gap"] == {"later": "1/192", "literal": "1/54", "best_rest": "1/60"}
    assert found["weights"] == ["1/6", "2/3", "3/4"]
    floors = {name: Fraction(v) for name, v in found["floors"].items()}
    assert floors["FedShuffleGen, reweighted"] < floors["FedShuffle, steps missed"]
    assert [f["word"] for f in found["findings"]] == ["reproduced"] * 3


def test_tables(made: Any) -> None:
    found = made("fedshuffle_table_1")
    assert list(found["rows"]["FedAvg"])[:7] == ["HD", "CS", "RR", "NL", "VR", "GM", "SS"]  # the paper's columns
    has = {name: [key for key, cell in cells.items() if cell == "yes"] for name, cells in found["rows"].items()}
    assert has["FedAvgRR"] == ["HD", "RR", "SS"]
    assert has["FedNova"] == ["HD", "CS", "NL", "SS"]
    assert has["FedShuffle"] == ["HD", "CS", "RR", "NL", "SS"]
    assert has["FedShuffle, Sum-One"] == ["HD", "RR", "NL", "SS"]
    assert has["FedShuffleMVR"] == ["HD", "CS", "RR", "NL", "VR", "GM", "SS"]
    assert has["FedLin"] == ["HD", "NL", "VR"]
    assert has["Mime"] == ["HD", "CS", "VR", "SS"]
    assert (has["FedRR"], has["LocalRR"]) == (["HD", "RR", "NL"], ["HD", "RR"])
    assert (
        Fraction(found["exact"]["FedLin"]["gap of the mean"])
        == 0
        == Fraction(found["exact"]["Mime"]["gap of the mean"])
    )
    assert Fraction(found["exact"]["FedShuffle"]["gap of the mean"]) == Fraction(2521, 134589612)
    assert Fraction(found["exact"]["FedAvgMin"]["gap of the mean"]) == 0
    four = json.loads((made.shared / "fedshuffle_table_4.json").read_text())
    assert four["rows"]["FedAvgMin"]["here"] == "steps"
    assert four["rows"]["FedNova"]["here "] == "with"
