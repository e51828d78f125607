"""The reference and the gallery, made from the code while the site is built (a hook of MkDocs).

A page says `<!-- generated: NAME -->` where the text of `GENERATED[NAME]` belongs; the gallery's pages of papers are
made as a whole. Nothing of it is in the repository. A key, kind or metric without a meaning ends the build.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

sys.path.insert(0, str(Path(__file__).parent))

from gallery import PAPERS, REPORT, anchor, gallery, paper_page
from markdown_text import code, doc, plain, table
from notebooks import notebook_file, start, with_outputs

WORDS = {
    str: "text",
    int: "whole number",
    bool: "true or false",
    float: "number",
    Fraction: "number",
    dict: "table",
    list: "list",
    type(None): "",
    Any: "number, list or text",
}


# ---- the reference ----


def api() -> str:
    """Every public name, by mkdocstrings."""
    import boundcheck as bc

    groups: dict[str, list[str]] = {"Functions": [], "Objects": [], "Errors": []}
    for name in bc.__all__:
        found = getattr(bc, name)
        if name != "__version__":
            kind = (
                "Functions" if not isinstance(found, type) else "Errors" if issubclass(found, Exception) else "Objects"
            )
            entry = f"::: {found.__module__}.{found.__qualname__}\n"
            groups[kind].append(entry if kind != "Functions" else f"{entry}\n{arguments(found)}\n")
    found = [f"## {title}\n\n" + "\n".join(entries) for title, entries in groups.items()]
    return "\n".join(found)


def arguments(function: Callable[..., Any]) -> str:
    """The arguments of a function with the meanings of its docstring, `name: meaning.`; each must have one."""
    parameters = inspect.signature(function).parameters
    if not parameters:
        return ""
    name = "|".join(map(re.escape, parameters))
    begins = rf"(?<![\w`])((?:{name})(?:, (?:{name}))*): "
    meanings: dict[str, str] = {}
    for part in (inspect.getdoc(function) or "").split("\n\n"):
        text = " ".join(part.split())
        starts = list(re.finditer(begins, text)) if re.match(begins, text) else []
        for own, following in zip(starts, [*starts[1:], None], strict=False):
            told = text[own.end() : following.start() if following else len(text)].partition(" Raises ")[0]
            meanings |= dict.fromkeys(own[1].split(", "), told.strip().rstrip(".;"))
    missing = set(parameters) - set(meanings)
    assert not missing, f"{function.__qualname__}: no meaning of {sorted(missing)}"
    rows = [
        (
            code(p.name if p.kind is not p.VAR_KEYWORD else f"**{p.name}"),
            "needed" if p.default is p.empty and p.kind is not p.VAR_KEYWORD else code(_default(p)),
            plain(meanings[p.name]),
        )
        for p in parameters.values()
    ]
    return table(("argument", "default", "meaning"), rows)


def _default(parameter: inspect.Parameter) -> str:
    return "" if parameter.default is parameter.empty else repr(parameter.default)


def cli() -> str:
    """Every command with its arguments and options."""
    from boundcheck.cli.app import whole_command

    found: list[str] = []
    for path, command in _commands(whole_command(), ("boundcheck",)):
        text = inspect.cleandoc(command.help or "").replace("\b", "")
        assert text, f"{' '.join(path)} has no help"
        prose, examples = [], []
        for part in text.split("\n\n"):
            lines = [line for line in part.strip().splitlines() if line.strip()]
            if lines and lines[0].strip().startswith("Example: "):
                examples += [line.strip().removeprefix("Example: ") for line in lines]
            elif lines:
                prose.append(plain(" ".join(lines)))
        found.append(f"## {' '.join(path[1:])}\n\n" + "\n\n".join(prose))
        arguments = [f"`{_metavar(p)}`" for p in command.params if p.param_type_name == "argument"]
        found.append(f"Usage: `{' '.join(path)}` {' '.join(arguments)} with the options below.")
        rows = [
            _parameter(p)
            for p in command.params
            if p.name not in ("help", "load", "exact") and not getattr(p, "hidden", False)
        ]
        if rows:
            found.append(table(("argument or option", "meaning", "default"), rows))
        if examples:
            found.append("```sh\n" + "\n".join(examples) + "\n```")
    return "\n\n".join(found)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, below in getattr(command, "commands", {}).items():
        if hasattr(below, "commands"):
            yield from _commands(below, (*path, name))
        else:
            yield (*path, name), below


def _metavar(parameter: Any) -> str:
    name = (parameter.metavar or parameter.name).strip("[]{}.").upper()
    return f"{name}..." if parameter.nargs == -1 else name


def _parameter(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        named = f"`{_metavar(parameter)}`"
    else:
        named = ", ".join(f"`{option}`" for option in parameter.opts)
    shown = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
    plainly = "" if shown in (None, False, "", [], ()) or callable(shown) else str(shown)
    meaning = plain(parameter.help or "")
    assert meaning, f"{parameter.name} has no help"
    return named, meaning, ("needed" if parameter.required else plainly)


def specification() -> str:
    """The keys of every table, with type, default and meaning."""
    from boundcheck.evidence.claim_spec import ClaimSpec, RateSpec, TightnessSpec
    from boundcheck.evidence.limits import Limits
    from boundcheck.evidence.studies import kinds, module_of
    from boundcheck.networks.study import spec as training

    parts = [
        keys("`[[claim]]`: a bound against a run", ClaimSpec),
        keys("`tightness` of a claim", TightnessSpec, 3),
        keys("`rate` of a claim", RateSpec, 3),
        keys("`[[limits]]`: where methods end", Limits),
    ]
    for kind in kinds():
        module: ModuleType = module_of(kind)  # type: ignore[assignment]
        parts.append(keys(f"`[[{kind}]]`", module.Spec))
    parts += [
        keys(f"`{name}` of `[[training]]`", model, 3)
        for name, model in (
            ("methods", training.MethodSpec),
            ("compare` and `also", training.Comparison),
            ("cases", training.Case),
            ("tuning", training.Tuning),
            ("estimate", training.Estimate),
        )
    ]
    return "\n\n".join(parts)


def keys(title: str, model: Any, level: int = 2) -> str:
    """The table of a pydantic model."""
    meanings = attribute_docs(model)
    rows: list[tuple[str, ...]] = []
    for name, field in model.model_fields.items():
        key = field.alias or name
        default = "" if field.is_required() else shown(field.get_default(call_default_factory=True))
        rows.append(
            (f"**`{key}`**" if field.is_required() else code(key), typed(field.annotation), default, meanings[name])
        )
    text = doc(model).replace("\n", " ")
    return f"{'#' * level} {title}\n\n{text}\n\n" + table(("key", "type", "default", "meaning"), rows)


def attribute_docs(model: Any) -> dict[str, str]:
    """The texts below the fields of a class. Raises AssertionError where one has none."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for own, below in zip(tree.body, tree.body[1:], strict=False):
        text = getattr(getattr(below, "value", None), "value", None) if isinstance(below, ast.Expr) else None
        if isinstance(own, ast.AnnAssign) and isinstance(own.target, ast.Name) and isinstance(text, str):
            found[own.target.id] = inspect.cleandoc(text).replace("\n", " ")
    found |= {name: field.description for name, field in model.model_fields.items() if field.description}
    missing = set(model.model_fields) - set(found)
    assert not missing, f"{model.__module__}.{model.__name__}: no meaning of {sorted(missing)}"
    return found


