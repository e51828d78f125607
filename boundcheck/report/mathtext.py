"""Formulas inside sentences as MathML: "eta <= 1/(2*L) fails" with the inequality typeset and the word left alone.

A sentence is cut into tokens. A run of tokens that can only be a formula is typeset; names take the LaTeX of the
statement's symbols. What is not clearly a formula stays text, with the signs of print (`words.prose`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from boundcheck.errors import BadInput
from boundcheck.report.words import prose
from boundcheck.theory.mathml import GREEK, latex_to_mathml
from boundcheck.theory.typeset import symbol_latex

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement

_NAME = r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*(?:_\{[A-Za-z0-9+-]+\})?"
_OPERATOR = r"<=|>=|!=|\*\*|-\+|[-+*/^=<>(){}\[\]|]"
_FILE = r"[\w./-]+\.(?:csv|html|json|py|toml)\b"  # a name of a file, which may look like a difference
_TOKEN = re.compile(
    rf"{_FILE}|(?<![\w'’.])(?P<name>{_NAME})(?![\w'’])|(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?!\.?\w)|(?P<sign>{_OPERATOR}|\s+)|"
    r"[\w'’.]+|.",
    re.DOTALL,
)
_FUNCTIONS = {
    **{name: rf"\{name}" for name in ("sqrt", "min", "max", "log", "exp")},
    **{name: rf"\operatorname{{{name}}}" for name in ("ceil", "floor", "diag")},
    "grad": r"\nabla",
}
# further names that the statements\' words use
_OWN = {"et": r"\mathrm{et}", "ell": r"\ell", "thetabar": r"\bar{\theta}", "qt": r"\tilde{q}"}
_SIGNS = {"<=": r"\leq", ">=": r"\geq", "!=": r"\neq", "-+": r"\pm", "**": "^"}
_OPEN = ("(", "[", "{")
_JOINS = frozenset(("<=", ">=", "!=", "=", "<", ">", "+", "-", "-+", "*", "/", "^", "**"))
_BREAKS = _JOINS - {"*", "/", "^", "**"}
_PAIRS = {")": "(", "]": "[", "}": "{"}
_ARTICLES = frozenset(("a", "A", "I"))  # letters that are words unless an operator stands beside them
_NUMBERED = re.compile(  # a number after such a word is its name
    r"(Lemma|Theorem|Corollary|Section|Appendix|Assumption|Equation|Table|Figure|Definition|Example|Remark|Property)s?$"
)
LONG = 14  # tokens of a formula that is cut at its signs, so that lines can break there


class _Word(str):
    """Text that is no part of a formula."""


def symbols_of(statement: Statement | None) -> tuple[tuple[str, str], ...]:
    """Names of a statement's symbols with their LaTeX, for `math`."""
    return () if statement is None else tuple((s.name, symbol_latex(s)) for s in statement.symbols)


@lru_cache(maxsize=1 << 14)
def math(text: str, symbols: tuple[tuple[str, str], ...] = ()) -> Markup:
    """The sentence as HTML with its formulas as MathML. symbols: see `symbols_of`."""
    known = dict(symbols)
    found: list[str] = []
    plain: list[str] = []
    for kind, tokens in _runs([m[0] if m.lastgroup else _Word(m[0]) for m in _TOKEN.finditer(text)], known):
        pieces = _typeset(tokens, known) if kind else None
        if pieces is None:
            plain.append("".join(tokens))
            continue
        found += [str(escape(prose("".join(plain)))), " ".join(pieces)]
        plain = []
    return Markup("".join([*found, str(escape(prose("".join(plain))))]))


def _is_name(token: str, known: Mapping[str, str]) -> bool:
    if isinstance(token, _Word):
        return False
    if token in known or token in _FUNCTIONS or token in _OWN:
        return True
    base = token.partition("_")[0]
    stem = base.rstrip("0123456789")
    letter = len(stem) == 1 or stem in GREEK or stem in _OWN
    return letter and stem.isalpha() and len(base) - len(stem) <= 1


def _runs(tokens: Sequence[str], known: Mapping[str, str]) -> Iterator[tuple[bool, list[str]]]:
    """Pieces of the text in their order: (True, a formula) or (False, other text)."""
    run: list[str] = []
    depth, before = 0, ""
    for token in tokens:
        word = isinstance(token, _Word)
        inside = word and token == "," and depth > 0
        number = not word and token[0].isdigit() and not (not any(map(str.strip, run)) and _NUMBERED.match(before))
        if inside or number or _is_name(token, known) or (not word and re.fullmatch(_OPERATOR + r"|\s+", token)):
            depth += (token in _OPEN) - (token in _PAIRS)
            run.append(token)
            continue
        before = token
        yield from _cut(run, known)
        run, depth = [], 0
        yield False, [token]
    yield from _cut(run, known)


def _cut(run: list[str], known: Mapping[str, str]) -> Iterator[tuple[bool, list[str]]]:
    """The formula of a run between what only stands beside it: signs at its ends, brackets without a partner."""
    start, end = 0, len(run)
    if run and run[0] in ("^", "**", "/", "*"):  # of what stands before it, which is no formula
        yield False, run
        return
    while start < end and (run[start].isspace() or run[start] in {*_JOINS, *_PAIRS, ","} - {"-"}):
        start += 1
    while end > start and (run[end - 1].isspace() or run[end - 1] in {*_JOINS, *_OPEN, ","} - {"*"}):
        end -= 1
    open_at: list[int] = []
    for k in range(start, end):
        if run[k] in _OPEN:
            open_at.append(k)
        elif run[k] in _PAIRS and (not open_at or run[open_at.pop()] != _PAIRS[run[k]]):
            yield from _cut(run[:k], known)
            yield False, [run[k]]
            yield from _cut(run[k + 1 :], known)
            return
    if open_at:
        yield from _cut(run[: open_at[0]], known)
        yield False, [run[open_at[0]]]
        yield from _cut(run[open_at[0] + 1 :], known)
        return
    while start < end and run[start] in _ARTICLES and not _joined(run, start, end):
        start += 1
        while start < end and run[start].isspace():
            start += 1
    while end - start > 1 and run[end - 1] in _ARTICLES and run[end - 2].isspace():
        end -= 1
        while run[end - 1].isspace():
            end -= 1
        if run[end - 1] in _JOINS:
            end = len(run)
            break
    if run[:start]:
        yield False, run[:start]
    if run[start:end]:
        yield _is_formula(run[start:end], known), run[start:end]
    if run[end:]:
        yield False, run[end:]


