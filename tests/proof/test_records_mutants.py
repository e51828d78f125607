"""Proof records: the verifier accepts each alone, they are about the project's statements, and no change of one passes.

What is changed in facts, statement or names is refused by the digest; what is changed in the lines must be refused by
the checks themselves, or leave a proof of the same claims.
"""

from __future__ import annotations

import ast
import json
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.derivation import scope_facts
from boundcheck.proof.discovery import derivation, folder
from boundcheck.proof.find.record import skeleton
from boundcheck.proof.language import parts
from boundcheck.proof.records import _not_refuted
from boundcheck.theory.discovery import statement
from boundcheck.verify import boundcheck_verify as v
from tests.proof.record_mutants import Checked, numbers_and_signs, of_law, of_lines, of_statement

RECORDS = sorted(folder().glob("*/*.proof.json"))
REFUTATIONS = {p for p in RECORDS if '"kind": "refutation"' in p.read_text()}
STATEMENTS = sorted({(p.parent.name, p.name.split(".")[0]) for p in RECORDS})


@cache
def checked(path: Path) -> Checked:
    return Checked(path)


def whole() -> list[Path]:
    """The records of proofs."""
    return [p for p in RECORDS if p not in REFUTATIONS]


def test_the_verifier_alone_accepts_what_has_no_hole(tmp_path):
    file = shutil.copy(v.__file__, tmp_path)
    for path in RECORDS:
        shutil.copy(path, tmp_path / f"{path.parent.name}.{path.name}")
    names = sorted(p.name for p in tmp_path.glob("*.proof.json"))
    done = subprocess.run(
        [sys.executable, "-I", str(file), "--json", *names], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(RECORDS)
    assert all(r["valid"] for r in rows)
    assert {r["id"] for r in rows if r["kind"] == "refutation"} == {
        "/".join([p.parent.name, *p.name.split(".")[:2]]) for p in REFUTATIONS
    }
    assert sum(r["kind"] == "proof" for r in rows) >= 137
    assert done.returncode == 0


@pytest.mark.parametrize(("paper", "name"), STATEMENTS)
def test_records_are_about_the_statements_of_the_project(paper, name):
    for path in folder().glob(f"{paper}/{name}.*.proof.json"):
        data = json.loads(path.read_text())
        own = skeleton(derivation(f"{paper}/{name}/{path.name.split('.')[1]}"))
        for part in ("id", "statement", "names", "facts", "laws", "steps", "digest"):
            assert data[part] == own[part], part
        assert v.digest(data) == data["digest"]


def test_a_thousand_changes_of_proofs_are_refused_or_prove_the_same():
    draw = random.Random(25)
    picked = [*draw.sample(whole(), 20), *draw.sample(sorted(REFUTATIONS), 6)]
    every = [(p, change) for p in picked for change in of_lines(checked(p).data)]
    survivors = _survivors(draw.sample(every, 1000))
    assert survivors == []


@pytest.mark.slow  # every change of every line of every record
@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name.removesuffix(".proof.json"))
def test_all_changes_of_proofs_are_refused_or_prove_the_same(path):
    assert _survivors([(path, change) for change in of_lines(checked(path).data)]) == []


def _survivors(changes) -> list[tuple[str, str, int]]:
    found = []
    for path, (kind, first, lines) in changes:
        record = checked(path)
        if record.accepts(first, lines) and not record.same_claims(lines):
            found.append((path.name, kind, first))
    return found


def test_a_refuted_line_that_claims_something_else_is_not_about_the_derivation():
    """Whatever point refutes it: the claim must be that of the step, and use no more."""
    for path in random.Random(25).sample(sorted(REFUTATIONS), 8):
        id, refuted = checked(path).data["id"], v.examined(path)["refuted"]
        assert _not_refuted(id, refuted) == ""
        for name, own in refuted.items():
            for _, claim in list(numbers_and_signs(own["claim"]))[:5]:
                assert _not_refuted(id, {**refuted, name: {**own, "claim": claim}}) == name


def test_changes_of_what_a_record_is_about_are_refused():
    draw = random.Random(25)
    every = [(p, change) for p in whole() for change in of_statement(checked(p).data)]
    for path, (kind, data) in draw.sample(every, 600):
        with pytest.raises(v.Invalid):
            v.Record(path, data=data).check()
        # with its digest made anew it is about something else, which the comparison with the project shows
        assert v.digest(data) != checked(path).data["digest"], kind


# other laws from which the lines follow too: that one is another law is shown by the digest
AS_GOOD = {"known later", "epochs", "no epochs", "another name", "no time"}


def test_a_law_that_is_changed_leaves_a_line_without_its_reason():
    changes: dict[str, list[Any]] = {}
    for path in [p for p in whole() if json.loads(p.read_bytes())["laws"]]:
        for k, law in enumerate(laws := json.loads(path.read_bytes())["laws"]):
            for kind, other in of_law(law):
                changes.setdefault(kind, []).append((path, [*laws[:k], other, *laws[k + 1 :]]))
    seen = set()
    for kind, every in changes.items():
        for path, laws in random.Random(25).sample(every, min(5, len(every))):
            mutant = {**json.loads(path.read_bytes()), "laws": laws}
            mutant["digest"] = v.digest(mutant)
            try:
                v.Record(path, data=mutant).check()
            except v.Invalid:
                seen.add(kind)
            else:
                assert kind in AS_GOOD, (path.name, kind)
    assert seen >= {"known before its draw", "one item more", "fewer items", "drawn independently", "of nothing"}


