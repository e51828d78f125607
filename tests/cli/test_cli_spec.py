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
    assert (claim.expect, claim.tightness) == (Outcome.HOLDS, (1e-6, 10.0))
    assert claim.rate == RateClaim("dist2", Fraction(-11, 5), Fraction(-9, 5), Fraction(1, 4))


# each line with the beginnings of what is said of it, after " # "; several are parted by " & "
MISTAKES = """[[claim]]
statement = "scgd/theorem_3_3/correct" # the statement 'scgd/theorem_3_3/correct' is unknown; did you mean
problem = { kind = "least_squares", data = "diabets" } # the data set 'diabets' is unknown; did you mean 'diabetes'
method = { kind = "scgd", E = 4, eta = "0.9*larges" } # eta = '0.9*larges' is not a number
expect = "HOLD" # expect = 'HOLD' is not allowed; did you mean 'HOLDS'
tightness = { at_least = 3, at_most = 2, at_mos = 3 } # the key 'tightness.at_mos' is unknown & at_least = 3 is above

[[claim]] # has no expect
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "quadratics", client = [] } # the problem 'quadratics': parameter 'client' is unknown; did you mean
method = { kind = "sgd", E = 0 } # the method 'sgd' is unknown; did you mean 'scgd' or 'svrg' or 'saga'?
at = { k = 3 } # the index 'k' is unknown; known: K
constants = { mu = 0, sigma = 3, L = "x" } # mu = 0 is outside & symbol 'sigma' is unknown & L = 'x' is not a number
expekt = "HOLDS" # the key 'expekt' is unknown; did you mean 'expect'
level = 2 # level = 2 is not allowed; 1/2 < level < 1 is.
seeds = 1.5 # seeds = '1.5' is not allowed; it must be an integer
engine = "exakt" # the engine 'exakt' is unknown; did you mean 'exact'?
rate = { metric = "dist2", slope = [2, 1], last = 0 } # low = 2 is above high = 1 & last = 0 is not allowed; 0 < last

[[claim]] # has no expect
statement = "async_fl/equation_108/as_printed" # async_fl/equation_108/as_printed is a formula
problem = { kind = "huber" }
method = { kind = "scgd", E = 1, et = 1, eta = 1 } # the method 'scgd': parameter 'et' is unknown
at = { K = "log:0:3:2" }

[[claim]] # has no expect
statement = "scgd/theorem_3_3"
problem = { kind = "huber", k = 1.5 } # k = 3/2 is not allowed
method.kind = "scgd"
method.E = 0 # E = 0 is not allowed; it must be an integer of at least 1.
method.eta = "1/0"
at = { K = [1, -3] } # K = -3 is outside its domain: integers K >= 0.
rate = { metric = "dist", slope = [1] } # rate.slope = [1] is not allowed: list should have at least 2 items
"""
SAID = {
    number: line.partition(" # ")[2].split(" & ")
    for number, line in enumerate(MISTAKES.splitlines(), 1)
    if " # " in line
}


def test_one_mistake_of_each_part_at_once_each_with_its_line(boundcheck_cli: Run, tmp_path: Path) -> None:
    """A second wrong parameter of one method or problem, such as eta in line 31, shows when the first is mended."""
    found = problems(MISTAKES, need_expect=True)
    assert set(found) == set(SAID)
    for line, texts in SAID.items():
        assert len(found[line]) == len(texts), (line, found[line])
        for text in texts:
            assert any(text in problem for problem in found[line]), (line, text, found[line])
    path = tmp_path / "bad.toml"
    path.write_text(FEDAVG + MISTAKES)
    printed = boundcheck_cli("check", path, "--json")
    lines = [p["line"] for p in printed.json["problems"]]
    assert (printed.code, printed.json["kind"], lines) == (2, "SpecError", sorted(lines))
    assert f"{path}:11: the statement 'scgd/theorem_3_3/correct' is unknown" in printed.err
    assert "Traceback" not in printed.err
    assert not (tmp_path / "store").exists()


SHUFFLED = """[[claim]]
statement = "fedshuffle/theorem_5_1_strongly_convex/sharp"
problem = { kind = "fedshuffle_36" }
method = { kind = "fedshuffle", eta_l = "1/100", participation = PARTICIPATION }
at = { R = [10] }
"""
SMALL = """[[claim]]
statement = "STATEMENT"
problem = { kind = "random_quadratics", clients = 3, d = 4, seed = 1 }
method = { kind = METHOD }
"""


def shuffled(participation: str) -> str:
    return SHUFFLED.replace("PARTICIPATION", participation)


