"""Rounds of networks: the functions of a round on tensors with one row for each visit, of all seeds and clients.

What a round does is said by the method's rule (`methods.round`), and its meaning by `engines.simulate.rows`: a state
(S, parts, dim) holds for each seed what the server keeps, the point first, and what each client keeps. Here visits are
lanes: those with more steps first, so that the lanes that still step are the first ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from boundcheck.core import streams
from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate import planning
from boundcheck.engines.simulate.lowering import Lowered
from boundcheck.errors import BadInput, BoundcheckError, Unsupported
from boundcheck.methods.own_rule import called, table
from boundcheck.methods.round import At, Rule, Sent
from boundcheck.networks.engine.device import Tensor, library, placed
from boundcheck.networks.engine.local_step import LocalStep
from boundcheck.networks.engine.memory import Lanes, check_state
from boundcheck.networks.engine.training import Work, step_gradients, steps_of, whole_gradients
from boundcheck.networks.engine.vectors import NOTHING, Held, Vectors, first, norm, number
from boundcheck.networks.engine.visits import Visits, collections_of, visits_of, weights

# Rounds between two looks at which seeds have diverged. On a GPU each look waits for all work that is queued there;
# until then the rounds of a seed that has diverged are computed to no purpose, and change nothing that is recorded.
LOOK_EVERY = {"cpu": 1, "cuda": 16}


class _AsksWho(BoundcheckError):
    """A function asked which client it works for, and its lanes are those of several."""


@dataclass
class Looked:
    """What is looked at inside a round: starts (S, epochs, dim), the points before each epoch, of one client a round (a
    step with a whole gradient is an epoch); returned (S, models, dim), what the clients' steps end with."""

    starts: Tensor | None = None
    returned: Tensor | None = None


