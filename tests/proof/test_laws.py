"""Attempts to prove with the wrong law, with hidden dependence, or with a vector of the past that is drawn."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from hand_records import NO_LINES, Bench, agrees, record, said

from boundcheck.verify import boundcheck_verify as v

F = Fraction
Row = dict[str, Any]


def law(kind: str, of: str, drawn: Any, past: Any = (), **more: Any) -> Row:
    """A law, with its vectors as text: "x(j) < g(i)" is drawn from g(i)."""
    return {"name": kind, "kind": kind, "of": of, "drawn": [d.split(" < ") for d in drawn], "past": [*past], **more}


def replaced(row: Row, **changes: Any) -> Row:
    """The law with other values."""
    return {**row, **changes}


def given(bench: Bench, first: str, second: str, value: str, **more: Any) -> bool:
    """Whether the law of the bench gives this mean of an inner product; raises Invalid where it says nothing."""
    entry = {"law": next(iter(bench.record.laws)), "first": first, "second": second, **more}
    gap, _ = bench.record.expectation(entry)
    wanted = bench.record.value(f"<{first}, {second}> - ({value})")
    return not v.plus(gap, wanted, -1)[0]


def refused(bench: Bench, first: str, second: str, value: str, **more: Any) -> str:
    """Why the verifier does not take this mean; "" where it does."""
    by = {"rule": "mean", "law": next(iter(bench.record.laws)), "first": first, "second": second, **more}
    return bench.says(f"<{first}, {second}> == {value}", by)


# an order of n items

ORDER = law("order", "without_replacement", ["x(j) < g(i)"], ["g(i)", "w"], items="n", epochs=False)
B5: Row = {"about": "fedshuffle/lemma_b_5/corrected", "names": {"variance": "number", "b": "vector function"}}
MEAN, FACTOR = "(sum(i, n, g(i))/n)", "(k*(n - k))/(n*max(1, n - 1))"
FIRST = "sum(j, k, x(j))"


@pytest.mark.parametrize(("first", "second", "why"), [
    ("x(n)", "w", "is not shown to be in its range"),  # there is no draw n, nor -1, nor half a one
    ("x(-1)", "w", "is not shown to be in its range"), ("x(1/2)", "w", "a position is not an integer"),
    ("x(m)", "w", "is not shown to be in its range"),
    ("sum(j, n + 1, x(j))", "w", "is not shown to be in its range"), ("x(0)", "u", "of what is not known before"),
    ("x(0)", "h(0)", "of what is not known before"), ("sum(j, k, x(j + 1))", "w", "a sum over no positions"),
    (FIRST, "x(k - 1)", "how many positions the two have in common is not known"),
    (FIRST, "x(k)", "how many positions the two have in common is not known"),
])  # fmt: skip
def test_what_an_order_does_not_give(first: str, second: str, why: str) -> None:
    """A position beyond the draws, a vector of which nothing is known, a draw that may be among the first or not."""
    bench = Bench("[m] index: m >= 0", laws=[ORDER], **B5)
    count = next((t for t in ("k", "n + 1") if f"sum(j, {t}, x(j))" == first), "1")
    more = {"signs": ["domain n", "domain k", "domain 1", "m"], **({"factor": FACTOR} if "x" in second else {})}
    assert why in refused(bench, first, second, f"{count}*<{MEAN}, {second}>", **more)


@pytest.mark.parametrize(("row", "facts", "why"), [
    # what is declared
    (law("draws", "without_replacement", [f"x(j) < {MEAN}"], ["g(i)"]), (), "is declared by nothing"),
    (replaced(ORDER, of="nowhere"), (), "is declared by nothing"),
    (replaced(ORDER, of="with_replacement"), (), "is declared by nothing"),
    (replaced(ORDER, kind="sample"), (), "not well formed"),
    # the law itself
    (replaced(ORDER, past=["g(i)", "x(j)"]), (), "not well formed"),
    (replaced(ORDER, drawn=[["x(j)", "h(i)"]]), (), "not well formed"),
    (replaced(ORDER, drawn=[["x(j)", "2*g(i)"]]), (), "not well formed"),
    (replaced(ORDER, drawn=[["x(j)", "g(i) + w"]]), (), "not well formed"),
    (replaced(ORDER, drawn=[["x(j)", "h(j, i)"]], past=["h(j, i)"]), (), "not well formed"),
    (replaced(ORDER, drawn=[["w", "g(i)"]], past=["g(i)"]), (), "not well formed"),
    (replaced(ORDER, drawn=[["x(j, j)", "g(i)"]]), (), "is no single vector of a law"),
    (replaced(ORDER, past=["g(i)", "0"]), (), "not well formed"),
    (replaced(ORDER, past=["g(i)", "2*w"]), (), "is no single vector of a law"),
    ({k: x for k, x in ORDER.items() if k != "items"}, (), "not well formed"),
    # facts that make a vector of the past a draw
    (replaced(ORDER, past=["g(i)", "w", "u"]), ("definition: u = x(0) - w",), "against an equation"),
    (replaced(ORDER, past=["g(i)", "w", "u"]), ("algorithm: u = x(0) - w",), "against an equation"),
    (replaced(ORDER, past=["g(i)", "w", "u"]), ("metric: u = h(0)",), "against an equation"),
    (ORDER, ("algorithm: x(j) = u",), "against an equation"),
    (ORDER, ("[j] index: j >= 0", "definition: x(j) = u"), "against an equation"),
    (ORDER, ("metric: sum(j, n, x(j)) = u",), "against an equation"),
    (ORDER, ("metric: u = sum(j, n, x(j))", "metric: sum(j, n, x(j)) = u"), "against an equation"),
    (ORDER, ("metric: u + v = w",), "does not give the one vector on its left"),
    (ORDER, ("metric: u = x(0)", "metric: u = w"), "give the same vector"),
    (ORDER, ("metric: u = v + x(0)", "metric: v = u - w"), "by themselves"),
    (ORDER, ("metric: u = 1/2*u + x(0)",), "does not give the one vector on its left"),
])  # fmt: skip
def test_a_law_is_the_statements_and_not_against_the_facts(row: Row, facts: tuple[str, ...], why: str) -> None:
    assert why in said(record(facts, laws=[row], **B5))


@pytest.mark.parametrize("equations", [
    ("w = x(0)",), ("0 = w - x(0)",), ("w - x(0) = 0",), ("x(0) = w",), ("2*w = x(0)",), ("u = u + w - x(0)",),
    ("u = w", "u = x(0)"), ("u = x(0)", "u = w"), ("sum(i, n, u) = x(0)",),
])  # fmt: skip
def test_a_law_is_against_an_equation_however_it_is_turned(equations: tuple[str, ...]) -> None:
    assert said(record([f"algorithm: {e}" for e in equations], laws=[ORDER], **B5)) not in ("", NO_LINES)


@pytest.mark.parametrize("facts", [(), ("definition: u = x(0) - w",), ("algorithm: u = sum(j, k, x(j))",)])
def test_what_is_known_after_the_draw_may_depend_on_it(facts: tuple[str, ...]) -> None:
    assert said(record(facts, laws=[ORDER], **B5)) == NO_LINES


def test_the_future_is_not_known() -> None:
    """A law that is drawn first may not take what is drawn later for known, nor both each other."""
    later = replaced(ORDER, name="two", drawn=[["h(j)", "b(i)"]], past=["b(i)", "w", "x(j)"])
    assert said(record(laws=[ORDER, later], **B5)) == NO_LINES
    assert "draws what an earlier law draws or knows" in said(
        record(laws=[replaced(ORDER, past=["g(i)", "h(j)"]), later], **B5)
    )
    assert "draws what an earlier law draws or knows" in said(record(laws=[later, ORDER], **B5))
    assert "its name is taken" in said(record(laws=[ORDER, replaced(later, name="order")], **B5))
    assert "draws what an earlier law draws or knows" in said(record(laws=[ORDER, replaced(ORDER, name="again")], **B5))
    entry = {"law": "two", "first": "h(0)", "second": FIRST}
    assert Bench(laws=[ORDER, later], **B5).record.expectation(entry)[1]
    silent = Bench(laws=[ORDER, replaced(later, past=["b(i)", "w"])], **B5)
    with pytest.raises(v.Invalid, match="of what is not known before"):
        silent.record.expectation(entry)


# draws that are made again in every round

NOISE = law("draws", "block_variance", ["g(r, i) < b(r, i)"], ["b(r, i)", "h(r)"], time="r")
ROUNDS = ("[r] index: r >= 1", "[r.1] index: r <= K - 1")
ONES: Row = {"about": "partial_averaging/lemma_1/corrected"}
ONES["names"] = {"b": "vector function", "mean": "number", "r": "integer", "gl": "vector function"}


@pytest.mark.parametrize(("first", "second", "value"), [
    ("g(r, 0)", "h(r)", "<b(r, 0), h(r)>"), ("g(r, 0)", "h(r - 1)", "<b(r, 0), h(r - 1)>"),
    ("g(r, 0)", "g(r, 1)", "<b(r, 0), b(r, 1)>"),
    # what is known after the round depends on its draws
    ("g(r, 0)", "h(r + 1)", "of what is not known before"),
    ("g(r, 0)", "b(r + 1, 0)", "of what is not known before"), ("g(r, 0)", "h(K)", "of what is not known before"),
    ("g(r, 0)", "g(r + 1, 0)", "how draws at two times depend on each other is not known"),
    ("g(r, 0)", "g(r, 0)", "the covariance of two draws is not known"),
    ("g(r, 0)", "g(r, j)", "how many positions the two have in common is not known"),
])  # fmt: skip
def test_a_round_knows_its_past_and_not_its_future(first: str, second: str, value: str) -> None:
    bench = Bench(*ROUNDS, laws=[NOISE], **ONES)
    if value[0] == "<":
        assert refused(bench, first, second, value) == ""
        assert "the claim is not what the law gives" in refused(bench, first, second, f"2*{value}")
    else:
        assert value in refused(bench, first, second, "0")


@pytest.mark.parametrize(("fact", "changes", "why"), [
    ("algorithm: h(r + 1) = h(r) - g(r, 0)", {}, NO_LINES),
    ("algorithm: h(r) = h(r - 1) - g(r, 0)", {}, "against an equation"),
    ("algorithm: h(r + 1) = h(r) - g(r + 1, 0)", {}, "against an equation"),
    ("algorithm: h(r + 1) = h(r) - g(r, 0)", {"time": None}, "against an equation"),
    ("algorithm: w = h(3) - g(2, 0)", {"past": ["b(r, i)", "h(r)", "w"]}, "against an equation"),
    ("", {"drawn": [["g(r, i)", "b(r + 1, i)"]]}, "is no single vector of a law|not well formed"),
    ("", {"time": "i"}, "not well formed"), ("", {"time": "K"}, "not well formed"),
    # a mean is no equation of vectors: g = b would take the variance of g away
    ("assumption/block_variance: g(r, i) = b(r, i)", {}, "against an equation"),
    ("assumption/block_variance: b(r, i) = g(r, i)", {}, "against an equation"),
    ("metric: h(r) = g(r, 0)", {}, "against an equation"),
    ("metric: sum(i, K, g(r, i)) = K*h(r)", {}, "against an equation"),
    ("assumption/block_variance: 2*g(r, i) = b(r, i) + h(r)", {}, "against an equation"),
])  # fmt: skip
def test_the_state_of_a_run_depends_on_what_was_drawn(fact: str, changes: Row, why: str) -> None:
    row = replaced(NOISE, **changes)
    row = {k: x for k, x in row.items() if x is not None}
    index = ("[i] index: i >= 0", *ROUNDS)
    found = said(record((*index, *([fact] if fact else [])), laws=[row], **ONES))
    assert any(part in found for part in why.split("|"))


# epochs

ANEW = replaced(ORDER, of="fedshuffle", past=["g(i)", "w"], items="N", epochs=True)
DRIFT: Row = {"about": "fedshuffle/drift_of_a_round/corrected"}
DRIFT["names"] = {"N": "integer", "e": "integer", "q": "integer", "drift": "number"}
SAMPLES = ("[N] count: N >= 1", "[e] index: e >= 0", "[e.1] index: e <= E - 1", "[q] index: q >= 0",
           "[q.1] index: q <= N - 1", "[m] index: m >= 0", "[m.1] index: m <= E*N - 1")  # fmt: skip
AVERAGE = "(sum(i, N, g(i))/N)"
OWN = f"(sum(i, N, <g(i), g(i)>) - N*<{AVERAGE}, {AVERAGE}>)"
PART = "q*(N - q)/(N*max(1, N - 1))"


def upto(count: str) -> str:
    return f"sum(j, {count}, x(j))"


@pytest.mark.parametrize(("count", "before", "factor", "value"), [
    ("e*N + q", "e", PART, f"(e*N + q)**2*<{AVERAGE}, {AVERAGE}> + {PART}*{OWN}"),
    ("e*N", "e", "0", f"(e*N)**2*<{AVERAGE}, {AVERAGE}>"),
])  # fmt: skip
def test_the_noise_of_whole_epochs_adds_nothing(count: str, before: str, factor: str, value: str) -> None:
    bench, more = Bench(*SAMPLES, laws=[ANEW], **DRIFT), {"before": before, "factor": factor}
    assert given(bench, upto(count), upto(count), value, **more)
    assert not given(bench, upto(count), upto(count), f"{value} + e*{PART}*{OWN}", **more)


@pytest.mark.parametrize(("count", "more", "why"), [
    ("m", {"factor": "m*(N - m)/(N*max(1, N - 1))"}, "a position is not shown to be in its range"),  # m may be > N
    ("e*N + q + 1", {"before": "e", "factor": PART}, "the factor is not that of an order"),
    ("e*N + q", {"before": "e", "factor": "0"}, "the factor is not that of an order"),
    ("e*N + q", {"before": "e - 1", "factor": PART}, "the factor is not that of an order"),
    ("e*N + q", {"before": "e", "factor": PART, "law": {"epochs": False}}, "this order has no epochs"),
])  # fmt: skip
def test_other_positions_of_epochs(count: str, more: Any, why: str) -> None:
    bench = Bench(*SAMPLES, laws=[replaced(ANEW, **more.pop("law", {}))], **DRIFT)
    by = {"first": upto(count), "second": upto(count), "signs": ["N", "m", "e", "q"], **more}
    try:
        gap, _ = bench.record.expectation({"law": "order", **by})
        found = bench.says(f"{v.written(gap)} == 0", {"rule": "mean", "law": "order", **by})
    except v.Invalid as error:
        found = str(error)
    assert why in found


@pytest.mark.parametrize(("claim", "times", "why"), [
    (f"{upto('E*N')} = E*sum(i, N, g(i))", "E", ""), (f"{upto('N')} = sum(i, N, g(i))", "1", ""),
    (f"{upto('E*N')} = sum(i, N, g(i))", "E", "the claim is not what the law gives"),
    (f"{upto('N - 1')} = sum(i, N, g(i))", "1", "no sum of whole epochs"),
    (f"{upto('N + 1')} = sum(i, N, g(i))", "1", "no sum of whole epochs"),
    (f"{upto('e*N + q')} = (e*N + q)*{AVERAGE}", "e", "no sum of whole epochs"),
    (f"x(0) = {AVERAGE}", "1", "no sum of whole epochs"),
    (f"{upto('E*N')} = E*sum(i, N, g(i))", "one order", "this order has no epochs"),
])  # fmt: skip
def test_only_whole_epochs_use_every_sample_once(claim: str, times: str, why: str) -> None:
    law_, times = (ANEW, times) if times != "one order" else (replaced(ANEW, epochs=False), "E")
    bench = Bench(*SAMPLES, laws=[law_], **DRIFT)
    bench.add("E >= 0", "E >= 0", {"rule": "sum", "terms": [["1", ["domain E"]], ["1", []]]})
    by = {"rule": "once", "law": "order", "sum": claim.split(" = ")[0], "times": times, "signs": ["N", "E >= 0"]}
    found = bench.says(claim, by)
    agrees(found, why)


@pytest.mark.parametrize(("left", "right", "change", "why"), [
    ("sum(j, E*N, f(j))", "sum(e, E, sum(q, N, f(e*N + q)))", {}, ""),
    ("sum(j, E*N + 1, f(j))", "sum(e, E, sum(q, N, f(e*N + q)))", {}, "not what the law gives"),
    ("sum(j, E*N, f(j))", "sum(e, E, sum(q, N - 1, f(e*N + q)))", {}, "not what the law gives"),
    ("sum(j, E*N, f(j))", "sum(e, E, sum(q, N, f(e*N + q + 1)))", {}, "not what the law gives"),
    ("sum(j, L*N, f(j))", "sum(e, L, sum(q, N, f(e*N + q)))", {"outer": "L"}, "position is not shown"),
    ("sum(j, E*m, f(j))", "sum(e, E, sum(q, m, f(e*m + q)))", {"inner": "q - 1"}, "position is not shown"),
])  # fmt: skip
def test_a_sum_over_epochs_has_as_many_terms(left: str, right: str, change: Row, why: str) -> None:
    bench = Bench(*SAMPLES, laws=[ANEW], **DRIFT)
    bench.add("E >= 0", "E >= 0", {"rule": "sum", "terms": [["1", ["domain E"]], ["1", []]]})
    bench.add("N >= 0", "N >= 0", {"rule": "sum", "terms": [["1", ["N"]], ["1", []]]})
    by = {"rule": "divide", "index": "j", "outer": "E", "inner": "N", "term": "f(j)", **change}
    found = bench.says(f"{left} == {right}", {**by, "signs": ["E >= 0", "N >= 0", "domain L"]})
    agrees(found, why)


# means over the clients

CLIENTS = law("averages", "averages_uniformly", ["x(t) < h(t)", "g(t) < b(t)"])
DRAWN = law("draws", "block_variance", ["x(t) < 0", "h(t) < 0"])
INDEPENDENT = law("averages", "averages_uniformly", ["x(t) < h(t)"], clients="m", independent=["x(t)"])
TWO_LAWS = [DRAWN, INDEPENDENT]
LEMMA_2: Row = {"about": "partial_averaging/lemma_2/sharp", "names": {"apart": "number", "b": "vector function"}}


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_mean_over_clients_by_enumeration(size: int) -> None:
    """<x, Y> is <X, Y> for means X and Y with any weights; of two families, and of two means, nothing is said."""
    draw, bench = random.Random(size), Bench(laws=[CLIENTS], **LEMMA_2)
    shares = [draw.randint(1, 5) for _ in range(size)]
    families = {name: [(draw.randint(-4, 4), draw.randint(-4, 4)) for _ in range(size)] for name in "xg"}
    means = {"x": "h", "g": "b"}
    values = dict(families)
    for name, mean in means.items():
        weighted = [tuple(F(s * c, sum(shares)) for c in u) for s, u in zip(shares, families[name], strict=True)]
        values[mean] = [tuple(map(sum, zip(*weighted, strict=True)))] * size  # type: ignore[assignment]

    def product(a: str, b: str) -> F:
        pairs = zip(shares, values[a], values[b], strict=True)
        return sum((F(s, sum(shares)) * sum(p * q for p, q in zip(u, w, strict=True)) for s, u, w in pairs), F(0))

    for a, b in itertools.product(values, repeat=2):
        entry = {"law": "averages", "first": f"{a}(t)", "second": f"{b}(t)"}
        if (a in means) == (b in means):
            with pytest.raises(v.Invalid, match="say nothing of this product"):
                bench.record.expectation(entry)
            continue
        one, other = means.get(a, a), means.get(b, b)
        assert given(bench, f"{a}(t)", f"{b}(t)", f"<{one}(t), {other}(t)>")
        assert product(a, b) == product(one, other)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_mean_of_independent_noise_by_enumeration(size: int) -> None:
    """Each client draws one of two opposite vectors of its own length: E|mean|^2 is the mean of E|x|^2, over m."""
    lengths, outcomes = range(1, size + 1), list(itertools.product((-1, 1), repeat=size))
    mean2 = [F(sum(s * n for s, n in zip(signs, lengths, strict=True)), size) ** 2 for signs in outcomes]
    assert sum(mean2, F(0)) / len(outcomes) == F(sum(n**2 for n in lengths), size) / size
    bench = Bench(laws=TWO_LAWS, **LEMMA_2)
    for first in ("h(t)", "x(t)"):
        entry = {"law": "averages", "first": first, "second": "h(t)"}
        gap, needed = bench.record.expectation(entry)
        assert not v.plus(gap, bench.record.value(f"<{first}, h(t)> - <x(t), x(t)>/m"), -1)[0]
        assert needed == [bench.record.value("m - 1")]


@pytest.mark.parametrize(("claim", "why"), [
    ("h(t + 1) = h(t) - 2*b(t)", ""), ("h(t + 1) = h(t) - 3*b(t)", "not the mean of the equation"),
    ("h(t) = h(t - 1) - 2*b(t)", "not the mean of the equation"),
    ("h(t + 1) = x(t) - 2*g(t)", "not the mean of the equation"),
    ("h(t + 1) = h(t) - 2*w", "not the mean of the equation"), ("x(t) = h(t)", "not the mean of the equation"),
])  # fmt: skip
def test_the_mean_of_an_equation(claim: str, why: str) -> None:
    bench = Bench("algorithm: x(t + 1) = x(t) - 2*g(t)", laws=[CLIENTS], **LEMMA_2)
    found = bench.says(claim, {"rule": "average", "law": "averages", "of": "f0"})
    agrees(found, why)


def test_an_equation_with_a_vector_without_a_mean_has_none() -> None:
    bench = Bench("algorithm: x(t) = u", "metric: <u, u> >= 1", laws=[CLIENTS], **LEMMA_2)
    for of, why in (("f0", "no mean over the clients"), ("f1", "no equation of vectors"), ("f2", "no earlier line")):
        assert why in bench.says("h(t) = u", {"rule": "average", "law": "averages", "of": of})


@pytest.mark.parametrize(("laws", "why"), [
    ([CLIENTS], NO_LINES), (TWO_LAWS, NO_LINES), ([INDEPENDENT], "noise that no law draws with mean 0"),
    ([replaced(DRAWN, drawn=[["x(t)", "w"]], past=["w"]), INDEPENDENT], "noise that no law draws with mean 0"),
    (
        [DRAWN, replaced(INDEPENDENT, of="block_variance")],
        "or about other weights",
    ), ([replaced(CLIENTS, of="block_variance")], "is declared by nothing"),
    ([replaced(CLIENTS, of="iid_clients")], "is declared by nothing"),
    ([law("averages", "averages_uniformly", ["x(t) < h(t)", "g(t) < h(t)"])], "not well formed"),
    ([law("averages", "averages_uniformly", ["x(t) < x(t)"])], "not well formed"),
    ([law("averages", "averages_uniformly", ["x(t) < h(t)", "h(t) < b(t)"])], "not well formed"),
    ([law("averages", "averages_uniformly", ["x(t) < 2*h(t)"])], "is no single vector of a law"),
    ([law("averages", "averages_uniformly", ["x(t) < h(t) - b(t)"])], "not well formed"),
    ([law("averages", "averages_uniformly", ["x(t) < 0"])], "not well formed"),
    ([law("averages", "averages_uniformly", ["x(t) < h(t, m)"])], "not well formed"),
    ([replaced(CLIENTS, past=["w"])], "not well formed"), ([replaced(CLIENTS, time="t")], "not well formed"),
    ([DRAWN, {k: x for k, x in INDEPENDENT.items() if k != "clients"}], "not well formed"),
    ([DRAWN, replaced(INDEPENDENT, independent=["g(t)"])], "not well formed"),
])  # fmt: skip
def test_averages_that_make_no_sense(laws: list[Row], why: str) -> None:
    assert why in said(record(laws=laws, **LEMMA_2))
