"""Values of the theorems, corollaries and rates on asynchronous federated learning, from the paper's text."""

POINTS = (
    "L=7/3 K=3 eta_l=1/90 eta_g=8/5 period=5 rho=9/7 alpha=2/5 beta=3/4 tau=2 R=13/6 S1=11/4 S2=5/8 Sigma=17/9 "
    "dist2_0=19/7 q_min=4/5 q_max=6/11 q_bar=7/5 s=7 W=4 N=15 M=19 B=12/5 eta_unit=2/11 chi2=3/10 chi2_max=8/9 P=5/7 "
    "U=4/9 F_het=10/7 a=1/7 b=2/9 c=13 ratio=11/5 q=3/2 chi2_n=5/6 gap_n=7/6 spread_n=9/8 absent=7/4 beta_det=1/8 "
    "n=8 phi=1/5 theta_opt=14/5 theta_n1=-7/4 theta_n=16/3 j=9 q_1=3/7 q_2=5/9 theta_1=23/4 theta_2=-8/3 own=7/9 "
    "together=11/6 d=13/7 q_i=8/7 single=10/9 qt_max=9/11 inner=-6/5 Rn=13/8 Sn=15/7 Qs=12/7 Z=16/5 sg1=17/6 sg2=14/9 "
    "Xi=-9/4 Z_mean=20/7 nu=12 rate_sum=11/3 tau_i=13/4 d_i=15/4 p_i=1/6 dt=6/7 X=80 tau_M=21/4 tau_0=16/7 p_max=5/11 "
    "T=40 updates=10 chance=3/8 visits_lcm=18 m=14",
    "L=4/5 K=4 eta_l=2/9 eta_g=1/60 period=3 rho=17/16 alpha=3/7 beta=5/4 tau=5 R=7/9 S1=3/8 S2=9/5 Sigma=11/7 "
    "dist2_0=8/3 q_min=2/3 q_max=7/6 q_bar=8/5 s=6 W=9 N=12 M=8 B=5/6 eta_unit=13/4 chi2=9/4 chi2_max=7/8 P=11/9 "
    "U=10/3 F_het=5/7 a=2/7 b=1/9 c=10 ratio=14/3 q=5/8 chi2_n=4/9 gap_n=11/4 spread_n=6/7 absent=5/3 beta_det=2/11 "
    "n=7 phi=3/5 theta_opt=-7/3 theta_n1=15/4 theta_n=9/7 j=11 q_1=12/7 q_2=10/9 theta_1=-13/3 theta_2=17/6 own=13/9 "
    "together=12/11 d=14/5 q_i=7/4 single=15/8 qt_max=1/3 inner=16/7 Rn=8/9 Sn=13/5 Qs=14/9 Z=9/8 sg1=17/5 sg2=19/6 "
    "Xi=11/5 Z_mean=21/8 nu=14 rate_sum=13/7 tau_i=23/5 d_i=8/11 p_i=3/11 dt=6/5 X=20 tau_M=19/3 tau_0=20/9 p_max=1/6 "
    "T=50 updates=13 chance=4/7 visits_lcm=16 m=2",
    "L=5/6 K=7 eta_l=3/8 eta_g=9/2 period=4 rho=10/7 alpha=1/6 beta=2/7 tau=9 R=11/9 S1=14/5 S2=6/7 Sigma=5/8 "
    "dist2_0=7/3 q_min=3/5 q_max=2/9 q_bar=9/8 s=5 W=6 N=20 M=11 B=15/7 eta_unit=4/7 chi2=8/9 chi2_max=12/5 P=13/4 "
    "U=7/8 F_het=16/5 a=3/4 b=4/5 c=8 ratio=17/8 q=11/6 chi2_n=10/3 gap_n=5/9 spread_n=18/7 absent=8/11 "
    "beta_det=4/9 n=12 phi=-2/3 theta_opt=19/4 theta_n1=20/9 theta_n=-3/7 j=3 q_1=1/11 q_2=2/13 theta_1=9/4 "
    "theta_2=21/5 own=22/7 together=23/8 d=24/5 q_i=25/7 single=3/11 qt_max=5/11 inner=26/9 Rn=27/8 Sn=29/6 Qs=28/9 "
    "Z=31/7 sg1=32/9 sg2=33/8 Xi=34/9 Z_mean=35/8 nu=15 rate_sum=37/9 tau_i=38/7 d_i=39/8 p_i=6/13 dt=7/13 X=30 "
    "tau_M=41/9 tau_0=43/8 p_max=8/13 T=60 updates=21 chance=9/13 visits_lcm=22 m=10",
)

