"""Strategies and helpers of the fuzzers: structural mutations of what is shipped, and commands run in this process."""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
import io
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

from boundcheck.cli import main
from boundcheck.errors import LONGEST_LINE
from boundcheck.methods.build import kind_of
from boundcheck.methods.build import kinds as methods
from boundcheck.methods.kind import NEEDED
from boundcheck.problems.build import module_name
from boundcheck.theory.discovery import all_ids, statement

ROOT = Path(__file__).parent.parent.parent
QUICK, THOROUGH = 1, 10  # times the examples of each fuzzer: 200 in all, and 2000

# Kinds of problems whose constants take milliseconds, so that thousands of them can be tried.
CHEAP = ("coupled_blocks", "feddane_1d", "fedshuffle_36", "huber", "quadratics", "scgd_appendix_b", "scgd_appendix_c")
FEW = 3  # points of a grid
SMALL = 12  # the largest index that is compared


@dataclass(frozen=True)
class Raw:
    """Text that stands in a TOML file as it is, without quotes."""

    text: str


@dataclass(frozen=True)
class Answer:
    """What a command returned and printed."""

    code: int
    out: str
    err: str


def call(arguments: Sequence[str]) -> Answer:
    """Runs a command in this process; an error that nothing foresaw is raised here instead of becoming exit code 70."""

    def unforeseen(error: BaseException, _: object) -> str:
        raise AssertionError(f"boundcheck {' '.join(arguments)[:300]}: {type(error).__name__}") from error

    out, err = io.StringIO(), io.StringIO()
    with (
        patch("boundcheck.cli.own_error", unforeseen),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(list(arguments))
    return Answer(code, out.getvalue(), err.getvalue())


def check_answer(answer: Answer) -> None:
    """What holds of every answer: a documented exit code; an error is sentences of readable length, without a trace."""
    assert answer.code in (0, 1, 2, 3)
    assert "Traceback" not in answer.err
    assert "nested too deeply" not in answer.err  # a RecursionError: no input here is nested that deeply
    assert "not enough memory" not in answer.err
    if answer.code == 2 and answer.out == "":
        assert answer.err.startswith("boundcheck: ")
    for line in answer.err.splitlines():
        assert len(line) <= LONGEST_LINE + 20


@contextlib.contextmanager
def tiny_runs() -> Iterator[None]:
    """Limits rounds, default grids and seeds, so that whatever an input asks for is carried out within milliseconds."""
    with (
        patch("boundcheck.engines.run.MAX_ROUNDS", 500),
        patch("boundcheck.evidence.claim_rounds.LAST_INDEX", SMALL),
        patch("boundcheck.evidence.claim_rounds.LAST_AVERAGE", SMALL),
        patch("boundcheck.evidence.claim_rounds.GRID_POINTS", FEW),
        patch("boundcheck.evidence.claim.FIRST_SEEDS", 2),
        patch.dict("boundcheck.evidence.claim.SEEDS", {"sampled": 4, "neural": 2}),
    ):
        yield


# --- what is shipped ---------------------------------------------------------------------------------------


@cache
def shipped_claims() -> tuple[dict[str, Any], ...]:
    """The claims of `examples/` on problems that take milliseconds, with grids of few points."""
    found: list[dict[str, Any]] = []
    for path in sorted((ROOT / "examples").glob("*.toml")):
        for claim in tomllib.loads(path.read_text(), parse_float=str).get("claim", []):
            if claim.get("problem", {}).get("kind") in CHEAP and claim.get("engine", "exact") == "exact":
                found.append({**claim, "at": {name: _few(grid) for name, grid in claim.get("at", {}).items()}})
    assert len(found) > 50
    return tuple(found)


def _few(grid: Any) -> Any:
    if isinstance(grid, str):
        return f"log:1:{SMALL}:{FEW}"
    return sorted({min(k, SMALL) for k in grid})[:FEW]


@cache
def shipped_witnesses() -> tuple[dict[str, Any], ...]:
    """The witness files of `examples/witnesses/`."""
    found = [json.loads(p.read_text()) for p in sorted((ROOT / "examples" / "witnesses").glob("*.json"))]
    assert len(found) > 10
    return tuple(found)


@cache
def parameters(package: str, kind: str) -> dict[str, bool]:
    """The parameters of a kind of problem or method, and whether each is needed."""
    if package == "methods":
        return {name: default is NEEDED for name, default in kind_of(kind).parameters().items()}
    known = inspect.signature(importlib.import_module(module_name(kind)).build).parameters
    return {name: p.default is inspect.Parameter.empty for name, p in known.items()}


# --- junk --------------------------------------------------------------------------------------------------

TEXTS = (
    *("", " ", "x", "a\nb", "\x1b[31m", "é∞", "None", "true"),
    *("0", "1", "-1", "1/2", "1/0", "0/0", "nan", "inf", "-1/3"),
    *("1e4000", "1e-4000", "1e99999", "9" * 4500, "9" * 3990 + "e3990", "0." + "3" * 3000, "x" * 100_000, "1_0", "٣"),
    *("largest", "0*largest", "2*largest", "-1*largest", "1e4000*largest", "*largest", "tuned", "9/10*tuned"),
    *("log:1:10:3", "lin:0:1:2", "log:0:1:2", "log:1:2", "lin:1:1e4000:3", "::", "__import__('os')", "9**9"),
    *("mean", "sum", "equal", "all", "uniform", "full", "random", "iid", "quadratics", "fedavg", "rational", "ball"),
)
NUMBERS = (-(10**30), -1, 0, 1, 2, 3, 7, 10**9, 10**18, 10**400, True, False)
TOML_ONLY = tuple(
    Raw(text)
    for text in (
        *("0x" + "f" * 4000, "0b" + "1" * 9000, "1e999", "nan", "-inf", "0.1", "1e-400", "-0.0"),
        *("2020-01-01", "07:32:00", "1979-05-27T07:32:00Z"),
    )
)
JSON_ONLY = (None, 0.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"))
TABLES: tuple[Any, ...] = (
    *([], {}, [[]], [{}], [1], [1, 2], [0], ["1/2", "1/2"], [[1]], [[1, 0], [0, 1]], [[1, 2], [3]], [[[1]]]),
    *({"kind": "quadratics"}, {"kind": 5}, {"kind": []}, {"components": 5}, {"components": []}, {"A": 1}),
    *({"A": [[1, 0], [0, 1]], "b": [1, 0]}, {"components": [{"A": 1, "b": 1}, {"A": 2}]}, {"low": 1, "high": 2}),
    *({"kind": "uniform", "size": 1}, {"kind": "uniform", "size": 0}, {"kind": "scgd_appendix_c"}, {"name": "digits"}),
    *([{"A": 1, "b": 1}], [{"A": 1, "b": 1}, {"A": 2, "b": 0}], [[0], [1]], [[0, 1]], ["a", 1, [], {}]),
)


def junk(*more: Any) -> st.SearchStrategy[Any]:
    """Values of every type, most of them wrong wherever they are put."""
    return st.one_of(
        st.sampled_from((*TEXTS, *NUMBERS, *TABLES, *more)).map(copy.deepcopy),  # they are mutated later
        st.integers(-5, 5),
        st.fractions(-3, 3, max_denominator=7).map(str),
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    )


# --- mutations ---------------------------------------------------------------------------------------------

Path_ = tuple[str | int, ...]


def places(tree: Any, above: Path_ = ()) -> Iterator[Path_]:
    """The paths of all members of a tree of tables and lists."""
    members = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for part, member in members:
        yield (*above, part)
        yield from places(member, (*above, part))


def at(tree: Any, path: Path_) -> Any:
    for part in path:
        tree = tree[part]
    return tree


@st.composite
def mutated(draw: st.DrawFn, originals: Sequence[dict[str, Any]], *more: Any, most: int = 3) -> dict[str, Any]:
    """One of the originals with up to `most` changes: members replaced, removed, exchanged, renamed, doubled, added."""
    tree = copy.deepcopy(draw(st.sampled_from(originals)))
    for _ in range(draw(st.sampled_from([0, *[1] * 5, *range(2, most + 1)]))):
        known = list(places(tree))
        if not known:
            return tree
        top = draw(st.sampled_from(list(tree)))  # a part first: most members are entries of matrices
        path = draw(st.sampled_from([p for p in known if p[0] == top]))
        holder, last = at(tree, path[:-1]), path[-1]
        action = draw(st.sampled_from(("replace", "replace", "remove", "exchange", "double", "wrap", "add", "known")))
        if action == "replace":
            holder[last] = draw(junk(*more))
        elif action == "remove":
            del holder[last]
        elif action == "exchange":
            holder[last] = copy.deepcopy(at(tree, draw(st.sampled_from(known))))
        elif action == "double" and isinstance(holder, list):
            holder.insert(int(last), copy.deepcopy(holder[int(last)]))
        elif action == "wrap":
            holder[last] = [holder[last]] if draw(st.booleans()) else {str(last): holder[last]}
        elif action == "add" and isinstance(holder, dict):
            holder[draw(st.sampled_from(("kind", "x", "A", "b", "K", "eta", "components", "")))] = draw(junk(*more))
        elif action == "known":
            _set_known(draw, tree, more)
    return tree


def _set_known(draw: st.DrawFn, tree: dict[str, Any], more: Sequence[Any]) -> None:
    """Gives a parameter that the kind of problem or method has, with whatever value."""
    part, package = draw(st.sampled_from((("problem", "problems"), ("method", "methods"))))
    table = tree.get(part)
    if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
        return
    with contextlib.suppress(ImportError, AttributeError, ValueError):
        name = draw(st.sampled_from(list(parameters(package, table["kind"]))))
        table[name] = draw(junk(*more))


PLAUSIBLE: Mapping[str, Any] = {
    "clients": [{"A": 1, "b": 1}, {"A": 2, "b": 0}], "start": [1], "weights": ["1/2", "1/2"], "times": [1, 2],
    "eta": "1/10", "eta_l": "1/10", "eta_g": 1, "eta0": "1/2", "mu": 1, "ell": 1, "E": 2, "K": 2, "tau": 2, "T": 2,
    "size": 1, "steps": 2, "k": 2, "R": 1, "L": 1,
}  # fmt: skip


@st.composite
def written(draw: st.DrawFn, *more: Any) -> dict[str, Any]:
    """A claim from scratch: any statement, a kind of problem and of method, and parameters that these have."""
    claim: dict[str, Any] = {"statement": draw(st.sampled_from(all_ids()))}
    for part, package, kinds in (("problem", "problems", CHEAP), ("method", "methods", methods())):
        kind = draw(st.sampled_from(kinds))
        claim[part] = {"kind": kind}
        for name, needed in parameters(package, kind).items():
            which = draw(st.integers(0, 12))
            if which == 0:
                claim[part][name] = draw(junk(*more))
            elif (needed and which > 1) or (name in PLAUSIBLE and which < 3):
                claim[part][name] = copy.deepcopy(PLAUSIBLE.get(name, 1))
    index = statement(claim["statement"]).metric.index
    if index is not None:
        claim["at"] = {index: [1, 2]}
    for name in ("constants", "arithmetic", "engine", "level", "tightness", "rate", "name", "at"):
        if draw(st.integers(0, 40)) == 0:
            claim[name] = draw(junk(*more))
    claim["expect"] = draw(st.sampled_from(("HOLDS", "VIOLATED", "OUT_OF_SCOPE")))
    return claim


# --- TOML --------------------------------------------------------------------------------------------------


def toml(value: Any) -> str:
    """A value as it stands in a TOML file, tables inline."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{toml(str(k))} = {toml(v)}' for k, v in value.items())} }}"
    if isinstance(value, int) and value.bit_length() > 60:
        return hex(value)
    return str(value)


def claim_file(tables: Sequence[dict[str, Any]]) -> str:
    """A specification file with these claims."""
    return "\n".join("[[claim]]\n" + "".join(f"{toml(k)} = {toml(v)}\n" for k, v in t.items()) for t in tables)
