"""Rounds in NumPy: the functions of a round on arrays with one row for each seed. It is the definition of a run.

A state holds for each seed what the server keeps, the point first, and what each client keeps. Sums over cohorts are
added client by client in the order of the cohort, and no operation of the reader mixes rows: a seed's numbers do not
depend on the others'. A vector is an array (rows, d); functions may do with it what NumPy does coordinate by
coordinate, and take `At.norm`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from boundcheck.core import streams
from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate import planning
from boundcheck.engines.simulate.cohorts import counted
from boundcheck.engines.simulate.lowering import Lowered, Member
from boundcheck.engines.simulate.oracles import LazyOracle, Oracle, Whole
from boundcheck.engines.simulate.vectors import Asked, Collected, Named, Picked, Solve, norm, plain_number, vectors
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.own_rule import called, table
from boundcheck.methods.parts.local import batch_sizes
from boundcheck.methods.reading import TWO_ANSWERS, Reading
from boundcheck.methods.round import At, Rule, Sent


class Rows:
    """The rounds of a method on a problem's gradients."""

    def __init__(self, lowered: Lowered, oracle: Oracle, weights: Sequence[Fraction]) -> None:
        self.lowered, self.oracle, self.weights = lowered, oracle, weights
        self.rule: Rule = lowered.rule
        self.own = lowered.method.functions is not None  # a user's, perhaps: what it returns is checked
        self.eta_g: Any = float(lowered.method.server.factor)

    # --- what functions see -----------------------------------------------------------------------------------------

    def _at(self, count: int, dim: int, index: int | None, oracle: Whole | None = None, **more: Any) -> At:
        known: dict[int, tuple[Any, Any]] = {}
        source = oracle or self.oracle

        def whole(v: Any) -> Any:
            if id(v) not in known:
                values = np.asarray(v, dtype=np.float64)
                known[id(v)] = (v, vectors(self._gradient(index, values, source)))
            return known[id(v)][1]

        def part(v: Any, coordinates: Sequence[int]) -> Any:
            found, own = np.zeros((count, dim)), list(coordinates)
            found[:, own] = np.asarray(v)[:, own]
            return vectors(found)

        def minimiser(centre: Any, shift: Any, mu: Any) -> Any:
            assert index is not None
            return vectors(self.oracle.solve(index, np.asarray(centre), np.asarray(shift), float(mu)))

        def no_mean(name: str, shares: Sequence[Fraction]) -> Any:
            raise BadInput(f"{self.lowered.method.name}: a mean over what clients keep is taken at the start alone.")

        more = {name: MappingProxyType(own) if isinstance(own, dict) else own for name, own in more.items()}
        given: dict[str, Any] = {"mean": no_mean, "who": lambda: index or 0, "norm": norm, "uniform": {}, **more}
        return At(
            self.lowered.known, self.eta_g, whole, part, minimiser, zero=vectors(np.zeros((count, dim))), **given
        )  # fmt: skip

    def _gradient(self, client: int | None, x: Floats, oracle: Whole) -> Floats:
        """A client's whole gradient, or that of F."""
        if client is not None:
            return oracle.full(client, x)
        if isinstance(oracle, LazyOracle):
            name, problem = self.lowered.method.name, cast(Any, oracle.problem)
            raise Unsupported(
                f"'{name}' takes the gradient of F, and the data of the {problem.clients} clients of '{problem.name}' "
                "are made one by one; start it from zero."
            )
        total = np.zeros_like(x)
        for i, w in enumerate(self.weights):
            if w:
                total += float(w) * oracle.full(i, x)
        return total

    def _call(self, function: Callable[..., Any], *given: Any) -> Any:
        """What a function of the rule returns. Raises BadInput, with its words, where one of a user's own fails."""
        return called(self.lowered.method.name, function, *given) if self.own else function(*given)

    def _named(
        self, found: Any, allowed: Sequence[str] | None, function: str, shape: tuple[int, int], needed: Any = ()
    ) -> dict[str, Any]:
        """What a function returned, by name. Raises BadInput for other names and shapes from a user's own."""
        if not self.own:
            return dict(found) if isinstance(found, Mapping) else {(allowed or ("nothing",))[0]: found}
        name = self.lowered.method.name
        named = table(name, function, found, allowed, needed)
        for key, value in named.items():
            own = np.asarray(value.vector if allowed is None and isinstance(value, Sent) else value)
            if own.shape != shape or not np.issubdtype(own.dtype, np.floating):
                raise BadInput(
                    f"{name}: {function} gives '{key}' of shape {own.shape} and type {own.dtype}, which is no vector; "
                    f"vectors are doubles of shape {shape} here, one row for each seed and the coordinates last."
                )
        return named

    def begin(self, oracle: Whole, seeds: Words, start: Floats) -> Floats:
        """The state of each seed before round 0; shape (S, parts, d). start: x_0 (d,)."""
        lowered, rule, dim = self.lowered, self.rule, len(start)
        x0 = vectors(start[None])
        kept: dict[int, dict[str, Any]] = {}

        def own(i: int) -> Mapping[str, Any]:
            if i not in kept:
                found = self._call(rule.initial_client, self._at(1, dim, i, oracle, x0=x0))
                kept[i] = self._named(found, lowered.kept, "initial_client", (1, dim))
                for name in set(lowered.kept) - set(kept[i]):
                    kept[i][name] = x0 if rule.kept_by_clients[name] else np.zeros((1, dim))
            return kept[i]

        def mean(name: str, shares: Sequence[Fraction]) -> Any:
            total = np.zeros((1, dim))
            for i, share in enumerate(shares):
                total += float(share) * np.asarray(own(i)[name])
            return vectors(total)

        at = self._at(1, dim, None, oracle, x0=x0, mean=mean)
        first = self._named(self._call(rule.initial, at), lowered.server, "initial", (1, dim))
        state = np.zeros((len(seeds), lowered.parts, dim))
        for k, name in enumerate(lowered.server):
            state[:, k] = first[name] if name in first else x0 if rule.kept_by_server[name] else 0.0
        drawn = self._call(rule.drawn_at_first, self._at(1, dim, 0, oracle, x0=x0))
        for name, (_, count) in drawn.items():
            clients = planning.draw_clients(lowered, seeds, count)
            of = {i: self._call(rule.drawn_at_first, self._at(1, dim, i, oracle, x0=x0))[name][0]
                  for i in np.unique(clients).tolist()}  # fmt: skip
            total = np.zeros((len(seeds), dim))
            for s, row in enumerate(clients.tolist()):
                for i in row:
                    total[s] += np.asarray(of[i])[0]
            state[:, lowered.server.index(name)] = total / count
        at_first = len(lowered.server)
        for slot in range(lowered.models):
            for k, name in enumerate(lowered.kept):
                state[:, at_first + slot * len(lowered.kept) + k] = own(slot)[name]
        return state

    # --- rounds -----------------------------------------------------------------------------------------------------

    def advance(self, seeds: Words, state: Floats, first: int, stops: Ints, points: Floats) -> None:
        """Run rounds first, ..., stops[-1] - 1 from `state`, which is updated in place.

        stops: (G,) increasing, none below `first`; points: (S, G, d), gets the server's point after that many rounds.
        """
        reached, known = first, list[Collected]()
        for g, stop in enumerate(stops):
            for r in range(reached, int(stop)):
                self._round(seeds, state, r, known)
            reached = int(stop)
            points[:, g] = state[:, 0]

    def look(self, seeds: Words, state: Floats, round_index: int, asked: Asked) -> None:
        """Look into the round that follows `state`, which stays as it is."""
        self._round(seeds, state.copy(), round_index, [], asked)

    def tried(self, start: Floats) -> None:
        """Raises BadInput where a user's own functions do not do with rows what the reader relies on.

        Two rounds of two seeds are run, twice and one by one: what is random must be declared, and no row may rest on
        another one.
        """
        if not self.own:
            return
        name, seeds = self.lowered.method.name, np.array([1, 2], dtype=np.uint64)
        Reading(self.rule, self.lowered.known, self.lowered.method.server.factor, name).check(len(start))

        def ran(chosen: Words) -> Floats:
            state = self.begin(self.oracle, chosen, start)
            state += (chosen[:, None, None] - 1.0) / 8  # so that rows differ in whatever is not drawn
            for r in range(2):
                self._round(chosen, state, r, [])
            return state

        with np.errstate(all="ignore"):
            both, again = ran(seeds), ran(seeds)
            alone = np.concatenate([ran(seeds[:1]), ran(seeds[1:])])
        if not np.array_equal(both, again, equal_nan=True):
            raise BadInput(f"{name}: {TWO_ANSWERS}")
        if not np.allclose(both, alone, rtol=1e-9, atol=0, equal_nan=True):
            raise BadInput(
                f"{name}: the functions of its round mix the rows of different seeds; sums and norms go over the last "
                "axis, as at.norm does."
            )

    def numbers(self, seeds: Words, r: int, dim: int) -> dict[str, Any]:
        """The numbers of a round: floats, columns of them where they are drawn, and what is no number."""
        law = self.rule.drawn(r)
        found = {name: plain_number(v) for name, v in {**self.rule.numbers(r, dim), **law[0][1]}.items()}
        if len(law) > 1:
            which = planning.draw_numbers(self.lowered, seeds, r)
            for name in law[0][1]:
                found[name] = np.array([float(own[name]) for _, own in law])[which][:, None]
        return found

    def _round(
        self, seeds: Words, state: Floats, r: int, known: list[Collected], asked: Asked | None = None
    ) -> None:  # fmt: skip
        """Carry out one round. known: what was collected last, where it may serve again."""
        lowered, rule = self.lowered, self.rule
        count, dim = len(seeds), state.shape[-1]
        number = self.numbers(seeds, r, dim)
        cohorts = lowered.cohorts.draw(seeds, r)
        common = planning.draw_common(lowered, seeds, r, cohorts)
        server = {name: vectors(state[:, k].copy()) for k, name in enumerate(lowered.server)}
        collected = self._collect(seeds, r, number, server, cohorts, known, state)
        total: dict[str, Floats] = {}
        visits = [self._groups(seeds, r, cohorts, common, p) for p in range(max(map(len, cohorts), default=0))]
        for p, position in enumerate(visits):
            for member, choice, rows in position:
                at = self._of(
                    member.client, rows, dim, number, server, collected, self._held(state, member.client, p, rows)
                )
                y, sent, kept = self._visit(seeds[rows], r, member, choice, at, asked)
                if asked is not None and asked.starts is not None:
                    asked.starts[rows] = np.stack(asked.before, axis=1)
                if asked is not None and asked.returned is not None:
                    asked.returned[rows, p] = y
                if asked is not None and asked.solves is not None:
                    asked.solves(self._subproblem(at, member.client, rows, y))
                for name, own in sent.items():
                    weight = np.array([lowered.weighing(own.rule).of(cohorts[s])[member.client] for s in rows])
                    if own.rule is None:
                        weight = weight * member.gain[choice]
                    total.setdefault(name, np.zeros((count, dim)))[rows] += weight[:, None] * np.asarray(own.vector)
                self._keep(state, member, p, rows, kept)
        sums = self._sums(total, (count, dim))
        at = self._at(count, dim, None, server=server, number=number, collected=collected, total=sums)
        after = self._named(self._call(rule.combine, at.total, at), lowered.server, "combine", (count, dim), ("x",))
        for k, name in enumerate(lowered.server):
            if name in after:
                state[:, k] = after[name]
        if rule.receives:
            new = {name: vectors(state[:, k].copy()) for k, name in enumerate(lowered.server)}
            for p, position in enumerate(visits):
                for member, _, rows in position:
                    held = self._held(state, member.client, p, rows)
                    at = self._of(member.client, rows, dim, number, new, collected, held, sums)
                    found = self._named(self._call(rule.receive, at), lowered.kept, "receive", (len(rows), dim))
                    self._keep(state, member, p, rows, found)

    def _groups(
        self, seeds: Words, r: int, cohorts: list[tuple[int, ...]], common: list[int | None], position: int
    ) -> list[tuple[Member, int, Ints]]:
        """The visits at a position of the cohorts, each with the seeds that do the same there."""
        lowered = self.lowered
        found: dict[Member, list[int]] = {}
        for s, cohort in enumerate(cohorts):
            clients = list(counted(cohort))
            if position < len(clients):
                found.setdefault(lowered.member(clients[position], cohort, common[s]), []).append(s)
        groups: list[tuple[Member, int, Ints]] = []
        for member, own in found.items():
            rows = np.array(own)
            choices = planning.draw_choices(lowered, seeds[rows], r, member.client)
            groups += [(member, int(k), rows[choices == k]) for k in np.unique(choices)]
        return groups

    def _of(
        self, client: int, rows: Ints, dim: int, number: Mapping[str, Any], server: Mapping[str, Any],
        collected: Mapping[str, Any], held: Mapping[str, Any], total: Mapping[str, Any] | None = None,
    ) -> At:  # fmt: skip
        """What the functions of a client see, of the seeds `rows`."""
        shape = (len(rows), dim)
        of = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in number.items()}
        given: dict[str, Any] = {"server": {k: vectors(v[rows]) for k, v in server.items()}, "number": of}
        for place, sums in (("collected", collected), ("total", total or {})):
            zero = shape if not self.own or getattr(sums, "shape", None) else None
            given[place] = Named({k: vectors(v[rows]) for k, v in sums.items()}, zero)
        return self._at(len(rows), dim, client, client=held, **given)

    def _sums(self, found: Mapping[str, Floats], shape: tuple[int, int], anyone: bool = False) -> Named:
        """What a cohort sent; what it did not send is 0, or an error of a user's own where anyone took part."""
        named = {k: vectors(v) for k, v in found.items()}
        return Named(named, None if self.own and (anyone or found) else shape)

    def _place(self, client: int, position: int) -> int:
        lowered = self.lowered
        return len(lowered.server) + lowered.slot(client, position) * len(lowered.kept)

    def _held(self, state: Floats, client: int, position: int, rows: Ints) -> dict[str, Any]:
        at = self._place(client, position)
        return {name: vectors(state[rows, at + k]) for k, name in enumerate(self.lowered.kept)}

    def _keep(self, state: Floats, member: Member, position: int, rows: Ints, kept: Mapping[str, Any]) -> None:
        at = self._place(member.client, position)
        for k, name in enumerate(self.lowered.kept):
            if name in kept:
                state[rows, at + k] = kept[name]

    def _collect(
        self, seeds: Words, r: int, number: Mapping[str, Any], server: Mapping[str, Any],
        cohorts: list[tuple[int, ...]], known: list[Collected], state: Floats,
    ) -> Mapping[str, Any]:  # fmt: skip
        """The sums of what is collected before the local work."""
        lowered, shape = self.lowered, np.asarray(server["x"]).shape
        if self.rule.collecting is None:
            return self._sums({}, shape, True)
        drawn = cohorts if lowered.gradients is None else lowered.gradients.draw(seeds, r)
        steady = lowered.gradients is not None and lowered.gradients.law is None and len(lowered.gradients.fixed) == 1
        if steady and known and all(np.array_equal(server[n], v) for n, v in known[0].inputs.items()):
            return self._sums(known[0].sums, shape)
        seen, numbers, apart = Named(server), Named(number), False
        total: dict[str, Floats] = {}
        for position in range(max(map(len, drawn))):
            asked: dict[int, list[int]] = {}
            for s, cohort in enumerate(drawn):
                clients = list(counted(cohort))
                if position < len(clients):
                    asked.setdefault(clients[position], []).append(s)
            for client, own in asked.items():
                rows = np.array(own)
                held = Named(self._held(state, client, position, rows))
                at = self._of(client, rows, shape[1], {}, {}, {}, {})
                alone = len(rows) < len(seeds)
                at.put(server=Picked(seen, rows) if alone else MappingProxyType(seen))
                at.put(number=Picked(numbers, rows) if alone else numbers, client=MappingProxyType(held))
                found = self._call(self.rule.collect, at)
                apart = apart or bool(held.asked)
                for name, value in self._named(found, None, "collect", (len(rows), shape[1])).items():
                    sent = value if isinstance(value, Sent) else Sent(value)
                    weight = np.array([lowered.weighing(sent.rule, collecting=True).of(drawn[s])[client] for s in own])
                    total.setdefault(name, np.zeros(shape))[rows] += weight[:, None] * np.asarray(sent.vector)
        if steady and not numbers.asked and not apart:
            known[:] = [Collected({n: np.array(server[n]) for n in seen.asked}, total)]
        return self._sums(total, shape)

    def _visit(
        self, seeds: Words, r: int, member: Member, choice: int, at: At, asked: Asked | None
    ) -> tuple[Floats, dict[str, Sent], Mapping[str, Any]]:
        """What a client ends with, sends and keeps, for each of its seeds."""
        lowered, rule = self.lowered, self.rule
        names: Any = rule.local
        sizes, scale = lowered.step_sizes(r), member.scale[choice]
        at.put(steps=member.steps[choice], prox=member.prox[choice])
        shape = np.shape(at.zero)
        at.put(uniform={name: self._uniform(seeds, r, member.client, k, shape) for k, name in enumerate(rule.uniforms)})
        local: dict[str, Any] = dict.fromkeys(names, at.zero)
        local.update({k: vectors(v) for k, v in self._named(self._call(rule.begin, at), names, "begin", shape).items()})
        at.put(start=local[names[0]])
        at.put(length=float(sizes.sum() if len(sizes) > 1 else sizes[0] * at.steps) * scale)
        if asked is not None:
            asked.before = []
        if lowered.sampling == "exact":
            if asked is not None:
                asked.before.append(np.asarray(at.start))
            local[names[0]] = self._call(rule.solve, at)
        else:
            local = self._steps(seeds, r, member.client, at, local, sizes * scale, asked)
        ends = MappingProxyType(local) if len(names) > 1 else local[names[0]]
        sent = self._named(self._call(rule.upload, ends, at), None, "upload", shape)
        sent = {k: v if isinstance(v, Sent) else Sent(v) for k, v in sent.items()}
        return (
            np.asarray(local[names[0]]),
            sent,
            self._named(self._call(rule.keep, ends, at), lowered.kept, "keep", shape),
        )

    def _uniform(self, seeds: Words, r: int, client: int, number: int, shape: tuple[int, ...]) -> Any:
        """Independent uniform numbers below 1, one for each coordinate."""
        words = streams.words(seeds, streams.UNIFORM, r, client, number * shape[1], shape[1])
        return vectors((words >> np.uint64(11)).astype(np.float64) * 2.0**-53)

    def _subproblem(self, at: At, client: int, rows: Ints, y: Floats) -> Solve:
        found: list[Solve] = []

        def minimiser(centre: Any, shift: Any, mu: Any) -> Any:
            started, own = np.asarray(at.start), (np.asarray(centre), np.asarray(shift))
            found.append(Solve(client, rows, *own, float(mu), started, y))
            return centre

        at.put(minimiser=minimiser)
        self._call(self.rule.solve, at)
        return found[0]

    def _steps(
        self, seeds: Words, r: int, client: int, at: At, local: dict[str, Any], sizes: Floats, asked: Asked | None
    ) -> dict[str, Any]:
        lowered, rule, full = self.lowered, self.rule, self.lowered.whole
        names: Any = rule.local
        size = self.oracle.size(client)
        samples = None if full else planning.draw_samples(lowered, seeds, r, client, size, at.steps)
        used = 0
        for k, width in enumerate([0] * at.steps if full else batch_sizes(size, lowered.batch, at.steps)):
            if asked is not None and (full or used % size == 0):
                asked.before.append(np.asarray(local[names[0]]))
            own = None if samples is None else samples[:, used : used + width]
            used += width

            def gradient(point: Any, own: Ints | None = own) -> Any:
                values = np.asarray(point, dtype=np.float64)
                found = self.oracle.full(client, values) if own is None else self.oracle.mean(client, own, values)
                return vectors(found)

            at.put(eta=float(sizes[k if len(sizes) > 1 else 0]))
            given = MappingProxyType(local) if len(names) > 1 else local[names[0]]
            found = self._call(rule.step, given, gradient, at)
            after = self._named(found, names, "step", np.shape(at.zero), names)
            local = {name: vectors(v) for name, v in after.items()}
        return local
