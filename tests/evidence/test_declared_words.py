"""What a statement declares decides: averages over rounds, names, and the parameters of its method."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from boundcheck.engines.curve import Curve
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import points_of
from boundcheck.falsify.search import falsify
from boundcheck.methods.build import algorithms, build, kind_of, kinds
from boundcheck.methods.chosen import chosen, usual_method
from boundcheck.methods.kind import NEEDED
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.theory.assumptions import Assumption, bounded_gradients, convex_clients, convexity, smooth_clients
from boundcheck.theory.dimension import LENGTH, ONE, VALUE
from boundcheck.theory.statement import ROUND, Algorithm, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.theory.typeset import average_text, claim_mathml, claim_text, metric_latex
from boundcheck.verdict import Grade, Outcome, Verdict

k, eta, d0, L = common.k.expr, common.eta.expr, common.dist2_0.expr, common.L.expr
FROM_1 = common.k.but(low=Fraction(1))
VALUES = [Fraction(4), Fraction(1), Fraction(3), Fraction(2)]


def gap(average: str, bound: Any = common.gap_0.expr, *symbols: Symbol, **more: Any) -> Statement:
    """A bound on the gap over the points before the k-th."""
    index = common.k if more.get("with_last") else FROM_1
    metric = Metric("gap", VALUE, index="k", rounds=k, average=average, expectation="the samples", **more)
    own = symbols or (common.gap_0,)
    return Statement(Source("mine", "1", "here"), "as_printed", "t", (index, *own), metric, bound, name="mine")


def measured(claimed: Statement, values: Any, **how: Any) -> dict[int, float]:
    """The compared metric by index, from values that were measured elsewhere."""
    curve = Curve.from_samples(range(np.shape(values)[-1]), values, "gap", **how)
    points = points_of(claimed, curve, {"gap_0": Fraction(4)})
    assert all(low <= high for low, high in zip(points.low, points.high, strict=True))
    return {int(index): float(high) for index, high in zip(points.index, points.high, strict=True)}


@pytest.mark.parametrize(
    ("claimed", "wanted"),
    [
        (gap("least"), {1: 4, 2: 1, 3: 1, 4: 1}),
        (gap("least", with_last=True), {0: 4, 1: 1, 2: 1, 3: 1}),
        (gap("mean"), {1: 4, 2: 5 / 2, 3: 8 / 3, 4: 5 / 2}),
        (gap("mean", with_last=True), {0: 4, 1: 5 / 2, 2: 8 / 3, 3: 5 / 2}),
        (gap("drawn", weights=1 + ROUND), {1: 4, 2: 2, 3: 5 / 2, 4: 23 / 10}),  # (4 + 2 + 9)/6, (4 + 2 + 9 + 8)/10
        (gap("last"), {1: 1, 2: 3, 3: 2}),
    ],
)
def test_each_word_is_carried_out(claimed: Statement, wanted: dict[int, float]) -> None:
    assert measured(claimed, [float(v) for v in VALUES], deterministic=True) == pytest.approx(wanted, rel=1e-12)


def test_the_least_of_random_runs_is_taken_in_every_run() -> None:
    rows = [[4.0, 1.0, 3.0], [4.0, 5.0, 0.0]]  # the means are 4, 3, 3/2
    assert measured(gap("least"), rows) == {1: 4.0, 2: 2.5, 3: 0.5}
    means = Curve.from_samples([0, 1], [4.0, 3.0], "gap", standard_error=[0.1, 0.1])
    with pytest.raises(BadInput, match="least gap so far of each run, which the curve does not hold"):
        points_of(gap("least"), means, {"gap_0": Fraction(4)})


NOISY = {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1}


def test_the_exact_engine_has_no_least_value_of_a_random_run() -> None:
    method = build({"kind": "fedshuffle", "eta_l": "1/100", "participation": {"kind": "uniform", "size": 1}})
    exact = run(method, build_problem(NOISY), rounds=range(4))
    with pytest.raises(BadInput, match="take engine = 'sampled'"):
        points_of(gap("least"), exact, {"gap_0": Fraction(4)})
    sampled = run(method, build_problem(NOISY), rounds=range(4), engine="sampled", seeds=8)
    found = points_of(gap("least"), sampled, {"gap_0": Fraction(4)})
    own = np.minimum.accumulate(sampled.samples["gap"], axis=1).mean(axis=0)
    assert found.high == pytest.approx(own)


# Subgradient method: |x| between -1 and 1 but for a small smooth piece, from 9/100 with the step 1/10: the points are
# 9/100, -1/100, 9/100, ..., so that the least value stays and the last one does not.
KINK = {"kind": "piecewise_quadratics", "start": "9/100",
        "clients": [{"knots": ["-1/10000", "1/10000"], "slopes": [-1, 1]}]}  # fmt: skip
LIPSCHITZ = Symbol("B", "Lipschitz constant of F", VALUE / LENGTH, low=Fraction(0), key="clients/gradient_bound")


@pytest.mark.parametrize(("average", "outcome"), [("least", Outcome.HOLDS), ("last", Outcome.VIOLATED)])
def test_the_subgradient_method_is_bounded_in_its_best_point(average: str, outcome: Outcome) -> None:
    bound = (d0 + eta**2 * LIPSCHITZ.expr**2 * k) / (2 * eta * k)
    metric = Metric("gap", VALUE, index="k", rounds=k, average=average)
    claimed = Statement(Source("Boyd", "2", "here"), "as_printed", "t", (FROM_1, common.eta, common.dist2_0, LIPSCHITZ),
                        metric, bound, algorithm=Algorithm("gradient_descent", ("eta",)),
                        assumptions=(convex_clients, bounded_gradients))  # fmt: skip
    found = verdict(claimed, {"kind": "gradient_descent", "eta": "1/10"}, [2, 4, 20, 100], KINK)
    assert (found.outcome, found.grade) == (outcome, Grade.EXACT)
    if average == "least":
        searched = falsify(claimed, max_instances=24)
        assert searched.witness is None
        assert searched.searched["problems"] == "piecewise quadratic"


def verdict(claimed: Statement, method: Any, at: list[int], problem: Any = None) -> Verdict:
    """Of a claim about a statement that is not on file."""
    problem = problem or {"kind": "quadratics", "start": [1], "clients": [{"A": [[2]]}]}
    found: ClaimResult = run_claim(replace(Claim("mine", problem, method, at={"k": at}), statement=claimed))  # type: ignore[arg-type]
    return found.verdict


# --- words and names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claimed", "words", "line", "latex"),
    [
        (gap("least"), "least over r = 0, ..., k - 1", "least of gap over r < k", r"\min_{0 \leq r \leq k - 1}"),
        (gap("least", with_last=True), "least over r = 0, ..., k", "least of gap over r <= k", r"0 \leq r \leq k}"),
        (gap("mean"), "mean over r = 0, ..., k - 1", "mean of gap over r < k", r"\frac{1}{k} \sum_{r=0}^{k - 1}"),
        (gap("mean", with_last=True), "mean over r = 0, ..., k", "mean of gap over r <= k", r"\frac{1}{k + 1}"),
        (gap("drawn", weights=1 + ROUND), "at one r drawn from r = 0, ..., k - 1 with the weights r + 1",
         "gap at a drawn r < k, weights r + 1", r"\sum_{r=0}^{k - 1} r + 1"),
        (gap("last"), "last", "gap_k", r"F(\theta_{k}) - F^*"),
    ],
)  # fmt: skip
def test_words_are_made_from_the_structure(claimed: Statement, words: str, line: str, latex: str) -> None:
    assert average_text(claimed.metric) == words
    assert claim_text(claimed).startswith(f"{line} <=")
    assert latex in metric_latex(claimed)
    assert claim_mathml(claimed).startswith("<math")
    assert Statement.from_dict(claimed.to_dict()) == claimed


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"average": "the least of the first k points"}, "it is one of last, mean, least, drawn"),
        ({"average": "min"}, "it is one of last, mean, least, drawn"),
        ({"weights": sp.S.One}, "'last', which has no weights"),
        ({"average": "least", "weights": sp.S.One}, "'least', which has no weights"),
        ({"with_last": True}, "leave with_last out"),
        ({"average": "drawn"}, "expectation says over what"),
    ],
)
def test_other_words_are_refused_when_declared(parts: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        Metric("gap", VALUE, index="k", rounds=k, **parts)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"algorithm": Algorithm("adam")}, "the algorithm 'adam' is unknown"),
    ({"algorithm": Algorithm("heavy_bal")}, "'heavy_bal' is unknown; did you mean 'heavy_ball'"),
    ({"algorithm": Algorithm("heavy_ball", steps=(("beta", sp.Rational(1, 2)),))},
     "the algorithm heavy_ball, parameter 'beta' is unknown"),
    ({"algorithm": Algorithm("heavy_ball", any_value=("momentum",))},
     "parameter 'momentum' is unknown; did you mean 'momentum_g'"),
    ({"metric": replace(gap("last").metric, quantity="regret")},
     r"no problem or method provides it.*the metric 'regret' is unknown"),
    ({"metric": Metric("constant:participation/N", ONE)}, "the key 'participation/N'"),
    ({"kind": "lower"}, "its kind 'lower'"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "why"), REFUSED)
def test_names_that_nothing_provides_are_refused_when_declared(parts: dict[str, Any], why: str) -> None:
    with pytest.raises(UnknownName, match=why):
        replace(gap("last"), **parts)
    own = replace(gap("last"), metric=replace(gap("last").metric, quantity="regret", measured=True))
    assert Statement.from_dict(own.to_dict()) == own


# --- parameters of the method ---------------------------------------------------------------------------------------


def heavy(*steps: tuple[str, Any], any_value: tuple[str, ...] = (), kind: str = "heavy_ball") -> Statement:
    """Goujaud, Taylor, Dieuleveut 2022: heavy ball with the step 1/(L(t + 2)) and momentum t/(t + 2)."""
    algorithm = Algorithm(kind, (), (("eta", 1 / (L * (ROUND + 2))), *steps), any_value)
    return Statement(Source("Goujaud", "2.4", "here"), "as_printed", "t", (common.L, common.k, common.dist2_0),
                     Metric("gap", VALUE, index="k", rounds=k), L * d0 / (2 * (k + 1)), algorithm=algorithm,
                     assumptions=(convexity, smooth_clients))  # fmt: skip


PLAIN = {"kind": "fedavgm", "eta_l": "1/(2*(r+2))", "momentum_g": 0}
PRESCRIBED = ("momentum_g", ROUND / (ROUND + 2))
STEP = "1/(2*(r+2))"


@pytest.mark.parametrize(
    ("momentum", "outcome"),
    [
        ("r/(r+2)", Outcome.HOLDS),
        ("1 - 2/(r+2)", Outcome.HOLDS),  # the same function
        ("1/2", Outcome.OUT_OF_SCOPE),
        ("(r-1)/(r+2)", Outcome.OUT_OF_SCOPE),
        ("r/(r+2) + max(0, r-6)/1000000*0.001", Outcome.OUT_OF_SCOPE),  # differs from round 7 on
    ],
)
def test_a_prescribed_momentum_is_compared_in_every_round(momentum: str, outcome: Outcome) -> None:
    method = {"kind": "heavy_ball", "eta": STEP, "momentum_g": momentum}
    found = verdict(heavy(PRESCRIBED), method, [1, 2, 5, 20])
    assert (found.outcome, found.grade) == (outcome, Grade.EXACT)
    if outcome is Outcome.OUT_OF_SCOPE:
        assert "the statement is about momentum_g = r/(r + 2) after r rounds, the run has " in found.reason


@pytest.mark.parametrize("momentum", ["r/(r+2)", "1/2"])
def test_a_parameter_that_is_left_open_is_named(momentum: str) -> None:
    method = {"kind": "heavy_ball", "eta": STEP, "momentum_g": momentum}
    found = verdict(heavy(), method, [1, 2, 5, 20])
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert found.reason.endswith("Taken for granted: that it is made for every momentum_g.")
    assert verdict(heavy(any_value=("momentum_g",)), method, [1, 2]).grade is Grade.EXACT


def test_a_momentum_that_changes_keeps_the_name_of_its_method() -> None:
    for kind in ("heavy_ball", "nesterov"):
        assert kind in algorithms(build({"kind": kind, "eta": "1/2", "momentum_g": "r/(r+2)"}))
    one = Symbol("beta", "momentum", ONE, key="method/momentum_g")
    constant = replace(heavy(), bound=heavy().bound + one.expr * L * d0, symbols=(*heavy().symbols, one))
    constant = replace(constant, algorithm=Algorithm("heavy_ball", ("beta",), heavy().algorithm.steps))  # type: ignore[union-attr]
    found = verdict(constant, {"kind": "heavy_ball", "eta": STEP, "momentum_g": "r/(r+2)"}, [1, 2])
    assert found.outcome is Outcome.OUT_OF_SCOPE
    assert "about a constant momentum_g, the run has r/(r+2) in its round r" in found.reason


@pytest.mark.parametrize(
    ("kind", "prescribed", "method", "named"),
    [
        ("fedavg", ("E", 2), {"kind": "fedavg", "E": 2, "eta": STEP}, ""),
        ("fedavg", ("E", 3), {"kind": "fedavg", "E": 2, "eta": STEP}, "E = 3, the run has 2"),
        ("fedavg", None, {"kind": "fedavg", "E": 2, "eta": STEP}, "every E"),
        ("fedavgm", ("eta_g", 1), {**PLAIN, "K": 1}, "every momentum_g"),
        ("fedavgm", ("eta_g", 2), {**PLAIN, "K": 1}, "eta_g = 2, the run has 1"),
        ("fedshuffle", None, {"kind": "fedshuffle", "eta_l": STEP}, ""),
        ("fedshuffle", None, {"kind": "fedshuffle", "eta_l": STEP, "eta_g": "1/2"}, "every eta_g"),
        ("svrg", ("inner", 2), {"kind": "svrg", "eta": "1/20", "inner": 3}, "inner = 2, the run has 3"),
        ("fedavg_weighted", ("E", 1), {"kind": "fedavg_weighted", "eta_l": STEP, "K": 1}, "every K"),
        ("fedshuffle_gen", None, {"kind": "fedshuffle_gen", "eta_l": STEP, "c": "none"}, "every c"),
        ("fedshuffle_gen", None, {"kind": "fedshuffle_gen", "eta_l": STEP, "E": [1, 2]}, "every E"),
    ],
)  # fmt: skip
def test_every_parameter_is_compared_or_named(kind: str, prescribed: Any, method: dict[str, Any], named: str) -> None:
    steps = () if prescribed is None else ((prescribed[0], sp.sympify(prescribed[1])),)
    step = {"eta": 1 / (L * (ROUND + 2))} if "eta" in method else {"eta_l": 1 / (L * (ROUND + 2))}
    step = {} if kind == "svrg" else step
    claimed = replace(heavy(), bound=L * d0 * 10 + 0 * k, algorithm=Algorithm(kind, (), (*step.items(), *steps)))
    found = verdict(claimed, method, [1, 2, 3])
    if " the run has" in named:
        assert found.outcome is Outcome.OUT_OF_SCOPE
        assert f"the statement is about {named}" in found.reason
    else:
        assert found.outcome is Outcome.HOLDS
        assert ("Taken for granted" in found.reason) == bool(named)
        assert named in found.reason


TWO = {"kind": "quadratics", "start": [1], "clients": [{"A": [[2]]}, {"A": [[2]]}]}
UNIFORM = Assumption("uniform_participation", "b of the n clients are drawn, all subsets alike.")
OWN = Assumption("cohorts of one", "In every round one client takes part.")


@pytest.mark.parametrize(
    ("participation", "any_value", "assumptions", "named"),
    [
        ({"kind": "uniform", "size": 1}, (), (), "that it is made for every participation"),
        ({"kind": "pattern", "cohorts": [[0], [1]]}, (), (), "that it is made for every participation"),
        ({"kind": "uniform", "size": 1}, ("participation",), (), ""),
        ({"kind": "uniform", "size": 1}, (), (UNIFORM,), ""),  # decided, and it says which cohorts there are
        ({"kind": "pattern", "cohorts": [[0], [1]]}, (), (UNIFORM,), "Out of scope: assumption uniform_participation"),
        ({"kind": "uniform", "size": 1}, (), (OWN,), "assumption cohorts of one; that it is made for every participa"),
        ("full", (), (), ""),  # the default is what the kind is, under whatever name
        ({"kind": "uniform", "size": 2}, (), (), ""),
        ({"kind": "pattern", "cohorts": [[0, 1]]}, (), (), ""),
    ],
)
def test_a_silent_theorem_speaks_of_the_default_cohorts_only(
    participation: Any, any_value: tuple[str, ...], assumptions: tuple[Assumption, ...], named: str
) -> None:
    method = {"kind": "fedavg_weighted", "eta_l": STEP, "participation": participation}
    algorithm = Algorithm("fedavg_weighted", (), (("eta_l", 1 / (L * (ROUND + 2))),), any_value)
    claimed = replace(heavy(), algorithm=algorithm, assumptions=(convexity, smooth_clients, *assumptions))
    found = verdict(claimed, method, [1, 2, 5], TWO)
    if named.startswith("Out of scope"):
        assert (found.outcome, found.reason[: len(named)]) == (Outcome.OUT_OF_SCOPE, named)
        return
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.SUPPORTED if named else Grade.EXACT)
    assert found.reason.partition("Taken for granted: ")[2].startswith(named)
    assert ("Taken for granted" in found.reason) == bool(named)


def test_parameters_that_a_file_does_not_record_are_named() -> None:
    algorithm = Algorithm("fedavg", (), (("eta", sp.Rational(1, 4)), ("E", sp.S(2))))
    claimed = replace(heavy(), bound=L * d0, algorithm=algorithm)
    method = build({"kind": "fedavg", "eta": "1/4", "E": 2})
    curve = run(method, build_problem(TWO), rounds=range(4))
    assert compare(claimed, curve).grade is Grade.EXACT
    read = compare(claimed, replace(curve, parameters=None, chosen=None))
    assert read.grade is Grade.SUPPORTED
    assert "that the run has the eta, E, size" in read.reason


def test_the_defaults_of_every_kind_are_read_from_its_method() -> None:
    clients = clients_of(build_problem(TWO))
    for name in kinds():
        kind = kind_of(name)
        usual, besides = usual_method(kind)
        assert (usual is None) == (name == "composed")  # no method is an instance of it
        steps = {"eta", "eta0", "ell", "T", "rounds_per_cycle"}
        needed = {*besides, *(n for n, default in kind.parameters().items() if default is NEEDED)}
        known = steps | needed | ({"E"} if name == "fedprox" else set())  # an exact solve has no epochs
        assert usual is None or set(chosen(kind, usual, clients)) <= known, name
