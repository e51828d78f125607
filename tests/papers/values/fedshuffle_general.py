"""Values of FedShuffle's Appendix E and of the remarks of its Sections 4 and 5, from the paper's text."""

from values.arithmetic import cbrt, exp, log, q, sqrt
from values.fedshuffle import (
    ABOVE,
    AWAY,
    FACTOR,
    GAP,
    GRADIENT,
    MEAN,
    ORDERED,
    ROUNDS,
    SERVER,
    beta,
    beta_gen,
    contracted,
    exponent,
    sublinear_step,
    tuned_linear,
    tuned_sublinear,
    variation,
)
from values.fedshuffle_lemmas import DISTANCE, ONE_ROUND, lemma_c_1

# --- Appendix E ---------------------------------------------------------------------------------------------------

GEN_STEPS = {
    **FACTOR,
    "effective step size": lambda W, eta_g, eta_l, B2, L, M1, P2_gen: (
        W * eta_g * eta_l,
        "<=",
        1 / (4 * beta(B2, P2_gen, M1) * L),
    ),
    "local step size": lambda eta_l, B2, L, M1, P2_gen: (eta_l, "<=", 1 / (4 * beta(B2, P2_gen, M1) * L)),
}
GEN_PRINTED = {
    **SERVER,
    "step size": lambda eta_g, eta_l, B2, L, M1, M2, P2_gen: (
        eta_g * eta_l,
        "<=",
        1 / (4 * beta_gen(B2, P2_gen, M1, M2) * L),
    ),
}
GEN_GEOMETRIC = {
    **ROUNDS,
    **ORDERED,
    "metric weights": lambda mu, W, eta_g, eta_l, r: (1 - mu * W * eta_g * eta_l / 2) ** -int(r),
}


def _gen(first, second, noise):
    return lambda L, G2, M1, P2_gen, R, W, dist2_0, eta_g, eta_l, sigma2_gen: (
        first * dist2_0 / (W * eta_g * eta_l * R)
        + second * M1 * G2 * W * eta_g * eta_l
        + noise * L * ((1 + P2_gen) * G2 + sigma2_gen) * eta_l**2
    )


def _gen_nonconvex(first, second, noise):
    return lambda L, G2, M1, P2_gen, R, W, eta_g, eta_l, gap_0, sigma2_gen: (
        first * gap_0 / (W * eta_g * eta_l * R)
        + second * M1 * L * G2 * W * eta_g * eta_l
        + noise * L**2 * ((1 + P2_gen) * G2 + sigma2_gen) * eta_l**2
    )


def _gen_strongly(halves, second, noise):
    return lambda L, mu, G2, M1, P2_gen, R, W, dist2_0, eta_g, eta_l, sigma2_gen: (
        halves * mu * dist2_0 * contracted(mu, W * eta_g * eta_l, R) / 2
        + second * M1 * G2 * W * eta_g * eta_l
        + noise * L * ((1 + P2_gen) * G2 + sigma2_gen) * eta_l**2
    )


GEN_POINTS = {"more points": ("R=100000", "R=100000 M1=1/99999999")}


def _spread(P2_gen, G2, sigma2_gen):
    return (1 + P2_gen) * G2 + sigma2_gen


def _gen_tuned(lemma):
    """lemma: from (largest step, d0, c1, c2, R) of the theorem at a fixed step to a value, by Lemma B.3."""

    def convex(first, second, noise):
        return lambda B2, L, G2, M1, P2_gen, R, W, dist2_0, eta_g, sigma2_gen: lemma(
            _gen_largest(B2, L, M1, P2_gen, W, eta_g),
            first * dist2_0,
            second * M1 * G2,
            noise * L * _spread(P2_gen, G2, sigma2_gen) / (W * eta_g) ** 2,
            R,
            W * eta_g,
        )

    def nonconvex(first, second, noise):
        return lambda B2, L, G2, M1, P2_gen, R, W, gap_0, eta_g, sigma2_gen: lemma(
            _gen_largest(B2, L, M1, P2_gen, W, eta_g),
            first * gap_0,
            second * M1 * L * G2,
            noise * L**2 * _spread(P2_gen, G2, sigma2_gen) / (W * eta_g) ** 2,
            R,
            W * eta_g,
        )

    return convex, nonconvex


