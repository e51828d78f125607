"""Values of the statements on partial model averaging, from the paper's text."""

POINTS = (
    "m=5 tau=3 d=11 eta=1/17 K=7 k=8 Lmax=7/3 sum_p2=2/9 sum_L_sigma2=13/6 sum_L2_sigma2=17/5 sum_L2_kappa2=19/7 "
    "gap_0=11/4 L2_discrepancy=5/8 sigma2=9/5 local_grad2=8/3 mean_grad2=15/7 beta2=5/2 kappa2=4/3 rounds=6 A=1/10 "
    "norm_A=3/2 norm2_b=7/4 norm2_x=25/3 norm2_mean=6/5 eta_unit=2/11 x_00=5/7 x_10=-3/4",
    "m=2 tau=4 d=9 eta=2/23 K=5 k=6 Lmax=3/7 sum_p2=3/11 sum_L_sigma2=2/5 sum_L2_sigma2=5/3 sum_L2_kappa2=7/6 "
    "gap_0=1/3 L2_discrepancy=9/4 sigma2=12/7 local_grad2=4/9 mean_grad2=7/8 beta2=8/5 kappa2=13/9 rounds=3 A=2/13 "
    "norm_A=5/6 norm2_b=11/3 norm2_x=23/2 norm2_mean=9/7 eta_unit=7/5 x_00=-8/5 x_10=10/3",
)

LET = {
    # Theorem 1, (4).
    "iid": "2*gap_0/(eta*K) + eta/m*sum_L_sigma2 + eta**2*(tau - 1)*sum_L2_sigma2",
    # Theorem 2 with its second term, which the main text and the appendix print differently, put in.
    "non_iid": "4*gap_0/(eta*K) + noise + 3*eta**2*(tau - 1)*sum_L2_sigma2 + 6*eta**2*tau*(tau - 1)*sum_L2_kappa2",
    # Theorem 2 as corrected, one smoothness constant for all blocks.
    "global_non_iid": (
        "non_iid(noise=2*eta*sum_p2*Lmax*sigma2, sum_L2_sigma2=Lmax**2*sigma2, sum_L2_kappa2=Lmax**2*kappa2)"
    ),
    # Lemma 3, (74), summed over blocks that share one constant.
    "discrepancy": (
        "(eta**2*(tau - 1)*sigma2 + 2*eta**2*tau*(tau - 1)*Lmax**2/Lmax**2*(beta2*mean_grad2 + kappa2))/(1 - "
        "2*eta**2*tau*(tau - 1)*Lmax**2)"
    ),
    "_until_k": "K",
    # The root of the larger eigenvalue of A'A = [[u, v], [v, w]].
    "_norm_A": (
        "sqrt((a_11**2 + a_21**2 + (a_12**2 + a_22**2) + sqrt((a_11**2 + a_21**2 - (a_12**2 + a_22**2))**2 + "
        "4*(a_11*a_12 + a_21*a_22)**2))/2)"
    ),
}


MEAN = {"metric rounds": "_until_k", "metric weights": "1"}
ONE_STEP = {"step size": "eta*Lmax <= 1"}
HALF_STEP = {"step size": "eta*Lmax <= 1/2"}
INTERVAL = {"step size and interval": "2*eta**2*Lmax**2*tau*(tau - 1)*(2*beta2 + 1) <= 1"}
IID_STEP = {"step size": "Lmax**2*eta**2*tau*(tau - 1) + eta*Lmax <= 1"}
SMALL_A = {"A below 1": "2*eta**2*tau*(tau - 1)*Lmax**2 < 1"}
LEMMA_3 = {**MEAN, **SMALL_A, "bound": "discrepancy"}
THEOREM_1 = {**MEAN, **IID_STEP, "bound": "iid"}
THEOREM_2_WEIGHTED = {**MEAN, **ONE_STEP, **INTERVAL, "bound": "non_iid(noise=2*eta*sum_p2*sum_L_sigma2)"}
THEOREM_2_MAIN = {**MEAN, **HALF_STEP, **INTERVAL, "bound": "non_iid(noise=4*eta*sum_p2*sum_L_sigma2)"}
THEOREM_2_APPENDIX = {**MEAN, **ONE_STEP, **INTERVAL, "bound": "non_iid(noise=2*eta/m*sum_L_sigma2)"}
SPEED_UP = {**MEAN, "rate": "1/sqrt(m*K) + m/K"}
SMALL_EXAMPLE = {"workers": "m == 2", "blocks": "tau == 2", "numbers": "d == 3"}
SMALL_ROOT = {"A not negative": "A >= 0", "A small": "A <= 1/(2*beta2 + 1)"}

