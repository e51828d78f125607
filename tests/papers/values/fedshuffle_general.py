"""Values of FedShuffle's Appendix E and of the remarks of its Sections 4 and 5, from the paper's text."""

from values.arithmetic import q
from values.fedshuffle import ABOVE, AWAY, FACTOR, GAP, GRADIENT, MEAN, ORDERED, ROUNDS, SERVER, tuned
from values.fedshuffle_lemmas import DISTANCE, ONE_ROUND

LET = {
    "_spread": "(1 + P2_gen)*G2 + sigma2_gen",
    "_gen_largest": "min(1, W*eta_g)/(4*beta(P2=P2_gen, M=M1)*L)",
    "gt": "W*eta_g*eta_l",
    "_gen": "first*dist2_0/(gt*R) + second*M1*G2*gt + noise*L*_spread*eta_l**2",
    "_gen_nonconvex": "first*gap_0/(gt*R) + second*M1*L*G2*gt + noise*L**2*_spread*eta_l**2",
    "_gen_strongly": "halves*mu*dist2_0*contracted(step=gt)/2 + second*M1*G2*gt + noise*L*_spread*eta_l**2",
    "_gen_drift": "gt*(gap_share*gap_0 + noise_share*L*eta_l**2*_spread)",
    "_gen_strongly_order": "M1*G2/(mu*R) + _spread/(mu*R*eta_g)**2 + mu*dist2_0**2*exp(-mu*R/(8*beta_gen*L))",
    "_gen_convex_order": "sqrt(dist2_0*M1*G2/R) + cbrt(dist2_0**2*_spread/(R*eta_g)**2) + L*dist2_0*beta_gen/R",
    "_gen_nonconvex_order": "sqrt(gap_0*M1*L*G2/R) + cbrt(gap_0**2*L*_spread/(R*eta_g)**2) + L*gap_0*beta_gen/R",
    # xi <= 2 eta_l^2 L^2 xi + 2 eta_l^2 ((1 + P^2) grad + noise), solved for xi.
    "_own_drift": "2*eta_l**2*((1 + P2_gen)*gradient + noise)/(1 - 2*eta_l**2*L**2)",
    # The printed middle term of Theorem 5.1, strongly convex.
    "middle_term": "variation/(mu*R*eta_g*E)**2",
}

# --- Appendix E ---------------------------------------------------------------------------------------------------

GEN_STEPS = {
    **FACTOR,
    "effective step size": "W*eta_g*eta_l <= 1/(4*beta(P2=P2_gen, M=M1)*L)",
    "local step size": "eta_l <= 1/(4*beta(P2=P2_gen, M=M1)*L)",
}
GEN_PRINTED = {**SERVER, "step size": "eta_g*eta_l <= 1/(4*beta_gen*L)"}
GEN_GEOMETRIC = {**ROUNDS, **ORDERED, "metric weights": "(1 - mu*W*eta_g*eta_l/2)**(-r)"}


GEN_POINTS = {"more points": ("R=100000", "R=100000 M1=1/99999999")}


def tuned_e_1(kind, first, second, noise):
    """With the coefficients of d0, c1 and c2."""
    if kind == "nonconvex":
        at = f"eta_max=_gen_largest, d0={first}*gap_0, c1={second}*M1*L*G2, c2={noise}*L**2*_spread/(W*eta_g)**2"
        return tuned("sublinear", "W*eta_g", at, {**GEN_POINTS, **MEAN, **GRADIENT, **FACTOR, **ABOVE})
    at = f"eta_max=_gen_largest, d0={first}*dist2_0, c1={second}*M1*G2, c2={noise}*L*_spread/(W*eta_g)**2"
    if kind == "convex":
        return tuned("sublinear", "W*eta_g", at, {**GEN_POINTS, **MEAN, **GAP, **FACTOR, **AWAY})
    points = {"more points": ("R=1000", "R=1000 M1=1/99999999", "R=300 G2=900", "R=5000 W=1/9")}
    parts = {**points, **GEN_GEOMETRIC, **GAP, **FACTOR, **AWAY, "rounds": "R >= 1/(_gen_largest*mu)"}
    return tuned("linear", "W*eta_g", f"mu=mu/2, {at}", parts)