def test_a_wrong_factor_of_an_order_is_refused():
    path = next(p for p in RECORDS if p.name == "lemma_b_5.corrected.proof.json")
    record = checked(path).record
    entries = [line for line in record.data["lines"] if "factor" in line["by"]]
    assert entries
    for entry in entries:
        by = entry["by"]
        record.expectation(by)
        for wrong in (
            f"2*({by['factor']})",
            f"-({by['factor']})",
            f"{by['factor']} + 1/n",
            "0",
            "k/n",
            "(n - k)/(n*n)",
        ):
            with pytest.raises(v.Invalid):
                record.expectation({**by, "factor": wrong})


def test_an_order_by_enumeration_is_what_the_verifier_computes():
    """All orders of n items, vectors in one dimension: the mean of <X, X> for the sum X of the first k draws."""
    path = next(p for p in RECORDS if p.name == "lemma_b_5.corrected.proof.json")
    record = checked(path).record
    (entry,) = [e for e in record.data["lines"] if e["by"]["rule"] == "mean" and e["by"]["first"] == e["by"]["second"]]
    gap, _ = record.expectation(entry["by"])
    for values in ((3,), (1, 4), (2, -1, 5), (1, 0, 2, 7)):
        for k in range(len(values) + 1):
            numbers = {"n": len(values), "k": k}
            found = v.put(gap, {v.atom(("x", name)): v.constant(x) for name, x in numbers.items()})
            products = {n for m in found[0] for n, _ in m}
            assert v.number_of(v.put(found, {n: v.constant(_product(n, values)) for n in products})) == 0, (values, k)


def _product(n, values):
    """The mean of a product of two vectors of the family u, which are these numbers, or of two draws x."""
    (_, one, (i,)), (_, other, (j,)) = (v.ATOMS[m] for m in v.ATOMS[n][1:])
    first, second = (v.number_of(v.thawed(place)) for place in (i, j))
    assert one == other
    if one == "u":
        return values[first] * values[second]
    orders = list(permutations(values))
    return Fraction(sum(order[first] * order[second] for order in orders), len(orders))


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name.removesuffix(".proof.json"))
def test_the_printed_statement_is_that_of_the_project(path):
    """Hypotheses and claim as the verifier prints them, against the Statement object at random rational points."""
    paper, name = path.parent.name, path.name.split(".")
    own = statement(f"{paper}/{name[0]}/{name[1]}")
    printed = v.shown(checked(path).record)
    assert printed[0] == f"statement {own.id}"
    assert printed[-1] == f"  digest {checked(path).data['digest']}"
    forms = [row.rpartition(": ")[2].removesuffix(")") for row in printed if row.startswith("  where ")]
    forms.append(next(row for row in printed if row.startswith("  that is ")).removeprefix("  that is "))
    ours = [part for fact in scope_facts(own) for part in parts(fact.claim)]
    ours += [sp.Eq(sp.Symbol(s, real=True), formula, evaluate=False) for s, formula in own.choices]
    bound, target = own.bound, derivation(own.id).target
    kinds = {"lower bound": sp.Ge, "upper bound": sp.Le, "limsup": sp.Le}
    ours.append(kinds.get(own.kind.value, sp.Eq)(target, bound, evaluate=False))
    assert len(forms) == len(ours)
    draw, whole_numbers = random.Random(25), {s.name for s in own.symbols if s.integer}
    for form, relation in zip(forms, ours, strict=True):
        written, _, op = form.rpartition(" ")[0].rpartition(" ")
        assert op == {"<=": ">=", "<": ">"}.get(relation.rel_op, relation.rel_op)
        gap = (relation.rhs - relation.lhs) * (1 if relation.rel_op in ("<=", "<") else -1)
        terms = sorted(gap.free_symbols | gap.atoms(AppliedUndef), key=str)
        for _ in range(2):
            place = {t: sp.Rational(draw.randrange(50, 99), draw.randrange(2, 9)) for t in terms}
            place |= {t: sp.Integer(draw.randrange(2, 9)) for t in terms if str(t) in whole_numbers}
            here = complex(sp.N(gap.xreplace(place), 30))
            there = number_of_text(ast.parse(written, mode="eval").body, {str(t): x for t, x in place.items()})
            assert abs(here - complex(sp.N(there, 30))) <= 1e-9 * (1 + abs(here)), (form, relation)


def number_of_text(tree, names):
    """The value of a canonical text: sums, products, powers, roots, and the least of several."""
    if isinstance(tree, ast.Constant):
        return sp.Integer(tree.value)
    if isinstance(tree, ast.UnaryOp):
        return -number_of_text(tree.operand, names)
    if isinstance(tree, ast.Call) and tree.func.id == "min":
        return sp.Min(*(number_of_text(a, names) for a in tree.args))
    if not isinstance(tree, ast.BinOp):
        return names[ast.unparse(tree)]
    one, other = number_of_text(tree.left, names), number_of_text(tree.right, names)
    if isinstance(tree.op, ast.Pow):
        return one**other
    return (
        one / other
        if isinstance(tree.op, ast.Div)
        else {ast.Add: one + other, ast.Sub: one - other}.get(type(tree.op), one * other)
    )
