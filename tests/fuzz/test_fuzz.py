"""Fuzzing of specifications, witnesses, ids, values and curves.

Whatever is given, the answer is a documented exit code and sentences: no raw error, no exit code 70, and exit code 1
only with a violation.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
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
    written,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boundcheck as bc
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BoundcheckError
from boundcheck.theory.discovery import all_ids, statement
from boundcheck.theory.statement import Kind

TIMES = pytest.mark.parametrize("times", [QUICK, pytest.param(THOROUGH, marks=pytest.mark.slow)])
Property = Callable[[], None]


def fuzz(examples: int, check: Property) -> None:
    """Runs a property on this many examples, the same ones each time."""
    everything = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    with tiny_runs():
        settings(
            max_examples=examples, derandomize=True, database=None, deadline=None, suppress_health_check=everything
        )(check)()


def breaks(verdict: dict[str, Any]) -> bool:
    """Whether a verdict is VIOLATED with a witness whose numbers show it.

    The metric of an upper bound lies above it. Equalities and limits are violated from either side.
    """
    shown = verdict["witness"]
    if verdict["outcome"] != "VIOLATED" or not shown:
        return False
    upper = statement(verdict["statement"]).kind in (Kind.UPPER_BOUND, Kind.LIMSUP)
    return not upper or not {"metric", "bound"} <= set(shown) or _ends(shown["metric"])[1] >= _ends(shown["bound"])[0]


def _ends(value: Any) -> tuple[float, float]:
    both = value if isinstance(value, list) else [value, value]
    return float(both[0]), float(both[-1])


def with_file(name: str, content: str, *arguments: str) -> Any:
    """The answer of a command to a file with this content."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(content, encoding="utf-8")
        return call([*arguments, str(path)])


@TIMES
def test_specifications(times: int) -> None:
    claim = st.one_of(mutated(shipped_claims(), *TOML_ONLY), written(*TOML_ONLY))

    @given(st.lists(claim, min_size=1, max_size=2), st.sampled_from(("compare", "check")))
    def check(claims: list[dict[str, Any]], command: str) -> None:
        answer = with_file("claims.toml", claim_file(claims), command, "--no-store", "--json")
        check_answer(answer)
        if answer.code == 1:
            found = json.loads(answer.out)["claims"]
            if command == "compare":
                violated = [c["verdict"] for c in found if c["verdict"]["outcome"] == "VIOLATED"]
                assert violated
                assert all(map(breaks, violated))
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
            assert breaks(found["verdict"])

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


@cache
def run_once() -> tuple[Any, Curve]:
    """A statement and a curve of it in balls."""
    problem = bc.problem(kind="quadratics", clients=[{"A": 1, "b": 1}, {"A": 2, "b": 0}])
    method = bc.method(kind="gradient_descent", eta="1/4")
    stated = bc.statement("classics/gradient_descent_convex/as_printed")
    return stated, bc.run(method, problem, rounds=[0, 1, 2, 5], metrics=[stated.metric.quantity])


@st.composite
def curves(draw: st.DrawFn) -> Curve | None:
    """Curves of sound shape whose numbers may be anything; None where none can be made of them."""
    stated, made = run_once()
    name, count = stated.metric.quantity, len(made.rounds)
    numbers = st.one_of(st.floats(), st.sampled_from((0.0, -0.0, 1e-320, 1e308, -1.0, 0.25)), st.floats(0, 2))
    values = np.array(draw(st.lists(numbers, min_size=count, max_size=count)))
    how = draw(st.sampled_from(list(Arithmetic)))
    parts: dict[str, Any] = {"values": {name: values}, "arithmetic": how, "low": {}, "high": {}, "exact": {}}
    if how is Arithmetic.SAMPLED:
        rows = np.array(draw(st.lists(st.lists(numbers, min_size=count, max_size=count), min_size=1, max_size=4)))
        with np.errstate(all="ignore"):
            parts |= {"samples": {name: rows}, "values": {name: rows.mean(axis=0)}, "expectation": draw(st.booleans())}
    elif how in (Arithmetic.BALL, Arithmetic.RATIONAL):
        with np.errstate(all="ignore"):
            width = np.abs(np.array(draw(st.lists(numbers, min_size=count, max_size=count))))
            parts |= {"low": {name: values - width}, "high": {name: values + width}}
        if how is Arithmetic.RATIONAL:
            if not np.isfinite(values).all():
                return None
            parts["exact"] = {name: tuple(Fraction(v) for v in values.tolist())}
    more = st.sampled_from(({}, {"constants": {}}, {"start": {}}, {"algorithms": None}, {"algorithms": ("scgd",)}))
    try:
        return replace(made, **parts, **draw(more))
    except BoundcheckError:
        return None


@TIMES
def test_curves(times: int) -> None:
    stated, _ = run_once()

    @given(curves())
    def check(curve: Curve | None) -> None:
        if curve is None:
            return
        try:
            verdict = bc.compare(stated, curve).to_dict()
        except BoundcheckError:
            return
        json.dumps(verdict, allow_nan=False)
        assert verdict["outcome"] != "VIOLATED" or breaks(verdict)

    fuzz(30 * times, check)
