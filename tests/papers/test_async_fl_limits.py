"""Examples 1 and 2 of the asynchronous paper as claims: limits that exist, cycles, and runs that grow, decided exactly.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Sections 3.3 and 3.4.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.deciding import NoLimit
from boundcheck.evidence.limits import exact_limit
from boundcheck.evidence.witness import Witness, load_witness, replay, save_witness, stands
from boundcheck.methods.build import build
from boundcheck.problems.build import build as problem
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Grade, Outcome, Verdict

F = Fraction


def line(ends: list[Any], **more: Any) -> dict[str, Any]:
    """Clients (theta - t)^2/2."""
    return {"kind": "quadratics", "clients": [{"A": 1, "b": end} for end in ends], "start": [7], **more}


# eta_g times the weights p_i/(1/2) = 4/3 and 2/3 are 1 and 1/2
UNEVEN: dict[str, Any] = {"weights": ["2/3", "1/3"]}
TURNS = {"kind": "fedavg_async", "times": [2, 2], "K": 1, "eta_g": "3/4", "eta_l": "3/10"}
HALVES = {"kind": "fedbuff", "times": [2, 2, 2, 2], "m": 2, "K": 1}


def verdict(name: str, instance: dict[str, Any], method: dict[str, Any], **more: Any) -> Verdict:
    at = {"n" if name.startswith("example_1") else "j": [1, 10, 100]}
    return run_claim(Claim(f"async_fl/{name}", instance, method, at=at, arithmetic="rational", **more)).verdict


def by_hand(a: Fraction, b: Fraction, first: Any, second: Any) -> tuple[Fraction, Fraction]:
    """The cycle by its two equations: x' = x + a (first - y), y being what that client received two rounds ago.

    Client 1 moves the even model x to z = x + a (first - z_before), with the odd model z_before = z of the cycle, since
    it last received z; so z = x + a (first - z), and x = z + b (second - x).
    """
    # (1 + a) z - x = a first, -z + (1 + b) x = b second
    determinant = (1 + a) * (1 + b) - 1
    odd = ((1 + b) * a * first + b * second) / determinant
    even = ((1 + a) * b * second + a * first) / determinant
    return even, odd


def test_example_2_as_printed_is_violated_with_its_two_limit_points() -> None:
    found = verdict("example_2/as_printed", line([0, 3], **UNEVEN), TURNS)
    assert (found.outcome, found.grade) == (Outcome.VIOLATED, Grade.EXACT), found.reason
    even, odd = by_hand(F(3, 10), F(3, 20), 0, 3)
    assert {F(v) for v in found.witness["limit_points"]} == {even, odd} == {F(13, 11), F(10, 11)}
    assert "a cycle of 2 values" in found.reason
    assert found.details["taken_for_granted"] == []


@pytest.mark.parametrize(("reading", "place"), [("corrected", 0), ("corrected_odd", 1)])
def test_the_two_limits_of_example_2(reading: str, place: int) -> None:
    found = verdict(f"example_2/{reading}", line([0, 3], **UNEVEN), TURNS)
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT), found.reason
    assert F(found.details["limit"]) == by_hand(F(3, 10), F(3, 20), 0, 3)[place]


def test_equal_weights_make_the_mean_right_and_still_no_limit() -> None:
    """a = b: the two points lie around (theta_1 + theta_2)/2, which is what (30) says, and differ."""
    found = verdict("example_2/as_printed", line([0, 3]), {**TURNS, "eta_g": 1})
    assert (found.outcome, found.grade) == (Outcome.VIOLATED, Grade.EXACT)
    points = [F(v) for v in found.witness["limit_points"]]
    assert sum(points) / 2 == F(3, 2)
    assert points[0] != points[1]


def test_clients_with_one_minimiser_have_a_limit() -> None:
    found = verdict("example_2/as_printed", line([3, 3], **UNEVEN), TURNS)
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT), found.reason
    assert F(found.details["limit"]) == 3


def test_what_is_not_example_2_is_out_of_scope() -> None:
    curved = line([0, 3], **UNEVEN)
    curved["clients"][1] = {"A": 2, "b": 3}
    constants = {"q_1": "4/3", "q_2": "2/3", "theta_1": 0, "theta_2": 3}
    found = verdict("example_2/as_printed", curved, TURNS, constants=constants)
    assert found.outcome is Outcome.OUT_OF_SCOPE
    assert "two_alternating_clients" in found.reason
    together = {**TURNS, "ties": "joint"}
    found = verdict("example_2/as_printed", line([0, 3], **UNEVEN), together, constants=constants)
    assert found.outcome is Outcome.OUT_OF_SCOPE


def test_the_odd_models_that_stay_while_the_state_grows_are_no_divergence() -> None:
    """One client and eta_l = 2: theta goes back and forth, so that every second model is the same."""
    method, instance = build({"kind": "centralised", "K": 1, "eta_l": 2}), problem(line([0]))
    every, second = (statement(f"async_fl/example_2/{name}") for name in ("as_printed", "corrected"))
    assert isinstance(exact_limit(every, method, instance), NoLimit)
    assert exact_limit(second, method, instance) is None


@pytest.mark.parametrize(
    ("eta", "outcome"),
    [("1/2", Outcome.HOLDS), ("1", Outcome.VIOLATED), ("3/2", Outcome.VIOLATED), ("99/100", Outcome.HOLDS)],
)
def test_example_1_as_printed(eta: str, outcome: Outcome) -> None:
    found = verdict("example_1/as_printed", line([1, 3, 1, 3]), {**HALVES, "eta_l": eta})
    assert (found.outcome, found.grade) == (outcome, Grade.EXACT), found.reason


def test_example_1_as_corrected() -> None:
    found = verdict("example_1/corrected", line([1, 3, 1, 3]), {**HALVES, "eta_l": "1/2"})
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)
    beyond = verdict("example_1/corrected", line([1, 3, 1, 3]), {**HALVES, "eta_l": "3/2"})
    assert beyond.outcome is Outcome.OUT_OF_SCOPE
    # an even number of steps: phi = 1 - 1/4 = 3/4
    even = verdict("example_1/corrected", line([1, 3, 1, 3]), {**HALVES, "K": 2, "eta_l": "3/2"})
    assert (even.outcome, even.grade) == (Outcome.HOLDS, Grade.EXACT)


def test_example_1_from_the_optimum_is_not_decided() -> None:
    """There the run stays, whatever the roots: no divergence is claimed."""
    at_rest = {**line([1, 3, 1, 3]), "start": [2]}
    found = verdict("example_1/as_printed", at_rest, {**HALVES, "eta_l": "3/2"})
    assert found.outcome is not Outcome.VIOLATED


@pytest.mark.parametrize("ends", [[1, 1, 3, 3], [1, 2, 3, 4], [1, 1, 1, 1]])
def test_what_is_not_example_1_is_out_of_scope(ends: list[int]) -> None:
    """Halves with one kind of data, with four kinds, and a single kind."""
    found = verdict("example_1/as_printed", line(ends), {**HALVES, "eta_l": "1/2"})
    assert found.outcome is Outcome.OUT_OF_SCOPE, found.reason
    assert "four_alternating_clients" in found.reason


@pytest.mark.parametrize(
    ("name", "instance", "method"),
    [
        ("example_2", line([0, 3], **UNEVEN), TURNS),
        ("example_1", line([1, 3, 1, 3]), {**HALVES, "eta_l": "3/2"}),
    ],
)
def test_the_witnesses_replay(tmp_path: Path, name: str, instance: Any, method: Any) -> None:
    at = {"n" if name == "example_1" else "j": [1, 10]}
    claim = Claim(f"async_fl/{name}/as_printed", instance, method, at=at, arithmetic="rational")
    save_witness(
        Witness(claim.statement, instance, method, at, run_claim(claim).verdict, {"by": "hand"}), tmp_path / "w.json"
    )
    again = replay(load_witness(tmp_path / "w.json"))
    assert stands(again), again.reason
    assert "differs" not in again.details
