"""Derivations go to JSON and come back equal; nothing in the JSON is taken for code, and all checks are made again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation

SMALL = "fedshuffle/lemma_b_6/sharp"
# sums and induction, citations with a constant set, laws of draws, models at points with a limit, choices of an index
READINGS = (
    "fedshuffle/theorem_5_1_convex/corrected",
    "fedshuffle/lemma_b_5/corrected",
    "classics/gradient_descent_strongly_convex/sharp",
    "scgd/lemma_3_1/corrected",
    SMALL,
)


@pytest.mark.parametrize("id", READINGS)
def test_a_derivation_comes_back_equal(id: str) -> None:
    proof = derivation(id)
    back = Derivation.from_dict(json.loads(json.dumps(proof.to_dict())))
    assert back == proof
    assert (back.statement, back.steps, back.facts) == (proof.statement, proof.steps, proof.facts)


def test_what_comes_back_is_checked_like_any_other() -> None:
    back = Derivation.from_dict(derivation(SMALL).to_dict())
    assert back.examine().status == "PROVED"
    data = derivation(SMALL).to_dict()
    data["steps"][-1]["with"]["claim"]["of"][1] = {"number": "0"}  # the bound becomes 0
    assert Derivation.from_dict(data).examine().status == "REFUTED"


Path = tuple[Any, ...]
NUMBER = {"number": "1"}
SLIPS: list[tuple[Path, Any, str]] = [
    (("schema",), 2, "schema"),
    (("steps",), "steps", "not as written|malformed|JSON form"),
    (("target",), {"is": "os:system", "with": {}}, "no 'os:system'"),
    (("target",), {"is": "sources:Path", "with": {}}, "no 'sources:Path'"),
    (("target",), {"is": "discovery:import_module", "with": {"name": "os"}}, "no 'discovery:import_module'"),
    (("target",), {"is": "..core.places:write_whole", "with": {}}, "the checker has no"),
    (("target",), {"do": "eval", "of": [NUMBER]}, "is no expression"),
    (("target",), {"do": "+", "of": ["__import__('os')"]}, "no expression"),
    (("target",), {"number": "__import__('os')"}, "number"),
    (("target",), {"truth": "maybe"}, "is no expression"),
    (("steps", 0, "with", "by"), {"is": "step:Step", "with": {}}, "JSON form"),
    (("steps", 0, "with", "by"), {"is": "rules.norms:Young", "with": {"unknown": 1}}, "JSON form"),
    (("steps", 0, "with", "by"), NUMBER, "is no method"),
    (("steps", 0, "with", "uses"), ["nothing of this name"], "nothing of this name"),
    (("conclusion",), "nothing of this name", "nothing of this name"),
]


@pytest.mark.parametrize(("path", "value", "said"), SLIPS, ids=[str(k) for k in range(len(SLIPS))])
def test_malformed_data_are_refused_with_a_sentence(path: Path, value: Any, said: str) -> None:
    data = derivation(SMALL).to_dict()
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(BoundcheckError, match=said):
        Derivation.from_dict(data)


def test_a_deep_tree_is_refused() -> None:
    tree: Any = {"number symbol": "x"}
    for _ in range(2000):
        tree = {"do": "+", "of": [tree, NUMBER]}
    with pytest.raises(BadInput, match="deep"):
        Derivation.from_dict({**derivation(SMALL).to_dict(), "target": tree})
    for data in ({}, [], "text", None):
        with pytest.raises(BadInput, match="schema"):
            Derivation.from_dict(data)  # type: ignore[arg-type]


def test_a_method_that_is_not_the_checker_s_is_not_written() -> None:
    from dataclasses import dataclass, replace

    @dataclass(frozen=True)
    class Own:
        label: str = "own"

        def check(self, claim: Any, facts: Any, setting: Any) -> Any:
            raise NotImplementedError

    proof = derivation(SMALL)
    first, *others = proof.steps
    with pytest.raises(BadInput, match="no part of the checker"):
        replace(proof, steps=(replace(first, by=Own()), *others)).to_dict()
