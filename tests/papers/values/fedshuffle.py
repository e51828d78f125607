"""Values of FedShuffle's theorems and remarks, from the paper's text; its lemmas stand in `fedshuffle_lemmas`."""

POINTS = (
    "L=7/3 mu=3/2 G2=5/4 B2=9/4 P2=4/9 sigma2=13/5 M=2/7 E=3 eta_l=1/90 eta_g=8/5 dist2_0=17/9 gap_0=11/6 R=50 r=7 "
    "client_grad2_0=19/7 drift_0=5/8 grad2_0=13/6 rise=-7/5 norm2_yz=3/4 norm2_zx=5/3 eta_max=1/4 d0=23/5 c1=1/9 "
    "c2=2/11 K=8 eta=1/13 weighted_squares=15/4 n=6 b=4 squares=9/7 norm2_sum=10/3 k=2 a=1/6 norm2_u=7/6 norm2_v=12/5 "
    "tau=5 spread=6/5 d2=11/4 sigma2_i=9/8 D_i=10 h2=6/7 y2=11/5 gam2=5/7 delta=3/8 S=16/3 h2_0=10/7 W=3/5 M1=4/11 "
    "M2=14/9 P2_gen=1/16 sigma2_gen=7/9 work=9 largest=14 batch=11 d=12 w_i=1/5 w_j=3/10 w_k=1/2 w_max=5/9 w_min=1/7 "
    "w=2/5 warm_up=13",
    "L=4/5 mu=1/3 G2=8/3 B2=25/16 P2=9/25 sigma2=4/7 M=7/2 E=2 eta_l=1/30 eta_g=5/2 dist2_0=13/4 gap_0=9/8 R=4 r=5 "
    "client_grad2_0=6/5 drift_0=8/9 grad2_0=15/4 rise=5/3 norm2_yz=7/3 norm2_zx=3/8 eta_max=6/7 d0=1/2 c1=14/3 "
    "c2=17/2 K=6 eta=2/5 weighted_squares=7/4 n=9 b=3 squares=11/8 norm2_sum=9/2 k=7 a=1/4 norm2_u=9/4 norm2_v=16/9 "
    "tau=8 spread=3/4 d2=3/14 sigma2_i=10/9 D_i=11 h2=13/3 y2=8/5 gam2=7/6 delta=11/6 S=19/5 h2_0=5/9 W=7/5 M1=11/5 "
    "M2=12/7 P2_gen=4/81 sigma2_gen=3/10 work=12 largest=20 batch=13 d=14 w_i=2/9 w_j=5/12 w_k=13/36 w_max=1/6 "
    "w_min=1/10 w=5/7 warm_up=16",
    "L=5/2 mu=2/7 G2=1/400 B2=2 P2=5/3 sigma2=1/90 M=1/300 E=4 eta_l=1/70 eta_g=7/3 dist2_0=19/2 gap_0=16/3 R=3 r=8 "
    "client_grad2_0=5/6 drift_0=3/7 grad2_0=11/9 rise=2/3 norm2_yz=8/3 norm2_zx=13/8 eta_max=1/9 d0=19/3 c1=1/80 "
    "c2=1/60 K=9 eta=1/5 weighted_squares=9/4 n=7 b=5 squares=13/9 norm2_sum=7/2 k=6 a=1/8 norm2_u=5/8 norm2_v=7/9 "
    "tau=10 spread=4/7 d2=3/5 sigma2_i=8/7 D_i=12 h2=10/9 y2=9/5 gam2=12/11 delta=1/50 S=21/5 h2_0=14/5 W=1/6 M1=1/40 "
    "M2=15/7 P2_gen=2/9 sigma2_gen=1/110 work=13 largest=30 batch=15 d=16 w_i=3/11 w_j=4/9 w_k=28/99 w_max=11/12 "
    "w_min=1/12 w=3/10 warm_up=17",
)

