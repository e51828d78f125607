"""Specification files: every mistake at once, each with its line, before anything runs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from cli_tools import FEDAVG, LIMITS, OUT, Run

from boundcheck.errors import SpecError
from boundcheck.evidence.claim import RateClaim
from boundcheck.evidence.spec import claims_from_text
from boundcheck.verdict import Outcome


def problems(text: str, *, need_expect: bool = False) -> dict[int, list[str]]:
    with pytest.raises(SpecError) as caught:
        claims_from_text(text, "file.toml", need_expect=need_expect)
    found: dict[int, list[str]] = {}
    for line, problem in caught.value.problems:
        found.setdefault(line, []).append(problem)
    return found


def test_a_claim_with_every_key() -> None:
    (claim,) = claims_from_text("""
    schema = 1
    [[claim]]
    name = "all"
    statement = "scgd/theorem_3_3"
    problem = { kind = "least_squares", data = "diabetes", clients = 5 }
    method = { kind = "scgd", E = 4, eta = 0.001 }
    at = { K = [1, 2] }
    constants = { sigma2 = "1/3" }
    engine = "sampled"
    arithmetic = "float64"
    seeds = 12
    level = 0.99
    expect = "HOLDS"
    tightness = { at_least = 1e-6, at_most = 10 }
    rate = { metric = "dist2", slope = [-2.2, -1.8], last = "1/4" }
    """)
    assert claim.method["eta"] == "0.001"  # exactly what is written, not the nearest binary number
    assert claim.constants == {"sigma2": "1/3"}
    assert (claim.engine, claim.arithmetic, claim.seeds, claim.level) == ("sampled", "float64", 12, 0.99)
    assert claim.expect is Outcome.HOLDS
    assert claim.tightness == (1e-6, 10.0)
    assert claim.rate == RateClaim("dist2", Fraction(-11, 5), Fraction(-9, 5), Fraction(1, 4))


MISTAKES = """[[claim]]
statement = "scgd/theorem_3_3/correct"
problem = { kind = "least_squares", data = "diabets" }
method = { kind = "scgd", E = 4, eta = "0.9*larges" }
expect = "HOLD"
tightness = { at_least = 3, at_most = 2, at_mos = 3 }

[[claim]]
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "quadratics", client = [] }
method = { kind = "sgd", E = 0 }
at = { k = 3 }
constants = { mu = 0, sigma = 3, L = "x" }
expekt = "HOLDS"
level = 2
seeds = 1.5
engine = "exakt"
rate = { metric = "dist2", slope = [2, 1], last = 0 }

[[claim]]
statement = "async_fl/equation_108/as_printed"
problem = { kind = "huber" }
method = { kind = "scgd", E = 1, et = 1, eta = 1 }
at = { K = "log:0:3:2" }

