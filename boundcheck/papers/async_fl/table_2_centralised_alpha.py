"""Appendix C.1: alpha of centralised learning."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import entry
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (entry(Reading("as_printed", Belief.TRUE), "centralised", "alpha", sp.S.One),)
