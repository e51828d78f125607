"""Specification files: TOML with `[[claim]]` tables, validated as a whole before anything runs.

Every mistake is listed, each with its line: unknown keys (with the nearest known ones), unknown statements, symbols,
kinds and parameters, numbers that do not parse or lie outside their domain, symbols that nothing gives a value.
Decimal numbers mean exactly what they say (0.1 is 1/10), as text does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import as_fraction, format_apart, format_short, parse_grid
from boundcheck.core.toml_lines import KeyPath, TomlFile, parse_toml
from boundcheck.core.toml_models import validate
from boundcheck.engines.run import ENGINES, check_engine, round_grid
from boundcheck.engines.trained import training_engine
from boundcheck.errors import BadInput, BoundcheckError, SpecError, UnknownName
from boundcheck.evidence.claim import Claim
from boundcheck.evidence.claim_rounds import rounds_of
from boundcheck.evidence.claim_spec import MAX_CLAIMS, SpecFile, numbers_alone
from boundcheck.evidence.external_curve import LEVEL
from boundcheck.evidence.mistakes import mistakes_in
from boundcheck.evidence.not_run import NotRun, is_absence
from boundcheck.evidence.open_step_sizes import START, TUNED, factor_of, symbol_for
from boundcheck.evidence.outside import CurveFile, read_curve
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.problems._own_data import load_specification
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of, is_neural
from boundcheck.setting import Setting
from boundcheck.setting.constants import parameters_of
from boundcheck.setting.metrics import unknown_metric
from boundcheck.setting.missing_constants import reason_missing
from boundcheck.setting.user_constants import check_parameters, given_constants
from boundcheck.theory.decide import sign
from boundcheck.theory.discovery import statement
from boundcheck.theory.free_data import freed, in_free_data, numbers_at
from boundcheck.theory.quantities import check_measurable, round_symbols
from boundcheck.theory.scope import difference
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Outcome


def load_claims(
    path: Path | str,
    *,
    need_expect: bool = False,
    need_claims: bool = True,
    not_run: list[NotRun] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> list[Claim]:
    """The claims of a specification file; need_expect: whether each must say what it expects.

    need_claims: whether a file of tables of limits and studies alone is refused. not_run: where given, claims whose
    data set or optional package is not on this machine, and that have no other mistake, are appended to it and left out
    of the result. on_progress: called with the share of the claims that are read, 0 to 1.

    Raises BadInput where the file cannot be read, SpecError with every mistake and its line otherwise.
    """
    return _claims(load_specification(path), need_expect, need_claims, not_run, on_progress)


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
    tables = file.data.get("claim")
    if isinstance(tables, list) and len(cast("list[Any]", tables)) > MAX_CLAIMS:  # before any of them is looked at
        count = len(cast("list[Any]", tables))
        text = f"the file has {count} [[claim]]; at most {MAX_CLAIMS} are allowed, so write several files."
        raise SpecError(file.path, [(0, text)])
    problems: dict[tuple[int, str], None] = {}
    found: SpecFile | None = None
    try:
        found = validate(SpecFile, file)
    except SpecError as error:
        problems.update(dict.fromkeys(error.problems))
    absent: dict[int, str] = {}  # a claim that only lacks a constant is refused when it is carried out, and no other
    for checker in _meaning(file, need_expect):
        if on_progress is not None:
            on_progress(checker.number / len(file.data["claim"]))
        if not_run is not None and checker.only_absent:
            absent[checker.number] = checker.problems[0][1]
        elif len(checker.problems) > checker.lacking or len(file.data["claim"]) == 1:
            problems.update(dict.fromkeys(checker.problems))
    if problems or found is None:
        raise SpecError(file.path, problems)
    folder = str(Path(file.path).parent)
    claims = [spec.to_claim(number, folder) for number, spec in enumerate(found.claim, 1)]
    if not_run is not None:
        not_run += [NotRun("claim", c.label(), absent[n]) for n, c in enumerate(claims, 1) if n in absent]
    return [claim for number, claim in enumerate(claims, 1) if number not in absent]


def _meaning(file: TomlFile, need_expect: bool) -> Iterator[_Checker]:
    """Each claim with what is wrong beyond its shape; parts of the wrong shape are passed over here."""
    claims = file.data.get("claim")
    if not isinstance(claims, list):
        return
    for i, raw in enumerate(claims):
        if isinstance(raw, Mapping):
            checker = _Checker(file, ("claim", i), raw)
            checker.check(need_expect)
            yield checker


class _Checker:
    """The mistakes of one claim."""

    def __init__(self, file: TomlFile, path: KeyPath, raw: Mapping[str, Any]) -> None:
        self.file = file
        self.path = path
        self.number = int(path[-1]) + 1
        self.raw = raw
        self.problems: list[tuple[int, str]] = []
        self.lacking = 0  # how many of them say that a constant has no value
        self._absent = 0  # how many of them say that something is not on this machine
        self._resolved: dict[str, Any] = {}  # symbols whose size is found when it runs, with what is asked for

    @property
    def only_absent(self) -> bool:
        """Whether a data set or package that is not on this machine is all that is wrong."""
        return len(self.problems) == self._absent > 0

    def check(self, need_expect: bool) -> None:
        claimed = self._statement()
        problem = self._problem()
        method = self._method(claimed)
        if "curve" in self.raw:
            self._curve(claimed)
        elif problem is not None:
            self._engine(problem)
        if problem is not None and method is not None:
            with self._noting("method"):
                method.check(clients_of(problem), problem.dim)
        if claimed is not None:
            parameters = {} if method is None else claimed.known(parameters_of(method))
            if method is not None:
                with self._noting("method"):
                    check_parameters(claimed, parameters)
            own = self._own(claimed, problem, method)
            given = self._constants(claimed, own, parameters)
            if numbers_alone(self.raw):
                with self._noting("at", names=self._table("at")):
                    numbers_at(freed(claimed), self._table("at"))
            else:
                self._at(claimed)
            whole = all(isinstance(self.raw.get(part), Mapping) for part in ("problem", "method"))
            if (whole or "curve" in self.raw) and not self.problems:
                values = {name: c.value for name, c in own.items()} | parameters | given
                self._missing(claimed, values, None if problem is None or method is None else (problem, method))
                self._domain(claimed, values, given)
                self._rounds(claimed, values)
        self._limits()
        if need_expect and "expect" not in self.raw:
            named = self.raw.get("name")
            which = f"the claim '{named}'" if isinstance(named, str) and named else f"claim {self.number}"
            self._add((), f"{which} has no expect; write one of {', '.join(Outcome)}.")

    def _engine(self, problem: Problem) -> None:
        """An engine that does not carry the problem, or wrong settings of the neural one."""
        engine, neural = self.raw.get("engine", "exact"), self.raw.get("neural")
        if not isinstance(engine, str) or engine not in ENGINES:
            return
        with self._noting("engine" if "engine" in self.raw else "problem"):
            check_engine(engine, problem)
        with self._noting("arithmetic"):
            check_engine(engine, problem, arithmetic=self.raw.get("arithmetic"))
        if isinstance(neural, Mapping):
            with self._noting("neural", names=neural):
                check_engine(engine, problem, neural)
                training_engine("neural").check_settings(neural)

    def _curve(self, claimed: Statement | None) -> None:
        """A curve from outside: a malformed file, and keys that only a run has."""
        given = self.raw["curve"]
        for key in ("engine", "arithmetic", "seeds", "estimate", "neural"):
            if key in self.raw:
                self._add((key,), f"{key} is for claims that are run; this one has a curve, so leave {key} out.")
        if self._table("method") and not self._table("problem"):
            self._add(("method",), "the method of a curve says nothing without a problem; write the problem, too.")
        if claimed is not None and isinstance(given, str | Mapping):
            with self._noting("curve"):
                folder = str(Path(self.file.path).parent)
                read_curve(CurveFile.of_spec(cast("str | Mapping[str, Any]", given), folder), claimed, LEVEL)

    def _add(self, keys: KeyPath, text: str) -> None:
        self.problems.append((self.file.line_of((*self.path, *keys)), text))

    @contextmanager
    def _noting(self, *keys: str | int, names: Mapping[str, Any] | None = None) -> Generator[None]:
        """Turns an error of ours into a noted mistake, on the line of the parameter that its message begins with."""
        try:
            yield
        except BoundcheckError as error:
            text = str(error)
            for name in names or {}:
                if getattr(error, "name", "") == name or re.match(rf"{re.escape(name)}\b", text):
                    keys = (*keys, name)
                    break
            self._absent += is_absence(error)
            self._add(keys, text)

    def _table(self, key: str) -> Mapping[str, Any]:
        found = self.raw.get(key)
        return found if isinstance(found, Mapping) else {}

    def _statement(self) -> Statement | None:
        id = self.raw.get("statement")
        if not isinstance(id, str):
            return None
        with self._noting("statement"):
            found = statement(id)
            check_measurable(found)
            return in_free_data(found)
        return None

    def _problem(self) -> Problem | None:
        spec = self.raw.get("problem")
        if not isinstance(spec, Mapping) or (not spec and "curve" in self.raw):
            return None
        built: list[Problem] = []
        for error in mistakes_in(spec, lambda given: built.append(build_problem(given)), ()):
            built.clear()
            with self._noting("problem", names=spec):
                raise error
        with self._noting("problem", names=spec):
            if not built:
                return None
            problem = built[0]
            rate = self._table("rate")
            if isinstance(rate.get("metric"), str) and rate["metric"] not in problem.metrics:
                with self._noting("rate", "metric"):
                    raise unknown_metric(problem, rate["metric"])
            return problem
        return None

    def _method(self, claimed: Statement | None) -> Method | None:
        """The method, with 1 for what the statement is to give: that is found when it runs, the rest is checked now."""
        spec = self.raw.get("method")
        if not isinstance(spec, Mapping) or (not spec and "curve" in self.raw):
            return None
        plain = dict(spec)
        for name, value in spec.items():
            with self._noting("method", name):
                tuned = isinstance(value, str) and value.strip() == TUNED
                if not tuned and factor_of(value, name) is None:
                    continue
                own = name if claimed is None else symbol_for(claimed, name)
                self._resolved[own] = value
                plain[name] = 1
                if claimed is not None:
                    claimed.symbol(own)
                    if tuned and own not in dict(claimed.choices):
                        raise BadInput(f"{claimed.best_id} prescribes no {name}; write a number, or 'largest'.")
                continue
            self._resolved[name] = value
            plain[name] = 1
        mistakes = mistakes_in(plain, build_method)
        for error in mistakes:
            with self._noting("method", names=spec):
                raise error
        return None if mistakes else build_method(plain)

    def _own(self, claimed: Statement, problem: Problem | None, method: Method | None) -> dict[str, Constant]:
        """Constants of problem and method under the statement's names, parameters of the method excepted."""
        if problem is None:
            return {}
        if method is None:
            return claimed.known(problem.constants())
        setting = Setting(method, problem)
        with self._noting("statement"):
            setting.metric(claimed.metric.quantity)
        with self._noting("method"):
            setting = setting.following() if claimed.metric.surrogate else setting
            parameters = claimed.known(setting.parameters)
            return {name: c for name, c in claimed.known(setting.constants()).items() if name not in parameters}
        return {}

    def _constants(
        self, claimed: Statement, problem: Mapping[str, Constant], method: Mapping[str, Fraction]
    ) -> dict[str, Fraction]:
        own = dict(problem)
        for name, value in method.items():
            if name not in self._resolved:
                own[name] = Constant(value, Known.EXACT, "exact", "parameter of the method")
        found: dict[str, Fraction] = {}
        for name, value in self._table("constants").items():
            with self._noting("constants", name):
                if name in self._resolved:
                    raise BadInput(
                        f"{claimed.best_id}: the constant {name} is a parameter of the method, which asks for "
                        f"{self._resolved[name]}; leave it out."
                    )
                found[name] = given_constants(claimed, own, {name: value}, method)[name].value
        return found

    def _domain(self, claimed: Statement, values: Mapping[str, Fraction], given: Mapping[str, Fraction]) -> None:
        """Relations of the symbols without which the statement has no sense (mu <= L), where constants break them."""
        known = {s.name: values[s.name] for s in claimed.symbols if s.name in values and s.name not in self._resolved}
        for relation in claimed.domain:
            used = {s.name for s in relation.free_symbols}
            if used & set(given) and used <= set(known) and sign(difference(relation), known) == -1:
                first = next(name for name in given if name in used)
                names = sorted(used)
                texts = format_apart(*(known[name] for name in names))
                shown = ", ".join(f"{name} = {text}" for name, text in zip(names, texts, strict=True))
                self._add(("constants", first), f"{claimed.best_id} needs {relation}, but {shown}.")

    def _rounds(self, claimed: Statement, values: Mapping[str, Fraction]) -> None:
        """More rounds than a run may have, or an index that is no whole number of rounds."""
        index = claimed.metric.index
        if index is None or index not in self._table("at") or self.problems:
            return
        if {s.name for s in claimed.metric.rounds.free_symbols} - {index} - set(values):
            return
        with self._noting("at", index):
            grid = parse_grid(self._table("at")[index], index, integer=claimed.symbol(index).integer)
            round_grid(rounds_of(claimed, sorted(set(grid)), values))

    def _at(self, claimed: Statement) -> None:
        index = claimed.metric.index
        for name, value in self._table("at").items():
            with self._noting("at", name):
                if index is None and name in [s.name for s in claimed.symbols]:
                    first = format_short(parse_grid(value, name)[0])
                    raise BadInput(
                        f"{claimed.best_id}: {name} is a constant of this statement, which has no index; write it "
                        f"under constants (constants = {{{name} = {first}}})."
                    )
                if index is None:
                    raise BadInput(f"{claimed.best_id} is about a single round and has no index; leave out '{name}'.")
                if name != index:
                    raise UnknownName(f"{claimed.best_id}: the index", name, [index])
                symbol = claimed.symbol(name)
                for point in parse_grid(value, name, integer=symbol.integer):
                    symbol.check(point, claimed.best_id)

    def _missing(self, claimed: Statement, known: Mapping[str, Any], instance: tuple[Problem, Method] | None) -> None:
        if self.raw.get("estimate") is True or self._table("estimate"):
            return  # they are measured
        found = {*known, claimed.metric.index, *round_symbols(claimed)}
        lacking = [s for s in claimed.symbols if s.name not in found and s.key not in START]
        if not lacking:
            return
        if "curve" in self.raw and instance is None:
            names = ", ".join(s.name for s in lacking)
            text = (
                f"{claimed.best_id}: no value for {names}; write constants (--set NAME=VALUE), or give the problem and"
            )
            self._add(("curve",), f"{text} the method that the curve is of.")
            return
        self.lacking += 1
        with self._noting("method"):
            why = None if instance is None else reason_missing(instance[1], instance[0])
            self._add(
                ("statement",),
                f"{claimed.best_id}: no value for {', '.join(s.name for s in lacking)}"
                + (f" ({lacking[0].meaning})" if len(lacking) == 1 else "")
                + "; neither the problem nor the method gives one, so write it under constants"
                + (", or measure it along the run with estimate = true" if self._is_neural(instance) else "")
                + ("." if why is None else f" ({why})."),
            )

    def _is_neural(self, instance: tuple[Problem, Method] | None) -> bool:
        """Whether the claim is about a network, whose constants can be measured."""
        return instance is not None and self.raw.get("engine") == "neural" and is_neural(instance[0])

    def _limits(self) -> None:
        self._ordered(self._table("tightness"), "tightness", ("at_least", "at_most"))
        if self.raw.get("estimate", False) is not False and self.raw.get("engine", "exact") in ENGINES:
            with self._noting("estimate"):
                if self.raw.get("engine") != "neural":
                    own = "the other engines have problems with constants of their own."
                    raise BadInput(f"estimate is for engine = 'neural'; {own}")
                training_engine("neural").check_effort(self.raw["estimate"])
        rate = self._table("rate")
        slope = rate.get("slope")
        if isinstance(slope, list) and len(slope) == 2:
            self._ordered(dict(zip(("low", "high"), slope, strict=True)), "rate", ("low", "high"))
        for keys, value, low, high in (
            (("rate", "last"), rate.get("last"), Fraction(0), Fraction(1)),
            (("level",), self.raw.get("level"), Fraction(1, 2), Fraction(1)),
        ):
            number = _parsed(value)
            if number is not None and not (low < number <= high and (keys[0] == "rate" or number < 1)):
                shown = f"{format_short(low)} < {keys[-1]} {'<=' if keys[0] == 'rate' else '<'} {format_short(high)}"
                self._add(keys, f"{keys[-1]} = {format_short(number)} is not allowed; {shown} is.")

    def _ordered(self, table: Mapping[str, Any], key: str, names: tuple[str, str]) -> None:
        low, high = (_parsed(table.get(name)) for name in names)
        if low is not None and high is not None and low > high:
            first, second = format_apart(low, high)
            self._add((key,), f"{key}: {names[0]} = {first} is above {names[1]} = {second}.")


def _parsed(value: Any) -> Fraction | None:
    """The number, or None where it is absent or none (which the models report)."""
    try:
        return None if value is None else as_fraction(value)
    except BadInput:
        return None
