"""Attempts to cite a statement for what it is not about: other rounds, another run or quantity, a later draw."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from boundcheck.proof import about, records
from boundcheck.proof.about import objection
from boundcheck.proof.citations import Cited, Instance, Lemma
from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation, folder
from boundcheck.proof.find.record import record_file
from boundcheck.proof.methods import Imported, cited_in
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import vector
from boundcheck.theory.assumptions import dissimilarity_at_start
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Algorithm, Kind

mu, L, n, sigma2, dist2_0, dist2_1, K, k, t, y, z = sp.symbols("mu L n sigma2 dist2_0 dist2_1 K k t y z", real=True)
T, gap_0, grad2_0, B2, xi, m, K1, eta0, e, r = sp.symbols("T gap_0 grad2_0 B2 xi m K1 eta0 e r", real=True)
dist2, gap, G, run, u, Z, sg1 = (sp.Function(name, real=True) for name in ["dist2", "gap", "G", "run", "u", "Z", "sg1"])
LEMMA, THEOREM = statement("scgd/lemma_3_1/corrected"), statement("scgd/theorem_3_3/corrected")
ID, OTHER = LEMMA.id, replace(LEMMA, id="scgd/lemma_3_1/other")
ITERATION, DANE = "feddane/theorem_6_iteration/as_printed", "feddane/theorem_6/corrected"
T6, RECURSION = statement(DANE), statement("fedshuffle/recursion_convex/corrected")
C_1, C_2, SUM = "fedshuffle/lemma_c_1/corrected", "fedshuffle/lemma_c_2/corrected", "fedshuffle/lemma_b_6/sharp"
START, GAP, TIMES = {dist2_0: dist2_0}, (("gap_0", gap_0),), ((gap(t), t), (G(t), t))
RUN = (("drift_0", xi), ("dist2_0", dist2_0), *GAP)
AVERAGED = {sp.Symbol("drift_0", real=True): xi, **START, gap_0: gap_0}
ANOTHER_L = tuple(s.but(key="other/L") if s.name == "L" else s for s in RECURSION.symbols)
CYCLE, NEXT, PAIR, NORMS = ((dist2(k), n * k),), gap(t + 1), (("dist2_0", dist2_0),), (("norm2_u", L), ("norm2_v", mu))
INDICES = (Fact("k", k >= 0, "index", ""), Fact("t", t >= 0, "index", ""))
FACTS = (*INDICES, Fact("z", sp.Eq(z, dist2(K)), "definition", ""))


def why(citing: Any, by: Any, rounds: Any = (), target: Any = y, facts: Any = FACTS) -> str:
    """The objection to a citation in a derivation of the statement that has no other step."""
    steps = (Step("it", sp.Le(y, 1), (), by, ""),)
    return objection(Derivation(citing, facts, steps, "it", target, rounds=rounds), by)


def of(metric: Any, *starts: Any) -> Lemma:
    """The bound of one cycle for a value at its start, or that of one iteration for two."""
    cited, own = (ID, (dist2_0,)) if len(starts) == 1 else (ITERATION, (gap_0, grad2_0))
    return Lemma(cited, metric, dict(zip(own, starts, strict=True)))


def other(about: Any = OTHER, rounds: Any = (), target: Any = y, metric: Any = (), **own: Any) -> Any:
    """A statement with other fields, those of its metric among them."""
    return replace(about, metric=replace(about.metric, **dict(metric)), **own), rounds, target, INDICES


KN, IT = (THEOREM, CYCLE, dist2(K)), (T6, TIMES, y, (*INDICES, Fact("z", sp.Eq(z, gap(0)), "definition", "")))
LE, RO = (OTHER, (), dist2_1), (RECURSION, ((xi, 0), (y, 0)), dist2_1)
OTHERS: Any = [
    ({}, ""), ({"algorithm": None}, "another method"), ({"assumptions": RECURSION.assumptions[:1]}, "assumes smooth_"),
    ({"algorithm": Algorithm("fedavg_reshuffled", ("E", "eta_l", "eta_g"))}, "another method"),
    ({"metric": {"surrogate": True}}, "about another objective"), ({"symbols": ANOTHER_L}, "L is not declared"),
]  # fmt: skip
HAND: Any = [
    # Theorem 3.3 with the bound of Lemma 3.1: all K cycles would do no more than one
    *((KN, by, "") for by in (of(dist2(k + 1), dist2(k)), of(dist2(4), dist2(3)), of(dist2(1), dist2_0))),
    (KN, of(dist2(K), dist2_0), "is taken K*n rounds after its start, and the bound is for n"),
    (KN, of(z, dist2_0), "is taken K*n rounds after"), (KN, of(dist2(k + 2), dist2(k)), "is taken 2*n rounds"),
    (KN, of(dist2(k), dist2(k)), "taken 0 rounds"), (KN, of(dist2(K), dist2(k)), "K*n - k*n rounds"),
    (KN, of(dist2(k + 1), dist2(k) + dist2(k + 1)), "mixes values"), (KN, of(dist2(1), mu / L), "no value at"),
    (KN, of(dist2(1), total(dist2(k), k, K)), "different numbers"), (KN, of(dist2(1), y), "y is taken is not"),
    (KN, of(dist2(1, 1), dist2_0), "another number of arguments"), (KN, Instance(ID, dist2(1), PAIR), ""),
    (KN, Instance(ID, z, PAIR), "K*n rounds after"), (KN, Instance(ID, dist2(1)), "nothing stands"),
    # a run of its own counts its rounds; dist2(K) counts cycles
    (KN, Cited(ID, run(t), t), ""), (KN, Cited(ID, run(k, t), t), ""), (KN, Cited(ID, run(t, t), t), "nowhere"),
    ((THEOREM, ((run(t), 2 * t),), y), Cited(ID, run(t), t), "is taken 2*t rounds"),
    ((THEOREM, (), dist2(K)), Cited(ID, dist2(K), K), "dist2(0) is taken is"),
    (KN, Cited(ID, dist2(k), k), "rounds after its start"), (KN, Cited(ID, 2 * run(t), t), "a function"),
    # what stands for a start is that value of the run: with the gap for the slope, linear convergence
    (IT, of(NEXT, gap(t), G(t)), ""), (IT, of(NEXT, gap(t) + 3, 2 * G(t)), ""),
    (IT, of(NEXT, gap(t), gap(t)), "gap(t + 1) stands for gap, and gap(t) for grad2"),
    (IT, of(gap(1), gap(0), z), "for grad2"), (IT, of(NEXT, sp.S.Zero, G(t)), "0 is no value"),
    (IT, of(NEXT, gap(t), B2 * G(t)), "no value of a run"), (IT, of(NEXT, t, G(t)), "t is no value"),
    (IT, of(y, gap(t), G(t)), "y is taken is not given"),
    # a constant is its own mean, and a value at the start that of no other
    (LE, of(dist2_1, dist2_0), ""), (LE, of(dist2_1, -dist2_0), "the mean of no other dist2_0"),
    (LE, Lemma(ID, dist2_1, {**START, sigma2: sigma2}), ""), (LE, Lemma(ID, dist2_1), "nothing stands"),
    (LE, Lemma(ID, dist2_1, {**START, sigma2: sigma2 / 2}), "is a constant"),
    (LE, Lemma(ID, y, {dist2_0 * sigma2: y}), "single value"), (LE, Lemma(ID, y, {**START, T: y}), "no symbol T"),
    (LE, Lemma(ID, dist2_1, {**START, sp.S.One: sp.S.Zero}), "no expression"),
    # values of a run stand for themselves, and a general lemma does not bound the metric
    (RO, Instance(C_2, xi, GAP), ""), (RO, Instance(C_1, dist2_1, RUN), ""), (RO, Instance(SUM, y, NORMS), ""),
    (RO, Instance(C_2, xi), "nothing stands for gap_0"), (RO, Instance(C_2, xi - 1, GAP), "is no quantity of its"),
    (RO, Instance(C_2, xi, (("L", y), *GAP)), "stands for itself"), (RO, Instance(C_2, dist2_1, GAP), "taken 1 rounds"),
    (RO, Instance(C_2, xi, (("gap_0", dist2_0),)), "and has no other image"), (RO, Instance(ID, y), "another method"),
    (RO, Instance(C_1, dist2_1, (("drift_0", dist2_1), *RUN[1:])), "is taken after"),
    (RO, Instance(C_1, y, RUN), "y is taken 0 rounds after"), (RO, Instance(SUM, y, NORMS[:1]), "for its norm2_v"),
    (RO, Instance(SUM, dist2_1, NORMS), "for norm2_of_sum"), (RO, Instance(THEOREM.id, y), "upper bound on one"),
    # the metric, the method and what is assumed are the same
    (other(), of(y, dist2_0), ""), (other(metric={"quantity": "gap"}), of(y, dist2_0), "for dist2, and y for gap"),
    (other(metric={"scale": mu}), of(y, dist2_0), "does not bound what"),
    (other(metric={"average": "mean"}), of(y, dist2_0), "y is taken is not given"),
    *((other(*RO, **o), by, w) for by in (Instance(C_2, xi, GAP), Lemma(C_1, dist2_1, AVERAGED)) for o, w in OTHERS),
    (other(*RO, {"expectation": "none: every outcome"}), Instance(C_1, dist2_1, RUN), "bounds an expectation, and"),
    (RO, Instance(RECURSION.id, y), "is cited in its own proof"), (RO, Lemma(RECURSION.id, y), "in its own proof"),
]  # fmt: skip


@pytest.mark.parametrize(("citing", "by", "expected"), HAND)
def test_what_a_citation_is_about(citing: Any, by: Any, expected: str) -> None:
    found = why(citing[0], by, *citing[1:])
    assert expected in found if expected else found == ""


@pytest.mark.parametrize("changes", [
    {}, {"scale": mu}, {"average": "mean"}, {"surrogate": True}, {"kind": Kind.EQUALITY}, {"kind": Kind.LIMIT},
    {"kind": Kind.LIMSUP}, {"kind": Kind.FORMULA}, {"algorithm": None},
])  # fmt: skip
def test_what_may_be_cited(changes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemma 3.1 as another kind of claim; one that is scaled may be cited as it stands."""
    own = changes if {"kind", "algorithm"} & set(changes) else {"metric": replace(LEMMA.metric, **changes)}
    taken = (Step("it", sp.Le(y, 1), (), Imported("taken"), ""),)
    monkeypatch.setattr(about, "derivation", lambda _: Derivation(replace(LEMMA, **own), (), taken, "it", y))
    rules = (of(y, dist2_0), Cited(ID, run(t), t), Instance(ID, y, PAIR))
    assert [why(OTHER, by) == "" for by in rules] == [not changes, not changes, set(changes) <= {"scale"}]


