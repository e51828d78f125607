"""The language of derivations: what each word makes, what it finds, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.methods import Combine, Decide, Identity, Supposing
from boundcheck.proof.proof import Proof, eq, functions, ge, le, symbols
from boundcheck.proof.rules import Induction
from boundcheck.proof.vectors import norm2, vector
from boundcheck.theory.discovery import statement

mu, L, eta, n, E, dist2_1, s, c, k = symbols("mu L eta n E dist2_1 s c k")
u, v = vector("u"), vector("v")


def proof() -> Proof:
    """Of Lemma 3.1, whose step condition bounds n E eta by mu and L."""
    p = Proof(statement("scgd/lemma_3_1/corrected"), dist2_1)
    p.define(s, n * E * eta, "total step")
    p.known("positive", c >= 0, "a size")
    return p


def step(p: Proof, name: str) -> Any:
    """The step of this name."""
    return p._steps[name]  # pyright: ignore[reportPrivateUsage]


def test_relations_between_numbers_find_the_condition_and_vectors_do_not() -> None:
    p = proof()
    p.step("all symbols", le(s, mu / L**2), "s", why="")
    p.step("fewer symbols", eta * n <= 1, why="")
    p.step("another symbol", c * eta <= 1, why="")
    p.step("another step", eta * n <= 2, "fewer symbols", why="")
    p.step("a vector", norm2(u) * L <= norm2(u) * mu, why="")
    uses = {"all symbols": ("s", "condition step size"), "fewer symbols": ("condition step size",)}
    uses |= {"another symbol": (), "another step": ("fewer symbols",), "a vector": ()}
    assert {name: step(p, name).uses for name in uses} == uses


def test_a_condition_that_is_only_used_where_it_is_named_is_not_found() -> None:
    p = Proof(statement("scgd/lemma_3_1/corrected"), dist2_1, named=("condition step size",))
    p.define(s, n * E * eta, "total step")
    p.step("silent", le(s, mu / L**2), "s", why="")
    p.step("named", le(s, 2 * mu / L**2), "s", "condition step size", why="")
    assert step(p, "silent").uses == ("s",)
    assert step(p, "named").uses == ("s", "condition step size")


def test_the_form_of_a_claim_says_how_the_finder_begins() -> None:
    p = proof()
    p.step("number", c * L >= 0, "positive", why="")
    p.step("equation", eq(s, n * eta * E), "s", why="")
    p.step("vectors", eq(u, v), why="")
    p.step("squares", norm2(u) <= norm2(v), "vectors", why="")
    p.step("factors", c <= 2 * c, {"positive": 1}, "number", why="")
    p.step("roots", sp.sqrt(norm2(u)) <= sp.sqrt(norm2(v)), "squares", why="")  # norms are numbers under a root
    p.known("both", sp.And(c >= 0, c <= 1), "a share")
    p.step("part", 2 * c <= 2, {"both.1": 2}, why="")
    kinds = {"number": Decide, "equation": Identity, "vectors": Identity, "squares": Combine, "factors": Combine}
    assert {name: type(step(p, name).by) for name in (*kinds, "roots")} == {**kinds, "roots": Decide}
    for name, factors, uses in (
        ("factors", {"positive": 1}, ("positive", "number")),
        ("part", {"both.1": 2}, ("both",)),
    ):
        assert (step(p, name).by.multipliers, step(p, name).uses) == (factors, uses)


def test_a_square_of_a_sum_is_the_inequality_of_jensen() -> None:
    p = proof()
    p.square_of_sum("two", u, v, why="")
    p.square_of_sum("weighted", u, v, weights=(sp.Rational(1, 3), sp.Rational(2, 3)), why="")
    for name, first, second in (("two", 2, 2), ("weighted", 3, sp.Rational(3, 2))):
        claim = step(p, name).claim
        assert sp.expand(claim.lhs - norm2(u + v)) == 0
        assert sp.expand(claim.rhs - first * norm2(u) - second * norm2(v)) == 0


def test_an_induction_writes_its_two_cases() -> None:
    p, x = proof(), functions("x")
    p.index(k, None, "steps")
    p.known("start", ge(x(0), 0), "a size")
    p.induct("all", lambda k: ge(x(k), 0), k, n, base="start", step={"hypothesis": 1}, why="")
    assert step(p, "base case").claim == ge(x(0), 0)
    assert step(p, "step case").claim == sp.Implies(ge(x(k), 0), ge(x(k + 1), 0))
    assert isinstance(step(p, "step case").by, Supposing)
    assert step(p, "all").by == Induction("base case", "step case", k, n)
    assert step(p, "all").claim == ge(x(n), 0)


def said(*words: Any) -> Callable[[Proof], None]:
    """Says words of a proof, each a method and what it is given."""

    def wrong(p: Proof) -> None:
        for method, *given in words:
            getattr(p, method)(*given, **({"why": ""} if method in ("step", "conclude") else {}))

    return wrong


@pytest.mark.parametrize(("wrong", "sentence"), [
    (said(("step", "one", c >= 0, "positiv")),
     "uses 'positiv' in step 'one', and no fact or earlier step has that name; the nearest name is 'posi"),
    (said(("known", "both", sp.And(c >= 0, c <= 1), "a share"), ("step", "one", c >= 0, {"both.2": 1})),
     "uses 'both.2' in step 'one', and no fact or earlier step has that name; the nearest name is 'both'"),
    (said(("known", "s", s >= 0, "a size")), "has two facts or steps named 's'"),
    (said(("conclude", c >= 0, "positive"), ("ends_with", "positive")),
     "has two conclusions, 'conclusion' and 'positive'"),
    (lambda p: p.done(), "has no conclusion; write its last step with `conclude`"),
    (lambda p: p.condition("speed"), "has no single condition 'speed'; its conditions are step size"),
])  # fmt: skip
def test_a_wrong_word_is_refused_with_a_sentence(wrong: Callable[[Proof], Any], sentence: str) -> None:
    with pytest.raises(BadInput) as found:
        wrong(proof())
    assert str(found.value).startswith(f"the proof of scgd/lemma_3_1/corrected {sentence}")
