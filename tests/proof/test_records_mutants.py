"""Proof records: the verifier accepts each alone, they are about the project's statements, and no change of one passes.

What is changed in facts, statement or names is refused by the digest; what is changed in the lines must be refused by
the checks themselves, or leave a proof of the same claims.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from random_lines import Reader, fraction, tree
from record_mutants import Checked, of_lines, of_statement
from sympy.core.function import AppliedUndef

from boundcheck.proof.derivation import scope_facts
from boundcheck.proof.discovery import derivation, folder
from boundcheck.proof.find.record import skeleton
from boundcheck.proof.language import parts
from boundcheck.theory.discovery import statement
from boundcheck.verify import boundcheck_verify as v

RECORDS = sorted(folder().glob("*/*.proof.json"))
REFUTATIONS = [p for p in RECORDS if '"kind": "refutation"' in p.read_text()]
PROOFS = [p for p in RECORDS if p not in REFUTATIONS]


@cache
def checked(path: Path) -> Checked:
    return Checked(path)


def test_the_verifier_alone_accepts_what_has_no_hole(tmp_path: Path) -> None:
    file = shutil.copy(v.__file__, tmp_path)
    for path in RECORDS:
        shutil.copy(path, tmp_path / f"{path.parent.name}.{path.name}")
    names = sorted(p.name for p in tmp_path.glob("*.proof.json"))
    done = subprocess.run(
        [sys.executable, "-I", str(file), "--json", *names], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(r["valid"] for r in rows)
    refuted = {r["id"] for r in rows if r["kind"] == "refutation"}
    assert refuted == {"/".join([p.parent.name, *p.name.split(".")[:2]]) for p in REFUTATIONS}
    assert [r["kind"] for r in rows].count("proof") == len(PROOFS) >= 137


def survivors(changes: Any) -> list[tuple[str, str, int]]:
    """The changes that leave an accepted record of other claims."""
    every = [(path, checked(path), *change) for path, change in changes]
    return [(path.name, kind, first) for path, record, kind, first, lines in every
            if record.accepts(first, lines) and not record.same_claims(lines)]  # fmt: skip


def test_a_thousand_changes_of_proofs_are_refused_or_prove_the_same() -> None:
    draw = random.Random(25)
    picked = [*draw.sample(PROOFS, 20), *draw.sample(REFUTATIONS, 6)]
    every = [(p, change) for p in picked for change in of_lines(json.loads(p.read_bytes()))]
    assert survivors(draw.sample(every, 1000)) == []


@pytest.mark.slow  # every change of every line of every record
@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name.removesuffix(".proof.json"))
def test_all_changes_of_proofs_are_refused_or_prove_the_same(path: Path) -> None:
    assert survivors((path, change) for change in of_lines(json.loads(path.read_bytes()))) == []


def test_changes_of_what_a_record_is_about_are_refused() -> None:
    draw = random.Random(25)
    for path in draw.sample(PROOFS, 30):
        own = json.loads(path.read_bytes())
        every = list(of_statement(own))
        for kind, data in draw.sample(every, min(10, len(every))):
            with pytest.raises(v.Invalid):
                v.Record(path, data=data).check()
            # with its digest made anew it is about something else, which the comparison with the project shows
            assert v.digest(data) != own["digest"], kind


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name.removesuffix(".proof.json"))
def test_a_record_is_about_the_statement_of_the_project(path: Path) -> None:
    """As data, and as the verifier prints it: hypotheses and claim have the values of the Statement object."""
    data = json.loads(path.read_bytes())
    id = "/".join([path.parent.name, *path.name.split(".")[:2]])
    proof = derivation(id)
    today = skeleton(proof)
    assert {part: data[part] for part in ("id", "statement", "names", "facts", "laws", "steps", "digest")} == {
        part: today[part] for part in ("id", "statement", "names", "facts", "laws", "steps", "digest")
    }
    own, printed = statement(id), v.shown(v.Record(path))
    assert (printed[0], printed[-1]) == (f"statement {id}", f"  digest {data['digest']}")
    forms = [row.rpartition(": ")[2].removesuffix(")") for row in printed if row.startswith("  where ")]
    forms += [row.removeprefix("  that is ") for row in printed if row.startswith("  that is ")]
    ours = [part for fact in scope_facts(own) for part in parts(fact.claim)]
    ours += [sp.Eq(sp.Symbol(s, real=True), formula, evaluate=False) for s, formula in own.choices]
    kinds = {"lower bound": sp.Ge, "upper bound": sp.Le, "limsup": sp.Le}
    ours.append(kinds.get(own.kind.value, sp.Eq)(proof.target, own.bound, evaluate=False))
    draw, integers = random.Random(25), {s.name for s in own.symbols if s.integer}
    for form, relation in zip(forms, ours, strict=True):
        written, _, op = form.rpartition(" ")[0].rpartition(" ")
        assert op == {"<=": ">=", "<": ">"}.get(relation.rel_op, relation.rel_op)
        gap = (relation.rhs - relation.lhs) * (1 if relation.rel_op in ("<=", "<") else -1)
        terms = sorted(gap.free_symbols | gap.atoms(AppliedUndef), key=str)
        place = {t: sp.Rational(draw.randrange(50, 99), draw.randrange(2, 9)) for t in terms}
        place |= {t: sp.Integer(draw.randrange(2, 9)) for t in terms if str(t) in integers}
        here = complex(sp.N(gap.xreplace(place), 30))
        there = complex(sp.N(value_of(written, data["names"], place), 30))
        assert abs(here - there) <= 1e-9 * (1 + abs(here)), (form, relation)


def value_of(written: str, kinds: Any, place: Any) -> Any:
    """The value of a text where symbols and functions have these values."""
    point = {("x", str(t)): x for t, x in place.items() if t.is_Symbol}
    for t in (t for t in place if not t.is_Symbol):
        point["f", type(t).__name__, tuple(fraction(sp.sympify(a).xreplace(place)) for a in t.args)] = place[t]
    return Reader(kinds, point, lambda key, kind: pytest.fail(str(key)), sp.Rational).value(tree(written), {})
