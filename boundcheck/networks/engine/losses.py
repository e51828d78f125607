"""Losses of many models at once, their gradients, and steps along them.

Networks with a backward pass of their own (`Traced`) are not recorded by autograd: the gradient in the scores is
written out below, and that in the parameters goes straight into its place in the rows (N, dim). Autograd is the
reference; networks without such a backward pass, and passes under autocast, use it.
"""

from __future__ import annotations

from boundcheck.networks.engine.device import library
from boundcheck.networks.engine.network import Tensor, Traced
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
    torch = library()
    network = task.network
    with torch.no_grad():
        if not isinstance(network, Traced) or task.autocast:
            losses, found = _recorded(task, parameters, rows, mask)
        else:
            found = torch.empty_like(parameters)
            losses = _traced(task, network, parameters, rows, mask, found)
        if task.ridge:
            pull = torch.full_like(losses, task.ridge)
            if mask is not None:
                pull *= mask.expand(len(losses), -1).bool().any(dim=1)
            found.addcmul_(parameters, pull.unsqueeze(1))
            losses = losses + pull / 2 * torch.linalg.vecdot(parameters, parameters)
    return losses, found


def descend(task: Task, parameters: Tensor, rows: Tensor, mask: Tensor | None, eta: Tensor) -> Tensor:
    """One step of plain SGD of N models: the parameters (N, dim) go down, in place; losses (N,) before the step.

    eta: (N, 1). If the network has its own backward pass (and there is no ridge), the gradient is never stored: -eta
    multiplies the derivative in the scores, and what arrives at a parameter is added to it. Otherwise as `gradients`.
    """
    torch = library()
    network = task.network
    with torch.no_grad():
        if not isinstance(network, Traced) or task.autocast or task.ridge:
            losses, slope = gradients(task, parameters, rows, mask)
            parameters.addcmul_(eta, slope, value=-1)
            return losses
        return _traced(task, network, parameters, rows, mask, parameters, eta)


def _samples(task: Task, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Inputs (N or 1, B, *sample) and labels (N or 1, B) of rows."""
    wide = rows.reshape(-1)
    inputs = task.inputs.index_select(0, wide).view(*rows.shape, *task.inputs.shape[1:])
    return inputs, task.labels.index_select(0, wide).view(rows.shape)


def _recorded(task: Task, parameters: Tensor, rows: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """By autograd; the losses without the ridge."""
    torch = library()
    inputs, labels = _samples(task, rows)
    leaf = parameters.detach().requires_grad_()
    with torch.enable_grad():
        with torch.autocast(task.device.type, dtype=torch.bfloat16, enabled=task.autocast):
            scores = task.network.scores(leaf, inputs)
        losses = lane_losses(task, scores.to(parameters.dtype), labels, mask)
        (found,) = torch.autograd.grad(losses.sum(), leaf)
    return losses.detach(), found


def _traced(
    task: Task, network: Traced, parameters: Tensor, rows: Tensor, mask: Tensor | None, into: Tensor,
    eta: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """By the network's own backward pass; the losses without the ridge. eta: of a step that is added to `into`."""
    torch = library()
    inputs, labels = _samples(task, rows)
    scores, backward = network.traced(parameters, inputs)
    lanes, width = scores.shape[:2]
    labels = labels.expand(lanes, width)
    # each: the loss of a sample; slope: its derivative in the scores
    if task.loss == "cross_entropy":
        logs, place = scores.log_softmax(dim=-1), labels.unsqueeze(-1)
        each, slope = logs.gather(2, place).squeeze(-1).neg_(), logs.exp()
        across, down = (torch.arange(count, device=slope.device) for count in (lanes, width))
        # `scatter_add_` would do, but deterministic on a GPU it copies from the host, which no CUDA graph can record
        slope.index_put_((across[:, None], down, labels), slope.new_full((), -1.0), accumulate=True)
    else:
        signs = labels.to(scores.dtype)
        margins = signs * scores.squeeze(-1)
        each = torch.nn.functional.softplus(-margins)
        slope = (margins.neg_().sigmoid_() * signs).neg_().unsqueeze(-1)
    if mask is None:
        losses = each.mean(dim=1)
        slope /= width
    else:
        counted = mask.expand(lanes, width).bool()
        counts = counted.sum(dim=1).clamp_(min=1)
        losses = each.masked_fill_(~counted, 0.0).sum(dim=1) / counts
        slope = slope.masked_fill_(~counted.unsqueeze(-1), 0.0).div_(counts[:, None, None])
    if eta is not None:
        slope = slope * -eta.unsqueeze(-1)
    backward(slope, into, eta is not None)
    return losses