LET = {
    # The beta of Theorem 5.1, with the P that is given.
    "beta": "1 + (1 + sqrt(P2))*sqrt(B2) + M*B2",
    # The printed beta of Theorem E.1.
    "beta_gen": "1 + M2 + (1 + sqrt(P2_gen))*sqrt(B2) + M1*B2",
    # (E^2 + P^2) G^2 + sigma^2.
    "variation": "(E**2 + P2)*G2 + sigma2",
    # The same with Lemma C.2's P^2 and sigma^2, a third of Section 5's.
    "third": "(E**2 + P2/3)*G2 + sigma2/3",
    # (1 - q)^R over 1 - (1 - q)^R at q = mu step/2.
    "contracted": "(1 - mu*step/2)**R/(1 - (1 - mu*step/2)**R)",
    # Lemma B.3 at its step.
    "tuned_sublinear": "d0/(eta_max*K) + 2*sqrt(c1*d0/K) + 2*cbrt((d0/K)**2*c2)",
    # The step of Lemma B.3.
    "sublinear_step": "min(eta_max, sqrt(d0/(c1*K)), cbrt(d0/(c2*K)))",
    # The logarithm in the ell of the repaired Lemma B.2.
    "exponent": "log(max(1, min(mu**2*K*d0/c1, mu**3*K**2*d0/c2)))",
    # The repaired Lemma B.2 at the step min(eta_max, ell/(mu K)), where ell counts up to mu K eta_max only.
    "tuned_linear": (
        "3*mu*d0*exp(-mu*eta_max*K) + ((3 + max(1/2, min(exponent, mu*K*eta_max)))*c1/(mu*K) + (3 + max(1/2, "
        "min(exponent, mu*K*eta_max))**2)*c2/(mu*K)**2)"
    ),
    # Its step.
    "linear_step": "min(eta_max, max(1/2, exponent)/(mu*K))",
    # Theorem 5.1 at a fixed step, with the coefficients of its terms.
    "et": "E*eta_g*eta_l",
    "_convex": "first*dist2_0/(et*R) + second*M*G2*et + noise*L*spread*eta_l**2",
    "_nonconvex": "first*gap_0/(et*R) + second*M*L*G2*et + noise*L**2*spread*eta_l**2",
    "_strongly": "first*mu*dist2_0*contracted(step=et) + second*M*G2*et + noise*L*spread*eta_l**2",
    # The printed order of Theorem 5.1, general convex.
    "convex_order": "sqrt(dist2_0*M*G2/R) + cbrt(dist2_0**2*variation/(R*eta_g*E)**2) + L*dist2_0*beta/R",
    # The printed order of Theorem 5.1, non-convex.
    "nonconvex_order": "sqrt(gap_0*M*L*G2/R) + cbrt(gap_0**2*L*variation/(R*eta_g*E)**2) + L*gap_0*beta/R",
    # The printed order of Theorem 5.1, strongly convex, with D^2 for a D that is a square already.
    "strongly_order": "M*G2/(mu*R) + variation/(mu*R*eta_g*E)**2 + mu*dist2_0**2*exp(-mu*R/(8*beta*L))",
    # The step of Theorem 5.2, times E.
    "momentum_step": "min(1/delta, cbrt(gap_0/(R*delta**2*(G2 + sigma2))))/40",
    # The step at the end of Appendix D.
    "momentum_proof_step": (
        "min(1/(4*L), 1/(40*delta*E), cbrt(gap_0/(E**3*R*(58752*delta**2*G2 + 5*sigma2*L**2/E**2))))"
    ),
    "proof_bound": ("318*G2/R + 390*cbrt(gap*(delta**2*G2 + sigma2*L**2/E**2)/R**2) + 20*(L + 10*delta*E)*gap_0/(E*R)"),
    # The printed order of Theorem 5.2.
    "momentum_order": "cbrt((delta*gap_0)**2*(G2 + sigma2)/R**2) + (delta*gap_0 + G2)/R",
}


SERVER = {"server step size": "eta_g >= 1"}
FACTOR = {"B at least 1": "B2 >= 1"}
STEP = {**SERVER, "step size": "E*eta_g*eta_l <= 1/(4*beta*L)"}
THIRD_STEP = {**SERVER, "step size": "E*eta_g*eta_l <= 1/(4*beta(P2=P2/3)*L)"}
ROUNDS = {"metric rounds": "R"}
MEAN = {**ROUNDS, "metric weights": "1"}
GAP = {"trivial": "gap_0"}
GRADIENT = {"trivial": "2*L*gap_0"}
ORDERED = {"domain": ("mu <= L",)}
GEOMETRIC = {**ROUNDS, **ORDERED, "metric weights": "(1 - mu*E*eta_g*eta_l/2)**(-r)"}
ENOUGH = {"rounds": "R >= 4*beta*L/mu"}
AWAY = {"start": "dist2_0 > 0"}
ABOVE = {"start": "gap_0 > 0"}


SUBLINEAR_POINTS = {"more points": ("R=100000", "R=100000 M=1/99999999")}
LINEAR_POINTS = {"more points": ("R=1000", "R=1000 M=1/99999999", "R=300 G2=900")}
"""Points at which the tuned step is not the largest: each error term, or the least logarithm, decides."""