class Rounds:
    """The rounds of a method on a task, for some seeds.

    state: see above. alive: the seeds that continue, as far as `look` has seen; one whose point is no longer finite has
    diverged and costs no work.
    """

    def __init__(self, lowered: Lowered, local: LocalStep, seeds: Words, lanes: Lanes) -> None:
        self.lowered, self.local, self.seeds, self.lanes = lowered, local, seeds, lanes
        self.task = local.task
        self.rule: Rule = lowered.rule
        self.own = lowered.method.functions is not None  # a user's, perhaps: what it returns is checked
        self.by_client = False  # whether a function asks which client it works for
        self.alive = np.ones(len(seeds), dtype=bool)
        self._finite: Tensor | None = None  # the seeds (S,) whose points were finite since the last look
        check_state(self.task, len(seeds), lowered.parts)
        self.state = self._begin()

    # --- what functions see -----------------------------------------------------------------------------------------

    def _call(self, function: Callable[..., Any], *given: Any) -> Any:
        return called(self.lowered.method.name, function, *given) if self.own else function(*given)

    def _named(self, found: Any, allowed: Sequence[str] | None, function: str, needed: Any = ()) -> dict[str, Any]:
        """What a function returned, by name."""
        if self.own:
            return table(self.lowered.method.name, function, found, allowed, needed)
        return dict(found) if isinstance(found, Mapping) else {(allowed or ("nothing",))[0]: found}

    def _at(self, count: int, clients: Ints | None, **given: Any) -> At:
        """What the functions of `count` lanes see. clients: of each lane; None: `whole` is of F."""
        zero = Vectors(self.state.new_zeros((1, self.task.network.dim)).expand(count, -1))
        known: dict[int, tuple[Any, Any]] = {}

        def whole(v: Any) -> Any:
            if v.of is not None:
                return first(whole(v.of), len(v.tensor))
            if id(v) not in known:
                known[id(v)] = (v, Vectors(self._whole(clients, v.tensor)))
            return known[id(v)][1]

        def part(v: Any, coordinates: Sequence[int]) -> Any:
            others = getattr(coordinates, "others", None)
            found = v.tensor.clone() if others is not None else library().zeros_like(v.tensor)
            own = self._place(coordinates if others is None else others)
            found[:, own] = 0.0 if others is not None else v.tensor[:, own]
            return Vectors(found)

        def who() -> int:
            if clients is None:
                return 0
            if len(clients) > 1 and (clients != clients[0]).any():
                raise _AsksWho
            return int(clients[0])

        def no(*_: Any) -> NoReturn:
            raise BadInput(f"{self.lowered.method.name}: a mean over what clients keep is taken at the start alone.")

        more: dict[str, Any] = {"mean": no, "uniform": {}, **given}
        known_clients, eta_g = self.lowered.known, float(self.lowered.method.server.factor)
        return At(known_clients, eta_g, whole, part, _no_solve, zero=zero, who=who, norm=norm, **more)  # pyright: ignore

    def _place(self, coordinates: Sequence[int]) -> Any:
        own = np.asarray(coordinates, dtype=np.int64)
        if not len(own) or own[-1] - own[0] + 1 == len(own):
            return slice(int(own[0]), int(own[-1]) + 1) if len(own) else slice(0, 0)
        return placed(own, self.task.device)

    def _whole(self, clients: Ints | None, points: Tensor) -> Tensor:
        """The whole gradient of each lane's client at its point (lanes, dim), or of F."""
        if clients is not None:
            return whole_gradients(self.local, clients[: len(points)], points)
        total = library().zeros_like(points)
        for i, w in enumerate(self.task.weights.tolist()):
            if w:
                total.add_(whole_gradients(self.local, np.full(len(points), i), points), alpha=w)
        return total

    # --- the start ----------------------------------------------------------------------------------------------------

    def _begin(self) -> Tensor:
        torch, lowered, rule, task = library(), self.lowered, self.rule, self.task
        x0 = Vectors(torch.as_tensor(task.start, dtype=task.dtype).to(task.device).unsqueeze(0))
        self.state = x0.tensor  # for `_at`
        kept: dict[int, dict[str, Any]] = {}

        def own(i: int) -> dict[str, Any]:
            if i not in kept:
                at = self._at(1, np.array([i]), x0=x0)
                kept[i] = self._named(self._call(rule.initial_client, at), lowered.kept, "initial_client")
            return kept[i]

        def mean(name: str, shares: Sequence[Fraction]) -> Any:
            return sum((float(share) * own(i)[name] for i, share in enumerate(shares)), 0.0)

        at = self._at(1, None, x0=x0, mean=mean)
        found = self._named(self._call(rule.initial, at), lowered.server, "initial")
        state = torch.zeros((len(self.seeds), lowered.parts, task.network.dim), dtype=task.dtype, device=task.device)
        for k, name in enumerate(lowered.server):
            state[:, k] = found[name].tensor if name in found else x0.tensor if rule.kept_by_server[name] else 0.0
        for name, (_, count) in self._call(rule.drawn_at_first, self._at(1, np.array([0]), x0=x0)).items():
            clients = planning.draw_clients(lowered, self.seeds, count)
            of = {
                i: self._call(rule.drawn_at_first, self._at(1, np.array([i]), x0=x0))[name][0].tensor[0]
                for i in np.unique(clients).tolist()
            }
            for s, row in enumerate(clients.tolist()):
                state[s, lowered.server.index(name)] = sum(of[i] for i in row) / count
        for slot in range(lowered.models):
            for k, name in enumerate(lowered.kept):
                value = own(slot).get(name, x0 if rule.kept_by_clients[name] else None)
                state[:, self._slot(slot) + k] = 0.0 if value is None else value.tensor
        return state

    def _slot(self, model: Any) -> Any:
        return len(self.lowered.server) + model * len(self.lowered.kept)

    # --- a round ------------------------------------------------------------------------------------------------------

    def advance(self, round_index: int, looked: Looked | None = None) -> None:
        """Carry out one round."""
        live = np.flatnonzero(self.alive)
        if not len(live):
            return
        lowered, rule, state = self.lowered, self.rule, self.state
        rows = self._numbers(live)
        values = self._values(self.seeds[live], round_index)
        visits = visits_of(lowered, self.task.offsets, self.seeds[live], round_index)
        server = Held({name: self._gathered(state, rows, k) for k, name in enumerate(lowered.server)})
        collected = self._collect(round_index, live, visits, server, values)
        total: dict[str, Tensor] = {}

        def work(own: Ints) -> None:
            self._visit(round_index, live, visits, own, server, collected, values, total, looked)

        order = self._order(visits)
        self._run(visits, order, work)
        zero = Vectors(state.new_zeros((len(live), self.task.network.dim)))
        sums = Held({name: Vectors(v) for name, v in total.items()}, self._of_nobody(zero, visits))
        at = self._at(len(live), None, server=server, number=values, collected=collected, total=sums)
        after = self._named(self._call(rule.combine, sums, at), lowered.server, "combine", ("x",))
        for k, name in enumerate(lowered.server):
            if name in after:
                state[rows, k] = after[name].tensor
        if rule.receives:
            self._receive(live, visits, order, collected, values, sums)
        self._note_finite()
        if (round_index + 1) % LOOK_EVERY.get(self.task.device.type, 1) == 0:
            self.look()

    def _of_nobody(self, zero: Vectors, visits: Visits) -> Vectors | None:
        """The sum of what nobody sent: 0, or an error of a user's own functions where anyone took part."""
        return None if self.own and len(visits) else zero

    def _numbers(self, values: Ints) -> Tensor:
        return placed(np.ascontiguousarray(values, dtype=np.int64), self.task.device)

    @staticmethod
    def _gathered(state: Tensor, rows: Tensor, parts: Any) -> Callable[[], Vectors]:
        return lambda: Vectors(state[rows, parts])

    def _values(self, seeds: Words, round_index: int) -> dict[str, Any]:
        """The numbers of a round: of every seed, or columns of them; and what is no number."""
        law = self.rule.drawn(round_index)
        found = {**self.rule.numbers(round_index, self.task.network.dim), **law[0][1]}
        if len(law) > 1:
            which = planning.draw_numbers(self.lowered, seeds, round_index)
            found |= {k: number(np.array([float(own[k]) for _, own in law])[which], self.state) for k in law[0][1]}
        return found

    def _order(self, visits: Visits) -> Ints:
        """Visits with more steps first, among them larger clients first."""
        size = self.task.offsets[visits.client + 1] - self.task.offsets[visits.client]
        return np.lexsort((np.arange(len(visits)), -size, -visits.steps))

    def _run(self, visits: Visits, order: Ints, work: Callable[[Ints], None]) -> None:
        """Work on all visits, lanes in the order given; those without steps apart, and client by client if asked."""
        if not self.by_client:
            groups = [order[visits.steps[order] > 0], order[visits.steps[order] == 0]]
            done = 0
            try:
                for own in groups:
                    self.lanes.run(len(own), lambda part, own=own: work(own[part]))
                    done += len(own)
            except _AsksWho:  # in its first lanes, before anything was kept
                assert done == 0 or len(groups[0]) == 0
                self.by_client = True
            else:
                return
        for i in np.unique(visits.client).tolist():
            for some in (visits.steps > 0, visits.steps == 0):
                own = order[(visits.client[order] == i) & some[order]]
                self.lanes.run(len(own), lambda part, own=own: work(own[part]))

    def _seen(
        self, live: Ints, visits: Visits, own: Ints, server: Held, collected: Held, values: Mapping[str, Any],
        total: Held | None = None,
    ) -> At:  # fmt: skip
        """What the functions of these visits see."""
        place = self._numbers(visits.seed[own])

        def lanes(of: Held) -> dict[str, Any]:
            return {name: (lambda of=of, name=name: _rows(of[name], place)) for name in of}

        kept = self._numbers(live[visits.seed[own]]), self._slots(visits, own)
        zero = self._of_nobody(Vectors(self.state.new_zeros((1, self.task.network.dim)).expand(len(own), -1)), visits)
        client = {name: self._gathered(self.state, kept[0], kept[1] + k) for k, name in enumerate(self.lowered.kept)}
        return self._at(
            len(own), visits.client[own], server=Held(lanes(server)), client=Held(client),
            collected=Held(lanes(collected), zero), total=Held({} if total is None else lanes(total), zero),
            number={name: _rows(v, place) for name, v in values.items()},
        )  # fmt: skip

    def _slots(self, visits: Visits, own: Ints) -> Tensor:
        models = visits.position[own] if self.lowered.handed else visits.client[own]
        return self._numbers(self._slot(models))

    def _collect(self, round_index: int, live: Ints, visits: Visits, server: Held, values: Mapping[str, Any]) -> Held:
        """The sums of what is collected before the local work."""
        zero = Vectors(self.state.new_zeros((1, self.task.network.dim)).expand(len(live), -1))
        if self.rule.collecting is None:
            return Held({}, zero)
        asked, found = collections_of(self.lowered, self.seeds[live], round_index, visits), dict[str, Tensor]()

        def work(own: Ints) -> None:
            at = self._seen(live, asked, own, server, Held({}), values)
            self._add(
                asked, own, self._named(self._call(self.rule.collect, at), None, "collect"), found, len(live), True
            )

        self._run(asked, self._order(asked), work)
        return Held({name: Vectors(v) for name, v in found.items()}, self._of_nobody(zero, asked))

    def _add(
        self, visits: Visits, own: Ints, sent: Mapping[str, Any], total: dict[str, Tensor], seeds: int, collecting: bool
    ) -> None:
        """Add what was sent to the sums of the seeds."""
        place, parts = self._numbers(visits.seed[own]), dict[str, Tensor]()
        for name, value in sent.items():
            one = value if isinstance(value, Sent) else Sent(value)
            share = weights(self.lowered, visits, one.rule, own, collecting=collecting)
            parts[name] = one.vector.tensor * placed(share, self.task.device, self.task.dtype).unsqueeze(1)
            if name not in total:
                total[name] = self.state.new_zeros((seeds, self.task.network.dim))
        for name, found in parts.items():  # nothing that needs memory comes after the first change
            total[name].index_add_(0, place, found)

    def _visit(
        self, round_index: int, live: Ints, visits: Visits, own: Ints, server: Held, collected: Held,
        values: Mapping[str, Any], total: dict[str, Tensor], looked: Looked | None,
    ) -> None:  # fmt: skip
        """The local work of some visits: what it adds to the sums, and what their clients keep."""
        lowered, rule, state = self.lowered, self.rule, self.state
        names: Any = rule.local
        at = self._seen(live, visits, own, server, collected, values)
        sizes, scale, steps = lowered.step_sizes(round_index), visits.scale[own], visits.steps[own]
        at.put(prox=number(visits.prox[own], state), steps=_int(number(steps, state)))
        at.put(uniform=self._uniform(round_index, live, visits, own))
        local: dict[str, Any] = dict.fromkeys(names, at.zero)
        local.update(self._named(self._call(rule.begin, at), names, "begin"))
        length = float(sizes.sum()) * scale if len(sizes) > 1 else sizes[0] * scale * steps
        at.put(start=local[names[0]], length=number(length, state))
        starts = None if looked is None else looked.starts
        local = self._steps(at, visits, own, local, sizes, starts, live)
        ends = MappingProxyType(local) if len(names) > 1 else local[names[0]]
        sent = self._named(self._call(rule.upload, ends, at), None, "upload")
        kept = self._named(self._call(rule.keep, ends, at), lowered.kept, "keep")
        self._add(visits, own, sent, total, len(live), collecting=False)
        self._keep(live, visits, own, kept)
        if looked is not None and looked.returned is not None:
            models = visits.position[own] if lowered.handed else visits.client[own]
            looked.returned[self._numbers(live[visits.seed[own]]), self._numbers(models)] = local[names[0]].tensor

    def _keep(self, live: Ints, visits: Visits, own: Ints, kept: Mapping[str, Any]) -> None:
        if kept:
            rows, slots = self._numbers(live[visits.seed[own]]), self._slots(visits, own)
            for k, name in enumerate(self.lowered.kept):
                if name in kept:
                    self.state[rows, slots + k] = kept[name].tensor

    def _uniform(self, round_index: int, live: Ints, visits: Visits, own: Ints) -> dict[str, Any]:
        """Independent uniform numbers below 1, one for each coordinate of each visit."""
        dim, seeds, found = self.task.network.dim, self.seeds[live], dict[str, Any]()
        for k, name in enumerate(self.rule.uniforms):
            pairs = zip(visits.seed[own].tolist(), visits.client[own].tolist(), strict=True)
            words = [streams.words(seeds[[s]], streams.UNIFORM, round_index, i, k * dim, dim)[0] for s, i in pairs]
            values = (np.array(words) >> np.uint64(11)).astype(np.float64) * 2.0**-53
            found[name] = Vectors(placed(values, self.task.device, self.task.dtype))
        return found

    def _steps(
        self, at: At, visits: Visits, own: Ints, local: dict[str, Any], sizes: Floats, starts: Tensor | None,
        live: Ints,
    ) -> dict[str, Any]:  # fmt: skip
        """The local vectors after all steps."""
        rule, scale, client = self.rule, visits.scale[own], visits.client[own]
        names: Any = rule.local
        size = self.task.offsets[client + 1] - self.task.offsets[client]
        each = np.ones_like(size) if self.lowered.whole else -(-size // self.lowered.batch)  # steps of an epoch
        ended, now, seen = list[dict[str, Any]](), len(own), at
        for k, (count, gradient) in enumerate(self._gradients(visits, own, size)):
            if count < now:
                ended.append({name: Vectors(local[name].tensor[count:]) for name in names})
                local, now = {name: first(local[name], count) for name in names}, count
                seen = self._first(at, count)
            if k == 0 or len(sizes) > 1 or count < len(own):
                seen.put(eta=number(sizes[k if len(sizes) > 1 else 0] * scale[:count], self.state))
            if starts is not None:
                for lane in np.flatnonzero(k % each[:count] == 0).tolist():
                    epoch = k // int(each[lane])
                    if epoch < starts.shape[1]:
                        starts[live[visits.seed[own[lane]]], epoch] = local[names[0]].tensor[lane]
            given = MappingProxyType(local) if len(names) > 1 else local[names[0]]
            found = self._named(self._call(rule.step, given, gradient, seen), names, "step", names)
            local = {name: found[name] for name in names}
        if not ended:
            return local
        pieces = [local, *reversed(ended)]
        return {name: Vectors(library().cat([p[name].tensor for p in pieces])) for name in names}

    def _gradients(self, visits: Visits, own: Ints, size: Ints) -> Iterator[tuple[int, Callable[[Any], Any]]]:
        """For each local step how many lanes take it, the first ones, and the gradient of its samples."""
        steps, client = visits.steps[own], visits.client[own]
        if self.lowered.whole:
            for k in range(int(steps.max(initial=0))):
                yield int((steps > k).sum()), lambda v: Vectors(self._whole(client, v.tensor))
        else:
            work = Work(visits.first[own], size, self.lowered.batch, steps, visits.samples)
            for step in steps_of(self.task, work):
                count = sum(len(group.numbers) for group in step)
                yield count, lambda v, step=step: Vectors(step_gradients(self.local, step, v.tensor))

    @staticmethod
    def _first(at: At, count: int) -> At:
        """What the functions of the first lanes see."""
        own: dict[str, Any] = {n: first(getattr(at, n), count) for n in ("zero", "start", "prox", "steps", "length")}
        own |= {name: getattr(at, name).first(count) for name in ("server", "client", "collected", "total")}
        own |= {name: {k: first(v, count) for k, v in getattr(at, name).items()} for name in ("number", "uniform")}
        return At(at.clients, at.eta_g, at.whole, at.part, at.minimiser, at.mean, who=at.who, norm=norm, **own)

    def _receive(
        self, live: Ints, visits: Visits, order: Ints, collected: Held, values: Mapping[str, Any], sums: Held
    ) -> None:
        """Every client of the cohort takes over what the rule says after the server's step."""
        rows = self._numbers(live)
        new = Held({name: self._gathered(self.state, rows, k) for k, name in enumerate(self.lowered.server)})

        def work(own: Ints) -> None:
            at = self._seen(live, visits, own, new, collected, values, sums)
            self._keep(live, visits, own, self._named(self._call(self.rule.receive, at), self.lowered.kept, "receive"))

        self._run(visits, order, work)

    # --- looking ------------------------------------------------------------------------------------------------------

    def look_into(self, round_index: int, looked: Looked) -> None:
        """Look into the round that follows the state, which stays as it is."""
        self.look()
        kept = self.state, self.alive.copy()
        self.state = self.state.clone()
        try:
            self.advance(round_index, looked)
        finally:
            (self.state, self.alive), self._finite = kept, None

    def _note_finite(self) -> None:
        finite = library().isfinite(self.state[:, 0]).all(dim=1)
        self._finite = finite if self._finite is None else self._finite & finite

    def look(self) -> None:
        """Bring `alive` up to date."""
        if self._finite is not None:
            self.alive &= self._finite.cpu().numpy()
            self._finite = None


def _no_solve(*_: Any) -> NoReturn:
    raise Unsupported("engine = 'neural' solves no subproblem exactly.")


def _int(value: Any) -> Any:
    return 0 if value is NOTHING else value


def _rows(value: Any, place: Tensor) -> Any:
    """The rows of lanes of what every seed has; numbers are those of every lane."""
    return Vectors(value.tensor[place]) if isinstance(value, Vectors) else value
