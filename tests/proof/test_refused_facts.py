"""Facts that are not allowed: what the verifier says of each, and neighbours that it allows."""

from __future__ import annotations

import pytest
from hand_records import INDEX_K, INDEX_M, LEMMA, NO_LINES, Bench, record, said, shipped

from boundcheck.verify import boundcheck_verify as v

FALSE = "scgd/lemma_3_1/as_printed_main"
BOUND = shipped(FALSE)["statement"]["claim"].split(" <= ")[1]  # contraction * dist2_0 + noise * sigma2
NOISE, _, CONTRACTION = BOUND.partition(" + dist2_0*")
TERMS = f"{NOISE} + dist2_0 - E*eta*mu*n*dist2_0/3"  # the same, written out
TAKEN, OWN, NEW = "a name that is taken", "restricts the statement's own symbols", "does not define something new"
LEFT, USED = "does not have an index of its own on its left", "restricts what is in use, or is not at least an integer"
MORE, SELF, INDEX = "compares a run with more than one symbol", "is the statement itself", "restricts an index"
OTHER = "is not about numbers, or about an index that is declared later or was before"
TARGET, BY_INDEX = "the target is no symbol of its own", "defines by itself, or by an index that it does not have"
SEGMENT = ("[t] range: t >= 0", "[t.1] range: t <= 1")

REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "two facts of one name": (("[it] metric: y >= 0", "[it] metric: z >= 0"), TAKEN),
    "the name of a domain": (("[domain n] metric: y >= 0",), TAKEN),
    "the name of a supposition": (("[#0] metric: y >= 0",), TAKEN),
    "unknown kind": (("guess: y >= 0",), "unknown kind"),
    "no domain of the statement": (("domain: eta <= 1",), "is no hypothesis of the statement"),
    "no condition of the statement": (("condition: eta*L <= 1",), "is no hypothesis of the statement"),
    "an implication": ((f"assumption/{'plain_mean'}: y >= 0 => z >= 0",), "is no plain relation"),
    "every number": (("metric: f(@) >= 0",), "is no plain relation"),
    # assumptions
    "no assumption": (("assumption/: <u, v> >= 0",), "names no such assumption"),
    "unknown assumption": (("assumption/convexity: <grad, u> >= 0",), "names no such assumption"),
    "restricts the statement": (("assumption/plain_mean: eta*L <= 1",), OWN),
    "restricts it in a metric": (("metric: 1000*eta*L <= 1",), OWN),
    "restricts it in the method": (("algorithm: 1000*eta*L <= 1",), OWN),
    "restricts it by what cancels": (("metric: eta*L + 0*y <= 1",), OWN),
    "restricts an index": ((*INDEX_M, "assumption/plain_mean: m >= 3"), INDEX),
    "restricts an index by a number": ((*INDEX_M, "metric: m >= y"), INDEX),
    # definitions
    "definition of a symbol of the statement": (("definition: eta == 1/L",), NEW),
    "definition of an index": ((*INDEX_M, "definition: m == 5"), NEW),
    "definition of a later index": (("definition: m == 5", *INDEX_M), NEW),
    "definition after use": (("assumption/plain_mean: <u, u> <= z", "definition: z == 0"), NEW),
    "vector after use": (("assumption/plain_mean: <grad, u> >= mu/2*<u, u>", "definition: grad = 0*u"), NEW),
    "definition twice": (("definition: y == mu", "definition: y == L"), NEW),
    "definition by itself": (("definition: y == y + 1",), BY_INDEX),
    "definitions in a circle": (("definition: y == z + 1", "definition: z == y + 1"), NEW),
    "definition by an index": ((*INDEX_M, "definition: y == m*L"), BY_INDEX),
    "definition by an inequality": (("definition: y <= 1",), "is no definition"),
    "definition of an expression": (("definition: 2*y == 1",), "is no definition"),
    "vector by an index that it lacks": ((*INDEX_M, "definition: w = g(m)"), BY_INDEX),
    "vector on a diagonal": ((*INDEX_M, "definition: h(m, m) = u"), NEW),
    "vector at a value": ((*INDEX_M, "definition: h(m*(1 - m)) = g(m)"), NEW),
    "vector by its next value": ((*INDEX_M, "definition: h(m) = 2*h(m + 1) + g(m)"), BY_INDEX),
    "vector with a factor": (("definition: mu*w = u",), "is no definition"),
    "integer by a number": (("definition: j == eta",), "defines an integer by what may be none"),
    # indices and counts
    "index on no side alone": (("range: L*s >= 0",), LEFT), "index times a number": (("index: 2*i >= 7",), LEFT),
    "index that cancels": (("[i] index: i - i + mu >= 7",), LEFT),
    "index that cancels on the right": (("[i] index: mu >= i - i + 7",), LEFT),
    "range of a symbol of the statement": (("range: eta <= mu/(1000*L**2)",), LEFT),
    "index of a symbol of the statement": (("index: n <= 3",), LEFT),
    "range of what is defined": (("definition: s == n*eta", "range: s <= mu"), NEW),
    "definition of what has a range": (("range: s <= mu", "definition: s == n*eta"), NEW),
    "range by terms": (("range: t <= <u, u>",), OTHER), "range by itself": (("range: t <= 2*t - 1",), LEFT),
    "range by a later index": (("[j] index: j >= m", *INDEX_M), OTHER),
    "range twice": ((*INDEX_M, *INDEX_K, "index: m >= 2"), OTHER),
    "range of an integer": (("range: m >= 0",), "ranges over no index"),
    "index of a number": (("index: t >= 0",), "ranges over no index"),
    "count below a symbol": (("count: j >= mu",), USED),
    "count from above": (("count: j <= 3",), "is not of the form integer >= number"),
    "count of a number": (("count: y >= 3",), "is not of the form integer >= number"),
    "count of a symbol of the statement": (("count: n >= 2",), "restricts the statement"),
    "count of an index": ((*INDEX_M, "count: m >= 3"), USED),
    "count in use": (("metric: <u, u> <= j", "count: j >= 3"), USED),
    # the bound in disguise
    "contains the bound": ((f"metric: dist2_1 <= {BOUND}",), "contains the bound"),
    "contains it in a sum": ((f"metric: dist2_1 + {BOUND} <= 2*({BOUND})",), "contains the bound"),
    "the conclusion itself": ((f"assumption/plain_mean: dist2_1 - ({TERMS}) <= 0",), SELF),
    "an equation": ((f"assumption/plain_mean: 0 == dist2_1 - ({TERMS})",), SELF),
    "twice the bound": ((f"assumption/plain_mean: 2*dist2_1 <= 2*({TERMS})",), SELF),
    "a third of the bound": ((f"assumption/plain_mean: 1/3*dist2_1 <= 1/3*({TERMS})",), SELF),
    "the bound times a symbol": ((f"assumption/plain_mean: mu*dist2_1 <= mu*({TERMS})",), SELF),
    "two symbols": (("metric: y <= mu*dist2_0",), MORE),
    "two symbols in the method": (("algorithm: y <= mu*dist2_0",), MORE),
    "two symbols in an equation": (("metric: y == mu*dist2_0",), MORE),
    "two symbols of a vector": (("metric: <u, u> <= mu*dist2_0",), MORE),
    "two symbols in a definition": (("definition: z == mu*dist2_0", "metric: y <= z"), MORE),
    "half of two symbols in a definition": (("definition: z == mu*dist2_0", "metric: 2*y <= 2*z"), MORE),
    "two symbols in a recursion": ((*INDEX_K, "metric: f(k + 1) <= f(k) + eta*sigma2"), MORE),
    "a bound in its parts": (("metric: dist2_1 <= y + z", f"metric: y <= dist2_0*{CONTRACTION}"), MORE),
    "a part in an equation": (("metric: dist2_1 == y + z", f"metric: z == {NOISE}"), MORE),
    "a part for a vector": (("metric: dist2_1 <= <u, u> + <v, v>", f"metric: <v, v> <= {NOISE}"), MORE),
    # the target
    "the target is defined": (("definition: dist2_1 == -1 - dist2_0",), TARGET),
    "the target is an index": (("range: dist2_1 >= 0",), TARGET),
    "the bound by another name": (("metric: dist2_1 <= z + y", f"metric: z == {NOISE}"), MORE),
}  # fmt: skip

