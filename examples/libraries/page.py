"""The page docs/libraries.md, from `page.md`, the findings and what the comparisons found."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from boundcheck import Agreement
from libraries import HERE, judge, table
from libraries.judge import SIZE, Judged
from libraries.pairs import Pair

Key = tuple[str, str, str]  # library, algorithm, and "full", "partial" or "cohorts"
WHO = {"full": "all clients", "partial": f"{SIZE} of 4 clients", "cohorts": "cohorts"}


def write(judged: Sequence[Judged], drawn: Mapping[Pair, Agreement], bounds: tuple[Any, str], to: Path) -> None:
    """Write the page. Raises ValueError where a finding names a pair that agrees, or a difference has no finding."""
    findings, libraries = table("findings")["finding"], table("matrix")["library"]
    both = [(j.pair, part, answer.agreement) for j in judged for part, answer in j.answers.items()]
    both += [(pair, "cohorts", agreement) for pair, agreement in drawn.items()]
    found = {(pair.library, pair.algorithm, part) for pair, part, agreement in both if not agreement.agrees}
    explained = {(f["library"], *key) for f in findings for key in f.get("pairs", [])}
    kinds = Counter(f["verdict"] for f in findings)
    text = (HERE / "page.md").read_text(encoding="utf-8")
    values = {
        **{name.lower(): value for name, value in vars(judge).items() if name.isupper()},
        "count": len(libraries),
        "python": sys.version.split()[0],
        "versions": _versions(libraries),
        "table": _table(judged),
        "uses": "\n".join(
            f'- {p.library}, {p.algorithm}: `{p.source}`, clients "{p.problem}"{p.setup and "; " + p.setup}.'
            for p in (j.pair for j in judged)
        ),
        "cohorts": "\n".join(_drawn(pair, agreement, findings) for pair, agreement in drawn.items()),
        "bounds": "\n".join(
            f"- {pair.library}, {pair.algorithm}: {v.outcome.name} ({v.grade}). {v.reason}" for pair, v in bounds[0]
        ),
        "missed": bounds[1],
        "counts": f"{len(findings)} findings: " + ", ".join(f"{n} × {kind}" for kind, n in kinds.items()) + ".",
        "differences": "".join(_difference(*one) for one in both if one[1] != "cohorts" and not one[2].agrees),
        "findings": "".join(_finding(f, libraries) for f in findings),
    }
    to.write_text(text.format(**values), encoding="utf-8")
    if wrong := explained ^ found:
        raise ValueError(f"findings.toml and the comparisons differ in {sorted(wrong)}.")


def _versions(libraries: Mapping[str, Any]) -> str:
    rows = ["| library | version | what it needs here | besides |", "|---|---|---|---|"]
    for name, row in libraries.items():
        needs = ", ".join(f"{package} {version(package)}" for package in row["needs"])
        rows.append(f"| {name} (`{row['package']}`) | {version(row['package'])} | {needs} | {row['besides']} |")
    return "\n".join(rows)


def _table(judged: Sequence[Judged]) -> str:
    head = f"| library | algorithm | composition | all clients | ends | {SIZE} of 4 clients | ends |"
    rows = [head, "|---|---|---|---|---|---|---|"]
    for j in judged:
        cells = [j.pair.library, j.pair.algorithm, f"`{j.pair.method['kind']}`"]
        for answer in j.answers.values():
            cells.append(f"agrees, {int(answer.digits)} digits" if answer.agreement.agrees else "**differs**")
            cells.append("{:.3g}, should {:.3g}".format(*answer.ends))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _drawn(pair: Pair, agreement: Agreement, findings: Sequence[Mapping[str, Any]]) -> str:
    """The outcome; of a difference the first number and the finding, not the list of mistakes it could be."""
    who = f"- {pair.library}, {pair.algorithm}: "
    if agreement.agrees:
        return f"{who}no difference. {agreement.reason}"
    key = [pair.algorithm, "cohorts"]
    titles = [f["title"] for f in findings if f["library"] == pair.library and key in f.get("pairs", [])]
    where = agreement.difference.words() if agreement.difference else "in law"
    return f"{who}**differs**: {where}. See: {'; '.join(titles)}."


def _difference(pair: Pair, part: str, agreement: Agreement) -> str:
    named = ", ".join(agreement.mistakes) or f"none of {agreement.tried}"
    where = agreement.difference.words() if agreement.difference else ""
    kind = f'`{pair.method["kind"]}`, clients "{pair.problem}"'
    return f"- {pair.library}, {pair.algorithm} ({kind}), {WHO[part]}: {where}. Looks like: {named}.\n"


def line_of(finding: Mapping[str, Any]) -> int:
    """The number of the quoted line in the installed file. Raises ValueError unless there is one such line."""
    package, _, inner = finding["file"].partition("/")
    spec = importlib.util.find_spec(package)
    root = Path((spec.submodule_search_locations or [])[0]) if spec else Path()
    lines = [line.strip() for line in (root / inner).read_text(encoding="utf-8").splitlines()]
    same = [n for n, line in enumerate(lines, 1) if line == finding["quote"]]
    near = same or [n for n, line in enumerate(lines, 1) if line.startswith(finding["quote"])]
    if len(near) != 1:
        raise ValueError(f"{finding['file']}: {finding['quote']!r} stands in lines {near}.")
    return near[0]


def _finding(finding: Mapping[str, Any], libraries: Mapping[str, Any]) -> str:
    script = HERE / "reproductions" / f"{finding['script']}.py"
    code = f"import runpy, libraries; libraries.stand_in(); runpy.run_path({str(script)!r})"
    made = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    shows = ", ".join(f"{algorithm} ({WHO[part]})" for algorithm, part in finding.get("pairs", []))
    return f"""
### {finding["title"]}

**{finding["verdict"].capitalize()}.** {version(libraries[finding["library"]]["package"])}, `{finding["file"]}`, line \
{line_of(finding)}: `{finding["quote"]}`
{finding["text"]}

- Seen in: {shows or "its reproduction alone"}.
- Fix: {finding["fix"].strip()}
- Upstream: {finding.get("upstream", "not known")}.

```python title="reproductions/{script.name}"
{script.read_text(encoding="utf-8").rstrip()}
```

```
{made.stdout.strip().splitlines()[-1]}
```
"""
