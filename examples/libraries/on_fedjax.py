"""Algorithms of fedjax on its client data sets; the gradient of a batch is that of its client's loss."""

from collections.abc import Callable
from typing import Any

import fedjax
import jax
import jax.numpy as jnp
import numpy as np
from fedjax.algorithms import fed_avg, fed_prox, mime
from fedjax.core import models
from fedjax.core.optimizers import sgd

from libraries.runs import EPOCHS, Record, Run, size_of_cohort

jax.config.update("jax_enable_x64", True)
jax.tree_map = jax.tree_util.tree_map  # type: ignore[attr-defined]  # fedjax uses the name, which JAX 0.6 removed
Loss = Callable[[Any, Any, Any], Any]  # (params, batch, rng) -> losses of its samples


def run(build: Callable[[Loss, float, Any], Any] | None) -> Run:
    """An algorithm on a task; build: losses, local step size, parameters of batches -> it; None only draws cohorts."""

    def carry_out(task: Any, seed: int) -> Record:
        losses = [client.loss for client in task.jax().clients]
        batches = fedjax.ShuffleRepeatBatchHParams(batch_size=1, num_epochs=EPOCHS, drop_remainder=False, seed=seed)

        def loss(params: Any, batch: Any, rng: Any) -> Any:
            # samples of a client are alike, so that the loss of one is that of its client
            return jax.vmap(lambda client: jax.lax.switch(client, losses, params))(batch["client"])

        samples = {str(c.index).encode(): {"client": np.full(c.size, c.index)} for c in task.clients}
        data = fedjax.InMemoryFederatedData(samples)
        sampler = fedjax.client_samplers.UniformGetClientSampler(data, size_of_cohort(task), seed)
        cohorts = [sampler.sample() for _ in range(task.rounds)]
        record = Record(cohorts=[[int(name) for name, _, _ in drawn] for drawn in cohorts])
        if build is not None:
            algorithm = build(loss, float(task.step_sizes[0]), batches)
            state = algorithm.init(jnp.asarray(task.start))
            for drawn in cohorts:
                state, _ = algorithm.apply(state, drawn)
                record.points.append(np.asarray(state.params))
        return record

    return carry_out


def _averaging(rate: float, momentum: float | None = None) -> Run:
    server = sgd(rate, momentum)
    return run(lambda f, eta, batches: fed_avg.federated_averaging(models.grad(f), sgd(eta), server, batches))


def _mime(momentum: float | None = None) -> Run:
    whole = fedjax.PaddedBatchHParams(batch_size=4)
    return run(lambda f, eta, batches: mime.mime(f, sgd(0.05, momentum), batches, whole, 1.0))


RUNS = {
    "federated_averaging": _averaging(1.0),
    "federated_averaging with server momentum": _averaging(0.5, 0.5),
    "fed_prox": run(lambda f, eta, batches: fed_prox.fed_prox(f, sgd(eta), sgd(1.0), batches, 0.5)),
    "mime": _mime(),
    "mime with momentum": _mime(0.5),
}
DRAWN = {"federated_averaging": run(None)}  # compiling each run takes seconds
