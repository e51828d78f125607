"""Bad input of every kind: exit code 2, a sentence that names what is wrong, and nothing printed or half-written."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_tools import FEDAVG, GAPS, MEASURED, PROBLEM, QUADRATIC, WITNESS, Answer, Run, on

from boundcheck.errors import LONGEST_LINE, escaped
from boundcheck.evidence import spec as specifications

THEOREM = "scgd/theorem_3_3"
VALUES = {"mu": "1/10", "L": "1", "n": "20", "E": "4", "eta": "1e-5"}
CURVE = "compare async_fl/corollary_1 --curve runs.csv"
SCGD = f"compare {THEOREM} --curve runs.csv"
BARE = '[[claim]]\nstatement = "classics/gradient_descent_convex"\nexpect = "HOLDS"\ncurve = '
LONG_HEX = "0x" + "f" * 4000


def sets(**changed: str | None) -> str:
    given = VALUES | changed
    return " ".join(f"--set {shlex.quote(f'{name}={value}')}" for name, value in given.items() if value is not None)


SWEPT = f"evaluate {THEOREM} {sets(eta=None)} --sweep"
POINT = f"evaluate {THEOREM} {sets()} --sweep"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with specifications, a curve and a file of somebody else."""
    monkeypatch.chdir(tmp_path)
    texts = {"claims.toml": FEDAVG, "spec.toml": PROBLEM, "empty.toml": "schema = 1\n", "file": "mine"}
    texts["none.toml"] = '[method]\nkind = "scgd"\nE = 2\neta = 1\n'
    texts["runs.csv"] = "round,value\n" + "".join(f"{k},{v!r}\n" for k, v in enumerate(GAPS[:9]))
    texts["claim.toml"] = BARE + '"runs.csv"\nconstants = { eta = "1/4", L = 1, dist2_0 = 16 }\n'
    for name, text in texts.items():
        Path(name).write_text(text)


def refused(found: Answer, *said: str, lines: int | None = 1) -> None:
    """Asserts that a command was refused as it should be."""
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("boundcheck: ")
    assert "Traceback" not in found.err
    assert lines is None or found.err.count("\n") == lines
    assert max(map(len, found.err.splitlines())) <= LONGEST_LINE + len("boundcheck: ")
    for part in said:
        assert part in found.err


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mu": None, "mue": "1"}, "symbol 'mue' is unknown; did you mean 'mu'?"),
        ({"mu": None}, "needs a value for mu"),
        ({"eta": "0"}, "eta = 0 is outside its domain: real numbers eta > 0."),
        ({"eta": "nan"}, "eta = 'nan' is not a number"),
        ({"n": "-2"}, "n = -2 is outside its domain: integers n >= 1."),
        ({"n": "2.5"}, "n = 5/2 is outside its domain: integers n >= 1."),
        ({"mu": "3"}, "mu <= L is needed"),
        ({"mu": "__import__('os').system('x')"}, "is not a number"),
        ({"mu": "1e999999999"}, "exponent beyond"),
        ({"mu": "1/0"}, "divides by zero"),
        ({"mu": "1" * 5000}, "5000 characters"),
    ],
)
def test_values(boundcheck_cli: Run, changed: dict[str, str | None], said: str) -> None:
    for command in (f"scope {THEOREM}", f"evaluate {THEOREM} --set sigma2=1 --set dist2_0=1 --set K=3"):
        refused(boundcheck_cli(*shlex.split(f"{command} {sets(**changed)}")), said)


@pytest.mark.parametrize("command", ["evaluate", "scope"])
def test_all_wrong_values_are_named_at_once(boundcheck_cli: Run, command: str) -> None:
    found = boundcheck_cli(*shlex.split(f"{command} {THEOREM} --set E=0 --set L=-1 --set n=x --set mu=1"))
    refused(found, "E = 0 is outside", "L = -1 is outside", "n = 'x' is not a number", "needs a value for")


# --- commands --------------------------------------------------------------------------------------------------------

