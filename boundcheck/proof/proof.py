"""The language in which a derivation is written: notation, what is known, the paper's steps, the conclusion.

    def derivation(statement):
        p = Proof(statement, dist2_1, squares=(gap_0,))
        p.define(et, E * eta_g * eta_l, "effective step")
        p.known("drift >= 0", xi >= 0, "a mean of squared norms")
        p.cite("C.1", dist2_1 <= start + 3 * L * et * xi, "lemma_c_1/corrected", dist2_1, "drift >= 0", why="progress")
        p.cite("C.2", 3 * L * et * xi <= noise, "lemma_c_2/corrected", xi, why="drift")
        p.conclude(dist2_1 <= start + noise, {"C.1": 1, "C.2": 1}, why="the lemmas added")
        return p.done()

Every step names the definitions, facts and earlier steps from which it follows. A name in `{name: factor}` is used with
that factor; the other facts then only say what signs the factors and the rest have. Three kinds of facts are found and
not named: domains of symbols, counts and ranges of indices; the conditions of the statement, where the claim and what
is named mention all of their symbols, or where a relation between numbers names nothing but definitions and mentions no
other symbols than they; and, for a citation, all of these and the definitions of what its claim mentions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof import at_points
from boundcheck.proof.citations import Cited, ForVectors, Instance, Lemma, Specialised
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.language import terms_of
from boundcheck.proof.methods import Combine, Decide, Expected, Identity, Supposing
from boundcheck.proof.rules import Accumulation, CauchySchwarz, Induction, Jensen, SumOver, Telescoping
from boundcheck.proof.scope import symbols_of_all
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Inner, Vector, VectorEquality
from boundcheck.theory.discovery import statement as find_statement

FOUND = ("domain", "count", "index", "range", "condition")  # kinds of facts that no step names


def symbols(names: str) -> Any:
    """Real symbols, one or several: `mu, L = symbols("mu L")`. No sign is built in."""
    return sp.symbols(names, real=True)


def functions(names: str) -> Any:
    """Real functions of indices, one or several: `dist2 = functions("dist2")`, used as `dist2(k)`."""
    found = [sp.Function(name, real=True) for name in names.split()]
    return found if len(found) > 1 else found[0]


def le(left: Any, right: Any) -> Any:
    """`left <= right` as it is written; `<=` itself may decide a claim or turn it around."""
    return sp.Le(left, right, evaluate=False)


def ge(left: Any, right: Any) -> Any:
    """`left >= right` as it is written."""
    return sp.Ge(left, right, evaluate=False)


def eq(left: Any, right: Any) -> Any:
    """An equation of numbers or of vectors."""
    return VectorEquality(left, right) if isinstance(left, Vector) else sp.Eq(left, right, evaluate=False)


class Proof:
    """The proof of one reading of a statement, written top down; `done` gives the `Derivation`.

    target: what the statement bounds. squares: symbols that are squared norms, sums of such, or gaps. at_start: terms
    that are taken when no round has been run; rounds, drawn, laws: as for a `Derivation`. named: conditions that are
    used only by citations and where they are named, for those that would make the search long.
    Every word raises BadInput with a sentence for a name that is used twice, or that nothing has.
    """

    def __init__(
        self,
        statement: Any,
        target: Any,
        *,
        squares: tuple[Any, ...] = (),
        at_start: tuple[Any, ...] = (),
        rounds: tuple[tuple[Any, Any], ...] = (),
        drawn: Any = (),
        laws: tuple[Any, ...] = (),
        named: tuple[str, ...] = (),
    ) -> None:
        self.statement, self.target, self.reading, self.bound = statement, target, statement.reading, statement.bound
        self._quantities = frozenset(str(s) for s in squares)
        self._rounds, self._drawn, self._laws = (*((x, 0) for x in at_start), *rounds), drawn, laws
        self._apart = named
        self._facts: dict[str, Fact] = {}
        self._steps: dict[str, Step] = {}
        self._conclusion = ""
        self.add(*scope_facts(statement))

    def condition(self, name: str = "") -> Any:
        """The relation of a condition of the statement: the named one, or the only one."""
        found = {c.name: c.relation for c in self.statement.conditions}
        if name not in found and (name or len(found) != 1):
            raise self._wrong(f"has no single condition '{name}'; its conditions are {', '.join(found) or 'none'}")
        return found[name] if name else next(iter(found.values()))

    def add(self, *items: Any) -> None:
        """Facts and steps that are made elsewhere, such as those of another derivation."""
        for item in items:
            if item.name in self._facts or item.name in self._steps:
                raise self._wrong(f"has two facts or steps named '{item.name}'")
            kept: dict[str, Any] = self._steps if isinstance(item, Step) else self._facts
            kept[item.name] = item

    def take_steps(self, id: str, *names: str, skip: tuple[str, ...] = ()) -> None:
        """Steps of another derivation, the named ones or all but its conclusion, from what has the same names here."""
        other = derivation(self._full(id))
        found = {f.name for f in other.facts if f.kind in FOUND}
        for s in other.steps:
            if s.name in names or not (names or s.name in (other.conclusion, *skip)):
                self._made(s.name, s.claim, tuple(u for u in s.uses if u not in found), s.by, s.text)

    def take_facts(self, id: str, *names: str, skip: tuple[str, ...] = ()) -> None:
        """Facts of another derivation, the named ones or all but those about its statement's domain and conditions."""
        own = {f.name for f in derivation(self._full(id)).facts if f.kind in ("domain", "condition")}
        facts = derivation(self._full(id)).facts
        self.add(*(f for f in facts if f.name in names or not (names or f.name in own or f.name in skip)))

    # notation

    def define(self, what: Any, value: Any, source: str, name: str = "") -> Any:
        """A new symbol or vector that stands for a value; its name, unless another is given, names the definition."""
        terms = what.terms if isinstance(what, Vector) else ((what, 1),)
        self.add(Fact(name or getattr(terms[0][0], "name", ""), eq(what, value), "definition", source))
        return what

    def index(self, index: Any, count: Any, source: str, name: str = "") -> None:
        """An integer 0, ..., count - 1, or 0, 1, ... where the count is None; claims hold for all of its values."""
        claim = index >= 0 if count is None else sp.And(index >= 0, index <= count - 1)
        self.add(Fact(name or f"index {index}", claim, "index", source))

    def range(self, name: str, claim: Any, source: str) -> None:
        """A real variable for all of whose values the claims hold that mention it."""
        self.add(Fact(name, claim, "range", source))

    def count(self, name: str, claim: Any, source: str) -> None:
        """A fixed integer of the problem that is no symbol of the statement, with its least value: `N >= 1`."""
        self.add(Fact(name, claim, "count", source))

    # what is known

    def known(self, name: str, claim: Any, source: str) -> None:
        """What the metric and the quantities of the statement are, at explicit points."""
        self.add(Fact(name, claim, "metric", source))

    def algorithm(self, name: str, claim: Any, source: str) -> None:
        """What the method does."""
        self.add(Fact(name, claim, "algorithm", source))

    def assume(self, name: str, assumption: str, claim: Any, source: str) -> None:
        """An instance of an assumption that has no inequality in the catalogue, as the paper writes it."""
        self.add(Fact(name, claim, "assumption", source, assumption))

    def pointwise(self, name: str, assumption: Any, source: str, *at: Any, **named: Any) -> None:
        """The inequality of an assumption at evaluations, see `at_points.pointwise`."""
        self.add(at_points.pointwise(name, assumption, source, *at, **named))

    def upper_model(self, name: str, assumption: Any, source: str, a: Any, b: Any, **named: Any) -> None:
        """The value at b is at most that of the quadratic model around a."""
        self.add(at_points.upper_model(name, assumption, source, a, b, **named))

    def lower_model(self, name: str, assumption: Any, source: str, a: Any, b: Any) -> None:
        """The value at b is at least that of the model around a."""
        self.add(at_points.lower_model(name, assumption, source, a, b))

    # steps

    def step(self, name: str, claim: Any, *uses: Any, why: str, numbers: tuple[Any, ...] = ()) -> None:
        """A claim that follows from what is named: a relation of numbers or of squared norms, or an equation.

        numbers: functions of an index that are coefficients in the claim, not terms of their own.
        """
        self._write(name, claim, uses, why, lambda names, factors: self._method(claim, names, factors, numbers))

    def conclude(self, claim: Any, *uses: Any, why: str, name: str = "conclusion") -> None:
        """The last step: the bound of the statement."""
        self.step(name, claim, *uses, why=why)
        self.ends_with(name)

    def ends_with(self, name: str) -> None:
        """Says which step is the bound of the statement, where it is not written with `conclude`."""
        if self._conclusion:
            raise self._wrong(f"has two conclusions, '{self._conclusion}' and '{name}'")
        self._conclusion = name

    def signs(self, *claims: Any, why: str) -> None:
        """Short relations between numbers, such as `c >= 0`, each a step of its own that is named by its text."""
        uses = [c for c in claims if isinstance(c, str)]
        for claim in (c for c in claims if not isinstance(c, str)):
            self.step(str(claim), claim, *uses, why=why)

    def expected(self, name: str, claim: Any, law: Any, *uses: Any, why: str) -> None:
        """A step in which the expectations over one law, or over several (the last that draws first), are put in."""
        laws = (law,) if isinstance(law, str) else tuple(law)
        self._write(name, claim, uses, why, lambda names, factors: Expected(laws, self._method(claim, names, factors)))

    def square_of_sum(
        self,
        name: str,
        *terms: Vector,
        why: str,
        uses: Any = (),
        claim: Any = None,
        over: Any = None,
        weights: tuple[Any, ...] = (),
    ) -> None:
        """|u + v|^2 <= 2 |u|^2 + 2 |v|^2; with weights p, q that add up to 1, |u|^2/p + |v|^2/q.

        over: an index and its count, for the sum of one vector over the index: at most the count times the sum of the
        squares. claim: the inequality in other words, with the facts in `uses` put in.
        """
        if over is not None:
            rule: Any = CauchySchwarz(terms[0], *over)
        else:
            shares = weights or (sp.Rational(1, len(terms)),) * len(terms)
            rule = Jensen(shares, tuple(v / share for v, share in zip(terms, shares, strict=True)))
        self.rule(name, rule, *_several(uses), why=why, claim=claim)

    def sum_over(self, name: str, claim: Any, source: str, index: Any, count: Any, *uses: Any, why: str) -> None:
        """The inequality or vector equation `source`, summed over an index; claim None for the sum as it stands."""
        self.rule(name, SumOver(source, index, count), source, *uses, why=why, claim=claim)

    def telescope(self, name: str, claim: Any, source: str, index: Any, count: Any, *uses: Any, why: str) -> None:
        """x(count) = x(0) + sum of d, from the vector equation `source`, x(m+1) = x(m) + d(m)."""
        self.rule(name, Telescoping(source, index, count), source, *uses, why=why, claim=claim)

    def add_up(
        self, name: str, claim: Any, source: str, value: Any, index: Any, count: Any, *uses: Any, why: str
    ) -> None:
        """a(count) <= a(0) + sum of b, from the inequality `source`, a(m+1) <= a(m) + b(m); value: a(index)."""
        self.rule(name, Accumulation(source, value, index, count), source, *uses, why=why, claim=claim)

    def induct(
        self,
        name: str,
        claim: Callable[[Any], Any],
        index: Any,
        last: Any,
        *uses: Any,
        base: Any = (),
        step: Any = (),
        why: str,
        words: tuple[str, str] = ("", ""),
        names: tuple[str, str] = ("base case", "step case"),
    ) -> None:
        """claim(last) from claim(0) and claim(index) => claim(index + 1); "hypothesis" names the claim at the index.

        base, step: what these two use, as for a step; words: why each holds; names: of the two steps.
        """
        first, more = names
        self.step(first, claim(sp.Integer(0)), *_several(base), why=words[0] or "the first")
        self.step(more, sp.Implies(claim(index), claim(index + 1)), *_several(step), why=words[1] or "one more")
        self.rule(name, Induction(first, more, index, last), first, more, *uses, why=why, claim=claim(last))

    def rule(self, name: str, rule: Any, *uses: Any, why: str, claim: Any = None) -> None:
        """A step by a general rule (`proof.rules`), such as `Limit("E0.3", a)`; claim None for what the rule says."""
        names, _ = self._named(name, uses)
        if claim is None:
            claim = rule.instance(self._claims(names))
        self._write(name, claim, uses, why, lambda names, factors: rule)

    # other statements

    def cite(self, name: str, claim: Any, id: str, metric: Any, /, *uses: Any, why: str, **images: Any) -> None:
        """The bound of another statement on `metric`; images: its values at the start, by the names of its symbols.

        id: statement and reading, of the same paper where none is named. claim None for the bound as it stands.
        """
        self._cite(name, claim, Instance(self._full(id), metric, tuple(images.items())), uses, why)

    def cite_mean(
        self, name: str, claim: Any, id: str, metric: Any, means: Mapping[Any, Any], /, *uses: Any, why: str, **at: Any
    ) -> None:
        """The same on average over what happened before: means: expression of the cited statement -> its mean.

        at: values of its constants, by their names, such as `mu=0` or the step of this round.
        """
        self._cite(name, claim, Lemma(self._full(id), metric, means, at), uses, why)

    def cite_run(self, name: str, claim: Any, id: str, run: Any, clock: Any, /, *uses: Any, why: str) -> None:
        """The bound of another statement on a run of its own; run: its metric by the number of rounds `clock`."""
        self._cite(name, claim, Cited(self._full(id), run, clock), uses, why)

    def cite_for(
        self, name: str, claim: Any, id: str, vectors: Any, /, *uses: Any, why: str, numbers: Any = (), kept: Any = ()
    ) -> None:
        """The bound of another statement for vectors that are drawn as its own, see `citations.ForVectors`."""
        self._cite(name, claim, ForVectors(self._full(id), vectors, numbers, kept), uses, why)

    def from_sharper(self, id: str, metric: Any, /, slip: str = "", **images: Any) -> None:
        """The whole proof, where a sharper reading is rounded up; slip: what the printed reading gets wrong there."""
        found, printed = find_statement(self._full(id)), self.reading == "as_printed"
        needed = self._needed({c.name: c.relation for c in found.conditions})
        self.cite("sharp", None, found.id, metric, *needed, why="the sharper reading", **images)
        inside = [f"condition {c.name}" for c in self.statement.conditions if printed]
        why = slip if slip and printed else "term by term"
        self.step("rounding", sp.Le(found.bound, self.bound), *inside, why=why)
        claim = sp.Le(self.statement.metric.scale * metric, self.bound)
        self.conclude(claim, {"sharp": 1, "rounding": 1}, why="together")

    def from_general(self, id: str, metric: Any, /, *uses: str, **images: Any) -> None:
        """The whole proof, where a statement is about a method of which this one is a special case."""
        rule = Specialised(self._full(id), metric, tuple(images.items()))
        cited = find_statement(rule.statement)
        values = rule.values(cited)
        needed = self._needed({c.name: c.relation.xreplace(values) for c in cited.conditions}, *uses)
        self._cite("conclusion", None, rule, needed, "a special case")
        self.ends_with("conclusion")

    def done(self) -> Derivation:
        """The derivation, for the finder; raises BadInput where it is not well formed."""
        if not self._conclusion:
            raise self._wrong("has no conclusion; write its last step with `conclude`")
        return Derivation(
            self.statement,
            tuple(self._facts.values()),
            tuple(self._steps.values()),
            self._conclusion,
            self.target,
            self._quantities,
            self._rounds,
            self._drawn,
            self._laws,
        )

    # how a step is made

    def _wrong(self, what: str) -> BadInput:
        return BadInput(f"the proof of {self.statement.id} {what}.")

    def _full(self, id: str) -> str:
        return id if id.count("/") > 1 else f"{self.statement.id.partition('/')[0]}/{id}"

    def _needed(self, relations: Mapping[str, Any], *uses: str) -> list[str]:
        """A step for each hypothesis of what is cited that is none of the statement's own; their names."""
        own = {c.relation for c in self.statement.conditions}
        conditions = [f"condition {c.name}" for c in self.statement.conditions]
        wanted = {f"needs {name}": relation for name, relation in relations.items() if relation not in own}
        for name, relation in wanted.items():
            self.step(name, relation, *uses, *conditions, why="what is cited needs it")
        return list(wanted)

    def _claims(self, names: Any) -> dict[str, Any]:
        return {n: (self._facts.get(n) or self._steps[n]).claim for n in names}

    def _named(self, name: str, uses: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The names among what a step uses, and the factors."""
        factors: dict[str, Any] = {}
        for use in uses:
            factors |= use if isinstance(use, Mapping) else {}
        given = [n for use in uses for n in (use if isinstance(use, Mapping) else (use,)) if n != "hypothesis"]
        known = {**self._facts, **self._steps}
        several = {n: x.claim.args for n, x in known.items() if isinstance(x.claim, sp.And)}
        parts = {f"{n}.{k}": n for n, args in several.items() for k in range(1, len(args))}
        given = [parts[n] if n in parts and n not in known else n for n in given]
        for one in given:
            if one not in known:
                near = get_close_matches(str(one), [*self._facts, *self._steps], 1)
                hint = f"; the nearest name is '{near[0]}'" if near else ""
                raise self._wrong(f"uses '{one}' in step '{name}', and no fact or earlier step has that name{hint}")
        return tuple(dict.fromkeys(given)), factors

    def _method(self, claim: Any, names: tuple[str, ...], factors: Any, numbers: tuple[Any, ...] = ()) -> Any:
        """How the finder begins: a combination where factors or vectors are given, else the signs of numbers."""
        goal = claim.args[1] if isinstance(claim, sp.Implies) else claim
        if factors or numbers:
            by: Any = Combine(factors, numbers)
        elif isinstance(goal, sp.Eq | VectorEquality):
            by = Identity()
        else:
            claims = (goal, *self._claims(names).values())
            linear = any(_vectors(c) for c in claims) and not any(_powers(c) for c in claims)
            by = Combine() if linear else Decide()
        return Supposing(by) if goal is not claim else by

    def _write(self, name: str, claim: Any, uses: Any, why: str, method: Any) -> None:
        names, factors = self._named(name, uses)
        self._made(name, claim, names, method(names, factors), why)

    def _made(self, name: str, claim: Any, names: tuple[str, ...], by: Any, why: str) -> None:
        """Adds a step, with the conditions that it may use."""
        about = symbols_of_all([claim, *self._claims(names).values()]) | _inside(by)
        defined = {f.name: getattr(f.claim, "lhs", None) for f in self._facts.values() if f.kind == "definition"}
        plain = about - {*defined.values()} if _numbers(by) and defined.keys() >= {*names} else None
        conditions = (f for f in self._facts.values() if f.kind == "condition")
        rest = {f.name: symbols_of_all([f.claim]) for f in conditions if f.name in names or f.name not in self._apart}
        found = {n for n, own in rest.items() if n in names or (plain is not None and plain <= own)}
        about |= {s for n in found for s in rest[n]}
        names = tuple(dict.fromkeys((*names, *(n for n, own in rest.items() if n in found or own <= about))))
        self.add(Step(name, claim, names, by, why))

    def _cite(self, name: str, claim: Any, rule: Any, uses: Any, why: str) -> None:
        names, _ = self._named(name, uses)
        claim = rule.instance(self._claims(names)) if claim is None else claim
        about, more = symbols_of_all([claim]) | _inside(rule), dict.fromkeys(names)
        for fact in reversed(self._facts.values()):
            if fact.kind == "definition" and isinstance(fact.claim, sp.Eq) and fact.claim.lhs in about:
                about |= symbols_of_all([fact.claim])
                more[fact.name] = None
            elif fact.kind in ("domain", "condition"):
                more[fact.name] = None
        self.add(Step(name, claim, tuple(more), rule, why))


def _several(uses: Any) -> tuple[Any, ...]:
    return (uses,) if isinstance(uses, str | Mapping) else tuple(uses)


def _vectors(claim: Any) -> bool:
    return isinstance(claim, VectorEquality) or claim.has(Inner)


def _powers(claim: Any) -> bool:
    """Whether it has a root or another power of an inner product, which is then a number like others."""
    return not isinstance(claim, VectorEquality) and any(x.has(Inner) for x in claim.atoms(sp.Pow))


def _numbers(by: Any) -> bool:
    return isinstance(getattr(by, "by", by), Decide)


def _inside(by: Any) -> set[Any]:
    """The free symbols of the terms of a method."""
    return symbols_of_all([VectorEquality(x, x) if isinstance(x, Vector) else x for x in terms_of(by)])