def test_an_assumption_on_the_start_is_not_one_on_later_points(monkeypatch: pytest.MonkeyPatch) -> None:
    cited, citing = derivation(ITERATION), replace(T6, assumptions=(*T6.assumptions, dissimilarity_at_start))
    more = replace(cited.statement, assumptions=(*cited.statement.assumptions, dissimilarity_at_start))
    monkeypatch.setattr(about, "derivation", lambda _: replace(cited, statement=more))
    assert "dissimilarity_at_start, which a later start need not meet" in why(citing, of(NEXT, gap(t), G(t)), TIMES)
    assert why(citing, of(gap(1), gap(0), G(0)), TIMES) == ""


def image(name: str, value: Any, of: str = "vectors") -> Callable[[Any], Any]:
    return lambda by: replace(by, **{of: tuple((*p[:-1], value if p[0] == name else p[-1]) for p in getattr(by, of))})


T_1, D_5, LATE = "async_fl/theorem_1/sharp", "fedshuffle/lemma_d_5/corrected", "not known before what"
EVERY, A72, A82, D1 = ("scgd/theorem_3_4/corrected", "cycle"), (T_1, "(72)"), (T_1, "(82)"), (D_5, "D.1")
AS, STEP = ("fedshuffle/movement_of_a_round/corrected", "conclusion"), eta0 / (K1 + m)
MEAN, FLAT = (f"fedshuffle/theorem_{q}_convex/corrected" for q in ("e_1", "5_1"))
IN_A_ROUND, ITS, ALL, ONE = "the values of one round", statement(AS[0]), statement(T_1), statement(MEAN).metric
WITHOUT = tuple(a for a in ALL.assumptions if a.name != "convex_samples")
SHIPPED: Any = [
    # a step size that changes, and a constant at which an assumption follows
    (EVERY, {}, {}, ""), (EVERY, {"at": {"eta": STEP / 2}}, {}, "eta is eta0/(K1 + m) there"),
    (EVERY, {"metric": u(K1 + m + 2), "means": {dist2_0: u(K1 + m + 1)}}, {}, "there, and not eta0/(K1 + m)"),
    (EVERY, {}, {"rounds": ((u(k), n * (k - 1) + 1),)}, "constant over n rounds"), ((FLAT, "decrease"), {}, {}, ""),
    (EVERY, {"at": {"eta": STEP, "dist2_0": y}}, {}, "is no constant"),
    ((FLAT, "decrease"), {"at": {"mu": sp.Rational(1, 2)}}, {}, "assumes"),
    # a special case
    (AS, {}, {}, ""), (AS, {}, {"assumptions": ITS.assumptions[:1]}, "assumes"),
    (AS, {}, {"metric": replace(ITS.metric, surrogate=True)}, "about the surrogate"),
    (AS, {}, {"algorithm": None}, "no statement about a method"),
    (AS, {"pairs": (("grad2_0", y),)}, {}, "nothing stands for drift_0"),
    (AS, {"statement": "fedshuffle/lemma_c_1/raw"}, {}, "a special case"),
    # vectors: known too late, or of two rounds
    *(((D_5, name), {}, {}, "") for name in ("D.1", "D.2", "D.3", "D.4")),
    (D1, image("m", vector("g", r, e)), {}, LATE), (D1, image("d", vector("d", r, e + 1)), {}, LATE),
    ((D_5, "D.4"), image("m", vector("m", r + 1)), {}, LATE), (D1, {"numbers": ()}, {}, "sigma2_i is not declared"),
    ((D_5, "D.2"), image("m", vector("m", r + 1)), {}, "mixes values"),
    # every method: the values of one round, or one average
    (A72, {}, {}, ""), (A82, {}, {}, ""), (A72, image("Z", Z(n + 1), "pairs"), {}, IN_A_ROUND),
    (A72, image("Z", sg1(n), "pairs"), {}, "stands for"), (A72, image("Z", L, "pairs"), {}, "L is no quantity"),
    (A72, {"metric": xi}, {}, IN_A_ROUND), (A72, {"pairs": ()}, {}, "is not declared here"),
    (A72, {}, {"assumptions": WITHOUT}, "convex_samples besides"), ((MEAN, "sharp"), {}, {}, ""),
    (A82, {}, {"metric": replace(ALL.metric, weights=sp.Integer(2))}, "another average"),
    ((MEAN, "sharp"), {}, {"metric": replace(ONE, with_last=not ONE.with_last)}, "upper bound on one value"),
    ((MEAN, "sharp"), {"metric": y}, {}, "upper bound on one value"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "change", "own", "expected"), SHIPPED)
