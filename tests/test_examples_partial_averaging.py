"""The shipped claims about partial averaging: all are met, and each notices a named mutation; the shipped witnesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
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
from boundcheck.engines.run import run
from boundcheck.evidence.claim import ClaimResult, run_claim
from boundcheck.evidence.witness import load_witness, replay, stands
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks
from boundcheck.papers.partial_averaging import theories as averaging_matrices
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.discovery import all_statements, statement
from boundcheck.theory.statement import Belief, Kind, Statement
from boundcheck.verdict import Outcome
from tests.oracle.evidence import check_verdicts

PAPER = "partial_averaging"
FILE = Path(__file__).parents[1] / "examples" / f"{PAPER}.toml"
CLAIMS = Claims(FILE)
WITNESSES = {path.stem: path for path in sorted((FILE.parent / "witnesses").glob(f"{PAPER}_*.json"))}


@dataclass(frozen=True, eq=False)
class OtherPattern(Blocks):
    """Averages that say of themselves what the sound ones say, and are others."""

    def __eq__(self, other: object) -> bool:
        return poses_as(self, Blocks, other)

    def __hash__(self) -> int:
        return hash((self.tau, self.partition, self.order, self.weights))


class NeverAveraged(OtherPattern):
    def pattern(self, dim: int) -> tuple[tuple[int, ...], ...]:
        return ((),) * self.tau


class AlwaysAveraged(OtherPattern):
    def pattern(self, dim: int) -> tuple[tuple[int, ...], ...]:
        return (tuple(range(dim)),) * self.tau


def _exchange(cls: type[OtherPattern]) -> Callable[[Method], Method]:
    def mutate(method: Method) -> Method:
        own = method.exchange
        assert isinstance(own, Blocks)
        return replace(method, exchange=cls(**{f.name: getattr(own, f.name) for f in fields(Blocks)}))

    return mutate


def uncoupled(spec: Spec) -> dict[str, Any]:
    """The same without the Hessians' entries off the diagonal."""
    if spec["kind"] == "coupled_blocks":
        d, n, own = spec["d"], spec["clients"], 1 + Fraction(spec["delta"])
        A = [[own if i == j else 0 for j in range(d)] for i in range(d)]
        client = {"components": [{"A": A, "b": [z] * d} for z in (1, -1)]}
        return {"kind": "quadratics", "clients": [client] * n, "start": spec.get("start", [0] * d)}

    def cut(A: Sequence[Sequence[Any]]) -> list[list[Any]]:
        return [[v if i == j else 0 for j, v in enumerate(row)] for i, row in enumerate(A)]

    return {**spec, "clients": [{**c, "A": cut(c["A"])} for c in spec["clients"]]}


def equal_weights(spec: Spec) -> dict[str, Any]:
    return {k: v for k, v in spec.items() if k != "weights"}


def best_reading(claimed: Statement) -> Statement:
    return statement(claimed.id.rpartition("/")[0])


def hypotheses_dropped(claimed: Statement) -> Statement:
    return replace(claimed, assumptions=())


CLAIMED = Mutations(
    methods={
        "half the step": with_schedule(HalvedStep),
        "a lazy method": with_schedule(NoStep),
        "no averages": _exchange(NeverAveraged),
        "all averaged after every step": _exchange(AlwaysAveraged),
    },
    problems={"the blocks uncoupled": uncoupled, "equal weights": equal_weights},
    statements={
        "the bound divided by 1.01": bound_divided,
        "the step condition dropped": condition_dropped,
        "the corrected reading": best_reading,
        "the hypotheses dropped": hypotheses_dropped,
    },
)


# Averaging matrices that are other ones than those of the average.

Rows = list[list[Fraction]]


def as_equation_11(weights: Sequence[Fraction], size: int) -> Rows:
    """diag(1/m, ..., 1/m)."""
    count = len(weights) * size
    return [[weights[0] if p == q else Fraction(0) for q in range(count)] for p in range(count)]


def unequal(weights: Sequence[Fraction], size: int) -> Rows:
    m = len(weights)
    own = [Fraction(2 * (i + 1), m * (m + 1)) for i in range(m)]
    zero = Fraction(0)
    return [[own[b] if p == q else zero for b in range(m) for q in range(size)] for _ in range(m) for p in range(size)]


def mixed(weights: Sequence[Fraction], size: int) -> Rows:
    """The average over the block's coordinates, too."""
    count = len(weights) * size
    return [[Fraction(1, count)] * count for _ in range(count)]


MATRICES = {
    "the matrix of equation (11)": as_equation_11,
    "unequal weights in the matrix": unequal,
    "coordinates mixed": mixed,
}

