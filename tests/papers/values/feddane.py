"""Values of the statements on FedDANE, from the paper's text."""

POINTS = (
    "L=3/5 lam=2/7 mu=46/3 gamma=1/90 B2=5/2 gap_0=17/4 grad2_0=9/8 f2_0=13/6 K=3 n=7 K2=5 T=4 eps=2/9 rho=3/22 "
    "error2=5/9 step2=19/7 residual2=8/3 moved2=11/6 client_grad2_0=11/3 p_i=1/5 p_j=3/10 p_k=1/2 sigma2=7/9 "
    "L_f=4/5 inv=1/13 gam=1/8 lip=5/7 grad2=6/5 product=7/5 square=9/5 factor=9/4 inv_mu=1/6 gamma_inv_mu=1/150 "
    "L_inv_mu2=1/170 gamma2_inv_mu2=1/35 L_gamma2_inv_mu2=1/48",
    "L=5/3 lam=3/8 mu=49/5 gamma=2/17 B2=7/5 gap_0=1/4 grad2_0=8/3 f2_0=6/7 K=9 n=11 K2=2 T=6 eps=5/6 rho=1/12 "
    "error2=25/16 step2=9/4 residual2=4/9 moved2=49/25 client_grad2_0=19/3 p_i=1/3 p_j=3/7 p_k=5/21 sigma2=11/8 "
    "L_f=7/9 inv=2/19 gam=3/16 lip=8/9 grad2=13/2 product=9/2 square=5/13 factor=17/3 inv_mu=3/23 gamma_inv_mu=4/99 "
    "L_inv_mu2=2/45 gamma2_inv_mu2=4/29 L_gamma2_inv_mu2=3/53",
)

LET = {
    # Theorem 5 as printed, term by term.
    "rho_nonconvex": (
        "1/mu - 3*gamma/(2*(mu - lam)) - L*(1 + gamma)**2/(mu - lam)**2 - 3*L/(2*mu*(mu - lam)) - (B2 - 1)*(L*(1 + "
        "gamma)**2/(mu - lam)**2 + L/(mu*(mu - lam)) + gamma/(mu - lam))"
    ),
    # Theorem 3 as printed, term by term.
    "rho_convex": (
        "(2 - 3*gamma)/(2*mu) - (2*L*(1 + gamma)**2 + 3*L)/(2*mu**2) - (B2 - 1)*((L*(1 + gamma)**2 + L)/mu**2 + "
        "gamma/mu)"
    ),
    # From the proof with E|g|^2 = second_moment |grad f|^2: the coefficient of -|grad f|^2.
    "rho_sharp": (
        "1/mu - (L/mu + gamma)/(2*(mu - lam)) - second_moment*((L/mu + gamma)/(2*(mu - lam)) + L*(1 + gamma)**2/(2*(mu "
        "- lam)**2))"
    ),
    # The a of rho = a/mu - c/mu^2.
    "slope": "1 - gamma*(B2 + 1/2)",
    # The c of rho = a/mu - c/mu^2.
    "offset": "L*(B2*((1 + gamma)**2 + 1) + 1/2)",
    "_trivial": "gap_0",
    "_small_gamma": "slope > 0",
    # Larger root of rho mu m^2 = 0, m = mu - lam.
    "_least_nonconvex": (
        "lam + (gamma*(B2 + 1/2)*lam + L*B2*(1 + gamma)**2 + L*(B2 + 1/2) + sqrt((gamma*(B2 + 1/2)*lam + L*B2*(1 + "
        "gamma)**2 + L*(B2 + 1/2))**2 + 4*(1 - gamma*(B2 + 1/2))*(L*B2*(1 + gamma)**2*lam)))/(2*(1 - gamma*(B2 + 1/2)))"
    ),
    "_rho_devices": "inv_mu - gamma_inv_mu*(B2 + 1/2) - L_f*B2*gamma2_inv_mu2 - L_inv_mu2*(B2 + 1/2)",
    "_rho_devices_printed": (
        "inv_mu - 3*gamma_inv_mu/2 - L_gamma2_inv_mu2 - 3*L_inv_mu2/2 - (B2 - 1)*(L*gamma2_inv_mu2 + L_inv_mu2 + "
        "gamma_inv_mu)"
    ),
    "_rho_devices_sharp": (
        "inv_mu - (L_inv_mu2 + gamma_inv_mu)*(1 + (1 + (B2 - 1)/K))/2 - L_f*gamma2_inv_mu2*(1 + (B2 - 1)/K)/2"
    ),
    "_feasible_b": "((2 - gamma)*mu - L)/(2*(L*((1 + gamma)**2 + 1) + gamma*mu))",
    "_least_gamma": "sqrt((e1**2 + e2**2)/(s1**2 + s2**2))",
    "_mean": "p*g1 + (1 - p)*g2",
    "_mean_square": "p*g1**2 + (1 - p)*g2**2",
    # E|g - grad f|^2 of two draws: (11), (12) and (21), (22).
    "_enumerated": "p*p*(g1 - _mean)**2 + 2*p*(1 - p)*((g1 + g2)/2 - _mean)**2 + (1 - p)**2*(g2 - _mean)**2",
    "_third": "(g1 + g2 + g3)/3",
    "_without_replacement": "(((g1 + g2)/2 - _third)**2 + ((g1 + g3)/2 - _third)**2 + ((g2 + g3)/2 - _third)**2)/3",
    # Of the model f - <grad f, g>/mu + h |g|^2/(2 mu^2), g the gradient of one device.
    "_decrease": "_mean*g/mu - (L - below)*g**2/(2*mu**2)",
    # Half the chance of being first, or second after one of the others.
    "_drawn": (
        "(1 - p_j - p_k + p_j*(1 - p_j - p_k)/(1 - p_j - p_k + p_k) + p_k*(1 - p_j - p_k)/(1 - p_j - p_k + p_j))/2"
    ),
    "_rest": "1 - p_i - p_j",
    # Where -mu^2 m^3 rho' = m^3 - g mu^2 m - L (2 S mu^2 + (B2 + 1/2) (2 mu - lam) m) vanishes.
    "_best_lipschitz": (
        "(m**3 - gamma*(B2 + 1/2)*(lam + m)**2*m)/(2*B2*(1 + gamma)**2*(lam + m)**2 + (B2 + 1/2)*(2*(lam + m) - lam)*m)"
    ),
    "_best_rho": "rho_nonconvex(L=_best_lipschitz, mu=lam + m)",
}
"""L is below mu - lam of the first point by much, so that rho is positive; in the second it is negative."""


