"""Values of the lemmas, examples and tables on asynchronous federated learning, from the paper's text."""

from values.arithmetic import q, sqrt
from values.async_fl import BETA, CORRECTED, ONE_SERVER_STEP, OPEN_ALPHA, PERIODIC, STEP_98

LET = {
    # What (92) takes off 2, with the printed powers of et.
    "printed_share": "4*work + 12*rho*(2*alpha + beta)*(eta_g*eta_l + 16*rho*L*h**2*tau**2)*L",
    # The list of Appendix A.5, every right side 1; steps: how many of them the single powers of the step count.
    "_worst": (
        "max(2*drift, 24*rho**2*(alpha + beta)*(K*eta_g*eta_l*tau*L)**2, 3*rho*(alpha + beta)*(steps*eta_g*eta_l*L), "
        "back, 3*rho**2*(steps*eta_g*eta_l*L), 48*rho**3*(K*eta_g*eta_l*tau*L)**2)"
    ),
    "worst_of_a_round": "_worst(steps=K, drift=work, back=share)",
    "worst_as_printed": "_worst(steps=1, drift=work, back=printed_share)",
    "allowed_of_a_round": "allowed(K, K, L, alpha, beta, eta_g, rho, tau)",
    "allowed_as_printed": "allowed(1, K, L, alpha, beta, eta_g, rho, tau)",
    # The three conditions of (97), for whole rounds, solved for eta_l.
    "step_97": "min(1/(sqrt(48)*(K - 1)*L), 1/(144*rho**2*eta_g*K*L), 1/(48*rho*sqrt(rho)*eta_g*K*tau*L))",
    # eta_g phi: the share of the way to a client's minimiser that the server goes.
    "going": "eta_g*(1 - (1 - eta_l)**K)",
    "_even": (
        "(going*q_1*theta_1 + going*q_2*theta_2 + going*q_1*(going*q_2)*theta_2)/(going*q_1 + going*q_2 + "
        "going*q_1*(going*q_2))"
    ),
    "_odd": (
        "(going*q_1*theta_1 + going*q_2*theta_2 + going*q_1*(going*q_2)*theta_1)/(going*q_1 + going*q_2 + "
        "going*q_1*(going*q_2))"
    ),
    "_gamma": "q_i*(d - alpha*q_i)",
    "_three_steps": "optimum + (1 - eta_l)**3*(model - optimum)",
    "_next": (
        "theta_n1 + eta_g*(_three_steps(model=theta_n, optimum=first) + _three_steps(model=theta_n, optimum=second) - "
        "2*theta_n)/2"
    ),
    "_distance2": (
        "L**2*(r_1*k_1*(x - o_1) + r_2*k_2*(x - o_2) + r_3*k_3*(x - o_3) - (s_1*k_1*(x - o_1) + s_2*k_2*(x - "
        "o_2))/(s_1 + s_2))**2"
    ),
    # The value at the minimiser of s_1 F_1 + s_2 F_2.
    "_least": (
        "L*(s_1*k_1*((s_1*k_1*o_1 + s_2*k_2*o_2)/(s_1*k_1 + s_2*k_2) - o_1)**2 + s_2*k_2*((s_1*k_1*o_1 + "
        "s_2*k_2*o_2)/(s_1*k_1 + s_2*k_2) - o_2)**2)/2"
    ),
}

ALPHA = {"alpha": "alpha <= 1"}
DRIFT = {"drift": "work <= 1/2"}


# (97), with its second condition on the step et, or on the step K et of a round
SIMPLE_PRINTED = {
    "local work": "48*eta_l**2*(K - 1)**2*L**2 <= 1",
    "delay": "2304*rho**3*(eta_g*eta_l)**2*K**2*tau**2*L**2 <= 1",
    "step": "144*rho**2*eta_g*eta_l*L <= 1",
    "beta": "beta <= 1",
}
SIMPLE = {**SIMPLE_PRINTED, "step": "144*rho**2*K*eta_g*eta_l*L <= 1", "beta": "beta <= rho"}


def allowed(steps, K, L, alpha, beta, eta_g, rho, tau):
    """The list solved for eta_l; (92) is a*x^2 + b*x <= 1 in x = eta_l."""
    a = 24 * (K - 1) ** 2 * L**2 + 12 * rho * (2 * alpha + beta) * L * 16 * rho * L * (K * eta_g * tau) ** 2
    b = 12 * rho * (2 * alpha + beta) * L * steps * eta_g
    ends = [2 / (b + sqrt(b**2 + 4 * a)), 1 / (3 * rho**2 * steps * eta_g * L)]
    ends += [1 / (3 * rho * (alpha + beta) * steps * eta_g * L), 1 / (sqrt(48) * rho * sqrt(rho) * K * eta_g * tau * L)]
    return min(*ends, 1 / (sqrt(12) * (K - 1) * L), 1 / (sqrt(24 * (alpha + beta)) * rho * K * eta_g * tau * L))


