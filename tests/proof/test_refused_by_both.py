"""Facts that are not allowed: the checker and the verifier refuse each, by one table."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sympy as sp
from attack_tools import (
    INDEX_M,
    LEMMA,
    PLAIN,
    L,
    attempt,
    definition,
    dist2_0,
    dist2_1,
    eta,
    f,
    g,
    j,
    k,
    m,
    mu,
    n,
    relation,
    s,
    sigma2,
    step,
    t,
    u,
    v,
    y,
    z,
)

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.find.record import skeleton
from boundcheck.proof.find.text import claim_text
from boundcheck.proof.identity import Decide
from boundcheck.proof.language import parts
from boundcheck.proof.step import Fact
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector
from boundcheck.verify import boundcheck_verify

STEP = step("x", relation(sp.Le, dist2_1, LEMMA.bound), (), Decide())


def le(left: Any, right: Any) -> Any:
    return relation(sp.Le, left, right)


def fact(claim: Any, kind: str = "metric", name: str = "it", assumption: str = "") -> Fact:
    return Fact(name, claim, kind, "", assumption)


def named(x: Any, value: Any, name: str = "it") -> Fact:
    return fact(sp.Eq(x, value), "definition", name)


REFUSED: dict[str, tuple[Fact, ...]] = {
    "two facts of one name": (fact(y >= 0), fact(z >= 0)),
    "unknown kind": (fact(y >= 0, "guess"),),
    "no domain of the statement": (fact(eta <= 1, "domain"),),
    "no condition of the statement": (fact(le(eta * L, 1), "condition"),),
    "definition of a symbol of the statement": (named(eta, 1 / L),),
    "definition of an index": (named(m, sp.Integer(5)), INDEX_M),
    "definition after use": (fact(le(norm2(u), z)), named(z, sp.Integer(0))),
    "definition twice": (named(y, mu), named(y, L, "again")),
    "definition by itself": (named(y, y + 1),),
    "definitions in a circle": (named(y, z + 1), named(z, y + 1, "again")),
    "definition by an index": (INDEX_M, named(y, m * L)),
    "definition by an inequality": (fact(le(y, 1), "definition"),),
    "vector by an index that it lacks": (INDEX_M, fact(VectorEquality(vector("h"), g), "definition")),
    "vector on a diagonal": (INDEX_M, fact(VectorEquality(vector("h", m, m), g), "definition")),
    "vector with a factor": (fact(VectorEquality(vector("h") * mu, u), "definition"),),
    "index on no side alone": (fact(sp.Ge(L * s, 0), "range"),),
    "range of a symbol of the statement": (fact(le(eta, mu), "range"),),
    "range of what is defined": (named(s, n * eta), fact(le(s, mu), "range", "r")),
    "range by terms": (fact(le(t, norm2(u)), "range"),),
    "range by a later index": (fact(sp.And(j >= m, j <= 9), "index"), INDEX_M),
    "range twice": (INDEX_M, fact(k >= 0, "index", "k"), fact(m >= 2, "index")),
    "count below a symbol": (fact(sp.Ge(y, mu), "count"),),
    "count from above": (fact(le(y, 3), "count"),),
    "count of a symbol of the statement": (fact(sp.Ge(n, 2), "count"),),
    "count of an index": (INDEX_M, fact(m >= 3, "count")),
    "count in use": (fact(le(norm2(u), y)), fact(y >= 3, "count", "count")),
    "unknown assumption": (fact(inner(u, v) >= 0, "assumption", "it", "convexity"),),
    "restricts the statement": (fact(le(eta * L, 1), "assumption", "it", PLAIN),),
    "restricts an index": (INDEX_M, fact(m >= 3, "assumption", "it", PLAIN)),
    "an implication": (fact(sp.Implies(y >= 0, z >= 0), "assumption", "it", PLAIN),),
    "contains the bound": (fact(le(dist2_1, LEMMA.bound)),),
    "the conclusion itself": (fact(le(dist2_1 - sp.expand(LEMMA.bound), 0), "assumption", "it", PLAIN),),
    "two symbols": (fact(le(y, mu * dist2_0)),),
    "two symbols in a definition": (named(z, mu * dist2_0, "z"), fact(le(y, z))),
    "two symbols in a recursion": (INDEX_M, fact(le(f(m + 1), f(m) + eta * sigma2))),
    "the target is defined": (named(dist2_1, -1 - dist2_0),),
    "the target is an index": (fact(dist2_1 >= 0, "range"),),
    "the target is a count": (fact(dist2_1 >= 1, "count"),),
}


def record_with(facts: tuple[Fact, ...]) -> dict[str, Any]:
    data = json.loads(json.dumps(skeleton(attempt((), [STEP]))))
    for one in facts:
        for place, part in enumerate(parts(one.claim)):
            origin = "notation" if one.kind in ("definition", "index", "range") else "transcribed"
            row = {"name": f"{one.name}.{place}" if place else one.name, "kind": one.kind, "origin": origin}
            more = {"claim": claim_text(part), "source": "", "assumption": one.assumption}
            data["facts"].append({**row, **more, "about": str(getattr(part, "lhs", ""))})
    whole = {str(p.lhs) for one in facts if one.kind in ("index", "count") for p in parts(one.claim)}
    data["names"] |= dict.fromkeys("sytz", "number") | dict.fromkeys("uvh", "vector") | {"f": "function"}
    data["names"] |= {"g": "vector function"} | dict.fromkeys("jkm", "integer") | dict.fromkeys(whole, "integer")
    if any(isinstance(o.claim, VectorEquality) and o.claim.left.terms[0][0].args for o in facts):
        data["names"]["h"] = "vector function"
    data["digest"] = boundcheck_verify.digest(data)
    return data


@pytest.mark.parametrize("name", REFUSED)
def test_the_checker_refuses(name: str) -> None:
    with pytest.raises((BadInput, UnknownName)):
        attempt(REFUSED[name], [STEP])


@pytest.mark.parametrize("name", REFUSED)
def test_the_verifier_refuses(name: str, tmp_path: Any) -> None:
    with pytest.raises(boundcheck_verify.Invalid) as error:
        boundcheck_verify.Record(tmp_path / "x", data=record_with(REFUSED[name])).check()
    assert "it has no lines" not in str(error.value)
    assert "is not declared" not in str(error.value)
    assert "well formed" not in str(error.value)


def test_allowed_facts_are_accepted(tmp_path: Any) -> None:
    facts = (INDEX_M, definition("y", mu), fact(le(norm2(u), 3 * sigma2)), fact(z >= 1, "count", "z"))
    attempt(facts, [STEP])
    with pytest.raises(boundcheck_verify.Invalid, match="it has no lines"):
        boundcheck_verify.Record(tmp_path / "x", data=record_with(facts)).check()