[[claim]]
statement = "scgd/theorem_3_3"
problem = { kind = "huber", k = 1.5 }
method.kind = "scgd"
method.E = 0
method.eta = "1/0"
at = { K = [1, -3] }
rate = { metric = "dist", slope = [1] }
"""

EXPECTED = {
    2: ["the statement 'scgd/theorem_3_3/correct' is unknown; did you mean 'scgd/theorem_3_3/corrected'"],
    3: ["the data set 'diabets' is unknown; did you mean 'diabetes' or 'digits'?"],
    4: ["eta = '0.9*larges' is not a number"],
    5: ["expect = 'HOLD' is not allowed; did you mean 'HOLDS'"],
    6: ["the key 'tightness.at_mos' is unknown; did you mean 'at_most'", "at_least = 3 is above at_most = 2"],
    8: ["has no expect"],
    10: ["the problem 'quadratics': parameter 'client' is unknown; did you mean 'clients'?"],
    11: ["the method 'sgd' is unknown; did you mean 'scgd' or 'svrg' or 'saga'?"],
    12: ["the index 'k' is unknown; known: K"],
    13: [
        "mu = 0 is outside its domain",
        "symbol 'sigma' is unknown; did you mean 'sigma2'?",
        "L = 'x' is not a number",
    ],
    14: ["the key 'expekt' is unknown; did you mean 'expect'"],
    15: ["level = 2 is not allowed; 1/2 < level < 1 is."],
    16: ["seeds = '1.5' is not allowed; it must be an integer"],
    17: ["the engine 'exakt' is unknown; did you mean 'exact'?"],
    18: ["low = 2 is above high = 1", "last = 0 is not allowed; 0 < last <= 1 is."],
    20: ["has no expect"],
    21: ["async_fl/equation_108/as_printed is a formula"],
    23: ["the method 'scgd': parameter 'et' is unknown"],
    26: ["has no expect"],
    28: ["k = 3/2 is not allowed"],
    30: ["E = 0 is not allowed; it must be an integer of at least 1."],
    32: ["K = -3 is outside its domain: integers K >= 0."],
    33: ["rate.slope = [1] is not allowed: list should have at least 2 items"],
}


def test_one_mistake_of_each_part_at_once_each_with_its_line() -> None:
    """A second wrong parameter of one method or problem, such as eta in line 31, shows when the first is mended."""
    found = problems(MISTAKES, need_expect=True)
    assert set(found) == set(EXPECTED)
    for line, texts in EXPECTED.items():
        for text in texts:
            assert any(text in problem for problem in found[line]), (line, text, found[line])
        assert len(found[line]) == len(texts), (line, found[line])


def test_a_symbol_without_a_value_is_found_before_the_run() -> None:
    text = OUT.replace('kind = "scgd_appendix_c"', 'kind = "huber"')
    assert problems(text) == {
        4: [
            "scgd/theorem_3_3/corrected: no value for mu (strong (quasi-)convexity constant of the objective); "
            "neither the problem nor the method gives one, so write it under constants."
        ]
    }
    assert claims_from_text(text + "constants = { mu = 1 }")[0].constants == {"mu": 1}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 0, "the file has no [[claim]]"),
        ("claim = []", 1, "claim"),
        ("claim = 3", 1, "claim = 3 is not allowed; it must be a list"),
        ("[[claim]\n", 1, ""),
        ("[[claim]]\nstatement = 3", 2, "must be text"),
        (FEDAVG + "at = { K = [1] }", 10, "cannot overwrite a value"),
        (OUT.replace("0.1", '"0*largest"'), 6, "the factor must be above 0"),
        (OUT.replace("0.1", "nan"), 6, "eta = 'nan' is not a number"),
        ("schema = 2\n" + OUT, 1, "schema"),
    ],
)
def test_broken_files(text: str, line: int, problem: str) -> None:
    found = problems(text)
    assert line in found
    assert any(problem in p for p in found[line]), found


def test_the_command_prints_them_and_runs_nothing(boundcheck_cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(FEDAVG + MISTAKES)
    found = boundcheck_cli("check", path, "--json")
    assert found.code == 2
    assert not (tmp_path / "store").exists()
    assert found.json["kind"] == "SpecError"
    assert [p["line"] for p in found.json["problems"]] == sorted(p["line"] for p in found.json["problems"])
    assert f"{path}:11: the statement 'scgd/theorem_3_3/correct' is unknown" in found.err
    assert "Traceback" not in found.err


SHUFFLED = """[[claim]]
statement = "fedshuffle/theorem_5_1_strongly_convex/sharp"
problem = { kind = "fedshuffle_36" }
method = { kind = "fedshuffle", eta_l = "1/100", participation = PARTICIPATION }
at = { R = [10] }
"""


@pytest.mark.parametrize(
    ("participation", "said"),
    [
        ('{ kind = "uniform", size = 9 }', "a cohort of 9 clients is impossible; 1 to 3 are allowed."),
        ('{ kind = "importance", b = 0 }', "b = 0 clients a round are impossible; above 0 and at most 3 are allowed."),
        ('{ kind = "independent", probabilities = [1, 1] }', "2 probabilities were given for 3 clients."),
        (
            '{ kind = "subsets", subsets = [[0, 1]], probabilities = [1] }',
            "client 2 never takes part; every client needs a positive probability.",
        ),
        (
            '{ kind = "subsets", subsets = [[0, 0]], probabilities = [1] }',
            "[0, 0] is no set of clients out of 0 to 2.",
        ),
    ],
)
def test_what_does_not_fit_the_clients_is_the_only_mistake(participation: str, said: str) -> None:
    assert problems(SHUFFLED.replace("PARTICIPATION", participation)) == {4: [said]}


def test_a_round_that_is_a_constant_is_no_index() -> None:
    text = SHUFFLED.replace("PARTICIPATION", '"full"').replace("convex/", "convex_tuned/")
    assert problems(text) == {
        5: [
            "fedshuffle/theorem_5_1_strongly_convex_tuned/sharp: R is a constant of this statement, which has no "
            "index; write it under constants (constants = {R = 10})."
        ]
    }


def test_a_file_of_limits_alone(boundcheck_cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(LIMITS)
    found = boundcheck_cli("report", path, "-o", tmp_path / "pages")
    assert (found.code, found.err) == (0, "")
    assert (tmp_path / "pages" / "limits-where-it-ends.html").exists()
    for command in ("check", "compare"):
        found = boundcheck_cli(command, path)
        assert found.code == 2
        assert "the file has no [[claim]]; its [[limits]] tables are for `boundcheck report`." in found.err
    claims = tmp_path / "claims.toml"
    claims.write_text(FEDAVG)
    assert boundcheck_cli("check", path, claims).code == 0  # such as examples/*.toml
    assert "the file has no [[claim]]" in boundcheck_cli("check", path, path).err
    path.write_text(FEDAVG + LIMITS.replace("fedavg_rr", "fedavg_r"))
    found = boundcheck_cli("check", path)
    assert found.code == 2
    assert "the method 'fedavg_r' is unknown; did you mean 'fedavg_rr'" in found.err


SMALL = """[[claim]]
statement = "{statement}"
problem = {{ kind = "random_quadratics", clients = 3, d = 4, seed = 1 }}
method = {{ kind = {method} }}
"""
BLOCKS, STALE = "partial_averaging/theorem_1", "async_fl/theorem_1"
WINDOWED = '"fedfix", K = 1, eta_l = "1/10", times = [1, 2, 3], dt = "1e-9"'
DRAWN = '"fedavg_async", K = 1, eta_l = "1/10", times = { kind = "exponential", rates = [1, 2, 3] }'


@pytest.mark.parametrize(
    ("statement", "method", "line", "told"),
    [
        (BLOCKS, '"partial_averaging", tau = 2, eta = 1, partition = [[0, 1], [1, 2, 3]]', 4, "exactly once"),
        (
            BLOCKS,
            '"partial_averaging", tau = 2, eta = 1, hand_over = { active = 4, every = 9 }',
            4,
            "there are 3 clients",
        ),
        (BLOCKS, '"partial_averaging", tau = 2, eta = 1, hand_over = { active = 2, every = 9 }', 2, "handed over)."),
        (BLOCKS, '"block_averaging", tau = 2, eta = 1, partition = "whole", order = [1, 0]', 4, "leave order out"),
        (STALE, '"biased_sampling", K = 1, eta_l = "1/10", cohorts = [[]]', 2, "(no client ever takes part)."),
        (STALE, WINDOWED, 2, "repeats after 6000000000 rounds"),
        (STALE, DRAWN, 2, "no value for tau (largest delay n - rho_i(n) of a contribution, in rounds); neither"),
        (STALE, DRAWN, 2, "(exponential update times have no largest delay)."),
    ],
)
def test_what_keeps_constants_from_being_known_is_told(statement: str, method: str, line: int, told: str) -> None:
    found = problems(SMALL.format(statement=statement, method=method))
    assert list(found) == [line]
    assert told in found[line][0]
