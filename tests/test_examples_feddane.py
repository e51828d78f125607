"""The shipped claims about FedDANE: all are met, and each notices a named mutation of method, problem or bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from claim_mutations import Claims, Mutations, Spec, bound_divided, poses_as

from boundcheck.cli import main
from boundcheck.errors import BadInput
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.witness import load_witness, replay, stands
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Correction, ExactSolve, ServerStep, Visit, WithReplacement
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Condition, Statement
from boundcheck.theory.symbols import Symbol
from boundcheck.verdict import Outcome
from tests.oracle.evidence import check_verdicts

FILE = Path(__file__).parents[1] / "examples" / "feddane.toml"
CLAIMS = Claims(FILE)
WITNESSES = {path.stem: path for path in sorted((FILE.parent / "witnesses").glob("feddane_*.json"))}


# Parts that say of themselves what the sound ones say, and do something else.


@dataclass(frozen=True, eq=False)
class HalvedProx(ExactSolve):
    """Half the proximal weight that is declared."""

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        return tuple((p, replace(v, prox=v.prox / 2)) for p, v in super().visits(client, cohort, clients))

    def __eq__(self, other: object) -> bool:
        return poses_as(self, ExactSolve, other)

    def __hash__(self) -> int:
        return hash(self.mu)


@dataclass(frozen=True, eq=False)
class OtherStep(ServerStep):
    """Another multiple of the mean difference than the mean itself."""

    def __eq__(self, other: object) -> bool:
        return poses_as(self, ServerStep, other)

    def __hash__(self) -> int:
        return hash(self.eta_g)


class Ascending(OtherStep):
    @property
    def factor(self) -> Fraction:
        return -self.eta_g


class Doubled(OtherStep):
    @property
    def factor(self) -> Fraction:
        return 2 * self.eta_g


def half_the_proximal_weight(method: Method) -> Method:
    assert isinstance(method.local, ExactSolve)
    return replace(method, local=HalvedProx(method.local.mu))


def _server(cls: type[ServerStep]) -> Callable[[Method], Method]:
    return lambda method: replace(method, server=cls(method.server.eta_g, method.server.ascend))


def two_by_weight(method: Method) -> Method:
    """FedDANE as Algorithm 2 with two draws a set, whatever the cohorts and the correction were."""
    return replace(method, participation=WithReplacement(2), correction=Correction(WithReplacement(2)))


def one_device_moved(spec: Spec) -> dict[str, Any]:
    """The first device with another linear term, and so with another gradient than the second."""
    first, *others = spec["clients"]
    return {**spec, "clients": [{**first, "b": Fraction(first["b"]) + 1}, *others]}


def devices_alike(spec: Spec) -> dict[str, Any]:
    return {**spec, "clients": [spec["clients"][0]] * len(spec["clients"])}


def all_devices_curved(spec: Spec) -> dict[str, Any]:
    """The indefinite device with the Hessian of the other one."""
    return {**spec, "clients": [{**c, "A": spec["clients"][0]["A"]} for c in spec["clients"]]}


def another_split(spec: Spec) -> dict[str, Any]:
    return {**spec, "seed": 7, "clients": 4}


def _with(claimed: Statement, bound: Any, conditions: Sequence[Condition], *more: Symbol) -> Statement:
    """The statement with another bound and other conditions, and with the symbols that it then uses."""
    used = {str(s) for e in (bound, claimed.trivial, claimed.metric.rounds) for s in getattr(e, "free_symbols", ())}
    used |= {str(s) for c in conditions for s in c.relation.free_symbols} | set(claimed.parameters)
    symbols = {s.name: s for s in (*claimed.symbols, *more) if s.name in used}
    return replace(claimed, symbols=tuple(symbols.values()), bound=bound, conditions=tuple(conditions))


def corrected_bound(claimed: Statement) -> Statement:
    """The printed statement with the corrected bound."""
    corrected = statement(f"{claimed.id.rpartition('/')[0]}/corrected")
    return _with(claimed, corrected.bound, claimed.conditions, *corrected.symbols)


def printed_rho(claimed: Statement) -> Statement:
    """The corrected statement with the printed bound and its condition."""
    printed = statement(f"{claimed.id.rpartition('/')[0]}/as_printed")
    return _with(claimed, printed.bound, printed.conditions, *printed.symbols)


def no_assumptions(claimed: Statement) -> Statement:
    return replace(claimed, assumptions=())


def any_method(claimed: Statement) -> Statement:
    return replace(claimed, algorithm=None, assumptions=())


def rho_of_corollary_4(claimed: Statement) -> Statement:
    """The decrease 3/(25 L B^2) whatever mu is: mu = 5 L B^2 forgotten."""
    own = {s.name: s.expr for s in claimed.symbols}
    rho = 3 / (25 * own["L"] * own["B2"])
    old = next(c for c in claimed.conditions if c.vacuity)
    bound = own["gap_0"] - rho * own["grad2_0"] if "grad2_0" in own else own["gap_0"] / (rho * own["T"])
    return _with(claimed, bound, [replace(old, relation=sp.Gt(own["mu"], 0))])


FEDDANE = Mutations(
    methods={
        "half the proximal weight": half_the_proximal_weight,
        "the server ascending": _server(Ascending),
        "twice the server's step": _server(Doubled),
        "two draws by weight instead": two_by_weight,
    },
    problems={
        "one device moved": one_device_moved,
        "the devices alike": devices_alike,
        "all devices curved": all_devices_curved,
        "another split": another_split,
    },
    statements={
        "the bound divided by 1.01": bound_divided,
        "the corrected bound": corrected_bound,
        "the printed rho": printed_rho,
        "the assumptions dropped": no_assumptions,
        "about any method": any_method,
        "the rho of Corollary 4 at any mu": rho_of_corollary_4,
    },
)

_ANY_MU = "the rho of Corollary 4 at any mu"
MUTATIONS = [
    ("Theorem 3, all devices", "half the proximal weight"),
    ("Theorem 3, all devices", "the server ascending"),
    ("Theorem 3, sharp for any cohort, one device a set", "half the proximal weight"),
    ("Theorem 3, sharp, two draws with replacement by weight", "twice the server's step"),
    ("Theorem 3, two draws with replacement by weight", "half the proximal weight"),
    ("Theorem 3, sharp, two of three without replacement, equal weights", "the server ascending"),
    ("Theorem 3, the same devices solve and send gradients", "half the proximal weight"),
    ("Theorem 3 on DANE", "half the proximal weight"),
    ("Theorem 3, inexact solutions", "twice the server's step"),
    ("Theorem 3, sharp, logistic regression, two devices of three", "the server ascending"),
    ("Theorem 3, logistic regression, inexact solutions", "twice the server's step"),
    ("Theorem 3, logistic regression, inexact solutions", "another split"),
    ("Corollary 4, corrected", "half the proximal weight"),
    ("Corollary 4, both approximations read as equal", "the bound divided by 1.01"),
    ("Corollary 4, sharp, inside the plane", "twice the server's step"),
    ("Theorem 5, a device that is unbounded below", "all devices curved"),
    ("Theorem 5, sharp for any cohort", "half the proximal weight"),
    ("Theorem 5, sharp", "the server ascending"),
    ("Theorem 5, inexact solutions", "twice the server's step"),
    ("Theorem 3 does not cover a device that is unbounded below", "all devices curved"),
    ("Theorem 6, corrected", "half the proximal weight"),
    ("Theorem 6, as printed, t = 1 to T", "twice the server's step"),
    ("Theorem 6, sharp", "the bound divided by 1.01"),
    ("Theorem 7 as printed is false: f rises", "the corrected bound"),
    ("Theorem 7 corrected promises nothing where f rises", "the printed rho"),
    ("Theorem 7 as printed is false: f falls by less", "the corrected bound"),
    ("Theorem 7 corrected, where the printed one is false", "the server ascending"),
    ("Theorem 7 corrected, where the printed one is false", "the printed rho"),
    ("Theorem 7 sharp, where the printed one is false", "twice the server's step"),
    ("Theorem 7 corrected, different mu, two draws a set", "the server ascending"),
    ("Theorem 7 corrected, different mu, inexact solutions", "twice the server's step"),
    ("Theorem 7 needs S'_t independent of S_t", "two draws by weight instead"),
    ("Equation (3), the devices of S'_t", "half the proximal weight"),
    ("Equation (3) as printed, the devices of S_t, is false", "the corrected bound"),
    ("B(w) = 1 for equal devices", "the bound divided by 1.01"),
    ("B(w) = 1 for devices with data of one distribution is false", "the devices alike"),
    ("Without replacement and unequal weights, E g is not grad f", "the assumptions dropped"),
    ("Without replacement and unequal weights, E g is not grad f", "two draws by weight instead"),
    ("All devices and unequal weights, E g is not grad f", "two draws by weight instead"),
    ("The pipelined variant is not the method of Theorem 3", "two draws by weight instead"),
    ("The decayed variant is not the method of Theorem 3", "two draws by weight instead"),
    ("FedProx is not the method of Theorem 3", "about any method"),
    ("On the line mu = 1/1000 guarantees nothing", _ANY_MU),
    ("On the line mu = 1/100 guarantees nothing", _ANY_MU),
    ("On the line mu = 1/10 guarantees nothing", _ANY_MU),
    ("On the line mu = 1 guarantees nothing", _ANY_MU),
    ("On the line mu = 1/4 diverges and guarantees nothing", "half the proximal weight"),
    ("On the line mu = 1/4 diverges and guarantees nothing", _ANY_MU),
    ("On the line mu = 1/3 converges and guarantees nothing", "half the proximal weight"),
    ("synthetic(1, 1), three small devices: mu = 1 guarantees nothing", _ANY_MU),
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


def test_every_claim_has_a_mutation() -> None:
    assert {name for name, _ in MUTATIONS} == set(CLAIMS)
    # the last one puts a claim out of scope: see below
    assert {mutation for _, mutation in MUTATIONS} | {"one device moved"} == FEDDANE.names()


@pytest.mark.parametrize(("name", "mutation"), MUTATIONS)
def test_a_mutation_is_noticed(name: str, mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = FEDDANE.run(CLAIMS[name], mutation, monkeypatch)
    assert result.failures
    # a mutated method or problem is noticed by what it does, not by being another method
    if CLAIMS[name].expect is not Outcome.OUT_OF_SCOPE:
        assert result.verdict.outcome is not Outcome.OUT_OF_SCOPE


def test_devices_that_differ_are_out_of_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    result = FEDDANE.run(CLAIMS["B(w) = 1 for equal devices"], "one device moved", monkeypatch)
    assert result.failures
    assert result.verdict.outcome is Outcome.OUT_OF_SCOPE
    assert "assumption iid_clients fails" in result.verdict.reason


@pytest.mark.parametrize("mu", ["1/1000", "1/100", "1/10", "1"])
def test_the_nearest_constants_are_told(mu: str) -> None:
    """Above mu = 9 Theorem 3 guarantees something on the line; the verdict says so to a thousandth."""
    reason = run_claim(CLAIMS[f"On the line mu = {mu} guarantees nothing"]).verdict.reason
    assert "mu at least about 9.00" in reason


def test_mu_of_0_is_outside_the_domain() -> None:
    method = {"kind": "feddane", "mu": 0, "K": 1, "solver": {"E": 1, "eta": "1/100"}}
    with pytest.raises(BadInput, match="mu = 0 is outside its domain"):
        run_claim(Claim("feddane/theorem_3", {"kind": "feddane_1d"}, method, constants={"gamma": 0}))


def test_epochs_of_sgd_have_no_certificate() -> None:
    method = {"kind": "feddane", "mu": 18, "K": 1, "solver": {"E": 20, "eta": "1/100"}}
    with pytest.raises(BadInput, match="no value for gamma"):
        run_claim(Claim("feddane/theorem_3", {"kind": "feddane_1d"}, method))


@pytest.mark.parametrize("stem", WITNESSES)
def test_a_shipped_witness_breaks_the_printed_reading_and_no_other(stem: str) -> None:
    witness = load_witness(WITNESSES[stem])
    assert stem == witness.statement.replace("/", "_")
    assert {"search", "seed", "budget"} <= set(witness.provenance)
    assert stands(replay(witness))
    for reading in ("corrected", "sharp"):
        other = run_claim(replace(witness.claim(), statement=witness.statement.replace("as_printed", reading)))
        assert other.verdict.outcome in (Outcome.HOLDS, Outcome.VACUOUS)
        assert all(metric <= bound for metric, bound in zip(other.metric_high, other.bound, strict=True))
