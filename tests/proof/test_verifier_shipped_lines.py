"""Lines of shipped records with one member changed, and what the verifier says of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hand_records import checked, line_of

from boundcheck.verify import boundcheck_verify as v

CHUNG, THEOREM, LEMMA_6 = "scgd/lemma_3_2/corrected", "scgd/theorem_3_4/corrected", "async_fl/lemma_6/corrected"
POWER = {"base": "K1", "exponent": "a"}
LIMIT, FALLS = "limit <= b/(a - 2)", {"exponent": "-a", "falls": "domain a"}
TANGENT = "(K1 + 1)**(-a) >= (1 - a/K1)*K1**(-a)"


def says(id: str, rule: str, change: dict[str, Any], claim: str = "", upto: str = "", **has: Any) -> str:
    """Why a shipped line does not follow after a change of its certificate or its claim."""
    line = line_of(id, rule, **has)
    line = {**line, "by": {**line["by"], **change}, "claim": claim or line["claim"]}
    try:
        checked(id, upto).check_line(line)
    except v.Invalid as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("claim", "change", "follows"), [
    ("K1**a > 0", {}, True), ("K1**(a + b) == K1**a*K1**b", {"more": "b"}, True),
    ("K1**(a - 3) == K1**a/K1**3", {"more": "-3"}, True), (TANGENT, FALLS, True),
    ("K1**a > 1", {}, False), ("C**a > 0", {"base": "C"}, False),  # the sign is that of K1
    ("K1**(a + b) == K1**a + K1**b", {"more": "b"}, False), ("K1**(a + b) == K1**a*K1**b", {"more": "a"}, False),
    ("(K1 + 1)**a >= (1 + a/K1)*K1**a", {"falls": "domain a"}, False),  # false for a below 1
    (TANGENT, {"exponent": "-a"}, False), (TANGENT, {**FALLS, "falls": "@1"}, False),
    (TANGENT.replace(">=", "<="), FALLS, False),
])  # fmt: skip
def test_what_a_power_of_a_positive_number_gives(claim: str, change: dict[str, Any], follows: bool) -> None:
    assert (says(CHUNG, "power", change, claim, **POWER) == "") is follows


@pytest.mark.parametrize(("claim", "change"), [
    ("", {"rate": "2 - a"}), ("", {"shift": "m"}), ("", {"factor": "m*C"}), ("", {"signs": ["condition contraction"]}),
    ("", {"value": "(K1 + m)*u(K1 + m)"}), ("", {"of": "below"}), ("limit >= b/(a - 2)", {}),
    ("limit <= b/(a - 1)", {}), ("first <= b/(a - 2)", {"limit": "first"}),  # something is said of it
    ("b <= b/(a - 2)", {"limit": "b"}), ("slack <= b/(a - 2)", {"limit": "slack"}),  # a symbol of the statement
    *(("", {"signs": [name]}) for name in line_of(CHUNG, "limsup")["by"]["signs"]),  # shift and rate are positive
])  # fmt: skip
def test_a_limit_superior_is_a_number_of_its_own(claim: str, change: dict[str, Any]) -> None:
    """And it is below what the line tends to."""
    assert says(CHUNG, "limsup", change, claim or LIMIT, "limsup")


def test_the_record_rests_on_what_the_limit_is() -> None:
    record, line = checked(CHUNG, "limsup"), line_of(CHUNG, "limsup")
    record.data["laws"] = [{"items": "limit + 1"}]
    with pytest.raises(v.Invalid, match="nothing else is said of"):  # a number of a law is no limit
        record.check_line(line)
    record.data["laws"] = []
    record.check_line(line)
    with pytest.raises(v.Invalid, match="nothing else is said of"):  # the limit has its meaning now
        record.check_line({**line, "name": "once more"})
    meaning = "that limit is the limit superior of (K1 + m)**2*u(K1 + m) as m grows"
    assert meaning in record.rests
    assert meaning in checked(THEOREM).rests


@pytest.mark.parametrize("value", ["first/(K1 + m)", "u(K1)", "eta0*u(K1 + m)"])
def test_a_constant_of_a_cited_record_is_no_value_of_the_run(value: str) -> None:
    assert "a value that may be random" in says(THEOREM, "cite", {"images": {"eta": value}})


@pytest.mark.parametrize("change", [
    {}, {"sums": [["n", "rounds"], ["n", "tau"]]},
    {"sums": [["n", "rounds"], ["r", "tau - n"]]},  # as many terms as the other index says
    {"sums": [["n", "rounds + 1"], ["r", "tau"]]}, {"sums": [["n", "tau"], ["r", "rounds"]]},
    {"sums": [["n", "eta_l"], ["r", "tau"]]}, {"signs": ["rounds"]}, {"term": "<b(n - r), b(n - r)>"},
])  # fmt: skip
def test_a_double_sum_in_either_order(change: dict[str, Any]) -> None:
    assert bool(says(LEMMA_6, "exchange", change)) is bool(change)


def test_exchanged_sums_are_equal_number_by_number() -> None:
    language = v.Language({"i": "integer", "j": "integer", "a": "function"})
    for first, second in product(range(4), repeat=2):
        left, right = v.exchanged(language, "a(i, j) + i*j**2", [("i", str(first)), ("j", str(second))])
        total = v.ZERO
        for i, j in product(range(first), range(second)):
            total = v.plus(total, language.value(f"a({i}, {j}) + {i * j**2}"))
        assert v.plus(left, total, -1)[0] == v.plus(right, total, -1)[0] == {}


def test_a_special_case_is_named() -> None:
    assert any("FedShuffle is FedShuffleGen" in text for text in checked("fedshuffle/drift_of_a_round/corrected").rests)


@pytest.mark.parametrize("images", [{}, {"Z": "0", "sg1": "0"}, {"Z": "sg1(n)", "sg1": "Z(n)"}])
def test_what_stands_for_a_quantity_of_a_cited_record_is_named(images: dict[str, str]) -> None:
    """Lemma 4 with 0 in place of a gap says something false of this run, and that it is no gap is not shown."""
    theorem, cited = "async_fl/theorem_1/sharp", "async_fl/lemma_4/corrected"
    own = line_of(theorem, "cite", record=cited)["by"]
    one = checked(theorem)
    z, sg1 = images.get("Z", "Z(n)"), images.get("sg1", "sg1(n)")
    claim = f"-2*D(n) <= 24*L**2*eta_l**2*(K - 1)**2*({z}) + 12*L*eta_l**2*(K - 1)**2*({sg1})*q(n) + 4*L*tau*Qs(n)*q(n)"
    by = {**own, "images": own["images"] | images}
    before = len(one.rests)
    one.check_line({"name": "again", "claim": f"{claim} - 2*Xi(n)", "by": by})
    (named,) = (r for r in one.rests[before:] if r.startswith(f"that -2*D(n) is what {cited} bounds, with "))
    assert all(f"{text} for {name}" in named for name, text in {"Z": z, "sg1": sg1, "q": "q(n)", "Qs": "Qs(n)"}.items())
    assert " for L" not in named  # the same constant with the same meaning


# constants of a cited record that the verifier sets

CONVEX = "fedshuffle/theorem_5_1_convex/corrected"
IMPLIED = [["strongly_convex_samples", ["smooth_samples", "convexity"], {"mu": "0"}, "why"]]
GIVEN = "strongly_convex_samples of fedshuffle/recursion_convex/corrected"


@pytest.mark.parametrize("slip", [
    {"images": {"mu": "1"}}, {"images": {"mu": "-1"}}, {"images": {"mu": "gap_0"}}, {"images": {}},
    {"implied": IMPLIED}, {"hypotheses": []}, {"rest": "0"},
])  # fmt: skip
def test_a_constant_of_a_cited_record_is_set_by_the_verifier(slip: dict[str, Any]) -> None:
    assert says(CONVEX, "cite", slip)


def test_what_gives_an_assumption_is_named() -> None:
    record, line = checked(CONVEX), line_of(CONVEX, "cite")
    assert any(text.startswith(f"that convex_samples give {GIVEN}: ") for text in record.rests)
    record.check_line({**line, "by": {**line["by"], "implied": []}})
    assert f"that the assumption {GIVEN} holds here" in record.rests


def test_nothing_is_put_into_a_derivative_that_it_captures() -> None:
    names = {"f": "function", "t": "number", "y": "number", "u": "number"}
    language = v.Language(names)
    t, y, u = (v.atom(("x", n)) for n in "tyu")
    partial, own = language.value("diff(f(t, y), t)"), language.value("f(t)")
    ((((here, _),), _),) = own[0].items()
    for what in ({y: v.variable(t)}, {y: language.value("t**2")}, {t: v.variable(y)}):
        with pytest.raises(v.Invalid, match="a derivative is not put into"):
            v.put(partial, what)
    with pytest.raises(v.Invalid, match="a derivative is not put into"):
        v.put(language.value("diff(f(t), t)"), {here: v.variable(u)})
    assert v.put(partial, {y: v.variable(u)}) == language.value("diff(f(t, u), t)")
    square = {v.atom(("function", "f")): ([t], language.value("t**2"))}
    assert v.put(language.value("diff(f(t), t)"), square) == language.value("2*t")
