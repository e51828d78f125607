"""The command tune: what bounds recommend, what runs find, and what is said of bad input."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cli_tools import DESCENT, FALSE, FEDAVG, OUT, Run

F = Fraction
Write = Callable[..., Path]

LOCAL = """
[[claim]]
name = "local"
statement = "classics/local_gd_convex/sharp"
problem = { kind = "quadratics", start = [4], clients = [{ A = [[1]], b = [1] }, { A = [[3]], b = [-1] }] }
method = { kind = "fedavg", E = 4, eta = "largest" }
at = { R = [1, 2] }
expect = "HOLDS"
"""

DANE = """
[[claim]]
name = "weight"
statement = "feddane/theorem_6/corrected"
problem = { kind = "quadratics", start = [4, 3], clients = [{ A = [[2, 0], [0, 1]] }, { A = [[1, 0], [0, 2]] }] }
method = { kind = "feddane", mu = 10, participation = "full" }
at = { T = [1, 2] }
expect = "HOLDS"
"""

DISCREPANCY = """
[[claim]]
name = "discrepancy"
statement = "partial_averaging/lemma_2/sharp"
problem = { kind = "quadratics", start = [4, 3], clients = [{ A = [[2, 0], [0, 1]] }, { A = [[1, 0], [0, 2]] }] }
method = { kind = "partial_averaging", tau = 2, eta = "1/10" }
constants = { local_grad2 = 100 }
at = { K = [2] }
expect = "HOLDS"
"""


def row(out: str, name: str) -> str:
    (found,) = [line for line in out.splitlines() if line.startswith(name)]
    return found


def tuned(run: Run, *arguments: str | Path) -> dict[str, Any]:
    found = run("tune", *arguments, "--json")
    assert found.code == 0
    return {c["claim"]: c for c in found.json["claims"]}


def test_what_the_bound_recommends_beside_the_best_that_is_found(boundcheck_cli: Run, spec: Write) -> None:
    found = boundcheck_cli("tune", spec(DESCENT), "--target", "1/10")
    assert found.code == 0
    assert found.err == ""
    header, *rows = found.out.splitlines()
    assert header.split()[:2] == ["claim", "recommended"]
    assert len(rows) == 1
    # (1/3)^k <= 1/10 from k = 3 on, (1/3)^(2k) <= 1/10 from k = 2 on, and near eta = 1/2 one step is enough
    assert row(found.out, "descent").split()[:6] == ["descent", "eta", "=", "0.333333", "3", "2"]
    assert row(found.out, "descent").split()[-2:] == ["1", "3"]


def test_json_has_the_numbers_exactly(boundcheck_cli: Run, spec: Write) -> None:
    path = spec(DESCENT)
    found = boundcheck_cli("tune", path, "--target", "0.1", "--json").json
    assert found["target"] == "1/10"
    (claim,) = found["claims"]
    assert claim["statement"] == "classics/gradient_descent_strongly_convex/as_printed"
    assert (claim["why"], claim["target"]) == ("", "8/5")  # a tenth of 4^2
    assert claim["recommended"] == {"method": {"kind": "gradient_descent", "eta": "1/3"}, "rounds": 3}
    assert (claim["needed"], claim["best"]["rounds"], claim["ratio"]) == (2, 1, 3.0)
    assert (1 - 2 * F(claim["best"]["method"]["eta"])) ** 2 <= F(1, 10)


def test_the_target_is_a_share_of_the_start(boundcheck_cli: Run, spec: Write) -> None:
    path = spec(DESCENT)
    rounds = {
        share: tuned(boundcheck_cli, path, "--target", share)["descent"]["recommended"] for share in ("1/2", "1e-4")
    }
    assert rounds["1/2"]["rounds"] == 1
    assert rounds["1e-4"]["rounds"] == 9  # 3^9 = 19683
    assert tuned(boundcheck_cli, path)["descent"]["recommended"]["rounds"] == 5  # the default is 1/100


def test_local_work_is_chosen_where_it_is_asked(boundcheck_cli: Run, spec: Write) -> None:
    path = spec(LOCAL)
    fixed = tuned(boundcheck_cli, path, "--target", "1/10")["local"]
    chosen = tuned(boundcheck_cli, path, "--target", "1/10", "--local-work", "1, 2,8")["local"]
    assert fixed["recommended"]["method"]["E"] == "4"
    assert fixed["best"]["method"]["E"] == "4"
    alone = {
        e: tuned(boundcheck_cli, path, "--target", "1/10", "--local-work", e)["local"]["recommended"]["rounds"]
        for e in ("1", "2", "8")
    }
    assert chosen["recommended"]["rounds"] == min(alone.values())
    assert alone[chosen["recommended"]["method"]["E"]] == min(alone.values())
    assert chosen["ratio"] == chosen["recommended"]["rounds"] / chosen["best"]["rounds"]


def test_a_number_stays_and_a_smaller_weight_is_tried(boundcheck_cli: Run, spec: Write) -> None:
    found = tuned(boundcheck_cli, spec(DANE), "--target", "1/10")["weight"]
    assert found["recommended"]["method"]["mu"] == "10"
    assert found["recommended"]["rounds"] > found["needed"] > found["best"]["rounds"]
    assert F(found["best"]["method"]["mu"]) < 10


def test_what_recommends_nothing_says_why(boundcheck_cli: Run, spec: Write) -> None:
    found = boundcheck_cli("tune", spec(DESCENT, OUT, DISCREPANCY), "--target", "1/10")
    assert found.code == 0  # one of them does
    assert "nothing: condition 'step size' fails" in row(found.out, "outside")
    assert "nothing: it is about 'discrepancy'" in row(found.out, "discrepancy")
    alone = boundcheck_cli("tune", spec(OUT, DISCREPANCY), "--json")
    assert alone.code == 3
    assert [c["recommended"] for c in alone.json["claims"]] == [None, None]
    assert all(c["why"] and c["ratio"] is None for c in alone.json["claims"])


def test_claims_without_a_number_of_rounds_are_left_out(boundcheck_cli: Run, spec: Write) -> None:
    found = boundcheck_cli("tune", spec(FEDAVG, FALSE, DESCENT), "--json")
    assert [c["claim"] for c in found.json["claims"]] == ["descent"]
    none = boundcheck_cli("tune", spec(FEDAVG), "--json")
    assert (none.code, none.json["claims"]) == (3, [])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "2"), "--target = 2 is not allowed; it is a share of the start, between 0 and 1."),
        (("--target", "0"), "--target = 0 is not allowed"),
        (("--target", "-1/2"), "--target = -1/2 is not allowed"),
        (("--target", "soon"), "--target = 'soon' is not a number"),
        (("--target", "nan"), "--target = 'nan' is not a number"),
        (("--local-work", "a"), "--local-work = 'a' is not a number"),
        (("--local-work", "1,,2"), "--local-work = '' is not a number"),
        (("--local-work", "3/2"), "--local-work holds 3/2; only integers are allowed."),
        (
            ("--local-work", "4,0"),
            "--local-work = 4,0 is not allowed; amounts of local work are integers of at least 1.",
        ),
    ],
)
def test_bad_options(boundcheck_cli: Run, spec: Write, arguments: tuple[str, ...], said: str) -> None:
    found = boundcheck_cli("tune", spec(FEDAVG), *arguments)  # nothing to tune: the options are read before
    assert found.code == 2
    assert found.out == ""
    assert found.err.startswith("boundcheck: ")
    assert found.err.count("\n") == 1
    assert said in found.err


def test_bad_files(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    missing = boundcheck_cli("tune", tmp_path / "none.toml")
    assert (missing.code, missing.out) == (2, "")
    assert "none.toml does not exist" in missing.err
    unknown = boundcheck_cli("tune", spec(DESCENT.replace("quadratics", "quadratic")))
    assert unknown.code == 2
    assert "quadratic" in unknown.err
    told = boundcheck_cli("tune", spec(DESCENT), "--target", "2", "--json")
    assert (told.code, told.json["exit_code"], told.json["kind"]) == (2, 2, "BadInput")
    assert boundcheck_cli("tune").code == 2
