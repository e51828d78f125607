"""Steps of derivations in which one constant is changed, or one fact is not used: no certificate is found any more.

That one is found for the steps as they are is what the shipped records show. The finder may take signs from facts that
a step does not use, so that only such facts are here without which it finds nothing. A search that finds nothing takes
its whole time, so that most rows are slow tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from changes import follows, shown, smaller, step, with_fact, with_step, without

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation
from boundcheck.proof.vectors import VectorEquality, norm2, vector

# derivation -> steps whose larger side is a hundredth smaller
SMALLER = {
    "classics/gradient_descent_nonconvex/sharp": "conclusion",
    "classics/gradient_descent_nonconvex/as_printed": "conclusion",
    "classics/sgd_nonconvex/sharp": "conclusion",
    "classics/sgd_nonconvex/as_printed": "conclusion",
    "classics/sgd_convex/sharp": "conclusion",
    "classics/sgd_convex/as_printed": "conclusion",
    "classics/gradient_descent_convex/sharp": "conclusion | at the end",
    "classics/gradient_descent_strongly_convex/sharp": "contraction",
    "classics/local_gd_convex/sharp": "recursion",
    "async_fl/lemma_2/corrected": "(59) | client | conclusion",
    "async_fl/lemma_3/corrected": "display",
    "async_fl/lemma_5/corrected": "gaps | A, all | N | slope | display",
    "async_fl/lemma_6/corrected": "(83) | (84) | window",
    "async_fl/lemma_7/as_printed": "present, eps | slope | others",
    "async_fl/theorem_1/sharp": "(87)",
    "async_fl/equation_105/corrected": "round | conclusion",
    "async_fl/theorem_2/corrected": "round",
    "async_fl/corollary_1/corrected": "round",
    "async_fl/theorem_3/corrected": "work | client, up | client, down | pair",
    "feddane/theorem_5/as_printed": "(16) | length.1 | error.1 | change | convex | g.2 | (18) | (10)",
    "feddane/theorem_5/sharp": "g.2",
    "feddane/theorem_3/as_printed": "(16)",
    "feddane/one_device/corrected": "length of v | change.1",
    "feddane/theorem_6/corrected": "conclusion",
    "partial_averaging/lemma_2/sharp": "(38) | (48) | (51) | (54) | stretch | (50), (64) | conclusion",
    "partial_averaging/lemma_3/corrected": "(112)",
    "partial_averaging/theorem_1/global": "(21)",
    "partial_averaging/theorem_2/weighted": "(26) | (30) | at most 2 | at most 3 | conclusion",
    "partial_averaging/one_minus_a/corrected": "conclusion | half",
    "fedshuffle/drift_of_a_visit/corrected": "3 | 4.1 | 4.8 | 7 | conclusion",
    "fedshuffle/gradient_of_a_visit/corrected": "conclusion",
    "fedshuffle/progress_of_a_visit/corrected": "conclusion",
    "fedshuffle/movement_of_a_round_gen/corrected": "2.2 | 4.2 | conclusion",
    "fedshuffle/lemma_e_4/sharp": "sharp",
    "fedshuffle/recursion_convex_gen/sharp": "cohort",
    "fedshuffle/recursion_nonconvex_gen/sharp": "1.3",
    "fedshuffle/theorem_5_2/corrected": "deviation",
    "fedshuffle/lemma_c_1/corrected": "step 2",
    "fedshuffle/lemma_c_2/corrected": "step 1 | display",
    "fedshuffle/lemma_c_2/sharp": "drift",
    "fedshuffle/lemma_c_2_nonconvex/corrected": "conclusion",
    "fedshuffle/lemma_b_6/as_printed": "conclusion",
    "fedshuffle/lemma_b_6/sharp": "conclusion",
    "fedshuffle/lemma_b_6_sum/as_printed": "1",
    "fedshuffle/lemma_b_3/as_printed": "1 | 2.1",
    "fedshuffle/lemma_b_3/fixed_step": "conclusion",
    "fedshuffle/lemma_b_2/fixed_step": "conclusion",
    "scgd/fedavg_full_participation/corrected": "gradient of F | E3.1 | E3 | E5.5 | E5 | E8 | E11 noise | noise",
    "scgd/lemma_3_1/conservative": "E8 | E11.2 | E11 noise",
    "scgd/theorem_3_3/corrected": "noise",
}
# derivation -> step: what the larger side is less
LESS = {
    "classics/sgd_nonconvex/sharp": {"decrease": "eta**2*sigma2*sum_p2/100"},
    "classics/sgd_convex/sharp": {"decrease": "eta**2*sigma2*sum_p2/100"},
    "feddane/theorem_5/as_printed": {
        "conclusion": "L*grad2_0/(mu*m)/100; gamma*grad2_0/m/100; L*B2*grad2_0/m**2/100; grad2_0/mu/100",
        "pathwise": "L*grad2_0/(mu*m)/100",
    },
    "feddane/theorem_5/sharp": {"conclusion": "L*grad2_0/(mu*m)/100"},
    "feddane/theorem_7/corrected": {"conclusion": "inv_mu*grad2_0/100", "device": "L_f*grad2_0/100"},
    "feddane/theorem_6/corrected": {"decrease": "grad2_0"},
    "feddane/theorem_6/as_printed": {"conclusion": "gap_0/T/100"},
    "partial_averaging/lemma_1/corrected": {
        "decrease": "eta**2*sum_p2*sum_L_sigma2/100", "conclusion": "eta**2*sum_p2*sum_L_sigma2/100",
    },
    "fedshuffle/lemma_c_1/raw": {"display": "L*et*drift_0/100; et*gap_0/100"},
    "fedshuffle/recursion_convex/sharp": {"conclusion": "L*et*eta_l**2*H/100"},
    "fedshuffle/recursion_convex/corrected": {"conclusion": "L*eta_l*gap_0/1000"},
    "fedshuffle/recursion_nonconvex/sharp": {"conclusion": "L**2*et*eta_l**2*H/100; et*grad2_0/100"},
    "fedshuffle/lemma_b_1/as_printed": {"2": "L*norm2_yz/100"},
    "fedshuffle/lemma_b_1/sharp": {"conclusion": "L*norm2_zx/100"},
    "fedshuffle/lemma_d_1/corrected": {
        "variance": "sigma2_i/25", "variance.4": "sigma2_i*D_i/25", "mean and deviation": "k**2*d2/100",
        "distances": "eta_l**2*sigma2_i/50",
    },
    "fedshuffle/lemma_d_2/sharp": {"conclusion": "3*(1 - a)**2*h2/100"},
    "fedshuffle/lemma_d_3/sharp": {
        "errors": "3*E*(1 - a)**2*h2/100", "factor 9/4": "9/400*E*(E - 1)*eta_l**2*A",
        "conclusion": "144/3700*E*(E - 1)*eta_l**2*S",
    },
    "fedshuffle/lemma_d_3/as_printed": {
        "errors": "3*E*h2/100", "drift": "E*(E - 1)/200*eta_l**2*Q", "D.1": "eta_l**2*L**2*sigma2_i/D_i/50",
    },
    "fedshuffle/lemma_d_4/corrected": {
        "momentum error": "delta**2*X/50", "length.2": "27/800*eta_l**2*E*A", "length.3": "2781/80000*eta_l**2*E*S",
        "D.3": "4/25*E**2*eta_l**2*S", "conclusion": "a*h2/10000",
    },
    "fedshuffle/lemma_d_5/corrected": {
        "D.4": "4/25*eta_l**4*E**2*delta**2*L**2*sigma2", "client deviation": "G2/100",
    },
    "scgd/lemma_3_1/conservative": {
        "E3": "eta/mu*T2/50", "E4": "L**2*s**2*dist2_0/100", "E5": "L**2*P**2/200*S", "E7": "eta**2*P*sigma2/50",
        "E9": "L**4*s**3/mu*dist2_0/25", "E10": "s**2", "E11.1": "L**2*s**2/50",
    },
    "scgd/fedavg_full_participation/corrected": {"E7": "E*N*sigma2/100", "E11'": "mu*s/6", "base case": "dist2_0/2"},
    "scgd/theorem_3_3/corrected": {"base case": "dist2_0/2"},
}  # fmt: skip
# derivation -> step: what it does not use
UNUSED = {
    "classics/gradient_descent_nonconvex/sharp": {
        "factor > 0": "condition step size", "decrease": "smooth; step",
    },
    "classics/gradient_descent_nonconvex/as_printed": {"factor": "condition step size"},
    "classics/gradient_descent_convex/sharp": {"step case": "condition step size; back; on; minimum; step"},
    "classics/sgd_nonconvex/sharp": {"decrease": "unbiased; unbiased, above; noise"},
    "classics/sgd_convex/sharp": {"decrease": "convex; gradient; unbiased"},
    "classics/sgd_convex/as_printed": {"factor": "condition step size"},
    "async_fl/lemma_1/corrected": {"1.1": "covariance; Z(j+1)", "2.3": "1; o(i+1)", "conclusion": "3.2"},
    "async_fl/lemma_2/corrected": {"client": "p >= 0"},
    "async_fl/equation_97_constraints/corrected": {
        "contraction": "condition beta; condition alpha; (97), 1", "movement": "condition beta",
    },
    "async_fl/equation_98_constraints/corrected": {
        "contraction": "condition beta; room", "conclusion": "delays, alone",
    },
    "async_fl/equation_96/corrected": {"(95)": "stationary; convex", "round": "normalised"},
    "feddane/theorem_5/as_printed": {
        "m > 0": "condition proximal weight", "(16)": "curvature; optimality", "length.1": "error",
        "error": "inexact", "change": "smooth", "device": "optimality", "pathwise": "descent; mean of S'_t; convex",
        "g.2": "dissimilar; shares", "(18)": "E g", "conclusion": "E g",
    },
    "feddane/theorem_5/sharp": {"g.2": "variance; E g, above"},
    "feddane/theorem_3/as_printed": {"(16)": "curvature"},
    "feddane/theorem_6/corrected": {
        "conclusion": "bounded; condition positive decrease", "decrease": "condition proximal weight",
    },
    "feddane/theorem_7/corrected": {"device": "E g; E|g|^2", "pathwise": "descent"},
    "feddane/one_device/corrected": {"conclusion": "condition unbiased", "length of v": "convex"},
    "partial_averaging/step_condition/factored": {"conclusion": "largest"},
    "partial_averaging/one_minus_a/corrected": {"half": "condition A small", "before rounding": "inverse"},
    "partial_averaging/lemma_1/corrected": {
        "(30)": "square; smooth", "step": "weights", "decrease": "condition step size; unbiased; step",
    },
    "partial_averaging/remark_2_speedup/as_printed": {"conclusion": "threshold"},
    "partial_averaging/lemma_2/as_printed": {"(35)": "agreement", "(54)": "whole"},
    "partial_averaging/theorem_1/global": {"(21)": "IID"},
    "partial_averaging/theorem_1/corrected": {"conclusion": "condition step size"},
    "partial_averaging/theorem_2/corrected": {
        "decrease": "condition step size", "A": "condition step size and interval",
    },
    "fedshuffle/drift_of_a_visit/corrected": {"T step": "divisor", "4.8": "noise; share"},
    "fedshuffle/gradient_of_a_visit/corrected": {"conclusion": "whole epochs"},
    "fedshuffle/progress_of_a_visit/corrected": {"1": "convex", "conclusion": "every sample"},
    "fedshuffle/movement_of_a_round_gen/corrected": {"2.2": "2.1", "4": "participation"},
    "fedshuffle/lemma_e_3/raw": {"2": "1", "display": "A3.3"},
    "fedshuffle/lemma_e_3/corrected": {"step 2": "condition B at least 1"},
    "fedshuffle/recursion_convex_gen/sharp": {"own": "condition B at least 1"},
    "fedshuffle/recursion_nonconvex_gen/sharp": {"3": "descent"},
    "fedshuffle/theorem_e_1_strongly_convex/corrected": {"terms": "left"},
    "fedshuffle/lemma_c_1/corrected": {"step 2": "condition B at least 1"},
    "fedshuffle/lemma_c_2/corrected": {"share": "step 2", "display": "A3.3"},
    "fedshuffle/lemma_b_1/sharp": {"conclusion": "2"},
    "fedshuffle/lemma_b_4/uniform": {"conclusion": "squares"},
    "fedshuffle/lemma_b_5/corrected": {"conclusion": "variance"},
    "fedshuffle/lemma_b_5/as_printed": {"conclusion": "spread"},
    "fedshuffle/lemma_b_6_sum/sharp": {"conclusion": "deviations"},
    "fedshuffle/lemma_b_2/fixed_step": {"conclusion": "power"},
    "fedshuffle/lemma_b_3/fixed_step": {"conclusion": "last"},
    "scgd/fedavg_full_participation/corrected": {
        "E1.2": "common start", "E1": "average; mean gradient", "E3": "E3.3", "E4": "minimum",
        "E5.2": "common start", "E8": "requirement 2", "round": "E11'", "recursion": "distance",
        "step case": "recursion",
    },
    "scgd/lemma_3_1/conservative": {
        "E2": "requirement 1", "E4": "minimum at x", "E5": "E5.5", "E8": "requirement 2", "E11.2": "requirement 2",
        "requirement 3": "s <= C", "gradient of F": "cycle",
    },
    "scgd/lemma_3_2/corrected": {"C >= 0": "power > 0", "step": "power"},
    "scgd/theorem_3_3/corrected": {
        "step case": "recursion; floor; c >= 0; c < 1", "recursion": "next cycle; run starts; lemma",
        "base case": "dist2_0", "lemma": "run is a distance",
    },
}  # fmt: skip


QUICK = ("classics/sgd", "classics/gradient_descent_convex", "async_fl/theorem_1", "feddane/theorem_3",
         "feddane/theorem_5/sharp", "fedshuffle/lemma_b_1", "fedshuffle/movement")  # fmt: skip


def row(id: str, *more: Any) -> Any:
    """A row of a test; slow but for some derivations."""
    name = " ".join(x for x in (id, *more) if isinstance(x, str) and x)
    return pytest.param(id, *more, marks=() if id.startswith(QUICK) else pytest.mark.slow, id=name)


def rows(table: dict[str, Any]) -> list[Any]:
    """(id, step, what) of a table."""
    return [row(id, name, more) for id, own in table.items() for name in _steps(own) for more in _more(own, name)]


def _steps(own: Any) -> list[str]:
    return own.split(" | ") if isinstance(own, str) else list(own)


def _more(own: Any, name: str) -> list[str]:
    return own[name].split("; ") if isinstance(own, dict) else [""]


@pytest.mark.parametrize(("id", "name", "less"), [*rows(SMALLER), *rows(LESS)])
def test_a_changed_constant_is_noticed(id: str, name: str, less: str) -> None:
    assert not shown(smaller(derivation(id), name, less or sp.Rational(99, 100)), name)


@pytest.mark.parametrize(("id", "name", "unused"), rows(UNUSED))
def test_a_step_needs_what_it_uses(id: str, name: str, unused: str) -> None:
    assert not shown(without(derivation(id), name, unused), name)


def S(names: str) -> Any:
    return sp.symbols(names, real=True)


def claims(name: str, change: Callable[[Any], Any]) -> Callable[[Derivation], Derivation]:
    return lambda proof: with_step(proof, name, claim=change(step(proof, name).claim))


def larger_left(claim: Any) -> Any:
    return sp.Le(claim.lhs * sp.Rational(101, 100), claim.rhs, evaluate=False)


def minus(name: str, term: Any) -> Callable[[Derivation], Derivation]:
    return claims(name, lambda x: x.func(x.lhs, x.rhs - term, evaluate=False))


def times_multiplier(name: str, factor: Any, moved: int = 0) -> Callable[[Derivation], Derivation]:
    """The potential's multiplier of an inequality changed; moved: at another step of the method."""

    def change(proof: Derivation) -> Derivation:
        by: Any = step(proof, "step case").by
        hints = dict(by.by.multipliers)
        hints[name] = sp.sympify(hints[name]).subs(S("r"), S("r") + moved) * factor
        return with_step(proof, "step case", by=replace(by, by=replace(by.by, multipliers=hints)))

    return change