# the call, and what the message names
CALLS = [
    ("show scgd/theorem_33", "the statement 'scgd/theorem_33' is unknown; did you mean 'scgd/theorem_3_3'"),
    ("show scgdd", "the paper 'scgdd' is unknown; did you mean 'scgd'"),
    ("show nothing/x", "the paper 'nothing' is unknown; known: "),
    ("show ''", "is unknown"),
    ("show scgd --latex", "'scgd' is a paper"),
    ("show async_fl/equation_108 --rests", "has no derivation"),
    (f"show {THEOREM} --rests --latex", "--rests goes neither with"),
    ("list --paper scdg", "the paper 'scdg' is unknown; did you mean 'scgd'?"),
    ("list --reading corected", "did you mean 'corrected'"),
    ("list --methods --paper scgd", "list --methods goes with --json only"),
    ("list --problems --methods", "list --methods goes with --json only"),
    ("evalute", "evaluate"),
    (f"evaluate {THEOREM} --sett mu=1", "--set"),
    ("evaluate", "Missing argument"),
    (f"scope {THEOREM} --set mu", "--set 'mu' is not of the form NAME=VALUE, such as mu=1/10."),
    (f"scope {THEOREM} --set mu=1 --set mu=2", "--set gives mu twice"),
    (f"{SWEPT} eta=1:2", "is not of the form NAME=LOW:HIGH:COUNT"),
    (f"{SWEPT} eta=0:1:3", "eta = 0 is outside its domain"),
    (f"{POINT} eta=1:2:3", "either set it or sweep it"),
    (f"{POINT} K=0:1e9:1000001", "from 2 to 1000000"),
    (f"evaluate {THEOREM} {sets()} --csv", "--csv needs a --sweep"),
    (f"{POINT} K=1,2 --plot x.bmp", "no known ending"),
    (f"{POINT} K=1,2 --plot no/such/x.svg", "does not exist"),
    (f"{POINT} K=1,2 --set sigma2=1 --sweep dist2_0=1,2 --plot x.svg", "--plot draws one sweep; 2 are given"),
    ("constants", "either a specification file or --list"),
    ("constants claim.toml", "has a curve and no method"),
    ("tune claim.toml", "has a curve and no method"),
    ("tune claims.toml --target 2", "--target = 2 is not allowed; it is a share of the start, between 0 and 1."),
    ("tune claims.toml --target 0", "--target = 0 is not allowed"),
    ("tune claims.toml --target soon", "--target = 'soon' is not a number"),
    ("tune claims.toml --local-work 1,,2", "--local-work = '' is not a number"),
    ("tune claims.toml --local-work 3/2", "--local-work holds 3/2; only integers are allowed."),
    ("tune claims.toml --local-work 4,0", "amounts of local work are integers of at least 1."),
    ("compare claim.toml --set eta=1", "belong to --curve"),
    (f"{CURVE} --set eta_l=1/288", "no value for L, K, eta_g"),
    (f"{CURVE} --set eta_l=1/288", "or give the problem and the method that the curve is of"),
    ("compare scgd/theorem_3_33 --curve runs.csv", "did you mean"),
    (f"{SCGD} --set eta", "is not of the form NAME=VALUE"),
    (f"{SCGD} --set mu=1 --set mu=2", "--set gives mu twice"),
    (f"{SCGD} --set nu=1", "nu"),
    (f"{SCGD} --column x=value", "curve: the key 'x' is unknown"),
    (f"{SCGD} --column value=loss", "has no column 'loss' (value); it has the columns 'round', 'value'."),
    (f"{CURVE} --problem nowhere.toml", "does not exist"),
    (f"{CURVE} --problem empty.toml", "has no problem"),
    (f"{CURVE} --problem spec.toml --set K=3", "has K already"),
    ("check /no/such.toml", "does not exist"),
    ("data fetch diabets", "the data set 'diabets' is unknown; did you mean 'diabetes'"),
    ("data fetch diabetes --from /no/such", "no such file or directory"),
    ("data fetch cifar100", "the data set 'cifar100' is not to be had: "),
    ("data fetch femnist", "'shakespeare'"),
    ("derive scgd/equation_2/conservative", "has no derivation"),
    ("derive partial_averaging/one_minus_a/as_printed --step none", "none"),
    ("derive --all --latex", "--step and --latex are for one statement"),
    ("falsify async_fl/equation_108/as_printed", "is a formula without another side"),
    (f"falsify {THEOREM} --budget soon", "--budget = 'soon' is no duration; write 60s, 10m or 1h."),
    (f"falsify {THEOREM} --budget 0s", "more than 0 s"),
    ("falsify", "falsify takes either the id of a statement or --all."),
    (f"falsify {THEOREM} --all", "falsify takes either the id of a statement or --all."),
    (f"falsify {THEOREM} -o .", "--out '.' is a folder; name a file."),
    (f"falsify {THEOREM} -o /proc/x/w.json", "--out '/proc/x/w.json' cannot be written: no such file"),
    ("replay /no/such.json", "cannot be read"),
    ("diff /no/such /no/such", "cannot be read: no such file or directory"),
    ("new paper scgd", "exists already"),
    ("new paper 'My Paper'", "lower-case letters, digits and _, such as my_paper."),
    ("new statement theorem_1", "not of the form"),
    ("new statement nopaper/theorem_1", "is not installed; give --package nopaper/nopaper"),
    ("report claims.toml -o ''", "--out '' names no folder."),
    ("report claims.toml -o /proc/foo", "--out '/proc/foo' cannot be written: "),
    ("report claims.toml -o file", "is a file; name a folder."),
    ("report claims.toml --title a\u202eb", "U+202E"),
    ("run claims.toml -o file", "is not a folder"),
    ("schedule", "give --times"),
    ("schedule --times f80", "give --clients"),
    ("schedule --times 1,x", "is not a number"),
    ("schedule --times 1,2 --policy fedfx --dt 1", "fedfix"),
    ("schedule --times 1,2 --policy fedfix", "--policy fedfix needs --dt"),
    ("schedule --times 1,2 --dt 1", "parameter 'dt' is unknown"),
    ("schedule --times 1,2 --clients 3", "2 update times were given for 3 clients"),
    ("schedule --times 1,2 --policy fedbuff --buffer 3", "never fills"),
    ("schedule --times 1,2 --plot picture.gif", "no known ending"),
    ("schedule missing.toml", "missing.toml"),
    ("schedule missing.toml --dt 1", "--dt goes without a file"),
    ("schedule none.toml", "no method with update times"),
    ("completion bsh", "did you mean 'bash'"),
]


