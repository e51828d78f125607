"""The proof of Theorem 2 (partial model averaging, Appendix C): Lemma 1, then Lemma 2 for the discrepancy in it.

The vectors of Lemma 2 are those of stretches. The others are of an iteration r, whole models, with <u, v> the mean over
the clients of the expectation of the inner product; points are relative to u, the averaged model.

    z(r)  local model    p(r)  gradient of the client's objective there, and their mean B(r)
    h(r)  gradient of the client's objective at u, and their mean s(r), the gradient of F there
    e(r, i)  p_i times the noise of client i, so that u' = u - eta (B + e(r, 0) + ... + e(r, m-1))
    gap(r)   expected gap at u

A name that ends in L has the blocks of the vector times the L_j, one that ends in l times their roots. Where
every block has a constant of its own, the inner products of stretches have the weights L_j^2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import body
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.drawing import Expected
from boundcheck.proof.families import Averages
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.laws import Draws
from boundcheck.proof.rules import Accumulation, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import (
    averages_uniformly,
    block_dissimilarity,
    block_variance,
    bounded_below,
    smooth_blocks,
    smooth_globally,
    smooth_weighted,
    total_dissimilarity,
)

READINGS = (
    *("corrected", "weighted", "separable", "as_printed_appendix_separable"),
    *("as_printed_appendix", "as_printed_main", "as_printed_main_separable"),
)
DRIFT = "partial_averaging/lemma_2/as_printed"
COUPLED = "partial_averaging/lemma_1/as_printed"  # where (19) and (30) fail for coupled blocks


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


eta, tau, K, m, Lmax, beta2, kappa2, sigma2 = _symbols("eta tau K m Lmax beta2 kappa2 sigma2")
sum_p2, sum_L_sigma2, sum_L2_sigma2, sum_L2_kappa2 = _symbols(  # noqa: N816
    "sum_p2 sum_L_sigma2 sum_L2_sigma2 sum_L2_kappa2"
)
gap_0, mean, r, i = _symbols("gap_0 mean r i")
gap: Any = sp.Function("gap", real=True)
p2: Any = sp.Function("p2", real=True)(i)  # p_i^2
scaled: Any = sp.Function("scaled", real=True)(r)
z, p, B, h, s, e, e_root = (
    vector(name, r) if name[0] != "e" else vector(name, r, i) for name in ["z", "p", "B", "h", "s", "e", "el"]
)
B_root, p_scaled, h_scaled, s_scaled, move = (vector(name, r) for name in ("Bl", "pL", "hL", "sL", "move"))
u, zero = Vector(()), Vector(())
E, E_root = (vector_total(v, i, m) for v in (e, e_root))
A = 2 * eta**2 * tau * (tau - 1) * Lmax**2
at_u, at_own = Evaluation("f_i", u, h, which=r), Evaluation("f_i", z, p, which=r)
F_at_u, F_next = Evaluation("F", u, s, gap(r)), Evaluation("F", (B + E) * -eta, value=gap(r + 1))


D = 1 - A - A * beta2
HALF = sp.Rational(1, 2)

COMMON = (
    Fact("index r", sp.And(r >= 0, r <= K - 1), "index", "iterations"),
    Fact("index i", sp.And(i >= 0, i <= m - 1), "index", "clients"),
    Fact("mean", sp.Eq(mean, total(norm2(s), r, K) / K), "metric", "over u_1, ..., u_K"),
    Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the common start"),
    pointwise("bounded", bounded_below, "inf F is finite", gap=gap(K)),
)
ONE_CONSTANT = (
    upper_model("descent", smooth_globally, "(19)", F_at_u, F_next),
    pointwise("smooth", smooth_globally, "(30), for the whole gradient", at_u, at_own),
    pointwise("dissimilar", total_dissimilarity, "Assumption 4", Evaluation("F", u, s), client_grad2=norm2(h)),
)
BY_BLOCK = (
    Fact("move", VectorEquality(move, (B_root + E_root) * eta), "definition", "the step of the averaged model, scaled"),
    upper_model(
        "descent",
        smooth_weighted,
        "(19): a Hessian whose square is at most diag(L_j^2) is at most diag(L_j)",
        F_at_u,
        F_next,
        scaled_move2=norm2(move),
    ),
    pointwise("smooth", smooth_weighted, "(30), over all blocks", at_u, at_own, scaled_difference2=scaled),
    pointwise(
        "dissimilar",
        block_dissimilarity,
        "Assumption 4, the blocks added up with the weights L_j^2",
        Evaluation("F", u, s),
        client_grad2=norm2(h_scaled),
        grad2=norm2(s_scaled),
        kappa2_j=sum_L2_kappa2,
    ),
    Fact("largest B", sp.Le(norm2(B_root), Lmax * norm2(B)), "metric", "every L_j is at most Lmax"),
    Fact("largest s", sp.Le(norm2(s_scaled), Lmax**2 * norm2(s)), "metric", "likewise"),
    Fact("largest p - h", sp.Le(norm2(p_scaled - h_scaled), Lmax**2 * norm2(p - h)), "metric", "likewise"),
)

OWN_WEIGHTS = Fact("weights", sp.Eq(sum_p2, total(p2, i, m)), "metric", "what sum_p2 is")
# the printed readings
SLIPS = {"descent": "(19) for coupled blocks", "smooth": "(30) for coupled blocks"}
WEIGHTS = Fact("weights", sp.Ge(sum_p2, 1 / m), "metric", "weights that add up to 1")
share_of_one, one_client, other_client = _symbols("share_of_one one_client other_client")
FOREIGN = (
    Step(
        "(30) for other weights",
        sp.Le(
            (share_of_one * one_client + (1 - share_of_one) * other_client - (one_client + other_client) / 2) ** 2,
            0,
            evaluate=False,
        ),
        ("share of one",),
        Decide(),
        "two clients whose models agree: the gradient of F there is the plain mean of theirs",
    ),
    Step(
        "(30)",
        sp.Le(norm2(s - B), scaled),
        ("(30) for other weights", "smooth"),
        Combine(),
        "as if the weights were F's",
    ),
)
SHARE = Fact("share of one", sp.And(share_of_one > 0, share_of_one < 1), "range", "a client's weight in F")


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    one = smooth_globally in statement.assumptions
    coupled = smooth_blocks in statement.assumptions
    uniform = "m" in {symbol.name for symbol in statement.symbols}
    foreign = averages_uniformly in statement.assumptions and not uniform  # weights that are not those of F
    share, weight2 = (1 / m, 1 / m**2) if uniform or foreign else (sum_p2, p2)
    averages = "averages_uniformly" if uniform or foreign else "averages_as_objective"
    own, of_client, V = (e, sigma2, B + E) if one else (e_root, sum_L_sigma2, B_root + E_root)
    most, noise = (sp.S.One, Lmax * sigma2) if one else (Lmax, sum_L_sigma2)
    # what Lemma 2 is about, here times `scale`
    scale = Lmax**2 if one else sp.S.One
    models, gradients, apart = (norm2(z), norm2(p), Lmax**2 * norm2(z)) if one else (scaled, norm2(p_scaled), scaled)
    of_stretches, kappa = (sigma2, Lmax**2 * kappa2) if one else (sum_L2_sigma2, sum_L2_kappa2)
    mean_apart = total(apart, r, K) / K
    share_of_u = 2 * (apart + beta2 * norm2(s) + kappa2)  # of the gradients, with one constant
    compared = share_of_u if one else 2 * (Lmax**2 * (apart + beta2 * norm2(s)) + sum_L2_kappa2)

    drift = derivation_of(DRIFT)
    facts, lemma_2 = body(DRIFT, ("mean", "local", "sigma2"))
    whole, local, spread = (next(f.claim for f in drift.facts if f.name == x) for x in ("mean", "local", "sigma2"))
    facts = (
        *facts,
        *(() if uniform else (Fact("clients", m >= 1, "count", "the clients"),)),
        *COMMON,
        *(f for f in (ONE_CONSTANT if one else BY_BLOCK) if not coupled or f.name not in SLIPS),
        *(f for f in body(COUPLED)[0] if coupled and f.name == "across"),
        pointwise(
            "noise of a client",
            block_variance,
            "i, times p_i",
            draw_deviation2=own,
            weight2=weight2,
            deviation2=of_client,
        ),
        *(() if uniform else (WEIGHTS if foreign else OWN_WEIGHTS,)),
        Fact(
            "iterations",
            sp.Le(total(models, r, K) / K, whole.rhs),
            "metric",
            "every iteration of a block is a step of one stretch",
        ),
        Fact(
            "local gradients",
            sp.Le(local.rhs, total(gradients, r, K) / K),
            "metric",
            "and every step of a stretch is an iteration",
        ),
        Fact("sigma2", sp.Le(spread.lhs, of_stretches), "metric", "every block makes K steps"),
    )
    facts = (*facts, SHARE) if foreign else facts
    weights = () if uniform or foreign else ("weights",)
    two, three = 2 - (1 - A) / D, 3 - 1 / D  # what rounding leaves
    left = {
        "domain gap_0": 2 * two / (eta * K),
        "descent noise": two * eta,
        "drift noise": three * eta**2 * (tau - 1),
        "dissimilarity": 2 * three * eta**2 * tau * (tau - 1),
    }
    if foreign:
        left |= {"descent noise": (two + 2) * eta, "noise of the mean": 4 * eta}
    signs = tuple(left)
    projection = (
        Step("square", sp.Ge(norm2(h - p - s + B), 0, evaluate=False), (), Combine(), "a squared norm"),
        Step(
            "(30)",
            sp.Le(norm2(s - B), apart),
            ("square", "smooth"),
            Expected(("means",), Combine({"square": 1, "smooth": 1})),
            "a mean over the clients is no longer than what it is the mean of",
        ),
    )
    steps = (
        *lemma_2,
        *(x for x in body(COUPLED)[1] if coupled and x.name in SLIPS.values()),
        *(
            Step(f.name, f.claim, (SLIPS[f.name], "move"), Combine(), "as if Assumption 1 gave it")
            for f in BY_BLOCK
            if coupled and f.name in SLIPS
        ),
        Step(
            "every client",
            sp.Ge(total(weight2 * of_client - norm2(own), i, m), 0),
            ("noise of a client",),
            SumOver("noise of a client", i, m),
            "independent noise of the clients",
        ),
        Step(
            "(26)",
            sp.Le(norm2(V), most * norm2(B) + share * of_client),
            ("every client", *weights, *(() if one else ("largest B",))),
            Expected(("steps",), Combine({"every client": 1} if one else {"every client": 1, "largest B": 1})),
            "the noise has mean 0",
        ),
        Step("unbiased", sp.Ge(inner(s, B + E), inner(s, B)), (), Expected(("steps",), Combine()), "likewise"),
        Step(
            "(27)",
            sp.Le(gap(r + 1), gap(r) - eta * inner(s, B) + eta**2 / 2 * (Lmax * norm2(B) + share * noise)),
            ("descent", "unbiased", "(26)", *(() if one else ("move",))),
            Combine({"descent": 1, "unbiased": eta, "(26)": eta**2 / 2 * (Lmax if one else 1)}),
            "(19) with the expectations put in",
        ),
        *(FOREIGN if foreign else projection),
        Step(
            "decrease",
            sp.Le(gap(r + 1), gap(r) - eta / 2 * norm2(s) + eta / 2 * apart + eta**2 / 2 * share * noise),
            ("(27)", "(30)", "condition step size"),
            Combine({"(27)": 1, "(30)": eta / 2}),
            "2 <a, b> = |a|^2 + |b|^2 - |a - b|^2, and eta Lmax <= 1",
        ),
        Step(
            "(28)",
            sp.Le(gap(K), gap(0) + total(-eta / 2 * norm2(s) + eta / 2 * apart + eta**2 / 2 * share * noise, r, K)),
            ("decrease",),
            Accumulation("decrease", gap(r), r, K),
            "all iterations",
        ),
        Step(
            "(18)",
            sp.Le(mean, 2 * gap_0 / (eta * K) + eta * share * noise + mean_apart),
            ("(28)", "mean", "start", "bounded"),
            Combine({"(28)": 2 / (eta * K), "bounded": 2 / (eta * K)}),
            "Lemma 1",
        ),
        Step(
            "(112)",
            sp.Le(gradients, compared),
            ("smooth", "dissimilar", *(() if one else ("largest s", "largest p - h"))),
            Combine(
                {"smooth": 2, "dissimilar": 2}
                if one
                else {"smooth": 2 * Lmax**2, "dissimilar": 2, "largest s": 2 * beta2, "largest p - h": 2}
            ),
            "the gradients at u subtracted and added",
        ),
        Step(
            "all iterations",
            sp.Ge(total(compared - gradients, r, K), 0),
            ("(112)",),
            SumOver("(112)", r, K),
            "summed",
        ),
        Step(
            "(113)",
            sp.Le(
                (1 - A) * mean_apart,
                eta**2 * (tau - 1) * scale * of_stretches + A * beta2 * mean + 2 * eta**2 * tau * (tau - 1) * kappa,
            ),
            ("all stretches", "iterations", "local gradients", "all iterations", "sigma2", "mean"),
            Combine(
                {
                    "all stretches": scale,
                    "iterations": scale,
                    "local gradients": scale * eta**2 * tau * (tau - 1),
                    "all iterations": scale * eta**2 * tau * (tau - 1) / K,
                    "sigma2": scale * eta**2 * (tau - 1),
                }
            ),
            "Lemma 3",
        ),
        Step("descent noise", share * noise >= 0, (), Decide(), "a variance"),
        *(
            (
                Step(
                    "noise of the mean",
                    sp.Ge(sum_p2 * noise - noise / m, 0),
                    ("weights",),
                    Decide(),
                    "equal weights have the smallest sum of squares",
                ),
            )
            if foreign
            else ()
        ),
        Step("drift noise", scale * of_stretches >= 0, (), Decide(), "likewise"),
        Step("dissimilarity", kappa >= 0, (), Decide(), "a sum of squares"),
        Step("A", A * (2 * beta2 + 1) <= 1, ("condition step size and interval",), Decide(), "the step condition"),
        Step("A >= 0", A >= 0, (), Decide(), "tau is at least 1"),
        Step("D > 0", D > 0, ("A", "A >= 0"), Decide(), "1 - A - A beta^2"),
        Step("at most 2", (1 - A) / D <= 2, ("A", "A >= 0", "D > 0"), Decide(), "A beta^2/(1 - A) <= 1/2"),
        Step("at most 3", 1 / D <= 3, ("A", "A >= 0", "D > 0"), Decide(), "and 1/(1 - A) <= 3/2"),
        Step("1 - A", 1 - A >= 0, ("A", "A >= 0"), Decide(), "A is at most 1/3"),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("(18)", "(113)", "D > 0", "at most 2", "at most 3", "1 - A", *signs),
            Combine({"(18)": (1 - A) / D, "(113)": 1 / D, **left}),
            "(72), solved for the gradients",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        drawn=(
            *drift.drawn,
            *((v, r) for v in (z, p, B, h, s, B_root, p_scaled, h_scaled, s_scaled)),
            (e, r + 1),
            (e_root, r + 1),
        ),
        laws=(
            *(replace(law, of=averages) if law.name == "clients" else law for law in drift.laws),
            Draws(
                "steps",
                "block_variance",
                ((e, zero),) if one else ((e, zero), (e_root, zero)),
                (s, B) if one else (s, B, B_root),
                time=r,
            ),
            Averages("means", averages, ((p, B),) if foreign else ((h, s), (p, B))),
        ),
    )
