"""Modules of torch that the shipped models need beside those of `torch.nn`. Imports torch; raises MissingExtra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.core.extras import needed_for

with needed_for("engine = 'neural'"):
    import torch
    from torch import nn


class Residual(nn.Module):
    """body(x) + shortcut(x); without layers the shortcut is x."""

    def __init__(self, body: Sequence[nn.Module], shortcut: Sequence[nn.Module] = ()) -> None:
        super().__init__()
        self.body, self.shortcut = nn.Sequential(*body), nn.Sequential(*shortcut)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Both paths end in one shape."""
        return self.body(x) + self.shortcut(x)


class GlobalMean(nn.Module):
    """The mean over all positions (B, channels, height, width) of each channel (B, channels)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The mean over the last two axes."""
        return x.mean(dim=(-2, -1))


class Last(nn.Module):
    """The last output (B, width) of an LSTM; both: half of it from the end, half (the backward pass) from the start."""

    def __init__(self, *, both: bool = False) -> None:
        super().__init__()
        self.both = both

    def forward(self, given: Any) -> torch.Tensor:
        """given: what an LSTM returns, batch first."""
        x = given[0]
        if not self.both:
            return x[:, -1]
        half = x.shape[-1] // 2
        return torch.cat((x[:, -1, :half], x[:, 0, half:]), dim=-1)


class LSTM(nn.LSTM):
    """torch's long short-term memory as a loop over time, which `vmap` maps over models and autograd differentiates
    twice; torch's own kernel, which does neither, where no gradient is wanted and nothing is mapped.

    The products with the inputs are one for all times. Any `nn.LSTM` without a projection becomes one (`suit`).
    """

    fused = False  # whether torch's kernel may be used

    def forward(self, input: Any, hx: Any = None) -> Any:
        """As `nn.LSTM`, of a batch; the outputs, and (h, c) at the end of each layer and way."""
        if self.fused:
            return super().forward(input, hx)
        x = input if self.batch_first else input.transpose(0, 1)
        ways, ends = 2 if self.bidirectional else 1, list[tuple[torch.Tensor, torch.Tensor]]()
        for layer in range(self.num_layers):
            found = list[torch.Tensor]()
            for way in range(ways):
                at = layer * ways + way
                begun = None if hx is None else (hx[0][at], hx[1][at])
                outputs, end = self._way(x, f"_l{layer}{'_reverse' if way else ''}", bool(way), begun)
                found.append(outputs)
                ends.append(end)
            x = found[0] if ways == 1 else torch.cat(found, dim=-1)
        states = tuple(torch.stack(each) for each in zip(*ends, strict=True))
        return x if self.batch_first else x.transpose(0, 1), states

    def _way(self, x: torch.Tensor, name: str, reverse: bool, begun: Any) -> tuple[torch.Tensor, Any]:
        """One layer one way: outputs (B, length, hidden) of x (B, length, inputs)."""
        bias = getattr(self, f"bias_ih{name}") + getattr(self, f"bias_hh{name}") if self.bias else None
        given = nn.functional.linear(x, getattr(self, f"weight_ih{name}"), bias).unbind(1)
        kept = getattr(self, f"weight_hh{name}").mT
        state, cell = (None, None) if begun is None else begun
        outputs = list[torch.Tensor]()
        for pre in reversed(given) if reverse else given:
            gates = pre if state is None else pre + state @ kept
            entry, forget, change, leave = gates.chunk(4, dim=-1)
            fresh = entry.sigmoid() * change.tanh()
            cell = fresh if cell is None else fresh + forget.sigmoid() * cell
            state = leave.sigmoid() * cell.tanh()
            outputs.append(state)
        return torch.stack(outputs[::-1] if reverse else outputs, dim=1), (state, cell)


class Linear(nn.Linear):
    """torch's dense layer with W on the left: mapped over models, its products need no copy of W turned around."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """As `nn.Linear`."""
        found = (self.weight @ input.mT).mT if input.ndim > 1 else self.weight @ input
        bias: Any = self.bias
        return found if bias is None else found + bias


def suit(module: nn.Module) -> bool:
    """Give dense layers and LSTMs of a module their forms here; whether nothing is left that cannot be mapped over."""
    for own in module.modules():
        if type(own) is nn.Linear:
            own.__class__ = Linear
        if type(own) is nn.LSTM and not own.proj_size:
            own.__class__ = LSTM
    return not any(isinstance(m, nn.RNNBase) and not isinstance(m, LSTM) for m in module.modules())
