"""Commands about your own code: power, identify, conformance, new paper, new statement, new method."""

from __future__ import annotations

import importlib.util
import keyword
import math
import re
from pathlib import Path
from string import Template
from typing import Annotated

from boundcheck.cli.options import Json, Spec, argument, option, spec_file
from boundcheck.cli.output import line, print_json, say, short, table
from boundcheck.errors import BadInput, StoreError, nearest

_NAME = re.compile(r"[a-z][a-z0-9_]*")
FIRST = "theorem_1"  # the statement with which a new paper begins


def power(spec: Spec, as_json: Json = False) -> int:
    """Which mistakes in an implementation each claim would miss.

    The claim keeps its rounds and seeds. The mistakes are made from the parts of the method (weights, steps, cohorts,
    ...) and carried out as the claim's method is. A mistake is caught where the verdict is another. Below the table
    stand, for each claim, the tightness window that catches more, and the mistakes that only a comparison with the
    reference catches (boundcheck.judge; assert_matches of the pytest plugin).

    \b
    Example: boundcheck power examples/tour/claims.toml
    """
    from boundcheck.errors import BoundcheckError
    from boundcheck.evidence.spec import load_claims
    from boundcheck.judge.power import Power, power_of

    found: list[Power] = []
    refused: list[tuple[str, str]] = []
    for claim in load_claims(spec):
        try:
            found.append(power_of(claim))
        except BoundcheckError as error:
            refused.append((claim.label(), str(error)))
    if as_json:
        print_json(
            {
                "claims": [p.to_dict() for p in found],
                "refused": [{"claim": label, "why": why} for label, why in refused],
            }
        )
        return 0
    rows = [
        [
            p.label,
            p.outcome.value,
            "-" if math.isnan(p.tightness) else short(p.tightness),
            str(len(p.judged) - len(p.not_run)),
            str(len(p.caught)),
            str(len(p.missed)),
        ]
        for p in found
    ]
    table(["claim", "outcome", "tightness", "mistakes", "caught", "missed"], rows)
    for p in found:
        say(f"{p.label}: {p.words()}")
    for label, why in refused:
        say(f"{label}: not judged. {why}")
    return 0


def identify(
    file: Annotated[Path, argument(metavar="FILE", parser=spec_file, help="A Python file, which is run.")],
    run: Annotated[str, option("--run", help="The function run(task, seed) in it.")],
    rounds: Annotated[int, option(help="Rounds that are compared.", shown=True)] = 30,
    seeds: Annotated[int, option(help="Seeds of a run that is random.", shown=True)] = 512,
    as_json: Json = False,
) -> int:
    """Which published method the code in a file is.

    It names kind, options, paper and equation. This runs the file, so take only code that you trust. The function gets
    a task with numbers by the usual names (K, E, eta, eta_l, mu, ...) and returns the iterates, as for
    boundcheck.judge. Where the runs are those of no kind, they are compared with those of kinds that have one known
    mistake. Exit code 1 where nothing agrees.

    \b
    Example: boundcheck identify examples/tour/fedavg.py --run fedavg
    """
    from boundcheck.judge.identify import function_of
    from boundcheck.judge.identify import identify as found_by

    found = found_by(function_of(file, run), rounds=rounds, seeds=seeds)
    if as_json:
        print_json({"file": str(file), "run": run, **found.to_dict()})
    else:
        say(f"{file} was run. {found.reason}")
    return 0 if found.matches else 1


