"""Values of FedShuffle's lemmas of Appendices B, C and D, from the paper's text."""

from values.arithmetic import exp, log, q
from values.fedshuffle import FACTOR, MEAN, NO_VARIANCE_FACTOR, ORDERED, THIRD_STEP

LET = {
    # Chain of Lemma C.2: xi <= 2 eta_l^2 L^2 E^2 xi + 2 eta_l^2 ((E^2 + P^2) grad + sigma^2), solved for xi.
    "drift_share": "2*eta_l**2*((E**2 + P2/3)*client_grad2_0 + sigma2/3)/(1 - 2*eta_l**2*L**2*E**2)",
    # One round by Lemma C.1, or by Lemma E.3 with M1 for M.
    "lemma_c_1": "(1 - mu*step/2)*dist2_0 - step*gap_0 + 3*L*step*drift_0 + 2*step**2*M*G2",
    # The printed order of Lemma B.2, which counts by R.
    "linear_order": "mu*d0*exp(-mu*eta_max*R) + c1/(mu*R)",
    "_drift": "et*(gap_share*gap_0 + noise_share*L*eta_l**2*third)",
    "_recursion": "(1 - mu*et/2)*dist2_0 - gap_share*et*gap_0 + 2*et**2*M*G2 + noise_share*L*et*eta_l**2*third",
    "_recursion_nonconvex": "gap_0 - share*et*grad2_0 + noise_share*L_factor*et*eta_l**2*third + et**2*M*G2*L",
    "_fixed_linear": "mu*d0*(1 - mu*eta)**K/(1 - (1 - mu*eta)**K) + c1*eta + c2*eta**2",
}

ONE_ROUND = {"metric rounds": "1"}
DISTANCE = {"trivial": "dist2_0"}


# --- Lemmas C.1 and C.2, the recursions ---------------------------------------------------------------------------


LEMMA_C_1 = {
    **ONE_ROUND,
    **ORDERED,
    "step size": "E*eta_g*eta_l <= 1/(4*L*(1 + M*B2))",
    "bound": "lemma_c_1(step=E*eta_g*eta_l)",
}


DRIFT = {**THIRD_STEP, "metric scale": "3*L*E*eta_g*eta_l"}
RECURSION = {**ONE_ROUND, **ORDERED, **THIRD_STEP, **FACTOR}
RECURSION_NONCONVEX = {**ONE_ROUND, **THIRD_STEP, **FACTOR}
ALGORITHM_1 = {
    **ONE_ROUND,
    **ORDERED,
    **DISTANCE,
    **THIRD_STEP,
    **FACTOR,
    "bound": "(1 - mu*E*eta_g*eta_l/2)*dist2_0 + 2*(E*eta_g*eta_l)**2*M*G2 + 9*L*E*eta_g*eta_l**3*third",
}

# --- Appendix B ---------------------------------------------------------------------------------------------------

LARGEST_STEP = {"largest step": "eta_max < 1/mu", "enough terms": "K >= 1/(2*mu*eta_max)"}


# --- Appendix D ---------------------------------------------------------------------------------------------------

A_MOMENTUM = {"momentum": "a <= 1"}
P_IS_0 = {"P is 0": NO_VARIANCE_FACTOR["P is 0"]}
LEMMA_D_1 = {
    **A_MOMENTUM,
    **P_IS_0,
    "step size and L": "2*L*eta_l <= 1",
    "bound": "2*eta_l**2*L**2*sigma2_i/D_i + eta_l**2*L**2*d2",
}
LEMMA_D_3 = {**LEMMA_D_1, "step size and delta": "4*delta*E*eta_l <= 1"}
LEMMA_D_4 = {
    **A_MOMENTUM,
    **P_IS_0,
    "step size and L": "4*L*eta_l <= 1",
    "step size and delta": "40*delta*E*eta_l <= 1",
    "momentum and step size": "a >= 1152*E**2*delta**2*eta_l**2",
    **ONE_ROUND,
    "trivial": "h2",
    "bound": "h2 - 23*a*h2/24 + 3*a**2*gam2 + 16*eta_l**4*E**2*delta**2*L**2*sigma2_i/D_i + 8*eta_l**2*delta**2*E*S",
}
LEMMA_D_5 = {
    **{name: formula for name, formula in LEMMA_D_4.items() if name != "trivial"},
    **NO_VARIANCE_FACTOR,
    **MEAN,
    "bound": "5*(gap_0 + 288*eta_l*E*h2_0/(23*a))/(eta_l*R*E) + 25*eta_l**2*L**2*sigma2 + 255*a*G2",
}

