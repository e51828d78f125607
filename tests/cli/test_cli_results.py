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


def computing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many items each executor was given from now on."""
    counts: list[int] = []
    for executor in (SerialExecutor, ProcessExecutor):
        monkeypatch.setattr(executor, "map", counted(executor.map, counts))
    return counts


def counted(own: Any, counts: list[int]) -> Any:
    def map(self: Any, function: Any, items: Any, *rest: Any) -> Any:
        counts.append(len(items))
        return own(self, function, items, *rest)

    return map


def files(store: Path) -> dict[str, bytes]:
    return {str(p.relative_to(store)): p.read_bytes() for p in store.rglob("*") if p.is_file()}


def test_a_full_store_needs_no_process(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spec(FEDAVG, OUT, FALSE)
    alone = boundcheck_cli("check", path, "--json", "--no-store")
    first = boundcheck_cli("check", path, "--json")
    before = files(tmp_path / "store")
    assert first.out == alone.out
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
    with pytest.deprecated_call():
        (result,) = bc.run_claims([claim], store=store)
    entry = entry_of_claim(claim)
    (kept,) = recall(store, [entry])
    assert kept is not None
    assert kept.result == result
    assert len(kept.folders) == 1
    other = replace(claim, statement=replace(claimed, name="", id="", bound=2 * claimed.bound))
    assert recall(store, [entry_of_claim(other)]) == [None]
    assert recall(store, [entry_of_claim(replace(claim, number=7))]) != [None]
    registered = entry_of_claim(replace(claim, statement=claimed.id))
    assert set(registered.parts["readings"]) == {s.reading for s in readings("scgd", "example_app_c_fedavg")} - {
        claimed.reading
    }


def test_the_content_of_data_and_curves_counts(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    curve, data = tmp_path / "runs.csv", tmp_path / "data.csv"
    path = spec(CURVE)
    tightness: set[float] = set()
    for values in ("1,0.01", "1,0.02"):
        curve.write_text(f"round,value\n0,16\n{values}\n")
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


def test_a_claim_that_will_be_refused_has_no_entry() -> None:
    assert entry_of_claim(Claim("scgd/no_theorem", name="one")).key == ""


def test_studies_and_tunings_are_kept(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = spec(DESCENT, STUDIES), tmp_path / "report"
    assert boundcheck_cli("report", path, "-o", out).code == 0
    before = files(out)
    counts = computing(monkeypatch)
    assert boundcheck_cli("report", path, "-o", out).code == 0
    assert files(out) == before
    tuned = boundcheck_cli("tune", path, "--json")
    assert counts[:-1] == [0] * (len(counts) - 1)
    counts.clear()
    assert boundcheck_cli("tune", path, "--json").out == tuned.out
    assert counts == [0]
    counts.clear()
    boundcheck_cli("tune", path, "--target", "0.02")
    assert counts == [1]


def test_run_needs_the_curves_too(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path, out = spec(FEDAVG), tmp_path / "runs"
    first = boundcheck_cli("run", path, "-o", out, "--json")
    (folder,) = first.json["runs"][0]["folders"]
    Path(folder).unlink()
    assert boundcheck_cli("run", path, "-o", out, "--json").out == first.out
    assert Path(folder).is_file()


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
    path, store = spec(FEDAVG, OUT), tmp_path / "store"
    alone = boundcheck_cli("check", path, "--json", "--no-store")
    for call, code, why in (("replace", errno.ENOSPC, "no space left"), ("makedirs", errno.EROFS, "read-only file")):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, partial(refuse, code))
            refused = boundcheck_cli("check", path)
            assert (refused.code, refused.out) == (2, "")
            assert why in refused.err
            assert refused.err.count("\n") == 1
        assert not list(store.glob("*.npz"))
    assert boundcheck_cli("check", path, "--json").out == alone.out
    before = files(store)
    for call in ("mkdir", "makedirs", "write", "replace"):  # nothing is written where nothing is computed
        monkeypatch.setattr(os, call, partial(refuse, errno.EROFS))
    assert boundcheck_cli("check", path, "--json").out == alone.out
    assert files(store) == before


def refuse(code: int, *_: object, **__: object) -> None:
    raise OSError(code, os.strerror(code))