def tuned(lemma, work, at, parts):
    """The bound of Lemma B.2 or B.3 at its step, and that step; work: of a round; at: the lemma's constants."""
    return {**parts, "bound": f"tuned_{lemma}({at}, K=R)", "choice of eta_l": f"{lemma}_step({at}, K=R)/({work})"}


def tuned_5_1(kind, first, second, noise, sharp=False):
    """With the coefficients of d0, c1 and c2."""
    largest = f"1/(4*beta(P2=P2/{3 if sharp else 1})*L)"
    spread = f"{noise}*L*{'third' if sharp else 'variation'}/(eta_g*E)**2"
    if kind == "nonconvex":
        at = f"eta_max={largest}, d0={first}*gap_0, c1={second}*M*L*G2, c2=L*{spread}"
        return tuned("sublinear", "E*eta_g", at, {**SUBLINEAR_POINTS, **MEAN, **GRADIENT, **SERVER, **FACTOR, **ABOVE})
    at = f"eta_max={largest}, d0={first}*dist2_0, c1={second}*M*G2, c2={spread}"
    if kind == "convex":
        return tuned("sublinear", "E*eta_g", at, {**SUBLINEAR_POINTS, **MEAN, **GAP, **SERVER, **FACTOR, **AWAY})
    parts = {**LINEAR_POINTS, **GEOMETRIC, **GAP, **SERVER, **FACTOR, **AWAY, "rounds": f"R >= 1/({largest}*mu)"}
    return tuned("linear", "E*eta_g", f"mu=mu/2, {at}", parts)


NO_VARIANCE_FACTOR = {"B is 1": "B2 <= 1", "P is 0": "P2 == 0"}
MOMENTUM = {
    **NO_VARIANCE_FACTOR,
    **GRADIENT,
    **MEAN,
    "step size and smoothness": "eta_l <= 1/(4*L)",
    "step size and similarity": "40*delta*E*eta_l <= 1",
    "momentum from below": "a >= 1152*E**2*delta**2*eta_l**2",
    "momentum from above": "a <= 1",
}
MOMENTUM_TUNED = {
    "more points": ("R=500", "G2=1/99999 sigma2=1/90000"),
    **NO_VARIANCE_FACTOR,
    **GRADIENT,
    **MEAN,
    **ABOVE,
    "choice of warm_up": "R",
}
MOMENTUM_STATED = {
    **MOMENTUM_TUNED,
    "local epochs": "E*delta >= L",
    "similarity": "delta > 0",
    "rate": "momentum_order",
    "choice of eta_l": "momentum_step/E",
    "choice of a": "max(1152*delta**2*momentum_step**2, 1/R)",
}
MOMENTUM_PROOF = {
    **MOMENTUM_TUNED,
    "choice of eta_l": "momentum_proof_step",
    "choice of a": "max(1152*(E*delta*momentum_proof_step)**2, 1/R)",
}


