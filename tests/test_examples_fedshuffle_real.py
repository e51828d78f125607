"""The shipped claims about FedShuffle on real data: met in sampled runs, and each notices a named mutation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claim_mutations import Claims, HalvedStep, Mutations, Spec, with_schedule
from test_examples_fedshuffle import FEDSHUFFLE

from boundcheck.errors import DataNotFetched
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.spec import load_claims
from boundcheck.problems.build import build
from boundcheck.verdict import Grade, Outcome
from tests.oracle.evidence import check_claim

EXAMPLES = Path(__file__).parents[1] / "examples"
CLAIMS = Claims(EXAMPLES / "fedshuffle_real.toml")


def longer_rows(spec: Spec) -> dict[str, Any]:
    return {k: v for k, v in spec.items() if k != "features"}


def other_ridge(spec: Spec) -> dict[str, Any]:
    return {**spec, "ridge": 20}


REAL = Mutations(
    methods={
        "half the step": with_schedule(HalvedStep),
        **{name: FEDSHUFFLE.methods[name] for name in ("a client lost", "one epoch more")},
    },
    problems={"rows of any length": longer_rows, "another ridge": other_ridge},
    statements={},
)

# Quick ones first; SLOW ones take from ten seconds to minutes.
MUTATIONS = {
    "Breast cancer, random split, all clients: strongly convex, sharp": "rows of any length",
    "Breast cancer, unequal sizes, two epochs, five clients of ten: strongly convex, sharp": "one epoch more",
    "Breast cancer, shards, eight clients of ten: convex, sharp": "half the step",
    "Breast cancer, Dirichlet split, importance sampling: convex, sharp": "a client lost",
}
SLOW = {
    "Breast cancer, Dirichlet split, all clients: strongly convex, corrected": "half the step",
    "Breast cancer, Dirichlet split, eight clients of ten: convex, corrected": "half the step",
    "Digits, least squares, two clients of twenty: strongly convex, sharp": "another ridge",
}
ALL = [*MUTATIONS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))


def test_every_claim_is_here_and_sampled() -> None:
    assert set(CLAIMS) == {*MUTATIONS, *SLOW}
    assert {*MUTATIONS.values(), *SLOW.values()} == REAL.names()
    assert {claim["engine"] for claim in CLAIMS.written()} == {"sampled"}
    text = (EXAMPLES / "fedshuffle_mnist.toml").read_text()
    assert (text.count("[[claim]]"), text.count('data = "mnist"')) == (1, 1)


@pytest.mark.parametrize("name", ALL)
def test_a_claim_is_met_and_says_something(name: str) -> None:
    result = run_claim(CLAIMS[name])
    assert not result.failures
    # HOLDS is said only where the bound is below its trivial value somewhere
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    check_claim("fedshuffle_real", result)


@pytest.mark.parametrize("name", ALL)
def test_a_mutation_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = REAL.run(CLAIMS[name], {**MUTATIONS, **SLOW}[name], monkeypatch)
    assert result.failures
    assert result.verdict.outcome is not Outcome.OUT_OF_SCOPE


@pytest.mark.slow
@pytest.mark.parametrize("mutation", [None, "half the step"])
def test_the_claim_about_mnist(mutation: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        build({"kind": "logistic_regression", "data": "mnist"})
    except DataNotFetched as missing:
        pytest.skip(f"MNIST is not on this machine: {missing}")
    (claim,) = load_claims(EXAMPLES / "fedshuffle_mnist.toml", need_expect=True)
    result = run_claim(claim) if mutation is None else REAL.run(claim, mutation, monkeypatch)
    assert bool(result.failures) == (mutation is not None)
    if mutation is None:
        assert (result.verdict.outcome, result.verdict.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
