"""Attempts to take from another record what it does not say: other rounds, other quantities, another run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hand_records import Bench, agrees, record, said, shipped

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.proof.discovery import folder
from boundcheck.proof.find.record import record_file
from boundcheck.verify import boundcheck_verify as v

Row = dict[str, Any]
LEMMA, THEOREM = "scgd/lemma_3_1/corrected", "scgd/theorem_3_3/corrected"
RATE, NOISE = "(1 - E*eta*mu*n/3)", "4*E**3*L**2*eta**3*n**3*sigma2/mu"
RUNS: Row = {"names": {"run": "function", "dist2": "function"}, "about": THEOREM}
ONE: Row = {"about": LEMMA}  # another reading of the lemma itself


def cites(claim: str, metric: str, images: Row, about: Row = RUNS, facts: Any = (), **by: Any) -> tuple[str, list[str]]:
    """What the verifier says of a citation all of whose hypotheses are granted, and what this rests on."""
    bench = Bench("[k] index: k >= 0", *facts, **about)
    one = bench.record
    by = {"rule": "cite", "record": LEMMA, "metric": metric, "images": images, "signs": ["domain mu"], **by}
    cited = v.Record(record_file(folder(), by["record"]))
    place = one.place_of(cited, by) | one.single_means(cited, by)
    names: list[str] = []
    for name, text in cited.statement["hypotheses"]:
        wanted = cited.language.claim(text).put(place, one.whole)
        granted = f"{v.written(wanted.gap)} {wanted.op} 0"
        if not bench.says(granted, {"rule": "assumed", "source": "granted"}, name=f"granted {name}"):
            names.append(f"granted {name}")
    found = bench.says(claim, {"hypotheses": names, **by})
    return found, one.rests


def bound(metric: str, start: str, noise: str = NOISE) -> str:
    return f"{metric} <= ({start})*{RATE} + {noise}"


def of_means(start: str, noise: str = "") -> Row:
    """The start of the lemma averaged, and its noise, if any is given."""
    rows = [[RATE, "dist2_0", start], *([[NOISE.replace("*sigma2", ""), "sigma2", noise]] if noise else [])]
    return {"averaged": ["dist2_0", "sigma2"][: len(rows)], "rest": "0" if noise else NOISE, "means": rows}


@pytest.mark.parametrize(
    ("metric", "start"), [("y", "dist2_0"), ("run(k, n)", "run(k, 0)"), ("dist2(k + 1)", "dist2(k)"), ("z", "y")]
)
@pytest.mark.parametrize("averaged", [False, True])
def test_what_is_said_is_taken_and_what_it_is_said_of_is_named(metric: str, start: str, averaged: bool) -> None:
    images, by = ({}, of_means(start)) if averaged else ({"dist2_0": start}, {})
    found, rests = cites(bound(metric, start), metric, images, **by)
    assert found == ""
    said_of = f"that {metric} is what {LEMMA} bounds"
    if averaged:
        assert {said_of, f"that {start} is the mean of dist2_0 of {LEMMA}"} <= set(rests)
    else:
        assert said_of + (f", with {start} for dist2_0" if start != "dist2_0" else "") in rests
    others = (bound(metric, start, f"99/100*{NOISE}"), bound(f"2*{metric}", start), bound(metric, f"99/100*{start}"))
    for wrong in others:
        assert "the claim is not that of the cited record" in cites(wrong, metric, images, **by)[0]


NO_VALUE, TWICE = "is no value of a run", "takes it for"
CONSTANT = "is a constant of this statement too, and stands for itself"


@pytest.mark.parametrize(
    ("metric", "images", "why"), [
    ("y", {"dist2_0": "0"}, NO_VALUE),
    ("y", {"dist2_0": "-dist2_0"}, NO_VALUE),
    ("y", {"dist2_0": "dist2_0/2"}, NO_VALUE),
    ("y", {"dist2_0": "mu/L"}, NO_VALUE),
    ("y", {"dist2_0": "mu"}, NO_VALUE),
    ("y", {"dist2_0": "dist2(k) + dist2(k + 1)"}, NO_VALUE),
    ("y", {"dist2_0": "sum(k, K, dist2(k))"}, NO_VALUE),
    ("y", {"dist2_0": "sigma2"}, NO_VALUE),
    ("y", {"sigma2": "0"}, CONSTANT),
    ("y", {"sigma2": "sigma2/2"}, CONSTANT),
    ("y", {"eta": "2*eta"}, CONSTANT),
    ("y", {"n": "n/2"}, f"{CONSTANT}|is not an integer"),
    ("y", {"E": "y"}, f"{CONSTANT}|is not an integer"),
    ("dist2(k)", {"dist2_0": "dist2(k)"}, NO_VALUE),  # after 0 rounds
    ("sigma2", {}, NO_VALUE),
    ("dist2_0", {}, NO_VALUE),
    ("y", {"gap_0": "y"}, "a symbol with an image is none of the cited record"),
])  # fmt: skip
@pytest.mark.parametrize("averaged", [False, True])
def test_only_the_same_run_is_bounded(metric: str, images: Row, why: str, averaged: bool) -> None:
    """The constants are those of the statement, and a value at the start is one value of the run."""
    start, noise = images.get("dist2_0", "dist2_0"), images.get("sigma2", "sigma2")
    if averaged and not set(images) <= {"dist2_0", "sigma2"}:
        return
    by = of_means(start, noise if "sigma2" in images else "") if averaged else {}
    claim = bound(metric, start, NOISE.replace("sigma2", f"({noise})"))
    found, _ = cites(claim, metric, {} if averaged else images, **by)
    assert any(part in found for part in why.split("|"))


# the target of the statement, and the kinds of its metric

UNLIKE = "does not bound what this statement does"
METRIC = "dist2, last, none: the method is deterministic, after n rounds, times 1"
TARGETS: dict[str, tuple[str, str]] = {  # the metric of another reading of Lemma 3.1
    "the same": (METRIC, ""),
    "as many rounds in other words": (METRIC.replace("n rounds", "2*n - n rounds"), ""),
    "more cycles": (METRIC.replace("n rounds", "n*E rounds"), UNLIKE),
    "half of it": (METRIC.replace("times 1", "times 2"), UNLIKE),
    "another quantity": (METRIC.replace("dist2", "gap"), "'dist2_1' is gap, and"),
    "an average": (METRIC.replace("last", "mean over r = 0, ..., n - 1"), UNLIKE),
    "an expectation": (METRIC.replace("none: the method is deterministic", "orders"), ""),
    "no metric": ("dist2", "the metric of a statement is not"),
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_target_is_bounded_as_the_statement_says(name: str) -> None:
    metric, why = TARGETS[name]
    found, _ = cites(bound("dist2_1", "dist2_0"), "dist2_1", {}, {"about": LEMMA, "metric": metric})
    agrees(found, why)


def test_many_cycles_are_not_within_the_bound_of_one() -> None:
    """Theorem 3.3 with the bound of Lemma 3.1: K cycles would do no more than one."""
    claim = bound("dist2(K)", "dist2_0")
    assert UNLIKE in cites(claim, "dist2(K)", {}, {**RUNS, "claim": claim})[0]
    assert UNLIKE in cites(claim, "dist2(K)", {}, **of_means("dist2_0"))[0]
    assert UNLIKE in cites(bound("z", "dist2_0"), "z", {}, facts=("definition: z == dist2(K)",))[0]
    assert UNLIKE in cites(bound("2*dist2(K) - y", "dist2_0"), "2*dist2(K) - y", {})[0]


def test_an_expectation_bounds_no_single_outcome() -> None:
    every, lemma = "none: for every outcome", "fedshuffle/lemma_c_1/corrected"
    own = shipped(lemma)["statement"]
    images = {x: x for x in ("dist2_0", "gap_0", "drift_0")}
    outcome = own["metric"].replace("cohorts and orders of the samples", every)
    for metric, why in ((own["metric"], ""), (outcome, UNLIKE)):
        found = cites(own["claim"], "dist2_1", images, {"about": lemma, "metric": metric}, record=lemma, signs=[])[0]
        agrees(found, why)


ITERATION, T6 = "feddane/theorem_6_iteration/as_printed", "feddane/theorem_6/corrected"
FACTOR = shipped(ITERATION)["statement"]["claim"].partition(" - grad2_0*")[2]
VALUES: Row = {"about": T6, "names": {"gap": "function", "G": "function", "mean": "number"}}


@pytest.mark.parametrize(("metric", "gap", "grad2", "why"), [
    ("gap(k + 1)", "gap(k)", "G(k)", ""), ("gap(1)", "gap_0", "y", ""),
    ("gap(k + 1)", "gap(k)", "gap(k)", TWICE),  # gap(k + 1) <= gap(k) - rho gap(k) is linear convergence
    ("gap(k + 1)", "gap(k)", "gap(0)", TWICE), ("G(k + 1)", "gap(k)", "G(k)", TWICE),
    ("gap(k)", "gap(k)", "G(k)", NO_VALUE), ("gap(k + 1)", "0", "G(k)", NO_VALUE),
    ("gap(k + 1)", "gap(k)", "5", NO_VALUE), ("gap(k + 1)", "gap(k)", "B2*G(k)", NO_VALUE),
    ("gap(k + 1)", "gap(k)", "2*gap(k)", NO_VALUE), ("gap(k + 1)", "gap(k) + 3", "G(k)", NO_VALUE),
    ("gap(k + 1)", "mu", "G(k)", NO_VALUE), ("gap(k + 1)", "-gap(k)", "G(k)", NO_VALUE),
    ("gap(k + 1)", "G(k)", "gap(k)", TWICE), ("gap(k + 1)", "gap(k)", "gap_0", NO_VALUE),
    ("mean", "gap(k)", "G(k)", "'mean' is grad2, and"),
])  # fmt: skip
@pytest.mark.parametrize("averaged", [False, True])
def test_a_term_is_one_quantity_of_the_run(metric: str, gap: str, grad2: str, why: str, averaged: bool) -> None:
    claim = f"{metric} <= {gap} - ({grad2})*{FACTOR}"
    rows = [["1", "gap_0", gap], [f"-{FACTOR}", "grad2_0", grad2]]
    by: Row = {"averaged": ["gap_0", "grad2_0"], "rest": "0", "means": rows} if averaged else {}
    images = {} if averaged else {"gap_0": gap, "grad2_0": grad2}
    signs = ["granted condition proximal weight", "granted domain mu"]
    found = cites(claim, metric, images, VALUES, record=ITERATION, signs=signs, **by)[0]
    agrees(found, why)


# which records may be cited, and what they assume


def test_every_hypothesis_is_shown() -> None:
    bench = Bench(about=THEOREM, names=RUNS["names"])
    every = [name for name, _ in shipped(LEMMA)["statement"]["hypotheses"]]
    by = {"rule": "cite", "record": LEMMA, "metric": "y", "images": {}, "signs": ["domain mu"]}
    assert bench.says(bound("y", "dist2_0"), {**by, "hypotheses": every}) == ""
    for left_out in every:
        rest = {**by, "hypotheses": [name for name in every if name != left_out]}
        assert f"'{left_out}' of the cited record is not shown" in bench.says(bound("y", "dist2_0"), rest)
    for wrong in ({"record": "scgd/lemma_3_1/none"}, {"record": "../lemma_3_1/corrected"}, {"record": THEOREM}):
        assert bench.says(bound("y", "dist2_0"), {**by, "hypotheses": every, **wrong})


@pytest.mark.parametrize(("statement", "why"), [
    ({}, ""), ({"method": "fedavg"}, "is about another method"), ({"method": ""}, "is about another method"),
    ({"assumptions": []}, "that the assumption smooth_clients of scgd/lemma_3_1/corrected holds here"),
    ({"assumptions": [["smooth_clients", "something else"]]}, "that the assumption smooth_clients of"),
])  # fmt: skip
def test_the_record_is_about_the_same_method_and_what_it_assumes_is_assumed(statement: Row, why: str) -> None:
    found, rests = cites(bound("y", "dist2_0"), "y", {}, {**RUNS, **statement})
    assert found == "" if "assumptions" in statement else why in found
    assert any(why in text for text in rests) or "assumptions" not in statement


def test_a_symbol_of_another_meaning_is_named() -> None:
    symbols = [[n, k, f"another {n}" if n == "L" else text] for n, k, text in shipped(THEOREM)["statement"]["symbols"]]
    found, rests = cites(bound("y", "dist2_0"), "y", {}, {**RUNS, "symbols": symbols})
    assert found == ""
    assert f"that y is what {LEMMA} bounds, with L for L" in rests


def test_an_assumption_about_the_start_is_none_about_later_points(monkeypatch: pytest.MonkeyPatch) -> None:
    cited = v.cited_record(LEMMA, record_file(folder(), THEOREM), ())
    row = ["dissimilarity_at_start", "The dissimilarity is bounded at the start."]
    monkeypatch.setitem(cited.statement, "assumptions", [*cited.statement["assumptions"], row])
    later = cites(bound("run(k, n)", "run(k, 0)"), "run(k, n)", {"dist2_0": "run(k, 0)"})[0]
    assert "which another start need not meet" in later
    assert cites(bound("y", "dist2_0"), "y", {})[0] == ""


@pytest.mark.parametrize("op", ["==", "<=", ">="])
def test_what_is_cited_says_as_much_as_it_says(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower bound is no upper bound, and an inequality is no equation."""
    cited = v.cited_record(LEMMA, record_file(folder(), THEOREM), ())
    monkeypatch.setitem(cited.statement, "claim", cited.statement["claim"].replace("<=", op))
    for mine in ("==", "<=", ">="):
        found = cites(bound("y", "dist2_0").replace("<=", mine), "y", {})[0]
        assert bool(found) == (mine != op)


