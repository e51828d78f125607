"""Heavy ball on the objective of all clients by optax, in single precision."""

import jax
import optax

from boundcheck.adapters.jax import loss_of, start_of


def run(task, seed):
    loss, x, points = loss_of(task), start_of(task), []
    whole = jax.jit(jax.grad(lambda x: sum(c.weight * loss(x, c.index) for c in task.clients)))
    optimizer = optax.sgd(float(task.step_sizes[0]), momentum=task.parameters["momentum_g"])
    state = optimizer.init(x)
    for _ in range(task.rounds):
        updates, state = optimizer.update(whole(x), state)
        x = optax.apply_updates(x, updates)
        points.append(x)
    return points
