"""Metrics at the points of a run: of F, of its clients, of held-out samples, of the models that clients keep.

    f           F(x), ridge included
    grad2       |grad F(x)|^2
    gap, dist2  F(x) - F* and |x - x*|^2, from above, if the problem has a certified minimum; if it knows
                only a lower bound of F, gap is F(x) minus that
    B2          sum of w_i |grad f_i(x)|^2 over |grad F(x)|^2
    spread      the weighted standard deviation of the f_i(x) over the clients (Y. Fraboni et al.)
    loss_<i>    f_i(x) of client i, from 0
    surrogate_f sum of u_i f_i(x), u the weights that the method really follows in expectation (`surrogate_weights`)
    accuracy    the share of right answers on the held-out samples; test_f the mean loss there, without the ridge
    epoch_grad2 the mean of |grad F|^2 over the points before each epoch of the round that starts at the point, for one
                client a round and equally many epochs of every client; a step with the whole gradient is an epoch, and
                so is a part of one at the end of a visit. Where a visit is one epoch, it is grad2
    discrepancy, discrepancy:<j>   the weighted mean of |u - y_i|^2 over the clients' models, or over its block j
    least_local_f          the least F(z_i) over the models z_i that the clients' steps of the round end with, before
                they are averaged: the "minimum local loss" of S. Lee et al., "Partial Model Averaging in Federated
                Learning: Performance Guarantees and Benefits", Figure 3, which shows it beside F(u)
    f_above_least_local    F(u) minus that; negative where the mean of the models is better than each of them
    least_local_loss       the least f_i(z_i): each model on the data of its own client

A value that is not finite is +inf; the accuracy of a model that is not finite is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.engines.simulate.lowering import Lowered
from boundcheck.engines.simulate.metrics import (
    EPOCH_GRAD2,
    LOCAL,
    epochs_of_visits,
    is_discrepancy,
    needs_models,
    portions_of,
)
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.answers import averaging
from boundcheck.networks.engine.device import Tensor, library
from boundcheck.networks.engine.memory import is_too_large
from boundcheck.networks.engine.passes import Passes
from boundcheck.networks.engine.task import Task
from boundcheck.problems._classifier import Classifier
from boundcheck.setting.expected_weights import expected_weights
from boundcheck.setting.followed_objective import small_step_weights

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method


METRICS = (
    *("f", "grad2", "gap", "dist2", "B2", "spread", "surrogate_f", "accuracy", "test_f", EPOCH_GRAD2),
    *LOCAL,
    *("discrepancy", "discrepancy:<j>", "loss_<i>"),
)
_CERTIFIED = ("gap", "dist2")
_OF_CLASSIFIER = ("gap", "dist2", "grad2", "B2")  # computed in NumPy as the sampled engine has them
_HELD_OUT = ("accuracy", "test_f")
_OF_CLIENT = "loss_"  # followed by the number of a client

T = TypeVar("T")


def surrogate_weights(method: Method, clients: Clients) -> Floats:
    """The weights u_i (n,), summing to 1, of the objective that the method really follows in expectation.

    For the methods of Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and
    Heterogeneous Clients Updates", the q_i over their sum; for others E[a_i^S times the local steps] over its sum, the
    first-order weights. Raises Unsupported where they cannot be had.
    """
    expected = expected_weights(method, clients)
    if expected is None or not expected.full_kinds:
        return np.array([float(v) for v in small_step_weights(method, clients)])
    mean = expected.mean
    total = sum(mean.values())
    return np.array([float(mean[i] / total) if i in mean else 0.0 for i in range(clients.count)])


@dataclass(frozen=True, eq=False)
class Metrics:
    """The named metrics at once, so that those that share a pass do.

    lowered: the method of the run. names: in the order of the request.
    """

    passes: Passes
    problem: Any
    names: tuple[str, ...]
    lowered: Lowered

    @property
    def of_returned(self) -> bool:
        """Whether a metric is one of the models before they are averaged."""
        return bool(set(self.names) & set(LOCAL))

    @cached_property
    def epochs(self) -> int:
        """How many epochs a visit begins, for "epoch_grad2"; 0 if that metric is not requested."""
        return epochs_of_visits(self.lowered) if EPOCH_GRAD2 in self.names else 0

    def __call__(
        self, state: Tensor, returned: Tensor | None = None, starts: Tensor | None = None
    ) -> dict[str, Floats]:
        """The value (S,) of each metric at states (S, parts, dim), part 0 the server's point, or at points (S, dim).

        returned: (S, n, dim), the clients' models before they were averaged; None: those of the state.
        starts: (S, epochs - 1, dim), the points before each but the first epoch of the round that starts here, which
        "epoch_grad2" needs if there are several epochs; raises Unsupported without them.
        """
        points = state if state.ndim == 2 else state[:, 0]
        found = {name: np.empty(len(points)) for name in self.names}
        for name in self.names:
            if is_discrepancy(name):
                found[name][:] = self._apart(name, state)
        if self.of_returned:
            for s, models in enumerate(points.unsqueeze(1) + self._apart_of(state) if returned is None else returned):
                for name, value in self._local(library().cat([points[s : s + 1], models])).items():
                    found[name][s] = value
        if any(not _of_models(name) for name in self.names):
            for part, values in self._through(points, self._at):
                for name, own in values.items():
                    found[name][part] = own
        if self.epochs > 1:
            self._over_epochs(found, starts)
        finite = library().isfinite(points).all(dim=1).cpu().numpy()
        for name, values in found.items():
            values[~np.isfinite(values)] = np.inf
            values[~finite] = 0.0 if name == "accuracy" else np.inf
        return found

    def _over_epochs(self, found: dict[str, Floats], starts: Tensor | None) -> None:
        """Makes the mean over the epochs of what was measured at the first one's start."""
        if starts is None:
            raise Unsupported(f"the metric '{EPOCH_GRAD2}' is about a round of {self.epochs} epochs; a point is none.")
        slopes = replace(self, names=("grad2",))
        for e in range(self.epochs - 1):
            found[EPOCH_GRAD2] += slopes(starts[:, e])["grad2"]
        found[EPOCH_GRAD2] /= self.epochs

    def _through(self, points: Tensor, measure: Callable[[Tensor], T]) -> Iterator[tuple[slice, T]]:
        """What is measured at the points, group by group; in smaller ones where the memory or a kernel ends."""
        torch, begin = library(), 0
        while begin < len(points):
            part, group = next(self.passes.parts(points[begin:]))
            try:
                values = measure(group)
            except (RuntimeError, MemoryError) as error:
                if not is_too_large(error):
                    raise
                del group
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()
                self.passes.lower_room()
                continue
            yield slice(begin, begin + part.stop), values
            begin += part.stop

    def _at(self, points: Tensor) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        wanted = {"grad2" if name == EPOCH_GRAD2 else name for name in self.names}
        if isinstance(self.problem, Classifier):
            flat = points.double().cpu().numpy()
            with np.errstate(all="ignore"):
                for name in wanted & set(_OF_CLASSIFIER):
                    found[name] = self.problem.metric_many(name, flat)
        left = wanted - set(found)
        losses = None
        if "B2" in left:
            losses, of_all, of_each = self._by_client(points)
            with np.errstate(all="ignore"):
                found["B2"] = of_each / of_all
            found["grad2"] = of_all
        elif "grad2" in left:
            losses, slope = self.passes.slopes(points)
            found["grad2"] = slope.square().sum(dim=1).cpu().numpy()
        elif left & {"f", "gap", "spread", "surrogate_f"} or any(name.startswith(_OF_CLIENT) for name in left):
            losses = self.passes.losses(points)
        if losses is not None:
            w = self.passes.task.weights
            mean = losses @ w
            found["f"] = mean
            found.setdefault("gap", mean - self.low)  # that of a classifier is certified and stays
            with np.errstate(all="ignore"):
                found["spread"] = np.sqrt((losses - mean[:, None]) ** 2 @ w)
            found |= {f"{_OF_CLIENT}{i}": losses[:, i] for i in range(losses.shape[1])}
            if "surrogate_f" in left:
                found["surrogate_f"] = losses @ self.surrogate
        if left & set(_HELD_OUT):
            found["test_f"], found["accuracy"] = self.passes.held_out(points)
        if EPOCH_GRAD2 in self.names:
            found[EPOCH_GRAD2] = found["grad2"]
        return {name: values for name, values in found.items() if name in self.names}

    def _by_client(self, points: Tensor) -> tuple[Floats, Floats, Floats]:
        """f_i (s, n), |grad F|^2 (s,) and the weighted mean of |grad f_i|^2 (s,); one client's gradient at a time."""
        task = self.passes.task
        losses = np.empty((len(points), len(task.weights)))
        mean, parts = None, np.zeros(len(points))
        for i, w in enumerate(task.weights):
            losses[:, i], slope = self.passes.client_slopes(points, i)
            parts += w * slope.square().sum(dim=1).cpu().numpy()
            mean = w * slope if mean is None else mean.add_(slope, alpha=float(w))
        assert mean is not None
        return losses, mean.square().sum(dim=1).cpu().numpy(), parts

    @cached_property
    def low(self) -> float:
        """The lower bound of F that the problem knows."""
        return _low(self.problem) or 0.0

    @cached_property
    def surrogate(self) -> Floats:
        """The weights u_i of `surrogate_weights`."""
        return surrogate_weights(self.lowered.method, self.lowered.known)

    def _local(self, models: Tensor) -> dict[str, float]:
        """The metrics of the clients' losses, for one seed. models: (1 + n, dim): u, then that of each client."""
        losses = np.concatenate([values for _, values in self._through(models, self.passes.losses)])
        losses[np.isnan(losses)] = np.inf  # a model that is not finite is not the least
        with np.errstate(invalid="ignore"):
            of_all = losses @ self.passes.task.weights
            least = float(of_all[1:].min())
            above = float(of_all[0] - least)
        own = float(np.diagonal(losses[1:]).min())
        return {name: value for name, value in zip(LOCAL, (least, own, above), strict=True) if name in self.names}

    def _apart(self, name: str, state: Tensor) -> Floats:
        torch, lowered, number = library(), self.lowered, name.partition(":")[2]
        blocks = averaging(lowered.method.exchange)
        assert blocks is not None
        own: Any = slice(None)
        if number:
            own = torch.as_tensor(list(blocks.blocks(state.shape[-1])[int(number)]), dtype=torch.int64).to(state.device)
        apart = self._apart_of(state)[:, :, own].double()
        portions = torch.as_tensor(portions_of(lowered), device=state.device)
        return (apart.square().sum(dim=2) @ portions).cpu().numpy()

    def _apart_of(self, state: Tensor) -> Tensor:
        """How far each model is from the point (S, models, dim), which is what clients keep first of all."""
        return state[:, len(self.lowered.server) :: len(self.lowered.kept)]