LET = {
    # (98), the largest local step size.
    "step_98": "min(1, 1/3/(rho**2*eta_g*(tau + 1)))/(48*K*L)",
    # D = 6 eta_l^2 (K-1)^2 L^2.
    "work": "6*eta_l**2*(K - 1)**2*L**2",
    "h": "K*eta_g*eta_l",
    "e": "eta_l**2*(K - 1)**2",
    "rounds": "period*s",
    # eps_F + eps_K + eps_alpha + eps_beta with the constants of (93) and (94).
    "printed_errors": (
        "dist2_0/(h*rounds) + 24*e*L**2*R + (6*rho + 12*alpha)*e*L*S1 + (eta_g*eta_l + 16*rho*L*h**2*tau**2)*"
        "(alpha*(24*rho*L*R + 6*rho**2*S2) + beta*(12*rho*L*R + 6*rho**2*S1))"
    ),
    # The same argued for whole rounds, of step h = K et.
    "errors": (
        "dist2_0/(h*rounds) + 24*e*L**2*R + (12*rho + 24*alpha)*e*L*S1 + (h + 16*rho*L*h**2*tau**2)*"
        "(alpha*(24*rho*L*R + 6*rho**2*S2/K) + beta*(12*rho*L*R + 6*rho**2*S1))"
    ),
    # What (92) takes off 2.
    "share": "4*work + 12*rho*(2*alpha + beta)*(h + 16*rho*L*h**2*tau**2)*L",
    # (93) for whole rounds, divided by 2 - c, plus R.
    "sharp_gap": (
        "R + (dist2_0/(h*rounds) + share*R + 12*rho*e*L*S1 + 6*rho**2*(h + 16*rho*L*h**2*tau**2)*"
        "((alpha*work + beta)*S1 + alpha*S2/K))/(2 - share)"
    ),
    # (33), as printed.
    "order_33": "dist2_0/sqrt(K*N) + (K - 1)*Sigma/N + Sigma/(M*sqrt(K*N))",
    # (38), as printed.
    "order_38": (
        "dist2_0/sqrt(K*N) + (K - 1)*Sigma/N + (ratio*(R + Sigma)/sqrt(K*N) + ratio**3*K*M**2*(R + Sigma)/N) + (W - "
        "1)/sqrt(K*N)"
    ),
    # (42), as printed.
    "order_42": (
        "dist2_0/sqrt(K*N) + (K - 1)*(R + Sigma)/N + (1/sqrt(K*N) + c**2*K/N)*(R + c*Sigma/M) + (W - 1)/sqrt(K*N)"
    ),
    # (108), as printed: (33) and the window.
    "order_108": "order_33 + eta_g*eta_l*(W - 1)*K",
    # eps_W with the sum q(n) of the weights, at most rho.
    "window_error": "q_bar*rho*eta_g*eta_l*K*(W - 1)*B**2",
    # Theorem 3 for whole rounds.
    "surrogate": "errors + window_error",
    # Theorem 3 as printed.
    "printed_surrogate": "printed_errors + window_error(rho=1)",
    "_at_horizon": "surrogate(eta_g=1, eta_l=eta_unit/sqrt(K*N), rounds=N)",
    # The second claim of Theorem 3, with the constants that its proof gives.
    "surrogate_gradient": "(4*L*(chi2 + 1)*surrogate + 4*L*chi2*F_het)/q_bar",
    # (27): eps without a factor, and the constant of (105) for the one under O(.).
    "printed_surrogate_gradient": "printed_surrogate + 4*L*chi2*F_het",
    # Theorem 2 by twice (99) and twice the gradient of the round's problem.
    "federated_gradient": "4*L*(2*chi2_max + 1)/q_min*(R + errors) + 8*L*P + 8*L*U",
    # Theorem 2 by (105) as printed.
    "printed_federated_gradient": ("4*L*(chi2_max/q_min + 1/q_min**2)*(R + printed_errors) + 4*L*P + 4*L*U"),
    # (96) for weights whose sum may be below 1.
    "residual_1": "(4*L*R + 2*Sigma)/q_min",
}


