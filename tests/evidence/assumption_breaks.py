"""For each assumption of the statements an instance that breaks it, and the assumptions that no run can test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Verdict

Spec = Mapping[str, Any]


@dataclass(frozen=True)
class Break:
    """A claim whose instance breaks one assumption. words: the instance, for the table. original: whether the run is
    on the problem as it is, although the statement is about the method's own objective."""

    words: str
    statement: str
    problem: Spec
    method: Spec
    at: Spec = field(default_factory=dict)
    constants: Spec = field(default_factory=dict)
    original: bool = False

    def alone(self, name: str | None) -> Statement:
        """The statement with this assumption alone, or with none."""
        whole = statement(self.statement)
        kept = tuple(a for a in whole.assumptions if a.name == name)
        metric = replace(whole.metric, surrogate=False) if self.original else whole.metric
        return replace(whole, assumptions=kept, metric=metric)

    def verdict(self, name: str | None) -> Verdict:
        """Of the claim about the statement with this assumption alone."""
        claim = Claim(self.statement, self.problem, self.method, at=self.at, constants=self.constants)
        return run_claim(replace(claim, statement=self.alone(name))).verdict


def quadratics(*clients: Spec, **more: Any) -> Spec:
    return {"kind": "quadratics", "clients": list(clients), **more}


def samples(*pairs: tuple[Any, Any]) -> Spec:
    """A client with the samples A x^2/2 - b x."""
    return {"components": [{"A": a, "b": b} for a, b in pairs]}


THREE = quadratics(samples((1, 1)), samples((1, -1)), samples((1, 3)), start=[4])
SLOPING = quadratics({"A": [[2, 1], [1, 2]], "b": [1, 0]}, {"A": [[2, 1], [1, 2]], "b": [0, 1]}, start=[4, -3])
UNEQUAL = {**SLOPING, "weights": ["1/3", "2/3"]}
SADDLE = quadratics({"A": -1, "b": 0}, start=[1])
P36 = {"kind": "fedshuffle_36"}
CUBIC = {"kind": "scgd_appendix_c", "cubic": True}
ASYNC = {"kind": "fedavg_async", "times": [2, 3, 5], "K": 2, "eta_l": "1/100000"}
SHUFFLE = {"kind": "fedshuffle", "eta_l": "1/1000"}
BLOCKS = {"kind": "partial_averaging", "tau": 2, "eta": "1/1000"}
WHOLE = {"kind": "periodic_averaging", "tau": 2, "eta": "1/1000"}
DANE = {"kind": "feddane", "mu": 60, "K": 2}
PLAIN_DANE = {"kind": "feddane", "mu": 60}
CYCLIC = {"kind": "scgd", "E": 1, "eta": "1/100"}
DESCENT = {"kind": "gradient_descent", "eta": "1/10"}
PAIRS = {"participation": {"kind": "uniform", "size": 2}}
ONE: Spec = {"R": [1]}

