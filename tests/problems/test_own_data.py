"""Data of users: arrays and files, what a specification keeps of them, and a sentence for each mistake."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

import boundcheck as bc
from boundcheck.core.executor import ProcessExecutor
from boundcheck.core.store import Store
from boundcheck.errors import BadInput, MissingExtra
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.spec import load_claims
from boundcheck.evidence.stored import run_or_recall
from boundcheck.problems import _data_files, _own_data
from boundcheck.problems.build import build
from boundcheck.setting import Setting

X = [[1, 2], [3, "1/3"], [0, 1], ["0.1", 5], [2, 2], [4, 1]]
Y = [1, "2.5", 0, 1, 3, 2]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(_own_data, "_kept_here", {})


def points(count=40, features=3, seed=0):
    draws = np.random.default_rng(seed)
    rows = draws.normal(size=(count, features))
    return rows, rows @ np.arange(1, features + 1) + draws.normal(size=count)


def test_least_squares_on_arrays_has_the_numbers_that_were_given():
    problem = build(
        {"kind": "least_squares", "data": {"X": X, "y": Y}, "clients": 2, "split": "sorted", "feature": "x0"}
    )
    assert problem.rows[0] == ((0, 1), (Fraction(1, 10), 5), (1, 2))
    assert problem.targets[0] == (0, 1, 1)
    assert problem.targets[1] == (3, Fraction(5, 2), 2)


def test_constants_are_those_of_the_matrices():
    """Eigenvalues by NumPy, from the same rows."""
    rows, y = points()
    owners = np.arange(40) % 4
    problem = build({"kind": "least_squares", "data": {"X": rows, "y": y, "client": owners}})
    parts = [rows[owners == k] for k in range(4)]
    hessians = [a.T @ a / len(a) for a in parts]
    constants = problem.constants()
    assert problem.clients == 4
    assert float(constants["L"].value) == pytest.approx(max(np.linalg.eigvalsh(h)[-1] for h in hessians), rel=1e-9)
    assert float(constants["mu"].value) == pytest.approx(np.linalg.eigvalsh(np.mean(hessians, axis=0))[0], rel=1e-9)
    assert constants["L"].value >= Fraction(max(np.linalg.eigvalsh(h)[-1] for h in hessians)) * (
        1 - Fraction(1, 10**12)
    )


@pytest.mark.parametrize("kind", ["least_squares", "logistic_regression", "softmax_regression"])
@pytest.mark.parametrize("count", [30, 1500])  # within the specification, and by the SHA-256 of the arrays
def test_a_problem_is_rebuilt_from_its_specification(kind, count):
    rows, y = points(count)
    data = {"X": rows, "y": y if kind == "least_squares" else y > 0}
    problem = build({"kind": kind, "data": data, "clients": 3})
    spec = json.loads(json.dumps(problem.spec))
    assert ("sha256" in spec["data"]) is (count == 1500)
    again = build(spec)
    assert again.spec == problem.spec
    for i in range(3):
        at = np.linspace(-1, 1, problem.dim)
        np.testing.assert_array_equal(again.gradient(i, at), problem.gradient(i, at))
    assert {k: c.value for k, c in again.constants().items()} == {k: c.value for k, c in problem.constants().items()}


def test_large_arrays_are_found_in_the_data_cache_and_asked_for_where_they_are_not(tmp_path, monkeypatch):
    rows, y = points(1500)
    spec = dict(build({"kind": "least_squares", "data": {"X": rows, "y": y}}).spec)
    _own_data._kept_here.clear()
    assert build(spec).spec == spec
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "other"))
    with pytest.raises(BadInput, match=r"not in the data cache .* build the problem from the arrays again"):
        build(spec)
    kept = next((tmp_path / "cache" / "own").iterdir())
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "cache"))
    kept.write_bytes(kept.read_bytes()[:-1] + b"x")
    with pytest.raises(BadInput, match="not in the data cache"):
        build(spec)


def test_a_spec_of_arrays_works_in_a_worker_process():
    rows, y = points(900)
    claim = Claim(
        "scgd/theorem_3_3/corrected",
        {"kind": "least_squares", "data": {"X": rows, "y": y}, "clients": 3, "loss": "mean"},
        {"kind": "scgd", "E": 2, "eta": "largest"},
        at={"K": [0, 1, 10]},
    )
    pickle.loads(pickle.dumps(claim))
    json.dumps(claim.problem)
    _own_data._kept_here.clear()
    (there,) = ProcessExecutor(1).map(run_claim, [claim])
    assert there.verdict.outcome.value == "HOLDS"
    assert there.verdict.to_dict() == run_claim(claim).verdict.to_dict()


def write_csv(path, rows, header="a,b,y,site"):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return path


ROWS = [(0.1, 2, 1, "u"), (3, 1, 0, "v"), (2, 5, 1, "u"), (1, 1, 0, "v"), (4, 0, 1, "v")]


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_every_kind_of_file_gives_the_same_problem(tmp_path, ending):
    path = tmp_path / f"own.{ending}"
    if ending == "npz":
        rows = np.array([row[:2] for row in ROWS])
        np.savez(path, X=rows, y=np.array([row[2] for row in ROWS]), site=np.array([row[3] for row in ROWS]))
    else:
        write_csv(path, ROWS)
    problem = build({"kind": "least_squares", "data": str(path), "client": "site"})
    first = Fraction(1, 10) if ending == "csv" else Fraction(0.1)  # text is decimal, a double is its binary value
    assert problem.rows == (((first, 2), (2, 5)), ((3, 1), (1, 1), (4, 0)))
    assert problem.targets == ((1, 1), (0, 0, 1))
    assert problem.spec["split"] == "owners"
    logistic = build({"kind": "logistic_regression", "data": str(path), "client": "site"})
    assert logistic.labels.tolist() == [1, 1, -1, -1, 1]
    assert logistic.weights == (Fraction(2, 5), Fraction(3, 5))
    assert build(logistic.spec).spec == logistic.spec


def test_a_changed_file_never_serves_an_old_result(tmp_path):
    path = write_csv(tmp_path / "own.csv", ROWS)
    spec = {"kind": "least_squares", "data": str(path), "client": "site"}
    method = {"kind": "fedavg", "E": 1, "eta": "1/100"}
    store = Store(tmp_path / "store")

    def last():
        setting = Setting(bc.method(method), build(spec))
        curve = run_or_recall(store, setting, method, seeds=range(0), rounds=[0, 5], engine="exact", metrics=["gap"])
        return curve.values["gap"][-1], len([p for p in (tmp_path / "store").iterdir() if not p.name.startswith(".")])

    before, runs = last()
    assert last() == (before, runs)
    old = dict(build(spec).spec)
    write_csv(path, [(9, 2, 1, "u"), *ROWS[1:]])
    after, more = last()
    assert after != before
    assert more == runs + 1
    with pytest.raises(BadInput, match=r"own.csv has changed: its SHA-256 is .* put the old file back"):
        build(old)


def test_file_names_are_relative_to_the_specification(tmp_path, monkeypatch):
    write_csv(tmp_path / "own.csv", ROWS)
    (tmp_path / "claims.toml").write_text(
        '[[claim]]\nstatement = "scgd/theorem_3_3/corrected"\n'
        'problem = { kind = "least_squares", data = "own.csv", target = "y", client = "site", loss = "mean" }\n'
        'method = { kind = "scgd", E = 2, eta = "largest" }\nat = { K = [0, 1, 5] }\nexpect = "HOLDS"\n'
    )
    monkeypatch.chdir("/")
    (claim,) = load_claims(tmp_path / "claims.toml")
    assert not run_claim(claim).failures


def test_the_scale_of_own_features_is_as_given_unless_asked():
    rows, y = points()
    spec = {"kind": "logistic_regression", "data": {"X": 100 * rows + 7, "y": y > 0}, "clients": 2, "intercept": False}
    given = build(spec)
    assert sorted(given.features[:, 0]) == sorted(100 * rows[:, 0] + 7)
    scaled = build({**spec, "features": "standardised"})
    np.testing.assert_allclose(scaled.features.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(scaled.features.std(axis=0), 1, atol=1e-6)
    assert build(scaled.spec).spec == scaled.spec


@pytest.mark.parametrize("kind", ["logistic_regression", "softmax_regression"])
def test_badly_scaled_features_have_bounds_all_the_same(kind):
    rows, y = points()
    problem = build({"kind": kind, "data": {"X": 1e30 * rows, "y": y > 0}, "clients": 2})
    constants = problem.constants()
    assert constants["L"].value > 10**57
    assert constants["gap_0"].value >= 0
    assert constants["dist2_0"].known.value == "certified"


def test_more_classes_need_the_positive_one_named():
    rows, _ = points(30)
    labels = np.array(["cat", "dog", "bird"])[np.arange(30) % 3]
    spec = {"kind": "logistic_regression", "data": {"X": rows, "y": labels}, "clients": 2}
    with pytest.raises(BadInput, match=r"has 3 classes \(bird, cat, dog\); name the one"):
        build(spec)
    assert (build({**spec, "positive": "dog"}).labels == 1).sum() == 10
    softmax = build({**spec, "kind": "softmax_regression"})
    assert softmax.dim == 3 * 4


def test_arrays_of_frames_and_tensors_are_read_through_numpy():
    class Frame:
        columns = ("height", "weight")

        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0], [3.0, 4.0]])

    problem = build({"kind": "least_squares", "data": {"X": Frame(), "y": [1, 2]}, "clients": 1, "split": "sorted",
                     "feature": "weight"})  # fmt: skip
    assert problem.rows == (((1, 2), (3, 4)),)


def test_a_network_takes_own_data_as_features():
    rows, y = points(60)
    spec = {"kind": "neural", "data": {"X": rows, "y": y > 0, "client": np.arange(60) % 3}, "model": "softmax"}
    problem = build(spec)
    assert (problem.clients, problem.dim, len(problem.test_labels)) == (3, 2 * 4, 12)
    assert build(json.loads(json.dumps(problem.spec))).spec == problem.spec
    with pytest.raises(BadInput, match="client '1' has 1 samples, too few for a training and a test part"):
        build({**spec, "data": {"X": rows, "y": y > 0, "client": np.arange(60) == 5}})


class NAType:
    """As pandas has one: comparisons have no truth value."""

    def __eq__(self, other):
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = None


BAD_ARRAYS = {
    "ragged": ({"X": [[1, 2], [3]], "y": [1, 2]}, "X is ragged"),
    "one axis": ({"X": [1, 2], "y": [1, 2]}, "X has 1 axes; it must be a matrix"),
    "empty": ({"X": np.empty((0, 2)), "y": []}, "X has 0 rows and 2 columns"),
    "NaN": ({"X": [[1.0, np.nan], [1, 2]], "y": [1, 2]}, "row 1 of 'x1' is nan"),
    "infinite": ({"X": [[1.0, 2], [np.inf, 2]], "y": [1, 2]}, "row 2 of 'x0' is inf"),
    "words": ({"X": [["red", 2], [1, 2]], "y": [1, 2]}, "row 1 of 'x0' is 'red'; it must be a finite number"),
    "None": ({"X": [[1, None], [1, 2]], "y": [1, 2]}, "row 1 of 'x1' is missing"),
    "huge": ({"X": [[1e200, 2], [1, 2]], "y": [1, 2]}, "at most 1e\\+100"),
    "complex": ({"X": np.ones((2, 2), dtype=complex), "y": [1, 2]}, "complex128 are not allowed"),
    "length of y": ({"X": [[1, 2], [3, 4]], "y": [1, 2, 3]}, "y has 3 entries; X has 2 rows"),
    "shape of y": ({"X": [[1, 2], [3, 4]], "y": [[1], [2]]}, "y has 2 x 1 entries"),
    "client length": ({"X": [[1, 2], [3, 4]], "y": [1, 2], "client": [0]}, "client has 1 entries"),
    "client fraction": ({"X": [[1, 2], [3, 4]], "y": [1, 2], "client": [0, 0.5]}, "client of row 2 is 0.5"),
    "NaN in y": ({"X": [[1, 2], [3, 4]], "y": [1, np.nan]}, "y: row 2 is nan"),
    "words in y": ({"X": [[1, 2], [3, 4]], "y": ["a", "b"]}, "y: row 1 is 'a'; it must be a finite number"),
    "no y": ({"X": [[1, 2], [3, 4]]}, "data needs y"),
    "no X": ({"y": [1]}, "data needs X"),
    "unknown key": ({"X": [[1]], "Y": [1]}, "data: the key 'Y' is unknown"),
    "no table": ({}, "data is a table with X and y"),
    "names": ({"X": [[1, 2]], "y": [1], "names": 3}, "names = 3 is not allowed"),
    "masked": ({"X": np.ma.masked_greater([[1.0, 2.0]], 1), "y": [1]}, "X has masked entries"),
    "missing mark": ({"X": np.array([[NAType(), 1]], dtype=object), "y": [1]}, "row 1 of 'x0' is missing"),
    "a number": (3, "data = 3 is not allowed; it must be the name of a data set"),
    "a list": ([[1, 2]], "is not allowed; it must be the name of a data set"),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_bad_arrays_are_refused_in_one_sentence(name):
    data, expected = BAD_ARRAYS[name]
    with pytest.raises(BadInput, match=expected) as raised:
        build({"kind": "least_squares", "data": data, "clients": 1})
    assert "\n" not in str(raised.value)
    assert str(raised.value).endswith((".", "?"))


BAD_LABELS = {
    "fractions": ([0.5, 1, 1, 0], r"the label \(y\) of row 1 is 0.5; it must be an integer or text"),
    "one class": ([1, 1, 1, 1], "has the single class '1'"),
    "missing": (["a", "", "b", "b"], "of row 2 is missing"),
    "NaN": ([1.0, np.nan, 0, 0], "of row 2 is nan"),
}


@pytest.mark.parametrize("kind", ["logistic_regression", "softmax_regression"])
@pytest.mark.parametrize("name", BAD_LABELS)
def test_labels_that_do_not_fit_are_refused(kind, name):
    labels, expected = BAD_LABELS[name]
    with pytest.raises(BadInput, match=expected):
        build({"kind": kind, "data": {"X": [[1, 2]] * 4, "y": labels}, "clients": 1})


def _write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


BAD_FILES = {
    "missing": (lambda d: str(d / "none.csv"), {}, "none.csv does not exist"),
    "folder": (lambda d: (d / "f.csv").mkdir() or str(d / "f.csv"), {}, "f.csv is a folder"),
    "unknown target": (
        lambda d: _write(d / "a.csv", "a,b\n1,2\n"),
        {},
        "the target column 'y' is unknown; known: a, b",
    ),
    "unknown client": (
        lambda d: _write(d / "a.csv", "a,y\n1,2\n"),
        {"client": "c"},
        "the client column 'c' is unknown",
    ),
    "same column": (lambda d: _write(d / "a.csv", "a,y\n1,2\n"), {"client": "y"}, "client = 'y' is the target"),
    "ragged": (lambda d: _write(d / "a.csv", "a,y\n1,2\n1\n"), {}, "line 3 has 1 entries and the header 2"),
    "empty": (lambda d: _write(d / "a.csv", ""), {}, "has 0 lines; a header"),
    "empty cell": (lambda d: _write(d / "a.csv", "a,y\n,2\n"), {}, "row 1 of 'a' is missing"),
    "NaN": (lambda d: _write(d / "a.csv", "a,y\nnan,2\n"), {}, "row 1 of 'a' is 'nan'"),
    "twice": (lambda d: _write(d / "a.csv", "a,a,y\n1,1,2\n"), {}, "the column 'a' occurs twice"),
    "no feature": (lambda d: _write(d / "a.csv", "y\n1\n"), {}, "has no column beside y"),
    "latin": (lambda d: _write(d / "a.csv", b"a,y\n\xff,1\n"), {}, "is not UTF-8"),
    "no npz": (lambda d: _write(d / "a.npz", "hello"), {}, "is no .npz file"),
    "no parquet": (lambda d: {"file": _write(d / "a.parquet", "hello")}, {}, r"ends in \.npz, \.csv"),
    "not text": (lambda d: {"file": 3}, {}, "file = 3 is not allowed"),
    "unknown data": (lambda d: "diabets", {}, "did you mean 'diabetes'"),
    "target of a set": (lambda d: "diabetes", {"target": "y"}, "target = 'y' goes with a data file"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_in_one_sentence(name, tmp_path):
    make, more, expected = BAD_FILES[name]
    with pytest.raises((BadInput, MissingExtra), match=expected) as raised:
        build({"kind": "least_squares", "data": make(tmp_path), "clients": 1, **more})
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 2


def test_pickles_are_not_read(tmp_path):
    np.savez(tmp_path / "own.npz", X=np.array([[1, object()]], dtype=object), y=[1])
    with pytest.raises(BadInput, match="holds Python objects, which are not read"):
        build({"kind": "least_squares", "data": str(tmp_path / "own.npz"), "clients": 1})


def test_too_large_is_said_before_it_is_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "own.npz", X=np.zeros((1000, 200)), y=np.zeros(1000))
    monkeypatch.setattr(_data_files, "MAX_BYTES", 1 << 20)
    with pytest.raises(BadInput, match=r"own.npz' is too large; it holds 1 MiB"):
        build({"kind": "least_squares", "data": str(tmp_path / "own.npz"), "clients": 1})
    monkeypatch.setattr(_own_data, "MAX_NUMBERS", 100)
    with pytest.raises(BadInput, match="X has 200 entries, which is too large"):
        build({"kind": "least_squares", "data": {"X": np.zeros((100, 2)), "y": np.zeros(100)}, "clients": 1})
