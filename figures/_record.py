"""The record of the papers' figures and tables as a table: what is here, and the word of each finding.

Run: python figures/_record.py [--collect FOLDER | --trained]

Without an option it prints figures/README.md as the files say now. --collect takes what the scripts decided from the
facts in FOLDER (as `make report` writes them to report/figures) and what the recorded trainings of
configs/neural/recorded say, and writes figures/outcomes.json and figures/README.md; --trained takes the latter alone.
No word is typed in: record.toml has the sentences alone.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import _findings as fd
import _study as s

HERE = Path(__file__).parent
TRAINED = HERE.parent / "configs" / "neural"
OUTCOMES, TABLE = HERE / "outcomes.json", HERE / "README.md"
NAMES = {
    "fedshuffle": "FedShuffle",
    "feddane": "FedDANE",
    "async_fl": "Asynchronous FL",
    "scgd": "SCGD",
    "partial_averaging": "Partial averaging",
}
MISSING = "not recorded"
Outcomes = Mapping[str, Mapping[str, Mapping[str, str]]]


def title(entry: Mapping[str, Any]) -> str:
    """Paper and number of an entry, which name it."""
    return f"{NAMES[entry['paper']]}, {entry['number']}"


def decided(facts: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Entry -> finding -> word and statistic, from the facts in a folder; entries without facts there are left out."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for entry in fd.entries():
        path = facts / f"{entry.get('script')}.json"
        if entry.get("findings") and path.is_file():
            findings = json.loads(path.read_text(encoding="utf-8"))["findings"]
            found[title(entry)] = {f["key"]: {"word": f["word"], "statistic": f["statistic"]} for f in findings}
    return found


def trained() -> dict[str, dict[str, dict[str, str]]]:
    """The same for the orders of methods of recorded trainings, where all tables of an entry are recorded."""
    from boundcheck.networks.study.page import judged
    from boundcheck.networks.study.record import read

    records = [read(path) for path in sorted((TRAINED / "recorded").glob("*.json"))]
    found: dict[str, dict[str, dict[str, str]]] = {}
    for entry in (e for e in fd.entries() if "order" in e):
        words: list[str] = []
        for study in entry["studies"]:
            record = next((r for r in records if r.spec.name.startswith(study["table"])), None)
            if record is None:
                break
            rows = [row for row in record.rows if study.get("cases", "") in row.case]
            words += [
                pair.outcome
                for _, _, comparison, pair in judged(record.spec, rows)
                if study.get("metric") in (None, comparison.metric)
            ]
        else:
            counts = Counter(words)
            statistic = f"{len(words)} pairs of methods: " + ", ".join(f"{counts[w]} {w}" for w in fd.OUTCOMES)
            word = fd.together(words) if words else fd.UNDECIDED
            found[title(entry)] = {"order": {"word": word, "statistic": statistic}}
    return found


def merged(*parts: Outcomes) -> dict[str, dict[str, Mapping[str, str]]]:
    """Outcomes of several sources, in the record's order."""
    return {
        name: found
        for name in map(title, fd.entries())
        if (found := {key: own for part in parts for key, own in part.get(name, {}).items()})
    }


def rows(outcomes: Outcomes) -> list[dict[str, Any]]:
    """The table: one row an entry, its findings with their words in it."""
    table: list[dict[str, Any]] = []
    for entry in fd.entries():
        says = {**entry.get("findings", {}), **({"order": entry["order"]} if "order" in entry else {})}
        known = outcomes.get(title(entry), {})
        made = [f"figures/{entry['script']}.py"] if "script" in entry else []
        made += sorted({f"configs/neural/{study['file']}.toml" for study in entry.get("studies", [])})
        table.append(
            {
                "name": title(entry),
                "shows": entry["shows"],
                "here": entry["here"],
                "how": entry["how"],
                "made_by": made,
                "picture": f"{entry['script']}.png" if "script" in entry else "",
                "findings": [
                    {"says": sentence, **known.get(key, {"word": MISSING, "statistic": ""})}
                    for key, sentence in says.items()
                ],
            }
        )
    return table


def markdown(table: Sequence[Mapping[str, Any]]) -> str:
    """The table as Markdown: an overview, and below it what was changed and the findings of each entry."""
    here = Counter(row["here"] for row in table)
    words = Counter(f["word"] for row in table for f in row["findings"])
    lines = [
        "# The papers' figures and tables",
        "",
        f"Of {len(table)}, {here['full']} are here at full size, {here['scaled']} scaled and {here['absent']} absent. "
        f"The {sum(words.values())} findings that the papers state: {counted(words)}, at the sizes that are here. A "
        "finding about several data sets is reversed as soon as one of them reverses it; brackets mark which. Written "
        "by `python figures/_record.py --collect FOLDER` from `record.toml` and the facts of the figures; `make "
        "report` draws the pictures.",
        "",
        "| figure or table | here | findings of the paper |",
        "|---|---|---|",
    ]
    for row in table:
        own = counted(Counter(f["word"] for f in row["findings"])) or "none stated"
        lines.append(f"| {row['name']}: {row['shows']} | {row['here']} | {own} |")
    for row in table:
        lines += ["", f"## {row['name']}", "", row["how"]]
        lines += ["", f"Made by {' and '.join(f'`{path}`' for path in row['made_by'])}."] if row["made_by"] else []
        findings = [
            f"- **{f['word']}**: {f['says']}" + f" ({f['statistic']})" * bool(f["statistic"]) for f in row["findings"]
        ]
        lines += ["", *findings] if findings else []
    return "\n".join([*lines, ""])


def counted(words: Mapping[str, int]) -> str:
    """How many findings have each word."""
    return ", ".join(f"{words[word]} {word}" for word in (*fd.OUTCOMES, MISSING) if words.get(word))


def known() -> dict[str, Any]:
    """What outcomes.json has."""
    return json.loads(OUTCOMES.read_text(encoding="utf-8")) if OUTCOMES.is_file() else {}


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the table, or collects what was decided."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--collect", metavar="FOLDER", help="take the findings from the facts in this folder")
    parser.add_argument("--trained", action="store_true", help="count the recorded trainings anew, and nothing else")
    chosen = parser.parse_args(argv)
    if chosen.collect is None and not chosen.trained:
        print(markdown(rows(known())), end="")
        return
    if chosen.collect is None:
        found = {name: {k: v for k, v in own.items() if k != "order"} for name, own in known().items()}
    else:
        found = decided(Path(chosen.collect))
    lacking = [title(e) for e in fd.entries() if e.get("findings") and title(e) not in found]
    if lacking:
        parser.error(f"{chosen.collect} lacks the facts of {', '.join(lacking)}; 'make report' writes them.")
    outcomes = merged(found, trained())
    OUTCOMES.write_text(json.dumps(outcomes, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    TABLE.write_text(markdown(rows(outcomes)), encoding="utf-8")


if __name__ == "__main__":
    s.start(main)