def test_shipped_citations_and_others(where: Any, change: Any, own: Any, expected: str) -> None:
    proof, name = derivation(where[0]), where[1]
    by: Any = next(cited_in(s.by) for s in proof.steps if s.name == name)
    by = change(by) if callable(change) else replace(by, **change)
    steps = tuple(replace(s, by=by) if s.name == name else s for s in proof.steps)
    about, rounds = {k: v for k, v in own.items() if k != "rounds"}, own.get("rounds", proof.rounds)
    found = objection(replace(proof, statement=replace(proof.statement, **about), steps=steps, rounds=rounds), by)
    assert expected in found if expected else found == ""


ALTERED = [  # a further line for other terms, which the verifier alone accepts
    (DANE, {"gap(t + 1)": "gap(t + 2)", "gap(1 + t)": "gap(2 + t)"}), (THEOREM.id, {"run(k, n)": "dist2(k + 1)"}),
    (DANE, {"gap(t)": "gap(T)", "gap >= 0": "bounded"}), (THEOREM.id, {}),
    (THEOREM.id, {"run(k, 0)": "dist2_0", "run is a distance": "domain dist2_0"}),
    (THEOREM.id, {'"rule": "cite"': '"rule": "cite", "special": "it is the same method"'}),
]  # fmt: skip