ONE_ITERATION = {"trivial": "_trivial", "metric rounds": "1"}
PROXIMAL = {"proximal weight": "mu > lam"}


# Theorem 3 with the sharp rho; the second moment of g depends on B2 and perhaps on K
CONVEX_SHARP = {
    **ONE_ITERATION,
    "positive decrease": "rho_sharp(lam=0, second_moment=1 + (B2 - 1)/K) > 0",
    "bound": "gap_0 - rho_sharp(lam=0, second_moment=1 + (B2 - 1)/K)*grad2_0",
}
CONVEX_ANY_COHORT = {
    **ONE_ITERATION,
    "positive decrease": "rho_sharp(lam=0, second_moment=B2) > 0",
    "bound": "gap_0 - rho_sharp(lam=0, second_moment=B2)*grad2_0",
}
POSITIVE_5 = {**PROXIMAL, "positive decrease": "rho_nonconvex > 0"}
POSITIVE_5_SHARP = {**PROXIMAL, "positive decrease": "rho_sharp(second_moment=1 + (B2 - 1)/K) > 0"}
THEOREM_5 = {**ONE_ITERATION, **POSITIVE_5, "bound": "gap_0 - rho_nonconvex*grad2_0"}
THEOREM_5_SHARP = {
    **ONE_ITERATION,
    **POSITIVE_5_SHARP,
    "bound": "gap_0 - rho_sharp(second_moment=1 + (B2 - 1)/K)*grad2_0",
}


COROLLARY = {**ONE_ITERATION, "exact solutions": "gamma == 0", "choice of mu": "5*L*B2"}
ONE_OF_TWO = {"metric rounds": "T", "exact solutions": "gamma == 0", "one gradient": "K == 1", "one solver": "K2 == 1"}


DISSIMILAR = {"where B2": "_mean_square/_mean**2"}
OF_TWO = {**DISSIMILAR, "where grad2_0": "_mean**2", "value": "_enumerated"}


