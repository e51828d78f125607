"""The study of Table 2 of the asynchronous paper, on the shipped example."""

from __future__ import annotations

from pathlib import Path

import pytest

from boundcheck.errors import SpecError
from boundcheck.evidence.studies import Study, carry_out_study, load_studies

EXAMPLE = Path(__file__).parents[2] / "examples" / "async_schemes.toml"


@pytest.fixture(scope="module")
def study() -> Study:
    (asked,) = load_studies(EXAMPLE)
    return carry_out_study(asked)


def _entries(study: Study, table: int) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in study.tables[table].rows}


def test_asynchronous_entries_are_those_of_the_schedule(study: Study) -> None:
    found = _entries(study, 1)  # times 2, 3, 5, ties one by one: 31 aggregations in 30 units of time
    assert found["aggregations in a unit of time"][2] == "31/30"
    assert found["window, in aggregations"][2] == "31"
    assert found["largest delay, in aggregations"][2] == "5"
    assert found["largest aggregation weight d_i"][2] == "31/18"
    assert _entries(study, 2)["window, in aggregations"][2] == "22"  # joint ties


def test_the_printed_delay_of_fedfix_is_too_small_for_a_short_window(study: Study) -> None:
    printed, allowed, exact, agrees = _entries(study, 4)["largest delay, in aggregations"]
    assert (printed, allowed, exact, agrees) == ("0, floor(tau_M/tau_0)", "0 to 2", "4", "no")
    assert _entries(study, 5)["largest delay, in aggregations"][2:] == ("2", "yes")


def test_a_window_as_long_as_the_slowest_client_is_synchronous(study: Study) -> None:
    first, last = _entries(study, 0), _entries(study, 6)
    assert {k: v[2] for k, v in first.items()} == {k: v[2] for k, v in last.items()}
    assert first["residual R"][2] == "0"


def test_an_unknown_method_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "schemes.toml"
    path.write_text(EXAMPLE.read_text().replace('"fedavg_sync"', '"fedavg_sink"'))
    with pytest.raises(SpecError, match="fedavg_sink"):
        load_studies(path)


@pytest.mark.parametrize(
    ("method", "told"),
    [
        (
            '{ kind = "fedbuff", K = 1, eta_l = "1/9", times = [1, 2], m = 2 }',
            "no column for a server that aggregates when 2 clients have finished, ties one by one.",
        ),
        ('{ kind = "gradient_descent", eta = 1 }', "gradient_descent has none to go by."),
    ],
)
def test_a_method_without_a_column_is_refused_before_anything_runs(tmp_path: Path, method: str, told: str) -> None:
    file = tmp_path / "schemes.toml"
    problem = 'problem = { kind = "random_quadratics", clients = 2, d = 1 }'
    file.write_text(f'[[schemes]]\nname = "a"\n{problem}\nmethods = [{method}]\n')
    with pytest.raises(SpecError, match=told):
        load_studies(file)