CONVEX_BOUND, NONCONVEX_BOUND = _gen_tuned(lambda *at: tuned_sublinear(*at[:-1]))
CONVEX_STEP, NONCONVEX_STEP = _gen_tuned(lambda *at: sublinear_step(*at[:-1]) / at[-1])


def _gen_largest(B2, L, M1, P2_gen, W, eta_g):
    return min(1, W * eta_g) / (4 * beta(B2, P2_gen, M1) * L)


def _gen_strongly_tuned(first, second, noise):
    """Lemma B.2 with mu/2, d0 = first D, c1 = second M1 G^2 and c2 = noise L H/(W eta_g)^2."""

    def constants(L, G2, M1, P2_gen, R, W, dist2_0, eta_g, sigma2_gen):
        c2 = noise * L * _spread(P2_gen, G2, sigma2_gen) / (W * eta_g) ** 2
        return first * dist2_0, second * M1 * G2, c2, R

    return {
        "more points": ("R=1000", "R=1000 M1=1/99999999", "R=300 G2=900", "R=5000 W=1/9"),
        **GEN_GEOMETRIC,
        **GAP,
        **FACTOR,
        **AWAY,
        "rounds": lambda R, mu, B2, L, M1, P2_gen, W, eta_g: (
            R,
            ">=",
            1 / (_gen_largest(B2, L, M1, P2_gen, W, eta_g) * mu),
        ),
        "bound": lambda B2, L, G2, M1, P2_gen, R, W, dist2_0, eta_g, mu, sigma2_gen: tuned_linear(
            mu / 2,
            _gen_largest(B2, L, M1, P2_gen, W, eta_g),
            *constants(L, G2, M1, P2_gen, R, W, dist2_0, eta_g, sigma2_gen),
        ),
        "choice of eta_l": lambda B2, L, G2, M1, P2_gen, R, W, dist2_0, eta_g, mu, sigma2_gen: (
            min(
                _gen_largest(B2, L, M1, P2_gen, W, eta_g),
                2
                * max(q(1, 2), exponent(mu / 2, *constants(L, G2, M1, P2_gen, R, W, dist2_0, eta_g, sigma2_gen)))
                / (mu * R),
            )
            / (W * eta_g)
        ),
    }


def _gen_strongly_order(B2, G2, L, M1, M2, P2_gen, R, dist2_0, eta_g, mu, sigma2_gen):
    return (
        M1 * G2 / (mu * R)
        + _spread(P2_gen, G2, sigma2_gen) / (mu * R * eta_g) ** 2
        + mu * dist2_0**2 * exp(-mu * R / (8 * beta_gen(B2, P2_gen, M1, M2) * L))
    )


def _gen_convex_order(B2, G2, L, M1, M2, P2_gen, R, dist2_0, eta_g, sigma2_gen):
    return (
        sqrt(dist2_0 * M1 * G2 / R)
        + cbrt(dist2_0**2 * _spread(P2_gen, G2, sigma2_gen) / (R * eta_g) ** 2)
        + L * dist2_0 * beta_gen(B2, P2_gen, M1, M2) / R
    )


def _gen_nonconvex_order(B2, G2, L, M1, M2, P2_gen, R, gap_0, eta_g, sigma2_gen):
    return (
        sqrt(gap_0 * M1 * L * G2 / R)
        + cbrt(gap_0**2 * L * _spread(P2_gen, G2, sigma2_gen) / (R * eta_g) ** 2)
        + L * gap_0 * beta_gen(B2, P2_gen, M1, M2) / R
    )


def _gen_drift(gap_share, noise_share):
    return {
        "metric scale": lambda L, W, eta_g, eta_l: 3 * L * W * eta_g * eta_l,
        "local step size": GEN_STEPS["local step size"],
        "bound": lambda G2, L, P2_gen, W, eta_g, eta_l, gap_0, sigma2_gen: (
            W * eta_g * eta_l * (gap_share() * gap_0 + noise_share() * L * eta_l**2 * ((1 + P2_gen) * G2 + sigma2_gen))
        ),
    }


