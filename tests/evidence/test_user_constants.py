"""Given constants against the run, and decisions that rest on rounded constants or steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import pytest
import sympy as sp

from boundcheck.certified.constant import Constant, Known
from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.evidence.assumptions import check_assumption, covers
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.compare import compare
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.setting.user_constants import is_library, within_rounding
from boundcheck.theory.assumptions import Assumption, convexity, instance, smooth_clients
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, ONE
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Algorithm, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Grade, Outcome, Verdict

THEOREM = "scgd/theorem_3_3/corrected"
# mu = 3/2, L = 2, sigma2 = 1, dist2_0 = 9
PAIR = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [1]}, {"A": [[2]], "b": [-1]}], "start": [3]}
SCGD = {"kind": "scgd", "E": 2, "eta": "1/1000"}


def claimed(constants: dict[str, Any], **more: Any) -> Verdict:
    claim = replace(Claim(THEOREM, PAIR, SCGD, at={"K": [0, 1, 5]}), constants=constants, **more)
    return run_claim(claim).verdict


def test_a_repeated_or_weaker_constant_is_taken() -> None:
    for constants in ({"dist2_0": 9, "n": 2, "E": 2, "eta": "1/1000"}, {"mu": "7/5"}, {"sigma2": 2}):
        found = claimed(constants)
        assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)
    stronger = claimed({"mu": "8/5"})
    assert "strong_quasi_convexity fails" in stronger.reason
    assert stronger.outcome is Outcome.OUT_OF_SCOPE


def test_a_certified_bound_may_be_weakened_and_then_supports() -> None:
    curve = run(build_method(SCGD), build_problem(PAIR), rounds=[2, 10])
    bound = Constant(Fraction(9), Known.CERTIFIED, "upper", "by hand")
    curve = replace(curve, constants={**curve.constants, "start/dist2": bound})
    theorem = statement(THEOREM)
    assert compare(theorem, curve, {"dist2_0": 10}).grade is Grade.SUPPORTED
    with pytest.raises(BadInput, match="where dist2_0 is at most 9"):
        compare(theorem, curve, {"dist2_0": 8})


def test_parameters_come_from_the_method() -> None:
    horizon = run_claim(Claim("scgd/choice_of_e/corrected", PAIR, SCGD, constants={"ell": 1, "T": 9}))
    assert horizon.verdict.outcome is Outcome.OUT_OF_SCOPE  # its step is not ell*log(T)/T
    falling = run_claim(Claim("scgd/theorem_3_4/corrected", PAIR, SCGD, at={"K": [10]}, constants={"eta0": "1/2"}))
    assert falling.verdict.outcome is Outcome.OUT_OF_SCOPE  # its run has no eta0/K


def test_the_start_of_an_example_is_the_one_that_runs() -> None:
    example = Claim("scgd/example_app_c_fedavg/corrected", {"kind": "scgd_appendix_c"}, {**SCGD, "kind": "fedavg"})
    example = replace(example, at={"K": [0, 1]}, arithmetic="rational")
    assert run_claim(replace(example, constants={"x_0": 1})).verdict.outcome is Outcome.HOLDS


def test_an_equality_with_a_rounded_constant_supports_or_is_undecided() -> None:
    example = statement("scgd/example_app_c_fedavg/corrected")
    curve = run(
        build_method({**SCGD, "kind": "fedavg"}),
        build_problem({"kind": "scgd_appendix_c"}),
        rounds=[0, 1, 2],
        arithmetic="rational",
    )
    assert (example.kind, compare(example, curve).grade) == (Kind.EQUALITY, Grade.EXACT)

    def rounded(share: str) -> Verdict:
        x_0 = Constant(1 + Fraction(share), Known.CERTIFIED, "upper", "by hand")
        return compare(example, replace(curve, constants={**curve.constants, "start/x": x_0}))

    assert rounded("1e-12").outcome is Outcome.UNDECIDED
    assert "certification of x_0" in rounded("1e-12").reason
    assert (rounded("1e-6").outcome, rounded("1e-6").grade) == (Outcome.VIOLATED, Grade.SUPPORTED)


def test_a_condition_missed_by_the_rounding_of_a_constant_is_undecided() -> None:
    theorem = statement(THEOREM)
    curve = run(build_method(SCGD), build_problem(PAIR), rounds=[2, 10])
    mu = sp.Symbol("mu", real=True)

    def demanding(least: Fraction) -> Verdict:
        wanted = replace(
            theorem, conditions=(Condition("steep", mu >= sp.Rational(least.numerator, least.denominator)),)
        )
        below = Constant(Fraction(3, 2), Known.CERTIFIED, "lower", "by hand")
        return compare(wanted, replace(curve, constants={**curve.constants, "objective/mu": below}))

    near = demanding(Fraction(3, 2) + Fraction(1, 10**12))
    assert (near.outcome, "certification of mu" in near.reason) == (Outcome.UNDECIDED, True)
    far = demanding(Fraction(2))
    assert (far.outcome, far.grade) == (Outcome.OUT_OF_SCOPE, Grade.SUPPORTED)


@pytest.mark.parametrize("magnitude", [Fraction(1, 1000), Fraction(3), Fraction(5000)])
@pytest.mark.parametrize(("side", "inwards"), [("lower", 1), ("upper", -1)])
def test_rounding_is_as_wide_as_a_certificate_says_at_every_magnitude(
    magnitude: Fraction, side: Literal["lower", "upper"], inwards: int
) -> None:
    bound = Constant(magnitude, Known.CERTIFIED, side, "by hand")
    width = magnitude * 2 / 10**12  # relative 2e-12, of `certified.certify`
    exact = {"n": Constant(Fraction(7), Known.EXACT, "exact", "by hand")}
    corners = list(within_rounding({"mu": bound, **exact}, ["mu", "n", "unknown"]))
    assert corners == [{"mu": magnitude, "n": 7}, {"mu": magnitude + inwards * width, "n": 7}]
    negative = Constant(-magnitude, Known.CERTIFIED, side, "by hand")
    assert list(within_rounding({"mu": negative}, ["mu"]))[1] == {"mu": -magnitude + inwards * width}

    theorem = statement(THEOREM)
    curve = run(build_method(SCGD), build_problem(PAIR), rounds=[2, 10])
    sigma2 = sp.Symbol("sigma2", real=True)
    for share, outcome in (("99/100", Outcome.UNDECIDED), ("101/100", Outcome.OUT_OF_SCOPE)):
        edge = magnitude + inwards * width * Fraction(share)
        at_edge = sp.Rational(edge.numerator, edge.denominator)
        relation = sigma2 >= at_edge if side == "lower" else sigma2 <= at_edge
        wanted = replace(theorem, conditions=(Condition("edge", relation),))
        assert (
            compare(wanted, replace(curve, constants={**curve.constants, "clients/sigma2": bound})).outcome is outcome
        )


def test_a_name_alone_is_no_assumption() -> None:
    bounded = Assumption("convexity", "every point is near", sp.Le(sp.Symbol("dist2", real=True), 1))
    wordy = Assumption("smooth_clients", "something else", None)
    assert [is_library(a) for a in (convexity, smooth_clients, instance("huber"), bounded, wordy)] == [1, 1, 1, 0, 0]
    assert not covers(wordy, {}, {})
    assert check_assumption(bounded, build_problem(PAIR)).outcome is Outcome.VIOLATED
    assert check_assumption(wordy, build_problem(PAIR)).outcome is Outcome.UNDECIDED
    claim = Claim(THEOREM, PAIR, SCGD, at={"K": [1]})
    for assumption, outcome in ((bounded, Outcome.OUT_OF_SCOPE), (wordy, Outcome.HOLDS)):
        found = run_claim(replace(claim, statement=replace(statement(THEOREM), assumptions=(assumption,)))).verdict
        assert found.outcome is outcome
        assert found.details["assumptions"] == {assumption.name: "broken" if assumption is bounded else "granted"}
    assert found.grade is Grade.SUPPORTED


def test_a_rounded_step_supports_only() -> None:
    method = {"kind": "scgd", "E": 1, "ell": 1, "T": 10_000}
    assert not build_method(method).schedule.is_exact()
    found = run_claim(Claim("scgd/choice_of_e/corrected", PAIR, method)).verdict
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "rounded down" in found.details["rounded_steps"]


def test_the_start_alone_decides_nothing() -> None:
    found = claimed({}, at={"K": [0]})
    assert (found.outcome, "compare at later values of K" in found.reason) == (Outcome.UNDECIDED, True)
    one = claimed({}, at={"K": [1]})
    assert "at the one compared point; closest at K = 1, where bound/metric is 1." in one.reason


# --- names of constants -----------------------------------------------------------------------------------

L, D, eta, K = (getattr(common, name).expr for name in ("L", "dist2_0", "eta", "K"))
LINE, GD = {"kind": "quadratics", "clients": [{"A": 2, "b": 0}], "start": [1]}, {"kind": "gradient_descent"}
STEP = Condition("step", sp.Le(eta * L, 1))
PLAIN = Statement(
    source=Source("none", "1", "these tests"),
    reading="as_printed",
    title="a bound",
    symbols=(common.L, common.dist2_0, common.eta, common.K),
    metric=Metric("dist2", LENGTH2, index="K", rounds=K),
    bound=D,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    conditions=(STEP,),
    name="plain",
)

NAMED = replace(
    PLAIN,
    symbols=(common.L.but(key="clients/sigma2", dimension=ONE), common.dist2_0, common.eta, common.K),
)
SPREAD = {"kind": "quadratics", "clients": [{"A": 2, "b": 3}, {"A": 2, "b": -3}], "start": [1]}


def test_a_statement_may_call_a_constant_by_another_name() -> None:
    """Here L stands for what problems call sigma2, which is 9, and not for their L, which is 2."""
    claim = Claim(NAMED, SPREAD, {**GD, "eta": "largest"}, at={"K": [0, 1]})
    found = run_claim(claim)
    assert found.method["eta"] == "1/9"
    assert found.verdict.details["constants"]["L"]["value"] == "9"
    weaker = run_claim(replace(claim, constants={"L": 9}))
    assert weaker.method["eta"] == "1/9"
    with pytest.raises(BadInput, match="L = 8 contradicts the problem, where L is 9"):
        run_claim(replace(claim, constants={"L": 8}))


def test_constants_that_only_the_start_gives() -> None:
    """grad F = 2x = 2 at 1; the clients' gradients there are -1 and 5."""
    keys = {"g0": "start/grad2", "client_grad2_0": "start/client_grad2"}
    ours = [Symbol(n, "at the start", GRADIENT2, low=Fraction(0), key=key) for n, key in keys.items()]
    claimed = replace(
        PLAIN,
        symbols=(*ours, common.eta, common.K),
        bound=ours[0].expr + ours[1].expr,
        conditions=(Condition("step", eta * ours[0].expr < 100),),
    )
    found = run_claim(Claim(claimed, SPREAD, {**GD, "eta": "1/10"}, at={"K": [0, 1]}))
    assert {n: found.verdict.details["constants"][n]["value"] for n in ("g0", "client_grad2_0")} == {
        "g0": "4",
        "client_grad2_0": "13",
    }


def test_the_objective_of_a_surrogate_is_asked_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = replace(
        PLAIN, conditions=(Condition("step", eta * L <= 1),), metric=replace(PLAIN.metric, surrogate=True)
    )
    other = build_problem({**SPREAD, "start": [5]})
    monkeypatch.setattr(Setting, "following", lambda self: Setting(self.method, other))
    found = run_claim(Claim(claimed, LINE, {**GD, "eta": "1/10"}, at={"K": [0, 1]}))
    assert found.verdict.details["constants"]["dist2_0"]["value"] == "25"
