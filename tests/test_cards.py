# pyright: reportPrivateUsage=false
"""What notebooks show: cards of statements, evaluations, curves, claims, derivations and searches, and their data."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.core.cards import Card, frame, small_plot
from boundcheck.core.palette import PALETTE
from boundcheck.errors import BadInput
from boundcheck.evidence.claim import RateClaim, run_claim
from boundcheck.falsify.search import FalsifyResult
from boundcheck.verdict import Outcome

THEOREM = "scgd/theorem_3_3"
CLAIM = {"kind": "scgd_appendix_c"}
COMPARED = ("bound", "metric")  # the lines of a comparison


def by_json(data: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(data))


def parsed(html: str) -> ET.Element:
    """The card as a tree: every element is closed and every text is escaped."""
    return ET.fromstring(html)


def curves(card: ET.Element) -> list[str]:
    """The paths of the lines of a card's small plot."""
    return [path.get("d", "") for path in card.findall(".//{*}path[@class='line']")]


def test_a_card_escapes_and_says_what_it_leaves_out() -> None:
    card = Card("<b> & |", [("a_b", "x*y")], columns={"n": list(range(20)), "<": ["|"] * 20}, lines={"s": [(0, 1)]})
    texts = "".join(parsed(card.html()).itertext())
    assert "<b> & |" in texts
    assert "8 more rows" in texts
    assert len(parsed(card.html()).findall(".//tr")) == 13
    markdown = card.markdown()
    assert r"a\_b: x\*y" in markdown
    assert "| 11 | \\| |" in markdown
    assert "| 12 |" not in markdown


def test_a_small_plot_is_logarithmic_only_above_zero() -> None:
    rising = small_plot({"m": [(0, 1.0), (1, 10.0), (2, 100.0)]})
    (line,) = curves(ET.fromstring(rising))
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", line)]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2])
    assert "logarithmic" not in small_plot({"m": [(0, 0.0), (1, 1.0)]})
    assert small_plot({"m": [(0, float("nan"))]}) == ""


def test_a_statement() -> None:
    s = bc.statement(THEOREM)
    texts = "".join(parsed(s._repr_html_()).itertext())
    for part in ("condition 'step size'", "as_printed_main (false)", "σ", s.title):
        assert part in texts
    assert s.latex() in s._repr_markdown_()
    assert list(s.to_frame()["symbol"]) == [y.name for y in s.symbols]
    assert bc.Statement.from_dict(by_json(s.to_dict())) == s
    with pytest.raises(BadInput, match="nothing to draw"):
        s.plot()


def test_an_evaluation_is_a_table() -> None:
    values = {"mu": 1, "L": 1, "n": 2, "E": 1, "sigma2": 0, "dist2_0": 3, "eta": "3/200"}  # factor 1 - 0.03/3 = 0.99
    many = bc.statement(THEOREM).evaluate(**values, K=[0, 1, 2])
    assert list(many.to_frame()["bound"]) == pytest.approx([3, 2.97, 2.9403])
    cells = [c.text for c in parsed(many._repr_html_()).findall(".//td")]
    assert cells[:3] == ["3", "in scope", "yes"]
    (line,) = many.plot().get_lines()
    assert list(line.get_ydata()) == pytest.approx([3, 2.97, 2.9403])
    one = bc.statement(THEOREM).evaluate(**values, K=1)
    assert "exactly: 297/100" in one._repr_markdown_()


def test_a_curve_both_ways() -> None:
    exact = bc.run({"kind": "scgd", "E": 1, "eta": "1/100"}, CLAIM, rounds=4, arithmetic="rational")
    sampled = bc.Curve.from_samples([0, 1], [[1, 0.5], [1, float("inf")]], "gap")
    for curve in (exact, sampled):
        again = bc.Curve.from_dict(by_json(curve.to_dict()))
        assert again.to_dict() == curve.to_dict()
        assert again.exact == curve.exact
        assert curves(parsed(curve._repr_html_()))
        assert "Curve" in curve._repr_markdown_()
    with pytest.raises(BadInput, match="no curve"):
        bc.Curve.from_dict({"rounds": [0]})