ALLOWED: dict[str, tuple[str, ...]] = {
    "index, definition, count and one symbol times integers": (
        *INDEX_M,
        "definition: y == mu",
        "metric: <u, u> <= 3*n*sigma2",
        "count: j >= 1",
    ),
    "what a start is": ("metric: dist2_0 == <u, u>",),
    "one symbol": ("metric: dist2_1 <= 0",),
    "rates of vectors": (f"metric: dist2_1 <= <u, u>*{CONTRACTION} + <v, v>*mu",),
    "numbers": ("definition: z == 0", "assumption/plain_mean: <u, u> <= z"),
    "an assumption about several symbols": ("assumption/plain_mean: <u, u> <= L**2*<v, v> + sigma2",),
    "a vector at each index": (*INDEX_M, "definition: h(m) = g(m) - u"),
    "an index below another": (*INDEX_M, "[j] index: j >= 0", "[j.1] index: j <= m - 1"),
    "a count below a count": ("count: j >= 1", "count: i >= 0", "count: i >= j"),
    "a segment": (*SEGMENT, "assumption/plain_mean: diff(f(t), t) >= 0"),
}


def test_the_printed_bound_is_taken_apart_rightly() -> None:
    language = v.Language(dict.fromkeys(("mu", "L", "n", "E", "eta", "sigma2", "dist2_0"), "number"))
    parts = language.value(f"{NOISE} + dist2_0*{CONTRACTION}")
    assert not v.plus(language.value(BOUND), parts, -1)[0]
    assert "sigma2" in NOISE
    assert "dist2_0" not in NOISE + CONTRACTION


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    facts, why = REFUSED[name]
    assert why in said(record(facts, about=FALSE))


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_allowed(name: str) -> None:
    assert said(record(ALLOWED[name], about=FALSE)) == NO_LINES