GEN_DRIFT = {"metric scale": "3*L*W*eta_g*eta_l", "local step size": GEN_STEPS["local step size"]}
OWN_STEP = {"local step": "eta_l <= 1/(2*L)"}


# --- Sections 4 and 5 ---------------------------------------------------------------------------------------------

SIX_SAMPLES = {
    **ROUNDS,
    "full participation": "b == 3",
    "server step size": "eta_g == 1",
    "batch": "batch == 1",
    "dimension": "d == 6",
    "sizes": "sigma2 == 7/36",
}


def fedavg_gap(E, R, eta_l):
    """Mean gap of FedAvgRR on (36) from 0: each coordinate is a mean and a variance, round by round."""
    sizes, weights = (1, 2, 3), (q(1, 6), q(1, 3), q(1, 2))
    gap = 0
    for size, weight in zip(sizes, weights, strict=True):
        keep = sum(w * (1 - eta_l) ** int(E * s) for s, w in zip(sizes, weights, strict=True))
        mean = variance = 0
        pulls = [eta_l * (1 - eta_l) ** (size - 1 - place) for place in range(size)]
        first = sum(pulls) / size
        second = sum(p**2 for p in pulls) / size
        later = [(1 - eta_l) ** (size * epoch) for epoch in range(int(E))]
        for _ in range(int(R)):
            mean = keep * mean + weight * first * sum(later)
            variance = keep**2 * variance + weight**2 * (second - first**2) * sum(f**2 for f in later)
        gap += size * ((mean - q(1, 6)) ** 2 + variance) / 2
    return gap


FUNCTIONS = {"fedavg_gap": fedavg_gap}


