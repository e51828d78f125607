"""How derivations are found: each carries the statement that it is asked for, and is not built from itself."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof import discovery
from boundcheck.proof.find.write import write_record

HEAD = """
from dataclasses import replace

import sympy as sp

from boundcheck.proof.citations import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.methods import Decide
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected", "as_printed")
end = sp.Symbol("end", real=True)


def prove(statement):
    metric = Fact("metric", sp.Le(end, -1), "metric", "here")
    return Derivation(statement, (metric,), (Step("all", sp.Le(end, 0), ("metric",), Decide(), ""),), "all", end)
"""
CORRECTED, PRINTED = "scgd/theorem_3_4/corrected", "scgd/theorem_3_4/as_printed"
Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes the derivation of `scgd/theorem_3_4`, a limsup whose printed reading is false."""
    monkeypatch.setattr(discovery, "folder", lambda: tmp_path)
    discovery._module.cache_clear()  # pyright: ignore[reportPrivateUsage]
    (tmp_path / "scgd").mkdir()

    def put(text: str, name: str = "theorem_3_4", head: str = HEAD) -> None:
        (tmp_path / "scgd" / f"{name}.py").write_text(head + textwrap.dedent(text), encoding="utf-8")

    yield put
    discovery._module.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_an_altered_statement_does_not_get_the_derivation_of_its_id() -> None:
    found = bc.statement("partial_averaging/one_minus_a/sharp")
    assert bc.derivation(found).statement == found
    altered = replace(found, bound=found.bound / 2)
    with pytest.raises(BadInput, match=f"the statement given as {found.id} is another one, which differs in bound"):
        bc.derivation(altered)


CARRIED = {
    "prove(replace(statement, id='scgd/theorem_3_4/corrected'))": "differs in id;",
    "prove(replace(statement, bound=2 * statement.bound))": "differs in bound;",
    "prove(replace(statement, id='scgd/lemma_3_1/corrected', conditions=()))": "differs in conditions, id;",
    "prove(derivation_of('scgd/theorem_3_4/corrected').statement)": "differs in ",
    "prove(type('S', (), {'__getattr__': lambda self, name: getattr(statement, name)})())": "differs in its type",
    "type('Proved', (Derivation,), {})(*(getattr(prove(statement), f) for f in "
    "('statement', 'facts', 'steps', 'conclusion', 'target')))": "returns Proved instead of a Derivation",
}  # fmt: skip


@pytest.mark.parametrize("other", CARRIED)
def test_a_derivation_of_another_statement_is_refused(write: Write, other: str, tmp_path: Path) -> None:
    """A false statement is not recorded under another name either."""
    write(f"def derivation(statement):\n    return prove(statement) if statement.reading == 'corrected' else {other}\n")
    assert discovery.derivation(CORRECTED).statement.reading == "corrected"
    with pytest.raises(BadInput, match=f"the derivation of {PRINTED} ") as refused:
        discovery.derivation(PRINTED)
    assert CARRIED[other] in str(refused.value)
    assert main(["derive", PRINTED, "--record"]) == 2
    assert not list(tmp_path.rglob("*.json"))


def calling(call: str) -> str:
    return f"def derivation(statement):\n    return {call}\n"


CITED, ENDLESS = f"{CORRECTED} is cited in its own derivation: {CORRECTED} -> ", "of its file calls itself without end."
OTHER = f"'{PRINTED}' if statement.reading == 'corrected' else '{CORRECTED}'"


@pytest.mark.parametrize(("text", "words"), [
    (calling("derivation_of(statement.id)"), f"{CITED}{CORRECTED}."),
    (calling(f"derivation_of({OTHER})"), f"{CITED}{PRINTED} -> {CORRECTED}."),
    (f"PROOF = derivation_of('{CORRECTED}')\n{calling('PROOF')}", CITED),
    (calling("derivation(statement)"), ENDLESS),
    (calling("steps(statement)") + "def steps(s):\n    return derivation(s)\n", ENDLESS),
    (calling("steps(0)") + "def steps(k):\n    return steps(k + 1)\n", ENDLESS),
])  # fmt: skip
def test_a_derivation_is_not_built_from_itself(
    write: Write, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(text)
    for _ in range(2):  # and nothing is left behind
        assert main(["derive", CORRECTED]) == 2
        assert words in capsys.readouterr().err


def test_a_step_that_cites_its_own_statement(write: Write, tmp_path: Path) -> None:
    write("""
    def derivation(statement):
        own = Instance(statement.id, end)
        return Derivation(
            statement, scope_facts(statement), (Step("all", sp.Le(end, 0), (), own, ""),), "all", end
        )
    """)
    assert discovery.citations(CORRECTED) == ()
    found = write_record(discovery.derivation(CORRECTED), tmp_path, 1.0)
    assert found.open["all"] == f"{CORRECTED} is cited in its own proof"


EMPTY = "def derivation(statement):\n    return None\n"
OWN, THEOREM = "scgd/lemma_3_1/corrected", "scgd/theorem_3_3/corrected"


@pytest.mark.parametrize(("text", "id", "message"), [
    ("", OWN, r"has no derivation; one would be the file derivations/scgd/lemma_3_1\.py"),
    ("", "scgd/lema_3_1/corrected", "lemma_3_1"), ("", "scgd/lemma_3_1/corected", "corrected"),
    (f"READINGS = ('sharp',)\n{EMPTY}", OWN, "for the readings sharp"),
    (f"READINGS = ('corrected',)\n{EMPTY}", OWN, "NoneType instead of a Derivation"),
    ("x = 1\n", OWN, "must export READINGS"), (f"READINGS = ['corrected']\n{EMPTY}", OWN, "a tuple of names"),
])  # fmt: skip
def test_what_no_derivation_is_found_for(write: Write, text: str, id: str, message: str) -> None:
    if text:
        write(text, "lemma_3_1", "")
    else:
        assert discovery.derived_readings("scgd", "lemma_3_1") == ()
    with pytest.raises((BadInput, UnknownName), match=message):
        discovery.derivation(id)


def test_readings_that_are_written_out_are_read_and_others_are_found_by_loading(write: Write) -> None:
    write("READINGS = ('corrected',)\nraise RuntimeError('carried out')\n", "theorem_3_3", "")
    assert discovery.derived_readings("scgd", "theorem_3_3") == ("corrected",)
    with pytest.raises(RuntimeError, match="carried out"):
        discovery.derivation(THEOREM)
    write(f"READINGS = tuple(['as_' + 'printed'])\n{EMPTY}", "lemma_3_1", "")
    assert discovery.derived_readings("scgd", "lemma_3_1") == ("as_printed",)


def test_derivations_of_other_packages(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "other_proofs"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "lemma_3_1.py").write_text("READINGS = ('corrected',)\ndef derivation(s):\n    return s\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = SimpleNamespace(name="scgd", value="other_proofs")
    monkeypatch.setattr(discovery, "entry_points", lambda group, name: [point] if name == "scgd" else [])
    assert discovery.derived_readings("scgd", "lemma_3_1") == ("corrected",)
    with pytest.raises(BadInput, match="Statement instead of a Derivation"):
        discovery.derivation(OWN)
    point.value = "proofs_that_are_not_there"
    discovery._module.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(BadInput, match="proofs_that_are_not_there"):
        discovery.derived_readings("scgd", "lemma_3_1")
