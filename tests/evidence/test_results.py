"""What the six answers offer alike: a short repr, a card, a table, a picture, a file of it, citation and formula."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.core import cards
from boundcheck.errors import BadInput, MissingExtra
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
    "compare": (lambda: bc.compare(bc.statement(THEOREM), _run()), {"K"}, {"within"}),
    "run": (_run, {"round"}, set()),
    "evaluate": (
        lambda: bc.statement(THEOREM).evaluate(**(POINT | {"L": [[1], ["3/2"]]}), K=[0, 1, 2]),
        {"K", "L"},
        {"in_scope", "vacuous"},
    ),
    "falsify": (lambda: bc.falsify(DESCENT, budget=1e9, max_instances=1), set(), {"counterexample"}),
    "worst_case": (
        lambda: bc.worst_case(DESCENT, L=1, eta="1", dist2_0=1, K=2),
        {"L", "eta", "K"},
        {"in_scope", "certified"},
    ),
}


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