def test_a_scaled_bound_is_one_of_the_scaled_metric() -> None:
    """Where 3 E L eta_g eta_l times the drift is bounded, neither the drift nor twice that is bounded by the same."""
    lemma, about = "fedshuffle/lemma_c_2/corrected", {"about": "fedshuffle/recursion_convex/corrected"}
    about |= {"names": {"xi": "number", "dist2_1": "number"}}
    right = shipped(lemma)["statement"]["claim"].partition(" <= ")[2]
    for scale, why in (("3*E*L*eta_g*eta_l*", ""), ("", "times the scale"), ("6*E*L*eta_g*eta_l*", "times the scale")):
        found = cites(f"{scale}xi <= {right}", f"{scale}xi", {}, about, record=lemma, signs=[])[0]
        agrees(found, why)


def test_a_record_that_proves_nothing_is_not_cited() -> None:
    refuted = "fedshuffle/lemma_c_2/as_printed"
    about: Row = {"about": "fedshuffle/recursion_convex/corrected", "names": {"xi": "number", "dist2_1": "number"}}
    claim = shipped(refuted)["statement"]["claim"].replace("bounded", "3*E*L*eta_g*eta_l*xi")
    found = cites(claim, "3*E*L*eta_g*eta_l*xi", {}, about, record=refuted, signs=[])[0]
    assert "is no proof" in found or "refuted" in found