@pytest.mark.parametrize(("call", "said"), CALLS, ids=[call[:60] for call, _ in CALLS])
def test_calls(boundcheck_cli: Run, call: str, said: str) -> None:
    refused(boundcheck_cli(*shlex.split(call)), said)


def test_errors_as_json(boundcheck_cli: Run) -> None:
    found = boundcheck_cli(*shlex.split(f"scope {THEOREM} {sets(eta='0')} --json"))
    assert (found.code, found.json["schema"], found.json["kind"]) == (2, 1, "BadInput")
    assert "eta = 0" in found.json["error"]
    usage = boundcheck_cli("scope", "--nonsense", "--json")
    assert (usage.code, "--nonsense" in usage.json["error"]) == (2, True)


# --- specifications --------------------------------------------------------------------------------------------------

BEYOND = "above the largest number in double precision"
SPECIFICATIONS = [
    (on('{ kind = "quadratics", clients = [{ components = 5 }] }'), "client 0 must be one table"),
    (on('{ kind = "logistic_regression", data = 5 }'), "it must be the name of a data set or of a file"),
    (on('{ kind = "softmax_regression", data = ["x"] }'), "it must be the name of a data set or of a file"),
    (on('{ kind = "least_squares", data = "diabetes", split = 3 }'), "split = 3 is not allowed"),
    (on('{ kind = "quadratics", clients = [{ A = 1 }], reduction = [] }'), "reduction = [] is not allowed"),
    (on('{ kind = "random_quadratics", indefinite = "yes" }'), "it must be true or false"),
    (on('{ kind = "random_quadratics", L = "1e4000" }'), "L <= 1e100"),
    (on('{ kind = "surrogate", of = 3, weights = [1] }'), "of = 3 is not allowed; it must be a table"),
    (on('{ kind = "coupled_blocks", start = 4 }'), "start = 4 is not allowed; it must be a list"),
    (QUADRATIC.replace('"HOLDS"', LONG_HEX), "too many digits"),
    (QUADRATIC.replace("E = 1", f"E = {LONG_HEX}"), "too many digits"),
    (QUADRATIC.replace("[1]", f"[1, {LONG_HEX}]"), "too many digits"),
    (QUADRATIC.replace('"1/10"', LONG_HEX), "too many digits"),
    (QUADRATIC.replace("A = 1", f"A = [[{LONG_HEX}]]"), "too many digits"),
    (QUADRATIC.replace("A = 1", f'A = [["{"9" * 3000}e2000"]]'), "more than 4300 digits"),
    (QUADRATIC.replace("E = 1", 'E = "1e4000"'), "it must be at most 10^15"),
    (f'{QUADRATIC}name = "{"n" * 5000}"\n', "at most 200 characters"),
    (f"{FEDAVG}tightness = {{ at_most = '1e4000' }}\n", BEYOND),
    (f"{FEDAVG}tightness = {{ at_least = '1e400' }}\n", BEYOND),
    (f"{FEDAVG}rate = {{ metric = 'dist2', slope = [0, '1e400'] }}\n", BEYOND),
    (f"{FEDAVG}rate = {{ metric = 'dist2', slope = [0, 1], last = '1e400' }}\n", BEYOND),
    (f"{FEDAVG}level = '1e400'\n", BEYOND),
    (f'{FEDAVG}rate = {{ metric = "x" \nlast = 3\n', "claims.toml:10: "),
    (f"{BARE}3", "curve = 3 is not allowed"),
    (f"{BARE}{{}}", "curve names no file"),
    (f'{BARE}{{ file = "runs.csv", value = 3 }}', "curve.value = 3 is not allowed"),
    (f'{BARE}{{ file = "runs.csv", colour = "x" }}', "the key 'colour' is unknown"),
    (f'{BARE}"runs.csv"\nengine = "sampled"', "engine is for claims that are run"),
    (f'{BARE}"runs.csv"\nmethod = {{ kind = "scgd", E = 1, eta = 1 }}', "says nothing without a problem"),
]


