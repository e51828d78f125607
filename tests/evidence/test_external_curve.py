"""Curves from outside: what each tool exports, by its columns, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BadInput

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return put


def values(curve: Curve, metric: str = "gap") -> list[float]:
    return curve.values[metric].tolist()


# --- the plain form ---------------------------------------------------------------------------------------


def test_numbers_are_those_of_every_other_input(write: Write) -> None:
    found = Curve.from_file(write("runs.csv", "round,value\n0,1\n1,1/3\n2,1e-3\n10,inf\n"), "gap")
    assert found.rounds.tolist() == [0, 1, 2, 10]
    assert values(found) == [1, 1 / 3, 0.001, np.inf]
    assert (found.arithmetic, found.expectation, found.diverged) == (Arithmetic.FLOAT64, False, 10)
    assert found.info["columns"] == "rounds 'round', values 'value'"


def test_a_column_of_seeds_makes_rows_of_samples(write: Write) -> None:
    text = "round;value;seed\n0;1;a\n1;.5;a\n0;1;b\n1;.25;b\n"
    found = Curve.from_file(write("runs.csv", text), "gap")
    assert found.samples["gap"].tolist() == [[1, 0.5], [1, 0.25]]
    assert (found.arithmetic, found.expectation) == (Arithmetic.SAMPLED, True)
    assert found.info["seeds"] == {"count": 2, "names": ["a", "b"]}
    assert values(found) == [1, 0.375]


def test_several_metrics_in_columns_of_their_own(write: Write) -> None:
    found = Curve.from_file(write("runs.csv", "round,gap,dist2,note\n0,1,4,x\n1,.5,2,y\n"))
    assert (values(found), values(found, "dist2")) == ([1, 0.5], [4, 2])


def test_means_with_standard_errors(write: Write) -> None:
    found = Curve.from_file(write("runs.csv", "round,mean,stderr\n0,1,0\n1,.5,.01\n"), "gap", value="mean", level=0.99)
    # two rounds and two sides: the normal quantile at 1 - 0.01/4 is 2.80703...
    assert found.low["gap"].tolist() == pytest.approx([1, 0.5 - 0.0280703], abs=1e-7)
    assert found.high["gap"].tolist() == pytest.approx([1, 0.5 + 0.0280703], abs=1e-7)
    assert "normal about the expectation" in found.info["normal"]


# --- what trackers export ---------------------------------------------------------------------------------

WANDB_CHART = (
    '"Step","sweet-1 - gap","sweet-1 - gap__MIN","sweet-1 - gap__MAX",'
    '"bold-2 - gap","bold-2 - gap__MIN","bold-2 - gap__MAX"\n'
    '"0","1","1","1","1","1","1"\n"1","0.5","0.5","0.5","0.25","0.25","0.25"\n'
)
WANDB_HISTORY = ",_step,_runtime,_timestamp,gap,lr\n0,0,1.1,1700000000.1,1.0,\n1,1,2.2,1700000001.1,0.5,0.01\n"
WANDB_JSON = '{"_step": 0, "_runtime": 1.5, "gap": 1.0}\n{"_step": 1, "_runtime": 2.5, "gap": 0.5}\n'
MLFLOW_CSV = (
    "run_id,key,value,step,timestamp\na1,gap,1,0,7\na1,gap,0.5,1,8\na1,loss,9,0,7\nb2,gap,1,0,7\nb2,gap,.25,1,8\n"
)
MLFLOW_JSON = json.dumps(
    {
        "metrics": [
            {"key": "gap", "value": v, "timestamp": 1700000000000 + k, "step": str(k)} for k, v in ((0, 1.0), (1, 0.5))
        ]
    }
)
TENSORBOARD_CSV = "Wall time,Step,Value\n1443856985.705543,0,1.0\n1443857105.704628,1,0.5\n"
TENSORBOARD_JSON = "[[1443856985.705543, 0, 1.0], [1443857105.704628, 1, 0.5]]"
ONE = ("values", [1, 0.5])
TWO = ("samples", [[1, 0.5], [1, 0.25]])


EXPORTS: list[tuple[str, str, dict[str, str], tuple[str, Any]]] = [
    ("wandb.csv", WANDB_CHART, {"round": "Step", "value": "* - gap"}, TWO),
    ("history.csv", WANDB_HISTORY, {"round": "_step", "value": "gap"}, ONE),
    ("history.jsonl", WANDB_JSON, {"round": "_step"}, ONE),
    ("history.json", f"[{WANDB_JSON.strip().replace(chr(10), ',')}]", {"round": "_step"}, ONE),
    ("mlflow.csv", MLFLOW_CSV, {"round": "step", "seed": "run_id"}, TWO),
    ("mlflow.json", MLFLOW_JSON, {"round": "step"}, ONE),
    ("board.csv", TENSORBOARD_CSV, {"round": "Step"}, ONE),
    ("board.json", TENSORBOARD_JSON, {"round": "1", "value": "2"}, ONE),
    ("columns.json", '{"round": [0, 1], "gap": [1, "1/2"]}', {}, ONE),
    ("wide.csv", "round,gap seed 0,gap seed 1\n0,1,1\n1,.5,.25\n", {"value": "gap seed *"}, TWO),
    ("wide.tsv", "round\trun_0\trun_1\n0\t1\t1\n1\t.5\t.25\n", {"value": "run_*"}, TWO),
    ("long.csv", "round,what,value\n0,loss,1\n0,lr,7\n1,loss,.5\n", {"key": "what", "value": "loss"}, ONE),
    ("odd.csv", "epochs,loss,who\n0,1,x\n0,1,y\n1,.5,x\n1,.25,y\n", {"round": "epochs", "seed": "who"}, TWO),
]


@pytest.mark.parametrize(("name", "text", "columns", "expected"), EXPORTS, ids=[export[0] for export in EXPORTS])
def test_each_export_by_its_columns(
    write: Write, name: str, text: str, columns: dict[str, str], expected: tuple[str, Any]
) -> None:
    more: dict[str, Any] = {**columns, **({"value": "loss"} if name == "odd.csv" else {})}
    found = Curve.from_file(write(name, text), "gap", **more)
    assert found.rounds.tolist() == [0, 1]
    part, numbers = expected
    assert getattr(found, part)["gap"].tolist() == numbers
    assert found.expectation == (part == "samples")
    assert all(f"'{name}'" in found.info["columns"] for name in columns.values() if name != "loss" and "*" not in name)


def test_columns_of_seeds_have_the_names_of_seeds(write: Write) -> None:
    found = Curve.from_file(write("wandb.csv", WANDB_CHART), "gap", round="Step", value="* - gap")
    assert found.info["seeds"] == {"count": 2, "names": ["sweet-1", "bold-2"]}
    assert found.info["columns"] == "rounds 'Step', values of 2 seeds in columns such as 'sweet-1 - gap'"


def test_one_column_of_errors_is_of_one_metric(write: Write) -> None:
    path = write("runs.csv", "round,a,b,stderr,b_stderr\n0,1,2,.5,.25\n")
    with pytest.raises(BadInput, match=r"one column of standard errors and several of values \['a', 'b'\]; name one"):
        Curve.from_file(path)
    assert Curve.from_file(path, value="a").info["standard_error"] == {"a": [0.5]}
    assert Curve.from_file(path, value="b", stderr="b_stderr").info["standard_error"] == {"b": [0.25]}
    several = Curve.from_file(write("two.csv", "round,a,a_stderr,b,b_stderr\n0,1,.5,2,.25\n"))
    assert several.info["standard_error"] == {"a": [0.5], "b": [0.25]}


# --- malformed --------------------------------------------------------------------------------------------

# fmt: off
MALFORMED: list[tuple[Any, ...]] = [  # name, text, sentence, columns
    ("a.csv", "", "cannot be read as .csv: No columns"),
    ("a.csv", "round,value\n", "is empty or has no rows"),
    ("a.csv", "0,1\n1,.5\n", "has no header"),
    ("a.csv", "round,value\n0,1\n1\n", "row 2 has fewer cells than the header"),
    ("a.csv", "round,value\n0,1\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
    ("a.csv", "round,value,value\n0,1,1\n", "has the column 'value' twice"),
    ("a.csv", 'round,value\n0,"1\n', "cannot be read as .csv: unexpected end of data"),
    ("a.csv", "time,value\n0,1\n", "has no column of rounds"),
    ("a.csv", "round,seed\n0,1\n", "has no column of values"),
    ("a.csv", "round,value\n0,1\n1,nan\n", "row 2: the value is nan; a diverged run has the value inf"),
    ("a.csv", "round,value\n0,1\n1,-inf\n", "row 2: the value is -inf"),
    ("a.csv", "round,value\n0,1\n1,9**9\n", "row 2: the value = '9**9' is not a number"),
    ("a.csv", "round,value\n0,1\n1,1/0\n", "divides by zero"),
    ("a.csv", "round,value\n0,1\n1,1e400\n", "beyond the largest double"),
    ("a.csv", "round,value\n0,1\n2,.5\n1,.6\n", "row 3 has round 1 after round 2; rounds increase"),
    ("a.csv", "round,value\n0,1\n1,.5\n1,.4\n", "row 3 gives round 1 again, which row 2 has"),
    ("a.csv", "round,value,seed\n0,1,7\n0,1,7\n", "row 2 gives round 0 of seed 7 again"),
    ("a.csv", "round,value,seed\n0,1,0\n1,.5,0\n0,1,1\n", "seed 1 has no round 1, which seed 0 has"),
    ("a.csv", "round,value,seed\n0,1,0\n1,.5,0\n0,1,1\n1,.5,1\n", "all 2 seeds have the same values"),
    ("a.csv", "round,value,seed\n0,1,0\n1,.5,\n", "row 2 has no seed"),
    ("a.csv", "round,value\n0,1\n1.5,.5\n", "the round 1.5 is not allowed; whole numbers from 0 are"),
    ("a.csv", "round,value\n-1,1\n0,.5\n", "the round -1 is not allowed"),
    ("a.csv", "round,value\n,1\n1,.5\n", "row 1 has no round"),
    ("a.csv", "round,value,stderr\n0,1,0\n1,.5,-1\n", "a standard error is -1"),
    ("a.csv", "round,value,stderr\n0,1,0\n1,.5,\n", "row 2 has no standard error"),
    ("a.csv", "round,value,seed,stderr\n0,1,0,1\n", "has seeds and standard errors"),
    ("a.csv", "round,key,value\n0,loss,1\n",
     "holds 'loss', not 'gap'; name its column, such as value = 'loss', or with *"),
    ("a.csv", "round,loss,dist2\n0,1,2\n", "holds 'loss', 'dist2', not 'gap'"),
    ("a.json", '{"round": 3}', "it is no list of objects such as"),
    ("a.json", '{"round": [0, 1], "gap": [1]}', "no lists of one length"),
    ("a.json", '[{"round": 0, "gap": NaN}]', "the value is nan"),
    ("a.json", "[[0, 0, 1], [1, 1]]", "no lists of one length"),
    ("a.json", '[{"round": 0, "gap": [1]}]', "row 1: the value = [1] is not a number"),
    ("a.json", '[{"round": 0, "loss": [1]}]', "has no column of values (it has the columns 'round', 'loss')"),
    ("a.json", '[{"round": true, "gap": 1}]', "the round True is not allowed"),
    ("a.json", "[" * 10_000, "maximum recursion depth exceeded"),
    ("a.jsonl", '{"round": 0, "gap": 1}\n[1]\n', "it is no list of objects"),
    ("a.jsonl", '{"round": 0, "gap": 1}\n{"round"\n', "Expecting ':' delimiter: line 2 column 9"),
    ("a.xlsx", "round,value\n0,1\n", "is not a file that is read here; its name ends in one of"),
    # columns by name
    ("a.csv", WANDB_CHART,
        "has no column of rounds (it has the columns 'Step', 'sweet-1 - gap', 'sweet-1 - gap__MIN', "),
    ("a.csv", WANDB_CHART, "has no column 'step' (round); it has the columns 'Step', 'sweet-1 - gap', ",
        {"round": "step"}),
    ("a.csv", WANDB_CHART, "holds 'sweet-1 - gap', 'sweet-1 - gap__MIN', ", {"round": "Step"}),
    ("a.csv", WANDB_CHART, "no column '* - loss' (value); it has the columns 'Step'", {"round": "Step",
        "value": "* - loss"}),
    ("a.csv", TENSORBOARD_CSV, "no column of rounds (it has the columns 'Wall time', 'Step', 'Value');",
        {"value": "Value"}),
    ("a.csv", MLFLOW_CSV, "holds 'gap', 'loss', not 'acc'; name its column", {"round": "step", "value": "acc"}),
    ("a.csv", MLFLOW_CSV, "no column 'run' (seed); it has the columns 'run_id', 'key', ", {"round": "step",
        "seed": "run"}),
    ("a.csv", "round,a seed 0,a seed 1,seed\n0,1,2,7\n", "seeds in 'a seed *' and in 'seed'; name one of them",
     {"value": "a seed *"}),
    ("a.csv", "round,Round,gap\n0,1,2\n",
        "several columns are called round, so name the one: round = '...'; it has the"),
    ("a.csv", "round,gap,Value,value\n0,1,2,3\n", "several columns are called value", {"key": "gap"}),
    ("a.csv", '"Step","Group: a - gap","Group: a - gap__MIN","Group: a - gap__MAX"\n"0","1","0.5","1.5"\n',
     "it is a mean over runs or steps; export the runs one by one", {"round": "Step", "value": "* - gap"}),
]
# fmt: on


@pytest.mark.parametrize("row", MALFORMED, ids=[row[2][:40] for row in MALFORMED])
def test_malformed_files_are_refused_in_a_sentence(write: Write, row: tuple[Any, ...]) -> None:
    name, text, sentence, *columns = row
    path = write(name, text)
    with pytest.raises(BadInput) as caught:
        Curve.from_file(path, "gap", **(columns[0] if columns else {}))
    found = str(caught.value)
    assert sentence in found
    assert str(path) in found
    assert (found[-1], "\n" in found) == (".", False)


def test_bytes_that_are_no_text_and_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"round,value\n0,\xff\n")
    for name, sentence in (("a.csv", "can't decode byte 0xff in position 14"), ("b.csv", "does not exist")):
        with pytest.raises(BadInput, match=sentence):
            Curve.from_file(tmp_path / name, "gap")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        Curve.from_file(tmp_path / "folder.csv", "gap")


# --- arrays -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounds", "numbers", "more", "sentence"),
    [
        ([0, 1], [1], {}, "2 rounds and 1 values"),
        ([0, 1], [[1, 2], [3]], {}, "2 rounds and 1 values of seed 1"),
        ([], [], {}, "has no values of 'gap'"),
        ([1, 0], [1, 2], {}, "round 0 after round 1"),
        ([0, 0], [1, 2], {}, "value number 1 gives round 0 again, which value number 0 has"),
        (3, [1], {}, "a list of numbers is"),
        ([0], "1", {}, "a list of numbers is"),
        ([0], None, {}, "a list of numbers is"),
        ([0], np.array(3.0), {}, "a list of numbers is"),
        ([0], [None], {}, "is not a number"),
        ([0], [float("nan")], {}, "is nan"),
        ([0], [True], {}, "truth value"),
        ([0, 1], [[1, [2]]], {}, "value number 1 of seed 0: the value = [2] is not a number"),
        ([0], [1j], {}, "is not a number"),
        ([0.5], [1], {}, "the round 0.5 is not allowed"),
        ([0, 1], [1, 2], {"standard_error": [1]}, "2 rounds and 1 values of errors"),
        ([0], [1], {"standard_error": [float("inf")]}, "a standard error is inf"),
        ([0], [1], {"standard_error": [0.1], "level": 2}, "level = 2"),
        (
            [0, 1],
            [[1, 2], [1, 3]],
            {"seeds": ["a", "a"]},
            "2 rows of values and the seeds a, a; each row has a seed of",
        ),
        ([0, 1], [[1, 2], [1, 3]], {"seeds": ["a"]}, "2 rows of values and the seeds a; each row"),
        ([0, 1], [[1, 2], [1, 3]], {"standard_error": [0, 1]}, "seeds and standard errors"),
        ([0, 1], [[1, 2], [1, 3]], {"deterministic": True}, "said to be deterministic"),
    ],
)
def test_malformed_arrays_are_refused_in_a_sentence(
    rounds: Any, numbers: Any, more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        Curve.from_samples(rounds, numbers, "gap", **more)
    assert sentence in str(caught.value)


def test_the_metric_has_a_name() -> None:
    with pytest.raises(BadInput, match="a name such as 'gap'"):
        Curve.from_samples([0], [1], 3)  # pyright: ignore[reportArgumentType]


def test_numbers_of_other_libraries() -> None:
    found = Curve.from_samples(np.array([0, 1, 2]), [np.float32(0.5), np.array(0.25), np.int64(3)], "gap")
    assert values(found) == [0.5, 0.25, 3]
