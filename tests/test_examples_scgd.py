"""The shipped claims about SCGD: all are met, and each notices a named mutation of method, problem or bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from claim_mutations import Claims, HalvedStep, Mutations, NoStep, bound_divided, condition_dropped, with_schedule

from boundcheck.cli import main
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Cyclic, Full, GradientSteps, InverseCycle, LogHorizon
from boundcheck.problems.build import build as build_problem
from tests.oracle.evidence import check_verdicts

FILE = Path(__file__).parents[1] / "examples" / "scgd.toml"
CLAIMS = Claims(FILE)


# Parts that say of themselves what the sound ones say, and do something else.


@dataclass(frozen=True)
class HalvedHorizonStep(LogHorizon):
    def step(self, cycle: int) -> Fraction:
        return super().step(cycle) / 2


@dataclass(frozen=True)
class UnshrunkStep(InverseCycle):
    def step(self, cycle: int) -> Fraction:
        return self.eta0 / 100


@dataclass(frozen=True)
class LastClientSkipped(Cyclic):
    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...]:
        return (round_index % clients.count % (clients.count - 1),)


@dataclass(frozen=True)
class LastClientAbsent(Full):
    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...]:
        return tuple(range(clients.count - 1))


def halved_horizon_step(method: Method) -> Method:
    assert isinstance(method.schedule, LogHorizon)
    return replace(method, schedule=HalvedHorizonStep(method.schedule.ell, method.schedule.T))


def constant_step(method: Method) -> Method:
    assert isinstance(method.schedule, InverseCycle)
    return replace(method, schedule=UnshrunkStep(method.schedule.eta0))


def client_skipped(method: Method) -> Method:
    return replace(method, participation=LastClientSkipped())


def client_absent(method: Method) -> Method:
    return replace(method, participation=LastClientAbsent())


def extra_local_step(method: Method) -> Method:
    assert isinstance(method.local, GradientSteps)
    return replace(method, local=GradientSteps(method.local.E + 1))


def one_local_step(method: Method) -> Method:
    return replace(method, local=GradientSteps(1))


def quadratic_instead(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {**spec, "cubic": False}


def other_seed(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {**spec, "seed": 1}


def random_split(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {**spec, "split": "random", "seed": 0}


METHODS = {
    "half the step": with_schedule(HalvedStep),
    "half the step of the horizon": halved_horizon_step,
    "a lazy method": with_schedule(NoStep),
    "a client skipped": client_skipped,
    "a client absent": client_absent,
    "one local step more": extra_local_step,
    "a single local step": one_local_step,
    "a step that does not shrink": constant_step,
}


def minimisers_at_the_start(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {**spec, "clients": [{**client, "b": [0]} for client in spec["clients"]]}


PROBLEMS = {
    "minimisers at the start": minimisers_at_the_start,
    "another random split": other_seed,
    "a random split": random_split,
    "3x^2 for 3x^3": quadratic_instead,
}
STATEMENTS = {
    "the bound divided by 1.01": bound_divided,
    "the step condition dropped": condition_dropped,
}

SCGD = Mutations(METHODS, PROBLEMS, STATEMENTS)

MUTATIONS = [
    ("Theorem 3.3 on diabetes, random split", "half the step"),
    ("Theorem 3.3 on diabetes, random split", "a lazy method"),
    ("Theorem 3.3 on diabetes, random split", "another random split"),
    ("Theorem 3.3 on diabetes, sorted split", "a client skipped"),
    ("Theorem 3.3 on diabetes, sorted split", "a random split"),
    ("Theorem 3.3 on diabetes, conservative constant", "one local step more"),
    ("Theorem 3.3 on diabetes, constant of the appendix", "half the step"),
    ("Theorem 3.3 on diabetes, sharp", "half the step"),
    ("Lemma 3.1 on diabetes, one cycle", "the bound divided by 1.01"),
    ("Lemma 3.1 on diabetes, constant of the appendix", "the bound divided by 1.01"),
    ("Lemma 3.1 on two devices, sharp", "a lazy method"),
    ("Lemma 3.1 on two devices, sharp", "half the step"),
    ("Lemma 3.1 on Appendix B, conservative constant", "the bound divided by 1.01"),
    ("FedAvg with all devices on diabetes", "half the step"),
    ("FedAvg with all devices on diabetes", "a client absent"),
    ("Choice of E on diabetes", "a client skipped"),
    ("Rate of the horizon-dependent step on diabetes", "half the step of the horizon"),
    ("Choice of E as printed, a start at the origin", "minimisers at the start"),
    ("Rounds to a target", "half the step of the horizon"),
    ("Rounds to a target as printed, without a logarithm", "half the step of the horizon"),
    ("Rate of the horizon-dependent step, the printed rule for E", "half the step of the horizon"),
    ("Theorem 3.3 on Appendix B", "the bound divided by 1.01"),
    ("Theorem 3.3 on Appendix B", "a lazy method"),
    ("Appendix C's step size is outside Theorem 3.3", "the step condition dropped"),
    ("Appendix C, FedAvg as meant", "half the step"),
    ("Appendix C, FedAvg as printed, on the printed 3x^3", "3x^2 for 3x^3"),
    ("Appendix C, SCGD's factor", "a client skipped"),
    ("Appendix C, SCGD as printed, on the printed 3x^3", "3x^2 for 3x^3"),
    ("Appendix C, SCGD's factor above -1 at eta = 0.24", "a lazy method"),
    ("Appendix C, FedAvg's factor at eta = 0.09", "a client absent"),
    ("Appendix C, FedAvg's factor at eta = 0.092", "half the step"),
    ("Appendix C, FedAvg's factor below 1 at eta = 0.09", "a lazy method"),
    ("Appendix C, FedAvg's factor above 1 at eta = 0.092", "the step condition dropped"),
    ("Theorem 3.4, rate 1/K^2", "a step that does not shrink"),
    ("Theorem 3.3 as printed in the main text is false", "half the step"),
    ("Theorem 3.3 as printed in the main text is false", "a single local step"),
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
    assert len(CLAIMS) >= 12
    text = (tmp_path / "junit.xml").read_text()
    assert f'tests="{len(CLAIMS)}" failures="0" errors="0"' in text


def test_every_claim_has_a_mutation() -> None:
    assert {name for name, _ in MUTATIONS} == set(CLAIMS)
    assert {mutation for _, mutation in MUTATIONS} == SCGD.names()


@pytest.mark.parametrize(("name", "mutation"), MUTATIONS)
def test_a_mutation_is_noticed(name: str, mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SCGD.run(CLAIMS[name], mutation, monkeypatch).failures


def test_the_witness_file_is_the_claim_that_was_found() -> None:
    """The numbers of the last claim are those of the witness that the search wrote, not typed by hand."""
    from boundcheck.evidence.witness import load_witness

    found = [load_witness(path) for path in sorted((FILE.parent / "witnesses").glob("*.json"))]
    claim = CLAIMS["Theorem 3.3 as printed in the main text is false"]
    same = [w for w in found if w.statement == claim.statement and build_problem(w.problem).spec]
    wanted = _numbers(build_problem(claim.problem).spec)
    assert any(_numbers(build_problem(w.problem).spec) == wanted for w in same)


def _numbers(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {k: spec[k] for k in ("clients", "start")}
