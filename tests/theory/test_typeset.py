"""LaTeX, MathML and text of statements: derived, complete, well-formed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
import sympy as sp

from boundcheck.cli.output import formula_lines
from boundcheck.errors import BadInput
from boundcheck.theory.dimension import ONE
from boundcheck.theory.discovery import all_statements, papers, statement
from boundcheck.theory.mathml import latex_to_mathml
from boundcheck.theory.pretty import formula_blocks, symbol_unicode
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.typeset import (
    claim_latex,
    claim_mathml,
    claim_text,
    expr_latex,
    expr_mathml,
    expr_text,
    symbol_latex,
)

SPACE = "{http://www.w3.org/1998/Math/MathML}"


def tags(mathml: str) -> list[str]:
    return [e.tag.removeprefix(SPACE) for e in ET.fromstring(mathml).iter()]


def words(mathml: str) -> str:
    return "".join(ET.fromstring(mathml).itertext())


@pytest.mark.parametrize("paper", sorted(papers()))
def test_every_claim_typesets_in_all_three_forms(paper: str) -> None:
    for s in all_statements(paper):
        latex, mathml, text = s.latex(), claim_mathml(s), claim_text(s)
        assert latex.count("{") == latex.count("}"), s.id
        assert latex.count(r"\left") >= latex.count(r"\right"), s.id
        root = ET.fromstring(mathml)
        assert root.get("display") == "block"
        assert "\\" not in "".join(root.itertext()), s.id
        assert "\n" not in text
        for symbol in s.bound.free_symbols:  # every symbol of the bound can be read off the text
            assert re.search(rf"(?<![A-Za-z0-9_]){symbol.name}(?![A-Za-z0-9_])", text), s.id
        assert s._repr_latex_() == f"${latex}$"


def test_theorem_3_3_reads_as_printed() -> None:
    s = statement("scgd/theorem_3_3")
    latex = claim_latex(s)
    assert r"\mathrm{dist}^2(\theta_{K}) \leq" in latex
    assert r"\left(1 - \frac{E \eta \mu n}{3}\right)^{K}" in latex
    assert r"\frac{12 E^{2} L^{2} \eta^{2} n^{2} \sigma^2}{\mu^{2}}" in latex
    assert r"\mu \leq L" in latex
    assert latex.endswith(r"\text{for all } K \geq 0")
    assert claim_text(s).startswith("E*eta*n <= min(1/(2*L), sqrt(")
    mathml = claim_mathml(s)
    for tag in ("mfrac", "msqrt", "msup", "msub", "mtext"):
        assert tag in tags(mathml)
    for sign in ("η", "μ", "σ", "θ", "≤", "⟹", "min"):
        assert sign in words(mathml)


def test_theorem_3_4_is_a_limsup() -> None:
    s = statement("scgd/theorem_3_4")
    assert r"\limsup_{K \to \infty} K^{2} \mathrm{dist}^2(\theta_{K}) \leq" in claim_latex(s)
    assert "munder" in tags(claim_mathml(s))
    assert "lim sup" in words(claim_mathml(s))
    assert "limsup K**2 * dist2_K <=" in claim_text(s)


def test_expressions_and_relations() -> None:
    s = statement("scgd/theorem_3_3")
    mu, eta, sigma2 = (s.symbol(n).expr for n in ("mu", "eta", "sigma2"))
    assert expr_latex(sigma2**2, s) == r"\left(\sigma^2\right)^{2}"
    assert expr_latex(sp.Ne(mu, 1), s) == r"\mu \neq 1"
    assert expr_text(sp.Eq(mu, sp.Max(eta, 1))) == "mu = max(1, eta)"
    assert expr_text(sp.ceiling(mu) - 1) == "ceil(mu) - 1"
    assert words(expr_mathml(sp.floor(mu / eta), s)) == "⌊μη⌋"
    assert tags(expr_mathml(mu ** sp.Rational(1, 3), s)).count("mroot") == 1
    assert tags(expr_mathml(sp.exp(-mu) + sp.log(eta) + sp.Abs(mu), s)).count("msup") == 1
    assert words(expr_mathml(sp.Ge(mu, 2), s)) == "μ≥2"


def test_scripts_groups_and_spaces_of_the_small_latex() -> None:
    assert latex_to_mathml(r"x_{0}^{2}").endswith(
        "<msubsup><mi>x</mi><mrow><mn>0</mn></mrow><mrow><mn>2</mn></mrow></msubsup></math>"
    )
    assert words(latex_to_mathml(r"a < b")) == "a<b"
    assert words(latex_to_mathml(r"\text{for all } \mathbb{E}[x]")) == "for all\u00a0𝔼[x]".replace("r a", "r\u00a0a")
    assert words(latex_to_mathml(r"\lVert x \rVert, \overline{y}, z'")) == "‖x‖,y,z′"
    assert "border-top" in latex_to_mathml(r"\overline{y}")  # a bar over all of it, whatever the font
    assert words(latex_to_mathml(r"\bar{y}")) == "y‾"
    assert 'width="1em"' in latex_to_mathml(r"a \quad b")


@pytest.mark.parametrize("latex", [r"\frac{1}{2", r"\left( x", r"\href{x}{y}", r"x }", r"\sqrt", r"\text x"])
def test_what_is_not_understood_is_refused(latex: str) -> None:
    with pytest.raises(BadInput):
        latex_to_mathml(latex)


def test_symbols_without_declared_latex_read_as_in_print() -> None:
    read = {"sigma2": r"\sigma^2", "tau_M": r"\tau_{M}", "q_max": r"q_{\max}", "q_bar": r"\bar{q}", "Xi": r"\Xi"}
    read |= {"M1": "M_{1}", "B2": "B^2", "sigma2_i": r"\sigma_{i}^2", "n": "n", "F_het": r"F_{\mathrm{het}}"}
    for name, latex in read.items():
        assert symbol_latex(Symbol(name, "any", ONE)) == latex


def test_no_symbol_of_a_paper_is_an_upright_word() -> None:
    symbols = {(s.id.split("/")[0], y.name, symbol_latex(y)) for s in all_statements() for y in s.symbols}
    words = re.compile(r"\\mathrm\{(?!dist\}|lcm\}|op\}|het\})")
    assert sorted(s for s in symbols if words.search(s[2])) == []


def test_means_over_devices_and_squared_norms() -> None:
    latex = claim_latex(statement("feddane/theorem_7/as_printed"))
    assert r"\overline{L_k(1+\gamma_k)^2/\mu_k^2}" in latex
    assert "inv" not in latex
    assert r"\|\nabla f(w^0)\|^2" in latex


def test_unicode_of_symbols() -> None:
    read = {r"\sigma^2": "σ²", r"\eta_l": "ηₗ", r"\eta_g": "η_g", r"\mathrm{dist}^2(\theta_0)": "dist²(θ₀)"}
    read |= {r"\|z - x\|^2": "‖z - x‖²", r"\overline{1/\mu_k}": "name", r"\tau_{M}": "τ_M", r"x^{(0,0)}": "name"}
    for latex, text in read.items():
        assert symbol_unicode(latex, "name") == text


def test_a_formula_in_blocks_fits_and_stands_on_one_line() -> None:
    s = statement("scgd/theorem_3_3")
    blocks, base = formula_blocks(s.bound, s)
    assert len(blocks) == 2
    assert blocks[1][base].startswith(" + dist²(θ₀)")
    assert "σ²" in "".join(blocks[0])
    for width in (20, 40, 80):
        lines = formula_lines("dist2_K ≤ ", blocks, base, width)
        assert max(map(len, lines)) <= width
    joined = formula_lines("dist2_K ≤ ", blocks, base, 200)
    assert any(line.startswith("dist2_K ≤ ") and " + dist²(θ₀)" in line for line in joined)
