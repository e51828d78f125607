"""Values of the statements on semi-cyclic gradient descent, from the paper's text."""

from values.arithmetic import log, q

POINTS = (
    "mu=3/2 L=7/3 n=5 E=3 eta=1/90 eta0=11/4 ell=2/7 sigma2=13/5 dist2_0=17/9 norm2_0=19/6 T=15 K=4 eps=1/8 R=6 "
    "x_0=9/4 a=7/2 b=5/8 k=11",
    "mu=1/7 L=1/5 n=2 E=7 eta=3/4 eta0=41/3 ell=8/5 sigma2=9/2 dist2_0=4/3 norm2_0=2/9 T=12 K=5 eps=7/6 R=9 "
    "x_0=-5/3 a=19/4 b=8/9 k=6",
)

LET = {
    # Equation (2) of the main text.
    "c_main": "min(1/(2*L), sqrt(mu**2/(24*L**4) + ((4*L**2 - mu**2)/(16*L**4))**2) - (4*L**2 - mu**2)/(16*L**4)*mu)",
    # The end of Appendix A: the positive root of 4L^4 s^2/mu + (2L^2 - mu^2/2) s = mu/6, at most 1/(2L).
    "c_appendix": (
        "min(1/(2*L), (sqrt((2*L**2 - mu**2/2)**2 + 4*(4*L**4/mu)*(mu/6)) - (2*L**2 - mu**2/2))/(2*(4*L**4/mu)))"
    ),
    # The positive root of 8L^4 s^2/mu + (2L^2 - mu^2/2) s = mu/6.
    "c_conservative": (
        "min(1/(2*L), (sqrt((2*L**2 - mu**2/2)**2 + 4*(8*L**4/mu)*(mu/6)) - (2*L**2 - mu**2/2))/(2*(8*L**4/mu)))"
    ),
    # The factor of the squared distance in the display that combines the bounds on T1 and T2.
    "cycle_factor": "(1 - mu*s + (L*s)**2)/(1 - mu*s/2) + 4*L*(L*s)**3/mu/(1 - 2*(L*s)**2)",
    # The factor of the mean noise in the same display.
    "cycle_noise": "2*L**2*s**3/mu/(1 - 2*(L*s)**2)",
    # The positive root of the third requirement, without its minimum with 1/(2L).
    "_linear": "2*L**2 - mu**2/2",
    "_requirement": "(sqrt(_linear**2 + 4*kappa*L**4/mu*mu/6) - _linear)/(2*kappa*L**4/mu)",
    "_start": "dist2_0",
    "_noise": "12*L**2*ell**2/mu**2*sigma2*n**2*E**2*log(T)**2/T**2",
    # Mean of the clients' factors (1 + 2 eta)^E, twice, and (1 - 6 eta)^E: curvatures -2, -2 and 6.
    "fedavg_factor": "((1 + 2*eta)**E*2 + (1 - 6*eta)**E)/3",
    # Product of the same three factors.
    "scgd_factor": "(1 + 2*eta)**(2*E)*(1 - 6*eta)**E",
    "_chung": "b/(a - 2)",
}
"""A step size 1/10 and two local steps are those of the paper's printed numbers; the points keep away from them."""


# the positive root is below mu/(11 L^2), and mu is at most L; the point nears that edge
ROOT_DECIDES = {"never decides": ("1/(2*L)",), "more points": ("mu=9/4 L=7/3",)}
CONSTANTS = {
    "corrected": ("c_appendix", ROOT_DECIDES),
    "as_printed_main": ("c_main", {}),
    "as_printed_appendix": ("c_appendix", ROOT_DECIDES),
    "conservative": ("c_conservative", ROOT_DECIDES),
}
START = {"domain": ("mu <= L",), "trivial": "_start"}
# hypotheses of the step ell*log(T)/T
HORIZON = {
    **ROOT_DECIDES,
    "domain": ("mu <= L",),
    "metric rounds": "T",
    "step size": "n*E*ell*log(T)/T <= c_appendix",
    "whole cycles": "T/n == floor(T/n)",
}
SIX, FOUR = ({**HORIZON, "local steps": f"E*mu*ell >= {steps}"} for steps in (6, 4))
COMPLEXITY = {
    "bound": "eps",
    "trivial": "_start",
    "rate": "n/sqrt(eps)",
    "rounds for the start": "T**2 >= 2*dist2_0/eps",
}


PRINTED_SETTING = {"printed eta": "eta == 1/10", "printed E": "E == 2", "printed x_0": "x_0 == 1"}


LEAST_E = {"value": "E", "where mu": "2*3/ell/(E - part)"}


def best_mu(x):
    """The largest mu at x, on the piece log x or on the last one."""
    middle = x <= q(3, 2)
    F = log(x) if middle else q(2, 9) * x**2 + log(q(3, 2)) - q(1, 2)
    slope = 1 / x if middle else q(4, 9) * x
    return 2 * (-q(1, 4) - F + slope * (x - q(1, 2))) / (x - q(1, 2)) ** 2


def geometric(x, K):
    """1 + x + ... + x^(K - 1)."""
    return sum(x**k for k in range(int(K)))


FUNCTIONS = {"best_mu": best_mu, "geometric": geometric}

