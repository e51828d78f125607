"""Attempts to take from another record what it does not say: other rounds, other quantities, another run."""

from __future__ import annotations

from typing import Any

import pytest
from hand_records import Bench, record, said, shipped

from boundcheck.proof.discovery import folder
from boundcheck.proof.find.record import record_file
from boundcheck.verify import boundcheck_verify as v

Row = dict[str, Any]
LEMMA, THEOREM = "scgd/lemma_3_1/corrected", "scgd/theorem_3_3/corrected"
RATE, NOISE = "(1 - E*eta*mu*n/3)", "4*E**3*L**2*eta**3*n**3*sigma2/mu"
RUNS: Row = {"names": {"run": "function", "dist2": "function"}, "about": THEOREM}
ONE: Row = {"about": LEMMA}  # another reading of the lemma itself


def cites(claim: str, metric: str, images: Row, about: Row = RUNS, facts: Any = (), **by: Any) -> tuple[str, list[str]]:
    """What the verifier says of a line that cites a record, all of whose hypotheses are granted, and what it rests on."""
    bench = Bench("[k] index: k >= 0", *facts, **about)
    one = bench.record
    by = {"rule": "cite", "record": LEMMA, "metric": metric, "images": images, "signs": ["domain mu"], **by}
    cited = v.Record(record_file(folder(), by["record"]))
    place = one.place_of(cited, by) | one.single_means(cited, by)
    names: list[str] = []
    for name, text in cited.statement["hypotheses"]:
        wanted = cited.language.claim(text).put(place, one.whole)
        granted = f"{v.written(wanted.gap)} {wanted.op} 0"
        if not bench.says(granted, {"rule": "assumed", "source": "granted"}, name=f"granted {name}"):
            names.append(f"granted {name}")
    found = bench.says(claim, {"hypotheses": names, **by})
    return found, one.rests


def bound(metric: str, start: str, noise: str = NOISE) -> str:
    return f"{metric} <= ({start})*{RATE} + {noise}"


def of_means(start: str, noise: str = "") -> Row:
    """The start of the lemma averaged, and its noise, if any is given."""
    rows = [[RATE, "dist2_0", start], *([[NOISE.replace("*sigma2", ""), "sigma2", noise]] if noise else [])]
    return {"averaged": ["dist2_0", "sigma2"][: len(rows)], "rest": "0" if noise else NOISE, "means": rows}


@pytest.mark.parametrize(
    ("metric", "start"), [("y", "dist2_0"), ("run(k, n)", "run(k, 0)"), ("dist2(k + 1)", "dist2(k)"), ("z", "y")]
)
@pytest.mark.parametrize("averaged", [False, True])
def test_what_is_said_is_taken_and_what_it_is_said_of_is_named(metric: str, start: str, averaged: bool) -> None:
    images, by = ({}, of_means(start)) if averaged else ({"dist2_0": start}, {})
    found, rests = cites(bound(metric, start), metric, images, **by)
    assert found == ""
    said_of = f"that {metric} is what {LEMMA} bounds"
    if averaged:
        assert {said_of, f"that {start} is the mean of dist2_0 of {LEMMA}"} <= set(rests)
    else:
        assert said_of + (f", with {start} for dist2_0" if start != "dist2_0" else "") in rests
    for wrong in (
        bound(metric, start, f"99/100*{NOISE}"),
        bound(f"2*{metric}", start),
        bound(metric, f"99/100*{start}"),
    ):
        assert "the claim is not that of the cited record" in cites(wrong, metric, images, **by)[0]


NO_VALUE, TWICE = "is no value of a run", "takes it for"
CONSTANT = "is a constant of this statement too, and stands for itself"


@pytest.mark.parametrize(
    ("metric", "images", "why"),
    [
        ("y", {"dist2_0": "0"}, NO_VALUE),
        ("y", {"dist2_0": "-dist2_0"}, NO_VALUE),
        ("y", {"dist2_0": "dist2_0/2"}, NO_VALUE),
        ("y", {"dist2_0": "mu/L"}, NO_VALUE),
        ("y", {"dist2_0": "mu"}, NO_VALUE),
        ("y", {"dist2_0": "dist2(k) + dist2(k + 1)"}, NO_VALUE),
        ("y", {"dist2_0": "sum(k, K, dist2(k))"}, NO_VALUE),
        ("y", {"dist2_0": "sigma2"}, NO_VALUE),
        ("y", {"sigma2": "0"}, CONSTANT),
        ("y", {"sigma2": "sigma2/2"}, CONSTANT),
        ("y", {"eta": "2*eta"}, CONSTANT),
        ("y", {"n": "n/2"}, f"{CONSTANT}|is not an integer"),
        ("y", {"E": "y"}, f"{CONSTANT}|is not an integer"),
        ("dist2(k)", {"dist2_0": "dist2(k)"}, NO_VALUE),  # after 0 rounds
        ("sigma2", {}, NO_VALUE),
        ("dist2_0", {}, NO_VALUE),
        ("y", {"gap_0": "y"}, "a symbol with an image is none of the cited record"),
    ],
)
@pytest.mark.parametrize("averaged", [False, True])
def test_only_the_same_run_is_bounded(metric: str, images: Row, why: str, averaged: bool) -> None:
    """The constants are those of the statement, and a value at the start is one value of the run."""
    start, noise = images.get("dist2_0", "dist2_0"), images.get("sigma2", "sigma2")
    if averaged and not set(images) <= {"dist2_0", "sigma2"}:
        return
    by = of_means(start, noise if "sigma2" in images else "") if averaged else {}
    found, _ = cites(
        bound(metric, start, NOISE.replace("sigma2", f"({noise})")), metric, {} if averaged else images, **by
    )
    assert any(part in found for part in why.split("|"))