STEP_98 = {"step size (98)": "eta_l <= step_98"}
BETA = {"beta": "beta <= 9*rho"}
CORRECTED = {**STEP_98, **BETA}
OPEN_ALPHA = {"alpha above 0": "alpha > 0", "alpha below 1": "alpha < 1"}
PRINTED = {**STEP_98, **OPEN_ALPHA}
PERIODS = {"metric rounds": "period*s"}
PERIODIC = {**PERIODS, "metric weights": "1"}
ROUND_GAP = {**PERIODIC, "trivial": "R + q_bar*L*dist2_0/2"}
SCALED = {"metric scale": "q_bar"}
SURROGATE = {**PERIODIC, **SCALED, "trivial": "L*dist2_0*q_bar/2"}
PLAIN_GAP = {**PERIODIC, "trivial": "L*dist2_0/2"}
ONE_SERVER_STEP = {"server step size": "eta_g == 1"}
NO_DELAY = {"no delay": "tau == 0"}
SUM_ONE = {"weights": "rho == 1"}
HORIZON = {
    **ONE_SERVER_STEP,
    **STEP_98,
    "metric rounds": "N",
    "metric weights": "1",
    "choice of eta_l": "eta_unit/sqrt(K*N)",
}
WHOLE = {"whole periods": "floor(N/period) == N/period"}


