"""Records that are broken: one sentence within 2 s, and the others are still verified."""

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
from hand_records import LEMMA, examined, record, shipped

from boundcheck.proof.discovery import folder
from boundcheck.verify import boundcheck_verify as v

SHIPPED = shipped(LEMMA)
TEXT = json.dumps(SHIPPED)
DEEP = "[" * 100_000 + "]" * 100_000
TRUE, SUM = "dist2_1 >= dist2_1", {"rule": "sum"}


def line(claim: str, by: Any = None) -> dict[str, Any]:
    return record((), [("p", claim, SUM if by is None else by)], claim=TRUE)


BROKEN = {
    "infinity": TEXT.replace('"1"', "Infinity", 1),
    "not a number": TEXT.replace('"1"', "NaN", 1),
    "a key twice": TEXT.replace('"format": 2', '"format": 2, "format": 2'),
    "deep lists": DEEP,
    "deep in a field": TEXT.replace('"laws": []', f'"laws": {DEEP}'),
    "no object": "[]",
    "no JSON": "{",
    "a large file": " " * (v.BYTES + 1),
    "an integer of 10**5 digits": TEXT.replace('"format": 2', '"format": 2' + "0" * 100_000),
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
    "a coefficient 1e9": line(TRUE, {"rule": "sum", "terms": [["1e999999999", []]]}),
    "no rule": line(TRUE, {}),
    "a list for a rule": line(TRUE, []),
    "no claim": {**SHIPPED, "lines": [{"name": "p"}]},
    "a line that is none": {**SHIPPED, "lines": [7]},
    "id": {**SHIPPED, "id": "a: valid\n"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_record_is_invalid_in_a_sentence(tmp_path: Path, name: str) -> None:
    begin = process_time()
    found = examined(BROKEN[name], tmp_path)["verdict"]
    assert process_time() - begin < 30  # the power of a sum multiplied out would take hours
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
    texts = [path.read_text() for path in sorted(folder().glob("*/*.proof.json"))]
    quick = [text for text in texts if '"cite"' not in text and len(text) < 40_000]
    for _ in range(250):
        data = mutant(json.loads(draw.choice(quick)), draw)
        if isinstance(data, dict) and draw.random() < 0.8:
            with contextlib.suppress(KeyError):
                data["digest"] = v.digest(data)
        begin = process_time()
        row = examined(json.dumps(data), tmp_path)
        json.dumps(row)
        assert process_time() - begin < 2, row["verdict"]


def test_what_a_record_says_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    spoof = "constant\n  claim dist2_1 <= 0\nscgd/theorem_3_3/as_printed_main: valid\x1b[8m\u202e\u05d0\ud800"
    data = line(TRUE) | {"id": LEMMA}
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
    assert [text.split(": ")[0] for text in own] == [LEMMA, "b.json", "c.json"]
    assert [text.split()[1].strip(",") for text in own] == ["valid", "invalid", "invalid"]


def test_facts_that_a_record_calls_generated_count_as_transcribed() -> None:
    row = v.examined(folder() / "fedshuffle" / "lemma_b_5.corrected.proof.json")
    assert row["transcribed"] == 2
    assert {"the transcribed metric 'variance'", "the transcribed metric 'spread'"} <= set(row["rests"])
    assert row["said_generated"] == ["the transcribed metric 'variance'"]
