"""The shipped claims about textbook bounds: all are met, and each notices a named mutation of method, problem or bound.

The table that compares the bounds of all papers on one instance lies beside them and is carried out here in part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from claim_mutations import (
    Claims,
    HalvedStep,
    Mutations,
    NoStep,
    Spec,
    bound_divided,
    condition_dropped,
    poses_as,
    with_schedule,
)

from boundcheck.cli import main
from boundcheck.evidence.studies import Asked, carry_out_study, load_studies
from boundcheck.evidence.studies.methods_compared import Spec as Compared
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, GradientSteps, Visit
from boundcheck.verdict import Outcome
from tests.oracle.evidence import check_verdicts

EXAMPLES = Path(__file__).parents[1] / "examples"
FILE = EXAMPLES / "classics.toml"
CLAIMS = Claims(FILE)


@dataclass(frozen=True)
class DoubledStep(Constant):
    def step(self, cycle: int) -> Fraction:
        return self.eta * 2


@dataclass(frozen=True, eq=False)
class OneStepMore(GradientSteps):
    """Says E steps and takes one more."""

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        return tuple((p, replace(v, steps=v.steps + 1)) for p, v in super().visits(client, cohort, clients))

    def __eq__(self, other: object) -> bool:
        return poses_as(self, GradientSteps, other)

    def __hash__(self) -> int:
        return hash(self.E)


def one_step_more(method: Method) -> Method:
    assert isinstance(method.local, GradientSteps)
    return replace(method, local=OneStepMore(method.local.E))


def other_start(spec: Spec) -> dict[str, Any]:
    return {**spec, "start": [Fraction(v) / 10 for v in spec["start"]]}


def one_sample_moved(spec: Spec) -> dict[str, Any]:
    """The first sample of the first client with three times the linear term."""
    first, *others = spec["clients"][0]["components"]
    moved = {**first, "b": [3 * Fraction(v) for v in first["b"]]}
    return {**spec, "clients": [{"components": [moved, *others]}, *spec["clients"][1:]]}


def same_curvature(spec: Spec) -> dict[str, Any]:
    """All samples of a client with the curvature of its first."""
    clients = [
        {"components": [{**sample, "A": client["components"][0]["A"]} for sample in client["components"]]}
        for client in spec["clients"]
    ]
    return {**spec, "clients": clients}


def other_kink(spec: Spec) -> dict[str, Any]:
    return {**spec, "k": 40}


def other_curvature(spec: Spec) -> dict[str, Any]:
    """The last coordinate of the first client half as curved."""
    first, *others = spec["clients"]
    (row, (low, last)) = first["A"]
    return {**spec, "clients": [{**first, "A": [row, [low, Fraction(last) / 2]]}, *others]}


CLASSICS = Mutations(
    methods={
        "half the step": with_schedule(HalvedStep),
        "twice the step": with_schedule(DoubledStep),
        "a lazy method": with_schedule(NoStep),
        "one local step more": one_step_more,
    },
    problems={
        "another start": other_start,
        "a sample moved": one_sample_moved,
        "the same curvature": same_curvature,
        "another kink": other_kink,
        "another curvature": other_curvature,
    },
    statements={"the bound divided by 1.01": bound_divided, "the step condition dropped": condition_dropped},
)

MUTATIONS = [
    ("Convex, sharp, attained by the Huber function", "the bound divided by 1.01"),
    ("Convex, sharp, attained by the Huber function", "half the step"),
    ("Convex, sharp, attained by the Huber function", "another kink"),
    ("Convex, as printed, on the Huber function", "half the step"),
    ("Convex, as printed, on the Huber function", "the bound divided by 1.01"),
    ("Convex, sharp, a quadratic with a flat direction", "half the step"),
    ("Convex, sharp, a quadratic with a flat direction", "a lazy method"),
    ("A step above 1/L", "the step condition dropped"),
    ("Non-convex, sharp, the Huber function", "half the step"),
    ("Non-convex, as printed, a client that is not convex", "half the step"),
    ("Strongly convex, as printed, a strongly quasi-convex function", "a lazy method"),
    ("Strongly convex, as printed, a strongly quasi-convex function", "twice the step"),
    ("Strongly convex, sharp, attained by x'x mu/2", "the bound divided by 1.01"),
    ("Strongly convex, sharp, attained by x'x mu/2", "half the step"),
    ("Strongly convex, sharp, attained by x'x mu/2", "another curvature"),
    ("SGD, strongly convex, sharp, attained by x'x mu/2", "the bound divided by 1.01"),
    ("SGD, strongly convex, sharp, attained by x'x mu/2", "twice the step"),
    ("SGD, strongly convex, as printed", "a sample moved"),
    ("SGD, strongly convex, as printed", "half the step"),
    ("SGD, convex, sharp", "a lazy method"),
    ("SGD, convex, sharp", "another start"),
    ("SGD, convex, as printed", "half the step"),
    ("SGD, non-convex, sharp", "a sample moved"),
    ("SGD, non-convex, as printed", "a lazy method"),
    ("SGD whose variance grows with the distance", "the same curvature"),
    ("Local gradient descent, one step", "one local step more"),
    ("Local gradient descent, four steps", "one local step more"),
    ("Local gradient descent, four steps", "half the step"),
    ("Local gradient descent, ten steps, half the largest step", "a lazy method"),
    ("Convex, sharp, logistic regression without ridge", "half the step"),
    ("Local gradient descent, logistic regression without ridge", "one local step more"),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))


@pytest.mark.usefixtures("store")
def test_every_claim_is_met(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", str(FILE), "--workers", "1", "--json", "--exact"])
    assert check_verdicts(FILE.stem, capsys.readouterr().out) == len(CLAIMS)
    assert code == 0
    assert len(CLAIMS) >= 10


def test_every_claim_has_a_mutation() -> None:
    assert {name for name, _ in MUTATIONS} == set(CLAIMS)
    assert {mutation for _, mutation in MUTATIONS} == CLASSICS.names()


@pytest.mark.parametrize(("name", "mutation"), MUTATIONS)
def test_a_mutation_is_noticed(name: str, mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = CLASSICS.run(CLAIMS[name], mutation, monkeypatch)
    assert result.failures
    # a mutated method or problem is noticed by what it does, not by being another method
    if CLAIMS[name].expect is not Outcome.OUT_OF_SCOPE:
        assert result.verdict.outcome is not Outcome.OUT_OF_SCOPE


def _compared(which: int, *methods: str) -> tuple[dict[tuple[str, str], dict[str, Any]], list[tuple[str, ...]]]:
    """The rows of one of the shipped tables for some of its methods, and the refused ones."""
    spec = load_studies(EXAMPLES / "methods_compared.toml")[which].spec
    assert isinstance(spec, Compared)
    fewer = spec.model_copy(update={"methods": [m for m in spec.methods if m["kind"] in methods]})
    study = carry_out_study(Asked("methods_compared", fewer))
    rows = {(row["method"], row["statement"]): row for row in study.data["rows"]}
    return rows, list(study.tables[1].rows)


def test_the_table_has_numbers_of_every_paper() -> None:
    rows, refused = _compared(0, "gradient_descent", "fedavg_rr", "feddane", "fedavg_sync", "partial_averaging")
    for key in (
        ("gradient_descent", "classics/gradient_descent_convex/sharp"),
        ("gradient_descent", "scgd/fedavg_full_participation/corrected"),
        ("feddane", "feddane/theorem_6/corrected"),
        ("fedavg_sync", "async_fl/theorem_1/corrected"),
        ("partial_averaging", "partial_averaging/theorem_2/corrected"),
    ):
        assert rows[key]["promised"] >= rows[key]["needed"] >= 1
    whys = {(method, name): why for method, name, why in refused}
    assert whys["fedavg_rr", "-"] == "no statement of those compared is about this method"
    assert "whose gradient grows without bound" in whys["fedavg_sync", "async_fl/theorem_3/corrected"]
    assert "the objective of client 1 is not that" in whys["partial_averaging", "partial_averaging/theorem_1/corrected"]


def test_the_table_on_iid_data_has_theorem_1_of_partial_averaging() -> None:
    rows, _ = _compared(1, "partial_averaging", "sync_sgd")
    for method in ("partial_averaging", "sync_sgd"):
        row = rows[method, "partial_averaging/theorem_1/corrected"]
        assert row["promised"] >= row["needed"] >= 1


@pytest.mark.slow
def test_the_whole_table_is_carried_out() -> None:
    for asked in load_studies(EXAMPLES / "methods_compared.toml"):
        rows = carry_out_study(asked).data["rows"]
        assert len([row for row in rows if "promised" in row]) >= 14
        assert all(row["promised"] >= row["needed"] for row in rows if row.get("needed"))