VALUES = {
    "theorem_5_1_convex/corrected": {
        **MEAN,
        **GAP,
        **STEP,
        **FACTOR,
        "bound": "_convex(first=10, second=20, noise=90, spread=variation)",
    },
    "theorem_5_1_convex/sharp": {
        **MEAN,
        **GAP,
        **THIRD_STEP,
        **FACTOR,
        "bound": "_convex(first=1, second=2, noise=5, spread=third)",
    },
    "theorem_5_1_convex/as_printed": {
        **MEAN,
        **GAP,
        **STEP,
        "rate": "convex_order",
        "bound": "10*dist2_0/(E*eta_g*eta_l*R) + 20*M*G2*E*eta_g*eta_l + 90*variation*eta_l**2",
    },
    "theorem_5_1_convex_tuned/corrected": tuned_5_1("convex", 10, 20, 90),
    "theorem_5_1_convex_tuned/sharp": tuned_5_1("convex", 1, 2, 5, sharp=True),
    "theorem_5_1_convex_tuned/as_printed": {
        **SUBLINEAR_POINTS,
        **MEAN,
        **GAP,
        **SERVER,
        **AWAY,
        "rate": "convex_order",
        "bound": "convex_order",
        "choice of eta_l": (
            "sublinear_step(eta_max=1/(4*beta*L), d0=10*dist2_0, c1=20*M*G2, c2=90*variation/(eta_g*E)**2, "
            "K=R)/(E*eta_g)"
        ),
    },
    "theorem_5_1_nonconvex/corrected": {
        **MEAN,
        **GRADIENT,
        **STEP,
        **FACTOR,
        "bound": "_nonconvex(first=8, second=8, noise=18, spread=variation)",
    },
    "theorem_5_1_nonconvex/sharp": {
        **MEAN,
        **GRADIENT,
        **THIRD_STEP,
        **FACTOR,
        "bound": "_nonconvex(first=4, second=4, noise=6, spread=third)",
    },
    "theorem_5_1_nonconvex/as_printed": {
        **MEAN,
        **GRADIENT,
        **STEP,
        "rate": "nonconvex_order",
        "bound": "8*gap_0/(E*eta_g*eta_l*R) + 8*M*L*G2*E*eta_g*eta_l + 18*L*variation*eta_l**2",
    },
    "theorem_5_1_nonconvex_tuned/corrected": tuned_5_1("nonconvex", 8, 8, 18),
    "theorem_5_1_nonconvex_tuned/sharp": tuned_5_1("nonconvex", 4, 4, 6, sharp=True),
    "theorem_5_1_nonconvex_tuned/as_printed": {
        **SUBLINEAR_POINTS,
        **MEAN,
        **GRADIENT,
        **SERVER,
        **ABOVE,
        "rate": "nonconvex_order",
        "bound": "nonconvex_order",
        "choice of eta_l": (
            "sublinear_step(eta_max=1/(4*beta*L), d0=8*gap_0, c1=8*M*L*G2, c2=18*L*variation/(eta_g*E)**2, "
            "K=R)/(E*eta_g)"
        ),
    },
    "theorem_5_1_strongly_convex/corrected": {
        **GEOMETRIC,
        **GAP,
        **STEP,
        **FACTOR,
        "bound": "_strongly(first=5, second=20, noise=90, spread=variation)",
    },
    "theorem_5_1_strongly_convex/sharp": {
        **GEOMETRIC,
        **GAP,
        **THIRD_STEP,
        **FACTOR,
        "bound": "_strongly(first=1/2, second=2, noise=5, spread=third)",
    },
    "theorem_5_1_strongly_convex/as_printed": {
        **GEOMETRIC,
        **GAP,
        **STEP,
        **ENOUGH,
        "step size from below": "E*eta_g*eta_l >= 1/(mu*R)",
        "rate": "strongly_order",
        "bound": "10*dist2_0*mu*exp(-E*eta_g*eta_l/2*mu*R) + 4*M*G2*E*eta_g*eta_l + 18*variation*eta_l**2",
    },
    "theorem_5_1_strongly_convex_tuned/corrected": tuned_5_1("strongly", 10, 20, 90),
    "theorem_5_1_strongly_convex_tuned/sharp": tuned_5_1("strongly", 1, 2, 5, sharp=True),
    "theorem_5_1_strongly_convex_tuned/as_printed": {
        **LINEAR_POINTS,
        **GEOMETRIC,
        **GAP,
        **SERVER,
        **AWAY,
        **ENOUGH,
        "rate": "strongly_order",
        "bound": "strongly_order",
        "choice of eta_l": "min(1/(4*beta*L), log(max(1, mu**2*R*10*dist2_0/(4*M*G2)))/(mu*R))/(E*eta_g)",
    },
    "theorem_5_2/corrected": {
        **MOMENTUM,
        "bound": "5*gap_0/(eta_l*E*R) + 63*G2/(a*R*warm_up) + 25*eta_l**2*L**2*sigma2 + 255*a*G2",
    },
    "theorem_5_2/as_printed": {
        **MOMENTUM,
        "warm-up": "warm_up == R",
        "bound": "5*gap_0/(eta_l*E*R) + 63*G2/(a*R**2) + 25*eta_l**2*L**2*sigma2 + 293760*G2",
    },
    "theorem_5_2_tuned/corrected": {
        **MOMENTUM_STATED,
        "bound": "384*cbrt((delta*gap_0)**2*(G2 + sigma2)/R**2) + (200*delta*gap_0 + 318*G2)/R",
    },
    "theorem_5_2_tuned/as_printed": {**MOMENTUM_STATED, "bound": "momentum_order"},
    "theorem_5_2_tuned/corrected_proof": {**MOMENTUM_PROOF, "bound": "proof_bound(gap=gap_0**2)"},
    "theorem_5_2_tuned/as_printed_proof": {**MOMENTUM_PROOF, "bound": "proof_bound(gap=gap_0)"},
}
