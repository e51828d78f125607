"""Fuzzing of specifications, witnesses, ids, values and curves.

Whatever is given, the answer is a documented exit code and sentences: no raw error, no exit code 70, and exit code 1
only with a violation.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fuzz_tools import (
    JSON_ONLY,
    NUMBERS,
    QUICK,
    TEXTS,
    THOROUGH,
    TOML_ONLY,
    call,
    check_answer,
    claim_file,
    mutated,
    shipped_claims,
    shipped_witnesses,
    tiny_runs,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boundcheck.theory.discovery import all_ids

TIMES = pytest.mark.parametrize("times", [QUICK, pytest.param(THOROUGH, marks=pytest.mark.slow)])
Property = Callable[[], None]


def fuzz(examples: int, check: Property) -> None:
    """Runs a property on so many examples, the same ones each time."""
    everything = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    with tiny_runs():
        settings(
            max_examples=examples, derandomize=True, database=None, deadline=None, suppress_health_check=everything
        )(check)()


def with_file(name: str, content: str, *arguments: str) -> Any:
    """The answer of a command to a file with this content."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(content, encoding="utf-8")
        return call([*arguments, str(path)])


@TIMES
def test_specifications(times: int) -> None:
    @given(
        st.lists(mutated(shipped_claims(), *TOML_ONLY), min_size=1, max_size=2), st.sampled_from(("compare", "check"))
    )
    def check(claims: list[dict[str, Any]], command: str) -> None:
        answer = with_file("claims.toml", claim_file(claims), command, "--no-store", "--json")
        check_answer(answer)
        if answer.code == 1:
            found = json.loads(answer.out)["claims"]
            if command == "compare":
                violated = [c["verdict"] for c in found if c["verdict"]["outcome"] == "VIOLATED"]
                assert violated
                assert all(v["witness"] for v in violated)
            else:
                assert any(c["expectation"]["failures"] for c in found)

    fuzz(80 * times, check)


@TIMES
def test_witnesses(times: int) -> None:
    @given(mutated(shipped_witnesses(), *JSON_ONLY))
    def check(witness: dict[str, Any]) -> None:
        answer = with_file("witness.json", json.dumps(witness), "replay", "--json")
        check_answer(answer)
        if answer.code == 1:
            found = json.loads(answer.out)
            assert found["verdict"]["outcome"] == "VIOLATED"
            assert found["verdict"]["witness"]

    fuzz(40 * times, check)


def ids() -> st.SearchStrategy[str]:
    """Ids that exist, parts of them, and anything else."""
    return st.one_of(
        st.sampled_from(all_ids()),
        st.sampled_from(all_ids()).map(lambda i: i.rpartition("/")[0]),
        st.sampled_from(all_ids()).flatmap(
            lambda i: st.sampled_from((i[:-1], i + "/", i.upper(), i.partition("/")[0]))
        ),
        st.sampled_from(("", "/", "//", "scgd//x", "../scgd", "x" * 100_000, "scgd/_shared/corrected")),
        st.text(st.characters(exclude_characters="\0"), max_size=12),
    )


@st.composite
def values_of(draw: st.DrawFn) -> list[str]:
    """A command on a statement with values for most of its symbols."""
    from boundcheck.errors import BoundcheckError
    from boundcheck.theory.discovery import statement

    id = draw(ids())
    command = draw(st.sampled_from(("evaluate", "scope", "show")))
    arguments = [command, "--json"] if draw(st.booleans()) else [command]
    if command == "show":
        return [*arguments, "--", id]
    try:
        names = [s.name for s in statement(id).symbols]
    except BoundcheckError:
        names = ["eta", "L"]
    ordinary = st.sampled_from(("1", "2", "1/2", "1/100", "3", "10", "1e-3", "0"))
    odd = st.sampled_from((*TEXTS, *(str(n) for n in NUMBERS)))
    for name in names:
        which = draw(st.integers(0, 30))
        if which == 0:
            continue
        if which == 1 and command == "evaluate":
            arguments += [
                "--sweep",
                f"{name}={draw(st.sampled_from(('1:10:3', '1:10:3:log', '1,2', '1:2', ':', '0:1:2:x')))}",
            ]
            continue
        if which == 2:
            name = draw(st.sampled_from((name.upper(), name + "x", "", "=", "--")))
        arguments += ["--set", f"{name}={draw(odd if which == 3 else ordinary)}"]
    return [*arguments, "--", id]


@TIMES
def test_ids_and_values(times: int) -> None:
    @given(values_of())
    def check(arguments: list[str]) -> None:
        answer = call(arguments)
        check_answer(answer)
        assert answer.code != 1

    fuzz(50 * times, check)
