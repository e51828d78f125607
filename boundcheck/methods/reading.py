"""The functions of a round on formal vectors: what each of them returns, as sums of atoms and nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods.clients import Clients
from boundcheck.methods.formal import ZERO, Atom, ClientMean, Gradient, Minimiser, Vector, part
from boundcheck.methods.own_parts import is_own
from boundcheck.methods.own_rule import called, table
from boundcheck.methods.parts.local import Visit
from boundcheck.methods.round import At, Rule, Sent

TWO_ANSWERS = "the functions of its round give two answers for one input; declare what is random (`drawn`, `uniforms`)."
TRIED = 50  # rounds whose numbers are compared with those a period later


class _Summed(dict[str, Vector]):
    """The sums of what is sent: whatever is asked for is one, and nobody sends it where it is 0."""

    def __init__(self, place: str, taken: set[tuple[str, str]]) -> None:
        super().__init__()
        self._place, self._taken = place, taken

    def __missing__(self, name: str) -> Vector:
        self._taken.add((self._place, name))
        return Vector.of(Atom(self._place, name))


class Reading:
    """The functions of a rule on formal vectors, with the clients and the server's step size of a method."""

    def __init__(self, rule: Rule, clients: Clients, eta_g: Fraction, name: str) -> None:
        self.asked = False  # whether a function asked which client it works for
        self._taken = set[tuple[str, str]]()  # sums that functions took
        self.rule, self.clients, self.eta_g, self.name = rule, clients, eta_g, name
        self.server = {n: Vector.of(Atom("server", n, point)) for n, point in rule.kept_by_server.items()}
        self.client = {n: Vector.of(Atom("client", n, point)) for n, point in rule.kept_by_clients.items()}
        self.local = [Vector.of(Atom("local", n, k == 0)) for k, n in enumerate(rule.local)]
        self.out = [Vector.of(Atom("out", n, k == 0)) for k, n in enumerate(rule.local)]

    def _told(self, index: int) -> int:
        self.asked = True
        return index

    def at(self, index: int | None = None, number: Mapping[str, Any] | None = None, **more: Any) -> At:
        """What a function sees. index: the client, None for the server."""
        given: dict[str, Any] = {
            "server": self.server, "client": {} if index is None else self.client, "number": number or {},
            "collected": _Summed("collected", self._taken), "total": _Summed("total", self._taken),
        }  # fmt: skip
        given = {name: MappingProxyType(own) for name, own in given.items()}
        given |= {"who": lambda: self._told(index or 0), **more}
        return At(
            self.clients,
            self.eta_g,
            lambda v: Vector.of(Gradient(v, True)),
            part,
            lambda centre, shift, mu: Vector.of(Minimiser(centre, shift, mu)),
            lambda name, shares: Vector.of(ClientMean(name, tuple(shares))),
            ZERO,
            x0=Vector.of(Atom("start", "x", True)),
            **given,
        )

    def check_functions(self, dim: int) -> None:
        """Raises BadInput where functions of a user's give two answers for one input, or take sums of nothing sent."""
        if is_own(self.rule) and self._read(dim) != self._read(dim):
            raise BadInput(f"{self.name}: {TWO_ANSWERS}")

    def _read(self, dim: int) -> Any:
        rule, one, visit = self.rule, Fraction(1), Visit("full", 1)
        number = {**rule.numbers(rule.settled, dim), **rule.drawn(rule.settled)[0][1]}
        collected = self.collect(0, number) if rule.collecting is not None else {}
        begin = self.begin(0, number)
        step = self.step(0, number, visit, begin[0], one)
        sent, kept = self.after(0, number, visit, begin[0], one)
        received = self.receive(0, number) if rule.receives else {}
        read = (collected, begin, step, sent, kept, received, self.combine(number))
        for place, name in sorted(self._taken):
            if name not in (own := {"collected": collected, "total": sent}[place]):
                raise BadInput(
                    f"{self.name}: `At.{place}` has no '{name}'; clients send {', '.join(own) or 'nothing'}."
                )
        return read

    def check(self, dim: int) -> None:
        """Raises BadInput where numbers of rounds change in a way that the rule does not declare, or have no law."""
        rule = self.rule
        each = rule.repeats_after(dim)
        for t in (*range(rule.settled, rule.settled + TRIED), 997, 10**6 + 3):
            law = self._call(rule.drawn, t)
            if sum(p for p, _ in law) != 1 or any(p < 0 for p, _ in law):
                raise BadInput(f"{self.name}: the probabilities of what round {t} draws do not sum to 1.")
            again = t + each
            if not rule.steady:  # a late round's numbers need not exist, as those of a run of fewer rounds
                continue
            if self._call(rule.numbers, t, dim) != rule.numbers(again, dim) or law != rule.drawn(again):
                raise BadInput(
                    f"{self.name}: rounds {t} and {again} have different numbers, and the functions of its round say "
                    f"that these repeat after {each} rounds from round {rule.settled} on."
                )

    def _call(self, function: Callable[..., Any], *given: Any) -> Any:
        """What a function of the rule returns. Raises BadInput, with its words, where it fails."""
        return called(self.name, function, *given)

    def _checked(
        self, found: Any, allowed: Iterable[str] | None, what: str, needed: Sequence[str] = ()
    ) -> dict[str, Any]:
        named = table(self.name, what, found, None if allowed is None else tuple(allowed), needed)
        for key, value in named.items():
            if not isinstance(value.vector if allowed is None and isinstance(value, Sent) else value, Vector):
                raise BadInput(f"{self.name}: {what} gives '{key}', which is no vector.")
        return named

    def _sent(self, found: Any, what: str) -> dict[str, Sent]:
        return {k: v if isinstance(v, Sent) else Sent(v) for k, v in self._checked(found, None, what).items()}

    def initial(self) -> dict[str, Vector]:
        """What the server keeps at first; a client's whole gradient is that of F there."""
        return self._checked(self._call(self.rule.initial, self.at()), self.server, "initial")

    def initial_client(self, index: int) -> dict[str, Vector]:
        """What a client keeps at first."""
        return self._checked(self._call(self.rule.initial_client, self.at(index)), self.client, "initial_client")

    def collect(self, index: int, number: Mapping[str, Any]) -> dict[str, Sent]:
        """What a client sends before the local work."""
        return self._sent(self._call(self.rule.collect, self.at(index, number)), "collect")

    def begin(self, index: int, number: Mapping[str, Any]) -> tuple[Vector, ...]:
        """Where the local vectors begin; those that `begin` does not name are 0."""
        found = self._call(self.rule.begin, self.at(index, number))
        own = self._checked(found, self.rule.local, "begin")
        return tuple(own.get(name, ZERO) for name in self.rule.local)

    def _own(self, given: Sequence[Vector]) -> Any:
        return given[0] if len(given) == 1 else MappingProxyType(dict(zip(self.rule.local, given, strict=True)))

    def step(self, index: int, number: Mapping[str, Any], visit: Visit, start: Vector, eta: Any) -> tuple[Vector, ...]:
        """The local vectors after a step of this size."""
        at = self.at(index, number, start=start, eta=eta, steps=visit.steps, prox=visit.prox)
        found = self._call(self.rule.step, self._own(self.local), lambda v: Vector.of(Gradient(v)), at)
        checked = self._checked(found, self.rule.local, "step", self.rule.local)
        return tuple(checked[name] for name in self.rule.local)

    def solve(self, index: int, number: Mapping[str, Any], visit: Visit, start: Vector) -> Minimiser:
        """The subproblem of a visit that solves it exactly."""
        (term, c), *more = self._call(
            self.rule.solve, self.at(index, number, start=start, prox=visit.prox)
        ).terms.items()
        if more or c != 1 or not isinstance(term, Minimiser):
            raise BadInput(f"{self.name}: solve gives no minimiser of a subproblem.")
        return term

    def after(
        self, index: int, number: Mapping[str, Any], visit: Visit, start: Vector, length: Any
    ) -> tuple[dict[str, Sent], dict[str, Vector]]:
        """What a client uploads and what it keeps, after local steps whose sizes sum to length."""
        at = self.at(index, number, start=start, steps=visit.steps, length=length, prox=visit.prox)
        own = self._own(self.out)
        sent = self._sent(self._call(self.rule.upload, own, at), "upload")
        return sent, self._checked(self._call(self.rule.keep, own, at), self.client, "keep")

    def combine(self, number: Mapping[str, Any]) -> dict[str, Vector]:
        """What the server keeps after the round; what is not named stays."""
        at = self.at(None, number)
        found = self._call(self.rule.combine, at.total, at)
        return {**self.server, **self._checked(found, self.server, "combine", ("x",))}

    def receive(self, index: int, number: Mapping[str, Any]) -> dict[str, Vector]:
        """What a client of the cohort keeps after the server's step, the atoms of the server being the new ones."""
        return self._checked(self._call(self.rule.receive, self.at(index, number)), self.client, "receive")


def lengths(visit: Visit, eta: Any) -> tuple[Sequence[Any], Any]:
    """The sizes of the local steps of a visit (one where all are alike), and their sum."""
    if isinstance(eta, tuple):
        sizes = [v * visit.scale for v in eta]
        return sizes, sum(sizes, Fraction(0))
    return [eta * visit.scale], eta * visit.scale * visit.steps
