"""TOML with line numbers, and validation whose mistakes name file, line, table, key, value and what is allowed."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from boundcheck.core.numbers import as_fraction
from boundcheck.core.toml_lines import KeyPath, TomlFile, load_toml, parse_toml
from boundcheck.core.toml_models import problems_of, validate
from boundcheck.errors import BadInput, SpecError

CLAIMS = """\
# claims = "not this one"
title = "a [[claim]] # in text"     # [comment]

[[claim]]
statement = "scgd/theorem_3_3"
problem = { kind = "least_squares", data = "diabetes", clients = 20 }
at.K = [
  1,   # ]
  [10,
   100], "]", '''
] = {''',
  { deep = 1, er = [
      2] },
]
at."odd.key".z = \"\"\"
[[claim]]
x = 1 \\\"\"\"\"\"\"
  [claim.method]   # indented
  kind = 'scgd'

[claim.method.schedule]
eta = 1e-3
[[claim.extra]]
a = 1
[[claim.extra]]
a = 2
[claim.extra.inner]
b = 3

[[claim]]
statement = "second"
[[claim.extra]]
a = 5
[x.y]
z = 1
[x]
"""


LINES: dict[KeyPath, int] = {  # of which the writer below makes none, and such that have none of their own
    ("claim", 0, "at", "K", 1, 1): 10,
    ("claim", 0, "at", "K", 4, "er", 0): 13,
    ("claim", 0, "at", "odd.key", "z"): 15,
    ("claim", 0, "method", "schedule", "eta"): 22,
    ("claim", 0, "extra"): 23,
    ("claim", 0, "extra", 1, "inner", "b"): 28,
    ("claim", 1, "extra", 0, "a"): 33,
    ("x",): 36,
    ("claim", 0, "problem", "missing"): 6,
    ("claim", 1, "nothing", "here"): 30,
    (): 0,
    ("absent",): 0,
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_example_parses_as_it_reads(ending: str) -> None:
    file = parse_toml(CLAIMS.replace("\n", ending))
    assert {path: file.line_of(path) for path in LINES} == LINES
    assert file.at(("claim", 0, "at", "K")) == [1, [10, 100], "]", "] = {", {"deep": 1, "er": [2]}]
    assert file.at(("claim", 0, "at", "odd.key", "z")) == '[[claim]]\nx = 1 """'
    assert file.at(()) is file.data