def conformance(
    package: Annotated[str, argument(help="An installed package with plug-ins.")],
    every: Annotated[bool, option("--all", help="Print the checks that passed, too.")] = False,
    as_json: Json = False,
) -> int:
    """Checks the problems, methods and parts of a package.

    Parts and methods run on random quadratics, where every outcome is gone through in fractions; the gradients,
    constants and minimiser of problems are looked at, at sampled points. A check that cannot be asked is counted apart.
    Exit code 1 where a check fails.

    \b
    Example: boundcheck conformance own-problem
    """
    from boundcheck.judge.conformance.suite import conformance as run
    from boundcheck.judge.findings import Status

    checks = run(package)
    counts = {
        status: sum(c.status is status for c in checks) for status in (Status.PASSED, Status.FAILED, Status.NOT_ASKED)
    }
    if as_json:
        tally = {answer.value: count for answer, count in counts.items()}
        print_json({"package": package, "counts": tally, "checks": [c.to_dict() for c in checks]})
    else:
        for check in checks:
            if every or check.status is not Status.PASSED:
                say(f"{check.status.value.upper()} {check.subject}: {check.name}: {check.sentence}.")
                if check.detail:
                    say(f"    {check.detail}")
        line(f"{counts[Status.PASSED]} passed, {counts[Status.FAILED]} failed, {counts[Status.NOT_ASKED]} not asked.")
    return 1 if counts[Status.FAILED] else 0


def _checked(name: str, what: str) -> str:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        example = {"the paper": "my_paper", "the reading": "as_printed", "the method": "my_method"}.get(
            what, "theorem_3_3"
        )
        raise BadInput(f"{what} '{name}' is not allowed; write lower-case letters, digits and _, such as {example}.")
    return name


def paper(
    name: Annotated[str, argument(help="Name of the paper, as ids will begin.")],
    folder: Annotated[Path, option("--in", metavar="DIR", help="Where to make the package.", shown=True)] = Path(),
    as_json: Json = False,
) -> int:
    """A package with one statement and its tests.

    boundcheck finds it once it is installed. Type the formula where the skeleton says so; then `pip
    install -e NAME` and `pytest NAME` pass.

    \b
    Example: boundcheck new paper my_paper
    """
    from boundcheck.theory.discovery import papers

    _checked(name, "the paper")
    if name in papers() or name in ("boundcheck", "tests"):
        raise BadInput(f"the paper '{name}' exists already; choose another name, or use `boundcheck new statement`.")
    root = folder / name
    files = {
        root / "pyproject.toml": _filled("pyproject.toml", paper=name, distribution=name.replace("_", "-")),
        root / name / "__init__.py": _filled("paper.py"),
        **_statement_files(root / name, root / "tests", name, FIRST, "as_printed"),
    }
    return _write_statement(files, root / name / f"{FIRST}.py", as_json)


def statement(
    id: Annotated[str, argument(help="<paper>/<statement>[/<reading>].")],
    package: Annotated[
        Path | None, option(metavar="DIR", help="Folder of the paper's package.", shown="where the paper is")
    ] = None,
    as_json: Json = False,
) -> int:
    """A statement's module and its tests.

    One mark says where to type the formula.

    \b
    Example: boundcheck new paper my_paper
             boundcheck new statement my_paper/theorem_2
             --package my_paper/my_paper
    """
    pieces = id.strip("/").split("/")
    if len(pieces) not in (2, 3):
        raise BadInput(f"'{id}' is not of the form <paper>/<statement> or <paper>/<statement>/<reading>.")
    paper_name, name = _checked(pieces[0], "the paper"), _checked(pieces[1], "the statement")
    reading = _checked(pieces[2], "the reading") if len(pieces) == 3 else "as_printed"
    folder = _package_of(paper_name) if package is None else package
    if not folder.is_dir():
        raise BadInput(f"--package '{folder}' is not a folder; `boundcheck new paper {paper_name}` makes one.")
    return _write_statement(
        _statement_files(folder, _tests_beside(folder), paper_name, name, reading), folder / f"{name}.py", as_json
    )


