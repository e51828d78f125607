"""What an implementation under test gets: the client oracles of a problem, and the numbers of the method.

def my_fedavg(task, seed):
    x, points = task.start, []
    for _ in range(task.rounds):
        returned = []
        for client in task.clients:
            y = x
            for _ in range(int(task.parameters["E"])):
                y = y - task.parameters["eta_l"] * client.gradient(y)
            returned.append(client.weight * y)
        x = sum(returned)
        points.append(x)
    return points
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boundcheck.core.extras import needed_for
from boundcheck.core.numbers import as_double
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import GradientSteps, StochasticSteps
from boundcheck.problems.problem import Arrays, Floats, Lazy, Problem, clients_of, flat_arrays, is_neural, no_minimum

MAX_CLIENTS = 10_000


class Client:
    """One client: its weight w_i, its number of samples, and oracles of its objective f_i and of its samples.

    Points are arrays (d,) of the task's kind: NumPy (the default), torch or JAX. A loss is known up to a constant on
    quadratic problems. `samples` are numbers from 0 to size - 1; repeated ones count as often.
    """

    def __init__(self, index: int, weight: float, size: int, oracle: Samples | _Whole) -> None:
        self.index, self.weight, self.size = index, weight, size
        self._oracle = oracle

    def gradient(self, x: Any, samples: Sequence[int] | None = None) -> Any:
        """Gradient of f_i at x (d,), or the mean gradient of the given samples; shape (d,).

        Raises BadInput for a number that is no sample of this client.
        """
        return self._oracle.gradient(x, self._checked(samples))

    def loss(self, x: Any, samples: Sequence[int] | None = None) -> Any:
        """f_i at x (d,), or the mean loss of the given samples; a scalar, differentiable in torch and JAX.

        Raises BadInput for a number that is no sample, Unsupported where the problem has gradients only.
        """
        return self._oracle.loss(x, self._checked(samples))

    def _checked(self, samples: Sequence[int] | None) -> Any:
        if samples is None:
            return None
        chosen = np.atleast_1d(np.asarray(samples))
        if not chosen.size or chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= self.size:
            raise BadInput(
                f"client {self.index}: the samples {np.array2string(chosen, threshold=8)} are not allowed; they are "
                f"integers from 0 to {self.size - 1}, at least one."
            )
        return chosen

    def __repr__(self) -> str:
        return f"<Client {self.index}: weight {self.weight:.6g}, {self.size} samples>"


@dataclass(frozen=True, repr=False)
class Task:
    """A method on a problem, as an implementation sees it.

    clients: one oracle a client. dimension: d. rounds: how many rounds to run. step_sizes: (rounds,) the local step
    size of each round. parameters: the numbers of the method by the names of its specification (E, eta_l, eta_g, ...);
    of a step size that changes, the numbers of its formula. method: the composition that the implementation is to be.
    """

    clients: tuple[Client, ...]
    dimension: int
    rounds: int
    step_sizes: Floats
    parameters: Mapping[str, float]
    problem: Problem
    method: Method
    namespace: Any = np

    @property
    def start(self) -> Any:
        """x_0 (d,), a fresh array."""
        return self.namespace.asarray(np.array([as_double(v, "a coordinate of the start") for v in self.problem.start]))

    @property
    def weights(self) -> Floats:
        """w_i (n,), summing to 1."""
        return np.array([c.weight for c in self.clients])

    @property
    def sizes(self) -> Any:
        """Samples of each client (n,)."""
        return np.array([c.size for c in self.clients])

    def generator(self, seed: int) -> np.random.Generator:
        """A random generator for one seed; use it, or one of your own that depends on the seed alone."""
        return np.random.default_rng([20231, seed])

    def torch(self) -> Task:
        """The same task with float64 tensors of torch; losses are differentiable. Raises MissingExtra."""
        with needed_for("the torch view of a task"):
            import torch
        return self._in(torch)

    def jax(self) -> Task:
        """The same task with arrays of JAX, in float64 where `jax_enable_x64` is set. Raises MissingExtra."""
        with needed_for("the JAX view of a task"):
            import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
        return self._in(jnp)

    def _in(self, namespace: Any) -> Task:
        return replace(self, namespace=namespace, clients=_clients(self.problem, namespace))

    def __repr__(self) -> str:
        return f"<Task {self.method.name} on {self.problem.name}: {len(self.clients)} clients, {self.rounds} rounds>"


def task_of(method: Method, problem: Problem, rounds: int) -> Task:
    """The task of carrying out a method on a problem.

    Raises BadInput where the method does not fit, Unsupported for networks and for more than 10^4 clients.
    """
    if is_neural(problem):
        raise Unsupported(f"'{problem.name}' trains a network; implementations are tried on problems with formulas.")
    why = no_minimum(problem)
    if why is not None:
        raise Unsupported(f"{why}; implementations are tried on problems whose clients have losses.")
    if problem.clients > MAX_CLIENTS:
        raise Unsupported(
            f"'{problem.name}' has {problem.clients} clients; an implementation gets {MAX_CLIENTS} at most."
        )
    if rounds < 1:
        raise BadInput(f"rounds = {rounds} is not allowed; an implementation runs at least 1 round.")
    method.check(clients_of(problem), problem.dim)
    per_cycle = method.rounds_per_cycle(clients_of(problem))
    cycles = range(1, (rounds - 1) // per_cycle + 2)
    steps = {cycle: as_double(method.schedule.step(cycle), "a step size") for cycle in cycles}
    return Task(
        clients=_clients(problem, np),
        dimension=problem.dim,
        rounds=rounds,
        step_sizes=np.array([steps[r // per_cycle + 1] for r in range(rounds)]),
        parameters=_parameters(method),
        problem=problem,
        method=method,
    )


def _parameters(method: Method) -> dict[str, float]:
    """The numbers of a method; local steps are K too, and the proximal weight is mu, as kinds call them."""
    found = {name: as_double(value, name) for name, value in method.parameters().items()}
    if isinstance(method.local, GradientSteps | StochasticSteps):
        work = method.local
        found["K"] = float(work.E if isinstance(work, GradientSteps) else work.steps)
    if "prox" in found:
        found["mu"] = found["prox"]
    return found


def _clients(problem: Problem, namespace: Any) -> tuple[Client, ...]:
    known = clients_of(problem)
    flat = flat_arrays(problem)

    def oracle(i: int) -> Samples | _Whole:
        if flat is not None:
            return Samples(flat, i, namespace)
        if isinstance(problem, Lazy):
            return Samples(problem.client_arrays(i), 0, namespace)
        if namespace is not np:
            raise Unsupported(f"'{problem.name}' computes gradients itself; it has no view in {namespace.__name__}.")
        return _Whole(problem, i)

    return tuple(Client(i, float(known.weights[i]), known.sizes[i], oracle(i)) for i in range(known.count))


class _Whole:
    """A client of a problem that computes gradients itself and has no samples."""

    def __init__(self, problem: Problem, client: int) -> None:
        self.problem, self.client = problem, client

    def gradient(self, x: Any, samples: Any) -> Any:
        return np.asarray(self.problem.gradient(self.client, np.asarray(x, dtype=np.float64)), dtype=np.float64)

    def loss(self, x: Any, samples: Any) -> Any:
        raise Unsupported(f"'{self.problem.name}' gives gradients only; its clients' losses are not known.")


class Samples:
    """A client of `Arrays`, in the array library `xp`: the formulas are written once for NumPy, torch and JAX."""

    def __init__(self, arrays: Arrays, client: int, xp: Any) -> None:
        own = slice(int(arrays.offsets[client]), int(arrays.offsets[client + 1]))
        self.xp, self.kind, self.ridge, self.classes = xp, arrays.kind, arrays.ridge, arrays.classes
        self.count = own.stop - own.start
        self.whole = self.count if arrays.reduction == "sum" else 1  # f_i is `whole` times the mean of its samples
        labels: Any = arrays.target[own]
        if arrays.kind == "softmax":
            labels = np.eye(arrays.classes)[labels.astype(np.int64)]
        self.A, self.h, self.b, self.y = (
            xp.asarray(np.array(part)) for part in (arrays.A[own], arrays.curvature[own], arrays.b[own], labels)
        )

    def gradient(self, x: Any, samples: Any) -> Any:
        chosen = slice(None) if samples is None else samples
        mean = self.gradients(x, chosen).mean(0) + self.ridge * x
        return self.whole * mean if samples is None else mean

    def loss(self, x: Any, samples: Any) -> Any:
        chosen = slice(None) if samples is None else samples
        mean = self._losses(x, chosen).mean(0) + self.ridge / 2 * (x * x).sum()
        return self.whole * mean if samples is None else mean

    def _scores(self, x: Any, s: Any) -> Any:
        """Softmax scores (B, classes), less the largest of each row."""
        scores = self.b[s] @ x.reshape(self.classes, -1).T
        return scores - self.xp.amax(scores, -1)[:, None]

    def gradients(self, x: Any, s: Any) -> Any:
        """Of the samples s at x, (B, d), without the ridge."""
        xp, b = self.xp, self.b[s]
        if self.kind == "quadratic":
            return self.A[s] @ x - b
        if self.kind == "isotropic":
            return self.h[s][:, None] * x - b
        if self.kind == "rows":
            return (self.h[s] * (b @ x - self.y[s]))[:, None] * b
        if self.kind == "logistic":
            y = self.y[s]
            return (-y / (1.0 + xp.exp(y * (b @ x))))[:, None] * b
        powers = xp.exp(self._scores(x, s))
        shares = powers / powers.sum(-1)[:, None] - self.y[s]
        return (shares[:, :, None] * b[:, None, :]).reshape(len(b), -1)

    def _losses(self, x: Any, s: Any) -> Any:
        """(B,), without the ridge."""
        xp, b = self.xp, self.b[s]
        if self.kind == "quadratic":
            return ((self.A[s] @ x) * x).sum(-1) / 2 - b @ x
        if self.kind == "isotropic":
            return self.h[s] * (x * x).sum() / 2 - b @ x
        if self.kind == "rows":
            return self.h[s] * (b @ x - self.y[s]) ** 2 / 2
        if self.kind == "logistic":
            margin = -self.y[s] * (b @ x)
            return xp.logaddexp(0 * margin, margin)
        scores = self._scores(x, s)
        return xp.log(xp.exp(scores).sum(-1)) - (scores * self.y[s]).sum(-1)