keys = st.sampled_from(["a", "b", "c-1", "7", "x.y", "", " [k]", 'q"', "é", "a#", "\\"])
texts = st.text(alphabet="ab[]{}#=.,\"' \n\\", max_size=6)
values = st.recursive(
    st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
tables = st.dictionaries(keys, values | st.lists(st.dictionaries(keys, values, max_size=2), min_size=1, max_size=3))


class Writer:
    """Writes a table as TOML in randomly chosen styles and notes the line of every key as it goes."""

    def __init__(self, data: st.DataObject) -> None:
        self.text, self.lines, self._data = "", dict[KeyPath, int](), data

    def choose(self, *options: str) -> str:
        return self._data.draw(st.sampled_from(options))

    def note(self, path: KeyPath) -> None:
        self.lines.setdefault(path, self.text.count("\n") + 1)

    def key(self, name: str) -> str:
        if re.fullmatch("[A-Za-z0-9_-]+", name):
            return name
        return f"'{name}'" if self.choose("basic", "literal") == "literal" else json.dumps(name, ensure_ascii=False)

    def table(self, header: str, path: KeyPath, table: dict[str, Any]) -> None:
        later: list[tuple[str, Any]] = []
        for name, value in table.items():
            is_array = isinstance(value, list) and value and all(isinstance(v, dict) for v in value)
            style = self.choose("inline", "below")
            if style == "below" and (is_array or isinstance(value, dict)):
                later.append((name, value))
                continue
            self.note((*path, name))
            self.text += f"{self.key(name)}{self.choose('', ' ')}= "
            if isinstance(value, dict) and len(value) == 1 and self.choose("dotted", "braces") == "dotted":
                ((inner, leaf),) = value.items()
                self.text = self.text.rstrip("= ") + f" . {self.key(inner)} = "
                self.note((*path, name, inner))
                self.value((*path, name, inner), leaf)
            else:
                self.value((*path, name), value)
            self.text += self.choose("\n", " # [x] = '\n", "\n\n")
        for name, value in later:
            full = f"{header}.{self.key(name)}" if header else self.key(name)
            if isinstance(value, dict):
                self.note((*path, name))
                self.text += f"[{full}]{self.choose('', ' # ]')}\n"
                self.table(full, (*path, name), value)
            else:
                for index, element in enumerate(value):
                    self.note((*path, name))
                    self.note((*path, name, index))
                    self.text += f"[[{full}]]\n"
                    self.table(full, (*path, name, index), element)

    def value(self, path: KeyPath, value: Any) -> None:
        if isinstance(value, bool):
            self.text += str(value).lower()
        elif isinstance(value, str):
            style = self.choose("basic", "literal", "long")
            if style == "literal" and not {"'", "\n"} & set(value):
                self.text += f"'{value}'"
            elif style == "long" and '"' not in value and "\\" not in value:
                self.text += f'"""\n{value}"""'
            elif style == "long" and "'" not in value:
                self.text += f"'''\n{value}'''"
            else:
                self.text += json.dumps(value)
        elif isinstance(value, list):
            self.text += "["
            for index, element in enumerate(value):
                self.text += self.choose("", "\n  ", " # ]\n")
                self.note((*path, index))
                self.value((*path, index), element)
                self.text += "," if index + 1 < len(value) else self.choose("", ",", "\n,# ]\n")
            self.text += "]"
        elif isinstance(value, dict):
            self.text += "{"
            for index, (name, element) in enumerate(value.items()):
                self.text += ", " if index else " "
                self.note((*path, name))
                self.text += f"{self.key(name)} = "
                self.value((*path, name), element)
            self.text += " }"
        else:
            self.text += repr(value)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(tables, st.data())
def test_every_line_is_found(table: dict[str, Any], data: st.DataObject) -> None:
    writer = Writer(data)
    writer.table("", (), table)
    file = parse_toml(writer.text)
    assert file.data == table
    assert file.lines == writer.lines


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a = 1\nb = \nc = 2\n", 2, r"invalid value, at column 5 of: b ="),
        ("a = 1\nb 2\n", 2, "expected '=' after a key"),
        ("a = 1\n\na = 2\n", 3, "cannot overwrite a value"),
        ("a = [1,\n2\n", 2, "unclosed array, at the end of the file"),
        ("[a]\n[b\n", 2, "expected ']'"),
        ("x = __import__('os')\n", 1, "invalid value"),
        ("a = 1\nb = " + "9" * 5000, 2, "a number has too many digits"),
        ("a = " + "[" * 100000, 0, "nested too deeply"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(text)
    with pytest.raises(SpecError, match=words) as caught:
        load_toml(path)
    assert [found for found, _ in caught.value.problems] == [line]
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert len(str(caught.value)) < 300


UNREADABLE = [
    ("absent.toml", None, r"^the file .*absent\.toml does not exist\.$"),
    ("", None, r"is a folder; a TOML file is needed\.$"),
    ("a\0b", None, r"cannot be read: embedded null byte\.$"),
    ("latin.toml", b"a = 1\nb = '\xe9'\n", r"latin\.toml:2: the byte 0xe9 is not UTF-8; save the file as UTF-8\.$"),
    ("large.toml", b"#" * 5_000_001, r"large\.toml is larger than 5 MB"),
    (f"{Path(__file__).name}/below", None, "cannot be read: not a directory"),
]


@pytest.mark.parametrize(("name", "content", "message"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_unreadable_files(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    folder = Path(__file__).parent if "below" in name else tmp_path
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises((BadInput, SpecError), match=message):
        load_toml(f"{folder}/{name}")


def test_windows_files_and_exact_floats(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 0.1\r\n")
    file = load_toml(path, parse_float=Decimal)
    assert file.data == {"a": 1, "b": Decimal("0.1")}
    assert file.line_of(("b",)) == 2


def number(value: object) -> str:
    as_fraction(value, "eta")
    return str(value)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class LeastSquares(Strict):
    kind: Literal["least_squares"]
    data: str
    clients: int = Field(ge=1, le=1000)


class Method(Strict):
    kind: Literal["scgd", "fedavg"]
    eta: Annotated[str, AfterValidator(number)] = "1"
    E: int | str | list[int] = 1


class Rate(Strict):
    slope: list[float]

    @model_validator(mode="after")
    def ordered(self) -> "Rate":
        if self.slope != sorted(self.slope):
            raise ValueError("rate.slope must be in increasing order")
        return self


class Claim(Strict):
    statement: str
    problem: LeastSquares
    method: Method | str = "default"
    expect: Literal["HOLDS", "VIOLATED", "VACUOUS"] = "HOLDS"
    rate: Rate | None = None
    at: dict[str, float] = {}


class Claims(Strict):
    claim: list[Claim]


def mistakes(text: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        validate(Claims, parse_toml(text, "c.toml"))
    return str(caught.value).split("\n")


GOOD = """\
[[claim]]
statement = "scgd/theorem_3_3"
problem = { kind = "least_squares", data = "diabetes", clients = 20 }
method = { kind = "scgd", eta = "1/3", E = [1, 2] }
rate = { slope = [-2.2, -1.8] }
at = { K = 10.0 }
"""


def test_a_good_file_validates() -> None:
    claims = validate(Claims, parse_toml(GOOD))
    assert claims.claim[0].problem == LeastSquares(kind="least_squares", data="diabetes", clients=20)
    assert validate(Claim, parse_toml(GOOD), ("claim", 0)) == claims.claim[0]


def test_all_mistakes_are_listed_at_once() -> None:
    text = """\
[[claim]]
statement = 3
tihgtness = 1
expect = "HODLS"
problem = { kind = "least_squares", data = "diabetes", clients = 0 }
[claim.at]
K = "many"

[[claim]]
statement = "second"
[claim.problem]
kind = "least_square"
data = "diabetes"
clients = 1

[[claim]]
problem = {}
method = 1.5
rate = { slope = [1.0, -1.0] }
"""
    assert mistakes(text) == [
        "c.toml:2: in claim 1, statement = 3 is not allowed; it must be text in quotes.",
        "c.toml:3: in claim 1, the key 'tihgtness' is unknown; known: at, expect, method, problem, rate, statement.",
        "c.toml:4: in claim 1, expect = 'HODLS' is not allowed; did you mean 'HOLDS'? "
        "Allowed: 'HOLDS', 'VIOLATED' or 'VACUOUS'.",
        "c.toml:5: in claim 1, problem.clients = 0 is not allowed; it must be at least 1.",
        "c.toml:7: in claim 1, at.K = 'many' is not allowed; it must be a number.",
        "c.toml:12: in claim 2 ('second'), problem.kind = 'least_square' is not allowed; did you mean 'least_squares'? "
        "Allowed: 'least_squares'.",
        "c.toml:16: in claim 3, the key 'statement' is missing.",
        "c.toml:17: in claim 3, the key 'problem.clients' is missing.",
        "c.toml:17: in claim 3, the key 'problem.data' is missing.",
        "c.toml:17: in claim 3, the key 'problem.kind' is missing.",
        "c.toml:18: in claim 3, method = 1.5 is not allowed; it must be a table or text in quotes.",
        "c.toml:19: in claim 3, rate.slope must be in increasing order.",
    ]


def test_mistakes_inside_unions_name_the_key_alone() -> None:
    text = GOOD.replace('kind = "scgd", eta = "1/3", E = [1, 2]', 'kind = "scgd", ete = 1, E = 1.5, eta = "1/x"')
    assert mistakes(text) == [
        "c.toml:4: in claim 1 ('scgd/theorem_3_3'), eta = '1/x' is not a number; "
        "write an integer, a decimal such as 1e-3, or a ratio such as 1/3.",
        "c.toml:4: in claim 1 ('scgd/theorem_3_3'), method.E = 1.5 is not allowed; "
        "it must be an integer, text in quotes or a list.",
        "c.toml:4: in claim 1 ('scgd/theorem_3_3'), the key 'method.ete' is unknown; did you mean 'eta'?",
    ]
    text = GOOD.replace("E = [1, 2]", 'E = [\n  1,\n  "x"]')
    assert mistakes(text) == [
        "c.toml:6: in claim 1 ('scgd/theorem_3_3'), item 2 of method.E = 'x' is not allowed; it must be an integer."
    ]
    text = GOOD.replace("data =", "dta =")
    assert mistakes(text) == [
        "c.toml:3: in claim 1 ('scgd/theorem_3_3'), the key 'problem.data' is missing.",
        "c.toml:3: in claim 1 ('scgd/theorem_3_3'), the key 'problem.dta' is unknown; did you mean 'data'?",
    ]
    assert mistakes(GOOD.replace('kind = "scgd", ', "")) == [
        "c.toml:4: in claim 1 ('scgd/theorem_3_3'), the key 'method.kind' is missing."
    ]


def test_mistakes_at_the_top() -> None:
    assert mistakes("") == ["c.toml: the key 'claim' is missing."]
    assert mistakes("[clam]\nx = 1\n") == [
        "c.toml: the key 'claim' is missing.",
        "c.toml:1: the key 'clam' is unknown; did you mean 'claim'?",
    ]
    assert mistakes("claim = 1\n") == ["c.toml:1: claim = 1 is not allowed; it must be a list."]
    assert mistakes("\nclaim = [\n1]\n") == ["c.toml:3: item 1 of claim = 1 is not allowed; it must be a table."]


def test_other_mistakes_keep_their_words() -> None:
    class Grid(Strict):
        name: Annotated[str, Field(max_length=3)]
        points: Annotated[list[int], Field(min_length=2)]
        when: Literal[1, 2]

    file = parse_toml("name = 'long'\npoints = [1]\nwhen = 3\n", "g.toml")
    with pytest.raises(SpecError) as caught:
        validate(Grid, file)
    assert str(caught.value).split("\n") == [
        "g.toml:1: name = 'long' is not allowed: string should have at most 3 characters.",
        "g.toml:2: points = [1] is not allowed: list should have at least 2 items after validation, not 1.",
        "g.toml:3: when = 3 is not allowed. Allowed: 1 or 2.",
    ]


def test_problems_can_be_gathered_part_by_part() -> None:
    from pydantic import ValidationError

    file: TomlFile = parse_toml(GOOD + GOOD.replace("20", "2000"), "c.toml")
    with pytest.raises(ValidationError) as caught:
        Claim.model_validate(file.at(("claim", 1)))
    assert problems_of(caught.value, Claim, file, ("claim", 1)) == [
        (9, "in claim 2 ('scgd/theorem_3_3'), problem.clients = 2000 is not allowed; it must be at most 1000.")
    ]


@pytest.mark.parametrize(
    "key",
    [".".join("a" * 20_000), "[" + " . ".join(["k"] * 33) + "]\nx", '"q"' + ".b" * 40],
    ids=["40 KB", "header", "quoted"],
)
def test_a_key_of_many_names_is_refused_before_it_is_read(key: str) -> None:
    with pytest.raises(SpecError, match=":2: a key has more than 32 names joined by dots"):
        parse_toml(f"x = 1\n{key} = 1\n")


def test_dots_in_texts_and_comments_are_no_key() -> None:
    many = ".".join("a" * 100)
    text = f"{'.'.join('a' * 32)} = \"{many}\" # {many}\n\"{many}\" = '''\n{many}\n'''\n"
    assert parse_toml(text).data[many] == f"{many}\n"