def cites(change: Callable[[Any], Any], name: str = "(72)", fits: bool = False) -> Callable[[Derivation], Derivation]:
    """The citation of a step changed; fits: with the claim that the changed one gives."""

    def changed(proof: Derivation) -> Derivation:
        by = change(step(proof, name).by)
        return with_step(proof, name, by=by, claim=by.instance({}) if fits else step(proof, name).claim)

    return changed


def drawn_twice(law: int, which: int) -> Callable[[Derivation], Derivation]:
    """A draw has twice its mean."""

    def changed(proof: Derivation) -> Derivation:
        own = proof.laws[law]
        drawn = tuple((x, mean * 2) if k == which else (x, mean) for k, (x, mean) in enumerate(own.drawn))
        return replace(proof, laws=tuple(replace(o, drawn=drawn) if o is own else o for o in proof.laws))

    return changed


def other_round(by: Any) -> Any:
    return replace(by, pairs=tuple((k, x.subs(S("n"), S("n") + 1) if k == "Z" else x) for k, x in by.pairs))


t, Lmax, tau, s, c, k, n = S("t Lmax tau s c k n")
STEP, LEMMA = "partial_averaging/step_condition/factored", "scgd/theorem_3_3/corrected"
FULL = "scgd/fedavg_full_participation/corrected"
U = norm2(vector("u", S("r")))
THEOREM_1, DEVICE = "async_fl/theorem_1/sharp", "feddane/one_device/corrected"
OTHER: list[tuple[str, str, Callable[[Derivation], Derivation]]] = [
    *((f"classics/{x}/as_printed", "factor", claims("factor", larger_left)) for x in
      ("gradient_descent_nonconvex", "sgd_nonconvex", "sgd_convex")),
    *(("classics/gradient_descent_convex/sharp", "step case", times_multiplier(*x)) for x in
      (("back", sp.Rational(101, 100)), ("on", sp.Rational(99, 100)), ("minimum", sp.Rational(1, 2)),
       ("hypothesis", sp.Rational(101, 100)), ("back", 1, -1), ("on", 1, 1))),
    # 9/10 of the limit is not necessary, 11/10 of it is not enough
    (STEP, "necessary",
     claims("necessary", lambda x: sp.Implies(x.args[0], sp.Le(t * Lmax * tau, sp.Rational(9, 10))))),
    (STEP, "sufficient",
     claims("sufficient", lambda x: sp.Implies(sp.Le(t * Lmax * tau, sp.Rational(11, 10)), x.args[1]))),
    ("partial_averaging/remark_2_speedup/as_printed", "enough",
     claims("enough", lambda x: sp.Implies(t > S("m") ** 3 / 2, x.args[1]))),
    ("partial_averaging/lemma_1/corrected", "(22)",
     claims("(22)", lambda x: sp.Ge(x.lhs, x.rhs + sp.Function("apart", real=True)(S("r")) / 100, evaluate=False))),
    # the noise of the printed reading has another law, which says nothing of its mean
    ("partial_averaging/lemma_2/as_printed", "(38)",
     claims("(38)", lambda _: step(derivation("partial_averaging/lemma_2/sharp"), "(38)").claim)),
    ("async_fl/lemma_1/corrected", "conclusion",
     claims("conclusion", lambda x: sp.Eq(x.lhs, x.rhs + S("alpha") * S("together"), evaluate=False))),
    ("async_fl/lemma_1/corrected", "1.1",
     lambda p: with_fact(p, "covariance", lambda x: sp.Eq(x.lhs, x.rhs / S("alpha"), evaluate=False))),
    *(("async_fl/equation_97_constraints/corrected", x, lambda p, x=x, f=f: smaller(p, x, f)) for x, f in
      (("(97), 1", sp.Rational(9, 10)), ("contraction", sp.Rational(9, 10)), ("drift", sp.Rational(1, 8)))),
    *(("async_fl/equation_98_constraints/corrected", x, lambda p, x=x: smaller(p, x, sp.Rational(9, 10))) for x in
      ("cap, 1", "cap, 2")),
    ("async_fl/equation_96/corrected", "conclusion",
     claims("conclusion", lambda x: sp.Le(x.lhs, x.rhs * S("q_min"), evaluate=False))),
    # a lemma is about one round and its own quantities, under its own assumptions
    (THEOREM_1, "(72)", cites(other_round, fits=True)),
    (THEOREM_1, "(72)", cites(lambda by: replace(by, pairs=by.pairs[1:]))),
    (THEOREM_1, "(72)", cites(lambda by: replace(by, metric=S("moved")))),
    # with +lam in place of -lam the subproblem would be (mu + lam)-strongly convex
    ("feddane/theorem_5/as_printed", "(16)",
     lambda p: with_fact(p, "curvature", lambda x: x.subs(S("lam"), 2 * S("lam")))),
    # Theorem 7 as printed descends with L_k, which gives the bound of one device only where L_f <= L_k
    (DEVICE, "conclusion",
     claims("conclusion", lambda x: sp.Le(x.lhs, x.rhs.subs(S("L_f"), S("lip")), evaluate=False))),
    ("fedshuffle/lemma_e_3/raw", "5", drawn_twice(1, 0)),
    ("fedshuffle/movement_of_a_round_gen/corrected", "2.2", drawn_twice(0, 1)),
    # without replacement: with it, the variance would have no factor (n - k)/(n - 1)
    ("fedshuffle/lemma_b_5/as_printed", "conclusion",
     claims("conclusion", lambda x: sp.Eq(x.lhs, x.rhs * (n - 1) / (n - k), evaluate=False))),
    ("scgd/lemma_3_1/conservative", "requirement 2",
     claims("requirement 2", lambda x: x.func(x.lhs, x.rhs * 2, evaluate=False))),
    *(("scgd/lemma_3_1/conservative", name, claims(name, lambda x: x.func(
        x.lhs + S("L") ** 4 * s**3 / (1000 * S("mu")), x.rhs, evaluate=False))) for name in ("E12.1", "requirement 3")),
    # the bracket of E9 is small enough up to 1.41 to 1.57 times C (by mu/L), not up to twice C
    ("scgd/lemma_3_1/corrected", "E11'",
     claims("s <= C", lambda x: sp.And(*(sp.Le(s, 2 * part) for part in x.rhs.args)))),
    (LEMMA, "lemma", minus("lemma", S("mu") * s / 6 * sp.Function("run", real=True)(k, 0))),
    (FULL, "E4", minus("E4", S("L") ** 2 * s**2 * U / 100)),
    (FULL, "E9", minus("E9", S("L") ** 4 * s**3 / S("mu") * U / 100)),
    (FULL, "round", minus("round", S("mu") * s / 6 * U)),
    (LEMMA, "recursion", lambda p: with_fact(p, "c", lambda x: sp.Eq(c, 1 - S("mu") * s / 2))),
    (LEMMA, "induction", claims("base case", lambda x: sp.Le(x.lhs, x.rhs + S("floor"), evaluate=False))),
    (LEMMA, "lemma", claims("lemma", lambda x: sp.Le(x.lhs.subs(n, 2 * n), x.rhs, evaluate=False))),
    *((f"scgd/theorem_3_3/{own}", "lemma",
       cites(lambda by, r=r: replace(by, statement=f"scgd/lemma_3_1/{r}"), "lemma")) for own, r in
      (("as_printed_main", "corrected"), ("corrected", "conservative"), ("corrected", "as_printed_main"))),
    (FULL, "E1", lambda p: with_fact(p, "average", lambda x: VectorEquality(
        x.left, (x.right + vector("u", S("r"))) / 2))),  # a server that moves half the way is another method
]  # fmt: skip


