"""The vocabulary of theorems: what a theorem file writes, imported by `from boundcheck.theory.declare import *`.

A file exports one `Theorem`, or a mapping `theorems` from names to Theorems. Its parts are made of:

- `Source` and `Paper`; `Symbol`, with the constructors `positive`, `nonnegative`, `count` and `share`, and `common.L`,
  `common.mu`, ... for letters that most papers share;
- `Algorithm` and `Metric` (`Metric.last`, `.mean`, `.least`, `.drawn`, `.constant`, `.formula`), with `ROUND` and
  `ITERATION`, which count rounds and local steps;
- `Condition`, and the assumptions of `theory.assumptions` by their names;
- `Reading`, `Kind` and `Belief`; dimensions such as `VALUE` and `LENGTH2`; SymPy as `sp`, exact numbers as `Fraction`.

The notation of a paper comes with `from boundcheck.papers.<paper>.definitions import *`, where no name hides one of
these.
"""

# pyright: reportUnusedImport=false
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.theory.assumptions import *
from boundcheck.theory.declarations import ITERATION, ROUND, Algorithm, Belief, Kind, Metric, Source
from boundcheck.theory.dimension import CURVATURE, FREE, GRADIENT2, LENGTH, LENGTH2, ONE, STEP, VALUE, Dimension
from boundcheck.theory.paper import Paper
from boundcheck.theory.relations import Condition
from boundcheck.theory.symbols import Symbol, common, count, nonnegative, positive, share
from boundcheck.theory.theorem import Reading, Theorem