def radius(phi):
    """Largest modulus of the roots of r^2 - r + phi."""
    return sqrt(phi) if 4 * phi > 1 else (1 + sqrt(1 - 4 * phi)) / 2


def modulus(t):
    """Of the larger of two roots with the sum 1, a distance 2t apart, or conjugate with imaginary parts t."""
    return q(1, 2) + t if t > 0 else sqrt(q(1, 4) + t**2)


def product_of_roots(t):
    """Of these two."""
    return q(1, 4) - (t * t if t > 0 else -t * t)


FUNCTIONS = {f.__name__: f for f in (allowed, radius, modulus, product_of_roots)}

TURNS = {"product": "going**2*q_1*q_2 < 1", "steps": "(1 - going*q_1)*(1 - going*q_2) > -1"}
DELAYS = {"delays": "12*rho**2*(alpha + beta)*(eta_g*eta_l)**2*K**2*tau**2*L**2 <= 1/2"}


ALIKE = {"F0": "tau_0 == tau_M"}


ROUND_N = {"metric rounds": "n"}
INNER = {**ROUND_N, "metric scale": "-2"}


VALUES = {
    "equation_35/as_printed": {"bound": "nu*rate_sum"},
    "equation_36/as_printed": {"bound": "d_i/(tau_i*rate_sum)"},
    "equation_40/as_printed": {"bound": "ceil(tau_i/dt)*p_i"},
    "equation_96/corrected": {"bound": "residual_1"},
    "equation_96/as_printed": {"bound": "4*L*R + 2*Sigma"},
    "equation_96_second/corrected": {"bound": "min(1, q_max/q_min)*residual_1"},
    "equation_96_second/as_printed": {"bound": "q_max*(4*L*R + 2*Sigma)"},
    "equation_97/corrected": {**SIMPLE, "bound": "1", "value": "share"},
    "equation_97/as_printed": {**SIMPLE_PRINTED, "bound": "1", "value": "printed_share"},
    "equation_97_constraints/corrected": {**SIMPLE, **ALPHA, "bound": "1", "value": "worst_of_a_round"},
    "equation_97_constraints/as_printed": {**SIMPLE_PRINTED, **ALPHA, "bound": "1", "value": "worst_as_printed"},
    "equation_98/corrected": {**BETA, "bound": "step_98", "value": "allowed_of_a_round"},
    "equation_98/as_printed": {"bound": "step_98", "value": "allowed_as_printed"},
    "equation_98/sharp": {"beta": "beta <= rho", "bound": "step_97", "value": "allowed_of_a_round"},
    "equation_98_constraints/corrected": {**CORRECTED, **ALPHA, "bound": "1", "value": "worst_of_a_round"},
    "equation_98_constraints/as_printed": {
        **STEP_98,
        **ALPHA,
        "beta": "beta >= 0",
        "bound": "1",
        "value": "worst_as_printed",
    },
    "example_1/corrected": {"metric rounds": "n", "forward": "going > 0", "not too far": "going < 1", "bound": "0"},
    "example_1/as_printed": {
        "metric rounds": "n",
        "local steps converge": "eta_l < 2",
        **ONE_SERVER_STEP,
        "bound": "0",
    },
    "example_1_radius/corrected": {"bound": "radius(going)", "more points": ("K=16 eta_l=9/4",)},
    "example_1_recursion/corrected": {"bound": "theta_n1 + eta_g*phi*(theta_opt - theta_n)"},
    "example_1_recursion/as_printed": {"bound": "theta_n1 + phi*(theta_opt - theta_n)"},
    "example_2/corrected": {**TURNS, "metric rounds": "2*j", "bound": "_even"},
    "example_2/corrected_odd": {**TURNS, "metric rounds": "2*j + 1", "bound": "_odd"},
    "example_2/as_printed": {**TURNS, "metric rounds": "j", "bound": "(q_1*theta_1 + q_2*theta_2)/(q_1 + q_2)"},
    "lemma_1/corrected": {"bound": "own + alpha*together"},
    "lemma_1/as_printed": {**OPEN_ALPHA, "bound": "own + alpha*together"},
    "lemma_1_gamma/corrected": {"domain": ("q_i <= d",), "bound": "_gamma"},
    "lemma_1_gamma/as_printed": {
        "domain": ("q_i <= d",),
        "never decides": ("0",),  # alpha is at most 1
        "more points": ("d=5/4",),
        "bound": "_gamma",
    },
    "lemma_1_jensen/corrected": {"bound": "together - single"},
    "lemma_1_jensen/as_printed": {"bound": "(1 - qt_max)*together"},
    "lemma_2/corrected": {
        **ROUND_N,
        "bound": "-2*K*eta_g*eta_l*inner + (K*eta_g*eta_l)**2*(alpha*q**2*Rn + beta*q*Sn)",
    },
    "lemma_2/as_printed": {
        **ROUND_N,
        "metric scale": "1/1/K",
        "bound": "-2*eta_g*eta_l*inner + (eta_g*eta_l)**2*alpha*q**2*Rn + (eta_g*eta_l)**2*beta*q*Sn",
    },
    "lemma_3/corrected": {**ROUND_N, **DRIFT, "bound": "4*tau*Qs + 4*work/(L*q)*Z + 12*eta_l**2*(K - 1)**2*sg1"},
    "lemma_3/as_printed": {**ROUND_N, **DRIFT, "bound": "4*q*tau*Qs + 4*work/(L*q)*Z + 6*eta_l**2*(K - 1)**2*sg1"},
    "lemma_3_gradients/corrected": {**ROUND_N, **DRIFT, "bound": "12*L**2*tau*Qs + 12*L*Z/q + 6*sg1"},
    "lemma_3_gradients/as_printed": {**ROUND_N, **DRIFT, "bound": "12*q*L**2*tau*Qs + 12*L*Z/q + 6*sg1"},
    "lemma_4/corrected": {
        **INNER,
        **DRIFT,
        "bound": "-2*Xi + 4*L*q*tau*Qs + 4*work*Z + 12*eta_l**2*(K - 1)**2*q*L*sg1",
    },
    "lemma_4/as_printed": {**INNER, "bound": "-2*Xi + 4*L*q*tau*Qs + 4*work*Z + 6*eta_l**2*(K - 1)**2*q*L*sg1"},
    "lemma_5/corrected": {**ROUND_N, **DRIFT, "bound": "12*L**2*tau*Qs + 24*L*Z/q + 6*work*sg1 + 6*sg2/K"},
    "lemma_5/as_printed": {**ROUND_N, **DRIFT, "bound": "12*L**2*tau*Qs + 24*L*Z/q + 3*work*sg1 + 6*sg2"},
    "lemma_6/corrected": {
        **PERIODIC,
        **DRIFT,
        **DELAYS,
        "bound": (
            "(K*eta_g*eta_l)**2*(24*rho*(2*alpha + beta)*L*Z_mean + 6*rho**2*(2*alpha*work + 2*beta)*S1 + "
            "12*rho**2*alpha*S2/K)"
        ),
    },
    "lemma_6/as_printed": {
        **PERIODIC,
        **DELAYS,
        "bound": (
            "(K*eta_g*eta_l)**2*(24*rho*(2*alpha + beta)*L*Z_mean + 6*rho**2*(alpha*work + 2*beta)*S1 + "
            "12*rho**2*alpha*S2)"
        ),
    },
    "lemma_7/as_printed": {"bound": "4*L*chi2_n*(gap_n + spread_n)/q + 4*L*absent"},
    "section_5_f80/as_printed_times": {"domain": ("X < 100",), "bound": "1/(1 - X/100)"},
    "section_5_f80/as_printed_slower": {"domain": ("X < 100",), "bound": "1 + X/100"},
    "section_5_fedfix_f0/corrected": {**ALIKE, "bound": "ceil(tau_M/dt)*eta_g", "metric scale": "eta_g"},
    "section_5_fedfix_f0/as_printed": {
        **ALIKE,
        "FedFix-0.5": "dt == tau_M/2",
        "bound": "2*eta_g",
        "metric scale": "eta_g",
    },
    "table_2_async_alpha/as_printed": {"bound": "0"},
    "table_2_async_beta/corrected": {"bound": "M*p_max*tau_M/tau_0"},
    "table_2_async_beta/as_printed": {"bound": "tau_M/tau_0"},
    "table_2_async_residual/as_printed": {"bound": "F_het"},
    "table_2_async_rounds/as_printed": {"bound": "T*rate_sum"},
    "table_2_async_tau/corrected": {"bound": "(M - 1)*ceil(tau_M/tau_0)"},
    "table_2_async_tau/sharp": {"bound": "updates"},
    "table_2_async_tau/as_printed": {"bound": "tau_M/tau_0*(M - 1)"},
    "table_2_async_window/corrected": {"bound": "M*tau_M**(M - 1)"},
    "table_2_async_window/as_printed": {"bound": "M*tau_M**M"},
    "table_2_centralised_alpha/as_printed": {"bound": "1"},
    "table_2_centralised_beta/as_printed": {"bound": "0"},
    "table_2_centralised_tau/corrected": {"bound": "0"},
    "table_2_centralised_tau/as_printed": {"bound": "1"},
    "table_2_fedfix_alpha/as_printed": {"bound": "1"},
    "table_2_fedfix_beta/corrected": {"bound": "d_i*(1 - chance)"},
    "table_2_fedfix_beta/as_printed": {"bound": "0"},
    "table_2_fedfix_residual/as_printed": {"bound": "F_het"},
    "table_2_fedfix_rounds/as_printed": {"bound": "T/dt"},
    "table_2_fedfix_tau/corrected": {"bound": "ceil(tau_M/dt) - 1"},
    "table_2_fedfix_tau/as_printed": {"bound": "floor(tau_M/tau_0)"},
    "table_2_fedfix_tau/as_printed_text": {"bound": "ceil(tau_M/dt)"},
    "table_2_fedfix_window/corrected": {"bound": "ceil(tau_M/dt)**M"},
    "table_2_fedfix_window/sharp": {"bound": "visits_lcm"},
    "table_2_fedfix_window/as_printed": {"bound": "M*ceil(tau_M/tau_0)**M"},
    "table_2_md_alpha/as_printed": {"bound": "1 - 1/m"},
    "table_2_md_beta/as_printed": {"bound": "1/m"},
    "table_2_sync_alpha/as_printed": {"bound": "1"},
    "table_2_sync_beta/as_printed": {"bound": "0"},
    "table_2_sync_residual/as_printed": {"bound": "0"},
    "table_2_sync_rounds/as_printed": {"bound": "T/tau_M"},
    "table_2_sync_tau/as_printed": {"bound": "0"},
    "table_2_sync_window/as_printed": {"bound": "1"},
    "table_2_uniform_alpha/as_printed": {"domain": ("m <= M", "M >= 2"), "bound": "M*(m - 1)/(m*(M - 1))"},
    "table_2_uniform_beta/as_printed": {"domain": ("m <= M", "M >= 2"), "bound": "p_max*(M/m - M*(m - 1)/(m*(M - 1)))"},
    "weights_time_based/as_printed": {"bound": "rate_sum*tau_i*p_i"},
}