def test_a_comparison_shows_metric_and_bound() -> None:
    claim = bc.Claim(THEOREM, CLAIM, {"kind": "scgd", "E": 1, "eta": "1/10000"}, at={"K": [0, 1, 5]})
    result = run_claim(claim)
    columns = result.to_frame()
    assert list(columns["bound"]) == list(result.bound)
    assert len(result.plot().get_lines()) == 2
    assert result.verdict.outcome.value in result._repr_markdown_()
    assert len(curves(parsed(result._repr_html_()))) == 2
    assert [line.get_color() for line in result.plot().get_lines()] == [PALETTE[f"series-{n}"][0] for n in COMPARED]
    assert all(PALETTE[f"series-{name}"][0] in result._repr_html_() for name in COMPARED)
    assert "**" in result.verdict._repr_markdown_()


@pytest.mark.parametrize("kind", ["plain", "everything", "own statement and curve", "no step size"])
def test_the_result_of_a_claim_both_ways(kind: str) -> None:
    if kind == "everything":
        rate = RateClaim("dist2", Fraction(-3), Fraction(1, 3))
        claim = bc.Claim(
            THEOREM, CLAIM, {"kind": "scgd", "E": 1, "eta": Fraction(1, 10000)}, name="a", at={"K": [1, 5, 9, 20]},
            expect=Outcome.HOLDS, tightness=(None, 2.5), rate=rate, arithmetic="rational",
        )  # fmt: skip
    elif kind == "own statement and curve":
        curve = bc.Curve.from_samples([0, 1], [[1, 0.5], [1, float("inf")]], "gap")
        known = {"L": 1, "eta": "1/2", "dist2_0": 2}
        claim = bc.Claim(bc.statement("classics/gradient_descent_convex/sharp"), curve=curve, constants=known)
    elif kind == "no step size":
        claim = bc.Claim(THEOREM, CLAIM, {"kind": "scgd", "E": 1, "eta": "largest"}, at={"K": [1]})
    else:
        claim = bc.Claim(THEOREM, CLAIM, {"kind": "scgd", "E": 1, "eta": "1/10000"}, at={"K": [0, 1, 5]})
    result = run_claim(claim)
    again = bc.ClaimResult.from_dict(by_json(result.to_dict()))
    assert again.to_dict() == result.to_dict()
    for name in ("verdict", "method", "failures", "index", "rounds", "bound", "metric_high", "readings", "rate"):
        assert getattr(again, name) == getattr(result, name), name
    if kind != "own statement and curve":  # a Curve has no equality
        assert again.claim == result.claim
    with pytest.raises(BadInput, match="no result of a claim"):
        bc.ClaimResult.from_dict({"claim": {}})


def test_a_derivation_is_an_outline() -> None:
    found = bc.derivation("scgd/lemma_3_1")
    columns = found.to_frame()
    assert list(columns["step"]) == [s.name for s in found.steps]
    assert "more rows" in found._repr_markdown_()
    assert parsed(found._repr_html_()).findall(".//td")


def test_a_search_without_a_find() -> None:
    with pytest.raises(BadInput, match="no duration"):
        bc.falsify(THEOREM, budget="soon")
    nothing = bc.falsify(THEOREM, budget="1h", max_instances=1)
    assert nothing.budget == 3600
    assert "proves nothing" in nothing._repr_markdown_()
    assert FalsifyResult.from_dict(by_json(nothing.to_dict())) == nothing


@pytest.mark.slow  # 15 s: the search
def test_a_counterexample_is_drawn() -> None:
    result = bc.falsify("scgd/theorem_3_3/as_printed_main", max_instances=100_000)
    assert result.witness is not None
    assert FalsifyResult.from_dict(by_json(result.to_dict())) == result
    assert "a counterexample" in result._repr_markdown_()
    (bound, metric) = result.plot().get_lines()
    assert metric.get_ydata()[0] > bound.get_ydata()[0]


def test_a_frame_of_an_unknown_library_is_refused() -> None:
    with pytest.raises(BadInput, match="one of pandas, polars, pyarrow"):
        frame({"a": [1]}, "excel")


def test_dir_lists_public_names_only() -> None:
    assert dir(bc) == sorted(bc.__all__)
