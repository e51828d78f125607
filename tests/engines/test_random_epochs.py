"""Numbers of local epochs that each client draws anew in each round, in every method that has epochs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sampled_toys import small_problem

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import build
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Correction,
    EpochRange,
    Epochs,
    Full,
    Stale,
    SumOne,
    Unbiased,
)
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.followed_objective import surrogate

F = Fraction
STEP = Constant(F(1, 16))
DRAWN = EpochRange(1, 2)
NOVA = Epochs(DRAWN, divide="largest")
LEAST, MEAN = Epochs(DRAWN, common="min"), Epochs(DRAWN, common="mean")


def test_fednova_follows_the_true_objective_on_average() -> None:
    """The weights of the first-order objective are w_i although the clients' numbers of steps differ."""
    p = small_problem(3, 1, 2)
    method = build({"kind": "fedshuffle_nova", "eta_l": "1/10", "E": {"low": 1, "high": 3}})
    assert list(surrogate(method, p).weights) == [F(1, 2), F(1, 6), F(1, 3)]
    plain = build({"kind": "fedavg_sgd", "eta_l": "1/10", "E": {"low": 1, "high": 3}})
    assert list(surrogate(plain, p).weights) != [F(1, 2), F(1, 6), F(1, 3)]


def test_common_steps_by_hand() -> None:
    """Two clients of one sample draw 1 or 2 steps: the least is 1 with probability 3/4; 3/2 is rounded up to 2."""
    assert LEAST.law_of_common((0, 1), Clients.alike(2)) == [(F(3, 4), 1), (F(1, 4), 2)]
    assert MEAN.law_of_common((0, 1), Clients.alike(2)) == [(F(1, 4), 1), (F(3, 4), 2)]
    p = build_problem({"kind": "quadratics", "clients": [{"A": 1, "b": 0}] * 2, "start": [1]})
    for kind, twice in (("fedavg_min", F(1, 4)), ("fedavg_mean", F(3, 4))):
        method = build({"kind": kind, "eta_l": "1/2", "E": {"low": 1, "high": 2}})
        curve = run_exact(method, p, [1], ["dist2"], arithmetic=Arithmetic.RATIONAL)
        assert curve.exact["dist2"][0] == (1 - twice) / 4 + twice / 16


def test_what_has_no_meaning_is_refused() -> None:
    for local, rule in ((LEAST, SumOne()), (NOVA, Unbiased("nova"))):
        for more in ({"exchange": Stale()}, {"correction": Correction()}):
            with pytest.raises(BadInput, match="no further part"):
                Method("m", Full(), local, STEP, rule, **more)
    with pytest.raises(BadInput, match="divided by a client's own"):
        Epochs(DRAWN, common="min", divide="work")
    with pytest.raises(BadInput, match="divide by a client's number of local steps"):
        Method("m", Full(), LEAST, STEP, Unbiased("nova"))
    twice = build(
        {"kind": "fedavg_min", "eta_l": 1, "E": {"low": 1, "high": 2},
         "participation": {"kind": "with_replacement", "size": 2}}
    )  # fmt: skip
    with pytest.raises((BadInput, Unsupported), match="drawn twice"):
        run(twice, small_problem(1, 1), rounds=[1])
