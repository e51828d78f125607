"""What the six answers offer alike: a short repr, a card, a table, a picture, a file of it, citation and formula."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundcheck as bc
from boundcheck.errors import BadInput, MissingExtra
from boundcheck.evidence.check import Results
from boundcheck.verdict import Verdict

THEOREM = "scgd/theorem_3_3"
PROBLEM = {"kind": "scgd_appendix_c"}
METHOD = {"kind": "scgd", "E": 1, "eta": "1/10000"}
POINT = {"mu": 1, "L": 1, "n": 2, "E": 1, "sigma2": 0, "dist2_0": 3, "eta": "3/200"}
DESCENT = "classics/gradient_descent_convex"


def _run() -> Any:
    return bc.run(METHOD, PROBLEM, rounds=6)


# name -> how it is made, its columns of symbols, its columns of booleans
ANSWERS: dict[str, tuple[Callable[[], Any], set[str], set[str]]] = {
    "check": (lambda: bc.check(THEOREM, PROBLEM, METHOD, at={"K": [0, 1, 5]}), {"mu", "L", "eta"}, {"met"}),
    "compare": (lambda: bc.compare(bc.statement(THEOREM), _run()), {"K", "mu", "eta"}, {"within"}),
    "run": (_run, {"round"}, set()),
    "evaluate": (
        lambda: bc.statement(THEOREM).evaluate(**(POINT | {"eta": np.array([[0.01], [0.015]])}), K=[0, 1, 2]),
        {"K", "eta"},
        {"in_scope", "vacuous"},
    ),
    "falsify": (
        lambda: bc.falsify(DESCENT, budget=1e9, max_instances=1), {"k", "L", "eta"}, {"within", "counterexample"}
    ),
    "worst_case": (
        lambda: bc.worst_case(DESCENT, L=1, eta=1, dist2_0=1, k=2), {"L", "eta", "k"}, {"in_scope", "certified"}
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    yield
    pytest.importorskip("matplotlib.pyplot").close("all")


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_every_answer_offers(kind: str, tmp_path: Path) -> None:
    make, symbols, booleans = ANSWERS[kind]
    answer = make()
    assert 10 < len(repr(answer)) < 400
    table = answer.to_frame("pandas")
    assert symbols | booleans <= set(table.columns)
    assert all(table[name].dtype.kind in "iuf" for name in symbols)
    assert all(table[name].dtype == bool for name in booleans)
    assert json.loads(json.dumps(answer.to_dict(), allow_nan=False))["schema"] == 1
    ax = answer.plot()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert len(ax.get_legend().get_texts()) == len(ax.get_lines()) > 0
    assert answer.save(tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    assert b"<svg" in answer.save(str(tmp_path / "x.svg")).read_bytes()
    assert answer.bibtex().startswith("@")
    assert answer.latex()
    if kind != "run":
        assert answer.latex() in answer._repr_markdown_()
        assert answer._repr_html_().count("</math>") == 1
    with pytest.raises(BadInput, match=r"must end in one of .pdf, .svg, .png"):
        answer.save(tmp_path / "x.doc")


def test_tables_and_pictures_of_other_answers() -> None:
    several = Results(r for eta in ("1/10000", "1/5000") for r in bc.check(THEOREM, PROBLEM, METHOD | {"eta": eta}))
    assert list(several.to_frame()["eta"]) == [1e-4, 2e-4]
    assert several.plot().get_ylabel() == "metric / bound"
    assert several.latex() == bc.statement(THEOREM).latex()
    point = bc.statement(THEOREM).evaluate(**POINT, K=1)
    row = {**POINT, "eta": 0.015, "K": 1, "bound": 2.97, "in_scope": True, "vacuous": False}
    assert dict(point.to_frame("pandas").iloc[0]) == row
    swept = bc.statement(THEOREM).evaluate(**POINT, K=[0, 1])
    again = type(swept).from_dict(json.loads(json.dumps(swept.to_dict())))
    assert again.to_frame("pandas").equals(swept.to_frame("pandas"))
    assert again.latex() == swept.latex()


def test_a_comparison_is_a_verdict() -> None:
    found = bc.compare(THEOREM, _run())
    assert found == Verdict.from_dict(found.to_dict()) == pickle.loads(pickle.dumps(found))
    assert found != replace(found, points=0)
    assert list(found.to_frame()["K"]) == [0, 1, 2]
    measured = bc.Curve.from_samples([0, 1], [1, 0.125], "gap", deterministic=True)
    outside = bc.compare(f"{DESCENT}/sharp", measured, {"L": 1, "eta": 1, "dist2_0": 2})
    assert list(outside.to_frame()["metric_high"]) == list(outside.compared.metric_high) != []


@pytest.mark.parametrize("name", ["pandas", "matplotlib"])
def test_a_missing_package_is_one_sentence(name: str, tmp_path: Path) -> None:
    hidden = ("pandas", "polars", "pyarrow") if name == "pandas" else ("matplotlib", "matplotlib.pyplot")
    found = bc.compare(THEOREM, _run())
    with pytest.MonkeyPatch.context() as patch:
        for module in hidden:
            patch.setitem(sys.modules, module, None)
        for ask in [found.to_frame] if name == "pandas" else [found.plot, lambda: found.save(tmp_path / "x.pdf")]:
            with pytest.raises(MissingExtra, match=rf"^[^.]* needs {name}, which is not installed; install it with: "):
                ask()