def test_a_general_lemma_bounds_neither_the_metric_nor_what_it_has_no_value_for() -> None:
    """|u + v| <= |u| + |v|, said of the distance to the solution, would bound it by anything."""
    general, images = "fedshuffle/lemma_b_6/sharp", {"norm2_u": "1/4", "norm2_v": "1/9"}
    claim = "y <= ((1/4)**(1/2) + (1/9)**(1/2))**2"
    found, rests = cites(claim, "y", images, ONE, record=general, signs=[])
    assert found == ""
    assert f"that y is what {general} bounds, with 1/4 for norm2_u, 1/9 for norm2_v" in rests
    target = claim.replace("y", "dist2_1")
    assert UNLIKE in cites(target, "dist2_1", images, ONE, record=general, signs=[])[0]
    fixed = "fedshuffle/lemma_b_3/fixed_step"
    b3: Row = {"about": "fedshuffle/lemma_b_3/as_printed", "names": {"psi": "number"}}
    step = shipped(fixed)["statement"]["claim"].replace("psi", "y").replace("eta", "eta_max")
    with pytest.raises(v.Invalid, match="eta is not declared"):
        cites(step, "y", {}, b3, record=fixed)
    half = step.replace("K", "(K/2)")
    found, _ = cites(half, "y", {"eta": "eta_max", "K": "K/2"}, b3, record=fixed)
    assert "what stands for K is not an integer" in found


