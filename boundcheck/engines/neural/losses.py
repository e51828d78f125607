"""Losses of many models at once, their gradients, and steps along them.

Networks with a way back of their own (`Traced`) are not recorded by autograd: the gradient in the scores is written
out below, and that in the parameters goes straight into its place in the rows (N, dim). Autograd is the reference, and
what networks without a way back and passes under autocast take.
"""

from __future__ import annotations

from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Tensor, Traced
from boundcheck.engines.neural.task import Task

__all__ = ["alone", "descend", "gradients", "lane_losses", "sample_losses"]


def sample_losses(task: Task, scores: Tensor, labels: Tensor) -> Tensor:
    """The loss (N, B) of every sample, without the ridge; differentiable in the scores.

    scores: (N, B, classes); labels: (N, B), or (1, B) or (B,) for samples that all look at.
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

    scores, labels: see `sample_losses`; mask: (N, B), 1 (or True) where a sample counts and 0 (False) where it is
    padding; None: all count.
    """
    losses = sample_losses(task, scores, labels)
    if mask is None:
        return losses.mean(dim=1)
    counted = mask.expand(losses.shape).bool()
    counts = counted.sum(dim=1).clamp(min=1)
    return losses.masked_fill(~counted, 0.0).sum(dim=1) / counts


def gradients(
    task: Task, parameters: Tensor, rows: Tensor, mask: Tensor | None, into: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Losses (N,) of N models, ridge included, and their gradients (N, dim).

    parameters: (N, dim); rows: (N, B) int64, the samples of each model, or (1, B) for samples that all look at; mask:
    (N, B), 0 (False) where a row is padding: it touches neither loss nor gradient; None: all count. A model without
    samples has loss 0 and gradient 0. into: an array (N, dim) for the gradients, which saves making one; it must not
    share memory with the parameters.
    """
    torch = library()
    network = task.network
    with torch.no_grad():
        if not isinstance(network, Traced) or task.autocast:
            losses, found = _recorded(task, parameters, rows, mask)
            if into is not None:
                found = into.copy_(found)
        else:
            found = torch.empty_like(parameters) if into is None else into
            if len(parameters) > 1 and alone(task, rows.shape[1]):
                losses = parameters.new_empty(len(parameters))
                for k in range(len(parameters)):
                    own = slice(k, k + 1)
                    losses[own] = _traced(task, network, parameters[own], *_own(k, rows, mask), found[own])
            else:
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

    eta: (N, 1). Where the network knows its own way back (and there is no ridge), the gradient is never made: -eta goes
    into the derivative in the scores, and what arrives at a parameter is added to it. Otherwise as `gradients`.
    """
    torch = library()
    network = task.network
    with torch.no_grad():
        if not isinstance(network, Traced) or task.autocast or task.ridge:
            losses, slope = gradients(task, parameters, rows, mask)
            parameters.addcmul_(eta, slope, value=-1)
            return losses
        if len(parameters) == 1 or not alone(task, rows.shape[1]):
            return _traced(task, network, parameters, rows, mask, parameters, eta)
        losses = parameters.new_empty(len(parameters))
        for k in range(len(parameters)):
            own = slice(k, k + 1)
            losses[own] = _traced(task, network, parameters[own], *_own(k, rows, mask), parameters[own], eta[own])
    return losses


def alone(task: Task, width: int) -> bool:
    """Whether models with so many samples each are faster one at a time."""
    network = task.network
    if not isinstance(network, Traced) or task.autocast:
        return False
    # an array of the shape of such samples that takes no memory
    return network.alone(task.inputs[:1, None].expand(1, width, *task.inputs.shape[1:]), task.dtype)


def _own(k: int, rows: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
    return rows if len(rows) == 1 else rows[k : k + 1], None if mask is None else mask[k : k + 1]


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
    """By the network's own way back; the losses without the ridge. eta: a step, added to `into`, for the gradient."""
    torch = library()
    inputs, labels = _samples(task, rows)
    scores, back = network.traced(parameters, inputs)
    if task.loss == "cross_entropy" and _on_processor(scores):
        losses, slope = _compiled_cross_entropy(scores, labels, mask, eta)
        back(slope, into, eta is not None)
        return losses
    lanes, width = scores.shape[:2]
    labels = labels.expand(lanes, width)
    # each: the loss of a sample; slope: its derivative in the scores
    if task.loss == "cross_entropy":
        logs, place = scores.log_softmax(dim=-1), labels.unsqueeze(-1)
        each, slope = logs.gather(2, place).squeeze(-1).neg_(), logs.exp()
        slope.scatter_add_(2, place, slope.new_full((), -1.0).expand(place.shape))
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
    back(slope, into, eta is not None)
    return losses


def _on_processor(scores: Tensor) -> bool:
    return scores.device.type == "cpu" and scores.dtype in (library().float32, library().float64)


def _compiled_cross_entropy(
    scores: Tensor, labels: Tensor, mask: Tensor | None, eta: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Losses (N,) and the derivative in the scores, times -eta where there is a step."""
    from boundcheck.engines.neural.kernels.cross_entropy_compiled import cross_entropy  # numba takes a moment

    lanes, width, classes = scores.shape
    losses, slope = scores.new_empty(lanes), scores.new_empty(scores.shape)
    counted = labels.new_empty(0, dtype=library().bool) if mask is None else mask.expand(lanes, width).bool()
    factors = scores.new_ones(lanes) if eta is None else -eta
    given = (a.reshape(-1).numpy() for a in (scores, labels.expand(lanes, width), counted))
    cross_entropy(*given, classes, width, *(a.view(-1).numpy() for a in (factors, losses, slope)))
    return losses, slope
