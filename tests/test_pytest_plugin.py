"""The pytest plugin, and a user's theorem in a package of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from boundcheck.errors import BadInput
from boundcheck.pytest_plugin import Boundcheck

OWN = Path(__file__).parents[1] / "examples" / "own_theorem"
HUBER = {"kind": "huber", "L": 1, "R": 1, "k": 3}
DIABETES = {"kind": "least_squares", "data": "diabetes", "clients": 4}
APPENDIX_B = {"kind": "scgd_appendix_b", "clients": 4}
SCGD = {"kind": "scgd", "E": 2, "eta": "largest"}
APPENDIX_C = {"kind": "scgd_appendix_c"}
THEOREM = "scgd/theorem_3_3/corrected"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's package beside its wheel, which is unpacked into the folder `site`."""
    folder = tmp_path_factory.mktemp("packages") / "own"
    shutil.copytree(OWN, folder, ignore=shutil.ignore_patterns("__pycache__"))
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, str(folder)], cwd=folder, capture_output=True, text=True, check=True
    )
    with zipfile.ZipFile(folder / made.stdout.split()[-1]) as wheel:
        wheel.extractall(folder / "site")
    return folder


def run_own_package(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the tests of the package with its unpacked wheel on the path."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder / "site")},
        check=False,
    )


def test_a_package_with_one_theorem_passes_in_under_forty_lines(built: Path, tmp_path: Path) -> None:
    assert sum(len((built / p.name).read_text().splitlines()) for p in OWN.iterdir() if p.is_file()) < 40
    found = run_own_package(built, "--junitxml", str(tmp_path / "junit.xml"))
    assert found.returncode == 0, found.stdout + found.stderr
    assert "1 passed" in found.stdout
    xml = (tmp_path / "junit.xml").read_text()
    for name, value in (("statement", "own/theorem_1/as_printed"), ("outcome", "HOLDS"), ("grade", "EXACT")):
        assert f'<property name="{name}" value="{value}"' in xml
    assert '<property name="tightness" value="1"' in xml  # the Huber function attains the bound


def test_it_fails_with_the_bound_divided_by_1_01(built: Path, tmp_path: Path) -> None:
    package = tmp_path / "own"
    shutil.copytree(built, package, ignore=shutil.ignore_patterns("__pycache__"))
    # pytest puts the folder of the tests, which holds the module as well, before the installed one
    for module in (package / "own_theorem.py", package / "site" / "own_theorem.py"):
        text = module.read_text()
        assert text.count("Reading(L * dist2_0 /") == 1
        module.write_text(text.replace("Reading(L * dist2_0 /", "Reading(L * dist2_0 * 100 / 101 /"))
    found = run_own_package(package)
    assert found.returncode == 1
    assert "expected HOLDS, got VIOLATED" in found.stdout
    assert '"metric"' in found.stdout  # the witness


@pytest.fixture
def properties() -> list[tuple[str, Any]]:
    return []


@pytest.fixture
def direct(properties: list[tuple[str, Any]]) -> Boundcheck:
    return Boundcheck(properties)


def test_the_fixture_is_there(boundcheck: Boundcheck) -> None:
    assert isinstance(boundcheck, Boundcheck)


def test_assert_holds_up_to_a_round(direct: Boundcheck, properties: list[tuple[str, Any]]) -> None:
    result = direct.assert_holds(THEOREM, problem=APPENDIX_B, method=SCGD, rounds=42)
    assert result.rounds == tuple(range(0, 41, 4))  # four devices: a cycle is four rounds
    assert ("outcome", "HOLDS") in properties
    assert ("statement", THEOREM) in properties
    far = direct.assert_holds(THEOREM, problem=DIABETES, method=SCGD, rounds=10**8)
    assert far.rounds[0] == 0
    assert far.rounds[-1] == 10**8
    assert direct.assert_holds(THEOREM, problem=APPENDIX_B, method=SCGD, rounds=[0, 8, 400]).rounds == (0, 8, 400)


def test_a_range_that_says_nothing_is_not_enough(direct: Boundcheck) -> None:
    with pytest.raises(AssertionError, match="expected HOLDS, got VACUOUS"):
        direct.assert_holds(THEOREM, problem=DIABETES, method=SCGD, rounds=40)


