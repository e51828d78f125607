"""The families of instances that `falsify` can search, by the kind of method that a statement is about.

A family is a class that takes the statement and does what `falsify.Search` asks. A statement about a kind that none
names is searched on clients without samples (`falsify` itself).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from boundcheck.evidence import blockwise, one_round, participating, shuffled

if TYPE_CHECKING:
    from boundcheck.evidence.falsify import Search
    from boundcheck.theory.statement import Statement

__all__ = ["FAMILIES"]

FAMILIES: Mapping[str, Callable[[Statement], Search]] = MappingProxyType(
    {
        **dict.fromkeys(shuffled.KINDS, shuffled.SampleSearch),
        **dict.fromkeys(blockwise.KINDS, blockwise.BlockSearch),
        **dict.fromkeys(one_round.KINDS, one_round.OneRoundSearch),
        **dict.fromkeys(participating.KINDS, participating.ParticipatingSearch),
    }
)
