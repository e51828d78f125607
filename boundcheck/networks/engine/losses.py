"""Losses of many models at once, and their gradients by autograd through the mapped module."""

from __future__ import annotations

from contextlib import nullcontext

from boundcheck.networks.engine.device import Tensor, library
from boundcheck.networks.engine.task import Task


def sample_losses(task: Task, scores: Tensor, labels: Tensor) -> Tensor:
    """The loss (N, B) of every sample, without the ridge; differentiable in the scores.

    scores: (N, B, classes); labels: (N, B), or (1, B) or (B,) if all models see the same samples.
    """
    functional = library().nn.functional
    lanes, width = scores.shape[:2]
    labels = labels.expand(lanes, width)
    if task.loss == "logistic":
        return functional.softplus(-labels.to(scores.dtype) * scores.squeeze(-1))
    flat = functional.cross_entropy(scores.flatten(0, 1), labels.reshape(-1), reduction="none")
    return flat.view(lanes, width)


def lane_losses(task: Task, scores: Tensor, labels: Tensor, mask: Tensor | None) -> Tensor:
    """Mean loss (N,) of each model over its samples, without the ridge; 0 for a model without samples.

    scores, labels: see `sample_losses`; mask: (N, B), 1 (or True) for a sample that counts and 0 (False) for
    padding; None: all count.
    """
    losses = sample_losses(task, scores, labels)
    if mask is None:
        return losses.mean(dim=1)
    counted = mask.expand(losses.shape).bool()
    counts = counted.sum(dim=1).clamp(min=1)
    return losses.masked_fill(~counted, 0.0).sum(dim=1) / counts


def gradients(task: Task, parameters: Tensor, rows: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Losses (N,) of N models, ridge included, and their gradients (N, dim).

    parameters: (N, dim); rows: (N, B) int64, the samples of each model, or (1, B) if all models see the same samples;
    mask: (N, B), 0 (False) where a row is padding: it touches neither loss nor gradient; None: all count. A model
    without samples has loss 0 and gradient 0.
    """
    torch, wide = library(), rows.reshape(-1)
    inputs = task.inputs.index_select(0, wide).view(*rows.shape, *task.inputs.shape[1:])
    labels = task.labels.index_select(0, wide).view(rows.shape)
    leaf = parameters.detach().requires_grad_()
    with torch.enable_grad():
        with torch.autocast(task.device.type, dtype=torch.bfloat16) if task.autocast else nullcontext():
            scores = task.network.scores(leaf, inputs)
        losses = lane_losses(task, scores.to(parameters.dtype), labels, mask)
        (found,) = torch.autograd.grad(losses.sum(), leaf)
    losses = losses.detach()
    if task.ridge:
        pull = torch.full_like(losses, task.ridge)
        if mask is not None:
            pull *= mask.expand(len(losses), -1).bool().any(dim=1)
        found.addcmul_(parameters, pull.unsqueeze(1))
        losses = losses + pull / 2 * torch.linalg.vecdot(parameters, parameters)
    return losses, found