@pytest.mark.parametrize(("text", "said"), SPECIFICATIONS, ids=range(len(SPECIFICATIONS)))
def test_specifications(boundcheck_cli: Run, text: str, said: str) -> None:
    Path("claims.toml").write_text(text)
    refused(boundcheck_cli("check", "claims.toml", "--no-store"), said, lines=None)


@pytest.mark.parametrize("text", [None, "round,value\n0,1\n1,__import__('os')\n", "round,value\n0,7\n1,.5\n"])
def test_a_malformed_curve_is_one_sentence_in_both_forms(boundcheck_cli: Run, text: str | None) -> None:
    if text is not None:
        Path("bad.csv").write_text(text)
    Path("claim.toml").write_text(MEASURED.replace("runs.csv", "bad.csv"))
    sentences: set[str] = set()
    for call in ("async_fl/corollary_1 --curve bad.csv --problem spec.toml --set eta_l=1/288", "claim.toml"):
        found = boundcheck_cli(*shlex.split(f"compare {call}"))
        refused(found)
        sentences.add(found.err.partition("bad.csv")[2])
    assert len(sentences) == 1


def test_the_largest_double_is_an_expectation(boundcheck_cli: Run) -> None:
    """One round of the example: the bound is met exactly (76/75), so that bound over metric is 1."""
    Path("claims.toml").write_text(f"{FEDAVG}tightness = {{ at_least = 1, at_most = '1.7e308' }}\n")
    assert boundcheck_cli("check", "claims.toml", "--no-store").code == 0


@pytest.mark.parametrize("example", ['kind = "scgd_appendix_c"', 'kind = "scgd_appendix_b", clients = 2'])
def test_a_start_beyond_double_precision(boundcheck_cli: Run, example: str) -> None:
    """The trial run for the largest step size that works is left out, with the reason."""
    text = on(f"{{ {example}, start = 1{'0' * 400} }}").replace("scgd/theorem_3_3", "scgd/theorem_3_3/corrected")
    Path("claims.toml").write_text(text.replace("E = 1", "E = 2").replace("1/10", "1/1000"))
    assert boundcheck_cli("compare", "claims.toml", "--no-store", "--json").code in (0, 1, 3)
    found = boundcheck_cli("constants", "claims.toml")
    assert found.code == 0
    assert "is above the largest number in double precision" in found.out or "appendix_c" in example


