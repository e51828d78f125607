"""`check` takes a file, a table or objects; what a claim is made of is built once."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.core import toml_lines
from boundcheck.errors import BadInput, SpecError
from boundcheck.evidence import claim_result, open_step_sizes, resolve
from boundcheck.evidence.check import check
from boundcheck.evidence.claim import Claim
from boundcheck.evidence.spec import load_claims
from boundcheck.problems import _own_data
from boundcheck.verdict import Outcome

STATEMENT = "scgd/theorem_3_3/corrected"
PROBLEM = {"kind": "scgd_appendix_c"}
METHOD = {"kind": "scgd", "E": 2, "eta": "1e-5"}
TEXT = f"""[[claim]]
statement = "{STATEMENT}"
problem = {{ kind = "scgd_appendix_c" }}
method = {{ kind = "scgd", E = 2, eta = "1e-5" }}
at = {{ K = [10, 100000] }}
expect = "HOLDS"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    path = tmp_path / "claims.toml"
    path.write_text(TEXT)
    return path


def test_every_form_gives_the_same_verdict(file: Path) -> None:
    table: dict[str, Any] = {"statement": STATEMENT, "problem": PROBLEM, "method": METHOD, "at": {"K": [10, 100000]}}
    asked: dict[str, Any] = {"at": {"K": [10, 100000]}, "expect": "HOLDS"}
    found = [
        check(file),
        check({**table, "expect": "HOLDS"}),
        check(Claim(STATEMENT, PROBLEM, METHOD, at={"K": [10, 100000]}, expect=Outcome.HOLDS)),
        check(STATEMENT, PROBLEM, METHOD, **asked),
        check(bc.statement(STATEMENT), bc.problem(PROBLEM), METHOD, **asked),
    ]
    assert len({(r.verdict.outcome, r.verdict.reason, r.bound) for results in found for r in results}) == 1
    assert all(len(results) == 1 and results.met for results in found)
    assert "HOLDS" in found[0].to_frame().to_string()
    assert found[0].bibtex().count("@") == 1


def test_a_claim_of_a_file_travels_without_what_was_built(file: Path) -> None:
    (claim,) = load_claims(file)
    assert claim.prepared is not None
    assert claim.claimed.id == STATEMENT
    sent = pickle.loads(pickle.dumps(claim))
    assert sent == claim
    assert sent.prepared is None
    assert "claimed" not in vars(sent)


def test_what_does_not_fit_a_lemma_of_rounds_is_found_before_the_run(file: Path) -> None:
    """Lemma 2 compares quantities of a run in fractions."""
    lemma = "async_fl/lemma_2/corrected"
    file.write_text(TEXT.replace(STATEMENT, lemma) + 'engine = "sampled"\n')
    with pytest.raises(SpecError, match=r"7: async_fl/lemma_2.*compares quantities of a run with each other"):
        load_claims(file)


def test_results_of_a_file_are_a_table(file: Path) -> None:
    file.write_text(TEXT + TEXT.replace("HOLDS", "VIOLATED"))
    shares: list[float] = []
    found = check(file, store=file.parent / "runs", on_progress=shares.append)
    assert [r.verdict.outcome for r in found] == [Outcome.HOLDS] * 2
    assert not found.met
    frame = found.to_frame()
    assert list(frame["outcome"]) == ["HOLDS", "HOLDS"]
    assert "expected VIOLATED, got HOLDS" in frame["missed"][1]
    assert shares == sorted(shares)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((STATEMENT, PROBLEM, METHOD), {"expekt": "HOLDS"}, "the key 'expekt' is unknown; did you mean 'expect'"),
        ((STATEMENT, PROBLEM, {**METHOD, "E": 0}), {}, "E = 0"),
        ((STATEMENT, PROBLEM, 3), {}, "method = 3 is not allowed"),
        ((STATEMENT, PROBLEM), {}, "the method must be a specification"),
        (({"statement": STATEMENT},), {"at": {}}, "at belong to a statement with a problem and a method"),
        ((3, PROBLEM, METHOD), {}, "what = 3 is not allowed"),
    ],
)
def test_bad_input(arguments: tuple[Any, ...], options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        check(*arguments, **options)


def test_a_file_with_a_mistake_runs_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(TEXT + TEXT.replace("E = 2", "E = 0"))
    monkeypatch.setattr("boundcheck.evidence.check.run_claim", lambda *_: pytest.fail("a claim was run"))
    with pytest.raises(SpecError) as caught:
        check(file)
    assert [line for line, _ in caught.value.problems] == [10]


@pytest.mark.parametrize(("eta", "methods"), [("1e-5", 1), ("0.9*largest", 2)])
def test_what_a_claim_is_made_of_is_built_once(
    file: Path, monkeypatch: pytest.MonkeyPatch, eta: str, methods: int
) -> None:
    """A size that the statement gives is found with a method that has 1 in its place."""
    file.write_text(TEXT.replace("1e-5", eta))
    calls: Counter[str] = Counter()

    def counted(module: Any, name: str) -> None:
        real = getattr(module, name)

        def call(*arguments: Any, **options: Any) -> Any:
            calls[name] += 1
            return real(*arguments, **options)

        monkeypatch.setattr(module, name, call)

    counted(resolve, "build_problem")
    counted(open_step_sizes, "build_method")
    counted(claim_result, "statement")
    counted(toml_lines, "parse_toml")
    counted(_own_data, "load_toml")
    assert main(["check", str(file)]) == 0
    assert calls == {"build_problem": 1, "build_method": methods, "statement": 1, "parse_toml": 1, "load_toml": 1}
