"""The command tune: what bounds recommend beside what runs find, and bad options."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

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


def test_what_the_bound_recommends_beside_the_best_that_is_found(boundcheck_cli: Run, spec: Write) -> None:
    # (1/3)^k <= 1/10 from k = 3 on, (1/3)^(2k) <= 1/10 from k = 2 on, and near eta = 1/2 one step is enough
    path = spec(DESCENT, OUT, FEDAVG, FALSE)  # the last two have no number of rounds
    found = boundcheck_cli("tune", path, "--target", "1/10")
    assert (found.code, found.err) == (0, "")
    rows = {line.split()[0]: line for line in found.out.splitlines()}
    assert list(rows) == ["claim", "descent", "outside"]
    assert rows["descent"].split()[:6] == ["descent", "eta", "=", "0.333333", "3", "2"]
    assert rows["descent"].split()[-2:] == ["1", "3"]
    assert "nothing: condition 'step size' fails" in rows["outside"]
    data = boundcheck_cli("tune", path, "--target", "0.1", "--json").json
    own, outside = data["claims"]
    assert (data["target"], own["why"], own["target"]) == ("1/10", "", "8/5")  # a tenth of 4^2
    assert own["recommended"] == {"method": {"kind": "gradient_descent", "eta": "1/3"}, "rounds": 3}
    assert (own["needed"], own["best"]["rounds"], own["ratio"]) == (2, 1, 3.0)
    assert (1 - 2 * F(own["best"]["method"]["eta"])) ** 2 <= F(1, 10)
    assert (outside["recommended"], outside["ratio"]) == (None, None)
    (default,) = boundcheck_cli("tune", spec(DESCENT), "--json").json["claims"]
    assert default["recommended"]["rounds"] == 5  # 1/100


def test_nothing_recommended_is_exit_code_3(boundcheck_cli: Run, spec: Write) -> None:
    for claims, count in ((OUT, 1), (FEDAVG, 0)):
        found = boundcheck_cli("tune", spec(claims), "--json")
        assert (found.code, len(found.json["claims"])) == (3, count)


def test_local_work_is_chosen_where_it_is_asked(boundcheck_cli: Run, spec: Write) -> None:
    path = spec(LOCAL)
    works = ((), ("--local-work", "1, 2,8"), ("--local-work", "1"), ("--local-work", "2"), ("--local-work", "8"))
    fixed, chosen, *alone = (
        boundcheck_cli("tune", path, "--target", "1/10", *more, "--json").json["claims"][0]["recommended"]
        for more in works
    )
    assert fixed["method"]["E"] == "4"
    assert chosen["rounds"] == min(one["rounds"] for one in alone)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "2"), "--target = 2 is not allowed; it is a share of the start, between 0 and 1."),
        (("--target", "0"), "--target = 0 is not allowed"),
        (("--target", "soon"), "--target = 'soon' is not a number"),
        (("--local-work", "1,,2"), "--local-work = '' is not a number"),
        (("--local-work", "3/2"), "--local-work holds 3/2; only integers are allowed."),
        (("--local-work", "4,0"), "amounts of local work are integers of at least 1."),
    ],
)
def test_bad_options(boundcheck_cli: Run, spec: Write, arguments: tuple[str, ...], said: str) -> None:
    found = boundcheck_cli("tune", spec(FEDAVG), *arguments)  # nothing to tune: the options are read before
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert said in found.err