@pytest.mark.parametrize(("id", "name", "change"), [row(*own) for own in OTHER])
def test_another_step_fact_law_or_citation_shows_nothing(
    id: str, name: str, change: Callable[[Derivation], Derivation]
) -> None:
    assert not shown(change(derivation(id)), name)


@pytest.mark.parametrize(
    ("id", "less"),
    [
        ("scgd/lemma_3_1/corrected", "sigma2/1000"),
        ("scgd/theorem_3_3/corrected", "L**2*n**2*E**2*eta**2/mu**2*sigma2/100"),
        ("scgd/theorem_3_3/corrected", "-L**2*n**2*E**2*eta**2/mu**2*sigma2/100"),  # a weaker one is another one too
        ("scgd/fedavg_full_participation/corrected", "L**2*E**2*eta**2/mu**2*sigma2"),
        ("feddane/theorem_5/as_printed", "grad2_0/mu"),
        ("fedshuffle/lemma_d_5/corrected", "a*G2"),
        ("fedshuffle/section_5_middle_term/corrected", "1"),
    ],
)
def test_another_bound_is_not_what_is_proved(id: str, less: str) -> None:
    proof = derivation(id)
    bound = proof.statement.bound
    names = {str(x): x for x in bound.free_symbols}
    other = replace(proof.statement, bound=bound - sp.parse_expr(less, local_dict=names))
    assert follows(proof)
    assert not follows(replace(proof, statement=other))
