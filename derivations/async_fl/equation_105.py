"""The proof of (105) (asynchronous federated learning, Appendix B.2) as checked steps.

Facts, notation and the steps up to (99) are those of Lemma 7, `derivations/async_fl/lemma_7.py`; besides

    M(j)  st(j) G(j)    y  their sum, the gradient of L^n/q at x    up(j)  F_j(x - y/L)    g2  |grad F(x)|^2

Where every kind of data is in the round, (102) has one sum and needs no factor 2. The printed reading ends with the
factors that it prints, 1/q^2 for 1/q and 4 for 8.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_clients

READINGS = ("corrected", "corrected_every_type", "as_printed")

L, q, chi2_n, gap_n, spread_n, absent = symbols("L q chi2_n gap_n spread_n absent")
J, j, g2, far, slope2, least = symbols("J j g2 far slope2 least")
st, f, up = (x(j) for x in functions("st f up"))
G, M, v, w, y = vector("G", j), vector("M", j), vector("v"), vector("w"), vector("y")

# facts of Lemma 7 about the kinds of data that are not in the round, and its steps about those that are
ABSENT = ("absent kinds", "index a", "B", "w", "far", "absent", "ra >= 0", "shares", "infimum, absent",
    "smooth, absent")
PRESENT = ("square", "kind", "kinds together", "present, eps", "present", "slope", "slopes")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    every_type = statement.reading == "corrected_every_type"
    others = v if every_type else v + w
    p = Proof(statement, g2, squares=() if every_type else (absent,))
    p.take_facts("lemma_7/as_printed", skip=ABSENT if every_type else ())
    p.define(M, G * st, "a term of the gradient of L^n/q")
    p.define(y, vector_total(M, j, J), "the gradient of L^n/q")
    p.known("slope2", eq(slope2, norm2(y)), "the last term of (104)")
    p.known("st sum", total(st, j, J) <= 1, "the shares in L^n sum to 1")
    p.known("minimum", q * total(up * st, j, J) >= least, "least is the minimum of L^n")
    p.upper_model("smooth, y", smooth_clients, "to x - y/L", Evaluation("f_i", Vector(()), G, f, which=j),
        Evaluation("f_i", y * (-1 / L), value=up, which=j))
    p.known("g2", eq(g2, norm2(others + y)), "F has the shares of L^n in the kinds, and others besides")

    p.take_steps("lemma_7/as_printed", *(PRESENT if every_type else ()))
    if not every_type:
        p.step("(99)", far <= 4 * L * chi2_n * (gap_n + spread_n) / q + 4 * L * absent,
            {"(102)": 1, "present": 2, "slopes": 2 * chi2_n, "others": 2}, "far", "v", "w", "gap", "spread",
            why="(103)")
    p.step("round, kind", st * (f - up) - inner(M, y) / L + st * norm2(y) / (2 * L) >= 0, {"smooth, y": st}, "M",
        "st > 0", numbers=(st,), why="times its share")
    p.sum_over("round, kinds", None, "round, kind", j, J, why="L^n/q is smooth")
    p.step("round", slope2 <= 2 * L * gap_n / q, {"round, kinds": 2 * L, "minimum": 2 * L / q}, "slope2", "y", "st sum",
        "gap", numbers=(total(st, j, J),), why="of a smooth function that is bounded below")
    p.square_of_sum("(104)", others, y, why="two parts")
    if p.reading == "as_printed":
        p.step("(104), far", g2 <= 2 * far + 2 * slope2, {"(104)": 1}, "g2", "far", "slope2", "v", "w", why="two parts")
        p.conclude(g2 <= p.bound, "(104), far", "(99)", "round", why="as printed")
    elif every_type:
        p.conclude(g2 <= p.bound, {"(104)": 1, "round": 2, "present": 2, "slopes": 2 * chi2_n}, "g2", "slope2", "v",
            "gap", "spread", why="both parts")
    else:
        p.conclude(g2 <= p.bound, {"(104)": 1, "round": 2, "(99)": 2}, "g2", "slope2", "far", "v", "w",
            why="both parts")
    return p.done()
