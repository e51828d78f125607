"""A derivation carries the statement that it is asked for, and is not built from itself."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import BadInput
from boundcheck.proof import discovery
from boundcheck.proof.find.write import write_record

HEAD = """
from dataclasses import replace

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.methods import Decide
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected", "as_printed")


def prove(statement):
    end = sp.Symbol("end", real=True)
    metric = Fact("metric", sp.Le(end, -1), "metric", "here")
    return Derivation(statement, (metric,), (Step("all", sp.Le(end, 0), ("metric",), Decide(), ""),), "all", end)
"""

Write = Callable[[str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes the derivation of `scgd/theorem_3_4`, a limsup whose printed reading is false."""
    monkeypatch.setattr(discovery, "folder", lambda: tmp_path)
    discovery._module.cache_clear()
    (tmp_path / "scgd").mkdir()

    def put(text: str, name: str = "theorem_3_4") -> None:
        (tmp_path / "scgd" / f"{name}.py").write_text(HEAD + textwrap.dedent(text), encoding="utf-8")

    yield put
    discovery._module.cache_clear()


CARRIED = {
    "replace(statement, id='scgd/theorem_3_4/corrected')": "differs in id;",
    "replace(statement, bound=2 * statement.bound)": "differs in bound;",
    "replace(statement, id='scgd/lemma_3_1/corrected', conditions=())": "differs in conditions, id;",
    "derivation_of('scgd/theorem_3_4/corrected').statement": "differs in ",
    "type('Statement', (), {'__getattr__': lambda self, name: getattr(statement, name)})()": "differs in its type",
}


@pytest.mark.parametrize("other", CARRIED)
def test_a_derivation_of_another_statement_is_refused(write: Write, other: str) -> None:
    write(f"""
    def derivation(statement):
        return prove(statement if statement.reading == "corrected" else {other})
    """)
    assert discovery.derivation("scgd/theorem_3_4/corrected").statement.reading == "corrected"
    with pytest.raises(BadInput, match="the derivation of scgd/theorem_3_4/as_printed carries another") as refused:
        discovery.derivation("scgd/theorem_3_4/as_printed")
    assert CARRIED[other] in str(refused.value)


def test_an_altered_statement_does_not_get_the_derivation_of_its_id() -> None:
    found = bc.statement("partial_averaging/one_minus_a/sharp")
    assert bc.derivation(found).statement is found
    altered = replace(found, bound=found.bound / 2)
    with pytest.raises(BadInput, match=f"the statement given as {found.id} is another one, which differs in bound"):
        bc.derivation(altered)


def test_a_false_statement_is_not_recorded_under_another_name(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("""
    def derivation(statement):
        return prove(replace(derivation_of("scgd/lemma_3_1/corrected").statement, id=statement.id))
    """)
    write("def derivation(statement): return prove(statement)", "lemma_3_1")
    assert main(["derive", "scgd/theorem_3_4/as_printed", "--record"]) == 2
    assert "carries another statement" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.json"))


def test_a_derivation_that_only_looks_like_one(write: Write) -> None:
    write("""
    class Proved(Derivation):
        def check(self, seconds=10.0):
            return None

    def derivation(statement):
        made = prove(statement)
        return Proved(made.statement, made.facts, made.steps, made.conclusion, made.target)
    """)
    with pytest.raises(BadInput, match="returns Proved instead of a Derivation"):
        discovery.derivation("scgd/theorem_3_4/corrected")


ITSELF = {
    "asks for itself": ("derivation_of(statement.id)", "scgd/theorem_3_4/corrected -> scgd/theorem_3_4/corrected."),
    "asks for another that asks for it": (
        "derivation_of('scgd/theorem_3_4/as_printed' if statement.reading == 'corrected' else "
        "'scgd/theorem_3_4/corrected')",
        "scgd/theorem_3_4/corrected -> scgd/theorem_3_4/as_printed -> scgd/theorem_3_4/corrected.",
    ),
}


@pytest.mark.parametrize("how", ITSELF)
def test_a_derivation_is_not_built_from_itself(write: Write, how: str, capsys: pytest.CaptureFixture[str]) -> None:
    call, chain = ITSELF[how]
    write(f"def derivation(statement):\n    return {call}\n")
    said = f"boundcheck: scgd/theorem_3_4/corrected is cited in its own derivation: {chain}\n"
    for _ in range(2):  # and nothing is left behind
        assert main(["derive", "scgd/theorem_3_4/corrected"]) == 2
        assert capsys.readouterr().err == said


def test_a_file_that_asks_for_its_own_derivation_while_it_is_loaded(write: Write) -> None:
    write("PROOF = derivation_of('scgd/theorem_3_4/corrected')\ndef derivation(statement):\n    return PROOF\n")
    with pytest.raises(BadInput, match="is cited in its own derivation"):
        discovery.derivation("scgd/theorem_3_4/corrected")


@pytest.mark.parametrize("text", [
    "def derivation(statement):\n    return derivation(statement)\n",
    "def derivation(statement):\n    return steps(statement)\ndef steps(s):\n    return derivation(s)\n",
    "def derivation(statement):\n    return steps(0)\ndef steps(k):\n    return steps(k + 1)\n",
])  # fmt: skip
def test_a_function_that_calls_itself_without_end(write: Write, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(text)
    assert main(["derive", "scgd/theorem_3_4/corrected"]) == 2
    said = capsys.readouterr().err
    assert "the derivation of scgd/theorem_3_4/corrected cannot be built: the function '" in said
    assert said.endswith("of its file calls itself without end.\n")


def test_a_step_that_cites_its_own_statement(write: Write, tmp_path: Path) -> None:
    write("""
    from boundcheck.proof.citations import Instance


    def derivation(statement):
        end = sp.Symbol("end", real=True)
        own = Instance(statement.id, end)
        return Derivation(
            statement, scope_facts(statement), (Step("all", sp.Le(end, 0), (), own, ""),), "all", end
        )
    """)
    own = "scgd/theorem_3_4/corrected"
    assert discovery.citations(own) == ()
    found = write_record(discovery.derivation(own), tmp_path, 1.0)
    assert found.open["all"] == f"{own} is cited in its own proof"