VALUES = {
    "corollary_4/corrected": {**COROLLARY, "bound": "gap_0 - (3/(25*L*B2) - 1/(50*L*B2**2))*grad2_0"},
    "corollary_4/as_printed": {**COROLLARY, "bound": "gap_0 - (3/(25*L*B2))*grad2_0"},
    "corollary_4/sharp": {**COROLLARY, "bound": "gap_0 - (4/(25*L*B2) - 1/(50*L*B2**2))*grad2_0"},
    "definition_1/as_printed": {
        "bound": "sqrt(error2/step2)",
        "value": "_least_gamma",
        "where error2": "e1**2 + e2**2",
        "where step2": "s1**2 + s2**2",
    },
    "definition_1/certified": {
        **PROXIMAL,
        "value": "_least_gamma",
        "where residual2": "((mu - lam + c1)*e1)**2 + ((mu - lam + c2)*e2)**2",
        "where moved2": "(s1 + e1)**2 + (s2 + e2)**2",
        "small residual": "sqrt(residual2) < (mu - lam)*sqrt(moved2)",
        "bound": "sqrt(residual2)/(mu - lam)/(sqrt(moved2) - sqrt(residual2)/(mu - lam))",
    },
    "definition_2/as_printed": {
        "domain": ("client_grad2_0 >= grad2_0",),
        "bound": "sqrt(client_grad2_0/grad2_0)",
        "value": "sqrt(_mean_square)/abs(_mean)",
        "where client_grad2_0": "_mean_square",
        "where grad2_0": "_mean**2",
    },
    "equation_11/corrected": {**OF_TWO, "bound": "(B2 - 1)*grad2_0"},
    "equation_11/as_printed": {**DISSIMILAR, "value": "_enumerated", "where f2_0": "f0**2", "bound": "(B2 - 1)*f2_0"},
    "equation_11/sharp": {**OF_TWO, "where K": "2", "bound": "(B2 - 1)*grad2_0/K"},
    "equation_11/uniform_without_replacement": {
        "value": "_without_replacement",
        "where K": "2",
        "where n": "3",
        "where grad2_0": "(g1 + g2 + g3)**2/9",
        "where B2": "3*(g1**2 + g2**2 + g3**2)/(g1 + g2 + g3)**2",
        "bound": "(B2 - 1)*grad2_0*(1/K - (K - 1)/(K*(n - 1)))",
    },
    "equation_3/corrected": {**ONE_OF_TWO, "bound": "gap_0*(1/2 + (1 - 2/mu)**2/4 + (1 - 2/(mu + 2))**2/4)**T"},
    "equation_3/as_printed": {**ONE_OF_TWO, "bound": "gap_0*(1/2 + (mu/(mu + 2))**2/2)**T"},
    "feasibility_b/corrected": {
        "bound": "sqrt(_feasible_b)",
        "value": "sqrt(_feasible_b)",
        "B above 1": "_feasible_b > 1",
    },
    "feasibility_gamma/corrected": {"bound": "2/(2*B2 + 1)", "value": "1/(B2 + 1/2)"},
    "feasibility_mu/least": {
        "small gamma": "_small_gamma",
        "bound": "offset/slope",
        "value": "mu",
        "where L": "mu*slope/offset(L=1)",
    },
    "feasibility_mu/best": {
        "small gamma": "_small_gamma",
        "bound": "2*offset/slope",
        "value": "mu",
        "where L": "mu*slope/offset(L=2)",
    },
    "feasibility_mu/least_nonconvex": {
        "domain": ("lam >= 0",),
        "small gamma": "_small_gamma",
        "bound": "_least_nonconvex",
        "value": "lam + m",
        "where L": "(m/(lam + m) - gamma*(B2 + 1/2))/(B2*(1 + gamma)**2/m + (B2 + 1/2)/(lam + m))",
    },
    "feasibility_mu/best_nonconvex": {
        "domain": ("lam >= 0",),
        "small gamma": "_small_gamma",
        "bound": "_best_lipschitz",
        "value": "_best_lipschitz",
    },
    "feasibility_decrease/convex": {
        "small gamma": "_small_gamma",
        "bound": "slope**2/offset/4",
        "value": "rho_convex(mu=2*offset/slope)",
    },
    "feasibility_decrease/nonconvex": {
        "domain": ("lam >= 0",),
        "small gamma": "_small_gamma",
        "bound": "_best_rho",
        "value": "_best_rho",
    },
    "minibatch_gd/decrease": {
        **DISSIMILAR,
        "bound": "1/mu - L*B2/(2*mu**2)",
        # in expectation over the device, by its weight
        "value": "(p*_decrease(g=g1) + (1 - p)*_decrease(g=g2))/_mean**2",
    },
    "minibatch_gd/advantage": {
        "bound": "1/mu - L*B2/(2*mu**2) - rho_convex(gamma=0)",
        "value": "L*(3*B2 + 1)/(2*mu**2)",
    },
    "one_device/corrected": {
        "unbiased": "product >= grad2",
        "second moment": "square <= factor*grad2",
        "bound": "grad2*(-inv + (lip*inv**2 + gam*inv)*(1 + factor)/2 + L_f*(1 + gam)**2*inv**2*factor/2)",
    },
    "remark_fedprox_rate/as_printed": {"bound": "3/(25*L*B2)", "rate": "1/(L*B2)"},
    "remark_iid/corrected": {"bound": "1"},
    "remark_iid/as_printed": {"bound": "1"},
    "remark_sampling/corrected": {
        "domain": ("Eq(p_i + p_j + p_k, 1)",),
        "bound": "(p_i + p_j*p_i/(1 - p_j) + p_k*p_i/(1 - p_k))/2",
        "value": "_drawn",
        "where p_k": "_rest",
    },
    "remark_sampling/as_printed": {"bound": "p_i", "value": "_drawn", "where p_k": "_rest"},
    "remark_sampling/uniform": {"bound": "1/n", "value": "(1/n + (n - 1)/n/(n - 1))/2"},
    "remark_sgd_rate/corrected": {
        "bound": "10*L*gap_0/eps + 8*L*gap_0*sigma2/eps**2",
        "value": "gap_0/eps*2*L*(4*(1 + sigma2/eps) + 1)",
        "rate": "L*gap_0*sigma2/eps**2",
    },
    "remark_sgd_rate/as_printed": {
        "bound": "25*L*B2*gap_0/(3*eps)",
        "value": "L*gap_0*sigma2/eps**2",
        "rate": "L*gap_0*sigma2/eps**2",
    },
    "theorem_3/as_printed": {
        **ONE_ITERATION,
        "positive decrease": "rho_convex > 0",
        "bound": "gap_0 - rho_convex*grad2_0",
    },
    "theorem_3/sharp_any_cohort": CONVEX_ANY_COHORT,
    "theorem_3/sharp": CONVEX_SHARP,
    "theorem_5/as_printed": THEOREM_5,
    "theorem_5/sharp_any_cohort": {
        **ONE_ITERATION,
        **PROXIMAL,
        "positive decrease": "rho_sharp(second_moment=B2) > 0",
        "bound": "gap_0 - rho_sharp(second_moment=B2)*grad2_0",
    },
    "theorem_5/sharp": THEOREM_5_SHARP,
    "theorem_6/corrected": {
        **POSITIVE_5,
        "metric rounds": "T",
        "metric weights": "1",
        "rate": "1/T",
        "bound": "gap_0/(rho_nonconvex*T)",
    },
    "theorem_6/as_printed": {
        **POSITIVE_5,
        "metric rounds": "T + 1",
        "metric weights": "1",
        "rate": "1/T",
        "metric scale": "(T + 1)/T",
        "bound": "gap_0/(rho_nonconvex*T) + grad2_0/T",
    },
    "theorem_6/sharp": {
        **POSITIVE_5_SHARP,
        "metric rounds": "T",
        "metric weights": "1",
        "rate": "1/T",
        "bound": "gap_0/(rho_sharp(second_moment=1 + (B2 - 1)/K)*T)",
    },
    "theorem_6_iteration/as_printed": THEOREM_5,
    "theorem_6_iteration/sharp": THEOREM_5_SHARP,
    "theorem_6_rounds/corrected": {
        "bound": "ceil(gap_0/(rho*eps))",
        "value": "T",
        "where gap_0": "(T - part)*eps*rho",
        "rate": "gap_0/(rho*eps)",
    },
    "theorem_6_rounds/as_printed": {
        "bound": "gap_0/(rho*eps)",
        "value": "T",
        "where gap_0": "T*eps*rho",
        "rate": "gap_0/(rho*eps)",
    },
    "theorem_7/corrected": {
        **ONE_ITERATION,
        "positive decrease": "_rho_devices > 0",
        "bound": "gap_0 - _rho_devices*grad2_0",
    },
    "theorem_7/as_printed": {
        **ONE_ITERATION,
        "positive decrease": "_rho_devices_printed > 0",
        "bound": "gap_0 - _rho_devices_printed*grad2_0",
    },
    "theorem_7/sharp": {
        **ONE_ITERATION,
        "positive decrease": "_rho_devices_sharp > 0",
        "bound": "gap_0 - _rho_devices_sharp*grad2_0",
    },
}