def _joined(run: Sequence[str], at: int, end: int) -> bool:
    """Whether an operator follows."""
    after = [t for t in run[at + 1 : end] if not t.isspace()]
    return bool(after) and after[0] in _JOINS | {"_"}


def _is_formula(tokens: Sequence[str], known: Mapping[str, str]) -> bool:
    own = [t for t in tokens if not t.isspace()]
    names = [t for t in own if _is_name(t, known)]
    if own.count("|") % 2 or not names:
        return False
    if len(own) == 1:
        (name,) = own
        return name not in _ARTICLES | set(_FUNCTIONS) and (name in known or name in GREEK or "_" in name)
    if any(a in _JOINS and b in _JOINS and (b != "-" or a in ("+", "-")) for a, b in pairwise(own) if a != "*"):
        return False
    called = any(_is_name(a, known) and b in ("(", "[") for a, b in pairwise(tokens))
    joined = called or "grad" in own or any(t in _JOINS or t == "|" for t in own)
    return joined or all(t in known or t in GREEK or t[0].isdigit() for t in own)


def _typeset(tokens: Sequence[str], known: Mapping[str, str]) -> list[str] | None:
    """The formula as <math> elements between which a line may break; None for one that is no formula after all."""
    own = [t for t in tokens if not t.isspace()]
    cuts = _cuts(own)
    long = len(cuts) > 2
    try:
        latex = _latex(own, known, roots=not long)
        pieces = [" ".join(p for p in latex[a:b] if p) for a, b in pairwise(cuts)]
        return [latex_to_mathml(piece) for piece in pieces if piece]
    except (BadInput, IndexError):
        return None


def _cuts(tokens: Sequence[str]) -> list[int]:
    """The places of a formula where a line may break, its ends among them: inside brackets where it stays long."""
    raised = _raised(tokens)
    cuts = [0, len(tokens)]
    for most in range(6):
        if max(b - a for a, b in pairwise(cuts)) <= LONG:
            break
        depth, found = 0, {0, len(tokens)}
        for k, token in enumerate(tokens):
            depth += (token in _OPEN) - (token in _PAIRS)
            if k and k not in raised and depth <= most and (token == "," or token in _BREAKS):
                found.add(k + (token == ","))
        cuts = sorted(found)
    return cuts


def _raised(tokens: Sequence[str]) -> set[int]:
    """The places inside exponents."""
    found: set[int] = set()
    for k, token in enumerate(tokens):
        if token in ("^", "**"):
            found |= set(range(k, _end_of(tokens, k + 1)))
    return found


def _end_of(tokens: Sequence[str], at: int) -> int:
    """The place behind the operand that begins here: a sign, then a bracket or one token."""
    if tokens[at] == "-":
        at += 1
    depth = 0
    for k in range(at, len(tokens)):
        depth += (tokens[k] in _OPEN) - (tokens[k] in _PAIRS)
        if depth == 0:
            return k + 1
    return len(tokens)


def _latex(tokens: Sequence[str], known: Mapping[str, str], *, roots: bool) -> list[str]:
    """LaTeX of each token; joined, that of the formula. roots: whether a root is drawn over what it is of."""
    found = [_one(t, known) for t in tokens]
    for k, token in enumerate(tokens):
        if token in ("^", "**"):
            end = _end_of(tokens, k + 1)
            first = k + 1
            if tokens[first] in ("(", "{") and tokens[end - 1] in (")", "}"):
                found[first], found[end - 1] = "", ""
            found[k] = "^{"
            found[end - 1] += "}"
        elif token == "sqrt" and k + 1 < len(tokens) and tokens[k + 1] == "(":
            end = _end_of(tokens, k + 1)
            if roots:
                found[k], found[k + 1] = r"\sqrt{", ""
                found[end - 1] = found[end - 1].replace(")", "}", 1)
            else:
                found[k] = "√"
        elif token == "*":
            after = tokens[k + 1] if k + 1 < len(tokens) else ""
            if after and after not in _JOINS | {*_PAIRS, ",", "|"}:
                digits = tokens[k - 1][0].isdigit() and after[0].isdigit()
                found[k] = r"\cdot" if digits else r"\,"
            elif k and tokens[k - 1][0].isalpha():
                found[k] = r"^\star"
            else:
                raise BadInput("a sign without an operand")
    return found


def _one(token: str, known: Mapping[str, str]) -> str:
    if token in known:
        return known[token]
    if token in _FUNCTIONS or token in _OWN:
        return _FUNCTIONS.get(token) or _OWN[token]
    if token[0].isalpha():
        base, _, below = token.partition("_")
        stem = base.rstrip("0123456789")
        letter = rf"\{stem}" if stem in GREEK else _OWN.get(stem, stem)
        digits = base[len(stem) :]
        below = ", ".join(p for p in (digits, below.replace("_", ", ").strip("{}")) if p)
        return f"{letter}_{{{below}}}" if below else letter
    return _SIGNS.get(token, rf"\{token}" if token in "{}" else token)