# --- the other side of claims about numbers, and the data behind their symbols --------------------------------------


NUMBERS = {
    "example_1_radius/corrected": {"value": "modulus(t)", "where eta_g": "product_of_roots(t)/(1 - (1 - eta_l)**K)"},
    "example_1_recursion/corrected": {
        "value": "_next",
        "where phi": "1 - (1 - eta_l)**3",
        "where theta_opt": "(first + second)/2",
    },
    "example_1_recursion/as_printed": {
        "value": "_next(eta_g=1)",
        "where phi": "1 - (1 - eta_l)**3",
        "where theta_opt": "(first + second)/2",
    },
    **{
        f"lemma_1_gamma/{reading}": {"value": "chance*d*(d - alpha*chance*d)", "where q_i": "chance*d"}
        for reading in ("corrected", "as_printed")
    },
    **{
        f"lemma_1_jensen/{reading}": {
            "value": "q_1*q_2*x_1*x_2 + q_2*q_1*x_2*x_1",
            "where together": "(q_1*x_1 + q_2*x_2)**2",
            "where single": "q_1**2*x_1**2 + q_2**2*x_2**2",
            "where qt_max": "max(q_1/(q_1 + q_2), q_2/(q_1 + q_2))",
        }
        for reading in ("corrected", "as_printed")
    },
    "lemma_7/as_printed": {
        "value": "_distance2",
        "where q": "s_1 + s_2",
        "where chi2_n": "(r_1 - s_1/(s_1 + s_2))**2/(s_1/(s_1 + s_2)) + (r_2 - s_2/(s_1 + s_2))**2/(s_2/(s_1 + s_2))",
        "where gap_n": "L*(s_1*k_1*(x - o_1)**2 + s_2*k_2*(x - o_2)**2)/2 - _least",
        "where spread_n": "_least",
        "where absent": "r_3*k_3*L*(x - o_3)**2/2",
    },
}
for _name, _parts in NUMBERS.items():
    VALUES[_name] |= _parts