VALUES = {
    "corollary_1/corrected": {**PLAIN_GAP, **CORRECTED, "bound": "errors(R=0)/q_min"},
    "corollary_1/as_printed": {**PLAIN_GAP, **PRINTED, "bound": "printed_errors(R=0)"},
    **{
        f"corollary_2/{reading}": {
            "window": "a < c",
            "delay": "b < c",
            "step": "c < 1",
            "bound": bound,
            "never decides": ("-c",) if reading == "as_printed" else (),  # a is not negative
            "more points": ("a=2/7 b=1/9 c=7/11", "a=1/9 b=5/12 c=1/2"),
        }
        for reading, bound in {
            "as_printed": "N**max(a - c, c - 1, b - c, -c)",
            "sharp": "N**max(a - c, c - 1, 2*(b - c))",
        }.items()
    },
    "equation_105/corrected": {
        "metric rounds": "n",
        "bound": "4*L*(2*chi2_n/q + 1/q)*gap_n + 8*L*chi2_n/q*spread_n + 8*L*absent",
    },
    "equation_105/corrected_every_type": {
        "metric rounds": "n",
        "bound": "4*L*(chi2_n/q + 1/q)*gap_n + 4*L*chi2_n/q*spread_n",
    },
    "equation_105/as_printed": {
        "metric rounds": "n",
        "bound": "4*L*(chi2_n/q + 1/q**2)*gap_n + 4*L*chi2_n/q*spread_n + 4*L*absent",
    },
    "equation_106/corrected": {
        **PERIODIC,
        **ONE_SERVER_STEP,
        "step size (98)": "eta_l <= step_98(K=1, eta_g=1, rho=1, tau=0)",
        "local steps": "K == 1",
        "bound": "dist2_0/(eta_l*K*period*s) + 6*eta_l*Sigma",
    },
    "equation_106/as_printed": {
        **PERIODIC,
        **ONE_SERVER_STEP,
        "step size (98)": "eta_l <= step_98(eta_g=1, rho=1, tau=1)",
        "bound": "dist2_0/(eta_l*K*period*s) + 6*eta_l*Sigma",
    },
    "equation_107/corrected": {
        **PERIODIC,
        **CORRECTED,
        **NO_DELAY,
        **SUM_ONE,
        "bound": "errors(rho=1, tau=0, R=0, S1=Sigma, S2=Sigma/M)",
    },
    "equation_107/as_printed": {
        **PERIODIC,
        **PRINTED,
        **NO_DELAY,
        **SUM_ONE,
        "bound": "printed_errors(rho=1, tau=0, R=0, S1=Sigma, S2=Sigma/M)",
    },
    "equation_108/corrected": {
        **PERIODIC,
        **SCALED,
        **CORRECTED,
        **NO_DELAY,
        "alpha": "alpha == 1",
        "certain cohorts": "beta == 0",
        "bound": "surrogate(alpha=1, beta=0, tau=0)",
    },
    "equation_108/as_printed": {"bound": "order_108", "rate": "order_108"},
    "equation_33/corrected": {
        **HORIZON,
        **NO_DELAY,
        **SUM_ONE,
        "everyone": "beta == 0",
        "bound": (
            "errors(eta_l=eta_unit/sqrt(K*N), eta_g=1, rounds=N, rho=1, alpha=1, beta=0, tau=0, R=0, S1=Sigma, "
            "S2=Sigma/M)"
        ),
    },
    "equation_33/as_printed": {
        "bound": "max(1/eta_unit, 6*eta_unit, 36*eta_unit**2*L)*order_33",
        "rate": "order_33",
        "more points": ("eta_unit=1/10", "eta_unit=1/2 L=1/10"),
        "value": (
            "dist2_0/(eta_unit*sqrt(K*N)) + 36*L*Sigma*eta_unit**2*(K - 1)**2/(K*N) + 6*eta_unit*Sigma/(M*sqrt(K*N))"
        ),
    },
    "equation_38/corrected": {**HORIZON, **BETA, **WHOLE, **SCALED, "bound": "_at_horizon"},
    "equation_38/as_printed": {
        "bound": "B**2*eta_unit*q_bar*order_38",
        "rate": "order_38",
        "value": "B**2*eta_unit*q_bar*sqrt(K)*(W - 1)/sqrt(N)",
    },
    "equation_42/corrected": {
        **HORIZON,
        **WHOLE,
        **SCALED,
        "alpha": "alpha == 1",
        "beta": "beta == 0",
        "bound": "_at_horizon(alpha=1, beta=0)",
    },
    "equation_42/as_printed": {
        "bound": "B**2*eta_unit*q_bar*order_42",
        "rate": "order_42",
        "value": "B**2*eta_unit*q_bar*sqrt(K)*(W - 1)/sqrt(N)",
    },
    "theorem_1/corrected": {**ROUND_GAP, **CORRECTED, "bound": "R + errors"},
    "theorem_1/corrected_sigma": {
        **ROUND_GAP,
        **CORRECTED,
        "bound": "R + errors(S1=residual_1, S2=min(1, q_max/q_min)*residual_1)",
    },
    "theorem_1/corrected_certain": {
        **ROUND_GAP,
        **STEP_98,
        "certain cohorts": "beta_det == 0",
        "bound": "R + errors(alpha=1, beta=0)",
    },
    "theorem_1/sharp": {
        **ROUND_GAP,
        "drift": "work <= 1/2",
        "delays": "12*rho**2*(alpha + beta)*(K*eta_g*eta_l)**2*tau**2*L**2 <= 1/2",
        "movement": "3*rho*(alpha + beta)*K*eta_g*eta_l*L <= 1",
        "contraction": "share <= 1",
        "bound": "sharp_gap",
    },
    **{
        f"theorem_1/{reading}": {**ROUND_GAP, **conditions, "bound": "R + printed_errors"}
        for reading, conditions in {"as_printed": PRINTED, "as_printed_used": STEP_98}.items()
    },
    "theorem_1/as_printed_sigma": {
        **ROUND_GAP,
        **PRINTED,
        "bound": "R + printed_errors(S1=4*L*R + 2*Sigma, S2=q_max*(4*L*R + 2*Sigma))",
    },
    "theorem_2/corrected": {**PERIODIC, **CORRECTED, "bound": "federated_gradient"},
    "theorem_2/corrected_every_type": {
        **PERIODIC,
        **CORRECTED,
        "bound": "4*L*(chi2_max + 1)/q_min*(R + errors) + 4*L*P",
    },
    "theorem_2/as_printed": {**PERIODIC, **PRINTED, "bound": "printed_federated_gradient"},
    "theorem_3/corrected": {**SURROGATE, **CORRECTED, "bound": "surrogate"},
    "theorem_3/as_printed": {**SURROGATE, **PRINTED, "bound": "printed_surrogate"},
    "theorem_3_gradient/corrected": {**PERIODIC, **CORRECTED, "bound": "surrogate_gradient"},
    "theorem_3_gradient/as_printed": {**PERIODIC, **PRINTED, "bound": "printed_surrogate_gradient"},
}

# the other side of claims about numbers
VALUES["corollary_2/as_printed"] |= {"value": "max(N**(a - c), N**(c - 1), N**(b - c), N**(-c))"}
VALUES["corollary_2/sharp"] |= {"value": "max(N**(a - c), N**(c - 1), N**(2*(b - c)))"}