@pytest.mark.parametrize("id", ["scgd/lemma_3_1/other", LEMMA])
def test_a_record_does_not_cite_itself(id: str) -> None:
    by = {"rule": "cite", "record": id, "metric": "y", "images": {}, "hypotheses": []}
    data = record(("metric: y >= 0",), [("it", bound("y", "dist2_0"), by)]) | {"id": id}
    assert f"{id} is cited in its own proof" in said(data | {"digest": v.digest(data)})


# means


@pytest.mark.parametrize(("change", "why"), [
    ({}, ""), ({"rest": "0"}, "the cited bound is another one"),
    ({"rest": f"dist2_0*{NOISE}"}, "the cited bound is another one|is not linear in what is averaged"),
    ({"means": [[f"dist2_0*{RATE}", "dist2_0", "y"]]}, "is not linear in what is averaged"),
    ({"means": [[RATE, "dist2_0 + 1", "y"]]}, "the cited bound is another one"),
    ({"means": [[RATE, "dist2_0**2", "y"]]}, "the cited bound is another one"),
    ({"averaged": ["gap_0"]}, "a symbol with an image is none of the cited record"),
    ({"averaged": ["dist2_0", "eta"]}, "of the cited record is about what is averaged"),
    ({"averaged": ["dist2_0", "mu"]}, "of the cited record is about what is averaged"),
    ({"images": {"mu": "z"}}, "a constant of the cited record has a value that may be random"),
    # a mean of nothing that is averaged would take a term of the bound away
    ({"rest": "0", "means": [[RATE, "dist2_0", "y"], [NOISE, "1", "0"]]}, "is no expression in what is averaged"),
    ({"rest": "0", "means": [[RATE, "dist2_0", "y"], [NOISE.replace("*sigma2", ""), "sigma2", "0"]]},
     f"is no expression in what is averaged|{CONSTANT}"),
])  # fmt: skip
def test_only_what_the_bound_is_linear_in_is_averaged(change: Row, why: str) -> None:
    by = {**of_means("y"), **change}
    found = cites(bound("z", "y"), "z", by.pop("images", {}), **by)[0]
    assert any(part in found for part in why.split("|")), found
    assert bool(why) == bool(found)