@pytest.mark.parametrize("target", ["dist2_0", "n", "y", "m", "2*dist2_1", "f(m)", "0"])
def test_the_target_is_a_quantity_of_its_own(target: str) -> None:
    facts = ("definition: y == 0", *INDEX_M)
    found = said(record(facts, target=target, claim=f"{target} <= {BOUND}"))
    assert TARGET in found or "not well formed" in found


def test_a_statement_is_about_its_own_symbols() -> None:
    for claim in ("dist2_1 <= y", f"dist2_1 + 0 <= {BOUND}", f"{BOUND} >= dist2_1"):
        assert said(record(("metric: y >= 0",), claim=claim)) != NO_LINES
    symbols = [["mu", "vector", ""], *shipped(LEMMA)["statement"]["symbols"][1:]]
    assert "not declared as in the statement" in said(record(symbols=symbols))


@pytest.mark.parametrize("name", ["_value", "_k", "sum", "max", "min", "µ", "lambda x", "1x", ""])
def test_names_of_the_verifier_are_nobody_elses(name: str) -> None:
    with pytest.raises(v.Invalid, match="cannot be declared"):
        v.Language({name: "number"})
    with pytest.raises(v.Invalid, match="cannot be declared"):
        v.Language({"inner": "function"})
    if name.isidentifier() and name.startswith("_"):
        assert "not declared" in said(record((f"definition: {name} == n - 1",)))


@pytest.mark.parametrize(
    "claim",
    ["exp(y) >= sigma2", "log(y) >= 0", "y >= 0.1", "y >= 1e3", "y >= 0 or y <= 1", "<mu, mu> >= 1", "u >= 0", "g >= 0",
     "f >= 0", "y", "y == z == 0", "u = 3", "f(u) >= 0", "diff(y, 2) >= 0", "sum(3, n, y) >= 0", "y**u >= 0",
     "[y] >= 0", "y if z else t >= 0", "lambda: y >= 0", "y.real >= 0"],
)  # fmt: skip
def test_only_what_the_verifier_understands_is_read(claim: str) -> None:
    assert said(record((f"metric: {claim}",))) not in ("", NO_LINES)
    with pytest.raises((v.Invalid, *v.BROKEN)):
        Bench().record.claim(claim)


def test_no_assumption_is_needed_for_a_bound_that_the_facts_carry() -> None:
    """The rates are factors of the metric: the line follows, and the record proves nothing."""
    rates = f"metric: dist2_1 <= <v, v>*({NOISE.replace('sigma2', '1')}) + <u, u>*{CONTRACTION}"
    facts = (rates, "metric: dist2_0 == <u, u>", "metric: sigma2 == <v, v>")
    by = {"rule": "sum", "put": [["f1", "<u, u>"], ["f2", "<v, v>"]], "terms": [["1", ["f0"]]], "signs": ["domain mu"]}
    line = ("all", f"dist2_1 <= {BOUND}", by)
    assert "add up to the bound, without any assumption" in said(record(facts, [line], about=FALSE))
    assumed = (rates.replace("metric", "assumption/plain_mean"), *facts[1:])
    assert said(record(assumed, [line], about=FALSE)) == ""
    strong = {"rule": "sum", "terms": [["1", ["f0"]], ["1", ["domain dist2_0"]], ["1", ["domain sigma2"]]]}
    stronger = record(("metric: dist2_1 <= 0",), [("all", "dist2_1 <= dist2_0 + sigma2", strong)],
                      claim="dist2_1 <= dist2_0 + sigma2")  # fmt: skip
    assert "add up to the bound, without any assumption" in said(stronger)


def test_equations_may_define_the_metric_of_a_statement_about_numbers() -> None:
    """1/(1 - A) is an expression in A; an inequality, or the bound itself, is no definition of it."""
    numbers = "partial_averaging/one_minus_a/corrected"
    target, bound = (shipped(numbers)["statement"][k] for k in ("target", "claim"))
    bound = bound.split(" <= ")[1]
    about = {"about": numbers, "names": {target: "number"}}
    assert said(record((f"metric: {target}*(1 - A) == 1",), **about)) == NO_LINES
    assert MORE in said(record((f"metric: {target} <= 1 + A",), **about))
    parts = (f"metric: {target} == y + z", f"metric: y == ({bound})/3", f"metric: z == 2*({bound})/3")
    assert said(record(parts, **about)) not in ("", NO_LINES)