def typed(annotation: Any) -> str:
    """A type in words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return typed(inner[0])
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(filter(None, map(typed, inner))))
    if origin is Literal:
        return " or ".join(code(f'"{value}"') for value in inner)
    if origin is list and inner and typed(inner[0]) != "list":
        return f"list of {typed(inner[0])}s".replace("texts", "text")
    if annotation in WORDS or origin in WORDS:
        return WORDS[annotation if annotation in WORDS else origin]
    return "text" if isinstance(annotation, type) and issubclass(annotation, str) else "table"


def shown(value: Any) -> str:
    """A default value as TOML has it, "" for nothing."""
    if value is None or value in ("", [], {}) or not isinstance(value, str | int | float | Fraction | list | bool):
        return ""
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(
        f'"{value}"' if isinstance(value, str) or (isinstance(value, Fraction) and value.denominator > 1) else value
    )


def methods() -> str:
    """Every kind of method, by the module that has it, from the table of `boundcheck list --methods`."""
    from boundcheck.methods.reference import methods_table

    parts: list[str] = []
    seen = ""
    for kind in sorted(methods_table(), key=lambda kind: (kind["module"], kind["method"])):
        if kind["module"] != seen:
            seen = kind["module"]
            first, _, rest = doc(import_module(seen)).partition("\n\n")
            parts += [f"## {first.rstrip('.').partition(': ')[0]}", f"{first}\n\n{rest}"]
        source = ", ".join(plain(kind[name]) for name in ("paper", "equation") if kind[name])
        rows = [
            (
                f"**`{p['name']}`**" if p["needed"] else code(p["name"]),
                code(p["default"]) if p["default"] else "",
                *(plain(p[name]) for name in ("meaning", "allowed", "unit")),
            )
            for p in kind["parameters"]
        ]
        columns = ("parameter", "default", "meaning", "values", "unit")
        parts += [f"### `{kind['method']}`", plain(kind["text"]), f"{source}.", table(columns, rows)]
    return "\n\n".join(parts)


def problems() -> str:
    """Every kind of problem, with its parameters and docstring."""
    from boundcheck.problems._reference import problems_table

    parts: list[str] = []
    for kind in problems_table():
        module = import_module(kind["module"])
        rows = [
            (
                f"**`{p['name']}`**" if p["needed"] else code(p["name"]),
                p["type"],
                code(p["default"]) if p["default"] else "",
            )
            for p in kind["parameters"]
        ]
        told = table(("parameter", "type", "default"), rows) if rows else "It has no parameters."
        parts += [f"## `{kind['problem']}`", told, doc(module.build), doc(module)]
    return "\n\n".join(parts)


def metrics() -> str:
    """Every metric with its meaning."""
    from boundcheck.setting.metrics import metrics_table

    parts: list[str] = []
    for of in ("point", "round"):
        own = [row for row in metrics_table() if row["of a"] == of]
        rows = [(code(row["metric"]), plain(row["meaning"]), plain(row["needs"])) for row in own]
        parts.append(f"## Of a {of}\n\n" + table(("metric", "meaning", "needs"), rows))
    return "\n\n".join(parts)


def constants() -> str:
    """The catalogue of constants, by the groups of its keys."""
    import boundcheck as bc

    parts: list[str] = []
    groups: dict[str, list[Any]] = {}
    for key in bc.constants():
        groups.setdefault(key.key.partition("/")[0], []).append(key)
    for group, own in groups.items():
        rows = (
            (
                code(k.key),
                plain(k.definition),
                code(k.formula),
                plain(str(k.dimension)),
                f"{plain(k.where)}; {plain(k.source)}",
            )
            for k in own
        )
        parts.append(
            f"## {group}\n\n"
            + table(("key", "definition", "formula", "dimension", "where it is known; whose definition"), rows)
        )
    return "\n\n".join(parts)


def assumptions() -> str:
    """Every hypothesis that a statement makes, with its inequality and the statements."""
    import boundcheck as bc
    from boundcheck.theory.assumptions import QUANTITIES

    found: dict[str, tuple[Any, dict[str, None]]] = {}
    for statement in bc.statements():
        for own in statement.assumptions:
            found.setdefault(own.name, (own, {}))[1][statement.id.rpartition("/")[0]] = None
    rows = []
    for name, (own, users) in sorted(found.items()):
        named = list(users)
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        users_text = (
            ", ".join(f"[{plain(n)}](../gallery/{n.partition('/')[0]}.md#{anchor(n)})" for n in named[:3]) + more
        )
        rows.append(
            (code(name), plain(own.meaning), code(own.inequality) if own.inequality is not None else "", users_text)
        )
    quantities = [(code(name), code(text)) for name, text in QUANTITIES.items()]
    named_rows = table(("name", "meaning", "inequality", "statements"), rows)
    return f"{named_rows}\n\n## Quantities in the inequalities\n\n" + table(("name", "stands for"), quantities)


# ---- the hook ----


def slips() -> str:
    """What `boundcheck list --slips` prints, with the reasons, by paper."""
    from boundcheck.cli.statements import SLIP_COLUMNS, is_slip, statement_table

    every = [row for row in statement_table()["statements"] if is_slip(row)]
    parts: list[str] = []
    for paper in PAPERS:
        own = [row for row in every if row["id"].startswith(f"{paper}/")]
        if not own:
            continue
        rows = [
            (
                f"[{code(row['id'])}](../gallery/{paper}.md#{anchor(row['id'].rpartition('/')[0])})",
                *(plain(words(row)) for words in tuple(SLIP_COLUMNS.values())[1:]),
                plain(row["correction"]["why"] if row["correction"] else ""),
            )
            for row in own
        ]
        parts.append(f"## {plain(own[0]['source']['paper'])}\n\n" + table((*SLIP_COLUMNS, "why"), rows))
    refuted = sum(bool(row["refuted_at"]) for row in every)
    return f"{len(every)} readings, {refuted} with a refuted step.\n\n" + "\n\n".join(parts)


def proofs() -> str:
    """A row for each statement with proof records: what the verifier says of them."""
    from boundcheck.proof.records import examined_records

    _, _, rows = examined_records()
    names = {
        "statement": "statement",
        "readings": "readings",
        "valid": "valid",
        "steps": "steps",
        "certificates": "with a certificate",
        "lines": "lines",
        "generated": "generated facts",
        "transcribed": "transcribed facts",
        "seconds": "seconds",
    }
    return table(list(names.values()), [[str(row[n]) for n in names] for row in rows])


GENERATED: Mapping[str, Callable[[], str]] = {
    "api": api,
    "cli": cli,
    "specification": specification,
    "methods": methods,
    "problems": problems,
    "metrics": metrics,
    "constants": constants,
    "assumptions": assumptions,
    "gallery": gallery,
    "slips": slips,
    "proofs": proofs,
}
MARK = re.compile(r"<!-- generated: (\w+) -->")


def on_config(config: Any) -> Any:
    """The pages of papers join the navigation."""
    for part in config.nav:
        if "Gallery" in part:
            part["Gallery"] = ["gallery/index.md", *(f"gallery/{paper}.md" for paper in PAPERS)]
    return config


def on_nav(nav: Any, **_: Any) -> Any:
    """The report joins the navigation where `make site` puts one beside the documentation."""
    if REPORT:
        from mkdocs.structure.nav import Link

        nav.items.append(Link("Report", f"{REPORT}/index.html"))
    return nav


def on_post_build(config: Any) -> None:
    """Removes the page of a server for what it does not find: its links cannot be relative."""
    Path(config.site_dir, "404.html").unlink(missing_ok=True)


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages of papers, and each notebook as a file to download."""
    from mkdocs.structure.files import File

    own = {f.src_uri.removesuffix(".md"): Path(f.abs_src_path) for f in files if f.src_uri.startswith("notebooks/")}
    start(own.values())
    for paper in PAPERS:
        files.append(File.generated(config, f"gallery/{paper}.md", content=paper_page(paper)))
    for name, path in own.items():
        text = path.read_text(encoding="utf-8")
        files.append(File.generated(config, f"{name}.ipynb", content=notebook_file(text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fills in what is generated, and what the cells of a notebook show."""
    if page.file.src_uri.startswith("notebooks/"):
        return with_outputs(markdown, page.file.name)
    return MARK.sub(lambda match: GENERATED[match[1]](), markdown)