def test_the_mean_of_an_expression_is_named() -> None:
    """sigma_i^2/|D_i| of a client, and the mean of it."""
    lemma = "fedshuffle/lemma_d_1/corrected"
    about: Row = {"about": "fedshuffle/lemma_d_5/corrected", "names": {"grad2": "number"}}
    means = [["L**2*eta_l**2", "d2", "<v, v>"], ["2*L**2*eta_l**2", "sigma2_i/D_i", "sigma2"]]
    by: Row = {"averaged": ["d2", "sigma2_i", "D_i"], "rest": "0", "means": means, "record": lemma, "signs": []}
    claim = "<u, u> <= L**2*<v, v>*eta_l**2 + 2*L**2*eta_l**2*sigma2"
    found, rests = cites(claim, "<u, u>", {}, about, **by)
    assert found == ""
    means = {f"that <v, v> is the mean of d2 of {lemma}", f"that sigma2 is the mean of sigma2_i/D_i of {lemma}"}
    assert {*means, f"that <u, u> is what {lemma} bounds"} <= set(rests)


# vectors of another record

D3 = "fedshuffle/lemma_d_3/as_printed"
D_1, D_2 = "fedshuffle/lemma_d_1/corrected", "fedshuffle/lemma_d_2/as_printed"


def of_vectors(cited: str, change: Any = lambda line: line) -> tuple[str, list[str]]:
    """What the verifier says of the line of Lemma D.3 that cites a lemma for its vectors, if it is changed."""
    data = shipped(D3)
    place = next(k for k, line in enumerate(data["lines"]) if line["by"].get("record") == cited)
    one = v.Record(record_file(folder(), D3), data=data)
    one.read_facts()
    for line in data["lines"][:place]:
        one.check_line(line)
    try:
        one.check_line(change(data["lines"][place]))
    except v.Invalid as error:
        return str(error), one.rests
    return "", one.rests


