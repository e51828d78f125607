"""The proof of Theorem 1 (asynchronous federated learning, Appendix A.4) as checked steps.

n = 0, ..., rounds-1 counts the rounds in which a client can take part: in the others nothing moves, and all that is
added up over the rounds is 0. The lemmas are cited in each of them, with their notation, and

    dist(n), change(n)  E|theta^n - x|^2, and what round n adds to it; x minimises the surrogate problem
    rg(n)  L^n(x) less its minimum    mean  mean of Z(n) over the rounds    moved  mean of |b(n)|^2
    c      c of (92), the share of the mean that comes back         T      what stands on the right of (93) besides R

The corrected reading ends as the sharp one, which keeps the factor 2 - c, and rounds it with (98). For cohorts that are
not random it is taken at alpha = 1. The printed proof begins with the printed Lemma 2, at the virtual models; what it
makes of that with the other printed lemmas is not looked into.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.methods import Imported
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import norm2, vector

READINGS = ("corrected", "sharp", "corrected_certain", "as_printed", "as_printed_used")

L, K, eta_l, eta_g, alpha, beta, rho, tau, R, S1, S2, dist2_0 = symbols(
    "L K eta_l eta_g alpha beta rho tau R S1 S2 dist2_0")
s, period, n, r, rounds, mean, moved, c, T = symbols("s period n r rounds mean moved c T")
alpha_1, beta_1, beta_det = symbols("alpha_1 beta_1 beta_det")
dist, b = functions("dist"), vector("b", n)
change, q, D, Rn, Sn, Qs, Z, Xi, rg, sg1, sg2 = (f(n) for f in functions("change q D Rn Sn Qs Z Xi rg sg1 sg2"))
h, e, N = K * eta_g * eta_l, eta_l**2 * (K - 1)**2, s * period
spread = h + 16 * rho * L * (h * tau)**2
by_z, by_sg1 = 12 * rho * (2 * alpha + beta) * L, 6 * rho**2 * (6 * e * L**2 * alpha + beta)  # as in Lemma 6
by_sg2 = 6 * rho**2 * alpha / K
back = 24 * e * L**2 + by_z * spread  # c of (92)
noise = 12 * rho * e * L * S1 + spread * (by_sg1 * S1 + by_sg2 * S2)
signs = ("q > 0", "Qs >= 0", "Z >= 0", "sg1 >= 0", "sg2 >= 0")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    if statement.reading.startswith("as_printed"):
        return printed(statement)
    if statement.reading == "corrected_certain":
        return certain(statement)
    sharp = statement.reading == "sharp"
    p = Proof(statement, mean, drawn=((b.at(n, -1 - r), 0), (b, n)), named=("condition step size (98)",))
    known(p)
    if not sharp:
        constraints(p)
    where = "condition " if sharp else ""  # the constraints are the conditions of the sharp reading
    one_round(p, f"{where}drift", f"{where}movement")
    p.take_steps("lemma_6/corrected", "window, shift", "window, 0", "window, step", "window, r", "window, r + 1",
        "window, all", "window, exchange", "Qs, all", "window")
    all_rounds(p, f"{where}drift", f"{where}delays", f"{where}contraction")
    if sharp:
        p.conclude(mean <= p.bound, {"(90)": 1 / (2 - back)}, "T", "c <= 1", "c", why="solved for the mean")
    else:
        rounded(p)
    return p.done()


def known(p: Proof) -> None:
    """What is known of the rounds."""
    p.define(c, back, "(92)")
    p.define(T, dist2_0 / (h * N) + c * R + noise, "right side of (93)")
    p.count("rounds", rounds >= 0, "rounds in which a client can take part")
    p.index(n, rounds, "rounds")
    p.index(r, tau, "rounds before a round")
    p.known("start", eq(dist2_0, dist(0)), "the distance of the start")
    p.known("last", dist(rounds) >= 0, "a squared distance")
    p.known("change", dist(n + 1) <= dist(n) + change, "what the round adds")
    p.known("Xi", Xi >= Z - rg, "L^n(theta^n) - L^n(x)")
    p.known("mean", eq(mean, total(Z, n, rounds) / N), "the mean gap of the rounds' own problems")
    p.known("moved", eq(moved, total(norm2(b), n, rounds) / N), "the mean squared movement")
    for symbol, term in ((R, rg), (S1, sg1), (S2, sg2)):  # 0 in rounds without clients
        p.known(str(symbol), eq(symbol, total(term, n, rounds) / N), "mean over the rounds")
    p.known("q > 0", q > 0, "a client can take part")
    p.known("q <= rho", q <= rho, "rho is the largest q(n), at least 1")
    for f in (Qs, Z, sg1, sg2):
        p.known(f"{f.func} >= 0", f >= 0, "a sum of squares, or a gap")
    p.known("R(n) >= 0", Rn >= 0, "a squared norm")
    p.known("S(n) >= 0", Sn >= 0, "a squared norm")
    p.take_facts("lemma_6/corrected", "before", "Qs")


def constraints(p: Proof) -> None:
    """The constraints of Appendix A.5, from (98)."""
    found = {
        "drift": (12 * e * L**2, "D <= 1/2, of Lemma 3"),
        "delays": (24 * rho**2 * (alpha + beta) * (h * tau * L)**2, "of Lemma 6"),
        "movement": (3 * rho * (alpha + beta) * h * L, "where the movement of a round enters twice"),
        "contraction": (back, "(92)"),
        "step, alone": (3 * rho**2 * h * L, "for (94)"),
        "delays, alone": (48 * rho**3 * (h * tau * L)**2, "for (94)"),
    }
    largest = sp.Max(*(left for left, _ in found.values()))
    p.cite("constraints", largest <= 1, "equation_98_constraints/corrected", largest, why="Appendix A.5",
        L=L, K=K, eta_l=eta_l, eta_g=eta_g, rho=rho, alpha=alpha, beta=beta, tau=tau)
    for name, (left, why) in found.items():
        p.step(name, left <= 1, "constraints", why=why)


def one_round(p: Proof, drift: str, movement: str) -> None:
    """(87): what a round adds; drift, movement: names of these constraints."""
    p.cite("(56)", change <= -2 * h * D + h**2 * alpha * q**2 * Rn + h**2 * beta * q * Sn, "lemma_2/corrected", change,
        "R(n) >= 0", "S(n) >= 0", *signs, q=q, inner=D, Rn=Rn, Sn=Sn, why="Lemma 2 in round n")
    p.cite("(72)", -2 * D <= -2 * Xi + 4 * L * q * tau * Qs + 24 * e * L**2 * Z + 12 * e * q * L * sg1,
        "lemma_4/corrected", D, drift, *signs, q=q, Qs=Qs, Z=Z, sg1=sg1, Xi=Xi, why="Lemma 4 in round n")
    p.cite("(73)", Rn <= 12 * L**2 * tau * Qs + 24 * L * Z / q + 36 * e * L**2 * sg1 + 6 * sg2 / K,
        "lemma_5/corrected", Rn, drift, *signs, q=q, Qs=Qs, Z=Z, sg1=sg1, sg2=sg2, why="Lemma 5 in round n")
    p.cite("(62)", Sn <= 12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1, "lemma_3_gradients/corrected", Sn, drift,
        *signs, q=q, Qs=Qs, Z=Z, sg1=sg1, why="Lemma 3 in round n")
    p.step("twice", 12 * L**2 * h * (alpha * q**2 + beta * q) <= 4 * L * rho,
        {movement: 4 * L * rho, "q <= rho": 12 * L**2 * h * (alpha * (rho + q) + beta)}, "q > 0", numbers=(q,),
        why="the movement of a round enters twice")
    p.step("(87)", dist(n + 1) <= dist(n) + h * (-2 * (Z - rg) + 8 * rho * tau * L * Qs + (24 * e * L**2 + h * by_z) * Z
            + (12 * rho * e * L + h * by_sg1) * sg1 + h * by_sg2 * sg2),
        {"change": 1, "(56)": 1, "(72)": h, "(73)": h**2 * alpha * q**2, "(62)": h**2 * beta * q, "Xi": 2 * h,
            "Qs >= 0": h * tau * (8 * rho * L - 4 * L * q - 12 * L**2 * h * (alpha * q**2 + beta * q)),
            "Z >= 0": h**2 * (by_z - 12 * L * (2 * alpha * q + beta)),
            "sg1 >= 0": 12 * h * e * L * (rho - q) + h**2 * (by_sg1 - 36 * e * L**2 * alpha * q**2 - 6 * beta * q),
            "sg2 >= 0": h**2 * (by_sg2 - 6 * alpha * q**2 / K)},
        "twice", "q > 0", "q <= rho", numbers=(q,), why="q(n) <= rho, and rho >= 1")


def all_rounds(p: Proof, drift: str, delays: str, contraction: str) -> None:
    """(90), and what is known of c and T; drift, delays, contraction: names of these constraints."""
    p.add_up("sum", None, "(87)", dist(n), n, rounds, why="(88)")
    p.sum_over("Z, all", total(Z, n, rounds) >= 0, "Z >= 0", n, rounds, why="gaps")
    p.step("mean >= 0", mean >= 0, {"Z, all": 1 / N}, "mean", why="a mean of gaps")
    p.cite("(82)", moved <= 2 * h**2 * (by_z * mean + by_sg1 * S1 + by_sg2 * S2), "lemma_6/corrected", moved, drift,
        delays, "mean >= 0", Z_mean=mean, why="Lemma 6")
    p.step("(90)", (2 - c) * mean <= 2 * R + dist2_0 / (h * N) + noise,
        {"sum": 1 / (h * N), "last": 1 / (h * N), "window": 8 * rho * tau * L / N, "(82)": 8 * rho * tau**2 * L},
        "mean", "moved", "R", "S1", "S2", "start", "c", why="divided by the step and the number of rounds")
    p.signs(c <= 1, contraction, "c", why="(92)")
    p.signs(c >= 0, "c", why="a sum of products")
    p.step("T, R", T >= c * R, "T", why="sums of products")


def rounded(p: Proof) -> None:
    """With 1 for 2 - c, and the product of D and the step in eps_alpha moved to eps_K."""
    p.step("(93), sharp", mean <= R + T / (2 - c), {"(90)": 1 / (2 - c)}, "T", "c <= 1", why="solved for the mean")
    p.signs(T >= 0, "T, R", "c >= 0", why="and R is not negative")
    p.step("(93)", mean <= R + T, {"(93), sharp": 1, "T >= 0": (1 - c) / (2 - c)}, "c <= 1", why="2 - c >= 1")
    p.step("two", 3 * rho**2 * L * spread <= 2, "step, alone", "delays, alone",
        why="the two constraints on one step and on the delays")
    p.conclude(mean <= p.bound, {"(93)": 1, "two": 12 * alpha * e * L * S1}, "T", "c", why="(94)")


def certain(statement: Any) -> Any:
    """Theorem 1 at alpha = 1, where beta is 0."""
    p = Proof(statement, mean)
    p.define(alpha_1, sp.Integer(1), "of weights that are not random", name="alpha")
    p.define(beta_1, beta_det, "beta at alpha = 1", name="beta")
    p.count("rounds", rounds >= 0, "rounds in which a client can take part")
    p.index(n, rounds, "rounds")
    p.known("mean", eq(mean, total(Z, n, rounds) / N), "the mean gap of the rounds' own problems")
    p.cite("Theorem 1", None, "theorem_1/corrected", mean, "alpha", "beta", alpha=alpha_1, beta=beta_1,
        why="E w_i w_j = w_i w_j, so that alpha = 1")
    p.conclude(mean <= p.bound, "condition certain cohorts", {"Theorem 1": 1}, "alpha", "beta", why="beta is 0")
    return p.done()


def printed(statement: Any) -> Any:
    """Up to where it breaks."""
    p = Proof(statement, mean)
    p.count("rounds", rounds >= 0, "rounds in which a client can take part")
    p.index(n, rounds, "rounds")
    p.known("mean", eq(mean, total(Z, n, rounds) / N), "the mean gap of the rounds' own problems")
    p.known("q > 0", q > 0, "a client can take part")
    p.known("Z >= 0", Z >= 0, "a sum of squares, or a gap")
    p.known("R(n) >= 0", Rn >= 0, "a squared norm")
    p.known("S(n) >= 0", Sn >= 0, "a squared norm")
    p.cite("(86)", None, "lemma_2/as_printed", change, "R(n) >= 0", "S(n) >= 0", "q > 0", q=q, inner=D, Rn=Rn, Sn=Sn,
        why="Lemma 2 in round n")
    p.rule("conclusion", Imported("Lemmas 3 to 6 and (87) to (94) as printed"), "(86)", "mean", "Z >= 0",
        claim=mean <= p.bound, why="(94)")
    p.ends_with("conclusion")
    return p.done()