def test_a_missed_expectation_names_verdict_and_witness(direct: Boundcheck) -> None:
    with pytest.raises(AssertionError, match=r"expected HOLDS, got OUT_OF_SCOPE: .*condition 'step size' fails"):
        direct.assert_holds(THEOREM, problem=DIABETES, method={**SCGD, "eta": 1}, rounds=8)
    method = {"kind": "fedavg", "E": 2, "eta": "1/10"}
    with pytest.raises(AssertionError, match=r"got VIOLATED(.|\n)*witness: (.|\n)*\"metric\""):
        direct.assert_holds(
            "scgd/example_app_c_fedavg/as_printed",
            problem={**APPENDIX_C, "cubic": True},
            method=method,
            arithmetic="rational",
        )


def test_assert_verdict(direct: Boundcheck) -> None:
    method = {"kind": "fedavg", "E": 2, "eta": "1/10"}
    direct.assert_verdict(THEOREM, problem=APPENDIX_C, method=method, expect="OUT_OF_SCOPE", at={"K": [1]})
    with pytest.raises(AssertionError, match="expected VIOLATED, got OUT_OF_SCOPE"):
        direct.assert_verdict(THEOREM, problem=APPENDIX_C, method=method, expect="VIOLATED", at={"K": [1]})
    with pytest.raises(BadInput, match="did you mean 'HOLDS'"):
        direct.assert_verdict(THEOREM, problem=APPENDIX_C, method=method, expect="HOLD", at={"K": [1]})


def test_assert_rate(direct: Boundcheck, properties: list[tuple[str, Any]]) -> None:
    # x_K = m^K on Appendix C; with the step eta0/K in place of a constant one, m_K = 1 - c/K and x_K ~ K^-c.
    # One step a visit: m_K = (1 + 2 h)^2 (1 - 6 h) = 1 - 2 h + O(h^2) with h = eta0/K, so x_K ~ K^(-2 eta0).
    method = {"kind": "scgd", "E": 1, "eta0": "3/4"}
    options: dict[str, Any] = {"problem": APPENDIX_C, "method": method, "at": {"K": "log:100:5000:20"}}
    statement = "scgd/theorem_3_4/corrected"
    direct.assert_rate(statement, slope=(-3.1, -2.9), **options)  # dist2 is x^2
    assert float(dict(properties)["slope"]) == pytest.approx(-3, abs=0.05)
    with pytest.raises(AssertionError, match="the slope"):
        direct.assert_rate(statement, slope=(-2.2, -1.8), **options)


def test_mistakes_in_the_call_are_sentences(direct: Boundcheck) -> None:
    with pytest.raises(BadInput, match="the option 'toleranc' is unknown"):
        direct.assert_holds(THEOREM, problem=DIABETES, method=SCGD, toleranc=3)
    with pytest.raises(BadInput, match="either rounds or at"):
        direct.assert_holds(THEOREM, problem=DIABETES, method=SCGD, rounds=3, at={"K": [1]})
    with pytest.raises(BadInput, match="round 3 falls on no admissible K"):
        direct.assert_holds(THEOREM, problem=DIABETES, method=SCGD, rounds=[3])
    with pytest.raises(BadInput, match="must be a specification"):
        direct.assert_holds(THEOREM, problem=DIABETES, method="scgd")  # pyright: ignore[reportArgumentType]


def test_rounds_of_a_schedule_are_counted_in_its_periods() -> None:
    problem = {"kind": "random_quadratics", "clients": 3, "d": 2}
    method = {"kind": "fedfix", "K": 1, "eta_l": "largest", "times": [1, 2, 3], "dt": 2}
    found = Boundcheck([]).assert_verdict(
        "async_fl/theorem_1", problem=problem, method=method, rounds=[4, 8], expect="VACUOUS"
    )
    assert found.index == (2, 4)  # every second round has clients 0, 1 and 2: the period is 2
    with pytest.raises(BadInput, match="2 update times were given for 3 clients"):
        Boundcheck([]).assert_holds("async_fl/theorem_1", problem=problem, method={**method, "times": [1, 2]}, rounds=4)
