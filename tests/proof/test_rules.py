"""Attempts to prove what is false by rules about indices, ranges, suppositions and definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hand_records import INDEX_K, INDEX_M, RANGE_A, Bench, agrees, terms

from boundcheck.verify import boundcheck_verify as v

Row = dict[str, Any]
SQUARE, TOTAL = "<h(m), h(m)>", "sum(m, n, <h(m), h(m)>)"
BELOW = f"[A] assumption/plain_mean: {SQUARE} <= L**2"
INDEX_J = ("[j] index: j >= 0", "[j.1] index: j <= n - 2")
MORE = "[more] algorithm: f(m + 1) <= f(m) + g2(m)"
FUNCTION: Row = {"names": {"g2": "function"}}


def bench(*facts: str, **more: Any) -> Bench:
    """A bench with the lines that rules need for signs."""
    found = Bench(*facts, **more)
    for name in ("n", "E"):
        found.add(f"{name} >= 0", f"{name} >= 0", terms((1, f"domain {name}"), (1,)))
    found.add("n - 1 >= 0", "n - 1 >= 0", terms((1, "domain n")))
    return found


def check(facts: Any, claim: str, by: Row, why: str, **more: Any) -> None:
    found = bench(*facts, **FUNCTION).says(claim, by, **more)
    agrees(found, why)


def over(of: str, index: str, count: str, **more: Any) -> Row:
    signs = ["n >= 0", "n - 1 >= 0", "E >= 0"]
    return {"rule": "over", "of": of, "index": index, "count": count, "signs": signs, **more}


RANGE, FREE = "is not shown to be in the range of the index", "is about an index that the claim does not have"
NOT_SO = "the claim is not the sum of the line"


@pytest.mark.parametrize(("facts", "claim", "by", "why"), [
    ((*INDEX_M, BELOW), f"{TOTAL} <= n*L**2", over("A", "m", "n"), ""),
    ((*INDEX_M, BELOW), f"{TOTAL} <= (n - 1)*L**2", over("A", "m", "n"), NOT_SO),
    ((*INDEX_M, BELOW), f"{TOTAL} < n*L**2", over("A", "m", "n"), NOT_SO),
    ((*INDEX_M, BELOW), "sum(m, n + 1, <h(m), h(m)>) <= (n + 1)*L**2", over("A", "m", "n + 1"), RANGE),
    ((*INDEX_M, BELOW), "sum(m, E, <h(m), h(m)>) <= E*L**2", over("A", "m", "E"), RANGE),
    (("[m] index: m >= 5", BELOW), f"{TOTAL} <= n*L**2", over("A", "m", "n"), RANGE),
    ((*INDEX_M, BELOW), "sum(m, y, <h(m), h(m)>) <= y*L**2", over("A", "m", "y"), f"{RANGE}"),
    ((*INDEX_K, "[A] metric: f(k) <= L"), "sum(k, eta, f(k)) <= eta*L", over("A", "k", "eta"), "natural number"),
    ((*INDEX_K, "[A] metric: f(k) <= L"), "sum(k, n - 2, f(k)) <= (n - 2)*L", over("A", "k", "n - 2"), "natural"),
    ((*INDEX_K, "[A] metric: f(k) <= L"), "sum(k, n - 1, f(k)) <= (n - 1)*L", over("A", "k", "n - 1"), ""),
    # a parameter, and what nobody declared, are one number each; a real variable is no index
    ((), "sum(E, n, 1) <= sum(E, n, E)", over("domain E", "E", "n"), "the index has no range"),
    (("[A] metric: f(j) <= L",), "sum(j, n, f(j)) <= n*L", over("A", "j", "n"), "the index has no range"),
    ((*RANGE_A, "[A] metric: f(a) <= L"), "sum(a, n, f(a)) <= n*L", over("A", "a", "n"), "is of another kind"),
    # a range that depends on the index leaves fewer values
    ((*INDEX_M, "[j] index: j >= m", "[j.1] index: j <= 0"), "sum(m, n, m) <= sum(m, n, j)",
     over("j", "m", "n"), "the range of another index depends on this one"),
])  # fmt: skip
def test_a_sum_over_an_index(facts: Any, claim: str, by: Row, why: str) -> None:
    check(facts, claim, by, why)


def test_a_part_of_a_sum_is_at_most_the_whole() -> None:
    for line, why in (("square", ""), ("mixed", "is not at least 0 by its form")):
        one = bench(*INDEX_M)
        what = SQUARE if line == "square" else "<h(m), u>"
        found = one.says(f"{what} >= 0", terms((1, {"square": what})), name="term")
        assert why in found
        if not why:
            part = over("term", "m", "n", part="n - 1")
            one.add("less", "n - (n - 1) >= 0", terms((1,)))
            part["signs"] = [*part["signs"], "less"]
            assert one.says(f"sum(m, n - 1, {what}) <= sum(m, n, {what})", part) == ""
            assert NOT_SO in one.says(f"sum(m, n - 1, {what}) <= sum(m, n - 1, {what}) - 1", part)
            for wrong in ("n + 1", "n - 2", "eta", "E"):
                claim = f"sum(m, {wrong}, {what}) <= sum(m, n, {what})"
                assert "the part is not shown to be a part" in one.says(claim, {**part, "part": wrong})


def test_a_supposition_is_about_one_value_of_the_index() -> None:
    one = bench(*INDEX_M, *RANGE_A)
    one.add("one", f"{SQUARE} <= 1", terms((1, "#0")), now=[f"{SQUARE} <= 1"])
    found = one.says(f"{TOTAL} <= n", over("one", "m", "n"), now=[f"{SQUARE} <= 1"])
    assert "a supposition is about one value of the index" in found
    assert "holds under another supposition" in one.says(f"{TOTAL} <= n", over("one", "m", "n"))
    one.add("limit", "a*L >= z", terms((1, "#0")), now=["a*L >= z"])
    by = {"rule": "limit", "index": "a", "of": "limit"}
    assert "a supposition is about one value" in one.says("0 >= z", by, now=["a*L >= z"])


def test_a_limit_is_in_a_real_variable_with_the_range_from_0_to_1() -> None:
    low = {q: f"[A] metric: f(0) >= {right}" for q, right in (("c", "3*(1 - a)"), ("r", "f(a)"), ("p", "1/a"))}
    by = {"rule": "limit", "index": "a", "of": "A"}
    check((*RANGE_A, low["c"]), "f(0) >= 3", by, "")
    check((*RANGE_A, "[A] metric: f(0)*(1 - a) >= 3*(1 - a)"), "f(0) >= 3", by, "")
    check((*RANGE_A, low["c"]), "f(0) >= 4", by, "the claim is not the limit of the line")
    check((*RANGE_A, low["c"]), "f(0) > 3", by, "the claim is not the limit of the line")
    check((*RANGE_A, low["r"]), "f(0) >= f(0)", by, "no polynomial inequality")
    check((*RANGE_A, low["p"]), "f(0) >= 0", by, "no polynomial inequality")
    check(("[a] range: a > 1", low["c"]), "f(0) >= 3", by, RANGE)
    check((), "y >= 3", {**by, "index": "y", "of": "domain n"}, "the index has no range")
    for parameter, why in (("n", "is of another kind"), ("eta", "the index has no range")):
        check((), "0 >= 1", {**by, "index": parameter, "of": f"domain {parameter}"}, why)


@pytest.mark.parametrize(("signs", "why"), [
    (["t", "s"], ""), (["t"], "are not shown to be positive"), (["s"], "are not shown to be positive"),
])  # fmt: skip
def test_a_limit_superior_is_that_of_a_term_that_tends_to_0(signs: list[str], why: str) -> None:
    facts = (*INDEX_K, "[A] metric: f(k) <= z + y*(k + t)**(0 - s)", "[t] metric: t > 0", "[s] metric: s > 0")
    by = {"rule": "limsup", "index": "k", "of": "A", "value": "f(k)", "bound": "z", "factor": "y", "shift": "t"}
    check(facts, "p <= z", {**by, "rate": "s", "limit": "p", "signs": signs}, why)


def test_the_mean_value_theorem_is_about_a_smooth_path_on_the_whole_segment() -> None:
    facts = ("[t] range: t >= 0", "[t.1] range: t <= 1", "[rise] metric: diff(f(t), t) >= 3")
    by: Row = {"rule": "mean value", "index": "t", "of": "rise", "path": "f(t)", "slope": "3", "start": "0"}
    by["below"] = "one"

    def says(claim: str, *more: str, given: tuple[str, ...] = facts, **change: Any) -> str:
        one = bench(*given, *more)
        one.add("one", "1 - 0 > 0", terms((1,)))
        return one.says(claim, {**by, **change})

    assert says("f(1) - f(0) >= 3") == ""
    assert "not what the mean value theorem gives" in says("f(1) - f(0) >= 4")
    assert "bounds no derivative" in says("f(1) - f(0) >= 4", slope="4")
    assert "the slope depends on the variable" in says("f(1) - f(0) >= 3*t", slope="3*t")
    assert RANGE in says("f(1) - f(0) >= 3", given=("[t] range: t >= 1", facts[2]))
    assert RANGE in says("f(1) - f(0) >= 3", given=(*facts[:2], "[t.2] range: t <= 1/2", facts[2]))
    assert "is of another kind" in says(
        "f(1) - f(0) >= 3", given=(*INDEX_M, "[rise] metric: diff(f(m), m) >= 3"), index="m", path="f(m)"
    )
    for path, why in (("f(t)", ""), ("f(t)/t", "the denominator"), ("1/(2*t - 1)", "the denominator")):
        one = bench("[t] range: t >= a", "[t.1] range: t <= 1")
        one.add("rise", f"diff({path}, t) >= 3", {"rule": "assumed", "source": "granted"})
        one.add("a < 1", "1 - a > 0", {"rule": "assumed", "source": "granted"})
        change = {**by, "path": path, "start": "a", "below": "a < 1"}
        found = one.says(f"({path.replace('t', '1')}) - ({path.replace('t', 'a')}) >= 3*(1 - a)", change)
        agrees(found, why)
    for path in ("t**(1/2)", "min(t, 1 - t)", "f(1/t)", "(t**2)**(1/2)", "2**t", "f(f(t))"):
        with pytest.raises((v.Invalid, *v.BROKEN)):
            v.derivative(Bench().record.value(path), v.atom(("x", "t")))


def at(of: str, ranges: Any = (), **values: str) -> Row:
    return {"rule": "at", "of": of, "values": values, "ranges": list(ranges)}


OUTSIDE = "the value of an index is not shown to be in its range"


@pytest.mark.parametrize(("value", "why"), [
    ("0", ""), ("n - 1", ""), ("n", OUTSIDE), ("0 - 1", OUTSIDE), ("n/2", "is not an integer"),
    ("eta", "is not an integer"), ("k", OUTSIDE), ("n - 2", OUTSIDE),
])  # fmt: skip
def test_what_holds_for_all_values_of_an_index_holds_for_those_in_its_range(value: str, why: str) -> None:
    one = bench(*INDEX_M, *INDEX_K, "[A] metric: f(m) <= f(m + 1)")
    found = one.says(f"f({value}) <= f({value} + 1)", at("A", ["n - 1 >= 0", *["k"][: value == "k"]], m=value))
    agrees(found, why)
    if not why:
        for wrong in ("f(0) <= f(2)", "f(1) <= f(0)", f"f({value}) <= f({value} + 1) - 1"):
            assert "the claim is not the line at these values" in one.says(wrong, at("A", ["n - 1 >= 0"], m=value))


def test_an_empty_range_proves_nothing_about_the_rest() -> None:
    """0 <= j <= n - 2 has no value for n = 1; 1 <= t <= mu/L has none for mu < L."""
    check(INDEX_J, "n >= 2", terms((1, "j"), (1, "j.1")), FREE)
    by = terms((1, "t"), (1, "t.1"), signs=["domain L"])
    check(("[t] range: t >= 1", "[t.1] range: t <= mu/L"), "mu/L >= 1", by, FREE)
    check((*INDEX_K, "[j] index: j >= 0", "[j.1] index: j <= 2 - k"), "k <= 2", terms((1, "j"), (1, "j.1")), FREE)
    check((*INDEX_M, "[j] index: j >= m", "[j.1] index: j <= 0"), "m <= 0", terms((1, "j"), (1, "j.1")), FREE)
    check(INDEX_M, "n >= 1", terms((1, "m"), (1, "m.1")), FREE)  # true, and shown by a value that it has
    check(INDEX_J, "n - 2 >= 0", at("j.1", j="0"), OUTSIDE)


def induction(last: str = "n", **more: str) -> Row:
    by = {"rule": "induction", "base": "base", "step": "step", "index": "k", "last": last}
    return {**by, "signs": ["n >= 0"], **more}


def test_an_induction_has_its_base_and_its_step_for_every_value() -> None:
    now = "f(k) <= 3"

    def says(claim: str = "f(n) <= 3", by: Any = None, base: str = "f(0) <= 3", index: Any = INDEX_K) -> str:
        one = bench(*index, f"[base] metric: {base}", "[next] algorithm: f(k + 1) <= f(k)")
        one.add("inside", "f(k + 1) <= 3", terms((1, "next"), (1, "#0")), now=[now])
        one.add("step", f"{now} => f(k + 1) <= 3", {"rule": "suppose", "of": "inside"})
        return one.says(claim, by or induction())

    assert says() == ""
    assert "the base is not the case 0" in says(base="f(1) <= 3")
    assert "the base is not the case 0" in says(base="f(0) <= 4")
    assert "the claim is not the last case" in says("f(n + 1) <= 3")
    assert "the claim is not the last case" in says("f(n) <= 2")
    assert "not shown to be a natural number" in says("f(eta) <= 3", induction("eta"))
    assert "not shown to be a natural number" in says("f(n - 2) <= 3", induction("n - 2"))
    assert RANGE in says(index=("[k] index: k >= 1",))
    assert RANGE in says(index=(*INDEX_K, "[k.1] index: k <= 9"))
    assert "the step is no implication" in says(by=induction(step="next"))
    assert "the index has no range" in bench("[base] metric: f(0) <= 3").says(
        "f(n) <= 3", induction(index="E", step="base")
    )


@pytest.mark.parametrize(("implication", "why"),
    [("f(k) <= 3 => f(k + 1) <= 3", ""), ("f(k) <= 3 => f(k + 2) <= 3", "from k to k + 1"),
     ("f(k) <= 3 => f(k) <= 3", "from k to k + 1"), ("f(k) <= 3 => f(k + 1) <= 4", "from k to k + 1"),
     ("f(k) <= 3 & f(0) <= 3 => f(k + 1) <= 3", "the step is no implication")],
)  # fmt: skip
def test_a_step_of_an_induction_leads_to_the_next_value(implication: str, why: str) -> None:
    one = bench(*INDEX_K, "[base] metric: f(0) <= 3")
    one.add("step", implication, {"rule": "assumed", "source": "granted"})
    found = one.says("f(n) <= 3", induction())
    agrees(found, why)


def test_an_implication_is_no_fact_and_a_supposition_is_kept() -> None:
    one = bench("[low] metric: y >= 0")
    one.add("if", "y >= 1 => y >= t", {"rule": "assumed", "source": "granted"})
    assert "shows no sign" in one.says("y >= t", terms((1, "if")))
    assert "a supposition of it is not shown" in one.says("y >= t", {"rule": "apply", "of": "if", "to": ["low"]})
    one.add("y >= 1", "y >= 1", {"rule": "assumed", "source": "granted"})
    assert one.says("y >= t", {"rule": "apply", "of": "if", "to": ["y >= 1"]}) == ""
    one.add("under", "y >= z", terms((1, "#0")), now=["y >= z"])
    assert "holds under another supposition" in one.says("y >= z", terms((1, "under")))
    assert "holds under another supposition" in one.says("y >= t => y >= z", {"rule": "suppose", "of": "under"})
    assert one.says("y >= z => y >= z", {"rule": "suppose", "of": "under"}) == ""
    assert "an implication is no sum" in one.says("y >= 0 => y >= 0")
    by = {"rule": "cases", "on": "y >= z", "else": "y >= z", "of": ["under", "under"]}
    assert "the two cases are not opposites" in one.says("y >= z", by)


@pytest.mark.parametrize(
    ("claim", "by", "why"), [
    ("sum(m, n, f(m + 1) - f(m)) == f(n) - f(0)", {}, ""),
    ("sum(m, n, f(m + 1) - f(m)) == f(n) - f(1)", {}, "not a telescoping sum"),
    ("sum(m, n, f(m + 1) - f(m)) == f(n - 1) - f(0)", {}, "not a telescoping sum"),
    ("sum(m, n, f(m + 1) - 2*f(m)) == f(n) - f(0)", {}, "not a telescoping sum"),
    ("sum(m, eta, f(m + 1) - f(m)) == f(eta) - f(0)", {"count": "eta"}, "is not an integer"),
    ("sum(m, n, h(m + 1) - h(m)) = h(n) - h(0)", {"term": "h(m)"}, ""),
    ("sum(m, n, h(m + 1) - h(m)) = h(n) - h(1)", {"term": "h(m)"}, "not a telescoping sum"),
    ("sum(m, n, h(m + 1) - h(m)) = h(n) - 2*h(0)", {"term": "h(m)"}, "not a telescoping sum"),
])  # fmt: skip
def test_a_telescoping_sum(claim: str, by: Row, why: str) -> None:
    check(INDEX_M, claim, {"rule": "telescope", "index": "m", "count": "n", "term": "f(m)", **by}, why)


# values: what an expression has one of


@pytest.mark.parametrize(("fact", "claim", "sign", "why"), [
    ("definition: y == 1/mu", "y*mu == 1", "domain mu", ""),
    ("definition: y == 1/sigma2", "y*sigma2 == 1", "domain sigma2", "the denominator sigma2 is not shown"),
    ("definition: y == mu/(mu - L)", "y*(mu - L) == mu", "domain mu", "is not shown to differ from 0"),
    ("definition: y == 2*sigma2", "2 == y/sigma2", "domain sigma2", "the denominator sigma2 is not shown"),
    ("definition: y == 2*mu", "2 == y/mu", "domain mu", ""),
])  # fmt: skip
def test_a_quotient_has_a_value_where_its_denominator_is_shown_to_differ_from_0(
    fact: str, claim: str, sign: str, why: str
) -> None:
    check([fact], claim, {"rule": "sum", "put": [["f0", "y"]], "signs": [sign]}, why)


@pytest.mark.parametrize(("of", "sign", "why"),
    [("sigma2", "domain sigma2", ""), ("0 - sigma2", "domain sigma2", "not shown to be at least 0"),
     ("y", "domain L", "not shown to be at least 0"), ("L - mu", "domain 1", "")],
)  # fmt: skip
@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_a_root_has_a_value_where_what_it_is_taken_of_is_shown_to_be_at_least_0(
    of: str, sign: str, why: str, degree: int
) -> None:
    root, by = f"({of})**(1/{degree})", {"rule": "root", "of": of, "degree": degree, "sign": sign}
    for claim in (f"{root} >= 0", f"({root})**{degree} == {of}"):
        check((), claim, by, why)
    for claim in (f"{root} >= {of}", f"{root} <= {of}", f"({root})**2 <= {of}", f"{root} > 0"):
        if (claim, degree) != (f"({root})**2 <= {of}", 2):
            check((), claim, by, why or "the claim is not what a root gives")


def test_a_power_of_what_may_be_negative_has_no_rules() -> None:
    by = {"rule": "power", "base": "0 - L", "exponent": "eta", "sign": "domain L"}
    assert "neither is the base shown to be positive" in bench().says("(0 - L)**eta > 0", by)
    assert bench().says("L**eta > 0", {**by, "base": "L"}) == ""


def test_a_factor_that_may_vanish_is_not_divided_by() -> None:
    for factor, why in (("(mu - L)", "'u' has no plain coefficient"), ("2", "")):
        found = bench(f"algorithm: {factor}*u = {factor}*v").says("u = v", {"rule": "sum", "put": [["f0", "u"]]})
        agrees(found, why)
    by = {"rule": "sum", "equal": [["f0", "1/(mu - L)"]]}
    check(["metric: (mu - L)*f(0) == (mu - L)*f(1)"], "f(0) == f(1)", by, "is not shown to differ from 0")


@pytest.mark.parametrize(
    ("claim", "by", "why"), [
    ("y >= 0", terms((-1, "up")), "a coefficient is not positive"),
    ("y >= -1", terms((1, "low")), "the two sides of its identity differ"),
    ("y > 0", terms((1, "low")), "its terms do not show the claim"),
    ("y == 0", terms((1, "low")), "its terms do not show the claim"),
    ("y != 0", terms((1, "low")), "its terms do not show the claim"),
    ("y*z >= 0", terms((1, "low", "up")), "the two sides of its identity differ"),
    ("1/y >= 0", terms((1, ["low", -1])), "shows no sign for this factor"),
    ("z >= 0", terms((1, {"square": "z"})), "is not at least 0 by its form"),
    ("z**2 >= 0", terms((1, {"square": "z**2"})), ""),
    ("z**3 >= 0", terms((1, {"square": "z**3"})), "is not at least 0 by its form"),
    ("<u, v> >= 0", terms((1, {"square": "<u, v>"})), "is not at least 0 by its form"),
    ("0 - <u, u> >= 0", terms((1, {"square": "0 - <u, u>"})), "is not at least 0 by its form"),
    ("sum(i, z, <h(i), h(i)>) >= 0", terms((1, {"square": "sum(i, z, <h(i), h(i)>)"})), "by its form"),
    ("sum(i, n, <h(i), h(i)>) >= 0", terms((1, {"square": "sum(i, n, <h(i), h(i)>)"}), signs=["n >= 0"]), ""),
    ("sum(i, n - 3, <h(i), h(i)>) >= 0", terms((1, {"square": "sum(i, n - 3, <h(i), h(i)>)"}), signs=["n >= 0"]),
     "by its form"),
    ("y >= 0", {"rule": "absurd", "of": "low"}, "is not false"),
    ("y >= 0", {"rule": "imagination"}, "there is no such rule"),
    ("y >= 0", {"rule": "check"}, "there is no such rule"),
    ("n >= 2", {"rule": "integer", "of": "n > 1"}, "no earlier line"),
    ("eta - 1 >= 0", {"rule": "integer", "of": "domain eta"}, "not that an integer is at least 1"),
    ("y == 0", {"rule": "both", "of": ["low", "low"]}, "do not give the equation"),
    ("min(y, z) <= t", {"rule": "min", "of": ["y", "z"], "low": "t", "each": ["low"]}, "the least of several"),
])  # fmt: skip
def test_a_sum_of_what_is_at_least_0(claim: str, by: Row, why: str) -> None:
    check(("[low] metric: y >= 0", "[up] metric: 0 - y >= 0"), claim, by, why)


def test_a_coefficient_at_another_index_is_another_number() -> None:
    one = bench(*INDEX_M, "[p] metric: f(m) >= 0")
    assert one.says(f"f(m)*{SQUARE} >= 0", terms((1, "p", {"square": SQUARE}))) == ""
    assert "the two sides" in one.says(f"f(m + 1)*{SQUARE} >= 0", terms((1, "p", {"square": SQUARE})))


@pytest.mark.parametrize(("rounds", "delay"), [(0, 3), (3, 0), (1, 1), (2, 3)])
def test_sums_are_added_up_number_by_number(rounds: int, delay: int) -> None:
    """Closed forms, sums of sums and shifted sums, with numbers for their counts, against a loop."""
    language = v.Language({"i": "integer", "j": "integer"})

    def value(text: str) -> Any:
        return v.number_of(language.value(text))

    pairs = list(product(range(rounds), range(delay)))
    assert value(f"sum(i, {rounds}, i**3 - 2)") == sum(i**3 - 2 for i in range(rounds))
    assert value(f"sum(i, {rounds}, sum(j, {delay}, i*j**2 - i + 1/2))") == sum(
        (i * j**2 - i + Fraction(1, 2) for i, j in pairs), Fraction(0)
    )
    names = {"n": "integer"}
    closed = v.Language(names).value("sum(i, n, i**2)")
    at_n = v.put(closed, {v.atom(("x", "n")): v.constant(rounds)})
    assert v.number_of(at_n) == sum(i**2 for i in range(rounds))