VALUES = {
    "choice_of_e/corrected": {**HORIZON, "trivial": "_start", "bound": "T**(-mu*ell*E/3)*dist2_0 + _noise"},
    "choice_of_e/as_printed": {**HORIZON, "bound": "T**(-mu*ell*E/3)*norm2_0 + _noise"},
    "choice_of_e_rule/corrected": {**LEAST_E, "bound": "ceil(6/(mu*ell))"},
    "choice_of_e_rule/as_printed": {**LEAST_E, "bound": "ceil(4/(mu*ell))"},
    "epsilon_complexity/corrected": {
        **SIX,
        **COMPLEXITY,
        "rounds for the noise": "T/log(T) >= sqrt(24)*L*ell*E*n*sqrt(sigma2)/(mu*sqrt(eps))",
    },
    "epsilon_complexity/as_printed": {
        **FOUR,
        **COMPLEXITY,
        "rounds for the noise": "T >= sqrt(24)*L*ell*E*n*sqrt(sigma2)/(mu*sqrt(eps))",
    },
    "epsilon_rate/corrected": {
        **SIX,
        "trivial": "_start",
        "rate": "log(T)**2*n**2/T**2",
        "bound": "dist2_0/T**2 + _noise",
    },
    "epsilon_rate/as_printed": {
        **FOUR,
        "trivial": "_start",
        "rate": "log(T)**2*n**2/T**2",
        "bound": "dist2_0/T**(4/3) + _noise",
    },
    **{
        f"equation_2/{reading}": {
            **idle,
            "domain": ("mu <= L",),
            "bound": constant,
            "value": f"_requirement(kappa={8 if reading == 'conservative' else 4})",
        }
        for reading, (constant, idle) in CONSTANTS.items()
        if reading != "corrected"
    },
    "example_app_b/as_printed": {"bound": "5/6 - log(9/4)", "value": "best_mu(x)"},
    "example_app_c_fedavg/corrected": {"bound": "x_0*fedavg_factor**K", "metric rounds": "K"},
    "example_app_c_fedavg/as_printed": {
        **PRINTED_SETTING,
        "bound": "(144/100 + 144/100 + 16/100)/3",
        "metric rounds": "1",
    },
    "example_app_c_fedavg_converges/corrected": {
        "bound": "0",
        "metric rounds": "K",
        "factor below 1": "fedavg_factor < 1",
        "factor above -1": "fedavg_factor > -1",
    },
    "example_app_c_scgd/corrected": {"bound": "x_0*scgd_factor**K", "metric rounds": "3*K"},
    "example_app_c_scgd/as_printed": {**PRINTED_SETTING, "bound": "(12/10)**4*(4/10)**2", "metric rounds": "3"},
    "example_app_c_scgd_converges/corrected": {
        "bound": "0",
        "metric rounds": "3*K",
        "factor below 1": "scgd_factor < 1",
        "factor above -1": "scgd_factor > -1",
    },
    "fedavg_full_participation/corrected": {
        **START,
        **ROOT_DECIDES,
        "metric rounds": "R",
        "step size": "E*eta <= c_appendix",
        "bound": "(1 - mu*E*eta/3)**R*dist2_0 + 12*L**2*E**2*eta**2/mu**2*sigma2",
    },
    **{
        f"lemma_3_1/{reading}": {
            **START,
            **idle,
            "metric rounds": "n",
            "step size": f"n*E*eta <= {constant}",
            "bound": "(1 - mu*n*E*eta/3)*dist2_0 + 4*L**2*(n*E*eta)**3/mu*sigma2",
        }
        for reading, (constant, idle) in CONSTANTS.items()
    },
    "lemma_3_1/sharp": {
        **START,
        "metric rounds": "n",
        "summable steps": "2*(L*n*E*eta)**2 < 1",
        "bound": "cycle_factor(s=n*E*eta)*dist2_0 + cycle_noise(s=n*E*eta)*sigma2",
    },
    "theorem_3_3/sharp": {
        **START,
        "metric rounds": "n*K",
        "contraction": "4*L**2*n*E*eta < mu",
        "bound": (
            "cycle_factor(s=n*E*eta)**K*dist2_0 + cycle_noise(s=n*E*eta)*sigma2*geometric(cycle_factor(s=n*E*eta), K)"
        ),
    },
    "lemma_3_2/corrected": {
        "bound": "_chung",
        "contraction": "a > 2",
        "value": "A",
        "where b": "slack + A*(k**3/(k + 1)**2 - k + a)",
    },
    "lemma_3_2/as_printed": {"bound": "_chung", "contraction": "a > 2", "value": "A"},
    **{
        f"theorem_3_3/{reading}": {
            **START,
            **idle,
            "metric rounds": "n*K",
            "step size": f"n*E*eta <= {constant}",
            "bound": "(1 - mu*n*E*eta/3)**K*dist2_0 + 12*L**2*n**2*E**2*eta**2/mu**2*sigma2",
        }
        for reading, (constant, idle) in CONSTANTS.items()
    },
    **{
        f"theorem_3_4/{reading}": {
            "domain": ("mu <= L",),
            "first step": "mu*n*E*eta0/3 > 2",
            "metric scale": "K**2",
            "metric rounds": "n*(K - 1)",
            "rate": "1/K**2",
            "bound": bound,
        }
        for reading, bound in {
            "corrected": "_chung(a=mu*n*E*eta0/3, b=4*L**2*(n*E*eta0)**3*sigma2/mu)",
            "as_printed": "_chung(a=mu*n*E*eta0/3, b=4*L**2*(n*E*eta0)**3/mu)",
        }.items()
    },
}