# fmt: off
BREAKS: Mapping[str, Break] = {
    # --- of the objective -----------------------------------------------------------------------------------------
    "bounded_below": Break("-x^2/2", "classics/gradient_descent_nonconvex/sharp", SADDLE, DESCENT),
    "convexity": Break("-x^2/2", "classics/gradient_descent_convex/sharp", SADDLE, DESCENT),
    "convex_clients": Break("a client -x^2/2", "feddane/theorem_3/as_printed",
        quadratics({"A": 4}, {"A": -1}, start=[2]), DANE),
    "convex_samples": Break("a sample -x^2/2", "fedshuffle/theorem_5_1_convex/corrected",
        quadratics(samples((4, 0), (-1, 1)), start=[2]), SHUFFLE, ONE),
    "strong_quasi_convexity": Break("the Huber function", "scgd/theorem_3_3/corrected", {"kind": "huber"}, CYCLIC,
        {"K": [1]}, {"mu": "1/2"}),
    "strongly_convex_samples": Break("a sample without curvature", "fedshuffle/theorem_5_1_strongly_convex/corrected",
        quadratics(samples((1, 0), (0, 1)), start=[2]), SHUFFLE, ONE, {"mu": "1/2"}),
    "smooth_clients": Break("L below a client's curvature", "scgd/theorem_3_3/corrected",
        quadratics({"A": 1}, {"A": 2}, start=[1]), CYCLIC, {"K": [1]}, {"L": "3/2"}),
    "smooth_samples": Break("L below a sample's curvature", "fedshuffle/theorem_5_1_convex/corrected",
        quadratics(samples((1, 0)), samples((2, 1)), start=[2]), SHUFFLE, ONE, {"L": 1}),
    "client_smoothness": Break("a client 3x^3", "feddane/theorem_7/corrected", CUBIC, {**DANE, "mu": 18}),
    "lower_curvature": Break("a client 3x^3", "feddane/theorem_5/as_printed", CUBIC, DANE),
    "finite_gradient_noise": Break("F flat where a client is curved", "scgd/theorem_3_3/corrected",
        quadratics({"A": [[1, 0], [0, 0]]}, {"A": [[0, 0], [0, 1]]}, {"A": [[0, 0], [0, -1]]}, start=[1, 1]), CYCLIC,
        {"K": [1]}),
    # --- of how clients differ ------------------------------------------------------------------------------------
    "plain_mean": Break("unequal weights", "scgd/theorem_3_3/corrected", UNEQUAL, CYCLIC, {"K": [1]}),
    "data_weights": Break("weights that are not the shares of the samples", "fedshuffle/theorem_5_1_convex/corrected",
        quadratics(samples((1, 0), (1, 1)), samples((1, 2)), weights=["1/2", "1/2"], start=[2]), SHUFFLE, ONE),
    "iid_clients": Break("clients with different minimisers", "feddane/remark_iid/corrected",
        quadratics({"A": 1, "b": 3}, {"A": 2, "b": 4}, start=[0]), {**DANE, "mu": 18, "K": 1}),
    "gradient_dissimilarity": Break("F linear, clients curved", "fedshuffle/theorem_5_1_nonconvex/corrected",
        quadratics(samples((1, 0)), samples((-1, 1)), start=[2]), SHUFFLE, ONE),
    "relaxed_dissimilarity": Break("G2 = 0 where clients have different minimisers",
        "fedshuffle/theorem_5_1_convex/corrected", quadratics(samples((1, 0)), samples((2, 1)), start=[2]), SHUFFLE,
        ONE, {"G2": 0, "B2": 1}),
    "hessian_similarity": Break("delta below the clients' difference", "fedshuffle/theorem_5_2/corrected",
        quadratics(samples((1, 0)), samples((3, 1)), start=[2]),
        {"kind": "fedshuffle_mvr", "eta_l": "1/1000", "a": "1/10", "warm_up": 5}, ONE, {"delta": "1/2"}),
    "local_variance": Break("samples curved upwards and downwards", "fedshuffle/theorem_5_1_nonconvex/corrected",
        quadratics(samples((1, 0), (-1, 1)), start=[2]), SHUFFLE, ONE),
    "bounded_dissimilarity": Break("clients with different minimisers", "feddane/theorem_6/corrected",
        quadratics({"A": 1, "b": 1}, {"A": 1, "b": -1}, start=[1]), {**DANE, "mu": 18, "K": 1}),
    "dissimilarity_at_start": Break("a start where F alone is stationary", "feddane/theorem_3/as_printed",
        quadratics({"A": 1, "b": 1}, {"A": 1, "b": -1}, start=[0]), DANE),
    "bounded_gradients": Break("quadratic clients", "async_fl/theorem_3/corrected", THREE, ASYNC, {"s": [1]},
        {"B": 10}),
    "bounded_sample_gradients": Break("quadratic clients", "async_fl/theorem_3/corrected", THREE, ASYNC, {"s": [1]},
        {"B": 10}),
    "same_expected_weights": Break("one client a round", "async_fl/corollary_1/corrected", THREE, ASYNC, {"s": [1]}),
    "own_minimisers": Break("two clients with the same data", "async_fl/table_2_async_residual/as_printed",
        quadratics(samples((1, 1)), samples((1, 1)), samples((1, 3)), start=[4]), ASYNC),
    "followed_objective": Break("FedAvg with clients of unequal sizes, on the plain objective",
        "fedshuffle/theorem_e_1_convex/corrected", P36,
        {"kind": "fedshuffle_gen", "eta_l": "1/1000", "c": "max", "normaliser": "sum_one"}, ONE, original=True),
    "zero_at_start": Break("the start (0, 0, 1/3, 1/3, 0, 0), as far from x* as 0",
        "fedshuffle/section_4_1_limit/corrected", {**P36, "start": [0, 0, "1/3", "1/3", 0, 0]},
        {"kind": "fedavg_rr", "eta_l": "1/8"}, {"R": [0, 1, 2]}),
    # --- of blocks ------------------------------------------------------------------------------------------------
    "smooth_blocks": Break("a client 3x^3", "partial_averaging/theorem_1/as_printed", CUBIC, WHOLE, {"K": [10]}),
    "smooth_weighted": Break("a client 3x^3", "partial_averaging/theorem_1/corrected", CUBIC, WHOLE, {"K": [10]}),
    "smooth_globally": Break("Lmax below a client's curvature", "partial_averaging/theorem_1/global", SLOPING, BLOCKS,
        {"K": [10]}, {"Lmax": "5/2"}),
    "smooth_separable": Break("Hessians that couple two blocks", "partial_averaging/theorem_1/separable", SLOPING,
        BLOCKS, {"K": [10]}),
    "averages_as_objective": Break("equal averages of clients with unequal weights",
        "partial_averaging/theorem_2/corrected", UNEQUAL, BLOCKS, {"K": [10]}),
    "averages_uniformly": Break("averages by unequal weights", "partial_averaging/lemma_2/as_printed", UNEQUAL,
        {**BLOCKS, "weights": "data"}, {"K": [10]}, {"local_grad2": 0}),
    "block_variance": Break("samples of different curvature", "partial_averaging/theorem_1/corrected",
        quadratics(samples((1, 1), (3, 1)), samples((1, 0), (3, 0)), start=[4]), WHOLE, {"K": [10]}),
    "block_dissimilarity": Break("a block in which F is flat and clients are curved",
        "partial_averaging/remark_4/as_printed",
        quadratics({"A": [[1, 0], [0, 1]]}, {"A": [[1, 0], [0, -1]]}, start=[4, -3]), BLOCKS),
    "total_dissimilarity": Break("kappa^2 = 1/10 where clients have different minimisers",
        "partial_averaging/remark_4/corrected", SLOPING, BLOCKS, {},
        {"K": 400, "eta_unit": "1/1000", "beta2": 1, "kappa2": "1/10"}),
    "pure_noise": Break("quadratic clients", "partial_averaging/discrepancy_periodic/derived",
        quadratics(samples((1, 1), (1, -1)), samples((1, 1), (1, -1)), start=[4]),
        {"kind": "periodic_averaging", "tau": 3, "eta": "1/2"}, {"k": [3]}),
    "even_noise": Break("blocks of two numbers and one", "partial_averaging/discrepancy_partial/derived",
        {"kind": "pure_noise", "clients": 2, "d": 3}, {"kind": "partial_averaging", "tau": 2, "eta": "1/2"},
        {"k": [3]}),
    # --- of who takes part ----------------------------------------------------------------------------------------
    "unbiased_gradients": Break("steps along single samples of clients that are their sum",
        "async_fl/theorem_1/corrected",
        quadratics(samples((1, 1), (1, 3)), samples((1, -1), (1, 0)), start=[4], reduction="sum"),
        {**ASYNC, "times": [2, 3], "batch": 1}, {"s": [1]}),
    "covariance_of_weights": Break("two of three clients, the fast ones oftener together",
        "async_fl/theorem_1/corrected", THREE,
        {"kind": "fedbuff", "times": {"kind": "exponential", "rates": [1, 2, 3]}, "m": 2, "K": 2, "eta_l": "1/100000"},
        {"s": [1]}),
    "window_property": Break("cohorts whose first rounds do not return", "async_fl/theorem_3/corrected",
        quadratics(samples((1, 1)), samples((1, -1)), samples((1, 3)), samples((1, 0)), start=[4]),
        {"kind": "fedbuff", "times": [1, 2, 3, 2], "m": 2, "K": 2, "eta_l": "1/100000"}, {"s": [1]}, {"B": 10}),
    "every_type_every_round": Break("one client a round", "async_fl/theorem_2/corrected_every_type", THREE, ASYNC,
        {"s": [1]}),
    "no_empty_rounds": Break("rounds shorter than any update", "async_fl/theorem_2/corrected", THREE,
        {"kind": "fedfix", "times": [2, 3, 5], "dt": 1, "K": 2, "eta_l": "1/100000"}, {"s": [1]}),
    "fixed_times": Break("random update times", "async_fl/table_2_async_beta/corrected", THREE,
        {**ASYNC, "times": {"kind": "exponential", "rates": [1, 1, 1]}}),
    "one_by_one": Break("joint ties", "async_fl/equation_35/as_printed", THREE, {**ASYNC, "ties": "joint"}),
    "whole_times": Break("an update time 5/2", "async_fl/equation_35/as_printed", THREE,
        {**ASYNC, "times": [2, 3, "5/2"]}),
    "slowest_at_an_end": Break("the slowest client in the middle", "async_fl/table_2_async_tau/sharp", THREE,
        {**ASYNC, "times": [2, 5, 3]}),
    "time_based": Break("equal aggregation weights", "async_fl/table_2_async_beta/corrected", THREE,
        {**ASYNC, "weights": "identical"}),
    "four_alternating_clients": Break("three clients", "async_fl/example_1/corrected", THREE, ASYNC, {"n": [1]}),
    "two_alternating_clients": Break("three clients", "async_fl/example_2/corrected", THREE, ASYNC, {"j": [1]}),
    "unbiased_gradient_cohort": Break("all devices, unequal weights", "feddane/theorem_3/as_printed", UNEQUAL,
        {"kind": "feddane", "mu": 60, "participation": "full"}),
    "unbiased_solver_cohort": Break("the devices solve in turn", "feddane/equation_3/corrected",
        {"kind": "feddane_1d"},
        {"kind": "feddane", "mu": 3, "K": 1, "participation": {"kind": "pattern", "cohorts": [[0], [1]]}}, {"T": [1]}),
    "gradient_cohort_variance": Break("cohorts of two like devices or of one other", "feddane/theorem_3/sharp",
        quadratics({"A": 2, "b": 1}, {"A": 1, "b": -1}, {"A": 1, "b": 0}, {"A": 2, "b": 0}, start=[3]),
        {**PLAIN_DANE, "participation": {"kind": "subsets", "subsets": [[0, 1], [2, 3]], "probabilities": ["1/2",
            "1/2"]}}),
    "independent_cohorts": Break("S_t = S'_t", "feddane/theorem_7/corrected", SLOPING,
        {**DANE, "mu": [60, 70], "same": True}),
    "inexact_solves": Break("a set S'_t that may be empty", "feddane/theorem_3/as_printed", SLOPING,
        {**PLAIN_DANE, "participation": {"kind": "independent", "probabilities": ["1/2", "1/2"]},
            "gradient_participation": {"kind": "with_replacement", "size": 2}}),
    "uniform_participation": Break("importance sampling", "fedshuffle/section_5_full_participation/corrected", P36,
        {**SHUFFLE, "participation": {"kind": "importance", "b": 2}}),
    "importance_participation": Break("equal probabilities, unequal weights",
        "fedshuffle/section_5_importance/corrected", P36,
        {**SHUFFLE, "participation": {"kind": "independent", "probabilities": ["1/2", "1/2", "1/2"]}}),
    "smallest_m_of_two": Break("importance sampling, unequal weights",
        "fedshuffle/section_5_importance_optimal/corrected",
        quadratics({"A": 1, "b": 0}, {"A": 1, "b": 1}, weights=["9/10", "1/10"], start=[1]),
        {**SHUFFLE, "participation": {"kind": "importance", "b": 1}}),
    "sum_one_pairs": Break("epochs 1, 2, 1", "fedshuffle/section_4_2_sum_one/general", P36,
        {**SHUFFLE, **PAIRS, "kind": "fedshuffle_sum_one", "E": [1, 2, 1]}),
    "sum_one_pairs_of_three": Break("three clients of equal weight",
        "fedshuffle/section_4_2_sum_one/as_printed_client_1", {**P36, "sizes": [2, 2, 2]},
        {**SHUFFLE, **PAIRS, "kind": "fedshuffle_sum_one"}),
    # --- numeric examples -----------------------------------------------------------------------------------------
    "instance:feddane_1d": Break("two other devices", "feddane/equation_3/corrected",
        quadratics({"A": 1}, {"A": 2}, start=[1]), {"kind": "feddane", "mu": 3, "K": 1}, {"T": [1]}),
    "instance:fedshuffle_36": Break("the same clients as a problem of another kind",
        "fedshuffle/section_4_1_limit/corrected",
        quadratics(samples((1, 1)), samples((1, 0), (1, 0)), samples((1, 2), (1, 0), (1, 0)), start=[0]),
        {"kind": "fedavg_rr", "eta_l": "1/8"}, {"R": [0, 1]}),
    "instance:scgd_appendix_c": Break("the same clients as a problem of another kind",
        "scgd/example_app_c_scgd/corrected", quadratics({"A": -2}, {"A": -2}, {"A": 6}, start=[1]),
        {"kind": "scgd", "E": 2, "eta": "1/10"}, {"K": [1]}),
    "instance:scgd_appendix_c_cubic": Break("the quadratic example", "scgd/example_app_c_scgd/as_printed",
        {"kind": "scgd_appendix_c"}, {"kind": "scgd", "E": 2, "eta": "1/10"}),
}
# fmt: on

_NO_RUN = "no run measures the quantity of the lemma; a curve made by hand names the assumption"
# Assumptions that no run can test; a comparison with one of them names it in its reason.
UNTESTABLE: Mapping[str, str] = {
    "independent_weights": "no method lets models, gradients or delays decide who takes part",
    "iid_data": "samples that are given do not tell from which distribution they were drawn",
    **dict.fromkeys(
        (
            *("chung_recursion", "chung_recursion_up_to_k0", "increments", "weighted_increments"),
            *("smooth_function", "strongly_convex_function", "without_replacement"),
            *("cohort_variance", "uniform_cohort", "cohort_normaliser_variance"),
            *("convex_device", "smooth_device", "inexact_device"),
        ),
        _NO_RUN,
    ),
}
