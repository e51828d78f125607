"""The claims of `examples/`: all are met as frozen, and each notices the mutations that `mutations.toml` lists."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from claim_mutations import NAMES, Claims, mutated

from boundcheck.cli import main
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, DataNotFetched
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.spec import load_claims
from boundcheck.evidence.studies import Asked, carry_out_study, load_studies
from boundcheck.evidence.studies.methods_compared import Spec as Compared
from boundcheck.evidence.witness import load_witness, replay, stands
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Blocks
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.decide import enclose
from boundcheck.theory.discovery import all_statements, statement
from boundcheck.theory.statement import Belief, Kind, Statement
from boundcheck.verdict import Grade, Outcome
from tests.oracle import evidence

EXAMPLES = Path(__file__).parents[1] / "examples"
CLAIMS = {stem: Claims(EXAMPLES / f"{stem}.toml") for stem in (*evidence.CHECKED, "fedshuffle_real", "numbers")}
MUTATIONS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("mutations.toml").read_text())
# Claims that are carried out one by one in sampled runs; these take from ten seconds to minutes.
SLOW = (
    "Breast cancer, Dirichlet split, all clients: strongly convex, corrected",
    "Breast cancer, Dirichlet split, eight clients of ten: convex, corrected",
    "Digits, least squares, two clients of twenty: strongly convex, sharp",
)
PAIRS = [
    pytest.param(stem, name, mutation, marks=[pytest.mark.slow] if name in SLOW else [])
    for stem, listed in MUTATIONS.items()
    for name, wanted in listed.items()
    for mutation in wanted
]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))


@pytest.mark.parametrize("stem", [*evidence.CHECKED, "numbers"])
def test_every_claim_of_a_file_is_met(stem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, count = EXAMPLES / f"{stem}.toml", len(CLAIMS[stem])
    code = main(["check", str(path), "--junit", str(tmp_path / "junit.xml"), "--workers", "1", "--json", "--exact"])
    printed = capsys.readouterr().out
    assert code == 0
    assert f'tests="{count}" failures="0" errors="0"' in (tmp_path / "junit.xml").read_text()
    if stem == "numbers":  # both sides are exact numbers
        assert printed.count('"grade": "EXACT"') >= count > 0
    else:
        assert evidence.check_verdicts(stem, printed) == count


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in CLAIMS["fedshuffle_real"]]
)
def test_a_claim_about_sampled_runs_is_met(name: str) -> None:
    result = run_claim(CLAIMS["fedshuffle_real"][name])
    assert not result.failures
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    evidence.check_claim("fedshuffle_real", result)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", ["", "half the step"])
def test_the_claim_about_mnist(mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        build_problem({"kind": "logistic_regression", "data": "mnist"})
    except DataNotFetched as missing:
        pytest.skip(f"MNIST is not on this machine: {missing}")
    (claim,) = load_claims(EXAMPLES / "fedshuffle_mnist.toml", need_expect=True)
    result = mutated(claim, mutation, monkeypatch) if mutation else run_claim(claim)
    assert bool(result.failures) is bool(mutation)


def test_every_claim_has_a_mutation_and_every_mutation_a_claim() -> None:
    assert {stem: set(listed) for stem, listed in MUTATIONS.items()} == {stem: set(CLAIMS[stem]) for stem in MUTATIONS}
    assert {*CLAIMS} - {*MUTATIONS} == {"formulas", "fedshuffle_constants", "numbers"}  # changed one by one below
    assert {mutation for listed in MUTATIONS.values() for wanted in listed.values() for mutation in wanted} == NAMES


@pytest.mark.parametrize(("stem", "name", "mutation"), PAIRS)
def test_a_mutation_is_noticed(stem: str, name: str, mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = CLAIMS[stem][name]
    result = mutated(claim, mutation, monkeypatch)
    assert result.failures
    # a mutated part is noticed by what it does, not by being another one; SCGD's step sizes are known by their values
    if claim.expect is not Outcome.OUT_OF_SCOPE and stem != "scgd":
        assert result.verdict.outcome is not Outcome.OUT_OF_SCOPE


# --- claims about numbers -----------------------------------------------------------------------------------------


TRUE = [
    (stem, spec["name"])
    for stem in ("formulas", "numbers")
    for spec in CLAIMS[stem].written()
    if spec["expect"] == "HOLDS"
]


@pytest.mark.parametrize(("stem", "name"), TRUE)
def test_a_bound_that_is_a_hundredth_beyond_is_false(stem: str, name: str) -> None:
    """An equality with another right side, or a bound that is moved past the metric, is violated."""
    claim = CLAIMS[stem][name]
    held = run_claim(claim)

    def moved(own: Statement) -> Statement:
        past = {Kind.UPPER_BOUND: Fraction(100, 101), Kind.LOWER_BOUND: Fraction(101, 100)}
        least = Fraction(held.metric_low[0] / held.bound[0]) if own.kind in past else Fraction(1)
        return replace(own, bound=own.bound * least * past.get(own.kind, Fraction(101, 100)))

    found = run_claim(replace(claim, statement=moved(statement(claim.statement))))
    assert found.verdict.outcome is Outcome.VIOLATED
    assert found.failures


# What makes a false reading true: the reading without the error, or numbers at which the error does not show.
MENDED: dict[str, dict[str, object]] = {
    "Chung's lemma of order 2 as printed, a sequence that is free after k0": {"A": "1"},
    "The rule for E as printed": {"statement": "scgd/choice_of_e_rule/corrected"},
    "The constant C of the main text": {"mu": 1, "L": 1},  # the missing factor is mu
    "The variance of the averaged gradient as printed, where f is 0": {"f0": 5},
    "A device's share as printed, two of three by weight": {"p_i": "1/3"},  # all weights are equal
    "Iterations at a fixed B are not SGD's for a small target": {"eps": 1},
}


@pytest.mark.parametrize("name", MENDED)
def test_a_false_formula_is_true_without_its_error(name: str) -> None:
    claim, change = CLAIMS["formulas"][name], dict(MENDED[name])
    id = str(change.pop("statement", claim.statement))
    assert run_claim(replace(claim, statement=id, at={**claim.at, **change})).verdict.outcome is Outcome.HOLDS


def test_every_false_formula_is_mended() -> None:
    assert {s["name"] for s in CLAIMS["formulas"].written() if s["expect"] != "HOLDS"} == set(MENDED)


def test_conditions_bound_what_is_claimed_of_numbers() -> None:
    """Numbers outside the conditions are out of scope, and there the claims fail."""
    numbers = {"K": 1, "L": 1, "eta_g": 1, "rho": 1, "alpha": 1, "tau": 0}
    for reading, beta, outcome in (
        ("corrected", 9, Outcome.HOLDS),
        ("corrected", 11, Outcome.OUT_OF_SCOPE),
        ("as_printed", 11, Outcome.VIOLATED),
        ("as_printed", 10, Outcome.HOLDS),  # c of (92) is 1
    ):
        claim = Claim(f"async_fl/equation_98/{reading}", at={**numbers, "beta": beta})
        assert run_claim(claim).verdict.outcome is outcome


@pytest.mark.parametrize("reading", ["as_printed", "corrected"])
def test_the_largest_step_meets_its_constraint_with_equality(reading: str) -> None:
    """The closed form of `equation_98` against the list of constraints, which is written elsewhere."""
    solved, listed = (statement(f"async_fl/equation_98{part}/{reading}") for part in ("", "_constraints"))
    for K, tau, alpha, beta in ((1, 0, 1, 1), (3, 2, 1, 0), (2, 5, 0, 3), (7, 1, Fraction(1, 2), 20), (40, 0, 0, 0)):
        values = {"K": K, "L": 2, "eta_g": Fraction(3, 7), "rho": Fraction(5, 4), "tau": tau}
        values |= {"alpha": alpha, "beta": beta}
        low, high = enclose(solved.metric.value, values, bits=200)
        assert enclose(listed.metric.value, {**values, "eta_l": low})[1] <= 1 + Fraction(1, 10**30)
        assert enclose(listed.metric.value, {**values, "eta_l": high})[0] >= 1 - Fraction(1, 10**30)


# --- what single claims say ---------------------------------------------------------------------------------------


def test_only_readings_that_are_believed_false_are_violated() -> None:
    for claims in CLAIMS.values():
        for spec in claims.written():
            if spec["expect"] == "VIOLATED":
                assert statement(spec["statement"]).belief is Belief.FALSE, spec["name"]


def test_every_reading_of_partial_averaging_about_a_method_has_a_claim() -> None:
    """Those without are formulas and facts of linear algebra, which no run of a method is about."""
    claimed = {statement(c["statement"]).id for c in CLAIMS["partial_averaging"].written()}
    left = [s for s in all_statements("partial_averaging") if s.id not in claimed]
    assert all(s.kind is Kind.FORMULA or s.algorithm is None for s in left), [s.id for s in left]


def test_the_exact_curve_behind_a_claim() -> None:
    """R = 100, all clients: the weighted gap 7.346e-5 and the bound 0.03124, computed by hand apart from this code."""
    found = run_claim(CLAIMS["fedshuffle"]["Strongly convex, sharp, all clients"])
    at = found.index.index(Fraction(100))
    assert found.metric_high[at] == pytest.approx(7.346e-5, rel=1e-3)
    assert found.bound[at] == pytest.approx(0.03124, rel=1e-3)


def test_the_nearest_constants_of_a_vacuous_claim() -> None:
    """Above mu = 9 Theorem 3 guarantees something on the line; the verdict says so to a thousandth."""
    for mu in ("1/1000", "1"):
        reason = run_claim(CLAIMS["feddane"][f"On the line mu = {mu} guarantees nothing"]).verdict.reason
        assert "mu at least about 9.00" in reason


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        ({"mu": 0, "solver": {"E": 1, "eta": "1/100"}}, {"gamma": 0}, "mu = 0 is outside its domain"),
        ({"mu": 18, "solver": {"E": 20, "eta": "1/100"}}, {}, "no value for gamma"),  # epochs have no certificate
    ],
)
def test_what_feddane_cannot_be_claimed_with(method: dict[str, Any], given: dict[str, Any], said: str) -> None:
    claim = Claim("feddane/theorem_3", {"kind": "feddane_1d"}, {"kind": "feddane", "K": 1, **method}, constants=given)
    with pytest.raises(BadInput, match=said):
        run_claim(claim)


@pytest.mark.parametrize(
    ("name", "constant"),
    [(c["name"], k) for c in CLAIMS["partial_averaging"].written() for k in c.get("constants", {})],
)
def test_what_a_claim_gives_as_measured_is_what_a_run_measures(name: str, constant: str) -> None:
    """From above, to the sixth decimal; gradients at the models are those at u and what the deviations add."""
    claim = CLAIMS["partial_averaging"][name]
    if constant in ("K", "eta_unit"):
        return  # chosen, not measured
    method, problem = build_method(run_claim(claim).method), build_problem(claim.problem)
    rounds, noise = list(range(int(claim.at["K"][0]))), claim.problem["kind"] == "pure_noise"
    apart = constant in ("L2_discrepancy", "local_grad2")
    blocks = len(method.exchange.blocks(problem.dim)) if isinstance(method.exchange, Blocks) else 0
    parts = [f"discrepancy:{j}" for j in range(blocks)] if apart else []
    curve = run(method, problem, rounds=rounds, metrics=["grad2", *parts])
    mean = {k: float(sum(v)) / len(rounds) for k, v in curve.values.items()}
    found = 0.0 if constant == "L2_discrepancy" or noise else mean["grad2"]
    if apart and claim.problem["kind"] == "quadratics" and blocks == 3:
        # three separate coordinates of curvature 1, 2 and 1/2
        found += sum(h * h * mean[f"discrepancy:{j}"] for j, h in enumerate((1, 2, 0.5)))
    else:  # one model, or no curvature at all
        assert blocks == 1 or problem.clients == 1 or noise or not apart
    assert found <= float(Fraction(claim.constants[constant])) <= found + 1.01e-6


# --- witnesses and studies ----------------------------------------------------------------------------------------

WITNESSES = {path.stem: path for path in sorted((EXAMPLES / "witnesses").glob("*.json"))}


@pytest.mark.parametrize("stem", WITNESSES)
def test_a_shipped_witness_breaks_the_printed_reading_and_no_other(stem: str) -> None:
    witness = load_witness(WITNESSES[stem])
    assert stem == witness.statement.replace("/", "_")
    assert {"search", "seed", "budget"} <= set(witness.provenance)
    again = replay(witness)
    assert stands(again)
    assert "differs" not in again.details
    if not witness.problem:  # of a claim about numbers, which the corrected reading need not be
        return
    name = witness.statement.rpartition("/")[0]
    for claimed in all_statements(name.partition("/")[0]):
        derived = not claimed.reading.startswith("as_printed") and not claimed.reading.endswith("_certain")
        if claimed.id.startswith(f"{name}/") and claimed.belief is Belief.TRUE and derived:
            found = run_claim(replace(witness.claim(), statement=claimed.id))
            # a search starts at the minimiser, where no decrease is promised: VACUOUS, with its inequality met
            assert found.verdict.outcome in (Outcome.HOLDS, Outcome.VACUOUS, Outcome.OUT_OF_SCOPE), claimed.id
            if found.verdict.outcome is not Outcome.OUT_OF_SCOPE:
                assert all(m <= bound for m, bound in zip(found.metric_high, found.bound, strict=True))


def test_every_false_theorem_of_partial_averaging_has_a_witness() -> None:
    false = {s.id for s in all_statements("partial_averaging") if s.belief is Belief.FALSE and "/theorem_" in s.id}
    assert false == {load_witness(path).statement for stem, path in WITNESSES.items() if "partial_averaging" in stem}


def test_the_last_claim_of_scgd_is_the_witness_that_was_found() -> None:
    def numbers(spec: Any) -> dict[str, Any]:
        found = build_problem(spec).spec
        return {k: found[k] for k in ("clients", "start")}

    claim = CLAIMS["scgd"]["Theorem 3.3 as printed in the main text is false"]
    same = [w for w in map(load_witness, WITNESSES.values()) if w.statement == claim.statement]
    assert numbers(claim.problem) in [numbers(w.problem) for w in same]


AVERAGING = "partial_averaging/theorem_1/corrected"
# fmt: off
COMPARED: list[dict[str, str | None]] = [  # of each table: method -> a statement with numbers (None: without any)
    {"gradient_descent": "classics/gradient_descent_convex/sharp", "fedavg_rr": None,
     "feddane": "feddane/theorem_6/corrected", "fedavg_sync": "async_fl/theorem_1/corrected",
     "partial_averaging": "partial_averaging/theorem_2/corrected"},
    {"partial_averaging": AVERAGING, "sync_sgd": AVERAGING},
]
# fmt: on


@pytest.mark.parametrize("which", [0, 1])
def test_the_table_of_methods_has_numbers_of_every_paper(which: int) -> None:
    compared = {(method, name) for method, name in COMPARED[which].items() if name is not None}
    spec = load_studies(EXAMPLES / "methods_compared.toml")[which].spec
    assert isinstance(spec, Compared)
    fewer = spec.model_copy(update={"methods": [m for m in spec.methods if m["kind"] in COMPARED[which]]})
    study = carry_out_study(Asked("methods_compared", fewer))
    rows = {(row["method"], row["statement"]): row for row in study.data["rows"]}
    compared |= {("gradient_descent", "scgd/fedavg_full_participation/corrected")} if which == 0 else set()
    assert all(rows[key]["promised"] >= rows[key]["needed"] >= 1 for key in compared)
    if which == 0:
        whys = {(method, name): why for method, name, why in study.tables[1].rows}
        assert whys["fedavg_rr", "-"] == "no statement of those compared is about this method"
        assert "whose gradient grows without bound" in whys["fedavg_sync", "async_fl/theorem_3/corrected"]


@pytest.mark.slow
def test_the_whole_table_of_methods_is_carried_out() -> None:
    for asked in load_studies(EXAMPLES / "methods_compared.toml"):
        rows = carry_out_study(asked).data["rows"]
        assert len([row for row in rows if "promised" in row]) >= 14
        assert all(row["promised"] >= row["needed"] for row in rows if row.get("needed"))
