"""The messages about a broken derivation: which fact is missing, what came nearest, where a claim fails."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.discovery import folder
from boundcheck.proof.find.write import write_record
from boundcheck.proof.laws import Order
from boundcheck.proof.methods import Combine
from boundcheck.proof.proof import Proof, functions, ge, le, symbols
from boundcheck.proof.rules import At
from boundcheck.proof.scope import with_scope
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.discovery import statement

LEMMA = statement("scgd/lemma_3_1/corrected")
mu, L, eta, n, b, r, E, dist2_0, dist2_1, s, y, m, K = symbols("mu L eta n b r E dist2_0 dist2_1 s y m K")
u, g, x, v = (vector(name) for name in "ugxv")
f, dist2 = functions("f dist2")
SHORTER = norm2(u - g * s) <= norm2(u)


def proof(*facts: str, **more: Any) -> Proof:
    """Of Lemma 3.1: g is the gradient at u of a function that is convex and L-smooth, and s is a step."""
    p = Proof(LEMMA, dist2_1, **more)
    claims = {"co": ge(L * inner(g, u), norm2(g)), "small": le(s * L, 2)}
    claims["rate"] = ge(inner(g, x), sp.Rational(10, 11) * norm2(x) + norm2(g) / 11)
    claims |= {"far": norm2(u) <= 2 * norm2(g), "each": norm2(vector("g", m)) <= L**2}
    p.known("s", s > 0, "a step")
    for name in facts:
        (p.known(name, claims[name], "") if name == "small" else p.assume(name, "plain_mean", claims[name], ""))
    return p


def one(claim: Any, *uses: Any, facts: tuple[str, ...] = (), **more: Any) -> Proof:
    p = proof(*facts, **more)
    p.conclude(claim, *uses, why="")
    return p


def defined() -> Proof:
    p = proof()
    p.define(eta, 1 / L, "tuned")
    p.conclude(ge(eta, 0), why="")
    return p


def cited() -> Proof:
    p = Proof(statement("scgd/theorem_3_3/corrected"), dist2(K))
    p.known("y >= 0", y >= 0, "a squared distance")
    p.cite("conclusion", None, "lemma_3_1/corrected", y, why="", dist2_0=dist2_0 / 2)
    p.ends_with("conclusion")
    return p


def summed() -> Proof:
    p = proof("each")
    p.index(m, n, "cycles")
    p.sum_over("conclusion", None, "each", m, n + 1, why="")
    p.ends_with("conclusion")
    return p


def at_the_end() -> Proof:
    p = proof()
    p.index(m, n, "cycles")
    p.known("next", f(m) <= f(m + 1), "increasing")
    p.rule("conclusion", At("next", m, n), "next", why="")
    p.ends_with("conclusion")
    return p


LAW = Order("order", "plain_mean", ((vector("h", symbols("a")), vector("w", m)),), (vector("w", m),), n)

# name: the derivation, the message to its author, and where its claim fails, if it does
NEAREST = "the nearest combination is"
COERCIVE = {"facts": ("co", "small")}
BROKEN: dict[str, tuple[Callable[[], Proof], str, Callable[[Any], bool] | None]] = {
    "a missing fact": (lambda: one(SHORTER, "co", "s", facts=("co",)),
                       f"{NEAREST} 2*s/L times 'co'; it leaves (-s*(L*s - 2)/L)*<g, g>",
                       lambda at: at["L"] * at["s"] > 2),
    "a wrong constant": (lambda: one(norm2(x - g / 10) <= sp.Rational(80, 100) * norm2(x), "rate", facts=("rate",)),
                         f"{NEAREST} 1/5 times 'rate'; it leaves (-1/55)*<x, x> + (9/1100)*<g, g>",
                         lambda at: (at["x"] - at["g"] / 10) ** 2 > Fraction(80, 100) * at["x"] ** 2),
    "a missing combination": (lambda: one(SHORTER, {"co": s / L}, "s", "small", **COERCIVE),
                              f"{NEAREST} s/L times 'co'; it leaves (-s*(L*s - 1)/L)*<g, g> + (s)*<g, u>", None),
    "a negative multiplier": (lambda: one(SHORTER, {"co": -s / L}, "s", "small", **COERCIVE),
                              "the factor of 'co' is not shown to be at least 0", None),
    "a false claim": (lambda: one(le(eta * L, eta * mu)), "", lambda at: at["L"] > at["mu"]),
    "a false claim about vectors": (lambda: one(le(norm2(u + v), norm2(u) + norm2(v))),
                                    "no combination of the facts was found; it leaves (-2)*<u, v>",
                                    lambda at: at["u"] * at["v"] > 0),
    "an unknown name": (lambda: one(ge(s * L, 0), "domian L", "s"),
                        "no fact or earlier step has that name; the nearest name is 'domain L'", None),
    "an illegal definition": (defined, "the fact 'eta'", None),
    "a wrong argument of a citation": (cited, "dist2_0 of scgd/lemma_3_1/corrected is the value at the start of", None),
    "a law that the assumption does not declare": (lambda: one(ge(norm2(v), 0), laws=(LAW,)), "the law 'order'", None),
    "a range that is not shown": (summed, "a value of m with m >= 0 and m <= n + 1 - 1 is not shown to be in", None),
    "an index out of range": (at_the_end, "n is not shown to be in the range of m", None),
}  # fmt: skip


def told(make: Callable[[], Proof], place: Path) -> tuple[str, dict[str, Fraction]]:
    """What is said of the last step, and the numbers at which it fails."""
    shutil.copytree(folder() / "scgd", place / "scgd")
    try:
        outcome = write_record(make().done(), place, 2.0)
    except BadInput as error:
        return str(error), {}
    by = next(line["by"] for line in outcome.data["lines"] if line["name"] == "conclusion")
    numbers = by.get("point", {}).get("numbers", {})
    return by.get("why", ""), {n: Fraction(x) for n, x in numbers.items() if isinstance(x, str)}


@pytest.mark.parametrize("name", BROKEN)
def test_what_an_author_is_told(name: str, tmp_path: Path) -> None:
    make, words, fails = BROKEN[name]
    said, at = told(make, tmp_path)
    assert words in said
    assert said.isprintable()
    assert len(said) < 500
    if fails is not None:
        assert fails(at)


def test_with_what_is_missing_it_is_proved(tmp_path: Path) -> None:
    for k, uses in enumerate((("co", "small", "s"), ({"co": 2 * s / L}, "small", "s"))):
        assert told(lambda uses=uses: one(SHORTER, *uses, facts=("co", "small")), tmp_path / str(k)) == ("", {})


# what a step finds by itself

FACTS = (
    Fact("domain n", n >= 1, "domain", ""),
    Fact("domain b", b >= 1, "domain", ""),
    Fact("domain 1", b <= n, "domain", ""),
    Fact("condition small", n <= 5, "condition", ""),
    Fact("index r", sp.And(r >= 0, r <= b - 1), "index", ""),
)


@pytest.mark.parametrize(("claim", "uses", "found"), [
    (n >= 0, ("condition small",), {"domain n"}), (n >= b, (), {"domain n", "domain b", "domain 1"}),
    (r >= 0, (), {"index r", "domain b"}), (s >= 0, (), set()),
])  # fmt: skip
def test_a_step_finds_domains_and_ranges_but_no_condition(claim: Any, uses: Any, found: set[str]) -> None:
    (step,) = with_scope((Step("one", claim, uses, Combine(), ""),), FACTS)
    assert set(step.uses) - {"condition small"} == found
