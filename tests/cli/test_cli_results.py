"""Results in the store: what is there is neither computed nor handed out, and what is not says why."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_tools import DESCENT, FALSE, FEDAVG, OUT, STUDIES, Run

import boundcheck as bc
from boundcheck.core.executor import ProcessExecutor, SerialExecutor
from boundcheck.core.store import Store
from boundcheck.evidence.carry_out import Done, carry_out
from boundcheck.evidence.claim_result import Claim, ClaimResult
from boundcheck.evidence.kept_results import entry_of_claim, keep, recall
from boundcheck.theory.discovery import readings

Write = Callable[..., Path]

CURVE = """
[[claim]]
name = "measured"
statement = "classics/gradient_descent_convex"
curve = "runs.csv"
constants = { eta = "1/4", L = 1, dist2_0 = 16 }
expect = "HOLDS"
"""


@pytest.fixture
def computing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many items each executor is given."""
    counts: list[int] = []

    def counted(own: Any) -> Any:
        def map(self: Any, function: Any, items: Any, *rest: Any) -> Any:
            counts.append(len(items))
            return own(self, function, items, *rest)

        return map

    for executor in (SerialExecutor, ProcessExecutor):
        monkeypatch.setattr(executor, "map", counted(executor.map))
    return counts


def files(store: Path) -> dict[str, bytes]:
    return {str(p.relative_to(store)): p.read_bytes() for p in store.rglob("*") if p.is_file()}


def test_a_full_store_needs_no_process(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spec(FEDAVG, OUT, FALSE)
    first = boundcheck_cli("check", path, "--json")
    before = files(tmp_path / "store")
    assert first.out == boundcheck_cli("check", path, "--json", "--no-store").out
    for place in ("executor.WorkerProcess", "cluster._connected"):
        monkeypatch.setattr(f"boundcheck.core.{place}", lambda *_: pytest.fail("something was handed out"))
    for options in ((), ("--workers", "2"), ("--cluster", "local:2")):
        assert boundcheck_cli("check", path, "--json", *options).out == first.out
    assert files(tmp_path / "store") == before
    name, number = '# a comment\n\nstatement =  "scgd', "at={K=[1]}  # the same"
    path.write_text("\n\n" + FEDAVG.replace('statement = "scgd', name).replace("at = { K = [1] }", number))
    assert "1 of 1 claims met their expectation." in boundcheck_cli("check", path).out


def test_a_bound_and_the_other_readings_are_parts(tmp_path: Path) -> None:
    claimed = bc.statement("scgd/example_app_c_fedavg/corrected")
    problem, method = {"kind": "scgd_appendix_c"}, {"kind": "fedavg", "E": 2, "eta": "1/10"}
    claim = Claim(replace(claimed, name="", id=""), problem, method, name="own", at={"K": [1]})
    store = tmp_path / "store"
    (done,) = carry_out([claim], store=store)
    (kept,) = recall(store, [entry_of_claim(claim)])
    assert kept is not None
    assert isinstance(done, Done)
    assert (kept.result, len(kept.folders)) == (done.result, 1)
    other = replace(claim, statement=replace(claimed, name="", id="", bound=2 * claimed.bound))
    assert recall(store, [entry_of_claim(other)]) == [None]
    assert recall(store, [entry_of_claim(replace(claim, number=7))]) != [None]
    registered = entry_of_claim(replace(claim, statement=claimed.id)).parts["readings"]
    assert {*registered, claimed.reading} == {s.reading for s in readings("scgd", "example_app_c_fedavg")}
    assert entry_of_claim(Claim("scgd/no_theorem", name="one")).key == ""  # a claim that will be refused


def test_the_content_of_data_and_curves_counts(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path, data = spec(CURVE), tmp_path / "data.csv"
    tightness: set[float] = set()
    for values in ("1,0.01", "1,0.02"):
        (tmp_path / "runs.csv").write_text(f"round,value\n0,16\n{values}\n")
        (found,) = boundcheck_cli("check", path, "--json").json["claims"]
        tightness.add(found["verdict"]["tightness"]["ratio_min"])
    assert len(tightness) == 2
    claim = Claim("scgd/theorem_3_3", {"kind": "least_squares", "data": str(data), "clients": 2}, {"kind": "scgd"})
    keys: set[str] = set()
    for number in (1, 2, 1):
        data.write_text(f"a,y\n1,2\n3,{number}\n")
        keys.add(entry_of_claim(claim).key)
    assert len(keys) == 2
    data.unlink()
    assert entry_of_claim(claim).key == ""


def test_studies_and_tunings_are_kept(boundcheck_cli: Run, spec: Write, tmp_path: Path, computing: list[int]) -> None:
    path, out = spec(DESCENT, STUDIES), tmp_path / "report"
    assert boundcheck_cli("report", path, "-o", out).code == 0
    before = files(out)
    computing.clear()
    assert boundcheck_cli("report", path, "-o", out).code == 0
    assert files(out) == before
    assert set(computing) == {0}
    tuned = boundcheck_cli("tune", path, "--json")
    for more, count in (((), 0), (("--target", "0.02"), 1)):
        computing.clear()
        assert (boundcheck_cli("tune", path, "--json", *more).out == tuned.out) == (not more)
        assert computing == [count]


def test_an_entry_that_does_not_parse_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    claim = Claim("scgd/theorem_3_3", name="mine")
    entry, store = entry_of_claim(claim), Store(tmp_path / "store")
    store.put(entry.key, {}, {}, {"result": json.dumps({"verdict": 3}), "runs": []})
    assert recall(store.path, [entry]) == [None]
    assert "does not parse (ValueError)" in caplog.text
    result = ClaimResult(claim, bc.Verdict("scgd/theorem_3_3/corrected", bc.Outcome.FAILED, None, "x"), {}, ())
    assert keep(store, entry, result, []) == result
    assert (recall(store.path, [entry])[0] or pytest.fail("not kept")).result == result
    loud = replace(result, info={"what": object()})  # no result that a file can hold
    assert keep(store, replace(entry, key="ab" * 32), loud, []) is loud


def test_a_store_that_refuses_is_a_sentence_and_a_full_one_can_be_read(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(code: int, *_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    path, store = spec(FEDAVG, OUT), tmp_path / "store"
    for call, code, why in (("replace", errno.ENOSPC, "no space left"), ("makedirs", errno.EROFS, "read-only file")):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, partial(refuse, code))
            refused = boundcheck_cli("check", path)
        assert (refused.code, refused.out, refused.err.count("\n"), why in refused.err) == (2, "", 1, True)
        assert not list(store.glob("*.npz"))
    first, before = boundcheck_cli("check", path, "--json"), files(store)
    for call in ("mkdir", "makedirs", "write", "replace"):  # nothing is written where nothing is computed
        monkeypatch.setattr(os, call, partial(refuse, errno.EROFS))
    assert boundcheck_cli("check", path, "--json").out == first.out
    assert files(store) == before
