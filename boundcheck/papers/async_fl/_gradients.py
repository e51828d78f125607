"""What Lemma 7 and (105) share: a point, the round's normalised problem, and the kinds of data."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import nonnegative, positive
from boundcheck.theory.dimension import VALUE

# all at one point x and in one round n
QN = positive("q", "sum q(n) of the expected weights of the round")
CHI2_N = nonnegative("chi2_n", "sum over the kinds j in W_n of (r_j - st_j(n))^2/st_j(n)", latex=r"\chi_n^2")
GAP = nonnegative("gap_n", "L^n(x) - min L^n", VALUE)
SPREAD = nonnegative("spread_n", "min L^n less the sum over W_n of s_j(n) F_j*", VALUE)
ABSENT = nonnegative("absent", "sum over the kinds j outside W_n of r_j [F_j(x) - F_j*]", VALUE)
q, chi2_n, gap_n, spread_n, absent = (symbol.expr for symbol in (QN, CHI2_N, GAP, SPREAD, ABSENT))
OWN = (QN, CHI2_N, GAP, SPREAD, ABSENT)
