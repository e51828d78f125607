"""Bad input of claims, statistics, external curves, witnesses, limits and studies: a call, and what its error names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare_tools import HALVING, curve, known

import boundcheck as bc
from boundcheck.core.toml_lines import parse_toml
from boundcheck.engines.curve import Curve
from boundcheck.errors import BadInput, BoundcheckError, SpecError, StoreError
from boundcheck.evidence.check import check
from boundcheck.evidence.claim import Claim, RateClaim, run_claim
from boundcheck.evidence.compare import compare
from boundcheck.evidence.confidence import SequentialTest
from boundcheck.evidence.limits import Limits, limit_study, load_limits
from boundcheck.evidence.ordering import judge, p_values
from boundcheck.evidence.rate import Rate, fit_rate, fit_rate_sampled, within
from boundcheck.evidence.rounds_to_target import prepare, start_value
from boundcheck.evidence.spec import claims_from_text
from boundcheck.evidence.studies import load_studies
from boundcheck.evidence.studies.proximal_weight import needed_weights
from boundcheck.evidence.tuning import tune
from boundcheck.evidence.witness import Witness, load_witness, replay, save_witness
from boundcheck.problems.build import build
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind

EXAMPLES = Path(__file__).parents[2] / "examples"
Call = Callable[[], object]
APP_C, LINE = {"kind": "scgd_appendix_c"}, {"kind": "quadratics", "clients": [{"A": 1}], "start": [4]}
PAIR = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [1]}, {"A": [[2]], "b": [-1]}], "start": [3]}
P36 = {"kind": "fedshuffle_36"}
SCGD, GD = {"kind": "scgd", "E": 2, "eta": "1/1000"}, {"kind": "gradient_descent", "eta": "1/4"}
THEOREM, CONVEX = "scgd/theorem_3_3", "classics/gradient_descent_convex/as_printed"


def claim(problem: Any = APP_C, method: Any = SCGD, id: str = THEOREM, **more: Any) -> Call:
    """A claim that is carried out; of Theorem 3.3 of SCGD on Appendix C if nothing else is said."""
    options: dict[str, Any] = {"at": {"K": [0, 1]}, **more}
    return lambda: run_claim(Claim(id, problem, method, **options))


def outside(values: Any, metric: str = "gap", **more: Any) -> Curve:
    return Curve.from_samples(range(len(values)), values, metric, **more)


EXACT = [8 * (9 / 16) ** k for k in range(30)]  # gradient descent with the step 1/4 on x^2/2 from 4


def measured(found: Any = None, **more: Any) -> Call:
    """A claim about a curve that was measured elsewhere."""
    made = outside(EXACT) if found is None else found
    options: dict[str, Any] = {"problem": LINE, "method": GD, **more}
    return lambda: run_claim(Claim(CONVEX, curve=made, **options))


ONE, GRID, SAMPLES = np.array([1.0]), np.geomspace(1, 100, 5), np.ones((20, 5))
A = np.array([1.0, 1.1, 0.9, 1.05, 0.95])
RATE = Rate(-2.0, -2.5, -1.5, "confidence", 5, (1.0, 10.0), 0.99)


def spoilt(rows: Any, column: int, value: float) -> np.ndarray:
    found = SAMPLES.copy()
    found[rows, column] = value
    return found


def ordered(a: Any = A, b: Any = A, best: str = "lowest", confidence: float = 0.9) -> Call:
    return lambda: judge({"a": a, "b": b}, [["a"], ["b"]], best=best, confidence=confidence)


def sequential(bound: Any = ONE, *samples: Any, **how: Any) -> Call:
    def call() -> None:
        test = SequentialTest(np.array(bound), **how)
        for rows in samples:
            test = test.update(rows)

    return call


def text_claims(text: str) -> Call:
    return lambda: claims_from_text(text)


CLAIM = """[[claim]]
statement = "{}"
problem = {{ kind = "{}" }}
method = {{ kind = "{}" }}
"""
OF_SCGD = CLAIM.format(THEOREM, "scgd_appendix_c", 'scgd", E = 2, eta = "1e-3')
IMPORTANCE = "fedshuffle/section_5_importance"
OF_36 = CLAIM.format(IMPORTANCE, "fedshuffle_36", 'fedshuffle", eta_l = "1')
NUMBERS = """[[claim]]
statement = "async_fl/equation_97"
at = { L = 1, K = 1, eta_l = "1/144", eta_g = 1, rho = 1, alpha = 1, beta = 1, tau = 0 }
"""
HUBER = CLAIM.format(f"{THEOREM}/corrected", 'huber", L = 1, R = 2, k = "10', 'scgd", E = 1, eta = "1/20')

# --- tables of limits and studies -------------------------------------------------------------------------------------

LIMITS = """[[limits]]
name = "ends"
problem = { kind = "fedshuffle_36" }
methods = [{ kind = "fedavg_rr" }, { kind = "fedshuffle", participation = { kind = "uniform", size = 2 } }]
parameter = "eta_l"
values = ["1/8", "1/2", 3]
"""
COMPARED = """[[methods_compared]]
name = "Two methods"
problem = { kind = "fedshuffle_36" }
target = "1/10"
methods = [{ kind = "fedshuffle", eta_l = "largest", E = 1 }, { kind = "gradient_descent", eta = "largest" }]
statements = ["scgd/fedavg_full_participation"]
"""
PROXIMAL = """[[proximal_weight]]
name = "mu on the line"
rounds = 20
grid = [0, "1/10", 1]
problems = [{ kind = "feddane_1d" }]
"""
SCHEMES = """[[schemes]]
name = "a"
problem = { kind = "random_quadratics", clients = 2, d = 1 }
methods = [{ kind = "fedavg_sync", K = 1, eta_l = "1/9", times = [1, 2] }]
"""
CYCLES = """[[cycles]]
name = "a"
problem = { kind = "quadratics", clients = [{ A = 1 }, { A = 2 }] }
methods = [{ kind = "fedbuff", times = [1, 1], m = 2, K = 1 }]
parameter = "eta_l"
values = ["1/2", 1]
steps = 6
"""


def tables(load: Callable[[Any], object], text: str, old: str, new: str) -> Call:
    assert text.count(old) == 1
    return lambda: load(parse_toml(text.replace(old, new), "tables.toml", parse_float=str))


def limits(old: str, new: str) -> Call:
    return tables(load_limits, LIMITS, old, new)


def studies(text: str, old: str, new: str) -> Call:
    return tables(load_studies, text, old, new)


FLAT = Limits(
    name="flat", parameter="eta_l", values=["1/2"], methods=[{"kind": "fedavg_rr"}],
    problem={"kind": "quadratics", "clients": [{"A": [[1, 0], [0, 0]]}]},
)  # fmt: skip
DESCENT = build(LINE)
LEMMA = statement("partial_averaging/lemma_2/sharp")


def lemma_start() -> object:
    setup = prepare(statement(CONVEX), DESCENT, {"kind": "gradient_descent", "eta": "1/10"})
    assert not isinstance(setup, str)
    return start_value(replace(setup, claimed=LEMMA))


# fmt: off
CALLS: list[tuple[Call, str]] = [
    # --- claims -------------------------------------------------------------------------------------------------------
    (claim(engine="exakt"), "did you mean 'exact'"),
    (claim(id="scgd/theorem_33"), "unknown"),
    (claim(at={"T": [1]}), "the index 'T' is unknown"),
    (claim(at={"K": [-1]}), "outside its domain"),
    (claim(constants={"nu": 1}), "unknown"),
    (claim(id="async_fl/equation_108/as_printed"), "is a formula"),
    (claim(constants={"mu": 100}), "mu <= L is needed"),
    (claim(id="scgd/theorem_3_4", method={**SCGD, "eta": "largest"}), "symbol 'eta' is unknown; did you mean 'eta0'"),
    (claim(id="scgd/theorem_3_4", method={"kind": "scgd", "E": 1, "eta0": "largest"}, at={}),
     "no condition limits eta0 from above"),
    (claim(rate=RateClaim("energy", Fraction(-3), Fraction(-1))), "energy"),
    (claim(P36, {"kind": "fedshuffle", "eta_l": "1e30", "participation": {"kind": "uniform", "size": 9}},
           "fedshuffle/theorem_5_1_strongly_convex/sharp", at={"R": [10]}),
     "a cohort of 9 clients is impossible; 1 to 3 are allowed"),
    (claim(PAIR, constants={"dist2_0": "1/100"}), "dist2_0 = 1/100 contradicts the problem, where dist2_0 is 9"),
    (claim(PAIR, constants={"dist2_0": 10}), "dist2_0 = 10 contradicts the problem, where dist2_0 is 9"),
    (claim(PAIR, constants={"n": 1}), "n = 1 contradicts the problem, where n is 2"),
    (claim(PAIR, constants={"E": 1}), "E = 1 contradicts the method, where E is 2"),
    (claim(PAIR, constants={"eta": "1e-7"}), "eta = 1/10000000 contradicts the method, where eta is 1/1000"),
    (claim(PAIR, constants={"K": 3}), "K is the index of the statement"),
    (claim(id="scgd/example_app_c_fedavg/corrected", method={**SCGD, "kind": "fedavg"}, constants={"x_0": 2}),
     "x_0 = 2 contradicts the problem, where x_0 is 1"),
    (lambda: check(THEOREM, APP_C, SCGD, expekt="HOLDS"), "the key 'expekt' is unknown; did you mean 'expect'"),
    (lambda: check(THEOREM, APP_C, {**SCGD, "E": 0}), "E = 0"),
    (lambda: check(THEOREM, APP_C, 3), "method = 3 is not allowed"),  # pyright: ignore[reportArgumentType]
    (lambda: check(THEOREM, APP_C), "the method must be a specification"),
    (lambda: check({"statement": THEOREM}, at={}), "at belong to a statement with a problem and a method"),
    (lambda: check(3), "what = 3 is not allowed"),  # pyright: ignore[reportArgumentType]
    # --- files of claims: the line stands before what is wrong --------------------------------------------------------
    (text_claims(""), "the file has no [[claim]]"),
    (text_claims(OF_SCGD + "constants = { K = 3 }"), ":5: scgd/theorem_3_3/corrected: K is the index"),
    (text_claims(OF_SCGD + "constants = { mu = 3, L = 1 }"), "5: scgd/theorem_3_3/corrected needs mu <= L"),
    (text_claims(OF_SCGD + "constants = { E = 3 }"), "contradicts the method"),
    (text_claims(OF_SCGD + "at = { K = [1e15] }"), "between 0 and 10^15"),
    (text_claims(OF_SCGD + "tightness = { at_least = '1.00000000001', at_most = '1.00000000000' }"),
     "at_least = 1.00000000001 is above at_most = 1."),
    (text_claims(OF_36.replace(IMPORTANCE, "async_fl/equation_108/as_printed")),
     "is a formula, not a claim about a run"),
    (text_claims(OF_36 + "at = { R = [1] }"), "has no index; leave out 'R'"),
    (text_claims(OF_36 + 'constants = { w_min = "1/5" }'),
     "the constant w_min = 1/5 contradicts the problem, where w_min is 1/6"),
    (text_claims(OF_SCGD.replace(THEOREM, "async_fl/lemma_2/corrected") + 'engine = "sampled"'),
     "compares quantities of a run with each other"),
    (text_claims(NUMBERS.replace("K = 1, ", "")), "needs a value for K"),
    (text_claims(NUMBERS.replace("rho = 1", "rho = 0")), "rho = 0 is outside its domain"),
    (text_claims(HUBER), "no value for mu"),
    (lambda: claims_from_text(OF_SCGD * 2, need_expect=True), "claim 2 has no expect"),
    # --- comparisons --------------------------------------------------------------------------------------------------
    (lambda: compare(HALVING, curve([1, 0.4], constants={"n": known(2)})), "no value for mu, dist2_0"),
    (lambda: compare(HALVING, curve([1, 0.4]), {"muu": 1}), "did you mean 'mu'"),
    (lambda: compare(HALVING, curve([1, 0.4]), {"mu": -1}), "outside its domain"),
    (lambda: compare(HALVING, curve([1, 0.4]), {"dist2_0": "1/2"}),
     "dist2_0 = 1/2 contradicts the problem, where dist2_0 is 1;"),
    (lambda: compare(HALVING, replace(curve([1]), values={}, low={}, high={})), "which the curve does not hold"),
    (lambda: compare(replace(HALVING, kind=Kind.FORMULA), curve([1])), "is a formula"),
    # --- the sequential test ------------------------------------------------------------------------------------------
    (sequential(ONE, [[1.0], [np.nan]]), "nan at seed number 1 and compared round number 0"),
    (sequential(ONE, [[1.0]] * 2, [[-1.0]]), "-1 at seed number 2"),
    (sequential(ONE, [[1.0, 1.0, 1.0]]), "shape (1, 3)"),
    (sequential(ONE, [1.0, 1.0]), "shape (2,)"),
    (sequential(ONE, [[0.5]], envelope=np.array([0.4])), "above its envelope 0.4"),
    *((sequential(v), "The bound") for v in ([np.nan], [-1.0], [np.inf], [], [[1.0]])),
    *((sequential(level=v), "level") for v in (0.0, 1.0, 99.9, np.nan)),
    *((sequential(least_probability=v), "least_prob") for v in (0.0, -0.1, 1.1, np.nan)),
    *((sequential(envelope=np.array(v)), "envelope has to hold 1") for v in ([1.0, 2.0], [np.nan], [-1.0])),
    # --- slopes and orders --------------------------------------------------------------------------------------------
    (lambda: fit_rate([1.0, 2], [1.0, 2], last=1), "at least 3 points"),
    (lambda: fit_rate([1.0, 2, 4], [1.0, 0, 1], last=1), "curve is 0 at point number 1"),
    (lambda: fit_rate([1.0, 2, 4], [1.0, 1, np.nan], last=1), "curve is nan at point number 2"),
    (lambda: fit_rate([1.0, 2, 4], [np.inf, 1, 1], last=1), "curve is inf"),
    (lambda: fit_rate([0.0, 2, 4], [1.0, 1, 1], last=1), "x axis is 0"),
    (lambda: fit_rate([1.0, 2, 2], [1.0, 1, 1], last=1), "increase strictly"),
    (lambda: fit_rate([1.0, 2, 4], [1.0, 1], last=1), "3 points on the x axis"),
    (lambda: fit_rate([[1.0, 2, 4]], [1.0, 1, 1], last=1), "shape (1, 3)"),
    *((lambda last=last: fit_rate(GRID, GRID, last=last), "last") for last in (0.0, 1.5, np.nan)),
    (lambda: fit_rate(GRID, GRID, last=0.25), "Only 2 points lie in the last 0.25"),
    (lambda: fit_rate(GRID, GRID, windows=1), "windows = 1"),
    (lambda: fit_rate_sampled(GRID, SAMPLES[:9]), "9 seeds"),
    (lambda: fit_rate_sampled(GRID, SAMPLES, level=99), "level"),
    (lambda: fit_rate_sampled(GRID, SAMPLES[:, :4]), "do not fit"),
    *((lambda v=v: fit_rate_sampled(GRID, spoilt(3, 4, v)), "seed number 3 and point number 4")
      for v in (np.nan, np.inf, -1.0)),
    (lambda: fit_rate_sampled(GRID, spoilt(slice(1, None), 4, 0)), "leaving out any one seed"),
    *((lambda low=low, high=high: within(RATE, low, high), "interval") for low, high in ((0, -1), (np.nan, 1))),
    (ordered(best="least"), "least"),
    (ordered(confidence=1.0), "confidence"),
    (ordered(b=A[:2]), "seed by seed"),
    (lambda: p_values(A, "wilcoxon"), "wilcoxon"),
    (lambda: p_values(np.ones(17), "sign_flip"), "16 seeds"),
    # --- curves that were measured elsewhere --------------------------------------------------------------------------
    (measured(method={}, constants={"eta": "1/4", "k": 3}), "k is the index"),
    (measured(problem={}, method={}, constants={"eta": "1/4"}), "no value for L, dist2_0"),
    (measured(problem={}), "says nothing without a problem"),
    (measured(at={"k": [1, 30]}), "has no round 30, at which it is to be compared"),
    (measured(outside([9, *EXACT[1:]])), "gap is 9 at round 0, but 8 at the start of the problem"),
    (measured(outside([9, *EXACT[1:]], standard_error=[0.1, *(1e-3 * v for v in EXACT[1:])])), "gap is 9 at round 0"),
    (measured(outside(EXACT, "dist2")), "about the metric 'gap', of which the curve holds nothing (it holds dist2)"),
    (measured(3), "curve = 3 is not allowed"),
    (measured({"file": 3}), "curve.file = 3 is not allowed"),
    (measured({"values": "x"}), "the key 'values' is unknown"),
    (measured({"round": "x"}), "curve names no file"),
    (measured("none.csv"), "none.csv does not exist"),
    (lambda: bc.compare(CONVEX, None), "it must be a Curve"),  # pyright: ignore[reportArgumentType]
    (lambda: bc.compare(CONVEX, bc.run(GD, LINE, rounds=3, metrics=["gap"]), problem=LINE),
     "a run carries its own constants"),
    # --- tables of limits and studies ---------------------------------------------------------------------------------
    (limits('parameter = "eta_l"', 'parameter = "eta"'), "'eta' is unknown"),
    (limits('values = ["1/8", "1/2", 3]', "values = [0]"), "eta_l = 0 is not allowed; step sizes are above 0"),
    (limits('values = ["1/8", "1/2", 3]', 'values = "log:1:1000:300"'),
     "300 step sizes were given; 1 to 200 are allowed"),
    (limits('kind = "fedavg_rr"', 'kind = "fedavg_rr", eta_l = 3'), "the method 'fedavg_rr' already has eta_l = 3"),
    (limits("size = 2", "size = 9"), "a cohort of 9 clients is impossible"),
    (limits('values = ["1/8", "1/2", 3]', 'values = "log:1:2"'), "log:1:2"),
    (limits('kind = "fedavg_rr"', 'kind = "fedavg_r"'), "did you mean 'fedavg_rr'"),
    (limits('name = "ends"', ""), "name"),
    (limits('name = "ends"', 'name = "ends"\nextra = 1'), "extra"),
    (limits('{ kind = "fedshuffle_36" }', '{ kind = "huber" }'), "is no quadratic with a minimiser"),
    (limits(LIMITS.splitlines()[3], "methods = []"), ":4: "),
    (limits(LIMITS.splitlines()[3], "methods = []"), "methods = [] is not allowed; at least one method is needed."),
    (tables(load_limits, 'limits = "all"', "all", "all"), "must be"),
    (lambda: limit_study(FLAT), "has no single minimiser"),
    (studies(COMPARED, 'target = "1/10"', 'target = "2"'), "between 0 and 1"),
    (studies(COMPARED, "fedshuffle_36", "fedshuffle_37"), "fedshuffle_37"),
    (studies(COMPARED, 'kind = "gradient_descent"', 'kind = "descent"'), "descent"),
    (studies(COMPARED, '"scgd/fedavg_full_participation"', '"scgd/theorem_9"'), "theorem_9"),
    (studies(COMPARED, 'name = "Two', 'title = "Two'), "title"),
    (studies(COMPARED, "[[methods_compared]]", "[methods_compared]"), "must be [[methods_compared]] tables"),
    (studies(PROXIMAL, "rounds = 20", "rounds = 0"), "1 to 1000000 are"),
    (studies(PROXIMAL, '"1/10"', '"-1"'), "it is at least 0"),
    (studies(PROXIMAL, "feddane_1d", "feddane_2d"), "feddane_2d"),
    (studies(PROXIMAL, '[{ kind = "feddane_1d" }]', "[]"), "at least one"),
    (lambda: needed_weights(build({"kind": "feddane_1d", "start": 0})), "gradient vanishes"),
    (studies(SCHEMES, '"fedavg_sync"', '"fedavg_sink"'), "fedavg_sink"),
    (studies(SCHEMES, '"fedavg_sync"', '"fedbuff", m = 2'),
     "no column for a server that aggregates when 2 clients have finished, ties one by one."),
    (studies(SCHEMES, SCHEMES.splitlines()[3], 'methods = [{ kind = "gradient_descent", eta = 1 }]'),
     "gradient_descent has none to go by."),
    (studies(CYCLES, 'parameter = "eta_l"\n', ""), "without a parameter"),
    (studies(CYCLES, 'values = ["1/2", 1]', ""), "has no values"),
    (studies(CYCLES, 'parameter = "eta_l"', 'parameter = "K"'), "already has K = 1"),
    (studies(CYCLES, "steps = 6", "steps = -6"), "steps"),
    # --- tuning -------------------------------------------------------------------------------------------------------
    (lambda: tune(statement(CONVEX), DESCENT, GD, Fraction(2)), "between 0 and 1"),
    (lambda: tune(statement("fedshuffle/lemma_c_2"), DESCENT, GD, Fraction(1, 10)), "promises nothing"),
    (lemma_start, "no share of whose value at the start can be a target"),
]
# fmt: on


@pytest.mark.parametrize(("call", "named"), CALLS, ids=[f"{k} {named[:30]}" for k, (_, named) in enumerate(CALLS)])
def test_bad_input_names_what_is_wrong(call: Call, named: str) -> None:
    with pytest.raises(BoundcheckError) as caught:
        call()
    assert named in str(caught.value)


def test_files_without_tables_have_none() -> None:
    for load in (load_limits, load_studies):
        assert load(parse_toml("schema = 1\n", "none.toml", parse_float=str)) == []
    for text in (LIMITS, COMPARED, PROXIMAL, SCHEMES, CYCLES):  # each is refused above for one change alone
        load = load_limits if text is LIMITS else load_studies
        assert len(load(parse_toml(text, "one.toml", parse_float=str))) == 1
    assert len(claims_from_text(OF_36)) == len(claims_from_text(NUMBERS)) == len(claims_from_text(OF_SCGD)) == 1


# --- witness files ------------------------------------------------------------------------------------------------

PRINTED = EXAMPLES / "witnesses" / "scgd_theorem_3_3_as_printed_main.json"
WITNESS = json.loads(PRINTED.read_text())
LIE = {"statement": "x", "outcome": "MAYBE", "grade": None, "reason": ""}
# fmt: off
TAMPERED: list[tuple[object, str]] = [
    *(({k: v for k, v in WITNESS.items() if k != key}, f"lacks the entry '{key}'") for key in ("problem", "verdict")),
    ({k: v for k, v in WITNESS.items() if k != "schema"}, "has schema None; this version reads 1"),
    ({**WITNESS, "schema": 2}, "has schema 2; this version reads 1"),
    *(({**WITNESS, **change}, "holds something else")
      for change in ({"problem": 3}, {"problem": "quadratics"}, {"verdict": []}, {"verdict": LIE})),
    ([WITNESS], "has schema None"),
    (None, "has schema None"),
]
# fmt: on


@pytest.mark.parametrize(
    ("content", "named"),
    [(json.dumps(data).encode(), named) for data, named in TAMPERED]
    + [(b"{", "is not JSON"), (b"\xff\xfe\x00", "is not JSON"), (None, "cannot be read")],
)
def test_a_file_that_is_no_witness_is_refused_in_a_sentence(content: bytes | None, named: str, tmp_path: Path) -> None:
    path = tmp_path / "witness.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=named) as caught:
        load_witness(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"statement": "scgd/theorem_3_33"},
        {"method": {"kind": "scgd", "E": 20, "eta": "__import__('os')"}},
        {"method": {"kind": "scgd", "E": 20}},
        {"problem": {"kind": "quadratics", "clients": []}},
        {"problem": {**WITNESS["problem"], "start": ["1", "nan"]}},
        {"problem": {"kind": "nothing"}},
        {"at": {"T": [1]}},
        {"at": {"K": ["1/2"]}},
    ],
)
def test_a_replay_of_nonsense_is_bad_input(changes: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        replay(replace(Witness.from_dict(WITNESS), **changes))


def test_places_where_no_witness_can_be_written(tmp_path: Path) -> None:
    witness = Witness.from_dict(WITNESS)
    with pytest.raises(BadInput, match="is a folder"):
        save_witness(witness, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        save_witness(witness, tmp_path / "file" / "witness.json")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_mistakes_of_a_file_have_lines_and_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(OF_SCGD + OF_SCGD.replace("E = 2", "E = 0"))
    monkeypatch.setattr("boundcheck.evidence.check.run_claim", lambda *_: pytest.fail("a claim was run"))
    with pytest.raises(SpecError) as caught:
        check(path)
    assert [line for line, _ in caught.value.problems] == [8]
