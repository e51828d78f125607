"""Worst cases of statements: certified from above, attained from below, held against the bound."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.verify import boundcheck_verify as verify
from boundcheck.worst_case.case import METRICS, OF_CLIENTS
from boundcheck.worst_case.result import worst_case

BLOCKS: dict[str, Any] = {"clients": 2, "tau": 2, "eta": "1/10", "K": 2, "Lmax": 1, "sum_L_sigma2": 0,
                          "sum_L2_sigma2": 0, "gap_0": 1}  # fmt: skip
CONVEX: dict[str, Any] = {"L": 1, "eta": 1, "dist2_0": 1}
DANE: dict[str, Any] = {"L": 1, "B2": 4, "gamma": 0, "mu": 20, "gap_0": 10, "grad2_0": 1}


@pytest.mark.parametrize("k", [1, 2, 5])
def test_gradient_descent_from_both_sides(k: int) -> None:
    found = worst_case("classics/gradient_descent_convex/as_printed", **CONVEX, k=k)
    exact = Fraction(1, 4 * k + 2)
    assert found.upper is not None
    assert found.lower is not None
    assert exact <= found.upper <= exact * (1 + Fraction(1, 10**6))
    assert float(exact) * (1 - 1e-6) <= found.lower <= float(exact)
    assert found.outcome == "PROVED"
    assert found.looseness == pytest.approx(((4 * k + 2) / (2 * k),) * 2, rel=1e-5)


@pytest.mark.parametrize("clients", [1, 2, 3])
def test_a_round_of_feddane(clients: int) -> None:
    found = worst_case("feddane/theorem_3", clients=clients, **DANE)
    exact = 10 - Fraction(2 * 20 + 1, 2 * 21**2)
    assert found.upper is not None
    assert found.lower is not None
    assert exact <= found.upper <= exact + Fraction(1, 10**6)
    assert found.lower == pytest.approx(10 * (20 / 20.05) ** 2, rel=1e-9)
    assert found.outcome == "PROVED"


def test_more_cohorts_are_worse_than_one() -> None:
    drawn = worst_case("feddane/theorem_3", clients=2, method={"K": 2}, **DANE)
    everyone = worst_case("feddane/theorem_3", clients=2, **DANE)
    assert drawn.upper is not None
    assert everyone.upper is not None
    assert drawn.upper > everyone.upper + Fraction(1, 1000)


def test_a_broken_bound_is_broken_by_its_instance() -> None:
    """1/(5 eta k) is below the worst case 1/(4 eta k + 2/L) from k = 3 on."""
    from boundcheck.worst_case.typed import typed

    own = typed("gap <= dist2_0/(5*eta*k)", "gradient_descent", ["eta <= 1/L"], ["convexity"], {"L": "clients/L"})
    for k, outcome in ((1, "PROVED"), (3, "VIOLATED")):
        assert worst_case(own.statement, **CONVEX, k=k).outcome == outcome


def test_cyclic_visits() -> None:
    values: dict[str, Any] = {"L": 1, "mu": "1/10", "n": 2, "E": 2, "eta": "1/1000", "sigma2": 1, "dist2_0": 1, "K": 1}
    found = worst_case("scgd/theorem_3_3", **values)
    assert found.outcome == "PROVED"
    assert found.lower is not None
    assert found.upper is not None
    assert 0.9992 <= found.lower <= float(found.upper) <= 0.99961
    assert found.necessary == ["strong_quasi_convexity"]


# --- certificates ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate() -> dict[str, Any]:
    found = worst_case("classics/gradient_descent_convex", **CONVEX, k=2)
    assert found.certificate is not None
    return json.loads(json.dumps(found.certificate))


def examined(data: Any, folder: Path) -> dict[str, Any]:
    path = folder / "record.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return verify.examined(path)


def changes(path: list[Any], value: Any) -> Any:
    """The change of a certificate that puts a value, or a function of what stands there, at a path."""

    def change(data: dict[str, Any]) -> None:
        at: Any = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value(at[path[-1]]) if callable(value) else value

    return change


def multiplier(of: list[str], *values: str) -> Any:
    return changes(["multipliers"], lambda own: [*own, *([of, v] for v in values)])


PAIR = ["interpolation", "0", "0", "0", "1"]
CHANGES: dict[str, Any] = {
    "a lower value": changes(["upper"], lambda v: str(Fraction(v) - Fraction(1, 10**9))),
    "another multiplier": changes(["multipliers", 3, 1], lambda v: str(Fraction(v) * Fraction(1001, 1000))),
    "a negative multiplier": multiplier(PAIR, "-1", "1"),
    "another point": changes(["answers", 0, 0, 2, 0, "0"], "9/10"),
    "a smoother function": changes(["curvature", 1], "1/2"),
    "an unknown inequality": multiplier(["of_my_own", "0"], "1"),
    "a moved anchor": changes(["answers", 0, 0, 0, 1], {"0": "1"}),
    "a point and itself": multiplier(["interpolation", "0", "0", "1", "1"], "1"),
    "too many rows": changes(["rows"], 10**6),
    "no probability": changes(["measured", "of", 0, 1, 0, 0], "1/2"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_verifier_accepts_a_certificate_and_refuses_a_changed_one(
    change: str, certificate: dict[str, Any], tmp_path: Path
) -> None:
    row = examined(certificate, tmp_path)
    assert (row["valid"], row["kind"]) == (True, "worst")
    assert "claim gap after 2 rounds <=" in "".join(row["shown"])
    data = json.loads(json.dumps(certificate))
    CHANGES[change](data)
    row = examined(data, tmp_path)
    assert not row["valid"]
    assert row["verdict"].startswith("invalid")


# --- what cannot be looked at ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "more", "error", "says"),
    [
        ("classics/chung_lemma", {}, Unsupported, "is no upper bound on a run of a method"),
        ("classics/gradient_descent_convex", {**CONVEX, "k": 200}, Unsupported, "need more than 120 basis vectors"),
        ("classics/gradient_descent_convex", {**CONVEX, "k": 1, "mu": 1}, UnknownName, "symbol 'mu' is unknown"),
        ("classics/gradient_descent_convex", {**CONVEX, "k": 1, "clients": 0}, BadInput, "clients = 0 is not allowed"),
        ("classics/gradient_descent_convex", {**CONVEX, "k": 1, "L": -1}, BadInput, "L = -1 is outside its domain"),
        ("classics/gradient_descent_convex", CONVEX, BadInput, "the bound needs a value for k"),
        ("feddane/theorem_3", {**DANE, "gamma": "1/2"}, Unsupported, "exact solves alone"),
        ("partial_averaging/theorem_1", {}, BadInput, "needs the parameter 'tau'"),
        ("partial_averaging/theorem_1", BLOCKS, Unsupported, "treats blocks of the model apart"),
        ("fedshuffle/lemma_c_2", {}, Unsupported, "bounds 'drift'; worst cases are of gap, dist2, grad2"),
    ],
)
def test_one_sentence_says_why(id: str, more: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        worst_case(id, **more)


def test_numbers_that_contradict_the_class_have_no_value() -> None:
    """|grad F|^2 <= 2 L gap, so that grad2_0 = 4 and gap_0 = 1 fit no smooth function."""
    given: dict[str, Any] = {**DANE, "gap_0": 1, "grad2_0": 4}
    found = worst_case("feddane/theorem_3", clients=2, **given)
    assert (found.upper, found.lower) == (None, None)
    assert "contradict the class" in found.why


# --- the command ----------------------------------------------------------------------------------------------------


def sets(values: dict[str, Any]) -> list[str]:
    return [part for name, value in values.items() for part in ("--set", f"{name}={value}")]


def test_the_command_writes_a_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.json"
    code = main(["worst-case", "classics/gradient_descent_convex/as_printed", *sets({**CONVEX, "k": 2}),
                 "--certificate", str(path), "--json"])  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert found["certified"] is True
    assert found["outcome"] == "PROVED"
    assert {"upper", "lower", "bound", "ratio", "certificate"} <= set(found)
    assert verify.examined(path)["valid"]


def test_a_map_over_two_constants(capsys: pytest.CaptureFixture[str]) -> None:
    swept = ["--sweep", "k=1,2", "--sweep", "eta=1/2,1"]
    fixed = sets({"L": 1, "dist2_0": 1})
    assert main(["worst-case", "classics/gradient_descent_convex/as_printed", *fixed, *swept]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0][:2] == ["k", "eta"]
    assert [row[:2] for row in rows[1:]] == [["1", "1/2"], ["1", "1"], ["2", "1/2"], ["2", "1"]]
    assert {row[-1] for row in rows[1:]} == {"PROVED"}


def test_the_public_function_has_a_short_repr_and_a_card() -> None:
    """Gradient descent, one step 1/L: the worst gap is L R^2/6, a third of the printed L R^2/2."""
    found = bc.worst_case("classics/gradient_descent_convex/as_printed", L=1, eta=1, dist2_0=1, k=1)
    assert found.upper == pytest.approx(Fraction(1, 6), abs=1e-7)
    assert found.lower == pytest.approx(1 / 6, abs=1e-7)
    assert repr(found).startswith("<WorstCase PROVED classics/gradient_descent_convex/as_printed: between 0.1666666")
    assert len(repr(found)) < 200
    assert "looseness" in found._repr_html_()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(BadInput, match="no part"):
        bc.audit("classics/gradient_descent_convex", {"no part": 1})


def test_constants_of_the_method_are_not_overridden() -> None:
    """M belongs to who takes part: a value of the user's would speak of another cohort."""
    given: dict[str, Any] = {"L": 1, "mu": "1/10", "G2": 1, "B2": 2, "P2": 1, "sigma2": 1, "E": 1, "eta_l": "1/100",
                             "eta_g": 1}  # fmt: skip
    with pytest.raises(BadInput, match=r"M = 5 is not allowed: of this method and these clients it is 0; leave it out"):
        worst_case("fedshuffle/recursion_convex", clients=2, **given, M=5, dist2_0=1, gap_0="1/4")