VALUES = {
    "algorithm_1/corrected": ALGORITHM_1,
    "algorithm_1/as_printed": ALGORITHM_1,
    "drift_of_a_round/corrected": {"local step": "eta_l <= 1/(2*E*L)", "bound": "drift_share"},
    "lemma_b_1/as_printed": {**ORDERED, "bound": "rise - mu/4*norm2_yz + L*norm2_zx"},
    "lemma_b_1/sharp": {**ORDERED, "bound": "rise - mu/4*norm2_yz + (mu + L)/2*norm2_zx"},
    "lemma_b_2/corrected": {
        **LARGEST_STEP,
        "bound": "tuned_linear",
        "more points": ("K=100", "K=100 c1=1/99999999", "K=20 c1=900"),
    },
    "lemma_b_2/fixed_step": {"step": "eta < 1/mu", "bound": "_fixed_linear"},
    "lemma_b_2/as_printed": {
        "largest step": "eta_max <= 1/mu",
        "enough rounds": "R >= 1/(2*mu*eta_max)",
        "bound": "linear_order",
        "rate": "linear_order",
    },
    "lemma_b_3/as_printed": {"bound": "tuned_sublinear"},
    "lemma_b_3/fixed_step": {"bound": "d0/(eta*K) + c1*eta + c2*eta**2"},
    "lemma_b_4/as_printed": {"bound": "weighted_squares"},
    "lemma_b_4/uniform": {
        "domain": ("b <= n", "norm2_sum <= n*squares"),
        "more points": ("n=2 b=1 norm2_sum=5/4", "n=1 b=1 norm2_sum=5/4"),
        "bound": "n**2*(n - b)/(b*max(1, n - 1))*(squares/n - norm2_sum/n**2)",
    },
    "lemma_b_5/corrected": {
        "domain": ("k <= n",),
        "more points": ("n=2 k=1", "n=1 k=1"),
        "bound": "(n - k)*sigma2/(k*max(1, n - 1))",
    },
    "lemma_b_5/as_printed": {"domain": ("k <= n",), "bound": "(n - k)*sigma2/(k*(n - 1))"},
    "lemma_b_6/as_printed": {"bound": "(1 + a)*norm2_u + (1 + 1/a)*norm2_v"},
    "lemma_b_6/sharp": {"bound": "norm2_u + norm2_v + 2*sqrt(norm2_u*norm2_v)"},
    "lemma_b_6_sum/as_printed": {"bound": "tau*squares"},
    "lemma_b_6_sum/sharp": {"domain": ("spread <= squares",), "bound": "tau*(squares - spread)"},
    "lemma_c_1/corrected": {**LEMMA_C_1, **FACTOR},
    "lemma_c_1/as_printed": LEMMA_C_1,
    "lemma_c_1/raw": {
        **ONE_ROUND,
        **ORDERED,
        "bound": (
            "dist2_0 - 2*E*eta_g*eta_l*gap_0 - mu*E*eta_g*eta_l/2*dist2_0 + 2*L*E*eta_g*eta_l*drift_0 + "
            "(E*eta_g*eta_l)**2*(2*(1 + M)*L**2*drift_0 + 2*M*G2 + 4*L*(1 + M*B2)*gap_0)"
        ),
    },
    "lemma_c_2/corrected": {**DRIFT, "bound": "_drift(gap_share=9/10, noise_share=9)"},
    "lemma_c_2/as_printed": {
        **THIRD_STEP,
        "metric scale": "3*L*E*eta_g*eta_l",
        "bound": "E*eta_g*eta_l*(9*gap_0/10 + 9*eta_l**2*third)",
    },
    "lemma_c_2/sharp": {**DRIFT, "bound": "_drift(gap_share=6/7, noise_share=48/7)"},
    "lemma_c_2_nonconvex/corrected": {**THIRD_STEP, "bound": "grad2_0/(7*L**2) + 16*eta_l**2*third/7"},
    "recursion_convex/corrected": {**RECURSION, "bound": "_recursion(gap_share=1/10, noise_share=9)"},
    "recursion_convex/as_printed": {
        **RECURSION,
        "bound": (
            "(1 - mu*E*eta_g*eta_l/2)*dist2_0 - E*eta_g*eta_l*gap_0/10 + 2*(E*eta_g*eta_l)**2*M*G2 + "
            "9*(E*eta_g*eta_l)**3/(eta_g*E)**2*third"
        ),
    },
    "recursion_convex/sharp": {**RECURSION, "bound": "_recursion(gap_share=1, noise_share=5)"},
    "recursion_nonconvex/corrected": {
        **RECURSION_NONCONVEX,
        "bound": "_recursion_nonconvex(share=1/8, noise_share=9/4, L_factor=L**2)",
    },
    "recursion_nonconvex/as_printed": {
        **RECURSION_NONCONVEX,
        "bound": "_recursion_nonconvex(share=1/8, noise_share=9/4, L_factor=L**1)",
    },
    "recursion_nonconvex/sharp": {
        **RECURSION_NONCONVEX,
        "bound": "_recursion_nonconvex(share=1/4, noise_share=3/2, L_factor=L**2)",
    },
    "movement_of_a_round/corrected": {
        "bound": "2*(E*eta_g*eta_l)**2*((1 + M)*L**2*drift_0 + M*client_grad2_0 + grad2_0)"
    },
    "lemma_d_1/corrected": LEMMA_D_1,
    "lemma_d_1/as_printed": {
        **LEMMA_D_1,
        "where D_i": "2",
        "where sigma2_i": "half**2",
        "where d2": "(a*g_y + (1 - a)*mom + (1 - a)*(g_y - g_x))**2",
        # (g - grad f_i)^2 is (curvature * first step/2)^2, and the first step eta_l/2 (d + a half) or (d - a half)
        "value": "(curved*L*eta_l/4)**2*((g_y + (1 - a)*(mom - g_x))**2 + (a*half)**2)",
    },
    "lemma_d_2/as_printed": {**A_MOMENTUM, "bound": "3*h2 + 3*delta**2*y2 + 3*a**2*gam2"},
    "lemma_d_2/sharp": {**A_MOMENTUM, "bound": "3*(1 - a)**2*h2 + 3*delta**2*y2 + 3*a**2*gam2"},
    "lemma_d_3/as_printed": {
        **LEMMA_D_3,
        "bound": "16*E**2*eta_l**2*S + 16*E**3*eta_l**2*(3*h2 + 3*a**2*gam2 + eta_l**2*L**2*sigma2_i/D_i)",
    },
    "lemma_d_3/sharp": {
        **LEMMA_D_3,
        "bound": (
            "E*(E - 1)*eta_l**2*144*S/37 + E**2*(E - 1)*eta_l**2*(432*(1 - a)**2*h2 + 432*a**2*gam2 + "
            "192*eta_l**2*L**2*sigma2_i/D_i)/37"
        ),
    },
    "lemma_d_4/corrected": LEMMA_D_4,
    "lemma_d_4/as_printed": {**LEMMA_D_4, **NO_VARIANCE_FACTOR},
    "lemma_d_5/corrected": LEMMA_D_5,
    "lemma_d_5/as_printed": LEMMA_D_5,
}

# --- the other side of claims about numbers ---------------------------------------------------------------------------


def psi(mu, eta_max, d0, d1, d2, d3, c1, c2):
    """The weighted mean of three increments, at the step of the lemma for three terms."""
    noise = max(c1, c2 / (3 * mu), 3 * mu**2 * d0 * exp(-3 * mu * eta_max))
    eta = min(eta_max, max(q(1, 2), log(max(q(1, 1), 3 * mu**2 * d0 / noise))) / (3 * mu))
    rest = 1 - mu * eta
    terms = [(rest * before - after) / eta for before, after in ((d0, d1), (d1, d2), (d2, d3))]
    mean = (terms[0] + terms[1] / rest + terms[2] / rest**2) / (1 + 1 / rest + 1 / rest**2)
    return mean + c1 * eta + c2 * eta**2


FUNCTIONS = {"psi": psi}
VALUES["lemma_b_2/corrected"] |= {"value": "psi(mu, eta_max, d0, d1, d2, d3, c1, c2)", "where K": "3"}
