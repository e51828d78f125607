"""Certificates of case splits, integers, roots and least values: true claims get one, their wrong neighbours none.

Every line that is added is checked by the verifier, so a certificate that is found is right; the wrong neighbours show
that none is found by a slip of the verifier.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.writer import Writer
from boundcheck.verify import boundcheck_verify as v


def written(kinds: dict[str, str], *facts: str) -> Writer:
    """An empty record with these names and facts."""
    rows = [
        {"name": f"f{k}", "kind": "metric", "claim": claim, "origin": "transcribed", "source": ""}
        for k, claim in enumerate(facts)
    ]
    statement = {"symbols": [], "hypotheses": [], "assumptions": [], "metric": "", "method": "", "claim": "0 == 0"}
    data = {"id": "a/b/c", "statement": statement, "names": kinds, "facts": rows, "laws": [], "lines": []}
    return Writer(data, Path())


def shown(kinds: dict[str, str], facts: tuple[str, ...], claim: str) -> bool:
    w = written(kinds, *facts)
    try:
        w.prove(claim, [f"f{k}" for k in range(len(facts))], name="claim")
    except NotShown:
        return False
    return w.record.lines["claim"].claim.same(w.language.claim(claim)) and not w.record.holes


NUMBERS = dict.fromkeys("tuwxyz", "number")
WHOLE = {"n": "integer"}
POSITIVE = ("t > 0", "u > 0", "w > 0")
TRUE_AND_FALSE = [
    (WHOLE, ("n >= 1",), "n*(n - 1) <= 2*(n - 1)**2", "n >= 2"),
    (NUMBERS, ("x <= 1", "y <= 1"), "max(x, y) <= 1", "max(x, y, z) <= 1"),
    (NUMBERS, POSITIVE, "w*min(t, u) <= min(w*t, w*u)", "w*min(t, u) >= t"),
    (NUMBERS, ("x >= 0",), "x*3**(1/2) <= 7/4*x", "x*3**(1/2) <= 17/10*x"),
    (NUMBERS, ("t >= 1",), "(4*t*(t - 1) + 1)**(1/2) == 2*t - 1", "(4*t*(t - 1) + 1)**(1/2) == 2*t + 1"),
    (dict.fromkeys("cd", "number"), ("c > 0", "d > 0"), "d*(c/d)**(1/3) <= c**(1/3)*d**(2/3)",
     "d*(c/d)**(1/3) <= c**(1/3)*d**(1/3)"),
    (NUMBERS, ("y >= 0", "z >= 0"), "y*(x - 1)**2 + z*(x - 2)**2 >= 0", "y*(x - 1)**2 - z*(x - 2)**2 >= 0"),
    # what holds for integers is not shown for numbers
    ({"n": "number"}, ("n >= 1",), "n*(2*n - 1) >= n", "n*(n - 1) <= 2*(n - 1)**2"),
]  # fmt: skip


@pytest.mark.parametrize(("kinds", "facts", "true", "false"), TRUE_AND_FALSE, ids=[row[2] for row in TRUE_AND_FALSE])
def test_a_certificate_is_found_for_what_is_true(kinds, facts, true, false):
    assert shown(kinds, facts, true)
    assert not shown(kinds, facts, false)


def test_equals_in_place_of_equals_need_the_equation():
    w = written(NUMBERS | WHOLE, "x == y + 1", "x >= 0")
    by = {"rule": "replace", "of": "f0", "left": "x", "right": "y + 1", "in": "@**(n)"}
    assert w.record.lines[w.add("x**n == (y + 1)**n", by)].claim.op == "=="
    for slip in ({"of": "f1"}, {"right": "y + 2"}, {"left": "z"}, {"in": "@**(n + 1)"}):
        with pytest.raises(v.Invalid):
            w.add("x**n == (y + 1)**n", {**by, **slip})