MUTATIONS = [
    ("Theorem 1, corrected: separate coordinates, three blocks", "half the step"),
    ("Theorem 1, corrected: separate coordinates, three blocks", "a lazy method"),
    ("Theorem 1, separable: blocks of two and one, in the other order", "half the step"),
    ("Theorem 1, global: coupled coordinates, periodic averaging", "the bound divided by 1.01"),
    ("Theorem 1, global: coupled coordinates, periodic averaging", "half the step"),
    ("Theorem 1, corrected: coupled coordinates, blocks of two and one", "half the step"),
    ("Theorem 1, global: 128 workers, eight coupled blocks", "half the step"),
    ("Theorem 1 as printed, where no blocks are coupled", "a lazy method"),
    ("Theorem 1 as printed is false: eight coupled blocks, two workers", "the blocks uncoupled"),
    ("Theorem 1 as printed is false: eight coupled blocks, two workers", "the corrected reading"),
    ("Theorem 1 as printed is false: a diagonal that dominates by 1/100, four workers", "the blocks uncoupled"),
    ("Theorem 1, corrected, where the printed one is false", "half the step"),
    ("Theorem 1, global, where the printed one is false", "the blocks uncoupled"),
    ("Theorem 1, separable, does not cover coupled blocks", "the hypotheses dropped"),
    ("Theorem 1: a step above 1/(tau L)", "the step condition dropped"),
    ("Theorem 2, corrected: three clients by weight", "no averages"),
    ("Theorem 2, corrected: three clients by weight", "half the step"),
    ("Theorem 2, corrected: three equal clients, periodic averaging", "half the step"),
    ("Theorem 2, weighted: Hessians that are multiples of one", "the bound divided by 1.01"),
    ("Theorem 2, separable: blocks of two and one", "half the step"),
    ("Theorem 2, appendix, separable: equal weights", "half the step"),
    ("Theorem 2 of the main text is false: unequal weights, plain averages", "equal weights"),
    ("Theorem 2 of the main text is false where it is separable, too", "equal weights"),
    ("Theorem 2, corrected, with averages by weight where plain ones fail", "half the step"),
    ("Theorem 2, corrected, does not cover plain averages", "the hypotheses dropped"),
    ("Theorem 2 of the appendix is false: sixteen coupled blocks", "the corrected reading"),
    ("Theorem 2, weighted, where the appendix is false", "half the step"),
    ("Lemma 1, corrected: one model for all", "half the step"),
    ("Lemma 1, corrected: three blocks", "a lazy method"),
    ("Lemma 1 as printed is false: one worker, eight coupled blocks", "the corrected reading"),
    ("Lemma 1 as printed does not cover heterogeneous clients", "the hypotheses dropped"),
    ("Lemma 2, pure noise, 128 workers", "all averaged after every step"),
    ("Lemma 2, sharp, pure noise, two workers", "no averages"),
    ("Lemma 2, with gradients", "no averages"),
    ("Lemma 2, sharp, with gradients", "half the step"),
    ("Lemma 3, corrected", "no averages"),
    ("Lemma 3 with Theorem 2 in it", "all averaged after every step"),
    ("Lemma 3 as printed, separable", "half the step"),
    ("Lemma 3 as printed is false: clients that drift apart through the coupling", "the blocks uncoupled"),
    *[
        (f"Discrepancy of {kind} averaging, {m} workers, interval {tau}", mutation)
        for m, tau in ((2, 3), (4, 4), (128, 8))
        for kind, mutation in (("partial", "no averages"), ("periodic", "all averaged after every step"))
    ],
    ("Property 1", "the matrix of equation (11)"),
    ("Property 2", "the matrix of equation (11)"),
    ("Property 3", "unequal weights in the matrix"),
    ("Property 4", "coordinates mixed"),
    ("Property 4 as printed is false", "the corrected reading"),
    ("Equation (11), corrected", "the matrix of equation (11)"),
    ("Equation (11) as printed is false", "the corrected reading"),
    ("Numbers averaged in tau iterations", "all averaged after every step"),
    ("Messages of partial averaging", "no averages"),
    ("Messages of periodic averaging", "all averaged after every step"),
    ("Remark 1, corrected", "half the step"),
    ("Remark 1 as printed is false: the exact limit on four coupled blocks", "the corrected reading"),
    ("Remark 2, corrected", "half the step"),
    ("Remark 2 as printed is false", "the blocks uncoupled"),
    ("Remark 3, corrected", "half the step"),
    ("Remark 3 as printed is false: the exact limit of plain averages at unequal weights", "equal weights"),
    ("Remark 4, corrected", "half the step"),
    ("Remark 4 as printed is false", "the blocks uncoupled"),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    CLAIMS.take_from_commands(monkeypatch)


@pytest.mark.usefixtures("store")
def test_every_claim_is_met(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code = main(["check", str(FILE), "--junit", str(tmp_path / "junit.xml"), "--workers", "1", "--json", "--exact"])
    assert check_verdicts(FILE.stem, capsys.readouterr().out) == len(CLAIMS)
    assert code == 0
    assert len(CLAIMS) >= 22
    assert f'tests="{len(CLAIMS)}" failures="0" errors="0"' in (tmp_path / "junit.xml").read_text()


def test_every_claim_has_a_mutation() -> None:
    assert {name for name, _ in MUTATIONS} == set(CLAIMS)
    assert {mutation for _, mutation in MUTATIONS} == CLAIMED.names() | set(MATRICES)


def test_every_reading_about_a_method_has_a_claim() -> None:
    """Those without are formulas and facts of linear algebra, which no run of a method is about."""
    claimed = {statement(c.statement).id for c in CLAIMS.values()}
    left = [s for s in all_statements(PAPER) if s.id not in claimed]
    assert all(s.kind is Kind.FORMULA or s.algorithm is None for s in left), [s.id for s in left]


def mutated(name: str, mutation: str, monkeypatch: pytest.MonkeyPatch) -> ClaimResult:
    if mutation in MATRICES:
        monkeypatch.setattr(averaging_matrices, "full_average", MATRICES[mutation])
        return run_claim(CLAIMS[name])
    return CLAIMED.run(CLAIMS[name], mutation, monkeypatch)


@pytest.mark.parametrize(("name", "mutation"), MUTATIONS)
def test_a_mutation_is_noticed(name: str, mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = mutated(name, mutation, monkeypatch)
    assert result.failures
    # a mutated method or problem is noticed by what it does, not by being another method
    if CLAIMS[name].expect is not Outcome.OUT_OF_SCOPE:
        assert result.verdict.outcome is not Outcome.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("name", "constant"), [(c["name"], k) for c in CLAIMS.written() for k in c.get("constants", {})]
)
def test_what_a_claim_gives_as_measured_is_what_a_run_measures(name: str, constant: str) -> None:
    """From above, to the sixth decimal; gradients at the models are those at u and what the deviations add."""
    claim = CLAIMS[name]
    if constant in ("K", "eta_unit"):
        return  # chosen, not measured
    method, problem = build_method(run_claim(claim).method), build_problem(claim.problem)
    rounds = list(range(int(claim.at["K"][0])))
    apart = constant in ("L2_discrepancy", "local_grad2")
    blocks = len(method.exchange.blocks(problem.dim)) if isinstance(method.exchange, Blocks) else 0
    parts = [f"discrepancy:{j}" for j in range(blocks)] if apart else []
    curve = run(method, problem, rounds=rounds, metrics=["grad2", *parts])
    mean = {k: float(sum(v)) / len(rounds) for k, v in curve.values.items()}
    if apart and claim.problem["kind"] == "quadratics" and blocks == 3:
        # three separate coordinates of curvature 1, 2 and 1/2
        found = sum(h * h * mean[f"discrepancy:{j}"] for j, h in enumerate((1, 2, 0.5)))
    else:  # one model, or no curvature at all
        found = 0.0
        assert blocks == 1 or problem.clients == 1 or claim.problem["kind"] == "pure_noise" or not apart
    found += 0 if constant == "L2_discrepancy" or claim.problem["kind"] == "pure_noise" else mean["grad2"]
    assert found <= float(Fraction(claim.constants[constant])) <= found + 1.01e-6


# --- witnesses ------------------------------------------------------------------------------------------------


def test_every_false_theorem_has_a_witness() -> None:
    false = {s.id for s in all_statements(PAPER) if s.belief is Belief.FALSE and "/theorem_" in s.id}
    assert false == {load_witness(path).statement for path in WITNESSES.values()}


@pytest.mark.parametrize("stem", WITNESSES)
def test_a_shipped_witness_breaks_the_printed_reading_and_no_corrected_one(stem: str) -> None:
    witness = load_witness(WITNESSES[stem])
    assert stem == witness.statement.replace("/", "_")
    assert {"search", "seed", "budget"} <= set(witness.provenance)
    assert stands(replay(witness))
    name = witness.statement.rpartition("/")[0]
    for claimed in all_statements(PAPER):
        if claimed.id.startswith(f"{name}/") and claimed.belief is Belief.TRUE:
            method = {**witness.method, "weights": "data"}  # as the corrected readings have it
            found = run_claim(replace(witness.claim(), statement=claimed.id, method=method))
            assert found.verdict.outcome in (Outcome.HOLDS, Outcome.OUT_OF_SCOPE), claimed.id
            if claimed.id.endswith(("/corrected", "/global")):
                if found.verdict.outcome is Outcome.OUT_OF_SCOPE:  # its own L_j allow smaller steps only
                    assert "step size" in found.verdict.reason
                    smaller = replace(witness.claim(), statement=claimed.id, method={**method, "eta": "largest"})
                    found = run_claim(smaller)
                assert found.verdict.outcome is Outcome.HOLDS, found.verdict.reason
