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
"""$title of the paper: what it claims, in one line."""

from __future__ import annotations

from boundcheck.theory.assumptions import convexity, smooth_clients
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.paper import Paper
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

PAPER = Paper("Title of the paper", ("First Author", "Second Author"), 2026, arxiv="")

# The symbols of the formula. `boundcheck.theory.symbols` has the shared ones; others are declared with
# Symbol(name, meaning, dimension, key=...). The key says which constant of a run it is (`boundcheck constants --list`);
# a symbol without a key gets its value from the user alone.
SYMBOLS = (common.L, common.eta, common.dist2_0, common.k)
L, eta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)

theorem = Theorem(
    source=Source(PAPER, "$title", "section and equation"),
    title="What is bounded, for which method",
    symbols=SYMBOLS,
    # A claim about the runs of every method has any_method=True instead.
    # A step size that changes with the rounds is an expression in ROUND: Algorithm(..., steps=(("eta", ...),)).
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    # Hypotheses on the objective; problems say which of them they meet.
    assumptions=(convexity, smooth_clients),
    conditions=(Condition("step size", eta * L <= 1, "the step is at most 1/L"),),
    # What is known without the statement: a bound that is nowhere below it is VACUOUS.
    trivial=L * dist2_0 / 2,
    readings={
        # Type the formula here, with explicit constants, for example: dist2_0 / (eta * (4 * k + 2))
        "$reading": Reading(TYPE_THE_FORMULA_HERE$correction),
    },
)
''')

TEST = Template('''\
"""$id: found by its id, dimensions, a value, the scope, typesetting."""

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


def test_is_typeset():
    assert bc.statement(ID).latex()
''')
