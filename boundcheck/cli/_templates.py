"""The texts of `boundcheck new`, with $names that are filled in."""

from __future__ import annotations

from string import Template

PYPROJECT = Template("""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$distribution"
version = "0.1.0"
dependencies = ["boundcheck"]

# boundcheck finds the statements of this package through this entry point.
[project.entry-points."boundcheck.papers"]
$paper = "$paper"

[tool.hatch.build.targets.wheel]
packages = ["$paper"]

# `pip install -e` puts this folder on the path.
[tool.hatch.build]
dev-mode-dirs = ["."]
""")

PAPER_INIT = Template('''\
"""Title of the paper (authors, venue, year): one module a numbered statement."""
''')

STATEMENT = Template('''\
"""$title of the paper: what it claims, in one line.

What stands here is a complete example, gradient descent on smooth convex functions; only its formula is missing. Type
it where it says so, then replace the rest by your theorem, part by part.
"""

from __future__ import annotations

from boundcheck.theory.assumptions import convexity, smooth_clients
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.paper import Paper
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

PAPER = Paper("Title of the paper", ("First Author", "Second Author"), 2026, arxiv="")

# SYMBOLS. One with a key takes the value that method and problem have under this key; one without a key gets its value
# from the user alone. `boundcheck constants --list` prints all keys with their meanings. These are declared already:
#
#     common.  meaning                                                                key
$symbols
#
# Others are declared here, with a meaning, a dimension, a domain, and a key if there is one:
#
#     Symbol("nu2", "variance of a worker's gradient", GRADIENT2, low=Fraction(0), key="blocks/sigma2")
#     common.E.but(name="H", meaning="local steps of a round")     # another letter for a known one
#
# with Symbol from boundcheck.theory.symbols and Fraction from fractions. Dimensions are in boundcheck.theory.dimension:
# ONE (counts, ratios), VALUE (of F), LENGTH, LENGTH2 (squared distances), STEP, CURVATURE (L, mu), GRADIENT2 (squared
# gradients), and their products, such as VALUE / LENGTH.
SYMBOLS = (common.L, common.eta, common.dist2_0, common.k)
L, eta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)

theorem = Theorem(
    source=Source(PAPER, "$title", "section and equation"),
    title="What is bounded, for which method",
    symbols=SYMBOLS,
    # THE METHOD, as specifications name it, and the symbols that it sets: those with a key method/... . A claim about
    # the runs of every method has any_method=True instead. A step size that changes is an expression in ROUND of
    # boundcheck.theory.statement, which begins at 0: steps=(("eta", eta / (ROUND + 1)),) in place of ("eta",).
    algorithm=Algorithm("gradient_descent", ("eta",)),
    # WHAT IS BOUNDED: "gap" is F(x) - F*, of dimension VALUE; "dist2" the squared distance to the minimisers, LENGTH2;
    # "grad2" the squared norm of grad F, GRADIENT2. index is the symbol that counts (declared with index=True). rounds
    # says how many communication rounds are done when the index is k: here an iteration is a round, so k. If k counts
    # visits of n clients one after the other, it is n * k; if R counts rounds of E steps each, it is R. A mean over all
    # rounds before has weights=sympy.S.One. A bound on one round alone has no index, and rounds=sympy.S.One.
    metric=Metric("gap", VALUE, index="k", rounds=k),
    # HYPOTHESES ON THE OBJECTIVE. Problems say which of them they meet; others are tried at many points, or named as
    # taken for granted. boundcheck.theory.assumptions.CLASSES has all of them with their meanings.
    assumptions=(convexity, smooth_clients),
    # HYPOTHESES ON THE SYMBOLS. Where one fails, a claim is OUT_OF_SCOPE. A value that the theorem prescribes is in
    # choices=(("eta", 1 / L),). Relations without which the symbols make no sense are domain=(sympy.Le(mu, L),).
    conditions=(Condition("step size", eta * L <= 1, "the step is at most 1/L"),),
    # THE TRIVIAL VALUE: what is known of the metric without the theorem, usually from the start: gap_0, or
    # L * dist2_0 / 2, for "gap", dist2_0 for "dist2". A bound that is nowhere below it is VACUOUS.
    trivial=L * dist2_0 / 2,
    readings={
        # THE FORMULA, with explicit constants. For the example: dist2_0 / (eta * (4 * k + 2)). Numbers are exact:
        # sympy.Rational(1, 3), not 1 / 3. Roots and maxima are sympy.sqrt(L) and sympy.Max(L, mu).
        "$reading": Reading(TYPE_THE_FORMULA_HERE$correction),
    },
)
''')

TEST = Template('''\
"""$id: found by its id, dimensions, a value, the scope, a run, typesetting."""

import math
from fractions import Fraction

import boundcheck as bc

ID = "$id"
CANDIDATES = [Fraction(1), Fraction(1, 2), Fraction(0), Fraction(2), Fraction(10), Fraction(-1)]


def sample(statement):
    """Some admissible value of every symbol."""
    return {s.name: next(v for v in CANDIDATES if s.admits(v)) for s in statement.symbols}


def test_is_found_and_scales():
    statement = bc.statement(ID)
    assert statement.id == ID
    assert statement.dimension_errors() == []


def test_has_a_value_and_a_scope():
    statement = bc.statement(ID)
    found = statement.evaluate(**sample(statement))
    # Replace this by a value that you computed by hand: a second opinion is worth more than a finite number.
    assert math.isfinite(found.value)
    assert found.in_scope in (True, False)


def test_holds_on_a_run(boundcheck):
    # Replace problem and method by an instance of yours, at best one that attains the bound, as this one does after 10
    # steps. Their kinds: boundcheck.problems.build.kinds() and boundcheck.methods.build.kinds().
    problem = {"kind": "huber", "L": 2, "R": 3, "k": 10}
    method = {"kind": "gradient_descent", "eta": "largest"}
    boundcheck.assert_holds(ID, problem=problem, method=method, rounds=[1, 5, 10], arithmetic="rational")


def test_is_typeset():
    assert bc.statement(ID).latex()
''')
