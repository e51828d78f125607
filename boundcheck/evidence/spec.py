"""Specification files: TOML with `[[claim]]` tables, validated as a whole before anything runs.

Every claim with a mistake is listed: all its keys of a wrong shape, and one mistake of each of its parts (statement,
problem, method, every constant, ...). Each has its line: unknown keys (with the nearest known ones), unknown
statements, symbols, kinds and parameters, numbers that do not parse or lie outside their domain, symbols that nothing
gives a value. Decimal numbers mean exactly what they say (0.1 is 1/10), as text does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from boundcheck.core.numbers import as_fraction, format_apart
from boundcheck.core.toml_lines import KeyPath, TomlFile, parse_toml
from boundcheck.core.toml_models import validate
from boundcheck.engines.run import round_grid
from boundcheck.errors import BoundcheckError, SpecError
from boundcheck.evidence.claim_rounds import rounds_of
from boundcheck.evidence.claim_spec import MAX_CLAIMS, ClaimSpec, SpecFile
from boundcheck.evidence.not_run import NotRun, is_absence
from boundcheck.evidence.open_step_sizes import START, open_sizes
from boundcheck.evidence.resolve import Prepared, prepare
from boundcheck.evidence.studies.placed import named_in
from boundcheck.problems._own_data import load_specification
from boundcheck.problems.problem import is_neural
from boundcheck.setting.constants import parameters_of, reason_missing
from boundcheck.setting.metrics import unknown_metric
from boundcheck.setting.user_constants import check_parameters
from boundcheck.theory.decide import sign
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import difference
from boundcheck.verdict import Outcome

if TYPE_CHECKING:
    from boundcheck.evidence.claim_result import Claim
    from boundcheck.theory.statement import Statement

KEPT = 3  # up to this number the claims of a file keep what was built: they are run in the same process
REQUIRED: Mapping[str, Any] = {"statement": "", "problem": {}, "method": {}}


def load_claims(
    path: Path | str | TomlFile,
    *,
    need_expect: bool = False,
    need_claims: bool = True,
    not_run: list[NotRun] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> list[Claim]:
    """The claims of a specification file, or of one that was read; need_expect: whether each must say what it expects.

    need_claims: whether a file of tables of limits and studies alone is refused. not_run: where given, claims whose
    data set or optional package is not on this machine, and that have no other mistake, are appended to it and left out
    of the result. on_progress: called with the share of the claims that are read, 0 to 1.

    Raises BadInput where the file cannot be read, SpecError with every mistake and its line otherwise.
    """
    file = path if isinstance(path, TomlFile) else load_specification(path)
    return _claims(file, need_expect, need_claims, not_run, on_progress)


def claims_from_text(text: str, name: str = "<text>", *, need_expect: bool = False) -> list[Claim]:
    """Like `load_claims`, for text that is already here; `name` stands for the file in messages."""
    return _claims(parse_toml(text, name, parse_float=str), need_expect)


def instance_of(path: Path | str) -> dict[str, Any]:
    """The tables problem, method, constants and at of a specification file, as far as it has them.

    They stand at its top, or in its only `[[claim]]`. Raises BadInput and SpecError where there is no problem, or where
    several claims have one.
    """
    data = load_specification(path).data
    claims = data.get("claim")
    if isinstance(claims, list) and claims:
        if len(cast("list[Any]", claims)) > 1:
            raise SpecError(str(path), [(0, "the file has several [[claim]]; the problem of a curve needs one.")])
        data = claims[0]
    if not isinstance(data, Mapping) or not isinstance(data.get("problem"), Mapping):
        raise SpecError(str(path), [(0, "the file has no problem; write [problem] with a kind, or one [[claim]].")])
    return {key: data[key] for key in ("problem", "method", "constants", "at") if key in data}


def claim_from_table(table: Mapping[str, Any], name: str, lines: Mapping[KeyPath, int] | None = None) -> Claim:
    """The claim of one table, as `[[claim]]` would have it; `name` stands for the file in messages.

    lines: the line of each key path of the table, where it has been made from a file.
    """
    placed = {("claim", 0, *path): line for path, line in (lines or {}).items()}
    return _claims(TomlFile(name, {"claim": [dict(table)]}, placed), need_expect=False)[0]


def _claims(
    file: TomlFile,
    need_expect: bool,
    need_claims: bool = True,
    not_run: list[NotRun] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> list[Claim]:
    if file.data.keys() <= {"schema"}:
        raise SpecError(file.path, [(0, "the file has no [[claim]].")])
    others = SpecFile.model_fields.keys() - {"claim", "schema_version"}
    if need_claims and file.data.keys() <= {"schema", *others}:
        held = ", ".join(f"[[{name}]]" for name in sorted(file.data.keys() & others))
        raise SpecError(file.path, [(0, f"the file has no [[claim]]; its {held} tables are for `boundcheck report`.")])
    tables: list[Any] = file.data.get("claim", []) if isinstance(file.data.get("claim"), list) else []
    if len(tables) > MAX_CLAIMS:  # before any of them is looked at
        text = f"the file has {len(tables)} [[claim]]; at most {MAX_CLAIMS} are allowed, so write several files."
        raise SpecError(file.path, [(0, text)])
    problems: dict[tuple[int, str], None] = {}
    wrong: dict[int, set[str]] = {}  # number of a claim -> its keys of the wrong shape
    try:
        validate(SpecFile, file)
    except SpecError as error:
        problems.update(dict.fromkeys(error.problems))
        wrong = _wrong_keys(error)
    folder = str(Path(file.path).parent)
    found: list[Claim] = []
    absent: list[NotRun] = []
    for number, table in enumerate(tables, 1):
        if not isinstance(table, Mapping):
            continue
        asked = _Asked(file, number, cast("Mapping[str, Any]", table), wrong.get(number, set()), folder)
        asked.check(need_expect)
        if on_progress is not None:
            on_progress(number / len(tables))
        if not_run is not None and asked.only_absent:
            absent.append(NotRun("claim", asked.claim.label(), asked.problems[0][1]))
            continue
        # a claim that only lacks a constant is refused when it is carried out, and no other with it
        if len(asked.problems) > asked.lacking or len(tables) == 1:
            problems.update(dict.fromkeys(asked.problems))
        if asked.prepared is not None and len(tables) <= KEPT:
            object.__setattr__(asked.claim, "prepared", asked.prepared)
        found.append(asked.claim)
    if problems:
        raise SpecError(file.path, problems)
    if not_run is not None:
        not_run += absent
    return found


def _wrong_keys(error: SpecError) -> dict[int, set[str]]:
    """The keys of each claim, by its number, that its model refuses."""
    cause = error.__cause__
    assert isinstance(cause, ValidationError)
    found: dict[int, set[str]] = {}
    for table, number, *keys in (e["loc"] for e in cause.errors(include_url=False) if len(e["loc"]) > 1):
        if table == "claim" and isinstance(number, int):
            found.setdefault(number + 1, set()).update(map(str, keys[:1] or REQUIRED))
    return found


class _Asked:
    """One claim of a file and what is wrong with it beyond the shape of its keys.

    wrong: its keys that are refused for their shape; the claim is read without them, and nothing is said of them here.
    """

    def __init__(
        self, file: TomlFile, number: int, table: Mapping[str, Any], wrong: Collection[str], folder: str
    ) -> None:
        self.file, self.number, self.table, self.wrong = file, number, table, wrong
        right = {key: value for key, value in table.items() if key not in wrong}
        spec = ClaimSpec.model_validate({**({} if not wrong else REQUIRED), **right})
        self.claim = spec.to_claim(number, folder)
        self.prepared: Prepared | None = None
        self.problems: list[tuple[int, str]] = []
        self.lacking = 0  # how many of them say that a constant has no value
        self._absent = 0  # how many of them say that something is not on this machine

    @property
    def only_absent(self) -> bool:
        """Whether a data set or package that is not on this machine is all that is wrong."""
        return len(self.problems) == self._absent > 0 and not self.wrong

    def check(self, need_expect: bool) -> None:
        """Finds one mistake of each part, and then one of the whole."""
        self.prepared = prepare(self.claim, self._noting)
        if self.claim.curve is not None:
            for key in ("engine", "arithmetic", "seeds", "estimate", "neural"):
                if key in self.table:
                    self._add((key,), f"{key} is for claims that are run; this one has a curve, so leave {key} out.")
        if self.prepared is not None and not self.problems and not self.wrong:
            self._whole(self.prepared)
        if need_expect and "expect" not in self.table:
            named = self.table.get("name")
            which = f"the claim '{named}'" if isinstance(named, str) and named else f"claim {self.number}"
            self._add((), f"{which} has no expect; write one of {', '.join(Outcome)}.")

    def _add(self, keys: KeyPath, text: str) -> None:
        self.problems.append((self.file.line_of(("claim", self.number - 1, *keys)), text))

    @contextmanager
    def _noting(self, *keys: str | int, names: Mapping[str, Any] | None = None) -> Generator[None]:
        """Turns an error of ours into a noted mistake, on the line of the parameter that it is about."""
        try:
            yield
        except BoundcheckError as error:
            if keys[0] in self.wrong:
                return
            own = named_in(error, names or {})
            self._absent += is_absence(error)
            self._add(keys if own is None else (*keys, own), str(error))

    def _whole(self, parts: Prepared) -> None:
        """What a claim lacks, or where its parts do not fit each other."""
        claimed, first, problem = parts.claimed, parts.first, parts.problem
        if self.claim.rate is not None and problem is not None:
            with self._noting("rate", "metric"):
                if self.claim.rate.metric not in problem.metrics:
                    raise unknown_metric(problem, self.claim.rate.metric)
        if parts.values is not None:
            return
        known: dict[str, Fraction] = {}
        if first is not None:
            parameters = claimed.known(parameters_of(first.method))
            with self._noting("method"):
                check_parameters(claimed, parameters)
            with self._noting("statement"):
                first.metric(claimed.metric.quantity)
            with self._noting("method"):
                known = {name: c.value for name, c in claimed.known(first.constants()).items()} | parameters
        given = {name: as_fraction(value, name) for name, value in self.claim.constants.items()}
        known |= given
        if not self.problems:
            self._missing(parts, known)
            self._domain(claimed, known, given)
        if parts.index is not None and not self.problems and not _rounds_rest_on(claimed) - set(known):
            with self._noting("at", str(claimed.metric.index)):
                round_grid(rounds_of(claimed, parts.index, known))

    def _domain(self, claimed: Statement, values: Mapping[str, Fraction], given: Mapping[str, Fraction]) -> None:
        """Relations of the symbols without which the statement has no sense (mu <= L), where constants break them."""
        open_ = open_sizes(claimed, self.claim.method)
        known = {s.name: values[s.name] for s in claimed.symbols if s.name in values and s.name not in open_}
        for relation in claimed.domain:
            used = {s.name for s in relation.free_symbols}
            if used & set(given) and used <= set(known) and sign(difference(relation), known) == -1:
                first = next(name for name in given if name in used)
                names = sorted(used)
                texts = format_apart(*(known[name] for name in names))
                shown = ", ".join(f"{name} = {text}" for name, text in zip(names, texts, strict=True))
                self._add(("constants", first), f"{claimed.best_id} needs {relation}, but {shown}.")

    def _missing(self, parts: Prepared, known: Collection[str]) -> None:
        """Symbols to which nothing gives a value."""
        claimed, first = parts.claimed, parts.first
        if self.claim.estimate is not None:
            return  # they are measured
        found = {*known, claimed.metric.index, *round_symbols(claimed)}
        lacking = [s for s in claimed.symbols if s.name not in found and s.key not in START]
        if not lacking:
            return
        names = ", ".join(s.name for s in lacking)
        if first is None:
            text = (
                f"{claimed.best_id}: no value for {names}; write constants (--set NAME=VALUE), or give the problem and"
            )
            self._add(("curve",), f"{text} the method that the curve is of.")
            return
        self.lacking += 1
        with self._noting("method"):
            why = reason_missing(first.method, first.problem)
            measured = self.claim.engine == "neural" and is_neural(first.problem)
            self._add(
                ("statement",),
                f"{claimed.best_id}: no value for {names}"
                + (f" ({lacking[0].meaning})" if len(lacking) == 1 else "")
                + "; neither the problem nor the method gives one, so write it under constants"
                + (", or measure it along the run with estimate = true" if measured else "")
                + ("." if why is None else f" ({why})."),
            )


def _rounds_rest_on(claimed: Statement) -> set[str]:
    """The symbols, beside the index, on which the rounds depend at which a statement is compared."""
    return {s.name for s in claimed.metric.rounds.free_symbols} - {claimed.metric.index}
