"""FedAvg as one might write it, for `boundcheck identify examples/tour/fedavg.py --run fedavg`."""

import numpy as np


def fedavg(task, seed):
    """The models of the server after each round; `task` has clients, step sizes and parameters."""
    x, iterates = task.start, []
    for eta in task.step_sizes:
        local = []
        for client in task.clients:
            y = x
            for _ in range(int(task.parameters["K"])):
                y = y - eta * client.gradient(y)
            local.append(y)
        x = np.average(local, axis=0, weights=[client.weight for client in task.clients])
        iterates.append(x)
    return iterates