def _of_models(name: str) -> bool:
    """Whether a metric is one of the models that clients keep."""
    return is_discrepancy(name) or name in LOCAL


def metrics_of(task: Task, problem: Any, names: Iterable[str], lowered: Lowered) -> Metrics:
    """How to compute the named metrics together.

    lowered: the method of the run. Raises UnknownName, Unsupported for a metric that the problem or the method lacks,
    and BadInput for a block that does not exist.
    """
    asked = tuple(dict.fromkeys(names))
    for name in asked:
        _check(name, task, problem, lowered)
    look = Metrics(Passes(task), problem, asked, lowered)
    if "surrogate_f" in asked:
        _ = look.surrogate  # refuses before the run starts
    return look


def _low(problem: Any) -> float | None:
    known = problem.constants()
    return float(known["f_low"].value) if "f_low" in known else None


def _check(name: str, task: Task, problem: Any, lowered: Lowered) -> None:
    number = name.partition(":")[2]
    client = name.removeprefix(_OF_CLIENT) if name.startswith(_OF_CLIENT) else ""
    of_client = client.isdecimal() and int(client) < len(task.weights)
    if name not in METRICS[:-2] and not of_client and not (is_discrepancy(name) and number.isdecimal()):
        raise UnknownName(f"engine = 'neural' on '{problem.name}': metric", name, METRICS)
    bounded = name == "gap" and _low(problem) is not None
    if name in _CERTIFIED and not isinstance(problem, Classifier) and not bounded:
        raise Unsupported(f"the minimum of '{problem.name}' is not known, which the metric '{name}' is about.")
    if name in _HELD_OUT and task.test_inputs is None:
        raise Unsupported(f"'{problem.name}' has no held-out samples, which the metric '{name}' is about.")
    if name == EPOCH_GRAD2:
        epochs_of_visits(lowered)  # refuses methods of other rounds
    if _of_models(name):
        blocks = averaging(lowered.method.exchange)
        if blocks is None:
            raise needs_models(lowered, name)
        if number:
            count = len(blocks.blocks(task.network.dim))
            if int(number) >= count:
                text = f"the metric '{name}' is about a block that does not exist; there are {count}, from 0 on."
                raise BadInput(text)
