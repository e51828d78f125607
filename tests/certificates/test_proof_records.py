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

import pytest

from boundcheck.certificates.record import skeleton
from boundcheck.proof.discovery import derivation, folder
from boundcheck.verify import boundcheck_verify as v
from tests.certificates.record_mutants import Checked, of_lines, of_statement

RECORDS = sorted(folder().glob("*/*.proof.json"))
OPEN = {p for p in RECORDS if '"rule": "solver"' in p.read_text()}
STATEMENTS = sorted({(p.parent.name, p.name.split(".")[0]) for p in RECORDS})


@cache
def checked(path: Path) -> Checked:
    return Checked(path)


def whole() -> list[Path]:
    """Records without a hole, also none in what they cite."""
    return [p for p in RECORDS if not checked(p).record.holes]


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
    assert [r["id"] for r in rows if not r["valid"]] == [
        "/".join([p.parent.name, *p.name.split(".")[:2]]) for p in RECORDS if p not in whole()
    ]
    assert sum(r["valid"] for r in rows) >= 40
    assert done.returncode == (1 if OPEN else 0)


@pytest.mark.parametrize(("paper", "name"), STATEMENTS)
def test_records_are_about_the_statements_of_the_project(paper, name):
    for path in folder().glob(f"{paper}/{name}.*.proof.json"):
        data = json.loads(path.read_text())
        own = skeleton(derivation(f"{paper}/{name}/{path.name.split('.')[1]}"))
        for part in ("id", "statement", "names", "facts", "steps", "digest"):
            assert data[part] == own[part], part
        assert v.digest(data) == data["digest"]


def test_a_thousand_changes_of_proofs_are_refused_or_prove_the_same():
    draw = random.Random(25)
    every = [(p, change) for p in draw.sample(whole(), 24) for change in of_lines(checked(p).data)]
    survivors = _survivors(draw.sample(every, 1000))
    assert survivors == []


@pytest.mark.slow  # every change of every line of every record
@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name.removesuffix(".proof.json"))
def test_all_changes_of_proofs_are_refused_or_prove_the_same(path):
    if path in whole():
        assert _survivors([(path, change) for change in of_lines(checked(path).data)]) == []


def _survivors(changes) -> list[tuple[str, str, int]]:
    found = []
    for path, (kind, first, lines) in changes:
        record = checked(path)
        if record.accepts(first, lines) and not record.same_claims(lines):
            found.append((path.name, kind, first))
    return found


def test_changes_of_what_a_record_is_about_are_refused():
    draw = random.Random(25)
    every = [(p, change) for p in whole() for change in of_statement(checked(p).data)]
    for path, (kind, data) in draw.sample(every, 600):
        with pytest.raises(v.Invalid):
            v.Record(path, data=data).check()
        # with its digest made anew it is about something else, which the comparison with the project shows
        assert v.digest(data) != checked(path).data["digest"], kind