VALUES = {
    "communication_cost/as_printed": {"bound": "d"},
    "communication_messages/as_printed": {"no empty block": "d >= tau", "bound": "tau"},
    "communication_messages/as_printed_periodic": {"bound": "1"},
    "discrepancy_partial/derived": {
        "metric rounds": "k",
        "after the first period": "k >= tau",
        # the blocks are 0, 1, ..., tau - 1 steps old
        "bound": "eta**2*(sigma2/tau)*(m - 1)/m*(tau*(tau - 1)/2)",
    },
    "discrepancy_periodic/derived": {"metric rounds": "k", "bound": "(k - tau*floor(k/tau))*eta**2*sigma2*(m - 1)/m"},
    "equation_11/corrected": {**SMALL_EXAMPLE, "bound": "1/2"},
    "equation_11/as_printed": {**SMALL_EXAMPLE, "bound": "0"},
    "equation_12/as_printed": {"bound": "(x_00 + x_10)/2"},
    "lemma_1/corrected": {**MEAN, **ONE_STEP, "bound": "2*gap_0/(eta*K) + eta*sum_p2*sum_L_sigma2 + L2_discrepancy"},
    "lemma_1/as_printed": {**MEAN, **ONE_STEP, "bound": "2*gap_0/(eta*K) + eta/m*sum_L_sigma2 + L2_discrepancy"},
    "lemma_2/as_printed": {**MEAN, "bound": "eta**2*(tau - 1)*sigma2 + eta**2*tau*(tau - 1)*local_grad2"},
    "lemma_2/sharp": {**MEAN, "bound": "eta**2*(tau - 1)*(sigma2 - sigma2/m) + eta**2*tau*(tau - 1)*local_grad2"},
    "lemma_3/corrected": LEMMA_3,
    "lemma_3/as_printed_separable": LEMMA_3,
    "lemma_3/as_printed": LEMMA_3,
    "lemma_3/without_gradients": {
        **MEAN,
        **SMALL_A,
        **ONE_STEP,
        **INTERVAL,
        "bound": "discrepancy(mean_grad2=global_non_iid)",
    },
    "matched_interval/general": {"bound": "tau + tau/rounds"},
    "matched_interval/as_printed": {"bound": "tau + tau/10", "whole interval": "floor(tau/10) == tau/10"},
    "matched_interval/as_printed_iterations": {"bound": "10*tau + tau", "whole interval": "floor(tau/10) == tau/10"},
    "one_minus_a/corrected": {**SMALL_ROOT, "bound": "3/2"},
    "one_minus_a/sharp": {**SMALL_ROOT, "bound": "1 + 1/(2*beta2)"},
    "one_minus_a/as_printed": {**SMALL_ROOT, "bound": "2/3"},
    "other_lemma_1/as_printed": {"bound": "norm_A**2*norm2_b"},
    "other_lemma_2/as_printed": {"bound": "norm2_x"},
    "other_lemma_2/sharp": {"bound": "norm2_x - m*norm2_mean"},
    "property_1/as_printed": {"bound": "0"},
    "property_2/as_printed": {"bound": "0"},
    "property_3/as_printed": {"bound": "0"},
    "property_4/grid": {"bound": "0"},
    "property_4/as_printed": {"bound": "0", "several workers": "m >= 2"},
    "remark_1/corrected": {**MEAN, **IID_STEP, "bound": "eta*Lmax*sigma2/m + eta**2*(tau - 1)*Lmax**2*sigma2"},
    "remark_1/as_printed": {**MEAN, **IID_STEP, "bound": "eta/m*sum_L_sigma2 + eta**2*(tau - 1)*sum_L2_sigma2"},
    "remark_2/corrected": {
        **SPEED_UP,
        "choice of eta": "eta_unit*sqrt(m/K)",
        "iterations": "K >= m*tau**2*(Lmax*eta_unit)**2",
        "bound": "iid(eta=eta_unit*sqrt(m/K))",
    },
    "remark_2/as_printed": {**SPEED_UP, "choice of eta": "sqrt(m/K)", "bound": "iid(eta=sqrt(m/K))"},
    "remark_2_speedup/as_printed": {"bound": "m**3"},
    "remark_3/corrected": {**MEAN, **ONE_STEP, **INTERVAL, "bound": "global_non_iid(K=1, gap_0=0)"},
    "remark_3/as_printed": {
        **MEAN,
        **HALF_STEP,
        **INTERVAL,
        "bound": "non_iid(noise=4*eta*sum_p2*sum_L_sigma2, K=1, gap_0=0)",
    },
    "remark_4/corrected": {
        **SPEED_UP,
        "choice of eta": "eta_unit*sqrt(m/K)",
        "step size": "eta_unit*sqrt(m/K)*Lmax <= 1",
        "step size and interval": "2*eta_unit**2*m/K*Lmax**2*tau*(tau - 1)*(2*beta2 + 1) <= 1",
        "bound": "global_non_iid(eta=eta_unit*sqrt(m/K), sum_p2=1/m)",
    },
    "remark_4/as_printed": {
        **SPEED_UP,
        "choice of eta": "sqrt(m/K)",
        "bound": "non_iid(noise=4*sqrt(m/K)/m*sum_L_sigma2, eta=sqrt(m/K))",
    },
    "remark_4_speedup/corrected": {"bound": "m**3"},
    "remark_4_speedup/as_printed": {"bound": "cbrt(m)"},
    "step_condition/factored": {"bound": "1/(tau*Lmax)"},
    "step_condition/as_printed": {"bound": "(sqrt(1 + 4*tau*(tau - 1)) - 1)/(2*tau*(tau - 1)*Lmax)"},
    "theorem_1/corrected": THEOREM_1,
    "theorem_1/global": {
        **MEAN,
        **IID_STEP,
        "bound": "2*gap_0/(eta*K) + eta*Lmax*sigma2/m + eta**2*(tau - 1)*Lmax**2*sigma2",
    },
    "theorem_1/separable": THEOREM_1,
    "theorem_1/as_printed": THEOREM_1,
    "theorem_2/corrected": {**MEAN, **ONE_STEP, **INTERVAL, "bound": "global_non_iid"},
    "theorem_2/weighted": THEOREM_2_WEIGHTED,
    "theorem_2/separable": THEOREM_2_WEIGHTED,
    "theorem_2/as_printed_main": THEOREM_2_MAIN,
    "theorem_2/as_printed_main_separable": THEOREM_2_MAIN,
    "theorem_2/as_printed_appendix": THEOREM_2_APPENDIX,
    "theorem_2/as_printed_appendix_separable": THEOREM_2_APPENDIX,
}

# the other side of claims about numbers, and the data behind their symbols
VALUES["equation_12/as_printed"] |= {"value": "x_10/2 + x_00/2"}
VALUES["matched_interval/as_printed"] |= {"value": "interval", "where tau": "10*interval/11"}
VALUES["matched_interval/as_printed_iterations"] |= {"value": "10*interval", "where tau": "10*interval/11"}
VALUES["matched_interval/general"] |= {"value": "interval", "where tau": "rounds*interval/(rounds + 1)"}


VALUES["other_lemma_1/as_printed"] |= {
    "value": "(a_11*b_1 + a_12*b_2)**2 + (a_21*b_1 + a_22*b_2)**2",
    "where norm_A": "_norm_A",
    "where norm2_b": "b_1**2 + b_2**2",
}
_TWO = {
    "value": "((x_1 - x_2)**2 + (x_2 - x_3)**2 + (x_3 - x_1)**2)/3",
    "where norm2_x": "x_1**2 + x_2**2 + x_3**2",
    "where norm2_mean": "(x_1 + x_2 + x_3)**2/9",
    "where m": "3",
}
VALUES["other_lemma_2/as_printed"] |= _TWO
VALUES["other_lemma_2/sharp"] |= _TWO
