"""Theories that a file of a user declares, beside the shipped ones."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from loaded_papers import THEOREM, unloaded_afterwards

import boundcheck as bc
from boundcheck.errors import BadInput
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting

DECLARED = """
from boundcheck.setting.theories import Row, Theory, constants, hypotheses, unless

theories = (
    Theory(
        lambda method, problem: problem if problem.dim == 1 else None,
        constants(Row("mine/twice", lambda problem: 2 * problem.clients, "twice the clients")),
        hypotheses(unless("even", lambda problem: problem.clients % 2 == 0, "the clients are odd in number.")),
        named=(unless("three", lambda problem: problem.clients == 3, "the clients are not three."),),
    ),
)
"""


def setting(clients: int, dim: int = 1) -> Setting:
    one = {"A": [[int(i == j) for j in range(dim)] for i in range(dim)]}
    problem = build_problem({"kind": "quadratics", "clients": [one] * clients, "start": [0] * dim})
    return Setting(build_method({"kind": "gradient_descent", "eta": "1/4"}), problem)


def test_a_file_of_a_user_declares_a_constant_and_a_hypothesis(tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text(DECLARED + THEOREM)
    with unloaded_afterwards():
        bc.load(own)
        assert setting(3).constant("mine/twice").value == Fraction(6)
        assert setting(4).hypothesis("even").holds is True
        answer = setting(3).hypothesis("even")
        assert (answer.holds, answer.known, answer.why) == (False, "decided", "the clients are odd in number.")
        assert setting(3).hypothesis("three").holds is True
        assert "three" not in setting(3).hypotheses()
        assert setting(3, dim=2).hypothesis("three").holds is None
        assert not setting(3, dim=2).has("mine/twice")
        assert setting(3, dim=2).hypothesis("even").holds is None
    assert not setting(3).has("mine/twice")


@pytest.mark.parametrize(
    ("change", "message"),
    [(('"mine/twice"', '"rho"'), "the constant 'rho'"), (('"even"', '"fixed_times"'), "the hypothesis 'fixed_times'")],
)
def test_a_name_that_another_theory_has_is_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    own = tmp_path / "mine.py"
    own.write_text(DECLARED.replace(*change) + THEOREM)
    times = build_method({"kind": "fedavg_async", "times": [1], "K": 1, "eta_l": "1/8"})
    with unloaded_afterwards():
        bc.load(own)
        pair = Setting(times, setting(1).problem)
        with pytest.raises(BadInput, match=f"two theories declare {message}"):
            (*pair.constants(), *pair.hypotheses())