def copied(id: str, place: Path, terms: Any = ()) -> None:
    """The records of a reading, with one more line for these terms, and of what it cites in another folder."""
    data = json.loads(record_file(folder(), id).read_bytes())
    at = next(k for k, line in enumerate(data["lines"]) if line["by"]["rule"] == "cite")
    text, cited = json.dumps({**data["lines"][at], "name": "extra"}), data["lines"][at]["by"]["record"]
    for old, new in dict(terms).items():
        text = text.replace(old, new)
    data["lines"].insert(at, json.loads(text))
    for other, found in ((id, data), (cited, json.loads(record_file(folder(), cited).read_bytes()))):
        record_file(place, other).parent.mkdir(parents=True, exist_ok=True)
        record_file(place, other).write_text(json.dumps(found))


@pytest.mark.parametrize(("id", "terms"), ALTERED)
def test_a_line_that_no_step_cites_so(id: str, terms: Any, tmp_path: Path) -> None:
    copied(id, tmp_path, terms)
    assert records.verified([record_file(tmp_path, id)])[0]["verdict"] == "valid"
    why_not = f"invalid at step 'extra' of {id}: no step of the derivation cites it so"
    assert records.compared([id], tmp_path)[id]["verdict"] == (why_not if terms else "valid")


def test_a_derivation_with_other_rounds_is_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same facts and steps, so that the verifier reads the same record."""
    copied(DANE, tmp_path)
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    for cached in ("stamp", "_entries"):
        monkeypatch.setattr(records, cached, getattr(records, cached).__wrapped__)
    records.accept([DANE, ITERATION])
    assert getattr(records.record(DANE), "status", "") == "PROVED"
    proof = derivation(DANE)
    twice = replace(proof, rounds=tuple((term, 2 * rounds) for term, rounds in proof.rounds))
    monkeypatch.setattr(records, "derivation", lambda id: twice if id == DANE else derivation(id))
    assert getattr(records.record(DANE), "reason", "") == "the record is not about it as it is today"
    assert "gap(t + 1) is taken 2 rounds after its start" in records.compared([DANE])[DANE]["verdict"]