def blocks(more: str) -> str:
    method = f'"partial_averaging", tau = 2, eta = 1, {more}'
    return SMALL.replace("STATEMENT", "partial_averaging/theorem_1").replace("METHOD", method)


def stale(method: str) -> str:
    return SMALL.replace("STATEMENT", "async_fl/theorem_1").replace("METHOD", method)


WINDOWED = '"fedfix", K = 1, eta_l = "1/10", times = [1, 2, 3], dt = "1e-9"'
DRAWN = '"fedavg_async", K = 1, eta_l = "1/10", times = { kind = "exponential", rates = [1, 2, 3] }'


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 0, "the file has no [[claim]]"),
        ("claim = []", 1, "claim"),
        ("claim = 3", 1, "claim = 3 is not allowed; it must be a list"),
        ("[[claim]\n", 1, ""),
        (OUT.replace('"scgd/theorem_3_3"', "3"), 4, "must be text"),
        (FEDAVG + "at = { K = [1] }", 10, "cannot overwrite a value"),
        (OUT.replace("0.1", '"0*largest"'), 6, "the factor must be above 0"),
        (OUT.replace("0.1", "nan"), 6, "eta = 'nan' is not a number"),
        ("schema = 2\n" + OUT, 1, "schema"),
        (shuffled('{ kind = "uniform", size = 9 }'), 4, "a cohort of 9 clients is impossible; 1 to 3 are allowed."),
        (
            shuffled('{ kind = "importance", b = 0 }'),
            4,
            "b = 0 clients a round are impossible; above 0 and at most 3 are",
        ),
        (shuffled('{ kind = "independent", probabilities = [1, 1] }'), 4, "2 probabilities were given for 3 clients."),
        (
            shuffled('{ kind = "subsets", subsets = [[0, 1]], probabilities = [1] }'),
            4,
            "client 2 never takes part; every",
        ),
        (
            shuffled('{ kind = "subsets", subsets = [[0, 0]], probabilities = [1] }'),
            4,
            "[0, 0] is no set of clients out of",
        ),
        # a symbol without a value, and an index that is a constant of the statement
        (
            OUT.replace("scgd_appendix_c", "huber"),
            4,
            "no value for mu (strong (quasi-)convexity constant of the objective)",
        ),
        (shuffled('"full"').replace("convex/", "convex_tuned/"), 5, "write it under constants (constants = {R = 10})."),
        # what keeps constants from being known
        (blocks("partition = [[0, 1], [1, 2, 3]]"), 4, "exactly once"),
        (blocks("hand_over = { active = 4, every = 9 }"), 4, "there are 3 clients"),
        (blocks("hand_over = { active = 2, every = 9 }"), 2, "handed over)."),
        (
            blocks('partition = "whole", order = [1, 0]').replace('partial_averaging",', 'block_averaging",'),
            4,
            "leave order",
        ),
        (stale('"biased_sampling", K = 1, eta_l = "1/10", cohorts = [[]]'), 2, "(no client ever takes part)."),
        (stale(WINDOWED), 2, "repeats after 6000000000 rounds"),
        (stale(DRAWN), 2, "no value for tau (largest delay n - rho_i(n) of a contribution, in rounds); neither"),
        (stale(DRAWN), 2, "(exponential update times have no largest delay)."),
    ],
)
def test_single_mistakes(text: str, line: int, said: str) -> None:
    """Nothing but what is wrong is said."""
    found = problems(text)
    assert list(found) == [line]
    assert said in found[line][0], found


def test_a_value_that_is_missing_may_be_given() -> None:
    text = OUT.replace("scgd_appendix_c", "huber")
    assert claims_from_text(text + "constants = { mu = 1 }")[0].constants == {"mu": 1}


def test_a_file_of_limits_alone(boundcheck_cli: Run, tmp_path: Path) -> None:
    path, claims = tmp_path / "limits.toml", tmp_path / "claims.toml"
    path.write_text(LIMITS)
    claims.write_text(FEDAVG)
    found = boundcheck_cli("report", path, "-o", tmp_path / "pages")
    assert (found.code, found.err) == (0, "")
    assert (tmp_path / "pages" / "limits-where-it-ends.html").exists()
    for command in (("check", path), ("compare", path), ("check", path, path)):
        found = boundcheck_cli(*command)
        assert found.code == 2
        assert "the file has no [[claim]]; its [[limits]] tables are for `boundcheck report`." in found.err
    assert boundcheck_cli("check", path, claims).code == 0  # such as examples/*.toml
    path.write_text(FEDAVG + LIMITS.replace("fedavg_rr", "fedavg_r"))
    found = boundcheck_cli("check", path)
    assert (found.code, "the method 'fedavg_r' is unknown; did you mean 'fedavg_rr'" in found.err) == (2, True)