def test_assumptions_on_functions_are_never_decided_by_clients() -> None:
    """Without blocks or L_i of the clients in the class, these assumptions are left out, and the result says so."""
    names = {n for s in bc.statements() if s.metric.quantity in METRICS for n in (a.name for a in s.assumptions)}
    on_functions = {"client_smoothness", "block_variance", "smooth_blocks", "total_dissimilarity", "iid_clients"}
    assert on_functions <= names
    assert not on_functions & {*OF_CLIENTS}


@pytest.fixture
def kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "c.json"
    main(["worst-case", "feddane/theorem_3/as_printed", "--clients", "2", *sets(DANE), "--certificate", str(path)])
    capsys.readouterr()
    return path


def test_a_certificate_is_held_against_its_statement(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(kept)]) == 0
    said = capsys.readouterr().out
    assert "claim gap after 1 rounds <=" in said
    assert ": valid" in said
    assert main(["verify", str(kept), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"] == []
    # its inequalities are right, but the points are those of another prox parameter than the values say
    data = json.loads(kept.read_text())
    data["values"]["mu"] = "21"
    kept.write_text(json.dumps(data))
    assert verify.examined(kept)["valid"]
    assert main(["verify", str(kept), "--json"]) == 1
    assert "answers" in json.loads(capsys.readouterr().out)["differences"]
    data["upper"] = "9"
    kept.write_text(json.dumps(data))
    assert main(["verify", str(kept)]) == 1
    assert "invalid" in capsys.readouterr().out