VALUES = {
    "lemma_e_3/corrected": {
        **ONE_ROUND,
        **ORDERED,
        **DISTANCE,
        **FACTOR,
        "step size": "W*eta_g*eta_l <= 1/(4*L*(1 + M1*B2))",
        "bound": "lemma_c_1(M=M1, step=W*eta_g*eta_l)",
    },
    "lemma_e_3/as_printed": {
        **ONE_ROUND,
        **ORDERED,
        **DISTANCE,
        **SERVER,
        "step size": "eta_g*eta_l <= 1/(4*L*(1 + M2 + M1*B2))",
        "bound": "lemma_c_1(M=M1, step=W*eta_g*eta_l)",
    },
    "lemma_e_3/raw": {
        **ONE_ROUND,
        **ORDERED,
        **DISTANCE,
        "bound": (
            "(1 - mu*W*eta_g*eta_l/2)*dist2_0 + W*eta_g*eta_l*(2*L*drift_0 - 2*gap_0) + "
            "(W*eta_g*eta_l)**2*(2*L**2*drift_0*(1 + M1) + 2*M1*G2 + 4*L*gap_0 + 4*L*M1*B2*gap_0)"
        ),
    },
    "drift_of_a_visit/corrected": {**OWN_STEP, "bound": "_own_drift(gradient=own_grad2_0, noise=own_noise_0)"},
    "drift_of_a_round_gen/corrected": {**OWN_STEP, "bound": "_own_drift(gradient=client_grad2_0, noise=sigma2_gen)"},
    "gradient_of_a_visit/corrected": {"bound": "L**2*visit_drift_0"},
    "progress_of_a_visit/corrected": {**ORDERED, "bound": "L*visit_drift_0"},
    "movement_of_a_round_gen/corrected": {
        "bound": "2*(W*eta_g*eta_l)**2*(L**2*drift_0 + grad2_0 + M1*(L**2*drift_0 + client_grad2_0))"
    },
    "recursion_convex_gen/sharp": {
        **ONE_ROUND,
        **ORDERED,
        **DISTANCE,
        **GEN_STEPS,
        "bound": "dist2_0 + W*eta_g*eta_l*(5*L*eta_l**2*_spread - gap_0 - mu*dist2_0/2) + 2*(W*eta_g*eta_l)**2*M1*G2",
    },
    "recursion_nonconvex_gen/sharp": {
        **ONE_ROUND,
        **GAP,
        **GEN_STEPS,
        "bound": "gap_0 + W*eta_g*eta_l*(3*L**2*eta_l**2*_spread/2 - grad2_0/4) + (W*eta_g*eta_l)**2*M1*L*G2",
    },
    "lemma_e_4/corrected": {**GEN_DRIFT, "bound": "_gen_drift(gap_share=9/10, noise_share=9)"},
    "lemma_e_4/sharp": {**GEN_DRIFT, "bound": "_gen_drift(gap_share=6/7, noise_share=48/7)"},
    "lemma_e_4/as_printed": {
        **GEN_PRINTED,
        "metric scale": "3*L*W*eta_g*eta_l",
        "bound": "9*W*eta_g*eta_l*gap_0/10 + 9*(W*eta_g*eta_l)**3/eta_g**2*_spread",
    },
    "lemma_e_5/corrected": {"bound": "weighted_squares"},
    "remark_e_2/corrected": {"domain": ("work <= largest",), "bound": "1/eta_g/work/(min(1, 1/(W*eta_g))/largest)"},
    "remark_e_2/as_printed": {"domain": ("work <= largest",), "bound": "largest/work"},
    "section_4_1_limit/corrected": {**SIX_SAMPLES, "bound": "fedavg_gap(E, R, eta_l)"},
    "section_4_1_limit/as_printed": {
        **SIX_SAMPLES,
        "small step": "E*eta_l <= 1",
        "bound": "((1/14 - 1/6)**2 + 2*(2/14 - 1/6)**2 + 3*(3/14 - 1/6)**2)/2",
    },
    "section_4_2_sum_one/general": {"bound": "(w_i/(w_i + w_j) + w_i/(w_i + w_k))/3"},
    "section_4_2_sum_one/as_printed_client_1": {"bound": "7/36"},
    "section_4_2_sum_one/as_printed_client_2": {"bound": "16/45"},
    "section_4_2_sum_one/as_printed_client_3": {"bound": "9/20"},
    "section_5_full_participation/corrected": {
        "domain": ("b <= n",),
        "more points": ("n=2 b=1", "n=1 b=1"),
        "bound": "(n - b)*n*w_max/(max(1, n - 1)*b)",
    },
    "section_5_full_participation/as_printed": {"domain": ("b <= n",), "bound": "(n - b)/(n - 1)*n/b*w_max"},
    "section_5_importance/corrected": {"domain": ("b*w_min <= 1",), "bound": "1/b - w_min"},
    "section_5_importance/as_printed": {"domain": ("b*w_min <= 1",), "bound": "(1 - w_min)/b"},
    "section_5_importance_optimal/corrected": {"bound": "sqrt(w*(1 - w))"},
    "section_5_importance_optimal/as_printed": {"bound": "1 - min(w, 1 - w)"},
    "section_5_middle_term/corrected": {**ORDERED, "rate": "middle_term", "bound": "L*middle_term"},
    "section_5_middle_term/as_printed": {"rate": "middle_term", "bound": "middle_term"},
    "section_5_with_replacement/corrected": {"bound": "1/sqrt(R)", "rate": "1/cbrt(R)"},
    "section_5_with_replacement/as_printed": {"bound": "1/cbrt(R)", "rate": "1/cbrt(R)"},
    "theorem_e_1_convex/corrected": {**MEAN, **GAP, **GEN_STEPS, "bound": "_gen(first=10, second=20, noise=90)"},
    "theorem_e_1_convex/sharp": {**MEAN, **GAP, **GEN_STEPS, "bound": "_gen(first=1, second=2, noise=5)"},
    "theorem_e_1_convex/as_printed": {
        **MEAN,
        **GAP,
        **GEN_PRINTED,
        "rate": ("sqrt(dist2_0*M1*G2/R) + cbrt(dist2_0**2*_spread/(R*eta_g)**2) + L*dist2_0*beta_gen/R"),
        "bound": ("10*dist2_0/(W*eta_g*eta_l*R) + 20*M1*G2*W*eta_g*eta_l + 90*_spread*(W*eta_g*eta_l)**2/eta_g**2"),
    },
    "theorem_e_1_convex_tuned/corrected": tuned_e_1("convex", 10, 20, 90),
    "theorem_e_1_convex_tuned/sharp": tuned_e_1("convex", 1, 2, 5),
    "theorem_e_1_convex_tuned/as_printed": {
        **GEN_POINTS,
        **MEAN,
        **GAP,
        **SERVER,
        **AWAY,
        "rate": "_gen_convex_order",
        "bound": "_gen_convex_order",
        "choice of eta_l": (
            "sublinear_step(eta_max=1/(4*beta_gen*L), d0=10*dist2_0, c1=20*M1*G2, c2=90*_spread/eta_g**2, K=R)/eta_g"
        ),
    },
    "theorem_e_1_nonconvex_tuned/corrected": tuned_e_1("nonconvex", 8, 8, 18),
    "theorem_e_1_nonconvex_tuned/sharp": tuned_e_1("nonconvex", 4, 4, 6),
    "theorem_e_1_nonconvex_tuned/as_printed": {
        **GEN_POINTS,
        **MEAN,
        **GRADIENT,
        **SERVER,
        **ABOVE,
        "rate": "_gen_nonconvex_order",
        "bound": "_gen_nonconvex_order",
        "choice of eta_l": (
            "sublinear_step(eta_max=1/(4*beta_gen*L), d0=8*gap_0, c1=8*M1*L*G2, c2=18*L*_spread/eta_g**2, K=R)/eta_g"
        ),
    },
    "theorem_e_1_nonconvex/corrected": {
        **MEAN,
        **GRADIENT,
        **GEN_STEPS,
        "bound": "_gen_nonconvex(first=8, second=8, noise=18)",
    },
    "theorem_e_1_nonconvex/sharp": {
        **MEAN,
        **GRADIENT,
        **GEN_STEPS,
        "bound": "_gen_nonconvex(first=4, second=4, noise=6)",
    },
    "theorem_e_1_nonconvex/as_printed": {
        **MEAN,
        **GRADIENT,
        **GEN_PRINTED,
        "rate": ("sqrt(gap_0*M1*L*G2/R) + cbrt(gap_0**2*L*_spread/(R*eta_g)**2) + L*gap_0*beta_gen/R"),
        "bound": ("8*gap_0/(W*eta_g*eta_l*R) + 8*M1*L*G2*W*eta_g*eta_l + 18*L*_spread*(W*eta_g*eta_l)**2/eta_g**2"),
    },
    "theorem_e_1_strongly_convex_tuned/corrected": tuned_e_1("strongly", 10, 20, 90),
    "theorem_e_1_strongly_convex_tuned/sharp": tuned_e_1("strongly", 1, 2, 5),
    "theorem_e_1_strongly_convex_tuned/as_printed": {
        "more points": ("R=1000", "R=300 G2=900"),
        **GEN_GEOMETRIC,
        **GAP,
        **SERVER,
        **AWAY,
        "rounds": "R >= 4*beta_gen*L/mu",
        "rate": "_gen_strongly_order",
        "bound": "_gen_strongly_order",
        "choice of eta_l": "min(1/(4*beta_gen*L), log(max(1, mu**2*R*10*dist2_0/(4*M1*G2)))/(mu*R))/eta_g",
    },
    "theorem_e_1_strongly_convex/corrected": {
        **GEN_GEOMETRIC,
        **GAP,
        **GEN_STEPS,
        "bound": "_gen_strongly(halves=10, second=20, noise=90)",
    },
    "theorem_e_1_strongly_convex/sharp": {
        **GEN_GEOMETRIC,
        **GAP,
        **GEN_STEPS,
        "bound": "_gen_strongly(halves=1, second=2, noise=5)",
    },
    "theorem_e_1_strongly_convex/as_printed": {
        **GEN_GEOMETRIC,
        **GAP,
        **GEN_PRINTED,
        "rounds": "R >= 4*beta_gen*L/mu",
        "step size from below": "W*eta_g*eta_l >= 1/(mu*R)",
        "rate": "_gen_strongly_order",
        "bound": (
            "10*mu*dist2_0*exp(-mu*R*W*eta_g*eta_l/2) + 4*M1*G2*W*eta_g*eta_l + 18*_spread*(W*eta_g*eta_l)**2/eta_g**2"
        ),
    },
}

# the other side of claims about numbers
for _reading in ("corrected", "as_printed"):
    VALUES[f"remark_e_2/{_reading}"] |= {"value": "min(1, 1/eta_g)*largest/(work*min(1, 1/(W*eta_g)))"}
    VALUES[f"section_5_with_replacement/{_reading}"] |= {
        "value": "slope*sqrt(dist2/(slope*R))/(slope*sqrt(dist2/slope))"
    }