def test_too_many_claims_are_refused_before_any_is_read(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("claims.toml").write_text("[[claim]]\nstatement = 'a'\n" * 10_001)
    monkeypatch.setattr(specifications, "prepare", lambda *_: pytest.fail("a claim was looked at"))
    monkeypatch.setattr(specifications, "validate", lambda *_: pytest.fail("a claim was validated"))
    refused(boundcheck_cli("check", "claims.toml"), "the file has 10001 [[claim]]; at most 10000 are allowed")


@pytest.mark.parametrize("number", [0x202E, 0x200B, 0xFEFF, 0x7, 0xE0041])
def test_hidden_characters_are_refused_by_number(boundcheck_cli: Run, number: int) -> None:
    Path("claims.toml").write_text(FEDAVG.replace("one round", f"he\\U{number:08x}ld"))
    refused(boundcheck_cli("check", "claims.toml"), f":3: the text has the hidden character U+{number:04X}; remove it.")
    assert f"he<U+{number:04X}>ld" == escaped(f"he{chr(number)}ld")


def test_long_arguments_and_files_give_short_lines(boundcheck_cli: Run) -> None:
    long = "z" * 100_000
    texts = [f"{QUADRATIC}{long} = 1\n", QUADRATIC.replace("scgd/theorem_3_3", long), on(f'{{ kind = "{long}" }}')]
    texts += [on(f"{{ kind = {[1] * 50_000} }}"), on(f'{{ kind = "quadratics", clients = {[1] * 50_000} }}')]
    texts += [QUADRATIC.replace('{ kind = "scgd"', f'{{ {long} = 1, kind = "scgd"')]
    for number, text in enumerate(texts):
        Path(f"{number}.toml").write_text(text)
    calls = [["show", long], ["evaluate", THEOREM, "--set", f"mu={long}"], ["evaluate", THEOREM, "--set", f"{long}=1"]]
    calls += [["evaluate", THEOREM, f"--{long}"], ["list", "--paper", long], [long]]
    calls += [["report", "claims.toml", "--title", os.fsdecode(b"\xff")]]  # bytes that are not text
    for arguments in (*calls, *(["check", f"{number}.toml"] for number in range(len(texts)))):
        found = boundcheck_cli(*arguments)
        refused(found, lines=None)
        assert len(found.err) < 20_000


@pytest.mark.parametrize(
    "change",
    [
        *({"witness": 1}, {"witness": [1]}, {"tightness": 3}, {"tightness": {"ratio_min": "x", "ratio_max": 1}}),
        *({"tightness": {}}, {"outcome": []}, {"grade": 7}, {"points": "many"}, {"reason": None}, {"details": 0}),
    ],
)
def test_a_witness_with_a_verdict_that_is_none(boundcheck_cli: Run, change: dict[str, Any]) -> None:
    data = json.loads(WITNESS.read_text())
    data["verdict"] |= change
    Path("witness.json").write_text(json.dumps(data))
    refused(boundcheck_cli("replay", "witness.json"), next(iter(change)))


def test_a_data_set_with_other_contents(
    boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from boundcheck.problems import diabetes

    monkeypatch.setattr(diabetes, "FILES", dict.fromkeys(diabetes.FILES, "0" * 64))
    diabetes.load.cache_clear()
    try:
        path = spec(on('{ kind = "least_squares", data = "diabetes" }').replace('"1/10"', '"largest"'))
        refused(boundcheck_cli("compare", path), "has the sha256")
        listed = boundcheck_cli("data", "list", "--json").json["data"][0]
        assert (listed["there"], "sha256" in listed["problem"]) == (False, True)
        assert boundcheck_cli("data", "fetch", "diabetes", "--from", tmp_path).code == 2
        assert not (tmp_path / "data" / "diabetes").exists()
    finally:
        diabetes.load.cache_clear()
