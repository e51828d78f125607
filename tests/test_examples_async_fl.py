"""The shipped claims about asynchronous federated learning: all are met, and each notices a named mutation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from claim_mutations import (
    Claims,
    HalvedStep,
    Mutations,
    NoStep,
    bound_divided,
    poses_as,
    with_schedule,
)

from boundcheck.cli import main
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.witness import load_witness, replay, stands
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import AggregationContext, GradientSteps, StochasticSteps, Timed, Unbiased, Visit
from boundcheck.methods.schedules import Fixed, Window
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Belief, Statement
from boundcheck.verdict import Outcome
from tests.oracle.evidence import check_verdicts

FILE = Path(__file__).parents[1] / "examples" / "async_fl.toml"
CLAIMS = Claims(FILE)
WITNESSES = {path.stem: path for path in sorted((FILE.parent / "witnesses").glob("async_fl_*.json"))}


@dataclass(frozen=True, eq=False)
class OneStepMore(GradientSteps):
    """Local work of one step more than is declared."""

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        own = super().visits(client, cohort, clients)
        return tuple((p, replace(visit, steps=visit.steps + 1)) for p, visit in own)

    def __eq__(self, other: object) -> bool:
        return poses_as(self, GradientSteps, other)

    def __hash__(self) -> int:
        return hash(self.E)


@dataclass(frozen=True, eq=False)
class OneSampleStepMore(StochasticSteps):
    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        own = super().visits(client, cohort, clients)
        return tuple((p, replace(visit, steps=visit.steps + 1)) for p, visit in own)

    def __eq__(self, other: object) -> bool:
        return poses_as(self, StochasticSteps, other)

    def __hash__(self) -> int:
        return hash((self.steps, self.batch))


@dataclass(frozen=True, eq=False)
class FirstClientLost(Unbiased):
    """What the first client returns is thrown away."""

    def coefficients(self, cohort: Sequence[int], setting: AggregationContext) -> list[Fraction]:
        own = super().coefficients(cohort, setting)
        return [Fraction(0) if i == 0 else a for i, a in zip(cohort, own, strict=True)]

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction]:
        own = super().by_client(setting)
        return lambda i: Fraction(0) if i == 0 else own(i)

    def __eq__(self, other: object) -> bool:
        return poses_as(self, Unbiased, other)

    def __hash__(self) -> int:
        return hash(self.weights)


def a_step_more(method: Method) -> Method:
    local = method.local
    if isinstance(local, StochasticSteps):
        return replace(method, local=OneSampleStepMore(local.steps, local.batch))
    assert isinstance(local, GradientSteps)
    return replace(method, local=OneStepMore(local.E))


def a_client_lost(method: Method) -> Method:
    assert isinstance(method.aggregation, Unbiased)
    return replace(method, aggregation=FirstClientLost(method.aggregation.weights))


def other_times(method: Method) -> Method:
    """The slowest client needs two units more."""
    timed = method.participation
    assert isinstance(timed, Timed)
    assert isinstance(timed.times, Fixed)
    *others, last = timed.times.values
    return replace(method, participation=replace(timed, times=Fixed((*others, last + 2))))


def unit_window(method: Method) -> Method:
    """A window of FedFix in which every client arrives."""
    timed = method.participation
    assert isinstance(timed, Timed)
    assert isinstance(timed.policy, Window)
    return replace(method, participation=replace(timed, policy=Window(Fraction(100))))


def plus_one(claimed: Statement) -> Statement:
    return replace(claimed, bound=claimed.bound + 1)


def _with_parts_of_best(*parts: str) -> Callable[[Statement], Statement]:
    """The statement with these parts of its best reading, and the symbols that are then in use."""

    def mutate(claimed: Statement) -> Statement:
        best = statement(claimed.id.rpartition("/")[0])
        taken = {part: getattr(best, part) for part in parts}
        known = {s.name: s for s in (*best.symbols, *claimed.symbols)}
        metric = taken.get("metric", claimed.metric)
        exprs = [best.bound, metric.rounds, metric.scale, *(c.relation for c in claimed.conditions), *claimed.domain]
        exprs += [expr for expr in (metric.weights, claimed.trivial) if expr is not None]
        names = {s.name for expr in exprs for s in expr.free_symbols} | {str(metric.index)}
        steps = () if claimed.algorithm is None else claimed.algorithm.parameters
        symbols = tuple(s for name, s in known.items() if name in names | set(steps))
        return replace(claimed, symbols=symbols, **taken)

    return mutate


def corrected(claimed: Statement) -> Statement:
    """The corrected statement itself."""
    return statement(f"{claimed.id.rpartition('/')[0]}/corrected")


BOUNDED = ("bounded_gradients", "bounded_sample_gradients")


def unbounded_gradients(claimed: Statement) -> Statement:
    return replace(claimed, assumptions=tuple(a for a in claimed.assumptions if a.name not in BOUNDED))


def no_assumption_on_ties(claimed: Statement) -> Statement:
    return replace(claimed, assumptions=tuple(a for a in claimed.assumptions if a.name != "one_by_one"))


def closed_interval(claimed: Statement) -> Statement:
    open_ends = (sp.StrictGreaterThan, sp.StrictLessThan)
    return replace(claimed, conditions=tuple(c for c in claimed.conditions if not isinstance(c.relation, open_ends)))


ASYNC = Mutations(
    methods={
        "half the step": with_schedule(HalvedStep),
        "a lazy method": with_schedule(NoStep),
        "a local step more": a_step_more,
        "a client lost": a_client_lost,
        "other update times": other_times,
        "a window for all": unit_window,
    },
    problems={},
    statements={
        "the bound divided by 1.01": bound_divided,
        "the bound plus 1": plus_one,
        "the corrected bound": _with_parts_of_best("bound"),
        "the corrected reading": _with_parts_of_best("bound", "metric"),
        "the corrected statement": corrected,
        "gradients without a bound": unbounded_gradients,
        "ties of any kind": no_assumption_on_ties,
        "alpha of the closed interval": closed_interval,
    },
)

HALF, MORE, LOST, PLUS = "half the step", "a local step more", "a client lost", "the bound plus 1"
RIGHT, FREE = "the corrected bound", "gradients without a bound"
LEMMA = "the corrected statement"  # its bound is of other quantities of the round, too
MUTATIONS = [
    ("Theorem 1, asynchronous FedAvg", MORE),
    ("Theorem 1, asynchronous FedAvg", HALF),
    ("Theorem 1, asynchronous FedAvg with identical weights", MORE),
    ("Theorem 1, FedFix", LOST),
    ("Theorem 1, FedBuff", HALF),
    ("Theorem 1, uniform sampling", MORE),
    ("Theorem 1, MD sampling", MORE),
    ("Theorem 1, biased sampling", LOST),
    ("Theorem 1, synchronous FedAvg", MORE),
    ("Theorem 1 in Sigma, stochastic gradients", MORE),
    ("Theorem 1, a certain schedule without beta", HALF),
    ("Theorem 1, sharp, uniform sampling", "the bound divided by 1.01"),
    ("Theorem 1, sharp, asynchronous FedAvg", "a lazy method"),
    ("Theorem 1 as printed, with alpha = 0, is false", RIGHT),
    ("Theorem 1 corrected, where the printed one is false", HALF),
    ("Theorem 1 as printed is false with alpha = 3/4", RIGHT),
    ("Theorem 1 as printed in Sigma is false", RIGHT),
    ("Assumption 5 to the letter excludes synchronous FedAvg", "alpha of the closed interval"),
    ("Theorem 2, uniform sampling", MORE),
    ("Theorem 2, every kind of data in every round", HALF),
    ("Theorem 2 as printed is false", RIGHT),
    ("Theorem 3 is not about quadratics", FREE),
    ("Theorem 3 on gradients is not about quadratics", FREE),
    ("Theorem 3, asynchronous FedAvg on smoothed absolute values", MORE),
    ("Theorem 3, FedFix on smoothed absolute values, several samples", LOST),
    ("Theorem 3 on gradients, clients in turn on smoothed absolute values", HALF),
    ("Theorem 3, asynchronous FedAvg on logistic regression without ridge", MORE),
    ("Theorem 3 as printed is false", RIGHT),
    ("Corollary 1, uniform sampling", MORE),
    ("Corollary 1 as printed is false", RIGHT),
    ("(33), synchronous FedAvg", MORE),
    ("(38) is not about quadratics", FREE),
    ("(42) is not about quadratics", FREE),
    ("(38) on smoothed absolute values", HALF),
    ("(42) on smoothed absolute values", MORE),
    ("(106), SGD", MORE),
    ("(106) as printed is false: samples that curve both ways make noise that grows with the distance", HALF),
    ("(107), uniform sampling", "a lazy method"),
    ("(107), MD sampling", HALF),
    ("(107) as printed is false", RIGHT),
    ("(108) is not about quadratics", FREE),
    ("(108) on smoothed absolute values", LOST),
    ("(96), small weights", PLUS),
    ("(96) as printed is false for small weights", RIGHT),
    ("(96), second, small weights", PLUS),
    ("(96), second as printed is false for small weights", RIGHT),
    ("Lemma 2, uniform sampling", HALF),
    ("Lemma 2, one step of one client, is an equality", "the bound divided by 1.01"),
    ("Lemma 2 as printed is false", LEMMA),
    ("Lemma 3, asynchronous FedAvg", LOST),
    ("Lemma 3, local steps with noise", MORE),
    ("Lemma 3 as printed is false for small weights", LEMMA),
    ("Lemma 3 as printed is false for large server steps", LEMMA),
    ("(62), asynchronous FedAvg", HALF),
    ("(62) as printed is false for small weights", LEMMA),
    ("Lemma 4, MD sampling", MORE),
    ("Lemma 4 as printed is false", LEMMA),
    ("Lemma 5, uniform sampling", HALF),
    ("Lemma 5 as printed is false where samples differ in curvature", PLUS),
    ("Lemma 6, asynchronous FedAvg", MORE),
    ("Lemma 6 as printed is false where samples differ in curvature", PLUS),
    ("(105), asynchronous FedAvg", PLUS),
    ("(105), every kind of data in every round", PLUS),
    ("(105) as printed is false for large weights", LEMMA),
    ("Table 2, synchronous: alpha", PLUS),
    ("Table 2, synchronous: beta", PLUS),
    ("Table 2, synchronous: the delay", PLUS),
    ("Table 2, synchronous: the window", PLUS),
    ("Table 2, synchronous: the residual", PLUS),
    ("Table 2, asynchronous: alpha", PLUS),
    ("Table 2, asynchronous: beta", "other update times"),
    ("Table 2, asynchronous: beta where clients are not of equal importance", PLUS),
    ("Table 2, asynchronous: the residual", PLUS),
    ("Table 2, asynchronous: the delay, exactly", PLUS),
    ("Table 2, asynchronous: the delay, corrected", "other update times"),
    ("Table 2, asynchronous: the delay as printed is too small", RIGHT),
    ("Table 2, asynchronous: the window", "other update times"),
    ("Table 2, asynchronous: the window as printed", "other update times"),
    ("(35), the window", PLUS),
    ("(35) is about ties one by one", "ties of any kind"),
    ("Table 2, FedFix: alpha", PLUS),
    ("Table 2, FedFix: beta at fixed update times", PLUS),
    ("Table 2, FedFix: beta at random update times", PLUS),
    ("Table 2, FedFix: beta as printed is false at random update times", RIGHT),
    ("Table 2, FedFix: the delay", PLUS),
    ("Table 2, FedFix: the delay as printed is too small", "a window for all"),
    ("Table 2, FedFix: the delay of the text is too large", RIGHT),
    ("Table 2, FedFix: the window", "a window for all"),
    ("Table 2, FedFix: the window, exactly", PLUS),
    ("Table 2, FedFix: the window as printed is too small", RIGHT),
    ("Table 2, FedFix: the residual", "a window for all"),
    ("Table 2, uniform sampling: alpha", PLUS),
    ("Table 2, uniform sampling: beta", PLUS),
    ("Table 2, MD sampling: alpha", PLUS),
    ("Table 2, MD sampling: beta", PLUS),
    ("Table 2, centralised: alpha", PLUS),
    ("Table 2, centralised: beta", PLUS),
    ("Table 2, centralised: the delay", PLUS),
    ("Table 2, centralised: the delay as printed is false", RIGHT),
    ("Example 1 converges for eta_l = 1/2", PLUS),
    ("Example 1 converges for eta_l = 3/2 and K = 2", MORE),
    ("Example 1 as printed is false at eta_l = 3/2", HALF),
    ("Example 2, even rounds", HALF),
    ("Example 2, odd rounds", MORE),
    ("Example 2 as printed is false", "the corrected reading"),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    CLAIMS.take_from_commands(monkeypatch)


@pytest.mark.usefixtures("store")
def test_every_claim_is_met(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", str(FILE), "--workers", "1", "--json", "--exact"])
    assert check_verdicts(FILE.stem, capsys.readouterr().out) == len(CLAIMS)
    assert code == 0
    assert len(CLAIMS) >= 24


def test_every_claim_has_a_mutation() -> None:
    assert {name for name, _ in MUTATIONS} == set(CLAIMS)
    assert {mutation for _, mutation in MUTATIONS} == ASYNC.names()


@pytest.mark.parametrize(("name", "mutation"), MUTATIONS)
def test_a_mutation_is_noticed(name: str, mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ASYNC.run(CLAIMS[name], mutation, monkeypatch)
    assert result.failures
    # a mutated method is noticed by what it does, not by being another method
    if CLAIMS[name].expect is not Outcome.OUT_OF_SCOPE:
        assert result.verdict.outcome is not Outcome.OUT_OF_SCOPE


def test_false_readings_are_violated_and_true_ones_never() -> None:
    for claim in CLAIMS.values():
        claimed = statement(claim.statement)
        if claim.expect is Outcome.VIOLATED:
            assert claimed.belief is Belief.FALSE
        if claim.expect is Outcome.HOLDS:
            assert claimed.belief is not Belief.FALSE or claimed.id == "async_fl/table_2_fedfix_beta/as_printed"


def test_witnesses_are_shipped() -> None:
    found = {load_witness(path).statement for path in WITNESSES.values()}
    readings = ("theorem_1/as_printed", "theorem_1/as_printed_used", "theorem_1/as_printed_sigma")
    others = ("theorem_2/as_printed", "corollary_1/as_printed", "equation_107/as_printed", "equation_105/as_printed")
    more = ("equation_106/as_printed",)
    lemmas = [f"lemma_{name}/as_printed" for name in ("2", "3", "3_gradients", "4", "5", "6")]
    formulas = [f"equation_{name}/as_printed" for name in ("38", "42", "98", "98_constraints")]
    numbers = (*formulas, "lemma_1_jensen/as_printed")
    assert found == {f"async_fl/{name}" for name in (*readings, *others, *more, *lemmas, *numbers)}


@pytest.mark.parametrize("stem", WITNESSES)
def test_a_shipped_witness_breaks_the_printed_reading_and_no_other(stem: str) -> None:
    witness = load_witness(WITNESSES[stem])
    assert stem == witness.statement.replace("/", "_")
    assert {"search", "seed", "budget"} <= set(witness.provenance)
    assert stands(replay(witness))
    if not witness.problem:  # of a claim about numbers, which the corrected reading need not be
        return
    best = f"{witness.statement.rpartition('/')[0]}/corrected"
    corrected = run_claim(replace(witness.claim(), statement=best))
    if ("lemma" in stem or "equation_106" in stem) and corrected.verdict.outcome is Outcome.OUT_OF_SCOPE:
        assert "samples" in corrected.verdict.reason  # what is printed says nothing of single samples
        return
    # a run that starts at the minimiser cannot be promised anything: VACUOUS, with its inequality met
    assert corrected.verdict.outcome in (Outcome.HOLDS, Outcome.VACUOUS)
    assert all(metric <= bound for metric, bound in zip(corrected.metric_high, corrected.bound, strict=True))
