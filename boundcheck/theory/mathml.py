"""The part of LaTeX that statements are typeset in, as presentation MathML; no network, no script."""

from __future__ import annotations

import html
import re

from boundcheck.errors import BadInput

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.DOTALL)

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "varpi": "ϖ",
    "rho": "ρ",
    "sigma": "σ", "tau": "τ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ",
    "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "ell": "ℓ", "infty": "∞", "nabla": "∇",
}  # fmt: skip
GREEK = frozenset(LETTERS) - {"ell", "infty", "nabla"}
_OPERATORS = {
    "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "lt": "<", "gt": ">", "in": "∈", "to": "→",
    "cdot": "⋅", "sum": "∑", "times": "×", "Longrightarrow": "⟹", "Longleftrightarrow": "⟺", "sim": "∼", "approx": "≈",
    "lVert": "‖", "rVert": "‖", "|": "‖", "lvert": "|", "rvert": "|", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈",
    "rceil": "⌉", "langle": "⟨", "rangle": "⟩", "{": "{", "}": "}", "star": "⋆", "ast": "∗", "pm": "±", "ldots": "…",
}  # fmt: skip
_FUNCTIONS = ("min", "max", "log", "ln", "exp", "sin", "cos", "lim", "limsup", "sup", "inf")
_SPACES = {"quad": "1em", "qquad": "2em", ",": "0.17em", ";": "0.28em", ":": "0.22em", " ": "0.25em", "!": "0em"}
_SCRIPT = {"E": "ℰ", "L": "ℒ", "F": "ℱ", "H": "ℋ"}
_BLACKBOARD = {"E": "𝔼", "R": "ℝ", "Z": "ℤ", "N": "ℕ", "P": "ℙ"}


def latex_to_mathml(latex: str, *, block: bool = False) -> str:
    """A <math> element. Raises BadInput for a command that is not known here and for unbalanced groups."""
    parser = _Parser(latex)
    inner = parser.row(frozenset())
    display = ' display="block"' if block else ""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{display}>{inner}</math>'


class _Parser:
    """Recursive descent over the tokens; every method returns MathML text."""

    def __init__(self, latex: str) -> None:
        self._latex = latex
        self._tokens = _TOKEN.findall(latex)
        self._at = 0

    def row(self, ends: frozenset[str]) -> str:
        """Atoms up to one of the closing tokens (which is not consumed), or to the end of the text."""
        parts: list[str] = []
        while True:
            self._skip_space()
            token = self._peek()
            if token is None:
                if ends:
                    raise self._broken()
                break
            if token in ends:
                break
            parts.append(self._scripted())
        return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"

    def _broken(self) -> BadInput:
        return BadInput(f"the LaTeX '{self._latex}' has a group that does not end.")

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> str:
        token = self._peek()
        if token is None:
            raise self._broken()
        self._at += 1
        return token

    def _skip_space(self) -> None:
        while self._at < len(self._tokens) and self._tokens[self._at].isspace():
            self._at += 1

    def _scripted(self) -> str:
        limits = self._peek() in (r"\lim", r"\limsup", r"\sum")
        base = self._atom()
        below = above = ""
        while True:
            self._skip_space()
            token = self._peek()
            if token == "_" and not below:
                self._at += 1
                below = self._argument()
            elif token == "^" and not above:
                self._at += 1
                above = self._argument()
            elif token == "'":
                self._at += 1
                above = "<mo>′</mo>"
            else:
                break
        if below and above:
            both = "munderover" if limits else "msubsup"
            return f"<{both}>{base}{below}{above}</{both}>"
        if below:
            return f"<munder>{base}{below}</munder>" if limits else f"<msub>{base}{below}</msub>"
        return f"<msup>{base}{above}</msup>" if above else base

    def _argument(self) -> str:
        self._skip_space()
        return self._atom()

    def _group_text(self) -> str:
        """The raw text of a {group}."""
        self._skip_space()
        if self._next() != "{":
            raise self._broken()
        depth, parts = 1, []
        while True:
            token = self._next()
            depth += (token == "{") - (token == "}")
            if depth == 0:
                return "".join(parts)
            parts.append(token)

    def _close(self, end: str) -> str:
        inner = self.row(frozenset({end}))
        self._at += 1
        return inner

    def _atom(self) -> str:
        token = self._next()
        if token == "{":
            inner = self._close("}")
            return inner if inner.startswith("<mrow>") else f"<mrow>{inner}</mrow>"
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token == "}":
            raise self._broken()
        plain = ' stretchy="false"' if token in "()[]|" else ""
        return f"<mo{plain}>{html.escape({'-': '−', '*': '∗'}.get(token, token))}</mo>"

    def _command(self, name: str) -> str:
        if name in LETTERS:
            return f"<mi>{LETTERS[name]}</mi>"
        if name in _OPERATORS:
            return f"<mo>{html.escape(_OPERATORS[name])}</mo>"
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}"/>'
        if name in _FUNCTIONS:
            shown = "lim sup" if name == "limsup" else name
            return f"<mi>{shown}</mi>"
        if name == "frac":
            top = self._argument()
            return f"<mfrac>{top}{self._argument()}</mfrac>"
        if name == "sqrt":
            return self._root()
        if name == "left":
            return self._fence()
        if name in ("mathrm", "operatorname"):
            return f'<mi mathvariant="normal">{html.escape(self._group_text())}</mi>'
        if name == "text":
            return f"<mtext>{html.escape(self._group_text()).replace(' ', '&#xA0;')}</mtext>"
        if name == "mathcal":
            letter = self._group_text()
            return f"<mi>{_SCRIPT.get(letter, html.escape(letter))}</mi>"
        if name == "mathbb":
            letter = self._group_text()
            return f"<mi>{_BLACKBOARD.get(letter, html.escape(letter))}</mi>"
        if name == "overline":  # fonts without a bar that stretches would set a short one
            return f'<mrow style="border-top:0.06em solid;padding-top:0.1em">{self._argument()}</mrow>'
        if name in ("bar", "hat", "tilde"):
            mark = {"hat": "^", "tilde": "~"}.get(name, "‾")
            return f'<mover accent="true">{self._argument()}<mo>{mark}</mo></mover>'
        raise BadInput(f"the LaTeX command '\\{name}' in '{self._latex}' is not one that statements are typeset in.")

    def _root(self) -> str:
        self._skip_space()
        if self._peek() != "[":
            return f"<msqrt>{self._argument()}</msqrt>"
        self._at += 1
        degree = self._close("]")
        return f"<mroot>{self._argument()}{degree}</mroot>"

    def _fence(self) -> str:
        opening = self._delimiter()
        inner = self.row(frozenset({r"\right"}))
        self._at += 1
        return f"<mrow>{opening}{inner}{self._delimiter()}</mrow>"

    def _delimiter(self) -> str:
        self._skip_space()
        token = self._next()
        shown = _OPERATORS.get(token[1:], token) if token.startswith("\\") else token
        return "" if shown == "." else f'<mo fence="true" stretchy="true">{html.escape(shown)}</mo>'