def _own_drift(gradient, noise, L, P2_gen, eta_l):
    """xi <= 2 eta_l^2 L^2 xi + 2 eta_l^2 ((1 + P^2) grad + noise), solved for xi."""
    return 2 * eta_l**2 * ((1 + P2_gen) * gradient + noise) / (1 - 2 * eta_l**2 * L**2)


OWN_STEP = {"local step": lambda eta_l, L: (eta_l, "<=", 1 / (2 * L))}


# --- Sections 4 and 5 ---------------------------------------------------------------------------------------------

SIX_SAMPLES = {
    **ROUNDS,
    "full participation": lambda b: (b, "==", 3),
    "server step size": lambda eta_g: (eta_g, "==", 1),
    "batch": lambda batch: (batch, "==", 1),
    "dimension": lambda d: (d, "==", 6),
    "sizes": lambda sigma2: (sigma2, "==", q(7, 36)),
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


def middle_term(E, G2, P2, R, eta_g, mu, sigma2):
    """The printed middle term of Theorem 5.1, strongly convex."""
    return variation(E, P2, G2, sigma2) / (mu * R * eta_g * E) ** 2


VALUES = {
    "lemma_e_3/corrected": {
        **ONE_ROUND,
        **ORDERED,
        **DISTANCE,
        **FACTOR,
        "step size": lambda W, eta_g, eta_l, L, M1, B2: (W * eta_g * eta_l, "<=", 1 / (4 * L * (1 + M1 * B2))),
        "bound": lambda mu, L, G2, M1, W, eta_g, eta_l, dist2_0, gap_0, drift_0: lemma_c_1(
            mu, L, G2, M1, W * eta_g * eta_l, dist2_0, gap_0, drift_0
        ),
    },
    "lemma_e_3/as_printed": {
        **ONE_ROUND,
        **ORDERED,
        **DISTANCE,
        **SERVER,
        "step size": lambda eta_g, eta_l, L, M1, M2, B2: (eta_g * eta_l, "<=", 1 / (4 * L * (1 + M2 + M1 * B2))),
        "bound": lambda mu, L, G2, M1, W, eta_g, eta_l, dist2_0, gap_0, drift_0: lemma_c_1(
            mu, L, G2, M1, W * eta_g * eta_l, dist2_0, gap_0, drift_0
        ),
    },
    "lemma_e_3/raw": {
        **ONE_ROUND,
        **ORDERED,
        **DISTANCE,
        "bound": lambda mu, L, G2, B2, M1, W, eta_g, eta_l, dist2_0, gap_0, drift_0: (
            (1 - mu * W * eta_g * eta_l / 2) * dist2_0
            + W * eta_g * eta_l * (2 * L * drift_0 - 2 * gap_0)
            + (W * eta_g * eta_l) ** 2
            * (2 * L**2 * drift_0 * (1 + M1) + 2 * M1 * G2 + 4 * L * gap_0 + 4 * L * M1 * B2 * gap_0)
        ),
    },
    "drift_of_a_visit/corrected": {
        **OWN_STEP,
        "bound": lambda L, P2_gen, eta_l, own_grad2_0, own_noise_0: _own_drift(
            own_grad2_0, own_noise_0, L, P2_gen, eta_l
        ),
    },
    "drift_of_a_round_gen/corrected": {
        **OWN_STEP,
        "bound": lambda L, P2_gen, eta_l, client_grad2_0, sigma2_gen: _own_drift(
            client_grad2_0, sigma2_gen, L, P2_gen, eta_l
        ),
    },
    "gradient_of_a_visit/corrected": {"bound": lambda L, visit_drift_0: L**2 * visit_drift_0},
    "progress_of_a_visit/corrected": {**ORDERED, "bound": lambda L, visit_drift_0: L * visit_drift_0},
    "movement_of_a_round_gen/corrected": {
        "bound": lambda L, M1, W, eta_l, eta_g, drift_0, client_grad2_0, grad2_0: (
            2 * (W * eta_g * eta_l) ** 2 * (L**2 * drift_0 + grad2_0 + M1 * (L**2 * drift_0 + client_grad2_0))
        )
    },
    "recursion_convex_gen/sharp": {
        **ONE_ROUND,
        **ORDERED,
        **DISTANCE,
        **GEN_STEPS,
        "bound": lambda mu, L, G2, P2_gen, sigma2_gen, M1, W, eta_l, eta_g, dist2_0, gap_0: (
            dist2_0
            + W * eta_g * eta_l * (5 * L * eta_l**2 * _spread(P2_gen, G2, sigma2_gen) - gap_0 - mu * dist2_0 / 2)
            + 2 * (W * eta_g * eta_l) ** 2 * M1 * G2
        ),
    },
    "recursion_nonconvex_gen/sharp": {
        **ONE_ROUND,
        **GAP,
        **GEN_STEPS,
        "bound": lambda L, G2, P2_gen, sigma2_gen, M1, W, eta_l, eta_g, gap_0, grad2_0: (
            gap_0
            + W * eta_g * eta_l * (3 * L**2 * eta_l**2 * _spread(P2_gen, G2, sigma2_gen) / 2 - grad2_0 / 4)
            + (W * eta_g * eta_l) ** 2 * M1 * L * G2
        ),
    },
    "lemma_e_4/corrected": _gen_drift(lambda: q(9, 10), lambda: 9),
    "lemma_e_4/sharp": _gen_drift(lambda: q(6, 7), lambda: q(48, 7)),
    "lemma_e_4/as_printed": {
        **GEN_PRINTED,
        "metric scale": lambda L, W, eta_g, eta_l: 3 * L * W * eta_g * eta_l,
        "bound": lambda G2, P2_gen, W, eta_g, eta_l, gap_0, sigma2_gen: (
            9 * W * eta_g * eta_l * gap_0 / 10
            + 9 * (W * eta_g * eta_l) ** 3 / eta_g**2 * ((1 + P2_gen) * G2 + sigma2_gen)
        ),
    },
    "lemma_e_5/corrected": {"bound": lambda weighted_squares: weighted_squares},
    "remark_e_2/corrected": {
        "domain": ("work <= largest",),
        "bound": lambda work, largest, W, eta_g: (1 / eta_g / work) / (min(1, 1 / (W * eta_g)) / largest),
    },
    "remark_e_2/as_printed": {"domain": ("work <= largest",), "bound": lambda work, largest: largest / work},
    "section_4_1_limit/corrected": {**SIX_SAMPLES, "bound": fedavg_gap},
    "section_4_1_limit/as_printed": {
        **SIX_SAMPLES,
        "small step": lambda E, eta_l: (E * eta_l, "<=", 1),
        "bound": lambda: sum(size * (q(size, 14) - q(1, 6)) ** 2 for size in (1, 2, 3)) / 2,
    },
    "section_4_2_sum_one/general": {"bound": lambda w_i, w_j, w_k: (w_i / (w_i + w_j) + w_i / (w_i + w_k)) / 3},
    "section_4_2_sum_one/as_printed_client_1": {"bound": lambda: q(7, 36)},
    "section_4_2_sum_one/as_printed_client_2": {"bound": lambda: q(16, 45)},
    "section_4_2_sum_one/as_printed_client_3": {"bound": lambda: q(9, 20)},
    "section_5_full_participation/corrected": {
        "domain": ("b <= n",),
        "more points": ("n=2 b=1", "n=1 b=1"),
        "bound": lambda n, b, w_max: (n - b) * n * w_max / (max(1, n - 1) * b),
    },
    "section_5_full_participation/as_printed": {
        "domain": ("b <= n",),
        "bound": lambda n, b, w_max: (n - b) / (n - 1) * n / b * w_max,
    },
    "section_5_importance/corrected": {"domain": ("b*w_min <= 1",), "bound": lambda b, w_min: 1 / b - w_min},
    "section_5_importance/as_printed": {"domain": ("b*w_min <= 1",), "bound": lambda b, w_min: (1 - w_min) / b},
    "section_5_importance_optimal/corrected": {"bound": lambda w: sqrt(w * (1 - w))},
    "section_5_importance_optimal/as_printed": {"bound": lambda w: 1 - min(w, 1 - w)},
    "section_5_middle_term/corrected": {
        **ORDERED,
        "rate": middle_term,
        "bound": lambda L, E, G2, P2, R, eta_g, mu, sigma2: L * middle_term(E, G2, P2, R, eta_g, mu, sigma2),
    },
    "section_5_middle_term/as_printed": {"rate": middle_term, "bound": middle_term},
    "section_5_with_replacement/corrected": {"bound": lambda R: 1 / sqrt(R), "rate": lambda R: 1 / cbrt(R)},
    "section_5_with_replacement/as_printed": {"bound": lambda R: 1 / cbrt(R), "rate": lambda R: 1 / cbrt(R)},
    "theorem_e_1_convex/corrected": {**MEAN, **GAP, **GEN_STEPS, "bound": _gen(10, 20, 90)},
    "theorem_e_1_convex/sharp": {**MEAN, **GAP, **GEN_STEPS, "bound": _gen(1, 2, 5)},
    "theorem_e_1_convex/as_printed": {
        **MEAN,
        **GAP,
        **GEN_PRINTED,
        "rate": lambda B2, G2, L, M1, M2, P2_gen, R, dist2_0, eta_g, sigma2_gen: (
            sqrt(dist2_0 * M1 * G2 / R)
            + cbrt(dist2_0**2 * ((1 + P2_gen) * G2 + sigma2_gen) / (R * eta_g) ** 2)
            + L * dist2_0 * beta_gen(B2, P2_gen, M1, M2) / R
        ),
        "bound": lambda G2, M1, P2_gen, R, W, dist2_0, eta_g, eta_l, sigma2_gen: (
            10 * dist2_0 / (W * eta_g * eta_l * R)
            + 20 * M1 * G2 * W * eta_g * eta_l
            + 90 * ((1 + P2_gen) * G2 + sigma2_gen) * (W * eta_g * eta_l) ** 2 / eta_g**2
        ),
    },
    **{
        f"theorem_e_1_convex_tuned/{reading}": {
            **GEN_POINTS,
            **MEAN,
            **GAP,
            **FACTOR,
            **AWAY,
            "bound": CONVEX_BOUND(*constants),
            "choice of eta_l": CONVEX_STEP(*constants),
        }
        for reading, constants in {"corrected": (10, 20, 90), "sharp": (1, 2, 5)}.items()
    },
    "theorem_e_1_convex_tuned/as_printed": {
        **GEN_POINTS,
        **MEAN,
        **GAP,
        **SERVER,
        **AWAY,
        "rate": _gen_convex_order,
        "bound": _gen_convex_order,
        "choice of eta_l": lambda B2, G2, L, M1, M2, P2_gen, R, dist2_0, eta_g, sigma2_gen: (
            sublinear_step(
                1 / (4 * beta_gen(B2, P2_gen, M1, M2) * L),
                10 * dist2_0,
                20 * M1 * G2,
                90 * _spread(P2_gen, G2, sigma2_gen) / eta_g**2,
                R,
            )
            / eta_g
        ),
    },
    **{
        f"theorem_e_1_nonconvex_tuned/{reading}": {
            **GEN_POINTS,
            **MEAN,
            **GRADIENT,
            **FACTOR,
            **ABOVE,
            "bound": NONCONVEX_BOUND(*constants),
            "choice of eta_l": NONCONVEX_STEP(*constants),
        }
        for reading, constants in {"corrected": (8, 8, 18), "sharp": (4, 4, 6)}.items()
    },
    "theorem_e_1_nonconvex_tuned/as_printed": {
        **GEN_POINTS,
        **MEAN,
        **GRADIENT,
        **SERVER,
        **ABOVE,
        "rate": _gen_nonconvex_order,
        "bound": _gen_nonconvex_order,
        "choice of eta_l": lambda B2, G2, L, M1, M2, P2_gen, R, gap_0, eta_g, sigma2_gen: (
            sublinear_step(
                1 / (4 * beta_gen(B2, P2_gen, M1, M2) * L),
                8 * gap_0,
                8 * M1 * L * G2,
                18 * L * _spread(P2_gen, G2, sigma2_gen) / eta_g**2,
                R,
            )
            / eta_g
        ),
    },
    "theorem_e_1_nonconvex/corrected": {**MEAN, **GRADIENT, **GEN_STEPS, "bound": _gen_nonconvex(8, 8, 18)},
    "theorem_e_1_nonconvex/sharp": {**MEAN, **GRADIENT, **GEN_STEPS, "bound": _gen_nonconvex(4, 4, 6)},
    "theorem_e_1_nonconvex/as_printed": {
        **MEAN,
        **GRADIENT,
        **GEN_PRINTED,
        "rate": lambda B2, G2, L, M1, M2, P2_gen, R, gap_0, eta_g, sigma2_gen: (
            sqrt(gap_0 * M1 * L * G2 / R)
            + cbrt(gap_0**2 * L * ((1 + P2_gen) * G2 + sigma2_gen) / (R * eta_g) ** 2)
            + L * gap_0 * beta_gen(B2, P2_gen, M1, M2) / R
        ),
        "bound": lambda L, G2, M1, P2_gen, R, W, gap_0, eta_g, eta_l, sigma2_gen: (
            8 * gap_0 / (W * eta_g * eta_l * R)
            + 8 * M1 * L * G2 * W * eta_g * eta_l
            + 18 * L * ((1 + P2_gen) * G2 + sigma2_gen) * (W * eta_g * eta_l) ** 2 / eta_g**2
        ),
    },
    "theorem_e_1_strongly_convex_tuned/corrected": _gen_strongly_tuned(10, 20, 90),
    "theorem_e_1_strongly_convex_tuned/sharp": _gen_strongly_tuned(1, 2, 5),
    "theorem_e_1_strongly_convex_tuned/as_printed": {
        "more points": ("R=1000", "R=300 G2=900"),
        **GEN_GEOMETRIC,
        **GAP,
        **SERVER,
        **AWAY,
        "rounds": lambda R, mu, B2, L, M1, M2, P2_gen: (R, ">=", 4 * beta_gen(B2, P2_gen, M1, M2) * L / mu),
        "rate": _gen_strongly_order,
        "bound": _gen_strongly_order,
        "choice of eta_l": lambda B2, G2, L, M1, M2, P2_gen, R, dist2_0, eta_g, mu: (
            min(
                1 / (4 * beta_gen(B2, P2_gen, M1, M2) * L),
                log(max(1, mu**2 * R * 10 * dist2_0 / (4 * M1 * G2))) / (mu * R),
            )
            / eta_g
        ),
    },
    "theorem_e_1_strongly_convex/corrected": {**GEN_GEOMETRIC, **GAP, **GEN_STEPS, "bound": _gen_strongly(10, 20, 90)},
    "theorem_e_1_strongly_convex/sharp": {**GEN_GEOMETRIC, **GAP, **GEN_STEPS, "bound": _gen_strongly(1, 2, 5)},
    "theorem_e_1_strongly_convex/as_printed": {
        **GEN_GEOMETRIC,
        **GAP,
        **GEN_PRINTED,
        "rounds": lambda R, mu, B2, L, M1, M2, P2_gen: (R, ">=", 4 * beta_gen(B2, P2_gen, M1, M2) * L / mu),
        "step size from below": lambda W, eta_g, eta_l, mu, R: (W * eta_g * eta_l, ">=", 1 / (mu * R)),
        "rate": _gen_strongly_order,
        "bound": lambda mu, G2, M1, P2_gen, R, W, dist2_0, eta_g, eta_l, sigma2_gen: (
            10 * mu * dist2_0 * exp(-mu * R * W * eta_g * eta_l / 2)
            + 4 * M1 * G2 * W * eta_g * eta_l
            + 18 * ((1 + P2_gen) * G2 + sigma2_gen) * (W * eta_g * eta_l) ** 2 / eta_g**2
        ),
    },
}

# the other side of claims about numbers
for _reading in ("corrected", "as_printed"):
    VALUES[f"remark_e_2/{_reading}"] |= {
        "value": lambda work, largest, W, eta_g: (
            min(q(1, 1), 1 / eta_g) * largest / (work * min(q(1, 1), 1 / (W * eta_g)))
        )
    }
    VALUES[f"section_5_with_replacement/{_reading}"] |= {
        "value": lambda slope, dist2, R: slope * sqrt(dist2 / (slope * R)) / (slope * sqrt(dist2 / slope))
    }
