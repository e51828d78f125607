"""Whether prose is set as MathML where it holds a formula, and left alone where it does not."""

from __future__ import annotations

import re

import pytest

from boundcheck.report.mathtext import math


def shown(text: str, symbols: tuple[tuple[str, str], ...] = ()) -> str:
    """The text with every formula between brackets of its own."""
    return re.sub(r"<math.*?</math>", lambda m: f"⟦{re.sub('<[^>]+>', '', m[0])}⟧", str(math(text, symbols)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("At K = 7 the metric is 1.5, above 1.4.", "At ⟦K=7⟧ the metric is 1.5, above 1.4."),
        ("A client takes a step (Section 5), see Theorem 3.", "A client takes a step (Section 5), see Theorem 3."),
        ("sum of w_i |grad f_i(x)|^2 <= G2", "sum of ⟦wi|∇fi(x)|2≤G2⟧"),
        ("is L-Lipschitz", "is L-Lipschitz"),
        ("processor x86_64, scgd/theorem_3_3/corrected", "processor x86_64, scgd/theorem_3_3/corrected"),
        ("the lemma's sum, u_{k+1} <= 3 u_k", "the lemma&#39;s sum, ⟦uk+1≤3uk⟧"),
        ("record figures-2-and-3-a-x.json --compare", "record figures-2-and-3-a-x.json --compare"),
        ("below 1 - mu*eta", "below ⟦1−μη⟧"),
        ("<b> & mu", "&lt;b&gt; &amp; ⟦μ⟧"),
    ],
)
def test_formulas_in_sentences(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_names_of_the_statement_are_formulas_alone() -> None:
    assert shown("is L-Lipschitz, sigma2 too", (("L", "L"), ("sigma2", r"\sigma^2"))) == "is ⟦L⟧-Lipschitz, ⟦σ2⟧ too"


def test_a_long_formula_is_cut_where_a_line_may_break() -> None:
    text = "E*eta*n <= min(1/(2*L), sqrt(mu**2/(24*L**4) + mu**2*(4*L**2 - mu**2)**2/(256*L**8)) - mu)"
    pieces = shown(text).split(" ")
    assert len(pieces) >= 4
    assert "".join(pieces).replace("⟧⟦", "").startswith("⟦Eηn≤min(1/(2L),√(μ2/(24L4)+μ2(4L2−μ2)2")