def method(
    name: Annotated[str, argument(help="Name of the method, as specifications say kind.")],
    folder: Annotated[Path, option("--in", metavar="DIR", help="Where to write the files.", shown=True)] = Path(),
    as_json: Json = False,
) -> int:
    """A method's module and its tests, which pass as they are.

    The module is a complete example; replace its functions by those of your method.

    \b
    Example: boundcheck new method my_method
    """
    from boundcheck.methods.build import kinds

    if _checked(name, "the method") in kinds():
        raise BadInput(f"the method '{name}' exists already; choose another name.")
    words = name.split("_")
    values = {"name": name, "title": " ".join(words).capitalize(), "class_name": "".join(w.capitalize() for w in words)}
    files = {
        folder / f"{name}.py": _filled("method.py", **values),
        folder / f"test_{name}.py": _filled("test_method.py", **values),
    }
    _write(files)
    if as_json:
        print_json({"files": [str(path) for path in files]})
        return 0
    for path in files:
        line(f"written: {path}")
    say(f"`pytest {folder}` runs its tests; --load {folder / name}.py gives it to any command.")
    return 0


def _package_of(paper_name: str) -> Path:
    from boundcheck.theory.discovery import papers

    if paper_name not in papers():
        close = [p for p in papers() if nearest(paper_name, [p]).startswith("; did")]
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        raise BadInput(
            f"the paper '{paper_name}' is not installed{hint}; give --package {paper_name}/{paper_name} "
            f"(`boundcheck new paper {paper_name}` makes it), or install it."
        )
    found = importlib.util.find_spec(papers()[paper_name])
    if found is None or not found.submodule_search_locations:
        raise BadInput(f"the paper '{paper_name}' is one module, not a package of modules; give --package DIR.")
    return Path(next(iter(found.submodule_search_locations)))


def _tests_beside(folder: Path) -> Path:
    """The folder of tests of the project that a package belongs to: that of the nearest pyproject.toml above."""
    here = folder.resolve()
    for above in (here, *here.parents):
        if (above / "pyproject.toml").is_file():
            return above / "tests"
    return here.parent / "tests"


def _statement_files(package: Path, tests: Path, paper_name: str, name: str, reading: str) -> dict[Path, str]:
    correction = "" if reading.startswith("as_printed") else ', replaces="what it replaces", why="why"'
    title = name.replace("_", " ").capitalize()
    title = re.sub(r"(?<=\d) (?=\d)", ".", title)
    return {
        package / f"{name}.py": _filled(
            "statement.py", title=title, reading=reading, correction=correction, symbols=_shared_symbols()
        ),
        tests / f"test_{paper_name}_{name}.py": _filled("test_statement.py", id=f"{paper_name}/{name}/{reading}"),
    }


def _filled(template: str, **values: str) -> str:
    """A file of the folder `templates` with its $names filled in."""
    text = (Path(__file__).parent / "templates" / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(values)


def _shared_symbols() -> str:
    """The declarations that theorems share, as comments: name, meaning, key."""
    from boundcheck.theory.symbols import SHARED

    rows = [(s.name, s.meaning, s.key or ("(counts)" if s.index else "")) for s in SHARED]
    return "\n".join(f"#     {name:8} {meaning:70} {key}".rstrip() for name, meaning, key in rows)


def _write(files: dict[Path, str]) -> None:
    """Writes the files; raises BadInput where one of them is there already."""
    from boundcheck.core.places import reason, write_whole

    there = [path for path in files if path.exists()]
    if there:
        raise BadInput(f"{there[0]} is there already and is not overwritten; choose another name or remove it.")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the folder {path.parent} cannot be made: {reason(error)}.") from error
        write_whole(path, text.encode("utf-8"))


def _write_statement(files: dict[Path, str], formula: Path, as_json: bool) -> int:
    """Writes the files of a statement and says where its formula is typed."""
    _write(files)
    if as_json:
        print_json({"files": [str(path) for path in files], "formula": str(formula)})
        return 0
    for path in files:
        line(f"written: {path}")
    say(f"Type the formula into {formula}, where it says TYPE_THE_FORMULA_HERE.")
    say(f"Then `boundcheck list --load {formula.parent}` finds it, before it is installed too.")
    return 0
