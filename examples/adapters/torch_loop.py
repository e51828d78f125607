"""FedAvg by an ordinary training loop of PyTorch, in single precision."""

import copy

import torch

from boundcheck.adapters.torch import Point, loader, loss_of


def run(task, seed):
    model, loss, points = Point(task), loss_of(task), []
    for step_size in task.step_sizes:
        mean = torch.zeros_like(model.x)
        for client in task.clients:
            local = copy.deepcopy(model)
            optimizer = torch.optim.SGD(local.parameters(), lr=step_size)
            for inputs, target in [*loader(client)] * int(task.parameters["K"]):
                optimizer.zero_grad()
                loss(local(inputs), target).backward()
                optimizer.step()
            mean += client.weight * local.x.detach()
        model.x.data = mean
        points.append(model.numpy())
    return points
