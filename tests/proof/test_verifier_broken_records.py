"""Records that are broken or false by their facts: one sentence within 2 s, and the others are still verified."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from boundcheck.proof.discovery import folder
from boundcheck.verify import boundcheck_verify as v

RECORDS = sorted(folder().glob("*/*.proof.json"))
LEMMA = json.loads((folder() / "scgd" / "lemma_3_1.corrected.proof.json").read_text())
DEEP = "[" * 100_000 + "]" * 100_000


def about(claim: str, facts: Any = (), lines: Any = (), **more: Any) -> dict[str, Any]:
    """A record about dist2_1 in the setting of Lemma 3.1, with these facts besides its hypotheses."""
    data = copy.deepcopy(LEMMA)
    data["statement"]["claim"] = claim
    scope = [row for row in data["facts"] if row["kind"] in ("domain", "condition")]
    names = {row[0]: row[1] for row in data["statement"]["symbols"]} | {"dist2_1": "number"}
    data |= {"facts": [*scope, *facts], "names": names, "laws": [], "lines": list(lines), "point": None}
    data |= {key: x for key, x in more.items() if key != "names"}
    data["names"] |= more.get("names", {})
    data["digest"] = v.digest(data)
    return data


def fact(name: str, kind: str, claim: str, **more: str) -> dict[str, str]:
    return {"name": name, "kind": kind, "claim": claim, "origin": "notation", "source": "", **more}


def said(tmp_path: Path, data: Any) -> str:
    path = tmp_path / "one.proof.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    begin = process_time()
    row = v.examined(path)
    assert process_time() - begin < 30  # the power of a sum multiplied out would take hours
    assert not row["valid"]
    return str(row["verdict"])


FALSE = "dist2_1 <= -1 - dist2_0"
PLAINLY = {"name": "all", "claim": FALSE, "by": {"rule": "sum", "put": [["it", "dist2_1"]]}}
ABSURD = {"name": "all", "claim": FALSE, "by": {"rule": "absurd", "of": "at"}}
AT = {"name": "at", "claim": "3 == 5", "by": {"rule": "at", "of": "it", "values": {"i": "3"}}}
DRAWN = {"y": "vector", "g": "vector function", "w": "vector", "m": "integer"}
LAW = {"name": "noise", "kind": "draws", "of": "unbiased_gradients", "drawn": [["g(m)", "0"]], "past": ["y"]}


def drawn(*equations: str) -> dict[str, Any]:
    statement = copy.deepcopy(LEMMA["statement"])
    statement["assumptions"].append(["unbiased_gradients", "Stochastic gradients are unbiased."])
    facts = [fact(f"f{k}", "algorithm", e, origin="transcribed") for k, e in enumerate(equations)]
    data = about(FALSE, facts, names=DRAWN, laws=[LAW])
    return about(FALSE, facts, names=DRAWN, laws=[LAW], statement={**statement, "claim": data["statement"]["claim"]})


def test_facts_that_define_the_target_or_an_index_are_refused(tmp_path: Path) -> None:
    target = about(FALSE, [fact("it", "definition", FALSE.replace("<=", "=="))], [PLAINLY])
    assert "the target is no symbol of its own" in said(tmp_path, target)
    index = [fact("it", "definition", "i == 5"), fact("i", "index", "i >= 0", about="i")]
    assert "does not define something new" in said(tmp_path, about(FALSE, index, [AT, ABSURD], names={"i": "integer"}))
    for claim in ("i - i + mu >= 7", "mu >= i - i + 7", "i >= 2*i - i + mu", "2*i >= 7"):
        cancels = about(FALSE, [fact("i", "index", claim, about="i")], [PLAINLY], names={"i": "integer"})
        assert "an index of its own on its left" in said(tmp_path, cancels)


@pytest.mark.parametrize(
    "equations",
    [
        ("y = g(0)",),
        ("0 = y - g(0)",),
        ("y - g(0) = 0",),
        ("g(0) = y",),
        ("2*y = g(0)",),
        ("w = w + y - g(0)",),
        ("w = y", "w = g(0)"),
        ("w = g(0)", "w = y"),
        ("sum(i, mu, w) = g(0)",),
    ],
    ids=str,
)
def test_a_law_is_against_an_equation_however_it_is_turned(tmp_path: Path, equations: tuple[str, ...]) -> None:
    found = said(tmp_path, drawn(*equations))
    assert "at step" not in found
    assert "it has no lines" not in found


def test_a_vector_after_the_draw_may_depend_on_it(tmp_path: Path) -> None:
    assert "it has no lines" in said(tmp_path, drawn("w = y - g(0)"))


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


def line(claim: str) -> dict[str, Any]:
    return about("dist2_1 >= dist2_1", lines=[{"name": "p", "claim": claim, "by": {"rule": "sum"}}])


BROKEN = {
    "infinity": json.dumps(LEMMA).replace('"1"', "Infinity", 1),
    "not a number": json.dumps(LEMMA).replace('"1"', "NaN", 1),
    "a key twice": json.dumps(LEMMA).replace('"format": 2', '"format": 2, "format": 2'),
    "deep lists": DEEP,
    "deep in a field": json.dumps(LEMMA).replace('"laws": []', f'"laws": {DEEP}'),
    "no object": "[]",
    "no JSON": "{",
    "a large file": " " * (v.BYTES + 1),
    "an integer of 10**5 digits": json.dumps(LEMMA).replace('"format": 2', '"format": 2' + "0" * 100_000),
    "power": line("mu**1000000000 >= 0"),
    "root": line("mu**(1/1000000007) >= 0"),
    "tower": line("9**9**9**9 >= 0"),
    "powers of powers": line("((((3**99)**99)**99)**99)**99 >= 0"),
    "7**60 terms": line("(mu + L + n + E + eta + sigma2 + dist2_0)**60 >= 0"),
    "a product of sums": line("*".join(["(mu + L + n + E + eta + sigma2)"] * 40) + " >= 0"),
    "sums in sums": line("sum(a, 64, sum(b, 64, sum(c, 64, sum(d, 64, a*b*c*d*mu)))) >= 0"),
    "10**6 digits": line("1" * 1_000_000 + " >= 0"),
    "2000 digits": line("1" * 2_000 + " >= 0"),
    "brackets": line("(" * 3_000 + "mu" + ")" * 3_000 + " >= 0"),
    "minus signs": line("-" * 9_000 + "mu >= 0"),
    "a long sum": line("+".join(["1"] * 4_900) + " >= 0"),
    "letters": line("µ >= 0"),
    "a coefficient 1e9": about(
        FALSE, lines=[{"name": "p", "claim": FALSE, "by": {"rule": "sum", "terms": [["1e999999999", []]]}}]
    ),
    "no rule": about(FALSE, lines=[{"name": "p", "claim": FALSE, "by": {}}]),
    "a list for a rule": about(FALSE, lines=[{"name": "p", "claim": FALSE, "by": []}]),
    "no claim": about(FALSE, lines=[{"name": "p"}]),
    "a line that is none": about(FALSE, lines=[7]),
    "id": about(FALSE, id="a: valid\n"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_record_is_invalid_in_a_sentence(tmp_path: Path, name: str) -> None:
    found = said(tmp_path, BROKEN[name])
    assert found.startswith("invalid")
    assert len(found) < 450
    assert found.isprintable()


def mutant(value: Any, draw: random.Random) -> Any:
    """The data with one field dropped, or of another type, at random."""
    if isinstance(value, dict | list) and value and draw.random() < 0.9:
        found = copy.copy(value)
        key = draw.choice(list(value)) if isinstance(value, dict) else draw.randrange(len(value))
        if draw.random() < 0.2:
            del found[key]
        else:
            found[key] = mutant(value[key], draw)
        return found
    return draw.choice([None, True, -1, 10**30, "", "0", "mu**99", "1/0", [], {}, [[]], {"a": []}, "#9", "@", "\ud800"])


def test_records_that_are_changed_at_random_raise_nothing(tmp_path: Path) -> None:
    draw = random.Random(32)
    quick = [path for path in RECORDS if '"cite"' not in path.read_text()]
    path = tmp_path / "one.proof.json"
    for _ in range(400):
        data = mutant(json.loads(draw.choice(quick).read_text()), draw)
        if isinstance(data, dict) and draw.random() < 0.8:
            with contextlib.suppress(KeyError):
                data["digest"] = v.digest(data)
        path.write_text(json.dumps(data))
        begin = process_time()
        row = v.examined(path)
        json.dumps(row)
        assert process_time() - begin < 2, row["verdict"]
        assert row["valid"] or row["verdict"].startswith("invalid")


def test_what_a_record_says_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    spoof = "constant\n  claim dist2_1 <= 0\nscgd/theorem_3_3/as_printed_main: valid\x1b[8m\u202e\u05d0\ud800"
    data = about("dist2_1 >= dist2_1", lines=[{"name": "c", "claim": "dist2_1 >= dist2_1", "by": {"rule": "sum"}}])
    data["statement"]["symbols"][0][2] = spoof
    data["digest"] = v.digest(data)
    (tmp_path / "a.json").write_text(json.dumps(data))
    (tmp_path / "b.json").write_text(json.dumps({**data, "lines": [{**data["lines"][0], "name": spoof, "by": {}}]}))
    (tmp_path / "c.json").write_text("{")
    command = [sys.executable, "-I", v.__file__, "a.json", "b.json", "c.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert all(text.isprintable() and text.isascii() for text in lines)
    own = [text for text in lines if not text.startswith("> ")]
    assert [text.split(": ")[0] for text in own] == ["scgd/lemma_3_1/corrected", "b.json", "c.json"]
    assert [text.split()[1].strip(",") for text in own] == ["valid", "invalid", "invalid"]


def test_facts_that_a_record_calls_generated_count_as_transcribed() -> None:
    row = v.examined(folder() / "fedshuffle" / "lemma_b_5.corrected.proof.json")
    assert row["transcribed"] == 2
    assert {"the transcribed metric 'variance'", "the transcribed metric 'spread'"} <= set(row["rests"])
    assert row["said_generated"] == ["the transcribed metric 'variance'"]


def test_the_facts_about_the_run_do_not_add_up_to_the_bound(tmp_path: Path) -> None:
    facts = [fact("it", "metric", "dist2_1 <= -1 - z", origin="transcribed")]
    facts.append(fact("z", "metric", "z == dist2_0", origin="transcribed"))
    by = {"rule": "sum", "terms": [["1", ["it"]]], "equal": [["z", "1"]]}
    found = said(tmp_path, about(FALSE, facts, [{"name": "all", "claim": FALSE, "by": by}], names={"z": "number"}))
    assert "statement itself" in found or "add up to the bound" in found