def with_text(line: Row, old: str, new: str) -> Row:
    return json.loads(json.dumps(line).replace(old, new))


def with_image(line: Row, name: str, image: str) -> Row:
    line["by"]["vectors"] = [[n, a, image if n == name else text] for n, a, text in line["by"]["vectors"]]
    return line


@pytest.mark.parametrize("cited", [D_1, D_2])
def test_a_lemma_is_used_for_the_vectors_of_the_round(cited: str) -> None:
    found, rests = of_vectors(cited)
    assert found == ""
    assert f"that d(e) stands for d of {cited}" in rests
    past = f"that what stands for its past is known before what stands for the draws of 'order' of {D_1}"
    assert any(past in text for text in rests)  # of Lemma D.1, which draws an order


@pytest.mark.parametrize(("cited", "old", "new", "why"), [
    (D_1, "d(e)", "f(e)", "'domain d2' of"), (D_2, "fi(e)", "g(e)", "'direction' of"),
    (D_2, "d(e)", "f(e)", "'direction' of"), (D_2, '["fx", [], "fx"]', '["fx", [], "f(e)"]', "'h2' of"),
    (D_2, '["m", [], "m"]', '["m", [], "fx"]', "'direction' of"), (D_2, ', "h2", "gam2"]', ', "h2"]', "'gam2' of"),
    (D_2, ', "h2", "gam2"]', ', "gam2"]', "'h2' of"), (D_2, '"direction", ', "", "'direction' of"),
    (D_2, "3*a**2*gam2 + 3*h2", "3*a**2*gam2 + 2*h2", "the claim is not that of the cited record"),
    (D_2, '"rest": "0"', '"rest": "0 - h2"', "is not linear|the cited bound is another one"),
])  # fmt: skip
def test_a_lemma_for_other_vectors(cited: str, old: str, new: str, why: str) -> None:
    """A gradient elsewhere, a momentum with another error, a bound that is smaller."""
    found, _ = of_vectors(cited, lambda line: with_text(line, old, new))
    assert any(part in found for part in why.split("|")), found


def test_a_symbol_has_part_in_one_mean() -> None:
    """Half of d2 by its vectors, and the other half by a mean of 2 d2, which nothing shows."""
    halved = '["L**2*eta_l**2/2", "d2", "<d(e), d(e)>"], ["L**2*eta_l**2/4", "2*d2", "0"]'
    found, _ = of_vectors(D_1, lambda line: with_text(line, '["L**2*eta_l**2", "d2", "<d(e), d(e)>"]', halved))
    assert "has part in two means" in found


@pytest.mark.parametrize("cited", [D_1, D_2])
def test_no_vector_of_a_lemma_stands_for_two(cited: str) -> None:
    """Each image replaced by each other one: the equations among the vectors do not hold of it."""
    data = shipped(D3)
    line = next(line for line in data["lines"] if line["by"].get("record") == cited)
    names = {n: text for n, _, text in line["by"]["vectors"]}
    for name in names:
        for other in {"fix", "fx", "m", "g(e)", "d(e)", "f(e)", "fi(e)", "y(e)"} - {names[name]}:
            found, rests = of_vectors(cited, lambda line, n=name, o=other: with_image(line, n, o))
            assert found or (cited, name) == (D_1, "mean") or f"that {other} stands for {name} of {cited}" in rests
            assert found or name in ("x", "mean")


# FedShuffle as a case of FedShuffleGen


@pytest.mark.parametrize("participation", ["full", {"kind": "uniform", "size": 2}])
def test_runs_of_the_case_are_runs_of_the_general_method(participation: Any) -> None:
    """The local step eta_l/|D_i| of Section 5 is E eta_l/(E |D_i|) of Appendix E."""
    own = {"eta_g": 2, "E": 3, "participation": participation}
    methods = ({"kind": "fedshuffle", "eta_l": "1/24", **own}, {"kind": "fedshuffle_gen", "eta_l": "1/8", **own})
    curves = [
        run(build_method(m), build_problem({"kind": "fedshuffle_36"}), rounds=[0, 1, 5], metrics=["gap"])
        for m in methods
    ]
    assert list(curves[0].values["gap"]) == pytest.approx(list(curves[1].values["gap"]), rel=1e-12)
