"""The proof of Theorem 3.3 (S. Ma, semi-cyclic gradient descent): Lemma 3.1 in every cycle, then induction.

    dist2(k)   squared distance to the solution set after k cycles
    run(k, t)  the same after t rounds of a run that is started at the point which k cycles have reached
    c, b       factor and noise of one cycle                    D0  squared distance at the start
    floor      what is left of the noise after any number of cycles: b + c b + c^2 b + ...

The sharp reading has the factor A/D and the noise B/D of the display that Lemma 3.1 rounds, and keeps the first K terms
of the series; A, B and D are polynomials, which have values before the step condition is known.

Each reading rests on the same reading of the lemma and is as strong as the lemma's own derivation.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, functions, le, symbols

READINGS = ("corrected", "as_printed_main", "as_printed_appendix", "conservative", "sharp")

mu, L, n, E, eta, sigma2, dist2_0, K = symbols("mu L n E eta sigma2 dist2_0 K")
s, c, b, floor, k, t, A, B, D = symbols("s c b floor k t A B D")
dist2, run = functions("dist2 run")


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Theorem 3.3."""
    p = Proof(statement, dist2(K))
    p.define(s, n * E * eta, "total step of a cycle")
    if p.reading == "sharp":
        p.define(D, mu * (1 - mu * s / 2) * (1 - 2 * L**2 * s**2), "the denominators of the display")
        p.define(A, mu * (1 - mu * s + L**2 * s**2) * (1 - 2 * L**2 * s**2) + 4 * L**4 * s**3 * (1 - mu * s / 2),
            "D times the factor of one cycle")
        p.define(B, 2 * L**2 * s**3 * (1 - mu * s / 2) * sigma2, "D times the noise of one cycle")
    else:
        p.define(c, 1 - mu * s / 3, "factor of one cycle")
        p.define(b, 4 * L**2 * s**3 / mu * sigma2, "noise of one cycle")
        p.define(floor, b / (1 - c), "the geometric series b + c b + c^2 b + ...")
    p.index(k, None, "cycles")
    p.known("start", eq(dist2_0, dist2(0)), "no cycle has been run at the start")
    p.known("run starts", run(k, 0) <= dist2(k), "the run starts at the point after k cycles")
    p.known("run is a distance", run(k, 0) >= 0, "a squared distance")
    p.algorithm("next cycle", dist2(k + 1) <= run(k, n),
        "step size and order of the devices never change: cycle k + 1 is the first cycle of a run started there")
    p.signs(s > 0, "s", why="the total step is positive")
    sharp(p) if p.reading == "sharp" else rounded(p)
    return p.done()


def rounded(p: Proof) -> None:
    """All readings but the sharp one, which differ in the step condition s <= C."""
    p.step("s <= C", le(s, p.condition().rhs), "s", why="the step condition in terms of s")
    p.signs(c >= 0, "c", "s <= C", "s > 0", why="the factor is not negative")
    p.signs(c < 1, "c", "s > 0", why="the factor contracts")
    p.cite_run("lemma", run(k, n) <= (1 - mu * s / 3) * run(k, 0) + 4 * L**2 * s**3 / mu * sigma2,
        f"lemma_3_1/{p.reading}", run(k, t), t, "run is a distance", why="Lemma 3.1 for the run that starts there")
    p.step("recursion", dist2(k + 1) <= c * dist2(k) + b, "lemma", "next cycle", "run starts", "c", "b", "c >= 0",
        why="the lemma for every cycle")
    p.signs(floor >= 0, "floor", "b", "c", "s > 0", why="the series has no negative term")
    p.induct("induction", lambda k: le(dist2(k), c**k * dist2_0 + floor), k, K, base=("start", "floor >= 0"),
        step=("recursion", "floor", "c >= 0", "c < 1"), why="for every number of cycles",
        words=("no cycle, no decrease", "one more cycle: c (c^k D0 + floor) + b = c^(k+1) D0 + floor"))
    p.step("noise", eq(floor, 12 * L**2 * s**2 * sigma2 / mu**2), "floor", "b", "c", "s > 0",
        why="the series summed: the noise of one cycle over mu s/3")
    p.conclude(le(dist2(K), (1 - mu * s / 3)**K * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2),
        "induction", "noise", "c", why="factor and floor written out")


def sharp(p: Proof) -> None:
    """The display of Lemma 3.1 in every cycle."""
    factor = (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2) + 4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2))
    noise = 2 * L**2 * s**3 / (mu * (1 - 2 * L**2 * s**2))

    def after(cycles: Any) -> Any:
        power = (A / D)**cycles
        return le(dist2(cycles), power * dist2_0 + (1 - power) / (1 - A / D) * B / D)

    p.step("small step", 4 * L**2 * s < mu, "s", why="the step condition in terms of s")
    p.step("mu s < 1", mu * s < 1, "small step", "s > 0", why="mu <= L")
    p.step("solvable", 2 * L**2 * s**2 < 1, "small step", "s > 0", why="mu <= L")
    p.signs(D > 0, "D", "mu s < 1", "solvable", why="positive factors")
    p.signs(A >= 0, "A", "s > 0", "mu s < 1", "solvable", why="no negative term")
    p.step("D - A", eq(D - A, s * (mu - 4 * L**2 * s) * (mu * (1 - 2 * L**2 * s**2) + 2 * L**2 * s) / 2), "A", "D",
        why="a cycle contracts exactly for s < mu/(4 L^2)")
    p.signs(A < D, "D - A", "small step", "s > 0", "solvable", why="the factor contracts")
    p.cite_run("lemma", run(k, n) <= factor * run(k, 0) + noise * sigma2, "lemma_3_1/sharp", run(k, t), t,
        "run is a distance", "mu s < 1", "solvable", why="Lemma 3.1 for the run that starts after k cycles")
    p.step("one cycle", run(k, n) <= A / D * run(k, 0) + B / D, "lemma", "A", "B", "D", "D > 0", "mu s < 1", "solvable",
        why="over one denominator")
    p.step("recursion", dist2(k + 1) <= A / D * dist2(k) + B / D, "one cycle", "next cycle", "run starts", "A >= 0",
        "D > 0", why="the lemma for every cycle")
    p.induct("induction", after, k, K, "A < D", "D > 0", base=("start", "A < D", "D > 0"),
        step=("recursion", "A >= 0", "A < D", "D > 0"), why="for every number of cycles",
        words=("no cycle, no decrease", "one more cycle"))
    p.conclude(le(dist2(K), factor**K * dist2_0 + (1 - factor**K) / (1 - factor) * noise * sigma2),
        {"induction": 1}, "A", "B", "D", "A < D", "D > 0", "mu s < 1", "solvable", why="factor and noise written out")
